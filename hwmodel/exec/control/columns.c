/* Results of instructions as columns: see columns.h. O(words written).
 *
 * Sign-extension bits need not be stored: the folded word is the word xor its sign; the bytes that lanes need are those
 * of the OR of their folded words. For a register that all of the call frame's lanes write, the most frequent case, the
 * width over all lanes is the same. Otherwise the values of other lanes are in the register's row, if all lanes were
 * last written there. But names of architected functions share words of the register file and have separate rows: if
 * lanes were written under several names, the folded words of all lanes are stored separately. Rows are 0 in lanes
 * never written, which needs no more bytes than any value.
 */
#ifdef __GNUC__
#ifndef __clang__
#pragma GCC optimize("O3")
#endif
#endif
#include "hwmodel/exec/control/columns.h"

#include "hwmodel/exec/control/control.h"
#include "hwmodel/exec/ops/lanes.h"

#define INLINE static inline __attribute__((always_inline)) /* must be inlined to be compiled for its caller's CPU */

typedef int32_t s32x8 __attribute__((vector_size(32), may_alias));
typedef uint64_t u64x4 __attribute__((vector_size(32)));

/* Location of a word for all lanes: a row of the call frame, a multiple of 8, and its form; or one of the last 3. */
typedef uint32_t location;
enum {
    NEVER = 0, /* hd_frame.writers: no lane was written */
    HALF,
    WHOLE,
    EVEN,
    ODD,     /* of 2 or 4 bytes a lane; the first or the second half of 8 */
    SEVERAL, /* hd_frame.writers: the lanes' folded words are stored separately */
    UNKNOWN, /* values are unknown: parameters, results of calls */
};
enum { NEEDS_ALL = 1 << 30 }; /* a folded word that needs 4 bytes */

/* The location of word `part` of a register. */
INLINE location location_of(const hd_written *r, uint32_t part)
{
    location how = r->bytes == 4 ? WHOLE : r->bytes == 2 ? HALF : EVEN + part % 2;
    return r->row == HD_NO_REF ? UNKNOWN : (r->row + part / 2 * 8 * LANES) | how;
}

INLINE void gather_word(const hd_frame *f, location at, uint32_t *out)
{
    const unsigned char *row = f->registers + (at & ~7u);
    uint32_t how = at & 7;
    if (how == WHOLE)
        memcpy(out, row, 4 * LANES);
    else if (how == HALF)
        HD_LANE_LOOP out[i] = ((const uint16_t *)row)[i];
    else if (how == EVEN)
        HD_LANE_LOOP out[i] = (uint32_t)((const uint64_t *)row)[i];
    else
        HD_LANE_LOOP out[i] = (uint32_t)(((const uint64_t *)row)[i] >> 32);
}

/* ---- results ----------------------------------------------------------------------------------------------------- */

static uint32_t gather_results(const hd_op *op, const hd_warp *w, uint32_t *results)
{
    const hd_frame *f = hd_top_frame(w);
    const hd_written *r = f->code->written.items + op->written, *end = r + op->written_count;
    uint32_t words = 0;
    if (r->row == HD_NO_REF)
        return 0;
    for (; r < end; r++)
        for (uint32_t part = 0; part < r->words; part++, words++)
            gather_word(f, location_of(r, part), results + words * LANES);
    return words;
}

/* ---- widths ------------------------------------------------------------------------------------------------------ */

INLINE uint32_t *row_beside(const hd_frame *f, uint32_t word)
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
            f->writers[word] = UNKNOWN;
}

INLINE uint32_t fold(uint32_t word) { return word ^ (uint32_t)((int32_t)word >> 31); }
INLINE uint8_t bytes_of(uint32_t folded) { return (uint8_t)(1 + ((32 - __builtin_clz(folded | 1)) >> 3)); }

