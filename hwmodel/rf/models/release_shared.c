/* The operations on the storage that RFV's warps share: see release_shared.h. */
#include "hwmodel/rf/models/release_shared.h"
#include <assert.h>

static void forget_warp(hd_release_helds *w)
{
    hd_array_clear(w);
    w->cta = w->taken = w->spilled = 0;
}

void hd_release_shared_start(hd_release_shared *s, uint32_t registers)
{
    s->bank_mask = s->banks & (s->banks - 1) ? 0 : s->banks - 1;
    hd_physical_start(&s->file, registers, s->banks, s->subarrays);
    memset(s->cache, 0, sizeof s->cache);
    s->counted = (hd_release_counts){0};
    s->reserved = s->most_reserved = s->saved = s->missed = 0;
    for (uint32_t slot = 0; slot < s->warps.count; slot++) /* of a run that was stopped */
        forget_warp(&s->warps.items[slot]);
    for (uint32_t c = 0; c < s->ctas.count; c++)
        s->ctas.items[c] = 0;
}

void hd_release_shared_free(hd_release_shared *s)
{
    for (uint32_t slot = 0; slot < s->warps.count; slot++)
        hd_array_free(&s->warps.items[slot]);
    hd_array_free(&s->warps);
    hd_array_free(&s->ctas);
    hd_physical_free(&s->file);
}

/* ---- one operation ----------------------------------------------------------------------------------------------- */

/* Whether the cache holds the pir word; it holds it afterwards. */
static inline bool look_up_flags(hd_release_shared *s, uint32_t flags, uint32_t entry)
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

/* Call before the physical register is mapped to another register. */
static inline void flush_accesses(hd_physical_register *p, hd_release_held *held)
{
    p->accesses += held->accesses;
    held->accesses = 0;
}

static void reserve_registers(hd_release_shared *s, uint32_t n)
{
    s->reserved += n;
    if (s->reserved > s->most_reserved)
        s->most_reserved = s->reserved;
}

/* A row of the bank, or of the next bank that is not full. HD_NONE: the file is full. */
static inline uint32_t allocate_row(hd_release_shared *s, uint32_t *bank)
{
    uint32_t row = hd_physical_allocate(&s->file, *bank);
    for (uint32_t b = 1; row == HD_NONE && b < s->banks && hd_physical_free_count(&s->file); b++) {
        *bank = *bank + 1 == s->banks ? 0 : *bank + 1;
        row = hd_physical_allocate(&s->file, *bank);
    }
    return row;
}

static hd_release_helds *warp_at(hd_release_shared *s, uint32_t slot)
{
    while (s->warps.count <= slot)
        hd_array_push(&s->warps, (hd_release_helds){0});
    while (s->ctas.count <= s->warps.items[slot].cta)
        hd_array_push(&s->ctas, 0);
    return &s->warps.items[slot];
}

void hd_release_shared_join(hd_release_shared *s, uint32_t slot, uint32_t cta)
{
    warp_at(s, slot)->cta = cta;
    (void)warp_at(s, slot);
}

/* Cycles until the sub-array of the row has power: of one that was woken up by this row, or by one before. */
static uint32_t power_in(hd_release_shared *s, uint32_t bank, uint32_t row, bool wakes)
{
    uint64_t *awake = &s->file.banks[bank].awake.items[s->file.subarray_of.items[row]];
    if (wakes)
        *awake = s->now + s->wake_cycles;
    return *awake > s->now ? (uint32_t)(*awake - s->now) : 0;
}

static inline hd_rf_wrong take_row(hd_release_shared *s, hd_release_helds *w, uint32_t slot, uint32_t word)
{
    hd_release_held *held = &w->items[word];
    uint32_t bank = hd_release_bank(s, slot, word), wakeups = s->file.wakeups, row = allocate_row(s, &bank);
    if (row == HD_NONE)
        return HD_RF_FULL;
    s->woken_in = power_in(s, bank, row, s->file.wakeups != wakeups);
    *held = (hd_release_held){0, row + 1, (uint16_t)bank, held->frames};
    w->taken++;
    s->ctas.items[w->cta]++;
    assert(s->file.taken <= s->file.capacity);
    return ++hd_physical_at(&s->file, bank, row)->owners == 1 ? HD_RF_PROVED : HD_RF_SHARED;
}

static inline void give_row(hd_release_shared *s, hd_release_helds *w, uint32_t word)
{
    hd_release_held *held = &w->items[word];
    uint32_t row = held->row - 1;
    hd_physical_register *p = hd_physical_at(&s->file, held->bank, row);
    hd_physical_release(&s->file, held->bank, row);
    p->owners--;
    flush_accesses(p, held);
    held->row = 0;
    w->taken--;
    s->ctas.items[w->cta]--;
}

