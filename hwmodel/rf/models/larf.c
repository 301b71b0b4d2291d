/* LARF and LAS: warps share a loaded value in the register file. H. Asghari Esfeden, "Enhanced Register Data-Flow
 * Techniques for High-Performance, Energy-Efficient GPUs", University of California, Riverside, 2021, chapter 5.
 *
 * All registers are renamed. A load from global memory looks its addresses up in the address mapping table
 * (larf_table.h):
 *
 *   perfect sharing  an entry has all words that are loaded, lane by lane: the destination is mapped to the physical
 *                    register of the entry; nothing is loaded or written
 *   partial sharing  one or two entries with the same stride have them in other lanes: their registers are read,
 *                    shifted and merged in a collector slot of which the SM has one, and the destination is written
 *   else             it is loaded, and entered in place of the oldest entry
 *
 * A physical register is freed when no register is mapped to it any more (release flags of RFV, ends of frames), and
 * its entry with it. LAS: a warp whose next instruction finds its addresses in the table goes first.
 *
 * Evicted, as the text has it: entries whose addresses a store writes, at its issue; the oldest one of a full table;
 * those whose register is freed. Also evicted, because the values would be wrong otherwise:
 *
 *   by stores   each entry with any word that is touched, not only that with the store's base address; atomics, too;
 *               where the addresses are not known (bulk copies, surfaces) all entries
 *   by writes   the entry of a register that is written again before its flag releases it
 *   by fences   all entries: a fence or an acquire whose scope is wider than the thread block, a barrier of a cluster,
 *               griddepcontrol. Stores of other SMs become visible there, and they evict nothing here. What an access
 *               acquires comes after its issue; so it evicts again before its warp's next access or barrier. A barrier
 *               of the thread block evicts nothing: all stores that it orders are of this SM
 *
 * For the same reasons not shared: volatile, relaxed and acquire loads, those with .cg or .cv, and those of less than a
 * register, whose value depends on their type.
 *
 * What the text leaves open: a load of several registers has an entry for each of its words, and shares all or none. A
 * register that has values in lanes that the load does not write is not mapped to a shared one. A register that is
 * shared is written elsewhere, with a copy of the lanes that stay. A value whose load is in flight may be shared; it is
 * there in the cycle after that load's (`instant`: at once, as the text reads, which no hardware can do). A merged
 * value is entered like a loaded one. A lookup takes a cycle. Registers that a call saves lose their entry.
 *
 * The model decides at issue; the paper, when operands are collected. So a table entry is found some cycles earlier
 * than there, by loads as by stores.
 *
 * Proof: an entry keeps the values, which are compared when they are shared. A mapping keeps the version of its
 * physical register, which each read compares, beside the claim of the value that it was mapped for.
 *
 * Options: entries, las, perfect (no partial sharing), instant, direct (names are looked up beside the access, and flag
 * words cost nothing). For the tests of the proof: "deaf" (stores evict
 * nothing), "bases" (only entries with the store's base), "early" (the first release frees a shared register).
 *
 * Cost: O(registers moved) an instruction, and that of larf_table.h.
 */
#include "hwmodel/rf/models/larf_work.h"
#include "base/bits.h"
#include "target/gpu.h"

static hd_rf_model *larf_create(const hd_rf_module *code, const char *options, const char **refusal)
{
    hd_larf *m = hd_calloc(1, sizeof *m);
    m->entries = hd_rf_option(options, "entries", 400);
    m->las = hd_rf_flag(options, "las");
    m->perfect = hd_rf_flag(options, "perfect");
    m->instant = hd_rf_flag(options, "instant");
    m->direct = hd_rf_flag(options, "direct");
    m->deaf = HD_PLANTED(hd_rf_flag(options, "deaf"));
    m->early = HD_PLANTED(hd_rf_flag(options, "early"));
    m->table.bases_only = HD_PLANTED(hd_rf_flag(options, "bases"));
    m->code = code;
    m->model.turn = 1;
    *refusal = hd_release_hints_read(&m->hints, code, false);
    if (!*refusal && (!m->entries || m->entries > HD_LARF_MOST_ENTRIES))
        *refusal = "an address mapping table has 1 to 2048 entries";
    if (!*refusal)
        return &m->model;
    hd_release_hints_free(&m->hints);
    free(m);
    return NULL;
}

