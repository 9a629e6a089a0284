/* SPDX-License-Identifier: MIT
 *
 * index.c - model.safetensors.index.json: which shard has which tensor
 *
 *     {"metadata": {"total_size": 72},
 *      "weight_map": {"norm.weight": "model-00001-of-00002.safetensors", ...}}
 *
 * The map is read twice and never stored: first for the names of the shards,
 * then, after they were read, to compare it with the tensors they have.
 */
#include "safetensors/safetensors.h"

/* The longest file name on the usual systems. */
#define FILE_NAME_SIZE_MAX 255

/* Ten times what the largest models have.  Names are kept sorted by moving the
 * later ones up, which would be slow for many more. */
#define SHARDS_MAX 10000

struct walk {
    struct mf_env *env;
    struct mf_json json;
    /* Called for each line of the map, after its key token. */
    enum mf_status (*line)(struct walk *walk);
    bool has_map, has_metadata, has_size; /* so far */
    char shard[FILE_NAME_SIZE_MAX + 1];   /* of the line, terminated */

    struct mf_shard_names *names; /* while listing: grows, in order */

    const struct mf_shard_names *listed; /* while verifying */
    struct mf_index *index;              /* likewise, else NULL */
    char *name; /* of the line's tensor: name_room bytes */
    size_t name_room;
    uint8_t *listed_bits; /* one for each tensor: it has a line */
};

static enum mf_status failed(const struct walk *walk)
{
    return walk->env->error.status;
}

/* ---- the names of shards ---- */

static int compare(struct mf_str a, struct mf_str b)
{
    size_t size = a.size < b.size ? a.size : b.size;
    int order = memcmp(a.at, b.at, size);

    return order != 0 ? order : (a.size > b.size) - (a.size < b.size);
}

/* Position of name among the sorted ones, or where to insert it. */
static size_t place_of(const struct mf_shard_names *names, struct mf_str name)
{
    size_t low = 0, high = names->count;

    while (low < high) {
        size_t middle = low + (high - low) / 2;

        if (compare(names->name[middle], name) < 0)
            low = middle + 1;
        else
            high = middle;
    }
    return low;
}

static bool is_at(const struct mf_shard_names *names, struct mf_str name,
                  size_t place)
{
    return place < names->count && compare(names->name[place], name) == 0;
}

/* Why name cannot be a file next to the index; NULL if it can.  An index must
 * not make a program open files elsewhere. */
static const char *name_fault(struct mf_str name)
{
    if (name.size == 0)
        return "is empty";
    if (memchr(name.at, '/', name.size))
        return "contains a slash";
    if (memchr(name.at, 0, name.size))
        return "contains a NUL";
    if (compare(name, (struct mf_str){ ".", 1 }) == 0 ||
        compare(name, (struct mf_str){ "..", 2 }) == 0)
        return "is a folder";
    return NULL;
}

/* Reads the value of a line: the name of a shard. */
static enum mf_status read_shard(struct walk *walk, struct mf_str *out)
{
    struct mf_json *json = &walk->json;
    enum mf_json_token token = mf_json_next(json);
    uint64_t offset = json->token_offset, size;
    const char *fault;
    bool more;

    if (token == MF_JSON_ERROR)
        return failed(walk);
    if (token != MF_JSON_STRING)
        return mf_refuse(walk->env, MF_RULE_FILE_FIELD, offset,
                         "a value in weight_map is not a string");
    if (mf_json_text(json, walk->shard, FILE_NAME_SIZE_MAX, &size, &more) !=
        MF_OK)
        return failed(walk);
    walk->shard[size] = 0;
    *out = (struct mf_str){ walk->shard, (size_t)size };
    fault = more ? "is too long for a file name" : name_fault(*out);
    if (fault)
        return mf_refuse(walk->env, MF_RULE_ST_INDEX_NAME, offset,
                         "shard name '%s' in weight_map %s",
                         mf_quote(*out).text, fault);
    return MF_OK;
}

/* ---- the walk ---- */

