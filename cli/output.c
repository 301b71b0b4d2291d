/* Output files: whole or not at all. */
#include "cli/cli.h"

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/stat.h>
#include <unistd.h>

static bool failed(hd_cli *cli, const char *path, int error)
{
    hd_report(&cli->diagnostics, HD_DIAG_UNREADABLE, NULL, (hd_span){0, 0}, "cannot write '%s': %s",
              path ? path : "<stdout>", strerror(error));
    return false;
}

/* A new file has the permissions that the user's mask gives, a replaced one keeps its own. */
static mode_t mode_for(const char *path)
{
    struct stat status;
    if (stat(path, &status) == 0)
        return status.st_mode & 07777;
    mode_t mask = umask(0);
    umask(mask);
    return 0666 & ~mask;
}

/* The path that a link leads to, whether there is something or not, so that the link stays; the path itself where it
 * is none; NULL: ELOOP. */
static const char *behind_links(hd_cli *cli, const char *path)
{
    enum { MOST_LINKS = 40, LONGEST_PATH = 1 << 16 };
    char target[LONGEST_PATH];
    for (int i = 0; i < MOST_LINKS; i++) {
        ssize_t length = readlink(path, target, sizeof target);
        const char *slash = strrchr(path, '/');
        if (length <= 0 || length == (ssize_t)sizeof target)
            return path;
        path = target[0] == '/' || !slash
                   ? hd_arena_string(&cli->arena, target, (size_t)length)
                   : hd_arena_printf(&cli->arena, "%.*s%.*s", (int)(slash - path + 1), path, (int)length, target);
    }
    return NULL;
}

static bool open_direct(hd_cli *cli, hd_output *output, const char *path)
{
    output->descriptor = open(path, O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC, 0666);
    return output->descriptor >= 0 || failed(cli, path, errno);
}

/* Where the folder takes no new file: what is written is kept until all of it is there. */
static bool open_in_place(hd_cli *cli, hd_output *output, const char *path, int error)
{
    output->temporary = NULL;
    output->descriptor = open(path, O_WRONLY | O_CLOEXEC);
    output->in_place = output->descriptor >= 0;
    return output->in_place || failed(cli, path, error);
}

static bool open_file(hd_cli *cli, hd_output *output, const char *path)
{
    struct stat status;
    bool there = stat(path, &status) == 0;
    if (there && !S_ISREG(status.st_mode))
        return open_direct(cli, output, path);
    output->temporary = hd_arena_printf(&cli->arena, "%s.XXXXXX", path);
    output->descriptor = hd_temporary_make(output->temporary);
    if (output->descriptor >= 0)
        return true;
    int error = errno;
    return there ? open_in_place(cli, output, path, error) : failed(cli, path, error);
}

bool hd_output_open(hd_cli *cli, hd_output *output, const char *path)
{
    *output = (hd_output){.descriptor = STDOUT_FILENO};
    if (path && strcmp(path, "-") != 0) {
        const char *target = behind_links(cli, path);
        if (!target)
            return failed(cli, path, ELOOP);
        output->path = path = target;
        if (!open_file(cli, output, path))
            return false;
    }
    if (output->in_place)
        hd_writer_to_memory(&output->writer);
    else
        hd_writer_to_descriptor(&output->writer, output->descriptor);
    return true;
}

static bool copy_in_place(hd_output *output)
{
    hd_writer to;
    if (ftruncate(output->descriptor, 0) != 0)
        return false;
    hd_writer_to_descriptor(&to, output->descriptor);
    hd_write(&to, output->writer.buffer.items, output->writer.buffer.count);
    bool good = hd_writer_flush(&to);
    int error = errno;
    hd_writer_free(&to);
    errno = error;
    return good;
}

bool hd_output_close(hd_cli *cli, hd_output *output, bool keep)
{
    bool ok =
        output->in_place ? !keep || (!output->writer.error && copy_in_place(output)) : hd_writer_flush(&output->writer);
    int error = errno;
    hd_writer_free(&output->writer);
    if (output->path) {
        if (ok && output->temporary && keep)
            ok = fchmod(output->descriptor, mode_for(output->path)) == 0 || (error = errno, false);
        if (close(output->descriptor) != 0 && ok)
            ok = false, error = errno;
    }
    if (output->temporary && (!keep || !ok || rename(output->temporary, output->path) != 0)) {
        if (keep && ok)
            ok = false, error = errno;
        unlink(output->temporary);
    }
    if (output->temporary)
        hd_temporary_forget(output->temporary);
    return ok || failed(cli, output->path, error);
}
