/* See recognize.h. Magic bytes: the ELF specification (CUDA's machine number is 190), the headers that nvcc and its
 * tools write, and common compressors. Texts: the first words written by the compilers and disassemblers of CUDA and
 * LLVM. PTX begins with a directive, so a first word without a dot is not PTX. */
#include "parser/recognize.h"
#include "base/search.h"
#include "lexer/sass.h"
#include "parser/recognize_fields.h"

#include <ctype.h>
#include <string.h>

/* Advice; %s is the file's name. */
#define EXTRACT "take the PTX out of it: cuobjdump -xptx all %s"
#define RUN "a program runs on the model as it is: heddle run -- %s"
#define FROM_SOURCE "compile its source to PTX: nvcc -ptx"
#define DECOMPRESS(tool) "decompress it first: " tool " -dc %s"

typedef struct kind {
    const char *what, *advice;
} kind;

typedef struct magic {
    const char *bytes;
    uint32_t length;
    kind kind;
} magic;

#define MAGIC(bytes, ...)                        \
    {                                            \
        bytes, sizeof bytes - 1, { __VA_ARGS__ } \
    }
enum { FATBIN, ARCHIVE }; /* the first of magics */
static const magic magics[] = {
    MAGIC("\x50\xed\x55\xba", "a fatbin, machine code and PTX for GPUs", EXTRACT),
    MAGIC("!<arch>\n", "an archive of object files", EXTRACT),
    MAGIC("BC\xc0\xde", "LLVM bitcode", "make PTX of it: llc -march=nvptx64"),
    MAGIC("\xed\x43\x4e\x7f", "LTO IR of nvcc", FROM_SOURCE),
    MAGIC("\x1f\x8b", "compressed by gzip", DECOMPRESS("gzip")),
    MAGIC("\x28\xb5\x2f\xfd", "compressed by zstd", DECOMPRESS("zstd")),
    MAGIC("\xfd"
          "7zXZ",
          "compressed by xz", DECOMPRESS("xz")),
    MAGIC("BZh", "compressed by bzip2", DECOMPRESS("bzip2")),
    MAGIC("PK\x03\x04", "a zip archive", "unpack it first: unzip %s"),
    MAGIC("\xff\xfe", "UTF-16 text", "PTX is ASCII: iconv -f UTF-16 -t ASCII %s"),
    MAGIC("\xfe\xff", "UTF-16 text", "PTX is ASCII: iconv -f UTF-16 -t ASCII %s"),
};

static const kind cubin = {"a cubin, machine code for a GPU",
                           "it holds no PTX; take it out of the program or fatbin that it is from (cuobjdump -xptx all "
                           "FILE), or compile the source: nvcc -ptx"};
enum { PROGRAM = 1 }; /* this one and the next may be programs */
static const kind objects[] = {{"an object file", EXTRACT},
                               {"an executable program", EXTRACT},
                               {"an executable program or shared library", EXTRACT},
                               {"an ELF file", EXTRACT}};
static const kind sass = {"a listing of machine code (SASS)",
                          "dump, report, rewrite, check and strip take listings: heddle-sass(7)"};
static const kind assembler = {"the source of an assembler of machine code (as maxas, TuringAs and CuAssembler are)",
                               "assemble it, and list the cubin that it makes: cuobjdump -sass, or nvdisasm"};
static const kind maxas = {"the source of an assembler of machine code, maxas or KeplerAs",
                           "insert it into its cubin (maxas.pl -i), and list that: cuobjdump -sass, or nvdisasm"};
static const kind turingas = {"the source of an assembler of machine code, TuringAs",
                              "assemble it to a cubin (turingas), and give that, or what nvdisasm lists of it"};
static const kind dumped = {"the output of cuobjdump, PTX and what surrounds it",
                            "cuobjdump -xptx all FILE writes the PTX alone, a file for each architecture"};
static const kind source_code = {"C++ or CUDA source", "compile it to PTX: nvcc -ptx %s"};
static const kind llvm = {"LLVM IR", "make PTX of it: llc -march=nvptx64 %s"};
static const kind mlir = {"MLIR", "lower it to PTX first"};
static const kind json = {"JSON", "'heddle diff' compares reports in JSON"};
static const kind trace = {"a trace of Accel-Sim",
                           "'heddle replay' takes it where its name ends in .trace or .traceg: heddle-trace(5)"};
