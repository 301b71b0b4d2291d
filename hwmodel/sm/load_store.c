/* The load/store unit: one line of memory, or one pass over shared memory, a cycle. */
#include "hwmodel/sm/state.h"

/* ---- at issue ---------------------------------------------------------------------------------------------------- */

static uint8_t space_of(const hd_sm *sm, const hd_sm_op *op, uint64_t address)
{
    if (op->space != HD_SPACE_NONE)
        return op->space;
    return sm->setup.spaces ? (uint8_t)hd_memory_space_of(sm->setup.spaces, address) : HD_SPACE_GLOBAL;
}

/* The lanes' words of one offset lie side by side, as the hardware places local memory, in a region of the warp's. */
static void place_local(const hd_sm *sm, uint32_t slot, uint32_t lanes, uint64_t addresses[32])
{
    const uint64_t region = 1u << 24, window = sm->setup.spaces ? sm->setup.spaces->local_window : 0;
    uint64_t base = ((uint64_t)1 << 50) + ((uint64_t)sm->setup.number * SM_WARPS + slot) * region;
    for (uint32_t rest = lanes; rest; rest &= rest - 1) {
        uint32_t lane = (uint32_t)__builtin_ctz(rest);
        uint64_t offset = addresses[lane] >= window ? addresses[lane] - window : addresses[lane];
        addresses[lane] = base + (offset / 4 * 32 + lane) % (region / 4) * 4 + offset % 4;
    }
}

void sm_prepare_memory(hd_sm *sm, uint32_t index, const sm_warp *w)
{
    sm_job *job = &sm->jobs.items[index];
    const hd_machine *m = sm->setup.machine;
    uint64_t addresses[32];
    uint32_t lanes = w->cursor.step.effective;
    memcpy(addresses, w->cursor.addresses, sizeof addresses);
    job->space = space_of(sm, w->op, addresses[__builtin_ctz(lanes)]);
    switch ((hd_space)job->space) {
    case HD_SPACE_SHARED:
    case HD_SPACE_SHARED_CTA:
    case HD_SPACE_SHARED_CLUSTER:
        job->passes = hd_shared_passes(addresses, lanes, w->op->bytes, m->shared.banks);
        sm->counts.shared_accesses++;
        sm->counts.shared_passes += job->passes;
        return;
    case HD_SPACE_LOCAL: place_local(sm, job->warp, lanes, addresses); break;
    case HD_SPACE_NONE:
    case HD_SPACE_GLOBAL: break;
    case HD_SPACE_REG:
    case HD_SPACE_SREG:
    case HD_SPACE_CONST:
    case HD_SPACE_PARAM:
    case HD_SPACE_TEX:
    case HD_SPACE_PARAM_ENTRY:
    case HD_SPACE_PARAM_FUNC:
    case HD_SPACE_COUNT: job->passes = 1; return;
    }
    job->lines = hd_coalesce(addresses, lanes, job->space == HD_SPACE_LOCAL && w->op->bytes > 4 ? 4 : w->op->bytes,
                             m->l1.line_bytes, m->l1.sector_bytes, job->line);
}

/* ---- what the memory system is asked for ------------------------------------------------------------------------- */

uint32_t sm_new_fetch(hd_sm *sm)
{
    uint32_t f = 0;
    while (f < sm->fetches.count && sm->fetches.items[f].used)
        f++;
    if (f == sm->fetches.count) {
        sm_fetch *fresh = hd_array_extend(&sm->fetches, 1);
        memset(fresh, 0, sizeof *fresh);
    }
    return f;
}

/* Sectors are those of the L2 cache from here on. */
static uint32_t l2_sectors(const hd_machine *m, uint32_t sectors)
{
    uint32_t times = m->l1.sector_bytes / m->l2.sector_bytes, wide = 0;
    if (times <= 1)
        return sectors;
    for (uint32_t rest = sectors; rest; rest &= rest - 1)
        wide |= ((1u << times) - 1) << (uint32_t)__builtin_ctz(rest) * times;
    return wide;
}

void sm_send(hd_sm *sm, const hd_line_access *line, uint32_t sectors, hd_memory_kind kind, uint32_t token)
{
    hd_memory_request r = {.address = line->address,
                           .sectors = l2_sectors(sm->setup.machine, sectors),
                           .kind = (uint8_t)kind,
                           .answers = token != HD_NONE,
                           .sm = sm->setup.number,
                           .cycles = (uint16_t)line->lanes,
                           .token = token};
    hd_memory_send(sm->setup.memory, sm->now, &r);
}

static void fetch(hd_sm *sm, uint32_t index, const hd_line_access *line, uint32_t sectors, hd_memory_kind kind,
                  bool fills)
{
    uint32_t f = sm_new_fetch(sm);
    sm->fetch_count++;
    sm_fetch *to = &sm->fetches.items[f];
    to->used = true;
    to->code = false;
    to->fills = fills;
    to->line = line->address;
    to->sectors = sectors;
    hd_array_push(&to->jobs, index);
    sm->jobs.items[index].outstanding++;
    sm_send(sm, line, sectors, kind, f);
}

