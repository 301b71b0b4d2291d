/* HRF and HRF+PG: a register file of STT-RAM behind two write buffers of SRAM. G. Li et al., "A STT-RAM-based Low-Power
 * Hybrid Register File for GPGPUs", DAC 2015.
 *
 * One warp is active. Its results go to one buffer, whose index has an entry for each register; each operand is looked
 * up there while the file is read, and lanes that the buffer has are taken from it. When the warp leaves, its buffer
 * drains into the file entry by entry, 4 cycles each, and the next warp takes the other buffer. That warp waits while
 * the buffer still drains, and so does one that comes back before its own registers are in the file. The file has two
 * banks, one for warps in even places of the SM and one for those in odd places, which are made to take turns where
 * both can go on. HRF+PG: the first 16 entries of a buffer always have power, the other 48 from when one of them is
 * needed until the buffer is drained; the instruction waits until they have it.
 *
 * What the paper leaves open, and what the model does:
 *
 *   divergence      An entry has a valid bit for each lane; lanes that it lacks come from the file.
 *   loads           What a long-latency load brings comes when its warp has left and its buffer is drained: it goes to
 *                   the file, and takes its lanes from the buffer.
 *   more registers  The index has a place for each register of the warp; what finds no entry goes to the file.
 *   wake-up         10 cycles, as RFV has for sub-arrays.
 *   banks           Two of 256 entries are half of the 4 KB of a block; the model has both of 512. A bank serves one
 *                   access at a time; the option `banks` divides it, for reads.
 *   the same bank   A warp of the bank that drains may follow, where no other can go on.
 *   ended warps     Their buffer does not drain, and takes its turn.
 *
 * The state moves when the warp leaves, and the buffer that drains is not read meanwhile, so a model that decides at
 * issue only needs the cycle at which the drain ends. It is later by what else writes to the bank: loads, and reads of
 * a warp of the same bank. A result that is in flight when its warp leaves is drained though it comes some cycles
 * later.
 *
 * Proof: beside that of each operand, an instruction that issues while its buffer or its own registers still drain, or
 * that fills an entry without power, fails.
 *
 * Options: pg; wake=CYCLES; write=CYCLES, banks=N, loads, for experiments. Storage: the buffers, each entry with 32
 * bits, 6 of address and a valid bit in each of 32 lanes, and the index of 64 entries of 7 bits.
 *
 * Cost: O(1) an operand, O(entries) where a warp leaves.
 */
#include "hwmodel/rf/technique.h"
#include "target/gpu.h"

enum {
    HRF_ENTRIES = 64,
    HRF_ALWAYS_ON = 16,
    HRF_LANES = 32,
    HRF_ENTRY_BITS = HRF_LANES * (32 + 6 + 1),
    HRF_INDEX_BITS = HRF_ENTRIES * 7,
    HRF_BUFFERS = 2,
    HRF_GATED_BITS = (HRF_ENTRIES - HRF_ALWAYS_ON) * HRF_ENTRY_BITS /* of a buffer */
};

typedef struct hrf_entry {
    uint32_t lanes; /* that it has; 0: none is valid any more */
    hd_owner owner;
    hd_claim claim;
} hrf_entry;

typedef struct hrf_buffer {
    hrf_entry entries[HRF_ENTRIES];
    uint32_t count, used; /* entries; most in this period */
    uint64_t drained;     /* time from which it may be filled */
    uint64_t asked;       /* 1 + time at which power for all entries was asked for; 0: it was not */
} hrf_buffer;

typedef struct hd_hrf {
    hd_rf_model model;
    hd_rf_file file;
    hrf_buffer buffers[HRF_BUFFERS];
    HD_ARRAY(uint8_t) index;    /* by register of the active warp: 1 + entry; 0: none */
    HD_ARRAY(uint64_t) drained; /* by slot: time from which its registers are in the file */
    uint64_t bank_free[2];
    uint32_t filled;     /* the buffer of the active warp */
    uint32_t slot, last; /* of the active warp, HD_NONE: none is; of the one before it */
    uint64_t now;        /* of what was done last */
    uint32_t write_cycles, wake_cycles, banks;
    bool gated, loads;
} hd_hrf;

static hd_rf_model *hrf_create(const hd_rf_module *code, const char *options, const char **refusal)
{
    hd_hrf *m = hd_calloc(1, sizeof *m);
    (void)code;
    m->gated = hd_rf_flag(options, "pg");
    m->loads = hd_rf_flag(options, "loads");
    m->wake_cycles = hd_rf_option(options, "wake", 10);
    m->write_cycles = hd_rf_option(options, "write", 4);
    m->banks = hd_rf_option(options, "banks", 2);
    m->model.active_warps = 1;
    if (m->banks % 2) {
        *refusal = "half of the banks are for even warps: their number is even";
        free(m);
        return NULL;
    }
    return &m->model;
}