static const kind trace_list = {"a list of traces of Accel-Sim",
                                "'heddle replay' takes it where its name begins with kernelslist: heddle-trace(5)"};
static const kind page = {"an HTML page", "save the file itself, not the page that shows it"};
static const kind launch = {"a launch file", "'heddle replay' runs it"};
static const kind gpu = {"a GPU description", "--gpu=%s takes it: heddle-gpu(5)"};
static const kind ptx = {"PTX", "'heddle init -o FILE.yaml %s' writes a launch file to begin with: heddle-launch(5)"};

/* ---- binaries ---------------------------------------------------------------------------------------------------- */

static const kind *elf_kind(const hd_source *source)
{
    enum { TYPE = 16, MACHINE = 18, CUDA = 190, MOST_BYTES = 20 };
    const unsigned char *bytes = (const unsigned char *)source->text;
    if (source->length < MOST_BYTES || memcmp(bytes,
                                              "\x7f"
                                              "ELF",
                                              4) != 0)
        return NULL;
    bool little = bytes[5] == 1; /* both fields have two bytes */
    uint32_t machine = bytes[MACHINE + !little] | (uint32_t)bytes[MACHINE + little] << 8;
    uint32_t type = bytes[TYPE + !little] | (uint32_t)bytes[TYPE + little] << 8;
    return machine == CUDA ? &cubin : &objects[type >= 1 && type <= 3 ? type - 1 : 3];
}

static const kind *binary_kind(const hd_source *source)
{
    for (size_t i = 0; i < sizeof magics / sizeof *magics; i++)
        if (source->length >= magics[i].length && memcmp(source->text, magics[i].bytes, magics[i].length) == 0)
            return &magics[i].kind;
    return elf_kind(source);
}

hd_binary hd_binary_of(const hd_source *source)
{
    const kind *found = binary_kind(source);
    bool is_object = found >= objects && found < objects + sizeof objects / sizeof *objects;
    if (found == &cubin)
        return HD_BINARY_CUBIN;
    return is_object || found == &magics[FATBIN].kind || found == &magics[ARCHIVE].kind ? HD_BINARY_OTHER
                                                                                        : HD_BINARY_NONE;
}

/* ---- texts ------------------------------------------------------------------------------------------------------- */

static bool begins(const char *text, const char *with) { return strncmp(text, with, strlen(with)) == 0; }

/* "0000" after the start of a comment: the address of a machine instruction. */
static bool is_address(const char *text)
{
    size_t digits = strspn(text, "0123456789abcdef");
    return digits >= 4 && begins(text + digits, "*/");
}

static bool is_directive(const char *word);

/* The first word after white space, comments, those of YAML too, and line markers; a NUL ends the text. */
static const char *first_word(const char *at, bool *addressed)
{
    for (;;) {
        at += strspn(at, " \t\r\n\f\v");
        if (begins(at, "//")) {
            at += strcspn(at, "\r\n");
        } else if (*at == '#' && !is_directive(at)) {
            at += strcspn(at, "\r\n");
        } else if (begins(at, "/*")) {
            *addressed |= is_address(at + 2);
            const char *end = strstr(at + 2, "*/");
            if (!end)
                return "";
            at = end + 2;
        } else {
            return at;
        }
    }
}

static bool is_one_of(const char *word, const char *const *words)
{
    size_t length = 0;
    while (isalnum((unsigned char)word[length]) || word[length] == '_')
        length++;
    for (; length && *words; words++)
        if (hd_is_name(word, length, *words))
            return true;
    return false;
}

/* Is the word, which begins with #, a directive of the C preprocessor? */
static bool is_directive(const char *word)
{
    static const char *const directives[] = {"include", "define", "pragma", "if", "ifdef", "ifndef", "undef", NULL};
    return is_one_of(word + 1 + strspn(word + 1, " \t"), directives);
}

static bool is_source(const char *word)
{
    static const char *const words[] = {
        "__global__", "__device__", "__host__", "__constant__", "__shared__", "template", "namespace", "using",
        "class",      "struct",     "union",    "enum",         "typedef",    "extern",   "static",    "inline",
        "const",      "constexpr",  "auto",     "void",         "bool",       "char",     "short",     "int",
        "long",       "unsigned",   "signed",   "float",        "double",     "import",   NULL};
    return *word == '#' || is_one_of(word, words);
}

static bool is_llvm(const char *word)
{
    static const char *const words[] = {"define ",           "declare ",      "source_filename ",
                                        "target datalayout", "target triple", NULL};
    if (*word == ';')
        return true;
    for (const char *const *w = words; *w; w++)
        if (begins(word, *w))
            return true;
    return false;
}

