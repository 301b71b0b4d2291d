/* Release flags (RFV): the paper's figures and numbers, the counterexamples to simpler rules, what the check accepts
 * and refutes, and the metadata words. The exact meaning of the flags is tried in test_release_oracle.c, the renamed
 * file in test_release_model.c. */
#include "tests/unit/ptx_file.h"
#include "tests/unit/unit.h"

#include "ir/words/words.h"
#include "passes/analysis/warp_words.h"
#include "passes/analysis/analyses.h"
#include "tests/unit/annotated.h"
#include "tests/unit/rf_bench.h"

/* ---- helpers ----------------------------------------------------------------------------------------------------- */

static uint32_t word_of(const rf_bench *b, const char *name)
{
    hd_arena arena = {0};
    hd_storage storage = hd_storage_of(b->kernel, &arena);
    uint32_t word = HD_NONE;
    for (uint32_t r = 0; r < b->kernel->registers.count; r++) {
        char spelled[64];
        hd_register_spell(b->kernel, r, spelled, sizeof spelled);
        if (!strcmp(spelled, name))
            word = storage.first[r];
    }
    hd_arena_free(&arena);
    assert_int_not_equal(word, HD_NONE);
    return word;
}

static bool pir_releases(const rf_bench *b, const hd_annotation *note, uint32_t word)
{
    hd_arena arena = {0};
    const hd_function *f = b->kernel;
    hd_storage storage = hd_storage_of(f, &arena);
    bool found = false;
    for (uint32_t slot = 0; slot < 32; slot++) {
        if (!(note->value >> slot & 1))
            continue;
        uint32_t operand = hd_insn_source_slot(f, &f->instructions.items[note->instruction], slot);
        assert_int_not_equal(operand, HD_NONE);
        HD_STORAGE_WORDS (&storage, f->operands.items[operand].value, w)
            found |= w == word;
    }
    hd_arena_free(&arena);
    return found;
}

/* Where a word is released: "2p" after instruction 2 by its bit, "7b" before instruction 7 by a list; "-" for
 * nowhere. */
static const char *releases(const rf_bench *b, const char *name)
{
    static char text[256];
    uint32_t word = word_of(b, name);
    text[0] = '\0';
    for (uint32_t a = 0; a < b->kernel->annotations.count; a++) {
        const hd_annotation *note = &b->kernel->annotations.items[a];
        bool listed = false;
        for (uint32_t i = 0; note->kind == HD_ANNOTATION_PBR && i < note->count; i++)
            listed |= b->kernel->annotation_words.items[note->value + i] == word;
        bool flagged = note->kind == HD_ANNOTATION_PIR && pir_releases(b, note, word);
        if (listed || flagged)
            snprintf(text + strlen(text), sizeof text - strlen(text), "%s%u%c", *text ? " " : "", note->instruction,
                     listed ? 'b' : 'p');
    }
    return *text ? text : "-";
}

static void expect_releases(const char *body, const char *pass, const char *name, const char *expected)
{
    rf_bench b;
    rf_bench_open_body(&b, body);
    rf_bench_pass(&b, pass);
    assert_true(rf_bench_check(&b, hd_check_release));
    const char *got = releases(&b, name);
    if (strcmp(got, expected) != 0)
        fail_msg("%s releases %s at %s, not at %s:\n%s", pass, name, got, expected, body);
    rf_bench_close(&b);
}

#define ALL "table=1000000"

/* ---- the paper's figure ------------------------------------------------------------------------------------------ */

/* Figure 2.6: A is %r1. What is released where the sides meet (b, c) is so under both rules; c, on the side that reads
 * it: by the paper's rule it stays until they meet. */
static void figure_2_6(void **state)
{
    static const struct {
        const char *what, *body, *paper, *ours;
    } cases[] = {
        {"a: inside a block",
         "mov.u32 %r1, 1;\nst.global.u32 [out], %r1;\nst.global.u32 [out], %r1;\nmov.u32 %r2, 0;\nmov.u32 %r1, "
         "2;\nst.global.u32 [out], %r1;\n",
         "2p 5p", "2p 5p"},
        {"b: read on both sides",
         "mov.u32 %r1, %laneid;\nsetp.ne.u32 %p1, %r1, 0;\n@%p1 bra S;\nst.global.u32 [out], %r1;\nbra J;\nS: "
         "st.global.u32 [out], %r1;\nbar.warp.sync -1;\nJ:\n",
         "7b", "7b"},
        {"c: read on one side",
         "mov.u32 %r1, %laneid;\nsetp.ne.u32 %p1, %r1, 0;\n@%p1 bra S;\nbar.warp.sync -1;\nbra J;\nS: st.global.u32 "
         "[out], %r1;\nbar.warp.sync -1;\nJ:\n",
         "7b", "5p 7b"},
        {"d: carried around a loop",
         "mov.u32 %r1, 0;\nmov.u32 %r2, %laneid;\nL: add.u32 %r2, %r2, %r1;\nbar.warp.sync -1;\nadd.u32 %r1, %r1, "
         "1;\nsetp.lt.u32 %p1, %r2, 9;\n@%p1 bra L;\n",
         "7b", "7b"},
        {"e: written and read in each iteration",
         "mov.u32 %r2, %laneid;\nL: mov.u32 %r1, 1;\nadd.u32 %r2, %r2, %r1;\nsetp.lt.u32 %p1, %r2, 9;\n@%p1 bra L;\n",
         "2p", "2p"},
    };
    (void)state;
    for (uint32_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        expect_releases(cases[i].body, "release(" ALL ",liveness=paper)", "%r1", cases[i].paper);
        expect_releases(cases[i].body, "release(" ALL ")", "%r1", cases[i].ours);
    }
}

