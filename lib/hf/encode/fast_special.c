/* SPDX-License-Identifier: MIT
 *
 * fast_special.c - what other files add to the added tokens of tokenizer.json
 *
 * As PreTrainedTokenizerFast does: the tokens of tokenizer_config.json that
 * differ from tokenizer.json's, by their ids; then the special tokens that have
 * a name (bos_token, ...), which are added where they are not tokens yet, and
 * become special where tokenizer_config.json lists them with flags.
 */
#include "lib/base/sort.h"
#include "lib/base/str.h"
#include "lib/hf/encode/fast.h"

#define NAMED_MAX 4096 /* special tokens with a name, and without an id */

static const char *const keys[MF_SPECIAL_COUNT] = { "bos_token", "eos_token",
                                                    "unk_token", "sep_token",
                                                    "pad_token", "cls_token",
                                                    "mask_token" };

static const char *const kinds[MF_SPECIAL_COUNT] = { "bos", "eos", "unk", "sep",
                                                     "pad", "cls", "mask" };

static enum mf_status failed(const struct mf_fast *fast)
{
    return fast->env->error.status;
}

/* ---- added_tokens_decoder ---- */

struct decoder { /* tokens that are not in tokenizer.json as they are here */
    struct mf_added *first;
    size_t count;
};

static enum mf_status add_to_decoder(struct mf_fast *fast,
                                     struct decoder *decoder,
                                     const struct mf_added *added)
{
    struct mf_added *row = mf_arena_take(fast->arena, sizeof(*row));

    if (!row)
        return failed(fast);
    if (++decoder->count > MF_ADDED_MAX)
        return mf_fail(fast->env, MF_ERR_LIMIT, MF_NO_OFFSET,
                       "more than %zu added tokens", MF_ADDED_MAX);
    *row = *added;
    row->next = decoder->first;
    decoder->first = row;
    return MF_OK;
}

/* "5": { "content": ... } */
static enum mf_status read_decoder_row(struct mf_fast *fast,
                                       struct mf_json *json,
                                       struct decoder *decoder)
{
    struct mf_added read, *same;
    char digits[24];
    uint64_t size, id = 0;
    bool more;

    if (mf_json_text(json, digits, sizeof(digits), &size, &more) != MF_OK)
        return failed(fast);
    for (size_t i = 0; i < size; i++)
        if (more || size > 18 || digits[i] < '0' || digits[i] > '9')
            return mf_fail(fast->env, MF_ERR_CORRUPT, json->token_offset,
                           "'added_tokens_decoder': a key is not an id");
        else
            id = id * 10 + (uint64_t)(digits[i] - '0');
    if (mf_json_next(json) != MF_JSON_BEGIN_OBJECT)
        return failed(fast)
                   ? failed(fast)
                   : mf_fail(fast->env, MF_ERR_CORRUPT, json->token_offset,
                             "'added_tokens_decoder': a token is not an "
                             "object");
    if (mf_added_read(&fast->added, json, &read) != MF_OK)
        return failed(fast);
    same = mf_added_find(&fast->added, read.text);
    if (same && same->now == read.flags) {
        same->in_config = true;
        return MF_OK;
    }
    read.file_id = id;
    return add_to_decoder(fast, decoder, &read);
}

static bool is_before(const void *table, uint32_t a, uint32_t b)
{
    const struct mf_added *const *row = table;

    return row[a]->file_id != row[b]->file_id
               ? row[a]->file_id < row[b]->file_id
               : a < b;
}

/* By their ids; of two with one id the later. */
static enum mf_status append_decoder(struct mf_fast *fast,
                                     const struct decoder *decoder)
{
    size_t room = decoder->count + 1, i = decoder->count;
    uint32_t *row = mf_arena_take(fast->arena, room * sizeof(*row));
    struct mf_added **table = mf_arena_take(fast->arena, room * sizeof(*table));

    if (!row || !table)
        return failed(fast);
    for (struct mf_added *at = decoder->first; at; at = at->next) {
        table[--i] = at; /* the last one is the first of the list */
        row[i] = (uint32_t)i;
    }
    mf_sort(row, decoder->count, is_before, table);
    for (i = 0; i < decoder->count; i++)
        if ((i + 1 == decoder->count ||
             table[row[i + 1]]->file_id != table[row[i]]->file_id) &&
            mf_added_link(&fast->added, table[row[i]]) != MF_OK)
            return failed(fast);
    return MF_OK;
}

