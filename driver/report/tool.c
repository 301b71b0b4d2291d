/* Runs nvdisasm and cuobjdump: see tool.h. The file is passed by its name, or, from standard input, as a file in
 * memory; the listing is collected in memory. Linux: memfd_create, /proc/self/fd. */
#include "driver/report/tool.h"

#include "parser/recognize.h"

#include <errno.h>
#include <fcntl.h>
#include <spawn.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

extern char **environ;

/* ---- finding ----------------------------------------------------------------------------------------------------- */

static char *join_path(const char *folder, size_t length, const char *middle, const char *name)
{
    char *path = hd_malloc(length + strlen(middle) + strlen(name) + 1);
    memcpy(path, folder, length);
    strcpy(path + length, middle);
    strcat(path, name);
    return path;
}

static char *if_runs(char *path)
{
    struct stat status;
    if (stat(path, &status) == 0 && S_ISREG(status.st_mode) && access(path, X_OK) == 0)
        return path;
    free(path);
    return NULL;
}

char *hd_tool_find(const char *name)
{
    const char *folders = getenv("PATH"), *cuda = getenv("CUDA_HOME");
    char *found = NULL;
    for (const char *at = folders ? folders : ""; *at && !found;) {
        size_t length = strcspn(at, ":");
        if (length)
            found = if_runs(join_path(at, length, "/", name));
        at += length + (at[length] == ':');
    }
    if (!found && cuda)
        found = if_runs(join_path(cuda, strlen(cuda), "/bin/", name));
    return found ? found : if_runs(join_path("/usr/local/cuda", 15, "/bin/", name));
}

/* ---- running ----------------------------------------------------------------------------------------------------- */

typedef struct disassembler {
    const char *path;   /* of the program */
    const char *option; /* before the file */
    char file[64];      /* of the input, where it is in memory */
    const char *input;
    int copy, output, errors; /* descriptors; -1: none */
} disassembler;

bool hd_tool_write(int descriptor, const char *text, size_t length)
{
    while (length) {
        ssize_t written = write(descriptor, text, length);
        if (written < 0 && errno == EINTR)
            continue;
        if (written <= 0)
            return false;
        text += written;
        length -= (size_t)written;
    }
    return true;
}

/* The file's name; what came from standard input is a file in memory, which the child inherits. */
static bool name_input(disassembler *d, const hd_source *source)
{
    d->input = source->name;
    if (access(source->name, R_OK) == 0)
        return true;
    d->copy = memfd_create("heddle-binary", 0);
    if (d->copy < 0 || !hd_tool_write(d->copy, source->text, source->length))
        return false;
    snprintf(d->file, sizeof d->file, "/proc/self/fd/%d", d->copy);
    d->input = d->file;
    return true;
}

static bool run(disassembler *d, int *status)
{
    const char *arguments[] = {d->path, d->option, d->input, NULL};
    pid_t process;
    posix_spawn_file_actions_t actions;
    posix_spawn_file_actions_init(&actions);
    posix_spawn_file_actions_addopen(&actions, STDIN_FILENO, "/dev/null", O_RDONLY, 0);
    posix_spawn_file_actions_adddup2(&actions, d->output, STDOUT_FILENO);
    posix_spawn_file_actions_adddup2(&actions, d->errors, STDERR_FILENO);
    errno = posix_spawn(&process, d->path, &actions, NULL, (char *const *)(uintptr_t)arguments, environ);
    posix_spawn_file_actions_destroy(&actions);
    if (errno)
        return false;
    while (waitpid(process, status, 0) < 0 && errno == EINTR)
        ;
    return true;
}

char *hd_tool_read(int descriptor, size_t *length)
{
    struct stat status;
    *length = fstat(descriptor, &status) == 0 && status.st_size > 0 ? (size_t)status.st_size : 0;
    char *text = hd_malloc(*length + 1);
    size_t done = 0;
    for (ssize_t n; done < *length && (n = pread(descriptor, text + done, *length - done, (off_t)done)) > 0;)
        done += (size_t)n;
    *length = done;
    text[done] = '\0';
    return text;
}

static void close_all(disassembler *d)
{
    const int descriptors[] = {d->copy, d->output, d->errors};
    for (uint32_t i = 0; i < sizeof descriptors / sizeof *descriptors; i++)
        if (descriptors[i] >= 0)
            close(descriptors[i]);
}

