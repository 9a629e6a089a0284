/* SPDX-License-Identifier: MIT
 *
 * coverage.c - how much of a model was checked, and by which rules
 *
 * Every byte of the files is counted once: as header, tensor, padding, footer
 * or gap.  What a rule needs is in scopes.def.
 */
#include <string.h>

#include "lib/check/check.h"
#include "lib/model/model.h"

/* ---- bytes ---- */

#define FOOTER_SIZE sizeof(uint32_t) /* CRC-32 */

/* Counts the bytes from *at to next, which belong to no tensor: padding up to
 * the alignment, then a gap, or more of a header that goes on. */
static void count_between(const struct mf_part *part, enum mf_layout layout,
                          uint64_t *at, uint64_t next, struct mf_coverage *out)
{
    uint64_t padded, padding = 0, size = next - *at;

    if (mf_align_up(*at - part->data_offset, part->alignment, &padded))
        padding = padded - (*at - part->data_offset);
    padding = padding < size ? padding : size;
    if (layout == MF_LAYOUT_INLINE)
        out->header_bytes += size - padding;
    else
        out->gap_bytes += size - padding;
    out->padding_bytes += padding;
    *at = next;
}

/* Of an archive: members that tensors lie in, and tensors that lie in none.
 * All else describes them. */
static void count_members(const struct mf_model *model, size_t file,
                          struct mf_coverage *out, uint64_t *unread)
{
    const struct mf_index *index = &model->index;
    const struct mf_part *part = &model->part[file];
    uint64_t size = model->file[file].source.size, tensors = 0;

    for (size_t i = 0; i < index->stored.stored_count; i++) {
        const struct mf_stored *stored = &index->stored.stored[i];

        if (stored->shard == file && stored->tensors > 0 &&
            !stored->unreadable && stored->file.offset > 0)
            tensors += stored->file.size;
    }
    for (size_t i = part->first; i < part->first + part->count; i++) {
        const struct mf_record *record = &index->tensor[i];

        /* An array by itself lies in the whole file. */
        if (record->flags & MF_TENSOR_DAMAGED ||
            (record->storage > 0 &&
             index->stored.stored[record->storage - 1].file.offset > 0))
            continue;
        tensors += record->size;
        *unread += record->type == MF_TYPE_UNKNOWN ? record->size : 0;
    }
    out->file_bytes += size;
    out->tensor_bytes += tensors;
    out->header_bytes += size - tensors;
}

/* Of a table: between the first magic and the footer, which is not read. */
static void count_table(const struct mf_model *model, size_t file,
                        struct mf_coverage *out, uint64_t *unread)
{
    const struct mf_part *part = &model->part[file];
    uint64_t size = model->file[file].source.size;
    uint64_t data = part->data_end - part->data_offset;

    out->file_bytes += size;
    out->header_bytes += size - data;
    out->tensor_bytes += data;
    *unread += data;
}

/* *unread: bytes of tensors of unknown types. */
static void count_file(const struct mf_model *model, size_t file,
                       struct mf_coverage *out, uint64_t *unread)
{
    const struct mf_part *part = &model->part[file];
    enum mf_layout layout = model->format->layout;
    uint64_t size = model->file[file].source.size, at = part->data_offset;
    uint64_t end =
        size - (part->has_footer && size >= FOOTER_SIZE ? FOOTER_SIZE : 0);

    at = at < end ? at : end;
    out->file_bytes += size;
    out->header_bytes += at;
    out->footer_bytes += size - end;
    for (size_t i = 0; i < part->count; i++) {
        const struct mf_record *record =
            mf_record_by_offset(&model->index, part->first + i);

        if (record->flags & MF_TENSOR_DAMAGED || record->size == 0 ||
            record->offset < at || record->size > end - record->offset)
            continue;
        count_between(part, layout, &at, record->offset, out);
        out->tensor_bytes += record->size;
        *unread += record->type == MF_TYPE_UNKNOWN ? record->size : 0;
        at += record->size;
    }
    count_between(part, layout, &at, end, out);
}

/* ---- rules ---- */

enum need {
    NOTHING = 0,
    TENSORS = 1,
    DATA = 2,
    SHARDS = 4,
    ARCHITECTURE = 8,
    TOKENIZER = 16,
    TEMPLATE = 32,
    LIST = 64,
    MEMBERS = 128,
    DIGEST = 256
};

/* The length of the prefix, if the text begins with it, else 0.  Almost always
 * the first byte tells: this is asked of each rule for each model. */
static size_t begins_with(const char *text, const char *prefix)
{
    size_t size = 0;

    while (prefix[size] && text[size] == prefix[size])
        size++;
    return prefix[size] ? 0 : size;
}

static unsigned needs_of(const char *id)
{
    static const struct {
        const char *prefix;
        unsigned needs;
    } scopes[] = {
#define SCOPE(prefix, needs) { prefix, needs },
#include "lib/check/scopes.def"
#undef SCOPE
    };
    unsigned out = NOTHING;
    size_t longest = 0;

    for (size_t i = 0; i < sizeof(scopes) / sizeof(*scopes); i++) {
        size_t size = begins_with(id, scopes[i].prefix);

        if (size > longest) {
            longest = size;
            out = scopes[i].needs;
        }
    }
    return out;
}

