/* Parses gates and evaluates them for kernels: see gates.h for the language. Linear in kernels times terms. */
#include "driver/report/gates.h"

#include "base/scan.h"

#include <ctype.h>
#include <fnmatch.h>
#include <math.h>

typedef enum gate_operator { AT_MOST, BELOW, AT_LEAST, ABOVE, EQUAL, UNEQUAL, OPERATOR_COUNT } gate_operator;
/* An operator precedes its prefixes. */
static const char *const operator_texts[OPERATOR_COUNT] = {"<=", "<", ">=", ">", "==", "!="};

typedef struct hd_gate {
    const char *pattern; /* NULL: every kernel */
    bool except, percent, used;
    hd_quantity quantity;
    gate_operator operator;
    double number;    /* for percentages: 50 for 50% */
    const char *text; /* as given, without the pattern and blanks */
    hd_span span;
} hd_gate;

struct hd_gates {
    hd_arena arena;
    hd_source *source; /* of the option's text; lives as long as the diagnostics */
    hd_gates_mode mode;
    HD_ARRAY(hd_gate) terms;
};

/* ---- parsing ----------------------------------------------------------------------------------------------------- */

typedef struct reader {
    hd_gates *gates;
    hd_diagnostics *diagnostics;
    hd_scan in; /* the term */
    bool failed;
} reader;

static hd_span span_of(const reader *r, const char *begin, const char *end)
{
    const char *text = r->gates->source->text;
    return (hd_span){(uint32_t)(begin - text), (uint32_t)((end > begin ? end : begin + 1) - text)};
}

#define bad(r, begin, end, ...) \
    ((r)->failed = true,        \
     hd_report((r)->diagnostics, HD_DIAG_BAD_GATE, (r)->gates->source, span_of(r, begin, end), __VA_ARGS__))

static void read_pattern(reader *r, hd_gate *gate)
{
    const char *colon = memrchr(r->in.at, ':', (size_t)(r->in.end - r->in.at)), *begin = r->in.at;
    if (!colon)
        return;
    gate->except = *begin == '!';
    begin += gate->except;
    const char *end = colon;
    while (begin < end && hd_is_space(*begin))
        begin++;
    while (begin < end && hd_is_space(end[-1]))
        end--;
    if (begin == end)
        bad(r, colon, colon + 1, "expected a pattern of kernel names before ':'");
    gate->pattern = hd_arena_string(&r->gates->arena, begin, (size_t)(end - begin));
    r->in.at = colon + 1;
}

static const char *all_names(reader *r)
{
    const char *list = "";
    for (uint32_t q = 0; q < HD_QUANTITY_COUNT; q++)
        if (r->gates->mode == HD_GATES_OF_CHANGES || hd_quantities[q].class != HD_CLASS_CHANGE)
            list = hd_arena_printf(&r->gates->arena, "%s%s%s", list, *list ? ", " : "", hd_quantities[q].name);
    return list;
}

static void read_quantity(reader *r, hd_gate *gate)
{
    hd_scan_spaces(&r->in);
    const char *begin = r->in.at;
    while (r->in.at < r->in.end && (isalnum((unsigned char)*r->in.at) || *r->in.at == '_'))
        r->in.at++;
    size_t length = (size_t)(r->in.at - begin);
    gate->quantity = hd_quantity_from_name(begin, length);
    if (gate->quantity != HD_QUANTITY_COUNT &&
        (r->gates->mode == HD_GATES_OF_CHANGES || hd_quantities[gate->quantity].class != HD_CLASS_CHANGE))
        return;
    if (length)
        bad(r, begin, r->in.at, "no quantity is called '%.*s'; there are: %s", (int)length, begin, all_names(r));
    else
        bad(r, begin, r->in.at, "expected the name of a quantity");
}

static void read_operator(reader *r, hd_gate *gate)
{
    hd_scan_spaces(&r->in);
    for (int o = 0; o < OPERATOR_COUNT; o++) {
        size_t length = strlen(operator_texts[o]);
        if (strncmp(r->in.at, operator_texts[o], length) != 0)
            continue;
        gate->operator=(gate_operator) o;
        r->in.at += length;
        return;
    }
    bad(r, r->in.at, r->in.at, "expected one of <= < >= > == !=");
}

