# shellcheck shell=sh disable=SC2016
# SPDX-License-Identifier: MIT
#
# lib-names.sh - names of keys and tensors, for files that are made of them
#
#     . tests/lib-names.sh
#     good_names | perl tests/cli/gguf_names.pl FILE
#
#     good_names           what a shell would obey, were it not quoted: a file
#                          "pwned" would come about
#     bad_names            what a shell is never offered
#     many_names LAYERS    ten tensors of each layer
#
# Each name ends with a NUL.

# One by itself begins with "k" and two digits; each has what a shell obeys.
good_names() {
    printf '%s\0' 'k01$(touch pwned)' 'k02`touch pwned`' 'k03; touch pwned #' \
        "k04'; touch pwned; '" 'k05"; touch pwned; "' 'k06 & touch pwned' \
        'k07|touch pwned' 'k08>pwned' 'k09${x:-$(touch pwned)}' 'k10!touch' \
        'k11 a b' 'k12\' 'k13*' 'k14{a,b}' 'k15(touch pwned)' 'k16%' 'k17^x^y' \
        'k18=(touch pwned)' 'k19:x' "k20'\"" 'k21#' 'k22[a]' 'k23~' \
        '$(touch pwned)' '; touch pwned #' '~/x' '=touch' '#x' '!x' ' touch pwned' \
        '~root' '"' "'" '*' '$x' '&' "\$'x; touch pwned'" 'schön'
}
# None of these is offered.
bad_names() {
    printf '%b\0' 'b01\ntouch pwned' 'b02\tx' 'b03\033[31m' 'b04\r' '\tfiles' \
        '\t; touch pwned' 'b05\342\200\256x' 'b06\377' 'b07\001' '\n' '--force' '-x' '-' \
        '--output=pwned'
}
many_names() { # LAYERS
    awk -v layers="$1" 'BEGIN {
        count = split("attn_q attn_k attn_v attn_output attn_norm ffn_up ffn_down ffn_gate ffn_norm x", part, " ")
        for (layer = 0; layer < layers; layer++)
            for (i = 1; i <= count; i++)
                printf "blk.%d.%s.weight%c", layer, part[i], 0
    }'
}
