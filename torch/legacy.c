/* SPDX-License-Identifier: MIT
 *
 * legacy.c - the row of checkpoints of before PyTorch 1.6
 *
 * Five pickles in a row, then storages:
 *
 *     a magic number
 *     1001            the version
 *     {...}           sizes of C's types where it was written; unused
 *     the object
 *     ['0', '1']      keys of the storages that follow, in their order
 *     8 bytes         elements of the first one, then these; and so on
 *
 * How large an element is, only the object says.
 */
#include "torch/torch.h"

#define MAGIC_SIZE 15
#define VERSION    1001
#define COUNT_SIZE 8

/* Items of a persistent id; the last is None, or the part of the storage. */
#define LEGACY_ID_ITEMS 6

/* The pickle of the magic number, of protocol 2 or 3. */
static const uint8_t magic[MAGIC_SIZE] = { 0x80, 2,    0x8a, 10,   0x6c,
                                           0xfc, 0x9c, 0x46, 0xf9, 0x20,
                                           0x6a, 0xa8, 0x50, 0x19, '.' };

struct legacy {
    bool is_bound; /* of mf_torch_begin */
    struct mf_index *index;
    struct mf_part *part;
    struct mf_reader *reader;
    struct pickle_found found;
    struct pickle object;
    struct mf_names keys;
    struct mf_arena arena;
    uint32_t first, count; /* rows of the storages */
    uint8_t *dtype;        /* of each: enum pickle_dtype; DTYPES: not known */
};

#define DTYPES PICKLE_DTYPE_COUNT

static bool probe(const struct mf_head *head, struct mf_detection *out)
{
    (void)out;
    return head->size >= MAGIC_SIZE && head->at[0] == magic[0] &&
           (head->at[1] == 2 || head->at[1] == 3) &&
           memcmp(head->at + 2, magic + 2, MAGIC_SIZE - 2) == 0;
}

/* ---- pickles ---- */

static enum mf_status read_pickle(struct legacy *legacy, struct pickle *pickle)
{
    *pickle = (struct pickle){ .index = legacy->index,
                               .found = &legacy->found,
                               .shard = legacy->part->shard,
                               .is_bound = legacy->is_bound,
                               .id_items = LEGACY_ID_ITEMS };
    pickle->span.offset = mf_reader_offset(legacy->reader);
    return mf_pickle_read(pickle, legacy->reader);
}

/* The three before the object. */
static enum mf_status read_start(struct legacy *legacy)
{
    enum mf_status status = MF_OK;
    struct pickle pickle;

    for (int i = 0; status == MF_OK && i < 3; i++) {
        const struct pickle_node *result;

        status = read_pickle(legacy, &pickle);
        result = status == MF_OK ? &pickle.node[pickle.result] : NULL;
        if (i == 1 && result &&
            (result->kind != PICKLE_INT || result->is.number != VERSION))
            status = mf_refuse(
                legacy->index->env, MF_RULE_FILE_VERSION, pickle.span.offset,
                "the second pickle is not %d, the version", VERSION);
        mf_pickle_release(&pickle);
    }
    return status;
}

/* ---- keys ---- */

static struct mf_str key_at(const void *table, size_t row)
{
    const struct mf_index *index = table;

    return index->stored.stored[row].name;
}

static enum mf_status bad_keys(const struct legacy *legacy,
                               const struct pickle *list)
{
    return mf_refuse(legacy->index->env, MF_RULE_FILE_FIELD, list->span.offset,
                     "the fifth pickle is not a list of texts, the keys of "
                     "storages");
}

static enum mf_status add_key(struct legacy *legacy, const struct pickle *list,
                              uint32_t node)
{
    const struct pickle_node *item = &list->node[node];
    struct mf_str text = mf_pickle_text(list, item);
    struct mf_stored *stored;
    uint32_t row;
    char *name;

    if (item->kind != PICKLE_TEXT || !text.at)
        return bad_keys(legacy, list);
    stored = mf_index_add_stored(legacy->index, legacy->part, &row);
    name = stored ? mf_arena_text(&legacy->index->arena, text.size) : NULL;
    if (!name)
        return legacy->index->env->error.status;
    memcpy(name, text.at, text.size);
    legacy->index->stored.stored[row].name = (struct mf_str){ name, text.size };
    if (mf_names_add(&legacy->keys, row) != MF_NOT_FOUND)
        mf_index_note(legacy->index, legacy->part->shard, MF_ERROR,
                      MF_RULE_PICKLE_STORAGE, mf_torch_at(list, node),
                      "storage '%s' is listed twice", mf_quote(text).text);
    return MF_OK;
}

