/* Several inputs of one call. Each is a part, done by one thread from its begin to its end, with what it reports and
 * keeps for itself; parts are begun in the order of the command line and joined in it, as soon as all before them are
 * done. So the output, the diagnostics and the status do not depend on which part ends first. The limit of errors is
 * that of each input. */
#include "cli/cli.h"

#include "base/pool.h"
#include "base/shown.h"
#include "driver/build/jobserver.h"

#include <stdlib.h>

typedef struct inputs {
    const hd_each *each;
    hd_cli *cli;
    hd_cli_part *parts;
    uint32_t count, joined; /* parts before it are joined */
    uint32_t done;
    hd_progress progress;
    hd_status status;
    pthread_mutex_t lock;
} inputs;

bool hd_cli_inputs_fit(const hd_cli *cli)
{
    int standard = 0;
    for (int i = 0; i < cli->operand_count; i++)
        standard += strcmp(cli->operands[i], "-") == 0;
    if (standard > 1)
        hd_cli_usage_error("'-': standard input can be read once, and is named %d times", standard);
    return standard <= 1;
}

bool hd_cli_part_is_one_of_several(const hd_cli_part *part)
{
    return part->cli.whole && hd_cli_is_several(part->cli.whole);
}

void hd_cli_part_write_text(hd_cli_part *part, hd_writer *output)
{
    hd_write_shown(output, part->text.buffer.items, part->text.buffer.count);
}

static void open_part(inputs *all, uint32_t index, uint32_t threads)
{
    hd_cli_part *part = &all->parts[index];
    *part = (hd_cli_part){.cli = *all->cli,
                          .job = all->each->job,
                          .index = index,
                          .threads = threads,
                          .meter = &all->progress.meters[index]};
    part->cli.operands = &all->cli->operands[index];
    part->cli.operand_count = 1;
    part->cli.whole = all->cli;
    part->cli.kept.items = NULL;
    part->cli.kept.count = part->cli.kept.capacity = 0;
    hd_arena_init(&part->cli.arena);
    hd_diagnostics_init_part(&part->cli.diagnostics, &all->cli->diagnostics);
    hd_writer_to_memory(&part->text);
}

static void drop_part(hd_cli_part *part)
{
    hd_cli_drop_kept(&part->cli);
    hd_diagnostics_free(&part->cli.diagnostics);
    hd_arena_free(&part->cli.arena);
}

static void join(inputs *all, hd_cli_part *part)
{
    hd_diagnostics_join_input(&all->cli->diagnostics, &part->cli.diagnostics);
    if (all->each->join)
        all->each->join(part, all->each->output);
    hd_writer_free(&part->text);
    all->status = hd_status_worse(all->status, part->status);
    if (!part->cli.diagnostics.first && !all->each->keeps_results)
        drop_part(part);
}

static void run_one(void *context, uint32_t index, uint32_t worker)
{
    inputs *all = context;
    hd_cli_part *part = &all->parts[index];
    (void)worker;
    part->status = all->each->run(part);
    hd_meter_close(part->meter);
    pthread_mutex_lock(&all->lock);
    part->done = true;
    hd_progress_hold(&all->progress);
    while (all->joined < all->count && all->parts[all->joined].done)
        join(all, &all->parts[all->joined++]);
    hd_progress_step(&all->progress, ++all->done);
    pthread_mutex_unlock(&all->lock);
}

typedef struct part_list {
    hd_cli_part *parts;
    uint32_t count;
} part_list;

static void free_parts(void *opaque)
{
    part_list *list = opaque;
    for (uint32_t i = 0; i < list->count; i++)
        drop_part(&list->parts[i]);
    free(list->parts);
}

static void check_selection(inputs *all)
{
    const char *glob = all->cli->values[HD_OPTION_KERNEL];
    uint64_t selected = 0;
    for (uint32_t i = 0; i < all->count; i++)
        selected += all->parts[i].selected;
    if (!glob || selected || all->count < 2 || all->cli->diagnostics.error_count)
        return;
    hd_report(&all->cli->diagnostics, HD_DIAG_UNKNOWN_KERNEL, NULL, (hd_span){0, 0},
              "no input has a function with a body that is named like '%s'", glob);
    all->status = hd_status_worse(all->status, HD_STATUS_REJECTED);
}

hd_status hd_cli_each_input(hd_cli *cli, const hd_each *each, hd_cli_part **parts)
{
    inputs all = {.each = each, .cli = cli, .count = (uint32_t)cli->operand_count};
    hd_jobserver make = {0};
    uint32_t threads = each->threads ? each->threads : hd_jobserver_take(&make, getenv("MAKEFLAGS"), hd_cpu_count());
    uint32_t side = hd_min(threads, all.count); /* inputs side by side */
    part_list *list = HD_ARENA_NEW(&cli->arena, part_list);
    all.parts = hd_calloc(all.count, sizeof *all.parts);
    *list = (part_list){all.parts, all.count};
    hd_cli_keep(cli, list, free_parts);
    hd_progress_start(&all.progress, cli, all.count);
    for (uint32_t i = 0; i < all.count; i++)
        open_part(&all, i, threads / side);
    pthread_mutex_init(&all.lock, NULL);
    hd_parallel(side, all.count, run_one, &all);
    hd_progress_stop(&all.progress);
    hd_jobserver_give_back(&make);
    pthread_mutex_destroy(&all.lock);
    check_selection(&all);
    if (parts)
        *parts = all.parts;
    return all.status;
}
