/* Registers in flight (SOUNDNESS: asynchronous register use): their spans, what passes make of them, and what checkers
 * refute. */
#include "rf_bench.h"
#include "unit.h"

#include "ir/asynchronous.h"
#include "passes/check/regalloc.h"
#include "passes/analysis/liveness.h"
#include "passes/regalloc/regalloc.h"
#include "passes/analysis/analyses.h"

#define HEAD ".version 8.6\n.target sm_90a\n.address_size 64\n"
#define ENTRY                                                                                                          \
    ".visible .entry k(.param .u64 out, .param .u64 desc)\n{\n"                                                        \
    ".reg .b32 %a<12>; .reg .f32 %f<12>; .reg .b64 %d<6>; .reg .pred %p<4>; .reg .b32 %t<8>;\n"                        \
    "ld.param.u64 %d0, [out]; ld.param.u64 %d1, [desc]; mov.u32 %t0, %tid.x; mov.u32 %t7, %ntid.x;\n"                  \
    "mov.u32 %a0, 1; mov.u32 %a1, 2; mov.u32 %a2, 3; mov.u32 %a3, 4; mov.u32 %a4, 5; mov.u32 %a5, 6; mov.u32 %a6, 7; " \
    "mov.u32 %a7, 8;\n"                                                                                                \
    "mov.f32 %f0, 0f00000000; mov.f32 %f1, 0f00000000; mov.f32 %f2, 0f00000000; mov.f32 %f3, 0f00000000;\n"            \
    "mov.f32 %f4, 0f00000000; mov.f32 %f5, 0f00000000; mov.f32 %f6, 0f00000000; mov.f32 %f7, 0f00000000;\n"            \
    "setp.eq.u32 %p0, %t7, 128;\n"
#define FENCE "wgmma.fence.sync.aligned;\n"
#define PRODUCT(d, a) "wgmma.mma_async.sync.aligned.m64n8k16.f32.f16.f16 {" d "}, {" a "}, %d1, %p0, 1, 1, 0;\n"
#define FIRST PRODUCT("%f0,%f1,%f2,%f3", "%a0,%a1,%a2,%a3")
#define SECOND PRODUCT("%f4,%f5,%f6,%f7", "%a4,%a5,%a6,%a7")
#define COMMIT "wgmma.commit_group.sync.aligned;\n"
#define WAIT(n) "wgmma.wait_group.sync.aligned " #n ";\n"
#define STORE "st.global.f32 [%d0], %f0; st.global.f32 [%d0+4], %f4;\n"
#define END "ret;\n}\n"

/* ---- spans ------------------------------------------------------------------------------------------------------- */

typedef struct bench {
    rf_bench b;
    hd_pass_context context;
    hd_arena arena;
    const hd_liveness *liveness;
} bench;

static void open_bench(bench *b, const char *text)
{
    *b = (bench){0};
    rf_bench_open(&b->b, text, strlen(text));
    hd_pass_context_init(&b->context, b->b.kernel, &b->b.diagnostics);
    b->liveness = hd_liveness_build(&b->context, &b->arena);
}

static void close_bench(bench *b)
{
    hd_pass_context_free(&b->context);
    hd_arena_free(&b->arena);
    rf_bench_close(&b->b);
}

static uint32_t register_called(const hd_function *f, const char *name)
{
    char text[64];
    for (uint32_t r = 0; r < f->registers.count; r++) {
        hd_register_spell(f, r, text, sizeof text);
        if (!strcmp(text, name))
            return r;
    }
    fail_msg("no register %s", name);
    return 0;
}

/* Is the register live before the nth instruction of that opcode. */
static bool is_live_at(bench *b, const char *name, hd_opcode opcode, uint32_t nth)
{
    hd_function *f = b->b.kernel;
    uint32_t reg = register_called(f, name);
    hd_live_walk walk;
    hd_live_walk_init(&walk, &b->arena, f, b->liveness);
    for (uint32_t i = 0; i < f->instructions.count; i++) {
        if (hd_insn_form(f, &f->instructions.items[i])->opcode != opcode || nth--)
            continue;
        for (hd_live_start(&walk, walk.cfg->block_of[i]); walk.ordinal > i;)
            hd_live_step(&walk);
        return hd_live_has(&walk, reg);
    }
    fail_msg("no such instruction");
    return false;
}

