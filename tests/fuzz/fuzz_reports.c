/* Fuzz target of gates and of JSON reports. The first byte says what the others are: 0 gates of values, 1 gates of
 * changes, else a JSON report.
 *
 * Gates: what is read is judged over two kernels; every place lies in the text. Reports: what is read is the same as
 * itself, whatever is written of it is JSON again.
 */
#include "driver/report/diff.h"
#include "driver/report/gates.h"
#include "driver/report/report_read.h"

#include <assert.h>
#include <jansson.h>

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

static void check_spans(const hd_diagnostics *diagnostics)
{
    for (const hd_diagnostic *d = diagnostics->first; d; d = d->next)
        assert(!d->source || (d->span.begin <= d->span.end && d->span.begin <= d->source->length &&
                              d->span.end <= d->source->length + 1));
}

static void try_gates(const char *text, hd_gates_mode mode, hd_diagnostics *diagnostics)
{
    hd_arena arena = {0};
    hd_report_kernel kernels[] = {
        {.name = "_Z4sortPi", .demangled = "sort(int*)", .is_entry = true, .registers_from = "ptxas"},
        {.name = "helper", .demangled = "helper", .registers_from = "estimate"}};
    hd_report_module report = {.path = "x", .arch = "sm_80", .kernels = kernels, .kernel_count = 2};
    hd_gates *gates = hd_gates_parse("--require", text, mode, diagnostics);
    assert(!gates == (diagnostics->error_count > 0));
    hd_diff diff = {0};
    if (gates && mode == HD_GATES_OF_VALUES)
        assert(hd_gates_check_report(gates, &report, NULL, &arena, diagnostics) == diagnostics->error_count);
    if (gates && mode == HD_GATES_OF_CHANGES && hd_diff_reports(&report, &report, NULL, &arena, &diff, diagnostics))
        assert(hd_gates_check_diff(gates, &diff, &arena, diagnostics) == diagnostics->error_count);
    check_spans(diagnostics);
    hd_gates_free(gates);
    hd_arena_free(&arena);
}

static void check_written(const hd_diff *diff)
{
    hd_writer writer;
    hd_writer_to_memory(&writer);
    hd_emit_diff_json(&writer, diff);
    json_t *tree = json_loadb(writer.buffer.items, writer.buffer.count, JSON_REJECT_DUPLICATES, NULL);
    assert(tree && json_array_size(json_object_get(tree, "kernels")) == diff->kernel_count);
    json_decref(tree);
    hd_emit_diff_text(&writer, diff);
    hd_writer_free(&writer);
}

static void try_report(const char *text, size_t size, hd_diagnostics *diagnostics)
{
    hd_source source;
    hd_arena arena = {0};
    hd_report_module report;
    hd_diff diff = {0};
    hd_source_from_memory(&source, "x.json", text, size);
    bool read = hd_report_read_json(&source, &arena, &report, diagnostics);
    assert(read == (diagnostics->error_count == 0));
    if (read && hd_diff_reports(&report, &report, NULL, &arena, &diff, diagnostics)) {
        assert(diff.counts[HD_DIFF_SAME] == diff.kernel_count);
        check_written(&diff);
    }
    check_spans(diagnostics);
    hd_arena_free(&arena);
    hd_source_free(&source);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    if (!size)
        return 0;
    hd_diagnostics diagnostics;
    hd_diagnostics_init(&diagnostics);
    char *text = hd_calloc(size, 1);
    memcpy(text, data + 1, size - 1);
    if (*data < 2)
        try_gates(text, *data ? HD_GATES_OF_CHANGES : HD_GATES_OF_VALUES, &diagnostics);
    else
        try_report(text, size - 1, &diagnostics);
    free(text);
    hd_diagnostics_free(&diagnostics);
    return 0;
}
