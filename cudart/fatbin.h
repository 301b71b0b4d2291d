/* Containers of device code (fat binaries). Nothing of a container is trusted, but that `size` bytes can be read. */
#ifndef HD_CUDART_FATBIN_H
#define HD_CUDART_FATBIN_H

#include "base/array.h"
#include "base/source.h"
#include "base/writer.h"

typedef HD_ARRAY(hd_source) hd_sources;
/* Adds the PTX of a container that fits best. false: it has none (*has: the cubins that it has, in words). */
bool hd_fatbin_read(const void *container, size_t size, uint32_t capability, hd_arena *arena, hd_sources *sources,
                    const char **has);
/* The architecture of that PTX; 0: there is none. */
uint32_t hd_fatbin_architecture(const void *container, size_t size, uint32_t capability);

#endif