enum { MOST_DIGITS = 15 }; /* digits that a double holds exactly */

/* Digits with at most one point; false without a digit or with too many. */
static bool read_digits(reader *r, double *number)
{
    uint32_t digits = 0;
    double scale = 0;
    for (*number = 0; r->in.at < r->in.end && (isdigit((unsigned char)*r->in.at) || (*r->in.at == '.' && scale == 0));
         r->in.at++) {
        if (*r->in.at == '.') {
            scale = 1;
            continue;
        }
        *number = *number * 10 + (*r->in.at - '0');
        scale *= 10;
        digits++;
    }
    *number /= scale > 0 ? scale : 1;
    return digits > 0 && digits <= MOST_DIGITS;
}

static void check_number(reader *r, const hd_gate *gate, const char *begin, bool is_signed)
{
    bool fraction = hd_quantities[gate->quantity].kind == HD_KIND_FRACTION,
         changes = r->gates->mode == HD_GATES_OF_CHANGES;
    const char *name = hd_quantities[gate->quantity].name;
    if (is_signed && !changes)
        bad(r, begin, r->in.at, "'%s' is never negative: a number without sign is expected", name);
    else if (gate->percent && !fraction && (!changes || hd_quantities[gate->quantity].class == HD_CLASS_CHANGE))
        bad(r, begin, r->in.at, "'%s' is no percentage", name);
    else if (fraction && fabs(gate->number) > (gate->percent ? 100 : 1))
        bad(r, begin, r->in.at, "'%s' is a fraction from 0 to 1 or a percentage, as in 50%%", name);
    else if (!fraction && !gate->percent && gate->number != floor(gate->number))
        bad(r, begin, r->in.at, "'%s' is a whole number", name);
}

static void read_number(reader *r, hd_gate *gate)
{
    hd_scan_spaces(&r->in);
    const char *begin = r->in.at;
    bool is_signed = r->in.at < r->in.end && (*r->in.at == '+' || *r->in.at == '-');
    r->in.at += is_signed;
    if (!read_digits(r, &gate->number)) {
        bad(r, begin, r->in.at, "expected a number of at most %d digits", (int)MOST_DIGITS);
        return;
    }
    gate->number = *begin == '-' ? -gate->number : gate->number;
    hd_scan_spaces(&r->in);
    gate->percent = r->in.at < r->in.end && *r->in.at == '%';
    r->in.at += gate->percent;
    check_number(r, gate, begin, is_signed);
}

static const char *without_blanks(hd_arena *arena, const char *begin, const char *end)
{
    char *text = hd_arena_alloc(arena, (size_t)(end - begin) + 1), *out = text;
    for (; begin < end; begin++)
        if (!hd_is_space(*begin))
            *out++ = *begin;
    *out = '\0';
    return text;
}

static void read_term(reader *r)
{
    hd_gate gate = {0};
    hd_scan_spaces(&r->in);
    const char *begin = r->in.at;
    read_pattern(r, &gate);
    const char *condition = r->in.at;
    if (!r->failed)
        read_quantity(r, &gate);
    if (!r->failed)
        read_operator(r, &gate);
    if (!r->failed)
        read_number(r, &gate);
    const char *end = r->in.at;
    hd_scan_spaces(&r->in);
    if (!r->failed && r->in.at < r->in.end)
        bad(r, r->in.at, r->in.end, "expected ',' or the end after the number");
    gate.text = without_blanks(&r->gates->arena, condition, end);
    gate.span = span_of(r, begin, end);
    hd_array_push(&r->gates->terms, gate);
}

