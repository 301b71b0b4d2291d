/* Allocation, copies and fills, and module variables by their host addresses. */
#include "cudart/api.h"
#include "cudart/operation.h"

enum { PITCH_ALIGN = 512 };

static void *pointer_of(hd_runtime *r, uint32_t index)
{
    return (void *)(uintptr_t)r->memory.allocations.items[index].base;
}

static int allocate(hd_runtime *r, hd_cu_block_kind kind, const char *name, void **pointer, size_t bytes,
                    unsigned flags)
{
    if (!pointer)
        return HD_CUDA_INVALID_VALUE;
    *pointer = NULL;
    if (!bytes)
        return kind == HD_BLOCK_MANAGED ? HD_CUDA_INVALID_VALUE : HD_CUDA_SUCCESS;
    uint32_t index = hd_cu_block_new(r, kind, name, bytes, flags);
    if (index == HD_NONE)
        return HD_CUDA_MEMORY_ALLOCATION;
    *pointer = pointer_of(r, index);
    return HD_CUDA_SUCCESS;
}

static int allocate_call(hd_cu_block_kind kind, const char *name, void **pointer, size_t bytes, unsigned flags)
{
    hd_runtime *r = hd_runtime_enter();
    int error = r->sticky ? r->sticky : hd_cu_streams_forbid(r, false);
    return hd_runtime_leave(r, error ? error : allocate(r, kind, name, pointer, bytes, flags));
}

int hd_cudaMalloc(void **pointer, size_t bytes) { return allocate_call(HD_BLOCK_DEVICE, "device", pointer, bytes, 0); }
int hd_cudaMallocHost(void **pointer, size_t bytes) { return allocate_call(HD_BLOCK_HOST, "host", pointer, bytes, 0); }
int hd_cudaHostAlloc(void **pointer, size_t bytes, unsigned flags)
{
    return allocate_call(HD_BLOCK_HOST, "host", pointer, bytes, flags);
}
int hd_cudaMallocManaged(void **pointer, size_t bytes, unsigned flags)
{
    return allocate_call(HD_BLOCK_MANAGED, "managed", pointer, bytes, flags);
}
int hd_cudaMallocFromPoolAsync(void **pointer, size_t bytes, void *pool, void *stream)
{
    (void)pool;
    return hd_cudaMallocAsync(pointer, bytes, stream);
}

static size_t pitch_of(size_t width) { return (width + PITCH_ALIGN - 1) / PITCH_ALIGN * PITCH_ALIGN; }

int hd_cudaMallocPitch(void **pointer, size_t *pitch, size_t width, size_t height)
{
    *pitch = pitch_of(width);
    return hd_cudaMalloc(pointer, *pitch * height);
}

int hd_cudaMalloc3D(hd_pitched *pointer, hd_extent e)
{
    *pointer = (hd_pitched){.pitch = pitch_of(e.width), .width = e.width, .height = e.height};
    return hd_cudaMalloc(&pointer->pointer, pointer->pitch * e.height * e.depth);
}

static int free_block(hd_runtime *r, void *pointer, bool host)
{
    uint32_t index = hd_cu_block_at(r, pointer);
    if (!pointer)
        return HD_CUDA_SUCCESS;
    uint8_t kind = index == HD_NONE ? HD_BLOCK_NONE : hd_cu_block_of(r, index)->kind;
    bool fits = host ? kind == HD_BLOCK_HOST : kind == HD_BLOCK_DEVICE || kind == HD_BLOCK_MANAGED;
    if (fits)
        hd_cu_block_free(r, index);
    return fits ? HD_CUDA_SUCCESS : HD_CUDA_INVALID_VALUE;
}

int hd_cudaFree(void *pointer)
{
    hd_runtime *r = hd_runtime_enter();
    return hd_runtime_leave(r, r->sticky ? r->sticky : free_block(r, pointer, false));
}

int hd_cudaFreeHost(void *pointer)
{
    hd_runtime *r = hd_runtime_enter();
    return hd_runtime_leave(r, free_block(r, pointer, true));
}

/* ---- memory of streams ------------------------------------------------------------------------------------------- */

