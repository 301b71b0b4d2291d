/* Textures and surfaces of the interpreter, against the programming guide's formulas written down a second time here:
 * coordinates are brought into [0, 1) before texels are chosen (the interpreter brings the texels' indices into range),
 * weights are whole 256ths, and texels are multiples of 1/16 below 64, so that every sum is exact. */
#include "texture_run.h"

#include <math.h>

/* ---- the reference ----------------------------------------------------------------------------------------------- */

/* Of a point in texels, the texel; -1 is the border. In the guide's words: wrap takes the fraction, mirror the fraction
 * or 1 less it, clamp the nearest place inside. `center` is a texel's middle. */
static int texel_of(long double center, uint32_t size, int mode)
{
    long double x = center / size, whole = floorl(x), fraction = x - whole;
    if (mode == HD_TEXTURE_BORDER && (x < 0 || x >= 1))
        return -1;
    if (mode == HD_TEXTURE_WRAP)
        x = fraction;
    else if (mode == HD_TEXTURE_MIRROR)
        x = fmodl(fabsl(whole), 2) == 0 ? fraction : 1 - fraction;
    else
        x = x < 0 ? 0 : x >= 1 ? 1 - 1.0L / size : x;
    int i = (int)floorl(x * size + 1e-9L * (mode != HD_TEXTURE_BORDER));
    return i >= (int)size ? (int)size - 1 : i;
}

static long double texel_at(const hd_texture *t, const int i[3], uint32_t layer, uint32_t c)
{
    for (int k = 0; k < 3; k++)
        if (i[k] < 0)
            return 0;
    return texels[((layer * t->depth + (uint32_t)i[2]) * t->height + (uint32_t)i[1]) * t->width + (uint32_t)i[0]][c];
}

static float reference(const hd_texture *t, uint32_t dimensions, const float *at, uint32_t layer, uint32_t c)
{
    const uint32_t size[3] = {t->width, t->height, t->depth};
    long double sum = 0, x[3] = {0};
    for (uint32_t k = 0; k < dimensions; k++)
        x[k] = t->normalized ? (long double)at[k] * size[k] : (long double)at[k];
    for (int corner = 0; corner < (t->linear ? 1 << dimensions : 1); corner++) {
        int i[3] = {0};
        long double weight = 1;
        for (uint32_t k = 0; k < dimensions; k++) {
            long double base = t->linear ? floorl(x[k] - 0.5L) : floorl(x[k]);
            int part = t->linear ? (int)floorl((x[k] - 0.5L - base) * 256 + 0.5L) : 0;
            int upper = corner >> k & 1;
            weight *= (upper ? part : 256 - part) / 256.0L;
            i[k] = texel_of(base + upper + 0.5L, size[k], t->address[k]);
        }
        sum += weight * texel_at(t, i, layer, c);
    }
    return (float)sum;
}

/* ---- filtering and addressing ------------------------------------------------------------------------------------ */

static void make_coordinates(const hd_texture *t, uint32_t dimensions)
{
    const uint32_t size[3] = {t->width, t->height, t->depth};
    for (uint32_t i = 0; i < THREADS; i++)
        for (uint32_t k = 0; k < 4; k++) {
            uint32_t n = k < dimensions ? size[k] : 1;
            float x = (float)((int)random_below(n * 4 * 512) - (int)(n * 3 * 256) / 2) / 512; /* 512ths: halves too */
            if (random_below(8) == 0)
                x = (float)((int)random_below(4 * n) - (int)n);
            coordinates[i][k] = t->normalized ? x / (float)n : x;
        }
}

typedef struct shape {
    hd_texture_kind kind;
    uint32_t dimensions, width, height, depth, layers;
    const char *instruction;
} shape;
static const shape shapes[] = {
    {HD_TEXTURE_1D, 1, 16, 1, 1, 1, "tex.1d.v4.f32.f32 {%f5, %f6, %f7, %f8}, [%rd4, {%f1}];"},
    {HD_TEXTURE_2D, 2, 16, 8, 1, 1, "tex.2d.v4.f32.f32 {%f5, %f6, %f7, %f8}, [%rd4, {%f1, %f2}];"},
    {HD_TEXTURE_3D, 3, 8, 4, 16, 1, "tex.3d.v4.f32.f32 {%f5, %f6, %f7, %f8}, [%rd4, {%f1, %f2, %f3, %f3}];"},
    {HD_TEXTURE_A1D, 1, 32, 1, 1, 5, "mov.u32 %r5, 3;\ntex.a1d.v4.f32.f32 {%f5, %f6, %f7, %f8}, [%rd4, {%r5, %f1}];"},
    {HD_TEXTURE_A2D, 2, 8, 8, 1, 4,
     "mov.u32 %r5, 9;\ntex.a2d.v4.f32.f32 {%f5, %f6, %f7, %f8}, [%rd4, {%r5, %f1, %f2, %f2}];"},
    {HD_TEXTURE_2D, 2, 8, 16, 1, 1, "tex.level.2d.v4.f32.f32 {%f5, %f6, %f7, %f8}, [%rd4, {%f1, %f2}], %f3;"},
    {HD_TEXTURE_2D, 2, 8, 16, 1, 1,
     "tex.grad.2d.v4.f32.f32 {%f5, %f6, %f7, %f8}, [%rd4, {%f1, %f2}], {%f3, %f3}, {%f4, %f4};"},
};
static const char to_words[] = "\nmov.b32 %r10, %f5;\nmov.b32 %r11, %f6;\nmov.b32 %r12, %f7;\nmov.b32 %r13, %f8;";

