/* The CUDA runtime on the functional model: the state of one process, and what the files of this folder share.
 *
 * cudart/ is a shared library under the names of the vendor's runtime (libcudart.so.11.0, .12, .13) and driver
 * (libcuda.so.1): programs that nvcc compiled with `-cudart shared` find it through LD_LIBRARY_PATH, which
 * `heddle run` sets. Everything runs when it is called, in program order: a launch, a copy, a callback is done when its
 * call returns, so CUDA streams and events only carry an order that already holds.
 *
 * Files, each of which calls only those before it:
 *
 *   process.c     the process: its standard error, readable memory, object files
 *   recording.c   what ran, for `heddle run`
 *   blocks.c      device, managed and host memory
 *   copies.c      copies and fills
 *   unit.c        modules, kernels, variables
 *   launch.c      a kernel's run
 *   operation.c   operations, and graphs of them
 *   runtime.c     what each call does first and last
 *   stream.c      CUDA streams, events, captures
 *   the others    the API, by subject
 *   exports.c     the symbols of the library, from api.def and driver.def
 *
 * The API has no context argument: the one mutable global state of the library is hd_runtime_state in runtime.c. Calls
 * take its lock, which is recursive because callbacks may call the API.
 *
 * Device pointers are addresses of the model, above HD_RUNTIME_BASE, where the operating system maps nothing by itself;
 * the range is reserved, so that no host pointer is taken for one. Managed and page-locked memory is mapped there, and
 * both sides use the same bytes. */
#ifndef HD_CUDART_RUNTIME_H
#define HD_CUDART_RUNTIME_H

#include "cudart/abi.h"
#include "parser/fatbin.h"
#include "cudart/options.h"
#include "driver/build/assemble.h"
#include "base/index.h"
#include "hwmodel/machine/machine.h"
#include "parser/link.h"
#include "target/occupancy.h"
#include <pthread.h>

typedef enum hd_cuda_error {
#define HD_CUDA_ERROR(id, number, name, text) HD_CUDA_##id = number,
#include "cudart/errors.def"
#undef HD_CUDA_ERROR
} hd_cuda_error;

#define HD_RUNTIME_BASE 0x7a5c4a000000ull
#define HD_RUNTIME_RANGE (HD_MEMORY_RANGE + HD_WINDOW_BYTES)
#define HD_DEVICE_BYTES (16ull << 30) /* GPU descriptions name no size of device memory */

/* ---- memory ------------------------------------------------------------------------------------------------------ */

typedef enum hd_cu_block_kind {
    HD_BLOCK_NONE,       /* a variable of a module, or memory of the model's own */
    HD_BLOCK_DEVICE,     /* cudaMalloc */
    HD_BLOCK_MANAGED,    /* cudaMallocManaged */
    HD_BLOCK_HOST,       /* cudaMallocHost, cudaHostAlloc: mapped */
    HD_BLOCK_REGISTERED, /* cudaHostRegister */
    HD_BLOCK_ARRAY,      /* cudaMallocArray */
} hd_cu_block_kind;

typedef struct hd_cu_block { /* an allocation of the model's memory has one, by index */
    uint8_t kind;
    uint32_t flags; /* as given to cudaHostAlloc and the like */
    size_t mapped_bytes;
} hd_cu_block;

struct hd_cu_array {
    hd_channels channels;
    hd_extent extent; /* as given: 0 in dimensions that it does not have */
    uint32_t flags, texel_bytes;
    uint32_t allocation;
};

/* ---- code -------------------------------------------------------------------------------------------------------- */

typedef struct hd_cu_kernel hd_cu_kernel;

/* A module in device memory: PTX, or machine code. */
typedef struct hd_cu_unit {
    hd_source source; /* PTX, or the listing of the cubin */
    hd_source cubin;  /* empty: PTX */
    const char *tool; /* that made the cubin: "ptxas 13.0.88"; NULL: unknown */
    hd_diagnostics diagnostics;
    hd_module *module; /* NULL: there is no code, and each use returns the error `why` */
    hd_image image;
    hd_arena arena;
    hd_link_result linked; /* has the names that linking changed */
    uint32_t index;        /* among units with a text */
    const char *file;      /* name of its file in a record */
    bool is_in_file;       /* the source's name is that of a file that the user has, or gets after the run */
    bool is_explained;     /* a note has said how to see the code */
    bool is_first;         /* its variables were placed before any other memory */
    int why;
    const char *cubins; /* machine code in place of PTX, until a message has named it; NULL: none */
    HD_ARRAY(hd_cu_kernel *) kernels;
} hd_cu_unit;

struct hd_cu_kernel {
    hd_cu_unit *unit;
    hd_function *function;
    const char *name;
    hd_program *program;           /* NULL: not decoded yet */
    int why;                       /* error of each launch if the kernel cannot be decoded */
    uint32_t dynamic_shared_bytes; /* allowed by cudaFuncSetAttribute; 0: the default */
    uint32_t registers;            /* 0: not estimated yet */
    int carveout;
};

