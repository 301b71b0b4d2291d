/* The architected form of a function, and copies.
 *
 * After register allocation each register of a function is a physical place: general registers R0..R254 of 32 bits and
 * predicates P0..P6. The name says which: %R7 (.b32), %RH7 (.b16, the low half of R7), %RB7 (.b8, its low byte), %RD8
 * (.b64, the aligned pair R8:R9), %RQ8 (.b128, the aligned quad R8..R11), %P3. Where the function has such names
 * already, they begin with %hd_
 * (%hd_R7). It stays PTX: there the names do not alias, so a value is read under the name that it was written under;
 * where it goes from one class to another (packing, unpacking, truncation) an instruction says so, and where both sides
 * are the same place that instruction is an identity, which every count leaves out (hd_insn_is_identity).
 *
 * A function-wide annotation, `architected`, marks such a function, so that its text reads back as architected. Its
 * numbers are those of hd_architected.
 */
#ifndef HD_IR_ARCHITECTED_H
#define HD_IR_ARCHITECTED_H

#include "ir/form.h"

enum { HD_GENERAL_REGISTERS = 255, HD_PREDICATE_REGISTERS = 7 };

typedef enum hd_physical_class {
    HD_PHYSICAL_NONE, /* the name of no place */
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
    uint8_t words;   /* general registers from `number` on; 0 for a predicate */
    uint16_t number; /* of the predicate or the first general register */
} hd_physical;

/* What the annotation says of a function. */
typedef struct hd_architected {
    uint32_t registers;   /* general registers: the highest one used and 1 */
    uint32_t predicates;  /* likewise */
    uint32_t spill_bytes; /* of local memory, a thread */
    uint32_t held;        /* general registers that must last during calls: the highest one and 1; 0 without calls */
} hd_architected;
bool hd_architected_of(const hd_function *function, hd_architected *numbers); /* false: the function is virtual */
/* Registers per thread that a block must find free to start, where its kernel has `registers` in all: fewer where the
 * annotations say that warps share an extended set. */
uint32_t hd_function_resident_registers(const hd_function *kernel, uint32_t registers);
void hd_architected_set(hd_function *function, const hd_architected *numbers);
static inline bool hd_function_is_architected(const hd_function *function)
{
    return hd_architected_of(function, &(hd_architected){0});
}

/* The slot that a register's name denotes, whether or not the function is marked. O(1). */
hd_physical hd_register_physical(const hd_function *function, uint32_t reg);

/* The class that a register of this type belongs to; its PTX type and the stem of its name. */
hd_physical_class hd_physical_class_of(hd_type type);
hd_type hd_physical_type(hd_physical_class class);
const char *hd_physical_stem(hd_physical_class class); /* "%R"; without the prefix hd_ */

/* A word that an instruction copies unchanged from one register to another: word `from_word` of `from` becomes word
 * `to_word` of `to` (0: the low one; a shorter register counts as the low part of a word). */
typedef struct hd_copy {
    uint32_t to, from;
    uint8_t to_word, from_word;
} hd_copy;
enum { HD_COPIES_MOST = 4 };

/* The words that an instruction only copies: mov between registers, packing and unpacking of whole words, truncating
 * cvt, cvta to and from global space. The count; *all reports whether the instruction does nothing else (`all` may be
 * NULL). Guards are not looked at. */
uint32_t hd_insn_copies(const hd_function *function, const hd_instruction *insn, hd_copy copies[HD_COPIES_MOST],
                        bool *all);

/* In an architected function: an instruction that copies each word to the place where it is. */
bool hd_insn_is_identity(const hd_function *function, const hd_instruction *insn);

#endif
