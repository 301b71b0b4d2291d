/* The rows of ir/techniques.def, for code that handles techniques generically. */
#ifndef HD_IR_TECHNIQUES_H
#define HD_IR_TECHNIQUES_H

#include "base/rows.h"
#include <stddef.h>
#include <stdint.h>

typedef enum hd_technique {
#define HD_PAPER(id, authors, title, venue, year)
#define HD_TECHNIQUE(id, spelling, name, paper, pass, summary) HD_TECHNIQUE_##id,
#include "ir/techniques.def"
#undef HD_TECHNIQUE
#undef HD_PAPER
    HD_TECHNIQUE_COUNT, /* then those of plug-ins */
    HD_TECHNIQUE_ROOM = HD_TECHNIQUE_COUNT + HD_PLUGIN_ROWS
} hd_technique;

typedef struct hd_paper {
    const char *authors, *title, *venue;
    uint32_t year;
} hd_paper;

typedef struct hd_technique_info {
    const char *spelling; /* the name for -p and --technique */
    const char *name;     /* in its paper */
    const hd_paper *paper;
    const char *pass; /* "": hardware-only technique */
    const char *summary;
} hd_technique_info;

extern const hd_technique_info *const hd_techniques;
extern uint32_t hd_technique_count;
bool hd_technique_add(const hd_technique_info *row);        /* of a plug-in; false: there is no room */
int hd_technique_find(const char *spelling, size_t length); /* hd_technique, or -1 */

#endif
