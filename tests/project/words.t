#!/bin/sh
# SPDX-License-Identifier: MIT
#
# words.t - messages, comments, names and docs keep to plain English
#
# Each phrase below was once all over this tree and has a plainer form, which a
# reader of any country knows.  Names count as text: in mf_x_told, the word
# 'told' is found.  A phrase is also found where a line ends within it.
#
# shellcheck disable=SC1091 # tests run in the top folder
set -u
. tests/tap.sh
. tests/lib-run.sh

# PHRASE: what to write instead.
cat >"$dir/phrases" <<'END'
anew: again, rewritten
are none: missing, not found
blame: mark, report
for nothing: free, without
held against: compared with
in vain: needlessly; or say what happens
learn: read
must be had: is required
no such one: unknown, not supported
one too many: unexpected
settle: resolve, decide
takes away: removes
what is to be: what will be; or name the thing
who watches: the progress function
wishes: options
END

# FILE: a part of the line.  Uses that a native engineer would write so.
cat >"$dir/allowed" <<'END'
END

find README.md CHANGELOG.md CONTRIBUTING.md docs lib cli gguf apr safetensors \
    -name '*.[ch]' -o -name '*.def' -o -name '*.md' | LC_ALL=C sort >"$dir/files"

# uses PHRASE: "FILE:LINE: text" of each.
uses() {
    # shellcheck disable=SC2046 # no name has a space
    awk -v phrase="$1" -v allowed="$dir/allowed" '
        # Lower case; anything that is no letter separates words.
        function words(text) {
            text = tolower(text)
            gsub(/[^a-z]+/, " ", text)
            return " " text " "
        }
        # Without uses of these words that are plain.
        function plain(text) {
            gsub(/ there (is|are) no(ne)? /, " _ ", text)
            gsub(/ (is|are) no (longer|more|less) | stands? for /, " _ ", text)
            return text
        }
        function is_allowed(    i) {
            for (i = 0; i < count; i++)
                if (file[i] == FILENAME && index($0, part[i]))
                    return 1
            return 0
        }
        BEGIN {
            while ((getline line <allowed) > 0) {
                at = index(line, ": ")
                file[count] = substr(line, 1, at - 1)
                part[count++] = substr(line, at + 2)
            }
            wanted = " " phrase " "
        }
        FNR == 1 { before = "" }
        {
            now = words($0)
            joined = before now
            gsub(/ +/, " ", joined)
            if (!is_allowed() && (index(plain(now), wanted) ||
                (index(plain(joined), wanted) &&
                    !index(plain(before), wanted))))
                print FILENAME ":" FNR ": " $0
            before = now
        }' $(cat "$dir/files")
}

check "there are files to search" [ "$(wc -l <"$dir/files")" -gt 300 ]
while IFS=: read -r phrase instead; do
    check_empty "'$phrase' is not used; instead:$instead" uses "$phrase"
done <"$dir/phrases"

finish
