# SPDX-License-Identifier: MIT
#
# modelfile.bash - completes modelfile's command line in bash
#
# Asks `modelfile complete` (its source says what the lines mean).  Candidates
# are quoted: a name in a file is never more than a word.

# Words of the line up to the cursor, as the shell has them: bash splits at "="
# and ":" as well.  A word in quotes, or with "\ ", loses these.
_modelfile_words() {
    local line=${COMP_LINE:0:COMP_POINT} word
    local part=0 rest=$line

    words=()
    while ((part <= COMP_CWORD)); do
        word=${COMP_WORDS[part]}
        ((part == COMP_CWORD)) && word=$rest
        if [[ $part -gt 0 && $rest != [[:space:]]* ]]; then
            words[${#words[@]} - 1]+=$word
        else
            rest=${rest#"${rest%%[![:space:]]*}"}
            ((part == COMP_CWORD)) && word=$rest
            words+=("$word")
        fi
        rest=${rest#"$word"}
        ((part++))
    done
    words=("${words[@]//[\\\"\']/}")
    words=("${words[@]/#\~\//$HOME/}")
}

# Files whose names go on with the word, folders with a "/".
_modelfile_files() { # KIND SUFFIX...
    local kind=$1 file suffix

    shift
    while IFS= read -r file; do
        if [[ -d $file ]]; then
            COMPREPLY+=("$file/")
        elif [[ $kind = files ]]; then
            COMPREPLY+=("$file")
        elif [[ $kind = models ]]; then
            for suffix; do
                [[ $file != *"$suffix" ]] || { COMPREPLY+=("$file"); break; }
            done
        fi
    done < <(compgen -f -- "$current")
}

_modelfile() {
    local words current line kept files='' nospace='' i
    local -a suffixes=()

    COMPREPLY=()
    _modelfile_words
    current=${words[${#words[@]} - 1]}
    while IFS= read -r line; do
        case $line in
        $'\tnospace') nospace=1 ;;
        $'\tsuffix\t'*) suffixes+=("${line##*$'\t'}") ;;
        $'\t'*) files=${line#$'\t'} ;;
        *) COMPREPLY+=("${line%%$'\t'*}") ;;
        esac
    done < <(modelfile complete --quiet -- "${words[@]:1}" 2>/dev/null)
    [[ -z $files ]] || _modelfile_files "$files" "${suffixes[@]}"
    [[ ${#COMPREPLY[@]} -ne 1 || ${COMPREPLY[0]} != */ ]] || nospace=1
    [[ -z $nospace ]] || compopt -o nospace 2>/dev/null
    # bash replaces only what is behind the last "=" or ":".
    kept=${current%"${current##*[=:]}"}
    for i in "${!COMPREPLY[@]}"; do
        printf -v "COMPREPLY[i]" %q "${COMPREPLY[i]#"$kept"}"
    done
}

complete -F _modelfile modelfile
