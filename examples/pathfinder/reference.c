/* The cheapest paths on the host, row by row over the whole width. */
#include "../tools/fills.h"

enum { ROWS = 65, COLUMNS = 4000, STEP = 8 };

int main(void)
{
    int32_t *wall = uniform_ints(ROWS * COLUMNS, 0, 10, 121);
    for (int row = 1; row < ROWS; row++) {
        const int32_t *above = wall + (row - 1) * COLUMNS;
        for (int x = 0; x < COLUMNS; x++) {
            int32_t least = above[x];
            if (x > 0 && above[x - 1] < least)
                least = above[x - 1];
            if (x < COLUMNS - 1 && above[x + 1] < least)
                least = above[x + 1];
            wall[row * COLUMNS + x] += least;
        }
    }
    expect("A", wall + (ROWS - 1) * COLUMNS, COLUMNS * sizeof *wall);
    expect("B", wall + (ROWS - 1 - STEP) * COLUMNS, COLUMNS * sizeof *wall);
    return 0;
}
