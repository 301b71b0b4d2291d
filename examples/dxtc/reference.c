/* The compressed blocks on the host: the same steps in the kernel's order of operations, one after the other. The
 * blocks are then unpacked, and must be near to the image. */
#include "../tools/fills.h"

enum { WIDTH = 32, HEIGHT = 24, WAYS = 965, THREADS = 64 };

typedef struct vec {
    float v[3];
} vec;

static uint8_t image[HEIGHT][WIDTH][4];
static uint32_t orders[WAYS], blocks[HEIGHT / 4][WIDTH / 4][2];

static vec mix(float s, vec a, float t, vec b)
{
    vec r;
    for (int k = 0; k < 3; k++)
        r.v[k] = s * a.v[k] + t * b.v[k];
    return r;
}

static float dot(vec a, vec b)
{
    return a.v[0] * b.v[0] + a.v[1] * b.v[1] + a.v[2] * b.v[2];
}

static vec principal_axis(const vec *colours)
{
    vec mean = {{0}}, rows[3] = {{{0}}}, axis = {{1, 1, 1}};
    for (int i = 0; i < 16; i++)
        mean = mix(1, mean, 1, colours[i]);
    mean = mix(1.0f / 16, mean, 0, mean);
    for (int i = 0; i < 16; i++) {
        vec d = mix(1, colours[i], -1, mean);
        for (int k = 0; k < 3; k++)
            rows[k] = mix(1, rows[k], d.v[k], d);
    }
    for (int i = 0; i < 8; i++) {
        vec next = {{dot(rows[0], axis), dot(rows[1], axis), dot(rows[2], axis)}};
        float largest = fmaxf(fmaxf(fabsf(next.v[0]), fabsf(next.v[1])), fabsf(next.v[2]));
        if (largest == 0)
            break;
        axis = mix(1.0f / largest, next, 0, next);
    }
    return axis;
}

static vec round_colour(vec c, uint32_t *bits)
{
    static const float most[3] = {31, 63, 31};
    static const float part[3] = {1.0f / 31, 1.0f / 63, 1.0f / 31};
    vec r;
    *bits = 0;
    for (int k = 0; k < 3; k++) {
        float level = rintf(fminf(fmaxf(c.v[k], 0), 1) * most[k]);
        *bits = *bits << (k == 1 ? 6 : 5) | (uint32_t)level;
        r.v[k] = level * part[k];
    }
    return r;
}

static float try_way(const vec *sorted, uint32_t order, uint32_t *first, uint32_t *second)
{
    static const int weights[4] = {3, 0, 2, 1};
    int aa = 0, ab = 0, bb = 0;
    vec x = {{0}}, sum = {{0}};
    for (int i = 0; i < 16; i++) {
        int w = weights[order >> 2 * i & 3];
        aa += w * w;
        ab += w * (3 - w);
        bb += (3 - w) * (3 - w);
        x = mix(1, x, (float)w, sorted[i]);
        sum = mix(1, sum, 1, sorted[i]);
    }
    vec y = mix(3, sum, -1, x);
    float factor = 3.0f / (float)(aa * bb - ab * ab);
    vec a = mix((float)bb, x, -(float)ab, y), b = mix((float)aa, y, -(float)ab, x);
    a = round_colour(mix(factor, a, 0, a), first);
    b = round_colour(mix(factor, b, 0, b), second);
    float squares[3];
    for (int k = 0; k < 3; k++)
        squares[k] =
            (float)aa * (a.v[k] * a.v[k]) + (float)bb * (b.v[k] * b.v[k]) + (float)(2 * ab) * (a.v[k] * b.v[k]);
    return (squares[0] + squares[1] + squares[2]) * (1.0f / 9) - (dot(a, x) + dot(b, y)) * (2.0f / 3);
}

/* Of ways with the same error the one wins that the kernel's threads and their reduction would keep: the lower
 * thread's, then the earlier one. */
static int wins(float error, int way, float best_error, int best)
{
    if (error != best_error || best < 0)
        return best < 0 || error < best_error;
    return way % THREADS < best % THREADS || (way % THREADS == best % THREADS && way < best);
}

