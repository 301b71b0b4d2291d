// Integers: hashes, generators, searches, bits, strings, graphs.

__global__ void murmur(const unsigned *in, unsigned *out, int words, int count)
{
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i >= count)
        return;
    unsigned h = 0;
    for (int k = 0; k < words; k++) {
        unsigned v = in[i * words + k] * 0xcc9e2d51u;
        h ^= (v << 15 | v >> 17) * 0x1b873593u;
        h = (h << 13 | h >> 19) * 5 + 0xe6546b64u;
    }
    h ^= words * 4;
    h = (h ^ h >> 16) * 0x85ebca6bu;
    h = (h ^ h >> 13) * 0xc2b2ae35u;
    out[i] = h ^ h >> 16;
}
template <int ROUNDS> __global__ void philox(uint4 *out, unsigned key0, unsigned key1, int count)
{
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    unsigned a = i, b = 0, c = 0, d = 0;
#pragma unroll
    for (int r = 0; r < ROUNDS; r++) {
        unsigned h0 = __umulhi(0xD2511F53u, a), l0 = 0xD2511F53u * a, h1 = __umulhi(0xCD9E8D57u, c), l1 = 0xCD9E8D57u * c;
        a = h1 ^ b ^ key0;
        b = l1;
        c = h0 ^ d ^ key1;
        d = l0;
        key0 += 0x9E3779B9u;
        key1 += 0xBB67AE85u;
    }
    if (i < count)
        out[i] = make_uint4(a, b, c, d);
}
template __global__ void philox<7>(uint4 *, unsigned, unsigned, int);
template __global__ void philox<10>(uint4 *, unsigned, unsigned, int);

