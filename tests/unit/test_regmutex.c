/* RegMutex: the sizes of the paper's example and of table 4.1, its figure of liveness, the counterexample to placement
 * along edges, what the check refutes, kernels that stay as they are, metadata words, both spellings; and straight code
 * against a count by hand. */
#include "tests/unit/unit.h"

#include "ir/words/words.h"
#include "passes/technique/regmutex.h"
#include "passes/technique/regmutex_work.h"
#include "passes/analysis/analyses.h"
#include "target/gpu.h"
#include "tests/unit/annotated.h"
#include "tests/unit/rf_bench.h"

/* ---- sizes ------------------------------------------------------------------------------------------------------- */

static hd_gpu *fermi(hd_diagnostics *diagnostics)
{
    hd_diagnostics_init(diagnostics);
    hd_gpu *gpu = hd_gpu_load("fermi-gtx480", diagnostics);
    assert_true(gpu->valid);
    return gpu;
}

/* 24 registers on a machine with 48 warps and 32K registers. */
static void the_example_comes_out(void **state)
{
    static const uint32_t extended[] = {2, 4, 6, 8}, warps[] = {40, 48, 48, 48}, sections[] = {40, 16, 26, 32};
    hd_diagnostics diagnostics;
    hd_gpu *gpu = fermi(&diagnostics);
    hd_occupancy_use use = {.threads = 256};
    hd_regmutex_sizes candidates[HD_REGMUTEX_CANDIDATES];
    (void)state;
    assert_int_equal(hd_regmutex_candidates(&gpu->limits, &use, 24, false, candidates), 4);
    for (uint32_t i = 0; i < 4; i++) {
        assert_int_equal(candidates[i].extended, extended[i]);
        assert_int_equal(candidates[i].base, 24 - extended[i]);
        assert_int_equal(candidates[i].warps, warps[i]);
        assert_int_equal(candidates[i].sections, sections[i]);
    }
    const hd_regmutex_sizes *chosen = hd_regmutex_choose(&gpu->limits, &use, 24, candidates, 4);
    assert_non_null(chosen);
    assert_int_equal(chosen->extended, 6);
    assert_int_equal(chosen->base, 18);
    use.registers = 20; /* fits without: no set */
    uint32_t count = hd_regmutex_candidates(&gpu->limits, &use, 20, false, candidates);
    assert_null(hd_regmutex_choose(&gpu->limits, &use, 20, candidates, count));
    hd_gpu_free(gpu);
    hd_diagnostics_free(&diagnostics);
}

/* Registers (rounded as the paper's simulator does) and |Bs| of table 4.1; the second eight ran on half the register
 * file. Blocks of 256 threads are assumed. Four rows do not follow from the paper's own rule, for any block size
 * (wrong); two depend on the size (sized). */
static const struct {
    const char *name;
    uint32_t registers, base;
    bool half, follows;
} table_4_1[] = {
    {"BFS", 24, 18, false, true},        {"CUTCP", 28, 20, false, true},  {"DWT2D", 44, 38, false, false},
    {"HotSpot3D", 32, 24, false, true},  {"MRI-Q", 24, 18, false, true},  {"ParticleFilter", 32, 20, false, false},
    {"RadixSort", 36, 30, false, false}, {"SAD", 32, 20, false, false},   {"Gaussian", 12, 8, true, true},
    {"HeatWall", 28, 20, true, true},    {"LavaMD", 40, 28, true, false}, {"MergeSort", 16, 12, true, true},
    {"MonteCarlo", 16, 12, true, true},  {"SPMV", 16, 12, true, true},    {"SRAD", 20, 12, true, false},
    {"TPACF", 28, 20, true, true},
};

static void table_4_1_beside_our_rule(void **state)
{
    hd_diagnostics diagnostics;
    hd_gpu *gpu = fermi(&diagnostics);
    hd_occupancy_use use = {.threads = 256};
    (void)state;
    for (uint32_t i = 0; i < sizeof table_4_1 / sizeof *table_4_1; i++) {
        hd_gpu_limits limits = gpu->limits;
        hd_regmutex_sizes candidates[HD_REGMUTEX_CANDIDATES];
        limits.registers_per_sm /= table_4_1[i].half ? 2 : 1;
        uint32_t count = hd_regmutex_candidates(&limits, &use, table_4_1[i].registers, false, candidates);
        const hd_regmutex_sizes *ours = hd_regmutex_choose(&limits, &use, table_4_1[i].registers, candidates, count);
        print_message("# table 4.1: %-14s %2u registers, |Bs| %2u; ours %2u (%u of %u warps may hold a set)\n",
                      table_4_1[i].name, table_4_1[i].registers, table_4_1[i].base, ours ? ours->base : 0,
                      ours ? ours->sections : 0, ours ? ours->warps : 0);
        assert_non_null(ours);
        if (table_4_1[i].follows)
            assert_int_equal(ours->base, table_4_1[i].base);
    }
    hd_gpu_free(gpu);
    hd_diagnostics_free(&diagnostics);
}

