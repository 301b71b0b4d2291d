/* The files of examples/technique/latch, built in: heddle new writes them for a technique of another name. */
#ifndef HD_DRIVER_PLUGIN_TEMPLATE_H
#define HD_DRIVER_PLUGIN_TEMPLATE_H

#include "base/arena.h"

typedef struct hd_template_file {
    const char *name, *text;
    size_t length;
} hd_template_file;
extern const hd_template_file hd_template_files[];
extern const uint32_t hd_template_file_count;

#endif
