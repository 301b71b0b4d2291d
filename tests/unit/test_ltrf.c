/* Register-intervals of LTRF: pass, check and words, on the paper's figure, traps, and random kernels; the number of
 * intervals against the least. */
#include "tests/unit/unit.h"

#include "emitters/ir/ptx.h"
#include "ir/words/words.h"
#include "passes/analysis/liveness.h"
#include "passes/analysis/analyses.h"
#include "tests/unit/order_mask.h"
#include "tests/unit/rf_bench.h"

/* ---- helpers ----------------------------------------------------------------------------------------------------- */

/* Register n is word n. %P0 is divergent, %P1 is not. */
#define HEAD ".version 8.0\n.target sm_80\n.address_size 32\n.global .u32 out;\n.extern .func g();\n"
#define BODY_HEAD \
    ".entry k(.param .u32 n)\n{ //@architected (32,4,0,0)\n.reg .b32 %R<32>;\n.reg .b64 %RD<32>;\n.reg .pred %P<4>;\n"
#define SPLIT "mov.u32 %R0, %laneid;\nsetp.lt.u32 %P0, %R0, 9;\n" /* instructions 0 and 1 */

static void open_body(rf_bench *b, const char *body)
{
    char text[8192];
    int length = snprintf(text, sizeof text, "%s%sret;\n}\n", HEAD BODY_HEAD, body);
    rf_bench_open(b, text, (size_t)length);
}

static uint64_t statistic(const hd_pass_context *context, const char *name)
{
    for (uint32_t i = 0; i < context->statistics.count; i++)
        if (!strcmp(context->statistics.items[i].name, name))
            return context->statistics.items[i].value;
    fail_msg("no statistic %s", name);
    return 0;
}

/* Runs the pass; the number of intervals. *by_control_flow may be NULL. */
static uint32_t divide(rf_bench *b, uint32_t n, bool dead, uint32_t *by_control_flow)
{
    char number[16];
    snprintf(number, sizeof number, "%u", n);
    const hd_option options[] = {{"n", number}, {"dead", ""}};
    hd_pass_context context;
    hd_pass_context_init(&context, b->kernel, &b->diagnostics);
    context.options = options;
    context.option_count = dead ? 2 : 1;
    assert_true(hd_pass_ltrf(&context));
    assert_int_equal(b->diagnostics.error_count, 0);
    assert_true(hd_ir_validate_function(b->kernel, &b->diagnostics));
    uint32_t count = 0;
    for (uint32_t a = 0; a < b->kernel->annotations.count; a++)
        count += b->kernel->annotations.items[a].kind == HD_ANNOTATION_LTRF_PREFETCH;
    assert_int_equal(statistic(&context, "register-intervals"), count);
    if (by_control_flow)
        *by_control_flow = (uint32_t)statistic(&context, "register-intervals along control-flow edges only");
    hd_pass_context_free(&context);
    return count;
}

static bool check(rf_bench *b) { return rf_bench_check(b, hd_check_ltrf); }

static bool replay_in_order(rf_bench *b, const char *name, uint32_t n, uint64_t order)
{
    char options[32];
    snprintf(options, sizeof options, "n=%u%s", n, strchr(name, '+') ? ",dead" : "");
    hd_rf_model_info info = *hd_rf_model_find(name, (uint32_t)strlen(name));
    info.options = options;
    return rf_bench_replay(b, &(rf_bench_run){.model = &info, .order = order}).proved;
}

static bool replay(rf_bench *b, const char *name, uint32_t n) { return replay_in_order(b, name, n, 0); }

/* "0:(0,1) 3:()": the headers and their words. */
static void spell(const hd_function *f, char *out)
{
    for (uint32_t a = 0; a < f->annotations.count; a++) {
        const hd_annotation *note = &f->annotations.items[a];
        if (note->kind != HD_ANNOTATION_LTRF_PREFETCH)
            continue;
        out += sprintf(out, "%u:(", note->instruction);
        for (uint32_t w = 0; w < note->count; w++)
            out += sprintf(out, "%s%u", w ? "," : "", f->annotation_words.items[note->value + w]);
        out += sprintf(out, ") ");
    }
    *out = 0;
}

