/* Occupancy of a kernel on the pass's GPU, as far as the function determines it: for passes whose decision depends on
 * it.
 */
#ifndef HD_PASSES_ANALYSIS_RESIDENT_H
#define HD_PASSES_ANALYSIS_RESIDENT_H

#include "passes/pass.h"
#include "target/occupancy.h"

/* The function's resources: threads per block (hd_pass_block), registers per thread (as allocated; 0 in virtual form),
 * static shared memory that it names itself. Dynamic shared memory, and memory used only by callees, are unknown. */
hd_occupancy_use hd_pass_use(const hd_pass_context *context);
/* Its occupancy on hd_pass_gpu. false: there is no GPU description, or the function does not fit. */
bool hd_pass_occupancy(hd_pass_context *context, const hd_occupancy_use *use, hd_occupancy *occupancy);

#endif
