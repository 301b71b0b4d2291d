/* The queries answered on the host by walking through the sorted keys; no tree. */
#include "../tools/fills.h"

enum { RECORDS = 20000, QUERIES = 512 };

static int32_t key_of(int record) { return 5 + 3 * record; }

int main(void)
{
    int32_t *values = uniform_ints(RECORDS, 0, 1000000, 41);
    int32_t *queries = uniform_ints(QUERIES, 0, 60010, 42);
    int32_t *lows = uniform_ints(QUERIES, 0, 30000, 43);
    int32_t *highs = uniform_ints(QUERIES, 30000, 60010, 44);
    int32_t answers[QUERIES], first[QUERIES], length[QUERIES];
    for (int q = 0; q < QUERIES; q++) {
        answers[q] = -1;
        first[q] = 0;
        length[q] = 0;
        for (int r = 0; r < RECORDS; r++) {
            if (key_of(r) == queries[q])
                answers[q] = values[r];
            first[q] += key_of(r) < lows[q];
            length[q] += key_of(r) >= lows[q] && key_of(r) <= highs[q];
        }
    }
    expect("ANSWERS", answers, sizeof answers);
    expect("FIRST", first, sizeof first);
    expect("LENGTH", length, sizeof length);
    return 0;
}
