#!/bin/sh
# SPDX-License-Identifier: MIT
#
# complete_shells.t - bash, zsh and fish complete a line with what is offered
#
# They run in a terminal, and keys are typed (lib-typing.sh).  Names in a file of
# the test are commands that would make a file "pwned".
#
# shellcheck disable=SC1091,SC2016,SC2317,SC2154 # tests run in the top folder,
#         and give their functions to others to call; names are not expanded
set -u
. tests/tap.sh
. tests/lib-run.sh
. tests/lib-names.sh
. tests/lib-typing.sh
top=$PWD
mkdir -p "$dir/here"
cp "$fixtures/good-llama.gguf" "$dir/here/m.gguf"
{ good_names && bad_names; } | perl tests/cli/gguf_names.pl "$dir/here/h.gguf"
good_names | tr '\0' '\n' | LC_ALL=C sort >"$dir/good"
many_names 100 | perl tests/cli/gguf_names.pl "$dir/here/some.gguf"

# What the shell makes of the line's words: "modelfile" shows what it is given.
mkdir "$dir/shown"
cat >"$dir/shown/modelfile" <<'END'
#!/bin/sh
for word; do :; done
printf '%s' "$word"
END
chmod +x "$dir/shown/modelfile"

# type SHELL KEYS WANTED: the line then.
type_line() {
    typed "$2"
    line=${line% }
    [ "$line" = "$3" ] && return
    printf '%s\n' "$1: $line" "instead of $3"
    return 1
}
# type_word SHELL KEYS WORD: the last word of the line, when the shell runs it,
# and nothing else is run.
type_word() {
    typed "$2"
    (cd "$dir/here" && PATH=$dir/shown:$PATH HOME=$dir/here "$1" -c "$line") \
        >"$dir/said" 2>&1 </dev/null
    [ "$(cat "$dir/said")" = "$3" ] && not_pwned && return
    printf '%s\n' "$1: $line" "runs with:" && cat "$dir/said"
    printf '%s\n' "instead of:" "$3"
    return 1
}
not_pwned() {
    [ -z "$(find "$dir" -name 'pwned*')" ] && return
    find "$dir" -name 'pwned*'
    return 1
}

# Names of files that a shell would obey, each behind another letter.
nl='
'
(
    cd "$dir/here" || exit
    for name in 'A file' 'B$(touch pwned)' 'C`touch pwned`' 'D; touch pwned #' "E'x\"" \
        'F=x' 'G:x' 'H!x' 'I*' "J${nl}touch pwned"; do
        cp m.gguf "$name.gguf"
    done
    cp m.gguf ./-dash.gguf
    cp m.gguf 'F=x.txt'
    mkdir Sub && cp m.gguf 'Sub/in it.gguf'
)

# A cache of huggingface_hub, whose names a shell would obey as well.
hub=$dir/hub/models--own--tiny
commit=0123456789012345678901234567890123456789
mkdir -p "$hub/refs" "$hub/snapshots/$commit" "$dir/hub/models--own--x\$(touch pwned)"
printf %s $commit >"$hub/refs/main"
cp "$dir/here/m.gguf" "$hub/snapshots/$commit/m.gguf"
cp "$dir/here/m.gguf" "$hub/snapshots/$commit/x\$(touch pwned).gguf"
HF_HUB_CACHE=$dir/hub
export HF_HUB_CACHE

