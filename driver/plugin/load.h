/* Loading plug-ins: their rows enter the tables of techniques, annotations, passes, checkers, counters, models and
 * options. Once loaded, a plug-in stays. Plug-ins are loaded before a job begins, by one thread (base/rows.h). */
#ifndef HD_DRIVER_PLUGIN_LOAD_H
#define HD_DRIVER_PLUGIN_LOAD_H

#include "base/arena.h"
#include "base/diagnostics.h"
#include "driver/plugin/abi.h"

/* The file of a plug-in: the text itself where it has a '/' or ends in ".so", else NAME.so of the plug-in folder. */
const char *hd_plugin_file(hd_arena *arena, const char *name);
/* The folder: HEDDLE_PLUGINS, else ../lib/heddle/plugins beside the program's folder. */
const char *hd_plugin_folder(hd_arena *arena);
/* NULL: reported, and nothing of it is registered. */
const hd_plugin *hd_plugin_load(const char *name, hd_diagnostics *diagnostics);

#endif
