/* Origins of a compiler's output: the source positions that .loc of PTX names.
 *
 * The reader of a text fills them in (ir/origins.h); an origin is found by its offset in the text.
 */
#ifndef HD_BASE_ORIGINS_H
#define HD_BASE_ORIGINS_H

#include "base/source.h"

typedef struct hd_origin {
    const char *file;
    uint32_t line, column; /* column 0: unknown */
} hd_origin;

typedef struct hd_origin_place {
    hd_origin at, inlined; /* inlined: the call at which the code was inlined; file NULL: not inlined */
} hd_origin_place;

typedef struct hd_origin_range { /* from this offset to that of the next range */
    uint32_t begin, place;       /* place: index in places, or HD_NO_ORIGIN */
} hd_origin_range;
#define HD_NO_ORIGIN UINT32_MAX

typedef struct hd_origins {
    hd_arena arena; /* of names */
    HD_ARRAY(hd_origin_place) places;
    HD_ARRAY(hd_origin_range) ranges; /* ascending */
    bool in_listing;                  /* the text is a listing of machine code, not PTX */
} hd_origins;

void hd_origins_free(hd_origins *origins); /* NULL is allowed; frees the struct, too */

enum { HD_MOST_INLINED = 16 };
/* The positions of the code at the offset, innermost first: its own, then those of the calls at which it was inlined.
 * Returns their number; 0: unknown. */
uint32_t hd_source_origins(const hd_source *source, uint32_t offset, hd_origin origins[HD_MOST_INLINED]);

#endif
