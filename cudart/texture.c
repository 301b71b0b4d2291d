/* Arrays, textures and surfaces. An array's texels are rows without gaps in device memory of its own. */
#include "cudart/api.h"
#include "cudart/operation.h"
#include "cudart/recording.h"
#include <stdio.h>

enum { LAYERED = 1, SURFACE = 2, CUBEMAP = 4 };

/* ---- channels ---------------------------------------------------------------------------------------------------- */

hd_channels hd_cudaCreateChannelDesc(int x, int y, int z, int w, int kind) { return (hd_channels){x, y, z, w, kind}; }

/* The model's type of a channel, and their number; false: a format that it does not have. */
static bool format_of(const hd_channels *c, hd_type *type, uint32_t *count)
{
    static const hd_type types[3][3] = {{HD_TYPE_S8, HD_TYPE_S16, HD_TYPE_S32},
                                        {HD_TYPE_U8, HD_TYPE_U16, HD_TYPE_U32},
                                        {HD_TYPE_NONE, HD_TYPE_F16, HD_TYPE_F32}};
    const int bits[4] = {c->x, c->y, c->z, c->w};
    *count = 0;
    while (*count < 4 && bits[*count])
        (*count)++;
    for (uint32_t i = 0; i < *count; i++)
        if (bits[i] != c->x)
            return false;
    if (c->kind < HD_CHANNEL_SIGNED || c->kind > HD_CHANNEL_FLOAT || (c->x != 8 && c->x != 16 && c->x != 32) ||
        !*count || *count == 3)
        return false;
    *type = types[c->kind][c->x == 8 ? 0 : c->x == 16 ? 1 : 2];
    return *type != HD_TYPE_NONE;
}

/* ---- arrays ------------------------------------------------------------------------------------------------------ */

static size_t at_least_1(size_t n) { return n ? n : 1; }

int hd_cudaMalloc3DArray(hd_cu_array **array, const hd_channels *channels, hd_extent e, unsigned flags)
{
    hd_runtime *r = hd_runtime_enter();
    hd_type type;
    uint32_t count;
    if (!array || !channels || !e.width)
        return hd_runtime_leave(r, HD_CUDA_INVALID_VALUE);
    if (!format_of(channels, &type, &count))
        return hd_runtime_leave(r, HD_CUDA_INVALID_CHANNEL_DESCRIPTOR);
    uint32_t texel = hd_types[type].bits / 8u * count;
    uint32_t at = hd_cu_block_new(r, HD_BLOCK_ARRAY, "array",
                                  (uint64_t)e.width * at_least_1(e.height) * at_least_1(e.depth) * texel, flags);
    if (at == HD_NONE)
        return hd_runtime_leave(r, HD_CUDA_MEMORY_ALLOCATION);
    hd_cu_array *a = hd_calloc(1, sizeof *a);
    *a = (hd_cu_array){*channels, e, flags, texel, at};
    *array = a;
    return hd_runtime_leave(r, HD_CUDA_SUCCESS);
}

int hd_cudaMallocArray(hd_cu_array **array, const hd_channels *channels, size_t width, size_t height, unsigned flags)
{
    return hd_cudaMalloc3DArray(array, channels, (hd_extent){width, height, 0}, flags);
}

int hd_cudaFreeArray(hd_cu_array *array)
{
    hd_runtime *r = hd_runtime_enter();
    if (array) {
        hd_cu_block_free(r, array->allocation);
        free(array);
    }
    return hd_runtime_leave(r, HD_CUDA_SUCCESS);
}

int hd_cudaArrayGetInfo(hd_channels *channels, hd_extent *extent, unsigned *flags, hd_cu_array *array)
{
    hd_runtime *r = hd_runtime_enter();
    if (!array)
        return hd_runtime_leave(r, HD_CUDA_INVALID_VALUE);
    if (channels)
        *channels = array->channels;
    if (extent)
        *extent = array->extent;
    if (flags)
        *flags = array->flags;
    return hd_runtime_leave(r, HD_CUDA_SUCCESS);
}

int hd_cudaGetChannelDesc(hd_channels *channels, const hd_cu_array *array)
{
    return hd_cudaArrayGetInfo(channels, NULL, NULL, (hd_cu_array *)(uintptr_t)array);
}

/* ---- copies of arrays: widths and x in bytes --------------------------------------------------------------------- */

static hd_position3 position(const hd_cu_array *a, size_t x, size_t y)
{
    return (hd_position3){a->texel_bytes ? x / a->texel_bytes : x, y, 0};
}

