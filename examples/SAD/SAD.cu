// Sums of absolute differences for motion estimation: each macroblock of 16 x 16 pixels of one picture against all
// places of a search window in another one, for all partitions from 4 x 4 to 16 x 16 pixels.
//   sadBlocks        the sums of 4 x 4 pixels, pixel by pixel from shared memory
//   sadBlocksPacked  the same, four pixels at a time: words at any byte address, put together of two aligned ones
//   sadLarger8       sums of the 8 x 4, 4 x 8 and 8 x 8 partitions from those of 4 x 4
//   sadLarger16      of the 16 x 8, 8 x 16 and 16 x 16 partitions from those of 8 x 8
//   sadBest          the place with the least 16 x 16 sum for each macroblock
// Sums are 16-bit numbers, at [macroblock][partition][place]. Outside of the picture its border pixels go on.
//
// Evaluated by: Parboil (SAD).
// Memory: byte accesses to shared memory, 16-bit global writes and reads, a reduction by minimum.

#define RANGE 8
#define SIDE (2 * RANGE + 1)
#define PLACES (SIDE * SIDE)
#define WINDOW (16 + 2 * RANGE)
#define THREADS 128

// The macroblock and its search window, in rows of bytes.
static __device__ void load_tiles(const unsigned char *current, const unsigned char *other, int width, int height,
                                  unsigned char *block, unsigned char *window, int pitch)
{
    const int x0 = blockIdx.x * 16, y0 = blockIdx.y * 16;
    for (int i = threadIdx.x; i < 256; i += THREADS)
        block[i] = current[(y0 + i / 16) * width + x0 + i % 16];
    for (int i = threadIdx.x; i < WINDOW * WINDOW; i += THREADS) {
        const int x = min(max(x0 - RANGE + i % WINDOW, 0), width - 1);
        const int y = min(max(y0 - RANGE + i / WINDOW, 0), height - 1);
        window[i / WINDOW * pitch + i % WINDOW] = other[y * width + x];
    }
    __syncthreads();
}

extern "C" __global__ void __launch_bounds__(THREADS)
    sadBlocks(const unsigned char *current, const unsigned char *other, unsigned short *sums, int width, int height)
{
    __shared__ unsigned char block[256], window[WINDOW * WINDOW];
    load_tiles(current, other, width, height, block, window, WINDOW);
    sums += (blockIdx.y * gridDim.x + blockIdx.x) * 16 * PLACES;
    for (int place = threadIdx.x; place < PLACES; place += THREADS) {
        const unsigned char *corner = window + place / SIDE * WINDOW + place % SIDE;
        for (int part = 0; part < 16; part++) {
            const int left = part % 4 * 4, top = part / 4 * 4;
            unsigned sum = 0;
#pragma unroll
            for (int y = 0; y < 4; y++)
#pragma unroll
                for (int x = 0; x < 4; x++)
                    sum = __usad(block[(top + y) * 16 + left + x], corner[(top + y) * WINDOW + left + x], sum);
            sums[part * PLACES + place] = (unsigned short)sum;
        }
    }
}

extern "C" __global__ void __launch_bounds__(THREADS)
    sadBlocksPacked(const unsigned char *current, const unsigned char *other, unsigned short *sums, int width,
                    int height)
{
    __shared__ __align__(4) unsigned char block[256], window[WINDOW * (WINDOW + 4)];
    load_tiles(current, other, width, height, block, window, WINDOW + 4);
    sums += (blockIdx.y * gridDim.x + blockIdx.x) * 16 * PLACES;
    const unsigned *block_words = (const unsigned *)block, *window_words = (const unsigned *)window;
    for (int place = threadIdx.x; place < PLACES; place += THREADS) {
        const int x = place % SIDE, y = place / SIDE;
        for (int top = 0; top < 16; top += 4) {
            unsigned sum[4] = {};
#pragma unroll
            for (int row = 0; row < 4; row++) {
                const unsigned *at = window_words + ((y + top + row) * (WINDOW + 4) + x) / 4;
                unsigned low = at[0];
#pragma unroll
                for (int part = 0; part < 4; part++) {
                    const unsigned high = at[part + 1];
                    sum[part] += __vsadu4(block_words[(top + row) * 4 + part], __funnelshift_r(low, high, x % 4 * 8));
                    low = high;
                }
            }
#pragma unroll
            for (int part = 0; part < 4; part++)
                sums[(top + part) * PLACES + place] = (unsigned short)sum[part];
        }
    }
}

// A CTA for each macroblock. Partitions count by rows.
extern "C" __global__ void sadLarger8(const unsigned short *__restrict__ sums4, unsigned short *__restrict__ wide,
                                      unsigned short *__restrict__ tall, unsigned short *__restrict__ sums8)
{
    const unsigned short *in = sums4 + blockIdx.x * 16 * PLACES;
    for (int place = threadIdx.x; place < PLACES; place += blockDim.x) {
#pragma unroll
        for (int part = 0; part < 4; part++) {
            const int corner = part / 2 * 8 + part % 2 * 2;
            const unsigned short a = in[corner * PLACES + place], b = in[(corner + 1) * PLACES + place];
            const unsigned short c = in[(corner + 4) * PLACES + place], d = in[(corner + 5) * PLACES + place];
            const int first = blockIdx.x * 8 + part * 2;
            wide[first * PLACES + place] = a + b;
            wide[(first + 1) * PLACES + place] = c + d;
            tall[first * PLACES + place] = a + c;
            tall[(first + 1) * PLACES + place] = b + d;
            sums8[(blockIdx.x * 4 + part) * PLACES + place] = a + b + c + d;
        }
    }
}

extern "C" __global__ void sadLarger16(const unsigned short *__restrict__ sums8, unsigned short *__restrict__ wide,
                                       unsigned short *__restrict__ tall, unsigned short *__restrict__ sums16)
{
    const unsigned short *in = sums8 + blockIdx.x * 4 * PLACES;
    for (int place = threadIdx.x; place < PLACES; place += blockDim.x) {
        const unsigned short a = in[place], b = in[PLACES + place], c = in[2 * PLACES + place],
                             d = in[3 * PLACES + place];
        wide[(blockIdx.x * 2) * PLACES + place] = a + b;
        wide[(blockIdx.x * 2 + 1) * PLACES + place] = c + d;
        tall[(blockIdx.x * 2) * PLACES + place] = a + c;
        tall[(blockIdx.x * 2 + 1) * PLACES + place] = b + d;
        sums16[blockIdx.x * PLACES + place] = a + b + c + d;
    }
}

extern "C" __global__ void __launch_bounds__(THREADS) sadBest(const unsigned short *sums16, short2 *motion)
{
    __shared__ unsigned least[THREADS];
    unsigned mine = 0xffffffffu;
    for (int place = threadIdx.x; place < PLACES; place += THREADS)
        mine = min(mine, (unsigned)sums16[blockIdx.x * PLACES + place] << 16 | place);
    least[threadIdx.x] = mine;
    for (int half = THREADS / 2; half > 0; half >>= 1) {
        __syncthreads();
        if (threadIdx.x < half)
            least[threadIdx.x] = min(least[threadIdx.x], least[threadIdx.x + half]);
    }
    if (threadIdx.x == 0) {
        const int place = least[0] & 0xffff;
        motion[blockIdx.x] = make_short2((short)(place % SIDE - RANGE), (short)(place / SIDE - RANGE));
    }
}
