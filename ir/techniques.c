/* Table of techniques, expanded from ir/techniques.def. Lookup is linear; it runs per command line, not per
 * instruction. */
#include "ir/techniques.h"
#include "base/search.h"

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
    uint32_t found = HD_FIND_ROW(hd_techniques, HD_TECHNIQUE_COUNT, spelling, spelling, length);
    return found < HD_TECHNIQUE_COUNT ? (int)found : -1;
}