static void hrf_destroy(hd_rf_model *model)
{
    hd_hrf *m = (hd_hrf *)model;
    hd_rf_file_free(&m->file);
    hd_array_free(&m->index);
    hd_array_free(&m->drained);
    free(m);
}

static void hrf_launch(hd_rf_model *model, const hd_rf_launch *launch)
{
    hd_hrf *m = (hd_hrf *)model;
    (void)launch;
    memset(m->buffers, 0, sizeof m->buffers);
    hd_array_clear(&m->index);
    m->bank_free[0] = m->bank_free[1] = 0;
    m->slot = m->last = HD_NONE;
    m->filled = 0;
    model->storage_bits = HRF_BUFFERS * HRF_ENTRIES * HRF_ENTRY_BITS + HRF_INDEX_BITS;
}

static uint64_t hrf_gated_bits(const hd_rf_model_info *info)
{
    return hd_rf_flag(info->options, "pg") ? HRF_BUFFERS * HRF_GATED_BITS : 0;
}

/* ---- entries ----------------------------------------------------------------------------------------------------- */

static hrf_buffer *filled(hd_hrf *m) { return &m->buffers[m->filled]; }

static uint32_t parity(uint32_t slot) { return slot % 2; }

static uint16_t read_bank(const hd_hrf *m, const hd_rf_warp *warp, uint32_t index)
{
    return (uint16_t)(parity(warp->slot) + 2 * (index % (m->banks / 2)));
}

static hrf_entry *find(hd_hrf *m, uint32_t index)
{
    uint32_t entry = index < m->index.count ? m->index.items[index] : 0;
    return entry ? &filled(m)->entries[entry - 1] : NULL;
}

/* NULL: there is none left. */
static hrf_entry *allocate(hd_hrf *m, hd_owner owner)
{
    hrf_buffer *b = filled(m);
    if (b->count == HRF_ENTRIES)
        return NULL;
    while (m->index.count <= owner.index)
        hd_array_push(&m->index, 0);
    hrf_entry *e = &b->entries[b->count++];
    *e = (hrf_entry){.owner = owner};
    m->index.items[owner.index] = (uint8_t)b->count;
    b->used = hd_max(b->used, b->count);
    return e;
}

static void access_buffer(const hd_hrf *m, hd_access_kind kind, uint16_t operand, uint32_t lanes, hd_access_sink *sink)
{
    hd_emit(sink, (hd_rf_access){.structure = HD_STRUCTURE_BUFFER,
                                 .kind = (uint8_t)kind,
                                 .cause = m->gated && kind != HD_RF_LOOKUP ? HD_CAUSE_GATED : HD_CAUSE_NONE,
                                 .operand = operand,
                                 .bank = (uint16_t)m->filled,
                                 .lanes = lanes});
}

/* ---- a warp leaves, another one comes ---------------------------------------------------------------------------- */

static void drain_entry(hd_hrf *m, const hd_rf_warp *out, const hrf_entry *e, hd_access_sink *sink)
{
    access_buffer(m, HD_RF_SPILL, 0, e->lanes, sink);
    uint16_t read = (uint16_t)sink->accesses.count;
    hd_emit(sink, (hd_rf_access){.structure = HD_STRUCTURE_FILE,
                                 .kind = HD_RF_WRITE,
                                 .cause = HD_CAUSE_STT,
                                 .cycles = (uint16_t)m->write_cycles,
                                 .after = read,
                                 .bank = (uint16_t)parity(out->slot),
                                 .lanes = e->lanes});
    hd_claim *home = hd_rf_file_at(&m->file, out, e->owner.index);
    if (!hd_rf_loses(&m->model))
        *home = hd_identity_copy(&out->identity, e->owner.index, *home, e->claim, e->lanes);
}

/* The buffer is read in the next cycle, and the bank writes from the one after it on. */
static void drain(hd_hrf *m, const hd_rf_warp *out, hd_access_sink *sink)
{
    hrf_buffer *b = filled(m);
    uint64_t *bank_free = &m->bank_free[parity(out->slot)];
    uint32_t valid = 0;
    for (uint32_t e = 0; e < b->count; e++) {
        if (!b->entries[e].lanes)
            continue;
        drain_entry(m, out, &b->entries[e], sink);
        valid++;
    }
    if (!valid)
        return;
    *bank_free = hd_max(sink->now + 2, *bank_free) + (uint64_t)valid * m->write_cycles;
    m->drained.items[out->slot] = b->drained = *bank_free - 1; /* what is written in a cycle may be read in it */
}

