/* corf and corf++ from text to words: what is read together, checks and tampering, metadata words, both spellings,
 * random kernels. */
#include "tests/unit/annotated.h"
#include "tests/unit/unit.h"

#include "ir/words/words.h"
#include "passes/graph/affinity.h"
#include "passes/check/check.h"
#include "passes/regalloc/regalloc.h"
#include "passes/analysis/analyses.h"
#include "tests/unit/program.h"
#include "tests/unit/rf_bench.h"

/* ---- helpers ----------------------------------------------------------------------------------------------------- */

/* Seeds come twice: the even ones in PTX's registers, the odd ones allocated. Every third is a structured program. */
static void open_random(rf_bench *b, uint64_t seed)
{
    static char structured[1 << 20];
    static program p;
    hd_writer text;
    hd_writer_to_memory(&text);
    if (seed / 2 % 3 == 0) {
        program_make(&p, seed / 2);
        program_print(&p, structured, sizeof structured);
        hd_write_string(&text, structured);
    } else {
        rf_random_kernel(&text, seed / 2);
    }
    rf_bench_open(b, text.buffer.items, text.buffer.count);
    hd_writer_free(&text);
    if (seed % 2)
        rf_bench_allocate(b, 0);
}

static void decide(rf_bench *b, hd_pass_run *pass, const char *option, const char *value)
{
    hd_pass_context context;
    hd_option options[1] = {{option, value}};
    hd_pass_context_init(&context, b->kernel, &b->diagnostics);
    context.options = options;
    context.option_count = option != NULL;
    assert_true(pass(&context));
    hd_pass_context_free(&context);
    assert_int_equal(b->diagnostics.error_count, 0);
    assert_true(hd_ir_validate_function(b->kernel, &b->diagnostics));
}

static uint32_t *list_of(const hd_function *f, uint16_t kind, uint32_t *count)
{
    const hd_annotation *a = hd_annotation_at(f, kind, HD_NONE, 0);
    *count = a ? a->count : 0;
    return a ? f->annotation_words.items + a->value : NULL;
}

static void set_list(rf_bench *b, uint16_t kind, const uint32_t *words, uint32_t count)
{
    hd_annotate_list(b->kernel, (hd_annotation){.kind = kind, .instruction = HD_NONE}, words, count);
    hd_annotations_sort(b->kernel);
}

/* Does an instruction of the kernel that is reached read both words? From the operands, one instruction at a time. */
static bool read_together(const rf_bench *b, const hd_storage *s, uint32_t x, uint32_t y)
{
    hd_function *f = b->kernel;
    const hd_cfg *cfg = hd_function_cfg(f);
    for (uint32_t i = 0; i < f->instructions.count; i++) {
        bool reads[2] = {false, false};
        HD_INSN_REGISTERS (f, &f->instructions.items[i], o)
            HD_STORAGE_WORDS (s, o->value, word)
                if (o->flags & HD_OPERAND_USE) {
                    reads[0] = reads[0] || word == x;
                    reads[1] = reads[1] || word == y;
                }
        if (reads[0] && reads[1] && !hd_storage_skips(s, i) && cfg->blocks[cfg->block_of[i]].reachable)
            return true;
    }
    return false;
}

/* ---- the graph --------------------------------------------------------------------------------------------------- */

#define HEADER ".version 9.0\n.target sm_90\n.address_size 64\n.global .u32 data;\n"
#define KERNEL_BODY(body) \
    HEADER ".entry k()\n{\n.reg .b32 %r<9>;\n.reg .b64 %d<9>;\n.reg .pred %p<3>;\n" body "ret;\n}\n"