static void check_shape(const shape *s, const hd_texture *t)
{
    char text[512];
    uint32_t layer = s->layers < 2 ? 0 : s->layers == 5 ? 3 : s->layers - 1; /* 9 is clamped */
    make_coordinates(t, s->dimensions);
    snprintf(text, sizeof text, "%s%s", s->instruction, to_words);
    run_good(t, 1, text);
    for (uint32_t i = 0; i < THREADS; i++)
        for (uint32_t c = 0; c < 4; c++) {
            float wanted = reference(t, s->dimensions, coordinates[i], layer, c), got;
            memcpy(&got, &results[i][c], 4);
            if (got != wanted)
                fail_msg("%s at %.9g %.9g %.9g, component %u, linear %d, normalized %d, modes %d %d %d: %.9g, not %.9g",
                         s->instruction, (double)coordinates[i][0], (double)coordinates[i][1],
                         (double)coordinates[i][2], c, t->linear, t->normalized, t->address[0], t->address[1],
                         t->address[2], (double)got, (double)wanted);
        }
}

static void filters_and_address_modes(void **state)
{
    (void)state;
    fill_texels();
    for (uint32_t k = 0; k < sizeof shapes / sizeof *shapes; k++)
        for (uint32_t mode = 0; mode < 16; mode++) {
            hd_texture t =
                texture(shapes[k].kind, shapes[k].width, shapes[k].height, shapes[k].depth, shapes[k].layers);
            t.linear = mode & 1;
            t.normalized = mode & 2;
            for (uint32_t d = 0; d < 3; d++) /* another mode in each dimension */
                t.address[d] =
                    (uint8_t)(t.normalized ? ((mode >> 2) + d) % 4 : HD_TEXTURE_CLAMP + 2 * ((mode >> 2) + d) % 4);
            if (!t.normalized)
                for (uint32_t d = 0; d < 3; d++)
                    t.address[d] = ((mode >> 2) + d) % 2 ? HD_TEXTURE_CLAMP : HD_TEXTURE_BORDER;
            check_shape(&shapes[k], &t);
        }
}

static void offsets_move_by_texels(void **state)
{
    (void)state;
    hd_texture t = texture(HD_TEXTURE_2D, 8, 8, 1, 1);
    fill_texels();
    for (uint32_t i = 0; i < THREADS; i++) {
        coordinates[i][0] = (float)(i % 8) + 0.5f;
        coordinates[i][1] = (float)(i / 8 % 8) + 0.5f;
    }
    run_good(&t, 1,
             "mov.u32 %r5, 2;\nmov.u32 %r6, -3;\ntex.2d.v4.f32.f32 {%f5, %f6, %f7, %f8}, [%rd4, {%f1, %f2}], {%r5, "
             "%r6};\nmov.b32 %r10, %f5;");
    for (uint32_t i = 0; i < THREADS; i++) {
        uint32_t x = i % 8 + 2 > 7 ? 7 : i % 8 + 2, y = i / 8 % 8 < 3 ? 0 : i / 8 % 8 - 3;
        assert_memory_equal(&results[i][0], &texels[y * 8 + x][0], 4);
    }
}

static void gathers_four_texels(void **state)
{
    (void)state;
    hd_texture t = texture(HD_TEXTURE_2D, 8, 8, 1, 1);
    fill_texels();
    for (uint32_t i = 0; i < THREADS; i++) { /* between texels (x, y) and (x + 1, y + 1) */
        coordinates[i][0] = (float)(i % 7) + 1.25f;
        coordinates[i][1] = (float)(i / 7 % 7) + 0.75f;
    }
    run_good(&t, 1,
             "tld4.b.2d.v4.f32.f32 {%f5, %f6, %f7, %f8}, [%rd4, {%f1, %f2}];\nmov.b32 %r10, %f5;\nmov.b32 %r11, "
             "%f6;\nmov.b32 %r12, %f7;\nmov.b32 %r13, %f8;");
    for (uint32_t i = 0; i < THREADS; i++) {
        uint32_t x = i % 7, y = i / 7 % 7;
        assert_memory_equal(&results[i][0], &texels[(y + 1) * 8 + x][2], 4);
        assert_memory_equal(&results[i][1], &texels[(y + 1) * 8 + x + 1][2], 4);
        assert_memory_equal(&results[i][2], &texels[y * 8 + x + 1][2], 4);
        assert_memory_equal(&results[i][3], &texels[y * 8 + x][2], 4);
    }
}