static void larf_destroy(hd_rf_model *model)
{
    hd_larf *m = (hd_larf *)model;
    for (uint32_t s = 0; s < m->warps.count; s++) {
        hd_array_free(&m->warps.items[s].mappings);
        hd_array_free(&m->warps.items[s].top);
    }
    hd_array_free(&m->warps);
    hd_array_free(&m->physical);
    hd_rf_file_free(&m->claims);
    hd_physical_free(&m->file);
    hd_larf_free(&m->table);
    hd_release_hints_free(&m->hints);
    free(m);
}

static void larf_launch(hd_rf_model *model, const hd_rf_launch *launch)
{
    hd_larf *m = (hd_larf *)model;
    const hd_rf_residency *residency = &launch->residency;
    uint32_t registers = residency->file_registers ? residency->file_registers : LARF_REGISTERS;
    hd_larf_places_start(m, registers, residency->banks ? residency->banks : LARF_BANKS);
    memset(m->flag_cache, 0, sizeof m->flag_cache);
    uint64_t warps = (uint64_t)residency->ctas * (residency->cta_warps ? residency->cta_warps : 1);
    m->fits = warps * m->code->functions[launch->function]->registers <= registers;
    /* An entry of the renaming table for each register that is allocated without renaming. */
    model->table_bytes = registers * hd_bits_for(registers) / 8;
    model->storage_bits = (uint64_t)m->entries * HD_LARF_ENTRY_BITS + LARF_SLOT_BITS + 8ull * model->table_bytes +
                          registers + (uint64_t)LARF_FLAG_BITS * LARF_FLAG_ENTRIES;
}

/* ---- releases ---------------------------------------------------------------------------------------------------- */

static larf_mapping *mapping_at(hd_larf *m, const hd_rf_step *step, uint32_t word)
{
    return &larf_warp_of(m, step->warp)->mappings.items[hd_rf_index(step, word)];
}

static void release_words(hd_larf *m, const hd_rf_step *step, const uint32_t *words, uint32_t count,
                          hd_access_sink *sink)
{
    for (uint32_t i = 0; i < count; i++) {
        hd_emit(sink, (hd_rf_access){.structure = HD_STRUCTURE_TABLE, .kind = HD_RF_WRITE});
        if (!mapping_at(m, step, words[i])->physical)
            continue;
        hd_emit(sink, (hd_rf_access){.structure = HD_STRUCTURE_TABLE, .kind = HD_RF_LOOKUP}); /* is it the last one? */
        hd_larf_end_mapping(m, step->warp, hd_rf_index(step, words[i]));
        hd_rf_event(&m->model, HD_COUNTER_RELEASED, 1);
    }
}

/* ---- memory ------------------------------------------------------------------------------------------------------ */

static const hd_form *form_of(const hd_rf_step *step) { return hd_insn_form(step->code->function, step->insn); }

static uint32_t bytes_of(const hd_form *form)
{
    return form->type_count ? (uint32_t)hd_types[form->types[0]].bits / 8 * (form->vector ? form->vector : 1u) : 0;
}

static bool is_strong(const hd_form *form)
{
    uint16_t order = form->modifiers[HD_GROUP_SEM], cache = form->modifiers[HD_GROUP_CACHE];
    return form->behaviour & (HD_BEHAVE_ATOMIC | HD_BEHAVE_VOLATILE) || form->modifiers[HD_GROUP_VOLATILE] ||
           form->modifiers[HD_GROUP_MMIO] || (order && order != HD_MOD_SEM_WEAK) || cache == HD_MOD_CACHE_CG ||
           cache == HD_MOD_CACHE_CV;
}

static bool is_global_load(const hd_form *form)
{
    return (form->opcode == HD_OP_LD || form->opcode == HD_OP_LDU) && form->space == HD_SPACE_GLOBAL;
}