/* A binary of the program, as __cudaRegisterFatBinary registers it. */
typedef struct hd_cu_binary {
    const hd_fatbin_wrapper *wrapper;
    hd_cu_unit *unit; /* NULL: not loaded yet */
    uint32_t space;   /* its number among the binaries of its unit, each of which has names of its own */
    bool unregistered;
} hd_cu_binary;

typedef enum hd_cu_entity_kind { HD_ENTITY_FUNCTION, HD_ENTITY_VARIABLE, HD_ENTITY_MANAGED } hd_cu_entity_kind;
typedef struct hd_cu_entity { /* a kernel or variable, for which a host address stands */
    const void *host;
    const char *name;
    hd_cu_binary *binary;
    size_t bytes;
    uint8_t kind;
    hd_cu_kernel *kernel; /* NULL: not looked up yet */
} hd_cu_entity;

/* ---- all --------------------------------------------------------------------------------------------------------- */

typedef struct hd_cu_stream hd_cu_stream;
typedef struct hd_runtime {
    pthread_mutex_t lock;
    hd_run_options options;
    bool open;
    int sticky; /* error of a kernel, which all further calls return until cudaDeviceReset */
    hd_arena arena;
    hd_diagnostics diagnostics;
    hd_gpu *gpu;
    hd_memory memory;
    HD_ARRAY(hd_cu_block) blocks; /* by allocation */
    HD_ARRAY(hd_texture) textures;
    HD_ARRAY(hd_resource) resources; /* by texture; kind -1: destroyed */
    HD_ARRAY(hd_sampling) samplings;
    hd_texture_set texture_set;
    HD_ARRAY(hd_cu_binary *) binaries;
    uint32_t loaded; /* number of binaries that are loaded */
    uint32_t bound;  /* number of entities whose managed variables are bound */
    HD_ARRAY(hd_cu_unit *) units;
    uint32_t modules; /* units with code so far */
    HD_ARRAY(hd_cu_entity) entities;
    hd_index entity_index;
    uint64_t workspace;    /* address of the workspace of cooperative launches; 0: none yet */
    uint32_t named;        /* number of allocations so far, for their names */
    uint64_t device_bytes; /* in use */
    HD_ARRAY(hd_cu_stream *) streams;
    uint32_t capture_mode;
    HD_ARRAY(struct hd_cu_graph *) graphs;
    void *pool; /* the default memory pool */
    uint32_t flags;
    uint64_t limits[8];
    HD_ARRAY(const char *) missing;    /* functions whose absence was reported */
    const void *asked_for_tables;      /* the object that asked for the driver's private tables; NULL: none */
    struct hd_cu_recording *recording; /* NULL: nothing is recorded */
} hd_runtime;

/* ---- process.c --------------------------------------------------------------------------------------------------- */

/* Prints a sentence on standard error: "heddle: ...". */
void hd_runtime_say(const char *format, ...) __attribute__((format(printf, 1, 2)));
/* The path of the object file of the process that contains the address; for other addresses, that of the program. */
const char *hd_object_of(const void *address);
/* Number of bytes from the pointer on that the process can read. */
size_t hd_readable_bytes(const void *pointer);

/* ---- runtime.c --------------------------------------------------------------------------------------------------- */

/* Takes the lock; the first call opens the device. */
hd_runtime *hd_runtime_enter(void);
/* Takes the lock without opening the device: modules register while the program starts. */
hd_runtime *hd_runtime_enter_early(void);
/* Releases the lock. Returns the sticky error, else `error`, and keeps it as this thread's last error. */
int hd_runtime_leave(hd_runtime *runtime, int error);
/* Releases the lock. Returns the sticky error, else `error`; the thread's last error remains. */
int hd_runtime_leave_quietly(hd_runtime *runtime, int error);
int hd_runtime_last_error(bool clear);
/* Frees all memory of the device, and clears the sticky error. */
void hd_runtime_reset(hd_runtime *runtime);
/* Reports, once for each name, that a function of the runtime API is not modelled; returns its error. */
int hd_cuda_missing(const char *name);
/* Reports the same of a function of the driver API. */
int hd_driver_missing(const char *name);

/* ---- blocks.c ---------------------------------------------------------------------------------------------------- */

/* Index of a new allocation; HD_NONE: out of memory. */
uint32_t hd_cu_block_new(hd_runtime *runtime, hd_cu_block_kind kind, const char *name, uint64_t bytes, uint32_t flags);
/* Index of the allocation that registers memory of the host; HD_NONE: it is registered. */
uint32_t hd_cu_block_register(hd_runtime *runtime, void *pointer, size_t bytes, uint32_t flags);
void hd_cu_block_free(hd_runtime *runtime, uint32_t index);
/* Index of the block that starts at the pointer; HD_NONE: none. */
uint32_t hd_cu_block_at(hd_runtime *runtime, const void *pointer);
/* The allocation that contains the range, or NULL. */
const hd_allocation *hd_cu_block_find(hd_runtime *runtime, const void *pointer, size_t bytes);
hd_cu_block *hd_cu_block_of(hd_runtime *runtime, uint32_t index);
/* Maps a variable's memory for the host, at its device address. */
bool hd_cu_block_map(hd_runtime *runtime, uint32_t index);
/* Whether the pointer is in the range of device addresses, allocated or not. */
bool hd_is_device_address(const void *pointer);
/* Bytes on the host of a range of device or host memory; NULL: a bad range. `writes`: the caller will write there. */
unsigned char *hd_bytes_of(hd_runtime *runtime, const void *pointer, size_t bytes, bool writes);

