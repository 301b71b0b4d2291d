/* YAML files (launch files, GPU descriptions): libyaml's document tree with locations, and typed getters that report
 * errors.
 *
 *   hd_yaml *y = hd_yaml_read(path, diagnostics);
 *   if (y->root && hd_yaml_known_keys(y->root, (const char *const[]){"module", "count"}, 2) &&
 *       hd_yaml_u64(hd_yaml_need(y->root, "count"), 1, 1000, &count))
 *       ...
 *   hd_yaml_free(y);        after the diagnostics were printed: they point into its source
 *
 * Getters report bad-key or bad-value at the node and return false (NULL). With a NULL node they return false silently,
 * so that calls chain. Scalars are typed by the getter: a plain 0x10 is a number where a number is requested. Duplicate
 * keys are reported while reading. Anchors and aliases are supported; tags are limited to the standard ones; a file
 * holds one document.
 */
#ifndef HD_BASE_YAML_H
#define HD_BASE_YAML_H

#include "base/diagnostics.h"
#include "base/given_files.h"

typedef enum hd_yaml_kind { HD_YAML_SCALAR, HD_YAML_SEQUENCE, HD_YAML_MAPPING } hd_yaml_kind;

typedef struct hd_yaml_node hd_yaml_node;
struct hd_yaml_node {
    struct hd_yaml *document;
    uint8_t kind;
    bool plain;       /* SCALAR: written without quotes */
    const char *text; /* SCALAR: its value, NUL-terminated; may contain NULs */
    uint32_t length;
    uint32_t count;             /* SEQUENCE: elements; MAPPING: pairs */
    const hd_yaml_node **items; /* SEQUENCE: elements; MAPPING: key, value, key, value ... in text order */
    hd_span span;
};

typedef struct hd_yaml {
    hd_arena arena;
    hd_source source;
    hd_diagnostics *diagnostics;  /* borrowed */
    HD_ARRAY(const char *) files; /* that the text names and that were read; in the arena */
    const hd_given_files *given;  /* among which those are searched for first; borrowed; NULL: none */
    const hd_yaml_node *root;     /* NULL: the file cannot be read or is not YAML (reported) */
    struct hd_yaml *attached;     /* owned */
} hd_yaml;

hd_yaml *hd_yaml_read(const char *path, hd_diagnostics *diagnostics); /* never NULL; "-" is standard input */
/* The same, but the file may be a given one, and a source for which `refuses` returns true (after reporting why) is not
 * parsed. */
hd_yaml *hd_yaml_read_unless(const char *path, const hd_given_files *given,
                             bool (*refuses)(hd_source *, hd_diagnostics *), hd_diagnostics *diagnostics);
hd_yaml *hd_yaml_from_memory(const char *name, const char *text, size_t length, hd_diagnostics *diagnostics);
void hd_yaml_free(hd_yaml *yaml);
/* An empty document for the text of another file that the YAML names, so that diagnostics can refer to it. Freed with
 * `yaml`. */
hd_yaml *hd_yaml_attach(hd_yaml *yaml);

/* Changes one value: "limits.sms=4" is a path of keys, and a YAML value for the last of them, which may be new; the
 * mapping that it is in may not. Errors are reported in a source "name=setting"; then nothing is changed. A value that
 * the text shares through an alias changes in one place. */
bool hd_yaml_set(hd_yaml *yaml, const char *name, const char *setting);

/* Reports at the node's location; returns the diagnostic so that notes can be added. */
hd_diagnostic *hd_yaml_error(const hd_yaml_node *node, hd_diagnostic_kind kind, const char *format, ...)
    __attribute__((format(printf, 3, 4)));
/* The same, into other diagnostics than those of reading: for parallel users of the document. */
hd_diagnostic *hd_yaml_report(hd_diagnostics *diagnostics, const hd_yaml_node *node, hd_diagnostic_kind kind,
                              const char *format, ...) __attribute__((format(printf, 4, 5)));

/* True if the node is of that kind; else reports bad-value. */
bool hd_yaml_mapping(const hd_yaml_node *node);
bool hd_yaml_sequence(const hd_yaml_node *node);
bool hd_yaml_scalar(const hd_yaml_node *node);

/* The value of a key; NULL if it is absent (silently) or the node is not a mapping. */
const hd_yaml_node *hd_yaml_get(const hd_yaml_node *mapping, const char *key);
/* As hd_yaml_get, but an absent key is reported as bad-key at the mapping. */
const hd_yaml_node *hd_yaml_need(const hd_yaml_node *mapping, const char *key);
/* Reports every key that is not listed (bad-key, naming the known ones); true if all are known. */
bool hd_yaml_known_keys(const hd_yaml_node *mapping, const char *const *keys, uint32_t count);

/* Typed values; range bounds are inclusive. Integers: decimal, 0x, 0b, 0o, with sign; `_` is not accepted. Doubles: C
 * syntax, .inf, -.inf, .nan, and integers. Booleans: true and false. */
bool hd_yaml_u64(const hd_yaml_node *node, uint64_t minimum, uint64_t maximum, uint64_t *value);
bool hd_yaml_u32(const hd_yaml_node *node, uint32_t minimum, uint32_t maximum, uint32_t *value);
bool hd_yaml_double(const hd_yaml_node *node, double *value);
bool hd_yaml_bool(const hd_yaml_node *node, bool *value);
bool hd_yaml_string(const hd_yaml_node *node,
                    const char **value); /* not empty, without NUL; valid as long as the document */
/* The index of the node's text in a list of words; else reports bad-value naming them. */
bool hd_yaml_choice(const hd_yaml_node *node, const char *const *words, uint32_t count, uint32_t *index);
/* The optional key address_bits of a mapping: 32 or 64; `*bits` stays where there is none. */
bool hd_yaml_address_bits(const hd_yaml_node *mapping, uint32_t *bits);

/* Whether a plain scalar is an integer (sign separate, magnitude in 64 bits). Reports nothing. */
bool hd_yaml_is_integer(const hd_yaml_node *node, bool *negative, uint64_t *magnitude);
bool hd_yaml_is_word(const hd_yaml_node *node, const char *word); /* a scalar of exactly this text */

#endif
