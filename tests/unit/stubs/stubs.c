/* The rows of the stubs: see stubs.h. */
#include "tests/unit/stubs/stubs.h"

const hd_rf_model_info stubs[] = {
    {.name = "ideal", .ops = &stub_ideal_ops, .pass = "", .options = ""},
    {.name = "larf", .ops = &stub_larf_ops, .pass = "", .options = "entries=16"},
    {.name = "larf of 2 entries", .ops = &stub_larf_ops, .pass = "", .options = "entries=2"},
    {.name = "gpu-shrink", .ops = &stub_shrink_ops, .pass = "release(table=65536)", .options = "file=64"},
    {.name = "gpu-shrink of 24", .ops = &stub_shrink_ops, .pass = "release(table=65536)", .options = "file=24"},
    {.name = "hrf", .ops = &stub_hrf_ops, .pass = "", .options = ""},
    {.name = "hrf+pg", .ops = &stub_hrf_ops, .pass = "", .options = "pg"},
    {.name = "warped-dmr", .ops = &stub_dmr_ops, .pass = "", .options = ""},
};
const uint32_t stub_count = sizeof stubs / sizeof *stubs;