static void faces_of_cubes(void **state)
{
    (void)state;
    hd_texture t = texture(HD_TEXTURE_ACUBE, 8, 8, 6, 3);
    /* faces +x -x +y -y +z -z: the axis, its sign, and which coordinates run along the face, with their signs */
    static const struct {
        int axis, sign, s, s_sign, t, t_sign;
    } faces[6] = {{0, 1, 2, -1, 1, -1}, {0, -1, 2, 1, 1, -1}, {1, 1, 0, 1, 2, 1},
                  {1, -1, 0, 1, 2, -1}, {2, 1, 0, 1, 1, -1},  {2, -1, 0, -1, 1, -1}};
    fill_texels();
    for (uint32_t i = 0; i < THREADS; i++) {
        uint32_t face = i % 6, x = i / 6 % 8, y = i / 48 % 8;
        float along = 2.5f, u = ((float)x + 0.5f) / 4 - 1, v = ((float)y + 0.5f) / 4 - 1;
        coordinates[i][faces[face].axis] = (float)faces[face].sign * along;
        coordinates[i][faces[face].s] = (float)faces[face].s_sign * u * along;
        coordinates[i][faces[face].t] = (float)faces[face].t_sign * v * along;
    }
    run_good(&t, 1,
             "mov.u32 %r5, 1;\ntex.acube.v4.f32.f32 {%f5, %f6, %f7, %f8}, [%rd4, {%r5, %f1, %f2, %f3}];\nmov.b32 "
             "%r10, %f5;");
    for (uint32_t i = 0; i < THREADS; i++)
        assert_memory_equal(&results[i][0], &texels[((6 + i % 6) * 8 + i / 48 % 8) * 8 + i / 6 % 8][0], 4);
}

static void a_sampler_of_its_own(void **state)
{
    (void)state;
    hd_texture both[2] = {texture(HD_TEXTURE_1D, 4, 1, 1, 1), {.name = "S", .kind = HD_TEXTURE_SAMPLER}};
    both[0].normalized = true; /* not asked */
    both[1].address[0] = HD_TEXTURE_BORDER;
    both[1].linear = true;
    fill_texels();
    for (uint32_t i = 0; i < THREADS; i++)
        coordinates[i][0] = (float)i / 64 - 1;
    run_good(both, 2, "tex.1d.v4.f32.f32 {%f5, %f6, %f7, %f8}, [%rd4, %rd5, {%f1}];\nmov.b32 %r10, %f5;");
    both[0].normalized = false;
    both[0].linear = true;
    both[0].address[0] = HD_TEXTURE_BORDER;
    for (uint32_t i = 0; i < THREADS; i++) {
        float wanted = reference(&both[0], 1, coordinates[i], 0, 0);
        assert_memory_equal(&results[i][0], &wanted, 4);
    }
}

/* ---- formats ----------------------------------------------------------------------------------------------------- */

static float half_value(uint32_t h)
{
    int exponent = (int)(h >> 10 & 31);
    double fraction = (double)(h & 1023) / 1024;
    double v = exponent == 31 ? (h & 1023 ? (double)NAN : (double)INFINITY)
               : exponent     ? ldexp(1 + fraction, exponent - 15)
                              : ldexp(fraction, -14);
    return (float)(h >> 15 ? -v : v);
}

/* What a channel's bits mean, as a float or as an integer of 32 bits. */
static uint32_t meaning(uint8_t type, bool to_float, uint32_t raw)
{
    int64_t value = raw;
    float f;
    uint32_t bits = hd_types[type].bits, out;
    if (hd_types[type].class == HD_CLASS_SIGNED && raw >> (bits - 1))
        value -= 1ll << bits;
    if (!to_float && type != HD_TYPE_F16)
        return (uint32_t)value;
    if (type == HD_TYPE_F16) {
        f = half_value(raw);
    } else {
        long double limit = (long double)((1ll << (bits - (hd_types[type].class == HD_CLASS_SIGNED))) - 1);
        long double v = (long double)value / limit;
        f = (float)(v < -1 ? -1 : v);
    }
    memcpy(&out, &f, 4);
    return out;
}

