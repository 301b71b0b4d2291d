/* Interned strings: equal texts have equal ids, so that names compare as integers and index side arrays.
 *
 * Ids are dense from 1; 0 (HD_NO_NAME) is no name. The texts live in the table's arena, each with a NUL behind,
 * until the table is freed.
 */
#ifndef HD_BASE_INTERN_H
#define HD_BASE_INTERN_H

#include "base/array.h"

typedef uint32_t hd_name;
enum { HD_NO_NAME = 0 };

typedef struct hd_name_entry {
    const char *text;
    uint32_t length;
    uint32_t hash; /* low half of XXH3 */
} hd_name_entry;

typedef struct hd_names {
    hd_arena arena;
    HD_ARRAY(hd_name_entry) entries; /* by id; entry 0 is the empty text */
    uint32_t *slots;                 /* open addressing, ids, 0 = free */
    uint32_t slot_mask;
} hd_names;

void hd_names_init(hd_names *names);
void hd_names_free(hd_names *names);
hd_name hd_names_add(hd_names *names, const char *text, size_t length);              /* finds or adds */
hd_name hd_names_find(const hd_names *names, const char *text, size_t length);       /* HD_NO_NAME where absent */
hd_name hd_names_add_string(hd_names *names, const char *text);                      /* of a NUL-terminated text */

static inline const char *hd_names_text(const hd_names *names, hd_name name) { return names->entries.items[name].text; }
static inline uint32_t hd_names_length(const hd_names *names, hd_name name) { return names->entries.items[name].length; }

#endif
