/* CORF and CORF++: narrow registers share entries of the register file, and two that an instruction reads from one
 * entry, or from parts of two entries that are disjoint, are one access. "CORF: Coalescing Operand Register File for
 * GPUs", ASPLOS 2019.
 *
 * A register takes as many byte slices (pack.h) as its widest lane needs by sign extension. Lanes that are not active
 * count; lanes that were not written since it was allocated do not. It gets its slices at its first write
 * (corf_places.c), by one of these policies:
 *
 *   first     the lowest run of free slices in the lowest entry that has one (register packing alone)
 *   pairs     CORF: the first register of an exclusive pair opens an empty entry, whose rest is reserved for its
 *             partner; the partner takes the other end of that entry if it fits there; all other registers, and a
 *             partner that does not fit, as above
 *   sides     CORF++: left-aligned registers take the left end of the lowest entry that has room there, right-aligned
 *             ones the right end, don't-care ones as above
 *
 * A register whose value needs more slices (width overflow) is relocated by the same rule, with its own slices free for
 * it; it stays if it can grow in its entry. If its value needs fewer, it stays in its entry and frees the slices away
 * from its end; with "kept" it keeps them. If a byte changes its slice, or new bytes are needed, lanes that the
 * instruction does not write are read and written with it. Slices are freed at the end of a frame, and with "release"
 * by the release flags of register virtualization (pir, pbr).
 *
 * Coalescing. The sources of an instruction are visited in operand order. Each is coalesced with the first earlier one
 * that is not coalesced yet and is in the same entry (CORF++: in the warp's bank, with a disjoint mask). At most two
 * registers are one access, because there are two unpackers.
 *
 * Time. The table is looked up in the cycle in which the instruction goes to its collector (section 2.6), so that no
 * access of the register file waits for it; a result waits for the cycle in which it gets other slices, as their number
 * depends on its value. Not modelled: conflicts at the table's ports, of which each of its banks has two, which delay a
 * read by a cycle; two schedulers look up at most 6 sources a cycle at 8 ports.
 *
 * Calls. A callee uses the registers of its caller, which are saved on the stack if needed. So no more entries of a
 * warp are counted than its kernel needs registers with all functions that it calls.
 *
 * What the paper leaves open. A warp has entries of its own, so that nothing depends on the order of warps; "shared"
 * has one pool for all warps. The values of registers that a call writes (parameters, results) are not known: they are
 * 4 bytes wide.
 *
 * Cost: O(1) for an instruction and an operand; a source is compared with earlier ones that are not coalesced.
 *
 * The options "uncopied" (a relocation does not copy lanes that are not written), "stale" (the renaming table keeps the
 * old location) and "slipped" (narrow values are written one slice off) break the model, for the tests of the proof.
 */
#include "hwmodel/rf/models/bow_corf.h"
#include "hwmodel/rf/models/corf_work.h"
#include "target/gpu.h"

enum { HD_CORF_FERMI_WARPS = 48, HD_CORF_FERMI_REGISTERS = 63, HD_CORF_FERMI_ENTRIES = 1024, HD_CORF_KERNELS = 8 };

/* ---- lives of models --------------------------------------------------------------------------------------------- */

static void corf_destroy(hd_rf_model *model)
{
    hd_corf *c = (hd_corf *)model;
    for (uint32_t i = 0; i < c->warps.count; i++) {
        hd_pack_free(&c->warps.items[i]->pool);
        hd_array_free(&c->warps.items[i]->registers);
        free(c->warps.items[i]);
    }
    hd_array_free(&c->warps);
    hd_array_free(&c->operands);
    hd_corf_hints_free(&c->hints);
    free(c);
}