/* The rule word by word. */
static hd_regmutex_sizes sizes_by_search(const hd_gpu_limits *limits, const hd_occupancy_use *use, uint32_t base,
                                         uint32_t extended, bool paired)
{
    uint32_t file = limits->registers_per_sm / 32, warps = (use->threads + 31) / 32, pairs = (warps + 1) / 2;
    hd_regmutex_sizes best = {.base = base, .extended = extended};
    hd_occupancy_use with = *use;
    with.registers = base;
    for (uint32_t registers = pairs * (2 * base + extended); paired && registers > with.registers * warps;)
        with.registers++;
    for (uint32_t ctas = 1; ctas <= hd_occupancy_of(limits, &with).ctas; ctas++) {
        uint32_t sections = paired ? ctas * pairs : 0;
        while (!paired && sections < ctas * warps && ctas * warps * base + (sections + 1) * extended <= file)
            sections++;
        if (sections)
            best = (hd_regmutex_sizes){base, extended, ctas, ctas * warps, sections};
    }
    return best;
}

/* Index of the candidate; `count`: none. */
static uint32_t choose_by_rule(const hd_gpu_limits *limits, const hd_occupancy_use *use, uint32_t registers,
                               const hd_regmutex_sizes *candidates, uint32_t count)
{
    hd_occupancy_use with = *use;
    uint32_t most = 0, best = count;
    with.registers = registers;
    for (uint32_t i = 0; i < count; i++)
        most = candidates[i].warps > most ? candidates[i].warps : most;
    for (uint32_t i = 0; i < count && best == count; i++)
        if (candidates[i].warps == most && 2 * candidates[i].sections > most)
            best = i;
    for (uint32_t sections = most; sections <= most && best == count; sections--)
        for (uint32_t i = 0; i < count && best == count; i++)
            if (candidates[i].warps == most && candidates[i].sections == sections)
                best = i;
    return best < count && candidates[best].ctas > hd_occupancy_of(limits, &with).ctas ? best : count;
}

static void expect_sizes(const hd_gpu_limits *limits, uint32_t threads, uint32_t registers, bool paired)
{
    hd_regmutex_sizes candidates[HD_REGMUTEX_CANDIDATES];
    hd_occupancy_use use = {.threads = threads};
    uint32_t count = hd_regmutex_candidates(limits, &use, registers, paired, candidates), known = 0;
    for (uint32_t extended = 2; extended < registers; extended += 2) {
        bool is_one = false;
        for (uint32_t percent = 10; percent <= 35; percent += 5)
            is_one |= registers * percent / 100 == extended;
        if (!is_one)
            continue;
        hd_regmutex_sizes want = sizes_by_search(limits, &use, registers - extended, extended, paired);
        if (known == count || memcmp(&want, &candidates[known], sizeof want))
            fail_msg("%u threads, %u registers, extended %u", threads, registers, extended);
        known++;
    }
    assert_int_equal(known, count);
    uint32_t best = choose_by_rule(limits, &use, registers, candidates, count);
    assert_ptr_equal(hd_regmutex_choose(limits, &use, registers, candidates, count),
                     best < count ? &candidates[best] : NULL);
}

static void sizes_follow_the_rule(void **state)
{
    static const uint32_t threads[] = {32, 64, 96, 100, 128, 224, 256, 320, 512, 768, 1024};
    static const char *const gpus[] = {"fermi-gtx480", "pascal-titan-x", "sm_90"};
    hd_diagnostics diagnostics;
    (void)state;
    hd_diagnostics_init(&diagnostics);
    for (uint32_t g = 0; g < 3; g++) {
        hd_gpu *gpu = hd_gpu_load(gpus[g], &diagnostics);
        assert_non_null(gpu);
        for (uint32_t t = 0; t < sizeof threads / sizeof *threads; t++)
            for (uint32_t registers = 1; registers <= 128; registers++)
                for (uint32_t paired = 0; paired < 2; paired++)
                    expect_sizes(&gpu->limits, threads[t], registers, paired);
        hd_gpu_free(gpu);
    }
    hd_diagnostics_free(&diagnostics);
}