lines_of() { # SHELL
    check "$1: a command" type_line "$1" 'modelfile quan\t' 'modelfile quantize'
    check "$1: a sub-command" type_line "$1" 'modelfile tensors in\t' 'modelfile tensors info'
    check "$1: an option" type_line "$1" 'modelfile info --qu\t' 'modelfile info --quiet'
    check "$1: an option before the command" type_line "$1" 'modelfile --json quan\t' \
        'modelfile --json quantize'
    check "$1: an option's value" type_line "$1" 'modelfile hash --algo sha2\t' \
        'modelfile hash --algo sha256'
    check "$1: in the same word" type_line "$1" 'modelfile hash --algo=sha2\t' \
        'modelfile hash --algo=sha256'
    check "$1: a mix in lower case" type_line "$1" 'modelfile quantize m.gguf o q4_k_m\t' \
        'modelfile quantize m.gguf o Q4_K_M'
    check "$1: a rule" type_line "$1" 'modelfile validate --ignore TENSOR-OVERL\t' \
        'modelfile validate --ignore TENSOR-OVERLAP'
    check "$1: a format" type_line "$1" 'modelfile convert m.gguf - --to safe\t' \
        'modelfile convert m.gguf - --to safetensors'
    check "$1: a key" type_line "$1" 'modelfile meta get m.gguf general.lic\t' \
        'modelfile meta get m.gguf general.license'
    check "$1: a key of a file in quotes" type_line "$1" \
        "modelfile meta get 'm'.gguf general.lic\\t" "modelfile meta get 'm'.gguf general.license"
    check "$1: of a file with a space" type_line "$1" \
        'modelfile meta get A\\ file.gguf general.lic\t' \
        'modelfile meta get A\ file.gguf general.license'
    check "$1: of a file at home" type_line "$1" 'modelfile meta get ~/m.gguf general.lic\t' \
        'modelfile meta get ~/m.gguf general.license'
    check "$1: a key to be set, without a space" type_line "$1" \
        'modelfile meta set m.gguf general.lic\tx' 'modelfile meta set m.gguf general.license=x'
    check "$1: a tensor" type_line "$1" 'modelfile tensors info m.gguf output.\t' \
        'modelfile tensors info m.gguf output.weight'
    check "$1: a part of many, without a space" type_line "$1" \
        'modelfile tensors info some.gguf \t7' 'modelfile tensors info some.gguf blk.7'
    check "$1: the type of a tensor" type_line "$1" \
        'modelfile quantize m.gguf o Q8_0 --tensor-type output.weight=q5_k\t' \
        'modelfile quantize m.gguf o Q8_0 --tensor-type output.weight=q5_k'
    check "$1: and in one word" type_line "$1" \
        'modelfile quantize m.gguf o Q8_0 --tensor-type=output.weight=q6\t' \
        'modelfile quantize m.gguf o Q8_0 --tensor-type=output.weight=q6_k'
    check "$1: a repository of the Hub" type_line "$1" 'modelfile info hf://own/t\t' \
        'modelfile info hf://own/tiny'
    check "$1: a file of it" type_line "$1" 'modelfile info hf://own/tiny/m\t' \
        'modelfile info hf://own/tiny/m.gguf'
    check "$1: a folder, without a space" type_line "$1" 'modelfile info Su\tx' \
        'modelfile info Sub/x'
    check "$1: after a variable" type_line "$1" 'X=1 modelfile quan\t' 'X=1 modelfile quantize'
    check "$1: a path to the program" type_line "$1" './modelfile quan\t' './modelfile quantize'
    typed 'modelfile info --qu m.gguf\002\002\002\002\002\002\002\t'
    check "$1: in the middle of the line" [ "$(echo "$line" | tr -s ' ')" = \
        "modelfile info --quiet m.gguf" ]
    typed 'modelfile info m.gguf >F=x.t\t'
    check "$1: where output goes" [ "$(printf '%s' "$line" | tr -d '\\' | sed 's/ $//')" = \
        "modelfile info m.gguf >F=x.txt" ]
    typed 'modelfile hash m.gguf --algo \t'
    check "$1: no error is shown" [ -z "$(grep -i 'error\|not found\|no such' "$dir/screen")" ]
}

files_of() { # SHELL
    for name in 'A file' 'B$(touch pwned)' 'C`touch pwned`' 'D; touch pwned #' "E'x\"" \
        'G:x' 'H!x' 'I*'; do
        first=$(printf %.1s "$name")
        check "$1: the file $name" type_word "$1" "modelfile info $first\\t" "$name.gguf"
    done
    check "$1: a file with =, by its suffix" type_word "$1" 'modelfile info F\t' 'F=x.gguf'
    check "$1: after the =" type_word "$1" 'modelfile info F=\t' 'F=x.gguf'
    check "$1: after :" type_word "$1" 'modelfile info G:\t' 'G:x.gguf'
    check "$1: of the Hub" type_word "$1" 'modelfile info hf://own/tiny/x\t' \
        'hf://own/tiny/x$(touch pwned).gguf'
    check "$1: a repository" type_word "$1" 'modelfile info hf://own/x\t' \
        'hf://own/x$(touch pwned)'
    check "$1: in the value of an option" type_word "$1" 'modelfile hash --check=A\t' \
        '--check=A file.gguf'
    check "$1: in single quotes" type_word "$1" "modelfile info 'A\\t" 'A file.gguf'
    check "$1: in double quotes" type_word "$1" 'modelfile info "B\t' 'B$(touch pwned).gguf'
    check "$1: after a backslash" type_word "$1" 'modelfile info A\\ \t' 'A file.gguf'
    check "$1: after ~/" type_word "$1" 'modelfile info ~/A\t' "$dir/here/A file.gguf"
    check "$1: in a folder" type_word "$1" 'modelfile info Sub/\t' "Sub/in it.gguf"
    check "$1: one with a dash after --" type_word "$1" 'modelfile info -- -\t' "$2-dash.gguf"
    typed 'modelfile info J\t'
    (cd "$dir/here" && PATH=$dir/shown:$PATH "$1" -c "$line") >"$dir/said" 2>&1 </dev/null
    check "$1: a name of two lines runs nothing" not_pwned
}

