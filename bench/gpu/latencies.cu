// Latencies, intervals and bandwidths of the GPU that it runs on, in core clock cycles, by micro-benchmarks: chains of
// dependent instructions, independent ones, pointer chases, conflicts in shared memory, streams. What bench/latencies
// measures in the model, in the same order.
//
//   nvcc -O3 -arch=native -o latencies latencies.cu && ./latencies
//
// Chains are unrolled, so that loop instructions do not count, and long enough that the reads of the clock do not; the
// slope between two lengths is printed. One line a figure: name, value, unit.
#include <algorithm>
#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <vector>

#define CHECK(call)                                                            \
    do {                                                                       \
        cudaError_t error = (call);                                            \
        if (error != cudaSuccess) {                                            \
            fprintf(stderr, "%s: %s\n", #call, cudaGetErrorString(error));     \
            exit(1);                                                           \
        }                                                                      \
    } while (0)

static long long *device_cycles;
static unsigned *device_sink;

__device__ __forceinline__ long long now()
{
    long long t;
    asm volatile("mov.u64 %0, %%clock64;" : "=l"(t)::"memory");
    return t;
}

// ---- arithmetic ------------------------------------------------------------------------------------------------------

// One kernel for an instruction on registers of a kind: `N` dependent ones, in an unrolled text.
#define CHAIN(name, type, constraint, text)                                                           \
    template <int N> __global__ void name(long long *cycles, unsigned *sink, type seed)               \
    {                                                                                                  \
        type a = seed, b = seed;                                                                       \
        long long from = now();                                                                        \
        _Pragma("unroll") for (int i = 0; i < N; i++) asm volatile(text : "+" constraint(a) : constraint(b)); \
        long long to = now();                                                                          \
        if (threadIdx.x == 0)                                                                          \
            *cycles = to - from;                                                                       \
        sink[threadIdx.x] = (unsigned)a;                                                               \
    }

// With a permutation between two additions, which would be one of three operands.
CHAIN(add_prmt, unsigned, "r", "add.u32 %0, %0, %1; prmt.b32 %0, %0, %1, 0x4321;")
CHAIN(prmt_b32, unsigned, "r", "prmt.b32 %0, %0, %1, 0x4321;")
CHAIN(shl_b32, unsigned, "r", "shf.l.wrap.b32 %0, %0, %1, 5;")
CHAIN(mad_u32, unsigned, "r", "mad.lo.u32 %0, %0, %1, %1;")
CHAIN(min_prmt, int, "r", "min.s32 %0, %0, %1; prmt.b32 %0, %0, %1, 0x4321;")
CHAIN(add_f32, float, "f", "add.f32 %0, %0, %1;")
CHAIN(mul_f32, float, "f", "mul.f32 %0, %0, %1;")
CHAIN(fma_f32, float, "f", "fma.rn.f32 %0, %0, %1, %1;")
CHAIN(add_f64, double, "d", "add.f64 %0, %0, %1;")
CHAIN(mul_f64, double, "d", "mul.f64 %0, %0, %1;")
CHAIN(fma_f64, double, "d", "fma.rn.f64 %0, %0, %1, %1;")
CHAIN(fma_f16x2, unsigned, "r", "fma.rn.f16x2 %0, %0, %1, %1;")
CHAIN(popc_b32, unsigned, "r", "popc.b32 %0, %0;")
CHAIN(sqrt_f32, float, "f", "sqrt.approx.ftz.f32 %0, %0;")
CHAIN(rsqrt_f32, float, "f", "rsqrt.approx.ftz.f32 %0, %0;")
CHAIN(ex2_f32, float, "f", "ex2.approx.ftz.f32 %0, %0;")
CHAIN(sin_f32, float, "f", "sin.approx.ftz.f32 %0, %0;")
CHAIN(shfl_b32, unsigned, "r", "shfl.sync.idx.b32 %0, %0, %0, 31, -1;")

// Independent ones: eight registers in turn.
#define STREAM(name, type, constraint, text)                                                          \
    template <int N> __global__ void name(long long *cycles, unsigned *sink, type seed)               \
    {                                                                                                  \
        type a[8], b = seed;                                                                           \
        for (int i = 0; i < 8; i++)                                                                    \
            a[i] = seed + (type)i;                                                                     \
        long long from = now();                                                                        \
        _Pragma("unroll") for (int i = 0; i < N; i++) asm volatile(text : "+" constraint(a[i % 8]) : constraint(b)); \
        long long to = now();                                                                          \
        if (threadIdx.x == 0)                                                                          \
            *cycles = to - from;                                                                       \
        unsigned sum = 0;                                                                              \
        for (int i = 0; i < 8; i++)                                                                    \
            sum += (unsigned)a[i];                                                                     \
        sink[threadIdx.x] = sum;                                                                       \
    }

STREAM(many_add_u32, unsigned, "r", "add.u32 %0, %0, %1;")
STREAM(many_mad_u32, unsigned, "r", "mad.lo.u32 %0, %0, %1, %1;")
STREAM(many_add_f32, float, "f", "add.f32 %0, %0, %1;")
STREAM(many_fma_f32, float, "f", "fma.rn.f32 %0, %0, %1, %1;")
STREAM(many_fma_f64, double, "d", "fma.rn.f64 %0, %0, %1, %1;")
STREAM(many_sqrt_f32, float, "f", "sqrt.approx.ftz.f32 %0, %0;")
STREAM(many_shfl_b32, unsigned, "r", "shfl.sync.idx.b32 %0, %0, %0, 31, -1;")

enum { FEW = 64, MANY = 320 };

template <typename F> static double median(F measure)
{
    std::vector<double> values;
    for (int i = 0; i < 9; i++)
        values.push_back(measure());
    std::sort(values.begin(), values.end());
    return values[values.size() / 2];
}

static long long taken()
{
    long long cycles;
    CHECK(cudaGetLastError());
    CHECK(cudaMemcpy(&cycles, device_cycles, sizeof cycles, cudaMemcpyDeviceToHost));
    return cycles;
}

template <typename T, typename Few, typename More> static double slope(Few few, More many, T seed, int threads)
{
    double most = median([&] { many<<<1, threads>>>(device_cycles, device_sink, seed); return (double)taken(); });
    double least = median([&] { few<<<1, threads>>>(device_cycles, device_sink, seed); return (double)taken(); });
    return (most - least) / (MANY - FEW);
}

static void show(const char *name, double value, const char *unit) { printf("%s\t%.3f\t%s\n", name, value, unit); }

// ---- memory ----------------------------------------------------------------------------------------------------------

// Follows `steps` pointers; the first round warms the cache.
#define CHASE(name, load)                                                                                       \
    __global__ void name(const uint64_t *start, int steps, int rounds, long long *cycles, unsigned *sink)        \
    {                                                                                                            \
        uint64_t p = (uint64_t)start;                                                                            \
        long long from = 0, to = 0;                                                                              \
        for (int r = 0; r < rounds; r++) {                                                                       \
            from = now();                                                                                        \
            for (int i = 0; i < steps; i += 8) {                                                                 \
                asm volatile(load " %0, [%0];" load " %0, [%0];" load " %0, [%0];" load " %0, [%0];" load        \
                             " %0, [%0];" load " %0, [%0];" load " %0, [%0];" load " %0, [%0];"                  \
                             : "+l"(p)::"memory");                                                               \
            }                                                                                                    \
            to = now();                                                                                          \
        }                                                                                                        \
        *cycles = to - from;                                                                                     \
        *sink = (unsigned)p;                                                                                     \
    }
CHASE(chase_ca, "ld.global.ca.u64")
CHASE(chase_cg, "ld.global.cg.u64")

template <typename K> static double chase(K kernel, size_t stride, size_t count, int steps, int rounds)
{
    uint64_t *buffer;
    CHECK(cudaMalloc(&buffer, stride * count));
    std::vector<uint64_t> image(stride * count / 8);
    for (size_t i = 0; i < count; i++)
        image[i * stride / 8] = (uint64_t)buffer + (i + 1) % count * stride;
    CHECK(cudaMemcpy(buffer, image.data(), stride * count, cudaMemcpyHostToDevice));
    double cycles = median([&] {
        kernel<<<1, 1>>>(buffer, steps, rounds, device_cycles, device_sink);
        return (double)taken() / steps;
    });
    CHECK(cudaFree(buffer));
    return cycles;
}

// Through device memory: each measurement in a part of a large buffer that nothing touched before.
static double chase_memory()
{
    size_t part = 64 << 20, parts = 40, stride = 16384 + 256, steps = 2048;
    char *buffer;
    CHECK(cudaMalloc(&buffer, part * parts));
    std::vector<uint64_t> image(part / 8);
    std::vector<double> values;
    for (size_t k = 0; k < parts; k++) {
        uint64_t base = (uint64_t)(buffer + k * part);
        for (size_t i = 0; i < steps; i++)
            image[i * stride / 8] = base + (i + 1) % steps * stride;
        CHECK(cudaMemcpy(buffer + k * part, image.data(), part, cudaMemcpyHostToDevice));
    }
    for (size_t k = 0; k < 9; k++) {
        chase_cg<<<1, 1>>>((const uint64_t *)(buffer + k * part), (int)steps, 1, device_cycles, device_sink);
        values.push_back((double)taken() / steps);
    }
    CHECK(cudaFree(buffer));
    std::sort(values.begin(), values.end());
    return values[values.size() / 2];
}

__global__ void chase_shared(int steps, long long *cycles, unsigned *sink)
{
    __shared__ unsigned cells[64];
    cells[threadIdx.x] = (unsigned)__cvta_generic_to_shared(cells);
    __syncwarp();
    unsigned p = (unsigned)__cvta_generic_to_shared(cells);
    long long from = now();
    for (int i = 0; i < steps; i += 4)
        asm volatile("ld.shared.u32 %0, [%0]; ld.shared.u32 %0, [%0]; ld.shared.u32 %0, [%0]; ld.shared.u32 %0, [%0];"
                     : "+r"(p)::"memory");
    *cycles = now() - from;
    *sink = p;
}

// Loads whose lanes are `stride` words apart: one warp, independent loads.
__global__ void conflicts(int stride, int steps, long long *cycles, unsigned *sink)
{
    __shared__ unsigned cells[1024];
    unsigned at = (unsigned)__cvta_generic_to_shared(cells) + threadIdx.x * stride * 4 % 4096, sum = 0;
    cells[threadIdx.x] = 1;
    __syncwarp();
    long long from = now();
    for (int i = 0; i < steps; i += 8) {
        unsigned v[8];
#pragma unroll
        for (int k = 0; k < 8; k++)
            asm volatile("ld.volatile.shared.u32 %0, [%1];" : "=r"(v[k]) : "r"(at) : "memory");
        for (int k = 0; k < 8; k++)
            sum += v[k];
    }
    if (threadIdx.x == 0)
        *cycles = now() - from;
    sink[threadIdx.x] = sum;
}

__global__ void stream(const uint4 *from, size_t count, unsigned *sink)
{
    unsigned sum = 0;
    for (size_t i = blockIdx.x * (size_t)blockDim.x + threadIdx.x; i < count; i += gridDim.x * (size_t)blockDim.x) {
        uint4 v;
        asm volatile("ld.global.cg.v4.u32 {%0, %1, %2, %3}, [%4];" : "=r"(v.x), "=r"(v.y), "=r"(v.z), "=r"(v.w) : "l"(from + i));
        sum += v.x ^ v.y ^ v.z ^ v.w;
    }
    if (sum == 0x12345678)
        *sink = sum;
}

static double stream_rate(size_t bytes, int rounds)
{
    uint4 *buffer;
    cudaEvent_t a, b;
    CHECK(cudaMalloc(&buffer, bytes));
    CHECK(cudaMemset(buffer, 1, bytes));
    CHECK(cudaEventCreate(&a));
    CHECK(cudaEventCreate(&b));
    double rate = median([&] {
        float ms;
        stream<<<132 * 16, 256>>>(buffer, bytes / 16, device_sink);
        CHECK(cudaEventRecord(a));
        for (int i = 0; i < rounds; i++)
            stream<<<132 * 16, 256>>>(buffer, bytes / 16, device_sink);
        CHECK(cudaEventRecord(b));
        CHECK(cudaEventSynchronize(b));
        CHECK(cudaEventElapsedTime(&ms, a, b));
        return (double)bytes * rounds / ms / 1e6;
    });
    CHECK(cudaFree(buffer));
    return rate;
}

// Cycles of a clock64 second, against the global timer.
__global__ void clock_rate(long long *cycles, unsigned *sink)
{
    unsigned long long from_ns, to_ns;
    long long from = now();
    asm volatile("mov.u64 %0, %%globaltimer;" : "=l"(from_ns)::"memory");
    do
        asm volatile("mov.u64 %0, %%globaltimer;" : "=l"(to_ns)::"memory");
    while (to_ns - from_ns < 50000000);
    *cycles = now() - from;
    *sink = (unsigned)(to_ns - from_ns);
}

int main()
{
    cudaDeviceProp properties;
    CHECK(cudaGetDeviceProperties(&properties, 0));
    printf("# %s, %d SMs, L2 %d KB\n", properties.name, properties.multiProcessorCount, properties.l2CacheSize >> 10);
    CHECK(cudaMalloc(&device_cycles, sizeof *device_cycles));
    CHECK(cudaMalloc(&device_sink, 4096));
#define DEPENDENT(name, type, seed) show("dependent " #name, slope<type>(name<FEW>, name<MANY>, (type)seed, 32), "cycles")
#define INDEPENDENT(name, type, seed, threads) show("independent " #name " x " #threads, slope<type>(name<FEW>, name<MANY>, (type)seed, threads), "cycles")
    for (int i = 0; i < 200; i++) // until the clock is at its rate
        many_fma_f32<MANY><<<132, 1024>>>(device_cycles, device_sink, 1.0f);
    clock_rate<<<1, 1>>>(device_cycles, device_sink);
    {
        unsigned ns;
        double cycles = (double)taken();
        CHECK(cudaMemcpy(&ns, device_sink, sizeof ns, cudaMemcpyDeviceToHost));
        show("core clock", cycles / ns * 1e3, "MHz");
    }
    DEPENDENT(prmt_b32, unsigned, 1);
    DEPENDENT(add_prmt, unsigned, 1);
    DEPENDENT(shl_b32, unsigned, 1);
    DEPENDENT(mad_u32, unsigned, 3);
    DEPENDENT(min_prmt, int, 3);
    DEPENDENT(add_f32, float, 1);
    DEPENDENT(mul_f32, float, 1);
    DEPENDENT(fma_f32, float, 1);
    DEPENDENT(add_f64, double, 1);
    DEPENDENT(mul_f64, double, 1);
    DEPENDENT(fma_f64, double, 1);
    DEPENDENT(fma_f16x2, unsigned, 0x3c003c00);
    DEPENDENT(popc_b32, unsigned, 77);
    DEPENDENT(sqrt_f32, float, 2);
    DEPENDENT(rsqrt_f32, float, 2);
    DEPENDENT(ex2_f32, float, 0.5);
    DEPENDENT(sin_f32, float, 0.5);
    DEPENDENT(shfl_b32, unsigned, 1);
    INDEPENDENT(many_add_u32, unsigned, 1, 32);
    INDEPENDENT(many_add_u32, unsigned, 1, 1024);
    INDEPENDENT(many_mad_u32, unsigned, 1, 32);
    INDEPENDENT(many_mad_u32, unsigned, 1, 1024);
    INDEPENDENT(many_add_f32, float, 1, 32);
    INDEPENDENT(many_add_f32, float, 1, 1024);
    INDEPENDENT(many_fma_f32, float, 1, 32);
    INDEPENDENT(many_fma_f32, float, 1, 1024);
    INDEPENDENT(many_fma_f64, double, 1, 32);
    INDEPENDENT(many_fma_f64, double, 1, 1024);
    INDEPENDENT(many_sqrt_f32, float, 2, 32);
    INDEPENDENT(many_sqrt_f32, float, 2, 1024);
    INDEPENDENT(many_shfl_b32, unsigned, 1, 32);
    INDEPENDENT(many_shfl_b32, unsigned, 1, 1024);
    show("chase through L1", chase(chase_ca, 128, 64, 1024, 2), "cycles");
    for (size_t kb : {64, 128, 192, 224, 256, 512})
        printf("chase through L1, %zu KB\t%.3f\tcycles\n", kb, chase(chase_ca, 128, kb * 8, (int)kb * 8, 3));
    show("chase through L2", chase(chase_cg, 128, 1024, 1024, 2), "cycles");
    for (size_t mb : {1, 4, 8, 16, 20, 24, 32, 40, 48, 64})
        printf("chase through L2, %zu MB\t%.3f\tcycles\n", mb, chase(chase_cg, 1024, mb << 10, (int)mb << 10, 2));
    show("chase through DRAM", chase_memory(), "cycles");
    show("chase through shared", median([&] { chase_shared<<<1, 32>>>(1024, device_cycles, device_sink); return taken() / 1024.0; }), "cycles");
    for (int stride : {1, 2, 4, 8, 16, 32}) {
        double most = median([&] { conflicts<<<1, 32>>>(stride, 2048, device_cycles, device_sink); return (double)taken(); });
        double least = median([&] { conflicts<<<1, 32>>>(stride, 1024, device_cycles, device_sink); return (double)taken(); });
        printf("shared, %d in a bank\t%.3f\tcycles\n", stride, (most - least) / 1024);
    }
    show("stream from L2 (16 MB)", stream_rate(16 << 20, 20), "GB/s");
    show("stream from DRAM (4 GB)", stream_rate((size_t)4 << 30, 2), "GB/s");
    return 0;
}