static hd_rf_model *corf_create(const hd_rf_module *code, const char *options, const char **refusal)
{
    hd_corf *c = hd_calloc(1, sizeof *c);
    c->code = code;
    c->kernel_registers = UINT32_MAX;
    c->policy = strstr(options, "policy=pairs")   ? HD_CORF_PAIRS
                : strstr(options, "policy=sides") ? HD_CORF_SIDES
                                                  : HD_CORF_FIRST;
    c->shared = c->model.memo.unusable = hd_rf_flag(options, "shared");
    c->kept = hd_rf_flag(options, "kept");
    c->uncopied = HD_PLANTED(hd_rf_flag(options, "uncopied"));
    c->stale = HD_PLANTED(hd_rf_flag(options, "stale"));
    c->slipped = HD_PLANTED(hd_rf_flag(options, "slipped"));
    bool good = hd_corf_hints_read(&c->hints, code, c->policy, hd_rf_flag(options, "release"));
    hd_array_reserve(&c->operands, c->hints.most_sources + 1);
    if (good)
        return &c->model;
    corf_destroy(&c->model);
    *refusal = "the kernel's pairs or sides name a register twice, or one that it does not have";
    return NULL;
}

/* ---- reads ------------------------------------------------------------------------------------------------------- */

static const hd_corf_register *source_of(const hd_corf_warp *w, const hd_rf_step *step, uint32_t source)
{
    return &w->registers.items[hd_rf_index(step, step->sources[source])];
}

static bool coalesce(const hd_corf *c, hd_pack_slices a, hd_pack_slices b)
{
    bool both = a.mask && b.mask;
    return both && (c->policy == HD_CORF_SIDES ? !(a.mask & b.mask) : a.entry == b.entry);
}

static bool coalesce_with_earlier(const hd_corf *c, hd_corf_operand *operands, uint32_t s)
{
    for (uint32_t t = 0; t < s; t++)
        if (!operands[t].taken && coalesce(c, operands[t].slices, operands[s].slices)) {
            operands[s].with = (uint16_t)(t + 1);
            operands[t].taken = operands[s].taken = true;
            return true;
        }
    return false;
}

/* Finds the locations of the operands, and which of them are one access. Returns how many share another's access. */
static uint32_t find_operands(hd_corf *c, const hd_rf_step *step)
{
    const hd_corf_warp *w = hd_corf_warp_of(c, step->warp);
    uint32_t joined = 0;
    for (uint32_t s = 0; s < step->source_count; s++) {
        c->operands.items[s] = (hd_corf_operand){.slices = source_of(w, step, s)->slices};
        joined += s && coalesce_with_earlier(c, c->operands.items, s);
    }
    return joined;
}

/* Could two of the operands lie in one entry? */
static bool is_coalesceable(const hd_corf *c, uint32_t count)
{
    uint32_t least = 8, second = 8;
    for (uint32_t s = 0; s < count; s++) {
        uint32_t width = hd_pack_width(c->operands.items[s].slices);
        if (width && width < least) {
            second = least;
            least = width;
        } else if (width && width < second) {
            second = width;
        }
    }
    return least + second <= HD_PACK_SLICES;
}

/* A location for each of the four widths; 0, of a register that was never written, stands for all. */
static inline void count_width(hd_rf_model *model, uint32_t width)
{
    hd_rf_event(model, (hd_counter)(HD_COUNTER_WIDTH_1 + (width - 1) % HD_PACK_SLICES), 1);
}

/* Counts all reads of the instruction at once. */
static void count_operands(hd_corf *c, const hd_rf_step *step, uint32_t joined)
{
    hd_rf_model *model = &c->model;
    uint32_t count = step->source_count;
    if (c->hints.functions[step->function].is_float[step->instruction]) {
        hd_rf_event(model, HD_COUNTER_FLOAT_ACCESSES, count + step->destination_count);
        hd_rf_event(model, HD_COUNTER_FLOAT_COALESCED, joined);
    }
    for (uint32_t s = 0; s < count; s++)
        count_width(model, hd_pack_width(c->operands.items[s].slices));
    if (count < 2)
        return;
    hd_rf_event(model, HD_COUNTER_MULTI_OPERAND, 1);
    hd_rf_event(model, HD_COUNTER_MULTI_READS, count);
    hd_rf_event(model, HD_COUNTER_COALESCEABLE, is_coalesceable(c, count));
    hd_rf_event(model, HD_COUNTER_COALESCED, joined != 0);
}

