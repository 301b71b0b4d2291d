/* RFV: a renamed register file whose registers are given away by release flags. "GPU Register File Virtualization", MICRO 2015.
 *
 * All resident warps share the physical registers (physical.h). A renamed word of a warp gets one, of the bank that its number and its warp have
 * without renaming, at its first write since it was released; a word that is not renamed gets one when its frame begins. Flags release:
 *
 *   pbr  before the instruction reads its operands
 *   pir  when the instruction is complete: operands collected, results written, whether or not its guard held in some lane
 *
 * What is not mapped is not released. The end of a frame gives away what it still holds. An operand that is read while its word has no register
 * is delivered from nowhere: only lanes that were never written may do that.
 *
 * Flag words (ir/words.h) stand among the instructions. Those of pbr are decoded each time; one of pir is not where the release-flag cache has it: direct
 * mapped by the word's address among all instructions and words, shared by all warps. A warp needs a pir word where it enters the instructions
 * that it is for, and when a call returns among them.
 *
 * Options: cache=ENTRIES (0 to 64), robin (even wear, instead of sub-arrays first), static (nothing is renamed: what the others are measured
 * against), banks, subarrays (of a bank), table=BYTES (for storage_bits only: the pass decides by it what is renamed), wake=CYCLES. Time is issued
 * instructions. Frames of called functions have table entries of their own, which the table's size does not count.
 *
 * For the tests of the proof, "early" releases before operands are read, "unmarked" takes registers without marking them taken.
 *
 * Cost: O(1) an operand and an instruction, O(words) a frame.
 */
#include "hwmodel/rf/physical.h"
#include "base/bitset.h"
#include "ir/words.h"

enum { HD_RELEASE_MOST_ENTRIES = 64, HD_RELEASE_REGISTERS = 1024 /* of the paper's file: where none is known */, HD_RELEASE_FLAG_BITS = 54 };

typedef struct hd_release_code { /* of a function */
    hd_bitset renamed;
    hd_bitset fixed;                 /* words that have a register as long as the frame lives */
    uint32_t names;                  /* words of a frame, of both kinds */
    uint32_t *after_first, *after;   /* by instruction: words that its pir releases */
    uint32_t *before_first, *before; /* by instruction: words of its pbr */
    uint32_t *flags;                 /* by instruction: 1 + address of the pir word that covers it; 0: none */
    uint8_t *lists;                  /* by instruction: pbr words before it */
    hd_bitset starts;                /* instructions that a pir word stands before */
} hd_release_code;

typedef struct hd_release_warp {
    HD_ARRAY(uint32_t) table; /* by register index in the warp: 1 + physical register; 0: not mapped */
    hd_u32_array names;       /* by frame */
    uint32_t flags;           /* 1 + address of the pir word that it has */
} hd_release_warp;

typedef struct hd_release {
    hd_rf_model model;
    hd_arena arena;
    hd_release_code *codes; /* by function */
    HD_ARRAY(hd_release_warp *) warps; /* by slot */
    hd_physical_file file;
    uint32_t banks, subarrays, entries, table_bytes, wake_cycles;
    uint32_t cache[HD_RELEASE_MOST_ENTRIES]; /* 1 + address of a pir word; 0: empty */
    uint32_t named;                          /* words that all frames that live are given without renaming */
    bool all_static, early;
} hd_release;

/* ---- what the compiler said ------------------------------------------------------------------------------------------ */

static const uint32_t *words_of(const hd_rf_code *code, uint16_t kind, uint32_t instruction, uint32_t *count)
{
    const hd_annotation *note = hd_annotation_at(code->function, kind, instruction, 0);
    *count = note ? note->count : 0;
    return note ? code->function->annotation_words.items + note->value : NULL;
}

static void read_renamed(hd_release *r, hd_release_code *c, const hd_rf_code *code)
{
    uint32_t count;
    const uint32_t *words = words_of(code, HD_ANNOTATION_RELEASE_RENAMED, HD_NONE, &count);
    c->renamed = hd_bitset_new(&r->arena, code->storage.frame + 1);
    for (uint32_t i = 0; i < count && !r->all_static; i++)
        if (words[i] < code->storage.frame)
            hd_bitset_add(&c->renamed, words[i]);
}

