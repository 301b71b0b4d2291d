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
#include "hwmodel/rf/carry.h"
#include "hwmodel/rf/physical.h"
#include "hwmodel/rf/release_deeds.h"
#include "hwmodel/rf/release_hints.h"

enum { HD_RELEASE_MOST_ENTRIES = 64, HD_RELEASE_REGISTERS = 1024 /* of the paper's file: where none is known */, HD_RELEASE_FLAG_BITS = 54 };

typedef struct hd_release_warp {
    HD_ARRAY(bool) mapped;     /* by register index in the warp: it has a physical register */
    HD_ARRAY(uint64_t) noted;  /* by register index: where its accesses are noted, see note_once */
    hd_u32_array names;        /* by frame */
    uint32_t flags;            /* 1 + address of the pir word that it has */
    hd_u32_array places;       /* by register index: 1 + its physical register, 0: none; as deeds that were done have it */
} hd_release_warp;

typedef struct hd_release {
    hd_rf_model model;
    hd_release_hints hints;
    HD_ARRAY(hd_release_warp *) warps; /* by slot */
    hd_rf_file values; /* what physical registers hold, by warp and register index */
    uint64_t issues;   /* where the instructions that begin are noted, see note_once */
    uint64_t told;     /* where it is noted what they find in use */
    int32_t more;      /* registers taken since there */
    hd_physical_file file;
    uint32_t banks, subarrays, entries, table_bytes, wake_cycles;
    uint32_t cache[HD_RELEASE_MOST_ENTRIES]; /* 1 + address of a pir word; 0: empty */
    uint32_t named;                          /* words that all frames that live are given without renaming */
    uint32_t bank_mask;                      /* where the number of banks is a power of two: less one; else 0 */
    bool all_static, early;
} hd_release;

static void release_destroy(hd_rf_model *model)
{
    hd_release *r = (hd_release *)model;
    for (uint32_t i = 0; i < r->warps.count; i++) {
        hd_array_free(&r->warps.items[i]->mapped);
        hd_array_free(&r->warps.items[i]->noted);
        hd_array_free(&r->warps.items[i]->names);
        hd_array_free(&r->warps.items[i]->places);
        free(r->warps.items[i]);
    }
    hd_array_free(&r->warps);
    hd_rf_file_free(&r->values);
    hd_physical_free(&r->file);
    hd_release_hints_free(&r->hints);
    free(r);
}

static hd_rf_model *release_create(const hd_rf_module *code, const char *options, const char **refusal)
{
    hd_release *r = hd_calloc(1, sizeof *r);
    const char *why = NULL;
    r->banks = hd_rf_option(options, "banks", 4);
    r->bank_mask = r->banks & (r->banks - 1) ? 0 : r->banks - 1;
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
    if (!why)
        why = hd_release_hints_read(&r->hints, code, r->all_static);
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
    for (uint32_t i = 0; i < r->warps.count; i++)
        hd_array_clear(&r->warps.items[i]->places); /* of a run that stopped */
    hd_rf_add(model, HD_COUNTER_PHYSICAL_REGISTERS, hd_physical_count(&r->file));
    if (!r->all_static) /* renaming table, availability vector, flag cache */
        model->storage_bits = 8ull * r->table_bytes + registers + (uint64_t)HD_RELEASE_FLAG_BITS * r->entries;
}

/* ---- what warps share ------------------------------------------------------------------------------------------------ */

static inline hd_release_warp *warp_of(hd_release *r, const hd_rf_warp *warp)
{
    return r->warps.items[warp->slot];
}

/* What `at` says of deeds that are still to be done; NULL: nothing. */
static inline hd_rf_deed *noted_at(hd_release *r, uint64_t at)
{
    return at > r->model.deeds_done ? &r->model.deeds.items[at - r->model.deeds_done - 1] : NULL;
}

/* Where it is noted. */
static inline uint64_t note(hd_release *r, hd_release_deed_kind what, uint16_t also, uint32_t index, uint32_t n)
{
    hd_array_push(&r->model.deeds, (hd_rf_deed){(uint16_t)what, also, index, n});
    return r->model.deeds_done + r->model.deeds.count;
}

/* One more of what was noted at `*at`, if that is still to be done. */
static inline void note_once(hd_release *r, uint64_t *at, hd_release_deed_kind what, uint32_t index)
{
    hd_rf_deed *noted = noted_at(r, *at);
    if (noted)
        noted->n++;
    else
        *at = note(r, what, 0, index, 1);
}

