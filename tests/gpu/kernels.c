/* Runs kernels that unit tests recorded (KERNEL_RECORD=FILE, see tests/unit/kernel.h) on a GPU, and compares their
 * output with the functional model's, bit for bit.
 *
 *   kernels FILE [PART PARTS]
 *
 * One line for each kernel that differs, with its place in the file, the first difference and the lines of the text
 * that neither load nor store; a summary last. Kernels equal to an earlier one are skipped, and such that the driver
 * does not load counted; those for sm_100 and later are loaded as for sm_90. Not every difference is an error: tests of
 * uninitialized registers, clocks, addresses and races leave what no machine promises. PART of PARTS (0 of 1): for
 * several processes. Exit status: 0 all equal, 1 a difference or an error, 77 there is no GPU. */
#include "device.h"
#include "tests/unit/kernel.h"
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <xxhash.h>

enum { NO_GPU = 77, MOST_SEEN = 1 << 18, MOST_LINES = 40 };

typedef struct recorded {
    kernel_record_head head;
    char *text;
    unsigned char values[VALUES_BYTES], *in, *before, *after;
} recorded;

static uint64_t seen[MOST_SEEN];
static uint32_t seen_count;

static bool is_new(const recorded *k)
{
    uint64_t hash = XXH3_64bits(k->text, k->head.text_bytes) ^ XXH3_64bits(k->in, k->head.in_bytes) ^
                    XXH3_64bits(k->values, VALUES_BYTES) * 3;
    for (uint32_t i = 0; i < seen_count; i++)
        if (seen[i] == hash)
            return false;
    if (seen_count < MOST_SEEN)
        seen[seen_count++] = hash;
    return true;
}

static unsigned char *read_bytes(FILE *file, size_t size)
{
    unsigned char *bytes = malloc(size + 1);
    if (!bytes || fread(bytes, 1, size, file) != size)
        exit(2);
    return bytes;
}

static bool read_kernel(FILE *file, recorded *k)
{
    if (fread(&k->head, sizeof k->head, 1, file) != 1 || k->head.magic != KERNEL_RECORD_MAGIC)
        return false;
    k->text = (char *)read_bytes(file, k->head.text_bytes);
    unsigned char *values = read_bytes(file, VALUES_BYTES);
    memcpy(k->values, values, VALUES_BYTES);
    free(values);
    k->in = read_bytes(file, k->head.in_bytes);
    k->before = read_bytes(file, k->head.out_bytes);
    k->after = read_bytes(file, k->head.out_bytes);
    return true;
}

static void free_kernel(recorded *k)
{
    free(k->text);
    free(k->in);
    free(k->before);
    free(k->after);
}

static int launch(const gpu_device *gpu, gpu_module_handle module, const recorded *k, unsigned char *got)
{
    const kernel_record_head *h = &k->head;
    gpu_function_handle function;
    struct {
        gpu_address in, out;
        unsigned char values[VALUES_BYTES];
    } parameters = {0};
    void *each[] = {&parameters.in, &parameters.out, parameters.values};
    memcpy(parameters.values, k->values, VALUES_BYTES);
    int error = gpu->allocate(&parameters.out, h->out_bytes + 16u);
    error = error ? error : gpu->allocate(&parameters.in, h->in_bytes + 16u);
    error = error ? error : h->in_bytes ? gpu->copy_in(parameters.in, k->in, h->in_bytes) : 0;
    error = error ? error : h->out_bytes ? gpu->copy_in(parameters.out, k->before, h->out_bytes) : 0;
    error = error ? error : gpu->module_function(&function, module, "k");
    if (!error && h->cooperative)
        error = gpu->launch_cooperative(function, h->grid, 1, 1, h->block, 1, 1, h->shared, NULL, each);
    else if (!error)
        error = gpu->launch(function, h->grid, 1, 1, h->block, 1, 1, h->shared, NULL, each, NULL);
    error = error ? error : gpu->synchronize();
    error = error ? error : h->out_bytes ? gpu->copy_out(got, parameters.out, h->out_bytes) : 0;
    gpu->release(parameters.in);
    gpu->release(parameters.out);
    return error;
}

