/* The pass of latch: marks results that only the next instruction reads.
 *
 * The hardware has a slot of one warp register for each warp, which takes every result of one word. A result that the
 * pass marks goes to the slot only, and saves its write to the register file. An instruction is marked where
 *
 *   - it has one result in the register file, of one word, which it writes in all active lanes and as a whole, and
 *     which no other function names;
 *   - the next issued instruction is in the same block and reads the word, and the word is dead after that;
 *   - neither of the two calls, waits, yields or returns, is unknown, or is asynchronous.
 *
 * The warp then issues the two one after the other, with the same active lanes. So thread-level liveness is enough: the
 * slot takes the active lanes alone, and lanes that wait elsewhere keep their values in the file.
 *
 * Linear in operands.
 */
#include "latch.h"

typedef struct walk_state {
    hd_function *function;
    const hd_storage *storage;
    const hd_liveness *live;    /* of words */
    const hd_bitset *in_flight; /* words of asynchronous instructions; NULL: none */
    hd_live_walk walk;
    hd_u32_array last_read; /* words that the next issued instruction reads last */
    uint64_t marked;
} walk_state;

/* Issues at once, and lets nothing else of its warp run before the instruction after it. */
static bool is_plain(const walk_state *p, const hd_instruction *insn)
{
    uint32_t waits = HD_BEHAVE_CALL | HD_BEHAVE_BARRIER | HD_BEHAVE_YIELD | HD_BEHAVE_RETURN | HD_BEHAVE_MEET;
    return !(insn->flags & HD_INSN_OPAQUE) && !(hd_insn_form(p->function, insn)->behaviour & waits);
}

/* The register that is the only result of the instruction, HD_NONE where there is none or it may not be marked. */
static uint32_t only_result(const walk_state *p, const hd_instruction *insn)
{
    uint32_t result = HD_NONE, count = 0;
    bool whole = true;
    HD_INSN_REGISTERS (p->function, insn, o) {
        if (!(o->flags & HD_OPERAND_DEF) || !hd_storage_count(p->storage, o->value))
            continue;
        whole = hd_definition_kills(p->function, insn, o);
        result = o->value;
        count++;
    }
    bool fits = count == 1 && whole && hd_storage_count(p->storage, result) == 1 && is_plain(p, insn);
    return fits && !hd_register_set_has(p->live->module_wide_registers, result) ? result : HD_NONE;
}

/* Is the word overwritten by the instruction, wherever it is executed? */
static bool overwrites(const walk_state *p, const hd_instruction *insn, uint32_t word)
{
    bool does = false;
    HD_INSN_REGISTERS (p->function, insn, o)
        HD_STORAGE_WORDS (p->storage, o->value, w)
            does = does || (w == word && hd_definition_kills(p->function, insn, o));
    return does;
}

/* The walk stands after the instruction. */
static void find_last_reads(walk_state *p, const hd_instruction *insn)
{
    hd_array_clear(&p->last_read);
    if (!is_plain(p, insn))
        return;
    HD_INSN_REGISTERS (p->function, insn, o) {
        if (!(o->flags & HD_OPERAND_USE))
            continue;
        HD_STORAGE_WORDS (p->storage, o->value, word)
            if (!hd_live_has(&p->walk, word) || overwrites(p, insn, word))
                hd_array_push(&p->last_read, word);
    }
}

static bool next_reads_last(const walk_state *p, uint32_t word)
{
    for (uint32_t i = 0; i < p->last_read.count; i++)
        if (p->last_read.items[i] == word)
            return !p->in_flight || !hd_bitset_has(p->in_flight, word);
    return false;
}

static void mark_block(walk_state *p, uint32_t b, const hd_block *block)
{
    hd_array_clear(&p->last_read);
    hd_live_start(&p->walk, b);
    for (uint32_t i = block->end; i-- > block->first; hd_live_step(&p->walk)) {
        const hd_instruction *insn = &p->function->instructions.items[i];
        if (hd_storage_skips(p->storage, i))
            continue;
        uint32_t result = only_result(p, insn);
        if (result != HD_NONE && next_reads_last(p, p->storage->first[result])) {
            hd_annotate(p->function, (hd_annotation){.kind = LATCH_MARK, .instruction = i});
            p->marked++;
        }
        find_last_reads(p, insn);
    }
}

bool latch_pass(hd_pass_context *context)
{
    hd_function *f = context->function;
    const hd_cfg *cfg = hd_function_cfg(f);
    walk_state p = {.function = f,
                    .storage = hd_analysis_get(context, HD_ANALYSIS_STORAGE),
                    .live = hd_analysis_get(context, HD_ANALYSIS_LIVE_WORDS)};
    p.in_flight = hd_async_words(f, p.storage, &context->scratch);
    hd_live_walk_init(&p.walk, &context->scratch, f, p.live);
    hd_annotations_remove(f, "latch");
    for (uint32_t b = 0; b < cfg->block_count; b++)
        if (cfg->blocks[b].reachable)
            mark_block(&p, b, &cfg->blocks[b]);
    hd_annotations_sort(f);
    hd_statistic_add(context, "results to the slot only", p.marked);
    hd_array_free(&p.last_read);
    return true;
}
