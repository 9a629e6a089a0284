/* SPDX-License-Identifier: MIT
 *
 * draft_edits.c - edits of a draft's metadata
 *
 * An edit has a name and a type.  Where the format's values have no types, the
 * key gets the type as in a conversion: setting "a" changes "a:u32", and no key
 * appears twice, neither by itself nor under two types.
 */
#include "lib/draft/carry.h"

static void set_value(struct mf_entry *entry, const struct mf_edit *edit)
{
    entry->type = edit->type;
    entry->of = edit->of;
    entry->number = edit->number;
    entry->text = edit->text;
    entry->count =
        edit->type == MF_VALUE_STRING ? edit->text.size : edit->count;
    entry->elements = edit->elements;
    entry->from = NULL;
    entry->read = NULL;
    entry->typed_text = false;
}

struct mf_entry *mf_draft_find_named(const struct mf_draft *draft,
                                     const char *name)
{
    struct mf_entry *entry = mf_draft_find(draft, name);
    struct mf_typed_key typed;

    if (entry || draft->format->values == MF_VALUES_TYPED)
        return entry;
    for (size_t i = 0; i < draft->entry_count; i++)
        if (mf_typed_key_parse(draft->entry[i].key, &typed) &&
            mf_str_is(typed.name, name))
            return &draft->entry[i];
    return NULL;
}

/* Whether the edit's key already contains its type. */
static bool has_typed_key(const struct mf_edit *edit)
{
    struct mf_str key = { edit->key, strlen(edit->key) };
    struct mf_typed_key typed;
    bool array = edit->type == MF_VALUE_ARRAY;

    return mf_typed_key_parse(key, &typed) && !typed.json &&
           typed.array == array &&
           typed.type == (array ? edit->of : edit->type);
}

/* Every reader knows the types of the format's own keys. */
static bool is_own(const struct mf_draft *draft, struct mf_str key)
{
    return mf_is_apr_key(key) || (draft->out->owns && draft->out->owns(key));
}

static bool needs_typed_key(const struct mf_draft *draft,
                            const struct mf_entry *entry)
{
    struct mf_typed_key typed;
    bool misleads = mf_typed_key_parse(entry->key, &typed) && !typed.json;

    if (draft->format->values == MF_VALUES_STRINGS)
        return entry->type != MF_VALUE_STRING || misleads;
    return misleads ||
           (!mf_entry_is_plain_json(entry) && !is_own(draft, entry->key));
}

/* The entry that the edit changes (NULL: a new one) and the key it will have.
 */
static enum mf_status find_entry(struct mf_draft *draft,
                                 const struct mf_edit *edit,
                                 struct mf_entry **found, struct mf_str *key)
{
    struct mf_entry typed = { .key = { edit->key, strlen(edit->key) } };
    bool needed;

    *key = typed.key;
    *found = mf_draft_find(draft, edit->key);
    if (draft->format->values == MF_VALUES_TYPED || has_typed_key(edit))
        return MF_OK;
    set_value(&typed, edit);
    needed = needs_typed_key(draft, &typed);
    if (mf_entry_add_type(draft, &typed) != MF_OK)
        return draft->env->error.status;
    *found = mf_draft_find(draft, typed.key.at);
    if (needed || *found)
        *key = typed.key;
    if (!*found)
        *found = mf_draft_find_named(draft, edit->key);
    return MF_OK;
}

static enum mf_status apply(struct mf_draft *draft, const struct mf_edit *edit)
{
    struct mf_entry *entry;
    struct mf_str key;

    if (edit->unset) {
        entry = mf_draft_find_named(draft, edit->key);
        if (entry)
            mf_draft_remove(draft, entry);
        return MF_OK;
    }
    if (find_entry(draft, edit, &entry, &key) != MF_OK)
        return draft->env->error.status;
    entry = entry ? entry : mf_draft_add_entry(draft);
    if (!entry)
        return draft->env->error.status;
    entry->key = key;
    set_value(entry, edit);
    return MF_OK;
}

enum mf_status mf_draft_edit(struct mf_draft *draft,
                             const struct mf_edit *edits, size_t count)
{
    enum mf_status status = MF_OK;

    for (size_t i = 0; i < count && status == MF_OK; i++)
        status = apply(draft, &edits[i]);
    return status;
}

enum mf_status mf_edits_check(struct mf_env *env, const struct mf_edit *edits,
                              size_t count)
{
    MF_NEED(env, edits || count == 0);
    for (size_t i = 0; i < count; i++) {
        bool text = !edits[i].unset && edits[i].type == MF_VALUE_STRING;
        bool array = !edits[i].unset && edits[i].type == MF_VALUE_ARRAY;

        MF_NEED(env, edits[i].key);
        MF_NEED(env, edits[i].text.at || !text || edits[i].text.size == 0);
        MF_NEED(env, edits[i].elements || !array || edits[i].count == 0);
    }
    return MF_OK;
}
