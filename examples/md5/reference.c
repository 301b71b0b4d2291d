/* MD5 on the host, over bytes and with tables; it is tried on a published digest first. */
#include "../tools/fills.h"

enum { PIECES = 1000, PIECE = 96, BYTES = 8000, WINDOW = 48 };

static uint32_t sines[64];

static void block(uint32_t *state, const uint8_t *bytes)
{
    static const uint8_t turns[4][4] = {{7, 12, 17, 22}, {5, 9, 14, 20}, {4, 11, 16, 23}, {6, 10, 15, 21}};
    static const uint8_t factor[4] = {1, 5, 3, 7}, offset[4] = {0, 1, 5, 0};
    uint32_t s[4];
    memcpy(s, state, sizeof s);
    for (int i = 0; i < 64; i++) {
        const uint8_t *at = bytes + 4 * ((factor[i / 16] * i + offset[i / 16]) % 16);
        uint32_t word = at[0] | (uint32_t)at[1] << 8 | (uint32_t)at[2] << 16 | (uint32_t)at[3] << 24;
        uint32_t mixes[4] = {(s[1] & s[2]) | (~s[1] & s[3]), (s[1] & s[3]) | (s[2] & ~s[3]), s[1] ^ s[2] ^ s[3],
                             s[2] ^ (s[1] | ~s[3])};
        uint32_t sum = s[0] + mixes[i / 16] + word + sines[i];
        int by = turns[i / 16][i % 4];
        uint32_t turned = s[1] + (sum << by | sum >> (32 - by));
        s[0] = s[3];
        s[3] = s[2];
        s[2] = s[1];
        s[1] = turned;
    }
    for (int k = 0; k < 4; k++)
        state[k] += s[k];
}

static void md5(const uint8_t *bytes, size_t length, uint32_t *state)
{
    static const uint32_t start[4] = {0x67452301, 0xefcdab89, 0x98badcfe, 0x10325476};
    uint8_t padded[256] = {0};
    memcpy(padded, bytes, length);
    padded[length] = 0x80;
    size_t whole = (length + 9 + 63) / 64 * 64;
    padded[whole - 8] = (uint8_t)(length * 8);
    padded[whole - 7] = (uint8_t)(length * 8 >> 8);
    memcpy(state, start, sizeof start);
    for (size_t at = 0; at < whole; at += 64)
        block(state, padded + at);
}

int main(void)
{
    for (int i = 0; i < 64; i++)
        sines[i] = (uint32_t)(4294967296.0 * fabs(sin(i + 1)));
    static uint32_t digests[PIECES][4], marks[BYTES];
    md5((const uint8_t *)"abc", 3, digests[0]);
    if (digests[0][0] != 0x98500190 || digests[0][3] != 0x727fe128)
        return fprintf(stderr, "the digest of abc is wrong: %08x %08x\n", digests[0][0], digests[0][3]), 1;
    const uint8_t *stream = (const uint8_t *)uniform_words(PIECES * PIECE / 4, 0, 4294967296.0, 241);
    for (int i = 0; i < PIECES; i++)
        md5(stream + i * PIECE, PIECE, digests[i]);
    for (int i = 0; i + WINDOW <= BYTES; i++) {
        uint32_t state[4];
        md5(stream + i, WINDOW, state);
        marks[i] = state[0];
    }
    input("SINES", sines, sizeof sines);
    expect("DIGESTS", digests, sizeof digests);
    expect("MARKS", marks, sizeof marks);
    return 0;
}
