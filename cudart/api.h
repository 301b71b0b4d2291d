/* Prototypes of the runtime's functions, hd_ before their names (api.def). */
#ifndef HD_CUDART_API_H
#define HD_CUDART_API_H

#include "cudart/abi.h"

#define HD_API(name, kind, since, parameters) int hd_##name parameters;
#define HD_API_AS(name, implementation, kind, since, parameters) int implementation parameters;
#define HD_API_TYPED(type, name, kind, since, parameters) type hd_##name parameters;
#define HD_API_MISSING(name, kind, since) int hd_missing_##name(void);
#include "cudart/api.def"
#undef HD_API
#undef HD_API_AS
#undef HD_API_TYPED
#undef HD_API_MISSING

#endif
