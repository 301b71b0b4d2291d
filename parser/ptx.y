/* The structure of PTX: directives, declarations, labels, blocks, `opcode.mod operands;`. The grammar contains no
 * opcodes.
 *
 * Line ends are white space: .loc, .file and .section have no terminator. A label is NAME ':'. `p|q`, `!p`, `-r`, `r+4`
 * and `(a)` are parsed as constant expressions and interpreted by parser/operand.c. The actions only call the builder
 * (parser/builder.h). A semantic value is the index of an hd_node in b->nodes: a token, or the value of an expression.
 * DROP_NODES drops the nodes of a finished statement, except the look-ahead.
 *
 * After an error the scanner interface (parser/recover.c) skips to the start of the next statement and delivers RESYNC.
 */
%define api.pure full
%define api.prefix {hd_ptx_}
%define api.token.prefix {T_}
%define api.token.raw
%define api.value.type {uint32_t}
%define parse.error custom
%param {hd_builder *b}
%expect 0

%code requires {
#include "parser/builder.h"
}
%code {
#define YYINITDEPTH 400
#define YYMAXDEPTH 16384
#define HD_TOKEN(id, text) _Static_assert((int)HD_TOKEN_##id == (int)T_##id, "tokens.def and %token: one order");
#include "lexer/tokens.def"
#undef HD_TOKEN
#define N(value) (&b->nodes.items[value])
#define DROP_NODES hd_nodes_drop(b, yychar == T_HD_PTX_EMPTY ? NULL : &yylval)
#define FOLD1(to, operator, x) (to = hd_node_new(b), hd_expression_unary(b, N(to), N(operator), N(x)))
#define FOLD2(to, x, operator, y) FOLD3(hd_expression_binary, to, x, operator, y)
#define FOLD3(function, to, x, y, z) (to = hd_node_new(b), function(b, N(to), N(x), N(y), N(z)))
static int hd_ptx_lex(uint32_t *value, hd_builder *b) { return (int)hd_builder_token(b, value); }
static void hd_ptx_error(hd_builder *b, const char *message) { hd_builder_exhausted(b, message); }
}

%token END 0
%token NAME DOTTED WORD INTEGER FLOAT STRING WARP_SZ SINK
%token SEMICOLON ";" COMMA "," COLON ":" LPAREN "(" RPAREN ")" LBRACKET "[" RBRACKET "]" LBRACE "{" RBRACE "}"
%token AT "@" ASSIGN "=" QUESTION "?" OROR "||" ANDAND "&&" OR "|" XOR "^" AND "&"
%token EQ "==" NE "!=" LT "<" GT ">" LE "<=" GE ">=" SHL "<<" SHR ">>"
%token PLUS "+" MINUS "-" STAR "*" SLASH "/" PERCENT "%" NOT "!" TILDE "~"
%token VERSION TARGET ADDRESS_SIZE FILE LOC SECTION PRAGMA ALIAS ENTRY FUNC EXTERN VISIBLE WEAK COMMON
%token REG CONST GLOBAL LOCAL PARAM SHARED TEX ALIGN ATTRIBUTE PTR BRANCHTARGETS CALLTARGETS CALLPROTOTYPE
%token MAXNTID REQNTID MINNCTAPERSM MAXNCTAPERSM MAXNREG
%token EXPLICITCLUSTER REQNCTAPERCLUSTER MAXCLUSTERRANK MINPERCTAMEMORY BLOCKSARECLUSTERS
%token NORETURN ABI_PRESERVE ABI_PRESERVE_CONTROL HEDDLE RESYNC
%token SIMPLE /* a NAME or INTEGER that is a whole operand: after the opcode or a comma, before a comma, ; or } */

%precedence PROTOTYPE_ENDS /* a .pragma after a function's header belongs to the header */
%precedence PRAGMA
%right "?" ":"
%left "||"
%left "&&"
%left "|"
%left "^"
%left "&"
%left "==" "!="
%left "<" ">" "<=" ">="
%left "<<" ">>"
%left "+" "-"
%left "*" "/" "%"
%precedence UNARY

%%

module: %empty | module item { b->node_mark = 0; DROP_NODES; } ;