/* Its first line of errors, where it says why. */
static void refuse(const disassembler *d, const hd_source *source, hd_diagnostics *diagnostics)
{
    size_t length;
    char *text = hd_tool_read(d->errors, &length);
    text[strcspn(text, "\r\n")] = '\0';
    hd_report(diagnostics, HD_DIAG_UNREADABLE, NULL, (hd_span){0, 0}, "%s does not list '%s': %s", d->path,
              source->name, *text ? text : "it does not say why");
    free(text);
}

static void take_text(hd_source *source, const char *text, size_t length)
{
    hd_source binary = *source;
    hd_source_from_memory(source, binary.name, text, length);
    hd_source_free(&binary);
}

static bool take_listing(disassembler *d, hd_source *source)
{
    size_t length;
    char *text = hd_tool_read(d->output, &length);
    bool fits = length > 0 && length < UINT32_MAX;
    if (fits)
        take_text(source, text, length);
    free(text);
    return fits;
}

static bool disassemble(const char *path, const char *option, hd_source *source, hd_diagnostics *diagnostics)
{
    disassembler d = {.path = path, .option = option, .copy = -1};
    int status = -1;
    d.output = memfd_create("heddle-listing", MFD_CLOEXEC);
    d.errors = memfd_create("heddle-errors", MFD_CLOEXEC);
    bool good = d.output >= 0 && d.errors >= 0 && name_input(&d, source) && run(&d, &status);
    if (!good)
        hd_report(diagnostics, HD_DIAG_MISSING_TOOL, NULL, (hd_span){0, 0}, "%s does not run: %s", path,
                  strerror(errno));
    else if (!(good = WIFEXITED(status) && WEXITSTATUS(status) == 0 && take_listing(&d, source)))
        refuse(&d, source, diagnostics);
    close_all(&d);
    return good;
}

static void report_missing(const hd_source *source, uint32_t generation, bool is_cubin, hd_diagnostics *diagnostics)
{
    hd_diagnostic *d =
        hd_report(diagnostics, HD_DIAG_MISSING_TOOL, NULL, (hd_span){0, 0},
                  "'%s' is %s, of sm_%u, which heddle does not decode; and there is no %s in PATH, CUDA_HOME or "
                  "/usr/local/cuda to list its machine code",
                  source->name, hd_kind_name(source), generation, is_cubin ? "nvdisasm and no cuobjdump" : "cuobjdump");
    hd_note_add(diagnostics, d, NULL, (hd_span){0, 0},
                "the CUDA toolkit has both; PTX, and listings that they made elsewhere, are read without them");
}

/* Lists the file by the table of encodings. Where that leaves instructions undecoded, or does not have the
 * architecture, the toolkit's disassembler lists it, if there is one: *listed is false then, and nothing was reported.
 */
static bool list_binary(hd_source *source, hd_listing_words words, bool has_tool, bool *listed, uint32_t *generation,
                        hd_diagnostics *diagnostics)
{
    hd_writer listing;
    hd_diagnostics part;
    hd_writer_to_memory(&listing);
    hd_diagnostics_init_part(&part, diagnostics);
    hd_binary_outcome outcome = hd_binary_list(source, words, &listing, generation, &part);
    *listed = outcome != HD_BINARY_OTHER_CODE && (outcome != HD_BINARY_IN_PART || !has_tool);
    if (*listed)
        hd_diagnostics_join(diagnostics, &part);
    bool good = outcome != HD_BINARY_REFUSED && listing.buffer.count < UINT32_MAX - 16;
    if (*listed && good)
        take_text(source, listing.buffer.items, listing.buffer.count);
    hd_diagnostics_free(&part);
    hd_writer_free(&listing);
    return good;
}

bool hd_disassemble(hd_source *source, hd_listing_words words, hd_diagnostics *diagnostics)
{
    hd_binary binary = hd_binary_of(source);
    if (binary == HD_BINARY_NONE)
        return true;
    bool is_cubin = binary == HD_BINARY_CUBIN, listed;
    uint32_t generation;
    char *nvdisasm = is_cubin ? hd_tool_find("nvdisasm") : NULL,
         *cuobjdump = nvdisasm ? NULL : hd_tool_find("cuobjdump");
    bool has_tool = nvdisasm || cuobjdump,
         good = list_binary(source, words, has_tool, &listed, &generation, diagnostics);
    if (!listed && has_tool)
        good = disassemble(nvdisasm ? nvdisasm : cuobjdump, nvdisasm ? "-gi" : "-sass", source, diagnostics);
    else if (!listed) {
        report_missing(source, generation, is_cubin, diagnostics);
        good = false;
    }
    free(nvdisasm);
    free(cuobjdump);
    return good;
}
