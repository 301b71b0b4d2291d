/* heddle list: the rows of the tables, one a line, details indented below; or as JSON. */
#include "cli/cli.h"

#include "base/suggest.h"
#include "base/version.h"
#include "driver/sweep/plot.h"
#include "emitters/json.h"
#include "hwmodel/rf/technique.h"
#include "ir/techniques.h"
#include "passes/manager/manager.h"
#include "target/gpu.h"

#include <inttypes.h>
#include <unistd.h>

enum { KEYS = 6, DETAILS = 2 };
typedef struct item {
    const char *name, *summary;
    const char *keys[KEYS], *values[KEYS]; /* JSON, in order; NULL ends */
    const char *details[DETAILS];          /* text, a line each; NULL ends */
    const char *column;                    /* text, before the summary; NULL: none */
    uint32_t year;                         /* JSON; 0: none */
} item;

typedef struct list {
    hd_cli *cli;
    HD_ARRAY(item) items;
} list;

/* NULL where the text is empty. */
static const char *detail(list *l, const char *title, const char *text)
{
    return *text ? hd_arena_printf(&l->cli->arena, "%s%s", title, text) : NULL;
}

static void add(list *l, item row) { hd_array_push(&l->items, row); }

static void add_passes(list *l)
{
    for (uint32_t i = 0; i < hd_pass_count; i++) {
        const hd_pass_info *p = &hd_passes[i];
        add(l, (item){.name = p->name,
                      .summary = p->summary,
                      .keys = {"options", "stands_for"},
                      .values = {p->options, ""},
                      .details = {detail(l, "options: ", p->options)}});
    }
    for (uint32_t i = 0; i < hd_pass_alias_count; i++) {
        const hd_pass_alias *a = &hd_pass_aliases[i];
        add(l, (item){.name = a->name,
                      .summary = a->summary,
                      .keys = {"options", "stands_for"},
                      .values = {"", a->passes},
                      .details = {detail(l, "means: ", a->passes)}});
    }
}

static void add_techniques(list *l)
{
    for (uint32_t t = 0; t < hd_technique_count; t++) {
        const hd_technique_info *info = &hd_techniques[t];
        const hd_paper *paper = info->paper;
        const char *cited = hd_arena_printf(&l->cli->arena, "%s: \"%s\", %s %" PRIu32, info->name, paper->title,
                                            paper->venue, paper->year);
        add(l, (item){.name = info->spelling,
                      .summary = info->summary,
                      .keys = {"paper_name", "pass", "authors", "title", "venue"},
                      .values = {info->name, info->pass, paper->authors, paper->title, paper->venue},
                      .year = paper->year,
                      .details = {cited, paper->authors}});
    }
}

static void add_models(list *l)
{
    for (uint32_t m = 0; m < hd_rf_model_count; m++) {
        const hd_rf_model_info *info = &hd_rf_models[m];
        add(l, (item){.name = info->name,
                      .summary = info->summary,
                      .keys = {"technique", "passes", "options"},
                      .values = {info->technique, info->pass, info->options}});
    }
}

static void free_gpu(void *gpu) { hd_gpu_free(gpu); }

static void add_gpus(list *l)
{
    for (uint32_t i = 0; i < hd_gpu_file_count; i++) {
        hd_gpu *gpu = hd_gpu_load(hd_gpu_files[i].name, &l->cli->diagnostics);
        hd_cli_keep(l->cli, gpu, free_gpu);
        add(l, (item){.name = hd_gpu_files[i].name,
                      .summary = gpu->summary,
                      .keys = {"compute_capability"},
                      .values = {hd_arena_printf(&l->cli->arena, "%" PRIu32 ".%" PRIu32, gpu->compute_major,
                                                 gpu->compute_minor)}});
    }
}

static const char *severity_name(uint8_t severity)
{
    return severity == HD_ERROR ? "error" : severity == HD_WARNING ? "warning" : severity == HD_NOTE ? "note" : "off";
}

