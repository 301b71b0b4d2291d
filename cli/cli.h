/* The command line: one table of subcommands (commands.def), one of options (base/options.def), one file a subcommand.
 *
 * main() reads the options by the tables (options.c) and calls the subcommand; afterwards it renders the diagnostics
 * on standard error. A subcommand does its job through driver/ and returns an exit status (driver/status.h). Its
 * texts must live until the diagnostics are rendered: modules and sources are handed to hd_cli_keep_module() and
 * freed by main().
 */
#ifndef HD_CLI_CLI_H
#define HD_CLI_CLI_H

#include "base/diagnostics.h"
#include "base/file_list.h"
#include "base/meter.h"
#include "base/output.h"
#include "driver/api/settings.h"
#include "driver/status.h"
#include "parser/cubin.h"
#include "parser/parse.h"
#include <pthread.h>
#include <stdio.h>

typedef enum hd_command {
#define HD_COMMAND(id, name, run, minimum, maximum, operands, formats, summary) HD_COMMAND_##id,
#include "cli/commands.def"
#undef HD_COMMAND
    HD_COMMAND_COUNT
} hd_command;

typedef struct hd_cli_kept {
    void *thing;
    void (*free)(void *);
} hd_cli_kept;

typedef struct hd_cli {
    hd_command command;
    const char *values[HD_OPTION_COUNT]; /* as given last; "" for one without argument; NULL: not given */
    HD_ARRAY(const char *) settings;     /* of --set, all of them */
    HD_ARRAY(const char *) plugins;      /* of --plugin, likewise */
    char **options;                      /* the words before the operands, as given */
    int option_count;
    char **operands;
    int operand_count;
    char **nvcc_words; /* what follows "--" after CUDA sources (cuda.c); no operands */
    int nvcc_word_count;
    int format;   /* of diagnostics: hd_diagnostics_format; -1: a bad one was asked for */
    int progress; /* auto, always, never; -1: a bad one was asked for */
    int colour;   /* auto, always, never; -1: a bad one was asked for */
    hd_diagnostics diagnostics;
    hd_arena arena;
    hd_outputs *outputs;        /* finished; they appear at the end of the command */
    HD_ARRAY(hd_cli_kept) kept; /* freed after the diagnostics are rendered, the latest first */
    const struct hd_cli *whole; /* of one of several inputs: the whole command line; else NULL */
} hd_cli;

#define HD_COMMAND(id, name, run, minimum, maximum, operands, formats, summary) int run(hd_cli *cli);
#include "cli/commands.def"
#undef HD_COMMAND

typedef struct hd_cli_command {
    const char *name;
    int minimum, maximum;
    const char *operands, *formats, *summary;
} hd_cli_command;
extern const hd_cli_command hd_cli_commands[HD_COMMAND_COUNT];

/* Marks of an option, a mask: base/options.def. */
enum { HD_CLI_READS = 1, HD_CLI_WRITES = 2, HD_CLI_OF_MODELS = 4, HD_CLI_OF_PTX = 8 };

typedef struct hd_cli_option_row {
    char letter;
    const char *name, *argument;
    uint32_t commands; /* mask */
    uint32_t marks;
    const char *help;
} hd_cli_option_row;
extern const hd_cli_option_row hd_cli_options[HD_OPTION_COUNT];

/* ---- help.c ------------------------------------------------------------------------------------------------------ */

void hd_cli_print_overview(FILE *to);
void hd_cli_print_help(hd_command command);

/* ---- options.c --------------------------------------------------------------------------------------------------- */

/* -1, a usage error, where no command has the name. */
int hd_cli_find_command(const char *name);
/* Fills values and operands of cli->command; false (a usage error) where the options are bad. */
bool hd_cli_read_options(hd_cli *cli, int count, char **arguments);
/* "[PATH]": the option may stand without its argument. */
static inline bool hd_cli_is_optional(const hd_cli_option_row *o) { return o->argument && *o->argument == '['; }
/* "-" of -MD, -MF, -MT and -MP, which have one dash, as compilers spell them; else "--". */
static inline const char *hd_cli_dashes(const char *name) { return strlen(name) == 2 && name[0] == 'M' ? "-" : "--"; }
/* What the option may be given, as the table has it: "portable|extended", "NAME|FILE"; NULL: it takes none. */
const char *hd_cli_argument(hd_command command, hd_option_id option);

