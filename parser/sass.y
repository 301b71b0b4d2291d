/* The structure of a listing of machine code: lines, and within them `guard OPCODE operand, operand ;`. The grammar
 * contains no opcodes; what is a line of which kind the scanner decides (lexer/sass.h). A mistake is reported once, and
 * reading goes on with the next line.
 *
 * The actions only call the reader (parser/sass.h). A semantic value is an index in its tokens: b->tokens, of the line
 * being read. */
%define api.pure full
%define api.prefix {hd_sass_}
%define api.token.prefix {T_}
%define api.token.raw
%define api.value.type {uint32_t}
%define parse.error custom
%param {hd_sass_reader *b}
%expect 0

%code requires {
#include "parser/sass_reader.h"
}
%code {
#define HD_SASS_TOKEN(id, text) \
    _Static_assert((int)HD_SASS_TOKEN_##id == (int)T_##id, "sass_tokens.def and %token: one order");
#include "lexer/sass_tokens.def"
#undef HD_SASS_TOKEN
#define T(value) (&b->tokens[value])
static int hd_sass_lex(uint32_t *value, hd_sass_reader *b) { return (int)hd_sass_reader_token(b, value); }
static void hd_sass_error(hd_sass_reader *b, const char *message) { hd_sass_reader_exhausted(b, message); }
}

%token END 0
%token LINE_END ADDRESS FUNCTION ARCHITECTURE CODE_SECTION OTHER_SECTION REGISTERS USAGE LABEL
%token LOCATION FUNCTION_END HEDDLE NODE EDGE OTHER CODE
%token CONTROL GUARD OPCODE REGISTER NUMBER WORD CONSTANT SPACE TARGET SYMBOL LIST NOTE
%token COMMA "," PLUS "+" LBRACKET "[" RBRACKET "]" SEMICOLON ";" UNKNOWN

%%

listing: %empty | listing line ;

line: LINE_END                    { hd_sass_line_end(b); }
    | prefixes LINE_END           { hd_sass_line_end(b); }
    | FUNCTION LINE_END           { hd_sass_function_start(b, T($1), true); hd_sass_line_end(b); }
    | CODE_SECTION LINE_END       { hd_sass_function_start(b, T($1), false); hd_sass_line_end(b); }
    | OTHER_SECTION LINE_END      { hd_sass_other_section(b, T($1)); hd_sass_line_end(b); }
    | FUNCTION_END LINE_END       { hd_sass_function_stop(b, T($1)->begin); hd_sass_line_end(b); }
    | ARCHITECTURE LINE_END       { hd_sass_architecture(b, T($1)); hd_sass_line_end(b); }
    | REGISTERS LINE_END          { hd_sass_registers(b, T($1)); hd_sass_line_end(b); }
    | USAGE LINE_END              { hd_sass_usage(b, T($1)); hd_sass_line_end(b); }
    | LOCATION LINE_END           { hd_sass_location(b, T($1)); hd_sass_line_end(b); }
    | NODE LINE_END               { hd_sass_node(b, T($1)); hd_sass_line_end(b); }
    | EDGE LINE_END               { hd_sass_line_end(b); }
    | OTHER LINE_END              { hd_sass_line_end(b); }
    | HEDDLE LINE_END             { hd_sass_heddle(b, T($1)); hd_sass_line_end(b); }
    | LABEL                       { hd_sass_label(b, T($1)); }
    | start operands tail LINE_END { hd_sass_instruction_end(b); hd_sass_line_end(b); }
    | error LINE_END              { yyerrok; hd_sass_line_end(b); }
    ;

prefixes: prefix | prefixes prefix ;
prefix: ADDRESS                   { hd_sass_address(b, T($1)); }
      | CONTROL                   { b->control = T($1)->begin; }
      | CODE                      { hd_sass_code(b, T($1)); }
      ;

start: OPCODE                     { hd_sass_instruction_start(b, T($1), NULL); }
     | GUARD OPCODE               { hd_sass_instruction_start(b, T($2), T($1)); }
     | prefixes OPCODE            { hd_sass_instruction_start(b, T($2), NULL); }
     | prefixes GUARD OPCODE      { hd_sass_instruction_start(b, T($3), T($2)); }
     ;

operands: %empty | operand_list ;
operand_list: operand | operand_list "," operand ;
operand: plain
       | REGISTER { hd_sass_operand_register(b, T($1)); } offset
       ;
offset: %empty | NUMBER           { hd_sass_operand_plain(b, T($1), HD_SASS_IMMEDIATE); }
      | TARGET                    { hd_sass_operand_plain(b, T($1), HD_SASS_LABEL); }
      | "+" NUMBER                { hd_sass_operand_plain(b, T($2), HD_SASS_IMMEDIATE); }
      | open brackets             { hd_sass_operand_close(b); } /* R3[R17] in JSON, elsewhere R3, [R17] */
      ;
plain: NUMBER                     { hd_sass_operand_plain(b, T($1), HD_SASS_IMMEDIATE); }
     | SYMBOL                     { hd_sass_operand_plain(b, T($1), HD_SASS_IMMEDIATE); }
     | TARGET                     { hd_sass_operand_plain(b, T($1), HD_SASS_LABEL); }
     | CONSTANT                   { hd_sass_operand_plain(b, T($1), HD_SASS_CONSTANT); }
     | LIST                       { hd_sass_operand_plain(b, T($1), HD_SASS_LIST); }
     | WORD                       { hd_sass_operand_word(b, T($1)); }
     | open brackets              { hd_sass_operand_close(b); }
     | SPACE                      { hd_sass_operand_open(b, T($1), T($1)); } brackets { hd_sass_operand_close(b); }
     ;
open: "["                         { hd_sass_operand_open(b, T($1), NULL); } inner "]" { b->bracket_end = T($4)->end; } ;
brackets: %empty | brackets "["   { b->bracket++; } inner "]" { b->bracket_end = T($5)->end; } ;
inner: %empty | inner part ;
part: REGISTER                    { hd_sass_inner(b, T($1)); }
    | NUMBER
    | WORD
    | SYMBOL
    | TARGET
    | "+"
    ;

tail: notes end codes ;
notes: %empty | notes NOTE        { hd_sass_note(b, T($2)); } ;
end: %empty | end ";"             { hd_sass_statement_end(b, T($2)); } ;
codes: %empty | codes CODE        { hd_sass_code(b, T($2)); } ;

%%

static int yyreport_syntax_error(const yypcontext_t *context, hd_sass_reader *b)
{
    yysymbol_kind_t expected[8];
    int count = yypcontext_expected_tokens(context, expected, 8);
    uint32_t kinds[8];
    for (int i = 0; i < count && i < 8; i++)
        kinds[i] = (uint32_t)expected[i];
    hd_sass_syntax_error(b, kinds, count < 0 ? 0 : (uint32_t)(count > 8 ? 8 : count));
    return 0;
}
