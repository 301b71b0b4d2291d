/* What the examples' host references share: the fill generators of launch files, and the way a reference hands over
 * what it worked out.
 *
 * The generators are written from docs/launch-fills.md and share no code with the hardware model, so that a launch
 * file and its expected output follow from the same few numbers in two ways. Compile with -ffp-contract=off: a product
 * that the host compiler fused by itself would differ; where a kernel fuses, the reference says fmaf.
 *
 * A reference is one program without arguments. For each buffer with an expectation it calls `expect` with all of the
 * buffer's bytes: they go to the file BUFFER.bin of the current folder, and a line "BUFFER DIGEST" (XXH3-64) to
 * standard output. examples/tools/expected runs it and compares with the launch file, or updates that.
 */
#ifndef EXAMPLES_TOOLS_FILLS_H
#define EXAMPLES_TOOLS_FILLS_H

#include <math.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <xxhash.h>

/* Word number `index` of the SplitMix64 sequence of a seed. */
static inline uint64_t fill_word(uint64_t seed, uint64_t index)
{
    uint64_t z = seed + (index + 1) * UINT64_C(0x9E3779B97F4A7C15);
    z = (z ^ (z >> 30)) * UINT64_C(0xBF58476D1CE4E5B9);
    z = (z ^ (z >> 27)) * UINT64_C(0x94D049BB133111EB);
    return z ^ (z >> 31);
}

static inline double fill_iota(double start, double step, uint64_t index)
{
    double scaled = (double)index * step;
    return start + scaled;
}

static inline double fill_uniform(double low, double high, uint64_t seed, uint64_t index)
{
    double unit = (double)(fill_word(seed, index) >> 11) * 0x1p-53;
    double scaled = unit * (high - low);
    return low + scaled;
}

static inline double fill_normal(double mean, double deviation, uint64_t seed, uint64_t index)
{
    double u = (double)((fill_word(seed, 2 * index) >> 11) + 1) * 0x1p-53;
    double v = (double)(fill_word(seed, 2 * index + 1) >> 11) * 0x1p-53;
    double unit = sqrt(-2.0 * log(u)) * cos(6.283185307179586476925286766559 * v);
    double scaled = deviation * unit;
    return mean + scaled;
}

/* Zeroed memory that is never given back: a reference runs once. */
static inline void *allocate(size_t count, size_t size)
{
    void *memory = calloc(count, size);
    if (!memory) {
        perror("reference");
        exit(1);
    }
    return memory;
}

/* Whole buffers of {uniform: [low, high], seed}. */
static inline float *uniform_floats(size_t count, double low, double high, uint64_t seed)
{
    float *values = allocate(count, sizeof *values);
    for (size_t i = 0; i < count; i++)
        values[i] = (float)fill_uniform(low, high, seed, i);
    return values;
}

static inline double *uniform_doubles(size_t count, double low, double high, uint64_t seed)
{
    double *values = allocate(count, sizeof *values);
    for (size_t i = 0; i < count; i++)
        values[i] = fill_uniform(low, high, seed, i);
    return values;
}

static inline int32_t *uniform_ints(size_t count, double low, double high, uint64_t seed)
{
    int32_t *values = allocate(count, sizeof *values);
    for (size_t i = 0; i < count; i++)
        values[i] = (int32_t)fill_uniform(low, high, seed, i);
    return values;
}

static inline uint32_t *uniform_words(size_t count, double low, double high, uint64_t seed)
{
    uint32_t *values = allocate(count, sizeof *values);
    for (size_t i = 0; i < count; i++)
        values[i] = (uint32_t)fill_uniform(low, high, seed, i);
    return values;
}

static inline uint8_t *uniform_bytes(size_t count, double low, double high, uint64_t seed)
{
    uint8_t *values = allocate(count, sizeof *values);
    for (size_t i = 0; i < count; i++)
        values[i] = (uint8_t)fill_uniform(low, high, seed, i);
    return values;
}

/* Bytes for a fill of the launch file, {file: NAME}, that no generator makes; kept beside it like an expected file. */
static inline void input(const char *name, const void *data, size_t bytes)
{
    char path[256];
    snprintf(path, sizeof path, "%s.input", name);
    FILE *file = fopen(path, "wb");
    if (!file || fwrite(data, 1, bytes, file) != bytes || fclose(file) != 0) {
        perror(path);
        exit(1);
    }
}

/* What a buffer must hold at the end: all of its bytes. */
static inline void expect(const char *buffer, const void *data, size_t bytes)
{
    char path[256];
    snprintf(path, sizeof path, "%s.bin", buffer);
    FILE *file = fopen(path, "wb");
    if (!file || fwrite(data, 1, bytes, file) != bytes || fclose(file) != 0) {
        perror(path);
        exit(1);
    }
    printf("%s %016llx\n", buffer, (unsigned long long)XXH3_64bits(data, bytes));
}

#endif