/* RegMutex's figure 4.3 as RFV sees it: R3 is read on side s2 only. */
static void r3_goes_right_after_its_last_read(void **state)
{
    static const char body[] =
        "mov.u32 %r3, 1;\nmov.u32 %r0, %laneid;\nsetp.ne.u32 %p1, %r0, 0;\n@%p1 bra S2;\nmov.u32 %r1, "
        "2;\nst.global.u32 [out], %r1;\n"
        "bra.uni J;\nS2: add.u32 %r2, %r3, 1;\nbar.warp.sync -1;\nJ: st.global.u32 [out], %r2;\n";
    (void)state;
    expect_releases(body, "release(" ALL ",liveness=paper)", "%r3", "9b");
    expect_releases(body, "release(" ALL ")", "%r3", "7p 9b"); /* s1 alone may run: then it ends where the sides meet */
    expect_releases(body, "release(" ALL ")", "%r1", "5p");
    expect_releases(body, "release(" ALL ")", "%r2", "9p");
}

/* ---- positions of flags ------------------------------------------------------------------------------------------ */

/* What has no bit of its own goes in a list after the instruction. */
static void ends_without_a_bit(void **state)
{
    (void)state;
    /* the fourth and fifth source */
    static const char vector[] = "ld.param.u32 %r1, [n];\nmov.u32 %r2, 2;\nmov.u32 %r3, 3;\nmov.u32 %r4, "
                                 "4;\nst.global.v4.u32 [out], {%r1, %r2, %r3, %r4};\nbar.warp.sync -1;\n";
    expect_releases(vector, "release(" ALL ")", "%r3", "4p");
    expect_releases(vector, "release(" ALL ")", "%r4", "5b");
    /* a result that nothing reads, also of the last instruction of a block */
    expect_releases("mov.u32 %r1, %tid.x;\nbar.warp.sync -1;\n", "release(" ALL ")", "%r1", "1b");
    expect_releases("mov.u32 %r1, %tid.x;\nL: bar.warp.sync -1;\nsetp.lt.u32 %p1, %r2, 3;\n@%p1 bra L;\n",
                    "release(" ALL ")", "%r1", "1b");
    /* written and read by the same instruction: the new value goes */
    expect_releases("ld.param.u32 %r1, [n];\nadd.u32 %r1, %r1, 1;\nbar.warp.sync -1;\n", "release(" ALL ")", "%r1",
                    "2b");
    /* twice a source: one bit */
    expect_releases("ld.param.u32 %r1, [n];\nadd.u32 %r2, %r1, %r1;\nst.global.u32 [out], %r2;\n", "release(" ALL ")",
                    "%r1", "1p");
    /* where control flow may go elsewhere */
    expect_releases("ld.param.u32 %r1, [n];\nsetp.lt.u32 %p1, %r2, 3;\n@%p1 bra J;\nst.global.u32 [out], %r1;\nJ:\n",
                    "release(" ALL ")", "%r1", "3p 4b");
}

/* Half of a pair lives on: no bit, a list. In allocated code a pair's words have names of their own. */
static void half_of_a_pair(void **state)
{
    rf_bench b;
    (void)state;
    rf_bench_open_file(&b, "release-half_of_a_pair");
    rf_bench_pass(&b, "release(" ALL ")");
    assert_true(rf_bench_check(&b, hd_check_release));
    assert_string_equal(releases(&b, "%R2"), "4b");
    assert_string_equal(releases(&b, "%R3"), "5p");
    hd_annotate(b.kernel, (hd_annotation){.kind = HD_ANNOTATION_PIR, .instruction = 3, .value = 1});
    hd_annotations_sort(b.kernel);
    assert_false(rf_bench_check(&b, hd_check_release)); /* R3 is read later */
    rf_bench_close(&b);
}

/* ---- which registers are renamed --------------------------------------------------------------------------------- */

