/* RFC: a register file cache without a compiler, as LTRF's evaluation compares with ("LTRF: Enabling High-Capacity
 * Register Files for GPUs via Hardware/Software Cooperative Register Prefetching", ASPLOS 2018, sections 2.3 and 5),
 * after M. Gebhart et al., "Energy-efficient Mechanisms for Managing Thread Context in Throughput Processors", ISCA
 * 2011, section 3.
 *
 * The cache has `entries` of a warp register for each active warp, and all active warps share them: a result takes a
 * free entry, else that of the oldest result of any warp (first in, first out), which is written to the main file.
 * Operands that are read from the main file are not cached. Results of long-latency instructions go to the main file,
 * because the warp is deactivated after them. A warp that is deactivated writes its entries back (two-level scheduler),
 * and has no registers in the cache when it is activated again. Active warps issue one instruction each in turn ("fair,
 * round-robin"), so the results of one warp displace those of the others.
 *
 * Options, for experiments:
 *
 *   private  each active warp has its own entries, as in Gebhart: no warp displaces another's
 *   lru      the least recently used entry is evicted, not the oldest result
 *   fill     operands read from the main file are cached too, as in a conventional cache
 *   stay     entries of a deactivated warp stay until they are evicted
 *   narrow   words of 64-bit operands are neither cached nor counted
 *   turn     instructions that a warp issues before the next active warp issues
 *
 * Entries have lane masks, as results under divergence and guards fill some lanes only: a read gets the others from the
 * main file, and an entry is written back in its lanes. The end of a warp or of a call's frame drops entries without a
 * write.
 *
 * Storage: the entries, each with 1024 bits, its lanes, 8 bits for the register, and, where warps share them, the
 * number of the warp.
 *
 * Cost: O(1) an instruction and an operand, O(entries) when a warp is deactivated.
 */
#include "hwmodel/rf/memo.h"
#include "base/bits.h"
#include "hwmodel/rf/technique.h"
#include "target/gpu.h"

enum { HD_RFC_MOST = 64, HD_RFC_ACTIVE = 8, HD_RFC_WARPS = 64, HD_RFC_ENTRY_BITS = 1024 + 32 + 8, HD_RFC_TURN = 1 };

typedef struct hd_rfc_entry {
    hd_rf_warp *warp;
    uint32_t index, frame, lanes; /* lanes 0: it is empty */
    uint32_t older, newer;        /* entries; HD_NONE: none */
    hd_claim claim;
} hd_rfc_entry;

/* A list of its entries: first the empty ones, then the others, the next victim first. */
typedef struct hd_rfc_pool {
    HD_ARRAY(hd_rfc_entry) entries;
    uint32_t oldest, newest;
} hd_rfc_pool;

typedef struct hd_rfc_warp {
    hd_rfc_pool own;       /* "private" */
    hd_u32_array entry_of; /* by register index in the warp: 1 + entry; 0: none */
} hd_rfc_warp;

typedef struct hd_rfc {
    hd_rf_model model;
    hd_rf_file file;
    uint32_t entries; /* for each active warp */
    bool private, lru, fill, stay;
    hd_rfc_pool pool;              /* unless `private` */
    HD_ARRAY(hd_rfc_warp *) warps; /* by slot */
    const hd_rf_module *code;
    uint32_t kernel_registers; /* of a thread, of the launch; callees have theirs from their callers */
    hd_arena arena;
    /* "narrow": by function; bit 0 of the k-th: the k-th of its sources is half of a 64-bit operand; bit 1: of its
     * destinations */
    uint8_t **wide;
} hd_rfc;

static void rfc_destroy(hd_rf_model *model)
{
    hd_rfc *rfc = (hd_rfc *)model;
    for (uint32_t i = 0; i < rfc->warps.count; i++) {
        hd_array_free(&rfc->warps.items[i]->entry_of);
        hd_array_free(&rfc->warps.items[i]->own.entries);
        free(rfc->warps.items[i]);
    }
    hd_array_free(&rfc->warps);
    hd_array_free(&rfc->pool.entries);
    hd_rf_file_free(&rfc->file);
    hd_arena_free(&rfc->arena);
    free(rfc);
}

