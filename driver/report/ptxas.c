/* Runs ptxas: see ptxas.h. The text is passed on standard input from memory, and its output is collected in memory, so
 * that it runs without a reader. Linux: memfd_create. */
#include "driver/report/ptxas.h"
#include "driver/report/tool.h"

#include <errno.h>
#include <signal.h>
#include <spawn.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

struct hd_ptxas {
    char *path, arch_option[64], limit[16]; /* limit: "0": none */
    const char *entries;                    /* NULL: all */
    bool silent;
    pid_t process;
    int input, output;
    uint32_t seconds;
    struct timespec started;
};

enum { NANOSECONDS = 1000000000, FIRST_PAUSE_NS = 50000, LONGEST_PAUSE_NS = 5000000 };

/* ---- parsing its output ------------------------------------------------------------------------------------------ */

/* The number before a word of the line: "12 registers"; 0 if there is none. */
static uint64_t number_before(const char *line, const char *word)
{
    const char *at = strstr(line, word);
    if (!at || at == line || at[-1] != ' ')
        return 0;
    const char *digits = at - 1;
    while (digits > line && digits[-1] >= '0' && digits[-1] <= '9')
        digits--;
    return strtoull(digits, NULL, 10);
}

/* The quoted text, or the word up to the next blank. */
static const char *name_after(hd_arena *arena, const char *line, const char *words)
{
    const char *at = strstr(line, words);
    if (!at)
        return NULL;
    at += strlen(words);
    bool quoted = *at == '\'';
    at += quoted;
    return hd_arena_string(arena, at, strcspn(at, quoted ? "'" : " "));
}

/* After the severity and a colon, or NULL: "warning : text". */
static const char *text_after(const char *at, const char *severity)
{
    size_t length = strlen(severity);
    if (strncmp(at, severity, length) != 0)
        return NULL;
    at += length + strspn(at + length, " ");
    return *at == ':' ? at + 1 + strspn(at + 1, " ") : NULL;
}

/* "ptxas warning : text", "ptxas info    : (C7508) text", "ptxas FILE, line 12; warning : text". Infos without a code
 * are statistics, except for advice. */
static bool read_message(const char *line, hd_ptxas_result *r)
{
    hd_ptxas_message m = {0};
    const char *at = line + 6, *place = strstr(line, ", line "), *text;
    if (strncmp(line, "ptxas ", 6) != 0)
        return false;
    if (place) {
        char *end;
        m.line = (uint32_t)strtoul(place + 7, &end, 10);
        at = *end == ';' ? end + 1 + strspn(end + 1, " ") : at;
        m.line = *end == ';' ? m.line : 0;
    }
    text = text_after(at, "warning");
    m.is_warning = text != NULL;
    text = text ? text : text_after(at, "info");
    if (!text)
        return false;
    size_t coded = text[0] == '(' && text[1] == 'C' ? strspn(text + 2, "0123456789") : 0;
    if (coded && text[2 + coded] == ')') {
        m.code = hd_arena_string(&r->arena, text + 1, coded + 1);
        text += coded + 3 + strspn(text + coded + 3, " ");
    } else if (!m.is_warning && strncmp(text, "Advisory", 8) != 0) {
        return false;
    }
    m.text = hd_arena_string(&r->arena, text, strcspn(text, "\r"));
    hd_array_push(&r->messages, m);
    return true;
}

static void read_line(const char *line, hd_ptxas_result *r, bool *of_kernel)
{
    hd_ptxas_kernel *last = r->kernels.count ? &hd_array_last(&r->kernels) : NULL;
    if (read_message(line, r))
        return;
    const char *name = name_after(&r->arena, line, "Compiling entry function ");
    if (name) {
        hd_array_push(&r->kernels, (hd_ptxas_kernel){.name = name});
        *of_kernel = true;
    } else if ((name = name_after(&r->arena, line, "Function properties for ")) != NULL) {
        *of_kernel = last && strcmp(last->name, name) == 0;
    } else if (last && *of_kernel && strstr(line, " bytes stack frame")) {
        last->stack_bytes = number_before(line, "bytes stack frame");
        last->spill_stores = number_before(line, "bytes spill stores");
        last->spill_loads = number_before(line, "bytes spill loads");
    } else if (last && strstr(line, "Used ") && strstr(line, " registers")) {
        last->registers = (uint32_t)number_before(line, "registers");
        last->barriers = (uint32_t)number_before(line, "barriers");
        last->shared_bytes = number_before(line, "bytes smem");
    } else if (!r->error && (strstr(line, "error") || strstr(line, "fatal"))) {
        r->error = hd_arena_string(&r->arena, line, strlen(line));
    }
}

