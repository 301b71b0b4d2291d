/* The CUDA runtime on the functional model: the state of one process, and what the files of this folder share.
 *
 * cudart/ is a shared library under the names of the vendor's runtime (libcudart.so.11.0, .12, .13) and driver
 * (libcuda.so.1): programs that nvcc compiled with `-cudart shared` find it through LD_LIBRARY_PATH, which
 * `heddle run` sets. Everything runs when it is called, in program order: a launch, a copy, a callback is done when its
 * call returns, so streams and events only carry order that already holds.
 *
 *   fatbin.c     containers of device code          exports.c   the symbols of the library, from api.def
 *   unit.c       modules, kernels, variables        recording.c     what ran, for `heddle run`
 *   blocks.c     device, managed and host memory    launch.c    a kernel's run
 *   copies.c     copies and fills                   the others  the API, by subject
 *
 * The API has no context argument: the one mutable global state of the library is hd_runtime_state in runtime.c. Calls
 * take its lock, which is recursive because callbacks may call the API.
 *
 * Device pointers are addresses of the model, above HD_RUNTIME_BASE, where the kernel maps nothing by itself; the range
 * is reserved, so that no host pointer is taken for one. Managed and page-locked memory is mapped there, and both sides
 * use the same bytes. */
#ifndef HD_CUDART_RUNTIME_H
#define HD_CUDART_RUNTIME_H

#include "cudart/abi.h"
#include "parser/fatbin.h"
#include "cudart/options.h"
#include "base/index.h"
#include "hwmodel/exec/exec.h"
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
#define HD_DEVICE_BYTES (16ull << 30) /* of device memory, since GPU descriptions name none */

/* ---- memory ------------------------------------------------------------------------------------------------------ */

typedef enum hd_cu_block_kind {
    HD_BLOCK_NONE,       /* a variable of a module, or what the model needs itself */
    HD_BLOCK_DEVICE,     /* cudaMalloc */
    HD_BLOCK_MANAGED,    /* cudaMallocManaged */
    HD_BLOCK_HOST,       /* cudaMallocHost, cudaHostAlloc: mapped */
    HD_BLOCK_REGISTERED, /* cudaHostRegister */
    HD_BLOCK_ARRAY,      /* cudaMallocArray */
} hd_cu_block_kind;

typedef struct hd_cu_block { /* of an allocation of the model's memory, by index */
    uint8_t kind;
    uint32_t flags; /* as given to cudaHostAlloc and the like */
    size_t mapped_bytes;
    struct hd_cu_record_block *recording; /* recording.c */
} hd_cu_block;

struct hd_array_object {
    hd_channels channels;
    hd_extent extent; /* 0 where it has no such dimension, as given */
    uint32_t flags, texel_bytes;
    uint32_t allocation;
};

/* ---- code -------------------------------------------------------------------------------------------------------- */

typedef struct hd_kernel hd_kernel;

/* A module in device memory. */
typedef struct hd_code_unit {
    hd_source source;
    hd_diagnostics diagnostics;
    hd_module *module; /* NULL: there is no code; `why` is the error of a use */
    hd_image image;
    hd_arena arena;
    hd_link_result linked; /* with the names that changed */
    uint32_t index;        /* among those with a text */
    const char *file;      /* of its PTX in a record */
    bool is_in_file;       /* the source's name is that of a file which the user has, or gets after the run */
    bool is_explained;     /* how to see the PTX was said */
    bool is_first;         /* its variables were placed before any other memory */
    int why;
    const char *cubins; /* what there is in place of PTX, until it was said; NULL: nothing */
    HD_ARRAY(hd_kernel *) kernels;
} hd_code_unit;

struct hd_kernel {
    hd_code_unit *unit;
    hd_function *function;
    const char *name;
    hd_program *program;           /* NULL: not decoded yet */
    int why;                       /* error of a launch, if it cannot be decoded */
    uint32_t dynamic_shared_bytes; /* allowed by cudaFuncSetAttribute; 0: the default */
    uint32_t registers;            /* 0: not estimated yet */
    int carveout;
};