__global__ void xorshift(unsigned long long *state, double *out, int each)
{
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    unsigned long long s = state[i];
    double sum = 0;
    for (int k = 0; k < each; k++) {
        s ^= s << 13;
        s ^= s >> 7;
        s ^= s << 17;
        sum += (s >> 11) * 1.1102230246251565e-16;
    }
    state[i] = s;
    out[i] = sum;
}
__device__ unsigned turned(unsigned v, int n) { return v << n | v >> (32 - n); }
__global__ void chacha(const unsigned *__restrict__ key, const uint4 *__restrict__ in, uint4 *__restrict__ out, int rounds)
{
    unsigned s[16], t[16];
    int i = blockIdx.x * blockDim.x + threadIdx.x;
#pragma unroll
    for (int k = 0; k < 16; k++)
        t[k] = s[k] = k < 4 ? 0x61707865u + k : k == 12 ? i : key[k - 4];
    for (int r = 0; r < rounds; r += 2) {
#pragma unroll
        for (int h = 0; h < 8; h++) {
            int a = h & 3, b = 4 + ((h + (h >> 2)) & 3), c = 8 + ((h + 2 * (h >> 2)) & 3), d = 12 + ((h + 3 * (h >> 2)) & 3);
            s[d] = turned(s[d] ^ (s[a] += s[b]), 16);
            s[b] = turned(s[b] ^ (s[c] += s[d]), 12);
            s[d] = turned(s[d] ^ (s[a] += s[b]), 8);
            s[b] = turned(s[b] ^ (s[c] += s[d]), 7);
        }
    }
#pragma unroll
    for (int k = 0; k < 4; k++) {
        uint4 v = in[4 * i + k];
        out[4 * i + k] = make_uint4(v.x ^ (s[4 * k] + t[4 * k]), v.y ^ (s[4 * k + 1] + t[4 * k + 1]), v.z ^ (s[4 * k + 2] + t[4 * k + 2]),
                                    v.w ^ (s[4 * k + 3] + t[4 * k + 3]));
    }
}
__global__ void lowerBound(const int *__restrict__ sorted, int count, const int *__restrict__ keys, int *__restrict__ at, int asked)
{
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i >= asked)
        return;
    int key = keys[i], low = 0, high = count;
    while (low < high) {
        int middle = (low + high) / 2;
        if (sorted[middle] < key)
            low = middle + 1;
        else
            high = middle;
    }
    at[i] = low;
}
__global__ void insert(unsigned long long *table, unsigned mask, const unsigned *keys, const unsigned *values, int count)
{
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i >= count)
        return;
    unsigned key = keys[i], slot = key * 2654435761u & mask;
    unsigned long long entry = (unsigned long long)key << 32 | values[i];
    for (;;) {
        unsigned long long old = atomicCAS(&table[slot], ~0ull, entry);
        if (old == ~0ull || old >> 32 == key)
            return;
        slot = (slot + 1) & mask;
    }
}
__global__ void relax(const int *__restrict__ first, const int *__restrict__ to, const int *__restrict__ weight, int *distance, int *changed, int n)
{
    int v = blockIdx.x * blockDim.x + threadIdx.x;
    if (v >= n)
        return;
    int d = distance[v];
    for (int e = first[v]; e < first[v + 1]; e++)
        if (d + weight[e] < distance[to[e]]) {
            atomicMin(&distance[to[e]], d + weight[e]);
            *changed = 1;
        }
}
__global__ void pageRank(const int *__restrict__ first, const int *__restrict__ from, const float *__restrict__ old, const int *__restrict__ degree,
                         float *rank, int n, float damping)
{
    int v = blockIdx.x * blockDim.x + threadIdx.x;
    if (v >= n)
        return;
    float sum = 0;
    for (int e = first[v]; e < first[v + 1]; e++)
        sum += old[from[e]] / degree[from[e]];
    rank[v] = (1 - damping) / n + damping * sum;
}
__global__ void distance(const char *a, const char *b, int *out, int n, int m)
{
    int row[33], i = blockIdx.x * blockDim.x + threadIdx.x;
    a += (size_t)i * n;
    b += (size_t)i * m;
    for (int k = 0; k <= 32; k++)
        row[k] = k;
    for (int r = 1; r <= n; r++) {
        int before = row[0];
        row[0] = r;
        for (int k = 1; k <= 32; k++) {
            int old = row[k];
            row[k] = min(min(row[k] + 1, row[k - 1] + 1), before + (a[r - 1] != b[k - 1]));
            before = old;
        }
    }
    out[i] = row[32];
}
__global__ void findBytes(const unsigned char *text, int length, const unsigned char *pattern, int size, int *hits)
{
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i + size > length)
        return;
    for (int k = 0; k < size; k++)
        if (text[i + k] != pattern[k])
            return;
    atomicAdd(hits, 1);
}
__global__ void morton(const uint3 *in, unsigned long long *out, int count)
{
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i >= count)
        return;
    unsigned long long code = 0, v[3] = {in[i].x, in[i].y, in[i].z};
    for (int k = 0; k < 3; k++) {
        unsigned long long x = v[k] & 0x1fffff;
        x = (x | x << 32) & 0x1f00000000ffffull;
        x = (x | x << 16) & 0x1f0000ff0000ffull;
        x = (x | x << 8) & 0x100f00f00f00f00full;
        x = (x | x << 4) & 0x10c30c30c30c30c3ull;
        x = (x | x << 2) & 0x1249249249249249ull;
        code |= x << k;
    }
    out[i] = code;
}
__global__ void life(const unsigned *in, unsigned *out, int words, int rows)
{
    int x = blockIdx.x * blockDim.x + threadIdx.x, y = blockIdx.y;
    if (x >= words)
        return;
    unsigned one = 0, two = 0, four = 0, self = in[y * words + x];
#pragma unroll
    for (int dy = -1; dy <= 1; dy++) {
        int yy = (y + dy + rows) % rows;
        unsigned l = in[yy * words + (x + words - 1) % words], m = in[yy * words + x], r = in[yy * words + (x + 1) % words];
        unsigned n[3] = {m << 1 | l >> 31, dy ? m : 0, m >> 1 | r << 31};
#pragma unroll
        for (int k = 0; k < 3; k++) {
            unsigned carry = one & n[k];
            one ^= n[k];
            four |= two & carry;
            two ^= carry;
        }
    }
    out[y * words + x] = two & ~four & (one | self);
}
__global__ void remainders(const int *a, const unsigned *b, const long long *c, long long *out, int d, int count)
{
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i < count)
        out[i] = a[i] % d + b[i] / 7 + c[i] / (a[i] | 1);
}
__global__ void collatz(const unsigned long long *in, int *out, int count)
{
    int i = blockIdx.x * blockDim.x + threadIdx.x, steps = 0;
    if (i >= count)
        return;
    for (unsigned long long v = in[i]; v > 1; steps++)
        v = v & 1 ? 3 * v + 1 : v / 2;
    out[i] = steps;
}
__global__ void bigAdd(const unsigned *a, const unsigned *b, unsigned *c, int count)
{
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    unsigned long long carry = 0;
    if (i >= count)
        return;
#pragma unroll
    for (int k = 0; k < 16; k++) {
        carry += (unsigned long long)a[i + k * count] + b[i + k * count];
        c[i + k * count] = (unsigned)carry;
        carry >>= 32;
    }
}
__global__ void bigMultiply(const unsigned *a, const unsigned *b, unsigned *c, int count)
{
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i >= count)
        return;
    unsigned r[16] = {};
#pragma unroll
    for (int j = 0; j < 8; j++) {
        unsigned long long carry = 0, x = a[i + j * count];
#pragma unroll
        for (int k = 0; k < 8; k++) {
            carry += x * b[i + k * count] + r[j + k];
            r[j + k] = (unsigned)carry;
            carry >>= 32;
        }
        r[j + 8] = (unsigned)carry;
    }
#pragma unroll
    for (int k = 0; k < 16; k++)
        c[i + k * count] = r[k];
}
__global__ void interpret(const unsigned char *__restrict__ program, int length, int *data, int count)
{
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i >= count)
        return;
    int a = data[i], b = 0;
    for (int pc = 0; pc < length; pc++) {
        switch (program[pc]) {
        case 0: a += b; break;
        case 1: b = a; break;
        case 2: a = a * b + 1; break;
        case 3: a ^= b << 3; break;
        case 4: b = __popc(a); break;
        case 5: a = max(a, b); break;
        case 6: if (a < 0) pc += 2; break;
        default: a = -a; break;
        }
    }
    data[i] = a;
}
