/* SPDX-License-Identifier: MIT
 *
 * prove.c - the folder is converted again, and compared with the file
 *
 * lib/hf/hub reads the files that were written, and instead of the folder's
 * tensors gets what they will be made of: so what comes out of it for a tensor
 * is a tree over the file's own tensors, which must have the same bytes as the
 * file has.  Short tensors are compared as a whole, of others parts all over
 * them: what happens to tensors are moves of rows and blocks, which are either
 * right or wrong nearly everywhere.
 */
#include <stdio.h>

#include "lib/base/str.h"
#include "lib/draft/put.h"
#include "lib/hf/hub/outtype.h"
#include "lib/hf/restore/restore.h"
#include "lib/io/digest.h"
#include "lib/io/path.h"
#include "lib/model/steady.h"

#define WHOLE ((uint64_t)1 << 20) /* bytes of a short tensor */
#define PARTS 64
#define PART  ((size_t)4096)

struct proof {
    struct mf_restore *restore;
    struct mf_env *env;
    struct mf_model model; /* what the folder will be */
    struct mf_draft draft; /* what becomes of it */
};

static enum mf_status failed(const struct proof *proof)
{
    return proof->env->error.status;
}

/* Something of the file does not come back. */
static enum mf_status lose(struct proof *proof, const char *kind,
                           struct mf_str name, const char *why)
{
    proof->restore->made.lost++;
    if (proof->restore->options.lossy)
        return MF_OK;
    return mf_decline(proof->env, MF_REASON_NOT_LOSSLESS, MF_NO_OFFSET,
                      "%s '%s' would not come back from the folder: %s", kind,
                      mf_quote(name).text, why);
}

/* ---- keys ---- */

/* The digest of a value, and how it begins. */
struct value {
    uint32_t crc;
    size_t size;
    char text[40];
};

static enum mf_status add_bytes(void *user, uint64_t offset, const void *bytes,
                                size_t size)
{
    struct value *value = user;
    size_t room = sizeof(value->text) - 1;

    (void)offset;
    for (size_t i = 0; i < size && value->size < room; i++)
        value->text[value->size++] = ((const char *)bytes)[i];
    value->crc = mf_crc32(value->crc, bytes, size);
    return MF_OK;
}

static enum mf_status digest(const struct mf_draft *draft,
                             const struct mf_entry *entry, struct value *out)
{
    struct mf_sink sink;
    struct mf_json_out json;
    enum mf_status status;

    *out = (struct value){ .crc = 0 };
    mf_sink_init(&sink, draft->env);
    sink.write = add_bytes;
    sink.user = out;
    json = mf_draft_json(&sink);
    status = mf_entry_json(draft, entry, &json, NULL);
    return status == MF_OK ? mf_sink_finish(&sink) : status;
}

static enum mf_status check_text(void *user, const struct mf_value *value)
{
    bool *clean = user;

    *clean &= mf_text_is_utf8(value->text.at, value->text.size);
    return MF_OK;
}

/* JSON has other text in place of what is not UTF-8, and so has the folder:
 * the digests would be equal. */
static enum mf_status is_utf8(struct proof *proof, const struct mf_entry *entry,
                              bool *clean)
{
    *clean = true;
    return mf_entry_read(proof->env, entry, check_text, clean);
}

static bool same_type(const struct mf_entry *a, const struct mf_entry *b)
{
    return a->type == b->type && (a->type != MF_VALUE_ARRAY ||
                                  (a->of == b->of && a->count == b->count));
}

static enum mf_status compare_key(struct proof *proof,
                                  const struct mf_entry *here,
                                  const struct mf_entry *there)
{
    struct value a, b;
    char why[160];
    bool clean;

    if (!there)
        return lose(proof, "key", here->key, "nothing says it there");
    if (is_utf8(proof, here, &clean) != MF_OK)
        return failed(proof);
    if (!clean)
        return lose(proof, "key", here->key, "its text is not UTF-8");
    if (digest(&proof->restore->facts, here, &a) != MF_OK ||
        digest(&proof->draft, there, &b) != MF_OK)
        return failed(proof);
    if (same_type(here, there) && a.crc == b.crc)
        return MF_OK;
    snprintf(why, sizeof(why), "it is %s here and would be %s%s", a.text,
             b.text, same_type(here, there) ? "" : " of another type");
    return lose(proof, "key", here->key, why);
}

/* Keys that say what types tensors have, where these change; or where the
 * converter has none for the family, and a program that wrote the file again
 * added it. */
