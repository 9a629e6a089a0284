/* SPDX-License-Identifier: MIT
 *
 * read.c - the header of a safetensors file
 *
 * The header does not say how many tensors there are, so it is read twice: see
 * struct st_walk.  Growing tables in a single pass was the alternative; it
 * copies them several times and leaves up to half of the memory unused.
 */
#include "safetensors/safetensors.h"

#define METADATA "__metadata__"

/* Room after the last name: the key of the metadata may come last, and the
 * tokenizer needs a minimum of room. */
#define NAME_SLACK sizeof(METADATA)

/* The header does not match what the first pass has counted. */
static enum mf_status changed(const struct st_walk *walk)
{
    return mf_fail(walk->index->env, MF_ERR_IO, walk->json.token_offset,
                   "the header changed while it was read");
}

/* ---- a tensor ---- */

static void note_name(struct st_walk *walk, const struct mf_record *record)
{
    if (record->name_size == 0)
        mf_index_note(walk->index, walk->part->shard, MF_WARNING,
                      MF_RULE_ST_NAME, record->entry, "a tensor has no name");
    else if (mf_text_clean(record->name, record->name_size) !=
             record->name_size)
        mf_index_note(walk->index, walk->part->shard, MF_WARNING,
                      MF_RULE_ST_NAME, record->entry,
                      "the name of tensor '%s' contains a control or invisible "
                      "character or is not UTF-8",
                      mf_record_name(record).text);
}

/* Stores the tensor's row, name and shape. */
static enum mf_status keep(struct st_walk *walk, struct mf_record *record)
{
    size_t size = (size_t)record->name_size + 1;

    if (record->rank > walk->dim_room)
        return changed(walk);
    note_name(walk, record);
    walk->name[record->name_size] = 0;
    walk->name += size;
    walk->name_room -= size;
    memcpy(walk->dim, walk->shape, record->rank * sizeof(*walk->dim));
    record->dim = walk->dim;
    walk->dim += record->rank;
    walk->dim_room -= record->rank;
    return mf_index_add(walk->index, record);
}

/* size: of the whole name; name may be only the start of it. */
static enum mf_status read_tensor(struct st_walk *walk, struct mf_str name,
                                  uint64_t size)
{
    struct mf_record record =
        mf_record_begin(walk->part, walk->json.token_offset);

    record.name = name.at;
    record.name_size = (uint16_t)name.size;
    if (size > MF_NAME_MAX)
        return mf_refuse(walk->index->env, MF_RULE_FILE_LIMIT, record.entry,
                         "the name of tensor '%s' has more than %d bytes, the "
                         "limit",
                         mf_record_name(&record).text, MF_NAME_MAX);
    if (walk->filling && size >= walk->name_room)
        return changed(walk);
    if (mf_safetensors_tensor(walk, &record) != MF_OK)
        return st_failed(walk);
    if (walk->filling)
        return keep(walk, &record);
    walk->tensor_count++;
    walk->name_size += size;
    walk->dim_count += record.rank;
    return MF_OK;
}

/* ---- metadata ---- */

static void note_entry(struct st_walk *walk, struct mf_str key, uint64_t offset)
{
    mf_index_note(walk->index, walk->part->shard, MF_ERROR, MF_RULE_ST_METADATA,
                  offset, "the value of '%s' in " METADATA " is not a string",
                  mf_quote(key).text);
}

/* A key of the metadata was just announced. */
static enum mf_status read_entry(struct st_walk *walk)
{
    struct mf_arena *arena = &walk->index->arena;
    struct mf_meta *meta;
    struct mf_str key;

    if (mf_json_read_key(&walk->json, arena, &key) != MF_OK)
        return st_failed(walk);
    meta = mf_index_add_meta(walk->index, walk->part);
    if (!meta)
        return st_failed(walk);
    meta->key = key;
    if (mf_json_read_meta(&walk->json, mf_json_next(&walk->json), arena,
                          meta) != MF_OK)
        return st_failed(walk);
    if (meta->type != MF_VALUE_STRING)
        note_entry(walk, key, meta->span.offset);
    return MF_OK;
}

static enum mf_status read_metadata(struct st_walk *walk)
{
    struct mf_json *json = &walk->json;
    enum mf_json_token token = mf_json_next(json);

    if (token == MF_JSON_ERROR)
        return st_failed(walk);
    if (!walk->filling)
        return mf_json_skip(json, token);
    if (walk->metadata_seen)
        mf_index_note(walk->index, walk->part->shard, MF_ERROR,
                      MF_RULE_ST_METADATA, json->token_offset,
                      "duplicate " METADATA);
    walk->metadata_seen = true;
    if (token != MF_JSON_BEGIN_OBJECT) {
        bool null = token == MF_JSON_NULL;

        mf_index_note(walk->index, walk->part->shard,
                      null ? MF_WARNING : MF_ERROR, MF_RULE_ST_METADATA,
                      json->token_offset, METADATA " is %s, must be an object",
                      null ? "null" : "of another type");
        return mf_json_skip(json, token);
    }
    while ((token = mf_json_next(json)) == MF_JSON_KEY)
        if (read_entry(walk) != MF_OK)
            return st_failed(walk);
    return st_failed(walk);
}

