// Included by lines.cu, so that code of another file is inlined.
__device__ inline float scaled(const float *from, int i, float by)
{
    return from[i] * by;
}
