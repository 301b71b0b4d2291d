/* Warp-level liveness by words of the register file against the rules read naively, on random kernels in PTX's
 * registers and allocated ones, where names overlap and identities are no instructions. */
#include "tests/unit/unit.h"

#include "passes/regalloc/regalloc.h"
#include "passes/analysis/warp_words.h"
#include "passes/analysis/analyses.h"
#include "tests/unit/rf_walk.h"

enum { MOST_BLOCKS = 200, MOST_WORDS = 256 };
typedef struct words {
    bool has[MOST_WORDS];
} words;

typedef struct naive {
    hd_function *f;
    const hd_cfg *cfg;
    const hd_warp_words *got;
    words in[MOST_BLOCKS], out[MOST_BLOCKS], pend[MOST_BLOCKS];
} naive;

static void join(words *to, const words *from)
{
    for (uint32_t w = 0; w < MOST_WORDS; w++)
        to->has[w] |= from->has[w];
}

static bool equal(const words *a, const words *b) { return memcmp(a, b, sizeof *a) == 0; }

/* Backwards over one instruction. */
static void before(const naive *n, uint32_t i, words *live)
{
    const hd_instruction *insn = &n->f->instructions.items[i];
    if (hd_storage_skips(&n->got->storage, i))
        return;
    HD_INSN_REGISTERS (n->f, insn, d)
        if (hd_definition_kills(n->f, insn, d))
            HD_STORAGE_WORDS (&n->got->storage, d->value, w)
                live->has[w] = false;
    HD_INSN_REGISTERS (n->f, insn, o)
        if (o->flags & HD_OPERAND_USE || insn->flags & HD_INSN_OPAQUE)
            HD_STORAGE_WORDS (&n->got->storage, o->value, w)
                live->has[w] = true;
}

static void thread_level(naive *n)
{
    const hd_cfg *cfg = n->cfg;
    for (bool changed = true; changed;) {
        changed = false;
        for (uint32_t b = cfg->block_count; b-- > 0;) {
            words live = {0};
            for (uint32_t e = 0; e < cfg->blocks[b].succ_count; e++)
                join(&live, &n->in[hd_block_successors(cfg, b)[e]]);
            n->out[b] = live;
            for (uint32_t i = cfg->blocks[b].end; i-- > cfg->blocks[b].first;)
                before(n, i, &live);
            changed |= !equal(&live, &n->in[b]);
            n->in[b] = live;
        }
    }
}

static void reach(const hd_cfg *cfg, uint32_t from, uint32_t stop, bool *found)
{
    if (from == stop || found[from])
        return;
    found[from] = true;
    for (uint32_t e = 0; from < cfg->block_count && e < cfg->blocks[from].succ_count; e++)
        reach(cfg, hd_block_successors(cfg, from)[e], stop, found);
}

/* What is read anywhere in the blocks that `from` reaches. */
static words read_from(const naive *n, uint32_t from)
{
    bool found[MOST_BLOCKS] = {0};
    words all = {0};
    reach(n->cfg, from, HD_NONE, found);
    for (uint32_t b = 0; b < n->cfg->block_count; b++)
        for (uint32_t i = n->cfg->blocks[b].first; found[b] && i < n->cfg->blocks[b].end; i++) {
            words one = {0};
            before(n, i, &one);
            join(&all, &one);
        }
    return all;
}

static void keep_side(naive *n, uint32_t b, uint32_t s, hd_liveness_rule rule)
{
    const hd_cfg *cfg = n->cfg;
    uint32_t join_at = rule == HD_LIVENESS_ITS ? cfg->block_count : cfg->blocks[b].post_dominator;
    bool found[MOST_BLOCKS] = {0};
    words keep = {0};
    if (s == join_at || s == cfg->block_count)
        return;
    if (rule != HD_LIVENESS_ITS)
        join(&keep, &n->in[join_at]);
    for (uint32_t e = 0; e < cfg->blocks[b].succ_count; e++) {
        uint32_t t = hd_block_successors(cfg, b)[e];
        if (t == s && rule != HD_LIVENESS_PAPER)
            continue;
        words also = rule == HD_LIVENESS_ITS ? read_from(n, t) : n->in[t];
        join(&keep, &also);
    }
    reach(cfg, s, join_at, found);
    for (uint32_t q = 0; q < cfg->block_count; q++)
        if (found[q])
            join(&n->pend[q], &keep);
}

/* Blocks in sides of branches that have two or more. */
static void find_sides(const naive *n, const hd_uniformity *u, bool *in_sides)
{
    const hd_cfg *cfg = n->cfg;
    HD_BITSET_EACH (&u->divergent_branches, b) {
        uint32_t join_at = cfg->blocks[b].post_dominator, sides = 0;
        for (uint32_t round = 0; round < 2; round++)
            for (uint32_t e = 0; e < cfg->blocks[b].succ_count; e++) {
                uint32_t s = hd_block_successors(cfg, b)[e];
                bool found[MOST_BLOCKS] = {0}, real = s != join_at && s != cfg->block_count;
                sides += !round && real;
                if (round && real && sides > 1)
                    reach(cfg, s, join_at, found);
                for (uint32_t q = 0; q < cfg->block_count; q++)
                    in_sides[q] |= found[q];
            }
    }
}

