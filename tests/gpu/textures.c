/* Textures on a device: see textures.h. Not handled, since the driver's interface has none of it: samplers apart from
 * textures, comparison with a depth, several samples a texel; and references by symbol, which it is to lose. */
#include "textures.h"
#include <stdlib.h>

const char *gpu_textures_refused(const hd_launch_file *file)
{
    for (uint32_t i = 0; i < file->textures.count; i++) {
        const hd_texture *t = &file->textures.items[i];
        if (t->kind == HD_TEXTURE_SAMPLER)
            return "it uses a sampler apart from textures";
        if (t->compare != HD_TEXTURE_NO_COMPARE || hd_texture_is_multisample(t))
            return "it uses depth comparison or several samples a texel";
        if (t->symbol)
            return "it uses a texture by its symbol";
    }
    return NULL;
}

static int format_of(const hd_texture *t)
{
    switch ((hd_type)t->type) {
    case HD_TYPE_U8: return GPU_FORMAT_U8;
    case HD_TYPE_S8: return GPU_FORMAT_S8;
    case HD_TYPE_U16: return GPU_FORMAT_U16;
    case HD_TYPE_S16: return GPU_FORMAT_S16;
    case HD_TYPE_U32: return GPU_FORMAT_U32;
    case HD_TYPE_S32: return GPU_FORMAT_S32;
    case HD_TYPE_F16: return GPU_FORMAT_F16;
    default: return GPU_FORMAT_F32;
    }
}

static bool is_layered(const hd_texture *t)
{
    return t->kind == HD_TEXTURE_A1D || t->kind == HD_TEXTURE_A2D || t->kind == HD_TEXTURE_ACUBE;
}

static bool same_texels(const hd_texture *a, const hd_texture *b)
{
    return a->buffer == b->buffer && a->offset == b->offset && a->kind == b->kind && a->type == b->type &&
           a->channels == b->channels && a->width == b->width && a->height == b->height && a->depth == b->depth &&
           a->layers == b->layers;
}

static gpu_array_shape shape_of(const gpu_textures *t, uint32_t index, bool gather)
{
    const hd_texture *x = &t->items[index];
    bool one = x->kind == HD_TEXTURE_1D || x->kind == HD_TEXTURE_A1D, cube = hd_texture_is_cube(x);
    gpu_array_shape s = {
        .width = x->width, .height = one ? 0 : x->height, .format = format_of(x), .channels = x->channels};
    if (is_layered(x) || cube || x->kind == HD_TEXTURE_3D)
        s.depth = (size_t)x->depth * x->layers;
    s.flags = (is_layered(x) ? GPU_ARRAY_LAYERED : 0u) | (cube ? GPU_ARRAY_CUBE : 0u) |
              (gather && x->kind == HD_TEXTURE_2D ? GPU_ARRAY_GATHER : 0u);
    for (uint32_t i = 0; i < t->file->textures.count; i++)
        if (t->items[i].surface && same_texels(x, &t->items[i]))
            s.flags |= GPU_ARRAY_SURFACE;
    return s;
}

static int make_array(gpu_textures *t, uint32_t index, bool gather)
{
    for (uint32_t i = 0; i < index; i++)
        if (t->arrays[i] && same_texels(&t->items[i], &t->items[index])) {
            t->arrays[index] = t->arrays[i];
            return GPU_OK;
        }
    gpu_array_shape shape = shape_of(t, index, gather);
    return t->gpu->array_create(&t->arrays[index], &shape);
}

static int make_object(gpu_textures *t, uint32_t index)
{
    hd_texture *x = &t->items[index];
    gpu_resource resource = {.type = GPU_RESOURCE_ARRAY, .of.array = t->arrays[index]};
    gpu_sampling how = {.filter = x->linear ? GPU_LINEAR : GPU_POINT};
    bool is_float = hd_types[x->type].class == HD_CLASS_FLOAT;
    if (x->kind == HD_TEXTURE_BUFFER) {
        resource = (gpu_resource){.type = GPU_RESOURCE_LINEAR};
        resource.of.linear.address = t->addresses[x->buffer] + x->offset;
        resource.of.linear.format = format_of(x);
        resource.of.linear.channels = x->channels;
        resource.of.linear.bytes = (uint64_t)x->width * hd_texel_bytes(x);
    }
    if (x->surface)
        return t->gpu->surface_create(&x->handle, &resource);
    for (uint32_t k = 0; k < 3; k++)
        how.address[k] = x->address[k] == HD_TEXTURE_WRAP     ? GPU_WRAP
                         : x->address[k] == HD_TEXTURE_MIRROR ? GPU_MIRROR
                         : x->address[k] == HD_TEXTURE_BORDER ? GPU_BORDER
                                                              : GPU_CLAMP;
    how.flags = (!x->to_float && !is_float ? GPU_READ_INTEGER : 0u) | (x->normalized ? GPU_NORMALIZED : 0u) |
                (x->seamless ? GPU_SEAMLESS : 0u);
    return t->gpu->texture_create(&x->handle, &resource, &how, NULL);
}

int gpu_textures_open(gpu_textures *t, const gpu_device *gpu, const hd_launch_file *file, const uint64_t *addresses,
                      bool gather)
{
    uint32_t count = file->textures.count;
    int error = GPU_OK;
    *t = (gpu_textures){gpu, file, addresses, hd_calloc(count + 1, sizeof *t->items),
                        hd_calloc(count + 1, sizeof *t->arrays)};
    for (uint32_t i = 0; i < count; i++) {
        t->items[i] = file->textures.items[i];
        t->items[i].handle = 0;
    }
    for (uint32_t i = 0; i < count && !error; i++) {
        if (t->items[i].kind != HD_TEXTURE_BUFFER)
            error = make_array(t, i, gather);
        if (!error)
            error = make_object(t, i);
    }
    return error;
}

static int copy(const gpu_textures *t, uint32_t index, bool store)
{
    const hd_texture *x = &t->items[index];
    size_t row = (size_t)x->width * hd_texel_bytes(x);
    gpu_copy_side array = {.type = GPU_MEMORY_ARRAY, .array = t->arrays[index]};
    gpu_copy_side buffer = {
        .type = GPU_MEMORY_DEVICE, .address = t->addresses[x->buffer] + x->offset, .pitch = row, .height = x->height};
    gpu_copy_box box = {.from = store ? array : buffer,
                        .to = store ? buffer : array,
                        .width_bytes = row,
                        .height = x->height,
                        .depth = (size_t)x->depth * x->layers};
    return t->gpu->copy_box(&box);
}

int gpu_textures_load(const gpu_textures *t)
{
    int error = GPU_OK;
    for (uint32_t i = 0; i < t->file->textures.count && !error; i++)
        if (t->arrays[i])
            error = copy(t, i, false);
    return error;
}

int gpu_textures_store(const gpu_textures *t)
{
    int error = GPU_OK;
    for (uint32_t i = 0; i < t->file->textures.count && !error; i++)
        if (t->arrays[i] && t->items[i].surface)
            error = copy(t, i, true);
    return error;
}

void gpu_textures_close(gpu_textures *t)
{
    for (uint32_t i = 0; t->items && i < t->file->textures.count; i++) {
        bool shared = false;
        for (uint32_t k = 0; k < i; k++)
            shared = shared || t->arrays[k] == t->arrays[i];
        if (t->items[i].handle)
            (t->items[i].surface ? t->gpu->surface_destroy : t->gpu->texture_destroy)(t->items[i].handle);
        if (t->arrays[i] && !shared)
            t->gpu->array_destroy(t->arrays[i]);
    }
    free(t->items);
    free(t->arrays);
}
