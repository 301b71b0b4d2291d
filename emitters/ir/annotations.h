/* Annotations as text: comments, modifiers and statements; and the section's lines. Syntax: heddle-annotations(7). */
#ifndef HD_EMITTERS_ANNOTATIONS_H
#define HD_EMITTERS_ANNOTATIONS_H

#include "base/writer.h"
#include "ir/annotations.h"

/* The annotations of one anchor: [first, end) of function->annotations, and its comments of unknown kinds. */
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
    uint32_t wide, foreign_wide; /* start of the function-wide ones */
    uint32_t *ordinals;          /* hd_declaration_ordinals; owned */
    bool nested;                 /* register names may shadow each other: they are written with their declaration */
} hd_annotation_walk;
void hd_annotation_walk_start(hd_annotation_walk *walk, const hd_function *function);
void hd_annotation_walk_end(hd_annotation_walk *walk);
hd_annotation_run hd_annotation_run_wide(const hd_annotation_walk *walk);
/* The run of an instruction; call with ascending ordinals. */
hd_annotation_run hd_annotation_run_of(hd_annotation_walk *walk, uint32_t instruction);
/* The ordinal of the next instruction with annotations, HD_NONE at the end. */
uint32_t hd_annotation_walk_next(const hd_annotation_walk *walk);
static inline bool hd_annotation_run_empty(const hd_annotation_run *run)
{
    return run->first == run->end && run->foreign_first == run->foreign_end;
}

/* " //@bow rf,boc", or the same as a block comment; nothing if the run is empty. */
void hd_emit_comment(hd_writer *writer, const hd_annotation_run *run, bool to_line_end);
/* ".bow::rf_boc": those that are modifiers. */
void hd_emit_modifiers(hd_writer *writer, const hd_annotation_run *run);
/* Whether there are others. */
bool hd_annotation_run_has_statements(const hd_annotation_run *run);
/* "\n\t.heddle NAME VALUES;" for each of the others. */
void hd_emit_heddle_statements(hd_writer *writer, const hd_annotation_run *run, const char *line_end);

/* ".section .heddle", line end, "{" ... "}" with all annotations of the module, without a final line end. `before` is
 * written before it. Writes nothing if there are no annotations. false: too large. */
bool hd_emit_section(hd_writer *writer, const hd_module *module, const char *before, const char *line_end);

#endif