/* The registers of an allocated function are all its numbers up to the highest; those of another, the words that instructions name. */
static void find_fixed(hd_release *r, hd_release_code *c, const hd_rf_code *code)
{
    hd_architected numbers;
    c->fixed = hd_bitset_new(&r->arena, code->storage.frame + 1);
    if (hd_architected_of(code->function, &numbers))
        for (uint32_t word = 0; word < numbers.registers && word < code->storage.frame; word++)
            hd_bitset_add(&c->fixed, word);
    for (uint32_t s = 0; s < code->source_first[code->instruction_count]; s++)
        hd_bitset_add(&c->fixed, code->sources[s]);
    for (uint32_t d = 0; d < code->destination_first[code->instruction_count]; d++)
        hd_bitset_add(&c->fixed, code->destinations[d].word);
    c->names = hd_bitset_count(&c->fixed);
    HD_BITSET_EACH (&c->renamed, word)
        hd_bitset_remove(&c->fixed, word);
}

static void take_source(const hd_release_code *c, const hd_rf_code *code, uint32_t instruction, uint32_t slot, hd_u32_array *words)
{
    const hd_function *f = code->function;
    uint32_t operand = hd_insn_source_slot(f, &f->instructions.items[instruction], slot);
    if (operand == HD_NONE)
        return;
    HD_STORAGE_WORDS (&code->storage, f->operands.items[operand].value, word)
        if (hd_bitset_has(&c->renamed, word))
            hd_array_push(words, word);
}

static void take_pir(const hd_release_code *c, const hd_rf_code *code, uint32_t instruction, hd_u32_array *words)
{
    const hd_annotation *note = hd_annotation_at(code->function, HD_ANNOTATION_PIR, instruction, 0);
    for (uint32_t bits = note ? note->value : 0; bits; bits &= bits - 1)
        take_source(c, code, instruction, (uint32_t)__builtin_ctz(bits), words);
}

static void take_pbr(const hd_release_code *c, const hd_rf_code *code, uint32_t instruction, hd_u32_array *words)
{
    uint32_t count;
    const uint32_t *listed = words_of(code, HD_ANNOTATION_PBR, instruction, &count);
    for (uint32_t i = 0; i < count; i++)
        if (listed[i] < code->storage.frame && hd_bitset_has(&c->renamed, listed[i]))
            hd_array_push(words, listed[i]);
}

static void read_flags(hd_release *r, hd_release_code *c, const hd_rf_code *code)
{
    hd_u32_array after = {0}, before = {0};
    c->after_first = HD_ARENA_ARRAY(&r->arena, uint32_t, code->instruction_count + 1);
    c->before_first = HD_ARENA_ARRAY(&r->arena, uint32_t, code->instruction_count + 1);
    for (uint32_t i = 0; i < code->instruction_count; i++) {
        take_pir(c, code, i, &after);
        take_pbr(c, code, i, &before);
        c->after_first[i + 1] = after.count;
        c->before_first[i + 1] = before.count;
    }
    c->after = hd_arena_copy(&r->arena, after.items, after.count * sizeof *after.items);
    c->before = hd_arena_copy(&r->arena, before.items, before.count * sizeof *before.items);
    hd_array_free(&after);
    hd_array_free(&before);
}

/* Where the words stand. What they cannot say has none. */
static const char *read_words(hd_release *r, hd_release_code *c, const hd_rf_code *code, uint32_t *address)
{
    hd_word_array words = {0};
    const char *refusal = NULL;
    uint32_t at = 0, covering = 0;
    c->flags = HD_ARENA_ARRAY(&r->arena, uint32_t, code->instruction_count + 1);
    c->lists = HD_ARENA_ARRAY(&r->arena, uint8_t, code->instruction_count + 1);
    c->starts = hd_bitset_new(&r->arena, code->instruction_count + 1);
    if (!r->all_static && !hd_words_of_release(code->function, &words, &refusal))
        words.count = 0;
    while (at < words.count && words.items[at].instruction == HD_NONE)
        at++, ++*address;
    for (uint32_t i = 0; i < code->instruction_count; i++) {
        for (; at < words.count && words.items[at].instruction == i; at++, ++*address) {
            if (hd_word_opcode_of(words.items[at].bits) != HD_WORD_PIR) {
                c->lists[i] += c->lists[i] < UINT8_MAX;
                continue;
            }
            covering = 1 + *address;
            hd_bitset_add(&c->starts, i);
        }
        c->flags[i] = covering;
        *address += !hd_storage_skips(&code->storage, i);
    }
    hd_array_free(&words);
    return refusal;
}