static inline bool hd_cli_has(const hd_cli *cli, hd_option_id option) { return cli->values[option] != NULL; }
/* The first option with that mark that was given; HD_OPTION_COUNT: none. `from`: to begin with. */
hd_option_id hd_cli_marked(const hd_cli *cli, uint32_t mark, uint32_t from);
/* Index of the option's value among the words that the table has for it; 0 where it was not given; -1 (a usage error)
 * for another word. */
int hd_cli_choice(hd_cli *cli, hd_option_id option);
/* Sets the members of a job's options (driver/api/settings.h) that options of the command line set; the others keep
 * their value. false (a usage error) where a number is none, or is outside of what the option takes. values.c */
bool hd_cli_read_settings(hd_cli *cli, hd_job job, void *options);
/* The option's number, or its default where it was not given; false as above. values.c */
bool hd_cli_number(hd_cli *cli, hd_option_id option, uint32_t *value);
/* The option's "A:B" with A < B, where it was given; false as above. values.c */
bool hd_cli_range(hd_cli *cli, hd_option_id option, uint64_t *first, uint64_t *end);
void hd_cli_usage_error(const char *format, ...) __attribute__((format(printf, 1, 2)));
hd_parse_options hd_cli_parse_options(const hd_cli *cli);
struct hd_report_options;
/* How to report on a module (driver/report/report.h), from the options; false (a usage error) where they are
 * bad. */
bool hd_cli_report_options(hd_cli *cli, struct hd_report_options *options);

/* Words after "--" are nvcc's where an operand before them is CUDA C++; else they are operands. `after`: how many words
 * follow it. cuda.c */
void hd_cli_split_nvcc_words(hd_cli *cli, int after);
/* Reads an input of a report: CUDA C++ as the PTX that nvcc makes of it, and `options->compiled` is then its call.
 * false with a diagnostic. */
bool hd_cli_read_or_compile(hd_cli *cli, const char *path, struct hd_report_options *options, hd_source *source);

struct hd_rewrite_options;
/* How to rewrite (driver/rewrite.h), from the options; false (as a usage error, or a diagnostic) where they are bad. */
bool hd_cli_rewrite_options(hd_cli *cli, struct hd_rewrite_options *options);
/* The GPU of --gpu for passes; false with a diagnostic. */
bool hd_cli_rewrite_machine(hd_cli *cli, struct hd_rewrite_options *options);
/* The gates and the GPU, once; false with diagnostics. */
bool hd_cli_report_prepare(hd_cli *cli, struct hd_report_options *options);

/* Whether texts written there have colours: --color, else NO_COLOR, CLICOLOR_FORCE, and whether it is a terminal. */
bool hd_cli_has_colour(const hd_cli *cli, int descriptor);
/* Reads a file (- is standard input); false with a diagnostic. */
bool hd_cli_read(hd_cli *cli, const char *path, hd_source *source);
/* The same of PTX or machine code: of a cubin, an object or a program, the listing. */
bool hd_cli_read_code(hd_cli *cli, const char *path, hd_listing_words words, hd_source *source);
void hd_cli_keep_module(hd_cli *cli, hd_module *module);
void hd_cli_keep(hd_cli *cli, void *thing, void (*free)(void *)); /* the same of anything that diagnostics point into */
void hd_cli_drop_kept(hd_cli *cli);
/* hd_status_of what was reported (driver/status.h). */
int hd_cli_status(const hd_cli *cli);

/* ---- progress.c -------------------------------------------------------------------------------------------------- */

typedef struct hd_progress {
    pthread_t thread;
    pthread_mutex_t lock;
    pthread_cond_t wake;
    uint64_t start, delay; /* milliseconds */
    uint32_t total, done;
    hd_meter *meters; /* by input */
    bool runs, shown, held, over;
} hd_progress;

/* Starts to show progress over `total` inputs as --progress says: by default where the work takes over two seconds and
 * standard error is a terminal. */
void hd_progress_start(hd_progress *progress, const hd_cli *cli, uint32_t total);
/* Takes the line away, for other texts, until the next step. */
void hd_progress_hold(hd_progress *progress);
/* Writes a text on standard error; the line comes back after the end of a line. */
void hd_progress_print(hd_progress *progress, const char *text, size_t size);
void hd_progress_step(hd_progress *progress, uint32_t done);
void hd_progress_stop(hd_progress *progress);

/* ---- inputs.c: several inputs of one call ------------------------------------------------------------------------ */

/* One input: a command line with that operand alone, and with diagnostics and memory of its own. */
typedef struct hd_cli_part {
    hd_cli cli;
    void *job;         /* what the command has for all of its inputs */
    uint32_t index;    /* of the operand */
    uint32_t threads;  /* to use within the input; 0: all CPUs */
    hd_meter *meter;   /* of the input, to which `run` adds */
    uint32_t selected; /* functions that --kernel selects, set by `run` */
    void *result;      /* of `run` */
    hd_writer text;    /* its part of the output, in memory; `join` writes it */
    hd_status status;
    bool done;
} hd_cli_part;

