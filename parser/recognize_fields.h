/* Distinguishes listings with control fields from sources of the assemblers that introduced these (maxas, TuringAs). */
#ifndef HD_PARSER_RECOGNIZE_FIELDS_H
#define HD_PARSER_RECOGNIZE_FIELDS_H

#include <stdbool.h>

/* Whether instructions with control fields (01:-:-:Y:5) follow, after labels. `field` is the text's first word after
 * comments. */
bool hd_begins_with_field(const char *text);
/* Whether such a text has what only an assembler expands: blocks (<REGISTER_MAPPING>), programs ([+ .. +]), names in
 * place of registers, or the fields of KeplerAs. Linear in the text. */
bool hd_is_assembler_source(const char *text);

#endif