static bool is_launch(const char *word)
{
    static const char *const keys[] = {"module:", "buffers:", "launches:", "symbols:", "textures:", NULL};
    for (const char *const *key = keys; *key; key++)
        if (begins(word, *key))
            return true;
    return false;
}

static bool is_gpu(const char *word)
{
    return (begins(word, "name:") || begins(word, "summary:") || begins(word, "compute:") || begins(word, "limits:")) &&
           (begins(word, "limits:") || strstr(word, "\nlimits:"));
}

/* An opcode in capitals, as PTX has none. */
static bool is_opcode(const char *text)
{
    if (*text == '@')
        text += strcspn(text, " \t\r\n");
    text += strspn(text, " \t");
    size_t length = strspn(text, "ABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789_");
    return *text >= 'A' && *text <= 'Z' && length >= 2 && strchr(" .;\t\r\n", text[length]);
}

/* The end of the label that is alone on its line but for annotations: `name:`, of C++ also `f(float*, int):`. NULL:
 * there is none. */
static const char *label_end(const char *word)
{
    size_t line = strcspn(word, "\r\n"), length = strcspn(word, " \t\r\n:\"");
    const char *annotation = memmem(word, line, "//@", 3), *block = memmem(word, line, "/*@", 3);
    annotation = annotation && (!block || annotation < block) ? annotation : block;
    const char *end = annotation ? annotation : word + line;
    while (end > word && (end[-1] == ' ' || end[-1] == '\t'))
        end--;
    bool is_plain = length && word + length + 1 == end, has_parameters = memchr(word, '(', (size_t)(end - word));
    bool ends = end > word && end[-1] == ':' && word[line];
    return ends && (is_plain || (has_parameters && !memchr(word, '"', (size_t)(end - word)))) ? word + line : NULL;
}

/* A label, and an opcode on the next line: a listing from which all else was removed. `.text.NAME:` may be between. */
static bool is_bare(const char *word)
{
    const char *rest = label_end(word);
    if (!rest)
        return false;
    rest += strspn(rest, " \t\r\n");
    while (begins(rest, ".heddle ") || (begins(rest, ".text.") && label_end(rest))) {
        rest += strcspn(rest, "\n");
        rest += strspn(rest, " \t\r\n");
    }
    return is_opcode(rest);
}

/* What cuobjdump, nvdisasm and CuAssembler write: listings, and their graphs in DOT. PTX has .version before .target.
 */
static bool is_sass(const char *word)
{
    static const char *const starts[] = {"Fatbin elf code:",
                                         "Resource usage:",
                                         "code for sm_",
                                         ".headerflags",
                                         "nvdisasm ",
                                         "Function : ",
                                         "Function:",
                                         "digraph ",
                                         ".__elf_",
                                         "[B------",
                                         "inspecting ",
                                         "------------- NVBit",
                                         NULL};
    for (const char *const *start = starts; *start; start++)
        if (begins(word, *start))
            return true;
    const char *next = word + strcspn(word, "\r\n"), *second = word + strcspn(word, " \t\r\n");
    second += strspn(second, " \t");
    if (begins(word, ".target"))
        return begins(next + strspn(next, " \t\r\n"), ".elftype");
    if (begins(word, ".section"))
        return begins(second, ".text.");
    if (begins(word, ".global"))
        return strstr(word, "// |") != NULL;
    return is_bare(word) || (is_opcode(word) && strstr(word, " R") && !strstr(word, "{\n"));
}

/* What nvdisasm -json writes: metadata, then functions. */
static bool is_sass_json(const char *word)
{
    static const char *const keys[] = {"\"ELF\"", "\"SM\"", "\"SchemaVersion\"", "\"Producer\"", NULL};
    if (!hd_sass_begins_json(word))
        return false;
    const char *key = strchr(word, '{') + 1;
    key += strspn(key, " \t\r\n");
    for (const char *const *k = keys; *k; k++)
        if (begins(key, *k))
            return true;
    return strstr(key, "\"sass-instructions\"") != NULL;
}

