/* The structure of PTX: directives, declarations, labels, blocks, `opcode.mod operands;`. It knows no opcode.
 *
 * Line ends are white space: .loc, .file and .section have no terminator. A label is NAME ':'. `p|q`, `!p`, `-r`, `r+4` and
 * `(a)` are parsed as the constant expressions they look like; parser/operand.c says what they mean. The actions only call the
 * builder (parser/builder.h). A semantic value is an hd_node: a token, or what an expression came to.
 *
 * After a mistake the scanner side (parser/recover.c) skips to where the next statement starts and hands in RESYNC.
 */
%define api.pure full
%define api.prefix {hd_ptx_}
%define api.token.prefix {T_}
%define api.token.raw
%define api.value.type {hd_node}
%define parse.error custom
%param {hd_builder *b}
%expect 0

%code requires {
#include "parser/builder.h"
}
%code {
#define YYINITDEPTH 400
#define YYMAXDEPTH 16384
static int hd_ptx_lex(hd_node *node, hd_builder *b) { return (int)hd_builder_token(b, node); }
static void hd_ptx_error(hd_builder *b, const char *message) { hd_builder_exhausted(b, message); }
}

%token END 0
%token NAME DOTTED WORD INTEGER FLOAT STRING WARP_SZ SINK
%token SEMICOLON ";" COMMA "," COLON ":" LPAREN "(" RPAREN ")" LBRACKET "[" RBRACKET "]" LBRACE "{" RBRACE "}" AT "@" ASSIGN "="
%token QUESTION "?" OROR "||" ANDAND "&&" OR "|" XOR "^" AND "&" EQ "==" NE "!=" LT "<" GT ">" LE "<=" GE ">=" SHL "<<" SHR ">>"
%token PLUS "+" MINUS "-" STAR "*" SLASH "/" PERCENT "%" NOT "!" TILDE "~"
%token VERSION TARGET ADDRESS_SIZE FILENUMBER LOC SECTION PRAGMA ALIAS ENTRY FUNC EXTERN VISIBLE WEAK COMMON
%token REG CONST GLOBAL LOCAL PARAM SHARED TEX ALIGN ATTRIBUTE PTR BRANCHTARGETS CALLTARGETS CALLPROTOTYPE
%token MAXNTID REQNTID MINNCTAPERSM MAXNCTAPERSM MAXNREG EXPLICITCLUSTER REQNCTAPERCLUSTER MAXCLUSTERRANK BLOCKSARECLUSTERS
%token NORETURN ABI_PRESERVE ABI_PRESERVE_CONTROL HEDDLE RESYNC
%token SIMPLE /* a NAME or INTEGER that is a whole operand: behind the opcode or a comma, before a comma, ; or } */

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

module: %empty | module item ;

item: VERSION FLOAT                        { hd_build_version(b, &$1, &$2); }
    | VERSION INTEGER                      { hd_build_version(b, &$1, &$2); }
    | TARGET target_words                  { hd_build_target(b, &$1, &$2); }
    | ADDRESS_SIZE INTEGER                 { hd_build_address_size(b, &$1, &$2); }
    | FILENUMBER INTEGER STRING file_stamp { hd_build_file(b, &$1, &$2, &$3, &$4); }
    | SECTION any_word "{" section_items "}" { hd_build_section(b, &$1, &$2, &$5); }
    | PRAGMA strings ";"                   { hd_build_verbatim(b, HD_VERBATIM_PRAGMA, &$1, &$3); }
    | ALIAS NAME "," NAME ";"              { hd_build_alias(b, &$1, &$2, &$4, &$5); }
    | linkage variables
    | linkage function
    | registers
    | error RESYNC                         { yyerrok; if (b->stopped) YYABORT; }
    ;

target_words: target_word | target_words "," target_word { $$ = $1; $$.token.end = $3.token.end; } ;
target_word: NAME { hd_build_target_word(b, &$1); } ;
file_stamp: %empty { $$.token.end = 0; } | "," INTEGER "," INTEGER { $$ = $4; } ;
strings: STRING | strings "," STRING ;

/* ---- sections ---- */
section_items: %empty | section_items section_item ;
section_item: NAME ":"
            | WORD section_values { hd_build_section_width(b, &$1); }
            ;
section_values: section_value | section_values "," section_value ;
section_value: INTEGER | "-" INTEGER | NAME | NAME "+" INTEGER | NAME "-" NAME | any_word | any_word "+" INTEGER ;
any_word: WORD | space_word ;

