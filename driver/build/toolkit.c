/* See toolkit.h. Tried with nvcc 13.0. Earlier toolkits whose profile has no CICC_PATH find cicc in PATH, where the
 * shadow folder is put first. */
#include "driver/build/toolkit.h"

#include "base/open.h"
#include "base/path.h"
#include "base/writer.h"
#include "driver/build/process.h"

#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/stat.h>
#include <unistd.h>

/* ---- finding it -------------------------------------------------------------------------------------------------- */

/* The path where links lead, in the arena; NULL: there is nothing. */
static const char *resolve(hd_arena *arena, const char *path)
{
    char resolved[PATH_MAX];
    return realpath(path, resolved) ? hd_arena_string(arena, resolved, strlen(resolved)) : NULL;
}

static bool is_program(const char *path)
{
    struct stat status;
    return stat(path, &status) == 0 && S_ISREG(status.st_mode) && access(path, X_OK) == 0;
}

/* Machine code, and no script, which would call another nvcc. */
static bool is_machine_code(const char *path)
{
    char magic[4] = {0};
    int file = hd_open_input(path);
    bool good = file >= 0 && read(file, magic, sizeof magic) == (ssize_t)sizeof magic;
    if (file >= 0)
        close(file);
    return good && memcmp(magic, "\177ELF", sizeof magic) == 0;
}

/* A link named nvcc may lead to ccache. */
static const char *if_nvcc(hd_arena *arena, const char *path)
{
    const char *real = is_program(path) && is_machine_code(path) ? resolve(arena, path) : NULL;
    return real && strcmp(hd_path_name(real), "nvcc") == 0 ? path : NULL;
}

/* The line "#$ _HERE_=FOLDER" of what nvcc --dryrun prints. */
static const char *folder_in_output(hd_arena *arena, FILE *output)
{
    static const char start[] = "#$ _HERE_=";
    char line[PATH_MAX + sizeof start];
    while (fgets(line, sizeof line, output))
        if (strncmp(line, start, strlen(start)) == 0) {
            line[strcspn(line, "\n")] = 0;
            return hd_arena_string(arena, line + strlen(start), strlen(line + strlen(start)));
        }
    return NULL;
}

/* The nvcc that a script, or a program such as ccache, calls: it says where it is. NULL: none. */
static const char *if_wrapper(hd_arena *arena, const char *path)
{
    const char *const words[] = {path, "--dryrun", "-E", "-x", "cu", "/dev/null", NULL}, *folder = NULL;
    FILE *output = is_program(path) ? tmpfile() : NULL;
    if (!output)
        return NULL;
    if (hd_process_run(&(hd_process){.arguments = words, .output = fileno(output)}) == 0) {
        rewind(output);
        folder = folder_in_output(arena, output);
    }
    fclose(output);
    return folder ? if_nvcc(arena, hd_arena_printf(arena, "%s/nvcc", folder)) : NULL;
}

static const char *in_path(hd_arena *arena, const char *(*take)(hd_arena *arena, const char *path))
{
    const char *folders = getenv("PATH"), *found = NULL;
    for (const char *at = folders ? folders : ""; *at && !found;) {
        size_t length = strcspn(at, ":");
        if (length)
            found = take(arena, hd_arena_printf(arena, "%.*s/nvcc", (int)length, at));
        at += length + (at[length] == ':');
    }
    return found;
}

static const char *find_nvcc(hd_arena *arena)
{
    static const char *const places[] = {"/usr/local/cuda/bin/nvcc", "/usr/lib/nvidia-cuda-toolkit/bin/nvcc"};
    const char *cuda = getenv("CUDA_HOME"), *found = in_path(arena, if_nvcc);
    if (!found && cuda)
        found = if_nvcc(arena, hd_arena_printf(arena, "%s/bin/nvcc", cuda));
    for (size_t i = 0; !found && i < sizeof places / sizeof *places; i++)
        found = if_nvcc(arena, places[i]);
    return found ? found : in_path(arena, if_wrapper);
}

static bool missing(hd_diagnostics *diagnostics, const char *what)
{
    hd_report(diagnostics, HD_DIAG_MISSING_TOOL, NULL, (hd_span){0, 0}, "%s", what);
    return false;
}

/* Beside nvcc, whose folder names the toolkit's include folders in what it makes: links are left as they are. */
static bool find_profile(hd_toolkit *toolkit, const char *nvcc, hd_arena *arena)
{
    hd_source profile;
    toolkit->nvcc = nvcc;
    toolkit->folder = hd_arena_string(arena, nvcc, (size_t)(hd_path_name(nvcc) - nvcc - 1));
    if (!hd_source_read(&profile, hd_arena_printf(arena, "%s/nvcc.profile", toolkit->folder)))
        return false;
    toolkit->profile = hd_arena_string(arena, profile.text, profile.length);
    hd_source_free(&profile);
    return true;
}

