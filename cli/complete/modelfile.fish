# SPDX-License-Identifier: MIT
#
# modelfile.fish - completes modelfile's command line in fish
#
# Asks `modelfile complete` (its source says what the lines mean): the program
# of that name in PATH, whatever path was typed, so that a key press runs nothing
# that lies in some folder.  fish quotes what it inserts, and leaves out the
# space behind "=", "." and "/" by itself.

# The word without its quotes, of which the last may be open.
function __modelfile_unquoted --argument-names raw
    for end in '' \' '"'
        string unescape -- "$raw$end" 2>/dev/null; and return
    end
end

# Files whose names go on with the word as it was typed, which fish takes apart
# again and expands; no command in it is run.  Of a word with "=" or ":", fish
# offers what a file behind that would be as well.
function __modelfile_files --argument-names kind before raw
    for file in (complete -C "'' $raw")
        set -l path (string split -m 1 \t -- $file)[1]
        test -e (string replace -r '^~/' "$HOME/" -- $path); or continue
        for suffix in / $argv[4..]
            if test $kind = files; or string match -q -- "*$suffix" $path
                echo -- $before$path
                break
            end
        end
    end
end

function __modelfile_complete
    set -l raw (commandline -ct | string collect)
    set -l current (__modelfile_unquoted "$raw" | string collect)
    set -l typed (commandline -opc)
    set -l suffixes
    set -l files
    set -l before ''

    while string match -qr '^\w+=' -- $typed[1] # NAME=VALUE modelfile ...
        set -e typed[1]
    end
    set -e typed[1]
    set -q typed[1]; and set typed (string replace -r '^~/' "$HOME/" -- $typed)
    for line in (command modelfile complete --quiet -- $typed "$current" 2>/dev/null)
        set -l parts (string split -m 2 \t -- $line)
        if test -n "$parts[1]"
            echo -- $line
            continue
        end
        switch $parts[2]
            case suffix
                set -a suffixes $parts[3]
            case after
                set before $parts[3]
            case files folders models
                set files $parts[2]
        end
    end
    test -z "$files"; and return
    __modelfile_files $files "$before" (string replace -- "$before" '' "$raw") $suffixes
end

complete -c modelfile -f -a '(__modelfile_complete)'
