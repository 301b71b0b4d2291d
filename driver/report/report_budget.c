/* Registers that setmaxnreg moves between the warp groups of a thread block: report_work.h.
 *
 * A kernel is launched with the same number of registers for each thread. setmaxnreg.dec gives those of a warp group
 * above its number to the pool of the thread block, setmaxnreg.inc takes as many as are missing from it, and waits
 * until they are there (PTX ISA, "setmaxnreg"; USETMAXREG in machine code). So the sum over warp groups never
 * exceeds that at launch, and the number of resident thread blocks does not change. Which warp group executes which
 * of them is not known from the code: the bounds here hold for any choice.
 */
#include "driver/report/report_work.h"

enum { GROUP_THREADS = 128 };

/* The number at the end of the instruction, decimal or hexadecimal; 0: there is none. */
static uint32_t last_number(const char *text)
{
    const char *at = text + strcspn(text, ";");
    while (at > text && (at[-1] == ' ' || at[-1] == ';'))
        at--;
    while (at > text && at[-1] != ' ' && at[-1] != ',')
        at--;
    return (uint32_t)strtoul(at, NULL, 0);
}

static bool read_step(const char *text, hd_report_budget_step *step)
{
    static const struct {
        const char *name;
        bool releases;
    } spellings[] = {{"setmaxnreg.inc", false},
                     {"setmaxnreg.dec", true},
                     {"USETMAXREG.TRY_ALLOC", false},
                     {"USETMAXREG.ALLOC", false},
                     {"USETMAXREG.DEALLOC", true}};
    for (size_t i = 0; i < sizeof spellings / sizeof *spellings; i++)
        if (strstr(text, spellings[i].name)) {
            *step = (hd_report_budget_step){.registers = last_number(text), .releases = spellings[i].releases};
            return step->registers != 0;
        }
    return false;
}

/* At launch; 0: not known. */
static uint32_t initial_registers(const hd_report_kernel *k)
{
    if (k->is_machine)
        return k->machine.registers;
    return k->ptxas.known ? k->ptxas.registers : k->cap.binds ? k->cap.registers : 0;
}

static bool ignores_steps(const hd_report_ptxas *p)
{
    for (uint32_t i = 0; i < p->message_count; i++)
        if (strstr(p->messages[i].text, "'setmaxnreg' ignored"))
            return true;
    return false;
}

void report_budget(hd_report_kernel *k, hd_arena *arena)
{
    hd_report_budget *b = &k->budget;
    HD_ARRAY(hd_report_budget_step) steps = {0};
    for (uint32_t i = 0; i < k->instruction_count; i++) {
        hd_report_budget_step step;
        if (!read_step(k->instructions[i].text, &step))
            continue;
        step.instruction = i;
        hd_array_push(&steps, step);
    }
    if (!steps.count)
        return;
    b->steps = hd_arena_copy(arena, steps.items, steps.count * sizeof *steps.items);
    b->step_count = steps.count;
    hd_array_free(&steps);
    b->groups = (k->use.threads + GROUP_THREADS - 1) / GROUP_THREADS;
    b->initial = b->least = b->most = initial_registers(k);
    b->ignored = ignores_steps(&k->ptxas);
    for (uint32_t i = 0; i < b->step_count; i++) {
        const hd_report_budget_step *s = &b->steps[i];
        if (s->releases)
            b->least = hd_min(b->least, s->registers);
        else
            b->most = hd_max(b->most, s->registers);
    }
    uint64_t spare = (uint64_t)b->groups * (b->initial - b->least);
    b->granted = b->most == b->least ? b->groups : (uint32_t)(spare / (b->most - b->least));
    b->granted = hd_min(b->granted, b->groups);
}
