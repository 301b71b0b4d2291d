// Copies of rectangles and boxes, between pitched memory, packed memory and arrays.
#include "check.h"

__global__ void negate(cudaPitchedPtr p, int width, int height, int depth)
{
    for (int z = threadIdx.x; z < depth; z += blockDim.x)
        for (int y = 0; y < height; y++)
            for (int x = 0; x < width; x++) {
                int *row = (int *)((char *)p.ptr + (z * height + y) * p.pitch);
                row[x] = -row[x];
            }
}

int main()
{
    const int width = 7, height = 5, depth = 3;
    int host[depth][height][width], got[depth][height][width] = {}, part[2][3];
    for (int i = 0; i < width * height * depth; i++)
        host[0][0][i] = i + 1;
    cudaExtent extent = make_cudaExtent(width * sizeof(int), height, depth);
    cudaPitchedPtr device;
    CHECK(cudaMalloc3D(&device, extent));
    EXPECT(device.pitch >= width * sizeof(int));
    CHECK(cudaMemset3D(device, 0xff, extent));
    cudaMemcpy3DParms copy = {};
    copy.srcPtr = make_cudaPitchedPtr(host, width * sizeof(int), width, height);
    copy.dstPtr = device;
    copy.extent = extent;
    copy.kind = cudaMemcpyHostToDevice;
    CHECK(cudaMemcpy3D(&copy));
    negate<<<1, 32>>>(device, width, height, depth);
    copy.srcPtr = device;
    copy.dstPtr = make_cudaPitchedPtr(got, width * sizeof(int), width, height);
    copy.kind = cudaMemcpyDeviceToHost;
    CHECK(cudaMemcpy3D(&copy));
    for (int i = 0; i < width * height * depth; i++)
        EXPECT(got[0][0][i] == -(i + 1));
    // rows 2 and 3, columns 4 to 6 of the first slice
    CHECK(cudaMemcpy2D(part, sizeof part[0], (char *)device.ptr + 2 * device.pitch + 4 * sizeof(int), device.pitch,
                       3 * sizeof(int), 2, cudaMemcpyDeviceToHost));
    EXPECT(part[0][0] == -host[0][2][4] && part[1][2] == -host[0][3][6]);
    EXPECT(cudaMemcpy2D(part, 4, device.ptr, device.pitch, 12, 2, cudaMemcpyDeviceToHost) == cudaErrorInvalidPitchValue);
    cudaGetLastError();
    cudaArray_t array;
    cudaChannelFormatDesc channels = cudaCreateChannelDesc<int>();
    CHECK(cudaMalloc3DArray(&array, &channels, make_cudaExtent(width, height, depth)));
    cudaMemcpy3DParms in = {};
    in.srcPtr = make_cudaPitchedPtr(host, width * sizeof(int), width, height);
    in.dstArray = array;
    in.extent = make_cudaExtent(width, height, depth);
    in.kind = cudaMemcpyHostToDevice;
    CHECK(cudaMemcpy3D(&in));
    cudaMemcpy3DParms out = {};
    out.srcArray = array;
    out.srcPos = make_cudaPos(1, 2, 1);
    out.dstPtr = make_cudaPitchedPtr(part, sizeof part[0], 3, 2);
    out.extent = make_cudaExtent(3, 2, 1);
    out.kind = cudaMemcpyDeviceToHost;
    CHECK(cudaMemcpy3D(&out));
    EXPECT(part[0][0] == host[1][2][1] && part[1][2] == host[1][3][3]);
    CHECK(cudaMemset2D(device.ptr, device.pitch, 0, 4, height));
    return verdict("pitched");
}
