/* Each element of L and U on the host by its own formula: what earlier pivot blocks take away is a sum of its own for
 * each block; within the block of the element's pivot the products are taken away one by one. */
#include "../tools/fills.h"

enum { SIZE = 128, BLOCK = 16 };

static void finish_element(float *m, int row, int column)
{
    int pivots = row < column ? row : column;
    int whole = pivots / BLOCK * BLOCK;
    float value = m[row * SIZE + column];
    for (int start = 0; start < whole; start += BLOCK) {
        float sum = 0;
        for (int k = start; k < start + BLOCK; k++)
            sum = fmaf(m[row * SIZE + k], m[k * SIZE + column], sum);
        value -= sum;
    }
    for (int k = whole; k < pivots; k++)
        value = fmaf(-m[row * SIZE + k], m[k * SIZE + column], value);
    m[row * SIZE + column] = row > column ? value / m[column * SIZE + column] : value;
}

int main(void)
{
    float *m = uniform_floats(SIZE * SIZE, -1, 1, 91);
    for (int i = 0; i < SIZE; i++)
        m[i * SIZE + i] += 25.0f;
    for (int p = 0; p < SIZE; p++) {
        for (int column = p; column < SIZE; column++)
            finish_element(m, p, column);
        for (int row = p + 1; row < SIZE; row++)
            finish_element(m, row, p);
    }
    expect("M", m, SIZE * SIZE * sizeof *m);
    return 0;
}
