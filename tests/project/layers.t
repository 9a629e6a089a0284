#!/bin/sh
# SPDX-License-Identifier: MIT
#
# layers.t - who may include what, and what the objects refer to
#
# What docs/ARCHITECTURE.md says about the house, compared with the sources,
# and against the library and the program in BUILD.
#
# shellcheck disable=SC1091,SC2317 # tests run in the top folder, and give
#                                    their functions to others to call
set -u
. tests/tap.sh

build=${BUILD:-build}
nm=${NM:-nm}
cc=${CC:-cc}
library=$build/objects.a
work=$(mktemp -d "${TMPDIR:-/tmp}/modelfile-layers.XXXXXX")
trap 'rm -rf "$work"' EXIT

# ---- sources ----

# edges FOLDER ALLOWED: includes of own files in FOLDER that do not fit the
# pattern ALLOWED.
edges() {
    [ -n "$(find "$1" -name '*.c')" ] || echo "no C file in $1"
    find "$1" -maxdepth 1 -name '*.[ch]' -o -maxdepth 1 -name '*.def' | sort |
        while read -r file; do
            sed -n 's/^ *# *include *"\([^"]*\)".*/\1/p' "$file" |
                grep -Ev "^($2)$" | sed "s|^|$file includes |"
    done
}

# code FILE...: lines without comments, each after its file's name.
code() {
    awk '
        FNR == 1 { inside = 0 }
        {
            line = $0
            while (1) {
                if (inside) {
                    at = index(line, "*/")
                    if (!at) { line = ""; break }
                    line = substr(line, at + 2)
                    inside = 0
                }
                at = index(line, "/*")
                if (!at) break
                rest = substr(line, at + 2)
                print FILENAME ": " substr(line, 1, at - 1)
                line = rest
                inside = 1
            }
            sub(/\/\/.*/, "", line)
            print FILENAME ": " line
        }' "$@"
}

# calls NAMES FILE...: where one of NAMES (a|b|c) is called or passed on.
calls() {
    names=$1
    shift
    code "$@" | grep -E "(^|[^A-Za-z0-9_.>])($names)([^A-Za-z0-9_]|$)" |
        grep -vE "#.*include"
}

# Everything of libc that gives or takes memory of the heap, openly or not.
heap="malloc|calloc|realloc|reallocarray|free|memalign|aligned_alloc"
heap="$heap|posix_memalign|strdup|strndup|asprintf|vasprintf|getline|getdelim"
heap="$heap|open_memstream|qsort|qsort_r|scandir"


# A command is a file or a folder of cli/commands; cli/ is what they share.
# cli/measure has the command bench and the records of all, cli/remote what reads
# URLs; measure.h and remote.h are their doors.  cli/mpi is in another program, in
# place of cli/ranks.c.
# command_of FILE: "diff", "hash"; "" for a shared one.
command_of() {
    case $1 in
    */cli/commands/* | cli/commands/*)
        name=${1##*cli/commands/} name=${name%%/*}
        echo "${name%.[cho]}"
        ;;
    */cli/measure/bench/* | cli/measure/bench/*) echo bench ;;
    esac
}

# Includes that make a circle, or a command know another one.
program_edges() {
    find cli -name '*.[ch]' | LC_ALL=C sort | while read -r file; do
        name=$(command_of "$file") own=
        case $file in
        cli/mpi/*) own='|cli/mpi/[a-z0-9_]*\.h' ;;
        cli/remote/*) own='|cli/remote/[a-z0-9_]*\.h' ;;
        cli/measure/bench/*) own='|cli/measure/(bench/)?[a-z0-9_]*\.h' ;;
        cli/measure/*) own='|cli/measure/[a-z0-9_]*\.h' ;;
        cli/commands/*) own="|cli/commands/$name/[a-z0-9_]*\\.(h|def)" ;;
        esac
        sed -n 's/^ *# *include *"\([^"]*\)".*/\1/p' "$file" |
            grep -Ev "^(lib/(modelfile|program)\\.h|cli/[a-z0-9_]*\\.(h|def)\
|cli/(measure/measure|remote/remote)\\.h$own)$" | sed "s|^|$file includes |"
    done
}
check_empty "cli includes lib/modelfile.h, lib/program.h and its own headers, \
a command no other's, and of cli/measure and cli/remote their doors" program_edges
formats=$(sed -n 's/^FORMAT(\([a-z0-9_]*\),.*/\1/p' lib/model/formats.def |
    sort -u)