item: VERSION FLOAT                        { hd_build_version(b, N($1), N($2)); }
    | VERSION INTEGER                      { hd_build_version(b, N($1), N($2)); }
    | TARGET target_words                  { hd_build_target(b, N($1), N($2)); }
    | ADDRESS_SIZE INTEGER                 { hd_build_address_size(b, N($1), N($2)); }
    | FILE INTEGER STRING file_stamp { hd_build_file(b, N($1), N($2), N($3), N($4)); }
    | SECTION any_word "{" section_items "}" { hd_build_section(b, N($1), N($2), N($5)); }
    | PRAGMA strings ";"                   { hd_build_verbatim(b, HD_VERBATIM_PRAGMA, N($1), N($3)); }
    | ALIAS NAME "," NAME ";"              { hd_build_alias(b, N($1), N($2), N($4), N($5)); }
    | linkage variables
    | linkage function
    | registers
    | error RESYNC                         { yyerrok; if (b->stopped) YYABORT; }
    ;

target_words: target_word | target_words "," target_word { $$ = $1; N($$)->token.end = N($3)->token.end; } ;
target_word: NAME { hd_build_target_word(b, N($1)); } ;
file_stamp: %empty { $$ = hd_node_new(b); } | "," INTEGER "," INTEGER { $$ = $4; } ;
strings: string | strings "," string ;
string: STRING { hd_build_pragma(b, N($1)); } ;

/* ---- sections ---- */
section_items: %empty { b->node_mark = b->nodes.count; } | section_items section_item { DROP_NODES; } ;
section_item: NAME ":" { hd_build_section_since(b, N($1), 7, 0, "a label in a section"); }
            | WORD section_values { hd_build_section_width(b, N($1)); }
            ;
section_values: section_value | section_values "," section_value ;
section_value: INTEGER | NAME | NAME "+" INTEGER | any_word | any_word "+" INTEGER
             | "-" INTEGER   { hd_build_section_since(b, N($1), 7, 5, "a negative number in a section"); }
             | NAME "-" NAME { hd_build_section_since(b, N($1), 7, 5, "a difference of labels"); }
             ;
any_word: WORD | space_word ;

/* ---- variables ---- */
linkage: %empty  { b->linkage = HD_LINKAGE_NONE; b->header_begin = HD_NONE; }
       | EXTERN  { b->linkage = HD_LINKAGE_EXTERN; b->header_begin = N($1)->token.begin; }
       | VISIBLE { b->linkage = HD_LINKAGE_VISIBLE; b->header_begin = N($1)->token.begin; }
       | WEAK    { b->linkage = HD_LINKAGE_WEAK; b->header_begin = N($1)->token.begin; }
       | COMMON  { b->linkage = HD_LINKAGE_COMMON; b->header_begin = N($1)->token.begin; }
       ;
variables: space qualifiers type declarators ";" { hd_build_variables(b, N($5)); } ;
space: space_word                  { hd_build_declaration(b, N($1)); }
     | CONST "[" INTEGER "]"       { hd_build_declaration(b, N($1)); hd_build_bank(b, N($1), N($4)); }
     ;
space_word: CONST | GLOBAL | LOCAL | PARAM | SHARED | TEX ;
qualifiers: %empty
          | qualifiers ALIGN INTEGER                  { hd_build_align(b, N($3)); }
          | qualifiers ATTRIBUTE "(" attributes ")"
          ;
attributes: attribute | attributes "," attribute ;
attribute: WORD | WORD "(" integers ")" ;
type: WORD      { hd_build_type(b, NULL, N($1)); }
    | WORD WORD { hd_build_type(b, N($1), N($2)); }
    ;
declarators: declarator | declarators "," declarator ;
declarator: NAME { hd_build_declarator(b, N($1)); } dimensions initializer { hd_build_declarator_end(b); }
          | NAME "<" INTEGER ">" { hd_build_declarator_range(b, N($1), N($3), N($4)); }
          ;
dimensions: %empty
          | dimensions "[" "]"         { hd_build_dimension(b, NULL, N($3)); }
          | dimensions "[" INTEGER "]" { hd_build_dimension(b, N($3), N($4)); }
          | dimensions "[" WARP_SZ "]" { hd_build_dimension(b, N($3), N($4)); }
          ;
