/* The device: one, as the GPU description has it; its properties, limits and errors. */
#include "cudart/api.h"
#include "cudart/driver.h"
#include "cudart/operation.h"
#include "driver/registers.h"
#include "hwmodel/memory/heap.h"
#include <stdio.h>
#include <unistd.h>

enum { VERSION = 13000 };

/* ---- errors ------------------------------------------------------------------------------------------------------ */

static const struct error_text {
    int number;
    const char *name, *text;
} error_texts[] = {
#define HD_CUDA_ERROR(id, number, name, text) {number, name, text},
#include "cudart/errors.def"
#undef HD_CUDA_ERROR
};

static const struct error_text *find_error(int number)
{
    static const struct error_text unknown = {0, "unrecognized error code", "unrecognized error code"};
    for (size_t i = 0; i < sizeof error_texts / sizeof *error_texts; i++)
        if (error_texts[i].number == number)
            return &error_texts[i];
    return &unknown;
}

const char *hd_cudaGetErrorName(int error) { return find_error(error)->name; }
const char *hd_cudaGetErrorString(int error) { return find_error(error)->text; }
int hd_cudaGetLastError(void) { return hd_runtime_last_error(true); }
int hd_cudaPeekAtLastError(void) { return hd_runtime_last_error(false); }

/* ---- properties -------------------------------------------------------------------------------------------------- */

#define HEAD                                  \
    char name[256], uuid[16], luid[8];        \
    unsigned luidDeviceNodeMask;              \
    size_t totalGlobalMem, sharedMemPerBlock; \
    int regsPerBlock, warpSize;               \
    size_t memPitch;                          \
    int maxThreadsPerBlock;
#define HD_PROPERTY_LIST(field, count, attribute, ...) int field[count];

typedef struct properties_12 { /* CUDA 11's end before hostRegisterSupported */
    HEAD
#define ALL(type, field) type field;
#define TO_12(type, field) type field;
#define FROM_12(type, field) type field;
#define HD_PROPERTY(type, field, since, attribute, value) since(type, field)
#include "cudart/properties.def"
#undef TO_12
        int reserved[63];
} properties_12;

typedef struct properties_13 {
    HEAD
#define TO_12(type, field)
#include "cudart/properties.def"
        int deviceNumaConfig,
        deviceNumaId, mpsEnabled, hostNumaId;
    unsigned gpuPciDeviceID, gpuPciSubsystemID;
    int hostNumaMultinodeIpcSupported, reserved[56];
} properties_13;
#undef ALL
#undef TO_12
#undef FROM_12
#undef HD_PROPERTY
#undef HD_PROPERTY_LIST

/* The same statements for both layouts. */
#define FILL_HEAD(p)                                            \
    snprintf((p)->name, sizeof(p)->name, "heddle %s", g->name); \
    (p)->totalGlobalMem = (size_t)HD_DEVICE_BYTES;              \
    (p)->sharedMemPerBlock = 49152;                             \
    (p)->regsPerBlock = (int)l->registers_per_cta;              \
    (p)->warpSize = 32;                                         \
    (p)->memPitch = INT32_MAX;                                  \
    (p)->maxThreadsPerBlock = (int)l->threads_per_cta;

#define HD_PROPERTY_LIST(field, count, attribute, ...)            \
    {                                                             \
        static_values(p->field, count, (const int[])__VA_ARGS__); \
    }
static void static_values(int *to, uint32_t count, const int *from) { memcpy(to, from, count * sizeof *to); }

static void fill_12(const hd_gpu *g, properties_12 *p)
{
    const hd_gpu_limits *l = &g->limits;
    const hd_machine *m = &g->machine;
    *p = (properties_12){0};
    FILL_HEAD(p)
#define HD_PROPERTY(type, field, since, attribute, value) p->field = (type)(value);
#include "cudart/properties.def"
#undef HD_PROPERTY
}

static void fill_13(const hd_gpu *g, properties_13 *p)
{
    const hd_gpu_limits *l = &g->limits;
    const hd_machine *m = &g->machine;
    *p = (properties_13){0};
    FILL_HEAD(p)
#define ALL(type, field, value) p->field = (type)(value);
#define TO_12(type, field, value)
#define FROM_12(type, field, value) p->field = (type)(value);
#define HD_PROPERTY(type, field, since, attribute, value) since(type, field, value)
#include "cudart/properties.def"
#undef ALL
#undef TO_12
#undef FROM_12
#undef HD_PROPERTY
    p->deviceNumaId = p->hostNumaId = -1;
}
#undef HD_PROPERTY_LIST

