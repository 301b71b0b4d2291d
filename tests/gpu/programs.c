/* Runs random programs (tests/unit/program.h) on a GPU, as they are and rewritten, and compares with what one thread at
 * a time gives. Left out are programs that read what nobody wrote, such as the value of a thread that has ended, and
 * those with a guarded set.f32.s32: ptxas 13.0 guards the comparison, but not the conversion after it.
 *
 *   programs [COUNT [FIRST-SEED]]
 *
 * One line for each of the pass lists, as tools/run-tests reads them; a difference says the seed. Exit status: 0 all
 * equal, 1 a difference or an error, 77 there is no GPU. */
#include "device.h"
#include "include/heddle/heddle.h"
#include "tests/unit/kernel.h"
#include "tests/unit/program.h"
#include <inttypes.h>

enum { TEXT_BYTES = 1 << 19, THREADS = 96, NO_GPU = 77 };
static const char *const lists[] = {"", "clean", "select,regalloc", "select,regalloc(max=24)", "select,demo"};
enum { LISTS = sizeof lists / sizeof *lists };

static program random_program;
static uint32_t got[THREADS * RESULT_WORDS], want[THREADS * RESULT_WORDS];
static char text[TEXT_BYTES];

static bool has_guarded_set(void)
{
    for (const char *at = text; (at = strstr(at, "set.le.f32.s32")); at++)
        if (at > text && at[-1] == ' ')
            return true;
    return false;
}

/* Whether everything that the program reads was written, as the functional model sees it. */
static bool is_defined(const program *p)
{
    kernel_run run = {.text = text,
                      .in = p->inputs,
                      .in_bytes = sizeof p->inputs,
                      .out = got,
                      .out_bytes = sizeof *got * RESULT_WORDS * p->threads,
                      .block = p->threads,
                      .options.check_uninitialized = true};
    memset(got, 0, sizeof got);
    run_kernel(&run);
    return run.status == HD_EXEC_DONE;
}

static int run_module(const gpu_device *gpu, const char *ptx, const program *p)
{
    gpu_module_handle module;
    gpu_function_handle function;
    gpu_address parameters[2] = {0}; /* inputs and results */
    size_t size = sizeof parameters, bytes = sizeof *got * RESULT_WORDS * p->threads;
    void *extra[] = {(void *)(uintptr_t)GPU_LAUNCH_BUFFER_POINTER, parameters,
                     (void *)(uintptr_t)GPU_LAUNCH_BUFFER_SIZE, &size, NULL};
    memset(got, 0, sizeof got);
    int error = gpu->module_load(&module, ptx, 0, NULL, NULL);
    if (error)
        return error;
    error = gpu->allocate(&parameters[1], bytes);
    error = error ? error : gpu->allocate(&parameters[0], sizeof p->inputs);
    error = error ? error : gpu->copy_in(parameters[0], p->inputs, sizeof p->inputs);
    error = error ? error : gpu->copy_in(parameters[1], got, bytes);
    error = error ? error : gpu->module_function(&function, module, "k");
    error = error ? error : gpu->launch(function, 1, 1, 1, p->threads, 1, 1, 0, NULL, NULL, extra);
    error = error ? error : gpu->synchronize();
    error = error ? error : gpu->copy_out(got, parameters[1], bytes);
    for (int i = 0; i < 2; i++)
        if (parameters[i])
            gpu->release(parameters[i]);
    gpu->module_unload(module);
    return error;
}

/* The program, rewritten; NULL: an error, which is printed. To be freed. */
static char *rewrite(const char *list)
{
    char *rewritten = NULL;
    hd_text out = {0};
    hd_input input = {.name = "random", .text = text, .length = strlen(text)};
    hd_rewrite_settings settings = {.size = sizeof settings, .passes = list};
    hd_context *context = hd_context_new();
    if (hd_context_rewrite(context, &input, &settings, &out) == HD_STATUS_DONE)
        rewritten = strdup(out.bytes);
    else if (hd_context_message_count(context))
        printf("# %s: %s\n", list, hd_context_message(context, 0).text);
    hd_text_free(&out);
    hd_context_free(context);
    return rewritten;
}

static bool agrees(const gpu_device *gpu, uint64_t seed, const char *list)
{
    char *ptx = *list ? rewrite(list) : strdup(text);
    const char *why = "it cannot be rewritten";
    int error = ptx ? run_module(gpu, ptx, &random_program) : -1;
    if (ptx && error)
        gpu->error_text(error, &why);
    free(ptx);
    if (error) {
        printf("not ok gpu programs %s: seed %" PRIu64 ": %s\n", list, seed, why);
        return false;
    }
    program_plain(&random_program, got);
    for (uint32_t i = 0; i < random_program.threads * RESULT_WORDS; i++)
        if (got[i] != want[i]) {
            printf("not ok gpu programs %s: seed %" PRIu64 ", thread %u, word %u: 0x%08x, expected 0x%08x\n", list,
                   seed, i / RESULT_WORDS, i % RESULT_WORDS, got[i], want[i]);
            return false;
        }
    return true;
}

static bool open_device(gpu_device *gpu)
{
    const char *why = "";
    int device = 0;
    gpu_context_handle context;
    if (!gpu_open(gpu, &why)) {
        printf("skip gpu programs: %s\n", why);
        return false;
    }
    return !gpu->device_get(&device, 0) && !gpu->context_retain(&context, device) && !gpu->context_set(context);
}

int main(int argc, char **argv)
{
    uint64_t count = argc > 1 ? strtoull(argv[1], NULL, 10) : 20, first = argc > 2 ? strtoull(argv[2], NULL, 10) : 1;
    gpu_device gpu;
    if (!open_device(&gpu))
        return NO_GPU;
    uint64_t wrong[LISTS] = {0}, ran = 0;
    for (uint64_t seed = first; seed < first + count; seed++) {
        program_make(&random_program, seed);
        program_print(&random_program, text, sizeof text);
        if (has_guarded_set() || !is_defined(&random_program))
            continue;
        ran++;
        memset(want, 0, sizeof want);
        program_evaluate(&random_program, want);
        for (size_t i = 0; i < LISTS; i++)
            wrong[i] += !agrees(&gpu, seed, lists[i]);
        if (gpu.synchronize()) { /* the context is lost */
            printf("# stopped: go on from seed %" PRIu64 "\n", seed + 1);
            break;
        }
    }
    bool good = true;
    for (size_t i = 0; i < LISTS; i++) {
        if (!wrong[i])
            printf("ok gpu programs %s (%" PRIu64 ")\n", *lists[i] ? lists[i] : "original", ran);
        good = good && !wrong[i];
    }
    return !good;
}
