// Compression of textures: a block of 4 x 4 pixels becomes two colours of 16 bits and a choice of two bits a pixel
// (DXT1). A CTA makes one block: the pixels are put in order along their principal axis, then every way to cut this
// order into four groups is tried (one a thread, by turns): the two best colours follow from least squares, and the way
// of least error is kept.
//
// Evaluated by: CUDA SDK (dxtc).
// Memory: a few shared words read by broadcast; long chains of arithmetic on many live registers, a reduction of pairs.

#define THREADS 64
#define PIXELS 16

struct Way {
    float error;
    unsigned short colours[2];
    unsigned order; // two bits for each pixel in order: 0 first colour, 1 second, 2 and 3 between them
};

static __device__ float3 operator+(float3 a, float3 b)
{
    return make_float3(a.x + b.x, a.y + b.y, a.z + b.z);
}

static __device__ float3 operator-(float3 a, float3 b)
{
    return make_float3(a.x - b.x, a.y - b.y, a.z - b.z);
}

static __device__ float3 operator*(float s, float3 a)
{
    return make_float3(s * a.x, s * a.y, s * a.z);
}

static __device__ float dot(float3 a, float3 b)
{
    return a.x * b.x + a.y * b.y + a.z * b.z;
}

// The direction in which the colours differ most, by eight rounds of the power method.
static __device__ float3 principal_axis(const float3 *colours)
{
    float3 mean = make_float3(0.0f, 0.0f, 0.0f);
#pragma unroll
    for (int i = 0; i < PIXELS; i++)
        mean = mean + colours[i];
    mean = (1.0f / PIXELS) * mean;
    float3 row0 = make_float3(0.0f, 0.0f, 0.0f), row1 = row0, row2 = row0;
#pragma unroll
    for (int i = 0; i < PIXELS; i++) {
        const float3 d = colours[i] - mean;
        row0 = row0 + d.x * d;
        row1 = row1 + d.y * d;
        row2 = row2 + d.z * d;
    }
    float3 axis = make_float3(1.0f, 1.0f, 1.0f);
    for (int i = 0; i < 8; i++) {
        const float3 next = make_float3(dot(row0, axis), dot(row1, axis), dot(row2, axis));
        const float largest = fmaxf(fmaxf(fabsf(next.x), fabsf(next.y)), fabsf(next.z));
        if (largest == 0.0f)
            break;
        axis = (1.0f / largest) * next;
    }
    return axis;
}

// To the nearest colour of 5, 6 and 5 bits; `bits` gets those.
static __device__ float3 round_colour(float3 c, unsigned short &bits)
{
    const float r = rintf(fminf(fmaxf(c.x, 0.0f), 1.0f) * 31.0f), g = rintf(fminf(fmaxf(c.y, 0.0f), 1.0f) * 63.0f);
    const float b = rintf(fminf(fmaxf(c.z, 0.0f), 1.0f) * 31.0f);
    bits = (unsigned short)((int)r << 11 | (int)g << 5 | (int)b);
    return make_float3(r * (1.0f / 31.0f), g * (1.0f / 63.0f), b * (1.0f / 31.0f));
}

static __device__ Way try_way(const float3 *colours, float3 sum, unsigned order)
{
    int aa = 0, ab = 0, bb = 0;
    float3 x = make_float3(0.0f, 0.0f, 0.0f);
#pragma unroll
    for (int i = 0; i < PIXELS; i++) {
        const int thirds = 0x1203 >> (order >> 2 * i & 3) * 4 & 3;
        aa += thirds * thirds;
        ab += thirds * (3 - thirds);
        bb += (3 - thirds) * (3 - thirds);
        x = x + (float)thirds * colours[i];
    }
    const float3 y = 3.0f * sum - x;
    const float factor = 3.0f / (float)(aa * bb - ab * ab);
    Way way;
    way.order = order;
    const float3 a = round_colour(factor * ((float)bb * x - (float)ab * y), way.colours[0]);
    const float3 b = round_colour(factor * ((float)aa * y - (float)ab * x), way.colours[1]);
    const float3 squares = (float)aa * make_float3(a.x * a.x, a.y * a.y, a.z * a.z) +
                           (float)bb * make_float3(b.x * b.x, b.y * b.y, b.z * b.z) +
                           (float)(2 * ab) * make_float3(a.x * b.x, a.y * b.y, a.z * b.z);
    way.error = (squares.x + squares.y + squares.z) * (1.0f / 9.0f) - (dot(a, x) + dot(b, y)) * (2.0f / 3.0f);
    return way;
}

extern "C" __global__ void __launch_bounds__(THREADS)
    dxtc(const uchar4 *__restrict__ image, const unsigned *__restrict__ orders, uint2 *__restrict__ blocks, int width,
         int ways)
{
    __shared__ float3 colours[PIXELS], sorted[PIXELS];
    __shared__ float along[PIXELS];
    __shared__ int ranks[PIXELS];
    __shared__ float errors[THREADS];
    __shared__ int winners[THREADS];
    const int t = threadIdx.x;

    if (t < PIXELS) {
        const uchar4 pixel = image[(blockIdx.y * 4 + t / 4) * width + blockIdx.x * 4 + t % 4];
        colours[t] = (1.0f / 255.0f) * make_float3(pixel.x, pixel.y, pixel.z);
    }
    __syncthreads();
    if (t < PIXELS)
        along[t] = dot(colours[t], principal_axis(colours));
    __syncthreads();
    if (t < PIXELS) {
        int rank = 0;
#pragma unroll
        for (int i = 0; i < PIXELS; i++)
            rank += along[i] < along[t] || (along[i] == along[t] && i < t);
        ranks[t] = rank;
        sorted[rank] = colours[t];
    }
    __syncthreads();

    float3 sum = make_float3(0.0f, 0.0f, 0.0f);
#pragma unroll
    for (int i = 0; i < PIXELS; i++)
        sum = sum + sorted[i];
    Way best = {__int_as_float(0x7f800000)};
    for (int i = t; i < ways; i += THREADS) {
        const Way way = try_way(sorted, sum, orders[i]);
        if (way.error < best.error)
            best = way;
    }
    errors[t] = best.error;
    winners[t] = t;
    for (int half = THREADS / 2; half > 0; half >>= 1) {
        __syncthreads();
        if (t < half &&
            (errors[t + half] < errors[t] || (errors[t + half] == errors[t] && winners[t + half] < winners[t]))) {
            errors[t] = errors[t + half];
            winners[t] = winners[t + half];
        }
    }
    __syncthreads();
    if (t == winners[0]) {
        // The first colour is the larger number; a block of one colour chooses it everywhere.
        unsigned choices = 0;
        for (int i = 0; i < PIXELS; i++)
            choices |= (best.order >> 2 * ranks[i] & 3) << 2 * i;
        if (best.colours[0] < best.colours[1])
            choices ^= 0x55555555u;
        if (best.colours[0] == best.colours[1])
            choices = 0;
        const unsigned high = max(best.colours[0], best.colours[1]), low = min(best.colours[0], best.colours[1]);
        blocks[blockIdx.y * gridDim.x + blockIdx.x] = make_uint2(low << 16 | high, choices);
    }
}
