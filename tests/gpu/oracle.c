/* Runs launch files on a GPU and in the functional model, and compares what they leave in memory.
 *
 *   oracle FILE.yaml [REWRITTEN.ptx..]
 *
 * One line for each comparison, as tools/run-tests reads them:
 *   - the GPU with the file's own module against the model, bit for bit; where the launch file gives a tolerance for a
 *     buffer (approximate functions), within it;
 *   - the GPU with each rewritten module against the GPU with the original, bit for bit.
 * Buffers that hold addresses are not compared: addresses are the device's own.
 *
 * Textures and surfaces are arrays beside their buffers, filled before every launch and read back after it.
 *
 * Exit status: 0 all equal, 1 a difference or an error, 77 there is no GPU. Not handled (said as "skip"): what
 * textures.c names. */
#include "textures.h"
#include "parser/link.h"
#include "parser/parse.h"
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>

typedef struct oracle {
    gpu_device gpu;
    const char *name; /* of the launch file */
    hd_diagnostics diagnostics;
    hd_launch_file *file;
    hd_source source;
    hd_link_result linked;
    hd_module *module;
    bool failed;
} oracle;

/* One run on the GPU. */
typedef struct gpu_run {
    oracle *o;
    gpu_module_handle module;
    uint64_t *addresses;      /* by buffer and symbol */
    unsigned char **contents; /* the first content, then what is read back */
    hd_addresses device;
    gpu_textures textures;
    bool good;
} gpu_run;

static bool check(gpu_run *r, int error, const char *what)
{
    const char *text = "?";
    if (error == GPU_OK)
        return true;
    r->o->gpu.error_text(error, &text);
    printf("not ok gpu %s: %s: %s\n", r->o->name, what, text);
    r->o->failed = true;
    return r->good = false;
}

/* ---- memory ------------------------------------------------------------------------------------------------------ */

static const hd_launch_buffer *buffer_at(const gpu_run *r, uint32_t i) { return &r->o->file->buffers.items[i]; }

static bool place(gpu_run *r, uint32_t i)
{
    const hd_launch_buffer *b = buffer_at(r, i);
    size_t size = b->size_bytes;
    r->contents[i] = hd_calloc(size + 1, 1);
    if (!b->is_symbol)
        return check(r, r->o->gpu.allocate(&r->addresses[i], size ? size : 1), b->name);
    return check(r, r->o->gpu.module_global(&r->addresses[i], &size, r->module, b->name), b->name) &&
           check(r, r->o->gpu.copy_out(r->contents[i], r->addresses[i], b->size_bytes), b->name);
}

static bool fill(gpu_run *r, uint32_t i)
{
    const hd_launch_buffer *b = buffer_at(r, i);
    if (b->initial)
        memcpy(r->contents[i], b->initial, b->size_bytes);
    for (uint32_t k = 0; k < b->link_count; k++)
        hd_argument_lay(&b->links[k].value, &(hd_iteration){0, NULL}, &r->device, r->contents[i] + b->links[k].at);
    return check(r, r->o->gpu.copy_in(r->addresses[i], r->contents[i], b->size_bytes), b->name);
}

static bool open_memory(gpu_run *r)
{
    uint32_t count = r->o->file->buffers.count;
    r->addresses = hd_calloc(count + 1, sizeof *r->addresses);
    r->contents = hd_calloc(count + 1, sizeof *r->contents);
    r->device = (hd_addresses){r->addresses, NULL, 8, &r->o->diagnostics};
    for (uint32_t i = 0; i < count; i++)
        if (!place(r, i))
            return false;
    bool gather = strstr(r->o->source.text, "tld4") != NULL;
    if (!check(r, gpu_textures_open(&r->textures, &r->o->gpu, r->o->file, r->addresses, gather), "textures"))
        return false;
    r->device.textures = r->textures.items;
    for (uint32_t i = 0; i < count; i++)
        if (!fill(r, i))
            return false;
    return true;
}

static bool read_back(gpu_run *r, uint32_t i)
{
    return check(r, r->o->gpu.copy_out(r->contents[i], r->addresses[i], buffer_at(r, i)->size_bytes),
                 buffer_at(r, i)->name);
}

/* ---- steps ------------------------------------------------------------------------------------------------------- */

static bool lay_parameters(const gpu_run *r, const hd_launch *l, const hd_function *kernel, const hd_iteration *at,
                           unsigned char *block)
{
    for (uint32_t i = 0; i < l->argument_count; i++)
        if (!hd_argument_lay(&l->arguments[i], at, &r->device, block + hd_parameter_offset(r->o->module, kernel, i)))
            return false;
    return true;
}

