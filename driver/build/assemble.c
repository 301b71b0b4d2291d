/* See assemble.h. ptxas reads the text from a file in memory and writes a file that is removed at once. Linux:
 * memfd_create. */
#include "driver/build/assemble.h"

#include "base/temporary.h"
#include "driver/build/process.h"
#include "driver/report/tool.h"

#include <errno.h>
#include <fcntl.h>
#include <spawn.h>
#include <stdio.h>
#include <sys/mman.h>
#include <sys/wait.h>
#include <unistd.h>

extern char **environ;

#define OPTIONS "-lineinfo"

typedef struct assembly {
    char *path;                /* the program */
    char arch[24];             /* -arch=sm_90a */
    char *file;                /* that receives the cubin */
    int input, output, errors; /* descriptors; -1: none */
} assembly;

/* ---- architectures ----------------------------------------------------------------------------------------------- */

uint32_t hd_assemble_architecture(const hd_gpu *gpu, uint32_t target)
{
    uint32_t sm = gpu->compute_major * 10 + gpu->compute_minor;
    return sm >= HD_ASSEMBLE_OLDEST ? sm : hd_max(target, HD_ASSEMBLE_OLDEST);
}

/* What follows sm_ in the directive at the beginning of a line: "90a"; NULL: there is none. */
static const char *find_target(const char *text, size_t length)
{
    static const char target[] = "\n.target sm_";
    const char *at = memmem(text, length, target, strlen(target));
    return at ? at + strlen(target) : NULL;
}

uint32_t hd_assemble_target(const char *text, size_t length)
{
    const char *at = find_target(text, length);
    return at ? (uint32_t)strtoul(at, NULL, 10) : 0;
}

/* The suffix of an architecture whose own instructions the PTX may have, "a" or "f"; 0: none. */
static char suffix_for(const hd_source *source, uint32_t sm)
{
    char *end = NULL;
    const char *at = find_target(source->text, source->length);
    bool same = at && strtoul(at, &end, 10) == sm;
    return same && (*end == 'a' || *end == 'f') ? *end : '\0';
}

/* ---- ptxas ------------------------------------------------------------------------------------------------------- */

/* Sets "ptxas 13.0.88", of "... release 13.0, V13.0.88"; or the name alone. */
static void ask_version(const char *path, hd_assembled *made)
{
    const char *const words[] = {path, "--version", NULL};
    int output = memfd_create("heddle-version", MFD_CLOEXEC);
    size_t length;
    strcpy(made->tool, "ptxas");
    if (output < 0)
        return;
    if (hd_process_run(&(hd_process){.arguments = words, .output = output}) == 0) {
        char *text = hd_tool_read(output, &length), *at = strstr(text, ", V");
        if (at)
            snprintf(made->tool, sizeof made->tool, "ptxas %.*s", (int)strcspn(at + 3, " \r\n"), at + 3);
        free(text);
    }
    close(output);
}

static bool spawn(assembly *a, int *status)
{
    const char *arguments[] = {a->path, a->arch, OPTIONS, "-o", a->file, "-", NULL};
    pid_t process;
    posix_spawn_file_actions_t actions;
    posix_spawn_file_actions_init(&actions);
    posix_spawn_file_actions_adddup2(&actions, a->input, STDIN_FILENO);
    posix_spawn_file_actions_addopen(&actions, STDOUT_FILENO, "/dev/null", O_WRONLY, 0);
    posix_spawn_file_actions_adddup2(&actions, a->errors, STDERR_FILENO);
    errno = posix_spawn(&process, a->path, &actions, NULL, (char *const *)(uintptr_t)arguments, environ);
    posix_spawn_file_actions_destroy(&actions);
    if (errno)
        return false;
    while (waitpid(process, status, 0) < 0 && errno == EINTR)
        ;
    return true;
}

/* Its first line that says why. */
static void refuse(const assembly *a, const hd_source *source, hd_diagnostics *diagnostics)
{
    size_t length;
    char *text = hd_tool_read(a->errors, &length), *line = strstr(text, "error");
    line = line ? line : strstr(text, "fatal");
    line = line ? line : text;
    line[strcspn(line, "\r\n")] = '\0';
    hd_report(diagnostics, HD_DIAG_UNSUPPORTED, NULL, (hd_span){0, 0}, "%s makes no machine code of '%s' (%s): %s",
              a->path, source->name, a->arch + strlen("-arch="), *line ? line : "it does not say why");
    free(text);
}

