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

struct gpu_array {
    gpu_array_shape shape;
    unsigned char *bytes; /* rows without gaps */
};

enum { MOST = 64 };
static hd_memory memory; /* the device's: modules are loaded into it */
static bool opened;
static gpu_address first_allocation; /* since the module was loaded */
static struct gpu_function functions[MOST];
static uint32_t function_count;
static hd_texture textures[MOST]; /* with surfaces; handles are consecutive */
static uint32_t texture_count;

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
    function_count = texture_count = 0;
    first_allocation = 0;
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
    first_allocation = first_allocation ? first_allocation : *address;
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

/* ---- arrays, textures -------------------------------------------------------------------------------------------- */

static hd_type type_of(int format)
{
    static const uint8_t types[GPU_FORMAT_F32 + 1] = {
        [GPU_FORMAT_U8] = HD_TYPE_U8,   [GPU_FORMAT_S8] = HD_TYPE_S8,   [GPU_FORMAT_U16] = HD_TYPE_U16,
        [GPU_FORMAT_S16] = HD_TYPE_S16, [GPU_FORMAT_U32] = HD_TYPE_U32, [GPU_FORMAT_S32] = HD_TYPE_S32,
        [GPU_FORMAT_F16] = HD_TYPE_F16, [GPU_FORMAT_F32] = HD_TYPE_F32};
    return (hd_type)types[format];
}
static size_t texel_bytes(const gpu_array_shape *s) { return hd_types[type_of(s->format)].bits / 8u * s->channels; }
static size_t at_least_1(size_t n) { return n ? n : 1; }

/* The driver's rules: cubes are square and have six faces, layers need a depth, only 2D arrays are gathered from. */
static int array_create(gpu_array_handle *array, const gpu_array_shape *s)
{
    bool cube = s->flags & GPU_ARRAY_CUBE, layered = s->flags & GPU_ARRAY_LAYERED;
    if (!s->width || (cube && (s->width != s->height || !s->depth || s->depth % 6 || (!layered && s->depth != 6))) ||
        (layered && !s->depth) || (s->depth && !s->height && !layered) ||
        (s->flags & GPU_ARRAY_GATHER && (s->depth || !s->height)))
        return 1;
    *array = hd_calloc(1, sizeof **array);
    (*array)->shape = *s;
    (*array)->bytes = hd_calloc(s->width * at_least_1(s->height) * at_least_1(s->depth), texel_bytes(s));
    return GPU_OK;
}
static int array_destroy(gpu_array_handle array)
{
    free(array->bytes);
    free(array);
    return GPU_OK;
}

/* Row y of slice z of a side. */
static unsigned char *row_of(const gpu_copy_side *s, const gpu_copy_box *box, size_t y, size_t z)
{
    if (s->type == GPU_MEMORY_DEVICE)
        return host(s->address + (z * s->height + y) * s->pitch, box->width_bytes);
    const gpu_array_shape *a = &s->array->shape;
    bool inside =
        box->width_bytes == a->width * texel_bytes(a) && y < at_least_1(a->height) && z < at_least_1(a->depth);
    return inside ? s->array->bytes + (z * at_least_1(a->height) + y) * box->width_bytes : NULL;
}
static int copy_box(const gpu_copy_box *box)
{
    for (size_t z = 0; z < box->depth; z++)
        for (size_t y = 0; y < box->height; y++) {
            unsigned char *to = row_of(&box->to, box, y, z);
            const unsigned char *from = row_of(&box->from, box, y, z);
            if (!to || !from)
                return 1;
            memcpy(to, from, box->width_bytes);
        }
    return GPU_OK;
}

static hd_texture_kind kind_of(const gpu_array_shape *s)
{
    bool layered = s->flags & GPU_ARRAY_LAYERED;
    if (s->flags & GPU_ARRAY_CUBE)
        return layered ? HD_TEXTURE_ACUBE : HD_TEXTURE_CUBE;
    if (layered)
        return s->height ? HD_TEXTURE_A2D : HD_TEXTURE_A1D;
    return s->depth ? HD_TEXTURE_3D : s->height ? HD_TEXTURE_2D : HD_TEXTURE_1D;
}
static void describe_array(hd_texture *t, const gpu_array_shape *s, unsigned char *bytes)
{
    bool cube = s->flags & GPU_ARRAY_CUBE, layered = s->flags & GPU_ARRAY_LAYERED;
    uint32_t depth = (uint32_t)at_least_1(s->depth);
    t->kind = (uint8_t)kind_of(s);
    t->type = (uint8_t)type_of(s->format);
    t->channels = (uint8_t)s->channels;
    t->width = (uint32_t)s->width;
    t->height = (uint32_t)at_least_1(s->height);
    t->depth = cube ? 6 : layered ? 1 : depth;
    t->layers = cube ? depth / 6 : layered ? depth : 1;
    t->bytes = bytes;
}
static int describe(hd_texture *t, const gpu_resource *r)
{
    if (texture_count == MOST || r->flags)
        return 1;
    *t = (hd_texture){.name = "object", .handle = HD_TEXTURE_FIRST_HANDLE + texture_count};
    if (r->type == GPU_RESOURCE_ARRAY) {
        describe_array(t, &r->of.array->shape, r->of.array->bytes);
        return GPU_OK;
    }
    gpu_array_shape line = {.format = r->of.linear.format, .channels = r->of.linear.channels};
    line.width = r->of.linear.bytes / texel_bytes(&line);
    describe_array(t, &line, host(r->of.linear.address, r->of.linear.bytes));
    t->kind = HD_TEXTURE_BUFFER;
    return t->bytes == NULL || r->of.linear.address % 256 != 0;
}

