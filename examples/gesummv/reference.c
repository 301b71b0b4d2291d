/* y = alpha * A x + beta * B x on the host. */
#include "../tools/fills.h"

enum { N = 384 };

int main(void)
{
    double *a = uniform_doubles(N * N, -1, 1, 191), *b = uniform_doubles(N * N, -1, 1, 192);
    double *x = uniform_doubles(N, -1, 1, 193), y[N];
    for (int i = 0; i < N; i++) {
        double first = 0, second = 0;
        for (int j = 0; j < N; j++) {
            first = fma(a[i * N + j], x[j], first);
            second = fma(b[i * N + j], x[j], second);
        }
        double scaled = -0.75 * second;
        y[i] = fma(2.5, first, scaled);
    }
    expect("Y", y, sizeof y);
    return 0;
}
