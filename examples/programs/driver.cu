// The driver API: a module of PTX as text, its kernel and variable, memory, a stream and events. Linked with libcuda.
#include <cstdio>
#include <cstring>
#include <cuda.h>
#include "expect.h"

static const char text[] = ".version 7.0\n.target sm_70\n.address_size 64\n"
                           ".visible .global .align 4 .u32 factor = 3;\n"
                           ".visible .entry scale(.param .u64 p, .param .u32 n)\n{\n"
                           ".reg .pred q;\n.reg .b32 r<6>;\n.reg .b64 d<4>;\n"
                           "ld.param.u64 d1, [p];\nld.param.u32 r1, [n];\nmov.u32 r2, %tid.x;\n"
                           "setp.ge.u32 q, r2, r1;\n@q ret;\nmul.wide.u32 d2, r2, 4;\nadd.u64 d3, d1, d2;\n"
                           "ld.global.u32 r3, [d3];\nld.global.u32 r4, [factor];\nmul.lo.u32 r5, r3, r4;\n"
                           "st.global.u32 [d3], r5;\nret;\n}\n";

int main()
{
    const unsigned n = 50;
    unsigned host[64], five = 5;
    CUdevice device;
    CUcontext context;
    CUmodule module, none;
    CUfunction scale, missing;
    CUdeviceptr memory, factor;
    CUstream stream;
    CUevent start, end;
    size_t bytes;
    float milliseconds = -1;
    const char *name;
    EXPECT(cuInit(0) == CUDA_SUCCESS);
    EXPECT(cuDeviceGet(&device, 0) == CUDA_SUCCESS);
    EXPECT(cuDevicePrimaryCtxRetain(&context, device) == CUDA_SUCCESS && cuCtxSetCurrent(context) == CUDA_SUCCESS);
    EXPECT(cuModuleLoadData(&module, text) == CUDA_SUCCESS);
    EXPECT(cuModuleLoadData(&none, "no ptx") == CUDA_ERROR_INVALID_IMAGE);
    EXPECT(cuModuleLoadData(&none, ".version 7.0\n.target sm_70\n.entry k( { ret; }\n") == CUDA_ERROR_INVALID_PTX);
    EXPECT(cuModuleGetFunction(&scale, module, "scale") == CUDA_SUCCESS);
    EXPECT(cuModuleGetFunction(&missing, module, "other") == CUDA_ERROR_NOT_FOUND);
    EXPECT(cuModuleGetGlobal(&factor, &bytes, module, "factor") == CUDA_SUCCESS && bytes == 4);
    EXPECT(cuMemAlloc(&memory, sizeof host) == CUDA_SUCCESS);
    for (unsigned i = 0; i < 64; i++)
        host[i] = i;
    EXPECT(cuMemcpyHtoD(memory, host, sizeof host) == CUDA_SUCCESS);
    EXPECT(cuStreamCreate(&stream, CU_STREAM_DEFAULT) == CUDA_SUCCESS);
    EXPECT(cuEventCreate(&start, 0) == CUDA_SUCCESS && cuEventCreate(&end, 0) == CUDA_SUCCESS);
    unsigned count = n;
    void *arguments[] = {&memory, &count};
    EXPECT(cuEventRecord(start, stream) == CUDA_SUCCESS);
    EXPECT(cuLaunchKernel(scale, 1, 1, 1, 64, 1, 1, 0, stream, arguments, nullptr) == CUDA_SUCCESS);
    EXPECT(cuMemcpyHtoD(factor, &five, sizeof five) == CUDA_SUCCESS);
    struct {
        CUdeviceptr p;
        unsigned n;
    } packed = {memory, n};
    size_t size = sizeof packed; // with the padding behind n: more than the parameters
    void *extra[] = {CU_LAUNCH_PARAM_BUFFER_POINTER, &packed, CU_LAUNCH_PARAM_BUFFER_SIZE, &size, CU_LAUNCH_PARAM_END};
    EXPECT(cuLaunchKernel(scale, 1, 1, 1, 64, 1, 1, 0, stream, nullptr, extra) == CUDA_ERROR_LAUNCH_OUT_OF_RESOURCES);
    size = sizeof memory + sizeof n;
    EXPECT(cuLaunchKernel(scale, 1, 1, 1, 64, 1, 1, 0, stream, nullptr, extra) == CUDA_SUCCESS);
    EXPECT(cuEventRecord(end, stream) == CUDA_SUCCESS && cuStreamSynchronize(stream) == CUDA_SUCCESS);
    EXPECT(cuEventElapsedTime(&milliseconds, start, end) == CUDA_SUCCESS && milliseconds >= 0);
    EXPECT(cuMemcpyDtoH(host, memory, sizeof host) == CUDA_SUCCESS);
    for (unsigned i = 0; i < 64; i++)
        EXPECT(host[i] == (i < n ? 15 * i : i));
    EXPECT(cuLaunchKernel(scale, 1, 1, 1, 0, 1, 1, 0, stream, arguments, nullptr) == CUDA_ERROR_INVALID_VALUE);
    EXPECT(cuGetErrorName(CUDA_ERROR_NOT_FOUND, &name) == CUDA_SUCCESS && strcmp(name, "CUDA_ERROR_NOT_FOUND") == 0);
    EXPECT(cuMemFree(memory) == CUDA_SUCCESS && cuModuleUnload(module) == CUDA_SUCCESS);
    printf("driver: %s\n", wrong ? "WRONG" : "right");
    return wrong != 0;
}
