/* heddle nvcc: calls nvcc in a shadow folder (driver/build/toolkit.h), whose front end is this program with --step. */
#include "cli/cli.h"

#include "base/path.h"
#include "base/temporary.h"
#include "driver/build/cached_rewrite.h"
#include "driver/build/nvcc_words.h"
#include "driver/build/process.h"
#include "driver/build/toolkit.h"
#include "driver/report/report.h"

#include <errno.h>
#include <inttypes.h>
#include <limits.h>
#include <stdlib.h>
#include <unistd.h>

HD_ARRAY_TYPE(word_array, const char *);

/* A call: its options, and with --step what it is to do. */
typedef struct step {
    hd_rewrite_options rewrite;
    hd_report_options report;
    hd_store cache;
    int format; /* of the report */
    const char *cicc;
    const char *const *words;
    uint32_t count;
    const char *output; /* of cicc, where nvcc expects it */
    bool again;         /* only for the places of errors */
} step;

static bool rewrites(const hd_cli *cli)
{
    return hd_cli_has(cli, HD_OPTION_PASSES) || hd_cli_has(cli, HD_OPTION_CANONICAL);
}

static bool reports(const hd_cli *cli)
{
    return hd_cli_has(cli, HD_OPTION_REPORT) || hd_cli_has(cli, HD_OPTION_REQUIRE);
}

/* ---- the driver -------------------------------------------------------------------------------------------------- */

/* ccache, and the path of nvcc, as launchers of build systems put them before the arguments. */
typedef struct call {
    const char *ccache, *nvcc; /* NULL: not given */
    const char *const *words;  /* of nvcc */
    uint32_t count;
} call;

static call split_call(const hd_cli *cli)
{
    call c = {.words = (const char *const *)cli->operands, .count = (uint32_t)cli->operand_count};
    if (c.count && strcmp(hd_path_name(*c.words), "ccache") == 0)
        c.ccache = *c.words++, c.count--;
    if (c.count && strcmp(hd_path_name(*c.words), "nvcc") == 0)
        c.nvcc = *c.words++, c.count--;
    return c;
}

/* What the script of the shadow folder runs: this program, with the options of this call, and --step. */
static void add_step(hd_cli *cli, const hd_toolkit *toolkit, word_array *words)
{
    char self[PATH_MAX];
    ssize_t length = readlink("/proc/self/exe", self, sizeof self);
    hd_array_push(words, length > 0 ? hd_arena_string(&cli->arena, self, (size_t)length) : "heddle");
    hd_array_push(words, "nvcc");
    for (int i = 0; i < cli->option_count && strcmp(cli->options[i], "--") != 0; i++)
        hd_array_push(words, cli->options[i]);
    hd_array_push(words, hd_arena_printf(&cli->arena, "--step=%s", toolkit->cicc));
    hd_array_push(words, "--");
}

static bool names_cudart(const call *c)
{
    for (uint32_t i = 0; i < c->count; i++)
        if (strncmp(c->words[i], "-cudart", 7) == 0 || strncmp(c->words[i], "--cudart", 8) == 0)
            return true;
    return false;
}

/* ccache takes the nvcc of the shadow folder and the real one for the same compiler: what these make is kept apart by
 * all that passes and gates depend on. Reports are not among what ccache stores. */
static void add_environment(hd_cli *cli, const step *s, word_array *environment)
{
    const char *before = getenv("CCACHE_NAMESPACE");
    hd_writer words;
    hd_writer_to_memory(&words);
    for (int i = 0; i < cli->option_count; i++)
        hd_write(&words, cli->options[i], strlen(cli->options[i]) + 1);
    hd_wide_hash parts[2] = {hd_rewrite_settings_hash(&s->rewrite, &cli->diagnostics, cli->values[HD_OPTION_GPU]),
                             hd_hash_wide(words.buffer.items, words.buffer.count)};
    hd_writer_free(&words);
    hd_array_push(environment, hd_arena_printf(&cli->arena, "CCACHE_NAMESPACE=%s%sheddle-%016" PRIx64,
                                               before ? before : "", before ? "-" : "", hd_hash(parts, sizeof parts)));
    if (hd_cli_has(cli, HD_OPTION_REPORT))
        hd_array_push(environment, "CCACHE_DISABLE=1");
    hd_array_push(environment, NULL);
}

