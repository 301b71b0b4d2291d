/* Numbers of launch files and their comparison; the definitions are in docs/launch-fills.md. */
#include "hwmodel/launch/values.h"
#include "base/bytes.h"
#include "hwmodel/memory/narrow.h"
#include <inttypes.h>
#include <math.h>
#include <stdio.h>

bool hd_value_type(const hd_yaml_node *node, hd_type *type)
{
    static const uint8_t allowed[] = {HD_TYPE_F32, HD_TYPE_F64, HD_TYPE_F16, HD_TYPE_BF16, HD_TYPE_S8,  HD_TYPE_S16,
                                      HD_TYPE_S32, HD_TYPE_S64, HD_TYPE_U8,  HD_TYPE_U16,  HD_TYPE_U32, HD_TYPE_U64,
                                      HD_TYPE_B8,  HD_TYPE_B16, HD_TYPE_B32, HD_TYPE_B64};
    const char *words[sizeof allowed];
    uint32_t index;
    for (uint32_t i = 0; i < sizeof allowed; i++)
        words[i] = hd_types[allowed[i]].spelling;
    if (!hd_yaml_choice(node, words, sizeof allowed, &index))
        return false;
    *type = (hd_type)allowed[index];
    return true;
}

/* ---- one number -------------------------------------------------------------------------------------------------- */

static void store_float(hd_type type, double value, unsigned char *bytes)
{
    uint64_t bits = 0;
    if (type == HD_TYPE_F64) {
        memcpy(&bits, &value, 8);
    } else if (type == HD_TYPE_F32) {
        float narrow = (float)value;
        memcpy(&bits, &narrow, 4);
    } else {
        bits = type == HD_TYPE_F16 ? hd_f16_from_double(value) : hd_bf16_from_double(value);
    }
    hd_store_bytes(bytes, bits, hd_value_bytes(type));
}

bool hd_value_store_integer(hd_type type, bool negative, uint64_t magnitude, unsigned char *bytes)
{
    uint32_t bits = hd_types[type].bits;
    uint64_t all = bits == 64 ? UINT64_MAX : (1ull << bits) - 1, half = all / 2 + 1;
    uint8_t class = hd_types[type].class;
    if (negative ? class == HD_CLASS_UNSIGNED ? magnitude != 0 : magnitude > half
                 : magnitude > (class == HD_CLASS_SIGNED ? half - 1 : all))
        return false;
    hd_store_bytes(bytes, negative ? 0 - magnitude : magnitude, bits / 8);
    return true;
}

bool hd_value_store_double(hd_type type, double value, unsigned char *bytes)
{
    if (hd_types[type].class == HD_CLASS_FLOAT) {
        store_float(type, value, bytes);
        return true;
    }
    double whole = trunc(value);
    if (!(fabs(whole) < 18446744073709551616.0))
        return false;
    return hd_value_store_integer(type, whole < 0, (uint64_t)fabs(whole), bytes);
}

bool hd_value_store(const hd_yaml_node *node, hd_type type, unsigned char *bytes)
{
    bool negative;
    uint64_t magnitude;
    double value;
    bool good;
    if (hd_types[type].class != HD_CLASS_FLOAT && hd_yaml_is_integer(node, &negative, &magnitude))
        good = hd_value_store_integer(type, negative, magnitude, bytes);
    else if (!hd_yaml_double(node, &value))
        return false;
    else
        good = hd_value_store_double(type, value, bytes);
    if (!good)
        hd_yaml_error(node, HD_DIAG_BAD_VALUE, "%s does not fit .%s", node->text, hd_types[type].spelling);
    return good;
}

bool hd_value_store_list(const hd_yaml_node *list, hd_type type, uint64_t count, unsigned char *bytes)
{
    if (!hd_yaml_sequence(list))
        return false;
    if (list->count != count) {
        hd_yaml_error(list, HD_DIAG_BAD_VALUE, "%" PRIu32 " values are listed where %" PRIu64 " are needed",
                      list->count, count);
        return false;
    }
    for (uint32_t i = 0; i < list->count; i++)
        if (!hd_value_store(list->items[i], type, bytes + (size_t)i * hd_value_bytes(type)))
            return false;
    return true;
}

/* ---- comparing --------------------------------------------------------------------------------------------------- */

double hd_value_to_double(hd_type type, const unsigned char *bytes)
{
    uint64_t bits = hd_load_bytes(bytes, hd_value_bytes(type));
    double d;
    float f;
    if (type == HD_TYPE_F16)
        return hd_f16_to_double((uint16_t)bits);
    if (type == HD_TYPE_F64) {
        memcpy(&d, &bits, 8);
        return d;
    }
    uint32_t narrow = (uint32_t)(type == HD_TYPE_BF16 ? bits << 16 : bits);
    memcpy(&f, &narrow, 4);
    return f;
}

/* Rank of a value among all values of its type; both zeros are at 0. */
static int64_t order_of(hd_type type, const unsigned char *bytes)
{
    uint32_t size = hd_value_bytes(type);
    uint64_t bits = hd_load_bytes(bytes, size), sign = 1ull << (8 * size - 1);
    return bits & sign ? -(int64_t)(bits - sign) : (int64_t)bits;
}

/* Number of representable values between two values, neither of them a NaN; exact up to 2^53. */
static double steps_between(hd_type type, const unsigned char *a, const unsigned char *b)
{
    int64_t x = order_of(type, a), y = order_of(type, b);
    return (double)(x > y ? (uint64_t)x - (uint64_t)y : (uint64_t)y - (uint64_t)x);
}

bool hd_value_matches(hd_type type, const unsigned char *got, const unsigned char *want, const hd_value_rule *rule)
{
    if (!memcmp(got, want, hd_value_bytes(type)))
        return true;
    if (hd_types[type].class != HD_CLASS_FLOAT || !(rule->tolerant || rule->any_nan))
        return false;
    double g = hd_value_to_double(type, got), w = hd_value_to_double(type, want);
    if (isnan(w) || isnan(g))
        return isnan(w) && isnan(g);
    if (!rule->tolerant)
        return false;
    if (isinf(w) || isinf(g))
        return g == w;
    if (rule->ulps > 0 && steps_between(type, got, want) <= rule->ulps)
        return true;
    return fabs(g - w) <= rule->absolute + rule->relative * fabs(w);
}

void hd_value_print(hd_type type, const unsigned char *bytes, char *text, size_t size)
{
    uint32_t bytes_count = hd_value_bytes(type);
    uint64_t bits = hd_load_bytes(bytes, bytes_count);
    uint32_t unused = 64 - 8 * bytes_count;
    switch ((hd_type_class)hd_types[type].class) {
    case HD_CLASS_FLOAT:
        snprintf(text, size, "%.*g (0x%0*" PRIx64 ")", type == HD_TYPE_F64 ? 17 : 9, hd_value_to_double(type, bytes),
                 (int)bytes_count * 2, bits);
        return;
    case HD_CLASS_SIGNED: snprintf(text, size, "%" PRId64, (int64_t)(bits << unused) >> unused); return;
    case HD_CLASS_UNSIGNED: snprintf(text, size, "%" PRIu64, bits); return;
    case HD_CLASS_BITS:
    case HD_CLASS_NONE:
    case HD_CLASS_PRED:
    case HD_CLASS_OPAQUE:
    case HD_CLASS_ODD: snprintf(text, size, "0x%0*" PRIx64, (int)bytes_count * 2, bits);
    }
}
