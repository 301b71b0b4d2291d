/* wmma.load, wmma.store, ldmatrix, stmatrix and movmatrix.
 *
 * wmma.load and wmma.store assign each lane one 32nd of the matrix in memory order: lane l accesses the bytes from l *
 * size / 32 on, counted along the lines. These are the addresses reported to sinks, and they are checked like those of
 * a load or store: bounds, and alignment to the piece's size or 16 bytes, whichever is less. Base address and stride
 * must be the same in all lanes. Every address must be in global, constant or shared memory; those of ldmatrix and
 * stmatrix in shared memory. */
#include "hwmodel/exec/ops/access.h"
#include "hwmodel/exec/ops/matrix.h"
#include "hwmodel/exec/ops/scalar.h"
#include "hwmodel/exec/state/fault.h"

/* ---- pieces ------------------------------------------------------------------------------------------------------ */

static hd_step local_memory(const hd_op *op, hd_warp *w, uint32_t lane)
{
    return hd_fault(op, w, 1u << lane, "matrix in local memory, at generic address 0x%llx",
                    (unsigned long long)w->cta->addresses[lane]);
}

/* Copies `piece` bytes (a power of two, at most 16) at each lane's address, from or to positions `stride` bytes apart
 * in the buffer. */
static hd_step copy_pieces(const hd_op *op, hd_warp *w, unsigned char *buffer, uint32_t stride, uint32_t piece,
                           bool write)
{
    const u64 *address = w->cta->addresses;
    hd_region r;
    bool single;
    hd_step step = hd_access_check(op, w, HD_ALL_LANES, piece, write, &r, &single);
    for (uint32_t lane = 0; lane < LANES && step == HD_STEP_NEXT; lane++, buffer += stride) {
        if (!single)
            hd_region_find(op, w, (hd_space)op->space, address[lane], &r);
        if (r.interleaved)
            return local_memory(op, w, lane);
        unsigned char *host = r.bytes + (address[lane] - r.first);
        hd_memory_copy(write ? host : buffer, write ? buffer : host, piece);
    }
    return step;
}

static hd_step check_pieces(const hd_op *op, hd_warp *w, uint32_t piece, bool write)
{
    hd_region r;
    bool single;
    return hd_access_check(op, w, HD_ALL_LANES, piece, write, &r, &single);
}

static void move_addresses(hd_warp *w, u64 by)
{
    for (uint32_t i = 0; i < LANES; i++)
        w->cta->addresses[i] += by;
}

/* Copies the whole matrix in pieces of at most 16 bytes; nothing is written if one of them is invalid. */
static hd_step copy_matrix(const hd_op *op, hd_warp *w, unsigned char *buffer, uint32_t size, bool write)
{
    uint32_t share = size / LANES, piece = hd_min(share, 16);
    hd_step step = HD_STEP_NEXT;
    if (share > piece) {
        move_addresses(w, piece);
        step = check_pieces(op, w, piece, write);
        move_addresses(w, 0 - (u64)piece);
    }
    if (step == HD_STEP_NEXT)
        step = copy_pieces(op, w, buffer, share, piece, write);
    if (step == HD_STEP_NEXT && share > piece) {
        move_addresses(w, piece);
        step = copy_pieces(op, w, buffer + piece, share, piece, write);
        move_addresses(w, 0 - (u64)piece);
    }
    return step;
}

/* ---- wmma.load, wmma.store --------------------------------------------------------------------------------------- */

static uint32_t differing(const void *row, uint32_t bytes)
{
    const unsigned char *first = row;
    uint32_t lanes = 0;
    for (uint32_t i = 1; i < LANES; i++)
        lanes |= (uint32_t)(memcmp(first, first + (size_t)i * bytes, bytes) != 0) << i;
    return lanes;
}

/* Sets the lanes' addresses to those of their pieces. */
static hd_step set_pieces(const hd_op *op, hd_warp *w, const hd_matrix_access *x)
{
    u64 *address = w->cta->addresses;
    const uint32_t bits = hd_matrix_types[x->fragment.type].bits, share = op->item_bytes;
    hd_lane_addresses(op, w, HD_ALL_LANES);
    uint32_t different = differing(address, 8);
    if (!different && op->b != HD_NO_REF)
        different = differing(hd_row(w, op->b), 4);
    if (different)
        return hd_fault(op, w, different, "matrix whose address or stride differs between the lanes of the warp");
    u64 base = address[0], stride = op->b == HD_NO_REF ? x->line_bytes : (u64)hd_warp_word(w, op->b) * bits / 8;
    for (uint32_t i = 0; i < LANES; i++)
        address[i] = base + i * share / x->line_bytes * stride + i * share % x->line_bytes;
    return HD_STEP_NEXT;
}

/* Transposes a matrix of elements of 1 to 8 bytes: to[i][k] = from[k][i]. */
static void transpose(unsigned char *to, const unsigned char *from, uint32_t lines, uint32_t length, uint32_t bytes)
{
    for (uint32_t i = 0; i < lines; i++)
        for (uint32_t k = 0; k < length; k++)
            memcpy(to + (size_t)(i * length + k) * bytes, from + (size_t)(k * lines + i) * bytes, bytes);
}

