/* Every kind of texture and surface that the driver makes, by coordinates, by index and gathered. */

extern "C" __global__ void lines(cudaTextureObject_t line, cudaTextureObject_t lines, cudaTextureObject_t cells,
                                 cudaSurfaceObject_t out, int n)
{
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i >= n)
        return;
    float x = i * 0.37f - 3;
    float4 a = tex1DLayered<float4>(lines, x / 16, i % 3);
    float v = tex1D<float>(line, x) + a.x * 2 + a.w + (float)tex1Dfetch<int2>(cells, i % 40).y;
    surf1Dwrite(v, out, i * 4);
}

extern "C" __global__ void planes(cudaTextureObject_t plane, cudaTextureObject_t sheets, cudaTextureObject_t volume,
                                  cudaSurfaceObject_t out, cudaSurfaceObject_t codes, int w, int h)
{
    int x = blockIdx.x * blockDim.x + threadIdx.x, y = blockIdx.y * blockDim.y + threadIdx.y;
    if (x >= w || y >= h)
        return;
    float u = (x + 0.3f) / w * 2 - 0.5f, v = (y + 0.6f) / h * 2 - 0.5f;
    uchar4 old;
    float4 g = tex2Dgather<float4>(plane, u, v, 0);
    surf2Dread(&old, codes, x * 4, y);
    float s = tex2D<float>(plane, u, v) + g.x + g.w * 3 + tex2DLayered<float>(sheets, x + 0.25f, y - 0.5f, (x + y) % 2) +
              tex3D<float>(volume, x * 0.5f, y * 0.5f, (x + y) * 0.125f) + old.y;
    surf2Dwrite(s, out, x * 4, y);
    surf2Dwrite(make_uchar4(old.w, old.x + x, old.y + y, 7), codes, x * 4, y);
}

extern "C" __global__ void cubes(cudaTextureObject_t cube, cudaTextureObject_t cubes, cudaTextureObject_t smooth, float *out,
                                 int n)
{
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i >= n)
        return;
    float x = (i * 7 % 17) * 0.25f - 2, y = (i * 5 % 23) * 0.25f - 3, z = (i * 3 % 13) * 0.25f - 1.5f;
    out[i] = texCubemap<float>(cube, x, y, z) + texCubemapLayered<float>(cubes, x, z, y, i % 2) * 2 +
             texCubemap<float>(smooth, z, y, x) * 3;
}
