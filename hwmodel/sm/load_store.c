/* The load/store unit: one line of memory, or one pass over shared memory, a cycle. */
#include "hwmodel/sm/state.h"

static uint32_t line_bytes(const hd_machine *m, sm_cache cache)
{
    switch (cache) {
    case SM_CONSTANT: return m->constant.line_bytes;
    case SM_TEXTURE: return m->texture.line_bytes;
    case SM_CODE: return m->fetch.line_bytes;
    case SM_NO_CACHE:
    case SM_L1:
    case SM_CACHES: break;
    }
    return m->l1.line_bytes;
}

static void make_room(sm_inflight *inflight, uint32_t lines)
{
    if (inflight->line_room >= lines)
        return;
    inflight->line_room = 2 * inflight->line_room > lines ? 2 * inflight->line_room : lines;
    inflight->line = hd_realloc(inflight->line, inflight->line_room * sizeof *inflight->line);
}

/* ---- at issue ---------------------------------------------------------------------------------------------------- */

static uint8_t space_of(const hd_sm *sm, const hd_sm_op *op, uint64_t address)
{
    if (op->space != HD_SPACE_NONE)
        return op->space;
    return sm->setup.spaces ? (uint8_t)hd_memory_space_of(sm->setup.spaces, address) : HD_SPACE_GLOBAL;
}

/* Places local memory as the hardware does: words of one offset lie side by side, in a region of their warp. */
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

/* Constants lie away from all other addresses of the memory system. */
static uint64_t place_constant(uint64_t address) { return ((uint64_t)1 << 51) + address; }

/* Each address of a lane is an access of its own. */
static void prepare_constant(hd_sm *sm, sm_inflight *inflight, uint32_t lanes, const uint64_t addresses[32])
{
    const hd_machine *m = sm->setup.machine;
    uint32_t count = 0;
    for (uint32_t rest = lanes; rest; rest &= rest - 1) {
        uint32_t lane = (uint32_t)__builtin_ctz(rest);
        uint64_t address = place_constant(addresses[lane]);
        bool seen = false;
        for (uint32_t earlier = lanes & ((1u << lane) - 1); earlier && !seen; earlier &= earlier - 1)
            seen = addresses[__builtin_ctz(earlier)] == addresses[lane];
        if (!seen)
            inflight->line[count++] = (hd_line_access){address - address % m->constant.line_bytes, 1, 1};
    }
    inflight->cache = SM_CONSTANT;
    if (m->constant.bytes)
        inflight->lines = count;
    else
        inflight->passes = count;
}

static sm_cache cache_of(const hd_sm *sm, const sm_inflight *inflight)
{
    const hd_machine *m = sm->setup.machine;
    bool read_only = inflight->op->traits & HD_SM_READ_ONLY;
    if (read_only && m->texture.bytes)
        return SM_TEXTURE;
    if (!m->l1.bytes || inflight->op->traits & HD_SM_BYPASS_L1)
        return SM_NO_CACHE;
    return inflight->space == HD_SPACE_LOCAL || m->l1.global || read_only ? SM_L1 : SM_NO_CACHE;
}

/* What does not go through a cache of the SM is asked for in sectors of the L2 cache. */
static uint32_t sector_bytes(const hd_machine *m, sm_cache cache)
{
    return cache == SM_L1 ? m->l1.sector_bytes : cache == SM_TEXTURE ? line_bytes(m, cache) : m->l2.sector_bytes;
}

static void prepare_lines(hd_sm *sm, sm_inflight *inflight, uint32_t lanes, const uint64_t addresses[32])
{
    const hd_machine *m = sm->setup.machine;
    uint32_t bytes = inflight->space == HD_SPACE_LOCAL && inflight->op->bytes > 4 ? 4 : inflight->op->bytes;
    inflight->cache = (uint8_t)(inflight->op->traits & HD_SM_LOAD ? cache_of(sm, inflight) : SM_NO_CACHE);
    uint32_t line = line_bytes(m, inflight->cache), sector = sector_bytes(m, inflight->cache);
    inflight->lines = hd_coalesce(addresses, lanes, bytes, line, sector, inflight->line);
    if (inflight->op->traits & HD_SM_ATOMIC)
        hd_coalesce_lanes(addresses, lanes, line, inflight->line, inflight->lines);
}

