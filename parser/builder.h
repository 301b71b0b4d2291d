/* The builder: called by the grammar's actions to create the IR. Private to parser/.
 *
 * Names. `uses` is a side array of the name table: the current meaning of each name. Scopes keep an undo log. Members
 * of register ranges have no entry: the stem's entry refers to the range, and a small radix tree of the range maps to
 * the register, created at the first mention. A mention takes constant time, independent of the number of declared
 * registers.
 *
 * Labels. A reference is kept in `references`, chained by name, until its scope can no longer define that label: a
 * label defined later in an inner scope takes precedence over one of an outer scope.
 *
 * Files: builder.c statements and functions; scope.c names and scopes; labels.c; operand.c; expression.c constants;
 * declare.c declarations; initializer.c; header.c function headers; directive.c; recover.c scanner interface and syntax
 * errors.
 */
#ifndef HD_PARSER_BUILDER_H
#define HD_PARSER_BUILDER_H

#include "ir/form.h"
#include "lexer/lexer.h"
#include "parser/parse.h"

enum { HD_NESTING_LIMIT = 1024, HD_RANGE_FANOUT_BITS = 8 };

/* ---- semantic values --------------------------------------------------------------------------------------------- */

/* token.kind of an expression's value: NAME, DOTTED, INTEGER, FLOAT, WARP_SZ, SINK are the token itself, else: */
enum {
    HD_NODE_CONSTANT = HD_TOKEN_COUNT, /* constant: index in b->constants */
    HD_NODE_SUM,                       /* name + constant; the name's token ends at b->constants[constant].name_end */
    /* name[..]; constant: index in b->pairs: the name and the expression in brackets */
    HD_NODE_SUBSCRIPT,
    HD_NODE_PAIR,    /* a|b; constant: index in b->pairs */
    HD_NODE_GENERIC, /* generic(name); token.name: the full name; constant: index in b->constants or HD_NONE: addend */
    /* 0xff00(address); constant: index in b->pairs: the mask, and name, name + constant or generic(name) */
    HD_NODE_MASK,
    HD_NODE_BAD, /* an error that was reported */
    HD_NODE_COUNT
};
enum { HD_NODE_NOT = 1, HD_NODE_MINUS = 2, HD_NODE_PAREN = 4, HD_NODE_DOTTED = 8 };

typedef struct hd_node {
    hd_token token;
    uint32_t constant;
    uint32_t flags; /* HD_NODE_NOT ... */
} hd_node;

typedef struct hd_constant {
    uint64_t bits;
    uint8_t kind;        /* hd_literal_kind */
    uint32_t begin, end; /* its text */
    uint32_t name_end;   /* of the name in a sum */
} hd_constant;

typedef struct hd_node_pair {
    hd_node left, right;
} hd_node_pair;

/* ---- names ------------------------------------------------------------------------------------------------------- */

typedef enum hd_binding_kind {
    HD_BIND_NONE,
    HD_BIND_DECLARED, /* a register name not yet mentioned; value: declaration */
    HD_BIND_REGISTER, /* value: register id (of component 0) */
    HD_BIND_GLOBAL,   /* a module-scope register; value: declaration of module->globals */
    HD_BIND_SYMBOL,
    HD_BIND_LABEL,
    HD_BIND_TABLE,
    HD_BIND_SREG, /* value: hd_sreg; found at depth 0, not declared */
} hd_binding_kind;

typedef struct hd_use {
    uint32_t value;
    uint32_t range;     /* as a stem: innermost range in b->ranges; 0 = none */
    uint32_t meaning;   /* numbers: literal + 1; words: hd_type + 1 */
    uint32_t reference; /* newest open label reference + 1 */
    uint16_t depth;
    uint8_t kind; /* hd_binding_kind */
    uint8_t flags;
} hd_use;
enum {
    HD_USE_MEMBERS = 1, /* as a stem: a plain name with this stem was declared */
    HD_USE_FILE = 2,    /* as a number: a .file uses it */
};

typedef struct hd_range {
    uint32_t declaration;
    uint32_t local; /* of a module-scope range: its declaration in the function being read, HD_NONE before the first
                       mention */
    uint32_t count;
    uint32_t root;  /* radix tree in b->radix, by index; leaves hold register id + 1; 0 = no mention yet */
    uint32_t outer; /* range of the same stem in an outer scope */
    uint16_t depth;
    uint8_t levels;    /* of the tree */
    uint8_t is_global; /* of module->globals */
} hd_range;