static int check_device(const void *result, int device)
{
    return !result ? HD_CUDA_INVALID_VALUE : device ? HD_CUDA_INVALID_DEVICE : HD_CUDA_SUCCESS;
}

static int old_properties(void *properties, int device, size_t bytes)
{
    hd_runtime *r = hd_runtime_enter();
    properties_12 p;
    int error = check_device(properties, device);
    fill_12(hd_gpu_of(r), &p);
    if (!error)
        memcpy(properties, &p, bytes);
    return hd_runtime_leave(r, error);
}
int hd_cudaGetDeviceProperties_11(void *properties, int device)
{
    return old_properties(properties, device, offsetof(properties_12, hostRegisterSupported));
}
int hd_cudaGetDeviceProperties_12(void *properties, int device)
{
    return old_properties(properties, device, sizeof(properties_12));
}
int hd_cudaGetDeviceProperties(void *properties, int device)
{
    hd_runtime *r = hd_runtime_enter();
    int error = check_device(properties, device);
    if (!error)
        fill_13(hd_gpu_of(r), properties);
    return hd_runtime_leave(r, error);
}

bool hd_device_attribute(const hd_gpu *g, int attribute, int *value)
{
    const hd_gpu_limits *l = &g->limits;
    const hd_machine *m = &g->machine;
    enum { FIRST_UNKNOWN = 148 };
#define HD_PROPERTY(type, field, since, number, is) \
    if (number && attribute == number)              \
        return *value = (int)(is), true;
#define HD_PROPERTY_LIST(field, count, first, ...)       \
    if (attribute >= first && attribute < first + count) \
        return *value = ((const int[])__VA_ARGS__)[attribute - first], true;
#define HD_ATTRIBUTE(number, is) \
    if (attribute == number)     \
        return *value = (int)(is), true;
#include "cudart/properties.def"
#undef HD_PROPERTY
#undef HD_PROPERTY_LIST
#undef HD_ATTRIBUTE
    *value = 0; /* what else there is: features of other devices */
    return attribute > 0 && attribute < FIRST_UNKNOWN;
}

int hd_cudaDeviceGetAttribute(int *value, int attribute, int device)
{
    hd_runtime *r = hd_runtime_enter();
    int error = check_device(value, device);
    if (!error && !hd_device_attribute(hd_gpu_of(r), attribute, value))
        error = HD_CUDA_INVALID_VALUE;
    return hd_runtime_leave(r, error);
}

/* ---- the device -------------------------------------------------------------------------------------------------- */

static int give(int *to, int value)
{
    hd_runtime *r = hd_runtime_enter();
    if (to)
        *to = value;
    return hd_runtime_leave(r, to ? HD_CUDA_SUCCESS : HD_CUDA_INVALID_VALUE);
}
static int done(int error) { return hd_runtime_leave(hd_runtime_enter(), error); }
static int only_device(int device) { return done(device ? HD_CUDA_INVALID_DEVICE : HD_CUDA_SUCCESS); }

int hd_cudaGetDeviceCount(int *count) { return give(count, 1); }
int hd_cudaGetDevice(int *device) { return give(device, 0); }
int hd_cudaSetDevice(int device) { return only_device(device); }
int hd_cudaInitDevice(int device, unsigned device_flags, unsigned flags)
{
    (void)device_flags, (void)flags;
    return only_device(device);
}
int hd_cudaChooseDevice(int *device, const void *properties)
{
    (void)properties;
    return give(device, 0);
}
int hd_cudaSetValidDevices(int *devices, int count)
{
    return done(count < 0 || (count && devices[0]) ? HD_CUDA_INVALID_DEVICE : HD_CUDA_SUCCESS);
}
int hd_cudaGetDeviceFlags(unsigned *flags)
{
    hd_runtime *r = hd_runtime_enter();
    *flags = r->flags;
    return hd_runtime_leave(r, HD_CUDA_SUCCESS);
}
int hd_cudaSetDeviceFlags(unsigned flags)
{
    hd_runtime *r = hd_runtime_enter();
    r->flags = flags;
    return hd_runtime_leave(r, HD_CUDA_SUCCESS);
}
int hd_cudaDeviceSynchronize(void)
{
    hd_runtime *r = hd_runtime_enter();
    return hd_runtime_leave(r, hd_cu_streams_forbid(r, true));
}
int hd_cudaDeviceReset(void)
{
    hd_runtime *r = hd_runtime_enter();
    hd_runtime_reset(r);
    return hd_runtime_leave(r, HD_CUDA_SUCCESS);
}

