/* Shared functions of the decoder: reports, modifiers, the functions of a program. */
#include "hwmodel/exec/decode/decoder.h"

bool hd_decode_unsupported(hd_decoder *d, const char *why)
{
    if (!d->failed || !hd_diagnostics_full(d->diagnostics))
        hd_report(d->diagnostics, HD_DIAG_UNSUPPORTED, d->module->source, d->insn->span,
                  "the interpreter does not run '%s'%s%s (kernel %s)",
                  hd_names_text(&d->module->names, d->form->spelling), why ? " with " : "", why ? why : "",
                  hd_names_text(&d->module->names, d->program->kernel->name));
    d->failed = true;
    return false;
}

bool hd_decode_only(const hd_decoder *d, const uint8_t *groups, uint32_t count)
{
    for (uint32_t g = 0; g < HD_MODIFIER_GROUP_COUNT; g++) {
        bool allowed = !d->form->modifiers[g] || hd_modifier_is_hint((hd_modifier_group)g);
        for (uint32_t i = 0; i < count && !allowed; i++)
            allowed = groups[i] == g;
        if (!allowed)
            return false;
    }
    return true;
}

/* ---- functions --------------------------------------------------------------------------------------------------- */

static hd_code *find_code(const hd_program *p, const hd_function *f)
{
    for (uint32_t i = 0; i < p->codes.count; i++)
        if (p->codes.items[i]->function == f)
            return p->codes.items[i];
    return NULL;
}

void hd_decode_add_code(hd_decoder *d, const hd_function *f)
{
    if (find_code(d->program, f))
        return;
    hd_code *code = HD_ARENA_NEW(&d->program->arena, hd_code);
    code->function = f;
    for (code->index = 0; d->module->functions.items[code->index] != f;)
        code->index++;
    hd_array_push(&d->program->codes, code);
}
