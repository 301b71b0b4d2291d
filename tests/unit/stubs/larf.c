/* LARF and LAS: the value of a global load that another warp has loaded already is shared in the register file. H.
 * Asghari Esfeden, "Enhanced Register Data-Flow Techniques for High-Performance, Energy-Efficient GPUs", chapter 5.
 *
 * The address mapping table has, by base address, stride and active lanes, the physical register into which a load went
 * (first in, first out). A load that finds its addresses there maps its destination to that register, and needs no
 * memory access. A register that several others are mapped to is not overwritten: a write takes a new one. Stores and
 * atomics evict entries whose addresses they touch; so does the end of the last register that is mapped to it. A warp
 * whose next load would hit goes first.
 *
 * An entry keeps the values of its register, which a hit compares with what the load brings: so the proof covers what
 * the table asserts about memory.
 *
 * Left out: partial sharing (two entries that together cover a load), loads of more than one word, the release of
 * registers by the compiler's lifetimes (a register lives until it is overwritten or its frame ends), the size of the
 * register file. Options: entries=N; deaf (stores evict nothing, for the test of the proof).
 *
 * Cost: O(entries) for each load, O(32 x 32 x entries) for each store.
 */
#include "tests/unit/stubs/stubs.h"

enum { MOST_ENTRIES = 64, WORD_BYTES = 4, STORE_BYTES = 16 };

typedef struct pattern { /* of addresses */
    uint64_t base, stride;
    uint32_t lanes; /* 0: none */
} pattern;

typedef struct entry {
    pattern where;
    uint32_t physical;
    uint32_t values[32];
} entry;

typedef struct mapping {
    uint32_t physical; /* 1 + physical register; 0: none */
    uint32_t version;  /* of it, that the register is mapped for */
} mapping;
HD_ARRAY_TYPE(larf_mappings, mapping); /* by index in the warp */

typedef struct larf {
    hd_rf_model model;
    hd_rf_file claims;                /* of the values that registers were mapped for */
    HD_ARRAY(larf_mappings) mappings; /* by slot */
    hd_u32_array users, versions; /* by physical register: registers that are mapped to it; how often it was written */
    entry table[MOST_ENTRIES];
    uint32_t entries, oldest;
    bool deaf;
    stub_larf_counts counts;
} larf;

stub_larf_counts stub_larf_counts_of(const hd_rf_model *model) { return ((const larf *)model)->counts; }

static hd_rf_model *larf_create(const hd_rf_module *code, const char *options, const char **refusal)
{
    (void)code, (void)refusal;
    larf *m = hd_calloc(1, sizeof *m);
    m->entries = hd_rf_option(options, "entries", 16);
    m->deaf = hd_rf_flag(options, "deaf");
    return &m->model;
}

static void larf_destroy(hd_rf_model *model)
{
    larf *m = (larf *)model;
    for (uint32_t s = 0; s < m->mappings.count; s++)
        hd_array_free(&m->mappings.items[s]);
    hd_array_free(&m->mappings);
    hd_array_free(&m->users);
    hd_array_free(&m->versions);
    hd_rf_file_free(&m->claims);
    free(m);
}

/* ---- physical registers ------------------------------------------------------------------------------------------ */

static void evict_of(larf *m, uint32_t physical)
{
    for (uint32_t e = 0; e < m->entries; e++)
        if (m->table[e].where.lanes && m->table[e].physical == physical)
            m->table[e].where.lanes = 0;
}

static void unmap(larf *m, mapping *at)
{
    if (!at->physical)
        return;
    uint32_t physical = at->physical - 1;
    at->physical = 0;
    if (--m->users.items[physical])
        return;
    m->model.held--;
    evict_of(m, physical);
}

static void map(larf *m, mapping *at, uint32_t physical)
{
    m->model.held += !m->users.items[physical]++;
    unmap(m, at);
    *at = (mapping){physical + 1, m->versions.items[physical]};
}

static uint32_t free_register(larf *m)
{
    for (uint32_t p = 0; p < m->users.count; p++)
        if (!m->users.items[p])
            return p;
    hd_array_push(&m->users, 0);
    hd_array_push(&m->versions, 0);
    return m->users.count - 1;
}

/* ---- the address mapping table ----------------------------------------------------------------------------------- */

static const hd_form *form_of(const hd_rf_step *step) { return hd_insn_form(step->code->function, step->insn); }

