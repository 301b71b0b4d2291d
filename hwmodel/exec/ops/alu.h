/* The run functions of ops that compute or access memory, by the file that holds them. */
#ifndef HD_HWMODEL_EXEC_OPS_ALU_H
#define HD_HWMODEL_EXEC_OPS_ALU_H

#include "hwmodel/exec/state/program.h"

enum { HD_CARRY_ADD, HD_CARRY_SUBTRACT }; /* hd_op.boolean of run_carry */

/* alu.c */
hd_op_run hd_run_lanes, hd_run_float_lanes, hd_run_packed, hd_run_float, hd_run_mixed;
hd_op_run hd_run_move, hd_run_move_pred, hd_run_move_time, hd_run_nothing;
hd_op_run hd_run_pred_logic, hd_run_setp, hd_run_set, hd_run_selp, hd_run_slct, hd_run_lop3, hd_run_bfi, hd_run_testp,
    hd_run_dot;
hd_op_run hd_run_carry, hd_run_carry_mad;
/* pack.c */
hd_op_run hd_run_pack, hd_run_unpack, hd_run_move_vector;
/* convert.c */
hd_op_run hd_run_convert, hd_run_convert_pack; /* use.detail: hd_conversion */
/* video.c */
hd_op_run hd_run_video, hd_run_video_simd, hd_run_video_multiply; /* use.detail: hd_video */
/* access.c */
hd_op_run hd_run_load, hd_run_store, hd_run_load_parameter, hd_run_load_frame, hd_run_store_frame;
hd_op_run hd_run_frame_address, hd_run_space_of, hd_run_shift_address;
/* atomic.c */
hd_op_run hd_run_atomic, hd_run_atomic_wide;
/* space.c */
hd_op_run hd_run_map_rank, hd_run_store_bulk, hd_run_sleep;

#endif
