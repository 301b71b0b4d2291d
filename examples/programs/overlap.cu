// Chunks of an array in four streams: copies from page-locked memory, kernels and copies back, joined by events.
#include "check.h"

constexpr int streams = 4, chunk = 1 << 10, rounds = 3;

__global__ void polynomial(const float *in, float *out, int n, float c)
{
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i < n)
        out[i] = __fmaf_rn(in[i], __fmaf_rn(in[i], c, 1.0f), -c);
}

__global__ void total(const float *in, int n, int *positive)
{
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i < n && in[i] > 0)
        atomicAdd(positive, 1);
}

int main()
{
    const int n = streams * chunk * rounds;
    float *in, *out, *d_in, *d_out;
    int *d_positive, positive = -1, expected = 0;
    CHECK(cudaMallocHost(&in, n * sizeof(float)));
    CHECK(cudaHostAlloc(&out, n * sizeof(float), cudaHostAllocDefault));
    CHECK(cudaMalloc(&d_in, n * sizeof(float)));
    CHECK(cudaMalloc(&d_out, n * sizeof(float)));
    CHECK(cudaMalloc(&d_positive, sizeof(int)));
    for (int i = 0; i < n; i++)
        in[i] = (i % 251 - 125) / 64.0f;
    cudaStream_t stream[streams];
    cudaEvent_t done[streams];
    for (int s = 0; s < streams; s++) {
        CHECK(cudaStreamCreateWithFlags(&stream[s], cudaStreamNonBlocking));
        CHECK(cudaEventCreateWithFlags(&done[s], cudaEventDisableTiming));
    }
    CHECK(cudaMemsetAsync(d_positive, 0, sizeof(int), stream[0]));
    for (int r = 0; r < rounds; r++)
        for (int s = 0; s < streams; s++) {
            int at = (r * streams + s) * chunk;
            CHECK(cudaMemcpyAsync(d_in + at, in + at, chunk * sizeof(float), cudaMemcpyHostToDevice, stream[s]));
            polynomial<<<chunk / 256, 256, 0, stream[s]>>>(d_in + at, d_out + at, chunk, 0.5f + r);
            CHECK(cudaMemcpyAsync(out + at, d_out + at, chunk * sizeof(float), cudaMemcpyDeviceToHost, stream[s]));
        }
    for (int s = 1; s < streams; s++) {
        CHECK(cudaEventRecord(done[s], stream[s]));
        CHECK(cudaStreamWaitEvent(stream[0], done[s], 0));
    }
    total<<<(n + 255) / 256, 256, 0, stream[0]>>>(d_out, n, d_positive);
    CHECK(cudaMemcpyAsync(&positive, d_positive, sizeof(int), cudaMemcpyDeviceToHost, stream[0]));
    CHECK(cudaStreamSynchronize(stream[0]));
    for (int i = 0; i < n; i++) {
        float c = 0.5f + i / (streams * chunk), value = fmaf(in[i], fmaf(in[i], c, 1.0f), -c);
        EXPECT(out[i] == value);
        expected += value > 0;
    }
    EXPECT(positive == expected);
    for (int s = 0; s < streams; s++) {
        CHECK(cudaEventDestroy(done[s]));
        CHECK(cudaStreamDestroy(stream[s]));
    }
    CHECK(cudaFreeHost(in));
    CHECK(cudaFreeHost(out));
    return verdict("overlap");
}
