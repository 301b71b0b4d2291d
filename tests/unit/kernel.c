#include "kernel.h"
#include "base/origins.h"
#include "base/writer.h"
#include "passes/manager/manager.h"

#include <stdlib.h>

/* "main.cu:4", after the text `before`, where a .loc says so; else nothing. */
static void write_origin(char *text, size_t size, const char *before, const hd_source *source, hd_span span)
{
    hd_origin origins[HD_MOST_INLINED];
    text[0] = 0;
    if (source && hd_source_origins(source, span.begin, origins))
        snprintf(text, size, "%s%s:%u", before, origins[0].file, origins[0].line);
}

static void keep_first(kernel_run *run, const hd_diagnostics *d)
{
    run->diagnostics = d->error_count + d->warning_count;
    if (!d->first)
        return;
    snprintf(run->message, sizeof run->message, "%s", d->first->message);
    run->detail = d->first->detail;
    snprintf(run->slug, sizeof run->slug, "%s", hd_diagnostic_slug(d->first->kind));
    for (const hd_note *n = d->first->notes; n; n = n->next) {
        size_t used = strlen(run->notes);
        uint32_t line = n->source ? hd_source_position(n->source, n->span.begin).line : 0;
        char origin[64];
        write_origin(origin, sizeof origin, ", ", n->source, n->span);
        snprintf(run->notes + used, sizeof run->notes - used, "%u%s: %s\n", line, origin, n->message);
    }
    write_origin(run->origin, sizeof run->origin, "", d->first->source, d->first->span);
    if (d->first->source) {
        hd_position at = hd_source_position(d->first->source, d->first->span.begin);
        run->line = at.line;
        run->column = at.column;
    }
}

static void launch(kernel_run *run, hd_module *module, hd_diagnostics *diagnostics)
{
    hd_memory memory;
    hd_image image;
    hd_memory_init(&memory, run->low_memory ? 32 : module->address_bits);
    assert_true(hd_image_load(&image, module, &memory, diagnostics));
    image.textures = &run->textures;
    uint32_t in = hd_memory_allocate(&memory, "in", HD_SPACE_GLOBAL, run->in_bytes, 0, false);
    uint32_t out = hd_memory_allocate(&memory, "out", HD_SPACE_GLOBAL, run->out_bytes, 0, false);
    uint32_t space = hd_memory_allocate(&memory, "workspace", HD_SPACE_GLOBAL, HD_WORKSPACE_BYTES, 0, false);
    struct {
        uint64_t in, out;
        unsigned char values[VALUES_BYTES];
    } parameters = {memory.allocations.items[in].base, memory.allocations.items[out].base, {0}};
    if (run->values)
        memcpy(parameters.values, run->values, VALUES_BYTES);
    if (run->in_bytes)
        memcpy(memory.allocations.items[in].bytes, run->in, run->in_bytes);
    if (run->out_bytes)
        memcpy(memory.allocations.items[out].bytes, run->out, run->out_bytes);
    hd_function *kernel = hd_module_find_function(module, "k");
    assert_non_null(kernel);
    hd_program *program = hd_program_new(module, kernel, &image, diagnostics);
    run->status = HD_EXEC_UNSUPPORTED;
    if (program) {
        hd_grid grid = {{run->grid ? run->grid : 1, 1, 1},
                        {run->block ? run->block : 32, 1, 1},
                        run->shared,
                        (const unsigned char *)&parameters,
                        run->cooperative,
                        memory.allocations.items[space].base};
        run->status =
            hd_program_run(program, &grid, &run->options, run->sink, run->sink != NULL, &run->statistics, diagnostics);
        if (run->out_bytes)
            memcpy(run->out, memory.allocations.items[out].bytes, run->out_bytes);
    }
    hd_program_free(program);
    hd_image_free(&image);
    hd_memory_free(&memory);
}

static void run_passes(kernel_run *run, hd_module *module, hd_diagnostics *diagnostics)
{
    if (!run->passes)
        return;
    hd_pipeline *pipeline = hd_pipeline_parse(run->passes, diagnostics);
    assert_non_null(pipeline);
    if (!hd_pipeline_run(pipeline, module, &(hd_pipeline_options){.validate = true}, diagnostics)) {
        keep_first(run, diagnostics);
        fail_msg("%s: %s", run->passes, run->message);
    }
    hd_pipeline_free(pipeline);
}