static void prepare_shared(hd_sm *sm, sm_inflight *inflight, uint32_t lanes, const uint64_t addresses[32])
{
    uint32_t banks = sm->setup.machine->shared.banks,
             bytes = inflight->op->traits & HD_SM_ATOMIC ? 4 : inflight->op->bytes;
    inflight->passes = inflight->op->traits & HD_SM_ATOMIC
                           ? hd_shared_atomic_passes(addresses, lanes, banks)
                           : hd_shared_passes(addresses, lanes, inflight->op->bytes, banks);
    sm_emit_passes(sm, inflight, hd_shared_least_passes(lanes, bytes));
}

/* Lines of global memory, then passes over shared memory; zeros take no lines. */
static void prepare_copy(hd_sm *sm, sm_inflight *inflight, uint32_t lanes, const hd_record_cursor *c)
{
    const hd_machine *m = sm->setup.machine;
    prepare_shared(sm, inflight, lanes, c->copied_to);
    inflight->cache = (uint8_t)cache_of(sm, inflight);
    inflight->lines = hd_coalesce_sizes(c->addresses, lanes, c->copied_bytes, line_bytes(m, inflight->cache),
                                        sector_bytes(m, inflight->cache), inflight->line);
}

static sm_cache texel_cache(const hd_machine *m, const hd_sm_op *op)
{
    if (!(op->traits & HD_SM_LOAD) || op->traits & HD_SM_BYPASS_L1)
        return SM_NO_CACHE;
    return m->texture.bytes ? SM_TEXTURE : m->l1.bytes ? SM_L1 : SM_NO_CACHE;
}

/* Looks at the last lines first, because neighbouring lanes have neighbouring texels. */
static hd_line_access *line_at(sm_inflight *inflight, uint64_t address)
{
    for (uint32_t i = inflight->lines; i-- > 0;)
        if (inflight->line[i].address == address)
            return &inflight->line[i];
    make_room(inflight, inflight->lines + 1);
    inflight->line[inflight->lines] = (hd_line_access){.address = address, .lanes = 1};
    return &inflight->line[inflight->lines++];
}

static void prepare_texels(const hd_sm *sm, sm_inflight *inflight, hd_record_sectors sectors)
{
    const hd_machine *m = sm->setup.machine;
    inflight->space = HD_SPACE_GLOBAL;
    inflight->cache = (uint8_t)texel_cache(m, inflight->op);
    uint32_t line = line_bytes(m, inflight->cache), sector = sector_bytes(m, inflight->cache);
    while (sectors.left) {
        uint64_t address = hd_record_take_sector(&sectors) * HD_EVENT_SECTOR_BYTES;
        line_at(inflight, address - address % line)->sectors |= 1u << address % line / sector;
    }
}

static void prepare(hd_sm *sm, sm_inflight *inflight, const sm_warp *w)
{
    uint64_t addresses[32];
    uint32_t lanes = w->cursor.step.effective;
    if (w->cursor.step.sectors.left) {
        prepare_texels(sm, inflight, w->cursor.step.sectors);
        return;
    }
    make_room(inflight, HD_LINE_ACCESSES);
    if (w->op->traits & HD_SM_COPY) {
        inflight->space = HD_SPACE_SHARED;
        prepare_copy(sm, inflight, lanes, &w->cursor);
        return;
    }
    memcpy(addresses, w->cursor.addresses, sizeof addresses);
    inflight->space = space_of(sm, w->op, addresses[__builtin_ctz(lanes)]);
    switch ((hd_space)inflight->space) {
    case HD_SPACE_SHARED:
    case HD_SPACE_SHARED_CTA:
    case HD_SPACE_SHARED_CLUSTER: prepare_shared(sm, inflight, lanes, addresses); return;
    case HD_SPACE_LOCAL:
        place_local(sm, inflight->warp, lanes, addresses);
        prepare_lines(sm, inflight, lanes, addresses);
        return;
    case HD_SPACE_NONE:
    case HD_SPACE_GLOBAL: prepare_lines(sm, inflight, lanes, addresses); return;
    case HD_SPACE_CONST:
    case HD_SPACE_PARAM:
    case HD_SPACE_PARAM_ENTRY: prepare_constant(sm, inflight, lanes, addresses); return;
    case HD_SPACE_REG:
    case HD_SPACE_SREG:
    case HD_SPACE_TEX:
    case HD_SPACE_PARAM_FUNC:
    case HD_SPACE_COUNT: inflight->passes = 1; return;
    }
}

/* ---- what the memory system is asked for ------------------------------------------------------------------------- */

