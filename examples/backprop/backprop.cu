// One training step of a network with a hidden layer.
//   layerForward   each CTA multiplies 16 inputs with the weights of 16 hidden units in a shared tile and halves
//                  the rows of the tile down to one partial sum for each hidden unit;
//   hiddenError    one thread for each hidden unit adds the CTAs' partial sums, squashes, and works out the output
//                  unit and the errors of both layers (Rodinia leaves this to the host);
//   adjustWeights  every thread changes one weight by its error with momentum; the first CTA also the biases.
// Weights are stored as w[input][hidden], row 0 and column 0 are the biases.
//
// Evaluated by: Rodinia (backprop).
// Memory: coalesced reads of the weights by rows of 16, a tree in shared memory whose threads thin out.

#define HEIGHT 16
#define WIDTH 16
#define ETA 0.3f
#define MOMENTUM 0.3f

extern "C" __global__ void __launch_bounds__(HEIGHT *WIDTH)
    layerForward(const float *__restrict__ input, const float *__restrict__ weights, float *__restrict__ partial,
                 int hidden)
{
    __shared__ float node[HEIGHT];
    __shared__ float product[HEIGHT][WIDTH];

    int tx = threadIdx.x, ty = threadIdx.y;
    int unit = HEIGHT * blockIdx.x + ty + 1;
    int index = (hidden + 1) * unit + tx + 1;

    if (tx == 0)
        node[ty] = input[unit];
    __syncthreads();
    product[ty][tx] = weights[index] * node[ty];
    __syncthreads();

#pragma unroll
    for (int step = 2; step <= HEIGHT; step *= 2) {
        if (ty % step == 0)
            product[ty][tx] = product[ty][tx] + product[ty + step / 2][tx];
        __syncthreads();
    }
    if (ty == 0)
        partial[blockIdx.x * hidden + tx] = product[0][tx];
}

static __device__ float squash(float x) { return 1.0f / (1.0f + expf(-x)); }

// One CTA of WIDTH threads. hidden_out[0] is the bias unit; all weights to the output unit stand in output_weights.
extern "C" __global__ void hiddenError(const float *__restrict__ partial, const float *__restrict__ weights,
                                       const float *__restrict__ output_weights, float *__restrict__ hidden_out,
                                       float *__restrict__ delta, float *__restrict__ output, int ctas, int hidden,
                                       float target)
{
    __shared__ float terms[WIDTH];

    int t = threadIdx.x;
    float sum = weights[t + 1];
    for (int cta = 0; cta < ctas; cta++)
        sum += partial[cta * hidden + t];
    float out = squash(sum);
    hidden_out[t + 1] = out;
    terms[t] = out * output_weights[t + 1];
    __syncthreads();

    float net = output_weights[0];
    for (int i = 0; i < WIDTH; i++)
        net += terms[i];
    float result = squash(net);
    float error = result * (1.0f - result) * (target - result);
    delta[t + 1] = out * (1.0f - out) * (error * output_weights[t + 1]);
    if (t == 0) {
        hidden_out[0] = 1.0f;
        output[0] = result;
        output[1] = error;
    }
}

extern "C" __global__ void __launch_bounds__(HEIGHT *WIDTH)
    adjustWeights(const float *__restrict__ delta, const float *__restrict__ input, float *__restrict__ weights,
                  float *__restrict__ old_change, int hidden)
{
    int tx = threadIdx.x, ty = threadIdx.y;
    int row = HEIGHT * blockIdx.x + ty + 1;
    int column = tx + 1;
    int index = (hidden + 1) * row + column;

    float change = fmaf(ETA * delta[column], input[row], MOMENTUM * old_change[index]);
    weights[index] += change;
    old_change[index] = change;

    __syncthreads();
    if (ty == 0 && blockIdx.x == 0) {
        float bias = fmaf(MOMENTUM, old_change[column], ETA * delta[column]);
        weights[column] += bias;
        old_change[column] = bias;
    }
}
