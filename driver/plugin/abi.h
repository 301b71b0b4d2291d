/* What a plug-in is for heddle: a shared object that defines one `const hd_plugin heddle_plugin`, whose rows are those
 * of the tables that techniques of the tree are rows of. plugin.h has what its sources include. */
#ifndef HD_DRIVER_PLUGIN_ABI_H
#define HD_DRIVER_PLUGIN_ABI_H

#include "driver/plugin/headers.h"
#include "hwmodel/rf/technique.h"
#include "ir/techniques.h"
#include "passes/check/check.h"
#include "passes/manager/manager.h"

/* Of hd_plugin itself. What its members point to, and what a plug-in calls, is as in the headers that it was compiled
 * with: HD_PLUGIN_HEADERS is their hash, and heddle loads a plug-in only if it is that of its own. */
enum { HD_PLUGIN_ABI = 1 };

typedef struct hd_plugin_model {
    hd_rf_model_info row;
    const char *standard_title; /* what the paper calls it, where it is a standard configuration; NULL: it is none. Of a
                                   technique without any, the first model is. */
} hd_plugin_model;

/* In a headline, the k-th counter of the plug-in itself, from 0 on. */
#define HD_PLUGIN_COUNTER(k) (0x8000 | (k))

typedef struct hd_plugin {
    uint32_t size, abi; /* sizeof(hd_plugin), HD_PLUGIN_ABI */
    uint64_t headers;   /* HD_PLUGIN_HEADERS */
    bool planted;       /* HD_PLANTED_FAULTS: its models have the faults that heddle check-plugin plants */
    const char *name, *version, *license; /* name: of letters, digits, '-', '+' and '_', and of no other plug-in */
    /* Rows: ir/techniques.def, annotations.def, passes.def, checks.def, counters.def, models.def and options.def say
     * what their columns mean. */
    const hd_technique_info *techniques;
    const hd_annotation_info *annotations; /* numbers: from HD_ANNOTATION_PLUGINS on, below HD_ANNOTATION_PLUGINS_END */
    const hd_pass_info *passes;
    const hd_checker *checkers;
    const hd_counter_info *counters;
    const hd_plugin_model *models;
    const hd_rf_option_info *options;
    uint32_t technique_count, annotation_count, pass_count, checker_count, counter_count, model_count, option_count;
    hd_counter *first_counter; /* gets the number of the first one of `counters`; the others follow */
} hd_plugin;

/* The members that say for what the plug-in was compiled. */
#define HD_PLUGIN_HEAD \
    .size = sizeof(hd_plugin), .abi = HD_PLUGIN_ABI, .headers = HD_PLUGIN_HEADERS, .planted = HD_PLANTED_FAULTS
#define HD_PLUGIN_EXPORT __attribute__((visibility("default")))
/* Rows and their number: HD_PLUGIN_ROWS_OF(model, models_of_mine). */
#define HD_PLUGIN_ROWS_OF(kind, rows) .kind##_count = sizeof(rows) / sizeof *(rows)

#endif