static uint32_t new_fetch(hd_sm *sm)
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

/* The sectors of the line of a cache as those of one line of the L2 cache. */
static hd_memory_request request_for(const hd_sm *sm, sm_cache cache, uint64_t line, uint32_t sectors)
{
    const hd_machine *m = sm->setup.machine;
    if (cache == SM_NO_CACHE)
        return (hd_memory_request){.address = line, .sectors = sectors};
    if (cache == SM_L1)
        return (hd_memory_request){.address = line, .sectors = l2_sectors(m, sectors)};
    uint32_t bytes = line_bytes(m, cache), in_line = (uint32_t)(line % m->l2.line_bytes);
    uint64_t all = ((uint64_t)1 << bytes / m->l2.sector_bytes) - 1;
    return (hd_memory_request){.address = line - in_line, .sectors = (uint32_t)all << in_line / m->l2.sector_bytes};
}

void sm_prepare_memory(hd_sm *sm, uint32_t index, const sm_warp *w)
{
    sm_inflight *inflight = &sm->inflight.items[index];
    prepare(sm, inflight, w);
    if (!sm->setup.listener_count || !inflight->lines || inflight->cache == SM_CONSTANT)
        return;
    uint32_t sectors = 0;
    for (uint32_t i = 0; i < inflight->lines; i++) {
        hd_memory_request whole =
            request_for(sm, inflight->cache, inflight->line[i].address, inflight->line[i].sectors);
        sectors += (uint32_t)__builtin_popcount(whole.sectors);
    }
    sm_emit_request(sm, inflight, sectors);
}

static void send(hd_sm *sm, const hd_line_access *line, hd_memory_request r, hd_memory_kind kind, uint32_t token)
{
    r.kind = (uint8_t)kind;
    r.answers = true;
    r.sm = sm->setup.number;
    r.cycles = (uint16_t)line->lanes;
    r.token = token;
    hd_memory_send(sm->setup.memory, sm->now, &r);
}

uint32_t sm_fetch_line(hd_sm *sm, sm_cache into, const hd_line_access *line, hd_memory_kind kind)
{
    uint32_t f = new_fetch(sm);
    sm_fetch *to = &sm->fetches.items[f];
    to->used = true;
    to->into = (uint8_t)into;
    to->line = line->address;
    to->sectors = line->sectors;
    to->access = 0;
    send(sm, line, request_for(sm, into, line->address, line->sectors), kind, f);
    return f;
}

static void fetch(hd_sm *sm, uint32_t index, const hd_line_access *line, hd_memory_kind kind, sm_cache into)
{
    uint32_t f = sm_fetch_line(sm, into, line, kind);
    sm->fetch_count++;
    hd_array_push(&sm->fetches.items[f].waiting, index);
    sm->inflight.items[index].outstanding++;
}

/* A store, or an atomic without a result: nobody waits for it but a fence. The token names the warp, and the start of
 * its block, so that the next warp of the slot does not take the answer. */
enum { STORE_TOKEN = 1u << 31, STORE_SLOT = 24, STORE_START = (1 << STORE_SLOT) - 1 };
_Static_assert(SM_WARPS << STORE_SLOT <= STORE_TOKEN, "a slot fits into a token");

static void store(hd_sm *sm, uint32_t index, const hd_line_access *line, hd_memory_kind kind)
{
    uint32_t slot = sm->inflight.items[index].warp;
    sm_warp *w = &sm->warps[slot];
    w->stores++;
    send(sm, line, request_for(sm, SM_NO_CACHE, line->address, line->sectors), kind,
         STORE_TOKEN | slot << STORE_SLOT | ((uint32_t)w->age & STORE_START));
}

static void stored(hd_sm *sm, uint32_t token, uint64_t now)
{
    uint32_t slot = (token & ~STORE_TOKEN) >> STORE_SLOT;
    sm_warp *w = &sm->warps[slot];
    if (!w->resident || ((uint32_t)w->age & STORE_START) != (token & STORE_START))
        return;
    w->stores--;
    if (!w->has_step || !(w->op->traits & HD_SM_FENCE))
        return;
    sm_account(sm, now);
    sm->recheck |= (uint64_t)1 << slot;
    sm->next = now;
}