/* `words` registers; the last two live throughout, the others are written and read at once, the first of them `often`
 * times. */
static void open_lives(rf_bench *b, uint32_t words, uint32_t often)
{
    hd_writer body;
    hd_writer_to_memory(&body);
    hd_write_format(&body, "ld.param.u32 %%r%u, [n];\nld.param.u32 %%r%u, [n];\n", words - 2, words - 1);
    for (uint32_t r = 0; r + 2 < words; r++)
        for (uint32_t i = 0; i < (r ? 1 : often); i++)
            hd_write_format(&body, "mov.u32 %%r%u, 1;\nbar.warp.sync -1;\nst.global.u32 [out], %%r%u;\n", r, r);
    hd_write_format(&body, "st.global.u32 [out], %%r%u;\nst.global.u32 [out], %%r%u;\n", words - 2, words - 1);
    hd_write_char(&body, '\0');
    rf_bench_open_body(b, body.buffer.items);
    hd_writer_free(&body);
}

static bool is_renamed(const rf_bench *b, const char *name)
{
    const hd_annotation *note = hd_annotation_at(b->kernel, HD_ANNOTATION_RELEASE_RENAMED, HD_NONE, 0);
    for (uint32_t i = 0; note && i < note->count; i++)
        if (b->kernel->annotation_words.items[note->value + i] == word_of(b, name))
            return true;
    return false;
}

static uint32_t renamed_of(const rf_bench *b)
{
    const hd_annotation *note = hd_annotation_at(b->kernel, HD_ANNOTATION_RELEASE_RENAMED, HD_NONE, 0);
    return note ? note->count : 0;
}

static uint32_t renamed_with(uint32_t words, const char *pass)
{
    rf_bench b;
    open_lives(&b, words, 1);
    rf_bench_pass(&b, pass);
    assert_true(rf_bench_check(&b, hd_check_release));
    uint32_t renamed = renamed_of(&b);
    rf_bench_close(&b);
    return renamed;
}

/* 1 KB are 819 entries of 10 bits. MUM: 8 warps a CTA, 6 CTAs; HeartWall: 16 and 2. */
static void the_papers_tables(void **state)
{
    (void)state;
    assert_int_equal(renamed_with(19, "release(bits=10,threads=256,ctas=6)"), 17);
    assert_int_equal(renamed_with(29, "release(bits=10,threads=512,ctas=2)"), 25);
    /* HotSpot needs no more than it has */
    assert_int_equal(renamed_with(19, "release(bits=10,threads=256,ctas=3)"), 19);
    assert_int_equal(renamed_with(19, "release(table=4096,bits=10,threads=256,ctas=6)"), 19);
    assert_int_equal(renamed_with(19, "release(table=512,bits=10,threads=256,ctas=6)"), 8);
    assert_int_equal(renamed_with(19, "release(table=0)"), 0);
}

/* Without options: 256 threads, the GPU of the target (sm_80: 64 warps, 2,048 registers of 11 bits), nothing else that
 * limits. */
static void the_machines_table(void **state)
{
    rf_bench b;
    (void)state;
    assert_int_equal(renamed_with(19, "release"), 8192 / (11 * 64));
    assert_int_equal(renamed_with(19, "release(threads=1024)"), 8192 / (11 * 64));
    assert_int_equal(renamed_with(19, "release(ctas=5)"), 8192 / (11 * 8 * 5));
    open_lives(&b, 19, 1);
    b.kernel->required_threads[0] = 640; /* 20 warps, of which 3 CTAs fit */
    b.kernel->required_threads[1] = b.kernel->required_threads[2] = 1;
    rf_bench_pass(&b, "release");
    assert_int_equal(renamed_of(&b), 8192 / (11 * 60));
    rf_bench_close(&b);
}

/* Static shared memory and allocated registers keep CTAs out, and leave more of the table to those that are in. */
static void occupancy_divides_the_table(void **state)
{
    static const char shared[] = ".version 8.0\n.target sm_80\n.address_size 32\n.global .u32 out;\n.shared .align 4 "
                                 ".b8 tile[24576];\n.shared .align 4 .b8 other[65536];\n"
                                 ".entry k(.param .u32 n)\n{\n.reg .b32 %r<32>;\n";
    rf_bench b;
    hd_writer text;
    (void)state;
    hd_writer_to_memory(&text);
    hd_write_string(&text, shared);
    for (uint32_t r = 0; r < 30; r++)
        hd_write_format(&text, "mov.u32 %%r%u, 1;\nst.shared.u32 [tile], %%r%u;\n", r, r);
    hd_write_string(&text, "ret;\n}\n");
    rf_bench_open(&b, text.buffer.items, text.buffer.count);
    rf_bench_pass(&b, "release");
    assert_int_equal(renamed_of(&b), 8192 / (11 * 8 * 6)); /* 6 CTAs of 24 KB and 1 KB each in 164 KB */
    rf_bench_close(&b);
    hd_writer_free(&text);
    open_lives(&b, 19, 1);
    hd_architected_set(b.kernel, &(hd_architected){.registers = 128});
    rf_bench_pass(&b, "release");
    assert_int_equal(renamed_of(&b), 19); /* 2 CTAs with 128 registers a thread: room for 46 */
    rf_bench_close(&b);
}