/* After which the buffer has no use for its gated entries. */
static void end_period(hd_hrf *m, uint64_t power_ends)
{
    hrf_buffer *b = filled(m);
    hd_counter use = b->used <= 8    ? HD_COUNTER_BUFFER_USE_8
                     : b->used <= 16 ? HD_COUNTER_BUFFER_USE_16
                     : b->used <= 32 ? HD_COUNTER_BUFFER_USE_32
                                     : HD_COUNTER_BUFFER_USE_64;
    hd_rf_event(&m->model, use, 1);
    hd_rf_event(&m->model, HD_COUNTER_BUFFER_ENTRIES, b->used);
    if (b->asked && power_ends > b->asked - 1)
        hd_rf_event(&m->model, HD_COUNTER_BUFFER_POWERED, (power_ends - (b->asked - 1)) * HRF_GATED_BITS);
    b->count = b->used = 0;
    b->asked = 0;
    m->last = m->slot;
    m->slot = HD_NONE;
}

static void begin_period(hd_hrf *m, const hd_rf_warp *in)
{
    m->filled = 1 - m->filled;
    m->slot = in->slot;
    for (uint32_t i = 0; i < m->index.count; i++)
        m->index.items[i] = 0;
    hd_rf_event(&m->model, HD_COUNTER_BUFFER_PERIODS, 1);
    hd_rf_event(&m->model, HD_COUNTER_BUFFER_SAME_BANK, m->last != HD_NONE && parity(m->last) == parity(in->slot));
}

static void hrf_switch(hd_rf_model *model, hd_rf_warp *out, hd_rf_warp *in, hd_access_sink *sink)
{
    hd_hrf *m = (hd_hrf *)model;
    m->now = sink->now;
    if (out) {
        drain(m, out, sink);
        end_period(m, hd_max(filled(m)->drained, sink->now));
    } else {
        begin_period(m, in);
    }
}

/* Warps of the other bank come first. */
static uint32_t hrf_rank_warp(hd_rf_model *model, const hd_rf_step *next, uint64_t now)
{
    const hd_hrf *m = (const hd_hrf *)model;
    (void)now;
    return m->last == HD_NONE || parity(next->warp->slot) != parity(m->last);
}

/* ---- may it issue? ----------------------------------------------------------------------------------------------- */

static bool goes_to_file(const hd_hrf *m, const hd_rf_step *step)
{
    return !m->loads && step->code->traits[step->instruction] & HD_RF_LONG;
}

static bool needs_gated_entries(hd_hrf *m, const hd_rf_step *step)
{
    uint32_t entries = filled(m)->count;
    if (!m->gated || !step->effective || goes_to_file(m, step))
        return false;
    for (uint32_t d = 0; d < step->destination_count; d++)
        entries += !find(m, hd_rf_index(step, step->destinations[d].word));
    return entries > HRF_ALWAYS_ON && entries > filled(m)->count;
}

static hd_gate wait_until(uint64_t wake, hd_stall reason) { return (hd_gate){.reason = (uint8_t)reason, .wake = wake}; }

static hd_gate hrf_may_issue(hd_rf_model *model, const hd_rf_step *step, uint64_t now)
{
    hd_hrf *m = (hd_hrf *)model;
    hrf_buffer *b = filled(m);
    bool active = step->warp->slot == m->slot;
    uint64_t own = m->drained.items[step->warp->slot], drained = active ? hd_max(own, b->drained) : own;
    if (drained > now)
        return wait_until(drained, HD_STALL_DRAIN);
    if (!active || !needs_gated_entries(m, step))
        return (hd_gate){.ready = true};
    if (!b->asked) {
        b->asked = now + 1;
        hd_rf_event(model, HD_COUNTER_BUFFER_WAKES, 1);
    }
    uint64_t powered = b->asked - 1 + m->wake_cycles;
    return powered > now ? wait_until(powered, HD_STALL_POWER) : (hd_gate){.ready = true};
}

/* ---- instructions ------------------------------------------------------------------------------------------------ */

/* Nothing enters a buffer, or is read from the file, while a drain is to bring what was there before; and only entries
 * with power are filled. */
static void prove_time(hd_hrf *m, const hd_rf_step *step, hd_access_sink *sink)
{
    const hrf_buffer *b = filled(m);
    bool drains = sink->now < hd_max(m->drained.items[step->warp->slot], b->drained);
    bool off = needs_gated_entries(m, step) && (!b->asked || sink->now < b->asked - 1 + m->wake_cycles);
    if (step->warp->slot != m->slot || drains || off)
        hd_rf_fail(&sink->failure, step,
                   (hd_rf_failure){.wrong = HD_RF_SHARED, .structure = HD_STRUCTURE_BUFFER, .lanes = step->effective});
}

