/* Constant evaluation for the pass fold: integers, and floats where IEEE 754 determines the result: round to nearest
 * even, no flushing of subnormals, no NaN as operand or result. */
#include "passes/clean/fold.h"

#include <math.h>

static uint64_t mask_of(uint32_t width) { return width < 64 ? (1ull << width) - 1 : ~0ull; }

static int64_t as_signed(uint64_t bits, uint32_t width)
{
    uint64_t sign = 1ull << (width - 1);
    return (int64_t)(((bits & mask_of(width)) ^ sign) - sign);
}

/* ---- supported forms --------------------------------------------------------------------------------------------- */

static bool has_only(const hd_form *form, uint32_t a, uint32_t b)
{
    for (uint32_t g = 0; g < HD_MODIFIER_GROUP_COUNT; g++)
        if (form->modifiers[g] && g != a && g != b)
            return false;
    return true;
}

static bool is_integer(hd_type type)
{
    uint32_t class = hd_types[type].class, bits = hd_types[type].bits;
    return (class == HD_CLASS_BITS || class == HD_CLASS_SIGNED || class == HD_CLASS_UNSIGNED) &&
           hd_types[type].lanes == 1 && bits >= 16 && bits <= 64;
}

static bool is_float(hd_type type) { return type == HD_TYPE_F32 || type == HD_TYPE_F64; }

static bool is_wide(const hd_form *form) { return form->modifiers[HD_GROUP_HALF] == HD_MOD_HALF_WIDE; }

static bool is_folded(const hd_form *form)
{
    hd_type type = (hd_type)form->types[0];
    if (form->flags || !form->type_count || form->vector != 1)
        return false;
    switch (form->opcode) {
    case HD_OP_ADD:
    case HD_OP_SUB:
    case HD_OP_MUL:
    case HD_OP_FMA:
        if (is_float(type) && form->type_count == 1)
            return has_only(form, HD_GROUP_ROUND, HD_GROUP_ROUND) &&
                   (!form->modifiers[HD_GROUP_ROUND] || form->modifiers[HD_GROUP_ROUND] == HD_MOD_ROUND_RN);
        return is_integer(type) && form->type_count == 1 && has_only(form, HD_GROUP_HALF, HD_GROUP_HALF);
    case HD_OP_MAD:
        return is_integer(type) && has_only(form, HD_GROUP_HALF, HD_GROUP_HALF) &&
               form->modifiers[HD_GROUP_HALF] != HD_MOD_HALF_HI;
    case HD_OP_CVT:
        return form->type_count == 2 && is_integer(type) && is_integer((hd_type)form->types[1]) &&
               has_only(form, HD_GROUP_ROUND, HD_GROUP_ROUND);
    case HD_OP_NEG:
    case HD_OP_ABS:
    case HD_OP_DIV:
    case HD_OP_REM:
    case HD_OP_MIN:
    case HD_OP_MAX:
    case HD_OP_AND:
    case HD_OP_OR:
    case HD_OP_XOR:
    case HD_OP_NOT:
    case HD_OP_SHL:
    case HD_OP_SHR:
    case HD_OP_POPC:
    case HD_OP_CLZ:
    case HD_OP_BREV: return is_integer(type) && form->type_count == 1 && has_only(form, HD_GROUP_ROUND, HD_GROUP_ROUND);
    default: /* selected by the table */ return false;
    }
}

uint32_t hd_fold_width(const hd_form *form, uint32_t source)
{
    if (!is_folded(form))
        return 0;
    if ((form->opcode == HD_OP_SHL || form->opcode == HD_OP_SHR) && source == 1)
        return 32;
    if (form->opcode == HD_OP_CVT)
        return hd_types[form->types[1]].bits;
    return hd_types[form->types[0]].bits * (is_wide(form) && source == 2 ? 2u : 1u);
}

uint32_t hd_fold_result_width(const hd_form *form)
{
    if (!is_folded(form))
        return 0;
    if (form->opcode == HD_OP_POPC || form->opcode == HD_OP_CLZ)
        return 32;
    return hd_types[form->types[0]].bits * (is_wide(form) ? 2u : 1u);
}

/* ---- integers ---------------------------------------------------------------------------------------------------- */

static uint64_t shift_right(uint64_t a, uint64_t count, uint32_t width, bool sign)
{
    if (sign)
        return (uint64_t)(as_signed(a, width) >> (count >= width ? width - 1 : count));
    return count >= width ? 0 : a >> count;
}

static uint64_t mirror(uint64_t a, uint32_t width)
{
    uint64_t r = 0;
    for (uint32_t i = 0; i < width; i++)
        r |= (a >> i & 1) << (width - 1 - i);
    return r;
}

static bool divide(uint64_t a, uint64_t b, uint32_t width, bool sign, bool rest, uint64_t *result)
{
    if (b == 0 || (sign && as_signed(b, width) == -1))
        return false;
    if (sign)
        *result =
            (uint64_t)(rest ? as_signed(a, width) % as_signed(b, width) : as_signed(a, width) / as_signed(b, width));
    else
        *result = rest ? a % b : a / b;
    return true;
}

