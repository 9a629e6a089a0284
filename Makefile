# SPDX-License-Identifier: MIT
#
# Makefile - build, try, test, measure, install
#
# make help lists the targets.  Settings, on the command line or exported:
#     CC, CFLAGS, LDFLAGS,
#     AR, STRIP, OBJCOPY          as usual
#     BUILD=build                 where everything that is made goes
#     V=1                         whole command lines
#     DEBUG=1                     with asserts, and debugging information in
#                                 tests: 3 GB of disk
#     SAN=1                       with AddressSanitizer and UBSan
#     OPENMP=0                    without threads
#     ZLIB=0                      without zlib: compressed archives are not read
#     PORTABLE=1                  without the loops for AVX2 and AVX-512
#     HOSTCC=cc                   compiles what make itself runs
#     PYTHON3=python3             for make python, wheel and sdist
#     ARCH=s390x                  for make foreign: the other processor or system
#     WITHOUT="plan verify"       libraries without these groups, and no program:
#                                 see docs/embedding.md
#     QUICK=                      for make test: long tests as a whole, as make
#                                 check runs them
#     DEB=1                       for make check: Debian's packages as well
#     PREFIX=/usr/local DESTDIR=  where make install puts things; STRIP=: leaves
#                                 debugging information in them

BUILD   ?= build
PREFIX  ?= /usr/local
LIBDIR  ?= $(PREFIX)/lib
STRIP   ?= strip
OBJCOPY ?= $(or $(shell $(CC) -print-prog-name=objcopy 2>/dev/null),objcopy)
# Where the libraries go.
OUT     ?= $(BUILD)
DESTDIR ?=
MANDIR  ?= $(PREFIX)/share/man
# Where shells look for completions; zsh of Debian's packages has vendor-completions.
BASHDIR ?= $(PREFIX)/share/bash-completion/completions
ZSHDIR  ?= $(PREFIX)/share/zsh/site-functions
FISHDIR ?= $(PREFIX)/share/fish/vendor_completions.d
CFLAGS  ?= -O2 -g
COMPILER := $(shell $(CC) -dumpmachine 2>/dev/null; $(CC) -dumpfullversion 2>/dev/null)
MACHINE := $(firstword $(COMPILER))
PORTABLE ?= $(findstring mingw,$(MACHINE))
X86_64  := $(if $(PORTABLE),,$(findstring x86_64,$(MACHINE)))
# What is asked of a compiler is written down: the answers to 20 questions take
# longer than all else when nothing has to be made.
COMMA   := ,
SPACE   := $(subst ,, )
ANSWERS := $(BUILD)/.compiler
-include $(ANSWERS)
ifneq ($(ANSWERED_BY),$(strip $(CC) $(COMPILER)))
$(foreach answer,$(filter ANSWER_%,$(.VARIABLES)),$(eval undefine $(answer)))
$(shell mkdir -p $(BUILD) && echo 'ANSWERED_BY := $(strip $(CC) $(COMPILER))' >$(ANSWERS))
endif
answer   = ANSWER_$(subst $(SPACE),_,$(subst $(COMMA),.,$(subst =,.,$(strip $(1)))))
ask      = $(if $(shell echo 'int main(void) { return 0; }' | $(CC) -Werror \
             -fPIC $(1) -x c - -o /dev/null 2>&1 || echo no),no,yes)
note     = $(eval $(1) := $(2))$(shell echo '$(1) := $(2)' >>$(ANSWERS))
# The flags, if the compiler knows all of them, else none.
known    = $(if $(filter undefined,$(origin $(answer))),$(call note,$(answer),$(call ask,$(1))))$(if $(filter yes,$($(answer))),$(1))
# A section for each function and each table: a program is linked with those
# that it reaches.
# What the reader's answer depends on is pinned here, not left to CFLAGS.
# On other processors than x86-64 a char may have no sign, and for s390x -std=c11
# makes gcc compute floats as doubles, which rounds twice.
STD     := -std=c11 -D_POSIX_C_SOURCE=200809L -D_FILE_OFFSET_BITS=64 -I. \
           -fvisibility=$(if $(SAN),default,hidden) -ffp-contract=off \
           -ffunction-sections -fdata-sections \
           $(if $(X86_64),,-fsigned-char $(call known,-fexcess-precision=fast))
WARN    := -Wall -Wextra -Wpedantic -Wshadow -Wconversion \
           -Wstrict-prototypes -Wmissing-prototypes -Wvla -Wundef \
           -Wwrite-strings -Wpointer-arith -Wimplicit-fallthrough
ifdef SAN
SANITIZE := -fsanitize=address,undefined,float-cast-overflow \
            -fno-sanitize-recover=all -fno-omit-frame-pointer
endif
# Threads: gcc's OpenMP.  clang would bring a runtime of its own, which is not
# installed with it everywhere; its builds do the same work on one thread.
OPENMP  ?= $(if $(findstring clang,$(CC)),0,1)
ifneq ($(OPENMP),0)
THREADS := -fopenmp
# The program starts faster with the archive: no library to look for.
LIBGOMP := $(or $(filter /%,$(shell $(CC) -print-file-name=libgomp.a \
             2>/dev/null)),-lgomp) -lpthread
endif
# Hardening, as far as the compiler and the linker know it; not with sanitizers.
ifndef SAN
each     = $(or $(call known,$(1)),$(foreach flag,$(1),$(call known,$(flag))))
HARDEN  := -fstack-protector-strong -fstack-clash-protection -fcf-protection
HARDEN  := $(call each,$(HARDEN))
# Without -O it only warns; a level in CFLAGS is the caller's.
ifneq (,$(filter-out -O0,$(lastword $(filter -O%,$(CFLAGS)))))
HARDEN  += $(if $(findstring _FORTIFY_SOURCE,$(CC) $(CFLAGS)),, \
             -U_FORTIFY_SOURCE -D_FORTIFY_SOURCE=2)
endif
RELRO   := -Wl,-z,relro -Wl,-z,now
RELRO   := $(call each,$(RELRO))
# Tables of rows are full of addresses, which the loader fills in.  Packed, what
# it reads for that is a hundredth of the size; glibc 2.36 was the first to know.
PACKS   := $(shell printf '%s\n' '\#include <features.h>' \
             '\#if __GLIBC_PREREQ(2, 36)' yes '\#endif' | \
             $(CC) -E -P -x c - 2>/dev/null | grep '^yes')
ifdef PACKS
PACKS   := -Wl,-z,pack-relative-relocs
RELRO   += $(call known,$(PACKS))
endif
PIE     := $(call known,-pie)
endif
# A program that the library is embedded in goes on after a mistake of ours;
# sanitized builds, which `make check` makes, stop at it.
ASSERTS := $(if $(SAN)$(DEBUG),,-DNDEBUG)
ZLIB    ?= 1
STD     += $(if $(findstring darwin,$(MACHINE)),-D_DARWIN_C_SOURCE)
STD     += $(if $(findstring mingw,$(MACHINE)),-D__USE_MINGW_ANSI_STDIO=1)
STD     += $(if $(findstring wasm,$(MACHINE)),,-fPIC)
STD     += $(if $(filter 0,$(ZLIB)),-DMF_NO_ZLIB) $(if $(PORTABLE),-DMF_PORTABLE)
# OWN: what one object needs, whatever CFLAGS the command line gives.
COMPILE  = $(CC) $(STD) $(WARN) $(WERROR) $(HARDEN) $(ASSERTS) $(CFLAGS) $(OWN) $(SANITIZE)
# A sanitizer's functions come with the program, not with the library.
DEFS     = $(if $(SAN),,-Wl,-z,defs)
# The program leaves out what it does not reach, too.
GC       := -Wl,--gc-sections
SECTIONS := $(call known,$(GC))
# Functions of a group that is left out are in the list of exports all the same.
MISSING  := -Wl,--undefined-version
UNDEFINED = $(if $(LEFT_OUT),$(call known,$(MISSING)))
LINK     = $(CC) $(CFLAGS) $(SANITIZE) $(RELRO) $(LDFLAGS) -Wl,-O1 \
           -Wl,--as-needed

# Each test has the library in it: with its debugging information they take
# 3 GB, and long to link.  A sanitizer's reports name lines.
SLIM    := $(if $(SAN)$(DEBUG),,-Wl,-S)

# Short lines while building; V=1 shows the whole commands.
ifdef V
say =
else
Q   := @
say = $(info $(SPACE) $(1)$(if $(filter CC AR,$(1)),$(SPACE)$(SPACE))$(SPACE) $(2))
endif

VERSION  := $(shell sed -n 's/^.define MF_VERSION_STRING "\(.*\)"/\1/p' \
              lib/modelfile.h)
# While the major version is 0, a minor version may change the ABI.
SONAME   := libmodelfile.so.$(basename $(VERSION))