/* Notes first, for all that is noted together, what instructions find in use. */
static inline void begin_telling(hd_release *r)
{
    if (noted_at(r, r->told))
        return;
    r->told = note(r, HD_RELEASE_TELL, 0, 0, 0);
    note(r, HD_RELEASE_MOST, 0, 0, 0);
    r->more = 0;
}

static void note_issue(hd_release *r)
{
    begin_telling(r);
    note_once(r, &r->issues, HD_RELEASE_ISSUE, 0);
    hd_rf_deed *tell = noted_at(r, r->told), *most = tell + 1;
    most->index = !tell->n || r->more > (int32_t)most->index ? (uint32_t)r->more : most->index;
    tell->index += (uint32_t)r->more;
    tell->n++;
}

/* The instructions that began since one was last taken or given away, if what is noted next can tell them. */
static inline uint16_t issued_before(hd_release *r)
{
    hd_rf_deed *issues = noted_at(r, r->issues);
    r->issues = 0;
    if (!issues || issues->n > UINT16_MAX)
        return 0;
    issues->what = HD_RF_NO_DEED;
    return (uint16_t)issues->n;
}

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

/* The one that a register has without renaming. */
static inline uint32_t bank_of(const hd_release *r, const hd_rf_warp *warp, uint32_t index)
{
    uint32_t sum = warp->slot + index;
    return r->bank_mask ? sum & r->bank_mask : sum % r->banks; /* a division takes longer than all else that is done to take one */
}

typedef struct hd_release_counts { /* of the file */
    uint64_t on, off;
    uint32_t woken, touched, registers;
} hd_release_counts;

/* The sum of squares grows by that of n more accesses: by what is returned. */
static inline uint64_t access_times(hd_physical_register *p, uint64_t n)
{
    uint64_t before = p->accesses;
    p->accesses += n;
    return n * (2 * before + n);
}

static inline void set_place(hd_u32_array *places, uint32_t index, uint32_t place)
{
    while (places->count <= index)
        hd_array_push(places, 0);
    places->items[index] = place + 1;
}

static inline hd_physical_register *take_place(hd_release *r, uint32_t bank, hd_u32_array *places, uint32_t index)
{
    uint32_t place = hd_physical_take(&r->file, bank);
    set_place(places, index, place);
    return hd_physical_at(&r->file, bank, place);
}

static inline hd_physical_register *give_place(hd_release *r, uint32_t bank, hd_u32_array *places, uint32_t index)
{
    uint32_t place = places->items[index] - 1;
    hd_physical_give(&r->file, bank, place);
    places->items[index] = 0;
    return hd_physical_at(&r->file, bank, place);
}

/* Registers in use before each instruction. */
static void tell_each(hd_release *r, const hd_rf_deed *deed, const hd_rf_deed *end)
{
    uint64_t taken = r->file.taken;
    for (; deed < end; deed++) {
        bool takes = deed->what == HD_RELEASE_TAKE, gives = deed->what == HD_RELEASE_GIVE;
        if (deed->what == HD_RELEASE_PLAN)
            deed += deed->n;
        else if (deed->what == HD_RELEASE_ISSUE)
            hd_rf_tell_times(&r->model, taken, deed->n);
        else if (takes || gives)
            hd_rf_tell_times(&r->model, taken, deed->also);
        if (!r->file.unmarked)
            taken = taken + takes - gives;
    }
}

static void tell(hd_release *r, const hd_rf_deed *deed, const hd_rf_deed *end)
{
    uint64_t taken = r->file.taken, sum = deed->n * taken + (uint64_t)(int32_t)deed->index, most = taken + (uint64_t)(int32_t)deed[1].index;
    if (deed->n && !hd_rf_tell_sum(&r->model, sum, deed->n, most))
        tell_each(r, deed, end);
}

/* What has become of the file since it was as `before`. */
static void count_changes(hd_release *r, const hd_release_counts *before)
{
    uint32_t woken = r->file.woken - before->woken;
    hd_physical_settle(&r->file);
    hd_rf_add(&r->model, HD_COUNTER_SUBARRAY_ON, r->file.on - before->on);
    hd_rf_add(&r->model, HD_COUNTER_SUBARRAY_OFF, r->file.off - before->off);
    hd_rf_add(&r->model, HD_COUNTER_TOUCHED, r->file.touched - before->touched);
    hd_rf_add(&r->model, HD_COUNTER_SUBARRAY_WAKES, woken);
    hd_rf_add(&r->model, HD_COUNTER_WAKE_CYCLES, (uint64_t)woken * r->wake_cycles);
    hd_rf_add(&r->model, HD_COUNTER_PHYSICAL_REGISTERS, hd_physical_count(&r->file) - before->registers);
}

