/* The control-flow graph against brute force on random programs (tests/unit/oracle.h), on shapes of known answer, and
 * on deep ones. */
#include "tests/unit/unit.h"

#include "ir/cfg.h"
#include "parser/parse.h"
#include "tests/unit/oracle.h"

typedef struct parsed {
    hd_diagnostics diagnostics;
    hd_source source;
    hd_module *module;
    hd_function *function;
    const hd_cfg *cfg;
} parsed;

static void parse(parsed *p, const char *text, size_t length)
{
    hd_diagnostics_init(&p->diagnostics);
    p->diagnostics.severity[HD_DIAG_UNKNOWN_OPCODE] = HD_SILENT;
    hd_source_from_memory(&p->source, "test.ptx", text, length);
    p->module = hd_parse_ptx(&p->source, &(hd_parse_options){0}, &p->diagnostics);
    if (p->diagnostics.first)
        fail_msg("%s", p->diagnostics.first->message);
    p->function = p->module->functions.items[p->module->functions.count - 1];
    p->cfg = hd_function_cfg(p->function);
    assert_true(hd_ir_validate(p->module));
}

static void parse_body(parsed *p, const char *body)
{
    hd_writer text;
    hd_writer_to_memory(&text);
    hd_write_format(&text,
                    ".version 8.0\n.target sm_80\n.address_size 64\n.func stop() .noreturn { trap; }\n"
                    ".visible .entry f () {\n.reg .pred %%p<4>;\n.reg .u32 %%r<4>;\n%s}\n",
                    body);
    parse(p, text.buffer.items, text.buffer.count);
    hd_writer_free(&text);
}

static void done(parsed *p)
{
    hd_module_free(p->module);
    hd_diagnostics_free(&p->diagnostics);
}

/* ---- random programs --------------------------------------------------------------------------------------------- */

static void check_edges(const oracle_program *program, const hd_cfg *cfg, uint32_t b)
{
    uint32_t to[ORACLE_TARGETS + 1], count = oracle_successors(program, b, to);
    assert_int_equal(cfg->blocks[b].succ_count, count);
    assert_memory_equal(hd_block_successors(cfg, b), to, count * sizeof *to);
    assert_int_equal(cfg->blocks[b].end - cfg->blocks[b].first, program->blocks[b].count);
    assert_int_equal(cfg->blocks[b].conditional, count > 1);
    for (uint32_t p = 0; p < cfg->blocks[b].pred_count; p++) {
        count = oracle_successors(program, hd_block_predecessors(cfg, b)[p], to);
        while (count && to[count - 1] != b)
            count--;
        assert_true(count);
    }
}

static void check_trees(const oracle_program *program, const hd_cfg *cfg, uint64_t reachable, uint32_t b)
{
    assert_int_equal(cfg->blocks[b].reachable, reachable >> b & 1);
    assert_int_equal(cfg->blocks[b].post_dominator, oracle_join(program, b));
    for (uint32_t a = 0; a < program->count; a++) {
        bool both = (reachable >> a & 1) && (reachable >> b & 1);
        assert_int_equal(hd_block_dominates(cfg, a, b), a == b || (both && oracle_dominates(program, a, b)));
        assert_int_equal(hd_block_post_dominates(cfg, a, b), oracle_post_dominates(program, a, b));
    }
    assert_true(hd_block_post_dominates(cfg, program->count, b));
    uint32_t depth = 1;
    for (uint32_t d = oracle_join(program, b); d != program->count; d = oracle_join(program, d))
        depth++;
    assert_int_equal(cfg->post_dominator_depth[b], depth);
    if (b && (reachable >> b & 1)) /* the immediate one: dominated by all others */
        for (uint32_t a = 0; a < program->count; a++)
            if (a != b && hd_block_dominates(cfg, a, b))
                assert_true(oracle_dominates(program, a, cfg->blocks[b].dominator));
}

/* A depth-first search of its own, successors in order: parent of each block, and the order of visits. */
typedef struct walk {
    const oracle_program *program;
    uint64_t below[ORACLE_BLOCKS]; /* blocks in the subtree */
    uint64_t seen;
} walk;