/* ---- 64-bit operands --------------------------------------------------------------------------------------------- */

enum { HD_RFC_WIDE_SOURCE = 1, HD_RFC_WIDE_DESTINATION = 2 };

static void mark_wide(uint8_t *wide, const hd_rf_code *code, const hd_operand *o, uint32_t insn)
{
    uint32_t first = code->storage.first[o->value], end = first + hd_storage_count(&code->storage, o->value);
    if (end - first < 2)
        return;
    for (uint32_t s = code->source_first[insn]; s < code->source_first[insn + 1]; s++)
        if ((o->flags & HD_OPERAND_USE) && code->sources[s] >= first && code->sources[s] < end)
            wide[s] |= HD_RFC_WIDE_SOURCE;
    for (uint32_t d = code->destination_first[insn]; d < code->destination_first[insn + 1]; d++)
        if ((o->flags & HD_OPERAND_DEF) && code->destinations[d].word >= first && code->destinations[d].word < end)
            wide[d] |= HD_RFC_WIDE_DESTINATION;
}

static uint8_t *find_wide(hd_rfc *rfc, const hd_rf_code *code)
{
    uint32_t sources = code->source_first[code->instruction_count],
             destinations = code->destination_first[code->instruction_count];
    uint8_t *wide = HD_ARENA_ARRAY(&rfc->arena, uint8_t, hd_max(sources, destinations) + 1);
    for (uint32_t i = 0; i < code->instruction_count; i++)
        HD_INSN_REGISTERS (code->function, &code->function->instructions.items[i], o)
            mark_wide(wide, code, o, i);
    return wide;
}

static bool is_left_out(const hd_rfc *rfc, const hd_rf_step *step, uint32_t operand, uint8_t kind)
{
    if (!rfc->wide)
        return false;
    uint32_t first = kind == HD_RFC_WIDE_SOURCE ? step->code->source_first[step->instruction]
                                                : step->code->destination_first[step->instruction];
    return rfc->wide[step->function][first + operand] & kind;
}

/* ---- lives of models --------------------------------------------------------------------------------------------- */

static hd_rf_model *rfc_create(const hd_rf_module *code, const char *options, const char **refusal)
{
    hd_rfc *rfc = hd_calloc(1, sizeof *rfc);
    rfc->code = code;
    rfc->entries = hd_rf_option(options, "entries", 16);
    rfc->private = hd_rf_flag(options, "private");
    rfc->lru = hd_rf_flag(options, "lru");
    rfc->fill = hd_rf_flag(options, "fill");
    rfc->stay = hd_rf_flag(options, "stay");
    rfc->model.memo.unusable = !rfc->private;
    rfc->model.turn = hd_rf_option(options, "turn", rfc->private ? 0 : HD_RFC_TURN);
    if (rfc->entries < 1 || rfc->entries > HD_RFC_MOST) {
        *refusal = "a register cache of this size is not modelled";
        rfc_destroy(&rfc->model);
        return NULL;
    }
    if (hd_rf_flag(options, "narrow"))
        rfc->wide = HD_ARENA_ARRAY(&rfc->arena, uint8_t *, code->module->functions.count);
    for (uint32_t f = 0; rfc->wide && f < code->module->functions.count; f++)
        rfc->wide[f] = code->functions[f] ? find_wide(rfc, code->functions[f]) : NULL;
    return &rfc->model;
}

static void empty_pool(hd_rfc_pool *pool, uint32_t entries)
{
    hd_array_clear(&pool->entries);
    (void)hd_array_extend(&pool->entries, entries);
    for (uint32_t e = 0; e < entries; e++)
        pool->entries.items[e] =
            (hd_rfc_entry){.older = e ? e - 1 : HD_NONE, .newer = e + 1 < entries ? e + 1 : HD_NONE};
    pool->oldest = 0;
    pool->newest = entries - 1;
}