/* The lines that load and store nothing. */
static void print_text(const char *text)
{
    uint32_t lines = 0;
    for (const char *line = text; *line && lines < MOST_LINES;) {
        const char *end = line + strcspn(line, "\n");
        bool plain = strncmp(line, "ld.", 3) && strncmp(line, "st.", 3) && *line != '.' && *line != '{' &&
                     *line != '}' && strncmp(line, "mov.u32 %r0", 11) && strncmp(line, "ret;", 4) && end != line;
        lines += plain;
        if (plain)
            printf("    %.*s\n", (int)(end - line > 140 ? 140 : end - line), line);
        line = end + (*end == '\n');
    }
}

static bool compare(const recorded *k, uint32_t number, const unsigned char *got)
{
    uint32_t words = k->head.out_bytes / 4, differ = 0, first = 0;
    for (uint32_t i = 0; i < words; i++)
        if (memcmp(got + 4 * i, k->after + 4 * i, 4) && !differ++)
            first = i;
    if (!differ)
        return true;
    uint32_t a, b;
    memcpy(&a, got + 4 * first, 4);
    memcpy(&b, k->after + 4 * first, 4);
    printf("not ok gpu kernel %u: %u of %u words differ; word %u is 0x%08x, expected 0x%08x; in:", number, differ,
           words, first, a, b);
    for (uint32_t i = 0; i < 6 && 4 * i + 4 <= k->head.in_bytes; i++) {
        memcpy(&a, k->in + 4 * i, 4);
        printf(" %08x", a);
    }
    printf("\n");
    print_text(k->text);
    return false;
}

/* What needs no more runs on Hopper. */
static void lower_target(char *ptx)
{
    static const char wanted[] = ".target sm_90";
    char *target = strstr(ptx, ".target sm_1");
    if (target) {
        memset(target, ' ', strcspn(target, "\n"));
        memcpy(target, wanted, strlen(wanted));
    }
}

static bool open_device(gpu_device *gpu)
{
    const char *why = "";
    int device = 0;
    gpu_context_handle context;
    if (!gpu_open(gpu, &why)) {
        printf("skip gpu kernels: %s\n", why);
        return false;
    }
    return !gpu->device_get(&device, 0) && !gpu->context_retain(&context, device) && !gpu->context_set(context);
}

int main(int argc, char **argv)
{
    gpu_device gpu;
    recorded k;
    uint32_t part = argc > 3 ? (uint32_t)atoi(argv[2]) : 0, parts = argc > 3 ? (uint32_t)atoi(argv[3]) : 1;
    uint32_t number = 0, ran = 0, differ = 0, other = 0;
    FILE *file = argc > 1 ? fopen(argv[1], "rb") : NULL;
    if (!file)
        return 2;
    if (!open_device(&gpu))
        return NO_GPU;
    for (; read_kernel(file, &k); free_kernel(&k), number++) {
        gpu_module_handle module;
        if (number % parts != part || !is_new(&k))
            continue;
        lower_target(k.text);
        if (gpu.module_load(&module, k.text, 0, NULL, NULL)) {
            other++;
            continue;
        }
        unsigned char *got = calloc(k.head.out_bytes + 1u, 1);
        int error = launch(&gpu, module, &k, got);
        ran++;
        if (error) {
            const char *why = "?";
            gpu.error_text(error, &why);
            printf("not ok gpu kernel %u: %s\n", number, why);
            print_text(k.text);
            differ++;
            if (gpu.synchronize()) { /* the context is lost */
                printf("# stopped\n");
                break;
            }
        } else {
            differ += !compare(&k, number, got);
        }
        free(got);
        gpu.module_unload(module);
        fflush(stdout);
    }
    fclose(file);
    printf("%s gpu kernels: %u ran, %u differ, %u not loaded\n", differ ? "not ok" : "ok", ran, differ, other);
    return differ != 0;
}
