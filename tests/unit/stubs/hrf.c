/* HRF and HRF+PG: a register file of STT-RAM with two write buffers of SRAM before it that warps use in turn. G. Li et
 * al., "A STT-RAM-based Low-Power Hybrid Register File for GPGPUs", DAC 2015.
 *
 * One warp is active. Its results go to one buffer, by lanes; its operands come from there, else from the file. When it
 * stops, its buffer drains into the file at 4 cycles a register, and the next warp takes the other buffer. That warp
 * waits while the other buffer still drains, and so does one that comes back before its own registers are in the file.
 * Warps with odd and even numbers take turns if they can, because their registers are in different banks of the file.
 *
 * The first 16 entries of a buffer always have power. The others get it, some cycles later, when the first ones run
 * short, and lose it when the buffer is drained. A result waits for its entry to have power.
 *
 * The state moves at the switch, and the buffer that drains is not read meanwhile: so a model that decides at issue
 * only needs the cycle at which the drain ends, which is known as nobody else writes that bank.
 *
 * Left out: the read of the file that the paper starts along with each read of a buffer. Options: pg.
 *
 * Cost: O(entries) for each operand.
 */
#include "tests/unit/stubs/stubs.h"

enum { ENTRIES = 64, ALWAYS_ON = 16, RESERVE = 4, WRITE_CYCLES = 4, WAKE_CYCLES = 10, BANKS = 2 };

typedef struct entry {
    hd_owner owner;
    hd_claim claim;
    uint32_t lanes; /* that it holds */
} entry;

typedef struct buffer {
    entry entries[ENTRIES];
    uint32_t count;
    uint64_t drained; /* when the last drain of it ends */
    uint64_t powered; /* when the gated entries have power; 0: they are off */
} buffer;

typedef struct hrf {
    hd_rf_model model;
    hd_rf_file file;
    buffer buffers[2];
    HD_ARRAY(uint64_t) drained; /* by slot: when the registers of the warp are in the file */
    uint32_t active;            /* the buffer in use */
    uint32_t last;              /* the warp that was active last */
    bool gated;
    stub_hrf_counts counts;
} hrf;

stub_hrf_counts stub_hrf_counts_of(const hd_rf_model *model) { return ((const hrf *)model)->counts; }

static hd_rf_model *hrf_create(const hd_rf_module *code, const char *options, const char **refusal)
{
    (void)code, (void)refusal;
    hrf *m = hd_calloc(1, sizeof *m);
    m->gated = hd_rf_flag(options, "pg");
    m->model.active_warps = 1;
    return &m->model;
}

static void hrf_destroy(hd_rf_model *model)
{
    hrf *m = (hrf *)model;
    hd_array_free(&m->drained);
    hd_rf_file_free(&m->file);
    free(m);
}

static uint16_t bank_of(const hd_rf_warp *warp) { return (uint16_t)(warp->identity.warp % BANKS); }

static entry *find(hrf *m, uint32_t index)
{
    buffer *b = &m->buffers[m->active];
    for (uint32_t e = 0; e < b->count; e++)
        if (b->entries[e].owner.index == index)
            return &b->entries[e];
    return NULL;
}

static bool has_power(const hrf *m, const buffer *b, uint32_t entries, uint64_t now)
{
    return entries <= ALWAYS_ON || !m->gated || (b->powered && b->powered <= now);
}

/* ---- switches ---------------------------------------------------------------------------------------------------- */

static void drain_entry(hrf *m, const hd_rf_warp *out, const entry *e, hd_access_sink *sink)
{
    uint16_t read = hd_emit(sink, (hd_rf_access){.structure = HD_STRUCTURE_CACHE,
                                                 .kind = HD_RF_SPILL,
                                                 .bank = (uint16_t)m->active,
                                                 .lanes = e->lanes});
    hd_emit(sink, (hd_rf_access){.structure = HD_STRUCTURE_FILE,
                                 .kind = HD_RF_WRITE,
                                 .cycles = WRITE_CYCLES,
                                 .after = read,
                                 .bank = bank_of(out),
                                 .lanes = e->lanes});
    hd_claim *home = hd_rf_file_at(&m->file, out, e->owner.index);
    if (!hd_rf_loses(&m->model))
        *home = hd_identity_copy(&out->identity, e->owner.index, *home, e->claim, e->lanes);
}

static void hrf_switch(hd_rf_model *model, hd_rf_warp *out, hd_rf_warp *in, hd_access_sink *sink)
{
    hrf *m = (hrf *)model;
    buffer *b = &m->buffers[m->active];
    if (in) {
        m->active = 1 - m->active;
        m->last = in->identity.warp;
        return;
    }
    for (uint32_t e = 0; e < b->count; e++)
        drain_entry(m, out, &b->entries[e], sink);
    m->counts.drains += b->count != 0;
    m->counts.drained += b->count;
    if (b->count)
        m->drained.items[out->slot] = b->drained = sink->now + (uint64_t)WRITE_CYCLES * b->count;
    b->count = 0;
    b->powered = 0;
}