static bool is_of_types(const struct proof *proof, struct mf_str key,
                        bool is_there)
{
    return (proof->restore->options.type || !is_there) &&
           (mf_str_is(key, "general.file_type") ||
            mf_str_is(key, "general.quantization_version"));
}

static enum mf_status compare_keys(struct proof *proof)
{
    const struct mf_draft *facts = &proof->restore->facts;
    const struct mf_entry *last = NULL;
    size_t found = 0;

    for (size_t i = 0; i < facts->entry_count; i++) {
        const struct mf_entry *here = &facts->entry[i], *there;

        there = mf_draft_find(&proof->draft, here->key.at);
        if (!is_of_types(proof, here->key, there != NULL) &&
            compare_key(proof, here, there) != MF_OK)
            return failed(proof);
        if (!there)
            continue;
        proof->restore->made.reordered |= last && there < last;
        last = there;
        found++;
    }
    proof->restore->made.gained += proof->draft.entry_count - found;
    return MF_OK;
}

/* ---- tensors ---- */

static enum mf_status compare_part(struct proof *proof,
                                   const struct mf_source *here,
                                   const struct mf_source *there,
                                   const uint64_t at[2], size_t size,
                                   bool *same)
{
    uint8_t a[PART], b[PART];

    if (mf_source_read(proof->env, here, at[0], a, size) != MF_OK ||
        mf_source_read(proof->env, there, at[1], b, size) != MF_OK)
        return failed(proof);
    *same = memcmp(a, b, size) == 0;
    return MF_OK;
}

/* Whether the bytes of the tensor are those that it has in the file. */
static enum mf_status compare_bytes(struct proof *proof,
                                    const struct mf_record *record,
                                    const struct mf_draft_tensor *tensor,
                                    bool *same)
{
    const struct mf_model *model = proof->restore->model;
    const struct mf_source *here = &model->file[record->shard].source;
    uint64_t size = record->size, step = PART, at;

    *same = tensor->made ? tensor->made->size == size
                         : &model->index.tensor[tensor->record] == record;
    if (!tensor->made)
        return MF_OK;
    if (size > WHOLE)
        step = size / PARTS;
    for (at = 0; at < size && *same; at += step) {
        const uint64_t place[2] = { mf_record_data(model, record) + at, at };

        if (compare_part(proof, here, tensor->made, place,
                         size - at < PART ? (size_t)(size - at) : PART,
                         same) != MF_OK)
            return failed(proof);
    }
    return MF_OK;
}

/* Dimensions of 1 at the end do not count: whatever of llama.cpp's programs
 * writes a file again leaves them out. */
static bool same_shape(const struct mf_record *record,
                       const struct mf_draft_tensor *tensor)
{
    uint32_t rank = record->rank < tensor->rank ? record->rank : tensor->rank;

    for (uint32_t i = rank; i < record->rank; i++)
        if (record->dim[i] != 1)
            return false;
    for (uint32_t i = rank; i < tensor->rank; i++)
        if (tensor->dim[i] != 1)
            return false;
    return memcmp(record->dim, tensor->dim, rank * sizeof(*record->dim)) == 0;
}

static enum mf_status compare_tensor(struct proof *proof,
                                     const struct mf_draft_tensor *tensor,
                                     size_t at)
{
    const struct mf_record *record = &proof->restore->model->index.tensor[at];
    bool same = true;

    if (!same_shape(record, tensor))
        return lose(proof, "tensor", tensor->name, "it has another shape");
    /* f32 has all numbers of the others that are here. */
    if (!proof->restore->options.type &&
        (record->type != tensor->from ||
         (record->type != tensor->type && tensor->type != MF_TYPE_F32)))
        return lose(proof, "tensor", tensor->name, "it has another type");
    if (record->type == tensor->from &&
        compare_bytes(proof, record, tensor, &same) != MF_OK)
        return failed(proof);
    return same ? MF_OK
                : lose(proof, "tensor", tensor->name, "it has other numbers");
}

/* All tensors of the draft, and those that it lacks. */
static enum mf_status compare_tensors(struct proof *proof)
{
    const struct mf_index *index = &proof->restore->model->index;
    uint8_t *seen = mf_arena_take(&proof->draft.arena, index->tensor_count + 1);
    size_t last = 0;