/* Waits for those of the sectors that are on their way. Returns the others. */
static uint32_t join_fetches(hd_sm *sm, uint32_t index, const hd_line_access *line, uint32_t sectors, sm_cache cache)
{
    for (uint32_t f = 0; f < sm->fetches.count && sectors && sm->fetch_count; f++) {
        sm_fetch *on_the_way = &sm->fetches.items[f];
        if (!on_the_way->used || on_the_way->into != cache || on_the_way->line != line->address ||
            !(on_the_way->sectors & sectors))
            continue;
        sectors &= ~on_the_way->sectors;
        hd_array_push(&on_the_way->waiting, index);
        sm->inflight.items[index].outstanding++;
    }
    return sectors;
}

/* ---- one line ---------------------------------------------------------------------------------------------------- */

static uint32_t latency_of(const hd_machine *m, sm_cache cache, const hd_sm_op *op)
{
    bool texture = cache == SM_TEXTURE || op->traits & HD_SM_TEXTURE;
    return cache == SM_CONSTANT ? m->constant.latency : texture ? m->texture.latency : m->l1.latency;
}

/* The sectors that the cache does not have, and that are not on their way to it. */
static uint32_t look_up(hd_sm *sm, uint32_t index, const hd_line_access *line, sm_cache cache)
{
    const hd_machine *m = sm->setup.machine;
    uint64_t number = line->address / line_bytes(m, cache);
    uint32_t missing = line->sectors & ~hd_cache_read(&sm->caches[cache], number, line->sectors);
    sm_emit_lookup(sm, &sm->inflight.items[index], line->sectors, missing);
    if (!missing)
        sm->inflight.items[index].hit_at = sm->now + latency_of(m, cache, sm->inflight.items[index].op);
    return join_fetches(sm, index, line, missing, cache);
}

/* false: there is no room for the miss; again in the next cycle. */
static bool load_line(hd_sm *sm, uint32_t index, hd_line_access line)
{
    sm_cache cache = sm->inflight.items[index].cache;
    if (sm->fetch_count >= sm->setup.machine->l1.mshrs)
        return false;
    if (cache != SM_NO_CACHE)
        line.sectors = look_up(sm, index, &line, cache);
    if (line.sectors)
        fetch(sm, index, &line, HD_MEMORY_READ, cache);
    return true;
}

/* Stores write through: a line that the L1 cache has keeps what it has, and values are not modelled. */
static bool access_line(hd_sm *sm, uint32_t index)
{
    sm_inflight *inflight = &sm->inflight.items[index];
    const hd_line_access *line = &inflight->line[inflight->next_line];
    if (hd_memory_port_free(sm->setup.memory, sm->setup.number) > sm->now + 1)
        return false;
    if (inflight->op->traits & (HD_SM_LOAD | HD_SM_COPY))
        return load_line(sm, index, *line);
    bool atomic = inflight->op->traits & HD_SM_ATOMIC;
    if (!atomic || !inflight->op->writes) {
        store(sm, index, line, atomic ? HD_MEMORY_ATOMIC : HD_MEMORY_WRITE);
        return true;
    }
    if (sm->fetch_count >= sm->setup.machine->l1.mshrs)
        return false;
    fetch(sm, index, line, HD_MEMORY_ATOMIC, SM_NO_CACHE);
    return true;
}

static void done_at(hd_sm *sm, uint32_t index, uint64_t cycle)
{
    sm_at(sm, cycle > sm->now ? cycle : sm->now + 1, (sm_event){SM_MEMORY_DONE, index, 0});
}

void sm_memory_done(hd_sm *sm, uint32_t index)
{
    if (sm->inflight.items[index].passes) /* of a copy, whose lines are there */
        hd_array_push(&sm->memory_queue, index);
    else
        sm_write_results(sm, index);
}

/* false: the instruction stays first in the queue. */
static bool work_on(hd_sm *sm, uint32_t index)
{
    const hd_machine *m = sm->setup.machine;
    sm_inflight *inflight = &sm->inflight.items[index];
    if (inflight->passes && inflight->next_line == inflight->lines) {
        bool is_shared = inflight->space == HD_SPACE_SHARED || inflight->space == HD_SPACE_SHARED_CTA ||
                         inflight->space == HD_SPACE_SHARED_CLUSTER;
        if (--inflight->passes)
            return false;
        done_at(sm, index, sm->now + (is_shared ? m->shared.latency : m->constant.latency));
        return true;
    }
    if (inflight->next_line < inflight->lines) {
        if (!access_line(sm, index) || ++inflight->next_line < inflight->lines)
            return false;
    } else { /* no addresses: a query of a texture, or an instruction whose lanes access nothing */
        bool loads = inflight->op->traits & HD_SM_LOAD, texture = inflight->op->traits & HD_SM_TEXTURE;
        inflight->hit_at = sm->now + (texture ? m->texture.latency : loads ? m->l1.latency : 1);
    }
    if (!inflight->outstanding)
        done_at(sm, index, inflight->hit_at);
    return true;
}