/* The cubin; NULL: reported. */
static char *run(assembly *a, const hd_source *source, size_t *length, hd_diagnostics *diagnostics)
{
    int status = -1;
    a->input = memfd_create("heddle-ptx", MFD_CLOEXEC);
    a->errors = memfd_create("heddle-errors", MFD_CLOEXEC);
    a->output = hd_temporary_make(a->file);
    if (a->output < 0) {
        hd_report(diagnostics, HD_DIAG_UNREADABLE, NULL, (hd_span){0, 0}, "cannot write '%s': %s", a->file,
                  strerror(errno));
        return NULL;
    }
    if (a->input < 0 || a->errors < 0 || !hd_tool_write(a->input, source->text, source->length) ||
        lseek(a->input, 0, SEEK_SET) != 0 || !spawn(a, &status)) {
        hd_report(diagnostics, HD_DIAG_MISSING_TOOL, NULL, (hd_span){0, 0}, "%s does not run: %s", a->path,
                  strerror(errno));
        return NULL;
    }
    /* ptxas may have put a new file in its place */
    int file = open(a->file, O_RDONLY | O_CLOEXEC);
    char *cubin = file >= 0 ? hd_tool_read(file, length) : NULL;
    if (file >= 0)
        close(file);
    if (cubin && WIFEXITED(status) && WEXITSTATUS(status) == 0 && *length)
        return cubin;
    free(cubin);
    refuse(a, source, diagnostics);
    return NULL;
}

/* With a file of its own. */
static char *assemble(assembly *a, const hd_source *source, size_t *length, hd_diagnostics *diagnostics)
{
    const char *folder = getenv("TMPDIR");
    if (asprintf(&a->file, "%s/heddle-cubin-XXXXXX", folder && *folder ? folder : "/tmp") < 0)
        hd_out_of_memory(0);
    char *cubin = run(a, source, length, diagnostics);
    const int descriptors[] = {a->input, a->output, a->errors};
    for (uint32_t i = 0; i < sizeof descriptors / sizeof *descriptors; i++)
        if (descriptors[i] >= 0)
            close(descriptors[i]);
    if (a->output >= 0) {
        unlink(a->file);
        hd_temporary_forget(a->file);
    }
    free(a->file);
    return cubin;
}

/* ---- through the cache ------------------------------------------------------------------------------------------- */

static hd_wide_hash key_of(const assembly *a, const hd_source *source, const hd_assembled *made)
{
    hd_writer text;
    hd_wide_hash module = hd_hash_wide(source->text, source->length);
    hd_writer_to_memory(&text);
    hd_write_format(&text, "cubin\n%s\n%s\n" OPTIONS "\n", made->tool, a->arch);
    hd_write(&text, (const char *)module.bytes, sizeof module.bytes);
    hd_wide_hash key = hd_hash_wide(text.buffer.items, text.buffer.count);
    hd_writer_free(&text);
    return key;
}

static void take_cubin(hd_source *source, const char *cubin, size_t length)
{
    hd_source text = *source;
    hd_source_from_memory(source, text.name, cubin, length);
    hd_source_free(&text);
}

bool hd_assemble(hd_source *source, uint32_t sm, const hd_store *cache, hd_assembled *made, hd_diagnostics *diagnostics)
{
    assembly a = {.path = hd_tool_find("ptxas"), .input = -1, .output = -1, .errors = -1};
    *made = (hd_assembled){.sm = sm};
    if (!a.path) {
        hd_diagnostic *d = hd_report(diagnostics, HD_DIAG_MISSING_TOOL, NULL, (hd_span){0, 0},
                                     "--code=machine: there is no ptxas in PATH, CUDA_HOME or /usr/local/cuda to make "
                                     "machine code of '%s'",
                                     source->name);
        hd_note_add(diagnostics, d, NULL, (hd_span){0, 0}, "--code=ptx runs the PTX; a module may be a cubin");
        return false;
    }
    const char suffix[] = {suffix_for(source, sm), '\0'};
    size_t length = 0;
    char *cubin = NULL;
    snprintf(a.arch, sizeof a.arch, "-arch=sm_%u%s", sm, suffix);
    ask_version(a.path, made);
    hd_wide_hash key = key_of(&a, source, made);
    hd_writer kept;
    hd_writer_to_memory(&kept);
    bool good = hd_store_get(cache, key, &kept);
    if (good) {
        take_cubin(source, kept.buffer.items, kept.buffer.count);
    } else if ((cubin = assemble(&a, source, &length, diagnostics))) {
        good = true;
        hd_store_put(cache, key, cubin, length);
        take_cubin(source, cubin, length);
    }
    hd_writer_free(&kept);
    free(cubin);
    free(a.path);
    return good;
}
