/* Reads a listing of machine code into a module. Called by hd_parse_ptx() where the options take listings. */
#ifndef HD_PARSER_SASS_H
#define HD_PARSER_SASS_H

#include "ir/ir.h"

/* Errors and warnings are in the module's diagnostics. */
void hd_sass_read(hd_module *module);

#endif