/* "a-b:weight ..." of the kernel's graph. */
static const char *graph_of(const char *text, const char *factor)
{
    static char out[4096];
    rf_bench b;
    hd_affinity g;
    hd_pass_context context;
    hd_option option = {"factor", factor};
    rf_bench_open(&b, text, strlen(text));
    hd_pass_context_init(&context, b.kernel, &b.diagnostics);
    context.options = &option;
    context.option_count = factor != NULL;
    hd_affinity_build(&context, &g);
    out[0] = '\0';
    for (uint32_t i = 0; i < g.count; i++)
        snprintf(out + strlen(out), sizeof out - strlen(out), "%s%u-%u:%llu", i ? " " : "", g.edges[i].a, g.edges[i].b,
                 (unsigned long long)g.edges[i].weight);
    hd_pass_context_free(&context);
    rf_bench_close(&b);
    return out;
}

static void edges_are_what_instructions_read(void **state)
{
    (void)state;
    static const struct {
        const char *body, *factor, *edges;
    } cases[] = {
        {KERNEL_BODY("add.u32 %r0, %r1, %r2;\nadd.u32 %r1, %r2, %r1;\n"), NULL, "1-2:2"},
        {KERNEL_BODY("add.u32 %r0, %r1, %r1;\n"), NULL, ""}, /* once */
        /* guards are not of this file */
        {KERNEL_BODY("@%p1 mov.u32 %r0, %r1;\n"), NULL, ""},
        {KERNEL_BODY("mad.lo.u32 %r0, %r1, %r2, %r3;\n"), NULL, "1-2:1 1-3:1 2-3:1"},
        {KERNEL_BODY("st.global.u64 [data], %d1;\n"), NULL, "0-1:1"},            /* both halves */
        {KERNEL_BODY("st.global.u32 [%d1], %r1;\n"), NULL, "0-1:1 0-2:1 1-2:1"}, /* %r1 is 0 */
        {KERNEL_BODY("L:\nadd.u32 %r0, %r0, %r1;\n@%p1 bra L;\n"), NULL, "0-1:10"},
        {KERNEL_BODY("L:\nadd.u32 %r0, %r0, %r1;\n@%p1 bra L;\n"), "3", "0-1:3"},
        {KERNEL_BODY("M:\nmov.u32 %r2, 1;\nL:\nadd.u32 %r0, %r0, %r1;\n@%p1 bra L;\n@%p2 bra M;\n"), "3", "0-1:9"},
        {KERNEL_BODY("ret;\nadd.u32 %r0, %r0, %r1;\n"), NULL, ""}, /* never */
        {HEADER
         ".entry k()\n{ //@architected (4,0,0,0)\n.reg .b32 %R<4>;\n.reg .b64 %RD<4>;\nmov.b64 %RD0, {%R0, %R1};\n"
         /* the first is no instruction */
         "mov.b64 %RD2, {%R0, %R1};\nst.global.u64 [data], %RD2;\nret;\n}\n",
         NULL, "0-1:1 2-3:1"},
    };
    for (uint32_t i = 0; i < sizeof cases / sizeof *cases; i++)
        assert_string_equal(graph_of(cases[i].body, cases[i].factor), cases[i].edges);
}

/* Of 64 words each is joined with the 15 next ones: 15 * 64 - (1 + .. + 15) edges. */
static void wide_instructions_keep_the_graph_small(void **state)
{
    (void)state;
    hd_writer w;
    hd_writer_to_memory(&w);
    hd_write_string(&w, HEADER ".func g(.reg .b32 %a<64>);\n.entry k()\n{\n.reg .b32 %r<64>;\ncall.uni g, (");
    for (uint32_t i = 0; i < 64; i++)
        hd_write_format(&w, "%s%%r%u", i ? ", " : "", i);
    hd_write_string(&w, ");\nret;\n}\n");
    hd_write_char(&w, '\0');
    const char *declared = strstr(w.buffer.items, "%a<64>");
    hd_writer v;
    hd_writer_to_memory(&v);
    hd_write_format(&v, "%.*s%%a0", (int)(declared - w.buffer.items), w.buffer.items);
    for (uint32_t i = 1; i < 64; i++)
        hd_write_format(&v, ", .reg .b32 %%a%u", i);
    hd_write_string(&v, declared + strlen("%a<64>"));
    hd_write_char(&v, '\0');
    rf_bench b;
    hd_affinity g;
    hd_pass_context context;
    rf_bench_open(&b, v.buffer.items, strlen(v.buffer.items));
    hd_pass_context_init(&context, b.kernel, &b.diagnostics);
    hd_affinity_build(&context, &g);
    assert_int_equal(g.words, 64);
    assert_int_equal(g.count, HD_AFFINITY_REACH * 64 - HD_AFFINITY_REACH * (HD_AFFINITY_REACH + 1) / 2);
    hd_pass_context_free(&context);
    rf_bench_close(&b);
    hd_writer_free(&v);
    hd_writer_free(&w);
}

