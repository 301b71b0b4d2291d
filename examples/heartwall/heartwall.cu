// Tracking of points on a moving wall through a film by template matching. A CTA has one point: it correlates the
// point's template with the frame at every offset of a search area (one thread an offset), finds the best offset, moves
// the point, and blends what is there now into the template.
//   film   makes the frames: a texture that moves by (1, -1) a frame, with noise
//   begin  cuts the templates out of the first frame
//
// Evaluated by: Rodinia (heartwall).
// Memory: search area and template in shared memory, the first read with overlaps, the second by broadcast.

#define SIDE 128
#define RADIUS 5
#define WINDOW (2 * RADIUS + 1)
#define REACH 6
#define OFFSETS (2 * REACH + 1)
#define AREA (WINDOW + 2 * REACH)
#define THREADS 192

static __device__ __forceinline__ unsigned hash(unsigned x)
{
    x ^= x >> 16;
    x *= 0x7feb352du;
    x ^= x >> 15;
    x *= 0x846ca68bu;
    return x ^ x >> 16;
}

extern "C" __global__ void film(float *__restrict__ frames)
{
    int x = blockIdx.x * blockDim.x + threadIdx.x, y = blockIdx.y * blockDim.y + threadIdx.y, frame = blockIdx.z;
    unsigned texture = hash((unsigned)((y + frame + 1000) * 4096 + x - frame + 1000)) & 255u;
    unsigned noise = hash((unsigned)(((frame + 77) * SIDE + y) * SIDE + x)) & 31u;
    frames[(frame * SIDE + y) * SIDE + x] = (float)texture + (float)noise * 0.5f;
}

static __device__ __forceinline__ float pixel(const float *__restrict__ frame, int y, int x)
{
    return frame[min(max(y, 0), SIDE - 1) * SIDE + min(max(x, 0), SIDE - 1)];
}

// A point is {x, y}; one CTA a point.
extern "C" __global__ void __launch_bounds__(THREADS)
    begin(const float *__restrict__ frames, const int2 *__restrict__ points, float *__restrict__ templates)
{
    int2 p = points[blockIdx.x];
    for (int i = threadIdx.x; i < WINDOW * WINDOW; i += THREADS)
        templates[blockIdx.x * WINDOW * WINDOW + i] =
            pixel(frames, p.y + i / WINDOW - RADIUS, p.x + i % WINDOW - RADIUS);
}

extern "C" __global__ void __launch_bounds__(THREADS)
    track(const float *__restrict__ frames, int2 *points, float *templates, float *__restrict__ scores, int frame)
{
    __shared__ float area[AREA][AREA];
    __shared__ float wanted[WINDOW][WINDOW];
    __shared__ float best[256];
    __shared__ int where[256];

    int t = threadIdx.x;
    int2 p = points[blockIdx.x];
    float *own = templates + blockIdx.x * WINDOW * WINDOW;
    frames += frame * SIDE * SIDE;
    for (int i = t; i < AREA * AREA; i += THREADS)
        area[i / AREA][i % AREA] = pixel(frames, p.y + i / AREA - RADIUS - REACH, p.x + i % AREA - RADIUS - REACH);
    for (int i = t; i < WINDOW * WINDOW; i += THREADS)
        wanted[i / WINDOW][i % WINDOW] = own[i];
    __syncthreads();

    float score = -2.0f;
    if (t < OFFSETS * OFFSETS) {
        int oy = t / OFFSETS, ox = t % OFFSETS;
        float sum_a = 0.0f, sum_w = 0.0f, sum_aa = 0.0f, sum_ww = 0.0f, sum_aw = 0.0f;
        for (int r = 0; r < WINDOW; r++) {
#pragma unroll
            for (int c = 0; c < WINDOW; c++) {
                float a = area[oy + r][ox + c], w = wanted[r][c];
                sum_a += a;
                sum_w += w;
                sum_aa = fmaf(a, a, sum_aa);
                sum_ww = fmaf(w, w, sum_ww);
                sum_aw = fmaf(a, w, sum_aw);
            }
        }
        const float n = WINDOW * WINDOW;
        float covariance = fmaf(n, sum_aw, -(sum_a * sum_w));
        float variance_a = fmaf(n, sum_aa, -(sum_a * sum_a));
        float variance_w = fmaf(n, sum_ww, -(sum_w * sum_w));
        score = covariance / (sqrtf(variance_a) * sqrtf(variance_w));
    }
    best[t] = score;
    where[t] = t;
    if (t + THREADS < 256) {
        best[t + THREADS] = -2.0f;
        where[t + THREADS] = 0;
    }
    __syncthreads();
    for (int half = 128; half > 0; half /= 2) {
        if (t < half && best[t + half] > best[t]) {
            best[t] = best[t + half];
            where[t] = where[t + half];
        }
        __syncthreads();
    }

    int oy = where[0] / OFFSETS, ox = where[0] % OFFSETS;
    for (int i = t; i < WINDOW * WINDOW; i += THREADS)
        own[i] = fmaf(0.875f, wanted[i / WINDOW][i % WINDOW], 0.125f * area[oy + i / WINDOW][ox + i % WINDOW]);
    if (t == 0) {
        points[blockIdx.x] = make_int2(p.x + ox - REACH, p.y + oy - REACH);
        scores[blockIdx.x] = best[0];
    }
}
