/* CUDA C++ as an input of `report` and `diff`: nvcc makes PTX of it. */
#include "cli/cli.h"

#include "driver/build/compile.h"
#include "driver/report/report.h"
#include "target/gpu.h"

void hd_cli_split_nvcc_words(hd_cli *cli, int after)
{
    int before = cli->operand_count - after;
    bool any = false;
    for (int i = 0; i < before; i++)
        any |= hd_is_cuda_source(cli->operands[i]);
    if (!any)
        return;
    cli->nvcc_words = cli->operands + before;
    cli->nvcc_word_count = after;
    cli->operand_count = before;
}

/* The architecture as nvcc names it: "sm_90a" of "90a" and "sm_90a", "sm_80" of a GPU description; NULL: not given. */
static const char *arch_of(hd_cli *cli, const char *gpu)
{
    if (!gpu)
        return NULL;
    const char *digits = strncmp(gpu, "sm_", 3) == 0 ? gpu + 3 : gpu;
    size_t count = strspn(digits, "0123456789");
    if (count && strspn(digits + count, "af") == strlen(digits + count))
        return hd_arena_printf(&cli->arena, "sm_%s", digits);
    hd_gpu *loaded = hd_gpu_load(gpu, &cli->diagnostics);
    const char *arch =
        loaded->valid ? hd_arena_printf(&cli->arena, "sm_%u%u", loaded->compute_major, loaded->compute_minor) : NULL;
    hd_gpu_free(loaded);
    return arch;
}

bool hd_cli_read_or_compile(hd_cli *cli, const char *path, struct hd_report_options *options, hd_source *source)
{
    bool is_read = options->parse.takes_listings ? hd_cli_read_code(cli, path, HD_LISTING_PLAIN, source)
                                                 : hd_cli_read(cli, path, source);
    if (!is_read)
        return false;
    if (!hd_is_cuda_source(path))
        return true;
    hd_source_free(source);
    const hd_compilation compilation = {.path = path,
                                        .arch = arch_of(cli, options->gpu),
                                        .words = (const char *const *)cli->nvcc_words,
                                        .word_count = (uint32_t)cli->nvcc_word_count};
    return hd_compile(&compilation, source, &options->compiled, &cli->arena, &cli->diagnostics);
}