/* ---- states by hand ---------------------------------------------------------------------------------------------- */

/* A kernel in physical registers: R0 .. R7 and P0. */
static void open_physical(rf_bench *b, const char *body)
{
    char text[2048];
    int length = snprintf(text, sizeof text,
                          ".version 8.0\n.target sm_80\n.address_size 32\n.global .u32 out;\n.entry k(.param .u32 "
                          "n)\n{ //@architected (8,1,0,0)\n"
                          ".reg .b32 %%R<8>;\n.reg .pred %%P<1>;\n%s}\n",
                          body);
    rf_bench_open(b, text, (size_t)length);
}

/* "a0 r5": acquire before instruction 0, release before 5; "no": refused. */
static const char *states_of(rf_bench *b, uint32_t base, uint32_t extended, hd_liveness_rule rule)
{
    static char text[256];
    hd_regmutex_marks marks;
    hd_pass_context context;
    hd_pass_context_init(&context, b->kernel, &b->diagnostics);
    context.liveness = rule;
    bool sound = hd_regmutex_annotate(&context, base, extended, &marks);
    hd_pass_context_free(&context);
    snprintf(text, sizeof text, "%s", sound ? "" : "no");
    for (uint32_t a = 0; sound && a < b->kernel->annotations.count; a++) {
        const hd_annotation *note = &b->kernel->annotations.items[a];
        if (note->kind == HD_ANNOTATION_REGMUTEX_ACQUIRE || note->kind == HD_ANNOTATION_REGMUTEX_RELEASE)
            snprintf(text + strlen(text), sizeof text - strlen(text), "%s%c%u", *text ? " " : "",
                     note->kind == HD_ANNOTATION_REGMUTEX_ACQUIRE ? 'a' : 'r', note->instruction);
    }
    return text;
}

static void expect_states(const char *body, uint32_t base, hd_liveness_rule rule, const char *expected)
{
    rf_bench b;
    open_physical(&b, body);
    assert_string_equal(states_of(&b, base, 8 - base, rule), expected);
    if (strcmp(expected, "no") != 0)
        assert_true(rf_bench_check(&b, hd_check_regmutex));
    rf_bench_close(&b);
}

/* Figure 4.3 with R3 in the extended set: it is read in s2 only, and R2, made in s2, after the sides. By the paper's
 * rule R3 is live throughout both sides, and R2, made in s2, throughout s1; by ours R3 ends in s2 with its last read,
 * but not in s1, after which s2 may run. */
#define FIGURE_4_3(extended, other)                                                               \
    "mov.u32 %R" extended ", 1;\nmov.u32 %R0, %laneid;\nsetp.ne.u32 %P0, %R0, 0;\n@%P0 bra S2;\n" \
    "mov.u32 %R1, 2;\nst.global.u32 [out], %R1;\nbra.uni J;\n"                                    \
    "S2: add.u32 %R" other ", %R" extended                                                        \
    ", 1;\nst.global.u32 [out], %R0;\nst.global.u32 [out], %R0;\nJ: st.global.u32 [out], %R" other ";\nret;\n"

static void figure_4_3(void **state)
{
    (void)state;
    expect_states(FIGURE_4_3("7", "2"), 7, HD_LIVENESS_PAPER, "a0 r10");
    expect_states(FIGURE_4_3("7", "2"), 7, HD_LIVENESS_OURS, "a0 a4 r8 r10");
    expect_states(FIGURE_4_3("2", "7"), 7, HD_LIVENESS_PAPER, "a0 r11"); /* R2 of the figure: through s1, too */
}

