# SPDX-License-Identifier: MIT
#
# converted.awk - the models that lib/families converts, as one text in C
#
#     awk -f lib/folder/converted.awk lib/families/*.txt lib/families/*/*.txt \
#         lib/arch/names.def >converted.c
#
# Names of classes are in rows `class` of paragraphs `family` and `projector`.
# Model types are in the first line of paragraphs `config`, in rows
# `field model_type` of paragraphs `restore`, and in names.def of lib/arch.
function add(word) {
    if (word != "" && !(word in known)) {
        known[word] = 1
        print "    \"" word "\\0\""
    }
}
BEGIN {
    print "/* Made from lib/families by lib/folder/converted.awk. */"
    print "#include \"lib/folder/folder.h\"\n"
    print "const char mf_folder_converted[] ="
}
{
    sub(/(^|[ \t])#.*/, "")
    $0 = begun $0
    begun = ""
    if (sub(/[ \t]*\\$/, "")) {
        begun = $0 " "
        next
    }
}
/^[a-z]/ { kind = $1 }
(/^config / || ($1 == "class" && (kind == "family" || kind == "projector"))) {
    for (i = 2; i <= NF; i++)
        add($i)
}
$1 == "field" && $2 == "model_type" {
    count = split($0, part, "\"")
    for (i = 2; i <= count; i += 2)
        add(part[i])
}
/^ARCHITECTURE\("/ {
    split($0, part, "\"")
    add(part[2])
}
END {
    print "    ;"
}
