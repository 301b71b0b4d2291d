/* SASS text to IR. */
#ifndef HD_PARSER_SASS_H
#define HD_PARSER_SASS_H

#include "ir/machine.h"

/* Reads a listing into a new module; called by hd_parse_ptx where the text is one. Errors are in the diagnostics. */
void hd_parse_sass(hd_module *module);

#endif
