# SPDX-License-Identifier: MIT
#
# families.awk - turns the rows of families into texts in C
#
#     awk -f lib/hub/families.awk lib/hub/families/*.txt >families.c
#
# "family", "projector", "tensors", "group", "config" or "restore" begins a
# text.  Comments, indents and empty lines are left out; a line that ends with a
# backslash goes on in the next.
BEGIN {
    print "/* Made from lib/hub/families by lib/hub/families.awk. */"
    print "#include \"lib/hub/recipe.h\"\n"
    print "const struct mf_recipe_text mf_recipe_texts[] = {"
}
{
    sub(/(^|[ \t])#.*/, "")
    if (begun != "") {
        sub(/^[ \t]+/, "")
        $0 = begun " " $0
        begun = ""
    }
    if (sub(/[ \t]*\\$/, "")) {
        begun = $0
        next
    }
    gsub(/[ \t]+/, " ")
    sub(/^ /, "")
    sub(/ $/, "")
    gsub(/\\/, "&&")
    gsub(/"/, "\\\"")
}
$1 == "family" || $1 == "projector" || $1 == "tensors" || $1 == "group" ||
$1 == "config" || $1 == "restore" {
    if (open)
        print "    },"
    open = 1
    kind = $1
    words = $0
    sub(/^[^ ]+ /, "", words)
    printf "    { \"%s\", \"%s\", \"\"", kind, words
    next
}
NF > 0 {
    printf "\n      \"%s\\n\"", $0
}
END {
    if (open)
        print "    },"
    print "};\n"
    print "const size_t mf_recipe_text_count ="
    print "    sizeof(mf_recipe_texts) / sizeof(*mf_recipe_texts);"
}
