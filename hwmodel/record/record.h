/* The record: what the warps of a thread block executed, written once and read by both drivers of models.
 *
 *   producers                            recorder         record of a block              readers
 *   interpreter    events (event.h)                         warp 0: bytes     cursor      count mode: segments, in
 *   trace file     or segments     --->  hd_recorder  --->  warp 1: bytes     --->        scheduled order
 *                  (segment.h)                              ...                           SM: instructions, in cycles
 *
 * A producer is known to a recorder by its events alone. Values never depend on time, so a record may be read in any
 * order of the warps that keeps its barriers. The recorder hands over a block when the block has ended; readers share
 * it, each with cursors of its own, and the last one frees it. So memory holds the blocks that are running, and those
 * that the slowest reader has not read. (Models whose warps share nothing need no record: count mode walks them through
 * the segments as they come.)
 *
 * Count mode and the timings of a run have a recorder each, as their instructions differ. Count mode's are segments:
 * each is found once, whatever number of models takes it, and its turns and its memo need it whole. An SM's have
 * addresses, copies and waits at mbarriers, which may be anywhere in a segment. Each reader of one record of both would
 * skip what only the other needs. Recording segments takes less than 1 % of a run with cycles, and
 * hd_rf_residency.bytes bounds them.
 *
 * The bytes of a warp. The cursor predicts each instruction: the one after the last in the text, with the same active
 * lanes, all of which execute. Instructions are coded one by one, with their columns, or as whole segments. Codes from
 * 0x81 to 0x8d describe the instruction or segment after them:
 *
 *     85 0e           8e <address>    86 00       8e <address>     84 00 02      80 <stride 4>    03
 *     WAIT 1, 2, 3    SEGMENT         RETURN 0    SEGMENT          FRAME 0, 2    MEMORY           RUN of 4
 *
 *   0x00-0x7f  RUN          code + 1 instructions as predicted, without memory addresses
 *   0x80       MEMORY       one instruction as predicted, with addresses
 *   0x81       JUMP         varint, signed: the next instruction, less the predicted one
 *   0x82       ACTIVE       4 bytes: the active lanes from here on
 *   0x83       EFFECTIVE    4 bytes: lanes that execute the next instruction, and only that one
 *   0x84       FRAME        varints: frame, function; the frame of the next instruction, at its instruction 0
 *   0x85       WAIT         varint: warps of the block (bit i: its warp i) that the next instruction waits for, those
 *                           that arrived at the barrier before it opened: each must have issued as many barrier
 *                           instructions as this warp has
 *   0x86       RETURN       varint: lanes of that frame are back from a call before the next instruction
 *   0x87       WIDTHS       varint n, n bytes: widths of the next instruction's results (hd_width: held << 4 | written)
 *   0x88       RESULTS      varint n, bytes up to a multiple of 4 of the record, 32 n words as in memory: values
 *   0x89       ARRIVALS     varint: warps as in WAIT; for each a signed varint: barrier instructions that it must
 *                           have issued, less those that this warp has
 *   0x8a       COPIES       the next instruction is a cp.async: for the lanes that execute, coded as addresses, with 0
 *                           before the first: their offsets in shared memory; the bytes that they read
 *   0x8b       LANDINGS     varint: warps of the block (bit i: its warp i); for each a varint n: the next instruction
 *                           waits for the copies before the n-th cp.async.mbarrier.arrive of that warp
 *   0x8c       SECTORS      varint n, n signed varints: sectors that the next instruction, of a texture or a surface,
 *                           accesses (as in hd_event), each less the one before it, the first less 0
 *   0x8d       LANES        3 x 4 bytes: what a faulty lane does to the next instruction (hd_lane_effect)
 *   0x8e       SEGMENT      8 bytes: address of an hd_segment, the next instructions, in the frame of FRAME
 *
 * Addresses follow their code: a signed varint (the address of the first lane that executes, less that of the last
 * MEMORY instruction), then a varint: 1 + twice the zigzag of the stride, where lane i has address first + (i - first
 * lane) * stride; else 0, and a signed varint for each further lane: its address less that of the lane before it.
 *
 * Varints have 7 bits a byte, the lowest first; signed ones are zigzag-encoded.
 *
 * Barriers. A producer reports arrivals, openings and passes of barriers (HD_COLUMN_BARRIERS). After a pass, a warp
 * waits for the arrivals before the opening: WAIT, ARRIVALS, LANDINGS. hd_record_waits says whether they have happened
 * in the reader's order. Arrivals at mbarriers end no segment, so count mode does not wait for them.
 *
 * Size: straight code takes 1 byte per 128 instructions; a branch 2 to 7; a memory instruction with a stride about 6.
 * Cost: O(1) an event, and O(lanes) where addresses have no stride.
 */
#ifndef HD_HWMODEL_RECORD_RECORD_H
#define HD_HWMODEL_RECORD_RECORD_H

#include "base/array.h"
#include "base/bits.h"
#include "hwmodel/record/segment.h"
#include "ir/form.h"
#include <stdatomic.h>

