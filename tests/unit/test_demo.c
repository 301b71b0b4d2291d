/* DeMO from end to end, without the interpreter: pass, check and model on the paper's example, on traps, and on random
 * kernels. */
#include "tests/unit/ptx_file.h"
#include "tests/unit/unit.h"

#include "hwmodel/count/count.h"
#include "passes/check/check.h"
#include "passes/analysis/liveness.h"
#include "passes/regalloc/regalloc.h"
#include "passes/analysis/analyses.h"
#include "tests/unit/rf_bench.h"

/* ---- helpers ----------------------------------------------------------------------------------------------------- */

static void allocate(rf_bench *b, uint32_t most)
{
    hd_pass_context context;
    hd_regalloc_options options = {.max = most};
    hd_regalloc_result result;
    hd_pass_context_init(&context, b->kernel, &b->diagnostics);
    context.verify = most == 0;
    if (!hd_regalloc_run(&context, &options, &result))
        fail_msg("%s", b->diagnostics.first ? b->diagnostics.first->message : "not allocated");
    hd_pass_context_free(&context);
}

/* The even seeds in PTX's registers, the odd ones allocated. */
static void open_random(rf_bench *b, uint64_t seed)
{
    hd_writer text;
    hd_writer_to_memory(&text);
    rf_random_kernel(&text, seed / 2);
    rf_bench_open(b, text.buffer.items, text.buffer.count);
    hd_writer_free(&text);
    if (seed % 2)
        allocate(b, seed % 3 ? 0 : 10);
}

static uint32_t count_of(const rf_bench *b, uint16_t kind)
{
    uint32_t count = 0;
    for (uint32_t a = 0; a < b->kernel->annotations.count; a++)
        count += b->kernel->annotations.items[a].kind == kind;
    return count;
}

/* Runs the pass; the pairs it made. operands: at most so many of an instruction; NULL: any number. */
static uint32_t fuse_some(rf_bench *b, const char *operands)
{
    hd_pass_context context;
    hd_option option = {"operands", operands};
    hd_pass_context_init(&context, b->kernel, &b->diagnostics);
    context.options = &option;
    context.option_count = operands != NULL;
    bool had = b->kernel->annotations.count != 0, changed = hd_pass_demo(&context);
    hd_pass_context_free(&context);
    assert_int_equal(b->diagnostics.error_count, 0);
    assert_true(hd_ir_validate_function(b->kernel, &b->diagnostics));
    assert_int_equal(count_of(b, HD_ANNOTATION_DEMO), count_of(b, HD_ANNOTATION_DEMO_OPERAND));
    assert_int_equal(changed, had || count_of(b, HD_ANNOTATION_DEMO));
    return count_of(b, HD_ANNOTATION_DEMO);
}

static uint32_t fuse(rf_bench *b) { return fuse_some(b, NULL); }

static bool check(rf_bench *b)
{
    hd_diagnostics quiet;
    uint64_t count = 0;
    hd_diagnostics_init(&quiet);
    bool good = hd_check_demo(b->kernel, &quiet, &count);
    assert_int_equal(good, quiet.error_count == 0);
    hd_diagnostics_free(&quiet);
    return good;
}

typedef struct result {
    bool proved;
    uint64_t counters[HD_COUNTER_COUNT];
} result;

static result replay(rf_bench *b, uint32_t fault)
{
    const char *refusal = NULL;
    hd_diagnostics quiet;
    hd_diagnostics_init(&quiet);
    hd_rf_module *code = hd_rf_module_new(b->module);
    hd_rf_model *model = hd_rf_model_new(hd_rf_model_find("demo", 4), code, &refusal);
    assert_non_null(model);
    model->fault = fault;
    hd_count *count = hd_count_new(code, &quiet);
    hd_count_add(count, model);
    hd_sink sink = hd_count_sink(count);
    result r = {.proved = rf_walk(b->kernel, 2, 300, &sink)};
    assert_int_equal(r.proved, hd_count_failed(count) == HD_NONE);
    memcpy(r.counters, model->counters, sizeof r.counters);
    hd_count_free(count);
    hd_rf_module_free(code);
    hd_diagnostics_free(&quiet);
    return r;
}