#define LIVE(name, opcode, nth) assert_true(is_live_at(&b, name, HD_OP_##opcode, nth))
#define DEAD(name, opcode, nth) assert_false(is_live_at(&b, name, HD_OP_##opcode, nth))

static void a_wait_ends_a_span(void **state)
{
    bench b;
    (void)state;
    open_bench(&b, HEAD ENTRY FENCE FIRST COMMIT "add.u32 %t1, %t0, 1;\n" WAIT(0) "sub.u32 %t2, %t1, 1;\n" STORE END);
    LIVE("%a0", WGMMA_COMMIT_GROUP, 0);
    LIVE("%a3", ADD, 0);
    LIVE("%f3", ADD, 0); /* nobody reads it later */
    LIVE("%f3", WGMMA_WAIT_GROUP, 0);
    DEAD("%a0", SUB, 0);
    DEAD("%f3", SUB, 0);
    LIVE("%f0", SUB, 0);
    close_bench(&b);
}

static void waits_count_groups(void **state)
{
    bench b;
    (void)state;
    open_bench(&b, HEAD ENTRY FENCE FIRST COMMIT SECOND COMMIT WAIT(1) "sub.u32 %t2, %t0, 1;\n" WAIT(
                       0) "add.u32 %t1, %t0, 1;\n" END);
    DEAD("%a0", SUB, 0);
    DEAD("%f1", SUB, 0);
    LIVE("%a4", SUB, 0);
    LIVE("%f5", SUB, 0);
    DEAD("%a4", ADD, 0);
    close_bench(&b);
    open_bench(
        &b, HEAD ENTRY FENCE FIRST COMMIT COMMIT WAIT(2) "sub.u32 %t2, %t0, 1;\n" WAIT(1) "add.u32 %t1, %t0, 1;\n" END);
    LIVE("%a0", SUB, 0);
    DEAD("%a0", ADD, 0);
    close_bench(&b);
}

static void what_is_not_committed_is_not_waited_for(void **state)
{
    bench b;
    (void)state;
    open_bench(&b, HEAD ENTRY FENCE FIRST WAIT(0) "sub.u32 %t2, %t0, 1;\n" COMMIT WAIT(0) "add.u32 %t1, %t0, 1;\n" END);
    LIVE("%a0", SUB, 0);
    DEAD("%a0", ADD, 0);
    close_bench(&b);
}

static void guards_cover_nothing(void **state)
{
    bench b;
    (void)state;
    open_bench(&b, HEAD ENTRY FENCE FIRST COMMIT
               "@%p0 " WAIT(0) "sub.u32 %t2, %t0, 1;\n" WAIT(0) "add.u32 %t1, %t0, 1;\n" END);
    LIVE("%a0", SUB, 0);
    DEAD("%a0", ADD, 0);
    close_bench(&b);
    open_bench(&b, HEAD ENTRY FENCE FIRST "@%p0 " COMMIT WAIT(0) "sub.u32 %t2, %t0, 1;\n" END);
    LIVE("%a0", SUB, 0);
    LIVE("%f2", RET, 0); /* to the end of the function */
    close_bench(&b);
}

static void a_wait_on_one_path_covers_that_path(void **state)
{
    bench b;
    (void)state;
    open_bench(&b, HEAD ENTRY FENCE FIRST COMMIT "@%p0 bra L1;\n" WAIT(
                       0) "sub.u32 %t2, %t0, 1;\nL1: add.u32 %t1, %t0, 1;\n" WAIT(0) "mul.lo.u32 %t3, %t1, 3;\n" END);
    LIVE("%a0", ADD, 0);
    LIVE("%f3", ADD, 0);
    DEAD("%a0", MUL, 0);
    close_bench(&b);
}

