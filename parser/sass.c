/* Machine-code listings: sets up the reader, and runs the grammar over the text. */
#include "parser/sass.h"
#include "parser/sass_reader.h"

static void free_reader(hd_sass_reader *b)
{
    hd_array_free(&b->label_of_name);
    hd_array_free(&b->label_stamp);
    hd_array_free(&b->references);
    hd_array_free(&b->jumps);
    hd_array_free(&b->lines);
    hd_array_free(&b->reuse);
    hd_array_free(&b->usages);
}

void hd_parse_sass(hd_module *module)
{
    hd_sass_reader *b = hd_calloc(1, sizeof *b);
    b->module = module;
    b->address = b->control = b->group = b->location = HD_NONE;
    b->has_code = true;
    module->is_machine = true;
    hd_sass_lexer_init(&b->lexer, module->source, (hd_span){0, module->source->length});
    module->is_json = b->lexer.json;
    hd_sass_parse(b);
    hd_sass_function_stop(b, module->source->length);
    if (!module->functions.count && !module->diagnostics->error_count)
        hd_sass_error_at(b, EMPTY_INPUT, ((hd_span){0, module->source->length ? 1 : 0}), "no function in this listing");
    if (!b->lexer.json && !b->lexer.dot && !b->lexer.csv)
        hd_sass_read_images(module);
    free_reader(b);
    free(b);
}
