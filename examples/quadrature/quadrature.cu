// Adaptive quadrature by Simpson's rule, with recursion and function pointers. Each thread integrates one of four
// functions, chosen by a table of function pointers, over its own interval; the bisection is a recursive device
// function, and the rule itself is not inlined, so that warps diverge in depth, in the function called, and in the
// number of live frames. Only + - * / and fused multiply-adds: exact.
//
// Evaluated by: no suite; it stands for kernels with real calls.
// Memory: stack frames in local memory, little global memory.

typedef float (*function)(float);

static __device__ __noinline__ float runge(float x) { return 1.0f / fmaf(25.0f * x, x, 1.0f); }

static __device__ __noinline__ float cubic(float x) { return fmaf(fmaf(fmaf(2.0f, x, -3.0f), x, 0.5f), x, 1.0f); }

static __device__ __noinline__ float ramp(float x) { return x < 0.25f ? 0.0f : (x - 0.25f) * (x - 0.25f); }

// Two bumps, through further calls.
static __device__ __noinline__ float peak(float x) { return runge(x - 0.5f) + runge(5.0f * x); }

static __device__ function functions[4] = {runge, cubic, ramp, peak};

static __device__ __noinline__ float simpson(float width, float fa, float fm, float fb)
{
    return width / 6.0f * (fmaf(4.0f, fm, fa) + fb);
}

static __device__ __noinline__ float bisect(function f, float a, float b, float fa, float fm, float fb, float whole,
                                            int depth, int *calls)
{
    float m = 0.5f * (a + b);
    float flm = f(0.5f * (a + m));
    float frm = f(0.5f * (m + b));
    float left = simpson(m - a, fa, flm, fm);
    float right = simpson(b - m, fm, frm, fb);
    float delta = left + right - whole;
    *calls += 1;
    if (depth == 0 || fabsf(delta) <= 1e-6f)
        return left + right + delta / 15.0f;
    return bisect(f, a, m, fa, flm, fm, left, depth - 1, calls) + bisect(f, m, b, fm, frm, fb, right, depth - 1, calls);
}

extern "C" __global__ void quadrature(const float *__restrict__ from, const float *__restrict__ to,
                                      float *__restrict__ integral, int *__restrict__ count, int n, int depth)
{
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i >= n)
        return;
    function f = functions[(i / 8 + i) % 4];
    float a = from[i], b = to[i];
    float fa = f(a), fm = f(0.5f * (a + b)), fb = f(b);
    int calls = 0;
    integral[i] = bisect(f, a, b, fa, fm, fb, simpson(b - a, fa, fm, fb), depth, &calls);
    count[i] = calls;
}
