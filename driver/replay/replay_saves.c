/* The files that launch files save buffers in: none is an input, or another output, of the same command. What one
 * launch file reads and writes is compared before it runs; with what others do, when the parts are joined, in their
 * order. All files appear at the end. */
#include "driver/replay/replay_work.h"

bool replay_saves_fit(replay_part *p, const replay_file *f)
{
    const hd_replay_options *options = p->plan->options;
    hd_file_list all = {0}, own = {0};
    hd_file_clash clash;
    char why[512];
    hd_launch_list_files(f->launch, options->saves != NULL, &own);
    for (uint32_t i = 0; options->files && i < options->files->count; i++)
        hd_array_push(&all, options->files->items[i]);
    for (uint32_t i = 0; i < own.count; i++)
        hd_array_push(&all, own.items[i]);
    bool clashes = hd_file_list_clash(&all, &clash);
    if (clashes) {
        const hd_yaml_node *node = clash.output->owner;
        hd_file_clash_text(&clash, why, sizeof why);
        if (node)
            hd_yaml_report(&p->diagnostics, node, HD_DIAG_BAD_VALUE, "%s", why);
        else
            hd_report(&p->diagnostics, HD_DIAG_BAD_VALUE, NULL, (hd_span){0, 0}, "%s: %s", p->path, why);
    }
    for (uint32_t i = 0; i < own.count; i++) {
        hd_listed_file file = own.items[i]; /* beyond the life of the launch file */
        file.path = hd_arena_string(&p->arena, file.path, strlen(file.path));
        file.name = hd_arena_string(&p->arena, file.name, strlen(file.name));
        file.owner = NULL;
        hd_array_push(&p->listed, file);
    }
    hd_array_free(&all);
    hd_array_free(&own);
    return !clashes;
}

void replay_join_saves(hd_replay *r, replay_part *p)
{
    hd_file_clash clash;
    char why[512];
    for (uint32_t i = 0; i < p->listed.count; i++)
        hd_array_push(&r->listed, p->listed.items[i]);
    hd_array_free(&p->listed);
    hd_outputs_move(&p->saves, &r->saves);
    if (!r->saves.finished.count || r->saves_clash || !hd_file_list_clash(&r->listed, &clash))
        return;
    r->saves_clash = true;
    r->status = hd_status_worse(r->status, HD_STATUS_REJECTED);
    hd_file_clash_text(&clash, why, sizeof why);
    hd_report(r->diagnostics, HD_DIAG_BAD_VALUE, NULL, (hd_span){0, 0}, "%s: %s; no buffer is saved", p->path, why);
}

void replay_hand_over_saves(hd_replay *r)
{
    if (r->saves_clash)
        hd_outputs_drop(&r->saves);
    else if (r->plan.options->saves)
        hd_outputs_move(&r->saves, r->plan.options->saves);
}
