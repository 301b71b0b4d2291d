/* Deeds done to what warps share: see release_shared.h. */
#include "hwmodel/rf/release_shared.h"
#include <assert.h>

void hd_release_shared_start(hd_release_shared *s, uint32_t registers)
{
    s->bank_mask = s->banks & (s->banks - 1) ? 0 : s->banks - 1;
    hd_physical_start(&s->file, registers, s->banks, s->subarrays);
    memset(s->cache, 0, sizeof s->cache);
    s->counted = (hd_release_counts){0};
    s->named = s->most_named = 0;
    s->full = false;
    for (uint32_t slot = 0; slot < s->warps.count; slot++) { /* of a run that stopped */
        hd_array_clear(&s->warps.items[slot]);
        s->frames.items[slot] = 0;
    }
}

void hd_release_shared_free(hd_release_shared *s)
{
    for (uint32_t slot = 0; slot < s->warps.count; slot++)
        hd_array_free(&s->warps.items[slot]);
    hd_array_free(&s->warps);
    hd_array_free(&s->frames);
    hd_physical_free(&s->file);
}

static void add_warps(hd_release_shared *s, uint32_t slot)
{
    while (s->warps.count <= slot) {
        hd_array_push(&s->warps, (hd_release_helds){0});
        hd_array_push(&s->frames, 0);
    }
}

/* ---- one deed ---------------------------------------------------------------------------------------------------- */

/* Is the pir word in the cache; it is afterwards. */
static inline bool cached(hd_release_shared *s, uint32_t flags, uint32_t entry)
{
    bool hit = s->entries && s->cache[entry] == flags;
    s->cache[entry] = flags;
    return hit;
}

static inline hd_release_held *held_at(hd_release_helds *w, uint32_t index)
{
    while (w->count <= index)
        hd_array_push(w, (hd_release_held){0});
    return &w->items[index];
}

/* Before the physical register is that of another one. */
static inline void hand_over(hd_physical_register *p, hd_release_held *held, uint64_t accesses)
{
    p->accesses += held->accesses + accesses;
    held->accesses = 0;
}

/* Registers in use before each instruction. */
static void tell_each(hd_release_shared *s, const hd_shared_op *deed, const hd_shared_op *end)
{
    uint64_t taken = s->file.taken;
    for (; deed < end; deed++) {
        bool takes = deed->what == HD_RELEASE_TAKE, gives = deed->what == HD_RELEASE_GIVE;
        if (deed->what == HD_RELEASE_PLAN)
            deed += deed->n;
        else if (deed->what == HD_RELEASE_ISSUE)
            hd_rf_tell_times(s->model, taken, deed->n);
        else if (takes || gives)
            hd_rf_tell_times(s->model, taken, deed->also);
        if (!s->file.unmarked)
            taken = taken + takes - gives;
    }
}

static void tell(hd_release_shared *s, const hd_shared_op *deed, const hd_shared_op *end)
{
    uint64_t taken = s->file.taken, sum = deed->n * taken + (uint64_t)(int32_t)deed->index,
             most = taken + (uint64_t)(int32_t)deed[1].index;
    if (deed->n && !hd_rf_tell_sum(s->model, sum, deed->n, most))
        tell_each(s, deed, end);
}

static void name(hd_release_shared *s, uint32_t n)
{
    s->named += n;
    if (s->named > s->most_named)
        s->most_named = s->named;
}

/* The physical register is that of the register `index` from now on. wrong: the first one that got one of another's, or
 * HD_NONE. */
static inline void own(hd_physical_register *p, uint32_t index, uint32_t *wrong)
{
    if (++p->owners != 1 && *wrong == HD_NONE)
        *wrong = index;
}

/* A place in the bank, or in the next one that is not full. HD_NONE: the file is. */
static inline uint32_t find_place(hd_release_shared *s, uint32_t *bank)
{
    uint32_t place = hd_physical_take(&s->file, *bank);
    for (uint32_t b = 1; place == HD_NONE && b < s->banks && hd_physical_free_count(&s->file); b++) {
        *bank = *bank + 1 == s->banks ? 0 : *bank + 1;
        place = hd_physical_take(&s->file, *bank);
    }
    return place;
}

