/* Launch files: reads the section `textures:`. */
#include "hwmodel/launch/launch_reader.h"
#include <inttypes.h>

typedef hd_launch_reader reader;

/* Channel types and the sizes that a texture of each kind has. */
static const struct kind_rule {
    bool width, height, depth, layers, samples;
} kind_rules[HD_TEXTURE_KINDS] = {
    [HD_TEXTURE_1D] = {.width = true},
    [HD_TEXTURE_2D] = {.width = true, .height = true},
    [HD_TEXTURE_3D] = {.width = true, .height = true, .depth = true},
    [HD_TEXTURE_A1D] = {.width = true, .layers = true},
    [HD_TEXTURE_A2D] = {.width = true, .height = true, .layers = true},
    [HD_TEXTURE_CUBE] = {.width = true},
    [HD_TEXTURE_ACUBE] = {.width = true, .layers = true},
    [HD_TEXTURE_2DMS] = {.width = true, .height = true, .samples = true},
    [HD_TEXTURE_A2DMS] = {.width = true, .height = true, .layers = true, .samples = true},
    [HD_TEXTURE_BUFFER] = {.width = true},
    [HD_TEXTURE_SAMPLER] = {.width = false},
};

enum { LARGEST_SIDE = 1 << 27 };

static bool read_side(const hd_yaml_node *node, const char *key, bool wanted, uint32_t *side)
{
    const hd_yaml_node *value = hd_yaml_get(node, key);
    *side = 1;
    if (wanted)
        return hd_yaml_u32(hd_yaml_need(node, key), 1, LARGEST_SIDE, side);
    if (value)
        hd_yaml_error(value, HD_DIAG_BAD_KEY, "a texture of this type has no %s", key);
    return !value;
}

static bool read_sides(const hd_yaml_node *node, hd_texture *t)
{
    const struct kind_rule *rule = &kind_rules[t->kind];
    uint32_t samples;
    if (!read_side(node, "samples", rule->samples, &samples))
        return false;
    if (samples > 16 || (samples & (samples - 1))) {
        hd_yaml_error(hd_yaml_get(node, "samples"), HD_DIAG_BAD_VALUE, "a texel has 1, 2, 4, 8 or 16 samples");
        return false;
    }
    t->samples = rule->samples ? (uint8_t)samples : 0;
    if (!read_side(node, "width", rule->width, &t->width) || !read_side(node, "height", rule->height, &t->height) ||
        !read_side(node, "depth", rule->depth, &t->depth) || !read_side(node, "layers", rule->layers, &t->layers))
        return false;
    if (t->kind == HD_TEXTURE_CUBE || t->kind == HD_TEXTURE_ACUBE) {
        t->height = t->width;
        t->depth = 6;
    }
    return true;
}

static bool read_format(const hd_yaml_node *node, hd_texture *t)
{
    static const char *const words[] = {"u8", "s8", "u16", "s16", "u32", "s32", "f16", "f32"};
    static const uint8_t types[] = {HD_TYPE_U8,  HD_TYPE_S8,  HD_TYPE_U16, HD_TYPE_S16,
                                    HD_TYPE_U32, HD_TYPE_S32, HD_TYPE_F16, HD_TYPE_F32};
    const hd_yaml_node *channels = hd_yaml_get(node, "channels");
    uint32_t index, count = 1;
    if (!hd_yaml_choice(hd_yaml_need(node, "format"), words, sizeof types, &index) ||
        (channels && !hd_yaml_u32(channels, 1, 4, &count)))
        return false;
    if (count == 3) {
        hd_yaml_error(channels, HD_DIAG_BAD_VALUE, "a texel has 1, 2 or 4 channels");
        return false;
    }
    t->type = types[index];
    t->channels = (uint8_t)count;
    return true;
}

