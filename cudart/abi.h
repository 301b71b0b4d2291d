/* The types of the CUDA runtime's binary interface, as programs pass them: sizes and offsets are those of CUDA 11 to 13
 * on 64-bit Linux. tests/run compares them with the toolkit's headers, where there is a toolkit. */
#ifndef HD_CUDART_ABI_H
#define HD_CUDART_ABI_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

typedef struct hd_dim3 {
    uint32_t x, y, z;
} hd_dim3;

typedef enum hd_cu_copy_kind {
    HD_COPY_HOST_TO_HOST,
    HD_COPY_HOST_TO_DEVICE,
    HD_COPY_DEVICE_TO_HOST,
    HD_COPY_DEVICE_TO_DEVICE,
    HD_COPY_DEFAULT
} hd_cu_copy_kind;

typedef enum hd_pointer_kind {
    HD_POINTER_UNREGISTERED,
    HD_POINTER_HOST,
    HD_POINTER_DEVICE,
    HD_POINTER_MANAGED
} hd_pointer_kind;

typedef struct hd_extent {
    size_t width, height, depth;
} hd_extent;
typedef struct hd_position3 {
    size_t x, y, z;
} hd_position3;
typedef struct hd_pitched {
    void *pointer;
    size_t pitch, width, height;
} hd_pitched;

typedef struct hd_cu_array hd_cu_array;

typedef struct hd_cu_copy3 {
    hd_cu_array *from_array;
    hd_position3 from_position;
    hd_pitched from;
    hd_cu_array *to_array;
    hd_position3 to_position;
    hd_pitched to;
    hd_extent extent;
    int kind;
} hd_cu_copy3;

typedef enum hd_channel_kind {
    HD_CHANNEL_SIGNED,
    HD_CHANNEL_UNSIGNED,
    HD_CHANNEL_FLOAT,
    HD_CHANNEL_NONE
} hd_channel_kind;
typedef struct hd_channels {
    int x, y, z, w; /* bits */
    int kind;
} hd_channels;

typedef enum hd_resource_kind {
    HD_RESOURCE_ARRAY,
    HD_RESOURCE_MIPMAPPED,
    HD_RESOURCE_LINEAR,
    HD_RESOURCE_PITCHED
} hd_resource_kind;
typedef struct hd_resource {
    int kind;
    union {
        hd_cu_array *array;
        struct {
            void *pointer;
            hd_channels channels;
            size_t bytes;
        } linear;
        struct {
            void *pointer;
            hd_channels channels;
            size_t width, height, pitch;
        } pitched;
        int reserved[32];
    } of;
    uint32_t flags; /* since CUDA 12.9 */
} hd_resource;

typedef struct hd_sampling {
    int address[3]; /* wrap, clamp, mirror, border */
    int filter;     /* point, linear */
    int read;       /* element, normalized float */
    int srgb;
    float border[4];
    int normalized;
    uint32_t anisotropy;
    int mipmap_filter;
    float mipmap_bias, mipmap_least, mipmap_most;
    int no_trilinear, seamless;
} hd_sampling;

typedef struct hd_pointer_attributes {
    int kind, device;
    void *on_device, *on_host;
    long reserved[8]; /* since CUDA 13 */
} hd_pointer_attributes;

typedef struct hd_function_attributes {
    size_t shared_bytes, constant_bytes, local_bytes;
    int threads, registers, ptx_version, binary_version, cache_mode, dynamic_shared_bytes, carveout;
    int cluster_must_be_set, cluster[3], cluster_policy, non_portable_cluster; /* since CUDA 12 */
    int reserved[16];
} hd_function_attributes;

enum { HD_LAUNCH_COOPERATIVE = 2, HD_LAUNCH_CLUSTER = 4 };
typedef struct hd_launch_attribute {
    int id;
    char pad[4];
    union {
        char bytes[64];
        int number;
        hd_dim3 dimensions;
    } value;
} hd_launch_attribute;
typedef struct hd_launch_config {
    hd_dim3 grid, block;
    size_t shared_bytes;
    void *stream;
    hd_launch_attribute *attributes;
    uint32_t attribute_count;
} hd_launch_config;

typedef struct hd_kernel_node {
    void *function;
    hd_dim3 grid, block;
    uint32_t shared_bytes;
    void **arguments, **extra;
} hd_kernel_node;
typedef struct hd_memset_node {
    void *to;
    size_t pitch;
    uint32_t value, element_bytes;
    size_t width, height;
} hd_memset_node;
typedef struct hd_host_node {
    void (*function)(void *);
    void *data;
} hd_host_node;
typedef struct hd_memory_location {
    int kind, id;
} hd_memory_location;

/* The container of a program's device code, and what __cudaRegisterFatBinary gets. */
enum { HD_FATBIN_WRAPPER = 0x466243b1 };
typedef struct hd_fatbin_wrapper {
    uint32_t magic, version;
    const void *data, *linked; /* linked: of a device link, the containers of all objects, up to NULL */
} hd_fatbin_wrapper;

#endif
