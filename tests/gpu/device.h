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
    GPU_JIT_ERROR_LOG = 5,       /* CU_JIT_ERROR_LOG_BUFFER */
    GPU_JIT_ERROR_LOG_BYTES = 6, /* CU_JIT_ERROR_LOG_BUFFER_SIZE_BYTES */
};

/* ---- arrays, textures, surfaces: CUDA_ARRAY3D_DESCRIPTOR, CUDA_MEMCPY3D, CUDA_RESOURCE_DESC, CUDA_TEXTURE_DESC. Where
 * cuda.h is there, device_cuda.c holds them against it when it is compiled. */

typedef struct gpu_array *gpu_array_handle;

enum {
    GPU_FORMAT_U8 = 1,
    GPU_FORMAT_U16 = 2,
    GPU_FORMAT_U32 = 3,
    GPU_FORMAT_S8 = 8,
    GPU_FORMAT_S16 = 9,
    GPU_FORMAT_S32 = 10,
    GPU_FORMAT_F16 = 16,
    GPU_FORMAT_F32 = 32, /* CU_AD_FORMAT_* */
    GPU_ARRAY_LAYERED = 1,
    GPU_ARRAY_SURFACE = 2,
    GPU_ARRAY_CUBE = 4,
    GPU_ARRAY_GATHER = 8, /* CUDA_ARRAY3D_* */
    GPU_MEMORY_DEVICE = 2,
    GPU_MEMORY_ARRAY = 3, /* CU_MEMORYTYPE_* */
    GPU_RESOURCE_ARRAY = 0,
    GPU_RESOURCE_LINEAR = 2, /* CU_RESOURCE_TYPE_* */
    GPU_READ_INTEGER = 1,
    GPU_NORMALIZED = 2,
    GPU_SEAMLESS = 0x40, /* CU_TRSF_* */
    GPU_WRAP = 0,
    GPU_CLAMP = 1,
    GPU_MIRROR = 2,
    GPU_BORDER = 3, /* CU_TR_ADDRESS_MODE_* */
    GPU_POINT = 0,
    GPU_LINEAR = 1, /* CU_TR_FILTER_MODE_* */
};

typedef struct gpu_array_shape {
    size_t width, height, depth;
    int format;
    unsigned channels, flags;
} gpu_array_shape;

typedef struct gpu_copy_side {
    size_t x_bytes, y, z, level;
    int type;
    void *host;
    gpu_address address;
    gpu_array_handle array;
    void *reserved;
    size_t pitch, height;
} gpu_copy_side;
typedef struct gpu_copy_box {
    gpu_copy_side from, to;
    size_t width_bytes, height, depth;
} gpu_copy_box;

typedef struct gpu_resource {
    int type;
    union {
        gpu_array_handle array;
        struct {
            gpu_address address;
            int format;
            unsigned channels;
            size_t bytes;
        } linear;
        int reserved[32];
    } of;
    unsigned flags;
} gpu_resource;

typedef struct gpu_sampling {
    int address[3], filter;
    unsigned flags, anisotropy;
    int level_filter;
    float level_bias, level_least, level_most, border[4];
    int reserved[12];
} gpu_sampling;

/* Every function: its name in the library, its name here, its parameters. All return 0 or an error. */
#define GPU_FUNCTIONS(X)                                                                                    \
    X("cuInit", init, (unsigned flags))                                                                     \
    X("cuDeviceGetCount", device_count, (int *count))                                                       \
    X("cuDeviceGet", device_get, (int *device, int ordinal))                                                \
    X("cuDeviceGetName", device_name, (char *name, int size, int device))                                   \
    X("cuDeviceGetAttribute", device_attribute, (int *value, int attribute, int device))                    \
    X("cuDevicePrimaryCtxRetain", context_retain, (gpu_context_handle * context, int device))               \
    X("cuCtxSetCurrent", context_set, (gpu_context_handle context))                                         \
    X("cuCtxSynchronize", synchronize, (void))                                                              \
    X("cuModuleLoadDataEx", module_load,                                                                    \
      (gpu_module_handle * module, const void *text, unsigned count, int *options, void **values))          \
    X("cuModuleUnload", module_unload, (gpu_module_handle module))                                          \
    X("cuModuleGetFunction", module_function,                                                               \
      (gpu_function_handle * function, gpu_module_handle module, const char *name))                         \
    X("cuModuleGetGlobal_v2", module_global,                                                                \
      (gpu_address * address, size_t * size, gpu_module_handle module, const char *name))                   \
    X("cuMemAlloc_v2", allocate, (gpu_address * address, size_t size))                                      \
    X("cuMemFree_v2", release, (gpu_address address))                                                       \
    X("cuMemcpyHtoD_v2", copy_in, (gpu_address to, const void *from, size_t size))                          \
    X("cuMemcpyDtoH_v2", copy_out, (void *to, gpu_address from, size_t size))                               \
    X("cuMemcpyDtoD_v2", copy, (gpu_address to, gpu_address from, size_t size))                             \
    X("cuFuncSetAttribute", function_attribute, (gpu_function_handle function, int attribute, int value))   \
    X("cuLaunchKernel", launch,                                                                             \
      (gpu_function_handle function, unsigned grid_x, unsigned grid_y, unsigned grid_z, unsigned block_x,   \
       unsigned block_y, unsigned block_z, unsigned shared, void *stream, void **parameters, void **extra)) \
    X("cuLaunchCooperativeKernel", launch_cooperative,                                                      \
      (gpu_function_handle function, unsigned grid_x, unsigned grid_y, unsigned grid_z, unsigned block_x,   \
       unsigned block_y, unsigned block_z, unsigned shared, void *stream, void **parameters))               \
    X("cuArray3DCreate_v2", array_create, (gpu_array_handle * array, const gpu_array_shape *shape))         \
    X("cuArrayDestroy", array_destroy, (gpu_array_handle array))                                            \
    X("cuMemcpy3D_v2", copy_box, (const gpu_copy_box *box))                                                 \
    X("cuTexObjectCreate", texture_create,                                                                  \
      (uint64_t * texture, const gpu_resource *resource, const gpu_sampling *sampling, const void *view))   \
    X("cuTexObjectDestroy", texture_destroy, (uint64_t texture))                                            \
    X("cuSurfObjectCreate", surface_create, (uint64_t * surface, const gpu_resource *resource))             \
    X("cuSurfObjectDestroy", surface_destroy, (uint64_t surface))                                           \
    X("cuGetErrorString", error_text, (int error, const char **text))

typedef struct gpu_device {
#define GPU_POINTER(symbol, name, parameters) int(*name) parameters;
    GPU_FUNCTIONS(GPU_POINTER)
#undef GPU_POINTER
} gpu_device;

/* Finds the functions. false, with the reason, where there is no device to run on. */
bool gpu_open(gpu_device *device, const char **why);

#endif
