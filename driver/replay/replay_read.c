/* The first phase of a part: reads its launch file, the module and the original of that, or its trace. Traces of
 * Accel-Sim (hwmodel/trace/accel_sim.h) take the place of launch file, module and interpreter. And the last phase:
 * closes what is open.
 *
 * None of the files that launch files save buffers in is an input, or another output, of the same command. What one
 * launch file reads and writes is compared here, before it runs; with what others do, when the parts are joined.
 */
#include "driver/replay/replay_work.h"
#include "driver/report/tool.h"
#include "ir/annotations.h"
#include "ir/machine.h"
#include "parser/cubin.h"
#include "parser/recognize.h"
#include "passes/check/restore.h"
#include "passes/clean/offsets.h"

#include <errno.h>

/* ---- lists of traces --------------------------------------------------------------------------------------------- */

typedef HD_ARRAY(const char *) path_list;

/* A line of kernelslist.g that begins with `kernel` is the name of a trace in the list's folder; others are operations
 * of the host, as copies to the device, which no register sees. */
static bool expand_list(hd_arena *arena, const hd_given_files *given, const char *path, path_list *all,
                        hd_diagnostics *diagnostics)
{
    hd_source source = {0};
    uint32_t before = all->count;
    if (!hd_given_read(given, path, &source)) {
        hd_report(diagnostics, HD_DIAG_UNREADABLE, NULL, (hd_span){0, 0}, "cannot read %s: %s", path,
                  hd_source_why(errno));
        return false;
    }
    const char *slash = strrchr(path, '/');
    int folder = slash ? (int)(slash - path) + 1 : 0;
    for (const char *line = source.text; *line; line += strcspn(line, "\n"), line += *line == '\n') {
        size_t length = strcspn(line, "\r\n");
        while (length && hd_is_blank(line[length - 1]))
            length--;
        if (strncmp(line, "kernel", strlen("kernel")) == 0)
            hd_array_push(all, hd_arena_printf(arena, "%.*s%.*s", folder, path, (int)length, line));
    }
    hd_source_free(&source);
    if (all->count == before)
        hd_report(diagnostics, HD_DIAG_BAD_TRACE, NULL, (hd_span){0, 0}, "%s names no trace", path);
    return all->count != before;
}

bool hd_replay_expand(hd_arena *arena, const hd_given_files *given, const char *const **paths, uint32_t *count,
                      hd_diagnostics *diagnostics)
{
    path_list all = {0};
    bool good = true;
    for (uint32_t i = 0; i < *count; i++)
        if (hd_traced_is_list((*paths)[i]))
            good = expand_list(arena, given, (*paths)[i], &all, diagnostics) && good;
        else
            hd_array_push(&all, (*paths)[i]);
    *paths = hd_arena_copy(arena, all.items, all.count * sizeof *all.items);
    *count = all.count;
    hd_array_free(&all);
    return good;
}

/* ---- traces ------------------------------------------------------------------------------------------------------ */

/* A launch of the trace's shape, for rows and amounts. */
static hd_launch_file *make_launch(const hd_traced *t, const char *path)
{
    hd_launch_file *file = hd_calloc(1, sizeof *file);
    hd_arena_init(&file->arena);
    file->path = path;
    file->valid = true;
    file->address_bits = 64;
    hd_launch launch = {.kernel = hd_arena_string(&file->arena, t->kernel, strlen(t->kernel)),
                        .shared_bytes = t->shared_bytes};
    memcpy(launch.grid, t->grid, sizeof launch.grid);
    memcpy(launch.block, t->block, sizeof launch.block);
    hd_array_push(&file->launches, launch);
    hd_launch_step *step = HD_ARENA_NEW(&file->arena, hd_launch_step);
    step->kind = HD_DO_LAUNCH;
    step->repetition.most = 1;
    file->steps = step;
    file->step_count = 1;
    return file;
}