/* ---- variables ---- */
linkage: %empty  { b->linkage = HD_LINKAGE_NONE; b->header_begin = HD_NONE; }
       | EXTERN  { b->linkage = HD_LINKAGE_EXTERN; b->header_begin = $1.token.begin; }
       | VISIBLE { b->linkage = HD_LINKAGE_VISIBLE; b->header_begin = $1.token.begin; }
       | WEAK    { b->linkage = HD_LINKAGE_WEAK; b->header_begin = $1.token.begin; }
       | COMMON  { b->linkage = HD_LINKAGE_COMMON; b->header_begin = $1.token.begin; }
       ;
variables: space qualifiers type declarators ";" { hd_build_variables(b, &$5); } ;
space: space_word                  { hd_build_declaration(b, &$1); }
     | CONST "[" INTEGER "]"       { hd_build_declaration(b, &$1); hd_build_bank(b, &$1, &$4); }
     ;
space_word: CONST | GLOBAL | LOCAL | PARAM | SHARED | TEX ;
qualifiers: %empty
          | qualifiers ALIGN INTEGER                  { hd_build_align(b, &$3); }
          | qualifiers ATTRIBUTE "(" attributes ")"
          ;
attributes: attribute | attributes "," attribute ;
attribute: WORD | WORD "(" integers ")" ;
type: WORD      { hd_build_type(b, NULL, &$1); }
    | WORD WORD { hd_build_type(b, &$1, &$2); }
    ;
declarators: declarator | declarators "," declarator ;
declarator: NAME { hd_build_declarator(b, &$1); } dimensions initializer { hd_build_declarator_end(b); }
          | NAME "<" INTEGER ">" { hd_build_declarator_range(b, &$1, &$3, &$4); }
          ;
dimensions: %empty
          | dimensions "[" "]"         { hd_build_dimension(b, NULL, &$3); }
          | dimensions "[" INTEGER "]" { hd_build_dimension(b, &$3, &$4); }
          | dimensions "[" WARP_SZ "]" { hd_build_dimension(b, &$3, &$4); }
          ;
initializer: %empty | "=" { hd_build_initializer(b, &$1); } initial_value ;
initial_value: expression { hd_build_initial(b, &$1); }
             | "{" { hd_build_initial_open(b, &$1); } initial_list "}" { hd_build_initial_close(b, &$4); }
             ;
initial_list: %empty | initial_items ;
initial_items: initial_item | initial_items "," initial_item ;
initial_item: initial_value | NAME "=" field_value { hd_build_field(b, &$1); } ;
field_value: INTEGER | NAME | FLOAT | "-" INTEGER ;

registers: REG { hd_build_declaration(b, &$1); } qualifiers type register_list ";" { hd_build_registers(b, &$6); } ;
register_list: register | register_list "," register ;
register: NAME                     { hd_build_register(b, &$1); }
        | NAME "<" INTEGER ">"     { hd_build_register_range(b, &$1, &$3, &$4); }
        ;

/* ---- functions ---- */
function: ENTRY { hd_build_header(b, &$1, true); } name parameters performance_list body
        | FUNC { hd_build_header(b, &$1, false); } function_attribute results name parameters performance_list body
        ;
function_attribute: %empty | ATTRIBUTE "(" attributes ")" ;
name: NAME { hd_build_function_name(b, &$1); } ;
results: %empty | "(" { b->in_results = true; } parameter_list ")" { b->in_results = false; } ;
parameters: %empty | "(" parameter_list ")" ;
parameter_list: %empty | parameter_items ;
parameter_items: parameter | parameter_items "," parameter ;
parameter: parameter_space parameter_words parameter_name dimensions { hd_build_parameter_end(b); } ;
parameter_space: PARAM { hd_build_declaration(b, &$1); } | REG { hd_build_declaration(b, &$1); } ;
parameter_words: parameter_word | parameter_words parameter_word ;
parameter_word: WORD          { hd_build_parameter_word(b, &$1); }
              | ALIGN INTEGER { hd_build_align(b, &$2); }
              | PTR           { hd_build_pointer(b, &$1); }
              | space_word    { hd_build_pointer_space(b, &$1); }
              ;
parameter_name: NAME { hd_build_parameter(b, &$1); } | SINK { hd_build_parameter(b, &$1); } ;

performance_list: %empty | performance_list performance ;
performance: MAXNTID integers          { hd_build_performance(b, &$1); }
           | REQNTID integers          { hd_build_performance(b, &$1); }
           | MINNCTAPERSM integers     { hd_build_performance(b, &$1); }
           | MAXNCTAPERSM integers     { hd_build_performance(b, &$1); }
           | MAXNREG integers          { hd_build_performance(b, &$1); }
           | REQNCTAPERCLUSTER integers { hd_build_performance(b, &$1); }
           | MAXCLUSTERRANK integers   { hd_build_performance(b, &$1); }
           | EXPLICITCLUSTER           { b->integers.count = 0; hd_build_performance(b, &$1); }
           | BLOCKSARECLUSTERS         { b->integers.count = 0; hd_build_performance(b, &$1); }
           | NORETURN                  { b->integers.count = 0; hd_build_performance(b, &$1); }
           | ABI_PRESERVE integers     { hd_build_performance(b, &$1); }
           | ABI_PRESERVE_CONTROL integers { hd_build_performance(b, &$1); }
           | PRAGMA strings ";"
           ;
