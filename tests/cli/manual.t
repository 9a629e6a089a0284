#!/bin/sh
# SPDX-License-Identifier: MIT
#
# manual.t - the pages of the manual say what the rows and the header say
#
# manual.pl compares the sources of the pages, and the pages as mandoc and man
# print them, with help --json and lib/modelfile.h.  Every example of a page is
# run as it is there, in a folder with files of the names that it has.
#
# shellcheck disable=SC1091,SC2317,SC2154 # tests run in the top folder, and give
#                                           their functions to others to call
set -u
. tests/tap.sh
. tests/lib-run.sh
pages=$dir/pages
mkdir -p "$pages/man1" "$pages/man3" "$pages/man7"
"$modelfile" help --all --json --quiet >"$dir/help.json"

# ---- pages ----

made() {
    sh cli/pages.sh "$modelfile" "$pages" &&
        awk -f lib/manual.awk -v folder="$pages/man3" -v version=1.2.3 -v date=2026-01-02 \
            lib/modelfile.h >"$dir/links" &&
        while read -r name page; do
            ln -s "$page" "$pages/man3/$name" || return
        done <"$dir/links"
}
check "pages are made" made

about() { # WHAT FROM FOLDER
    check_empty "$1: the commands" perl tests/cli/manual.pl commands "$dir/help.json" "$2"
    check_empty "$1: the header" perl tests/cli/manual.pl header lib/modelfile.h "$2"
}
about sources "$pages"
check_empty "other pages that are named are there" perl tests/cli/manual.pl links "$pages"

page_of() { # PAGE WORD...
    page=$1
    shift
    "$modelfile" help --quiet --man "$@" | cmp - "$pages/$page"
}
check "help --man is the page of the program" page_of man1/modelfile.1
check "of a command" page_of man1/modelfile-quantize.1 quantize
check "of a sub-command" page_of man1/modelfile-meta-set.1 meta set
check "by another word" page_of man1/modelfile-validate.1 check
check "of rules" page_of man7/modelfile-rules.7 rules
check "of types" page_of man7/modelfile-types.7 types
check "a word with sub-commands has a page" cmp "$pages/man1/modelfile-meta.1" \
    "$pages/man1/modelfile-meta-list.1"
check "not of something else" expect 2 "unknown command 'nonsense'" help --man nonsense
check "one page at a time" expect 2 "leave out 'meta'" help --man --all meta
check "nor as JSON" expect 2 "no form in JSON" help --man --json
check "not a command: rules" expect 2 "unknown command 'rules'" help rules

# ---- what is in no row of help ----

ids() { # PATTERN FILE: the first group
    sed -n "s/^$1.*/\\1/p" "$2"
}
rule_ids() {
    ids 'RULE([A-Z0-9_]*, *"\([A-Z0-9-]*\)"' lib/base/rules.def
}
# all_in PAGE: what standard input has.
all_in() {
    perl tests/cli/manual.pl names "$1"
}
rules=modelfile-rules.7 types=modelfile-types.7
rule_ids >"$dir/rules"
ids 'ATTACK("\([^"]*\)"' lib/base/attacks.def >"$dir/attacks"
ids 'TYPE([A-Z0-9_]*, *"\([a-z0-9_]*\)"' lib/model/types.def >"$dir/types"
ids 'MIX(\([A-Z0-9_]*\),' lib/quantize/mix.def >"$dir/mixes"
check_empty "rules have a heading" all_in "$pages/man7/$rules" <"$dir/rules"
check_empty "attacks have a tag" all_in "$pages/man7/$rules" <"$dir/attacks"
check_empty "types have one" all_in "$pages/man7/$types" <"$dir/types"
check_empty "mixes, too" all_in "$pages/man7/$types" <"$dir/mixes"

# ---- variables and files ----

