/* Renders collected diagnostics.
 *
 * Text, in the style of C compilers:
 *
 *   kernel.ptx:4:17: error: register %r9 is not declared [undeclared-register]
 *       4 |     add.s32 %r1, %r9, 1;
 *         |                  ^~~
 *   kernel.ptx:2:5: note: ...
 *
 * A diagnostic about code (HD_ABOUT_CODE of base/diagnostics.def), and its notes, start with the source line that .loc
 * names:
 *
 *   kernel.cu:42:7: error: out-of-bounds access of 4 bytes ... [kernel-fault]
 *      42 |   out[i] = a[i];
 *         |       ^
 *   kernel.cu:50:3: note: inlined here
 *   kernel.ptx:93:2: note: in the PTX
 *      93 |     st.global.u32 [%rd8], %r5;
 *         |     ^~~~~~~~~~~~~~~~~~~~~~~~~~
 *
 * The line is shown if the source file can be read.
 *
 * Columns count bytes from 1. In the source line shown, tabs expand to stops of eight, bytes that are not printable
 * ASCII are shown as <hex>, and of a line too long for the terminal only the part around the caret is shown. The span
 * is marked up to the end of its first line.
 *
 * JSON: {"heddle", "schema": 1, "diagnostics": [{"severity", "slug", "message", "place": {"file", "line", "column",
 * "end_line", "end_column", "begin", "end"} | null, "source": [{"file", "line", "column"}], "notes": [{"message",
 * "place", "source"}]}], "errors", "warnings"}; begin and end are byte offsets; source is the origin of the code,
 * innermost first, then the calls at which it was inlined; errors and warnings count all, shown or not.
 *
 * SARIF: one run of SARIF 2.1.0 with the rules that occur. The location of a diagnostic about code is the source line;
 * the PTX, and inlining locations, are related locations.
 */
#ifndef HD_EMITTERS_DIAGNOSTICS_H
#define HD_EMITTERS_DIAGNOSTICS_H

#include "base/diagnostics.h"
#include "base/source_files.h"
#include "base/writer.h"

typedef enum hd_diagnostics_format {
    HD_DIAGNOSTICS_TEXT,
    HD_DIAGNOSTICS_JSON,
    HD_DIAGNOSTICS_SARIF
} hd_diagnostics_format;

/* Writes all that were kept, in the order of reporting. Text: nothing if there are none; a last line gives the number
 * that the limit dropped. `colour`: ANSI escapes, text only. `files`: source files to show lines of; NULL: none. */
void hd_emit_diagnostics(hd_writer *writer, const hd_diagnostics *diagnostics, hd_diagnostics_format format,
                         bool colour, hd_source_files *files);

#endif
