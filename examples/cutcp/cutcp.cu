// The Coulomb potential of point charges on a lattice, cut off at a distance. Charges are sorted into cubic bins of
// DEPTH places (unused ones have charge 0); a CTA makes one cube of 8 x 8 x 8 lattice points, as wide as a bin, from
// the 27 bins in and around it, whose offsets stand in constant memory. A thread has four points above each other.
// The bins have one layer around the lattice, and the cutoff is not longer than a bin.
//
// Evaluated by: Parboil (CUTCP).
// Memory: bins staged in shared memory and read by broadcast, offsets in constant memory, a branch that only some lanes
// take.

#define DEPTH 8
#define NEIGHBOURS 27
#define SIDE 8

__constant__ int cutcp_neighbours[NEIGHBOURS];

extern "C" __global__ void __launch_bounds__(128) cutcp(const float4 *__restrict__ bins, float *__restrict__ lattice,
                                                        int bins_x, int bins_y, float spacing, float cutoff)
{
    __shared__ float4 atoms[NEIGHBOURS * DEPTH / 3];
    const int t = threadIdx.x;
    const int ix = blockIdx.x * SIDE + t % SIDE, iy = blockIdx.y * SIDE + t / SIDE % SIDE,
              iz = blockIdx.z * SIDE + t / (SIDE * SIDE) * 4;
    const float x = ix * spacing, y = iy * spacing, z = iz * spacing;
    const int home = ((blockIdx.z + 1) * bins_y + blockIdx.y + 1) * bins_x + blockIdx.x + 1;
    const float limit = cutoff * cutoff, scale = 1.0f / limit;
    float energy[4] = {};

    for (int first = 0; first < NEIGHBOURS; first += NEIGHBOURS / 3) {
        __syncthreads();
        if (t < NEIGHBOURS / 3 * DEPTH)
            atoms[t] = bins[(home + cutcp_neighbours[first + t / DEPTH]) * DEPTH + t % DEPTH];
        __syncthreads();
        for (int i = 0; i < NEIGHBOURS / 3 * DEPTH; i++) {
            const float4 atom = atoms[i];
            if (atom.w == 0.0f)
                continue;
            const float dx = atom.x - x, dy = atom.y - y;
            const float flat = fmaf(dx, dx, dy * dy);
            if (flat >= limit)
                continue;
            float dz = atom.z - z;
#pragma unroll
            for (int k = 0; k < 4; k++) {
                const float square = fmaf(dz, dz, flat);
                if (square < limit) {
                    const float s = fmaf(-square, scale, 1.0f);
                    energy[k] = fmaf(atom.w * rsqrtf(square), s * s, energy[k]);
                }
                dz -= spacing;
            }
        }
    }
#pragma unroll
    for (int k = 0; k < 4; k++)
        lattice[((iz + k) * (gridDim.y * SIDE) + iy) * (gridDim.x * SIDE) + ix] = energy[k];
}