static const char header[] =
    ".version 8.0\n.target sm_80\n.address_size 64\n.const .f32 data[64];\n.global .f32 out[64];\n"
    ".shared .f32 tile[64];\n.func g();\n.entry k(.param .u64 n, .param .u32 m)\n{\n.reg .b64 %rd<9>;\n"
    ".reg .f32 %f<9>;\n.reg .b32 %r<9>;\n.reg .b16 %h<9>;\n.reg .pred %p<4>;\n"
    ".local .f32 low[4];\n.local .f32 middle[4];\n.local .f32 high[4];\n";

/* The pairs that the pass makes of a body. */
static uint32_t pairs_of(const char *body)
{
    rf_bench b;
    char text[2048];
    int length = snprintf(text, sizeof text, "%s%sret;\n}\n", header, body);
    rf_bench_open(&b, text, (size_t)length);
    uint32_t pairs = fuse(&b);
    assert_true(check(&b));
    assert_int_equal(fuse(&b), pairs); /* it is done once */
    rf_bench_close(&b);
    return pairs;
}

/* ---- the paper's example ----------------------------------------------------------------------------------------- */

static const char figure_4[] = "ld.const.f32 %f1, [%rd1];\n"
                               "ld.const.f32 %f2, [%rd1+4];\n"
                               "mul.ftz.f32 %f3, %f2, %f1;\n"
                               "fma.rn.ftz.f32 %f3, %f1, %f3, %f3;\n"
                               "st.global.f32 [out], %f3;\n";

static void open_figure(rf_bench *b)
{
    char text[2048];
    int length = snprintf(text, sizeof text, "%s%sret;\n}\n", header, figure_4);
    rf_bench_open(b, text, (size_t)length);
}

static void the_figure_comes_out(void **state)
{
    (void)state;
    rf_bench b;
    open_figure(&b);
    assert_int_equal(fuse(&b), 1);
    assert_non_null(hd_annotation_at(b.kernel, HD_ANNOTATION_DEMO, 1, 0));         /* %f2, read once */
    assert_non_null(hd_annotation_at(b.kernel, HD_ANNOTATION_DEMO_OPERAND, 2, 0)); /* by mul */
    assert_int_equal(hd_insn_form(b.kernel, &b.kernel->instructions.items[1])->opcode, HD_OP_LD);
    assert_true(check(&b));
    rf_bench_close(&b);
}

/* The last one comes from far, over everything that may be in between. */
static void loads_go_to_their_consumers(void **state)
{
    (void)state;
    rf_bench b;
    char text[2048];
    int length = snprintf(text, sizeof text, "%s%sret;\n}\n", header,
                          "ld.const.u32 %r1, [%rd1];\nst.global.f32 [out], 0f00000000;\nld.global.u32 %r3, [out];\n"
                          "add.u32 %r2, %r3, 1;\nadd.u32 %r4, %r2, %r1;\nst.global.u32 [out], %r4;\n");
    rf_bench_open(&b, text, (size_t)length);
    uint32_t id = b.kernel->instructions.items[0].id;
    assert_int_equal(fuse(&b), 2);
    assert_int_equal(b.kernel->instructions.items[3].id, id);
    assert_non_null(hd_annotation_at(b.kernel, HD_ANNOTATION_DEMO, 3, 0));
    assert_non_null(hd_annotation_at(b.kernel, HD_ANNOTATION_DEMO_OPERAND, 4, 1));
    assert_true(check(&b));
    rf_bench_close(&b);
}

/* A sum of three takes all of them from memory, in the order of its operands; or as many as it may. */
static void an_instruction_takes_several(void **state)
{
    (void)state;
    static const char *const most[] = {"1", "2", "3", NULL};
    static const uint32_t want[] = {1, 2, 3, 3};
    for (uint32_t i = 0; i < 4; i++) {
        rf_bench b;
        char text[2048];
        int length = snprintf(
            text, sizeof text, "%s%sret;\n}\n", header,
            "ld.global.f32 %f3, [%rd3];\nld.global.f32 %f1, [%rd1];\nmov.f32 %f5, %f6;\nld.shared.f32 %f2, [tile];\n"
            "fma.rn.f32 %f4, %f1, %f2, %f3;\nst.global.f32 [out], %f4;\nst.global.f32 [out], %f5;\n");
        rf_bench_open(&b, text, (size_t)length);
        assert_int_equal(fuse_some(&b, most[i]), want[i]);
        for (uint32_t s = 0; s < 3; s++)
            assert_int_equal(hd_annotation_at(b.kernel, HD_ANNOTATION_DEMO_OPERAND, 4, s) != NULL, s < want[i]);
        for (uint32_t l = 0; l < 3; l++) {
            bool operand = hd_annotation_at(b.kernel, HD_ANNOTATION_DEMO, 4 - want[i] + l, 0) != NULL;
            assert_int_equal(operand, l < want[i]);
        }
        assert_true(check(&b));
        rf_bench_close(&b);
    }
}