/* The OR of all folded words of a row of `vectors`, 4 or 8: of even and of odd elements. */
INLINE uint64_t any_of_row(const void *row, uint32_t vectors)
{
    const s32x8 *v = row;
    s32x8 any = (v[0] ^ v[0] >> 31) | (v[1] ^ v[1] >> 31) | (v[2] ^ v[2] >> 31) | (v[3] ^ v[3] >> 31);
    if (vectors > 4)
        any |= (v[4] ^ v[4] >> 31) | (v[5] ^ v[5] >> 31) | (v[6] ^ v[6] >> 31) | (v[7] ^ v[7] >> 31);
    u64x4 parts = (u64x4)any;
    return (parts[0] | parts[1]) | (parts[2] | parts[3]);
}

INLINE uint32_t any_of_halves(const uint16_t *row)
{
    uint32_t any = 0;
    HD_LANE_LOOP any |= row[i];
    return any;
}

INLINE void put_width(const hd_frame *f, const hd_written *r, uint32_t part, uint32_t folded, hd_width *width)
{
    uint8_t bytes = bytes_of(folded);
    *width = (hd_width){bytes, bytes};
    f->writers[r->word + part] = location_of(r, part);
}

/* A register that all lanes of the call frame have written. */
INLINE void measure_all(const hd_frame *f, const hd_written *r, hd_width *widths)
{
    for (uint32_t part = 0; r->row == HD_NO_REF && part < r->words; part++)
        put_width(f, r, part, NEEDS_ALL, &widths[part]);
    if (r->row == HD_NO_REF)
        return;
    const unsigned char *row = f->registers + r->row;
    if (r->bytes == 2)
        put_width(f, r, 0, any_of_halves((const uint16_t *)(const void *)row), widths);
    if (r->bytes == 4) {
        uint64_t any = any_of_row(row, 4);
        put_width(f, r, 0, (uint32_t)(any | any >> 32), widths);
    }
    for (uint32_t part = 0; part + 1 < r->words; part += 2) {
        uint64_t any = any_of_row(row + (size_t)part * 4 * LANES, 8);
        put_width(f, r, part, (uint32_t)any, &widths[part]);
        put_width(f, r, part + 1, (uint32_t)(any >> 32), &widths[part + 1]);
    }
}

INLINE uint32_t if_in(uint32_t lanes, int lane)
{
    return (uint32_t)((int32_t)(lanes << (LANES - 1 - lane)) >> (LANES - 1));
}

/* Records that some lanes have written a word, which is in its row, or in `words`. If other lanes were last written
 * under another name, their folded words are stored separately. If no lane was written before and the row is zero, the
 * row is simply used. */
HD_CLONES static location change_writer(const hd_frame *f, uint32_t word, location at, const uint32_t *words,
                                        uint32_t lanes)
{
    uint32_t *beside = row_beside(f, word), old = f->writers[word], others = 0;
    HD_LANE_LOOP others |= words[i] & ~if_in(lanes, i);
    if (old == NEVER && !others)
        return f->writers[word] = at;
    memset(beside, 0, LANES * sizeof *beside);
    if (old != NEVER && old != UNKNOWN)
        gather_word(f, old, beside);
    for (int i = 0; i < LANES && old != NEVER; i++)
        beside[i] = (old == UNKNOWN ? NEEDS_ALL : fold(beside[i])) & if_in(f->lanes, i);
    return f->writers[word] = SEVERAL;
}

/* A word that some lanes have written. */
INLINE hd_width measure_some(const hd_frame *f, uint32_t word, location at, const uint32_t *words, uint32_t lanes)
{
    uint32_t written = 0, held = 0, *beside = row_beside(f, word);
    location writer = f->writers[word];
    if (writer != SEVERAL && writer != at)
        writer = change_writer(f, word, at, words, lanes);
    if (writer == SEVERAL)
        HD_LANE_LOOP
        {
            uint32_t folded = fold(words[i]) & if_in(lanes, i);
            beside[i] = folded | (beside[i] & ~if_in(lanes, i));
            written |= folded;
            held |= beside[i];
        }
    else
        HD_LANE_LOOP
        {
            written |= fold(words[i]) & if_in(lanes, i);
            held |= fold(words[i]);
        }
    return (hd_width){bytes_of(written), bytes_of(held)};
}

