/* BOW and BOW-WR: operand bypass windows. "BOW: Breathing Operand Windows to Exploit Bypassing in GPUs", MICRO 2020,
 * sections 3 and 4.
 *
 * Each warp has a window of entries, one a warp register. The window is the stream of the warp's issued instructions:
 * each of them moves it on, guard or not. An entry stays for the iw - 1 instructions after its last access; an
 * instruction that names its register keeps it, even where the guard holds in no lane. Every operand read from the file
 * enters the window. Policies:
 *
 *   through  results go to window and file (BOW)
 *   back     results go to the window, and to the file when the entry leaves (BOW-WR without the compiler)
 *   tags     the compiler says for each destination: file only, window only, or both (BOW-WR)
 *
 * The option "front" is "through" before a register file of another model (bow_corf.c), which writes results itself.
 *
 * Entries keep lane masks, because under divergence and guards a write fills some lanes only:
 *
 *   valid  lanes that the entry holds               dirty  of these, lanes to be written to the file when it leaves
 *   filed  of these, lanes that the file holds too
 *
 * A read takes valid lanes from the entry and the others from the file, and fills them in. A result that goes to the
 * file only takes its lanes out of the entry. `entries` may be fewer than the window can fill: the oldest entry (first
 * in, first out) is then evicted, and saves all lanes that the file does not hold, whatever their tags say. The end of
 * a warp or of a call's frame drops entries without a write.
 *
 * Cost: O(1) an instruction and an operand; a forced eviction looks at all entries.
 *
 * Options "unmasked" and "unsaved" break the lane masks and the saving eviction; they are there for the tests of the
 * proof.
 */
#include "hwmodel/rf/models/bow_corf.h"
#include "base/bits.h"
#include "hwmodel/rf/memo.h"
#include "hwmodel/rf/technique.h"
#include "target/gpu.h"

enum { HD_BOW_ENTRIES = 64, HD_BOW_TIMES = 32 /* a power of two; windows are shorter */, HD_BOW_LANES = 32 };
enum {
    HD_BOW_WARPS = 32,
    HD_BOW_REGISTERS = 256 /* of the paper's machine */,
    HD_BOW_CONVENTIONAL = 3 /* entries of a collector without a window */
};
typedef enum hd_bow_policy { HD_BOW_THROUGH, HD_BOW_BACK, HD_BOW_TAGS } hd_bow_policy;
/* order of the annotation's words */
typedef enum hd_bow_tag { HD_BOW_BOTH, HD_BOW_FILE_ONLY, HD_BOW_WINDOW_ONLY } hd_bow_tag;

typedef struct hd_bow_entry {
    uint32_t index, frame, entered, accessed; /* entered: in which order; accessed: when, in instructions */
    uint32_t valid, dirty, filed;
    hd_claim claim;
    uint64_t bit; /* of its place, in masks of entries */
} hd_bow_entry;

/* Entries are found by register, and by the time of their last access, without a search. */
typedef struct hd_bow_window {
    uint32_t now, entered, count;
    uint64_t used;             /* mask of entries */
    uint64_t at[HD_BOW_TIMES]; /* mask of entries last accessed at this time, modulo HD_BOW_TIMES */
    hd_bow_entry entries[HD_BOW_ENTRIES];
    HD_ARRAY(uint8_t) entry_of; /* by register index in the warp: 1 + entry, 0 = none */
} hd_bow_window;

typedef struct hd_bow {
    hd_rf_model model;
    hd_rf_file file;
    HD_ARRAY(hd_bow_window *) windows; /* by slot */
    hd_bow_policy policy;
    uint32_t iw, capacity;
    uint32_t sm_warps, register_bits; /* of the launch: collectors; bits of a register's number */
    bool unmasked, unsaved, front;
    hd_arena arena;
    uint8_t **tags; /* by function, by index in its code's destinations */
} hd_bow;

/* ---- what the compiler said -------------------------------------------------------------------------------------- */

static uint8_t *read_tags(hd_bow *bow, const hd_rf_code *code)
{
    const hd_function *f = code->function;
    /* HD_BOW_BOTH */
    uint8_t *tags = HD_ARENA_ARRAY(&bow->arena, uint8_t, code->destination_first[code->instruction_count]);
    for (uint32_t a = 0; a < f->annotations.count; a++) {
        const hd_annotation *note = &f->annotations.items[a];
        if (note->kind != HD_ANNOTATION_BOW)
            continue;
        uint32_t end = code->destination_first[note->instruction + 1];
        for (uint32_t d = code->destination_first[note->instruction]; d < end; d++)
            if (code->destinations[d].slot == note->slot)
                tags[d] = (uint8_t)note->value;
    }
    return tags;
}

