/* Walks JSON in place, to find members of objects without building anything: a listing of machine code in JSON is read
 * and annotated as text. Tolerates what heddle adds between tokens: comments, and `.heddle ...;` statements.
 *
 * Positions are offsets in a text, before `end`. No recursion; linear in what is walked over.
 */
#ifndef HD_BASE_JSON_TEXT_H
#define HD_BASE_JSON_TEXT_H

#include "base/scan.h"

#define HD_JSON_NONE 0xffffffffu

/* Skips white space, comments and .heddle statements. */
uint32_t hd_json_skip(const char *text, uint32_t at, uint32_t end);
/* The end of the string that starts with the quote at `at`; HD_JSON_NONE: it is not closed. */
uint32_t hd_json_string_end(const char *text, uint32_t at, uint32_t end);

/* The members of an object, in order. */
typedef struct hd_json_walk {
    const char *text;
    uint32_t at, end;   /* next byte to read */
    hd_span key, value; /* of the member: the key without its quotes, the value with them */
    bool broken;        /* malformed at `at` */
} hd_json_walk;
void hd_json_walk_start(hd_json_walk *walk, const char *text, hd_span object); /* starts with its brace */
/* The key of the next member: `at` is then at its value. false: the object ends, before `at`, or is malformed. */
bool hd_json_next_key(hd_json_walk *walk);
bool hd_json_take_value(hd_json_walk *walk); /* false: malformed */
bool hd_json_is_key(const hd_json_walk *walk, const char *name);

/* The string that an object has under a name, without quotes and the blanks around it; empty if it has none. */
hd_span hd_json_find_string(const char *text, hd_span object, const char *name);
/* The same of a member's value. */
hd_span hd_json_content(const hd_json_walk *walk);

#endif
