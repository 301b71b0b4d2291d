/* The ideal register file: see ideal_file.h. */
#include "tests/unit/ideal_file.h"

typedef struct ideal {
    hd_rf_model model;
    hd_rf_file file;
} ideal;

static hd_rf_model *ideal_create(const hd_rf_module *code, const char *options, const char **refusal)
{
    (void)code, (void)options, (void)refusal;
    ideal *m = hd_calloc(1, sizeof *m);
    return &m->model;
}

static void ideal_destroy(hd_rf_model *model)
{
    hd_rf_file_free(&((ideal *)model)->file);
    free(model);
}

static bool ideal_may_launch_cta(hd_rf_model *model, uint32_t cta)
{
    (void)model, (void)cta;
    return true;
}

static void ideal_frame_begin(hd_rf_model *model, hd_rf_warp *warp)
{
    hd_rf_file_frame_begin(&((ideal *)model)->file, warp);
}

static void ideal_execute(hd_rf_model *model, const hd_rf_step *step, hd_access_sink *sink)
{
    ideal *m = (ideal *)model;
    uint32_t first = sink->accesses.count;
    for (uint32_t s = 0; s < step->source_count && step->effective; s++)
        hd_rf_file_read(&m->file, step, s, sink);
    for (uint32_t d = 0; d < step->destination_count && step->effective; d++)
        hd_rf_file_write(model, &m->file, step, d, sink);
    for (uint32_t a = first; a < sink->accesses.count; a++)
        sink->accesses.items[a].bank = HD_RF_NO_BANK;
}

const hd_rf_ops ideal_file_ops = {
    .create = ideal_create,
    .destroy = ideal_destroy,
    .may_launch_cta = ideal_may_launch_cta,
    .frame_begin = ideal_frame_begin,
    .execute = ideal_execute,
    .coupled = true,
};

const hd_rf_model_info ideal_file = {.name = "ideal", .ops = &ideal_file_ops, .pass = "", .options = ""};
