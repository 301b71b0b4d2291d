/* Cubins, the files of machine code that ptxas writes, as the listing that nvdisasm makes of them.
 *
 * The listing has the sections that say something about the code, in the order of the file and, section by section, in
 * nvdisasm's words: .nv.info and .nv.info.NAME (registers, frames, parameters), .text.NAME, .nv.shared.NAME,
 * .nv.constant*; and the source lines of its line table, as nvdisasm -gi has them (line_table.h). It leaves out notes,
 * call graphs, other debugging information, and what relocations will change. */
#ifndef HD_PARSER_CUBIN_H
#define HD_PARSER_CUBIN_H

#include "base/diagnostics.h"
#include "base/writer.h"

typedef enum hd_cubin_outcome {
    HD_CUBIN_LISTED,
    HD_CUBIN_IN_PART,    /* listed, with instructions that are not decoded, each with a warning (undecoded) */
    HD_CUBIN_EMPTY,      /* listed, and there is no code in it */
    HD_CUBIN_OTHER_CODE, /* not listed: the encoding of the architecture, *generation, is not known */
    HD_CUBIN_DAMAGED,    /* an error was reported (bad-cubin) */
} hd_cubin_outcome;

typedef enum hd_listing_words {
    HD_LISTING_PLAIN,
    HD_LISTING_HEX, /* with the word of each instruction, as nvdisasm -hex prints it: the control codes are in it */
} hd_listing_words;

/* Writes the listing of a cubin (hd_binary_of). Memory and time are in proportion to the file. `generation`: the number
 * of its architecture, where it could be read. */
hd_cubin_outcome hd_cubin_list(hd_source *cubin, hd_listing_words words, hd_writer *listing, uint32_t *generation,
                               hd_diagnostics *diagnostics);

/* What made a cubin, by its section .note.nv.tkinfo: "ptxas 13.0.88", in the arena. NULL: it does not say, or is no
 * cubin. */
const char *hd_cubin_tool(hd_source *cubin, hd_arena *arena);

#endif