static bool read_trace(replay_part *p)
{
    replay_input *in = &p->in;
    const hd_replay_options *options = p->plan->options;
    const char *asks = p->plan->faulty                ? "--lane-fault"
                       : options->check_uninitialized ? "--uninitialized"
                       : options->check_races         ? "--race"
                                                      : NULL;
    if (asks)
        hd_report(&in->said, HD_DIAG_UNSUPPORTED, NULL, (hd_span){0, 0},
                  "%s: a trace has no values, and no memory, for %s", p->path, asks);
    if (asks || !hd_traced_load(p->path, options->given, &in->source, &in->said))
        return false;
    const hd_traced_options traced = {
        .listing = options->listing, .registers = options->parse.registers, .partial = options->partial};
    in->traced = hd_traced_read(&in->source, &traced, &in->said);
    if (!in->traced)
        return false;
    in->launch = make_launch(in->traced, p->path);
    in->module = hd_traced_module(in->traced);
    in->module->given_registers = traced.registers;
    hd_machine_check_given(in->module->functions.items[0]);
    return !in->said.error_count;
}

/* ---- launch files ------------------------------------------------------------------------------------------------ */

/* A block gets at most as much shared memory as it may have, and as an SM has. */
static uint32_t most_shared_bytes(const hd_gpu_limits *limits)
{
    uint32_t reserved = limits->shared_reserved_bytes_per_cta, unit = limits->shared_unit_bytes;
    uint32_t of_sm = limits->shared_bytes_per_sm / unit * unit;
    of_sm = of_sm > reserved ? of_sm - reserved : 0;
    return hd_min(limits->shared_bytes_per_cta, of_sm);
}

/* Whether no file that it writes is an input or another output. false: reported. */
static bool saves_fit(replay_part *p)
{
    const hd_replay_options *options = p->plan->options;
    hd_file_list all = {0}, own = {0};
    hd_file_clash clash;
    char why[512];
    hd_launch_list_files(p->in.launch, options->saves != NULL, &own);
    for (uint32_t i = 0; options->files && i < options->files->count; i++)
        hd_array_push(&all, options->files->items[i]);
    for (uint32_t i = 0; i < own.count; i++)
        hd_array_push(&all, own.items[i]);
    bool clashes = hd_file_list_clash(&all, &clash);
    if (clashes) {
        const hd_yaml_node *node = clash.output->owner;
        hd_file_clash_text(&clash, why, sizeof why);
        if (node)
            hd_yaml_report(&p->diagnostics, node, HD_DIAG_BAD_VALUE, "%s", why);
        else
            hd_report(&p->diagnostics, HD_DIAG_BAD_VALUE, NULL, (hd_span){0, 0}, "%s: %s", p->path, why);
    }
    for (uint32_t i = 0; i < own.count; i++) {
        hd_listed_file file = own.items[i]; /* beyond the life of the launch file */
        file.path = hd_arena_string(&p->arena, file.path, strlen(file.path));
        file.name = hd_arena_string(&p->arena, file.name, strlen(file.name));
        file.owner = NULL;
        hd_array_push(&p->out.listed, file);
    }
    hd_array_free(&all);
    hd_array_free(&own);
    return !clashes;
}

/* Beyond the life of the launch file. */
static void say_orders(replay_part *p, const hd_launch_file *launch)
{
    const char *block = launch->block_order, *buffer = launch->buffer_order;
    p->out.said = (replay_said){.known = true,
                                .seed = launch->seed,
                                .block_order = block ? hd_arena_string(&p->arena, block, strlen(block)) : NULL,
                                .buffer_order = buffer ? hd_arena_string(&p->arena, buffer, strlen(buffer)) : NULL};
}

