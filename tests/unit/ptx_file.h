/* Kernels of unit tests that are files, tests/unit/ptx/NAME.ptx: NAME begins with that of the test's file. */
#ifndef HD_TESTS_PTX_FILE_H
#define HD_TESTS_PTX_FILE_H

/* The text of a file; it lives as long as the program. A file that cannot be read fails the test. */
const char *ptx_file(const char *name);

#endif
