/* Orders: see ordering.h. A random order is a Feistel network of four rounds over the next power of four, walked
 * until it is within the count: M. Luby and C. Rackoff, "How to Construct Pseudorandom Permutations from Pseudorandom
 * Functions", SIAM Journal on Computing 17(2), 1988; J. Black and P. Rogaway, "Ciphers with Arbitrary Finite Domains",
 * CT-RSA 2002. The walk takes fewer than four steps on average. */
#include "base/ordering.h"

#include "base/scan.h"

#include <string.h>

bool hd_ordering_read(const char *text, hd_ordering *order)
{
    const char random[] = "random";
    uint64_t seed = 0;
    *order = (hd_ordering){HD_ORDERING_LINEAR, 0};
    if (!text || strcmp(text, "linear") == 0)
        return true;
    if (strcmp(text, "reverse") == 0) {
        order->kind = HD_ORDERING_REVERSE;
        return true;
    }
    if (strncmp(text, random, sizeof random - 1) != 0)
        return false;
    text += sizeof random - 1;
    if (*text && (*text++ != ':' || !hd_take_number(&text, NULL, 10, UINT32_MAX, &seed) || *text))
        return false;
    *order = (hd_ordering){HD_ORDERING_RANDOM, (uint32_t)seed};
    return true;
}

/* The round function: the finalizer of MurmurHash3 over what it is of. */
static uint32_t mixed(uint32_t seed, uint32_t round, uint32_t half)
{
    uint32_t h = (half + round * 0x9e3779b9u) ^ (seed * 0x85ebca6bu + 0xc2b2ae35u);
    h = (h ^ h >> 16) * 0x85ebca6bu;
    h = (h ^ h >> 13) * 0xc2b2ae35u;
    return h ^ h >> 16;
}

static uint64_t permuted(uint32_t seed, uint32_t half_bits, uint64_t value)
{
    enum { ROUNDS = 4 };
    uint64_t mask = ((uint64_t)1 << half_bits) - 1, left = value >> half_bits, right = value & mask;
    for (uint32_t round = 0; round < ROUNDS; round++) {
        uint64_t next = left ^ (mixed(seed, round, (uint32_t)right) & mask);
        left = right;
        right = next;
    }
    return left << half_bits | right;
}

uint32_t hd_ordering_at(hd_ordering order, uint32_t count, uint32_t place)
{
    if (order.kind == HD_ORDERING_LINEAR)
        return place;
    if (order.kind == HD_ORDERING_REVERSE)
        return count - 1 - place;
    uint32_t half_bits = 1;
    while ((uint64_t)1 << 2 * half_bits < count)
        half_bits++;
    uint64_t value = place;
    do
        value = permuted(order.seed, half_bits, value);
    while (value >= count);
    return (uint32_t)value;
}
