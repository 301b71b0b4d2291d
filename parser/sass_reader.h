/* The reader of machine-code listings: called by the grammar's actions (parser/sass.y) to build the IR of
 * ir/machine.h. Private to parser/.
 *
 * Files, from the ground up: sass_names.c names and labels; sass_flow.c, at the end of a function, targets of branches,
 * calls and returns, and where lanes meet; sass_function.c functions; sass_operand.c instructions and their operands;
 * sass_reader.c tokens and lines. sass.c runs the grammar.
 *
 * Registers and labels are found by arrays indexed by number and by name, so that each mention takes constant time.
 * Numbers as branch targets (cuobjdump) are addresses: the instruction there is found by binary search.
 */
#ifndef HD_PARSER_SASS_READER_H
#define HD_PARSER_SASS_READER_H

#include "ir/machine.h"
#include "lexer/sass.h"
#include "parser/parse.h"

enum { HD_SASS_LINE_TOKENS = 512 }; /* most tokens of a line */

typedef struct hd_sass_reference { /* an operand that names a label */
    uint32_t operand;              /* in function->operands */
    hd_name name;
    uint32_t begin, end;
} hd_sass_reference;

typedef struct hd_sass_jump { /* an instruction whose targets are known at the end of the function */
    uint32_t instruction;
    uint32_t operand; /* the label or address: in function->operands; HD_NONE */
    uint32_t table;   /* HD_NONE */
    uint8_t control;  /* hd_sass_control */
    uint32_t number;  /* a target that is an address; HD_NONE */
    uint32_t named;   /* offset of a target that is a name; HD_NONE */
    hd_name note;     /* a target in a note; HD_NO_NAME */
    bool is_local;    /* a call of code in the function: at `number`, or by register with a table */
} hd_sass_jump;

typedef struct hd_sass_usage_row { /* what cuobjdump says of a function before its code */
    hd_name name;
    uint32_t registers; /* per thread; 0: not read so far */
} hd_sass_usage_row;

typedef struct hd_sass_reader {
    hd_module *module;
    hd_sass_lexer lexer;
    hd_sass_token tokens[HD_SASS_LINE_TOKENS];
    uint32_t token_count, last_begin, last_end;
    bool stopped, too_long;

    hd_function *function; /* NULL: outside */
    hd_machine_function *machine;
    bool by_label;    /* no header begins a function so far: labels do (Compiler Explorer) */
    bool header_seen; /* some header did */
    uint32_t sm;      /* of the lines that follow; 0: unknown */
    uint64_t base;    /* where the function is in memory; 0: unknown */
    uint32_t function_stamp;
    bool lost_target; /* a branch of the function to a label that JSON does not define was reported */
    uint32_t register_ids[HD_SASS_CLASS_COUNT][256]; /* of the function; HD_NONE: not mentioned */
    hd_u32_array label_of_name;                      /* by name: label of the function; valid where the stamp fits */
    hd_u32_array label_stamp;
    HD_ARRAY(hd_sass_reference) references;
    HD_ARRAY(hd_sass_jump) jumps;
    HD_ARRAY(hd_machine_line) lines;
    HD_ARRAY(uint8_t) reuse;
    HD_ARRAY(hd_sass_usage_row) usages;

    /* the line being read */
    uint32_t address, control;
    uint8_t descriptor; /* sm_8x: the pair of uniform registers loaded last with the global descriptor; 0xff: none */
    uint32_t group;     /* offset of the control word of this and the next instructions; HD_NONE */
    bool has_code;      /* the last instruction has its code word */
    uint32_t location;
    bool location_is_fresh; /* no instruction follows it yet */

    /* the instruction being read */
    bool in_instruction;
    hd_sass_token opcode, guard;
    bool has_guard, broken;
    hd_sass_operands operands;
    uint32_t bracket;     /* of the operand being read: 0 before the first */
    uint32_t bracket_end; /* end of the last closing one */
    uint32_t statement_end;
    hd_name note;
} hd_sass_reader;

