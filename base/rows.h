/* Tables to which plug-ins add rows (driver/plugin/plugin.h). The rows of a table's .def file come first and keep their
 * indices; those of plug-ins follow, in the order in which they are loaded. That happens before the first job begins:
 * from then on no table changes, and threads share them. */
#ifndef HD_BASE_ROWS_H
#define HD_BASE_ROWS_H

#include <stdbool.h>

enum { HD_PLUGIN_ROWS = 32 }; /* of each table, for all plug-ins together */

/* Adds a copy of the row to an array with a count. false: it is full. */
#define HD_ADD_ROW(rows, count, row) \
    ((count) < sizeof(rows) / sizeof *(rows) ? ((rows)[(count)++] = *(row), true) : false)

#endif
