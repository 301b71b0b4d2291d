/* See check.h. The tests are replays of launch files in a temporary folder, as a user could make them, of the model
 * itself or of a watched row of it (watch.h). */
#include "driver/plugin/check.h"
#include "driver/plugin/watch.h"
#include "driver/replay/replay.h"
#include "driver/rewrite.h"
#include "base/temporary.h"

#include <errno.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/stat.h>
#include <unistd.h>

enum {
    THREADS = 64,
    BLOCKS = 2,
    MOST_FAULTS = 64,
    MOST_TAMPERED = 48, /* of a kernel and a technique */
    WHY = 600
};

typedef struct checking {
    const hd_plugin *plugin;
    const hd_rf_model_info *model; /* under test */
    hd_model_watch *watch;         /* of it */
    hd_writer *out;
    hd_arena arena;
    const char *folder;
    char why[WHY]; /* a replay failed */
    bool failed;
} checking;

static void say(checking *c, const char *test, const char *why)
{
    hd_write_format(c->out, "%-6s  %s: %s%s%s\n", why ? "failed" : "ok", c->model->name, test, why ? ": " : "",
                    why ? why : "");
    c->failed = c->failed || why;
}

static void skip(checking *c, const char *test, const char *why)
{
    hd_write_format(c->out, "%-6s  %s: %s: %s\n", "none", c->model->name, test, why);
}

/* ---- replays ----------------------------------------------------------------------------------------------------- */

static bool write_file(const char *path, const char *text, size_t length)
{
    FILE *file = fopen(path, "w");
    bool good = file && fwrite(text, 1, length, file) == length;
    return (!file || fclose(file) == 0) && good;
}

/* The launch file of a module in the folder. */
static const char *launch_of(checking *c, const char *name, const char *text, size_t length)
{
    const char *module = hd_arena_printf(&c->arena, "%s/%s", c->folder, name),
               *launch = hd_arena_printf(&c->arena, "%s.yaml", module),
               *yaml =
                   hd_arena_printf(&c->arena,
                                   "module: %s\nbuffers:\n  in: {type: u32, count: %d, fill: {uniform: [0, 255], seed: "
                                   "5}}\n  out: {type: u32, count: %d, fill: zero}\nlaunches:\n  - kernel: k\n    "
                                   "grid: %d\n    block: %d\n    params: [in, out]\n",
                                   name, THREADS * BLOCKS, THREADS * BLOCKS, BLOCKS, THREADS);
    bool written = write_file(module, text, length) && write_file(launch, yaml, strlen(yaml));
    return written ? launch : NULL;
}

typedef struct replayed {
    hd_status status;
    bool applied;
    uint64_t counters[HD_COUNTER_COUNT];
} replayed;

/* Why it failed is in c->why. */
static replayed replay(checking *c, const char *launch, const char *model, bool time, bool no_memo)
{
    hd_replay_options options = {.techniques = model,
                                 .time = time,
                                 .sms = time,
                                 .no_memo = no_memo,
                                 .all_models = true,
                                 .threads = 1,
                                 .instruction_limit = 1000000};
    replayed result = {.status = HD_STATUS_REJECTED};
    hd_diagnostics quiet;
    hd_diagnostics_init(&quiet);
    hd_replay *r = hd_replay_new(&options, &quiet);
    if (hd_replay_status(r) == HD_STATUS_DONE)
        hd_replay_files(r, &launch, 1);
    result.status = hd_replay_status(r);
    const hd_replay_report *report = hd_replay_report_of(r);
    for (uint32_t k = 0; k < report->kernel_count; k++)
        for (uint32_t m = 0; m < report->kernels[k].result_count; m++) {
            const hd_replay_result *one = &report->kernels[k].results[m];
            if (strcmp(one->model, model) != 0 || one->not_applied)
                continue;
            result.applied = true;
            memcpy(result.counters, one->counters, report->counter_count * sizeof *one->counters);
        }
    const hd_diagnostic *d = quiet.first;
    while (d && d->severity != HD_ERROR)
        d = d->next;
    const char *name = strrchr(launch, '/');
    int length =
        snprintf(c->why, sizeof c->why, "%s: %s", name ? name + 1 : launch, d ? d->message : "no verified result");
    /* the notes of a failed proof say the lanes and the rule */
    const hd_note *note = d ? d->notes : NULL;
    for (uint32_t n = 0; n < 2 && note && (size_t)length < sizeof c->why; n++, note = note->next)
        length += snprintf(c->why + length, sizeof c->why - (size_t)length, "; %s", note->message);
    hd_replay_free(r);
    hd_diagnostics_free(&quiet);
    return result;
}

