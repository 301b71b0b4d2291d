/* The shared memory system: see memory.h. O(log of what is on its way) an event. */
#include "hwmodel/sm/memory.h"

#include "ir/ir.h"

enum { HEADER_BYTES = 8 /* of a packet: address and kind */ };

typedef enum event_kind {
    ARRIVAL, /* a request is at its slice */
    CHOICE,  /* a channel may choose a request */
    FILL,    /* data of device memory are at the slice */
    ANSWER,  /* a reply is at its SM */
} event_kind;

typedef struct event {
    uint64_t time, order;
    uint32_t kind, index; /* index: of the request, or of the channel */
} event;

typedef struct flight { /* a request that is on its way, or a write-back */
    hd_memory_request request;
    uint32_t hits;    /* sectors that the cache had when it came */
    uint32_t missing; /* sectors that it waits for */
    uint32_t next;    /* in the list of those that are free, or that wait at the slice */
} flight;

typedef struct fetch { /* sectors that a slice has asked its channel for */
    uint64_t line;
    uint32_t sectors;
} fetch;

enum { WAITING_BITS = 6, WAITING_LISTS = 1 << WAITING_BITS };

typedef struct slice {
    hd_cache cache;
    uint64_t free, port_in, port_out; /* cycle in which each takes the next one */
    HD_ARRAY(fetch) fetches;
    uint32_t waiting[WAITING_LISTS]; /* requests for what is being fetched, by list_of their line; HD_NONE: none */
} slice;

struct hd_memory_system {
    const hd_machine *machine;
    void (*answer)(void *context, const hd_memory_answer *answer);
    void *context;
    HD_ARRAY(event) events; /* a heap: the first one in time and order on top */
    uint64_t order;
    HD_ARRAY(flight) flights;
    uint32_t unused; /* flight; HD_NONE: none */
    slice *slices;
    hd_dram *channels;
    bool *choosing;           /* by channel: a CHOICE is among the events */
    uint64_t *sm_out, *sm_in; /* by SM: cycle in which its ports take the next one */
    hd_memory_counts counts;
    uint64_t asked_bytes, answered_bytes; /* of requests that are answered */
};

/* ---- events ------------------------------------------------------------------------------------------------------ */

static bool is_before(const event *a, const event *b)
{
    return a->time < b->time || (a->time == b->time && a->order < b->order);
}

static void add_event(hd_memory_system *m, uint64_t time, event_kind kind, uint32_t index)
{
    event e = {time, m->order++, kind, index};
    (void)hd_array_extend(&m->events, 1);
    uint32_t at = m->events.count - 1;
    for (; at && is_before(&e, &m->events.items[(at - 1) / 2]); at = (at - 1) / 2)
        m->events.items[at] = m->events.items[(at - 1) / 2];
    m->events.items[at] = e;
}

static event take_event(hd_memory_system *m)
{
    event top = m->events.items[0], last = hd_array_pop(&m->events);
    uint32_t at = 0, count = m->events.count;
    for (uint32_t child; (child = 2 * at + 1) < count; at = child) {
        child += child + 1 < count && is_before(&m->events.items[child + 1], &m->events.items[child]);
        if (!is_before(&m->events.items[child], &last))
            break;
        m->events.items[at] = m->events.items[child];
    }
    if (count)
        m->events.items[at] = last;
    return top;
}

/* ---- flights ----------------------------------------------------------------------------------------------------- */

static uint32_t new_flight(hd_memory_system *m, const hd_memory_request *request)
{
    uint32_t index = m->unused;
    if (index == HD_NONE) {
        index = m->flights.count;
        (void)hd_array_extend(&m->flights, 1);
    } else {
        m->unused = m->flights.items[index].next;
    }
    m->flights.items[index] = (flight){.request = *request, .next = HD_NONE};
    return index;
}

static void free_flight(hd_memory_system *m, uint32_t index)
{
    m->flights.items[index].next = m->unused;
    m->unused = index;
}

