/* y = A^T (A x) on the host. */
#include "../tools/fills.h"

enum { ROWS = 320, COLUMNS = 448 };

int main(void)
{
    float *a = uniform_floats(ROWS * COLUMNS, -1, 1, 181), *x = uniform_floats(COLUMNS, -1, 1, 182);
    float tmp[ROWS] = {0}, y[COLUMNS] = {0};
    for (int i = 0; i < ROWS; i++) {
        for (int j = 0; j < COLUMNS; j++)
            tmp[i] = fmaf(a[i * COLUMNS + j], x[j], tmp[i]);
        for (int j = 0; j < COLUMNS; j++)
            y[j] = fmaf(a[i * COLUMNS + j], tmp[i], y[j]);
    }
    expect("TMP", tmp, sizeof tmp);
    expect("Y", y, sizeof y);
    return 0;
}
