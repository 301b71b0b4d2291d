/* What the example kernels must compute, worked out on the host in plain loops.
 *
 * It shares no code with the hardware model. It also holds the fill generators of launch files, written from
 * docs/launch-fills.md, so that a launch file and its expected output follow from the same few numbers.
 * Sums are made in exactly the order in which the kernels make them, and products are fused where the compiled
 * kernel fuses them (fmaf), so that every output agrees bit by bit. Compile with -ffp-contract=off: a product
 * that the host compiler fused by itself would differ.
 *
 * reference vectorAdd        prints the XXH3-64 of c
 * reference matrixMul FILE   writes c
 * reference reduction FILE   writes the partial sums, prints the total and the unsigned total
 * reference fills            prints the first values of each generator (the table in docs/launch-fills.md)
 */
#include <math.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <xxhash.h>

enum {
    VECTOR_COUNT = 50000,
    MATRIX_SIZE = 128,
    SUM_COUNT = 65536,
    SUM_CTAS = 64,
    SUM_THREADS = 256,
    WARP = 32
};

/* Word number `index` of the SplitMix64 sequence of a seed. */
static uint64_t random_word(uint64_t seed, uint64_t index)
{
    uint64_t z = seed + (index + 1) * UINT64_C(0x9E3779B97F4A7C15);
    z = (z ^ (z >> 30)) * UINT64_C(0xBF58476D1CE4E5B9);
    z = (z ^ (z >> 27)) * UINT64_C(0x94D049BB133111EB);
    return z ^ (z >> 31);
}

static double fill_iota(double start, double step, uint64_t index)
{
    double scaled = (double)index * step;
    return start + scaled;
}

static double fill_uniform(double low, double high, uint64_t seed, uint64_t index)
{
    double unit = (double)(random_word(seed, index) >> 11) * 0x1p-53;
    double scaled = unit * (high - low);
    return low + scaled;
}

static double fill_normal(double mean, double deviation, uint64_t seed, uint64_t index)
{
    double u = (double)((random_word(seed, 2 * index) >> 11) + 1) * 0x1p-53;
    double v = (double)(random_word(seed, 2 * index + 1) >> 11) * 0x1p-53;
    double unit = sqrt(-2.0 * log(u)) * cos(6.283185307179586476925286766559 * v);
    double scaled = deviation * unit;
    return mean + scaled;
}

static void *allocate(size_t count, size_t size)
{
    void *memory = calloc(count, size);
    if (!memory) {
        perror("reference");
        exit(1);
    }
    return memory;
}

static int write_floats(const char *path, const float *values, size_t count)
{
    FILE *file = fopen(path, "wb");
    if (!file || fwrite(values, sizeof *values, count, file) != count || fclose(file) != 0) {
        perror(path);
        return 1;
    }
    return 0;
}

static int vector_add(void)
{
    float *c = allocate(VECTOR_COUNT, sizeof *c);
    for (uint64_t i = 0; i < VECTOR_COUNT; i++) {
        float a = (float)fill_uniform(-1, 1, 7, i);
        float b = (float)fill_iota(0, 1, i);
        c[i] = a + b;
    }
    printf("c: xxh3 %016llx, c[1] = %.9g\n", (unsigned long long)XXH3_64bits(c, VECTOR_COUNT * sizeof *c), c[1]);
    free(c);
    return 0;
}

static int matrix_mul(const char *path)
{
    float *c = allocate(MATRIX_SIZE * MATRIX_SIZE, sizeof *c);
    for (uint64_t row = 0; row < MATRIX_SIZE; row++)
        for (uint64_t column = 0; column < MATRIX_SIZE; column++) {
            float sum = 0;
            for (uint64_t k = 0; k < MATRIX_SIZE; k++) {
                float a = (float)fill_uniform(-1, 1, 11, row * MATRIX_SIZE + k);
                float b = (float)fill_uniform(-1, 1, 13, k * MATRIX_SIZE + column);
                sum = fmaf(a, b, sum);
            }
            c[row * MATRIX_SIZE + column] = sum;
        }
    int status = write_floats(path, c, MATRIX_SIZE * MATRIX_SIZE);
    free(c);
    return status;
}

/* Halving in shared memory, then shuffles: both add the upper half to the lower half. */
static float sum_of_cta(float *sums, unsigned threads)
{
    for (unsigned half = threads / 2; half > 0; half /= 2)
        for (unsigned t = 0; t < half; t++)
            sums[t] += sums[t + half];
    return sums[0];
}

static int reduction(const char *path)
{
    float partial[SUM_THREADS] = {0};
    float sums[SUM_THREADS];
    for (unsigned cta = 0; cta < SUM_CTAS; cta++) {
        for (unsigned t = 0; t < SUM_THREADS; t++) {
            sums[t] = 0;
            for (uint64_t i = cta * SUM_THREADS + t; i < SUM_COUNT; i += SUM_CTAS * SUM_THREADS)
                sums[t] += (float)fill_uniform(-1, 1, 3, i);
        }
        partial[cta] = sum_of_cta(sums, SUM_THREADS);
    }
    if (write_floats(path, partial, SUM_CTAS) != 0)
        return 1;
    uint32_t words = 0;
    for (uint64_t i = 0; i < SUM_COUNT; i++)
        words += (uint32_t)fill_uniform(0, 1000, 5, i);
    printf("total: %.9g\nunsigned total: %lu\n", sum_of_cta(partial, SUM_THREADS), (unsigned long)words);
    return 0;
}

static int print_fills(void)
{
    for (uint64_t i = 0; i < 4; i++)
        printf("%llu: word %016llx iota[-0.3,0.1] %.17g uniform[-1,1] %.17g normal[0,1] %.17g, seed 7\n",
               (unsigned long long)i, (unsigned long long)random_word(7, i), fill_iota(-0.3, 0.1, i),
               fill_uniform(-1, 1, 7, i), fill_normal(0, 1, 7, i));
    return 0;
}

int main(int argc, char **argv)
{
    if (argc == 2 && strcmp(argv[1], "vectorAdd") == 0)
        return vector_add();
    if (argc == 2 && strcmp(argv[1], "fills") == 0)
        return print_fills();
    if (argc == 3 && strcmp(argv[1], "matrixMul") == 0)
        return matrix_mul(argv[2]);
    if (argc == 3 && strcmp(argv[1], "reduction") == 0)
        return reduction(argv[2]);
    fputs("usage: reference vectorAdd | matrixMul FILE | reduction FILE | fills\n", stderr);
    return 2;
}
