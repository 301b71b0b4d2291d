/* The CUDA driver API (libcuda.so.1), for programs that load PTX themselves. */
#ifndef HD_CUDART_DRIVER_H
#define HD_CUDART_DRIVER_H

#include "cudart/runtime.h"

/* The function of that name; NULL: there is none. */
void *hd_driver_function(const char *name);
bool hd_device_attribute(const hd_gpu *gpu, int attribute, int *value);

#endif
