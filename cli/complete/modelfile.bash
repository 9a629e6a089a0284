# shellcheck shell=bash
# SPDX-License-Identifier: MIT
#
# modelfile.bash - completes modelfile's command line in bash
#
# Asks `modelfile complete` (its source says what the lines mean): the program
# of that name in PATH, whatever path was typed, so that a key press runs nothing
# that lies in some folder.  Names come from files that may be hostile: each
# is quoted, so that it stays one word, and is never evaluated.

# Takes TEXT apart as the shell does: its words without their quotes, up to the
# end, where the last one begins, and which quote is open there.  A word that
# output goes to, or input comes from, is none of the command's.
_modelfile_split() { # TEXT
    local text=$1 word='' some='' drop='' c i

    words=() quote='' redirected=''
    for ((i = 0; i < ${#text}; i++)); do
        c=${text:i:1}
        [[ -n $some || $c = [[:space:]\<\>] ]] || { some=1 start=$i; }
        case $quote$c in
        \'\' | \"\") quote='' ;;
        \'?) word+=$c ;;
        \"\\)
            [[ ${text:i+1:1} != [\\\"\$\`] ]] || c=${text:$((++i)):1}
            word+=$c
            ;;
        \"?) word+=$c ;;
        \\) word+=${text:$((++i)):1} ;;
        \' | \") quote=$c ;;
        [\<\>])
            [[ -z $some || $word != *[!0-9]* ]] || words+=("$word")
            word='' some='' drop=1
            ;;
        [[:space:]])
            [[ -z $some || -n $drop ]] || words+=("$word")
            [[ -z $some ]] || word='' some='' drop=''
            ;;
        \~)
            [[ $i -ne $start || ${text:i+1:1} != / ]] || c=$HOME
            word+=$c
            ;;
        *) word+=$c ;;
        esac
    done
    [[ -n $some ]] || start=$i
    words+=("$word") redirected=$drop
}

# A name as a word, or as the rest of one in the quotes that are open.  In
# double quotes, "!" would mean something whatever is before it.  bash closes
# the quotes, but not behind a character that looks like it.
_modelfile_quote() { # NAME
    case $quote in
    \') quoted=${1//\'/\'\\\'\'} ;;
    \")
        [[ $1 != *!* ]] || return 1
        quoted=${1//\\/\\\\}
        quoted=${quoted//\"/\\\"}
        quoted=${quoted//\$/\\\$}
        quoted=${quoted//\`/\\\`}
        ;;
    *) printf -v quoted %q "$1" ;;
    esac
    [[ -z $quote || $1 != *"$quote" ]] || quoted+=$quote
}

# Files whose names go on with the word, folders with a "/"; NUL-terminated,
# since a name may have any other character.
_modelfile_files() { # KIND BEFORE WORD SUFFIX...
    local kind=$1 before=$2 word=$3 file suffix

    shift 3
    set +f
    unset GLOBIGNORE
    shopt -u failglob dotglob
    shopt -s nullglob
    for file in "$word"*; do
        if [[ -d $file ]]; then
            suffix=/
        elif [[ $kind = models ]]; then
            for suffix; do
                [[ $file != *"$suffix" ]] || break
            done
            [[ $file = *"$suffix" ]] || continue
            suffix=
        elif [[ $kind = files ]]; then
            suffix=
        else
            continue
        fi
        [[ -n $before || $file != -* ]] || file=./$file # it is no option
        printf '%s\0' "$before$file$suffix"
    done
}

# What the program offers for the words typed.
_modelfile_ask() {
    local line

    while IFS= read -r line; do
        case $line in
        $'\tnospace') nospace=1 ;;
        $'\tafter\t'*) before=${line#$'\tafter\t'} ;;
        $'\tsuffix\t'*) suffixes+=("${line#$'\tsuffix\t'}") ;;
        $'\t'*) files=${line#$'\t'} ;;
        *) names+=("${line%%$'\t'*}") ;;
        esac
    done < <(command modelfile complete --quiet -- "${words[@]:1}" 2>/dev/null)
}

_modelfile() {
    local words word quote open redirected start quoted kept name
    local files='' nospace='' before=''
    local text=${COMP_LINE:0:COMP_POINT}
    local -a suffixes=() names=()

    COMPREPLY=()
    _modelfile_split "$text"
    open=$quote
    while [[ ${words[0]} =~ ^[A-Za-z_][A-Za-z0-9_]*= ]]; do
        words=("${words[@]:1}") # NAME=VALUE modelfile ...
    done
    word=${words[${#words[@]} - 1]}
    if [[ -n $redirected ]]; then
        files=files
    else
        _modelfile_ask
    fi
    if [[ -n $files ]]; then
        while IFS= read -r -d '' name; do
            names+=("$name")
        done < <(_modelfile_files "$files" "$before" "${word#"$before"}" \
            "${suffixes[@]}")
    fi
    [[ ${#names[@]} -ne 1 || ${names[0]} != */ ]] || nospace=1
    [[ -z $nospace ]] || compopt -o nospace 2>/dev/null
    # bash replaces a part of the word only, behind the last "=" or ":", say.
    kept=${text:start}
    _modelfile_split "${kept%"$2"}"
    kept=${words[0]} quote=$open
    for name in "${names[@]}"; do
        [[ $name = "$kept"* ]] || continue
        _modelfile_quote "${name#"$kept"}" && COMPREPLY+=("$quoted")
    done
}

complete -F _modelfile modelfile
