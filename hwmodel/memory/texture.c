/* Textures: addressing, filtering, formats. The formulas are those of the CUDA programming guide, "Texture Fetching".
 *
 * Point: texel floor(x). Linear: with xB = x - 0.5, the texels i = floor(xB) and i + 1 are weighted by 1 - a and a,
 * where a = xB - i is rounded to 8 fraction bits (0 to 1 in steps of 1/256; halves up); products and sums are computed
 * in double, in the order x, y, z, and rounded once to f32. A texel of weight 0 is not read. Normalized coordinates are
 * multiplied by the size first. The address mode then maps every texel's index into the texture. A NaN coordinate is 0.
 *
 * Cubes: the face is selected by the largest of |x|, |y|, |z| (on ties z, then y, then x), then sampled as a 2D texture
 * with normalized coordinates, with address modes within the face. Seamless cubes (the driver's
 * CU_TRSF_SEAMLESS_CUBEMAP) have no address modes: point filtering clamps to the face; linear filtering beyond an edge
 * uses the adjacent texel of the neighbouring face. Beyond a corner, where three faces meet, there is no such texel:
 * its value is the mean of the three texels at the corner, as other interfaces to the same hardware specify; the
 * driver's manual leaves it open.
 *
 * Comparison with a depth precedes filtering: each texel becomes 1 or 0.
 */
#include "hwmodel/memory/texture.h"
#include "hwmodel/memory/memory.h"
#include "hwmodel/memory/narrow.h"
#include <assert.h>
#include <math.h>

const char *const hd_texture_kind_names[HD_TEXTURE_KINDS] = {
    [HD_TEXTURE_1D] = "1d",         [HD_TEXTURE_2D] = "2d",           [HD_TEXTURE_3D] = "3d",
    [HD_TEXTURE_A1D] = "a1d",       [HD_TEXTURE_A2D] = "a2d",         [HD_TEXTURE_CUBE] = "cube",
    [HD_TEXTURE_ACUBE] = "acube",   [HD_TEXTURE_2DMS] = "2dms",       [HD_TEXTURE_A2DMS] = "a2dms",
    [HD_TEXTURE_BUFFER] = "buffer", [HD_TEXTURE_SAMPLER] = "sampler",
};
const char *const hd_texture_compare_names[HD_TEXTURE_COMPARISONS] = {
    [HD_TEXTURE_NO_COMPARE] = "none",
    [HD_TEXTURE_NEVER] = "never",
    [HD_TEXTURE_LESS] = "less",
    [HD_TEXTURE_LESS_EQUAL] = "less_equal",
    [HD_TEXTURE_EQUAL] = "equal",
    [HD_TEXTURE_NOT_EQUAL] = "not_equal",
    [HD_TEXTURE_GREATER_EQUAL] = "greater_equal",
    [HD_TEXTURE_GREATER] = "greater",
    [HD_TEXTURE_ALWAYS] = "always",
};

/* Handles are consecutive; symbols are few and searched linearly. */
const hd_texture *hd_texture_find(const hd_texture_set *set, uint64_t handle)
{
    if (!set || !handle)
        return NULL;
    if (handle - HD_TEXTURE_FIRST_HANDLE < set->count)
        return set->items[handle - HD_TEXTURE_FIRST_HANDLE].released ? NULL
                                                                     : &set->items[handle - HD_TEXTURE_FIRST_HANDLE];
    for (uint32_t i = 0; i < set->count; i++)
        if (set->items[i].symbol_address == handle)
            return &set->items[i];
    return NULL;
}

/* ---- formats ----------------------------------------------------------------------------------------------------- */

static uint32_t load_channel(const unsigned char *from, uint32_t bytes)
{
    uint32_t value = 0;
    hd_memory_copy(&value, from, bytes);
    return value;
}

static uint32_t bits_of(float f)
{
    uint32_t bits;
    memcpy(&bits, &f, 4);
    return bits;
}

static uint32_t widen_signed(uint32_t value, uint32_t bits)
{
    return bits == 32 ? value : (uint32_t)((int32_t)(value << (32 - bits)) >> (32 - bits));
}

