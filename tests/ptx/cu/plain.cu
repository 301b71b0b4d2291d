// Compiled by clang without the toolkit's headers: the few attributes and built-in variables it needs are made here.
#define __global__ __attribute__((global))
#define __device__ __attribute__((device))
#define __shared__ __attribute__((shared))
#define __constant__ __attribute__((constant))

static __device__ inline unsigned thread() { return __nvvm_read_ptx_sreg_tid_x(); }
static __device__ inline unsigned cta() { return __nvvm_read_ptx_sreg_ctaid_x(); }
static __device__ inline unsigned threads() { return __nvvm_read_ptx_sreg_ntid_x(); }

__constant__ float weights[9] = {1, 2, 1, 2, 4, 2, 1, 2, 1};
__device__ int visits;

__device__ __attribute__((noinline)) float clamp(float x, float low, float high)
{
    return x < low ? low : x > high ? high : x;
}

extern "C" __global__ void blur(const float *in, float *out, int width, int height)
{
    int x = cta() * threads() + thread();
    if (x < 1 || x >= width - 1)
        return;
    for (int y = 1; y < height - 1; y++) {
        float sum = 0;
        for (int i = 0; i < 9; i++)
            sum += weights[i] * in[(y + i / 3 - 1) * width + x + i % 3 - 1];
        out[y * width + x] = clamp(sum / 16, 0, 255);
    }
}

extern "C" __global__ void histogram(const unsigned char *in, int *bins, int n)
{
    __shared__ int local[256];
    local[thread() & 255] = 0;
    __nvvm_bar_sync(0);
    for (int i = thread(); i < n; i += threads())
        __nvvm_atom_add_gen_i(&local[in[i]], 1);
    __nvvm_bar_sync(0);
    bins[thread() & 255] += local[thread() & 255];
    if (thread() == 0)
        visits++;
}

struct Particle {
    double position[3];
    float mass;
    short kind;
};

extern "C" __global__ void move(Particle *p, Particle by, int n)
{
    for (int i = cta(); i < n; i++) {
        switch (p[i].kind) {
        case 0: p[i].position[0] += by.position[0]; break;
        case 1: p[i].position[1] -= by.position[1] * p[i].mass; break;
        case 2: p[i].position[2] = -p[i].position[2]; break;
        case 3: p[i].mass *= 0.5f; break;
        case 4: p[i].kind = 0; break;
        default: return;
        }
    }
}