/* In a capture the memory is there at once; it remains until it is freed outside of graphs. */
int hd_cudaMallocAsync(void **pointer, size_t bytes, void *stream)
{
    hd_runtime *r = hd_runtime_enter();
    int error = hd_cu_stream_of(r, stream) ? allocate(r, HD_BLOCK_DEVICE, "device", pointer, bytes, 0)
                                           : HD_CUDA_INVALID_RESOURCE_HANDLE;
    return hd_runtime_leave(r, error);
}

int hd_cudaFreeAsync(void *pointer, void *stream)
{
    hd_runtime *r = hd_runtime_enter();
    const hd_cu_stream *s = hd_cu_stream_of(r, stream);
    if (!s)
        return hd_runtime_leave(r, HD_CUDA_INVALID_RESOURCE_HANDLE);
    return hd_runtime_leave(r, s->graph ? HD_CUDA_SUCCESS : free_block(r, pointer, false));
}

enum { REUSE_LAST = 3, RELEASE_THRESHOLD = 4 };
typedef struct pool {
    uint64_t values[9]; /* by attribute */
} pool;
static pool *pool_of(hd_runtime *r, void *handle)
{
    if (!r->pool)
        r->pool = hd_calloc(1, sizeof(pool));
    return handle ? handle : r->pool;
}

int hd_cudaMemPoolCreate(void **handle, const void *properties)
{
    hd_runtime *r = hd_runtime_enter();
    (void)properties;
    *handle = hd_calloc(1, sizeof(pool));
    return hd_runtime_leave(r, HD_CUDA_SUCCESS);
}

int hd_cudaMemPoolDestroy(void *handle)
{
    hd_runtime *r = hd_runtime_enter();
    if (handle != r->pool)
        free(handle);
    return hd_runtime_leave(r, HD_CUDA_SUCCESS);
}

int hd_cudaMemPoolTrimTo(void *handle, size_t least)
{
    (void)handle, (void)least;
    return hd_runtime_leave(hd_runtime_enter(), HD_CUDA_SUCCESS);
}

static size_t attribute_bytes(int attribute) { return attribute <= REUSE_LAST ? sizeof(int) : sizeof(uint64_t); }

int hd_cudaMemPoolSetAttribute(void *handle, int attribute, void *value)
{
    hd_runtime *r = hd_runtime_enter();
    if (attribute < 1 || attribute > 8)
        return hd_runtime_leave(r, HD_CUDA_INVALID_VALUE);
    memcpy(&pool_of(r, handle)->values[attribute], value, attribute_bytes(attribute));
    return hd_runtime_leave(r, HD_CUDA_SUCCESS);
}

int hd_cudaMemPoolGetAttribute(void *handle, int attribute, void *value)
{
    hd_runtime *r = hd_runtime_enter();
    if (attribute < 1 || attribute > 8)
        return hd_runtime_leave(r, HD_CUDA_INVALID_VALUE);
    pool *p = pool_of(r, handle);
    if (attribute > RELEASE_THRESHOLD)
        p->values[attribute] = r->device_bytes;
    memcpy(value, &p->values[attribute], attribute_bytes(attribute));
    return hd_runtime_leave(r, HD_CUDA_SUCCESS);
}

int hd_cudaMemPoolSetAccess(void *handle, const void *access, size_t count)
{
    (void)handle, (void)access, (void)count;
    return hd_runtime_leave(hd_runtime_enter(), HD_CUDA_SUCCESS);
}

int hd_cudaDeviceGetDefaultMemPool(void **handle, int device)
{
    hd_runtime *r = hd_runtime_enter();
    *handle = pool_of(r, NULL);
    return hd_runtime_leave(r, device ? HD_CUDA_INVALID_DEVICE : HD_CUDA_SUCCESS);
}
int hd_cudaDeviceGetMemPool(void **handle, int device) { return hd_cudaDeviceGetDefaultMemPool(handle, device); }
int hd_cudaDeviceSetMemPool(int device, void *handle)
{
    (void)handle;
    return hd_runtime_leave(hd_runtime_enter(), device ? HD_CUDA_INVALID_DEVICE : HD_CUDA_SUCCESS);
}

/* ---- host memory ------------------------------------------------------------------------------------------------- */

