/* Rotates, colors and slices on the host. Filtering as the CUDA programming guide describes it, with weights of 8 bits
 * of fraction, halves up; sums in double, x before y before z. */
#include "../tools/fills.h"

enum { WIDTH = 100, HEIGHT = 70, SIZE = 40, VX = 20, VY = 20, VZ = 12 };

static unsigned char image[WIDTH * HEIGHT];
static float rotated[WIDTH * HEIGHT];
static const float *volume;

static float pixel(int x, int y)
{
    x = (x % WIDTH + WIDTH) % WIDTH;
    y = (y % HEIGHT + HEIGHT) % HEIGHT;
    return (float)(image[y * WIDTH + x] / 255.0);
}

static float voxel(int x, int y, int z)
{
    x = x < 0 ? 0 : x >= VX ? VX - 1 : x;
    y = y < 0 ? 0 : y >= VY ? VY - 1 : y;
    return z < 0 || z >= VZ ? 0 : volume[(z * VY + y) * VX + x];
}

/* The lower texel, and how many 256ths of the upper one. */
static int lower(double x, int *weight)
{
    double i = floor(x - 0.5);
    *weight = (int)floor((x - 0.5 - i) * 256 + 0.5);
    return (int)i;
}

static float filter_image(float s, float t)
{
    int a, b, x = lower((double)s * WIDTH, &a), y = lower((double)t * HEIGHT, &b);
    double sum = (256 - a) * (256 - b) * (double)pixel(x, y);
    sum += a * (256 - b) * (double)pixel(x + 1, y);
    sum += (256 - a) * b * (double)pixel(x, y + 1);
    sum += a * b * (double)pixel(x + 1, y + 1);
    return (float)(sum / 65536);
}

static float filter_volume(float px, float py, float pz)
{
    int w[3], x = lower((double)px, &w[0]), y = lower((double)py, &w[1]), z = lower((double)pz, &w[2]);
    double sum = 0;
    for (int k = 0; k < 8; k++) {
        int i = k & 1, j = k >> 1 & 1, l = k >> 2;
        double weight = (double)(i ? w[0] : 256 - w[0]) * (j ? w[1] : 256 - w[1]) * (l ? w[2] : 256 - w[2]);
        double part = weight * 0x1p-24 * (double)voxel(x + i, y + j, z + l);
        sum += part;
    }
    return (float)sum;
}

static void rotate(float sine, float cosine)
{
    for (int y = 0; y < HEIGHT; y++)
        for (int x = 0; x < WIDTH; x++) {
            float u = ((float)x + 0.5f) / (float)WIDTH - 0.5f, v = ((float)y + 0.5f) / (float)HEIGHT - 0.5f;
            float s = u * cosine - v * sine + 0.5f, t = v * cosine + u * sine + 0.5f;
            rotated[y * WIDTH + x] = filter_image(s, t);
        }
}

static int within(int x, int n) { return x < 0 ? 0 : x >= n ? n - 1 : x; }

static unsigned char *color(const float *table)
{
    unsigned char *out = allocate(4 * WIDTH * HEIGHT, 1);
    for (int y = 0; y < HEIGHT; y++)
        for (int x = 0; x < WIDTH; x++) {
            float sum = 0;
            for (int k = 0; k < 9; k++)
                sum += rotated[within(y + k / 3 - 1, HEIGHT) * WIDTH + within(x + k % 3 - 1, WIDTH)];
            const float *entry = table + 4 * (int)(sum * (255.0f / 9.0f));
            for (int c = 0; c < 4; c++)
                out[4 * (y * WIDTH + x) + c] = (unsigned char)(entry[c] * 255.0f);
        }
    return out;
}

static float *slice(void)
{
    float *out = allocate(SIZE * SIZE, sizeof *out);
    for (int y = 0; y < SIZE; y++)
        for (int x = 0; x < SIZE; x++) {
            float px = (float)x * 0.5f, py = (float)y * 0.5f;
            out[y * SIZE + x] = filter_volume(px, py, px * 0.25f + py * 0.375f - 1.0f);
        }
    return out;
}

int main(void)
{
    for (int i = 0; i < WIDTH * HEIGHT; i++)
        image[i] = (unsigned char)fill_uniform(0, 256, 31, (uint64_t)i);
    volume = uniform_floats(VX * VY * VZ, -1, 1, 33);
    rotate(0.38941834f, 0.921061f);
    expect("ROTATED", rotated, sizeof rotated);
    expect("COLORED", color(uniform_floats(1024, 0, 1, 32)), 4 * WIDTH * HEIGHT);
    expect("SLICE", slice(), SIZE * SIZE * sizeof(float));
    return 0;
}