static void name(hd_release *r, uint32_t n)
{
    r->named += n;
    if (r->named > r->model.counters[HD_COUNTER_STATIC_REGISTERS])
        r->model.counters[HD_COUNTER_STATIC_REGISTERS] = r->named;
}

/* What is counted while deeds are done; a register that got one of another's, or HD_NONE. */
typedef struct hd_release_tally {
    uint64_t squares;
    uint32_t wrong;
} hd_release_tally;

/* The physical register is that of the register `index` from now on. */
static inline void own(hd_release_tally *t, hd_physical_register *p, uint32_t index)
{
    if (++p->owners != 1 && t->wrong == HD_NONE)
        t->wrong = index;
}

/* The places of all that is ranked. false: a bank has not so many in one sub-array that has power. */
static bool find_ranks(const hd_release *r, const hd_rf_warp *warp, uint32_t further, const hd_rf_deed *deed, uint32_t count, uint32_t *places)
{
    for (const hd_rf_deed *end = deed + count; deed < end; deed += 1 + deed->n) {
        if (!hd_physical_lowest(&r->file, bank_of(r, warp, deed->index + further), deed->n, places))
            return false;
        places += deed->n;
    }
    return true;
}

static void do_rank(hd_release *r, hd_release_tally *t, hd_u32_array *places, uint32_t further, const hd_rf_deed *deed, uint32_t bank, uint32_t place)
{
    hd_physical_register *p = hd_physical_at(&r->file, bank, place);
    hd_physical_touch(&r->file, p);
    t->squares += access_times(p, deed->n);
    own(t, p, deed->index + further);
    if (!deed->also) {
        p->owners--;
        return;
    }
    set_place(places, deed->index + further, place);
    hd_physical_mark(&r->file, bank, place);
}

/* false: nothing was done. */
static bool do_ranks(hd_release *r, hd_release_tally *t, const hd_rf_warp *warp, uint32_t further, const hd_rf_deed *deed, uint32_t count)
{
    uint32_t found[HD_RELEASE_RANKS], *place = found;
    if (!find_ranks(r, warp, further, deed, count, found))
        return false;
    for (const hd_rf_deed *end = deed + count; deed < end;) {
        uint32_t bank = bank_of(r, warp, deed->index + further);
        for (const hd_rf_deed *last = deed + deed->n; deed < last; place++)
            do_rank(r, t, &warp_of(r, warp)->places, further, ++deed, bank, *place);
        deed++;
    }
    return true;
}

static uint32_t release_deeds(hd_rf_model *model, hd_rf_warp *warp, uint32_t further, const hd_rf_deed *deeds, uint32_t count)
{
    hd_release *r = (hd_release *)model;
    hd_u32_array *places = &warp_of(r, warp)->places;
    const hd_release_counts before = {r->file.on, r->file.off, r->file.woken, r->file.touched, hd_physical_count(&r->file)};
    hd_release_tally t = {.wrong = HD_NONE};
    for (const hd_rf_deed *deed = deeds, *end = deeds + count; deed < end; deed++) {
        uint32_t index = deed->index + further, bank = bank_of(r, warp, index); /* of a register, where it is about one */
        hd_physical_register *p;
        switch ((hd_release_deed_kind)deed->what) {
        case HD_RELEASE_TAKE:
            r->file.time += deed->also;
            p = take_place(r, bank, places, index);
            own(&t, p, index);
            t.squares += access_times(p, deed->n);
            break;
        case HD_RELEASE_GIVE:
            r->file.time += deed->also;
            p = give_place(r, bank, places, index);
            p->owners--;
            t.squares += access_times(p, deed->n);
            break;
        case HD_RELEASE_ACCESS:
            t.squares += access_times(hd_physical_at(&r->file, bank, places->items[index] - 1), deed->n);
            break;
        case HD_RELEASE_ISSUE:
            r->file.time += deed->n;
            break;
        case HD_RELEASE_TELL:
            tell(r, deed, end);
            break;
        case HD_RELEASE_FETCH:
            hd_rf_add(model, HD_COUNTER_FLAG_DECODES, !cached(r, deed->index));
            break;
        case HD_RELEASE_NAME:
            name(r, deed->n);
            break;
        case HD_RELEASE_UNNAME:
            r->named -= deed->n;
            break;
        case HD_RELEASE_PLAN:
            if (do_ranks(r, &t, warp, further, deed + 1, deed->index)) {
                end = deed + 1 + deed->n;
                deed += deed->index;
            } else {
                deed += deed->n;
            }
            break;
        case HD_RELEASE_MOST:
        case HD_RELEASE_BANK:
        case HD_RELEASE_RANK:
            break;
        }
    }
    hd_rf_add(model, HD_COUNTER_ACCESS_SQUARES, t.squares);
    count_changes(r, &before);
    return t.wrong;
}

