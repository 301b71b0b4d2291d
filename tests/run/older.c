/* A program of CUDA 11 or 12 (OLDER), without their toolkits: a fat binary made here, registered and launched as nvcc's
 * code does, and the functions whose signature or layout differed, by the symbol versions of that library. */
#include <stdint.h>
#include <stdio.h>
#include <string.h>

#if OLDER == 11
#define IMPORT(name) __asm__(".symver " #name ", " #name "@libcudart.so.11.0")
#else
#define IMPORT(name) __asm__(".symver " #name ", " #name "@libcudart.so.12")
#endif

typedef struct extent3 {
    unsigned x, y, z;
} extent3;

void **__cudaRegisterFatBinary(const void *wrapper);
void __cudaRegisterFatBinaryEnd(void **handle);
void __cudaUnregisterFatBinary(void **handle);
void __cudaRegisterFunction(void **handle, const void *host, char *device, const char *name, int limit, void *thread,
                            void *block, void *block_shape, void *grid_shape, int *warp_size);
int cudaLaunchKernel(const void *host, extent3 grid, extent3 block, void **arguments, size_t shared, void *stream);
int cudaMalloc(void **pointer, size_t bytes);
int cudaMallocManaged(void **pointer, size_t bytes, unsigned flags);
int cudaMemcpy(void *to, const void *from, size_t bytes, int kind);
int cudaFree(void *pointer);
int cudaMemAdvise(const void *pointer, size_t bytes, int advice, int device);
int cudaMemPrefetchAsync(const void *pointer, size_t bytes, int device, void *stream);
int cudaGetDeviceProperties(void *properties, int device);
int cudaThreadSynchronize(void);
int cudaStreamCreate(void **stream);
int cudaStreamBeginCapture(void *stream, int mode);
int cudaStreamGetCaptureInfo(void *stream, int *status, unsigned long long *id);
int cudaStreamEndCapture(void *stream, void **graph);
int cudaGraphLaunch(void *executable, void *stream);
int cudaStreamSynchronize(void *stream);
IMPORT(__cudaRegisterFatBinary);
IMPORT(__cudaRegisterFatBinaryEnd);
IMPORT(__cudaUnregisterFatBinary);
IMPORT(__cudaRegisterFunction);
IMPORT(cudaLaunchKernel);
IMPORT(cudaMalloc);
IMPORT(cudaMallocManaged);
IMPORT(cudaMemcpy);
IMPORT(cudaFree);
IMPORT(cudaMemAdvise);
IMPORT(cudaMemPrefetchAsync);
IMPORT(cudaGetDeviceProperties);
IMPORT(cudaThreadSynchronize);
IMPORT(cudaStreamCreate);
IMPORT(cudaStreamBeginCapture);
IMPORT(cudaStreamGetCaptureInfo);
IMPORT(cudaStreamEndCapture);
IMPORT(cudaGraphLaunch);
IMPORT(cudaStreamSynchronize);
IMPORT(cudaGraphInstantiate);
IMPORT(cudaGraphExecUpdate);
#if OLDER == 11
int cudaGraphInstantiate(void **executable, void *graph, void **node, char *log, size_t log_bytes);
int cudaGraphExecUpdate(void *executable, void *graph, void **node, int *result);
#else
typedef struct update_result {
    int result;
    void *node, *other;
} update_result;
int cudaGraphInstantiate(void **executable, void *graph, unsigned long long flags);
int cudaGraphExecUpdate(void *executable, void *graph, update_result *result);
int cudaGetDeviceProperties_v2(void *properties, int device);
int cudaStreamGetCaptureInfo_v3(void *stream, int *status, unsigned long long *id, void **graph, void ***dependencies,
                                void ***edges, size_t *count);
IMPORT(cudaGetDeviceProperties_v2);
IMPORT(cudaStreamGetCaptureInfo_v3);
#endif

static const char ptx[] = ".version 6.5\n.target sm_52\n.address_size 64\n.visible .entry twice(.param .u64 p)\n{\n"
                          ".reg .b32 %r<4>;\n.reg .b64 %rd<4>;\nld.param.u64 %rd1, [p];\nmov.u32 %r1, %tid.x;\n"
                          "mul.wide.u32 %rd2, %r1, 4;\nadd.s64 %rd3, %rd1, %rd2;\nld.global.u32 %r2, [%rd3];\n"
                          "add.u32 %r3, %r2, %r2;\nst.global.u32 [%rd3], %r3;\nret;\n}\n";
/* The size of cudaDeviceProp: of CUDA 12 as its header has it, of CUDA 11 without what came with 12. */
enum { PROPERTIES = OLDER == 11 ? 728 : 1032 };