static void every_format(void **state)
{
    (void)state;
    static const uint8_t types[] = {HD_TYPE_U8,  HD_TYPE_S8,  HD_TYPE_U16, HD_TYPE_S16,
                                    HD_TYPE_U32, HD_TYPE_S32, HD_TYPE_F16, HD_TYPE_F32};
    for (uint32_t k = 0; k < 3 * sizeof types; k++) {
        hd_texture t = texture(HD_TEXTURE_BUFFER, THREADS, 1, 1, 1);
        uint32_t bytes = hd_types[types[k / 3]].bits / 8u;
        t.type = types[k / 3];
        t.channels = (uint8_t)(1u << k % 3);
        for (uint32_t pass = 0; pass < 2; pass++) {
            bool is_float = hd_types[t.type].class == HD_CLASS_FLOAT;
            t.to_float = pass;
            if (pass && (is_float || bytes == 4))
                continue;
            unsigned char *raw = (unsigned char *)texels;
            for (uint32_t i = 0; i < sizeof texels; i++)
                raw[i] = (unsigned char)random_below(256);
            memset(raw, 0x80, 16); /* the lowest signed value comes first */
            memset(raw + 16, 0x7f, 16);
            memset(raw + 32, 0xff, 16);
            for (uint32_t i = 0; i < THREADS; i++) {
                uint32_t at = i;
                memcpy(&coordinates[i][0], &at, 4);
            }
            run_good(&t, 1,
                     is_float || t.to_float ? "tex.1d.v4.f32.s32 {%f5, %f6, %f7, %f8}, [%rd4, {%r1}];\nmov.b32 "
                                              "%r10, %f5;\nmov.b32 %r11, %f6;\nmov.b32 %r12, %f7;\nmov.b32 %r13, %f8;"
                     : k & 1                ? "tex.1d.v4.s32.s32 {%r10, %r11, %r12, %r13}, [%rd4, {%r1}];"
                                            : "tex.1d.v4.u32.s32 {%r10, %r11, %r12, %r13}, [%rd4, {%r1}];");
            for (uint32_t i = 0; i < THREADS; i++)
                for (uint32_t c = 0; c < 4; c++) {
                    uint32_t bits = 0, one = is_float || t.to_float ? 0x3f800000 : 1;
                    memcpy(&bits, raw + (i * t.channels + c) * bytes, bytes);
                    uint32_t wanted = c >= t.channels ? (c == 3 ? one : 0)
                                      : bytes == 4    ? bits
                                                      : meaning(t.type, t.to_float, bits);
                    float a, b;
                    memcpy(&a, &results[i][c], 4);
                    memcpy(&b, &wanted, 4);
                    bool nans = t.type == HD_TYPE_F16 && isnan(a) && isnan(b);
                    if (results[i][c] != wanted && !nans)
                        fail_msg(".%s x %u, to_float %d, texel %u, component %u: %08x, not %08x",
                                 hd_types[t.type].spelling, t.channels, t.to_float, i, c, results[i][c], wanted);
                }
        }
    }
}

static void pairs_of_halves(void **state)
{
    (void)state;
    hd_texture t = texture(HD_TEXTURE_2D, 4, 4, 1, 1);
    fill_texels();
    for (uint32_t i = 0; i < THREADS; i++)
        coordinates[i][0] = (float)(i % 4), coordinates[i][1] = (float)(i / 4 % 4);
    run_good(&t, 1, "tex.2d.v2.f16x2.f32 {%r10, %r11}, [%rd4, {%f1, %f2}];");
    for (uint32_t i = 0; i < THREADS; i++)
        for (uint32_t c = 0; c < 4; c++)
            assert_true(half_value(results[i][c / 2] >> 16 * (c % 2) & 0xffff) == texels[i % 16][c]);
}

static void by_index_zero_outside(void **state)
{
    (void)state;
    hd_texture t = texture(HD_TEXTURE_A2D, 4, 4, 1, 2);
    fill_texels();
    t.address[0] = HD_TEXTURE_WRAP; /* no matter */
    t.linear = t.normalized = true;
    for (uint32_t i = 0; i < THREADS; i++) {
        int32_t at[4] = {(int32_t)(i / 64), (int32_t)(i % 8) - 2, (int32_t)(i / 8 % 8) - 2, 0};
        memcpy(coordinates[i], at, 16);
    }
    run_good(&t, 1,
             "tex.a2d.v4.f32.s32 {%f5, %f6, %f7, %f8}|%p1, [%rd4, {%r1, %r2, %r3, %r3}];\nmov.b32 %r10, "
             "%f5;\nselp.u32 %r11, 1, 0, %p1;");
    for (uint32_t i = 0; i < THREADS; i++) {
        int x = (int)(i % 8) - 2, y = (int)(i / 8 % 8) - 2, layer = (int)(i / 64);
        float wanted = x < 0 || x > 3 || y < 0 || y > 3 || layer > 1 ? 0 : texels[(layer * 4 + y) * 4 + x][0];
        assert_memory_equal(&results[i][0], &wanted, 4);
        assert_int_equal(results[i][1], 1);
    }
}

/* ---- surfaces ---------------------------------------------------------------------------------------------------- */

static hd_texture surface(hd_texture_kind kind, hd_type type, uint32_t channels, uint32_t width, uint32_t height)
{
    hd_texture t = texture(kind, width, height, 1, 1);
    t.name = "S";
    t.type = (uint8_t)type;
    t.channels = (uint8_t)channels;
    t.surface = true;
    return t;
}

