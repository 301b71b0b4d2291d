/* The driver API: see driver.h. A module is a unit, a function a kernel; there is one device with one context. */
#include "cudart/driver.h"
#include "cudart/api.h"
#include "cudart/recording.h"
#include <dlfcn.h>
#include <elf.h>
#include <stdio.h>
#include <sys/auxv.h>

/* ---- errors ------------------------------------------------------------------------------------------------------ */

enum { NOT_INITIALIZED = 3, FIRST_COMMON = 100 }; /* from 100 on, the numbers are the runtime's */

static int code(int error)
{
    if (error == HD_CUDA_INVALID_SYMBOL || error == HD_CUDA_INVALID_DEVICE_FUNCTION)
        return HD_CUDA_SYMBOL_NOT_FOUND;
    return error > HD_CUDA_CUDART_UNLOADING && error < FIRST_COMMON ? HD_CUDA_INVALID_VALUE : error;
}

static const struct driver_name {
    int number;
    const char *name;
} driver_names[] = {
    {0, "CUDA_SUCCESS"},
    {1, "CUDA_ERROR_INVALID_VALUE"},
    {2, "CUDA_ERROR_OUT_OF_MEMORY"},
    {3, "CUDA_ERROR_NOT_INITIALIZED"},
    {4, "CUDA_ERROR_DEINITIALIZED"},
    {200, "CUDA_ERROR_INVALID_IMAGE"},
    {201, "CUDA_ERROR_INVALID_CONTEXT"},
    {209, "CUDA_ERROR_NO_BINARY_FOR_GPU"},
    {304, "CUDA_ERROR_OPERATING_SYSTEM"},
    {400, "CUDA_ERROR_INVALID_HANDLE"},
    {500, "CUDA_ERROR_NOT_FOUND"},
    {719, "CUDA_ERROR_LAUNCH_FAILED"},
#define HD_CUDA_ERROR(id, number, name, text) {number, "CUDA_ERROR_" #id},
#include "cudart/errors.def"
#undef HD_CUDA_ERROR
};

int hd_cuGetErrorName(int error, const char **name)
{
    *name = NULL;
    for (size_t i = 0; i < sizeof driver_names / sizeof *driver_names && !*name; i++)
        if (driver_names[i].number == error)
            *name = driver_names[i].name;
    return *name ? HD_CUDA_SUCCESS : HD_CUDA_INVALID_VALUE;
}

int hd_cuGetErrorString(int error, const char **text)
{
    *text = hd_cudaGetErrorString(error);
    return strcmp(*text, "unrecognized error code") ? HD_CUDA_SUCCESS : HD_CUDA_INVALID_VALUE;
}

/* ---- devices and contexts ---------------------------------------------------------------------------------------- */

static int the_context; /* its address is the handle; never written */

static int give_context(void **context)
{
    *context = &the_context;
    return HD_CUDA_SUCCESS;
}

