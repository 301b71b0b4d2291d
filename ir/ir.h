/* The intermediate representation: one PTX module, close to its text.
 *
 * Shape. A module is a list of statements (directives) in text order. So is a function's body; its instructions are in
 * one array (index = ordinal, counting instruction statements in text order). Basic blocks (ir/cfg.h) are ranges of
 * that array. All operands of a function are in one array in prefix order: an aggregate (vector, address, pair, list)
 * is followed by its `count` elements, so that a pass that needs only registers iterates over the array without
 * recursion.
 *
 * Lossless. Every statement has the span of its text; what no pass changed (HD_INSN_DIRTY unset) is printed from there.
 * Printing from the IR (--canonical) yields the same tokens: literals keep their spelling, and directives that no pass
 * interprets keep their tokens.
 *
 * Memory. Arrays that grow while parsing are heap arrays owned by their function or module; names and forms are shared
 * by the module. About 150 bytes per instruction, including text.
 *
 * Ids. Register ids are dense from 0 per function, assigned at the first mention. Instruction ids are dense per
 * function, kept by rewrites and never reused; `origin` is the instruction's id in the original text.
 */
#ifndef HD_IR_IR_H
#define HD_IR_IR_H

#include "base/diagnostics.h"
#include "base/intern.h"

enum { HD_NONE = 0xffffffffu }; /* no register, block, label, location ... */

typedef enum hd_type {
    HD_TYPE_NONE,
#define HD_TYPE(id, spelling, bits, class, lanes, declarable) HD_TYPE_##id,
#include "ir/types.def"
#undef HD_TYPE
    HD_TYPE_CC, /* the implicit carry register %CC; never spelled */
    /* machine code: uniform registers, which a warp has once; convergence barriers and other state of branches */
    HD_TYPE_UNIFORM,
    HD_TYPE_BARRIER,
    HD_TYPE_COUNT
} hd_type;

typedef enum hd_type_class {
    HD_CLASS_NONE,
    HD_CLASS_PRED,
    HD_CLASS_BITS,
    HD_CLASS_UNSIGNED,
    HD_CLASS_SIGNED,
    HD_CLASS_FLOAT,
    HD_CLASS_OPAQUE,
    HD_CLASS_ODD
} hd_type_class;

typedef struct hd_type_info {
    const char *spelling; /* without the dot */
    uint16_t bits;
    uint8_t class, lanes, declarable;
} hd_type_info;
extern const hd_type_info hd_types[HD_TYPE_COUNT];
hd_type hd_type_from_spelling(const char *text, size_t length); /* HD_TYPE_NONE: unknown */

/* 32-bit registers that a register of this type occupies in the register file: 0 for predicates, %CC, and what a warp
 * has once. */
static inline uint32_t hd_type_words(hd_type type)
{
    return type == HD_TYPE_PRED || type >= HD_TYPE_CC ? 0 : (hd_types[type].bits + 31u) / 32u;
}

typedef enum hd_space {
    HD_SPACE_NONE, /* generic, or no space */
    HD_SPACE_REG,
    HD_SPACE_SREG,
    HD_SPACE_CONST,
    HD_SPACE_GLOBAL,
    HD_SPACE_LOCAL,
    HD_SPACE_PARAM,
    HD_SPACE_SHARED,
    HD_SPACE_TEX,
    HD_SPACE_PARAM_ENTRY,
    HD_SPACE_PARAM_FUNC,
    HD_SPACE_SHARED_CTA,
    HD_SPACE_SHARED_CLUSTER,
    HD_SPACE_COUNT
} hd_space;
extern const char *const hd_space_spellings[HD_SPACE_COUNT]; /* with the dot; "" for NONE */

/* Tokens as spelled: [first, first + count) of module->tokens. */
typedef struct hd_tokens {
    uint32_t first, count;
} hd_tokens;

/* ---- operands ---------------------------------------------------------------------------------------------------- */

