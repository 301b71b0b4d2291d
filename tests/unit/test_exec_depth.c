/* Cube textures with linear filtering, depth comparison and multisample textures of the interpreter.
 *
 * The reference of cubes knows no edges and no faces' order: it places every texel's middle in space, and takes for a
 * texel beyond an edge the one whose middle is nearest to the line from the cube's middle through the place where the
 * missing texel would be. */
#include "texture_run.h"

#include <math.h>

static const char to_words[] = "\nmov.b32 %r10, %f5;\nmov.b32 %r11, %f6;\nmov.b32 %r12, %f7;\nmov.b32 %r13, %f8;";

/* ---- cubes ------------------------------------------------------------------------------------------------------- */

typedef struct vector {
    double at[3];
} vector;

/* Faces +x -x +y -y +z -z: the direction of the face, of its s and of its t. */
static const vector towards[6] = {{{1, 0, 0}}, {{-1, 0, 0}}, {{0, 1, 0}}, {{0, -1, 0}}, {{0, 0, 1}}, {{0, 0, -1}}};
static const vector along_s[6] = {{{0, 0, -1}}, {{0, 0, 1}}, {{1, 0, 0}}, {{1, 0, 0}}, {{1, 0, 0}}, {{-1, 0, 0}}};
static const vector along_t[6] = {{{0, -1, 0}}, {{0, -1, 0}}, {{0, 0, 1}}, {{0, 0, -1}}, {{0, -1, 0}}, {{0, -1, 0}}};

static vector place_on(int face, double s, double t) /* s, t from -1 to 1 on the face */
{
    vector v;
    for (int k = 0; k < 3; k++)
        v.at[k] = towards[face].at[k] + s * along_s[face].at[k] + t * along_t[face].at[k];
    return v;
}

static double cosine(vector a, vector b)
{
    double ab = 0, aa = 0, bb = 0;
    for (int k = 0; k < 3; k++)
        ab += a.at[k] * b.at[k], aa += a.at[k] * a.at[k], bb += b.at[k] * b.at[k];
    return ab / sqrt(aa * bb);
}

/* Number of the texel, of 6 n n, whose middle is nearest to the direction. */
static int nearest_texel(vector to, int n)
{
    int best = 0;
    double most = -2;
    for (int i = 0; i < 6 * n * n; i++) {
        double c = cosine(to, place_on(i / (n * n), (2 * (i % n) + 1.0) / n - 1, (2 * (i / n % n) + 1.0) / n - 1));
        if (c > most)
            most = c, best = i;
    }
    return best;
}

static double cube_texel(const hd_texture *t, int face, int x, int y, uint32_t layer, uint32_t c)
{
    int n = (int)t->width, inner_x = x < 0 ? 0 : x >= n ? n - 1 : x, inner_y = y < 0 ? 0 : y >= n ? n - 1 : y;
    const float(*of)[4] = texels + layer * 6 * (uint32_t)(n * n);
    double sum = 0;
    if (!t->seamless)
        return (double)of[(face * n + inner_y) * n + inner_x][c];
    if (x == inner_x || y == inner_y)
        return (double)of[nearest_texel(place_on(face, (2 * x + 1.0) / n - 1, (2 * y + 1.0) / n - 1), n)][c];
    for (int k = 0; k < 3; k++)
        sum += cube_texel(t, face, k == 1 ? x : inner_x, k == 2 ? y : inner_y, layer, c);
    return (double)(float)(sum / 3);
}

static double cube_reference(const hd_texture *t, int face, double s, double v, uint32_t layer, uint32_t c)
{
    double x = s * t->width - 0.5, y = v * t->width - 0.5, sum = 0;
    int i = (int)floor(x), j = (int)floor(y);
    int a = (int)floor((x - i) * 256 + 0.5), b = (int)floor((y - j) * 256 + 0.5);
    for (int k = 0; k < 4; k++) {
        double weight = (k & 1 ? a : 256 - a) * (k & 2 ? b : 256 - b) / 65536.0;
        sum += weight ? weight * cube_texel(t, face, i + (k & 1), j + (k >> 1), layer, c) : 0;
    }
    return sum;
}

