// Speckle reducing anisotropic diffusion of an image.
//   statistics  one CTA: the speckle scale q0^2 of this iteration, from mean and variance of the whole image;
//   srad1       differences to the four neighbours, and the diffusion coefficient, clamped to 0...1;
//   srad2       the divergence of coefficient times difference moves the image.
// Both stencils load their tile and its border into shared memory; beyond the image the edge is repeated.
//
// Evaluated by: Rodinia (srad).
// Memory: tiles with a border in shared memory, coalesced reads and writes of six images.

#define BLOCK 16
#define THREADS 256

extern "C" __global__ void __launch_bounds__(THREADS)
    statistics(const float *__restrict__ image, float *scale, int count)
{
    __shared__ float sum[THREADS];
    __shared__ float squares[THREADS];

    int t = threadIdx.x;
    float s = 0.0f, q = 0.0f;
    for (int i = t; i < count; i += THREADS) {
        float value = image[i];
        s += value;
        q = fmaf(value, value, q);
    }
    sum[t] = s;
    squares[t] = q;
    __syncthreads();
    for (int half = THREADS / 2; half > 0; half /= 2) {
        if (t < half) {
            sum[t] += sum[t + half];
            squares[t] += squares[t + half];
        }
        __syncthreads();
    }
    if (t == 0) {
        float mean = sum[0] / (float)count;
        float variance = squares[0] / (float)count - mean * mean;
        *scale = variance / (mean * mean);
    }
}

extern "C" __global__ void __launch_bounds__(BLOCK *BLOCK)
    srad1(const float *__restrict__ image, float *__restrict__ e, float *__restrict__ w, float *__restrict__ s,
          float *__restrict__ n, float *__restrict__ coefficient, const float *__restrict__ scale, int columns,
          int rows)
{
    __shared__ float tile[BLOCK + 2][BLOCK + 2];

    int tx = threadIdx.x, ty = threadIdx.y;
    int x = blockIdx.x * BLOCK + tx, y = blockIdx.y * BLOCK + ty;
    int index = y * columns + x;

    tile[ty + 1][tx + 1] = image[index];
    if (ty == 0)
        tile[0][tx + 1] = image[max(y - 1, 0) * columns + x];
    if (ty == BLOCK - 1)
        tile[BLOCK + 1][tx + 1] = image[min(y + 1, rows - 1) * columns + x];
    if (tx == 0)
        tile[ty + 1][0] = image[y * columns + max(x - 1, 0)];
    if (tx == BLOCK - 1)
        tile[ty + 1][BLOCK + 1] = image[y * columns + min(x + 1, columns - 1)];
    __syncthreads();

    float here = tile[ty + 1][tx + 1];
    float dn = tile[ty][tx + 1] - here;
    float ds = tile[ty + 2][tx + 1] - here;
    float dw = tile[ty + 1][tx] - here;
    float de = tile[ty + 1][tx + 2] - here;

    float gradient = (dn * dn + ds * ds + dw * dw + de * de) / (here * here);
    float laplacian = (dn + ds + dw + de) / here;
    float numerator = 0.5f * gradient - 0.0625f * (laplacian * laplacian);
    float denominator = 1.0f + 0.25f * laplacian;
    float q2 = numerator / (denominator * denominator);
    float q0 = *scale;
    float deviation = (q2 - q0) / (q0 * (1.0f + q0));
    float c = 1.0f / (1.0f + deviation);

    coefficient[index] = c < 0.0f ? 0.0f : c > 1.0f ? 1.0f : c;
    e[index] = de;
    w[index] = dw;
    s[index] = ds;
    n[index] = dn;
}

extern "C" __global__ void __launch_bounds__(BLOCK *BLOCK)
    srad2(float *__restrict__ image, const float *__restrict__ e, const float *__restrict__ w,
          const float *__restrict__ s, const float *__restrict__ n, const float *__restrict__ coefficient, int columns,
          int rows, float lambda)
{
    __shared__ float tile[BLOCK + 1][BLOCK + 1];

    int tx = threadIdx.x, ty = threadIdx.y;
    int x = blockIdx.x * BLOCK + tx, y = blockIdx.y * BLOCK + ty;
    int index = y * columns + x;

    tile[ty][tx] = coefficient[index];
    if (ty == BLOCK - 1)
        tile[BLOCK][tx] = coefficient[min(y + 1, rows - 1) * columns + x];
    if (tx == BLOCK - 1)
        tile[ty][BLOCK] = coefficient[y * columns + min(x + 1, columns - 1)];
    __syncthreads();

    float here = tile[ty][tx];
    float south = tile[ty + 1][tx];
    float east = tile[ty][tx + 1];
    float divergence = here * n[index] + south * s[index] + here * w[index] + east * e[index];
    image[index] = fmaf(0.25f * lambda, divergence, image[index]);
}
