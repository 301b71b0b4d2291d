// Images by way of textures and surfaces.
//   rotateImage     out = the image turned around its middle: bytes read as floats from 0 to 1, filtered linearly, wrapped around
//                   at the borders; a surface is written
//   colorImage      each pixel's mean over its 3 x 3 neighbours (a surface is read, clamped at its borders) picks a color from a
//                   table in linear memory; a surface of four bytes a pixel is written
//   sliceVolume     a plane that lies obliquely in a volume of three dimensions, filtered linearly
// Any width and height; the CTAs at the borders are only partly used.
//
// Evaluated by: CUDA SDK (simpleTexture, simpleSurfaceWrite, volumeFiltering), and as image kernels in papers about the register file.
// Memory: texture fetches with and without filtering, surface reads and writes, no global accesses.
#include <cuda_runtime.h>

extern "C" __global__ void rotateImage(cudaTextureObject_t image, cudaSurfaceObject_t out, int width, int height, float sine,
                                       float cosine)
{
    int x = blockIdx.x * blockDim.x + threadIdx.x;
    int y = blockIdx.y * blockDim.y + threadIdx.y;
    if (x >= width || y >= height)
        return;
    float u = ((float)x + 0.5f) / (float)width - 0.5f;
    float v = ((float)y + 0.5f) / (float)height - 0.5f;
    float s = u * cosine - v * sine + 0.5f;
    float t = v * cosine + u * sine + 0.5f;
    surf2Dwrite(tex2D<float>(image, s, t), out, x * (int)sizeof(float), y);
}

extern "C" __global__ void colorImage(cudaSurfaceObject_t in, cudaTextureObject_t colors, cudaSurfaceObject_t out, int width,
                                      int height)
{
    int x = blockIdx.x * blockDim.x + threadIdx.x;
    int y = blockIdx.y * blockDim.y + threadIdx.y;
    if (x >= width || y >= height)
        return;
    float sum = 0;
    for (int dy = -1; dy <= 1; dy++)
        for (int dx = -1; dx <= 1; dx++)
            sum += surf2Dread<float>(in, (x + dx) * (int)sizeof(float), y + dy, cudaBoundaryModeClamp);
    float4 color = tex1Dfetch<float4>(colors, (int)(sum * (255.0f / 9.0f)));
    uchar4 bytes = make_uchar4((unsigned char)(color.x * 255.0f), (unsigned char)(color.y * 255.0f),
                               (unsigned char)(color.z * 255.0f), (unsigned char)(color.w * 255.0f));
    surf2Dwrite(bytes, out, x * (int)sizeof(uchar4), y);
}

extern "C" __global__ void sliceVolume(cudaTextureObject_t volume, cudaSurfaceObject_t out, int size)
{
    int x = blockIdx.x * blockDim.x + threadIdx.x;
    int y = blockIdx.y * blockDim.y + threadIdx.y;
    if (x >= size || y >= size)
        return;
    float px = (float)x * 0.5f, py = (float)y * 0.5f;
    float pz = px * 0.25f + py * 0.375f - 1.0f; // begins and ends outside
    surf2Dwrite(tex3D<float>(volume, px, py, pz), out, x * (int)sizeof(float), y);
}
