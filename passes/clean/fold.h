/* Interface between passes/clean/fold.c and passes/clean/fold_number.c. */
#ifndef HD_PASSES_CLEAN_FOLD_H
#define HD_PASSES_CLEAN_FOLD_H

#include "ir/form.h"

enum { HD_FOLD_SOURCES = 3 };

/* Evaluates an instruction of this form on numbers, exactly. sources: raw bits in the width of each operand's type.
 * *result: raw bits in the width of the destination's. false: the form is not folded, or the result is not determined
 * (a NaN, a division by zero). */
bool hd_fold_number(const hd_form *form, const uint64_t *sources, uint32_t count, uint64_t *result);

/* Width in bits of source k, and of the destination; 0 if fold does not handle the form. Handled: integer and bit
 * operations, f32 and f64 sums, products, negations, on scalars, without saturation and carry. */
uint32_t hd_fold_width(const hd_form *form, uint32_t source);
uint32_t hd_fold_result_width(const hd_form *form);

#endif