#define hd_sass_error_at(b, kind, span, ...) \
    hd_report((b)->module->diagnostics, HD_DIAG_##kind, (b)->module->source, (span), __VA_ARGS__)

int hd_sass_parse(hd_sass_reader *b);
uint32_t hd_sass_reader_token(hd_sass_reader *b, uint32_t *value);
void hd_sass_reader_exhausted(hd_sass_reader *b, const char *message);
void hd_sass_syntax_error(hd_sass_reader *b, const uint32_t *expected, uint32_t count);

/* ---- sass_reader.c ----------------------------------------------------------------------------------------------- */
void hd_sass_line_end(hd_sass_reader *b);
void hd_sass_architecture(hd_sass_reader *b, const hd_sass_token *token);
void hd_sass_usage(hd_sass_reader *b, const hd_sass_token *token);
void hd_sass_registers(hd_sass_reader *b, const hd_sass_token *token);
void hd_sass_address(hd_sass_reader *b, const hd_sass_token *token);
void hd_sass_location(hd_sass_reader *b, const hd_sass_token *token);
void hd_sass_node(hd_sass_reader *b, const hd_sass_token *token);
void hd_sass_heddle(hd_sass_reader *b, const hd_sass_token *token);
void hd_sass_label(hd_sass_reader *b, const hd_sass_token *token);
void hd_sass_code(hd_sass_reader *b, const hd_sass_token *token);

/* ---- sass_names.c ------------------------------------------------------------------------------------------------ */
hd_name hd_sass_name(hd_sass_reader *b, uint32_t begin, uint32_t end); /* without the backslashes of a graph */
uint32_t hd_sass_label_find(const hd_sass_reader *b, hd_name name);    /* HD_NONE: the function has none so far */
uint32_t hd_sass_label_new(hd_sass_reader *b, hd_name name, uint32_t instruction, hd_span span);

/* ---- sass_function.c --------------------------------------------------------------------------------------------- */
/* Adds a function to the module, and makes it the open one; header: where it is named, body: where its code begins. */
void hd_sass_function_begin(hd_sass_reader *b, hd_name name, hd_span header, uint32_t body);
/* Begins a function without a name where none is open. `first`: the first token of an instruction, in b->tokens. */
void hd_sass_need_function(hd_sass_reader *b, const hd_sass_token *first);
void hd_sass_function_start(hd_sass_reader *b, const hd_sass_token *token, bool header);
void hd_sass_function_stop(hd_sass_reader *b, uint32_t end);
void hd_sass_other_section(hd_sass_reader *b, const hd_sass_token *token);

/* ---- sass_operand.c ---------------------------------------------------------------------------------------------- */
void hd_sass_instruction_start(hd_sass_reader *b, const hd_sass_token *opcode, const hd_sass_token *guard);
void hd_sass_operand_register(hd_sass_reader *b, const hd_sass_token *token);
void hd_sass_operand_plain(hd_sass_reader *b, const hd_sass_token *token, hd_sass_kind kind);
void hd_sass_operand_word(hd_sass_reader *b, const hd_sass_token *token);
void hd_sass_operand_open(hd_sass_reader *b, const hd_sass_token *token, const hd_sass_token *space);
void hd_sass_inner(hd_sass_reader *b, const hd_sass_token *token);
void hd_sass_operand_close(hd_sass_reader *b);
void hd_sass_note(hd_sass_reader *b, const hd_sass_token *token);
void hd_sass_statement_end(hd_sass_reader *b, const hd_sass_token *semicolon);
void hd_sass_instruction_end(hd_sass_reader *b);

/* ---- machine_image.c --------------------------------------------------------------------------------------------- */
/* Sets the images of the module, and the layouts of its functions. */
void hd_sass_read_images(hd_module *module);

/* ---- sass_flow.c ------------------------------------------------------------------------------------------------- */
void hd_sass_resolve_flow(hd_sass_reader *b);

#endif
