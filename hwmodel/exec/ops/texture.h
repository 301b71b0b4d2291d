/* Further operands of a texture or surface instruction, beyond hd_op's fields; created by decode_texture.c, used by
 * texture.c. */
#ifndef HD_HWMODEL_EXEC_OPS_TEXTURE_H
#define HD_HWMODEL_EXEC_OPS_TEXTURE_H

#include "hwmodel/exec/state/program.h"

/* op->a: the handle; op->b: the sampler's or HD_NO_REF; op->d, op->e: d of a query; |p of a fetch.
 * op->f: the depth to compare with, or HD_NO_REF.
 * code->refs from op->first: op->count results or stored values, then coordinates, then offsets. */
typedef struct hd_texture_use {
    uint8_t geometry;  /* hd_texture_kind */
    uint8_t type;      /* hd_type of the result; NONE: that of the texture */
    uint8_t component; /* gathered by tld4 */
    uint8_t bounds;    /* hd_surface_bounds */
    bool integer;      /* coordinates */
    bool gather, formatted;
    bool compare;                 /* with a depth */
    uint8_t coordinates, offsets; /* their numbers */
    uint16_t query;               /* hd_modifier */
    hd_combine *combine[2];       /* of sured: for unsigned and signed texels */
} hd_texture_use;

hd_op_run hd_run_texture, hd_run_texture_query, hd_run_texture_type, hd_run_surface_load, hd_run_surface_store,
    hd_run_surface_format, hd_run_surface_reduce;

#endif
