// Inference with a small convolutional network for 28 x 28 images. Its layers are those of LeNet: convolution 5 x 5
// to 6 maps, pooling, convolution 5 x 5 to 16 maps, pooling, two fully connected layers, softmax over 10 classes.
// Activations are max(0, x). One CTA of blockIdx.y for each image.
//
// Evaluated by: GPGPU-Sim's suite (NN) and Tango, as layers of networks in many papers.
// Memory: filters and units in static and dynamic shared memory, reads of images by rows, vector reads of two.

// A CTA makes one output map of one image; the map's filter stands in shared memory. Sums start with the bias, then
// input maps, filter rows and filter columns in this order.
template <int IN_MAPS, int IN, int K>
static __device__ __forceinline__ void convolve(const float *__restrict__ in, const float *__restrict__ filters,
                                                const float *__restrict__ bias, float *__restrict__ out)
{
    constexpr int OUT = IN - K + 1;
    __shared__ float filter[IN_MAPS][K][K];

    int map = blockIdx.x, maps = gridDim.x, image = blockIdx.y;
    for (int i = threadIdx.x; i < IN_MAPS * K * K; i += blockDim.x)
        filter[i / (K * K)][i / K % K][i % K] = filters[map * IN_MAPS * K * K + i];
    __syncthreads();
    in += image * IN_MAPS * IN * IN;
    out += (image * maps + map) * OUT * OUT;

    for (int i = threadIdx.x; i < OUT * OUT; i += blockDim.x) {
        int x = i % OUT, y = i / OUT;
        float sum = bias[map];
        for (int m = 0; m < IN_MAPS; m++)
#pragma unroll
            for (int r = 0; r < K; r++)
#pragma unroll
                for (int c = 0; c < K; c++)
                    sum = fmaf(in[(m * IN + y + r) * IN + x + c], filter[m][r][c], sum);
        out[i] = fmaxf(sum, 0.0f);
    }
}

extern "C" __global__ void __launch_bounds__(192)
    convolution1(const float *__restrict__ in, const float *__restrict__ filters, const float *__restrict__ bias,
                 float *__restrict__ out)
{
    convolve<1, 28, 5>(in, filters, bias, out);
}

extern "C" __global__ void __launch_bounds__(64)
    convolution2(const float *__restrict__ in, const float *__restrict__ filters, const float *__restrict__ bias,
                 float *__restrict__ out)
{
    convolve<6, 12, 5>(in, filters, bias, out);
}

// The largest of 2 x 2; `out_side` is the side of an output map, `count` the elements of all maps of all images.
extern "C" __global__ void __launch_bounds__(128)
    pool(const float *__restrict__ in, float *__restrict__ out, int out_side, int count)
{
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i >= count)
        return;
    int x = i % out_side, y = i / out_side % out_side, map = i / (out_side * out_side);
    const float *corner = in + (map * 2 * out_side + 2 * y) * 2 * out_side + 2 * x;
    float2 upper = *reinterpret_cast<const float2 *>(corner);
    float2 lower = *reinterpret_cast<const float2 *>(corner + 2 * out_side);
    out[i] = fmaxf(fmaxf(upper.x, upper.y), fmaxf(lower.x, lower.y));
}

// One thread for each output unit; the image's inputs stand in dynamic shared memory.
extern "C" __global__ void connect(const float *__restrict__ in, const float *__restrict__ weights,
                                   const float *__restrict__ bias, float *__restrict__ out, int inputs, int outputs,
                                   int rectify)
{
    extern __shared__ float unit[];

    int image = blockIdx.y;
    for (int i = threadIdx.x; i < inputs; i += blockDim.x)
        unit[i] = in[image * inputs + i];
    __syncthreads();
    int o = blockIdx.x * blockDim.x + threadIdx.x;
    if (o >= outputs)
        return;
    float sum = bias[o];
    for (int i = 0; i < inputs; i++)
        sum = fmaf(unit[i], weights[i * outputs + o], sum);
    out[image * outputs + o] = rectify ? fmaxf(sum, 0.0f) : sum;
}

// One warp an image; shuffles find the largest value and the sum.
extern "C" __global__ void __launch_bounds__(32)
    softmax(const float *__restrict__ in, float *__restrict__ probability, int *__restrict__ choice, int classes)
{
    int lane = threadIdx.x, image = blockIdx.x;
    float value = lane < classes ? in[image * classes + lane] : -INFINITY;
    float largest = value;
    int best = lane;
    for (int distance = 16; distance > 0; distance /= 2) {
        float other = __shfl_xor_sync(0xffffffffu, largest, distance);
        int other_best = __shfl_xor_sync(0xffffffffu, best, distance);
        if (other > largest || (other == largest && other_best < best)) {
            largest = other;
            best = other_best;
        }
    }
    float part = lane < classes ? expf(value - largest) : 0.0f;
    float sum = part;
    for (int distance = 16; distance > 0; distance /= 2)
        sum += __shfl_xor_sync(0xffffffffu, sum, distance);
    if (lane < classes)
        probability[image * classes + lane] = part / sum;
    if (lane == 0)
        choice[image] = best;
}