/* ---- checks ------------------------------------------------------------------------------------------------------ */

static const struct {
    hd_pass_run *pass;
    const char *option, *value;
    hd_check_run *check;
} runs[] = {{hd_pass_corf, NULL, NULL, hd_check_corf},       {hd_pass_corf, "exact", "", hd_check_corf},
            {hd_pass_corfpp, NULL, NULL, hd_check_corfpp},   {hd_pass_corfpp, "exact", "", hd_check_corfpp},
            {hd_pass_corfpp, "search", "", hd_check_corfpp}, {hd_pass_corfpp, "budget", "0", hd_check_corfpp},
            {hd_pass_corf, "factor", "1", hd_check_corf}};

static void what_passes_decide_is_accepted(void **state)
{
    (void)state;
    uint32_t hints = 0;
    for (uint64_t seed = 0; seed < 300; seed++) {
        rf_bench b;
        open_random(&b, seed);
        for (uint32_t r = 0; r < sizeof runs / sizeof *runs; r++) {
            decide(&b, runs[r].pass, runs[r].option, runs[r].value);
            if (!rf_bench_check(&b, runs[r].check))
                fail_msg("seed %llu, run %u: the check refutes the pass", (unsigned long long)seed, r);
            hints += b.kernel->annotation_words.count;
        }
        rf_bench_close(&b);
    }
    assert_true(hints > 10000);
}

/* Both passes twice: the same lists. */
static void decisions_are_settled(void **state)
{
    (void)state;
    for (uint64_t seed = 0; seed < 60; seed++) {
        rf_bench a, b;
        open_random(&a, seed);
        open_random(&b, seed);
        for (uint32_t k = 0; k < 4; k++)
            decide(&a, k % 2 ? hd_pass_corf : hd_pass_corfpp, NULL, NULL);
        decide(&b, hd_pass_corfpp, NULL, NULL);
        decide(&b, hd_pass_corf, NULL, NULL);
        assert_same_annotations(a.kernel, b.kernel);
        rf_bench_close(&a);
        rf_bench_close(&b);
    }
}

/* Each word of each pair made another word: refuted, unless it is in no pair and read together with the partner. */
static void tampered_pairs_are_refuted(void **state)
{
    (void)state;
    uint32_t refuted = 0, harmless = 0;
    for (uint64_t seed = 0; seed < 200; seed++) {
        rf_bench b;
        hd_arena arena = {0};
        uint32_t count;
        open_random(&b, seed);
        decide(&b, hd_pass_corf, NULL, NULL);
        hd_storage s = hd_storage_of(b.kernel, &arena);
        uint32_t *list = list_of(b.kernel, HD_ANNOTATION_CORF_PAIRS, &count);
        for (uint32_t i = 0; i < count; i++) {
            uint32_t kept = list[i],
                     others[] = {kept ^ 1, kept ^ 2, kept + 1, s.words, UINT32_MAX, list[i ^ 1], list[(i + 2) % count]};
            for (uint32_t k = 0; k < 7; k++) {
                bool fine =
                    others[k] < s.words && read_together(&b, &s, others[k], list[i ^ 1]) && others[k] != list[i ^ 1];
                for (uint32_t other = 0; other < count; other++)
                    fine = fine && (other == i || list[other] != others[k]);
                list[i] = others[k];
                assert_int_equal(rf_bench_check(&b, hd_check_corf), fine);
                fine ? harmless++ : refuted++;
                list[i] = kept;
            }
        }
        if (count) {
            hd_annotation *note =
                (hd_annotation *)(uintptr_t)hd_annotation_at(b.kernel, HD_ANNOTATION_CORF_PAIRS, HD_NONE, 0);
            note->count--; /* half a pair */
            assert_false(rf_bench_check(&b, hd_check_corf));
            note->count = count;
            assert_true(rf_bench_check(&b, hd_check_corf));
        }
        hd_arena_free(&arena);
        rf_bench_close(&b);
    }
    assert_true(refuted > 3000 && harmless > 20);
}

