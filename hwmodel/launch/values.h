/* Values of launch files: conversion of numbers to a buffer's type, fills, and comparison of results with expectations.
 * The exact definitions are in docs/launch-fills.md. */
#ifndef HD_HWMODEL_LAUNCH_VALUES_H
#define HD_HWMODEL_LAUNCH_VALUES_H

#include "base/yaml.h"
#include "ir/ir.h"

/* The types allowed for buffers, symbols and scalar parameters. */
bool hd_value_type(const hd_yaml_node *node, hd_type *type); /* reports bad-value */
static inline uint32_t hd_value_bytes(hd_type type) { return hd_types[type].bits / 8u; }

/* One number, converted and stored little-endian in the type's size; reports bad-value at the node. */
bool hd_value_store(const hd_yaml_node *node, hd_type type, unsigned char *bytes);

/* The same for a double; false if it does not fit an integer type. */
bool hd_value_store_double(hd_type type, double value, unsigned char *bytes);
bool hd_value_store_integer(hd_type type, bool negative, uint64_t magnitude, unsigned char *bytes);

/* START + STEP * k for a pair of numbers; exact if the type and both numbers are integers. Reports at the pair: an
 * invalid pair as reading does; a value that does not fit, in `diagnostics`. */
bool hd_value_iota(const hd_yaml_node *pair, hd_type type, uint64_t k, unsigned char *bytes,
                   hd_diagnostics *diagnostics);

/* Exactly `count` numbers from a list; another number of them is reported. */
bool hd_value_store_list(const hd_yaml_node *list, hd_type type, uint64_t count, unsigned char *bytes);

/* Other seeds for random fills than those that are written. */
typedef struct hd_seeding {
    uint32_t seed;  /* changes them all; 0: none */
    uint32_t fills; /* counts those that were random */
} hd_seeding;

/* Executes `fill:` on zeroed bytes. `folder` is prepended to relative file names. */
bool hd_value_fill(const hd_yaml_node *fill, const char *folder, hd_seeding *seeding, hd_type type, uint64_t count,
                   unsigned char *bytes);

/* Reads a file of exactly `size` bytes; reports at the node. */
bool hd_value_read_file(const hd_yaml_node *node, const char *folder, uint64_t size, unsigned char *bytes);

/* Reads exactly `count` numbers from a text file: separated by blanks, line ends, commas or semicolons; # starts a
 * comment. Invalid numbers are reported at their location in that file. */
bool hd_value_read_text(const hd_yaml_node *node, const char *folder, hd_type type, uint64_t count,
                        unsigned char *bytes);

/* "FOLDER/NAME", or NAME if it is absolute. */
char *hd_value_path(hd_arena *arena, const char *folder, const char *name);

typedef struct hd_value_rule {
    bool tolerant, any_nan; /* any_nan: an expected NaN equals every NaN, also in bitwise comparison */
    double absolute, relative, ulps;
} hd_value_rule;

/* Whether element `got` matches `want`. Both are little-endian values of the type. */
bool hd_value_matches(hd_type type, const unsigned char *got, const unsigned char *want, const hd_value_rule *rule);
void hd_value_print(hd_type type, const unsigned char *bytes, char *text,
                    size_t size);                                    /* for messages; floats exactly */
double hd_value_to_double(hd_type type, const unsigned char *bytes); /* of a float type */

#endif