static void short_lives_come_first(void **state)
{
    rf_bench b;
    (void)state;
    open_lives(&b, 19, 1); /* of equal ones the lowest */
    rf_bench_pass(&b, "release(bits=10,threads=256,ctas=6)");
    assert_false(is_renamed(&b, "%r17") || is_renamed(&b, "%r18"));
    assert_true(is_renamed(&b, "%r0") && is_renamed(&b, "%r16"));
    assert_string_equal(releases(&b, "%r17"), "-"); /* never */
    assert_string_equal(releases(&b, "%r16"), "52p");
    rf_bench_close(&b);
    open_lives(&b, 19, 3);                                              /* %r0 has more values of the same life */
    rf_bench_pass(&b, "release(bits=10,threads=256,ctas=6,table=961)"); /* 16 */
    assert_int_equal(renamed_of(&b), 16);
    assert_false(is_renamed(&b, "%r0"));
    assert_true(is_renamed(&b, "%r1") && is_renamed(&b, "%r16"));
    rf_bench_close(&b);
}

/* A register that is counted up has a value after each step, and each of them a short life. */
static void each_step_is_a_life(void **state)
{
    rf_bench b;
    (void)state;
    rf_bench_open_body(
        &b, "mov.u32 %r0, 1;\nadd.u32 %r0, %r0, 1;\nadd.u32 %r0, %r0, 1;\nadd.u32 %r0, %r0, 1;\nadd.u32 %r0, %r0, 1;\n"
            "st.global.u32 [out], %r0;\nmov.u32 %r1, 1;\nst.global.u32 [out], 2;\nst.global.u32 [out], %r1;\n");
    rf_bench_pass(&b, "release(bits=8,threads=32,ctas=1,table=1)"); /* room for one */
    assert_int_equal(renamed_of(&b), 1);
    assert_true(is_renamed(&b, "%r0"));
    rf_bench_close(&b);
}

/* Registers of the module are read by every call. */
static void registers_of_the_module_stay(void **state)
{
    const char *text = ptx_file("release-registers_of_the_module_stay");
    rf_bench b;
    (void)state;
    rf_bench_open(&b, text, strlen(text));
    rf_bench_pass(&b, "release(" ALL ")");
    assert_true(is_renamed(&b, "%r1") && !is_renamed(&b, "%shared"));
    uint32_t both[] = {0, 1};
    hd_annotate_list(b.kernel, (hd_annotation){.kind = HD_ANNOTATION_RELEASE_RENAMED, .instruction = HD_NONE}, both, 2);
    hd_annotations_sort(b.kernel);
    assert_false(rf_bench_check(&b, hd_check_release));
    rf_bench_close(&b);
}

/* ---- counterexamples --------------------------------------------------------------------------------------------- */

static const hd_rf_model_info *release_model(void) { return hd_rf_model_find("release", 7); }

/* Whichever side of a branch runs first. */
static bool replays(rf_bench *b)
{
    for (uint64_t order = 0; order < 8; order++)
        if (!rf_bench_replay(b, &(rf_bench_run){.model = release_model(), .order = order}).proved)
            return false;
    return true;
}

/* A flag that a simpler rule would set: check and proof refute it. Without it, both agree. */
static void expect_refuted(const char *body, hd_annotation wrong, const char *name)
{
    rf_bench b;
    rf_bench_open_body(&b, body);
    rf_bench_pass(&b, "release(" ALL ")");
    assert_true(rf_bench_check(&b, hd_check_release));
    assert_true(replays(&b));
    uint32_t word = name ? word_of(&b, name) : 0;
    if (wrong.kind == HD_ANNOTATION_PBR)
        hd_annotate_list(b.kernel, wrong, &word, 1);
    else
        hd_annotate(b.kernel, wrong);
    hd_annotations_sort(b.kernel);
    if (rf_bench_check(&b, hd_check_release))
        fail_msg("the check accepts it:\n%s", body);
    if (replays(&b))
        fail_msg("the replay proves it:\n%s", body);
    rf_bench_close(&b);
}

static hd_annotation pir_at(uint32_t instruction, uint32_t bits)
{
    return (hd_annotation){.kind = HD_ANNOTATION_PIR, .instruction = instruction, .value = bits};
}

static hd_annotation pbr_at(uint32_t instruction)
{
    return (hd_annotation){.kind = HD_ANNOTATION_PBR, .instruction = instruction};
}

