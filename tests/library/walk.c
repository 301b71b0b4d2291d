/* Walks modules with nothing but the installed headers.
 *
 *   walk ir FILE...                      as `heddle dump --ir`
 *   walk liveness FILE...                as `heddle dump --liveness`, in its form for virtual registers
 *   walk json|print|extended PASSES FILE as `heddle rewrite -p PASSES`, the first dumped with --ir --json
 *   walk annotations PASSES FILE         a line for each annotation
 *   walk operands FILE                   a line for each operand, with what is in its instruction beyond its text
 *   walk report|check PASSES FILE        as `heddle report --format=json`; the number of annotations */
#include <heddle/ir.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static void fail(const char *what)
{
    fprintf(stderr, "walk: %s\n", what);
    exit(1);
}

static void print_messages(const hd_context *context)
{
    for (size_t i = 0; i < hd_context_message_count(context); i++) {
        hd_message m = hd_context_message(context, i);
        fprintf(stderr, "%s:%u:%u: %s [%s]\n", m.file ? m.file : "", m.line, m.column, m.text, m.slug);
    }
}

/* ---- as the dumps ------------------------------------------------------------------------------------------------ */

static void print_block_name(const hd_ir_function *f, uint32_t block)
{
    if (block == f->block_count)
        printf("X");
    else if (block == HD_IR_NONE)
        printf("-");
    else
        printf("b%" PRIu32, block);
}

static void print_blocks(const hd_ir_function *f, const char *what, const uint32_t *blocks, uint32_t count)
{
    printf("%s", what);
    for (uint32_t i = 0; i < count; i++) {
        printf(" ");
        print_block_name(f, blocks[i]);
    }
}

static void print_name(hd_ir_module *module, uint32_t function, uint32_t number)
{
    hd_ir_register r = {.size = sizeof r};
    if (!hd_ir_get_register(module, function, number, &r))
        fail("a register is not there");
    printf("%s", r.name);
}

static void print_registers(hd_ir_module *module, uint32_t function, const char *what, const uint32_t *list,
                            uint32_t count)
{
    printf("%s", what);
    for (uint32_t i = 0; i < count; i++) {
        printf(" ");
        print_name(module, function, list[i]);
    }
    if (!count)
        printf(" -");
}

static void print_live(hd_ir_module *module, uint32_t function, uint32_t number, const hd_ir_instruction *insn)
{
    printf("%6" PRIu32 "  %4" PRIu32 " %4" PRIu32 "  %s  {", number, insn->live_count, insn->live_words, insn->text);
    for (uint32_t i = 0; i < insn->live_count; i++) {
        if (i)
            printf(" ");
        print_name(module, function, insn->live[i]);
    }
    printf("}\n");
}

static void print_block(hd_ir_module *module, uint32_t function, const hd_ir_function *f, uint32_t number, int live)
{
    hd_ir_block b = {.size = sizeof b};
    hd_ir_instruction insn = {.size = sizeof insn};
    if (!hd_ir_get_block(module, function, number, &b))
        fail("a block is not there");
    printf("b%" PRIu32 ":", number);
    if (!live) {
        print_blocks(f, " from", b.predecessors, b.predecessor_count);
        print_blocks(f, " to", b.successors, b.successor_count);
        print_blocks(f, " dominator", &b.dominator, 1);
        print_blocks(f, " post-dominator", &b.post_dominator, 1);
        if (b.loop != HD_IR_NONE)
            printf(" loop %" PRIu32 " depth %" PRIu32, b.loop, b.loop_depth);
        printf("%s", b.reachable ? "" : " unreachable");
    }
    printf("\n");
    for (uint32_t i = b.first; i < b.end; i++) {
        if (!hd_ir_get_instruction(module, function, i, &insn) || insn.block != number)
            fail("an instruction is not in its block");
        if (i == b.first && (insn.live_count != b.live_in_count ||
                             memcmp(insn.live, b.live_in, insn.live_count * sizeof *insn.live) != 0))
            fail("live into a block is not live before its first instruction");
        if (live) {
            print_live(module, function, i, &insn);
            continue;
        }
        printf("%6" PRIu32 "  %s", i, insn.text);
        print_registers(module, function, "   writes", insn.writes, insn.write_count);
        print_registers(module, function, "  reads", insn.reads, insn.read_count);
        printf("\n");
    }
}

static void dump(hd_ir_module *module, int live)
{
    hd_ir_function f = {.size = sizeof f};
    int any = 0;
    for (uint32_t i = 0; hd_ir_get_function(module, i, &f); i++) {
        if (!f.has_body)
            continue;
        printf("%s", any++ ? "\n" : "");
        if (live)
            printf("%s: ordinal, live registers before, words they fill, instruction\n", f.name);
        else
            printf("%s %s: %" PRIu32 " instructions, %" PRIu32 " registers, %" PRIu32 " blocks, %" PRIu32 " loops\n",
                   f.is_kernel ? "entry" : "function", f.name, f.instruction_count, f.register_count, f.block_count,
                   f.loop_count);
        for (uint32_t b = 0; b < f.block_count; b++)
            print_block(module, i, &f, b, live);
    }
}

/* ---- lists ------------------------------------------------------------------------------------------------------- */

