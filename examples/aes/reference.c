/* AES-128 on the host, byte by byte as the standard (FIPS 197) puts it, without joined tables; the standard's own
 * example is tried first. */
#include "../tools/fills.h"

enum { BLOCKS = 8000, ROUNDS = 10, KEY_BYTES = 16 * (ROUNDS + 1) };

static uint8_t product(uint8_t a, uint8_t b)
{
    uint8_t sum = 0;
    for (; b; b >>= 1) {
        if (b & 1)
            sum ^= a;
        a = (uint8_t)(a << 1 ^ (a & 0x80 ? 0x1b : 0));
    }
    return sum;
}

/* The inverse is looked for; then each bit is a sum of five. */
static void make_sbox(uint8_t *sbox)
{
    for (int a = 0; a < 256; a++) {
        int inverse = 0;
        for (int b = 1; b < 256; b++)
            if (product((uint8_t)a, (uint8_t)b) == 1)
                inverse = b;
        sbox[a] = 0;
        for (int bit = 0; bit < 8; bit++) {
            int sum = 0x63 >> bit;
            for (int k = 0; k < 5; k++)
                sum ^= inverse >> (bit + (k ? k + 3 : 0)) % 8;
            sbox[a] |= (uint8_t)((sum & 1) << bit);
        }
    }
}

static void expand_key(const uint8_t *key, const uint8_t *sbox, uint8_t *keys)
{
    uint8_t constant = 1;
    memcpy(keys, key, 16);
    for (int i = 16; i < KEY_BYTES; i++) {
        uint8_t last = keys[i - 4];
        if (i % 16 < 4)
            last = sbox[keys[i % 4 == 3 ? i - 7 : i - 3]];
        if (i % 16 == 0) {
            last ^= constant;
            constant = product(constant, 2);
        }
        keys[i] = keys[i - 16] ^ last;
    }
}

static void encrypt(uint8_t *block, const uint8_t *sbox, const uint8_t *keys)
{
    static const uint8_t mix[4] = {2, 3, 1, 1};
    for (int round = 0; round <= ROUNDS; round++) {
        uint8_t moved[16];
        for (int i = 0; i < 16; i++)
            moved[i] = round ? sbox[block[(i + 4 * (i % 4)) % 16]] : block[i];
        for (int i = 0; i < 16; i++) {
            uint8_t byte = moved[i];
            if (round > 0 && round < ROUNDS) {
                byte = 0;
                for (int k = 0; k < 4; k++)
                    byte ^= product(moved[i / 4 * 4 + k], mix[(k - i % 4 + 4) % 4]);
            }
            block[i] = byte ^ keys[16 * round + i];
        }
    }
}

static void try_example(const uint8_t *sbox)
{
    static const uint8_t wanted[16] = {0x69, 0xc4, 0xe0, 0xd8, 0x6a, 0x7b, 0x04, 0x30,
                                       0xd8, 0xcd, 0xb7, 0x80, 0x70, 0xb4, 0xc5, 0x5a};
    uint8_t key[16], block[16], keys[KEY_BYTES];
    for (int i = 0; i < 16; i++) {
        key[i] = (uint8_t)i;
        block[i] = (uint8_t)(0x11 * i);
    }
    expand_key(key, sbox, keys);
    encrypt(block, sbox, keys);
    if (memcmp(block, wanted, sizeof wanted) != 0) {
        fputs("aes: the standard's example comes out wrong\n", stderr);
        exit(1);
    }
}

int main(void)
{
    uint8_t sbox[256], keys[KEY_BYTES];
    uint8_t *text = uniform_bytes(BLOCKS * 16, 0, 256, 221), *key = uniform_bytes(16, 0, 256, 222);
    make_sbox(sbox);
    try_example(sbox);
    expand_key(key, sbox, keys);
    for (int i = 0; i < BLOCKS; i++)
        encrypt(text + 16 * i, sbox, keys);
    expect("CIPHER", text, BLOCKS * 16);
    expect("SBOX", sbox, sizeof sbox);
    expect("ROUND_KEYS", keys, sizeof keys);
    return 0;
}
