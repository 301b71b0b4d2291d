/* recent: the registers that a warp read or wrote last, in a small table beside the register file. An example of a
 * model without a compiler side (docs/adding-a-technique.md); it is of no paper.
 *
 * Each warp has `entries` of them, one register each; register n has entry n modulo their number. What is read from the
 * file goes into its entry, and so does every result, which goes to the file too: no entry holds what the file does
 * not.
 *
 * O(1) an operand.
 */
#include "hwmodel/rf/technique.h"

enum { MOST_ENTRIES = 64 };

typedef struct recent_entry {
    hd_owner owner;
    uint32_t lanes; /* that it holds; 0: it is empty */
    hd_claim claim;
} recent_entry;

typedef struct recent_model {
    hd_rf_model model;
    hd_rf_file file;
    uint32_t entries;
    HD_ARRAY(recent_entry) table; /* `entries` by slot of the warp */
} recent_model;

static hd_rf_model *recent_create(const hd_rf_module *code, const char *options, const char **refusal)
{
    (void)code;
    recent_model *m = hd_calloc(1, sizeof *m);
    m->entries = hd_rf_option(options, "entries", 4);
    if (m->entries >= 1 && m->entries <= MOST_ENTRIES)
        return &m->model;
    *refusal = "a table of this size is not modelled";
    free(m);
    return NULL;
}

static void recent_destroy(hd_rf_model *model)
{
    recent_model *m = (recent_model *)model;
    hd_array_free(&m->table);
    hd_rf_file_free(&m->file);
    free(m);
}

/* 32 lanes of 32 bits an entry, with the number of its register and a mask of its lanes. */
static void recent_launch(hd_rf_model *model, const hd_rf_launch *launch)
{
    model->storage_bits = launch->residency.sm_warps * ((recent_model *)model)->entries * (32ull * 32 + 8 + 32);
}

static recent_entry *entry_of(recent_model *m, const hd_rf_warp *warp, uint32_t index)
{
    return &m->table.items[warp->slot * m->entries + index % m->entries];
}

static void recent_warp_begin(hd_rf_model *model, hd_rf_warp *warp)
{
    recent_model *m = (recent_model *)model;
    while (m->table.count < (warp->slot + 1) * m->entries)
        hd_array_push(&m->table, (recent_entry){.lanes = 0});
    for (uint32_t e = 0; e < m->entries; e++)
        entry_of(m, warp, e)->lanes = 0;
}

static void recent_frame_begin(hd_rf_model *model, hd_rf_warp *warp)
{
    hd_rf_file_frame_begin(&((recent_model *)model)->file, warp);
}

/* The registers of the frame are no more: the next call's parameters have the same numbers. */
static void recent_frame_end(hd_rf_model *model, hd_rf_warp *warp)
{
    recent_model *m = (recent_model *)model;
    for (uint32_t e = 0; e < m->entries; e++)
        if (entry_of(m, warp, e)->owner.index >= warp->identity.base)
            entry_of(m, warp, e)->lanes = 0;
}

/* The entry gets these lanes of the register, which keeps those that it had. */
static void enter(recent_model *m, const hd_rf_step *step, uint32_t word, uint32_t lanes, hd_claim claim)
{
    recent_entry *e = entry_of(m, step->warp, hd_rf_index(step, word));
    hd_owner owner = hd_rf_owner(step, word);
    bool same = e->lanes && e->owner.index == owner.index;
    if (hd_rf_loses(&m->model))
        return;
    e->claim = same ? hd_identity_copy(&step->warp->identity, owner.index, e->claim, claim, lanes) : claim;
    e->lanes = same ? e->lanes | lanes : lanes;
    e->owner = owner;
}

static void read_operand(recent_model *m, const hd_rf_step *step, uint32_t source, hd_access_sink *sink)
{
    uint32_t word = step->sources[source], index = hd_rf_index(step, word);
    const recent_entry *e = entry_of(m, step->warp, index);
    uint32_t held = e->owner.index == index ? e->lanes & step->effective : 0, missing = step->effective & ~held;
    if (held)
        hd_rf_read(sink, step, source, HD_STRUCTURE_CACHE, held, e->owner, e->claim);
    if (!missing)
        return;
    hd_claim home = *hd_rf_file_at(&m->file, step->warp, index);
    uint16_t read = hd_rf_read(sink, step, source, HD_STRUCTURE_FILE, missing, hd_rf_owner(step, word), home);
    hd_emit(sink, (hd_rf_access){.structure = HD_STRUCTURE_CACHE, .kind = HD_RF_FILL, .after = read, .lanes = missing});
    enter(m, step, word, missing, home);
}

static void recent_execute(hd_rf_model *model, const hd_rf_step *step, hd_access_sink *sink)
{
    recent_model *m = (recent_model *)model;
    if (!step->effective)
        return;
    for (uint32_t s = 0; s < step->source_count; s++)
        read_operand(m, step, s, sink);
    for (uint32_t d = 0; d < step->destination_count; d++) {
        hd_rf_file_write(model, &m->file, step, d, sink);
        hd_rf_write(sink, step, d, HD_STRUCTURE_CACHE);
        enter(m, step, step->destinations[d].word, step->effective, hd_rf_written(step, d, (hd_claim){0, 0}));
    }
}

const hd_rf_ops hd_rf_recent_ops = {
    .create = recent_create,
    .destroy = recent_destroy,
    .launch = recent_launch,
    .warp_begin = recent_warp_begin,
    .frame_begin = recent_frame_begin,
    .frame_end = recent_frame_end,
    .execute = recent_execute,
};