/* One channel as the program reads it. */
static uint32_t convert_channel(const hd_texture *t, uint32_t raw)
{
    uint32_t bits = hd_types[t->type].bits;
    bool is_signed = hd_types[t->type].class == HD_CLASS_SIGNED;
    if (t->type == HD_TYPE_F16)
        return bits_of((float)hd_f16_to_double((uint16_t)raw));
    if (bits == 32)
        return raw;
    if (!t->to_float)
        return is_signed ? widen_signed(raw, bits) : raw;
    if (!is_signed)
        return bits_of((float)((double)raw / (double)((1u << bits) - 1)));
    double value = (double)(int32_t)widen_signed(raw, bits) / (double)((1u << (bits - 1)) - 1);
    return bits_of((float)(value < -1 ? -1 : value));
}

static void note_read(hd_texel_reads *reads, uint64_t offset)
{
    assert(!reads || reads->count < HD_TEXEL_READS);
    if (reads)
        reads->offsets[reads->count++] = offset;
}

static void load_texel(const hd_texture *t, const unsigned char *from, hd_texel *texel)
{
    uint32_t bytes = hd_types[t->type].bits / 8u;
    uint32_t one = hd_texture_is_float(t) ? bits_of(1) : 1;
    for (uint32_t c = 0; c < 4; c++)
        texel->of.u[c] = c < t->channels ? convert_channel(t, load_channel(from + c * bytes, bytes)) : c == 3 ? one : 0;
}

static uint32_t clamp_integer(const hd_texture *t, uint32_t value)
{
    uint32_t bits = hd_types[t->type].bits;
    if (bits == 32)
        return value;
    if (hd_types[t->type].class != HD_CLASS_SIGNED)
        return value >> bits ? (1u << bits) - 1 : value;
    int32_t high = (1 << (bits - 1)) - 1, v = (int32_t)value;
    return (uint32_t)(v > high ? high : v < -high - 1 ? -high - 1 : v);
}

/* Converts a float to the format; integers by the inverse of reading, rounded to nearest even. */
static uint32_t narrow_float(const hd_texture *t, float f)
{
    uint32_t bits = hd_types[t->type].bits;
    bool is_signed = hd_types[t->type].class == HD_CLASS_SIGNED;
    if (t->type == HD_TYPE_F16)
        return hd_f16_from_double(f);
    if (!t->to_float)
        return bits_of(f);
    double limit = (double)((1u << (bits - is_signed)) - 1), low = is_signed ? -1 : 0;
    double value = isnan(f) ? 0 : f < low ? low : f > 1 ? 1 : f;
    return (uint32_t)(int32_t)rint(value * limit);
}

void hd_texel_store(const hd_texture *t, const hd_texel *texel, uint32_t count, unsigned char *to)
{
    uint32_t bytes = hd_types[t->type].bits / 8u;
    bool is_float = hd_texture_is_float(t);
    for (uint32_t c = 0; c < t->channels; c++) {
        uint32_t value = c >= count ? 0 : is_float ? narrow_float(t, texel->of.f[c]) : clamp_integer(t, texel->of.u[c]);
        memcpy(to + c * bytes, &value, bytes);
    }
}

/* ---- coordinates ------------------------------------------------------------------------------------------------- */

static uint64_t texel_index(const hd_texture *t, uint64_t x, uint64_t y, uint64_t z, uint64_t layer)
{
    return ((layer * t->depth + z) * t->height + y) * (t->row_texels ? t->row_texels : t->width) + x;
}

static bool is_layered(const hd_texture *t)
{
    return t->kind == HD_TEXTURE_A1D || t->kind == HD_TEXTURE_A2D || t->kind == HD_TEXTURE_ACUBE;
}

/* ---- depth ------------------------------------------------------------------------------------------------------- */

static bool compare_depth(uint8_t operation, float reference, float depth)
{
    switch ((hd_texture_compare)operation) {
    case HD_TEXTURE_NO_COMPARE:
    case HD_TEXTURE_NEVER:
    case HD_TEXTURE_COMPARISONS: return false;
    case HD_TEXTURE_LESS: return reference < depth;
    case HD_TEXTURE_LESS_EQUAL: return reference <= depth;
    case HD_TEXTURE_EQUAL: return reference == depth;
    case HD_TEXTURE_NOT_EQUAL: return reference != depth;
    case HD_TEXTURE_GREATER_EQUAL: return reference >= depth;
    case HD_TEXTURE_GREATER: return reference > depth;
    case HD_TEXTURE_ALWAYS: return true;
    }
    return false;
}

