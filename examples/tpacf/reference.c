/* Points on a sphere and the classes of their angles, counted on the host one class after the other. The observed
 * points lie in clusters around every twentieth of them. */
#include "../tools/fills.h"

enum { POINTS = 300, SETS = 2, BINS = 20, COUNTERS = BINS + 2, HISTOGRAMS = 2 * SETS + 1 };

static float points[SETS + 1][3][POINTS], cosines[BINS + 1];
static uint32_t counts[HISTOGRAMS][COUNTERS];

static void place(int set, int i)
{
    double v[3], length = 0;
    for (int axis = 0; axis < 3; axis++) {
        v[axis] = fill_uniform(-1, 1, 200 + set, 3 * i + axis);
        if (set == 0 && i % 20)
            v[axis] = points[0][axis][i - i % 20] + v[axis] * exp(-0.4 * (i % 20));
        length += v[axis] * v[axis];
    }
    for (int axis = 0; axis < 3; axis++)
        points[set][axis][i] = (float)(v[axis] / sqrt(length));
}

static void count(uint32_t *bins, int a, int i, int b, int j)
{
    float cosine = fmaf(points[a][2][i], points[b][2][j],
                        fmaf(points[a][1][i], points[b][1][j], points[a][0][i] * points[b][0][j]));
    int bin = 0;
    while (bin <= BINS && cosine < cosines[bin])
        bin++;
    bins[bin]++;
}

int main(void)
{
    for (int k = 0; k <= BINS; k++) /* from one minute of arc, five classes to a factor of ten */
        cosines[k] = (float)cos(pow(10, k / 5.0) / 60 * 3.14159265358979323846 / 180);
    for (int set = 0; set <= SETS; set++)
        for (int i = 0; i < POINTS; i++)
            place(set, i);
    for (int j = 0; j < POINTS; j++)
        for (int i = 0; i < POINTS; i++) {
            for (int set = 0; set <= SETS && i < j; set++)
                count(counts[set], set, i, set, j);
            for (int set = 1; set <= SETS; set++)
                count(counts[SETS + set], 0, i, set, j);
        }
    input("POINTS", points, sizeof points);
    input("COSINES", cosines, sizeof cosines);
    expect("COUNTS", counts, sizeof counts);
    return 0;
}
