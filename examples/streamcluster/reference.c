/* The candidates one after the other on the host. What a centre would save is added up in the order of its CTA. */
#include "../tools/fills.h"

enum { POINTS = 2048, DIMENSIONS = 32, CENTRES = 8, THREADS = 128, CANDIDATES = 16, SAVED = CENTRES };

typedef struct {
    float weight, cost;
    int32_t centre;
} point;

static const float price = 100.0f;

static float distance(const float *coordinates, int a, int b)
{
    float sum = 0;
    for (int d = 0; d < DIMENSIONS; d++) {
        float difference = coordinates[d * POINTS + a] - coordinates[d * POINTS + b];
        sum = fmaf(difference, difference, sum);
    }
    return sum;
}

static float halved(float *sum)
{
    for (int half = THREADS / 2; half > 0; half /= 2)
        for (int t = 0; t < half; t++)
            sum[t] += sum[t + half];
    return sum[0];
}

/* What all points together save at each centre's place, and by switching. */
static void gather(const float *coordinates, const point *points, int x, float *total)
{
    float sums[CENTRES + 1][THREADS] = {{0}};
    for (int i = 0; i < POINTS; i++) {
        float saved = distance(coordinates, i, x) * points[i].weight - points[i].cost;
        if (saved < 0)
            sums[SAVED][i % THREADS] += saved;
        else
            sums[points[i].centre][i % THREADS] -= saved;
    }
    for (int place = 0; place <= CENTRES; place++)
        total[place] = halved(sums[place]);
}

static float cost_of_opening(const float *total, const int32_t *state, int *closes)
{
    float cost = price + total[SAVED];
    for (int c = 0; c < CENTRES; c++) {
        float saved = total[c] + price;
        closes[c] = state[c] && saved > 0;
        if (closes[c])
            cost -= saved;
    }
    return cost;
}

static void open_centre(const float *coordinates, point *points, int32_t *state, const int *closes, int x)
{
    int place = -1;
    for (int c = CENTRES - 1; c >= 0; c--) {
        if (closes[c])
            state[c] = 0;
        if (!state[c])
            place = c;
    }
    if (place < 0)
        return;
    state[place] = 1;
    for (int i = 0; i < POINTS; i++) {
        float cost = distance(coordinates, i, x) * points[i].weight;
        if (cost < points[i].cost || closes[points[i].centre]) {
            points[i].cost = cost;
            points[i].centre = place;
        }
    }
}

int main(void)
{
    float *coordinates = uniform_floats(POINTS * DIMENSIONS, 0, 1, 141),
          *weights = uniform_floats(POINTS, 0.5, 1.5, 142);
    point *points = allocate(POINTS, sizeof *points);
    float total[CENTRES + 1], *gains = allocate(POINTS, sizeof *gains);
    int32_t state[CENTRES] = {1};
    for (int i = 0; i < POINTS; i++)
        points[i] = (point){weights[i], distance(coordinates, i, 0) * weights[i], 0};
    for (int k = 0; k < CANDIDATES; k++) {
        int closes[CENTRES], x = 64 + 97 * k;
        gather(coordinates, points, x, total);
        float cost = cost_of_opening(total, state, closes);
        gains[x] = -cost;
        if (cost < 0)
            open_centre(coordinates, points, state, closes, x);
    }
    expect("POINTS", points, POINTS * sizeof *points);
    expect("TOTAL", total, sizeof total);
    expect("STATE", state, sizeof state);
    expect("GAINS", gains, POINTS * sizeof *gains);
    return 0;
}
