/* RFC: a register file cache without a compiler, as LTRF's evaluation compares with (section 5). M. Gebhart et al., "Energy-efficient
 * Mechanisms for Managing Thread Context in Throughput Processors", ISCA 2011, section 3.
 *
 * Each active warp has `entries` of a warp register. A result takes an entry, the oldest one (first in, first out) where none is free; what is
 * read from the main file takes none. Results of long-latency instructions go to the main file: the warp leaves the active ones
 * behind them. What leaves the cache, because it is the oldest or because its warp leaves, is written to the main file. A warp that comes
 * back finds its cache empty.
 *
 * Entries have lane masks, as results under divergence and guards fill some lanes only: a read takes the others from the main file, and an
 * entry that leaves is written to the file in its lanes. The end of a warp or of a call's frame drops entries without a write.
 *
 * Storage: the entries, each with 1024 bits, its lanes, and 8 bits that tell the register.
 *
 * Cost: O(1) an instruction and an operand, O(entries) where a warp leaves.
 */
#include "hwmodel/rf/carry.h"
#include "hwmodel/rf/walk.h"

enum { HD_RFC_MOST = 64, HD_RFC_ACTIVE = 8, HD_RFC_ENTRY_BITS = 1024 + 32 + 8 };

typedef struct hd_rfc_entry {
    uint32_t index, frame, lanes; /* lanes 0: nothing is in it */
    hd_claim claim;
} hd_rfc_entry;

typedef struct hd_rfc_warp {
    hd_rfc_entry entries[HD_RFC_MOST];
    uint32_t next;             /* the oldest one, and the next to be taken */
    HD_ARRAY(uint8_t) entry_of; /* by register index in the warp: 1 + entry; 0: none */
} hd_rfc_warp;

typedef struct hd_rfc {
    hd_rf_model model;
    hd_rf_file file;
    uint32_t entries;
    HD_ARRAY(hd_rfc_warp *) warps; /* by slot */
} hd_rfc;

static void rfc_destroy(hd_rf_model *model)
{
    hd_rfc *rfc = (hd_rfc *)model;
    for (uint32_t i = 0; i < rfc->warps.count; i++) {
        hd_array_free(&rfc->warps.items[i]->entry_of);
        free(rfc->warps.items[i]);
    }
    hd_array_free(&rfc->warps);
    hd_rf_file_free(&rfc->file);
    free(rfc);
}

static hd_rf_model *rfc_create(const hd_rf_module *code, const char *options, const char **refusal)
{
    hd_rfc *rfc = hd_calloc(1, sizeof *rfc);
    (void)code;
    rfc->entries = hd_rf_option(options, "entries", 16);
    if (rfc->entries < 1 || rfc->entries > HD_RFC_MOST) {
        *refusal = "a register cache of this size is not modelled";
        rfc_destroy(&rfc->model);
        return NULL;
    }
    return &rfc->model;
}

static void rfc_launch(hd_rf_model *model, const hd_rf_launch *launch)
{
    hd_rfc *rfc = (hd_rfc *)model;
    uint32_t active = launch->residency.active ? launch->residency.active : HD_RFC_ACTIVE;
    model->storage_bits = (uint64_t)active * rfc->entries * HD_RFC_ENTRY_BITS;
    rfc->model.held = 0;
}

/* ---- entries ----------------------------------------------------------------------------------------------------------- */

static hd_rfc_warp *warp_of(const hd_rfc *rfc, const hd_rf_warp *warp)
{
    return rfc->warps.items[warp->slot];
}

static hd_rfc_entry *find_entry(hd_rfc_warp *w, uint32_t index)
{
    return w->entry_of.items[index] ? &w->entries[w->entry_of.items[index] - 1] : NULL;
}

static void drop(hd_rfc *rfc, hd_rfc_warp *w, hd_rfc_entry *e)
{
    w->entry_of.items[e->index] = 0;
    e->lanes = 0;
    rfc->model.held--;
}