static bool read_launch(replay_part *p)
{
    const hd_replay_options *options = p->plan->options;
    const hd_gpu *gpu = p->plan->gpu;
    hd_launch_file *launch = p->in.launch =
        hd_launch_read_given(p->path, options->given, options->seed, &p->diagnostics);
    if (options->memory_base)
        launch->memory_base = options->memory_base;
    if (!launch->address_bits)
        launch->address_bits = gpu->address_bits;
    /* not where only accesses are counted, on a GPU that nobody named */
    launch->gpu = options->gpu || options->time || options->setting_count ? gpu->name : NULL;
    launch->gpu_shared_bytes = most_shared_bytes(&gpu->limits);
    if (options->block_order)
        launch->block_order = options->block_order;
    if (options->buffer_order)
        launch->buffer_order = options->buffer_order;
    if (launch->valid)
        say_orders(p, launch);
    return launch->valid && saves_fit(p);
}

static bool has_annotations(const hd_module *module)
{
    for (uint32_t i = 0; i < module->functions.count; i++)
        if (module->functions.items[i]->annotations.count || module->functions.items[i]->foreign_annotations.count)
            return true;
    return false;
}

/* The original of an annotated module: the code without annotations, with moved loads at their first positions. */
static void open_original(replay_input *in)
{
    bool moved = false;
    in->original = hd_module_copy(in->module, &in->said);
    for (uint32_t i = 0; i < in->original->functions.count; i++) {
        hd_function *function = in->original->functions.items[i];
        moved = (function->has_body && hd_restore_operand_loads(function)) || moved;
        hd_annotations_remove(function, "*");
    }
    if (moved)
        return;
    hd_module_free(in->original);
    in->original = NULL;
    in->is_original = true;
}

/* Of the source as it is now. */
static bool parse_module(replay_part *p)
{
    replay_input *in = &p->in;
    hd_parse_options parse = p->plan->options->parse;
    bool is_binary = hd_binary_of(&in->source) != HD_BINARY_NONE;
    if (!hd_disassemble(&in->source, HD_LISTING_HEX, &in->said))
        return false;
    if (is_binary)
        replay_keep_architecture(p->plan->gpu, &in->source);
    parse.takes_listings = true;
    parse.low_memory = in->launch->address_bits == 32;
    in->module = hd_parse_ptx(&in->source, &parse, &in->said);
    return !in->said.error_count && hd_launch_find_kernels(in->launch, in->module, &in->said);
}

/* Replaces PTX by machine code for the GPU. */
static bool assemble(replay_part *p)
{
    replay_input *in = &p->in;
    hd_assembled made;
    hd_store cache;
    uint32_t target = hd_assemble_target(in->source.text, in->source.length);
    bool good = hd_store_open(&cache, &p->arena, &in->said);
    if (p->plan->options->no_cache)
        cache.folder = NULL;
    good = good && hd_assemble(&in->source, hd_assemble_architecture(p->plan->gpu, target), &cache, &made, &in->said);
    in->tool = good ? hd_arena_string(&p->arena, made.tool, strlen(made.tool)) : NULL;
    return good;
}

/* A module as machine code that is executed. false: it is PTX as before, and a warning says why. */
static bool try_machine_code(replay_part *p)
{
    replay_input *in = &p->in;
    hd_source ptx = in->source;
    hd_source_from_memory(&in->source, ptx.name, ptx.text, ptx.length);
    if (assemble(p) && parse_module(p) && hd_launch_is_executed(in->launch, in->module, &in->said)) {
        hd_source_free(&ptx);
        return true;
    }
    const char *why = in->said.first ? in->said.first->message : "";
    why = hd_arena_string(&p->arena, why, strlen(why));
    hd_diagnostics_free(&in->said);
    hd_diagnostics_init_part(&in->said, &p->diagnostics);
    hd_module_free(in->module);
    hd_source_free(&in->source);
    in->source = ptx;
    in->module = NULL;
    in->tool = NULL;
    hd_report(&in->said, HD_DIAG_RUNS_PTX, NULL, (hd_span){0, 0}, "'%s' runs as PTX: %s", ptx.name, why);
    return false;
}