/* The group before stays in flight while the loop goes on. */
static void loops_keep_the_group_before(void **state)
{
    bench b;
    (void)state;
    open_bench(&b, HEAD ENTRY "mov.u32 %t1, 0;\nL: add.u32 %t1, %t1, 1;\n" FENCE FIRST COMMIT WAIT(
                       1) "sub.u32 %t2, %t0, 1;\n"
                          "setp.lt.u32 %p1, %t1, 9;\n@%p1 bra L;\n" WAIT(0) "mul.lo.u32 %t3, %t1, 3;\n" STORE END);
    LIVE("%a0", SUB, 0);
    LIVE("%f3", ADD, 0);
    LIVE("%f3", BRA, 0);
    DEAD("%f3", MUL, 0);
    close_bench(&b);
}

static void definitions_in_a_span_end_nothing(void **state)
{
    bench b;
    (void)state;
    open_bench(&b, HEAD ENTRY FENCE FIRST COMMIT "add.u32 %t1, %t0, 1;\nmov.f32 %f0, 0f3f800000;\n" WAIT(0) STORE END);
    LIVE("%f0", ADD, 0);
    close_bench(&b);
}

#define TENSOR                                                                                                 \
    ".version 8.6\n.target sm_100a\n.address_size 64\n.visible .entry k(.param .u64 out, .param .u32 at)\n{\n" \
    ".reg .b32 %a<12>; .reg .b32 %t<8>; .reg .b64 %d<2>; ld.param.u64 %d0, [out]; ld.param.u32 %t0, [at];\n"

static void tensor_memory_has_waits_of_its_own(void **state)
{
    bench b;
    (void)state;
    open_bench(
        &b, TENSOR
        "tcgen05.ld.sync.aligned.32x32b.x2.b32 {%a0,%a1}, [%t0];\n"
        "tcgen05.wait::st.sync.aligned;\nadd.u32 %t1, %t0, 1;\ntcgen05.wait::ld.sync.aligned;\nsub.u32 %t2, %t1, 1;\n"
        "tcgen05.st.sync.aligned.32x32b.x2.b32 [%t0], {%a0,%a1};\nmul.lo.u32 %t3, %t1, "
        "3;\ntcgen05.wait::ld.sync.aligned;\n"
        "xor.b32 %t3, %t1, 3;\ntcgen05.wait::st.sync.aligned;\nor.b32 %t3, %t1, 3;\n" END);
    LIVE("%a0", ADD, 0);
    LIVE("%a0", SUB, 0);
    LIVE("%a1", MUL, 0);
    LIVE("%a1", XOR, 0);
    DEAD("%a1", OR, 0);
    DEAD("%a1", TCGEN05_LD, 0);
    close_bench(&b);
}

/* ---- passes ------------------------------------------------------------------------------------------------------ */

static const char accumulators[] = HEAD ENTRY FENCE FIRST COMMIT
    "add.u32 %t1, %t0, 1;\nadd.u32 %t2, %t1, 1;\nadd.u32 %t3, %t2, 1;\nst.global.u32 [%d0+64], %t3;\n" WAIT(0)
        STORE END;
static const char pipeline[] =
    HEAD ENTRY "mov.u32 %t1, 0;\n" FENCE FIRST COMMIT "L: add.u32 %t1, %t1, 1;\n" FENCE SECOND COMMIT WAIT(
        1) "ld.global.u32 %a0, [%d0]; ld.global.u32 %a1, [%d0+4]; ld.global.u32 %a2, [%d0+8]; ld.global.u32 %a3, "
           "[%d0+12];\n" FENCE FIRST COMMIT WAIT(1) "ld.global.u32 %a4, [%d0]; ld.global.u32 %a5, [%d0+4]; "
                                                    "ld.global.u32 %a6, [%d0+8]; ld.global.u32 %a7, [%d0+12];\n"
                                                    "setp.lt.u32 %p1, %t1, 9;\n@%p1 bra L;\n" WAIT(0) STORE END;