# The loader reads these before the program: that it loads
# something else only decides which rights the sandbox leaves.
undocumented='LD_PRELOAD'
# The library for threads reads it.
not_read='OMP_NUM_THREADS'
# Those in cli/mpi are MPI's.
variables() {
    {
        grep -rho --exclude-dir=mpi 'getenv("[A-Z_]*")' cli lib | sed 's/.*"\(.*\)".*/\1/'
        grep -rhoE '"(MODELFILE|HF|HUGGING[A-Z]*|TRANSFORMERS)_[A-Z_]*"' cli lib \
            --include='*.c' | tr -d '"'
        echo "$not_read"
    } | LC_ALL=C sort -u | grep -vxF "$undocumented"
}
documented() {
    sed -n 's/^VARIABLE("\([A-Z_]*\)".*/\1/p' cli/commands/help/environment.def |
        LC_ALL=C sort
}
same_variables() {
    variables >"$dir/read"
    documented | diff "$dir/read" -
}
check "variables that are read are documented, and no others" same_variables
check "what is read nowhere is read by OpenMP" sh -c '! grep -rq "getenv(\"OMP_" cli lib'
files_known() {
    sed -n 's/^FILES("\([^"]*\)".*/\1/p' cli/commands/help/files.def | tr ',' '\n' |
        sed 's/NAME//; s/PID.RANDOM//; s/^ *\.*//; s/^\.*//' | while read -r part; do
        grep -rqF "$part" lib cli --include='*.c' --include='*.h' || echo "no '$part'"
    done
}
check_empty "names of files are in the code" files_known

# ---- a row that changes ----

# notices FROM TO: a page is not what help --json says then.
notices() {
    sed "s/$1/$2/" "$dir/help.json" >"$dir/other.json"
    cmp -s "$dir/help.json" "$dir/other.json" && return 1
    ! perl tests/cli/manual.pl commands "$dir/other.json" "$pages" >/dev/null
}
check "another text of an option is noticed" notices 'show this help' 'show that help'
check "another option" notices '"--totals"' '"--sums"'
check "a choice" notices '"crc32"' '"crc16"'
check "a summary" notices 'show a summary of a model' 'show a model'
check "an operand" notices 'IN \[OUT\] TYPE' 'IN OUT TYPE'
check "an example" notices 'modelfile detect model.gguf' 'modelfile detect other.gguf'
check "an exit code" notices '"exit_codes":\[0,1,' '"exit_codes":[0,9,'
check "another name of a function" sh -c "
    sed 's/mf_model_open(/mf_model_begin(/' lib/modelfile.h >'$dir/other.h'
    ! perl tests/cli/manual.pl header '$dir/other.h' '$pages' >/dev/null"
check "another sentence of the header" sh -c "
    sed 's/index from 0 until false/index from 1 until false/' lib/modelfile.h >'$dir/other.h'
    ! perl tests/cli/manual.pl header '$dir/other.h' '$pages' >/dev/null"

# ---- text that roff would obey ----

cat >"$dir/hostile.h" <<'END'
/* SPDX-License-Identifier: MIT
 *
 * hostile.h - text that roff would obey
 *
 * About it, with "quotes", 'quotes' and \fBbackslashes\fR \n(.x.
 */

/* ---- Odd text ---- */

/* .TH is a request in the front, 'so' is one as well, and \*(.x a string: and
 * `ls` ^ ~ - "a" are characters.
 *
 *     .nf is code here
 *     'tis, too: \e "
 */
MF_API int mf_odd(const char *text);

#define MF_ODD "a \"b\" 'c' \\ d"

/* .A value with a quote. */
enum mf_quote {
    MF_QUOTE = '"', /* "a" */
    MF_LAST  = '\\'
};

/* A struct with an odd comment. */
struct mf_odd {
    int one; /* 'quoted' "twice" \fB */
};
END
mkdir "$dir/odd"
awk -f lib/manual.awk -v folder="$dir/odd" -v version=1 -v date=2026-01-02 "$dir/hostile.h" >/dev/null
odd_lines() { # COMMAND...: the page as it prints it
    "$@" 2>"$dir/err" | perl -pe 's/.\x08//g' | tr -s ' \n' '  ' >"$dir/out"
    cat "$dir/err" "$dir/out"
    [ ! -s "$dir/err" ] || return
    for text in ".TH is a request in the front, 'so' is one as well, and \\*(.x a" \
        "string: and \`ls\` ^ ~ - \"a\" are characters." ".nf is code here" \
        "'tis, too: \\e \"" 'int mf_odd(const char *text);' \
        "#define MF_ODD \"a \\\"b\\\" 'c' \\\\ d\"" "'quoted' \"twice\" \\fB" \
        ".A value with a quote. MF_QUOTE = '\"' \"a\" MF_LAST = '\\\\'"; do
        grep -qF -e "$text" "$dir/out" || {
            echo "no $text"
            return 1
        }
    done
}

