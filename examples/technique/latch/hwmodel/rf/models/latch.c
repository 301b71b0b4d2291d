/* latch: a latch of one warp register for each warp. An example of a model (docs/adding-a-technique.md).
 *
 * The latch takes each result of one word, in the lanes that are written. A read takes the lanes that it holds from
 * there and the others from the register file. A marked result is not written to the file. An instruction with several
 * results leaves the latch empty, and so does the end of a call's frame.
 *
 * O(1) an operand.
 */
#include "base/bitset.h"
#include "hwmodel/rf/memo.h"
#include "hwmodel/rf/technique.h"

typedef struct latch {
    hd_owner owner;
    uint32_t lanes; /* that it holds */
    hd_claim claim;
} latch;

typedef struct latch_model {
    hd_rf_model model;
    hd_rf_file file;
    HD_ARRAY(latch) latches; /* by slot of the warp */
    hd_arena arena;
    hd_bitset *marked; /* by function: instructions whose result goes to the latch only */
} latch_model;

static void read_marks(latch_model *m, const hd_function *f, hd_bitset *marked)
{
    *marked = hd_bitset_new(&m->arena, f->instructions.count);
    for (uint32_t a = 0; a < f->annotations.count; a++)
        if (f->annotations.items[a].kind == HD_ANNOTATION_LATCH)
            hd_bitset_add(marked, f->annotations.items[a].instruction);
}

static hd_rf_model *latch_create(const hd_rf_module *code, const char *options, const char **refusal)
{
    (void)options, (void)refusal;
    latch_model *m = hd_calloc(1, sizeof *m);
    uint32_t functions = code->module->functions.count;
    m->marked = HD_ARENA_ARRAY(&m->arena, hd_bitset, functions);
    for (uint32_t f = 0; f < functions; f++)
        if (code->functions[f])
            read_marks(m, code->functions[f]->function, &m->marked[f]);
    return &m->model;
}

static void latch_destroy(hd_rf_model *model)
{
    latch_model *m = (latch_model *)model;
    hd_array_free(&m->latches);
    hd_rf_file_free(&m->file);
    hd_arena_free(&m->arena);
    free(m);
}

/* A latch of 32 lanes of 32 bits for each warp, with the number of its register and a mask of its lanes. */
static void latch_launch(hd_rf_model *model, const hd_rf_launch *launch)
{
    model->storage_bits = launch->residency.sm_warps * (32ull * 32 + 8 + 32);
}

static void latch_warp_begin(hd_rf_model *model, hd_rf_warp *warp)
{
    latch_model *m = (latch_model *)model;
    while (m->latches.count <= warp->slot)
        hd_array_push(&m->latches, (latch){.lanes = 0});
    m->latches.items[warp->slot].lanes = 0;
}

static void latch_frame_begin(hd_rf_model *model, hd_rf_warp *warp)
{
    hd_rf_file_frame_begin(&((latch_model *)model)->file, warp);
}

/* The registers of the frame are no more: the next call's parameters have the same numbers. */
static void latch_frame_end(hd_rf_model *model, hd_rf_warp *warp)
{
    ((latch_model *)model)->latches.items[warp->slot].lanes = 0;
}

static void read_operand(latch_model *m, const hd_rf_step *step, uint32_t source, hd_access_sink *sink)
{
    const latch *l = &m->latches.items[step->warp->slot];
    hd_owner owner = hd_rf_owner(step, step->sources[source]);
    uint32_t held = l->owner.index == owner.index ? l->lanes & step->effective : 0;
    if (held)
        hd_rf_read(sink, step, source, HD_STRUCTURE_CACHE, held, l->owner, l->claim);
    if (held != step->effective)
        hd_rf_read(sink, step, source, HD_STRUCTURE_FILE, step->effective & ~held, owner,
                   *hd_rf_file_at(&m->file, step->warp, owner.index));
}

static void write_latch(latch_model *m, const hd_rf_step *step, hd_access_sink *sink)
{
    latch *l = &m->latches.items[step->warp->slot];
    hd_rf_write(sink, step, 0, HD_STRUCTURE_CACHE);
    if (hd_rf_loses(&m->model))
        return;
    l->owner = hd_rf_owner(step, step->destinations[0].word);
    l->lanes = step->effective;
    l->claim = hd_rf_written(step, 0, (hd_claim){0, 0});
}

static void latch_execute(hd_rf_model *model, const hd_rf_step *step, hd_access_sink *sink)
{
    latch_model *m = (latch_model *)model;
    if (!step->effective)
        return;
    for (uint32_t s = 0; s < step->source_count; s++)
        read_operand(m, step, s, sink);
    if (step->destination_count == 1)
        write_latch(m, step, sink);
    else if (step->destination_count)
        m->latches.items[step->warp->slot].lanes = 0;
    if (!hd_bitset_has(&m->marked[step->function], step->instruction))
        for (uint32_t d = 0; d < step->destination_count; d++)
            hd_rf_file_write(model, &m->file, step, d, sink);
}

/* All that the warp's future depends on. Optional: it makes count mode faster. */
static void latch_snapshot(hd_rf_model *model, hd_rf_warp *warp, hd_snapshot *c)
{
    latch_model *m = (latch_model *)model;
    latch *l = &m->latches.items[warp->slot];
    hd_rf_file_snapshot(&m->file, warp, c);
    if (!hd_snapshot_word(c, l->lanes != 0)) {
        l->lanes = 0;
        return;
    }
    l->owner = hd_snapshot_owner(c, l->owner);
    l->lanes = hd_snapshot_lanes(c, l->lanes);
    l->claim = hd_snapshot_claim(c, l->owner.index, l->claim);
}

const hd_rf_ops hd_rf_latch_ops = {
    .create = latch_create,
    .destroy = latch_destroy,
    .launch = latch_launch,
    .warp_begin = latch_warp_begin,
    .frame_begin = latch_frame_begin,
    .frame_end = latch_frame_end,
    .execute = latch_execute,
    .memo = &(const hd_memo_ops){.snapshot = latch_snapshot},
};
