/* Operations on what warps of RFV share: see release_shared.h. */
#include "hwmodel/rf/release_shared.h"
#include <assert.h>

void hd_release_shared_start(hd_release_shared *s, uint32_t registers)
{
    s->bank_mask = s->banks & (s->banks - 1) ? 0 : s->banks - 1;
    hd_physical_start(&s->file, registers, s->banks, s->subarrays);
    memset(s->cache, 0, sizeof s->cache);
    s->counted = (hd_release_counts){0};
    s->reserved = s->most_reserved = s->saved = s->missed = 0;
    for (uint32_t slot = 0; slot < s->warps.count; slot++) /* of a run that stopped */
        hd_array_clear(&s->warps.items[slot]);
}

void hd_release_shared_free(hd_release_shared *s)
{
    for (uint32_t slot = 0; slot < s->warps.count; slot++)
        hd_array_free(&s->warps.items[slot]);
    hd_array_free(&s->warps);
    hd_physical_free(&s->file);
}

/* ---- one operation ----------------------------------------------------------------------------------------------- */

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
static inline void hand_over(hd_physical_register *p, hd_release_held *held)
{
    p->accesses += held->accesses;
    held->accesses = 0;
}

static void reserve(hd_release_shared *s, uint32_t n)
{
    s->reserved += n;
    if (s->reserved > s->most_reserved)
        s->most_reserved = s->reserved;
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
static inline hd_rf_wrong take(hd_release_shared *s, uint32_t slot, uint32_t word)
{
    hd_release_held *held = held_at(&s->warps.items[slot], word);
    if (held->frames) {
        held->frames++;
        s->saved++;
        return HD_RF_PROVED;
    }
    uint32_t bank = hd_release_bank(s, slot, word), place = find_place(s, &bank);
    if (place == HD_NONE)
        return HD_RF_FULL;
    *held = (hd_release_held){0, place + 1, (uint16_t)bank, 1};
    assert(s->file.taken <= s->file.capacity);
    return ++hd_physical_at(&s->file, bank, place)->owners == 1 ? HD_RF_PROVED : HD_RF_SHARED;
}

static inline void give(hd_release_shared *s, uint32_t slot, uint32_t word)
{
    hd_release_held *held = &s->warps.items[slot].items[word];
    if (held->frames > 1) {
        held->frames--;
        return;
    }
    if (!held->place)
        return; /* the file was full */
    uint32_t place = held->place - 1;
    hd_physical_register *p = hd_physical_at(&s->file, held->bank, place);
    hd_physical_give(&s->file, held->bank, place);
    p->owners--;
    hand_over(p, held);
    held->place = held->frames = 0;
}

hd_rf_wrong hd_release_shared_do(hd_release_shared *s, uint32_t slot, const hd_effect *operation)
{
    uint32_t index = operation->index, n = operation->n;
    while (s->warps.count <= slot)
        hd_array_push(&s->warps, (hd_release_helds){0});
    switch ((hd_release_operation)operation->what) {
    case HD_RELEASE_TAKE: return take(s, slot, index);
    case HD_RELEASE_GIVE: give(s, slot, index); break;
    case HD_RELEASE_ACCESS: s->warps.items[slot].items[index].accesses += n; break;
    case HD_RELEASE_ISSUE:
        hd_rf_tell_times(s->model, s->file.taken, n);
        s->file.time += n;
        break;
    case HD_RELEASE_FETCH: s->missed += !cached(s, index, n); break;
    case HD_RELEASE_RESERVE: reserve(s, n); break;
    case HD_RELEASE_UNRESERVE: s->reserved -= n; break;
    }
    return HD_RF_PROVED;
}

/* ---- at the end -------------------------------------------------------------------------------------------------- */

/* What registers that are held had of accesses, too. */
static void hand_over_all(hd_release_shared *s)
{
    for (uint32_t slot = 0; slot < s->warps.count; slot++) {
        hd_release_helds *w = &s->warps.items[slot];
        for (uint32_t i = 0; i < w->count; i++)
            if (w->items[i].place)
                hand_over(hd_physical_at(&s->file, w->items[i].bank, w->items[i].place - 1), &w->items[i]);
    }
}

void hd_release_shared_finalize(hd_release_shared *s)
{
    hd_rf_model *model = s->model;
    hand_over_all(s);
    hd_physical_finalize(&s->file);
    const hd_release_counts before = s->counted, now = {s->file.on,
                                                        s->file.off,
                                                        hd_physical_squares(&s->file),
                                                        s->file.woken,
                                                        hd_physical_touched(&s->file),
                                                        hd_physical_count(&s->file),
                                                        s->saved,
                                                        s->missed};
    hd_rf_event(model, HD_COUNTER_SUBARRAY_ON, now.on - before.on);
    hd_rf_event(model, HD_COUNTER_SUBARRAY_OFF, now.off - before.off);
    hd_rf_event(model, HD_COUNTER_ACCESS_SQUARES, now.squares - before.squares);
    hd_rf_event(model, HD_COUNTER_SUBARRAY_WAKES, now.woken - before.woken);
    hd_rf_event(model, HD_COUNTER_WAKE_CYCLES, (uint64_t)(now.woken - before.woken) * s->wake_cycles);
    hd_rf_event(model, HD_COUNTER_TOUCHED, now.touched - before.touched);
    hd_rf_event(model, HD_COUNTER_PHYSICAL_REGISTERS, now.registers - before.registers);
    hd_rf_event(model, HD_COUNTER_SAVED, now.saved - before.saved);
    model->counters[HD_COUNTER_FLAG_DECODES] += now.missed - before.missed; /* beside those that are accesses */
    if (s->most_reserved > model->counters[HD_COUNTER_STATIC_REGISTERS])
        model->counters[HD_COUNTER_STATIC_REGISTERS] = s->most_reserved;
    s->counted = now;
}
