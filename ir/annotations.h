/* Annotations: what a pass decided, attached to a function, block (its first instruction), instruction or operand slot.
 *
 * ir/annotations.def lists every kind once: number, name, owner, place, value, spellings. Readers and writers of both spellings
 * and of the section walk that table and know no kind by name. See heddle-annotations(7).
 */
#ifndef HD_IR_ANNOTATIONS_H
#define HD_IR_ANNOTATIONS_H

#include "ir/ir.h"

typedef enum hd_annotation_place { HD_PLACE_FUNCTION, HD_PLACE_BLOCK, HD_PLACE_INSTRUCTION,
    HD_PLACE_OPERAND, /* a destination slot */
    HD_PLACE_SOURCE,  /* a source slot */
} hd_annotation_place;
typedef enum hd_annotation_value {
    HD_VALUE_FLAG,      /* present or not */
    HD_VALUE_NUMBER,    /* u32 */
    HD_VALUE_CHOICE,    /* one of the words of the row's list: index from 0 */
    HD_VALUE_BITS,      /* bit mask over operand slots or the like */
    HD_VALUE_REGISTERS, /* list of register ids; in files (declaration ordinal, index) pairs */
    HD_VALUE_NUMBERS,   /* list of u32 */
} hd_annotation_value;

typedef enum hd_annotation_kind {
    HD_ANNOTATION_NONE,
#define HD_ANNOTATION(id, number, name, technique, place, value, words, summary) HD_ANNOTATION_##id = number,
#include "ir/annotations.def"
#undef HD_ANNOTATION
} hd_annotation_kind;

typedef struct hd_annotation_info {
    uint16_t number;       /* hd_annotation_kind, and the record kind in the section */
    const char *name;      /* "bow": the word behind //@ and the modifier or directive of the extended spelling */
    const char *technique; /* id of ir/techniques.def */
    uint8_t place, value;
    const char *words;     /* CHOICE: "rf|boc|both" */
    const char *summary;
} hd_annotation_info;
extern const hd_annotation_info hd_annotation_infos[];
extern const uint32_t hd_annotation_info_count;
const hd_annotation_info *hd_annotation_find(uint16_t number);
const hd_annotation_info *hd_annotation_find_name(const char *name, size_t length);

/* Operand slots of HD_PLACE_OPERAND: destination registers that stand in the register file (no predicates) are counted from 0 in operand order,
 * and so are, separately, source registers; the row's technique says which it means. These helpers map slot <-> operand. */
uint32_t hd_insn_destination_slot(const hd_function *f, const hd_instruction *i, uint32_t slot); /* operand index in function->operands or HD_NONE */
uint32_t hd_insn_source_slot(const hd_function *f, const hd_instruction *i, uint32_t slot);
uint32_t hd_insn_destination_count(const hd_function *f, const hd_instruction *i);

void hd_annotate(hd_function *function, hd_annotation annotation);     /* append; hd_annotations_sort() before use */
void hd_annotations_sort(hd_function *function);
void hd_annotations_remove(hd_function *function, const char *technique); /* all of one technique; NULL: all */
/* The annotation of a kind at an instruction (HD_NONE: the function) and slot, or NULL. O(log n). */
const hd_annotation *hd_annotation_at(const hd_function *function, uint16_t kind, uint32_t instruction, uint32_t slot);

#endif
