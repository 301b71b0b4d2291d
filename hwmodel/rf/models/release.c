/* RFV: a renamed register file whose physical registers are released by release flags. H. Jeon, G. S. Ravi, N. S. Kim,
 * M. Annavaram, "GPU Register File Virtualization", MICRO 2015.
 *
 * All resident warps share the physical registers (physical.h). A renamed word of a warp is mapped to one at its first
 * write since it was released, in the bank that it would have without renaming; a word that is not renamed is mapped
 * when its frame begins. Flags release:
 *
 *   pbr  before the instruction reads its operands
 *   pir  when the instruction is complete: operands collected, results written, whether or not its guard held in some
 *        lane
 *
 * A callee's words are registers of its caller, whose values are on the stack meanwhile (release_shared.h). So a warp
 * never has more registers than its kernel needs with all functions that it calls. The saves are counted, but are no
 * accesses of the register file.
 *
 * No more thread blocks are resident than have room for all their registers, so a write always finds a free one. Only
 * if one thread block may need more than the file has, as with PTX's virtual registers, a warp waits before an
 * instruction that maps a word until a register is free; it is an error if no warp can issue.
 *
 * A word that is not mapped is not released. The end of a frame releases all words of the frame. A word that is read
 * while it is not mapped delivers no lane; the proof accepts that only for lanes that were never written.
 *
 * Flag words (ir/words/words.h) are in the instruction stream. A pbr word is decoded every time. A pir word is decoded
 * when the release-flag cache misses, which is direct-mapped by the word's address and shared by all warps. A warp
 * needs a pir word when it reaches the instructions that the word covers, and when a call returns to one of them.
 *
 * Time. All names of an instruction, those of its results among them, are looked up in the cycle before its operands
 * are read (section 2.5.4), and nothing waits for the table at write-back. A register in a sub-array that is gated, or
 * still wakes up, is written once that has power, `wake` cycles after the lookup that allocates it (figure 2.9). Words
 * that are not renamed wake up theirs when the frame begins, for nothing. No energy of waking up is published.
 *
 * Options: cache=ENTRIES (0 to 64), robin (round-robin allocation, for even wear, instead of powered sub-arrays first),
 * static (nothing is renamed: the baseline of the others), banks, subarrays (of a bank), table=BYTES (for storage_bits
 * only: the pass decides by it what is renamed), wake=CYCLES. Time is issued instructions.
 *
 * For the tests of the proof, "early" releases before operands are read, "unmarked" allocates registers and leaves them
 * in the free list.
 *
 * Cost: O(1) an operand and an instruction, O(words) a frame.
 */
#include "hwmodel/rf/models/release.h"
#include "hwmodel/rf/memo.h"
#include "target/gpu.h"

enum { HD_RELEASE_REGISTERS = 1024 /* of the paper's file: where none is known */, HD_RELEASE_FLAG_BITS = 54 };

enum { RELEASE_BANKS = 4 }; /* section 2.5.4 */

void hd_release_close(hd_release *r)
{
    for (uint32_t i = 0; i < r->warps.count; i++) {
        hd_array_free(&r->warps.items[i]->mapped);
        hd_array_free(&r->warps.items[i]->names);
        free(r->warps.items[i]);
    }
    hd_array_free(&r->warps);
    hd_rf_file_free(&r->values);
    hd_release_shared_free(&r->shared);
    hd_release_hints_free(&r->hints);
}

static void release_destroy(hd_rf_model *model)
{
    hd_release_close((hd_release *)model);
    free(model);
}

const char *hd_release_open(hd_release *r, const hd_rf_module *code, const char *options)
{
    hd_release_shared *shared = &r->shared;
    shared->model = &r->model;
    r->banks = hd_rf_option(options, "banks", HD_NONE);
    shared->subarrays = hd_rf_option(options, "subarrays", 4);
    shared->entries = hd_rf_option(options, "cache", 10);
    shared->wake_cycles = hd_rf_option(options, "wake", 10);
    shared->file.robin = hd_rf_flag(options, "robin");
    shared->file.unmarked = HD_PLANTED(hd_rf_flag(options, "unmarked"));
    r->table_bytes = hd_rf_option(options, "table", 1024);
    r->all_static = hd_rf_flag(options, "static");
    r->early = HD_PLANTED(hd_rf_flag(options, "early"));
    r->code = code;
    if (!r->banks || !shared->subarrays || shared->entries > HD_RELEASE_MOST_ENTRIES)
        return "a register file or flag cache of this shape is not modelled";
    return hd_release_hints_read(&r->hints, code, r->all_static);
}