typedef enum hd_operand_kind {
    /* value: register id; extra: 0 or an interned spelling: with a leading dot a selector (video .b0/.h1/.h10, vector
     * .x as spelled), else the whole name where it is spelled unusually (r01 for r1) */
    HD_OPERAND_REGISTER,
    HD_OPERAND_LITERAL, /* value: index in module->literals */
    /* value: index in module->symbols (variable, parameter, function); `count` 1: a LITERAL offset follows */
    HD_OPERAND_SYMBOL,
    HD_OPERAND_SREG,  /* value: special register (ir/sregs.def); extra: component 0-3, or HD_NONE for all / none */
    HD_OPERAND_LABEL, /* value: label id of the function */
    HD_OPERAND_TABLE, /* value: table id of the function (.branchtargets, .calltargets, .callprototype) */
    HD_OPERAND_SINK,  /* _ */
    HD_OPERAND_NAME,  /* any other name (operands of unknown opcodes); value: hd_name */
    /* {a,b,..}: `count` elements follow; HD_OPERAND_WHOLE: one vector register, its components follow */
    HD_OPERAND_VECTOR,
    HD_OPERAND_ADDRESS, /* [base], [base+offset], [tex, {..}] ...: `count` top-level elements follow */
    HD_OPERAND_PAIR,    /* p|q: two elements follow */
    HD_OPERAND_LIST,    /* (a, b) of a call: `count` elements follow */
} hd_operand_kind;

enum {                     /* hd_operand.flags */
       HD_OPERAND_DEF = 1, /* REGISTER: written by the instruction */
       /* REGISTER: read by the instruction (address bases, stored values, merge sources); both: DEF | USE */
       HD_OPERAND_USE = 2,
       HD_OPERAND_NOT = 4,        /* spelled with a leading ! */
       HD_OPERAND_MINUS = 8,      /* spelled with a leading - (vmad) */
       HD_OPERAND_OFFSET = 16,    /* REGISTER or LITERAL base inside an address, or a REGISTER that is a source operand:
                                 * a LITERAL offset follows (`count` 1) */
       HD_OPERAND_BARE = 32,      /* ADDRESS spelled as a subscript: s[3]; two elements: the symbol, the index */
       HD_OPERAND_WHOLE = 64,     /* VECTOR: spelled as the name of a vector register */
       HD_OPERAND_IMPLICIT = 128, /* REGISTER: %CC, never printed; follows all others */
};

typedef struct hd_operand {
    uint8_t kind, flags;
    uint16_t count; /* direct children that follow (their own children between them) */
    uint32_t begin; /* offset of the first character in the text; HD_NONE if a pass created it */
    uint32_t value;
    uint32_t extra;
} hd_operand;
_Static_assert(sizeof(hd_operand) == 16, "operands are small values");

typedef enum hd_literal_kind {
    HD_LITERAL_SIGNED,
    HD_LITERAL_UNSIGNED,
    HD_LITERAL_F32_BITS,
    HD_LITERAL_F64_BITS,
    HD_LITERAL_DECIMAL
} hd_literal_kind;

/* A constant or constant expression, evaluated; interned by spelling. bits: s64/u64; raw f32 bits (0f..); double bits
 * (0d.., 1.5). A literal created by a pass has no tokens and is printed from its bits. */
typedef struct hd_literal {
    uint64_t bits;
    hd_tokens tokens;
    uint8_t kind;
} hd_literal;

/* ---- instructions ------------------------------------------------------------------------------------------------ */

enum {                        /* hd_instruction.flags */
       HD_INSN_GUARD_NOT = 1, /* @!p */
       HD_INSN_DIRTY = 2,     /* changed by a pass: printed from the IR */
       HD_INSN_OPAQUE = 4,    /* unknown opcode or modifier: reads and writes all registers; no code motion across it */
       HD_INSN_FRESH = 8,     /* created by a pass: has no text */
       /* machine code: an operand that is a predicate decides whether a branch or exit is taken */
       HD_INSN_CONDITIONAL = 16,
};

typedef struct hd_instruction {
    uint32_t id, origin;
    hd_span span;           /* from the guard to after the ; */
    uint32_t form;          /* index in module->forms: the decoded opcode.modifiers */
    uint32_t operand_first; /* in function->operands */
    uint16_t operand_count; /* flat, including elements */
    uint16_t flags;
    uint32_t guard;    /* register id or HD_NONE */
    uint32_t location; /* index in module->locations or HD_NONE */
} hd_instruction;

/* ---- functions --------------------------------------------------------------------------------------------------- */

