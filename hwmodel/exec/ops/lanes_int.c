/* Integer and bit operations on rows of 32 lanes, generated from exec.def; the compiler vectorizes the loops. */
#ifdef __GNUC__
#ifndef __clang__
#pragma GCC optimize("O3")
#endif
#endif
#include "hwmodel/exec/ops/lanes.h"
#include "hwmodel/exec/ops/scalar.h"

#define HD_INT1 HD_LANES_FUNCTION1
#define HD_INT2 HD_LANES_FUNCTION2
#define HD_INT3 HD_LANES_FUNCTION3
#include "hwmodel/exec/ops/exec.def"