/* *seen: whether a member of that name was read before. */
static void note_duplicate(const struct walk *walk, bool *seen,
                           const char *name)
{
    if (*seen && walk->index)
        mf_index_note(walk->index, 0, MF_ERROR, MF_RULE_ST_INDEX_DUPLICATE,
                      MF_NO_OFFSET, "duplicate %s in the index", name);
    *seen = true;
}

static enum mf_status walk_map(struct walk *walk)
{
    struct mf_json *json = &walk->json;
    enum mf_json_token token = mf_json_next(json);

    if (token == MF_JSON_ERROR)
        return failed(walk);
    if (token != MF_JSON_BEGIN_OBJECT)
        return mf_refuse(walk->env, MF_RULE_FILE_FIELD, json->token_offset,
                         "weight_map is not an object");
    note_duplicate(walk, &walk->has_map, "weight_map");
    while ((token = mf_json_next(json)) == MF_JSON_KEY)
        if (walk->line(walk) != MF_OK)
            return failed(walk);
    return failed(walk);
}

/* Bytes of all tensors, by the headers of the shards. */
static uint64_t sum_of_sizes(const struct mf_index *index)
{
    uint64_t sum = 0;

    for (size_t i = 0; i < index->tensor_count; i++)
        if (!mf_add(sum, index->tensor[i].size, &sum))
            return UINT64_MAX;
    return sum;
}

static void check_total_size(struct walk *walk, enum mf_json_token token)
{
    uint64_t sum = sum_of_sizes(walk->index), size;

    if (token != MF_JSON_NUMBER || !mf_json_plain_u64(&walk->json, &size))
        mf_index_note(walk->index, 0, MF_WARNING, MF_RULE_ST_INDEX_SIZE,
                      MF_NO_OFFSET,
                      "total_size of the index is not a whole number");
    else if (size != sum)
        mf_index_note(walk->index, 0, MF_WARNING, MF_RULE_ST_INDEX_SIZE,
                      MF_NO_OFFSET,
                      "total_size of the index is %" PRIu64
                      ", but the tensors have %" PRIu64 " bytes",
                      size, sum);
}

/* Reads the key after its token; "" if it is longer than any known key or
 * contains a NUL. */
static enum mf_status read_key(struct walk *walk, char key[16])
{
    uint64_t size;
    bool more;

    if (mf_json_text(&walk->json, key, 15, &size, &more) != MF_OK)
        return failed(walk);
    key[more || memchr(key, 0, (size_t)size) ? 0 : size] = 0;
    return MF_OK;
}

static enum mf_status walk_metadata(struct walk *walk)
{
    struct mf_json *json = &walk->json;
    enum mf_json_token token = mf_json_next(json);
    char key[16];

    if (token != MF_JSON_BEGIN_OBJECT || !walk->index)
        return token == MF_JSON_ERROR ? failed(walk)
                                      : mf_json_skip(json, token);
    note_duplicate(walk, &walk->has_metadata, "metadata");
    while (mf_json_next(json) == MF_JSON_KEY && read_key(walk, key) == MF_OK &&
           (token = mf_json_next(json)) != MF_JSON_ERROR) {
        if (strcmp(key, "total_size") == 0) {
            note_duplicate(walk, &walk->has_size, "total_size");
            check_total_size(walk, token);
        }
        if (mf_json_skip(json, token) != MF_OK)
            break;
    }
    return failed(walk);
}

/* Reads a member of the outermost object, after its key token. */
static enum mf_status walk_member(struct walk *walk)
{
    enum mf_json_token token;
    char key[16];

    if (read_key(walk, key) != MF_OK)
        return failed(walk);
    if (strcmp(key, "weight_map") == 0)
        return walk_map(walk);
    if (strcmp(key, "metadata") == 0)
        return walk_metadata(walk);
    token = mf_json_next(&walk->json);
    return token == MF_JSON_ERROR ? failed(walk)
                                  : mf_json_skip(&walk->json, token);
}

