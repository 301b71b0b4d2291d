/* A fault in one lane of the execution units of an SM: a bit of what the lane computes is stuck, or flips once.
 *
 * A lane computes results, and in the load/store unit addresses. The interpreter lets a run have the fault
 * (hd_exec_options.lane_fault, exec/ops/faulty_lane.h), and reports with the column HD_COLUMN_LANES what it did. Models
 * that compare the results of lanes say when they notice.
 *
 * Values do not depend on time, so that blocks cannot have the fault where a timing puts them: those with a number that
 * is `sm` modulo the number of SMs have it, which is where the first wave of blocks goes.
 */
#ifndef HD_HWMODEL_LANE_FAULT_H
#define HD_HWMODEL_LANE_FAULT_H

#include "ir/form.h"

typedef enum hd_lane_unit { HD_LANE_NONE, HD_LANE_SP, HD_LANE_SFU, HD_LANE_LDST, HD_LANE_UNITS } hd_lane_unit;

/* NONE: control flow, which computes nothing in a lane, and matrices, which warps compute as a whole. */
hd_lane_unit hd_lane_unit_of(const hd_form *form);

typedef struct hd_lane_fault {
    uint32_t sm, lane; /* lane: of the hardware, which executes another thread where a technique maps it so */
    uint8_t unit;      /* hd_lane_unit */
    uint8_t bit;       /* of a result or address; in narrower ones nothing is wrong */
    bool stuck;        /* the bit is always `value` */
    uint8_t value;
    uint64_t operation; /* else: the bit flips in the lane's operation of that number, from 1 */
} hd_lane_fault;

enum { HD_LANE_FAULT_MESSAGE = 160 };

/* "sm=0,lane=5,unit=sp,bit=3,stuck=1", or "...,flip=1000". false: `message` says what is wrong. */
bool hd_lane_fault_read(const char *text, hd_lane_fault *fault, char message[HD_LANE_FAULT_MESSAGE]);

typedef struct hd_faulty_lane { /* the fault in a run, and what it has done so far */
    hd_lane_fault fault;
    uint32_t sms, thread; /* thread: of each warp, the one that the lane executes */
    uint64_t operations;  /* of the lane, in its unit */
    uint64_t wrong;       /* of these, with a result or address that is changed */
} hd_faulty_lane;

#endif
