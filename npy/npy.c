/* SPDX-License-Identifier: MIT
 *
 * npy.c - the row of a file that is one array
 */
#include "npy/npy.h"

/* The name that numpy.savez gives an array without one. */
static const char array_name[] = "arr_0";

static bool probe(const struct mf_head *head, struct mf_detection *out)
{
    (void)out;
    return head->size >= NPY_MAGIC_SIZE && mf_npy_is_magic(head->at);
}

static enum mf_status refuse(struct mf_index *index,
                             const struct npy_fault *fault)
{
    return mf_refuse(index->env, fault->rule, fault->at,
                     "the array's header: %s", fault->what);
}

/* All of the header, in the reader's window. */
static enum mf_status read_header(struct mf_reader *reader,
                                  struct mf_index *index,
                                  struct npy_header *out)
{
    struct npy_fault fault = { .what = NULL };
    const uint8_t *bytes = mf_take(reader, NPY_START);
    size_t size;

    if (!bytes)
        return mf_reader_check(reader, "the header");
    size = mf_npy_header_size(bytes, &fault);
    if (size == 0)
        return refuse(index, &fault);
    mf_reader_seek(reader, 0);
    bytes = mf_take(reader, size);
    if (!bytes)
        return mf_reader_check(reader, "the header");
    return mf_npy_header(bytes, size, out, &fault) ? MF_OK
                                                   : refuse(index, &fault);
}

static enum mf_status parse(struct mf_reader *reader, struct mf_index *index,
                            struct mf_part *part)
{
    uint64_t size = reader->source->size;
    struct npy_place place = { .name = { array_name, sizeof(array_name) - 1 },
                               .size = size };
    struct npy_header header;
    struct mf_stored *stored;

    if (read_header(reader, index, &header) != MF_OK)
        return index->env->error.status;
    part->data_offset = 0;
    part->data_end = size;
    part->alignment = 1;
    stored = mf_index_add_stored(index, part, &place.row);
    if (!stored)
        return index->env->error.status;
    stored->name = place.name;
    stored->file = (struct mf_span){ 0, size };
    stored->size = size;
    return mf_npy_add(index, part, &header, &place);
}

const struct mf_format mf_format_npy = {
    .name = "npy",
    .suffix = ".npy",
    .description = "arrays of NumPy, versions 1 to 3",
    NPY_MEMBERS,
    .probe = probe,
    .parse = parse,
};
