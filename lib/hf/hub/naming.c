/* SPDX-License-Identifier: MIT
 *
 * naming.c - looking a tensor's name up
 *
 * A name is looked up as it is, and with "#" for each of its numbers in turn:
 * the part up to its last dot among the prefixes, the rest among their rows.
 * So 90,000 names of a large model take some milliseconds.
 */
#include "lib/hf/hub/naming.h"

#include <stdio.h>
#include <string.h>

#include "lib/base/str.h"

#define NAME_MAX_SIZE 256 /* longer names are not in the tables */

static struct mf_str text_at(uint32_t place)
{
    const char *text = &mf_naming_text[place];

    return (struct mf_str){ text, strlen(text) };
}

/* As strcmp does it. */
static int order_of(struct mf_str a, struct mf_str b)
{
    size_t size = a.size < b.size ? a.size : b.size;
    int order = size > 0 ? memcmp(a.at, b.at, size) : 0;

    return order != 0 ? order : (a.size > b.size) - (a.size < b.size);
}

const struct mf_naming_arch *mf_naming_arch_find(struct mf_str name)
{
    for (size_t i = 0; i < mf_naming_arch_count; i++)
        if (mf_str_same(text_at(mf_naming_archs[i].name), name))
            return &mf_naming_archs[i];
    return NULL;
}

static bool has(const struct mf_naming_arch *arch, size_t tensor)
{
    return (arch->has[tensor / 16] >> tensor % 16 & 1) != 0;
}

/* Whether the architecture has names of its own for the tensor. */
static bool is_only(const struct mf_naming_arch *arch, size_t tensor)
{
    for (size_t i = 0; i < arch->only_count; i++)
        if (mf_naming_onlys[arch->only + i].tensor == tensor)
            return true;
    return false;
}

/* ---- in the tables ---- */

static const struct mf_naming_prefix *find_prefix(struct mf_str prefix)
{
    size_t low = 0, high = mf_naming_prefix_count;

    while (low < high) {
        size_t middle = low + (high - low) / 2;
        int order = order_of(text_at(mf_naming_prefixes[middle].text), prefix);

        if (order == 0)
            return &mf_naming_prefixes[middle];
        if (order < 0)
            low = middle + 1;
        else
            high = middle;
    }
    return NULL;
}

static const struct mf_naming_row *
find_row(const struct mf_naming_prefix *prefix, struct mf_str rest)
{
    const struct mf_naming_row *rows = &mf_naming_rows[prefix->first];
    size_t low = 0, high = prefix->count;

    while (low < high) {
        size_t middle = low + (high - low) / 2;
        int order = order_of(text_at(rows[middle].rest), rest);

        if (order == 0)
            return &rows[middle];
        if (order < 0)
            low = middle + 1;
        else
            high = middle;
    }
    return NULL;
}

/* Of several tensors with one name, the first that the architecture has. */
size_t mf_naming_tensor(const struct mf_naming_arch *arch, struct mf_str name)
{
    size_t low = 0, high = mf_naming_tensor_count;

    while (low < high) {
        size_t middle = low + (high - low) / 2;
        size_t tensor = mf_naming_sorted[middle];

        if (order_of(text_at(mf_naming_tensors[tensor].name), name) < 0)
            low = middle + 1;
        else
            high = middle;
    }
    for (; low < mf_naming_tensor_count; low++) {
        size_t tensor = mf_naming_sorted[low];

        if (order_of(text_at(mf_naming_tensors[tensor].name), name) != 0)
            break;
        if (has(arch, tensor))
            return tensor;
    }
    return SIZE_MAX;
}

static size_t find_in_hf(const struct mf_naming_arch *arch, struct mf_str name)
{
    struct mf_str prefix = name;
    const struct mf_naming_prefix *found;
    const struct mf_naming_row *row = NULL;

    while (prefix.size > 0 && prefix.at[prefix.size - 1] != '.')
        prefix.size--;
    found = find_prefix(prefix);
    if (found)
        row = find_row(found, (struct mf_str){ name.at + prefix.size,
                                               name.size - prefix.size });
    for (size_t i = 0; row && i < row->count; i++)
        if (has(arch, row->tensor[i]) && !is_only(arch, row->tensor[i]))
            return row->tensor[i];
    return SIZE_MAX;
}