/* ---- traps ------------------------------------------------------------------------------------------------------- */

#define USE "add.f32 %f2, %f1, %f3;\nst.global.f32 [out], %f2;\n"
static const char *const traps[] = {
    /* stores that may write what is loaded */
    "ld.global.f32 %f1, [%rd1];\nst.global.f32 [%rd2], %f3;\n" USE,
    "ld.global.f32 %f1, [%rd1];\nst.f32 [%rd2], %f3;\n" USE,
    "ld.f32 %f1, [%rd1];\nst.shared.f32 [tile], %f3;\n" USE,
    "ld.shared.f32 %f1, [tile];\n@%p1 st.shared.f32 [tile], %f3;\n" USE,
    "ld.local.f32 %f1, [low];\nst.local.f32 [low+4], %f3;\n" USE,
    "mov.u64 %rd2, low;\nst.local.f32 [high], %f3;\nld.local.f32 %f1, [low];\nst.local.f32 [%rd2], %f3;\n" USE,
    "st.local.f32 [high], %f3;\nld.local.f32 %f1, [low];\nst.local.f32 [%rd2], %f3;\nmov.u64 %rd2, low;\n" USE,
    /* what orders memory or the warp */
    "ld.shared.f32 %f1, [tile];\nbar.sync 0;\n" USE,
    "ld.global.f32 %f1, [%rd1];\nmembar.gl;\n" USE,
    "ld.global.f32 %f1, [%rd1];\nbar.warp.sync -1;\n" USE,
    "ld.global.f32 %f1, [%rd1];\nshfl.sync.idx.b32 %r1, %r2, 0, 31, -1;\nst.global.u32 [out], %r1;\n" USE,
    "ld.global.f32 %f1, [%rd1];\nvote.sync.any.pred %p1, %p2, -1;\n" USE,
    "ld.global.f32 %f1, [%rd1];\natom.global.add.u32 %r1, [%rd2], 1;\n" USE,
    "ld.global.f32 %f1, [%rd1];\ncall g;\n" USE,
    "ld.global.f32 %f1, [%rd1];\nld.acquire.gpu.global.u32 %r1, [%rd2];\n" USE,
    "ld.global.f32 %f1, [%rd1];\nst.release.gpu.global.u32 [%rd2], %r1;\n" USE,
    "ld.const.f32 %f1, [%rd1];\nld.volatile.global.u32 %r1, [%rd2];\n" USE,
    "ld.const.f32 %f1, [%rd1];\nld.relaxed.gpu.global.u32 %r1, [%rd2];\n" USE,
    "ld.const.f32 %f1, [%rd1];\nld.global.cv.u32 %r1, [%rd2];\n" USE,
    /* reads of a clock, whatever is loaded */
    "ld.global.f32 %f1, [%rd1];\nmov.u32 %r1, %clock;\nst.global.u32 [out], %r1;\n" USE,
    "ld.const.f32 %f1, [%rd1];\nmov.u64 %rd2, %clock64;\n" USE,
    "ld.const.f32 %f1, [%rd1];\nmov.u32 %r1, %clock_hi;\n" USE,
    "ld.const.f32 %f1, [%rd1];\nmov.u64 %rd2, %globaltimer;\n" USE,
    "ld.const.f32 %f1, [%rd1];\nmov.u32 %r1, %globaltimer_lo;\n" USE,
    /* the address is overwritten, for sure or perhaps */
    "ld.global.f32 %f1, [%rd1];\nadd.u64 %rd1, %rd1, 4;\n" USE,
    "ld.global.f32 %f1, [%rd1];\n@%p1 add.u64 %rd1, %rd1, 4;\n" USE,
    /* guards */
    "@%p1 ld.global.f32 %f1, [%rd1];\n" USE,
    "ld.global.f32 %f1, [%rd1];\n@%p1 add.f32 %f2, %f1, %f3;\nst.global.f32 [out], %f2;\n",
    "@%p1 ld.global.f32 %f1, [%rd1];\n@!%p1 add.f32 %f2, %f1, %f3;\nst.global.f32 [out], %f2;\n",
    "@%p1 ld.global.f32 %f1, [%rd1];\nsetp.eq.u32 %p1, %r1, 0;\n@%p1 add.f32 %f2, %f1, %f3;\nst.global.f32 [out], "
    "%f2;\n",
    /* more than one use, or definition */
    "ld.global.f32 %f1, [%rd1];\nadd.f32 %f2, %f1, %f1;\nst.global.f32 [out], %f2;\n",
    "ld.global.f32 %f1, [%rd1];\n" USE "st.global.f32 [out+4], %f1;\n",
    "mov.f32 %f1, 0f00000000;\n@%p1 ld.global.f32 %f1, [%rd1];\n" USE,
    "ld.global.f32 %f1, [%rd1];\n@%p1 mov.f32 %f1, 0f00000000;\n" USE,
    "ld.global.f32 %f1, [%rd1];\nadd.f32 %f2, %f1, %f3;\n@%p1 mov.f32 %f1, %f3;\nst.global.f32 [out], "
    "%f2;\nst.global.f32 [out], %f1;\n",
    /* other blocks: a loop's load before it, and what is read after the branch too */
    "ld.global.f32 %f1, [%rd1];\nL:\nadd.f32 %f2, %f1, %f2;\nsetp.lt.f32 %p1, %f2, 0f00000000;\n@%p1 bra "
    "L;\nst.global.f32 [out], %f2;\n",
    "L:\nadd.f32 %f2, %f1, %f2;\nld.global.f32 %f1, [%rd1];\nsetp.lt.f32 %p1, %f2, 0f00000000;\n@%p1 bra "
    "L;\nst.global.f32 [out], %f2;\n",
    "L:\nld.global.f32 %f1, [%rd1];\nadd.f32 %f2, %f1, %f2;\nsetp.lt.f32 %p1, %f2, 0f00000000;\n@%p1 bra "
    "L;\nst.global.f32 [out], %f1;\n",
    /* loads that must stay what they are */
    "ld.volatile.global.f32 %f1, [%rd1];\n" USE,
    "ld.acquire.gpu.global.f32 %f1, [%rd1];\n" USE,
    "ld.relaxed.gpu.global.f32 %f1, [%rd1];\n" USE,
    "ld.global.v2.f32 {%f1, %f4}, [%rd1];\n" USE,
    "atom.global.add.f32 %f1, [%rd1], %f3;\n" USE,
    /* consumers that are no arithmetic */
    "ld.global.f32 %f1, [%rd1];\nst.global.f32 [out], %f1;\n",
    "ld.global.f32 %f1, [%rd1];\nmov.f32 %f2, %f1;\nst.global.f32 [out], %f2;\n",
    "ld.global.u64 %rd2, [%rd1];\nld.volatile.global.f32 %f1, [%rd2];\nst.global.f32 [out], %f1;\n",
    /* names of inner scopes */
    "{\n.reg .b64 %inner;\nmov.u64 %inner, data;\nld.const.f32 %f1, [%inner];\n}\n" USE,
};

