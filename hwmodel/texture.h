/* Textures, surfaces and samplers: what one is, and where its texels stand.
 *
 * The texels are bytes of a buffer, without padding: x fastest, then y, then z or layer (of a cube: face, then layer).
 * A surface is a texture that is written; what it writes stands in the buffer, and the next read sees it.
 *
 * A kernel names a texture by a handle of 64 bits, or by the address of the module's .texref, .surfref or .samplerref
 * variable that it is bound to.
 */
#ifndef HD_HWMODEL_TEXTURE_H
#define HD_HWMODEL_TEXTURE_H

#include "base/yaml.h"
#include "ir/ir.h"

typedef enum hd_texture_kind {
    HD_TEXTURE_1D,
    HD_TEXTURE_2D,
    HD_TEXTURE_3D,
    HD_TEXTURE_A1D,
    HD_TEXTURE_A2D,
    HD_TEXTURE_CUBE,
    HD_TEXTURE_ACUBE,
    HD_TEXTURE_BUFFER, /* linear memory: fetched by index only */
    HD_TEXTURE_SAMPLER, /* how to read, without texels */
    HD_TEXTURE_KINDS
} hd_texture_kind;

typedef enum hd_texture_address {
    HD_TEXTURE_WRAP,
    HD_TEXTURE_CLAMP,
    HD_TEXTURE_MIRROR,
    HD_TEXTURE_BORDER /* outside is zero */
} hd_texture_address;

typedef struct hd_texture {
    const char *name;
    uint8_t kind;
    uint8_t type, channels;           /* hd_type of a channel; 1, 2 or 4 */
    uint8_t address[3];               /* hd_texture_address, by dimension */
    bool linear, normalized, to_float; /* to_float: integers read as [0, 1] or [-1, 1] */
    uint32_t width, height, depth;    /* 1 where the kind has no such dimension; depth of a cube: 6 */
    uint32_t layers;                  /* of arrays; else 1 */
    uint32_t buffer;                  /* the launch file's; HD_NONE: a sampler */
    uint64_t offset;                  /* of the first texel in it */
    const char *symbol;               /* or NULL */
    const hd_yaml_node *node;         /* of its name in the launch file */
    unsigned char *bytes;             /* of the first texel, once it is placed */
    uint64_t handle, symbol_address;  /* symbol_address: generic; 0 where there is none */
} hd_texture;

typedef struct hd_texture_set {
    const hd_texture *items;
    uint32_t count;
} hd_texture_set;

#define HD_TEXTURE_FIRST_HANDLE 0x7e00000000000001ull /* no address of memory */

static inline uint32_t hd_texel_bytes(const hd_texture *t) { return hd_types[t->type].bits / 8u * t->channels; }
static inline uint64_t hd_texture_texels(const hd_texture *t)
{
    return (uint64_t)t->width * t->height * t->depth * t->layers;
}

/* The texture of a handle or of a variable's address; NULL where there is none. */
const hd_texture *hd_texture_find(const hd_texture_set *set, uint64_t handle);

extern const char *const hd_texture_kind_names[HD_TEXTURE_KINDS];

#endif