static enum mf_status walk_index(struct walk *walk, struct mf_reader *reader)
{
    struct mf_json *json = &walk->json;
    enum mf_json_token token;

    mf_json_init(json, reader);
    token = mf_json_next(json);
    if (token != MF_JSON_BEGIN_OBJECT && token != MF_JSON_ERROR)
        return mf_refuse(walk->env, MF_RULE_FILE_FIELD, json->token_offset,
                         "the index is not a JSON object");
    while (token != MF_JSON_ERROR &&
           (token = mf_json_next(json)) == MF_JSON_KEY)
        if (walk_member(walk) != MF_OK)
            return failed(walk);
    if (token != MF_JSON_ERROR)
        mf_json_next(json);
    return failed(walk);
}

/* ---- listing ---- */

static enum mf_status list_line(struct walk *walk)
{
    struct mf_shard_names *names = walk->names;
    struct mf_str shard;
    size_t place, last;

    if (read_shard(walk, &shard) != MF_OK)
        return failed(walk);
    place = place_of(names, shard);
    if (is_at(names, shard, place))
        return MF_OK;
    if (names->count == SHARDS_MAX)
        return mf_refuse(walk->env, MF_RULE_FILE_LIMIT, walk->json.token_offset,
                         "weight_map names more than %d shards, the limit",
                         SHARDS_MAX);
    if (mf_shard_names_add(names, shard, &last) != MF_OK)
        return failed(walk);
    shard = names->name[last];
    memmove(names->name + place + 1, names->name + place,
            (last - place) * sizeof(shard));
    names->name[place] = shard;
    return MF_OK;
}

static enum mf_status list(struct mf_reader *reader,
                           struct mf_shard_names *names)
{
    struct walk walk = { .env = reader->env,
                         .line = list_line,
                         .names = names };

    if (walk_index(&walk, reader) != MF_OK)
        return failed(&walk);
    if (!walk.has_map)
        return mf_refuse(walk.env, MF_RULE_FILE_FORMAT, 0,
                         "not an index of safetensors files: weight_map is "
                         "missing");
    if (names->count == 0)
        return mf_refuse(walk.env, MF_RULE_FILE_FIELD, 0,
                         "weight_map is empty: no shard to read");
    return MF_OK;
}

/* ---- verifying ---- */

/* Checks a line that says that `tensor` is in that shard. */
static void check_line(struct walk *walk, struct mf_str tensor, size_t shard)
{
    struct mf_index *index = walk->index;
    size_t row = mf_names_find(&index->tensor_names, tensor);
    const struct mf_record *record;

    if (row == MF_NOT_FOUND) {
        mf_index_note(index, (uint32_t)shard, MF_ERROR_MISSED,
                      MF_RULE_ST_INDEX_MISSING, MF_NO_OFFSET,
                      "the index lists tensor '%s' in shard '%s', but no shard "
                      "has it",
                      mf_quote(tensor).text,
                      mf_quote(walk->listed->name[shard]).text);
        mf_index_miss(index, (uint32_t)shard, tensor,
                      "the index lists it, but no shard has it");
        return;
    }
    record = &index->tensor[row];
    if (walk->listed_bits[row / 8] >> row % 8 & 1)
        mf_index_note(index, (uint32_t)shard, MF_ERROR,
                      MF_RULE_ST_INDEX_DUPLICATE, MF_NO_OFFSET,
                      "the index lists tensor '%s' twice",
                      mf_quote(tensor).text);
    walk->listed_bits[row / 8] |= (uint8_t)(1u << row % 8);
    if (record->shard == shard)
        return;
    mf_index_note_of(
        index, record, MF_ERROR, MF_RULE_ST_INDEX_SHARD, record->entry,
        "the index lists tensor '%s' in shard '%s', but it is in '%s'",
        mf_quote(tensor).text, mf_quote(walk->listed->name[shard]).text,
        mf_quote(walk->listed->name[record->shard]).text);
}

static enum mf_status verify_line(struct walk *walk)
{
    uint64_t offset = walk->json.token_offset, size;
    struct mf_str shard;
    size_t place;
    bool more;

