/* Compares the runtime's types, error texts and exported functions with those of the toolkit: abi OURS [REAL]. Types
 * are compared when this is compiled; without REAL names are not. */
#include "cudart/abi.h"
#include <cuda_runtime_api.h>
#include <dlfcn.h>
#include <elf.h>
#include <link.h>
#include <stdio.h>
#include <string.h>

#define SAME_SIZE(ours, theirs) _Static_assert(sizeof(ours) == sizeof(theirs), #theirs)
#define SAME(ours, field, theirs, other) \
    _Static_assert(offsetof(ours, field) == offsetof(theirs, other), #theirs "." #other)

SAME_SIZE(hd_dim3, struct dim3);
SAME_SIZE(hd_extent, struct cudaExtent);
SAME_SIZE(hd_position3, struct cudaPos);
SAME_SIZE(hd_pitched, struct cudaPitchedPtr);
SAME(hd_pitched, width, struct cudaPitchedPtr, xsize);
SAME_SIZE(hd_cu_copy3, struct cudaMemcpy3DParms);
SAME(hd_cu_copy3, to, struct cudaMemcpy3DParms, dstPtr);
SAME(hd_cu_copy3, kind, struct cudaMemcpy3DParms, kind);
SAME_SIZE(hd_channels, struct cudaChannelFormatDesc);
SAME_SIZE(hd_resource, struct cudaResourceDesc);
SAME(hd_resource, of.linear.bytes, struct cudaResourceDesc, res.linear.sizeInBytes);
SAME(hd_resource, of.pitched.pitch, struct cudaResourceDesc, res.pitch2D.pitchInBytes);
SAME_SIZE(hd_sampling, struct cudaTextureDesc);
SAME(hd_sampling, normalized, struct cudaTextureDesc, normalizedCoords);
SAME(hd_sampling, seamless, struct cudaTextureDesc, seamlessCubemap);
SAME_SIZE(hd_pointer_attributes, struct cudaPointerAttributes);
SAME(hd_pointer_attributes, on_host, struct cudaPointerAttributes, hostPointer);
SAME_SIZE(hd_function_attributes, struct cudaFuncAttributes);
SAME(hd_function_attributes, dynamic_shared_bytes, struct cudaFuncAttributes, maxDynamicSharedSizeBytes);
SAME(hd_function_attributes, ptx_version, struct cudaFuncAttributes, ptxVersion);
SAME_SIZE(hd_launch_attribute, cudaLaunchAttribute);
SAME(hd_launch_attribute, value, cudaLaunchAttribute, val);
SAME_SIZE(hd_launch_config, cudaLaunchConfig_t);
SAME(hd_launch_config, attribute_count, cudaLaunchConfig_t, numAttrs);
SAME_SIZE(hd_kernel_node, struct cudaKernelNodeParams);
SAME_SIZE(hd_memset_node, struct cudaMemsetParams);
SAME(hd_memset_node, element_bytes, struct cudaMemsetParams, elementSize);
SAME_SIZE(hd_host_node, struct cudaHostNodeParams);
SAME_SIZE(hd_memory_location, struct cudaMemLocation);

typedef const char *describe(cudaError_t);

static int compare_errors(void *ours, void *real)
{
    describe *real_name = (describe *)dlsym(real, "cudaGetErrorName"),
             *real_text = (describe *)dlsym(real, "cudaGetErrorString");
    describe *name = (describe *)dlsym(ours, "cudaGetErrorName"), *text = (describe *)dlsym(ours, "cudaGetErrorString");
    int wrong = 0;
    for (int i = -1; i < 10001; i++)
        if (strcmp(name((cudaError_t)i), real_name((cudaError_t)i)) != 0 ||
            strcmp(text((cudaError_t)i), real_text((cudaError_t)i)) != 0)
            wrong++, printf("not ok run error %d: %s, %s\n", i, name((cudaError_t)i), text((cudaError_t)i));
    return wrong;
}

/* Every name that the vendor's library exports. */
static int compare_names(void *ours, void *real)
{
    struct link_map *map;
    const char *strings = NULL;
    const ElfW(Sym) *symbols = NULL;
    int wrong = 0;
    dlinfo(real, RTLD_DI_LINKMAP, &map);
    for (const ElfW(Dyn) *d = map->l_ld; d->d_tag; d++) {
        if (d->d_tag == DT_STRTAB)
            strings = (const char *)d->d_un.d_ptr;
        if (d->d_tag == DT_SYMTAB)
            symbols = (const ElfW(Sym) *)d->d_un.d_ptr;
    }
    for (const ElfW(Sym) *s = symbols + 1; (const char *)s < strings; s++) {
        const char *name = strings + s->st_name;
        if (!s->st_shndx || ELF64_ST_TYPE(s->st_info) != STT_FUNC || !strstr(name, "cuda"))
            continue;
        if (!dlvsym(ours, name, "libcudart.so.13"))
            wrong++, printf("not ok run export %s: missing\n", name);
    }
    return wrong;
}

static int compare_properties(void *ours)
{
    int (*get)(struct cudaDeviceProp *, int) =
        (int (*)(struct cudaDeviceProp *, int))dlsym(ours, "cudaGetDeviceProperties");
    int (*attribute)(int *, int, int) = (int (*)(int *, int, int))dlsym(ours, "cudaDeviceGetAttribute");
    struct {
        struct cudaDeviceProp p;
        char after[64];
    } got;
    int value, wrong = 0;
    memset(&got, 0x5a, sizeof got);
    wrong += get(&got.p, 0) != 0 || got.after[0] != 0x5a || got.after[63] != 0x5a;
#define EQUAL(field, number)                                                      \
    wrong += attribute(&value, number, 0) != 0 || (long long)got.p.field != value \
                 ? (printf("not ok run property " #field "\n"), 1)                \
                 : 0
    EQUAL(multiProcessorCount, cudaDevAttrMultiProcessorCount);
    EQUAL(maxThreadsDim[2], cudaDevAttrMaxBlockDimZ);
    EQUAL(maxGridSize[1], cudaDevAttrMaxGridDimY);
    EQUAL(maxTexture3DAlt[2], cudaDevAttrMaxTexture3DDepthAlt);
    EQUAL(l2CacheSize, cudaDevAttrL2CacheSize);
    EQUAL(reservedSharedMemPerBlock, cudaDevAttrReservedSharedMemoryPerBlock);
    EQUAL(memoryPoolsSupported, cudaDevAttrMemoryPoolsSupported);
    EQUAL(sharedMemPerBlock, cudaDevAttrMaxSharedMemoryPerBlock);
    EQUAL(regsPerBlock, cudaDevAttrMaxRegistersPerBlock);
    EQUAL(major, cudaDevAttrComputeCapabilityMajor);
    return wrong;
}

int main(int count, char **arguments)
{
    void *ours = count > 1 ? dlopen(arguments[1], RTLD_NOW | RTLD_LOCAL) : NULL;
    void *real = count > 2 && *arguments[2] ? dlopen(arguments[2], RTLD_NOW | RTLD_LOCAL) : NULL;
    if (!ours)
        return fprintf(stderr, "%s\n", dlerror()), 2;
    int wrong = compare_properties(ours);
    if (real)
        wrong += compare_names(ours, real) + compare_errors(ours, real);
    else
        puts("skip run exports: the toolkit has no shared runtime");
    return wrong != 0;
}