typedef struct hd_register {
    hd_name name;         /* as declared: the full name, or the stem of a range */
    uint32_t index;       /* index in its range; HD_NONE: not a member of a range */
    uint32_t declaration; /* index in function->declarations */
    uint8_t type;         /* hd_type, of one component */
    uint8_t component;    /* of a vector register: 0..3 */
    uint8_t vector;       /* 1, 2 or 4 */
    uint8_t flags;
} hd_register;
enum { HD_REGISTER_UNIFORM = 1 }; /* hd_register.flags: a warp has it once */

/* One declared register name: `r`, or the range `r<100>`, whatever its size. */
typedef struct hd_declaration {
    hd_name name;
    uint32_t count; /* of a range; HD_NONE for a plain name */
    uint8_t type, vector;
    uint16_t depth;         /* scope depth, 0 = module, 1 = function body (and register parameters) */
    hd_tokens count_tokens; /* how the range's count was spelled */
    hd_span span;
} hd_declaration;

typedef struct hd_label {
    hd_name name;
    uint32_t instruction; /* ordinal of the next instruction; the instruction count at the end */
    hd_span span;         /* of its definition */
} hd_label;

typedef enum hd_table_kind { HD_TABLE_BRANCH_TARGETS, HD_TABLE_CALL_TARGETS, HD_TABLE_CALL_PROTOTYPE } hd_table_kind;
typedef struct hd_table {
    uint8_t kind;
    hd_name name;
    uint32_t first, count;                  /* in function->table_entries: label ids, or symbol ids of functions */
    uint16_t result_count, parameter_count; /* of a prototype */
    bool no_return;
    hd_tokens tokens; /* all of it, from the label to the ; */
    hd_span span;
} hd_table;

typedef enum hd_statement_kind {
    /* in a body */
    HD_STATEMENT_INSTRUCTION, /* index: ordinal */
    HD_STATEMENT_LABEL,       /* index: label */
    HD_STATEMENT_SCOPE_OPEN,
    HD_STATEMENT_SCOPE_CLOSE,
    HD_STATEMENT_LOCATION, /* .loc; index: module->locations */
    HD_STATEMENT_TABLE,    /* index: function->tables */
    /* in both */
    HD_STATEMENT_REGISTERS, /* .reg ...; index: declaration group */
    HD_STATEMENT_VARIABLES, /* .global ... ; index: module->variable_groups */
    /* .version .target .address_size .file .section .pragma .alias ...; index: module->verbatims */
    HD_STATEMENT_VERBATIM,
    /* in a module */
    HD_STATEMENT_FUNCTION, /* index: module->functions */
} hd_statement_kind;

typedef struct hd_statement {
    uint32_t kind, index;
    hd_span span;
} hd_statement;

/* .reg .v4 .b32 a, b<4>;  or  .global .align 4 .b8 x[4] = {..}, y; : the qualifiers as spelled, then declarators. */
typedef struct hd_group {
    hd_tokens qualifiers;  /* from the first token up to the first declarator */
    uint32_t first, count; /* REGISTERS: function->declarations; VARIABLES: module->symbols */
} hd_group;

typedef struct hd_annotation { /* ir/annotations.h */
    uint16_t kind, slot;
    uint32_t instruction; /* ordinal; HD_NONE: function-wide */
    uint32_t value;       /* a number, or index of the first of `count` words in function->annotation_words */
    uint32_t count;       /* 0: a plain number, or an empty list */
} hd_annotation;

/* An annotation of a kind unknown to this version, kept as written. */
typedef struct hd_foreign_annotation {
    uint16_t kind;        /* record kind in the section; 0: a comment */
    uint32_t instruction; /* for a comment: ordinal, or HD_NONE if function-wide */
    uint32_t length;
    const char *bytes; /* the record's payload, or the comment's text; in the module's arena */
} hd_foreign_annotation;

typedef enum hd_linkage {
    HD_LINKAGE_NONE,
    HD_LINKAGE_EXTERN,
    HD_LINKAGE_VISIBLE,
    HD_LINKAGE_WEAK,
    HD_LINKAGE_COMMON
} hd_linkage;

typedef struct hd_cfg hd_cfg; /* ir/cfg.h */
struct hd_machine_function;   /* ir/machine.h */

