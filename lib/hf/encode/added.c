/* SPDX-License-Identifier: MIT
 *
 * added.c - tokens that are added to a vocabulary
 */
#include "lib/hf/encode/added.h"

#include "lib/base/sort.h"
#include "lib/base/str.h"
#include "lib/json/tree.h"

enum mf_status mf_added_link(struct mf_added_list *list, struct mf_added *added)
{
    list->text_size += added->text.size;
    if (list->count == MF_ADDED_MAX || list->text_size > MF_ADDED_TEXT_MAX)
        return mf_fail(list->env, MF_ERR_LIMIT, MF_NO_OFFSET,
                       "the tokenizer's files have more than %zu added tokens, "
                       "or than %" PRIu64 " bytes of them",
                       MF_ADDED_MAX, MF_ADDED_TEXT_MAX);
    added->next = NULL;
    if (list->last)
        list->last->next = added;
    else
        list->first = added;
    list->last = added;
    list->count++;
    return MF_OK;
}

struct mf_added *mf_added_append(struct mf_added_list *list, struct mf_str text)
{
    struct mf_added *added = mf_arena_take(list->arena, sizeof(*added));

    if (!added)
        return NULL;
    *added = (struct mf_added){
        .text = text, .file_id = MF_NO_ID, .id = MF_NO_ID, .model_id = MF_NO_ID
    };
    return mf_added_link(list, added) == MF_OK ? added : NULL;
}

/* ---- reading ---- */

unsigned mf_added_flag(struct mf_str key)
{
    static const struct {
        const char *name;
        unsigned flag;
    } flags[] = {
        { "special", MF_ADDED_SPECIAL },
        { "normalized", MF_ADDED_NORMALIZED },
        { "lstrip", MF_ADDED_LSTRIP },
        { "rstrip", MF_ADDED_RSTRIP },
        { "single_word", MF_ADDED_SINGLE_WORD },
    };

    for (size_t i = 0; i < sizeof(flags) / sizeof(*flags); i++)
        if (mf_str_is(key, flags[i].name))
            return flags[i].flag;
    return 0;
}

static enum mf_status wrong_value(struct mf_json *json, const char *key)
{
    return mf_fail(json->reader->env, MF_ERR_CORRUPT, json->token_offset,
                   "'%s' of an added token has a value of the wrong type", key);
}

static enum mf_status read_flag(struct mf_json *json, struct mf_added *added,
                                struct mf_str key, enum mf_json_token token)
{
    unsigned flag = mf_added_flag(key);

    if (flag == 0)
        return mf_json_skip(json, token);
    if (token != MF_JSON_TRUE && token != MF_JSON_FALSE)
        return wrong_value(json, mf_quote(key).text);
    added->flags &= ~flag;
    added->flags |= token == MF_JSON_TRUE ? flag : 0;
    if (flag == MF_ADDED_NORMALIZED)
        added->has_normalized = true;
    return MF_OK;
}

static enum mf_status read_member(struct mf_added_list *list,
                                  struct mf_json *json, struct mf_added *added,
                                  struct mf_str key)
{
    enum mf_json_token token = mf_json_next(json);

    if (token == MF_JSON_ERROR)
        return list->env->error.status;
    if (mf_str_is(key, "content"))
        return token == MF_JSON_STRING
                   ? mf_json_keep(json, list->arena, MF_ADDED_TEXT_ONE,
                                  &added->text)
                   : wrong_value(json, "content");
    if (mf_str_is(key, "id"))
        return token == MF_JSON_NUMBER &&
                       mf_json_plain_u64(json, &added->file_id)
                   ? MF_OK
                   : wrong_value(json, "id");
    return read_flag(json, added, key, token);
}

enum mf_status mf_added_read(struct mf_added_list *list, struct mf_json *json,
                             struct mf_added *added)
{
    enum mf_json_token token = mf_json_next(json);

    *added = (struct mf_added){ .file_id = MF_NO_ID,
                                .id = MF_NO_ID,
                                .model_id = MF_NO_ID };
    for (; token == MF_JSON_KEY; token = mf_json_next(json)) {
        char name[16];
        uint64_t size;
        bool more;

        if (mf_json_text(json, name, sizeof(name), &size, &more) != MF_OK)
            return list->env->error.status;
        /* A longer key has no meaning, and its rest is skipped. */
        if (read_member(list, json, added,
                        (struct mf_str){ name, more ? 0 : (size_t)size }) !=
            MF_OK)
            return list->env->error.status;
    }
    if (token == MF_JSON_ERROR)
        return list->env->error.status;
    if (!added->text.at)
        return mf_fail(list->env, MF_ERR_CORRUPT, json->token_offset,
                       "an added token has no 'content'");
    if (!added->has_normalized && !(added->flags & MF_ADDED_SPECIAL))
        added->flags |= MF_ADDED_NORMALIZED;
    return MF_OK;
}