initializer: %empty | "=" { hd_build_initializer(b, N($1)); } initial_value ;
initial_value: expression { hd_build_initial(b, N($1)); }
             | "{" { hd_build_initial_open(b, N($1)); } initial_list "}" { hd_build_initial_close(b, N($4)); }
             ;
initial_list: %empty | initial_items ;
initial_items: initial_item | initial_items "," initial_item { DROP_NODES; } ;
initial_item: initial_value | NAME "=" field_value { hd_build_field(b, N($1)); } ;
field_value: INTEGER | NAME | FLOAT | "-" INTEGER ;

registers: REG { hd_build_declaration(b, N($1)); } qualifiers type register_list ";" { hd_build_registers(b, N($6)); } ;
register_list: register | register_list "," register ;
register: NAME                     { hd_build_register(b, N($1)); }
        | NAME "<" INTEGER ">"     { hd_build_register_range(b, N($1), N($3), N($4)); }
        ;

/* ---- functions ---- */
function: ENTRY { hd_build_header(b, N($1), true); } name parameters performance_list body
        | FUNC { hd_build_header(b, N($1), false); } function_attribute results name parameters performance_list
            func_body
        ;
function_attribute: %empty | ATTRIBUTE "(" attributes ")" ;
name: NAME { hd_build_function_name(b, N($1)); } ;
results: %empty | "(" { b->in_results = true; } parameter_list ")" { b->in_results = false; } ;
parameters: %empty | "(" parameter_list ")" ;
parameter_list: %empty | parameter_items ;
parameter_items: parameter | parameter_items "," parameter ;
parameter: parameter_space parameter_words parameter_name dimensions { hd_build_parameter_end(b); } ;
parameter_space: PARAM { hd_build_declaration(b, N($1)); } | REG { hd_build_declaration(b, N($1)); } ;
parameter_words: parameter_word | parameter_words parameter_word ;
parameter_word: WORD          { hd_build_parameter_word(b, N($1)); }
              | ALIGN INTEGER { hd_build_align(b, N($2)); }
              | PTR           { hd_build_pointer(b, N($1)); }
              | space_word    { hd_build_pointer_space(b, N($1)); }
              | CONST "[" INTEGER "]" { hd_build_pointer_space(b, N($1)); }
              ;
parameter_name: NAME { hd_build_parameter(b, N($1)); } | SINK { hd_build_parameter(b, N($1)); } ;

performance_list: %empty | performance_list performance ;
performance: MAXNTID integers          { hd_build_performance(b, N($1)); }
           | REQNTID integers          { hd_build_performance(b, N($1)); }
           | MINNCTAPERSM integers     { hd_build_performance(b, N($1)); }
           | MAXNCTAPERSM integers     { hd_build_performance(b, N($1)); }
           | MAXNREG integers          { hd_build_performance(b, N($1)); }
           | REQNCTAPERCLUSTER integers { hd_build_performance(b, N($1)); }
           | MAXCLUSTERRANK integers   { hd_build_performance(b, N($1)); }
           | MINPERCTAMEMORY integers  { hd_build_performance(b, N($1)); }
           | EXPLICITCLUSTER           { b->integers.count = 0; hd_build_performance(b, N($1)); }
           | BLOCKSARECLUSTERS         { b->integers.count = 0; hd_build_performance(b, N($1)); }
           | NORETURN                  { b->integers.count = 0; hd_build_performance(b, N($1)); }
           | ABI_PRESERVE integers     { hd_build_performance(b, N($1)); }
           | ABI_PRESERVE_CONTROL integers { hd_build_performance(b, N($1)); }
           | PRAGMA strings ";"
           ;
integers: INTEGER              { b->integers.count = 0; hd_build_integer(b, N($1)); }
        | integers "," INTEGER { hd_build_integer(b, N($3)); }
        ;

/* Old compilers wrote prototypes of .func without a semicolon. */
func_body: body | %empty %prec PROTOTYPE_ENDS { hd_build_open_prototype(b); } ;
body: ";" { hd_build_prototype(b, N($1)); }
    | "{" { hd_build_body(b, N($1)); } statements "}" { hd_build_body_end(b, N($4)); }
    ;