/* A load of whole registers from global memory, the addresses of which have one stride. */
static bool is_shareable(const hd_rf_step *step, hd_larf_pattern *where)
{
    const hd_form *form = form_of(step);
    uint32_t words = step->destination_count;
    if (!is_global_load(form) || !step->addresses || !step->effective || is_strong(form) ||
        hd_types[form->types[0]].bits < 32 || words > LARF_MOST_WORDS || bytes_of(form) != words * LARF_WORD_BYTES)
        return false;
    *where = hd_larf_pattern_of(step->effective, step->addresses);
    return where->lanes != 0;
}

static hd_larf_pattern word_of(hd_larf_pattern where, uint32_t word)
{
    where.base += (uint64_t)word * LARF_WORD_BYTES;
    return where;
}

/* Stores of other SMs are visible after it. */
static bool acquires(const hd_form *form)
{
    uint16_t scope = form->modifiers[HD_GROUP_SCOPE], order = form->modifiers[HD_GROUP_SEM];
    bool ordered = order == HD_MOD_SEM_ACQUIRE || order == HD_MOD_SEM_ACQ_REL || order == HD_MOD_SEM_SC;
    if (form->opcode == HD_OP_BARRIER_CLUSTER)
        return true;
    return (form->behaviour & HD_BEHAVE_FENCE || ordered) && scope != HD_MOD_SCOPE_CTA;
}

static bool writes_elsewhere(const hd_form *form)
{
    return form->space == HD_SPACE_SHARED || form->space == HD_SPACE_SHARED_CTA ||
           form->space == HD_SPACE_SHARED_CLUSTER || form->space == HD_SPACE_LOCAL || form->space == HD_SPACE_PARAM ||
           form->space == HD_SPACE_PARAM_ENTRY || form->space == HD_SPACE_PARAM_FUNC;
}

/* All entries: at what acquires, and after an access that does, before the next one. */
static bool evicts_all(larf_warp *w, const hd_form *form, bool writes, bool known)
{
    const uint32_t orders = HD_BEHAVE_LOAD | HD_BEHAVE_STORE | HD_BEHAVE_ATOMIC | HD_BEHAVE_BARRIER | HD_BEHAVE_FENCE;
    bool now = acquires(form), all = now || (writes && !known) || (w->acquired && form->behaviour & orders);
    if (form->behaviour & orders)
        w->acquired = now && form->behaviour & (HD_BEHAVE_LOAD | HD_BEHAVE_ATOMIC);
    return all;
}

static void evict(hd_larf *m, const hd_rf_step *step, hd_access_sink *sink)
{
    const hd_form *form = form_of(step);
    bool writes = form->behaviour & (HD_BEHAVE_STORE | HD_BEHAVE_ATOMIC) && !writes_elsewhere(form);
    bool all = evicts_all(larf_warp_of(m, step->warp), form, writes, step->addresses && bytes_of(form));
    if (HD_PLANTED(m->deaf) || !(writes || all))
        return;
    hd_emit(sink, (hd_rf_access){.structure = HD_STRUCTURE_ADDRESSES, .kind = HD_RF_LOOKUP});
    uint32_t evicted =
        all ? hd_larf_clear(&m->table) : hd_larf_evict(&m->table, step->effective, step->addresses, bytes_of(form));
    hd_rf_event(&m->model, all ? HD_COUNTER_SHARES_FENCED : HD_COUNTER_SHARES_STORED, evicted);
    for (uint32_t e = 0; e < evicted; e++)
        hd_emit(sink, (hd_rf_access){.structure = HD_STRUCTURE_ADDRESSES, .kind = HD_RF_WRITE});
}

/* ---- operands and results ---------------------------------------------------------------------------------------- */

/* What must come after it; 0: nothing does. */
static uint16_t look_up_name(const hd_larf *m, uint16_t operand, uint16_t after, hd_access_sink *sink)
{
    uint16_t named = hd_emit(
        sink,
        (hd_rf_access){.structure = HD_STRUCTURE_TABLE, .kind = HD_RF_LOOKUP, .operand = operand, .after = after});
    return m->direct ? after : named;
}