static bool window_fits(const hd_bow *bow, const hd_function *f)
{
    for (uint32_t a = 0; a < f->annotations.count; a++)
        if (f->annotations.items[a].kind == HD_ANNOTATION_BOW_WINDOW && f->annotations.items[a].value > bow->iw)
            return false;
    return true;
}

static bool read_module(hd_bow *bow, const hd_rf_module *code)
{
    uint32_t count = code->module->functions.count;
    bow->tags = HD_ARENA_ARRAY(&bow->arena, uint8_t *, count);
    for (uint32_t f = 0; f < count; f++) {
        if (!code->functions[f])
            continue;
        if (!window_fits(bow, code->functions[f]->function))
            return false;
        bow->tags[f] = read_tags(bow, code->functions[f]);
    }
    return true;
}

static void bow_destroy(hd_rf_model *model)
{
    hd_bow *bow = (hd_bow *)model;
    for (uint32_t i = 0; i < bow->windows.count; i++) {
        hd_array_free(&bow->windows.items[i]->entry_of);
        free(bow->windows.items[i]);
    }
    hd_array_free(&bow->windows);
    hd_rf_file_free(&bow->file);
    hd_arena_free(&bow->arena);
    free(bow);
}

static hd_rf_model *bow_create(const hd_rf_module *code, const char *options, const char **refusal)
{
    hd_bow *bow = hd_calloc(1, sizeof *bow);
    bow->policy = strstr(options, "policy=tags")   ? HD_BOW_TAGS
                  : strstr(options, "policy=back") ? HD_BOW_BACK
                                                   : HD_BOW_THROUGH;
    bow->iw = hd_rf_option(options, "iw", 3);
    bow->capacity = hd_rf_option(options, "entries", (hd_rf_flag(options, "half") ? 2 : 4) * bow->iw);
    bow->unmasked = HD_PLANTED(hd_rf_flag(options, "unmasked"));
    bow->unsaved = HD_PLANTED(hd_rf_flag(options, "unsaved"));
    bow->front = hd_rf_flag(options, "front");
    const char *why = NULL;
    if (bow->iw < 1 || bow->iw >= HD_BOW_TIMES || bow->capacity < 1 || bow->capacity > HD_BOW_ENTRIES)
        why = "a window of this size is not modelled";
    else if (bow->policy == HD_BOW_TAGS && !read_module(bow, code))
        why = "the kernel's tags were made for a longer window";
    if (!why)
        return &bow->model;
    bow_destroy(&bow->model);
    *refusal = why;
    return NULL;
}

/* ---- what it adds to an SM --------------------------------------------------------------------------------------- */

/* "Hardware Overhead" in the paper: a collector for each warp, whose entries have 1024 bits, where a conventional one
 * has three of them. The paper counts no more than these: 32 x 9 x 128 bytes are its 36 KB, half of the entries its 12
 * KB. Beside them each entry has the number of its register, its age in instructions, its valid lanes, and, where
 * values are written back, the lanes that the file is owed and, where it may be evicted, those that the file has, with
 * its place in the order of arrival. */
static uint64_t storage_bits(const hd_bow *bow)
{
    bool back = bow->policy != HD_BOW_THROUGH, evicts = bow->capacity < 4 * bow->iw;
    uint32_t data = bow->capacity > HD_BOW_CONVENTIONAL ? bow->capacity - HD_BOW_CONVENTIONAL : 0;
    uint32_t tags = bow->register_bits + hd_bits_for(bow->iw) + HD_BOW_LANES + (back ? HD_BOW_LANES : 0) +
                    (evicts ? hd_bits_for(bow->capacity) + (back ? HD_BOW_LANES : 0) : 0);
    return (uint64_t)bow->sm_warps * (data * 1024ull + bow->capacity * tags);
}

static void bow_launch(hd_rf_model *model, const hd_rf_launch *launch)
{
    hd_bow *bow = (hd_bow *)model;
    const hd_rf_residency *r = &launch->residency;
    bow->sm_warps = r->sm_warps ? r->sm_warps : HD_BOW_WARPS;
    bow->register_bits = hd_bits_for(r->thread_registers ? r->thread_registers + 1 : HD_BOW_REGISTERS);
    model->storage_bits = storage_bits(bow);
}

/* ---- the window -------------------------------------------------------------------------------------------------- */

static hd_bow_window *window_of(hd_bow *bow, const hd_rf_warp *warp) { return bow->windows.items[warp->slot]; }