int hd_cudaMemcpy2DToArrayAsync(hd_cu_array *to, size_t x, size_t y, const void *from, size_t pitch, size_t width,
                                size_t height, int kind, void *stream)
{
    if (!to)
        return hd_runtime_leave(hd_runtime_enter(), HD_CUDA_INVALID_VALUE);
    hd_cu_copy3 c = {.from = {(void *)(uintptr_t)from, pitch, width, height},
                     .to_array = to,
                     .to_position = position(to, x, y),
                     .extent = {width / to->texel_bytes, height, 1},
                     .kind = kind};
    return hd_cudaMemcpy3DAsync(&c, stream);
}
int hd_cudaMemcpy2DToArray(hd_cu_array *to, size_t x, size_t y, const void *from, size_t pitch, size_t width,
                           size_t height, int kind)
{
    return hd_cudaMemcpy2DToArrayAsync(to, x, y, from, pitch, width, height, kind, NULL);
}

int hd_cudaMemcpy2DFromArrayAsync(void *to, size_t pitch, const hd_cu_array *from, size_t x, size_t y, size_t width,
                                  size_t height, int kind, void *stream)
{
    if (!from)
        return hd_runtime_leave(hd_runtime_enter(), HD_CUDA_INVALID_VALUE);
    hd_cu_copy3 c = {.from_array = (hd_cu_array *)(uintptr_t)from,
                     .from_position = position(from, x, y),
                     .to = {to, pitch, width, height},
                     .extent = {width / from->texel_bytes, height, 1},
                     .kind = kind};
    return hd_cudaMemcpy3DAsync(&c, stream);
}
int hd_cudaMemcpy2DFromArray(void *to, size_t pitch, const hd_cu_array *from, size_t x, size_t y, size_t width,
                             size_t height, int kind)
{
    return hd_cudaMemcpy2DFromArrayAsync(to, pitch, from, x, y, width, height, kind, NULL);
}

/* Bytes that run over the ends of rows: row by row. */
typedef int row_copy(hd_cu_array *array, size_t x, size_t y, char *memory, size_t bytes, int kind, void *stream);
static int copy_rows(hd_cu_array *a, size_t x, size_t y, char *memory, size_t bytes, int kind, void *stream,
                     row_copy *copy)
{
    int error = HD_CUDA_SUCCESS;
    if (!a)
        return hd_runtime_leave(hd_runtime_enter(), HD_CUDA_INVALID_VALUE);
    size_t row = a->extent.width * a->texel_bytes;
    for (; bytes && !error; y++, x = 0) {
        size_t part = row - x < bytes ? row - x : bytes;
        error = copy(a, x, y, memory, part, kind, stream);
        memory += part;
        bytes -= part;
    }
    return error;
}
static int row_to(hd_cu_array *a, size_t x, size_t y, char *memory, size_t bytes, int kind, void *stream)
{
    return hd_cudaMemcpy2DToArrayAsync(a, x, y, memory, bytes, bytes, 1, kind, stream);
}
static int row_from(hd_cu_array *a, size_t x, size_t y, char *memory, size_t bytes, int kind, void *stream)
{
    return hd_cudaMemcpy2DFromArrayAsync(memory, bytes, a, x, y, bytes, 1, kind, stream);
}

int hd_cudaMemcpyToArrayAsync(hd_cu_array *to, size_t x, size_t y, const void *from, size_t bytes, int kind,
                              void *stream)
{
    return copy_rows(to, x, y, (char *)(uintptr_t)from, bytes, kind, stream, row_to);
}
int hd_cudaMemcpyToArray(hd_cu_array *to, size_t x, size_t y, const void *from, size_t bytes, int kind)
{
    return hd_cudaMemcpyToArrayAsync(to, x, y, from, bytes, kind, NULL);
}
int hd_cudaMemcpyFromArrayAsync(void *to, const hd_cu_array *from, size_t x, size_t y, size_t bytes, int kind,
                                void *stream)
{
    return copy_rows((hd_cu_array *)(uintptr_t)from, x, y, to, bytes, kind, stream, row_from);
}
int hd_cudaMemcpyFromArray(void *to, const hd_cu_array *from, size_t x, size_t y, size_t bytes, int kind)
{
    return hd_cudaMemcpyFromArrayAsync(to, from, x, y, bytes, kind, NULL);
}

/* ---- objects ----------------------------------------------------------------------------------------------------- */