/* ---- proof ------------------------------------------------------------------------------------------------------- */

/* The counter in which two results differ; NULL: none. */
static const char *differing(const replayed *a, const replayed *b)
{
    for (uint32_t i = 0; i < hd_counter_count; i++)
        if (a->counters[i] != b->counters[i])
            return hd_counters[i].key;
    return NULL;
}

/* NULL: it is proved. */
static const char *prove(checking *c, const char *launch, uint32_t *applied)
{
    replayed quick = replay(c, launch, c->model->name, false, false);
    if (quick.status != HD_STATUS_DONE)
        return c->why;
    replayed slow = replay(c, launch, c->model->name, false, true);
    const char *counter = differing(&quick, &slow);
    if (slow.status != HD_STATUS_DONE)
        return c->why;
    if (counter)
        return hd_arena_printf(&c->arena,
                               "%s: '%s' is another number where effects are looked up: its snapshot leaves "
                               "something out",
                               launch, counter);
    *applied += quick.applied;
    return replay(c, launch, c->model->name, true, false).status == HD_STATUS_DONE ? NULL : c->why;
}

static void check_proof(checking *c, const char *const *launches)
{
    const char *why = NULL;
    uint32_t applied = 0;
    for (uint32_t k = 0; k < hd_plugin_kernel_count && !why; k++)
        why = prove(c, launches[k], &applied);
    say(c, "proof", why ? why : applied ? NULL : "the model takes part in no kernel");
}

/* ---- both clocks, moved lanes, faults ---------------------------------------------------------------------------- */

static bool same_access(const hd_rf_access *a, const hd_rf_access *b)
{
    return a->structure == b->structure && a->kind == b->kind && a->cause == b->cause && a->operand == b->operand &&
           a->after == b->after && a->lanes == b->lanes;
}

/* The next step of the warp from *at on; NULL: none. */
static const hd_model_watch_step *next_step(const hd_model_watch_run *run, uint32_t warp, uint32_t *at)
{
    while (*at < run->steps.count)
        if (run->steps.items[(*at)++].warp == warp)
            return &run->steps.items[*at - 1];
    return NULL;
}

/* What one run has of a warp, and the other one has otherwise; NULL: nothing. */
static const char *compare_warp(checking *c, const hd_model_watch_run *one, const hd_model_watch_run *other,
                                uint32_t warp)
{
    uint32_t i = 0, k = 0;
    for (;;) {
        const hd_model_watch_step *x = next_step(one, warp, &i), *y = next_step(other, warp, &k);
        if (!y)
            return NULL; /* the warp ran on another SM */
        bool same = x && x->function == y->function && x->instruction == y->instruction && x->count == y->count;
        for (uint32_t a = 0; same && a < x->count; a++)
            same = same_access(&one->accesses.items[x->first + a], &other->accesses.items[y->first + a]);
        if (!same)
            return hd_arena_printf(&c->arena,
                                   "warp %" PRIu32 " makes other accesses at instruction %" PRIu32 " in cycles than in "
                                   "program order",
                                   warp, y->instruction);
    }
}

static const char *compare_clocks(checking *c, const char *launch)
{
    hd_model_watch_clear(c->watch);
    if (replay(c, launch, hd_model_watch_name(c->watch), true, true).status != HD_STATUS_DONE)
        return c->why;
    const char *why = NULL;
    uint32_t warps = THREADS / 32 * BLOCKS, runs = hd_model_watch_runs(c->watch), looked_at = 0, first = 0;
    while (first < runs && !hd_model_watch_run_at(c->watch, first)->steps.count)
        first++;
    for (uint32_t r = first + 1; r < runs; r++) {
        looked_at += hd_model_watch_run_at(c->watch, r)->steps.count != 0;
        for (uint32_t w = 0; w < warps && !why; w++)
            why = compare_warp(c, hd_model_watch_run_at(c->watch, first), hd_model_watch_run_at(c->watch, r), w);
    }
    return why ? why : first == runs || looked_at ? NULL : "there is no run in cycles";
}

