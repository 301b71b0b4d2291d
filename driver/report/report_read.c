/* Reads JSON reports: see report_read.h. Numbers must be non-negative integers, occupancy a fraction. Keys that
 * comparisons do not need are ignored, so that reports of later versions with the same schema can be read. */
#include "driver/report/report_read.h"

#include <jansson.h>

typedef struct number_row {
    const char *path; /* keys separated by points */
    size_t offset;    /* in hd_report_kernel */
    uint8_t bytes;    /* 4 or 8 */
} number_row;

#define NUMBER(path, field)                                                           \
    {                                                                                 \
        path, offsetof(hd_report_kernel, field), sizeof((hd_report_kernel *)0)->field \
    }
static const number_row number_rows[] = {
    NUMBER("instructions", instruction_count),   NUMBER("input_instructions", input_instructions),
    NUMBER("registers.estimate", estimate),      NUMBER("occupancy.registers", use.registers),
    NUMBER("occupancy.ctas", occupancy.ctas),    NUMBER("occupancy.warps", occupancy.warps),
    NUMBER("shared_bytes", static_shared_bytes), NUMBER("local_bytes", local_bytes),
};
/* By schema - 1. */
static const number_row pressure_rows[] = {
    NUMBER("registers.live_peak", max_pressure),
    NUMBER("registers.max_pressure", max_pressure),
};
enum { NEWEST_SCHEMA = sizeof pressure_rows / sizeof *pressure_rows };
static const number_row allocated_row = NUMBER("registers.allocated", allocated),
                        conflicts_row = NUMBER("bank_conflicts.count", bank_conflicts);
static const number_row ptxas_rows[] = {
    NUMBER("ptxas.registers", ptxas.registers),
    NUMBER("ptxas.spill_stores", ptxas.spill_stores),
    NUMBER("ptxas.spill_loads", ptxas.spill_loads),
};

static const number_row spill_rows[] = {
    NUMBER("predicted_spills.stores", predicted.stores),
    NUMBER("predicted_spills.loads", predicted.loads),
};

static const number_row machine_rows[] = {
    NUMBER("machine_code.local_memory.store_bytes", machine.local_store_bytes),
    NUMBER("machine_code.local_memory.load_bytes", machine.local_load_bytes),
};
static const number_row registers_row = NUMBER("machine_code.registers", machine.registers);

typedef struct reader {
    hd_source *source;
    hd_arena *arena;
    hd_diagnostics *diagnostics;
    size_t kernel; /* the kernel being read */
    uint32_t schema;
    bool failed;
} reader;

static void bad_kernel(reader *r, const char *path, const char *expected)
{
    hd_report(r->diagnostics, HD_DIAG_BAD_REPORT, r->source, (hd_span){0, 0},
              "no report of heddle: kernels[%zu].%s is not %s", r->kernel, path, expected);
    r->failed = true;
}

static const json_t *find_member(const json_t *object, const char *path)
{
    while (object) {
        size_t length = strcspn(path, ".");
        char key[64];
        if (length >= sizeof key)
            return NULL;
        memcpy(key, path, length);
        key[length] = '\0';
        object = json_object_get(object, key);
        if (!path[length])
            return object;
        path += length + 1;
    }
    return NULL;
}

static void read_number(reader *r, const json_t *kernel, const number_row *row, hd_report_kernel *into)
{
    const json_t *value = find_member(kernel, row->path);
    json_int_t number = json_integer_value(value);
    if (!json_is_integer(value) || number < 0 || (row->bytes == 4 && number > UINT32_MAX)) {
        bad_kernel(r, row->path, "a number in range");
        return;
    }
    if (row->bytes == 4)
        *(uint32_t *)((char *)into + row->offset) = (uint32_t)number;
    else
        *(uint64_t *)((char *)into + row->offset) = (uint64_t)number;
}

static const char *read_text(reader *r, const json_t *object, const char *path)
{
    const json_t *value = find_member(object, path);
    if (json_is_string(value))
        return hd_arena_string(r->arena, json_string_value(value), json_string_length(value));
    bad_kernel(r, path, "a text");
    return "";
}

static void read_ptxas(reader *r, const json_t *kernel, hd_report_kernel *into)
{
    const json_t *ptxas = find_member(kernel, "ptxas");
    into->ptxas.known = ptxas && !json_is_null(ptxas);
    for (uint32_t i = 0; into->ptxas.known && i < sizeof ptxas_rows / sizeof *ptxas_rows; i++)
        read_number(r, kernel, &ptxas_rows[i], into);
    const json_t *messages = find_member(kernel, "ptxas.messages");
    into->ptxas.messages_unknown = !json_is_array(messages);
    into->ptxas.message_count = (uint32_t)json_array_size(messages);
}

static const char lacking[] = "the report does not have it";

/* null if registers were not allocated */
static void read_allocation(reader *r, const json_t *kernel, hd_report_kernel *into)
{
    into->left_virtual = json_is_null(find_member(kernel, conflicts_row.path));
    if (!into->left_virtual)
        read_number(r, kernel, &conflicts_row, into);
    if (json_is_null(find_member(kernel, allocated_row.path)))
        into->allocated_unknown = lacking;
    else
        read_number(r, kernel, &allocated_row, into);
}