static void surfaces_by_bytes(void **state)
{
    (void)state;
    hd_texture s = surface(HD_TEXTURE_2D, HD_TYPE_U8, 4, 8, 4);
    unsigned char *raw = (unsigned char *)texels;
    static const char *const modes[] = {"clamp", "zero"};
    for (uint32_t mode = 0; mode < 2; mode++) {
        char text[256];
        for (uint32_t i = 0; i < 256; i++)
            raw[i] = (unsigned char)(i * 7 + 1);
        for (uint32_t i = 0; i < THREADS; i++) {
            int32_t at[2] = {((int32_t)(i % 16) - 4) * 8, (int32_t)(i / 16 % 8) - 2};
            memcpy(coordinates[i], at, 8);
        }
        snprintf(text, sizeof text,
                 "suld.b.2d.v2.b32.%s {%%r10, %%r11}, [%%rd4, {%%r1, %%r2}];\nsuld.b.2d.b8.%s %%h1, [%%rd4, "
                 "{%%r1, %%r2}];\ncvt.u32.u16 %%r12, %%h1;\nsuld.b.2d.b64.%s %%rd6, [%%rd4, {%%r1, %%r2}];\n"
                 "cvt.u32.u64 %%r13, %%rd6;",
                 modes[mode], modes[mode], modes[mode]);
        run_good(&s, 1, text);
        for (uint32_t i = 0; i < THREADS; i++) {
            int x = ((int)(i % 16) - 4) * 8, y = (int)(i / 16 % 8) - 2;
            int row = y < 0   ? 0
                      : y > 3 ? 3
                              : y,
                place = x < 0    ? 0
                        : x > 24 ? 24
                                 : x,
                byte = x < 0    ? 0
                       : x > 31 ? 31
                                : x;
            bool outside = row != y || place != x;
            uint32_t wanted[4] = {0};
            memcpy(wanted, raw + row * 32 + place, 8);
            wanted[2] = raw[row * 32 + byte];
            wanted[3] = wanted[0];
            if (mode && outside)
                memset(wanted, 0, sizeof wanted);
            assert_memory_equal(results[i], wanted, 16);
        }
    }
}

static void surfaces_are_written(void **state)
{
    (void)state;
    hd_texture s = surface(HD_TEXTURE_2D, HD_TYPE_F16, 2, 32, 16);
    unsigned char *raw = (unsigned char *)texels, wanted[4096 + 64];
    memset(texels, 0x55, sizeof texels);
    memset(wanted, 0x55, sizeof wanted);
    for (uint32_t i = 0; i < THREADS; i++) { /* every second column; rows 0 to 15 */
        int32_t at[4] = {(int32_t)(i % 32) * 8, (int32_t)(i / 32), (int32_t)(i * 3), (int32_t)(i + 100)};
        memcpy(coordinates[i], at, 16);
        if (i % 32 < 16)
            memcpy(wanted + (i / 32) * 128 + i % 32 * 8, &at[2], 8);
    }
    run_good(&s, 1, "sust.b.2d.v2.b32.zero [%rd4, {%r1, %r2}], {%r3, %r4};");
    assert_memory_equal(raw, wanted, sizeof wanted);
    /* formatted: two halves of two floats */
    for (uint32_t i = 0; i < THREADS; i++) {
        int32_t at[2] = {(int32_t)(i % 32), (int32_t)(i / 32)};
        memcpy(coordinates[i], at, 8);
        coordinates[i][2] = (float)i / 8;
        coordinates[i][3] = -(float)i;
    }
    run_good(&s, 1, "sust.p.2d.v2.b32.trap [%rd4, {%r1, %r2}], {%r3, %r4};");
    for (uint32_t i = 0; i < THREADS; i++) {
        uint16_t halves[2];
        memcpy(halves, raw + i * 4, 4);
        assert_true(half_value(halves[0]) == (float)i / 8 && half_value(halves[1]) == -(float)i);
    }
}

static void formatted_integers_stay_in_range(void **state)
{
    (void)state;
    hd_texture s = surface(HD_TEXTURE_1D, HD_TYPE_S8, 1, THREADS, 1);
    for (uint32_t i = 0; i < THREADS; i++) {
        int32_t at[2] = {(int32_t)i, (int32_t)i - 256};
        memcpy(coordinates[i], at, 8);
    }
    run_good(&s, 1, "sust.p.1d.b32.trap [%rd4, {%r1}], {%r2};");
    for (int i = 0; i < THREADS; i++)
        assert_int_equal(((int8_t *)texels)[i], i - 256 < -128 ? -128 : i - 256 > 127 ? 127 : i - 256);
    s.type = HD_TYPE_U8;
    s.to_float = true;
    for (uint32_t i = 0; i < THREADS; i++)
        coordinates[i][1] = ((float)i - 128) / 255;
    run_good(&s, 1, "sust.p.1d.b32.trap [%rd4, {%r1}], {%r2};");
    for (int i = 0; i < THREADS; i++)
        assert_int_equal(((uint8_t *)texels)[i], i < 128 ? 0 : i - 128 > 255 ? 255 : i - 128);
}