static bool has_key(const struct mf_index *index, const char *part)
{
    for (size_t i = 0; i < index->meta_count; i++) {
        struct mf_str key = index->meta[i].key;

        for (size_t at = 0; at + strlen(part) <= key.size; at++)
            if (memcmp(key.at + at, part, strlen(part)) == 0)
                return true;
    }
    return false;
}

static bool has_members(const struct mf_index *index)
{
    for (size_t i = 0; i < index->stored.stored_count; i++)
        if (index->stored.stored[i].has_crc)
            return true;
    return false;
}

void mf_coverage_update(struct mf_model *model)
{
    const struct mf_index *index = &model->index;
    const uint32_t *unknown = index->tally[MF_RULE_MODEL_UNKNOWN];
    const uint32_t *generic = index->tally[MF_RULE_MODEL_GENERIC];
    const uint32_t *nameless = index->tally[MF_RULE_MODEL_ARCHITECTURE];
    bool known = true;

    for (int i = MF_NOTE; i <= MF_ERROR; i++)
        known = known && unknown[i] + generic[i] + nameless[i] == 0;
    model->lacks = (index->tensor_count > 0 ? 0U : TENSORS) |
                   (model->data_validated ? 0U : DATA) |
                   (model->file_count > 1 ? 0U : SHARDS) |
                   (known ? 0U : ARCHITECTURE) |
                   (has_key(index, "tokenizer.") ? 0U : TOKENIZER) |
                   (model->sidecar_template || has_key(index, "chat_template")
                        ? 0U
                        : TEMPLATE) |
                   (model->list ? 0U : LIST) | (model->digests ? 0U : DIGEST) |
                   (has_members(index) ? 0U : MEMBERS);
}

/* How the rules of formats begin, also of those that the env does not know: the
 * members `rules` of all rows. */
const char *const mf_rules_of_formats[] = { "APR-", "APR-V1-",  "GGUF-",
                                            "NPY-", "PARQUET-", "PICKLE-",
                                            "ST-",  NULL };

/* Whether the rule is another format's: the longest prefix tells.  Rules of a
 * list of shards apply to any model that has one. */
static bool is_foreign(const struct mf_model *model, const char *id)
{
    const char *own = model->format->rules ? model->format->rules : "";
    size_t longest = 0;

    if (model->list && begins_with(id, "ST-INDEX-"))
        return false;
    for (size_t i = 0; mf_rules_of_formats[i]; i++) {
        size_t size = begins_with(id, mf_rules_of_formats[i]);

        longest = size > longest ? size : longest;
    }
    return strncmp(own, id, longest) != 0;
}

static const char *why_skipped(const struct mf_model *model, const char *id)
{
    static const struct {
        unsigned need;
        const char *why;
    } reasons[] = {
        { TENSORS, "no tensors" },
        { DATA, "tensor data not read" },
        { SHARDS, "a single file" },
        { ARCHITECTURE, "unknown architecture" },
        { TOKENIZER, "no tokenizer" },
        { TEMPLATE, "no chat template" },
        { LIST, "no list of shards" },
        { MEMBERS, "not an archive" },
        { DIGEST, "not named by a digest" },
    };
    unsigned needs = needs_of(id) & model->lacks;

    if (!model->validated)
        return "not validated";
    if (is_foreign(model, id))
        return "another format";
    for (size_t i = 0; i < sizeof(reasons) / sizeof(*reasons); i++)
        if (needs & reasons[i].need)
            return reasons[i].why;
    return NULL;
}

/* ---- queries ---- */

bool mf_model_coverage(const struct mf_model *model, struct mf_coverage *out)
{
    uint64_t unread = 0;

    if (!model || !out)
        return false;
    *out = (struct mf_coverage){ .readers =
                                     model->format->readers | MF_READER_SPEC };
    if (model->readers != 0)
        out->readers &= model->readers;
    for (size_t i = 0; i < model->file_count; i++) {
        if (model->index.table.exists)
            count_table(model, i, out, &unread);
        else if (model->format->layout == MF_LAYOUT_SHARED)
            count_members(model, i, out, &unread);
        else
            count_file(model, i, out, &unread);
    }
    if (model->validated)
        out->checked_bytes = out->header_bytes;
    if (model->data_validated)
        out->checked_bytes +=
            out->tensor_bytes - unread + out->padding_bytes + out->footer_bytes;
    for (size_t i = 0; i < MF_RULE_COUNT; i++)
        out->applied_count += !why_skipped(model, mf_rules[i].id);
    out->rule_count = MF_RULE_COUNT;
    return true;
}

const char *mf_rule_skipped(const struct mf_model *model, const char *rule)
{
    return model && rule ? why_skipped(model, rule) : NULL;
}
