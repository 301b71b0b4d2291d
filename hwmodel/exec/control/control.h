/* The run functions of ops that synchronize, branch or call, grouped by source file. */
#ifndef HD_HWMODEL_EXEC_CONTROL_CONTROL_H
#define HD_HWMODEL_EXEC_CONTROL_CONTROL_H

#include "hwmodel/exec/state/program.h"

enum { HD_BARRIER_SYNC, HD_BARRIER_ARRIVE, HD_BARRIER_POPC, HD_BARRIER_AND, HD_BARRIER_OR }; /* of run_barrier */

enum { HD_MBARRIER_INIT, HD_MBARRIER_INVAL, HD_MBARRIER_EXPECT, HD_MBARRIER_COMPLETE }; /* of run_mbarrier */
enum { HD_ARRIVE_DROP = 1, HD_ARRIVE_EXPECT = 2, HD_ARRIVE_STAYS = 4 };                 /* of run_mbarrier_arrive */

/* exchange.c */
enum { HD_VOTE_ALL, HD_VOTE_ANY, HD_VOTE_UNI, HD_VOTE_BALLOT }; /* op->boolean of a vote */
hd_op_run hd_run_shuffle, hd_run_vote, hd_run_match, hd_run_redux, hd_run_elect, hd_run_active_mask;
/* stack.c */
hd_op_run hd_run_branch, hd_run_branch_table, hd_run_return, hd_run_exit, hd_run_trap;
/* call.c */
hd_op_run hd_run_call, hd_run_alloca, hd_run_stack_save, hd_run_stack_restore;
/* barrier.c */
hd_op_run hd_run_barrier, hd_run_warp_sync, hd_run_cluster_arrive, hd_run_cluster_wait;
/* async.c */
hd_op_run hd_run_async_copy, hd_run_async_commit, hd_run_async_wait, hd_run_async_arrive;
/* mbarrier.c */
hd_op_run hd_run_mbarrier, hd_run_mbarrier_arrive, hd_run_mbarrier_wait, hd_run_mbarrier_pending;

#endif
