/* Annotations: decisions of passes, attached to a function, a block (its first instruction), an instruction or an
 * operand slot.
 *
 * ir/annotations.def lists every kind once: number, name, technique, anchor, value type, spellings. The readers and
 * writers of both spellings and of the section are driven by that table and contain no kind-specific code. See
 * heddle-annotations(7).
 */
#ifndef HD_IR_ANNOTATIONS_H
#define HD_IR_ANNOTATIONS_H

#include "base/rows.h"
#include "ir/ir.h"

typedef enum hd_annotation_anchor {
    HD_ANCHOR_FUNCTION,
    HD_ANCHOR_BLOCK,
    HD_ANCHOR_INSTRUCTION,
    HD_ANCHOR_OPERAND, /* a destination slot */
    HD_ANCHOR_SOURCE,  /* a source slot */
} hd_annotation_anchor;
typedef enum hd_annotation_value {
    HD_VALUE_FLAG,      /* present or not */
    HD_VALUE_NUMBER,    /* u32 */
    HD_VALUE_CHOICE,    /* one of the words of the row's list: index from 0 */
    HD_VALUE_BITS,      /* bit mask, for example over operand slots */
    HD_VALUE_REGISTERS, /* list of register ids; in files (declaration ordinal, index) pairs */
    HD_VALUE_NUMBERS,   /* list of u32 */
} hd_annotation_value;

typedef enum hd_annotation_kind {
    HD_ANNOTATION_NONE,
#define HD_ANNOTATION(id, number, name, technique, anchor, value, words, summary) HD_ANNOTATION_##id = number,
#include "ir/annotations.def"
#undef HD_ANNOTATION
} hd_annotation_kind;

typedef struct hd_annotation_info {
    uint16_t number;       /* hd_annotation_kind; also the record kind in the section */
    const char *name;      /* "bow": the word after //@, and the modifier or directive in the extended spelling */
    const char *technique; /* spelling in ir/techniques.def; "": private use */
    uint8_t anchor, value;
    const char *words; /* CHOICE: "rf|boc|both" */
    const char *summary;
} hd_annotation_info;
/* By ascending number. */
extern const hd_annotation_info *const hd_annotation_infos;
extern uint32_t hd_annotation_info_count;
/* Numbers of plug-ins' kinds; heddle itself has none of them. */
enum { HD_ANNOTATION_PLUGINS = 0x8000, HD_ANNOTATION_PLUGINS_END = 0xff00 };
bool hd_annotation_add(const hd_annotation_info *row); /* of a plug-in; false: there is no room */
const hd_annotation_info *hd_annotation_find(uint16_t number);
const hd_annotation_info *hd_annotation_find_name(const char *name, size_t length);

/* The words of a CHOICE: their number, the word at an index (not NUL-terminated), the index of a word (HD_NONE: no such
 * word).
 */
uint32_t hd_annotation_word_count(const hd_annotation_info *info);
const char *hd_annotation_word(const hd_annotation_info *info, uint32_t position, size_t *length);
uint32_t hd_annotation_word_find(const hd_annotation_info *info, const char *text, size_t length);
/* True if annotations of the kind have an operand slot. */
static inline bool hd_annotation_has_slots(const hd_annotation_info *info) { return info->anchor >= HD_ANCHOR_OPERAND; }
/* True if the value is a list, stored in function->annotation_words. */
static inline bool hd_annotation_is_list(const hd_annotation_info *info) { return info->value >= HD_VALUE_REGISTERS; }

/* Annotations with the words of their lists, as gathered by a reader before they are added to a function. */
typedef struct hd_annotation_set {
    HD_ARRAY(hd_annotation) items;
    hd_u32_array words;
} hd_annotation_set;
void hd_annotation_set_free(hd_annotation_set *set);
/* by (instruction, kind, slot); stable; keeps entries with equal keys */
void hd_annotation_set_sort(hd_annotation_set *set);
bool hd_annotation_set_equal(const hd_annotation_set *a, const hd_annotation_set *b); /* both must be sorted */

/* Names a register in files: its declaration, and index * components + component. */
typedef struct hd_register_key {
    uint32_t declaration, index;
} hd_register_key;
hd_register_key hd_register_key_of(const hd_function *function, uint32_t reg);
/* Ordinals by declaration index. Ordinals count declarations in text order; a module-scope declaration counts at the
 * first instruction that names one of its registers. Differs from the order of function->declarations only if a pass
 * changed the code; NULL: it does not differ. The caller frees it. */
uint32_t *hd_declaration_ordinals(const hd_function *function);
/* Register ids by key; O(log n) per lookup. An annotation counts as a mention: a declared register that no instruction
 * names gets its id here. */
typedef struct hd_register_keys {
    hd_function *function; /* NULL: not built yet */
    uint32_t *sorted;      /* register ids in ascending order of their keys; owned */
    uint32_t sorted_count; /* later registers are few and are searched linearly */
} hd_register_keys;
void hd_register_keys_init(hd_register_keys *keys, hd_function *function);
void hd_register_keys_free(hd_register_keys *keys);
uint32_t hd_register_keys_find(hd_register_keys *keys, hd_register_key key); /* HD_NONE: not declared */

/* Slots of HD_ANCHOR_OPERAND: destination registers in the register file (no predicates) are numbered from 0 in operand
 * order; source registers likewise, separately. These functions map slot <-> operand. */
uint32_t hd_insn_destination_slot(const hd_function *f, const hd_instruction *i,
                                  uint32_t slot); /* operand index in function->operands or HD_NONE */
uint32_t hd_insn_source_slot(const hd_function *f, const hd_instruction *i, uint32_t slot);
uint32_t hd_insn_destination_count(const hd_function *f, const hd_instruction *i);
uint32_t hd_insn_source_count(const hd_function *f, const hd_instruction *i);

void hd_annotate(hd_function *function, hd_annotation annotation); /* append; hd_annotations_sort() before use */
/* The same with a list, whose words are copied. */
void hd_annotate_list(hd_function *function, hd_annotation annotation, const uint32_t *words, uint32_t count);
/* The number of annotations of a technique. */
uint32_t hd_annotations_count(const hd_function *function, const char *technique);
void hd_annotations_sort(hd_function *function); /* of several with one key, the last one added is kept */
/* removes those of one technique; "*": of any technique; NULL: all */
void hd_annotations_remove(hd_function *function, const char *technique);
void hd_annotations_take(hd_function *function,
                         hd_annotation_set *set); /* exchanges the function's annotations with the set's (sorted); the
                                                   * function is not marked as changed */
/* The annotation of a kind at an instruction (HD_NONE: function-wide) and slot, or NULL. O(log n). */
const hd_annotation *hd_annotation_at(const hd_function *function, uint16_t kind, uint32_t instruction, uint32_t slot);

#endif