static void simpler_rules_are_refuted(void **state)
{
    (void)state;
    /* "it is overwritten anyway": the next access writes it, but only in some lanes */
    expect_refuted("mov.u32 %r1, %laneid;\nmov.u32 %r2, 7;\nst.global.u32 [out], %r1;\nsetp.lt.u32 %p1, %r1, 9;\n@%p1 "
                   "mov.u32 %r1, 3;\nst.global.u32 [out], %r1;\n",
                   pir_at(2, 1), NULL);
    /* ... by the instruction itself: what it has written would be lost */
    expect_refuted("mov.u32 %r1, %laneid;\nadd.u32 %r1, %r1, 1;\nst.global.u32 [out], %r1;\n", pir_at(1, 1), NULL);
    /* ... "unless guarded": lanes of the other side have the old value */
    expect_refuted("mov.u32 %r1, %laneid;\nsetp.lt.u32 %p1, %r1, 9;\n@%p1 bra S;\nadd.u32 %r2, %r1, 1;\nmov.u32 %r1, "
                   "1;\nbra J;\nS: bar.warp.sync -1;\nJ: st.global.u32 [out], %r1;\n",
                   pir_at(3, 1), NULL);
    /* thread-level liveness: the last read of this side, but not of the warp */
    expect_refuted("mov.u32 %r1, %laneid;\nsetp.lt.u32 %p1, %r1, 9;\n@%p1 bra S;\nst.global.u32 [out], %r1;\nbra "
                   "J;\nS: st.global.u32 [out], %r1;\nbar.warp.sync -1;\nJ:\n",
                   pir_at(3, 1), NULL);
    expect_refuted("mov.u32 %r1, %laneid;\nsetp.lt.u32 %p1, %r1, 9;\n@%p1 bra S;\nst.global.u32 [out], %r1;\nbra "
                   "J;\nS: st.global.u32 [out], %r1;\nbar.warp.sync -1;\nJ:\n",
                   pir_at(5, 1), NULL);
    /* edges of the control flow: dead into this side, read after the join */
    expect_refuted("mov.u32 %r1, %laneid;\nsetp.lt.u32 %p1, %r1, 9;\n@%p1 bra S;\nmov.u32 %r1, 1;\nbra J;\nS: "
                   "bar.warp.sync -1;\nJ: st.global.u32 [out], %r1;\n",
                   pbr_at(3), "%r1");
}

/* Sides that run interleaved: S1 leaves early or goes on to its read; S2 may begin meanwhile. */
static void its_keeps_what_another_side_may_hold(void **state)
{
    static const char body[] = "mov.u32 %r0, %laneid;\nsetp.lt.u32 %p1, %r0, 9;\nsetp.lt.u32 %p2, %r0, 20;\n@%p1 bra "
                               "S2;\nmov.u32 %r1, 2;\n@%p2 bra J;\nst.global.u32 [out], %r1;\n"
                               "bra J;\nS2: bar.warp.sync -1;\nbar.warp.sync -1;\nJ:\n";
    (void)state;
    expect_releases(body, "release(" ALL ")", "%r1", "6p 8b 10b");
    /* 4: in case S2 has run, and of its own value */
    expect_releases(body, "release(" ALL ",liveness=its)", "%r1", "4b 6p");
}

/* ---- tampering --------------------------------------------------------------------------------------------------- */

typedef struct truth { /* at warp level, by words */
    hd_pass_context context;
    const hd_warp_words *words;
    hd_live_walk walk;
} truth;

static void open_truth(truth *t, rf_bench *b)
{
    hd_pass_context_init(&t->context, b->kernel, &b->diagnostics);
    t->words = hd_warp_words_build(&t->context, &t->context.scratch);
    hd_warp_words_walk(&t->walk, &t->context.scratch, t->words);
}

static void walk_before(truth *t, const hd_cfg *cfg, uint32_t ordinal)
{
    hd_live_start(&t->walk, cfg->block_of[ordinal]);
    while (t->walk.ordinal > ordinal)
        hd_live_step(&t->walk);
}

/* The check's answer to one more flag. */
static bool accepts(rf_bench *b, hd_annotation flag, uint32_t word)
{
    hd_function *f = b->kernel;
    uint32_t count = f->annotations.count, words = f->annotation_words.count;
    hd_annotation *kept = malloc((count + 1) * sizeof *kept);
    memcpy(kept, f->annotations.items, count * sizeof *kept);
    if (flag.kind == HD_ANNOTATION_PBR)
        hd_annotate_list(f, flag, &word, 1);
    else
        hd_annotate(f, flag);
    hd_annotations_sort(f);
    bool good = rf_bench_check(b, hd_check_release);
    memcpy(f->annotations.items, kept, count * sizeof *kept);
    f->annotations.count = count;
    f->annotation_words.count = words;
    free(kept);
    return good;
}