static uint64_t product(const hd_form *form, uint64_t a, uint64_t b, uint32_t width, bool sign)
{
    if (is_wide(form) && sign)
        return (uint64_t)as_signed(a, width) * (uint64_t)as_signed(b, width);
    if (form->modifiers[HD_GROUP_HALF] == HD_MOD_HALF_HI)
        return sign ? (uint64_t)(((__int128)as_signed(a, width) * as_signed(b, width)) >> width)
                    : (uint64_t)(((unsigned __int128)a * b) >> width);
    return a * b;
}

static bool fold_integer(const hd_form *form, const uint64_t *s, uint64_t *r)
{
    uint32_t width = hd_types[form->types[0]].bits;
    bool sign = hd_types[form->types[0]].class == HD_CLASS_SIGNED, less;
    switch (form->opcode) {
    case HD_OP_ADD: return *r = s[0] + s[1], true;
    case HD_OP_SUB: return *r = s[0] - s[1], true;
    case HD_OP_MUL: return *r = product(form, s[0], s[1], width, sign), true;
    case HD_OP_MAD: return *r = product(form, s[0], s[1], width, sign) + s[2], true;
    case HD_OP_DIV:
    case HD_OP_REM: return divide(s[0], s[1], width, sign, form->opcode == HD_OP_REM, r);
    case HD_OP_NEG: return *r = 0 - s[0], true;
    case HD_OP_ABS: return *r = as_signed(s[0], width) < 0 ? 0 - s[0] : s[0], true;
    case HD_OP_MIN:
    case HD_OP_MAX:
        less = sign ? as_signed(s[0], width) < as_signed(s[1], width) : s[0] < s[1];
        return *r = less == (form->opcode == HD_OP_MIN) ? s[0] : s[1], true;
    case HD_OP_AND: return *r = s[0] & s[1], true;
    case HD_OP_OR: return *r = s[0] | s[1], true;
    case HD_OP_XOR: return *r = s[0] ^ s[1], true;
    case HD_OP_NOT: return *r = ~s[0], true;
    case HD_OP_SHL: return *r = s[1] >= width ? 0 : s[0] << s[1], true;
    case HD_OP_SHR: return *r = shift_right(s[0], s[1], width, sign), true;
    case HD_OP_POPC: return *r = (uint64_t)__builtin_popcountll(s[0]), true;
    case HD_OP_CLZ: return *r = s[0] ? (uint64_t)__builtin_clzll(s[0]) - (64 - width) : width, true;
    case HD_OP_BREV: return *r = mirror(s[0], width), true;
    case HD_OP_CVT: /* the source's sign decides how it is extended */
        *r = hd_types[form->types[1]].class == HD_CLASS_SIGNED
                 ? (uint64_t)as_signed(s[0], hd_types[form->types[1]].bits)
                 : s[0];
        return true;
    default: return false;
    }
}

/* ---- floats ------------------------------------------------------------------------------------------------------ */

static bool fold_f32(const hd_form *form, const uint64_t *s, uint32_t count, uint64_t *r)
{
    float x[HD_FOLD_SOURCES], y;
    for (uint32_t k = 0; k < count; k++) {
        uint32_t word = (uint32_t)s[k];
        memcpy(&x[k], &word, sizeof word);
        if (isnan(x[k]))
            return false;
    }
    y = form->opcode == HD_OP_ADD   ? x[0] + x[1]
        : form->opcode == HD_OP_SUB ? x[0] - x[1]
        : form->opcode == HD_OP_MUL ? x[0] * x[1]
                                    : fmaf(x[0], x[1], x[2]);
    uint32_t word;
    memcpy(&word, &y, sizeof word);
    *r = word;
    return !isnan(y);
}

static bool fold_f64(const hd_form *form, const uint64_t *s, uint32_t count, uint64_t *r)
{
    double x[HD_FOLD_SOURCES], y;
    for (uint32_t k = 0; k < count; k++) {
        memcpy(&x[k], &s[k], sizeof *s);
        if (isnan(x[k]))
            return false;
    }
    y = form->opcode == HD_OP_ADD   ? x[0] + x[1]
        : form->opcode == HD_OP_SUB ? x[0] - x[1]
        : form->opcode == HD_OP_MUL ? x[0] * x[1]
                                    : fma(x[0], x[1], x[2]);
    memcpy(r, &y, sizeof *r);
    return !isnan(y);
}

bool hd_fold_number(const hd_form *form, const uint64_t *sources, uint32_t count, uint64_t *result)
{
    if (!is_folded(form) || count > HD_FOLD_SOURCES)
        return false;
    bool done = form->types[0] == HD_TYPE_F32   ? fold_f32(form, sources, count, result)
                : form->types[0] == HD_TYPE_F64 ? fold_f64(form, sources, count, result)
                                                : fold_integer(form, sources, result);
    *result &= mask_of(hd_fold_result_width(form));
    return done;
}