static void all_techniques_are_sound(void **state)
{
    static const char *const texts[] = {accumulators, pipeline};
    static const char *const before[] = {"", "regalloc,", "clean,", "select,regalloc,"};
    static const char *const lists[] = {"release", "ltrf(dead)", "ltrf(n=4,dead)", "bow(iw=3)",     "bow(iw=12)",
                                        "corf",    "corf++",     "demo",           "regmutex(es=4)"};
    (void)state;
    for (uint32_t i = 0; i < 2 * 4 * 9; i++) {
        char passes[64];
        bench b;
        open_bench(&b, texts[i % 2]);
        snprintf(passes, sizeof passes, "%s%s", before[i / 2 % 4], lists[i / 8]);
        rf_bench_pass(&b.b, passes);
        for (uint32_t c = 0; c < hd_checker_count; c++)
            if (!rf_bench_check(&b.b, hd_checkers[c].run))
                fail_msg("%s: %s refutes it", passes, hd_checkers[c].technique);
        close_bench(&b);
    }
}

/* Words of the asynchronous instruction's data. */
static hd_bitset words_of(bench *b, const hd_storage *storage, uint32_t *from, uint32_t *to)
{
    hd_function *f = b->b.kernel;
    hd_bitset words = hd_bitset_new(&b->arena, storage->words + 1);
    for (uint32_t i = 0; i < f->instructions.count; i++) {
        const hd_instruction *insn = &f->instructions.items[i];
        if (hd_insn_async(f, insn).part == HD_ASYNC_WAIT)
            *to = i;
        if (hd_insn_async(f, insn).part != HD_ASYNC_BEGIN)
            continue;
        *from = i;
        HD_ASYNC_DATA (f, insn, o)
            HD_STORAGE_WORDS (storage, o->value, word)
                hd_bitset_add(&words, word);
    }
    return words;
}

static void allocation_leaves_what_is_in_flight_alone(void **state)
{
    bench b;
    uint32_t from = 0, to = 0;
    (void)state;
    open_bench(&b, accumulators);
    rf_bench_allocate(&b.b, 0);
    hd_function *f = b.b.kernel;
    hd_storage storage = hd_storage_of(f, &b.arena);
    hd_bitset words = words_of(&b, &storage, &from, &to);
    for (uint32_t i = from + 1; i < to; i++)
        HD_INSN_REGISTERS (f, &f->instructions.items[i], o)
            HD_STORAGE_WORDS (&storage, o->value, word)
                assert_false(hd_bitset_has(&words, word));
    close_bench(&b);
}

/* A copy is not read in place of a register in flight, nor the other way round; parameters are not read again into
 * one. */
static void clean_moves_nothing_into_a_span(void **state)
{
    bench b;
    (void)state;
    open_bench(&b, HEAD ENTRY "mov.u32 %t1, 0; ld.global.u32 %t4, [%d0];\nmov.b32 %a0, %t4; ld.param.u32 %a1, [desc];\n"
                              "L: add.u32 %t1, %t1, 1;\n" FENCE FIRST COMMIT
                              "add.u32 %t4, %t4, 1;\nst.global.u32 [%d0], %t4;\n" WAIT(
                                  1) "setp.lt.u32 %p1, %t1, 9;\n@%p1 bra L;\n" WAIT(0) STORE END);
    uint32_t a0 = register_called(b.b.kernel, "%a0"), a1 = register_called(b.b.kernel, "%a1");
    rf_bench_pass(&b.b, "select");
    hd_function *f = b.b.kernel;
    for (uint32_t i = 0; i < f->instructions.count; i++) {
        if (hd_insn_async(f, &f->instructions.items[i]).part != HD_ASYNC_BEGIN)
            continue;
        uint32_t data[8], count = 0;
        HD_ASYNC_DATA (f, &f->instructions.items[i], o)
            data[count++] = o->value;
        assert_int_equal(data[4], a0);
        assert_int_equal(data[5], a1);
    }
    close_bench(&b);
}

