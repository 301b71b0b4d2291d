/* See given_files.h. A name is searched for from the last file to the first. */
#include "base/given_files.h"

#include "base/open.h"

#include <errno.h>

const hd_given_file *hd_given_find(const hd_given_files *files, const char *name)
{
    for (uint32_t i = files ? files->items.count : 0; i-- > 0;)
        if (strcmp(files->items.items[i].name, name) == 0)
            return &files->items.items[i];
    return NULL;
}

void hd_given_add(hd_given_files *files, const char *name, const char *bytes, size_t length)
{
    size_t name_bytes = strlen(name) + 1;
    char *copy = hd_malloc(name_bytes + length);
    memcpy(copy, name, name_bytes);
    if (length)
        memcpy(copy + name_bytes, bytes, length);
    hd_array_push(&files->items, (hd_given_file){copy, copy + name_bytes, length});
}

void hd_given_free(hd_given_files *files)
{
    for (uint32_t i = 0; i < files->items.count; i++)
        free((void *)(uintptr_t)files->items.items[i].name);
    hd_array_free(&files->items);
}

bool hd_given_read(const hd_given_files *files, const char *path, hd_source *source)
{
    const hd_given_file *file = hd_given_find(files, path);
    if (!file && (!files || !files->only))
        return hd_source_read(source, path);
    *source = (hd_source){0};
    if (!file || file->length > UINT32_MAX - 16) {
        errno = file ? EFBIG : HD_NOT_GIVEN;
        return false;
    }
    hd_source_from_memory(source, path, file->bytes, file->length);
    return true;
}