static hd_rf_access file_access(const larf_physical *p, hd_access_kind kind, uint16_t after, uint32_t lanes)
{
    return (hd_rf_access){.structure = HD_STRUCTURE_FILE,
                          .kind = (uint8_t)kind,
                          .after = after,
                          .bank = p->bank,
                          .home = p->home,
                          .lanes = lanes};
}

static void read_operand(hd_larf *m, const hd_rf_step *step, uint32_t source, hd_access_sink *sink)
{
    static const larf_physical nowhere = {.bank = 0};
    static const hd_owner nobody = {HD_NONE, 0, 0};
    uint32_t word = step->sources[source];
    const larf_mapping *at = mapping_at(m, step, word);
    const larf_physical *p = at->physical ? larf_physical_of(m, at) : &nowhere;
    bool holds = at->physical && at->version == p->version;
    hd_rf_deliver(sink, step, source, HD_STRUCTURE_FILE, step->effective, holds ? hd_rf_owner(step, word) : nobody,
                  holds ? *hd_rf_file_at(&m->claims, step->warp, hd_rf_index(step, word)) : (hd_claim){0, 0});
    uint16_t operand = hd_access_source(source), named = look_up_name(m, operand, 0, sink);
    hd_rf_access access = file_access(p, HD_RF_READ, named, step->effective);
    access.operand = operand;
    hd_emit(sink, access);
}

/* Gives the result a register that nothing else is mapped to. What its WRITE comes after: the READ that copies lanes
 * which stay, else `named`. */
static uint16_t make_own(hd_larf *m, const hd_rf_step *step, uint32_t word, uint16_t named, hd_access_sink *sink)
{
    larf_mapping *at = mapping_at(m, step, word);
    uint32_t index = hd_rf_index(step, word), kept = larf_warp_of(m, step->warp)->lanes & ~step->effective;
    uint16_t copied = 0;
    if (at->physical && larf_physical_of(m, at)->users == 1) {
        if (hd_larf_forget(&m->table, at->physical - 1))
            hd_rf_event(&m->model, HD_COUNTER_SHARES_ENDED, 1);
        return named;
    }
    if (at->physical && kept) {
        hd_rf_access copy = file_access(larf_physical_of(m, at), HD_RF_READ, look_up_name(m, 0, 0, sink), kept);
        copy.cause = HD_CAUSE_RELOCATION;
        copied = hd_emit(sink, copy);
        if (hd_rf_loses(&m->model))
            hd_rf_file_at(&m->claims, step->warp, index)->lanes &= step->effective;
    }
    if (!at->physical)
        hd_larf_begin_mapping(m, step->warp, index);
    uint32_t physical = hd_larf_take(m, step->warp, word);
    if (physical == HD_NONE)
        return named;
    if (at->physical)
        hd_larf_unmap(m, at);
    m->physical.items[physical].users = 1;
    hd_larf_attach(m, at, physical);
    return copied ? copied : named;
}

/* after: what it waits for besides; 0: nothing */
static void write_result(hd_larf *m, const hd_rf_step *step, uint32_t destination, uint16_t after, hd_access_sink *sink)
{
    uint32_t word = step->destinations[destination].word;
    larf_mapping *at = mapping_at(m, step, word);
    uint16_t operand = hd_access_result(destination), named = look_up_name(m, operand, after, sink);
    uint16_t first = make_own(m, step, word, named, sink);
    if (!at->physical)
        return; /* the file is full */
    larf_physical *p = larf_physical_of(m, at);
    at->version = ++p->version;
    p->load = sink->number;
    hd_rf_access access = file_access(p, HD_RF_WRITE, first, step->effective);
    access.operand = operand;
    hd_emit(sink, access);
    hd_claim *claim = hd_rf_file_at(&m->claims, step->warp, hd_rf_index(step, word));
    if (!hd_rf_loses(&m->model))
        *claim = hd_rf_written(step, destination, *claim);
}

/* ---- loads ------------------------------------------------------------------------------------------------------- */

