/* See output.h. */
#include "base/output.h"

#include "base/open.h"
#include "base/temporary.h"

#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <stdio.h>
#include <sys/stat.h>
#include <unistd.h>

static mode_t mode_for(const char *path)
{
    struct stat status;
    if (stat(path, &status) == 0)
        return status.st_mode & 07777;
    mode_t mask = umask(0);
    umask(mask);
    return 0666 & ~mask;
}

static char *format(const char *form, int first_length, const char *first, int second_length, const char *second)
{
    int length = snprintf(NULL, 0, form, first_length, first, second_length, second);
    char *text = hd_malloc((size_t)length + 1);
    snprintf(text, (size_t)length + 1, form, first_length, first, second_length, second);
    return text;
}

/* The path that links lead to, whether there is something or not, so that the links stay; NULL: ELOOP. */
static char *behind_links(const char *given)
{
    enum { MOST_LINKS = 40, LONGEST_PATH = 1 << 16 };
    char target[LONGEST_PATH], *path = format("%.*s%.*s", (int)strlen(given), given, 0, "");
    for (int i = 0; i < MOST_LINKS; i++) {
        ssize_t length = readlink(path, target, sizeof target);
        const char *slash = strrchr(path, '/');
        if (length <= 0 || length == (ssize_t)sizeof target)
            return path;
        char *next =
            format("%.*s%.*s", target[0] == '/' || !slash ? 0 : (int)(slash - path + 1), path, (int)length, target);
        free(path);
        path = next;
    }
    free(path);
    errno = ELOOP;
    return NULL;
}

/* A name of a descriptor that is open, as /dev/stdout: what it leads to is no place for another file. */
static bool is_of_descriptor(const char *path)
{
    return strncmp(path, "/dev/std", 8) == 0 || strncmp(path, "/dev/fd/", 8) == 0 || strncmp(path, "/proc/", 6) == 0;
}

/* Where the folder takes no new file: what is written is kept until all of it is there. */
static bool open_in_place(hd_output *output, const char *path, int error)
{
    output->descriptor = open(path, O_WRONLY | O_CLOEXEC);
    output->in_place = output->descriptor >= 0;
    errno = error;
    return output->in_place;
}

static bool open_file(hd_output *output, const char *path, bool there)
{
    output->path = behind_links(path);
    if (!output->path)
        return false;
    output->temporary = format("%.*s%.*s", (int)strlen(output->path), output->path, 7, ".XXXXXX");
    output->descriptor = hd_temporary_make(output->temporary);
    if (output->descriptor >= 0)
        return true;
    int error = errno;
    free(output->temporary);
    output->temporary = NULL;
    return there && open_in_place(output, output->path, error);
}

bool hd_output_open(hd_output *output, const char *path)
{
    struct stat status;
    bool there = stat(path, &status) == 0, direct = there && (!S_ISREG(status.st_mode) || is_of_descriptor(path));
    *output = (hd_output){.descriptor = -1};
    if (direct) {
        output->path = format("%.*s%.*s", (int)strlen(path), path, 0, "");
        output->descriptor = hd_open_direct_output(path);
    }
    if (direct ? output->descriptor < 0 : !open_file(output, path, there)) {
        int error = errno;
        free(output->path);
        *output = (hd_output){.descriptor = -1};
        errno = error;
        return false;
    }
    if (output->in_place)
        hd_writer_to_memory(&output->writer);
    else
        hd_writer_to_descriptor(&output->writer, output->descriptor);
    return true;
}

void hd_output_to_descriptor(hd_output *output, int descriptor)
{
    *output = (hd_output){.descriptor = descriptor};
    hd_writer_to_descriptor(&output->writer, descriptor);
}

void hd_output_drop(hd_output *output)
{
    int error = errno;
    hd_writer_free(&output->writer);
    if (output->path && output->descriptor >= 0)
        close(output->descriptor);
    if (output->temporary) {
        unlink(output->temporary);
        hd_temporary_forget(output->temporary);
    }
    free(output->temporary);
    free(output->path);
    *output = (hd_output){.descriptor = -1};
    errno = error;
}