static void expect(const char *body, uint32_t n, const char *intervals)
{
    rf_bench b;
    char spelled[1024];
    open_body(&b, body);
    divide(&b, n, true, NULL);
    spell(b.kernel, spelled);
    assert_string_equal(spelled, intervals);
    assert_true(check(&b));
    rf_bench_close(&b);
}

/* Intervals by hand. */
static void set_interval(rf_bench *b, uint32_t header, const char *words)
{
    uint32_t list[64], count = 0;
    for (char *end; *words; words = *end ? end + 1 : end)
        list[count++] = (uint32_t)strtoul(words, &end, 10);
    hd_annotate_list(b->kernel, (hd_annotation){.kind = HD_ANNOTATION_LTRF_PREFETCH, .instruction = header}, list,
                     count);
}

static void set_size(rf_bench *b, uint32_t n)
{
    hd_annotate(b->kernel, (hd_annotation){.kind = HD_ANNOTATION_LTRF_SIZE, .instruction = HD_NONE, .value = n});
    hd_annotations_sort(b->kernel);
}

/* ---- worked examples --------------------------------------------------------------------------------------------- */

/* Figure 6: A enters the outer loop, B the inner one, C goes back to either. */
#define FIGURE_6                                                                                                     \
    "mov.u32 %R1, 0;\nA: add.u32 %R1, %R1, 1;\nmov.u32 %R2, 0;\nB: add.u32 %R2, %R2, 1;\nsetp.lt.u32 %P1, %R2, 4;\n" \
    "add.u32 %R3, %R3, %R2;\n@%P1 bra B;\nsetp.lt.u32 %P2, %R1, 5;\n@%P2 bra A;\n"

static void figure_6_becomes_one_interval(void **state)
{
    (void)state;
    expect(FIGURE_6, 16, "0:(1,2,3) ");
    expect(FIGURE_6, 3, "0:(1,2,3) ");
    /* the inner loop fits into two, what is around it does not fit with it */
    expect(FIGURE_6, 2, "0:(1) 1:(1,2) 3:(2,3) 7:(1) ");
}

static void straight_code_is_cut_where_it_is_full(void **state)
{
    (void)state;
    expect("mov.u32 %R1, 0;\nmov.u32 %R2, 0;\nmov.u32 %R3, 0;\nadd.u32 %R1, %R3, %R2;\nmov.u32 %R4, %R1;\n", 3,
           "0:(1,2,3) 4:(1,4) ");
    expect("mov.u32 %R1, 0;\nmov.u32 %R2, 0;\n", 1, "0:(1) 1:(2) ");
    expect("mov.b64 %RD2, {%R2, %R3};\nadd.u64 %RD4, %RD2, %RD2;\n", 4, "1:(2,3,4,5) "); /* the first is an identity */
    expect("", 16, "0:() ");
}

/* Both sides fit beside b, and not beside each other; looking at what comes before them only, both would join b. */
#define DIAMOND                                                               \
    SPLIT "@%P1 bra S;\nadd.u32 %R1, %R0, 1;\nadd.u32 %R2, %R1, 1;\nbra J;\n" \
          "S: add.u32 %R3, %R0, 1;\nadd.u32 %R4, %R3, 1;\nJ: st.global.u32 [out], %R0;\n"

static void a_diamond_does_not_exceed_the_cache(void **state)
{
    (void)state;
    expect(DIAMOND, 5, "0:(0,1,2,3,4) ");
    expect(DIAMOND, 4, "0:(0,1,2) 6:(0,3,4) 8:(0) ");
    rf_bench b;
    open_body(&b, DIAMOND);
    set_interval(&b, 0, "0,1,2,3,4");
    set_size(&b, 4);
    assert_false(check(&b));
    rf_bench_close(&b);
    open_body(&b, DIAMOND);
    set_interval(&b, 0, "0,1,2,3");
    set_size(&b, 4);
    assert_false(check(&b));
    rf_bench_close(&b);
}