/* ---- what checkers refute ---------------------------------------------------------------------------------------- */

static void expect_refuted(const char *text, hd_check_run *check, bool refuted)
{
    bench b;
    open_bench(&b, text);
    if (rf_bench_check(&b.b, check) == refuted)
        fail_msg("%s:\n%s", refuted ? "not refuted" : "refuted", text);
    close_bench(&b);
}

/* Words of registers that are named are numbered in the order of declarations: %a0 is 0, %f0 4, %d1 8 and 9, %t0 10,
 * %t1 11. */
#define RENAMED "//@release_renamed (0,1,2,3,4,5,6,7,11)\n"
#define BODY(before, at, after)                                                                       \
    HEAD ".visible .entry k(.param .u64 out, .param .u64 desc)\n{ " before BARE FENCE FIRST at COMMIT \
         "add.u32 %t1, %t0, 1;\n" WAIT(0) "add.u32 %t2, %t1, 1;" after "\nret;\n}\n"
#define BARE                                                                                      \
    "\n.reg .b32 %a<12>; .reg .f32 %f<12>; .reg .b64 %d<6>; .reg .pred %p<4>; .reg .b32 %t<8>;\n" \
    "ld.param.u64 %d1, [desc]; mov.u32 %t0, %tid.x; setp.eq.u32 %p0, 0, 0; mov.u32 %a0, 1;"

static void release_in_a_span_is_refuted(void **state)
{
    (void)state;
    expect_refuted(BODY(RENAMED, "", " //@pbr (3,5)"), hd_check_release, false);
    expect_refuted(BODY(RENAMED, "bar.warp.sync -1; //@pbr (3)\n", ""), hd_check_release, true);
    expect_refuted(BODY(RENAMED, "bar.warp.sync -1; //@pbr (7)\n", ""), hd_check_release, true);
}

static void checkers_count_groups(void **state)
{
    (void)state;
#define GROUPED(commits, pending)                                                                    \
    HEAD ".visible .entry k(.param .u64 out, .param .u64 desc)\n{ " RENAMED BARE FIRST commits WAIT( \
        pending) "add.u32 %t1, %t0, 1; //@pbr (3)\n" WAIT(0) "add.u32 %t2, %t1, 1;\nret;\n}\n"
    expect_refuted(GROUPED(COMMIT, 0), hd_check_release, false);
    expect_refuted(GROUPED(COMMIT, 1), hd_check_release, true);
    expect_refuted(GROUPED(COMMIT COMMIT, 1), hd_check_release, false);
    expect_refuted(GROUPED(COMMIT COMMIT, 2), hd_check_release, true);
    expect_refuted(GROUPED("", 0), hd_check_release, true);
    expect_refuted(GROUPED("@%p0 " COMMIT, 0), hd_check_release, true);
}

static void tags_for_a_window_in_a_span_are_refuted(void **state)
{
    (void)state;
#define TAGGED(window, tag, gap)                                                                             \
    HEAD ".visible .entry k(.param .u64 out, .param .u64 desc)\n{ //@bow_window " window BARE " //@bow " tag \
         "\n" gap FIRST COMMIT WAIT(0) "ret;\n}\n"
    expect_refuted(TAGGED("3", "rf", ""), hd_check_bow, false);
    expect_refuted(TAGGED("3", "both", ""), hd_check_bow, true);
    expect_refuted(TAGGED("3", "boc", ""), hd_check_bow, true);
    expect_refuted(TAGGED("3", "both", FENCE FENCE FENCE), hd_check_bow, false);
    expect_refuted(TAGGED("6", "both", FENCE FENCE FENCE), hd_check_bow, true);
}

