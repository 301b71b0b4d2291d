/* The score matrix on the host, row by row. */
#include "../tools/fills.h"

enum { COLUMNS = 257, LETTERS = 24, PENALTY = 10 };

static int32_t larger(int32_t a, int32_t b) { return a > b ? a : b; }

int main(void)
{
    uint8_t *down = uniform_bytes(COLUMNS, 0, LETTERS, 111), *across = uniform_bytes(COLUMNS, 0, LETTERS, 112);
    int32_t *substitution = uniform_ints(LETTERS * LETTERS, -5, 12, 113);
    int32_t *scores = allocate(COLUMNS * COLUMNS, sizeof *scores);
    for (int y = 0; y < COLUMNS; y++)
        for (int x = 0; x < COLUMNS; x++) {
            int32_t *score = scores + y * COLUMNS + x;
            if (x == 0 || y == 0) {
                *score = -(x + y) * PENALTY;
                continue;
            }
            int32_t paired = score[-COLUMNS - 1] + substitution[down[y] * LETTERS + across[x]];
            *score = larger(paired, larger(score[-1], score[-COLUMNS]) - PENALTY);
        }
    expect("SCORES", scores, COLUMNS * COLUMNS * sizeof *scores);
    return 0;
}