static void release_destroy(hd_rf_model *model)
{
    hd_release *r = (hd_release *)model;
    for (uint32_t i = 0; i < r->warps.count; i++) {
        hd_array_free(&r->warps.items[i]->table);
        hd_array_free(&r->warps.items[i]->names);
        free(r->warps.items[i]);
    }
    hd_array_free(&r->warps);
    hd_physical_free(&r->file);
    hd_arena_free(&r->arena);
    free(r);
}

static hd_rf_model *release_create(const hd_rf_module *code, const char *options, const char **refusal)
{
    hd_release *r = hd_calloc(1, sizeof *r);
    uint32_t count = code->module->functions.count, address = 0;
    const char *why = NULL;
    r->banks = hd_rf_option(options, "banks", 4);
    r->subarrays = hd_rf_option(options, "subarrays", 4);
    r->entries = hd_rf_option(options, "cache", 10);
    r->table_bytes = hd_rf_option(options, "table", 1024);
    r->wake_cycles = hd_rf_option(options, "wake", 10);
    r->file.robin = hd_rf_flag(options, "robin");
    r->file.unmarked = hd_rf_flag(options, "unmarked");
    r->all_static = hd_rf_flag(options, "static");
    r->early = hd_rf_flag(options, "early");
    if (!r->banks || !r->subarrays || r->entries > HD_RELEASE_MOST_ENTRIES)
        why = "a register file or flag cache of this shape is not modelled";
    r->codes = HD_ARENA_ARRAY(&r->arena, hd_release_code, count);
    for (uint32_t f = 0; f < count && !why; f++) {
        if (!code->functions[f])
            continue;
        read_renamed(r, &r->codes[f], code->functions[f]);
        find_fixed(r, &r->codes[f], code->functions[f]);
        read_flags(r, &r->codes[f], code->functions[f]);
        why = read_words(r, &r->codes[f], code->functions[f], &address);
    }
    if (!why)
        return &r->model;
    release_destroy(&r->model);
    *refusal = why;
    return NULL;
}

static void release_launch(hd_rf_model *model, const hd_rf_launch *launch)
{
    hd_release *r = (hd_release *)model;
    uint32_t registers = launch->residency.file_registers ? launch->residency.file_registers : HD_RELEASE_REGISTERS;
    hd_physical_start(&r->file, registers, r->banks, r->subarrays);
    memset(r->cache, 0, sizeof r->cache);
    r->named = 0;
    hd_rf_add(model, HD_COUNTER_PHYSICAL_REGISTERS, r->file.registers.count);
    if (!r->all_static) /* renaming table, availability vector, flag cache */
        model->storage_bits = 8ull * r->table_bytes + registers + (uint64_t)HD_RELEASE_FLAG_BITS * r->entries;
}

/* ---- mapping --------------------------------------------------------------------------------------------------------- */

static inline hd_release_warp *warp_of(hd_release *r, const hd_rf_warp *warp)
{
    return r->warps.items[warp->slot];
}

static hd_physical_register *map(hd_release *r, const hd_rf_warp *warp, uint32_t index)
{
    hd_owner owner = {warp->identity.warp, warp->identity.frame, index};
    uint32_t touched = r->file.touched, woken = r->file.woken, size = r->file.registers.count;
    uint32_t number = hd_physical_take(&r->file, (warp->slot + index) % r->banks, owner);
    warp_of(r, warp)->table.items[index] = number + 1;
    hd_rf_add(&r->model, HD_COUNTER_MAPPED, 1);
    hd_rf_add(&r->model, HD_COUNTER_TOUCHED, r->file.touched - touched);
    hd_rf_add(&r->model, HD_COUNTER_SUBARRAY_WAKES, r->file.woken - woken);
    hd_rf_add(&r->model, HD_COUNTER_WAKE_CYCLES, (uint64_t)(r->file.woken - woken) * r->wake_cycles);
    hd_rf_add(&r->model, HD_COUNTER_PHYSICAL_REGISTERS, r->file.registers.count - size);
    return &r->file.registers.items[number];
}

