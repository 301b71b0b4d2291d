/* Copies and fills, between any two memories, and arrays. All are done when the call returns. */
#include "cudart/runtime.h"
#include "cudart/recording.h"

static bool is_on_device(hd_runtime *r, const void *pointer)
{
    return hd_is_device_address(pointer) || hd_cu_block_find(r, pointer, 0);
}

/* Whether the pointers are where the direction says. Host memory that the device sees goes for both. */
static bool fits_direction(hd_runtime *r, const void *to, const void *from, int kind)
{
    bool to_device = kind == HD_COPY_HOST_TO_DEVICE || kind == HD_COPY_DEVICE_TO_DEVICE;
    bool from_device = kind == HD_COPY_DEVICE_TO_HOST || kind == HD_COPY_DEVICE_TO_DEVICE;
    return (!to_device || is_on_device(r, to)) && (!from_device || is_on_device(r, from));
}

int hd_cu_copy(hd_runtime *r, void *to, const void *from, size_t bytes, int kind)
{
    if (kind < HD_COPY_HOST_TO_HOST || kind > HD_COPY_DEFAULT)
        return HD_CUDA_INVALID_MEMCPY_DIRECTION;
    if (!bytes)
        return HD_CUDA_SUCCESS;
    if (!to || !from || !fits_direction(r, to, from, kind))
        return HD_CUDA_INVALID_VALUE;
    const unsigned char *source = hd_bytes_of(r, from, bytes, false);
    unsigned char *target = hd_bytes_of(r, to, bytes, true);
    if (!source || !target)
        return HD_CUDA_INVALID_VALUE;
    memmove(target, source, bytes);
    return HD_CUDA_SUCCESS;
}

static void fill_row(unsigned char *to, uint32_t value, uint32_t element_bytes, size_t width)
{
    if (element_bytes == 1) {
        memset(to, (int)(value & 0xff), width);
        return;
    }
    for (size_t i = 0; i < width; i++)
        memcpy(to + i * element_bytes, &value, element_bytes);
}

int hd_fill(hd_runtime *r, void *to, size_t pitch, uint32_t value, uint32_t element_bytes, size_t width, size_t height)
{
    if (!width || !height)
        return HD_CUDA_SUCCESS;
    if (!to || (height > 1 && pitch < width * element_bytes))
        return HD_CUDA_INVALID_VALUE;
    size_t bytes = pitch * (height - 1) + width * element_bytes;
    unsigned char *target = is_on_device(r, to) ? hd_bytes_of(r, to, bytes, true) : NULL;
    if (!target)
        return HD_CUDA_INVALID_VALUE;
    for (size_t y = 0; y < height; y++)
        fill_row(target + y * pitch, value, element_bytes, width);
    return HD_CUDA_SUCCESS;
}

/* ---- boxes ------------------------------------------------------------------------------------------------------- */

typedef struct side { /* of a copy: rows and slices from its first byte on */
    unsigned char *bytes;
    size_t pitch, slice;
} side;

static size_t at_least_1(size_t n) { return n ? n : 1; }

static bool array_side(hd_runtime *r, const hd_cu_array *a, hd_position3 p, hd_extent e, size_t unit, bool writes,
                       side *s)
{
    size_t width = a->extent.width * a->texel_bytes, height = at_least_1(a->extent.height);
    if (p.x * a->texel_bytes + e.width * unit > width || p.y + e.height > height ||
        p.z + e.depth > at_least_1(a->extent.depth))
        return false;
    if (writes)
        hd_cu_record_written(r, a->allocation);
    s->pitch = width;
    s->slice = width * height;
    s->bytes =
        r->memory.allocations.items[a->allocation].bytes + p.z * s->slice + p.y * s->pitch + p.x * a->texel_bytes;
    return true;
}

static bool memory_side(hd_runtime *r, const hd_pitched *p, hd_position3 at, hd_extent e, size_t unit, bool writes,
                        side *s)
{
    s->pitch = p->pitch;
    s->slice = p->pitch * (p->height ? p->height : at.y + e.height);
    size_t first = at.z * s->slice + at.y * s->pitch + at.x;
    size_t bytes = (e.depth - 1) * s->slice + (e.height - 1) * s->pitch + e.width * unit;
    s->bytes = p->pointer ? hd_bytes_of(r, (char *)p->pointer + first, bytes, writes) : NULL;
    return s->bytes != NULL;
}

int hd_cu_copy_box(hd_runtime *r, const hd_cu_copy3 *c)
{
    side from, to;
    /* with an array the extent counts its texels, else bytes */
    size_t unit = c->from_array ? c->from_array->texel_bytes : c->to_array ? c->to_array->texel_bytes : 1;
    hd_extent e = c->extent;
    if (!e.width || !e.height || !e.depth)
        return HD_CUDA_SUCCESS;
    if ((!c->from_array && !c->from.pointer) || (!c->to_array && !c->to.pointer))
        return HD_CUDA_INVALID_VALUE;
    if (!c->from_array && !c->to_array && !fits_direction(r, c->to.pointer, c->from.pointer, c->kind))
        return HD_CUDA_INVALID_MEMCPY_DIRECTION;
    if ((!c->from_array && e.width * unit > c->from.pitch && e.height > 1) ||
        (!c->to_array && e.width * unit > c->to.pitch && e.height > 1))
        return HD_CUDA_INVALID_PITCH_VALUE;
    if (!(c->from_array ? array_side(r, c->from_array, c->from_position, e, unit, false, &from)
                        : memory_side(r, &c->from, c->from_position, e, unit, false, &from)) ||
        !(c->to_array ? array_side(r, c->to_array, c->to_position, e, unit, true, &to)
                      : memory_side(r, &c->to, c->to_position, e, unit, true, &to)))
        return HD_CUDA_INVALID_VALUE;
    for (size_t z = 0; z < e.depth; z++)
        for (size_t y = 0; y < e.height; y++)
            memmove(to.bytes + z * to.slice + y * to.pitch, from.bytes + z * from.slice + y * from.pitch,
                    e.width * unit);
    return HD_CUDA_SUCCESS;
}
