/* Results of instructions as columns: see columns.h. O(words written). */
#include "hwmodel/exec/columns.h"
#include "base/clones.h"

/* Word `word` of a register of 2, 4, 8 or 16 bytes, in all lanes; from its row, or put together in `out`. */
static const uint32_t *gather_word(const unsigned char *row, uint32_t bytes, uint32_t word, uint32_t *out)
{
    const unsigned char *at = row + (size_t)(word / 2) * 8 * LANES + (size_t)(word % 2) * 4;
    if (bytes == 4)
        return (const uint32_t *)(const void *)row;
    if (bytes > 4) {
        for (uint32_t lane = 0; lane < LANES; lane++)
            memcpy(&out[lane], at + (size_t)lane * 8, 4);
        return out;
    }
    for (uint32_t lane = 0; lane < LANES; lane++) {
        uint16_t half;
        memcpy(&half, row + (size_t)lane * 2, 2);
        out[lane] = half;
    }
    return out;
}

/* Lanes whose values need more than 1, 2, 3 bytes. Bits that equal the sign are not needed; a value ^ its sign has the others. One loop
 * without branches, that becomes a few vectors. */
HD_CLONES static void measure_word(const uint32_t *values, uint32_t *over)
{
    static const uint32_t bits[32] = {1u << 0,  1u << 1,  1u << 2,  1u << 3,  1u << 4,  1u << 5,  1u << 6,  1u << 7,
                                      1u << 8,  1u << 9,  1u << 10, 1u << 11, 1u << 12, 1u << 13, 1u << 14, 1u << 15,
                                      1u << 16, 1u << 17, 1u << 18, 1u << 19, 1u << 20, 1u << 21, 1u << 22, 1u << 23,
                                      1u << 24, 1u << 25, 1u << 26, 1u << 27, 1u << 28, 1u << 29, 1u << 30, 1u << 31};
    uint32_t one = 0, two = 0, three = 0;
    for (uint32_t lane = 0; lane < 32; lane++) {
        int32_t value = (int32_t)values[lane], needed = value ^ value >> 31;
        one |= needed >= 1 << 7 ? bits[lane] : 0;
        two |= needed >= 1 << 15 ? bits[lane] : 0;
        three |= needed >= 1 << 23 ? bits[lane] : 0;
    }
    over[0] = one;
    over[1] = two;
    over[2] = three;
}

void hd_gather_columns(const hd_op *op, hd_warp *w, uint32_t columns, hd_event *event)
{
    hd_cta *cta = w->cta;
    const hd_code *code = hd_top_frame(w)->code;
    uint32_t words = 0, scratch[LANES];
    if (op->flags & HD_OP_CONTROL)
        return;
    for (uint32_t k = 0; k < op->written_count; k++) {
        const unsigned char *row = hd_row(w, code->refs.items[op->written + k]);
        uint32_t bytes = code->widths.items[op->written + k], n = (bytes + 3) / 4;
        for (uint32_t word = 0; word < n; word++, words++) {
            const uint32_t *values = gather_word(row, bytes, word, scratch);
            if (columns & HD_COLUMN_RESULTS)
                memcpy(cta->results + words * LANES, values, sizeof scratch);
            if (columns & HD_COLUMN_WIDTHS)
                measure_word(values, cta->widths + words * HD_WIDTH_MASKS);
        }
    }
    event->result_words = words;
    event->results = columns & HD_COLUMN_RESULTS ? cta->results : NULL;
    event->widths = columns & HD_COLUMN_WIDTHS ? cta->widths : NULL;
}
