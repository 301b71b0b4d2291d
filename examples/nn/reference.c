/* nn on the host: distances, then the nearest of each 256 places in their order. */
#include "../tools/fills.h"
#include <math.h>

enum { COUNT = 40000, GROUP = 256, GROUPS = (COUNT + GROUP - 1) / GROUP };

int main(void)
{
    float *distance = allocate(COUNT, sizeof *distance), *least = allocate(GROUPS, sizeof *least);
    int *which = allocate(GROUPS, sizeof *which);
    for (uint64_t i = 0; i < COUNT; i++) {
        float a = 30.0f - (float)fill_uniform(-90, 180, 23, 2 * i), b = 90.0f - (float)fill_uniform(-90, 180, 23, 2 * i + 1);
        distance[i] = sqrtf(a * a + b * b);
    }
    for (int group = 0; group < GROUPS; group++) {
        which[group] = group * GROUP;
        for (int i = group * GROUP; i < COUNT && i < (group + 1) * GROUP; i++)
            if (distance[i] < distance[which[group]])
                which[group] = i;
        least[group] = distance[which[group]];
    }
    expect("distance", distance, COUNT * sizeof *distance);
    expect("least", least, GROUPS * sizeof *least);
    expect("which", which, GROUPS * sizeof *which);
    return 0;
}
