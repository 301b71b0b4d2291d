/* Annotations as text: comments, modifiers and statements; and the section's lines. The forms: heddle-annotations(7).
 */
#ifndef HD_EMITTERS_ANNOTATIONS_H
#define HD_EMITTERS_ANNOTATIONS_H

#include "base/writer.h"
#include "ir/annotations.h"

/* The annotations of one place: [first, end) of function->annotations, and comments of unknown kinds there. */
typedef struct hd_annotation_run {
    const hd_function *function;
    uint32_t first, end;
    uint32_t foreign_first, foreign_end; /* in function->foreign_annotations */
    const struct hd_annotation_walk *walk;
} hd_annotation_run;

/* Walks a function's annotations in the order of instructions, in step with its text. */
typedef struct hd_annotation_walk {
    const hd_function *function;
    uint32_t at, foreign_at;
    uint32_t wide, foreign_wide; /* where the function-wide ones begin */
    uint32_t *ordinals;          /* hd_declaration_ordinals; owned */
    bool nested;                 /* register names may shadow each other: they are written with their declaration */
} hd_annotation_walk;
void hd_annotation_walk_start(hd_annotation_walk *walk, const hd_function *function);
void hd_annotation_walk_end(hd_annotation_walk *walk);
hd_annotation_run hd_annotation_run_wide(const hd_annotation_walk *walk);
/* The run of an instruction; ordinals are asked for in ascending order. */
hd_annotation_run hd_annotation_run_of(hd_annotation_walk *walk, uint32_t instruction);
/* The ordinal of the next instruction that has any, HD_NONE at the end. */
uint32_t hd_annotation_walk_next(const hd_annotation_walk *walk);
static inline bool hd_annotation_run_empty(const hd_annotation_run *run)
{
    return run->first == run->end && run->foreign_first == run->foreign_end;
}

/* " //@bow rf,boc" or the same between slash-star and star-slash; nothing where the run is empty. */
void hd_emit_comment(hd_writer *writer, const hd_annotation_run *run, bool to_line_end);
/* ".bow::rf_boc": those that are modifiers. */
void hd_emit_modifiers(hd_writer *writer, const hd_annotation_run *run);
/* Whether there are others. */
bool hd_annotation_run_has_statements(const hd_annotation_run *run);
/* "\n\t.heddle NAME VALUES;" for each of the others. */
void hd_emit_heddle_statements(hd_writer *writer, const hd_annotation_run *run, const char *line_end);

/* ".section .heddle", line end, "{" ... "}" with all annotations of the module; no line end after it. false: too
 * large. Writes nothing where there are no annotations. `before` is written before it. */
bool hd_emit_section(hd_writer *writer, const hd_module *module, const char *before, const char *line_end);

#endif
