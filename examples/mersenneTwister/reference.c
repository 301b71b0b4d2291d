/* The generators on the host, each as the recurrence over its whole history; the normal numbers in double. */
#include "../tools/fills.h"

enum { GENERATORS = 512, NUMBERS = 24, WORDS = 19, MIDDLE = 9 };

int main(void)
{
    const uint32_t *parameters = uniform_words(4 * GENERATORS, 0, 4294967296.0, 231);
    static float uniform[NUMBERS][GENERATORS], normal[NUMBERS][GENERATORS];
    for (int g = 0; g < GENERATORS; g++) {
        const uint32_t *p = parameters + 4 * g;
        uint32_t s[WORDS + NUMBERS] = {p[3]};
        for (uint32_t i = 1; i < WORDS; i++)
            s[i] = UINT32_C(1812433253) * (s[i - 1] ^ (s[i - 1] >> 30)) + i;
        for (int i = 0; i < NUMBERS; i++) {
            uint32_t both = (s[i] & ~UINT32_C(1)) | (s[i + 1] & 1);
            uint32_t x = s[i + WORDS] = s[i + MIDDLE] ^ (both >> 1) ^ (both & 1 ? p[0] : 0);
            x ^= x >> 12;
            x ^= (x << 7) & p[1];
            x ^= (x << 15) & p[2];
            x ^= x >> 18;
            uniform[i][g] = ((float)x + 1) * 0x1p-32f;
        }
        for (int i = 0; i < NUMBERS; i += 2) {
            double radius = sqrt(-2 * log(uniform[i][g])), angle = 6.28318530717958647692 * uniform[i + 1][g];
            normal[i][g] = (float)(radius * cos(angle));
            normal[i + 1][g] = (float)(radius * sin(angle));
        }
    }
    expect("UNIFORM", uniform, sizeof uniform);
    expect("NORMAL", normal, sizeof normal);
    return 0;
}