static void reductions(void **state)
{
    (void)state;
    hd_texture s = surface(HD_TEXTURE_2D, HD_TYPE_S32, 1, 8, 2);
    int32_t *cells = (int32_t *)texels, low[16], sum[16] = {0};
    for (uint32_t i = 0; i < 16; i++)
        cells[i] = low[i] = 50;
    for (uint32_t i = 0; i < THREADS; i++) {
        int32_t at[3] = {(int32_t)(i % 8), (int32_t)(i / 8 % 2), (int32_t)random_below(1000) - 500};
        memcpy(coordinates[i], at, 12);
        low[i % 16] = at[2] < low[i % 16] ? at[2] : low[i % 16];
        sum[i % 16] += at[2];
    }
    run_good(&s, 1, "sured.p.min.2d.b32.trap [%rd4, {%r1, %r2}], %r3;");
    assert_memory_equal(cells, low, sizeof low);
    memset(cells, 0, sizeof low);
    run_good(&s, 1, "shl.b32 %r1, %r1, 2;\nsured.b.add.2d.s32.trap [%rd4, {%r1, %r2}], %r3;");
    assert_memory_equal(cells, sum, sizeof sum);
}

/* Cells of three rows of eight; columns and rows from 4 before them to as many after them. */
static void reductions_outside(void **state)
{
    static const char *const modes[] = {"clamp", "zero"};
    (void)state;
    for (uint32_t mode = 0; mode < 2; mode++)
        for (uint32_t formatted = 0; formatted < 2; formatted++) {
            hd_texture s = surface(HD_TEXTURE_2D, HD_TYPE_U32, 1, 8, 3);
            uint32_t wanted[24] = {0}, *cells = (uint32_t *)texels;
            char text[128];
            memset(cells, 0, sizeof wanted + 64);
            for (uint32_t i = 0; i < THREADS; i++) {
                int32_t x = (int32_t)(i % 16) - 4, y = (int32_t)(i / 16 % 11) - 4, at[3] = {x, y, (int32_t)i + 1};
                int32_t column = x < 0 ? 0 : x > 7 ? 7 : x, row = y < 0 ? 0 : y > 2 ? 2 : y;
                memcpy(coordinates[i], at, 12);
                if (mode == 0 || (column == x && row == y))
                    wanted[row * 8 + column] += i + 1;
            }
            snprintf(text, sizeof text, "%ssured.%c.add.2d.%s.%s [%%rd4, {%%r1, %%r2}], %%r3;",
                     formatted ? "" : "shl.b32 %r1, %r1, 2;\n", formatted ? 'p' : 'b', formatted ? "b32" : "u32",
                     modes[mode]);
            run_good(&s, 1, text);
            assert_memory_equal(cells, wanted, sizeof wanted);
            assert_int_equal(cells[24], 0);
        }
}

/* A surface has the faces of a cube as layers, and no other geometry. */
static void surfaces_of_cubes(void **state)
{
    (void)state;
    const uint32_t *cells = (const uint32_t *)texels;
    for (uint32_t arrays = 0; arrays < 2; arrays++) {
        uint32_t faces = arrays ? 12 : 6;
        hd_texture s = surface(arrays ? HD_TEXTURE_ACUBE : HD_TEXTURE_CUBE, HD_TYPE_U32, 1, 4, 4);
        s.depth = 6;
        s.layers = arrays ? 2 : 1;
        fill_texels();
        for (uint32_t i = 0; i < THREADS; i++) {
            uint32_t at[4] = {i % faces, 4 * (i % 4), i / 16 % 4, 0};
            memcpy(coordinates[i], at, sizeof at);
        }
        run_good(&s, 1, "suld.b.a2d.b32.trap %r10, [%rd4, {%r1, %r2, %r3, %r3}];");
        for (uint32_t i = 0; i < THREADS; i++)
            assert_int_equal(results[i][0], cells[(i % faces * 4 + i / 16 % 4) * 4 + i % 4]);
        for (uint32_t k = 0; k < 3; k++) {
            static const char *const others[] = {"suld.b.2d.b32.trap %r10, [%rd4, {%r2, %r3}];",
                                                 "suld.b.3d.b32.trap %r10, [%rd4, {%r2, %r3, %r1, %r1}];",
                                                 "suld.b.a1d.b32.trap %r10, [%rd4, {%r1, %r2}];"};
            kernel_run run = run_on(&s, 1, others[k]);
            assert_int_equal(run.status, HD_EXEC_FAULT);
            assert_non_null(strstr(run.message, "and is used as"));
        }
    }
}