int hd_cudaHostRegister(void *pointer, size_t bytes, unsigned flags)
{
    hd_runtime *r = hd_runtime_enter();
    if (!pointer || !bytes)
        return hd_runtime_leave(r, HD_CUDA_INVALID_VALUE);
    uint32_t index = hd_cu_block_register(r, pointer, bytes, flags);
    return hd_runtime_leave(r, index == HD_NONE ? HD_CUDA_HOST_MEMORY_ALREADY_REGISTERED : HD_CUDA_SUCCESS);
}

int hd_cudaHostUnregister(void *pointer)
{
    hd_runtime *r = hd_runtime_enter();
    uint32_t index = hd_cu_block_at(r, pointer);
    if (index == HD_NONE || hd_cu_block_of(r, index)->kind != HD_BLOCK_REGISTERED)
        return hd_runtime_leave(r, HD_CUDA_HOST_MEMORY_NOT_REGISTERED);
    hd_cu_block_free(r, index);
    return hd_runtime_leave(r, HD_CUDA_SUCCESS);
}

static bool is_host_block(hd_runtime *r, const hd_allocation *a)
{
    uint8_t kind = a ? hd_cu_block_of(r, a->index)->kind : HD_BLOCK_NONE;
    return kind == HD_BLOCK_HOST || kind == HD_BLOCK_REGISTERED;
}

int hd_cudaHostGetDevicePointer(void **device, void *host, unsigned flags)
{
    hd_runtime *r = hd_runtime_enter();
    bool good = device && !flags && is_host_block(r, hd_cu_block_find(r, host, 1));
    if (good)
        *device = host;
    return hd_runtime_leave(r, good ? HD_CUDA_SUCCESS : HD_CUDA_INVALID_VALUE);
}

int hd_cudaHostGetFlags(unsigned *flags, void *host)
{
    hd_runtime *r = hd_runtime_enter();
    const hd_allocation *a = hd_cu_block_find(r, host, 1);
    bool good = flags && is_host_block(r, a);
    if (good)
        *flags = hd_cu_block_of(r, a->index)->flags;
    return hd_runtime_leave(r, good ? HD_CUDA_SUCCESS : HD_CUDA_INVALID_VALUE);
}

/* ---- what programs ask about memory ------------------------------------------------------------------------------ */

int hd_cudaMemGetInfo(size_t *free_bytes, size_t *total)
{
    hd_runtime *r = hd_runtime_enter();
    *total = (size_t)HD_DEVICE_BYTES;
    *free_bytes = (size_t)(HD_DEVICE_BYTES - r->device_bytes);
    return hd_runtime_leave(r, HD_CUDA_SUCCESS);
}

int hd_cudaPointerGetAttributes(hd_pointer_attributes *attributes, const void *pointer)
{
    hd_runtime *r = hd_runtime_enter();
    const hd_allocation *a = hd_cu_block_find(r, pointer, 1);
    uint8_t kind = a ? hd_cu_block_of(r, a->index)->kind : HD_BLOCK_NONE;
    void *same = (void *)(uintptr_t)pointer;
    enum { BYTES_11 = offsetof(hd_pointer_attributes, reserved) };
    hd_pointer_attributes is = {.kind = HD_POINTER_UNREGISTERED, .device = -2, .on_host = same};
    if (kind == HD_BLOCK_HOST || kind == HD_BLOCK_REGISTERED)
        is = (hd_pointer_attributes){HD_POINTER_HOST, 0, same, same, {0}};
    else if (kind == HD_BLOCK_MANAGED)
        is = (hd_pointer_attributes){HD_POINTER_MANAGED, 0, same, same, {0}};
    else if (a)
        is = (hd_pointer_attributes){HD_POINTER_DEVICE, 0, same, NULL, {0}};
    if (attributes)
        memcpy(attributes, &is, BYTES_11);
    return hd_runtime_leave(r, attributes ? HD_CUDA_SUCCESS : HD_CUDA_INVALID_VALUE);
}

static int hint(const void *pointer, size_t bytes)
{
    hd_runtime *r = hd_runtime_enter();
    const hd_allocation *a = hd_cu_block_find(r, pointer, bytes);
    bool good = a && hd_cu_block_of(r, a->index)->kind == HD_BLOCK_MANAGED;
    return hd_runtime_leave(r, good ? HD_CUDA_SUCCESS : HD_CUDA_INVALID_VALUE);
}

