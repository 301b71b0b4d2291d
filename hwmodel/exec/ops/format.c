/* printf on the device: C formats, with the arguments in a buffer, each at a multiple of its size (nvcc's layout for
 * vprintf). Conversions d i u o x X c s p f F e E g G a A and %%, flags - + space # 0, width and precision as numbers
 * or *, sizes hh h l ll L q j z t (long is 64 bits). Invalid conversions are printed verbatim and consume no
 * argument. */
#include "hwmodel/exec/ops/access.h"
#include "hwmodel/exec/ops/builtin.h"
#include <stdio.h>

typedef struct printer {
    const hd_format_source *source;
    hd_text_buffer *out;
    uint64_t next; /* address of the next argument */
    uint32_t used;
    uint64_t *bad;
} printer;

static void add(hd_text_buffer *out, const char *text, size_t length)
{
    if (length)
        memcpy(hd_array_extend(out, (uint32_t)length), text, length);
}

static bool fetch(printer *p, uint64_t address, void *to, uint32_t bytes)
{
    const hd_format_source *s = p->source;
    *p->bad = address;
    return hd_read_lane(s->op, s->warp, s->lane, address, to, bytes);
}

static bool argument(printer *p, uint32_t bytes, uint64_t *value)
{
    p->next = (p->next + bytes - 1) / bytes * bytes;
    *value = 0;
    if (!fetch(p, p->next, value, bytes))
        return false;
    p->next += bytes;
    p->used++;
    return true;
}

bool hd_format_string(const hd_format_source *source, uint64_t address, uint64_t most, hd_text_buffer *out,
                      uint64_t *bad)
{
    for (uint64_t i = 0; i < most; i++) {
        char c;
        *bad = address + i;
        if (!hd_read_lane(source->op, source->warp, source->lane, address + i, &c, 1))
            return false;
        if (!c)
            break;
        hd_array_push(out, c);
    }
    return true;
}

/* ---- one conversion ---------------------------------------------------------------------------------------------- */

enum { MOST_WIDTH = 65536 };

typedef struct conversion {
    char flags[8];
    int width, precision; /* -1: not given */
    uint32_t bytes;       /* of an integer: 1, 2, 4, 8 */
    char kind;
} conversion;

static bool number(printer *p, const char **at, int *value)
{
    uint64_t given = 0;
    if (**at == '*') {
        ++*at;
        if (!argument(p, 4, &given))
            return false;
        *value = (int)(int32_t)given;
    } else {
        for (*value = 0; **at >= '0' && **at <= '9'; ++*at)
            *value = *value < MOST_WIDTH ? *value * 10 + (**at - '0') : MOST_WIDTH;
    }
    *value = *value > MOST_WIDTH ? MOST_WIDTH : *value < -MOST_WIDTH ? -MOST_WIDTH : *value;
    return true;
}

static void read_size(const char **at, conversion *c)
{
    c->bytes = 4;
    for (; **at && strchr("hlLqjzt", **at); ++*at)
        c->bytes = **at != 'h' ? 8 : c->bytes == 2 ? 1 : 2;
}

/* Parses after the %: false if an argument cannot be read; kind 0 if it is no conversion. */
static bool read_conversion(printer *p, const char **at, conversion *c)
{
    size_t flags = 0;
    *c = (conversion){.width = -1, .precision = -1};
    for (; **at && strchr("-+ #0", **at); ++*at)
        if (!strchr(c->flags, **at) && flags < sizeof c->flags - 1)
            c->flags[flags++] = **at;
    if ((**at == '*' || (**at >= '1' && **at <= '9')) && !number(p, at, &c->width))
        return false;
    if (**at == '.') {
        ++*at;
        if (!number(p, at, &c->precision))
            return false;
    }
    /* a negative width means the flag - and its absolute value */
    if (c->width < -1 || (c->width == -1 && (*at)[-1] == '*')) {
        c->width = -c->width;
        if (!strchr(c->flags, '-'))
            c->flags[flags++] = '-';
    }
    read_size(at, c);
    if (**at && strchr("diuoxXcspfFeEgGaA%", **at))
        c->kind = *(*at)++;
    return true;
}

