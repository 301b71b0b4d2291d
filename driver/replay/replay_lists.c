/* Lists of traces (kernelslist.g): a line that begins with `kernel` is the name of a trace in the list's folder; others
 * are operations of the host, as copies to the device, which no register sees. */
#include "driver/replay/replay.h"
#include "hwmodel/trace/accel_sim.h"

#include <errno.h>
#include <string.h>

typedef HD_ARRAY(const char *) path_list;

static size_t line_length(const char *line)
{
    size_t length = strcspn(line, "\r\n");
    while (length && hd_is_blank(line[length - 1]))
        length--;
    return length;
}

static void add_traces(hd_arena *arena, const char *path, const char *text, path_list *all)
{
    const char *slash = strrchr(path, '/');
    int folder = slash ? (int)(slash - path) + 1 : 0;
    for (const char *line = text; *line; line += strcspn(line, "\n"), line += *line == '\n')
        if (strncmp(line, "kernel", strlen("kernel")) == 0)
            hd_array_push(all, hd_arena_printf(arena, "%.*s%.*s", folder, path, (int)line_length(line), line));
}

static bool expand_list(hd_arena *arena, const char *path, path_list *all, hd_diagnostics *diagnostics)
{
    hd_source source = {0};
    uint32_t before = all->count;
    if (!hd_source_read(&source, path)) {
        hd_report(diagnostics, HD_DIAG_UNREADABLE, NULL, (hd_span){0, 0}, "cannot read %s: %s", path,
                  hd_source_why(errno));
        return false;
    }
    add_traces(arena, path, source.text, all);
    hd_source_free(&source);
    if (all->count == before)
        hd_report(diagnostics, HD_DIAG_BAD_TRACE, NULL, (hd_span){0, 0}, "%s names no trace", path);
    return all->count != before;
}

bool hd_replay_expand(hd_arena *arena, const char *const **paths, uint32_t *count, hd_diagnostics *diagnostics)
{
    path_list all = {0};
    bool good = true;
    for (uint32_t i = 0; i < *count; i++)
        if (hd_traced_is_list((*paths)[i]))
            good = expand_list(arena, (*paths)[i], &all, diagnostics) && good;
        else
            hd_array_push(&all, (*paths)[i]);
    *paths = hd_arena_copy(arena, all.items, all.count * sizeof *all.items);
    *count = all.count;
    hd_array_free(&all);
    return good;
}