static bool is_shareable(const hd_rf_step *step)
{
    const hd_form *form = form_of(step);
    return step->addresses && step->destination_count == 1 && form->behaviour & HD_BEHAVE_LOAD &&
           !(form->behaviour & (HD_BEHAVE_ATOMIC | HD_BEHAVE_VOLATILE)) && form->space == HD_SPACE_GLOBAL;
}

/* lanes 0: the addresses have more than one stride */
static pattern pattern_of(const hd_rf_step *step)
{
    uint32_t first = (uint32_t)__builtin_ctz(step->effective), rest = step->effective & (step->effective - 1);
    uint32_t second = rest ? (uint32_t)__builtin_ctz(rest) : first + 1;
    const uint64_t *a = step->addresses;
    pattern p = {a[first], rest ? (a[second] - a[first]) / (second - first) : 0, step->effective};
    for (; rest; rest &= rest - 1) {
        uint32_t lane = (uint32_t)__builtin_ctz(rest);
        if (a[lane] != p.base + p.stride * (lane - first))
            p.lanes = 0;
    }
    return p;
}

static entry *find(larf *m, pattern p)
{
    for (uint32_t e = 0; e < m->entries && p.lanes; e++) {
        entry *at = &m->table[e];
        if (at->where.lanes == p.lanes && at->where.base == p.base && at->where.stride == p.stride)
            return at;
    }
    return NULL;
}

static bool touches(const pattern *p, const hd_rf_step *store)
{
    uint32_t first = (uint32_t)__builtin_ctz(p->lanes);
    for (uint32_t lanes = p->lanes; lanes; lanes &= lanes - 1) {
        uint64_t address = p->base + p->stride * ((uint32_t)__builtin_ctz(lanes) - first);
        for (uint32_t s = store->effective; s; s &= s - 1) {
            uint64_t to = store->addresses[__builtin_ctz(s)];
            if (address + WORD_BYTES > to && address < to + STORE_BYTES)
                return true;
        }
    }
    return false;
}

static void evict_stored(larf *m, const hd_rf_step *step)
{
    if (m->deaf || !step->addresses || !(form_of(step)->behaviour & (HD_BEHAVE_STORE | HD_BEHAVE_ATOMIC)))
        return;
    for (uint32_t e = 0; e < m->entries; e++)
        if (m->table[e].where.lanes && touches(&m->table[e].where, step)) {
            m->table[e].where.lanes = 0;
            m->counts.evicted++;
        }
}

/* ---- instructions ------------------------------------------------------------------------------------------------ */

static mapping *mapping_at(larf *m, const hd_rf_step *step, uint32_t word)
{
    return &m->mappings.items[step->warp->slot].items[hd_rf_index(step, word)];
}

/* The register has lanes that the instruction does not write. */
static uint32_t kept_lanes(larf *m, const hd_rf_step *step, uint32_t word)
{
    hd_claim claim = *hd_rf_file_at(&m->claims, step->warp, hd_rf_index(step, word));
    return hd_identity_fresh(&step->warp->identity, hd_rf_index(step, word), claim) & ~step->effective;
}

static void share(larf *m, const hd_rf_step *step, const entry *hit, hd_access_sink *sink)
{
    uint32_t word = step->destinations[0].word, wrong = 0;
    for (uint32_t lanes = step->effective; lanes; lanes &= lanes - 1) {
        uint32_t lane = (uint32_t)__builtin_ctz(lanes);
        wrong |= (uint32_t)(hit->values[lane] != step->results[lane]) << lane;
    }
    if (wrong)
        hd_rf_fail(&sink->failure, step,
                   (hd_rf_failure){.wrong = HD_RF_STALE, .structure = HD_STRUCTURE_FILE, .word = word, .lanes = wrong});
    map(m, mapping_at(m, step, word), hit->physical);
    if (!hd_rf_loses(&m->model)) {
        hd_claim *claim = hd_rf_file_at(&m->claims, step->warp, hd_rf_index(step, word));
        *claim = hd_rf_written(step, 0, *claim);
    }
    sink->skips_unit = true;
    m->counts.hits++;
}