/* No set where the warp may wait for another one. */
static void no_set_is_held_in_waiting(void **state)
{
    static const char *const waits[] = {
        "bar.sync 0;\n",
        "@%P0 ret;\n",
        "nanosleep.u32 10;\n",
        "L: atom.global.add.u32 %R1, [out], 1;\nsetp.ne.u32 %P0, %R1, 0;\n@%P0 bra L;\n",
        "L: ld.volatile.global.u32 %R1, [out];\nsetp.ne.u32 %P0, %R1, 0;\n@%P0 bra L;\n",
        "L: ld.acquire.gpu.global.u32 %R1, [out];\nsetp.ne.u32 %P0, %R1, 0;\n@%P0 bra L;\n"};
    static const char *const others[] = {"bar.warp.sync -1;\n", "atom.global.add.u32 %R1, [out], 1;\n",
                                         "L: red.global.add.u32 [out], 1;\n@%P0 bra L;\n",
                                         "L: ld.global.u32 %R1, [out];\n@%P0 bra L;\n"};
    char body[512];
    (void)state;
    for (uint32_t i = 0; i < sizeof waits / sizeof *waits; i++) {
        snprintf(body, sizeof body,
                 "setp.ne.u32 %%P0, %%R0, 0;\nmov.u32 %%R7, 1;\n%sst.global.u32 [out], %%R7;\nret;\n", waits[i]);
        expect_states(body, 7, HD_LIVENESS_OURS, "no");
    }
    for (uint32_t i = 0; i < sizeof others / sizeof *others; i++) {
        snprintf(body, sizeof body,
                 "setp.ne.u32 %%P0, %%R0, 0;\nmov.u32 %%R7, 1;\n%sst.global.u32 [out], %%R7;\nret;\n", others[i]);
        rf_bench b;
        open_physical(&b, body);
        assert_string_not_equal(states_of(&b, 7, 1, HD_LIVENESS_OURS), "no");
        rf_bench_close(&b);
    }
}

static void remove_at(hd_function *f, uint32_t at)
{
    memmove(f->annotations.items + at, f->annotations.items + at + 1,
            (f->annotations.count - at - 1) * sizeof *f->annotations.items);
    f->annotations.count--;
}

static uint32_t find_mark(const hd_function *f, uint16_t kind, uint32_t instruction)
{
    for (uint32_t a = 0; a < f->annotations.count; a++)
        if (f->annotations.items[a].kind == kind && f->annotations.items[a].instruction == instruction)
            return a;
    return HD_NONE;
}

/* b holds; s1 releases; s2 "is held" along the edge b -> s2, and writes an extended register. */
static const char counterexample[] =
    "mov.u32 %R7, 1;\nmov.u32 %R0, %laneid;\nsetp.lt.u32 %P0, %R0, 5;\n@%P0 bra S1;\n"
    "S2: mov.u32 %R7, 5;\nst.global.u32 [out], %R7;\nbra.uni J;\n"
    "S1: st.global.u32 [out], %R7;\nst.global.u32 [out], %R0;\nJ: st.global.u32 [out], %R0;\nret;\n";

/* Lanes of s1 wait at 6 with what is in the extended set, and s2 may run meanwhile. */
static void lanes_that_wait_keep_the_set(void **state)
{
    static const char body[] =
        "mov.u32 %R0, %laneid;\nsetp.lt.u32 %P0, %R0, 5;\n@%P0 bra S2;\n"
        "mov.u32 %R7, 5;\nst.global.u32 [out], %R7;\nbar.warp.sync -1;\nst.global.u32 [out], %R7;\nbra.uni J;\n"
        "S2: st.global.u32 [out], %R0;\nbar.warp.sync -1;\nst.global.u32 [out], %R0;\nJ: st.global.u32 [out], "
        "%R0;\nret;\n";
    rf_bench b;
    (void)state;
    open_physical(&b, body);
    assert_string_equal(states_of(&b, 7, 1, HD_LIVENESS_OURS), "a3 a8 r11");
    assert_true(rf_bench_check(&b, hd_check_regmutex));
    remove_at(b.kernel, find_mark(b.kernel, HD_ANNOTATION_REGMUTEX_ACQUIRE, 8));
    remove_at(b.kernel, find_mark(b.kernel, HD_ANNOTATION_REGMUTEX_RELEASE, 11));
    hd_annotate(b.kernel, (hd_annotation){.kind = HD_ANNOTATION_REGMUTEX_RELEASE, .instruction = 7});
    hd_annotations_sort(b.kernel);
    assert_false(rf_bench_check(&b, hd_check_regmutex)); /* given back at the end of s1, as if it ran alone */
    rf_bench_close(&b);
}

static void states_follow_the_warp_not_the_edges(void **state)
{
    rf_bench b;
    rf_bench_run run = {.model = hd_rf_model_find("regmutex", 8)};
    (void)state;
    open_physical(&b, counterexample);
    assert_string_equal(states_of(&b, 7, 1, HD_LIVENESS_OURS), "a0 a4 r8 r9");
    assert_true(rf_bench_check(&b, hd_check_regmutex));
    assert_true(rf_bench_replay(&b, &run).proved);
    remove_at(b.kernel, find_mark(b.kernel, HD_ANNOTATION_REGMUTEX_ACQUIRE, 4));
    assert_false(rf_bench_check(&b, hd_check_regmutex));
    assert_false(rf_bench_replay(&b, &run).proved); /* what is taken, S1, runs first */
    rf_bench_close(&b);
}