/* Directions to random places of the faces, many of them near edges and corners. */
static void check_cube(const hd_texture *t, const char *instruction, uint32_t layer)
{
    static float st[THREADS][2];
    char text[512];
    for (uint32_t i = 0; i < THREADS; i++) {
        for (uint32_t k = 0; k < 2; k++) {
            int at = (int)random_below(511) + 1;
            st[i][k] = (float)(i & (k + 1) ? at % 2 ? at % 32 + 1 : 511 - at % 32 : at) / 512;
        }
        vector v = place_on((int)(i % 6), (double)st[i][0] * 2 - 1, (double)st[i][1] * 2 - 1);
        for (uint32_t k = 0; k < 3; k++)
            coordinates[i][k] = (float)(v.at[k] * 4);
    }
    snprintf(text, sizeof text, "%s%s", instruction, to_words);
    run_good(t, 1, text);
    for (uint32_t i = 0; i < THREADS; i++)
        for (uint32_t c = 0; c < 4; c++) {
            float got, wanted = (float)cube_reference(t, (int)(i % 6), (double)st[i][0], (double)st[i][1], layer, c);
            memcpy(&got, &results[i][c], 4);
            if (fabsf(got - wanted) > 1e-6f * 64)
                fail_msg("%s, seamless %d, face %u at %g, %g, component %u: %.9g, not %.9g", instruction, t->seamless,
                         i % 6, (double)st[i][0], (double)st[i][1], c, (double)got, (double)wanted);
        }
}

static void cubes_are_filtered_with_and_without_seams(void **state)
{
    (void)state;
    static const uint32_t sides[] = {1, 2, 4, 5, 8};
    fill_texels();
    for (uint32_t k = 0; k < 2 * sizeof sides / sizeof *sides; k++) {
        hd_texture one = texture(HD_TEXTURE_CUBE, sides[k / 2], 1, 6, 1);
        hd_texture many = texture(HD_TEXTURE_ACUBE, sides[k / 2], 1, 6, 3);
        one.linear = many.linear = true;
        one.seamless = many.seamless = k & 1;
        check_cube(&one, "tex.cube.v4.f32.f32 {%f5, %f6, %f7, %f8}, [%rd4, {%f1, %f2, %f3, %f3}];", 0);
        check_cube(&many, "mov.u32 %r5, 2;\ntex.acube.v4.f32.f32 {%f5, %f6, %f7, %f8}, [%rd4, {%r5, %f1, %f2, %f3}];",
                   2);
    }
}

/* With seams the address modes hold within a face; a border is seen at its edges. Without, they are not asked. */
static void address_modes_hold_within_a_face(void **state)
{
    (void)state;
    hd_texture t = texture(HD_TEXTURE_CUBE, 4, 1, 6, 1);
    for (uint32_t i = 0; i < MOST_TEXELS; i++)
        texels[i][0] = 1;
    t.linear = true;
    t.address[0] = t.address[1] = HD_TEXTURE_BORDER;
    for (uint32_t i = 0; i < THREADS; i++) { /* on +x, near its s = 1: half a texel is outside */
        coordinates[i][0] = 1;
        coordinates[i][1] = 0;
        coordinates[i][2] = -1;
    }
    coordinates[0][2] = 0;
    for (uint32_t k = 0; k < 2; k++) {
        t.seamless = k;
        run_good(&t, 1, "tex.cube.v4.f32.f32 {%f5, %f6, %f7, %f8}, [%rd4, {%f1, %f2, %f3, %f3}];\nmov.b32 %r10, %f5;");
        const float inside = 1, edge = k ? 1 : 0.5f;
        assert_memory_equal(&results[0][0], &inside, 4);
        assert_memory_equal(&results[1][0], &edge, 4); /* x = -z: the face is that of z, at its edge */
    }
}

static void directions_without_end(void **state)
{
    (void)state;
    hd_texture t = texture(HD_TEXTURE_CUBE, 4, 1, 6, 1);
    fill_texels();
    for (uint32_t i = 0; i < THREADS; i++)
        for (uint32_t k = 0; k < 3; k++)
            coordinates[i][k] = i >> k & 1 ? (i & 8 ? -INFINITY : INFINITY) : i & 16 ? NAN : 0;
    for (uint32_t k = 0; k < 4; k++) {
        t.linear = k & 1;
        t.seamless = k & 2;
        run_good(&t, 1, "tex.cube.v4.f32.f32 {%f5, %f6, %f7, %f8}, [%rd4, {%f1, %f2, %f3, %f3}];\nmov.b32 %r10, %f5;");
        float middle[4], got; /* the face +z of {0, 0, inf} */
        memcpy(&got, &results[4][0], 4);
        for (uint32_t m = 0; m < 4; m++)
            middle[m] = texels[(4 * 4 + 1 + m / 2) * 4 + 1 + m % 2][0];
        float wanted = t.linear ? (middle[0] + middle[1] + middle[2] + middle[3]) / 4 : middle[3];
        assert_true(got == wanted);
    }
}

