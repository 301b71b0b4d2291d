/* Warped-DMR: execution units verify each other. H. Jeon, "Resource Underutilization Exploitation for Power Efficient
 * and Reliable Throughput Processor", chapter 4.
 *
 * An instruction in some lanes is verified at once: each idle lane repeats an active one of its cluster of four, by
 * table 4.1. One in all lanes is queued, with its operands and results (ReplayQ), and repeated in shuffled lanes when
 * nothing issues on its units. An instruction that reads or overwrites a result which is not verified waits, and so
 * does one that must be queued while the queue is full. What is left when the kernel ends is repeated then.
 *
 * Option stuck=LANE: the lowest bit of what that lane computes is always 1. A repetition on another lane detects it in
 * a result whose lowest bit is 0.
 *
 * Left out: instructions without a result in a register (stores, branches), the priority of a result that is waited
 * for (the oldest goes first), the choice of a queued instruction by chance (the same), mappings of threads to lanes.
 *
 * Cost: O(entries) for each operand.
 */
#include "tests/unit/stubs/stubs.h"

enum { CLUSTER = 4, QUEUE = 10, LONGEST = 4 /* results of a queued instruction */ };

typedef struct queued {
    uint32_t units; /* that can repeat it */
    uint32_t warp, frame, words[LONGEST], count;
    uint32_t results[LONGEST][32];
} queued;

typedef struct dmr {
    hd_rf_model model;
    hd_rf_file file;
    queued queue[QUEUE];
    uint32_t waiting, stuck;
    stub_dmr_counts counts;
} dmr;

stub_dmr_counts stub_dmr_counts_of(const hd_rf_model *model) { return ((const dmr *)model)->counts; }

static hd_rf_model *dmr_create(const hd_rf_module *code, const char *options, const char **refusal)
{
    (void)code, (void)refusal;
    dmr *m = hd_calloc(1, sizeof *m);
    m->stuck = hd_rf_option(options, "stuck", HD_NONE);
    m->model.turn = 1;
    return &m->model;
}

static void dmr_destroy(hd_rf_model *model)
{
    hd_rf_file_free(&((dmr *)model)->file);
    free(model);
}

/* Units of the same kind as that of the instruction: arithmetic, memory, special functions; 0: it is not verified. */
static uint32_t units_of(const hd_rf_step *step)
{
    static const uint32_t kinds[] = {1 << HD_UNIT_INT | 1 << HD_UNIT_SP | 1 << HD_UNIT_DP,
                                     1 << HD_UNIT_LDST | 1 << HD_UNIT_TEX, 1 << HD_UNIT_SFU};
    uint32_t unit = 1u << hd_form_unit(hd_insn_form(step->code->function, step->insn));
    for (uint32_t k = 0; k < sizeof kinds / sizeof *kinds; k++)
        if (kinds[k] & unit)
            return step->results && step->destination_count && step->destination_count <= LONGEST ? kinds[k] : 0;
    return 0;
}

static bool is_queued(const hd_rf_step *step) { return step->effective == UINT32_MAX && units_of(step); }

/* ---- verification ------------------------------------------------------------------------------------------------ */

static uint32_t computed_by(const dmr *m, uint32_t lane, uint32_t value)
{
    return lane == m->stuck ? value | 1 : value;
}

static void compare(dmr *m, uint32_t value, uint32_t lane, uint32_t by)
{
    m->counts.detected += computed_by(m, lane, value) != computed_by(m, by, value);
}

/* Table 4.1: the idle lane k tries the lanes k xor 1, k xor 2 and k xor 3 of its cluster. */
static void repeat_in_idle_lanes(dmr *m, const hd_rf_step *step)
{
    uint32_t covered = 0;
    for (uint32_t idle = ~step->effective; idle; idle &= idle - 1) {
        uint32_t by = (uint32_t)__builtin_ctz(idle), other = 1;
        while (other < CLUSTER && !(step->effective >> (by ^ other) & 1))
            other++;
        if (other == CLUSTER)
            continue;
        covered |= 1u << (by ^ other);
        for (uint32_t d = 0; d < step->destination_count; d++)
            compare(m, step->results[d * 32 + (by ^ other)], by ^ other, by);
    }
    m->counts.covered += (uint32_t)__builtin_popcount(covered);
}