/* An object's "5": { "content": ... } one after another. */
static enum mf_status read_decoder(struct mf_fast *fast,
                                   const struct mf_node *node)
{
    struct decoder decoder = { .count = 0 };
    struct mf_sidecar file;
    enum mf_json_token token = MF_JSON_ERROR;
    enum mf_status status = mf_sidecar_open(&file, fast->model, fast->arena,
                                            "tokenizer_config.json");

    if (status == MF_OK) {
        mf_reader_seek(&file.reader, node->offset);
        mf_json_init(&file.json, &file.reader);
        token = mf_json_next(&file.json); /* the bracket */
        token = mf_json_next(&file.json);
        for (; token == MF_JSON_KEY && status == MF_OK;
             token = status == MF_OK ? mf_json_next(&file.json) : token)
            status = read_decoder_row(fast, &file.json, &decoder);
        if (token == MF_JSON_ERROR)
            status = failed(fast);
    }
    if (status == MF_OK)
        status = append_decoder(fast, &decoder);
    return mf_sidecar_close(&file, status);
}

/* ---- special tokens with a name ---- */

struct named { /* each text once */
    struct name {
        struct mf_str text;
        unsigned flags;
        bool token; /* it has flags */
    } name[NAMED_MAX];
    size_t count;
};

static bool is_named(const struct named *named, struct mf_str text)
{
    for (size_t i = 0; i < named->count; i++)
        if (mf_str_same(named->name[i].text, text))
            return true;
    return false;
}

static enum mf_status add_name(struct mf_fast *fast, struct named *named,
                               struct name name)
{
    if (name.text.size == 0 || is_named(named, name.text))
        return MF_OK;
    if (named->count == NAMED_MAX)
        return mf_fail(fast->env, MF_ERR_LIMIT, MF_NO_OFFSET,
                       "'tokenizer_config.json' has more than %d special "
                       "tokens",
                       NAMED_MAX);
    named->name[named->count++] = name;
    return MF_OK;
}

/* { "content": "<s>", "lstrip": false, ... }: a token with flags. */
static struct name name_of_object(const struct mf_node *node)
{
    struct name name = { .text = mf_node_text(node, "content"), .token = true };

    for (const struct mf_node *part = node->first; part; part = part->next)
        if (part->kind == MF_NODE_TRUE)
            name.flags |= mf_added_flag(part->key);
    return name;
}

/* A token of a file: a string, or an object that says that it is one. */
static enum mf_status name_of(struct mf_fast *fast, const char *key,
                              const struct mf_node *node, bool in_map,
                              struct name *name)
{
    *name = (struct name){ .text = { NULL, 0 } };
    if (node->kind == MF_NODE_STRING)
        name->text = node->text;
    else if (node->kind == MF_NODE_OBJECT &&
             (in_map || mf_str_is(mf_node_text(node, "__type"), "AddedToken")))
        *name = name_of_object(node);
    if (name->text.at || node->kind == MF_NODE_NULL)
        return MF_OK;
    return mf_fail(fast->env, MF_ERR_CORRUPT, node->offset,
                   "'%s': '%s' must be a string or a token, not %s",
                   in_map ? "special_tokens_map.json" : "tokenizer_config.json",
                   key, mf_node_kind_name(node));
}

/* The list tokenizer_config.json's, or the object's, members. */
static enum mf_status collect_members(struct mf_fast *fast, struct named *named,
                                      const char *key,
                                      const struct mf_node *node,
                                      enum mf_node_kind kind, bool in_map)
{
    if (!node || node->kind == MF_NODE_NULL)
        return MF_OK;
    if (node->kind != kind)
        return mf_fail(
            fast->env, MF_ERR_CORRUPT, node->offset, "'%s': '%s' is %s",
            in_map ? "special_tokens_map.json" : "tokenizer_config.json", key,
            mf_node_kind_name(node));
    for (const struct mf_node *at = node->first; at; at = at->next) {
        struct name name;

        if (name_of(fast, key, at, in_map, &name) != MF_OK ||
            add_name(fast, named, name) != MF_OK)
            return failed(fast);
    }
    return MF_OK;
}

