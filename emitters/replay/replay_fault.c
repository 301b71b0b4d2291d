/* What an injected fault of a lane did, and who noticed, as a table: see replay.h. */
#include "emitters/replay/replay.h"
#include "emitters/replay/replay_values.h"

#include <string.h>

static void write_first(hd_writer *w, const hd_replay_detection *d)
{
    char at[32];
    if (!d->differences) {
        hd_write_string(w, "never\n");
        return;
    }
    hd_write_format(w, "%s %s\n    block %u, warp %u, thread %u: %s", d->in_cycles ? "cycle" : "instruction",
                    hd_replay_grouped(at, d->at), d->block, d->warp, d->thread, d->instruction.text);
    if (d->instruction.line)
        hd_write_format(w, " (line %u)", d->instruction.line);
    hd_write_char(w, '\n');
}

static void write_row(hd_writer *w, int width, const hd_replay_result *r)
{
    const hd_replay_detection *d = r->detection;
    char wrong[32], caught[32], missed[32];
    hd_emit_replay_title(w, width, r->title);
    hd_write_format(w, "  %13s  %9s  %15s  ", hd_replay_grouped(wrong, d->wrong), hd_replay_grouped(caught, d->caught),
                    hd_replay_grouped(missed, d->wrong - d->caught));
    write_first(w, d);
}

void hd_emit_replay_fault(hd_writer *w, const hd_replay_report *report, const hd_replay_kernel *k, int width)
{
    char operations[32], wrong[32];
    bool head = false;
    if (!report->lane_fault)
        return;
    hd_write_format(w, "  faulty lane: %s operations, %s with a wrong result\n",
                    hd_replay_grouped(operations, k->lane_operations), hd_replay_grouped(wrong, k->lane_wrong));
    for (uint32_t i = 0; i < k->result_count; i++) {
        if (!k->results[i].detection)
            continue;
        if (!head)
            hd_write_format(w, "  %-*s  %13s  %9s  %15s  %s\n", width, "technique", "wrong results", "detected",
                            "slipped through", "first detected");
        head = true;
        write_row(w, width, &k->results[i]);
    }
}

void hd_emit_replay_fault_legend(hd_writer *w, const hd_replay_report *report)
{
    if (report->lane_fault)
        hd_write_string(w, "wrong results: operations of the program whose result or address the faulty lane changed;\n"
                           "  detected: another lane repeated them, and the results differ; else they slipped through\n"
                           "output, with a faulty lane: another one than expected fails no verification\n");
}
