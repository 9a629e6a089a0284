/* SPDX-License-Identifier: MIT
 *
 * family_step.c - what rows about tensors consist of: steps, names, ranges
 *
 * For those who check them and those who write them.
 */
#include <string.h>

#include "lib/rows/maker/family.h"

const char *const family_tensor_types[] = { "f32", "f16", "half", "file",
                                            NULL };

const struct family_step family_steps[] = {
#define STEP(NAME, word, least, most, names, whole, on)                        \
    { word, least, most, names, STEP_##on },
#include "lib/hf/hub/tensor_steps.def"
#undef STEP
    { NULL, 0, 0, 0, STEP_ALL },
};

struct text family_take_template(struct text *text)
{
    struct text name;

    *text = trimmed(*text);
    name = take_until(text, ' ');
    *text = trimmed(*text);
    return name;
}

bool family_is_range(struct text text)
{
    static const char *const words[] = { "from", "below", "at", "except",
                                         NULL };

    return list_has(words, take_word(&text));
}

/* Up to "as", a word of its own, which is taken, too. */
static struct text take_numbers(struct text *text)
{
    struct text numbers = { text->at, 0 };

    while (numbers.size < text->size) {
        struct text rest = { text->at + numbers.size,
                             text->size - numbers.size };

        if (text_begins(rest, "as ") &&
            (numbers.size == 0 || rest.at[-1] == ' '))
            break;
        numbers.size++;
    }
    text->at += numbers.size;
    text->size -= numbers.size;
    take_word(text);
    return trimmed(numbers);
}

struct family_step_text family_split_step(struct text text)
{
    struct family_step_text out = { .word = take_word(&text) };
    const char *sign = memchr(out.word.at, '@', out.word.size);

    if (sign) {
        size_t size = (size_t)(sign - out.word.at);

        out.only = (struct text){ sign + 1, out.word.size - size - 1 };
        out.one = true;
        out.word.size = size;
    }
    for (size_t i = 0; family_steps[i].word; i++)
        if (text_is(out.word, family_steps[i].word))
            out.step = &family_steps[i];
    out.numbers = (struct text){ text.at, 0 };
    if (!text_is(out.word, "as"))
        out.numbers = take_numbers(&text);
    out.names = trimmed(text);
    return out;
}

size_t family_small_number(struct text text)
{
    return text.size == 1 && *text.at >= '1' && *text.at <= '9'
               ? (size_t)(*text.at - '0')
               : 0;
}