static void shape_of_array(const hd_cu_array *a, hd_texture *t)
{
    bool layered = a->flags & LAYERED, cube = a->flags & CUBEMAP;
    t->width = (uint32_t)a->extent.width;
    t->height = (uint32_t)at_least_1(a->extent.height);
    t->depth = (uint32_t)at_least_1(a->extent.depth);
    t->layers = 1;
    if (cube) {
        t->kind = layered ? HD_TEXTURE_ACUBE : HD_TEXTURE_CUBE;
        t->layers = layered ? t->depth / 6 : 1;
        t->depth = 6;
    } else if (layered) {
        t->kind = a->extent.height ? HD_TEXTURE_A2D : HD_TEXTURE_A1D;
        t->layers = t->depth;
        t->depth = 1;
    } else {
        t->kind = a->extent.depth ? HD_TEXTURE_3D : a->extent.height ? HD_TEXTURE_2D : HD_TEXTURE_1D;
    }
}

/* Shape, format and memory; an error code. `buffer` is the index of the allocation. */
static int source_of(hd_runtime *r, const hd_resource *of, hd_texture *t)
{
    const hd_channels *channels;
    const void *pointer = NULL;
    hd_type type;
    uint32_t count;
    size_t bytes = 0;
    if (of->kind == HD_RESOURCE_ARRAY && of->of.array) {
        shape_of_array(of->of.array, t);
        channels = &of->of.array->channels;
    } else if (of->kind == HD_RESOURCE_LINEAR) {
        channels = &of->of.linear.channels;
        pointer = of->of.linear.pointer;
        bytes = of->of.linear.bytes;
        t->kind = HD_TEXTURE_BUFFER;
        t->height = t->depth = t->layers = 1;
    } else if (of->kind == HD_RESOURCE_PITCHED) {
        channels = &of->of.pitched.channels;
        pointer = of->of.pitched.pointer;
        bytes = of->of.pitched.pitch * of->of.pitched.height;
        t->kind = HD_TEXTURE_2D;
        t->width = (uint32_t)of->of.pitched.width;
        t->height = (uint32_t)of->of.pitched.height;
        t->depth = t->layers = 1;
    } else {
        return of->kind == HD_RESOURCE_MIPMAPPED ? hd_cuda_missing("cudaCreateTextureObject of a mipmapped array")
                                                 : HD_CUDA_INVALID_VALUE;
    }
    if (!format_of(channels, &type, &count))
        return HD_CUDA_INVALID_CHANNEL_DESCRIPTOR;
    t->type = (uint8_t)type;
    t->channels = (uint8_t)count;
    uint32_t texel = hd_texel_bytes(t);
    if (of->kind == HD_RESOURCE_LINEAR)
        t->width = (uint32_t)(bytes / texel);
    if (of->kind == HD_RESOURCE_PITCHED)
        t->row_texels = (uint32_t)(of->of.pitched.pitch / texel);
    const hd_allocation *a =
        pointer
            ? hd_cu_block_find(r, pointer, bytes - (t->row_texels - t->width) * (size_t)texel * (t->row_texels != 0))
            : &r->memory.allocations.items[of->of.array ? of->of.array->allocation : 0];
    if (!a || (of->kind != HD_RESOURCE_ARRAY && !pointer))
        return HD_CUDA_INVALID_VALUE;
    t->buffer = a->index;
    t->offset = pointer ? (uint64_t)(uintptr_t)pointer - a->base : 0;
    t->bytes = a->bytes + t->offset;
    return HD_CUDA_SUCCESS;
}

static int sampling_of(const hd_sampling *s, hd_texture *t)
{
    bool is_float = hd_types[t->type].class == HD_CLASS_FLOAT, by_index = t->kind == HD_TEXTURE_BUFFER;
    if (s->srgb)
        return hd_cuda_missing("cudaCreateTextureObject with sRGB");
    if (s->read && !is_float && hd_types[t->type].bits == 32)
        return HD_CUDA_INVALID_NORM_SETTING;
    t->to_float = s->read && !is_float;
    t->linear = s->filter && !by_index;
    if (t->linear && !is_float && !t->to_float)
        return HD_CUDA_INVALID_FILTER_SETTING;
    t->normalized = (s->normalized || hd_texture_is_cube(t)) && !by_index;
    for (uint32_t i = 0; i < 3; i++) { /* the first two modes need normalized coordinates; else it is clamp */
        bool repeats = s->address[i] == HD_TEXTURE_WRAP || s->address[i] == HD_TEXTURE_MIRROR;
        t->address[i] = (uint8_t)(repeats && !t->normalized ? HD_TEXTURE_CLAMP : s->address[i]);
    }
    t->seamless = s->seamless && hd_texture_is_cube(t);
    return HD_CUDA_SUCCESS;
}