/* ---- depths ------------------------------------------------------------------------------------------------------ */

static float *depths; /* one channel: the texels' memory */

static int passes(int operation, double reference, double depth)
{
    switch (operation) {
    case HD_TEXTURE_LESS: return reference < depth;
    case HD_TEXTURE_LESS_EQUAL: return !(reference > depth);
    case HD_TEXTURE_EQUAL: return reference - depth == 0;
    case HD_TEXTURE_NOT_EQUAL: return reference - depth != 0;
    case HD_TEXTURE_GREATER_EQUAL: return !(reference < depth);
    case HD_TEXTURE_GREATER: return reference > depth;
    default: return operation == HD_TEXTURE_ALWAYS;
    }
}

static hd_texture depth_texture(hd_texture_kind kind, uint32_t width, uint32_t height, uint32_t layers)
{
    hd_texture t = texture(kind, width, height, 1, layers);
    t.channels = 1;
    depths = &texels[0][0];
    for (uint32_t i = 0; i < 256; i++)
        depths[i] = (float)random_below(9) / 8;
    return t;
}

/* Clamped to an 8 x 8 texture: how far the comparisons around (x, y) pass. */
static float compared(const hd_texture *t, int operation, const float *at, float reference)
{
    double x = (double)at[0] - (t->linear ? 0.5 : 0), y = (double)at[1] - (t->linear ? 0.5 : 0), sum = 0;
    int i = (int)floor(x), j = (int)floor(y);
    int a = t->linear ? (int)floor((x - i) * 256 + 0.5) : 0, b = t->linear ? (int)floor((y - j) * 256 + 0.5) : 0;
    for (int k = 0; k < 4; k++) {
        int u = i + (k & 1), v = j + (k >> 1);
        u = u < 0 ? 0 : u > 7 ? 7 : u;
        v = v < 0 ? 0 : v > 7 ? 7 : v;
        sum += (k & 1 ? a : 256 - a) * (k & 2 ? b : 256 - b) / 65536.0 *
               passes(operation, (double)reference, (double)depths[v * 8 + u]);
    }
    return (float)sum;
}

static void depths_are_compared_before_they_are_filtered(void **state)
{
    (void)state;
    for (uint32_t k = 0; k < 4 * HD_TEXTURE_ALWAYS; k++) {
        hd_texture both[2] = {depth_texture(HD_TEXTURE_2D, 8, 8, 1), {.name = "S", .kind = HD_TEXTURE_SAMPLER}};
        bool sampler = k & 2;
        int operation = 1 + (int)k / 4;
        for (uint32_t i = 0; i < THREADS; i++) {
            coordinates[i][0] = (float)random_below(10 * 64) / 64 - 1;
            coordinates[i][1] = (float)random_below(10 * 64) / 64 - 1;
            coordinates[i][2] = (float)random_below(9) / 8;
        }
        both[1].address[0] = both[1].address[1] = HD_TEXTURE_CLAMP;
        both[0].linear = both[1].linear = k & 1;
        both[sampler].compare = (uint8_t)operation;
        run_good(both, 2,
                 sampler
                     ? "tex.2d.v4.f32.f32 {%f5, %f6, %f7, %f8}, [%rd4, %rd5, {%f1, %f2}], %f3;\nmov.b32 %r10, %f5;\n"
                       "mov.b32 %r11, %f6;\nmov.b32 %r13, %f8;"
                     : "tex.2d.v4.f32.f32 {%f5, %f6, %f7, %f8}, [%rd4, {%f1, %f2}], %f3;\nmov.b32 %r10, %f5;\n"
                       "mov.b32 %r11, %f6;\nmov.b32 %r13, %f8;");
        for (uint32_t i = 0; i < THREADS; i++) {
            float wanted = compared(&both[0], operation, coordinates[i], coordinates[i][2]), one = 1;
            assert_memory_equal(&results[i][0], &wanted, 4);
            assert_int_equal(results[i][1], 0);
            assert_memory_equal(&results[i][3], &one, 4);
        }
    }
}