static bool has_opposite(const rf_bench *b, const hd_storage *s, uint32_t word, const uint32_t *other, uint32_t count)
{
    for (uint32_t i = 0; i < count; i++)
        if (other[i] < s->words && read_together(b, s, word, other[i]))
            return true;
    return false;
}

static bool makes_sense(const rf_bench *b, const hd_storage *s)
{
    static const uint16_t kinds[] = {HD_ANNOTATION_CORF_LEFT, HD_ANNOTATION_CORF_RIGHT};
    for (uint32_t side = 0; side < 2; side++) {
        uint32_t count, others;
        const uint32_t *list = list_of(b->kernel, kinds[side], &count),
                       *other = list_of(b->kernel, kinds[!side], &others);
        for (uint32_t i = 0; i < count; i++) {
            for (uint32_t k = 0; k < count; k++)
                if (k != i && list[k] == list[i])
                    return false;
            for (uint32_t k = 0; k < others; k++)
                if (other[k] == list[i])
                    return false;
            if (list[i] >= s->words || !has_opposite(b, s, list[i], other, others))
                return false;
        }
    }
    return true;
}

static void tampered_sides_are_refuted(void **state)
{
    (void)state;
    uint32_t refuted = 0;
    for (uint64_t seed = 0; seed < 60; seed++) {
        rf_bench b;
        hd_arena arena = {0};
        uint32_t counts[2], *lists[2];
        open_random(&b, seed);
        decide(&b, hd_pass_corfpp, NULL, NULL);
        hd_storage s = hd_storage_of(b.kernel, &arena);
        lists[0] = list_of(b.kernel, HD_ANNOTATION_CORF_LEFT, &counts[0]);
        lists[1] = list_of(b.kernel, HD_ANNOTATION_CORF_RIGHT, &counts[1]);
        for (uint32_t i = 0; i < counts[0] + counts[1]; i++) {
            uint32_t *word = i < counts[0] ? &lists[0][i] : &lists[1][i - counts[0]], kept = *word;
            uint32_t others[] = {kept ^ 1, kept + 2, s.words, lists[0][0], lists[1][0]};
            for (uint32_t k = 0; k < 5; k++) {
                *word = others[k];
                bool good = rf_bench_check(&b, hd_check_corfpp);
                assert_int_equal(good, makes_sense(&b, &s));
                assert_true(others[k] < s.words || !good);
                refuted += !good;
                *word = kept;
            }
        }
        if (counts[0]) { /* one side alone */
            hd_annotation *note =
                (hd_annotation *)(uintptr_t)hd_annotation_at(b.kernel, HD_ANNOTATION_CORF_LEFT, HD_NONE, 0);
            note->count = 0;
            assert_false(rf_bench_check(&b, hd_check_corfpp));
            note->count = counts[0];
            assert_true(rf_bench_check(&b, hd_check_corfpp));
        }
        hd_arena_free(&arena);
        rf_bench_close(&b);
    }
    assert_true(refuted > 500);
}

/* ---- words and spellings ----------------------------------------------------------------------------------------- */