check "the table of formats has rows" [ -n "$formats" ]
for folder in $formats tests/toy; do
    check_empty "$folder includes format.h, draft.h, zip.h and its own" \
        edges $folder "lib/(model/format|draft/draft)\\.h|zip/zip\\.h\
|$folder/[a-z0-9_]*\\.(h|def)"
done
check_empty "zip, which several formats are built on, includes what they do" \
    edges zip "lib/(model/format|base/sort)\\.h|zip/[a-z0-9_]*\\.h"
check_empty "lib/quant includes lib/quant, and the order of bytes" \
    edges lib/quant 'lib/(quant/[a-z0-9_]*|base/little)\.(h|def)'
check_empty "lib/rows/maker includes its own headers, and tables of words" \
    edges lib/rows/maker \
    'lib/rows/(maker/[a-z0-9_]*|codes)\.h|lib/([a-z]+/)+[a-z0-9_]*\.def'

# The rooms of lib/, and which others each may include and call.  The same list
# is for both: what a header lets in, an object refers to.
#
# Rooms in lib/hf have a door, hf.h: rooms outside know that alone, and what it
# declares is the door's, wherever it is defined.
matrix() {
    cat <<'ROOMS'
base
lanes     base
io        base lanes
json      base io
profile   base io json
rows      base
yaml      base json
template  base
model     base io json
arch      base io model rows
vocab     base io json model template
folder    base io json model template vocab
check     base lanes io model arch template vocab folder
draft     base io json model check
codec     base lanes model draft quant
read      base lanes io model codec
derive    base lanes io model draft codec quant
hf        base io json model folder draft
encode    base io json model vocab folder
tokenizer base io json model vocab folder draft encode
card      base io json yaml model folder draft
lora      base io json model folder draft derive
hub       base io json model arch folder draft codec derive hf tokenizer card lora rows
restore   base lanes io json model vocab folder draft codec derive hf encode tokenizer card hub rows
write     base lanes io json model folder check draft codec derive lora hf
compare   base lanes io model folder draft codec write
quantize  base lanes io model check draft codec hf write
verify    base lanes io json model draft codec hf write compare quantize
plan      base lanes io model arch draft codec hf write quantize rows
watch     base io json write
report    base io json model vocab check draft hf write compare quantize verify plan
full      base lanes model codec
ROOMS
}

# Rooms that only the door may use, "encode|tokenizer|...".
behind=$(find lib/hf -mindepth 1 -maxdepth 1 -type d | sed 's,.*/,,' |
    LC_ALL=C sort | paste -sd '|' -)

# home ROOM...: where in lib/ it is, "hf/hub".
home() {
    printf '%s\n' "$@" | sed -E "s,^($behind)\$,hf/&,"
}

# may ROOM: a pattern of the rooms that it may use.
may() {
    matrix | awk -v room="$1" '$1 == room { for (i = 1; i <= NF; i++) print $i }' |
        while read -r one; do home "$one"; done | paste -sd '|' -
}

check "the matrix has all rooms of lib/" \
    [ "$(matrix | awk '{ print $1 }' | LC_ALL=C sort)" = \
    "$(cd lib && find . hf -mindepth 1 -maxdepth 1 -type d ! -name quant \
        ! -name families ! -name without | sed 's|.*/||' |
        LC_ALL=C sort)" ]
check "lib/hf has rooms" [ -n "$behind" ]
strangers() {
    matrix | grep -vE "^(hf|$behind) " | grep -E " ($behind)( |\$)"
}
check_empty "only they may use each other" strangers
check_empty "and no arrow upward" awk '
    { known[$1] = 1
      for (i = 2; i <= NF; i++)
          if (!known[$i] && $i != "quant") print $1 " uses " $i }' <<ROOMS