/* ---- finding ---- */

static struct mf_str text_at(const void *table, size_t row)
{
    return ((struct mf_added *const *)table)[row]->text;
}

/* tokenizers looks for two lists of tokens: the special ones, with the flags
 * that they had first, and all others that were added. */
static void add_again(struct mf_added *first, unsigned given, bool is_new)
{
    bool special = given & MF_ADDED_SPECIAL;
    bool changed = is_new || first->now != given;

    if (is_new)
        first->raw = first->cooked = first->listed = false;
    if (!first->listed && (special || changed)) {
        first->raw = first->raw || !(given & MF_ADDED_NORMALIZED);
        first->cooked = first->cooked || (given & MF_ADDED_NORMALIZED);
    }
    first->listed = first->listed || special;
    first->now = given;
}

enum mf_status mf_added_index(struct mf_added_list *list)
{
    size_t room = list->count > 0 ? list->count : 1;

    list->table = mf_arena_take(list->arena, room * sizeof(*list->table));
    list->table_count = 0;
    list->names = (struct mf_names){ .seed = list->env->hash_seed,
                                     .name_at = text_at,
                                     .table = list->table };
    if (!list->table || mf_names_init(&list->names, list->arena, room) != MF_OK)
        return list->env->error.status;
    for (struct mf_added *at = list->first; at; at = at->next) {
        size_t row;

        list->table[list->table_count] = at;
        row = mf_names_add(&list->names, list->table_count);
        if (row == MF_NOT_FOUND)
            row = list->table_count++;
        at->of = list->table[row];
        add_again(at->of, at->flags, at->of == at);
    }
    return MF_OK;
}

struct mf_added *mf_added_find(const struct mf_added_list *list,
                               struct mf_str text)
{
    size_t row = mf_names_find(&list->names, text);

    return row == MF_NOT_FOUND ? NULL : list->table[row];
}

/* ---- ids ---- */

void mf_added_number(struct mf_added_list *list, uint64_t model_count)
{
    uint64_t next = model_count;

    for (size_t i = 0; i < list->table_count; i++) {
        struct mf_added *added = list->table[i];

        if (added->text.size == 0)
            continue;
        added->id = added->model_id != MF_NO_ID ? added->model_id : next;
        if (added->id >= next)
            next = added->id + 1;
    }
}

static bool is_before(const void *table, uint32_t a, uint32_t b)
{
    const struct mf_added *const *row = table;

    return row[a]->id != row[b]->id ? row[a]->id < row[b]->id : a < b;
}

enum mf_status mf_added_sort(struct mf_added_list *list)
{
    size_t room = list->table_count > 0 ? list->table_count : 1, count = 0;
    uint32_t *row = mf_arena_take(list->arena, room * sizeof(*row));

    list->by_id = mf_arena_take(list->arena, room * sizeof(*list->by_id));
    list->by_id_count = 0;
    if (!row || !list->by_id)
        return list->env->error.status;
    for (size_t i = 0; i < list->table_count; i++)
        if (list->table[i]->id != MF_NO_ID)
            row[count++] = (uint32_t)i;
    mf_sort(row, count, is_before, list->table);
    for (size_t i = 0; i < count; i++) {
        struct mf_added *added = list->table[row[i]];
        size_t at = list->by_id_count;

        if (at > 0 && list->by_id[at - 1]->id == added->id)
            at--;
        list->by_id[at] = added;
        list->by_id_count = at + 1;
    }
    return MF_OK;
}

const struct mf_added *mf_added_at(const struct mf_added_list *list,
                                   uint64_t id)
{
    size_t low = 0, high = list->by_id_count;

    while (low < high) {
        size_t middle = low + (high - low) / 2;

        if (list->by_id[middle]->id < id)
            low = middle + 1;
        else
            high = middle;
    }
    return low < list->by_id_count && list->by_id[low]->id == id
               ? list->by_id[low]
               : NULL;
}
