/* See sass_decode_work.h. */
#include "ir/sass/decode_work.h"

#include <math.h>
#include <stdarg.h>
#include <stdio.h>
#include <string.h>

/* ---- bits and text ----------------------------------------------------------------------------------------------- */

uint64_t hd_sass_peek(const hd_sass_decoder *d, unsigned at, unsigned count)
{
    at &= 127;
    uint64_t value = d->word[at >> 6] >> (at & 63);
    if (at < 64 && at + count > 64)
        value |= d->word[1] << (64 - (at & 63));
    return count < 64 ? value & ((UINT64_C(1) << count) - 1) : value;
}

uint64_t hd_sass_take(hd_sass_decoder *d, unsigned at, unsigned count)
{
    for (unsigned bit = at; bit < at + count; bit++)
        d->seen[bit >> 6 & 1] |= UINT64_C(1) << (bit & 63);
    return hd_sass_peek(d, at, count);
}

int64_t hd_sass_take_signed(hd_sass_decoder *d, unsigned at, unsigned count)
{
    return (int64_t)(hd_sass_take(d, at, count) << (64 - count)) >> (64 - count);
}

void hd_sass_put(hd_sass_decoder *d, const char *text)
{
    size_t length = strlen(text);
    if (d->length + length >= HD_SASS_TEXT_BYTES) {
        d->fits = false;
        return;
    }
    memcpy(d->to->text + d->length, text, length + 1);
    d->length += length;
}

void hd_sass_putf(hd_sass_decoder *d, const char *format, ...)
{
    char text[64];
    va_list arguments;
    va_start(arguments, format);
    vsnprintf(text, sizeof text, format, arguments);
    va_end(arguments);
    hd_sass_put(d, text);
}

void hd_sass_put_signed(hd_sass_decoder *d, int64_t value)
{
    hd_sass_putf(d, "%s0x%llx", value < 0 ? "-" : "",
                 value < 0 ? -(unsigned long long)value : (unsigned long long)value);
}

/* +0x10, -> "+-0x10"; the offset 0 is left out unless it is all there is. */
void hd_sass_put_offset(hd_sass_decoder *d, int64_t value, bool is_all)
{
    if (!value && !is_all)
        return;
    if (!is_all)
        hd_sass_put(d, "+");
    hd_sass_put_signed(d, value);
}

/* ---- operands ---------------------------------------------------------------------------------------------------- */

void hd_sass_put_register(hd_sass_decoder *d, unsigned at)
{
    uint64_t number = hd_sass_take(d, at, 8);
    if (number == 255)
        hd_sass_put(d, "RZ");
    else
        hd_sass_putf(d, "R%u", (unsigned)number);
}

/* Eight bits since sm_100, six before. */
void hd_sass_put_uniform(hd_sass_decoder *d, unsigned at, unsigned add)
{
    bool is_wide = d->generation >= 100;
    uint64_t number = hd_sass_take(d, at, is_wide ? 8 : 6);
    if (number == (is_wide ? 255 : 63))
        hd_sass_put(d, "URZ");
    else
        hd_sass_putf(d, "UR%u", (unsigned)number + add);
}

void hd_sass_put_predicate(hd_sass_decoder *d, const char *kind, uint64_t number)
{
    if (number == 7)
        hd_sass_putf(d, "%sT", kind);
    else
        hd_sass_putf(d, "%s%u", kind, (unsigned)number);
}

void hd_sass_put_constant(hd_sass_decoder *d, unsigned offset_at, unsigned offset_bits, const char *between)
{
    unsigned bank = (unsigned)hd_sass_take(d, 54, 5);
    hd_sass_putf(d, "c[0x%x]%s[0x%x]", bank, between, (unsigned)hd_sass_take(d, offset_at, offset_bits));
}

/* As nvdisasm has it: 20 significant digits. Where the change to 21 is, between 16,777,216 and 2^31, is open. */
static void put_real(hd_sass_decoder *d, double value)
{
    if (isnan(value))
        hd_sass_put(d, signbit(value) ? "-QNAN " : "+QNAN ");
    else if (isinf(value))
        hd_sass_put(d, value < 0 ? "-INF " : "+INF ");
    else
        hd_sass_putf(d, fabs(value) >= 1e9 ? "%.20e" : "%.20g", value);
}

static double real_of_float(uint32_t bits)
{
    float value;
    memcpy(&value, &bits, sizeof value);
    return value;
}

