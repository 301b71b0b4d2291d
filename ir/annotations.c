/* Annotations: the table of kinds, operand slots, and the sorted list of each function.
 *
 * Invariant after hd_annotations_sort: items ascend by (instruction, kind, slot), no two have the same key, and those
 * of the whole function (instruction HD_NONE) are last. Sorting is a stable merge of existing ascending runs: linear
 * for a sorted list, O(n log n) in the worst case.
 */
#include "ir/annotations.h"
#include "base/search.h"

#include <assert.h>

enum {
#define HD_ANNOTATION(id, number, name, technique, anchor, value, words, summary) KIND_##id,
#include "ir/annotations.def"
#undef HD_ANNOTATION
    KINDS
};
static hd_annotation_info rows[KINDS + HD_PLUGIN_ROWS] = {
#define HD_ANNOTATION(id, number, name, technique, anchor, value, words, summary) \
    {number, name, technique, HD_ANCHOR_##anchor, HD_VALUE_##value, words, summary},
#include "ir/annotations.def"
#undef HD_ANNOTATION
};
const hd_annotation_info *const hd_annotation_infos = rows;
uint32_t hd_annotation_info_count = KINDS;

/* ---- kinds ------------------------------------------------------------------------------------------------------- */

bool hd_annotation_add(const hd_annotation_info *row)
{
    if (!HD_ADD_ROW(rows, hd_annotation_info_count, row))
        return false;
    uint32_t at = hd_annotation_info_count - 1;
    for (; at && rows[at - 1].number > row->number; at--)
        rows[at] = rows[at - 1];
    rows[at] = *row;
    return true;
}

const hd_annotation_info *hd_annotation_find(uint16_t number)
{
    for (uint32_t i = 0; i < hd_annotation_info_count; i++)
        if (hd_annotation_infos[i].number == number)
            return &hd_annotation_infos[i];
    return NULL;
}

const hd_annotation_info *hd_annotation_find_name(const char *name, size_t length)
{
    uint32_t found = HD_FIND_ROW(rows, hd_annotation_info_count, name, name, length);
    return found < hd_annotation_info_count ? &hd_annotation_infos[found] : NULL;
}

uint32_t hd_annotation_word_count(const hd_annotation_info *info)
{
    uint32_t count = *info->words != '\0';
    for (const char *c = info->words; *c; c++)
        count += *c == '|';
    return count;
}

const char *hd_annotation_word(const hd_annotation_info *info, uint32_t position, size_t *length)
{
    const char *word = info->words;
    for (; position > 0; position--) {
        word = strchr(word, '|');
        assert(word != NULL);
        word++;
    }
    *length = strcspn(word, "|");
    return word;
}

uint32_t hd_annotation_word_find(const hd_annotation_info *info, const char *text, size_t length)
{
    uint32_t position = 0;
    for (const char *word = info->words; length && *word; position++) {
        size_t n = strcspn(word, "|");
        if (n == length && memcmp(word, text, n) == 0)
            return position;
        word += n + (word[n] == '|');
    }
    return HD_NONE;
}

/* ---- slots ------------------------------------------------------------------------------------------------------- */

static bool is_in_file(const hd_function *f, const hd_operand *o, uint8_t role)
{
    return o->kind == HD_OPERAND_REGISTER && o->flags & role && !(o->flags & HD_OPERAND_IMPLICIT) &&
           hd_register_words(f, o->value) > 0;
}

static uint32_t slot_operand(const hd_function *f, const hd_instruction *i, uint32_t slot, uint8_t role)
{
    const hd_operand *operands = hd_insn_operands(f, i);
    for (uint32_t n = 0; n < i->operand_count; n++)
        if (is_in_file(f, &operands[n], role) && slot-- == 0)
            return i->operand_first + n;
    return HD_NONE;
}

static uint32_t slot_count(const hd_function *f, const hd_instruction *i, uint8_t role)
{
    const hd_operand *operands = hd_insn_operands(f, i);
    uint32_t count = 0;
    for (uint32_t n = 0; n < i->operand_count; n++)
        count += is_in_file(f, &operands[n], role);
    return count;
}

uint32_t hd_insn_destination_slot(const hd_function *f, const hd_instruction *i, uint32_t slot)
{
    return slot_operand(f, i, slot, HD_OPERAND_DEF);
}

uint32_t hd_insn_source_slot(const hd_function *f, const hd_instruction *i, uint32_t slot)
{
    return slot_operand(f, i, slot, HD_OPERAND_USE);
}

uint32_t hd_insn_destination_count(const hd_function *f, const hd_instruction *i)
{
    return slot_count(f, i, HD_OPERAND_DEF);
}

uint32_t hd_insn_source_count(const hd_function *f, const hd_instruction *i)
{
    return slot_count(f, i, HD_OPERAND_USE);
}

/* ---- lists ------------------------------------------------------------------------------------------------------- */

/* Orders by instruction, then kind, then slot. */
static int compare_annotations(const hd_annotation *a, const hd_annotation *b)
{
    uint64_t left = (uint64_t)a->kind << 16 | a->slot, right = (uint64_t)b->kind << 16 | b->slot;
    if (a->instruction != b->instruction)
        return a->instruction < b->instruction ? -1 : 1;
    return left < right ? -1 : left > right;
}

/* End of the ascending run that starts at `from`. */
static uint32_t run_end(const hd_annotation *items, uint32_t count, uint32_t from)
{
    uint32_t end = from + 1;
    while (end < count && compare_annotations(&items[end - 1], &items[end]) <= 0)
        end++;
    return hd_min(end, count);
}

/* Merges [from, middle) and [middle, end) of `in` into the same range of `out`. */
static void merge(const hd_annotation *in, hd_annotation *out, uint32_t from, uint32_t middle, uint32_t end)
{
    uint32_t a = from, b = middle;
    for (uint32_t i = from; i < end; i++)
        out[i] = b >= end || (a < middle && compare_annotations(&in[a], &in[b]) <= 0) ? in[a++] : in[b++];
}

static void sort_items(hd_annotation *items, uint32_t count)
{
    if (count == 0 || run_end(items, count, 0) == count)
        return;
    hd_annotation *other = hd_malloc(count * sizeof *other), *in = items, *out = other;
    for (bool sorted = false; !sorted;) {
        for (uint32_t from = 0; from < count;) {
            uint32_t middle = run_end(in, count, from), end = middle < count ? run_end(in, count, middle) : count;
            merge(in, out, from, middle, end);
            sorted = from == 0 && end == count;
            from = end;
        }
        hd_annotation *swap = in;
        in = out;
        out = swap;
    }
    if (in != items)
        memcpy(items, in, count * sizeof *items);
    free(other);
}

void hd_annotation_set_free(hd_annotation_set *set)
{
    hd_array_free(&set->items);
    hd_array_free(&set->words);
}

void hd_annotation_set_sort(hd_annotation_set *set) { sort_items(set->items.items, set->items.count); }

static bool same_value(const hd_annotation_set *a, const hd_annotation *x, const hd_annotation_set *b,
                       const hd_annotation *y)
{
    const hd_annotation_info *info = hd_annotation_find(x->kind);
    if (!info || !hd_annotation_is_list(info))
        return x->value == y->value;
    return x->count == y->count && (x->count == 0 || memcmp(a->words.items + x->value, b->words.items + y->value,
                                                            x->count * sizeof(uint32_t)) == 0);
}

bool hd_annotation_set_equal(const hd_annotation_set *a, const hd_annotation_set *b)
{
    if (a->items.count != b->items.count)
        return false;
    for (uint32_t i = 0; i < a->items.count; i++)
        if (compare_annotations(&a->items.items[i], &b->items.items[i]) != 0 ||
            !same_value(a, &a->items.items[i], b, &b->items.items[i]))
            return false;
    return true;
}

void hd_annotations_take(hd_function *function, hd_annotation_set *set)
{
    hd_array_free(&function->annotations);
    hd_array_free(&function->annotation_words);
    function->annotations.items = set->items.items;
    function->annotations.count = set->items.count;
    function->annotations.capacity = set->items.capacity;
    function->annotation_words = set->words;
    *set = (hd_annotation_set){0};
}

void hd_annotate(hd_function *function, hd_annotation annotation)
{
    hd_array_push(&function->annotations, annotation);
    function->annotations_changed = true;
}

void hd_annotate_list(hd_function *function, hd_annotation annotation, const uint32_t *words, uint32_t count)
{
    annotation.value = function->annotation_words.count;
    annotation.count = count;
    if (count)
        memcpy(hd_array_extend(&function->annotation_words, count), words, count * sizeof *words);
    hd_annotate(function, annotation);
}

void hd_annotations_sort(hd_function *function)
{
    hd_annotation *items = function->annotations.items;
    uint32_t count = function->annotations.count, kept = 1;
    while (kept < count && compare_annotations(&items[kept - 1], &items[kept]) < 0)
        kept++;
    if (kept >= count) /* already in ascending order, as passes leave them */
        return;
    sort_items(items, count);
    kept = 0;
    for (uint32_t i = 0; i < count; i++) {
        if (kept && compare_annotations(&items[kept - 1], &items[i]) == 0)
            kept--;
        items[kept++] = items[i];
    }
    function->annotations.count = kept;
}

static bool is_of(const hd_annotation_info *info, const char *technique)
{
    return info && (strcmp(technique, "*") == 0 ? *info->technique != '\0' : strcmp(info->technique, technique) == 0);
}

void hd_annotations_remove(hd_function *function, const char *technique)
{
    hd_annotation *items = function->annotations.items;
    uint32_t kept = 0;
    for (uint32_t i = 0; i < function->annotations.count; i++) {
        if (technique && !is_of(hd_annotation_find(items[i].kind), technique))
            items[kept++] = items[i];
    }
    function->annotations_changed |= kept != function->annotations.count;
    function->annotations.count = kept;
    if (kept == 0)
        hd_array_clear(&function->annotation_words);
}

const hd_annotation *hd_annotation_at(const hd_function *function, uint16_t kind, uint32_t instruction, uint32_t slot)
{
    const hd_annotation wanted = {.kind = kind, .slot = (uint16_t)slot, .instruction = instruction};
    uint32_t low = 0, high = function->annotations.count;
    HD_SEARCH(low, high, at, compare_annotations(&function->annotations.items[at], &wanted) < 0);
    if (low == function->annotations.count)
        return NULL;
    const hd_annotation *found = &function->annotations.items[low];
    return compare_annotations(found, &wanted) == 0 ? found : NULL;
}

/* ---- register names in files ------------------------------------------------------------------------------------- */

hd_register_key hd_register_key_of(const hd_function *function, uint32_t reg)
{
    const hd_register *r = &function->registers.items[reg];
    uint32_t index = r->index == HD_NONE ? 0 : r->index;
    return (hd_register_key){r->declaration, r->vector > 1 ? index * r->vector + r->component : index};
}

/* A reader imports a module-scope declaration into the function at the first instruction that names one of its
 * registers. */
typedef struct ordinal_walk {
    const hd_function *function;
    uint32_t *ordinals, next;
    bool imports; /* there are module-scope declarations */
} ordinal_walk;

static void number_import(ordinal_walk *w, uint32_t reg)
{
    /* the carry flag has no declaration */
    uint32_t d = reg == HD_NONE ? HD_NONE : w->function->registers.items[reg].declaration;
    if (d != HD_NONE && w->function->declarations.items[d].depth == 0 && w->ordinals[d] == HD_NONE)
        w->ordinals[d] = w->next++;
}

static void number_statement(ordinal_walk *w, const hd_statement *statement)
{
    const hd_function *f = w->function;
    if (statement->kind == HD_STATEMENT_REGISTERS) {
        const hd_group *group = &f->register_groups.items[statement->index];
        for (uint32_t d = 0; d < group->count; d++)
            w->ordinals[group->first + d] = w->next++;
    } else if (statement->kind == HD_STATEMENT_INSTRUCTION && w->imports) {
        const hd_instruction *insn = &f->instructions.items[statement->index];
        number_import(w, insn->guard);
        HD_INSN_REGISTERS (f, insn, o)
            number_import(w, o->value);
    }
}

uint32_t *hd_declaration_ordinals(const hd_function *function)
{
    uint32_t count = function->declarations.count;
    if (!function->changed || count == 0)
        return NULL;
    ordinal_walk w = {function, hd_calloc(count, sizeof *w.ordinals), 0, false};
    for (uint32_t i = 0; i < function->register_groups.count; i++)
        for (uint32_t d = 0; d < function->register_groups.items[i].count; d++)
            w.ordinals[function->register_groups.items[i].first + d] = HD_NONE;
    for (uint32_t i = 0; i < count; i++) { /* declarations in no group are in the header or at module scope */
        bool import = function->declarations.items[i].depth == 0;
        w.imports |= import;
        if (w.ordinals[i] != HD_NONE)
            w.ordinals[i] = import ? HD_NONE : w.next++;
    }
    for (uint32_t i = 0; i < function->statements.count; i++)
        number_statement(&w, &function->statements.items[i]);
    for (uint32_t i = 0; i < count; i++) /* at module scope, and no longer named by any instruction */
        if (function->declarations.items[i].depth == 0 && w.ordinals[i] == HD_NONE)
            w.ordinals[i] = w.next++;
    return w.ordinals;
}

static uint64_t key_order(const hd_function *function, uint32_t reg)
{
    hd_register_key key = hd_register_key_of(function, reg);
    return (uint64_t)key.declaration << 32 | key.index;
}

static int compare_registers(const void *a, const void *b, void *function)
{
    uint64_t left = key_order(function, *(const uint32_t *)a), right = key_order(function, *(const uint32_t *)b);
    return left < right ? -1 : left > right;
}

static void sort_keys(hd_register_keys *keys)
{
    keys->sorted_count = keys->function->registers.count;
    keys->sorted = hd_realloc(keys->sorted, (keys->sorted_count + 1) * sizeof *keys->sorted);
    for (uint32_t i = 0; i < keys->sorted_count; i++)
        keys->sorted[i] = i;
    qsort_r(keys->sorted, keys->sorted_count, sizeof *keys->sorted, compare_registers, keys->function);
}

void hd_register_keys_init(hd_register_keys *keys, hd_function *function)
{
    *keys = (hd_register_keys){.function = function};
    sort_keys(keys);
}

void hd_register_keys_free(hd_register_keys *keys)
{
    free(keys->sorted);
    *keys = (hd_register_keys){0};
}

static uint32_t find_key(const hd_register_keys *keys, uint64_t wanted)
{
    const hd_function *f = keys->function;
    uint32_t low = 0, high = keys->sorted_count;
    HD_SEARCH(low, high, at, key_order(f, keys->sorted[at]) < wanted);
    if (low < keys->sorted_count && key_order(f, keys->sorted[low]) == wanted)
        return keys->sorted[low];
    for (uint32_t i = keys->sorted_count; i < f->registers.count; i++)
        if (key_order(f, i) == wanted)
            return i;
    return HD_NONE;
}

/* Assigns ids to all components of a declared register; false if the key names none. */
static bool mention(hd_function *f, hd_register_key key)
{
    if (key.declaration >= f->declarations.count)
        return false;
    const hd_declaration *d = &f->declarations.items[key.declaration];
    uint32_t vector = hd_max(d->vector, 1), index = key.index / vector;
    if (index >= (d->count == HD_NONE ? 1 : d->count))
        return false;
    for (uint32_t i = 0; i < vector; i++)
        hd_array_push(&f->registers, (hd_register){d->name, d->count == HD_NONE ? HD_NONE : index, key.declaration,
                                                   d->type, (uint8_t)i, (uint8_t)vector, 0});
    return true;
}

uint32_t hd_register_keys_find(hd_register_keys *keys, hd_register_key key)
{
    enum { FEW = 64 };
    uint64_t wanted = (uint64_t)key.declaration << 32 | key.index;
    uint32_t found = find_key(keys, wanted);
    if (found != HD_NONE || !mention(keys->function, key))
        return found;
    if (keys->function->registers.count - keys->sorted_count > FEW + keys->sorted_count / 8)
        sort_keys(keys);
    return find_key(keys, wanted);
}

uint32_t hd_annotations_count(const hd_function *function, const char *technique)
{
    uint32_t count = 0;
    for (uint32_t a = 0; a < function->annotations.count; a++) {
        const hd_annotation_info *info = hd_annotation_find(function->annotations.items[a].kind);
        count += info && !strcmp(info->technique, technique);
    }
    return count;
}