static void write_back(hd_rfc *rfc, const hd_rf_warp *warp, hd_rfc_entry *e)
{
    hd_rf_add(&rfc->model, HD_COUNTER_CACHE_READS, 1);
    hd_rf_add(&rfc->model, HD_COUNTER_FILE_WRITES, 1);
    hd_rf_add(&rfc->model, HD_COUNTER_WRITTEN_BACK, 1);
    if (!hd_rf_loses(&rfc->model)) {
        hd_claim *home = hd_rf_file_at(&rfc->file, warp, e->index);
        *home = hd_identity_copy(&warp->identity, e->index, *home, e->claim, e->lanes);
    }
    drop(rfc, warp_of(rfc, warp), e);
}

static hd_rfc_entry *take_entry(hd_rfc *rfc, const hd_rf_warp *warp, uint32_t index)
{
    hd_rfc_warp *w = warp_of(rfc, warp);
    hd_rfc_entry *e = &w->entries[w->next];
    if (e->lanes) {
        hd_rf_add(&rfc->model, HD_COUNTER_EVICTIONS, 1);
        write_back(rfc, warp, e);
    }
    *e = (hd_rfc_entry){.index = index, .frame = warp->identity.frame};
    w->entry_of.items[index] = (uint8_t)(w->next + 1);
    w->next = w->next + 1 == rfc->entries ? 0 : w->next + 1;
    rfc->model.held++;
    return e;
}

/* ---- operands and results ---------------------------------------------------------------------------------------------- */

static void rfc_issue(hd_rf_model *model, const hd_rf_step *step)
{
    (void)step;
    hd_rf_tell(model);
}

static void rfc_read(hd_rf_model *model, const hd_rf_step *step, uint32_t source, hd_rf_answer *answer)
{
    hd_rfc *rfc = (hd_rfc *)model;
    uint32_t word = step->sources[source], index = hd_rf_index(step, word);
    const hd_rfc_entry *e = find_entry(warp_of(rfc, step->warp), index);
    uint32_t held = e ? step->effective & e->lanes : 0, missing = step->effective & ~held;
    hd_owner owner = hd_rf_owner(step, word);
    hd_rf_add(model, HD_COUNTER_OPERANDS, 1);
    if (held) {
        hd_rf_add(model, HD_COUNTER_CACHE_READS, 1);
        answer->pieces[answer->count++] = (hd_rf_piece){held, HD_RF_NEAR, {owner.warp, e->frame, e->index}, e->claim};
    }
    if (missing) {
        hd_rf_add(model, HD_COUNTER_FILE_READS, 1);
        answer->pieces[answer->count++] = (hd_rf_piece){missing, HD_RF_FILE, owner, *hd_rf_file_at(&rfc->file, step->warp, index)};
    } else {
        hd_rf_add(model, HD_COUNTER_BYPASSED, 1);
    }
}

static void rfc_write(hd_rf_model *model, const hd_rf_step *step, uint32_t destination)
{
    hd_rfc *rfc = (hd_rfc *)model;
    uint32_t index = hd_rf_index(step, step->destinations[destination].word), serial = step->serial + destination;
    hd_rfc_entry *e = find_entry(warp_of(rfc, step->warp), index);
    hd_claim *claim = hd_rf_file_at(&rfc->file, step->warp, index);
    bool to_file = !e && step->code->traits[step->instruction] & HD_RF_LONG;
    hd_rf_add(model, HD_COUNTER_RESULTS, 1);
    hd_rf_add(model, to_file ? HD_COUNTER_FILE_WRITES : HD_COUNTER_CACHE_WRITES, 1);
    if (!to_file) {
        e = e ? e : take_entry(rfc, step->warp, index);
        claim = &e->claim;
        e->lanes |= step->effective;
    }
    if (!hd_rf_loses(model))
        *claim = hd_identity_merge(&step->warp->identity, index, *claim, serial, step->effective);
}