$(matrix)
ROOMS
for room in $(matrix | awk '{ print $1 }'); do
    check_empty "lib/$(home "$room") includes what it may" \
        edges "lib/$(home "$room")" \
        "lib/(modelfile|program)\\.h|lib/($(may "$room"))/[a-z0-9_]*\\.(h|def)"
done

# Which system this is, is a question for one file each (lib/io/system.h).  The
# floor below has no threads or signals somewhere, and the profile reads ELF.
systems="__linux__|_WIN32|__wasi__|__APPLE__|_GNU_SOURCE|_DEFAULT_SOURCE"
knows_systems() {
    # shellcheck disable=SC2046 # file names have no spaces here
    code $(find lib $formats zip -name '*.[ch]' ! -path 'lib/io/system*.[ch]' \
        ! -path 'lib/base/signals.[ch]' ! -path lib/base/threads.h \
        ! -path lib/lanes/isa.h ! -path 'lib/profile/*' \
        ! -path lib/program.h) |
        grep -E "(^|[^A-Za-z0-9_])($systems)([^A-Za-z0-9_]|$)"
}
check_empty "only lib/io/system* asks which system it is on" knows_systems

# Codecs are pure: of the C library they get numbers and memcpy.
quant_system() {
    sed -n 's/^ *# *include *<\([^>]*\)>.*/\1/p' lib/quant/*.[ch] |
        grep -vxE '(stddef|stdint|stdbool|string|math|float|[ei]mmintrin)\.h'
}
check_empty "lib/quant includes no header of the system" quant_system
# shellcheck disable=SC2046 # file names have no spaces here
check_empty "only heap.c, malloc_count.c and preload.c mention malloc and its kin" \
    calls "$heap" $(find lib cli $formats -name '*.[ch]' \
        ! -path lib/base/heap.c ! -path 'lib/rows/maker/*' ! -path 'cli/malloc_count.[ch]' \
        ! -path 'cli/preload.[ch]')

check "heap.c does" calls "$heap" lib/base/heap.c

# The core asks what a format can do, never which one it is.
# shellcheck disable=SC2046 # file names have no spaces here
formats_by_name() {
    rows=$(sed -n 's/^FORMAT([a-z0-9_]*, *\([a-z0-9_]*\)).*/\1/p' \
        lib/model/formats.def | paste -sd '|' -)
    code $(find lib cli -name '*.[ch]' ! -path 'lib/rows/maker/*' \
        ! -path 'lib/model/format.h') |
        grep -E "(^|[^A-Za-z0-9_])mf_format_($rows)([^A-Za-z0-9_]|$)"
}
check_empty "only the tables of formats name one" formats_by_name

# tags_twice: structs, enums and unions of one name that are two things.
tags_twice() {
    # shellcheck disable=SC2046 # file names have no spaces here
    code $(find lib zip $formats -name '*.[ch]' ! -path 'lib/rows/maker/*') |
        sed -nE 's/^([^ ]*) .*(struct|enum|union) (mf_[a-z0-9_]+) \{$/\1 \3/p' |
        sort -u | cut -d ' ' -f 2 | LC_ALL=C sort | uniq -d
}
check_empty "a name of a struct or enum means one thing" tags_twice

# A message of the library is read in other programs, too: which option or
# command helps is for cli/advice.def to say.
speaks_for_program() {
    # shellcheck disable=SC2046 # file names have no spaces here
    code $(find lib zip $formats -name '*.[ch]' -o -name '*.def') |
        grep -v '#.*include\|^lib/rows/maker/' |
        grep -E '"[^"]*(^|[^a-z-])--[a-z]|"--[a-z]|"[^"]*modelfile [a-z]'
}
check_empty "no message of the library names an option or a command" \
    speaks_for_program

# advice_keys: ids in cli/advice.def that no reason and no rule has.
advice_keys() {
    sed -n 's/^\(ADVICE\|CHOICE\)("\([^"]*\)".*/\2/p' cli/advice.def | sort -u |
        while read -r key; do
            grep -q "\"$key\"," lib/base/reasons.def lib/base/rules.def ||
                echo "$key"
        done
}
check_empty "cli/advice.def has keys of reasons.def and rules.def" advice_keys

