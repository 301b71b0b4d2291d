// Prices of European call options by a binomial tree, one CTA an option.
//   binomialPrepare   the tree's factors of each option, in double precision
//   binomialOptions   the leaves, then step by step back to the root; a thread has ELEMENTS neighbouring nodes in
//                     registers and gets one more from its right neighbour by way of shared memory
// A warp leaves a step out when all its nodes are beyond the tree's edge of that step.
//
// Evaluated by: CUDA SDK (BinomialOptions).
// Memory: registers for nearly everything; one shared word a thread and step, two barriers a step.

#define STEPS 512
#define THREADS 64
#define ELEMENTS (STEPS / THREADS)

struct Option {
    float stock, strike, years;
};

struct Tree {
    float stock, strike, log_up, up, down; // up and down: discounted probabilities
};

extern "C" __global__ void binomialPrepare(Tree *trees, const Option *options, int n, double rate, double volatility)
{
    const int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i >= n)
        return;
    const double step = options[i].years / (double)STEPS;
    const double log_up = volatility * sqrt(step);
    const double growth = exp(rate * step), up = exp(log_up), down = exp(-log_up);
    const double probability = (growth - down) / (up - down);
    trees[i].stock = options[i].stock;
    trees[i].strike = options[i].strike;
    trees[i].log_up = (float)log_up;
    trees[i].up = (float)(probability / growth);
    trees[i].down = (float)((1.0 - probability) / growth);
}

static __device__ __forceinline__ float leaf(const Tree &tree, int i)
{
    const float value = tree.stock * expf(tree.log_up * (float)(2 * i - STEPS)) - tree.strike;
    return value > 0.0f ? value : 0.0f;
}

extern "C" __global__ void __launch_bounds__(THREADS) binomialOptions(float *prices, const Tree *__restrict__ trees)
{
    __shared__ float first_node[THREADS + 1];
    const Tree tree = trees[blockIdx.x];
    const int t = threadIdx.x;
    float node[ELEMENTS + 1];

#pragma unroll
    for (int i = 0; i < ELEMENTS; i++)
        node[i] = leaf(tree, t * ELEMENTS + i);
    if (t == 0)
        first_node[THREADS] = leaf(tree, STEPS);
    const int last_step = max(0, t * ELEMENTS - 1);

    for (int step = STEPS; step > 0; step--) {
        first_node[t] = node[0];
        __syncthreads();
        node[ELEMENTS] = first_node[t + 1];
        __syncthreads();
        if (step > last_step) {
#pragma unroll
            for (int i = 0; i < ELEMENTS; i++)
                node[i] = fmaf(tree.up, node[i + 1], tree.down * node[i]);
        }
    }
    if (t == 0)
        prices[blockIdx.x] = node[0];
}
