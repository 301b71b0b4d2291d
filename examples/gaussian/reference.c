/* Gaussian elimination and back substitution on the host, column by column like the kernels. */
#include "../tools/fills.h"

enum { SIZE = 96 };

int main(void)
{
    float *a = uniform_floats(SIZE * SIZE, -1, 1, 51), *b = uniform_floats(SIZE, -10, 10, 52);
    float *m = allocate(SIZE * SIZE, sizeof *m), x[SIZE], rest[SIZE];
    for (int i = 0; i < SIZE; i++)
        a[i * SIZE + i] += 20.0f;
    for (int t = 0; t < SIZE - 1; t++)
        for (int row = t + 1; row < SIZE; row++) {
            float factor = a[row * SIZE + t] / a[t * SIZE + t];
            m[row * SIZE + t] = factor;
            for (int column = t; column < SIZE; column++)
                a[row * SIZE + column] = fmaf(-factor, a[t * SIZE + column], a[row * SIZE + column]);
            b[row] = fmaf(-factor, b[t], b[row]);
        }
    memcpy(rest, b, sizeof rest);
    for (int i = SIZE - 1; i >= 0; i--) {
        x[i] = rest[i] / a[i * SIZE + i];
        for (int row = 0; row < i; row++)
            rest[row] = fmaf(-a[row * SIZE + i], x[i], rest[row]);
    }
    expect("A", a, SIZE * SIZE * sizeof *a);
    expect("B", b, SIZE * sizeof *b);
    expect("M", m, SIZE * SIZE * sizeof *m);
    expect("X", x, sizeof x);
    return 0;
}