static enum mf_status add_keys(struct legacy *legacy, const struct pickle *list)
{
    struct mf_env *env = legacy->index->env;
    enum mf_status status;

    legacy->keys.seed = env->hash_seed;
    legacy->keys.name_at = key_at;
    legacy->keys.table = legacy->index;
    legacy->first = (uint32_t)legacy->index->stored.stored_count;
    legacy->count = list->item_count;
    if (list->node[list->result].kind != PICKLE_LIST)
        return bad_keys(legacy, list);
    if (legacy->first + (size_t)legacy->count > MF_STORED_ROWS_MAX)
        return mf_refuse(env, MF_RULE_FILE_LIMIT, list->span.offset,
                         "%" PRIu32 " storages, the limit is %zu",
                         legacy->count, MF_STORED_ROWS_MAX);
    status = mf_names_init(&legacy->keys, &legacy->arena, legacy->count);
    for (uint32_t at = list->node[list->result].is.items.first;
         status == MF_OK && at != PICKLE_NIL; at = list->item[at].next)
        status = add_key(legacy, list, list->item[at].node);
    legacy->count =
        (uint32_t)legacy->index->stored.stored_count - legacy->first;
    return status;
}

static enum mf_status read_keys(struct legacy *legacy)
{
    struct pickle list;
    enum mf_status status = read_pickle(legacy, &list);

    if (status == MF_OK)
        status = add_keys(legacy, &list);
    mf_pickle_release(&list);
    return status;
}

/* ---- parts of storages ---- */

struct parts {
    struct legacy *legacy;
    struct mf_names names; /* rows are nodes: storages that are parts */
};

static struct mf_str part_at(const void *table, size_t row)
{
    const struct legacy *legacy = table;
    struct torch_storage storage;
    struct mf_str key;

    mf_torch_storage(&legacy->object, (uint32_t)row, &storage, &key);
    return mf_pickle_text(&legacy->object, &legacy->object.node[storage.part]);
}

/* PyTorch has one storage for each key of a part, the first one. */
static void add_part(struct parts *parts, uint32_t node)
{
    struct legacy *legacy = parts->legacy;
    struct torch_storage storage, first;
    struct mf_str key, first_key, part = part_at(legacy, node);
    size_t row = mf_names_add(&parts->names, node);
    bool same = true;

    mf_torch_storage(&legacy->object, node, &storage, &key);
    if (row != MF_NOT_FOUND) {
        mf_torch_storage(&legacy->object, (uint32_t)row, &first, &first_key);
        same = mf_str_same(key, first_key) && first.from == storage.from &&
               first.count == storage.count && first.dtype == storage.dtype;
    }
    if (!same || mf_names_find(&legacy->keys, part) != MF_NOT_FOUND)
        mf_index_note(legacy->index, legacy->part->shard, MF_ERROR,
                      MF_RULE_PICKLE_STORAGE,
                      mf_torch_at(&legacy->object, node),
                      "the key '%s' of a part of a storage is also the key of "
                      "another storage",
                      mf_quote(part).text);
}

static bool is_part(const struct pickle *object, uint32_t node)
{
    struct torch_storage storage;
    struct mf_str key;

    return object->node[node].kind == PICKLE_STORAGE &&
           !mf_torch_storage(object, node, &storage, &key) &&
           storage.part != PICKLE_NIL;
}

static enum mf_status check_parts(struct legacy *legacy)
{
    const struct pickle *object = &legacy->object;
    struct parts parts = { .legacy = legacy,
                           .names = { .seed = legacy->index->env->hash_seed,
                                      .name_at = part_at,
                                      .table = legacy } };
    size_t count = 0;

    for (uint32_t i = 0; i < object->node_count; i++)
        count += is_part(object, i);
    if (count == 0)
        return MF_OK;
    if (mf_names_init(&parts.names, &legacy->arena, count) != MF_OK)
        return legacy->index->env->error.status;
    for (uint32_t i = 0; i < object->node_count; i++)
        if (is_part(object, i))
            add_part(&parts, i);
    return MF_OK;
}

/* ---- storages ---- */

/* What persistent ids say of the type of each storage. */
static enum mf_status take_types(struct legacy *legacy)
{
    const struct pickle *object = &legacy->object;

