/* Lists, for each kernel of PTX files, cubins or listings, the instruction before which the most registers are live.
 *
 *   pressure FILE...
 *
 *   vectorAdd.ptx: vectorAdd: 9 registers, line 44: cvta.to.global.u64 %rd7, %rd3;
 */
#include <heddle/ir.h>
#include <stdio.h>

static void list_kernels(hd_ir_module *module, const char *file)
{
    hd_ir_function f = {.size = sizeof f};
    hd_ir_instruction insn = {.size = sizeof insn};
    for (uint32_t i = 0; hd_ir_get_function(module, i, &f); i++) {
        uint32_t most = 0, at = 0;
        if (!f.is_kernel || !f.instruction_count)
            continue;
        for (uint32_t k = 0; hd_ir_get_instruction(module, i, k, &insn); k++) {
            if (insn.live_words <= most)
                continue;
            most = insn.live_words;
            at = k;
        }
        hd_ir_get_instruction(module, i, at, &insn);
        printf("%s: %s: %u registers, ", file, f.demangled, (unsigned)most);
        if (insn.source_file)
            printf("%s:%u", insn.source_file, (unsigned)insn.source_line);
        else
            printf("line %u", (unsigned)insn.place.line);
        printf(": %s\n", insn.text);
    }
}

static void show(void *user, const hd_message *message)
{
    (void)user;
    fprintf(stderr, "%s: %s\n", message->file ? message->file : "pressure", message->text);
}

int main(int count, char **arguments)
{
    hd_context *context = hd_context_new();
    int worst = 0;
    hd_context_set_message_handler(context, show, NULL);
    for (int i = 1; i < count; i++) {
        const hd_input input = {.name = arguments[i]};
        hd_ir_module *module;
        hd_status status = hd_ir_open(context, &input, NULL, &module);
        if (status == HD_STATUS_DONE)
            list_kernels(module, arguments[i]);
        else
            worst = (int)status;
        hd_ir_close(module);
    }
    hd_context_free(context);
    return worst;
}
