/* SPDX-License-Identifier: MIT
 *
 * card_put.c - what a model card says as keys of GGUF
 */
#include <stdio.h>

#include "lib/base/str.h"
#include "lib/draft/put.h"
#include "lib/folder/sidecar.h"
#include "lib/hf/card/card.h"
#include "lib/yaml/yaml.h"

#define KEY_MAX 80

static const struct {
    const char *key;
    enum mf_value_type type;
} samplings[MF_CARD_SAMPLINGS] = {
#define SAMPLING(ID, key, type, word, other)                                   \
    { "general.sampling." key, MF_VALUE_##type },
#define TEXT(ID, key, set, word, other, third)
#include "lib/hf/card/card.def"
#undef TEXT
#undef SAMPLING
};

static const char *kind_name(const struct mf_node *node)
{
    return node->kind == MF_NODE_NUMBER && node->type == MF_VALUE_STRING
               ? "a date"
               : mf_node_kind_name(node);
}

static enum mf_status wrong(struct mf_card *card, const char *key,
                            const struct mf_node *node, const char *file,
                            const char *wanted)
{
    return mf_fail(card->env, MF_ERR_UNSUPPORTED, node->offset,
                   "'%s': the value for '%s' is %s, not %s", file, key,
                   kind_name(node), wanted);
}

/* ---- texts ---- */

/* What a text is not written for: null, false, 0 and what is empty. */
static bool is_empty(const struct mf_node *node)
{
    switch (node->kind) {
    case MF_NODE_NULL:
    case MF_NODE_FALSE:
        return true;
    case MF_NODE_NUMBER:
        return node->type == MF_VALUE_U64   ? node->number.u64 == 0
               : node->type == MF_VALUE_F64 ? node->number.f64 == 0
                                            : false;
    case MF_NODE_STRING:
        return node->text.size == 0;
    case MF_NODE_ARRAY:
    case MF_NODE_OBJECT:
        return node->count == 0;
    default:
        return false;
    }
}

static enum mf_status put_text(struct mf_card *card, const char *key,
                               const struct mf_node *node, const char *file)
{
    if (!node || is_empty(node))
        return MF_OK;
    if (node->kind != MF_NODE_STRING)
        return wrong(card, key, node, file,
                     "a string: one that looks like something else needs "
                     "quotes");
    return mf_set_text(card->draft, key, node->text);
}

/* The strings of a list, with commas between them. */
static enum mf_status put_joined(struct mf_card *card, const char *key,
                                 const struct mf_card_value *value)
{
    struct mf_str all = { NULL, 0 };
    size_t room = 0;
    char *text;

    for (const struct mf_node *node = value->node->first; node;
         node = node->next) {
        if (node->kind != MF_NODE_STRING)
            return wrong(card, key, node, value->file, "a string");
        room += node->text.size + 1;
    }
    text = mf_arena_text(card->arena, room);
    if (!text)
        return card->env->error.status;
    all.at = text;
    for (const struct mf_node *node = value->node->first; node;
         node = node->next) {
        if (node != value->node->first)
            text[all.size++] = ',';
        memcpy(text + all.size, node->text.at, node->text.size);
        all.size += node->text.size;
    }
    return all.size ? mf_set_text(card->draft, key, all) : MF_OK;
}

/* ---- numbers ---- */

static enum mf_status put_sampling(struct mf_card *card, size_t i)
{
    const struct mf_card_value *value = &card->sampling[i];
    const char *key = samplings[i].key;
    const struct mf_node *node = value->node;
    enum mf_status status;

    if (!node)
        return MF_OK;
    if (samplings[i].type == MF_VALUE_STRING)
        return put_text(card, key, node, value->file);
    if (node->kind == MF_NODE_TRUE || node->kind == MF_NODE_FALSE)
        status = mf_set_number(
            card->draft, key, samplings[i].type, MF_VALUE_U64,
            (union mf_number){ .u64 = node->kind == MF_NODE_TRUE });
    else if (node->kind == MF_NODE_NUMBER)
        status = mf_set_number(card->draft, key, samplings[i].type, node->type,
                               node->number);
    else
        return wrong(card, key, node, value->file, "a number");
    return status == MF_OK ? MF_OK : mf_sidecar_fail(card->env, value->file);
}

/* ---- base models and datasets ---- */

static const char *const members[] = {
    "name", "author", "version", "organization", "description",
    "url",  "doi",    "uuid",    "repo_url"
};
enum { NAME = 0, VERSION = 2, ORGANIZATION = 3, REPO_URL = 8, MEMBERS = 9 };

struct origin {
    struct mf_node node[MEMBERS]; /* made of a name */
    const struct mf_node *member[MEMBERS];
};

static void set(struct origin *origin, size_t i, struct mf_str text)
{
    if (!text.at)
        return;
    origin->node[i] = (struct mf_node){ .kind = MF_NODE_STRING, .text = text };
    origin->member[i] = &origin->node[i];
}

/* What is between the host and the end of an address of Hugging Face, if that
 * is two words; any character may be where the host has a dot. */
static struct mf_str find_id(struct mf_str url)
{
    static const char *const schemes[] = { "https://", "http://" };
    static const char host[] = "huggingface.co/";
    const struct mf_str none = { NULL, 0 };

    for (size_t i = 0; i < 2; i++) {
        size_t start = strlen(schemes[i]), slash;
        struct mf_str id;

        if (!mf_str_begins(url, schemes[i]) ||
            url.size < start + sizeof(host) - 1 ||
            memcmp(url.at + start, host, 11) != 0 ||
            memcmp(url.at + start + 12, host + 12, 3) != 0)
            continue;
        start += sizeof(host) - 1;
        id = (struct mf_str){ url.at + start, url.size - start };
        for (slash = 0; slash < id.size && id.at[slash] != '/';)
            slash++;
        return slash > 0 && slash + 1 < id.size &&
                       !memchr(id.at + slash + 1, '/', id.size - slash - 1)
                   ? id
                   : none;
    }
    return none;
}

/* What the name says; its own address, where the name is not one. */
static enum mf_status set_names(struct mf_card *card, struct origin *origin,
                                struct mf_str id, bool is_url)
{
    static const char host[] = "https://huggingface.co/";
    struct mf_name_parts parts;
    char *url;

    if (mf_name_split(card->arena, id, card->total, &parts) != MF_OK)
        return card->env->error.status;
    set(origin, NAME, mf_name_title(card->arena, parts.full));
    set(origin, VERSION, parts.version);
    if (!parts.organization.at)
        return card->env->error.status;
    set(origin, ORGANIZATION, mf_name_title(card->arena, parts.organization));
    if (is_url)
        return card->env->error.status;
    url = mf_arena_text(card->arena, sizeof(host) + id.size);
    if (!url)
        return card->env->error.status;
    memcpy(url, host, sizeof(host) - 1);
    memcpy(url + sizeof(host) - 1, id.at, id.size);
    set(origin, REPO_URL, (struct mf_str){ url, sizeof(host) - 1 + id.size });
    return card->env->error.status;
}

static enum mf_status set_id(struct mf_card *card, struct origin *origin,
                             struct mf_str id)
{
    if (!mf_str_begins(id, "http://") && !mf_str_begins(id, "https://") &&
        !mf_str_begins(id, "ssh://"))
        return set_names(card, origin, id, false);
    set(origin, REPO_URL, id);
    id = mf_str_holds(id, "huggingface.co") ? find_id(id)
                                            : (struct mf_str){ NULL, 0 };
    return id.at ? set_names(card, origin, id, true) : MF_OK;
}

static enum mf_status put_origin(struct mf_card *card, const char *what,
                                 size_t number, const struct mf_node *node,
                                 const char *file)
{
    struct origin origin = { .member = { NULL } };
    char key[KEY_MAX];

    if (node->kind == MF_NODE_STRING &&
        set_id(card, &origin, node->text) != MF_OK)
        return card->env->error.status;
    for (size_t i = 0; i < MEMBERS; i++) {
        const struct mf_node *member = node->kind == MF_NODE_OBJECT
                                           ? mf_yaml_get(node, members[i])
                                           : origin.member[i];

        snprintf(key, sizeof(key), "general.%s.%zu.%s", what, number,
                 members[i]);
        if (put_text(card, key, member, file) != MF_OK)
            return card->env->error.status;
    }
    return MF_OK;
}

static const struct mf_node *first_of(const struct mf_node *value)
{
    return value->kind == MF_NODE_ARRAY    ? value->first
           : value->kind == MF_NODE_STRING ? value
                                           : NULL;
}

static const struct mf_node *next_of(const struct mf_node *value,
                                     const struct mf_node *node)
{
    return value->kind == MF_NODE_ARRAY ? node->next : NULL;
}

static enum mf_status put_origins(struct mf_card *card, const char *what,
                                  const struct mf_card_list *list)
{
    const struct mf_node *value = list->part[0].node;
    const char *file = list->part[0].file;
    char key[KEY_MAX];
    size_t count = 0;

    if (!list->is_set)
        return MF_OK;
    snprintf(key, sizeof(key), "general.%s.count", what);
    if (list->is_strict && value->kind != MF_NODE_ARRAY)
        return wrong(card, key, value, file, "a list of objects");
    for (const struct mf_node *node = first_of(value); node;
         node = next_of(value, node)) {
        if (list->is_strict && node->kind != MF_NODE_OBJECT)
            return wrong(card, key, node, file, "an object");
        count++;
    }
    if (count > MF_CARD_ORIGINS)
        return mf_fail(card->env, MF_ERR_LIMIT, MF_NO_OFFSET,
                       "'%s': '%s' would be %zu, at most %d are supported",
                       file, key, count, MF_CARD_ORIGINS);
    if (mf_set_u32(card->draft, key, count) != MF_OK)
        return card->env->error.status;
    count = 0;
    for (const struct mf_node *node = first_of(value); node;
         node = next_of(value, node))
        if (put_origin(card, what, count++, node, file) != MF_OK)
            return card->env->error.status;
    return MF_OK;
}

/* ---- tags and languages ---- */

/* The type of an element, as the converter chooses it by the first one;
 * MF_VALUE_ARRAY for what has none here. */
static enum mf_value_type type_of(const struct mf_node *node)
{
    switch (node->kind) {
    case MF_NODE_STRING:
        return MF_VALUE_STRING;
    case MF_NODE_TRUE:
    case MF_NODE_FALSE:
        return MF_VALUE_BOOL;
    case MF_NODE_NUMBER:
        return node->type == MF_VALUE_STRING ? MF_VALUE_ARRAY
               : node->type == MF_VALUE_F64  ? MF_VALUE_F32
                                             : MF_VALUE_I32;
    default:
        return MF_VALUE_ARRAY;
    }
}

/* The type that an element needs next to one of that type. */
static const char *like(enum mf_value_type type)
{
    return type == MF_VALUE_BOOL  ? "a boolean as the others are"
           : type == MF_VALUE_I32 ? "a whole number as the others are"
           : type == MF_VALUE_F32 ? "a number with a point as the others are"
                                  : "a string as the others are";
}

struct list {
    enum mf_value_type of;
    uint64_t count;
    struct mf_str *text;     /* of strings, or */
    union mf_number *number; /* of others */
};

static bool put_element(struct mf_card *card, struct list *list,
                        const struct mf_node *node)
{
    if (list->of == MF_VALUE_STRING) {
        list->text[list->count] = mf_draft_text(card->draft, node->text);
        return list->text[list->count++].at != NULL;
    }
    if (list->of == MF_VALUE_BOOL) {
        list->number[list->count++].boolean = node->kind == MF_NODE_TRUE;
        return true;
    }
    return mf_number_as(node->type, node->number, list->of,
                        &list->number[list->count++]);
}

static enum mf_status put_list(struct mf_card *card, const char *key,
                               const struct mf_card_list *from)
{
    struct list list = { .count = 0 };
    uint64_t count = 0;

    if (!from->is_set)
        return MF_OK;
    if (from->is_strict && from->part[0].node->kind != MF_NODE_ARRAY)
        return wrong(card, key, from->part[0].node, from->part[0].file,
                     "a list");
    for (size_t i = 0; i < 2; i++) {
        const struct mf_node *value = from->part[i].node;

        for (const struct mf_node *node = value ? first_of(value) : NULL; node;
             node = next_of(value, node)) {
            if (count++ == 0)
                list.of = type_of(node);
            if (list.of == MF_VALUE_ARRAY || type_of(node) != list.of)
                return wrong(card, key, node, from->part[i].file,
                             like(list.of));
        }
    }
    if (count == 0)
        return MF_OK;
    if (list.of == MF_VALUE_STRING)
        list.text = mf_arena_take(&card->draft->arena,
                                  (size_t)count * sizeof(*list.text));
    else
        list.number = mf_arena_take(&card->draft->arena,
                                    (size_t)count * sizeof(*list.number));
    if (!list.text && !list.number)
        return card->env->error.status;
    for (size_t i = 0; i < 2; i++) {
        const struct mf_node *value = from->part[i].node;

        for (const struct mf_node *node = value ? first_of(value) : NULL; node;
             node = next_of(value, node))
            if (!put_element(card, &list, node))
                return card->env->error.status != MF_OK
                           ? card->env->error.status
                           : wrong(card, key, node, from->part[i].file,
                                   "a number of 32 bits");
    }
    return mf_set_array(card->draft, key, list.of,
                        list.text ? (const void *)list.text : list.number,
                        count);
}

enum mf_status mf_card_write(struct mf_card *card)
{
    for (size_t i = 0; i < MF_CARD_SAMPLINGS; i++)
        if (put_sampling(card, i) != MF_OK)
            return card->env->error.status;
    for (size_t i = 0; i < MF_CARD_TEXTS; i++) {
        const struct mf_card_value *value = &card->text[i];
        bool joined = i == MF_CARD_LICENSE && value->node &&
                      value->node->kind == MF_NODE_ARRAY;

        if ((joined ? put_joined(card, mf_card_text_keys[i], value)
                    : put_text(card, mf_card_text_keys[i], value->node,
                               value->file)) != MF_OK)
            return card->env->error.status;
    }
    if (put_origins(card, "base_model", &card->base_models) != MF_OK ||
        put_origins(card, "dataset", &card->datasets) != MF_OK ||
        put_list(card, "general.tags", &card->tags) != MF_OK)
        return card->env->error.status;
    return put_list(card, "general.languages", &card->languages);
}
