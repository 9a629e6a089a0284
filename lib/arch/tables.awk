# SPDX-License-Identifier: MIT
#
# tables.awk - turns the rows of architectures into texts in C
#
#     awk -f lib/arch/tables.awk lib/arch/tables/*.txt >tables.c
#
# "arch NAME" or "group NAME PARAMETERS" begins a text.  Comments, indents and
# empty lines are left out.
BEGIN {
    print "/* Made from lib/arch/tables by lib/arch/tables.awk. */"
    print "#include \"lib/arch/run.h\"\n"
    print "const struct mf_arch_text mf_arch_texts[] = {"
}
{
    sub(/#.*/, "")
    gsub(/[ \t]+/, " ")
    sub(/^ /, "")
    sub(/ $/, "")
    gsub(/"/, "\\\"")
}
$1 == "arch" || $1 == "group" {
    if (open)
        print "    },"
    open = 1
    name = $2
    parameters = $0
    sub(/^[^ ]+ [^ ]+ ?/, "", parameters)
    printf "    { %s, \"%s\", \"%s\",", $1 == "arch" ? "true" : "false", name, parameters
    printf "\n      \"\""
    next
}
NF > 0 {
    printf "\n      \"%s\\n\"", $0
}
END {
    if (open)
        print "    },"
    print "};\n"
    print "const size_t mf_arch_text_count ="
    print "    sizeof(mf_arch_texts) / sizeof(*mf_arch_texts);"
}
