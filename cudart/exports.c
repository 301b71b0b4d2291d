/* The symbols of the shared library: for each row of api.def and each version of the vendor's library a jump to the
 * implementation, under the symbol version that programs ask for. A jump leaves all arguments as they are. */
#include "cudart/api.h"
#include "cudart/driver.h"
#include "cudart/runtime.h"

#if defined(__x86_64__)
#define JUMP "jmp "
#elif defined(__aarch64__)
#define JUMP "b "
#else
#error "no CUDA programs on this processor"
#endif

#define EXPORT(number, name, at, version, implementation)                                  \
    __asm__(".text\n"                                                                      \
            ".globl hd_export_" #number "_" #name "\n"                                     \
            ".type hd_export_" #number "_" #name ", %function\n"                           \
            "hd_export_" #number "_" #name ": " JUMP #implementation "\n"                  \
            ".size hd_export_" #number "_" #name ", . - hd_export_" #number "_" #name "\n" \
            ".symver hd_export_" #number "_" #name ", " #name at version "\n");

#define ONLY_11(name, implementation) EXPORT(11, name, "@", "libcudart.so.11.0", implementation)
#define ONLY_12(name, implementation) EXPORT(12, name, "@", "libcudart.so.12", implementation)
#define FROM_13(name, implementation) EXPORT(13, name, "@@", "libcudart.so.13", implementation)
#define TO_12(name, implementation) ONLY_11(name, implementation) ONLY_12(name, implementation)
#define FROM_12(name, implementation) ONLY_12(name, implementation) FROM_13(name, implementation)
#define ALL(name, implementation) ONLY_11(name, implementation) FROM_12(name, implementation)

#define N(name, since, implementation) since(name, implementation)
#define Z(name, since, implementation) since(name, implementation) since(name##_ptsz, implementation)
#define D(name, since, implementation) since(name, implementation) since(name##_ptds, implementation)

#define HD_API(name, kind, since, parameters) kind(name, since, hd_##name)
#define HD_API_AS(name, implementation, kind, since, parameters) kind(name, since, implementation)
#define HD_API_TYPED(type, name, kind, since, parameters) kind(name, since, hd_##name)
#define HD_API_MISSING(name, kind, since)                          \
    int hd_missing_##name(void) { return hd_cuda_missing(#name); } \
    kind(name, since, hd_missing_##name)
#include "cudart/api.def"

/* Programs ask for the driver's functions without a version, and get the default one. */
#define HD_DRIVER(name, implementation, kind, parameters) kind(name, FROM_13, implementation)
#define HD_DRIVER_MISSING(name, kind) kind(name, FROM_13, hd_missing_##name)
#include "cudart/driver.def"