/* in_hf: also under its names in Hugging Face's models. */
static size_t find_exactly(const struct mf_naming_arch *arch,
                           struct mf_str name, bool in_hf)
{
    size_t tensor;

    if (!in_hf)
        return mf_naming_tensor(arch, name);
    for (size_t i = 0; i < arch->only_count; i++) {
        const struct mf_naming_only *only = &mf_naming_onlys[arch->only + i];

        if (mf_str_same(text_at(only->name), name))
            return only->tensor;
    }
    tensor = find_in_hf(arch, name);
    return tensor != SIZE_MAX ? tensor : mf_naming_tensor(arch, name);
}

/* ---- numbers in names ---- */

/* A decimal number without leading zeros, below the limit. */
static bool is_block(struct mf_str digits, uint64_t limit, int32_t *out)
{
    uint64_t number = 0;

    if (digits.size > 4 || (digits.at[0] == '0' && digits.size > 1))
        return false;
    for (size_t i = 0; i < digits.size; i++)
        number = number * 10 + (uint64_t)(digits.at[i] - '0');
    *out = (int32_t)number;
    return number < limit && number < MF_NAMING_BLOCKS;
}

static bool is_digit(char c)
{
    return c >= '0' && c <= '9';
}

/* The next run of digits of a name, from *at on. */
static bool next_number(struct mf_str name, size_t *at, struct mf_str *out)
{
    size_t start = *at, end;

    while (start < name.size && !is_digit(name.at[start]))
        start++;
    for (end = start; end < name.size && is_digit(name.at[end]);)
        end++;
    *at = end;
    *out = (struct mf_str){ name.at + start, end - start };
    return end > start;
}

static bool find_base(const struct mf_naming_arch *arch, uint64_t blocks,
                      struct mf_str name, bool in_hf,
                      struct mf_named_tensor *out)
{
    char text[NAME_MAX_SIZE];
    struct mf_str number;
    size_t at = 0;

    out->block = -1;
    out->tensor = find_exactly(arch, name, in_hf);
    if (out->tensor != SIZE_MAX)
        return true;
    if (name.size > sizeof(text))
        return false;
    while (next_number(name, &at, &number)) {
        size_t before = (size_t)(number.at - name.at);

        if (!is_block(number, blocks, &out->block))
            continue;
        memcpy(text, name.at, before);
        text[before] = '#';
        memcpy(text + before + 1, name.at + at, name.size - at);
        out->tensor = find_exactly(
            arch, (struct mf_str){ text, name.size - number.size + 1 }, in_hf);
        if (out->tensor != SIZE_MAX)
            return true;
    }
    return false;
}

bool mf_naming_find(const struct mf_naming_arch *arch, uint64_t blocks,
                    struct mf_str name, struct mf_named_tensor *out)
{
    static const struct {
        const char *text;
        bool in_hf;
    } suffixes[] = { { "", true },
                     { ".weight", true },
                     { ".bias", true },
                     { ".scale", false } };

    for (size_t i = 0; i < sizeof(suffixes) / sizeof(*suffixes); i++) {
        size_t size = strlen(suffixes[i].text);

        if (!mf_str_ends(name, suffixes[i].text))
            continue;
        out->suffix = (struct mf_str){ name.at + name.size - size, size };
        if (find_base(arch, blocks,
                      (struct mf_str){ name.at, name.size - size },
                      suffixes[i].in_hf, out))
            return true;
    }
    return false;
}

size_t mf_naming_put(const struct mf_named_tensor *named, char *out,
                     size_t room)
{
    const char *name = &mf_naming_text[mf_naming_tensors[named->tensor].name];
    const char *number = strchr(name, '#');
    int suffix = (int)named->suffix.size;
    int size;

    if (number && named->block >= 0)
        size =
            snprintf(out, room, "%.*s%" PRId32 "%s%.*s", (int)(number - name),
                     name, named->block, number + 1, suffix, named->suffix.at);
    else
        size = snprintf(out, room, "%s%.*s", name, suffix, named->suffix.at);
    return size < 0 ? 0 : (size_t)size;
}

unsigned mf_naming_flags(const struct mf_named_tensor *named)
{
    return mf_naming_tensors[named->tensor].flags;
}