/* A kernel of machine code: what is null is unknown. */
static void read_machine(reader *r, const json_t *kernel, hd_report_kernel *into)
{
    hd_report_machine *m = &into->machine;
    const json_t *bound = find_member(kernel, "machine_code.occupancy_bound");
    for (uint32_t i = 0; i < sizeof machine_rows / sizeof *machine_rows; i++)
        read_number(r, kernel, &machine_rows[i], into);
    if (json_is_null(find_member(kernel, registers_row.path)))
        m->registers_unknown = lacking;
    else
        read_number(r, kernel, &registers_row, into);
    m->info_unknown = json_is_null(find_member(kernel, "shared_bytes")) ? lacking : NULL;
    m->banks_unknown = into->left_virtual ? lacking : NULL;
    m->bound = json_is_string(bound) ? lacking : NULL;
}

static void read_kernel(reader *r, const json_t *kernel, hd_report_kernel *into)
{
    const json_t *fraction = find_member(kernel, "occupancy.fraction"), *entry = find_member(kernel, "entry");
    into->name = read_text(r, kernel, "name");
    into->demangled = read_text(r, kernel, "demangled");
    into->registers_from = read_text(r, kernel, "occupancy.registers_from");
    into->is_entry = json_is_true(entry);
    if (!json_is_boolean(entry))
        bad_kernel(r, "entry", "true or false");
    into->is_machine = json_is_object(find_member(kernel, "machine_code"));
    for (uint32_t i = 0; i < sizeof number_rows / sizeof *number_rows; i++)
        if (!into->is_machine || !json_is_null(find_member(kernel, number_rows[i].path)))
            read_number(r, kernel, &number_rows[i], into);
    read_number(r, kernel, &pressure_rows[r->schema - 1], into);
    into->occupancy.fraction = json_number_value(fraction);
    if (!json_is_number(fraction) || into->occupancy.fraction < 0 || into->occupancy.fraction > 1)
        bad_kernel(r, "occupancy.fraction", "a fraction");
    read_ptxas(r, kernel, into);
    /* the occupancy is an upper bound; reports of schema 1 may lack the key */
    into->dynamic_shared_unknown = json_is_false(find_member(kernel, "occupancy.dynamic_shared_known"));
    if (!json_is_object(find_member(kernel, "predicted_spills")))
        into->predicted.unknown = lacking;
    for (uint32_t i = 0; !into->predicted.unknown && i < sizeof spill_rows / sizeof *spill_rows; i++)
        read_number(r, kernel, &spill_rows[i], into);
    read_allocation(r, kernel, into);
    if (into->is_machine)
        read_machine(r, kernel, into);
}

static void bad_file(reader *r, hd_span span, const char *why)
{
    hd_report(r->diagnostics, HD_DIAG_BAD_REPORT, r->source, span, "no report of heddle: %s", why);
    r->failed = true;
}

/* What the report has at its top, or, on several files, all of its modules have; NULL where they differ. */
static const json_t *common(const json_t *root, const char *key)
{
    const json_t *top = json_object_get(root, key), *modules = json_object_get(root, "modules");
    const json_t *first = json_object_get(json_array_get(modules, 0), key);
    if (!json_is_null(top) || !first)
        return top;
    for (size_t i = 1; i < json_array_size(modules); i++)
        if (!json_equal(json_object_get(json_array_get(modules, i), key), first))
            return NULL;
    return first;
}

static void read_module(reader *r, const json_t *root, hd_report_module *report)
{
    const json_t *kernels = json_object_get(root, "kernels"), *arch = common(root, "arch"), *kernel;
    const json_t *ptxas = common(root, "ptxas_version");
    if (!json_is_string(json_object_get(root, "heddle")) || !json_is_array(kernels) ||
        (arch && !json_is_string(arch)) || (!arch && !json_object_get(root, "modules"))) {
        bad_file(r, (hd_span){0, 0}, "'heddle', 'arch' or 'kernels' is missing");
        return;
    }
    json_int_t schema = json_integer_value(json_object_get(root, "schema"));
    if (schema < 1 || schema > NEWEST_SCHEMA) {
        bad_file(r, (hd_span){0, 0}, "its schema is neither 1 nor 2, the ones that this version reads");
        return;
    }
    r->schema = (uint32_t)schema;
    report->arch = arch ? hd_arena_string(r->arena, json_string_value(arch), json_string_length(arch)) : "several GPUs";
    report->block = (uint32_t)json_integer_value(json_object_get(root, "block"));
    if (json_is_string(ptxas))
        report->ptxas_version = hd_arena_string(r->arena, json_string_value(ptxas), json_string_length(ptxas));
    report->kernels = HD_ARENA_ARRAY(r->arena, hd_report_kernel, json_array_size(kernels) + 1);
    json_array_foreach(kernels, r->kernel, kernel)
    {
        read_kernel(r, kernel, &report->kernels[report->kernel_count++]);
        if (r->failed)
            return;
    }
}

bool hd_report_is_json(const hd_source *source) { return source->text[strspn(source->text, " \t\r\n")] == '{'; }

bool hd_report_read_json(hd_source *source, hd_arena *arena, hd_report_module *report, hd_diagnostics *diagnostics)
{
    reader r = {.source = source, .arena = arena, .diagnostics = diagnostics};
    json_error_t error;
    json_t *root = json_loadb(source->text, source->length, JSON_REJECT_DUPLICATES, &error);
    *report = (hd_report_module){.path = source->name};
    if (!root && json_error_code(&error) == json_error_out_of_memory)
        hd_out_of_memory(0);
    if (root) {
        read_module(&r, root, report);
    } else {
        uint32_t at = error.position > 0 ? (uint32_t)error.position - 1 : 0;
        bad_file(&r, (hd_span){at, at + 1}, hd_arena_printf(arena, "no JSON: %s", error.text));
    }
    json_decref(root);
    return !r.failed;
}