static void check_clocks(checking *c, const char *const *launches)
{
    const char *why = NULL;
    if (c->model->ops->coupled) {
        skip(c, "both clocks", "warps share storage, so that accesses depend on their order; proved in both");
        return;
    }
    for (uint32_t k = 0; k < hd_plugin_kernel_count && !why; k++)
        why = compare_clocks(c, launches[k]);
    say(c, "both clocks", why);
}

static const char *describe_unmoved(checking *c, const char *launch, const hd_model_watch_unmoved *u)
{
    const char *name = strrchr(launch, '/');
    return hd_arena_printf(
        &c->arena,
        "%s: instruction %" PRIu32 " of warp %" PRIu32 ": %s delivers lane %d of word %" PRIu32 " (lanes 0x%08x), %s",
        name + 1, u->instruction, u->warp, hd_structure_names[u->structure], __builtin_ctz(u->lanes), u->word, u->lanes,
        u->idle ? "which does not execute the instruction" : "which no access moved there since it was written last");
}

static void check_moved(checking *c, const char *const *launches)
{
    const char *why = NULL;
    bool untold = false;
    for (uint32_t k = 0; k < hd_plugin_kernel_count && !why; k++) {
        hd_model_watch_clear(c->watch);
        replayed r = replay(c, launches[k], hd_model_watch_name(c->watch), false, true);
        why = r.status == HD_STATUS_DONE ? NULL : c->why;
        for (uint32_t i = 0; i < hd_model_watch_runs(c->watch) && !why; i++) {
            const hd_model_watch_run *run = hd_model_watch_run_at(c->watch, i);
            why = run->unmoved.lanes ? describe_unmoved(c, launches[k], &run->unmoved) : NULL;
            for (uint32_t s = 0; s < HD_STRUCTURE_COUNT; s++)
                untold = untold || run->untold[s];
        }
    }
    if (!why && untold)
        skip(c, "moved lanes", "a FILL names neither a source nor a read that it follows");
    else
        say(c, "moved lanes", why);
}

static void check_faults(checking *c, const char *const *launches)
{
    uint32_t noticed = 0, planted = 0;
    if (!c->plugin->planted) {
        say(c, "faults", "it was compiled without -DHD_PLANTED_FAULTS=1 (heddle new flags)");
        return;
    }
    for (uint32_t k = 0; k < hd_plugin_kernel_count; k++)
        for (uint32_t fault = 1; fault <= MOST_FAULTS / hd_plugin_kernel_count; fault++) {
            hd_model_watch_clear(c->watch);
            hd_model_watch_fault(c->watch, fault);
            noticed += replay(c, launches[k], hd_model_watch_name(c->watch), false, true).status == HD_STATUS_WRONG;
            planted++;
        }
    hd_model_watch_fault(c->watch, 0);
    say(c, "faults",
        noticed ? NULL
                : hd_arena_printf(&c->arena,
                                  "none of %" PRIu32 " lost moves of data is noticed: does it ask "
                                  "hd_rf_loses before each move?",
                                  planted));
}

/* ---- annotations ------------------------------------------------------------------------------------------------- */

/* The kernel after the passes of the model, with annotations as comments. */
static hd_module *annotate(checking *c, const hd_plugin_kernel *kernel, hd_source *source, hd_diagnostics *quiet)
{
    hd_writer unseen;
    hd_rewrite_options options = {0};
    hd_pipeline *passes = hd_pipeline_parse(hd_arena_printf(&c->arena, "select,regalloc,%s", c->model->pass), quiet);
    if (!passes)
        return NULL;
    hd_source_from_memory(source, kernel->name, kernel->text, kernel->length);
    hd_writer_to_memory(&unseen);
    options.passes = passes;
    options.pipeline.threads = 1;
    hd_module *module = hd_rewrite(source, &options, &unseen, quiet);
    hd_writer_free(&unseen);
    hd_pipeline_free(passes);
    return module;
}

static bool is_own(const checking *c, const hd_annotation *a)
{
    const hd_annotation_info *info = hd_annotation_find(a->kind);
    for (uint32_t i = 0; info && i < c->plugin->annotation_count; i++)
        if (c->plugin->annotations[i].number == info->number)
            return true;
    return false;
}