/* Where a frame below has the register, its value goes to the stack until the one on top gives it back. */
static inline void take(hd_release_shared *s, uint32_t slot, uint32_t word, uint64_t accesses, uint32_t *wrong)
{
    hd_release_held *held = held_at(&s->warps.items[slot], word);
    if (held->frames) {
        held->frames++;
        held->accesses += accesses;
        hd_rf_event(s->model, HD_COUNTER_SAVED, 1);
        return;
    }
    uint32_t bank = hd_release_bank(s, slot, word), place = find_place(s, &bank);
    if (place == HD_NONE) {
        s->full = true;
        *wrong = *wrong == HD_NONE ? word : *wrong;
        return;
    }
    *held = (hd_release_held){accesses, place + 1, (uint16_t)bank, 1};
    own(hd_physical_at(&s->file, bank, place), word, wrong);
    assert(s->file.taken <= s->file.capacity);
}

static inline void give(hd_release_shared *s, uint32_t slot, uint32_t word, uint64_t accesses)
{
    hd_release_held *held = &s->warps.items[slot].items[word];
    if (held->frames > 1) {
        held->frames--;
        held->accesses += accesses;
        return;
    }
    if (!held->place)
        return; /* the file was full */
    uint32_t place = held->place - 1;
    hd_physical_register *p = hd_physical_at(&s->file, held->bank, place);
    hd_physical_give(&s->file, held->bank, place);
    p->owners--;
    hand_over(p, held, accesses);
    held->place = held->frames = 0;
}

/* And all accesses behind it; says which is the last one. */
static inline const hd_shared_op *access(hd_release_shared *s, uint32_t slot, const hd_shared_op *deed,
                                         const hd_shared_op *end)
{
    hd_release_held *held = s->warps.items[slot].items;
    for (; deed < end && deed->what == HD_RELEASE_ACCESS; deed++)
        held[deed->index].accesses += deed->n;
    return deed - 1;
}

/* The places of all that is ranked. false: those of a bank are not known. */
static bool find_ranks(const hd_release_shared *s, uint32_t slot, const hd_shared_op *deed, uint32_t count,
                       uint32_t *places)
{
    for (const hd_shared_op *end = deed + count; deed < end; deed += 1 + deed->n) {
        if (!hd_physical_coming(&s->file, hd_release_bank(s, slot, deed->index), deed->n, places))
            return false;
        places += deed->n;
    }
    return true;
}

static inline void do_rank(hd_release_shared *s, hd_release_helds *w, uint32_t index, const hd_shared_op *deed,
                           uint32_t bank, uint32_t place, uint32_t *wrong)
{
    hd_physical_register *p = hd_physical_take_at(&s->file, bank, place, deed->also);
    p->accesses += deed->n;
    own(p, index, wrong);
    if (deed->also)
        *held_at(w, index) = (hd_release_held){0, place + 1, (uint16_t)bank, 1};
    else
        p->owners--;
}

/* false: nothing was done. */
static bool do_ranks(hd_release_shared *s, uint32_t slot, const hd_shared_op *deed, uint32_t count, uint32_t *wrong)
{
    uint32_t found[HD_RELEASE_RANKS], *place = found;
    if (!find_ranks(s, slot, deed, count, found))
        return false;
    for (const hd_shared_op *end = deed + count; deed < end;) {
        uint32_t bank = hd_release_bank(s, slot, deed->index);
        const hd_shared_op *last = deed + 1 + deed->n;
        for (deed++; deed < last; deed++, place++)
            do_rank(s, &s->warps.items[slot], deed->index, deed, bank, *place, wrong);
    }
    return true;
}

/* ---- all of them ------------------------------------------------------------------------------------------------- */

/* Do frames that are not on top hold registers while these are done? Then who takes one may find it taken by its own
 * warp, and what was worked out of takes and gives alone does not hold. */
static bool is_nested(const hd_release_shared *s, uint32_t slot, const hd_shared_op *deeds, uint32_t count)
{
    uint32_t frames = s->frames.items[slot];
    for (uint32_t d = 0; d < count && frames < 2; d++)
        frames += deeds[d].what == HD_RELEASE_NAME;
    return frames > 1;
}

/* ... tells the registers in use, one instruction after another. */
static inline void pass_time(hd_release_shared *s, uint32_t instructions, bool telling)
{
    s->file.time += instructions;
    if (telling)
        hd_rf_tell_times(s->model, s->file.taken, instructions);
}