/* Offset and depth, in any order of presence; a depth that is written as a number; gathered comparisons. */
static void where_a_depth_may_stand(void **state)
{
    (void)state;
    static const struct {
        hd_texture_kind kind;
        const char *instruction;
        uint32_t texel; /* that is compared with 0.5 */
    } cases[] = {
        {HD_TEXTURE_1D, "tex.1d.v4.f32.f32 {%f5, %f6, %f7, %f8}, [%rd4, {%f1}], %f3;", 2},
        {HD_TEXTURE_1D, "tex.1d.v4.f32.f32 {%f5, %f6, %f7, %f8}, [%rd4, {%f1}], 0.5;", 2},
        {HD_TEXTURE_1D, "mov.u32 %r5, 3;\ntex.1d.v4.f32.f32 {%f5, %f6, %f7, %f8}, [%rd4, {%f1}], {%r5}, %f3;", 5},
        {HD_TEXTURE_1D, "mov.u32 %r5, 3;\ntex.1d.v4.f32.f32 {%f5, %f6, %f7, %f8}, [%rd4, {%f1}], %r5, %f3;", 5},
        {HD_TEXTURE_2D, "mov.u32 %r5, 1;\ntex.2d.v4.f32.f32 {%f5, %f6, %f7, %f8}, [%rd4, {%f1, %f2}], {%r5, %r5}, %f3;",
         11},
        {HD_TEXTURE_2D, "tex.level.2d.v4.f32.f32 {%f5, %f6, %f7, %f8}, [%rd4, {%f1, %f2}], %f1, %f3;", 2},
        {HD_TEXTURE_A2D, "mov.u32 %r5, 1;\ntex.a2d.v4.f32.f32 {%f5, %f6, %f7, %f8}, [%rd4, {%r5, %f1, %f2, %f2}], %f3;",
         66},
        {HD_TEXTURE_CUBE,
         "mov.f32 %f4, 0f3F800000;\nmov.f32 %f9, 0fBF7FFFFF;\n"
         "tex.cube.v4.f32.f32 {%f5, %f6, %f7, %f8}, [%rd4, {%f9, %f4, %f9, %f9}], %f3;",
         64 * 2},
        {HD_TEXTURE_2D, "tld4.r.2d.v4.f32.f32 {%f8, %f7, %f6, %f5}, [%rd4, {%f1, %f2}], %f3;", 1},
    };
    for (uint32_t k = 0; k < 2 * sizeof cases / sizeof *cases; k++) {
        hd_texture t = depth_texture(cases[k / 2].kind, 8, cases[k / 2].kind == HD_TEXTURE_1D ? 1 : 8, 2);
        char text[512];
        t.compare = HD_TEXTURE_GREATER;
        for (uint32_t i = 0; i < 1024; i++)
            depths[i] = k & 1 ? 0.125f : 0.875f;
        depths[cases[k / 2].texel] = k & 1 ? 0.875f : 0.125f;
        for (uint32_t i = 0; i < THREADS; i++)
            coordinates[i][0] = 2.25f, coordinates[i][1] = 0.25f, coordinates[i][2] = 0.5f;
        snprintf(text, sizeof text, "%s\nmov.b32 %%r10, %%f5;", cases[k / 2].instruction);
        run_good(&t, 1, text);
        const float wanted = k & 1 ? 0 : 1;
        if (memcmp(&results[9][0], &wanted, 4) != 0)
            fail_msg("%s: %08x, not %g", cases[k / 2].instruction, results[9][0], (double)wanted);
    }
}

/* A depth in the format of 16 bits, against a border of zeros. */
static void depths_of_16_bits_and_borders(void **state)
{
    (void)state;
    hd_texture t = depth_texture(HD_TEXTURE_2D, 2, 2, 1);
    const uint16_t raw[4] = {0x8000, 0x7fff, 0xffff, 0};
    memcpy(texels, raw, sizeof raw);
    t.type = HD_TYPE_U16;
    t.to_float = true;
    t.address[0] = t.address[1] = HD_TEXTURE_BORDER;
    t.compare = HD_TEXTURE_LESS;
    for (uint32_t i = 0; i < THREADS; i++)
        coordinates[i][0] = (float)(i % 3), coordinates[i][1] = (float)(i / 3 % 2),
        coordinates[i][2] = i < 256 ? 0.5f : -1;
    run_good(&t, 1, "tex.2d.v4.f32.f32 {%f5, %f6, %f7, %f8}, [%rd4, {%f1, %f2}], %f3;\nmov.b32 %r10, %f5;");
    for (uint32_t i = 0; i < THREADS; i++) {
        static const int half[6] = {1, 0, 0, 1, 0, 0};
        float wanted = i < 256 ? (float)half[i % 6] : 1, got;
        memcpy(&got, &results[i][0], 4);
        assert_true(got == wanted);
    }
}

/* ---- samples ----------------------------------------------------------------------------------------------------- */