static int call_nvcc(hd_cli *cli, const step *s, const call *c, const hd_shadow *shadow)
{
    word_array environment = {0};
    word_array words = {0};
    if (c->ccache)
        hd_array_push(&words, c->ccache);
    hd_array_push(&words, shadow->files[0]);
    for (uint32_t i = 0; i < c->count; i++)
        hd_array_push(&words, c->words[i]);
    if (hd_cli_has(cli, HD_OPTION_FOR_RUN) && !names_cudart(c)) {
        hd_array_push(&words, "-cudart");
        hd_array_push(&words, "shared");
    }
    hd_array_push(&words, NULL);
    if (rewrites(cli) || reports(cli))
        add_environment(cli, s, &environment);
    const hd_process process = {.arguments = words.items, .environment = environment.items};
    int status = hd_process_run(&process);
    if (status < 0)
        hd_report(&cli->diagnostics, HD_DIAG_MISSING_TOOL, NULL, (hd_span){0, 0}, "'%s' does not run: %s",
                  words.items[0], strerror(errno));
    hd_array_free(&environment);
    hd_array_free(&words);
    return status < 0 ? (int)HD_STATUS_UNDECIDED : status;
}

static void watch(const hd_shadow *shadow, void (*what)(const char *path))
{
    for (uint32_t i = 0; i < HD_SHADOW_FILES; i++)
        what(shadow->files[i]);
    what(shadow->bin);
    what(shadow->folder);
}

static int run_driver(hd_cli *cli, const step *s)
{
    call c = split_call(cli);
    hd_toolkit toolkit;
    hd_shadow shadow;
    word_array words = {0};
    if (!hd_nvcc_words_fit(c.words, c.count, rewrites(cli), &cli->diagnostics))
        return HD_STATUS_REJECTED;
    if (!hd_toolkit_find(&toolkit, c.nvcc, &cli->arena, &cli->diagnostics))
        return HD_STATUS_UNDECIDED;
    add_step(cli, &toolkit, &words);
    bool made = hd_shadow_make(&shadow, &toolkit, words.items, words.count, &cli->arena, &cli->diagnostics);
    hd_array_free(&words);
    if (!made)
        return HD_STATUS_REJECTED;
    watch(&shadow, hd_temporary_add);
    int status = call_nvcc(cli, s, &c, &shadow);
    hd_shadow_remove(&shadow);
    watch(&shadow, hd_temporary_forget);
    return status;
}

/* ---- the step ---------------------------------------------------------------------------------------------------- */

static void free_job(void *job) { hd_report_free(job); }

/* The value of an option of cicc, "-arch compute_80"; "" where it has none. */
static const char *value_of(const step *s, const char *option)
{
    for (uint32_t i = 0; i + 1 < s->count; i++)
        if (strcmp(s->words[i], option) == 0)
            return s->words[i + 1];
    return "";
}

/* FOLDER/SOURCE.ARCH.FORMAT; NULL: standard error. */
static const char *report_path(hd_cli *cli, const step *s)
{
    static const char *const suffixes[] = {"txt", "json", "html", "sarif"};
    const char *folder = cli->values[HD_OPTION_REPORT], *source = value_of(s, "--orig_src_file_name");
    if (!*folder)
        return NULL;
    char *name = hd_arena_printf(&cli->arena, "%s", source + strspn(source, "./"));
    for (char *at = name; *at; at++)
        *at = *at == '/' ? '-' : *at;
    return hd_arena_printf(&cli->arena, "%s/%s.%s.%s", folder, name, value_of(s, "-arch"), suffixes[s->format]);
}

