/* Textures, surfaces and samplers, and the layout of their texels.
 *
 * The texels are bytes of a buffer, without padding but that of rows: x fastest, then y, z or layer (of a cube: face,
 * then layer). Multiple samples of a texel are adjacent. A surface is a writable texture; writes go to the buffer and
 * are seen by the next read.
 *
 * A kernel refers to a texture by a 64-bit handle, or by the address of the module's .texref, .surfref or .samplerref
 * variable bound to it.
 */
#ifndef HD_HWMODEL_MEMORY_TEXTURE_H
#define HD_HWMODEL_MEMORY_TEXTURE_H

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
    HD_TEXTURE_2DMS, /* several samples a texel: fetched by index and sample only */
    HD_TEXTURE_A2DMS,
    HD_TEXTURE_BUFFER,  /* linear memory: fetched by index only */
    HD_TEXTURE_SAMPLER, /* sampling parameters, without texels */
    HD_TEXTURE_KINDS
} hd_texture_kind;

typedef enum hd_texture_address {
    HD_TEXTURE_WRAP,
    HD_TEXTURE_CLAMP,
    HD_TEXTURE_MIRROR,
    HD_TEXTURE_BORDER /* outside is zero */
} hd_texture_address;

typedef enum hd_texture_compare { /* the given value OPERATION the texel */
                                  HD_TEXTURE_NO_COMPARE,
                                  HD_TEXTURE_NEVER,
                                  HD_TEXTURE_LESS,
                                  HD_TEXTURE_LESS_EQUAL,
                                  HD_TEXTURE_EQUAL,
                                  HD_TEXTURE_NOT_EQUAL,
                                  HD_TEXTURE_GREATER_EQUAL,
                                  HD_TEXTURE_GREATER,
                                  HD_TEXTURE_ALWAYS,
                                  HD_TEXTURE_COMPARISONS
} hd_texture_compare;

typedef struct hd_texture {
    const char *name;
    uint8_t kind;
    uint8_t type, channels;            /* hd_type of a channel; 1, 2 or 4 */
    uint8_t address[3];                /* hd_texture_address, by dimension */
    bool linear, normalized, to_float; /* to_float: integers read as [0, 1] or [-1, 1] */
    bool seamless;                     /* of cubes: linear filtering across the edges of faces */
    bool surface;                      /* accessed by index, not sampled */
    uint8_t compare;                   /* hd_texture_compare, of depth textures and their samplers */
    uint8_t samples;                   /* of multisample textures; else 0 */
    uint32_t width, height, depth;     /* 1 if the kind has no such dimension; depth of a cube: 6 */
    uint32_t row_texels;               /* from one row to the next; 0: width */
    uint32_t layers;                   /* of arrays; else 1 */
    uint32_t buffer;                   /* index in the launch file; HD_NONE: a sampler */
    uint64_t offset;                   /* of the first texel in the buffer */
    const char *symbol;                /* or NULL */
    const hd_yaml_node *node;          /* of its name in the launch file */
    unsigned char *bytes;              /* the first texel, once its address is known */
    uint64_t texel_address;            /* of the first texel, in global memory */
    uint64_t handle, symbol_address;   /* symbol_address: generic; 0 where there is none */
    bool released;                     /* its handle names nothing any more */
} hd_texture;

typedef struct hd_texture_set {
    const hd_texture *items;
    uint32_t count;
} hd_texture_set;

#define HD_TEXTURE_FIRST_HANDLE 0x7e00000000000001ull /* not a memory address */

static inline uint32_t hd_texel_bytes(const hd_texture *t) { return hd_types[t->type].bits / 8u * t->channels; }
static inline bool hd_texture_is_cube(const hd_texture *t)
{
    return t->kind == HD_TEXTURE_CUBE || t->kind == HD_TEXTURE_ACUBE;
}
static inline bool hd_texture_is_multisample(const hd_texture *t)
{
    return t->kind == HD_TEXTURE_2DMS || t->kind == HD_TEXTURE_A2DMS;
}

/* The texture of a handle or of a variable's address; NULL: none. */
const hd_texture *hd_texture_find(const hd_texture_set *set, uint64_t handle);

/* ---- reading and writing ----------------------------------------------------------------------------------------- */

enum { HD_TEXEL_READS = 16 /* of one sample, at most: 4 corners, of each up to 3 texels of a cube */ };
typedef struct hd_texel_reads { /* offsets of the texels that were read, in bytes from the first one */
    uint32_t count;
    uint64_t offsets[HD_TEXEL_READS];
} hd_texel_reads;

typedef struct hd_texture_point {
    double at[3];      /* x, y, z as given by the instruction; for a cube: the direction */
    int64_t index[3];  /* the same, for integer coordinates */
    int32_t offset[3]; /* in texels */
    uint32_t layer;    /* of arrays */
    uint32_t sample;   /* of multisample textures: less than they have */
    bool compare;      /* each texel is 1 or 0, the result of comparing `reference` with it */
    float reference;
    hd_texel_reads *reads; /* what is read is added to it; NULL: nobody wants to know */
} hd_texture_point;

/* The result: four f32 for floating-point types or types read as such (hd_texture_is_float), else integers extended to
 * 32 bits. Components that the format does not have are 0, 0, 1. */
typedef struct hd_texel {
    union {
        float f[4];
        uint32_t u[4];
    } of;
} hd_texel;
static inline bool hd_texture_is_float(const hd_texture *t)
{
    return t->to_float || hd_types[t->type].class == HD_CLASS_FLOAT;
}

/* Samples with the parameters of `how` (the texture itself, or a sampler): point or linear. */
void hd_texture_sample(const hd_texture *t, const hd_texture *how, const hd_texture_point *p, hd_texel *texel);
/* Reads a texel by index; zero outside. */
void hd_texture_fetch(const hd_texture *t, const hd_texture_point *p, hd_texel *texel);
/* Component c of the four surrounding texels: (i, j + 1), (i + 1, j + 1), (i + 1, j), (i, j). */
void hd_texture_gather(const hd_texture *t, const hd_texture *how, const hd_texture_point *p, uint32_t c,
                       hd_texel *texel);

typedef enum hd_surface_bounds { HD_SURFACE_TRAP, HD_SURFACE_CLAMP, HD_SURFACE_ZERO } hd_surface_bounds;
/* Address of `size` bytes; index[0] counts bytes, or texels if `formatted`. NULL: outside (trap, zero). */
unsigned char *hd_surface_address(const hd_texture *t, const hd_texture_point *p, uint32_t size, bool formatted,
                                  hd_surface_bounds bounds);
/* Writes a texel: `count` components, floats if hd_texture_is_float; integers are clamped to the format's range,
 * missing components are 0. */
void hd_texel_store(const hd_texture *t, const hd_texel *texel, uint32_t count, unsigned char *to);

extern const char *const hd_texture_kind_names[HD_TEXTURE_KINDS];
extern const char *const hd_texture_compare_names[HD_TEXTURE_COMPARISONS];

#endif