/* A program's binary: what __cudaRegisterFatBinary got. */
typedef struct hd_cu_binary {
    const hd_fatbin_wrapper *wrapper;
    hd_code_unit *unit; /* NULL: not loaded yet */
    uint32_t space;     /* its number among the binaries of its unit: their names are apart */
    bool unregistered;
} hd_cu_binary;

typedef enum hd_entity_kind { HD_ENTITY_FUNCTION, HD_ENTITY_VARIABLE, HD_ENTITY_MANAGED } hd_entity_kind;
typedef struct hd_entity { /* what a host address stands for */
    const void *host;
    const char *name;
    hd_cu_binary *binary;
    size_t bytes;
    uint8_t kind;
    hd_kernel *kernel; /* NULL: not looked for yet */
} hd_entity;

/* ---- all --------------------------------------------------------------------------------------------------------- */

typedef struct hd_stream hd_stream;
typedef struct hd_runtime {
    pthread_mutex_t lock;
    hd_run_options options;
    bool open;
    int sticky; /* error of a kernel: of all further calls, until cudaDeviceReset */
    uint64_t clock_ns;
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
    uint32_t loaded; /* of them */
    uint32_t bound;  /* entities whose managed variables are bound */
    HD_ARRAY(hd_code_unit *) units;
    uint32_t modules; /* units with code so far */
    HD_ARRAY(hd_entity) entities;
    hd_index entity_index;
    uint64_t workspace;    /* of cooperative launches */
    uint32_t named;        /* allocations so far, for their names */
    uint64_t device_bytes; /* in use */
    HD_ARRAY(hd_stream *) streams;
    uint32_t capture_mode;
    HD_ARRAY(struct hd_cu_graph *) graphs;
    void *pool; /* the default memory pool */
    uint32_t flags;
    uint64_t limits[8];
    uint64_t launches;
    HD_ARRAY(const char *) missing;    /* functions whose absence was reported */
    const void *asked_for_tables;      /* the object that asked for the driver's private tables; NULL: none */
    struct hd_cu_recording *recording; /* NULL: nothing is recorded */
} hd_runtime;

/* Locks, opens the device at the first call. */
hd_runtime *hd_runtime_enter(void);
/* The same, without opening the device: while the program's modules register. */
hd_runtime *hd_runtime_enter_early(void);
/* Unlocks; notes the error of this thread. Returns it, or the sticky one. */
int hd_runtime_leave(hd_runtime *runtime, int error);
/* The same for calls whose error is no error of the program: queries. */
int hd_runtime_leave_quietly(hd_runtime *runtime, int error);
int hd_runtime_last_error(bool clear);
/* Says a sentence on standard error: "heddle: ...". */
void hd_runtime_say(const char *format, ...) __attribute__((format(printf, 1, 2)));
void hd_runtime_reset(hd_runtime *runtime);
/* An API function that does not exist here; hd_driver_missing: of the driver. */
int hd_cuda_missing(const char *name);
int hd_driver_missing(const char *name);

/* ---- blocks.c ---------------------------------------------------------------------------------------------------- */

/* Index of a new allocation; HD_NONE: out of memory. */
uint32_t hd_cu_block_new(hd_runtime *runtime, hd_cu_block_kind kind, const char *name, uint64_t bytes, uint32_t flags);
uint32_t hd_cu_block_register(hd_runtime *runtime, void *pointer, size_t bytes, uint32_t flags);
void hd_cu_block_free(hd_runtime *runtime, uint32_t index);
/* The block of that kind that starts at the pointer; HD_NONE: none. */
uint32_t hd_cu_block_at(hd_runtime *runtime, const void *pointer);
/* The allocation that contains the pointer, or NULL. */
const hd_allocation *hd_cu_block_find(hd_runtime *runtime, const void *pointer, size_t bytes);
hd_cu_block *hd_cu_block_of(hd_runtime *runtime, uint32_t index);
/* Lets the host use the memory of a variable under its device address. */
bool hd_cu_block_map(hd_runtime *runtime, uint32_t index);
/* Whether the pointer is one of the device, valid or not. */
bool hd_is_device_address(const void *pointer);
/* Bytes on the host of a range of device or host memory; NULL: a bad range. `writes`: the host will write there. */
unsigned char *hd_bytes_of(hd_runtime *runtime, const void *pointer, size_t bytes, bool writes);