static void release(hd_release *r, const hd_rf_step *step, const uint32_t *words, uint32_t count)
{
    hd_release_warp *w = warp_of(r, step->warp);
    for (uint32_t i = 0; i < count; i++) {
        uint32_t *entry = &w->table.items[hd_rf_index(step, words[i])];
        hd_rf_add(&r->model, HD_COUNTER_RENAMING, 1);
        if (!*entry)
            continue;
        hd_physical_give(&r->file, *entry - 1);
        *entry = 0;
        hd_rf_add(&r->model, HD_COUNTER_RELEASED, 1);
    }
}

static inline void count_access(hd_release *r, hd_physical_register *physical)
{
    hd_rf_add(&r->model, HD_COUNTER_ACCESS_SQUARES, 2 * physical->accesses++ + 1);
}

/* ---- lives of warps and frames --------------------------------------------------------------------------------------- */

static void release_warp_start(hd_rf_model *model, hd_rf_warp *warp)
{
    hd_release *r = (hd_release *)model;
    while (r->warps.count <= warp->slot)
        hd_array_push(&r->warps, hd_calloc(1, sizeof(hd_release_warp)));
    hd_array_clear(&warp_of(r, warp)->table);
    hd_array_clear(&warp_of(r, warp)->names);
    warp_of(r, warp)->flags = 0;
}

/* Words that are not renamed, and parameters that the call has written, have a register from the beginning. */
static void release_frame_start(hd_rf_model *model, hd_rf_warp *warp)
{
    hd_release *r = (hd_release *)model;
    const hd_release_code *code = &r->codes[warp->function];
    uint32_t base = warp->identity.base, words = warp->identity.registers.count - base;
    uint32_t *fresh = hd_array_extend(&warp_of(r, warp)->table, words);
    if (words)
        memset(fresh, 0, words * sizeof *fresh);
    for (uint32_t word = 0; word < words; word++) {
        const hd_identity_register *written = &warp->identity.registers.items[base + word];
        if (!written->ever && !hd_bitset_has(&code->fixed, word))
            continue;
        hd_physical_register *physical = map(r, warp, base + word);
        if (written->ever)
            physical->claim = (hd_claim){written->current, written->ever};
    }
    hd_array_push(&warp_of(r, warp)->names, code->names);
    r->named += code->names;
    if (r->named > model->counters[HD_COUNTER_STATIC_REGISTERS])
        model->counters[HD_COUNTER_STATIC_REGISTERS] = r->named;
}

static void release_frame_end(hd_rf_model *model, hd_rf_warp *warp)
{
    hd_release *r = (hd_release *)model;
    hd_release_warp *w = warp_of(r, warp);
    for (uint32_t i = warp->identity.base; i < w->table.count; i++)
        if (w->table.items[i])
            hd_physical_give(&r->file, w->table.items[i] - 1);
    r->named -= hd_array_pop(&w->names);
    w->table.count = warp->identity.base;
    w->flags = 0; /* the caller fetches its own again */
}

/* ---- instructions ---------------------------------------------------------------------------------------------------- */

/* Is the pir word in the cache; it is afterwards. */
static bool cached(hd_release *r, uint32_t flags)
{
    if (!r->entries)
        return false;
    uint32_t *entry = &r->cache[(flags - 1) % r->entries];
    bool hit = *entry == flags;
    *entry = flags;
    return hit;
}