static void compress(int bx, int by)
{
    vec colours[16], sorted[16];
    float along[16];
    int ranks[16], best = -1;
    uint32_t first, second, keep[2] = {0};
    for (int i = 0; i < 16; i++)
        for (int k = 0; k < 3; k++)
            colours[i].v[k] = (1.0f / 255) * image[by * 4 + i / 4][bx * 4 + i % 4][k];
    vec axis = principal_axis(colours);
    for (int i = 0; i < 16; i++)
        along[i] = dot(colours[i], axis);
    for (int i = 0; i < 16; i++) {
        ranks[i] = 0;
        for (int j = 0; j < 16; j++)
            ranks[i] += along[j] < along[i] || (along[j] == along[i] && j < i);
        sorted[ranks[i]] = colours[i];
    }
    float best_error = 0;
    for (int w = 0; w < WAYS; w++) {
        float error = try_way(sorted, orders[w], &first, &second);
        if (wins(error, w, best_error, best)) {
            best = w;
            best_error = error;
            keep[0] = first;
            keep[1] = second;
        }
    }
    uint32_t choices = 0, *out = blocks[by][bx];
    for (int i = 0; i < 16; i++)
        choices |= (orders[best] >> 2 * ranks[i] & 3) << 2 * i;
    out[0] = keep[0] > keep[1] ? keep[1] << 16 | keep[0] : keep[0] << 16 | keep[1];
    out[1] = keep[0] == keep[1] ? 0 : keep[0] < keep[1] ? choices ^ 0x55555555u : choices;
}

/* The root of the mean squared difference between the image and the blocks, in levels of a byte. */
static double difference(void)
{
    double sum = 0;
    for (int y = 0; y < HEIGHT; y++)
        for (int x = 0; x < WIDTH; x++) {
            const uint32_t *block = blocks[y / 4][x / 4];
            const double weights[4] = {1, 0, 2 / 3.0, 1 / 3.0}, w = weights[block[1] >> 2 * (y % 4 * 4 + x % 4) & 3];
            const double c[2][3] = {
                {(block[0] >> 11 & 31) / 31.0, (block[0] >> 5 & 63) / 63.0, (block[0] & 31) / 31.0},
                {(block[0] >> 27) / 31.0, (block[0] >> 21 & 63) / 63.0, (block[0] >> 16 & 31) / 31.0}};
            for (int k = 0; k < 3; k++)
                sum += pow(255 * (w * c[0][k] + (1 - w) * c[1][k]) - image[y][x][k], 2);
        }
    return sqrt(sum / (3 * WIDTH * HEIGHT));
}

int main(void)
{
    int ways = 0;
    for (int a = 0; a <= 16; a++)
        for (int b = a; b <= 16; b++)
            for (int c = b; c <= 16; c++) {
                uint32_t order = 0;
                for (int i = 0; i < 16; i++)
                    order |= (uint32_t)(i < a ? 0 : i < b ? 2 : i < c ? 3 : 1) << 2 * i;
                if (order % 0x55555555u) /* not all in one group: that would leave one of the colours open */
                    orders[ways++] = order;
            }
    if (ways != WAYS)
        return fprintf(stderr, "%d ways\n", ways), 1;
    for (int i = 0; i < WIDTH * HEIGHT * 4;
         i++) { /* colours that run into each other, with noise; the last block is of one colour */
        int x = i / 4 % WIDTH, y = i / 4 / WIDTH, k = i % 4;
        int value = (int)((k == 0 ? 8 * x : k == 1 ? 255 - 6 * x - 2 * y : 10 * y) + fill_uniform(0, 20, 261, i));
        image[y][x][k] = x >= WIDTH - 4 && y >= HEIGHT - 4 ? 99 : value > 255 ? 255 : value < 0 ? 0 : (uint8_t)value;
    }
    for (int by = 0; by < HEIGHT / 4; by++)
        for (int bx = 0; bx < WIDTH / 4; bx++)
            compress(bx, by);
    if (difference() > 8)
        return fprintf(stderr, "the blocks are %g levels off\n", difference()), 1;
    input("IMAGE", image, sizeof image);
    input("ORDERS", orders, sizeof orders);
    expect("BLOCKS", blocks, sizeof blocks);
    return 0;
}