static void enter(hd_larf *m, const hd_rf_step *step, hd_larf_pattern where, hd_access_sink *sink)
{
    for (uint32_t d = 0; d < step->destination_count && !m->full; d++) {
        const larf_mapping *at = mapping_at(m, step, step->destinations[d].word);
        bool evicted;
        if (!hd_larf_enter(&m->table, word_of(where, d), at->physical - 1, step->results + (size_t)d * 32, &evicted))
            continue;
        hd_emit(sink, (hd_rf_access){.structure = HD_STRUCTURE_ADDRESSES, .kind = HD_RF_WRITE});
        hd_rf_event(&m->model, HD_COUNTER_SHARES_REPLACED, evicted);
    }
}

/* Compares what an entry has with what the load brings. */
static void prove_values(const hd_rf_step *step, uint32_t destination, const hd_larf_part *part, hd_access_sink *sink)
{
    const uint32_t *loaded = step->results + (size_t)destination * 32;
    uint32_t wrong = 0;
    HD_EACH_BIT (lane, part->lanes)
        wrong |= (uint32_t)(part->entry->values[(int32_t)lane + part->shift] != loaded[lane]) << lane;
    if (wrong)
        hd_rf_fail(&sink->failure, step,
                   (hd_rf_failure){.wrong = HD_RF_STALE,
                                   .structure = HD_STRUCTURE_ADDRESSES,
                                   .word = step->destinations[destination].word,
                                   .lanes = wrong});
}

/* A register whose other lanes are needed keeps its own physical register. */
static bool may_share(hd_larf *m, const hd_rf_step *step, uint32_t word)
{
    return !mapping_at(m, step, word)->physical || step->effective == larf_warp_of(m, step->warp)->lanes;
}

static bool finds_all(const hd_larf *m, const hd_rf_step *step, hd_larf_pattern where,
                      const hd_larf_entry *found[LARF_MOST_WORDS])
{
    for (uint32_t d = 0; d < step->destination_count; d++) {
        found[d] = hd_larf_find(&m->table, word_of(where, d));
        if (!found[d])
            return false;
    }
    return true;
}

static void share_word(hd_larf *m, const hd_rf_step *step, uint32_t destination, uint32_t physical,
                       hd_access_sink *sink)
{
    uint32_t word = step->destinations[destination].word, index = hd_rf_index(step, word);
    larf_mapping *at = mapping_at(m, step, word);
    larf_physical *p = &m->physical.items[physical];
    if (at->physical)
        hd_larf_unmap(m, at);
    else
        hd_larf_begin_mapping(m, step->warp, index);
    hd_larf_attach(m, at, physical);
    hd_emit(sink, (hd_rf_access){.structure = HD_STRUCTURE_TABLE,
                                 .kind = HD_RF_WRITE,
                                 .operand = hd_access_result(destination),
                                 .lanes = step->effective,
                                 .awaits = m->instant ? 0 : p->load});
    *hd_rf_file_at(&m->claims, step->warp, index) =
        hd_rf_loses(&m->model) ? (hd_claim){0, 0} : (hd_claim){step->serial + destination, step->effective};
}

static bool share(hd_larf *m, const hd_rf_step *step, hd_larf_pattern where, hd_access_sink *sink)
{
    const hd_larf_entry *found[LARF_MOST_WORDS];
    uint32_t physical[LARF_MOST_WORDS];
    if (!finds_all(m, step, where, found))
        return false;
    for (uint32_t d = 0; d < step->destination_count; d++)
        if (!may_share(m, step, step->destinations[d].word))
            return false;
    for (uint32_t d = 0; d < step->destination_count; d++) {
        prove_values(step, d, &(hd_larf_part){found[d], 0, step->effective}, sink);
        physical[d] = found[d]->physical;
        m->physical.items[physical[d]].users++; /* whatever its other users become meanwhile */
    }
    for (uint32_t d = 0; d < step->destination_count; d++)
        share_word(m, step, d, physical[d], sink);
    sink->skips_unit = true;
    hd_rf_event(&m->model, HD_COUNTER_LOADS_SKIPPED, 1);
    return true;
}