/* ---- unit.c ------------------------------------------------------------------------------------------------------ */

/* PTX; where machine code is asked for, what ptxas makes of it. `place`: what has the text, for diagnostics; `is_file`:
 * it is a file of PTX, else one that embeds the PTX. */
hd_cu_unit *hd_cu_unit_load(hd_runtime *runtime, const char *place, bool is_file, const char *text, size_t length);
/* The same of a cubin. NULL: it has no kernel, or, where PTX is taken instead, one that is not executed (said). */
hd_cu_unit *hd_cu_unit_load_cubin(hd_runtime *runtime, const char *place, bool is_file, const char *bytes,
                                  size_t length);
/* The cubin of a container that fits the GPU, where machine code is asked for; NULL: there is none, as above. */
hd_cu_unit *hd_cu_unit_load_container(hd_runtime *runtime, const char *place, const void *container);
/* NULL: the unit has no kernel of that name. */
hd_cu_kernel *hd_unit_kernel(hd_cu_unit *unit, const char *name);
bool hd_unit_variable(const hd_cu_unit *unit, const char *name, hd_machine_variable *variable); /* false: none */
void hd_unit_free(hd_cu_unit *unit);
/* Sets the kernel that a host address, or a handle, stands for; or returns an error. */
int hd_kernel_of(hd_runtime *runtime, const void *host, hd_cu_kernel **kernel);
/* Sets the kernel of a handle: cudaKernel_t, cudaFunction_t, CUfunction; or returns an error. */
int hd_kernel_of_handle(hd_runtime *runtime, const void *handle, hd_cu_kernel **kernel);
/* Decodes the kernel, unless it is decoded; or returns an error. */
int hd_kernel_prepare(hd_runtime *runtime, hd_cu_kernel *kernel);
/* Bytes of static shared memory of a kernel that is decoded. */
uint64_t hd_kernel_shared_bytes(const hd_cu_kernel *kernel);
/* Sets the variable that a host address stands for; or returns an error. */
int hd_variable_of(hd_runtime *runtime, const void *host, hd_machine_variable *variable);
void hd_cu_entity_add(hd_runtime *runtime, hd_cu_entity entity);
/* Loads all binaries that are registered and not loaded. */
void hd_load_binaries(hd_runtime *runtime);
/* Prints them on standard error. `unit`: its text is what they are about, or NULL. */
void hd_show_diagnostics(hd_cu_unit *unit, const hd_diagnostics *diagnostics);
/* The description of --gpu, or of the first module's target. */
const hd_gpu *hd_gpu_of(hd_runtime *runtime);

/* ---- launch.c ---------------------------------------------------------------------------------------------------- */

typedef struct hd_cu_launch {
    hd_cu_kernel *kernel;
    hd_dim3 grid, block;
    size_t shared_bytes;
    bool cooperative;
    const unsigned char *parameters; /* the parameter block */
    const void *caller;              /* address of the call in the program */
} hd_cu_launch;
/* Checks and runs a launch. Returns its error, which is sticky where the kernel has failed. */
int hd_launch_run(hd_runtime *runtime, const hd_cu_launch *request);
/* Returns the error of a launch whose kernel or shape the model or the GPU does not take. */
int hd_launch_check(hd_runtime *runtime, const hd_cu_launch *request);
/* The parameter block from pointers to the arguments; the caller frees it. */
unsigned char *hd_launch_parameters(const hd_cu_kernel *kernel, void *const *arguments);
/* The parameter block from the list of CU_LAUNCH_PARAM_BUFFER_POINTER; the caller frees it. NULL: the list has more
 * bytes than the kernel's parameters. */
unsigned char *hd_launch_extra(const hd_cu_kernel *kernel, void *const *extra);
/* A copy of the launch's parameter block; the caller frees it. */
unsigned char *hd_launch_copy_parameters(const hd_cu_launch *request);

/* ---- api_launch.c, device.c -------------------------------------------------------------------------------------- */

/* Checks a launch of the program, and runs it on a CUDA stream with its arguments, from pointers or from a list. */
int hd_launch_call(hd_runtime *runtime, hd_cu_launch request, void *const *arguments, void *const *extra, void *stream);
/* Estimated number of registers per thread. */
uint32_t hd_kernel_registers(hd_runtime *runtime, hd_cu_kernel *kernel);

/* ---- copies.c ---------------------------------------------------------------------------------------------------- */

int hd_cu_copy(hd_runtime *runtime, void *to, const void *from, size_t bytes, int kind);
/* Fills `height` rows of `width` elements each; `pitch` is in bytes. */
int hd_fill(hd_runtime *runtime, void *to, size_t pitch, uint32_t value, uint32_t element_bytes, size_t width,
            size_t height);
int hd_cu_copy_box(hd_runtime *runtime, const hd_cu_copy3 *copy);

#endif
