/* Registration of device code while the program starts, launches, and what programs ask about kernels. */
#include "cudart/api.h"
#include "cudart/operation.h"

/* ---- registration ------------------------------------------------------------------------------------------------ */

void **hd___cudaRegisterFatBinary(const void *wrapper)
{
    hd_runtime *r = hd_runtime_enter_early();
    hd_cu_binary *b = hd_calloc(1, sizeof *b);
    b->wrapper = wrapper;
    hd_array_push(&r->binaries, b);
    hd_runtime_leave_quietly(r, HD_CUDA_SUCCESS);
    return (void **)b;
}

void hd___cudaRegisterFatBinaryEnd(void **handle) { (void)handle; }

void hd___cudaUnregisterFatBinary(void **handle)
{
    hd_runtime *r = hd_runtime_enter_early();
    ((hd_cu_binary *)(void *)handle)->unregistered = true;
    hd_runtime_leave_quietly(r, HD_CUDA_SUCCESS);
}

static void add_entity(void **handle, const void *host, const char *name, size_t bytes, hd_cu_entity_kind kind)
{
    hd_runtime *r = hd_runtime_enter_early();
    hd_cu_entity_add(r, (hd_cu_entity){.host = host,
                                       .name = name,
                                       .binary = (hd_cu_binary *)(void *)handle,
                                       .bytes = bytes,
                                       .kind = (uint8_t)kind});
    hd_runtime_leave_quietly(r, HD_CUDA_SUCCESS);
}

void hd___cudaRegisterFunction(void **handle, const void *host, char *device, const char *name, int thread_limit,
                               void *thread, void *block, void *block_shape, void *grid_shape, int *warp_size)
{
    (void)device, (void)thread_limit, (void)thread, (void)block, (void)block_shape, (void)grid_shape, (void)warp_size;
    add_entity(handle, host, name, 0, HD_ENTITY_FUNCTION);
}

void hd___cudaRegisterVar(void **handle, void *host, char *device, const char *name, int external, size_t bytes,
                          int constant, int global)
{
    (void)device, (void)external, (void)constant, (void)global;
    add_entity(handle, host, name, bytes, HD_ENTITY_VARIABLE);
}

/* The program reads *host, and follows it. */
void hd___cudaRegisterManagedVar(void **handle, void **host, char *device, const char *name, int external, size_t bytes,
                                 int constant, int global)
{
    (void)device, (void)external, (void)constant, (void)global;
    add_entity(handle, host, name, bytes, HD_ENTITY_MANAGED);
}

/* Called before a managed variable is used first: opening the device binds them all. */
char hd___cudaInitModule(void **handle)
{
    (void)handle;
    hd_runtime_leave_quietly(hd_runtime_enter(), HD_CUDA_SUCCESS);
    return 1;
}

/* ---- launches ---------------------------------------------------------------------------------------------------- */

/* What <<< >>> sets. It waits here until the kernel's stub takes it. */
typedef struct configuration {
    hd_dim3 grid, block;
    size_t shared_bytes;
    void *stream;
} configuration;
static _Thread_local configuration configurations[16];
static _Thread_local unsigned configuration_count;

unsigned hd___cudaPushCallConfiguration(hd_dim3 grid, hd_dim3 block, size_t shared_bytes, void *stream)
{
    if (configuration_count == sizeof configurations / sizeof *configurations)
        return HD_CUDA_MISSING_CONFIGURATION;
    configurations[configuration_count++] = (configuration){grid, block, shared_bytes, stream};
    return HD_CUDA_SUCCESS;
}

int hd___cudaPopCallConfiguration(hd_dim3 *grid, hd_dim3 *block, size_t *shared_bytes, void **stream)
{
    if (!configuration_count)
        return HD_CUDA_MISSING_CONFIGURATION;
    const configuration *c = &configurations[--configuration_count];
    *grid = c->grid;
    *block = c->block;
    *shared_bytes = c->shared_bytes;
    *stream = c->stream;
    return HD_CUDA_SUCCESS;
}

int hd_launch_call(hd_runtime *r, hd_cu_launch q, void *const *arguments, void *const *extra, void *stream)
{
    int error = hd_launch_check(r, &q);
    if (error)
        return error;
    unsigned char *block =
        arguments || !extra ? hd_launch_parameters(q.kernel, arguments) : hd_launch_extra(q.kernel, extra);
    if (!block)
        return HD_CUDA_LAUNCH_OUT_OF_RESOURCES;
    hd_cu_operation o = {.kind = HD_OPERATION_KERNEL, .of.kernel = q};
    o.of.kernel.parameters = block;
    error = hd_cu_stream_do(r, stream, &o);
    free(block);
    /* a fault is seen by the calls that follow: the kernel was launched */
    return r->sticky ? HD_CUDA_SUCCESS : error;
}