hd_memory_system *hd_memory_system_new(const hd_machine *machine, uint32_t sms,
                                       void (*answer)(void *context, const hd_memory_answer *answer), void *context)
{
    hd_memory_system *m = hd_calloc(1, sizeof *m);
    m->machine = machine;
    m->answer = answer;
    m->context = context;
    m->unused = HD_NONE;
    m->slices = hd_calloc(machine->l2.slices, sizeof *m->slices);
    m->channels = hd_calloc(machine->dram.channels, sizeof *m->channels);
    m->choosing = hd_calloc(machine->dram.channels, sizeof *m->choosing);
    m->sm_out = hd_calloc(sms, sizeof *m->sm_out);
    m->sm_in = hd_calloc(sms, sizeof *m->sm_in);
    for (uint32_t s = 0; s < machine->l2.slices; s++) {
        hd_cache_open(&m->slices[s].cache, machine->l2.bytes / machine->l2.slices, machine->l2.line_bytes,
                      machine->l2.ways);
        for (uint32_t i = 0; i < WAITING_LISTS; i++)
            m->slices[s].waiting[i] = HD_NONE;
    }
    for (uint32_t c = 0; c < machine->dram.channels; c++)
        m->channels[c].machine = machine;
    return m;
}

void hd_memory_system_free(hd_memory_system *m)
{
    if (!m)
        return;
    for (uint32_t s = 0; s < m->machine->l2.slices; s++) {
        hd_cache_close(&m->slices[s].cache);
        hd_array_free(&m->slices[s].fetches);
    }
    for (uint32_t c = 0; c < m->machine->dram.channels; c++)
        hd_array_free(&m->channels[c].queue);
    hd_array_free(&m->events);
    hd_array_free(&m->flights);
    free(m->slices);
    free(m->channels);
    free(m->choosing);
    free(m->sm_out);
    free(m->sm_in);
    free(m);
}

/* ---- where an address lies --------------------------------------------------------------------------------------- */

/* Consecutive lines go to different slices; higher bits are mixed in, so that no power of two as a stride keeps to one
 * slice. */
static uint32_t slice_of(const hd_memory_system *m, uint64_t address)
{
    uint64_t line = address / m->machine->l2.line_bytes;
    return (uint32_t)((line ^ line >> 7 ^ line >> 15) % m->machine->l2.slices);
}

static uint32_t channel_of(const hd_memory_system *m, uint64_t address)
{
    return slice_of(m, address) % m->machine->dram.channels;
}

static uint32_t sector_bytes(const hd_memory_system *m, uint32_t sectors)
{
    return (uint32_t)__builtin_popcount(sectors) * m->machine->l2.sector_bytes;
}

/* Core cycles to memory cycles, and back: never earlier. */
static uint64_t to_memory_cycles(const hd_memory_system *m, uint64_t cycles)
{
    uint64_t core = m->machine->clocks.core_mhz;
    return (cycles * m->machine->clocks.dram_mhz + core - 1) / core;
}

static uint64_t to_core_cycles(const hd_memory_system *m, uint64_t cycles)
{
    uint64_t dram = m->machine->clocks.dram_mhz;
    return (cycles * m->machine->clocks.core_mhz + dram - 1) / dram;
}

/* ---- the interconnect -------------------------------------------------------------------------------------------- */

/* A packet through two ports, from `now` on: when it is there. */
static uint64_t transfer(hd_memory_system *m, uint64_t now, uint64_t *from, uint64_t *to, uint32_t bytes)
{
    uint64_t cycles = (bytes + m->machine->interconnect.bytes - 1) / m->machine->interconnect.bytes;
    uint64_t begin = *from > now ? *from : now, arrival = begin + m->machine->interconnect.latency;
    *from = begin + cycles;
    arrival = *to > arrival ? *to : arrival;
    *to = arrival + cycles;
    m->counts.interconnect_bytes += bytes;
    return arrival + cycles;
}

void hd_memory_send(hd_memory_system *m, uint64_t now, const hd_memory_request *request)
{
    slice *s = &m->slices[slice_of(m, request->address)];
    uint32_t data = request->kind == HD_MEMORY_READ ? 0 : sector_bytes(m, request->sectors);
    uint64_t arrival = transfer(m, now, &m->sm_out[request->sm], &s->port_in, HEADER_BYTES + data);
    m->asked_bytes += request->answers ? sector_bytes(m, request->sectors) : 0;
    add_event(m, arrival, ARRIVAL, new_flight(m, request));
}

uint64_t hd_memory_port_free(const hd_memory_system *m, uint16_t sm) { return m->sm_out[sm]; }

/* ---- channels ---------------------------------------------------------------------------------------------------- */

