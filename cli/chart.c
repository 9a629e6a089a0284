/* SPDX-License-Identifier: MIT
 *
 * chart.c - bars of characters
 */
#include "cli/chart.h"

#include <stdlib.h>
#include <strings.h>

#define STEPS 8 /* of a character, in height or width */

/* setlocale() would need the locale's files, which a static program, or a
 * container, may not have. */
bool chart_is_utf8(void)
{
    const char *const values[] = { getenv("LC_ALL"), getenv("LC_CTYPE"),
                                   getenv("LANG") };

    for (size_t i = 0; i < sizeof(values) / sizeof(*values); i++) {
        const char *value = values[i];

        if (!value || !*value)
            continue;
        for (; *value; value++)
            if (strncasecmp(value, "utf-8", 5) == 0 ||
                strncasecmp(value, "utf8", 4) == 0)
                return true;
        return false;
    }
    return false;
}

void chart_bar(struct out *out, uint64_t part, uint64_t whole, size_t width)
{
    static const char *const eighths[] = { "",  "▏", "▎", "▍", "▌",
                                           "▋", "▊", "▉", "█" };
    bool utf8 = chart_is_utf8();
    size_t most = width * STEPS, steps = 0, used = 0;

    if (whole > 0)
        steps = (size_t)((double)part / (double)whole * (double)most);
    steps = steps > most ? most : steps == 0 && part > 0 ? 1 : steps;
    for (; used * STEPS < steps; used++) {
        size_t left = steps - used * STEPS;

        out_text(out, utf8 ? eighths[left < STEPS ? left : STEPS] : "#");
    }
    out_spaces(out, width - used);
}

/* Binary digits. */
static unsigned digits(uint64_t number)
{
    unsigned count = 0;

    for (; number > 0; number /= 2)
        count++;
    return count;
}

/* By the digits of integers, which are the same everywhere. */
const char *chart_height(uint64_t number, uint64_t most)
{
    static const char *const blocks[] = { " ", "▁", "▂", "▃", "▄",
                                          "▅", "▆", "▇", "█" };
    static const char *const ascii[] = { " ", ".", ":", "-", "=",
                                         "+", "*", "%", "#" };
    unsigned step = 0;

    if (number >= most && number > 0)
        step = STEPS;
    else if (number > 0)
        step = 1 + (digits(number) - 1) * (STEPS - 1) / digits(most);
    return chart_is_utf8() ? blocks[step] : ascii[step];
}