static int launch(const void *host, hd_dim3 grid, hd_dim3 block, void **arguments, size_t shared_bytes, void *stream,
                  bool cooperative, const void *caller)
{
    hd_runtime *r = hd_runtime_enter();
    hd_cu_launch q = {
        .grid = grid, .block = block, .shared_bytes = shared_bytes, .cooperative = cooperative, .caller = caller};
    int error = r->sticky ? r->sticky : hd_kernel_of(r, host, &q.kernel);
    return hd_runtime_leave(r, error ? error : hd_launch_call(r, q, arguments, NULL, stream));
}

int hd_cudaLaunchKernel(const void *host, hd_dim3 grid, hd_dim3 block, void **arguments, size_t shared_bytes,
                        void *stream)
{
    return launch(host, grid, block, arguments, shared_bytes, stream, false, __builtin_return_address(0));
}

int hd___cudaLaunchKernel(void *kernel, hd_dim3 grid, hd_dim3 block, void **arguments, size_t shared_bytes,
                          void *stream)
{
    return launch(kernel, grid, block, arguments, shared_bytes, stream, false, __builtin_return_address(0));
}

int hd_cudaLaunchCooperativeKernel(const void *host, hd_dim3 grid, hd_dim3 block, void **arguments, size_t shared_bytes,
                                   void *stream)
{
    return launch(host, grid, block, arguments, shared_bytes, stream, true, __builtin_return_address(0));
}

int hd_cudaLaunchKernelExC(const hd_launch_config *c, const void *host, void **arguments)
{
    bool cooperative = false;
    if (!c)
        return hd_runtime_leave(hd_runtime_enter(), HD_CUDA_INVALID_VALUE);
    for (uint32_t i = 0; i < c->attribute_count; i++) {
        const hd_launch_attribute *a = &c->attributes[i];
        cooperative = cooperative || (a->id == HD_LAUNCH_COOPERATIVE && a->value.number);
        const hd_dim3 *d = &a->value.dimensions;
        if (a->id == HD_LAUNCH_CLUSTER && d->x * d->y * d->z > 1)
            return hd_cuda_missing("cudaLaunchKernelExC with clusters");
    }
    return launch(host, c->grid, c->block, arguments, c->shared_bytes, c->stream, cooperative,
                  __builtin_return_address(0));
}

/* ---- kernels ----------------------------------------------------------------------------------------------------- */

/* The kernel of a host address or handle; else the error. */
#define WITH_KERNEL(host, ...)             \
    hd_runtime *r = hd_runtime_enter();    \
    hd_cu_kernel *k;                       \
    int error = hd_kernel_of(r, host, &k); \
    if (!error) {                          \
        __VA_ARGS__;                       \
    }                                      \
    return hd_runtime_leave(r, error)

/* nvcc's code ignores an error here; the launch of what it gets then fails for the same reason. */
int hd___cudaGetKernel(void **kernel, const void *host)
{
    *kernel = (void *)(uintptr_t)host;
    WITH_KERNEL(host, *kernel = k);
}
int hd_cudaGetKernel(void **kernel, const void *host) { WITH_KERNEL(host, *kernel = k); }
int hd_cudaGetFuncBySymbol(void **function, const void *host) { WITH_KERNEL(host, *function = k); }
int hd_cudaFuncGetName(const char **name, const void *host) { WITH_KERNEL(host, *name = k->name); }
int hd_cudaFuncSetCacheConfig(const void *host, int config) { WITH_KERNEL(host, (void)config); }
int hd_cudaFuncSetSharedMemConfig(const void *host, int config) { WITH_KERNEL(host, (void)config); }

int hd_cudaFuncGetParamInfo(const void *host, size_t index, size_t *offset, size_t *bytes)
{
    WITH_KERNEL(
        host, if (index >= hd_kernel_parameters(k->function)) error = HD_CUDA_INVALID_VALUE; else {
            const hd_module *m = k->unit->module;
            *offset = hd_kernel_parameter_offset(m, k->function, (uint32_t)index);
            if (bytes)
                *bytes = (size_t)hd_kernel_parameter_bytes(m, k->function, (uint32_t)index);
        });
}

enum { MAX_DYNAMIC_SHARED = 8, CARVEOUT = 9 };

static int set_attribute(hd_runtime *r, hd_cu_kernel *k, int attribute, int value)
{
    int error = hd_kernel_prepare(r, k);
    if (error)
        return error;
    const hd_gpu_limits *limits = &hd_gpu_of(r)->limits;
    if (attribute == CARVEOUT) {
        k->carveout = value;
        return HD_CUDA_SUCCESS;
    }
    if (attribute != MAX_DYNAMIC_SHARED)
        return HD_CUDA_SUCCESS; /* of clusters: they have one block */
    uint64_t own = hd_kernel_shared_bytes(k);
    if (value < 0 || own + (uint32_t)value > limits->shared_bytes_per_cta)
        return HD_CUDA_INVALID_VALUE;
    k->dynamic_shared_bytes = (uint32_t)value;
    return HD_CUDA_SUCCESS;
}