static hd_bow_entry *find_entry(hd_bow_window *w, uint32_t index)
{
    uint8_t entry = w->entry_of.items[index];
    return entry ? &w->entries[entry - 1] : NULL;
}

/* Writes an entry's dirty lanes to the file; the caller removes the entry. */
static void write_back_dirty(hd_bow *bow, const hd_rf_warp *warp, const hd_bow_entry *e, hd_access_sink *sink)
{
    if (!e->dirty)
        return;
    uint16_t spill =
        hd_emit(sink, (hd_rf_access){.structure = HD_STRUCTURE_WINDOW, .kind = HD_RF_SPILL, .lanes = e->dirty});
    hd_emit(sink, (hd_rf_access){.structure = HD_STRUCTURE_FILE,
                                 .kind = HD_RF_WRITE,
                                 .after = spill,
                                 .bank = hd_rf_index_bank(warp, e->index),
                                 .lanes = e->dirty});
    if (hd_rf_loses(&bow->model))
        return;
    hd_claim *home = hd_rf_file_at(&bow->file, warp, e->index);
    *home = hd_identity_copy(&warp->identity, e->index, *home, e->claim, e->dirty);
}

static void remove_entry(hd_bow_window *w, hd_bow_entry *e)
{
    w->count--;
    w->used &= ~e->bit;
    w->at[e->accessed % HD_BOW_TIMES] &= ~e->bit;
    w->entry_of.items[e->index] = 0;
}

static inline void keep_in_window(hd_bow_window *w, hd_bow_entry *e)
{
    if (e->accessed == w->now)
        return;
    w->at[e->accessed % HD_BOW_TIMES] &= ~e->bit;
    e->accessed = w->now;
    w->at[w->now % HD_BOW_TIMES] |= e->bit;
}

static void evict_oldest(hd_bow *bow, const hd_rf_warp *warp, hd_bow_window *w, hd_access_sink *sink)
{
    hd_bow_entry *oldest = &w->entries[__builtin_ctzll(w->used)];
    HD_EACH_BIT64 (entry, w->used)
        if (w->entries[entry].entered < oldest->entered)
            oldest = &w->entries[entry];
    if (!HD_PLANTED(bow->unsaved))
        oldest->dirty |= oldest->valid & ~oldest->filed;
    hd_rf_event(&bow->model, HD_COUNTER_EVICTIONS, 1);
    write_back_dirty(bow, warp, oldest, sink);
    remove_entry(w, oldest);
}

static hd_bow_entry *insert_entry(hd_bow *bow, const hd_rf_warp *warp, hd_bow_window *w, uint32_t index,
                                  hd_access_sink *sink)
{
    if (w->count == bow->capacity)
        evict_oldest(bow, warp, w, sink);
    uint32_t place = (uint32_t)__builtin_ctzll(~w->used);
    hd_bow_entry *e = &w->entries[place];
    e->index = index;
    e->frame = warp->identity.frame;
    e->entered = w->entered++;
    e->accessed = w->now;
    e->valid = e->dirty = e->filed = 0;
    e->claim = (hd_claim){0, 0};
    e->bit = 1ull << place;
    w->count++;
    w->used |= e->bit;
    w->at[w->now % HD_BOW_TIMES] |= e->bit;
    w->entry_of.items[index] = (uint8_t)(place + 1);
    return e;
}

/* The window advances to the instruction, whose registers stay. */
static void advance_window(hd_bow *bow, const hd_rf_step *step, hd_access_sink *sink)
{
    hd_bow_window *w = window_of(bow, step->warp);
    w->now++;
    HD_EACH_BIT64 (entry, w->at[(w->now - bow->iw) % HD_BOW_TIMES]) {
        hd_bow_entry *e = &w->entries[entry];
        write_back_dirty(bow, step->warp, e, sink);
        remove_entry(w, e);
    }
    for (uint32_t s = 0; s < step->source_count; s++) {
        hd_bow_entry *e = find_entry(w, hd_rf_index(step, step->sources[s]));
        if (e)
            keep_in_window(w, e);
    }
    for (uint32_t d = 0; d < step->destination_count; d++) {
        hd_bow_entry *e = find_entry(w, hd_rf_index(step, step->destinations[d].word));
        if (e)
            keep_in_window(w, e);
    }
}

/* ---- operands and results ---------------------------------------------------------------------------------------- */