/* ---- lives of warps and frames ----------------------------------------------------------------------------------------- */

static void rfc_warp_start(hd_rf_model *model, hd_rf_warp *warp)
{
    hd_rfc *rfc = (hd_rfc *)model;
    while (rfc->warps.count <= warp->slot)
        hd_array_push(&rfc->warps, hd_calloc(1, sizeof(hd_rfc_warp)));
    hd_rfc_warp *w = warp_of(rfc, warp);
    memset(w->entries, 0, sizeof w->entries);
    w->next = 0;
    hd_array_clear(&w->entry_of);
}

static void rfc_switch(hd_rf_model *model, hd_rf_warp *out, hd_rf_warp *in)
{
    hd_rfc *rfc = (hd_rfc *)model;
    (void)in;
    for (uint32_t i = 0; out && i < rfc->entries; i++) {
        hd_rfc_entry *e = &warp_of(rfc, out)->entries[i];
        if (e->lanes)
            write_back(rfc, out, e);
    }
}

static void rfc_frame_start(hd_rf_model *model, hd_rf_warp *warp)
{
    hd_rfc *rfc = (hd_rfc *)model;
    uint32_t words = warp->identity.registers.count - warp->identity.base;
    hd_rf_file_frame_start(&rfc->file, warp);
    rfc->model.held += words;
    if (words)
        memset(hd_array_extend(&warp_of(rfc, warp)->entry_of, words), 0, words);
}

static void rfc_frame_end(hd_rf_model *model, hd_rf_warp *warp)
{
    hd_rfc *rfc = (hd_rfc *)model;
    hd_rfc_warp *w = warp_of(rfc, warp);
    for (uint32_t i = 0; i < rfc->entries; i++)
        if (w->entries[i].lanes && w->entries[i].index >= warp->identity.base)
            drop(rfc, w, &w->entries[i]);
    rfc->model.held -= w->entry_of.count - warp->identity.base;
    w->entry_of.count = warp->identity.base;
}

/* Entries from the oldest place on. */
static void rfc_carry(hd_rf_model *model, hd_rf_warp *warp, hd_rf_carrier *c)
{
    hd_rfc *rfc = (hd_rfc *)model;
    hd_rfc_warp *w = warp_of(rfc, warp);
    hd_rf_file_carry(&rfc->file, warp, c);
    if (c->rest)
        return;
    if (!c->out) {
        w->next = 0;
        memset(w->entry_of.items, 0, w->entry_of.count);
    }
    for (uint32_t i = 0; i < rfc->entries; i++) {
        uint32_t place = (w->next + i) % rfc->entries;
        hd_rfc_entry *e = &w->entries[place];
        e->lanes = hd_rf_carried_lanes(c, e->lanes);
        if (!e->lanes)
            continue;
        hd_owner owner = hd_rf_carried_moving(c, (hd_owner){warp->identity.warp, e->frame, e->index});
        e->index = owner.index;
        e->frame = owner.frame;
        e->claim = hd_rf_carried_claim(c, e->index, e->claim);
        w->entry_of.items[e->index] = (uint8_t)(place + 1);
    }
}

extern const hd_rf_ops hd_rf_rfc_ops;
HD_RF_WALK(rfc_walk, hd_rf_rfc_ops)
const hd_rf_ops hd_rf_rfc_ops = {
    .create = rfc_create,
    .destroy = rfc_destroy,
    .launch = rfc_launch,
    .warp_start = rfc_warp_start,
    .warp_switch = rfc_switch,
    .frame_start = rfc_frame_start,
    .frame_end = rfc_frame_end,
    .issue = rfc_issue,
    .walk = rfc_walk,
    .operand_read = rfc_read,
    .write_back = rfc_write,
    .coupled = true,
    .carry = rfc_carry,
};