typedef struct hd_undo {
    hd_name name;
    uint32_t value; /* value of the previous binding */
    uint16_t depth;
    uint8_t kind;
    bool is_range; /* the newest range of the stem ends */
} hd_undo;

typedef struct hd_scope {
    uint32_t undo_mark, reference_mark, range_mark;
    uint32_t begin;     /* of the { */
    uint32_t node_mark; /* node mark of the enclosing scope */
} hd_scope;

typedef struct hd_reference {
    hd_name name;
    uint32_t operand; /* in function->operands, or table entry | HD_REFERENCE_TABLE */
    uint32_t begin, end;
    uint32_t next; /* older reference to the same name + 1 */
    uint8_t state; /* HD_REFERENCE_* */
} hd_reference;
enum { HD_REFERENCE_TABLE = 1u << 31 };
enum {
    HD_REFERENCE_OPEN,
    HD_REFERENCE_OUTER /* bound to a label of an outer scope for now */,
    HD_REFERENCE_MAYBE /* of an unknown opcode */
};

/* A range of variables in an unfinished declaration. */
typedef struct hd_variable_range {
    hd_node name;
    uint32_t symbol, count;
} hd_variable_range;

/* ---- the builder ------------------------------------------------------------------------------------------------- */

typedef struct hd_builder {
    hd_module *module;
    const hd_parse_options *options;
    hd_lexer lexer;
    hd_function *function; /* the function whose body is being read; NULL: outside */

    /* scanner interface */
    uint32_t last_kind, last_begin, last_end, previous_end;
    uint32_t nesting;
    uint32_t closing; /* number of } to insert before the held token */
    hd_node held;     /* a token to deliver again */
    bool has_held, resync, stopped;
    bool unusual;     /* one of the three above is set */
    bool in_operands; /* after an opcode, before its ; */

    HD_ARRAY(hd_node) nodes; /* semantic values of unfinished grammar symbols */
    uint32_t node_mark;      /* nodes of enclosing statements, which are kept */

    /* names */
    hd_use *uses;
    uint32_t use_count;
    HD_ARRAY(hd_range) ranges; /* entry 0 unused */
    hd_u32_array radix;        /* entry 0 unused */
    HD_ARRAY(hd_undo) undo;
    HD_ARRAY(hd_undo) imported; /* module-scope registers mentioned by the function being read */
    HD_ARRAY(hd_scope) scopes;  /* open scopes; depth = count */
    HD_ARRAY(hd_reference) references;
    uint32_t digit_stems;    /* open ranges whose stem ends in a digit */
    uint32_t shadowed_sregs; /* registers declared under a special register's name */

    /* constants of the statement being read */
    HD_ARRAY(hd_constant) constants;
    HD_ARRAY(hd_node_pair) pairs;
    HD_ARRAY(char) spelling;

    /* instruction */
    hd_node opcode;
    hd_name opcode_name;
    uint32_t form, operand_first, operand_position;
    uint32_t guard, guard_begin, guard_flags;
    uint32_t location;
    hd_u32_array aggregates;       /* operand index of the open aggregates */
    hd_u32_array aggregate_counts; /* elements before the aggregate in its parent */
    uint32_t elements;             /* elements so far in the innermost open aggregate; outside: operand_position */
    uint32_t closed;               /* operand index of the aggregate closed last */
    bool broken;                   /* an operand was invalid: do not resolve */

    /* declaration */
    struct {
        uint32_t begin, first;
        uint32_t qualifiers_end;
        uint32_t align;
        uint32_t count;
        uint8_t space, type, vector, pointer_space;
        bool is_pointer, failed;
        uint32_t type_begin, type_end;
    } declaration;
    hd_node declarator;
    uint32_t symbol;
    uint32_t linkage, header_begin;
    HD_ARRAY(hd_variable_range) variable_ranges;
    hd_u32_array integers;
    bool has_initializer;
    uint32_t initial_end;        /* of the last value or brace */
    hd_u32_array initial_counts; /* elements so far of each open brace */
    uint32_t inlined_offset;
    hd_location location_extra; /* the inlined_at part */

    /* function header */
    hd_function spare; /* empty arrays with room, lent to the function whose body is read */
    hd_function *header;
    const hd_function *before; /* an earlier declaration of the same name; NULL: none */
    bool in_results;
    HD_ARRAY(hd_node) parameter_names; /* in order: results, then parameters */
    uint32_t table;
    bool saw_version, saw_target, saw_other;
    bool wants_debug, saw_debug, samplers_apart; /* .target debug, a .section .debug_*, texmode_independent */
    bool has_max_threads, has_required_threads, has_cluster, is_register_parameter;
    hd_node blocks_are_clusters;  /* the directive; kind 0: none */
    uint32_t prototype_counts[2]; /* of .callprototype: results, parameters */
} hd_builder;