static int compare_kernels(const void *a, const void *b)
{
    return strcmp(((const hd_ptxas_kernel *)a)->name, ((const hd_ptxas_kernel *)b)->name);
}

/* Parses the standard error of ptxas -v; unknown lines are skipped. Linear, then sorts. */
static void read_output(const char *text, size_t length, hd_ptxas_result *result)
{
    hd_arena lines = {0};
    bool of_kernel = false;
    *result = (hd_ptxas_result){0};
    for (const char *at = text, *end = text + length; at < end;) {
        const char *newline = memchr(at, '\n', (size_t)(end - at));
        size_t count = (size_t)((newline ? newline : end) - at);
        read_line(hd_arena_string(&lines, at, count), result, &of_kernel);
        at += count + 1;
    }
    if (result->kernels.count)
        qsort(result->kernels.items, result->kernels.count, sizeof *result->kernels.items, compare_kernels);
    hd_arena_free(&lines);
}

const hd_ptxas_kernel *hd_ptxas_find(const hd_ptxas_result *result, const char *name)
{
    hd_ptxas_kernel key = {.name = name};
    return result->kernels.count
               ? bsearch(&key, result->kernels.items, result->kernels.count, sizeof key, compare_kernels)
               : NULL;
}

void hd_ptxas_free(hd_ptxas_result *result)
{
    hd_array_free(&result->kernels);
    hd_array_free(&result->messages);
    hd_arena_free(&result->arena);
}

/* ---- running it -------------------------------------------------------------------------------------------------- */

extern char **environ;

/* alone: one module of several (-c), whose extern functions are in others. */
static bool spawn(hd_ptxas *p, bool alone)
{
    const char *arguments[12] = {p->path, "-v", p->arch_option, "-o", "/dev/null", "-"};
    uint32_t count = 6;
    if (strcmp(p->limit, "0") != 0) {
        arguments[count++] = "-maxrregcount";
        arguments[count++] = p->limit;
    }
    if (p->entries) {
        arguments[count++] = "-e";
        arguments[count++] = p->entries;
    }
    arguments[count] = alone ? "-c" : NULL;
    posix_spawn_file_actions_t actions;
    posix_spawn_file_actions_init(&actions);
    posix_spawn_file_actions_adddup2(&actions, p->input, STDIN_FILENO);
    posix_spawn_file_actions_addopen(&actions, STDOUT_FILENO, "/dev/null", 1, 0);
    posix_spawn_file_actions_adddup2(&actions, p->output, STDERR_FILENO);
    errno = posix_spawn(&p->process, p->path, &actions, NULL, (char *const *)(uintptr_t)arguments, environ);
    posix_spawn_file_actions_destroy(&actions);
    return errno == 0;
}

static void free_run(hd_ptxas *p)
{
    if (p->input >= 0)
        close(p->input);
    if (p->output >= 0)
        close(p->output);
    free(p->path);
    free(p);
}

static bool give_up(hd_ptxas_result *result, hd_diagnostics *diagnostics, bool silent, const char *why)
{
    result->unknown = why;
    if (!silent)
        hd_report(diagnostics, HD_DIAG_UNAVAILABLE_PTXAS, NULL, (hd_span){0, 0}, "%s", why);
    return false;
}

hd_ptxas *hd_ptxas_start(const hd_ptxas_request *request, hd_ptxas_result *result, hd_diagnostics *diagnostics)
{
    hd_ptxas *p = hd_calloc(1, sizeof *p);
    *result = (hd_ptxas_result){0};
    p->seconds = request->seconds;
    p->entries = request->entries;
    p->silent = request->silent;
    clock_gettime(CLOCK_MONOTONIC, &p->started);
    p->path = *request->path ? strdup(request->path) : hd_tool_find("ptxas");
    p->input = memfd_create("heddle-ptx", MFD_CLOEXEC);
    p->output = memfd_create("heddle-ptxas", MFD_CLOEXEC);
    snprintf(p->arch_option, sizeof p->arch_option, "-arch=%s", request->arch);
    snprintf(p->limit, sizeof p->limit, "%u", request->max_registers);
    if (p->path && p->input >= 0 && p->output >= 0 && hd_tool_write(p->input, request->text, request->length) &&
        lseek(p->input, 0, SEEK_SET) == 0 && spawn(p, false))
        return p;
    if (p->path)
        give_up(result, diagnostics, p->silent,
                hd_arena_printf(&result->arena, "%s does not run: %s", p->path, strerror(errno)));
    else
        give_up(result, diagnostics, request->if_found || p->silent,
                "there is no ptxas in PATH, CUDA_HOME or /usr/local/cuda");
    free_run(p);
    return NULL;
}