int hd_cudaMemAdvise(const void *pointer, size_t bytes, int advice, hd_memory_location location)
{
    (void)advice, (void)location;
    return hint(pointer, bytes);
}
int hd_cudaMemAdvise_12(const void *pointer, size_t bytes, int advice, int device)
{
    (void)advice, (void)device;
    return hint(pointer, bytes);
}
int hd_cudaMemPrefetchAsync(const void *pointer, size_t bytes, hd_memory_location location, unsigned flags,
                            void *stream)
{
    (void)location, (void)flags, (void)stream;
    return hint(pointer, bytes);
}
int hd_cudaMemPrefetchAsync_12(const void *pointer, size_t bytes, int device, void *stream)
{
    (void)device, (void)stream;
    return hint(pointer, bytes);
}
int hd_cudaStreamAttachMemAsync(void *stream, void *pointer, size_t bytes, unsigned flags)
{
    (void)stream, (void)flags;
    return hint(pointer, bytes);
}

/* ---- copies ------------------------------------------------------------------------------------------------------ */

static int do_operation(const hd_cu_operation *o, void *stream)
{
    hd_runtime *r = hd_runtime_enter();
    return hd_runtime_leave(r, r->sticky ? r->sticky : hd_cu_stream_do(r, stream, o));
}

int hd_cudaMemcpyAsync(void *to, const void *from, size_t bytes, int kind, void *stream)
{
    hd_cu_operation o = {.kind = HD_OPERATION_COPY, .of.copy = {.to = to, .from = from, .bytes = bytes, .kind = kind}};
    return do_operation(&o, stream);
}
int hd_cudaMemcpy(void *to, const void *from, size_t bytes, int kind)
{
    return hd_cudaMemcpyAsync(to, from, bytes, kind, NULL);
}
int hd_cudaMemcpyPeerAsync(void *to, int to_device, const void *from, int from_device, size_t bytes, void *stream)
{
    if (to_device || from_device)
        return hd_runtime_leave(hd_runtime_enter(), HD_CUDA_INVALID_DEVICE);
    return hd_cudaMemcpyAsync(to, from, bytes, HD_COPY_DEVICE_TO_DEVICE, stream);
}
int hd_cudaMemcpyPeer(void *to, int to_device, const void *from, int from_device, size_t bytes)
{
    return hd_cudaMemcpyPeerAsync(to, to_device, from, from_device, bytes, NULL);
}

int hd_cudaMemcpy3DAsync(const hd_cu_copy3 *copy, void *stream)
{
    if (!copy)
        return hd_runtime_leave(hd_runtime_enter(), HD_CUDA_INVALID_VALUE);
    hd_cu_operation o = {.kind = HD_OPERATION_COPY, .of.copy = {.is_box = true, .box = *copy}};
    return do_operation(&o, stream);
}
int hd_cudaMemcpy3D(const hd_cu_copy3 *copy) { return hd_cudaMemcpy3DAsync(copy, NULL); }

static hd_pitched flat(const void *pointer, size_t pitch, size_t width, size_t height)
{
    return (hd_pitched){(void *)(uintptr_t)pointer, pitch, width, height};
}

int hd_cudaMemcpy2DAsync(void *to, size_t to_pitch, const void *from, size_t from_pitch, size_t width, size_t height,
                         int kind, void *stream)
{
    hd_cu_copy3 c = {.from = flat(from, from_pitch, width, height),
                     .to = flat(to, to_pitch, width, height),
                     .extent = {width, height, 1},
                     .kind = kind};
    if (width > to_pitch || width > from_pitch)
        return hd_runtime_leave(hd_runtime_enter(), HD_CUDA_INVALID_PITCH_VALUE);
    return hd_cudaMemcpy3DAsync(&c, stream);
}
int hd_cudaMemcpy2D(void *to, size_t to_pitch, const void *from, size_t from_pitch, size_t width, size_t height,
                    int kind)
{
    return hd_cudaMemcpy2DAsync(to, to_pitch, from, from_pitch, width, height, kind, NULL);
}

