/* The updates of rank k and 2k on the host. */
#include "../tools/fills.h"

enum { N = 64, M = 72 };

int main(void)
{
    float *a = uniform_floats(N * M, -1, 1, 171), *b = uniform_floats(N * M, -1, 1, 172);
    float *c = uniform_floats(N * N, -1, 1, 173), *c2 = uniform_floats(N * N, -1, 1, 174);
    float alpha = (float)1.1, beta = (float)0.7;
    for (int i = 0; i < N; i++)
        for (int j = 0; j < N; j++) {
            float sum = c[i * N + j] * beta, sum2 = c2[i * N + j] * beta;
            for (int k = 0; k < M; k++) {
                sum = fmaf(alpha * a[i * M + k], a[j * M + k], sum);
                sum2 = fmaf(alpha * a[i * M + k], b[j * M + k], sum2);
                sum2 = fmaf(alpha * b[i * M + k], a[j * M + k], sum2);
            }
            c[i * N + j] = sum;
            c2[i * N + j] = sum2;
        }
    expect("C", c, N * N * sizeof *c);
    expect("C2", c2, N * N * sizeof *c2);
    return 0;
}
