/* GPU-Shrink: RFV on a register file with too few registers, and warps that are throttled where they could run out. H.
 * Jeon, "Resource Underutilization Exploitation for Power Efficient and Reliable Throughput Processor", chapter 3.
 *
 * A write maps a physical register, flags release it (pir, pbr). Algorithm 1: an instruction that would map registers
 * waits if what is then left could not complete the CTA that has the most; warps of that CTA go first. If that CTA
 * itself finds too few, registers of the warp that has not issued for longest are spilled to memory, and refilled when
 * it issues again.
 *
 * Left out: calls; banks and power gating of the file, the renaming table and the flag words (they are those of RFV,
 * hwmodel/rf/release.c). Memory is a structure of the stub's own: CACHE. Option: file=N physical registers.
 *
 * Cost: O(1) for each operand; O(warps) for each instruction that maps; O(registers of a warp) for each spill.
 */
#include "hwmodel/rf/release_hints.h"
#include "tests/unit/stubs/stubs.h"

typedef enum where { NOWHERE, MAPPED, SPILLED } where;

typedef struct shrink_warp {
    HD_ARRAY(uint8_t) where; /* by register index in the warp */
    hd_rf_warp *warp;        /* NULL: not resident */
    uint32_t mapped, spilled;
    uint64_t issued; /* when it issued last */
} shrink_warp;

typedef struct shrink {
    hd_rf_model model;
    hd_rf_file file, memory; /* claims of what is mapped; of what is spilled */
    hd_release_hints hints;
    const hd_rf_module *code;
    HD_ARRAY(shrink_warp) warps; /* by slot */
    uint32_t capacity, registers_per_cta;
    hd_rf_residency residency;
    uint32_t ctas;
    uint64_t issues;
    stub_shrink_counts counts;
} shrink;

stub_shrink_counts stub_shrink_counts_of(const hd_rf_model *model) { return ((const shrink *)model)->counts; }

static void shrink_destroy(hd_rf_model *model)
{
    shrink *m = (shrink *)model;
    for (uint32_t s = 0; s < m->warps.count; s++)
        hd_array_free(&m->warps.items[s].where);
    hd_array_free(&m->warps);
    hd_rf_file_free(&m->file);
    hd_rf_file_free(&m->memory);
    hd_release_hints_free(&m->hints);
    free(m);
}

static hd_rf_model *shrink_create(const hd_rf_module *code, const char *options, const char **refusal)
{
    shrink *m = hd_calloc(1, sizeof *m);
    m->code = code;
    m->capacity = hd_rf_option(options, "file", 64);
    *refusal = code->calls ? "functions that are called are left out" : hd_release_hints_read(&m->hints, code, false);
    if (!*refusal)
        return &m->model;
    shrink_destroy(&m->model);
    return NULL;
}

static void shrink_launch(hd_rf_model *model, const hd_rf_launch *launch)
{
    shrink *m = (shrink *)model;
    m->residency = launch->residency;
    m->registers_per_cta = m->code->functions[launch->function]->registers *
                           (launch->residency.cta_warps ? launch->residency.cta_warps : 1);
    m->ctas = 0;
}

/* As many as the full file holds, whatever the registers of this one. */
static bool shrink_may_launch_cta(hd_rf_model *model, uint32_t cta)
{
    const shrink *m = (const shrink *)model;
    (void)cta;
    return m->ctas < m->residency.ctas;
}

static void shrink_cta_end(hd_rf_model *model, uint32_t cta)
{
    (void)cta;
    ((shrink *)model)->ctas--;
}

/* ---- throttling -------------------------------------------------------------------------------------------------- */

static uint32_t mapped_by(const shrink *m, uint32_t cta)
{
    uint32_t mapped = 0;
    for (uint32_t s = 0; s < m->warps.count; s++)
        if (m->warps.items[s].warp && m->warps.items[s].warp->cta == cta)
            mapped += m->warps.items[s].mapped;
    return mapped;
}

/* The CTA that has the most registers; of several, the oldest. */
static uint32_t largest_cta(const shrink *m, uint32_t *mapped)
{
    uint32_t largest = HD_NONE;
    *mapped = 0;
    for (uint32_t s = 0; s < m->warps.count; s++) {
        if (!m->warps.items[s].warp)
            continue;
        uint32_t cta = m->warps.items[s].warp->cta, has = mapped_by(m, cta);
        if (largest == HD_NONE || has > *mapped || (has == *mapped && cta < largest)) {
            largest = cta;
            *mapped = has;
        }
    }
    return largest;
}

