/* Diagnostics of replays: see report.h. */
#include "hwmodel/count/report.h"

#include <stdio.h>

static hd_span span_of(const hd_rf_module *code, uint32_t function, uint32_t instruction)
{
    return code->functions[function]->function->instructions.items[instruction].span;
}

static void note_warp(hd_diagnostics *diagnostics, hd_diagnostic *d, uint32_t warp, uint32_t cta)
{
    hd_note_add(diagnostics, d, NULL, (hd_span){0, 0}, "in warp %u of the launch (block %u)", warp, cta);
}

static const char *rule_of(uint8_t wrong)
{
    switch ((hd_rf_wrong)wrong) {
    case HD_RF_STALE: return "what is delivered was written, or copied, after the register's last write in that lane";
    case HD_RF_FOREIGN: return "a structure forgets the registers of a call when it ends, and what it replaces";
    case HD_RF_UNMOVED: return "a structure has the lanes that were moved into it, and no other ones";
    case HD_RF_SHARED: return "storage is given to one register at a time";
    case HD_RF_PROVED:
    case HD_RF_MISSING:
    case HD_RF_FULL:
    case HD_RF_OVERFLOW:
    case HD_RF_UNVERIFIED: break;
    }
    return "each operand is delivered in all lanes that execute";
}

bool hd_rf_report_failure(const hd_rf_module *code, const hd_rf_failure *f, const char *model,
                          hd_diagnostics *diagnostics)
{
    hd_span span = span_of(code, f->function, f->instruction);
    char name[160], why[128] = "no structure delivers it";
    if (f->wrong == HD_RF_OVERFLOW) {
        hd_report(diagnostics, HD_DIAG_UNSUPPORTED, code->module->source, span,
                  "a warp that writes registers more than 4,290,000,000 times cannot be proved");
        return false;
    }
    if (f->wrong == HD_RF_FULL) {
        note_warp(diagnostics,
                  hd_report(diagnostics, HD_DIAG_UNSUPPORTED, code->module->source, span,
                            "%s finds no free register in the register file, and the warp cannot wait for one here",
                            model),
                  f->warp, f->cta);
        return false;
    }
    if (f->wrong == HD_RF_UNVERIFIED) {
        note_warp(diagnostics,
                  hd_report(diagnostics, HD_DIAG_PROOF_FAILED, code->module->source, span,
                            "%s lets it go on before a result that it needs is verified", model),
                  f->warp, f->cta);
        return true;
    }
    if (f->wrong == HD_RF_SHARED)
        snprintf(why, sizeof why, "the register it was given is another one's");
    const char *structure = hd_structure_names[f->structure];
    if (f->wrong == HD_RF_STALE)
        snprintf(why, sizeof why, "%s holds an older one", structure);
    if (f->wrong == HD_RF_FOREIGN)
        snprintf(why, sizeof why, "%s holds another register, or one of another call", structure);
    if (f->wrong == HD_RF_UNMOVED)
        snprintf(why, sizeof why, "%s never got it in these lanes", structure);
    hd_storage_spell(&code->functions[f->function]->storage, f->word, name, sizeof name);
    hd_diagnostic *d = hd_report(diagnostics, HD_DIAG_PROOF_FAILED, code->module->source, span,
                                 "%s delivers another value of %s than the baseline reads: %s", model, name, why);
    if (f->lanes)
        hd_note_add(diagnostics, d, NULL, (hd_span){0, 0}, "in lanes 0x%08x, of which the first is %d", f->lanes,
                    __builtin_ctz(f->lanes));
    hd_note_add(diagnostics, d, NULL, (hd_span){0, 0}, "the rule: %s", rule_of(f->wrong));
    note_warp(diagnostics, d, f->warp, f->cta);
    return true;
}

void hd_rf_report_split(const hd_rf_module *code, const hd_rf_branch *b, const hd_event *event,
                        hd_diagnostics *diagnostics)
{
    hd_diagnostic *d =
        hd_report(diagnostics, HD_DIAG_NOT_UNIFORM, code->module->source, span_of(code, b->function, b->instruction),
                  "this branch was taken for uniform, but splits its warp (lanes 0x%08x of 0x%08x go one way)",
                  b->lanes & event->active, b->lanes);
    note_warp(diagnostics, d, event->warp, event->cta);
}

void hd_rf_report_waits(const hd_rf_module *code, const hd_rf_wait waits[HD_RF_WAITS], uint32_t count, hd_diagnostic *d,
                        hd_diagnostics *diagnostics)
{
    for (uint32_t i = 0; i < count && i < HD_RF_WAITS; i++) {
        const hd_rf_wait *w = &waits[i];
        bool has_next = w->instruction != HD_NONE;
        char sm[24] = "";
        if (w->sm != HD_NONE)
            snprintf(sm, sizeof sm, "SM %u, ", w->sm);
        hd_note_add(diagnostics, d, has_next ? code->module->source : NULL,
                    has_next ? span_of(code, w->function, w->instruction) : (hd_span){0, 0},
                    "%sblock %u, warp %u waits for %s", sm, w->cta, w->warp, w->what);
    }
    if (count > HD_RF_WAITS)
        hd_note_add(diagnostics, d, NULL, (hd_span){0, 0}, "%u more warps wait", count - HD_RF_WAITS);
}