int hd_cuInit(unsigned flags) { return flags ? HD_CUDA_INVALID_VALUE : HD_CUDA_SUCCESS; }
int hd_cuDriverGetVersion(int *version) { return code(hd_cudaDriverGetVersion(version)); }
int hd_cuDeviceGetCount(int *count) { return code(hd_cudaGetDeviceCount(count)); }
int hd_cuDeviceGet(int *device, int ordinal)
{
    *device = 0;
    return ordinal ? HD_CUDA_INVALID_DEVICE : HD_CUDA_SUCCESS;
}
int hd_cuDeviceGetName(char *name, int length, int device)
{
    hd_runtime *r = hd_runtime_enter();
    snprintf(name, length > 0 ? (size_t)length : 0, "heddle %s", hd_gpu_of(r)->name);
    return hd_runtime_leave_quietly(r, device ? HD_CUDA_INVALID_DEVICE : HD_CUDA_SUCCESS);
}
int hd_cuDeviceTotalMem(size_t *bytes, int device)
{
    *bytes = (size_t)HD_DEVICE_BYTES;
    return device ? HD_CUDA_INVALID_DEVICE : HD_CUDA_SUCCESS;
}
int hd_cuDeviceGetAttribute(int *value, int attribute, int device)
{
    return code(hd_cudaDeviceGetAttribute(value, attribute, device));
}
int hd_cuDeviceComputeCapability(int *major, int *minor, int device)
{
    enum { MAJOR = 75, MINOR = 76 };
    int error = hd_cuDeviceGetAttribute(major, MAJOR, device);
    return error ? error : hd_cuDeviceGetAttribute(minor, MINOR, device);
}
int hd_cuDevicePrimaryCtxRetain(void **context, int device)
{
    return device ? HD_CUDA_INVALID_DEVICE : give_context(context);
}
int hd_cuDevicePrimaryCtxRelease(int device) { return device ? HD_CUDA_INVALID_DEVICE : HD_CUDA_SUCCESS; }
int hd_cuCtxCreate_v2(void **context, unsigned flags, int device)
{
    (void)flags;
    return device ? HD_CUDA_INVALID_DEVICE : give_context(context);
}
int hd_cuCtxCreate_v4(void **context, void *parameters, unsigned flags, int device)
{
    (void)parameters;
    return hd_cuCtxCreate_v2(context, flags, device);
}
int hd_cuCtxDestroy(void *context) { return context == &the_context ? HD_CUDA_SUCCESS : HD_CUDA_INVALID_VALUE; }
int hd_cuCtxGetCurrent(void **context) { return give_context(context); }
int hd_cuCtxSetCurrent(void *context) { return !context ? HD_CUDA_SUCCESS : hd_cuCtxDestroy(context); }
int hd_cuCtxGetDevice(int *device) { return hd_cuDeviceGet(device, 0); }
int hd_cuCtxSynchronize(void) { return code(hd_cudaDeviceSynchronize()); }

/* ---- modules ----------------------------------------------------------------------------------------------------- */

static int take_unit(hd_cu_unit *u, void **module)
{
    *module = u;
    return u->why ? code(u->why) : HD_CUDA_SUCCESS;
}

static int load_container(hd_runtime *r, const void *container, const char *place, void **module)
{
    hd_sources texts = {0};
    const char *has = NULL;
    uint32_t capability = hd_gpu_of(r)->compute_major * 10 + hd_gpu_of(r)->compute_minor;
    hd_cu_unit *machine = hd_cu_unit_load_container(r, place, container);
    if (machine)
        return take_unit(machine, module);
    if (!hd_fatbin_read(container, hd_readable_bytes(container), capability, &r->arena, &texts, &has))
        return HD_CUDA_NO_KERNEL_IMAGE_FOR_DEVICE;
    int error = take_unit(hd_cu_unit_load(r, place, false, texts.items[0].text, texts.items[0].length), module);
    hd_source_free(&texts.items[0]);
    hd_array_free(&texts);
    return error;
}

/* The length of an ELF file in memory: its section headers are last but for program headers. */
static size_t elf_bytes(const void *image)
{
    Elf64_Ehdr head;
    size_t readable = hd_readable_bytes(image);
    if (readable < sizeof head)
        return 0;
    memcpy(&head, image, sizeof head);
    uint64_t sections = head.e_shoff + (uint64_t)head.e_shnum * head.e_shentsize,
             segments = head.e_phoff + (uint64_t)head.e_phnum * head.e_phentsize;
    return (size_t)hd_min(hd_max(sections, segments), (uint64_t)readable);
}

static int load_cubin(hd_runtime *r, const void *image, const char *place, const char *file, void **module)
{
    bool runs = r->options.code == HD_CODE_MACHINE || r->options.code == HD_CODE_AUTO;
    hd_cu_unit *u = runs ? hd_cu_unit_load_cubin(r, place, file, image, elf_bytes(image)) : NULL;
    if (u)
        return take_unit(u, module);
    hd_cu_record_limit(r);
    if (!runs)
        hd_runtime_say("the program loads machine code (a cubin), and the PTX runs: --code=machine runs it");
    return HD_CUDA_NO_KERNEL_IMAGE_FOR_DEVICE;
}