static void release_arrange(hd_rf_model *model)
{
    hd_release *r = (hd_release *)model;
    if (!r->file.robin && !r->file.unmarked)
        hd_release_arrange(&model->deeds, r->banks);
}

/* ---- mapping --------------------------------------------------------------------------------------------------------- */

static void map(hd_release *r, const hd_rf_warp *warp, uint32_t index)
{
    hd_release_warp *w = warp_of(r, warp);
    w->mapped.items[index] = true;
    begin_telling(r);
    r->more += !r->file.unmarked;
    w->noted.items[index] = note(r, HD_RELEASE_TAKE, issued_before(r), index, 0);
    hd_rf_add(&r->model, HD_COUNTER_MAPPED, 1);
}

static void unmap(hd_release *r, const hd_rf_warp *warp, uint32_t index)
{
    hd_release_warp *w = warp_of(r, warp);
    hd_rf_deed *accesses = noted_at(r, w->noted.items[index]);
    uint32_t n = 0;
    if (accesses && accesses->what == HD_RELEASE_ACCESS) {
        n = accesses->n;
        accesses->what = HD_RF_NO_DEED;
    }
    w->mapped.items[index] = false;
    begin_telling(r);
    r->more -= !r->file.unmarked;
    w->noted.items[index] = 0;
    *hd_rf_file_at(&r->values, warp, index) = (hd_claim){0, 0};
    note(r, HD_RELEASE_GIVE, issued_before(r), index, n);
}

static void release(hd_release *r, const hd_rf_step *step, const uint32_t *words, uint32_t count)
{
    for (uint32_t i = 0; i < count; i++) {
        uint32_t index = hd_rf_index(step, words[i]);
        hd_rf_add(&r->model, HD_COUNTER_RENAMING, 1);
        if (!warp_of(r, step->warp)->mapped.items[index])
            continue;
        unmap(r, step->warp, index);
        hd_rf_add(&r->model, HD_COUNTER_RELEASED, 1);
    }
}

/* ---- lives of warps and frames --------------------------------------------------------------------------------------- */

static void release_warp_start(hd_rf_model *model, hd_rf_warp *warp)
{
    hd_release *r = (hd_release *)model;
    while (r->warps.count <= warp->slot)
        hd_array_push(&r->warps, hd_calloc(1, sizeof(hd_release_warp)));
    hd_release_warp *w = warp_of(r, warp);
    hd_array_clear(&w->mapped);
    hd_array_clear(&w->noted);
    hd_array_clear(&w->names);
    w->flags = 0;
}

/* Words that are not renamed, and parameters that the call has written, have a register from the beginning. */
static void release_frame_start(hd_rf_model *model, hd_rf_warp *warp)
{
    hd_release *r = (hd_release *)model;
    hd_release_warp *w = warp_of(r, warp);
    const hd_release_function *code = &r->hints.functions[warp->function];
    uint32_t base = warp->identity.base, words = warp->identity.registers.count - base;
    hd_rf_file_frame_start(&r->values, warp);
    bool *mapped = hd_array_extend(&w->mapped, words);
    uint64_t *noted = hd_array_extend(&w->noted, words);
    if (words) {
        memset(mapped, 0, words * sizeof *mapped);
        memset(noted, 0, words * sizeof *noted);
    }
    for (uint32_t word = 0; word < words; word++)
        if (warp->identity.registers.items[base + word].ever || hd_bitset_has(&code->fixed, word))
            map(r, warp, base + word);
    hd_array_push(&w->names, code->names);
    note(r, HD_RELEASE_NAME, 0, 0, code->names);
}

static void release_frame_end(hd_rf_model *model, hd_rf_warp *warp)
{
    hd_release *r = (hd_release *)model;
    hd_release_warp *w = warp_of(r, warp);
    for (uint32_t i = warp->identity.base; i < w->mapped.count; i++)
        if (w->mapped.items[i])
            unmap(r, warp, i);
    note(r, HD_RELEASE_UNNAME, 0, 0, hd_array_pop(&w->names));
    w->mapped.count = w->noted.count = warp->identity.base;
    w->flags = 0; /* the caller fetches its own again */
}

/* ---- instructions ---------------------------------------------------------------------------------------------------- */