/* Stack, printf buffer, heap, depth and number of nested launches, L2 granularity and persistence. */
static const uint64_t default_limits[] = {1024, 1 << 20, HD_HEAP_BYTES, 2, 2048, 128, 0};

int hd_cudaDeviceGetLimit(size_t *value, int limit)
{
    hd_runtime *r = hd_runtime_enter();
    if (!value || limit < 0 || limit >= (int)(sizeof default_limits / sizeof *default_limits))
        return hd_runtime_leave(r, value ? HD_CUDA_UNSUPPORTED_LIMIT : HD_CUDA_INVALID_VALUE);
    *value = (size_t)(r->limits[limit] ? r->limits[limit] : default_limits[limit]);
    return hd_runtime_leave(r, HD_CUDA_SUCCESS);
}
int hd_cudaDeviceSetLimit(int limit, size_t value)
{
    hd_runtime *r = hd_runtime_enter();
    if (limit < 0 || limit >= (int)(sizeof default_limits / sizeof *default_limits))
        return hd_runtime_leave(r, HD_CUDA_UNSUPPORTED_LIMIT);
    r->limits[limit] = value;
    return hd_runtime_leave(r, HD_CUDA_SUCCESS);
}

int hd_cudaDeviceGetCacheConfig(int *config) { return give(config, 0); }
int hd_cudaDeviceSetCacheConfig(int config)
{
    (void)config;
    return done(HD_CUDA_SUCCESS);
}
int hd_cudaDeviceGetSharedMemConfig(int *config) { return give(config, 1); }
int hd_cudaDeviceSetSharedMemConfig(int config)
{
    (void)config;
    return done(HD_CUDA_SUCCESS);
}
int hd_cudaDeviceGetStreamPriorityRange(int *least, int *greatest)
{
    if (greatest)
        *greatest = 0;
    return least ? give(least, 0) : done(HD_CUDA_SUCCESS);
}
int hd_cudaDeviceGetPCIBusId(char *text, int length, int device)
{
    if (device || !text || length < 1)
        return done(device ? HD_CUDA_INVALID_DEVICE : HD_CUDA_INVALID_VALUE);
    snprintf(text, (size_t)length, "0000:01:00.0");
    return done(HD_CUDA_SUCCESS);
}
int hd_cudaDeviceGetByPCIBusId(int *device, const char *text)
{
    if (!text)
        return done(HD_CUDA_INVALID_VALUE);
    return strstr(text, "01:00") ? give(device, 0) : done(HD_CUDA_INVALID_DEVICE);
}
int hd_cudaDeviceCanAccessPeer(int *can, int device, int peer)
{
    return device || peer ? done(HD_CUDA_INVALID_DEVICE) : give(can, 0);
}
int hd_cudaDeviceEnablePeerAccess(int peer, unsigned flags)
{
    (void)peer, (void)flags;
    return done(HD_CUDA_INVALID_DEVICE);
}
int hd_cudaDeviceDisablePeerAccess(int peer)
{
    (void)peer;
    return done(HD_CUDA_PEER_ACCESS_NOT_ENABLED);
}
int hd_cudaCtxResetPersistingL2Cache(void) { return done(HD_CUDA_SUCCESS); }
int hd_cudaDriverGetVersion(int *version) { return give(version, VERSION); }
int hd_cudaRuntimeGetVersion(int *version) { return give(version, VERSION); }
int hd_cudaProfilerStart(void) { return done(HD_CUDA_SUCCESS); }
int hd_cudaProfilerStop(void) { return done(HD_CUDA_SUCCESS); }

/* ---- registers --------------------------------------------------------------------------------------------------- */

/* Of machine code, what its cubin says. Of PTX, the estimate of `heddle report`: the model's registers have no number
 * of their own. */
uint32_t hd_kernel_registers(hd_runtime *r, hd_cu_kernel *k)
{
    enum { UNKNOWN = 32 };
    const hd_machine_layout *l = hd_machine_layout_of(k->function);
    if (l && l->has_registers)
        k->registers = l->registers;
    if (!k->registers)
        k->registers = hd_estimated_registers(k->unit->module, k->name, &hd_gpu_of(r)->limits);
    k->registers = k->registers ? k->registers : UNKNOWN;
    return k->registers;
}
