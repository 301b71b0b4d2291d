/* Machine code runs: the listings of tests/unit/machine, which ptxas 13.0 made of the examples' PTX, leave the memory
 * that the PTX interpreter leaves, bit for bit; what does not run is named before the run; lanes that wait for each
 * other end with a fault. */
#include "unit.h"

#include "hwmodel/launch/launch.h"
#include "hwmodel/machine/machine.h"
#include "ir/machine.h"
#include "parser/parse.h"

static const char *top(void) { return getenv("TOP") ? getenv("TOP") : "."; }

/* ---- pairs ------------------------------------------------------------------------------------------------------- */

typedef struct pair { /* one launch file on PTX, and on machine code in its place */
    hd_diagnostics diagnostics;
    hd_launch_file *file;
    hd_source text, listing;
    hd_module *ptx, *machine;
    hd_session *original, *replaced;
} pair;

static void open_pair(pair *p, const char *example, const char *listing)
{
    char path[512];
    hd_diagnostics_init(&p->diagnostics);
    snprintf(path, sizeof path, "%s/examples/%s/%s.yaml", top(), example, example);
    p->file = hd_launch_read(path, 0, &p->diagnostics);
    assert_true(p->file->valid);
    assert_true(hd_source_read(&p->text, p->file->module_paths[0]));
    p->ptx = hd_parse_ptx(&p->text, &(hd_parse_options){0}, &p->diagnostics);
    snprintf(path, sizeof path, "%s/tests/unit/machine/%s", top(), listing);
    assert_true(hd_source_read(&p->listing, path));
    p->machine = hd_parse_ptx(&p->listing, &(hd_parse_options){.takes_listings = true}, &p->diagnostics);
    p->original = hd_session_open(p->file, p->ptx, &p->diagnostics, NULL);
    p->replaced = hd_session_open(p->file, p->ptx, &p->diagnostics, NULL);
    assert_non_null(p->original);
    assert_non_null(p->replaced);
}

static void close_pair(pair *p)
{
    hd_session_close(p->original);
    hd_session_close(p->replaced);
    hd_module_free(p->machine);
    hd_module_free(p->ptx);
    hd_launch_free(p->file);
    hd_diagnostics_free(&p->diagnostics);
}

static hd_function *function_of(const hd_module *module, const char *name)
{
    for (uint32_t i = 0; i < module->functions.count; i++)
        if (strcmp(hd_names_text(&module->names, module->functions.items[i]->name), name) == 0)
            return module->functions.items[i];
    return NULL;
}

/* The session's programs become machine code; what the listing does not say is as in PTX. */
static void replace_programs(pair *p)
{
    for (uint32_t i = 0; i < p->file->launches.count; i++) {
        const hd_program *ptx = p->original->programs[i];
        hd_program_facts facts = hd_program_describe(ptx);
        hd_function *f = function_of(p->machine, p->file->launches.items[i].kernel);
        assert_non_null(f);
        uint32_t reserved = f->machine->sm >= 90 ? 1024 : 0;
        hd_machine_kernel k = {.parameter_bytes = facts.parameter_bytes,
                               .shared_bytes = (uint32_t)facts.static_shared_bytes + reserved};
        hd_program_free(p->replaced->programs[i]);
        p->replaced->programs[i] = hd_machine_program_new(p->machine, f, &k, &p->replaced->image, &p->diagnostics);
        assert_non_null(p->replaced->programs[i]);
    }
}

static void listings_leave_the_memory_of_ptx(void **state)
{
    (void)state;
    static const char *const pairs[][2] = {{"vectorAdd", "vectorAdd.80.sass"},
                                           {"vectorAdd", "vectorAdd.120.sass"},
                                           {"reduction", "reduction.80.sass"},
                                           {"reduction", "reduction.120.sass"}};
    for (uint32_t i = 0; i < sizeof pairs / sizeof *pairs; i++) {
        pair p;
        hd_exec_statistics ptx = {0}, machine = {0};
        open_pair(&p, pairs[i][0], pairs[i][1]);
        replace_programs(&p);
        assert_int_equal(hd_session_run(p.original, NULL, &ptx), HD_EXEC_DONE);
        assert_int_equal(hd_session_run(p.replaced, NULL, &machine), HD_EXEC_DONE);
        assert_true(hd_session_compare(p.original, p.replaced, &p.diagnostics));
        assert_true(machine.warp_instructions && machine.warps == ptx.warps);
        close_pair(&p);
    }
}