static void rename_all(rf_bench *b, uint32_t words)
{
    uint32_t *all = calloc(words + 1, sizeof *all);
    for (uint32_t w = 0; w < words; w++)
        all[w] = w;
    hd_annotations_remove(b->kernel, "release");
    hd_annotate_list(b->kernel, (hd_annotation){.kind = HD_ANNOTATION_RELEASE_RENAMED, .instruction = HD_NONE}, all,
                     words);
    hd_annotations_sort(b->kernel);
    free(all);
}

/* Every list of one word before every instruction: accepted where the word is not live for the warp, and nowhere
 * else. */
static void try_lists(rf_bench *b, truth *t, uint32_t *accepted, uint32_t *refuted)
{
    const hd_cfg *cfg = hd_function_cfg(b->kernel);
    for (uint32_t i = 0; i < b->kernel->instructions.count; i++) {
        if (!cfg->blocks[cfg->block_of[i]].reachable || hd_storage_skips(&t->words->storage, i))
            continue;
        walk_before(t, cfg, i);
        for (uint32_t w = 0; w < t->words->storage.words; w++) {
            bool good = accepts(b, pbr_at(i), w);
            if (good == hd_live_has(&t->walk, w))
                fail_msg("instruction %u, word %u of %u: %s", i, w, t->words->storage.words,
                         good ? "accepted" : "refuted");
            *(good ? accepted : refuted) += 1;
        }
    }
}

static bool may_flag(const rf_bench *b, truth *t, uint32_t i, uint32_t slot)
{
    const hd_instruction *insn = &b->kernel->instructions.items[i];
    uint32_t operand = hd_insn_source_slot(b->kernel, insn, slot);
    if (operand == HD_NONE)
        return false;
    HD_STORAGE_WORDS (&t->words->storage, b->kernel->operands.items[operand].value, word) {
        if (hd_live_has(&t->walk, word))
            return false;
        HD_INSN_REGISTERS (b->kernel, insn, o)
            HD_STORAGE_WORDS (&t->words->storage, o->value, w)
                if (w == word && o->flags & HD_OPERAND_DEF)
                    return false;
    }
    return true;
}

static void try_bits(rf_bench *b, truth *t, uint32_t *accepted, uint32_t *refuted)
{
    const hd_cfg *cfg = hd_function_cfg(b->kernel);
    for (uint32_t i = 0; i < b->kernel->instructions.count; i++) {
        if (!cfg->blocks[cfg->block_of[i]].reachable || hd_storage_skips(&t->words->storage, i))
            continue;
        hd_live_start(&t->walk, cfg->block_of[i]);
        while (t->walk.ordinal > i + 1)
            hd_live_step(&t->walk);
        for (uint32_t slot = 0; slot < 5; slot++) {
            bool good = accepts(b, pir_at(i, 1u << slot), 0), may = slot < 3 && may_flag(b, t, i, slot);
            if (good != may)
                fail_msg("instruction %u, source %u: %s", i, slot, good ? "accepted" : "refuted");
            *(good ? accepted : refuted) += 1;
        }
    }
}

static void the_check_is_exact(void **state)
{
    uint32_t accepted = 0, refuted = 0;
    (void)state;
    for (uint64_t seed = 0; seed < 80; seed++) {
        rf_bench b;
        truth t;
        rf_bench_open_random(&b, seed);
        open_truth(&t, &b);
        rename_all(&b, t.words->storage.words);
        try_lists(&b, &t, &accepted, &refuted);
        try_bits(&b, &t, &accepted, &refuted);
        hd_pass_context_free(&t.context);
        rf_bench_close(&b);
    }
    assert_true(accepted > 5000 && refuted > 5000);
}

/* Flags at wrong positions, or without a meaning. */
static void malformed_flags_are_refuted(void **state)
{
    static const char body[] = "ld.param.u32 %r1, [n];\nadd.u32 %r2, %r1, 1;\nst.global.u32 [out], %r2;\n";
    rf_bench b;
    (void)state;
    rf_bench_open_body(&b, body);
    rename_all(&b, 2);
    assert_true(rf_bench_check(&b, hd_check_release));
    assert_true(accepts(&b, pir_at(2, 1), 0));
    assert_false(accepts(&b, pir_at(2, 0), 0));
    assert_false(accepts(&b, pir_at(2, 2), 0));    /* of no source */
    assert_false(accepts(&b, pir_at(2, 9), 0));    /* a fourth one has none */
    assert_false(accepts(&b, pbr_at(3), 1000000)); /* of no register */
    uint32_t twice[] = {0, 0}, too_many[] = {0, 100000};
    hd_annotate_list(b.kernel, (hd_annotation){.kind = HD_ANNOTATION_RELEASE_RENAMED, .instruction = HD_NONE}, twice,
                     2);
    hd_annotations_sort(b.kernel);
    assert_false(rf_bench_check(&b, hd_check_release));
    hd_annotate_list(b.kernel, (hd_annotation){.kind = HD_ANNOTATION_RELEASE_RENAMED, .instruction = HD_NONE}, too_many,
                     2);
    hd_annotations_sort(b.kernel);
    assert_false(rf_bench_check(&b, hd_check_release));
    hd_annotations_remove(b.kernel, "release");
    hd_annotate(b.kernel, pir_at(2, 1));
    assert_false(rf_bench_check(&b, hd_check_release)); /* no list of renamed registers */
    rename_all(&b, 1);
    assert_false(accepts(&b, pir_at(2, 1), 0)); /* %r2 is not renamed */
    rf_bench_close(&b);
}

