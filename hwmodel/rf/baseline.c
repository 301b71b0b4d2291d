/* The baseline: every operand is read from, every result written to the main register file. */
#include "hwmodel/rf/carry.h"
#include "hwmodel/rf/walk.h"

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

static void baseline_frame_start(hd_rf_model *model, hd_rf_warp *warp)
{
    hd_rf_file_frame_start(&((hd_baseline *)model)->file, warp);
}

static void baseline_read(hd_rf_model *model, const hd_rf_step *step, uint32_t source, hd_rf_answer *answer)
{
    uint32_t word = step->sources[source];
    hd_claim claim = *hd_rf_file_at(&((hd_baseline *)model)->file, step->warp, hd_rf_index(step, word));
    answer->pieces[answer->count++] = (hd_rf_piece){step->effective, HD_RF_FILE, hd_rf_owner(step, word), claim};
    hd_rf_add(model, HD_COUNTER_OPERANDS, 1);
    hd_rf_add(model, HD_COUNTER_FILE_READS, 1);
}

static void baseline_write(hd_rf_model *model, const hd_rf_step *step, uint32_t destination)
{
    hd_rf_add(model, HD_COUNTER_RESULTS, 1);
    hd_rf_add(model, HD_COUNTER_FILE_WRITES, 1);
    if (hd_rf_loses(model))
        return;
    uint32_t index = hd_rf_index(step, step->destinations[destination].word);
    hd_claim *claim = hd_rf_file_at(&((hd_baseline *)model)->file, step->warp, index);
    *claim = hd_identity_merge(&step->warp->identity, index, *claim, step->serial + destination, step->effective);
}

static void baseline_carry(hd_rf_model *model, hd_rf_warp *warp, hd_rf_carrier *c)
{
    hd_rf_file_carry(&((hd_baseline *)model)->file, warp, c);
}

extern const hd_rf_ops hd_rf_baseline_ops;
HD_RF_WALK(baseline_walk, hd_rf_baseline_ops)
const hd_rf_ops hd_rf_baseline_ops = {
    .create = baseline_create,
    .destroy = baseline_destroy,
    .frame_start = baseline_frame_start,
    .walk = baseline_walk,
    .operand_read = baseline_read,
    .write_back = baseline_write,
    .carry = baseline_carry,
};
