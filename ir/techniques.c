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

static hd_technique_info rows[HD_TECHNIQUE_ROOM] = {
#define HD_PAPER(id, authors, title, venue, year)
#define HD_TECHNIQUE(id, spelling, name, paper, pass, summary) \
    [HD_TECHNIQUE_##id] = {spelling, name, &paper_##paper, pass, summary},
#include "ir/techniques.def"
#undef HD_TECHNIQUE
#undef HD_PAPER
};
const hd_technique_info *const hd_techniques = rows;
uint32_t hd_technique_count = HD_TECHNIQUE_COUNT;

bool hd_technique_add(const hd_technique_info *row) { return HD_ADD_ROW(rows, hd_technique_count, row); }

int hd_technique_find(const char *spelling, size_t length)
{
    uint32_t found = HD_FIND_ROW(rows, hd_technique_count, spelling, spelling, length);
    return found < hd_technique_count ? (int)found : -1;
}