static void samples_are_fetched_by_number(void **state)
{
    (void)state;
    hd_texture t = texture(HD_TEXTURE_2DMS, 4, 2, 1, 1), a = texture(HD_TEXTURE_A2DMS, 4, 2, 1, 3);
    t.samples = 8;
    a.samples = 4;
    fill_texels();
    for (uint32_t i = 0; i < THREADS; i++) {
        int32_t at[4] = {(int32_t)(i % 8), (int32_t)(i / 8 % 6) - 1, (int32_t)(i / 48 % 4) - 1, 0};
        memcpy(coordinates[i], at, 16);
    }
    run_good(&t, 1,
             "tex.2dms.v4.f32.s32 {%f5, %f6, %f7, %f8}, [%rd4, {%r1, %r2, %r3, %r4}];\nmov.b32 %r10, %f6;\n"
             "txq.num_samples.b32 %r11, [%rd4];");
    for (uint32_t i = 0; i < THREADS; i++) {
        int sample = (int)(i % 8), x = (int)(i / 8 % 6) - 1, y = (int)(i / 48 % 4) - 1;
        float wanted = x < 0 || x > 3 || y < 0 || y > 1 ? 0 : texels[y * 32 + x * 8 + sample][1];
        assert_memory_equal(&results[i][0], &wanted, 4);
        assert_int_equal(results[i][1], 8);
    }
    for (uint32_t i = 0; i < THREADS; i++) {
        int32_t at[4] = {(int32_t)(i % 4), (int32_t)(i / 4 % 4), (int32_t)(i / 16 % 4), (int32_t)(i / 64 % 2)};
        memcpy(coordinates[i], at, 16);
    }
    run_good(&a, 1, "tex.a2dms.v4.f32.s32 {%f5, %f6, %f7, %f8}, [%rd4, {%r1, %r2, %r3, %r4}];\nmov.b32 %r10, %f8;");
    for (uint32_t i = 0; i < THREADS; i++) {
        int layer = (int)(i % 4), sample = (int)(i / 4 % 4), x = (int)(i / 16 % 4), y = (int)(i / 64 % 2);
        float wanted = layer > 2 ? 0 : texels[layer * 32 + y * 16 + x * 4 + sample][3];
        assert_memory_equal(&results[i][0], &wanted, 4);
    }
}

/* ---- mistakes ---------------------------------------------------------------------------------------------------- */

static void mistakes_are_faults(void **state)
{
    (void)state;
    static const struct {
        hd_texture_kind kind;
        const char *instruction, *part;
    } cases[] = {
        {HD_TEXTURE_2D, "tex.2d.v4.f32.f32 {%f5, %f6, %f7, %f8}, [%rd4, {%f1, %f2}], %f3;", "compares with no depth"},
        {HD_TEXTURE_1D, "tex.1d.v4.f32.f32 {%f5, %f6, %f7, %f8}, [%rd4, {%f1}], %f3;", "'T' holds no depths"},
        {HD_TEXTURE_2DMS, "mov.u32 %r1, 4;\ntex.2dms.v4.f32.s32 {%f5, %f6, %f7, %f8}, [%rd4, {%r1, %r2, %r3, %r4}];",
         "sample 4 of texture 'T', whose texels have 4"},
        {HD_TEXTURE_2DMS, "tex.2d.v4.f32.s32 {%f5, %f6, %f7, %f8}, [%rd4, {%r1, %r2}];", "is 2dms, and is used as 2d"},
    };
    for (uint32_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        hd_texture t = texture(cases[i].kind, 4, 4, 1, 1);
        t.samples = cases[i].kind == HD_TEXTURE_2DMS ? 4 : 0;
        t.compare = cases[i].kind == HD_TEXTURE_1D ? HD_TEXTURE_LESS : HD_TEXTURE_NO_COMPARE;
        kernel_run run = run_on(&t, 1, cases[i].instruction);
        if (run.status != HD_EXEC_FAULT || !strstr(run.message, cases[i].part))
            fail_msg("%s: status %d, %s", cases[i].instruction, (int)run.status, run.message);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(cubes_are_filtered_with_and_without_seams),
        cmocka_unit_test(address_modes_hold_within_a_face),
        cmocka_unit_test(directions_without_end),
        cmocka_unit_test(depths_are_compared_before_they_are_filtered),
        cmocka_unit_test(where_a_depth_may_stand),
        cmocka_unit_test(depths_of_16_bits_and_borders),
        cmocka_unit_test(samples_are_fetched_by_number),
        cmocka_unit_test(mistakes_are_faults),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
