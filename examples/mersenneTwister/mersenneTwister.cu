// Random numbers by a small Mersenne twister of 19 words, one generator a thread with parameters of its own, and their
// change to normally distributed ones.
//   twister    uniform numbers in (0, 1]; number i of all generators stands together
//   boxMuller  pairs of uniform numbers to pairs of normal ones, in place
// The generators' parameters are data; nothing here depends on their giving full periods.
//
// Evaluated by: CUDA SDK (MersenneTwister).
// Memory: the state is an array in local memory with a moving index, results are written coalesced.

#define WORDS 19
#define MIDDLE 9
#define UPPER_MASK 0xfffffffeu
#define LOWER_MASK 0x1u

struct Parameters {
    unsigned matrix, mask_b, mask_c, seed;
};

extern "C" __global__ void twister(const Parameters *__restrict__ parameters, float *__restrict__ out, int generators,
                                   int per_generator)
{
    const int g = blockIdx.x * blockDim.x + threadIdx.x;
    if (g >= generators)
        return;
    const Parameters p = parameters[g];
    unsigned state[WORDS];
    state[0] = p.seed;
    for (int i = 1; i < WORDS; i++)
        state[i] = 1812433253u * (state[i - 1] ^ (state[i - 1] >> 30)) + i;

    int now = 0;
    unsigned word = state[0];
    for (int i = 0; i < per_generator; i++) {
        const int next = now + 1 < WORDS ? now + 1 : 0;
        const int middle = now + MIDDLE < WORDS ? now + MIDDLE : now + MIDDLE - WORDS;
        const unsigned next_word = state[next];
        unsigned x = (word & UPPER_MASK) | (next_word & LOWER_MASK);
        x = state[middle] ^ (x >> 1) ^ (x & 1 ? p.matrix : 0);
        state[now] = x;
        word = next_word;
        now = next;

        x ^= x >> 12;
        x ^= (x << 7) & p.mask_b;
        x ^= (x << 15) & p.mask_c;
        x ^= x >> 18;
        out[i * generators + g] = ((float)x + 1.0f) * 2.3283064365386962890625e-10f;
    }
}

extern "C" __global__ void boxMuller(const float *in, float *out, int generators, int per_generator)
{
    const int g = blockIdx.x * blockDim.x + threadIdx.x;
    if (g >= generators)
        return;
    for (int i = 0; i < per_generator; i += 2) {
        const float radius = sqrtf(-2.0f * logf(in[i * generators + g]));
        const float angle = 6.28318530717958647692f * in[(i + 1) * generators + g];
        float sine, cosine;
        sincosf(angle, &sine, &cosine);
        out[i * generators + g] = radius * cosine;
        out[(i + 1) * generators + g] = radius * sine;
    }
}