/* Checks that the buffer contains all texels. */
static bool read_source(reader *r, const hd_yaml_node *node, hd_texture *t)
{
    const hd_yaml_node *from = hd_yaml_need(node, "from"), *offset = hd_yaml_get(node, "offset"),
                       *pitch = hd_yaml_get(node, "pitch");
    uint32_t texel = hd_texel_bytes(t), row_bytes = t->width * texel;
    if (!from || (t->buffer = hd_launch_find_buffer(r, from, false)) == HD_NONE)
        return false;
    const hd_launch_buffer *b = &r->file->buffers.items[t->buffer];
    if (pitch && (!hd_yaml_u32(pitch, row_bytes, UINT32_MAX, &row_bytes) || row_bytes % texel)) {
        if (row_bytes % texel)
            hd_yaml_error(pitch, HD_DIAG_BAD_VALUE, "the pitch is not a multiple of a texel's %u bytes", texel);
        return false;
    }
    t->row_texels = pitch ? row_bytes / texel : 0;
    unsigned __int128 bytes = (unsigned __int128)row_bytes * t->height * t->depth * t->layers;
    bytes *= t->samples ? t->samples : 1;
    bytes -= row_bytes - t->width * texel; /* the last row ends with its texels */
    if (offset && !hd_yaml_u64(offset, 0, b->size_bytes, &t->offset))
        return false;
    if (t->offset % hd_texel_bytes(t)) {
        hd_yaml_error(offset, HD_DIAG_BAD_VALUE, "the offset is not a multiple of a texel's %u bytes",
                      hd_texel_bytes(t));
        return false;
    }
    if (bytes <= b->size_bytes - t->offset)
        return true;
    hd_yaml_error(from, HD_DIAG_BAD_VALUE, "buffer '%s' has %" PRIu64 " bytes for the texture, which takes %.0f",
                  b->name, b->size_bytes - t->offset, (double)bytes);
    return false;
}

/* ---- sampling ---------------------------------------------------------------------------------------------------- */

static bool read_addressing(const hd_yaml_node *node, hd_texture *t)
{
    static const char *const words[] = {"wrap", "clamp", "mirror", "border"};
    uint32_t index, count = node && node->kind == HD_YAML_SEQUENCE ? node->count : 1;
    if (!node)
        return true;
    if (count < 1 || count > 3) {
        hd_yaml_error(node, HD_DIAG_BAD_VALUE, "one to three address modes are expected here");
        return false;
    }
    for (uint32_t i = 0; i < 3; i++) {
        const hd_yaml_node *one = node->kind == HD_YAML_SEQUENCE ? node->items[i < count ? i : count - 1] : node;
        if (!hd_yaml_choice(one, words, sizeof words / sizeof *words, &index))
            return false;
        t->address[i] = (uint8_t)index;
    }
    return true;
}

static bool read_sampling(const hd_yaml_node *node, hd_texture *t)
{
    static const char *const filters[] = {"point", "linear"}, *const reads[] = {"element", "normalized_float"};
    const hd_yaml_node *filter = hd_yaml_get(node, "filter"), *normalized = hd_yaml_get(node, "normalized"),
                       *read = hd_yaml_get(node, "read"), *address = hd_yaml_get(node, "address"),
                       *seamless = hd_yaml_get(node, "seamless"), *compare = hd_yaml_get(node, "compare");
    uint32_t linear = 0, to_float = 0, comparison = HD_TEXTURE_NO_COMPARE;
    t->address[0] = t->address[1] = t->address[2] = HD_TEXTURE_CLAMP;
    if ((filter && !hd_yaml_choice(filter, filters, 2, &linear)) ||
        (read && !hd_yaml_choice(read, reads, 2, &to_float)) ||
        (normalized && !hd_yaml_bool(normalized, &t->normalized)) ||
        (seamless && !hd_yaml_bool(seamless, &t->seamless)) ||
        (compare && !hd_yaml_choice(compare, hd_texture_compare_names, HD_TEXTURE_COMPARISONS, &comparison)) ||
        !read_addressing(address, t))
        return false;
    t->compare = (uint8_t)comparison;
    t->linear = linear;
    t->to_float = to_float;
    for (uint32_t i = 0; i < 3; i++)
        if (!t->normalized && (t->address[i] == HD_TEXTURE_WRAP || t->address[i] == HD_TEXTURE_MIRROR)) {
            hd_yaml_error(address, HD_DIAG_BAD_VALUE, "wrap and mirror need normalized coordinates");
            return false;
        }
    return true;
}