static void print_annotation(const hd_ir_annotation *a)
{
    printf("%s %s %" PRId32 " %" PRId32 " %s", a->kind, *a->technique ? a->technique : "-", (int32_t)a->instruction,
           (int32_t)a->slot, a->is_source ? "source" : "-");
    switch (a->value) {
    case HD_IR_VALUE_FLAG: printf(" flag"); break;
    case HD_IR_VALUE_NUMBER:
    case HD_IR_VALUE_BITS: printf(" %" PRIu32, a->number); break;
    case HD_IR_VALUE_WORD: printf(" %s", a->word); break;
    case HD_IR_VALUE_REGISTERS:
    case HD_IR_VALUE_NUMBERS:
        printf(" [");
        for (uint32_t i = 0; i < a->count; i++)
            printf("%s%" PRIu32, i ? "," : "", a->list[i]);
        printf("]");
        break;
    }
    printf("\n");
}

static void list_annotations(hd_ir_module *module)
{
    hd_ir_function f = {.size = sizeof f};
    hd_ir_annotation a = {.size = sizeof a};
    hd_ir_instruction insn = {.size = sizeof insn};
    for (uint32_t i = 0; hd_ir_get_function(module, i, &f); i++) {
        uint32_t at = 0;
        if (f.has_body)
            printf("%s\n", f.name);
        for (uint32_t k = 0; hd_ir_get_instruction(module, i, k, &insn); k++) {
            if (insn.annotation_first != at)
                fail("annotations of instructions do not follow each other");
            for (uint32_t end = at + insn.annotation_count; at < end; at++)
                if (!hd_ir_get_annotation(module, i, at, &a) || a.instruction != k)
                    fail("an annotation is not at its instruction");
        }
        for (at = 0; hd_ir_get_annotation(module, i, at, &a); at++)
            print_annotation(&a);
        if (at != f.annotation_count)
            fail("the number of annotations is another one");
    }
}

static void list_operands(hd_ir_module *module)
{
    hd_ir_function f = {.size = sizeof f};
    hd_ir_instruction insn = {.size = sizeof insn};
    hd_ir_operand o = {.size = sizeof o};
    for (uint32_t i = 0; hd_ir_get_function(module, i, &f); i++) {
        printf("%s\n", f.demangled);
        for (uint32_t k = 0; hd_ir_get_instruction(module, i, k, &insn); k++) {
            printf("%" PRIu32 ":%" PRIu32 " %s %s behaviour %" PRIu32, insn.place.line, insn.place.column, insn.opcode,
                   *insn.modifiers ? insn.modifiers : "-", insn.behaviour);
            if (insn.source_file)
                printf(" %s:%" PRIu32 ":%" PRIu32, insn.source_file, insn.source_line, insn.source_column);
            printf("\n");
            for (uint32_t p = 0; hd_ir_get_operand(module, i, k, p, &o); p++)
                printf("  %d %s children %" PRIu32 "%s%s%s value %" PRIx64 "%s\n", (int)o.kind, o.text, o.children,
                       o.read ? " read" : "", o.written ? " written" : "", o.negated ? " negated" : "", o.value,
                       o.is_float ? " float" : "");
        }
    }
}

/* ---- commands ---------------------------------------------------------------------------------------------------- */

static hd_ir_module *open_file(hd_context *context, const char *name)
{
    const hd_input input = {.name = name};
    hd_ir_module *module;
    if (hd_ir_open(context, &input, NULL, &module) != HD_STATUS_DONE) {
        print_messages(context);
        fail("a file cannot be opened");
    }
    return module;
}

static hd_status rewritten(hd_context *context, const char *command, const char *passes, const char *name)
{
    hd_ir_module *module = open_file(context, name);
    hd_ir_print_settings print = {.size = sizeof print};
    const hd_report_settings report = {.size = sizeof report};
    hd_text text = {NULL, 0};
    uint64_t annotations;
    hd_status status = *passes ? hd_ir_run(module, passes, NULL) : HD_STATUS_DONE;
    print.format = !strcmp(command, "json")       ? HD_IR_JSON
                   : !strcmp(command, "extended") ? HD_IR_EXTENDED
                                                  : HD_IR_PORTABLE;
    if (status != HD_STATUS_DONE) {
        print_messages(context);
    } else if (!strcmp(command, "annotations")) {
        list_annotations(module);
    } else if (!strcmp(command, "check")) {
        status = hd_ir_check(module, NULL, &annotations);
        printf("%" PRIu64 "\n", annotations);
    } else if (!strcmp(command, "report")) {
        status = hd_ir_report(module, &report, &text);
    } else {
        status = hd_ir_print(module, &print, &text);
    }
    fwrite(text.bytes ? text.bytes : "", 1, text.length, stdout);
    hd_text_free(&text);
    hd_ir_close(module);
    return status;
}

int main(int count, char **arguments)
{
    if (count < 3)
        return 2;
    const char *command = arguments[1];
    hd_context *context = hd_context_new();
    hd_status status = HD_STATUS_DONE;
    int is_list = !strcmp(command, "ir") || !strcmp(command, "liveness") || !strcmp(command, "operands");
    for (int i = 2; is_list && i < count; i++) {
        hd_ir_module *module = open_file(context, arguments[i]);
        if (count > 3)
            printf("%s%s:\n", i > 2 ? "\n" : "", arguments[i]);
        if (!strcmp(command, "operands"))
            list_operands(module);
        else
            dump(module, !strcmp(command, "liveness"));
        hd_ir_close(module);
    }
    if (!is_list && count == 4)
        status = rewritten(context, command, arguments[2], arguments[3]);
    hd_context_free(context);
    return (int)status;
}
