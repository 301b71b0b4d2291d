/* Results of instructions as columns: see columns.h. O(words written).
 *
 * Bits that equal the sign are not needed: a word is folded where it is xor its sign, and the bytes that lanes need are those of the OR of
 * their folded words. What all lanes hold is the same for a register that all of the frame's lanes write, nearly always. Of others it stands in
 * the register's row, if all lanes were written there last. But names of architected functions share words of the register file, and have
 * rows of their own: where lanes were written under several names, or not at all, the folded words of all lanes are kept beside.
 */
#ifdef __GNUC__
#ifndef __clang__
#pragma GCC optimize("O3")
#endif
#endif
#include "hwmodel/exec/columns.h"

typedef int32_t s32x8 __attribute__((vector_size(32), may_alias));

enum { /* hd_frame.writers: 1 + the one of code->written that all lanes wrote last, or */
    NEVER = 0,
    SEVERAL = UINT32_MAX - 1, /* the folded words of the lanes are kept */
    PASSED = UINT32_MAX,      /* a parameter, of which no value is known */
};
enum { UNKNOWN = 1 << 30 };   /* folded: needs 4 bytes */

/* ---- results --------------------------------------------------------------------------------------------------- */

/* Word `word` of a register of 2, 4, 8 or 16 bytes, in all lanes. */
static void gather_word(const unsigned char *row, uint32_t bytes, uint32_t word, uint32_t *out)
{
    const unsigned char *at = row + (size_t)(word / 2) * 8 * LANES + (size_t)(word % 2) * 4;
    if (bytes == 4)
        memcpy(out, row, 4 * LANES);
    for (uint32_t lane = 0; lane < LANES && bytes > 4; lane++)
        memcpy(&out[lane], at + (size_t)lane * 8, 4);
    for (uint32_t lane = 0; lane < LANES && bytes < 4; lane++) {
        uint16_t half;
        memcpy(&half, row + (size_t)lane * 2, 2);
        out[lane] = half;
    }
}

static uint32_t gather_results(const hd_op *op, const hd_warp *w, uint32_t *results)
{
    const hd_written *written = hd_top_frame(w)->code->written.items + op->written;
    uint32_t words = 0;
    if (written->row == HD_NO_REF)
        return 0;
    for (uint32_t k = 0; k < op->written_count; k++)
        for (uint32_t word = 0; word * 4 < written[k].bytes; word++, words++)
            gather_word(hd_row(w, written[k].row), written[k].bytes, word, results + words * LANES);
    return words;
}

/* ---- widths ---------------------------------------------------------------------------------------------------- */

static inline uint32_t *row_beside(const hd_frame *f, uint32_t word)
{
    return f->writers + f->code->storage.frame + (size_t)word * LANES;
}

void hd_widths_start(hd_frame *f)
{
    const hd_function *function = f->code->function;
    uint32_t words = f->code->storage.frame;
    if (f->writer_words < words) {
        free(f->writers);
        f->writers = hd_malloc((size_t)words * (1 + LANES) * sizeof *f->writers);
        f->writer_words = words;
    }
    for (uint32_t word = 0; word < words; word++)
        f->writers[word] = NEVER;
    for (uint32_t i = 0; i < function->register_parameters.count; i++)
        HD_STORAGE_WORDS (&f->code->storage, function->register_parameters.items[i], word)
            f->writers[word] = PASSED;
}

static inline uint8_t bytes_of(uint32_t folded)
{
    return (uint8_t)(1 + (folded >= 1u << 7) + (folded >= 1u << 15) + (folded >= 1u << 23));
}

/* The OR of all folded words of a row of `vectors`, a multiple of 4: those of even and of odd places. */
HD_CLONES static uint64_t any_of_row(const void *row, uint32_t vectors)
{
    const s32x8 *v = row;
    union {
        s32x8 all;
        uint64_t part[4];
    } any = {(v[0] ^ v[0] >> 31) | (v[1] ^ v[1] >> 31) | (v[2] ^ v[2] >> 31) | (v[3] ^ v[3] >> 31)};
    if (vectors > 4)
        any.all |= (v[4] ^ v[4] >> 31) | (v[5] ^ v[5] >> 31) | (v[6] ^ v[6] >> 31) | (v[7] ^ v[7] >> 31);
    return (any.part[0] | any.part[1]) | (any.part[2] | any.part[3]);
}

static uint32_t any_of_halves(const unsigned char *row)
{
    uint64_t any = 0, four;
    for (uint32_t k = 0; k < LANES / 4; k++) {
        memcpy(&four, row + (size_t)k * 8, 8);
        any |= four;
    }
    any |= any >> 32;
    return (any | any >> 16) & 0xffff;
}

