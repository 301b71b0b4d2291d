/* Links PTX modules to one text, by name, as a device link does with objects of relocatable device code.
 *
 * Modules of one space share their names: an `.extern` is the definition of that name in another module; of several
 * `.weak` or `.common` definitions the first remains; two `.visible` ones are an error (HD_DIAG_REDECLARED). Modules of
 * different spaces share none but functions that nobody defines, which are the device runtime's. Names of one module
 * alone (without linkage), and `.extern .shared` arrays, never meet. Of names that clash, the later ones get a suffix.
 *
 * The text holds the prototypes of all functions, then variables, then functions, since PTX declares before use. The
 * version is the highest; so is the target, of the lowest of each space. A single module remains as it is. O(n) in the
 * texts. */
#ifndef HD_PARSER_LINK_H
#define HD_PARSER_LINK_H

#include "base/writer.h"
#include "ir/ir.h"

typedef struct hd_link_name { /* a name that changed */
    uint32_t space;
    const char *was, *now; /* in the result's arena */
} hd_link_name;

typedef struct hd_link_result {
    hd_arena arena;
    hd_writer text;
    HD_ARRAY(hd_link_name) renamed;
    HD_ARRAY(hd_module *) modules; /* that diagnostics refer to */
} hd_link_result;

/* false with diagnostics that refer to the sources. spaces: by source. Free the result in any case. */
bool hd_link_ptx(const hd_source *sources, const uint32_t *spaces, uint32_t count, hd_link_result *result,
                 hd_diagnostics *diagnostics);
/* The name in the linked text. */
const char *hd_link_find(const hd_link_result *result, uint32_t space, const char *name);
void hd_link_free(hd_link_result *result);

#endif