/* What a full disk or a quota refuses late is an error of fsync; pipes and devices know none. */
static bool bring_to_disk(const hd_output *output)
{
    return !output->temporary || (fchmod(output->descriptor, mode_for(output->path)) == 0 &&
                                  (output->unsynced || fsync(output->descriptor) == 0));
}

bool hd_output_finish(hd_output *output)
{
    bool good = hd_writer_flush(&output->writer) && bring_to_disk(output);
    if (output->path && !output->in_place && good) {
        good = close(output->descriptor) == 0;
        output->descriptor = -1;
    }
    return good;
}

static bool copy_in_place(const hd_output *output)
{
    size_t length = output->writer.buffer.count, done = 0;
    int error = length ? posix_fallocate(output->descriptor, 0, (off_t)length) : 0;
    if (error && error != EOPNOTSUPP && error != EINVAL) {
        errno = error;
        return false;
    }
    while (done < length) {
        ssize_t put = pwrite(output->descriptor, output->writer.buffer.items + done, length - done, (off_t)done);
        if (put < 0 && errno != EINTR)
            return false;
        done += put > 0 ? (size_t)put : 0;
    }
    return ftruncate(output->descriptor, (off_t)length) == 0 && fsync(output->descriptor) == 0;
}

bool hd_output_publish(hd_output *output)
{
    if (output->in_place)
        return copy_in_place(output);
    if (!output->temporary)
        return true;
    if (rename(output->temporary, output->path) != 0)
        return false;
    hd_temporary_forget(output->temporary);
    free(output->temporary);
    output->temporary = NULL;
    return true;
}

/* ---- several ----------------------------------------------------------------------------------------------------- */

void hd_outputs_init(hd_outputs *outputs)
{
    *outputs = (hd_outputs){0};
    pthread_mutex_init(&outputs->lock, NULL);
}

bool hd_outputs_finish(hd_outputs *outputs, hd_output *output)
{
    bool good = hd_output_finish(output);
    if (!good || !output->path) { /* a descriptor has it all by now */
        hd_output_drop(output);
    } else {
        pthread_mutex_lock(&outputs->lock);
        hd_array_push(&outputs->finished, *output);
        pthread_mutex_unlock(&outputs->lock);
        *output = (hd_output){.descriptor = -1};
    }
    return good;
}

void hd_outputs_move(hd_outputs *from, hd_outputs *to)
{
    pthread_mutex_lock(&to->lock);
    for (uint32_t i = 0; i < from->finished.count; i++)
        hd_array_push(&to->finished, from->finished.items[i]);
    pthread_mutex_unlock(&to->lock);
    hd_array_clear(&from->finished);
}

static int compare_paths(const void *a, const void *b)
{
    const hd_output *x = a, *y = b;
    return strcmp(x->path, y->path);
}

/* Reports come after all of it: they need memory, without which the program would end in the middle. */
bool hd_outputs_publish(hd_outputs *outputs, hd_diagnostics *diagnostics)
{
    uint32_t count = outputs->finished.count;
    if (!count)
        return true;
    int *errors = hd_calloc(count, sizeof *errors);
    bool good = true;
    sigset_t all, before;
    qsort(outputs->finished.items, count, sizeof *outputs->finished.items, compare_paths);
    sigfillset(&all);
    pthread_sigmask(SIG_SETMASK, &all, &before);
    for (uint32_t i = 0; i < count; i++)
        errors[i] = hd_output_publish(&outputs->finished.items[i]) ? 0 : errno;
    pthread_sigmask(SIG_SETMASK, &before, NULL);
    for (uint32_t i = 0; i < count; i++)
        if (errors[i]) {
            hd_report(diagnostics, HD_DIAG_UNREADABLE, NULL, (hd_span){0, 0}, "cannot write '%s': %s",
                      outputs->finished.items[i].path, strerror(errors[i]));
            good = false;
        }
    free(errors);
    hd_outputs_drop(outputs);
    return good;
}

void hd_outputs_drop(hd_outputs *outputs)
{
    for (uint32_t i = 0; i < outputs->finished.count; i++)
        hd_output_drop(&outputs->finished.items[i]);
    hd_array_free(&outputs->finished);
}

void hd_outputs_free(hd_outputs *outputs)
{
    hd_outputs_drop(outputs);
    pthread_mutex_destroy(&outputs->lock);
}