static void ask_channel(hd_memory_system *m, uint64_t now, uint64_t address, uint32_t sectors, uint32_t token,
                        bool write)
{
    uint32_t c = channel_of(m, address);
    hd_dram *channel = &m->channels[c];
    /* Lines of a channel side by side, in the order of their addresses. */
    uint64_t line = address / m->machine->l2.line_bytes / m->machine->dram.channels;
    hd_dram_request r = {line * m->machine->l2.line_bytes, sector_bytes(m, sectors), token, write};
    hd_dram_add(channel, &r);
    m->counts.dram_bytes += r.bytes;
    m->counts.dram_reads += !write;
    m->counts.dram_writes += write;
    if (m->choosing[c])
        return;
    m->choosing[c] = true;
    add_event(m, now, CHOICE, c);
}

static void choose(hd_memory_system *m, uint64_t now, uint32_t c)
{
    hd_dram_request chosen;
    uint64_t done, again = hd_dram_choose(&m->channels[c], to_memory_cycles(m, now), &chosen, &done);
    if (!chosen.write)
        add_event(m, to_core_cycles(m, done) + m->machine->dram.latency, FILL, chosen.token);
    m->choosing[c] = m->channels[c].queue.count != 0;
    again = to_core_cycles(m, again);
    if (m->choosing[c])
        add_event(m, again > now ? again : now + 1, CHOICE, c);
}

/* ---- slices ------------------------------------------------------------------------------------------------------ */

static void write_back(hd_memory_system *m, uint64_t now, hd_cache_victim victim)
{
    if (victim.sectors)
        ask_channel(m, now, victim.line * m->machine->l2.line_bytes, victim.sectors, HD_NONE, true);
}

static void answer(hd_memory_system *m, slice *s, uint64_t now, uint32_t index)
{
    const hd_memory_request *r = &m->flights.items[index].request;
    if (!r->answers) {
        free_flight(m, index);
        return;
    }
    uint32_t data = r->kind == HD_MEMORY_WRITE ? 0 : sector_bytes(m, r->sectors);
    uint64_t arrival = transfer(m, now, &s->port_out, &m->sm_in[r->sm], HEADER_BYTES + data);
    add_event(m, arrival, ANSWER, index);
}

/* Lines are spread over the lists, so that few others are looked through for those of a line. */
static uint32_t list_of(uint64_t line) { return (uint32_t)(line * 0x9e3779b97f4a7c15 >> (64 - WAITING_BITS)); }

/* Asks for sectors that nobody has asked for yet; the request waits until all that it misses are there. */
static void miss(hd_memory_system *m, slice *s, uint64_t now, uint32_t index, uint64_t line)
{
    flight *f = &m->flights.items[index];
    uint32_t needed = f->missing;
    for (uint32_t i = 0; i < s->fetches.count; i++)
        if (s->fetches.items[i].line == line)
            needed &= ~s->fetches.items[i].sectors;
    f->next = s->waiting[list_of(line)];
    s->waiting[list_of(line)] = index;
    if (!needed)
        return;
    hd_array_push(&s->fetches, (fetch){line, needed});
    hd_memory_request fetching = {.address = f->request.address, .sectors = needed};
    ask_channel(m, now, fetching.address, needed, new_flight(m, &fetching), false);
}

static void arrive(hd_memory_system *m, uint64_t now, uint32_t index)
{
    flight *f = &m->flights.items[index];
    const hd_memory_request *r = &f->request;
    slice *s = &m->slices[slice_of(m, r->address)];
    uint64_t line = r->address / m->machine->l2.line_bytes, begin = s->free > now ? s->free : now;
    s->free = begin + (r->kind == HD_MEMORY_ATOMIC ? r->cycles : 1);
    uint64_t done = s->free - 1 + m->machine->l2.latency;
    if (r->kind == HD_MEMORY_WRITE) {
        m->counts.l2_writes++;
        write_back(m, done, hd_cache_fill(&s->cache, line, r->sectors, true));
        answer(m, s, done, index);
        return;
    }
    m->counts.l2_reads += r->kind == HD_MEMORY_READ;
    m->counts.l2_atomics += r->kind == HD_MEMORY_ATOMIC;
    f->hits = r->sectors & hd_cache_read(&s->cache, line, r->sectors);
    f->missing = r->sectors & ~f->hits;
    if (f->missing) {
        miss(m, s, done, index, line);
        return;
    }
    m->counts.l2_read_hits += r->kind == HD_MEMORY_READ;
    if (r->kind == HD_MEMORY_ATOMIC)
        hd_cache_fill(&s->cache, line, r->sectors, true);
    answer(m, s, done, index);
}