/* ---- metadata words ---------------------------------------------------------------------------------------------- */

static void expect_round_trip(rf_bench *b)
{
    hd_word_array words = {0};
    hd_annotation_set set = {0};
    const char *refusal = NULL;
    const hd_word_code *code = hd_word_code_find("release");
    hd_function *f = b->kernel;
    assert_true(code->encode(f, &words, &refusal));
    assert_true(code->decode(f, words.items, words.count, &set));
    hd_annotation_set_sort(&set);
    uint32_t k = 0;
    for (uint32_t a = 0; a < f->annotations.count; a++) {
        const hd_annotation *note = &f->annotations.items[a];
        if (note->kind != HD_ANNOTATION_PIR && note->kind != HD_ANNOTATION_PBR &&
            note->kind != HD_ANNOTATION_RELEASE_RENAMED)
            continue;
        assert_true(k < set.items.count);
        const hd_annotation *got = &set.items.items[k++];
        assert_true(got->kind == note->kind && got->instruction == note->instruction && got->count == note->count);
        if (note->kind == HD_ANNOTATION_PIR)
            assert_int_equal(got->value, note->value);
        else
            assert_memory_equal(set.words.items + got->value, f->annotation_words.items + note->value,
                                note->count * sizeof(uint32_t));
    }
    assert_int_equal(k, set.items.count);
    hd_annotation_set_free(&set);
    hd_array_free(&words);
}

static void words_round_trip(void **state)
{
    (void)state;
    for (uint64_t seed = 0; seed < 400; seed++) {
        rf_bench b;
        rf_bench_open_random(&b, seed);
        rf_bench_pass(&b, seed % 5 ? "release(" ALL ")" : "release");
        expect_round_trip(&b);
        rf_bench_close(&b);
    }
}

/* Figure 2.7: fields from bit 4 on, the first instruction's and the first register's lowest; the opcode in bits 0..3
 * and 58..63. */
static void words_look_as_in_the_figure(void **state)
{
    rf_bench b;
    hd_word_array words = {0};
    const char *refusal = NULL;
    hd_writer body;
    (void)state;
    hd_writer_to_memory(&body);
    /* pir 010 at the third: %r5 is read again */
    hd_write_string(&body, "mov.u32 %r0, 1;\nmov.u32 %r5, 1;\nadd.u32 %r4, %r5, %r0;\n");
    for (uint32_t i = 0; i < 16; i++)
        hd_write_string(&body, "st.global.u32 [out], %r4;\n");
    hd_write_string(&body, "st.global.u32 [out], %r5;\nsetp.lt.u32 %p1, %r4, 4;\n@%p1 bra J;\nbar.warp.sync -1;\nJ:\n");
    hd_write_char(&body, '\0');
    rf_bench_open_body(&b, body.buffer.items);
    hd_writer_free(&body);
    rf_bench_pass(&b, "release(" ALL ")");
    assert_true(hd_words_of_release(b.kernel, &words, &refusal));
    assert_int_equal(words.count, 5); /* renamed; instructions 0..17, 18..21, 22, 23 */
    assert_int_equal(words.items[0].instruction, HD_NONE);
    assert_true(words.items[0].bits == hd_word_make(HD_WORD_RELEASE_RENAMED, 7));
    assert_int_equal(words.items[1].instruction, 0);
    assert_true(words.items[1].bits == (2ull << (4 + 2 * 3) | (HD_WORD_PIR & 15) | (uint64_t)HD_WORD_PIR >> 4 << 58));
    assert_int_equal(words.items[2].instruction, 18);
    assert_true(words.items[2].bits == hd_word_make(HD_WORD_PIR, 1ull << (1 * 3) | 1ull << (2 * 3)));
    assert_int_equal(words.items[4].instruction, 23);
    hd_word_size size;
    assert_true(hd_words_size(b.kernel, "release", &size));
    assert_int_equal(size.words, 5);
    assert_int_equal(size.bits, 0);
    hd_array_free(&words);
    rf_bench_close(&b);
}

