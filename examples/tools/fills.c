/* Prints the first values of each generator: the table at the end of docs/launch-fills.md. */
#include "fills.h"

int main(void)
{
    for (uint64_t i = 0; i < 4; i++)
        printf("%llu: word %016llx iota[-0.3,0.1] %.17g uniform[-1,1] %.17g normal[0,1] %.17g, seed 7\n",
               (unsigned long long)i, (unsigned long long)fill_word(7, i), fill_iota(-0.3, 0.1, i),
               fill_uniform(-1, 1, 7, i), fill_normal(0, 1, 7, i));
    return 0;
}
