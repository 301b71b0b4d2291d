/* What the sources of a plug-in include: the interfaces of models, passes and checkers, and the structure by which a
 * plug-in registers what it has.
 *
 *   static const hd_technique_info techniques[] = {...};
 *   static const hd_plugin_model models[] = {...};
 *   HD_PLUGIN_EXPORT const hd_plugin heddle_plugin = {
 *       HD_PLUGIN_HEAD,
 *       .name = "recent", .version = "1", .license = "Apache-2.0",
 *       .techniques = techniques, HD_PLUGIN_ROWS_OF(technique, techniques),
 *       .models = models, HD_PLUGIN_ROWS_OF(model, models),
 *   };
 *
 * docs/adding-a-technique.md goes through two plug-ins, `heddle new technique NAME` writes one, and
 * `heddle check-plugin` tests one. */
#ifndef HD_DRIVER_PLUGIN_PLUGIN_H
#define HD_DRIVER_PLUGIN_PLUGIN_H

#include "base/bitset.h"
#include "driver/plugin/abi.h"
#include "hwmodel/rf/memo.h"
#include "ir/architected.h"
#include "ir/asynchronous.h"
#include "ir/build.h"
#include "ir/storage.h"
#include "passes/analysis/async_spans.h"
#include "passes/analysis/liveness.h"
#include "passes/check/facts.h"

extern const hd_plugin heddle_plugin;

#endif