/* ---- small texts ------------------------------------------------------------------------------------------------- */

typedef struct small {
    hd_diagnostics diagnostics;
    hd_source source;
    hd_module *module;
    hd_memory memory;
    hd_image image;
    hd_program *program;
    uint64_t issued;
} small;

#define HEAD                                                                                                   \
    "\t.target\tsm_80\n\t.elftype\t@\"ET_EXEC\"\n//--------------------- .text.k --------------------------\n" \
    "\t.section\t.text.k,\"ax\",@progbits\n.text.k:\n"

static void open_small(small *s, const char *text)
{
    *s = (small){0};
    hd_diagnostics_init(&s->diagnostics);
    hd_source_from_memory(&s->source, "k.sass", text, strlen(text));
    s->module = hd_parse_ptx(&s->source, &(hd_parse_options){.takes_listings = true}, &s->diagnostics);
    assert_int_equal(s->module->functions.count, 1);
    hd_memory_init(&s->memory, 64);
    assert_true(hd_image_load(&s->image, s->module, &s->memory, &s->diagnostics));
    hd_machine_kernel kernel = {.shared_bytes = 256};
    s->program = hd_machine_program_new(s->module, s->module->functions.items[0], &kernel, &s->image, &s->diagnostics);
}

static hd_exec_status run_small(small *s)
{
    hd_exec_statistics statistics = {0};
    hd_grid grid = {.grid = {1, 1, 1}, .block = {32, 1, 1}};
    hd_exec_options options = {.instruction_limit = 100000};
    hd_exec_status status = hd_program_run(s->program, &grid, &options, NULL, 0, &statistics, &s->diagnostics);
    s->issued = statistics.warp_instructions;
    return status;
}

static void close_small(small *s)
{
    hd_program_free(s->program);
    hd_image_free(&s->image);
    hd_memory_free(&s->memory);
    hd_module_free(s->module);
    hd_diagnostics_free(&s->diagnostics);
}

static void what_does_not_run_is_named(void **state)
{
    (void)state;
    small s;
    open_small(&s, HEAD "        /*0000*/                   UTMALDG.2D [UR8], [UR4] ;\n"
                        "        /*0010*/                   EXIT ;\n");
    assert_null(s.program);
    assert_non_null(strstr(s.diagnostics.first->message, "function k, offset 0x0"));
    assert_non_null(strstr(s.diagnostics.first->message, "UTMALDG.2D"));
    close_small(&s);
}

/* Lane 0 waits at a barrier for the others, which spin until it has stored: it never does. */
static void spinning_lanes_end(void **state)
{
    (void)state;
    small s;
    open_small(&s, HEAD "        /*0000*/                   S2R R0, SR_LANEID ;\n"
                        "        /*0010*/                   ISETP.NE.AND P0, PT, R0, RZ, PT ;\n"
                        "        /*0020*/                   BSSY B0, `(.L_x_2) ;\n"
                        "        /*0030*/              @!P0 BRA `(.L_x_1) ;\n"
                        ".L_x_0:\n"
                        "        /*0040*/                   LDS R2, [RZ] ;\n"
                        "        /*0050*/                   ISETP.EQ.AND P1, PT, R2, RZ, PT ;\n"
                        "        /*0060*/               @P1 BRA `(.L_x_0) ;\n"
                        ".L_x_1:\n"
                        "        /*0070*/                   BSYNC B0 ;\n"
                        ".L_x_2:\n"
                        "        /*0080*/                   EXIT ;\n");
    assert_non_null(s.program);
    hd_exec_status status = run_small(&s);
    assert_true(status == HD_EXEC_FAULT || status == HD_EXEC_UNSUPPORTED); /* and not the limit of instructions */
    assert_non_null(strstr(s.diagnostics.first->message, "livelock"));
    close_small(&s);
}