    /* A name that does not fit is longer than any in the table. */
    if (mf_json_text(&walk->json, walk->name, walk->name_room, &size, &more) !=
            MF_OK ||
        read_shard(walk, &shard) != MF_OK)
        return failed(walk);
    place = place_of(walk->listed, shard);
    if (!is_at(walk->listed, shard, place))
        return mf_fail(walk->env, MF_ERR_IO, offset,
                       "the index changed while it was read");
    check_line(walk, (struct mf_str){ walk->name, (size_t)size }, place);
    return MF_OK;
}

/* Reports tensors without a line, except duplicates: a line can only mean the
 * first tensor of a name. */
static void check_unlisted(struct walk *walk)
{
    struct mf_index *index = walk->index;

    for (size_t i = 0; i < index->tensor_count; i++) {
        const struct mf_record *record = &index->tensor[i];
        struct mf_str name = { record->name, record->name_size };

        if (walk->listed_bits[i / 8] >> i % 8 & 1 ||
            mf_names_find(&index->tensor_names, name) != i)
            continue;
        mf_index_note_of(
            index, record, MF_ERROR, MF_RULE_ST_INDEX_EXTRA, record->entry,
            "shard '%s' has tensor '%s', which is missing in the index",
            mf_quote(walk->listed->name[record->shard]).text,
            mf_quote(name).text);
    }
}

/* For any name in the table, and for messages; reading a longer one stops at
 * most three bytes before the end. */
static size_t name_room(const struct mf_index *index)
{
    size_t room = 256;

    for (size_t i = 0; i < index->tensor_count; i++)
        if ((size_t)index->tensor[i].name_size + 4 > room)
            room = (size_t)index->tensor[i].name_size + 4;
    return room;
}

static enum mf_status verify(struct mf_reader *reader, struct mf_index *index,
                             const struct mf_shard_names *names)
{
    size_t names_end = name_room(index);
    size_t room = names_end + index->tensor_count / 8 + 1;
    char *scratch = mf_alloc(reader->env, room);
    struct walk walk = { .env = reader->env,
                         .line = verify_line,
                         .listed = names,
                         .index = index,
                         .name = scratch,
                         .name_room = names_end };

    if (!scratch)
        return failed(&walk);
    walk.listed_bits = (uint8_t *)scratch + names_end;
    memset(walk.listed_bits, 0, room - names_end);
    if (walk_index(&walk, reader) == MF_OK)
        check_unlisted(&walk);
    mf_release(reader->env, scratch, room);
    return failed(&walk);
}

/* ---- detection ---- */

/* The position after optional white space and `expected`; NULL if the text is
 * different. */
static const uint8_t *expect(const uint8_t *at, const uint8_t *end,
                             const char *expected)
{
    size_t size = strlen(expected);

    while (at && at < end && memchr(" \t\r\n", *at, 4))
        at++;
    if (!at || (size_t)(end - at) < size || memcmp(at, expected, size) != 0)
        return NULL;
    return at + size;
}

/* An object whose first member is an object named "metadata" or "weight_map".
 * Whether there is a weight_map at all shows only when the file is read. */
static bool probe(const struct mf_head *head, struct mf_detection *out)
{
    static const char *const keys[] = { "\"metadata\"", "\"weight_map\"" };
    const uint8_t *end = head->at + head->size;
    const uint8_t *first = expect(head->at, end, "{");

    (void)out;
    for (size_t i = 0; i < sizeof(keys) / sizeof(*keys); i++)
        if (expect(expect(expect(first, end, keys[i]), end, ":"), end, "{"))
            return true;
    return false;
}

/* A model that was opened by its index goes by the row of its shards, so this
 * one needs no more. */
const struct mf_format mf_format_safetensors_index = {
    .name = "safetensors",
    .variant = "index",
    .suffix = ".safetensors.index.json",
    .description = "a list of safetensors files that are one model",
    .layout = MF_LAYOUT_TILED,
    .probe = probe,
    .list = list,
    .verify = verify,
};
