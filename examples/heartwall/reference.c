/* The points tracked on the host, one after the other. Where scores were equal the kernel's halving would decide; they
 * are not, and that is checked. */
#include "../tools/fills.h"

enum { SIDE = 128, FRAMES = 8, POINTS = 16, RADIUS = 5, WINDOW = 2 * RADIUS + 1, CELLS = WINDOW * WINDOW, REACH = 6 };

static uint32_t hash(uint32_t x)
{
    x ^= x >> 16;
    x *= 0x7feb352du;
    x ^= x >> 15;
    x *= 0x846ca68bu;
    return x ^ x >> 16;
}

static float *make_film(void)
{
    float *frames = allocate(FRAMES * SIDE * SIDE, sizeof *frames);
    for (int i = 0; i < FRAMES * SIDE * SIDE; i++) {
        int x = i % SIDE, y = i / SIDE % SIDE, frame = i / (SIDE * SIDE);
        uint32_t texture = hash((uint32_t)((y + frame + 1000) * 4096 + x - frame + 1000)) % 256;
        uint32_t noise = hash((uint32_t)(77 * SIDE * SIDE + i)) % 32;
        frames[i] = (float)texture + (float)noise / 2.0f;
    }
    return frames;
}

static int clamp(int value) { return value < 0 ? 0 : value >= SIDE ? SIDE - 1 : value; }

static void cut(const float *frame, int x, int y, float *window)
{
    for (int i = 0; i < CELLS; i++)
        window[i] = frame[clamp(y + i / WINDOW - RADIUS) * SIDE + clamp(x + i % WINDOW - RADIUS)];
}

static float correlation(const float *a, const float *b)
{
    float sum_a = 0, sum_b = 0, sum_aa = 0, sum_bb = 0, sum_ab = 0;
    for (int i = 0; i < CELLS; i++) {
        sum_a += a[i];
        sum_b += b[i];
        sum_aa = fmaf(a[i], a[i], sum_aa);
        sum_bb = fmaf(b[i], b[i], sum_bb);
        sum_ab = fmaf(a[i], b[i], sum_ab);
    }
    float covariance = fmaf(CELLS, sum_ab, -(sum_a * sum_b));
    float deviations = sqrtf(fmaf(CELLS, sum_aa, -(sum_a * sum_a))) * sqrtf(fmaf(CELLS, sum_bb, -(sum_b * sum_b)));
    return covariance / deviations;
}

/* The best score; the point and its template go on. */
static float track(const float *frame, int32_t *point, float *template)
{
    float window[CELLS], best = -2;
    int best_x = 0, best_y = 0;
    for (int y = point[1] - REACH; y <= point[1] + REACH; y++)
        for (int x = point[0] - REACH; x <= point[0] + REACH; x++) {
            cut(frame, x, y, window);
            float score = correlation(window, template);
            if (score == best) {
                fputs("heartwall: two offsets are equally good\n", stderr);
                exit(1);
            }
            if (score > best) {
                best = score;
                best_x = x;
                best_y = y;
            }
        }
    point[0] = best_x;
    point[1] = best_y;
    cut(frame, best_x, best_y, window);
    for (int i = 0; i < CELLS; i++)
        template[i] = fmaf(0.875f, template[i], 0.125f * window[i]);
    return best;
}

int main(void)
{
    float *frames = make_film(), templates[POINTS * CELLS], scores[POINTS];
    int32_t *points = uniform_ints(2 * POINTS, 10, 118, 261);
    for (int p = 0; p < POINTS; p++) {
        cut(frames, points[2 * p], points[2 * p + 1], templates + p * CELLS);
        for (int frame = 1; frame < FRAMES; frame++)
            scores[p] = track(frames + frame * SIDE * SIDE, points + 2 * p, templates + p * CELLS);
    }
    expect("FRAMES", frames, FRAMES * SIDE * SIDE * sizeof *frames);
    expect("POINTS", points, 2 * POINTS * sizeof *points);
    expect("TEMPLATES", templates, sizeof templates);
    expect("SCORES", scores, sizeof scores);
    return 0;
}