/* A name that the decoder lists with flags has those. */
static void take_flags(const struct mf_fast *fast, struct name *name)
{
    bool older = !mf_node_at(fast->config, "added_tokens_decoder");
    const struct mf_added *same = NULL;

    if (!name->text.at)
        return;
    for (const struct mf_added *at = fast->added.first; at; at = at->next)
        if (mf_str_same(at->text, name->text) &&
            (older || at->in_config || !at->of))
            same = at;
    if (!same)
        return;
    name->token = true;
    name->flags = same->of ? same->now : same->flags;
}

static enum mf_status collect_key(struct mf_fast *fast, struct named *named,
                                  size_t i)
{
    const char *standard = fast->class->token[i];
    const char *flagged =
        fast->slow ? fast->slow->flagged : fast->class->flagged;
    const struct mf_node *map = mf_node_at(fast->special_map, keys[i]);
    const struct mf_node *node = map ? map : mf_node_at(fast->config, keys[i]);
    struct mf_str padding = mf_node_text(fast->json, "padding.pad_token");
    struct name name = { .text = { "", 0 } };

    if (standard)
        name.text = (struct mf_str){ standard, strlen(standard) };
    if (i == MF_SPECIAL_PAD && !node && standard && !*standard && padding.at)
        name.text = padding;
    if (node && name_of(fast, keys[i], node, map != NULL, &name) != MF_OK)
        return failed(fast);
    if (node)
        take_flags(fast, &name);
    if (!name.token && strstr(flagged, kinds[i])) {
        name.token = true;
        name.flags = MF_ADDED_SPECIAL;
        name.flags |= i == MF_SPECIAL_MASK ? MF_ADDED_LSTRIP : 0;
    }
    if (name.text.size > 0)
        fast->special[i] = name.text;
    return add_name(fast, named, name);
}

/* In the order of transformers. */
static enum mf_status collect_named(struct mf_fast *fast, struct named *named)
{
    static const char more[] = "additional_special_tokens",
                      own[] = "extra_special_tokens";

    for (size_t i = 0; i < MF_SPECIAL_COUNT; i++)
        if (collect_key(fast, named, i) != MF_OK)
            return failed(fast);
    if (collect_members(fast, named, more, mf_node_at(fast->config, more),
                        MF_NODE_ARRAY, false) != MF_OK ||
        collect_members(fast, named, more, mf_node_at(fast->special_map, more),
                        MF_NODE_ARRAY, true) != MF_OK)
        return failed(fast);
    return collect_members(fast, named, own, mf_node_at(fast->config, own),
                           MF_NODE_OBJECT, false);
}

/* ---- added_tokens.json, where tokenizer_config.json has no decoder ---- */

struct ids { /* that tokenizer.json gives to added tokens, rising */
    uint64_t *id;
    size_t count;
};

static bool is_less(const void *table, uint32_t a, uint32_t b)
{
    const uint64_t *id = table;

    return id[a] < id[b];
}

static enum mf_status list_ids(struct mf_fast *fast, struct ids *ids)
{
    size_t count = fast->added.count, room = count > 0 ? count : 1, i = 0;
    uint64_t *id = mf_arena_take(fast->arena, room * sizeof(*id));
    uint32_t *row = mf_arena_take(fast->arena, room * sizeof(*row));

    ids->id = mf_arena_take(fast->arena, room * sizeof(*ids->id));
    ids->count = count;
    if (!id || !row || !ids->id)
        return failed(fast);
    for (const struct mf_added *at = fast->added.first; at; at = at->next) {
        row[i] = (uint32_t)i;
        id[i++] = at->file_id;
    }
    mf_sort(row, count, is_less, id);
    for (i = 0; i < count; i++)
        ids->id[i] = id[row[i]];
    return MF_OK;
}

static bool has_id(const struct ids *ids, uint64_t id)
{
    size_t low = 0, high = ids->count;

    while (low < high) {
        size_t middle = low + (high - low) / 2;

        if (ids->id[middle] < id)
            low = middle + 1;
        else
            high = middle;
    }
    return low < ids->count && ids->id[low] == id;
}