/* ---- what the check refutes -------------------------------------------------------------------------------------- */

/* Random kernels with as small a base set as works; false: none works. */
static bool open_divided(rf_bench *b, uint64_t seed)
{
    static const char *const passes[] = {"regmutex(es=8)", "regmutex(es=6)", "regmutex(es=4)", "regmutex(es=2)"};
    rf_bench_open_random(b, 2 * seed + 1);
    for (uint32_t i = 0; i < 4; i++) {
        rf_bench_pass(b, passes[i]);
        if (hd_annotation_at(b->kernel, HD_ANNOTATION_REGMUTEX, HD_NONE, 0))
            return true;
    }
    rf_bench_close(b);
    return false;
}

/* A block starts with the base set of each warp; without an extended set it needs all registers. */
static void blocks_start_with_base_sets(void **state)
{
    rf_bench b;
    (void)state;
    uint64_t seed = 1;
    while (!open_divided(&b, seed))
        seed++;
    const uint32_t *sets =
        b.kernel->annotation_words.items + hd_annotation_at(b.kernel, HD_ANNOTATION_REGMUTEX, HD_NONE, 0)->value;
    assert_int_equal(hd_function_resident_registers(b.kernel, sets[0] + sets[1]), sets[0]);
    assert_int_equal(hd_function_resident_registers(b.kernel, 1), 1);
    hd_annotations_remove(b.kernel, "regmutex");
    assert_int_equal(hd_function_resident_registers(b.kernel, 40), 40);
    rf_bench_close(&b);
}

static bool is_mark(const hd_annotation *note)
{
    return note->kind == HD_ANNOTATION_REGMUTEX_ACQUIRE || note->kind == HD_ANNOTATION_REGMUTEX_RELEASE;
}

static bool lets_others_run(const hd_function *f, uint32_t ordinal)
{
    return hd_insn_form(f, &f->instructions.items[ordinal])->behaviour &
           (HD_BEHAVE_BARRIER | HD_BEHAVE_YIELD | HD_BEHAVE_MEET);
}

/* Every acquire is needed, and no release may come earlier, but for those of what others left held while lanes
 * waited. */
static void tamper(rf_bench *b, uint32_t *dropped, uint32_t *moved, uint32_t *shrunk)
{
    hd_function *f = b->kernel;
    hd_cfg *cfg = hd_function_cfg(f);
    for (uint32_t a = 0; a < f->annotations.count; a++) {
        hd_annotation note = f->annotations.items[a];
        if (!is_mark(&note) || !cfg->blocks[cfg->block_of[note.instruction]].reachable)
            continue;
        if (note.kind == HD_ANNOTATION_REGMUTEX_ACQUIRE) {
            f->annotations.items[a].kind = HD_ANNOTATION_X_FLAG;
            assert_false(rf_bench_check(b, hd_check_regmutex));
            ++*dropped;
        } else if (note.instruction > cfg->blocks[cfg->block_of[note.instruction]].first &&
                   !lets_others_run(f, note.instruction - 1) &&
                   !hd_annotation_at(f, HD_ANNOTATION_REGMUTEX_ACQUIRE, note.instruction - 1, 0)) {
            f->annotations.items[a].instruction--;
            assert_false(rf_bench_check(b, hd_check_regmutex));
            ++*moved;
        }
        f->annotations.items[a] = note;
    }
    uint32_t *sets = f->annotation_words.items + hd_annotation_at(f, HD_ANNOTATION_REGMUTEX, HD_NONE, 0)->value,
             base = sets[0], extended = sets[1];
    sets[0] = 1;
    sets[1] = base + extended - 1;
    *shrunk += !rf_bench_check(b, hd_check_regmutex); /* unless it is held nearly everywhere */
    sets[0] = base;
    sets[1] = 0;
    assert_false(rf_bench_check(b, hd_check_regmutex));
    sets[1] = extended;
    assert_true(rf_bench_check(b, hd_check_regmutex));
}

