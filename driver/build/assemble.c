/* Machine code of a PTX module: ptxas assembles it, for the architecture of the GPU. Papers' machines older than sm_75,
 * whose code it no longer makes, run that of sm_75, or of the module's own architecture where that is newer. The cubin
 * is in a file that is removed at once. */
#include "base/temporary.h"
#include "driver/replay/replay_work.h"
#include "driver/report/tool.h"
#include "parser/recognize.h"

#include <errno.h>
#include <fcntl.h>
#include <spawn.h>
#include <stdio.h>
#include <sys/mman.h>
#include <sys/wait.h>
#include <unistd.h>

extern char **environ;

enum { OLDEST = 75 };

typedef struct assembly {
    char *path;                /* the program */
    char arch[24];             /* -arch=sm_90 */
    char *file;                /* that receives the cubin */
    int input, output, errors; /* descriptors; -1: none */
} assembly;

static bool spawn(assembly *a, int *status)
{
    const char *arguments[] = {a->path, a->arch, "-lineinfo", "-o", a->file, "-", NULL};
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

static bool run(assembly *a, hd_source *source, hd_diagnostics *diagnostics)
{
    int status = -1;
    size_t length;
    a->input = memfd_create("heddle-ptx", MFD_CLOEXEC);
    a->errors = memfd_create("heddle-errors", MFD_CLOEXEC);
    a->output = hd_temporary_make(a->file);
    if (a->output < 0) {
        hd_report(diagnostics, HD_DIAG_UNREADABLE, NULL, (hd_span){0, 0}, "cannot write '%s': %s", a->file,
                  strerror(errno));
        return false;
    }
    if (a->input < 0 || a->errors < 0 || !hd_tool_write(a->input, source->text, source->length) ||
        lseek(a->input, 0, SEEK_SET) != 0 || !spawn(a, &status)) {
        hd_report(diagnostics, HD_DIAG_MISSING_TOOL, NULL, (hd_span){0, 0}, "%s does not run: %s", a->path,
                  strerror(errno));
        return false;
    }
    /* ptxas may have put a new file in its place */
    int made = open(a->file, O_RDONLY | O_CLOEXEC);
    char *cubin = made >= 0 ? hd_tool_read(made, &length) : NULL;
    if (made >= 0)
        close(made);
    bool good = cubin && WIFEXITED(status) && WEXITSTATUS(status) == 0 && length;
    if (good) {
        hd_source text = *source;
        hd_source_from_memory(source, text.name, cubin, length);
        hd_source_free(&text);
    } else {
        refuse(a, source, diagnostics);
    }
    free(cubin);
    return good;
}

/* The number of `.target sm_80`, at the beginning of a line; 0: there is none. */
static uint32_t target_of(const hd_source *source)
{
    static const char target[] = "\n.target sm_";
    const char *at = memmem(source->text, source->length, target, strlen(target));
    return at ? (uint32_t)strtoul(at + strlen(target), NULL, 10) : 0;
}

bool replay_assemble(const hd_gpu *gpu, hd_source *source, hd_diagnostics *diagnostics)
{
    assembly a = {.path = hd_tool_find("ptxas"), .input = -1, .output = -1, .errors = -1};
    uint32_t sm = gpu->compute_major * 10 + gpu->compute_minor;
    if (sm < OLDEST) {
        sm = target_of(source);
        sm = sm < OLDEST ? OLDEST : sm;
    }
    if (!a.path) {
        hd_diagnostic *d = hd_report(diagnostics, HD_DIAG_MISSING_TOOL, NULL, (hd_span){0, 0},
                                     "--code=machine: there is no ptxas in PATH, CUDA_HOME or /usr/local/cuda to make "
                                     "machine code of '%s'",
                                     source->name);
        hd_note_add(diagnostics, d, NULL, (hd_span){0, 0}, "--code=ptx runs the PTX; a module may be a cubin");
        return false;
    }
    const char *folder = getenv("TMPDIR");
    if (asprintf(&a.file, "%s/heddle-cubin-XXXXXX", folder && *folder ? folder : "/tmp") < 0)
        hd_out_of_memory(0);
    snprintf(a.arch, sizeof a.arch, "-arch=sm_%u", sm);
    bool good = run(&a, source, diagnostics);
    const int descriptors[] = {a.input, a.output, a.errors};
    for (uint32_t i = 0; i < sizeof descriptors / sizeof *descriptors; i++)
        if (descriptors[i] >= 0)
            close(descriptors[i]);
    if (a.output >= 0) {
        unlink(a.file);
        hd_temporary_forget(a.file);
    }
    free(a.file);
    free(a.path);
    return good;
}
