/* Runs kernels. What a kernel does wrong is reported as `heddle replay` reports it, with the host call that launched
 * it; the program sees the error code that the vendor's runtime has for it, on this call and all that follow. */
#include "cudart/runtime.h"
#include "cudart/recording.h"
#include <dlfcn.h>
#include <stdio.h>

enum { MOST_Z_THREADS = 64, MOST_GRID_YZ = 65535, DEFAULT_SHARED_BYTES = 48 * 1024 };

/* ---- parameters -------------------------------------------------------------------------------------------------- */

/* With room after the last parameter, as the session of a launch file gives it. */
static size_t block_bytes(const hd_cu_kernel *k)
{
    enum { SLACK = 32 };
    return (size_t)hd_kernel_block_bytes(k->unit->module, k->function) + SLACK;
}

static unsigned char *new_block(const hd_cu_kernel *k) { return hd_calloc(block_bytes(k), 1); }

unsigned char *hd_launch_copy_parameters(const hd_cu_launch *q)
{
    size_t bytes = block_bytes(q->kernel);
    return memcpy(hd_malloc(bytes), q->parameters, bytes);
}

unsigned char *hd_launch_parameters(const hd_cu_kernel *k, void *const *arguments)
{
    const hd_module *m = k->unit->module;
    unsigned char *block = new_block(k);
    for (uint32_t i = 0; i < hd_kernel_parameters(k->function); i++)
        memcpy(block + hd_kernel_parameter_offset(m, k->function, i), arguments[i],
               (size_t)hd_kernel_parameter_bytes(m, k->function, i));
    return block;
}

unsigned char *hd_launch_extra(const hd_cu_kernel *k, void *const *extra)
{
    enum { END, POINTER, SIZE };
    const void *buffer = NULL;
    size_t bytes = 0;
    for (; extra && (uintptr_t)extra[0] != END; extra += 2)
        if ((uintptr_t)extra[0] == POINTER)
            buffer = extra[1];
        else if ((uintptr_t)extra[0] == SIZE)
            bytes = *(size_t *)extra[1];
    if (bytes > hd_kernel_block_bytes(k->unit->module, k->function))
        return NULL;
    unsigned char *block = new_block(k);
    if (buffer)
        memcpy(block, buffer, bytes);
    return block;
}

/* ---- shape ------------------------------------------------------------------------------------------------------- */

static bool is_shape(const hd_gpu_limits *limits, hd_dim3 grid, hd_dim3 block)
{
    uint64_t threads = (uint64_t)block.x * block.y * block.z;
    return grid.x && grid.y && grid.z && block.x && block.y && block.z && grid.x <= INT32_MAX &&
           grid.y <= MOST_GRID_YZ && grid.z <= MOST_GRID_YZ && block.x <= limits->threads_per_cta &&
           block.y <= limits->threads_per_cta && block.z <= MOST_Z_THREADS && threads <= limits->threads_per_cta;
}

static bool takes_block(const hd_function *f, hd_dim3 block)
{
    const uint32_t given[3] = {block.x, block.y, block.z}, *required = hd_kernel_required_threads(f);
    for (uint32_t i = 0; i < 3 && required[0]; i++)
        if (given[i] != (required[i] ? required[i] : 1))
            return false;
    uint64_t most = hd_kernel_most_threads(f);
    return !most || (uint64_t)block.x * block.y * block.z <= most;
}

int hd_launch_check(hd_runtime *r, const hd_cu_launch *q)
{
    const hd_gpu_limits *limits = &hd_gpu_of(r)->limits;
    if (!is_shape(limits, q->grid, q->block))
        return HD_CUDA_INVALID_VALUE; /* as CUDA 13.0 has it; INVALID_CONFIGURATION is of earlier ones */
    if (!takes_block(q->kernel->function, q->block))
        return HD_CUDA_INVALID_VALUE;
    int error = hd_kernel_prepare(r, q->kernel);
    if (error) {
        hd_cu_record_limit(r);
        return error;
    }
    uint64_t own = hd_kernel_shared_bytes(q->kernel), most = DEFAULT_SHARED_BYTES;
    if (q->kernel->dynamic_shared_bytes + own > most)
        most = q->kernel->dynamic_shared_bytes + own;
    if (own > limits->shared_bytes_per_cta || own + q->shared_bytes > most)
        return HD_CUDA_INVALID_VALUE;
    uint64_t ctas = (uint64_t)q->grid.x * q->grid.y * q->grid.z;
    return q->cooperative && ctas > HD_MOST_COOPERATIVE ? HD_CUDA_COOPERATIVE_LAUNCH_TOO_LARGE : HD_CUDA_SUCCESS;
}

/* ---- faults ------------------------------------------------------------------------------------------------------ */

