/* Rewriting through the cache. */
#ifndef HD_DRIVER_BUILD_CACHED_REWRITE_H
#define HD_DRIVER_BUILD_CACHED_REWRITE_H

#include "driver/build/store.h"
#include "driver/rewrite.h"

/* What a result depends on besides its input: the program (all of its code and GPU descriptions), passes, options, and
 * the description that `gpu`, a name or a file, leads to (NULL: the module's target decides). */
hd_wide_hash hd_rewrite_settings_hash(const hd_rewrite_options *options, const hd_diagnostics *diagnostics,
                                      const char *gpu);

/* As hd_rewrite, by the cache where it has the result; then NULL. Stored are results about which nothing was reported,
 * so that a message is never lost. Passes that are to be shown or timed run always. `out` is in memory. */
hd_module *hd_cached_rewrite(const hd_store *cache, hd_wide_hash settings, hd_source *source,
                             const hd_rewrite_options *options, hd_writer *out, hd_diagnostics *diagnostics);

#endif
