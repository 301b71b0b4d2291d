/* latch: results that only the next instruction reads stay beside the register file. The rows by which heddle knows the
 * technique; pass.c, check.c and model.c have what it does. */
#include "latch.h"

static const hd_paper paper = {"the heddle project", "Adding a technique", "docs/adding-a-technique.md", 2026};
static const hd_technique_info techniques[] = {
    {"latch", "latch", &paper, "latch", "results that only the next instruction reads stay beside the register file"},
};
static const hd_annotation_info annotations[] = {
    {LATCH_MARK, "latch", "latch", HD_ANCHOR_INSTRUCTION, HD_VALUE_FLAG, "",
     "the result goes to the slot only: the next instruction is its only reader"},
};
static const hd_pass_info passes[] = {
    {"latch", "marks results that only the next instruction reads", "", latch_pass, HD_NEEDS_LIVE_WORDS, HD_KEEPS_ALL},
};
static const hd_checker checkers[] = {{"latch", latch_check}};
static const hd_rf_headline_info served = {.title = "reads bypassed",
                                           .meaning = "share of operand reads that the register file does not serve",
                                           .otherwise = "no operand in a register",
                                           .kind = HD_HEADLINE_SHARE,
                                           .part = HD_COUNTER_BYPASSED,
                                           .whole = HD_COUNTER_OPERANDS,
                                           .needs = HD_COUNTER_OPERANDS};
static const hd_plugin_model models[] = {
    {.row = {.name = "latch",
             .technique = "latch",
             .ops = &latch_ops,
             .pass = "latch",
             .options = "",
             .summary = "results that only the next instruction reads stay beside the register file",
             .headline = &served}},
};

HD_PLUGIN_EXPORT const hd_plugin heddle_plugin = {
    HD_PLUGIN_HEAD,
    .name = "latch",
    .version = "1",
    .license = "Apache-2.0",
    .techniques = techniques,
    HD_PLUGIN_ROWS_OF(technique, techniques),
    .annotations = annotations,
    HD_PLUGIN_ROWS_OF(annotation, annotations),
    .passes = passes,
    HD_PLUGIN_ROWS_OF(pass, passes),
    .checkers = checkers,
    HD_PLUGIN_ROWS_OF(checker, checkers),
    .models = models,
    HD_PLUGIN_ROWS_OF(model, models),
};
