/* The cosine transform on the host. The floating-point work is done in the kernels' order, to agree bit by bit, and the
 * result of each transform is compared with the defining sums in double. */
#include "../tools/fills.h"

enum { SIZE = 256, PIXELS = SIZE * SIZE };

static const float C[8] = {
    0, 0.490392640f, 0.461939766f, 0.415734806f, 0.353553391f, 0.277785117f, 0.191341716f, 0.097545161f};

// clang-format off
static const int16_t STEPS[64] = {
    16,  11,  10,  16,  24,  40,  51,  61,
    12,  12,  14,  19,  26,  58,  60,  55,
    14,  13,  16,  24,  40,  57,  69,  56,
    14,  17,  22,  29,  51,  87,  80,  62,
    18,  22,  37,  56,  68,  109, 103, 77,
    24,  35,  55,  64,  81,  104, 113, 92,
    49,  64,  78,  87,  103, 121, 120, 101,
    72,  92,  95,  98,  112, 100, 103, 99,
};
// clang-format on

/* Basis function u at place x, as a float: a value of C with a sign. */
static float basis(int u, int x)
{
    double exact = u ? 0.5 * cos((2 * x + 1) * u * 3.14159265358979323846 / 16) : sqrt(0.125);
    for (int k = 1; k < 8; k++)
        if (fabs(fabs(exact) - C[k]) < 1e-6)
            return exact < 0 ? -C[k] : C[k];
    fputs("no such basis value\n", stderr);
    exit(1);
}

static void direct(const float *in, float *out)
{
    float half_way[64];
    for (int y = 0; y < 8; y++)
        for (int x = 0; x < 8; x++) {
            float sum = 0;
            for (int k = 0; k < 8; k++)
                sum = fmaf(basis(y, k), in[k * 8 + x], sum);
            half_way[y * 8 + x] = sum;
        }
    for (int y = 0; y < 8; y++)
        for (int x = 0; x < 8; x++) {
            float sum = 0;
            for (int k = 0; k < 8; k++)
                sum = fmaf(half_way[y * 8 + k], basis(x, k), sum);
            out[y * 8 + x] = sum;
        }
}

/* A chain of four products, the last one innermost. */
static float chain(const float *w, const float *v)
{
    return fmaf(w[0], v[0], fmaf(w[1], v[1], fmaf(w[2], v[2], w[3] * v[3])));
}

static void forward8(float *v, int step)
{
    float s[4], d[4];
    for (int i = 0; i < 4; i++) {
        s[i] = v[i * step] + v[(7 - i) * step];
        d[i] = v[i * step] - v[(7 - i) * step];
    }
    float ss = s[0] + s[3], sd = s[0] - s[3], ts = s[1] + s[2], td = s[1] - s[2];
    v[0] = C[4] * (ss + ts);
    v[4 * step] = C[4] * (ss - ts);
    v[2 * step] = fmaf(C[2], sd, C[6] * td);
    v[6 * step] = fmaf(C[6], sd, -C[2] * td);
    for (int u = 1; u < 8; u += 2) {
        float w[4] = {basis(u, 0), basis(u, 1), basis(u, 2), basis(u, 3)};
        v[u * step] = chain(w, d);
    }
}

static void inverse8(float *v, int step)
{
    float odd[4] = {v[step], v[3 * step], v[5 * step], v[7 * step]};
    float sum = C[4] * (v[0] + v[4 * step]), difference = C[4] * (v[0] - v[4 * step]);
    float wide = fmaf(C[2], v[2 * step], C[6] * v[6 * step]), narrow = fmaf(C[6], v[2 * step], -C[2] * v[6 * step]);
    float even[4] = {sum + wide, difference + narrow, difference - narrow, sum - wide};
    for (int x = 0; x < 4; x++) {
        float w[4] = {basis(1, x), basis(3, x), basis(5, x), basis(7, x)};
        float o = chain(w, odd);
        v[x * step] = even[x] + o;
        v[(7 - x) * step] = even[x] - o;
    }
}

static void lines(float *block, void (*transform)(float *, int))
{
    for (int i = 0; i < 8; i++)
        transform(block + 8 * i, 1);
    for (int i = 0; i < 8; i++)
        transform(block + i, 8);
}

/* The defining sums, in double; `inverse` swaps the roles of place and frequency. */
static void must_be_near(const float *in, const float *out, int inverse)
{
    for (int y = 0; y < 8; y++)
        for (int x = 0; x < 8; x++) {
            double sum = 0;
            for (int j = 0; j < 8; j++)
                for (int i = 0; i < 8; i++)
                    sum += in[j * 8 + i] * (double)(inverse ? basis(j, y) * basis(i, x) : basis(y, j) * basis(x, i));
            if (fabs(sum - out[y * 8 + x]) > 1e-2) {
                fprintf(stderr, "%d %d: %g instead of %g\n", x, y, out[y * 8 + x], sum);
                exit(1);
            }
        }
}

static uint8_t *image;
static float *all_direct, *all_butterfly;
static int16_t *quantized;
static uint8_t *back;

static void one_block(int bx, int by)
{
    float in[64], block[64], coefficients[64], out[64];
    for (int i = 0; i < 64; i++)
        in[i] = block[i] = (float)image[(by * 8 + i / 8) * SIZE + bx * 8 + i % 8] - 128.0f;
    direct(in, out);
    must_be_near(in, out, 0);
    lines(block, forward8);
    must_be_near(in, block, 0);
    for (int i = 0; i < 64; i++) {
        int at = (by * 8 + i / 8) * SIZE + bx * 8 + i % 8;
        all_direct[at] = out[i];
        all_butterfly[at] = block[i];
        quantized[at] = (int16_t)rintf(block[i] / STEPS[i]);
        coefficients[i] = block[i] = (float)(quantized[at] * STEPS[i]);
    }
    lines(block, inverse8);
    must_be_near(coefficients, block, 1);
    for (int i = 0; i < 64; i++)
        back[(by * 8 + i / 8) * SIZE + bx * 8 + i % 8] = (uint8_t)fminf(fmaxf(rintf(block[i]) + 128.0f, 0), 255);
}

int main(void)
{
    image = uniform_bytes(PIXELS, 0, 256, 61);
    all_direct = allocate(PIXELS, sizeof *all_direct);
    all_butterfly = allocate(PIXELS, sizeof *all_butterfly);
    quantized = allocate(PIXELS, sizeof *quantized);
    back = allocate(PIXELS, 1);
    for (int by = 0; by < SIZE / 8; by++)
        for (int bx = 0; bx < SIZE / 8; bx++)
            one_block(bx, by);
    expect("DIRECT", all_direct, PIXELS * sizeof *all_direct);
    expect("BUTTERFLY", all_butterfly, PIXELS * sizeof *all_butterfly);
    expect("QUANTIZED", quantized, PIXELS * sizeof *quantized);
    expect("BACK", back, PIXELS);
    return 0;
}
