/* The analyses on small programs of known answer: the worked figures of RegMutex and RFV, counterexamples to simpler
 * rules, and what random programs do not hold (calls, register parameters, module-scope registers, spaces, opaque
 * branches). */
#include "tests/unit/ptx_file.h"
#include "tests/unit/unit.h"

#include "parser/parse.h"
#include "passes/analysis/liveness.h"
#include "passes/analysis/analyses.h"
#include "tests/unit/order_mask.h"

typedef struct subject {
    hd_diagnostics diagnostics;
    hd_source source;
    hd_module *module;
    hd_function *function;
    hd_pass_context context;
} subject;

/* The last function of a text; a head is put before one that has none. */
static void open_text(subject *s, const char *text, hd_liveness_rule rule)
{
    hd_writer all;
    hd_writer_to_memory(&all);
    hd_write_format(&all, "%s%s",
                    strncmp(text, ".version", 8) == 0 ? "" : ".version 8.0\n.target sm_80\n.address_size 64\n", text);
    hd_diagnostics_init(&s->diagnostics);
    s->diagnostics.severity[HD_DIAG_UNKNOWN_OPCODE] = HD_SILENT;
    hd_source_from_memory(&s->source, "case.ptx", all.buffer.items, all.buffer.count);
    s->module = hd_parse_ptx(&s->source, &(hd_parse_options){0}, &s->diagnostics);
    hd_writer_free(&all);
    if (s->diagnostics.first)
        fail_msg("%s", s->diagnostics.first->message);
    s->function = s->module->functions.items[s->module->functions.count - 1];
    hd_pass_context_init(&s->context, s->function, &s->diagnostics);
    s->context.liveness = rule;
}

static void open_body(subject *s, const char *body, hd_liveness_rule rule)
{
    hd_writer text;
    hd_writer_to_memory(&text);
    hd_write_format(&text,
                    ".visible .entry f (.param .u64 a, .param .u32 n) {\n.reg .pred %%p<8>;\n.reg .u32 %%r<10>;\n.reg "
                    ".b64 %%rd<4>;\n%s}\n",
                    body);
    hd_write_char(&text, '\0');
    open_text(s, text.buffer.items, rule);
    hd_writer_free(&text);
}

static void done(subject *s)
{
    hd_pass_context_free(&s->context);
    hd_module_free(s->module);
    hd_diagnostics_free(&s->diagnostics);
}

static uint32_t find(const subject *s, const char *name)
{
    for (uint32_t r = 0; r < s->function->registers.count; r++) {
        char spelled[64];
        hd_register_spell(s->function, r, spelled, sizeof spelled);
        if (strcmp(spelled, name) == 0)
            return r;
    }
    fail_msg("no register %s", name);
    return 0;
}

/* Where a register is live after each instruction, as a string of 1 and 0; warp level or thread level. */
static void expect_live(subject *s, bool warp_level, const char *name, const char *expected)
{
    const hd_warp_liveness *warp = hd_analysis_get(&s->context, HD_ANALYSIS_WARP_LIVENESS);
    const hd_cfg *cfg = hd_function_cfg(s->function);
    uint32_t reg = find(s, name);
    char got[128] = {0};
    hd_live_walk walk;
    assert_true(s->function->instructions.count < sizeof got);
    hd_live_walk_init(&walk, &s->context.scratch, s->function, warp->thread);
    for (uint32_t b = 0; b < cfg->block_count; b++) {
        hd_live_start(&walk, b);
        for (uint32_t i = cfg->blocks[b].end; i-- > cfg->blocks[b].first; hd_live_step(&walk))
            got[i] = hd_live_has(&walk, reg) || (warp_level && hd_register_set_has(warp->pend[b], reg)) ? '1' : '0';
    }
    if (strcmp(got, expected) != 0)
        fail_msg("%s is live after %s, not %s", name, got, expected);
}

static void expect_warp(subject *s, const char *name, const char *expected) { expect_live(s, true, name, expected); }
static void expect_thread(subject *s, const char *name, const char *expected) { expect_live(s, false, name, expected); }

static bool is_divergent(subject *s, const char *name)
{
    const hd_uniformity *u = hd_analysis_get(&s->context, HD_ANALYSIS_UNIFORMITY);
    return hd_bitset_has(&u->divergent_registers, find(s, name));
}

/* ---- the papers' figures ----------------------------------------------------------------------------------------- */

