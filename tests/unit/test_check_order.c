/* What checkers know of divergent branches, and their warp order (passes/check/facts.h, order.h): against the rules
 * followed literally, and against the oracle (tests/unit/oracle.h), on random programs. */
#include "tests/unit/golden.h"

#include "parser/parse.h"
#include "passes/analysis/liveness.h"
#include "passes/check/order.h"
#include "passes/manager/manager.h"
#include "tests/unit/oracle.h"
#include "tests/unit/order_mask.h"

enum { PROGRAMS = 2000 };

/* The blocks that a branch reaches before its join, into `region`, and the edges that are cut. */
static void search_region(const hd_cfg *cfg, uint32_t branch, bool *region, bool *cut)
{
    uint32_t join = cfg->blocks[branch].post_dominator, count = 1,
             *due = hd_malloc((cfg->block_count + 1u) * sizeof *due);
    memset(region, 0, cfg->block_count);
    due[0] = branch;
    for (uint32_t i = 0; i < count; i++)
        for (uint32_t e = 0; e < cfg->blocks[due[i]].succ_count; e++) {
            uint32_t to = hd_block_successors(cfg, due[i])[e];
            cut[cfg->blocks[due[i]].succ_first + e] |= due[i] == branch || (to == join && join != cfg->block_count);
            if (to != join && to != cfg->block_count && !region[to]) {
                region[to] = true;
                if (to != branch)
                    due[count++] = to;
            }
        }
    free(due);
}

/* Each branch that may diverge by itself: its cut edges, and what its region writes and is live into the join. */
static void compare_regions(hd_facts *facts, uint64_t seed)
{
    const hd_cfg *cfg = facts->cfg;
    const hd_function *f = facts->function;
    bool *region = hd_calloc(cfg->block_count + 1u, 1), *cut = hd_calloc(facts->cut.bits + 1u, 1);
    HD_BITSET_EACH (&facts->splits, b) {
        search_region(cfg, b, region, cut);
        for (uint32_t i = 0; i < f->instructions.count && cfg->blocks[b].post_dominator != cfg->block_count; i++)
            HD_INSN_REGISTERS (f, &f->instructions.items[i], o)
                if (region[cfg->block_of[i]] &&
                    (o->flags & HD_OPERAND_DEF || f->instructions.items[i].flags & HD_INSN_OPAQUE) &&
                    hd_lives_live_into(&facts->registers, o->value, cfg->blocks[b].post_dominator) &&
                    !hd_bitset_has(&facts->divergent, o->value))
                    fail_msg("seed %llu: register %u depends on the way, but is called uniform",
                             (unsigned long long)seed, o->value);
    }
    for (uint32_t e = 0; e < facts->cut.bits; e++)
        if (cut[e] != hd_bitset_has(&facts->cut, e))
            fail_msg("seed %llu, edge %u: %s", (unsigned long long)seed, e, cut[e] ? "not cut" : "cut");
    free(region);
    free(cut);
}

static void compare_orders(const oracle_program *program, const oracle_facts *oracle, hd_function *function,
                           uint64_t seed)
{
    hd_facts facts;
    hd_facts_build(&facts, function);
    /* the oracle also counts what differs after the end of a function, which nobody reads there */
    bool same_branches = true;
    for (uint32_t b = 0; b < program->count; b++)
        same_branches = same_branches && hd_bitset_has(&facts.splits, b) == (oracle->branches >> b & 1);
    assert_true(same_branches || program->is_device);
    compare_regions(&facts, seed);
    if (!same_branches) {
        hd_facts_free(&facts);
        return;
    }
    hd_order order = hd_order_of(&facts);
    assert_int_equal(facts.cfg->block_count, program->count);
    for (uint32_t b = 0; b < program->count; b++) {
        uint64_t successors = order_mask(order.successor_first, order.successors, program->count, order.nodes, b);
        if (successors != oracle->order[b])
            fail_msg("seed %llu, block %u: %llx, not %llx", (unsigned long long)seed, b, (unsigned long long)successors,
                     (unsigned long long)oracle->order[b]);
    }
    hd_facts_free(&facts);
}

static void compare_program(uint64_t seed)
{
    oracle_program program;
    oracle_facts oracle;
    hd_writer text;
    hd_source source;
    hd_diagnostics diagnostics;
    oracle_generate(&program, seed);
    oracle_analyse(&program, ORACLE_OURS, 0, &oracle);
    hd_writer_to_memory(&text);
    oracle_print(&program, &text);
    hd_diagnostics_init(&diagnostics);
    diagnostics.severity[HD_DIAG_UNKNOWN_OPCODE] = HD_SILENT;
    hd_source_from_memory(&source, "random.ptx", text.buffer.items, text.buffer.count);
    hd_module *module = hd_parse_ptx(&source, &(hd_parse_options){0}, &diagnostics);
    assert_null(diagnostics.first);
    compare_orders(&program, &oracle, module->functions.items[0], seed);
    hd_module_free(module);
    hd_diagnostics_free(&diagnostics);
    hd_writer_free(&text);
}

static void test_order_is_the_oracles(void **state)
{
    (void)state;
    for (uint64_t seed = 1; seed <= PROGRAMS; seed++)
        compare_program(seed);
}

/* Checkers and passes follow the same rules with code of their own: on programs of all types, with calls, asynchronous
 * and irreducible, before and after allocation. */
static void compare_with_passes(rf_bench *b, const char *name, uint64_t seed)
{
    for (uint32_t i = 0; i < b->module->functions.count; i++) {
        hd_function *f = b->module->functions.items[i];
        hd_pass_context context;
        hd_facts facts;
        if (!f->has_body)
            continue;
        hd_pass_context_init(&context, f, &b->diagnostics);
        const hd_uniformity *u = hd_analysis_get(&context, HD_ANALYSIS_UNIFORMITY);
        hd_facts_build(&facts, f);
        for (uint32_t r = 0; r < facts.registers.count; r++)
            if (hd_bitset_has(&facts.divergent, r) != hd_bitset_has(&u->divergent_registers, r))
                fail_msg("%s %llu: function %u, register %u", name, (unsigned long long)seed, i, r);
        for (uint32_t k = 0; k < facts.cfg->block_count; k++)
            if (hd_bitset_has(&facts.splits, k) != hd_bitset_has(&u->divergent_branches, k))
                fail_msg("%s %llu: function %u, block %u", name, (unsigned long long)seed, i, k);
        hd_facts_free(&facts);
        hd_pass_context_free(&context);
    }
}

static void test_divergence_is_that_of_the_passes(void **state)
{
    (void)state;
    for (uint32_t k = 0; k < GOLDEN_SOURCES; k++)
        for (uint64_t seed = 1; seed <= 4 * golden_sources[k].count; seed++) {
            rf_bench b;
            golden_sources[k].open(&b, seed);
            compare_with_passes(&b, golden_sources[k].name, seed);
            if (!hd_function_is_architected(b.kernel)) {
                rf_bench_pass(&b, "select,regalloc");
                compare_with_passes(&b, golden_sources[k].name, seed);
            }
            rf_bench_close(&b);
        }
}

int main(void)
{
    const struct CMUnitTest tests[] = {cmocka_unit_test(test_order_is_the_oracles),
                                       cmocka_unit_test(test_divergence_is_that_of_the_passes)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