static int code_of_fault(const hd_diagnostics *said)
{
    static const int codes[] = {
        [HD_FAULT_OTHER] = HD_CUDA_LAUNCH_FAILURE,       [HD_FAULT_MISALIGNED] = HD_CUDA_MISALIGNED_ADDRESS,
        [HD_FAULT_ADDRESS] = HD_CUDA_ILLEGAL_ADDRESS,    [HD_FAULT_ASSERTION] = HD_CUDA_ASSERT,
        [HD_FAULT_STACK] = HD_CUDA_HARDWARE_STACK_ERROR, [HD_FAULT_PC] = HD_CUDA_INVALID_PC,
        [HD_FAULT_HANG] = HD_CUDA_LAUNCH_TIMEOUT,
    };
    uint32_t class = HD_FAULT_OTHER;
    for (const hd_diagnostic *d = said->first; d && class == HD_FAULT_OTHER; d = d->next)
        class = d->kind == HD_DIAG_KERNEL_FAULT ? d->detail : class;
    return codes[class];
}

static int code_of(hd_exec_status status, const hd_diagnostics *said)
{
    switch (status) {
    case HD_EXEC_DONE: return HD_CUDA_SUCCESS;
    case HD_EXEC_FAULT: return code_of_fault(said);
    case HD_EXEC_LIMIT: return HD_CUDA_LAUNCH_TIMEOUT;
    case HD_EXEC_UNSUPPORTED: return HD_CUDA_NOT_SUPPORTED;
    case HD_EXEC_STOPPED: break;
    }
    return HD_CUDA_LAUNCH_FAILURE;
}

/* "program+0x1234 (main)": where addr2line finds the line. */
static void note_caller(hd_diagnostics *said, const void *caller)
{
    Dl_info info;
    hd_diagnostic *d = said->last;
    if (!d || !caller || !dladdr(caller, &info) || !info.dli_fname)
        return;
    hd_note_add(said, d, NULL, (hd_span){0, 0}, "launched at %s+0x%llx%s%s%s", info.dli_fname,
                (unsigned long long)((uintptr_t)caller - (uintptr_t)info.dli_fbase), info.dli_sname ? " (" : "",
                info.dli_sname ? info.dli_sname : "", info.dli_sname ? ")" : "");
}

/* ---- running ----------------------------------------------------------------------------------------------------- */

static void print(void *context, const char *text, size_t size)
{
    (void)context;
    fwrite(text, 1, size, stdout);
}

static void print_assertion(void *context, const char *text, size_t size)
{
    (void)context;
    fwrite(text, 1, size, stderr);
}

static uint64_t workspace(hd_runtime *r)
{
    if (!r->workspace) {
        uint32_t at = hd_memory_allocate(&r->memory, "workspace of cooperative launches", HD_SPACE_GLOBAL,
                                         HD_WORKSPACE_BYTES, 16, false);
        r->workspace = at == HD_NONE ? 0 : r->memory.allocations.items[at].base;
    }
    const hd_allocation *a = hd_memory_find(&r->memory, r->workspace, HD_WORKSPACE_BYTES);
    if (a)
        memset(a->bytes, 0, HD_WORKSPACE_BYTES);
    return r->workspace;
}

static hd_exec_options options_of(const hd_runtime *r)
{
    enum { LIMIT = 1000000000 };
    return (hd_exec_options){.instruction_limit = r->options.instruction_limit == UINT64_MAX ? 0
                                                  : r->options.instruction_limit ? r->options.instruction_limit
                                                                                 : LIMIT,
                             .threads = r->options.threads,
                             .block_order = r->options.block_order,
                             .check_uninitialized = r->options.check_uninitialized,
                             .check_races = r->options.check_races,
                             .others_write = true,
                             .print = print,
                             .print_assertion = print_assertion};
}

int hd_launch_run(hd_runtime *r, const hd_cu_launch *q)
{
    int error = hd_launch_check(r, q);
    if (error)
        return error;
    hd_diagnostics said;
    hd_exec_statistics statistics = {0};
    hd_exec_options options = options_of(r);
    hd_grid grid = {.grid = {q->grid.x, q->grid.y, q->grid.z},
                    .block = {q->block.x, q->block.y, q->block.z},
                    .dynamic_shared_bytes = (uint32_t)q->shared_bytes,
                    .parameters = q->parameters,
                    .cooperative = q->cooperative};
    if (q->cooperative)
        grid.workspace = workspace(r);
    r->texture_set = (hd_texture_set){r->textures.items, r->textures.count};
    hd_cu_record_before(r);
    hd_diagnostics_init(&said);
    hd_exec_status status = hd_program_run(q->kernel->program, &grid, &options, NULL, 0, &statistics, &said);
    hd_cu_record_after(r, q, status, &statistics);
    if (said.first) {
        note_caller(&said, q->caller);
        hd_show_diagnostics(q->kernel->unit, &said);
    }
    r->sticky = code_of(status, &said);
    hd_diagnostics_free(&said);
    return r->sticky;
}