typedef struct hd_function {
    struct hd_module *module;
    hd_name name;
    uint32_t index;  /* in module->functions */
    uint32_t symbol; /* in module->symbols */
    bool is_entry, has_body, no_return;
    bool is_open_prototype; /* a prototype whose text has no semicolon */
    uint8_t linkage;
    uint32_t parameter_first, parameter_count;          /* module->symbols with kind PARAMETER */
    uint32_t result_first, result_count;                /* module->symbols with kind RESULT */
    hd_u32_array register_parameters, register_results; /* .reg parameters: register ids; live in / live out */
    /* by register parameter: number of variables before it in the parameter list (hd_formals) */
    hd_u32_array variables_before;
    uint32_t max_threads[3], required_threads[3]; /* .maxntid, .reqntid; 0 = not given */
    uint32_t cluster_ctas[3];                     /* .reqnctapercluster; 0 = not given */
    uint32_t min_ctas, max_registers;             /* .minnctapersm, .maxnreg; 0 = not given */
    hd_tokens header;                             /* all tokens up to the { or ; */
    hd_span header_span, body;                    /* body: from { to after } */
    HD_ARRAY(hd_statement) statements;
    HD_ARRAY(hd_instruction) instructions;
    HD_ARRAY(hd_operand) operands;
    HD_ARRAY(hd_register) registers;
    HD_ARRAY(hd_declaration) declarations;
    HD_ARRAY(hd_group) register_groups;
    HD_ARRAY(hd_label) labels;
    HD_ARRAY(hd_table) tables;
    hd_u32_array table_entries;
    HD_ARRAY(hd_annotation) annotations; /* sorted by (instruction, kind, slot); function-wide ones last */
    hd_u32_array annotation_words;
    /* comments by instruction, function-wide ones last; then records */
    HD_ARRAY(hd_foreign_annotation) foreign_annotations;
    /* the parts of the text that are annotations (comments with the blank before, modifiers, .heddle), ascending */
    HD_ARRAY(hd_span) annotation_texts;
    bool annotations_changed; /* they differ from the text; set by hd_annotate and hd_annotations_remove */
    uint32_t next_instruction_id;
    uint32_t carry_register;                   /* register id of %CC or HD_NONE */
    hd_cfg *cfg;                               /* NULL until hd_function_cfg(); owned */
    bool changed;                              /* an instruction was added, removed or is dirty */
    const struct hd_machine_function *machine; /* machine code; NULL: PTX; in the module's arena */
} hd_function;

/* ---- module ------------------------------------------------------------------------------------------------------ */

typedef enum hd_symbol_kind {
    HD_SYMBOL_VARIABLE,
    HD_SYMBOL_FUNCTION,
    HD_SYMBOL_PARAMETER,
    HD_SYMBOL_RESULT
} hd_symbol_kind;

#define HD_SIZE_LIMIT (1ull << 48)
typedef struct hd_symbol {
    hd_name name;
    uint8_t kind, space, type, linkage;
    uint8_t vector;        /* 1, 2, 4, 8 */
    uint8_t pointer_space; /* .ptr parameters */
    bool is_pointer, is_unsized;
    uint32_t align; /* bytes; the natural alignment if not given */
    /* FUNCTION: module->functions; PARAMETER, RESULT, variables in a body: its function; else HD_NONE */
    uint32_t function;
    uint32_t dimension_first, dimension_count;     /* module->dimensions; 0 = [] */
    uint32_t initializer_first, initializer_count; /* module->initializers */
    uint64_t size_bytes;                           /* at most HD_SIZE_LIMIT, which also counts for what is larger */
    hd_tokens declarator;                          /* its name, dimensions and initializer as spelled */
    hd_span span;                                  /* of the name */
} hd_symbol;

typedef enum hd_initializer_kind { HD_INIT_LITERAL, HD_INIT_ADDRESS, HD_INIT_OPEN, HD_INIT_CLOSE } hd_initializer_kind;
typedef struct hd_initializer {
    uint8_t kind, literal_kind; /* literal_kind: hd_literal_kind */
    bool is_generic;            /* generic(x) */
    uint8_t mask_shift;         /* 0xff00(x): bits to shift right, with mask 0xff; HD_NO_MASK: whole */
    uint32_t symbol;            /* ADDRESS */
    uint64_t bits;              /* LITERAL: value; ADDRESS: addend */
} hd_initializer;
enum { HD_NO_MASK = 0xff };