# ids FILE: the ids of a table of rules or reasons.
ids() {
    sed -n 's/^[A-Z]*([A-Z0-9_]*, *"\([^"]*\)",.*/\1/p' "$1"
}
ids_of_both() {
    { ids lib/base/rules.def; ids lib/base/reasons.def; } | sort | uniq -d
}
check "reasons have ids" [ "$(ids lib/base/reasons.def | wc -l)" -ge 10 ]
check_empty "no reason has the id of a rule" ids_of_both

# The tables of docs/ARCHITECTURE.md: "| `lib/io` | `source.h`, `reader.h` | ...".
# Each folder has a row, each header that a row names is in its folder, and rooms
# come in the order of the matrix.
mapped() {
    sed -n 's/^| \(`[a-z][^|]*`\) | \([^|]*\) |.*/\1|\2/p' docs/ARCHITECTURE.md |
        tr -d '` '
}
rooms_mapped() {
    [ "$(mapped | sed -nE 's,^lib/(hf/)?([a-z]*)\|.*,\2,p' |
        grep -vxE 'quant|families|without')" = \
        "$(matrix | awk '{ print $1 }')" ]
}
folders_unmapped() {
    mapped | cut -d '|' -f 1 | tr ',' '\n' >"$work/mapped"
    find -- * -name '*.c' ! -path 'build*' |
        sed -E 's,^(lib/hf/[^/]*|lib/[^/]*)/[^/]*$,\1,; t; s,^(lib/[^/]*)/.*,\1,; t; s,/.*,,' |
        sort -u | grep -vxFf "$work/mapped" |
        sed 's/$/: name it in the tables of docs\/ARCHITECTURE.md/'
}
headers_missing() {
    mapped | while IFS='|' read -r folders headers; do
        for header in $(echo "$headers" | tr ',' '\n' | grep '\.h$'); do
            [ -e "$folders/$header" ] || echo "$folders/$header"
        done
    done
}
check "docs/ARCHITECTURE.md has a row for each room, in order" rooms_mapped
check_empty "and for each folder of code" folders_unmapped
check_empty "the headers that it names are there" headers_missing
# The picture of a tensor's way shows every room.
rooms_not_drawn() {
    matrix | awk '{ print $1 }' | while read -r room; do
        grep -qE "[> (;,]$room[<); ,]" docs/tensor.svg || echo "$room"
    done
}
check_empty "docs/tensor.svg shows every room" rooms_not_drawn

# ---- objects ----

# refers NAMES WHERE...: undefined symbols among NAMES, as "heap.o malloc";
# _FORTIFY_SOURCE turns printf into __printf_chk, large files open into open64.
refers() {
    names=$1
    shift
    "$nm" -A -u "$@" | sed 's/@.*//; s/^[^ ]*:\([^ :]*\):.* /\1 /' |
        grep -E " (__)?($names)(64)?(_chk)?$"
}

refers_but_heap() {
    refers "$heap" "$library" | grep -v '^heap\.o '
}

