// Opens the driver itself: what cuInit and cuDeviceGetCount return, and how many devices there are.
#include <cstdio>
#include <dlfcn.h>

int main()
{
    void *driver = dlopen("libcuda.so.1", RTLD_NOW);
    auto init = driver ? (int (*)(unsigned))dlsym(driver, "cuInit") : nullptr;
    auto count = driver ? (int (*)(int *))dlsym(driver, "cuDeviceGetCount") : nullptr;
    if (!init || !count)
        return 1;
    int devices = 0, started = init(0), counted = count(&devices);
    printf("%d %d %d\n", started, counted, devices);
    return 0;
}