static void add_diagnostics(list *l)
{
    for (int kind = 0; kind < HD_DIAGNOSTIC_COUNT; kind++) {
        const char *severity = severity_name(hd_diagnostic_default((hd_diagnostic_kind)kind));
        add(l, (item){.name = hd_diagnostic_slug((hd_diagnostic_kind)kind),
                      .summary = hd_diagnostic_summary((hd_diagnostic_kind)kind),
                      .keys = {"severity"},
                      .values = {severity},
                      .column = hd_arena_printf(&l->cli->arena, "%-7s  ", severity)});
    }
}

/* The first line of a figure's file is a comment, "# SUMMARY". */
static void add_figures(list *l)
{
    for (uint32_t i = 0; i < hd_figure_file_count; i++) {
        const char *text = hd_figure_files[i].text + 2;
        add(l, (item){.name = hd_figure_files[i].name,
                      .summary = hd_arena_string(&l->cli->arena, text, strcspn(text, "\n"))});
    }
}

static const struct {
    const char *name;
    void (*add)(list *);
} kinds[] = {{"passes", add_passes}, {"techniques", add_techniques}, {"models", add_models},
             {"gpus", add_gpus},     {"figures", add_figures},       {"diagnostics", add_diagnostics}};
enum { KINDS = sizeof kinds / sizeof *kinds };

/* -1, reported as a usage error, where there is no such list. */
static int kind_of(const char *name)
{
    char phrase[HD_SUGGEST_PHRASE];
    hd_suggestion near = hd_suggest(name);
    for (int k = 0; k < KINDS; k++) {
        if (strcmp(kinds[k].name, name) == 0)
            return k;
        hd_suggest_from(&near, kinds[k].name);
    }
    hd_cli_usage_error("there is no list of '%s'%s", name,
                       near.best ? hd_suggest_phrase(&near, phrase)
                                 : "; there are passes, techniques, models, gpus, figures and diagnostics");
    return -1;
}

static void write_text(hd_writer *out, const list *l)
{
    size_t width = 0;
    for (uint32_t i = 0; i < l->items.count; i++)
        width = hd_max(width, strlen(l->items.items[i].name));
    for (uint32_t i = 0; i < l->items.count; i++) {
        const item *row = &l->items.items[i];
        hd_write_format(out, "%-*s  %s%s\n", (int)width, row->name, row->column ? row->column : "", row->summary);
        for (uint32_t d = 0; d < DETAILS && row->details[d]; d++)
            hd_write_format(out, "%*s  %s\n", (int)width, "", row->details[d]);
    }
}

static void write_json(hd_writer *out, const list *l, const char *name)
{
    hd_json json = {.out = out};
    hd_json_object(&json, NULL);
    hd_json_text(&json, "heddle", HD_VERSION);
    hd_json_number(&json, "schema", 1);
    hd_json_array(&json, name);
    for (uint32_t i = 0; i < l->items.count; i++) {
        const item *row = &l->items.items[i];
        hd_json_object(&json, NULL);
        hd_json_text(&json, "name", row->name);
        for (uint32_t k = 0; k < KEYS && row->keys[k]; k++)
            hd_json_text(&json, row->keys[k], row->values[k]);
        if (row->year)
            hd_json_number(&json, "year", row->year);
        hd_json_text(&json, "summary", row->summary);
        hd_json_end(&json);
    }
    hd_json_end(&json);
    hd_json_end(&json);
    hd_write_char(out, '\n');
}

int hd_cli_list(hd_cli *cli)
{
    list l = {.cli = cli};
    int format = hd_cli_choice(cli, HD_OPTION_FORMAT), kind = kind_of(cli->operands[0]);
    if (format < 0 || kind < 0)
        return HD_STATUS_USAGE;
    kinds[kind].add(&l);
    hd_output output;
    bool written = hd_cli_open(cli, &output, NULL);
    if (format == 0)
        write_text(&output.writer, &l);
    else
        write_json(&output.writer, &l, kinds[kind].name);
    written = hd_cli_close(cli, &output, true) && written;
    hd_array_free(&l.items);
    return written ? hd_cli_status(cli) : HD_STATUS_REJECTED;
}
