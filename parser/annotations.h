/* The reader of annotations. Private to parser/.
 *
 *   annotations.c         walks a function's statements, gathers comments, modifiers and .heddle statements, and
 *                         compares them
 *   annotation_text.c     the text of one annotation: `name value,value`
 *   annotation_section.c  `.section .heddle`: its bytes and records
 *
 * Each source of annotations is read into a set of its own; a source without annotations is `absent` and is not
 * compared.
 */
#ifndef HD_PARSER_ANNOTATIONS_H
#define HD_PARSER_ANNOTATIONS_H

#include "ir/annotations.h"
#include "parser/parse.h"

/* The section's annotations of one function. */
typedef struct hd_section_part {
    uint64_t hash;
    hd_span span; /* of the section, for diagnostics */
    bool present;
    hd_annotation_set set; /* sorted */
    HD_ARRAY(hd_foreign_annotation) foreign;
} hd_section_part;

/* Reads all annotations `name value,value` in `span`, which belong to an instruction (HD_NONE: to the function).
 * Reports errors. */
typedef enum hd_text_outcome {
    HD_TEXT_READ,
    HD_TEXT_UNKNOWN /* no such kind; nothing was reported */,
    HD_TEXT_WRONG
} hd_text_outcome;
hd_text_outcome hd_annotation_read_text(hd_function *function, hd_span span, uint32_t instruction,
                                        hd_annotation_set *into);
/* The same for a modifier, `.name::value_value`. */
hd_text_outcome hd_annotation_read_modifier(hd_function *function, hd_span span, uint32_t instruction,
                                            hd_annotation_set *into);
/* The kind that the text in `span` begins with, or NULL. */
const hd_annotation_info *hd_annotation_text_kind(const char *text, hd_span span);

/* Reads the module's section, if it exists, into parts[index in module->functions]. false: it is malformed, and was
 * reported. */
bool hd_annotation_read_section(hd_module *module, const hd_parse_options *options, hd_section_part *parts);

#endif
