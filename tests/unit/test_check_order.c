/* The checkers' warp order (passes/check/order.h) against the oracle (tests/unit/oracle.h) on random programs. */
#include "tests/unit/unit.h"

#include "parser/parse.h"
#include "passes/check/order.h"
#include "tests/unit/oracle.h"
#include "tests/unit/order_mask.h"

enum { PROGRAMS = 2000 };

static void compare_orders(const oracle_program *program, const oracle_facts *oracle, hd_function *function, uint64_t seed)
{
    hd_facts facts;
    hd_facts_build(&facts, function);
    bool same_branches = true; /* the oracle also counts what differs behind the end of a function, which nobody reads there */
    for (uint32_t b = 0; b < program->count; b++)
        same_branches = same_branches && hd_bitset_has(&facts.splits, b) == (oracle->branches >> b & 1);
    assert_true(same_branches || program->is_device);
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

int main(void)
{
    const struct CMUnitTest tests[] = {cmocka_unit_test(test_order_is_the_oracles)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
