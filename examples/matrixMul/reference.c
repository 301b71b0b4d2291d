/* C = A * B on the host; each element is one chain of fused multiply-adds in the order of k. */
#include "../tools/fills.h"

enum { SIZE = 128 };

int main(void)
{
    const float *a = uniform_floats(SIZE * SIZE, -1, 1, 11);
    const float *b = uniform_floats(SIZE * SIZE, -1, 1, 13);
    float *c = allocate(SIZE * SIZE, sizeof *c);
    for (int row = 0; row < SIZE; row++)
        for (int column = 0; column < SIZE; column++)
            for (int k = 0; k < SIZE; k++)
                c[row * SIZE + column] = fmaf(a[row * SIZE + k], b[k * SIZE + column], c[row * SIZE + column]);
    expect("C", c, SIZE * SIZE * sizeof *c);
    expect("C_NAIVE", c, SIZE * SIZE * sizeof *c);
    expect("C_BLOCKED", c, SIZE * SIZE * sizeof *c);
    return 0;
}