void hd_builder_init(hd_builder *b, hd_module *module, const hd_parse_options *options);
void hd_builder_free(hd_builder *b);
void hd_builder_end(hd_builder *b); /* at the end of the text, or when parsing stopped */

static inline hd_source *hd_builder_source(const hd_builder *b) { return b->module->source; }
static inline hd_span hd_node_span(const hd_node *n) { return (hd_span){n->token.begin, n->token.end}; }
#define hd_builder_error(b, kind, span, ...) \
    hd_report((b)->module->diagnostics, HD_DIAG_##kind, (b)->module->source, (span), __VA_ARGS__)
#define hd_builder_note(b, diagnostic, span, ...) \
    hd_note_add((b)->module->diagnostics, (diagnostic), (b)->module->source, (span), __VA_ARGS__)

/* ---- recover.c --------------------------------------------------------------------------------------------------- */
uint32_t hd_builder_token(hd_builder *b, uint32_t *value);
/* A new zeroed node. Pointers to earlier nodes stay valid until the next token is read. */
static inline uint32_t hd_node_new(hd_builder *b)
{
    hd_array_push(&b->nodes, (hd_node){0});
    return b->nodes.count - 1;
}
/* Drops the nodes after the mark, except the look-ahead token, which moves down. */
static inline void hd_nodes_drop(hd_builder *b, uint32_t *look_ahead)
{
    b->nodes.count = b->node_mark;
    if (look_ahead && *look_ahead >= b->node_mark) {
        b->nodes.items[b->node_mark] = b->nodes.items[*look_ahead];
        *look_ahead = b->nodes.count++;
    }
}
void hd_builder_exhausted(hd_builder *b, const char *message);
void hd_builder_syntax_error(hd_builder *b, uint32_t kind, const uint32_t *expected, uint32_t count);
int hd_ptx_parse(hd_builder *b);

/* ---- scope.c ----------------------------------------------------------------------------------------------------- */
void hd_uses_grow(hd_builder *b, hd_name name);
static inline hd_use *hd_use_of(hd_builder *b, hd_name name)
{
    if (__builtin_expect(name >= b->use_count, 0))
        hd_uses_grow(b, name);
    return &b->uses[name];
}
hd_name hd_full_name(hd_builder *b, const hd_token *token); /* the interned spelling of a NAME */
void hd_scope_open(hd_builder *b, uint32_t begin);
void hd_scope_close(hd_builder *b);
/* Declares a plain name in the innermost scope; if it is in use, reports that and returns false. */
bool hd_declare(hd_builder *b, const hd_token *token, hd_binding_kind kind, uint32_t value);
/* The same for a name other than the token's spelling. */
bool hd_declare_name(hd_builder *b, const hd_token *token, hd_name name, hd_binding_kind kind, uint32_t value);
bool hd_declare_range(hd_builder *b, const hd_token *token, uint32_t declaration, uint32_t count, bool is_global);
/* in the same scope, without undo entry */
void hd_rebind(hd_builder *b, hd_name name, hd_binding_kind kind, uint32_t value);
/* The meaning of a name here; registers are created at the first mention. */
typedef struct hd_binding {
    uint32_t kind, value;
} hd_binding;
hd_binding hd_lookup_slow(hd_builder *b, const hd_token *token);
hd_binding hd_range_member(hd_builder *b, uint32_t range, uint32_t index);
static inline hd_binding hd_lookup(hd_builder *b, const hd_token *token)
{
    if (token->index != HD_NO_INDEX && !b->digit_stems) {
        const hd_use *stem = hd_use_of(b, token->name);
        if (stem->range && !(stem->flags & HD_USE_MEMBERS) && token->index < b->ranges.items[stem->range].count)
            return hd_range_member(b, stem->range, token->index);
    }
    return hd_lookup_slow(b, token);
}
/* The number of components of the declaration that a register belongs to. */
static inline uint32_t hd_register_vector(const hd_builder *b, uint32_t reg)
{
    return b->function->registers.items[reg].vector;
}

/* ---- labels.c ---------------------------------------------------------------------------------------------------- */
void hd_label_refer(hd_builder *b, hd_name name, hd_span span, uint32_t where, bool maybe);
void hd_labels_drop(hd_builder *b, uint32_t operand); /* drops references of operands from this index on */
void hd_labels_resolve(hd_builder *b);                /* at the end of a function */

/* ---- expression.c ------------------------------------------------------------------------------------------------ */
bool hd_constant_of(hd_builder *b, const hd_node *node, hd_constant *constant); /* false: not a constant */
uint32_t hd_literal_of(hd_builder *b, const hd_node *node);                     /* index in module->literals */
uint32_t hd_literal_of_constant(hd_builder *b, uint32_t constant);
void hd_expression_paren(hd_builder *b, hd_node *to, const hd_node *open, const hd_node *inner, const hd_node *close);
void hd_expression_cast(hd_builder *b, hd_node *to, const hd_node *open, const hd_node *type, const hd_node *inner);
void hd_expression_subscript(hd_builder *b, hd_node *to, const hd_node *name, const hd_node *index,
                             const hd_node *close);
void hd_expression_generic(hd_builder *b, hd_node *to, const hd_node *word, const hd_node *name, const hd_node *close);
void hd_expression_mask(hd_builder *b, hd_node *to, const hd_node *mask, const hd_node *address, const hd_node *close);
void hd_expression_unary(hd_builder *b, hd_node *to, const hd_node *operator, const hd_node * inner);
void hd_expression_binary(hd_builder *b, hd_node *to, const hd_node *left, const hd_node *operator,
                          const hd_node * right);
void hd_expression_choice(hd_builder *b, hd_node *to, const hd_node *test, const hd_node *yes, const hd_node *no);

/* ---- operand.c --------------------------------------------------------------------------------------------------- */
void hd_build_simple(hd_builder *b, const hd_node *node); /* a NAME or INTEGER that is a whole operand */
void hd_build_operand(hd_builder *b, const hd_node *node);
void hd_build_aggregate(hd_builder *b, hd_operand_kind kind, const hd_node *open);
void hd_build_aggregate_end(hd_builder *b, const hd_node *close);
void hd_build_vector_pair(hd_builder *b, const hd_node *second); /* {..}|p: after the vector's end */
void hd_build_address_word(hd_builder *b, const hd_node *word);  /* [..].unified: after the address's end */
void hd_build_empty(hd_builder *b, const hd_node *open, const hd_node *close);
void hd_build_address(hd_builder *b, const hd_node *open, const hd_node *base);

/* ---- builder.c --------------------------------------------------------------------------------------------------- */
hd_tokens hd_build_tokens(hd_builder *b, uint32_t begin, uint32_t end); /* the spellings of a part of the text */
void hd_build_statement(hd_builder *b, hd_statement_kind kind, uint32_t index, uint32_t begin, uint32_t end);
void hd_build_opcode(hd_builder *b, const hd_node *name);
void hd_build_modifier(hd_builder *b, const hd_node *word);
void hd_build_form(hd_builder *b); /* at the end of the opcode: finds its form */
void hd_build_guard(hd_builder *b, const hd_node *at, const hd_node *name, bool negated);
void hd_build_instruction(hd_builder *b, const hd_node *begin, const hd_node *end);
void hd_build_guarded(hd_builder *b, const hd_node *at, const hd_node *end);
void hd_build_label(hd_builder *b, const hd_node *name, const hd_node *colon);
void hd_build_open(hd_builder *b, const hd_node *brace);
void hd_build_close(hd_builder *b, const hd_node *brace);

/* ---- declare.c --------------------------------------------------------------------------------------------------- */
uint32_t hd_build_u32(hd_builder *b, const hd_node *number); /* an integer below 2^32, else 0 with a diagnostic */
void hd_build_declaration(hd_builder *b, const hd_node *space);
void hd_build_bank(hd_builder *b, const hd_node *space, const hd_node *close);
void hd_build_align(hd_builder *b, const hd_node *number);
void hd_build_type(hd_builder *b, const hd_node *vector, const hd_node *type);
void hd_build_declarator(hd_builder *b, const hd_node *name);
void hd_build_dimension(hd_builder *b, const hd_node *count, const hd_node *close);
void hd_build_declarator_end(hd_builder *b);
void hd_build_declarator_range(hd_builder *b, const hd_node *name, const hd_node *count, const hd_node *close);
void hd_build_variables(hd_builder *b, const hd_node *end);
void hd_build_register(hd_builder *b, const hd_node *name);
void hd_build_register_range(hd_builder *b, const hd_node *name, const hd_node *count, const hd_node *close);
void hd_build_registers(hd_builder *b, const hd_node *end);
hd_symbol *hd_symbol_new(hd_builder *b, const hd_node *name, hd_symbol_kind kind);
void hd_symbol_measure(hd_builder *b, hd_symbol *symbol); /* sets its size from type, vector and dimensions */

/* ---- initializer.c ----------------------------------------------------------------------------------------------- */
void hd_build_initializer(hd_builder *b, const hd_node *assign);
void hd_build_initial(hd_builder *b, const hd_node *value);
void hd_build_initial_open(hd_builder *b, const hd_node *brace);
void hd_build_initial_close(hd_builder *b, const hd_node *brace);
void hd_build_field(hd_builder *b, const hd_node *name);
void hd_initializer_end(hd_builder *b); /* checks the whole initializer against the symbol */

/* ---- header.c ---------------------------------------------------------------------------------------------------- */
void hd_build_header(hd_builder *b, const hd_node *word, bool is_entry);
void hd_build_function_name(hd_builder *b, const hd_node *name);
void hd_build_parameter_word(hd_builder *b, const hd_node *word);
void hd_build_pointer(hd_builder *b, const hd_node *word);
void hd_build_pointer_space(hd_builder *b, const hd_node *word);
void hd_build_parameter(hd_builder *b, const hd_node *name);
void hd_build_parameter_end(hd_builder *b);
void hd_build_integer(hd_builder *b, const hd_node *number);
void hd_build_performance(hd_builder *b, const hd_node *word);
void hd_build_prototype(hd_builder *b, const hd_node *end);
void hd_build_open_prototype(hd_builder *b); /* a prototype without a semicolon */
void hd_build_body(hd_builder *b, const hd_node *brace);
void hd_build_body_end(hd_builder *b, const hd_node *brace);

/* ---- directive.c ------------------------------------------------------------------------------------------------- */
void hd_build_version(hd_builder *b, const hd_node *word, const hd_node *number);
void hd_build_target_word(hd_builder *b, const hd_node *word);
void hd_build_target(hd_builder *b, const hd_node *word, const hd_node *last);
void hd_build_address_size(hd_builder *b, const hd_node *word, const hd_node *number);
void hd_build_file(hd_builder *b, const hd_node *word, const hd_node *number, const hd_node *name,
                   const hd_node *stamp);
/* Reports what an older version than this does not have. */
void hd_build_section_since(hd_builder *b, const hd_node *at, uint32_t major, uint32_t minor, const char *what);
void hd_build_section(hd_builder *b, const hd_node *word, const hd_node *name, const hd_node *close);
void hd_build_section_width(hd_builder *b, const hd_node *word);
void hd_build_verbatim(hd_builder *b, hd_verbatim_kind kind, const hd_node *begin, const hd_node *end);
void hd_build_pragma(hd_builder *b, const hd_node *string);
void hd_build_heddle(hd_builder *b, const hd_node *statement);
void hd_build_alias(hd_builder *b, const hd_node *word, const hd_node *alias, const hd_node *of, const hd_node *end);
void hd_build_location(hd_builder *b, const hd_node *word, const hd_node *file, const hd_node *line,
                       const hd_node *column);
void hd_build_inlined_at(hd_builder *b, const hd_node *word, const hd_node *label, const hd_node *at,
                         const hd_node *file, const hd_node *line, const hd_node *column);
void hd_build_inlined(hd_builder *b, const hd_node *end);
void hd_build_table(hd_builder *b, hd_table_kind kind, const hd_node *name);
void hd_build_table_target(hd_builder *b, const hd_node *name, const hd_node *count);
void hd_build_table_no_return(hd_builder *b);
void hd_build_table_end(hd_builder *b, const hd_node *end);

/* The arrays that grow with a body are lent by the builder, so that small functions cost one allocation each and no
 * growth. At the body's end the function gets its own copy or, if it is long, the array itself. */
#define HD_BODY_ARRAYS(apply)                                                                                         \
    apply(statements) apply(instructions) apply(operands) apply(registers) apply(declarations) apply(register_groups) \
        apply(labels)

#endif
