/* Line tables of cubins: the section .debug_line, as ptxas -lineinfo writes it. The DWARF standard, versions 2 to 5
 * (section 6.2, "Line Number Information"), and one opcode of NVIDIA's, 0x90: the rows after it are of code that was
 * inlined at a row before them. What it means was read from tables of ptxas 13.0, beside listings of nvdisasm -gi. */
#ifndef HD_PARSER_LINE_TABLE_H
#define HD_PARSER_LINE_TABLE_H

#include "base/arena.h"
#include "parser/elf.h"

typedef struct hd_line_row {
    uint32_t section; /* of the code */
    uint32_t line;
    uint64_t address; /* in the section */
    const char *file; /* belongs to the table */
    uint32_t caller;  /* row of the call at which the line was inlined, an earlier one; HD_NONE: it was not */
    uint32_t number;  /* its own, in the order of the table */
} hd_line_row;

typedef struct hd_line_table {
    hd_arena arena;
    HD_ARRAY(hd_line_row) rows;    /* in the order of the file */
    HD_ARRAY(uint32_t) by_address; /* the last row of each address, by section and address */
} hd_line_table;

/* A damaged table has a warning with section and offset (undecoded), and no rows. Linear in the section, but for
 * sorting. */
void hd_line_table_read(hd_line_table *table, const hd_elf *elf, hd_diagnostics *diagnostics);
void hd_line_table_free(hd_line_table *table);
/* The row that begins at the address; NULL: none does. */
const hd_line_row *hd_line_table_at(const hd_line_table *table, uint32_t section, uint64_t address);

#endif
