/* The public C API, used as an embedding program would: nothing but its header. */
#include "unit.h"

#include "heddle/heddle.h"

static const char kernel[] = ".version 8.0\n.target sm_80\n.address_size 64\n"
                             ".visible .entry k(.param .u64 p)\n{\n"
                             "\t.reg .b64 %r<3>;\n"
                             "\tld.param.u64 %r1, [p];\n"
                             "\tcvta.to.global.u64 %r2, %r1;\n"
                             "\tst.global.u64 [%r2], %r1;\n"
                             "\tret;\n}\n";

static hd_input memory(const char *text) { return (hd_input){"k.ptx", text, strlen(text)}; }

/* A copy of a text with one piece replaced. */
static char *with(const char *text, const char *piece, const char *by)
{
    const char *at = strstr(text, piece);
    assert_non_null(at);
    char *copy = calloc(1, strlen(text) + strlen(by) + 1);
    memcpy(copy, text, (size_t)(at - text));
    strcat(strcat(copy, by), at + strlen(piece));
    return copy;
}

static void contexts_and_inputs(void **state)
{
    (void)state;
    hd_context *context = hd_context_new();
    hd_text out;
    hd_input input = memory(kernel);
    assert_int_equal(hd_context_message_count(context), 0);
    assert_int_equal(hd_context_rewrite(context, &input, NULL, &out), HD_STATUS_DONE);
    assert_int_equal(out.length, sizeof kernel - 1);
    assert_string_equal(out.bytes, kernel); /* a NUL follows it */
    assert_int_equal(hd_context_message_count(context), 0);
    hd_text_free(&out);
    assert_null(out.bytes);
    hd_text_free(&out);
    hd_context_free(context);
    hd_context_free(NULL);
    assert_non_null(strchr(hd_version(), '.'));
}

static void passes(void **state)
{
    (void)state;
    hd_context *context = hd_context_new();
    hd_text out, again, plain;
    hd_input input = memory(kernel);
    hd_rewrite_settings settings = {.size = sizeof settings, .passes = "bow(iw=3)", .threads = 2};
    assert_int_equal(hd_context_rewrite(context, &input, &settings, &out), HD_STATUS_DONE);
    assert_non_null(strstr(out.bytes, "//@bow_window 3"));
    assert_non_null(strstr(out.bytes, ".section .heddle"));
    hd_input annotated = {"a.ptx", out.bytes, out.length};

    assert_int_equal(hd_context_strip(context, &annotated, &plain), HD_STATUS_DONE);
    assert_string_equal(plain.bytes, kernel);
    hd_text_free(&plain);

    settings = (hd_rewrite_settings){.size = sizeof(hd_rewrite_settings), .extended = true};
    assert_int_equal(hd_context_rewrite(context, &annotated, &settings, &again), HD_STATUS_DONE);
    assert_non_null(strstr(again.bytes, ".heddle bow_window 3;"));
    hd_text_free(&again);

    settings = (hd_rewrite_settings){.size = sizeof(hd_rewrite_settings), .no_section = true, .canonical = true};
    assert_int_equal(hd_context_rewrite(context, &annotated, &settings, &again), HD_STATUS_DONE);
    assert_null(strstr(again.bytes, ".section"));
    assert_non_null(strstr(again.bytes, "//@bow"));
    hd_text_free(&again);

    settings = (hd_rewrite_settings){.size = sizeof(hd_rewrite_settings), .passes = "bow", .kernel = "other*"};
    assert_int_equal(hd_context_rewrite(context, &input, &settings, &again), HD_STATUS_REJECTED);
    assert_string_equal(hd_context_message(context, 0).slug, "unknown-kernel");
    hd_text_free(&again);
    hd_text_free(&out);

    settings = (hd_rewrite_settings){.size = sizeof(hd_rewrite_settings), .passes = "nosuch"};
    assert_int_equal(hd_context_rewrite(context, &input, &settings, &out), HD_STATUS_USAGE);
    assert_null(out.bytes);
    assert_string_equal(hd_context_message(context, 0).slug, "bad-pass");
    settings = (hd_rewrite_settings){
        .size = sizeof(hd_rewrite_settings), .passes = "select,regalloc,regmutex", .gpu = "fermi-gtx480", .block = 64};
    assert_int_equal(hd_context_rewrite(context, &input, &settings, &out), HD_STATUS_DONE);
    hd_text_free(&out);
    settings.gpu = "nosuch";
    assert_int_equal(hd_context_rewrite(context, &input, &settings, &out), HD_STATUS_USAGE);
    assert_string_equal(hd_context_message(context, 0).slug, "unknown-gpu");
    hd_context_free(context);
}

