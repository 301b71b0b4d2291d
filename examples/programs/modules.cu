// Two modules of the driver API whose kernels and variables have the same names; launches of both alternate.
#include <cstdio>
#include <cstring>
#include <cuda.h>
#include "expect.h"

// step: p[tid] = p[tid] OP factor
static const char pattern[] = ".version 7.0\n.target sm_70\n.address_size 64\n"
                              ".visible .global .align 4 .u32 factor = %d;\n"
                              ".visible .entry step(.param .u64 p)\n{\n"
                              ".reg .b32 r<5>;\n.reg .b64 d<4>;\n"
                              "ld.param.u64 d1, [p];\nmov.u32 r1, %%tid.x;\nmul.wide.u32 d2, r1, 4;\nadd.u64 d3, d1, d2;\n"
                              "ld.global.u32 r2, [d3];\nld.global.u32 r3, [factor];\n%s.u32 r4, r2, r3;\n"
                              "st.global.u32 [d3], r4;\nret;\n}\n";

struct Loaded {
    CUmodule module;
    CUfunction step;
    CUdeviceptr factor;
};

static Loaded load(const char *operation, int factor)
{
    char text[1024];
    size_t bytes;
    Loaded l;
    snprintf(text, sizeof text, pattern, factor, operation);
    EXPECT(cuModuleLoadData(&l.module, text) == CUDA_SUCCESS);
    EXPECT(cuModuleGetFunction(&l.step, l.module, "step") == CUDA_SUCCESS);
    EXPECT(cuModuleGetGlobal(&l.factor, &bytes, l.module, "factor") == CUDA_SUCCESS && bytes == 4);
    return l;
}

static void step(const Loaded &l, CUdeviceptr memory)
{
    void *arguments[] = {&memory};
    EXPECT(cuLaunchKernel(l.step, 1, 1, 1, 64, 1, 1, 0, nullptr, arguments, nullptr) == CUDA_SUCCESS);
}

int main()
{
    unsigned host[64], seven = 7;
    CUdevice device;
    CUcontext context;
    CUdeviceptr memory;
    EXPECT(cuInit(0) == CUDA_SUCCESS && cuDeviceGet(&device, 0) == CUDA_SUCCESS);
    EXPECT(cuDevicePrimaryCtxRetain(&context, device) == CUDA_SUCCESS && cuCtxSetCurrent(context) == CUDA_SUCCESS);
    for (unsigned i = 0; i < 64; i++)
        host[i] = i;
    EXPECT(cuMemAlloc(&memory, sizeof host) == CUDA_SUCCESS && cuMemcpyHtoD(memory, host, sizeof host) == CUDA_SUCCESS);
    Loaded times = load("mul.lo", 3);
    step(times, memory);
    Loaded plus = load("add", 100);
    step(plus, memory);
    EXPECT(cuMemcpyHtoD(times.factor, &seven, sizeof seven) == CUDA_SUCCESS);
    step(times, memory);
    step(plus, memory);
    EXPECT(cuMemcpyDtoH(host, memory, sizeof host) == CUDA_SUCCESS);
    for (unsigned i = 0; i < 64; i++)
        EXPECT(host[i] == (3 * i + 100) * 7 + 100);
    EXPECT(cuModuleUnload(plus.module) == CUDA_SUCCESS && cuModuleUnload(times.module) == CUDA_SUCCESS);
    EXPECT(cuMemFree(memory) == CUDA_SUCCESS);
    if (!wrong)
        printf("modules: right\n");
    return wrong != 0;
}
