/* Fuzz target of the whole job of replay. The input is a text of sections with lines `%%` between them:
 *
 *   options   GPU TECHNIQUES, then words: time models virtual races uninitialized
 *   launch    the launch file, whose module is k.ptx
 *   PTX       the module
 *   GPU       optional: a description, g.yaml, which takes the place of the GPU
 *
 * Sizes of buffers, arrays and loops are kept small, so that what takes long is a finding. */
#include "tests/fuzz/job.h"

enum { OPTIONS, LAUNCH, MODULE, GPU, SECTIONS };
enum { DIGITS = 4, DIGITS_WITH_LOOPS = 2 };

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

/* Replaces separators by NUL bytes. Returns the number of sections. */
static uint32_t split(char *text, char *sections[SECTIONS])
{
    uint32_t count = 0;
    while (count < SECTIONS && text) {
        sections[count++] = text;
        char *end = strstr(text, "\n%%\n");
        if (end)
            end[1] = '\0';
        text = end ? end + 4 : NULL;
    }
    return count;
}

/* The most digits in a row, of those after `before` only if that is no NUL. */
static size_t longest_number(const char *text, char before)
{
    size_t longest = 0;
    for (const char *at = text; *at; at++) {
        size_t length = strspn(at, "0123456789abcdefABCDEF");
        if (length > longest && (!before || (at > text && at[-1] == before)))
            longest = length;
        at += length ? length - 1 : 0;
    }
    return longest;
}

/* Decimal numbers of the launch file, without exponents. */
static bool is_small(const char *launch)
{
    size_t most =
        strstr(launch, "for") || strstr(launch, "repeat") || strstr(launch, "until") ? DIGITS_WITH_LOOPS : DIGITS;
    for (const char *at = launch; *at; at++) {
        size_t length = strspn(at, "0123456789");
        if (length > most || (length && strchr("eEpPxX", at[length]) && at[length]))
            return false;
        at += length ? length - 1 : 0;
    }
    return !strchr(launch, '/') && !strchr(launch, '*') && !strstr(launch, "<<") && !strstr(launch, "pow");
}

static bool has_word(const char *options, const char *word)
{
    const char *at = strstr(options, word);
    return at && at > options && at[-1] == ' ';
}

static void replay(char *const sections[SECTIONS], bool has_gpu)
{
    char gpu[64] = "", techniques[128] = "";
    if (sscanf(sections[OPTIONS], "%63s %127s", gpu, techniques) != 2 || strchr(gpu, '/') || strchr(gpu, '.'))
        return;
    hd_replay_options options = {.gpu = has_gpu ? "g.yaml" : gpu,
                                 .techniques = techniques,
                                 .time = has_word(sections[OPTIONS], "time"),
                                 .all_models = has_word(sections[OPTIONS], "models"),
                                 .keep_virtual = has_word(sections[OPTIONS], "virtual"),
                                 .check_races = has_word(sections[OPTIONS], "races"),
                                 .check_uninitialized = has_word(sections[OPTIONS], "uninitialized")};
    job_write("k.yaml", sections[LAUNCH], strlen(sections[LAUNCH]));
    job_write("k.ptx", sections[MODULE], strlen(sections[MODULE]));
    if (has_gpu)
        job_write("g.yaml", sections[GPU], strlen(sections[GPU]));
    bool annotated = strstr(sections[MODULE], "//@") || strstr(sections[MODULE], ".heddle");
    job_replay(&options, "k.yaml", !annotated);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    char *text = hd_calloc(size + 1, 1), *sections[SECTIONS];
    memcpy(text, data, size);
    job_enter();
    uint32_t count = split(text, sections);
    if (count > MODULE && is_small(sections[LAUNCH]) && longest_number(sections[MODULE], '[') <= DIGITS)
        replay(sections, count > GPU);
    free(text);
    return 0;
}