/* { "<token>": 5, ... } */
static enum mf_status read_older(struct mf_fast *fast, struct named *named)
{
    struct decoder decoder = { .count = 0 };
    struct mf_node *root;
    struct ids ids;

    if (list_ids(fast, &ids) != MF_OK ||
        mf_sidecar_tree(fast->model, fast->arena, "added_tokens.json",
                        MF_SIDECAR_LIMIT, &root) != MF_OK)
        return failed(fast);
    for (const struct mf_node *at = root ? root->first : NULL; at;
         at = at->next) {
        bool special = is_named(named, at->key);
        struct mf_added *same = mf_added_find(&fast->added, at->key), older;
        unsigned flags = special ? MF_ADDED_SPECIAL : MF_ADDED_NORMALIZED;

        if (at->kind != MF_NODE_NUMBER || at->type != MF_VALUE_U64)
            return mf_fail(fast->env, MF_ERR_CORRUPT, at->offset,
                           "'added_tokens.json': the id of '%s' is not a "
                           "number",
                           mf_quote(at->key).text);
        if (has_id(&ids, at->number.u64) || (same && same->now == flags))
            continue;
        older = (struct mf_added){ .text = at->key,
                                   .file_id = at->number.u64,
                                   .id = MF_NO_ID,
                                   .model_id = MF_NO_ID,
                                   .flags = flags,
                                   .has_normalized = true };
        if (add_to_decoder(fast, &decoder, &older) != MF_OK)
            return failed(fast);
    }
    return append_decoder(fast, &decoder);
}

/* ---- all of it ---- */

/* Tokens of the decoder that have a name become special; without a decoder,
 * tokenizer.json's are taken. */
static void mark_named(struct mf_fast *fast, struct mf_added *decoder,
                       bool older, const struct named *named)
{
    bool listed = true; /* by tokenizer.json */

    for (struct mf_added *at = fast->added.first; at; at = at->next) {
        listed = listed && at != decoder;
        if ((listed && !older && !at->of->in_config) ||
            !is_named(named, at->text))
            continue;
        at->flags |= MF_ADDED_SPECIAL;
        if (!listed && !at->has_normalized)
            at->flags &= ~(unsigned)MF_ADDED_NORMALIZED;
    }
}

static enum mf_status append_named(struct mf_fast *fast,
                                   const struct named *named)
{
    for (size_t i = 0; i < named->count; i++) {
        const struct name *name = &named->name[i];
        struct mf_added *added;

        if (!name->token && mf_added_find(&fast->added, name->text))
            continue;
        added = mf_added_append(&fast->added, name->text);
        if (!added)
            return failed(fast);
        added->flags = (name->token ? name->flags : 0) | MF_ADDED_SPECIAL;
    }
    return MF_OK;
}

enum mf_status mf_fast_specials(struct mf_fast *fast)
{
    const struct mf_node *node =
        mf_node_at(fast->config, "added_tokens_decoder");
    struct mf_added *last = fast->added.last;
    struct named *named = mf_arena_take(fast->arena, sizeof(*named));

    if (!named)
        return failed(fast);
    named->count = 0;
    if (node && node->kind != MF_NODE_OBJECT)
        return mf_fail(fast->env, MF_ERR_CORRUPT, node->offset,
                       "'tokenizer_config.json': 'added_tokens_decoder' is not "
                       "an object");
    if (!node &&
        mf_sidecar_tree(fast->model, fast->arena, "special_tokens_map.json",
                        MF_SIDECAR_LIMIT, &fast->special_map) != MF_OK)
        return failed(fast);
    if (node ? read_decoder(fast, node) != MF_OK ||
                   collect_named(fast, named) != MF_OK
             : collect_named(fast, named) != MF_OK ||
                   read_older(fast, named) != MF_OK)
        return failed(fast);
    mark_named(fast, last ? last->next : fast->added.first, !node, named);
    if (mf_added_index(&fast->added) != MF_OK ||
        append_named(fast, named) != MF_OK ||
        mf_added_index(&fast->added) != MF_OK)
        return failed(fast);
    for (size_t i = 0; i < named->count; i++)
        mf_added_find(&fast->added, named->name[i].text)->named = true;
    return MF_OK;
}
