/* vectorAdd on the host: c = a + b. */
#include "../tools/fills.h"

enum { COUNT = 50000 };

int main(void)
{
    float *c = allocate(COUNT, sizeof *c);
    for (uint64_t i = 0; i < COUNT; i++)
        c[i] = (float)fill_uniform(-1, 1, 7, i) + (float)fill_iota(0, 1, i);
    expect("C", c, COUNT * sizeof *c);
    return 0;
}