/* S1's tail was cut off: the warp goes from there to S2, which along the control flow belongs to b's interval. */
#define SIDES                                            \
    SPLIT "@%P0 bra S1;\nadd.u32 %R1, %R0, 1;\nbra J;\n" \
          "S1: mov.u32 %R1, 1;\nmov.u32 %R2, 2;\nadd.u32 %R3, %R1, %R2;\nJ: st.global.u32 [out], %R0;\n"

static void sides_that_follow_each_other(void **state)
{
    (void)state;
    rf_bench b;
    uint32_t by_control_flow;
    open_body(&b, SIDES);
    set_interval(&b, 0, "0,1,2");
    set_interval(&b, 7, "1,2,3");
    set_interval(&b, 8, "0");
    set_size(&b, 3);
    assert_false(check(&b)); /* S2 is entered in the middle of the first one, with the second one in the cache */
    assert_false(replay(&b, "ltrf", 3));
    assert_true(divide(&b, 3, false, &by_control_flow) > by_control_flow);
    assert_true(by_control_flow > 0);
    assert_true(check(&b));
    assert_true(replay(&b, "ltrf", 3));
    rf_bench_close(&b);
    expect(SIDES, 4, "0:(0,1,2,3) ");
}

static void calls_are_alone(void **state)
{
    (void)state;
    expect("mov.u32 %R1, 0;\ncall g;\nmov.u32 %R1, 0;\ncall g;\ncall g;\n", 16, "0:(1) 1:() 2:(1) 3:() 4:() 5:() ");
    /* at the end of a block */
    expect("mov.u32 %R1, 0;\nL: mov.u32 %R2, 0;\n@%P1 call g;\nM: add.u32 %R1, %R1, %R2;\n@%P1 bra L;\n@%P2 bra M;\n",
           16, "0:(1) 1:(2) 2:() 3:(1,2) ");
}

static void waits_are_alone_where_others_may_run(void **state)
{
    (void)state;
#define WAITING(guard)                                                                                              \
    SPLIT guard "@%P0 bra S;\nmov.u32 %R1, 1;\nbar.warp.sync -1;\nmov.u32 %R1, 2;\nbra J;\nS: mov.u32 %R2, 1;\nJ: " \
                "mov.u32 %R2, 2;\n"
    expect(WAITING(""), 16, "0:(0) 3:(1) 4:() 5:(1) 7:(2) 8:(2) ");
    expect("bar.sync 0;\nmov.u32 %R1, 1;\nbar.sync 0;\nmov.u32 %R1, 2;\n", 16, "0:(1) ");
    /* one side only */
    expect(SPLIT "@%P0 bra J;\nmov.u32 %R1, 1;\nbar.warp.sync 1;\nmov.u32 %R1, 2;\nJ: mov.u32 %R2, 2;\n", 16,
           "0:(0,1,2) ");
    expect(SPLIT "mov.u32 %R1, 1;\n@%P0 bar.warp.sync 1;\nmov.u32 %R1, 2;\n", 16, "0:(0,1) 3:() 4:(1) ");
    expect(SPLIT "mov.u32 %R1, 1;\n@%P1 bar.warp.sync 1;\nmov.u32 %R1, 2;\n", 16, "0:(0,1) ");
}

