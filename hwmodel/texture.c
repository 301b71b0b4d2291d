/* Handles of textures: see texture.h. Handles are consecutive; symbols are looked through, there are few. */
#include "hwmodel/texture.h"

const char *const hd_texture_kind_names[HD_TEXTURE_KINDS] = {
    [HD_TEXTURE_1D] = "1d",     [HD_TEXTURE_2D] = "2d",       [HD_TEXTURE_3D] = "3d",
    [HD_TEXTURE_A1D] = "a1d",   [HD_TEXTURE_A2D] = "a2d",     [HD_TEXTURE_CUBE] = "cube",
    [HD_TEXTURE_ACUBE] = "acube", [HD_TEXTURE_BUFFER] = "buffer", [HD_TEXTURE_SAMPLER] = "sampler",
};

const hd_texture *hd_texture_find(const hd_texture_set *set, uint64_t handle)
{
    if (!set || !handle)
        return NULL;
    if (handle - HD_TEXTURE_FIRST_HANDLE < set->count)
        return &set->items[handle - HD_TEXTURE_FIRST_HANDLE];
    for (uint32_t i = 0; i < set->count; i++)
        if (set->items[i].symbol_address == handle)
            return &set->items[i];
    return NULL;
}
