// Simulation: particles, grids, rays, transforms, options.

template <int EACH> __global__ void __launch_bounds__(128) forces(const float4 *__restrict__ bodies, float4 *__restrict__ out, int count, float soft)
{
    __shared__ float4 tile[128];
    float4 me[EACH];
    float3 sum[EACH];
#pragma unroll
    for (int e = 0; e < EACH; e++) {
        me[e] = bodies[(blockIdx.x * EACH + e) * 128 + threadIdx.x];
        sum[e] = make_float3(0, 0, 0);
    }
    for (int at = 0; at < count; at += 128) {
        tile[threadIdx.x] = bodies[at + threadIdx.x];
        __syncthreads();
#pragma unroll 8
        for (int k = 0; k < 128; k++)
#pragma unroll
            for (int e = 0; e < EACH; e++) {
                float x = tile[k].x - me[e].x, y = tile[k].y - me[e].y, z = tile[k].z - me[e].z;
                float r = rsqrtf(x * x + y * y + z * z + soft), f = tile[k].w * r * r * r;
                sum[e].x += x * f;
                sum[e].y += y * f;
                sum[e].z += z * f;
            }
        __syncthreads();
    }
#pragma unroll
    for (int e = 0; e < EACH; e++)
        out[(blockIdx.x * EACH + e) * 128 + threadIdx.x] = make_float4(sum[e].x, sum[e].y, sum[e].z, 0);
}
template __global__ void forces<1>(const float4 *, float4 *, int, float);
template __global__ void forces<2>(const float4 *, float4 *, int, float);
template __global__ void forces<4>(const float4 *, float4 *, int, float);

template <class T> __global__ void jacobi(const T *__restrict__ in, T *__restrict__ out, const T *__restrict__ source, int nx, int ny, int nz, T h)
{
    int x = blockIdx.x * blockDim.x + threadIdx.x, y = blockIdx.y * blockDim.y + threadIdx.y;
    if (x < 1 || y < 1 || x >= nx - 1 || y >= ny - 1)
        return;
    int plane = nx * ny, i = y * nx + x;
    T below = in[i], here = in[i + plane];
    for (int z = 1; z < nz - 1; z++) {
        i += plane;
        T above = in[i + plane];
        out[i] = (below + above + in[i - 1] + in[i + 1] + in[i - nx] + in[i + nx] - h * source[i]) / 6;
        below = here;
        here = above;
    }
}
template __global__ void jacobi<float>(const float *, float *, const float *, int, int, int, float);
template __global__ void jacobi<double>(const double *, double *, const double *, int, int, int, double);

