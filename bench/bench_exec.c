/* Speed of the functional model: thread instructions per second of launch files, without any sink, on one thread and on
 * more. The fastest of several runs counts; every run starts from the same memory. What more threads add to the
 * processor time is mostly the search for thread blocks that touch each other's bytes. Also the memory that a resident
 * thread takes, beside what its registers and local memory alone would.
 *
 * bench_exec [-t THREADS] [-r RUNS] FILE.yaml.. */
#include "driver/status.h"
#include "hwmodel/launch/launch.h"
#include "parser/parse.h"
#include <stdio.h>
#include <time.h>
#include <unistd.h>

static double now(clockid_t clock)
{
    struct timespec t;
    clock_gettime(clock, &t);
    return (double)t.tv_sec + 1e-9 * (double)t.tv_nsec;
}

typedef struct result {
    double seconds, processor; /* the least of all runs, each */
    hd_exec_statistics statistics;
    hd_program_facts facts;
    uint32_t warps; /* of a CTA */
    bool good;
} result;

static void run_once(const hd_launch_file *file, hd_module *module, hd_diagnostics *d, uint32_t threads, result *r)
{
    hd_session *s = hd_session_open(file, module, d, NULL);
    hd_exec_statistics statistics = {0};
    if (!s)
        return;
    s->options.threads = threads;
    s->options.instruction_limit = 0;
    double start = now(CLOCK_MONOTONIC), busy = now(CLOCK_PROCESS_CPUTIME_ID);
    hd_exec_status status = hd_session_run(s, NULL, &statistics);
    double seconds = now(CLOCK_MONOTONIC) - start, processor = now(CLOCK_PROCESS_CPUTIME_ID) - busy;
    r->good = status == HD_EXEC_DONE;
    if (!r->seconds || seconds < r->seconds)
        r->seconds = seconds;
    if (!r->processor || processor < r->processor)
        r->processor = processor;
    r->statistics = statistics;
    r->facts = hd_program_describe(s->programs[0]);
    r->warps = hd_grid_warps_per_cta(&s->grids[0]);
    hd_session_close(s);
}

static void print(const char *name, uint32_t threads, const result *r, const result *alone)
{
    double needed = r->facts.register_bytes_per_warp / 32.0 + r->facts.local_bytes_per_thread;
    double taken = (double)r->statistics.cta_bytes / (32.0 * r->warps);
    printf("%-12s %u thread%s %7.1f M thread instructions, %6.3f s, %7.1f M/s", name, threads, threads > 1 ? "s" : " ",
           1e-6 * (double)r->statistics.thread_instructions, r->seconds,
           1e-6 * (double)r->statistics.thread_instructions / r->seconds);
    if (threads > 1)
        printf(", %.2f times as fast, processor time %+.1f %%\n", alone->seconds / r->seconds,
               100 * (r->processor / alone->processor - 1));
    else
        printf(", %.0f bytes a resident thread (%.2f of registers and local memory)\n", taken, taken / needed);
}

static bool bench(const char *path, uint32_t threads, uint32_t runs)
{
    hd_diagnostics d;
    hd_diagnostics_init(&d);
    hd_launch_file *file = hd_launch_read(path, 0, &d);
    hd_source source;
    if (!file->valid || !hd_source_read(&source, file->module_paths[0])) {
        fprintf(stderr, "%s: cannot be read\n", path);
        return false;
    }
    hd_module *module = hd_parse_ptx(&source, &(hd_parse_options){0}, &d);
    result alone = {0}, together = {0};
    for (uint32_t i = 0; i < runs; i++) {
        run_once(file, module, &d, 1, &alone);
        if (threads > 1)
            run_once(file, module, &d, threads, &together);
    }
    bool good = alone.good && (threads < 2 || together.good);
    if (good)
        print(file->launches.items[0].kernel, 1, &alone, &alone);
    if (good && threads > 1)
        print("", threads, &together, &alone);
    hd_module_free(module);
    hd_launch_free(file);
    hd_diagnostics_free(&d);
    return good;
}

int main(int argc, char **argv)
{
    uint32_t threads = 2, runs = 5;
    bool good = true;
    for (int option; (option = getopt(argc, argv, "t:r:")) != -1;) {
        if (option == 't')
            threads = (uint32_t)strtoul(optarg, NULL, 10);
        else if (option == 'r')
            runs = (uint32_t)strtoul(optarg, NULL, 10);
        else
            return 2;
    }
    for (int i = optind; i < argc; i++)
        good = bench(argv[i], threads, runs) && good;
    return good ? 0 : 1;
}