/* `file`: that the image was read from; NULL: it is in memory. */
static int load(hd_runtime *r, const void *image, const char *file, void **module)
{
    static const unsigned char elf[4] = {0x7f, 'E', 'L', 'F'};
    const char *place = file ? file : hd_object_of(image);
    uint32_t magic;
    if (!image || !module)
        return HD_CUDA_INVALID_VALUE;
    memcpy(&magic, image, sizeof magic);
    if (magic == HD_FATBIN_WRAPPER)
        return load_container(r, ((const hd_fatbin_wrapper *)image)->data, place, module);
    if (magic == (uint32_t)HD_FATBIN_MAGIC)
        return load_container(r, image, place, module);
    if (memcmp(image, elf, sizeof elf) == 0)
        return load_cubin(r, image, place, file, module);
    if (!strstr(image, ".version"))
        return HD_CUDA_INVALID_KERNEL_IMAGE;
    return take_unit(hd_cu_unit_load(r, place, file, image, strlen(image)), module);
}

int hd_cuModuleLoadData(void **module, const void *image)
{
    hd_runtime *r = hd_runtime_enter();
    return code(hd_runtime_leave_quietly(r, load(r, image, NULL, module)));
}

int hd_cuModuleLoadDataEx(void **module, const void *image, unsigned count, int *options, void **values)
{
    (void)count, (void)options, (void)values;
    return hd_cuModuleLoadData(module, image);
}

int hd_cuModuleLoad(void **module, const char *path)
{
    hd_source file;
    if (!path || !hd_source_read(&file, path))
        return path ? HD_CUDA_FILE_NOT_FOUND : HD_CUDA_INVALID_VALUE;
    hd_runtime *r = hd_runtime_enter();
    int error = code(hd_runtime_leave_quietly(r, load(r, file.text, path, module)));
    hd_source_free(&file);
    return error;
}

static hd_cu_unit *unit_of(hd_runtime *r, const void *module)
{
    for (uint32_t i = 0; i < r->units.count; i++)
        if (r->units.items[i] == module && !r->units.items[i]->why)
            return r->units.items[i];
    return NULL;
}

int hd_cuModuleUnload(void *module)
{
    hd_runtime *r = hd_runtime_enter();
    hd_cu_unit *u = unit_of(r, module);
    if (u)
        hd_unit_free(u);
    return hd_runtime_leave_quietly(r, u ? HD_CUDA_SUCCESS : HD_CUDA_INVALID_RESOURCE_HANDLE);
}

int hd_cuModuleGetFunction(void **function, void *module, const char *name)
{
    hd_runtime *r = hd_runtime_enter();
    hd_cu_unit *u = unit_of(r, module);
    hd_cu_kernel *k = u && name ? hd_unit_kernel(u, name) : NULL;
    if (k)
        *function = k;
    int error = !u ? HD_CUDA_INVALID_RESOURCE_HANDLE : k ? HD_CUDA_SUCCESS : HD_CUDA_SYMBOL_NOT_FOUND;
    return hd_runtime_leave_quietly(r, error);
}

int hd_cuModuleGetGlobal(uint64_t *address, size_t *bytes, void *module, const char *name)
{
    hd_runtime *r = hd_runtime_enter();
    hd_cu_unit *u = unit_of(r, module);
    hd_machine_variable v;
    bool found = u && name && hd_unit_variable(u, name, &v);
    if (found && address)
        *address = r->memory.allocations.items[v.allocation].base + v.offset;
    if (found && bytes)
        *bytes = (size_t)v.bytes;
    int error = !u ? HD_CUDA_INVALID_RESOURCE_HANDLE : found ? HD_CUDA_SUCCESS : HD_CUDA_SYMBOL_NOT_FOUND;
    return hd_runtime_leave_quietly(r, error);
}

/* ---- functions --------------------------------------------------------------------------------------------------- */

int hd_cuFuncGetAttribute(int *value, int attribute, void *function)
{
    hd_function_attributes a;
    int error = hd_cudaFuncGetAttributes(&a, function);
    const int values[] = {
        a.threads,     (int)a.shared_bytes, (int)a.constant_bytes, (int)a.local_bytes,     a.registers,
        a.ptx_version, a.binary_version,    a.cache_mode,          a.dynamic_shared_bytes, a.carveout};
    if (error || attribute < 0 || attribute >= (int)(sizeof values / sizeof *values))
        return error ? code(error) : HD_CUDA_INVALID_VALUE;
    *value = values[attribute];
    return HD_CUDA_SUCCESS;
}
int hd_cuFuncSetAttribute(void *function, int attribute, int value)
{
    return code(hd_cudaFuncSetAttribute(function, attribute, value));
}
int hd_cuFuncSetCacheConfig(void *function, int config) { return code(hd_cudaFuncSetCacheConfig(function, config)); }
int hd_cuOccupancyMaxActiveBlocksPerMultiprocessor(int *blocks, void *function, int threads, size_t shared_bytes)
{
    return code(hd_cudaOccupancyMaxActiveBlocksPerMultiprocessor(blocks, function, threads, shared_bytes));
}