static uint32_t free_registers(const shrink *m) { return m->capacity - (uint32_t)m->model.held; }

/* With so many fewer free registers, the CTA that has the most could run out of them. */
static bool endangers(const shrink *m, uint32_t needed, uint32_t most)
{
    uint32_t rest = m->registers_per_cta > most ? m->registers_per_cta - most : 0;
    return free_registers(m) < needed + rest;
}

static shrink_warp *warp_of(shrink *m, const hd_rf_warp *warp) { return &m->warps.items[warp->slot]; }

/* Registers that the instruction maps anew, and those that its warp must have back first. */
static uint32_t needed_by(shrink *m, const hd_rf_step *step)
{
    const shrink_warp *w = warp_of(m, step->warp);
    uint32_t needed = w->spilled;
    for (uint32_t d = 0; d < step->destination_count && step->effective; d++)
        needed += w->where.items[hd_rf_index(step, step->destinations[d].word)] == NOWHERE;
    return needed;
}

static hd_gate shrink_may_issue(hd_rf_model *model, const hd_rf_step *step, uint64_t now)
{
    shrink *m = (shrink *)model;
    uint32_t most, largest = largest_cta(m, &most), needed = needed_by(m, step);
    (void)now;
    if (!needed || step->warp->cta == largest || !endangers(m, needed, most))
        return (hd_gate){.ready = true};
    return (hd_gate){.reason = HD_STALL_REGISTER};
}

static uint32_t shrink_rank_warp(hd_rf_model *model, const hd_rf_step *next, uint64_t now)
{
    const shrink *m = (const shrink *)model;
    uint32_t most, largest = largest_cta(m, &most);
    (void)now;
    return endangers(m, 1, most) && next->warp->cta == largest;
}

/* ---- registers --------------------------------------------------------------------------------------------------- */

static void set_where(shrink *m, shrink_warp *w, uint32_t index, where to)
{
    where from = w->where.items[index];
    w->mapped += (to == MAPPED) - (from == MAPPED);
    w->spilled += (to == SPILLED) - (from == SPILLED);
    m->model.held += (uint64_t)(to == MAPPED) - (from == MAPPED);
    w->where.items[index] = (uint8_t)to;
    if (m->model.held > m->counts.most_mapped)
        m->counts.most_mapped = m->model.held;
}

/* The claim goes from one file to the other, with an access of each. */
static uint16_t move(shrink *m, const hd_rf_warp *warp, uint32_t index, bool out, uint16_t after, hd_access_sink *sink)
{
    hd_rf_file *from = out ? &m->file : &m->memory, *to = out ? &m->memory : &m->file;
    uint8_t source = out ? HD_STRUCTURE_FILE : HD_STRUCTURE_CACHE, sent = out ? HD_STRUCTURE_CACHE : HD_STRUCTURE_FILE;
    uint16_t bank = hd_rf_index_bank(warp, index);
    after = hd_emit(
        sink,
        (hd_rf_access){.structure = source, .kind = HD_RF_READ, .after = after, .bank = bank, .lanes = UINT32_MAX});
    after = hd_emit(
        sink,
        (hd_rf_access){.structure = sent, .kind = HD_RF_WRITE, .after = after, .bank = bank, .lanes = UINT32_MAX});
    if (!hd_rf_loses(&m->model))
        *hd_rf_file_at(to, warp, index) = *hd_rf_file_at(from, warp, index);
    *hd_rf_file_at(from, warp, index) = (hd_claim){0, 0};
    set_where(m, warp_of(m, warp), index, out ? SPILLED : MAPPED);
    m->counts.spilled += out;
    m->counts.refilled += !out;
    return after;
}

static shrink_warp *victim(shrink *m, const shrink_warp *but)
{
    shrink_warp *found = NULL;
    for (uint32_t s = 0; s < m->warps.count; s++) {
        shrink_warp *w = &m->warps.items[s];
        if (w->warp && w != but && w->mapped && (!found || w->issued < found->issued))
            found = w;
    }
    return found;
}

