// Control flow: divergence, switches, break and continue, nested loops, early exits, irreducible jumps.

extern "C" __global__ void diverge(const int *in, int *out, int n)
{
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i >= n)
        return;
    int v = in[i];
    if (v & 1) {
        if (v > 100)
            v = v * 3 + i;
        else
            v = __clz(v) - i;
    } else if (v < 0) {
        v = -v;
    }
    out[i] = v;
}

extern "C" __global__ void dense_switch(const int *in, float *out)
{
    int i = threadIdx.x;
    float x = (float)i;
    switch (in[i]) {
    case 0: x = x * x; break;
    case 1: x = sqrtf(x); break;
    case 2: x = 1.0f / x; break;
    case 3: x += 17.0f; // fall through
    case 4: x = sinf(x); break;
    case 5: x = x - 3.5f; break;
    case 6: out[i + 1024] = x; return;
    case 7: x = __expf(x); break;
    case 8: x = __log2f(x); break;
    case 9: x = x < 0.0f ? -x : x; break;
    default: x = 0.0f;
    }
    out[i] = x;
}

extern "C" __global__ void break_continue(const int *in, int *out, int rows, int columns)
{
    int sum = 0;
    for (int r = threadIdx.x; r < rows; r += blockDim.x) {
#pragma unroll 1
        for (int c = 0; c < columns; c++) {
            int v = in[r * columns + c];
            if (v < 0)
                continue;
            if (v == 0)
                break;
            if (v == 12345)
                goto found;
            sum += v;
        }
    }
found:
    out[threadIdx.x] = sum;
}

// Two loops that jump into each other's middle.
extern "C" __global__ void irreducible(int *data, int n)
{
    int i = threadIdx.x, s = 0;
    if (n & 1)
        goto middle;
top:
    s += data[i];
    i += 32;
    if (s > 1000000)
        __trap();
middle:
    s ^= data[i + 1];
    i += 7;
    if (i < n)
        goto top;
    data[threadIdx.x] = s;
}

extern "C" __global__ void while_votes(unsigned *data, int n)
{
    unsigned lane = threadIdx.x & 31;
    unsigned value = data[threadIdx.x];
    while (__any_sync(0xffffffffu, value > (unsigned)n)) {
        if (value > (unsigned)n)
            value = value / 2 + lane;
        value += __popc(__ballot_sync(0xffffffffu, value & 1));
    }
    if (__all_sync(0xffffffffu, value == 3))
        value = __match_any_sync(0xffffffffu, value);
    data[threadIdx.x] = value;
}