bool hd_toolkit_find(hd_toolkit *toolkit, const char *nvcc, hd_arena *arena, hd_diagnostics *diagnostics)
{
    char here[PATH_MAX];
    if (nvcc && !strchr(nvcc, '/'))
        nvcc = NULL;
    if (nvcc && *nvcc != '/' && getcwd(here, sizeof here)) /* the shadow folder is elsewhere */
        nvcc = hd_arena_printf(arena, "%s/%s", here, nvcc);
    if (nvcc && !is_program(nvcc))
        return missing(diagnostics, hd_arena_printf(arena, "'%s' is no program", nvcc));
    const char *given = nvcc;
    if (nvcc && !if_nvcc(arena, nvcc) && !(nvcc = if_wrapper(arena, nvcc)))
        return missing(diagnostics, hd_arena_printf(arena, "'%s' is not nvcc, and calls none", given));
    if (!nvcc && !(nvcc = find_nvcc(arena)))
        return missing(diagnostics, "there is no nvcc in PATH, CUDA_HOME or /usr/local/cuda");
    if (!find_profile(toolkit, nvcc, arena) && !find_profile(toolkit, resolve(arena, nvcc), arena))
        return missing(diagnostics, hd_arena_printf(arena, "there is no nvcc.profile beside '%s'", nvcc));
    toolkit->cicc = hd_arena_printf(arena, "%s/../nvvm/bin/cicc", toolkit->folder);
    return is_program(toolkit->cicc) || missing(diagnostics, hd_arena_printf(arena, "there is no '%s'", toolkit->cicc));
}

/* ---- the shadow folder ------------------------------------------------------------------------------------------- */

/* The words of a profile's line "NAME = VALUE", "+=" or "=+": whether it sets the variable. */
static bool sets(const char *line, const char *name)
{
    size_t length = strlen(name);
    const char *after = line + length;
    return strncmp(line, name, length) == 0 && (*after == ' ' || *after == '\t' || *after == '+' || *after == '=');
}

/* The profile of the toolkit, with its own folder named and the front end in the shadow folder. */
static void write_profile(hd_writer *writer, const hd_toolkit *toolkit, const char *shadow)
{
    static const char here[] = "$(_HERE_)";
    for (const char *line = toolkit->profile; *line;) {
        const char *end = line + strcspn(line, "\n");
        if (sets(line, "PATH"))
            hd_write_format(writer, "PATH += %s:\n", shadow);
        for (const char *at = line; at < end && !sets(line, "CICC_PATH"); at++) {
            bool is_here = strncmp(at, here, strlen(here)) == 0;
            if (is_here)
                hd_write_string(writer, toolkit->folder);
            else
                hd_write_char(writer, *at);
            at += is_here ? strlen(here) - 1 : 0;
        }
        if (sets(line, "CICC_PATH"))
            hd_write_format(writer, "CICC_PATH = %s", shadow);
        hd_write_char(writer, '\n');
        line = end + (*end == '\n');
    }
}

static void write_script(hd_writer *writer, const char *const *step, uint32_t count)
{
    hd_write_string(writer, "#!/bin/sh\nexec ");
    for (uint32_t i = 0; i < count; i++) {
        hd_write_shell_word(writer, step[i]);
        hd_write_char(writer, ' ');
    }
    hd_write_string(writer, "\"$@\"\n");
}

static bool save(hd_writer *text, const char *path, mode_t mode)
{
    hd_writer to;
    int file = open(path, O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC, mode);
    if (file < 0)
        return false;
    hd_writer_to_descriptor(&to, file);
    hd_write(&to, text->buffer.items, text->buffer.count);
    bool good = hd_writer_flush(&to);
    hd_writer_free(&to);
    return close(file) == 0 && good;
}

static bool fill(hd_shadow *shadow, const hd_toolkit *toolkit, const char *const *step, uint32_t count, hd_arena *arena)
{
    enum { EXECUTABLE = 0700, READABLE = 0600 };
    hd_writer profile, script;
    hd_writer_to_memory(&profile);
    hd_writer_to_memory(&script);
    shadow->bin = hd_arena_printf(arena, "%s/bin", shadow->folder);
    write_profile(&profile, toolkit, shadow->bin);
    write_script(&script, step, count);
    for (uint32_t i = 0; i < HD_SHADOW_FILES; i++) {
        static const char *const names[HD_SHADOW_FILES] = {"bin/nvcc", "bin/crt", "bin/nvcc.profile", "bin/cicc",
                                                           "targets"};
        shadow->files[i] = hd_arena_printf(arena, "%s/%s", shadow->folder, names[i]);
    }
    bool good = mkdir(shadow->bin, EXECUTABLE) == 0 &&
                symlink(hd_arena_printf(arena, "%s/../targets", toolkit->folder), shadow->files[4]) == 0 &&
                symlink(toolkit->nvcc, shadow->files[0]) == 0 &&
                symlink(hd_arena_printf(arena, "%s/crt", toolkit->folder), shadow->files[1]) == 0 &&
                save(&profile, shadow->files[2], READABLE) && save(&script, shadow->files[3], EXECUTABLE);
    hd_writer_free(&profile);
    hd_writer_free(&script);
    return good;
}

bool hd_shadow_make(hd_shadow *shadow, const hd_toolkit *toolkit, const char *const *step, uint32_t count,
                    hd_arena *arena, hd_diagnostics *diagnostics)
{
    const char *where = getenv("TMPDIR");
    char *folder = hd_arena_printf(arena, "%s/heddle-nvcc.XXXXXX", where && *where ? where : "/tmp");
    *shadow = (hd_shadow){0};
    if (mkdtemp(folder)) {
        shadow->folder = folder;
        if (fill(shadow, toolkit, step, count, arena))
            return true;
    }
    hd_report(diagnostics, HD_DIAG_UNREADABLE, NULL, (hd_span){0, 0}, "cannot make '%s': %s", folder, strerror(errno));
    hd_shadow_remove(shadow);
    return false;
}

void hd_shadow_remove(const hd_shadow *shadow)
{
    for (uint32_t i = 0; i < HD_SHADOW_FILES; i++)
        if (shadow->files[i])
            unlink(shadow->files[i]);
    if (shadow->bin)
        rmdir(shadow->bin);
    if (shadow->folder)
        rmdir(shadow->folder);
}