static void pairs_and_intervals_of_a_span_are_refuted(void **state)
{
    (void)state;
#define PAIRED(pair)                                                                                           \
    HEAD ".visible .entry k(.param .u64 out, .param .u64 desc)\n{ //@corf_pairs " pair BARE FIRST COMMIT WAIT( \
        0) "add.u32 %t1, %a0, %t0; add.u32 %t2, %t1, %t0;\nret;\n}\n"
    expect_refuted(PAIRED("(10,11)"), hd_check_corf, false);
    expect_refuted(PAIRED("(0,10)"), hd_check_corf, true);
#define INTERVAL(words)                                                                                                \
    ".version 8.6\n.target sm_100a\n.address_size 64\n.visible .entry k(.param .u32 at)\n{ //@ltrf_size 8\n.reg .b32 " \
    "%a<2>; .reg .b32 %t<2>;\n"                                                                                        \
    "ld.param.u32 %t0, [at]; //@ltrf_prefetch " words                                                                  \
    "\ntcgen05.ld.sync.aligned.32x32b.x2.b32 {%a0,%a1}, [%t0];\ntcgen05.wait::ld.sync.aligned;\nadd.u32 %t1, %t0, "    \
    "%a0;\nret;\n}\n"
    expect_refuted(INTERVAL("(2,3)"), hd_check_ltrf, false);
    expect_refuted(INTERVAL("(0,2,3)"), hd_check_ltrf, true);
}

/* ---- the proof of allocations ------------------------------------------------------------------------------------ */

static void give_another_register(hd_function *f, hd_opcode opcode, uint32_t operand, uint32_t reg)
{
    for (uint32_t i = 0; i < f->instructions.count; i++)
        if (hd_insn_form(f, &f->instructions.items[i])->opcode == opcode) {
            f->operands.items[f->instructions.items[i].operand_first + operand].value = reg;
            return;
        }
}

static void a_register_in_flight_that_is_used_again_is_refused(void **state)
{
    bench b;
    (void)state;
    open_bench(&b, HEAD ENTRY FENCE FIRST COMMIT "xor.b32 %t1, %t0, 1;\n" WAIT(0) STORE END);
    hd_function *before = hd_function_copy(b.b.kernel);
    rf_bench_allocate(&b.b, 0);
    hd_diagnostics quiet;
    hd_diagnostics_init(&quiet);
    assert_true(hd_check_allocation(before, b.b.kernel, &quiet));
    hd_function *f = b.b.kernel;
    for (uint32_t i = 0; i < f->instructions.count; i++) {
        if (hd_insn_async(f, &f->instructions.items[i]).part != HD_ASYNC_BEGIN)
            continue;
        HD_ASYNC_DATA (f, &f->instructions.items[i], o)
            if (!(o->flags & HD_OPERAND_DEF)) {
                give_another_register(f, HD_OP_XOR, 0, o->value); /* its value is dead, by the order of the program */
                break;
            }
    }
    assert_false(hd_check_allocation(before, f, &quiet));
    hd_diagnostics_free(&quiet);
    hd_function_copy_free(before);
    close_bench(&b);
}

/* ---- pressure ---------------------------------------------------------------------------------------------------- */

static char *tensor_loads(uint32_t loads, bool wait_for_each)
{
    char *text = malloc(1 << 16);
    size_t at = (size_t)sprintf(
        text,
        ".version 8.6\n.target sm_100a\n.address_size 64\n.visible .entry k(.param .u64 out, .param .u32 at)\n{\n"
        ".reg .b32 %%r<%u>; .reg .b32 %%t; .reg .b64 %%d; ld.param.u64 %%d, [out]; ld.param.u32 %%t, [at];\n",
        loads);
    for (uint32_t i = 0; i < loads; i++)
        at += (size_t)sprintf(text + at, "tcgen05.ld.sync.aligned.32x32b.x1.b32 {%%r%u}, [%%t];\n%s", i,
                              wait_for_each || i + 1 == loads ? "tcgen05.wait::ld.sync.aligned;\n" : "");
    for (uint32_t i = 0; i < loads; i++)
        at += (size_t)sprintf(text + at, "st.global.u32 [%%d+%u], %%r%u;\n", 4 * i, i);
    sprintf(text + at, "ret;\n}\n");
    return text;
}

