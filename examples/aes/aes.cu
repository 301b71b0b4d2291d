// AES-128 of many blocks, each encrypted by itself, with table look-ups.
//   makeTables  one thread for each byte: the substitution box from inverses in GF(2^8), and the four tables that join
//               substitution and mixing of columns
//   expandKey   one thread: the eleven round keys
//   encrypt     one thread for each block of 16 bytes, tables in shared memory, rounds unrolled
// A column is a word with its first byte lowest.
//
// Evaluated by: GPGPU-Sim's suite (AES).
// Memory: vector reads and writes of four words, shared memory with an index a lane, round keys by broadcast.

#define THREADS 128
#define ROUNDS 10

typedef unsigned int word;

static __device__ __forceinline__ word times2(word a) { return (a << 1 ^ (a & 0x80 ? 0x11b : 0)) & 0xff; }

static __device__ word product(word a, word b)
{
    word sum = 0;
    for (int bit = 0; bit < 8; bit++) {
        sum ^= b & 1 ? a : 0;
        a = times2(a);
        b >>= 1;
    }
    return sum;
}

// a^254 is the inverse, and 0 for 0.
static __device__ word substitute(word a)
{
    word square = product(a, a), power = square;
    for (int i = 0; i < 6; i++) {
        square = product(square, square);
        power = product(power, square);
    }
    word repeated = power | power << 8;
    return (power ^ repeated >> 7 ^ repeated >> 6 ^ repeated >> 5 ^ repeated >> 4 ^ 0x63) & 0xff;
}

// tables[0] to [3]: what a byte in row 0 to 3 of a column adds to the mixed column; sbox: the substitution alone.
extern "C" __global__ void __launch_bounds__(256)
    makeTables(word *__restrict__ tables, unsigned char *__restrict__ sbox)
{
    word s = substitute(threadIdx.x);
    word column = times2(s) | s << 8 | s << 16 | (times2(s) ^ s) << 24;
    sbox[threadIdx.x] = s;
    for (int row = 0; row < 4; row++)
        tables[row * 256 + threadIdx.x] = __funnelshift_l(column, column, 8 * row);
}

extern "C" __global__ void expandKey(const word *__restrict__ key, const unsigned char *__restrict__ sbox,
                                     word *__restrict__ round_keys)
{
    word constant = 1;
    for (int i = 0; i < 4; i++)
        round_keys[i] = key[i];
    for (int i = 4; i < 4 * (ROUNDS + 1); i++) {
        word last = round_keys[i - 1];
        if (i % 4 == 0) {
            word turned = __funnelshift_r(last, last, 8);
            last = 0;
            for (int byte = 0; byte < 4; byte++)
                last |= (word)sbox[turned >> 8 * byte & 0xff] << 8 * byte;
            last ^= constant;
            constant = times2(constant);
        }
        round_keys[i] = round_keys[i - 4] ^ last;
    }
}

extern "C" __global__ void __launch_bounds__(THREADS)
    encrypt(const uint4 *__restrict__ plain, uint4 *__restrict__ cipher, const word *__restrict__ tables,
            const unsigned char *__restrict__ sbox, const word *__restrict__ round_keys, int blocks)
{
    __shared__ word table[4][256];
    __shared__ word box[256];

    for (int i = threadIdx.x; i < 256; i += THREADS) {
#pragma unroll
        for (int row = 0; row < 4; row++)
            table[row][i] = tables[row * 256 + i];
        box[i] = sbox[i];
    }
    __syncthreads();

    int id = blockIdx.x * THREADS + threadIdx.x;
    if (id >= blocks)
        return;
    uint4 in = plain[id];
    word s[4] = {in.x ^ round_keys[0], in.y ^ round_keys[1], in.z ^ round_keys[2], in.w ^ round_keys[3]};
    word t[4];
#pragma unroll
    for (int round = 1; round < ROUNDS; round++) {
#pragma unroll
        for (int c = 0; c < 4; c++)
            t[c] = table[0][s[c] & 0xff] ^ table[1][s[(c + 1) % 4] >> 8 & 0xff] ^
                   table[2][s[(c + 2) % 4] >> 16 & 0xff] ^ table[3][s[(c + 3) % 4] >> 24] ^ round_keys[4 * round + c];
#pragma unroll
        for (int c = 0; c < 4; c++)
            s[c] = t[c];
    }
#pragma unroll
    for (int c = 0; c < 4; c++)
        t[c] = (box[s[c] & 0xff] | box[s[(c + 1) % 4] >> 8 & 0xff] << 8 | box[s[(c + 2) % 4] >> 16 & 0xff] << 16 |
                box[s[(c + 3) % 4] >> 24] << 24) ^
               round_keys[4 * ROUNDS + c];
    cipher[id] = make_uint4(t[0], t[1], t[2], t[3]);
}