/* Registers that a technique moves lie away from all other addresses of the memory system. */
static hd_line_access reserved_line(const hd_sm *sm, const sm_waiting *what)
{
    enum { REGISTER_BYTES = 128 };
    uint64_t number =
        (uint64_t)sm->setup.number << 16 | sm->inflight.items[what->inflight].accesses.items[what->access].what.bank;
    uint32_t sectors = REGISTER_BYTES / sm->setup.machine->l2.sector_bytes;
    return (hd_line_access){((uint64_t)1 << 52) + number * REGISTER_BYTES, (uint32_t)(((uint64_t)1 << sectors) - 1), 1};
}

/* One register is sent to memory, or asked for, past the L1 cache. false: none waits, or there is no room. */
static bool access_reserved(hd_sm *sm)
{
    if (!sm->reserved.count || sm->reserved.items[0].since > sm->now ||
        hd_memory_port_free(sm->setup.memory, sm->setup.number) > sm->now + 1)
        return false;
    sm_waiting what = sm->reserved.items[0];
    hd_line_access line = reserved_line(sm, &what);
    bool fills = sm->inflight.items[what.inflight].accesses.items[what.access].what.kind == HD_RF_FILL;
    if (fills && sm->fetch_count >= sm->setup.machine->l1.mshrs)
        return false;
    hd_array_remove(&sm->reserved, 0);
    if (fills) {
        uint32_t f = sm_fetch_line(sm, SM_NO_CACHE, &line, HD_MEMORY_READ);
        sm_fetch *to = &sm->fetches.items[f];
        to->access = what.access + 1;
        hd_array_push(&to->waiting, what.inflight);
        sm->fetch_count++;
        return true;
    }
    hd_memory_request r = request_for(sm, SM_NO_CACHE, line.address, line.sectors);
    r.kind = HD_MEMORY_WRITE;
    r.sm = sm->setup.number;
    hd_memory_send(sm->setup.memory, sm->now, &r);
    sm_access_done(sm, what.inflight, what.access, sm->now + 1);
    return true;
}

void sm_access_memory(hd_sm *sm)
{
    if (access_reserved(sm))
        return;
    if (sm->memory_queue.count && work_on(sm, sm->memory_queue.items[0]))
        hd_array_remove(&sm->memory_queue, 0);
}

/* ---- answers ----------------------------------------------------------------------------------------------------- */

void hd_sm_answer(hd_sm *sm, const hd_memory_answer *answer)
{
    uint64_t now = answer->now;
    if (answer->token & STORE_TOKEN) {
        stored(sm, answer->token, now);
        return;
    }
    sm_fetch *f = &sm->fetches.items[answer->token];
    sm_account(sm, now);
    f->used = false;
    if (f->into != SM_NO_CACHE)
        hd_cache_fill(&sm->caches[f->into], f->line / line_bytes(sm->setup.machine, f->into), f->sectors, false);
    if (f->into == SM_CODE) {
        sm_code_arrived(sm, f->line, now);
        sm->next = now;
        return;
    }
    sm->fetch_count--;
    if (!f->access && !(sm->inflight.items[f->waiting.items[0]].op->traits & HD_SM_ATOMIC))
        sm_emit_answer(sm, &sm->inflight.items[f->waiting.items[0]], answer);
    if (f->access) {
        sm_at(sm, now, (sm_event){SM_ACCESS_DONE, f->waiting.items[0], f->access - 1});
        sm->next = now;
    }
    for (uint32_t i = 0; i < f->waiting.count && !f->access; i++) {
        sm_inflight *inflight = &sm->inflight.items[f->waiting.items[i]];
        bool sent = inflight->next_line == inflight->lines;
        if (--inflight->outstanding == 0 && sent) {
            uint64_t at = inflight->hit_at > now ? inflight->hit_at : now;
            sm_at(sm, at, (sm_event){SM_MEMORY_DONE, f->waiting.items[i], 0});
            sm->next = at < sm->next ? at : sm->next;
        }
    }
    hd_array_clear(&f->waiting);
    if (sm->memory_queue.count) /* a miss may wait for room */
        sm->next = now;
}
