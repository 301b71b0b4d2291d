/* Which registers the pass release renames: section "Renaming table" of Jeon et al., "GPU Register File
 * Virtualization", MICRO 2015, for words of the register file.
 *
 * A table of B bytes renames 8 B / (bits of a physical register number * warps per thread block * resident thread
 * blocks) words of each warp. If there are more, those with the shortest estimated value lifetime are renamed; among
 * equal ones those with fewer values. A value's lifetime is the number of instructions between its definition and its
 * release; that of a word is the mean over its values: the points of the code at which it is live for the warp, divided
 * by its definitions. Ties are broken by the lower number.
 *
 * Linear in operands and sizes of the live sets; candidates are sorted. */
#include "passes/technique/release_work.h"

#include "base/compare.h"
#include "passes/analysis/resident.h"

#include <stdlib.h>

/* ---- the table --------------------------------------------------------------------------------------------------- */

static uint32_t bits_of(uint32_t values)
{
    uint32_t bits = 1;
    while (bits < 31 && 1u << bits < values)
        bits++;
    return bits;
}

/* Resident thread blocks, and bits of a physical register number, where the user gave none. Without a GPU description
 * they are those of the paper: 48 warps and 1,024 warp registers. */
static void ask_machine(hd_pass_context *context, uint32_t warps, uint32_t *bits, uint32_t *ctas)
{
    enum { PAPER_WARPS = 48, PAPER_BITS = 10, LANES = 32 };
    const hd_gpu *gpu = hd_pass_gpu(context);
    hd_occupancy_use use = hd_pass_use(context);
    hd_occupancy fits;
    use.threads = warps * LANES;
    if (!*bits)
        *bits = gpu && gpu->valid ? bits_of(gpu->limits.registers_per_sm / LANES) : PAPER_BITS;
    if (!*ctas)
        *ctas = hd_pass_occupancy(context, &use, &fits) ? fits.ctas : warps < PAPER_WARPS ? PAPER_WARPS / warps : 1;
}

uint32_t release_capacity(hd_pass_context *context)
{
    uint32_t bytes = hd_option_number(context, "table", 1024), bits = hd_option_number(context, "bits", 0);
    uint32_t threads = hd_option_number(context, "threads", hd_pass_block(context)),
             ctas = hd_option_number(context, "ctas", 0);
    uint32_t warps = (threads + 31) / 32;
    ask_machine(context, warps, &bits, &ctas);
    return (uint32_t)((uint64_t)bytes * 8 / ((uint64_t)bits * warps * ctas));
}

/* ---- lifetimes --------------------------------------------------------------------------------------------------- */

typedef struct measure {
    hd_function *function;
    const hd_storage *storage;
    hd_live_walk walk;
    release_life *lives;
    uint32_t *until; /* by word: 1 + position where it was last seen to become live, going backwards; 0: not live */
} measure;

/* Records an instruction after the walk has passed it. */
static void look_at(measure *m, uint32_t reg, uint32_t at, bool defines, bool kills)
{
    HD_STORAGE_WORDS (m->storage, reg, word) {
        release_life *life = &m->lives[word];
        bool live = hd_live_has(&m->walk, word);
        if (defines && (kills || !live))
            life->instances++;
        life->named = true;
        if (m->until[word] && !live)
            life->held += m->until[word] - 1 - at;
        if (!live)
            m->until[word] = 0;
        else if (!m->until[word])
            m->until[word] = at + 1;
    }
}

static void measure_block(measure *m, uint32_t b)
{
    const hd_block *block = &m->walk.cfg->blocks[b];
    const uint32_t *issued = m->storage->issued;
    hd_live_start(&m->walk, b);
    for (uint32_t i = 0; i < m->walk.count; i++)
        m->until[m->walk.members[i]] = issued[block->end] + 1;
    for (uint32_t i = block->end; i-- > block->first;) {
        const hd_instruction *insn = &m->function->instructions.items[i];
        hd_live_step(&m->walk);
        if (hd_storage_skips(m->storage, i))
            continue;
        HD_INSN_REGISTERS (m->function, insn, o)
            look_at(m, o->value, issued[i], o->flags & HD_OPERAND_DEF, hd_definition_kills(m->function, insn, o));
        HD_ASYNC_USES (m->walk.liveness->spans, i, reg)
            look_at(m, reg, issued[i], false, false);
    }
    for (uint32_t i = 0; i < m->walk.count; i++) {
        uint32_t word = m->walk.members[i];
        m->lives[word].held += m->until[word] - 1 - issued[block->first];
        m->until[word] = 0;
    }
}

/* Callees and callers may read registers of the module. */
static void leave_out(measure *m, const hd_liveness *thread)
{
    for (uint32_t i = 0; i < thread->module_wide.count; i++)
        m->lives[thread->module_wide.items[i]].named = false;
}

release_life *release_lives(hd_function *function, const hd_warp_words *words, hd_arena *scratch)
{
    measure m = {.function = function, .storage = &words->storage};
    const hd_cfg *cfg = hd_function_cfg(function);
    m.lives = HD_ARENA_ARRAY(scratch, release_life, (size_t)words->storage.words + 1);
    m.until = HD_ARENA_ARRAY(scratch, uint32_t, (size_t)words->storage.words + 1);
    hd_warp_words_walk(&m.walk, scratch, words);
    for (uint32_t b = 0; b < cfg->block_count; b++)
        if (cfg->blocks[b].reachable)
            measure_block(&m, b);
    leave_out(&m, words->thread);
    return m.lives;
}

/* ---- the choice -------------------------------------------------------------------------------------------------- */

typedef struct candidate {
    release_life life;
    uint32_t word;
} candidate;

static int compare_candidates(const void *left, const void *right)
{
    const candidate *a = left, *b = right;
    uint32_t values_a = a->life.instances ? a->life.instances : 1, values_b = b->life.instances ? b->life.instances : 1;
    uint64_t x = a->life.held * values_b, y = b->life.held * values_a; /* compares held / values by cross products */
    if (x != y)
        return x < y ? -1 : 1;
    if (values_a != values_b)
        return values_a < values_b ? -1 : 1;
    return a->word < b->word ? -1 : 1;
}

hd_register_set release_choose(const release_life *lives, uint32_t words, uint32_t most, hd_arena *scratch)
{
    candidate *all = HD_ARENA_ARRAY(scratch, candidate, (size_t)words + 1);
    uint32_t count = 0;
    for (uint32_t w = 0; w < words; w++)
        if (lives[w].named)
            all[count++] = (candidate){lives[w], w};
    if (count > most)
        qsort(all, count, sizeof *all, compare_candidates);
    count = hd_min(count, most);
    uint32_t *chosen = HD_ARENA_ARRAY(scratch, uint32_t, (size_t)count + 1);
    for (uint32_t i = 0; i < count; i++)
        chosen[i] = all[i].word;
    qsort(chosen, count, sizeof *chosen, hd_compare_u32);
    return (hd_register_set){chosen, count};
}