integers: INTEGER { b->integers.count = 0; hd_build_integer(b, &$1); } | integers "," INTEGER { hd_build_integer(b, &$3); } ;

body: ";" { hd_build_prototype(b, &$1); }
    | "{" { hd_build_body(b, &$1); } statements "}" { hd_build_body_end(b, &$4); }
    ;

/* ---- statements ---- */
statements: %empty | statements statement ;
statement: opcode ";"                { hd_build_instruction(b, &$1, &$2); }
         | opcode operands ";"       { hd_build_instruction(b, &$1, &$3); }
         | guard opcode ";"          { hd_build_guarded(b, &$1, &$3); }
         | guard opcode operands ";" { hd_build_guarded(b, &$1, &$4); }
         | NAME ":"                  { hd_build_label(b, &$1, &$2); }
         | "{"                       { hd_build_open(b, &$1); } statements "}" { hd_build_close(b, &$4); }
         | LOC INTEGER INTEGER INTEGER { hd_build_location(b, &$1, &$2, &$3, &$4); }
         | LOC INTEGER INTEGER INTEGER "," inlined { hd_build_location(b, &$1, &$2, &$3, &$4); hd_build_inlined(b, &$6); }
         | registers
         | { b->linkage = HD_LINKAGE_NONE; b->header_begin = HD_NONE; } variables
         | PRAGMA strings ";"        { hd_build_verbatim(b, HD_VERBATIM_PRAGMA, &$1, &$3); }
         | HEDDLE                    { hd_build_heddle(b, &$1); }
         | table
         | error RESYNC              { yyerrok; if (b->stopped) YYABORT; }
         ;
inlined: NAME NAME inlined_offset "," NAME INTEGER INTEGER INTEGER { $$ = $8; hd_build_inlined_at(b, &$1, &$2, &$5, &$6, &$7, &$8); } ;
inlined_offset: %empty { b->inlined_offset = 0; } | "+" INTEGER { b->inlined_offset = hd_build_u32(b, &$2); } ;

table: NAME ":" BRANCHTARGETS { hd_build_table(b, HD_TABLE_BRANCH_TARGETS, &$1); } targets ";" { hd_build_table_end(b, &$6); }
     | NAME ":" CALLTARGETS { hd_build_table(b, HD_TABLE_CALL_TARGETS, &$1); } targets ";" { hd_build_table_end(b, &$6); }
     | NAME ":" CALLPROTOTYPE { hd_build_table(b, HD_TABLE_CALL_PROTOTYPE, &$1); } results SINK prototype_parameters prototype_words ";"
                            { hd_build_table_end(b, &$9); }
     ;
targets: target | targets "," target ;
target: NAME { hd_build_table_target(b, &$1, NULL); } | NAME "<" INTEGER ">" { hd_build_table_target(b, &$1, &$3); } ;
prototype_parameters: parameters ;
prototype_words: %empty
               | prototype_words NORETURN { hd_build_table_no_return(b); }
               | prototype_words ABI_PRESERVE INTEGER
               | prototype_words ABI_PRESERVE_CONTROL INTEGER
               ;

guard: "@" NAME     { hd_build_guard(b, &$1, &$2, false); $$ = $1; }
     | "@" "!" NAME { hd_build_guard(b, &$1, &$3, true); $$ = $1; }
     ;
opcode: NAME            { hd_build_opcode(b, &$1); }
      | DOTTED          { hd_build_opcode(b, &$1); }
      | opcode modifier { hd_build_modifier(b, &$2); $$ = $1; }
      ;
modifier: any_word | WEAK | ALIAS | COMMON | REG | PTR | ALIGN ;

/* ---- operands ---- */
operands: SIMPLE              { hd_build_simple(b, &$1); }
        | operands "," SIMPLE { hd_build_simple(b, &$3); }
        | operand
        | operands "," operand
        ;
operand: expression { hd_build_operand(b, &$1); }
       | vector
       | vector "|" expression { hd_build_vector_pair(b, &$3); }
       | address
       | address WORD { hd_build_address_word(b, &$2); }
       | list
       ;
vector: vector_open elements "}" { hd_build_aggregate_end(b, &$3); }
      | vector_open "}"          { hd_build_empty(b, &$1, &$2); }
      ;