enum { HD_RECORD_WARPS = 32 /* of a thread block, at most */ };

typedef struct hd_record_warp {
    uint32_t warp; /* of the launch */
    HD_ARRAY(uint8_t) bytes;
} hd_record_warp;

typedef struct hd_record {
    uint32_t cta, warp_count;
    atomic_uint readers;
    uint64_t bytes, instructions; /* of all its warps */
    hd_loose_segments segments;   /* its own copies of loose ones */
    hd_record_warp warps[HD_RECORD_WARPS];
} hd_record;

/* One more reader; one less, the last of which frees it. From any thread. */
void hd_record_share(hd_record *record, uint32_t more);
void hd_record_release(hd_record *record);

/* ---- recording --------------------------------------------------------------------------------------------------- */

typedef struct hd_recorder hd_recorder;

/* Does it arrive at a barrier, also at one in memory? */
bool hd_record_arrives(const hd_form *form);

/* `ended` becomes the only reader of each thread block that has ended, in the order in which they end. false from
 * `ended` stops the run. Of a recorder that takes ISSUE events, `barrier` says hd_record_arrives of an instruction;
 * columns: WIDTHS, RESULTS, LOADED and LANES; addresses are always recorded. */
typedef struct hd_recorder_user {
    bool (*ended)(void *context, hd_record *record);
    bool (*barrier)(void *context, uint32_t function, uint32_t instruction);
    void *context;
    uint32_t columns;
} hd_recorder_user;

hd_recorder *hd_recorder_new(const hd_recorder_user *user);
void hd_recorder_free(hd_recorder *recorder); /* with blocks that have not ended */
void hd_recorder_drop(hd_recorder *recorder); /* blocks that have not ended are left out */
hd_sink hd_recorder_sink(hd_recorder *recorder);
bool hd_recorder_take(hd_recorder *recorder, const hd_event *event);
/* Instructions as a segment instead of their ISSUE events. A segment that is not loose must outlive the record. Returns
 * the bytes of the block so far. */
uint64_t hd_recorder_take_segment(hd_recorder *recorder, const hd_warp_event *event);

/* ---- reading ----------------------------------------------------------------------------------------------------- */

typedef struct hd_record_sectors { /* those of SECTORS that are left */
    const uint8_t *at;
    uint64_t last;
    uint32_t left;
} hd_record_sectors;

typedef struct hd_record_step { /* one warp instruction, or a segment */
    const hd_segment *segment;  /* NULL: one instruction; else only frame, waits, landings and returned are set */
    uint32_t frame, function, instruction;
    uint32_t active, effective;
    uint32_t waits;    /* as WAIT and ARRIVALS; 0: for no warp */
    uint32_t landings; /* warps of LANDINGS; 0: none */
    uint32_t returned; /* frame of RETURN; HD_NONE: there was none */
    bool has_addresses;
    bool has_copies; /* a cp.async: its addresses are those that it reads */
    int64_t stride;  /* of all lanes, where `strided` */
    bool strided;
    hd_record_sectors sectors;
    uint32_t width_count;
    const uint32_t *results; /* by word, then lane; NULL: none, or not recorded */
    bool has_effect;
} hd_record_step;

typedef struct hd_record_cursor {
    const uint8_t *at, *end;
    uint32_t run; /* instructions of a RUN that are left */
    uint32_t next, active, frame, function;
    uint64_t last; /* address of the last MEMORY instruction */
    hd_record_step step;
    uint64_t addresses[32];                   /* of the step's lanes that execute; others are not set */
    uint64_t copied_to[32], copied_bytes[32]; /* with has_copies: as in hd_event, of lanes that execute */
    hd_width widths[HD_MOST_RETURNED];
    hd_lane_effect effect;             /* with has_effect */
    int32_t arrivals[HD_RECORD_WARPS]; /* of the step's `waits`: as ARRIVALS */
    uint32_t landed[HD_RECORD_WARPS];  /* of the step's `landings`: as LANDINGS */
} hd_record_cursor;

void hd_record_open(hd_record_cursor *cursor, const hd_record_warp *warp);
/* The next one, while there are some left. */
uint64_t hd_record_take_sector(hd_record_sectors *sectors);
/* The next instruction or segment, in cursor->step; false: there is none. */
bool hd_record_next(hd_record_cursor *cursor);

/* Does the step, of the warp `index` of its block, still wait at a barrier? issued: the barrier instructions that each
 * warp of the block has issued; UINT32_MAX: it has ended. Drops warps that have arrived: each is checked once. */
static inline bool hd_record_waits(hd_record_cursor *c, uint32_t index, const uint32_t issued[HD_RECORD_WARPS])
{
    for (; c->step.waits; c->step.waits &= c->step.waits - 1) {
        uint32_t other = (uint32_t)__builtin_ctz(c->step.waits);
        if (issued[other] < issued[index] + (uint32_t)c->arrivals[other])
            return true;
    }
    return false;
}

#endif