static bool merge(hd_larf *m, const hd_rf_step *step, hd_larf_pattern where, uint16_t looked_up, hd_access_sink *sink)
{
    hd_larf_part parts[2];
    uint16_t filled = 0, operand = step->source_count ? hd_access_source(0) : 0;
    uint32_t count = m->perfect || step->destination_count > 1 ? 0 : hd_larf_find_parts(&m->table, where, parts);
    for (uint32_t k = 0; k < count; k++) {
        const larf_physical *p = &m->physical.items[parts[k].entry->physical];
        prove_values(step, 0, &parts[k], sink);
        hd_rf_access read = file_access(p, HD_RF_READ, looked_up, parts[k].entry->where.lanes);
        read.awaits = m->instant ? 0 : p->load;
        filled = hd_emit(sink, (hd_rf_access){.structure = HD_STRUCTURE_MERGE,
                                              .kind = HD_RF_FILL,
                                              .operand = operand,
                                              .after = hd_emit(sink, read),
                                              .lanes = parts[k].lanes});
    }
    if (!count)
        return false;
    write_result(m, step, 0, filled, sink);
    sink->skips_unit = true;
    hd_rf_event(&m->model, HD_COUNTER_LOADS_SKIPPED, 1);
    hd_rf_event(&m->model, HD_COUNTER_LOADS_MERGED, 1);
    return true;
}

static void load(hd_larf *m, const hd_rf_step *step, hd_larf_pattern where, hd_access_sink *sink)
{
    uint16_t looked_up = 0;
    for (uint32_t d = 0; d < step->destination_count; d++)
        looked_up = hd_emit(sink, (hd_rf_access){.structure = HD_STRUCTURE_ADDRESSES,
                                                 .kind = HD_RF_LOOKUP,
                                                 .operand = step->source_count ? hd_access_source(0) : 0,
                                                 .after = (uint16_t)sink->accesses.count});
    if (share(m, step, where, sink))
        return;
    if (!merge(m, step, where, looked_up, sink))
        for (uint32_t d = 0; d < step->destination_count; d++)
            write_result(m, step, d, 0, sink);
    enter(m, step, where, sink);
}

/* ---- hooks of instructions --------------------------------------------------------------------------------------- */

static void larf_execute(hd_rf_model *model, const hd_rf_step *step, hd_access_sink *sink)
{
    hd_larf *m = (hd_larf *)model;
    const hd_release_function *code = &m->hints.functions[step->function];
    uint32_t i = step->instruction, before = code->before_first[i], after = code->after_first[i];
    larf_warp *w = larf_warp_of(m, step->warp);
    hd_larf_pattern where;
    w->lanes = w->lanes ? w->lanes : step->active;
    model->held = m->file.taken;
    hd_rf_record_held(model);
    m->file.time++;
    release_words(m, step, code->before + before, code->before_first[i + 1] - before, sink);
    for (uint32_t s = 0; s < step->source_count && step->effective; s++)
        read_operand(m, step, s, sink);
    if (step->effective) {
        hd_rf_event(model, HD_COUNTER_LOADS, is_global_load(form_of(step)));
        evict(m, step, sink);
    }
    if (is_shareable(step, &where))
        load(m, step, where, sink);
    else
        for (uint32_t d = 0; d < step->destination_count && step->effective; d++)
            write_result(m, step, d, 0, sink);
    release_words(m, step, code->after + after, code->after_first[i + 1] - after, sink);
    if (m->full)
        hd_rf_fail(&sink->failure, step, (hd_rf_failure){.wrong = HD_RF_FULL});
}

/* A warp waits until each result that needs another physical register finds one. */
static hd_gate larf_may_issue(hd_rf_model *model, const hd_rf_step *step, uint64_t now)
{
    hd_larf *m = (hd_larf *)model;
    uint32_t wanted = 0;
    (void)now;
    for (uint32_t d = 0; d < step->destination_count && step->effective && !m->fits; d++) {
        const larf_mapping *at = mapping_at(m, step, step->destinations[d].word);
        wanted += !at->physical || larf_physical_of(m, at)->users > 1;
    }
    bool may = wanted <= hd_physical_free_count(&m->file);
    hd_rf_event(model, HD_COUNTER_REGISTER_WAITS, !may);
    return (hd_gate){.ready = may, .reason = may ? HD_STALL_NONE : HD_STALL_REGISTER};
}

