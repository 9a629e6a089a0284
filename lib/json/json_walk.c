/* SPDX-License-Identifier: MIT
 *
 * json_walk.c - every value of a JSON text, with its path
 */
#include "lib/json/json_walk.h"

#include <stdio.h>

struct walk {
    struct mf_json *json;
    char separator[2];
    char path[MF_PATH_MAX + 1];
    struct {
        size_t size; /* of the path of an open array or object */
        uint64_t next;
        bool array;
    } level[MF_JSON_DEPTH + 1];
};

/* The path of what is in the level, under a name. */
static void set_path(struct walk *walk, unsigned depth, const char *name)
{
    size_t size = walk->level[depth].size;
    size_t room = sizeof(walk->path) - size;

    if ((size_t)snprintf(walk->path + size, room, "%s%s",
                         size > 0 ? walk->separator : "", name) >= room)
        strcpy(walk->path, "?");
}

static enum mf_status take_key(struct walk *walk)
{
    char name[MF_PATH_MAX + 1];
    uint64_t size;
    bool more;

    if (mf_json_text(walk->json, name, MF_PATH_MAX, &size, &more) != MF_OK)
        return walk->json->reader->env->error.status;
    name[size] = 0;
    if (more || size == 0 || strlen(name) != size ||
        strchr(name, *walk->separator))
        strcpy(name, "?");
    set_path(walk, walk->json->depth, name);
    return MF_OK;
}

/* An element of an array is called by its number. */
static void count_element(struct walk *walk, unsigned depth)
{
    char number[24];

    snprintf(number, sizeof(number), "%" PRIu64, walk->level[depth].next++);
    set_path(walk, depth, number);
}

static enum mf_status take_value(struct walk *walk, enum mf_json_token token,
                                 mf_json_visit *visit, void *user)
{
    struct mf_json *json = walk->json;
    bool begins = token == MF_JSON_BEGIN_OBJECT || token == MF_JSON_BEGIN_ARRAY;
    unsigned depth = json->depth;
    enum mf_status status;

    if (depth - begins > 0 && walk->level[depth - begins].array)
        count_element(walk, depth - begins);
    status = visit(user, walk->path, token);
    if (begins && json->depth == depth) {
        walk->level[depth].size = strlen(walk->path);
        walk->level[depth].next = 0;
        walk->level[depth].array = token == MF_JSON_BEGIN_ARRAY;
    }
    return status;
}

enum mf_status mf_json_walk(struct mf_json *json, mf_json_visit *visit,
                            void *user)
{
    return mf_json_walk_by(json, '.', visit, user);
}

enum mf_status mf_json_walk_by(struct mf_json *json, char separator,
                               mf_json_visit *visit, void *user)
{
    struct walk walk = { .json = json, .separator = { separator, 0 } };
    enum mf_json_token token = mf_json_next(json);
    enum mf_status status = MF_OK;

    if (token != MF_JSON_BEGIN_OBJECT && token != MF_JSON_ERROR)
        return mf_fail(json->reader->env, MF_ERR_CORRUPT, json->token_offset,
                       "expected an object");
    for (; token != MF_JSON_END && status == MF_OK;
         token = mf_json_next(json)) {
        if (token == MF_JSON_ERROR)
            return json->reader->env->error.status;
        if (token == MF_JSON_KEY)
            status = take_key(&walk);
        else if (token != MF_JSON_END_OBJECT && token != MF_JSON_END_ARRAY)
            status = take_value(&walk, token, visit, user);
    }
    return status;
}