/* Changes of one annotation: 0 and 1 move it, 2 changes its value, 3 removes it. false: that changes nothing. */
static bool change(hd_function *f, uint32_t at, uint32_t how)
{
    hd_annotation *a = &f->annotations.items[at];
    const hd_annotation_info *info = hd_annotation_find(a->kind);
    bool moves = a->instruction != HD_NONE && how < 2;
    if (how == 3) {
        memmove(a, a + 1, (f->annotations.count - at - 1) * sizeof *a);
        f->annotations.count--;
        return true;
    }
    if (how == 2 && info->value != HD_VALUE_FLAG) {
        uint32_t *value =
            hd_annotation_is_list(info) ? a->count ? &f->annotation_words.items[a->value] : NULL : &a->value;
        uint32_t limit = info->value == HD_VALUE_CHOICE ? hd_annotation_word_count(info) : UINT32_MAX;
        if (value)
            *value = (*value ^ 1) < limit ? *value ^ 1 : 0;
        return value;
    }
    if (!moves || (how ? a->instruction == 0 : a->instruction + 1 >= f->instructions.count))
        return false;
    a->instruction += how ? -1u : 1u;
    hd_annotations_sort(f);
    return true;
}

/* An annotation of the first kind that is a flag of instructions, where there is none. */
static bool add_flag(const checking *c, hd_function *f, uint32_t instruction)
{
    for (uint32_t i = 0; i < c->plugin->annotation_count; i++) {
        const hd_annotation_info *info = &c->plugin->annotations[i];
        if (info->anchor != HD_ANCHOR_INSTRUCTION || info->value != HD_VALUE_FLAG ||
            hd_annotation_at(f, info->number, instruction, 0))
            continue;
        hd_annotate(f, (hd_annotation){.kind = info->number, .instruction = instruction});
        hd_annotations_sort(f);
        return true;
    }
    return false;
}

static bool is_accepted(const checking *c, hd_module *module)
{
    hd_diagnostics quiet;
    bool good = true;
    uint64_t count = 0;
    hd_diagnostics_init(&quiet);
    for (uint32_t i = 0; i < module->functions.count; i++)
        for (uint32_t k = 0; k < c->plugin->checker_count && module->functions.items[i]->has_body; k++)
            good = c->plugin->checkers[k].run(module->functions.items[i], &quiet, &count) && good;
    hd_diagnostics_free(&quiet);
    return good;
}

typedef struct tampering {
    uint32_t annotations, tried, refused;
    const char *why; /* something accepted is wrong */
} tampering;

/* The n-th change of the module: of an annotation, then an added one. false: there are no more. */
static bool tamper(const checking *c, hd_module *module, uint32_t n, bool *changed)
{
    enum { WAYS = 4 };
    for (uint32_t i = 0; i < module->functions.count; i++) {
        hd_function *f = module->functions.items[i];
        for (uint32_t a = 0; a < f->annotations.count; a++) {
            if (!is_own(c, &f->annotations.items[a]))
                continue;
            if (n < WAYS)
                return *changed = change(f, a, n), true;
            n -= WAYS;
        }
        if (n < f->instructions.count)
            return *changed = add_flag(c, f, n), true;
        n -= f->instructions.count;
    }
    return false;
}

static bool try_one(checking *c, const hd_plugin_kernel *kernel, uint32_t n, tampering *t)
{
    hd_source source;
    hd_diagnostics quiet;
    bool changed = false;
    hd_diagnostics_init(&quiet);
    hd_module *module = annotate(c, kernel, &source, &quiet);
    if (!module || quiet.error_count)
        t->why = hd_arena_printf(&c->arena, "%s: the pass fails: %s", kernel->name,
                                 quiet.first ? quiet.first->message : "no module");
    for (uint32_t i = 0; module && !n && i < module->functions.count; i++)
        for (uint32_t a = 0; a < module->functions.items[i]->annotations.count; a++)
            t->annotations += is_own(c, &module->functions.items[i]->annotations.items[a]);
    if (module && !t->why && !n && !is_accepted(c, module))
        t->why = hd_arena_printf(&c->arena, "%s: the checker refutes what the pass made", kernel->name);
    bool more = !t->why && tamper(c, module, n, &changed);
    if (more && changed) {
        t->tried++;
        if (!is_accepted(c, module)) {
            t->refused++;
        } else {
            hd_writer text;
            hd_writer_to_memory(&text);
            hd_emit_ptx(&text, module, &(hd_emit_options){.no_section = true});
            const char *launch = launch_of(c, "tampered.ptx", text.buffer.items, text.buffer.count);
            if (!launch || replay(c, launch, c->model->name, false, true).status != HD_STATUS_DONE)
                t->why = hd_arena_printf(&c->arena, "%s, change %" PRIu32 ": the checker accepts it, and then %s",
                                         kernel->name, n, c->why);
            hd_writer_free(&text);
        }
    }
    hd_module_free(module);
    hd_diagnostics_free(&quiet);
    return more;
}