/* ---- addressing -------------------------------------------------------------------------------------------------- */

/* Index in [0, size), or -1: outside, reads zero. */
static int64_t address_texel(uint8_t mode, double i, uint32_t size)
{
    double n = size;
    if (!isfinite(i) && (mode == HD_TEXTURE_WRAP || mode == HD_TEXTURE_MIRROR))
        return 0;
    switch ((hd_texture_address)mode) {
    case HD_TEXTURE_WRAP: return (int64_t)(i - floor(i / n) * n);
    case HD_TEXTURE_MIRROR: i -= floor(i / (2 * n)) * 2 * n; return (int64_t)(i < n ? i : 2 * n - 1 - i);
    case HD_TEXTURE_CLAMP: return i < 0 ? 0 : i >= n ? (int64_t)size - 1 : (int64_t)i;
    case HD_TEXTURE_BORDER: return i < 0 || i >= n ? -1 : (int64_t)i;
    }
    return -1;
}

/* ---- sampling ---------------------------------------------------------------------------------------------------- */

/* Coordinates in texels, and the face of a cube. */
typedef struct sampling {
    const hd_texture *texture, *how;
    uint32_t dimensions, size[3];
    uint8_t address[3];
    double at[3];
    uint64_t face, layer; /* face: the z coordinate */
    bool seamless, compare;
    float reference;
    hd_texel_reads *reads;
} sampling;

static double number(double value) { return isnan(value) ? 0 : value; }

/* Face and coordinates in [0, 1] of a direction. */
static uint32_t cube_face(const double d[3], double st[2])
{
    double x = number(d[0]), y = number(d[1]), z = number(d[2]), ax = fabs(x), ay = fabs(y), az = fabs(z);
    uint32_t axis = az >= ax && az >= ay ? 2 : ay >= ax ? 1 : 0;
    double major = axis == 2 ? z : axis == 1 ? y : x, m = fabs(major);
    bool minus = major < 0 || (major == 0 && signbit(major));
    double s = axis == 2 ? (minus ? -x : x) : axis == 1 ? x : minus ? z : -z;
    double t = axis == 1 ? (minus ? -z : z) : -y;
    st[0] = m > 0 ? (number(s / m) + 1) / 2 : 0.5; /* for two infinities: the middle */
    st[1] = m > 0 ? (number(t / m) + 1) / 2 : 0.5;
    return 2 * axis + minus;
}

static void start_cube(sampling *s, const hd_texture_point *p)
{
    double st[2];
    s->face = cube_face(p->at, st);
    s->dimensions = 2;
    s->seamless = s->how->seamless;
    for (uint32_t k = 0; k < 2; k++) {
        s->at[k] = st[k] * s->size[k];
        s->address[k] = s->seamless ? HD_TEXTURE_CLAMP : s->how->address[k];
    }
}

static void start(sampling *s, const hd_texture *t, const hd_texture *how, const hd_texture_point *p)
{
    *s = (sampling){.texture = t, .how = how, .size = {t->width, t->height, t->depth}};
    s->layer = !is_layered(t) ? 0 : p->layer < t->layers ? p->layer : t->layers - 1;
    s->compare = p->compare;
    s->reference = p->reference;
    s->reads = p->reads;
    if (hd_texture_is_cube(t)) {
        start_cube(s, p);
        return;
    }
    s->dimensions = t->kind == HD_TEXTURE_3D ? 3 : t->kind == HD_TEXTURE_2D || t->kind == HD_TEXTURE_A2D ? 2 : 1;
    for (uint32_t k = 0; k < s->dimensions; k++) {
        s->at[k] = number(p->at[k]) * (how->normalized ? s->size[k] : 1);
        s->address[k] = how->address[k];
    }
}

/* Finishes a texel, of the format or zero, for the filter. */
static void finish_texel(const sampling *s, hd_texel *texel)
{
    if (s->compare)
        *texel = (hd_texel){.of.f = {compare_depth(s->how->compare, s->reference, texel->of.f[0]), 0, 0, 1}};
}