static void wide_instructions_bypass_the_cache(void **state)
{
    (void)state;
    rf_bench b;
    char spelled[256];
    open_body(&b, "mov.u32 %R1, 0;\nmad.wide.u32 %RD2, %R1, %R4, %RD6;\nmov.u32 %R1, %R3;\n");
    divide(&b, 3, true, NULL);
    spell(b.kernel, spelled);
    assert_string_equal(spelled, "0:(1) 1:(1,2,3) 2:(1,3) ");
    assert_int_equal(b.diagnostics.warning_count, 1);
    assert_string_equal(hd_diagnostic_slug(b.diagnostics.first->kind), "wide-instruction");
    assert_true(check(&b));
    hd_annotations_remove(b.kernel, "ltrf"); /* it is not alone */
    set_interval(&b, 0, "1");
    set_interval(&b, 1, "1,2,3");
    set_size(&b, 3);
    assert_false(check(&b));
    hd_annotations_remove(b.kernel, "ltrf"); /* less is in the cache than could be */
    set_interval(&b, 0, "1");
    set_interval(&b, 1, "1,2");
    set_interval(&b, 2, "1,3");
    set_size(&b, 3);
    assert_false(check(&b));
    rf_bench_close(&b);
}

static void code_that_is_not_reached_is_left_out(void **state)
{
    (void)state;
    expect("mov.u32 %R1, 0;\nbra J;\nU: mov.u32 %R2, 0;\n@%P0 bra U;\nJ: mov.u32 %R3, 0;\n", 16, "0:(1,3) ");
}

#define TWO_ENTRIES \
    "@%P1 bra B;\nA: mov.u32 %R1, 0;\n@%P2 bra E;\nB: mov.u32 %R2, 0;\n@%P3 bra A;\nE: mov.u32 %R3, 0;\n"

static void two_entries_join_together_or_are_headers(void **state)
{
    (void)state;
    expect(TWO_ENTRIES, 3, "0:(1,2,3) ");
    expect(TWO_ENTRIES, 2, "0:(1,2) 5:(3) ");
    expect(TWO_ENTRIES, 1, "0:() 1:(1) 3:(2) 5:(3) ");
}

/* Deep nests of loops and long chains take no time; the test only ends if that is so. */
static void large_functions_are_no_trouble(void **state)
{
    (void)state;
    hd_writer text;
    hd_writer_to_memory(&text);
    hd_write_string(&text, HEAD BODY_HEAD);
    for (uint32_t i = 0; i < 4000; i++)
        hd_write_format(&text, "L%u: add.u32 %%R%u, %%R1, 1;\n", i, i % 12);
    for (uint32_t i = 4000; i-- > 0;)
        hd_write_format(&text, "@%%P1 bra L%u;\n", i);
    for (uint32_t i = 0; i < 20000; i++)
        hd_write_format(&text, "@%%P1 bra M%u;\nadd.u32 %%R%u, %%R1, 1;\nM%u: add.u32 %%R%u, %%R1, 1;\n", i, i / 8 % 31,
                        i, i / 8 % 32);
    hd_write_string(&text, "ret;\n}\n");
    rf_bench b;
    rf_bench_open(&b, text.buffer.items, text.buffer.count);
    uint32_t intervals = divide(&b, 16, true, NULL);
    assert_true(intervals > 100 && intervals < 2500);
    assert_non_null(hd_annotation_at(b.kernel, HD_ANNOTATION_LTRF_PREFETCH, 0, 0));
    for (uint32_t i = 1; i < 8000; i++) /* the nest is a single one */
        assert_null(hd_annotation_at(b.kernel, HD_ANNOTATION_LTRF_PREFETCH, i, 0));
    assert_true(check(&b));
    rf_bench_close(&b);
    hd_writer_free(&text);
}

/* ---- the check --------------------------------------------------------------------------------------------------- */

static void remove_annotation(hd_function *f, uint32_t a)
{
    memmove(f->annotations.items + a, f->annotations.items + a + 1,
            (f->annotations.count - a - 1) * sizeof(hd_annotation));
    f->annotations.count--;
}

static void insert_annotation(hd_function *f, hd_annotation note)
{
    hd_annotate(f, note);
    hd_annotations_sort(f);
}

static bool is_reached(const hd_function *f, uint32_t instruction)
{
    const hd_cfg *cfg = hd_function_cfg((hd_function *)f);
    return cfg->blocks[cfg->block_of[instruction]].reachable;
}

