/* The baseline: every operand is read from, every result written to the main register file. */
#include "hwmodel/rf/memo.h"
#include "hwmodel/rf/technique.h"

typedef struct hd_baseline {
    hd_rf_model model;
    hd_rf_file file;
} hd_baseline;

static hd_rf_model *baseline_create(const hd_rf_module *code, const char *options, const char **refusal)
{
    (void)code, (void)options, (void)refusal;
    hd_baseline *b = hd_calloc(1, sizeof *b);
    return &b->model;
}

static void baseline_destroy(hd_rf_model *model)
{
    hd_baseline *b = (hd_baseline *)model;
    hd_rf_file_free(&b->file);
    free(b);
}

static void baseline_frame_begin(hd_rf_model *model, hd_rf_warp *warp)
{
    hd_rf_file_frame_begin(&((hd_baseline *)model)->file, warp);
}

static void baseline_execute(hd_rf_model *model, const hd_rf_step *step, hd_access_sink *sink)
{
    hd_rf_file *file = &((hd_baseline *)model)->file;
    if (!step->effective)
        return;
    for (uint32_t s = 0; s < step->source_count; s++)
        hd_rf_file_read(file, step, s, sink);
    for (uint32_t d = 0; d < step->destination_count; d++)
        hd_rf_file_write(model, file, step, d, sink);
}

static void baseline_snapshot(hd_rf_model *model, hd_rf_warp *warp, hd_snapshot *c)
{
    hd_rf_file_snapshot(&((hd_baseline *)model)->file, warp, c);
}

const hd_rf_ops hd_rf_baseline_ops = {
    .create = baseline_create,
    .destroy = baseline_destroy,
    .frame_begin = baseline_frame_begin,
    .execute = baseline_execute,
    .memo = &(const hd_memo_ops){.snapshot = baseline_snapshot},
};