static int launch(hd_cu_launch q, void *function, void *stream, void **arguments, void **extra)
{
    hd_runtime *r = hd_runtime_enter();
    int error = hd_kernel_of_handle(r, function, &q.kernel);
    if (error)
        error = HD_CUDA_INVALID_RESOURCE_HANDLE;
    return code(hd_runtime_leave_quietly(r, error ? error : hd_launch_call(r, q, arguments, extra, stream)));
}

int hd_cuLaunchKernel(void *function, unsigned gx, unsigned gy, unsigned gz, unsigned bx, unsigned by, unsigned bz,
                      unsigned shared_bytes, void *stream, void **arguments, void **extra)
{
    hd_cu_launch q = {.grid = {gx, gy, gz},
                      .block = {bx, by, bz},
                      .shared_bytes = shared_bytes,
                      .caller = __builtin_return_address(0)};
    return launch(q, function, stream, arguments, extra);
}

int hd_cuLaunchCooperativeKernel(void *function, unsigned gx, unsigned gy, unsigned gz, unsigned bx, unsigned by,
                                 unsigned bz, unsigned shared_bytes, void *stream, void **arguments)
{
    hd_cu_launch q = {.grid = {gx, gy, gz},
                      .block = {bx, by, bz},
                      .shared_bytes = shared_bytes,
                      .cooperative = true,
                      .caller = __builtin_return_address(0)};
    return launch(q, function, stream, arguments, NULL);
}

int hd_cuLaunchHostFunc(void *stream, void (*function)(void *), void *data)
{
    return code(hd_cudaLaunchHostFunc(stream, function, data));
}

/* ---- memory ------------------------------------------------------------------------------------------------------ */

static void *pointer(uint64_t address) { return (void *)(uintptr_t)address; }

int hd_cuMemAlloc(uint64_t *address, size_t bytes)
{
    return bytes ? code(hd_cudaMalloc((void **)address, bytes)) : HD_CUDA_INVALID_VALUE;
}
int hd_cuMemAllocManaged(uint64_t *address, size_t bytes, unsigned flags)
{
    return code(hd_cudaMallocManaged((void **)address, bytes, flags));
}
int hd_cuMemAllocPitch(uint64_t *address, size_t *pitch, size_t width, size_t height, unsigned element_bytes)
{
    (void)element_bytes;
    return code(hd_cudaMallocPitch((void **)address, pitch, width, height));
}
int hd_cuMemFree(uint64_t address) { return code(hd_cudaFree(pointer(address))); }
int hd_cuMemAllocHost(void **at, size_t bytes) { return code(hd_cudaMallocHost(at, bytes)); }
int hd_cuMemHostAlloc(void **at, size_t bytes, unsigned flags) { return code(hd_cudaHostAlloc(at, bytes, flags)); }
int hd_cuMemHostGetDevicePointer(uint64_t *address, void *at, unsigned flags)
{
    return code(hd_cudaHostGetDevicePointer((void **)address, at, flags));
}
int hd_cuMemFreeHost(void *at) { return code(hd_cudaFreeHost(at)); }
int hd_cuMemGetInfo(size_t *free_bytes, size_t *total) { return code(hd_cudaMemGetInfo(free_bytes, total)); }