hd_step hd_run_matrix_load(const hd_op *op, hd_warp *w, uint32_t mask)
{
    const hd_matrix_access *x = op->use.detail;
    _Alignas(64) unsigned char memory[HD_MATRIX_BYTES], lines[HD_MATRIX_BYTES];
    const uint32_t bytes = hd_matrix_types[x->fragment.type].bits / 8;
    if (hd_matrix_converged(op, w, mask) != HD_STEP_NEXT || set_pieces(op, w, x) != HD_STEP_NEXT ||
        copy_matrix(op, w, memory, (uint32_t)x->lines * x->line_bytes, false) != HD_STEP_NEXT)
        return HD_STEP_STOP;
    if (x->across)
        transpose(lines, memory, x->line_bytes / bytes, x->lines, bytes);
    hd_fragment_write(w, &x->fragment, x->across ? lines : memory);
    return HD_STEP_NEXT;
}

hd_step hd_run_matrix_store(const hd_op *op, hd_warp *w, uint32_t mask)
{
    const hd_matrix_access *x = op->use.detail;
    _Alignas(64) unsigned char memory[HD_MATRIX_BYTES], lines[HD_MATRIX_BYTES];
    const uint32_t bytes = hd_matrix_types[x->fragment.type].bits / 8;
    if (hd_matrix_converged(op, w, mask) != HD_STEP_NEXT || set_pieces(op, w, x) != HD_STEP_NEXT)
        return HD_STEP_STOP;
    hd_fragment_read(w, &x->fragment, lines);
    if (x->across)
        transpose(memory, lines, x->lines, x->line_bytes / bytes, bytes);
    w->cta->writes++;
    return copy_matrix(op, w, x->across ? memory : lines, (uint32_t)x->lines * x->line_bytes, true);
}

/* ---- ldmatrix, stmatrix, movmatrix: 8 x 8 elements of 16 bits, a row in 16 bytes --------------------------------- */

static void transpose_halves(void *to, const void *from)
{
    uint16_t in[8][8], out[8][8];
    memcpy(in, from, sizeof in);
    for (uint32_t i = 0; i < 8; i++)
        for (uint32_t k = 0; k < 8; k++)
            out[i][k] = in[k][i];
    memcpy(to, out, sizeof out);
}

/* Row addresses, from the first 8 lanes of each matrix; other lanes repeat them. */
static hd_step set_rows(const hd_op *op, hd_warp *w, const hd_matrix_rows *x)
{
    u64 *address = w->cta->addresses;
    uint32_t outside = 0;
    hd_lane_addresses(op, w, HD_ALL_LANES);
    for (uint32_t i = 8u * x->matrices; i < LANES; i++)
        address[i] = address[i % (8u * x->matrices)];
    for (uint32_t i = 0; i < LANES && op->space == HD_SPACE_NONE; i++)
        outside |= (uint32_t)(hd_memory_space_of(w->cta->memory, address[i]) != HD_SPACE_SHARED) << i;
    if (outside)
        return hd_fault(op, w, outside, "row of a matrix outside shared memory, at generic address 0x%llx",
                        (unsigned long long)address[__builtin_ctz(outside)]);
    return HD_STEP_NEXT;
}

hd_step hd_run_matrix_rows_load(const hd_op *op, hd_warp *w, uint32_t mask)
{
    const hd_matrix_rows *x = op->use.detail;
    const hd_ref *refs = hd_top_frame(w)->code->refs.items + x->first;
    unsigned char rows[LANES][16];
    if (hd_matrix_converged(op, w, mask) != HD_STEP_NEXT || set_rows(op, w, x) != HD_STEP_NEXT ||
        copy_pieces(op, w, rows[0], 16, 16, false) != HD_STEP_NEXT)
        return HD_STEP_STOP;
    for (uint32_t i = 0; i < x->matrices; i++) {
        if (refs[i] == HD_NO_REF)
            continue;
        if (x->transposed)
            transpose_halves(hd_row_of_frame(w, refs[i]), rows[8 * i]);
        else
            memcpy(hd_row_of_frame(w, refs[i]), rows[8 * i], 128);
    }
    return HD_STEP_NEXT;
}

hd_step hd_run_matrix_rows_store(const hd_op *op, hd_warp *w, uint32_t mask)
{
    const hd_matrix_rows *x = op->use.detail;
    const hd_ref *refs = hd_top_frame(w)->code->refs.items + x->first;
    unsigned char rows[LANES][16];
    if (hd_matrix_converged(op, w, mask) != HD_STEP_NEXT || set_rows(op, w, x) != HD_STEP_NEXT)
        return HD_STEP_STOP;
    for (uint32_t i = 0; i < 4; i++) { /* lanes without a row of their own repeat rows */
        const void *from = hd_row(w, refs[i % x->matrices]);
        if (x->transposed)
            transpose_halves(rows[8 * i], from);
        else
            memcpy(rows[8 * i], from, 128);
    }
    w->cta->writes++;
    return copy_pieces(op, w, rows[0], 16, 16, true);
}

hd_step hd_run_matrix_transpose(const hd_op *op, hd_warp *w, uint32_t mask)
{
    unsigned char unused[128];
    if (hd_matrix_converged(op, w, mask) != HD_STEP_NEXT)
        return HD_STEP_STOP;
    transpose_halves(op->d == HD_NO_REF ? unused : hd_row_of_frame(w, op->d), hd_row(w, op->a));
    return HD_STEP_NEXT;
}