static uint64_t add_object(hd_runtime *r, hd_texture t, const hd_resource *resource, const hd_sampling *sampling)
{
    uint32_t index = r->textures.count;
    t.name = hd_arena_printf(&r->arena, "%s%u", t.surface ? "surface" : "texture", index);
    t.handle = HD_TEXTURE_FIRST_HANDLE + index;
    hd_array_push(&r->textures, t);
    hd_array_push(&r->resources, *resource);
    hd_array_push(&r->samplings, sampling ? *sampling : (hd_sampling){0});
    hd_cu_record_texture(r, index);
    return t.handle;
}

int hd_cudaCreateTextureObject(unsigned long long *object, const hd_resource *resource, const hd_sampling *sampling,
                               const void *view)
{
    hd_runtime *r = hd_runtime_enter();
    hd_texture t = {0};
    if (view)
        return hd_runtime_leave(r, hd_cuda_missing("cudaCreateTextureObject with a resource view"));
    if (!object || !resource || !sampling)
        return hd_runtime_leave(r, HD_CUDA_INVALID_VALUE);
    int error = source_of(r, resource, &t);
    error = error ? error : sampling_of(sampling, &t);
    if (!error)
        *object = add_object(r, t, resource, sampling);
    return hd_runtime_leave(r, error);
}

int hd_cudaCreateSurfaceObject(unsigned long long *object, const hd_resource *resource)
{
    hd_runtime *r = hd_runtime_enter();
    hd_texture t = {.surface = true, .address = {HD_TEXTURE_CLAMP, HD_TEXTURE_CLAMP, HD_TEXTURE_CLAMP}};
    if (!object || !resource || resource->kind != HD_RESOURCE_ARRAY)
        return hd_runtime_leave(r, HD_CUDA_INVALID_VALUE);
    int error = source_of(r, resource, &t);
    if (!error)
        *object = add_object(r, t, resource, NULL);
    return hd_runtime_leave(r, error);
}

static hd_texture *object_of(hd_runtime *r, unsigned long long handle, bool surface)
{
    uint64_t index = handle - HD_TEXTURE_FIRST_HANDLE;
    hd_texture *t = index < r->textures.count ? &r->textures.items[index] : NULL;
    return t && !t->released && t->surface == surface ? t : NULL;
}

/* Its entry remains, without memory: handles are not used again. */
static int destroy(unsigned long long object, bool surface)
{
    hd_runtime *r = hd_runtime_enter();
    hd_texture *t = object_of(r, object, surface);
    if (t)
        t->released = true;
    return hd_runtime_leave(r, t || !object ? HD_CUDA_SUCCESS : HD_CUDA_INVALID_VALUE);
}
int hd_cudaDestroyTextureObject(unsigned long long object) { return destroy(object, false); }
int hd_cudaDestroySurfaceObject(unsigned long long object) { return destroy(object, true); }

static int get_resource(hd_resource *resource, unsigned long long object, bool surface)
{
    hd_runtime *r = hd_runtime_enter();
    const hd_texture *t = object_of(r, object, surface);
    enum { BYTES_11 = offsetof(hd_resource, flags) };
    if (t && resource)
        memcpy(resource, &r->resources.items[t - r->textures.items], BYTES_11);
    return hd_runtime_leave(r, t && resource ? HD_CUDA_SUCCESS : HD_CUDA_INVALID_VALUE);
}
int hd_cudaGetTextureObjectResourceDesc(hd_resource *resource, unsigned long long object)
{
    return get_resource(resource, object, false);
}
int hd_cudaGetSurfaceObjectResourceDesc(hd_resource *resource, unsigned long long object)
{
    return get_resource(resource, object, true);
}

int hd_cudaGetTextureObjectTextureDesc(hd_sampling *sampling, unsigned long long object)
{
    hd_runtime *r = hd_runtime_enter();
    const hd_texture *t = object_of(r, object, false);
    if (t && sampling)
        *sampling = r->samplings.items[t - r->textures.items];
    return hd_runtime_leave(r, t && sampling ? HD_CUDA_SUCCESS : HD_CUDA_INVALID_VALUE);
}