/* CORF++ has all registers of a warp in one bank (section 2.5.2). */
static uint16_t bank_of(const hd_corf *c, const hd_rf_step *step, hd_pack_slices slices)
{
    return (uint16_t)(step->warp->slot + (c->policy == HD_CORF_SIDES ? 0 : slices.entry));
}

/* A coalesced operand needs no access of its own. */
static void read_operand(hd_corf *c, const hd_rf_step *step, uint32_t source, hd_access_sink *sink)
{
    const hd_corf_operand *operand = &c->operands.items[source];
    hd_pack_slices slices = operand->slices;
    /* The value is that of a register that was never written, unless slices hold it. */
    hd_pack_value value = {.owner = hd_rf_owner(step, step->sources[source])};
    if (slices.mask)
        value = hd_pack_read(hd_corf_pool_of(c, hd_corf_warp_of(c, step->warp)), slices);
    hd_rf_deliver(sink, step, source, HD_STRUCTURE_FILE, step->effective, value.owner, value.claim);
    hd_corf_access_table(sink, HD_RF_LOOKUP, hd_access_source(source));
    if (operand->with)
        return;
    hd_emit(sink, (hd_rf_access){.structure = HD_STRUCTURE_FILE,
                                 .kind = HD_RF_READ,
                                 .operand = hd_access_source(source),
                                 .bank = bank_of(c, step, slices),
                                 .lanes = step->effective});
}

/* ---- writes ------------------------------------------------------------------------------------------------------ */

/* Whether lanes that are not written must move with those that are: unless each of their bytes keeps its slice. */
static bool moves(hd_pack_slices from, hd_pack_slices to)
{
    return from.mask && (from.entry != to.entry || __builtin_ctz(from.mask) != __builtin_ctz(to.mask) ||
                         hd_pack_width(to) > hd_pack_width(from));
}

static hd_pack_slices slipped(hd_pack_slices slices)
{
    uint32_t mask = slices.mask;
    slices.mask = (mask >> (HD_PACK_SLICES - 1) ? mask & 1 ? mask : mask >> 1 : mask << 1) & HD_PACK_WHOLE;
    return slices;
}

static hd_corf_target target_of(hd_corf *c, const hd_rf_step *step, uint32_t word, hd_access_sink *sink)
{
    hd_corf_warp *w = hd_corf_warp_of(c, step->warp);
    const hd_corf_function *f = &c->hints.functions[step->function];
    hd_corf_register *registers = w->registers.items + step->warp->identity.base;
    return (hd_corf_target){.c = c,
                            .warp = w,
                            .pool = hd_corf_pool_of(c, w),
                            .function = f,
                            .reg = &registers[word],
                            .partner = f->partners[word] == HD_NONE ? NULL : &registers[f->partners[word]],
                            .word = word,
                            .sink = sink};
}

/* Copies the lanes that are not written. */
static hd_claim move_lanes(hd_corf *c, hd_claim claim, uint16_t bank, hd_access_sink *sink)
{
    hd_emit(sink, (hd_rf_access){.structure = HD_STRUCTURE_FILE,
                                 .kind = HD_RF_READ,
                                 .cause = HD_CAUSE_RELOCATION,
                                 .bank = bank,
                                 .lanes = claim.lanes});
    if (hd_rf_loses(&c->model) || HD_PLANTED(c->uncopied))
        claim.lanes = 0;
    return claim;
}

/* Gives the register slices for `width` bytes, if it does not have these already; the access that does, as `after` has
 * it. */