static void read_operand(hd_hrf *m, const hd_rf_step *step, uint32_t source, hd_access_sink *sink)
{
    uint32_t word = step->sources[source], index = hd_rf_index(step, word);
    const hrf_entry *e = find(m, index);
    uint32_t held = e ? e->lanes & step->effective : 0, missing = step->effective & ~held;
    access_buffer(m, HD_RF_LOOKUP, 0, step->effective, sink);
    hd_emit(sink, (hd_rf_access){.structure = HD_STRUCTURE_FILE,
                                 .kind = HD_RF_READ,
                                 .cause = HD_CAUSE_STT,
                                 .operand = hd_access_source(source),
                                 .bank = read_bank(m, step->warp, index),
                                 .lanes = step->effective});
    if (held) {
        hd_rf_deliver(sink, step, source, HD_STRUCTURE_BUFFER, held, e->owner, e->claim);
        access_buffer(m, HD_RF_READ, hd_access_source(source), held, sink);
    }
    if (missing)
        hd_rf_deliver(sink, step, source, HD_STRUCTURE_FILE, missing, hd_rf_owner(step, word),
                      *hd_rf_file_at(&m->file, step->warp, index));
}

static void write_file(hd_hrf *m, const hd_rf_step *step, uint32_t destination, hd_access_sink *sink)
{
    hd_rf_file_write(&m->model, &m->file, step, destination, sink);
    hd_rf_access *a = &hd_array_last(&sink->accesses);
    a->cause = HD_CAUSE_STT;
    a->cycles = (uint16_t)m->write_cycles;
    a->bank = (uint16_t)parity(step->warp->slot);
}

static void write_result(hd_hrf *m, const hd_rf_step *step, uint32_t destination, hd_access_sink *sink)
{
    hd_owner owner = hd_rf_owner(step, step->destinations[destination].word);
    hrf_entry *e = find(m, owner.index);
    access_buffer(m, HD_RF_LOOKUP, 0, step->effective, sink);
    if (goes_to_file(m, step)) {
        write_file(m, step, destination, sink);
        if (e)
            e->lanes &= ~step->effective;
        return;
    }
    e = e ? e : allocate(m, owner);
    if (!e) {
        write_file(m, step, destination, sink);
        return;
    }
    access_buffer(m, HD_RF_WRITE, hd_access_result(destination), step->effective, sink);
    e->lanes |= step->effective;
    if (!hd_rf_loses(&m->model))
        e->claim = hd_rf_written(step, destination, e->claim);
}

static void hrf_execute(hd_rf_model *model, const hd_rf_step *step, hd_access_sink *sink)
{
    hd_hrf *m = (hd_hrf *)model;
    m->now = sink->now;
    prove_time(m, step, sink);
    if (!step->effective)
        return;
    for (uint32_t s = 0; s < step->source_count; s++)
        read_operand(m, step, s, sink);
    for (uint32_t d = 0; d < step->destination_count; d++)
        write_result(m, step, d, sink);
}

/* ---- warps and frames -------------------------------------------------------------------------------------------- */

static void hrf_warp_begin(hd_rf_model *model, hd_rf_warp *warp)
{
    hd_hrf *m = (hd_hrf *)model;
    while (m->drained.count <= warp->slot)
        hd_array_push(&m->drained, 0);
    m->drained.items[warp->slot] = 0;
}

static void hrf_warp_end(hd_rf_model *model, hd_rf_warp *warp)
{
    hd_hrf *m = (hd_hrf *)model;
    if (warp->slot == m->slot)
        end_period(m, m->now + 1);
}

static void hrf_frame_begin(hd_rf_model *model, hd_rf_warp *warp)
{
    hd_rf_file_frame_begin(&((hd_hrf *)model)->file, warp);
}

/* Called for the active warp, or for one whose buffer is drained. */
static void hrf_frame_end(hd_rf_model *model, hd_rf_warp *warp)
{
    hd_hrf *m = (hd_hrf *)model;
    hrf_buffer *b = filled(m);
    uint32_t left = 0;
    if (warp->slot != m->slot)
        return;
    for (uint32_t e = 0; e < b->count; e++) {
        uint32_t index = b->entries[e].owner.index;
        bool stays = index < warp->identity.base;
        if (stays)
            b->entries[left++] = b->entries[e];
        m->index.items[index] = stays ? (uint8_t)left : 0;
    }
    b->count = left;
}

const hd_rf_ops hd_rf_hrf_ops = {
    .create = hrf_create,
    .destroy = hrf_destroy,
    .launch = hrf_launch,
    .warp_begin = hrf_warp_begin,
    .warp_end = hrf_warp_end,
    .frame_begin = hrf_frame_begin,
    .frame_end = hrf_frame_end,
    .warp_switch = hrf_switch,
    .rank_warp = hrf_rank_warp,
    .may_issue = hrf_may_issue,
    .execute = hrf_execute,
    .storage = HD_ENERGY_WRITE_BUFFER,
    .file = HD_ENERGY_STT_RAM,
    .gated_bits = hrf_gated_bits,
    .gates = HD_ENERGY_BUFFER_GATES,
    .coupled = true,
    .timed = true,
};
