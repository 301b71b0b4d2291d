/* A model that is a row of no table: the ideal register file that papers compare with, which has room for the registers
 * of every CTA that fits otherwise, and no bank conflicts. */
#ifndef HD_TESTS_IDEAL_FILE_H
#define HD_TESTS_IDEAL_FILE_H

#include "hwmodel/rf/technique.h"

extern const hd_rf_ops ideal_file_ops;
extern const hd_rf_model_info ideal_file;

#endif
