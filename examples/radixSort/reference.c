/* Pairs sorted by key, then by value: the values count up, so that this is the order of a stable sort. */
#include "../tools/fills.h"

enum { COUNT = 12288 };

typedef struct pair {
    uint32_t key, value;
} pair;

static int by_key(const void *a, const void *b)
{
    const pair *x = a, *y = b;
    return x->key != y->key ? (x->key > y->key) - (x->key < y->key) : (x->value > y->value) - (x->value < y->value);
}

int main(void)
{
    static pair pairs[COUNT];
    static uint32_t keys[COUNT], values[COUNT];
    for (uint32_t i = 0; i < COUNT; i++)
        pairs[i] = (pair){(uint32_t)fill_uniform(0, 4294967296.0, 221, i), i};
    qsort(pairs, COUNT, sizeof *pairs, by_key);
    for (uint32_t i = 0; i < COUNT; i++) {
        keys[i] = pairs[i].key;
        values[i] = pairs[i].value;
    }
    expect("KEYS", keys, sizeof keys);
    expect("VALUES", values, sizeof values);
    return 0;
}