/* A word that the function does not have is named by its number. */
static void unknown_words_are_named(void **state)
{
    static const char body[] = "mov.u32 %R1, 1;\nadd.u32 %R2, %R1, 1;\nst.global.u32 [out], %R2;\n";
    (void)state;
    for (uint32_t k = 0; k < 3; k++) {
        rf_bench b;
        uint64_t count = 0;
        hd_arena arena = {0};
        hd_diagnostics said;
        char name[64];
        open_body(&b, body);
        divide(&b, 8, false, NULL);
        hd_storage storage = hd_storage_of(b.kernel, &arena);
        const uint32_t words[3] = {storage.words, storage.words + 1, 70};
        const hd_annotation *note = hd_annotation_at(b.kernel, HD_ANNOTATION_LTRF_PREFETCH, 0, 0);
        assert_non_null(note);
        hd_annotation *list = &b.kernel->annotations.items[note - b.kernel->annotations.items];
        assert_int_equal(list->count, 2);
        *list = (hd_annotation){.kind = list->kind, .value = b.kernel->annotation_words.count, .count = 3};
        hd_array_push(&b.kernel->annotation_words, 1u);
        hd_array_push(&b.kernel->annotation_words, 2u);
        hd_array_push(&b.kernel->annotation_words, words[k]);
        hd_diagnostics_init(&said);
        assert_false(hd_check_ltrf(b.kernel, &said, &count));
        snprintf(name, sizeof name, "word %u is fetched, and nothing", words[k]);
        if (!strstr(said.first->message, name))
            fail_msg("'%s' does not name %s", said.first->message, name);
        hd_diagnostics_free(&said);
        hd_arena_free(&arena);
        rf_bench_close(&b);
    }
}

/* Each header dropped, moved to the next instruction, given a word less, and a wrong word. */
static void tampering_is_refuted(void **state)
{
    (void)state;
    uint32_t tried = 0, moved = 0;
    for (uint64_t seed = 0; seed < 500; seed++) {
        rf_bench b;
        rf_bench_open_random(&b, seed);
        uint32_t n = 3 + (uint32_t)(seed % 6);
        divide(&b, n, false, NULL);
        for (uint32_t a = 0; a < b.kernel->annotations.count; a++) {
            hd_annotation note = b.kernel->annotations.items[a];
            if (note.kind != HD_ANNOTATION_LTRF_PREFETCH)
                continue;
            b.kernel->annotations.items[a].count = note.count - (note.count != 0); /* the last word is not fetched */
            assert_true(note.count == 0 || !check(&b));
            b.kernel->annotations.items[a] = note;
            if (note.count) {
                b.kernel->annotation_words.items[note.value + note.count - 1] ^= 64;
                assert_false(check(&b));
                b.kernel->annotation_words.items[note.value + note.count - 1] ^= 64;
            }
            remove_annotation(b.kernel, a);
            assert_false(check(&b));
            hd_annotation next = note;
            next.instruction++;
            if (next.instruction < b.kernel->instructions.count &&
                !hd_annotation_at(b.kernel, note.kind, next.instruction, 0)) {
                insert_annotation(b.kernel, next);
                bool fine = check(&b); /* where the interval before has all words that the instruction needs */
                moved += !fine;
                assert_true(!fine || replay(&b, "ltrf", n));
                remove_annotation(b.kernel, (uint32_t)(hd_annotation_at(b.kernel, note.kind, next.instruction, 0) -
                                                       b.kernel->annotations.items));
            }
            insert_annotation(b.kernel, note);
            tried++;
        }
        assert_true(check(&b));
        for (uint32_t a = 0; a < b.kernel->annotations.count; a++)
            if (b.kernel->annotations.items[a].kind == HD_ANNOTATION_LTRF_SIZE)
                b.kernel->annotations.items[a].kind = HD_ANNOTATION_X_FUNCTION;
        assert_false(check(&b));
        rf_bench_close(&b);
    }
    assert_true(tried > 1000 && moved > 300);
}