static hd_rf_model *release_create(const hd_rf_module *code, const char *options, const char **refusal)
{
    hd_release *r = hd_calloc(1, sizeof *r);
    *refusal = hd_release_open(r, code, options);
    if (!*refusal)
        return &r->model;
    release_destroy(&r->model);
    return NULL;
}

static void release_launch(hd_rf_model *model, const hd_rf_launch *launch)
{
    hd_release *r = (hd_release *)model;
    uint32_t registers = launch->residency.file_registers ? launch->residency.file_registers : HD_RELEASE_REGISTERS;
    registers -= (uint32_t)((uint64_t)registers * r->missing / 100);
    r->shared.banks = r->banks != HD_NONE       ? r->banks
                      : launch->residency.banks ? launch->residency.banks
                                                : RELEASE_BANKS;
    hd_release_shared_start(&r->shared, registers);
    r->kernel_registers = r->code->functions[launch->function]->registers;
    uint64_t warps = (uint64_t)launch->residency.ctas * (launch->residency.cta_warps ? launch->residency.cta_warps : 1);
    r->fits = warps * r->kernel_registers <= registers;
    r->wrong = HD_RF_PROVED;
    model->table_bytes = r->table_bytes;
    if (!r->all_static) /* renaming table, availability vector, flag cache */
        model->storage_bits = 8ull * r->table_bytes + registers + (uint64_t)HD_RELEASE_FLAG_BITS * r->shared.entries;
}

/* ---- what warps share -------------------------------------------------------------------------------------------- */

static hd_rf_wrong release_share(hd_rf_model *model, hd_rf_warp *warp, const hd_effect *operation)
{
    return hd_release_shared_do(&((hd_release *)model)->shared, warp->slot, operation);
}

void hd_release_do(hd_release *r, hd_rf_warp *warp, hd_release_operation what, uint32_t index, uint32_t n)
{
    hd_rf_wrong wrong = hd_rf_share(&r->model, warp, (hd_effect){.what = (uint16_t)what, .index = index, .n = n});
    if (wrong == HD_RF_PROVED || r->wrong)
        return;
    r->wrong = wrong;
    r->wrong_word = index;
}

static void report_wrong(const hd_release *r, const hd_rf_step *step, hd_access_sink *sink)
{
    if (r->wrong)
        hd_rf_fail(&sink->failure, step, (hd_rf_failure){.wrong = r->wrong, .word = r->wrong_word});
}

static bool release_never_refuses(const hd_rf_model *model) { return ((const hd_release *)model)->fits; }

uint32_t hd_release_wanted(hd_release *r, const hd_rf_step *step)
{
    const hd_release_warp *w = hd_release_warp_of(r, step->warp);
    uint32_t wanted = 0;
    for (uint32_t d = 0; d < step->destination_count && step->effective; d++)
        wanted += !w->mapped.items[hd_rf_index(step, step->destinations[d].word)];
    return wanted;
}

/* A warp waits until every word that the instruction would map finds a free register. */
static hd_gate release_may_issue(hd_rf_model *model, const hd_rf_step *step, uint64_t now)
{
    hd_release *r = (hd_release *)model;
    (void)now;
    bool may = hd_release_wanted(r, step) <= hd_physical_free_count(&r->shared.file);
    hd_rf_event(model, HD_COUNTER_REGISTER_WAITS, !may);
    return (hd_gate){.ready = may, .reason = may ? HD_STALL_NONE : HD_STALL_REGISTER};
}

static void release_finalize(hd_rf_model *model) { hd_release_shared_finalize(&((hd_release *)model)->shared); }

/* ---- mapping ----------------------------------------------------------------------------------------------------- */

void hd_release_map(hd_release *r, hd_rf_warp *warp, uint32_t index, bool spilled)
{
    hd_release_warp_of(r, warp)->mapped.items[index] = true;
    hd_release_do(r, warp, HD_RELEASE_MAP, index - warp->identity.base, spilled);
    hd_rf_event(&r->model, HD_COUNTER_MAPPED, 1);
}

static void unmap_word(hd_release *r, hd_rf_warp *warp, uint32_t index)
{
    hd_release_warp_of(r, warp)->mapped.items[index] = false;
    *hd_rf_file_at(&r->values, warp, index) = (hd_claim){0, 0};
    hd_release_do(r, warp, HD_RELEASE_UNMAP, index - warp->identity.base, 0);
}

static void release_words(hd_release *r, const hd_rf_step *step, const uint32_t *words, uint32_t count,
                          hd_access_sink *sink)
{
    for (uint32_t i = 0; i < count; i++) {
        uint32_t index = hd_rf_index(step, words[i]);
        hd_emit(sink, (hd_rf_access){.structure = HD_STRUCTURE_TABLE, .kind = HD_RF_WRITE});
        if (!hd_release_warp_of(r, step->warp)->mapped.items[index])
            continue;
        unmap_word(r, step->warp, index);
        hd_rf_event(&r->model, HD_COUNTER_RELEASED, 1);
    }
}