static void forget_fetch(slice *s, uint64_t line, uint32_t sectors)
{
    for (uint32_t i = 0; i < s->fetches.count; i++)
        if (s->fetches.items[i].line == line && s->fetches.items[i].sectors == sectors) {
            s->fetches.items[i] = hd_array_last(&s->fetches);
            s->fetches.count--;
            return;
        }
}

/* In the order in which they came: the list has the last one first. */
static void answer_waiting(hd_memory_system *m, slice *s, uint64_t now, uint64_t line, uint32_t sectors)
{
    const uint64_t address = line * m->machine->l2.line_bytes;
    uint32_t ready = HD_NONE;
    for (uint32_t *link = &s->waiting[list_of(line)]; *link != HD_NONE;) {
        uint32_t index = *link;
        flight *f = &m->flights.items[index];
        if (f->request.address == address)
            f->missing &= ~sectors;
        if (f->missing) {
            link = &f->next;
            continue;
        }
        *link = f->next;
        f->next = ready;
        ready = index;
    }
    while (ready != HD_NONE) {
        uint32_t index = ready;
        ready = m->flights.items[index].next;
        if (m->flights.items[index].request.kind == HD_MEMORY_ATOMIC)
            hd_cache_fill(&s->cache, line, m->flights.items[index].request.sectors, true);
        answer(m, s, now, index);
    }
}

static void fill(hd_memory_system *m, uint64_t now, uint32_t index)
{
    hd_memory_request r = m->flights.items[index].request;
    slice *s = &m->slices[slice_of(m, r.address)];
    uint64_t line = r.address / m->machine->l2.line_bytes;
    free_flight(m, index);
    forget_fetch(s, line, r.sectors);
    write_back(m, now, hd_cache_fill(&s->cache, line, r.sectors, false));
    answer_waiting(m, s, now, line, r.sectors);
}

/* ---- time -------------------------------------------------------------------------------------------------------- */

uint64_t hd_memory_next(const hd_memory_system *m) { return m->events.count ? m->events.items[0].time : UINT64_MAX; }

void hd_memory_advance(hd_memory_system *m, uint64_t now)
{
    while (hd_memory_next(m) <= now) {
        event e = take_event(m);
        switch ((event_kind)e.kind) {
        case ARRIVAL: arrive(m, e.time, e.index); break;
        case CHOICE: choose(m, e.time, e.index); break;
        case FILL: fill(m, e.time, e.index); break;
        case ANSWER: {
            const flight *f = &m->flights.items[e.index];
            hd_memory_answer answer = {e.time, f->request.sectors, f->hits, f->request.token, f->request.sm};
            free_flight(m, e.index);
            m->answered_bytes += sector_bytes(m, answer.sectors);
            m->answer(m->context, &answer);
        }
        }
    }
}

static bool nothing_waits(const slice *s)
{
    bool nothing = true;
    for (uint32_t i = 0; i < WAITING_LISTS; i++)
        nothing = nothing && s->waiting[i] == HD_NONE;
    return nothing;
}

bool hd_memory_is_idle(const hd_memory_system *m)
{
    uint32_t unused = 0;
    for (uint32_t i = m->unused; i != HD_NONE && unused <= m->flights.count; i = m->flights.items[i].next)
        unused++;
    bool idle = !m->events.count && unused == m->flights.count && m->asked_bytes == m->answered_bytes;
    for (uint32_t s = 0; s < m->machine->l2.slices; s++)
        idle = idle && !m->slices[s].fetches.count && nothing_waits(&m->slices[s]);
    for (uint32_t c = 0; c < m->machine->dram.channels; c++)
        idle = idle && !m->channels[c].queue.count && !m->choosing[c];
    return idle;
}

hd_memory_counts hd_memory_count(const hd_memory_system *m)
{
    hd_memory_counts counts = m->counts;
    for (uint32_t c = 0; c < m->machine->dram.channels; c++)
        counts.dram_row_hits += m->channels[c].row_hits;
    return counts;
}