static void traps_are_left_alone(void **state)
{
    (void)state;
    for (uint32_t i = 0; i < sizeof traps / sizeof *traps; i++)
        if (pairs_of(traps[i]))
            fail_msg("trap %u:\n%s", i, traps[i]);
}

/* Beside each kind of trap, what is not one. */
static const char *const fine[] = {
    "ld.const.f32 %f1, [%rd1];\nst.global.f32 [%rd2], %f3;\n" USE,
    "ld.const.f32 %f1, [%rd1];\nst.f32 [%rd2], %f3;\n" USE,
    "ld.global.nc.f32 %f1, [%rd1];\nst.f32 [%rd2], %f3;\n" USE,
    "ld.global.f32 %f1, [%rd1];\nst.shared.f32 [tile], %f3;\n" USE,
    "ld.global.f32 %f1, [%rd1];\nld.global.u32 %r1, [%rd2];\n" USE,
    "ld.weak.global.f32 %f1, [%rd1];\nld.weak.global.u32 %r1, [%rd2];\n" USE,
    /* another local variable, in whatever order they are used */
    "st.local.f32 [high], %f2;\nld.local.f32 %f1, [low];\nst.local.f32 [middle], %f3;\n" USE,
    "st.local.f32 [low], %f2;\nld.local.f32 %f1, [high];\nst.local.f32 [middle], %f3;\n" USE,
    "st.local.f32 [middle], %f2;\nld.local.f32 %f1, [low];\nst.local.f32 [high], %f3;\n" USE,
    "bar.sync 0;\nld.global.f32 %f1, [%rd1];\n" USE "bar.sync 0;\n",
    "@%p1 ld.global.f32 %f1, [%rd1];\n@%p1 add.f32 %f2, %f1, %f3;\nst.global.f32 [out], %f2;\n",
    "L:\nld.global.f32 %f1, [%rd1];\nadd.f32 %f2, %f1, %f2;\nsetp.lt.f32 %p1, %f2, 0f00000000;\n@%p1 bra "
    "L;\nst.global.f32 [out], %f2;\n",
    "ld.global.f32 %f1, [%rd1];\nadd.f32 %f1, %f1, %f3;\nst.global.f32 [out], %f1;\n",
    /* into its own address */
    "ld.global.u64 %rd1, [%rd1];\nmov.u32 %r1, 1;\nadd.u64 %rd2, %rd1, 8;\nst.global.u64 [out], %rd2;\n",
    "ld.global.u64 %rd2, [%rd1];\nadd.u64 %rd2, %rd2, 8;\nst.global.u64 [out], %rd2;\n",
};

