# SPDX-License-Identifier: MIT
#
# web.mk - the library as WebAssembly, pages over model files, a package for npm
#
# make web calls itself with clang for WebAssembly (tests/ports/port_build.sh),
# and that call makes $(MODULE).

WEB      := $(BUILD)/web
WEB_WASM := $(WEB)/modelfile.wasm
# Size is what a page waits for.  All browsers since 2020 know these two.
WEB_FLAGS := -Oz -flto -DMF_NO_ENCODE -msign-ext -mnontrapping-fptoint
# Nothing here is made of a folder's tokenizer; its files are checked.
WEB_WITHOUT := tokenizers
# Nor does a GGUF file become a folder.
WEB_ROWS := restore
# The stack lies first, where an overflow traps.  The library's heap_limit is
# below the most that memory can be.
WEB_LINK := -mexec-model=reactor -Wl,--gc-sections -Wl,--strip-all -Wl,-O2 -Wl,--compress-relocations \
            -Wl,-z,stack-size=1048576 -Wl,--stack-first -Wl,--max-memory=67108864
# What web/module/without.c has instead of the library's.
WEB_WRAP  = $(patsubst %,-Wl$(COMMA)--wrap=%,$(shell sed -n \
                 's/^INSTEAD.[^,]*, \([^,]*\),.*/\1/p' web/module/without.c))

# ---- the module

# In the call that compiles for WebAssembly.
MODULE   := $(BUILD)/modelfile.wasm
$(MODULE): $(BUILD)/web/module/module.o $(BUILD)/web/module/without.o $(KEPT_OBJ) web/web.mk
	$(call say,LINK,$@)
	$(Q)$(CC) $(CFLAGS) $(WEB_LINK) $(WEB_WRAP) $(filter %.o,$^) $(LIBZ) -lm -o $@

# That call knows what has changed.
$(WEB_WASM): FORCE
	@mkdir -p $(WEB)
	@BUILD=$(BUILD) WITHOUT="$(WEB_WITHOUT)" \
	    ROWS_LEFT_OUT="$(WEB_ROWS)" PORT_ONLY=$(WEB)/objects PORT_CFLAGS="$(WEB_FLAGS)" \
	    PORT_ZLIB_CFLAGS=-Oz \
	    sh tests/ports/port_build.sh wasi $(WEB)/objects/modelfile.wasm
	@[ $@ -nt $(WEB)/objects/modelfile.wasm ] || if command -v wasm-opt >/dev/null; \
	    then wasm-opt -Oz $(WEB)/objects/modelfile.wasm -o $@; \
	    else cp $(WEB)/objects/modelfile.wasm $@; fi

# ---- the pages

$(WEB)/local.html $(WEB)/remote.html: $(WEB)/%.html: web/build.mjs $(WEB_WASM) \
    $(wildcard web/host/*.js web/start/* web/page/*)
	$(call say,PAGE,$@)
	$(Q)node web/build.mjs $(WEB_WASM) $* $(VERSION) $@

# ---- the package for npm

WEB_NPM  := $(WEB)/npm
WEB_PACK := $(WEB)/modelfile-$(VERSION).tgz
$(WEB_PACK): $(WEB_WASM) $(wildcard web/npm/* web/host/*.js) LICENSE
	@rm -rf $(WEB_NPM) && mkdir -p $(WEB_NPM)/host
	@cp web/npm/*.js web/npm/*.ts web/npm/README.md LICENSE $(WEB_WASM) $(WEB_NPM)
	@cp web/host/cache.js web/host/module.js web/host/node.js $(WEB_NPM)/host
	@sed 's/@VERSION@/$(VERSION)/' web/npm/package.json >$(WEB_NPM)/package.json
	$(call say,PACK,$@)
	$(Q)cd $(WEB_NPM) && npm pack --silent --pack-destination .. >/dev/null

.PHONY: web web-serve web-npm
web: $(WEB)/local.html $(WEB)/remote.html ## the library as WebAssembly, and pages over model files: build/web

web-npm: $(WEB_PACK) ## a package for npm: build/web/modelfile-VERSION.tgz

web-serve: web ## serves these pages on 127.0.0.1, and build/web with ranges
	python3 web/serve.py $(WEB)