static uint64_t visit(walk *w, uint32_t b)
{
    uint32_t to[ORACLE_TARGETS + 1], count = oracle_successors(w->program, b, to);
    w->seen |= 1ull << b;
    w->below[b] = 1ull << b;
    for (uint32_t e = 0; e < count; e++)
        if (to[e] != w->program->count && !(w->seen >> to[e] & 1))
            w->below[b] |= visit(w, to[e]);
    return w->below[b];
}

/* The blocks below h that reach h through blocks below h; 0 where nothing does. */
static uint64_t loop_body(const walk *w, uint32_t h)
{
    uint64_t body = 0, outside = ~w->below[h];
    for (uint32_t b = 0; b < w->program->count; b++) {
        uint32_t to[ORACLE_TARGETS + 1], count = w->below[h] >> b & 1 ? oracle_successors(w->program, b, to) : 0;
        for (uint32_t e = 0; e < count; e++)
            if (to[e] == h || (to[e] < w->program->count && oracle_reach(w->program, to[e], outside) >> h & 1))
                body |= 1ull << b;
    }
    return body;
}

static uint64_t body_of(const hd_cfg *cfg, uint32_t loop)
{
    uint64_t body = 0;
    for (uint32_t b = 0; b < cfg->block_count; b++)
        for (uint32_t l = cfg->blocks[b].loop; l != HD_NONE; l = cfg->loops[l].parent)
            body |= l == loop ? 1ull << b : 0;
    return body;
}

static void check_loop(const oracle_program *program, const hd_cfg *cfg, uint32_t loop, uint32_t top, uint64_t body,
                       uint64_t reachable)
{
    uint32_t first = top, depth = 1;
    bool irreducible = false;
    assert_int_equal(body_of(cfg, loop), body);
    for (uint32_t b = 0; b < program->count; b++) {
        uint32_t to[ORACLE_TARGETS + 1],
            count = !(body >> b & 1) && reachable >> b & 1 ? oracle_successors(program, b, to) : 0;
        for (uint32_t e = 0; e < count; e++)
            if (body >> to[e] & 1 && to[e] != top) {
                irreducible = true;
                first = to[e] < first ? to[e] : first;
            }
    }
    assert_int_equal(cfg->loops[loop].irreducible, irreducible);
    assert_int_equal(cfg->loops[loop].header, first);
    for (uint32_t l = cfg->loops[loop].parent; l != HD_NONE; l = cfg->loops[l].parent)
        depth++;
    assert_int_equal(cfg->loops[loop].depth, depth);
}

static void check_loops(const oracle_program *program, const hd_cfg *cfg)
{
    walk w = {.program = program};
    uint32_t found = 0;
    visit(&w, 0);
    for (uint32_t h = 0; h < program->count; h++) {
        uint64_t body = w.seen >> h & 1 ? loop_body(&w, h) : 0;
        if (!(body >> h & 1))
            continue;
        found++;
        uint32_t loop = cfg->blocks[h].loop; /* its own is the innermost around a header */
        assert_int_not_equal(loop, HD_NONE);
        check_loop(program, cfg, loop, h, body, w.seen);
    }
    assert_int_equal(cfg->loop_count, found);
}

static void random_graphs(void **state)
{
    (void)state;
    for (uint64_t seed = 1; seed <= 2000; seed++) {
        oracle_program program;
        hd_writer text;
        parsed p;
        oracle_generate(&program, seed);
        hd_writer_to_memory(&text);
        oracle_print(&program, &text);
        parse(&p, text.buffer.items, text.buffer.count);
        uint64_t reachable = oracle_reach(&program, 0, 0);
        assert_int_equal(p.cfg->block_count, program.count);
        for (uint32_t b = 0; b < program.count; b++) {
            check_edges(&program, p.cfg, b);
            check_trees(&program, p.cfg, reachable, b);
        }
        check_loops(&program, p.cfg);
        done(&p);
        hd_writer_free(&text);
    }
}

