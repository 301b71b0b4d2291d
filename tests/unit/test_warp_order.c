/* Warp-level liveness, and the warp order of the passes and that of the checkers, against the rules, taken literally,
 * on random control flow with blocks that fail, which the oracle (tests/unit/oracle.h) does not know; and the
 * techniques that follow it where it has hundreds of millions of pairs. */
#include "tests/unit/unit.h"

#include "parser/parse.h"
#include "passes/check/order.h"
#include "passes/analysis/liveness.h"
#include "passes/technique/regmutex.h"
#include "passes/technique/regmutex_work.h"
#include "passes/analysis/analyses.h"
#include "tests/unit/order_mask.h"
#include "tests/unit/rf_bench.h"

enum { PROGRAMS = 4000, MOST_BLOCKS = 63, TARGETS = 8, TRAPS = 20000 };

/* ---- the rule ---------------------------------------------------------------------------------------------------- */

/* Calls of `die` and traps fail, `helper` may return. */
static void write_failing(hd_writer *text, uint64_t *seed)
{
    static const char *const ends[] = {"trap;",      "call die;",  "exit;",     "call helper;",
                                       "@%p1 trap;", "@%p0 trap;", "@%p1 exit;"};
    uint32_t count = 3 + (uint32_t)(unit_random(seed) % 17), near = (uint32_t)(unit_random(seed) % 3);
    hd_write_string(
        text, ".version 8.0\n.target sm_80\n.address_size 64\n.func die()\n.noreturn\n{\nexit;\n}\n.func "
              "helper()\n{\nret;\n}\n"
              ".visible .entry k()\n{\n.reg .pred %p<2>;\n.reg .b32 %r<8>;\n"
              "mov.u32 %r0, %ctaid.x;\nmov.u32 %r1, %tid.x;\nsetp.eq.u32 %p0, %r0, 1;\nsetp.eq.u32 %p1, %r1, 1;\n");
    for (uint32_t b = 0; b < count; b++) {
        uint32_t kind = (uint32_t)(unit_random(seed) % 10), to[TARGETS];
        for (uint32_t k = 0; k < TARGETS; k++)
            to[k] = (near ? b + (uint32_t)(unit_random(seed) % 7) : (uint32_t)unit_random(seed)) % (count + 1);
        hd_write_format(text, "L%u: mov.u32 %%r%u, %u;\nst.local.u32 [0], %%r%u;\n", b,
                        2 + (uint32_t)(unit_random(seed) % 6), b, (uint32_t)(unit_random(seed) % 8));
        if (kind < 3)
            hd_write_format(text, "%s\n", ends[unit_random(seed) % 7]);
        else if (kind < 8)
            hd_write_format(text, "@%%p%u bra L%u;\n", kind > 3, to[0]);
        else if (kind < 9)
            hd_write_format(text, "T%u: .branchtargets L%u, L%u, L%u, L%u, L%u, L%u, L%u, L%u;\nbrx.idx %%r1, T%u;\n",
                            b, to[0], to[1], to[2], to[3], to[4], to[5], to[6], to[7], b);
    }
    hd_write_format(text, "L%u: %s\n}\n", count, unit_random(seed) % 4 ? "ret;" : "trap;");
}

/* Blocks that `from` reaches without entering `join`. */
static uint64_t region_of(const hd_cfg *cfg, uint32_t from, uint32_t join)
{
    uint64_t region = 1ull << from;
    for (uint64_t before = 0; before != region;) {
        before = region;
        for (uint32_t b = 0; b < cfg->block_count; b++)
            for (uint32_t e = 0; before >> b & 1 && e < cfg->blocks[b].succ_count; e++)
                if (hd_block_successors(cfg, b)[e] != join && hd_block_successors(cfg, b)[e] != cfg->block_count)
                    region |= 1ull << hd_block_successors(cfg, b)[e];
    }
    return region;
}

static void order_by_the_rule(const hd_cfg *cfg, const hd_bitset *branches, uint64_t *order)
{
    uint64_t successors[MOST_BLOCKS] = {0}, exit = 1ull << cfg->block_count;
    for (uint32_t b = 0; b < cfg->block_count; b++) {
        for (uint32_t e = 0; e < cfg->blocks[b].succ_count; e++)
            successors[b] |= 1ull << hd_block_successors(cfg, b)[e];
        order[b] = successors[b];
    }
    HD_BITSET_EACH (branches, b) {
        uint64_t join = 1ull << cfg->blocks[b].post_dominator;
        order[b] |= join & ~exit;
        for (uint64_t sides = successors[b] & ~join & ~exit; sides; sides &= sides - 1) {
            uint64_t region = region_of(cfg, (uint32_t)__builtin_ctzll(sides), cfg->blocks[b].post_dominator);
            for (; region; region &= region - 1)
                if (successors[__builtin_ctzll(region)] & (join | exit))
                    order[__builtin_ctzll(region)] |= ((successors[b] & ~(sides & -sides)) | join) & ~exit;
        }
    }
}

