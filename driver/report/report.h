/* The report as a library call: the resources that each kernel of a PTX module needs, and why.
 *
 *   hd_report_job *job = hd_report_new(source, &options, diagnostics);
 *   if (hd_report_of(job)->arch) hd_emit_report_text(writer, hd_report_of(job), &style);
 *   status = hd_report_status(job);
 *   hd_report_free(job);                          only after the diagnostics were printed
 */
#ifndef HD_DRIVER_REPORT_REPORT_H
#define HD_DRIVER_REPORT_REPORT_H

#include "base/given_files.h"
#include "base/meter.h"
#include "driver/status.h"
#include "emitters/report/report.h"
#include "parser/parse.h"

enum {
    HD_REPORT_PTXAS_SECONDS = 60,
    HD_REPORT_TRIALS = 4,             /* register caps to try by default .. */
    HD_REPORT_MOST_TRIALS = 16,       /* .. at most .. */
    HD_REPORT_KERNELS_WITH_TRIALS = 8 /* .. where there are at most so many kernels */
};

typedef struct hd_report_options {
    const char *gpu;        /* name or file of a GPU description; NULL: that of the module's target */
    const char *compiled;   /* the call of nvcc that made the source, or NULL */
    const char *kernel;     /* glob over names of functions with a body; NULL: all */
    struct hd_gates *gates; /* (driver/report/gates.h); NULL: none. The caller that parsed them warns of unused ones */
    const char *ptxas;      /* path of ptxas, "" to search for it; NULL: do not run it */
    bool ptxas_if_found;    /* no note if it is not found */
    uint32_t ptxas_seconds; /* time limit of ptxas; 0: none */
    uint32_t trials;        /* register caps that ptxas tries for each kernel; 0: none */
    bool trials_asked;      /* all of them, however many kernels there are; else until ptxas spills, and for at most
                             * HD_REPORT_KERNELS_WITH_TRIALS kernels */
    uint32_t block;         /* threads per block; 0: the kernel's requirement, else its maximum, else 256 */
    uint32_t shared_bytes;  /* dynamic shared memory per block */
    bool shared_known;      /* launches use exactly that; false: unknown */
    uint32_t max_registers; /* registers per thread; 0: no limit */
    uint32_t threads;       /* 0: all CPUs; the report does not depend on it */
    bool no_clean;          /* the PTX as written, without simplification passes */
    bool no_demangle;
    bool techniques;             /* what each technique's pass finds */
    const hd_given_files *given; /* searched first for the GPU and for source files; NULL: none */
    hd_meter *meter;             /* a unit for each function; NULL: none */
    hd_parse_options parse;
} hd_report_options;

typedef struct hd_report_job hd_report_job;

/* Takes the source, whose struct must outlive the job. Never NULL. On errors, which are reported, the report is empty
 * (no arch); unmet gates alone leave it complete. Annotations of the input are ignored. */
hd_report_job *hd_report_new(hd_source *source, const hd_report_options *options, hd_diagnostics *diagnostics);
const hd_report_module *hd_report_of(const hd_report_job *job);
hd_source *hd_report_source(const hd_report_job *job); /* the text of the report, unless the report is empty */
hd_status hd_report_status(const hd_report_job *job);  /* DONE; REJECTED, or USAGE, by what was reported */
/* Puts the machine code of a listing's report beside the kernels of the same names; returns how many there are. The
 * listing's job must live as long as the first. Both have reports. */
uint32_t hd_report_join_jobs(hd_report_job *ptx, const hd_report_job *machine);
const hd_report_job *hd_report_assembled(const hd_report_job *job); /* the listing's, or NULL */
uint32_t hd_report_join(hd_report_module *ptx, const hd_report_module *machine, hd_arena *arena);
void hd_report_free(hd_report_job *job);

#endif
