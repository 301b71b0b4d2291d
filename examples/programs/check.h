// What the programs of this folder share: CHECK of every call, and a verdict that is the exit status.
#pragma once
#include <cstdio>
#include <cstdlib>
#include <cuda_runtime.h>
#include "expect.h"

#define CHECK(call)                                                                                                \
    do {                                                                                                           \
        cudaError_t e = (call);                                                                                    \
        if (e != cudaSuccess) {                                                                                    \
            printf("%s:%d: %s: %s\n", __FILE__, __LINE__, cudaGetErrorName(e), cudaGetErrorString(e));             \
            exit(1);                                                                                               \
        }                                                                                                          \
    } while (0)

static int verdict(const char *name)
{
    printf("%s: %s\n", name, wrong ? "WRONG" : "right");
    return wrong != 0;
}
