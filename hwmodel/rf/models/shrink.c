/* GPU-Shrink: RFV (release.c) on a register file that is smaller than the one that thread blocks are admitted for. H.
 * Jeon, "Resource Underutilization Exploitation for Power Efficient and Reliable Throughput Processor", University of
 * Southern California, chapter 3; H. Jeon et al., "GPU Register File Virtualization", MICRO 2015.
 *
 * R_cta is what a thread block may need: registers of a thread, as the kernel is allocated, times its warps. R_mapped
 * counts the physical registers that each resident block has. An instruction that maps n registers issues
 *
 *   of the block with the most registers (R_max; of several, the oldest)   if n are free
 *   of another block                                                       if n + R_cta - R_max are free (algorithm 1)
 *
 * and while one register for another block would be too many, the block with the most goes first. So that block always
 * finds the registers that it may still need, if the file has R_cta: what it releases is free, and what it takes, it
 * no longer needs. The stored text of algorithm 1 lacks the comparison, and lets the block with the most fail, too,
 * where exactly R_cta - R_max are free; the prose says what is done here.
 *
 * The last resort is for thread blocks of which one alone may need more than the file has. A warp of the block with the
 * most registers that finds too few waits for others to release some. After a period without any issue in the SM, all
 * registers of another warp go to memory, and those of the next one, until there is room: first of warps of other
 * blocks, and of these of the one that issued last the longest ago. A spilled warp takes all its registers back with
 * its next instruction, which needs that many more. It needs a file of the registers of one warp.
 *
 * Words that are not renamed are mapped at their first write, too, and kept. A parameter in a register that finds none
 * when a call begins is on the stack, and comes from there as a spilled register does. A value of a caller that a
 * callee has saved is on the stack; the callee's is spilled, and afterwards the caller's is.
 *
 * Decided at issue: a warp may be spilled while a load for one of its registers is on its way. Hardware would send that
 * to memory, too; here it takes neither time nor an access. The banks that a spilled register is read from are those of
 * the warp for which it is spilled, where an SM has several groups of banks.
 *
 * Options: those of RFV except robin and static; less=PERCENT of the file that is missing; ungated (all sub-arrays have
 * power); period=CYCLES; ordered (ours): a block leaves free what each block with more registers may need, not only the
 * one with the most. With algorithm 1, blocks that are throttled hold registers with which none of them can go on.
 *
 * Cost: as RFV, and O(resident thread blocks) for each instruction that maps; O(warps + registers) for each spill.
 */
#include "hwmodel/rf/models/release.h"
#include "base/bits.h"
#include "target/gpu.h"

enum { SHRINK_PERIOD = 32, SHRINK_LINES = 1024 /* in memory, of a warp */ };

typedef struct shrink_cta {
    uint32_t cta, warps; /* warps: that live; 0: the place is free */
} shrink_cta;

typedef struct shrink_warp {
    hd_rf_warp *warp; /* NULL: it does not live */
    uint64_t issued;  /* when it did last, in instructions */
} shrink_warp;

typedef struct hd_shrink {
    hd_release release;          /* its values: of words that are not spilled */
    hd_rf_file memory;           /* of those that are */
    HD_ARRAY(shrink_cta) ctas;   /* as in release.shared */
    HD_ARRAY(shrink_warp) warps; /* by slot */
    uint32_t needs;              /* R_cta */
    uint64_t issues, last;       /* last: when any warp issued, by the driver's clock */
    uint32_t period;
    bool ungated, ordered;
    hd_u32_array came_back; /* by word: the access that brought it back for the instruction in progress, as `after` */
} hd_shrink;

static const hd_rf_ops *const rfv = &hd_rf_release_ops;

static void shrink_destroy(hd_rf_model *model)
{
    hd_shrink *m = (hd_shrink *)model;
    hd_rf_file_free(&m->memory);
    hd_array_free(&m->ctas);
    hd_array_free(&m->warps);
    hd_array_free(&m->came_back);
    hd_release_close(&m->release);
    free(m);
}

