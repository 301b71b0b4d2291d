/* Three rounds of k-means on the host; a centre's sum is made in the order of the CTA that makes it. */
#include "../tools/fills.h"

enum { POINTS = 2048, FEATURES = 16, CENTRES = 6, THREADS = 128, ROUNDS = 3 };

static int nearest(const float *point, const float *centres)
{
    int best = -1;
    float least = INFINITY;
    for (int c = 0; c < CENTRES; c++) {
        float distance = 0;
        for (int f = 0; f < FEATURES; f++) {
            float difference = point[f] - centres[c * FEATURES + f];
            distance = fmaf(difference, difference, distance);
        }
        if (distance < least) {
            least = distance;
            best = c;
        }
    }
    return best;
}

static void move_centre(const float *points, const int32_t *membership, float *centres, int c, int f)
{
    float sum[THREADS] = {0};
    int members = 0;
    for (int i = 0; i < POINTS; i++)
        if (membership[i] == c) {
            sum[i % THREADS] += points[i * FEATURES + f];
            members++;
        }
    for (int half = THREADS / 2; half > 0; half /= 2)
        for (int t = 0; t < half; t++)
            sum[t] += sum[t + half];
    if (members > 0)
        centres[c * FEATURES + f] = sum[0] / (float)members;
}

int main(void)
{
    float *points = uniform_floats(POINTS * FEATURES, 0, 10, 81),
          *centres = uniform_floats(CENTRES * FEATURES, 0, 10, 81);
    float *inverted = allocate(POINTS * FEATURES, sizeof *inverted);
    int32_t *membership = allocate(POINTS, sizeof *membership), changed = 0;
    for (int i = 0; i < POINTS * FEATURES; i++)
        inverted[i % FEATURES * POINTS + i / FEATURES] = points[i];
    for (int i = 0; i < POINTS; i++)
        membership[i] = -1;
    for (int round = 0; round < ROUNDS; round++) {
        changed = 0;
        for (int i = 0; i < POINTS; i++) {
            int now = nearest(points + i * FEATURES, centres);
            changed += now != membership[i];
            membership[i] = now;
        }
        for (int c = 0; c < CENTRES; c++)
            for (int f = 0; f < FEATURES; f++)
                move_centre(points, membership, centres, c, f);
    }
    expect("FEATURES", inverted, POINTS * FEATURES * sizeof *inverted);
    expect("CENTRES", centres, CENTRES * FEATURES * sizeof *centres);
    expect("MEMBERSHIP", membership, POINTS * sizeof *membership);
    expect("CHANGED", &changed, sizeof changed);
    return 0;
}