/* The code that was asked for. */
static bool choose_code(replay_part *p)
{
    replay_input *in = &p->in;
    hd_launch_code code = p->plan->code ? p->plan->code : in->launch->code;
    if (hd_binary_of(&in->source) != HD_BINARY_NONE || hd_is_sass(&in->source)) {
        in->tool = hd_cubin_tool(&in->source, &p->arena);
        return parse_module(p);
    }
    if (code == HD_CODE_MACHINE)
        return assemble(p) && parse_module(p);
    return (code == HD_CODE_AUTO && p->plan->prefers_machine && try_machine_code(p)) || parse_module(p);
}

static bool read_module(replay_part *p)
{
    replay_input *in = &p->in;
    const hd_replay_options *options = p->plan->options;
    for (uint32_t i = 0; i < in->launch->module_count; i++)
        replay_await_turn(p, in->launch->module_paths[i]);
    if (!hd_launch_read_module(in->launch, &in->source, &in->linked, &in->said) || !choose_code(p))
        return false;
    bool annotated = has_annotations(in->module);
    if (!annotated && !in->module->is_machine) /* annotations hold for the instructions as they are */
        hd_module_lower_offsets(in->module);
    in->allocates = !annotated && !in->module->is_machine && !options->keep_virtual && p->plan->model_count;
    if (in->allocates && !options->no_compare)
        in->original = hd_module_copy(in->module, &in->said);
    else if (annotated && !options->no_compare)
        open_original(in);
    return true;
}

hd_status replay_read(replay_part *p)
{
    replay_input *in = &p->in;
    bool is_trace = hd_traced_is_name(p->path);
    replay_await_turn(p, p->path);
    if (!is_trace && !read_launch(p))
        return HD_STATUS_REJECTED;
    hd_diagnostics_init_part(&in->said, &p->diagnostics);
    bool good = is_trace ? read_trace(p) : read_module(p);
    if (!is_trace) /* --strict may have raised severities */
        memcpy(p->diagnostics.severity, in->said.severity, sizeof p->diagnostics.severity);
    hd_status status = good ? HD_STATUS_DONE : hd_status_of(&in->said); /* before it is joined */
    hd_diagnostics_join(&p->diagnostics, &in->said);
    return good || status != HD_STATUS_DONE ? status : HD_STATUS_REJECTED;
}

/* ---- closing ----------------------------------------------------------------------------------------------------- */

void replay_close(replay_part *p)
{
    replay_input *in = &p->in;
    for (uint32_t i = p->run_count; i-- > 0;) {
        replay_run *run = &p->runs[i];
        hd_timer_free(run->code.timer);
        for (uint32_t m = 0; run->code.views && m < p->plan->model_count; m++) {
            hd_timeline_free(run->code.views[m].timeline);
            hd_profile_free(run->code.views[m].profile);
            replay_events_free(run->code.views[m].events);
        }
        hd_count_free(run->code.count);
        hd_rf_module_free(run->code.rf);
        hd_diagnostics_free(&run->own);
        hd_arena_free(&run->arena);
        if (run->kind == REPLAY_COPY)
            hd_module_free(run->code.module);
    }
    hd_module_free(in->original);
    if (in->module)
        in->module->source = NULL; /* the text stays, because diagnostics refer to it */
    hd_module_free(in->module);
    hd_traced_free(in->traced);
    if (in->launch) {
        in->yaml = in->launch->yaml;
        in->launch->yaml = NULL;
        hd_launch_free(in->launch);
    }
    if (!p->diagnostics.first)
        replay_drop_texts(p);
}

void replay_drop_texts(replay_part *p)
{
    hd_source_free(&p->in.source);
    hd_link_free(&p->in.linked);
    hd_yaml_free(p->in.yaml);
    p->in.yaml = NULL;
    hd_diagnostics_free(&p->in.said);
    hd_diagnostics_free(&p->diagnostics);
}
