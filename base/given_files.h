/* Files that a program gives as texts in memory: where a job reads a file of such a name, it gets the text. So a launch
 * file in memory names its module and its data as one on disk does, and these may be in memory, too. NULL stands for
 * none in all functions. */
#ifndef HD_BASE_GIVEN_FILES_H
#define HD_BASE_GIVEN_FILES_H

#include "base/source.h"

typedef struct hd_given_file {
    const char *name, *bytes;
    size_t length;
} hd_given_file;

typedef struct hd_given_files {
    HD_ARRAY(hd_given_file) items;
    bool only; /* no other file is read */
} hd_given_files;

/* The names are compared as they are; a later file takes the place of an earlier one. NULL: none of that name. */
const hd_given_file *hd_given_find(const hd_given_files *files, const char *name);
/* Copies name and text. */
void hd_given_add(hd_given_files *files, const char *name, const char *bytes, size_t length);
void hd_given_free(hd_given_files *files); /* leaves none */
/* As hd_source_read; where no other file is read, errno is HD_NOT_GIVEN (base/open.h). */
bool hd_given_read(const hd_given_files *files, const char *path, hd_source *source);

#endif
