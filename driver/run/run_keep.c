/* Keeps the record of a run: its files leave the folder of the run, which goes, for that of the record. */
#include "driver/run/run_work.h"
#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <unistd.h>

typedef struct keeper {
    const hd_run *run;
    const char *folder;
    hd_arena *arena;
    hd_diagnostics *diagnostics;
} keeper;

static bool failed(const keeper *k, const char *path)
{
    hd_report(k->diagnostics, HD_DIAG_UNREADABLE, NULL, (hd_span){0, 0}, "cannot write '%s': %s", path,
              strerror(errno));
    return false;
}

static bool bring_to_disk(int file)
{
    bool good = fsync(file) == 0;
    close(file);
    return good;
}

/* A file that is not there was moved before, or is not of the record. */
static bool move(const keeper *k, const char *name)
{
    const char *from = hd_arena_printf(k->arena, "%s/%s", k->run->folder, name);
    const char *to = hd_arena_printf(k->arena, "%s/%s", k->folder, name);
    int file = open(from, O_RDONLY | O_CLOEXEC);
    if (file < 0)
        return errno == ENOENT || failed(k, to);
    return (bring_to_disk(file) && rename(from, to) == 0) || failed(k, to);
}

bool hd_run_keep(const hd_run *run, const char *name, const char *folder, hd_diagnostics *diagnostics)
{
    hd_arena arena = {0};
    const keeper k = {run, folder, &arena, diagnostics};
    const char *old = hd_arena_printf(&arena, "%s/%s", folder, name);
    bool good = unlink(old) == 0 || errno == ENOENT || failed(&k, old);
    size_t i;
    json_t *event;
    json_array_foreach(run->events, i, event)
    {
        const char *file = run_string(event, "file");
        good = good && (!*file || move(&k, file));
    }
    good = good && move(&k, HD_RUN_LINKED_FILE) && move(&k, HD_RUN_CUBINS_FILE) && move(&k, name);
    hd_arena_free(&arena);
    return good;
}
