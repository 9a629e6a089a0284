/* SPDX-License-Identifier: MIT
 *
 * sort.c - putting rows of a table in order: heapsort
 */
#include "lib/base/sort.h"

static void sift_down(uint32_t *row, size_t root, size_t count,
                      mf_before *before, const void *table)
{
    uint32_t moving = row[root];

    for (size_t child; (child = 2 * root + 1) < count; root = child) {
        if (child + 1 < count && before(table, row[child], row[child + 1]))
            child++;
        if (!before(table, moving, row[child]))
            break;
        row[root] = row[child];
    }
    row[root] = moving;
}

static bool is_sorted(const uint32_t *row, size_t count, mf_before *before,
                      const void *table)
{
    for (size_t i = 1; i < count; i++)
        if (before(table, row[i], row[i - 1]))
            return false;
    return true;
}

/* What a writer has put in order is looked at once. */
void mf_sort(uint32_t *row, size_t count, mf_before *before, const void *table)
{
    if (is_sorted(row, count, before, table))
        return;
    for (size_t root = count / 2; root-- > 0;)
        sift_down(row, root, count, before, table);
    for (size_t end = count; end-- > 1;) {
        uint32_t last = row[end];

        row[end] = row[0];
        row[0] = last;
        sift_down(row, 0, end, before, table);
    }
}
