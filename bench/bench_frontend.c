/* Processor time (user and system, one thread) of the stages that a PTX text, or a listing of machine code, goes
 * through, each on its own, best of several runs:
 *
 *   bench_frontend [-r RUNS] [-s] FILE
 *
 * lex      the scanner with interning, no parser
 * parse    text to IR: scanner, grammar, names, operands and their roles
 * cfg      control-flow graphs of all functions
 * live     uniformity, thread-level and warp-level liveness of all functions
 * print    IR to text from spans
 * canon    IR to text from the IR; PTX only
 * rewrite  parse, `-p bow`, print with annotations; one thread
 *
 * Memory is the peak resident size of a process of its own that only parses. -s prints one line for tables: bytes,
 * instructions, functions, and seconds of each stage, then that memory in bytes. */
#include "driver/rewrite.h"
#include "lexer/lexer.h"
#include "lexer/sass.h"
#include "parser/recognize.h"
#include "passes/analysis/liveness.h"

#include <stdio.h>
#include <sys/resource.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

typedef struct work {
    const char *path;
    hd_source source;
    hd_diagnostics diagnostics;
    hd_module *module;
    uint64_t instructions, functions, bytes, checksum;
} work;

static double now(void)
{
    struct timespec t;
    clock_gettime(CLOCK_PROCESS_CPUTIME_ID, &t);
    return (double)t.tv_sec + 1e-9 * (double)t.tv_nsec;
}

static void fail(const char *what, const char *path)
{
    fprintf(stderr, "bench_frontend: %s: %s\n", path, what);
    exit(1);
}

static void read_text(work *w)
{
    if (!hd_source_read(&w->source, w->path))
        fail("cannot be read", w->path);
    w->bytes = w->source.length;
}

static void lex_listing(work *w)
{
    hd_sass_lexer lexer;
    hd_sass_token token;
    hd_sass_lexer_init(&lexer, &w->source, (hd_span){0, w->source.length});
    for (lexer.in_function = true; hd_sass_lexer_next(&lexer, &token) != HD_SASS_TOKEN_END;)
        w->checksum += token.end;
}

static void lex(work *w)
{
    if (hd_is_sass(&w->source)) {
        lex_listing(w);
        return;
    }
    hd_names names;
    hd_lexer lexer;
    hd_token token;
    hd_names_init(&names);
    hd_lexer_init(&lexer, &w->source, (hd_span){0, w->source.length}, &names, NULL);
    while (hd_lexer_next(&lexer, &token) != HD_TOKEN_END)
        w->checksum += token.name;
    hd_names_free(&names);
}

static void parse(work *w)
{
    hd_parse_options options = {.ignore_annotations = true, .takes_listings = true};
    hd_diagnostics_init(&w->diagnostics);
    w->module = hd_parse_ptx(&w->source, &options, &w->diagnostics);
    if (w->diagnostics.error_count)
        fail(w->diagnostics.first ? w->diagnostics.first->message : "not accepted", w->path);
}

static void drop(work *w)
{
    hd_module_free(w->module);
    hd_source_free(&w->source);
    hd_diagnostics_free(&w->diagnostics);
    w->module = NULL;
}

static void count(work *w)
{
    w->instructions = w->functions = 0;
    for (uint32_t i = 0; i < w->module->functions.count; i++) {
        w->functions += w->module->functions.items[i]->has_body;
        w->instructions += w->module->functions.items[i]->instructions.count;
    }
}

static void cfg(work *w)
{
    for (uint32_t i = 0; i < w->module->functions.count; i++)
        if (w->module->functions.items[i]->has_body)
            w->checksum += hd_function_cfg(w->module->functions.items[i])->block_count;
}

static void live(work *w)
{
    for (uint32_t i = 0; i < w->module->functions.count; i++) {
        hd_function *f = w->module->functions.items[i];
        if (!f->has_body)
            continue;
        hd_pass_context context;
        hd_pass_context_init(&context, f, &w->diagnostics);
        w->checksum += hd_analysis_get(&context, HD_ANALYSIS_WARP_LIVENESS) != NULL;
        hd_pass_context_free(&context);
    }
}