/* ---- statements ---- */
statements: %empty { b->node_mark = b->nodes.count; } | statements statement { DROP_NODES; } ;
statement: opcode ";"                { hd_build_instruction(b, N($1), N($2)); }
         | opcode operands ";"       { hd_build_instruction(b, N($1), N($3)); }
         | guard opcode ";"          { hd_build_guarded(b, N($1), N($3)); }
         | guard opcode operands ";" { hd_build_guarded(b, N($1), N($4)); }
         | NAME ":"                  { hd_build_label(b, N($1), N($2)); }
         | "{"                       { hd_build_open(b, N($1)); } statements "}" { hd_build_close(b, N($4)); }
         | LOC INTEGER INTEGER INTEGER { hd_build_location(b, N($1), N($2), N($3), N($4)); }
         | LOC INTEGER INTEGER INTEGER "," inlined
             { hd_build_location(b, N($1), N($2), N($3), N($4)); hd_build_inlined(b, N($6)); }
         | registers
         | { b->linkage = HD_LINKAGE_NONE; b->header_begin = HD_NONE; } variables
         | PRAGMA strings ";"        { hd_build_verbatim(b, HD_VERBATIM_PRAGMA, N($1), N($3)); }
         | HEDDLE                    { hd_build_heddle(b, N($1)); }
         | table
         | error RESYNC              { yyerrok; if (b->stopped) YYABORT; }
         ;
inlined: NAME NAME inlined_offset "," NAME INTEGER INTEGER INTEGER
           { $$ = $8; hd_build_inlined_at(b, N($1), N($2), N($5), N($6), N($7), N($8)); } ;
inlined_offset: %empty { b->inlined_offset = 0; } | "+" INTEGER { b->inlined_offset = hd_build_u32(b, N($2)); } ;

table: NAME ":" BRANCHTARGETS { hd_build_table(b, HD_TABLE_BRANCH_TARGETS, N($1)); }
         targets ";" { hd_build_table_end(b, N($6)); }
     | NAME ":" CALLTARGETS { hd_build_table(b, HD_TABLE_CALL_TARGETS, N($1)); }
         targets ";" { hd_build_table_end(b, N($6)); }
     | NAME ":" CALLPROTOTYPE { hd_build_table(b, HD_TABLE_CALL_PROTOTYPE, N($1)); }
         results SINK parameters prototype_words ";" { hd_build_table_end(b, N($9)); }
     ;
targets: target | targets "," target ;
target: NAME                 { hd_build_table_target(b, N($1), NULL); }
      | NAME "<" INTEGER ">" { hd_build_table_target(b, N($1), N($3)); }
      ;
prototype_words: %empty
               | prototype_words NORETURN { hd_build_table_no_return(b); }
               | prototype_words ABI_PRESERVE INTEGER
               | prototype_words ABI_PRESERVE_CONTROL INTEGER
               ;

guard: "@" NAME     { hd_build_guard(b, N($1), N($2), false); $$ = $1; }
     | "@" "!" NAME { hd_build_guard(b, N($1), N($3), true); $$ = $1; }
     ;
opcode: NAME            { hd_build_opcode(b, N($1)); }
      | DOTTED          { hd_build_opcode(b, N($1)); }
      | opcode modifier { hd_build_modifier(b, N($2)); $$ = $1; }
      ;
modifier: any_word | WEAK | ALIAS | COMMON | REG | PTR | ALIGN ;

/* ---- operands ---- */
operands: SIMPLE              { hd_build_simple(b, N($1)); }
        | operands "," SIMPLE { hd_build_simple(b, N($3)); }
        | operand
        | operands "," operand
        ;
operand: expression { hd_build_operand(b, N($1)); }
       | vector
       | vector "|" expression { hd_build_vector_pair(b, N($3)); }
       | address
       | address WORD { hd_build_address_word(b, N($2)); }
       | list
       ;
vector: vector_open elements "}" { hd_build_aggregate_end(b, N($3)); }
      | vector_open "}"          { hd_build_empty(b, N($1), N($2)); }
      ;