int hd_cudaMemsetAsync(void *to, int value, size_t bytes, void *stream)
{
    hd_cu_operation o = {.kind = HD_OPERATION_FILL, .of.fill = {to, bytes, (uint32_t)value, 1, bytes, 1}};
    return do_operation(&o, stream);
}
int hd_cudaMemset(void *to, int value, size_t bytes) { return hd_cudaMemsetAsync(to, value, bytes, NULL); }

int hd_cudaMemset2DAsync(void *to, size_t pitch, int value, size_t width, size_t height, void *stream)
{
    hd_cu_operation o = {.kind = HD_OPERATION_FILL, .of.fill = {to, pitch, (uint32_t)value, 1, width, height}};
    return do_operation(&o, stream);
}
int hd_cudaMemset2D(void *to, size_t pitch, int value, size_t width, size_t height)
{
    return hd_cudaMemset2DAsync(to, pitch, value, width, height, NULL);
}

int hd_cudaMemset3DAsync(hd_pitched to, int value, hd_extent e, void *stream)
{
    int error = HD_CUDA_SUCCESS;
    for (size_t z = 0; z < e.depth && !error; z++)
        error = hd_cudaMemset2DAsync((char *)to.pointer + z * to.pitch * to.height, to.pitch, value, e.width, e.height,
                                     stream);
    return error;
}
int hd_cudaMemset3D(hd_pitched to, int value, hd_extent e) { return hd_cudaMemset3DAsync(to, value, e, NULL); }

/* ---- module variables -------------------------------------------------------------------------------------------- */

/* Variables of the constant bank have addresses of its window, which programs see only here. */
static int symbol(const void *host, void **pointer, size_t *bytes)
{
    hd_runtime *r = hd_runtime_enter();
    hd_machine_variable v;
    int error = hd_variable_of(r, host, &v);
    if (!error) {
        *pointer = (unsigned char *)pointer_of(r, v.allocation) + v.offset;
        *bytes = (size_t)v.bytes;
    }
    return hd_runtime_leave(r, error);
}

int hd_cudaGetSymbolAddress(void **pointer, const void *host)
{
    size_t bytes;
    return symbol(host, pointer, &bytes);
}
int hd_cudaGetSymbolSize(size_t *bytes, const void *host)
{
    void *pointer;
    return symbol(host, &pointer, bytes);
}

int hd_cudaMemcpyToSymbolAsync(const void *host, const void *from, size_t bytes, size_t offset, int kind, void *stream)
{
    void *pointer;
    size_t size;
    int error = symbol(host, &pointer, &size);
    if (error)
        return error;
    if (kind == HD_COPY_DEVICE_TO_HOST || kind == HD_COPY_HOST_TO_HOST)
        return hd_runtime_leave(hd_runtime_enter(), HD_CUDA_INVALID_MEMCPY_DIRECTION);
    if (offset > size || bytes > size - offset)
        return hd_runtime_leave(hd_runtime_enter(), HD_CUDA_INVALID_VALUE);
    return hd_cudaMemcpyAsync((char *)pointer + offset, from, bytes, kind, stream);
}
int hd_cudaMemcpyToSymbol(const void *host, const void *from, size_t bytes, size_t offset, int kind)
{
    return hd_cudaMemcpyToSymbolAsync(host, from, bytes, offset, kind, NULL);
}

int hd_cudaMemcpyFromSymbolAsync(void *to, const void *host, size_t bytes, size_t offset, int kind, void *stream)
{
    void *pointer;
    size_t size;
    int error = symbol(host, &pointer, &size);
    if (error)
        return error;
    if (kind == HD_COPY_HOST_TO_DEVICE || kind == HD_COPY_HOST_TO_HOST)
        return hd_runtime_leave(hd_runtime_enter(), HD_CUDA_INVALID_MEMCPY_DIRECTION);
    if (offset > size || bytes > size - offset)
        return hd_runtime_leave(hd_runtime_enter(), HD_CUDA_INVALID_VALUE);
    return hd_cudaMemcpyAsync(to, (char *)pointer + offset, bytes, kind, stream);
}
int hd_cudaMemcpyFromSymbol(void *to, const void *host, size_t bytes, size_t offset, int kind)
{
    return hd_cudaMemcpyFromSymbolAsync(to, host, bytes, offset, kind, NULL);
}