static void replay(dmr *m, uint32_t at)
{
    const queued *q = &m->queue[at];
    for (uint32_t d = 0; d < q->count; d++)
        for (uint32_t lane = 0; lane < 32; lane++)
            compare(m, q->results[d][lane], lane, lane / CLUSTER * CLUSTER + (lane + 1) % CLUSTER);
    m->counts.covered += 32;
    m->counts.replayed++;
    m->waiting--;
    memmove(m->queue + at, m->queue + at + 1, (m->waiting - at) * sizeof *m->queue);
}

static uint32_t dmr_idle_slot(hd_rf_model *model, uint32_t units, uint64_t now, hd_access_sink *sink)
{
    dmr *m = (dmr *)model;
    uint32_t used = 0;
    (void)now;
    for (uint32_t q = 0; q < m->waiting;) {
        uint32_t needed = m->queue[q].units;
        if ((units & ~used & needed) != needed) {
            q++;
            continue;
        }
        used |= needed;
        hd_emit(sink, (hd_rf_access){.structure = HD_STRUCTURE_CACHE, .kind = HD_RF_READ, .lanes = UINT32_MAX});
        replay(m, q);
    }
    return used;
}

static void dmr_finalize(hd_rf_model *model)
{
    dmr *m = (dmr *)model;
    while (m->waiting)
        replay(m, 0);
}

/* ---- instructions ------------------------------------------------------------------------------------------------ */

static bool is_unverified(const dmr *m, const hd_rf_warp *warp, uint32_t word)
{
    for (uint32_t q = 0; q < m->waiting; q++)
        for (uint32_t d = 0; d < m->queue[q].count; d++)
            if (m->queue[q].warp == warp->identity.warp && m->queue[q].frame == warp->identity.frame &&
                m->queue[q].words[d] == word)
                return true;
    return false;
}

static hd_gate dmr_may_issue(hd_rf_model *model, const hd_rf_step *step, uint64_t now)
{
    const dmr *m = (const dmr *)model;
    bool waits = m->waiting == QUEUE && is_queued(step);
    for (uint32_t s = 0; s < step->source_count; s++)
        waits = waits || is_unverified(m, step->warp, step->sources[s]);
    for (uint32_t d = 0; d < step->destination_count; d++)
        waits = waits || is_unverified(m, step->warp, step->destinations[d].word);
    return (hd_gate){.ready = !waits, .reason = waits ? HD_STALL_REGISTER : HD_STALL_NONE, .wake = waits ? now + 1 : 0};
}

static void queue_instruction(dmr *m, const hd_rf_step *step, hd_access_sink *sink)
{
    queued *q = &m->queue[m->waiting++];
    *q = (queued){.units = units_of(step),
                  .warp = step->warp->identity.warp,
                  .frame = step->warp->identity.frame,
                  .count = step->destination_count};
    for (uint32_t d = 0; d < q->count; d++)
        q->words[d] = step->destinations[d].word;
    memcpy(q->results, step->results, q->count * sizeof *q->results);
    hd_emit(sink, (hd_rf_access){.structure = HD_STRUCTURE_CACHE,
                                 .kind = HD_RF_WRITE,
                                 .after = (uint16_t)sink->accesses.count,
                                 .lanes = UINT32_MAX});
}

static void dmr_execute(hd_rf_model *model, const hd_rf_step *step, hd_access_sink *sink)
{
    dmr *m = (dmr *)model;
    if (!step->effective)
        return;
    for (uint32_t s = 0; s < step->source_count; s++) {
        hd_rf_file_read(&m->file, step, s, sink);
        m->counts.unverified += is_unverified(m, step->warp, step->sources[s]);
    }
    for (uint32_t d = 0; d < step->destination_count; d++)
        hd_rf_file_write(model, &m->file, step, d, sink);
    if (!units_of(step))
        return;
    m->counts.lanes += (uint32_t)__builtin_popcount(step->effective);
    if (is_queued(step))
        queue_instruction(m, step, sink);
    else
        repeat_in_idle_lanes(m, step);
}

static void dmr_frame_begin(hd_rf_model *model, hd_rf_warp *warp)
{
    hd_rf_file_frame_begin(&((dmr *)model)->file, warp);
}

const hd_rf_ops stub_dmr_ops = {
    .create = dmr_create,
    .destroy = dmr_destroy,
    .frame_begin = dmr_frame_begin,
    .may_issue = dmr_may_issue,
    .execute = dmr_execute,
    .idle_slot = dmr_idle_slot,
    .finalize = dmr_finalize,
    .columns = HD_COLUMN_RESULTS,
    .coupled = true,
};
