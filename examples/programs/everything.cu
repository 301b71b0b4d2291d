// The programs whose kernels are all right, and quick to compile, in one: a single run of the compiler.
#include "check.h"
#include <cmath>
#include <cooperative_groups.h>
#include <cooperative_groups/reduce.h>
#include <cstring>
#include <vector>

#define main program
namespace events {
#include "events.cu"
}
namespace managed {
#include "managed.cu"
}
namespace symbols {
#include "symbols.cu"
}
namespace textures {
#include "textures.cu"
}
namespace gridsync {
#include "gridsync.cu"
}
namespace graphs {
#include "graphs.cu"
}
namespace shared {
#include "shared.cu"
}
namespace callbacks {
#include "callbacks.cu"
}
namespace heap {
#include "heap.cu"
}
namespace pitched {
#include "pitched.cu"
}
namespace pools {
#include "pools.cu"
}
#undef main

int main()
{
    int (*const programs[])() = {events::program,    managed::program, symbols::program,   textures::program,
                                 gridsync::program,  graphs::program,  shared::program,    callbacks::program,
                                 heap::program,      pitched::program, pools::program};
    for (auto program : programs)
        program();
    return verdict("everything");
}