/* Every dead bit that the pass did not set is refuted: it finds all of them. */
static void a_bit_too_many_is_refuted(void **state)
{
    (void)state;
    uint32_t set = 0, refuted = 0;
    for (uint64_t seed = 0; seed < 400; seed++) {
        rf_bench b;
        rf_bench_open_random(&b, seed);
        divide(&b, 8, true, NULL);
        assert_true(check(&b));
        for (uint32_t i = 0; i < b.kernel->instructions.count; i++) {
            uint32_t slots = hd_insn_source_count(b.kernel, &b.kernel->instructions.items[i]);
            const hd_annotation *found = hd_annotation_at(b.kernel, HD_ANNOTATION_LTRF_DEAD, i, 0);
            uint32_t bits = found ? found->value : 0;
            set += (uint32_t)__builtin_popcount(bits);
            for (uint32_t slot = 0; slot <= slots; slot++) {
                if (bits >> slot & 1 || !is_reached(b.kernel, i))
                    continue;
                insert_annotation(
                    b.kernel,
                    (hd_annotation){.kind = HD_ANNOTATION_LTRF_DEAD, .instruction = i, .value = bits | 1u << slot});
                if (check(&b))
                    fail_msg("seed %llu: source %u of %u is dead", (unsigned long long)seed, slot, i);
                refuted++;
                ((hd_annotation *)hd_annotation_at(b.kernel, HD_ANNOTATION_LTRF_DEAD, i, 0))->value = bits;
            }
            const hd_annotation *left = hd_annotation_at(b.kernel, HD_ANNOTATION_LTRF_DEAD, i, 0);
            if (left && !bits)
                remove_annotation(b.kernel, (uint32_t)(left - b.kernel->annotations.items));
        }
        rf_bench_close(&b);
    }
    assert_true(set > 1000 && refuted > 3000);
}

/* ---- random kernels ---------------------------------------------------------------------------------------------- */

static void random_kernels_are_proved(void **state)
{
    (void)state;
    uint64_t intervals = 0, by_control_flow = 0;
    for (uint64_t seed = 0; seed < UNIT_CASES(3000); seed++) {
        rf_bench b;
        uint32_t n = 1 + (uint32_t)(seed / 2 % 16), other;
        rf_bench_open_random(&b, seed);
        intervals += divide(&b, n, true, &other);
        by_control_flow += other;
        if (!check(&b))
            fail_msg("seed %llu: the check refutes the pass", (unsigned long long)seed);
        if (!replay_in_order(&b, "ltrf", n, seed) || !replay_in_order(&b, "ltrf+", n, seed) || !replay(&b, "rfc", n))
            fail_msg("seed %llu: not proved", (unsigned long long)seed);
        rf_bench_close(&b);
    }
    assert_true(intervals > by_control_flow);
}

static void words_say_the_same(void **state)
{
    (void)state;
    uint64_t bits = 0;
    for (uint64_t seed = 0; seed < 300; seed++) {
        rf_bench b;
        hd_word_array words = {0};
        hd_word_size size;
        hd_annotation_set got = {0}, wanted = {0};
        const char *refusal = NULL;
        rf_bench_open_random(&b, seed);
        uint32_t intervals = divide(&b, 4, seed % 2, NULL);
        assert_true(hd_words_of_ltrf(b.kernel, &words, &refusal));
        assert_int_equal(words.count, 1 + 5 * intervals); /* the size; an opcode and 256 bits each */
        assert_true(hd_words_size(b.kernel, "ltrf", &size));
        assert_int_equal(size.words, words.count);
        assert_true(size.bits == 0 || seed % 2);
        bits += size.bits;
        assert_true(hd_words_to_ltrf(b.kernel, words.items, words.count, &got));
        hd_annotation_set_sort(&got);
        for (uint32_t a = 0; a < b.kernel->annotations.count; a++) {
            hd_annotation note = b.kernel->annotations.items[a];
            if (note.kind != HD_ANNOTATION_LTRF_PREFETCH && note.kind != HD_ANNOTATION_LTRF_SIZE)
                continue;
            uint32_t first = wanted.words.count;
            for (uint32_t w = 0; note.kind == HD_ANNOTATION_LTRF_PREFETCH && w < note.count; w++)
                hd_array_push(&wanted.words, b.kernel->annotation_words.items[note.value + w]);
            note.value = note.kind == HD_ANNOTATION_LTRF_PREFETCH ? first : note.value;
            hd_array_push(&wanted.items, note);
        }
        hd_annotation_set_sort(&wanted);
        assert_true(hd_annotation_set_equal(&got, &wanted));
        hd_annotation_set_free(&got);
        got = (hd_annotation_set){0};
        assert_false(hd_words_to_ltrf(b.kernel, words.items, words.count - 1, &got)); /* half a vector */
        hd_annotation_set_free(&got);
        hd_annotation_set_free(&wanted);
        hd_array_free(&words);
        rf_bench_close(&b);
    }
    assert_true(bits > 1000);
}

