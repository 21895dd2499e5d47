# bpfbench: `make help` lists the targets. V=1 shows the commands, O=DIR sets the build folder, SAN=1 adds ASan and UBSan, WERROR=1 makes
# warnings errors, as in CI.
SHELL := /bin/bash
.DELETE_ON_ERROR:
.SECONDARY:
.SUFFIXES:

VERSION := 0.1.0
O ?= build
V ?= 0
PREFIX ?= /usr/local
DESTDIR ?=
JOBS ?= $(shell nproc 2>/dev/null || echo 2)
SAN ?= 0
WERROR ?= 0
CC ?= gcc
ifeq ($(origin CC),default)
CC := gcc
endif
CLANG ?= clang
LLVM_STRIP ?= llvm-strip
BPFTOOL ?= $(or $(shell command -v bpftool),/usr/sbin/bpftool)
PKG_CONFIG ?= pkg-config

ifeq ($(V),1)
Q :=
msg :=
else
Q := @
msg = @printf '  %-8s %s\n' '$(1)' '$(2)';
endif

# --- files to build -----------------------------------------------------------------------------------------------
BIN := bpfbench
PACKAGES := libbpf jansson yaml-0.1 libpcap libdw libseccomp sqlite3 libarchive
LIB_DIRS := base core stats plan capture bpf profile exact inside lines fire drivers env report store judge export html run vm cli
LIB_SRCS := $(foreach d,$(LIB_DIRS),$(sort $(wildcard harness/$(d)/*.c))) \
	$(sort $(filter-out %_main.c,$(wildcard harness/workloads/*.c)))
LIB_OBJS := $(LIB_SRCS:harness/%.c=$(O)/obj/%.o)
LIB := $(O)/libbpfbench.a
BPF_OBJS := $(patsubst bpf/%.bpf.c,$(O)/bpf/%.bpf.o,$(wildcard bpf/*.bpf.c))
TEST_BPF_OBJS := $(patsubst harness/tests/bpf/%.bpf.c,$(O)/tests/bpf/%.bpf.o,$(wildcard harness/tests/bpf/*.bpf.c))
# The plugin of QEMU for `annotate --vm`. Guests exist only for x86_64.
QEMU_PLUGIN := $(if $(filter x86_64,$(shell uname -m)),$(O)/qemu/trace.so)
WORKLOADS := $(patsubst harness/workloads/%_main.c,$(O)/workloads/%,$(wildcard harness/workloads/*_main.c))
# Registers the drives, as main.c does.
DRIVES := $(O)/obj/tests/drives.o
UNIT_SRCS := $(wildcard harness/tests/unit/*/test_*.c)
UNIT_TESTS := $(patsubst %.c,$(O)/tests/%,$(notdir $(UNIT_SRCS)))
TEST_TOOLS := $(patsubst harness/tests/tools/%.c,$(O)/tests/tools/%,$(wildcard harness/tests/tools/*.c))
# The fuzz targets with a main() that replays files. Any compiler can build them; they are part of the tests.
REPLAYS := $(patsubst harness/tests/fuzz/fuzz_%.c,$(O)/tests/fuzz/%,$(wildcard harness/tests/fuzz/fuzz_*.c))
FUZZERS := $(patsubst harness/tests/fuzz/%.c,$(O)/fuzz/%,$(wildcard harness/tests/fuzz/fuzz_*.c))
BENCHES := $(patsubst harness/tests/bench/%.c,$(O)/bench/%,$(wildcard harness/tests/bench/bench_*.c))

CLANG_VERSION := $(shell $(CLANG) --version 2>/dev/null | head -n 1 | sed -E 's/.*version ([^ ]+).*/\1/')
WARN := -Wall -Wextra -Wno-c2x-extensions -Wconversion -Wshadow -Wstrict-prototypes -Wmissing-prototypes
BPF_WARN := -Wall -Wextra -Wno-unused-parameter
ifeq ($(WERROR),1)
WARN += -Werror
BPF_WARN += -Werror
endif
CFLAGS ?= -O2 -g
# -falign-functions: without it, the addresses of functions in the process that fires changed the time of a program by up to 3 of 54 ns
# (AMD EPYC).
ALL_CFLAGS := -std=gnu11 $(CFLAGS) $(WARN) -D_GNU_SOURCE -fno-omit-frame-pointer -falign-functions=64 -Iharness -Ibpf \
	-DBB_VERSION='"$(VERSION)"' -DBB_CLANG_VERSION='"$(CLANG_VERSION)"' -DBB_BUILD_DIR='"$(O)"' \
	-DBB_MULTIARCH='"$(shell $(CC) -print-multiarch 2>/dev/null)"' \
	$(shell $(PKG_CONFIG) --cflags $(PACKAGES) 2>/dev/null)
LDLIBS := $(shell $(PKG_CONFIG) --libs $(PACKAGES) 2>/dev/null) -lelf -lz -lm -liberty
ifeq ($(SAN),1)
ALL_CFLAGS += -fsanitize=address,undefined -fno-sanitize-recover=undefined
LDFLAGS += -fsanitize=address,undefined
endif
BPF_ARCH := $(shell uname -m | sed -e s/x86_64/x86/ -e s/aarch64/arm64/ -e s/riscv64/riscv/ -e s/s390x/s390/)
# For the BPF target, clang does not search the multiarch folder that has <asm/types.h> on Debian.
BPF_SYS := $(shell $(CC) -print-multiarch 2>/dev/null | sed 's,^,-idirafter /usr/include/,')
BPF_CFLAGS := -O2 -g -target bpf -D__TARGET_ARCH_$(BPF_ARCH) $(BPF_WARN) -Ibpf $(BPF_SYS)

.PHONY: all
all: $(BIN) $(BPF_OBJS) $(WORKLOADS) $(QEMU_PLUGIN) ## build ./bpfbench, the BPF objects and the workloads

# ./bpfbench looks for its files in the build folder O that it was built for, so a build for another O links it again.
$(BIN): $(O)/obj/main.o $(LIB) $(if $(filter $(O),$(file <.built-for)),,FORCE)
	$(call msg,LINK,$@)
	$(Q)$(CC) $(LDFLAGS) -o $@ $(filter %.o %.a,$^) $(LDLIBS)
	@echo '$(O)' > .built-for

$(LIB): $(LIB_OBJS)
	$(call msg,AR,$@)
	$(Q)rm -f $@ && ar rcs $@ $^

# A change of SAN, CC or CFLAGS changes this file, on which all that they affect depends.
$(O)/flags: FORCE
	@mkdir -p $(@D)
	@echo '$(subst ','\'',$(CC) $(ALL_CFLAGS) $(LDFLAGS) $(LDLIBS))' | cmp -s - $@ || \
		echo '$(subst ','\'',$(CC) $(ALL_CFLAGS) $(LDFLAGS) $(LDLIBS))' > $@
.PHONY: FORCE
FORCE:

$(O)/obj/%.o: harness/%.c $(O)/flags
	$(call msg,CC,$<)
	@mkdir -p $(@D)
	$(Q)$(CC) $(ALL_CFLAGS) -MMD -MP -c $< -o $@

# These files are embedded in the program (base/asset.h).
$(O)/obj/html/html.o: harness/html/page.html harness/html/page.css
$(O)/obj/vm/kernels.o: harness/vm/fetch-kernel.sh
$(O)/obj/profile/flame.o: harness/profile/flame.css harness/profile/flame.js

$(O)/bpf/%.bpf.o: bpf/%.bpf.c Makefile
	$(call msg,BPF,$<)
	@mkdir -p $(@D)
	$(Q)$(CLANG) $(BPF_CFLAGS) -MMD -MP -MF $(@:.o=.d) -c $< -o $@

$(O)/tests/bpf/%.bpf.o: harness/tests/bpf/%.bpf.c Makefile
	$(call msg,BPF,$<)
	@mkdir -p $(@D)
	$(Q)$(CLANG) $(BPF_CFLAGS) -MMD -MP -MF $(@:.o=.d) -c $< -o $@

$(O)/workloads/%: $(O)/obj/workloads/%_main.o $(LIB)
	$(call msg,LINK,$@)
	@mkdir -p $(@D)
	$(Q)$(CC) $(LDFLAGS) -o $@ $^

$(O)/workloads/call_function: $(O)/obj/workloads/call_function_main.o $(LIB)
	$(call msg,LINK,$@)
	@mkdir -p $(@D)
	$(Q)$(CC) $(LDFLAGS) -o $@ $^ -lffi -ldl

# The plugin is built without sanitizers, because QEMU loads it.
$(O)/qemu/%.so: harness/vm/plugin/%.c harness/bpf/trace_record.h
	$(call msg,PLUGIN,$@)
	@mkdir -p $(@D)
	$(Q)$(CC) -std=gnu11 -O2 -g $(WARN) -D_GNU_SOURCE -Iharness -shared -fPIC -fvisibility=hidden $< -o $@

# Tests load the BPF objects of their own build.
vpath test_%.c $(sort $(dir $(UNIT_SRCS)))
$(O)/tests/test_%: test_%.c $(DRIVES) $(LIB) $(O)/flags | $(BPF_OBJS) $(TEST_BPF_OBJS)
	$(call msg,TEST,$<)
	@mkdir -p $(@D)
	$(Q)$(CC) $(ALL_CFLAGS) -Iharness/tests -MMD -MP -MF $@.d $< $(filter %.o,$^) -o $@ $(LDFLAGS) $(LIB) -lcmocka $(LDLIBS)

# Dependency files of an older build may name tests at paths that do not exist any more.
harness/tests/unit/%.c: ;

# Links all objects of these folders and no others, to show that none of the folders needs a driver.
$(O)/tests/test_without_drivers: test_without_drivers.c \
		$(patsubst harness/%.c,$(O)/obj/%.o,$(wildcard $(patsubst %,harness/%/*.c,base core stats plan env report)))
	$(call msg,TEST,$<)
	@mkdir -p $(@D)
	$(Q)$(CC) $(ALL_CFLAGS) -Iharness/tests -MMD -MP -MF $@.d $< $(filter %.o,$^) -o $@ $(LDFLAGS) -lcmocka $(LDLIBS)

# This test replaces the loading of programs, to choose their JIT addresses itself.
$(O)/tests/test_placement: LDFLAGS += -Wl,--wrap=bb_test_prog__load,--wrap=bb_target__is_live

$(O)/tests/fuzz/%: harness/tests/fuzz/fuzz_%.c harness/tests/fuzz/replay.c harness/tests/fuzz/fuzz.h $(DRIVES) $(LIB) $(O)/flags
	$(call msg,TEST,$<)
	@mkdir -p $(@D)
	$(Q)$(CC) $(ALL_CFLAGS) -Iharness/tests $(filter %.c %.o,$^) -o $@ $(LDFLAGS) $(LIB) $(LDLIBS)

$(O)/tests/tools/%: harness/tests/tools/%.c $(DRIVES) $(LIB) $(O)/flags
	$(call msg,TOOL,$<)
	@mkdir -p $(@D)
	$(Q)$(CC) $(ALL_CFLAGS) -Iharness/tests -MMD -MP -MF $@.d $< $(filter %.o,$^) -o $@ $(LDFLAGS) $(LIB) $(LDLIBS)

$(O)/bpfbench.1: $(BIN) packaging/man.sh
	$(call msg,MAN,$@)
	$(Q)packaging/man.sh ./$(BIN) > $@

$(O)/bench/%: harness/tests/bench/%.c $(DRIVES) $(LIB) $(O)/flags
	$(call msg,BENCH,$<)
	@mkdir -p $(@D)
	$(Q)$(CC) $(ALL_CFLAGS) -MMD -MP -MF $@.d $< $(filter %.o,$^) -o $@ $(LDFLAGS) $(LIB) $(LDLIBS)

# Other methods of comparison, for contrast with bpfbench's verdicts.
$(O)/bench/bench_verdicts $(O)/tests/test_other_methods: $(O)/obj/tests/bench/other_methods.o

# clang builds the fuzzers and all code that they call with sanitizers and coverage, in a build folder of their own.
FUZZ_FLAGS := -O1 -g -fsanitize=address,undefined -fno-sanitize-recover=undefined -fsanitize=fuzzer
$(O)/fuzz/libbpfbench.a: FORCE
	$(Q)+$(MAKE) --no-print-directory O=$(O)/fuzz CC=$(CLANG) CFLAGS='$(FUZZ_FLAGS)-no-link' $@

$(O)/fuzz/fuzz_%: harness/tests/fuzz/fuzz_%.c harness/tests/drives.c $(O)/fuzz/libbpfbench.a
	$(call msg,FUZZ,$<)
	$(Q)$(CLANG) $(ALL_CFLAGS) $(FUZZ_FLAGS) -Iharness/tests $(filter %.c,$^) -o $@ $(O)/fuzz/libbpfbench.a $(LDLIBS)

# compile_commands.json tells editors how each C file is compiled.
C_SRCS := harness/main.c $(LIB_SRCS) $(wildcard harness/workloads/*_main.c) $(UNIT_SRCS) $(wildcard harness/tests/*/*.c)
BPF_SRCS := $(filter %.bpf.c,$(wildcard bpf/*.c harness/tests/bpf/*.c))
compile_commands.json: FORCE ## how each file of C is compiled, for clangd and editors
	$(Q)ci/compile-commands.sh '$(subst ','\'',$(CC) $(ALL_CFLAGS) -Iharness/tests)' $(filter-out $(BPF_SRCS),$(C_SRCS)) -- \
		'$(CLANG) $(BPF_CFLAGS)' $(BPF_SRCS) > $@

-include $(shell [ -d $(O) ] && find $(O) -name '*.d')

# --- commands to run ----------------------------------------------------------------------------------------------
.PHONY: analyze coverage bench test test-all vm-test fuzz fuzzers stress bench-self bench-repeat bench-history bench-lines bench-inside bench-inside-tools bench-inputs bench-verdicts bench-fire bench-capture bench-gate bench-overhead bench-vm plot slowdown flame heap deps clean help bench-capture-aa golden
deps: ## install what building and running needs (root and apt), or say what is missing
	$(Q)ci/deps.sh

# Installs the packages that one task needs in addition, by its kind in ci/packages.txt.
DEPS := deps-test deps-plot deps-heap deps-deb deps-fuzz
.PHONY: $(DEPS)
$(DEPS): deps-%:
	$(Q)ci/deps.sh --for $*

bench: deps ## install, build, and run the main job, perf_profiler: a table, or BMF where stdout is a file
	$(Q)+ci/as-owner.sh $(MAKE) -j$(JOBS) --no-print-directory all
	$(Q)./$(BIN) --scenario perf_profiler

TESTS ?=
# Calls a second make, because this one looked for libraries before deps-test installed them.
.PHONY: built-test
built-test: deps-test
	$(Q)+ci/as-owner.sh $(MAKE) -j$(JOBS) --no-print-directory all tests

test: built-test ## install, build, and pass the tests that are not slow (as root: the privileged ones too)
	$(Q)O=$(O) harness/tests/run.sh --fast --together $(TESTS)

test-all: built-test ## likewise all tests, with kernels in virtual machines; TESTS="--without vm/": options of harness/tests/run.sh
	$(Q)O=$(O) harness/tests/run.sh $(TESTS)

# Checks of gcc 12 that are off. They reported 60 places, and all of the dozen that we read were wrong: gcc does not see that a function
# that returned 0 has set its results.
ANALYZER := -fanalyzer $(addprefix -Wno-analyzer-,malloc-leak null-dereference null-argument possible-null-dereference \
	possible-null-argument use-of-uninitialized-value)
analyze: ## look for uses after free, double frees, open files and the like with gcc -fanalyzer: 2 minutes
	$(Q)+$(MAKE) -j$(JOBS) --no-print-directory O=$(O)/analyze CFLAGS='-O2 $(ANALYZER)' WERROR=1 $(O)/analyze/libbpfbench.a

coverage: deps-test ## how many of bpfbench's own lines the unit and cli tests run (as root also the bpf tests), by gcc --coverage
	$(Q)+ci/as-owner.sh $(MAKE) -j$(JOBS) --no-print-directory O=build-coverage CFLAGS='-O0 -g --coverage' LDFLAGS=--coverage all tests
	$(Q)O=build-coverage ci/coverage.sh

KERNELS ?= 5.10 6.1 6.12
vm-test: deps-test ## the privileged tests in other kernels, KERNELS="5.10 6.1 6.12", under QEMU: minutes for each
	$(Q)+ci/as-owner.sh $(MAKE) -j$(JOBS) --no-print-directory all tests
	$(Q)O=$(O) ci/vm-test.sh $(KERNELS)

fuzzers: $(BPF_OBJS) $(TEST_BPF_OBJS)
	$(Q)harness/tests/fuzz/have_libfuzzer.sh '$(CLANG)'
	$(Q)+$(MAKE) --no-print-directory $(FUZZERS)

fuzz: deps-fuzz ## give every reader of files damaged ones, FUZZ_SECONDS=60 for each: 12 minutes
	$(Q)+ci/as-owner.sh $(MAKE) -j$(JOBS) --no-print-directory fuzzers
	$(Q)O=$(O) harness/tests/fuzz/run.sh

stress: deps-test ## send signals to every command and drive, and give it hostile objects: SEED=1 COUNT=1000 (200 objects), an hour (root)
	$(Q)+ci/as-owner.sh $(MAKE) -j$(JOBS) --no-print-directory all tests
	$(Q)O=$(O) harness/tests/stress/signals.sh
	$(Q)O=$(O) harness/tests/stress/objects.sh
	$(Q)O=$(O) harness/tests/stress/interrupted.sh

golden: all $(O)/tests/test_export $(O)/tests/test_formats ## print all about the stored runs of harness/tests/golden anew; then look at `git diff`
	$(Q)GOLDEN=renew harness/tests/cli/test_golden.sh >/dev/null
	$(Q)for test in test_export test_formats; do BB_UPDATE_GOLDEN=1 $(O)/tests/$$test >/dev/null 2>&1 || exit 1; done

.PHONY: schema
schema: $(O)/tests/tools/run_schema ## results/schema.json anew, after a stored struct has changed (harness/report/records.c)
	$(Q)$< harness/tests/tools/run_schema.json > $(O)/schema.json && cp $(O)/schema.json results/schema.json

.PHONY: tests
tests: all $(UNIT_TESTS) $(REPLAYS) $(BENCHES) $(TEST_BPF_OBJS) $(TEST_TOOLS) $(O)/bpfbench.1

bench-self: built-test ## measure bpfbench itself: ratios, side by side in one run (root)
	$(Q)O=$(O) harness/tests/bench/run.sh

bench-repeat: built-test ## how well 20 plain runs repeat, beside other tools, 3 minutes: BUSY=1 PROGRAMS="loop cold" (root)
	$(Q)O=$(O) harness/tests/bench/run.sh repeat

bench-lines: built-test ## time by line against what is known: BENCH_LINES="known tables busy compare tracer objects" (root)
	$(Q)O=$(O) harness/tests/bench/run.sh lines

bench-inside: built-test ## `inside` against known programs, and the price of its clones: a run, a timed run, a load (root)
	$(Q)O=$(O) harness/tests/bench/run.sh inside

bench-inputs: built-test ## full tables and mixes: fill and put back a million entries, a sample of a mix, size curves, bytes of full maps: 10 minutes; AA=5: 30 (root)
	$(Q)O=$(O) harness/tests/bench/run.sh inputs map_memory

bench-inside-tools: built-test ## libbpf-tools and bpftrace's scripts under `inside`: how many programs are replaced: a table, 8 minutes (root)
	$(Q)harness/tests/bench/inside.sh

bench-history: built-test ## false alarms of `history` and of the tracked branch over 200 plain runs, 5 minutes: RUNS=200 (root)
	$(Q)O=$(O) harness/tests/bench/run.sh tracked

bench-verdicts: built-test ## count false verdicts and misses of `compare` under load, about 8 minutes (root)
	$(Q)O=$(O) harness/tests/bench/verdicts.sh

bench-fire: built-test ## false verdicts and misses of `compare` where programs are attached, under load, about 16 minutes (root)
	$(Q)O=$(O) harness/tests/bench/fire.sh

bench-capture: built-test ## capture libbpf-tools, bpftrace's scripts and our objects, and load and measure all: a table, 10 minutes (root)
	$(Q)O=$(O) harness/tests/bench/capture.sh

bench-capture-aa: built-test ## compare captures with the objects of the same programs, 50 times: false verdicts, 6 minutes (root)
	$(Q)O=$(O) harness/tests/bench/capture_aa.sh

bench-overhead: built-test ## `overhead` of agents whose cost is known, an hour: COSTLY=5 FREE=5 BUDGET=20 (root)
	$(Q)O=$(O) harness/tests/bench/overhead.sh

bench-vm: built-test ## how exact guests of --vm count and what they cost, an hour: SLOWER=20 SAME=100 KERNELS="6.1 6.12"
	$(Q)harness/tests/bench/vm.sh

bench-gate: built-test ## count the failures of `gate` under load, about 15 minutes (root)
	$(Q)harness/tests/bench/gate.sh

plot: deps-plot ## draw the stored results into plots/ (SVG and PNG)
	$(Q)+ci/as-owner.sh $(MAKE) -j$(JOBS) --no-print-directory all
	$(Q)O=$(O) plots/plot.sh

slowdown: deps ## time amicable_pairs while it is sampled, against alone: about 2 minutes (root)
	$(Q)+ci/as-owner.sh $(MAKE) -j$(JOBS) --no-print-directory all
	$(Q)./$(BIN) --scenario slowdown --budget 150

flame: all ## flame graphs of the consumer, time off the CPU in them, with and without its bug: plots/flame-*.svg (root)
	$(Q)O=$(O) ci/flame.sh

heap: deps-heap ## what the consumer asks of the heap, by valgrind's DHAT, with and without its bug: BMF on stdout
	$(Q)+ci/as-owner.sh $(MAKE) -j$(JOBS) --no-print-directory all
	$(Q)O=$(O) ci/heap.sh

# --- installation: the program finds its files relative to its own path (cli/paths.c), so a PREFIX can be moved ----------
.PHONY: install uninstall deb
TO := $(DESTDIR)$(PREFIX)
install: ## install under PREFIX (/usr/local), below DESTDIR (nothing)
	$(Q)+ci/as-owner.sh $(MAKE) -j$(JOBS) --no-print-directory all $(O)/bpfbench.1
	$(Q)install -D -t '$(TO)/bin' $(BIN)
	$(Q)install -D -m 644 -t '$(TO)/lib/bpfbench/bpf' $(BPF_OBJS)
	$(Q)install -D -t '$(TO)/lib/bpfbench/workloads' $(WORKLOADS)
	$(Q)for plugin in $(QEMU_PLUGIN); do install -D -m 644 -t '$(TO)/lib/bpfbench/qemu' "$$plugin" || exit; done
	$(Q)install -D -m 644 -t '$(TO)/share/bpfbench/scenarios' scenarios/*.yml
	$(Q)install -D -m 644 -t '$(TO)/share/bpfbench/plots' plots/README.md plots/*.awk plots/*.gp
	$(Q)install -D -t '$(TO)/share/bpfbench/plots' plots/plot.sh
	$(Q)install -D -m 644 -t '$(TO)/share/man/man1' $(O)/bpfbench.1
	$(Q)install -D -m 644 packaging/bpfbench.bash '$(TO)/share/bash-completion/completions/bpfbench'
	$(Q)install -D -m 644 -t '$(TO)/share/doc/bpfbench' README.md CONTRIBUTING.md results/schema.json
	$(Q)install -D -m 644 -t '$(TO)/share/doc/bpfbench/docs' docs/*.md
	$(Q)install -D -m 644 -t '$(TO)/share/doc/bpfbench/docs/methods' docs/methods/*.md
	$(Q)install -D -m 644 -t '$(TO)/share/doc/bpfbench/docs/images' docs/images/*
	$(Q)install -D -m 644 -t '$(TO)/share/doc/bpfbench/examples' ci/systemd/*

uninstall: ## remove what `make install` put under the same PREFIX and DESTDIR
	$(Q)rm -rf '$(TO)/bin/$(BIN)' '$(TO)/lib/bpfbench' '$(TO)/share/bpfbench' '$(TO)/share/man/man1/bpfbench.1' \
		'$(TO)/share/bash-completion/completions/bpfbench' '$(TO)/share/doc/bpfbench'

deb: deps-deb ## a Debian package of this build in O= (build)
	$(Q)+O=$(O) VERSION=$(VERSION) ci/as-owner.sh packaging/deb.sh

clean: ## remove what was built
	$(Q)rm -rf $(O) $(BIN) .built-for

help: ## this list
	@grep -hE '^[a-z_.-]+:.*## ' $(MAKEFILE_LIST) | sed -E 's/^([a-z_.-]+):.*## /\1\t/' | \
		while IFS=$$'\t' read -r t d; do printf '  make %-12s %s\n' "$$t" "$$d"; done
	@printf '\n  V=1 shows the commands, O=DIR builds elsewhere, SAN=1 adds ASan and UBSan, CC=clang uses clang,\n  WERROR=1 makes warnings errors.\n'
