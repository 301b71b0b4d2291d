// The discrete cosine transform of an image in blocks of 8 x 8 pixels, quantization, and the way back.
//   dctDirect      one coefficient a thread, two small matrix products with the basis in constant memory
//   dctButterfly   one row, then one column of 8 values a thread, in registers, by sums and differences
//   quantize       coefficients to 16-bit numbers, by a table in constant memory
//   idctButterfly  the inverse from the 16-bit numbers, rounded and limited to bytes
// The image's width is a multiple of 32, its height of 16.
//
// Evaluated by: CUDA SDK (DCT8x8).
// Memory: byte and 16-bit accesses, tiles in shared memory with padding, constant tables read by lanes at different
// places.

#define BLOCK 8
#define TILE_WIDTH 32
#define TILE_HEIGHT 16
#define PITCH (TILE_WIDTH + 1)

// cos(k pi / 16) / 2; C4 is also 1 / sqrt(8).
#define C1 0.490392640f
#define C2 0.461939766f
#define C3 0.415734806f
#define C4 0.353553391f
#define C5 0.277785117f
#define C6 0.191341716f
#define C7 0.097545161f

// clang-format off
__constant__ float dct_basis[BLOCK * BLOCK] = {
    C4, C4, C4, C4, C4, C4, C4, C4,
    C1, C3, C5, C7, -C7, -C5, -C3, -C1,
    C2, C6, -C6, -C2, -C2, -C6, C6, C2,
    C3, -C7, -C1, -C5, C5, C1, C7, -C3,
    C4, -C4, -C4, C4, C4, -C4, -C4, C4,
    C5, -C1, C7, C3, -C3, -C7, C1, -C5,
    C6, -C2, C2, -C6, -C6, C2, -C2, C6,
    C7, -C5, C3, -C1, C1, -C3, C5, -C7,
};

__constant__ short dct_steps[BLOCK * BLOCK] = {
    16,  11,  10,  16,  24,  40,  51,  61,
    12,  12,  14,  19,  26,  58,  60,  55,
    14,  13,  16,  24,  40,  57,  69,  56,
    14,  17,  22,  29,  51,  87,  80,  62,
    18,  22,  37,  56,  68,  109, 103, 77,
    24,  35,  55,  64,  81,  104, 113, 92,
    49,  64,  78,  87,  103, 121, 120, 101,
    72,  92,  95,  98,  112, 100, 103, 99,
};
// clang-format on

// 8 x 8 x 4 threads: four blocks side by side.
extern "C" __global__ void dctDirect(const unsigned char *in, float *out, int width)
{
    __shared__ float pixels[4][BLOCK][BLOCK];
    __shared__ float half_way[4][BLOCK][BLOCK + 1];
    const int x = threadIdx.x, y = threadIdx.y, z = threadIdx.z;
    const int at = (blockIdx.y * BLOCK + y) * width + (blockIdx.x * 4 + z) * BLOCK + x;

    pixels[z][y][x] = (float)in[at] - 128.0f;
    __syncthreads();
    float sum = 0.0f;
#pragma unroll
    for (int k = 0; k < BLOCK; k++)
        sum = fmaf(dct_basis[y * BLOCK + k], pixels[z][k][x], sum);
    half_way[z][y][x] = sum;
    __syncthreads();
    sum = 0.0f;
#pragma unroll
    for (int k = 0; k < BLOCK; k++)
        sum = fmaf(half_way[z][y][k], dct_basis[x * BLOCK + k], sum);
    out[at] = sum;
}

// Transforms eight values that stand `step` apart.
static __device__ void forward8(float *v, int step)
{
    const float s07 = v[0] + v[7 * step], d07 = v[0] - v[7 * step];
    const float s16 = v[step] + v[6 * step], d16 = v[step] - v[6 * step];
    const float s25 = v[2 * step] + v[5 * step], d25 = v[2 * step] - v[5 * step];
    const float s34 = v[3 * step] + v[4 * step], d34 = v[3 * step] - v[4 * step];
    const float ss = s07 + s34, sd = s07 - s34, ts = s16 + s25, td = s16 - s25;

    v[0] = C4 * (ss + ts);
    v[4 * step] = C4 * (ss - ts);
    v[2 * step] = fmaf(C2, sd, C6 * td);
    v[6 * step] = fmaf(C6, sd, -C2 * td);
    v[step] = fmaf(C1, d07, fmaf(C3, d16, fmaf(C5, d25, C7 * d34)));
    v[3 * step] = fmaf(C3, d07, fmaf(-C7, d16, fmaf(-C1, d25, -C5 * d34)));
    v[5 * step] = fmaf(C5, d07, fmaf(-C1, d16, fmaf(C7, d25, C3 * d34)));
    v[7 * step] = fmaf(C7, d07, fmaf(-C5, d16, fmaf(C3, d25, -C1 * d34)));
}

