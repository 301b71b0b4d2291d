"""A library that, loaded first, fails the FAIL_AT-th allocation that an object whose name contains FAIL_IN asks for (0: none); how
many there were is written to FAIL_COUNT."""
import os
import subprocess

SOURCE = r"""
#define _GNU_SOURCE
#include <dlfcn.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
extern void *__libc_malloc(size_t), *__libc_calloc(size_t, size_t), *__libc_realloc(void *, size_t);
static unsigned long count, at;
static const char *in;
static int inside;
__attribute__((constructor)) static void begin(void)
{
    at = strtoul(getenv("FAIL_AT"), NULL, 10);
    in = getenv("FAIL_IN");
}
__attribute__((destructor)) static void end(void)
{
    in = NULL;
    FILE *to = fopen(getenv("FAIL_COUNT"), "w");
    fprintf(to, "%lu", count);
    fclose(to);
}
static int fails(void *from)
{
    Dl_info info;
    if (!in || __atomic_exchange_n(&inside, 1, __ATOMIC_SEQ_CST))
        return 0;
    int result = dladdr(from, &info) && strstr(info.dli_fname, in) && ++count == at;
    __atomic_store_n(&inside, 0, __ATOMIC_SEQ_CST);
    return result;
}
void *malloc(size_t n) { return fails(__builtin_return_address(0)) ? NULL : __libc_malloc(n); }
void *calloc(size_t n, size_t m) { return fails(__builtin_return_address(0)) ? NULL : __libc_calloc(n, m); }
void *realloc(void *p, size_t n) { return fails(__builtin_return_address(0)) ? NULL : __libc_realloc(p, n); }
"""


def make(build):
    """Its path, in the build folder."""
    path = os.path.join(build, "tests", "fail-allocations.so")
    part = "%s.%d" % (path, os.getpid())
    os.makedirs(os.path.dirname(path), exist_ok=True)
    compiler = os.environ.get("CC", "gcc").split()
    subprocess.run(compiler + ["-shared", "-fPIC", "-O1", "-w", "-o", part, "-x", "c", "-", "-ldl"], input=SOURCE, text=True, check=True, timeout=300)
    os.replace(part, path)
    return path
