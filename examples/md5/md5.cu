// MD5 digests of many pieces of a stream, as content-addressed storage needs them.
//   md5Direct   pieces of equal length side by side, one a thread; a piece is staged in shared memory so that reads of
//               neighbouring threads are coalesced, and so that a thread's words lie in one bank
//   md5Sliding  a window that starts at every byte, to find the borders of pieces; the lowest word of each digest is
//               kept
// A piece is WORDS words long and needs BLOCKS rounds with its padding; a window has 48 bytes.
//
// Evaluated by: GPGPU-Sim's suite of ISPASS 2009 (STO, StoreGPU).
// Memory: staged words in shared memory at a stride of the CTA's size, byte reads at any address, long chains of
// integer arithmetic.

#define THREADS 64
#define WORDS 24
#define WINDOW 48

static __device__ __forceinline__ unsigned turn(unsigned x, int by)
{
    return x << by | x >> (32 - by);
}

// One step of each kind; `word` holds the message word and the step's constant.
#define STEP(mix, a, b, c, d, word, by) \
    a += (mix) + (word);                \
    a = turn(a, by) + b
#define MIX_F(b, c, d) (((b) & (c)) | (~(b) & (d)))
#define MIX_G(b, c, d) (((b) & (d)) | ((c) & ~(d)))
#define MIX_H(b, c, d) ((b) ^ (c) ^ (d))
#define MIX_I(b, c, d) ((c) ^ ((b) | ~(d)))

// floor(2^32 * |sin(i + 1)|)
__constant__ unsigned md5_sines[64];

struct State {
    unsigned a, b, c, d;
};

// One block of sixteen words, which `word(i)` gives.
template <typename Words> static __device__ __forceinline__ void md5_block(State &state, const Words &word)
{
    unsigned a = state.a, b = state.b, c = state.c, d = state.d;
#pragma unroll
    for (int i = 0; i < 16; i += 4) {
        STEP(MIX_F(b, c, d), a, b, c, d, word(i) + md5_sines[i], 7);
        STEP(MIX_F(a, b, c), d, a, b, c, word(i + 1) + md5_sines[i + 1], 12);
        STEP(MIX_F(d, a, b), c, d, a, b, word(i + 2) + md5_sines[i + 2], 17);
        STEP(MIX_F(c, d, a), b, c, d, a, word(i + 3) + md5_sines[i + 3], 22);
    }
#pragma unroll
    for (int i = 16; i < 32; i += 4) {
        STEP(MIX_G(b, c, d), a, b, c, d, word((5 * i + 1) % 16) + md5_sines[i], 5);
        STEP(MIX_G(a, b, c), d, a, b, c, word((5 * i + 6) % 16) + md5_sines[i + 1], 9);
        STEP(MIX_G(d, a, b), c, d, a, b, word((5 * i + 11) % 16) + md5_sines[i + 2], 14);
        STEP(MIX_G(c, d, a), b, c, d, a, word((5 * i + 16) % 16) + md5_sines[i + 3], 20);
    }
#pragma unroll
    for (int i = 32; i < 48; i += 4) {
        STEP(MIX_H(b, c, d), a, b, c, d, word((3 * i + 5) % 16) + md5_sines[i], 4);
        STEP(MIX_H(a, b, c), d, a, b, c, word((3 * i + 8) % 16) + md5_sines[i + 1], 11);
        STEP(MIX_H(d, a, b), c, d, a, b, word((3 * i + 11) % 16) + md5_sines[i + 2], 16);
        STEP(MIX_H(c, d, a), b, c, d, a, word((3 * i + 14) % 16) + md5_sines[i + 3], 23);
    }
#pragma unroll
    for (int i = 48; i < 64; i += 4) {
        STEP(MIX_I(b, c, d), a, b, c, d, word(7 * i % 16) + md5_sines[i], 6);
        STEP(MIX_I(a, b, c), d, a, b, c, word((7 * i + 7) % 16) + md5_sines[i + 1], 10);
        STEP(MIX_I(d, a, b), c, d, a, b, word((7 * i + 14) % 16) + md5_sines[i + 2], 15);
        STEP(MIX_I(c, d, a), b, c, d, a, word((7 * i + 21) % 16) + md5_sines[i + 3], 21);
    }
    state.a += a;
    state.b += b;
    state.c += c;
    state.d += d;
}

static __device__ __forceinline__ State md5_start()
{
    return State{0x67452301u, 0xefcdab89u, 0x98badcfeu, 0x10325476u};
}

extern "C" __global__ void __launch_bounds__(THREADS)
    md5Direct(const unsigned *__restrict__ stream, uint4 *__restrict__ digests, int pieces)
{
    __shared__ unsigned staged[WORDS][THREADS];
    const int first = blockIdx.x * THREADS, mine = first + threadIdx.x;
    for (int i = threadIdx.x; i < WORDS * THREADS; i += THREADS)
        if (first * WORDS + i < pieces * WORDS)
            staged[i % WORDS][i / WORDS] = stream[first * WORDS + i];
    __syncthreads();
    if (mine >= pieces)
        return;

    State state = md5_start();
    const unsigned t = threadIdx.x;
    for (int block = 0; block < (WORDS + 3 + 15) / 16; block++)
        md5_block(state, [&](int i) {
            const int at = block * 16 + i;
            if (at < WORDS)
                return staged[at][t];
            return at == WORDS ? 0x80u : i == 14 ? WORDS * 32u : 0u;
        });
    digests[mine] = make_uint4(state.a, state.b, state.c, state.d);
}

extern "C" __global__ void __launch_bounds__(THREADS)
    md5Sliding(const unsigned char *__restrict__ stream, unsigned *__restrict__ marks, int bytes)
{
    __shared__ unsigned char staged[THREADS + WINDOW];
    const int first = blockIdx.x * THREADS;
    for (int i = threadIdx.x; i < THREADS + WINDOW; i += THREADS)
        staged[i] = first + i < bytes ? stream[first + i] : 0;
    __syncthreads();
    if (first + threadIdx.x + WINDOW > bytes)
        return;

    unsigned words[16] = {};
#pragma unroll
    for (int i = 0; i < WINDOW; i++)
        words[i / 4] |= (unsigned)staged[threadIdx.x + i] << i % 4 * 8;
    words[WINDOW / 4] = 0x80u;
    words[14] = WINDOW * 8;
    State state = md5_start();
    md5_block(state, [&](int i) { return words[i]; });
    marks[first + threadIdx.x] = state.a;
}