static uint64_t live_into(const hd_liveness *live, uint32_t block)
{
    uint64_t mask = 0;
    for (uint32_t i = 0; i < live->live_in[block].count; i++)
        mask |= 1ull << live->live_in[block].items[i];
    return mask;
}

/* What the blocks of each side keep for the lanes that wait. */
static void pend_by_the_rule(const hd_cfg *cfg, const hd_bitset *branches, const hd_liveness *live, uint64_t *pend)
{
    HD_BITSET_EACH (branches, b) {
        const uint32_t *targets = hd_block_successors(cfg, b);
        for (uint32_t s = 0; s < cfg->blocks[b].succ_count; s++) {
            uint64_t kept = live_into(live, cfg->blocks[b].post_dominator), region;
            if (targets[s] == cfg->blocks[b].post_dominator || targets[s] == cfg->block_count)
                continue;
            for (uint32_t other = 0; other < cfg->blocks[b].succ_count; other++)
                kept |= other == s ? 0 : live_into(live, targets[other]);
            for (region = region_of(cfg, targets[s], cfg->blocks[b].post_dominator); region; region &= region - 1)
                pend[__builtin_ctzll(region)] |= kept;
        }
    }
}

static void compare_pend(hd_pass_context *context, uint64_t seed)
{
    const hd_uniformity *uniformity = hd_analysis_get(context, HD_ANALYSIS_UNIFORMITY);
    const hd_warp_liveness *warp = hd_analysis_get(context, HD_ANALYSIS_WARP_LIVENESS);
    const hd_cfg *cfg = hd_function_cfg(context->function);
    uint64_t expected[MOST_BLOCKS] = {0};
    pend_by_the_rule(cfg, &uniformity->divergent_branches, warp->thread, expected);
    for (uint32_t b = 0; b < cfg->block_count; b++) {
        uint64_t pend = 0;
        for (uint32_t i = 0; i < warp->pend[b].count; i++)
            pend |= 1ull << warp->pend[b].items[i];
        if (pend != expected[b])
            fail_msg("seed %llu, block %u: keeps %llx, not %llx", (unsigned long long)seed, b, (unsigned long long)pend,
                     (unsigned long long)expected[b]);
    }
}

/* Out-edges of divergent branches, and the edges into their join from what they reach before it. */
static void compare_cut(const hd_facts *facts, uint64_t seed)
{
    const hd_cfg *cfg = facts->cfg;
    bool expected[MOST_BLOCKS * TARGETS] = {false};
    HD_BITSET_EACH (&facts->splits, b) {
        uint32_t join = cfg->blocks[b].post_dominator;
        for (uint32_t e = 0; e < cfg->blocks[b].succ_count; e++)
            expected[cfg->blocks[b].succ_first + e] = true;
        for (uint64_t region = region_of(cfg, b, join); region && join != cfg->block_count; region &= region - 1) {
            const hd_block *block = &cfg->blocks[__builtin_ctzll(region)];
            for (uint32_t e = block->succ_first; e < block->succ_first + block->succ_count; e++)
                expected[e] = expected[e] || cfg->successors[e] == join;
        }
    }
    for (uint32_t b = 0; b < cfg->block_count; b++)
        for (uint32_t e = cfg->blocks[b].succ_first; e < cfg->blocks[b].succ_first + cfg->blocks[b].succ_count; e++)
            if (hd_bitset_has(&facts->cut, e) != expected[e])
                fail_msg("seed %llu: the edge from block %u to %u is %scut", (unsigned long long)seed, b,
                         cfg->successors[e], expected[e] ? "not " : "");
}

static bool compare_failing(hd_function *function, uint64_t seed)
{
    hd_facts facts;
    hd_pass_context context;
    hd_diagnostics diagnostics;
    uint64_t expected[MOST_BLOCKS] = {0};
    hd_diagnostics_init(&diagnostics);
    hd_pass_context_init(&context, function, &diagnostics);
    hd_facts_build(&facts, function);
    const hd_warp_order *passes = hd_analysis_get(&context, HD_ANALYSIS_WARP_ORDER);
    const hd_order checkers = hd_order_of(&facts);
    uint32_t blocks = facts.cfg->block_count;
    assert_true(blocks < MOST_BLOCKS);
    order_by_the_rule(facts.cfg, &facts.splits, expected);
    for (uint32_t b = 0; b < blocks; b++) {
        uint64_t one = order_mask(passes->successor_first, passes->successors, blocks, passes->nodes, b);
        uint64_t other = order_mask(checkers.successor_first, checkers.successors, blocks, checkers.nodes, b);
        if (one != expected[b] || other != expected[b])
            fail_msg("seed %llu, block %u: %llx and %llx, not %llx", (unsigned long long)seed, b,
                     (unsigned long long)one, (unsigned long long)other, (unsigned long long)expected[b]);
    }
    compare_pend(&context, seed);
    compare_cut(&facts, seed);
    bool hubs = passes->nodes > blocks + 1;
    for (uint32_t v = blocks + 1; v < passes->nodes; v++) /* in the order that passes need */
        for (uint32_t e = passes->predecessor_first[v]; e < passes->predecessor_first[v + 1]; e++)
            assert_true(passes->predecessors[e] < v);
    hd_facts_free(&facts);
    hd_pass_context_free(&context);
    hd_diagnostics_free(&diagnostics);
    return hubs;
}

