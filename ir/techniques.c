/* Table of techniques, expanded from ir/techniques.def. Lookup is linear; it runs per command line, not per
 * instruction. */
#include "ir/techniques.h"

#include <string.h>

#define HD_TECHNIQUE(id, spelling, name, paper, pass, summary)
#define HD_PAPER(id, authors, title, venue, year) static const hd_paper paper_##id = {authors, title, venue, year};
#include "ir/techniques.def"
#undef HD_PAPER
#undef HD_TECHNIQUE

const hd_technique_info hd_techniques[HD_TECHNIQUE_COUNT] = {
#define HD_PAPER(id, authors, title, venue, year)
#define HD_TECHNIQUE(id, spelling, name, paper, pass, summary) \
    [HD_TECHNIQUE_##id] = {spelling, name, &paper_##paper, pass, summary},
#include "ir/techniques.def"
#undef HD_TECHNIQUE
#undef HD_PAPER
};

int hd_technique_find(const char *spelling, size_t length)
{
    for (int i = 0; i < HD_TECHNIQUE_COUNT; i++)
        if (strlen(hd_techniques[i].spelling) == length && memcmp(hd_techniques[i].spelling, spelling, length) == 0)
            return i;
    return -1;
}
