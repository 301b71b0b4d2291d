/* Streaming JSON, for outputs too large for a tree: linear, constant memory. */
#ifndef HD_EMITTERS_JSON_H
#define HD_EMITTERS_JSON_H

#include "base/writer.h"

enum { HD_JSON_DEPTH = 16 };
#define HD_JSON_EXACT (1ull << 53) /* numbers up to it are the same in all readers */

typedef struct hd_json {
    hd_writer *out;
    uint32_t depth;
    bool begun[HD_JSON_DEPTH]; /* by depth: has a member already */
    char closers[HD_JSON_DEPTH];
    uint32_t compact; /* from this depth on in one line; 0: never */
} hd_json;

/* `key`: NULL in an array and at the root. Close open objects and arrays innermost first. With `compact`, all of it is
 * on one line. */
void hd_json_object(hd_json *json, const char *key);
void hd_json_array(hd_json *json, const char *key);
void hd_json_compact_object(hd_json *json, const char *key);
void hd_json_compact_array(hd_json *json, const char *key);
void hd_json_end(hd_json *json);
void hd_json_text(hd_json *json, const char *key,
                  const char *text); /* NULL: null; bytes that are no UTF-8 become U+FFFD */
/* Above HD_JSON_EXACT, a string of its digits. */
void hd_json_number(hd_json *json, const char *key, uint64_t value);
void hd_json_real(hd_json *json, const char *key, double value); /* 9 digits; null if it is not finite */
void hd_json_bool(hd_json *json, const char *key, bool value);
void hd_json_null(hd_json *json, const char *key);
/* Only the quoted text. */
bool hd_json_is_utf8(const char *text);
void hd_json_quote(hd_writer *writer, const char *text, size_t length);
/* Without '<', so that no text can end the element that it is in, and with \n for a line end. */
void hd_json_quote_in_page(hd_writer *writer, const char *text, size_t length);

#endif
