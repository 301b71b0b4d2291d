/* Annotations of random programs, spoiled in one place or in several: left out, changed, moved, or put where none was.
 * Checkers answer, and what all accept must be proved by a replay in every model of the technique. How many are
 * refuted, where and in which words is held against tests/numbers/damage.txt, so that no checker refutes less, more or
 * something else unnoticed. BLESS=1 (make bless) writes the file anew. */
#include "golden.h"

#include "ir/annotations.h"

enum { DAMAGES = 32, AT_ONCE = 4 /* in every other */, EVERY = 3 /* of the programs of a source */ };

typedef enum damage_kind { LEFT_OUT, CHANGED, MOVED, COPIED, DAMAGE_KINDS } damage_kind;
static const char *const damage_names[DAMAGE_KINDS] = {"left out", "changed", "moved", "copied"};

static const char *const lists[] = {"regalloc",
                                    "select,regalloc,bow(iw=3)",
                                    "bow(iw=3)",
                                    "select,regalloc,demo",
                                    "demo",
                                    "select,regalloc,ltrf(n=8)",
                                    "select,regalloc,ltrf(dead)",
                                    "select,regalloc,corf",
                                    "corf++",
                                    "select,regalloc,release",
                                    "release",
                                    "select,regalloc,regmutex(es=4)",
                                    "select,regalloc,regmutex(es=6,paired)"};
enum { LISTS = sizeof lists / sizeof *lists };

/* ---- damages ----------------------------------------------------------------------------------------------------- */

static void copy_annotations(const hd_function *f, hd_annotation_set *set)
{
    hd_array_clear(&set->items);
    hd_array_clear(&set->words);
    for (uint32_t a = 0; a < f->annotations.count; a++)
        hd_array_push(&set->items, f->annotations.items[a]);
    for (uint32_t w = 0; w < f->annotation_words.count; w++)
        hd_array_push(&set->words, f->annotation_words.items[w]);
}

/* A list loses its last word, gets one, or has one changed. */
static void change_list(hd_annotation_set *set, hd_annotation *a, uint64_t chance)
{
    uint32_t first = set->words.count, count = a->count, at = count ? (uint32_t)(chance >> 8) % count : 0;
    for (uint32_t w = 0; w < count; w++)
        hd_array_push(&set->words, set->words.items[a->value + w]);
    if (chance % 3 == 0 || !count)
        hd_array_push(&set->words, (uint32_t)(chance >> 16) % 24);
    else if (chance % 3 == 1)
        set->words.count--;
    else
        set->words.items[first + at] ^= 1u << (chance >> 16) % 4;
    a->value = first;
    a->count = set->words.count - first;
}

static void change(hd_annotation_set *set, hd_annotation *a, uint64_t chance)
{
    const hd_annotation_info *info = hd_annotation_find(a->kind);
    if (hd_annotation_is_list(info))
        change_list(set, a, chance);
    else if (info->value == HD_VALUE_CHOICE)
        a->value =
            (a->value + 1 + (uint32_t)chance % (hd_annotation_word_count(info) - 1)) % hd_annotation_word_count(info);
    else
        a->value ^= 1u << chance % 3;
}

static bool has_key(const hd_annotation_set *set, const hd_annotation *a)
{
    for (uint32_t i = 0; i < set->items.count; i++) {
        const hd_annotation *b = &set->items.items[i];
        if (a->kind == b->kind && a->instruction == b->instruction && a->slot == b->slot)
            return true;
    }
    return false;
}

static bool has_slot(const hd_function *f, const hd_annotation *a)
{
    const hd_instruction *insn = &f->instructions.items[a->instruction];
    uint8_t anchor = hd_annotation_find(a->kind)->anchor;
    return anchor == HD_ANCHOR_OPERAND  ? a->slot < hd_insn_destination_count(f, insn)
           : anchor == HD_ANCHOR_SOURCE ? a->slot < hd_insn_source_count(f, insn)
                                        : true;
}

/* To an instruction near by, or another slot. */
static bool move(const hd_function *f, hd_annotation *a, uint64_t chance)
{
    uint32_t count = f->instructions.count;
    if (a->instruction == HD_NONE)
        return false;
    if (chance % 4 == 0)
        a->slot ^= 1;
    else
        a->instruction = (a->instruction + count - 4 % count + (uint32_t)(chance >> 8) % 9) % count;
    return has_slot(f, a);
}

/* The kind of the annotation that was spoiled; HD_ANNOTATION_NONE: none. */
static uint16_t damage(const hd_function *f, damage_kind kind, uint64_t chance, hd_annotation_set *set)
{
    if (!set->items.count)
        return HD_ANNOTATION_NONE;
    uint32_t at = (uint32_t)(chance >> 32) % set->items.count;
    uint16_t what = set->items.items[at].kind;
    hd_annotation one = set->items.items[at];
    if (kind == LEFT_OUT) {
        set->items.items[at] = hd_array_pop(&set->items);
        return what;
    }
    if (kind == CHANGED)
        change(set, &set->items.items[at], chance);
    else if (!move(f, &one, chance) || has_key(set, &one))
        return HD_ANNOTATION_NONE;
    if (kind == MOVED)
        set->items.items[at] = one;
    if (kind == COPIED)
        hd_array_push(&set->items, one);
    return what;
}

/* ---- answers ----------------------------------------------------------------------------------------------------- */