static void messages(void **state)
{
    (void)state;
    hd_context *context = hd_context_new();
    hd_text out;
    char *broken = with(kernel, "%r2, %r1;", "%r9, %r1;"), *good = with(kernel, "k(", "k(");
    hd_input input = memory(broken);
    assert_int_equal(hd_context_rewrite(context, &input, NULL, &out), HD_STATUS_REJECTED);
    assert_null(out.bytes);
    assert_int_equal(hd_context_error_count(context), 1);
    memset(broken, 'x', strlen(broken)); /* messages keep nothing of the input */
    hd_message m = hd_context_message(context, 0);
    assert_int_equal(m.severity, HD_MESSAGE_ERROR);
    assert_string_equal(m.slug, "undeclared-register");
    assert_string_equal(m.file, "k.ptx");
    assert_non_null(strstr(m.text, "%r9"));
    assert_int_equal(m.line, 8);
    assert_int_equal(m.column, 21);
    assert_int_equal(m.end_line, 8);
    assert_int_equal(m.end_column, 24);
    for (size_t i = 1; i < hd_context_message_count(context); i++)
        assert_int_equal(hd_context_message(context, i).severity, HD_MESSAGE_NOTE);

    input = memory(good); /* the next job starts anew */
    assert_int_equal(hd_context_strip(context, &input, &out), HD_STATUS_DONE);
    assert_int_equal(hd_context_message_count(context), 0);
    assert_int_equal(hd_context_error_count(context), 0);
    hd_text_free(&out);
    free(broken);
    free(good);
    hd_context_free(context);
}

static void count_message(void *user, const hd_message *message)
{
    size_t *count = user;
    assert_non_null(message->slug);
    ++*count;
}

static void message_handler(void **state)
{
    (void)state;
    hd_context *context = hd_context_new();
    hd_text out;
    size_t count = 0;
    char *broken = with(kernel, "%r2, %r1;", "%r9, %r1;");
    hd_input input = memory(broken);
    hd_context_set_message_handler(context, count_message, &count);
    assert_int_equal(hd_context_rewrite(context, &input, NULL, &out), HD_STATUS_REJECTED);
    assert_true(count > 0);
    assert_int_equal(count, hd_context_message_count(context));
    hd_context_set_message_handler(context, NULL, NULL);
    assert_int_equal(hd_context_rewrite(context, &input, NULL, &out), HD_STATUS_REJECTED);
    assert_int_equal(count, hd_context_message_count(context));
    free(broken);
    hd_context_free(context);
}

static hd_message first_message(hd_context *context, const char *text, hd_status expected)
{
    hd_text out;
    hd_input input = memory(text);
    assert_int_equal(hd_context_rewrite(context, &input, NULL, &out), expected);
    assert_true((out.bytes != NULL) == (expected == HD_STATUS_DONE));
    hd_text_free(&out);
    return hd_context_message_count(context) ? hd_context_message(context, 0) : (hd_message){0};
}

static void warnings(void **state)
{
    (void)state;
    hd_context *context = hd_context_new();
    char *unknown = with(kernel, "\tret;", "\tnosuch.u64 %r1;\n\tret;");
    assert_int_equal(first_message(context, unknown, HD_STATUS_DONE).severity, HD_MESSAGE_WARNING);
    hd_context_set_strict(context, true);
    assert_int_equal(first_message(context, unknown, HD_STATUS_REJECTED).severity, HD_MESSAGE_ERROR);
    hd_context_set_strict(context, false);
    assert_true(hd_context_set_warning(context, "error=unknown-opcode"));
    assert_string_equal(first_message(context, unknown, HD_STATUS_REJECTED).slug, "unknown-opcode");
    assert_true(hd_context_set_warning(context, "no-unknown-opcode"));
    assert_null(first_message(context, unknown, HD_STATUS_DONE).slug);
    assert_false(hd_context_set_warning(context, "nosuch"));
    assert_false(hd_context_set_warning(context, "no-syntax"));
    free(unknown);
    hd_context_free(context);
}

static void many_errors(void **state)
{
    (void)state;
    enum { ERRORS = 50 };
    char text[sizeof kernel + ERRORS * 32];
    strcpy(text, kernel);
    strcpy(strstr(text, "\tret;"), "");
    for (int i = 0; i < ERRORS; i++)
        sprintf(text + strlen(text), "\tmov.u64 %%q%d, 0;\n", i);
    strcat(text, "\tret;\n}\n");
    hd_context *context = hd_context_new();
    first_message(context, text, HD_STATUS_REJECTED);
    assert_int_equal(hd_context_error_count(context), ERRORS);
    size_t errors = 0;
    for (size_t i = 0; i < hd_context_message_count(context); i++)
        errors += hd_context_message(context, i).severity == HD_MESSAGE_ERROR;
    assert_int_equal(errors, ERRORS);
    hd_context_free(context);
}

