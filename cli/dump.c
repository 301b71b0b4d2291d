/* heddle dump: tokens, IR, control-flow graph, liveness and metadata words of a module. */
#include "cli/cli.h"

#include "base/version.h"
#include "emitters/dump.h"
#include "ir/architected.h"
#include "parser/recognize.h"

enum { WHOLE_BLOCKS = 0 };

typedef enum dump_kind { DUMP_TOKENS, DUMP_IR, DUMP_CFG, DUMP_LIVENESS, DUMP_WORDS } dump_kind;

/* Exactly one of the kinds must be asked for; -1 with a message where not. */
static int kind_of(const hd_cli *cli)
{
    static const hd_cli_option kinds[] = {HD_CLI_TOKENS, HD_CLI_IR, HD_CLI_CFG, HD_CLI_LIVENESS, HD_CLI_WORDS};
    int found = -1, count = 0;
    for (int i = 0; i < (int)(sizeof kinds / sizeof *kinds); i++) {
        if (!hd_cli_has(cli, kinds[i]))
            continue;
        found = i;
        count++;
    }
    if (count != 1)
        hd_cli_usage_error("one of --tokens, --ir, --cfg, --liveness and --words is needed");
    else if (hd_cli_has(cli, HD_CLI_JSON) && found != DUMP_IR && found != DUMP_CFG)
        hd_cli_usage_error("--json goes with --ir and --cfg");
    else
        return found;
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

static void dump_functions(const hd_cli *cli, hd_writer *out, const hd_module *module, dump_kind kind)
{
    const char *glob = cli->values[HD_CLI_KERNEL];
    bool json = hd_cli_has(cli, HD_CLI_JSON), first = true;
    if (json)
        hd_write_string(out, "{\"heddle\":\"" HD_VERSION "\",\"schema\":1,\"functions\":[");
    for (uint32_t i = 0; i < module->functions.count; i++) {
        hd_function *function = module->functions.items[i];
        if (!hd_function_selected(function, glob))
            continue;
        if (!first)
            hd_write_string(out, json ? ",\n" : "\n");
        dump_function(out, function, kind, json);
        first = false;
    }
    if (json)
        hd_write_string(out, "]}\n");
}

static void dump_module(hd_cli *cli, hd_source *source, hd_writer *out, dump_kind kind)
{
    hd_parse_options options = hd_cli_parse_options(cli);
    hd_module *module = hd_parse_ptx(source, &options, &cli->diagnostics);
    hd_cli_keep_module(cli, module);
    if (cli->diagnostics.error_count == 0 &&
        hd_module_check_selection(module, cli->values[HD_CLI_KERNEL], &cli->diagnostics))
        dump_functions(cli, out, module, kind);
}

static void free_source(void *source) { hd_source_free(source); }

int hd_cli_dump(hd_cli *cli)
{
    hd_source *source = HD_ARENA_NEW(&cli->arena, hd_source); /* diagnostics point to it */
    hd_output output;
    int kind = kind_of(cli);
    if (kind < 0)
        return HD_STATUS_USAGE;
    if (!hd_cli_read(cli, cli->operands[0], source))
        return HD_STATUS_REJECTED;
    if (!hd_output_open(cli, &output, cli->values[HD_CLI_OUTPUT])) {
        hd_source_free(source);
        return HD_STATUS_REJECTED;
    }
    if (kind == DUMP_TOKENS) {
        hd_cli_keep(cli, source, free_source);
        if (!hd_refuse_foreign(source, &cli->diagnostics))
            hd_emit_tokens(&output.writer, source, &cli->diagnostics);
    } else {
        dump_module(cli, source, &output.writer, (dump_kind)kind);
    }
    hd_output_close(cli, &output, cli->diagnostics.error_count == 0);
    return hd_cli_status(cli);
}
