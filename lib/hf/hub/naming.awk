# SPDX-License-Identifier: MIT
#
# naming.awk - turns lib/hf/hub/names/*.txt into tables in C
#
#     LC_ALL=C awk -f lib/hf/hub/naming.awk lib/hf/hub/names/*.txt \
#         lib/families/*.txt lib/families/*/*.txt >naming_rows.c
#
# An architecture that is not in 3-archs.txt has the tensors that its rows in
# lib/families look up.
#
# All texts are one string, and a row has the places of its own in there: no
# pointers, which would have to be relocated when a program starts.
function fail(message)
{
    print FILENAME ":" FNR ": " message >"/dev/stderr"
    failed = 1
    exit 1
}
function place(text)
{
    if (!(text in place_of)) {
        place_of[text] = size
        order[texts++] = text
        size += length(text) + 1
    }
    return place_of[text]
}
function id_of(word)
{
    if (!(word in id))
        fail("unknown tensor '" word "'")
    return id[word]
}
BEGIN {
    size = texts = tensors = prefixes = rows = archs = onlys = 0
    place("")
}
/^#/ || NF == 0 { next }
# Files of families come last; only their sections begin so.
$1 == "section" {
    section = $2
    next
}
section == "loader" {
    if (/^[a-z]/)
        paragraph = $1 " " $2
    if (/^arch /)
        loaded[loaders++] = $2
    if ($1 == "tensor" || $1 == "tensor?")
        looks[paragraph] = looks[paragraph] " " $2
    else if ($1 == "use" || $1 == "use?")
        uses[paragraph] = uses[paragraph] "," "group " $2
    else if ($1 == "like")
        uses[paragraph] = uses[paragraph] "," "arch " $2
}
section != "" { next }
$1 == "tensor" {
    if ($2 in id)
        fail("tensor '" $2 "' twice")
    id[$2] = tensors
    gguf[tensors] = $3
    flags = 0
    for (i = 4; i <= NF; i++)
        flags += $i == "f32" ? 1 : $i == "wide" ? 2 : fail("flag '" $i "'")
    flag[tensors++] = flags
    next
}
$1 == "at" {
    sub(/^""$/, "", $2)
    if (prefixes > 0 && !(prefix[prefixes - 1] "" < $2 ""))
        fail("prefixes are not sorted")
    prefix[prefixes] = $2
    first[prefixes++] = rows
    next
}
$1 == "arch" {
    if ($2 in arch)
        fail("arch '" $2 "' twice")
    if (NF > 2 && !($4 in arch))
        fail("unknown arch '" $4 "'")
    arch[$2] = archs
    arch_name[archs] = $2
    arch_only[archs] = onlys
    for (i = 0; i < tensors; i++)
        has[archs, i] = NF > 2 ? has[arch[$4], i] : 0
    archs++
    next
}
$1 == "with" || $1 == "without" {
    for (i = 2; i <= NF; i++)
        has[archs - 1, id_of($i)] = $1 == "with"
    next
}
$1 == "only" {
    only[onlys] = $2
    only_id[onlys++] = id_of($3)
    next
}
{
    if (rows > first[prefixes - 1] && !(rest[rows - 1] "" < $1 ""))
        fail("'" $1 "' is not in its place")
    if (NF > 4)
        fail("too many tensors")
    rest[rows] = $1
    count[rows] = NF - 1
    for (i = 2; i <= NF; i++)
        meaning[rows, i - 2] = id_of($i)
    rows++
}
# Tensors by their names in GGUF, for those that are called so already.
function sort_tensors(    i, j, held)
{
    for (i = 0; i < tensors; i++) {
        for (j = i; j > 0 && gguf[sorted[j - 1]] "" > gguf[i] ""; j--)
            sorted[j] = sorted[j - 1]
        sorted[j] = i
    }
}
# The architecture gets the tensors of a paragraph, and of those that it uses.
function look(paragraph,    i, j, count, list, name)
{
    count = split(looks[paragraph], list, " ")
    for (i = 1; i <= count; i++) {
        name = list[i]
        sub(/\.(weight|bias|scale|input_scale)$/, "", name)
        gsub(/\*/, "#", name)
        for (j = 0; j < tensors; j++)
            if (gguf[j] == name)
                has[archs, j] = 1
    }
    count = split(uses[paragraph], list, ",")
    for (i = 2; i <= count; i++)
        look(list[i])
}
function add_loaded(    i)
{
    for (i = 0; i < loaders; i++)
        if (!(loaded[i] in arch)) {
            arch_name[archs] = loaded[i]
            arch_only[archs] = onlys
            look("arch " loaded[i])
            archs++
        }
}
END {
    if (failed)
        exit 1
    add_loaded()
    print "/* Made from lib/hf/hub/names by lib/hf/hub/naming.awk. */"
    print "#include \"lib/hf/hub/naming_table.h\"\n"
    print "const struct mf_naming_tensor mf_naming_tensors[] = {"
    for (i = 0; i < tensors; i++)
        print "    { " place(gguf[i]) ", " flag[i] " },"
    print "};\n\nconst uint16_t mf_naming_sorted[] = {"
    sort_tensors()
    for (i = 0; i < tensors; i++)
        print "    " sorted[i] ","
    print "};\n\nconst size_t mf_naming_tensor_count = " tensors ";\n"
    print "const struct mf_naming_prefix mf_naming_prefixes[] = {"
    first[prefixes] = rows
    for (i = 0; i < prefixes; i++)
        print "    { " place(prefix[i]) ", " first[i] ", " first[i + 1] - first[i] " },"
    print "};\n\nconst size_t mf_naming_prefix_count = " prefixes ";\n"
    print "const struct mf_naming_row mf_naming_rows[] = {"
    for (i = 0; i < rows; i++) {
        printf "    { %d, %d, { %d", place(rest[i]), count[i], meaning[i, 0]
        for (j = 1; j < count[i]; j++)
            printf ", %d", meaning[i, j]
        print " } },"
    }
    print "};\n\nconst struct mf_naming_only mf_naming_onlys[] = {"
    for (i = 0; i < onlys; i++)
        print "    { " place(only[i]) ", " only_id[i] " },"
    print "};\n\nconst struct mf_naming_arch mf_naming_archs[] = {"
    arch_only[archs] = onlys
    for (i = 0; i < archs; i++) {
        printf "    { %d, %d, %d,\n      {", place(arch_name[i]), arch_only[i], arch_only[i + 1] - arch_only[i]
        for (j = 0; j < tensors; j += 16) {
            bits = 0
            for (k = 15; k >= 0; k--)
                bits = bits * 2 + ((j + k < tensors) ? has[i, j + k] : 0)
            printf (j ? ", %d" : " %d"), bits
        }
        print " } },"
    }
    print "};\n\nconst size_t mf_naming_arch_count = " archs ";\n"
    printf "const char mf_naming_text[] ="
    for (i = 0; i < texts; i++)
        printf "\n    \"%s\\0\"", order[i]
    print ";"
}
