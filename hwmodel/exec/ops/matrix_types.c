/* Types of the elements of matrices, the layout of products, and conversions between half and single precision. */
#include "hwmodel/exec/ops/matrix.h"
#include "hwmodel/memory/narrow.h"

const hd_matrix_type hd_matrix_types[HD_TYPE_COUNT] = {
#define HD_MATRIX_TYPE(type, bits, kind, exponent, fraction) \
    [HD_TYPE_##type] = {bits, HD_MATRIX_##kind, exponent, fraction},
#include "hwmodel/exec/ops/matrix.def"
};

static const struct machine {
    uint8_t sm, bytes, bits, f8_bits, f8_kept;
} machines[] = {
#define HD_MATRIX_MACHINE(sm, bytes, bits, f8_bits, f8_kept) {sm, bytes, bits, f8_bits, f8_kept},
#include "hwmodel/exec/ops/matrix.def"
};

static hd_matrix_model model_of(uint32_t sm, hd_type type)
{
    const struct machine *m = machines;
    uint32_t bits = hd_matrix_types[type].bits;
    sm = sm ? sm : 80;
    for (uint32_t i = 0; i < sizeof machines / sizeof *machines; i++)
        if (machines[i].sm <= sm)
            m = &machines[i];
    uint32_t kept = bits == 8 ? m->f8_kept : 23;
    return (hd_matrix_model){(uint8_t)(m->bytes * 8 / bits), (uint8_t)(25 - (bits == 8 ? m->f8_bits : m->bits)),
                             ~0u << (23 - kept)};
}

hd_fragment hd_matrix_lay_fragment(hd_type type, char matrix, uint32_t lines, uint32_t length)
{
    uint32_t bits = hd_matrix_types[type].bits, bytes = length * bits / 8;
    bool sums = matrix == 'c';
    hd_fragment f = {.type = (uint8_t)type,
                     .unit = type == HD_TYPE_F64 ? 8 : 4,
                     .line_blocks = (uint8_t)(lines / 8),
                     .along_first = matrix == 'b',
                     .pairs = sums && bits >= 32,
                     .line_bytes = (uint16_t)bytes};
    f.blocks = (uint8_t)(bytes / (4u * f.unit) / (f.pairs ? 2 : 1));
    return f;
}

uint32_t hd_fragment_registers(const hd_fragment *f) { return f->line_blocks * f->blocks * (f->pairs ? 2u : 1u); }

void hd_matrix_lay_product(hd_matrix *x, const hd_type types[4], uint32_t sm)
{
    x->kind = hd_matrix_types[types[1]].kind;
    x->model = model_of(sm, types[1]);
    x->d = hd_matrix_lay_fragment(types[0], 'c', x->m, x->n);
    x->a = hd_matrix_lay_fragment(types[1], 'a', x->m, x->k);
    x->b = hd_matrix_lay_fragment(types[2], 'b', x->n, x->k);
    x->c = hd_matrix_lay_fragment(types[3], 'c', x->m, x->n);
}

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
