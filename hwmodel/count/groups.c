/* Which models go together: see groups.h. O(models x groups). */
#include "hwmodel/count/groups.h"
#include "base/pool.h"

/* ---- alike ------------------------------------------------------------------------------------------------------- */

static bool is_like(const hd_rf_model *model, const hd_rf_model *other)
{
    const hd_rf_ops *ops = model->info->ops;
    bool broken = model->fault || model->memo.forgets || other->fault || other->memo.forgets; /* for tests */
    return ops == other->info->ops && ops->memo && ops->memo->derives && !broken &&
           !strcmp(model->info->pass, other->info->pass) && ops->memo->derives(model, other);
}

/* The one that stands for it, or the model itself. Of two that are like each other, it is the first. */
static uint32_t find_like(const hd_rf_groups *g, uint32_t m)
{
    for (uint32_t other = 0; other < g->model_count; other++)
        if (is_like(g->models[m], g->models[other]) && (other < m || !is_like(g->models[other], g->models[m])))
            return find_like(g, other);
    return m;
}

/* ---- ways -------------------------------------------------------------------------------------------------------- */

static bool is_carried(const hd_rf_groups *g, uint32_t m) { return g->memo && g->memo->takes(g->models[m]); }

static hd_rf_way way_of(const hd_rf_groups *g, uint32_t m)
{
    if (g->models[m]->info->ops->coupled)
        return HD_RF_BY_TURN;
    return is_carried(g, m) ? HD_RF_BY_STRETCH : HD_RF_BY_EVENT;
}

/* Can they see the same events in the same order, and be looked up together? Models that release are in other states
 * than those that do not: a warp would be in a new state more often, and all of them would have to walk it. */
static bool go_together(const hd_rf_groups *g, const hd_rf_group *group, uint32_t m)
{
    uint32_t first = group->feeder->members.items[0].number;
    if (group->way != way_of(g, m) || group->feeder->columns != g->models[m]->info->ops->columns ||
        is_carried(g, first) != is_carried(g, m))
        return false;
    if (g->models[m]->releases != g->models[first]->releases)
        return false;
    return group->way != HD_RF_BY_TURN ||
           !(hd_rf_interleave_steers(g->models[m]) || hd_rf_interleave_steers(g->models[first]));
}

/* The smallest group that the model can join; a new one while there are fewer of them than half of the threads: kinds
 * differ in how long they take, and each group costs what its models could share with others. */
static hd_rf_group *find_group(hd_rf_groups *g, const hd_rf_module *code, uint32_t m, uint32_t threads)
{
    uint32_t many = 0;
    hd_rf_group *least = NULL;
    for (uint32_t i = 0; i < g->items.count; i++) {
        hd_rf_group *group = &g->items.items[i];
        if (!go_together(g, group, m))
            continue;
        many++;
        if (!least || group->feeder->members.count < least->feeder->members.count)
            least = group;
    }
    if (least && 2 * many >= threads)
        return least;
    hd_array_push(&g->items, (hd_rf_group){.feeder = hd_rf_feeder_new(code), .way = way_of(g, m)});
    hd_array_last(&g->items).feeder->memo_ops = g->memo;
    return &hd_array_last(&g->items);
}

/* ---- all of them ------------------------------------------------------------------------------------------------- */

void hd_rf_groups_make(hd_rf_groups *g, const hd_rf_module *code, hd_rf_model *const *models, uint32_t count,
                       uint32_t threads, const hd_runner_memo *memo)
{
    g->models = models;
    g->model_count = count;
    g->memo = memo;
    for (uint32_t m = 0; m < count; m++) {
        hd_array_push(&g->like, memo ? find_like(g, m) : m);
        if (g->like.items[m] != m)
            continue;
        g->ways[way_of(g, m)]++;
        hd_rf_feeder_add(find_group(g, code, m, threads ? threads : hd_cpu_count())->feeder, models[m], m);
    }
    for (uint32_t i = 0; i < g->items.count; i++) {
        hd_rf_group *group = &g->items.items[i];
        if (is_carried(g, group->feeder->members.items[0].number))
            hd_rf_feeder_attach(group->feeder);
        if (group->way == HD_RF_BY_TURN)
            group->order = hd_rf_interleave_new(group->feeder);
    }
}

void hd_rf_groups_free(hd_rf_groups *g)
{
    for (uint32_t i = 0; i < g->items.count; i++) {
        hd_rf_interleave_free(g->items.items[i].order);
        hd_rf_feeder_free(g->items.items[i].feeder);
    }
    hd_array_free(&g->items);
    hd_array_free(&g->like);
}

static const hd_rf_member *find_member(const hd_rf_groups *g, uint32_t m, const hd_rf_group **group)
{
    for (uint32_t i = 0; i < g->items.count; i++)
        for (uint32_t k = 0; k < g->items.items[i].feeder->members.count; k++)
            if (g->items.items[i].feeder->members.items[k].number == g->like.items[m]) {
                *group = &g->items.items[i];
                return &g->items.items[i].feeder->members.items[k];
            }
    return NULL;
}

const hd_rf_group *hd_rf_groups_find(const hd_rf_groups *g, uint32_t m)
{
    const hd_rf_group *group = NULL;
    find_member(g, m, &group);
    return group;
}

const hd_rf_failure *hd_rf_groups_failure(const hd_rf_groups *g, uint32_t m)
{
    const hd_rf_group *group;
    return &find_member(g, m, &group)->failure;
}

void hd_rf_groups_settle(hd_rf_groups *g, const hd_rf_group *group)
{
    hd_rf_feeder_finalize(group->feeder);
    for (uint32_t m = 0; m < g->model_count; m++) {
        hd_rf_model *model = g->models[m];
        if (hd_rf_groups_find(g, m) != group)
            continue;
        hd_rf_tell_rest(model);
        if (g->like.items[m] != m)
            model->info->ops->memo->derive(model, g->models[g->like.items[m]]);
        else if (model->info->ops->finalize)
            model->info->ops->finalize(model);
    }
}