static void others_are_made_operands(void **state)
{
    (void)state;
    for (uint32_t i = 0; i < sizeof fine / sizeof *fine; i++)
        if (pairs_of(fine[i]) != 1)
            fail_msg("body %u:\n%s", i, fine[i]);
}

/* ---- check and proof --------------------------------------------------------------------------------------------- */

/* On each single annotation that is dropped, and each that is added to a load or a source that has none. */
static void tampering_is_refuted(void **state)
{
    (void)state;
    uint32_t tried = 0, twins = 0;
    for (uint64_t seed = 0; seed < UNIT_CASES(3000); seed++) {
        rf_bench b;
        open_random(&b, seed);
        uint32_t pairs = fuse(&b);
        for (uint32_t a = 0; pairs && a < b.kernel->annotations.count; a++) {
            hd_annotation *note = &b.kernel->annotations.items[a];
            hd_annotation kept = *note;
            if (note->kind != HD_ANNOTATION_DEMO && note->kind != HD_ANNOTATION_DEMO_OPERAND)
                continue;
            note->kind = HD_ANNOTATION_X_FLAG;
            assert_false(check(&b));
            *note = kept;
            note->slot++; /* another source, or none */
            if (note->kind == HD_ANNOTATION_DEMO_OPERAND)
                assert_false(check(&b));
            *note = kept;
            tried++;
        }
        uint32_t before = b.kernel->annotations.count;
        for (uint32_t i = 0; i < b.kernel->instructions.count; i++) {
            if (hd_annotation_at(b.kernel, HD_ANNOTATION_DEMO, i, 0))
                continue;
            hd_annotate(b.kernel, (hd_annotation){.kind = HD_ANNOTATION_DEMO, .instruction = i, .value = 1});
            hd_annotations_sort(b.kernel);
            assert_false(check(&b));
            twins++;
            uint32_t at =
                (uint32_t)(hd_annotation_at(b.kernel, HD_ANNOTATION_DEMO, i, 0) - b.kernel->annotations.items);
            b.kernel->annotations.count--;
            memmove(b.kernel->annotations.items + at, b.kernel->annotations.items + at + 1,
                    (b.kernel->annotations.count - at) * sizeof(hd_annotation));
        }
        assert_int_equal(b.kernel->annotations.count, before);
        rf_bench_close(&b);
    }
    assert_true(tried > UNIT_CASES(50) && twins > UNIT_CASES(1000));
}