/* Encodes, decodes, compares; the words. */
static uint32_t round_trip(const rf_bench *b, const char *technique, uint64_t *words, uint32_t room)
{
    const hd_word_code *code = hd_word_code_find(technique);
    hd_word_array made = {0};
    hd_annotation_set set = {0};
    const char *refusal = NULL;
    assert_true(code->encode(b->kernel, &made, &refusal));
    assert_null(refusal);
    assert_true(code->decode(b->kernel, made.items, made.count, &set));
    hd_annotation_set_sort(&set);
    for (uint32_t i = 0; i < set.items.count; i++) {
        const hd_annotation *a = &set.items.items[i];
        uint32_t count;
        const uint32_t *list = list_of(b->kernel, a->kind, &count);
        assert_int_equal(a->count, count);
        assert_memory_equal(set.words.items + a->value, list, count * sizeof *list);
    }
    uint32_t expected = 0, count = made.count;
    for (uint32_t i = 0; i < b->kernel->annotations.count; i++)
        expected += !strcmp(hd_annotation_find(b->kernel->annotations.items[i].kind)->technique, technique);
    assert_int_equal(set.items.count, expected);
    for (uint32_t i = 0; i < made.count && i < room; i++)
        words[i] = made.items[i].bits;
    hd_array_free(&made);
    hd_annotation_set_free(&set);
    return count;
}

static void words_have_the_papers_layout(void **state)
{
    (void)state;
    static const char text[] = KERNEL_BODY("");
    static const uint32_t pairs[] = {1, 2, 3, 63, 4, 64, 5, 6, 7, 8, 9, 10, 200, 255}, left[] = {0, 26, 27},
                          right[] = {1, 62};
    uint64_t words[8];
    rf_bench b;
    rf_bench_open(&b, text, sizeof text - 1);
    assert_int_equal(round_trip(&b, "corf", words, 8), 0);
    assert_int_equal(round_trip(&b, "corf++", words, 8), 0);
    set_list(&b, HD_ANNOTATION_CORF_PAIRS, pairs, 14);
    assert_int_equal(round_trip(&b, "corf", words, 8), 3); /* four and one narrow pairs, two wide ones */
    assert_int_equal(hd_word_opcode_of(words[0]), HD_WORD_CORF_PAIRS);
    assert_int_equal(hd_word_payload(words[0]),
                     1 | 2 << 6 | 3 << 12 | 63 << 18 | 5ull << 24 | 6ull << 30 | 7ull << 36 | 8ull << 42);
    assert_int_equal(hd_word_payload(words[1]), 9 | 10 << 6);
    assert_int_equal(hd_word_opcode_of(words[2]), HD_WORD_CORF_PAIRS_WIDE);
    assert_int_equal(hd_word_payload(words[2]), 4 | 64 << 8 | 200 << 16 | 255ull << 24);
    set_list(&b, HD_ANNOTATION_CORF_LEFT, left, 3);
    set_list(&b, HD_ANNOTATION_CORF_RIGHT, right, 2);
    assert_int_equal(round_trip(&b, "corf++", words, 8), 3);
    assert_int_equal(hd_word_opcode_of(words[0]), HD_WORD_CORF_ALIGNMENT);
    assert_true(hd_word_payload(words[0]) == (1 | 2 << 2 | 1ull << 52));
    assert_int_equal(hd_word_payload(words[1]), 1);
    assert_int_equal(hd_word_payload(words[2]), 2 << 2 * (62 - 54));
    rf_bench_close(&b);
}

