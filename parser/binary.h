/* Machine code inside other files: objects, programs and shared libraries of the host (sections .nv_fatbin and
 * __nv_relfatbin), archives of objects, and fat binaries. */
#ifndef HD_PARSER_BINARY_H
#define HD_PARSER_BINARY_H

#include "parser/cubin.h"

typedef enum hd_binary_outcome {
    HD_BINARY_LISTED,
    HD_BINARY_IN_PART,    /* listed, with instructions that are not decoded, each with a warning (undecoded) */
    HD_BINARY_OTHER_CODE, /* not listed: the encoding of an architecture, *generation, is not known */
    HD_BINARY_REFUSED,    /* an error was reported: bad-cubin, or missing-code */
} hd_binary_outcome;

/* Writes the listings of all cubins of the file, one after the other, in the order of the file. Where there is more
 * than the cubin alone, each begins with the lines that cuobjdump writes before it ("arch = sm_90"). A linked program
 * has its relocatable code (nvcc -rdc=true) twice, of which the linked code is listed. Memory and time are in
 * proportion to the file and to what its compressed parts expand to, which is bounded. */
hd_binary_outcome hd_binary_list(hd_source *file, hd_listing_words words, hd_writer *listing, uint32_t *generation,
                                 hd_diagnostics *diagnostics);

#endif
