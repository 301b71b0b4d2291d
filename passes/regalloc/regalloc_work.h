/* Register allocation: what its files share. Private to passes/regalloc/regalloc*.c, and to
 * passes/technique/regmutex*.c, which allocates once more.
 *
 *   regalloc.c         the pass: options, rounds, the result
 *   regalloc_ranges.c  where each register is live, as parts of the linear order of instructions; pressure
 *   regalloc_units.c   units: registers that must or should lie side by side (vectors, pairs) or in one place (copies)
 *   regalloc_assign.c  places for units
 *   regalloc_choose.c  what to spill
 *   regalloc_spill.c   spill code and rematerialization
 *   regalloc_async.c   what asynchronous instructions have in flight, and spill code must leave alone
 *   regalloc_vectors.c moves for vectors whose elements cannot lie side by side
 *   regalloc_rename.c  the physical names
 *   regalloc_frames.c  frames of callees above those of their callers
 *
 * Positions: instruction k of the linear order reads at 2k and writes at 2k + 1. A register is live in parts
 * [begin, end): from after its definition to its last read, so that a result may take the place of an operand that
 * ends there.
 */
#ifndef HD_PASSES_REGALLOC_REGALLOC_WORK_H
#define HD_PASSES_REGALLOC_REGALLOC_WORK_H

#include "ir/architected.h"
#include "passes/analysis/liveness.h"
#include "passes/regalloc/regalloc.h"

enum { HD_UNIT_WORDS = 4, HD_MANY_FAILED = 16 };

enum {                  /* hd_regalloc.flags */
       HD_NO_SPILL = 1, /* a register that spill code made */
       HD_RELOADED = 2, /* one that it loads and that serves several reads: the load may be repeated instead */
       HD_AT_HOME = 4,  /* one that is written, stored and serves later reads: they may load it instead */
};

typedef struct hd_part {
    uint32_t begin, end;
    uint32_t next; /* in hd_ranges.parts, ascending; HD_NONE ends */
} hd_part;

typedef struct hd_ranges {
    HD_ARRAY(hd_part) parts;
    uint32_t *first;                /* by register: first part, or HD_NONE */
    uint32_t *order;                /* blocks in linear order: reverse post-order, then what is not reachable */
    uint32_t *begin;                /* by block: its first instruction in the linear order */
    uint32_t positions;             /* twice the instructions, and 2 */
    uint32_t *general, *predicates; /* by position: words and predicates live */
    uint32_t general_peak, predicate_peak;
    uint32_t held; /* the most general words live across a call; with `calls` */
    bool calls;
} hd_ranges;

/* A unit is one aligned run of up to four words (or one predicate). */
typedef struct hd_alloc_unit {
    uint32_t word[HD_UNIT_WORDS]; /* first part of each word's ranges, or HD_NONE */
    uint32_t members;             /* first register of the list; hd_units.next_member */
    uint32_t begin;               /* first position where it is live; HD_NONE: nowhere */
    uint32_t place;               /* first general register or the predicate; HD_NONE: none found */
    uint8_t words, align;         /* 0 words: merged into another */
    bool predicate;
    uint16_t limit; /* it must lie below this register; 0: no limit. Those with one get their places first */
} hd_alloc_unit;

typedef struct hd_units {
    hd_alloc_unit *units; /* as many as registers: unit r begins with register r */
    uint32_t *of;         /* by register: its unit */
    uint8_t *offset;      /* by register: its first word there */
    uint32_t *next_member;
} hd_units;

/* A register in flight from one place of a block to another, with no access between but by asynchronous
 * instructions. */
typedef struct hd_pin {
    uint32_t reg;
    /* what it holds is there before `begin`; the first such instruction; the wait that covers the last one */
    uint32_t begin, first, last;
    uint32_t temporary; /* for spill code: the register that stands for it */
    bool reads, writes; /* what it held is read; it is written */
} hd_pin;