/* RegMutex, figure 4.3: R1 lives inside s1; R3 is read in s2 only, R2 is written in s2 and read after the join. */
static const char regmutex[] = "mov.u32 %r3, 1;\n"           /*  0 */
                               "mov.u32 %r0, %tid.x;\n"      /*  1 */
                               "setp.eq.u32 %p1, %r0, 0;\n"  /*  2 */
                               "@%p1 bra S2;\n"              /*  3 */
                               "mov.u32 %r1, 2;\n"           /*  4: s1 */
                               "st.local.u32 [0], %r1;\n"    /*  5 */
                               "bar.warp.sync -1;\n"         /*  6 */
                               "bra.uni J;\n"                /*  7 */
                               "S2: add.u32 %r2, %r3, 1;\n"  /*  8: s2 */
                               "bar.warp.sync -1;\n"         /*  9 */
                               "J: st.local.u32 [0], %r2;\n" /* 10 */
                               "ret;\n";                     /* 11 */

static void regmutex_figure_4_3(void **state)
{
    subject s;
    (void)state;
    open_body(&s, regmutex, HD_LIVENESS_PAPER);
    expect_warp(&s, "%r1", "000010000000"); /* from its definition to its last read */
    expect_warp(&s, "%r2", "111111111100"); /* live throughout s1 although only s2 writes it */
    expect_warp(&s, "%r3", "111111111100"); /* live throughout both sides; dead at the join */
    done(&s);
    open_body(&s, regmutex, HD_LIVENESS_OURS);
    expect_warp(&s, "%r1", "000010000000");
    expect_warp(&s, "%r2", "111111111100");
    expect_warp(&s, "%r3", "111111110000"); /* s2 releases it right after its last read: s1's lanes do not need it */
    done(&s);
}

static void rfv_figure_2_6(void **state)
{
    static const struct {
        const char *what, *body, *paper, *ours;
    } cases[] = {
        {"a: inside a block, between the last read and the next write",
         "mov.u32 %r1, 1;\nst.local.u32 [0], %r1;\nst.local.u32 [4], %r1;\nmov.u32 %r2, 0;\nmov.u32 %r1, "
         "2;\nst.local.u32 [0], %r1;\nret;\n",
         "1100100", "1100100"},
        {"b: read on both sides, released at the join",
         "mov.u32 %r1, %tid.x;\nsetp.eq.u32 %p1, %r1, 0;\n@%p1 bra S;\nst.local.u32 [0], %r1;\nbra J;\n"
         "S: st.local.u32 [0], %r1;\nbar.warp.sync -1;\nJ: ret;\n",
         "11111110", "11111110"},
        {"c: read on one side, released at the join; ours: on the other side until the join, on its own right after "
         "the read",
         "mov.u32 %r1, %tid.x;\nsetp.eq.u32 %p1, %r1, 0;\n@%p1 bra S;\nbar.warp.sync -1;\nbra J;\n"
         "S: st.local.u32 [0], %r1;\nbar.warp.sync -1;\nJ: ret;\n",
         "11111110", "11111000"},
        {"d: carried around a loop, released when all iterations are done; ours: also between the read and the write",
         "mov.u32 %r1, 0;\nmov.u32 %r2, %tid.x;\nL: add.u32 %r2, %r2, %r1;\nbar.warp.sync -1;\nmov.u32 %r1, "
         "3;\nsetp.lt.u32 %p1, %r2, 9;\n@%p1 bra L;\nret;\n",
         "11111110", "11001110"},
        {"e: written and read in each iteration, released after the last read in it",
         "mov.u32 %r2, %tid.x;\nL: mov.u32 %r1, 1;\nadd.u32 %r2, %r2, %r1;\nsetp.lt.u32 %p1, %r2, 9;\n@%p1 bra "
         "L;\nret;\n",
         "010000", "010000"},
    };
    (void)state;
    for (uint32_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        subject s;
        print_message("%s\n", cases[i].what);
        open_body(&s, cases[i].body, HD_LIVENESS_PAPER);
        expect_warp(&s, "%r1", cases[i].paper);
        done(&s);
        open_body(&s, cases[i].body, HD_LIVENESS_OURS);
        expect_warp(&s, "%r1", cases[i].ours);
        done(&s);
    }
}

/* ---- counterexamples to simpler rules ---------------------------------------------------------------------------- */

