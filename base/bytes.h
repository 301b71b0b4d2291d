/* Little-endian numbers of any number of bytes up to eight, at any alignment. */
#ifndef HD_BASE_BYTES_H
#define HD_BASE_BYTES_H

#include <stdint.h>

static inline uint64_t hd_load_bytes(const void *from, uint32_t bytes)
{
    const unsigned char *at = from;
    uint64_t value = 0;
    for (uint32_t i = 0; i < bytes; i++)
        value |= (uint64_t)at[i] << 8 * i;
    return value;
}

static inline void hd_store_bytes(void *to, uint64_t value, uint32_t bytes)
{
    unsigned char *at = to;
    for (uint32_t i = 0; i < bytes; i++)
        at[i] = (unsigned char)(value >> 8 * i);
}

#endif
