/* One channel of device memory: banks with an open row each, a data bus, and a queue from which requests to open rows
 * go first.
 *
 * Times are memory cycles. A request that is chosen at time t finds the row of its bank open (its command can go at
 * once), another row open (precharge, then activation), or none; its data follow `cl` after the command, as soon as the
 * bus is free. The next request is chosen early enough that precharge and activation of other banks overlap with the
 * data on the bus. Refresh, bank groups, write recovery and the turn-around of the bus are not modelled.
 */
#ifndef HD_HWMODEL_SM_DRAM_H
#define HD_HWMODEL_SM_DRAM_H

#include "base/array.h"
#include "target/machine.h"

enum { HD_DRAM_BANKS = 256 };

typedef struct hd_dram_request {
    uint64_t address; /* within the channel */
    uint32_t bytes, token;
    bool write;
} hd_dram_request;

typedef struct hd_dram_bank {
    bool open;
    uint64_t row;
    uint64_t ready; /* for a command to the open row */
    uint64_t may_precharge;
} hd_dram_bank;

typedef struct hd_dram {
    const hd_machine *machine;
    HD_ARRAY(hd_dram_request) queue; /* in order of arrival */
    hd_dram_bank banks[HD_DRAM_BANKS];
    uint64_t bus_free;                        /* when */
    uint64_t requests, row_hits, busy_cycles; /* so far; busy: of the data bus */
} hd_dram;

void hd_dram_add(hd_dram *dram, const hd_dram_request *request);
/* Chooses the next request of a queue that is not empty. *done: when its data are through; returns when to choose
 * again. */
uint64_t hd_dram_choose(hd_dram *dram, uint64_t now, hd_dram_request *chosen, uint64_t *done);

#endif
