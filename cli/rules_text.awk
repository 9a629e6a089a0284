# SPDX-License-Identifier: MIT
#
# rules_text.awk - turns the paragraphs of docs/rules.md into a table in C
#
#     awk -f cli/rules_text.awk docs/rules.md >rules_text.c
#
# "### ID" begins the paragraph of a rule, the next heading ends it.
BEGIN {
    print "/* Made from docs/rules.md by cli/rules_text.awk. */"
    print "#include <string.h>\n\n#include \"cli/rules_text.h\"\n"
    print "static const struct {\n    const char *id, *text;\n} texts[] = {"
}
/^#/ {
    if (id != "")
        print "    },"
    id = ""
}
/^### / {
    id = $2
    printf "    { \"%s\",", id
    next
}
id != "" && NF > 0 {
    gsub(/\\/, "\\\\")
    gsub(/"/, "\\\"")
    printf "\n      \"%s\\n\"", $0
}
END {
    if (id != "")
        print "    },"
    print "};\n"
    print "const char *rule_text(const char *id)\n{"
    print "    for (size_t i = 0; i < sizeof(texts) / sizeof(*texts); i++)"
    print "        if (strcmp(texts[i].id, id) == 0)"
    print "            return texts[i].text;"
    print "    return NULL;\n}"
}
