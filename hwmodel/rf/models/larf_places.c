/* Which physical register each register is mapped to: see larf.c. O(1) an operation, but O(words) to start. */
#include "hwmodel/rf/models/larf_work.h"

void hd_larf_places_start(hd_larf *m, uint32_t registers, uint32_t banks)
{
    m->banks = banks;
    m->full = false;
    hd_physical_start(&m->file, registers, banks, 1);
    uint32_t count = hd_physical_count(&m->file);
    hd_array_clear(&m->physical);
    memset(hd_array_extend(&m->physical, count), 0, count * sizeof *m->physical.items);
    hd_larf_start(&m->table, m->entries, count);
}

uint32_t hd_larf_take(hd_larf *m, const hd_rf_warp *warp, uint32_t word)
{
    uint32_t first = (warp->slot + word) % m->banks, row = HD_NONE, bank = first;
    for (uint32_t b = 0; b < m->banks && row == HD_NONE; b++) {
        bank = (first + b) % m->banks;
        row = hd_physical_allocate(&m->file, bank);
    }
    if (row == HD_NONE) {
        m->full = true;
        return HD_NONE;
    }
    larf_physical *p = &m->physical.items[row * m->banks + bank];
    p->bank = (uint16_t)first;
    p->home = (uint8_t)(warp->slot + 1);
    p->version++;
    return row * m->banks + bank;
}

static void drop_user(hd_larf *m, uint32_t physical)
{
    larf_physical *p = &m->physical.items[physical];
    if (--p->users && !HD_PLANTED(m->early))
        return;
    p->users = 0;
    if (hd_larf_forget(&m->table, physical))
        hd_rf_event(&m->model, HD_COUNTER_SHARES_ENDED, 1);
    hd_physical_release(&m->file, physical % m->banks, physical / m->banks);
}

/* A physical register is lost where the proof fails. */
void hd_larf_unmap(hd_larf *m, larf_mapping *at)
{
    uint32_t physical = at->physical - 1;
    at->physical = 0;
    if (m->physical.items[physical].users)
        drop_user(m, physical);
}

void hd_larf_attach(hd_larf *m, larf_mapping *at, uint32_t physical)
{
    *at = (larf_mapping){physical + 1, m->physical.items[physical].version, at->below};
}

/* The register of the frame on top is to be mapped, and is not: the frame below saves the one of that name. */
void hd_larf_begin_mapping(hd_larf *m, const hd_rf_warp *warp, uint32_t index)
{
    larf_warp *w = larf_warp_of(m, warp);
    uint32_t word = index - warp->identity.base;
    while (w->top.count <= word)
        hd_array_push(&w->top, 0);
    w->mappings.items[index].below = w->top.items[word];
    w->top.items[word] = index + 1;
    hd_rf_event(&m->model, HD_COUNTER_MAPPED, 1);
    if (!w->mappings.items[index].below)
        return;
    larf_mapping *below = &w->mappings.items[w->mappings.items[index].below - 1];
    hd_larf_unmap(m, below);
    hd_rf_event(&m->model, HD_COUNTER_SAVED, 1);
}

/* Its register comes back from the stack. */
void hd_larf_end_mapping(hd_larf *m, const hd_rf_warp *warp, uint32_t index)
{
    larf_warp *w = larf_warp_of(m, warp);
    uint32_t word = index - warp->identity.base, below = w->mappings.items[index].below;
    if (w->mappings.items[index].physical)
        hd_larf_unmap(m, &w->mappings.items[index]);
    *hd_rf_file_at(&m->claims, warp, index) = (hd_claim){0, 0};
    w->top.items[word] = below;
    if (!below)
        return;
    uint32_t physical = hd_larf_take(m, warp, word);
    if (physical == HD_NONE)
        return;
    m->physical.items[physical].users = 1;
    hd_larf_attach(m, &w->mappings.items[below - 1], physical);
}