static void fetch_flags(hd_release *r, const hd_rf_step *step, const hd_release_code *code)
{
    hd_release_warp *w = warp_of(r, step->warp);
    uint32_t flags = code->flags[step->instruction], lists = code->lists[step->instruction];
    hd_rf_add(&r->model, HD_COUNTER_LIST_WORDS, lists);
    if (!flags || (w->flags == flags && !hd_bitset_has(&code->starts, step->instruction)))
        return;
    w->flags = flags;
    hd_rf_add(&r->model, HD_COUNTER_FLAG_WORDS, 1);
    hd_rf_add(&r->model, HD_COUNTER_FLAG_DECODES, !cached(r, flags));
}

static void release_issue(hd_rf_model *model, const hd_rf_step *step)
{
    hd_release *r = (hd_release *)model;
    const hd_release_code *code = &r->codes[step->function];
    uint32_t i = step->instruction, units = r->file.subarrays * r->banks;
    fetch_flags(r, step, code);
    if (code->before_first[i + 1] != code->before_first[i])
        release(r, step, code->before + code->before_first[i], code->before_first[i + 1] - code->before_first[i]);
    if (r->early)
        release(r, step, code->after + code->after_first[i], code->after_first[i + 1] - code->after_first[i]);
    model->held = r->file.taken;
    hd_rf_tell(model);
    hd_rf_add(model, HD_COUNTER_SUBARRAY_ON, r->file.lit);
    hd_rf_add(model, HD_COUNTER_SUBARRAY_OFF, units - r->file.lit);
}

static void release_read(hd_rf_model *model, const hd_rf_step *step, uint32_t source, hd_rf_answer *answer)
{
    static const hd_owner nobody = {HD_NONE, 0, 0};
    hd_release *r = (hd_release *)model;
    uint32_t word = step->sources[source], entry = warp_of(r, step->warp)->table.items[hd_rf_index(step, word)];
    bool renamed = hd_bitset_has(&r->codes[step->function].renamed, word);
    hd_rf_add(model, HD_COUNTER_OPERANDS, 1);
    hd_rf_add(model, HD_COUNTER_FILE_READS, 1);
    hd_rf_add(model, HD_COUNTER_RENAMING, renamed);
    answer->extra_cycles = renamed;
    answer->count = 1;
    if (!entry) {
        answer->pieces[0] = (hd_rf_piece){step->effective, HD_RF_FILE, nobody, {0, 0}};
        return;
    }
    hd_physical_register *physical = &r->file.registers.items[entry - 1];
    count_access(r, physical);
    answer->bank = (entry - 1) % r->banks;
    answer->pieces[0] = (hd_rf_piece){step->effective, HD_RF_FILE, physical->owner, physical->claim};
}

static void release_write(hd_rf_model *model, const hd_rf_step *step, uint32_t destination)
{
    hd_release *r = (hd_release *)model;
    uint32_t word = step->destinations[destination].word, index = hd_rf_index(step, word), serial = step->serial + destination;
    uint32_t entry = warp_of(r, step->warp)->table.items[index];
    hd_physical_register *physical = entry ? &r->file.registers.items[entry - 1] : map(r, step->warp, index);
    hd_rf_add(model, HD_COUNTER_RESULTS, 1);
    hd_rf_add(model, HD_COUNTER_FILE_WRITES, 1);
    hd_rf_add(model, HD_COUNTER_RENAMING, hd_bitset_has(&r->codes[step->function].renamed, word));
    count_access(r, physical);
    if (!hd_rf_loses(model))
        physical->claim = hd_identity_merge(&step->warp->identity, index, physical->claim, serial, step->effective);
}

static void release_complete(hd_rf_model *model, const hd_rf_step *step)
{
    hd_release *r = (hd_release *)model;
    const hd_release_code *code = &r->codes[step->function];
    uint32_t i = step->instruction;
    if (code->after_first[i + 1] != code->after_first[i])
        release(r, step, code->after + code->after_first[i], code->after_first[i + 1] - code->after_first[i]);
}

extern const hd_rf_ops hd_rf_release_ops;
const hd_rf_ops hd_rf_release_ops = {
    .create = release_create,
    .destroy = release_destroy,
    .launch = release_launch,
    .warp_start = release_warp_start,
    .frame_start = release_frame_start,
    .frame_end = release_frame_end,
    .issue = release_issue,
    .operand_read = release_read,
    .write_back = release_write,
    .complete = release_complete,
    .coupled = true,
};
