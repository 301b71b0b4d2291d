/* Numbers of all formats that conversions support, unpacked: from any format to a number, from a number to any format
 * with one rounding. Integer arithmetic only, so that results are the same on every host. Private to hwmodel/exec. */
#ifndef HD_HWMODEL_EXEC_OPS_NUMBER_H
#define HD_HWMODEL_EXEC_OPS_NUMBER_H

#include "ir/form.h"

typedef enum hd_rounding { /* in the order of the modifiers .rn .rz .rm .rp .rna .rs */
                           HD_ROUND_NEAREST_EVEN,
                           HD_ROUND_ZERO,
                           HD_ROUND_DOWN,
                           HD_ROUND_UP,
                           HD_ROUND_NEAREST_AWAY,
                           HD_ROUND_RANDOM, /* away from zero if adding random bits to the dropped ones carries */
} hd_rounding;

typedef struct hd_random {
    uint32_t bits, count; /* the `count` low bits of `bits` are aligned below the last bit that is kept */
} hd_random;

typedef enum hd_number_kind { HD_NUMBER_FINITE, HD_NUMBER_INFINITE, HD_NUMBER_NAN } hd_number_kind;

/* Finite: significand * 2^exponent, negated if `negative`. NaN: the significand holds the payload, with the highest
 * fraction bit at bit 51. */
typedef struct hd_number {
    uint64_t significand;
    int32_t exponent;
    uint8_t kind;
    bool negative;
} hd_number;

typedef enum hd_specials {
    HD_SPECIALS_IEEE,    /* the highest exponent is infinity and NaN */
    HD_SPECIALS_NAN,     /* only all ones is special: NaN (e4m3) */
    HD_SPECIALS_NONE,    /* neither */
    HD_SPECIALS_INTEGER, /* not a float: exponent_bits is the width, fraction_bits is 1 if signed */
    HD_SPECIALS_SCALE,   /* ue8m0: a biased exponent; 255 is NaN */
} hd_specials;

/* The format of one value in a register. */
typedef struct hd_format {
    uint8_t exponent_bits, fraction_bits, specials;
    uint8_t low_zeros; /* bits below the fraction that are zero: tf32 */
    uint8_t bits;      /* of the whole value */
    uint8_t count;     /* number of values in a register of the type */
    uint8_t spacing;   /* distance in bits between values */
    uint64_t nan;      /* the result for a NaN; 0: its payload is kept (f64) */
} hd_format;

/* bits = 0 if the type has no convertible values. */
hd_format hd_format_of(hd_type type);
static inline bool hd_format_is_integer(const hd_format *f) { return f->specials == HD_SPECIALS_INTEGER; }

hd_number hd_number_load(uint64_t bits, const hd_format *from);
/* To a float format. `finite`: infinities and values beyond the range become the largest value. */
uint64_t hd_number_store(hd_number n, const hd_format *to, hd_rounding rounding, hd_random random, bool finite);
/* Rounded to an integral value; infinities, NaN and the sign of zero stay. */
hd_number hd_number_round(hd_number n, hd_rounding rounding);
/* An integral number clamped to the range of an integer type, in two's complement of 64 bits; NaN gives `nan`. */
uint64_t hd_number_clamp(hd_number n, const hd_format *to, uint64_t nan);

#endif
