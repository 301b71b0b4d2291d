/* Decoding: from instructions to ops. Shared declarations of this folder. */
#ifndef HD_HWMODEL_EXEC_DECODE_DECODER_H
#define HD_HWMODEL_EXEC_DECODE_DECODER_H

#include "hwmodel/exec/control/control.h"
#include "hwmodel/exec/ops/alu.h"
#include "hwmodel/exec/ops/lanes.h"

enum { HD_MOST_OPERANDS = 24 };

typedef struct hd_constant_slot {
    uint64_t value;
    uint32_t bytes; /* of a lane; 0: a predicate word; HD_NONE: a free slot */
    hd_ref ref;
} hd_constant_slot;

typedef struct hd_decoder {
    hd_program *program;
    hd_module *module;
    hd_diagnostics *diagnostics;
    bool failed;
    hd_u32_array address_taken; /* symbols of functions; decode_call.c */
    bool has_address_taken;
    /* by symbol: offset in shared memory, the parameter block or its call frame; HD_NONE: not laid out */
    uint32_t *symbol_offset;
    const hd_lanes_row **rows; /* by form; &no_row if there is none */
    /* current function */
    hd_code *code;
    hd_function *function;
    uint32_t *register_offset;        /* by register id */
    hd_constant_slot *constant_slots; /* open addressing, at most half full */
    uint32_t constant_mask, constant_count;
    /* current instruction */
    const hd_instruction *insn;
    const hd_form *form;
    hd_form old_form; /* with the implicit modifiers of PTX before 1.4 */
    hd_op *op;
    const hd_operand *operands[HD_MOST_OPERANDS]; /* top level, without implicit ones */
    uint32_t operand_count;
} hd_decoder;

/* Reports that the instruction is not supported; returns false. */
bool hd_decode_unsupported(hd_decoder *d, const char *why);
static inline hd_type hd_decode_type(const hd_decoder *d, uint32_t slot) { return (hd_type)d->form->types[slot]; }
static inline uint16_t hd_decode_modifier(const hd_decoder *d, hd_modifier_group group)
{
    return d->form->modifiers[group];
}
/* True if every modifier present is a hint or of one of the listed groups. */
bool hd_decode_only(const hd_decoder *d, const uint8_t *groups, uint32_t count);
#define HD_DECODE_ONLY(d, ...)                                        \
    hd_decode_only((d), (const uint8_t[]){HD_GROUP_UNI, __VA_ARGS__}, \
                   sizeof((const uint8_t[]){HD_GROUP_UNI, __VA_ARGS__}))

/* operands.c */
hd_ref hd_decode_constant(hd_decoder *d, uint64_t value, uint32_t bytes); /* as a constant row */
uint64_t hd_decode_literal(const hd_decoder *d, const hd_operand *o, hd_type type);
/* The row of a source of the given type; HD_NO_REF (reported) if it is invalid. */
hd_ref hd_decode_source(hd_decoder *d, const hd_operand *o, hd_type type);
/* The row of a destination; HD_NO_REF for a sink. */
hd_ref hd_decode_destination(hd_decoder *d, const hd_operand *o);
uint32_t hd_decode_lane_bytes(const hd_decoder *d, const hd_operand *o,
                              hd_type type); /* of a register, or of the type */
/* A predicate source; sets the flag `inverted` if it is negated. */
hd_ref hd_decode_predicate(hd_decoder *d, const hd_operand *o, uint16_t inverted);
/* Pushes the elements of a vector (or the single operand) to code->refs and widths; returns their number. */
uint32_t hd_decode_elements(hd_decoder *d, const hd_operand *o, hd_type type, bool destination, uint32_t *first);
uint32_t hd_decode_push(hd_decoder *d, hd_ref ref, uint32_t bytes); /* its index in code->refs */

/* The address of a symbol if it is the same for all threads of the launch: true with the value in the symbol's
 * space. */
bool hd_decode_symbol(hd_decoder *d, uint32_t symbol, uint64_t *address);
/* The offset of a symbol in the running call frame (local variable, .param of calls, parameters of a device function);
 * else HD_NONE. */
uint32_t hd_decode_frame_offset(const hd_decoder *d, uint32_t symbol);

typedef struct hd_decoded_address {
    const hd_operand *base; /* REGISTER, SYMBOL or LITERAL */
    int64_t offset;
} hd_decoded_address;
/* A variable, with a constant offset or subscript (g, g+4, g[3]): its SYMBOL as the base. False: anything else; nothing
 * is reported. */
bool hd_decode_variable(const hd_decoder *d, const hd_operand *o, hd_decoded_address *address);
bool hd_decode_address(hd_decoder *d, const hd_operand *o, hd_decoded_address *address);
/* The address as a row and an offset, of an op that accesses memory. decode_memory.c */
bool hd_decode_set_address(hd_decoder *d, const hd_decoded_address *address);

/* Decodes an opcode; false: reported. */
typedef bool hd_decode(hd_decoder *d);
#define HD_HAND(opcode, decode) hd_decode decode;
#include "hwmodel/exec/decode/hand.def"
#undef HD_HAND
bool hd_decode_row(hd_decoder *d, const hd_lanes_row *row);

/* decode_call.c */
void hd_decode_add_callees(hd_decoder *d, const hd_function *f, const hd_instruction *insn); /* of a call */
void hd_decode_add_code(hd_decoder *d, const hd_function *f); /* adds a function to the program */

/* layout.c: offsets of variables; before anything is decoded */
void hd_layout_code(hd_decoder *d, hd_code *code); /* call frame variables of a function */
void hd_layout_shared(hd_decoder *d);              /* shared variables that the program's functions mention */

#endif
