/* Lists of things with options, as command lines and tables have them: NAME [ '(' KEY ['=' VALUE] { ',' ... } ')' ].
 *
 * The pieces that readers of such lists share: lists of passes (passes/manager/pipeline.c) and of models
 * (driver/replay/replay_choose.c), and the options in a row of a table, "iw=3,shared". */
#ifndef HD_BASE_OPTION_LIST_H
#define HD_BASE_OPTION_LIST_H

#include "base/source.h"

typedef struct hd_option_cursor {
    hd_source *text;
    const char *at;
} hd_option_cursor;

typedef struct hd_option_item {
    const char *name, *value; /* name "": there is none; value NULL: no '=' follows */
    const char *begin;
} hd_option_item;

hd_span hd_option_span(const hd_option_cursor *cursor, const char *begin); /* to the cursor; at least one byte */
void hd_option_skip_blanks(hd_option_cursor *cursor);
bool hd_option_take(hd_option_cursor *cursor, char wanted);
/* Letters, digits and - _ + . : (for names such as "corf++"), in the arena; "" if there are none. `begin`: its
 * start. */
const char *hd_option_word(hd_option_cursor *cursor, hd_arena *arena, const char **begin);
hd_option_item hd_option_read(hd_option_cursor *cursor, hd_arena *arena); /* KEY or KEY=VALUE */

/* Finds what follows the last such key of "key=value,key": '=', ',' or the end; NULL: the key is not there. */
const char *hd_option_find(const char *list, const char *key);

#endif
