/* Transposes on the host. */
#include "../tools/fills.h"

enum { WIDTH = 320, HEIGHT = 256 };

static float *transposed(const float *in, int width, int height)
{
    float *out = allocate(width * height, sizeof *out);
    for (int y = 0; y < height; y++)
        for (int x = 0; x < width; x++)
            out[x * height + y] = in[y * width + x];
    return out;
}

int main(void)
{
    const float *in = uniform_floats(WIDTH * HEIGHT, -1, 1, 21);
    const float *out = transposed(in, WIDTH, HEIGHT);
    expect("NAIVE", out, WIDTH * HEIGHT * sizeof *out);
    expect("TILE", out, WIDTH * HEIGHT * sizeof *out);
    expect("PADDED", out, WIDTH * HEIGHT * sizeof *out);
    expect("SQUARE", transposed(in, HEIGHT, HEIGHT), HEIGHT * HEIGHT * sizeof *out);
    return 0;
}
