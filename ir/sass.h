/* The instructions of NVIDIA's machine code in listings: which registers an instruction names, whether it reads or
 * writes them, how wide they are, and what it does to memory and control. The rows of ir/sass.def describe them.
 *
 *   hd_sass_insn insn;
 *   if (!hd_sass_decode(text, length, 90, &insn))      "@P0 LDG.E.64 R2, desc[UR4][R2.64+0x10]"
 *       ... an opcode or operands without a row: all registers count as read and written
 *   for (uint32_t i = 0; i < insn.use_count; i++) ...
 *
 * O(length) and the rows of the opcode for each instruction. */
#ifndef HD_IR_SASS_H
#define HD_IR_SASS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

typedef enum hd_sass_file { HD_SASS_R, HD_SASS_P, HD_SASS_UR, HD_SASS_UP, HD_SASS_CC, HD_SASS_FILES } hd_sass_file;
/* Registers of each file: R0-R254, P0-P6, UR0-UR254, UP0-UP6, CC. RZ, PT, URZ and UPT are none of them. */
enum { HD_SASS_MOST_R = 255, HD_SASS_MOST_P = 7 };

typedef struct hd_sass_row {
    const char *opcode, *form, *gens, *named, *unit, *pattern, *widths, *defined, *memory, *control, *evidence;
} hd_sass_row;

typedef struct hd_sass_use {
    uint8_t file; /* hd_sass_file */
    uint8_t first, count;
    bool defined, used;
    bool is_guard;
    bool is_address; /* within brackets */
    bool is_reused;  /* .reuse: kept in the operand cache */
    uint32_t at;     /* offset in the text */
} hd_sass_use;

enum { HD_SASS_MOST_USES = 24 };
typedef struct hd_sass_insn {
    const hd_sass_row *row;            /* NULL: no row fits */
    uint32_t opcode_at, opcode_length; /* with its modifiers */
    bool guarded, guard_not;
    uint32_t target_at, target_length; /* a label or an address in the text; length 0: none */
    uint32_t use_count;
    hd_sass_use uses[HD_SASS_MOST_USES];
} hd_sass_insn;

/* A statement without its semicolon. generation: the number of sm_NN, 0 where it is not known. false: no row fits; then
 * every register of the text, but the guard, is read and written. */
bool hd_sass_decode(const char *text, size_t length, uint32_t generation, hd_sass_insn *insn);
/* Whether the row's opcode is known at all, whatever its operands. */
bool hd_sass_is_opcode(const char *opcode, size_t length);
/* The modifiers of an instruction (".E.64") contain this one (".64"). */
bool hd_sass_has(const char *modifiers, size_t length, const char *modifier);

#endif
