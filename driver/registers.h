/* How many registers ptxas may assign to a kernel: the estimate of `heddle report`, alone. */
#ifndef HD_DRIVER_REGISTERS_H
#define HD_DRIVER_REGISTERS_H

#include "ir/ir.h"
#include "target/gpu.h"

/* Estimates the registers that ptxas gives a thread of a kernel of a valid module; 0: unknown. Changes nothing. */
uint32_t hd_estimated_registers(const hd_module *module, const char *kernel, const hd_gpu_limits *limits);

#endif