/* Formatted, one 32-bit integer; the bytes of another surface are left as they are. */
static void reductions_of_other_texels(void **state)
{
    static const struct {
        hd_type type;
        uint32_t channels;
        bool good;
    } cases[] = {{HD_TYPE_U32, 1, true},  {HD_TYPE_S32, 1, true},  {HD_TYPE_F32, 1, false}, {HD_TYPE_U32, 2, false},
                 {HD_TYPE_S32, 4, false}, {HD_TYPE_F32, 4, false}, {HD_TYPE_U16, 1, false}, {HD_TYPE_S16, 2, false},
                 {HD_TYPE_F16, 2, false}, {HD_TYPE_U8, 1, false},  {HD_TYPE_S8, 4, false}};
    (void)state;
    for (uint32_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        hd_texture s = surface(HD_TEXTURE_1D, cases[i].type, cases[i].channels, 16, 1);
        uint32_t *cells = (uint32_t *)texels;
        memset(texels, 0, sizeof texels);
        kernel_run run = run_on(&s, 1, "mov.u32 %r1, 3;\nsured.p.add.1d.b32.trap [%rd4, {%r1}], 2;");
        assert_int_equal(run.status, cases[i].good ? HD_EXEC_DONE : HD_EXEC_FAULT);
        for (uint32_t k = 0; k < 16; k++)
            assert_int_equal(cells[k], cases[i].good && k == 3 ? 2 * THREADS : 0);
        if (!cases[i].good && !strstr(run.message, "needs one u32 or s32"))
            fail_msg("case %u: %s", i, run.message);
    }
}

/* Several CTAs on several threads of the host: no addition gets lost. */
static void reductions_of_many_ctas(void **state)
{
    (void)state;
    hd_texture s = surface(HD_TEXTURE_1D, HD_TYPE_U32, 1, 4, 1);
    char text[2048], body[512];
    snprintf(body, sizeof body,
             "mov.u64 %%rd4, 0x%llx;\nand.b32 %%r1, %%r0, 3;\nsured.p.add.1d.b32.trap [%%rd4, {%%r1}], 3;",
             (unsigned long long)HANDLE(0));
    memset(texels, 0, 16);
    kernel_run run = {.text = kernel_text(text, sizeof text, body),
                      .grid = 300,
                      .block = 128,
                      .options = {.threads = 4},
                      .textures = {&s, 1}};
    run_kernel(&run);
    assert_int_equal(run.status, HD_EXEC_DONE);
    for (uint32_t i = 0; i < 4; i++)
        assert_int_equal(((uint32_t *)texels)[i], 300 * 32 * 3);
}

/* ---- queries and mistakes ---------------------------------------------------------------------------------------- */

static void queries(void **state)
{
    (void)state;
    hd_texture two[2] = {texture(HD_TEXTURE_3D, 7, 5, 3, 1), surface(HD_TEXTURE_A2D, HD_TYPE_U16, 2, 9, 4)};
    two[0].linear = two[0].normalized = true;
    two[0].address[1] = HD_TEXTURE_MIRROR;
    two[1].layers = 6;
    run_good(two, 2,
             "txq.width.b32 %r10, [%rd4];\ntxq.height.b32 %r11, [%rd4];\ntxq.depth.b32 %r12, [%rd4];\n"
             "txq.addr_mode_1.b32 %r13, [%rd4];");
    const uint32_t first[4] = {7, 5, 3, 1};
    assert_memory_equal(results[5], first, 16);
    run_good(two, 2,
             "suq.width.b32 %r10, [%rd5];\nsuq.array_size.b32 %r11, [%rd5];\nsuq.channel_order.b32 %r12, [%rd5];\n"
             "suq.channel_data_type.b32 %r13, [%rd5];");
    const uint32_t second[4] = {9, 6, 0x10b2, 0x10db};
    assert_memory_equal(results[6], second, 16);
    run_good(two, 2,
             "istypep.texref %p1, %rd4;\nistypep.surfref %p2, %rd4;\nistypep.surfref %p3, %rd5;\nistypep.texref %p4, "
             "%rd0;\nselp.u32 %r10, 1, 0, %p1;\nselp.u32 %r11, 1, 0, %p2;\nselp.u32 %r12, 1, 0, %p3;\nselp.u32 %r13, "
             "1, 0, %p4;");
    const uint32_t third[4] = {1, 0, 1, 0};
    assert_memory_equal(results[7], third, 16);
    run_good(two, 2,
             "suq.memory_layout.b32 %r10, [%rd5];\ntxq.num_samples.b32 %r11, [%rd4];\n"
             "txq.force_unnormalized_coords.b32 %r12, [%rd4];\ntxq.num_mipmap_levels.b32 %r13, [%rd4];");
    const uint32_t fourth[4] = {0, 1, 0, 1};
    assert_memory_equal(results[8], fourth, 16);
}