static void what_has_no_words_is_refused(void **state)
{
    (void)state;
    static const struct {
        const char *technique;
        uint16_t kind;
        uint32_t count, words[4];
    } cases[] = {
        {"corf", HD_ANNOTATION_CORF_PAIRS, 2, {1, 256}},    {"corf", HD_ANNOTATION_CORF_PAIRS, 3, {1, 2, 3}},
        {"corf", HD_ANNOTATION_CORF_PAIRS, 2, {2, 1}},      {"corf", HD_ANNOTATION_CORF_PAIRS, 4, {3, 4, 1, 2}},
        {"corf", HD_ANNOTATION_CORF_PAIRS, 0, {0}},         {"corf++", HD_ANNOTATION_CORF_LEFT, 2, {2, 1}},
        {"corf++", HD_ANNOTATION_CORF_LEFT, 2, {1, 1}},     {"corf++", HD_ANNOTATION_CORF_RIGHT, 0, {0}},
        {"corf++", HD_ANNOTATION_CORF_RIGHT, 1, {1u << 31}}};
    static const char text[] = KERNEL_BODY("");
    for (uint32_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        rf_bench b;
        hd_word_array words = {0};
        const char *refusal = NULL;
        rf_bench_open(&b, text, sizeof text - 1);
        set_list(&b, cases[i].kind, cases[i].words, cases[i].count);
        assert_false(hd_word_code_find(cases[i].technique)->encode(b.kernel, &words, &refusal));
        assert_non_null(refusal);
        assert_int_equal(words.count, 0);
        rf_bench_close(&b);
    }
    rf_bench b;
    hd_annotation_set set = {0};
    rf_bench_open(&b, text, sizeof text - 1);
    hd_word wrong[] = {{HD_NONE, hd_word_make(HD_WORD_PIR, 1 | 2 << 6)},
                       {0, hd_word_make(HD_WORD_CORF_PAIRS, 1 | 2 << 6)},
                       {HD_NONE, hd_word_make(HD_WORD_CORF_PAIRS, 2 | 1 << 6)},
                       {HD_NONE, hd_word_make(HD_WORD_CORF_PAIRS, 1ull << 48)}};
    for (uint32_t i = 0; i < 4; i++)
        assert_false(hd_words_to_corf(b.kernel, &wrong[i], 1, &set));
    hd_word both = {HD_NONE, hd_word_make(HD_WORD_CORF_ALIGNMENT, 3)};
    assert_false(hd_words_to_corfpp(b.kernel, &both, 1, &set));
    hd_annotation_set_free(&set);
    rf_bench_close(&b);
}

/* Text of either spelling reads back to the same annotations; words too, where registers are allocated. */
static void random_kernels_make_round_trips(void **state)
{
    (void)state;
    uint64_t words[1];
    for (uint64_t seed = 0; seed < 120; seed++) {
        rf_bench b;
        open_random(&b, seed);
        decide(&b, hd_pass_corf, NULL, NULL);
        decide(&b, hd_pass_corfpp, NULL, NULL);
        round_trip(&b, "corf++", words, 0);
        if (seed % 2)
            round_trip(&b, "corf", words, 0);
        for (uint32_t k = 0; k < 3; k++) {
            hd_emit_options options = {.spelling = k == 1 ? HD_SPELLING_EXTENDED : HD_SPELLING_PORTABLE,
                                       .no_section = k == 2};
            hd_writer text;
            hd_writer_to_memory(&text);
            assert_true(hd_emit_ptx(&text, b.module, &options));
            hd_write_char(&text, '\0');
            annotated *again = read_good(text.buffer.items);
            assert_same_annotations(b.kernel, hd_module_find_function(again->module, "k"));
            annotated_free(again);
            hd_writer_free(&text);
        }
        rf_bench_close(&b);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(edges_are_what_instructions_read), cmocka_unit_test(wide_instructions_keep_the_graph_small),
        cmocka_unit_test(what_passes_decide_is_accepted),   cmocka_unit_test(decisions_are_settled),
        cmocka_unit_test(tampered_pairs_are_refuted),       cmocka_unit_test(tampered_sides_are_refuted),
        cmocka_unit_test(words_have_the_papers_layout),     cmocka_unit_test(what_has_no_words_is_refused),
        cmocka_unit_test(random_kernels_make_round_trips),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
