/* SPDX-License-Identifier: MIT
 *
 * recorded_frame.c - the text of a frame, as a reader wants it
 *
 * "0x4011b6: f(int) (a.c:5)" of a profile with debugging information,
 * "0x4c2e: g (in /usr/lib/libx.so)" of one without.
 */
#include "lib/base/str.h"
#include "lib/report/recorded.h"

/* "0x4011b6: f (a.c:5)" without the address, which a frame without a name
 * keeps. */
static struct mf_str without_address(struct mf_str text)
{
    size_t digits = 2;

    if (!mf_str_begins(text, "0x"))
        return text;
    while (digits < text.size &&
           memchr("0123456789abcdefABCDEF", text.at[digits], 22))
        digits++;
    if (text.size < digits + 2 || memcmp(text.at + digits, ": ", 2) != 0 ||
        mf_str_begins(
            (struct mf_str){ text.at + digits + 2, text.size - digits - 2 },
            "???"))
        return text;
    return (struct mf_str){ text.at + digits + 2, text.size - digits - 2 };
}

/* Where the place begins: "in /usr/lib/x.so)" or "a.c:5)", after its bracket;
 * the end of the text without one. */
static size_t place_of(struct mf_str text)
{
    static const char in[] = " (in ";
    const size_t size = sizeof(in) - 1;

    for (size_t i = 0; i + size <= text.size; i++)
        if (memcmp(text.at + i, in, size) == 0)
            return i + size;
    for (size_t i = text.size; i >= 2; i--)
        if (text.at[i - 1] == '(' && text.at[i - 2] == ' ')
            return i;
    return text.size;
}

void mf_frame_write(struct mf_recorded *recorded, struct mf_str text, bool cut)
{
    struct mf_json_out *json = recorded->json;
    size_t place, name;

    text = without_address(text);
    place = place_of(text);
    name = text.size;
    while (name > place && text.at[name - 1] != '/' &&
           text.at[name - 1] != '\\')
        name--;
    if (recorded->options->paths)
        name = place;
    else if (cut) /* its folders may not be all of what is left of it */
        name = text.size;
    mf_json_open_string(json);
    mf_json_piece(json, text.at, place);
    mf_json_piece(json, text.at + name, text.size - name);
    mf_json_piece(json, "...", cut ? 3 : 0);
    mf_json_close_string(json, false);
}