int hd_cuMemcpyAsync(uint64_t to, uint64_t from, size_t bytes, void *stream)
{
    return code(hd_cudaMemcpyAsync(pointer(to), pointer(from), bytes, HD_COPY_DEFAULT, stream));
}
int hd_cuMemcpy(uint64_t to, uint64_t from, size_t bytes) { return hd_cuMemcpyAsync(to, from, bytes, NULL); }
int hd_cuMemcpyHtoDAsync(uint64_t to, const void *from, size_t bytes, void *stream)
{
    return code(hd_cudaMemcpyAsync(pointer(to), from, bytes, HD_COPY_HOST_TO_DEVICE, stream));
}
int hd_cuMemcpyHtoD(uint64_t to, const void *from, size_t bytes) { return hd_cuMemcpyHtoDAsync(to, from, bytes, NULL); }
int hd_cuMemcpyDtoHAsync(void *to, uint64_t from, size_t bytes, void *stream)
{
    return code(hd_cudaMemcpyAsync(to, pointer(from), bytes, HD_COPY_DEVICE_TO_HOST, stream));
}
int hd_cuMemcpyDtoH(void *to, uint64_t from, size_t bytes) { return hd_cuMemcpyDtoHAsync(to, from, bytes, NULL); }
int hd_cuMemcpyDtoDAsync(uint64_t to, uint64_t from, size_t bytes, void *stream)
{
    return code(hd_cudaMemcpyAsync(pointer(to), pointer(from), bytes, HD_COPY_DEVICE_TO_DEVICE, stream));
}
int hd_cuMemcpyDtoD(uint64_t to, uint64_t from, size_t bytes) { return hd_cuMemcpyDtoDAsync(to, from, bytes, NULL); }

static int fill(uint64_t to, uint32_t value, uint32_t element_bytes, size_t count)
{
    hd_runtime *r = hd_runtime_enter();
    return code(
        hd_runtime_leave_quietly(r, hd_fill(r, pointer(to), count * element_bytes, value, element_bytes, count, 1)));
}
int hd_cuMemsetD8(uint64_t to, unsigned char value, size_t count) { return fill(to, value, 1, count); }
int hd_cuMemsetD16(uint64_t to, unsigned short value, size_t count) { return fill(to, value, 2, count); }
int hd_cuMemsetD32(uint64_t to, unsigned value, size_t count) { return fill(to, value, 4, count); }
int hd_cuMemsetD8Async(uint64_t to, unsigned char value, size_t count, void *stream)
{
    (void)stream;
    return fill(to, value, 1, count);
}
int hd_cuMemsetD32Async(uint64_t to, unsigned value, size_t count, void *stream)
{
    (void)stream;
    return fill(to, value, 4, count);
}

/* ---- CUDA streams and events ------------------------------------------------------------------------------------- */

int hd_cuStreamCreate(void **stream, unsigned flags) { return code(hd_cudaStreamCreateWithFlags(stream, flags)); }
int hd_cuStreamDestroy(void *stream) { return code(hd_cudaStreamDestroy(stream)); }
int hd_cuStreamSynchronize(void *stream) { return code(hd_cudaStreamSynchronize(stream)); }
int hd_cuStreamQuery(void *stream) { return code(hd_cudaStreamQuery(stream)); }
int hd_cuStreamWaitEvent(void *stream, void *event, unsigned flags)
{
    return code(hd_cudaStreamWaitEvent(stream, event, flags));
}
int hd_cuEventCreate(void **event, unsigned flags) { return code(hd_cudaEventCreateWithFlags(event, flags)); }
int hd_cuEventDestroy(void *event) { return code(hd_cudaEventDestroy(event)); }
int hd_cuEventRecord(void *event, void *stream) { return code(hd_cudaEventRecord(event, stream)); }
int hd_cuEventSynchronize(void *event) { return code(hd_cudaEventSynchronize(event)); }
int hd_cuEventQuery(void *event) { return code(hd_cudaEventQuery(event)); }
int hd_cuEventElapsedTime(float *milliseconds, void *start, void *end)
{
    return code(hd_cudaEventElapsedTime(milliseconds, start, end));
}

/* ---- functions by name ------------------------------------------------------------------------------------------- */

#define HD_DRIVER(name, implementation, kind, parameters)
#define HD_DRIVER_MISSING(name, kind) \
    int hd_missing_##name(void) { return hd_driver_missing(#name); }
#include "cudart/driver.def"
#undef HD_DRIVER
#undef HD_DRIVER_MISSING

