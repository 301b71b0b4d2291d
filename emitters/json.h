/* Streaming JSON: linear, constant memory, no tree. All JSON that heddle writes comes from here; jansson only reads. */
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
    bool dense;       /* no blanks in what is in one line, and no line end after the root */
    bool long_reals;  /* 12 digits instead of 9 */
} hd_json;

/* `key`: NULL in an array and at the root. Close open objects and arrays innermost first. With `compact`, all of it is
 * on one line. */
void hd_json_object(hd_json *json, const char *key);
void hd_json_array(hd_json *json, const char *key);
void hd_json_compact_object(hd_json *json, const char *key);
void hd_json_compact_array(hd_json *json, const char *key);
void hd_json_end(hd_json *json);
/* NULL: null. Bytes that are no UTF-8 become U+FFFD. */
void hd_json_text(hd_json *json, const char *key, const char *text);
void hd_json_characters(hd_json *json, const char *key, const char *text, size_t length);
/* Above HD_JSON_EXACT, a string of its digits. */
void hd_json_number(hd_json *json, const char *key, uint64_t value);
void hd_json_count(hd_json *json, const char *key, uint64_t count); /* UINT64_MAX, which is no count: null */
void hd_json_signed(hd_json *json, const char *key, int64_t value); /* all digits */
/* With a point or an exponent, so that readers see what is no integer; null if it is not finite. */
void hd_json_real(hd_json *json, const char *key, double value);
void hd_json_bool(hd_json *json, const char *key, bool value);
void hd_json_null(hd_json *json, const char *key);
/* Only the quoted text, without '<', so that no text can end the element that it is in, and with \n for a line end. */
void hd_json_quote_in_page(hd_writer *writer, const char *text, size_t length);

#endif