static void read_texel_at(const sampling *s, const int64_t at[3], uint64_t z, hd_texel *texel)
{
    uint64_t index = texel_index(s->texture, (uint64_t)at[0], (uint64_t)at[1], z, s->layer);
    load_texel(s->texture, s->texture->bytes + index * hd_texel_bytes(s->texture), texel);
    note_read(s->reads, index * hd_texel_bytes(s->texture));
    finish_texel(s, texel);
}

/* Reads the texel at these indices after addressing. */
static void read_addressed(const sampling *s, const double i[3], hd_texel *texel)
{
    int64_t at[3] = {0};
    for (uint32_t k = 0; k < s->dimensions; k++)
        if ((at[k] = address_texel(s->address[k], i[k], s->size[k])) < 0) {
            memset(texel, 0, sizeof *texel);
            finish_texel(s, texel);
            return;
        }
    read_texel_at(s, at, s->dimensions == 3 ? (uint64_t)at[2] : s->face, texel);
}

/* ---- edges of cubes ---------------------------------------------------------------------------------------------- */

/* The texel one step beyond an edge of the face, on the neighbouring one. In a cube of side 2n, texel centres are at
 * odd distances (n even) or even ones: beyond the edge, n + 1 along an axis is folded to n, and the face's n to n -
 * 1. */
static uint64_t cross_edge(const sampling *s, int64_t at[3])
{
    double n = s->size[0], a = 2 * (double)at[0] + 1 - n, b = 2 * (double)at[1] + 1 - n, d[3], st[2];
    uint32_t axis = (uint32_t)s->face / 2;
    bool minus = s->face & 1;
    d[axis] = minus ? 1 - n : n - 1;
    if (axis != 1) {
        d[1] = -b;
        d[2 - axis] = (axis == 0) == minus ? a : -a;
    } else {
        d[0] = a;
        d[2] = minus ? -b : b;
    }
    for (uint32_t k = 0; k < 3; k++)
        d[k] = fabs(d[k]) > n ? copysign(n, d[k]) : d[k];
    uint64_t face = cube_face(d, st);
    at[0] = (int64_t)(st[0] * n);
    at[1] = (int64_t)(st[1] * n);
    return face;
}

static void read_across(const sampling *s, int64_t x, int64_t y, hd_texel *texel)
{
    int64_t n = s->size[0], at[3] = {x, y, 0};
    bool beyond = x < 0 || x >= n || y < 0 || y >= n;
    uint64_t face = beyond ? cross_edge(s, at) : s->face;
    read_texel_at(s, at, face, texel);
}

static void read_seamless(const sampling *s, const double i[3], hd_texel *texel)
{
    int64_t n = s->size[0], at[2], near[2];
    for (uint32_t k = 0; k < 2; k++) {
        at[k] = i[k] < -1 ? -1 : i[k] > (double)n ? n : (int64_t)i[k];
        near[k] = address_texel(HD_TEXTURE_CLAMP, i[k], s->size[k]);
    }
    if (at[0] == near[0] || at[1] == near[1]) {
        read_across(s, at[0], at[1], texel);
        return;
    }
    hd_texel corner[3];
    read_across(s, near[0], near[1], &corner[0]);
    read_across(s, at[0], near[1], &corner[1]);
    read_across(s, near[0], at[1], &corner[2]);
    for (uint32_t c = 0; c < 4; c++)
        texel->of.f[c] = (float)(((double)corner[0].of.f[c] + corner[1].of.f[c] + corner[2].of.f[c]) / 3);
}

/* ---- filters ----------------------------------------------------------------------------------------------------- */

/* Lower texel and weight of the upper one, in 256ths. */
static double lower_texel(double x, double *weight)
{
    double i = floor(x - 0.5);
    *weight = isfinite(i) ? floor((x - 0.5 - i) * 256 + 0.5) / 256 : 0;
    return i;
}

