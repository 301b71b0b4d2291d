/* The driver's functions carried out in the functional model. With HEDDLE_MODEL_FLAW=1 every launch changes a byte of
 * the first allocation: the oracle must find that. */
#include "device.h"
#include "hwmodel/exec/exec.h"
#include "parser/parse.h"
#include <stdlib.h>

struct gpu_module {
    hd_source source;
    hd_diagnostics diagnostics;
    hd_module *module;
    hd_image image;
};
struct gpu_function {
    gpu_module_handle module;
    hd_function *function;
};

enum { MOST = 64 };
static hd_memory memory; /* the device's: modules are loaded into it */
static bool opened;
static struct gpu_function functions[MOST];
static uint32_t function_count;

static int no_error(void) { return GPU_OK; }
static int init(unsigned flags) { return flags != 0; }
static int device_count(int *count) { return *count = 1, GPU_OK; }
static int device_get(int *device, int ordinal) { return *device = ordinal, GPU_OK; }
static int device_name(char *name, int size, int device)
{
    (void)device;
    strncpy(name, "the functional model", (size_t)size);
    return GPU_OK;
}
static int device_attribute(int *value, int attribute, int device)
{
    (void)device;
    *value = attribute == GPU_CAPABILITY_MAJOR ? 9 : 0;
    return GPU_OK;
}
static int context_retain(gpu_context_handle *context, int device)
{
    (void)device;
    *context = NULL;
    return GPU_OK;
}
static int context_set(gpu_context_handle context) { return context != NULL; }

static int module_load(gpu_module_handle *out, const void *text, unsigned count, int *options, void **values)
{
    struct gpu_module *m = hd_calloc(1, sizeof *m);
    (void)count, (void)options, (void)values;
    hd_diagnostics_init(&m->diagnostics);
    hd_source_from_memory(&m->source, "module", text, strlen(text));
    m->module = hd_parse_ptx(&m->source, &(hd_parse_options){0}, &m->diagnostics);
    if (!opened)
        hd_memory_init(&memory, m->module->address_bits);
    opened = true;
    *out = m;
    return m->diagnostics.error_count || !hd_image_load(&m->image, m->module, &memory, &m->diagnostics);
}
static int module_unload(gpu_module_handle m)
{
    hd_image_free(&m->image);
    hd_module_free(m->module);
    hd_diagnostics_free(&m->diagnostics);
    free(m);
    hd_memory_free(&memory);
    opened = false;
    function_count = 0;
    return GPU_OK;
}
static int module_function(gpu_function_handle *function, gpu_module_handle module, const char *name)
{
    if (function_count == MOST)
        return 1;
    *function = &functions[function_count++];
    **function = (struct gpu_function){module, hd_module_find_function(module->module, name)};
    return (*function)->function == NULL;
}
static int module_global(gpu_address *address, size_t *size, gpu_module_handle module, const char *name)
{
    const hd_allocation *a = hd_memory_find_name(&memory, name);
    (void)module;
    if (!a)
        return 1;
    *address = a->base;
    *size = a->size;
    return GPU_OK;
}

static int allocate(gpu_address *address, size_t size)
{
    uint32_t at = hd_memory_allocate(&memory, "allocation", HD_SPACE_GLOBAL, size, 0, false);
    *address = memory.allocations.items[at].base;
    return GPU_OK;
}
static int release(gpu_address address) { return address == 0; }
static unsigned char *host(gpu_address address, size_t size)
{
    const hd_allocation *a = hd_memory_find(&memory, address, size);
    return a ? a->bytes + (address - a->base) : NULL;
}
static int copy_in(gpu_address to, const void *from, size_t size)
{
    unsigned char *bytes = host(to, size);
    return bytes ? (memcpy(bytes, from, size), GPU_OK) : 1;
}
static int copy_out(void *to, gpu_address from, size_t size)
{
    const unsigned char *bytes = host(from, size);
    return bytes ? (memcpy(to, bytes, size), GPU_OK) : 1;
}
static int copy(gpu_address to, gpu_address from, size_t size)
{
    unsigned char *a = host(to, size), *b = host(from, size);
    return a && b ? (memmove(a, b, size), GPU_OK) : 1;
}
static int function_attribute(gpu_function_handle function, int attribute, int value)
{
    return !function || attribute != GPU_MOST_DYNAMIC_SHARED || value < 0;
}

static int launch(gpu_function_handle function, unsigned grid_x, unsigned grid_y, unsigned grid_z, unsigned block_x,
                  unsigned block_y, unsigned block_z, unsigned shared, void *stream, void **parameters, void **extra)
{
    gpu_module_handle m = function->module;
    hd_grid grid = {{grid_x, grid_y, grid_z}, {block_x, block_y, block_z}, shared, extra[1]};
    hd_exec_statistics statistics = {0};
    (void)stream, (void)parameters;
    hd_program *program = hd_program_new(m->module, function->function, &m->image, &m->diagnostics);
    if (!program)
        return 1;
    hd_exec_status status =
        hd_program_run(program, &grid, &(hd_exec_options){0}, NULL, 0, &statistics, &m->diagnostics);
    hd_program_free(program);
    if (getenv("HEDDLE_MODEL_FLAW") && memory.globals.count)
        memory.allocations.items[memory.globals.items[memory.globals.count - 1]].bytes[0] ^= 1;
    return status != HD_EXEC_DONE;
}
static int error_text(int error, const char **text)
{
    *text = error ? "refused by the functional model" : "no error";
    return GPU_OK;
}

bool gpu_open(gpu_device *device, const char **why)
{
    *why = "";
    *device = (gpu_device){init, device_count, device_get, device_name, device_attribute, context_retain, context_set,
                           no_error, module_load, module_unload, module_function, module_global, allocate, release,
                           copy_in, copy_out, copy, function_attribute, launch, error_text};
    return true;
}