/* "%-+8.3" with the size and kind for the host. */
static void host_format(const conversion *c, const char *size, char kind, char *text, size_t length)
{
    int n = snprintf(text, length, "%%%s", c->flags);
    if (c->width >= 0)
        n += snprintf(text + n, length - (size_t)n, "%d", c->width);
    if (c->precision >= 0)
        n += snprintf(text + n, length - (size_t)n, ".%d", c->precision);
    snprintf(text + n, length - (size_t)n, "%s%c", size, kind);
}

#define EMIT(p, ...)                                                      \
    do {                                                                  \
        int length_ = snprintf(NULL, 0, __VA_ARGS__);                     \
        if (length_ > 0) {                                                \
            char *to_ = hd_array_extend((p)->out, (uint32_t)length_ + 1); \
            snprintf(to_, (size_t)length_ + 1, __VA_ARGS__);              \
            (p)->out->count--;                                            \
        }                                                                 \
    } while (0)

#ifdef __GNUC__
#pragma GCC diagnostic ignored "-Wformat-nonliteral"
#endif

static bool print_integer(printer *p, const conversion *c)
{
    char format[64];
    uint64_t value;
    if (!argument(p, c->bytes == 8 ? 8 : 4, &value))
        return false;
    uint32_t unused = 64 - 8 * c->bytes;
    host_format(c, "ll", c->kind, format, sizeof format);
    if (c->kind == 'd' || c->kind == 'i')
        EMIT(p, format, (long long)((int64_t)(value << unused) >> unused));
    else
        EMIT(p, format, (unsigned long long)(value << unused >> unused));
    return true;
}

static bool print_float(printer *p, const conversion *c)
{
    char format[64];
    uint64_t bits;
    double value;
    if (!argument(p, 8, &bits))
        return false;
    memcpy(&value, &bits, 8);
    host_format(c, "", c->kind, format, sizeof format);
    EMIT(p, format, value);
    return true;
}

static bool print_string(printer *p, const conversion *c)
{
    char format[64];
    uint64_t address;
    hd_text_buffer text = {0};
    if (!argument(p, 8, &address))
        return false;
    uint64_t most = c->precision >= 0 ? (uint64_t)c->precision : UINT64_MAX;
    bool good = address ? hd_format_string(p->source, address, most, &text, p->bad) : (add(&text, "(null)", 6), true);
    hd_array_push(&text, '\0');
    host_format(c, "", 's', format, sizeof format);
    if (good)
        EMIT(p, format, text.items);
    hd_array_free(&text);
    return good;
}

/* %c and %p. A NUL character is printed as NUL. */
static bool print_other(printer *p, const conversion *c)
{
    char format[64], hex[32];
    uint64_t value;
    conversion plain = *c;
    if (!argument(p, c->kind == 'p' ? 8 : 4, &value))
        return false;
    plain.precision = -1;
    bool is_nul = c->kind == 'c' && !(value & 0xff);
    uint32_t first = p->out->count;
    if (c->kind == 'p')
        snprintf(hex, sizeof hex, "0x%llx", (unsigned long long)value);
    else
        snprintf(hex, sizeof hex, "%c", is_nul ? 1 : (int)(unsigned char)value);
    host_format(&plain, "", 's', format, sizeof format);
    EMIT(p, format, hex);
    if (is_nul)
        *(char *)memchr(p->out->items + first, 1, p->out->count - first) = '\0';
    return true;
}

static bool print_one(printer *p, const conversion *c)
{
    if (c->kind == '%') {
        hd_array_push(p->out, '%');
        return true;
    }
    if (strchr("diuoxX", c->kind))
        return print_integer(p, c);
    if (c->kind == 's')
        return print_string(p, c);
    return c->kind == 'c' || c->kind == 'p' ? print_other(p, c) : print_float(p, c);
}

bool hd_format_print(const hd_format_source *source, hd_text_buffer *out, uint32_t *used, uint64_t *bad)
{
    hd_text_buffer format = {0};
    printer p = {source, out, source->arguments, 0, bad};
    bool good = hd_format_string(source, source->format, UINT64_MAX, &format, bad);
    hd_array_push(&format, '\0');
    for (const char *at = format.items; good && *at;) {
        const char *begin = at;
        conversion c;
        if (*at++ != '%') {
            hd_array_push(out, *begin);
            continue;
        }
        good = read_conversion(&p, &at, &c);
        if (good && c.kind)
            good = print_one(&p, &c);
        else if (good)
            add(out, begin, (size_t)(at - begin));
    }
    hd_array_free(&format);
    *used = p.used;
    return good;
}