static void files(void **state)
{
    (void)state;
    hd_context *context = hd_context_new();
    hd_text out;
    hd_input input = {.name = "/nonexistent/k.ptx"};
    assert_int_equal(hd_context_rewrite(context, &input, NULL, &out), HD_STATUS_REJECTED);
    hd_message m = hd_context_message(context, 0);
    assert_string_equal(m.slug, "unreadable");
    assert_null(m.file);
    assert_int_equal(m.line, 0);
    assert_non_null(strstr(m.text, "/nonexistent/k.ptx"));
    assert_int_equal(hd_context_strip(context, &input, &out), HD_STATUS_REJECTED);
    assert_int_equal(hd_context_check(context, &input, NULL, NULL), HD_STATUS_REJECTED);

    char path[] = "/tmp/heddle-api.XXXXXX";
    int descriptor = mkstemp(path);
    assert_true(descriptor >= 0);
    FILE *file = fdopen(descriptor, "w");
    assert_true(file && fputs(kernel, file) >= 0 && fclose(file) == 0);
    input.name = path;
    assert_int_equal(hd_context_rewrite(context, &input, NULL, &out), HD_STATUS_DONE);
    assert_string_equal(out.bytes, kernel);
    hd_text_free(&out);
    remove(path);

    input = (hd_input){.text = "", .length = 0};
    assert_int_equal(hd_context_rewrite(context, &input, NULL, &out), HD_STATUS_REJECTED);
    assert_string_equal(hd_context_message(context, 0).slug, "empty-input");
    assert_string_equal(hd_context_message(context, 0).file, "<memory>");
    hd_context_free(context);
}

static void annotations_are_checked(void **state)
{
    (void)state;
    hd_context *context = hd_context_new();
    uint64_t count = 99;
    hd_input input = memory(kernel);
    assert_int_equal(hd_context_check(context, &input, NULL, &count), HD_STATUS_DONE);
    assert_int_equal(count, 0);

    /* A value that is read again nine instructions later cannot live in a window of three. */
    char *far = with(kernel, "\tst.", "\tmembar.gl;\n\tmembar.gl;\n\tmembar.gl;\n\tmembar.gl;\n\tmembar.gl;\n\tst.");
    char *tagged = with(far, "%r2, %r1;", "%r2, %r1; //@bow boc"), *wrong = with(tagged, "{", "{ //@bow_window 3");
    input = memory(wrong);
    assert_int_equal(hd_context_check(context, &input, NULL, &count), HD_STATUS_WRONG);
    assert_true(count > 0);
    assert_string_equal(hd_context_message(context, 0).slug, "unsound-annotation");
    assert_int_equal(hd_context_check(context, &input, "other", &count), HD_STATUS_REJECTED);
    free(far);
    free(tagged);
    free(wrong);
    hd_context_free(context);
}

static void stale_annotations(void **state)
{
    (void)state;
    hd_context *context = hd_context_new();
    hd_text out;
    hd_input input = memory(kernel);
    hd_rewrite_settings settings = {.size = sizeof settings, .passes = "bow"};
    assert_int_equal(hd_context_rewrite(context, &input, &settings, &out), HD_STATUS_DONE);
    char *stale = with(out.bytes, "[%r2], %r1", "[%r2], %r2");
    hd_text_free(&out);
    assert_string_equal(first_message(context, stale, HD_STATUS_REJECTED).slug, "stale-annotation");
    hd_context_set_drop_stale(context, true);
    assert_string_equal(first_message(context, stale, HD_STATUS_DONE).slug, "stale-dropped");
    free(stale);
    hd_context_free(context);
}

/* A technique's annotations are dropped, with a warning, where its instructions change. */
static void annotations_that_a_pass_drops(void **state)
{
    (void)state;
    static const char *const techniques[] = {"bow", "demo", "ltrf", "corf", "corf++"};
    hd_context *context = hd_context_new();
    for (uint32_t t = 0; t < sizeof techniques / sizeof *techniques; t++) {
        hd_text tagged, out;
        char name[16];
        hd_input input = memory(kernel);
        hd_rewrite_settings settings = {.size = sizeof settings, .passes = techniques[t]};
        assert_int_equal(hd_context_rewrite(context, &input, &settings, &tagged), HD_STATUS_DONE);
        input = (hd_input){"a.ptx", tagged.bytes, tagged.length};
        settings.passes = "regalloc";
        assert_int_equal(hd_context_rewrite(context, &input, &settings, &out), HD_STATUS_DONE);
        bool said = strstr(tagged.bytes, "//@") != NULL;
        snprintf(name, sizeof name, "(%s)", techniques[t]);
        assert_int_equal(hd_context_message_count(context), said);
        if (said) {
            assert_string_equal(hd_context_message(context, 0).slug, "stale-dropped");
            assert_non_null(strstr(hd_context_message(context, 0).text, name));
        }
        snprintf(name, sizeof name, "//@%.4s", techniques[t]);
        assert_null(strstr(out.bytes, name));
        hd_text_free(&tagged);
        hd_text_free(&out);
    }
    hd_context_free(context);
}

