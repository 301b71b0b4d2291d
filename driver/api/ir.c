/* The jobs of include/heddle/ir.h. A pipeline runs on a copy of the module, which is dropped where a pass fails. */
#include "driver/api/ir.h"

#include "driver/api/settings.h"
#include "driver/check.h"
#include "driver/report/tool.h"
#include "driver/rewrite.h"
#include "emitters/ir/dump.h"
#include "target/gpu.h"

/* ---- opening and closing ----------------------------------------------------------------------------------------- */

static bool read_module(hd_ir_module *m, const hd_input *input, const hd_ir_settings *s)
{
    hd_context *context = m->context;
    hd_parse_options parse = context->parse;
    parse.takes_listings = true;
    parse.ignore_annotations = s->ignore_annotations;
    if (!hd_api_read(context, input, &m->source))
        return false;
    if (!hd_disassemble(&m->source, HD_LISTING_HEX, &context->diagnostics)) {
        hd_source_free(&m->source);
        return false;
    }
    hd_array_push(&m->versions, hd_parse_ptx(&m->source, &parse, &context->diagnostics));
    return !context->diagnostics.error_count;
}

hd_status hd_ir_open(hd_context *context, const hd_input *input, const hd_ir_settings *settings, hd_ir_module **module)
{
    hd_ir_settings s = {0};
    *module = NULL;
    if (!hd_api_begin(context, settings, &s, sizeof s))
        return HD_STATUS_USAGE;
    hd_ir_module *m = hd_calloc(1, sizeof *m);
    m->context = context;
    hd_diagnostics_init(&m->unseen);
    hd_writer_to_memory(&m->names);
    hd_writer_to_memory(&m->spelling);
    hd_writer_to_memory(&m->words);
    hd_writer_to_memory(&m->operands);
    bool good = read_module(m, input, &s);
    hd_status status = hd_status_of(&context->diagnostics);
    hd_api_end(context);
    if (good)
        *module = m;
    else
        hd_ir_close(m);
    return status;
}

void hd_ir_close(hd_ir_module *m)
{
    if (!m)
        return;
    hd_ir_forget(m);
    while (m->versions.count)
        hd_module_free(hd_array_pop(&m->versions));
    hd_array_free(&m->versions);
    hd_diagnostics_free(&m->unseen);
    hd_writer_free(&m->names);
    hd_writer_free(&m->spelling);
    hd_writer_free(&m->words);
    hd_writer_free(&m->operands);
    hd_arena_free(&m->demangled);
    hd_array_free(&m->reads);
    hd_array_free(&m->writes);
    free(m);
}

/* ---- passes and checks ------------------------------------------------------------------------------------------- */

static void run_passes(hd_ir_module *m, const hd_rewrite_options *options)
{
    hd_diagnostics *diagnostics = &m->context->diagnostics;
    hd_module *copy = hd_module_copy(hd_ir_now(m), diagnostics);
    if (!hd_rewrite_module(copy, options, diagnostics) || diagnostics->error_count) {
        hd_module_free(copy);
        return;
    }
    hd_ir_forget(m);
    hd_array_push(&m->versions, copy);
}

hd_status hd_ir_run(hd_ir_module *m, const char *passes, const hd_rewrite_settings *settings)
{
    hd_context *context = m->context;
    hd_rewrite_settings s = {0};
    if (!hd_api_begin(context, settings, &s, sizeof s))
        return HD_STATUS_USAGE;
    hd_rewrite_options options = {.parse = context->parse};
    bool good = hd_settings_take(HD_JOB_REWRITE, &s, &options, &context->diagnostics);
    hd_gpu *gpu = good && s.gpu ? hd_gpu_load_given(s.gpu, &context->given, &context->diagnostics) : NULL;
    hd_pipeline *pipeline = good ? hd_pipeline_parse(passes, &context->diagnostics) : NULL;
    options.passes = pipeline;
    options.pipeline.gpu = gpu;
    if (pipeline && (!gpu || gpu->valid))
        run_passes(m, &options);
    hd_status status = good ? hd_status_of(&context->diagnostics) : HD_STATUS_USAGE;
    hd_api_end(context);
    hd_pipeline_free(pipeline);
    hd_gpu_free(gpu);
    return status;
}

hd_status hd_ir_check(hd_ir_module *m, const char *kernel, uint64_t *annotations)
{
    hd_check_result result;
    hd_api_begin(m->context, NULL, NULL, 0);
    hd_status status = hd_check_module(hd_ir_now(m), kernel, NULL, &m->context->diagnostics, &result);
    hd_api_end(m->context);
    if (annotations)
        *annotations = result.annotations;
    return status;
}

/* ---- texts ------------------------------------------------------------------------------------------------------- */

static void write_json(hd_writer *writer, const hd_module *module)
{
    bool any = false;
    hd_emit_ir_json_begin(writer);
    for (uint32_t i = 0; i < module->functions.count; i++) {
        if (!module->functions.items[i]->has_body)
            continue;
        hd_write_string(writer, any ? ",\n" : "");
        hd_emit_ir_json(writer, module->functions.items[i]);
        any = true;
    }
    hd_emit_ir_json_end(writer);
}

hd_status hd_ir_print(hd_ir_module *m, const hd_ir_print_settings *settings, hd_text *out)
{
    hd_ir_print_settings s = {0};
    hd_writer writer;
    *out = (hd_text){0};
    if (!hd_api_begin(m->context, settings, &s, sizeof s))
        return HD_STATUS_USAGE;
    const hd_emit_options emit = {.spelling = s.format == HD_IR_EXTENDED ? HD_SPELLING_EXTENDED : HD_SPELLING_PORTABLE,
                                  .canonical = s.canonical,
                                  .no_section = s.no_section,
                                  .no_annotations = s.no_annotations};
    hd_module *module = hd_ir_now(m);
    module->diagnostics = &m->context->diagnostics;
    bool good = s.format == HD_IR_JSON || hd_rewrite_can_print(module, &emit);
    hd_writer_to_memory(&writer);
    if (good && s.format == HD_IR_JSON)
        write_json(&writer, module);
    else if (good)
        good = hd_emit_ptx(&writer, module, &emit);
    hd_api_take(&writer, good && !writer.error, out);
    hd_status status = hd_status_of(&m->context->diagnostics);
    hd_api_end(m->context);
    return status;
}

hd_status hd_ir_report_results(hd_ir_module *m, const hd_report_settings *settings, const hd_report_module **report)
{
    hd_text text;
    hd_status status = hd_ir_print(m, NULL, &text);
    const hd_input input = {m->source.name, text.bytes, text.length};
    *report = NULL;
    if (status == HD_STATUS_DONE)
        status = hd_context_report_results(m->context, &input, settings, report);
    hd_text_free(&text);
    return status;
}

hd_status hd_ir_report(hd_ir_module *m, const hd_report_settings *settings, hd_text *report)
{
    hd_text text;
    hd_status status = hd_ir_print(m, NULL, &text);
    const hd_input input = {m->source.name, text.bytes, text.length};
    *report = (hd_text){0};
    if (status == HD_STATUS_DONE)
        status = hd_context_report(m->context, &input, settings, report);
    hd_text_free(&text);
    return status;
}
