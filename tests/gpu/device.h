/* What the oracle needs of a CUDA device: the driver's functions, found when it runs, and nothing of its headers. There
 * are two: device_cuda.c takes them from libcuda, device_model.c carries them out in the functional model, which tests
 * the oracle itself where there is no GPU.
 *
 * Types and numbers are those of the driver's interface (CUDA driver API reference, version 12). */
#ifndef HD_TESTS_GPU_DEVICE_H
#define HD_TESTS_GPU_DEVICE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

typedef uint64_t gpu_address;
typedef struct gpu_module *gpu_module_handle;
typedef struct gpu_function *gpu_function_handle;
typedef struct gpu_context *gpu_context_handle;

enum {
    GPU_OK = 0,
    GPU_LAUNCH_BUFFER_POINTER = 1, /* CU_LAUNCH_PARAM_BUFFER_POINTER */
    GPU_LAUNCH_BUFFER_SIZE = 2,    /* CU_LAUNCH_PARAM_BUFFER_SIZE */
    GPU_MOST_DYNAMIC_SHARED = 8,   /* CU_FUNC_ATTRIBUTE_MAX_DYNAMIC_SHARED_SIZE_BYTES */
    GPU_CAPABILITY_MAJOR = 75,     /* CU_DEVICE_ATTRIBUTE_COMPUTE_CAPABILITY_MAJOR */
    GPU_CAPABILITY_MINOR = 76,
    GPU_JIT_ERROR_LOG = 5,         /* CU_JIT_ERROR_LOG_BUFFER */
    GPU_JIT_ERROR_LOG_BYTES = 6,   /* CU_JIT_ERROR_LOG_BUFFER_SIZE_BYTES */
};

/* Every function: its name in the library, its name here, its parameters. All return 0 or an error. */
#define GPU_FUNCTIONS(X)                                                                                              \
    X("cuInit", init, (unsigned flags))                                                                               \
    X("cuDeviceGetCount", device_count, (int *count))                                                                 \
    X("cuDeviceGet", device_get, (int *device, int ordinal))                                                          \
    X("cuDeviceGetName", device_name, (char *name, int size, int device))                                             \
    X("cuDeviceGetAttribute", device_attribute, (int *value, int attribute, int device))                              \
    X("cuDevicePrimaryCtxRetain", context_retain, (gpu_context_handle * context, int device))                         \
    X("cuCtxSetCurrent", context_set, (gpu_context_handle context))                                                   \
    X("cuCtxSynchronize", synchronize, (void))                                                                        \
    X("cuModuleLoadDataEx", module_load,                                                                              \
      (gpu_module_handle * module, const void *text, unsigned count, int *options, void **values))                    \
    X("cuModuleUnload", module_unload, (gpu_module_handle module))                                                    \
    X("cuModuleGetFunction", module_function, (gpu_function_handle * function, gpu_module_handle module,              \
                                               const char *name))                                                     \
    X("cuModuleGetGlobal_v2", module_global, (gpu_address * address, size_t *size, gpu_module_handle module,          \
                                              const char *name))                                                      \
    X("cuMemAlloc_v2", allocate, (gpu_address * address, size_t size))                                                \
    X("cuMemFree_v2", release, (gpu_address address))                                                                 \
    X("cuMemcpyHtoD_v2", copy_in, (gpu_address to, const void *from, size_t size))                                    \
    X("cuMemcpyDtoH_v2", copy_out, (void *to, gpu_address from, size_t size))                                         \
    X("cuMemcpyDtoD_v2", copy, (gpu_address to, gpu_address from, size_t size))                                       \
    X("cuFuncSetAttribute", function_attribute, (gpu_function_handle function, int attribute, int value))             \
    X("cuLaunchKernel", launch,                                                                                       \
      (gpu_function_handle function, unsigned grid_x, unsigned grid_y, unsigned grid_z, unsigned block_x,             \
       unsigned block_y, unsigned block_z, unsigned shared, void *stream, void **parameters, void **extra))           \
    X("cuGetErrorString", error_text, (int error, const char **text))

typedef struct gpu_device {
#define GPU_POINTER(symbol, name, parameters) int(*name) parameters;
    GPU_FUNCTIONS(GPU_POINTER)
#undef GPU_POINTER
} gpu_device;

/* Finds the functions. false, with the reason, where there is no device to run on. */
bool gpu_open(gpu_device *device, const char **why);

#endif
