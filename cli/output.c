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

/* The place that a link leads to, so that the link stays; the path itself where it is none or leads nowhere. */
static const char *behind_links(hd_cli *cli, const char *path)
{
    struct stat status;
    char *real = lstat(path, &status) == 0 && S_ISLNK(status.st_mode) ? realpath(path, NULL) : NULL;
    if (real)
        path = hd_arena_string(&cli->arena, real, strlen(real));
    free(real);
    return path;
}

static bool open_direct(hd_cli *cli, hd_output *output, const char *path)
{
    output->descriptor = open(path, O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC, 0666);
    return output->descriptor >= 0 || failed(cli, path, errno);
}

bool hd_output_open(hd_cli *cli, hd_output *output, const char *path)
{
    *output = (hd_output){.descriptor = STDOUT_FILENO};
    struct stat status;
    if (path && strcmp(path, "-") != 0) {
        output->path = path = behind_links(cli, path);
        if (stat(path, &status) == 0 && !S_ISREG(status.st_mode)) {
            if (!open_direct(cli, output, path))
                return false;
        } else {
            output->temporary = hd_arena_printf(&cli->arena, "%s.XXXXXX", path);
            output->descriptor = mkostemp(output->temporary, O_CLOEXEC);
            if (output->descriptor < 0)
                return failed(cli, path, errno);
        }
    }
    hd_writer_to_descriptor(&output->writer, output->descriptor);
    return true;
}

bool hd_output_close(hd_cli *cli, hd_output *output, bool keep)
{
    bool ok = hd_writer_flush(&output->writer);
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
    return ok || failed(cli, output->path, error);
}
