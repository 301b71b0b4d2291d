/* BOW beside CORF: a bypass window in front of a packed register file.
 *
 * The window writes through. Operands that it holds are read from it; of the others those that lie in one entry, or in
 * different sides, are one access of the file, and fill the window. Results go to both. No paper describes the two
 * together; each does here what it does alone (bow.c, corf.c), and sees less: CORF coalesces among the operands that
 * the window leaves. BOW-WR is not beside CORF: a register's width is measured when its value leaves the execution
 * units, and a packed file has to place it then.
 *
 * Proof: the window's copies have the claims of the packed file that they were filled from, in all lanes, or those of
 * results; operands are proved where they are read, in the window or in the file.
 *
 * An operand without an access of its own comes with one of an earlier operand; its fill waits for the last read
 * before it, which may be a later one. Leakage of both structures is that of BOW's collectors.
 *
 * Cost: that of both.
 */
#include "hwmodel/rf/models/bow_corf.h"

typedef struct bow_corf {
    hd_rf_model model;
    hd_rf_model *window, *file;
    hd_access_sink from_window, from_file;
    hd_u32_array missing, words; /* sources of the step that the window does not hold, and their words */
} bow_corf;

extern const hd_rf_ops hd_rf_bow_ops, hd_rf_corf_ops;
static const hd_rf_model_info window_info = {.name = "window", .ops = &hd_rf_bow_ops},
                              file_info = {.name = "file", .ops = &hd_rf_corf_ops};

static void chain_destroy(hd_rf_model *model)
{
    bow_corf *m = (bow_corf *)model;
    hd_rf_model_free(m->window);
    hd_rf_model_free(m->file);
    hd_access_sink_free(&m->from_window);
    hd_access_sink_free(&m->from_file);
    hd_array_free(&m->missing);
    hd_array_free(&m->words);
    free(m);
}

/* Both read the same options, of which each knows its own. */
static hd_rf_model *make(const hd_rf_model_info *info, const hd_rf_module *code, const char *options,
                         const char **refusal)
{
    hd_rf_model *model = info->ops->create(code, options, refusal);
    if (model)
        model->info = info;
    return model;
}

static hd_rf_model *chain_create(const hd_rf_module *code, const char *options, const char **refusal)
{
    bow_corf *m = hd_calloc(1, sizeof *m);
    m->window = make(&window_info, code, options, refusal);
    m->file = m->window ? make(&file_info, code, options, refusal) : NULL;
    if (m->file)
        return &m->model;
    chain_destroy(&m->model);
    return NULL;
}

static void chain_launch(hd_rf_model *model, const hd_rf_launch *launch)
{
    bow_corf *m = (bow_corf *)model;
    hd_rf_bow_ops.launch(m->window, launch);
    hd_rf_corf_ops.launch(m->file, launch);
    model->storage_bits = m->window->storage_bits + m->file->storage_bits;
}

/* ---- instructions ------------------------------------------------------------------------------------------------ */

static void run(bow_corf *m, hd_rf_model *part, const hd_rf_step *step, hd_access_sink *to, hd_access_sink *sink)
{
    hd_access_sink_begin(to, step->source_count);
    to->now = sink->now;
    part->fault = m->model.fault;
    part->info->ops->execute(part, step, to);
    m->model.fault = part->fault;
    if (!sink->failure.wrong)
        sink->failure = to->failure;
}

static bool is_read(const hd_rf_access *a, hd_structure structure, uint32_t source)
{
    return a->structure == structure && a->kind == HD_RF_READ && a->operand == hd_access_source(source);
}

/* Lanes that the window reads from the structure for the source. */
static uint32_t lanes_from(const bow_corf *m, hd_structure structure, uint32_t source)
{
    for (uint32_t a = 0; a < m->from_window.accesses.count; a++)
        if (is_read(&m->from_window.accesses.items[a], structure, source))
            return m->from_window.accesses.items[a].lanes;
    return 0;
}

/* The step as the file sees it: with the sources that it has to read. */
static hd_rf_step step_of_file(bow_corf *m, const hd_rf_step *step)
{
    hd_rf_step rest = *step;
    hd_array_clear(&m->missing);
    hd_array_clear(&m->words);
    for (uint32_t s = 0; s < step->source_count; s++)
        if (lanes_from(m, HD_STRUCTURE_FILE, s)) {
            hd_array_push(&m->missing, s);
            hd_array_push(&m->words, step->sources[s]);
        }
    rest.sources = m->words.items;
    rest.source_count = m->words.count;
    return rest;
}

