/* Reads operands of machine instructions: see operands.h. Linear in the text. */
#include "hwmodel/machine/operands.h"
#include <ctype.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

typedef struct part {
    const char *begin, *end;
} part;

static part trimmed(part p)
{
    while (p.begin < p.end && isspace((unsigned char)*p.begin))
        p.begin++;
    while (p.begin < p.end && isspace((unsigned char)p.end[-1]))
        p.end--;
    return p;
}

static bool begins(part p, const char *word)
{
    size_t n = strlen(word);
    return (size_t)(p.end - p.begin) >= n && memcmp(p.begin, word, n) == 0;
}

static bool takes(part *p, char c)
{
    if (p->begin == p->end || *p->begin != c)
        return false;
    p->begin++;
    return true;
}

/* A hexadecimal number, perhaps with a sign. */
static bool read_integer(part p, int64_t *value)
{
    char *end;
    bool minus = takes(&p, '-');
    if (!begins(p, "0x"))
        return false;
    uint64_t magnitude = strtoull(p.begin, &end, 16);
    *value = (int64_t)(minus ? 0 - magnitude : magnitude);
    return end == p.end;
}

static bool read_real(part p, double *value)
{
    char text[80], *end;
    if (begins(p, "INF") || begins(p, "QNAN") || begins(p, "SNAN")) {
        *value = begins(p, "INF") ? (double)INFINITY : (double)NAN;
        return true;
    }
    size_t n = (size_t)(p.end - p.begin);
    if (!n || n >= sizeof text || !(isdigit((unsigned char)*p.begin) || *p.begin == '.'))
        return false;
    memcpy(text, p.begin, n);
    text[n] = 0;
    *value = strtod(text, &end);
    return !*end;
}

/* A register's name, and its suffixes. */
static bool read_register(part p, uint8_t *class, uint8_t *number, part *suffix)
{
    const char *dot = memchr(p.begin, '.', (size_t)(p.end - p.begin));
    const char *end = dot ? dot : p.end;
    *suffix = (part){dot ? dot + 1 : p.end, p.end};
    return hd_sass_register_of(p.begin, (size_t)(end - p.begin), class, number);
}

static bool has_part(part p, const char *word)
{
    size_t n = strlen(word);
    for (const char *at = p.begin; at + n <= p.end; at++)
        if (memcmp(at, word, n) == 0 && (at == p.begin || at[-1] == '.') && (at + n == p.end || at[n] == '.'))
            return true;
    return false;
}

bool hd_machine_operand_is(const hd_machine_operand *o, const char *word)
{
    return has_part((part){o->text, o->text + o->length}, word);
}

/* ---- brackets ---------------------------------------------------------------------------------------------------- */

static bool add_term(hd_machine_operand *o, part term)
{
    uint8_t class, number;
    part suffix;
    int64_t offset;
    term = trimmed(term);
    if (read_integer(term, &offset)) {
        o->offset += offset;
        return true;
    }
    if (!read_register(term, &class, &number, &suffix))
        return false;
    if (class == HD_SASS_UNIFORM) {
        o->uniform = number;
        o->uniform_wide = has_part(suffix, "64");
        return true;
    }
    o->base = number;
    o->base_wide = has_part(suffix, "64");
    o->base_narrow = has_part(suffix, "U32");
    o->base_scale = has_part(suffix, "X4") ? 4 : has_part(suffix, "X8") ? 8 : has_part(suffix, "X16") ? 16 : 1;
    return class == HD_SASS_GENERAL;
}

/* R4.64+UR4+0x10, without the brackets. */
static bool read_sum(part p, hd_machine_operand *o)
{
    o->base = o->uniform = HD_SASS_NO_NUMBER;
    o->base_scale = 1;
    while (p.begin < p.end) {
        const char *plus = memchr(p.begin, '+', (size_t)(p.end - p.begin));
        part term = {p.begin, plus ? plus : p.end};
        if (term.begin < term.end && !add_term(o, term))
            return false;
        p.begin = plus ? plus + 1 : p.end;
    }
    return true;
}

/* The next [..]; moves after it. */
static bool take_brackets(part *p, part *inside)
{
    *p = trimmed(*p);
    if (!takes(p, '['))
        return false;
    const char *end = memchr(p->begin, ']', (size_t)(p->end - p->begin));
    if (!end)
        return false;
    *inside = (part){p->begin, end};
    p->begin = end + 1;
    return true;
}