/* ---- lives of warps and frames ----------------------------------------------------------------------------------- */

static void release_warp_begin(hd_rf_model *model, hd_rf_warp *warp)
{
    hd_release *r = (hd_release *)model;
    while (r->warps.count <= warp->slot)
        hd_array_push(&r->warps, hd_calloc(1, sizeof(hd_release_warp)));
    hd_release_warp *w = hd_release_warp_of(r, warp);
    hd_array_clear(&w->mapped);
    hd_array_clear(&w->names);
    w->flags = 0;
}

/* Maps words that are not renamed, and parameters that the call has written. */
static void release_frame_begin(hd_rf_model *model, hd_rf_warp *warp)
{
    hd_release *r = (hd_release *)model;
    hd_release_warp *w = hd_release_warp_of(r, warp);
    const hd_release_function *code = &r->hints.functions[warp->function];
    uint32_t base = warp->identity.base, words = warp->identity.registers.count - base;
    hd_rf_file_frame_begin(&r->values, warp);
    bool *mapped = hd_array_extend(&w->mapped, words);
    if (words)
        memset(mapped, 0, words * sizeof *mapped);
    for (uint32_t word = 0; word < words && !r->late; word++)
        if (warp->identity.registers.items[base + word].ever || hd_bitset_has(&code->fixed, word))
            hd_release_map(r, warp, base + word, false);
    /* a callee reserves none: it uses its caller's */
    uint32_t names = warp->identity.frames.count > 1 ? 0 : r->code->calls ? r->kernel_registers : code->names;
    hd_array_push(&w->names, names);
    hd_release_do(r, warp, HD_RELEASE_RESERVE, 0, names);
}

static void release_frame_end(hd_rf_model *model, hd_rf_warp *warp)
{
    hd_release *r = (hd_release *)model;
    hd_release_warp *w = hd_release_warp_of(r, warp);
    for (uint32_t i = warp->identity.base; i < w->mapped.count; i++)
        if (w->mapped.items[i])
            unmap_word(r, warp, i);
    hd_release_do(r, warp, HD_RELEASE_UNRESERVE, 0, hd_array_pop(&w->names));
    w->mapped.count = warp->identity.base;
    w->flags = 0; /* the caller fetches its flag word again */
}

/* ---- instructions ------------------------------------------------------------------------------------------------ */

/* Flag words are fetched and decoded before the instruction can issue. */
static void release_before(hd_rf_model *model, const hd_rf_step *step, hd_access_sink *sink)
{
    hd_release *r = (hd_release *)model;
    hd_release_warp *w = hd_release_warp_of(r, step->warp);
    const hd_release_function *code = &r->hints.functions[step->function];
    uint32_t flags = code->flags[step->instruction], lists = code->lists[step->instruction];
    for (uint32_t i = 0; i < lists; i++)
        hd_emit(sink, (hd_rf_access){.structure = HD_STRUCTURE_FLAGS, .kind = HD_RF_READ});
    if (!flags || (w->flags == flags && !hd_bitset_has(&code->starts, step->instruction)))
        return;
    w->flags = flags;
    hd_emit(sink, (hd_rf_access){.structure = HD_STRUCTURE_FLAGS, .kind = HD_RF_LOOKUP});
    uint32_t missed = r->shared.missed;
    hd_release_do(r, step->warp, HD_RELEASE_FETCH, flags, r->shared.entries ? (flags - 1) % r->shared.entries : 0);
    if (r->shared.missed == missed || model->memo.effects) /* which is replayed, and may hit then */
        return;
    r->shared.missed = missed;
    hd_emit(sink, (hd_rf_access){.structure = HD_STRUCTURE_FLAGS, .kind = HD_RF_FILL});
}

/* The LOOKUP of a renamed word, as `after` names it; 0: the word is not renamed. It takes a cycle, and those in which a
 * sub-array wakes up for the word. */
static uint16_t look_up_name(const hd_release *r, const hd_rf_step *step, uint32_t word, uint16_t operand,
                             hd_access_sink *sink)
{
    if (!hd_bitset_has(&r->hints.functions[step->function].renamed, word))
        return 0;
    return hd_emit(sink, (hd_rf_access){.structure = HD_STRUCTURE_TABLE,
                                        .kind = HD_RF_LOOKUP,
                                        .cycles = (uint16_t)(1 + r->shared.woken_in),
                                        .operand = operand});
}