static void what_is_tampered_with_is_refuted(void **state)
{
    uint32_t kernels = 0, dropped = 0, moved = 0, shrunk = 0;
    (void)state;
    for (uint64_t seed = 1; seed <= 400; seed++) {
        rf_bench b;
        if (!open_divided(&b, seed))
            continue;
        kernels++;
        assert_true(rf_bench_check(&b, hd_check_regmutex));
        tamper(&b, &dropped, &moved, &shrunk);
        rf_bench_close(&b);
    }
    print_message("# %u kernels divided, %u acquires dropped, %u releases moved, %u base sets too small\n", kernels,
                  dropped, moved, shrunk);
    assert_true(kernels > 100 && dropped > 100 && moved > 50 && shrunk > kernels / 3);
}

static void marks_without_sense_are_refuted(void **state)
{
    static const char *const bodies[] = {
        "mov.u32 %R0, 1; //@regmutex_acquire; regmutex_release\nst.global.u32 [out], %R0; //@regmutex_release\nret;\n",
        "mov.u32 %R7, 1; //@regmutex_acquire\nst.global.u32 [out], %R7;\nret;\n", /* held at the exit */
        "mov.u32 %R0, 1; //@regmutex_acquire\nbar.sync 0;\nst.global.u32 [out], %R0; //@regmutex_release\nret;\n",
        "mov.u32 %R7, 1; //@regmutex_acquire\nmov.u32 %R0, 1; //@regmutex_release\nadd.u32 %R0, %R0, %R7; "
        "//@regmutex_acquire\nret; //@regmutex_release\n"};
    (void)state;
    for (uint32_t i = 0; i < sizeof bodies / sizeof *bodies; i++)
        for (uint32_t sets = 0; sets < 2; sets++) {
            rf_bench b;
            uint32_t sizes[2] = {7, 1};
            open_physical(&b, bodies[i]);
            if (sets)
                hd_annotate_list(b.kernel, (hd_annotation){.kind = HD_ANNOTATION_REGMUTEX, .instruction = HD_NONE},
                                 sizes, 2);
            hd_annotations_sort(b.kernel);
            assert_false(rf_bench_check(&b, hd_check_regmutex));
            rf_bench_close(&b);
        }
}

/* Code without a last exit ends as with one; any edge of a branch may be the one that leaves. */
static void a_set_held_at_the_end_is_refuted(void **state)
{
    static const char *const bodies[] = {
        "mov.u32 %%R7, 1; //@regmutex_acquire\nst.global.u32 [out], %%R7;\nst.global.u32 [out], %%R0;%s\n",
        "L: mov.u32 %%R7, 1; //@regmutex_acquire\nst.global.u32 [out], %%R7;\n@%%P0 bra L;%s\n",
        "mov.u32 %%R7, 1; //@regmutex_acquire\nst.global.u32 [out], %%R7;\n@%%P0 bra E;%s\nst.global.u32 [out], %%R0; "
        "//@regmutex_release\nE:\n"};
    (void)state;
    for (uint32_t i = 0; i < 2 * sizeof bodies / sizeof *bodies; i++) {
        rf_bench b;
        char body[512];
        uint32_t sizes[2] = {7, 1};
        hd_diagnostics found;
        uint64_t count = 0;
        snprintf(body, sizeof body, bodies[i / 2], i % 2 ? " //@regmutex_release" : "");
        open_physical(&b, body);
        hd_annotate_list(b.kernel, (hd_annotation){.kind = HD_ANNOTATION_REGMUTEX, .instruction = HD_NONE}, sizes, 2);
        hd_annotations_sort(b.kernel);
        hd_diagnostics_init(&found);
        if (hd_check_regmutex(b.kernel, &found, &count) != i % 2)
            fail_msg("%s", body);
        if (i % 2 == 0)
            assert_non_null(strstr(found.first->message, "at the end of the code"));
        hd_diagnostics_free(&found);
        rf_bench_close(&b);
    }
}

/* ---- kernels that stay as they are ------------------------------------------------------------------------------- */

static char *text_of(const hd_module *module, hd_emit_options options)
{
    hd_writer writer;
    hd_writer_to_memory(&writer);
    assert_true(hd_emit_ptx(&writer, module, &options));
    hd_write_char(&writer, '\0');
    char *text = strdup(writer.buffer.items);
    hd_writer_free(&writer);
    return text;
}

static void expect_untouched(rf_bench *b, const char *passes, uint32_t warnings)
{
    char *before = text_of(b->module, (hd_emit_options){0});
    bool changed = b->kernel->changed;
    rf_bench_pass(b, passes);
    char *after = text_of(b->module, (hd_emit_options){0});
    assert_string_equal(before, after);
    assert_int_equal(b->kernel->changed, changed);
    assert_int_equal(b->diagnostics.warning_count, warnings);
    free(before);
    free(after);
}