static hd_regalloc_result allocate(bench *b, const char *text, uint32_t most)
{
    hd_regalloc_result result;
    open_bench(b, text);
    b->context.verify = true;
    assert_true(hd_regalloc_run(&b->context, &(hd_regalloc_options){.max = most}, &result));
    return result;
}

static void spill_code_stands_around_flights(void **state)
{
    bench b;
    char *text = tensor_loads(60, true);
    (void)state;
    hd_regalloc_result result = allocate(&b, text, 40);
    assert_false(result.left_virtual);
    assert_true(result.spilled >= 20);
    free(text);
    close_bench(&b);
}

static void what_cannot_be_spilled_stays_virtual(void **state)
{
    bench b;
    char *text = tensor_loads(60, false);
    (void)state;
    hd_regalloc_result result = allocate(&b, text, 40);
    assert_true(result.left_virtual);
    assert_int_equal(b.b.diagnostics.error_count, 0);
    assert_int_equal(b.b.diagnostics.first->kind, HD_DIAG_NOT_ALLOCATED);
    assert_non_null(strstr(b.b.diagnostics.first->message, "in flight"));
    assert_false(hd_function_is_architected(b.b.kernel));
    free(text);
    close_bench(&b);
}

/* wgmma orders writes of its registers by a fence: loads are before it. */
static void wgmma_fragments_are_loaded_before_the_fence(void **state)
{
    bench b;
    char text[1 << 14], *at = text;
    (void)state;
    at += sprintf(at, "%s", HEAD ENTRY ".reg .b32 %x<40>;\n");
    for (uint32_t i = 0; i < 40; i++)
        at += sprintf(at, "ld.global.u32 %%x%u, [%%d0+%u];\n", i, 4 * i);
    at += sprintf(at, "st.global.u32 [%%d0], %%a3;\n"
                      "bar.sync 0;\n");
    for (uint32_t i = 0; i < 40; i++)
        at += sprintf(at, "st.global.u32 [%%d0+%u], %%x%u;\n", 4 * i, i);
    sprintf(at, "%s", FENCE FIRST COMMIT WAIT(0) STORE "st.global.u32 [%d0], %a0;\n" END);
    hd_regalloc_result result = allocate(&b, text, 44);
    assert_false(result.left_virtual);
    assert_true(result.spilled + result.rematerialized > 0);
    close_bench(&b);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(a_wait_ends_a_span),
        cmocka_unit_test(waits_count_groups),
        cmocka_unit_test(what_is_not_committed_is_not_waited_for),
        cmocka_unit_test(guards_cover_nothing),
        cmocka_unit_test(a_wait_on_one_path_covers_that_path),
        cmocka_unit_test(loops_keep_the_group_before),
        cmocka_unit_test(definitions_in_a_span_end_nothing),
        cmocka_unit_test(tensor_memory_has_waits_of_its_own),
        cmocka_unit_test(all_techniques_are_sound),
        cmocka_unit_test(allocation_leaves_what_is_in_flight_alone),
        cmocka_unit_test(clean_moves_nothing_into_a_span),
        cmocka_unit_test(release_in_a_span_is_refuted),
        cmocka_unit_test(checkers_count_groups),
        cmocka_unit_test(tags_for_a_window_in_a_span_are_refuted),
        cmocka_unit_test(pairs_and_intervals_of_a_span_are_refuted),
        cmocka_unit_test(a_register_in_flight_that_is_used_again_is_refused),
        cmocka_unit_test(spill_code_stands_around_flights),
        cmocka_unit_test(what_cannot_be_spilled_stays_virtual),
        cmocka_unit_test(wgmma_fragments_are_loaded_before_the_fence),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
