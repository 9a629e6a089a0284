# SPDX-License-Identifier: MIT
#
# modelfile.fish - completes modelfile's command line in fish
#
# Asks `modelfile complete` (its source says what the lines mean).  fish quotes
# what it inserts.
function __modelfile_complete
    set -l tab (printf '\t')
    set -l current (commandline -ct | string unescape)
    set -l suffixes
    set -l typed (commandline -opc)[2..-1]
    for line in (modelfile complete --quiet -- $typed "$current" 2>/dev/null)
        switch $line
            case "$tab""nospace"
                # fish leaves out the space after "=" and "." by itself.
            case "$tab""suffix*"
                set -a suffixes (string split $tab -- $line)[3]
            case "$tab""files"
                __fish_complete_path "$current"
            case "$tab""folders"
                __fish_complete_directories "$current"
            case "$tab""models"
                for file in (__fish_complete_path "$current")
                    set -l path (string split $tab -- $file)[1]
                    for suffix in / $suffixes
                        string match -q -- "*$suffix" $path; and echo $file
                    end
                end
            case '*'
                echo $line
        end
    end
end

complete -c modelfile -f -a '(__modelfile_complete)'