/* The same, but lane 0 stores before it waits: lanes that spin at lower addresses, and so run first, let it. */
static void spinning_lanes_let_others_go_on(void **state)
{
    (void)state;
    small s;
    open_small(&s, HEAD "        /*0000*/                   S2R R0, SR_LANEID ;\n"
                        "        /*0010*/                   ISETP.NE.AND P0, PT, R0, RZ, PT ;\n"
                        "        /*0020*/                   BSSY B0, `(.L_x_2) ;\n"
                        "        /*0030*/              @!P0 BRA `(.L_x_3) ;\n"
                        ".L_x_0:\n"
                        "        /*0040*/                   LDS R2, [RZ] ;\n"
                        "        /*0050*/                   ISETP.EQ.AND P1, PT, R2, RZ, PT ;\n"
                        "        /*0060*/               @P1 BRA `(.L_x_0) ;\n"
                        "        /*0070*/                   BRA `(.L_x_1) ;\n"
                        ".L_x_3:\n"
                        "        /*0080*/                   MOV R3, 0x1 ;\n"
                        "        /*0090*/                   STS [RZ], R3 ;\n"
                        ".L_x_1:\n"
                        "        /*00a0*/                   BSYNC B0 ;\n"
                        ".L_x_2:\n"
                        "        /*00b0*/                   EXIT ;\n");
    assert_non_null(s.program);
    assert_int_equal(run_small(&s), HD_EXEC_DONE);
    close_small(&s);
}

/* Lane 0 calls code at higher addresses than where its branch meets: there, the others wait for it. They issue the
 * instructions from there on once. */
static void lanes_meet_at_the_post_dominator(void **state)
{
    (void)state;
    small s;
    open_small(&s, HEAD "        /*0000*/                   S2R R0, SR_LANEID ;\n"
                        "        /*0010*/                   ISETP.NE.AND P0, PT, R0, RZ, PT ;\n"
                        "        /*0020*/               @P0 BRA `(.L_x_1) ;\n"
                        "        /*0030*/                   CALL.REL.NOINC `(.L_x_2) ;\n"
                        ".L_x_1:\n"
                        "        /*0040*/                   MOV R3, 0x1 ;\n"
                        "        /*0050*/                   EXIT ;\n"
                        ".L_x_2:\n"
                        "        /*0060*/                   MOV R4, 0x40 ;\n"
                        "        /*0070*/                   MOV R5, RZ ;\n"
                        "        /*0080*/                   RET.REL.NODEC R4 `(k) ;\n");
    assert_non_null(s.program);
    assert_int_equal(run_small(&s), HD_EXEC_DONE);
    assert_int_equal(s.issued, 3 + 1 + 3 + 2);
    close_small(&s);
}

/* Lanes 0 and 1 wait at a barrier in one side of a branch, and lane 2 leaves it in the other: lane 1 comes there,
 * too. */
static void lanes_leave_a_barrier(void **state)
{
    (void)state;
    small s;
    open_small(&s, HEAD "        /*0000*/                   S2R R0, SR_LANEID ;\n"
                        "        /*0010*/                   BSSY B1, `(.L_x_3) ;\n"
                        "        /*0020*/                   ISETP.EQ.AND P0, PT, R0, RZ, PT ;\n"
                        "        /*0030*/               @P0 BRA `(.L_x_2) ;\n"
                        "        /*0040*/                   ISETP.NE.AND P1, PT, R0, 0x1, PT ;\n"
                        "        /*0050*/               @P1 BREAK B1 ;\n"
                        "        /*0060*/              @!P1 BRA `(.L_x_2) ;\n"
                        "        /*0070*/                   BRA `(.L_x_4) ;\n"
                        ".L_x_2:\n"
                        "        /*0080*/                   BSYNC B1 ;\n"
                        ".L_x_3:\n"
                        "        /*0090*/                   MOV R3, 0x1 ;\n"
                        ".L_x_4:\n"
                        "        /*00a0*/                   EXIT ;\n");
    assert_non_null(s.program);
    assert_int_equal(run_small(&s), HD_EXEC_DONE);
    assert_int_equal(s.issued, 4 + 4 + 1 + 1 + 1 + 1); /* the BSYNC twice, and what follows it once */
    close_small(&s);
}