static void fetch_flags(hd_release *r, const hd_rf_step *step, const hd_release_function *code)
{
    hd_release_warp *w = warp_of(r, step->warp);
    uint32_t flags = code->flags[step->instruction], lists = code->lists[step->instruction];
    hd_rf_add(&r->model, HD_COUNTER_LIST_WORDS, lists);
    if (!flags || (w->flags == flags && !hd_bitset_has(&code->starts, step->instruction)))
        return;
    w->flags = flags;
    hd_rf_add(&r->model, HD_COUNTER_FLAG_WORDS, 1);
    note(r, HD_RELEASE_FETCH, 0, flags, 0);
}

static void release_issue(hd_rf_model *model, const hd_rf_step *step)
{
    hd_release *r = (hd_release *)model;
    const hd_release_function *code = &r->hints.functions[step->function];
    uint32_t i = step->instruction;
    fetch_flags(r, step, code);
    if (code->before_first[i + 1] != code->before_first[i])
        release(r, step, code->before + code->before_first[i], code->before_first[i + 1] - code->before_first[i]);
    if (r->early)
        release(r, step, code->after + code->after_first[i], code->after_first[i + 1] - code->after_first[i]);
    note_issue(r);
}

static void release_read(hd_rf_model *model, const hd_rf_step *step, uint32_t source, hd_rf_answer *answer)
{
    static const hd_owner nobody = {HD_NONE, 0, 0};
    hd_release *r = (hd_release *)model;
    hd_release_warp *w = warp_of(r, step->warp);
    uint32_t word = step->sources[source], index = hd_rf_index(step, word);
    bool renamed = hd_bitset_has(&r->hints.functions[step->function].renamed, word);
    hd_rf_add(model, HD_COUNTER_OPERANDS, 1);
    hd_rf_add(model, HD_COUNTER_FILE_READS, 1);
    hd_rf_add(model, HD_COUNTER_RENAMING, renamed);
    answer->extra_cycles = renamed;
    answer->count = 1;
    if (!w->mapped.items[index]) {
        answer->pieces[0] = (hd_rf_piece){step->effective, HD_RF_FILE, nobody, {0, 0}};
        return;
    }
    note_once(r, &w->noted.items[index], HD_RELEASE_ACCESS, index);
    answer->bank = bank_of(r, step->warp, index);
    answer->pieces[0] = (hd_rf_piece){step->effective, HD_RF_FILE, hd_rf_owner(step, word), *hd_rf_file_at(&r->values, step->warp, index)};
}

static void release_write(hd_rf_model *model, const hd_rf_step *step, uint32_t destination)
{
    hd_release *r = (hd_release *)model;
    hd_release_warp *w = warp_of(r, step->warp);
    uint32_t word = step->destinations[destination].word, index = hd_rf_index(step, word), serial = step->serial + destination;
    hd_claim *value = hd_rf_file_at(&r->values, step->warp, index);
    if (!w->mapped.items[index])
        map(r, step->warp, index);
    hd_rf_add(model, HD_COUNTER_RESULTS, 1);
    hd_rf_add(model, HD_COUNTER_FILE_WRITES, 1);
    hd_rf_add(model, HD_COUNTER_RENAMING, hd_bitset_has(&r->hints.functions[step->function].renamed, word));
    note_once(r, &w->noted.items[index], HD_RELEASE_ACCESS, index);
    if (!hd_rf_loses(model))
        *value = hd_identity_merge(&step->warp->identity, index, *value, serial, step->effective);
}

static void release_complete(hd_rf_model *model, const hd_rf_step *step)
{
    hd_release *r = (hd_release *)model;
    const hd_release_function *code = &r->hints.functions[step->function];
    uint32_t i = step->instruction;
    if (code->after_first[i + 1] != code->after_first[i])
        release(r, step, code->after + code->after_first[i], code->after_first[i + 1] - code->after_first[i]);
}

/* ---- what is known of a warp ----------------------------------------------------------------------------------------- */

static void release_carry(hd_rf_model *model, hd_rf_warp *warp, hd_rf_carrier *c)
{
    hd_release *r = (hd_release *)model;
    hd_release_warp *w = warp_of(r, warp);
    hd_rf_file_carry(&r->values, warp, c);
    for (uint32_t i = c->first; i < c->end; i++)
        w->mapped.items[i] = hd_rf_carried(c, w->mapped.items[i]);
    if (!c->rest)
        w->flags = hd_rf_carried(c, w->flags);
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
    .carry = release_carry,
    .deeds = release_deeds,
    .arrange = release_arrange,
};
