/* The run functions of ops, by the file that holds them. */
#ifndef HD_HWMODEL_EXEC_ALU_H
#define HD_HWMODEL_EXEC_ALU_H

#include "hwmodel/exec/program.h"

enum { HD_CARRY_ADD, HD_CARRY_SUBTRACT }; /* hd_op.boolean of run_carry */
enum { HD_BARRIER_SYNC, HD_BARRIER_ARRIVE, HD_BARRIER_POPC, HD_BARRIER_AND, HD_BARRIER_OR }; /* of run_barrier */

enum { HD_MBARRIER_INIT, HD_MBARRIER_INVAL, HD_MBARRIER_EXPECT, HD_MBARRIER_COMPLETE }; /* of run_mbarrier */
enum { HD_ARRIVE_DROP = 1, HD_ARRIVE_EXPECT = 2, HD_ARRIVE_STAYS = 4 };                   /* of run_mbarrier_arrive */

/* alu.c */
hd_run hd_run_lanes, hd_run_float_lanes, hd_run_packed, hd_run_float, hd_run_mixed;
hd_run hd_run_move, hd_run_move_pred, hd_run_move_time, hd_run_nothing;
hd_run hd_run_pred_logic, hd_run_setp, hd_run_set, hd_run_selp, hd_run_slct, hd_run_lop3, hd_run_bfi, hd_run_testp,
    hd_run_dot;
hd_run hd_run_carry, hd_run_carry_mad;
/* pack.c */
hd_run hd_run_pack, hd_run_unpack, hd_run_move_vector;
/* convert.c */
hd_run hd_run_convert, hd_run_convert_pack; /* use.detail: hd_conversion */
/* video.c */
hd_run hd_run_video, hd_run_video_simd, hd_run_video_multiply; /* use.detail: hd_video */
/* access.c */
hd_run hd_run_load, hd_run_store, hd_run_load_parameter, hd_run_load_frame, hd_run_store_frame;
hd_run hd_run_frame_address, hd_run_space_of, hd_run_shift_address;
/* atomic.c */
hd_run hd_run_atomic, hd_run_atomic_wide;
/* exchange.c */
enum { HD_VOTE_ALL, HD_VOTE_ANY, HD_VOTE_UNI, HD_VOTE_BALLOT }; /* op->boolean of a vote */
hd_run hd_run_shuffle, hd_run_vote, hd_run_match, hd_run_redux, hd_run_elect, hd_run_active_mask;
/* stack.c */
hd_run hd_run_branch, hd_run_branch_table, hd_run_return, hd_run_exit, hd_run_trap;
/* call.c */
hd_run hd_run_call, hd_run_alloca, hd_run_stack_save, hd_run_stack_restore;
/* barrier.c */
hd_run hd_run_barrier, hd_run_warp_sync, hd_run_cluster_arrive, hd_run_cluster_wait;
/* async.c */
hd_run hd_run_async_copy, hd_run_async_commit, hd_run_async_wait, hd_run_async_arrive;
/* space.c */
hd_run hd_run_map_rank, hd_run_store_bulk, hd_run_sleep;
/* mbarrier.c */
hd_run hd_run_mbarrier, hd_run_mbarrier_arrive, hd_run_mbarrier_wait, hd_run_mbarrier_pending;

#endif