static hd_rf_model *shrink_create(const hd_rf_module *code, const char *options, const char **refusal)
{
    hd_shrink *m = hd_calloc(1, sizeof *m);
    m->release.late = true;
    m->release.missing = hd_rf_option(options, "less", 50);
    m->period = hd_rf_option(options, "period", SHRINK_PERIOD);
    m->ungated = hd_rf_flag(options, "ungated");
    m->ordered = hd_rf_flag(options, "ordered");
    *refusal = hd_release_open(&m->release, code, options);
    if (!*refusal && (m->release.missing > 99 || !m->period))
        *refusal = "a register file without registers, or a period without cycles, is not modelled";
    if (!*refusal)
        return &m->release.model;
    shrink_destroy(&m->release.model);
    return NULL;
}

/* Section 3.3: R_avail, R_cta and R_mapped of each thread block, as wide as the number of architected registers. */
static uint64_t counter_bits(const hd_rf_residency *residency)
{
    enum { PAPER_REGISTERS = 1024, PAPER_CTAS = 8 };
    uint32_t registers = residency->file_registers ? residency->file_registers : PAPER_REGISTERS;
    uint32_t ctas = residency->limits ? residency->limits->ctas_per_sm : PAPER_CTAS;
    return (uint64_t)hd_bits_for(registers) * (ctas + 2);
}

static void shrink_launch(hd_rf_model *model, const hd_rf_launch *launch)
{
    hd_shrink *m = (hd_shrink *)model;
    const hd_rf_residency *residency = &launch->residency;
    rfv->launch(model, launch);
    model->storage_bits += counter_bits(residency);
    model->file_reduction_percent = m->release.missing;
    m->needs = m->release.kernel_registers * (residency->cta_warps ? residency->cta_warps : 1);
    m->issues = m->last = 0;
    hd_array_clear(&m->ctas);
    for (uint32_t slot = 0; slot < m->warps.count; slot++)
        m->warps.items[slot].warp = NULL;
}

/* ---- throttling -------------------------------------------------------------------------------------------------- */

static uint32_t taken_by(const hd_shrink *m, uint32_t place)
{
    return place < m->release.shared.ctas.count ? m->release.shared.ctas.items[place] : 0;
}

static uint32_t rest_of(const hd_shrink *m, uint32_t place)
{
    uint32_t has = taken_by(m, place);
    return m->needs > has ? m->needs - has : 0;
}

/* The block at `a` comes before that at `b`: it has more registers, or as many and is older. */
static bool precedes(const hd_shrink *m, uint32_t a, uint32_t b)
{
    uint32_t has = taken_by(m, a), other = taken_by(m, b);
    return has > other || (has == other && m->ctas.items[a].cta < m->ctas.items[b].cta);
}

/* The place of the thread block that has the most registers; HD_NONE: there is no block. */
static uint32_t largest_cta(const hd_shrink *m)
{
    uint32_t best = HD_NONE;
    for (uint32_t p = 0; p < m->ctas.count; p++) {
        if (m->ctas.items[p].warps && (best == HD_NONE || precedes(m, p, best)))
            best = p;
    }
    return best;
}

static uint32_t free_registers(const hd_shrink *m) { return hd_physical_free_count(&m->release.shared.file); }

/* Algorithm 1: with n fewer free registers, the block with the most could run out of them. Ordered: or any block that
 * comes before this one. */
static bool endangers(const hd_shrink *m, uint32_t largest, uint32_t place, uint32_t n)
{
    uint64_t needed = (uint64_t)n + (m->ordered ? 0 : rest_of(m, largest));
    for (uint32_t p = 0; m->ordered && p < m->ctas.count; p++)
        needed += m->ctas.items[p].warps && p != place && precedes(m, p, place) ? rest_of(m, p) : 0;
    return free_registers(m) < needed;
}

static hd_release_helds *helds_of(hd_shrink *m, uint32_t slot) { return &m->release.shared.warps.items[slot]; }

/* Registers that its instruction maps, and those that the warp takes back. */
static uint32_t needed_by(hd_shrink *m, const hd_rf_step *step)
{
    return hd_release_wanted(&m->release, step) + helds_of(m, step->warp->slot)->spilled;
}

/* No warp issued in the last whole period. So a gate is asked again at the end of periods only. */
static bool is_quiet(const hd_shrink *m, uint64_t now) { return now / m->period >= m->last / m->period + 2; }

