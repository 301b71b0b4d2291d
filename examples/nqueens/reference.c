/* Queens placed row by row on the host, each compared with those before; counted for the CTA that begins so. */
#include "../tools/fills.h"

enum { N = 11, GIVEN = 2, THREADS = 96, CTAS = 2 };

static int free_of_attack(const int *columns, int row, int column)
{
    for (int r = 0; r < row; r++)
        if (columns[r] == column || abs(columns[r] - column) == row - r)
            return 0;
    return 1;
}

static uint32_t solutions(int *columns, int row)
{
    uint32_t count = row == N;
    for (int column = 0; row < N && column < N; column++)
        if (free_of_attack(columns, row, column)) {
            columns[row] = column;
            count += solutions(columns, row + 1);
        }
    return count;
}

int main(void)
{
    uint32_t counts[CTAS] = {0}, all = 0;
    for (int id = 0; id < N * N; id++) {
        int columns[N] = {id % N, id / N};
        if (free_of_attack(columns, 1, columns[1]))
            counts[id / THREADS] += solutions(columns, GIVEN);
    }
    for (int i = 0; i < CTAS; i++)
        all += counts[i];
    expect("COUNTS", counts, sizeof counts);
    return all == 2680 ? 0 : 1;
}