# The folders of formats, one for each that has rows.
FORMATS  := $(sort $(shell sed -n 's/^FORMAT.\([a-z0-9_]*\),.*/\1/p' \
              lib/model/formats.def))
# What several of them are built on.
SHARED   := zip
# Fuzz targets, by the file in tests/fuzz that is compiled for each.
FUZZ_open    := $(FORMATS) zip json
FUZZ_convert := convert
FUZZ_restore := restore
FUZZ_sidecar := config tokenizer tokenizer_config template index matrix
FUZZ_lines   := manifest baseline
FUZZ_journal := journal
FUZZ_tokenize := tokenize class regex
FUZZ_spm     := spm spm_added spm_json base slow base_config tekken
FUZZ_card    := card metadata sampling
FUZZ_adapter := adapter adapter_config
FUZZ_NAMES   := $(foreach file,open convert restore sidecar lines journal spm card adapter tokenize,$(FUZZ_$(file)))
# The rooms of the library, from the ground floor up: each may include those
# before it.
ROOMS    := base lanes io json profile rows yaml template model arch vocab folder check draft codec read derive hf hf/encode hf/tokenizer hf/card lora hf/hub hf/restore write compare quantize verify plan watch report full
# Codecs, and loops over the bytes of tensors, are compiled once for each
# instruction set.
CODECS   := $(wildcard lib/quant/*.c)
LANES    := $(filter-out %/isa.c %/sha.c %/sha_x86.c,$(wildcard lib/lanes/*.c))
ISAS     := portable $(if $(X86_64),avx2 avx512)
for_isas  = $(foreach isa,$(ISAS),$(1:%.c=$(BUILD)/%.$(isa).o))
CODEC_OBJ := $(call for_isas,$(CODECS))
# What each family of models is, in rows, and what their tensors are called:
# tables for the rooms that use them.  Checks of a folder know the names of all
# models that those rows convert.
FAMILY_ROWS := $(sort $(wildcard lib/families/*.txt lib/families/*/*.txt))
NAMING_ROWS := $(sort $(wildcard lib/hf/hub/names/*.txt))
TABLE_loader    := lib/arch/tables
TABLE_graph     := lib/plan/graphs
TABLE_family    := lib/hf/hub/families
TABLE_naming    := lib/hf/hub/naming_rows
TABLE_converted := lib/folder/converted
TABLE_NAMES     := loader graph family naming converted
TABLES   := $(foreach name,$(TABLE_NAMES),$(TABLE_$(name)))
# For a test the same with one more family, the file of which is in docs/adding.md.
ADDED    := $(BUILD)/added
ADDED_ROWS := $(ADDED)/wren.txt
LIB_OBJ  := $(patsubst %.c,$(BUILD)/%.o,$(filter-out $(LANES),$(wildcard $(ROOMS:%=lib/%/*.c) \
              $(FORMATS:%=%/*.c) $(SHARED:%=%/*.c)))) $(TABLES:%=$(BUILD)/%.o) $(call for_isas,$(LANES)) $(CODEC_OBJ)
# The page that a report is, without its document.
PAGE_TEXT := lib/report/page_text
LIB_OBJ  += $(BUILD)/$(PAGE_TEXT).o

# ---- groups

# What libraries can do without: rooms, and single objects that stay.  A group
# takes those along that are built on it; for what calls it, there are functions
# in lib/without that say what is missing.
GROUPS       := tokenizers hub restore compare verify quantize plan report
GROUP_tokenizers := lib/hf/tokenizer/% lib/hf/encode/%
GROUP_hub    := $(addsuffix %,$(wildcard lib/hf/*/) lib/yaml/)
GROUP_restore := lib/hf/restore/%
GROUP_compare := lib/compare/%
GROUP_verify := lib/verify/%
GROUP_quantize := lib/quantize/%
GROUP_plan   := lib/plan/%
GROUP_report := lib/report/%
STAYS_tokenizers := lib/hf/tokenizer/token.o lib/hf/tokenizer/outline.o
STAYS_restore := lib/hf/restore/rename.o
ALONG_hub    := restore tokenizers
ALONG_compare := verify report
ALONG_verify := report
ALONG_quantize := verify plan report
ALONG_plan   := report

WITHOUT      ?=
UNKNOWN      := $(filter-out $(GROUPS),$(WITHOUT))
ifneq (,$(UNKNOWN))
$(error WITHOUT=$(UNKNOWN): there is no such group; the groups are $(GROUPS))
endif
LEFT_OUT     := $(sort $(WITHOUT) $(foreach group,$(WITHOUT),$(ALONG_$(group))))
left_out      = $(filter-out $(STAYS_$(1):%=$(BUILD)/%),$(filter $(GROUP_$(1):%=$(BUILD)/%),$(LIB_OBJ)))
KEPT_OBJ     := $(filter-out $(foreach group,$(LEFT_OUT),$(call left_out,$(group))),$(LIB_OBJ)) \
            $(foreach group,$(LEFT_OUT),$(patsubst %.c,$(BUILD)/%.o,$(wildcard lib/without/$(group).c)))

# A command is a file, or a folder, of cli/commands; cli/ has what they share,
# cli/measure what measures: bench, and the record of any command, and cli/remote
# what reads URLs.
CLI_DIRS := cli cli/commands cli/commands/* cli/measure cli/measure/bench cli/remote
RULES_TEXT := cli/rules_packed
CLI_OBJ  := $(patsubst %.c,$(BUILD)/%.o,$(wildcard $(CLI_DIRS:%=%/*.c))) \
            $(BUILD)/$(RULES_TEXT).o
# Tests of a room are in a folder of its name; their programs are not.
UNIT_SRC := $(wildcard tests/*/test_*.c)
UNIT     := $(addprefix $(BUILD)/tests/,$(notdir $(UNIT_SRC:.c=)))
# What scripts call.
HELPERS  := $(addprefix $(BUILD)/tests/,filled dump read_speed big_archive inflating hub_big reading big \
              timeit empty faulty make_arch sample kinds effort effort_bound)