static void a_value_that_depends_on_the_way(void **state)
{
    subject s;
    (void)state;
    open_body(
        &s,
        "mov.u32 %r0, %tid.x;\nsetp.eq.u32 %p1, %r0, 0;\n@%p1 bra S2;\nmov.u32 %r1, 0;\nbra J;\nS2: mov.u32 %r1, 1;\n"
        "J: setp.eq.u32 %p2, %r1, 0;\n@%p2 bra K;\nmov.u32 %r2, 5;\nK: ret;\n",
        HD_LIVENESS_OURS);
    const hd_uniformity *u = hd_analysis_get(&s.context, HD_ANALYSIS_UNIFORMITY);
    assert_true(is_divergent(&s, "%r1"));
    assert_true(is_divergent(&s, "%p2"));
    assert_false(is_divergent(&s, "%r2"));
    assert_int_equal(hd_bitset_count(&u->divergent_branches), 2);
    done(&s);
}

static void a_counter_after_a_loop_left_at_different_times(void **state)
{
    static const char body[] =
        "mov.u32 %%r0, %s;\nmov.u32 %%r1, 0;\nL: add.u32 %%r1, %%r1, 1;\nsetp.lt.u32 %%p1, %%r1, %%r0;\n@%%p1 bra L;\n"
        "setp.eq.u32 %%p2, %%r1, 4;\n@%%p2 bra K;\nmov.u32 %%r2, 5;\nK: ret;\n";
    (void)state;
    for (int lanes = 0; lanes < 2; lanes++) {
        subject s;
        char text[400];
        snprintf(text, sizeof text, body, lanes ? "%laneid" : "%ctaid.x");
        open_body(&s, text, HD_LIVENESS_OURS);
        assert_int_equal(is_divergent(&s, "%r1"), lanes);
        assert_int_equal(is_divergent(&s, "%p2"), lanes);
        done(&s);
    }
}

static void interleaved_sides(void **state)
{
    static const char body[] =
        "mov.u32 %r0, %tid.x;\nsetp.eq.u32 %p1, %r0, 0;\n@%p1 bra S2;\n"
        "mov.u32 %r1, 0;\nst.local.u32 [0], %r1;\nbra J;\nS2: bar.warp.sync -1;\nbar.warp.sync -1;\nJ: ret;\n";
    subject s;
    (void)state;
    open_body(&s, body, HD_LIVENESS_OURS);
    expect_warp(&s, "%r1", "000100000");
    done(&s);
    open_body(&s, body, HD_LIVENESS_ITS);
    expect_warp(
        &s, "%r1",
        "000100111"); /* S2 must not release what S1 may be in the middle of, nor may lanes that are through first */
    done(&s);
}

static void expect_order(subject *s, uint32_t from, uint64_t expected)
{
    const hd_warp_order *order = hd_analysis_get(&s->context, HD_ANALYSIS_WARP_ORDER);
    uint32_t blocks = hd_function_cfg(s->context.function)->block_count;
    assert_int_equal(order_mask(order->successor_first, order->successors, blocks, order->nodes, from), expected);
}

/* b holds, S1 releases: S2, entered after S1, does not hold, whatever the edge b -> S2 says. */
static void a_side_follows_the_other_side(void **state)
{
    static const char diamond[] = "mov.u32 %%r0, %s;\nsetp.eq.u32 %%p1, %%r0, 0;\n@%%p1 bra S2;\nmov.u32 %%r1, 0;\nbra "
                                  "J;\nS2: mov.u32 %%r1, 1;\nJ: ret;\n";
    char text[300];
    subject s;
    (void)state;
    snprintf(text, sizeof text, diamond, "%tid.x");
    open_body(&s, text, HD_LIVENESS_OURS); /* blocks: 0 b, 1 S1, 2 S2, 3 J, 4 X */
    expect_order(&s, 0, 1 << 1 | 1 << 2 | 1 << 3);
    expect_order(&s, 1, 1 << 2 | 1 << 3);
    expect_order(&s, 2, 1 << 1 | 1 << 3);
    expect_order(&s, 3, 1 << 4);
    done(&s);
    snprintf(text, sizeof text, diamond, "%ctaid.x");
    open_body(&s, text, HD_LIVENESS_OURS);
    expect_order(&s, 0, 1 << 1 | 1 << 2);
    expect_order(&s, 1, 1 << 3);
    expect_order(&s, 2, 1 << 3);
    done(&s);
}