static uint16_t change_slices(hd_corf *c, const hd_rf_step *step, uint32_t destination, uint32_t width,
                              hd_access_sink *sink)
{
    hd_corf_target t = target_of(c, step, step->destinations[destination].word, sink);
    t.operand = hd_access_result(destination);
    hd_corf_fit(&t, width);
    return (uint16_t)sink->accesses.count;
}

/* The claim that the register's slices hold before it is written. */
static hd_claim held_claim(const hd_pack_pool *pool, hd_pack_slices slices, hd_owner owner)
{
    hd_pack_value old = hd_pack_read(pool, slices);
    bool own = old.owner.warp == owner.warp && old.owner.frame == owner.frame && old.owner.index == owner.index;
    return own ? old.claim : (hd_claim){0, 0};
}

hd_claim hd_corf_home(hd_rf_model *file, const hd_rf_step *step, uint32_t word)
{
    hd_corf *c = (hd_corf *)file;
    hd_corf_warp *w = hd_corf_warp_of(c, step->warp);
    hd_pack_slices slices = w->registers.items[hd_rf_index(step, word)].slices;
    return slices.mask ? held_claim(hd_corf_pool_of(c, w), slices, hd_rf_owner(step, word)) : (hd_claim){0, 0};
}

/* Released lanes do not count; the others need at most the width that the register has. */
static uint32_t width_of(hd_pack_slices slices, hd_width width)
{
    uint32_t most = slices.mask && hd_pack_width(slices) > width.written ? hd_pack_width(slices) : width.written;
    return hd_min(width.held, most);
}

/* after: as in an access; what gives it its slices. */
static void access_result(const hd_corf *c, const hd_rf_step *step, uint32_t destination, hd_pack_slices slices,
                          uint16_t after, hd_access_sink *sink)
{
    hd_corf_access_table(sink, HD_RF_LOOKUP, hd_access_result(destination));
    hd_emit(sink, (hd_rf_access){.structure = HD_STRUCTURE_FILE,
                                 .kind = HD_RF_WRITE,
                                 .operand = hd_access_result(destination),
                                 .after = after,
                                 .bank = bank_of(c, step, slices),
                                 .lanes = step->effective});
}

/* The renaming table keeps the old location: for tests. */
static void keep_stale(hd_corf *c, hd_pack_pool *pool, hd_corf_register *r, hd_pack_slices from)
{
    if (!HD_PLANTED(c->stale) || !from.mask || from.entry == r->slices.entry)
        return;
    hd_corf_take(c, pool, from); /* so that it can be freed */
    r->slices = from;
    r->held = from.mask;
}

static void write_result(hd_corf *c, const hd_rf_step *step, uint32_t destination, hd_access_sink *sink)
{
    hd_corf_warp *w = hd_corf_warp_of(c, step->warp);
    hd_pack_pool *pool = hd_corf_pool_of(c, w);
    const hd_identity_warp *identity = &step->warp->identity;
    uint32_t word = step->destinations[destination].word, index = hd_rf_index(step, word), lanes = step->effective;
    uint32_t others = identity->registers.items[index].ever & ~lanes; /* lanes that hold a value already */
    hd_corf_register *r = &w->registers.items[index];
    hd_pack_slices from = r->slices;
    hd_owner owner = hd_rf_owner(step, word);
    hd_claim claim = from.mask && others ? held_claim(pool, from, owner) : (hd_claim){0, 0};
    uint32_t width = width_of(from, step->widths[destination]);
    uint16_t placed = width == hd_pack_width(from) ? 0 : change_slices(c, step, destination, width, sink);
    if (from.mask && !moves(from, r->slices))
        placed = 0;
    count_width(&c->model, width);
    if (others && moves(from, r->slices))
        claim = move_lanes(c, claim, bank_of(c, step, from), sink);
    access_result(c, step, destination, r->slices, placed, sink);
    if (!hd_rf_loses(&c->model)) {
        claim = others ? hd_rf_written(step, destination, claim) : (hd_claim){step->serial + destination, lanes};
        hd_pack_write(pool, HD_PLANTED(c->slipped) ? slipped(r->slices) : r->slices, owner, claim);
    }
    keep_stale(c, pool, r, from);
}