static void rfc_launch(hd_rf_model *model, const hd_rf_launch *launch)
{
    hd_rfc *rfc = (hd_rfc *)model;
    uint32_t active = launch->residency.active ? launch->residency.active : HD_RFC_ACTIVE;
    uint32_t warps = launch->residency.sm_warps ? launch->residency.sm_warps : HD_RFC_WARPS;
    model->storage_bits =
        (uint64_t)active * rfc->entries * (HD_RFC_ENTRY_BITS + (rfc->private ? 0 : hd_bits_for(warps)));
    model->held = 0;
    rfc->kernel_registers = rfc->code->functions[launch->function]->registers;
    if (!rfc->private)
        empty_pool(&rfc->pool, active * rfc->entries);
}

/* ---- entries ----------------------------------------------------------------------------------------------------- */

static hd_rfc_warp *warp_of(const hd_rfc *rfc, const hd_rf_warp *warp) { return rfc->warps.items[warp->slot]; }

static hd_rfc_pool *pool_of(hd_rfc *rfc, const hd_rf_warp *warp)
{
    return rfc->private ? &warp_of(rfc, warp)->own : &rfc->pool;
}

static hd_rfc_entry *find_entry(hd_rfc *rfc, const hd_rf_warp *warp, uint32_t index)
{
    uint32_t entry = warp_of(rfc, warp)->entry_of.items[index];
    return entry ? &pool_of(rfc, warp)->entries.items[entry - 1] : NULL;
}

static void unlink_entry(hd_rfc_pool *pool, const hd_rfc_entry *e)
{
    *(e->older == HD_NONE ? &pool->oldest : &pool->entries.items[e->older].newer) = e->newer;
    *(e->newer == HD_NONE ? &pool->newest : &pool->entries.items[e->newer].older) = e->older;
}

static void make_newest(hd_rfc_pool *pool, hd_rfc_entry *e)
{
    uint32_t number = (uint32_t)(e - pool->entries.items);
    if (pool->newest == number)
        return;
    unlink_entry(pool, e);
    e->older = pool->newest;
    e->newer = HD_NONE;
    pool->entries.items[pool->newest].newer = number;
    pool->newest = number;
}

static void make_oldest(hd_rfc_pool *pool, hd_rfc_entry *e)
{
    uint32_t number = (uint32_t)(e - pool->entries.items);
    if (pool->oldest == number)
        return;
    unlink_entry(pool, e);
    e->newer = pool->oldest;
    e->older = HD_NONE;
    pool->entries.items[pool->oldest].older = number;
    pool->oldest = number;
}

static void drop_entry(hd_rfc *rfc, hd_rfc_pool *pool, hd_rfc_entry *e)
{
    warp_of(rfc, e->warp)->entry_of.items[e->index] = 0;
    e->lanes = 0;
    make_oldest(pool, e);
    rfc->model.held--;
}

static void write_back_entry(hd_rfc *rfc, hd_rfc_pool *pool, hd_rfc_entry *e, hd_access_sink *sink)
{
    uint16_t spill = hd_emit(sink, (hd_rf_access){.structure = HD_STRUCTURE_CACHE,
                                                  .kind = HD_RF_SPILL,
                                                  .cause = HD_CAUSE_WRITE_BACK,
                                                  .bank = (uint16_t)(e - pool->entries.items),
                                                  .lanes = e->lanes});
    hd_emit(sink, (hd_rf_access){.structure = HD_STRUCTURE_FILE,
                                 .kind = HD_RF_WRITE,
                                 .after = spill,
                                 .bank = hd_rf_index_bank(e->warp, e->index),
                                 .lanes = e->lanes});
    if (!hd_rf_loses(&rfc->model)) {
        hd_claim *home = hd_rf_file_at(&rfc->file, e->warp, e->index);
        *home = hd_identity_copy(&e->warp->identity, e->index, *home, e->claim, e->lanes);
    }
    drop_entry(rfc, pool, e);
}

static hd_rfc_entry *allocate_entry(hd_rfc *rfc, hd_rf_warp *warp, uint32_t index, hd_access_sink *sink)
{
    hd_rfc_pool *pool = pool_of(rfc, warp);
    hd_rfc_entry *e = &pool->entries.items[pool->oldest];
    if (e->lanes) {
        hd_rf_event(&rfc->model, HD_COUNTER_EVICTIONS, 1);
        write_back_entry(rfc, pool, e, sink);
    }
    make_newest(pool, e);
    e->warp = warp;
    e->index = index;
    e->frame = warp->identity.frame;
    e->claim = (hd_claim){0, 0};
    warp_of(rfc, warp)->entry_of.items[index] = (uint32_t)(e - pool->entries.items) + 1;
    rfc->model.held++;
    return e;
}

