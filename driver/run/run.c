/* Reads the trace of a run, and sums its launches by kernel and shape. */
#include "base/demangle.h"
#include "base/output.h"
#include "driver/run/run_work.h"
#include "emitters/json.h"
#include <stdio.h>
#include <unistd.h>

bool hd_run_prepare(const char *folder, const hd_run_request *q)
{
    hd_arena arena = {0};
    hd_output output;
    bool good = hd_output_open(&output, hd_arena_printf(&arena, "%s/" HD_RUN_OPTIONS_FILE, folder));
    if (good) {
        hd_json json = {.out = &output.writer};
        hd_json_object(&json, NULL);
        hd_json_text(&json, "gpu", q->gpu);
        hd_json_number(&json, "threads", q->threads);
        hd_json_signed(&json, "instruction_limit", (int64_t)q->instruction_limit);
        hd_json_bool(&json, "race", q->check_races);
        hd_json_bool(&json, "uninitialized", q->check_uninitialized);
        hd_json_bool(&json, "record", q->record);
        hd_json_text(&json, "code", q->code);
        hd_json_bool(&json, "no_cache", q->no_cache);
        hd_json_text(&json, "block_order", q->block_order);
        hd_json_text(&json, "kept_in", q->kept_in);
        hd_json_end(&json);
        good = hd_output_finish(&output) && hd_output_publish(&output);
        hd_output_drop(&output);
    }
    hd_arena_free(&arena);
    return good;
}

/* ---- events ------------------------------------------------------------------------------------------------------ */

static uint64_t number_of(const json_t *event, const char *key)
{
    return (uint64_t)json_integer_value(json_object_get(event, key));
}

const char *run_string(const json_t *event, const char *key)
{
    const char *text = json_string_value(json_object_get(event, key));
    return text ? text : "";
}

static void shape_of(const json_t *event, const char *key, uint32_t shape[3])
{
    for (size_t i = 0; i < 3; i++)
        shape[i] = (uint32_t)json_integer_value(json_array_get(json_object_get(event, key), i));
}

static hd_replay_kernel *row_of(hd_run *run, const char *name, const uint32_t grid[3], const uint32_t block[3])
{
    for (uint32_t i = 0; i < run->kernels.count; i++) {
        hd_replay_kernel *k = &run->kernels.items[i];
        if (strcmp(k->name, name) == 0 && memcmp(k->grid, grid, sizeof k->grid) == 0 &&
            memcmp(k->block, block, sizeof k->block) == 0)
            return k;
    }
    name = hd_arena_string(&run->arena, name, strlen(name));
    hd_array_push(&run->kernels, (hd_replay_kernel){.name = name,
                                                    .demangled = run->demangles ? hd_demangle(&run->arena, name) : name,
                                                    .file = run->program,
                                                    .launch = run->kernels.count,
                                                    .grid = {grid[0], grid[1], grid[2]},
                                                    .block = {block[0], block[1], block[2]}});
    return &hd_array_last(&run->kernels);
}

/* The module of a launch; NULL: the trace lacks it. */
static const json_t *module_of(const hd_run *run, const json_t *launch)
{
    size_t i;
    json_t *event;
    json_array_foreach(run->events, i, event)
    {
        if (strcmp(run_string(event, "event"), "module") == 0 && number_of(event, "unit") == number_of(launch, "unit"))
            return event;
    }
    return NULL;
}

static void take_launch(hd_run *run, const json_t *event)
{
    uint32_t grid[3], block[3];
    shape_of(event, "grid", grid);
    shape_of(event, "block", block);
    hd_replay_kernel *k = row_of(run, run_string(event, "kernel"), grid, block);
    int64_t process = json_integer_value(json_object_get(event, "process"));
    run->has_several = run->has_several || (run->launches && run->process != process);
    run->process = process;
    run->has_ended = false;
    const json_t *module = module_of(run, event);
    const char *tool = module ? run_string(module, "tool") : "";
    k->machine_sm = module ? (uint32_t)number_of(module, "sm") : 0;
    k->assembled_by = *tool ? hd_arena_string(&run->arena, tool, strlen(tool)) : NULL;
    k->runs++;
    k->warp_instructions += number_of(event, "warp_instructions");
    k->thread_instructions += number_of(event, "thread_instructions");
    k->divergent_branches += number_of(event, "divergent_branches");
    run->launches++;
}

static bool is_limit(const char *status) { return strcmp(status, "limit") == 0 || strcmp(status, "unsupported") == 0; }

/* The last line of a program that was killed may be cut. */
static void read_trace(hd_run *run, FILE *file)
{
    char *line = NULL;
    size_t room = 0;
    while (getline(&line, &room, file) > 0) {
        json_t *event = json_loads(line, 0, NULL);
        if (!event)
            continue;
        const char *kind = run_string(event, "event");
        if (strcmp(kind, "launch") == 0)
            take_launch(run, event);
        run->limits += strcmp(kind, "limit") == 0 || is_limit(run_string(event, "status"));
        if (strcmp(kind, "end") == 0 && json_integer_value(json_object_get(event, "process")) == run->process)
            run->has_ended = true;
        run->is_static = run->is_static || strcmp(kind, "static") == 0;
        if (strcmp(kind, "module") == 0 && !run->gpu)
            run->gpu = hd_arena_string(&run->arena, run_string(event, "gpu"), strlen(run_string(event, "gpu")));
        json_array_append_new(run->events, event);
    }
    free(line);
}

hd_run *hd_run_read(const char *folder, const char *program, bool demangles, hd_diagnostics *diagnostics)
{
    hd_run *run = hd_calloc(1, sizeof *run);
    run->demangles = demangles;
    run->events = json_array();
    run->folder = hd_arena_string(&run->arena, folder, strlen(folder));
    run->program = hd_arena_string(&run->arena, program, strlen(program));
    run->is_whole = access(hd_arena_printf(&run->arena, "%s/" HD_TRACE_FAILED_FILE, folder), F_OK) != 0;
    if (!run->is_whole)
        hd_report(diagnostics, HD_DIAG_UNREADABLE, NULL, (hd_span){0, 0},
                  "not all that the program ran could be written to '%s': there are no results", folder);
    FILE *file = run->is_whole ? fopen(hd_arena_printf(&run->arena, "%s/" HD_TRACE_FILE, folder), "r") : NULL;
    if (file) {
        read_trace(run, file);
        fclose(file);
    }
    run->report = (hd_replay_report){
        .gpu = run->gpu ? run->gpu : "", .kernels = run->kernels.items, .kernel_count = run->kernels.count};
    return run;
}

const hd_replay_report *hd_run_report(const hd_run *run) { return &run->report; }
bool hd_run_is_whole(const hd_run *run) { return run->is_whole; }
bool hd_run_has_ended(const hd_run *run) { return run->has_ended; }
bool hd_run_is_static(const hd_run *run) { return run->is_static; }
uint64_t hd_run_limits(const hd_run *run) { return run->limits; }
uint64_t hd_run_launches(const hd_run *run) { return run->launches; }

void hd_run_free(hd_run *run)
{
    json_decref(run->events);
    hd_array_free(&run->kernels);
    hd_arena_free(&run->arena);
    free(run);
}
