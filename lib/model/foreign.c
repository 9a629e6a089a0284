/* SPDX-License-Identifier: MIT
 *
 * foreign.c - naming files that are not models
 *
 * "Not a model file" does not help a user who has just downloaded an error
 * page.
 */
#include "lib/model/foreign.h"

#include "lib/base/str.h"

struct foreign {
    size_t offset, size;
    const char *bytes, *name, *note;
};

static const struct foreign rows[] = {
#define FOREIGN(offset, bytes, name, note)                                     \
    { offset, sizeof(bytes) - 1, bytes, name, note },
#include "lib/model/foreign.def"
#undef FOREIGN
};

static bool match(const struct mf_head *head, const struct foreign *row)
{
    return head->size >= row->offset + row->size &&
           memcmp(head->at + row->offset, row->bytes, row->size) == 0;
}

static bool all_zero(const struct mf_head *head)
{
    for (size_t i = 0; i < head->size; i++)
        if (head->at[i] != 0)
            return false;
    return head->size > 0;
}

/* True where the head, from `at` on, is word in upper or lower case. */
static bool starts(const struct mf_head *head, size_t at, const char *word)
{
    for (; *word; word++, at++) {
        if (mf_small(at < head->size ? (char)head->at[at] : 0) != *word)
            return false;
    }
    return true;
}

/* Kinds of text that may begin with white space. */
static bool detect_text(const struct mf_head *head, struct mf_detection *out)
{
    size_t at = 0;

    while (at < head->size && memchr(" \t\r\n", head->at[at], 4))
        at++;
    if (at == head->size)
        return false;
    if (starts(head, at, "<!doctype html") || starts(head, at, "<html")) {
        out->format = "html";
        out->note =
            "a web page, often from a download that needs a login or has "
            "failed leaves it";
        return true;
    }
    if (head->at[at] == '{' || head->at[at] == '[') {
        out->format = "json";
        out->note = "JSON, but not a model.safetensors.index.json";
        return true;
    }
    return false;
}

/* Pickles of protocol 2 to 5 begin with their number. */
static bool is_pickle(const struct mf_head *head)
{
    return head->size >= 2 && head->at[0] == 0x80 && head->at[1] >= 2 &&
           head->at[1] <= 5;
}

bool mf_foreign_detect(const struct mf_head *head, struct mf_detection *out)
{
    for (size_t i = 0; i < sizeof(rows) / sizeof(*rows); i++)
        if (match(head, &rows[i])) {
            out->format = rows[i].name;
            out->note = rows[i].note;
            return true;
        }
    if (is_pickle(head)) {
        out->format = "pickle";
        out->note = "a Python pickle, which runs programs when it is loaded; "
                    "convert it to safetensors";
        return true;
    }
    if (all_zero(head)) {
        out->format = "zeros";
        out->note = "nothing but zeros at the start, as a download leaves "
                    "that reserved its space and was never filled";
        return true;
    }
    return detect_text(head, out);
}