/* Fills all lanes that the entry does not hold from the file, read by the access `read`. */
static void fill_from_file(hd_bow *bow, const hd_rf_step *step, hd_bow_entry *e, uint16_t read, hd_access_sink *sink)
{
    uint32_t lanes = ~e->valid;
    hd_claim home = *hd_rf_file_at(&bow->file, step->warp, e->index);
    hd_emit(sink, (hd_rf_access){.structure = HD_STRUCTURE_WINDOW, .kind = HD_RF_FILL, .after = read, .lanes = lanes});
    e->filed |= lanes;
    e->claim = e->valid ? hd_identity_copy(&step->warp->identity, e->index, e->claim, home, lanes) : home;
    e->valid = UINT32_MAX;
}

static void read_operand(hd_bow *bow, const hd_rf_step *step, uint32_t source, hd_access_sink *sink)
{
    hd_bow_window *w = window_of(bow, step->warp);
    uint32_t index = hd_rf_index(step, step->sources[source]);
    hd_owner owner = {step->warp->identity.warp, step->warp->identity.frame, index};
    hd_bow_entry *e = find_entry(w, index);
    uint32_t held = e ? step->effective & e->valid : 0, missing = step->effective & ~held;
    if (held)
        hd_rf_read(sink, step, source, HD_STRUCTURE_WINDOW, held, (hd_owner){owner.warp, e->frame, e->index}, e->claim);
    if (!missing)
        return;
    uint16_t read = hd_rf_read(sink, step, source, HD_STRUCTURE_FILE, missing, owner,
                               *hd_rf_file_at(&bow->file, step->warp, index));
    fill_from_file(bow, step, e ? e : insert_entry(bow, step->warp, w, index, sink), read, sink);
}

/* A result that does not go to the window: the entry's values in these lanes are old now. */
static void invalidate_lanes(hd_bow_window *w, hd_bow_entry *e, uint32_t lanes)
{
    if (!e)
        return;
    e->valid &= ~lanes;
    e->dirty &= ~lanes;
    e->filed &= ~lanes;
    if (!e->valid)
        remove_entry(w, e);
}

static void write_window(hd_bow *bow, const hd_rf_step *step, hd_bow_entry *e, uint32_t destination,
                         hd_access_sink *sink)
{
    hd_rf_write(sink, step, destination, HD_STRUCTURE_WINDOW);
    if (!hd_rf_loses(&bow->model))
        e->claim = hd_rf_written(step, destination, e->claim);
}

static hd_bow_tag tag_of(const hd_bow *bow, const hd_rf_step *step, uint32_t destination)
{
    if (bow->policy != HD_BOW_TAGS)
        return HD_BOW_BOTH;
    return (hd_bow_tag)bow->tags[step->function][step->code->destination_first[step->instruction] + destination];
}

static void count_tag(hd_bow *bow, hd_bow_tag tag)
{
    static const hd_counter counters[] = {HD_COUNTER_TO_BOTH, HD_COUNTER_TO_FILE, HD_COUNTER_TO_WINDOW};
    if (bow->policy == HD_BOW_TAGS)
        hd_rf_event(&bow->model, counters[tag], 1);
}

static void write_result(hd_bow *bow, const hd_rf_step *step, uint32_t destination, hd_access_sink *sink)
{
    hd_bow_window *w = window_of(bow, step->warp);
    uint32_t index = hd_rf_index(step, step->destinations[destination].word);
    hd_bow_entry *e = find_entry(w, index);
    hd_bow_tag tag = tag_of(bow, step, destination);
    uint32_t lanes = HD_PLANTED(bow->unmasked) ? UINT32_MAX : step->effective;
    count_tag(bow, tag);
    if (!bow->front && (bow->policy == HD_BOW_THROUGH || tag == HD_BOW_FILE_ONLY))
        hd_rf_file_write(&bow->model, &bow->file, step, destination, sink);
    if (tag == HD_BOW_FILE_ONLY) {
        invalidate_lanes(w, e, lanes);
        return;
    }
    e = e ? e : insert_entry(bow, step->warp, w, index, sink);
    write_window(bow, step, e, destination, sink);
    e->valid |= lanes;
    e->dirty = tag == HD_BOW_BOTH && bow->policy != HD_BOW_THROUGH ? e->dirty | lanes : e->dirty & ~lanes;
    e->filed = bow->policy == HD_BOW_THROUGH ? e->filed | lanes : e->filed & ~lanes;
}

static void bow_execute(hd_rf_model *model, const hd_rf_step *step, hd_access_sink *sink)
{
    hd_bow *bow = (hd_bow *)model;
    advance_window(bow, step, sink);
    if (!step->effective)
        return;
    for (uint32_t s = 0; s < step->source_count; s++)
        read_operand(bow, step, s, sink);
    for (uint32_t d = 0; d < step->destination_count; d++)
        write_result(bow, step, d, sink);
}

