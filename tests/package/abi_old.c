/* A program that was compiled against an earlier heddle.h, whose structures of settings are shorter.
 *
 *   abi_old MODULE.ptx LAUNCH.yaml
 *
 * It declares what it uses as that header did, and includes nothing of heddle. Each structure lies before a page that
 * may not be read. It writes the rewritten module, the report and the replay; the rest has its default. */
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

typedef struct hd_context hd_context;
typedef struct hd_input {
    const char *name;
    const char *text;
    size_t length;
} hd_input;
typedef struct hd_text {
    char *bytes;
    size_t length;
} hd_text;

typedef struct rewrite_settings {
    size_t size;
    const char *passes;
    const char *kernel;
    uint32_t threads;
    bool extended, canonical, no_section;
} rewrite_settings;

typedef struct report_settings {
    size_t size;
    const char *gpu, *kernel, *require, *ptxas;
    uint32_t block, shared_bytes;
    bool shared_known;
    uint32_t max_registers, threads;
    int format;
} report_settings;

typedef struct replay_settings {
    size_t size;
    const char *gpu;
    const char *const *gpu_values;
    size_t gpu_value_count;
    const char *techniques;
    bool all_models;
    uint32_t threads;
    int format;
    bool counters, keep_virtual;
    uint32_t max_registers;
    bool time;
    uint32_t sms, sample;
} replay_settings;

hd_context *hd_context_new(void);
void hd_context_free(hd_context *context);
void hd_text_free(hd_text *text);
int hd_context_rewrite(hd_context *context, const hd_input *input, const rewrite_settings *settings, hd_text *out);
int hd_context_report(hd_context *context, const hd_input *input, const report_settings *settings, hd_text *report);
int hd_context_replay(hd_context *context, const char *const *launch_files, size_t count,
                      const replay_settings *settings, hd_text *report);

/* A copy of the bytes that ends where memory ends; NULL: there is no memory. */
static const void *at_the_end(const void *bytes, size_t size)
{
    size_t page = (size_t)sysconf(_SC_PAGESIZE);
    char *pages = mmap(NULL, 2 * page, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
    if (pages == MAP_FAILED || mprotect(pages + page, page, PROT_NONE) != 0)
        return NULL;
    return memcpy(pages + page - size, bytes, size);
}

static int show(int status, hd_text *text)
{
    fwrite(text->bytes, 1, text->length, stdout);
    hd_text_free(text);
    return status;
}

int main(int count, char **arguments)
{
    const hd_input input = {.name = arguments[1]};
    const char *const files[] = {arguments[2]};
    hd_text text;
    if (count != 3)
        return 2;
    const rewrite_settings rewrite = {.size = sizeof rewrite, .passes = "bow(iw=3)", .canonical = true};
    const report_settings report = {.size = sizeof report, .gpu = "sm_80", .block = 64};
    const replay_settings replay = {
        .size = sizeof replay, .techniques = "bow", .max_registers = 32, .time = true, .sms = 1};
    hd_context *context = hd_context_new();
    int bad = show(hd_context_rewrite(context, &input, at_the_end(&rewrite, sizeof rewrite), &text), &text);
    bad |= show(hd_context_report(context, &input, at_the_end(&report, sizeof report), &text), &text);
    bad |= show(hd_context_replay(context, files, 1, at_the_end(&replay, sizeof replay), &text), &text);
    hd_context_free(context);
    return bad;
}