static hd_module *read_text(kernel_run *run, hd_source *source, hd_diagnostics *diagnostics)
{
    hd_source_from_memory(source, "k.ptx", run->text, strlen(run->text));
    hd_module *module = hd_parse_ptx(source, &(hd_parse_options){.low_memory = run->low_memory}, diagnostics);
    if (diagnostics->error_count) {
        keep_first(run, diagnostics);
        fail_msg("the kernel does not parse: %u: %s", run->line, run->message);
    }
    return module;
}

static void run_once(kernel_run *run)
{
    hd_diagnostics diagnostics;
    hd_source source;
    run->message[0] = run->slug[0] = run->notes[0] = 0;
    run->statistics = (hd_exec_statistics){0};
    hd_diagnostics_init(&diagnostics);
    hd_module *module = run->module ? hd_module_copy(run->module, &diagnostics) : read_text(run, &source, &diagnostics);
    run_passes(run, module, &diagnostics);
    if (run->opened)
        run->opened(run, module);
    launch(run, module, &diagnostics);
    if (run->closing)
        run->closing(run);
    keep_first(run, &diagnostics);
    /* Nothing goes on after a fault, which would report again. */
    assert_true(run->status != HD_EXEC_FAULT || run->options.check_races || run->diagnostics == 1);
    hd_module_free(module);
    hd_diagnostics_free(&diagnostics);
}

/* With KERNEL_RECORD=FILE in the environment, kernels that ran to their end are appended to that file, with what they
 * read and left, for tests/gpu/kernels.c. */
static kernel_record_head begin_record(const kernel_run *run)
{
    return (kernel_record_head){.magic = KERNEL_RECORD_MAGIC,
                                .text_bytes = run->text ? (uint32_t)strlen(run->text) + 1 : 0,
                                .in_bytes = (uint32_t)run->in_bytes,
                                .out_bytes = (uint32_t)run->out_bytes,
                                .grid = run->grid ? run->grid : 1,
                                .block = run->block ? run->block : 32,
                                .shared = run->shared,
                                .cooperative = run->cooperative};
}

/* In one piece, for some tests run kernels on several threads. */
static void record(const kernel_run *run, const kernel_record_head *head, const void *out_before)
{
    static const unsigned char no_values[VALUES_BYTES];
    hd_writer to;
    FILE *file = fopen(getenv("KERNEL_RECORD"), "ab");
    assert_non_null(file);
    hd_writer_to_memory(&to);
    hd_write(&to, (const char *)head, sizeof *head);
    hd_write(&to, run->text, head->text_bytes);
    hd_write(&to, run->values ? run->values : (const void *)no_values, VALUES_BYTES);
    hd_write(&to, run->in, head->in_bytes);
    hd_write(&to, out_before, head->out_bytes);
    hd_write(&to, run->out, head->out_bytes);
    setvbuf(file, NULL, _IONBF, 0);
    assert_int_equal(fwrite(to.buffer.items, 1, to.buffer.count, file), to.buffer.count);
    assert_int_equal(fclose(file), 0);
    hd_writer_free(&to);
}

void run_kernel(kernel_run *run)
{
    bool records = getenv("KERNEL_RECORD") && run->text && !run->module && !run->passes && !run->low_memory &&
                   !run->textures.count;
    kernel_record_head head = begin_record(run);
    void *before = records ? malloc(run->out_bytes + 1) : NULL;
    if (before && run->out_bytes)
        memcpy(before, run->out, run->out_bytes);
    run_once(run);
    if (before && run->status == HD_EXEC_DONE && !run->diagnostics)
        record(run, &head, before);
    free(before);
}

const char *kernel_text_for(char *buffer, size_t size, const char *version, const char *target, const char *body)
{
    snprintf(buffer, size,
             ".version %s\n.target %s\n.address_size 64\n"
             ".visible .entry k(.param .u64 in, .param .u64 out, .param .align 16 .b8 values[%d])\n{\n"
             ".reg .pred %%p<16>;\n.reg .b16 %%h<32>;\n.reg .b32 %%r<64>;\n.reg .b64 %%rd<64>;\n.reg .f32 "
             "%%f<32>;\n.reg .f64 %%fd<32>;%s\n"
             "ld.param.u64 %%rd0, [in];\nld.param.u64 %%rd1, [out];\nmov.u32 %%r0, %%tid.x;\n"
             "%s\nret;\n}\n",
             version, target, VALUES_BYTES, atof(version) >= 8.3 ? ".reg .b128 %q<8>;" : "", body);
    return buffer;
}

const char *kernel_text(char *buffer, size_t size, const char *body)
{
    return kernel_text_for(buffer, size, "8.0", "sm_80", body);
}