/* Flag words, as in RFV. */
static void larf_before(hd_rf_model *model, const hd_rf_step *step, hd_access_sink *sink)
{
    hd_larf *m = (hd_larf *)model;
    larf_warp *w = larf_warp_of(m, step->warp);
    const hd_release_function *code = &m->hints.functions[step->function];
    uint32_t flags = code->flags[step->instruction], lists = code->lists[step->instruction];
    for (uint32_t i = 0; i < lists && !m->direct; i++)
        hd_emit(sink, (hd_rf_access){.structure = HD_STRUCTURE_FLAGS, .kind = HD_RF_READ});
    if (!flags || m->direct || (w->flags == flags && !hd_bitset_has(&code->starts, step->instruction)))
        return;
    w->flags = flags;
    hd_emit(sink, (hd_rf_access){.structure = HD_STRUCTURE_FLAGS, .kind = HD_RF_LOOKUP});
    uint32_t *cached = &m->flag_cache[(flags - 1) % LARF_FLAG_ENTRIES];
    if (*cached != flags)
        hd_emit(sink, (hd_rf_access){.structure = HD_STRUCTURE_FLAGS, .kind = HD_RF_FILL});
    *cached = flags;
}

static uint32_t larf_rank_warp(hd_rf_model *model, const hd_rf_step *next, uint64_t now)
{
    const hd_larf *m = (const hd_larf *)model;
    const hd_larf_entry *found[LARF_MOST_WORDS];
    hd_larf_pattern where;
    (void)now;
    return m->las && is_shareable(next, &where) && finds_all(m, next, where, found);
}

/* ---- lives of warps and frames ----------------------------------------------------------------------------------- */

static void larf_warp_begin(hd_rf_model *model, hd_rf_warp *warp)
{
    hd_larf *m = (hd_larf *)model;
    while (m->warps.count <= warp->slot)
        hd_array_push(&m->warps, (larf_warp){.lanes = 0});
    larf_warp *w = larf_warp_of(m, warp);
    hd_array_clear(&w->mappings);
    hd_array_clear(&w->top);
    w->lanes = w->flags = 0;
}

/* Maps parameters, which the call has written. */
static void larf_frame_begin(hd_rf_model *model, hd_rf_warp *warp)
{
    hd_larf *m = (hd_larf *)model;
    larf_warp *w = larf_warp_of(m, warp);
    uint32_t base = warp->identity.base, count = warp->identity.registers.count;
    hd_rf_file_frame_begin(&m->claims, warp);
    memset(hd_array_extend(&w->mappings, count - base), 0, (count - base) * sizeof *w->mappings.items);
    for (uint32_t i = base; i < count; i++) {
        if (!warp->identity.registers.items[i].ever)
            continue;
        hd_larf_begin_mapping(m, warp, i);
        uint32_t physical = hd_larf_take(m, warp, i - base);
        if (physical == HD_NONE)
            return;
        m->physical.items[physical].users = 1;
        hd_larf_attach(m, &w->mappings.items[i], physical);
    }
}

static void larf_frame_end(hd_rf_model *model, hd_rf_warp *warp)
{
    hd_larf *m = (hd_larf *)model;
    larf_warp *w = larf_warp_of(m, warp);
    for (uint32_t i = warp->identity.base; i < w->mappings.count; i++)
        if (w->mappings.items[i].physical)
            hd_larf_end_mapping(m, warp, i);
    w->mappings.count = warp->identity.base;
    w->flags = 0; /* the caller fetches its flag word again */
}

const hd_rf_ops hd_rf_larf_ops = {
    .create = larf_create,
    .destroy = larf_destroy,
    .launch = larf_launch,
    .warp_begin = larf_warp_begin,
    .frame_begin = larf_frame_begin,
    .frame_end = larf_frame_end,
    .rank_warp = larf_rank_warp,
    .may_issue = larf_may_issue,
    .before = larf_before,
    .execute = larf_execute,
    .storage = HD_ENERGY_ADDRESS_TABLE,
    .columns = HD_COLUMN_ADDRESSES | HD_COLUMN_LOADED,
    .coupled = true,
    .timed = true,
};