static void check_annotations(checking *c)
{
    tampering t = {0};
    if (!*c->model->pass || !c->plugin->annotation_count)
        return;
    for (uint32_t k = 0; k < hd_plugin_kernel_count && !t.why; k++)
        for (uint32_t n = 0; n < MOST_TAMPERED && !t.why; n++)
            if (!try_one(c, &hd_plugin_kernels[k], n, &t))
                break;
    if (!t.why && !t.annotations)
        t.why = "the pass annotates nothing in any kernel";
    else if (!t.why && !t.refused)
        t.why = hd_arena_printf(&c->arena, "the checker accepts all of %" PRIu32 " changes", t.tried);
    say(c, "annotations", t.why);
}

/* ---- the trace --------------------------------------------------------------------------------------------------- */

static void write_access(hd_writer *to, const hd_rf_access *a)
{
    static const char *const structures[] = {
#define HD_RF_STRUCTURE(id, name) #id,
#include "hwmodel/rf/structures.def"
#undef HD_RF_STRUCTURE
    };
    static const char *const kinds[HD_RF_KINDS] = {"read", "write", "fill", "spill", "lookup"};
    char operand[16] = "-";
    if (a->operand)
        snprintf(operand, sizeof operand, "%c%d", a->operand & HD_ACCESS_RESULT ? 'd' : 's',
                 (a->operand & ~HD_ACCESS_RESULT) - 1);
    for (const char *s = structures[a->structure]; *s; s++)
        hd_write_char(to, *s >= 'A' && *s <= 'Z' ? (char)(*s - 'A' + 'a') : *s);
    hd_write_format(to, " %s %s 0x%08" PRIx32, kinds[a->kind], operand, a->lanes);
}

static void write_run(hd_writer *to, const hd_model_watch_run *run)
{
    for (uint32_t w = 0; w < THREADS / 32 * BLOCKS; w++) {
        uint32_t at = 0;
        for (const hd_model_watch_step *s; (s = next_step(run, w, &at));) {
            hd_write_format(to, "%" PRIu32 " %" PRIu32 "/%" PRIu32, w, s->function, s->instruction);
            for (uint32_t a = 0; a < s->count; a++) {
                hd_write_string(to, a ? ", " : ": ");
                write_access(to, &run->accesses.items[s->first + a]);
            }
            hd_write_char(to, '\n');
        }
    }
}

/* The accesses of the model on all kernels. */
static void write_trace(checking *c, const char *const *launches, hd_writer *to)
{
    for (uint32_t k = 0; k < hd_plugin_kernel_count; k++) {
        hd_model_watch_clear(c->watch);
        replay(c, launches[k], hd_model_watch_name(c->watch), false, true);
        for (uint32_t r = 0; r < hd_model_watch_runs(c->watch); r++) {
            const hd_model_watch_run *run = hd_model_watch_run_at(c->watch, r);
            if (!run->steps.count)
                continue;
            hd_write_format(to, "kernel %s model %s storage_bits %" PRIu64 "\n", hd_plugin_kernels[k].name,
                            c->model->name, run->storage_bits);
            write_run(to, run);
        }
    }
}

/* The line that differs, from 1 on; 0: none. */
static uint32_t differing_line(const char *one, const char *other)
{
    for (uint32_t line = 1; *one || *other; line++) {
        size_t length = strcspn(one, "\n");
        if (length != strcspn(other, "\n") || memcmp(one, other, length) != 0)
            return line;
        one += length + (one[length] == '\n');
        other += length + (other[length] == '\n');
    }
    return 0;
}

static const char *line_of(checking *c, const char *text, uint32_t line)
{
    for (; line > 1 && *text; line--)
        text += strcspn(text, "\n"), text += *text == '\n';
    size_t length = strcspn(text, "\n");
    return length ? hd_arena_string(&c->arena, text, length) : "(the end)";
}

