/* SPDX-License-Identifier: MIT
 *
 * carry_apr.c - keys that every APR file has
 *
 * aprender requires a model_type and three keys that are mostly null.  Other
 * formats drop them, and they are added when a file becomes APR again.
 */
#include "lib/draft/carry.h"

bool mf_is_model_type(const struct mf_entry *entry)
{
    return mf_str_is(entry->key, "model_type") &&
           entry->type == MF_VALUE_STRING && !entry->from;
}

bool mf_carry_is_filler(const struct mf_carry *carry,
                        const struct mf_entry *entry)
{
    struct mf_meta meta = { .type = MF_VALUE_NULL };

    if (entry->type == MF_VALUE_NULL)
        return mf_str_is(entry->key, "license") ||
               mf_str_is(entry->key, "data_source") ||
               mf_str_is(entry->key, "data_license");
    mf_meta_find(carry->model, "architecture", strlen("architecture"), &meta,
                 NULL);
    if (meta.type != MF_VALUE_STRING)
        meta.text = (struct mf_str){ "", 0 };
    return mf_is_model_type(entry) && meta.text.at &&
           mf_str_same(entry->text, meta.text);
}

bool mf_carry_is_plain_type(const struct mf_carry *carry,
                            const struct mf_entry *entry)
{
    return entry->text.size == 0 ||
           (carry->architecture.at &&
            mf_str_same(entry->text, carry->architecture));
}

/* Does nothing where the draft has the key. */
static enum mf_status add_missing(struct mf_draft *draft, const char *key,
                                  enum mf_value_type type, struct mf_str text)
{
    struct mf_entry *entry;

    if (mf_draft_find(draft, key))
        return MF_OK;
    entry = mf_draft_add_entry(draft);
    if (!entry)
        return draft->env->error.status;
    entry->key = (struct mf_str){ key, strlen(key) };
    entry->type = type;
    entry->text = text;
    entry->count = text.size;
    return MF_OK;
}

enum mf_status mf_carry_complete_apr(const struct mf_carry *carry)
{
    static const char *const nulls[] = { "license", "data_source",
                                         "data_license" };
    struct mf_str empty = { "", 0 };
    enum mf_status status =
        add_missing(carry->draft, "model_type", MF_VALUE_STRING,
                    carry->architecture.at ? carry->architecture : empty);

    for (size_t i = 0; i < 3 && status == MF_OK; i++)
        status = add_missing(carry->draft, nulls[i], MF_VALUE_NULL, empty);
    return status;
}

enum mf_status mf_carry_name_architecture(const struct mf_carry *carry)
{
    struct mf_meta meta;

    if (!carry->architecture.at || carry->architecture.size == 0 ||
        (carry->from == MF_VALUES_STRINGS &&
         !(mf_meta_find(carry->model, "model_type", strlen("model_type"), &meta,
                        NULL) &&
           meta.text.at && mf_str_same(meta.text, carry->architecture))))
        return MF_OK;
    return add_missing(carry->draft, "general.architecture", MF_VALUE_STRING,
                       carry->architecture);
}
