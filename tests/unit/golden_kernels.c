/* Random kernels before and after passes: see golden_kernels.h. */
#include "tests/unit/golden_kernels.h"

#include "tests/unit/kernel.h"

static void sum_left(const golden_kernels *kernels, golden_sums *sums, const char *text, const char *passes)
{
    rf_bench b;
    rf_bench_open(&b, text, strlen(text));
    rf_bench_pass(&b, passes);
    kernels->sum(sums, b.module->functions.items[0]);
    rf_bench_close(&b);
}

static void run_good(kernel_run *run, const char *passes, uint64_t *out)
{
    run->passes = passes;
    run->out = out;
    memset(out, 0, run->out_bytes);
    run_kernel(run);
    assert_int_equal(run->status, HD_EXEC_DONE);
}

void golden_kernels_run(const golden_kernels *kernels, hd_writer *writer)
{
    char *lines = malloc(GOLDEN_KERNEL_BYTES), *text = malloc(2 * GOLDEN_KERNEL_BYTES);
    uint64_t *plain = malloc(kernels->out_bytes), *changed = malloc(kernels->out_bytes);
    golden_sums *sums = calloc(kernels->lists, sizeof *sums);
    for (uint64_t seed = 1; seed <= kernels->count; seed++) {
        uint32_t list = (uint32_t)(seed % kernels->lists);
        kernels->make(lines, seed);
        kernel_run run = {.text = kernel_text(text, 2 * GOLDEN_KERNEL_BYTES, lines),
                          .out_bytes = (uint32_t)kernels->out_bytes,
                          .block = GOLDEN_KERNEL_THREADS};
        run_good(&run, NULL, plain);
        run_good(&run, kernels->passes[list], changed);
        if (memcmp(plain, changed, kernels->out_bytes) != 0)
            fail_msg("seed %llu: %s changes what is stored by\n%s", (unsigned long long)seed, run.passes, lines);
        sum_left(kernels, &sums[list], text, run.passes);
    }
    hd_writer_to_memory(writer);
    for (uint32_t l = 0; l < kernels->lists; l++) {
        golden_write(&sums[l], writer, kernels->passes[l]);
        hd_array_free(&sums[l].items);
    }
    free(sums);
    free(plain);
    free(changed);
    free(lines);
    free(text);
}
