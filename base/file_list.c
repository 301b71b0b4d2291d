/* See file_list.h. */
#include "base/file_list.h"

#include "base/path.h"

#include <stdio.h>
#include <sys/stat.h>

/* Where there is no file, its folder and name; false: neither is there, or it is no regular file. */
static bool identify(const char *path, bool is_output, hd_listed_file *file)
{
    struct stat facts;
    const char *name = hd_path_name(path);
    file->name = "";
    if (stat(path, &facts) != 0) {
        size_t length = (size_t)(name - path);
        char *folder = hd_malloc(length + 2);
        memcpy(folder, length ? path : ".", length ? length : 1);
        folder[length ? length : 1] = '\0';
        bool found = is_output && stat(folder, &facts) == 0;
        free(folder);
        if (!found)
            return false;
        file->name = name;
    } else if (!S_ISREG(facts.st_mode)) {
        return false;
    }
    file->device = (uint64_t)facts.st_dev;
    file->inode = (uint64_t)facts.st_ino;
    return true;
}

void hd_file_list_add(hd_file_list *list, const char *path, bool is_output, const void *owner)
{
    hd_listed_file file = {.path = path, .owner = owner, .is_output = is_output};
    if (strcmp(path, "-") != 0 && identify(path, is_output, &file))
        hd_array_push(list, file);
}

void hd_file_list_add_descriptor(hd_file_list *list, int descriptor, const char *name)
{
    struct stat facts;
    if (fstat(descriptor, &facts) == 0 && S_ISREG(facts.st_mode))
        hd_array_push(list, (hd_listed_file){.path = name,
                                             .is_output = true,
                                             .device = (uint64_t)facts.st_dev,
                                             .inode = (uint64_t)facts.st_ino,
                                             .name = ""});
}

static int compare_places(const hd_listed_file *a, const hd_listed_file *b)
{
    if (a->device != b->device)
        return a->device < b->device ? -1 : 1;
    if (a->inode != b->inode)
        return a->inode < b->inode ? -1 : 1;
    return strcmp(a->name, b->name);
}

/* Orders files by place; files at one place keep the order of the list. */
static int compare(const void *a, const void *b)
{
    const hd_listed_file *x = *(const hd_listed_file *const *)a, *y = *(const hd_listed_file *const *)b;
    int order = compare_places(x, y);
    return order ? order : x < y ? -1 : 1;
}

/* The first output among the files [first, end), which are at one place, that clashes with another of them. */
static hd_file_clash clash_of(const hd_listed_file *const *first, const hd_listed_file *const *end)
{
    const hd_listed_file *input = NULL, *output = NULL;
    for (const hd_listed_file *const *at = first; at < end; at++) {
        const hd_listed_file *file = *at;
        if (file->is_output && (input || output))
            return (hd_file_clash){file, input ? input : output};
        if (!file->is_output && output)
            return (hd_file_clash){output, file};
        *(file->is_output ? &output : &input) = file;
    }
    return (hd_file_clash){NULL, NULL};
}

bool hd_file_list_clash(const hd_file_list *list, hd_file_clash *clash)
{
    const hd_listed_file **sorted = hd_calloc(list->count, sizeof *sorted);
    *clash = (hd_file_clash){NULL, NULL};
    for (uint32_t i = 0; i < list->count; i++)
        sorted[i] = &list->items[i];
    qsort(sorted, list->count, sizeof *sorted, compare);
    for (uint32_t first = 0, end; first < list->count; first = end) {
        for (end = first + 1; end < list->count && compare_places(sorted[first], sorted[end]) == 0;)
            end++;
        hd_file_clash found = clash_of(sorted + first, sorted + end);
        if (found.output && (!clash->output || found.output < clash->output))
            *clash = found;
    }
    free(sorted);
    return clash->output != NULL;
}

void hd_file_clash_text(const hd_file_clash *clash, char *text, size_t size)
{
    const char *output = clash->output->path, *other = clash->other->path;
    bool same = strcmp(output, other) == 0;
    snprintf(text, size, "'%s' would be written%s%s%s%s", output,
             clash->other->is_output ? " twice" : ", and is an input",
             same                      ? ""
             : clash->other->is_output ? ", also as '"
                                       : ", as '",
             same ? "" : other, same ? "" : "'");
}