/* ---- known answers ----------------------------------------------------------------------------------------------- */

static void what_ends_a_block(void **state)
{
    static const struct {
        const char *body;
        uint32_t blocks, edges;
    } cases[] = {
        {"", 1, 1},                                                 /* an empty body falls off its end */
        {"add.u32 %r1, %r1, 1;\nL:\nadd.u32 %r1, %r1, 1;\n", 1, 1}, /* a label that nothing names */
        {"ret;\nadd.u32 %r1, %r1, 1;\n", 2, 2},
        {"@%p1 ret;\nadd.u32 %r1, %r1, 1;\n", 2, 3},
        {"@%p1 bra L;\nL: ret;\n", 2, 2},  /* both ways lead to one block */
        {"@%p1 bra L;\nret;\nL:\n", 2, 3}, /* a label at the end is the exit */
        {"@%p1 bra L;\nadd.u32 %r1, %r1, 1;\nL:\n", 2, 3},
        {"call stop;\nadd.u32 %r1, %r1, 1;\n", 2, 2}, /* a callee that never returns */
        {"@%p1 call stop;\nadd.u32 %r1, %r1, 1;\n", 2, 3},
        {"trap;\nret;\n", 2, 2},
        {"bar.sync 0;\nret;\n", 1, 1},
        {"T: .branchtargets A, B, A;\nbrx.idx %r1, T;\nA: ret;\nB: ret;\n", 3, 4},
        {"T: .branchtargets A, B;\n@%p1 brx.idx %r1, T;\nret;\nA: ret;\nB: ret;\n", 4, 6},
        {"frobnicate L;\nret;\nL: ret;\n", 3, 4}, /* an unknown opcode may branch */
    };
    (void)state;
    for (uint32_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        parsed p;
        uint32_t edges = 0;
        parse_body(&p, cases[i].body);
        for (uint32_t b = 0; b < p.cfg->block_count; b++)
            edges += p.cfg->blocks[b].succ_count;
        if (p.cfg->block_count != cases[i].blocks || edges != cases[i].edges)
            fail_msg("%u blocks, %u edges in:\n%s", p.cfg->block_count, edges, cases[i].body);
        done(&p);
    }
}

static void infinite_loops_have_a_pseudo_edge(void **state)
{
    parsed p;
    (void)state;
    parse_body(&p, "@%p1 bra A;\nret;\nA:\n@%p2 bra B;\nbra A;\nB:\nbra A;\n");
    assert_int_equal(p.cfg->block_count, 5);
    for (uint32_t b = 0; b < 5; b++)
        assert_int_equal(p.cfg->blocks[b].post_dominator, 5);
    assert_int_equal(p.cfg->exit_predecessor_count, 1); /* pseudo-edges are no edges */
    done(&p);
}

/* Where the sides of the first branch meet, in blocks from 0; 99 is X. */
static void nobody_waits_for_those_that_fail(void **state)
{
    static const struct {
        const char *body;
        uint32_t join, inner, inner_join; /* join of block 0; of block `inner` */
    } cases[] = {
        {"@%p1 bra M;\n@%p2 bra K;\ntrap;\nK: add.u32 %r1, %r1, 1;\nM: bar.sync 0;\nret;\n", 4, 1, 3},
        {"@%p1 bra M;\n@%p2 bra K;\nexit;\nK: add.u32 %r1, %r1, 1;\nM: bar.sync 0;\nret;\n", 99, 1, 99},
        {"@%p1 bra M;\n@%p2 bra K;\nret;\nK: add.u32 %r1, %r1, 1;\nM: bar.sync 0;\nret;\n", 99, 1, 99},
        /* a loop in front of the trap; two ways into it */
        {"@%p1 bra T;\nA: @%p2 bra M;\nT: @%p3 bra T;\ntrap;\nM: ret;\n", 1, 1, 4},
        /* nothing but traps: they are the ends */
        {"@%p1 bra M;\n@%p2 bra K;\ntrap;\nK: add.u32 %r1, %r1, 1;\nM: bar.sync 0;\ntrap;\n", 99, 1, 99},
        /* in the lost part all is as ever */
        {"@%p1 bra M;\n@%p2 bra A;\nadd.u32 %r1, %r1, 1;\nA: trap;\nM: ret;\n", 4, 1, 3},
        /* an infinite loop keeps its pseudo-edge */
        {"L: @%p1 bra K;\nadd.u32 %r1, %r1, 1;\nK: bra L;\n", 99, 1, 99},
    };
    (void)state;
    for (uint32_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        parsed p;
        parse_body(&p, cases[i].body);
        uint32_t join = cases[i].join == 99 ? p.cfg->block_count : cases[i].join;
        uint32_t inner = cases[i].inner_join == 99 ? p.cfg->block_count : cases[i].inner_join;
        if (p.cfg->blocks[0].post_dominator != join || p.cfg->blocks[cases[i].inner].post_dominator != inner)
            fail_msg("joins %u and %u, not %u and %u, in:\n%s", p.cfg->blocks[0].post_dominator,
                     p.cfg->blocks[cases[i].inner].post_dominator, join, inner, cases[i].body);
        done(&p);
    }
}

