/* What a cubin says beyond its instructions: how each kernel is launched, and the data that its code addresses.
 *
 * A listing has it in its sections, in the words of nvdisasm; heddle's own listing of a cubin (parser/cubin.h) has all
 * of it. The code of a program for several architectures, or of several objects, is several cubins: an image each.
 * Values and places are those of the ELF file. Attributes of .nv.info: parser/cubin_info.def; kinds of relocations:
 * ir/machine_relocations.def.
 */
#ifndef HD_IR_MACHINE_IMAGE_H
#define HD_IR_MACHINE_IMAGE_H

#include "ir/ir.h"

enum {
    HD_MACHINE_BANKS = 18,                 /* constant banks, c[0] to c[17] */
    HD_MACHINE_FIRST_SM_WITH_RESERVE = 90, /* .nv.shared.NAME begins with what the GPU reserves for each block */
    HD_MACHINE_RESERVED_SHARED_BYTES = 1024,
};

typedef enum hd_machine_section_kind {
    HD_MACHINE_SECTION_CODE,   /* .text.NAME: has symbols and relocations, no bytes */
    HD_MACHINE_SECTION_BANK,   /* .nv.constantN, .nv.constantN.NAME */
    HD_MACHINE_SECTION_GLOBAL, /* .nv.global, .nv.global.init: variables in global memory */
    HD_MACHINE_SECTION_SHARED, /* .nv.shared.NAME: has a size and symbols, no bytes */
    HD_MACHINE_SECTION_INFO,   /* .nv.info, .nv.info.NAME */
} hd_machine_section_kind;

typedef enum hd_machine_relocation_kind {
#define HD_MACHINE_RELOCATION(id, number, name, before, after) HD_MACHINE_RELOCATION_##id,
#include "ir/machine_relocations.def"
#undef HD_MACHINE_RELOCATION
    HD_MACHINE_RELOCATION_COUNT /* a kind that is not known */
} hd_machine_relocation_kind;

/* A place in data that holds the value of a symbol plus `addend`. In code, an operand is spelled so:
 * hd_machine_address. */
typedef struct hd_machine_relocation {
    uint8_t kind;    /* hd_machine_relocation_kind */
    uint32_t offset; /* bytes from the section's start */
    uint32_t symbol; /* in image->symbols */
    int64_t addend;
} hd_machine_relocation;

typedef struct hd_machine_section {
    const char *name; /* as in the file */
    uint8_t kind;     /* hd_machine_section_kind */
    uint8_t bank;     /* BANK: its number */
    uint32_t alignment;
    uint32_t bytes;
    const unsigned char *initial;             /* NULL: zeros */
    const hd_machine_relocation *relocations; /* by offset */
    uint32_t relocation_count;
} hd_machine_section;

/* A variable's symbol, or that of code. */
typedef struct hd_machine_symbol {
    const char *name;
    uint32_t section;  /* in image->sections; HD_NONE: the image only refers to it (vprintf, or of another object) */
    uint32_t offset;   /* bytes from the section's start */
    uint32_t bytes;    /* 0: unknown */
    uint32_t function; /* CODE: in module->functions; else HD_NONE */
} hd_machine_symbol;

typedef struct hd_machine_image {
    uint32_t sm;         /* 0: it does not say */
    bool is_relocatable; /* not linked: parts of it may be in other objects */
    const hd_machine_section *sections;
    uint32_t section_count;
    const hd_machine_symbol *symbols; /* by name, as strcmp() orders them */
    uint32_t symbol_count;
} hd_machine_image;

typedef struct hd_machine_parameter {
    uint32_t offset; /* from the base of the parameters */
    uint32_t bytes;
} hd_machine_parameter;

/* How a kernel is launched, or what a function takes. */
typedef struct hd_machine_layout {
    const hd_machine_image *image;
    bool is_entry;                          /* a kernel */
    bool has_parameters;                    /* the place of its parameters is known; no parameters: count 0 */
    const hd_machine_parameter *parameters; /* by ordinal */
    uint32_t parameter_count;
    uint32_t parameter_base, parameter_bytes; /* in bank 0 */
    bool has_registers, has_frame;            /* the attributes are there */
    uint32_t registers;                       /* per thread */
    uint32_t frame_bytes;                     /* of its own frame, in the local memory of a thread */
    uint32_t stack_bytes;                     /* at least, with what it calls; 0: it does not say */
    uint32_t shared_bytes;                    /* static, without what the GPU reserves (HD_MACHINE_RESERVED_...) */
    uint32_t barriers;                        /* highest barrier that it names, plus 1; 0: none or unknown */
    bool requires_threads;                    /* `threads` is required, not a maximum */
    uint32_t threads[3];                      /* of a block; 0: not given */
    uint32_t code;                            /* .text.NAME in image->sections; HD_NONE: not there */
    uint32_t banks[HD_MACHINE_BANKS];         /* in image->sections; HD_NONE: it has none */
} hd_machine_layout;

/* By function; NULL: not machine code, or the listing has no section that says something of it. */
const hd_machine_layout *hd_machine_layout_of(const hd_function *function);
/* HD_NONE: the image has no such symbol. */
uint32_t hd_machine_symbol_of(const hd_machine_image *image, const char *name, size_t length);

/* An operand of code that a relocation gives its value: 32@lo(NAME), 32@hi(NAME), `(NAME), 32@lo((NAME + 0x10)). */
typedef struct hd_machine_address {
    uint8_t kind; /* hd_machine_relocation_kind: LOW, HIGH, or CALL */
    const char *name;
    uint32_t length;
    uint32_t symbol; /* HD_NONE: the image has none of that name: a label of the code, or another object's */
    int64_t addend;
} hd_machine_address;
/* false: the text is no such operand. `image` may be NULL. */
bool hd_machine_address_of(const hd_machine_image *image, const char *text, size_t length, hd_machine_address *found);
/* NAME, or (NAME + NUMBER): sets the name and what is added. */
bool hd_machine_sum_of(const char *text, size_t length, hd_machine_address *found);

#endif
