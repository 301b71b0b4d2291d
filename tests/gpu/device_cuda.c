/* The driver's functions, from libcuda.so.1. */
#include "device.h"
#include <dlfcn.h>
#include <string.h>

bool gpu_open(gpu_device *device, const char **why)
{
    void *library = dlopen("libcuda.so.1", RTLD_NOW);
    int count = 0;
    *why = "libcuda.so.1 is not installed";
    if (!library)
        return false;
    *why = "libcuda.so.1 lacks a function";
#define FIND(symbol, name, parameters)           \
    {                                            \
        void *found = dlsym(library, symbol);    \
        if (!found)                              \
            return false;                        \
        memcpy(&device->name, &found, sizeof found); \
    }
    GPU_FUNCTIONS(FIND)
#undef FIND
    *why = "the driver finds no GPU";
    return device->init(0) == GPU_OK && device->device_count(&count) == GPU_OK && count > 0;
}
