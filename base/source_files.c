/* See source_files.h. Each name is searched for once. */
#include "base/source_files.h"

#include <sys/stat.h>

enum { LONGEST_SOURCE_BYTES = 8 << 20 };

typedef struct entry {
    const char *name, *beside;
    hd_source source; /* text: NULL if there is none */
} entry;

struct hd_source_files {
    const hd_given_files *given;
    hd_arena arena;
    HD_ARRAY(entry *) entries;
    uint32_t last; /* the last one queried; most queries repeat it */
};

static bool names_source(const char *name)
{
    static const char *const endings[] = {".cu", ".cuh", ".c",   ".cc",  ".cpp", ".cxx", ".h",
                                          ".hh", ".hpp", ".hxx", ".inl", ".ipp", ".py",  ".cl"};
    const char *ending = strrchr(name, '.');
    for (size_t i = 0; ending && i < sizeof endings / sizeof *endings; i++)
        if (strcmp(ending, endings[i]) == 0)
            return true;
    return false;
}

static bool read_regular(const hd_source_files *files, const char *path, hd_source *source)
{
    struct stat status;
    if (hd_given_find(files->given, path) || (files->given && files->given->only))
        return hd_given_read(files->given, path, source);
    return stat(path, &status) == 0 && S_ISREG(status.st_mode) && status.st_size <= LONGEST_SOURCE_BYTES &&
           hd_source_read(source, path);
}

static void look_for(hd_source_files *files, entry *e)
{
    const char *slash = strrchr(e->beside, '/');
    hd_source found;
    if (!names_source(e->name) ||
        (!read_regular(files, e->name, &found) &&
         (*e->name == '/' || !slash ||
          !read_regular(files, hd_arena_printf(&files->arena, "%.*s/%s", (int)(slash - e->beside), e->beside, e->name),
                        &found))))
        return;
    hd_source_from_memory(&e->source, e->name, found.text, found.length);
    hd_source_free(&found);
}

static bool is_of(const entry *e, const char *name, const char *beside)
{
    return strcmp(e->name, name) == 0 && strcmp(e->beside, beside) == 0;
}

hd_source_files *hd_source_files_new(const hd_given_files *given)
{
    hd_source_files *files = hd_calloc(1, sizeof *files);
    files->given = given;
    return files;
}

void hd_source_files_free(hd_source_files *files)
{
    if (!files)
        return;
    for (uint32_t i = 0; i < files->entries.count; i++)
        hd_source_free(&files->entries.items[i]->source);
    hd_array_free(&files->entries);
    hd_arena_free(&files->arena);
    free(files);
}

hd_source *hd_source_files_find(hd_source_files *files, const char *name, const char *beside)
{
    if (files->last >= files->entries.count || !is_of(files->entries.items[files->last], name, beside))
        for (files->last = 0; files->last < files->entries.count; files->last++)
            if (is_of(files->entries.items[files->last], name, beside))
                break;
    if (files->last == files->entries.count) {
        entry *e = HD_ARENA_NEW(&files->arena, entry);
        e->name = hd_arena_string(&files->arena, name, strlen(name));
        e->beside = hd_arena_string(&files->arena, beside, strlen(beside));
        look_for(files, e);
        hd_array_push(&files->entries, e);
    }
    entry *e = files->entries.items[files->last];
    return e->source.text ? &e->source : NULL;
}