typedef struct hd_each {
    hd_status (*run)(hd_cli_part *part);                /* by any thread */
    void (*join)(hd_cli_part *part, hd_writer *output); /* in the order of the operands, one at a time; NULL: none */
    void *job;
    hd_writer *output;  /* for `join` */
    uint32_t threads;   /* of --threads */
    bool keeps_results; /* what parts keep is read after all of them are done */
} hd_each;

/* Does all inputs, several at a time, and adds what they report, in the order of the command line. The worst status of
 * all. The parts, as many as operands, live until the diagnostics are rendered. */
hd_status hd_cli_each_input(hd_cli *cli, const hd_each *each, hd_cli_part **parts);
/* false, as a usage error, where standard input is named twice. */
bool hd_cli_inputs_fit(const hd_cli *cli);
static inline bool hd_cli_is_several(const hd_cli *cli) { return cli->operand_count > 1; }
/* Is the part one of several? */
bool hd_cli_part_is_one_of_several(const hd_cli_part *part);
void hd_cli_part_write_text(hd_cli_part *part, hd_writer *output); /* for `join` */

/* ---- output.c ---------------------------------------------------------------------------------------------------- */

/* An output of the command (base/output.h), which appears with all others at its end. NULL or "-": standard output.
 * false with a diagnostic. */
bool hd_cli_open(hd_cli *cli, hd_output *output, const char *path);
bool hd_cli_close(hd_cli *cli, hd_output *output, bool keep); /* false with a diagnostic where writing failed */

/* The files that the command line names, to read and to write. */
void hd_cli_list_files(hd_cli *cli, hd_file_list *list);
/* false, as a usage error, where an output is an input or another output. */
bool hd_cli_files_fit(const hd_file_list *list);
bool hd_cli_own_files_fit(hd_cli *cli); /* the same of those that the command line names */

/* ---- replay.c: what `run` shares with it ------------------------------------------------------------------------- */

struct hd_replay;
struct hd_replay_options;
struct hd_replay_report;
/* false (a usage error) where they are bad. */
bool hd_cli_replay_options(hd_cli *cli, struct hd_replay_options *options);
/* Checks the rest of the options: hd_replay_status. It lives as long as the command. */
struct hd_replay *hd_cli_replay_new(hd_cli *cli, const struct hd_replay_options *options);
/* Replays the files and writes the results to `output`, which is closed; NULL: where -o says. The options live as long
 * as the command. */
int hd_cli_replay_files(hd_cli *cli, struct hd_replay *replay, struct hd_replay_options *options,
                        const char *const *paths, uint32_t count, hd_output *output);
void hd_cli_emit_replay(hd_cli *cli, hd_writer *writer, const struct hd_replay_report *report);

/* ---- folder.c: an output for each input -------------------------------------------------------------------------- */

/* Whether -o names a folder: it is one, or ends with '/'. */
bool hd_cli_outputs_are_many(const hd_cli *cli);
/* Whether each input has an output: standard output and a file take one, a folder takes inputs whose names differ.
 * USAGE, as a usage error, where not; REJECTED with a diagnostic where the folder cannot be made. */
hd_status hd_cli_prepare_outputs(hd_cli *cli);
/* Where the output of the input goes; NULL: standard output. */
const char *hd_cli_output_of(hd_cli *cli, const char *input);

/* ---- program.c --------------------------------------------------------------------------------------------------- */

typedef struct hd_cli_program {
    const char *path;
    char **arguments;
    const char *const *environment; /* names and values in turn, NULL at the end: what is set for it */
} hd_cli_program;
/* Runs it to its end, in a process group of its own that gets the signals sent to heddle, and dies with it. The exit
 * status, 128 + signal where a signal ended it, as in a shell; -1 with errno: there is no process. *asked_to_end:
 * heddle got a signal that would have ended it. */
int hd_cli_run_program(const hd_cli_program *program, bool *asked_to_end);

/* cli/temporary.c: unfinished files (base/temporary.h) go with the program. Once, before there are threads. */
void hd_temporary_watch(void);

/* Arguments with each @FILE replaced by the words of that file (blanks separate, quotes and backslashes as in a shell).
 * In cli->arena; NULL with a diagnostic. */
char **hd_cli_expand(hd_cli *cli, int *count, char **arguments);

#endif