# Every global symbol of the library: "u|d ROOM SYMBOL OBJECT", used or defined.
symbols() {
    for folder in lib $formats; do
        find "$build/$folder" -name '*.o'
    done | xargs "$nm" -A -g | awk -v build="$build/" '
        $(NF - 1) ~ /^[UTDBRVW]$/ && $NF ~ /^mf_/ {
            object = $1
            sub(/:[0-9a-f]*$/, "", object)
            room = substr(object, length(build) + 1)
            sub(/^lib\//, "", room)
            if (room ~ /^hf\/[^\/]*\//)
                sub(/^hf\//, "", room)
            sub(/\/.*/, "", room)
            print ($(NF - 1) == "U" ? "u" : "d"), room, $NF, object
        }'
}

# door: functions that lib/hf/hf.h declares.
door() {
    code lib/hf/hf.h | grep -oE '[ *]mf_[a-z0-9_]+\(' | tr -d ' *(' |
        LC_ALL=C sort -u
}

# arrows: uses of a symbol that the matrix does not allow.  Three tables know
# formats by name: of all, of those that programs name, and of those that are
# written.  Formats are floors of their own.
arrows() {
    { matrix | sed 's/^/m /'; symbols; door | sed 's/^/d hf /'; } | awk '
        $1 == "m" {
            rooms[$2] = 1
            for (i = 2; i <= NF; i++) may[$2 " " $i] = 1
        }
        $1 == "d" { home[$3] = $2 }
        $1 == "u" { use[++count] = $0 }
        END {
            for (i = 1; i <= count; i++) {
                split(use[i], at, " ")
                to = home[at[3]]
                if (!rooms[at[2]] || to == "" || may[at[2] " " to])
                    continue
                if (at[4] ~ /lib\/(full\/(formats|features)|draft\/writers)\.o$/ && !rooms[to])
                    continue
                print at[4] " refers to " at[3] " of " to
            }
        }' | LC_ALL=C sort
}
symbols_seen() {
    symbols | grep -q '^d base mf_fail ' && symbols | grep -q '^u model mf_fail '
}

# Names of the objects; tests/project/sizes.t has those that programs see.
foreign_globals() {
    "$nm" -g --defined-only "$library" | awk 'NF == 3 { print $3 }' |
        grep -vE '^(mf_|__odr_asan|__asan|__ubsan)'
}
check_empty "the objects define mf_* only" foreign_globals

speech="v?f?printf|v?dprintf|puts|fputs|putc|putchar|fputc|fwrite|perror"
speech="$speech|stdout|stderr|exit|_exit|_Exit|quick_exit|abort|raise|kill"

check "the library is built" "$nm" "$library"
check_empty "only heap.o refers to malloc and its kin" refers_but_heap
check "heap.o does" refers "$heap" "$library"
# "USER OWNER" for each object of the program that refers to a symbol of
# another: the list of commands may refer to all of them.
program_uses() {
    { find cli -name '*.c' ! -path 'cli/mpi/*'; echo cli/rules_packed.c; } |
        sed "s|^|$build/|; s|c\$|o|" | xargs "$nm" -A -g | awk '
        { object = $1; sub(/:[0-9a-f]*$/, "", object) }
        $(NF - 1) ~ /^[TDBRVC]$/ { home[$NF] = object }
        $(NF - 1) == "U" { use[++count] = object " " $NF }
        END {
            for (i = 1; i <= count; i++) {
                split(use[i], at, " ")
                if (home[at[2]]) print at[1], home[at[2]]
            }
        }' | LC_ALL=C sort -u
}
program_arrows() {
    program_uses | grep -v '/commands\.o ' | while read -r user owner; do
        name=$(command_of "$owner")
        [ -z "$name" ] || [ "$name" = "$(command_of "$user")" ] ||
            echo "$user refers to $owner"
    done
}
program_seen() {
    program_uses | grep -q '/commands\.o .*/cli/commands/info/info\.o$'
}
# tsort puts users before owners, and names the members of each circle.
program_circles() {
    program_uses | tsort 2>&1 >/dev/null
}

check "symbols of rooms can be seen" symbols_seen
check_empty "no room refers to one that it may not use" arrows
check "the list of commands is seen" program_seen
check_empty "no file of the program refers to another's command" program_arrows
check_empty "there is no circle between its files" program_circles
check_empty "the library does not map files" refers 'mmap' "$library"
check_empty "the library does not print, exit or abort" \
    refers "$speech" "$library"
# What belongs to the program that it is embedded in: options say it instead.
hosts="getenv|secure_getenv|environ|setenv|putenv|setlocale|uselocale|newlocale"
hosts="$hosts|strerror|strerror_r|__xpg_strerror_r|signal|sigaction"
check_empty "the library reads no environment and no locale, and takes no signal" \
    refers "$hosts" "$library"
# room.c asks for memory that is not a file's.
maps_files() {
    find "$build" -name '*.o' ! -path '*/tests/*' ! -path '*/fixtures/*' \
        ! -path "$build/musl/*" ! -path "$build/wasi/*" ! -path "$build/windows/*" \
        ! -path "$build/web/*" \
        ! -path '*/cli/room.o' -exec "$nm" -A -u {} + |
        grep -E ' mmap(64)?(@|$)'
    [ "$(grep -c '^    void .at = mmap' cli/room.c)" = \
        "$(grep -c 'MAP_ANONYMOUS, -1' cli/room.c)" ] || echo cli/room.c
}
check_empty "nothing in the program maps files" maps_files

# ---- codecs ----

# Of another global symbol the linker would take one instruction set's for all
# of them.
codecs=$(sed -n 's/^CODEC([A-Z0-9_]*, *\([a-z0-9_]*\)).*/\1/p' \
    lib/codec/codecs.def | LC_ALL=C sort)
quant_globals() {
    for isa in $(printf '%s\n' "$build"/lib/quant/*.o |
        sed 's/\.o$//; s/.*\.//' | sort -u); do
        defined=$("$nm" -g --defined-only "$build"/lib/quant/*."$isa".o |
            awk 'NF == 3 && $3 !~ /^__odr_asan/ { print $3 }' |
            sed "s/^mf_codec_\(.*\)_$isa\$/\1/; /^mf_further_$isa\$/d" |
            LC_ALL=C sort -u)
        printf '%s\n' "$defined" "$codecs" | LC_ALL=C sort | uniq -u |
            sed "s/\$/ ($isa)/"
    done
}

# Codecs name the search of their instruction set, further.c's, and no other.
#
# No mathematics of the C library either: its last bits are not the same
# everywhere.
quant_calls() {
    "$nm" -A -u "$build"/lib/quant/*.o |
        grep -vE ' U (mem(cpy|set|move)|mf_further_[a-z0-9]*|__(asan|ubsan)_.*|__stack_chk_fail|_GLOBAL_OFFSET_TABLE_)$'
}
check "codecs are built" ls "$build/lib/quant/bf16.portable.o"
check_empty "their objects define each codec of codecs.def, their search, and nothing else" quant_globals
check_empty "codecs call nothing but their search, memcpy and its kin" quant_calls

# pulled_in HEADER CALL: the objects that a program with that call is linked
# with.
pulled_in() {
    echo "#include \"lib/$1\"
        int main(void) { return $2; }" |
        $cc -I. -x c - -x none "$library" ${LIBS:--lz -lm -fopenmp} -o /dev/null \
            -Wl,-M |
        grep -o 'objects\.a([^)]*)' | sort -u
}

# Looking at tensor data decodes nothing: a program that does only that is
# linked without a codec.
pulled_codecs() {
    pulled_in modelfile.h 'mf_model_validate_data(0)' |
        grep -E '\((codecs|.*\.(portable|avx2|avx512))\.o\)' |
        grep -vE '\((scan|product|xxh3)\.'
}
pulled_validate() {
    pulled_in modelfile.h 'mf_model_validate_data(0)' |
        grep '(validate_data\.o)'
}

# Opening a file for reading cannot reach code that writes, locks or removes
# one.
read_only='mf_source_open_file(0, 0, 0, 0) || mf_reader_init(0, 0, 0, 0, 0)'
pulled_source() {
    pulled_in io/reader.h "$read_only" | grep '(source\.o)'
}
pulled_writers() {
    pulled_in io/reader.h "$read_only" |
        grep -E '\((target|journal|lock|temporary|sink|signals)[^)]*\.o\)'
}
check "a program that only looks at data can be linked" pulled_validate
check_empty "and has no codec in it" pulled_codecs
check "a program that only reads a file can be linked" pulled_source
check_empty "and has nothing in it that writes files" pulled_writers

# ---- the shared library ----

shared=
[ ! -e "$build/libmodelfile.so" ] || shared=$build/libmodelfile.so

declared() {
    sed '/^#/d' lib/modelfile.h | tr '\n' ' ' | grep -o 'MF_API [^;(]*(' |
        sed 's/($//; s/.*[ *]//' | LC_ALL=C sort
}

# What lib/program.h, with the headers that it includes, gives the command alone.
functions_of() {
    code "$@" | grep -oE '[ *]mf_[a-z0-9_]+\(' | tr -d ' *(' | LC_ALL=C sort -u
}

for_program() {
    functions_of lib/program.h lib/trials.h lib/json_writer.h
}

# called_by_program: functions of the library in the command's objects.
called_by_program() {
    find "$build/cli" -name '*.o' -exec "$nm" -u {} + |
        awk '$NF ~ /^mf_/ { print $NF }' | LC_ALL=C sort -u
}

# Ranks call the rest of lib/ranks.h.
undeclared_calls() {
    { declared; for_program; functions_of lib/ranks.h; } | LC_ALL=C sort >"$work/declared"
    called_by_program | LC_ALL=C comm -23 - "$work/declared"
}

declared_twice() {
    { declared; for_program; } | LC_ALL=C sort | uniq -d
}

# A function in lib/program.h that the command does not call belongs in the
# header of its room.
unused_by_program() {
    called_by_program >"$work/called"
    for_program | LC_ALL=C comm -23 - "$work/called" | grep -v '^mf_json_'
}

exported() {
    "$nm" -D --defined-only "$1" | awk '$2 != "A" { print $3 }' |
        sed 's/@.*//' | LC_ALL=C sort
}

exports_differ() {
    [ "$(declared)" = "$(exported "$shared")" ] && return
    echo "declared with MF_API, and exported:"
    declared | sed 's/^/< /'
    exported "$shared" | sed 's/^/> /'
    return 1
}

soname() {
    objdump -p "$1" | awk '$1 == "SONAME" { print $2 }'
}

# Programs are bound to the version of each function.
without_version() {
    "$nm" -D --defined-only "$1" | awk '$2 != "A" { print $3 }' |
        grep -v '@@MODELFILE_0.3$'
}

# Each has to say what it does with NULL.  A feature has no argument.
without_null_test() {
    exported "$1" | grep -v '^mf_feature_' | while read -r name; do
        grep -q "\"$name\", null_$name }" tests/full/test_null.c || echo "$name"
    done
}

calls_the_library() {
    called_by_program | grep -qx mf_model_open
}
check "the command calls the library" calls_the_library
check_empty "the command calls what the two headers declare" undeclared_calls
check_empty "no function is declared in both" declared_twice
check_empty "lib/program.h declares nothing that the command does not call" \
    unused_by_program

if [ -n "$shared" ]; then
    check_empty "tests/full/test_null.c has a row for each" \
        without_null_test "$shared"
    check "the shared library exports what modelfile.h declares" \
        exports_differ
    check "its SONAME is libmodelfile.so.0.3" \
        [ "$(soname "$shared")" = libmodelfile.so.0.3 ]
    check_empty "each of them has the version MODELFILE_0.3" \
        without_version "$shared"
else
    skip "tests/full/test_null.c has a row for each" "none in $build"
    skip "the shared library exports what modelfile.h declares" \
        "none in $build"
    skip "its SONAME is libmodelfile.so.0.3" "none in $build"
    skip "each of them has the version MODELFILE_0.3" "none in $build"
fi

# ---- the public header ----

# compiles COMPILER LANGUAGE STANDARD: the header, alone.
compiles() {
    echo '#include "modelfile.h"' | $1 -x "$2" -std="$3" -Ilib -Wall -Wextra \
        -Wpedantic -Werror -fsyntax-only -
}

# knows COMPILER LANGUAGE STANDARD
knows() {
    echo | $1 -x "$2" -std="$3" -fsyntax-only - 2>/dev/null
}

# The next C is c23 or, for older compilers, c2x.
next_c=c2x
knows "$cc" c c23 && next_c=c23
for standard in c99 c11 c17 $next_c; do
    check "modelfile.h compiles alone as $standard" compiles "$cc" c $standard
done
cxx=
for compiler in "${CXX:-c++}" g++ clang++; do
    command -v "$compiler" >/dev/null 2>&1 && cxx=$compiler && break
done
if [ -n "$cxx" ]; then
    for standard in c++98 c++11 c++14 c++17 c++20; do
        check "modelfile.h compiles alone as $standard" \
            compiles "$cxx" c++ $standard
    done
else
    skip "modelfile.h compiles alone as C++" "no C++ compiler"
fi
finish
