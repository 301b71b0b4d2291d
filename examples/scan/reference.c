/* Prefix sums on the host. */
#include "../tools/fills.h"

enum { COUNT = 150000, PART = 512, PARTS = (COUNT + PART - 1) / PART, WARPS = 65536, WIDE = 131072, WIDE_PART = 1024 };

static uint32_t *inclusive(const uint32_t *in, size_t count, size_t part)
{
    uint32_t *out = allocate(count, sizeof *out);
    for (size_t i = 0; i < count; i++)
        out[i] = in[i] + (i % part ? out[i - 1] : 0);
    return out;
}

int main(void)
{
    const uint32_t *in = uniform_words(COUNT, 0, 1000, 31);
    uint32_t *out = allocate(COUNT, sizeof *out), *sums = allocate(PARTS, sizeof *sums),
             *before = allocate(PARTS, sizeof *before);
    uint32_t sum = 0;
    for (size_t i = 0; i < COUNT; i++) {
        if (i % PART == 0)
            before[i / PART] = sum;
        out[i] = sum;
        sum += in[i];
        sums[i / PART] += in[i];
    }
    expect("OUT", out, COUNT * sizeof *out);
    expect("SUMS", sums, PARTS * sizeof *sums);
    expect("BEFORE", before, PARTS * sizeof *before);
    expect("WARPS", inclusive(in, WARPS, 512), WARPS * sizeof *in);
    expect("WIDE", inclusive(in, WIDE, WIDE_PART), WIDE * sizeof *in);
    return 0;
}