/* Waits for those of the sectors that are on their way; the others. */
static uint32_t join_fetches(hd_sm *sm, uint32_t index, const hd_line_access *line, uint32_t sectors)
{
    for (uint32_t f = 0; f < sm->fetches.count && sectors && sm->fetch_count; f++) {
        sm_fetch *on_the_way = &sm->fetches.items[f];
        if (!on_the_way->used || !on_the_way->fills || on_the_way->line != line->address ||
            !(on_the_way->sectors & sectors))
            continue;
        sectors &= ~on_the_way->sectors;
        hd_array_push(&on_the_way->jobs, index);
        sm->jobs.items[index].outstanding++;
    }
    return sectors;
}

/* ---- one line ---------------------------------------------------------------------------------------------------- */

static bool uses_l1(const hd_sm *sm, const sm_job *job)
{
    const hd_machine *m = sm->setup.machine;
    return m->l1.bytes && !(job->op->traits & HD_SM_BYPASS_L1) && (job->space == HD_SPACE_LOCAL || m->l1.global);
}

/* false: there is no room for the miss; again in the next cycle. */
static bool load_line(hd_sm *sm, uint32_t index, const hd_line_access *line)
{
    const hd_machine *m = sm->setup.machine;
    sm_job *job = &sm->jobs.items[index];
    bool cached = uses_l1(sm, job);
    uint32_t missing = line->sectors;
    if (sm->fetch_count >= m->l1.mshrs)
        return false;
    if (cached) {
        missing &= ~hd_cache_read(&sm->l1, line->address / m->l1.line_bytes, line->sectors);
        sm->counts.l1_reads++;
        sm->counts.l1_hits += !missing;
        if (!missing)
            job->hit_at = sm->now + m->l1.latency;
        missing = join_fetches(sm, index, line, missing);
    }
    if (missing)
        fetch(sm, index, line, missing, HD_MEMORY_READ, cached);
    return true;
}

/* Stores write through: a line that the L1 cache has keeps what it has, and values are not modelled. */
static bool access_line(hd_sm *sm, uint32_t index)
{
    sm_job *job = &sm->jobs.items[index];
    const hd_line_access *line = &job->line[job->next_line];
    if (hd_memory_port_free(sm->setup.memory, sm->setup.number) > sm->now + 1)
        return false;
    if (job->op->traits & HD_SM_LOAD)
        return load_line(sm, index, line);
    bool atomic = job->op->traits & HD_SM_ATOMIC;
    if (atomic && job->op->writes) {
        if (sm->fetch_count >= sm->setup.machine->l1.mshrs)
            return false;
        fetch(sm, index, line, line->sectors, HD_MEMORY_ATOMIC, false);
    } else {
        sm_send(sm, line, line->sectors, atomic ? HD_MEMORY_ATOMIC : HD_MEMORY_WRITE, HD_NONE);
    }
    return true;
}

static void done_at(hd_sm *sm, uint32_t index, uint64_t cycle)
{
    sm_at(sm, cycle > sm->now ? cycle : sm->now + 1, (sm_event){SM_MEMORY_DONE, index, 0});
}

/* false: the job stays first. */
static bool work_on(hd_sm *sm, uint32_t index)
{
    const hd_machine *m = sm->setup.machine;
    sm_job *job = &sm->jobs.items[index];
    if (job->passes) {
        bool is_shared =
            job->space == HD_SPACE_SHARED || job->space == HD_SPACE_SHARED_CTA || job->space == HD_SPACE_SHARED_CLUSTER;
        if (--job->passes)
            return false;
        done_at(sm, index, sm->now + (is_shared ? m->shared.latency : m->constant.latency));
        return true;
    }
    if (job->next_line < job->lines) {
        if (!access_line(sm, index) || ++job->next_line < job->lines)
            return false;
    } else { /* no addresses: a texture, or an instruction whose lanes access nothing */
        job->hit_at = sm->now + (job->op->traits & HD_SM_LOAD ? m->l1.latency : 1);
    }
    if (!job->outstanding)
        done_at(sm, index, job->hit_at);
    return true;
}

void sm_access_memory(hd_sm *sm)
{
    if (!sm->memory_queue.count || !work_on(sm, sm->memory_queue.items[0]))
        return;
    sm->memory_queue.count--;
    memmove(sm->memory_queue.items, sm->memory_queue.items + 1,
            sm->memory_queue.count * sizeof *sm->memory_queue.items);
}

/* ---- answers ----------------------------------------------------------------------------------------------------- */

void hd_sm_answer(hd_sm *sm, uint32_t token, uint64_t now)
{
    sm_fetch *f = &sm->fetches.items[token];
    sm_account(sm, now);
    f->used = false;
    if (f->code) {
        sm_code_arrived(sm, f->line, now);
        sm->next = now;
        return;
    }
    sm->fetch_count--;
    if (f->fills)
        hd_cache_fill(&sm->l1, f->line / sm->setup.machine->l1.line_bytes, f->sectors, false);
    for (uint32_t i = 0; i < f->jobs.count; i++) {
        sm_job *job = &sm->jobs.items[f->jobs.items[i]];
        bool sent = job->next_line == job->lines;
        if (--job->outstanding == 0 && sent) {
            uint64_t at = job->hit_at > now ? job->hit_at : now;
            sm_at(sm, at, (sm_event){SM_MEMORY_DONE, f->jobs.items[i], 0});
            sm->next = at < sm->next ? at : sm->next;
        }
    }
    hd_array_clear(&f->jobs);
    if (sm->memory_queue.count) /* a miss may wait for room */
        sm->next = now;
}