/* No join waits for lanes that only fail, but others of the warp go on after them. */
static void lanes_that_fail_are_followed(void **state)
{
    subject s;
    (void)state;
    open_body(&s,
              "mov.u32 %r0, %tid.x;\nsetp.eq.u32 %p1, %r0, 0;\nsetp.eq.u32 %p2, %r0, 1;\n@%p1 bra J;\n"
              "@%p2 bra F;\nmov.u32 %r1, 0;\nJ: ret;\nF: trap;\n",
              HD_LIVENESS_OURS); /* blocks: 0 b, 1 and 2 its side, 3 J, 4 F, which 1 may lead to, 5 X */
    expect_order(&s, 0, 1 << 1 | 1 << 3);
    expect_order(&s, 1, 1 << 2 | 1 << 4);
    expect_order(&s, 2, 1 << 3);
    expect_order(&s, 4, 1 << 2 | 1 << 3 | 1 << 5);
    done(&s);
}

static void partial_definitions_do_not_kill(void **state)
{
    subject s;
    (void)state;
    open_body(&s,
              "mov.u32 %r1, 1;\nmov.u32 %r2, 1;\nmov.u32 %r3, 1;\nsetp.eq.u32 %p1, %r3, 1;\n"
              "@%p1 mov.u32 %r1, 2;\nvadd.s32.s32.s32 %r2.b0, %r3, %r3, %r3;\nfrobnicate %r3;\nmov.u32 %r3, 5;\n"
              "st.local.u32 [0], %r1;\nst.local.u32 [0], %r2;\nst.local.u32 [0], %r3;\nret;\n",
              HD_LIVENESS_OURS);
    expect_thread(&s, "%r1", "111111110000");
    expect_thread(&s, "%r2", "011111111000");
    expect_thread(&s, "%r3", "001111011100");
    done(&s);
}

/* ---- functions, spaces, opaque code ------------------------------------------------------------------------------ */

static void calls_keep_the_callers_registers(void **state)
{
    subject s;
    (void)state;
    open_text(&s, ptx_file("liveness_cases-calls_keep_the_callers_registers"), HD_LIVENESS_OURS);
    expect_thread(&s, "%r1", "111000");
    expect_thread(&s, "%r2", "001100");
    expect_thread(&s, "%in", "111000");
    expect_thread(&s, "%out", "000111"); /* the caller reads it */
    expect_thread(&s, "%g", "011111");   /* calls read it, and so do callers */
    assert_true(is_divergent(&s, "%in"));
    assert_true(is_divergent(&s, "%r2"));
    assert_true(is_divergent(&s, "%g"));
    assert_false(is_divergent(&s, "%r1"));
    assert_int_equal(hd_function_cfg(s.function)->block_count, 1);
    done(&s);
}

static void what_lanes_share(void **state)
{
    static const struct {
        const char *insn;
        bool divergent;
    } cases[] = {
        {"mov.u32 %r1, 5;", false},
        {"mov.u32 %r1, %ctaid.y;", false},
        {"mov.u32 %r1, %warpid;", false},
        {"mov.u32 %r1, %laneid;", true},
        {"mov.u32 %r1, %clock;", true},
        {"ld.param.u32 %r1, [n];", false},
        {"ld.param.u32 %r1, [%rd1];", false},
        {"ld.const.u32 %r1, [%rd1];", false},
        {"ld.const.u32 %r1, [%rd2];", true},
        {"ld.global.u32 %r1, [%rd1];", true},
        {"ld.u32 %r1, [%rd1];", true},
        {"ld.shared.u32 %r1, [%rd1];", true},
        {"atom.global.add.u32 %r1, [%rd1], 1;", true},
        {"shfl.sync.idx.b32 %r1, 3, 0, 31, -1;", true},
        {"frobnicate %r1;", true},
        {"add.u32 %r1, 3, 4;", false},
        {"@%p1 mov.u32 %r1, 5;", true},
        {"@%p2 mov.u32 %r1, 5;", false},
        {"selp.u32 %r1, 1, 2, %p1;", true},
        {"ldmatrix.sync.aligned.m8n8.x1.shared.b16 {%r1}, [%rd1];", true},
        {"movmatrix.sync.aligned.m8n8.trans.b16 %r1, %r9;", true},
        {"vote.sync.ballot.b32 %r1, %p2, -1;", false},
    };
    (void)state;
    for (uint32_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        subject s;
        char text[400];
        snprintf(text, sizeof text,
                 "mov.b64 %%rd1, a;\nld.global.u64 %%rd2, [%%rd1];\nsetp.eq.u64 %%p1, %%rd2, 0;\nsetp.eq.u64 %%p2, "
                 "%%rd1, 0;\n%s\n"
                 "st.local.u32 [0], %%r1;\nret;\n",
                 cases[i].insn);
        open_body(&s, text, HD_LIVENESS_OURS);
        if (is_divergent(&s, "%r1") != cases[i].divergent)
            fail_msg("%s", cases[i].insn);
        done(&s);
    }
}

