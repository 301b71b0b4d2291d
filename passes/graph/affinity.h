/* The register affinity graph of CORF (Asghari Esfeden et al., ASPLOS 2019; section 2.4.2 of the dissertation): which
 * words of the register file are read together by one instruction, and how often.
 *
 * Vertices are words (ir/storage.h). A 64-bit operand is two registers of the file, so its two words are read together
 * like any two registers. A word named twice by an instruction counts once. Guards and identities read none; a return
 * reads the function's results. An edge connects two words that some instruction reads; its weight is the sum of the
 * execution counts (executions.h) of these instructions, at most HD_EXECUTIONS_MOST.
 *
 * An instruction that reads more than HD_AFFINITY_REACH + 1 words (wide matrix products) connects each word only with
 * the next HD_AFFINITY_REACH words in operand order, so that the graph stays linear in the operands. These edges have
 * equal weights, so this prefers no pair among them. */
#ifndef HD_PASSES_GRAPH_AFFINITY_H
#define HD_PASSES_GRAPH_AFFINITY_H

#include "ir/storage.h"
#include "passes/pass.h"

enum { HD_AFFINITY_REACH = 15, HD_AFFINITY_FACTOR = 10 };

typedef struct hd_affinity_edge {
    uint32_t a, b; /* a < b */
    uint64_t weight;
} hd_affinity_edge;

typedef struct hd_affinity {
    uint32_t words;          /* vertices 0 .. words - 1 */
    hd_affinity_edge *edges; /* ascending by (a, b), unique */
    uint32_t count;
    uint64_t weight; /* sum over all edges */
} hd_affinity;

/* In the context's scratch arena; uses the option `factor`. */
void hd_affinity_build(hd_pass_context *context, hd_affinity *affinity);

/* Edge indices, lightest first; among equal weights, higher register numbers first. Linear. */
uint32_t *hd_affinity_by_weight(const hd_affinity_edge *edges, uint32_t count, hd_arena *arena);

#endif