static bool read_constant(part p, hd_machine_operand *o)
{
    part bank, sum;
    int64_t number;
    p.begin++;
    if (!take_brackets(&p, &bank) || !read_integer(trimmed(bank), &number) || !take_brackets(&p, &sum))
        return false;
    o->kind = HD_MACHINE_OPERAND_CONSTANT;
    o->bank = (uint32_t)number;
    return read_sum(sum, o);
}

static bool read_address(part p, hd_machine_operand *o)
{
    part sum;
    o->kind = HD_MACHINE_OPERAND_ADDRESS;
    if (begins(p, "desc")) {
        p.begin += 4;
        if (!take_brackets(&p, &sum))
            return false;
    }
    return take_brackets(&p, &sum) && read_sum(sum, o) && trimmed(p).begin == p.end;
}

/* ---- operands ---------------------------------------------------------------------------------------------------- */

static void take_signs(part *p, hd_machine_operand *o)
{
    for (;;) {
        if (takes(p, '-'))
            o->negative = !o->negative;
        else if (takes(p, '~'))
            o->complement = true;
        else if (takes(p, '!'))
            o->negated = true;
        else if (takes(p, '|')) {
            const char *bar = memchr(p->begin, '|', (size_t)(p->end - p->begin));
            o->absolute = true;
            p->end = bar ? bar : p->end;
        } else if (!takes(p, '+'))
            return;
    }
}

/* A register may have a note after it: R4 `(kernel). */
static part without_note(part p)
{
    const char *blank = memchr(p.begin, ' ', (size_t)(p.end - p.begin));
    bool note = blank && (blank[1] == '`' || blank[1] == '(');
    return note ? (part){p.begin, blank} : p;
}

/* So may an offset: R4 -0x20. */
static part without_offset(part p, hd_machine_operand *o)
{
    const char *blank = memchr(p.begin, ' ', (size_t)(p.end - p.begin));
    return blank && read_integer(trimmed((part){blank, p.end}), &o->offset) ? (part){p.begin, blank} : p;
}

static bool read_operand(part p, hd_machine_operand *o)
{
    part suffix;
    int64_t number;
    *o = (hd_machine_operand){.kind = HD_MACHINE_OPERAND_WORD};
    p = without_offset(without_note(trimmed(p)), o);
    take_signs(&p, o);
    p = trimmed(p);
    o->text = p.begin;
    o->length = (uint32_t)(p.end - p.begin);
    if (begins(p, "c["))
        return read_constant(p, o);
    if (begins(p, "[") || begins(p, "desc["))
        return read_address(p, o);
    if (read_register(p, &o->class, &o->number, &suffix)) {
        o->kind = HD_MACHINE_OPERAND_REGISTER;
        o->wide = has_part(suffix, "64");
        o->text = suffix.begin;
        o->length = (uint32_t)(suffix.end - suffix.begin);
    } else if (read_integer(p, &number)) {
        o->kind = HD_MACHINE_OPERAND_INTEGER;
        o->bits = o->negative ? 0 - (uint64_t)number : (uint64_t)number;
        o->bits = o->complement ? ~o->bits : o->bits;
    } else if (read_real(p, &o->real)) {
        o->kind = HD_MACHINE_OPERAND_REAL;
        o->real = o->absolute ? fabs(o->real) : o->real;
        o->real = o->negative ? -o->real : o->real;
    }
    return true;
}

/* The end of the operand: a comma outside of brackets. */
static const char *operand_end(part p)
{
    uint32_t depth = 0;
    for (; p.begin < p.end; p.begin++) {
        depth += *p.begin == '[' || *p.begin == '(' || *p.begin == '{';
        depth -= *p.begin == ']' || *p.begin == ')' || *p.begin == '}';
        if (*p.begin == ',' && !depth)
            break;
    }
    return p.begin;
}

bool hd_machine_read_operands(const char *text, uint32_t length, hd_machine_operands *operands)
{
    part p = trimmed((part){text, text + length});
    operands->count = 0;
    if (p.begin < p.end && p.end[-1] == ';')
        p.end--;
    p = trimmed(p);
    if (p.begin < p.end && *p.begin == '@')
        while (p.begin < p.end && !isspace((unsigned char)*p.begin))
            p.begin++;
    p = trimmed(p);
    while (p.begin < p.end && !isspace((unsigned char)*p.begin))
        p.begin++;
    p = trimmed(p);
    while (p.begin < p.end) {
        const char *end = operand_end(p);
        if (operands->count == HD_MACHINE_OPERANDS)
            return false;
        if (!read_operand((part){p.begin, end}, &operands->items[operands->count++]))
            return false;
        p.begin = end < p.end ? end + 1 : end;
    }
    return true;
}
