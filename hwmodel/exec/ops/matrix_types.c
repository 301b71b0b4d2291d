/* Types of the elements of matrices, and conversions between half and single precision. */
#include "hwmodel/exec/ops/matrix.h"
#include "hwmodel/memory/narrow.h"

const hd_matrix_type hd_matrix_types[HD_TYPE_COUNT] = {
#define HD_MATRIX_TYPE(type, bits, kind, exponent, fraction) \
    [HD_TYPE_##type] = {bits, HD_MATRIX_##kind, exponent, fraction},
#include "hwmodel/exec/ops/matrix.def"
};

void hd_matrix_widen(float *to, const uint16_t *halves, uint32_t count)
{
    for (uint32_t i = 0; i < count; i++)
        to[i] = (float)hd_f16_to_double(halves[i]);
}

void hd_matrix_narrow(uint16_t *to, const float *values, uint32_t count)
{
    for (uint32_t i = 0; i < count; i++)
        to[i] = hd_f16_from_double(values[i]);
}