static void decode_flags(hd_release_shared *s, hd_access_sink *sink)
{
    if (sink)
        hd_emit(sink, (hd_rf_access){.structure = HD_STRUCTURE_FLAGS, .kind = HD_RF_FILL});
    else
        s->model->counters[HD_COUNTER_FLAG_DECODES]++; /* as access.def counts that access */
}

hd_shared_result hd_release_shared_do(hd_release_shared *s, uint32_t slot, const hd_shared_op *deeds, uint32_t count,
                                      hd_access_sink *sink, uint32_t *word)
{
    add_warps(s, slot);
    uint32_t wrong = HD_NONE;
    const bool nested = s->calls && is_nested(s, slot, deeds, count);
    bool telling = false;
    for (const hd_shared_op *deed = deeds, *end = deeds + count; deed < end; deed++) {
        switch ((hd_release_deed_kind)deed->what) {
        case HD_RELEASE_TAKE:
            pass_time(s, deed->also, telling);
            take(s, slot, deed->index, deed->n, &wrong);
            break;
        case HD_RELEASE_GIVE:
            pass_time(s, deed->also, telling);
            give(s, slot, deed->index, deed->n);
            break;
        case HD_RELEASE_ACCESS: deed = access(s, slot, deed, end); break;
        case HD_RELEASE_ISSUE: pass_time(s, deed->n, telling); break;
        case HD_RELEASE_TELL:
            telling = nested;
            if (!nested)
                tell(s, deed, end);
            deed++; /* ... with what is behind it */
            break;
        case HD_RELEASE_FETCH:
            if (!cached(s, deed->index, deed->n))
                decode_flags(s, sink);
            break;
        case HD_RELEASE_NAME:
            name(s, deed->n);
            s->frames.items[slot]++;
            break;
        case HD_RELEASE_UNNAME:
            s->named -= deed->n;
            s->frames.items[slot]--;
            break;
        case HD_RELEASE_PLAN:
            if (!nested && do_ranks(s, slot, deed + 1, deed->index, &wrong)) {
                end = deed + 1 + deed->n;
                deed += deed->index;
            } else {
                deed += deed->n;
            }
            break;
        case HD_RELEASE_MOST:
        case HD_RELEASE_BANK:
        case HD_RELEASE_RANK: break;
        }
    }
    *word = wrong;
    return wrong == HD_NONE ? HD_SHARED_GOOD : s->full ? HD_SHARED_FULL : HD_SHARED_TAKEN;
}

/* What registers that are held had of accesses, too. */
static void hand_over_all(hd_release_shared *s)
{
    for (uint32_t slot = 0; slot < s->warps.count; slot++) {
        hd_release_helds *w = &s->warps.items[slot];
        for (uint32_t i = 0; i < w->count; i++)
            if (w->items[i].place)
                hand_over(hd_physical_at(&s->file, w->items[i].bank, w->items[i].place - 1), &w->items[i], 0);
    }
}

void hd_release_shared_finalize(hd_release_shared *s)
{
    hd_rf_model *model = s->model;
    hand_over_all(s);
    hd_physical_settle(&s->file);
    const hd_release_counts before = s->counted, now = {s->file.on,
                                                        s->file.off,
                                                        hd_physical_squares(&s->file),
                                                        s->file.woken,
                                                        hd_physical_touched(&s->file),
                                                        hd_physical_count(&s->file)};
    hd_rf_event(model, HD_COUNTER_SUBARRAY_ON, now.on - before.on);
    hd_rf_event(model, HD_COUNTER_SUBARRAY_OFF, now.off - before.off);
    hd_rf_event(model, HD_COUNTER_ACCESS_SQUARES, now.squares - before.squares);
    hd_rf_event(model, HD_COUNTER_SUBARRAY_WAKES, now.woken - before.woken);
    hd_rf_event(model, HD_COUNTER_WAKE_CYCLES, (uint64_t)(now.woken - before.woken) * s->wake_cycles);
    hd_rf_event(model, HD_COUNTER_TOUCHED, now.touched - before.touched);
    hd_rf_event(model, HD_COUNTER_PHYSICAL_REGISTERS, now.registers - before.registers);
    if (s->most_named > model->counters[HD_COUNTER_STATIC_REGISTERS])
        model->counters[HD_COUNTER_STATIC_REGISTERS] = s->most_named;
    s->counted = now;
}