names_of() { # SHELL
    for quote in '' "'" '"'; do
        good_names | tr '\0' '\n' | grep '^k' >"$dir/k"
        while IFS= read -r name; do
            first=$(printf %.3s "$name")
            typed "modelfile meta get h.gguf $quote$first\\t"
            # In double quotes, "!" cannot be quoted: bash offers nothing, and
            # zsh has a backslash, which a line that is typed loses.
            case $1$quote$name in
            'bash"k10!touch') name=k10 line=$line\" ;;
            'zsh"k10!touch') name='k10\!touch' ;;
            esac
            (cd "$dir/here" && PATH=$dir/shown:$PATH "$1" -c "$line") >"$dir/said" 2>&1 </dev/null
            [ "$(cat "$dir/said")" = "$name" ] && not_pwned && continue
            printf '%s\n' "$line" "gives" && cat "$dir/said" && printf '\n%s\n' "not $name"
            return 1
        done <"$dir/k"
    done
}

# All at once: words again, and those that look like a pattern,
# a variable or a home.
all_names_of() { # SHELL
    typed 'modelfile meta get h.gguf \024'
    (cd "$dir/here" && PATH=$dir/every:$PATH "$1" -c "$line") 2>&1 </dev/null |
        LC_ALL=C sort >"$dir/found"
    not_pwned && { cat "$dir/good" && echo general.architecture; } | LC_ALL=C sort |
        diff - "$dir/found"
}
mkdir "$dir/every"
printf '%s\n' '#!/bin/sh' 'shift 3' 'printf "%s\n" "$@"' >"$dir/every/modelfile"
chmod +x "$dir/every/modelfile"

for shell in bash zsh fish; do
    if ! shell_begin "$shell"; then
        skip "$shell" "$shell or script is not here"
        continue
    fi
    lines_of "$shell"
    dashed=./
    [ "$shell" = bash ] || dashed=
    files_of "$shell" "$dashed"
    check "$shell: names in a file stay words, in all quotes" names_of "$shell"
    [ "$shell" = fish ] || check "$shell: all of them" all_names_of "$shell"
    shell_end
done

# fish prints candidates by itself.
fish_prints() {
    (cd "$dir/here" && PATH=$dir/bin:$PATH HOME=$dir/here XDG_CONFIG_HOME=$dir/rc \
        fish -c "complete -C 'modelfile meta get h.gguf '" 2>"$dir/err" </dev/null) |
        cut -f1 | grep -v '^general' | LC_ALL=C sort >"$dir/found"
    [ ! -s "$dir/err" ] && diff "$dir/good" "$dir/found" && not_pwned
}
if command -v fish >/dev/null 2>&1; then
    check "fish: all names" fish_prints
else
    skip "fish: all names" "fish is not here"
fi

# The program is the one in PATH: another of its name is not run by a key press.
another_program() {
    printf '%s\n' '#!/bin/sh' 'touch pwned' >"$dir/here/modelfile"
    chmod +x "$dir/here/modelfile"
    for shell in bash zsh fish; do
        shell_begin "$shell" || continue
        typed './modelfile quan\t'
        shell_end
        [ "${line% }" = "./modelfile quantize" ] || echo "$shell: $line"
    done
    not_pwned
    rm "$dir/here/modelfile"
}
check_empty "the program of that name in a folder is not run" another_program
cd "$top" || exit
finish