static void replay(void **state)
{
    (void)state;
    const char *top = getenv("TOP");
    char path[4096];
    snprintf(path, sizeof path, "%s/examples/vectorAdd/vectorAdd.yaml", top ? top : ".");
    const char *files_to_run[] = {path};
    hd_context *context = hd_context_new();
    hd_text report;
    hd_replay_settings settings = {.size = sizeof settings, .techniques = "bow-wr-iw3"};
    assert_int_equal(hd_context_replay(context, files_to_run, 1, &settings, &report), HD_STATUS_DONE);
    assert_int_equal(report.bytes[0], '{');
    assert_non_null(strstr(report.bytes, "bow-wr-iw3"));
    assert_non_null(strstr(report.bytes, "\"registers\": \"allocated\""));
    hd_text_free(&report);
    settings.keep_virtual = true;
    assert_int_equal(hd_context_replay(context, files_to_run, 1, &settings, &report), HD_STATUS_DONE);
    assert_non_null(strstr(report.bytes, "\"registers\": \"virtual\""));
    hd_text_free(&report);
    settings.keep_virtual = false;
    settings.max_registers = 1;
    assert_int_equal(hd_context_replay(context, files_to_run, 1, &settings, &report), HD_STATUS_REJECTED);
    hd_text_free(&report);
    settings.max_registers = 0;
    settings.format = HD_REPLAY_TEXT;
    assert_int_equal(hd_context_replay(context, files_to_run, 1, &settings, &report), HD_STATUS_DONE);
    assert_int_not_equal(report.bytes[0], '{');
    hd_text_free(&report);
    settings.techniques = "nosuch";
    assert_int_equal(hd_context_replay(context, files_to_run, 1, &settings, &report), HD_STATUS_USAGE);
    assert_null(report.bytes);
    files_to_run[0] = "/nonexistent.yaml";
    assert_int_equal(hd_context_replay(context, files_to_run, 1, NULL, &report), HD_STATUS_REJECTED);
    assert_string_equal(hd_context_message(context, 0).slug, "unreadable");
    hd_text_free(&report);
    hd_context_free(context);
}

static void add_text(hd_context *context, const char *name, const char *text)
{
    hd_context_add_file(context, name, text, strlen(text));
}

/* A launch file with its module, data and GPU in memory, and what is not there. */
static void files_in_memory(void **state)
{
    (void)state;
    static const char launch[] = "module: k.ptx\n"
                                 "buffers:\n"
                                 "  A: {type: u64, count: 1, fill: {file: data/a.bin}, expect: {text: expected.txt}}\n"
                                 "launches:\n  - {kernel: k, grid: [1], block: [1], params: [A]}\n";
    static const unsigned char data[8] = {7};
    const char *const run[] = {"run/launch.yaml"};
    const hd_replay_report *report;
    hd_replay_settings settings = {.size = sizeof settings, .techniques = "bow", .gpu = "mine.yaml"};
    hd_context *context = hd_context_new();
    char *address = with(kernel, "st.global.u64 [%r2], %r1;", "ld.global.u64 %r1, [%r2];\n\tst.global.u64 [%r2], %r1;");
    add_text(context, "run/launch.yaml", launch);
    add_text(context, "run/k.ptx", "what a later file of the same name replaces");
    add_text(context, "run/k.ptx", address);
    add_text(context, "run/expected.txt", "7 # as given");
    hd_context_set_only_files(context, true);
    assert_int_equal(hd_context_replay_results(context, run, 1, &settings, &report), HD_STATUS_REJECTED);
    assert_non_null(strstr(hd_context_message(context, 0).text, "mine.yaml: it is not among the files in memory"));
    add_text(context, "mine.yaml", "name: mine\n");
    assert_int_not_equal(hd_context_replay_results(context, run, 1, &settings, &report), HD_STATUS_DONE);
    assert_string_equal(hd_context_message(context, 0).file, "mine.yaml");
    settings.gpu = "sm_80";
    assert_int_equal(hd_context_replay_results(context, run, 1, &settings, &report), HD_STATUS_REJECTED);
    assert_string_equal(hd_context_message(context, 0).slug, "unreadable");
    assert_non_null(strstr(hd_context_message(context, 0).text, "run/data/a.bin: it is not among the files in memory"));
    hd_context_add_file(context, "run/data/a.bin", data, sizeof data - 1);
    assert_int_equal(hd_context_replay_results(context, run, 1, &settings, &report), HD_STATUS_REJECTED);
    assert_string_equal(hd_context_message(context, 0).slug, "bad-value");
    hd_context_add_file(context, "run/data/a.bin", data, sizeof data);
    assert_int_equal(hd_context_replay_results(context, run, 1, &settings, &report), HD_STATUS_DONE);
    assert_int_equal(report->kernel_count, 1);
    assert_int_equal(report->kernels[0].outputs, HD_OUTPUTS_RIGHT);

    hd_text out;
    const hd_input input = {.name = "run/k.ptx"};
    assert_int_equal(hd_context_rewrite(context, &input, NULL, &out), HD_STATUS_DONE);
    assert_string_equal(out.bytes, address);
    hd_text_free(&out);
    const char *const standard[] = {"-"};
    assert_int_equal(hd_context_replay_results(context, standard, 1, &settings, &report), HD_STATUS_REJECTED);
    hd_context_drop_files(context);
    assert_int_equal(hd_context_rewrite(context, &input, NULL, &out), HD_STATUS_REJECTED);
    hd_context_free(context);
    free(address);
}

static void write_text(const char *path, const char *text)
{
    FILE *file = fopen(path, "w");
    assert_true(file && fputs(text, file) >= 0 && fclose(file) == 0);
}