/* ---- operands and results ---------------------------------------------------------------------------------------- */

/* Fills the lanes that the entry lacks from the main file, read by the access `read`. */
static void fill_entry(hd_rfc *rfc, const hd_rf_step *step, uint32_t index, hd_rfc_entry *e, uint16_t read,
                       hd_access_sink *sink)
{
    hd_claim home = *hd_rf_file_at(&rfc->file, step->warp, index);
    e = e ? e : allocate_entry(rfc, step->warp, index, sink);
    hd_emit(sink, (hd_rf_access){.structure = HD_STRUCTURE_CACHE,
                                 .kind = HD_RF_FILL,
                                 .after = read,
                                 .bank = (uint16_t)(e - pool_of(rfc, step->warp)->entries.items),
                                 .lanes = ~e->lanes});
    if (!hd_rf_loses(&rfc->model))
        e->claim = e->lanes ? hd_identity_copy(&step->warp->identity, index, e->claim, home, ~e->lanes) : home;
    e->lanes = UINT32_MAX;
}

static void read_operand(hd_rfc *rfc, const hd_rf_step *step, uint32_t source, hd_access_sink *sink)
{
    uint32_t word = step->sources[source], index = hd_rf_index(step, word);
    hd_rfc_entry *e = find_entry(rfc, step->warp, index);
    uint32_t held = e ? step->effective & e->lanes : 0, missing = step->effective & ~held;
    bool counts = !is_left_out(rfc, step, source, HD_RFC_WIDE_SOURCE);
    hd_owner owner = hd_rf_owner(step, word);
    hd_claim home = *hd_rf_file_at(&rfc->file, step->warp, index);
    uint16_t read = 0;
    sink->left_out_operands += !counts;
    if (held)
        hd_rf_read(sink, step, source, HD_STRUCTURE_CACHE, held, (hd_owner){e->warp->identity.warp, e->frame, e->index},
                   e->claim);
    if (missing && counts)
        read = hd_rf_read(sink, step, source, HD_STRUCTURE_FILE, missing, owner, home);
    else if (missing)
        hd_rf_deliver(sink, step, source, HD_STRUCTURE_FILE, missing, owner, home);
    if (e && rfc->lru)
        make_newest(pool_of(rfc, step->warp), e);
    if (missing && counts && rfc->fill)
        fill_entry(rfc, step, index, e, read, sink);
}

static void write_result(hd_rfc *rfc, const hd_rf_step *step, uint32_t destination, hd_access_sink *sink)
{
    uint32_t index = hd_rf_index(step, step->destinations[destination].word);
    hd_rfc_entry *e = find_entry(rfc, step->warp, index);
    hd_claim *claim = hd_rf_file_at(&rfc->file, step->warp, index);
    bool counts = !is_left_out(rfc, step, destination, HD_RFC_WIDE_DESTINATION);
    bool to_file = !e && (!counts || step->code->traits[step->instruction] & HD_RF_LONG);
    sink->left_out_results += !counts;
    if (!to_file) {
        if (e && rfc->lru)
            make_newest(pool_of(rfc, step->warp), e);
        e = e ? e : allocate_entry(rfc, step->warp, index, sink);
        claim = &e->claim;
        e->lanes |= step->effective;
    }
    if (counts)
        hd_rf_write(sink, step, destination, to_file ? HD_STRUCTURE_FILE : HD_STRUCTURE_CACHE);
    if (!hd_rf_loses(&rfc->model))
        *claim = hd_rf_written(step, destination, *claim);
}

static void rfc_execute(hd_rf_model *model, const hd_rf_step *step, hd_access_sink *sink)
{
    hd_rfc *rfc = (hd_rfc *)model;
    hd_rf_record_held(model);
    if (!step->effective)
        return;
    for (uint32_t s = 0; s < step->source_count; s++)
        read_operand(rfc, step, s, sink);
    for (uint32_t d = 0; d < step->destination_count; d++)
        write_result(rfc, step, d, sink);
}