static void access_file(hd_release *r, const hd_rf_step *step, uint32_t word, hd_access_kind kind, uint16_t operand,
                        hd_access_sink *sink)
{
    uint16_t named = look_up_name(r, step, word, operand, sink);
    r->shared.woken_in = 0;
    hd_emit(sink, (hd_rf_access){.structure = HD_STRUCTURE_FILE,
                                 .kind = (uint8_t)kind,
                                 .operand = operand,
                                 .after = named,
                                 .bank = (uint16_t)hd_release_bank(&r->shared, step->warp->slot, word),
                                 .lanes = step->effective});
}

static void read_operand(hd_release *r, const hd_rf_step *step, uint32_t source, hd_access_sink *sink)
{
    static const hd_owner nobody = {HD_NONE, 0, 0};
    hd_release_warp *w = hd_release_warp_of(r, step->warp);
    uint32_t word = step->sources[source], index = hd_rf_index(step, word);
    bool mapped = w->mapped.items[index];
    if (mapped)
        hd_release_do(r, step->warp, HD_RELEASE_ACCESS, word, 1);
    hd_rf_deliver(sink, step, source, HD_STRUCTURE_FILE, step->effective, mapped ? hd_rf_owner(step, word) : nobody,
                  mapped ? *hd_rf_file_at(&r->values, step->warp, index) : (hd_claim){0, 0});
    access_file(r, step, word, HD_RF_READ, hd_access_source(source), sink);
}

static void write_result(hd_release *r, const hd_rf_step *step, uint32_t destination, hd_access_sink *sink)
{
    hd_release_warp *w = hd_release_warp_of(r, step->warp);
    uint32_t word = step->destinations[destination].word, index = hd_rf_index(step, word);
    hd_claim *value = hd_rf_file_at(&r->values, step->warp, index);
    if (!w->mapped.items[index])
        hd_release_map(r, step->warp, index, false);
    access_file(r, step, word, HD_RF_WRITE, hd_access_result(destination), sink);
    hd_release_do(r, step->warp, HD_RELEASE_ACCESS, word, 1);
    if (!hd_rf_loses(&r->model))
        *value = hd_rf_written(step, destination, *value);
}

static void release_execute(hd_rf_model *model, const hd_rf_step *step, hd_access_sink *sink)
{
    hd_release *r = (hd_release *)model;
    const hd_release_function *code = &r->hints.functions[step->function];
    uint32_t i = step->instruction, before = code->before_first[i], after = code->after_first[i];
    r->shared.now = sink->now;
    r->shared.woken_in = 0; /* for words that were mapped when their frame began */
    release_words(r, step, code->before + before, code->before_first[i + 1] - before, sink);
    if (HD_PLANTED(r->early))
        release_words(r, step, code->after + after, code->after_first[i + 1] - after, sink);
    hd_release_do(r, step->warp, HD_RELEASE_ISSUE, 0, 1);
    for (uint32_t s = 0; s < step->source_count && step->effective; s++)
        read_operand(r, step, s, sink);
    for (uint32_t d = 0; d < step->destination_count && step->effective; d++)
        write_result(r, step, d, sink);
    release_words(r, step, code->after + after, code->after_first[i + 1] - after, sink);
    report_wrong(r, step, sink);
}

/* ---- what is known of a warp ------------------------------------------------------------------------------------- */

static void release_snapshot(hd_rf_model *model, hd_rf_warp *warp, hd_snapshot *c)
{
    hd_release *r = (hd_release *)model;
    hd_release_warp *w = hd_release_warp_of(r, warp);
    hd_rf_file_snapshot(&r->values, warp, c);
    for (uint32_t i = 0; i < c->end; i++)
        w->mapped.items[i] = hd_snapshot_word(c, w->mapped.items[i]);
    w->flags = hd_snapshot_word(c, w->flags);
}

/* Sub-arrays without a value are power-gated (section 2.8.2); the file without renaming has no gates. */
static uint64_t release_powered(const hd_rf_model *model)
{
    const hd_release *r = (const hd_release *)model;
    const hd_physical_file *file = &r->shared.file;
    return r->all_static ? file->capacity : (uint64_t)file->powered * file->rows;
}

const hd_rf_ops hd_rf_release_ops = {
    .create = release_create,
    .destroy = release_destroy,
    .launch = release_launch,
    .warp_begin = release_warp_begin,
    .frame_begin = release_frame_begin,
    .frame_end = release_frame_end,
    .may_issue = release_may_issue,
    .before = release_before,
    .powered = release_powered,
    .storage = HD_ENERGY_RENAMING_TABLE,
    .execute = release_execute,
    .coupled = true,
    .finalize = release_finalize,
    .memo = &(const hd_memo_ops){.snapshot = release_snapshot,
                                 .share = release_share,
                                 .never_refuses = release_never_refuses},
};
