/* What the arguments of nvcc ask for, as far as the step between its front end and ptxas is concerned. */
#ifndef HD_DRIVER_BUILD_NVCC_WORDS_H
#define HD_DRIVER_BUILD_NVCC_WORDS_H

#include "base/diagnostics.h"

/* Reports what the step cannot rewrite, as a `not-rewritten` error: link-time optimization and OptiX IR, for which the
 * front end writes no PTX, and, where `rewrites`, inputs that are PTX. Looks into option files, and into the variables
 * that add arguments. false where something was reported. */
bool hd_nvcc_words_fit(const char *const *words, uint32_t count, bool rewrites, hd_diagnostics *diagnostics);

/* The word after `-o` of cicc's arguments; NULL: none. */
const char *hd_cicc_output(const char *const *words, uint32_t count);

#endif
