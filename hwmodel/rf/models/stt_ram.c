/* A register file of STT-RAM in place of SRAM, which the evaluation of HRF compares with (hrf.c, section 6.2): a write
 * takes 4 cycles, for which the whole pipeline waits.
 *
 * The model decides at issue, so nothing issues in the cycles after an instruction that its writes take longer than
 * those of SRAM; the write itself, and what waits for its result, come as much later as the instruction takes. It adds
 * no storage.
 *
 * Options, for experiments: write=CYCLES; pipelined: a write keeps its bank busy, and nothing else.
 *
 * Cost: O(1) an operand.
 */
#include "hwmodel/rf/technique.h"
#include "target/gpu.h"

typedef struct hd_stt_ram {
    hd_rf_model model;
    hd_rf_file file;
    uint64_t free; /* time from which on something may issue */
    uint32_t write_cycles;
    bool pipelined;
} hd_stt_ram;

static hd_rf_model *stt_create(const hd_rf_module *code, const char *options, const char **refusal)
{
    hd_stt_ram *m = hd_calloc(1, sizeof *m);
    (void)code, (void)refusal;
    m->write_cycles = hd_rf_option(options, "write", 4);
    m->pipelined = hd_rf_flag(options, "pipelined");
    return &m->model;
}

static void stt_destroy(hd_rf_model *model)
{
    hd_rf_file_free(&((hd_stt_ram *)model)->file);
    free(model);
}

static void stt_launch(hd_rf_model *model, const hd_rf_launch *launch)
{
    (void)launch;
    ((hd_stt_ram *)model)->free = 0;
}

static void stt_frame_begin(hd_rf_model *model, hd_rf_warp *warp)
{
    hd_rf_file_frame_begin(&((hd_stt_ram *)model)->file, warp);
}

static hd_gate stt_may_issue(hd_rf_model *model, const hd_rf_step *step, uint64_t now)
{
    const hd_stt_ram *m = (const hd_stt_ram *)model;
    (void)step;
    if (m->free <= now)
        return (hd_gate){.ready = true};
    return (hd_gate){.reason = HD_STALL_STT_WRITE, .wake = m->free};
}

static void stt_execute(hd_rf_model *model, const hd_rf_step *step, hd_access_sink *sink)
{
    hd_stt_ram *m = (hd_stt_ram *)model;
    if (!step->effective)
        return;
    for (uint32_t s = 0; s < step->source_count; s++) {
        hd_rf_file_read(&m->file, step, s, sink);
        hd_array_last(&sink->accesses).cause = HD_CAUSE_STT;
    }
    for (uint32_t d = 0; d < step->destination_count; d++) {
        hd_rf_file_write(model, &m->file, step, d, sink);
        hd_array_last(&sink->accesses).cause = HD_CAUSE_STT;
        hd_array_last(&sink->accesses).cycles = (uint16_t)m->write_cycles;
    }
    if (!m->pipelined && m->write_cycles > 1 && step->destination_count)
        m->free = sink->now + 1 + (uint64_t)step->destination_count * (m->write_cycles - 1);
}

const hd_rf_ops hd_rf_stt_ram_ops = {
    .create = stt_create,
    .destroy = stt_destroy,
    .launch = stt_launch,
    .frame_begin = stt_frame_begin,
    .may_issue = stt_may_issue,
    .timed = true,
    .execute = stt_execute,
    .file = HD_ENERGY_STT_RAM,
};