    if (!seen)
        return failed(proof);
    memset(seen, 0, index->tensor_count + 1);
    for (size_t i = 0; i < proof->draft.tensor_count; i++) {
        const struct mf_draft_tensor *tensor = &proof->draft.tensor[i];
        struct mf_tensor found;
        size_t at;

        if (!mf_tensor_find(proof->restore->model, tensor->name.at,
                            tensor->name.size, &found, &at)) {
            proof->restore->made.gained++;
            continue;
        }
        if (compare_tensor(proof, tensor, at) != MF_OK)
            return failed(proof);
        proof->restore->made.reordered |= at < last;
        last = at;
        seen[at] = 1;
    }
    for (size_t i = 0; i < index->tensor_count; i++) {
        const struct mf_record *record = &index->tensor[i];

        if (!seen[i] && lose(proof, "tensor",
                             (struct mf_str){ record->name, record->name_size },
                             "nothing becomes it") != MF_OK)
            return failed(proof);
    }
    return MF_OK;
}

/* ---- the folder as a model ---- */

static enum mf_status list_records(struct proof *proof, struct mf_file *file)
{
    const struct mf_draft *draft = proof->restore->draft;
    struct mf_index *index = &proof->model.index;
    struct mf_record *record = mf_arena_take(
        &index->arena, (draft->tensor_count + 1) * sizeof(*record));

    if (!record)
        return failed(proof);
    for (size_t i = 0; i < draft->tensor_count; i++) {
        const struct mf_draft_tensor *tensor = &draft->tensor[i];

        record[i] =
            (struct mf_record){ .name = tensor->name.at,
                                .name_size = (uint16_t)tensor->name.size,
                                .dim = tensor->dim,
                                .rank = (uint8_t)tensor->rank,
                                .type = (uint16_t)tensor->from,
                                .type_id = tensor->type_id,
                                .size = tensor->size };
    }
    index->env = proof->env;
    index->tensor = record;
    index->tensor_count = draft->tensor_count;
    proof->model.file = file;
    proof->model.file_count = 1;
    return mf_index_build_names(index);
}

static bool is_float(const struct mf_draft_tensor *tensor)
{
    return tensor->type == MF_TYPE_F32 || tensor->type == MF_TYPE_F16 ||
           tensor->type == MF_TYPE_BF16;
}

/* The type that the matrices have which are not in blocks. */
static enum mf_type main_type(const struct mf_restore *restore)
{
    const struct mf_draft *draft = restore->draft;
    enum mf_type type = MF_TYPE_F32;

    for (size_t i = 0; i < draft->tensor_count && type == MF_TYPE_F32; i++)
        if (draft->tensor[i].rank > 1 && is_float(&draft->tensor[i]))
            type = (enum mf_type)draft->tensor[i].type;
    return type;
}

/* What is wrong with the new files is not what the caller sees. */
static enum mf_status not_again(struct mf_env *env)
{
    struct mf_error error = env->error;

    if (error.status != MF_ERR_CORRUPT && error.status != MF_ERR_UNSUPPORTED)
        return error.status;
    mf_clear_error(env);
    return mf_fail(env, MF_ERR_UNSUPPORTED, MF_NO_OFFSET,
                   "the folder could not be converted again: %s",
                   error.message);
}

static enum mf_status convert(struct proof *proof, struct mf_stage *stage)
{
    struct mf_restore *restore = proof->restore;
    const struct mf_hf_options options = {
        .type = main_type(restore),
        .typed = true,
        .no_mtp = restore->made.without_mtp,
        .given = restore->node,
        .folder = mf_base_name(stage->path),
    };
    /* Never read: its descriptor says that the folder can be. */
    struct mf_file file = { .source = restore->model->file[0].source,
                            .path = stage->inside };

    proof->model.env = proof->env;
    proof->model.format = restore->draft->format;
    if (list_records(proof, &file) != MF_OK)
        return failed(proof);
    if (mf_hf_convert(&proof->draft, &proof->model, &options) != MF_OK)
        return not_again(proof->env);
    return compare_keys(proof) == MF_OK ? compare_tensors(proof)
                                        : failed(proof);
}

enum mf_status mf_restore_prove(struct mf_restore *restore,
                                struct mf_stage *stage)
{
    struct proof proof = { .restore = restore, .env = restore->env };
    enum mf_status status;

    mf_draft_init(&proof.draft, restore->env, restore->model->format);
    mf_arena_init(&proof.model.index.arena, restore->env);
    status = convert(&proof, stage);
    mf_seen_forget(&proof.model);
    mf_arena_release(&proof.model.index.arena);
    mf_draft_release(&proof.draft);
    return status;
}
