/* SPDX-License-Identifier: MIT
 *
 * json_members.c - duplicate keys and huge numbers in a JSON value
 *
 * For each key of the objects that are open, only a 64-bit hash and the offset
 * are kept; two keys with one hash count as equal.  The hash has a seed that a
 * file's author cannot know.
 */
#include "lib/model/format.h"

#include <string.h>

#include "lib/base/sort.h"

struct member {
    uint64_t hash, offset;
};

struct walk {
    struct mf_env *env;
    struct mf_index *index;
    const struct mf_meta *meta; /* whose value it is */
    struct mf_json json;
    struct member *member; /* of all open objects */
    uint32_t *row;         /* as many, to sort them */
    size_t count, room;
    size_t first[MF_JSON_DEPTH + 1]; /* first member of the object at a depth */
    bool huge;                       /* a number beyond the doubles was found */
};

static enum mf_status make_room(struct walk *walk)
{
    size_t room = walk->room ? walk->room * 2 : 32;
    struct member *member;
    uint32_t *row;

    if (walk->count < walk->room)
        return MF_OK;
    if (walk->count >= MF_META_MAX)
        return mf_refuse(walk->env, MF_RULE_FILE_LIMIT, walk->json.token_offset,
                         "'%s' has more than %" PRIu64
                         " keys, which is the limit",
                         mf_quote(walk->meta->key).text, MF_META_MAX);
    row = mf_env_resize(walk->env, walk->row, walk->room * sizeof(*row),
                        room * sizeof(*row));
    if (!row)
        return walk->env->error.status;
    walk->row = row;
    member =
        mf_env_resize(walk->env, walk->member, walk->room * sizeof(*member),
                      room * sizeof(*member));
    if (!member) {
        /* Shrinking never fails, so the two tables keep one size. */
        walk->row = mf_env_resize(walk->env, row, room * sizeof(*row),
                                  walk->room * sizeof(*row));
        return walk->env->error.status;
    }
    walk->member = member;
    walk->room = room;
    return MF_OK;
}

/* Adds the key that is the current token. */
static enum mf_status add_member(struct walk *walk)
{
    uint64_t offset = walk->json.token_offset;
    uint64_t hash = walk->env->hash_seed, size;
    char text[1024];
    bool more = true;

    if (make_room(walk) != MF_OK)
        return walk->env->error.status;
    while (more) {
        if (mf_json_text(&walk->json, text, sizeof(text), &size, &more) !=
            MF_OK)
            return walk->env->error.status;
        hash = mf_text_hash((struct mf_str){ text, (size_t)size }, hash);
    }
    walk->member[walk->count++] = (struct member){ hash, offset };
    return MF_OK;
}

static bool before(const void *table, uint32_t a, uint32_t b)
{
    const struct member *member = table;

    return member[a].hash != member[b].hash ? member[a].hash < member[b].hash
                                            : a < b;
}

/* At the end of an object: compares its keys, the last ones, and drops them. */
static void close_object(struct walk *walk, size_t first)
{
    size_t count = walk->count - first;
    const struct member *member;

    if (count == 0)
        return; /* there may be no table yet */
    member = walk->member + first;
    for (size_t i = 0; i < count; i++)
        walk->row[i] = (uint32_t)i;
    mf_sort(walk->row, count, before, member);
    for (size_t i = 1; i < count; i++) {
        const struct member *a = &member[walk->row[i - 1]];
        const struct member *b = &member[walk->row[i]];

        if (a->hash == b->hash)
            mf_index_note(walk->index, walk->meta->shard, MF_ERROR,
                          MF_RULE_META_DUPLICATE, b->offset,
                          "duplicate key in an object in '%s', at %#" PRIx64
                          " and %#" PRIx64,
                          mf_quote(walk->meta->key).text, a->offset, b->offset);
    }
    walk->count = first;
}

/* One finding for each value: an array may have a million such numbers. */
static void check_number(struct walk *walk)
{
    if (walk->huge || !mf_json_is_huge(&walk->json))
        return;
    walk->huge = true;
    mf_index_note(walk->index, walk->meta->shard, MF_ERROR,
                  MF_RULE_META_NOT_FINITE, walk->json.token_offset,
                  "'%s' has the number %s, which is out of range: JSON readers "
                  "refuse the file",
                  mf_quote(walk->meta->key).text, walk->json.digits);
}

static enum mf_status walk_value(struct walk *walk)
{
    struct mf_json *json = &walk->json;

    for (;;) {
        switch (mf_json_next(json)) {
        case MF_JSON_ERROR:
            return walk->env->error.status;
        case MF_JSON_END:
            return MF_OK;
        case MF_JSON_KEY:
            if (add_member(walk) != MF_OK)
                return walk->env->error.status;
            break;
        case MF_JSON_NUMBER:
            check_number(walk);
            break;
        case MF_JSON_BEGIN_OBJECT:
            walk->first[json->depth] = walk->count;
            break;
        case MF_JSON_END_OBJECT:
            close_object(walk, walk->first[json->depth + 1]);
            break;
        default:
            break;
        }
    }
}

enum mf_status mf_json_check_members(struct mf_reader *reader,
                                     struct mf_index *index,
                                     const struct mf_meta *meta)
{
    struct walk walk = { .env = reader->env, .index = index, .meta = meta };
    enum mf_status status;

    mf_json_init(&walk.json, reader);
    status = walk_value(&walk);
    mf_release(walk.env, walk.member, walk.room * sizeof(*walk.member));
    mf_release(walk.env, walk.row, walk.room * sizeof(*walk.row));
    return status;
}
