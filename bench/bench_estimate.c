/* The register estimate of every kernel of PTX files, and what it is made from: one line each, FILE KERNEL
 * name=value...
 *
 *   bench_estimate [-r] FILE.ptx...
 *
 * -r also prints for each number of registers up to 128 the room around it (rN=M), which a fit of the model needs. */
#include "parser/parse.h"
#include "passes/estimate/estimate.h"
#include "passes/manager/manager.h"

#include <stdio.h>

static void print_kernel(const char *path, const hd_function *f, const hd_estimate_features *x,
                         const hd_gpu_limits *limits, bool rooms)
{
    printf("%s %s target=%u estimate=%u", path, hd_names_text(&f->module->names, f->name), f->module->target_number,
           hd_estimate_model(f, x, limits));
    printf(" wanted=%u wanted_vector=%u needed=%u needed_vector=%u written=%u late=%u", x->wanted[0], x->wanted[1],
           x->needed[0], x->needed[1], x->written, x->late);
    printf(" wanted_at=%u needed_at=%u instructions=%u", x->wanted_at, x->needed_at, x->instructions);
    printf(" loops=%u unrolled=%u loads=%u calls=%u over_calls=%u barriers=%u", x->loops, x->unrolled, x->loads,
           x->calls, x->over_calls, x->barriers);
    printf(" shared=%u threads=%u min_ctas=%u max_registers=%u", x->shared_bytes, f->max_threads[0], f->min_ctas,
           f->max_registers);
    for (uint32_t n = 8; rooms && n <= 128; n++)
        printf(" r%u=%u", n, hd_estimate_room(f, x, limits, n));
    printf("\n");
}

static void measure_kernel(const char *path, hd_function *f, hd_pipeline *select, const hd_gpu_limits *limits,
                           hd_diagnostics *diagnostics, bool rooms)
{
    hd_pass_context context;
    hd_estimate_features x;
    hd_pipeline_run_function(select, f, NULL, NULL, diagnostics);
    hd_pass_context_init(&context, f, diagnostics);
    hd_estimate_measure(&context, &x);
    print_kernel(path, f, &x, limits, rooms);
    hd_pass_context_free(&context);
}

static void measure_file(const char *path, bool rooms)
{
    hd_source source;
    hd_diagnostics diagnostics;
    hd_diagnostics_init(&diagnostics);
    if (!hd_source_read(&source, path)) {
        fprintf(stderr, "bench_estimate: %s: cannot be read\n", path);
        exit(1);
    }
    hd_parse_options options = {.ignore_annotations = true};
    hd_module *module = hd_parse_ptx(&source, &options, &diagnostics);
    hd_pipeline *select = hd_pipeline_parse("select", &diagnostics);
    char name[32];
    snprintf(name, sizeof name, "sm_%u", module->target_number);
    hd_gpu *gpu = hd_gpu_load(name, &diagnostics);
    if (!gpu->valid)
        fprintf(stderr, "bench_estimate: %s: there is no description of %s\n", path, name);
    for (uint32_t i = 0; gpu->valid && i < module->functions.count; i++)
        if (module->functions.items[i]->has_body && module->functions.items[i]->is_entry)
            measure_kernel(path, module->functions.items[i], select, &gpu->limits, &diagnostics, rooms);
    hd_gpu_free(gpu);
    hd_pipeline_free(select);
    hd_module_free(module);
    hd_source_free(&source);
    hd_diagnostics_free(&diagnostics);
}

int main(int argc, char **argv)
{
    bool rooms = argc > 1 && !strcmp(argv[1], "-r");
    for (int i = 1 + rooms; i < argc; i++)
        measure_file(argv[i], rooms);
    return 0;
}
