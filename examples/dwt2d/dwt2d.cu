// Discrete wavelet transform of an image in integers (the reversible 5/3 filter of JPEG 2000), forward and back.
// Each level transforms rows, then columns, of the upper left part; a CTA takes one row or column into shared memory,
// lifts odd places (the details), then even ones (the averages), and puts averages before details. The inverse undoes
// it exactly, so that the image comes back.
//
// Evaluated by: Rodinia (dwt2d), CUDA SDK (dwtHaar1D).
// Memory: rows coalesced, columns a row apart between lanes; shared memory with neighbours two words apart.

#define MAX_LENGTH 256
#define THREADS 64

// Place i of a line of `length`, mirrored at both ends.
static __device__ __forceinline__ int mirror(int i, int length)
{
    return i < 0 ? -i : i >= length ? 2 * (length - 1) - i : i;
}

template <bool INVERSE> static __device__ __forceinline__ void lift_details(int *line, int length)
{
    for (int i = 2 * threadIdx.x + 1; i < length; i += 2 * THREADS) {
        int predicted = (line[i - 1] + line[mirror(i + 1, length)]) >> 1;
        line[i] += INVERSE ? predicted : -predicted;
    }
    __syncthreads();
}

template <bool INVERSE> static __device__ __forceinline__ void lift_averages(int *line, int length)
{
    for (int i = 2 * threadIdx.x; i < length; i += 2 * THREADS) {
        int change = (line[mirror(i - 1, length)] + line[mirror(i + 1, length)] + 2) >> 2;
        line[i] += INVERSE ? -change : change;
    }
    __syncthreads();
}

template <bool INVERSE>
static __device__ __forceinline__ void transform_line(const int *in, int *out, int length, int step)
{
    __shared__ int line[MAX_LENGTH];
    int half = length / 2;

    for (int i = threadIdx.x; i < length; i += THREADS) {
        int place = i < half ? 2 * i : 2 * (i - half) + 1;
        line[INVERSE ? place : i] = in[i * step];
    }
    __syncthreads();
    if (INVERSE) {
        lift_averages<true>(line, length);
        lift_details<true>(line, length);
    } else {
        lift_details<false>(line, length);
        lift_averages<false>(line, length);
    }
    for (int i = threadIdx.x; i < length; i += THREADS) {
        int place = i < half ? 2 * i : 2 * (i - half) + 1;
        out[i * step] = line[INVERSE ? i : place];
    }
}

// One CTA a row, or a column; lengths are even and at most MAX_LENGTH.
extern "C" __global__ void __launch_bounds__(THREADS) forwardRows(int *image, int length, int pitch)
{
    int *line = image + blockIdx.x * pitch;
    transform_line<false>(line, line, length, 1);
}

extern "C" __global__ void __launch_bounds__(THREADS) forwardColumns(int *image, int length, int pitch)
{
    int *line = image + blockIdx.x;
    transform_line<false>(line, line, length, pitch);
}

extern "C" __global__ void __launch_bounds__(THREADS) inverseRows(int *image, int length, int pitch)
{
    int *line = image + blockIdx.x * pitch;
    transform_line<true>(line, line, length, 1);
}

extern "C" __global__ void __launch_bounds__(THREADS) inverseColumns(int *image, int length, int pitch)
{
    int *line = image + blockIdx.x;
    transform_line<true>(line, line, length, pitch);
}
