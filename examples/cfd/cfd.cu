// Flow of a compressible gas over an unstructured grid (Euler equations, finite volumes).
//   initialize   the far field in every cell, disturbed a little
//   stepFactor   the longest stable time step of a cell
//   flux         what passes through the four faces of a cell: much arithmetic on many live values
//   timeStep     one stage of a Runge-Kutta scheme
// The five conserved variables stand one array each: density, momentum x, y, z, energy. A negative neighbour is a
// boundary: odd numbers are the wing, even ones the far field.
//
// Evaluated by: Rodinia (cfd, euler3d).
// Memory: coalesced reads of a cell's own data, gathers of five words from each neighbour, constants.

#define THREADS 96
#define FACES 4
#define VARIABLES 5
#define GAMMA 1.4f
#define SMOOTHING 0.2f

__constant__ float far_field[VARIABLES];

struct State {
    float density;
    float3 momentum;
    float energy;
};

// What a state means for the flow through a face.
struct Flow {
    float3 velocity;
    float speed, sound, pressure;
};

static __device__ __forceinline__ float dot(float3 a, float3 b) { return fmaf(a.z, b.z, fmaf(a.y, b.y, a.x * b.x)); }

static __device__ __forceinline__ State load_state(const float *__restrict__ variables, int i, int cells)
{
    State s;
    s.density = variables[i];
    s.momentum = make_float3(variables[i + cells], variables[i + 2 * cells], variables[i + 3 * cells]);
    s.energy = variables[i + 4 * cells];
    return s;
}

static __device__ __forceinline__ State load_far_field()
{
    State s;
    s.density = far_field[0];
    s.momentum = make_float3(far_field[1], far_field[2], far_field[3]);
    s.energy = far_field[4];
    return s;
}

static __device__ __forceinline__ Flow flow_of(const State &s)
{
    Flow f;
    f.velocity = make_float3(s.momentum.x / s.density, s.momentum.y / s.density, s.momentum.z / s.density);
    float square = dot(f.velocity, f.velocity);
    f.speed = sqrtf(square);
    f.pressure = (GAMMA - 1.0f) * (s.energy - 0.5f * s.density * square);
    f.sound = sqrtf(GAMMA * f.pressure / s.density);
    return f;
}

// The flow of momentum component m (of velocity v) and of energy along the face's normal n.
static __device__ __forceinline__ float through(float3 n, float component, float3 velocity, float pressure_part)
{
    return fmaf(component, dot(velocity, n), pressure_part);
}

struct Flux {
    float density, x, y, z, energy;
};

static __device__ __forceinline__ void convect(Flux &sum, float3 n, const State &s, const Flow &f)
{
    sum.density = fmaf(0.5f, dot(s.momentum, n), sum.density);
    sum.x = fmaf(0.5f, through(n, s.momentum.x, f.velocity, f.pressure * n.x), sum.x);
    sum.y = fmaf(0.5f, through(n, s.momentum.y, f.velocity, f.pressure * n.y), sum.y);
    sum.z = fmaf(0.5f, through(n, s.momentum.z, f.velocity, f.pressure * n.z), sum.z);
    sum.energy = fmaf(0.5f * (s.energy + f.pressure), dot(f.velocity, n), sum.energy);
}

extern "C" __global__ void __launch_bounds__(THREADS)
    initialize(const float *__restrict__ noise, float *__restrict__ variables, int cells)
{
    int i = blockIdx.x * THREADS + threadIdx.x;
    if (i < cells)
        for (int v = 0; v < VARIABLES; v++)
            variables[i + v * cells] = fmaf(far_field[v], noise[i + v * cells], far_field[v]);
}

extern "C" __global__ void __launch_bounds__(THREADS)
    stepFactor(const float *__restrict__ variables, const float *__restrict__ areas, float *__restrict__ factors,
               int cells)
{
    int i = blockIdx.x * THREADS + threadIdx.x;
    if (i >= cells)
        return;
    Flow f = flow_of(load_state(variables, i, cells));
    factors[i] = 0.5f / (sqrtf(areas[i]) * (f.speed + f.sound));
}

extern "C" __global__ void __launch_bounds__(THREADS)
    flux(const int *__restrict__ neighbours, const float *__restrict__ normals, const float *__restrict__ variables,
         float *__restrict__ fluxes, int cells)
{
    int i = blockIdx.x * THREADS + threadIdx.x;
    if (i >= cells)
        return;
    State mine = load_state(variables, i, cells);
    Flow here = flow_of(mine);
    Flux sum = {0.0f, 0.0f, 0.0f, 0.0f, 0.0f};

#pragma unroll
    for (int face = 0; face < FACES; face++) {
        int neighbour = neighbours[i + face * cells];
        float3 n = make_float3(normals[i + face * cells], normals[i + (face + FACES) * cells],
                               normals[i + (face + 2 * FACES) * cells]);
        if (neighbour >= 0) {
            State other = load_state(variables, neighbour, cells);
            Flow there = flow_of(other);
            float length = sqrtf(dot(n, n));
            float factor = -length * SMOOTHING * 0.5f * (here.speed + there.speed + here.sound + there.sound);
            sum.density = fmaf(factor, mine.density - other.density, sum.density);
            sum.x = fmaf(factor, mine.momentum.x - other.momentum.x, sum.x);
            sum.y = fmaf(factor, mine.momentum.y - other.momentum.y, sum.y);
            sum.z = fmaf(factor, mine.momentum.z - other.momentum.z, sum.z);
            sum.energy = fmaf(factor, mine.energy - other.energy, sum.energy);
            convect(sum, n, mine, here);
            convect(sum, n, other, there);
        } else if (neighbour & 1) {
            sum.x = fmaf(n.x, here.pressure, sum.x);
            sum.y = fmaf(n.y, here.pressure, sum.y);
            sum.z = fmaf(n.z, here.pressure, sum.z);
        } else {
            State other = load_far_field();
            convect(sum, n, mine, here);
            convect(sum, n, other, flow_of(other));
        }
    }
    fluxes[i] = sum.density;
    fluxes[i + cells] = sum.x;
    fluxes[i + 2 * cells] = sum.y;
    fluxes[i + 3 * cells] = sum.z;
    fluxes[i + 4 * cells] = sum.energy;
}

// Stage `stage` of three, counted from 0.
extern "C" __global__ void __launch_bounds__(THREADS)
    timeStep(int stage, const float *__restrict__ old, float *__restrict__ variables, const float *__restrict__ factors,
             const float *__restrict__ fluxes, int cells)
{
    int i = blockIdx.x * THREADS + threadIdx.x;
    if (i >= cells)
        return;
    float factor = factors[i] / (float)(3 - stage);
#pragma unroll
    for (int v = 0; v < VARIABLES; v++)
        variables[i + v * cells] = fmaf(factor, fluxes[i + v * cells], old[i + v * cells]);
}
