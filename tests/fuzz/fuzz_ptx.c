/* Fuzz target of the PTX front end: any bytes must parse or be refused, within the sanitizers' rules.
 *
 * Of a text that is accepted three things are asked besides: the IR validator finds nothing; the statements of the
 * module and of each body stand in order, one after the other; between them are only white space and comments, so that
 * printing from spans loses no token. */
#include "ir/cfg.h"
#include "lexer/lexer.h"
#include "parser/parse.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

static void demand(bool holds)
{
    if (!holds)
        __builtin_trap();
}

/* No token stands in [begin, end). */
static void demand_blank(hd_module *module, uint32_t begin, uint32_t end)
{
    hd_lexer lexer;
    hd_token token;
    demand(begin <= end && end <= module->source->length);
    hd_lexer_init(&lexer, module->source, (hd_span){begin, end}, &module->names, NULL);
    demand(hd_lexer_next(&lexer, &token) == HD_TOKEN_END);
}

static void demand_spans(hd_module *module, const hd_statement *statements, uint32_t count, uint32_t begin,
                         uint32_t end)
{
    for (uint32_t i = 0; i < count; i++) {
        demand_blank(module, begin, statements[i].span.begin);
        demand(statements[i].span.begin < statements[i].span.end);
        begin = statements[i].span.end;
    }
    demand_blank(module, begin, end);
}

static void demand_order(hd_module *module)
{
    demand_spans(module, module->statements.items, module->statements.count, 0, module->source->length);
    for (uint32_t i = 0; i < module->functions.count; i++) {
        const hd_function *f = module->functions.items[i];
        if (f->has_body)
            demand_spans(module, f->statements.items, f->statements.count, f->body.begin + 1, f->body.end - 1);
    }
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    hd_source source;
    hd_diagnostics diagnostics;
    hd_parse_options options = {.strict = size % 2 == 0, .drop_stale = size % 3 == 0};
    hd_source_from_memory(&source, "fuzz.ptx", (const char *)data, size);
    hd_diagnostics_init(&diagnostics);
    hd_module *module = hd_parse_ptx(&source, &options, &diagnostics);
    if (!diagnostics.error_count) {
        demand(hd_ir_validate(module));
        demand_order(module);
    }
    hd_module_free(module);
    hd_diagnostics_free(&diagnostics);
    return 0;
}
