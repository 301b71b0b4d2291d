/* The register affinity graph of the CORF paper (section 2.4.2): which words of the register file one instruction reads together, and how often.
 *
 * Vertices are words (ir/storage.h): a 64-bit operand is two registers of the file, as the machine has it, and so its two words are read
 * together like any two registers are. A word that an instruction names twice is one; guards and identities read none; a return reads the
 * function's results. An edge joins two words that one instruction reads; its weight is the sum over such instructions of their
 * executions (executions.h), HD_EXECUTIONS_MOST at most.
 *
 * An instruction that reads more than HD_AFFINITY_REACH + 1 words (wide matrix products) joins each with the HD_AFFINITY_REACH next ones
 * in operand order only, so that the graph stays linear in the operands: among so many of one weight no pair is better than another.
 */
#ifndef HD_PASSES_AFFINITY_H
#define HD_PASSES_AFFINITY_H

#include "ir/storage.h"
#include "passes/pass.h"

enum { HD_AFFINITY_REACH = 15, HD_AFFINITY_FACTOR = 10 };

typedef struct hd_affinity_edge {
    uint32_t a, b; /* a < b */
    uint64_t weight;
} hd_affinity_edge;

typedef struct hd_affinity {
    uint32_t words; /* vertices 0 .. words - 1 */
    hd_affinity_edge *edges; /* ascending by (a, b), each once */
    uint32_t count;
    uint64_t weight; /* of all edges */
} hd_affinity;

/* In the context's scratch arena; takes option `factor`. */
void hd_affinity_build(hd_pass_context *context, hd_affinity *affinity);

/* The edges' indices, lightest first; of equal ones, the one with the higher numbers first. Linear. */
uint32_t *hd_affinity_by_weight(const hd_affinity_edge *edges, uint32_t count, hd_arena *arena);

#endif