static struct container {
    uint32_t magic;
    uint16_t version, header_bytes;
    uint64_t bytes;
    uint16_t kind, entry_version;
    uint32_t entry_header_bytes;
    uint64_t payload_bytes;
    uint32_t compressed_bytes, options_at;
    uint16_t minor, major;
    uint32_t architecture, name_at, name_bytes;
    uint64_t flags, zero, plain_bytes;
    char text[(sizeof ptx + 7) / 8 * 8];
} container = {
    0xba55ed50, 1, 16, 64 + sizeof container.text, 1, 0x101, 64, sizeof container.text, 0, 0, 5, 6, 52, 0, 0, 0x11,
    0,          0, ""};
static const struct wrapper {
    uint32_t magic, version;
    const void *data;
    void *file;
} wrapper = {0x466243b1, 1, &container, NULL};

static int wrong;
static char twice; /* the kernel, by its address on the host */

static void expect(int good, int line)
{
    if (!good)
        printf("older.c:%d: not so\n", line), wrong++;
}
#define EXPECT(condition) expect(condition, __LINE__)

static void launch(void *pointer, void *stream)
{
    void *arguments[] = {&pointer};
    EXPECT(cudaLaunchKernel(&twice, (extent3){1, 1, 1}, (extent3){32, 1, 1}, arguments, 0, stream) == 0);
}

/* Bytes after the layout of that version stay as they are. */
static void properties(int (*get)(void *, int), size_t bytes)
{
    unsigned char p[4096];
    memset(p, 0xa5, sizeof p);
    EXPECT(get(p, 0) == 0 && strlen((const char *)p) > 3);
    EXPECT(p[bytes - 1] != 0xa5 && p[bytes] == 0xa5);
}

int main(void)
{
    uint32_t host[32];
    void *memory, *managed, *stream, *graph, *executable;
    int status = -1;
    unsigned long long id = 0;
    memcpy(container.text, ptx, sizeof ptx);
    void **handle = __cudaRegisterFatBinary(&wrapper);
    __cudaRegisterFunction(handle, &twice, "twice", "twice", -1, NULL, NULL, NULL, NULL, NULL);
    __cudaRegisterFatBinaryEnd(handle);
    for (uint32_t i = 0; i < 32; i++)
        host[i] = i;
    EXPECT(cudaMalloc(&memory, sizeof host) == 0 && cudaMemcpy(memory, host, sizeof host, 1) == 0);
    launch(memory, NULL);
    EXPECT(cudaThreadSynchronize() == 0);
    EXPECT(cudaMallocManaged(&managed, 4096, 1) == 0);
    EXPECT(cudaMemAdvise(managed, 4096, 1, 0) == 0 && cudaMemPrefetchAsync(managed, 4096, 0, NULL) == 0);
    EXPECT(cudaStreamCreate(&stream) == 0 && cudaStreamBeginCapture(stream, 0) == 0);
    launch(memory, stream);
    EXPECT(cudaStreamGetCaptureInfo(stream, &status, &id) == 0 && status == 1 && id);
#if OLDER == 12
    unsigned long long again = 0;
    size_t count = 0;
    void **nodes = NULL;
    EXPECT(cudaStreamGetCaptureInfo_v3(stream, &status, &again, NULL, &nodes, NULL, &count) == 0 && again == id);
    EXPECT(count == 1 && nodes && nodes[0]);
#endif
    EXPECT(cudaStreamEndCapture(stream, &graph) == 0);
#if OLDER == 11
    void *node;
    char log[64];
    EXPECT(cudaGraphInstantiate(&executable, graph, &node, log, sizeof log) == 0);
    EXPECT(cudaGraphExecUpdate(executable, graph, &node, &status) == 0 && status == 0);
    properties(cudaGetDeviceProperties, PROPERTIES);
#else
    update_result updated = {-1, NULL, NULL};
    EXPECT(cudaGraphInstantiate(&executable, graph, 0) == 0);
    EXPECT(cudaGraphExecUpdate(executable, graph, &updated) == 0 && updated.result == 0);
    properties(cudaGetDeviceProperties_v2, PROPERTIES);
#endif
    EXPECT(cudaGraphLaunch(executable, stream) == 0 && cudaGraphLaunch(executable, stream) == 0);
    EXPECT(cudaStreamSynchronize(stream) == 0);
    EXPECT(cudaMemcpy(host, memory, sizeof host, 2) == 0);
    for (uint32_t i = 0; i < 32; i++)
        EXPECT(host[i] == 8 * i);
    EXPECT(cudaFree(memory) == 0);
    __cudaUnregisterFatBinary(handle);
    puts(wrong ? "older: WRONG" : "older: right");
    return wrong != 0;
}