typedef void any_function(void);
typedef struct driver_function {
    const char *name;
    any_function *function;
} driver_function;
static const driver_function there[] = {
#define HD_DRIVER(name, implementation, kind, parameters) {#name, (any_function *)implementation},
#define HD_DRIVER_MISSING(name, kind)
#include "cudart/driver.def"
#undef HD_DRIVER
#undef HD_DRIVER_MISSING
};
static const driver_function missing[] = {
#define HD_DRIVER(name, implementation, kind, parameters)
#define HD_DRIVER_MISSING(name, kind) {#name, (any_function *)hd_missing_##name},
#include "cudart/driver.def"
#undef HD_DRIVER
#undef HD_DRIVER_MISSING
};

/* The newest version of a name first, as the driver gives it. */
static void *find_function(const driver_function *list, size_t count, const char *name)
{
    static const char *const versions[] = {"_v4", "_v3", "_v2", ""};
    char full[128];
    for (size_t v = 0; v < sizeof versions / sizeof *versions; v++) {
        snprintf(full, sizeof full, "%s%s", name, versions[v]);
        for (size_t i = 0; i < count; i++)
            if (strcmp(list[i].name, full) == 0)
                return (void *)(uintptr_t)list[i].function;
    }
    return NULL;
}

void *hd_driver_function(const char *name)
{
    void *function = find_function(there, sizeof there / sizeof *there, name);
    return function ? function : find_function(missing, sizeof missing / sizeof *missing, name);
}

/* Tables of private functions, which the static runtime asks for first, and the vendor's libraries: there are none.
 * Says what asks, by the address of the call. NVRTC asks, and compiles without. */
int hd_cuGetExportTable(const void **table, const void *id)
{
    Dl_info asks, program;
    hd_runtime *r = hd_runtime_enter();
    (void)id;
    if (table)
        *table = NULL;
    if (dladdr(__builtin_return_address(0), &asks) && asks.dli_fname &&
        dladdr((const void *)(uintptr_t)getauxval(AT_ENTRY), &program) && r->asked_for_tables != asks.dli_fbase &&
        !strstr(asks.dli_fname, "libnvrtc")) {
        r->asked_for_tables = asks.dli_fbase;
        if (asks.dli_fbase == program.dli_fbase)
            hd_cu_record_static(r);
        hd_runtime_say("%s asks for private functions of a GPU's driver: %s", asks.dli_fname,
                       asks.dli_fbase == program.dli_fbase
                           ? "it is linked with the static CUDA runtime; link it with nvcc -cudart shared"
                           : "a library of machine code does not run on the model; one with a static CUDA runtime is "
                             "to be linked with nvcc -cudart shared");
    }
    return hd_runtime_leave_quietly(r, HD_CUDA_SYMBOL_NOT_FOUND);
}

int hd_cuGetProcAddress_v2(const char *name, void **function, int version, uint64_t flags, int *status)
{
    (void)version, (void)flags;
    *function = hd_driver_function(name);
    if (status)
        *status = *function ? 0 : 1;
    return *function ? HD_CUDA_SUCCESS : HD_CUDA_SYMBOL_NOT_FOUND;
}
int hd_cuGetProcAddress(const char *name, void **function, int version, uint64_t flags)
{
    return hd_cuGetProcAddress_v2(name, function, version, flags, NULL);
}

/* ---- of the runtime ---------------------------------------------------------------------------------------------- */

enum { ENTRY_FOUND, ENTRY_NOT_FOUND };
int hd_cudaGetDriverEntryPointByVersion(const char *name, void **function, unsigned version, unsigned long long flags,
                                        int *status)
{
    hd_runtime *r = hd_runtime_enter();
    (void)version, (void)flags;
    if (!name || !function)
        return hd_runtime_leave(r, HD_CUDA_INVALID_VALUE);
    *function = hd_driver_function(name);
    if (status)
        *status = *function ? ENTRY_FOUND : ENTRY_NOT_FOUND;
    return hd_runtime_leave(r, *function || status ? HD_CUDA_SUCCESS : HD_CUDA_SYMBOL_NOT_FOUND);
}
int hd_cudaGetDriverEntryPoint(const char *name, void **function, unsigned long long flags, int *status)
{
    return hd_cudaGetDriverEntryPointByVersion(name, function, 0, flags, status);
}
