/* The six products on the host. Those of small whole numbers are exact in any order; those of doubles are fused in the
 * order of k. */
#include "../tools/fills.h"

enum { M = 96, N = 64, K = 128 };

static int8_t *signed_bytes(size_t count, uint64_t seed)
{
    int8_t *values = allocate(count, 1);
    for (size_t i = 0; i < count; i++)
        values[i] = (int8_t)fill_uniform(-9, 10, seed, i);
    return values;
}

/* Row i of A times column j of B, which lies by rows or by columns. */
static int dot(const int8_t *a, const int8_t *b, int i, int j, int by_columns)
{
    int sum = 0;
    for (int k = 0; k < K; k++)
        sum += a[i * K + k] * (by_columns ? b[j * K + k] : b[k * N + j]);
    return sum;
}

int main(void)
{
    static float f16[M * N], bf16[N * M], tf32[M * N], mma[M * N];
    static int32_t s8[M * N];
    static double f64[M * N];
    int8_t *a = signed_bytes(M * K, 311), *b = signed_bytes(K * N, 313);
    double *ad = uniform_doubles(M * K, -1, 1, 317), *bd = uniform_doubles(K * N, -1, 1, 331);
    for (int i = 0; i < M; i++)
        for (int j = 0; j < N; j++) {
            int sum = dot(a, b, i, j, 0);
            f16[i * N + j] = sum > 0 ? (float)sum / 256 : 0; /* (a / 8) * (b / 8) / 4 */
            bf16[j * M + i] = (float)sum + 0.5f;
            tf32[i * N + j] = (float)sum + 2.5f;
            mma[i * N + j] = (float)sum;
            s8[i * N + j] = dot(a, b, i, j, 1);
            for (int k = 0; k < K; k++)
                f64[i * N + j] = fma(ad[i * K + k], bd[k * N + j], f64[i * N + j]);
        }
    expect("F16", f16, sizeof f16);
    expect("BF16", bf16, sizeof bf16);
    expect("TF32", tf32, sizeof tf32);
    expect("S8", s8, sizeof s8);
    expect("F64", f64, sizeof f64);
    expect("MMA", mma, sizeof mma);
    return 0;
}