static hd_gate shrink_may_issue(hd_rf_model *model, const hd_rf_step *step, uint64_t now)
{
    hd_shrink *m = (hd_shrink *)model;
    uint32_t needed = needed_by(m, step), largest;
    if (!needed || m->release.fits)
        return (hd_gate){.ready = true};
    largest = largest_cta(m);
    if (helds_of(m, step->warp->slot)->cta != largest) {
        bool throttled = endangers(m, largest, helds_of(m, step->warp->slot)->cta, needed);
        hd_rf_event(model, HD_COUNTER_THROTTLED, throttled);
        return (hd_gate){.ready = !throttled, .reason = throttled ? HD_STALL_THROTTLE : HD_STALL_NONE};
    }
    if (needed <= free_registers(m) || is_quiet(m, now))
        return (hd_gate){.ready = true};
    hd_rf_event(model, HD_COUNTER_REGISTER_WAITS, 1);
    return (hd_gate){.reason = HD_STALL_REGISTER, .wake = (now / m->period + 1) * m->period};
}

static uint32_t shrink_rank_warp(hd_rf_model *model, const hd_rf_step *next, uint64_t now)
{
    hd_shrink *m = (hd_shrink *)model;
    uint32_t largest = m->release.fits ? HD_NONE : largest_cta(m);
    (void)now;
    return largest != HD_NONE && helds_of(m, next->warp->slot)->cta == largest &&
           free_registers(m) < 1 + rest_of(m, largest);
}

/* ---- spill and refill -------------------------------------------------------------------------------------------- */

/* The index in the warp of the register whose value the word has: the last of the warp's first `depth` frames that
 * mapped it. HD_NONE: none has. */
static uint32_t holder_of(hd_shrink *m, const hd_rf_warp *warp, uint32_t word, uint32_t depth)
{
    const hd_release_warp *w = hd_release_warp_of(&m->release, warp);
    while (depth--) {
        const hd_identity_frame *frame = &warp->identity.frames.items[depth];
        if (word < frame->words && w->mapped.items[frame->base + word])
            return frame->base + word;
    }
    return HD_NONE;
}

/* The claim goes from one of the two to the other. */
static void move_claim(hd_shrink *m, const hd_rf_warp *warp, uint32_t index, hd_rf_file *from, hd_rf_file *to)
{
    if (!hd_rf_loses(&m->release.model))
        *hd_rf_file_at(to, warp, index) = *hd_rf_file_at(from, warp, index);
    *hd_rf_file_at(from, warp, index) = (hd_claim){0, 0};
}

static hd_rf_access file_access(const hd_shrink *m, uint32_t slot, uint32_t word, hd_access_kind kind, uint16_t after)
{
    return (hd_rf_access){.structure = HD_STRUCTURE_FILE,
                          .kind = (uint8_t)kind,
                          .after = after,
                          .bank = (uint16_t)hd_release_bank(&m->release.shared, slot, word),
                          .lanes = UINT32_MAX};
}

static hd_rf_access memory_access(uint32_t slot, uint32_t word, hd_access_kind kind, uint16_t after)
{
    return (hd_rf_access){.structure = HD_STRUCTURE_MEMORY,
                          .kind = (uint8_t)kind,
                          .after = after,
                          .bank = (uint16_t)(slot * SHRINK_LINES + word % SHRINK_LINES),
                          .lanes = UINT32_MAX};
}

/* Whose registers go next; NULL: no other warp has any. */
static hd_rf_warp *find_victim(hd_shrink *m, const hd_rf_warp *but)
{
    const shrink_warp *best = NULL;
    uint32_t largest = helds_of(m, but->slot)->cta;
    for (uint32_t slot = 0; slot < m->warps.count; slot++) {
        const shrink_warp *w = &m->warps.items[slot];
        if (!w->warp || w->warp == but || !helds_of(m, slot)->taken)
            continue;
        bool other = helds_of(m, slot)->cta != largest;
        bool best_other = best && helds_of(m, best->warp->slot)->cta != largest;
        if (!best || (other && !best_other) || (other == best_other && w->issued < best->issued))
            best = w;
    }
    return best ? best->warp : NULL;
}