/* A pair that is no pair: the value is read later too. Check and proof both say so. */
static void a_false_pair_is_refuted_and_disproved(void **state)
{
    (void)state;
    rf_bench b;
    rf_bench_open_file(&b, "demo-a_false_pair_is_refuted_and_disproved");
    assert_int_equal(fuse(&b), 0);
    assert_true(replay(&b, 0).proved);
    hd_annotate(b.kernel, (hd_annotation){.kind = HD_ANNOTATION_DEMO, .instruction = 0, .value = 1});
    hd_annotate(b.kernel, (hd_annotation){.kind = HD_ANNOTATION_DEMO_OPERAND, .instruction = 1, .slot = 0, .value = 1});
    hd_annotations_sort(b.kernel);
    assert_false(check(&b));
    assert_false(replay(&b, 0).proved);
    rf_bench_close(&b);
}

/* A load that is after a store that may write what it loads may have been moved over it, unless it says that it
 * stood there. */
static void a_load_across_a_store_is_refuted(void **state)
{
    (void)state;
    static const char *const stores[] = {"st.global.u32 [%rd1], %r1;\n",
                                         "st.u32 [%rd2], %r1;\n",
                                         "bar.sync 0;\n",
                                         "mov.u32 %r3, %clock;\n",
                                         "atom.global.add.u32 %r3, [%rd2], 1;\n",
                                         "st.shared.f32 [tile], %f1;\n",
                                         "ld.global.u32 %r3, [out];\n"};
    for (uint32_t i = 0; i < sizeof stores / sizeof *stores; i++) {
        rf_bench b;
        char text[2048];
        int length = snprintf(
            text, sizeof text, "%s%s%sret;\n}\n", header, stores[i],
            "ld.global.u32 %r2, [%rd1];\nadd.u32 %r4, %r2, 1;\nst.global.u32 [out], %r4;\nst.global.u32 [out], %r3;\n");
        rf_bench_open(&b, text, (size_t)length);
        hd_annotate(b.kernel, (hd_annotation){.kind = HD_ANNOTATION_DEMO, .instruction = 1});
        hd_annotate(b.kernel, (hd_annotation){.kind = HD_ANNOTATION_DEMO_OPERAND, .instruction = 2, .slot = 0});
        hd_annotations_sort(b.kernel);
        assert_int_equal(check(&b), i > 4); /* the last two it may pass */
        hd_annotate(b.kernel, (hd_annotation){.kind = HD_ANNOTATION_DEMO_AFTER, .instruction = 1, .value = 1});
        hd_annotations_sort(b.kernel);
        assert_true(check(&b));
        assert_int_equal(fuse(&b), 1); /* and the pass says so itself */
        assert_true(check(&b));
        assert_int_equal(hd_annotation_at(b.kernel, HD_ANNOTATION_DEMO_AFTER, 1, 0) != NULL, i <= 4);
        rf_bench_close(&b);
    }
}

/* A hand-made pair is sound only where arithmetic follows: no move, and nothing that other lanes take part in. An
 * unknown instruction is refuted by two rules, as it writes its sources, too. */
static void a_consumer_that_is_no_arithmetic_is_refuted(void **state)
{
    (void)state;
    static const char *const consumers[] = {"add.u32 %r2, %r1, 1;\n",
                                            "mov.u32 %r2, %r1;\n",
                                            "shfl.sync.idx.b32 %r2, %r1, 0, 31, -1;\n",
                                            "redux.sync.add.u32 %r2, %r1, -1;\n",
                                            "match.any.sync.b32 %r2, %r1, -1;\n",
                                            "st.global.u32 [out+4], %r1;\n",
                                            "bra.uni L;\nL: add.u32 %r2, %r1, 1;\n"};
    for (uint32_t i = 0; i < sizeof consumers / sizeof *consumers; i++) {
        rf_bench b;
        char text[2048];
        int length =
            snprintf(text, sizeof text, "%sld.global.u32 %%r1, [%%rd1];\n%sst.global.u32 [out], %%r2;\nret;\n}\n",
                     header, consumers[i]);
        rf_bench_open(&b, text, (size_t)length);
        hd_annotate(b.kernel, (hd_annotation){.kind = HD_ANNOTATION_DEMO, .instruction = 0});
        hd_annotate(b.kernel, (hd_annotation){.kind = HD_ANNOTATION_DEMO_OPERAND, .instruction = 1, .slot = 0});
        hd_annotations_sort(b.kernel);
        if (check(&b) != (i == 0))
            fail_msg("%s", consumers[i]);
        rf_bench_close(&b);
    }
}