/* ---- the header ---- */

/* A key of the header, and its value. */
static enum mf_status read_member(struct st_walk *walk)
{
    struct mf_json *json = &walk->json;
    char *text = walk->name ? walk->name : walk->preview;
    size_t room = walk->name ? walk->name_room : sizeof(walk->preview);
    uint64_t size, rest = 0;
    bool more;

    if (room < NAME_SLACK)
        return changed(walk);
    if (mf_json_text(json, text, room, &size, &more) != MF_OK ||
        (more && mf_json_text(json, NULL, 0, &rest, &more) != MF_OK))
        return st_failed(walk);
    if (rest == 0 && size == sizeof(METADATA) - 1 &&
        memcmp(text, METADATA, sizeof(METADATA) - 1) == 0)
        return read_metadata(walk);
    if (walk->index->metadata_only) {
        enum mf_json_token token = mf_json_next(json);

        return token == MF_JSON_ERROR ? st_failed(walk)
                                      : mf_json_skip(json, token);
    }
    return read_tensor(walk, (struct mf_str){ text, (size_t)size },
                       size + rest);
}

static enum mf_status walk_header(struct st_walk *walk,
                                  struct mf_reader *reader)
{
    struct mf_json *json = &walk->json;
    enum mf_json_token token;

    mf_reader_seek(reader, ST_LENGTH_SIZE);
    mf_json_init(json, reader);
    token = mf_json_next(json);
    if (token == MF_JSON_ERROR)
        return st_failed(walk);
    if (token != MF_JSON_BEGIN_OBJECT)
        return mf_refuse(walk->index->env, MF_RULE_FILE_FIELD,
                         json->token_offset, "the header is not a JSON object");
    while ((token = mf_json_next(json)) == MF_JSON_KEY)
        if (read_member(walk) != MF_OK)
            return st_failed(walk);
    /* Anything but white space after the object is an error. */
    if (token != MF_JSON_ERROR)
        mf_json_next(json);
    return st_failed(walk);
}

/* Allocates exactly what the first pass has counted. */
static enum mf_status reserve_tables(struct st_walk *walk)
{
    struct mf_arena *arena = &walk->index->tensor_arena;
    size_t names = (size_t)(walk->name_size + walk->tensor_count) + NAME_SLACK;
    size_t dims = (size_t)walk->dim_count;

    /* 8 bytes more, since shapes are aligned to 8. */
    if (mf_index_reserve(walk->index, walk->tensor_count, walk->tensor_count,
                         walk->name_size + NAME_SLACK + sizeof(*walk->dim),
                         walk->dim_count) != MF_OK)
        return st_failed(walk);
    walk->dim = mf_arena_take(arena, dims * sizeof(*walk->dim));
    walk->name = walk->dim ? mf_arena_text(arena, names) : NULL;
    walk->dim_room = walk->dim_count;
    walk->name_room = names;
    return st_failed(walk);
}

/* Reads the header's length and its first byte. */
static enum mf_status read_length(struct mf_reader *reader,
                                  struct mf_index *index, struct mf_part *part)
{
    uint64_t size = mf_take_u64(reader), left = mf_reader_left(reader);

    if (mf_reader_check(reader, "the header's length") != MF_OK)
        return index->env->error.status;
    if (size > ST_HEADER_MAX)
        return mf_refuse(index->env, MF_RULE_ST_HEADER_SIZE, 0,
                         "the header has %" PRIu64 " bytes, the limit is "
                         "%" PRIu64,
                         size, ST_HEADER_MAX);
    if (size > left)
        return mf_refuse(index->env, MF_RULE_FILE_COUNT, 0,
                         "the header has %" PRIu64
                         " bytes, but the file has only "
                         "%" PRIu64 " after the header's length",
                         size, left);
    part->data_offset = ST_LENGTH_SIZE + size;
    mf_reader_limit(reader, part->data_offset);
    mf_source_expect(reader->source, (struct mf_span){ 0, part->data_offset });
    /* Fill the window: a small header is still there for the second pass. */
    mf_reader_fill(reader,
                   size < reader->capacity ? (size_t)size : reader->capacity);
    if (mf_peek(reader) != '{')
        mf_index_note(index, part->shard, MF_WARNING, MF_RULE_ST_BRACE,
                      ST_LENGTH_SIZE, "the header does not start with '{'");
    return mf_reader_check(reader, "the header");
}

enum mf_status mf_safetensors_parse(struct mf_reader *reader,
                                    struct mf_index *index,
                                    struct mf_part *part)
{
    struct st_walk walk = { .index = index, .part = part };

    if (read_length(reader, index, part) != MF_OK)
        return index->env->error.status;
    if (index->metadata_only)
        /* Without tensors there is no data that they must cover. */
        part->data_end = part->data_offset;
    else if (walk_header(&walk, reader) != MF_OK ||
             reserve_tables(&walk) != MF_OK)
        return index->env->error.status;
    walk.filling = true;
    return walk_header(&walk, reader);
}
