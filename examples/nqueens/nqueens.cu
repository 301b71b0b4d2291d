// The number of ways to place N queens on a board so that none attacks another, by backtracking. A thread begins
// with the queens of the first rows where its number says, if that is allowed, and searches the rest with masks and
// a stack in shared memory; a CTA adds up its threads' counts.
//
// Evaluated by: GPGPU-Sim's suite (NQU).
// Memory: stacks in shared memory, one word a CTA in global memory.

#define THREADS 96
#define DEPTH 10

// `given` rows are fixed: thread i has the base-n digits of i as their columns.
extern "C" __global__ void __launch_bounds__(THREADS) nqueens(int n, int given, int threads, unsigned *counts)
{
    __shared__ unsigned columns[DEPTH][THREADS];
    __shared__ unsigned rising[DEPTH][THREADS];
    __shared__ unsigned falling[DEPTH][THREADS];
    __shared__ unsigned open[DEPTH][THREADS];
    __shared__ unsigned sums[THREADS];

    int t = threadIdx.x;
    int id = blockIdx.x * THREADS + t;
    unsigned full = (1u << n) - 1u;
    unsigned column = 0, rise = 0, fall = 0, found = 0;
    bool allowed = id < threads;
    for (int row = 0, rest = id; row < given; row++, rest /= n) {
        unsigned queen = 1u << rest % n;
        allowed = allowed && !((column | rise | fall) & queen);
        column |= queen;
        rise = (rise | queen) << 1;
        fall = (fall | queen) >> 1;
    }

    int top = allowed ? 0 : -1;
    columns[0][t] = column;
    rising[0][t] = rise;
    falling[0][t] = fall;
    open[0][t] = full & ~(column | rise | fall);
    while (top >= 0) {
        unsigned places = open[top][t];
        if (places == 0) {
            top--;
            continue;
        }
        unsigned queen = places & -places;
        open[top][t] = places ^ queen;
        column = columns[top][t] | queen;
        if (column == full) {
            found++;
            continue;
        }
        rise = (rising[top][t] | queen) << 1;
        fall = (falling[top][t] | queen) >> 1;
        top++;
        columns[top][t] = column;
        rising[top][t] = rise;
        falling[top][t] = fall;
        open[top][t] = full & ~(column | rise | fall);
    }

    sums[t] = found;
    __syncthreads();
    for (int size = THREADS; size > 1; size = (size + 1) / 2) {
        int half = (size + 1) / 2;
        if (t < size / 2)
            sums[t] += sums[t + half];
        __syncthreads();
    }
    if (t == 0)
        counts[blockIdx.x] = sums[0];
}
