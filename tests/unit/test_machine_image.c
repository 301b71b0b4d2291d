/* What a listing says of its kernels beyond their code: ir/machine_image.h. */
#include "tests/unit/unit.h"

#include "ir/machine.h"
#include "ir/machine_image.h"
#include "parser/parse.h"

static const char LISTING[] =
    "\t.target\tsm_90\n\n\t.elftype\t@\"ET_EXEC\"\n\n"
    "\t.section\t.nv.info,\"\",@\"SHT_CUDA_INFO\"\n\t.align\t4\n"
    "\t//----- nvinfo : EIATTR_REGCOUNT\n\t.align\t\t4\n"
    "        /*0000*/ \t.byte\t0x04, 0x2f\n        /*0002*/ \t.short\t(.L_2 - .L_1)\n\t.align\t\t4\n.L_1:\n"
    "        /*0004*/ \t.word\tindex@(k)\n        /*0008*/ \t.word\t0x00000018\n"
    "\t.align\t\t4\n.L_2:\n        /*000c*/ \t.byte\t0x04, 0x11\n        /*000e*/ \t.short\t(.L_4 - .L_3)\n.L_3:\n"
    "        /*0010*/ \t.word\tindex@(k)\n        /*0014*/ \t.word\t0x00000008\n.L_4:\n"
    "\t.section\t.nv.info.k,\"\",@\"SHT_CUDA_INFO\"\n\t.sectionflags\t@\"\"\n\t.align\t4\n"
    "        /*0000*/ \t.byte\t0x04, 0x17\n        /*0002*/ \t.short\t(.L_6 - .L_5)\n.L_5:\n"
    "        /*0004*/ \t.word\t0x00000000\n        /*0008*/ \t.short\t0x0001\n        /*000a*/ \t.short\t0x0008\n"
    "        /*000c*/ \t.byte\t0x00, 0xf0, 0x11, 0x00\n.L_6:\n"
    "        /*0010*/ \t.byte\t0x04, 0x17\n        /*0012*/ \t.short\t(.L_8 - .L_7)\n.L_7:\n"
    "        /*0014*/ \t.word\t0x00000000\n        /*0018*/ \t.short\t0x0000\n        /*001a*/ \t.short\t0x0000\n"
    "        /*001c*/ \t.byte\t0x00, 0xf0, 0x21, 0x00\n.L_8:\n"
    "        /*0020*/ \t.byte\t0x02, 0x4c\n        /*0022*/ \t.byte\t0x01\n\t.zero\t\t1\n"
    "        /*0024*/ \t.byte\t0x03, 0x19\n        /*0026*/ \t.short\t0x000c\n"
    "        /*0028*/ \t.byte\t0x04, 0x0a\n        /*002a*/ \t.short\t(.L_10 - .L_9)\n.L_9:\n"
    "        /*002c*/ \t.word\tindex@(.nv.constant0.k)\n        /*0030*/ \t.short\t0x0210\n"
    "        /*0032*/ \t.short\t0x000c\n.L_10:\n"
    "        /*0034*/ \t.byte\t0x04, 0x10\n        /*0036*/ \t.short\t(.L_12 - .L_11)\n.L_11:\n"
    "        /*0038*/ \t.word\t0x00000040\n        /*003c*/ \t.word\t0x00000002\n        /*0040*/ "
    "\t.word\t0x00000001\n.L_12:\n"
    "\t.section\t.nv.constant4,\"a\",@progbits\n\t.align\t8\n"
    "\t.align\t\t8\n        /*0000*/ \t.dword\tvprintf\n\t.align\t\t8\n        /*0008*/ \t.dword\t(table + 0x4)\n"
    "\t.section\t.nv.constant3,\"a\",@progbits\n\t.align\t4\n.nv.constant3:\n"
    "\t.type\t\ttable,@object\n\t.size\t\ttable,(.L_0 - table)\ntable:\n"
    "        /*0000*/ \t.byte\t0x00, 0x00, 0x80, 0x3f\n        /*0004*/ \t.byte\t0x00, 0x00, 0x00, 0x40\n.L_0:\n"
    "\t.section\t.text.k,\"ax\",@progbits\n\t.sectionflags\t@\"\"\n\t.align\t128\n"
    "        .global         k\n        .type           k,@function\n        .size           k,(.L_x_1 - k)\n"
    "        .other          k,@\"STO_CUDA_ENTRY STV_DEFAULT\"\nk:\n.text.k:\n"
    "        /*0000*/                   MOV R1, 32@lo(table) ;\n"
    "        /*0010*/                   EXIT ;\n.L_x_1:\n"
    "\t.section\t.nv.shared.k,\"aw\",@nobits\n\t.align\t4\n.nv.shared.k:\n\t.zero\t\t1280\n"
    "\t.section\t.nv.global.init,\"aw\",@progbits\n\t.align\t8\n.nv.global.init:\n"
    "\t.type\t\tpointer,@object\n\t.size\t\tpointer,(.L_20 - pointer)\npointer:\n"
    "\t.align\t\t8\n        /*0000*/ \t.dword\tgeneric(later)\n.L_20:\n"
    "\t.section\t.nv.global,\"aw\",@nobits\n\t.align\t4\n.nv.global:\n"
    "\t.type\t\tlater,@object\n\t.size\t\tlater,(.L_21 - later)\nlater:\n\t.zero\t\t400\n.L_21:\n"
    "\t.section\t.nv.constant0.k,\"a\",@progbits\n\t.align\t4\n.nv.constant0.k:\n\t.zero\t\t540\n";