static void both_spellings_read_back(void **state)
{
    (void)state;
    for (uint64_t seed = 0; seed < 120; seed++) {
        rf_bench b, again;
        hd_writer text;
        char before[8192], after[8192];
        rf_bench_open_random(&b, seed);
        divide(&b, 4, true, NULL);
        hd_writer_to_memory(&text);
        assert_true(
            hd_emit_ptx(&text, b.module,
                        &(hd_emit_options){.spelling = seed / 2 % 2 ? HD_SPELLING_EXTENDED : HD_SPELLING_PORTABLE}));
        rf_bench_open(&again, text.buffer.items, text.buffer.count);
        spell(b.kernel, before);
        spell(again.kernel, after);
        assert_string_equal(before, after);
        assert_int_equal(b.kernel->annotations.count, again.kernel->annotations.count);
        assert_true(check(&again));
        rf_bench_close(&again);
        rf_bench_close(&b);
        hd_writer_free(&text);
    }
}

/* ---- the least number -------------------------------------------------------------------------------------------- */

enum { LEAST_MOST = 12, MIXED = LEAST_MOST + 1 };

typedef struct least {
    rf_bench *b;
    /* by instruction: those that may come before it; mask of what it accesses */
    uint32_t count, before[LEAST_MOST], words[LEAST_MOST];
    uint32_t entry; /* instructions that the caller comes before */
} least;

static void look_at(least *s)
{
    hd_pass_context context;
    hd_pass_context_init(&context, s->b->kernel, &s->b->diagnostics);
    const hd_warp_order *order = hd_analysis_get(&context, HD_ANALYSIS_WARP_ORDER);
    const hd_cfg *cfg = hd_function_cfg(s->b->kernel);
    s->count = s->b->kernel->instructions.count;
    for (uint32_t i = 0; i < s->count; i++) {
        uint32_t block = cfg->block_of[i];
        s->words[i] = s->before[i] = 0;
        HD_INSN_REGISTERS (s->b->kernel, &s->b->kernel->instructions.items[i], o)
            if (hd_register_words(s->b->kernel, o->value))
                s->words[i] |= 1u << hd_register_physical(s->b->kernel, o->value).number;
        if (i > cfg->blocks[block].first)
            s->before[i] = 1u << (i - 1);
        uint64_t before =
            order_mask(order->predecessor_first, order->predecessors, cfg->block_count, order->nodes, block);
        for (uint32_t b = 0; i == cfg->blocks[block].first && b < cfg->block_count; b++)
            if (before >> b & 1 && cfg->blocks[b].reachable)
                s->before[i] |= 1u << (cfg->blocks[b].end - 1);
    }
    s->entry = 1;
    hd_pass_context_free(&context);
}

