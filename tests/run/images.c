/* images HOW PTX KERNEL BLOCKS [END]: loads PTX by its path (HOW: path) or from memory (HOW: memory), launches a kernel
 * of it, and prints what the launch and the wait return. The kernel gets a buffer of 64 bytes. END: what the program
 * does instead of returning 0: `killed`, `_exit`, or `waits`, when it writes a line and sleeps. Needs no toolkit. */
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

int cuInit(unsigned flags);
int cuDevicePrimaryCtxRetain(void **context, int device);
int cuCtxSetCurrent(void *context);
int cuCtxSynchronize(void);
int cuModuleLoad(void **module, const char *path);
int cuModuleLoadData(void **module, const void *image);
int cuModuleGetFunction(void **function, void *module, const char *name);
int cuMemAlloc_v2(unsigned long long *address, size_t bytes);
int cuLaunchKernel(void *function, unsigned grid_x, unsigned grid_y, unsigned grid_z, unsigned block_x,
                   unsigned block_y, unsigned block_z, unsigned shared_bytes, void *stream, void **parameters,
                   void **extra);

static char text[1 << 16];

static const char *read_text(const char *path)
{
    FILE *file = fopen(path, "r");
    if (!file || !fread(text, 1, sizeof text - 1, file))
        exit(9);
    fclose(file);
    return text;
}

int main(int count, char **arguments)
{
    enum { HOW = 1, PTX, KERNEL, BLOCKS, END };
    void *context, *module, *function;
    unsigned long long buffer;
    const char *end = count > END ? arguments[END] : "";
    if (count <= BLOCKS || cuInit(0) || cuDevicePrimaryCtxRetain(&context, 0) || cuCtxSetCurrent(context))
        return 9;
    int error = *arguments[HOW] == 'p' ? cuModuleLoad(&module, arguments[PTX])
                                       : cuModuleLoadData(&module, read_text(arguments[PTX]));
    if (error || cuModuleGetFunction(&function, module, arguments[KERNEL]) || cuMemAlloc_v2(&buffer, 64)) {
        printf("load %d\n", error);
        return 0;
    }
    error =
        cuLaunchKernel(function, (unsigned)atoi(arguments[BLOCKS]), 1, 1, 32, 1, 1, 0, NULL, (void *[]){&buffer}, NULL);
    printf("launch %d, wait %d\n", error, cuCtxSynchronize());
    fflush(stdout);
    if (strcmp(end, "killed") == 0)
        raise(SIGKILL);
    if (strcmp(end, "_exit") == 0)
        _exit(0);
    if (strcmp(end, "waits") == 0)
        sleep(60);
    return 0;
}