/* Returns the last read of the register file. */
static uint16_t spill_warp(hd_shrink *m, hd_rf_warp *warp, hd_access_sink *sink)
{
    const hd_release_helds *helds = helds_of(m, warp->slot);
    uint16_t read = 0;
    for (uint32_t word = 0; word < helds->count; word++) {
        if (!helds->items[word].row)
            continue;
        read = hd_emit(sink, file_access(m, warp->slot, word, HD_RF_READ, 0));
        hd_emit(sink, memory_access(warp->slot, word, HD_RF_SPILL, read));
        move_claim(m, warp, holder_of(m, warp, word, warp->identity.frames.count), &m->release.values, &m->memory);
        hd_release_do(&m->release, warp, HD_RELEASE_SPILL, word, 0);
    }
    return read;
}

static void refill_warp(hd_shrink *m, hd_rf_warp *warp, uint16_t after, hd_access_sink *sink)
{
    const hd_release_helds *helds = helds_of(m, warp->slot);
    for (uint32_t word = 0; word < helds->count && helds->spilled; word++) {
        if (!hd_release_is_spilled(&m->release.shared, warp->slot, word))
            continue;
        uint16_t filled = hd_emit(sink, memory_access(warp->slot, word, HD_RF_FILL, after));
        while (m->came_back.count <= word)
            hd_array_push(&m->came_back, 0);
        m->came_back.items[word] = hd_emit(sink, file_access(m, warp->slot, word, HD_RF_WRITE, filled));
        move_claim(m, warp, holder_of(m, warp, word, warp->identity.frames.count), &m->memory, &m->release.values);
        hd_release_do(&m->release, warp, HD_RELEASE_REFILL, word, 0);
    }
}

/* Makes room for what the instruction maps and for its warp's spilled registers, which come back. */
static void make_room(hd_shrink *m, const hd_rf_step *step, hd_access_sink *sink)
{
    uint32_t needed = needed_by(m, step);
    hd_rf_warp *victim;
    uint16_t after = 0;
    while (free_registers(m) < needed && (victim = find_victim(m, step->warp)))
        after = spill_warp(m, victim, sink);
    hd_array_clear(&m->came_back);
    refill_warp(m, step->warp, after, sink);
    sink->holds_warp = sink->accesses.count != 0;
}

static void shrink_execute(hd_rf_model *model, const hd_rf_step *step, hd_access_sink *sink)
{
    hd_shrink *m = (hd_shrink *)model;
    m->warps.items[step->warp->slot].issued = ++m->issues;
    m->last = sink->now;
    make_room(m, step, sink);
    uint32_t first = sink->accesses.count;
    rfv->execute(model, step, sink);
    for (uint32_t a = first; a < sink->accesses.count && m->came_back.count; a++) {
        hd_rf_access *access = &sink->accesses.items[a];
        bool reads = access->operand && !(access->operand & HD_ACCESS_RESULT) && !access->after;
        uint32_t word = reads ? step->sources[access->operand - 1] : HD_NONE;
        if (word < m->came_back.count)
            access->after = m->came_back.items[word];
    }
}

/* ---- lives of warps and frames ----------------------------------------------------------------------------------- */

static uint32_t place_of(hd_shrink *m, uint32_t cta)
{
    uint32_t unused = m->ctas.count;
    for (uint32_t p = 0; p < m->ctas.count; p++) {
        if (m->ctas.items[p].warps && m->ctas.items[p].cta == cta)
            return p;
        unused = !m->ctas.items[p].warps && unused == m->ctas.count ? p : unused;
    }
    if (unused == m->ctas.count)
        hd_array_push(&m->ctas, (shrink_cta){0});
    m->ctas.items[unused].cta = cta;
    return unused;
}

static void shrink_warp_begin(hd_rf_model *model, hd_rf_warp *warp)
{
    hd_shrink *m = (hd_shrink *)model;
    uint32_t place = place_of(m, warp->cta);
    while (m->warps.count <= warp->slot)
        hd_array_push(&m->warps, (shrink_warp){0});
    m->warps.items[warp->slot] = (shrink_warp){warp, m->issues};
    m->ctas.items[place].warps++;
    hd_release_shared_join(&m->release.shared, warp->slot, place);
    rfv->warp_begin(model, warp);
}

