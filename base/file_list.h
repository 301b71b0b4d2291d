/* The files that a job reads and writes, to find an output that would overwrite an input or another output: by what
 * they are, not by how they are spelt. Devices and pipes are never the same. */
#ifndef HD_BASE_FILE_LIST_H
#define HD_BASE_FILE_LIST_H

#include "base/array.h"
#include <stdbool.h>

typedef struct hd_listed_file {
    const char *path;  /* borrowed */
    const void *owner; /* of the caller: what names the file */
    bool is_output;
    uint64_t device, inode; /* of the file; of its folder, where there is no file yet */
    const char *name;       /* in that folder; "" where there is a file */
} hd_listed_file;
HD_ARRAY_TYPE(hd_file_list, hd_listed_file);

/* Inputs that are not there are left out. */
void hd_file_list_add(hd_file_list *list, const char *path, bool is_output, const void *owner);
/* The descriptor is an output where it is a regular file. */
void hd_file_list_add_descriptor(hd_file_list *list, int descriptor, const char *name);

typedef struct hd_file_clash {
    const hd_listed_file *output, *other; /* in the list */
} hd_file_clash;
/* Whether there is an output that is an input or an output before it; the first such one. O(n log n). */
bool hd_file_list_clash(const hd_file_list *list, hd_file_clash *clash);
/* What is wrong: "'a.ptx' would be written, and is an input as './a.ptx'". At most `size` bytes, NUL included. */
void hd_file_clash_text(const hd_file_clash *clash, char *text, size_t size);

#endif
