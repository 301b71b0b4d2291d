// Texture objects of arrays, linear and pitched memory, and a surface.
#include "check.h"
#include <cmath>

__global__ void resample(cudaTextureObject_t t, float *out, int width, int height)
{
    int x = blockIdx.x * blockDim.x + threadIdx.x, y = blockIdx.y * blockDim.y + threadIdx.y;
    if (x < width && y < height)
        out[y * width + x] = tex2D<float>(t, x + 1.0f, y + 0.5f); // between two texels of a row
}

__global__ void fetch(cudaTextureObject_t line, cudaTextureObject_t pitched, float4 *out, unsigned *bytes)
{
    int i = threadIdx.x;
    out[i] = tex1Dfetch<float4>(line, i);
    bytes[i] = tex2D<unsigned char>(pitched, i % 5 + 0.5f, i / 5 + 0.5f);
}

__global__ void paint(cudaSurfaceObject_t s)
{
    surf2Dwrite(make_short2(threadIdx.x, -threadIdx.y), s, threadIdx.x * sizeof(short2), threadIdx.y);
}

static cudaTextureDesc sampling(cudaTextureFilterMode filter)
{
    cudaTextureDesc d = {};
    d.addressMode[0] = d.addressMode[1] = cudaAddressModeClamp;
    d.filterMode = filter;
    d.readMode = cudaReadModeElementType;
    return d;
}

static void from_array()
{
    const int width = 16, height = 9;
    float host[height][width], *out;
    for (int y = 0; y < height; y++)
        for (int x = 0; x < width; x++)
            host[y][x] = x * x + 10 * y;
    cudaArray_t array;
    cudaChannelFormatDesc channels = cudaCreateChannelDesc<float>();
    CHECK(cudaMallocArray(&array, &channels, width, height));
    CHECK(cudaMemcpy2DToArray(array, 0, 0, host, sizeof host[0], sizeof host[0], height, cudaMemcpyHostToDevice));
    cudaResourceDesc resource = {};
    resource.resType = cudaResourceTypeArray;
    resource.res.array.array = array;
    cudaTextureDesc how = sampling(cudaFilterModeLinear);
    cudaTextureObject_t texture;
    CHECK(cudaCreateTextureObject(&texture, &resource, &how, nullptr));
    CHECK(cudaMalloc(&out, sizeof host));
    resample<<<dim3(2, 2), dim3(8, 8)>>>(texture, out, width, height);
    CHECK(cudaGetLastError());
    float got[height][width];
    CHECK(cudaMemcpy(got, out, sizeof got, cudaMemcpyDeviceToHost));
    for (int y = 0; y < 8; y++)
        for (int x = 0; x < width; x++)
            EXPECT(got[y][x] == (host[y][x] + host[y][x + 1 < width ? x + 1 : x]) / 2);
    CHECK(cudaDestroyTextureObject(texture));
    CHECK(cudaFreeArray(array));
    CHECK(cudaFree(out));
}

static void from_memory()
{
    const int n = 20;
    float4 line[n], *device, *out, got[n];
    unsigned char picture[4][5], *pitched;
    unsigned *bytes, seen[n];
    size_t pitch;
    for (int i = 0; i < n; i++) {
        line[i] = make_float4(i, -i, i * 0.5f, 1);
        picture[i / 5][i % 5] = 200 + i;
    }
    CHECK(cudaMalloc(&device, sizeof line));
    CHECK(cudaMalloc(&out, sizeof line));
    CHECK(cudaMalloc(&bytes, sizeof seen));
    CHECK(cudaMallocPitch(&pitched, &pitch, 5, 4));
    CHECK(cudaMemcpy(device, line, sizeof line, cudaMemcpyHostToDevice));
    CHECK(cudaMemcpy2D(pitched, pitch, picture, 5, 5, 4, cudaMemcpyHostToDevice));
    cudaResourceDesc a = {}, b = {};
    a.resType = cudaResourceTypeLinear;
    a.res.linear.devPtr = device;
    a.res.linear.desc = cudaCreateChannelDesc<float4>();
    a.res.linear.sizeInBytes = sizeof line;
    b.resType = cudaResourceTypePitch2D;
    b.res.pitch2D.devPtr = pitched;
    b.res.pitch2D.desc = cudaCreateChannelDesc<unsigned char>();
    b.res.pitch2D.width = 5;
    b.res.pitch2D.height = 4;
    b.res.pitch2D.pitchInBytes = pitch;
    cudaTextureDesc how = sampling(cudaFilterModePoint);
    cudaTextureObject_t one, two;
    CHECK(cudaCreateTextureObject(&one, &a, &how, nullptr));
    CHECK(cudaCreateTextureObject(&two, &b, &how, nullptr));
    fetch<<<1, n>>>(one, two, out, bytes);
    CHECK(cudaMemcpy(got, out, sizeof got, cudaMemcpyDeviceToHost));
    CHECK(cudaMemcpy(seen, bytes, sizeof seen, cudaMemcpyDeviceToHost));
    for (int i = 0; i < n; i++) {
        EXPECT(got[i].x == i && got[i].y == -i && got[i].z == i * 0.5f && got[i].w == 1);
        EXPECT(seen[i] == 200u + i);
    }
}

static void to_surface()
{
    cudaArray_t array;
    cudaChannelFormatDesc channels = cudaCreateChannelDesc<short2>();
    CHECK(cudaMallocArray(&array, &channels, 8, 4, cudaArraySurfaceLoadStore));
    cudaResourceDesc resource = {};
    resource.resType = cudaResourceTypeArray;
    resource.res.array.array = array;
    cudaSurfaceObject_t surface;
    CHECK(cudaCreateSurfaceObject(&surface, &resource));
    paint<<<1, dim3(8, 4)>>>(surface);
    short2 got[4][8];
    CHECK(cudaMemcpy2DFromArray(got, sizeof got[0], array, 0, 0, sizeof got[0], 4, cudaMemcpyDeviceToHost));
    for (int y = 0; y < 4; y++)
        for (int x = 0; x < 8; x++)
            EXPECT(got[y][x].x == x && got[y][x].y == -y);
    CHECK(cudaDestroySurfaceObject(surface));
}

int main()
{
    from_array();
    from_memory();
    to_surface();
    return verdict("textures");
}
