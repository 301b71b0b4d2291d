/* Tables of accesses: see access.h. */
#include "hwmodel/rf/access.h"

const char *const hd_structure_names[HD_STRUCTURE_COUNT] = {
#define HD_RF_STRUCTURE(id, name) name,
#include "hwmodel/rf/structures.def"
#undef HD_RF_STRUCTURE
};

const uint8_t hd_access_counters[HD_STRUCTURE_COUNT][HD_RF_KINDS][HD_CAUSE_ANY + 1] = {
#define HD_ACCESS_COUNTER(structure, kind, cause, counter) \
    [HD_STRUCTURE_##structure][HD_RF_##kind][HD_CAUSE_##cause] = 1 + HD_COUNTER_##counter,
#include "hwmodel/rf/access.def"
#undef HD_ACCESS_COUNTER
};
_Static_assert(HD_COUNTER_COUNT < UINT8_MAX, "counters have room");

void hd_access_sink_free(hd_access_sink *sink)
{
    hd_array_free(&sink->accesses);
    hd_array_free(&sink->repeats);
    hd_array_free(&sink->delivered);
}