static void replay_of_a_misspelt_kernel(void **state)
{
    (void)state;
    char folder[] = "/tmp/heddle-api.XXXXXX", ptx[64], yaml[64];
    assert_non_null(mkdtemp(folder));
    snprintf(ptx, sizeof ptx, "%s/m.ptx", folder);
    snprintf(yaml, sizeof yaml, "%s/m.yaml", folder);
    write_text(ptx, ".version 8.0\n.target sm_80\n.address_size 64\n.visible .entry kernel()\n{\n\tret;\n}\n");
    write_text(yaml, "module: m.ptx\nlaunches:\n  - {kernel: kernel, grid: 1, block: 1}\n"
                     "  - {kernel: kernle, grid: 1, block: 1}\n");
    const char *files_to_run[] = {yaml};
    hd_context *context = hd_context_new();
    hd_replay_settings settings = {.size = sizeof settings, .techniques = "all"};
    hd_text report;
    assert_int_equal(hd_context_replay(context, files_to_run, 1, &settings, &report), HD_STATUS_REJECTED);
    hd_message m = hd_context_message(context, 0);
    assert_string_equal(m.text, "the module has no kernel 'kernle'; did you mean 'kernel'?");
    assert_int_equal(m.line, 4);
    hd_text_free(&report);
    hd_context_free(context);
    remove(ptx);
    remove(yaml);
    remove(folder);
}

/* Cycles in every format; settings that need them, without. */
static void replay_cycles(void **state)
{
    (void)state;
    const char *top = getenv("TOP");
    char path[4096], value[64] = "timing.core.collectors=8";
    static const char *const begin[] = {"{", "GPU fermi-gtx480, 2 SMs, timing.core.collectors=8",
                                        "heddle,gpu,settings,", "<!DOCTYPE html>", "{"};
    static const char *const has[] = {"\"warp_ipc\"", "issue slots", "warp_ipc", "<title>", "\"traceEvents\""};
    snprintf(path, sizeof path, "%s/examples/vectorAdd/vectorAdd.yaml", top ? top : ".");
    const char *files_to_run[] = {path}, *values[] = {value};
    hd_context *context = hd_context_new();
    hd_text report;
    hd_replay_settings settings = {.size = sizeof settings,
                                   .gpu = "fermi-gtx480",
                                   .gpu_values = values,
                                   .gpu_value_count = 1,
                                   .techniques = "baseline",
                                   .time = true,
                                   .sms = 2,
                                   .timeline_end = 50,
                                   .profile = true};
    for (hd_replay_format f = HD_REPLAY_JSON; f <= HD_REPLAY_TIMELINE; f++) {
        settings.format = f;
        assert_int_equal(hd_context_replay(context, files_to_run, 1, &settings, &report), HD_STATUS_DONE);
        assert_int_equal(strncmp(report.bytes, begin[f], strlen(begin[f])), 0);
        assert_non_null(strstr(report.bytes, has[f]));
        hd_text_free(&report);
    }
    const hd_replay_report *results;
    assert_int_equal(hd_context_replay_results(context, files_to_run, 1, &settings, &results), HD_STATUS_DONE);
    memset(value, 'x', strlen(value));
    assert_string_equal(results->settings[0], "timing.core.collectors=8");
    assert_true(results->kernels[0].results[0].timing->cycles > 100);
    assert_int_equal(results->kernels[0].profile->total.executions, results->kernels[0].warp_instructions);
    hd_replay_settings wrong[] = {{.sms = 2},
                                  {.timeline_end = 50},
                                  {.sample = 4},
                                  {.profile = true},
                                  {.time = true, .sample = 4, .profile = true},
                                  {.time = true, .sample = 3},
                                  {.time = true, .sample = 4, .timeline_end = 50},
                                  {.time = true, .sms = 1025},
                                  {.time = true, .format = HD_REPLAY_TIMELINE},
                                  {.time = true, .timeline_first = 50, .timeline_end = 50},
                                  {.time = true, .gpu = "sm_90"},
                                  {.gpu_values = values, .gpu_value_count = 1}};
    for (uint32_t i = 0; i < sizeof wrong / sizeof *wrong; i++) {
        wrong[i].size = sizeof wrong[i];
        assert_int_equal(hd_context_replay(context, files_to_run, 1, &wrong[i], &report), HD_STATUS_USAGE);
        assert_null(report.bytes);
        assert_true(hd_context_error_count(context) > 0);
    }
    hd_context_free(context);
}

