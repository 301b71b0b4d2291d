/* What a file is that is not what it was taken for: binaries by their magic bytes, texts by their first words. */
#ifndef HD_PARSER_RECOGNIZE_H
#define HD_PARSER_RECOGNIZE_H

#include "base/diagnostics.h"

/* Reports not-ptx, with what to do, where the source is a known kind of file other than PTX. false: it may be PTX.
 * Looks at the beginning only, behind white space and comments. */
bool hd_refuse_foreign(hd_source *source, hd_diagnostics *diagnostics);

/* The same where a launch file is wanted: reports not-launch-file, also for PTX. */
bool hd_refuse_foreign_launch(hd_source *source, hd_diagnostics *diagnostics);

#endif