static void parameters_of_device_functions_differ(void **state)
{
    subject s;
    (void)state;
    open_text(&s,
              ".func (.param .u32 r) g (.param .u32 x);\n.func f (.param .u32 n) {\n.reg .u32 %r<4>;\nld.param.u32 "
              "%r1, [n];\nret;\n}\n",
              HD_LIVENESS_OURS);
    assert_true(is_divergent(&s, "%r1"));
    done(&s);
    open_text(&s,
              ".func (.param .u32 r) g (.param .u32 x);\n.visible .entry f (.param .u32 n) {\n.reg .u32 "
              "%r<4>;\nld.param.u32 %r1, [n];\n"
              "{\n.param .u32 x;\n.param .u32 r;\nst.param.u32 [x], %r1;\ncall.uni (r), g, (x);\nld.param.u32 %r2, "
              "[r];\n}\nret;\n}\n",
              HD_LIVENESS_OURS);
    assert_false(is_divergent(&s, "%r1"));
    assert_true(is_divergent(&s, "%r2")); /* a call's result */
    done(&s);
}

static void opaque_branches_may_split(void **state)
{
    subject s;
    (void)state;
    open_body(&s, "mov.u32 %r1, 1;\nfrobnicate L;\nst.local.u32 [0], %r1;\nL: ret;\n", HD_LIVENESS_OURS);
    const hd_uniformity *u = hd_analysis_get(&s.context, HD_ANALYSIS_UNIFORMITY);
    assert_true(hd_bitset_has(&u->divergent_branches, 0));
    done(&s);
}

/* ---- sets -------------------------------------------------------------------------------------------------------- */

static void unions(void **state)
{
    static const uint32_t odd[] = {1, 3, 5, 7}, low[] = {0, 1, 2}, some[] = {3, 7};
    hd_set_union u = {0};
    hd_arena arena = {0};
    (void)state;
    assert_int_equal(hd_set_union_take(&u, &arena).count, 0);
    hd_set_union_add(&u, (hd_register_set){some, 2});
    hd_set_union_add(&u, (hd_register_set){odd, 4});
    hd_set_union_add(&u, (hd_register_set){some, 2});
    assert_ptr_equal(hd_set_union_take(&u, &arena).items, odd); /* shared: nothing is copied */
    hd_set_union_add(&u, (hd_register_set){odd, 4});
    hd_set_union_add(&u, (hd_register_set){low, 3});
    hd_set_union_add(&u, (hd_register_set){some, 2});
    hd_register_set all = hd_set_union_take(&u, &arena);
    assert_int_equal(all.count, 6);
    assert_memory_equal(all.items, ((const uint32_t[]){0, 1, 2, 3, 5, 7}), 6 * sizeof(uint32_t));
    assert_true(hd_register_set_has(all, 5));
    assert_false(hd_register_set_has(all, 4));
    hd_set_union_free(&u);
    hd_arena_free(&arena);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(regmutex_figure_4_3),
        cmocka_unit_test(rfv_figure_2_6),
        cmocka_unit_test(a_value_that_depends_on_the_way),
        cmocka_unit_test(a_counter_after_a_loop_left_at_different_times),
        cmocka_unit_test(interleaved_sides),
        cmocka_unit_test(a_side_follows_the_other_side),
        cmocka_unit_test(lanes_that_fail_are_followed),
        cmocka_unit_test(partial_definitions_do_not_kill),
        cmocka_unit_test(calls_keep_the_callers_registers),
        cmocka_unit_test(what_lanes_share),
        cmocka_unit_test(parameters_of_device_functions_differ),
        cmocka_unit_test(opaque_branches_may_split),
        cmocka_unit_test(unions),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