/* ---- lives of warps and frames ----------------------------------------------------------------------------------- */

static void rfc_warp_begin(hd_rf_model *model, hd_rf_warp *warp)
{
    hd_rfc *rfc = (hd_rfc *)model;
    while (rfc->warps.count <= warp->slot)
        hd_array_push(&rfc->warps, hd_calloc(1, sizeof(hd_rfc_warp)));
    hd_rfc_warp *w = warp_of(rfc, warp);
    if (rfc->private)
        empty_pool(&w->own, rfc->entries);
    hd_array_clear(&w->entry_of);
}

static void rfc_switch(hd_rf_model *model, hd_rf_warp *out, hd_rf_warp *in, hd_access_sink *sink)
{
    hd_rfc *rfc = (hd_rfc *)model;
    (void)in;
    if (!out || rfc->stay)
        return;
    hd_rfc_pool *pool = pool_of(rfc, out);
    for (uint32_t i = 0; i < pool->entries.count; i++) {
        hd_rfc_entry *e = &pool->entries.items[i];
        if (e->lanes && e->warp == out)
            write_back_entry(rfc, pool, e, sink);
    }
}

static void rfc_frame_begin(hd_rf_model *model, hd_rf_warp *warp)
{
    hd_rfc *rfc = (hd_rfc *)model;
    uint32_t words = warp->identity.registers.count - warp->identity.base;
    hd_rf_file_frame_begin(&rfc->file, warp);
    rfc->model.held += warp->identity.frames.count == 1 ? rfc->kernel_registers : 0;
    if (words)
        memset(hd_array_extend(&warp_of(rfc, warp)->entry_of, words), 0, words * sizeof(uint32_t));
}

static void rfc_frame_end(hd_rf_model *model, hd_rf_warp *warp)
{
    hd_rfc *rfc = (hd_rfc *)model;
    hd_rfc_warp *w = warp_of(rfc, warp);
    hd_rfc_pool *pool = pool_of(rfc, warp);
    for (uint32_t i = warp->identity.base; i < w->entry_of.count; i++)
        if (w->entry_of.items[i])
            drop_entry(rfc, pool, &pool->entries.items[w->entry_of.items[i] - 1]);
    rfc->model.held -= warp->identity.frames.count == 1 ? rfc->kernel_registers : 0;
    w->entry_of.count = warp->identity.base;
}

/* The warp's own entries, the oldest one first. */
static void rfc_snapshot(hd_rf_model *model, hd_rf_warp *warp, hd_snapshot *c)
{
    hd_rfc *rfc = (hd_rfc *)model;
    hd_rfc_warp *w = warp_of(rfc, warp);
    hd_rf_file_snapshot(&rfc->file, warp, c);
    if (!c->out) {
        empty_pool(&w->own, rfc->entries);
        memset(w->entry_of.items, 0, w->entry_of.count * sizeof(uint32_t));
    }
    for (uint32_t i = 0, at = w->own.oldest, newer; i < rfc->entries; i++, at = newer) {
        hd_rfc_entry *e = &w->own.entries.items[at];
        newer = e->newer;
        e->lanes = hd_snapshot_lanes(c, e->lanes);
        if (!e->lanes)
            continue;
        hd_owner owner = hd_snapshot_owner(c, (hd_owner){warp->identity.warp, e->frame, e->index});
        e->warp = warp;
        e->index = owner.index;
        e->frame = owner.frame;
        e->claim = hd_snapshot_claim(c, e->index, e->claim);
        w->entry_of.items[e->index] = at + 1;
    }
}

const hd_rf_ops hd_rf_rfc_ops = {
    .create = rfc_create,
    .destroy = rfc_destroy,
    .launch = rfc_launch,
    .warp_begin = rfc_warp_begin,
    .warp_switch = rfc_switch,
    .frame_begin = rfc_frame_begin,
    .frame_end = rfc_frame_end,
    .storage = HD_ENERGY_REGISTER_CACHE,
    .execute = rfc_execute,
    .coupled = true,
    .memo = &(const hd_memo_ops){.snapshot = rfc_snapshot},
};