int hd_cudaFuncSetAttribute(const void *host, int attribute, int value)
{
    WITH_KERNEL(host, error = set_attribute(r, k, attribute, value));
}

int hd_cudaKernelSetAttributeForDevice(void *kernel, int attribute, int value, int device)
{
    (void)device;
    return hd_cudaFuncSetAttribute(kernel, attribute, value);
}

static int describe(hd_runtime *r, hd_cu_kernel *k, hd_function_attributes *a)
{
    enum { DEFAULT_SHARED = 48 * 1024 };
    int error = hd_kernel_prepare(r, k);
    if (error)
        return error;
    hd_program_facts facts = hd_program_describe(k->program);
    uint64_t own = hd_kernel_shared_bytes(k);
    uint64_t most = hd_kernel_most_threads(k->function);
    *a = (hd_function_attributes){.shared_bytes = own,
                                  .local_bytes = facts.local_bytes_per_thread,
                                  .threads = (int)(most ? most : hd_gpu_of(r)->limits.threads_per_cta),
                                  .registers = (int)hd_kernel_registers(r, k),
                                  .ptx_version = (int)k->unit->module->target_number,
                                  .binary_version = (int)k->unit->module->target_number,
                                  .dynamic_shared_bytes = (int)(k->dynamic_shared_bytes ? k->dynamic_shared_bytes
                                                                : own < DEFAULT_SHARED  ? DEFAULT_SHARED - (uint32_t)own
                                                                                        : 0),
                                  .carveout = k->carveout};
    return HD_CUDA_SUCCESS;
}

int hd_cudaFuncGetAttributes(hd_function_attributes *attributes, const void *host)
{
    hd_function_attributes a;
    enum { BYTES_11 = offsetof(hd_function_attributes, cluster_must_be_set) };
    WITH_KERNEL(host, error = describe(r, k, &a); if (!error) memcpy(attributes, &a, BYTES_11));
}

/* ---- occupancy --------------------------------------------------------------------------------------------------- */

static int occupancy(hd_runtime *r, hd_cu_kernel *k, int threads, size_t shared_bytes, int *blocks)
{
    int error = hd_kernel_prepare(r, k);
    if (error)
        return error;
    uint64_t own = hd_kernel_shared_bytes(k);
    hd_occupancy_use use = {.threads = (uint32_t)threads,
                            .registers = hd_kernel_registers(r, k),
                            .shared_bytes = own + (shared_bytes < UINT32_MAX ? shared_bytes : UINT32_MAX),
                            .barriers = 1};
    if (threads <= 0 || !blocks)
        return HD_CUDA_INVALID_VALUE;
    *blocks = (int)hd_occupancy_of(&hd_gpu_of(r)->limits, &use).ctas;
    return HD_CUDA_SUCCESS;
}

int hd_cudaOccupancyMaxActiveBlocksPerMultiprocessor(int *blocks, const void *host, int threads, size_t shared_bytes)
{
    WITH_KERNEL(host, error = occupancy(r, k, threads, shared_bytes, blocks));
}

int hd_cudaOccupancyMaxActiveBlocksPerMultiprocessorWithFlags(int *blocks, const void *host, int threads,
                                                              size_t shared_bytes, unsigned flags)
{
    (void)flags;
    return hd_cudaOccupancyMaxActiveBlocksPerMultiprocessor(blocks, host, threads, shared_bytes);
}

/* The most with which so many blocks are resident, by bisection: fewer bytes never allow fewer blocks. */
static int available(hd_runtime *r, hd_cu_kernel *k, int blocks, int threads, size_t *bytes)
{
    uint32_t low = 0, high = hd_gpu_of(r)->limits.shared_bytes_per_cta + 1;
    int found, error = occupancy(r, k, threads, 0, &found);
    if (error || found < blocks)
        return error ? error : HD_CUDA_INVALID_VALUE;
    while (high - low > 1) {
        uint32_t middle = low + (high - low) / 2;
        occupancy(r, k, threads, middle, &found);
        *(found >= blocks ? &low : &high) = middle;
    }
    *bytes = low;
    return HD_CUDA_SUCCESS;
}

int hd_cudaOccupancyAvailableDynamicSMemPerBlock(size_t *bytes, const void *host, int blocks, int threads)
{
    WITH_KERNEL(host, error = available(r, k, blocks, threads, bytes));
}
