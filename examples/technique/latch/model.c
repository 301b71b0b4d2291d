/* The hardware of latch: a slot of one warp register for each warp.
 *
 * The slot takes each result of one word, in the lanes that are written. A read takes the lanes that it holds from
 * there and the others from the register file. A marked result is not written to the file. An instruction with several
 * results leaves the slot empty, and so does the end of a call's frame.
 *
 * O(1) an operand.
 */
#include "latch.h"

typedef struct latch_model {
    hd_rf_model model;
    hd_rf_file file;
    HD_ARRAY(hd_rf_place) slots; /* by slot of the warp */
    hd_arena arena;
    hd_bitset *marked; /* by function: instructions whose result goes to the slot only */
} latch_model;

static void read_marks(latch_model *m, const hd_function *f, hd_bitset *marked)
{
    *marked = hd_bitset_new(&m->arena, f->instructions.count);
    for (uint32_t a = 0; a < f->annotations.count; a++)
        if (f->annotations.items[a].kind == LATCH_MARK)
            hd_bitset_add(marked, f->annotations.items[a].instruction);
}

static hd_rf_model *create(const hd_rf_module *code, const char *options, const char **refusal)
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

static void destroy(hd_rf_model *model)
{
    latch_model *m = (latch_model *)model;
    hd_array_free(&m->slots);
    hd_rf_file_free(&m->file);
    hd_arena_free(&m->arena);
    free(m);
}

/* 32 lanes of 32 bits for each warp, with the number of the register and a mask of its lanes. */
static void launch(hd_rf_model *model, const hd_rf_launch *of)
{
    model->storage_bits = of->residency.sm_warps * (32ull * 32 + 8 + 32);
}

static hd_rf_place *slot_of(hd_rf_model *model, const hd_rf_warp *warp)
{
    return &((latch_model *)model)->slots.items[warp->slot];
}

static void warp_begin(hd_rf_model *model, hd_rf_warp *warp)
{
    latch_model *m = (latch_model *)model;
    while (m->slots.count <= warp->slot)
        hd_array_push(&m->slots, (hd_rf_place){.lanes = 0});
    hd_rf_place_clear(slot_of(model, warp));
}

static void frame_begin(hd_rf_model *model, hd_rf_warp *warp)
{
    hd_rf_file_frame_begin(&((latch_model *)model)->file, warp);
}

/* The registers of the frame are no more: the next call's parameters have the same numbers. */
static void frame_end(hd_rf_model *model, hd_rf_warp *warp) { hd_rf_place_frame_end(slot_of(model, warp), warp); }

static void execute(hd_rf_model *model, const hd_rf_step *step, hd_access_sink *sink)
{
    latch_model *m = (latch_model *)model;
    hd_rf_place *slot = slot_of(model, step->warp);
    if (!step->effective)
        return;
    for (uint32_t s = 0; s < step->source_count; s++) {
        uint32_t held = hd_rf_place_read(slot, step, s, HD_STRUCTURE_CACHE, sink);
        hd_rf_file_read_lanes(&m->file, step, s, ~held, sink);
    }
    if (step->destination_count) /* what the slot has of another register is replaced, whatever lanes are written */
        hd_rf_place_clear(slot);
    if (step->destination_count == 1)
        hd_rf_place_write(model, slot, step, 0, HD_STRUCTURE_CACHE, sink);
    if (!hd_bitset_has(&m->marked[step->function], step->instruction))
        for (uint32_t d = 0; d < step->destination_count; d++)
            hd_rf_file_write(model, &m->file, step, d, sink);
}

/* All that the warp's future depends on. Optional: it makes count mode faster. */
static void snapshot(hd_rf_model *model, hd_rf_warp *warp, hd_snapshot *c)
{
    hd_rf_file_snapshot(&((latch_model *)model)->file, warp, c);
    hd_rf_place_snapshot(slot_of(model, warp), c);
}

const hd_rf_ops latch_ops = {
    .create = create,
    .destroy = destroy,
    .launch = launch,
    .warp_begin = warp_begin,
    .frame_begin = frame_begin,
    .frame_end = frame_end,
    .execute = execute,
    .memo = &(const hd_memo_ops){.snapshot = snapshot},
};