/* Into a register that nothing else is mapped to; lanes that are not written come from the old one. */
static void write_result(larf *m, const hd_rf_step *step, uint32_t destination, hd_access_sink *sink)
{
    uint32_t word = step->destinations[destination].word, kept = kept_lanes(m, step, word);
    mapping *at = mapping_at(m, step, word);
    bool alone = at->physical && m->users.items[at->physical - 1] == 1;
    uint16_t copied = 0;
    if (alone)
        evict_of(m, at->physical - 1);
    if (at->physical && !alone && kept) {
        copied = hd_emit(sink, (hd_rf_access){.structure = HD_STRUCTURE_FILE,
                                              .kind = HD_RF_READ,
                                              .cause = HD_CAUSE_RELOCATION,
                                              .bank = (uint16_t)(at->physical - 1),
                                              .lanes = kept});
        m->counts.copies++;
    }
    if (!alone)
        map(m, at, free_register(m));
    hd_rf_file_write(&m->model, &m->claims, step, destination, sink);
    hd_array_last(&sink->accesses).after = copied;
    hd_array_last(&sink->accesses).bank = (uint16_t)(at->physical - 1);
    at->version = ++m->versions.items[at->physical - 1];
}

static void enter(larf *m, const hd_rf_step *step, pattern where, hd_access_sink *sink)
{
    entry *at = &m->table[m->oldest];
    m->oldest = (m->oldest + 1) % m->entries;
    *at = (entry){.where = where, .physical = mapping_at(m, step, step->destinations[0].word)->physical - 1};
    memcpy(at->values, step->results, sizeof at->values);
    hd_emit(sink, (hd_rf_access){.structure = HD_STRUCTURE_TABLE, .kind = HD_RF_WRITE});
}

static void larf_execute(hd_rf_model *model, const hd_rf_step *step, hd_access_sink *sink)
{
    larf *m = (larf *)model;
    hd_rf_record_held(model);
    if (!step->effective)
        return;
    for (uint32_t s = 0; s < step->source_count; s++) {
        mapping at = *mapping_at(m, step, step->sources[s]);
        if (at.physical && at.version != m->versions.items[at.physical - 1])
            *hd_rf_file_at(&m->claims, step->warp, hd_rf_index(step, step->sources[s])) = (hd_claim){0, 0};
        hd_rf_file_read(&m->claims, step, s, sink);
        hd_array_last(&sink->accesses).bank = (uint16_t)(at.physical ? at.physical - 1 : 0);
    }
    evict_stored(m, step);
    pattern where = is_shareable(step) ? pattern_of(step) : (pattern){0};
    const entry *hit = where.lanes ? find(m, where) : NULL;
    m->counts.loads += where.lanes != 0;
    if (where.lanes)
        hd_emit(sink, (hd_rf_access){.structure = HD_STRUCTURE_TABLE, .kind = HD_RF_LOOKUP});
    if (hit && !kept_lanes(m, step, step->destinations[0].word)) {
        share(m, step, hit, sink);
        return;
    }
    for (uint32_t d = 0; d < step->destination_count; d++)
        write_result(m, step, d, sink);
    if (where.lanes && !hit)
        enter(m, step, where, sink);
}

/* LAS: the table may have what the warp loads next. */
static uint32_t larf_rank_warp(hd_rf_model *model, const hd_rf_step *next, uint64_t now)
{
    (void)now;
    return next->effective && is_shareable(next) && find((larf *)model, pattern_of(next)) != NULL;
}

/* ---- frames ------------------------------------------------------------------------------------------------------ */

static void larf_frame_begin(hd_rf_model *model, hd_rf_warp *warp)
{
    larf *m = (larf *)model;
    uint32_t count = warp->identity.registers.count;
    hd_rf_file_frame_begin(&m->claims, warp);
    while (m->mappings.count <= warp->slot)
        hd_array_push(&m->mappings, (larf_mappings){0});
    larf_mappings *of = &m->mappings.items[warp->slot];
    of->count = warp->identity.base;
    while (of->count < count) {
        hd_array_push(of, (mapping){0});
        if (warp->identity.registers.items[of->count - 1].ever) /* a parameter */
            map(m, &hd_array_last(of), free_register(m));
    }
}

static void larf_frame_end(hd_rf_model *model, hd_rf_warp *warp)
{
    larf *m = (larf *)model;
    for (uint32_t i = warp->identity.base; i < m->mappings.items[warp->slot].count; i++)
        unmap(m, &m->mappings.items[warp->slot].items[i]);
}

const hd_rf_ops stub_larf_ops = {
    .create = larf_create,
    .destroy = larf_destroy,
    .frame_begin = larf_frame_begin,
    .frame_end = larf_frame_end,
    .rank_warp = larf_rank_warp,
    .execute = larf_execute,
    .columns = HD_COLUMN_ADDRESSES | HD_COLUMN_RESULTS,
    .coupled = true,
};
