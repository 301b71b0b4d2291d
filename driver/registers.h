/* How many registers ptxas may assign to a kernel: the estimate of `heddle report`, alone. */
#ifndef HD_DRIVER_REGISTERS_H
#define HD_DRIVER_REGISTERS_H

#include "ir/ir.h"
#include "target/gpu.h"

/* Of a kernel of a valid module, which stays as it is; 0: unknown. */
uint32_t hd_estimated_registers(const hd_module *module, const char *kernel, const hd_gpu_limits *limits);

#endif