/* The assembler whose source begins so: with a block, or a program to run; NULL: none. */
static const kind *assembler_of(const char *word)
{
    static const struct {
        const char *start;
        const kind *kind;
    } starts[] = {{"<REGISTER_MAPPING>", &maxas},
                  {"<CONSTANT_MAPPING>", &maxas},
                  {"<SCHEDULE_BLOCK", &maxas},
                  {"<ORDERED>", &maxas},
                  {"<CODE>", &maxas},
                  {"<INCLUDE ", &maxas},
                  {"[-", &maxas},
                  {"[+", &maxas},
                  {"<params>", &turingas},
                  {"<regs>", &turingas},
                  {"<insert>", &turingas},
                  {"<kernel", &turingas},
                  {"{%", &turingas},
                  {"{{", &turingas}};
    for (size_t i = 0; i < sizeof starts / sizeof *starts; i++)
        if (begins(word, starts[i].start))
            return starts[i].kind;
    return NULL;
}

/* Whether instructions with control fields follow directives of a preprocessor. */
static bool is_preprocessed(const char *word)
{
    static const char field[] = "[B------";
    while (*word == '#' || begins(word, "//")) {
        word += strcspn(word, "\r\n");
        word += strspn(word, " \t\r\n");
    }
    return begins(word, field) || hd_begins_with_field(word);
}

static const kind *text_kind(const hd_source *source)
{
    bool addressed = false;
    const char *word = first_word(source->text, &addressed);
    bool code_of_elf = begins(word, "Fatbin elf code:") && !strstr(word, "Function : ");
    if (begins(word, "Fatbin ptx code:") || (code_of_elf && strstr(word, "Fatbin ptx code:")))
        return &dumped;
    if (hd_sass_begins_csv(source->text) || hd_sass_begins_debugger(source->text))
        return &sass;
    if (addressed || is_sass(word) || is_sass_json(word))
        return &sass;
    if (begins(word, "module {") || begins(word, "module attributes"))
        return &mlir;
    if (*word == '#' && is_preprocessed(word))
        return &assembler;
    if (is_source(word))
        return &source_code;
    if (is_llvm(word))
        return &llvm;
    if (begins(word, "-kernel name = "))
        return &trace;
    if (begins(word, "MemcpyHtoD,") || begins(word, "kernel-"))
        return &trace_list;
    if (is_launch(word))
        return &launch;
    if (is_gpu(word))
        return &gpu;
    if (hd_begins_with_field(word))
        return hd_is_assembler_source(word) ? &assembler : &sass;
    const kind *source_of = assembler_of(word);
    if (source_of)
        return source_of;
    return *word == '{' ? &json : *word == '<' ? &page : begins(word, ".version") ? &ptx : NULL;
}

/* ---- diagnostics ------------------------------------------------------------------------------------------------- */

static void report_kind(hd_source *source, hd_diagnostics *diagnostics, hd_diagnostic_kind slug, const kind *k,
                        const char *wanted, const char *advice)
{
    hd_diagnostic *d =
        hd_report(diagnostics, slug, source, (hd_span){0, 0}, "this is %s; heddle reads %s", k->what, wanted);
    const char *name = strstr(advice, "%s");
    if (d)
        d->about_file = true;
    if (name)
        hd_note_add(diagnostics, d, NULL, (hd_span){0, 0}, "%.*s%s%s", (int)(name - advice), advice, source->name,
                    name + 2);
    else
        hd_note_add(diagnostics, d, NULL, (hd_span){0, 0}, "%s", advice);
}

static const kind *kind_of(const hd_source *source)
{
    const kind *k = binary_kind(source);
    return k ? k : text_kind(source);
}

const char *hd_kind_name(const hd_source *source)
{
    const kind *k = kind_of(source);
    return k ? k->what : NULL;
}

bool hd_is_sass(const hd_source *source) { return kind_of(source) == &sass; }

bool hd_refuse_foreign(hd_source *source, hd_diagnostics *diagnostics)
{
    const kind *k = kind_of(source);
    if (!k || k == &ptx)
        return false;
    report_kind(source, diagnostics, HD_DIAG_NOT_PTX, k, "PTX", k->advice);
    return true;
}

bool hd_refuse_foreign_launch(hd_source *source, hd_diagnostics *diagnostics)
{
    const kind *k = kind_of(source);
    bool may_be_yaml = k == &launch || k == &json || (k == &source_code && *source->text == '#');
    if (!k || may_be_yaml)
        return false;
    report_kind(source, diagnostics, HD_DIAG_NOT_LAUNCH_FILE, k, "a launch file here",
                k == &objects[PROGRAM] || k == &objects[PROGRAM + 1] ? RUN : k->advice);
    return true;
}