typedef struct hd_location { /* .loc */
    uint32_t file, line, column;
    hd_name function_name; /* label in .debug_str, 0 = none */
    uint32_t function_offset;
    uint32_t inlined_file, inlined_line, inlined_column; /* 0,0,0 = not inlined */
    hd_tokens tokens; /* as spelled; none if the numbers are complete: .loc FILE LINE COLUMN */
} hd_location;

typedef struct hd_file { /* .file N "name" */
    uint32_t number;
    hd_name name; /* without the quotes */
} hd_file;

typedef enum hd_verbatim_kind {
    HD_VERBATIM_VERSION,
    HD_VERBATIM_TARGET,
    HD_VERBATIM_ADDRESS_SIZE,
    HD_VERBATIM_FILE,
    HD_VERBATIM_SECTION,
    HD_VERBATIM_PRAGMA,
    HD_VERBATIM_ALIAS,
    HD_VERBATIM_OTHER
} hd_verbatim_kind;
typedef struct hd_verbatim {
    uint8_t kind;
    hd_name name;     /* a section's name, with its dot */
    hd_tokens tokens; /* all of it */
} hd_verbatim;

struct hd_form; /* ir/form.h */

typedef struct hd_module {
    hd_arena arena;
    /* the text: owned, except by a copy; the struct belongs to the caller and outlives the module */
    hd_source *source;
    hd_diagnostics *diagnostics; /* borrowed */
    hd_names names;
    uint32_t version_major, version_minor; /* .version */
    hd_name target;                        /* first word of .target, "sm_80"; HD_NO_NAME if missing */
    uint32_t target_number;                /* 80; 0: unknown */
    uint32_t address_bits;                 /* 32 or 64 (64 where not declared) */
    bool low_memory; /* all memory lies below 4 GB: addresses may have 32 bits, whatever address_bits is */
    HD_ARRAY(hd_statement) statements;
    HD_ARRAY(hd_function *) functions;
    HD_ARRAY(hd_symbol) symbols;
    HD_ARRAY(hd_group) variable_groups;
    HD_ARRAY(uint64_t) dimensions;
    HD_ARRAY(hd_initializer) initializers;
    HD_ARRAY(hd_literal) literals;
    HD_ARRAY(hd_location) locations;
    HD_ARRAY(hd_file) files;
    HD_ARRAY(hd_verbatim) verbatims;
    HD_ARRAY(hd_name) tokens; /* spellings, shared by all hd_tokens */
    HD_ARRAY(struct hd_form) forms;
    hd_u32_array form_of_name; /* by hd_name of the spelling: form + 1; 0 = not decoded */
    /* by hd_name: hd_module_function() + 1; 0: none. Names created after indexing have no entry */
    hd_u32_array function_of_name;
    /* functions and module-scope variables whose names begin with %, as those of registers do */
    hd_u32_array percent_symbols;
    hd_function *globals; /* a function without body that owns module-scope .reg declarations (old PTX) */
    bool strict;          /* unknown opcodes and modifiers are errors */
    bool one_of_several;  /* inputs: what --kernel selects may be in another one */
    bool is_machine;      /* a listing of machine code (SASS), not PTX */
    bool is_json;         /* the listing is in JSON: an instruction's text is an object */
    const struct hd_machine_image *images; /* of machine code: the cubins in the listing (ir/machine_image.h) */
    uint32_t image_count;
    uint32_t given_registers; /* of machine code: per thread, as the user says; 0: nothing is said */
    bool extended;            /* the text contains annotations in the extended spelling */
    bool is_copy;             /* created by hd_module_copy() */
    /* some source operand outside an address is register + constant (passes/clean/offsets.h) */
    bool has_offset_operands;
} hd_module;

/* Where the text of a body begins: after its brace or first line. */
static inline uint32_t hd_body_text(const hd_function *f) { return f->body.begin ? f->body.begin + 1 : 0; }