/* Twice in one instruction is twice, however it is annotated. */
static void a_value_named_twice_is_refuted(void **state)
{
    (void)state;
    const char *text = ptx_file("demo-a_value_named_twice_is_refuted");
    rf_bench b;
    rf_bench_open(&b, text, strlen(text));
    hd_annotate(b.kernel, (hd_annotation){.kind = HD_ANNOTATION_DEMO, .instruction = 0, .value = 1});
    hd_annotate(b.kernel, (hd_annotation){.kind = HD_ANNOTATION_DEMO_OPERAND, .instruction = 1, .slot = 0, .value = 1});
    hd_annotations_sort(b.kernel);
    assert_false(check(&b));
    rf_bench_close(&b);
}

static void accesses_are_counted_and_a_lost_move_is_noticed(void **state)
{
    (void)state;
    const char *text = ptx_file("demo-accesses_are_counted_and_a_lost_move_is_noticed");
    rf_bench b;
    rf_bench_open(&b, text, strlen(text));
    assert_int_equal(fuse(&b), 1);
    result r = replay(&b, 0);
    assert_true(r.proved);
    assert_int_equal(r.counters[HD_COUNTER_OPERANDS], 2 * 4);
    assert_int_equal(r.counters[HD_COUNTER_RESULTS], 2 * 4);
    assert_int_equal(r.counters[HD_COUNTER_FILE_READS], 2 * 3);
    assert_int_equal(r.counters[HD_COUNTER_FILE_WRITES], 2 * 3);
    assert_int_equal(r.counters[HD_COUNTER_MEMORY_OPERANDS], 2 * 1);
    assert_int_equal(r.counters[HD_COUNTER_SINGLE_USE], 2 * 4); /* both loads are read once */
    assert_int_equal(r.counters[HD_COUNTER_SINGLE_ARITHMETIC], 2 * 2);
    assert_int_equal(r.counters[HD_COUNTER_SINGLE_STORED], 2 * 2);
    for (uint32_t fault = 1; fault <= 4; fault++) /* the moves of the first warp, all of them read */
        assert_false(replay(&b, fault).proved);
    rf_bench_close(&b);
}

/* Values from memory have no register of the file; each has a name of its own in its group. */
static void expect_named_by_order(const hd_function *f, uint64_t seed)
{
    for (uint32_t i = 0, order = 0; i < f->instructions.count; i++) {
        char name[32], expected[32];
        if (!hd_annotation_at(f, HD_ANNOTATION_DEMO, i, 0)) {
            order = 0;
            continue;
        }
        hd_register_spell(f, hd_insn_operands(f, &f->instructions.items[i])->value, name, sizeof name);
        snprintf(expected, sizeof expected, "%u", order++);
        if (strncmp(name, "%M", 2) != 0 || strcmp(name + strcspn(name, "0123456789"), expected) != 0)
            fail_msg("seed %llu, instruction %u: %s, not number %s", (unsigned long long)seed, i, name, expected);
    }
}

/* Registers are allocated after the pass: the pairs stay, are sound and proved, and take no place. */
static void operands_survive_allocation(void **state)
{
    (void)state;
    uint64_t pairs = 0, delivered = 0, before = 0, after = 0;
    for (uint64_t seed = 0; seed < UNIT_CASES(18000); seed += 2) {
        rf_bench plain, b;
        open_random(&plain, seed);
        open_random(&b, seed);
        uint32_t made = fuse(&b), most = seed % 6 ? 0 : 8;
        allocate(&plain, most);
        allocate(&b, most);
        assert_int_equal(plain.diagnostics.error_count + b.diagnostics.error_count, 0);
        assert_int_equal(count_of(&b, HD_ANNOTATION_DEMO), made);
        assert_int_equal(count_of(&b, HD_ANNOTATION_DEMO_OPERAND), made);
        if (!check(&b))
            fail_msg("seed %llu: the check refutes what the allocation left", (unsigned long long)seed);
        expect_named_by_order(b.kernel, seed);
        result r = replay(&b, 0);
        if (!r.proved)
            fail_msg("seed %llu: not proved", (unsigned long long)seed);
        hd_architected numbers;
        assert_true(hd_architected_of(plain.kernel, &numbers));
        before += numbers.registers;
        assert_true(hd_architected_of(b.kernel, &numbers));
        after += numbers.registers;
        pairs += made;
        delivered += r.counters[HD_COUNTER_MEMORY_OPERANDS];
        rf_bench_close(&plain);
        rf_bench_close(&b);
    }
    assert_true(pairs > UNIT_CASES(100) && delivered > UNIT_CASES(100) && after < before);
}

