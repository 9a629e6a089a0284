/* SPDX-License-Identifier: MIT
 *
 * token.c - texts of tokens that mean something by themselves
 */
#include "lib/base/str.h"
#include "lib/hf/tokenizer/tokenizer.h"

bool mf_token_looks_special(struct mf_str text)
{
    static const char *const names[] = { "<pad>", "<mask>", "<2mass>",
                                         "[@BOS@]" };

    for (size_t i = 0; i < sizeof(names) / sizeof(*names); i++)
        if (mf_str_is(text, names[i]))
            return true;
    return (mf_str_begins(text, "<|") && mf_str_ends(text, "|>")) ||
           (mf_str_begins(text, "<\uff5c") && mf_str_ends(text, "\uff5c>")) ||
           (mf_str_begins(text, "<unused") && mf_str_ends(text, ">"));
}

size_t mf_token_spaces(struct mf_str text, char *out)
{
    static const char space[] = "\u2581";
    size_t to = 0;

    for (size_t from = 0; from < text.size;) {
        if (mf_str_begins((struct mf_str){ text.at + from, text.size - from },
                          space)) {
            out[to++] = ' ';
            from += strlen(space);
        } else {
            out[to++] = text.at[from++];
        }
    }
    return to;
}