/* 1 + the index of the last read of the file, whose accesses come first, for the missing sources up to this one. */
static uint16_t read_for(const bow_corf *m, uint32_t source)
{
    uint16_t found = 0;
    for (uint32_t a = 0; a < m->from_file.accesses.count; a++)
        for (uint32_t k = 0; k < m->missing.count && m->missing.items[k] <= source; k++)
            if (is_read(&m->from_file.accesses.items[a], HD_STRUCTURE_FILE, k))
                found = (uint16_t)(a + 1);
    return found;
}

static void emit_of_file(const bow_corf *m, hd_access_sink *sink)
{
    for (uint32_t a = 0; a < m->from_file.accesses.count; a++) {
        hd_rf_access access = m->from_file.accesses.items[a];
        if (access.operand && !(access.operand & HD_ACCESS_RESULT))
            access.operand = hd_access_source(m->missing.items[access.operand - 1]);
        hd_emit(sink, access);
    }
}

/* All but what the file does itself. */
static void emit_of_window(const bow_corf *m, hd_access_sink *sink)
{
    for (uint32_t a = 0; a < m->from_window.accesses.count; a++) {
        hd_rf_access access = m->from_window.accesses.items[a];
        if (access.structure == HD_STRUCTURE_FILE)
            continue;
        if (access.after) /* a fill, after its read */
            access.after = read_for(m, m->from_window.accesses.items[access.after - 1].operand - 1u);
        hd_emit(sink, access);
    }
}

static void chain_execute(hd_rf_model *model, const hd_rf_step *step, hd_access_sink *sink)
{
    bow_corf *m = (bow_corf *)model;
    for (uint32_t s = 0; s < step->source_count; s++)
        *hd_bow_home(m->window, step, step->sources[s]) = hd_corf_home(m->file, step, step->sources[s]);
    run(m, m->window, step, &m->from_window, sink);
    const hd_rf_step rest = step_of_file(m, step);
    run(m, m->file, &rest, &m->from_file, sink);
    for (uint32_t s = 0; s < step->source_count; s++)
        sink->delivered.items[s] = lanes_from(m, HD_STRUCTURE_WINDOW, s);
    for (uint32_t k = 0; k < m->missing.count; k++)
        sink->delivered.items[m->missing.items[k]] |= m->from_file.delivered.items[k];
    emit_of_file(m, sink);
    emit_of_window(m, sink);
}

/* ---- warps and frames -------------------------------------------------------------------------------------------- */

static void chain_warp_begin(hd_rf_model *model, hd_rf_warp *warp)
{
    hd_rf_bow_ops.warp_begin(((bow_corf *)model)->window, warp);
    hd_rf_corf_ops.warp_begin(((bow_corf *)model)->file, warp);
}

static void chain_frame_begin(hd_rf_model *model, hd_rf_warp *warp)
{
    hd_rf_bow_ops.frame_begin(((bow_corf *)model)->window, warp);
    hd_rf_corf_ops.frame_begin(((bow_corf *)model)->file, warp);
}

static void chain_frame_end(hd_rf_model *model, hd_rf_warp *warp)
{
    hd_rf_bow_ops.frame_end(((bow_corf *)model)->window, warp);
    hd_rf_corf_ops.frame_end(((bow_corf *)model)->file, warp);
}

static uint64_t chain_powered(const hd_rf_model *model)
{
    return hd_rf_corf_ops.powered(((const bow_corf *)model)->file);
}

/* Widths that the file counts are not those of all operands. */
static void take_counters(bow_corf *m, hd_rf_model *part)
{
    for (uint32_t c = HD_COUNTER_WIDTH_1; c <= HD_COUNTER_WIDTH_4; c++)
        part->counters[c] = 0;
    hd_counters_join(m->model.counters, part->counters);
    memset(part->counters, 0, sizeof part->counters);
}

static void chain_finalize(hd_rf_model *model)
{
    bow_corf *m = (bow_corf *)model;
    take_counters(m, m->window);
    take_counters(m, m->file);
    hd_rf_record_rest(m->file);
    hd_rf_series_join(&model->allocation, &m->file->allocation);
    memset(&m->file->allocation, 0, sizeof m->file->allocation);
}

const hd_rf_ops hd_rf_bow_corf_ops = {
    .create = chain_create,
    .destroy = chain_destroy,
    .launch = chain_launch,
    .warp_begin = chain_warp_begin,
    .frame_begin = chain_frame_begin,
    .frame_end = chain_frame_end,
    .execute = chain_execute,
    .powered = chain_powered,
    .finalize = chain_finalize,
    .storage = HD_ENERGY_BYPASS_COLLECTOR,
    .columns = HD_COLUMN_WIDTHS,
};
