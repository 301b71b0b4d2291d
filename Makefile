# heddle: build, tests and installation. GNU make 4.
#
#   make                 the program build/heddle, the library build/libheddle.a, and build/cudart/ for heddle run
#   make deps            installs what the build and the tests need (Debian), or says what to install
#   make demo            deps where something is missing, build quietly, and replay an example under every technique
#   make check           deps where something is missing, build, all tests; last line: N passed, N failed
#   make help            the other targets
#
# Knobs: O=DIR build folder; CC=, CFLAGS=, LDFLAGS= as usual; WERROR=1 warnings are errors; V=1 shows commands;
# T=GLOBS builds and runs only the test suites of those names, FUZZ=NAMES only those fuzz targets; DESTDIR=, PREFIX=, LIBDIR= for
# install; FUZZ_SECONDS= for each fuzz target; CUDA_HOME= where nvcc and ptxas are, if neither in PATH nor in /usr/local/cuda.
#
# Generated code: DIR/NAME.re -> $(O)/gen/DIR/NAME.re.c; DIR/NAME.y -> $(O)/gen/DIR/NAME.tab.c and .tab.h, which are
# included as "DIR/NAME.tab.h". Nothing is ever written outside $(O) (and its siblings $(O)-sanitize ...).

O ?= build
PREFIX ?= /usr/local
LIBDIR ?= $(PREFIX)/lib
FUZZ_SECONDS ?= 600
ifeq ($(origin CC),default)
CC := gcc
endif
CFLAGS ?= -O2 -g
AR ?= ar
RE2C ?= re2c
BISON ?= bison
Q := $(if $(V),,@)
SUBMAKE = $(MAKE) --no-print-directory

WARNINGS := -Wall -Wextra -Wshadow -Wstrict-prototypes -Wmissing-prototypes -Wvla -Wpointer-arith -Wwrite-strings \
            -Wimplicit-fallthrough $(if $(WERROR),-Werror)
comma := ,
# SANITIZE=1: address and undefined behaviour; SANITIZE=fuzz: the same, instrumented for libFuzzer (clang only).
SANITIZERS := $(if $(SANITIZE),-fsanitize=address$(comma)undefined \
              $(if $(filter fuzz,$(SANITIZE)),-fsanitize=fuzzer-no-link) -fno-sanitize-recover=all -fno-omit-frame-pointer)
PLANTED := -DHD_PLANTED_FAULTS=1
ALL_CPPFLAGS = -I. -Iinclude -I$(O)/gen -D_GNU_SOURCE$(if $(SHARED), $(PLANTED)) $(CPPFLAGS)
# The same objects go into the archive and, where nothing is sanitized, into the shared library, which exports what
# include/heddle declares. SHARED=1: the program and the tests use a library that exports all, and which LD_LIBRARY_PATH
# may replace; it has the faults that tests plant in models, which else only the tests' own models have.
PIC := $(if $(SANITIZE),,-fPIC $(if $(SHARED),,-fvisibility=protected))
ALL_CFLAGS = -std=c17 $(WARNINGS) $(SANITIZERS) $(CFLAGS) $(PIC) -pthread
ALL_LDFLAGS = $(SANITIZERS) $(CFLAGS) $(LDFLAGS) -pthread \
              $(if $(SHARED),-Wl$(comma)--enable-new-dtags$(comma)-rpath$(comma)$(abspath $(O)))
# What plug-ins call is in the program itself: one copy of the tables, and no library that must be of the same version.
EXPORTS := -Wl$(comma)--export-dynamic-symbol=hd_*
LIBS := -lxxhash -ljansson -lyaml -lsqlite3 -lzstd -llz4 -llzma -liberty -lm -ldl
VERSION := $(shell sed -n 's/^\#define HD_VERSION "\(.*\)"/\1/p' base/version.h)
SONAME := libheddle.so.$(firstword $(subst ., ,$(VERSION)))
RUNTIME_LIBS := -ldl

