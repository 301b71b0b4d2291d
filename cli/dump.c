/* heddle dump: tokens, IR, control-flow graph, liveness and metadata words of a module, PTX or a listing of machine
 * code. */
#include "cli/cli.h"

#include "base/shown.h"
#include "emitters/ir/dump.h"
#include "ir/architected.h"
#include "parser/recognize.h"

enum { WHOLE_BLOCKS = 0 };

typedef enum dump_kind { DUMP_TOKENS, DUMP_IR, DUMP_CFG, DUMP_LIVENESS, DUMP_WORDS, DUMP_LISTING } dump_kind;

static void say_kinds(void) { hd_cli_usage_error("one of --tokens, --ir, --cfg, --liveness and --words is needed"); }

/* At most one of the kinds may be asked for, without one the listing; -1 with a message where not. */
static int kind_of(const hd_cli *cli)
{
    static const hd_option_id kinds[] = {HD_OPTION_TOKENS, HD_OPTION_IR, HD_OPTION_CFG, HD_OPTION_LIVENESS,
                                         HD_OPTION_WORDS};
    int found = -1, count = 0;
    for (int i = 0; i < (int)(sizeof kinds / sizeof *kinds); i++) {
        if (!hd_cli_has(cli, kinds[i]))
            continue;
        found = i;
        count++;
    }
    if (count > 1)
        say_kinds();
    else if (hd_cli_has(cli, HD_OPTION_JSON) && found != DUMP_IR && found != DUMP_CFG)
        hd_cli_usage_error("--json goes with --ir and --cfg");
    else
        return count ? found : DUMP_LISTING;
    return -1;
}

static void dump_function(hd_writer *out, hd_function *function, dump_kind kind, bool json)
{
    if (json)
        hd_emit_ir_json(out, function);
    else if (kind == DUMP_IR)
        hd_emit_ir_text(out, function);
    else if (kind == DUMP_CFG)
        hd_emit_cfg_dot(out, function, WHOLE_BLOCKS);
    else if (kind == DUMP_WORDS)
        hd_emit_words(out, function);
    else if (hd_function_is_architected(function))
        hd_emit_live_ranges(out, function);
    else
        hd_emit_liveness(out, function);
}

/* What the command line asks for, of each of its inputs. */
typedef struct dump_job {
    hd_each each;
    dump_kind kind;
    bool json;
    uint32_t inputs, functions; /* written */
} dump_job;

static void dump_functions(hd_cli_part *part, const hd_module *module)
{
    const dump_job *job = part->job;
    for (uint32_t i = 0; i < module->functions.count; i++) {
        hd_function *function = module->functions.items[i];
        if (!hd_function_selected(function, part->cli.values[HD_OPTION_KERNEL]))
            continue;
        if (part->selected++)
            hd_write_string(&part->text, job->json ? ",\n" : "\n");
        dump_function(&part->text, function, job->kind, job->json);
    }
}

static void dump_module(hd_cli_part *part, hd_source *source)
{
    hd_cli *cli = &part->cli;
    hd_parse_options options = hd_cli_parse_options(cli);
    options.takes_listings = true;
    hd_module *module = hd_parse_ptx(source, &options, &cli->diagnostics);
    hd_cli_keep_module(cli, module);
    if (cli->diagnostics.error_count == 0 &&
        hd_module_check_selection(module, cli->values[HD_OPTION_KERNEL], &cli->diagnostics))
        dump_functions(part, module);
}

static void free_source(void *source) { hd_source_free(source); }

static hd_status dump_one(hd_cli_part *part)
{
    hd_cli *cli = &part->cli;
    const dump_job *job = part->job;
    hd_source *source = HD_ARENA_NEW(&cli->arena, hd_source); /* diagnostics point to it */
    if (!hd_cli_read_code(cli, cli->operands[0], job->json ? HD_LISTING_HEX : HD_LISTING_PLAIN, source))
        return HD_STATUS_REJECTED;
    if (job->kind == DUMP_LISTING) {
        hd_cli_keep(cli, source, free_source);
        if (!hd_is_sass(source)) {
            say_kinds();
            return HD_STATUS_USAGE;
        }
        hd_write(&part->text, source->text, source->length);
    } else if (job->kind != DUMP_TOKENS) {
        dump_module(part, source);
    } else {
        hd_cli_keep(cli, source, free_source);
        if (hd_is_sass(source))
            hd_emit_sass_tokens(&part->text, source);
        else if (!hd_refuse_foreign(source, &cli->diagnostics))
            hd_emit_tokens(&part->text, source, &cli->diagnostics);
    }
    return (hd_status)hd_cli_status(cli);
}

/* Which of several inputs the text after it is of; in DOT, a comment. */
static void write_head(const hd_cli_part *part, const dump_job *job, hd_writer *output)
{
    if (!hd_cli_part_is_one_of_several(part) || job->json)
        return;
    hd_write_format(output, "%s%s", job->inputs ? "\n" : "", job->kind == DUMP_CFG ? "// " : "");
    hd_write_shown_in_line(output, part->cli.operands[0]);
    hd_write_string(output, ":\n");
}

/* Writes one input's dump. The tokens before an error are written, too. */
static void join_one(hd_cli_part *part, hd_writer *output)
{
    dump_job *job = part->job;
    if (part->status != HD_STATUS_DONE && !part->text.buffer.count)
        return;
    write_head(part, job, output);
    if (job->json && !job->inputs)
        hd_emit_ir_json_begin(output);
    else if (job->json && part->selected && job->functions)
        hd_write_string(output, ",\n");
    if (job->json)
        hd_write(output, part->text.buffer.items, part->text.buffer.count);
    else
        hd_cli_part_write_text(part, output);
    job->inputs++;
    job->functions += part->selected;
}

int hd_cli_dump(hd_cli *cli)
{
    hd_output output;
    int kind = kind_of(cli);
    dump_job job = {.each = {.run = dump_one, .join = join_one, .job = &job},
                    .kind = (dump_kind)kind,
                    .json = hd_cli_has(cli, HD_OPTION_JSON)};
    if (kind < 0 || !hd_cli_inputs_fit(cli) || !hd_cli_number(cli, HD_OPTION_THREADS, &job.each.threads))
        return HD_STATUS_USAGE;
    if (!hd_cli_open(cli, &output, cli->values[HD_OPTION_OUTPUT]))
        return HD_STATUS_REJECTED;
    job.each.output = &output.writer;
    hd_status status = hd_cli_each_input(cli, &job.each, NULL);
    if (job.json && job.inputs)
        hd_emit_ir_json_end(&output.writer);
    bool keep = status == HD_STATUS_DONE || (hd_cli_is_several(cli) && job.inputs);
    return (int)(hd_cli_close(cli, &output, keep) ? status : hd_status_worse(status, HD_STATUS_REJECTED));
}