/* The words of a register that all lanes of the frame have written; the rows of a frame have 0 in other lanes, which needs no more than any. */
static void measure_all(const hd_warp *w, const hd_written *r, hd_width *widths)
{
    const unsigned char *row = r->row == HD_NO_REF ? NULL : hd_row(w, r->row);
    uint32_t bytes = r->bytes, words = 0;
    for (; !row && words * 4 < bytes; words++)
        widths[words] = (hd_width){4, 4};
    for (uint32_t at = 0; row && at < bytes; at += 8) {
        uint64_t any = bytes == 2 ? any_of_halves(row) : any_of_row(row + (size_t)at * LANES, bytes == 4 ? 4 : 8);
        uint32_t low = (uint32_t)any, high = (uint32_t)(any >> 32);
        uint8_t first = bytes_of(bytes > 4 ? low : low | high), second = bytes_of(high);
        widths[words++] = (hd_width){first, first};
        if (bytes > 4)
            widths[words++] = (hd_width){second, second};
    }
}

HD_CLONES static uint32_t any_of_lanes(const uint32_t *folded, uint32_t lanes)
{
    uint32_t any = 0;
    HD_LANE_LOOP any |= lanes >> i & 1 ? folded[i] : 0;
    return any;
}

HD_CLONES static void fold(uint32_t *words)
{
    HD_LANE_LOOP words[i] ^= (uint32_t)((int32_t)words[i] >> 31);
}

static void fold_word(const hd_warp *w, const hd_written *r, uint32_t part, uint32_t *folded)
{
    if (r->row == HD_NO_REF) {
        HD_LANE_LOOP folded[i] = UNKNOWN;
        return;
    }
    gather_word(hd_row(w, r->row), r->bytes, part, folded);
    fold(folded);
}

/* Puts the folded words of all lanes beside, as they were before the register was written. */
static void put_beside(const hd_warp *w, const hd_frame *f, uint32_t word)
{
    uint32_t *beside = row_beside(f, word), folded[LANES], writer = f->writers[word];
    const hd_written parameter = {HD_NO_REF, word, 4};
    memset(beside, 0, sizeof folded);
    if (writer == NEVER)
        return;
    const hd_written *r = writer == PASSED ? &parameter : &f->code->written.items[writer - 1];
    fold_word(w, r, word - r->word, folded);
    hd_merge(beside, folded, f->lanes, sizeof *folded);
}

/* A word that some lanes have written. */
static hd_width measure_some(const hd_warp *w, uint32_t written, uint32_t part, uint32_t lanes)
{
    const hd_frame *f = hd_top_frame(w);
    const hd_written *all = f->code->written.items, *r = &all[written];
    uint32_t word = r->word + part, *writer = &f->writers[word], folded[LANES];
    bool known = *writer != NEVER && *writer != SEVERAL && *writer != PASSED;
    fold_word(w, r, part, folded);
    hd_width width = {.written = bytes_of(any_of_lanes(folded, lanes))};
    if (known && r->row != HD_NO_REF && all[*writer - 1].row == r->row) {
        width.held = bytes_of(any_of_lanes(folded, f->lanes));
        return width;
    }
    if (*writer != SEVERAL)
        put_beside(w, f, word);
    *writer = SEVERAL;
    hd_merge(row_beside(f, word), folded, lanes, sizeof *folded);
    width.held = bytes_of(any_of_lanes(row_beside(f, word), HD_ALL_LANES));
    return width;
}

uint32_t hd_gather_widths(const hd_op *op, hd_warp *w, uint32_t lanes, hd_width *widths)
{
    const hd_frame *f = hd_top_frame(w);
    uint32_t words = 0;
    bool all = !(f->lanes & ~lanes);
    for (uint32_t k = op->written; k < op->written + op->written_count; k++) {
        const hd_written *r = &f->code->written.items[k];
        uint32_t count = (r->bytes + 3) / 4;
        if (all)
            measure_all(w, r, widths + words);
        for (uint32_t part = 0; part < count; part++, words++)
            if (all)
                f->writers[r->word + part] = k + 1;
            else
                widths[words] = measure_some(w, k, part, lanes);
    }
    return words;
}

/* ---- events ---------------------------------------------------------------------------------------------------- */

bool hd_tell_event(const hd_op *op, hd_warp *w, hd_event *e, uint32_t mask)
{
    hd_cta *cta = w->cta;
    if (op->flags & HD_OP_MEMORY && mask && cta->columns & HD_COLUMN_ADDRESSES)
        e->addresses = cta->addresses;
    if (op->written_count && e->effective && cta->columns & HD_COLUMN_RESULTS) {
        e->result_words = gather_results(op, w, cta->results);
        e->results = e->result_words ? cta->results : NULL;
    }
    if (op->written_count && e->effective && cta->columns & HD_COLUMN_WIDTHS) {
        e->width_words = hd_gather_widths(op, w, e->effective, cta->widths);
        e->widths = cta->widths;
    }
    for (uint32_t i = 0; i < cta->sink_count; i++)
        if (!cta->sinks[i].take(cta->sinks[i].context, e))
            return false;
    return true;
}