static void mistakes_are_faults(void **state)
{
    (void)state;
    static const struct {
        const char *instruction, *part;
    } cases[] = {
        {"tex.1d.v4.f32.f32 {%f5, %f6, %f7, %f8}, [%rd0, {%f1}];", "names no texture"},
        {"tex.1d.v4.f32.f32 {%f5, %f6, %f7, %f8}, [%rd4, {%f1}];", "texture 'T' is 2d, and is used as 1d"},
        {"tex.2d.v4.f32.f32 {%f5, %f6, %f7, %f8}, [%rd5, {%f1, %f2}];", "'S' is a surface, not a texture"},
        {"suld.b.2d.b32.trap %r10, [%rd4, {%r1, %r2}];", "'T' is a texture, not a surface"},
        {"tex.2d.v4.f32.f32 {%f5, %f6, %f7, %f8}, [%rd4, {%f1, %f2}];", "texture 'T' of .u8 cannot be read as .f32"},
        {"suld.b.2d.b32.trap %r10, [%rd5, {%r1, %r2}];", "outside of surface 'S' of 4 x 4 x 1 texels of 8 bytes"},
        {"sust.b.2d.b32.trap [%rd5, {%r1, %r2}], %r10;", "byte 64, y 0"},
        {"mov.u32 %r1, 2;\nsuld.b.2d.b32.zero %r10, [%rd5, {%r1, %r2}];",
         "byte 2 is not a multiple of the access's 4 bytes"},
        {"mov.u32 %r1, 1;\nsured.p.add.2d.b32.trap [%rd5, {%r1, %r2}], %r10;", "needs one u32 or s32"},
        {"mov.u32 %r1, 1;\ntxq.level.width.b32 %r10, [%rd4], %r1;", "has level 0 only"},
    };
    for (uint32_t i = 0; i < THREADS; i++) {
        const int32_t at[4] = {64, 0, 0, 0};
        memcpy(coordinates[i], at, 16);
    }
    for (uint32_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        hd_texture two[2] = {texture(HD_TEXTURE_2D, 4, 4, 1, 1), surface(HD_TEXTURE_2D, HD_TYPE_U16, 4, 4, 4)};
        two[0].type = HD_TYPE_U8;
        kernel_run run = run_on(two, 2, cases[i].instruction);
        if (run.status != HD_EXEC_FAULT || !strstr(run.message, cases[i].part))
            fail_msg("%s: status %d, %s", cases[i].instruction, (int)run.status, run.message);
        for (uint32_t k = 0; k < THREADS; k++) /* no thread went on */
            assert_true(!results[k][0] && !results[k][1] && !results[k][2] && !results[k][3]);
    }
}

static void what_is_not_modelled(void **state)
{
    (void)state;
    static const char *const cases[] = {
        "tex.2dms.v4.f32.f32 {%f5, %f6, %f7, %f8}, [%rd4, {%f1, %f2, %f3, %f4}];",
        "tex.2dms.v4.f32.s32 {%f5, %f6, %f7, %f8}, [%rd4, {%r1, %r2, %r3, %r4}], {%r1, %r2};",
        "tex.cube.v4.f32.f32 {%f5, %f6, %f7, %f8}, [%rd4, {%f1, %f2, %f3, %f4}], {%r1, %r2, %r3, %r4};",
        "tex.3d.v4.f32.f32 {%f5, %f6, %f7, %f8}, [%rd4, {%f1, %f2, %f3, %f4}], %f3;",
        "tex.2d.v4.f32.s32 {%f5, %f6, %f7, %f8}, [%rd4, {%r1, %r2}], %f3;",
    };
    hd_texture t = texture(HD_TEXTURE_2D, 4, 4, 1, 1);
    for (uint32_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        kernel_run run = run_on(&t, 1, cases[i]);
        assert_int_equal(run.status, HD_EXEC_UNSUPPORTED);
        assert_string_equal(run.slug, "unsupported");
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(filters_and_address_modes),
        cmocka_unit_test(offsets_move_by_texels),
        cmocka_unit_test(gathers_four_texels),
        cmocka_unit_test(faces_of_cubes),
        cmocka_unit_test(surfaces_of_cubes),
        cmocka_unit_test(a_sampler_of_its_own),
        cmocka_unit_test(every_format),
        cmocka_unit_test(pairs_of_halves),
        cmocka_unit_test(by_index_zero_outside),
        cmocka_unit_test(surfaces_by_bytes),
        cmocka_unit_test(surfaces_are_written),
        cmocka_unit_test(formatted_integers_stay_in_range),
        cmocka_unit_test(reductions),
        cmocka_unit_test(reductions_outside),
        cmocka_unit_test(reductions_of_other_texels),
        cmocka_unit_test(reductions_of_many_ctas),
        cmocka_unit_test(queries),
        cmocka_unit_test(mistakes_are_faults),
        cmocka_unit_test(what_is_not_modelled),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