/* Room for what the instruction needs, and what of its warp was spilled. Returns the last access of this. */
static uint16_t make_room(shrink *m, const hd_rf_step *step, hd_access_sink *sink)
{
    shrink_warp *w = warp_of(m, step->warp), *other;
    uint32_t needed = needed_by(m, step);
    uint16_t after = 0;
    while (free_registers(m) < needed && (other = victim(m, w)))
        for (uint32_t i = 0; i < other->where.count && free_registers(m) < needed; i++)
            if (other->where.items[i] == MAPPED)
                after = move(m, other->warp, i, true, after, sink);
    if (free_registers(m) < needed) {
        hd_rf_fail(&sink->failure, step, (hd_rf_failure){.wrong = HD_RF_FULL});
        return after;
    }
    for (uint32_t i = 0; i < w->where.count && w->spilled; i++)
        if (w->where.items[i] == SPILLED)
            after = move(m, step->warp, i, false, after, sink);
    return after;
}

static void release(shrink *m, const hd_rf_step *step, const uint32_t *words, uint32_t from, uint32_t end)
{
    for (uint32_t i = from; i < end; i++) {
        uint32_t index = hd_rf_index(step, words[i]);
        set_where(m, warp_of(m, step->warp), index, NOWHERE);
        *hd_rf_file_at(&m->file, step->warp, index) = (hd_claim){0, 0};
    }
}

static void shrink_execute(hd_rf_model *model, const hd_rf_step *step, hd_access_sink *sink)
{
    shrink *m = (shrink *)model;
    shrink_warp *w = warp_of(m, step->warp);
    const hd_release_function *f = &m->hints.functions[step->function];
    uint32_t i = step->instruction;
    hd_rf_record_held(model);
    w->issued = ++m->issues;
    uint16_t after = make_room(m, step, sink);
    release(m, step, f->before, f->before_first[i], f->before_first[i + 1]);
    uint32_t first = sink->accesses.count;
    for (uint32_t s = 0; s < step->source_count && step->effective; s++)
        hd_rf_file_read(&m->file, step, s, sink);
    for (uint32_t d = 0; d < step->destination_count && step->effective; d++) {
        set_where(m, w, hd_rf_index(step, step->destinations[d].word), MAPPED);
        hd_rf_file_write(model, &m->file, step, d, sink);
    }
    for (uint32_t a = first; a < sink->accesses.count; a++)
        sink->accesses.items[a].after = after;
    release(m, step, f->after, f->after_first[i], f->after_first[i + 1]);
}

/* ---- warps and frames -------------------------------------------------------------------------------------------- */

static void shrink_warp_begin(hd_rf_model *model, hd_rf_warp *warp)
{
    shrink *m = (shrink *)model;
    bool first = true;
    while (m->warps.count <= warp->slot)
        hd_array_push(&m->warps, (shrink_warp){0});
    for (uint32_t s = 0; s < m->warps.count; s++)
        first = first && !(m->warps.items[s].warp && m->warps.items[s].warp->cta == warp->cta);
    m->ctas += first;
    warp_of(m, warp)->warp = warp;
    warp_of(m, warp)->issued = m->issues;
}

static void shrink_warp_end(hd_rf_model *model, hd_rf_warp *warp) { warp_of((shrink *)model, warp)->warp = NULL; }

static void shrink_frame_begin(hd_rf_model *model, hd_rf_warp *warp)
{
    shrink *m = (shrink *)model;
    shrink_warp *w = warp_of(m, warp);
    hd_rf_file_frame_begin(&m->file, warp);
    hd_rf_file_frame_begin(&m->memory, warp);
    w->where.count = 0;
    while (w->where.count < warp->identity.registers.count)
        hd_array_push(&w->where, NOWHERE);
}

static void shrink_frame_end(hd_rf_model *model, hd_rf_warp *warp)
{
    shrink *m = (shrink *)model;
    for (uint32_t i = warp->identity.base; i < warp_of(m, warp)->where.count; i++)
        set_where(m, warp_of(m, warp), i, NOWHERE);
}

const hd_rf_ops stub_shrink_ops = {
    .create = shrink_create,
    .destroy = shrink_destroy,
    .launch = shrink_launch,
    .may_launch_cta = shrink_may_launch_cta,
    .cta_end = shrink_cta_end,
    .warp_begin = shrink_warp_begin,
    .warp_end = shrink_warp_end,
    .frame_begin = shrink_frame_begin,
    .frame_end = shrink_frame_end,
    .rank_warp = shrink_rank_warp,
    .may_issue = shrink_may_issue,
    .execute = shrink_execute,
    .coupled = true,
};