/* All registers of an instruction that some lanes have written; the words. */
INLINE uint32_t gather_some(const hd_frame *f, const hd_written *r, const hd_written *end, uint32_t lanes,
                            hd_width *widths)
{
    uint32_t words = 0, room[LANES];
    for (; r < end; r++)
        for (uint32_t part = 0; part < r->words; part++) {
            location at = location_of(r, part);
            if (at != UNKNOWN)
                gather_word(f, at, room);
            for (int i = 0; i < LANES && at == UNKNOWN; i++)
                room[i] = NEEDS_ALL;
            widths[words++] = measure_some(f, r->word + part, at, room, lanes);
        }
    return words;
}

INLINE uint32_t gather_all(const hd_frame *f, const hd_written *r, const hd_written *end, hd_width *widths)
{
    const hd_width *first = widths;
    for (; r < end; widths += r->words, r++)
        measure_all(f, r, widths);
    return (uint32_t)(widths - first);
}

/* In most cases a single word. */
HD_CLONES static uint32_t gather_widths(const hd_frame *f, const hd_unmeasured *items, uint32_t count, hd_width *widths)
{
    const hd_width *first = widths;
    for (const hd_unmeasured *u = items, *last = items + count; u < last; u++) {
        const hd_written *r = f->code->written.items + u->op->written, *end = r + u->op->written_count;
        if (f->lanes & ~u->lanes && r->single)
            *widths++ = measure_some(f, r->word, r->row | WHOLE,
                                     (const uint32_t *)(const void *)(f->registers + r->row), u->lanes);
        else if (f->lanes & ~u->lanes)
            widths += gather_some(f, r, end, u->lanes, widths);
        else if (!r->single)
            widths += gather_all(f, r, end, widths);
        else {
            uint64_t any = any_of_row(f->registers + r->row, 4);
            uint8_t bytes = bytes_of((uint32_t)(any | any >> 32));
            *widths++ = (hd_width){bytes, bytes};
            f->writers[r->word] = r->row | WHOLE;
        }
    }
    return (uint32_t)(widths - first);
}

void hd_gather_widths(hd_gathering *g, hd_segment_event *s)
{
    s->width_words += gather_widths(&g->warp->frames.items[g->frame], g->items, g->count, s->widths + s->width_words);
    g->count = 0;
    g->words = 0;
}

/* ---- events ------------------------------------------------------------------------------------------------------ */

bool hd_emit_issue(const hd_op *op, hd_warp *w, hd_event *e, uint32_t mask)
{
    hd_cta *cta = w->cta;
    if (op->flags & HD_OP_MEMORY && mask && cta->columns & HD_COLUMN_ADDRESSES) {
        e->addresses = cta->addresses;
        e->copied_to = op->flags & HD_OP_COPY ? cta->copied_to : NULL;
        e->copied_bytes = e->copied_to ? cta->copied_bytes : NULL;
    }
    if (cta->sector_count && mask) {
        e->sectors = cta->sectors;
        e->sector_count = cta->sector_count;
        cta->sector_count = 0;
    }
    uint32_t results = HD_COLUMN_RESULTS | (e->addresses ? HD_COLUMN_LOADED : 0);
    if (op->written_count && e->effective && cta->columns & results) {
        e->result_words = gather_results(op, w, cta->results);
        e->results = e->result_words ? cta->results : NULL;
    }
    if (op->written_count && e->effective && cta->columns & HD_COLUMN_WIDTHS) {
        e->width_words = gather_widths(hd_top_frame(w), &(hd_unmeasured){op, e->effective}, 1, cta->widths);
        e->widths = cta->widths;
    }
    if (cta->faulty && mask && cta->columns & HD_COLUMN_LANES && (cta->effect.wrong | cta->effect.sensitive))
        e->effect = &cta->effect;
    for (uint32_t i = 0; i < cta->sink_count; i++)
        if (!cta->sinks[i].take(cta->sinks[i].context, e))
            return false;
    return true;
}
