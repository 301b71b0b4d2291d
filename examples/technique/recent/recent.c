/* recent: the registers that a warp read or wrote last, in a small table beside the register file. An example of a
 * technique without a compiler side (docs/adding-a-technique.md); it is of no paper.
 *
 * Each warp has `entries` of them, one register each; register n has entry n modulo their number. What is read from the
 * file goes into its entry, and so does every result, which goes to the file too: no entry holds what the file does
 * not.
 *
 * O(1) an operand.
 */
#include "driver/plugin/plugin.h"

enum { MOST_ENTRIES = 64 };

typedef struct recent_model {
    hd_rf_model model;
    hd_rf_file file;
    uint32_t entries;
    HD_ARRAY(hd_rf_place) table; /* `entries` by slot of the warp */
} recent_model;

static hd_rf_model *create(const hd_rf_module *code, const char *options, const char **refusal)
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

static void destroy(hd_rf_model *model)
{
    recent_model *m = (recent_model *)model;
    hd_array_free(&m->table);
    hd_rf_file_free(&m->file);
    free(m);
}

/* 32 lanes of 32 bits an entry, with the number of its register and a mask of its lanes. */
static void launch(hd_rf_model *model, const hd_rf_launch *of)
{
    model->storage_bits = of->residency.sm_warps * ((recent_model *)model)->entries * (32ull * 32 + 8 + 32);
}

static hd_rf_place *entry_of(recent_model *m, const hd_rf_warp *warp, uint32_t index)
{
    return &m->table.items[warp->slot * m->entries + index % m->entries];
}

static void warp_begin(hd_rf_model *model, hd_rf_warp *warp)
{
    recent_model *m = (recent_model *)model;
    while (m->table.count < (warp->slot + 1) * m->entries)
        hd_array_push(&m->table, (hd_rf_place){.lanes = 0});
    for (uint32_t e = 0; e < m->entries; e++)
        hd_rf_place_clear(entry_of(m, warp, e));
}

static void frame_begin(hd_rf_model *model, hd_rf_warp *warp)
{
    hd_rf_file_frame_begin(&((recent_model *)model)->file, warp);
}

/* The registers of the frame are no more: the next call's parameters have the same numbers. */
static void frame_end(hd_rf_model *model, hd_rf_warp *warp)
{
    recent_model *m = (recent_model *)model;
    for (uint32_t e = 0; e < m->entries; e++)
        hd_rf_place_frame_end(entry_of(m, warp, e), warp);
}

static void read_operand(recent_model *m, const hd_rf_step *step, uint32_t source, hd_access_sink *sink)
{
    hd_rf_place *entry = entry_of(m, step->warp, hd_rf_index(step, step->sources[source]));
    uint32_t held = hd_rf_place_read(entry, step, source, HD_STRUCTURE_CACHE, sink);
    hd_rf_place_fill(&m->model, &m->file, entry, step, source, HD_STRUCTURE_CACHE, ~held, sink);
}

static void execute(hd_rf_model *model, const hd_rf_step *step, hd_access_sink *sink)
{
    recent_model *m = (recent_model *)model;
    if (!step->effective)
        return;
    for (uint32_t s = 0; s < step->source_count; s++)
        read_operand(m, step, s, sink);
    for (uint32_t d = 0; d < step->destination_count; d++) {
        hd_rf_place *entry = entry_of(m, step->warp, hd_rf_index(step, step->destinations[d].word));
        hd_rf_file_write(model, &m->file, step, d, sink);
        hd_rf_place_write(model, entry, step, d, HD_STRUCTURE_CACHE, sink);
    }
}

static const hd_rf_ops ops = {
    .create = create,
    .destroy = destroy,
    .launch = launch,
    .warp_begin = warp_begin,
    .frame_begin = frame_begin,
    .frame_end = frame_end,
    .execute = execute,
};

/* ---- the rows by which heddle knows it --------------------------------------------------------------------------- */

static const hd_paper paper = {"the heddle project", "Adding a technique", "docs/adding-a-technique.md", 2026};
static const hd_technique_info techniques[] = {
    {"recent", "recent", &paper, "", "recently used registers in a small table next to the register file"},
};
static const hd_rf_headline_info served = {.title = "reads bypassed",
                                           .meaning = "share of operand reads that the table serves",
                                           .otherwise = "no operand in a register",
                                           .kind = HD_HEADLINE_SHARE,
                                           .part = HD_COUNTER_BYPASSED,
                                           .whole = HD_COUNTER_OPERANDS,
                                           .needs = HD_COUNTER_OPERANDS};
static const hd_plugin_model models[] = {
    {.row = {.name = "recent",
             .technique = "recent",
             .ops = &ops,
             .pass = "",
             .options = "entries=4",
             .summary = "the registers used last, in a table of 4 entries for each warp",
             .headline = &served}},
};
static const hd_rf_option_info options[] = {{&ops, "entries", "entries of a warp's table", "", 1, MOST_ENTRIES}};

HD_PLUGIN_EXPORT const hd_plugin heddle_plugin = {
    HD_PLUGIN_HEAD,
    .name = "recent",
    .version = "1",
    .license = "Apache-2.0",
    .techniques = techniques,
    HD_PLUGIN_ROWS_OF(technique, techniques),
    .models = models,
    HD_PLUGIN_ROWS_OF(model, models),
    .options = options,
    HD_PLUGIN_ROWS_OF(option, options),
};
