/* Numbers and messages of ptxas: report_work.h.
 *
 * Which kernel a message is about. By its line, where ptxas gives one; by a function that it names between quotes;
 * by the instruction that it names ("setmaxnreg", "wgmma.mma_async"), whose first use is its position: where several
 * kernels have that instruction, the message is listed for each. A message that leads to no function is about all
 * kernels.
 */
#include "driver/report/report_work.h"

#include <ctype.h>

enum { SHORTEST_OPCODE = 5 }; /* shorter ones are English words, too: and, set, call */

hd_report_ptxas report_ptxas_numbers(const hd_ptxas_result *result, bool good, const char *name)
{
    const hd_ptxas_kernel *said = good ? hd_ptxas_find(result, name) : NULL;
    if (!said)
        return (hd_report_ptxas){.unknown = good ? "ptxas reports nothing for this function" : result->unknown};
    return (hd_report_ptxas){.known = true,
                             .registers = said->registers,
                             .barriers = said->barriers,
                             .spill_stores = said->spill_stores,
                             .spill_loads = said->spill_loads,
                             .stack_bytes = said->stack_bytes,
                             .shared_bytes = said->shared_bytes};
}

/* ---- messages ---------------------------------------------------------------------------------------------------- */

typedef struct match { /* of a message and a function */
    uint32_t rank;     /* the highest ones are what it is about; 0: no sign of it */
    hd_report_position position;
} match;

enum { RANK_OF_NAME = 1, RANK_OF_LINE = UINT16_MAX }; /* between them: the length of the instruction's name, plus 1 */

static bool is_word(char c) { return isalnum((unsigned char)c) || c == '_' || c == '$' || c == '.'; }

/* Whether the text has the word, with nothing before or after it that continues it. A part after a dot may follow. */
static bool has_word(const char *text, const char *word, size_t length)
{
    for (const char *at = text; (at = memmem(at, strlen(at), word, length)) != NULL; at++)
        if ((at == text || !is_word(at[-1])) && (!is_word(at[length]) || at[length] == '.'))
            return true;
    return false;
}

/* The longest beginning of the instruction's opcode, up to a dot, that the message names; 0: none. */
static uint32_t opcode_length(const char *instruction, const char *message)
{
    const char *at = instruction;
    if (*at == '@') {
        at += strcspn(at, " ");
        at += *at == ' ';
    }
    for (size_t length = strcspn(at, " ;"); length >= SHORTEST_OPCODE;) {
        if (has_word(message, at, length))
            return (uint32_t)length;
        do
            length--;
        while (length && at[length] != '.');
    }
    return 0;
}

static match match_opcode(const hd_report_kernel *k, const char *text)
{
    match best = {0};
    for (uint32_t i = 0; i < k->instruction_count; i++) {
        uint32_t length = opcode_length(k->instructions[i].text, text);
        if (length && length + 1 > best.rank && length + 1 < RANK_OF_LINE)
            best = (match){length + 1, k->instructions[i].position};
    }
    return best;
}

static match match_line(const report_item *item, hd_source *source, uint32_t line)
{
    const hd_function *f = item->function;
    const hd_report_kernel *k = item->kernel;
    if (hd_source_position(source, f->header_span.begin).line > line ||
        hd_source_position(source, f->body.end).line < line)
        return (match){0};
    match m = {RANK_OF_LINE, {.ptx_line = line}};
    for (uint32_t i = 0; i < k->instruction_count; i++)
        if (k->instructions[i].position.ptx_line >= line) {
            m.position = k->instructions[i].position;
            m.position.ptx_line = line;
            break;
        }
    return m;
}

/* The function that a message names between quotes, or NULL. */
static const hd_function *named_function(const hd_module *module, const char *text)
{
    for (const char *at = text; (at = strchr(at, '\'')) != NULL;) {
        const char *end = strchr(at + 1, '\'');
        if (!end)
            break;
        hd_name name = hd_names_find(&module->names, at + 1, (size_t)(end - at - 1));
        for (uint32_t i = 0; name != HD_NO_NAME && i < module->functions.count; i++)
            if (module->functions.items[i]->name == name && module->functions.items[i]->has_body)
                return module->functions.items[i];
        at = end; /* which may open the next quotation, as apostrophes do */
    }
    return NULL;
}

static void add_message(hd_report_kernel *k, const hd_report_message *m, hd_arena *arena)
{
    hd_report_message *grown = HD_ARENA_ARRAY(arena, hd_report_message, k->ptxas.message_count + 1);
    if (k->ptxas.message_count)
        memcpy(grown, k->ptxas.messages, k->ptxas.message_count * sizeof *grown);
    grown[k->ptxas.message_count++] = *m;
    k->ptxas.messages = grown;
}

static match match_message(const report_common *c, const hd_ptxas_message *said, const report_item *item)
{
    const hd_function *named = named_function(c->module, said->text);
    const char *around = strstr(said->text, "around line "); /* "injected in around line 12" */
    uint32_t line = said->line || !around ? said->line : (uint32_t)strtoul(around + strlen("around line "), NULL, 10);
    match m = {0};
    if (named && item->function != named)
        return m;
    if (line)
        m = match_line(item, c->module->source, line);
    if (!m.rank)
        m = match_opcode(item->kernel, said->text);
    if (!m.rank && named)
        m.rank = RANK_OF_NAME;
    return m;
}

static void place_message(const report_common *c, const hd_ptxas_message *said, const report_item *all, uint32_t count,
                          match *matches, hd_arena *arena)
{
    uint32_t best = 0, fitting = 0;
    for (uint32_t i = 0; i < count; i++) {
        matches[i] = match_message(c, said, &all[i]);
        best = hd_max(best, matches[i].rank);
    }
    if (!best && (said->line || named_function(c->module, said->text)))
        return; /* it is about a function that is not reported */
    for (uint32_t i = 0; i < count; i++)
        fitting += matches[i].rank == best && (best || all[i].kernel->is_entry);
    for (uint32_t i = 0; i < count; i++) {
        hd_report_message m = {.code = said->code,
                               .text = said->text,
                               .is_warning = said->is_warning,
                               .is_shared = fitting > 1,
                               .position = matches[i].position};
        if (matches[i].rank == best && (best || all[i].kernel->is_entry))
            add_message(all[i].kernel, &m, arena);
    }
}

void report_ptxas_messages(const report_common *c, const hd_ptxas_result *result, const report_item *all,
                           uint32_t count, hd_arena *arena)
{
    match *matches = HD_ARENA_ARRAY(arena, match, count + 1);
    for (uint32_t i = 0; i < result->messages.count; i++)
        place_message(c, &result->messages.items[i], all, count, matches, arena);
}