hd_gates *hd_gates_parse(const char *option, const char *text, hd_gates_mode mode, hd_diagnostics *diagnostics)
{
    hd_gates *gates = hd_calloc(1, sizeof *gates);
    hd_arena_init(&gates->arena);
    gates->mode = mode;
    gates->source = hd_diagnostics_source(diagnostics, option, text);
    const char *begin = gates->source->text, *end = begin + gates->source->length;
    bool failed = false;
    for (const char *comma = begin;; begin = comma + 1) {
        comma = memchr(begin, ',', (size_t)(end - begin));
        reader r = {gates, diagnostics, {begin, comma ? comma : end}, false};
        read_term(&r);
        failed = failed || r.failed;
        if (!comma)
            break;
    }
    if (!failed)
        return gates;
    hd_gates_free(gates);
    return NULL;
}

void hd_gates_free(hd_gates *gates)
{
    if (!gates)
        return;
    hd_array_free(&gates->terms);
    hd_arena_free(&gates->arena);
    free(gates);
}

/* ---- evaluation -------------------------------------------------------------------------------------------------- */

static bool relation_holds(double left, gate_operator operator, double right)
{
    switch (operator) {
    case AT_MOST: return left <= right;
    case BELOW: return left < right;
    case AT_LEAST: return left >= right;
    case ABOVE: return left > right;
    case EQUAL: return left == right;
    case UNEQUAL: return left != right;
    case OPERATOR_COUNT: break;
    }
    return false;
}

static double tenths(double percent) { return round(percent * 10); }

static bool value_meets(const hd_gate *gate, double value)
{
    if (hd_quantities[gate->quantity].kind == HD_KIND_FRACTION)
        return relation_holds(tenths(100 * value), gate->operator,
                              tenths(gate->percent ? gate->number : 100 * gate->number));
    return relation_holds(value, gate->operator, gate->number);
}

/* Whether every number of the interval meets it. */
static bool range_meets(const hd_gate *gate, double low, double high)
{
    bool inside = low < gate->number && gate->number < high;
    return value_meets(gate, low) && value_meets(gate, high) && !(gate->operator== UNEQUAL && inside);
}

/* Without a division, so that old may be 0. */
static bool change_meets(const hd_gate *gate, double before, double after)
{
    bool fraction = hd_quantities[gate->quantity].kind == HD_KIND_FRACTION;
    if (gate->percent && !fraction)
        return relation_holds(100 * (after - before), gate->operator, gate->number * before);
    return value_meets(gate, after - before);
}

/* Whether the term applies to a function of that name. */
static bool is_for(hd_gate *gate, const char *name, const char *demangled, bool is_entry)
{
    if (!gate->pattern)
        return is_entry;
    bool fits = fnmatch(gate->pattern, name, 0) == 0 || fnmatch(gate->pattern, demangled, 0) == 0;
    if (fits)
        __atomic_store_n(&gate->used, true, __ATOMIC_RELAXED); /* the one thing that checking changes */
    return gate->except ? is_entry && !fits : fits;
}

void hd_gates_warn_of_unused(const hd_gates *gates, hd_diagnostics *diagnostics)
{
    for (uint32_t i = 0; i < gates->terms.count; i++)
        if (gates->terms.items[i].pattern && !gates->terms.items[i].used)
            hd_report(diagnostics, HD_DIAG_UNUSED_GATE, gates->source, gates->terms.items[i].span,
                      "no kernel has a name like '%s'", gates->terms.items[i].pattern);
}

typedef struct failures {
    HD_ARRAY(const char *) texts;
    const char *list; /* all of them, for the message */
} failures;

/* The text written, as a string in the arena. */
static const char *take_text(hd_writer *w, hd_arena *arena)
{
    const char *text = hd_arena_string(arena, w->buffer.items, w->buffer.count);
    hd_writer_free(w);
    return text;
}

static void add_failure(failures *f, const hd_gate *gate, const char *found, hd_arena *arena)
{
    const char *text = hd_arena_printf(arena, "%s (%s)", gate->text, found);
    f->list = f->texts.count ? hd_arena_printf(arena, "%s, %s", f->list, text) : text;
    hd_array_push(&f->texts, text);
}

/* Moves the failures to the result, and clears them for the next kernel. */
static void keep_failures(failures *f, const char ***texts, uint32_t *count, hd_arena *arena)
{
    *texts = f->texts.count ? hd_arena_copy(arena, f->texts.items, f->texts.count * sizeof *f->texts.items) : NULL;
    *count = f->texts.count;
    hd_array_clear(&f->texts);
}

