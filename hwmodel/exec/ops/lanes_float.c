/* Floating-point operations on rows of 32 lanes, generated from exec.def; the compiler vectorizes the loops. The
 * rounding mode is the host's, set by the caller: nothing here is constant, so nothing is rounded at compile time. */
#ifdef __GNUC__
#ifndef __clang__
#pragma GCC optimize("O3", "no-trapping-math") /* otherwise selections would stay branches */
#endif
#endif
#include "hwmodel/exec/ops/lanes.h"
#include "hwmodel/exec/ops/scalar_approx.h"

#define HD_FLOAT1 HD_LANES_FUNCTION1
#define HD_FLOAT2 HD_LANES_FUNCTION2
#define HD_FLOAT3 HD_LANES_FUNCTION3
#include "hwmodel/exec/ops/exec.def"
