/* SPDX-License-Identifier: MIT
 *
 * imatrix.c - checks of a GGUF file that is an importance matrix
 *
 * llama-imatrix writes two tensors for each matrix of a model, NAME.in_sum2 and
 * NAME.counts, both f32, and three keys that llama-quantize requires.
 */
#include "gguf/gguf.h"

static const char sums_tail[] = ".in_sum2", counts_tail[] = ".counts";

/* Whether the value has the type that stops llama-quantize if it is another. */
static bool fits(const char *key, const struct mf_meta *meta)
{
    return strcmp(key, "imatrix.datasets") == 0 || meta->type == MF_VALUE_U32;
}

static void check_keys(struct mf_index *index)
{
    static const char *const keys[] = { "imatrix.datasets",
                                        "imatrix.chunk_count",
                                        "imatrix.chunk_size" };

    for (size_t i = 0; i < sizeof(keys) / sizeof(*keys); i++) {
        const struct mf_meta *meta = mf_index_meta(index, keys[i]);

        if (!meta)
            mf_index_note(index, 0, MF_ERROR, MF_RULE_GGUF_IMATRIX_KEY,
                          MF_NO_OFFSET,
                          "'%s' is missing, which llama-quantize requires of "
                          "an importance matrix",
                          keys[i]);
        else if (!fits(keys[i], meta))
            mf_index_note(index, meta->shard, MF_ERROR,
                          MF_RULE_GGUF_IMATRIX_KEY, meta->span.offset,
                          "'%s' is of type %s, not u32", keys[i],
                          mf_value_type_name(meta->type));
    }
}

/* The tensor whose name ends in `to` where the record's ends in `from`. */
static const struct mf_record *partner(const struct mf_index *index,
                                       const struct mf_record *record,
                                       const char *from, const char *to)
{
    char name[MF_TEXT_KEPT];
    size_t stem = record->name_size - strlen(from), tail = strlen(to), at;

    if (stem > sizeof(name) - tail)
        return NULL;
    memcpy(name, record->name, stem);
    memcpy(name + stem, to, tail);
    at = mf_names_find(&index->tensor_names,
                       (struct mf_str){ name, stem + tail });
    return at == MF_NOT_FOUND ? NULL : &index->tensor[at];
}

static void note_entry(struct mf_index *index, const struct mf_record *record,
                       const char *why)
{
    mf_index_note_of(index, record, MF_ERROR, MF_RULE_GGUF_IMATRIX_ENTRY,
                     record->entry, "tensor '%s' of an importance matrix %s",
                     mf_record_name(record).text, why);
}

static void check_sums(struct mf_index *index, const struct mf_record *record)
{
    const struct mf_record *counts =
        partner(index, record, sums_tail, counts_tail);

    if (!counts)
        note_entry(index, record, "has no counts");
    else if (record->type != MF_TYPE_F32 || counts->type != MF_TYPE_F32)
        note_entry(index, record, "or its counts are not f32");
    else if (record->size == 0)
        note_entry(index, record, "has no values");
    else if (counts->size == 0 || record->size % counts->size != 0)
        note_entry(index, record,
                   "has not the same number of values for "
                   "each count");
}

void mf_gguf_imatrix_check(struct mf_index *index)
{
    const struct mf_meta *type = mf_index_meta(index, "general.type");
    size_t entries = 0;

    if (!type || type->type != MF_VALUE_STRING ||
        !mf_str_is(type->text, "imatrix"))
        return;
    check_keys(index);
    for (size_t i = 0; i < index->tensor_count; i++) {
        const struct mf_record *record = &index->tensor[i];
        struct mf_str name = { record->name, record->name_size };

        entries += mf_str_ends(name, sums_tail);
        if (mf_str_ends(name, sums_tail))
            check_sums(index, record);
        else if (mf_str_ends(name, counts_tail) &&
                 !partner(index, record, counts_tail, sums_tail))
            note_entry(index, record, "has no sums");
    }
    if (entries == 0)
        mf_index_note(index, 0, MF_ERROR, MF_RULE_GGUF_IMATRIX_ENTRY,
                      MF_NO_OFFSET, "the importance matrix has no entries");
}
