/* Files that are not finished (base/temporary.h) go where the program ends before they are, by a signal or for lack of
 * memory. */
#include "cli/cli.h"

#include "base/temporary.h"

#include <signal.h>

static const int deadly[] = {SIGINT, SIGTERM, SIGHUP};

/* Not a reset of the handler before: a second signal would leave what is not removed yet. */
static void die(int number)
{
    hd_temporary_remove_all();
    signal(number, SIG_DFL);
    raise(number);
}

/* What is ignored (nohup) stays so. A file that grows beyond its limit is an error of write, with a message. */
void hd_temporary_watch(void)
{
    struct sigaction action = {.sa_handler = die}, before;
    sigemptyset(&action.sa_mask);
    for (size_t i = 0; i < sizeof deadly / sizeof *deadly; i++)
        sigaddset(&action.sa_mask, deadly[i]);
    for (size_t i = 0; i < sizeof deadly / sizeof *deadly; i++)
        if (sigaction(deadly[i], NULL, &before) == 0 && before.sa_handler != SIG_IGN)
            sigaction(deadly[i], &action, NULL);
    signal(SIGXFSZ, SIG_IGN);
    hd_at_out_of_memory(hd_temporary_remove_all);
}