/* ---- deep graphs ------------------------------------------------------------------------------------------------- */

enum { DEEP = 100000 };

static void a_chain_of_branches(void **state)
{
    hd_writer text;
    parsed p;
    (void)state;
    hd_writer_to_memory(&text);
    for (uint32_t i = 0; i < DEEP; i++)
        hd_write_format(&text, "@%%p1 bra L%u;\nadd.u32 %%r1, %%r1, 1;\nL%u:\n", i, i);
    hd_write(&text, "ret;\n", 6); /* with its NUL */
    parse_body(&p, text.buffer.items);
    hd_writer_free(&text);
    assert_int_equal(p.cfg->block_count, 2 * DEEP + 1);
    assert_int_equal(p.cfg->blocks[2 * DEEP].dominator, 2 * DEEP - 2);
    assert_int_equal(p.cfg->blocks[0].post_dominator, 2);
    assert_int_equal(p.cfg->post_dominator_depth[0], DEEP + 1);
    done(&p);
}

static void nested_loops(void **state)
{
    hd_writer text;
    parsed p;
    (void)state;
    hd_writer_to_memory(&text);
    for (uint32_t i = 0; i < DEEP; i++)
        hd_write_format(&text, "L%u:\nadd.u32 %%r1, %%r1, 1;\n", i);
    for (uint32_t i = DEEP; i-- > 0;)
        hd_write_format(&text, "@%%p1 bra L%u;\n", i);
    hd_write_char(&text, '\0');
    parse_body(&p, text.buffer.items);
    hd_writer_free(&text);
    assert_int_equal(p.cfg->loop_count, DEEP);
    assert_int_equal(p.cfg->loops[DEEP - 1].depth, DEEP);
    assert_false(p.cfg->loops[DEEP - 1].irreducible);
    done(&p);
}

static void an_irreducible_ladder(void **state)
{
    hd_writer text;
    parsed p;
    (void)state;
    hd_writer_to_memory(&text);
    hd_write_string(&text, "@%p1 bra L50000;\n");
    for (uint32_t i = 0; i < DEEP; i++)
        hd_write_format(&text, "L%u:\n@%%p1 bra L%u;\n@%%p2 bra L%u;\n", i, (i * 7919u) % DEEP, i / 2);
    hd_write_char(&text, '\0');
    parse_body(&p, text.buffer.items);
    hd_writer_free(&text);
    bool irreducible = false;
    for (uint32_t l = 0; l < p.cfg->loop_count; l++)
        irreducible |= p.cfg->loops[l].irreducible;
    assert_true(irreducible);
    done(&p);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(random_graphs),
        cmocka_unit_test(what_ends_a_block),
        cmocka_unit_test(infinite_loops_have_a_pseudo_edge),
        cmocka_unit_test(nobody_waits_for_those_that_fail),
        cmocka_unit_test(a_chain_of_branches),
        cmocka_unit_test(nested_loops),
        cmocka_unit_test(an_irreducible_ladder),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