/* Do these headers, a mask, make intervals of at most n words? */
static bool is_division(const least *s, uint32_t headers, uint32_t n)
{
    uint32_t state[LEAST_MOST] = {0}, words[LEAST_MOST] = {0};
    for (bool changed = true; changed;) {
        changed = false;
        for (uint32_t i = 0; i < s->count; i++) {
            uint32_t now = s->entry >> i & 1 ? MIXED : 0;
            for (uint32_t from = s->before[i]; from; from &= from - 1) {
                uint32_t come = state[__builtin_ctz(from)];
                now = !come || come == now ? now : now ? MIXED : come;
            }
            now = headers >> i & 1 && now ? i + 1 : now;
            changed = changed || now != state[i];
            state[i] = now;
        }
    }
    for (uint32_t i = 0; i < s->count; i++) {
        if (state[i] == MIXED)
            return false;
        if (state[i] && (uint32_t)__builtin_popcount(words[state[i] - 1] |= s->words[i]) > n)
            return false;
    }
    return true;
}

static uint32_t least_intervals(const least *s, uint32_t n)
{
    uint32_t best = s->count;
    for (uint32_t headers = 1; headers < 1u << s->count; headers += 2)
        if ((uint32_t)__builtin_popcount(headers) < best && is_division(s, headers, n))
            best = (uint32_t)__builtin_popcount(headers);
    return best;
}

static void random_body(char *out, uint64_t *seed)
{
    uint32_t count = 4 + (uint32_t)(unit_random(seed) % (LEAST_MOST - 6));
    out += sprintf(out, "%s", SPLIT);
    for (uint32_t i = 0; i < count; i++) {
        uint32_t to = (uint32_t)(unit_random(seed) % (count + 1)), r = (uint32_t)unit_random(seed);
        out += sprintf(out, "L%u: ", i);
        if (r % 3 == 0)
            out += sprintf(out, "@%%P%u bra L%u;\n", r / 3 % 2, to);
        else
            out += sprintf(out, "add.u32 %%R%u, %%R%u, 1;\n", r / 3 % 5, r / 15 % 5);
    }
    sprintf(out, "L%u:\n", count);
}

static void the_number_is_near_the_least(void **state)
{
    (void)state;
    uint32_t made = 0, needed = 0, equal = 0, tried = 0;
    uint64_t seed = 7;
    for (; tried < 400; tried++) {
        static char body[2048];
        rf_bench b;
        least s = {.b = &b};
        uint32_t n = 2 + tried % 3;
        random_body(body, &seed);
        open_body(&b, body);
        uint32_t intervals = divide(&b, n, false, NULL);
        assert_true(check(&b));
        look_at(&s);
        uint32_t headers = 0;
        for (uint32_t i = 0; i < s.count; i++)
            headers |= (uint32_t)(hd_annotation_at(b.kernel, HD_ANNOTATION_LTRF_PREFETCH, i, 0) != NULL) << i;
        assert_true(is_division(&s, headers, n));
        uint32_t best = least_intervals(&s, n);
        assert_true(best <= intervals);
        made += intervals;
        needed += best;
        equal += best == intervals;
        rf_bench_close(&b);
    }
    print_message("# %u intervals where %u are enough; %u of %u bodies have the least number\n", made, needed, equal,
                  tried);
    assert_true(equal * 10 >= tried * 8);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(figure_6_becomes_one_interval),
        cmocka_unit_test(straight_code_is_cut_where_it_is_full),
        cmocka_unit_test(a_diamond_does_not_exceed_the_cache),
        cmocka_unit_test(sides_that_follow_each_other),
        cmocka_unit_test(calls_are_alone),
        cmocka_unit_test(waits_are_alone_where_others_may_run),
        cmocka_unit_test(wide_instructions_bypass_the_cache),
        cmocka_unit_test(code_that_is_not_reached_is_left_out),
        cmocka_unit_test(two_entries_join_together_or_are_headers),
        cmocka_unit_test(large_functions_are_no_trouble),
        cmocka_unit_test(unknown_words_are_named),
        cmocka_unit_test(tampering_is_refuted),
        cmocka_unit_test(a_bit_too_many_is_refuted),
        cmocka_unit_test(random_kernels_are_proved),
        cmocka_unit_test(words_say_the_same),
        cmocka_unit_test(both_spellings_read_back),
        cmocka_unit_test(the_number_is_near_the_least),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