/* If a frame below has mapped the register, its value is on the stack until the frame on top unmaps it. */
static inline hd_rf_wrong map_word(hd_release_shared *s, hd_release_helds *w, uint32_t slot, uint32_t word,
                                   bool spilled)
{
    hd_release_held *held = held_at(w, word);
    if (held->frames) {
        held->frames++;
        s->saved++;
        return HD_RF_PROVED;
    }
    hd_rf_wrong wrong = spilled ? HD_RF_PROVED : take_row(s, w, slot, word);
    w->spilled += spilled;
    held->frames = wrong != HD_RF_FULL;
    return wrong;
}

static inline void unmap_word(hd_release_shared *s, hd_release_helds *w, uint32_t word)
{
    hd_release_held *held = &w->items[word];
    if (held->frames > 1) {
        held->frames--;
        return;
    }
    if (held->row)
        give_row(s, w, word);
    else
        w->spilled -= held->frames; /* 0: the file was full */
    held->frames = 0;
}

static void spill_word(hd_release_shared *s, hd_release_helds *w, uint32_t word)
{
    give_row(s, w, word);
    w->spilled++;
}

static hd_rf_wrong refill_word(hd_release_shared *s, hd_release_helds *w, uint32_t slot, uint32_t word)
{
    hd_rf_wrong wrong = take_row(s, w, slot, word);
    w->spilled -= wrong != HD_RF_FULL;
    return wrong;
}

hd_rf_wrong hd_release_shared_do(hd_release_shared *s, uint32_t slot, const hd_effect *operation)
{
    uint32_t index = operation->index, n = operation->n;
    hd_release_helds *w = warp_at(s, slot);
    switch ((hd_release_operation)operation->what) {
    case HD_RELEASE_MAP: return map_word(s, w, slot, index, n);
    case HD_RELEASE_UNMAP: unmap_word(s, w, index); break;
    case HD_RELEASE_ACCESS: w->items[index].accesses += n; break;
    case HD_RELEASE_ISSUE:
        hd_rf_record_held_times(s->model, s->file.taken, n);
        s->file.time += n;
        break;
    case HD_RELEASE_FETCH: s->missed += !look_up_flags(s, index, n); break;
    case HD_RELEASE_RESERVE: reserve_registers(s, n); break;
    case HD_RELEASE_UNRESERVE: s->reserved -= n; break;
    case HD_RELEASE_SPILL: spill_word(s, w, index); break;
    case HD_RELEASE_REFILL: return refill_word(s, w, slot, index);
    }
    return HD_RF_PROVED;
}

/* ---- at the end -------------------------------------------------------------------------------------------------- */

/* With the accesses of registers that are still mapped. */
static void flush_all_accesses(hd_release_shared *s)
{
    for (uint32_t slot = 0; slot < s->warps.count; slot++) {
        hd_release_helds *w = &s->warps.items[slot];
        for (uint32_t i = 0; i < w->count; i++)
            if (w->items[i].row)
                flush_accesses(hd_physical_at(&s->file, w->items[i].bank, w->items[i].row - 1), &w->items[i]);
    }
}

void hd_release_shared_finalize(hd_release_shared *s)
{
    hd_rf_model *model = s->model;
    flush_all_accesses(s);
    hd_physical_finalize(&s->file);
    const hd_release_counts before = s->counted, now = {s->file.on,
                                                        s->file.off,
                                                        hd_physical_squares(&s->file),
                                                        s->file.wakeups,
                                                        hd_physical_touched(&s->file),
                                                        hd_physical_count(&s->file),
                                                        s->saved,
                                                        s->missed};
    hd_rf_event(model, HD_COUNTER_SUBARRAY_ON, now.on - before.on);
    hd_rf_event(model, HD_COUNTER_SUBARRAY_OFF, now.off - before.off);
    hd_counter_add(model->counters, HD_COUNTER_ACCESS_SQUARES,
                   now.squares == HD_UNCOUNTED ? HD_UNCOUNTED : now.squares - before.squares, 1);
    hd_rf_event(model, HD_COUNTER_SUBARRAY_WAKES, now.wakeups - before.wakeups);
    hd_rf_event(model, HD_COUNTER_WAKE_CYCLES, (uint64_t)(now.wakeups - before.wakeups) * s->wake_cycles);
    hd_rf_event(model, HD_COUNTER_TOUCHED, now.touched - before.touched);
    hd_rf_event(model, HD_COUNTER_PHYSICAL_REGISTERS, now.registers - before.registers);
    hd_rf_event(model, HD_COUNTER_SAVED, now.saved - before.saved);
    model->counters[HD_COUNTER_FLAG_DECODES] += now.missed - before.missed; /* besides those that are accesses */
    if (s->most_reserved > model->counters[HD_COUNTER_STATIC_REGISTERS])
        model->counters[HD_COUNTER_STATIC_REGISTERS] = s->most_reserved;
    s->counted = now;
}