/* Lanes 0 and 1 call code that returns to one of two places, and return apart: where their split ends, a barrier has
 * brought them together with the others, whose branch meets nowhere. All lanes go on from there as one group. */
static void lanes_that_met_stay_together(void **state)
{
    (void)state;
    small s;
    open_small(&s, HEAD "        /*0000*/                   S2R R0, SR_LANEID ;\n"
                        "        /*0010*/                   ISETP.GE.AND P0, PT, R0, 0x2, PT ;\n"
                        "        /*0020*/                   ISETP.NE.AND P1, PT, R0, RZ, PT ;\n"
                        "        /*0030*/                   ISETP.EQ.AND P2, PT, R0, 0x20, PT ;\n"
                        "        /*0040*/               @P2 BRA `(.L_x_3) ;\n"
                        "        /*0050*/                   BSSY B1, `(.L_x_2) ;\n"
                        "        /*0060*/               @P0 BRA `(.L_x_5) ;\n"
                        "        /*0070*/                   MOV R4, 0x90 ;\n"
                        "        /*0080*/                   CALL.REL.NOINC `(.L_x_4) ;\n"
                        ".L_x_1:\n"
                        "        /*0090*/                   BSYNC B1 ;\n"
                        ".L_x_2:\n"
                        "        /*00a0*/                   MOV R3, 0x1 ;\n"
                        "        /*00b0*/                   EXIT ;\n"
                        ".L_x_3:\n"
                        "        /*00c0*/                   MOV R4, 0xe0 ;\n"
                        "        /*00d0*/                   CALL.REL.NOINC `(.L_x_4) ;\n"
                        "        /*00e0*/                   BRA `(.L_x_2) ;\n"
                        ".L_x_4:\n"
                        "        /*00f0*/                   MOV R5, RZ ;\n"
                        "        /*0100*/               @P1 RET.REL.NODEC R4 `(k) ;\n"
                        "        /*0110*/                   MOV R6, 0x1 ;\n"
                        "        /*0120*/                   RET.REL.NODEC R4 `(k) ;\n"
                        ".L_x_5:\n"
                        "        /*0130*/               @P2 EXIT ;\n"
                        "        /*0140*/                   BRA `(.L_x_1) ;\n");
    assert_non_null(s.program);
    assert_int_equal(run_small(&s), HD_EXEC_DONE);
    assert_int_equal(s.issued, 7 + 4 + 2 + 2 + 3 + 2); /* the BSYNC three times, and what follows it once */
    close_small(&s);
}

static void faults_name_the_instruction(void **state)
{
    (void)state;
    small s;
    open_small(&s, HEAD "        /*0000*/                   MOV R0, 0x1000 ;\n"
                        "        /*0010*/                   LDS R2, [R0] ;\n"
                        "        /*0020*/                   EXIT ;\n");
    assert_non_null(s.program);
    assert_int_equal(run_small(&s), HD_EXEC_FAULT);
    const char *message = s.diagnostics.first->message;
    assert_non_null(strstr(message, "out-of-bounds"));
    assert_non_null(strstr(message, "kernel k, block (0,0,0), thread (0,0,0)"));
    close_small(&s);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(listings_leave_the_memory_of_ptx),
        cmocka_unit_test(what_does_not_run_is_named),
        cmocka_unit_test(spinning_lanes_end),
        cmocka_unit_test(spinning_lanes_let_others_go_on),
        cmocka_unit_test(lanes_meet_at_the_post_dominator),
        cmocka_unit_test(lanes_leave_a_barrier),
        cmocka_unit_test(lanes_that_met_stay_together),
        cmocka_unit_test(faults_name_the_instruction),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
