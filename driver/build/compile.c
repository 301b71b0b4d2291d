/* See compile.h. The PTX goes to a file in memory, which nvcc's own steps inherit and name /proc/self/fd/N. Linux:
 * memfd_create. */
#include "driver/build/compile.h"

#include "base/path.h"
#include "driver/build/process.h"
#include "driver/build/toolkit.h"
#include "driver/report/tool.h"

#include <errno.h>
#include <stdlib.h>
#include <sys/mman.h>
#include <unistd.h>

enum { MOST_LINES = 40 }; /* of nvcc's messages */

HD_ARRAY_TYPE(word_array, const char *);

bool hd_is_cuda_source(const char *path)
{
    size_t length = strlen(path);
    return length > 3 && strcmp(path + length - 3, ".cu") == 0;
}

static bool names_arch(const hd_compilation *c)
{
    static const char *const options[] = {"-arch", "--gpu-architecture", "-gencode", "--generate-code"};
    for (uint32_t i = 0; i < c->word_count; i++)
        for (size_t o = 0; o < sizeof options / sizeof *options; o++)
            if (strncmp(c->words[i], options[o], strlen(options[o])) == 0)
                return true;
    return false;
}

/* "a.ptx" of "dir/a.cu" */
static const char *ptx_name(const char *path, hd_arena *arena)
{
    const char *name = hd_path_name(path);
    return hd_arena_printf(arena, "%.*s.ptx", (int)(strlen(name) - 3), name);
}

/* The command as a user would give it: without the output, which is the name of the PTX by default. */
static const char *describe(const word_array *words, hd_arena *arena)
{
    const char *text = "nvcc";
    for (uint32_t i = 1; i < words->count && words->items[i]; i++)
        text = hd_arena_printf(arena, "%s %s", text, words->items[i]);
    return text;
}

/* A diagnostic, with the lines of nvcc's messages as notes; its last argument is the message. */
static void report_lines(hd_diagnostic_kind kind, const char *message, char *text, hd_diagnostics *diagnostics)
{
    hd_diagnostic *d = hd_report(diagnostics, kind, NULL, (hd_span){0, 0}, "%s", message);
    char *rest = text;
    for (uint32_t count = 0; d && count < MOST_LINES; count++) {
        char *line = strtok_r(NULL, "\r\n", &rest);
        if (!line)
            break;
        hd_note_add(diagnostics, d, NULL, (hd_span){0, 0}, "%s", line);
    }
}

static bool run(const hd_compilation *c, const word_array *words, int output, hd_source *source, hd_arena *arena,
                hd_diagnostics *diagnostics)
{
    int said = memfd_create("heddle-nvcc", MFD_CLOEXEC);
    const hd_process process = {.arguments = words->items, .output = said};
    int status = said < 0 ? -1 : hd_process_run(&process);
    if (status < 0) {
        hd_report(diagnostics, HD_DIAG_MISSING_TOOL, NULL, (hd_span){0, 0}, "'%s' does not run: %s", words->items[0],
                  strerror(errno));
        if (said >= 0)
            close(said);
        return false;
    }
    size_t length, messages;
    char *text = hd_tool_read(output, &length), *lines = hd_tool_read(said, &messages);
    bool good = status == 0 && length > 0 && length < UINT32_MAX;
    if (good)
        hd_source_from_memory(source, ptx_name(c->path, arena), text, length);
    if (!good)
        report_lines(HD_DIAG_NOT_COMPILED,
                     hd_arena_printf(arena, "nvcc makes no PTX of '%s' (exit status %d)", c->path, status), lines,
                     diagnostics);
    else if (messages)
        report_lines(HD_DIAG_NVCC_MESSAGE, hd_arena_printf(arena, "nvcc on '%s':", c->path), lines, diagnostics);
    free(text);
    free(lines);
    close(said);
    return good;
}

bool hd_compile(const hd_compilation *c, hd_source *source, const char **call, hd_arena *arena,
                hd_diagnostics *diagnostics)
{
    hd_toolkit toolkit;
    word_array words = {0};
    if (!hd_toolkit_find(&toolkit, NULL, arena, diagnostics)) {
        hd_diagnostic *last = diagnostics->last;
        if (last)
            hd_note_add(diagnostics, last, NULL, (hd_span){0, 0},
                        "'%s' is CUDA C++, which nvcc compiles to PTX; PTX made elsewhere (nvcc -ptx -lineinfo) is "
                        "read without it",
                        c->path);
        return false;
    }
    int output = memfd_create("heddle-ptx", 0);
    hd_array_push(&words, toolkit.nvcc);
    hd_array_push(&words, "-ptx");
    hd_array_push(&words, "-lineinfo");
    if (c->arch && !names_arch(c))
        hd_array_push(&words, hd_arena_printf(arena, "-arch=%s", c->arch));
    for (uint32_t i = 0; i < c->word_count; i++)
        hd_array_push(&words, c->words[i]);
    hd_array_push(&words, c->path);
    *call = describe(&words, arena);
    hd_array_push(&words, "-o");
    hd_array_push(&words, hd_arena_printf(arena, "/proc/self/fd/%d", output));
    hd_array_push(&words, NULL);
    bool good = run(c, &words, output, source, arena, diagnostics);
    hd_array_free(&words);
    if (output >= 0)
        close(output);
    return good;
}
