/* Sorted pairs; all keys are different, so that the order of the values follows from the keys. */
#include "../tools/fills.h"

enum { COUNT = 16384 };

typedef struct pair {
    uint32_t key, value;
} pair;

static int by_key(const void *a, const void *b)
{
    uint32_t x = ((const pair *)a)->key, y = ((const pair *)b)->key;
    return (x > y) - (x < y);
}

int main(void)
{
    static pair pairs[COUNT];
    static uint32_t keys[COUNT], values[COUNT];
    for (uint32_t i = 0; i < COUNT; i++)
        pairs[i] = (pair){(uint32_t)fill_uniform(0, 4294967296.0, 81, i), i};
    qsort(pairs, COUNT, sizeof *pairs, by_key);
    for (uint32_t i = 0; i < COUNT; i++) {
        keys[i] = pairs[i].key;
        values[i] = pairs[i].value;
        if (i && keys[i] == keys[i - 1])
            return fputs("two keys are the same\n", stderr), 1;
    }
    expect("KEYS", keys, sizeof keys);
    expect("VALUES", values, sizeof values);
    return 0;
}