/* A program that was compiled for an earlier version has a shorter structure, one for a later version a longer one. */
static void sizes_of_settings(void **state)
{
    (void)state;
    enum { OLD = offsetof(hd_replay_settings, timeline_sm) };
    struct {
        hd_replay_settings known;
        uint64_t unknown;
    } later = {.known = {.size = sizeof later, .techniques = "bow"}};
    char path[4096];
    snprintf(path, sizeof path, "%s/examples/vectorAdd/vectorAdd.yaml", getenv("TOP") ? getenv("TOP") : ".");
    const char *files_to_run[] = {path};
    hd_context *context = hd_context_new();
    hd_text report;
    hd_replay_settings *old = test_malloc(OLD); /* a read beyond it is found by the sanitizers, and by valgrind */
    memset(old, 0, OLD);
    old->size = OLD;
    old->techniques = "bow";
    assert_int_equal(hd_context_replay(context, files_to_run, 1, old, &report), HD_STATUS_DONE);
    assert_non_null(report.bytes);
    hd_text_free(&report);
    test_free(old);
    enum { PROFILE_END = offsetof(hd_replay_settings, profile) + sizeof(bool), PADDED = (PROFILE_END + 7) / 8 * 8 };
    old = test_malloc(PADDED); /* of the version that ended with `profile`: its padding may be anything */
    memset(old, 0, PADDED);
    memset((char *)old + PROFILE_END, 0xff, PADDED - PROFILE_END);
    old->size = PADDED;
    const hd_replay_report *results;
    assert_int_equal(hd_context_replay_results(context, files_to_run, 1, old, &results), HD_STATUS_DONE);
    assert_int_equal(results->kernels[0].outputs, HD_OUTPUTS_RIGHT);
    test_free(old);
    assert_int_equal(hd_context_replay(context, files_to_run, 1, &later.known, &report), HD_STATUS_DONE);
    hd_text_free(&report);
    later.unknown = 1;
    assert_int_equal(hd_context_replay(context, files_to_run, 1, &later.known, &report), HD_STATUS_USAGE);
    assert_non_null(strstr(hd_context_message(context, 0).text, "of a later version"));
    hd_report_settings none = {.block = 64};
    const hd_report_module *module;
    const hd_diff *diff;
    hd_input input = memory(kernel);
    assert_int_equal(hd_context_report(context, &input, &none, &report), HD_STATUS_USAGE);
    assert_null(report.bytes);
    assert_int_equal(hd_context_report_results(context, &input, &none, &module), HD_STATUS_USAGE);
    assert_null(module);
    assert_int_equal(hd_context_diff(context, &input, &input, &none, &report), HD_STATUS_USAGE);
    assert_int_equal(hd_context_diff_results(context, &input, &input, &none, &diff), HD_STATUS_USAGE);
    assert_int_equal(hd_context_rewrite(context, &input, &(hd_rewrite_settings){.passes = "bow"}, &report),
                     HD_STATUS_USAGE);
    assert_non_null(strstr(hd_context_message(context, 0).text, "begin with their size"));
    hd_context_free(context);
}

/* Results as data, which say what the JSON says. */
static void replay_results(void **state)
{
    (void)state;
    const char *top = getenv("TOP");
    char path[4096];
    snprintf(path, sizeof path, "%s/examples/vectorAdd/vectorAdd.yaml", top ? top : ".");
    const char *files_to_run[] = {path};
    hd_context *context = hd_context_new();
    const hd_replay_report *report;
    hd_replay_settings settings = {.size = sizeof settings, .techniques = "bow"};
    assert_int_equal(hd_context_replay_results(context, files_to_run, 1, &settings, &report), HD_STATUS_DONE);
    assert_int_equal(report->kernel_count, 1);
    const hd_replay_kernel *k = &report->kernels[0];
    assert_string_equal(k->name, "vectorAdd");
    assert_int_equal(k->outputs, HD_OUTPUTS_RIGHT);
    assert_int_equal(k->identical, HD_OUTPUTS_RIGHT);
    assert_int_equal(k->result_count, 3);
    assert_string_equal(k->results[0].model, "baseline");
    assert_string_equal(k->results[1].title, "BOW");
    assert_string_equal(k->results[2].model, "bow-wr-iw3");
    assert_string_equal(k->results[2].technique, "bow");
    for (uint32_t i = 0; i < k->result_count; i++) {
        assert_int_equal(k->results[i].check, HD_CHECK_PASS);
        assert_int_equal(k->results[i].rf_accesses, k->results[i].counters[0] + k->results[i].counters[1]);
    }
    assert_string_equal(report->counters[0].key, "rf_reads");
    assert_true(k->results[1].rf_accesses_normalized < 1 && k->results[1].energy_normalized < 1);
    assert_int_equal(k->results[1].headline.kind, HD_FIGURE_SHARE);
    settings.all_models = true;
    assert_int_equal(hd_context_replay_results(context, files_to_run, 1, &settings, &report), HD_STATUS_DONE);
    assert_true(report->kernels[0].result_count > 3);
    settings.techniques = "nosuch";
    assert_int_equal(hd_context_replay_results(context, files_to_run, 1, &settings, &report), HD_STATUS_USAGE);
    assert_null(report);
    hd_context_free(context);
}