static double real_of_half(uint32_t bits)
{
    int exponent = bits >> 10 & 31, fraction = bits & 1023;
    double value = exponent == 31 ? (fraction ? (double)NAN : (double)INFINITY)
                   : exponent     ? ldexp(1024 + fraction, exponent - 25)
                                  : ldexp(fraction, -24);
    return bits >> 15 & 1 ? -value : value;
}

/* The 32 bits from bit 32 on; for the types see the table. */
static void put_immediate(hd_sass_decoder *d, char type)
{
    uint32_t bits = (uint32_t)hd_sass_take(d, 32, 32);
    uint64_t high = (uint64_t)bits << 32;
    double value;
    switch (type) {
    case 'f': put_real(d, real_of_float(bits)); break;
    case 'd':
        memcpy(&value, &high, sizeof value);
        put_real(d, value);
        break;
    case 'h':
    case 'H':
        put_real(d, real_of_half(bits >> 16));
        hd_sass_put(d, ", ");
        put_real(d, real_of_half(bits & 0xffff));
        break;
    case 'y':
        put_real(d, real_of_float(bits & 0xffff0000u));
        hd_sass_put(d, ", ");
        put_real(d, real_of_float(bits << 16));
        break;
    case 'u':
    case 'U':
    case 'T': hd_sass_putf(d, "0x%x", bits); break;
    default: hd_sass_put_signed(d, (int32_t)bits); break;
    }
}

static void put_half_of_source(hd_sass_decoder *d)
{
    static const char *const HALVES[] = {"", ".F32", ".H0_H0", ".H1_H1"};
    hd_sass_put(d, HALVES[hd_sass_take(d, 60, 2)]);
}

/* A source that the form places at bit 32 or, always a register, at bit 64. */
static void put_source(hd_sass_decoder *d, char place, bool is_high, unsigned reuse, char type)
{
    bool has_halves = type == 'h' || type == 'y', is_real = strchr("fdhHy", type) != NULL;
    if (place == 'i') {
        put_immediate(d, type);
        return;
    }
    bool is_negative = (is_real || strchr("iU~T", type)) && hd_sass_take(d, is_high ? 75 : 63, 1);
    bool is_absolute = is_real && hd_sass_take(d, is_high ? 74 : 62, 1);
    if (is_negative)
        hd_sass_put(d, strchr("~T", type) ? "~" : "-");
    if (is_absolute)
        hd_sass_put(d, "|");
    if (place == 'c')
        hd_sass_put_constant(d, 38, 16, has_halves ? " " : "");
    else if (place == 'U' || d->is_uniform)
        hd_sass_put_uniform(d, is_high ? 64 : 32, 0);
    else
        hd_sass_put_register(d, is_high ? 64 : 32);
    if (place != 'R' && has_halves)
        put_half_of_source(d);
    if (is_absolute)
        hd_sass_put(d, "|");
    if (place == 'R' && !d->is_uniform && hd_sass_take(d, reuse, 1))
        hd_sass_put(d, ".reuse");
    if (place == 'R' && has_halves)
        put_half_of_source(d);
}

/* B, C: the second and the third source, of which the form says what is at bit 32. X, Y: what is at bit 32, as the
 * second and as the third source. */
void hd_sass_put_slot(hd_sass_decoder *d, char slot, char type)
{
    static const char AT_32[] = "RRicicUU"; /* by form */
    bool third_is_at_32 = d->form == 2 || d->form == 3 || d->form == 7;
    bool is_high = slot == 'B' ? third_is_at_32 : slot == 'C' && !third_is_at_32;
    char place = is_high ? 'R' : AT_32[d->form];
    if (place == 'U')
        hd_sass_take(d, HD_SASS_UNIFORM_BIT, 1);
    put_source(d, place, is_high, slot == 'B' || slot == 'X' ? HD_SASS_REUSE_B : HD_SASS_REUSE_C, type);
}

/* ---- memory ------------------------------------------------------------------------------------------------------ */

/* The bit that says whether a global or generic address uses a descriptor, by kind: g loads and stores, a atomics, r
 * reductions. */
static unsigned descriptor_bit(char kind, bool is_new)
{
    return kind == 'g' || (kind == 'a' && is_new) ? 76 : kind == 'r' && is_new ? 81 : 71;
}

/* Global and generic addresses: [R2], [R2.64+UR4+0x10], desc[UR4][R2.64+0x10], [UR4]. sm_80 and sm_86 leave the name of
 * the descriptor out of the text unless bit 101 is set. Since sm_100 uniform registers have eight bits, and an atomic's
 * offset has 23. */