static int texture_create(uint64_t *texture, const gpu_resource *r, const gpu_sampling *how, const void *view)
{
    hd_texture *t = &textures[texture_count];
    if (view || describe(t, r))
        return 1;
    bool is_float = hd_types[t->type].class == HD_CLASS_FLOAT;
    for (uint32_t k = 0; k < 3; k++)
        t->address[k] = (uint8_t)(how->address[k] == GPU_WRAP     ? HD_TEXTURE_WRAP
                                  : how->address[k] == GPU_MIRROR ? HD_TEXTURE_MIRROR
                                  : how->address[k] == GPU_BORDER ? HD_TEXTURE_BORDER
                                                                  : HD_TEXTURE_CLAMP);
    t->linear = how->filter == GPU_LINEAR;
    t->normalized = how->flags & GPU_NORMALIZED;
    t->seamless = how->flags & GPU_SEAMLESS;
    t->to_float = !is_float && !(how->flags & GPU_READ_INTEGER);
    *texture = t->handle;
    texture_count++;
    return GPU_OK;
}
static int surface_create(uint64_t *surface, const gpu_resource *r)
{
    hd_texture *t = &textures[texture_count];
    if (describe(t, r) || r->type != GPU_RESOURCE_ARRAY || !(r->of.array->shape.flags & GPU_ARRAY_SURFACE))
        return 1;
    t->surface = true;
    *surface = t->handle;
    texture_count++;
    return GPU_OK;
}
static int object_destroy(uint64_t object) { return object - HD_TEXTURE_FIRST_HANDLE >= texture_count; }

/* ---- launches ---------------------------------------------------------------------------------------------------- */

static int run(gpu_function_handle function, const hd_grid *grid)
{
    gpu_module_handle m = function->module;
    hd_exec_statistics statistics = {0};
    hd_texture_set set = {textures, texture_count};
    m->image.textures = &set;
    hd_program *program = hd_program_new(m->module, function->function, &m->image, &m->diagnostics);
    if (!program)
        return 1;
    hd_exec_status status = hd_program_run(program, grid, &(hd_exec_options){0}, NULL, 0, &statistics, &m->diagnostics);
    hd_program_free(program);
    m->image.textures = NULL;
    if (getenv("HEDDLE_MODEL_FLAW") && first_allocation)
        ++*host(first_allocation, 1);
    return status != HD_EXEC_DONE;
}

/* The block of parameters that are given one by one. To be freed. */
static unsigned char *block_of(gpu_function_handle function, void **parameters)
{
    const hd_module *m = function->module->module;
    uint32_t count = function->function->parameter_count, size = hd_parameter_block_bytes(m, function->function);
    unsigned char *block = hd_calloc(size + 32, 1);
    for (uint32_t i = 0; i < count; i++) {
        uint32_t at = hd_parameter_offset(m, function->function, i);
        uint32_t end = i + 1 < count ? hd_parameter_offset(m, function->function, i + 1) : size;
        memcpy(block + at, parameters[i], end - at);
    }
    return block;
}

static int launch_cooperative(gpu_function_handle function, unsigned grid_x, unsigned grid_y, unsigned grid_z,
                              unsigned block_x, unsigned block_y, unsigned block_z, unsigned shared, void *stream,
                              void **parameters)
{
    unsigned char *block = block_of(function, parameters);
    hd_grid grid = {{grid_x, grid_y, grid_z}, {block_x, block_y, block_z}, shared, block, true, 0};
    int error = allocate(&grid.workspace, HD_WORKSPACE_BYTES) || run(function, &grid);
    (void)stream;
    free(block);
    return error;
}

static int launch(gpu_function_handle function, unsigned grid_x, unsigned grid_y, unsigned grid_z, unsigned block_x,
                  unsigned block_y, unsigned block_z, unsigned shared, void *stream, void **parameters, void **extra)
{
    unsigned char *block = extra ? NULL : block_of(function, parameters);
    hd_grid grid = {{grid_x, grid_y, grid_z}, {block_x, block_y, block_z}, shared, extra ? extra[1] : block, false, 0};
    int error = run(function, &grid);
    (void)stream;
    free(block);
    return error;
}
static int error_text(int error, const char **text)
{
    *text = error ? "refused by the functional model" : "no error";
    return GPU_OK;
}

bool gpu_open(gpu_device *device, const char **why)
{
    *why = "";
    *device = (gpu_device){init,
                           device_count,
                           device_get,
                           device_name,
                           device_attribute,
                           context_retain,
                           context_set,
                           no_error,
                           module_load,
                           module_unload,
                           module_function,
                           module_global,
                           allocate,
                           release,
                           copy_in,
                           copy_out,
                           copy,
                           function_attribute,
                           launch,
                           launch_cooperative,
                           array_create,
                           array_destroy,
                           copy_box,
                           texture_create,
                           object_destroy,
                           surface_create,
                           object_destroy,
                           error_text};
    return true;
}
