/* The driver's functions, from libcuda.so.1. */
#include "device.h"
#include <dlfcn.h>
#include <string.h>

#if defined __has_include
#if __has_include(<cuda.h>)
#include <cuda.h>

/* That the structs here are those of the header, member by member. */
#define SAME_PLACE(ours, our, theirs, their)                                     \
    _Static_assert(offsetof(ours, our) == offsetof(theirs, their) &&             \
                       sizeof(((ours *)0)->our) == sizeof(((theirs *)0)->their), \
                   #ours "." #our)
#define SAME_SIZE(ours, theirs) _Static_assert(sizeof(ours) == sizeof(theirs), #ours)
#define SAME_SIDE(side, name)                                              \
    SAME_PLACE(gpu_copy_box, side.x_bytes, CUDA_MEMCPY3D, name##XInBytes); \
    SAME_PLACE(gpu_copy_box, side.y, CUDA_MEMCPY3D, name##Y);              \
    SAME_PLACE(gpu_copy_box, side.z, CUDA_MEMCPY3D, name##Z);              \
    SAME_PLACE(gpu_copy_box, side.level, CUDA_MEMCPY3D, name##LOD);        \
    SAME_PLACE(gpu_copy_box, side.type, CUDA_MEMCPY3D, name##MemoryType);  \
    SAME_PLACE(gpu_copy_box, side.host, CUDA_MEMCPY3D, name##Host);        \
    SAME_PLACE(gpu_copy_box, side.address, CUDA_MEMCPY3D, name##Device);   \
    SAME_PLACE(gpu_copy_box, side.array, CUDA_MEMCPY3D, name##Array);      \
    SAME_PLACE(gpu_copy_box, side.pitch, CUDA_MEMCPY3D, name##Pitch);      \
    SAME_PLACE(gpu_copy_box, side.height, CUDA_MEMCPY3D, name##Height)

SAME_SIZE(gpu_array_shape, CUDA_ARRAY3D_DESCRIPTOR);
SAME_PLACE(gpu_array_shape, width, CUDA_ARRAY3D_DESCRIPTOR, Width);
SAME_PLACE(gpu_array_shape, height, CUDA_ARRAY3D_DESCRIPTOR, Height);
SAME_PLACE(gpu_array_shape, depth, CUDA_ARRAY3D_DESCRIPTOR, Depth);
SAME_PLACE(gpu_array_shape, format, CUDA_ARRAY3D_DESCRIPTOR, Format);
SAME_PLACE(gpu_array_shape, channels, CUDA_ARRAY3D_DESCRIPTOR, NumChannels);
SAME_PLACE(gpu_array_shape, flags, CUDA_ARRAY3D_DESCRIPTOR, Flags);
SAME_SIZE(gpu_copy_box, CUDA_MEMCPY3D);
SAME_SIDE(from, src);
SAME_SIDE(to, dst);
SAME_PLACE(gpu_copy_box, width_bytes, CUDA_MEMCPY3D, WidthInBytes);
SAME_PLACE(gpu_copy_box, height, CUDA_MEMCPY3D, Height);
SAME_PLACE(gpu_copy_box, depth, CUDA_MEMCPY3D, Depth);
SAME_SIZE(gpu_resource, CUDA_RESOURCE_DESC);
SAME_PLACE(gpu_resource, type, CUDA_RESOURCE_DESC, resType);
SAME_PLACE(gpu_resource, of.array, CUDA_RESOURCE_DESC, res.array.hArray);
SAME_PLACE(gpu_resource, of.linear.address, CUDA_RESOURCE_DESC, res.linear.devPtr);
SAME_PLACE(gpu_resource, of.linear.format, CUDA_RESOURCE_DESC, res.linear.format);
SAME_PLACE(gpu_resource, of.linear.channels, CUDA_RESOURCE_DESC, res.linear.numChannels);
SAME_PLACE(gpu_resource, of.linear.bytes, CUDA_RESOURCE_DESC, res.linear.sizeInBytes);
SAME_PLACE(gpu_resource, flags, CUDA_RESOURCE_DESC, flags);
SAME_SIZE(gpu_sampling, CUDA_TEXTURE_DESC);
SAME_PLACE(gpu_sampling, address, CUDA_TEXTURE_DESC, addressMode);
SAME_PLACE(gpu_sampling, filter, CUDA_TEXTURE_DESC, filterMode);
SAME_PLACE(gpu_sampling, flags, CUDA_TEXTURE_DESC, flags);
SAME_PLACE(gpu_sampling, anisotropy, CUDA_TEXTURE_DESC, maxAnisotropy);
SAME_PLACE(gpu_sampling, level_filter, CUDA_TEXTURE_DESC, mipmapFilterMode);
SAME_PLACE(gpu_sampling, level_bias, CUDA_TEXTURE_DESC, mipmapLevelBias);
SAME_PLACE(gpu_sampling, level_least, CUDA_TEXTURE_DESC, minMipmapLevelClamp);
SAME_PLACE(gpu_sampling, level_most, CUDA_TEXTURE_DESC, maxMipmapLevelClamp);
SAME_PLACE(gpu_sampling, border, CUDA_TEXTURE_DESC, borderColor);

#define SAME_VALUE(ours, theirs) _Static_assert((int)(ours) == (int)(theirs), #ours)
SAME_VALUE(GPU_FORMAT_U8, CU_AD_FORMAT_UNSIGNED_INT8);
SAME_VALUE(GPU_FORMAT_U16, CU_AD_FORMAT_UNSIGNED_INT16);
SAME_VALUE(GPU_FORMAT_U32, CU_AD_FORMAT_UNSIGNED_INT32);
SAME_VALUE(GPU_FORMAT_S8, CU_AD_FORMAT_SIGNED_INT8);
SAME_VALUE(GPU_FORMAT_S16, CU_AD_FORMAT_SIGNED_INT16);
SAME_VALUE(GPU_FORMAT_S32, CU_AD_FORMAT_SIGNED_INT32);
SAME_VALUE(GPU_FORMAT_F16, CU_AD_FORMAT_HALF);
SAME_VALUE(GPU_FORMAT_F32, CU_AD_FORMAT_FLOAT);
SAME_VALUE(GPU_ARRAY_LAYERED, CUDA_ARRAY3D_LAYERED);
SAME_VALUE(GPU_ARRAY_SURFACE, CUDA_ARRAY3D_SURFACE_LDST);
SAME_VALUE(GPU_ARRAY_CUBE, CUDA_ARRAY3D_CUBEMAP);
SAME_VALUE(GPU_ARRAY_GATHER, CUDA_ARRAY3D_TEXTURE_GATHER);
SAME_VALUE(GPU_MEMORY_DEVICE, CU_MEMORYTYPE_DEVICE);
SAME_VALUE(GPU_MEMORY_ARRAY, CU_MEMORYTYPE_ARRAY);
SAME_VALUE(GPU_RESOURCE_ARRAY, CU_RESOURCE_TYPE_ARRAY);
SAME_VALUE(GPU_RESOURCE_LINEAR, CU_RESOURCE_TYPE_LINEAR);
SAME_VALUE(GPU_READ_INTEGER, CU_TRSF_READ_AS_INTEGER);
SAME_VALUE(GPU_NORMALIZED, CU_TRSF_NORMALIZED_COORDINATES);
SAME_VALUE(GPU_SEAMLESS, CU_TRSF_SEAMLESS_CUBEMAP);
SAME_VALUE(GPU_WRAP, CU_TR_ADDRESS_MODE_WRAP);
SAME_VALUE(GPU_CLAMP, CU_TR_ADDRESS_MODE_CLAMP);
SAME_VALUE(GPU_MIRROR, CU_TR_ADDRESS_MODE_MIRROR);
SAME_VALUE(GPU_BORDER, CU_TR_ADDRESS_MODE_BORDER);
SAME_VALUE(GPU_POINT, CU_TR_FILTER_MODE_POINT);
SAME_VALUE(GPU_LINEAR, CU_TR_FILTER_MODE_LINEAR);
#endif
#endif

bool gpu_open(gpu_device *device, const char **why)
{
    void *library = dlopen("libcuda.so.1", RTLD_NOW);
    int count = 0;
    *why = "libcuda.so.1 is not installed";
    if (!library)
        return false;
    *why = "libcuda.so.1 lacks a function";
#define FIND(symbol, name, parameters)               \
    {                                                \
        void *found = dlsym(library, symbol);        \
        if (!found)                                  \
            return false;                            \
        memcpy(&device->name, &found, sizeof found); \
    }
    GPU_FUNCTIONS(FIND)
#undef FIND
    *why = "the driver finds no GPU";
    return device->init(0) == GPU_OK && device->device_count(&count) == GPU_OK && count > 0;
}
