/* The architected form of a function, and copies.
 *
 * After register allocation each register of a function is a physical register: general registers R0..R254 of 32 bits
 * and predicates P0..P6. The name encodes which: %R7 (.b32), %RH7 (.b16, the low half of R7), %RB7 (.b8, its low byte),
 * %RD8 (.b64, the aligned pair R8:R9), %RQ8 (.b128, the aligned quad R8..R11), %P3. If the function already has such
 * names, the names begin with %hd_ (%hd_R7). The text is still PTX, where these names do not alias: a value is read
 * under the name it was written under. An instruction converts between classes (packing, unpacking, truncation). If
 * both sides are the same physical register, this instruction is an identity, which is not counted anywhere
 * (hd_insn_is_identity).
 *
 * The function-wide annotation `architected` marks such a function, so that its text is read back as architected. Its
 * numbers are those of hd_architected.
 */
#ifndef HD_IR_ARCHITECTED_H
#define HD_IR_ARCHITECTED_H

#include "ir/form.h"

enum { HD_GENERAL_REGISTERS = 255, HD_PREDICATE_REGISTERS = 7 };

typedef enum hd_physical_class {
    HD_PHYSICAL_NONE, /* not a physical register name */
    HD_PHYSICAL_PREDICATE,
    HD_PHYSICAL_BYTE,
    HD_PHYSICAL_HALF,
    HD_PHYSICAL_WORD,
    HD_PHYSICAL_PAIR,
    HD_PHYSICAL_QUAD,
} hd_physical_class;
enum { HD_PHYSICAL_CLASSES = HD_PHYSICAL_QUAD + 1 };

typedef struct hd_physical {
    uint8_t class;   /* hd_physical_class */
    uint8_t words;   /* number of general registers from `number` on; 0 for a predicate */
    uint16_t number; /* number of the predicate or of the first general register */
} hd_physical;

/* The values of the annotation. */
typedef struct hd_architected {
    uint32_t registers;   /* highest general register used, plus 1 */
    uint32_t predicates;  /* highest predicate used, plus 1 */
    uint32_t spill_bytes; /* spill space in local memory, per thread */
    uint32_t held;        /* highest general register that is live during a call, plus 1; 0 without calls */
} hd_architected;
/* false: the function is in virtual form */
bool hd_architected_of(const hd_function *function, hd_architected *numbers);
/* Registers per thread that must be free for a block to start, given the kernel's `registers` in total: fewer if the
 * annotations say that warps share an extended set. */
uint32_t hd_function_resident_registers(const hd_function *kernel, uint32_t registers);
void hd_architected_set(hd_function *function, const hd_architected *numbers);
static inline bool hd_function_is_architected(const hd_function *function)
{
    return hd_architected_of(function, &(hd_architected){0});
}

/* The physical register that a register's name denotes, whether or not the function is annotated. O(1). */
hd_physical hd_register_physical(const hd_function *function, uint32_t reg);

/* The class for registers of a type; the class's PTX type and the stem of its names. */
hd_physical_class hd_physical_class_of(hd_type type);
hd_type hd_physical_type(hd_physical_class class);
const char *hd_physical_stem(hd_physical_class class); /* "%R"; without the hd_ prefix */

/* A word copied unchanged: word `from_word` of `from` becomes word `to_word` of `to` (0: the low word; a shorter
 * register is the low part of a word). */
typedef struct hd_copy {
    uint32_t to, from;
    uint8_t to_word, from_word;
} hd_copy;
enum { HD_COPIES_MOST = 4 };

/* The words that an instruction copies: mov between registers, packing and unpacking of whole words, truncating cvt,
 * cvta to and from global space. Returns their number; *all: whether the instruction has no other effect (`all`
 * may be NULL). Ignores guards. */
uint32_t hd_insn_copies(const hd_function *function, const hd_instruction *insn, hd_copy copies[HD_COPIES_MOST],
                        bool *all);

/* Architected form: whether the instruction copies each word to the register that holds it already. */
bool hd_insn_is_identity(const hd_function *function, const hd_instruction *insn);

#endif
