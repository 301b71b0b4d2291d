/* Models of a count, together where they see the same events in the same order: such a group shares what the baseline
 * knows (runner.h) and the order of the warps. Models that release registers are apart from those that do not. Of one
 * kind there are as many groups as half of the threads. A model that another one stands for (memo.h: derives) is in
 * none.
 */
#ifndef HD_HWMODEL_COUNT_GROUPS_H
#define HD_HWMODEL_COUNT_GROUPS_H

#include "hwmodel/count/schedule.h"

typedef enum hd_rf_way {                   /* how a model sees the warps */
                         HD_RF_BY_EVENT,   /* as they run */
                         HD_RF_BY_STRETCH, /* as they run, a stretch at a time: memo/transitions.h */
                         HD_RF_BY_TURN,    /* resident warps in turns: hwmodel/count/schedule.h */
                         HD_RF_WAYS,
} hd_rf_way;

typedef struct hd_rf_group {
    hd_rf_feeder *feeder;
    hd_rf_interleave *order; /* NULL where they do not see turns */
    hd_rf_way way;
} hd_rf_group;

typedef struct hd_rf_groups {
    hd_rf_model *const *models;
    uint32_t model_count;
    HD_ARRAY(hd_rf_group) items;
    uint32_t ways[HD_RF_WAYS];  /* models that go each way */
    hd_u32_array like;          /* by model: the one that stands for it, or itself */
    const hd_runner_memo *memo; /* NULL: memo.h is not used */
} hd_rf_groups;

/* Of models that stay where they are. memo: NULL for none; with one, what is wrong need not be known at once. threads:
 * 0 for as many as the host has. */
void hd_rf_groups_make(hd_rf_groups *groups, const hd_rf_module *code, hd_rf_model *const *models, uint32_t count,
                       uint32_t threads, const hd_runner_memo *memo);
void hd_rf_groups_free(hd_rf_groups *groups);
/* where it is, or what stands for it */
const hd_rf_group *hd_rf_groups_find(const hd_rf_groups *groups, uint32_t model);
const hd_rf_failure *hd_rf_groups_failure(const hd_rf_groups *groups, uint32_t model); /* likewise */
/* brings up to date what models have counted that are in it, or in none because of one in it */
void hd_rf_groups_settle(hd_rf_groups *groups, const hd_rf_group *group);

#endif