static bool check_depth(const hd_yaml_node *node, const hd_texture *t)
{
    bool by_index = t->kind == HD_TEXTURE_BUFFER || hd_texture_is_multisample(t);
    const char *why = NULL;
    if (t->compare == HD_TEXTURE_NO_COMPARE)
        return true;
    if (t->kind == HD_TEXTURE_3D || by_index)
        why = "a texture of this type has no depth comparison";
    else if (t->channels != 1 || !hd_texture_is_float(t))
        why = "depths are one channel that is read as a float: f16, f32 or read: normalized_float";
    if (why)
        hd_yaml_error(hd_yaml_get(node, "compare"), HD_DIAG_BAD_VALUE, "%s", why);
    return !why;
}

/* Checks what the format and the kind allow. */
static bool check_sampling(const hd_yaml_node *node, const hd_texture *t)
{
    uint8_t class = hd_types[t->type].class;
    bool narrow = hd_types[t->type].bits < 32;
    if (t->to_float && (class == HD_CLASS_FLOAT || !narrow)) {
        hd_yaml_error(hd_yaml_get(node, "read"), HD_DIAG_BAD_VALUE, "normalized_float needs u8, s8, u16 or s16");
        return false;
    }
    if (t->linear && class != HD_CLASS_FLOAT && !t->to_float) {
        hd_yaml_error(hd_yaml_get(node, "filter"), HD_DIAG_BAD_VALUE,
                      "linear filtering needs values that are read as floats: f16, f32 or read: normalized_float");
        return false;
    }
    if (t->seamless && !hd_texture_is_cube(t)) {
        hd_yaml_error(hd_yaml_get(node, "seamless"), HD_DIAG_BAD_VALUE, "only cubes have seams");
        return false;
    }
    if ((t->kind == HD_TEXTURE_BUFFER || hd_texture_is_multisample(t)) && (t->linear || t->normalized)) {
        hd_yaml_error(hd_yaml_get(node, t->linear ? "filter" : "normalized"), HD_DIAG_BAD_VALUE,
                      "a texture of type %s is read by index", hd_texture_kind_names[t->kind]);
        return false;
    }
    return check_depth(node, t);
}

/* ---- textures ---------------------------------------------------------------------------------------------------- */

static bool read_texture(reader *r, const hd_yaml_node *node, hd_texture *t)
{
    const hd_yaml_node *symbol = hd_yaml_get(node, "symbol"), *surface = hd_yaml_get(node, "surface");
    uint32_t kind;
    if (!hd_yaml_known_keys(node, KEYS("type", "format", "channels", "width", "height", "depth", "layers", "from",
                                       "samples", "offset", "pitch", "filter", "address", "normalized", "read",
                                       "seamless", "compare", "symbol", "surface")) ||
        !hd_yaml_choice(hd_yaml_need(node, "type"), hd_texture_kind_names, HD_TEXTURE_KINDS, &kind))
        return false;
    t->kind = (uint8_t)kind;
    if (symbol && !hd_yaml_string(symbol, &t->symbol))
        return false;
    if (surface && !hd_yaml_bool(surface, &t->surface))
        return false;
    if (kind == HD_TEXTURE_SAMPLER)
        return hd_yaml_known_keys(node,
                                  KEYS("type", "filter", "address", "normalized", "seamless", "compare", "symbol")) &&
               read_sampling(node, t);
    if (t->surface && (kind == HD_TEXTURE_BUFFER || hd_texture_is_multisample(t))) {
        hd_yaml_error(surface, HD_DIAG_BAD_VALUE, "a surface is 1d, 2d, 3d, a1d, a2d, cube or acube");
        return false;
    }
    if (t->surface && !hd_yaml_known_keys(node, KEYS("type", "format", "channels", "width", "height", "depth", "layers",
                                                     "from", "offset", "pitch", "read", "symbol", "surface")))
        return false;
    return read_sides(node, t) && read_format(node, t) && read_source(r, node, t) && read_sampling(node, t) &&
           check_sampling(node, t);
}

bool hd_launch_read_textures(hd_launch_reader *r, const hd_yaml_node *map)
{
    bool good = true;
    if (!map)
        return true;
    if (!hd_yaml_mapping(map))
        return false;
    for (uint32_t i = 0; i < map->count; i++) {
        hd_texture t = {.name = map->items[2 * i]->text,
                        .node = map->items[2 * i],
                        .buffer = HD_NONE,
                        .handle = HD_TEXTURE_FIRST_HANDLE + i};
        good = read_texture(r, map->items[2 * i + 1], &t) && good;
        hd_array_push(&r->file->textures, t);
    }
    return good;
}