# ---- what there is -------------------------------------------------------------------------------------------------
LIB_DIRS := base target ir ir/sass ir/words lexer parser passes passes/analysis passes/graph passes/clean passes/regalloc passes/estimate \
            passes/technique passes/manager passes/check hwmodel hwmodel/memory hwmodel/record hwmodel/exec/workers hwmodel/exec/state \
            hwmodel/exec/ops hwmodel/exec/checks hwmodel/exec/control hwmodel/exec/decode hwmodel/machine hwmodel/launch hwmodel/rf hwmodel/rf/models \
            hwmodel/trace hwmodel/count hwmodel/count/memo hwmodel/sm \
            emitters emitters/ir emitters/report emitters/replay driver driver/report driver/build driver/replay driver/run driver/sweep driver/plugin driver/api
LIB_C := $(wildcard $(LIB_DIRS:%=%/*.c))
LIB_RE := $(wildcard $(LIB_DIRS:%=%/*.re))
LIB_Y := $(wildcard $(LIB_DIRS:%=%/*.y))
CLI_C := $(wildcard cli/*.c)
GPU_FILES := $(sort $(wildcard target/gpus/*.yaml))
TEMPLATE_FILES := $(addprefix examples/technique/latch/,README.md Makefile latch.h latch.c pass.c check.c model.c kernel.ptx kernel.yaml)
PLUGIN_KERNELS := $(sort $(wildcard driver/plugin/kernels/*.ptx))
FIGURE_FILES := $(sort $(wildcard driver/sweep/figures/*.yaml))
PAGE_FILES := $(sort $(wildcard emitters/page/*.css emitters/report/*.css emitters/report/*.js))
GEN_C := $(LIB_RE:%.re=$(O)/gen/%.re.c) $(LIB_Y:%.y=$(O)/gen/%.tab.c) $(O)/gen/target/gpu_files.c $(O)/gen/emitters/page_files.c $(O)/gen/driver/sweep/figure_files.c \
         $(O)/gen/driver/plugin/template_files.c $(O)/gen/driver/plugin/kernel_files.c
GEN_H := $(LIB_Y:%.y=$(O)/gen/%.tab.h) $(O)/gen/driver/plugin/headers.h
LIB_OBJ := $(LIB_C:%.c=$(O)/obj/%.o) $(GEN_C:$(O)/gen/%.c=$(O)/obj/%.o)
CLI_OBJ := $(CLI_C:%.c=$(O)/obj/%.o)
UNIT_C := $(wildcard tests/unit/test_*.c)
UNIT_HELP_C := $(filter-out tests/unit/test_% tests/unit/main.c,$(wildcard tests/unit/*.c))
UNIT_OBJ := $(UNIT_C:%.c=$(O)/obj/%.o)
UNIT_HELP_OBJ := $(UNIT_HELP_C:%.c=$(O)/obj/%.o)
# Models with the faults that unit tests plant, in place of the library's.
PLANTED_OBJ := $(if $(SHARED),,$(patsubst %.c,$(O)/obj/planted/%.o,$(wildcard hwmodel/rf/models/*.c)))
FUZZ_C := $(wildcard $(or $(FUZZ:%=tests/fuzz/fuzz_%.c),tests/fuzz/fuzz_*.c))
FUZZERS := $(FUZZ_C:%.c=$(O)/%)
# What looks at sources and texts is the same with sanitizers, and left to the plain build; so are suites that compare numbers of
# commands which others run with sanitizers, and the one whose plug-ins have none.
STATIC := tools/check-format tools/check-layers tools/check-headers tools/check-man tools/check-words tests/layers/run tests/words/run
PLAIN := $(STATIC) tests/charges/run tests/manual/run tests/numbers/run tests/cycles/run tests/oracles/run tests/papers/run tests/technique/run
SUITES := $(filter-out $(if $(SANITIZE),$(PLAIN)),$(sort $(wildcard $(STATIC) tests/*/run)))
# What T names, all without T. A script needs the program, and the targets of the build folder, or all, that its line
# "# needs: TARGETS" names.
SUITES_WANTED := $(if $(T),$(filter $(SUITES),$(wildcard $(T:%=tests/%/run) $(T:%=tools/%))),$(SUITES))
# All unit tests are one program, $(O)/tests/units/all, with a name for each: 150 programs take long to link. Those that T names
# are programs of their own, which link no other test; so are those of a shared library, which link little.
UNIT_NAMES := $(UNIT_C:tests/unit/%.c=%)
UNIT_ALONE := $(if $(T),$(filter $(UNIT_NAMES),$(patsubst tests/unit/%.c,%,$(wildcard $(T:%=tests/unit/%.c)))),$(if $(SHARED),$(UNIT_NAMES)))
UNIT_WANTED := $(if $(T)$(SHARED),$(UNIT_ALONE:%=$(O)/tests/unit/%),$(UNIT_NAMES:%=$(O)/tests/units/%))
NEEDS = $(if $(T),,all) $(if $(SUITES_WANTED),heddle $(shell sed -n 's/^\# needs: //p' $(SUITES_WANTED)))
NEEDED = $(patsubst $(O)/all,all,$(addprefix $(O)/,$(sort $(NEEDS)))) $(if $(T)$(SHARED),$(UNIT_WANTED),$(O)/tests/units/all)
LIB := $(O)/libheddle.$(if $(SHARED),so,a)
SHARED_LIB := $(if $(SANITIZE)$(SHARED),,$(O)/libheddle.so.$(VERSION))
PROGRAM := $(if $(CLI_C),$(O)/heddle)
# The library that CUDA programs load in place of the vendor's runtime; its links have the vendor's names. Not with
# sanitizers: they must be in the program first.
RUNTIME_C := $(wildcard cudart/*.c)
RUNTIME_OBJ := $(RUNTIME_C:%.c=$(O)/obj/%.o)
RUNTIME := $(if $(SANITIZE)$(findstring -fsanitize,$(CFLAGS)),,$(O)/cudart/libheddle-cudart.so)
RUNTIME_NAMES := libcudart.so.11.0 libcudart.so.12 libcudart.so.13 libcuda.so.1

all: $(LIB) $(SHARED_LIB) $(PROGRAM) $(RUNTIME)
.PHONY: all deps demo check sanitize sanitize-threads coverage campaign-liveness campaign-exec campaign-machine campaign-machine-replay campaign-techniques campaign-shrink campaign-sass campaign-timing campaign-failures mutation fuzz fuzzers tests bench papers bless install check-layers metrics format clean deb \
        help deps-browser deps-format deps-fuzz deps-sweep missing-deps FORCE
.DELETE_ON_ERROR:
.SECONDARY:
.SUFFIXES:

# ---- building ------------------------------------------------------------------------------------------------------
# A stamp file changes only when what it records does: other flags or another list of sources rebuild what they must.
quoted = '$(subst ','\'',$(1))'
record = $(Q)mkdir -p $(@D) && printf '%s\n' $(quoted) | cmp -s - $@ || printf '%s\n' $(quoted) >$@
$(O)/.flags: FORCE
	$(call record,$(CC) $(ALL_CPPFLAGS) $(ALL_CFLAGS) $(LDFLAGS))
$(O)/.sources: FORCE
	$(call record,$(LIB_OBJ))
$(O)/.tools: tools/deps
	$(Q)tools/deps missing build && mkdir -p $(@D) && touch $@

$(O)/gen/%.re.c: %.re | $(O)/.tools
	@echo "  RE2C    $<"
	$(Q)mkdir -p $(@D) && $(RE2C) -W -Werror --depfile $@.d -o $@ $<
$(O)/gen/%.tab.c $(O)/gen/%.tab.h &: %.y | $(O)/.tools
	@echo "  BISON   $<"
	$(Q)mkdir -p $(@D) && $(BISON) -Wall -Werror --header=$(O)/gen/$*.tab.h -o $(O)/gen/$*.tab.c $<

# The GPU descriptions, figures of papers, the files of heddle new and heddle check-plugin, and the style and scripts of HTML pages, built into the library.
$(O)/gen/target/gpu_files.c: $(GPU_FILES) tools/embed
	@echo "  EMBED   target/gpus"
	$(Q)mkdir -p $(@D) && tools/embed target/gpu.h hd_gpu_file $(GPU_FILES) >$@
$(O)/gen/driver/sweep/figure_files.c: $(FIGURE_FILES) tools/embed
	@echo "  EMBED   driver/sweep/figures"
	$(Q)mkdir -p $(@D) && tools/embed driver/sweep/plot.h hd_figure_file $(FIGURE_FILES) >$@
$(O)/gen/driver/plugin/template_files.c: $(TEMPLATE_FILES) tools/embed
	@echo "  EMBED   examples/technique/latch"
	$(Q)mkdir -p $(@D) && tools/embed --whole driver/plugin/template.h hd_template_file $(TEMPLATE_FILES) >$@
$(O)/gen/driver/plugin/kernel_files.c: $(PLUGIN_KERNELS) tools/embed
	@echo "  EMBED   driver/plugin/kernels"
	$(Q)mkdir -p $(@D) && tools/embed --whole driver/plugin/check.h hd_plugin_kernel $(PLUGIN_KERNELS) >$@
$(O)/gen/emitters/page_files.c: $(PAGE_FILES) tools/embed
	@echo "  EMBED   emitters/page emitters/report"
	$(Q)mkdir -p $(@D) && tools/embed emitters/page.h hd_page_file $(PAGE_FILES) >$@

# The headers that a plug-in is compiled with, and their hash: what was compiled with others is not loaded.
PLUGIN_HEADERS = $(sort $(filter-out \ %: %/headers.h,$(shell $(CC) $(ALL_CPPFLAGS) -MM -MG -x c driver/plugin/plugin.h)))
$(O)/gen/driver/plugin/headers.h: FORCE
	$(call record,#define HD_PLUGIN_HEADERS 0x$(shell cat $(PLUGIN_HEADERS) | sha256sum | cut -c1-16)ull)

compile = $(Q)mkdir -p $(@D) && $(CC) $(ALL_CPPFLAGS) $(ALL_CFLAGS) -MMD -MP -c -o $@ $<
$(O)/obj/%.o: %.c $(O)/.flags | $(O)/.tools $(GEN_H)
	@echo "  CC      $<"
	$(compile)
$(O)/obj/%.o: $(O)/gen/%.c $(O)/.flags | $(O)/.tools $(GEN_H)
	@echo "  CC      $<"
	$(compile)

$(O)/obj/planted/%.o: private ALL_CPPFLAGS += $(PLANTED)
$(O)/obj/planted/%.o: %.c $(O)/.flags | $(O)/.tools $(GEN_H)
	@echo "  CC      $< (planted faults)"
	$(compile)
$(O)/obj/tests/%.o: private ALL_CPPFLAGS += $(PLANTED)

$(O)/libheddle.so: $(LIB_OBJ) $(O)/.sources
	@echo "  LINK    $@"
	$(Q)$(CC) -shared -Wl$(comma)-soname$(comma)$(@F) $(ALL_LDFLAGS) -o $@ $(LIB_OBJ) $(LIBS)
$(O)/libheddle.so.$(VERSION): $(LIB_OBJ) $(O)/.sources driver/api/heddle.map
	@echo "  LINK    $@"
	$(Q)$(CC) -shared -Wl$(comma)-soname$(comma)$(SONAME) -Wl$(comma)--version-script=driver/api/heddle.map \
	    -Wl$(comma)-z$(comma)defs $(ALL_LDFLAGS) -o $@ $(LIB_OBJ) $(LIBS)
	$(Q)ln -sf $(@F) $(O)/$(SONAME) && ln -sf $(SONAME) $(O)/libheddle.so
$(O)/libheddle.a: $(LIB_OBJ) $(O)/.sources
	@echo "  AR      $@"
	$(Q)mkdir -p $(@D) && rm -f $@ && $(AR) rcs $@ $(LIB_OBJ)
$(O)/heddle: $(CLI_OBJ) $(LIB)
	@echo "  LINK    $@"
	$(Q)$(CC) $(ALL_LDFLAGS) $(EXPORTS) -o $@ $(CLI_OBJ) $(LIB) $(LIBS)
# private: the record of flags, on which objects depend, must not see it
$(RUNTIME_OBJ): private ALL_CFLAGS += -fPIC -fvisibility=default
$(O)/cudart/libheddle-cudart.so: $(RUNTIME_OBJ) $(LIB) cudart/libcudart.map
	@echo "  LINK    $@"
	$(Q)mkdir -p $(@D) && $(CC) -shared $(ALL_LDFLAGS) -Wl$(comma)--version-script=cudart/libcudart.map -o $@ $(RUNTIME_OBJ) \
	    $(LIB) $(LIBS) $(RUNTIME_LIBS) && for n in $(RUNTIME_NAMES); do ln -sf $(@F) $(@D)/$$n; done
# The main of a unit test has its file's name (unit.h), so that one program can hold all.
$(UNIT_OBJ): private ALL_CPPFLAGS += -DUNIT_NAME=$(*F)
$(O)/tests/unit/%: $(O)/obj/tests/unit/%.o $(UNIT_HELP_OBJ) $(PLANTED_OBJ) $(LIB)
	@echo "  LINK    $@"
	$(Q)mkdir -p $(@D) && $(CC) $(ALL_LDFLAGS) -Wl$(comma)--defsym=main=$(@F) -o $@ $< $(UNIT_HELP_OBJ) $(PLANTED_OBJ) $(LIB) -lcmocka $(LIBS)
$(O)/gen/tests/unit/names.def: FORCE
	$(call record,$(foreach name,$(UNIT_NAMES),UNIT($(name))))
$(O)/obj/tests/unit/main.o: $(O)/gen/tests/unit/names.def
$(O)/tests/units/all: $(O)/obj/tests/unit/main.o $(UNIT_OBJ) $(UNIT_HELP_OBJ) $(PLANTED_OBJ) $(LIB)
	@echo "  LINK    $@"
	$(Q)mkdir -p $(@D) && $(CC) $(ALL_LDFLAGS) -o $@ $(filter %.o,$^) $(LIB) -lcmocka $(LIBS) && \
	    for name in $(UNIT_NAMES); do ln -sf $(@F) $(@D)/$$name; done
$(O)/tests/fuzz/%: $(O)/obj/tests/fuzz/%.o $(LIB)
	@echo "  LINK    $@"
	$(Q)mkdir -p $(@D) && $(CC) $(ALL_LDFLAGS) -fsanitize=fuzzer -o $@ $< $(LIB) $(LIBS)

-include $(LIB_OBJ:.o=.d) $(CLI_OBJ:.o=.d) $(RUNTIME_OBJ:.o=.d) $(UNIT_OBJ:.o=.d) $(UNIT_HELP_OBJ:.o=.d) $(PLANTED_OBJ:.o=.d) $(O)/obj/tests/unit/main.d $(FUZZ_C:%.c=$(O)/obj/%.d)
-include $(LIB_RE:%.re=$(O)/gen/%.re.c.d)

# ---- what users run ------------------------------------------------------------------------------------------------
deps:
	$(Q)tools/deps install build test
deps-browser:
	$(Q)tools/deps install build test browser
deps-format:
	$(Q)tools/deps install build test format
deps-fuzz:
	$(Q)tools/deps install build test fuzz
deps-sweep:
	$(Q)tools/deps install build test sweep
deps-corpus:
	$(Q)tools/deps install build test corpus
missing-deps:
	$(Q)tools/deps missing build test >/dev/null 2>&1 || tools/deps install build test

# What nvcc makes of the examples is the same for each build.
COMPILED = $(abspath $(O))/nvcc
ENVIRONMENT = TOP='$(CURDIR)' COMPILED='$(COMPILED)' BUILD='$(abspath $(O))' HEDDLE='$(abspath $(O))/heddle' CC='$(CC)' LC_ALL=C

demo: missing-deps
	+$(Q)$(ENVIRONMENT) MAKE='$(SUBMAKE)' tools/demo

tests: $(NEEDED)
# Scripts first: they take longest, and what is left at the end is short enough for all processors.
check: missing-deps
	+$(Q)$(SUBMAKE) tests
	$(Q)$(ENVIRONMENT) tools/run-tests $(if $(T),--only='$(T)') $(SUITES_WANTED) $(UNIT_WANTED)
# Writes the golden files anew from what the program does now; read the difference before committing it.
bless:
	+$(Q)$(SUBMAKE) tests
	$(Q)BLESS=1 $(ENVIRONMENT) tools/run-tests $(if $(T),--only='$(T)') $(SUITES_WANTED) $(UNIT_WANTED)

# Not position-independent: the sanitizers' tables need 360,000 relocations, half of the time that a small run takes.
sanitize:
	+$(Q)$(SUBMAKE) O=$(O)-sanitize SANITIZE=1 CFLAGS='-O1 -g1 -fno-pie' LDFLAGS=-no-pie COMPILED='$(abspath $(O))/nvcc' check
# Data races: all examples on four host threads.
sanitize-threads:
	+$(Q)$(SUBMAKE) O=$(O)-threads CFLAGS='-O1 -g -fsanitize=thread' all
	$(Q)TOP='$(CURDIR)' BUILD='$(abspath $(O))-threads' HEDDLE='$(abspath $(O))-threads/heddle' tools/sanitize-threads
coverage:
	-+$(Q)$(SUBMAKE) O=$(O)-coverage CFLAGS='-O0 -g --coverage' check
	$(Q)tools/coverage $(O)-coverage
# Random programs against the machine of tests/unit/oracle.h: COUNT=N programs, 50,000 where nothing is said.
campaign-liveness: $(O)/tests/unit/test_liveness
	$(Q)ORACLE_COUNT=$(or $(COUNT),50000) $<
# Random programs in the interpreter against an evaluator of one thread at a time: COUNT=N programs, 100,000 where nothing is
# said.
campaign-exec: $(O)/tests/unit/test_exec_programs
	$(Q)PROGRAM_COUNT=$(or $(COUNT),100000) $<
# Random programs in the interpreter of PTX, and assembled by ptxas in that of machine code: COUNT=N programs, 100,000 where nothing
# is said, from seed SEED on.
campaign-machine: $(O)/tests/unit/test_machine_programs
	$(Q)MACHINE_SEED=$(or $(SEED),1) MACHINE_COUNT=$(or $(COUNT),100000) $<
# All techniques on the machine code of all examples, with cycles, on three machines.
campaign-machine-replay: all
	$(Q)$(ENVIRONMENT) MACHINE_REPLAY=all tests/machine_replay/run
# Random programs through every technique's pass, check and replay: COUNT=N of each kind, 50,000 where nothing is said, from seed SEED on.
campaign-techniques: $(O)/tests/unit/test_techniques
	$(Q)TECHNIQUE_SEED=$(or $(SEED),1) TECHNIQUE_COUNT=$(or $(COUNT),50000) $<
# Random kernels on register files that are as small as they can be, in turns and on random machines: COUNT=N, 3,000 where nothing
# is said, from seed SEED on.
campaign-shrink: $(O)/tests/unit/test_shrink
	$(Q)SHRINK_SEED=$(or $(SEED),1) SHRINK_COUNT=$(or $(COUNT),3000) $<
# All techniques on all listings of machine code, and on random programs: COUNT=N, 2,000 where nothing is said, from seed SEED on.
campaign-sass: all
	$(Q)$(ENVIRONMENT) SASS_COUNT=$(or $(COUNT),2000) SASS_SEED=$(or $(SEED),1) tests/sass/run
# What holds of cycles by construction: all examples of the suite on all GPUs.
campaign-timing: all
	$(Q)$(ENVIRONMENT) TIMING_ALL=1 tests/timing/run
# Every command with each of its allocations failing in turn, on a full disk, and with signals; wrong values of every option.
campaign-failures: all
	$(Q)$(ENVIRONMENT) FAILURES=0 tests/failures/run
	$(Q)$(ENVIRONMENT) FAILURES=0 FULL=1 tests/cli/run
# N single faults, drawn from SEED, in passes, checkers, models and interpreter: which no test notices, and the share of the others.
# MINUTES=M stops after so long; T=GLOB takes only the test suites of that name.
mutation: missing-deps
	$(Q)tools/mutate --build='$(O)-mutation' --count=$(or $(N),100) --seed=$(or $(SEED),1) $(if $(MINUTES),--minutes=$(MINUTES)) \
	    $(if $(T),--only='$(T)')
fuzz:
	+$(Q)if tools/deps missing fuzz; then \
	    $(SUBMAKE) O=$(O)-fuzz CC=clang SANITIZE=fuzz CFLAGS='-O1 -g1' fuzzers && \
	    FUZZ_SECONDS=$(FUZZ_SECONDS) tools/run-fuzz $(O)-fuzz $(FUZZ_C:tests/fuzz/fuzz_%.c=%); \
	else echo "skip fuzz: clang or its libFuzzer runtime is missing (make deps-fuzz)"; fi
fuzzers: $(FUZZERS)
# PTX that LLVM, clang and GCC make of tests/corpus, for all processors and levels: `make check` takes a part of it.
corpus: all
	$(Q)CORPUS=full $(ENVIRONMENT) tests/corpus/run
bench: all
	$(Q)$(ENVIRONMENT) bench/run
# docs/papers.md and docs/cycles.md, measured anew: some ten minutes each.
papers: all
	$(Q)$(ENVIRONMENT) bench/papers --write
	$(Q)$(ENVIRONMENT) bench/cycles --write

check-layers:
	$(Q)tools/check-layers
metrics:
	$(Q)tools/metrics $(LIB_DIRS) cli
format:
	clang-format -i $$(tools/check-format --list)

# Programs, libraries, headers (those of plug-ins in a folder of their own), manual pages, completions of shells, GPU descriptions, what makefiles and CMake include,
# documents and examples.
DOC = $(DESTDIR)$(PREFIX)/share/doc/heddle
COMPLETIONS := bash:bash-completion/completions/heddle zsh:zsh/site-functions/_heddle fish:fish/vendor_completions.d/heddle.fish
into = install -d $(call quoted,$(1)) && install -m $(2) $(3) $(call quoted,$(1))/
install: all
	$(call into,$(DESTDIR)$(PREFIX)/bin,755,$(PROGRAM))
	$(call into,$(DESTDIR)$(LIBDIR),644,$(O)/libheddle.a $(SHARED_LIB))
	$(if $(SHARED_LIB),ln -sf $(notdir $(SHARED_LIB)) $(call quoted,$(DESTDIR)$(LIBDIR)/$(SONAME)) && \
	    ln -sf $(SONAME) $(call quoted,$(DESTDIR)$(LIBDIR)/libheddle.so))
	$(if $(RUNTIME),$(call into,$(DESTDIR)$(PREFIX)/lib/heddle,644,$(RUNTIME)) && \
	    for n in $(RUNTIME_NAMES); do ln -sf $(notdir $(RUNTIME)) $(call quoted,$(DESTDIR)$(PREFIX)/lib/heddle)/$$n; done)
	$(call into,$(DESTDIR)$(PREFIX)/include/heddle,644,$(wildcard include/heddle/*.h))
	install -d $(call quoted,$(DESTDIR)$(PREFIX)/lib/heddle/plugins) $(call quoted,$(DESTDIR)$(PREFIX)/include/heddle/plugin)
	tar -cf - $(PLUGIN_HEADERS) -C $(O)/gen driver/plugin/headers.h | \
	    tar -C $(call quoted,$(DESTDIR)$(PREFIX)/include/heddle/plugin) --no-same-owner -xf -
	chmod -R u+rwX,go+rX,go-w $(call quoted,$(DESTDIR)$(PREFIX)/include/heddle/plugin)
	install -d $(call quoted,$(DESTDIR)$(LIBDIR)/pkgconfig)
	sed $(call quoted,s|@PREFIX@|$(PREFIX)|; s|@LIBDIR@|$(LIBDIR)|; s|@VERSION@|$(VERSION)|) driver/api/heddle.pc.in \
	    >$(call quoted,$(DESTDIR)$(LIBDIR)/pkgconfig/heddle.pc)
	$(foreach s,1 3 5 7,$(call into,$(DESTDIR)$(PREFIX)/share/man/man$s,644,$(wildcard man/*.$s)) &&) true
	for c in $(COMPLETIONS); do \
	    to=$(call quoted,$(DESTDIR)$(PREFIX)/share)/$${c#*:}; \
	    install -d "$${to%/*}" && $(PROGRAM) completion "$${c%%:*}" >"$$to" || exit 1; \
	done
	$(call into,$(DESTDIR)$(PREFIX)/share/heddle/gpus,644,$(GPU_FILES))
	$(call into,$(DESTDIR)$(PREFIX)/share/heddle,644,integration/heddle.mk)
	$(call into,$(DESTDIR)$(PREFIX)/lib/cmake/Heddle,644,integration/HeddleConfig.cmake)
	$(call into,$(DOC),644,README.md CHANGELOG.md $(wildcard docs/*.md))
	rm -rf $(call quoted,$(DOC)/examples) && install -d $(call quoted,$(DOC)/examples)
	tar -C examples --exclude=.gitignore --exclude=./project/build --exclude=__pycache__ -cf - . | \
	    tar -C $(call quoted,$(DOC)/examples) --no-same-owner -xf -
	chmod -R u+rwX,go+rX,go-w $(call quoted,$(DOC)/examples)

# Debian packages, in $(O)/deb.
deb:
	$(Q)missing=; for tool in dpkg-buildpackage:dpkg-dev dh:debhelper; do command -v $${tool%:*} >/dev/null || missing="$$missing $${tool#*:}"; done; \
	if [ "$$missing" ]; then echo "deb needs packages that are not installed: apt-get install$$missing" >&2; exit 1; fi
	rm -rf $(O)/deb && install -d $(O)/deb/heddle
	tar --exclude=./.git --exclude='./$(O)*' -cf - . | tar -C $(O)/deb/heddle --no-same-owner -xf -
	cd $(O)/deb/heddle && dpkg-buildpackage -b -us -uc

clean:
	rm -rf $(O) $(O)-sanitize $(O)-threads $(O)-coverage $(O)-fuzz $(O)-mutation

help:
	@sed -n '2,/^$$/s/^# \{0,1\}//p' Makefile
	@echo 'Targets: all deps deps-browser deps-format deps-fuzz deps-sweep deps-corpus demo check bless sanitize sanitize-threads coverage campaign-liveness campaign-exec campaign-machine campaign-machine-replay campaign-techniques campaign-shrink campaign-sass campaign-timing campaign-failures mutation fuzz corpus bench papers'
	@echo '         install deb check-layers metrics format clean'