static void code_that_fails_is_followed(void **state)
{
    uint64_t random = 3;
    uint32_t with_hubs = 0;
    (void)state;
    for (uint64_t seed = 1; seed <= UNIT_CASES(PROGRAMS); seed++) {
        hd_writer text;
        hd_source source;
        hd_diagnostics diagnostics;
        hd_writer_to_memory(&text);
        write_failing(&text, &random);
        hd_diagnostics_init(&diagnostics);
        hd_source_from_memory(&source, "random.ptx", text.buffer.items, text.buffer.count);
        hd_module *module = hd_parse_ptx(&source, &(hd_parse_options){0}, &diagnostics);
        assert_null(diagnostics.first);
        with_hubs += compare_failing(module->functions.items[2], seed);
        hd_module_free(module);
        hd_diagnostics_free(&diagnostics);
        hd_writer_free(&text);
    }
    assert_true(with_hubs > UNIT_CASES(PROGRAMS) / 20);
}

/* ---- many pairs -------------------------------------------------------------------------------------------------- */

/* A loop at many places of which lanes may trap, in physical registers R0 .. R7: after each of them any side of any
 * branch may come. The tests only end if nobody goes through all pairs. */
static void open_trapping(rf_bench *b)
{
    hd_writer text;
    hd_writer_to_memory(&text);
    hd_write_string(
        &text, ".version 8.0\n.target sm_80\n.address_size 32\n.entry k(.param .u32 n)\n{ //@architected (8,1,0,0)\n"
               ".reg .b32 %R<8>;\n.reg .pred %P<1>;\nmov.u32 %R0, %laneid;\nsetp.lt.u32 %P0, %R0, 9;\nL:\n");
    for (uint32_t i = 0; i < TRAPS; i++)
        hd_write_format(&text,
                        "@%%P0 bra M%u;\nadd.u32 %%R%u, %%R0, 1;\n@%%P0 trap;\nM%u: add.u32 %%R7, %%R0, "
                        "%u;\nsetp.lt.u32 %%P0, %%R7, %%R%u;\n",
                        i, 1 + i % 6, i, i, 1 + i % 5);
    hd_write_string(&text, "@%P0 bra L;\nret;\n}\n");
    rf_bench_open(b, text.buffer.items, text.buffer.count);
    hd_writer_free(&text);
}

static uint32_t count_annotations(const rf_bench *b, uint16_t kind)
{
    uint32_t count = 0;
    for (uint32_t a = 0; a < b->kernel->annotations.count; a++)
        count += b->kernel->annotations.items[a].kind == kind;
    return count;
}

static void intervals(void **state)
{
    rf_bench b;
    (void)state;
    open_trapping(&b);
    rf_bench_pass(&b, "ltrf(dead)");
    assert_true(count_annotations(&b, HD_ANNOTATION_LTRF_PREFETCH) > TRAPS);
    assert_true(rf_bench_check(&b, hd_check_ltrf));
    rf_bench_close(&b);
}

static void release_flags(void **state)
{
    rf_bench b;
    (void)state;
    open_trapping(&b);
    rf_bench_pass(&b, "release");
    assert_true(count_annotations(&b, HD_ANNOTATION_PIR) + count_annotations(&b, HD_ANNOTATION_PBR) > TRAPS);
    assert_true(rf_bench_check(&b, hd_check_release));
    rf_bench_close(&b);
}

/* R7 is extended: each piece of the loop acquires it after what may have released it, and releases it before what may
 * trap. */
static void extended_sets(void **state)
{
    rf_bench b;
    hd_regmutex_marks marks;
    hd_pass_context context;
    (void)state;
    open_trapping(&b);
    hd_pass_context_init(&context, b.kernel, &b.diagnostics);
    assert_true(hd_regmutex_annotate(&context, 7, 1, &marks));
    hd_pass_context_free(&context);
    assert_int_equal(marks.acquires, TRAPS);
    assert_true(rf_bench_check(&b, hd_check_regmutex));
    rf_bench_close(&b);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(code_that_fails_is_followed),
        cmocka_unit_test(intervals),
        cmocka_unit_test(release_flags),
        cmocka_unit_test(extended_sets),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
