# SPDX-License-Identifier: MIT
#
# tables.awk - turns the rows of architectures into texts in C
#
#     awk -f lib/arch/tables.awk -v array=mf_arch_text \
#         -v from=lib/arch/tables lib/arch/tables/*.txt >tables.c
#
# "arch NAME", "graph NAME" or "group NAME PARAMETERS" begins a text.  Comments,
# indents and empty lines are left out.
BEGIN {
    print "/* Made from " from " by lib/arch/tables.awk. */"
    print "#include \"lib/arch/run.h\"\n"
    if (array == "mf_graph_text")
        print "#include \"lib/plan/graph.h\"\n"
    print "const struct mf_arch_text " array "s[] = {"
}
{
    sub(/#.*/, "")
    gsub(/[ \t]+/, " ")
    sub(/^ /, "")
    sub(/ $/, "")
    gsub(/"/, "\\\"")
}
$1 == "arch" || $1 == "graph" || $1 == "group" {
    if (open)
        print "    },"
    open = 1
    name = $2
    parameters = $0
    sub(/^[^ ]+ [^ ]+ ?/, "", parameters)
    printf "    { \"%s\" \"%s\\0\" \"%s\\0\"", $1 == "group" ? "g" : "a", name, parameters
    next
}
NF > 0 {
    printf "\n      \"%s\\n\"", $0
}
END {
    if (open)
        print "    },"
    print "};\n"
    print "const size_t " array "_count ="
    print "    sizeof(" array "s) / sizeof(*" array "s);"
}
