# SPDX-License-Identifier: MIT
#
# mutants_rows.awk - changes one thing in rows of lib/families, drawn by a seed
#
#     awk -v seed=N -v sections="loader graph" -f mutants_rows.awk FILE FILE...
#
# The files are given twice: a row may get names of other rows in place of its
# own.  Each row gets one of its possible changes, and all of
# these are printed in an order that the seed decides:
#
#     FILE, FIRST LINE, LAST LINE, SECTION, WHAT IS CHANGED, THE NEW ROW
#
# with tabs between them.  An empty new row: it is removed.

function random(count) { # the same with every awk: Lehmer's generator
    state = (state * 16807) % 2147483647
    return state % count
}

BEGIN {
    order = "sort -n -k 1,1 | cut -f 2-"
    state = seed % 2147483646 + 1
    random(2)
    files = (ARGC - 1) / 2
    count = split("< <= <= < > >= >= > == != != == && || || && " \
                  "+ - - + * + / * % / // * ** *", word, " ")
    for (i = 1; i < count; i += 2)
        other[word[i]] = word[i + 1]
    other["true"] = "false"
    other["false"] = "true"
    other["null"] = "0"
    count = split("uint float int uint float uint bool uint string uint " \
                  "id uint ulong uint list uint u32 i32 i32 u32 u64 u32 " \
                  "f32 u32 text u32 array u32 counts u32 f16 f32 i64 i32 " \
                  "half f32 file f16 keys values values keys masks f32", word,
                  " ")
    for (i = 1; i < count; i += 2)
        type[word[i]] = word[i + 1]
}

# ---- what rows consist of