PROGRAMS := $(BUILD)/tests/programs
# Programs in which the test is somewhere in the middle.
VARIANTS := $(patsubst %,$(BUILD)/modelfile-%,undecoded endless leaky starved toy added)
# These install whole systems: make deb-check, make wheel-check.
DEB_TEST := tests/project/deb.t
WHEEL_TEST := tests/python/bare.t
scripts   = $(wildcard $(1:%=tests/*/%.t))
# What `make check` runs once, without sanitizers, and `make test` leaves out:
# other systems, other builds of the library, what is installed, a release, the
# site, pipelines, the layers of the sources.
DEEP     := action ci_docs dist install layers module mpi musl nozlib npm pages_open site sizes static wasi wheel windows without
# Inputs of fuzzing: `make check` runs them under sanitizers.
FUZZED   := replay
SCRIPTS  := $(filter-out $(DEB_TEST) $(WHEEL_TEST) $(call scripts,$(DEEP) $(FUZZED)),$(wildcard tests/*/*.t))
# Tests that do less where QUICK is set, as it is but in the run of `make check`
# that has no sanitizers.
QUICK    ?= 1
LONG      = $(shell grep -l QUICK tests/*/*.t)
LONG_UNIT = $(patsubst %.c,$(BUILD)/tests/%,$(notdir $(shell grep -l test_is_quick $(UNIT_SRC))))
SOURCES  := $(wildcard lib/*.h lib/*/*.[ch] lib/hf/*/*.[ch] lib/rows/maker/*.[ch] $(CLI_DIRS:%=%/*.[ch]) $(FORMATS:%=%/*.[ch]) $(SHARED:%=%/*.[ch]) \
              tests/*.[ch] tests/*/*.[ch] fixtures/*.[ch])

# The program starts faster when the loader need not look for zlib: its
# archive is linked in where there is one.
ifneq ($(ZLIB),0)
LIBZ     := $(or $(filter /%,$(shell $(CC) -print-file-name=libz.a \
              2>/dev/null)),-lz)
SHAREDZ  := -lz
endif
LIBDL    := -ldl
LIBS     = $(LIBZ) $(LIBGOMP) -lm $(LIBDL)

# What the program in fixtures/ writes, and one of these.
MADE      = $(addprefix fixtures/,good-* bad-* unsupported-* tokenize/*/) \
            $(filter-out %.safetensors,$(wildcard fixtures/hub/options/*/*))
FIXTURES := fixtures/good-base.gguf

.PHONY: FORCE all static dist man site deps demo test check check-mpi foreign leak-check fuzz fuzz-seeds fuzz-replay bench bench-python bench-quant bench-effort bench-bound mutants \
        install uninstall deb deb-check wheel-check format format-check metrics clean help
.DELETE_ON_ERROR:
.DEFAULT_GOAL := all
# Rules of make's own apply to nothing here, and trying them on every header
# takes as long as all else when nothing has to be made.
MAKEFLAGS += --no-builtin-rules

# What building needs is looked for once, before the first object: the name of
# a package instead of a compiler's error.
$(BUILD)/.found:
	@mkdir -p $(@D)
	@CC="$(CC) $(CFLAGS)" sh tests/install_deps.sh missing
	@touch $@

$(LIB_OBJ) $(CLI_OBJ): | $(BUILD)/.found

LIBRARIES = $(OUT)/libmodelfile.a $(OUT)/libmodelfile.so

# The program calls every group.
all: $(if $(LEFT_OUT),,$(BUILD)/modelfile $(FIXTURES) $(if $(MPI),$(BUILD)/modelfile-mpi)) $(LIBRARIES) ## the program and both libraries (the default)

$(BUILD)/%.o: %.c
	@mkdir -p $(@D)
	$(call say,CC,$@)
	$(Q)$(COMPILE) -MMD -MP -c $< -o $@

$(BUILD)/lib/base/threads.o: private OWN := $(THREADS)

# When this version came out, for the pages of the manual; before, the last one.
RELEASED := $(shell sed -n 's/^\#\# [0-9.]* (\([0-9-]*\))$$/\1/p' CHANGELOG.md | head -n 1)
$(BUILD)/cli/commands/help/roff.o: CHANGELOG.md

# For the fingerprint of a record, which does not depend on where it was built.
PLACES := $(addsuffix =%,-ffile-prefix-map -fdebug-prefix-map -fmacro-prefix-map)
$(BUILD)/cli/build.o: private OWN := \
    -DMF_BUILD_FLAGS='"$(subst ",,$(subst ',,$(filter-out $(PLACES),$(CFLAGS))))"'

# Commands and these rooms and formats have no loops over data: their size
# matters, not their speed.  Objects that every allocation, byte of output or name
# of a tensor goes through stay fast.
SMALL       := $(patsubst %.c,$(BUILD)/%.o,$(wildcard $(patsubst %,%/*.c,apr npy parquet imatrix torch $(addprefix lib/,report vocab \
                 hf/card hf/hub hf/restore hf/tokenizer lora yaml template folder arch plan draft write verify quantize watch))))
SMALL       := $(filter-out $(addprefix $(BUILD)/lib/,arch/name.o arch/tensors.o folder/adapter.o),$(SMALL))
# And what runs once for a file, in rooms that have loops.
SMALL       += $(patsubst %,$(BUILD)/%.o,gguf/revisit gguf/validate gguf/values gguf/write zip/directory zip/places)
SMALL       += $(patsubst %,$(BUILD)/lib/%.o,base/ranks $(addprefix io/,given journal journal_apply journal_make left lock shared \
                 stage target_commit target_given target_open target_partial target_ranks worklog worklog_ranks) \
                 $(addprefix model/,array facts folder formats gather index_json json_meta missing model open open_path pending \
                 seen select shards split split_keys steady stored streams table unpacked values vocabulary) \
                 $(addprefix compare/,diff diff_carried diff_meta duplicates hash_meta hash_model hash_value) \
                 $(addprefix check/,architecture coverage data_once data_report judge tensor_types validate) $(addprefix derive/,join lowrank map unpack view) \
                 hf/encode/load hf/encode/regex_class)
COMMANDS    := $(filter-out $(addprefix $(BUILD)/cli/,build.o dhat.o json.o malloc_count.o out.o preload.o),$(CLI_OBJ))
ifneq (,$(filter -O2,$(CFLAGS)))
$(COMMANDS) $(SMALL): private OWN := -Os
endif
$(BUILD)/cli/commands/help/roff.o: private OWN += -DMF_RELEASED='"$(RELEASED)"'

# Most of it runs once, when a heap profile is written, and below no block that
# is profiled: its size matters, not its speed, and no profile unwinds it.
PROFILE     := $(patsubst %.c,$(BUILD)/%.o,$(wildcard lib/profile/*.c))
PROFILE_HOT := $(addprefix $(BUILD)/lib/profile/,allocator.o profile.o)
$(PROFILE_HOT): private OWN := -Os
NO_UNWIND   := $(call known,-fno-asynchronous-unwind-tables)
$(filter-out $(PROFILE_HOT),$(PROFILE)) $(BUILD)/cli/dhat.o: private OWN := -Os $(NO_UNWIND)

# Straight loops over the bytes of tensors: worth the vectorizer's time.
$(BUILD)/lib/compare/moments.o: private OWN := -O3
LANE_avx2     := -mavx2
LANE_avx512   := -mavx512bw -mavx512vl
$(BUILD)/lib/lanes/scan.avx512.o: private OWN := -mprefer-vector-width=512

define lane_rule
$(BUILD)/lib/lanes/%.$(1).o: lib/lanes/%.c
	@mkdir -p $$(@D)
	$$(call say,CC,$$@)
	$$(Q)$$(COMPILE) $$(if $$(filter xxh3,$$*),,-O3) $$(LANE_$(1)) -DMF_ISA=$(1) -MMD -MP -c $$< -o $$@

$(BUILD)/fuzz/lib/lanes/%.$(1).o: lib/lanes/%.c
	@mkdir -p $$(@D)
	$$(call say,CC,$$@)
	$$(Q)clang $$(STD) $$(FUZZ_FLAGS) $$(FUZZ_SAN) -DMF_ISA=$(1) -MMD -MP -c $$< -o $$@
endef
$(foreach isa,$(ISAS),$(eval $(call lane_rule,$(isa))))
ifneq (,$(X86_64))
$(BUILD)/lib/lanes/sha_x86.o: private OWN := -msha -msse4.1
endif

# What these allow the compiler changes no result.  Nothing that does is on:
# a row has the same bytes whatever machine made it.  Names of functions and
# numbers of lines are enough to find a place: where each variable is in which
# vector, and what type it has, takes a third of the time.
# Sanitized, the vectorizer's code is not the matter, and takes minutes; clang's
# build looks at them, and gcc's is for the threads.
QUANT_FLAGS    := -fopenmp-simd -fno-fast-math -fno-trapping-math \
                  -fno-math-errno -ffp-contract=off \
                  $(if $(DEBUG),,$(call known,-fno-var-tracking) $(if $(filter -g,$(CFLAGS)),-g1))
QUANT_PLAIN    := $(if $(SAN),$(if $(findstring clang,$(CC)),,-fno-sanitize=all))
# The searches of these types are written with vectors: what more -O3 does to
# them takes as long again as everything else, and they are no faster with it on
# these instruction sets.
QUANT_VECTORS  := -O2 -ftree-vectorize -fvect-cost-model=dynamic -fpeel-loops
QUANT_VECTORS  := $(or $(call known,$(QUANT_VECTORS)),-O3)
QUANT_AS_FAST  := iq1_m.% iq2% iq3% iq4% q4_k.% q5_k.% $(addsuffix .o,q2_k.avx512 q2_k.portable q3_k.portable q6_k.avx2 q6_k.portable)
# Searches that few processors need are compiled to be small.
QUANT_SMALL    := $(if $(X86_64),further.portable.o)
QUANT_LEVEL     = $(if $(SAN),-O1,$(if $(filter $(QUANT_SMALL),$(@F)),-Os,$(if $(filter $(QUANT_AS_FAST),$(@F)),$(QUANT_VECTORS),-O3)))
QUANT_portable :=
QUANT_avx2     := -mavx2 -mf16c
QUANT_avx512   := -mavx512bw -mavx512vl -mf16c

define codec_rule
$(BUILD)/lib/quant/%.$(1).o: lib/quant/%.c
	@mkdir -p $$(@D)
	$$(call say,CC,$$@)
	$$(Q)$$(COMPILE) $$(QUANT_LEVEL) $$(QUANT_FLAGS) $$(QUANT_$(1)) $$(QUANT_PLAIN) \
	    -DMF_ISA=$(1) -MMD -MP -c $$< -o $$@
endef
$(foreach isa,$(ISAS),$(eval $(call codec_rule,$(isa))))

# Texts are packed where there is zlib to unpack them.
PLAIN = $(if $(filter 0,$(ZLIB)),plain)

$(BUILD)/$(PAGE_TEXT).c: lib/report/page.sh lib/model/pack.sh $(wildcard web/page/*)
	@mkdir -p $(@D)
	@sh lib/report/page.sh $(PLAIN) >$@

$(BUILD)/$(PAGE_TEXT).o: $(BUILD)/$(PAGE_TEXT).c
	$(call say,CC,$@)
	$(Q)$(COMPILE) -MMD -MP -c $< -o $@

# What `validate --explain` prints is what docs/rules.md says.
$(BUILD)/$(RULES_TEXT).c: docs/rules.md cli/rules_text.awk lib/model/pack.sh
	@mkdir -p $(@D)
	@awk -f cli/rules_text.awk docs/rules.md | sh lib/model/pack.sh rules_packed $(PLAIN) >$@

$(BUILD)/$(RULES_TEXT).o: $(BUILD)/$(RULES_TEXT).c
	$(call say,CC,$@)
	$(Q)$(COMPILE) -MMD -MP -c $< -o $@

# Rows are read by a program for the machine that builds: what is wrong with one
# ends the build.
HOSTCC     ?= cc
ROWS       := $(BUILD)/rows
ROW_WORDS  := lib/arch/functions.def lib/arch/names.def lib/hf/hub/functions.def \
              lib/hf/hub/tensor_steps.def lib/plan/ops.def lib/hf/tokenizer/procedures.def

$(ROWS): $(wildcard lib/rows/maker/*.[ch]) lib/rows/codes.h $(ROW_WORDS)
	@mkdir -p $(@D)
	$(call say,HOST,$@)
	$(Q)$(HOSTCC) -std=c11 -O1 -I. $(wildcard lib/rows/maker/*.c) -o $@

# Tables that would not change stay as they are, and so do objects made of them.
$(BUILD)/rows-made $(ADDED)/rows-made: $(ROWS) lib/rows/config_names.txt $(NAMING_ROWS) $(FAMILY_ROWS)
	@mkdir -p $(addprefix $(@D)/,$(dir $(TABLES)))
	@$(ROWS) --fields lib/rows/config_names.txt $(ROWS_LEFT_OUT:%=--leave-out %) \
	    $(foreach name,$(TABLE_NAMES),--$(name) $(@D)/$(TABLE_$(name)).c) \
	    $(filter $(NAMING_ROWS) $(FAMILY_ROWS) $(ADDED_ROWS),$^)
	@touch $@

$(TABLES:%=$(BUILD)/%.c): $(BUILD)/rows-made ;
$(TABLES:%=$(ADDED)/%.c): $(ADDED)/rows-made ;

$(ADDED)/rows-made: $(ADDED_ROWS)

$(ADDED_ROWS): docs/adding.md tests/project/example.awk
	@mkdir -p $(@D)
	@awk -v first="# SPDX" -f tests/project/example.awk docs/adding.md >$@

# An architecture is one text, longer than every compiler has to take.
TABLE_OBJ := $(TABLES:%=$(BUILD)/%.o) $(TABLES:%=$(ADDED)/%.o)
$(TABLE_OBJ): private OWN := -Wno-overlength-strings
$(TABLE_OBJ): %.o: %.c
	$(call say,CC,$@)
	$(Q)$(COMPILE) -MMD -MP -c $< -o $@

# The library as the program and the tests are linked with it: object by object,
# with what only lib/program.h and private headers declare.
OBJECTS := $(BUILD)/objects.a
$(OBJECTS): $(LIB_OBJ)
	$(call say,AR,$@)
	@rm -f $@
	$(Q)$(AR) rcs $@ $^

# Which groups the libraries there have been made without.
FORCE:
$(OUT)/.without: FORCE
	@mkdir -p $(@D)
	@echo "$(LEFT_OUT)" | cmp -s - $@ || echo "$(LEFT_OUT)" >$@

# One object, in which only what modelfile.h declares has a name for others; its
# sections stay as they are, for the linker of a program to choose from.  A
# sanitizer's tables do not stand that, nor do objects that are not ELF.
ifneq (,$(SAN)$(findstring wasm,$(MACHINE))$(findstring mingw,$(MACHINE)))
$(OUT)/libmodelfile.a: $(KEPT_OBJ) $(OUT)/.without
	$(call say,AR,$@)
	@rm -f $@
	$(Q)$(AR) rcs $@ $(KEPT_OBJ)
else
UNIQUE := -Wl,--unique $(foreach name,.text .rodata .data .bss,-Wl,--unique=$(name))
$(OUT)/modelfile.o: $(KEPT_OBJ) $(OUT)/.without
	$(call say,LINK,$@)
	$(Q)$(CC) $(CFLAGS) -nostdlib -r $(UNIQUE) $(KEPT_OBJ) -o $@
	$(Q)$(OBJCOPY) --localize-hidden $@

$(OUT)/libmodelfile.a: $(OUT)/modelfile.o
	$(call say,AR,$@)
	@rm -f $@
	$(Q)$(AR) rcs $@ $<
endif

# What is left, for the tests of that.
.PHONY: kept-objects
kept-objects: $(KEPT_OBJ)
	@printf '%s\n' $(KEPT_OBJ)

# The functions of modelfile.h, with the version that programs are bound to.
EXPORTS := lib/exports.awk
$(OUT)/modelfile.map: lib/modelfile.h $(EXPORTS)
	@mkdir -p $(@D)
	@awk -f $(EXPORTS) -v version=$(basename $(VERSION)) $< >$@

$(OUT)/libmodelfile.so: $(KEPT_OBJ) $(OUT)/modelfile.map $(OUT)/.without
	$(call say,LINK,$@)
	$(Q)$(LINK) -shared -Wl,-soname,$(SONAME) $(DEFS) $(SECTIONS) $(UNDEFINED) \
	    -Wl,--version-script=$(OUT)/modelfile.map $(KEPT_OBJ) $(SHAREDZ) -lm $(LIBDL) $(THREADS) -o $@.$(VERSION)
	@ln -sf $(@F).$(VERSION) $(OUT)/$(SONAME)
	@ln -sf $(SONAME) $@

$(BUILD)/modelfile: $(CLI_OBJ) $(OBJECTS)
	$(call say,LINK,$@)
	$(Q)$(LINK) $(PIE) $(SECTIONS) $^ $(LIBS) -o $@

# The same program for several processes (docs/machines.md), with one object of
# the other left out.  MPICC is OpenMPI's or MPICH's compiler, which takes the
# usual one by these names.
MPICC   ?= mpicc
MPI_DIR := $(BUILD)/mpi/$(notdir $(MPICC))
MPI_OBJ := $(patsubst %.c,$(MPI_DIR)/%.o,$(wildcard cli/mpi/*.c))
USUAL   := $(CC)
$(MPI_OBJ) $(MPI_DIR)/modelfile-mpi: override private CC = OMPI_CC="$(USUAL)" MPICH_CC="$(USUAL)" $(MPICC)
$(MPI_OBJ): $(MPI_DIR)/%.o: %.c
	@mkdir -p $(@D)
	@sh tests/install_deps.sh mpi "$(MPICC)"
	$(call say,MPICC,$@)
	$(Q)$(COMPILE) -MMD -MP -c $< -o $@

$(MPI_DIR)/modelfile-mpi: $(filter-out $(BUILD)/cli/ranks.o,$(CLI_OBJ)) $(MPI_OBJ) $(OBJECTS)
	$(call say,LINK,$@)
	$(Q)$(LINK) $(PIE) $(SECTIONS) $^ $(LIBS) -o $@

$(BUILD)/modelfile-mpi: $(MPI_DIR)/modelfile-mpi FORCE
	@ln -sf mpi/$(notdir $(MPICC))/modelfile-mpi $@

# ---- one file that needs no other

# Objects that differ from the program's, which are linked instead.
STATIC      := $(BUILD)/static
STATIC_OBJ  := $(addprefix $(STATIC)/,lib/base/threads.o cli/commands/version.o cli/static.o cli/remote/without.o)
# Without libcurl, which it cannot load, nothing is fetched.
STATIC_LESS := $(patsubst %.c,$(BUILD)/%.o,$(wildcard cli/remote/*.c))
STATIC_LINK := -static-pie
STATIC_LINK := $(or $(call known,$(STATIC_LINK)),-static)
# What cli/static.c has instead of glibc's.
STATIC_WRAP = $(patsubst %,-Wl$(COMMA)--wrap=%,$(shell sed -n \
                 's/^INSTEAD.[^,]*, \([^,]*\),.*/\1/p' cli/static.c))

$(STATIC)/lib/base/threads.o: private OWN := $(THREADS)
$(STATIC_OBJ): $(STATIC)/%.o: %.c
	@mkdir -p $(@D)
	$(call say,CC,$@)
	$(Q)$(COMPILE) -DMF_STATIC -MMD -MP -c $< -o $@

# A heap profile has no names for the calls of a program without symbols, so what
# would unwind its stack is left out, which is a twentieth of the program.
$(STATIC)/objects.a: $(STATIC_OBJ) $(CLI_OBJ) $(LIB_OBJ)
	$(call say,AR,$@)
	@rm -f $@
	$(Q)$(AR) rcs $@ $(filter-out $(STATIC_OBJ:$(STATIC)/%=$(BUILD)/%) $(STATIC_LESS),$^)
	$(Q)$(OBJCOPY) --strip-debug --remove-section=.eh_frame $@

# glibc has malloc in one object with the functions that ours calls
# (cli/malloc_count.c): of two definitions the first is linked.
$(STATIC)/modelfile: $(STATIC)/objects.a
	$(call say,LINK,$@)
	$(Q)$(LINK) $(STATIC_LINK) $(STATIC_WRAP) $(SECTIONS) -Wl,-z,muldefs -s $^ $(LIBS) -o $@

static: $(STATIC)/modelfile ## one program that needs no other file: build/static/modelfile

# ---- Python's package

# $(PACKAGE) is what Python imports: links to the sources, which need no make when
# they are edited, and what is made.  A wheel has the same.
PYTHON3  ?= python3
PACKAGE  := $(BUILD)/python/modelfile
MODULES  := $(patsubst python/src/modelfile/%,%,$(filter %.py %.pyi %/py.typed,$(wildcard \
              $(addprefix python/src/modelfile/,* */* */*/*))))
# Without PACKS, any glibc can load it, and without symbols it is small.
WHEEL_LINK = $(filter-out $(PACKS),$(LINK)) -s
# A shared library cannot have the archive of OpenMP in it, the code of which has
# one place in memory.  So it takes the shared one along, as wheels do, under a
# name of its own: a process may have loaded another version under the usual one.
GOMP     := $(if $(THREADS),$(realpath $(or $(wildcard $(patsubst %.a,%.so,$(filter %.a,$(LIBGOMP)))), \
              $(shell $(CC) -print-file-name=libgomp.so))))
OWN_GOMP := $(if $(GOMP),$(PACKAGE)/mf-gomp.so.1)
WHEEL_THREADS = $(if $(GOMP),$(OWN_GOMP) -lpthread -Wl$(COMMA)-rpath$(COMMA)'$$ORIGIN',$(THREADS))

$(PACKAGE)/.links: FORCE
	@mkdir -p $(@D)
	@echo "$(CURDIR) $(MODULES)" | cmp -s - $@ || { \
	    find $(@D) -type l -exec rm {} + && \
	    for file in $(MODULES); do \
	        mkdir -p "$$(dirname $(@D)/$$file)" && \
	        ln -s $(CURDIR)/python/src/modelfile/$$file $(@D)/$$file || exit; \
	    done && echo "$(CURDIR) $(MODULES)" >$@; }

$(PACKAGE)/_abi.py: lib/modelfile.h python/abi.py
	@mkdir -p $(@D)
	$(call say,MAKE,$@)
	$(Q)$(PYTHON3) python/abi.py lib/modelfile.h $@

NAMES_PY := $(PACKAGE)/compat/gguf/_names.py
$(NAMES_PY): $(wildcard lib/hf/hub/names/*.txt) python/names.py
	@mkdir -p $(@D)
	$(call say,MAKE,$@)
	$(Q)$(PYTHON3) python/names.py lib/hf/hub/names $@

$(OWN_GOMP): $(GOMP)
	@mkdir -p $(@D)
	@LC_ALL=C sed 's/libgomp\.so\.1/mf-gomp.so.1/' $< >$@

$(PACKAGE)/libmodelfile.so: $(LIB_OBJ) $(OUT)/modelfile.map $(OWN_GOMP)
	$(call say,LINK,$@)
	$(Q)$(WHEEL_LINK) -shared -Wl,-soname,$(SONAME) $(DEFS) $(SECTIONS) \
	    -Wl,--version-script=$(OUT)/modelfile.map $(LIB_OBJ) $(SHAREDZ) -lm $(LIBDL) $(WHEEL_THREADS) -o $@

$(BUILD)/wheel/modelfile: $(CLI_OBJ) $(OBJECTS)
	@mkdir -p $(@D)
	$(call say,LINK,$@)
	$(Q)$(WHEEL_LINK) $(PIE) $(SECTIONS) $^ $(LIBS) -o $@

.PHONY: python wheel-parts wheel sdist
python: $(PACKAGE)/.links $(PACKAGE)/_abi.py $(NAMES_PY) $(PACKAGE)/libmodelfile.so ## Python's package: PYTHONPATH=build/python

.PHONY: peers
peers: python ## tests of gguf and safetensors (fetched by pip and npm) with modelfile.compat in their place
	@BUILD=$(BUILD) $(PYTHON3) python/tests/peers.py

wheel-parts: python $(BUILD)/wheel/modelfile

wheel: wheel-parts ## Python's wheel for this system, in $(BUILD)/dist
	@$(PYTHON3) python/backend.py wheel $(BUILD) $(BUILD)/dist

sdist: ## the sources, as pip installs them, in $(BUILD)/dist
	@$(PYTHON3) python/backend.py sdist $(BUILD) $(BUILD)/dist

# ---- fixtures

# Small models, written by a program for the machine that builds and for all
# builds alike.  Where one is missing, or one that is made no more is left, all
# are made again.
MAKER    := $(BUILD)/fixtures/make
MAKES    := $(wildcard fixtures/*.[ch])

$(MAKER): $(MAKES)
	@mkdir -p $(@D)
	$(call say,HOST,$@)
	$(Q)$(HOSTCC) -std=c11 -D_POSIX_C_SOURCE=200809L -O1 -ffp-contract=off $(WARN) $(WERROR) -I. $(filter %.c,$^) -o $@

# The name that stands for all: it is the newest.
$(FIXTURES): $(MAKES) $(wildcard fixtures/*/folders.txt fixtures/*/*/folders.txt) \
    fixtures/digests.txt | $(MAKER)
	@rm -rf $(MADE)
	$(call say,MAKE,fixtures)
	$(Q)$(MAKER) fixtures $(BUILD)/fixtures/README.md
	@touch $@

# ---- trying it out

deps: ## installs what building needs (Debian)
	@sh tests/install_deps.sh build

# On all processors, unless the caller says how many at once.
DEMO_CORES   = $(shell nproc 2>/dev/null || echo 1)
DEMO_JOBS    = $(if $(filter -j% --jobserver%,$(MAKEFLAGS)),,-j$(DEMO_CORES))

demo: ## installs what is missing, builds, quantizes a small folder of Hugging Face, and more
	@rm -rf $(BUILD)/demo && mkdir -p $(BUILD)/demo
	@echo "Installing what building needs, where it is missing, and building on" \
	    "$(DEMO_CORES) processors: the first time a minute or two." \
	    "$(BUILD)/demo/log has the details."
	@{ sh tests/install_deps.sh build && \
	    $(MAKE) $(DEMO_JOBS) --no-print-directory all; } >$(BUILD)/demo/log 2>&1 || \
	    { cat $(BUILD)/demo/log; exit 1; }
	@$(BUILD)/modelfile convert --quiet fixtures/llama/llama-small.gguf \
	    $(BUILD)/demo/llama-hf/ >/dev/null
	@echo; echo "$(BUILD)/demo/llama-hf is a folder as Hugging Face has it:"
	@ls $(BUILD)/demo/llama-hf
	@folder=$(BUILD)/demo/llama-hf; \
	for command in "quantize $$folder $$folder-q4_k_m.gguf Q4_K_M" \
	    "validate --for llama.cpp $$folder-q4_k_m.gguf"; do \
	    echo; echo "$$ modelfile $$command"; \
	    $(BUILD)/modelfile $$command || exit; \
	done
	@model=fixtures/good-llama.gguf; out=$(BUILD)/demo/llama; \
	for command in "info $$model" "tensors info $$model" \
	    "validate --data $$model" \
	    "dequantize --force $$model $$out-f16.gguf --type f16" \
	    "convert --force $$out-f16.gguf $$out.safetensors" \
	    "quantize --force --report $$out-f16.gguf $$out-q4_0.gguf Q4_0" \
	    "diff $$out-f16.gguf $$out.safetensors"; do \
	    echo; echo "$$ modelfile $$command"; \
	    $(BUILD)/modelfile $$command || exit; \
	done

# ---- tests

# Tests see private symbols: they are linked with the objects.
unit_object = $(patsubst %.c,$(BUILD)/%.o,$(filter %/$(1).c,$(UNIT_SRC)))
$(foreach unit,$(notdir $(UNIT)),$(eval $(BUILD)/tests/$(unit): $(call unit_object,$(unit))))
$(UNIT): | $(FIXTURES)

# A sanitizer's reports name lines: to link that information into each takes a
# second, so those tests share one library, which has names for everything.  Some
# replace functions of it, or look at their own symbols.
TESTED   := $(BUILD)/libtested.so
OF_TESTED = $(if $(SAN),-Wl$(COMMA)-rpath$(COMMA)'$$ORIGIN/..')
WHOLE    := $(addprefix $(BUILD)/tests/test_,graph_facts hub_back loader_facts profile profile_names threads verify)
$(if $(SAN),$(WHOLE),$(filter-out %/test_malloc_count,$(UNIT))): $(LIB_OBJ)
	$(call say,LINK,$@)
	$(Q)$(LINK) $(SLIM) $^ -lcmocka $(LIBS) -o $@

ifdef SAN
$(TESTED): $(LIB_OBJ)
	$(call say,LINK,$@)
	$(Q)$(LINK) -shared -Wl,-soname,$(@F) $^ -o $@

$(filter-out $(WHOLE) %/test_malloc_count,$(UNIT)): $(TESTED)
	$(call say,LINK,$@)
	$(Q)$(LINK) $(filter %.o,$^) $(TESTED) -lcmocka $(LIBS) $(OF_TESTED) -o $@
endif

# What only the program does.
$(BUILD)/tests/test_sandbox $(BUILD)/tests/test_sandbox_files: \
    $(BUILD)/cli/sandbox.o $(BUILD)/cli/sandbox_filter.o
$(BUILD)/tests/test_record: $(patsubst %,$(BUILD)/cli/%.o,decimal json out \
    measure/csv measure/fingerprint)
$(BUILD)/tests/test_scale_model: $(BUILD)/cli/measure/bench/scale_model.o
$(BUILD)/tests/test_remote: $(patsubst %,$(BUILD)/cli/remote/%.o,address reply)
$(BUILD)/tests/test_asking: $(patsubst %,$(BUILD)/cli/%.o,room remote/asking remote/shelf remote/wire)
$(BUILD)/tests/test_hub: $(patsubst %,$(BUILD)/cli/%.o,hub_cache walk buffer remote/address remote/hub)
$(BUILD)/tests/test_roff: $(patsubst %,$(BUILD)/cli/%.o,out commands/help/roff)
$(BUILD)/tests/test_threads: $(BUILD)/cli/preload.o
# Their rows are made into bytes as the library's are.
$(addprefix $(BUILD)/tests/test_,arch recipe plan_graph): $(BUILD)/tests/rows/rows_of.o \
    $(patsubst %.c,$(BUILD)/%.o,$(filter-out %/main.c,$(wildcard lib/rows/maker/*.c)))
# They read their own symbols, by that information too.
$(BUILD)/tests/test_profile $(BUILD)/tests/test_profile_names: private SLIM :=
# It counts how often the instruction set is chosen.
$(BUILD)/tests/test_verify: LINK += -Wl,--wrap=mf_isa_choose
# Tensors that conditions look at are made up.
$(addprefix $(BUILD)/tests/test_,loader_facts graph_facts): \
    LINK += -Wl,--wrap=mf_arch_tensor
# Its tokenizers are small: no digest has a name.
$(BUILD)/tests/test_hub_back: LINK += -Wl,--wrap=mf_encoder_pre

# The symbol is there before the archive is looked at.
$(BUILD)/modelfile-undecoded: $(CLI_OBJ) $(PROGRAMS)/undecoded.o \
    $(OBJECTS)
	$(call say,LINK,$@)
	$(Q)$(LINK) $(PIE) $^ $(LIBS) -o $@

# The command with one more format: its folder, and its lines in the tables.
# The archive's are not linked, since these define their symbols.
TOY      := $(BUILD)/toy
TOY_OBJ  := $(patsubst %.c,$(BUILD)/%.o,$(wildcard tests/toy/*.c)) \
            $(TOY)/lib/full/formats.o $(TOY)/lib/draft/writers.o
$(TOY_OBJ): private OWN := -iquote $(TOY)
# Compiled in half the time; what they test is optimized.
$(UNIT_SRC:%.c=$(BUILD)/%.o): private OWN := -O0 -U_FORTIFY_SOURCE
# It has threads of its own.
$(BUILD)/tests/base/test_host.o: private OWN += $(THREADS)

$(TOY)/lib/model/formats.def: lib/model/formats.def
	@mkdir -p $(@D)
	@{ cat $<; echo 'FORMAT(tests/toy, toy)'; } >$@

$(TOY)/lib/draft/writers.def: lib/draft/writers.def
	@mkdir -p $(@D)
	@{ cat $<; echo 'WRITER(toy, toy_out)'; } >$@

$(TOY_OBJ): | $(TOY)/lib/model/formats.def $(TOY)/lib/draft/writers.def

$(TOY)/%.o: %.c $(TOY)/lib/model/formats.def $(TOY)/lib/draft/writers.def
	@mkdir -p $(@D)
	$(call say,CC,$@)
	$(Q)$(COMPILE) -MMD -MP -c $< -o $@

$(BUILD)/modelfile-toy: $(CLI_OBJ) $(TOY_OBJ) $(OBJECTS)
	$(call say,LINK,$@)
	$(Q)$(LINK) $(PIE) $^ $(LIBS) -o $@

# The command with one more family.
$(BUILD)/modelfile-added: $(CLI_OBJ) $(TABLES:%=$(ADDED)/%.o) $(OBJECTS)
	$(call say,LINK,$@)
	$(Q)$(LINK) $(PIE) $^ $(LIBS) -o $@

# Reads and writes of the library go by way of the test.
$(BUILD)/modelfile-endless: $(CLI_OBJ) $(PROGRAMS)/endless.o \
    $(OBJECTS)
	$(call say,LINK,$@)
	$(Q)$(LINK) -Wl,--wrap=mf_source_read,--wrap=mf_target_write,--wrap=fsync $^ $(LIBS) -o $@

# Opening a model goes by way of the test, which keeps something.
$(BUILD)/modelfile-leaky: $(CLI_OBJ) $(PROGRAMS)/leaky.o \
    $(OBJECTS)
	$(call say,LINK,$@)
	$(Q)$(LINK) -Wl,--wrap=mf_model_open $^ $(LIBS) -o $@

# What malloc asks of glibc goes by way of the test, which refuses.
$(BUILD)/modelfile-starved: $(CLI_OBJ) $(PROGRAMS)/starved.o \
    $(OBJECTS)
	$(call say,LINK,$@)
	$(Q)$(LINK) $(foreach name,__libc_malloc __libc_calloc __libc_realloc \
	    __libc_memalign gomp_malloc gomp_malloc_cleared gomp_realloc \
	    gomp_aligned_alloc gomp_team_start,-Wl,--wrap=$(name)) $^ $(LIBS) -o $@

# This one has its own malloc, which the library must not pull in twice.
$(BUILD)/tests/test_malloc_count: $(BUILD)/cli/preload.o
	$(call say,LINK,$@)
	$(Q)$(LINK) $^ -lcmocka -o $@

$(BUILD)/tests/faulty: $(PROGRAMS)/faulty_model.o

$(addprefix $(BUILD)/tests/,sample dump read_speed effort effort_bound): $(OBJECTS)

# Its own rows of keys and tensors come before the archive's.
$(BUILD)/tests/make_arch: $(PROGRAMS)/faulty_model.o $(OBJECTS)

$(HELPERS): $(BUILD)/tests/%: $(PROGRAMS)/%.o
	$(call say,LINK,$@)
	$(Q)$(LINK) $(SLIM) $^ $(LIBS) -lpthread -o $@

test: ## installs what is missing, builds, and runs the tests (1 GB of disk)
	@echo "The tests take about 1 GB of disk in $(BUILD), and more in" \
	    "$${TMPDIR:-/tmp} for as long as one runs."
	@sh tests/install_deps.sh test
	@$(MAKE) --no-print-directory run-tests REPLAYS=

# Programs that run inputs of fuzzing, and what these are.
REPLAYS   = fuzz-seeds $(FUZZ_NAMES:%=$(BUILD)/tests/replay-%)

.PHONY: run-tests tests-built
tests-built: all $(MAKER) $(UNIT) $(HELPERS) $(VARIANTS) $(REPLAYS)

RUN       = $(UNIT) $(SCRIPTS)
run-tests: tests-built
	@unset MAKEFLAGS MFLAGS MAKELEVEL; BUILD=$(BUILD) CC="$(CC) $(SANITIZE)" CFLAGS="$(CFLAGS)" LIBS="$(LIBS)" \
	    QUICK=$(QUICK) sh tests/run.sh $(RUN)

# Of make test.
.PHONY: scripts
scripts:
	@echo $(SCRIPTS)

# What gcc's build runs again: it has threads, which clang's has only where there
# is libomp.
THREADED  = $(patsubst %.c,$(BUILD)/check-gcc-san/tests/%,$(notdir $(shell grep -l threads $(UNIT_SRC))))

# Scripts about what is around the code, or that reach little of it that others
# do not; under sanitizers each takes 5 to 70 s.
BESIDE   := abi alloc bench ci complete complete_shells convert_options crash docs editors effort embed fixtures mixes model_types outside output package plan_archs python remote_counts remote_cuts remote_resume resume rows screen slurm target target_resume touched tsv words

check: ## long tests, other builds and systems, then tests under sanitizers with both compilers (with and without threads), warnings as errors, layout, leaks
	@sh tests/install_deps.sh check
	@$(if $(DEB),sh tests/install_deps.sh deb)
	@$(MAKE) --no-print-directory format-check metrics leak-check peers
	@$(MAKE) --no-print-directory run-tests QUICK= REPLAYS= \
	    RUN="$(LONG_UNIT) $(LONG) $(call scripts,$(DEEP)) $(if $(DEB),$(DEB_TEST))"
	@$(MAKE) --no-print-directory run-tests CC=clang SAN=1 \
	    WERROR=-Werror BUILD=$(BUILD)/check-clang CFLAGS="-O1 -g1" \
	    SCRIPTS="$(filter-out $(call scripts,$(BESIDE)),$(SCRIPTS)) $(call scripts,$(FUZZED))"
	@$(MAKE) --no-print-directory run-tests CC=gcc SAN=1 \
	    WERROR=-Werror BUILD=$(BUILD)/check-gcc-san CFLAGS="-O1 -g1" \
	    UNIT="$(THREADED)" VARIANTS= REPLAYS= \
	    SCRIPTS="$(patsubst %,tests/cli/%.t,diff hash quantize write)"

check-mpi: tests-built ## all mixes by 1, 2, 3 and 5 ranks of OpenMPI and MPICH, 100 kills, valgrind
	@sh tests/install_deps.sh check
	@RANKS="1 2 3 5" MIXES=all MPI_KILLS=100 MEMCHECK=1 BUILD=$(BUILD) CC="$(CC)" sh tests/cli/mpi.t

# Not part of check: one processor takes a quarter of an hour or more.
foreign: all $(BUILD)/tests/big ## builds for ARCH=s390x|arm64|armhf, or musl|wasi|windows, and tests that
	@BUILD=$(BUILD) sh tests/foreign.sh $(ARCH) $(FOREIGN)

# Sanitized builds do not count the process's heap: this one does.
leak-check: all ## uses models 100,000 times and sees whether anything grows
	@BUILD=$(BUILD) sh tests/leak_rounds.sh

# ---- fuzzing: formats, sidecar files, the JSON tokenizer, writing

FUZZ_SECONDS ?= 60
FUZZ         ?= $(FUZZ_NAMES)

fuzz_file    = $(strip $(foreach file,open convert restore sidecar lines journal spm card adapter tokenize,\
                 $(if $(filter $(1),$(FUZZ_$(file))),$(file))))
# The command's own readers are reached without its main.
fuzz_command = $(if $(filter lines,$(fuzz_file)),$(filter-out %/main.o,$(CLI_OBJ)))
fuzz_readers = $(patsubst $(BUILD)/%,$(BUILD)/fuzz/%,$(fuzz_command))
FUZZ_FLAGS   := -O1 -g -fno-sanitize-recover=all
FUZZ_SAN     := -fsanitize=fuzzer-no-link,address,undefined
FUZZ_OBJ      = $(patsubst $(BUILD)/%,$(BUILD)/fuzz/%,$(filter-out $(CODEC_OBJ),$(LIB_OBJ)))

.SECONDEXPANSION:
$(BUILD)/tests/replay-%: tests/fuzz/$$(call fuzz_file,$$*).c \
    $$(call fuzz_command,$$*) $(if $(SAN),$(TESTED),$(OBJECTS))
	@mkdir -p $(@D)
	$(call say,LINK,$@)
	$(Q)$(COMPILE) -DTARGET=$* -DREPLAY $(LDFLAGS) $(SLIM) $^ $(LIBS) $(OF_TESTED) -o $@

# What they begin with; a list is written after the inputs that it names.
SEEDS        := $(FUZZ_NAMES:%=$(BUILD)/seeds/%.txt)
fuzz-seeds: $(SEEDS) ## unpacks the inputs that fuzzing begins with

$(BUILD)/seeds/%.txt: tests/fuzz/seeds/%.tar tests/fuzz/seeds.txt tests/fuzz/seeds.sh
	@sh tests/fuzz/seeds.sh unpack $* $(BUILD)/seeds

$(BUILD)/fuzz/%.o: %.c
	@mkdir -p $(@D)
	$(call say,CC,$@)
	$(Q)clang $(STD) $(FUZZ_FLAGS) $(FUZZ_SAN) -MMD -MP -c $< -o $@

# Sources that were made.
$(BUILD)/fuzz/%.o: $(BUILD)/%.c
	@mkdir -p $(@D)
	$(Q)clang $(STD) $(FUZZ_FLAGS) -c $< -o $@

$(BUILD)/fuzz-%: tests/fuzz/$$(call fuzz_file,$$*).c $$(FUZZ_OBJ) \
    $$(call fuzz_readers,$$*) $(CODEC_OBJ)
	@mkdir -p $(@D)
	$(call say,LINK,$@)
	$(Q)clang $(STD) $(FUZZ_FLAGS) -fsanitize=fuzzer,address,undefined \
	    -DTARGET=$* $^ -lz -lm -ldl -o $@

fuzz: fuzz-seeds ## FUZZ_SECONDS=60 of libFuzzer for each target, or for each of FUZZ="gguf config"
	@sh tests/install_deps.sh check
	@for name in $(FUZZ); do \
	    $(MAKE) --no-print-directory $(BUILD)/fuzz-$$name && \
	    mkdir -p $(BUILD)/corpus/$$name && \
	    $(BUILD)/fuzz-$$name -max_total_time=$(FUZZ_SECONDS) -timeout=5 \
	        -rss_limit_mb=1024 -max_len=65536 -print_final_stats=1 \
	        -artifact_prefix=$(BUILD)/ -close_fd_mask=2 \
	        $(BUILD)/corpus/$$name $(BUILD)/seeds/$$name || exit 1; \
	done

fuzz-replay: fuzz-seeds $(FIXTURES) $(FUZZ_NAMES:%=$(BUILD)/tests/replay-%) ## runs the kept inputs and the fixtures through every target
	@for name in $(FUZZ_NAMES); do \
	    $(BUILD)/tests/replay-$$name $(BUILD)/seeds/$$name fixtures || \
	        exit 1; \
	done

# ---- measuring

bench: all $(HELPERS) ## time, reading and heap on big files (GGUF_TOOLS=, GGUF_INIT= add peers)
	@BUILD=$(BUILD) MODELFILE=$(BUILD)/modelfile sh tests/bench/bench.sh $(BENCH)
	@BUILD=$(BUILD) MODELFILE=$(BUILD)/modelfile sh tests/bench/bench_data.sh
	@BUILD=$(BUILD) MODELFILE=$(BUILD)/modelfile sh tests/bench/bench_read.sh
	@BUILD=$(BUILD) MODELFILE=$(BUILD)/modelfile sh tests/bench/bench_write.sh
	@BUILD=$(BUILD) MODELFILE=$(BUILD)/modelfile sh tests/bench/bench_archive.sh
	@BUILD=$(BUILD) MODELFILE=$(BUILD)/modelfile sh tests/bench/bench_folder.sh

bench-python: all python ## what the Python package costs, beside gguf and safetensors of PyPI
	@PYTHONPATH=$(BUILD)/python $(PYTHON3) tests/bench/bench_python.py $(BUILD)/modelfile

bench-quant: all ## speed of every codec on every instruction set (ARGS="--type q4_k --isa avx2")
	@$(BUILD)/modelfile bench $(ARGS)

bench-effort: $(BUILD)/tests/effort ## by how much each effort lowers errors, and its speed (ARGS="q4_k q6_k", MODELFILE_GGML=libggml-base.so)
	@$(BUILD)/tests/effort $(ARGS)

bench-bound: $(BUILD)/tests/effort_bound ## what part of the most that can be gained each effort gains, on real weights (ARGS="model.safetensors q4_k")
	@$(BUILD)/tests/effort_bound $(ARGS)

metrics: ## lengths of functions, files and lines; fails above their limits
	@sh tests/metrics.sh

mutants: ## changes code that RANGE=A..B touched (or FILES=), or MUTANTS=100 places drawn by SEED=1 (of KIND=c or rows), one at a time; lists what no test minds
	@RANGE="$(RANGE)" FILES="$(FILES)" TESTS="$(TESTS)" BUILD=$(BUILD) \
	    MUTANTS="$(MUTANTS)" SEED="$(SEED)" SECTIONS="$(SECTIONS)" CC="$(CC)" \
	    sh tests/mutants$(if $(filter rows,$(KIND)),_rows).sh

# ---- layout

format: ## lays the code out with clang-format
	clang-format -i $(SOURCES)

format-check: ## fails where make format would change something
	clang-format --dry-run -Werror $(SOURCES)

# ---- the manual

MAN      := $(BUILD)/man

man: $(MAN)/program $(MAN)/library ## the pages of the manual, in $(BUILD)/man

$(MAN)/program: $(BUILD)/modelfile cli/pages.sh
	@rm -rf $(MAN)/man[17] && mkdir -p $(MAN)/man1 $(MAN)/man7
	$(call say,MAN,$@)
	$(Q)sh cli/pages.sh $(BUILD)/modelfile $(MAN)
	@touch $@

$(MAN)/library: lib/modelfile.h lib/manual.awk CHANGELOG.md
	@rm -rf $(MAN)/man3 && mkdir -p $(MAN)/man3
	$(call say,MAN,$@)
	$(Q)awk -f lib/manual.awk -v folder=$(MAN)/man3 -v version=$(VERSION) \
	    -v date=$(RELEASED) lib/modelfile.h | \
	    while read -r name page; do ln -s $$page $(MAN)/man3/$$name; done
	@touch $@

SITE     := $(BUILD)/site

site: man $(FIXTURES) ## README, docs, the manual and the functions as HTML, in $(BUILD)/site
	@sh tests/install_deps.sh site
	@sh docs/site/make.sh $(MAN) $(VERSION) $(SITE)
	@echo "$(SITE)/index.html"

# ---- WebAssembly

include web/web.mk

# ---- installing

LDCONFIG ?= $(or $(firstword $(wildcard /sbin/ldconfig /usr/sbin/ldconfig)),ldconfig)

# Programs find a shared library by the loader's list, which root can renew.
# Below DESTDIR it is a matter of the package.
define TELL_LOADER
if [ "$$(id -u)" -eq 0 ]; then $(LDCONFIG); fi; \
$(LDCONFIG) -p 2>/dev/null | grep -qF "=> $(LIBDIR)/$(SONAME)" || { \
    echo "Programs do not find $(LIBDIR)/$(SONAME) yet: if ldconfig searches"; \
    echo "$(LIBDIR), run it as root ($(LDCONFIG)); else link them with"; \
    echo "    -Wl,-rpath,$(LIBDIR)"; }
endef

# Pages are files, and links to them.
define INSTALL_PAGES
for page in $(MAN)/man[$(1)]/*; do \
    to=$(DESTDIR)$(MANDIR)/$${page#$(MAN)/}; \
    if [ -h $$page ]; then ln -sf "$$(readlink $$page)" $$to; \
    else install -m 644 $$page $$to; fi || exit; done
endef

define INSTALL_PROGRAM
install -m 755 $(BUILD)/modelfile $(DESTDIR)$(PREFIX)/bin/modelfile
install -d $(addprefix $(DESTDIR),$(BASHDIR) $(ZSHDIR) $(FISHDIR)) \
    $(DESTDIR)$(MANDIR)/man1 $(DESTDIR)$(MANDIR)/man7
$(call INSTALL_PAGES,17)
install -m 644 cli/complete/modelfile.bash $(DESTDIR)$(BASHDIR)/modelfile
install -m 644 cli/complete/_modelfile $(DESTDIR)$(ZSHDIR)/_modelfile
install -m 644 cli/complete/modelfile.fish $(DESTDIR)$(FISHDIR)/modelfile.fish
endef

install: all $(MAN)/library $(if $(LEFT_OUT),,$(MAN)/program) ## into $(PREFIX), below DESTDIR
	install -d $(DESTDIR)$(PREFIX)/bin $(DESTDIR)$(PREFIX)/include \
	    $(DESTDIR)$(LIBDIR)/pkgconfig $(DESTDIR)$(MANDIR)/man3
	$(if $(LEFT_OUT),,$(INSTALL_PROGRAM))
	$(call INSTALL_PAGES,3)
	install -m 644 lib/modelfile.h lib/modelfile.hpp \
	    $(DESTDIR)$(PREFIX)/include/
	install -m 644 $(OUT)/libmodelfile.a $(DESTDIR)$(LIBDIR)/
	install -m 755 $(OUT)/libmodelfile.so.$(VERSION) $(DESTDIR)$(LIBDIR)/
	$(STRIP) --strip-debug $(DESTDIR)$(LIBDIR)/libmodelfile.a
	$(STRIP) --strip-unneeded $(DESTDIR)$(LIBDIR)/libmodelfile.so.$(VERSION) \
	    $(if $(LEFT_OUT),,$(DESTDIR)$(PREFIX)/bin/modelfile)
	ln -sf libmodelfile.so.$(VERSION) $(DESTDIR)$(LIBDIR)/$(SONAME)
	ln -sf $(SONAME) $(DESTDIR)$(LIBDIR)/libmodelfile.so
	sed -e 's|@PREFIX@|$(PREFIX)|' -e 's|@LIBDIR@|$(LIBDIR)|' \
	    -e 's|@INCLUDEDIR@|$(PREFIX)/include|' \
	    -e 's|@VERSION@|$(VERSION)|' -e 's|@THREADS@|$(THREADS)|' \
	    -e 's|@LIBZ@|$(SHAREDZ)|' lib/modelfile.pc.in \
	    >$(DESTDIR)$(LIBDIR)/pkgconfig/modelfile.pc
	chmod 644 $(DESTDIR)$(LIBDIR)/pkgconfig/modelfile.pc
	install -d $(DESTDIR)$(LIBDIR)/cmake/modelfile
	for file in modelfile-config modelfile-config-version; do \
	    sed -e 's|@LIBDIR@|$(LIBDIR)|' -e 's|@INCLUDEDIR@|$(PREFIX)/include|' \
	        -e 's|@VERSION@|$(VERSION)|' -e 's|@SONAME@|$(SONAME)|' \
	        -e 's|@PRIVATE@|$(SHAREDZ) -lm $(LIBDL) $(THREADS)|' lib/$$file.cmake.in \
	        >$(DESTDIR)$(LIBDIR)/cmake/modelfile/$$file.cmake; \
	done
	chmod 644 $(DESTDIR)$(LIBDIR)/cmake/modelfile/*
	$(if $(DESTDIR),,@$(TELL_LOADER))

uninstall: $(MAN)/library $(if $(LEFT_OUT),,$(MAN)/program) ## removes the files of make install
	rm -f $(DESTDIR)$(PREFIX)/bin/modelfile \
	    $(DESTDIR)$(PREFIX)/include/modelfile.h \
	    $(DESTDIR)$(PREFIX)/include/modelfile.hpp \
	    $(DESTDIR)$(LIBDIR)/libmodelfile.a \
	    $(DESTDIR)$(LIBDIR)/libmodelfile.so \
	    $(DESTDIR)$(LIBDIR)/$(SONAME) \
	    $(DESTDIR)$(LIBDIR)/libmodelfile.so.$(VERSION) \
	    $(DESTDIR)$(LIBDIR)/pkgconfig/modelfile.pc \
	    $(DESTDIR)$(LIBDIR)/cmake/modelfile/modelfile-config.cmake \
	    $(DESTDIR)$(LIBDIR)/cmake/modelfile/modelfile-config-version.cmake \
	    $(DESTDIR)$(BASHDIR)/modelfile $(DESTDIR)$(ZSHDIR)/_modelfile \
	    $(DESTDIR)$(FISHDIR)/modelfile.fish
	cd $(MAN) && for page in man*/*; do rm -f $(DESTDIR)$(MANDIR)/$$page; done
	-rmdir $(DESTDIR)$(LIBDIR)/cmake/modelfile

# ---- a release

dist: ## sources, static program, packages, SBOM and digests of a release in $(BUILD)/dist
	@BUILD=$(BUILD) CC="$(CC)" sh .ci/release
	@ls -l $(BUILD)/dist

# ---- packages

deb: ## installs what is missing, makes Debian's packages in $(BUILD)/deb
	@sh tests/install_deps.sh deb
	@BUILD=$(BUILD) sh tests/deb.sh
	@ls -l $(BUILD)/deb/*.deb

deb-check: ## makes them and tests them: lintian, hardening, a bare system (as root)
	@sh tests/install_deps.sh deb
	@unset MAKEFLAGS MFLAGS MAKELEVEL; BUILD=$(BUILD) sh tests/run.sh $(DEB_TEST)

wheel-check: $(BUILD)/modelfile $(FIXTURES) ## installs wheel and sdist in bare systems (as root)
	@sh tests/install_deps.sh deb
	@unset MAKEFLAGS MFLAGS MAKELEVEL; BUILD=$(BUILD) CC="$(CC)" sh tests/run.sh $(WHEEL_TEST)

clean: ## removes everything that was made
	rm -rf $(BUILD) $(MADE)

help: ## this list
	@awk -F ':.*## ' '/^[a-z-]+:.*## / { printf "  %-14s %s\n", $$1, $$2 }' \
	    Makefile web/web.mk

# Objects of tests are kept for the next build.
.SECONDARY:

-include $(wildcard $(BUILD)/lib/rows/maker/*.d $(BUILD)/tests/rows/*.d) $(LIB_OBJ:.o=.d) $(KEPT_OBJ:.o=.d) $(CLI_OBJ:.o=.d) $(STATIC_OBJ:.o=.d) $(MPI_OBJ:.o=.d) $(FUZZ_OBJ:.o=.d) $(UNIT_SRC:%.c=$(BUILD)/%.d) $(patsubst %.c,$(BUILD)/%.d,$(wildcard tests/programs/*.c)) $(TOY_OBJ:.o=.d)