    legacy->dtype = mf_arena_take(&legacy->arena, legacy->count + (size_t)1);
    if (!legacy->dtype)
        return legacy->index->env->error.status;
    memset(legacy->dtype, DTYPES, legacy->count);
    for (uint32_t i = 0; i < object->node_count; i++) {
        struct torch_storage storage;
        struct mf_str key;
        size_t row;

        if (object->node[i].kind != PICKLE_STORAGE ||
            mf_torch_storage(object, i, &storage, &key))
            continue;
        row = mf_names_find(&legacy->keys, key);
        /* PyTorch takes the type where a storage is first met. */
        if (row != MF_NOT_FOUND && legacy->dtype[row - legacy->first] == DTYPES)
            legacy->dtype[row - legacy->first] = storage.dtype;
    }
    return MF_OK;
}

/* *end: where the storage at *end ends.  NULL, or what is wrong. */
static const char *place(struct legacy *legacy, uint32_t i, uint64_t *end)
{
    struct mf_stored *stored = &legacy->index->stored.stored[legacy->first + i];
    uint8_t element = legacy->dtype[i] == DTYPES
                          ? 0
                          : mf_pickle_dtypes[legacy->dtype[i]].size;
    uint64_t size = legacy->reader->source->size;
    uint8_t bytes[COUNT_SIZE];

    stored->file.offset = *end;
    if (element == 0)
        return "belongs to no tensor, so its size is unknown";
    if (!mf_reader_copy(legacy->reader, *end, bytes, sizeof(bytes)))
        return "is not in the file";
    stored->file.offset += COUNT_SIZE;
    if (!mf_mul(mf_little_64(bytes), element, &stored->size) ||
        stored->size > size - stored->file.offset ||
        stored->size > MF_STORED_SIZE_MAX) {
        stored->size = 0;
        return "extends past the end of the file";
    }
    stored->file.size = stored->size;
    *end = stored->file.offset + stored->size;
    return NULL;
}

/* After one whose size is not known, nothing is where it can be found. */
static enum mf_status place_all(struct legacy *legacy)
{
    struct mf_stored_tables *tables = &legacy->index->stored;
    uint64_t end = mf_reader_offset(legacy->reader);
    const char *fault = NULL;

    for (uint32_t i = 0; i < legacy->count; i++) {
        struct mf_stored *stored = &tables->stored[legacy->first + i];

        if (!fault) {
            fault = place(legacy, i, &end);
            if (legacy->reader->failed)
                return legacy->index->env->error.status;
            if (fault)
                mf_index_note(legacy->index, legacy->part->shard, MF_ERROR,
                              MF_RULE_PICKLE_STORAGE, end,
                              "storage '%s' %s; it is not read, nor are the "
                              "storages after it, %" PRIu32,
                              mf_quote(stored->name).text, fault,
                              legacy->count - i - 1);
        }
        stored->unreadable = fault != NULL;
    }
    if (!fault && end < legacy->reader->source->size)
        mf_index_note(legacy->index, legacy->part->shard, MF_ERROR,
                      MF_RULE_PICKLE_TRAILING, end,
                      "%" PRIu64 " bytes follow the last storage",
                      legacy->reader->source->size - end);
    return MF_OK;
}

/* ---- the file ---- */

static enum mf_status read_all(struct legacy *legacy)
{
    if (read_start(legacy) != MF_OK ||
        read_pickle(legacy, &legacy->object) != MF_OK ||
        read_keys(legacy) != MF_OK || check_parts(legacy) != MF_OK ||
        take_types(legacy) != MF_OK || place_all(legacy) != MF_OK)
        return legacy->index->env->error.status;
    /* Numbers of elements are little-endian whatever wrote them, and so are
     * these. */
    return mf_torch_walk(legacy->index, legacy->part, &legacy->object,
                         &legacy->keys, false);
}

static enum mf_status parse(struct mf_reader *reader, struct mf_index *index,
                            struct mf_part *part)
{
    struct legacy *legacy = mf_alloc(index->env, sizeof(*legacy));
    enum mf_status status;

    if (!legacy)
        return index->env->error.status;
    memset(legacy, 0, sizeof(*legacy));
    legacy->index = index;
    legacy->part = part;
    legacy->reader = reader;
    mf_arena_init(&legacy->arena, index->env);
    part->alignment = 1;
    legacy->is_bound = mf_torch_begin(index->env);
    status = read_all(legacy);
    mf_torch_end(index->env, legacy->is_bound);
    mf_pickle_release(&legacy->object);
    mf_arena_release(&legacy->arena);
    mf_release(index->env, legacy, sizeof(*legacy));
    return status;
}

const struct mf_format mf_format_torch_legacy = {
    .variant = "legacy",
    .description = "checkpoints of PyTorch before 1.6",
    TORCH_MEMBERS,
    .probe = probe,
    .parse = parse,
};