vector_open: "{" { hd_build_aggregate(b, HD_OPERAND_VECTOR, &$1); } ;
elements: SIMPLE              { hd_build_simple(b, &$1); }
        | elements "," SIMPLE { hd_build_simple(b, &$3); }
        | operand
        | elements "," operand
        ;
address: "[" expression "]" { hd_build_address(b, &$1, &$2); hd_build_aggregate_end(b, &$3); }
       | "[" expression "," { hd_build_address(b, &$1, &$2); } elements "]" { hd_build_aggregate_end(b, &$6); }
       ;
list: "(" ")" { hd_build_aggregate(b, HD_OPERAND_LIST, &$1); hd_build_aggregate_end(b, &$2); }
    | "(" expression "," { hd_build_aggregate(b, HD_OPERAND_LIST, &$1); hd_build_operand(b, &$2); } elements ")" { hd_build_aggregate_end(b, &$6); }
    ;

expression: NAME
          | DOTTED
          | INTEGER
          | FLOAT
          | WARP_SZ
          | SINK
          | "(" expression ")"                { hd_expression_paren(b, &$$, &$1, &$2, &$3); }
          | "(" WORD ")" expression %prec UNARY { hd_expression_cast(b, &$$, &$1, &$2, &$4); }
          | NAME "[" expression "]"           { hd_expression_subscript(b, &$$, &$1, &$3, &$4); }
          | NAME "(" NAME ")"                 { hd_expression_generic(b, &$$, &$1, &$3, &$4); }
          | INTEGER "(" NAME ")"              { hd_expression_mask(b, &$$, &$1, &$3, &$4); }
          | "-" expression %prec UNARY        { hd_expression_unary(b, &$$, &$1, &$2); }
          | "+" expression %prec UNARY        { hd_expression_unary(b, &$$, &$1, &$2); }
          | "!" expression %prec UNARY        { hd_expression_unary(b, &$$, &$1, &$2); }
          | "~" expression %prec UNARY        { hd_expression_unary(b, &$$, &$1, &$2); }
          | expression "*" expression         { hd_expression_binary(b, &$$, &$1, &$2, &$3); }
          | expression "/" expression         { hd_expression_binary(b, &$$, &$1, &$2, &$3); }
          | expression "%" expression         { hd_expression_binary(b, &$$, &$1, &$2, &$3); }
          | expression "+" expression         { hd_expression_binary(b, &$$, &$1, &$2, &$3); }
          | expression "-" expression         { hd_expression_binary(b, &$$, &$1, &$2, &$3); }
          | expression "<<" expression        { hd_expression_binary(b, &$$, &$1, &$2, &$3); }
          | expression ">>" expression        { hd_expression_binary(b, &$$, &$1, &$2, &$3); }
          | expression "<" expression         { hd_expression_binary(b, &$$, &$1, &$2, &$3); }
          | expression ">" expression         { hd_expression_binary(b, &$$, &$1, &$2, &$3); }
          | expression "<=" expression        { hd_expression_binary(b, &$$, &$1, &$2, &$3); }
          | expression ">=" expression        { hd_expression_binary(b, &$$, &$1, &$2, &$3); }
          | expression "==" expression        { hd_expression_binary(b, &$$, &$1, &$2, &$3); }
          | expression "!=" expression        { hd_expression_binary(b, &$$, &$1, &$2, &$3); }
          | expression "&" expression         { hd_expression_binary(b, &$$, &$1, &$2, &$3); }
          | expression "^" expression         { hd_expression_binary(b, &$$, &$1, &$2, &$3); }
          | expression "|" expression         { hd_expression_binary(b, &$$, &$1, &$2, &$3); }
          | expression "&&" expression        { hd_expression_binary(b, &$$, &$1, &$2, &$3); }
          | expression "||" expression        { hd_expression_binary(b, &$$, &$1, &$2, &$3); }
          | expression "?" expression ":" expression { hd_expression_choice(b, &$$, &$1, &$3, &$5); }
          ;

%%

/* Names the tokens that could have stood here, where they are few. */
static int yyreport_syntax_error(const yypcontext_t *context, hd_builder *b)
{
    enum { FEW = 4 };
    yysymbol_kind_t expected[FEW + 1];
    int count = yypcontext_expected_tokens(context, expected, FEW + 1);
    uint32_t kinds[FEW + 1];
    for (int i = 0; i < count && i <= FEW; i++)
        kinds[i] = (uint32_t)expected[i];
    hd_builder_syntax_error(b, (uint32_t)yypcontext_token(context), kinds, count > FEW || count < 0 ? 0 : (uint32_t)count);
    return 0;
}