static void write_report(hd_cli *cli, const step *s, const hd_report_job *job)
{
    enum { TEXT, JSON, HTML, SARIF };
    const hd_report_module *module = hd_report_of(job);
    const hd_reports all = {&module, 1};
    const hd_report_texts texts = {.ptx = hd_report_source(job)};
    const hd_report_style style = {0};
    const char *path = report_path(cli, s);
    hd_output output = {.descriptor = STDERR_FILENO};
    if (!path)
        hd_writer_to_descriptor(&output.writer, STDERR_FILENO);
    else if (!hd_cli_open(cli, &output, path))
        return;
    switch (s->format) {
    case TEXT: hd_emit_report_text(&output.writer, &all, &style); break;
    case JSON: hd_emit_report_json(&output.writer, &all, &style); break;
    case HTML: hd_emit_report_html(&output.writer, &all, &texts); break;
    case SARIF: hd_emit_report_sarif(&output.writer, &all); break;
    }
    hd_cli_close(cli, &output, true);
}

/* On what the front end wrote, before passes change it. */
static void report(hd_cli *cli, const step *s, const hd_source *text)
{
    hd_source *source = HD_ARENA_NEW(&cli->arena, hd_source); /* diagnostics point to it */
    hd_source_from_memory(source, text->name, text->text, text->length);
    hd_report_job *job = hd_report_new(source, &s->report, &cli->diagnostics);
    hd_cli_keep(cli, job, free_job);
    if (hd_cli_has(cli, HD_OPTION_REPORT) && hd_report_of(job)->arch && !s->again)
        write_report(cli, s, job);
}

/* The name that the file has with --keep: "/tmp/tmpxft_0000_0000-6_a.ptx" is gone when the message is read. */
static const char *kept_name(const char *path)
{
    const char *name = hd_path_name(path);
    if (strncmp(name, "tmpxft_", 7) != 0)
        return path;
    for (int i = 0; i < 3 && strchr(name, '_'); i++)
        name = strchr(name, '_') + 1;
    return name;
}

static bool read_text(hd_cli *cli, const step *s, const char *path, hd_source *source)
{
    hd_source file;
    if (!hd_cli_read(cli, path, &file))
        return false;
    hd_source_from_memory(source, kept_name(s->output), file.text, file.length);
    hd_source_free(&file);
    return true;
}

/* Reads what cicc wrote, and writes what nvcc goes on with, unless there was an error. */
static void rewrite(hd_cli *cli, const step *s, const char *from)
{
    hd_source *source = HD_ARENA_NEW(&cli->arena, hd_source);
    hd_writer text;
    hd_output output;
    if (!read_text(cli, s, from, source))
        return;
    if (reports(cli))
        report(cli, s, source);
    hd_writer_to_memory(&text);
    hd_wide_hash settings = hd_rewrite_settings_hash(&s->rewrite, &cli->diagnostics, cli->values[HD_OPTION_GPU]);
    hd_module *module = hd_cached_rewrite(&s->cache, settings, source, &s->rewrite, &text, &cli->diagnostics);
    if (module)
        hd_cli_keep_module(cli, module);
    if (!cli->diagnostics.error_count && !s->again && hd_cli_open(cli, &output, s->output)) {
        hd_write(&output.writer, text.buffer.items, text.buffer.count);
        hd_cli_close(cli, &output, true);
    }
    hd_writer_free(&text);
}

static int run_cicc(const step *s, const char *output, bool lines)
{
    word_array words = {0};
    hd_array_push(&words, s->cicc);
    if (lines)
        hd_array_push(&words, "-generate-line-info");
    for (uint32_t i = 0; i < s->count; i++)
        hd_array_push(&words, i && strcmp(s->words[i - 1], "-o") == 0 ? output : s->words[i]);
    hd_array_push(&words, NULL);
    const hd_process process = {.arguments = words.items};
    int status = hd_process_run(&process);
    hd_array_free(&words);
    return status;
}

static bool has_lines(const step *s)
{
    for (uint32_t i = 0; i < s->count; i++)
        if (strcmp(s->words[i], "-generate-line-info") == 0 || strcmp(s->words[i], "-g") == 0)
            return true;
    return false;
}

static void free_diagnostics(void *diagnostics) { hd_diagnostics_free(diagnostics); }

/* The same errors at lines of the CUDA source: of PTX that says where its instructions come from. What was reported
 * before stays where that has none. */