/* Lists of nine registers a word, of six above 63, none above 255. */
static void long_and_wide_lists(void **state)
{
    static const struct {
        uint32_t first, count, words;
    } cases[] = {{0, 9, 1}, {0, 10, 2}, {55, 9, 1}, {56, 9, 2}, {56, 6, 1}, {250, 6, 1}, {251, 6, 0}};
    (void)state;
    for (uint32_t c = 0; c < sizeof cases / sizeof *cases; c++) {
        rf_bench b;
        uint32_t list[16];
        hd_word_array words = {0};
        const char *refusal = NULL;
        rf_bench_open_body(&b, "bar.warp.sync -1;\n");
        for (uint32_t i = 0; i < cases[c].count; i++)
            list[i] = cases[c].first + i;
        hd_annotate_list(b.kernel, (hd_annotation){.kind = HD_ANNOTATION_RELEASE_RENAMED, .instruction = HD_NONE}, list,
                         cases[c].count);
        hd_annotate_list(b.kernel, pbr_at(1), list, cases[c].count);
        hd_annotations_sort(b.kernel);
        assert_int_equal(hd_words_of_release(b.kernel, &words, &refusal), cases[c].words != 0);
        assert_int_equal(refusal == NULL, cases[c].words != 0);
        uint32_t lists = 0;
        for (uint32_t i = 0; i < words.count; i++)
            lists += hd_word_opcode_of(words.items[i].bits) == HD_WORD_PBR ||
                     hd_word_opcode_of(words.items[i].bits) == HD_WORD_PBR_WIDE;
        if (cases[c].words) {
            assert_int_equal(lists, cases[c].words);
            expect_round_trip(&b);
        }
        hd_array_free(&words);
        rf_bench_close(&b);
    }
}

static void other_words_are_refused(void **state)
{
    rf_bench b;
    hd_annotation_set set = {0};
    (void)state;
    rf_bench_open_body(&b, "bar.warp.sync -1;\n");
    hd_word good[] = {{HD_NONE, hd_word_make(HD_WORD_RELEASE_RENAMED, 1)}, {0, hd_word_make(HD_WORD_PIR, 0)}};
    assert_true(hd_words_to_release(b.kernel, good, 2, &set));
    good[1].bits = hd_word_make(HD_WORD_PIR, 1ull << 6); /* a third instruction, of two */
    assert_false(hd_words_to_release(b.kernel, good, 2, &set));
    good[1].bits = hd_word_make(HD_WORD_REGMUTEX_ACQUIRE, 0);
    assert_false(hd_words_to_release(b.kernel, good, 2, &set));
    assert_false(hd_words_to_release(b.kernel, good, 1, &set));
    hd_annotation_set_free(&set);
    rf_bench_close(&b);
}

/* Text to IR to text, in both spellings. */
static void spellings_round_trip(void **state)
{
    (void)state;
    for (uint32_t extended = 0; extended < 2; extended++) {
        rf_bench b;
        hd_writer text;
        hd_emit_options options = {.spelling = extended ? HD_SPELLING_EXTENDED : HD_SPELLING_PORTABLE};
        rf_bench_open_random(&b, 41);
        rf_bench_pass(&b, "release(" ALL ")");
        hd_writer_to_memory(&text);
        assert_true(hd_emit_ptx(&text, b.module, &options));
        hd_write_char(&text, '\0');
        annotated *again = read_good(text.buffer.items);
        assert_same_annotations(b.kernel, again->f);
        char *twice = written(again, options);
        assert_string_equal(twice, text.buffer.items);
        free(twice);
        annotated_free(again);
        hd_writer_free(&text);
        rf_bench_close(&b);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(figure_2_6),
        cmocka_unit_test(r3_goes_right_after_its_last_read),
        cmocka_unit_test(ends_without_a_bit),
        cmocka_unit_test(half_of_a_pair),
        cmocka_unit_test(the_papers_tables),
        cmocka_unit_test(the_machines_table),
        cmocka_unit_test(occupancy_divides_the_table),
        cmocka_unit_test(short_lives_come_first),
        cmocka_unit_test(each_step_is_a_life),
        cmocka_unit_test(registers_of_the_module_stay),
        cmocka_unit_test(simpler_rules_are_refuted),
        cmocka_unit_test(its_keeps_what_another_side_may_hold),
        cmocka_unit_test(the_check_is_exact),
        cmocka_unit_test(malformed_flags_are_refuted),
        cmocka_unit_test(words_round_trip),
        cmocka_unit_test(words_look_as_in_the_figure),
        cmocka_unit_test(long_and_wide_lists),
        cmocka_unit_test(other_words_are_refused),
        cmocka_unit_test(spellings_round_trip),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