typedef struct hd_regalloc {
    hd_pass_context *context;
    hd_function *function;
    hd_arena *arena; /* of one round */
    const hd_cfg *cfg;
    const hd_liveness *liveness;
    /* by register: a bank operand (ir/constant_bank.h), which is live nowhere and gets no place; NULL: none is */
    const bool *bank;
    uint32_t bank_count; /* registers of `bank`; those that are made later are none */
    uint32_t max_registers, max_predicates, banks;
    uint32_t round, slack; /* slack: registers to leave free, because aligned units found no place */
    hd_ranges ranges;
    hd_units units;
    const bool *apart;          /* by register: copies of it stay copies; NULL: of none */
    const bool *may_fail;       /* by unit: go on where only such find no place; NULL: all */
    const bool *collected;      /* by register: it names an operand in memory, and needs no place; NULL: none does */
    uint32_t collected_count;   /* registers that it covers; those that are made later are none */
    HD_ARRAY(uint8_t) flags;    /* by register: HD_NO_SPILL, ... */
    HD_ARRAY(hd_pin) pins;      /* by register and place */
    hd_u32_array home;          /* by register: offset of the slot that holds the same, of those with HD_AT_HOME */
    uint32_t *use_first, *uses; /* by register: ordinals of the instructions that mention it; built on demand */
    uint32_t slot_symbol;       /* of the array of spill slots, or HD_NONE */
    uint32_t slot_bytes;
    hd_u32_array failed; /* registers that got no place */
    hd_function *before; /* a copy, where a change may be taken back; NULL: nothing changed yet */
    bool in_flight;      /* it has asynchronous instructions */
    bool optional;       /* it stays virtual where it does not fit */
    bool many_failed;    /* more than HD_MANY_FAILED in some round */
    uint32_t used, used_predicates;
    hd_regalloc_result result;
} hd_regalloc;

/* Each works on the analyses of this round. */
void hd_regalloc_ranges(hd_regalloc *ra);
/* Units of this round; appends to *conflicts the ordinals of vector accesses whose elements cannot lie side by side. */
void hd_regalloc_units(hd_regalloc *ra, hd_u32_array *conflicts);
/* Replaces the elements of those by registers of their own, with moves. */
void hd_regalloc_split_vectors(hd_regalloc *ra, const hd_u32_array *conflicts);
bool hd_regalloc_assign(hd_regalloc *ra);     /* false: some in ra->failed */
void hd_regalloc_index_uses(hd_regalloc *ra); /* ra->uses, once a round */
/* Registers to spill, so that the pressure fits or what failed finds room; false where there are none. */
bool hd_regalloc_choose(hd_regalloc *ra, hd_u32_array *spilled);
/* ra->pins; registers in flight in other ways get HD_NO_SPILL. */
void hd_regalloc_pins(hd_regalloc *ra);
/* Index of the register's first pin that ends at the instruction or after it, if it has one: else of another's, or
 * their count. */
uint32_t hd_regalloc_pin_from(const hd_regalloc *ra, uint32_t reg, uint32_t ordinal);
void hd_regalloc_spill(hd_regalloc *ra, const hd_u32_array *spilled);
bool hd_regalloc_rename(hd_regalloc *ra); /* false (reported): names are taken */

/* A register of the function with no name of its own yet. */
uint32_t hd_regalloc_new_register(hd_regalloc *ra, hd_type type, uint8_t flags);

/* Whether an access moves its vector as a whole, so that the elements must be consecutive registers: the index of the
 * VECTOR operand, or HD_NONE. */
uint32_t hd_regalloc_vector_of(const hd_function *f, const hd_instruction *insn);

static inline bool hd_regalloc_is_collected(const hd_regalloc *ra, uint32_t reg)
{
    return ra->collected && reg < ra->collected_count && ra->collected[reg];
}
static inline bool hd_regalloc_is_bank(const hd_regalloc *ra, uint32_t reg)
{
    return ra->bank && reg < ra->bank_count && ra->bank[reg];
}
static inline bool hd_regalloc_is_placeless(const hd_regalloc *ra, uint32_t reg)
{
    return hd_regalloc_is_collected(ra, reg) || hd_regalloc_is_bank(ra, reg);
}
static inline uint32_t hd_regalloc_words(const hd_regalloc *ra, uint32_t reg)
{
    return hd_regalloc_is_bank(ra, reg) ? 0 : hd_register_words(ra->function, reg);
}
static inline bool hd_regalloc_is_predicate(const hd_regalloc *ra, uint32_t reg)
{
    return ra->function->registers.items[reg].type == HD_TYPE_PRED;
}

#endif