typedef struct fixture {
    hd_diagnostics diagnostics;
    hd_source source;
    hd_module *module;
} fixture;

static void open(fixture *f, const char *text)
{
    hd_diagnostics_init(&f->diagnostics);
    hd_source_from_memory(&f->source, "k.sass", text, strlen(text));
    hd_parse_options options = {.takes_listings = true};
    f->module = hd_parse_ptx(&f->source, &options, &f->diagnostics);
    assert_int_equal(f->diagnostics.error_count, 0);
}

static void close_module(fixture *f)
{
    hd_module_free(f->module);
    hd_diagnostics_free(&f->diagnostics);
}

static const hd_machine_symbol *symbol(const hd_machine_image *image, const char *name)
{
    uint32_t index = hd_machine_symbol_of(image, name, strlen(name));
    assert_int_not_equal(index, HD_NONE);
    return &image->symbols[index];
}

static void reads_attributes_of_a_kernel(void **state)
{
    (void)state;
    fixture f;
    open(&f, LISTING);
    const hd_machine_layout *l = hd_machine_layout_of(f.module->functions.items[0]);
    assert_non_null(l);
    assert_true(l->is_entry && l->has_parameters && l->has_registers && l->has_frame && l->requires_threads);
    assert_int_equal(l->registers, 24);
    assert_int_equal(l->frame_bytes, 8);
    assert_int_equal(l->barriers, 1);
    assert_int_equal(l->shared_bytes, 256); /* without the 1024 that the GPU reserves */
    assert_int_equal(l->parameter_base, 0x210);
    assert_int_equal(l->parameter_bytes, 12);
    assert_int_equal(l->parameter_count, 2);
    assert_int_equal(l->parameters[0].offset, 0);
    assert_int_equal(l->parameters[0].bytes, 8);
    assert_int_equal(l->parameters[1].offset, 8);
    assert_int_equal(l->parameters[1].bytes, 4);
    assert_int_equal(l->threads[0], 64);
    assert_int_equal(l->threads[1], 2);
    close_module(&f);
}

static void reads_banks_variables_and_relocations(void **state)
{
    (void)state;
    fixture f;
    open(&f, LISTING);
    const hd_machine_image *image = f.module->images;
    const hd_machine_layout *l = hd_machine_layout_of(f.module->functions.items[0]);
    assert_int_equal(f.module->image_count, 1);
    assert_int_equal(image->sm, 90);
    assert_false(image->is_relocatable);
    const hd_machine_section *parameters = &image->sections[l->banks[0]], *addresses = &image->sections[l->banks[4]];
    assert_int_equal(parameters->bytes, 540);
    assert_null(parameters->initial);
    assert_int_equal(image->sections[l->banks[3]].initial[3], 0x3f);
    assert_int_equal(l->banks[2], HD_NONE);
    assert_int_equal(addresses->bytes, 16);
    assert_int_equal(addresses->relocation_count, 2);
    assert_int_equal(addresses->relocations[1].offset, 8);
    assert_int_equal(addresses->relocations[1].addend, 4);
    assert_string_equal(image->symbols[addresses->relocations[0].symbol].name, "vprintf");
    assert_int_equal(symbol(image, "vprintf")->section, HD_NONE);
    assert_int_equal(symbol(image, "table")->bytes, 8);
    assert_string_equal(image->sections[symbol(image, "later")->section].name, ".nv.global");
    assert_int_equal(symbol(image, "later")->bytes, 400);
    const hd_machine_section *init = &image->sections[symbol(image, "pointer")->section];
    assert_int_equal(init->alignment, 8);
    assert_int_equal(init->relocations[0].kind, HD_MACHINE_RELOCATION_G64);
    close_module(&f);
}

static void reads_addresses_of_operands(void **state)
{
    (void)state;
    fixture f;
    open(&f, LISTING);
    const hd_machine_image *image = f.module->images;
    hd_machine_address a;
    static const char sum[] = "32@hi((table + 0x10))", call[] = "`(vprintf)", number[] = "0x10";
    assert_true(hd_machine_address_of(image, sum, strlen(sum), &a));
    assert_int_equal(a.kind, HD_MACHINE_RELOCATION_HIGH);
    assert_int_equal(a.addend, 16);
    assert_string_equal(image->symbols[a.symbol].name, "table");
    assert_true(hd_machine_address_of(image, call, strlen(call), &a));
    assert_int_equal(a.kind, HD_MACHINE_RELOCATION_CALL);
    assert_false(hd_machine_address_of(image, number, strlen(number), &a));
    close_module(&f);
}

static void leaves_other_listings_without(void **state)
{
    (void)state;
    fixture f;
    open(&f, "\tFunction : k\n        /*0000*/                   EXIT ;\n");
    assert_null(hd_machine_layout_of(f.module->functions.items[0]));
    assert_int_equal(f.module->image_count, 0);
    close_module(&f);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(reads_attributes_of_a_kernel),
        cmocka_unit_test(reads_banks_variables_and_relocations),
        cmocka_unit_test(reads_addresses_of_operands),
        cmocka_unit_test(leaves_other_listings_without),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