static uint64_t sum_of(const char *text)
{
    uint64_t sum = 0;
    for (uint64_t i = 1; *text; i++)
        sum += i * (unsigned char)*text++;
    return sum;
}

/* Do all checkers accept the function? */
static bool accepted(hd_function *f, golden_sums *s)
{
    hd_diagnostics found;
    uint64_t looked_at = 0;
    hd_diagnostics_init(&found);
    for (uint32_t c = 0; c < hd_checker_count; c++)
        if (!hd_checkers[c].run(f, &found, &looked_at))
            golden_add(s, *hd_checkers[c].technique ? hd_checkers[c].technique : "form", 1);
    uint64_t order = 1;
    for (const hd_diagnostic *d = found.first; d; d = d->next) {
        golden_add(s, "messages", order++ * sum_of(d->message));
        golden_add(s, "places", order * d->span.begin);
        for (const hd_note *n = d->notes; n; n = n->next)
            golden_add(s, "notes", sum_of(n->message) + n->span.begin);
    }
    golden_add(s, "annotations", looked_at);
    bool good = !found.error_count;
    hd_diagnostics_free(&found);
    return good;
}

/* In every model that asks for the last pass of the list, whatever its options. */
static void expect_proved(rf_bench *b, const char *list, uint64_t seed, uint64_t chance)
{
    const char *last = list;
    for (const char *at = list; *at; at++)
        last = *at == ',' && strcspn(at, "(") < strcspn(at, ")") ? at + 1 : last;
    size_t length = strcspn(last, "(");
    for (uint32_t m = 0; m < hd_rf_model_count; m++) {
        const hd_rf_model_info *info = &hd_rf_models[m];
        const char *refusal = NULL;
        if (strncmp(info->pass, last, length) || (info->pass[length] && info->pass[length] != '('))
            continue;
        hd_rf_module *code = hd_rf_module_new(b->module);
        hd_rf_model *model = hd_rf_model_new(info, code, &refusal);
        hd_rf_model_free(model);
        hd_rf_module_free(code);
        if (model && !info->ops->columns && !rf_bench_replay(b, &(rf_bench_run){.model = info, .order = chance}).proved)
            fail_msg("kernel %llu, %s: checked, but %s does not prove it", (unsigned long long)seed, list, info->name);
    }
}

static void damage_program(rf_bench *b, const char *list, uint64_t seed, bool replayed, damage_kind kind,
                           golden_sums *s)
{
    uint64_t state = seed * LISTS * DAMAGE_KINDS + kind;
    for (uint32_t i = 0; i < DAMAGES; i++) {
        hd_function *f = b->module->functions.items[unit_random(&state) % b->module->functions.count];
        uint64_t chance = unit_random(&state);
        hd_annotation_set set = {0}, whole = {0};
        uint16_t what = HD_ANNOTATION_NONE;
        copy_annotations(f, &set);
        for (uint32_t k = 0; k < (i % 2 ? AT_ONCE : 1) && f->has_body; k++) {
            uint16_t spoiled = damage(f, kind, unit_random(&state), &set);
            what = spoiled != HD_ANNOTATION_NONE ? spoiled : what;
        }
        hd_annotation_set_sort(&set);
        if (what != HD_ANNOTATION_NONE) {
            copy_annotations(f, &whole);
            hd_annotations_take(f, &set);
            golden_add(s, "damaged", 1);
            if (accepted(f, s)) {
                golden_add(s, hd_annotation_find(what)->name, 1);
                if (replayed && hd_annotation_find(what)->technique[0])
                    expect_proved(b, list, seed, chance);
            }
            hd_annotations_take(f, &whole);
        }
        hd_annotation_set_free(&set);
    }
}

static bool opened(rf_bench *b, const golden_source *source, const char *list, uint64_t seed)
{
    source->open(b, seed);
    bool allocated = hd_function_is_architected(b->kernel), allocates = strstr(list, "regalloc");
    if (allocated && allocates) {
        rf_bench_close(b);
        return false;
    }
    rf_bench_pass(b, list);
    return true;
}

static void what_is_spoiled_is_refuted_or_proved(void **state)
{
    hd_writer writer;
    golden_sums s = {0};
    char head[128];
    (void)state;
    hd_writer_to_memory(&writer);
    for (uint32_t k = 0; k < GOLDEN_SOURCES; k++)
        for (uint32_t l = 0; l < LISTS; l++)
            for (damage_kind kind = 0; kind < DAMAGE_KINDS; kind++) {
                for (uint64_t seed = 1 + l % EVERY; seed <= golden_sources[k].count; seed += EVERY) {
                    rf_bench b;
                    if (!opened(&b, &golden_sources[k], lists[l], seed))
                        continue;
                    damage_program(&b, lists[l], seed, !strcmp(golden_sources[k].name, "unstructured"), kind, &s);
                    rf_bench_close(&b);
                }
                snprintf(head, sizeof head, "%s %s, one %s", golden_sources[k].name, lists[l], damage_names[kind]);
                golden_write(&s, &writer, head);
            }
    hd_array_free(&s.items);
    golden_expect("damage.txt", &writer);
    hd_writer_free(&writer);
}

int main(void)
{
    const struct CMUnitTest tests[] = {cmocka_unit_test(what_is_spoiled_is_refuted_or_proved)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