static void locate(hd_cli *cli, step *s)
{
    s->again = true;
    char *path = hd_arena_printf(&cli->arena, "%s.XXXXXX", s->output);
    int file = hd_temporary_make(path);
    if (file < 0)
        return;
    close(file);
    if (run_cicc(s, path, true) == 0) {
        hd_diagnostics *kept = HD_ARENA_NEW(&cli->arena, hd_diagnostics);
        *kept = cli->diagnostics;
        hd_diagnostics_init_part(&cli->diagnostics, kept);
        rewrite(cli, s, path);
        if (!cli->diagnostics.error_count) {
            hd_diagnostics none = cli->diagnostics;
            cli->diagnostics = *kept;
            *kept = none;
        }
        hd_cli_keep(cli, kept, free_diagnostics);
    }
    unlink(path);
    hd_temporary_forget(path);
}

static int run_step(hd_cli *cli, step *s)
{
    s->words = (const char *const *)cli->operands;
    s->count = (uint32_t)cli->operand_count;
    s->cicc = cli->values[HD_OPTION_STEP];
    s->output = hd_cicc_output(s->words, s->count);
    size_t length = s->output ? strlen(s->output) : 0;
    if (length < 4 || strcmp(s->output + length - 4, ".ptx") != 0) {
        hd_report(&cli->diagnostics, HD_DIAG_NOT_REWRITTEN, NULL, (hd_span){0, 0},
                  "the front end writes '%s' here, and no PTX (link-time optimization)", s->output ? s->output : "");
        return HD_STATUS_REJECTED;
    }
    int status = run_cicc(s, s->output, false);
    if (status < 0)
        hd_report(&cli->diagnostics, HD_DIAG_MISSING_TOOL, NULL, (hd_span){0, 0}, "'%s' does not run: %s", s->cicc,
                  strerror(errno));
    if (status != 0)
        return status < 0 ? (int)HD_STATUS_UNDECIDED : status;
    rewrite(cli, s, s->output);
    if (!cli->diagnostics.error_count)
        return HD_STATUS_DONE;
    if (!has_lines(s))
        locate(cli, s);
    unlink(s->output);
    return hd_cli_status(cli);
}

/* ---- both -------------------------------------------------------------------------------------------------------- */

static bool read_options(hd_cli *cli, step *s)
{
    if (hd_cli_has(cli, HD_OPTION_PASSES) && strcmp(cli->values[HD_OPTION_PASSES], "all") == 0) {
        hd_cli_usage_error("-p all compares techniques and writes no PTX: it belongs to rewrite");
        return false;
    }
    s->format = hd_cli_choice(cli, HD_OPTION_FORMAT);
    if (s->format < 0 || !hd_cli_report_options(cli, &s->report) || !hd_cli_rewrite_options(cli, &s->rewrite))
        return false;
    if (!hd_cli_has(cli, HD_OPTION_PTXAS))
        s->report.ptxas = NULL;
    s->report.trials = 0; /* a build does not wait for them */
    if (!hd_cli_has(cli, HD_OPTION_THREADS))
        s->report.threads = s->rewrite.pipeline.threads = 1; /* builds run several calls at a time */
    s->rewrite.parse.one_of_several = s->report.parse.one_of_several = true;
    return true;
}

int hd_cli_nvcc(hd_cli *cli)
{
    step *s = HD_ARENA_NEW(&cli->arena, step);
    hd_writer log;
    if (!read_options(cli, s))
        return HD_STATUS_USAGE;
    if (!hd_cli_rewrite_machine(cli, &s->rewrite) || !hd_cli_report_prepare(cli, &s->report) ||
        !hd_store_open(&s->cache, &cli->arena, &cli->diagnostics))
        return hd_cli_status(cli);
    if (hd_cli_has(cli, HD_OPTION_NO_CACHE) || !rewrites(cli))
        s->cache.folder = NULL;
    if (!hd_cli_has(cli, HD_OPTION_STEP))
        return run_driver(cli, s);
    hd_writer_to_descriptor(&log, STDERR_FILENO);
    s->rewrite.pipeline.log = &log;
    int status = run_step(cli, s);
    hd_writer_flush(&log);
    hd_writer_free(&log);
    return status;
}