/* What is live after instructions at which lanes wait while others run. */
static void keep_waiting(naive *n, const hd_uniformity *u, hd_liveness_rule rule)
{
    bool in_sides[MOST_BLOCKS] = {0};
    words kept[MOST_BLOCKS];
    find_sides(n, u, in_sides);
    words before_waits[MOST_BLOCKS];
    memcpy(before_waits, n->pend, sizeof before_waits);
    memset(n->pend, 0, sizeof n->pend);
    HD_BITSET_EACH (&u->divergent_branches, b)
        for (uint32_t e = 0; in_sides[b] && e < n->cfg->blocks[b].succ_count; e++)
            keep_side(n, b, hd_block_successors(n->cfg, b)[e], rule == HD_LIVENESS_ITS ? HD_LIVENESS_OURS : rule);
    memcpy(kept, n->pend, sizeof kept);
    memcpy(n->pend, before_waits, sizeof before_waits);
    for (uint32_t b = 0; b < n->cfg->block_count; b++) {
        words live = n->out[b];
        for (uint32_t i = n->cfg->blocks[b].end; i-- > n->cfg->blocks[b].first; before(n, i, &live)) {
            const hd_instruction *insn = &n->f->instructions.items[i];
            bool meets = hd_insn_form(n->f, insn)->behaviour & HD_BEHAVE_MEET, all = insn->guard != HD_NONE && !meets;
            bool waits = hd_insn_form(n->f, insn)->behaviour & (HD_BEHAVE_BARRIER | HD_BEHAVE_YIELD) || meets;
            words also = live;
            if (meets)
                before(n, i, &also);
            for (uint32_t q = 0; q < n->cfg->block_count && waits; q++)
                if (all || (in_sides[b] && in_sides[q])) {
                    join(&n->pend[q], &live);
                    join(&n->pend[q], &also);
                    if (in_sides[q])
                        join(&n->pend[q], &kept[b]);
                }
        }
    }
}

static words words_of(hd_register_set set)
{
    words w = {0};
    for (uint32_t i = 0; i < set.count; i++)
        w.has[set.items[i]] = true;
    return w;
}

static words walked(const hd_live_walk *walk)
{
    words w = {0};
    for (uint32_t i = 0; i < walk->count; i++)
        w.has[walk->members[i]] = true;
    return w;
}

static void compare_block(const naive *n, hd_live_walk *walk, uint32_t b)
{
    const hd_block *block = &n->cfg->blocks[b];
    words live = n->out[b], out = n->out[b], in = n->in[b], got;
    join(&out, &n->pend[b]);
    join(&in, &n->pend[b]);
    got = words_of(n->got->out[b]);
    assert_true(equal(&got, &out));
    got = words_of(n->got->in[b]);
    assert_true(equal(&got, &in));
    hd_live_start(walk, b);
    for (uint32_t i = block->end;; hd_live_step(walk)) {
        words warp = live;
        join(&warp, &n->pend[b]);
        got = walked(walk);
        assert_true(equal(&got, &warp));
        if (i-- == block->first)
            return;
        before(n, i, &live);
    }
}

static bool compare(hd_pass_context *context, hd_function *f)
{
    naive *n = calloc(1, sizeof *n);
    n->f = f;
    n->cfg = hd_function_cfg(f);
    assert_true(n->cfg->block_count < MOST_BLOCKS);
    const hd_uniformity *u = hd_analysis_get(context, HD_ANALYSIS_UNIFORMITY);
    n->got = hd_warp_words_build(context, &context->scratch);
    assert_true(n->got->storage.words <= MOST_WORDS);
    thread_level(n);
    HD_BITSET_EACH (&u->divergent_branches, b)
        for (uint32_t e = 0; e < n->cfg->blocks[b].succ_count; e++)
            keep_side(n, b, hd_block_successors(n->cfg, b)[e], context->liveness);
    keep_waiting(n, u, context->liveness);
    hd_live_walk walk;
    hd_warp_words_walk(&walk, &context->scratch, n->got);
    bool any = false;
    for (uint32_t b = 0; b < n->cfg->block_count; b++) {
        compare_block(n, &walk, b);
        any |= n->got->warp->pend[b].count != 0;
    }
    free(n);
    return any;
}

static void allocate(hd_function *f, hd_diagnostics *diagnostics, uint32_t most)
{
    hd_pass_context context;
    hd_regalloc_result result;
    hd_pass_context_init(&context, f, diagnostics);
    assert_true(hd_regalloc_run(&context, &(hd_regalloc_options){.max = most}, &result));
    hd_pass_context_free(&context);
}

static bool compare_seed(uint64_t seed, hd_liveness_rule rule)
{
    hd_source source;
    hd_diagnostics diagnostics;
    hd_writer text;
    hd_pass_context context;
    hd_writer_to_memory(&text);
    rf_random_kernel(&text, seed / 2);
    hd_diagnostics_init(&diagnostics);
    hd_module *module = rf_parse(&source, text.buffer.items, text.buffer.count, &diagnostics);
    hd_function *f = hd_module_find_function(module, "k");
    if (seed % 2)
        allocate(f, &diagnostics, seed % 3 ? 0 : 10);
    hd_pass_context_init(&context, f, &diagnostics);
    context.liveness = rule;
    bool any = compare(&context, f);
    hd_pass_context_free(&context);
    hd_module_free(module);
    hd_diagnostics_free(&diagnostics);
    hd_writer_free(&text);
    return any;
}

static void words_follow_the_rule(void **state)
{
    static const hd_liveness_rule rules[] = {HD_LIVENESS_OURS, HD_LIVENESS_PAPER, HD_LIVENESS_ITS};
    uint32_t pending = 0;
    (void)state;
    for (uint64_t seed = 0; seed < 600; seed++)
        for (uint32_t r = 0; r < 3; r++)
            pending += compare_seed(seed, rules[r]);
    assert_true(pending > 600);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(words_follow_the_rule),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