static void small_kernels_stay_as_they_are(void **state)
{
    rf_bench b;
    (void)state;
    open_physical(&b, counterexample);
    expect_untouched(&b, "regmutex", 0); /* 8 registers keep no warp out */
    expect_untouched(&b, "regmutex(paired)", 0);
    expect_untouched(&b, "regmutex(es=2)", 0); /* 6 are enough everywhere */
    rf_bench_close(&b);
    rf_bench_open_random(&b, 2);
    expect_untouched(&b, "regmutex(es=2)", 1); /* virtual: not-allocated */
    rf_bench_close(&b);
}

/* Where shared memory keeps warps out, fewer registers let none in. */
static void shared_memory_leaves_nothing_to_gain(void **state)
{
    (void)state;
    for (uint32_t shared = 0; shared < 2; shared++) {
        rf_bench b;
        hd_writer text;
        hd_writer_to_memory(&text);
        hd_write_format(
            &text,
            ".version 8.0\n.target sm_80\n.address_size 32\n.global .u32 out;\n.shared .align 4 .b8 tile[98304];\n"
            ".entry k()\n{\n.reg .b32 %%r<64>;\nst.%s.u32 [%s], 1;\n",
            shared ? "shared" : "global", shared ? "tile" : "out");
        for (uint32_t r = 0; r < 44; r++)
            hd_write_format(&text, "ld.global.u32 %%r%u, [out];\n", r);
        for (uint32_t r = 0; r < 44; r++)
            hd_write_format(&text, "st.global.u32 [out], %%r%u;\n", 43 - r);
        for (uint32_t r = 0; r < 44; r++)
            hd_write_format(&text, "ld.global.u32 %%r%u, [out];\nst.global.u32 [out], %%r%u;\n", r, r);
        hd_write_string(&text, "ret;\n}\n");
        rf_bench_open(&b, text.buffer.items, text.buffer.count);
        rf_bench_allocate(&b, 0);
        rf_bench_pass(&b, "regmutex");
        assert_int_equal(hd_annotation_at(b.kernel, HD_ANNOTATION_REGMUTEX, HD_NONE, 0) != NULL, !shared);
        rf_bench_close(&b);
        hd_writer_free(&text);
    }
}

/* ---- straight code, by hand -------------------------------------------------------------------------------------- */

enum { STRAIGHT = 24, VALUES = 24 };

/* Values that are made and read once or more, in a line; `live` says how many are live before each instruction and
 * after it. */
static void make_straight(uint64_t seed, char *text, size_t size, uint32_t *most, uint32_t instructions[STRAIGHT])
{
    uint32_t last[VALUES] = {0}, defined[VALUES], reads[STRAIGHT][2];
    for (uint32_t i = 0; i < STRAIGHT; i++) {
        for (uint32_t k = 0; k < 2; k++) {
            reads[i][k] = i ? (uint32_t)(unit_random(&seed) % i) : 0;
            last[reads[i][k]] = i;
        }
        defined[i] = i;
    }
    *most = 0;
    *text = '\0';
    for (uint32_t i = 0; i < STRAIGHT; i++) {
        uint32_t before = 0, after = 0;
        for (uint32_t v = 0; v < STRAIGHT; v++) {
            before += defined[v] < i && last[v] >= i;
            after += (defined[v] <= i && last[v] > i) || v == i; /* a result that nobody reads has a register, too */
        }
        instructions[i] = before > after ? before : after;
        *most = instructions[i] > *most ? instructions[i] : *most;
        if (i)
            snprintf(text + strlen(text), size - strlen(text), "add.u32 %%r%u, %%r%u, %%r%u;\n", i, reads[i][0],
                     reads[i][1]);
        else
            snprintf(text + strlen(text), size - strlen(text), "mov.u32 %%r0, %%laneid;\n");
    }
}

