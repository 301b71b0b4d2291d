/* The CUDA driver API (libcuda.so.1), for programs that load PTX themselves: driver.def. It stands on the runtime's
 * functions, whose error codes are its own where their numbers are the same. */
#ifndef HD_CUDART_DRIVER_H
#define HD_CUDART_DRIVER_H

#include "cudart/runtime.h"

#define HD_DRIVER(name, implementation, kind, parameters) int implementation parameters;
#define HD_DRIVER_MISSING(name, kind) int hd_missing_##name(void);
#include "cudart/driver.def"
#undef HD_DRIVER
#undef HD_DRIVER_MISSING

/* The function of that name, or what stands for one that is not modelled; NULL: there is none. */
void *hd_driver_function(const char *name);
bool hd_device_attribute(const hd_gpu *gpu, int attribute, int *value);

#endif
