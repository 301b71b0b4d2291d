/* The failure of an allocation's verification: reports the first error, at the instruction or the function's head. */
#include "passes/check/regalloc_proof.h"

#include <stdarg.h>
#include <stdio.h>

void hd_proof_fail(hd_proof *p, const hd_instruction *insn, const char *format, ...)
{
    char text[256];
    va_list arguments;
    if (p->failed)
        return;
    p->failed = true;
    va_start(arguments, format);
    vsnprintf(text, sizeof text, format, arguments);
    va_end(arguments);
    const hd_function *f = p->allocated;
    hd_report(p->diagnostics, HD_DIAG_INVALID_IR, f->module->source, insn ? insn->span : f->header_span,
              "allocation of '%s': %s", hd_names_text(&f->module->names, f->name), text);
}