/* The set is held exactly at the instructions where more values are live than the base set has registers. */
static void straight_code_holds_no_longer_than_it_must(void **state)
{
    (void)state;
    uint32_t held = 0;
    for (uint64_t seed = 1; seed <= 300; seed++) {
        char body[2048], pass[64];
        uint32_t most, live[STRAIGHT], base, state_now = 0, i = 0;
        rf_bench b;
        make_straight(seed, body, sizeof body, &most, live);
        rf_bench_open_body(&b, body);
        rf_bench_allocate(&b, 0);
        hd_architected numbers;
        assert_true(hd_architected_of(b.kernel, &numbers));
        uint32_t extended = 1 + (uint32_t)(seed % 4);
        snprintf(pass, sizeof pass, "regmutex(es=%u)", extended);
        rf_bench_pass(&b, pass);
        const hd_annotation *sets = hd_annotation_at(b.kernel, HD_ANNOTATION_REGMUTEX, HD_NONE, 0);
        assert_true(sets || numbers.registers - extended >= most);
        base = sets ? b.kernel->annotation_words.items[sets->value] : most;
        for (uint32_t k = 0; sets && i < STRAIGHT; k++) {
            state_now = hd_annotation_at(b.kernel, HD_ANNOTATION_REGMUTEX_ACQUIRE, k, 0) ? 1 : state_now;
            state_now = hd_annotation_at(b.kernel, HD_ANNOTATION_REGMUTEX_RELEASE, k, 0) ? 0 : state_now;
            const hd_instruction *insn = &b.kernel->instructions.items[k];
            if (hd_insn_form(b.kernel, insn)->opcode == HD_OP_MOV && k)
                continue; /* into the base set */
            if (state_now != (live[i] > base))
                fail_msg("seed %llu: instruction %u is %sheld, with %u values live and %u registers:\n%s",
                         (unsigned long long)seed, i, state_now ? "" : "not ", live[i], base, body);
            held += state_now;
            i++;
        }
        rf_bench_close(&b);
    }
    assert_true(held > 300);
}

/* ---- words and spellings ----------------------------------------------------------------------------------------- */

static void words_round_trip(rf_bench *b)
{
    const hd_word_code *code = hd_word_code_find("regmutex");
    hd_word_array words = {0};
    hd_annotation_set set = {0};
    const char *refusal = NULL;
    hd_function *copy = hd_function_copy(b->kernel);
    assert_non_null(code);
    assert_true(code->encode(b->kernel, &words, &refusal));
    assert_int_equal(hd_word_opcode_of(words.items[0].bits), HD_WORD_REGMUTEX_SETS);
    assert_true(code->decode(b->kernel, words.items, words.count, &set));
    hd_annotations_remove(b->kernel, "regmutex");
    for (uint32_t i = 0; i < set.items.count; i++)
        if (set.items.items[i].count)
            hd_annotate_list(b->kernel, set.items.items[i], set.words.items + set.items.items[i].value,
                             set.items.items[i].count);
        else
            hd_annotate(b->kernel, set.items.items[i]);
    hd_annotations_sort(b->kernel);
    assert_same_annotations(copy, b->kernel);
    words.items[0].bits ^= 1ull << 40; /* a bit that no field has */
    assert_false(code->decode(b->kernel, words.items, words.count, &set));
    hd_array_free(&words);
    hd_annotation_set_free(&set);
    hd_function_copy_free(copy);
}

static void text_round_trip(const rf_bench *b, hd_emit_options options)
{
    rf_bench again;
    char *text = text_of(b->module, options);
    rf_bench_open(&again, text, strlen(text));
    assert_same_annotations(b->kernel, again.kernel);
    rf_bench_close(&again);
    free(text);
}

static void words_and_texts_say_the_same(void **state)
{
    uint32_t kernels = 0;
    (void)state;
    for (uint64_t seed = 1; seed <= 90; seed++) {
        rf_bench b;
        if (!open_divided(&b, seed))
            continue;
        kernels++;
        words_round_trip(&b);
        text_round_trip(&b, (hd_emit_options){0});
        text_round_trip(&b, (hd_emit_options){.spelling = HD_SPELLING_EXTENDED});
        rf_bench_close(&b);
    }
    assert_true(kernels > 15);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(the_example_comes_out),
        cmocka_unit_test(table_4_1_beside_our_rule),
        cmocka_unit_test(sizes_follow_the_rule),
        cmocka_unit_test(figure_4_3),
        cmocka_unit_test(no_set_is_held_in_waiting),
        cmocka_unit_test(lanes_that_wait_keep_the_set),
        cmocka_unit_test(states_follow_the_warp_not_the_edges),
        cmocka_unit_test(what_is_tampered_with_is_refuted),
        cmocka_unit_test(marks_without_sense_are_refuted),
        cmocka_unit_test(a_set_held_at_the_end_is_refuted),
        cmocka_unit_test(small_kernels_stay_as_they_are),
        cmocka_unit_test(shared_memory_leaves_nothing_to_gain),
        cmocka_unit_test(blocks_start_with_base_sets),
        cmocka_unit_test(straight_code_holds_no_longer_than_it_must),
        cmocka_unit_test(words_and_texts_say_the_same),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