__global__ void wave(const float *__restrict__ now, const float *__restrict__ speed, float *__restrict__ next, int nx, int ny, int nz)
{
    int x = blockIdx.x * blockDim.x + threadIdx.x, y = blockIdx.y * blockDim.y + threadIdx.y, z = blockIdx.z;
    if (x < 4 || y < 4 || z < 4 || x >= nx - 4 || y >= ny - 4 || z >= nz - 4)
        return;
    const float c[5] = {-2.84722f, 1.6f, -0.2f, 0.0253968f, -0.00178571f};
    int i = (z * ny + y) * nx + x;
    float sum = 3 * c[0] * now[i];
#pragma unroll
    for (int r = 1; r <= 4; r++)
        sum += c[r] * (now[i - r] + now[i + r] + now[i - r * nx] + now[i + r * nx] + now[i - r * nx * ny] + now[i + r * nx * ny]);
    next[i] = 2 * now[i] - next[i] + speed[i] * sum;
}
__global__ void boltzmann(const float *__restrict__ in, float *__restrict__ out, const unsigned char *__restrict__ wall, int nx, int ny, float omega)
{
    const int cx[9] = {0, 1, 0, -1, 0, 1, -1, -1, 1}, cy[9] = {0, 0, 1, 0, -1, 1, 1, -1, -1}, back[9] = {0, 3, 4, 1, 2, 7, 8, 5, 6};
    const float w[9] = {4 / 9.f, 1 / 9.f, 1 / 9.f, 1 / 9.f, 1 / 9.f, 1 / 36.f, 1 / 36.f, 1 / 36.f, 1 / 36.f};
    int x = blockIdx.x * blockDim.x + threadIdx.x, y = blockIdx.y, i = y * nx + x, cells = nx * ny;
    if (x >= nx)
        return;
    float f[9], density = 0, ux = 0, uy = 0;
#pragma unroll
    for (int k = 0; k < 9; k++) {
        int xx = (x - cx[k] + nx) % nx, yy = (y - cy[k] + ny) % ny;
        f[k] = in[k * cells + yy * nx + xx];
        density += f[k];
        ux += cx[k] * f[k];
        uy += cy[k] * f[k];
    }
    if (wall[i]) {
#pragma unroll
        for (int k = 0; k < 9; k++)
            out[k * cells + i] = f[back[k]];
        return;
    }
    ux /= density;
    uy /= density;
    float square = 1.5f * (ux * ux + uy * uy);
#pragma unroll
    for (int k = 0; k < 9; k++) {
        float u = 3 * (cx[k] * ux + cy[k] * uy);
        out[k * cells + i] = f[k] + omega * (w[k] * density * (1 + u + 0.5f * u * u - square) - f[k]);
    }
}
__global__ void spheres(const float4 *__restrict__ list, int count, uchar4 *image, int width, int height, float3 eye)
{
    int x = blockIdx.x * blockDim.x + threadIdx.x, y = blockIdx.y * blockDim.y + threadIdx.y, hit = -1;
    if (x >= width || y >= height)
        return;
    float dx = x - 0.5f * width, dy = y - 0.5f * height, dz = height, n = rsqrtf(dx * dx + dy * dy + dz * dz), nearest = 1e30f;
    dx *= n;
    dy *= n;
    dz *= n;
    for (int k = 0; k < count; k++) {
        float ox = list[k].x - eye.x, oy = list[k].y - eye.y, oz = list[k].z - eye.z;
        float b = ox * dx + oy * dy + oz * dz, d = b * b - (ox * ox + oy * oy + oz * oz) + list[k].w * list[k].w;
        if (d < 0)
            continue;
        float t = b - sqrtf(d);
        if (t > 0.001f && t < nearest) {
            nearest = t;
            hit = k;
        }
    }
    float light = hit >= 0 ? fmaxf(0.1f, (eye.y + dy * nearest - list[hit].y) / list[hit].w) : 0;
    image[y * width + x] = make_uchar4(255 * light, 200 * light, 100 * light, 255);
}
__global__ void triangles(const float *__restrict__ corners, const float *__restrict__ rays, float *out, int count, int rayCount)
{
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i >= rayCount)
        return;
    float o[3], d[3], best = 1e30f;
    for (int k = 0; k < 3; k++) {
        o[k] = rays[6 * i + k];
        d[k] = rays[6 * i + 3 + k];
    }
    for (int t = 0; t < count; t++) {
        const float *p = corners + 9 * t;
        float ax = p[3] - p[0], ay = p[4] - p[1], az = p[5] - p[2], bx = p[6] - p[0], by = p[7] - p[1], bz = p[8] - p[2];
        float px = d[1] * bz - d[2] * by, py = d[2] * bx - d[0] * bz, pz = d[0] * by - d[1] * bx, det = ax * px + ay * py + az * pz;
        if (fabsf(det) < 1e-8f)
            continue;
        float f = 1 / det, sx = o[0] - p[0], sy = o[1] - p[1], sz = o[2] - p[2], u = f * (sx * px + sy * py + sz * pz);
        float qx = sy * az - sz * ay, qy = sz * ax - sx * az, qz = sx * ay - sy * ax, v = f * (d[0] * qx + d[1] * qy + d[2] * qz);
        float r = f * (bx * qx + by * qy + bz * qz);
        if (u >= 0 && v >= 0 && u + v <= 1 && r > 0)
            best = fminf(best, r);
    }
    out[i] = best;
}
template <int N> __global__ void transform(float2 *data, int stride)
{
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    float2 v[N];
#pragma unroll
    for (int k = 0; k < N; k++)
        v[k] = data[i + k * stride];
#pragma unroll
    for (int half = N / 2; half; half /= 2)
#pragma unroll
        for (int k = 0; k < N; k++)
            if (!(k & half)) {
                float angle = -3.14159265f * (k % half) / half, c = cosf(angle), s = sinf(angle);
                float2 a = v[k], b = v[k + half];
                v[k] = make_float2(a.x + b.x, a.y + b.y);
                a = make_float2(a.x - b.x, a.y - b.y);
                v[k + half] = make_float2(a.x * c - a.y * s, a.x * s + a.y * c);
            }
#pragma unroll
    for (int k = 0; k < N; k++)
        data[i + k * stride] = v[k];
}
template __global__ void transform<2>(float2 *, int);
template __global__ void transform<4>(float2 *, int);
template __global__ void transform<8>(float2 *, int);
template __global__ void transform<16>(float2 *, int);

