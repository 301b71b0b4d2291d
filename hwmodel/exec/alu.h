/* The run functions of ops, by the file that holds them. */
#ifndef HD_HWMODEL_EXEC_ALU_H
#define HD_HWMODEL_EXEC_ALU_H

#include "hwmodel/exec/program.h"

enum {
    HD_CARRY_ADD,
    HD_CARRY_SUBTRACT,
    HD_CARRY_MAD_LOW,
    HD_CARRY_MAD_HIGH
};                                           /* hd_op.boolean of run_carry, run_carry_mad */
enum { HD_BARRIER_SYNC, HD_BARRIER_ARRIVE }; /* of run_barrier */

/* alu.c */
hd_run hd_run_lanes, hd_run_packed, hd_run_float, hd_run_mixed;
hd_run hd_run_move, hd_run_move_pred, hd_run_move_time, hd_run_nothing, hd_run_pack, hd_run_unpack;
hd_run hd_run_pred_logic, hd_run_setp, hd_run_set, hd_run_selp, hd_run_slct, hd_run_lop3, hd_run_bfi, hd_run_testp,
    hd_run_dot;
hd_run hd_run_carry, hd_run_carry_mad;
/* convert.c */
hd_run hd_run_convert, hd_run_convert_pack; /* use.detail: hd_conversion */
/* access.c */
hd_run hd_run_load, hd_run_store, hd_run_load_parameter, hd_run_load_frame, hd_run_store_frame;
hd_run hd_run_frame_address, hd_run_space_of, hd_run_shift_address;
/* atomic.c */
hd_run hd_run_atomic;
/* exchange.c */
hd_run hd_run_shuffle, hd_run_vote, hd_run_match, hd_run_redux, hd_run_elect, hd_run_active_mask, hd_run_warp_sync;
/* stack.c */
hd_run hd_run_branch, hd_run_branch_table, hd_run_call, hd_run_return, hd_run_exit, hd_run_trap;
/* barrier.c */
hd_run hd_run_barrier;

#endif