static void shrink_warp_end(hd_rf_model *model, hd_rf_warp *warp)
{
    hd_shrink *m = (hd_shrink *)model;
    m->warps.items[warp->slot].warp = NULL;
    m->ctas.items[helds_of(m, warp->slot)->cta].warps--;
}

/* A parameter is mapped, or stays on the stack, where the call would have to wait for a register. */
static void place_parameter(hd_shrink *m, hd_rf_warp *warp, uint32_t index)
{
    uint32_t word = index - warp->identity.base, largest = largest_cta(m);
    bool holds = word < helds_of(m, warp->slot)->count && helds_of(m, warp->slot)->items[word].frames;
    uint32_t place = helds_of(m, warp->slot)->cta;
    bool full = place == largest ? !free_registers(m) : endangers(m, largest, place, 1);
    hd_release_map(&m->release, warp, index, !m->release.fits && !holds && full);
    if (hd_release_is_spilled(&m->release.shared, warp->slot, word))
        move_claim(m, warp, index, &m->release.values, &m->memory);
}

static void shrink_frame_begin(hd_rf_model *model, hd_rf_warp *warp)
{
    hd_shrink *m = (hd_shrink *)model;
    rfv->frame_begin(model, warp);
    hd_rf_file_frame_begin(&m->memory, warp);
    for (uint32_t i = warp->identity.base; i < warp->identity.registers.count; i++) {
        *hd_rf_file_at(&m->memory, warp, i) = (hd_claim){0, 0};
        if (warp->identity.registers.items[i].ever)
            place_parameter(m, warp, i);
    }
}

/* What the callee had saved of a register that is spilled is in memory, too. */
static void shrink_frame_end(hd_rf_model *model, hd_rf_warp *warp)
{
    hd_shrink *m = (hd_shrink *)model;
    const hd_release_helds *helds = helds_of(m, warp->slot);
    uint32_t frames = warp->identity.frames.count;
    rfv->frame_end(model, warp);
    for (uint32_t word = 0; word < helds->count && helds->spilled; word++) {
        if (!hd_release_is_spilled(&m->release.shared, warp->slot, word))
            continue;
        uint32_t index = holder_of(m, warp, word, frames - 1);
        if (hd_rf_file_at(&m->release.values, warp, index)->lanes)
            move_claim(m, warp, index, &m->release.values, &m->memory);
    }
}

static uint64_t shrink_powered(const hd_rf_model *model)
{
    const hd_shrink *m = (const hd_shrink *)model;
    return m->ungated ? m->release.shared.file.capacity : rfv->powered(model);
}

static void shrink_finalize(hd_rf_model *model) { rfv->finalize(model); }

static void shrink_before(hd_rf_model *model, const hd_rf_step *step, hd_access_sink *sink)
{
    rfv->before(model, step, sink);
}

/* ---- where nothing is throttled ---------------------------------------------------------------------------------- */

static void shrink_snapshot(hd_rf_model *model, hd_rf_warp *warp, hd_snapshot *snapshot)
{
    rfv->memo->snapshot(model, warp, snapshot);
}

static hd_rf_wrong shrink_share(hd_rf_model *model, hd_rf_warp *warp, const hd_effect *operation)
{
    return rfv->memo->share(model, warp, operation);
}

static bool shrink_never_refuses(const hd_rf_model *model) { return rfv->memo->never_refuses(model); }

const hd_rf_ops hd_rf_gpu_shrink_ops = {
    .create = shrink_create,
    .destroy = shrink_destroy,
    .launch = shrink_launch,
    .warp_begin = shrink_warp_begin,
    .warp_end = shrink_warp_end,
    .frame_begin = shrink_frame_begin,
    .frame_end = shrink_frame_end,
    .rank_warp = shrink_rank_warp,
    .may_issue = shrink_may_issue,
    .before = shrink_before,
    .execute = shrink_execute,
    .powered = shrink_powered,
    .storage = HD_ENERGY_RENAMING_TABLE,
    .coupled = true,
    .timed = true,
    .finalize = shrink_finalize,
    .memo =
        &(const hd_memo_ops){.snapshot = shrink_snapshot, .share = shrink_share, .never_refuses = shrink_never_refuses},
};
