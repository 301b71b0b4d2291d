/* Instruction fetch: buffers of the warps, and the instruction cache.
 *
 * Each port takes the next of its warps, round robin, whose buffer has room and which waits for no line. A hit fills
 * the buffer with up to `width` instructions of the line; a miss asks the L2 cache for the line and those after it.
 * What is in the buffer and does not come next, because a branch was taken, is dropped; its way there is not taken
 * back. A branch that is issued keeps its warp from issuing until it has executed; until then the instructions after it
 * are fetched.
 *
 * O(1) a port and cycle.
 */
#include "hwmodel/sm/state.h"

enum { FUNCTION_SHIFT = 24 };

static uint64_t bit_of(uint32_t slot) { return (uint64_t)1 << slot; }

/* The line of the next instruction. The numbers of a function's instructions are less than 2^24; its code lies at an
 * address of its own. */
static uint64_t line_of(const hd_sm *sm, const sm_buffer *b)
{
    uint64_t number = ((uint64_t)b->function << FUNCTION_SHIFT) + b->next;
    return (((uint64_t)1 << 52) + number * sm->setup.machine->fetch.instruction_bytes) /
           sm->setup.machine->fetch.line_bytes;
}

static void want(hd_sm *sm, uint32_t slot)
{
    const sm_buffer *b = &sm->warps[slot].buffer;
    bool room = b->count < sm->setup.machine->fetch.buffer && b->next < sm->setup.code->functions[b->function].length;
    sm->to_fetch = room ? sm->to_fetch | bit_of(slot) : sm->to_fetch & ~bit_of(slot);
}

void sm_buffer_reach(hd_sm *sm, uint32_t slot)
{
    sm_warp *w = &sm->warps[slot];
    sm_buffer *b = &w->buffer;
    if (!w->has_step || w->control)
        return;
    uint32_t function = w->cursor.step.function;
    uint32_t number = sm->setup.code->functions[function].issued[w->cursor.step.instruction];
    if (b->function != function || b->next - b->count != number) {
        *b = (sm_buffer){.function = function, .next = number};
        sm->missing_code &= ~bit_of(slot);
    }
    want(sm, slot);
}

bool sm_is_fetched(const hd_sm *sm, const sm_warp *w)
{
    return w->buffer.count && w->buffer.ready[w->buffer.first] <= sm->now;
}

void sm_buffer_pop(hd_sm *sm, uint32_t slot)
{
    sm_buffer *b = &sm->warps[slot].buffer;
    b->first = (b->first + 1) % SM_BUFFER;
    b->count--;
    want(sm, slot);
}

/* ---- the instruction cache --------------------------------------------------------------------------------------- */

static bool is_on_its_way(const hd_sm *sm, uint64_t address)
{
    for (uint32_t f = 0; f < sm->fetches.count && sm->fetches_of_code; f++)
        if (sm->fetches.items[f].used && sm->fetches.items[f].into == SM_CODE && sm->fetches.items[f].line == address)
            return true;
    return false;
}

static void ask_for(hd_sm *sm, uint64_t line)
{
    const hd_line_access all = {line * sm->setup.machine->fetch.line_bytes, 1, 1};
    if (is_on_its_way(sm, all.address))
        return;
    sm_fetch_line(sm, SM_CODE, &all, HD_MEMORY_READ);
    sm->fetches_of_code++;
}

static bool has_line(hd_sm *sm, uint64_t line)
{
    return !sm->setup.machine->fetch.bytes || hd_cache_read(&sm->caches[SM_CODE], line, 1);
}

static void miss(hd_sm *sm, uint32_t slot, uint64_t line)
{
    sm->counts.code_misses++;
    sm->missing_code |= bit_of(slot);
    ask_for(sm, line);
    for (uint32_t i = 1; i <= sm->setup.machine->fetch.prefetch; i++)
        if (!has_line(sm, line + i))
            ask_for(sm, line + i);
}

/* ---- fetch ------------------------------------------------------------------------------------------------------- */

/* Instructions of the line that the cache has, or that arrives, in cycle `now`. */
static void take(hd_sm *sm, uint32_t slot, uint64_t line, uint64_t now)
{
    const hd_machine *m = sm->setup.machine;
    sm_buffer *b = &sm->warps[slot].buffer;
    uint64_t ready = now + m->fetch.latency;
    uint32_t length = sm->setup.code->functions[b->function].length;
    /* A fetch that takes 1 cycle arrives before the instruction in the buffer has issued: nobody waits for it. */
    if (!b->count || m->fetch.latency > 1 || now != sm->now)
        sm_at(sm, ready, (sm_event){SM_RECHECK, slot, 0});
    for (uint32_t i = 0; i < m->fetch.width && b->count < m->fetch.buffer && b->next < length; i++, b->next++) {
        if (line_of(sm, b) != line)
            break;
        b->ready[(b->first + b->count++) % SM_BUFFER] = ready;
    }
    want(sm, slot);
}

void sm_code_arrived(hd_sm *sm, uint64_t address, uint64_t now)
{
    uint64_t line = address / sm->setup.machine->fetch.line_bytes;
    sm->fetches_of_code--;
    for (uint64_t rest = sm->missing_code; rest; rest &= rest - 1) {
        uint32_t slot = (uint32_t)__builtin_ctzll(rest);
        if (line_of(sm, &sm->warps[slot].buffer) != line)
            continue;
        sm->missing_code &= ~bit_of(slot);
        take(sm, slot, line, now);
    }
}

static void fetch_for(hd_sm *sm, uint32_t slot)
{
    uint64_t line = line_of(sm, &sm->warps[slot].buffer);
    sm->counts.fetches++;
    if (has_line(sm, line))
        take(sm, slot, line, sm->now);
    else
        miss(sm, slot, line);
}

static uint64_t warps_of_port(const hd_sm *sm, uint32_t port)
{
    static const uint64_t every[] = {0,
                                     UINT64_MAX,
                                     0x5555555555555555,
                                     0x9249249249249249,
                                     0x1111111111111111,
                                     0x1084210842108421,
                                     0x1041041041041041,
                                     0x8102040810204081,
                                     0x0101010101010101};
    return every[sm->setup.machine->fetch.ports] << port;
}

void sm_fetch_code(hd_sm *sm)
{
    for (uint32_t port = 0; port < sm->setup.machine->fetch.ports && sm->to_fetch; port++) {
        uint64_t able = sm->to_fetch & ~sm->missing_code & warps_of_port(sm, port);
        if (!able)
            continue;
        uint32_t last = sm->last_fetched[port];
        uint64_t after = last < 63 ? able >> (last + 1) << (last + 1) : 0;
        sm->last_fetched[port] = (uint32_t)__builtin_ctzll(after ? after : able);
        fetch_for(sm, sm->last_fetched[port]);
    }
}