template <class T> __global__ void integrate(T *out, T x0, T y0, T z0, T step, int steps)
{
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    T x = x0 + i * step, y = y0, z = z0;
    for (int k = 0; k < steps; k++) {
        T a = 10 * (y - x), b = x * (28 - z) - y, c = x * y - T(8) / 3 * z;
        T xh = x + step / 2 * a, yh = y + step / 2 * b, zh = z + step / 2 * c;
        T a2 = 10 * (yh - xh), b2 = xh * (28 - zh) - yh, c2 = xh * yh - T(8) / 3 * zh;
        x += step * (a + a2) / 2;
        y += step * (b + b2) / 2;
        z += step * (c + c2) / 2;
    }
    out[3 * i] = x;
    out[3 * i + 1] = y;
    out[3 * i + 2] = z;
}
template __global__ void integrate<float>(float *, float, float, float, float, int);
template __global__ void integrate<double>(double *, double, double, double, double, int);

__global__ void barrier(const float *spot, const float *strike, float *price, int paths, int steps, float rate, float vol, unsigned seed)
{
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    unsigned s = seed ^ i * 0x9E3779B9u;
    float dt = 1.0f / steps, drift = (rate - 0.5f * vol * vol) * dt, move = vol * sqrtf(dt), sum = 0;
    for (int p = 0; p < paths; p++) {
        float x = logf(spot[i]);
        for (int k = 0; k < steps; k++) {
            s = s * 1664525u + 1013904223u;
            float u = (s >> 8) * 5.9604645e-8f + 1e-8f;
            s = s * 1664525u + 1013904223u;
            float v = (s >> 8) * 5.9604645e-8f;
            x += drift + move * sqrtf(-2 * logf(u)) * cosf(6.2831853f * v);
        }
        sum += fmaxf(0.0f, expf(x) - strike[i]);
    }
    price[i] = sum / paths * expf(-rate);
}
__global__ void springs(float3 *position, float3 *velocity, const int2 *__restrict__ ends, const float *__restrict__ rest, float3 *force, int count, float k)
{
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i >= count)
        return;
    int2 e = ends[i];
    float3 a = position[e.x], b = position[e.y], v = velocity[e.x], w = velocity[e.y];
    float x = b.x - a.x, y = b.y - a.y, z = b.z - a.z, r = sqrtf(x * x + y * y + z * z), f = k * (r - rest[i]) / r;
    f += 0.1f * ((w.x - v.x) * x + (w.y - v.y) * y + (w.z - v.z) * z) / (r * r);
    atomicAdd(&force[e.x].x, f * x);
    atomicAdd(&force[e.x].y, f * y);
    atomicAdd(&force[e.x].z, f * z);
    atomicAdd(&force[e.y].x, -f * x);
    atomicAdd(&force[e.y].y, -f * y);
    atomicAdd(&force[e.y].z, -f * z);
}