static int wait_for(pid_t process)
{
    int status = -1;
    while (waitpid(process, &status, 0) < 0 && errno == EINTR)
        ;
    return status;
}

static bool is_late(const hd_ptxas *p)
{
    struct timespec now;
    clock_gettime(CLOCK_MONOTONIC, &now);
    int64_t waited_ns = (now.tv_sec - p->started.tv_sec) * NANOSECONDS + now.tv_nsec - p->started.tv_nsec;
    return p->seconds && waited_ns >= (int64_t)p->seconds * NANOSECONDS;
}

/* As wait_for; but it is stopped when its time is over, and *late is set. */
static int wait_in_time(const hd_ptxas *p, bool *late)
{
    int status = -1;
    struct timespec pause = {0, FIRST_PAUSE_NS};
    for (;;) {
        pid_t ended = waitpid(p->process, &status, WNOHANG);
        if (ended == p->process || (ended < 0 && errno != EINTR))
            return status;
        if ((*late = is_late(p))) {
            kill(p->process, SIGKILL);
            return wait_for(p->process);
        }
        nanosleep(&pause, NULL);
        pause.tv_nsec = hd_min(2 * pause.tv_nsec, LONGEST_PAUSE_NS);
    }
}

/* "... release 13.0, V13.0.48" -> "13.0.48" */
static const char *ask_version(hd_ptxas *p, hd_arena *arena)
{
    char command[] = "--version", *arguments[] = {p->path, command, NULL};
    int pipes[2];
    posix_spawn_file_actions_t actions;
    char text[1024];
    ssize_t length = 0;
    if (pipe(pipes) != 0)
        return NULL;
    posix_spawn_file_actions_init(&actions);
    posix_spawn_file_actions_adddup2(&actions, pipes[1], STDOUT_FILENO);
    posix_spawn_file_actions_addclose(&actions, pipes[0]);
    bool started = posix_spawn(&p->process, p->path, &actions, NULL, arguments, environ) == 0;
    posix_spawn_file_actions_destroy(&actions);
    close(pipes[1]);
    for (ssize_t n; started && length < (ssize_t)sizeof text - 1 &&
                    (n = read(pipes[0], text + length, sizeof text - 1 - (size_t)length)) > 0;)
        length += n;
    close(pipes[0]);
    if (started)
        wait_for(p->process);
    text[length] = '\0';
    const char *at = strstr(text, ", V");
    return at ? hd_arena_string(arena, at + 3, strcspn(at + 3, " \r\n")) : NULL;
}

/* Waits for it and reads its output; returns whether it accepted the module. */
static bool read_answer(hd_ptxas *p, hd_ptxas_result *result, bool *late)
{
    size_t length;
    int status = wait_in_time(p, late);
    char *text = hd_tool_read(p->output, &length);
    read_output(text, length, result);
    free(text);
    return !*late && WIFEXITED(status) && WEXITSTATUS(status) == 0;
}

/* Only ptxas knows which functions are built in (vprintf, malloc). So -c is used only after it has reported that others
 * are missing, because with -c the counts that depend on callees would be lost for complete modules. */
static bool ask_alone(hd_ptxas *p, hd_ptxas_result *result, bool *late)
{
    if (!result->error || !strstr(result->error, "Unresolved extern function"))
        return false;
    if (lseek(p->input, 0, SEEK_SET) != 0 || ftruncate(p->output, 0) != 0 || lseek(p->output, 0, SEEK_SET) != 0 ||
        !spawn(p, true))
        return false;
    hd_ptxas_free(result);
    bool good = read_answer(p, result, late);
    result->alone = true;
    return good;
}

bool hd_ptxas_finish(hd_ptxas *p, hd_ptxas_result *result, hd_diagnostics *diagnostics)
{
    bool late = false, good = read_answer(p, result, &late) || (!late && ask_alone(p, result, &late));
    result->version = good && !p->silent ? ask_version(p, &result->arena) : NULL;
    if (late)
        give_up(result, diagnostics, p->silent,
                hd_arena_printf(&result->arena, "ptxas was stopped after %u s", p->seconds));
    else if (!good)
        give_up(result, diagnostics, p->silent,
                hd_arena_printf(&result->arena, "ptxas refused the module: %s",
                                result->error ? result->error : "it did not say why"));
    free_run(p);
    return good;
}
