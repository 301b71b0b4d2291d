/* Sobol's sequence on the host, one point after the other: from point i to the next, the direction number of the lowest
 * zero bit of i is added. The direction numbers come from primitive polynomials by the usual recurrence; the initial
 * odd numbers, which are free, from the fill generator. */
#include "../tools/fills.h"

enum { DIMENSIONS = 16, POINTS = 16384, BITS = 32, INTEGRATED = 6 };

/* Degree and inner coefficients of a primitive polynomial for each dimension from the second on. */
static const struct polynomial {
    int degree;
    unsigned inner;
} POLYNOMIALS[DIMENSIONS - 1] = {{1, 0}, {2, 1},  {3, 1},  {3, 2},  {4, 1}, {4, 4},  {5, 2}, {5, 4},
                                 {5, 7}, {5, 11}, {5, 13}, {5, 14}, {6, 1}, {6, 13}, {6, 16}};

static void directions_of(int dimension, uint32_t *v)
{
    const struct polynomial *p = &POLYNOMIALS[dimension ? dimension - 1 : 0];
    for (int i = 0; i < BITS; i++) {
        if (dimension == 0) {
            v[i] = UINT32_C(1) << (31 - i);
        } else if (i < p->degree) {
            uint32_t odd = ((uint32_t)fill_word(111, 64 * dimension + i) & ((UINT32_C(1) << (i + 1)) - 1)) | 1;
            v[i] = odd << (31 - i);
        } else {
            v[i] = v[i - p->degree] ^ (v[i - p->degree] >> p->degree);
            for (int k = 1; k < p->degree; k++)
                if (p->inner >> (p->degree - 1 - k) & 1)
                    v[i] ^= v[i - k];
        }
    }
}

int main(void)
{
    static uint32_t directions[DIMENSIONS][BITS];
    static float points[DIMENSIONS][POINTS];
    for (int d = 0; d < DIMENSIONS; d++) {
        directions_of(d, directions[d]);
        uint32_t x = 0;
        for (uint32_t i = 0; i < POINTS; i++) {
            points[d][i] = (float)x * 0x1p-32f;
            x ^= directions[d][__builtin_ctz(~i)];
        }
    }
    uint32_t inside = 0;
    for (int i = 0; i < POINTS; i++) {
        float sum = 0;
        for (int d = 0; d < INTEGRATED; d++)
            sum = fmaf(points[d][i], points[d][i], sum);
        inside += sum < 1;
    }
    const double share = 3.14159265 * 3.14159265 * 3.14159265 / 384; /* the ball has pi^3 / 6, a 64th of it is here */
    if (fabs(inside / (double)POINTS - share) > 2e-3)
        return fprintf(stderr, "the points are not evenly spread: %u\n", inside), 1;
    input("DIRECTIONS", directions, sizeof directions);
    expect("POINTS", points, sizeof points);
    expect("INSIDE", &inside, sizeof inside);
    return 0;
}
