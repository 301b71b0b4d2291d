/* heddle init: a launch file to begin with, from the parameters of a module's kernels. What the text does not say,
 * counts and grids, is a guess with a comment. */
#include "cli/cli.h"

#include <inttypes.h>
#include <libgen.h>
#include <stdio.h>
#include <string.h>

enum { ELEMENTS = 1024, BLOCK = 256 };

typedef struct skeleton {
    const hd_module *module;
    hd_writer *to;
} skeleton;

static const hd_symbol *parameter(const skeleton *s, const hd_function *f, uint32_t i)
{
    return &s->module->symbols.items[f->parameter_first + i];
}

static bool is_kernel(const hd_function *f) { return f->is_entry && f->has_body; }

/* An integer as wide as an address: nvcc writes pointers so. */
static bool may_be_pointer(const skeleton *s, const hd_symbol *p)
{
    return p->size_bytes == s->module->address_bits / 8 && !p->dimension_count &&
           hd_types[p->type].class != HD_CLASS_FLOAT;
}

static void write_buffers(const skeleton *s)
{
    const char *title = "buffers:\n";
    for (uint32_t i = 0; i < s->module->functions.count; i++) {
        const hd_function *f = s->module->functions.items[i];
        for (uint32_t k = 0; is_kernel(f) && k < f->parameter_count; k++) {
            const hd_symbol *p = parameter(s, f, k);
            if (!may_be_pointer(s, p))
                continue;
            hd_write_format(s->to, "%s  \"%s\": {type: u32, count: %d, fill: zero}\n", title,
                            hd_names_text(&s->module->names, p->name), ELEMENTS);
            title = "";
        }
    }
}

static void write_parameter(const skeleton *s, const hd_symbol *p)
{
    const char *name = hd_names_text(&s->module->names, p->name), *type = hd_types[p->type].spelling;
    if (may_be_pointer(s, p)) {
        hd_write_format(s->to, "      - \"%s\"\n", name);
    } else if (p->dimension_count) {
        hd_write_format(s->to, "      - {struct: [{pad: %" PRIu64 "}]}   # %s\n", p->size_bytes, name);
    } else {
        hd_write_format(s->to, "      - {%s: 0}   # %s\n", type, name);
    }
}

static void write_launch(const skeleton *s, const hd_function *f)
{
    const uint32_t *given = f->required_threads[0] ? f->required_threads : f->max_threads;
    hd_write_format(s->to, "  - kernel: \"%s\"\n    grid: %d\n    block: [%u, %u, %u]\n",
                    hd_names_text(&s->module->names, f->name), ELEMENTS / BLOCK, given[0] ? given[0] : BLOCK,
                    given[1] ? given[1] : 1, given[2] ? given[2] : 1);
    if (f->parameter_count)
        hd_write_string(s->to, "    params:\n");
    for (uint32_t i = 0; i < f->parameter_count; i++)
        write_parameter(s, parameter(s, f, i));
}

static bool has_kernel(const hd_module *m)
{
    for (uint32_t i = 0; i < m->functions.count; i++)
        if (is_kernel(m->functions.items[i]))
            return true;
    return false;
}

int hd_cli_init(hd_cli *cli)
{
    hd_source *source = HD_ARENA_NEW(&cli->arena, hd_source);
    hd_parse_options options = hd_cli_parse_options(cli);
    hd_output output;
    if (!hd_cli_read(cli, cli->operands[0], source))
        return HD_STATUS_REJECTED;
    hd_module *m = hd_parse_ptx(source, &options, &cli->diagnostics);
    hd_cli_keep_module(cli, m);
    if (cli->diagnostics.error_count)
        return hd_cli_status(cli);
    if (!has_kernel(m)) {
        hd_report(&cli->diagnostics, HD_DIAG_UNKNOWN_KERNEL, source, (hd_span){0, 0}, "the module has no kernel");
        return HD_STATUS_REJECTED;
    }
    if (!hd_cli_open(cli, &output, cli->values[HD_OPTION_OUTPUT]))
        return HD_STATUS_REJECTED;
    skeleton s = {m, &output.writer};
    hd_write_format(s.to, "# From the parameters of the kernels: set counts, contents, grids and values.\nmodule: %s\n",
                    basename(hd_arena_string(&cli->arena, cli->operands[0], strlen(cli->operands[0]))));
    write_buffers(&s);
    hd_write_string(s.to, "launches:\n");
    for (uint32_t i = 0; i < m->functions.count; i++)
        if (is_kernel(m->functions.items[i]))
            write_launch(&s, m->functions.items[i]);
    return hd_cli_close(cli, &output, true) ? HD_STATUS_DONE : HD_STATUS_REJECTED;
}