static void reports(void **state)
{
    (void)state;
    hd_context *context = hd_context_new();
    hd_text report;
    hd_input input = memory(kernel);
    static const char *const begin[] = {"{", "k.ptx: 1 kernel", "<!DOCTYPE html>", "{"};
    hd_report_settings settings = {.size = sizeof settings, .gpu = "sm_90", .block = 64};
    for (hd_report_format format = HD_FORMAT_JSON; format <= HD_FORMAT_SARIF; format++) {
        settings.format = format;
        assert_int_equal(hd_context_report(context, &input, &settings, &report), HD_STATUS_DONE);
        assert_int_equal(strncmp(report.bytes, begin[format], strlen(begin[format])), 0);
        hd_text_free(&report);
    }
    settings = (hd_report_settings){.size = sizeof(hd_report_settings), .require = "registers<=1"};
    assert_int_equal(hd_context_report(context, &input, &settings, &report), HD_STATUS_REJECTED);
    assert_string_equal(hd_context_message(context, 0).slug, "unmet-gate");
    assert_non_null(strstr(report.bytes, "\"failed_gates\": [\n        \"registers<=1"));
    hd_text_free(&report);
    settings.require = "rubbish";
    assert_int_equal(hd_context_report(context, &input, &settings, &report), HD_STATUS_USAGE);
    assert_null(report.bytes);
    input = memory(".version 7.8\n.target sm_80\nrubbish");
    assert_int_equal(hd_context_report(context, &input, NULL, &report), HD_STATUS_REJECTED);
    assert_null(report.bytes);
    assert_int_not_equal(hd_context_error_count(context), 0);
    hd_context_free(context);
}

/* The index of a register's name among those of the kernel. */
static uint32_t register_index(const hd_report_kernel *k, const char *name)
{
    for (uint32_t r = 0; r < k->register_count; r++)
        if (strcmp(k->registers[r].name, name) == 0)
            return r;
    return HD_REPORT_NONE;
}

/* Results as data, of a kernel in which two values of two words each are live at once: %r1 and %r2 at the store. */
static void report_results(void **state)
{
    (void)state;
    hd_context *context = hd_context_new();
    const hd_report_module *report;
    hd_input input = memory(kernel);
    hd_report_settings settings = {.size = sizeof settings, .gpu = "sm_90", .block = 64, .no_clean = true};
    assert_int_equal(hd_context_report_results(context, &input, &settings, &report), HD_STATUS_DONE);
    assert_string_equal(report->path, "k.ptx");
    assert_string_equal(report->arch, "sm_90");
    assert_string_equal(report->ptxas_unknown, "ptxas was not asked");
    assert_int_equal(report->kernel_count, 1);
    const hd_report_kernel *k = &report->kernels[0];
    assert_string_equal(k->name, "k");
    assert_true(k->is_entry);
    assert_int_equal(k->position.ptx_line, 4);
    assert_int_equal(k->instruction_count, 4);
    assert_string_equal(k->instructions[2].text, "st.global.u64 [%r2], %r1;");
    assert_int_equal(k->instructions[2].position.ptx_line, 9);
    assert_int_equal(k->instructions[2].live, 4);
    assert_int_equal(k->max_pressure, 4);
    assert_int_equal(k->instructions[k->max_pressure_at].live, 4);
    assert_false(k->ptxas.known);

    uint32_t r1 = register_index(k, "%r1");
    assert_int_not_equal(r1, HD_REPORT_NONE);
    assert_int_equal(k->registers[r1].words, 2);
    assert_int_equal(k->registers[r1].packed, HD_REPORT_NONE);
    uint8_t access = 0;
    for (uint32_t t = 0; t < k->touch_count; t++)
        if (k->touches[t].reg == r1)
            access |= (uint8_t)(k->touches[t].access << 2 * k->touches[t].instruction);
    assert_int_equal(access, HD_REPORT_WRITE | HD_REPORT_READ << 2 | HD_REPORT_READ << 4);

    assert_int_equal(k->use.threads, 64);
    assert_string_equal(k->block_from, "option");
    assert_int_equal(k->occupancy.warps, 2 * k->occupancy.ctas);
    assert_null(k->occupancy.impossible);
    bool named = false;
    for (uint32_t l = 0; l < k->limit_count; l++)
        named |= strcmp(k->limits[l].name, k->occupancy.limiter) == 0 && k->limits[l].ctas == k->occupancy.ctas;
    assert_true(named);
    assert_true(k->loss.exists && k->loss.then.ctas < k->occupancy.ctas && k->loss.registers > k->use.registers);
    assert_int_equal(k->sweep[1].ctas, k->occupancy.ctas); /* blocks of 64 threads */
    assert_true(k->technique_count > 0);
    hd_context_free(context);
}

/* Findings name their rule; unmet gates leave the results, other errors leave none. */
static void report_findings_and_gates(void **state)
{
    (void)state;
    hd_context *context = hd_context_new();
    const hd_report_module *report;
    hd_input input = memory(kernel);
    hd_report_settings settings = {.size = sizeof settings, .gpu = "sm_90", .require = "registers<=1", .block = 2048};
    assert_true(hd_context_set_warning(context, "error=register-pressure"));
    assert_int_equal(hd_context_report_results(context, &input, &settings, &report), HD_STATUS_REJECTED);
    const hd_report_kernel *k = &report->kernels[0];
    assert_int_equal(k->failed_gate_count, 1);
    assert_int_equal(strncmp(k->failed_gates[0], "registers<=1", 12), 0);
    assert_string_equal(k->occupancy.limiter, "impossible");
    assert_non_null(k->occupancy.impossible);
    assert_int_equal(k->finding_count, 1);
    assert_string_equal(k->findings[0].rule, "register-pressure");
    assert_true(k->findings[0].is_error);
    assert_int_equal(k->findings[0].instruction, HD_REPORT_NONE);
    assert_int_equal(k->findings[0].position.ptx_line, k->position.ptx_line);
    settings.gpu = "nosuch";
    assert_int_not_equal(hd_context_report_results(context, &input, &settings, &report), HD_STATUS_DONE);
    assert_null(report);
    hd_context_free(context);
}

