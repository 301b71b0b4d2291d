/* How many CTAs of a kernel an SM of the pass's machine holds at a time, as far as the function determines: for passes
 * whose decision depends on it.
 */
#ifndef HD_PASSES_ANALYSIS_RESIDENT_H
#define HD_PASSES_ANALYSIS_RESIDENT_H

#include "passes/pass.h"
#include "target/occupancy.h"

/* What the function needs: threads per block (hd_pass_block), registers per thread (allocated ones; 0 in virtual form),
 * static shared memory that it names itself. Dynamic shared memory and that of callees alone are not known. */
hd_occupancy_use hd_pass_use(const hd_pass_context *context);
/* Its occupancy on hd_pass_gpu. false: no machine is described, or the function does not fit on it. */
bool hd_pass_occupancy(hd_pass_context *context, const hd_occupancy_use *use, hd_occupancy *occupancy);

#endif
