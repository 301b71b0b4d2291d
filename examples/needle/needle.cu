// Global alignment of two sequences (Needleman-Wunsch). The score matrix is filled tile by tile along its block
// diagonals, one CTA of BLOCK threads for each tile of a diagonal, and in a tile along its own diagonals in shared
// memory. Two kernels: diagonals that grow and diagonals that shrink.
//   similarity  gives each pair of letters its score by a table in constant memory, and sets the first row and
//               column to multiples of the gap penalty.
//
// Evaluated by: Rodinia (nw).
// Memory: tiles in shared memory read along diagonals, a table in constant memory with an index a lane.

#define BLOCK 16
#define LETTERS 24

__constant__ signed char substitution[LETTERS * LETTERS];

// columns is the length of the sequences plus one; letters count from 1.
extern "C" __global__ void similarity(const unsigned char *__restrict__ down, const unsigned char *__restrict__ across,
                                      int *__restrict__ reference, int *__restrict__ scores, int columns, int penalty)
{
    int x = blockIdx.x * blockDim.x + threadIdx.x;
    int y = blockIdx.y * blockDim.y + threadIdx.y;
    if (x >= columns || y >= columns)
        return;
    if (x > 0 && y > 0)
        reference[y * columns + x] = substitution[down[y] * LETTERS + across[x]];
    else
        scores[y * columns + x] = -(x + y) * penalty;
}

// One tile, from the row of cells above it and the column to its left.
static __device__ __forceinline__ void fill_tile(const int *__restrict__ reference, int *scores, int columns,
                                                 int penalty, int tile_x, int tile_y)
{
    __shared__ int score[BLOCK + 1][BLOCK + 1];
    __shared__ int similar[BLOCK][BLOCK];

    int t = threadIdx.x;
    int corner = columns * BLOCK * tile_y + BLOCK * tile_x;
    int inner = corner + columns + 1 + t;

    if (t == 0)
        score[0][0] = scores[corner];
    for (int i = 0; i < BLOCK; i++)
        similar[i][t] = reference[inner + columns * i];
    score[t + 1][0] = scores[corner + columns * (t + 1)];
    score[0][t + 1] = scores[corner + t + 1];
    __syncthreads();

    for (int d = 0; d < BLOCK; d++) {
        if (t <= d) {
            int x = t + 1, y = d - t + 1;
            score[y][x] = max(score[y - 1][x - 1] + similar[y - 1][x - 1],
                              max(score[y][x - 1] - penalty, score[y - 1][x] - penalty));
        }
        __syncthreads();
    }
    for (int d = BLOCK - 2; d >= 0; d--) {
        if (t <= d) {
            int x = t + BLOCK - d, y = BLOCK - t;
            score[y][x] = max(score[y - 1][x - 1] + similar[y - 1][x - 1],
                              max(score[y][x - 1] - penalty, score[y - 1][x] - penalty));
        }
        __syncthreads();
    }
    for (int i = 0; i < BLOCK; i++)
        scores[inner + columns * i] = score[i + 1][t + 1];
}

// The diagonal of `gridDim.x` tiles from the top left corner on.
extern "C" __global__ void __launch_bounds__(BLOCK)
    needleGrow(const int *__restrict__ reference, int *scores, int columns, int penalty, int diagonal)
{
    fill_tile(reference, scores, columns, penalty, blockIdx.x, diagonal - 1 - blockIdx.x);
}

// The diagonals after the longest; `tiles` is the number of tiles in a row.
extern "C" __global__ void __launch_bounds__(BLOCK)
    needleShrink(const int *__restrict__ reference, int *scores, int columns, int penalty, int diagonal, int tiles)
{
    fill_tile(reference, scores, columns, penalty, blockIdx.x + tiles - diagonal, tiles - 1 - blockIdx.x);
}