static const hd_diff_change *change_named(const hd_diff_kernel *k, const char *quantity)
{
    for (uint32_t q = 0; q < k->change_count; q++)
        if (strcmp(k->changes[q].quantity, quantity) == 0)
            return &k->changes[q];
    fail_msg("no quantity '%s'", quantity);
    return NULL;
}

/* Compares two sides, one of which is a report as JSON, as data and as text. */
static void comparisons(void **state)
{
    (void)state;
    hd_context *context = hd_context_new(), *other = hd_context_new();
    hd_text report, text;
    const hd_diff *diff;
    char *longer = with(kernel, "\tst.", "\tst.global.u64 [%r2+8], %r1;\n\tst.");
    hd_input before = memory(kernel), after = memory(longer);
    hd_report_settings settings = {.size = sizeof settings, .gpu = "sm_90", .no_clean = true};
    assert_int_equal(hd_context_report(other, &before, &settings, &report), HD_STATUS_DONE);
    before = (hd_input){"old.json", report.bytes, report.length};
    assert_int_equal(hd_context_diff_results(context, &before, &after, &settings, &diff), HD_STATUS_DONE);
    assert_int_equal(diff->kernel_count, 1);
    assert_int_equal(diff->counts[HD_DIFF_CHANGED], 1);
    assert_string_equal(diff->before->path, "old.json");
    assert_string_equal(diff->after->path, "k.ptx");
    const hd_diff_kernel *k = &diff->kernels[0];
    assert_string_equal(k->name, "k");
    assert_int_equal(k->status, HD_DIFF_CHANGED);
    const hd_diff_change *c = change_named(k, "instructions");
    assert_true(c->known_before && c->known_after && c->comparable && c->differs);
    assert_true(c->before == 4 && c->after == 5);
    c = change_named(k, "max_pressure");
    assert_true(c->comparable && !c->differs && c->before == 4);
    c = change_named(k, "ptxas");
    assert_false(c->known_before || c->known_after || c->comparable || c->differs);
    c = change_named(k, "added");
    assert_true(c->comparable && !c->differs && c->after == 0);

    settings.require = "instructions<=0";
    assert_int_equal(hd_context_diff_results(context, &before, &after, &settings, &diff), HD_STATUS_REJECTED);
    assert_string_equal(diff->kernels[0].failed_gates[0], "instructions<=0 (4 to 5: +1)");
    assert_string_equal(hd_context_message(context, 0).slug, "unmet-gate");
    settings.require = "rubbish";
    assert_int_equal(hd_context_diff_results(context, &before, &after, &settings, &diff), HD_STATUS_USAGE);
    assert_null(diff);
    settings.require = NULL;
    settings.kernel = "other";
    assert_int_equal(hd_context_diff_results(context, &before, &after, &settings, &diff), HD_STATUS_REJECTED);
    assert_null(diff);
    settings.kernel = NULL;

    assert_int_equal(hd_context_diff(context, &before, &after, &settings, &text), HD_STATUS_DONE);
    assert_non_null(strstr(text.bytes, "\"status\": \"changed\""));
    hd_text_free(&text);
    settings.format = HD_FORMAT_TEXT;
    assert_int_equal(hd_context_diff(context, &before, &after, &settings, &text), HD_STATUS_DONE);
    assert_non_null(strstr(text.bytes, "4 -> 5"));
    hd_text_free(&text);
    after.text = NULL;
    after.name = "/nonexistent/k.ptx";
    assert_int_equal(hd_context_diff(context, &before, &after, &settings, &text), HD_STATUS_REJECTED);
    assert_null(text.bytes);
    hd_text_free(&report);
    free(longer);
    hd_context_free(other);
    hd_context_free(context);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(contexts_and_inputs),
        cmocka_unit_test(passes),
        cmocka_unit_test(messages),
        cmocka_unit_test(message_handler),
        cmocka_unit_test(warnings),
        cmocka_unit_test(many_errors),
        cmocka_unit_test(files),
        cmocka_unit_test(annotations_are_checked),
        cmocka_unit_test(stale_annotations),
        cmocka_unit_test(annotations_that_a_pass_drops),
        cmocka_unit_test(reports),
        cmocka_unit_test(report_results),
        cmocka_unit_test(report_findings_and_gates),
        cmocka_unit_test(comparisons),
        cmocka_unit_test(replay),
        cmocka_unit_test(files_in_memory),
        cmocka_unit_test(replay_of_a_misspelt_kernel),
        cmocka_unit_test(replay_cycles),
        cmocka_unit_test(sizes_of_settings),
        cmocka_unit_test(replay_results),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
