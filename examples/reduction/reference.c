/* The sums of reduction.cu on the host, in the kernels' order of additions: every thread's own elements first, then
 * the upper half added to the lower half, as halving in shared memory and shuffles both do. */
#include "../tools/fills.h"

enum { COUNT = 65536, CTAS = 64, THREADS = 256 };

static float sum_of_cta(float *sums)
{
    for (unsigned half = THREADS / 2; half > 0; half /= 2)
        for (unsigned t = 0; t < half; t++)
            sums[t] += sums[t + half];
    return sums[0];
}

int main(void)
{
    float partial[THREADS] = {0};
    for (unsigned cta = 0; cta < CTAS; cta++) {
        float sums[THREADS];
        for (unsigned t = 0; t < THREADS; t++) {
            sums[t] = 0;
            for (uint64_t i = cta * THREADS + t; i < COUNT; i += CTAS * THREADS)
                sums[t] += (float)fill_uniform(-1, 1, 3, i);
        }
        partial[cta] = sum_of_cta(sums);
    }
    expect("PARTIAL", partial, CTAS * sizeof *partial);
    float total = sum_of_cta(partial);
    expect("TOTAL", &total, sizeof total);
    uint32_t words = 0;
    for (uint64_t i = 0; i < COUNT; i++)
        words += (uint32_t)fill_uniform(0, 1000, 5, i);
    expect("WORD_TOTAL", &words, sizeof words);
    return 0;
}