void hd_sass_put_global(hd_sass_decoder *d, char kind, unsigned uniform_at)
{
    bool is_new = d->generation >= 100, has_short_offset = kind == 'a' && is_new;
    bool has_uniform = uniform_at && hd_sass_take(d, HD_SASS_UNIFORM_BIT, 1);
    bool is_64_bit = has_uniform && hd_sass_take(d, has_short_offset ? 63 : kind == 'a' ? 70 : 90, 1);
    bool has_descriptor = has_uniform && d->generation >= 80 && hd_sass_take(d, descriptor_bit(kind, is_new), 1);
    if (has_descriptor && (d->generation >= 90 || hd_sass_take(d, 101, 1))) {
        hd_sass_put(d, "desc[");
        hd_sass_put_uniform(d, uniform_at, 0);
        hd_sass_put(d, "]");
    } else if (has_descriptor) {
        hd_sass_take(d, uniform_at, 6);
    }
    hd_sass_put(d, "[");
    if (hd_sass_take(d, 24, 8) == 255 && has_uniform && !has_descriptor) {
        hd_sass_put_uniform(d, uniform_at, 0);
    } else {
        hd_sass_put_register(d, 24);
        if (has_uniform)
            hd_sass_put(d, is_64_bit ? ".64" : ".U32");
        if (has_uniform && !has_descriptor) {
            hd_sass_put(d, "+");
            hd_sass_put_uniform(d, uniform_at, 0);
        }
    }
    hd_sass_put_offset(
        d, kind == 't' ? hd_sass_take_signed(d, 32, 32) : hd_sass_take_signed(d, 40, has_short_offset ? 23 : 24),
        false);
    hd_sass_put(d, "]");
}

/* Shared (s, with a scale) and local (l) addresses: [R2], [R2.X4+UR4+0x10], [UR4], [0x10]. */
void hd_sass_put_local(hd_sass_decoder *d, char kind, unsigned uniform_at)
{
    static const char *const SCALES[] = {"", ".X4", ".X8", ".X16"};
    bool has_uniform = uniform_at && hd_sass_take(d, HD_SASS_UNIFORM_BIT, 1);
    uint64_t scale = kind == 's' ? hd_sass_take(d, 78, 2) : 0;
    int64_t offset = hd_sass_take_signed(d, 40, 24);
    bool has_register = hd_sass_take(d, 24, 8) != 255 || (!has_uniform && !offset);
    hd_sass_put(d, "[");
    if (has_register) {
        hd_sass_put_register(d, 24);
        hd_sass_put(d, SCALES[scale]);
    } else if (scale) {
        d->fits = false;
    }
    if (has_uniform) {
        hd_sass_put(d, has_register ? "+" : "");
        hd_sass_put_uniform(d, uniform_at, 0);
    }
    hd_sass_put_offset(d, offset, !has_register && !has_uniform);
    hd_sass_put(d, "]");
}

/* Both addresses of LDGSTS: shared at R16, with a uniform register in form 6, then global at R24. */
void hd_sass_put_copy_addresses(hd_sass_decoder *d)
{
    bool newest = d->generation >= 100;
    bool shared_has_uniform = d->form == 6, has_descriptor = newest || hd_sass_take(d, 76, 1);
    hd_sass_take(d, HD_SASS_UNIFORM_BIT, 1);
    hd_sass_put(d, "[");
    bool has_register = hd_sass_take(d, 16, 8) != 255 || !shared_has_uniform;
    if (has_register)
        hd_sass_put_register(d, 16);
    if (shared_has_uniform) {
        hd_sass_put(d, has_register ? "+" : "");
        hd_sass_put_uniform(d, 64, 0);
    }
    hd_sass_put_offset(d, hd_sass_take_signed(d, 44, 20), false);
    hd_sass_put(d, "], ");
    if (has_descriptor && (d->generation >= 90 || hd_sass_take(d, 101, 1))) {
        hd_sass_put(d, "desc[");
        hd_sass_put_uniform(d, 64, shared_has_uniform);
        hd_sass_put(d, "]");
    } else if (has_descriptor) {
        hd_sass_take(d, 64, 6);
    }
    hd_sass_put(d, "[");
    hd_sass_put_register(d, 24);
    hd_sass_put(d, newest || hd_sass_take(d, 70, 1) ? ".64" : ".U32");
    if (!shared_has_uniform && !has_descriptor && hd_sass_take(d, 64, 6) != 63) {
        hd_sass_put(d, "+");
        hd_sass_put_uniform(d, 64, 0);
    }
    hd_sass_put_offset(d, hd_sass_take_signed(d, 32, 12), false);
    hd_sass_put(d, "]");
}
