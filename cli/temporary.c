/* Files that are not finished: removed where the program ends before they are, by a signal or for lack of memory.
 *
 * The lists are the program's own, as signals are. What a handler may do: calls of the system that remove files, and
 * the signal's default at last. */
#include "cli/cli.h"

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <stdatomic.h>
#include <stdlib.h>
#include <unistd.h>

enum { MOST_TEMPORARIES = 2 * 1024 };
static _Atomic(const char *) temporaries[MOST_TEMPORARIES];
static _Atomic(const char *) filled_folder; /* it goes with what is in it; NULL: none */
static const int deadly[] = {SIGINT, SIGTERM, SIGHUP};

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

static void remove_all(void)
{
    const char *folder = atomic_load(&filled_folder);
    if (folder)
        remove_with_files(folder);
    for (int i = 0; i < MOST_TEMPORARIES; i++) {
        const char *path = atomic_load(&temporaries[i]);
        if (path)
            unlink(path);
    }
    for (int i = 0; i < 2 * MOST_TEMPORARIES; i++) { /* twice: a folder may be in one that is listed before it */
        const char *path = atomic_load(&temporaries[i % MOST_TEMPORARIES]);
        if (path)
            rmdir(path);
    }
}

/* Not a reset of the handler before: a second signal would leave what is not removed yet. */
static void die(int number)
{
    remove_all();
    signal(number, SIG_DFL);
    raise(number);
}

/* What is ignored (nohup) stays so. A file that grows beyond its limit is an error of write, with a message. */
void hd_temporary_watch(void)
{
    struct sigaction action = {.sa_handler = die}, before;
    sigemptyset(&action.sa_mask);
    for (size_t i = 0; i < sizeof deadly / sizeof *deadly; i++)
        sigaddset(&action.sa_mask, deadly[i]);
    for (size_t i = 0; i < sizeof deadly / sizeof *deadly; i++)
        if (sigaction(deadly[i], NULL, &before) == 0 && before.sa_handler != SIG_IGN)
            sigaction(deadly[i], &action, NULL);
    signal(SIGXFSZ, SIG_IGN);
    hd_at_out_of_memory(remove_all);
}

static void replace(const char *from, const char *to)
{
    for (int i = 0; i < MOST_TEMPORARIES; i++) {
        const char *expected = from;
        if (atomic_compare_exchange_strong(&temporaries[i], &expected, to))
            return;
    }
}

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
        replace(NULL, pattern);
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

void hd_temporary_add(const char *path) { replace(NULL, path); }

void hd_temporary_forget(const char *path) { replace(path, NULL); }