/* ---- unit.c, fatbin.c ------------------------------------------------------------------------------------ */

/* The object file of the process that has the address, as it is spelt; of other addresses: the program. */
const char *hd_object_of(const void *address);
/* `place`: what has the text, for diagnostics; `is_file`: it is a file of PTX, else one that embeds the PTX. */
hd_code_unit *hd_code_unit_load(hd_runtime *runtime, const char *place, bool is_file, const char *text, size_t length);
hd_kernel *hd_unit_kernel(hd_runtime *runtime, hd_code_unit *unit, const char *name);
/* Index of the variable's allocation; HD_NONE: none. */
uint32_t hd_unit_variable(const hd_code_unit *unit, const char *name);
void hd_unit_free(hd_code_unit *unit);
/* The kernel, or error, of a host address. */
int hd_kernel_of(hd_runtime *runtime, const void *host, hd_kernel **kernel);
/* The same of a handle: cudaKernel_t, cudaFunction_t, CUfunction. */
int hd_kernel_of_handle(hd_runtime *runtime, const void *handle, hd_kernel **kernel);
/* Decodes it. */
int hd_kernel_prepare(hd_runtime *runtime, hd_kernel *kernel);
int hd_variable_of(hd_runtime *runtime, const void *host, uint32_t *allocation);
void hd_entity_add(hd_runtime *runtime, hd_entity entity);
/* Loads all binaries that are registered and not loaded. */
void hd_load_binaries(hd_runtime *runtime);
/* On standard error; `unit`: whose text they are about, or NULL. */
void hd_show_diagnostics(hd_code_unit *unit, const hd_diagnostics *diagnostics);
/* The description of --gpu, or of the first module's target. */
const hd_gpu *hd_gpu_of(hd_runtime *runtime);

/* Bytes from the pointer on that the process can read; 0: none. */
size_t hd_readable_bytes(const void *pointer);

/* ---- launch.c ---------------------------------------------------------------------------------------------------- */

typedef struct hd_launch_request {
    hd_kernel *kernel;
    hd_dim3 grid, block;
    size_t shared_bytes;
    bool cooperative;
    const unsigned char *parameters; /* the parameter block */
    const void *caller;              /* address of the call in the program */
} hd_launch_request;
int hd_launch_run(hd_runtime *runtime, const hd_launch_request *request);
/* Whether the model and the GPU take this shape. */
int hd_launch_check(hd_runtime *runtime, const hd_launch_request *request);
/* The parameter block from pointers to the arguments; to be freed. */
unsigned char *hd_launch_parameters(const hd_kernel *kernel, void *const *arguments);
/* The same from a packed buffer; NULL where it has more bytes than there are parameters. */
unsigned char *hd_launch_packed(const hd_kernel *kernel, const void *buffer, size_t bytes);
/* The same from the list of CU_LAUNCH_PARAM_BUFFER_POINTER. */
unsigned char *hd_launch_extra(const hd_kernel *kernel, void *const *extra);
/* A launch of the program: checked, with its arguments, on that stream. */
int hd_launch_call(hd_runtime *runtime, hd_launch_request request, void *const *arguments, void *const *extra,
                   void *stream);
/* Registers of a thread, as ptxas may assign them. */
uint32_t hd_kernel_registers(hd_runtime *runtime, hd_kernel *kernel);

/* ---- copies.c ---------------------------------------------------------------------------------------------------- */

int hd_cu_copy(hd_runtime *runtime, void *to, const void *from, size_t bytes, int kind);
int hd_fill(hd_runtime *runtime, void *to, size_t pitch, uint32_t value, uint32_t element_bytes, size_t width,
            size_t height);
int hd_cu_copy_box(hd_runtime *runtime, const hd_cu_copy3 *copy);

#endif