/* A register that names nothing but the value from memory stays; others are separated from it. */
static void registers_that_are_shared_are_separated(void **state)
{
    (void)state;
    uint32_t kept = 0, separated = 0;
    for (uint64_t seed = 0; seed < 2000; seed += 2) {
        rf_bench b;
        open_random(&b, seed);
        const hd_function *f = b.kernel;
        uint32_t registers = f->registers.count, *accesses = calloc(registers + 1u, sizeof *accesses),
                 *of_id = calloc(f->next_instruction_id + 1u, sizeof *of_id);
        for (uint32_t i = 0; i < f->instructions.count; i++) {
            const hd_instruction *insn = &f->instructions.items[i];
            of_id[insn->id] = insn->operand_count ? hd_insn_operands(f, insn)->value : 0;
            HD_INSN_REGISTERS (f, insn, o)
                accesses[o->value]++;
        }
        fuse(&b);
        for (uint32_t a = 0; a < f->annotations.count; a++) {
            if (f->annotations.items[a].kind != HD_ANNOTATION_DEMO)
                continue;
            const hd_instruction *load = &f->instructions.items[f->annotations.items[a].instruction];
            uint32_t reg = hd_insn_operands(f, load)->value, before = of_id[load->id];
            assert_true(accesses[before] >= 2);
            if (accesses[before] == 2 ? reg != before : reg < registers)
                fail_msg("seed %llu: register %u became %u", (unsigned long long)seed, before, reg);
            kept += accesses[before] == 2;
            separated += accesses[before] != 2;
        }
        free(accesses);
        free(of_id);
        rf_bench_close(&b);
    }
    assert_true(kept && separated);
}

static void random_kernels_are_proved(void **state)
{
    (void)state;
    uint64_t pairs = 0, delivered = 0;
    for (uint64_t seed = 0; seed < UNIT_CASES(12000); seed++) {
        rf_bench b;
        open_random(&b, seed);
        pairs += fuse(&b);
        if (!check(&b))
            fail_msg("seed %llu: the check refutes the pass", (unsigned long long)seed);
        result r = replay(&b, 0);
        if (!r.proved)
            fail_msg("seed %llu: not proved", (unsigned long long)seed);
        assert_int_equal(r.counters[HD_COUNTER_FILE_READS] + r.counters[HD_COUNTER_MEMORY_OPERANDS],
                         r.counters[HD_COUNTER_OPERANDS]);
        delivered += r.counters[HD_COUNTER_MEMORY_OPERANDS];
        rf_bench_close(&b);
    }
    assert_true(pairs > UNIT_CASES(200) && delivered > UNIT_CASES(200));
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(the_figure_comes_out),
        cmocka_unit_test(loads_go_to_their_consumers),
        cmocka_unit_test(an_instruction_takes_several),
        cmocka_unit_test(traps_are_left_alone),
        cmocka_unit_test(others_are_made_operands),
        cmocka_unit_test(tampering_is_refuted),
        cmocka_unit_test(a_false_pair_is_refuted_and_disproved),
        cmocka_unit_test(a_load_across_a_store_is_refuted),
        cmocka_unit_test(a_consumer_that_is_no_arithmetic_is_refuted),
        cmocka_unit_test(a_value_named_twice_is_refuted),
        cmocka_unit_test(accesses_are_counted_and_a_lost_move_is_noticed),
        cmocka_unit_test(operands_survive_allocation),
        cmocka_unit_test(registers_that_are_shared_are_separated),
        cmocka_unit_test(random_kernels_are_proved),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