/* By the driver's function for the launch: a cooperative one takes the parameters one by one. */
static int start(const gpu_run *r, gpu_function_handle function, const hd_launch *l, const hd_function *kernel,
                 const uint32_t grid[3], const uint32_t threads[3], uint32_t shared, unsigned char *block, size_t size)
{
    const gpu_device *gpu = &r->o->gpu;
    void *extra[] = {(void *)(uintptr_t)GPU_LAUNCH_BUFFER_POINTER, block, (void *)(uintptr_t)GPU_LAUNCH_BUFFER_SIZE,
                     &size, NULL};
    if (!l->cooperative)
        return gpu->launch(function, grid[0], grid[1], grid[2], threads[0], threads[1], threads[2], shared, NULL, NULL,
                           extra);
    void **each = hd_calloc(l->argument_count + 1, sizeof *each);
    for (uint32_t i = 0; i < l->argument_count; i++)
        each[i] = block + hd_parameter_offset(r->o->module, kernel, i);
    int error = gpu->launch_cooperative(function, grid[0], grid[1], grid[2], threads[0], threads[1], threads[2], shared,
                                        NULL, each);
    free(each);
    return error;
}

static bool do_launch(void *context, uint32_t index, const hd_iteration *at)
{
    gpu_run *r = context;
    const gpu_device *gpu = &r->o->gpu;
    const hd_launch *l = &r->o->file->launches.items[index];
    hd_function *kernel = hd_module_find_function(r->o->module, l->kernel);
    size_t size = hd_parameter_block_bytes(r->o->module, kernel);
    unsigned char *block = hd_calloc(size + 32, 1);
    gpu_function_handle function;
    uint32_t grid[3], threads[3], shared;
    bool good = hd_launch_shape(l, at, grid, threads, &shared, &r->o->diagnostics) &&
                lay_parameters(r, l, kernel, at, block) &&
                check(r, gpu->module_function(&function, r->module, l->kernel), l->kernel);
    if (good && shared)
        good = check(r, gpu->function_attribute(function, GPU_MOST_DYNAMIC_SHARED, (int)shared), l->kernel);
    good = good && check(r, gpu_textures_load(&r->textures), "filling textures") &&
           check(r, start(r, function, l, kernel, grid, threads, shared, block, size), l->kernel) &&
           check(r, gpu->synchronize(), l->kernel) && check(r, gpu_textures_store(&r->textures), "reading surfaces");
    free(block);
    return good;
}

static bool do_set(void *context, const hd_launch_step *step, const hd_iteration *at)
{
    gpu_run *r = context;
    const hd_launch_buffer *b = buffer_at(r, step->buffer);
    if (step->first_content) {
        if (!b->initial)
            memset(r->contents[step->buffer], 0, b->size_bytes);
        return fill(r, step->buffer);
    }
    unsigned char *bytes = hd_calloc(b->size_bytes + 1, 1);
    bool good = hd_launch_set_bytes(r->o->file, step, at, &r->o->diagnostics, bytes) &&
                check(r, r->o->gpu.copy_in(r->addresses[step->buffer], bytes, b->size_bytes), b->name);
    free(bytes);
    return good;
}

static bool do_copy(void *context, const hd_launch_step *step, const hd_iteration *at)
{
    gpu_run *r = context;
    hd_launch_copy range;
    return hd_launch_copy_range(r->o->file, step, at, &r->o->diagnostics, &range) &&
           check(
               r,
               r->o->gpu.copy(r->addresses[step->to] + range.to, r->addresses[step->buffer] + range.from, range.bytes),
               "copy");
}

static const unsigned char *do_read(void *context, uint32_t buffer)
{
    gpu_run *r = context;
    return read_back(r, buffer) ? r->contents[buffer] : NULL;
}

static bool load(gpu_run *r, const char *text)
{
    char log[1024] = "";
    int options[] = {GPU_JIT_ERROR_LOG, GPU_JIT_ERROR_LOG_BYTES};
    void *values[] = {log, (void *)(uintptr_t)sizeof log};
    int error = r->o->gpu.module_load(&r->module, text, 2, options, values);
    if (log[0])
        fprintf(stderr, "%s\n", log);
    return check(r, error, "loading the module");
}

/* The whole file with the module of that text. */
static void run_on_gpu(gpu_run *r, const char *text)
{
    hd_launch_walker walker = {r, do_launch, do_set, do_copy, do_read, &r->o->diagnostics};
    r->good = true;
    if (!load(r, text) || !open_memory(r))
        return;
    if (hd_launch_walk(r->o->file, &walker) != HD_WALK_DONE)
        r->good = false;
    for (uint32_t i = 0; r->good && i < r->o->file->buffers.count; i++)
        read_back(r, i);
}

static void end_run(gpu_run *r)
{
    for (uint32_t i = 0; r->contents && i < r->o->file->buffers.count; i++) {
        free(r->contents[i]);
        if (r->addresses[i] && !buffer_at(r, i)->is_symbol)
            r->o->gpu.release(r->addresses[i]);
    }
    if (r->addresses)
        gpu_textures_close(&r->textures);
    free(r->contents);
    free(r->addresses);
    if (r->module)
        r->o->gpu.module_unload(r->module);
}

/* ---- comparison -------------------------------------------------------------------------------------------------- */