static void print_as(work *w, bool canonical)
{
    hd_writer writer;
    hd_emit_options options = {.canonical = canonical};
    hd_writer_to_memory(&writer);
    hd_emit_ptx(&writer, w->module, &options);
    w->checksum += writer.written_bytes;
    hd_writer_free(&writer);
}
static void print(work *w) { print_as(w, false); }
static void canon(work *w)
{
    if (!w->module->is_machine)
        print_as(w, true);
}

static void rewrite(work *w)
{
    hd_writer writer;
    hd_writer_to_memory(&writer);
    hd_diagnostics_init(&w->diagnostics);
    hd_pipeline *passes = hd_pipeline_parse("bow(iw=3)", &w->diagnostics);
    hd_rewrite_options options = {.passes = passes, .pipeline = {.threads = 1}, .parse = {.takes_listings = true}};
    w->module = hd_rewrite(&w->source, &options, &writer, &w->diagnostics);
    if (w->diagnostics.error_count)
        fail("rewrite failed", w->path);
    w->checksum += writer.written_bytes;
    hd_writer_free(&writer);
    hd_pipeline_free(passes);
}

/* The stages that start from text and leave a module, and those that start from a module. */
enum { LEX, PARSE, CFG, LIVE, PRINT, CANON, REWRITE, STAGES };
static const struct {
    const char *name;
    void (*run)(work *);
} stages[STAGES] = {
    {"lex", lex},     {"parse", parse}, {"cfg", cfg},         {"live", live},
    {"print", print}, {"canon", canon}, {"rewrite", rewrite},
};

static void run_stage(work *w, int stage, double *best)
{
    double start = now();
    stages[stage].run(w);
    double seconds = now() - start;
    if (*best == 0 || seconds < *best)
        *best = seconds;
}

static void run_all(work *w, double best[STAGES])
{
    read_text(w);
    run_stage(w, LEX, &best[LEX]);
    run_stage(w, PARSE, &best[PARSE]);
    count(w);
    for (int stage = CFG; stage < REWRITE; stage++)
        run_stage(w, stage, &best[stage]);
    drop(w);
    read_text(w);
    run_stage(w, REWRITE, &best[REWRITE]);
    drop(w);
}

/* Peak resident bytes of a process that reads and parses the file. */
static uint64_t peak_bytes(work *w)
{
    struct rusage usage;
    int status;
    pid_t child = fork();
    if (child == 0) {
        read_text(w);
        parse(w);
        _exit(0);
    }
    if (child < 0 || wait4(child, &status, 0, &usage) < 0 || status != 0)
        return 0;
    return (uint64_t)usage.ru_maxrss * 1024;
}

int main(int argc, char **argv)
{
    int runs = 3, option;
    bool is_short = false;
    work w = {0};
    double best[STAGES] = {0};
    while ((option = getopt(argc, argv, "r:s")) >= 0) {
        if (option == 'r')
            runs = atoi(optarg);
        else if (option == 's')
            is_short = true;
        else
            return 2;
    }
    if (optind + 1 != argc) {
        fprintf(stderr, "usage: bench_frontend [-r RUNS] [-s] FILE.ptx\n");
        return 2;
    }
    w.path = argv[optind];
    uint64_t peak = peak_bytes(&w);
    for (int i = 0; i < runs; i++)
        run_all(&w, best);
    if (is_short) {
        printf("%llu %llu %llu", (unsigned long long)w.bytes, (unsigned long long)w.instructions,
               (unsigned long long)w.functions);
        for (int stage = 0; stage < STAGES; stage++)
            printf(" %.6f", best[stage]);
        printf(" %llu\n", (unsigned long long)peak);
        return 0;
    }
    printf("%s: %.1f MB, %llu instructions, %llu functions, %.1f bytes an instruction\n", w.path,
           1e-6 * (double)w.bytes, (unsigned long long)w.instructions, (unsigned long long)w.functions,
           (double)w.bytes / (double)w.instructions);
    for (int stage = 0; stage < STAGES; stage++)
        printf("  %-8s %8.1f MB/s %8.2f million instructions/s\n", stages[stage].name,
               1e-6 * (double)w.bytes / best[stage], 1e-6 * (double)w.instructions / best[stage]);
    printf("  memory   %8.1f bytes an instruction, the text included\n", (double)peak / (double)w.instructions);
    return 0;
}