static __device__ void inverse8(float *v, int step)
{
    const float x1 = v[step], x3 = v[3 * step], x5 = v[5 * step], x7 = v[7 * step];
    const float sum = C4 * (v[0] + v[4 * step]), difference = C4 * (v[0] - v[4 * step]);
    const float wide = fmaf(C2, v[2 * step], C6 * v[6 * step]), narrow = fmaf(C6, v[2 * step], -C2 * v[6 * step]);
    const float e07 = sum + wide, e34 = sum - wide, e16 = difference + narrow, e25 = difference - narrow;
    const float o07 = fmaf(C1, x1, fmaf(C3, x3, fmaf(C5, x5, C7 * x7)));
    const float o16 = fmaf(C3, x1, fmaf(-C7, x3, fmaf(-C1, x5, -C5 * x7)));
    const float o25 = fmaf(C5, x1, fmaf(-C1, x3, fmaf(C7, x5, C3 * x7)));
    const float o34 = fmaf(C7, x1, fmaf(-C5, x3, fmaf(C3, x5, -C1 * x7)));

    v[0] = e07 + o07;
    v[7 * step] = e07 - o07;
    v[step] = e16 + o16;
    v[6 * step] = e16 - o16;
    v[2 * step] = e25 + o25;
    v[5 * step] = e25 - o25;
    v[3 * step] = e34 + o34;
    v[4 * step] = e34 - o34;
}

// All rows and columns of eight blocks by 64 threads: thread t has row and column t % 8 of block t / 8.
template <void (*transform)(float *, int)> static __device__ void transform_tile(float (*tile)[PITCH])
{
    const int block = threadIdx.x / BLOCK, line = threadIdx.x % BLOCK;
    float *corner = &tile[block / 4 * BLOCK][block % 4 * BLOCK];
    __syncthreads();
    transform(corner + line * PITCH, 1);
    __syncthreads();
    transform(corner + line, PITCH);
    __syncthreads();
}

extern "C" __global__ void __launch_bounds__(64) dctButterfly(const unsigned char *in, float *out, int width)
{
    __shared__ float tile[TILE_HEIGHT][PITCH];
    const int x = threadIdx.x % TILE_WIDTH, y = threadIdx.x / TILE_WIDTH;
    const int at = (blockIdx.y * TILE_HEIGHT + y) * width + blockIdx.x * TILE_WIDTH + x;
#pragma unroll
    for (int i = 0; i < TILE_HEIGHT; i += 2)
        tile[y + i][x] = (float)in[at + i * width] - 128.0f;
    transform_tile<forward8>(tile);
#pragma unroll
    for (int i = 0; i < TILE_HEIGHT; i += 2)
        out[at + i * width] = tile[y + i][x];
}

extern "C" __global__ void quantize(const float *in, short *out, int width)
{
    const int x = blockIdx.x * blockDim.x + threadIdx.x, y = blockIdx.y * blockDim.y + threadIdx.y;
    const float step = dct_steps[(y % BLOCK) * BLOCK + x % BLOCK];
    out[y * width + x] = (short)rintf(in[y * width + x] / step);
}

extern "C" __global__ void __launch_bounds__(64) idctButterfly(const short *in, unsigned char *out, int width)
{
    __shared__ float tile[TILE_HEIGHT][PITCH];
    const int x = threadIdx.x % TILE_WIDTH, y = threadIdx.x / TILE_WIDTH;
    const int at = (blockIdx.y * TILE_HEIGHT + y) * width + blockIdx.x * TILE_WIDTH + x;
#pragma unroll
    for (int i = 0; i < TILE_HEIGHT; i += 2) {
        const int step = dct_steps[(y + i) % BLOCK * BLOCK + x % BLOCK];
        tile[y + i][x] = (float)(in[at + i * width] * step);
    }
    transform_tile<inverse8>(tile);
#pragma unroll
    for (int i = 0; i < TILE_HEIGHT; i += 2) {
        const float value = rintf(tile[y + i][x]) + 128.0f;
        out[at + i * width] = (unsigned char)fminf(fmaxf(value, 0.0f), 255.0f);
    }
}
