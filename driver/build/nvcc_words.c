/* See nvcc_words.h. */
#include "driver/build/nvcc_words.h"

#include <stdlib.h>

enum { DEEPEST_FILE = 8 };

typedef struct scan {
    hd_diagnostics *diagnostics;
    const char *before; /* the word before */
    bool rewrites, good;
} scan;

static bool is_one_of(const char *word, const char *const *list)
{
    for (; *list; list++)
        if (strcmp(word, *list) == 0)
            return true;
    return false;
}

static bool ends_with(const char *word, const char *end)
{
    size_t length = strlen(word), tail = strlen(end);
    return length >= tail && strcmp(word + length - tail, end) == 0;
}

/* "-dlto", "-dlto=true" */
static bool is_switched_on(const char *word, const char *const *list)
{
    for (; *list; list++) {
        size_t length = strlen(*list);
        if (strncmp(word, *list, length) == 0 && (!word[length] || strcmp(word + length, "=true") == 0))
            return true;
    }
    return false;
}

static void refuse(scan *s, const char *word, const char *why)
{
    hd_report(s->diagnostics, HD_DIAG_NOT_REWRITTEN, NULL, (hd_span){0, 0}, "'%s': %s", word, why);
    s->good = false;
}

/* "lto_80" among architectures: in an option, or in the argument of one. */
static bool names_lto(const char *before, const char *word)
{
    static const char *const takers[] = {"-gencode", "--generate-code", "-arch", "--gpu-architecture",
                                         "-code",    "--gpu-code",      NULL};
    const char *at = strstr(word, "lto_");
    return at && at[4] >= '0' && at[4] <= '9' && (word[0] == '-' || is_one_of(before, takers));
}

static void look_at(scan *s, const char *word)
{
    static const char *const lto[] = {"-dlto",   "--dlink-time-opt", "-lto",       "--lto", "-ltoir",
                                      "--ltoir", "-optix-ir",        "--optix-ir", NULL};
    /* options whose argument may be a file that ends in .ptx and is no input */
    static const char *const takers[] = {"-o",  "--output-file",       "-MT", "--dependency-target-name",
                                         "-MF", "--dependency-output", NULL};
    if (is_switched_on(word, lto) || names_lto(s->before, word))
        refuse(s, word, "the front end writes no PTX then, which ptxas and the step before it would read");
    else if (s->rewrites && *word != '-' && ends_with(word, ".ptx") && !is_one_of(s->before, takers))
        refuse(s, word, "a PTX input goes to ptxas as it is: run 'heddle rewrite' on it");
    s->before = word;
}

static void scan_text(scan *s, const char *text, uint32_t depth);

/* FILE,FILE: what cannot be read, nvcc reports. */
static void scan_files(scan *s, const char *list, uint32_t depth)
{
    while (*list && depth < DEEPEST_FILE) {
        size_t length = strcspn(list, ",");
        hd_source file;
        hd_arena arena = {0};
        if (hd_source_read(&file, hd_arena_string(&arena, list, length))) {
            s->before = "";
            scan_text(s, file.text, depth + 1);
            hd_source_free(&file);
        }
        hd_arena_free(&arena);
        list += length + (list[length] == ',');
    }
}

static void scan_word(scan *s, const char *word, uint32_t depth)
{
    const char *equals = strchr(word, '=');
    bool inside = strncmp(word, "-optf=", 6) == 0 || strncmp(word, "--options-file=", 15) == 0;
    if (inside || strcmp(s->before, "-optf") == 0 || strcmp(s->before, "--options-file") == 0) {
        scan_files(s, inside ? equals + 1 : word, depth);
        s->before = "";
    } else {
        look_at(s, word);
    }
}

/* Words between blanks; quotes and backslashes inside a word do not matter here. */
static void scan_text(scan *s, const char *text, uint32_t depth)
{
    hd_arena arena = {0};
    for (const char *at = text + strspn(text, " \t\r\n\"'"); *at;) {
        size_t length = strcspn(at, " \t\r\n\"'");
        scan_word(s, hd_arena_string(&arena, at, length), depth);
        at += length;
        at += strspn(at, " \t\r\n\"'");
    }
    s->before = "";
    hd_arena_free(&arena);
}

bool hd_nvcc_words_fit(const char *const *words, uint32_t count, bool rewrites, hd_diagnostics *diagnostics)
{
    static const char *const variables[] = {"NVCC_PREPEND_FLAGS", "NVCC_APPEND_FLAGS"};
    scan s = {.diagnostics = diagnostics, .before = "", .rewrites = rewrites, .good = true};
    for (uint32_t i = 0; i < count; i++) {
        scan_word(&s, words[i], 0);
        s.before = words[i];
    }
    s.before = "";
    for (size_t i = 0; i < sizeof variables / sizeof *variables; i++)
        if (getenv(variables[i]))
            scan_text(&s, getenv(variables[i]), 0);
    return s.good;
}

const char *hd_cicc_output(const char *const *words, uint32_t count)
{
    for (uint32_t i = 0; i + 1 < count; i++)
        if (strcmp(words[i], "-o") == 0)
            return words[i + 1];
    return NULL;
}