/* Elements that differ in a bit; *wrong: of these, the ones beyond the rule (NULL: all). */
static uint64_t count_differences(const hd_launch_buffer *b, const unsigned char *got, const unsigned char *want,
                                  const hd_value_rule *rule, uint64_t *wrong, uint64_t *first)
{
    uint32_t size = hd_value_bytes(b->type);
    uint64_t differ = 0;
    *wrong = 0;
    for (uint64_t i = 0; i < b->count; i++) {
        if (!memcmp(got + i * size, want + i * size, size))
            continue;
        differ++;
        if (!(rule && hd_value_matches(b->type, got + i * size, want + i * size, rule)) && !(*wrong)++)
            *first = i;
    }
    return differ;
}

static void compare(oracle *o, const char *case_name, const hd_launch_buffer *b, const unsigned char *got,
                    const unsigned char *want, const hd_value_rule *rule)
{
    char a[64], c[64];
    uint64_t wrong, first = 0, differ = count_differences(b, got, want, rule, &wrong, &first);
    uint32_t size = hd_value_bytes(b->type);
    if (!wrong) {
        printf("ok gpu %s %s %s", o->name, case_name, b->name);
        if (differ)
            printf(" (%" PRIu64 " of %" PRIu64 " elements within the tolerance)", differ, b->count);
        printf("\n");
        return;
    }
    hd_value_print(b->type, got + first * size, a, sizeof a);
    hd_value_print(b->type, want + first * size, c, sizeof c);
    printf("not ok gpu %s %s %s: %" PRIu64 " of %" PRIu64 " elements differ; element %" PRIu64 " is %s, expected %s\n",
           o->name, case_name, b->name, wrong, b->count, first, a, c);
    o->failed = true;
}

static void against_model(oracle *o, const gpu_run *r)
{
    hd_exec_statistics statistics = {0};
    hd_session *s = hd_session_open(o->file, o->module, &o->diagnostics, NULL);
    if (!s || hd_session_run(s, NULL, &statistics) != HD_EXEC_DONE) {
        printf("not ok gpu %s: the model does not run it\n", o->name);
        o->failed = true;
    } else {
        for (uint32_t i = 0; i < o->file->buffers.count; i++) {
            const hd_launch_buffer *b = buffer_at(r, i);
            const hd_value_rule *rule = b->expect.given && !b->expect.is_hash ? &b->expect.rule : NULL;
            if (!b->link_count)
                compare(o, "model", b, r->contents[i], hd_session_bytes(s, i), rule);
        }
    }
    hd_session_close(s);
}

static void against_rewritten(oracle *o, const gpu_run *original, const char *path)
{
    hd_source source;
    gpu_run r = {.o = o};
    if (!hd_source_read(&source, path)) {
        printf("not ok gpu %s: %s cannot be read\n", o->name, path);
        o->failed = true;
        return;
    }
    run_on_gpu(&r, source.text);
    for (uint32_t i = 0; r.good && i < o->file->buffers.count; i++)
        if (!buffer_at(&r, i)->link_count)
            compare(o, "rewritten", buffer_at(&r, i), r.contents[i], original->contents[i], NULL);
    end_run(&r);
    hd_source_free(&source);
}

/* ---- all --------------------------------------------------------------------------------------------------------- */

static int open_device(oracle *o)
{
    const char *why = "";
    int device = 0;
    gpu_context_handle context;
    if (!gpu_open(&o->gpu, &why)) {
        printf("skip gpu: %s\n", why);
        return 77;
    }
    return o->gpu.device_get(&device, 0) || o->gpu.context_retain(&context, device) || o->gpu.context_set(context);
}

static bool open_file(oracle *o, const char *path)
{
    hd_diagnostics_init(&o->diagnostics);
    o->name = strrchr(path, '/') ? strrchr(path, '/') + 1 : path;
    o->file = hd_launch_read(path, 0, &o->diagnostics);
    if (!o->file->valid || !hd_launch_read_module(o->file, &o->source, &o->linked, &o->diagnostics))
        return false;
    o->module = hd_parse_ptx(&o->source, &(hd_parse_options){0}, &o->diagnostics);
    return !o->diagnostics.error_count && hd_launch_find_kernels(o->file, o->module, &o->diagnostics);
}

int main(int argc, char **argv)
{
    oracle o = {0};
    if (argc < 2)
        return 2;
    int status = open_device(&o);
    if (status)
        return status;
    if (!open_file(&o, argv[1])) {
        printf("not ok gpu %s: heddle does not read it\n", argv[1]);
        return 1;
    }
    const char *refused = gpu_textures_refused(o.file);
    if (refused) {
        printf("skip gpu %s: %s\n", o.name, refused);
        return 0;
    }
    gpu_run original = {.o = &o};
    run_on_gpu(&original, o.source.text);
    if (original.good)
        against_model(&o, &original);
    for (int i = 2; i < argc && original.good; i++)
        against_rewritten(&o, &original, argv[i]);
    end_run(&original);
    hd_module_free(o.module);
    hd_launch_free(o.file);
    hd_diagnostics_free(&o.diagnostics);
    return o.failed;
}