vector_open: "{" { hd_build_aggregate(b, HD_OPERAND_VECTOR, N($1)); } ;
elements: SIMPLE              { hd_build_simple(b, N($1)); }
        | elements "," SIMPLE { hd_build_simple(b, N($3)); }
        | operand
        | elements "," operand
        ;
address: "[" expression "]" { hd_build_address(b, N($1), N($2)); hd_build_aggregate_end(b, N($3)); }
       | "[" expression "," { hd_build_address(b, N($1), N($2)); } elements "]" { hd_build_aggregate_end(b, N($6)); }
       ;
list: "(" ")" { hd_build_aggregate(b, HD_OPERAND_LIST, N($1)); hd_build_aggregate_end(b, N($2)); }
    | "(" expression "," { hd_build_aggregate(b, HD_OPERAND_LIST, N($1)); hd_build_operand(b, N($2)); }
        elements ")"     { hd_build_aggregate_end(b, N($6)); }
    ;

expression: NAME
          | DOTTED
          | INTEGER
          | FLOAT
          | WARP_SZ
          | SINK
          | "(" expression ")"                { FOLD3(hd_expression_paren, $$, $1, $2, $3); }
          | "(" WORD ")" expression %prec UNARY { FOLD3(hd_expression_cast, $$, $1, $2, $4); }
          | NAME "[" expression "]"           { FOLD3(hd_expression_subscript, $$, $1, $3, $4); }
          | NAME "(" NAME ")"                 { FOLD3(hd_expression_generic, $$, $1, $3, $4); }
          | INTEGER "(" expression ")"        { FOLD3(hd_expression_mask, $$, $1, $3, $4); }
          | "-" expression %prec UNARY        { FOLD1($$, $1, $2); }
          | "+" expression %prec UNARY        { FOLD1($$, $1, $2); }
          | "!" expression %prec UNARY        { FOLD1($$, $1, $2); }
          | "~" expression %prec UNARY        { FOLD1($$, $1, $2); }
          | expression "*" expression         { FOLD2($$, $1, $2, $3); }
          | expression "/" expression         { FOLD2($$, $1, $2, $3); }
          | expression "%" expression         { FOLD2($$, $1, $2, $3); }
          | expression "+" expression         { FOLD2($$, $1, $2, $3); }
          | expression "-" expression         { FOLD2($$, $1, $2, $3); }
          | expression "<<" expression        { FOLD2($$, $1, $2, $3); }
          | expression ">>" expression        { FOLD2($$, $1, $2, $3); }
          | expression "<" expression         { FOLD2($$, $1, $2, $3); }
          | expression ">" expression         { FOLD2($$, $1, $2, $3); }
          | expression "<=" expression        { FOLD2($$, $1, $2, $3); }
          | expression ">=" expression        { FOLD2($$, $1, $2, $3); }
          | expression "==" expression        { FOLD2($$, $1, $2, $3); }
          | expression "!=" expression        { FOLD2($$, $1, $2, $3); }
          | expression "&" expression         { FOLD2($$, $1, $2, $3); }
          | expression "^" expression         { FOLD2($$, $1, $2, $3); }
          | expression "|" expression         { FOLD2($$, $1, $2, $3); }
          | expression "&&" expression        { FOLD2($$, $1, $2, $3); }
          | expression "||" expression        { FOLD2($$, $1, $2, $3); }
          | expression "?" expression ":" expression { FOLD3(hd_expression_choice, $$, $1, $3, $5); }
          ;

%%

/* Lists the tokens expected here, if they are few. */
static int yyreport_syntax_error(const yypcontext_t *context, hd_builder *b)
{
    enum { FEW = 4 };
    yysymbol_kind_t expected[FEW + 1];
    int count = yypcontext_expected_tokens(context, expected, FEW + 1);
    uint32_t kinds[FEW + 1];
    for (int i = 0; i < count && i <= FEW; i++)
        kinds[i] = (uint32_t)expected[i];
    bool few = count >= 0 && count <= FEW;
    hd_builder_syntax_error(b, (uint32_t)yypcontext_token(context), kinds, few ? (uint32_t)count : 0);
    return 0;
}
