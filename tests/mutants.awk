# SPDX-License-Identifier: MIT
#
# mutants.awk - lists what may be changed in a C file, one operator or constant
# at a time
#
#     awk -v lines=LIST -f mutants.awk FILE.c
#
# LIST is a file with the numbers of the lines that count ("-": all).  A row of
# the output is LINE, COLUMN (from 1 on), LENGTH and the replacement, with tabs
# between them.  The layout is as after `make format`: a space on both sides
# tells a binary operator from a unary one.

BEGIN {
    count = split("< <= <= < > >= >= > == != != == && || || && " \
                  "+= -= -= += |= &= &= |= ++ -- -- ++ << >> >> <<", word, " ")
    for (i = 1; i < count; i += 2)
        other[word[i]] = word[i + 1]
    count = split("+ - - + * / / * % * & | | &", word, " ")
    for (i = 1; i < count; i += 2)
        binary[word[i]] = word[i + 1]
    other["true"] = "false"
    other["false"] = "true"
    all = lines == "-"
    while (!all && (getline row <lines) > 0)
        chosen[row + 0] = 1
}

# The line with spaces for comments, texts and characters.
function masked(line,    out, at, letter, two) {
    out = ""
    for (at = 1; at <= length(line); at++) {
        letter = substr(line, at, 1)
        two = substr(line, at, 2)
        if (inside == "*") {
            if (two == "*/") {
                inside = ""
                out = out " "
                at++
            }
            out = out " "
        } else if (inside != "") {
            if (letter == "\\") {
                out = out " "
                at++
            } else if (letter == inside) {
                inside = ""
            }
            out = out " "
        } else if (two == "/*" || letter == "\"" || letter == "'") {
            inside = two == "/*" ? "*" : letter
            out = out " "
            if (two == "/*") {
                out = out " "
                at++
            }
        } else {
            out = out letter
        }
    }
    return out
}

function change(at, size, instead) {
    printf "%d\t%d\t%d\t%s\n", NR, at, size, instead
}

# One more and one less; of a hexadecimal one the last bit.
function nudge(at, text,    digits, suffix, last) {
    if (text ~ /^0[xX][0-9a-fA-F]+$/) {
        last = index("1032547698badcfe", tolower(substr(text, length(text))))
        change(at, length(text), substr(text, 1, length(text) - 1) \
            substr("0123456789abcdef", last, 1))
    } else if (text ~ /^[0-9]+[uUlL]*$/ && length(text) < 15) {
        match(text, /^[0-9]+/)
        digits = substr(text, 1, RLENGTH)
        suffix = substr(text, RLENGTH + 1)
        change(at, length(text), (digits + 1) suffix)
        if (digits > 0)
            change(at, length(text), (digits - 1) suffix)
    }
}

# Room in an array that is declared is seldom a limit, { 0 } never.
function is_room(text, at, size) {
    return substr(text, at - 1, 1) == "[" &&
        substr(text, 1, at - 2) ~ /[A-Za-z0-9_*] \**[A-Za-z0-9_]+(\[[^\]]*\])*$/ &&
        substr(text, 1, at - 2) !~ /(return|sizeof|case|else) [^ ]*$/ ||
        substr(text, at - 2, 2) == "{ " && substr(text, at + size, 2) == " }"
}

function scan(text,    at, rest, token, size, last) {
    for (at = 1; at <= length(text); at += size) {
        rest = substr(text, at)
        size = 1
        if (match(rest, /^[A-Za-z_][A-Za-z0-9_]*/)) {
            size = RLENGTH
            token = substr(rest, 1, size)
            if (token == "true" || token == "false")
                change(at, size, other[token])
        } else if (match(rest, /^[0-9][A-Za-z0-9_.]*/)) {
            size = RLENGTH
            if (!is_room(text, at, size))
                nudge(at, substr(rest, 1, size))
        } else if (rest ~ /^(->|\.\.\.)/) {
            size = rest ~ /^->/ ? 2 : 3
        } else if (rest ~ /^(<<|>>)=/) {
            size = 3
        } else if ((substr(rest, 1, 2) in other)) {
            size = 2
            change(at, 2, other[substr(rest, 1, 2)])
        } else {
            token = substr(rest, 1, 1)
            last = substr(rest, 2, 1)
            if (token in other)
                change(at, 1, other[token])
            else if (token in binary && substr(text, at - 1, 1) == " " &&
                (last == " " || last == ""))
                change(at, 1, binary[token])
            else if (token == "!" && last != "=")
                change(at, 1, " ")
        }
    }
}

{
    text = masked($0)
    if (text ~ /^ *#/ && text !~ /^ *# *define/)
        next
    if (all || NR in chosen)
        scan(text)
}