static void filter(const sampling *s, const hd_texture_point *p, hd_texel *texel)
{
    double low[3] = {0}, weight[3] = {0}, sum[4] = {0};
    for (uint32_t k = 0; k < s->dimensions; k++)
        low[k] = lower_texel(s->at[k], &weight[k]) + p->offset[k];
    for (uint32_t corner = 0; corner < 1u << s->dimensions; corner++) {
        double share = 1, i[3];
        hd_texel one;
        for (uint32_t k = 0; k < 3; k++) {
            bool upper = corner >> k & 1;
            i[k] = low[k] + upper;
            share *= k < s->dimensions ? upper ? weight[k] : 1 - weight[k] : 1;
        }
        if (share == 0)
            continue;
        if (s->seamless)
            read_seamless(s, i, &one);
        else
            read_addressed(s, i, &one);
        for (uint32_t c = 0; c < 4; c++) {
            double part = share * (double)one.of.f[c];
            sum[c] += part;
        }
    }
    for (uint32_t c = 0; c < 4; c++)
        texel->of.f[c] = (float)sum[c];
}

void hd_texture_sample(const hd_texture *t, const hd_texture *how, const hd_texture_point *p, hd_texel *texel)
{
    sampling s;
    double i[3] = {0};
    start(&s, t, how, p);
    if (how->linear) {
        filter(&s, p, texel);
        return;
    }
    for (uint32_t k = 0; k < s.dimensions; k++)
        i[k] = floor(s.at[k]) + p->offset[k];
    read_addressed(&s, i, texel);
}

void hd_texture_gather(const hd_texture *t, const hd_texture *how, const hd_texture_point *p, uint32_t c,
                       hd_texel *texel)
{
    static const double corner[4][2] = {{0, 1}, {1, 1}, {1, 0}, {0, 0}};
    sampling s;
    double ignored;
    start(&s, t, how, p);
    for (uint32_t k = 0; k < 4; k++) {
        double i[3] = {0};
        hd_texel one;
        for (uint32_t j = 0; j < 2; j++)
            i[j] = lower_texel(s.at[j], &ignored) + p->offset[j] + corner[k][j];
        read_addressed(&s, i, &one);
        texel->of.u[k] = one.of.u[c];
    }
}

/* ---- access by index --------------------------------------------------------------------------------------------- */

void hd_texture_fetch(const hd_texture *t, const hd_texture_point *p, hd_texel *texel)
{
    const uint32_t size[3] = {t->width, t->height, t->depth};
    uint64_t at[3];
    bool inside = p->layer < t->layers;
    for (uint32_t k = 0; k < 3; k++) {
        int64_t i = p->index[k] + p->offset[k];
        inside = inside && i >= 0 && i < size[k];
        at[k] = (uint64_t)i;
    }
    uint64_t samples = t->samples ? t->samples : 1;
    if (!inside) {
        memset(texel, 0, sizeof *texel);
        return;
    }
    uint64_t index = texel_index(t, at[0], at[1], at[2], p->layer) * samples + p->sample;
    load_texel(t, t->bytes + index * hd_texel_bytes(t), texel);
    note_read(p->reads, index * hd_texel_bytes(t));
}

/* Maps an index into [0, count); false: it is outside and stays so. */
static bool bound(int64_t *index, int64_t count, hd_surface_bounds bounds)
{
    if (*index >= 0 && *index < count)
        return true;
    *index = *index < 0 ? 0 : count - 1;
    return bounds == HD_SURFACE_CLAMP;
}

unsigned char *hd_surface_address(const hd_texture *t, const hd_texture_point *p, uint32_t size, bool formatted,
                                  hd_surface_bounds bounds)
{
    uint32_t texel = hd_texel_bytes(t);
    int64_t unit = formatted ? texel : size, row = (int64_t)t->width * texel;
    int64_t x = formatted ? p->index[0] : p->index[0] < 0 ? -1 : p->index[0] / unit;
    int64_t y = p->index[1], z = p->index[2], layer = p->layer;
    /* for surfaces, the faces of a cube are layers */
    bool cube = hd_texture_is_cube(t);
    if (!bound(&x, row / unit, bounds) || !bound(&y, t->height, bounds) || !bound(&z, cube ? 1 : t->depth, bounds) ||
        !bound(&layer, (int64_t)t->layers * (cube ? 6 : 1), bounds))
        return NULL;
    uint64_t rows = texel_index(t, 0, (uint64_t)y, cube ? 0 : (uint64_t)z, cube ? 0 : (uint64_t)layer);
    if (cube)
        rows += (uint64_t)layer * t->height * t->width;
    return t->bytes + rows * texel + x * unit;
}