static uint32_t hrf_rank_warp(hd_rf_model *model, const hd_rf_step *next, uint64_t now)
{
    (void)now;
    return next->warp->identity.warp % BANKS != ((hrf *)model)->last % BANKS;
}

/* ---- instructions ------------------------------------------------------------------------------------------------ */

static hd_gate hrf_may_issue(hd_rf_model *model, const hd_rf_step *step, uint64_t now)
{
    hrf *m = (hrf *)model;
    const buffer *b = &m->buffers[m->active];
    uint64_t own = m->drained.items[step->warp->slot], wake = b->drained > own ? b->drained : own;
    uint32_t entries = b->count;
    for (uint32_t d = 0; d < step->destination_count; d++)
        entries += !find(m, hd_rf_index(step, step->destinations[d].word));
    if (b->powered && !has_power(m, b, entries, now))
        wake = b->powered > wake ? b->powered : wake;
    return (hd_gate){.ready = wake <= now,
                     .reason = wake <= now ? HD_STALL_NONE : HD_STALL_REGISTER,
                     .wake = wake <= now ? 0 : wake};
}

static void read_operand(hrf *m, const hd_rf_step *step, uint32_t source, hd_access_sink *sink)
{
    uint32_t index = hd_rf_index(step, step->sources[source]);
    const entry *e = find(m, index);
    uint32_t held = e ? e->lanes & step->effective : 0, missing = step->effective & ~held;
    if (held) {
        hd_rf_read(sink, step, source, HD_STRUCTURE_CACHE, held, e->owner, e->claim);
        hd_array_last(&sink->accesses).bank = (uint16_t)m->active;
    }
    if (!missing)
        return;
    hd_rf_read(sink, step, source, HD_STRUCTURE_FILE, missing, hd_rf_owner(step, step->sources[source]),
               *hd_rf_file_at(&m->file, step->warp, index));
    hd_array_last(&sink->accesses).bank = bank_of(step->warp);
}

/* The gated entries get power before the others are all in use. */
static void watch_power(hrf *m, buffer *b, uint64_t now)
{
    if (!m->gated || b->powered || b->count + RESERVE < ALWAYS_ON)
        return;
    b->powered = now + WAKE_CYCLES;
    m->counts.wakes++;
}

/* Into its entry or a new one; where none has power, into the file. */
static void write_result(hrf *m, const hd_rf_step *step, uint32_t destination, hd_access_sink *sink)
{
    buffer *b = &m->buffers[m->active];
    hd_owner owner = hd_rf_owner(step, step->destinations[destination].word);
    entry *e = find(m, owner.index);
    if (!e && (b->count == ENTRIES || !has_power(m, b, b->count + 1, sink->now))) {
        hd_rf_file_write(&m->model, &m->file, step, destination, sink);
        hd_array_last(&sink->accesses).cycles = WRITE_CYCLES;
        hd_array_last(&sink->accesses).bank = bank_of(step->warp);
        return;
    }
    if (!e) {
        e = &b->entries[b->count++];
        *e = (entry){.owner = owner};
        watch_power(m, b, sink->now);
    }
    hd_rf_write(sink, step, destination, HD_STRUCTURE_CACHE);
    hd_array_last(&sink->accesses).bank = (uint16_t)m->active;
    if (hd_rf_loses(&m->model))
        return;
    e->claim = hd_rf_written(step, destination, e->claim);
    e->lanes |= step->effective;
}

static void hrf_execute(hd_rf_model *model, const hd_rf_step *step, hd_access_sink *sink)
{
    hrf *m = (hrf *)model;
    for (uint32_t s = 0; s < step->source_count && step->effective; s++)
        read_operand(m, step, s, sink);
    for (uint32_t d = 0; d < step->destination_count && step->effective; d++)
        write_result(m, step, d, sink);
}

/* ---- warps and frames -------------------------------------------------------------------------------------------- */

static void hrf_warp_begin(hd_rf_model *model, hd_rf_warp *warp)
{
    hrf *m = (hrf *)model;
    while (m->drained.count <= warp->slot)
        hd_array_push(&m->drained, 0);
    m->drained.items[warp->slot] = 0;
}

static void hrf_frame_begin(hd_rf_model *model, hd_rf_warp *warp)
{
    hd_rf_file_frame_begin(&((hrf *)model)->file, warp);
}

/* Of the active warp: only it returns and ends. */
static void hrf_frame_end(hd_rf_model *model, hd_rf_warp *warp)
{
    buffer *b = &((hrf *)model)->buffers[((hrf *)model)->active];
    uint32_t left = 0;
    for (uint32_t e = 0; e < b->count; e++)
        if (b->entries[e].owner.index < warp->identity.base)
            b->entries[left++] = b->entries[e];
    b->count = left;
}

const hd_rf_ops stub_hrf_ops = {
    .create = hrf_create,
    .destroy = hrf_destroy,
    .warp_begin = hrf_warp_begin,
    .frame_begin = hrf_frame_begin,
    .frame_end = hrf_frame_end,
    .warp_switch = hrf_switch,
    .rank_warp = hrf_rank_warp,
    .may_issue = hrf_may_issue,
    .execute = hrf_execute,
    .coupled = true,
};