static void judge_value(const hd_gate *gate, const hd_report_kernel *kernel, failures *f, hd_arena *arena)
{
    double low, high;
    hd_writer found;
    hd_writer_to_memory(&found);
    bool known = hd_quantity_range(kernel, gate->quantity, &low, &high);
    if (known) {
        hd_write_string(&found, "has ");
        hd_quantity_write(&found, gate->quantity, low);
        if (low < high) {
            hd_write_string(&found, " to ");
            hd_quantity_write(&found, gate->quantity, high);
            hd_write_string(&found, ", estimated");
        }
    } else {
        const char *why = hd_quantity_unknown(kernel, gate->quantity);
        hd_write_format(&found, why ? "not known: %s" : "not known", why);
    }
    if (known && range_meets(gate, low, high))
        hd_writer_free(&found);
    else
        add_failure(f, gate, take_text(&found, arena), arena);
}

uint32_t hd_gates_check_report(hd_gates *gates, hd_report_module *report, hd_source *source, hd_arena *arena,
                               hd_diagnostics *diagnostics)
{
    failures f = {0};
    uint32_t failing = 0;
    for (uint32_t k = 0; k < report->kernel_count; k++) {
        hd_report_kernel *kernel = &report->kernels[k];
        for (uint32_t i = 0; i < gates->terms.count; i++)
            if (is_for(&gates->terms.items[i], kernel->name, kernel->demangled, kernel->is_entry))
                judge_value(&gates->terms.items[i], kernel, &f, arena);
        keep_failures(&f, &kernel->failed_gates, &kernel->failed_gate_count, arena);
        if (!kernel->failed_gate_count)
            continue;
        failing++;
        uint32_t line = kernel->position.ptx_line;
        hd_span header = source && line ? hd_source_line(source, line) : (hd_span){0, 0};
        hd_report(diagnostics, HD_DIAG_UNMET_GATE, source, header, "'%s' does not meet %s", kernel->demangled, f.list);
    }
    hd_array_free(&f.texts);
    return failing;
}

static void judge_change(const hd_gate *gate, const hd_diff_kernel *kernel, failures *f, hd_arena *arena)
{
    const hd_diff_change *change = &kernel->changes[gate->quantity];
    hd_writer found;
    if (!change->comparable) {
        add_failure(f, gate, "not known on both sides", arena);
        return;
    }
    if (change_meets(gate, change->before, change->after))
        return;
    hd_writer_to_memory(&found);
    hd_quantity_write(&found, gate->quantity, change->before);
    hd_write_string(&found, " to ");
    hd_quantity_write(&found, gate->quantity, change->after);
    hd_write_string(&found, ": ");
    hd_quantity_write_change(&found, gate->quantity, change->after - change->before);
    add_failure(f, gate, take_text(&found, arena), arena);
}

uint32_t hd_gates_check_diff(hd_gates *gates, hd_diff *diff, hd_arena *arena, hd_diagnostics *diagnostics)
{
    failures f = {0};
    uint32_t failing = 0;
    for (uint32_t k = 0; k < diff->kernel_count; k++) {
        hd_diff_kernel *kernel = &diff->kernels[k];
        bool both = kernel->before && kernel->after,
             is_entry = (kernel->after ? kernel->after : kernel->before)->is_entry;
        for (uint32_t i = 0; i < gates->terms.count; i++)
            if (is_for(&gates->terms.items[i], kernel->name, kernel->demangled, is_entry) &&
                (both || hd_quantities[gates->terms.items[i].quantity].class == HD_CLASS_CHANGE))
                judge_change(&gates->terms.items[i], kernel, &f, arena);
        keep_failures(&f, &kernel->failed_gates, &kernel->failed_gate_count, arena);
        if (!kernel->failed_gate_count)
            continue;
        failing++;
        hd_report(diagnostics, HD_DIAG_UNMET_GATE, NULL, (hd_span){0, 0}, "'%s' does not meet %s", kernel->demangled,
                  f.list);
    }
    hd_array_free(&f.texts);
    return failing;
}