/* ---- lives of warps and frames ----------------------------------------------------------------------------------- */

static void bow_warp_begin(hd_rf_model *model, hd_rf_warp *warp)
{
    hd_bow *bow = (hd_bow *)model;
    while (bow->windows.count <= warp->slot)
        hd_array_push(&bow->windows, hd_calloc(1, sizeof(hd_bow_window)));
    hd_bow_window *w = window_of(bow, warp);
    w->now = w->entered = w->count = 0;
    w->used = 0;
    memset(w->at, 0, sizeof w->at);
    hd_array_clear(&w->entry_of);
}

static void bow_frame_begin(hd_rf_model *model, hd_rf_warp *warp)
{
    hd_bow *bow = (hd_bow *)model;
    hd_bow_window *w = window_of(bow, warp);
    uint32_t words = warp->identity.registers.count - warp->identity.base;
    uint8_t *fresh = hd_array_extend(&w->entry_of, words);
    if (words)
        memset(fresh, 0, words);
    hd_rf_file_frame_begin(&bow->file, warp);
}

static void bow_frame_end(hd_rf_model *model, hd_rf_warp *warp)
{
    hd_bow_window *w = window_of((hd_bow *)model, warp);
    HD_EACH_BIT64 (entry, w->used) {
        hd_bow_entry *e = &w->entries[entry];
        if (e->frame == warp->identity.frame)
            remove_entry(w, e);
    }
    w->entry_of.count = warp->identity.base;
}

/* The number of older entries. */
static uint32_t rank_of(const hd_bow_window *w, const hd_bow_entry *e)
{
    uint32_t rank = 0;
    HD_EACH_BIT64 (entry, w->used)
        rank += w->entries[entry].entered < e->entered;
    return rank;
}

static void pass_entry(hd_snapshot *c, const hd_bow_window *w, hd_bow_entry *e)
{
    hd_owner owner = hd_snapshot_owner(c, (hd_owner){c->identity->warp, e->frame, e->index});
    e->index = owner.index;
    e->frame = owner.frame;
    e->accessed = w->now - hd_snapshot_word(c, w->now - e->accessed);
    e->valid = hd_snapshot_lanes(c, e->valid);
    e->dirty = hd_snapshot_lanes(c, e->dirty);
    e->filed = hd_snapshot_lanes(c, e->filed);
    e->claim = hd_snapshot_claim(c, e->index, e->claim);
}

/* Entries by where they lie, as in `enter`, and in the order in which they came. */
static void bow_snapshot(hd_rf_model *model, hd_rf_warp *warp, hd_snapshot *c)
{
    hd_bow *bow = (hd_bow *)model;
    hd_bow_window *w = window_of(bow, warp);
    hd_rf_file_snapshot(&bow->file, warp, c);
    uint32_t count = hd_snapshot_word(c, w->count);
    if (c->out) {
        HD_EACH_BIT64 (entry, w->used) {
            hd_bow_entry *e = &w->entries[entry];
            hd_snapshot_word(c, rank_of(w, e));
            pass_entry(c, w, e);
        }
        return;
    }
    w->now = HD_BOW_TIMES;
    w->count = w->entered = count;
    w->used = count < HD_BOW_ENTRIES ? (1ull << count) - 1 : UINT64_MAX;
    memset(w->at, 0, sizeof w->at);
    memset(w->entry_of.items, 0, w->entry_of.count);
    for (uint32_t place = 0; place < count; place++) {
        hd_bow_entry *e = &w->entries[place];
        e->entered = hd_snapshot_word(c, 0);
        e->bit = 1ull << place;
        pass_entry(c, w, e);
        w->at[e->accessed % HD_BOW_TIMES] |= e->bit;
        w->entry_of.items[e->index] = (uint8_t)(place + 1);
    }
}

hd_claim *hd_bow_home(hd_rf_model *window, const hd_rf_step *step, uint32_t word)
{
    return hd_rf_file_at(&((hd_bow *)window)->file, step->warp, hd_rf_index(step, word));
}

const hd_rf_ops hd_rf_bow_ops = {
    .create = bow_create,
    .destroy = bow_destroy,
    .launch = bow_launch,
    .warp_begin = bow_warp_begin,
    .frame_begin = bow_frame_begin,
    .frame_end = bow_frame_end,
    .storage = HD_ENERGY_BYPASS_COLLECTOR,
    .execute = bow_execute,
    .memo = &(const hd_memo_ops){.snapshot = bow_snapshot},
};
