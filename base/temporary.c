/* See temporary.h. A chain of blocks that grows and is never freed, so that a handler can walk it at any time. */
#include "base/temporary.h"

#include "base/arena.h"

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <stdatomic.h>
#include <stdlib.h>
#include <unistd.h>

enum { BLOCK_PATHS = 1024 };

typedef struct path_block {
    _Atomic(const char *) paths[BLOCK_PATHS];
    _Atomic(struct path_block *) next;
} path_block;

static path_block first_block;
static _Atomic(const char *) filled_folder; /* it goes with what is in it; NULL: none */

/* A folder whose files other processes write. Not readdir, which allocates. Entries that go while they are listed may
 * hide others: it begins anew until nothing goes any more. */
static void remove_with_files(const char *path)
{
    int folder = open(path, O_RDONLY | O_DIRECTORY | O_CLOEXEC);
    _Alignas(struct dirent64) char entries[4096];
    for (bool any = folder >= 0; any;) {
        any = false;
        lseek(folder, 0, SEEK_SET);
        for (ssize_t bytes; (bytes = getdents64(folder, entries, sizeof entries)) > 0;)
            for (ssize_t at = 0; at < bytes;) {
                const struct dirent64 *e = (const struct dirent64 *)(const void *)(entries + at);
                any = unlinkat(folder, e->d_name, 0) == 0 || any;
                at += e->d_reclen;
            }
    }
    if (folder >= 0)
        close(folder);
    rmdir(path);
}

static void for_each(int (*act)(const char *path))
{
    for (path_block *b = &first_block; b; b = atomic_load(&b->next))
        for (int i = 0; i < BLOCK_PATHS; i++) {
            const char *path = atomic_load(&b->paths[i]);
            if (path)
                act(path);
        }
}

void hd_temporary_remove_all(void)
{
    const char *folder = atomic_load(&filled_folder);
    if (folder)
        remove_with_files(folder);
    for_each(unlink);
    for_each(rmdir);
    for_each(rmdir); /* again: a folder may be in one that is listed before it */
}

/* Whether the list had `from`, which is now `to`; NULL is free room. */
static int replace(const char *from, const char *to)
{
    for (path_block *b = &first_block; b; b = atomic_load(&b->next))
        for (int i = 0; i < BLOCK_PATHS; i++) {
            const char *expected = from;
            if (atomic_compare_exchange_strong(&b->paths[i], &expected, to))
                return 1;
        }
    return 0;
}

static void add_block(void)
{
    path_block *new = hd_calloc(1, sizeof *new), *last = &first_block;
    for (path_block *none = NULL; !atomic_compare_exchange_strong(&last->next, &none, new); none = NULL)
        last = none;
}

void hd_temporary_add(const char *path)
{
    while (!replace(NULL, path))
        add_block();
}

void hd_temporary_forget(const char *path) { replace(path, NULL); }

/* No signal finds a file that is not listed. */
static sigset_t block_signals(void)
{
    sigset_t all, before;
    sigfillset(&all);
    pthread_sigmask(SIG_SETMASK, &all, &before);
    return before;
}

int hd_temporary_make(char *pattern)
{
    sigset_t before = block_signals();
    int descriptor = mkostemp(pattern, O_CLOEXEC), error = errno;
    if (descriptor >= 0)
        hd_temporary_add(pattern);
    pthread_sigmask(SIG_SETMASK, &before, NULL);
    errno = error;
    return descriptor;
}

bool hd_temporary_make_folder(char *pattern)
{
    sigset_t before = block_signals();
    bool made = mkdtemp(pattern) != NULL;
    int error = errno;
    if (made)
        atomic_store(&filled_folder, pattern);
    pthread_sigmask(SIG_SETMASK, &before, NULL);
    errno = error;
    return made;
}

void hd_temporary_remove_folder(const char *path)
{
    remove_with_files(path);
    atomic_store(&filled_folder, NULL);
}
