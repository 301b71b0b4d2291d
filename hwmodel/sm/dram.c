/* A channel of device memory: see dram.h. O(queue) a request. */
#include "hwmodel/sm/dram.h"

void hd_dram_add(hd_dram *d, const hd_dram_request *request) { hd_array_push(&d->queue, *request); }

static hd_dram_bank *bank_of(hd_dram *d, uint64_t address)
{
    return &d->banks[address / d->machine->dram.row_bytes % d->machine->dram.banks];
}

static uint64_t row_of(const hd_dram *d, uint64_t address)
{
    return address / d->machine->dram.row_bytes / d->machine->dram.banks;
}

static bool is_open(hd_dram *d, const hd_dram_request *r)
{
    const hd_dram_bank *bank = bank_of(d, r->address);
    return bank->open && bank->row == row_of(d, r->address);
}

/* The oldest request to an open row; where there is none, the oldest. */
static hd_dram_request take_first_ready(hd_dram *d)
{
    uint32_t first = 0, seen = d->queue.count < d->machine->dram.queue ? d->queue.count : d->machine->dram.queue;
    for (uint32_t i = 0; i < seen; i++)
        if (is_open(d, &d->queue.items[i])) {
            first = i;
            break;
        }
    hd_dram_request request = d->queue.items[first];
    hd_array_remove(&d->queue, first);
    return request;
}

static uint64_t later(uint64_t a, uint64_t b) { return a > b ? a : b; }

/* When its command can go to the bank, whose row is open from then on. */
static uint64_t open_row(hd_dram *d, const hd_dram_request *r, uint64_t now)
{
    hd_dram_bank *bank = bank_of(d, r->address);
    if (is_open(d, r)) {
        d->row_hits++;
        return later(now, bank->ready);
    }
    uint64_t activation = bank->open ? later(now, bank->may_precharge) + d->machine->dram.rp : now;
    bank->open = true;
    bank->row = row_of(d, r->address);
    bank->may_precharge = activation + d->machine->dram.ras;
    return activation + d->machine->dram.rcd;
}

uint64_t hd_dram_choose(hd_dram *d, uint64_t now, hd_dram_request *chosen, uint64_t *done)
{
    const hd_machine *m = d->machine;
    *chosen = take_first_ready(d);
    uint64_t command = open_row(d, chosen, now), cycles = (chosen->bytes + m->dram.bytes - 1) / m->dram.bytes;
    uint64_t data = later(command + m->dram.cl, d->bus_free);
    hd_dram_bank *bank = bank_of(d, chosen->address);
    bank->ready = command + cycles;
    bank->may_precharge = later(bank->may_precharge, data + cycles);
    d->bus_free = data + cycles;
    d->requests++;
    d->busy_cycles += cycles;
    *done = data + cycles;
    uint64_t ahead = m->dram.rp + m->dram.rcd + m->dram.cl;
    return later(now + 1, d->bus_free > ahead ? d->bus_free - ahead : 0);
}
