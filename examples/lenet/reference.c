/* The network on the host, layer by layer; the softmax in double. It also draws the images: a stroke each, in eight
 * directions, which brightens toward its middle. */
#include "../tools/fills.h"

enum { IMAGES = 8, IN = 28, K = 5, MAPS1 = 6, OUT1 = 24, MAPS2 = 16, OUT2 = 8, UNITS3 = 120, CLASSES = 10 };

static float rectified(float x) { return x > 0.0f ? x : 0.0f; }

typedef struct {
    const float *filters, *bias;
    int in_maps, in, maps, out;
} layer;

static float *convolve(const float *in, const layer *l)
{
    float *all = allocate((size_t)(IMAGES * l->maps * l->out * l->out), sizeof *all), *result = all;
    for (int image = 0; image < IMAGES; image++)
        for (int map = 0; map < l->maps; map++)
            for (int y = 0; y < l->out; y++)
                for (int x = 0; x < l->out; x++) {
                    float sum = l->bias[map];
                    for (int i = 0; i < l->in_maps * K * K; i++) {
                        int m = i / (K * K), row = y + i / K % K, column = x + i % K;
                        const float *plane = in + (image * l->in_maps + m) * l->in * l->in;
                        sum = fmaf(plane[row * l->in + column], l->filters[map * l->in_maps * K * K + i], sum);
                    }
                    *result++ = rectified(sum);
                }
    return all;
}

static float *pool(const float *in, int maps, int side)
{
    float *out = allocate((size_t)(maps * side * side), sizeof *out);
    for (int map = 0; map < maps; map++)
        for (int i = 0; i < 4 * side * side; i++) {
            int y = i / (2 * side), x = i % (2 * side);
            float *place = out + (map * side + y / 2) * side + x / 2;
            float value = in[map * 4 * side * side + i];
            *place = value > *place ? value : *place;
        }
    return out;
}

static float *connect(const float *in, const float *weights, const float *bias, int inputs, int outputs)
{
    float *out = allocate((size_t)(IMAGES * outputs), sizeof *out);
    for (int i = 0; i < IMAGES * outputs; i++) {
        float sum = bias[i % outputs];
        for (int k = 0; k < inputs; k++)
            sum = fmaf(in[i / outputs * inputs + k], weights[k * outputs + i % outputs], sum);
        out[i] = sum;
    }
    return out;
}

static void softmax(const float *units, float *probability, int32_t *choice)
{
    double sum = 0;
    *choice = 0;
    for (int c = 1; c < CLASSES; c++)
        if (units[c] > units[*choice])
            *choice = c;
    for (int c = 0; c < CLASSES; c++)
        sum += exp((double)units[c] - units[*choice]);
    for (int c = 0; c < CLASSES; c++)
        probability[c] = (float)(exp((double)units[c] - units[*choice]) / sum);
}

static float *draw_strokes(void)
{
    static const int direction[IMAGES][2] = {{1, 0}, {0, 1}, {1, 1}, {1, -1}, {2, 1}, {1, 2}, {2, -1}, {1, -2}};
    float *images = allocate(IMAGES * IN * IN, sizeof *images);
    for (int i = 0; i < IMAGES * IN * IN; i++) {
        const int *d = direction[i / (IN * IN)];
        int away = abs(d[0] * (i % IN - IN / 2) + d[1] * (i / IN % IN - IN / 2));
        images[i] = away < 8 ? 1.0f - (float)away / 8.0f : 0.0f;
    }
    input("images", images, IMAGES * IN * IN * sizeof *images);
    return images;
}

static void expect_floats(const char *name, const float *values, size_t count)
{
    expect(name, values, count * sizeof *values);
}

int main(void)
{
    const layer first = {
        uniform_floats(MAPS1 * K * K, -0.3, 0.3, 152), uniform_floats(MAPS1, -0.1, 0.1, 153), 1, IN, MAPS1, OUT1};
    const layer second = {uniform_floats(MAPS2 * MAPS1 * K * K, -0.15, 0.15, 154),
                          uniform_floats(MAPS2, -0.1, 0.1, 155),
                          MAPS1,
                          OUT1 / 2,
                          MAPS2,
                          OUT2};
    int inputs3 = MAPS2 * OUT2 * OUT2 / 4;
    float *maps1 = convolve(draw_strokes(), &first);
    float *pooled1 = pool(maps1, IMAGES * MAPS1, OUT1 / 2);
    float *maps2 = convolve(pooled1, &second);
    float *pooled2 = pool(maps2, IMAGES * MAPS2, OUT2 / 2);
    float *units3 = connect(pooled2, uniform_floats((size_t)inputs3 * UNITS3, -0.1, 0.1, 156),
                            uniform_floats(UNITS3, -0.1, 0.1, 157), inputs3, UNITS3);
    for (int i = 0; i < IMAGES * UNITS3; i++)
        units3[i] = rectified(units3[i]);
    float *units4 = connect(units3, uniform_floats(UNITS3 * CLASSES, -1, 1, 158),
                            uniform_floats(CLASSES, -0.1, 0.1, 159), UNITS3, CLASSES);
    float probability[IMAGES * CLASSES];
    int32_t choice[IMAGES];
    for (int image = 0; image < IMAGES; image++)
        softmax(units4 + image * CLASSES, probability + image * CLASSES, choice + image);

    expect_floats("MAPS1", maps1, IMAGES * MAPS1 * OUT1 * OUT1);
    expect_floats("POOLED1", pooled1, IMAGES * MAPS1 * OUT1 * OUT1 / 4);
    expect_floats("MAPS2", maps2, IMAGES * MAPS2 * OUT2 * OUT2);
    expect_floats("POOLED2", pooled2, (size_t)(IMAGES * inputs3));
    expect_floats("UNITS3", units3, IMAGES * UNITS3);
    expect_floats("UNITS4", units4, IMAGES * CLASSES);
    expect_floats("PROBABILITY", probability, IMAGES * CLASSES);
    expect("CHOICE", choice, sizeof choice);
    return 0;
}