/* ---- instructions, warps and frames ------------------------------------------------------------------------------ */

static inline void release_flagged(hd_corf *c, const hd_rf_step *step, uint32_t after, hd_access_sink *sink)
{
    const hd_corf_function *f = &c->hints.functions[step->function];
    const uint32_t *at = f->released_at[after];
    if (!at)
        return;
    hd_corf_warp *w = hd_corf_warp_of(c, step->warp);
    for (uint32_t i = at[step->instruction]; i < at[step->instruction + 1]; i++) {
        hd_corf_unmap(c, w, &w->registers.items[hd_rf_index(step, f->released[after].items[i])]);
        hd_corf_access_table(sink, HD_RF_WRITE, 0);
    }
}

static void count_held(hd_corf *c, const hd_rf_step *step)
{
    hd_rf_model *model = &c->model;
    const hd_corf_warp *w = hd_corf_warp_of(c, step->warp);
    hd_rf_record_held(model);
    hd_rf_event(model, HD_COUNTER_ENTRIES_HELD, c->shared ? model->held : hd_corf_in_file(c, w->pool.used));
    hd_rf_event(model, HD_COUNTER_REGISTERS_HELD, c->shared ? c->mapped : hd_corf_in_file(c, w->mapped));
    hd_rf_event(model, HD_COUNTER_REGISTERS_DECLARED, c->shared ? c->declared : c->kernel_registers);
}

static void corf_execute(hd_rf_model *model, const hd_rf_step *step, hd_access_sink *sink)
{
    hd_corf *c = (hd_corf *)model;
    release_flagged(c, step, 0, sink);
    count_held(c, step);
    if (step->effective)
        count_operands(c, step, find_operands(c, step));
    for (uint32_t s = 0; s < step->source_count && step->effective; s++)
        read_operand(c, step, s, sink);
    for (uint32_t d = 0; d < step->destination_count && step->effective; d++)
        write_result(c, step, d, sink);
    release_flagged(c, step, 1, sink);
}

static void corf_warp_begin(hd_rf_model *model, hd_rf_warp *warp)
{
    hd_corf *c = (hd_corf *)model;
    while (c->warps.count <= warp->slot)
        hd_array_push(&c->warps, hd_calloc(1, sizeof(hd_corf_warp)));
    hd_corf_warp *w = hd_corf_warp_of(c, warp);
    if (!c->shared)
        hd_pack_clear(&w->pool);
    hd_array_clear(&w->registers);
    w->mapped = 0;
}

/* Parameters in registers were written by the call. */
static void map_parameters(hd_corf *c, hd_corf_warp *w, const hd_rf_warp *warp)
{
    hd_pack_pool *pool = hd_corf_pool_of(c, w);
    for (uint32_t i = warp->identity.base; i < w->registers.count; i++) {
        const hd_identity_register *r = &warp->identity.registers.items[i];
        if (!r->ever)
            continue;
        hd_pack_slices slices = hd_pack_find(pool, HD_PACK_SLICES, HD_PACK_ANY);
        hd_corf_take(c, pool, slices);
        hd_corf_count_mapped(c, w, true);
        w->registers.items[i] = (hd_corf_register){.slices = slices, .held = slices.mask};
        hd_pack_write(pool, slices, (hd_owner){warp->identity.warp, warp->identity.frame, i},
                      (hd_claim){r->current, r->ever});
    }
}

static void corf_frame_begin(hd_rf_model *model, hd_rf_warp *warp)
{
    hd_corf *c = (hd_corf *)model;
    hd_corf_warp *w = hd_corf_warp_of(c, warp);
    uint32_t words = warp->identity.registers.count - warp->identity.base;
    hd_corf_register *fresh = hd_array_extend(&w->registers, words);
    if (words)
        memset(fresh, 0, words * sizeof *fresh);
    c->declared += words;
    map_parameters(c, w, warp);
}