# ---- as readers see it ----

# What man and mandoc say of a page, and lines that are too long.
# mandoc says it on standard output.
lint() {
    for page in "$pages"/man[137]/*; do
        [ -h "$page" ] || mandoc -T lint "$page" 2>&1
    done
}

warnings() { # PROGRAM ARGUMENT...
    for page in "$pages"/man[137]/*; do
        [ -h "$page" ] || "$@" "$page" 2>&1 >/dev/null | sed "s|^|${page##*/}: |"
    done
}
# render FOLDER COMMAND...: pages as text, at 80 columns.
render() {
    to=$1
    shift
    for section in 1 3 7; do
        mkdir -p "$to/man$section.txt"
        for page in "$pages/man$section"/*; do
            [ -h "$page" ] || "$@" "$page" 2>/dev/null | perl -pe 's/.\x08//g' \
                >"$to/man$section.txt/${page##*/}"
        done
    done
}
broken_lines() { # FOLDER
    perl -CSD -ne 'chomp; print "$ARGV: $_\n" if length > 80' "$1"/man*.txt/*
}
reads() { # NAME COMMAND...
    name=$1
    shift
    render "$dir/$name" "$@"
    about "$name" "$dir/$name"
    check_empty "$name: lines are of 80 columns" broken_lines "$dir/$name"
    check_empty "$name: rules" all_in "$dir/$name/man7.txt/$rules" <"$dir/rules"
    check_empty "$name: types" all_in "$dir/$name/man7.txt/$types" <"$dir/types"
    check "$name: odd text is as it was" odd_lines "$@" "$dir/odd/modelfile-odd-text.3"
}
if command -v mandoc >/dev/null 2>&1; then
    check_empty "mandoc has nothing to say" lint
    reads mandoc mandoc -T utf8 -O width=78
else
    skip "mandoc" "mandoc is not here"
fi
# Images of Debian have a man that only says that there are no pages.
if command -v groff >/dev/null 2>&1 && man --version 2>/dev/null | grep -q '^man '; then
    export MANWIDTH=80 MANROFFOPT= LC_ALL=C.UTF-8
    check_empty "man has nothing to say" warnings man --warnings -E UTF-8 -l -Tutf8 -Z
    reads man env MAN_KEEP_FORMATTING= man -P cat -E UTF-8 -l
else
    skip "man" "man or groff is not here"
fi

# ---- examples ----

mkdir "$dir/base" "$dir/examples" "$dir/path"
# The exit code of each, also of one in front of a pipe.
cat >"$dir/path/modelfile" <<END
#!/bin/sh
code=0
'$modelfile' "\$@" || code=\$?
echo \$code >>'$dir/codes'
exit \$code
END
chmod +x "$dir/path/modelfile"

# npz NAME...: an archive, each member of which is standard input.
npz() {
    perl -MCompress::Zlib -e '
        binmode STDIN, ":raw";
        binmode STDOUT, ":raw";
        local $/;
        my $data = <STDIN>;
        my ($files, $directory) = ("", "");
        for (@ARGV) {
            my $entry = pack "v v v v v V V V v v", 20, 0, 0, 0, 33, crc32($data),
                length $data, length $data, length, 0;
            $directory .= pack("V v", 0x02014b50, 20) . $entry .
                pack("v v v V V", 0, 0, 0, 0, length $files) . $_;
            $files .= pack("V", 0x04034b50) . $entry . $_ . $data;
        }
        print $files, $directory, pack "V v v v v V V v", 0x06054b50, 0, 0, scalar @ARGV,
            scalar @ARGV, length $directory, length $files, 0;' "$@"
}

# Files of all names that examples have.
base() {
    cd "$dir/base" || return
    for folder in Llama-3-8B DeepSeek-V3; do
        cp -R "$fixtures/good-hf-llama" $folder
    done
    m() { "$modelfile" "$@" --quiet || exit; }
    m convert Llama-3-8B/ model-f16.gguf --type f16
    m convert Llama-3-8B/ model.gguf
    m meta set model.gguf general.license=mit
    cp "$fixtures/good-imatrix.gguf" matrix.gguf
    m quantize model-f16.gguf model-q4_k_m.gguf Q4_K_M
    m quantize Llama-3-8B/ model-iq4_xs.gguf IQ4_XS --imatrix matrix.gguf
    m quantize model.gguf model-q8_0.gguf Q8_0
    m convert model.gguf model.safetensors
    m convert model.gguf model.apr
    mkdir part && m convert model.gguf part/model.safetensors --shard-tensors 10
    cp part/* . && rm -r part
    m split model.gguf model --max-tensors 6
    cp model-f16.gguf f16.gguf
    cp model-q4_k_m.gguf q.gguf
    for copy in a base tuned b big; do cp model.gguf $copy.gguf; done
    m meta set tuned.gguf general.name=tuned
    for copy in b other; do cp model.safetensors $copy.safetensors; done
    for folder in models old new downloads; do mkdir $folder && cp a.gguf $folder/; done
    cp "$fixtures/good-table.parquet" data.parquet
    m tensors export "$fixtures/good-arrays.npz" a a.npy
    npz labels.npy weights.npy <a.npy >state.npz
    for matrix in model.imatrix.gguf two.imatrix.gguf; do cp matrix.gguf $matrix; done
    for matrix in imatrix.dat one.imatrix; do cp "$fixtures/good-imatrix.dat" $matrix; done
    echo '{{ messages }}' >template.jinja
    m hash model.safetensors >manifest
    m hash model.gguf --record rec >hashes && rm hashes
}
check "files for the examples" base
perl tests/cli/manual.pl examples "$dir/help.json" "$pages" "$dir/examples"

# Why an example is not run as it is; its options are looked at, if nothing else.
not_run() { # EXAMPLE
    case $1 in
    *llama-quantize*) echo "needs llama-quantize" ;;
    'modelfile bench'*) echo "measures for long; bench.t runs it" ;;
    *'| zstd'*) command -v zstd >/dev/null 2>&1 || echo "needs zstd" ;;
    esac
}

# The output of an example must not be there, and what it is about must.
prepare() { # EXAMPLE
    case $1 in
    *'*.gguf'*) rm -f matrix.gguf -- *imatrix* model-0* ;; # those that are edited
    'modelfile meta unset '*)
        "$modelfile" meta set model.gguf general.url=u general.source.url=u --quiet
        ;;
    esac
    # shellcheck disable=SC2086 # words of the example
    set -- $1
    case $2 in
    convert | quantize | dequantize) [ "$4" = - ] || rm -rf -- "$4" ;;
    merge) while [ $# -gt 1 ]; do shift; done && rm -f -- "$1" ;;
    split) rm -f -- "$4"-0* *.index.json ;;
    finish)
        while [ $# -gt 1 ]; do shift; done
        "$modelfile" quantize model-f16.gguf "$1" Q8_0 --part 1/1 --quiet
        ;;
    esac
}

example() { # NUMBER
    text=$(cat "$dir/examples/$1.name")
    rm -rf "$dir/work"
    cp -R "$dir/base" "$dir/work"
    : >"$dir/codes"
    (
        cd "$dir/work" || exit
        prepare "$text"
        # No example may find, and change, the caches of who runs the tests.
        export HOME="$PWD" HF_HUB_CACHE="$PWD/none" LLAMA_CACHE="$PWD/none" \
            OLLAMA_MODELS="$PWD/none"
        PATH=$dir/path:$PATH sh "$dir/examples/$1.sh"
    ) >"$dir/said" 2>&1 </dev/null
    [ -s "$dir/codes" ] && case $text in
    # These tell a difference, or that something is not good.
    'modelfile diff '* | 'modelfile validate '* | 'modelfile verify '*)
        ! grep -qvx '[01]' "$dir/codes"
        ;;
    *) ! grep -qvx 0 "$dir/codes" ;;
    esac && return
    echo "exit codes:" && cat "$dir/codes" "$dir/said"
    return 1
}
for file in "$dir"/examples/*.sh; do
    number=${file##*/} number=${number%.sh}
    text=$(cat "$dir/examples/$number.name")
    reason=$(not_run "$text")
    if [ -z "$reason" ]; then
        check "example: $text" example "$number"
    elif expr "$text" : '.*modelfile bench' >/dev/null; then
        # shellcheck disable=SC2086 # words of the example
        check "options of: $text ($reason)" "$modelfile" ${text#*modelfile} --help
    else
        skip "example: $text" "$reason"
    fi
done
finish
