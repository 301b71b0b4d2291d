/* Operations on rows of 32 f16 or bf16, generated from exec.def; the compiler vectorizes the loops. */
#ifdef __GNUC__
#ifndef __clang__
#pragma GCC optimize("O3", "no-trapping-math") /* otherwise selections would stay branches */
#endif
#endif
#include "hwmodel/exec/ops/lanes.h"
#include "hwmodel/exec/ops/scalar_approx.h"
#include "hwmodel/exec/ops/scalar_half.h"

#define HD_HALF1 HD_LANES_FUNCTION1
#define HD_HALF2 HD_LANES_FUNCTION2
#define HD_HALF3 HD_LANES_FUNCTION3
#include "hwmodel/exec/ops/exec.def"