static void corf_frame_end(hd_rf_model *model, hd_rf_warp *warp)
{
    hd_corf *c = (hd_corf *)model;
    hd_corf_warp *w = hd_corf_warp_of(c, warp);
    uint32_t base = warp->identity.base, words = w->registers.count - base;
    for (uint32_t i = base; i < w->registers.count; i++)
        hd_corf_unmap(c, w, &w->registers.items[i]);
    w->registers.count = base;
    c->declared -= words;
}

static void pass_register(hd_snapshot *c, hd_corf_register *r)
{
    uint32_t marks = r->slices.mask | (uint32_t)r->held << 4 | (uint32_t)r->left << 8 | (uint32_t)r->met << 9 |
                     (uint32_t)r->joined << 10;
    r->slices.entry = hd_snapshot_word(c, r->slices.entry);
    marks = hd_snapshot_word(c, marks);
    r->slices.mask = marks & HD_PACK_WHOLE;
    r->held = marks >> 4 & HD_PACK_WHOLE;
    r->left = marks >> 8 & 1;
    r->met = marks >> 9 & 1;
    r->joined = marks >> 10 & 1;
}

static void corf_snapshot(hd_rf_model *model, hd_rf_warp *warp, hd_snapshot *c)
{
    hd_corf_warp *w = hd_corf_warp_of((hd_corf *)model, warp);
    for (uint32_t i = 0; i < c->end; i++)
        pass_register(c, &w->registers.items[i]);
    hd_pack_snapshot(&w->pool, c);
    w->mapped = hd_snapshot_word(c, w->mapped);
}

/* ---- what it adds to an SM --------------------------------------------------------------------------------------- */

static uint32_t bits_of(uint32_t count) { return count > 1 ? 32 - (uint32_t)__builtin_clz(count - 1) : 0; }

/* Section 2.8: an entry of the renaming table for each register that a thread of each warp may have; four bits an entry
 * of the file in the free map. CORF++: two bits a register for each of 8 kernels (section 2.6). The paper gives no size
 * for the pairs. */
static void corf_launch(hd_rf_model *model, const hd_rf_launch *launch)
{
    const hd_rf_residency *r = &launch->residency;
    uint64_t warps = r->sm_warps ? r->sm_warps : HD_CORF_FERMI_WARPS;
    uint64_t registers = r->thread_registers ? r->thread_registers : HD_CORF_FERMI_REGISTERS;
    uint32_t entries = r->file_registers ? r->file_registers : HD_CORF_FERMI_ENTRIES;
    uint64_t table = warps * registers * (bits_of(entries) + HD_PACK_SLICES), map = (uint64_t)entries * HD_PACK_SLICES;
    uint64_t sides =
        ((hd_corf *)model)->policy == HD_CORF_SIDES ? HD_CORF_KERNELS * 2ull << bits_of((uint32_t)registers) : 0;
    model->storage_bits = table + map + sides;
    ((hd_corf *)model)->kernel_registers = ((hd_corf *)model)->code->functions[launch->function]->registers;
}

/* Entries without a value are power-gated (section 2.8, figure 2.18). */
static uint64_t corf_powered(const hd_rf_model *model) { return model->held; }

const hd_rf_ops hd_rf_corf_ops = {
    .create = corf_create,
    .destroy = corf_destroy,
    .launch = corf_launch,
    .warp_begin = corf_warp_begin,
    .frame_begin = corf_frame_begin,
    .frame_end = corf_frame_end,
    .powered = corf_powered,
    .storage = HD_ENERGY_RENAMING_TABLE,
    .execute = corf_execute,
    .columns = HD_COLUMN_WIDTHS,
    .memo = &(const hd_memo_ops){.snapshot = corf_snapshot},
};
