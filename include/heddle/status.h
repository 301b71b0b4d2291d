/* How a job ended. The values are the program's exit statuses. */
#ifndef HEDDLE_STATUS_H
#define HEDDLE_STATUS_H

typedef enum hd_status {
    HD_STATUS_DONE = 0,
    HD_STATUS_REJECTED = 1,  /* an input is invalid or cannot be read, or a gate is not met */
    HD_STATUS_USAGE = 2,     /* an option or a setting is invalid: for example an unknown pass or technique */
    HD_STATUS_WRONG = 3,     /* verification failed: wrong results, a failed proof, an unsound annotation */
    HD_STATUS_INTERNAL = 4,  /* a bug in heddle */
    HD_STATUS_FAULT = 5,     /* the kernel faulted in the model */
    HD_STATUS_UNDECIDED = 6, /* an instruction that the model does not implement, or a required tool is missing */
    HD_STATUS_MEMORY = 7,    /* the system is out of memory; the process ends with it */
    HD_STATUS_CANCELLED = 8, /* a function of the program that uses the library has ended the job */
} hd_status;

#endif