# The next token of the row from `at` on: its kind, and `size`.
function token(row, at,    rest) {
    rest = substr(row, at)
    if (match(rest, /^"[^"]*"/) || match(rest, /^ +/)) {
        size = RLENGTH
        return "other"
    }
    if (match(rest, /^[A-Za-z_*#${][-A-Za-z0-9_.*#${},|\[\]]*\??/)) {
        size = RLENGTH
        if (substr(rest, size, 1) ~ /[,|]/)
            size--
        return "name"
    }
    if (match(rest, /^[0-9]+(\.[0-9]+)?/)) {
        size = RLENGTH
        return "number"
    }
    if (match(rest, /^(\/\/|\*\*|<=|>=|==|!=|&&|\|\||[-<>+*\/%])/)) {
        size = RLENGTH
        return "operator"
    }
    size = 1
    return "other"
}

# A place in which names stand for each other: "loader key", "graph op" ...
function pool_of(section, verb, index_, name) {
    sub(/\?$/, "", verb)
    if (name ~ /^(true|false|null|i|if|end|at|as|from|below|except)$/)
        return ""
    if (index_ == 2 && verb ~ /^(key|first_key)$/)
        return section " type"
    if (index_ == 3 && verb ~ /^(key|first_key)$/)
        return section " key"
    if (index_ == 2)
        return section " " verb
    if (section == "graph" && index_ == 4 && name !~ /[.*|]/)
        return "graph source"
    if (section == "graph" && name ~ /^blk\./)
        return "graph weight"
    if (section ~ /^(loader|graph)$/)
        return name ~ /\./ ? section " key" : section " number"
    return section " " (verb == "tensor" ? "step" : "value")
}

function remember(pool, name) {
    sub(/\?$/, "", name)
    if (pool == "" || (pool, name) in known)
        return
    known[pool, name] = 1
    pooled[pool, ++pool_size[pool]] = name
}

function note_row(section, row,    at, index_, kind, verb, name) {
    for (at = 1; at <= length(row); at += size) {
        kind = token(row, at)
        if (kind != "name")
            continue
        name = substr(row, at, size)
        if (++index_ == 1)
            verb = name
        else
            remember(pool_of(section, verb, index_, name), name)
    }
}

# ---- changes

function change(what, row) {
    changes++
    kind_of[changes] = what
    row_of[changes] = row
}

function instead(row, at, size_, text, what) {
    change(what, substr(row, 1, at - 1) text substr(row, at + size_))
}

function change_name(section, verb, index_, row, at, name,    pool, base, i) {
    base = name
    sub(/\?$/, "", base)
    pool = pool_of(section, verb, index_, name)
    if (base in other) {
        instead(row, at, length(base), other[base], "constant")
        return
    }
    if (pool ~ / type$/ || verb ~ /^(input|type|gguf_type)$/) {
        match(base, /^[a-z0-9]+/)
        if (substr(base, 1, RLENGTH) in type)
            instead(row, at, RLENGTH, type[substr(base, 1, RLENGTH)], "type")
    }
    if (pool ~ / type$/) {
        if (base ~ /[*[]/)
            instead(row, at, length(base), substr(base, 1, RLENGTH), "type")
        if (name ~ /\?$/)
            instead(row, at, length(name), base, "optional")
        else
            instead(row, at, length(name), base "?", "optional")
        return
    }
    if (pool_size[pool] > 1) {
        do
            i = pooled[pool, random(pool_size[pool]) + 1]
        while (i == base)
        instead(row, at, length(base), i, "name")
    }
}

# Patterns have stars of their own.
function is_pattern(verb, row, at) {
    return verb ~ /^(skip|rename|type|gguf_type)$/ ||
        verb ~ /^(tensor|early)$/ && index(substr(row, at), " : ") > 0
}

function change_tokens(section, row,    at, index_, kind, verb, name) {
    for (at = 1; at <= length(row); at += size) {
        kind = token(row, at)
        name = substr(row, at, size)
        if (kind == "name" && ++index_ == 1) {
            verb = name
            if (section == "loader" && name ~ /^(tensor|use)\??$/)
                instead(row, at, size, name ~ /\?$/ ? \
                    substr(name, 1, size - 1) : name "?", "optional")
        } else if (kind == "name") {
            keep = size
            change_name(section, verb, index_, row, at, name)
            size = keep
        } else if (kind == "number") {
            instead(row, at, size, name + 1, "number")
            if (name > 0)
                instead(row, at, size, name - 1, "number")
        } else if (kind == "operator" && name in other &&
            substr(row, at - 1, 1) == " " && substr(row, at + size, 1) == " " &&
            !is_pattern(verb, row, at))
            instead(row, at, size, other[name], "operator")
    }
    if (section == "graph" && row ~ /^[a-z_0-9]+ = [a-z_]+\?? /) {
        at = index(row, "= ") + 2
        match(substr(row, at), /^[a-z_0-9]+/)
        size = RLENGTH
        if (substr(row, at + size, 1) == "?")
            instead(row, at + size, 1, "", "optional")
        else
            instead(row, at + size, 0, "?", "optional")
        instead(row, at, size, pooled["graph op",
            random(pool_size["graph op"]) + 1], "operation")
    }
}

# One of several steps, or of dimensions, is left out.
function change_steps(section, row,    head, count, part, i, j, text, by) {
    by = " ; "
    if (!match(row, /^(tensor|early)[^:]* : /)) {
        if (section != "loader" || !match(row, /^tensor\?? [^ ]* /))
            return
        by = ", "
    }
    head = substr(row, 1, RLENGTH)
    count = split(substr(row, RLENGTH + 1), part, by)
    for (i = 1; count > 1 && i <= count; i++) {
        text = ""
        for (j = 1; j <= count; j++)
            if (j != i)
                text = text (text == "" ? "" : by) part[j]
        change(by == ", " ? "dimension" : "step", head text)
    }
}

function change_row(section, row,    verb, i) {
    changes = 0
    verb = row
    sub(/ .*/, "", verb)
    if (verb ~ /^(else|end)$/)
        return
    if (verb ~ /^(if|elif)$/)
        change("condition", verb " !(" substr(row, length(verb) + 2) ")")
    else if (verb != "each")
        change("removed", "")
    change_tokens(section, row)
    change_steps(section, row)
    if (changes == 0)
        return
    i = random(changes) + 1
    printf("%d\t%s\t%d\t%d\t%s\t%s\t%s\n", random(1000000), FILENAME, first,
        FNR, section, kind_of[i], row_of[i] == "" ? "" : indent row_of[i]) | order
}

# ---- lines

FNR == 1 {
    seen_files++
    section = row = ""
}
/^section / {
    section = $2
    next
}
/^[^ ]/ || /^ *#/ || NF == 0 {
    next
}
{
    line = $0
    if (match(line, / # /))
        line = substr(line, 1, RSTART - 1)
    if (row == "") {
        first = FNR
        match(line, /^ */)
        indent = substr(line, 1, RLENGTH)
    }
    sub(/^ */, "", line)
    row = row line
    if (sub(/\\$/, "", row))
        next
    sub(/ *$/, "", row)
    if (sections == "" || index(" " sections " ", " " section " ")) {
        if (seen_files <= files) {
            note_row(section, row)
            if (section == "graph" && match(row, / = [a-z_0-9]+/))
                remember("graph op", substr(row, RSTART + 3, RLENGTH - 3))
        } else
            change_row(section, row)
    }
    row = ""
}
