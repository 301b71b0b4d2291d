/* The iterations on the host over the whole image; the statistics in the order of the CTA that makes them. */
#include "../tools/fills.h"

enum { SIDE = 128, COUNT = SIDE * SIDE, THREADS = 256, ROUNDS = 3 };

static int clamp(int value) { return value < 0 ? 0 : value >= SIDE ? SIDE - 1 : value; }

static float speckle_scale(const float *image)
{
    float sum[THREADS] = {0}, squares[THREADS] = {0};
    for (int i = 0; i < COUNT; i++) {
        sum[i % THREADS] += image[i];
        squares[i % THREADS] = fmaf(image[i], image[i], squares[i % THREADS]);
    }
    for (int half = THREADS / 2; half > 0; half /= 2)
        for (int t = 0; t < half; t++) {
            sum[t] += sum[t + half];
            squares[t] += squares[t + half];
        }
    float mean = sum[0] / (float)COUNT;
    float square = mean * mean;
    float variance = squares[0] / (float)COUNT - square;
    return variance / square;
}

/* d: differences to north, south, west, east. Single roundings, in the kernel's order. */
static float diffusion(float here, const float *d, float q0)
{
    float gradient = d[0] * d[0];
    for (int i = 1; i < 4; i++)
        gradient = gradient + d[i] * d[i];
    gradient = gradient / (here * here);
    float laplacian = (((d[0] + d[1]) + d[2]) + d[3]) / here;
    float numerator = 0.5f * gradient - 0.0625f * (laplacian * laplacian);
    float denominator = 1.0f + 0.25f * laplacian;
    float q2 = numerator / (denominator * denominator);
    float deviation = (q2 - q0) / (q0 * (1.0f + q0));
    float c = 1.0f / (1.0f + deviation);
    return c < 0.0f ? 0.0f : c > 1.0f ? 1.0f : c;
}

static void differences(const float *image, int y, int x, float *d)
{
    float here = image[y * SIDE + x];
    d[0] = image[clamp(y - 1) * SIDE + x] - here;
    d[1] = image[clamp(y + 1) * SIDE + x] - here;
    d[2] = image[y * SIDE + clamp(x - 1)] - here;
    d[3] = image[y * SIDE + clamp(x + 1)] - here;
}

static void iterate(float *image, float *c, float q0)
{
    float *before = allocate(COUNT, sizeof *before), d[4];
    memcpy(before, image, COUNT * sizeof *before);
    for (int i = 0; i < COUNT; i++) {
        differences(before, i / SIDE, i % SIDE, d);
        c[i] = diffusion(before[i], d, q0);
    }
    for (int i = 0; i < COUNT; i++) {
        int y = i / SIDE, x = i % SIDE;
        differences(before, y, x, d);
        float divergence = c[i] * d[0];
        divergence += c[clamp(y + 1) * SIDE + x] * d[1];
        divergence += c[i] * d[2];
        divergence += c[y * SIDE + clamp(x + 1)] * d[3];
        image[i] = fmaf(0.25f * 0.5f, divergence, before[i]);
    }
}

int main(void)
{
    float *image = uniform_floats(COUNT, 1, 2.5, 131), *c = allocate(COUNT, sizeof *c), q0 = 0;
    for (int round = 0; round < ROUNDS; round++) {
        q0 = speckle_scale(image);
        iterate(image, c, q0);
    }
    expect("IMAGE", image, COUNT * sizeof *image);
    expect("COEFFICIENT", c, COUNT * sizeof *c);
    expect("SCALE", &q0, sizeof q0);
    return 0;
}