hd_module *hd_module_new(hd_source *source, hd_diagnostics *diagnostics); /* takes ownership of the source */
void hd_module_free(hd_module *module);
/* An independent module without CFGs that shares immutable data with `from`: the source, name texts, signatures. `from`
 * must outlive it; both can be used concurrently. */
hd_module *hd_module_copy(const hd_module *from, hd_diagnostics *diagnostics);
hd_function *hd_function_new(hd_module *module, hd_name name); /* appended to module->functions */
/* An unlisted copy with the same symbols, literals and forms, without CFG. A pass may try a change and undo it with
 * hd_function_restore, which consumes the copy; what passes added to the module in between stays there, unused. */
hd_function *hd_function_copy(const hd_function *function);
void hd_function_copy_free(hd_function *copy); /* NULL is allowed */
void hd_function_restore(hd_function *function, hd_function *copy);
/* module->globals, created on demand */
hd_function *hd_module_globals(hd_module *module);
/* builds function_of_name and percent_symbols; call it when all functions and symbols exist */
void hd_module_index(hd_module *module);
/* the one with a body if there are several; NULL: none */
hd_function *hd_module_function(const hd_module *module, hd_name name);
hd_function *hd_module_find_function(const hd_module *module, const char *name);

/* The results or parameters of a function, in the order of its header. */
typedef struct hd_formal {
    uint32_t symbol; /* a variable; HD_NONE: a register */
    /* range in register_results or register_parameters: a register, or the components of a vector */
    uint32_t first, components;
} hd_formal;
typedef struct hd_formals {
    const hd_function *function;
    bool results;
    uint32_t variables, registers; /* consumed so far */
} hd_formals;
bool hd_formals_next(hd_formals *walk, hd_formal *formal); /* hd_formals walk = {function, results}; */
uint32_t hd_formals_count(const hd_function *function, bool results);

/* Whether --kernel=GLOB (fnmatch(3); NULL: all) selects this function: it has a body and a matching name. */
bool hd_function_selected(const hd_function *function, const char *glob);
uint32_t hd_module_count_selected(const hd_module *module, const char *glob);
/* Reports unknown-kernel and returns false if the glob selects no function of the module, unless the module is one of
 * several inputs. */
bool hd_module_check_selection(const hd_module *module, const char *glob, hd_diagnostics *diagnostics);

/* The operands of an instruction, flat. */
static inline const hd_operand *hd_insn_operands(const hd_function *f, const hd_instruction *i)
{
    return f->operands.items + i->operand_first;
}

/* Prefetches the operands of an instruction, for loops that read only some operands, or not in ascending order, in
 * functions larger than the caches. Any number is a valid argument. (Forced inline: gcc 12 treats a function that only
 * prefetches as free of effects and drops the call.) */
enum { HD_PREFETCH_AHEAD = 24 }; /* instructions: covers memory latency, and fits the first-level cache */
static inline __attribute__((always_inline)) void hd_insn_prefetch(const hd_function *f, uint32_t i)
{
    if (i < f->instructions.count)
        __builtin_prefetch(hd_insn_operands(f, &f->instructions.items[i]));
}

/* The selector after a REGISTER operand (".b0", ".x"), or HD_NO_NAME. */
hd_name hd_operand_selector(const hd_function *function, const hd_operand *operand);

/* Number of array elements of an operand with its children (1 for a scalar). */
uint32_t hd_operand_extent(const hd_operand *operand);

/* for (const hd_operand *o in all REGISTER operands of insn, flat); the guard is not included */
#define HD_INSN_REGISTERS(function, insn, o)                                                               \
    for (const hd_operand *o = hd_insn_operands((function), (insn)), *o##_end = o + (insn)->operand_count; \
         o < o##_end; o++)                                                                                 \
        if (o->kind == HD_OPERAND_REGISTER)

/* 32-bit words that a register occupies in the register file; 0 for predicates. */
static inline uint32_t hd_register_words(const hd_function *f, uint32_t r)
{
    return hd_type_words((hd_type)f->registers.items[r].type);
}

/* Writes a register's name to a buffer of `size` bytes, truncated if it is longer; returns the length. */
size_t hd_register_spell(const hd_function *function, uint32_t reg, char *buffer, size_t size);

uint32_t hd_module_literal(hd_module *module, uint64_t bits, hd_literal_kind kind); /* creates a literal */

#endif
