/* Shared declarations of register allocation. Private to passes/regalloc/regalloc*.c, and to
 * passes/technique/regmutex*.c, which allocates again.
 *
 *   regalloc.c         the pass: options, rounds, the result
 *   regalloc_ranges.c  live ranges, as parts of the linear order of instructions; pressure
 *   regalloc_units.c   units: registers that must or should be adjacent (vectors, pairs) or in one register (copies)
 *   regalloc_assign.c  assignment of registers to units
 *   regalloc_choose.c  selection of registers to spill
 *   regalloc_spill.c   spill code and rematerialization
 *   regalloc_async.c   registers in flight, which spill code must not access
 *   regalloc_vectors.c moves for vectors whose elements cannot be adjacent
 *   regalloc_rename.c  the physical names
 *   regalloc_frames.c  frames of callees above those of their callers
 *
 * Positions: instruction k of the linear order reads at 2k and writes at 2k + 1. A live range consists of parts [begin,
 * end): from after a definition to the last read, so that a result may reuse the register of an operand that ends
 * there.
 */
#ifndef HD_PASSES_REGALLOC_REGALLOC_WORK_H
#define HD_PASSES_REGALLOC_REGALLOC_WORK_H

#include "ir/architected.h"
#include "passes/analysis/liveness.h"
#include "passes/regalloc/regalloc.h"

enum { HD_UNIT_WORDS = 4, HD_MANY_FAILED = 16 };

enum {                  /* hd_regalloc.flags */
       HD_NO_SPILL = 1, /* created by spill code */
       HD_RELOADED = 2, /* loaded by spill code and serves several reads: the load may be repeated instead */
       HD_AT_HOME = 4,  /* written, stored, and serves later reads: they may load it instead */
};

typedef struct hd_ra_part {
    uint32_t begin, end;
    uint32_t next; /* index in hd_ra_ranges.parts, ascending; HD_NONE: last */
} hd_ra_part;

typedef struct hd_ra_ranges {
    HD_ARRAY(hd_ra_part) parts;
    uint32_t *first;                /* by register: first part, or HD_NONE */
    uint32_t *order;                /* blocks in linear order: reverse post-order, then unreachable ones */
    uint32_t *begin;                /* by block: its first instruction in the linear order */
    uint32_t positions;             /* twice the number of instructions, plus 2 */
    uint32_t *general, *predicates; /* by position: live words and predicates */
    uint32_t general_peak, predicate_peak;
    uint32_t held; /* maximum number of general words live across a call; with `calls` */
    bool calls;
} hd_ra_ranges;

/* A unit is an aligned run of up to four words (or one predicate). */
typedef struct hd_ra_unit {
    uint32_t word[HD_UNIT_WORDS]; /* first part of each word's ranges, or HD_NONE */
    uint32_t members;             /* first register of the list; hd_ra_units.next_member */
    uint32_t begin;               /* start of its live range; HD_NONE: never live */
    uint32_t number;              /* first general register or the predicate; HD_NONE: unassigned */
    uint8_t words, align;         /* 0 words: merged into another unit */
    bool predicate;
    uint16_t limit; /* it must be below this register; 0: no limit. Units with a limit are assigned first */
} hd_ra_unit;

typedef struct hd_ra_units {
    hd_ra_unit *units; /* one per register: unit r begins with register r */
    uint32_t *of;      /* by register: its unit */
    uint8_t *offset;   /* by register: index of its first word in the unit */
    uint32_t *next_member;
} hd_ra_units;

/* A span of a block in which a register is in flight, with no other access than by asynchronous instructions. */
typedef struct hd_ra_pin {
    uint32_t reg;
    /* its value must be there before `begin`; the first such instruction; the wait that covers the last one */
    uint32_t begin, first, last;
    uint32_t temporary; /* for spill code: the register that replaces it */
    bool reads, writes; /* its old value is read; it is written */
} hd_ra_pin;

typedef struct hd_regalloc {
    hd_pass_context *context;
    hd_function *function;
    hd_arena *arena; /* of one round */
    const hd_cfg *cfg;
    const hd_liveness *liveness;
    /* by register: a bank operand (ir/constant_bank.h), which is never live and gets no register; NULL: none */
    const bool *bank;
    uint32_t bank_count; /* size of `bank`; later registers are not bank operands */
    uint32_t max_registers, max_predicates, banks;
    uint32_t round, slack; /* slack: registers to leave free, because aligned units found no room */
    hd_ra_ranges ranges;
    hd_ra_units units;
    const bool *apart;          /* by register: its copies are not coalesced; NULL: none */
    const bool *may_fail;       /* by unit: allocation goes on if only such units fail; NULL: all */
    const bool *collected;      /* by register: it names a memory operand, and needs no register; NULL: none */
    uint32_t collected_count;   /* size of `collected`; later registers are not memory operands */
    HD_ARRAY(uint8_t) flags;    /* by register: HD_NO_SPILL, ... */
    HD_ARRAY(hd_ra_pin) pins;   /* sorted by register and position */
    hd_u32_array home;          /* by register with HD_AT_HOME: offset of the slot that holds the same value */
    uint32_t *use_first, *uses; /* by register: ordinals of the instructions that mention it; built on demand */
    uint32_t slot_symbol;       /* of the array of spill slots, or HD_NONE */
    uint32_t slot_bytes;
    hd_u32_array failed; /* registers that were not assigned */
    hd_function *before; /* a copy for undo, if that may be needed; NULL: nothing changed yet */
    bool in_flight;      /* it has asynchronous instructions */
    bool optional;       /* stays virtual if it does not fit */
    bool many_failed;    /* more than HD_MANY_FAILED in some round */
    uint32_t used, used_predicates;
    hd_regalloc_result result;
} hd_regalloc;

/* All work on the analyses of the current round. */
void hd_regalloc_ranges(hd_regalloc *ra);
/* The units of this round; appends to *conflicts the ordinals of vector accesses whose elements cannot be adjacent. */
void hd_regalloc_units(hd_regalloc *ra, hd_u32_array *conflicts);
/* Replaces the elements of those by new registers, with moves. */
void hd_regalloc_split_vectors(hd_regalloc *ra, const hd_u32_array *conflicts);
bool hd_regalloc_assign(hd_regalloc *ra);     /* false: some failed, see ra->failed */
void hd_regalloc_index_uses(hd_regalloc *ra); /* builds ra->uses, once per round */
/* Selects registers to spill, so that the pressure fits or failed units find room; false if there are none. */
bool hd_regalloc_choose(hd_regalloc *ra, hd_u32_array *spilled);
/* Computes ra->pins; registers in flight in other ways get HD_NO_SPILL. */
void hd_regalloc_pins(hd_regalloc *ra);
/* Index of the register's first pin that ends at or after the instruction; if there is none, that of another
 * register's, or their number. */
uint32_t hd_regalloc_pin_from(const hd_regalloc *ra, uint32_t reg, uint32_t ordinal);
void hd_regalloc_spill(hd_regalloc *ra, const hd_u32_array *spilled);
bool hd_regalloc_rename(hd_regalloc *ra); /* false (reported): names are in use */

/* A new register of the function, without a name yet. */
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
static inline bool hd_regalloc_needs_no_register(const hd_regalloc *ra, uint32_t reg)
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