static void compare_trace(checking *c, const char *path, const char *expected, const char *found)
{
    uint32_t line = differing_line(expected, found);
    say(c, "reference",
        line ? hd_arena_printf(&c->arena, "%s:%" PRIu32 ": expected '%s', found '%s'", path, line,
                               line_of(c, expected, line), line_of(c, found, line))
             : NULL);
}

/* ---- the job ----------------------------------------------------------------------------------------------------- */

static bool cannot(hd_diagnostics *diagnostics, const char *what, const char *path, const char *why)
{
    hd_report(diagnostics, HD_DIAG_UNREADABLE, NULL, (hd_span){0, 0}, "%s '%s': %s", what, path, why);
    return false;
}

static bool open_folder(checking *c, const char **launches, hd_diagnostics *diagnostics)
{
    const char *temporary = getenv("TMPDIR");
    char *folder = hd_arena_printf(&c->arena, "%s/heddle-check-XXXXXX", temporary && *temporary ? temporary : "/tmp");
    if (!hd_temporary_make_folder(folder))
        return cannot(diagnostics, "cannot make the folder", folder, strerror(errno));
    c->folder = folder;
    for (uint32_t k = 0; k < hd_plugin_kernel_count; k++) {
        const hd_plugin_kernel *kernel = &hd_plugin_kernels[k];
        if (!(launches[k] = launch_of(c, kernel->name, kernel->text, kernel->length)))
            return cannot(diagnostics, "cannot write to", folder, strerror(errno));
    }
    return true;
}

/* The rows of the plug-in's models in the table, then their watches. */
static bool find_models(const hd_plugin *p, const hd_rf_model_info **rows, hd_model_watch **watches,
                        hd_diagnostics *diagnostics)
{
    for (uint32_t i = 0; i < p->model_count; i++) {
        const char *name = p->models[i].row.name;
        rows[i] = hd_rf_model_find(name, strlen(name));
        watches[i] = rows[i] ? hd_model_watch_new(rows[i]) : NULL;
        if (!watches[i]) {
            hd_report(diagnostics, HD_DIAG_BAD_PLUGIN, NULL, (hd_span){0, 0},
                      "plug-in '%s' has too many models to be tested: at most %d", p->name, HD_PLUGIN_ROWS / 2);
            return false;
        }
    }
    return true;
}

static void check_model(checking *c, const char *const *launches, hd_writer *trace)
{
    check_proof(c, launches);
    check_clocks(c, launches);
    check_moved(c, launches);
    check_faults(c, launches);
    check_annotations(c);
    if (trace)
        write_trace(c, launches, trace);
}

hd_status hd_plugin_check(const hd_plugin *plugin, const char *reference, hd_writer *trace, hd_writer *out,
                          hd_diagnostics *diagnostics)
{
    const hd_rf_model_info *rows[HD_PLUGIN_ROWS];
    hd_model_watch *watches[HD_PLUGIN_ROWS];
    checking c = {.plugin = plugin, .out = out};
    hd_source expected = {0};
    hd_writer found;
    hd_arena_init(&c.arena);
    hd_writer_to_memory(&found);
    const char **launches = HD_ARENA_ARRAY(&c.arena, const char *, hd_plugin_kernel_count);
    bool good = find_models(plugin, rows, watches, diagnostics);
    if (good && reference && !hd_source_read(&expected, reference))
        good = cannot(diagnostics, "cannot read", reference, hd_source_why(errno));
    good = good && open_folder(&c, launches, diagnostics);
    for (uint32_t i = 0; i < plugin->model_count && good; i++) {
        c.model = rows[i];
        c.watch = watches[i];
        hd_model_watch_clear(c.watch);
        check_model(&c, launches, reference || trace ? &found : NULL);
    }
    hd_write_char(&found, '\0');
    if (good && reference && plugin->model_count)
        compare_trace(&c, reference, expected.text, found.buffer.items);
    if (trace)
        hd_write(trace, found.buffer.items, found.buffer.count - 1);
    if (c.folder)
        hd_temporary_remove_folder(c.folder);
    hd_source_free(&expected);
    hd_writer_free(&found);
    hd_arena_free(&c.arena);
    return !good ? HD_STATUS_REJECTED : c.failed ? HD_STATUS_WRONG : HD_STATUS_DONE;
}
