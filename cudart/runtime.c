/* The state of the process, and what every call does first and last. */
#include "cudart/runtime.h"
#include "cudart/api.h"
#include "cudart/operation.h"
#include "cudart/recording.h"
#include <jansson.h>
#include <sys/mman.h>
#include <time.h>
#include <unistd.h>

static hd_runtime hd_runtime_state = {.lock = PTHREAD_RECURSIVE_MUTEX_INITIALIZER_NP};
static _Thread_local int last_error;

/* ---- opening ----------------------------------------------------------------------------------------------------- */

static const char *string_of(hd_runtime *r, const json_t *object, const char *key)
{
    const char *text = json_string_value(json_object_get(object, key));
    return text ? hd_arena_string(&r->arena, text, strlen(text)) : NULL;
}

static void read_options(hd_runtime *r)
{
    const char *folder = getenv(HD_RUN_VARIABLE);
    r->options = (hd_run_options){.threads = hd_cpu_count()};
    if (!folder)
        return;
    char *path = hd_arena_printf(&r->arena, "%s/" HD_RUN_OPTIONS_FILE, folder);
    json_t *o = json_load_file(path, 0, NULL);
    if (!o)
        return;
    r->options.folder = hd_arena_string(&r->arena, folder, strlen(folder));
    r->options.gpu = string_of(r, o, "gpu");
    r->options.threads = (uint32_t)json_integer_value(json_object_get(o, "threads"));
    r->options.threads = r->options.threads ? r->options.threads : hd_cpu_count();
    r->options.instruction_limit = (uint64_t)json_integer_value(json_object_get(o, "instruction_limit"));
    r->options.check_races = json_is_true(json_object_get(o, "race"));
    r->options.check_uninitialized = json_is_true(json_object_get(o, "uninitialized"));
    r->options.record = json_is_true(json_object_get(o, "record"));
    hd_launch_code_read(json_string_value(json_object_get(o, "code")), &r->options.code);
    r->options.no_cache = json_is_true(json_object_get(o, "no_cache"));
    hd_ordering_read(json_string_value(json_object_get(o, "block_order")), &r->options.block_order);
    r->options.kept_in = string_of(r, o, "kept_in");
    json_decref(o);
}

/* No host mapping may lie where device pointers are. */
static void reserve_addresses(void)
{
    void *base = (void *)(uintptr_t)HD_RUNTIME_BASE;
    void *at = mmap(base, HD_RUNTIME_RANGE, PROT_NONE,
                    MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE | MAP_FIXED_NOREPLACE, -1, 0);
    if (at != MAP_FAILED && at != base)
        munmap(at, HD_RUNTIME_RANGE);
    if (at != base)
        hd_runtime_say("the address range of device memory is not free in this process; managed memory may fail");
}

static void open_memory(hd_runtime *r)
{
    hd_memory_init(&r->memory, 64);
    hd_memory_move(&r->memory, HD_RUNTIME_BASE);
}

/* Modules register while the program starts; the device opens when it is used first. */
static void open_device(hd_runtime *r)
{
    r->open = true;
    read_options(r);
    hd_diagnostics_init(&r->diagnostics);
    reserve_addresses();
    open_memory(r);
    if (r->options.gpu)
        r->gpu = hd_gpu_load(r->options.gpu, &r->diagnostics);
    r->recording = hd_cu_record_open(r);
    hd_load_binaries(r);
}

static hd_runtime *enter(bool open)
{
    hd_runtime *r = &hd_runtime_state;
    pthread_mutex_lock(&r->lock);
    if (open && !r->open)
        open_device(r);
    else if (open)
        hd_load_binaries(r);
    return r;
}

hd_runtime *hd_runtime_enter(void) { return enter(true); }
hd_runtime *hd_runtime_enter_early(void) { return enter(false); }

int hd_runtime_leave_quietly(hd_runtime *r, int error)
{
    int result = r->sticky ? r->sticky : error;
    pthread_mutex_unlock(&r->lock);
    return result;
}

int hd_runtime_leave(hd_runtime *r, int error)
{
    int result = hd_runtime_leave_quietly(r, error);
    if (result)
        last_error = result;
    return result;
}

int hd_runtime_last_error(bool clear)
{
    int error = last_error;
    if (clear)
        last_error = HD_CUDA_SUCCESS;
    return error;
}

/* Once for each name. */
static hd_runtime *say_missing(const char *name, const char *error)
{
    hd_runtime *r = enter(false);
    for (uint32_t i = 0; i < r->missing.count; i++)
        if (r->missing.items[i] == name)
            return r;
    hd_array_push(&r->missing, name);
    hd_runtime_say("the program calls %s, which is not there: it returns %s", name, error);
    return r;
}

int hd_cuda_missing(const char *name)
{
    return hd_runtime_leave(say_missing(name, "cudaErrorNotSupported"), HD_CUDA_NOT_SUPPORTED);
}

int hd_driver_missing(const char *name)
{
    return hd_runtime_leave_quietly(say_missing(name, "CUDA_ERROR_NOT_SUPPORTED"), HD_CUDA_NOT_SUPPORTED);
}

/* ---- ending ------------------------------------------------------------------------------------------------------ */

__attribute__((destructor)) static void end_process(void)
{
    hd_runtime *r = enter(false);
    if (r->open)
        hd_cu_record_end(r);
    r->recording = NULL;
    pthread_mutex_unlock(&r->lock);
}

/* ---- resetting --------------------------------------------------------------------------------------------------- */

void hd_runtime_reset(hd_runtime *r)
{
    for (uint32_t i = 0; i < r->blocks.count; i++)
        if (r->blocks.items[i].kind != HD_BLOCK_NONE)
            hd_cu_block_free(r, i);
    r->sticky = HD_CUDA_SUCCESS;
    r->device_bytes = 0;
}
