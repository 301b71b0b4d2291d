/* The bytes of `.section .heddle`: the codec used by writer and reader. Layout: heddle-annotations(7), "Section".
 *
 * This file deals with bytes and the IR, not with PTX text: parser/annotations_section.c extracts the bytes from `.b8`
 * lines, and emitters/ir/section.c writes such lines. A payload encodes its anchor, value type and inline bits, so that
 * a reader can skip the entries of an unknown kind.
 */
#ifndef HD_IR_SECTION_H
#define HD_IR_SECTION_H

#include "ir/annotations.h"

HD_ARRAY_TYPE(hd_bytes, uint8_t);

enum {
    HD_SECTION_MAJOR = 1,
    HD_SECTION_MINOR = 0,
    HD_SECTION_HEADER_BYTES = 12,
    HD_SECTION_CHECKSUM_BYTES = 8,
    HD_RECORD_HEADER_BYTES = 6,
    HD_RECORD_FUNCTION = 1,          /* u64 hash, name */
    HD_RECORD_FIRST_ANNOTATION = 16, /* lower kinds are the section's own records */
};
#define HD_SECTION_NAME ".heddle"

/* True for `.section .heddle {..}` among a module's statements. */
bool hd_statement_is_annotation_section(const hd_module *module, const hd_statement *statement);

/* ---- writing: begin, add each function in text order, end -------------------------------------------------------- */

void hd_section_begin(hd_bytes *out);
/* Adds all annotations of a function (sorted) and its foreign records. `hash` is hd_function_hash. */
void hd_section_add_function(hd_bytes *out, const hd_function *function, uint64_t hash);
/* Sets length and checksum. False if the records exceed the layout's limit (4 GiB). */
bool hd_section_end(hd_bytes *out);

/* ---- reading ----------------------------------------------------------------------------------------------------- */

typedef struct hd_section_record {
    uint16_t kind;
    uint32_t length;
    const uint8_t *payload;
} hd_section_record;

typedef struct hd_section_reader {
    const uint8_t *bytes;
    uint32_t at, end;
} hd_section_reader;

typedef enum hd_section_status {
    HD_SECTION_OK,
    HD_SECTION_END,       /* no further record */
    HD_SECTION_MALFORMED, /* bad magic or length, or a record that does not fit */
    HD_SECTION_CHECKSUM,
    HD_SECTION_VERSION, /* unsupported major version */
} hd_section_status;

hd_section_status hd_section_open(hd_section_reader *reader, const uint8_t *bytes, uint32_t length);
hd_section_status hd_section_next(hd_section_reader *reader, hd_section_record *record);

/* The parts of a function record; false if it is too short. The name is not NUL-terminated. */
bool hd_section_function(const hd_section_record *record, uint64_t *hash, const char **name, uint32_t *name_length);

/* Appends the record's annotations to the set. Checks anchor, type, order, ordinals, slots and registers against the
 * function. Returns NULL, or the error (a static string). `keys` is built at the first list of registers; the caller
 * frees it.
 */
const char *hd_section_decode(const hd_section_record *record, const hd_annotation_info *info, hd_function *function,
                              hd_register_keys *keys, hd_annotation_set *set);

#endif
