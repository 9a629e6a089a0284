/* SPDX-License-Identifier: MIT
 *
 * put.c - setting a key of a draft
 */
#include "lib/draft/put.h"

#include <math.h>
#include <stdio.h>

#include "lib/base/decimal.h"
#include "lib/base/str.h"

/* Copies the key with the architecture for its "*"; at NULL after mf_fail. */
static struct mf_str full_key(struct mf_draft *draft, const char *key)
{
    const struct mf_entry *entry = mf_draft_find(draft, "general.architecture");
    const char *star = strchr(key, '*');
    size_t size = strlen(key), before, length;
    char *copy;

    if (!star)
        return mf_draft_text(draft, (struct mf_str){ key, size });
    if (!entry || !entry->text.at) {
        mf_fail(draft->env, MF_ERR_CORRUPT, MF_NO_OFFSET,
                "missing key 'general.architecture'");
        return (struct mf_str){ NULL, 0 };
    }
    before = (size_t)(star - key);
    length = entry->text.size;
    copy = mf_arena_text(&draft->arena, size - 1 + length);
    if (!copy)
        return (struct mf_str){ NULL, 0 };
    memcpy(copy, key, before);
    memcpy(copy + before, entry->text.at, length);
    memcpy(copy + before + length, star + 1, size - before - 1);
    return (struct mf_str){ copy, size - 1 + length };
}

struct mf_entry *mf_set_entry(struct mf_draft *draft, const char *key)
{
    struct mf_entry *entry = mf_draft_find_of(draft, key);
    struct mf_str name;

    if (entry) {
        *entry = (struct mf_entry){ .key = entry->key };
        return entry;
    }
    name = full_key(draft, key);
    entry = name.at ? mf_draft_add_entry(draft) : NULL;
    if (entry)
        entry->key = name;
    return entry;
}

static enum mf_status cannot_be(struct mf_draft *draft, const char *key,
                                enum mf_value_type type,
                                enum mf_value_type from, union mf_number number)
{
    struct mf_str name = full_key(draft, key);
    char text[48];

    if (!name.at)
        return draft->env->error.status;
    if (from == MF_VALUE_F32 || from == MF_VALUE_F64)
        snprintf(text, sizeof(text), "%s%s", mf_number_text(number.f64, 9).at,
                 fabs(number.f64) < 1e9 && number.f64 == floor(number.f64)
                     ? ".0"
                     : "");
    else if (from == MF_VALUE_U64 || from == MF_VALUE_U32)
        snprintf(text, sizeof(text), "%" PRIu64, number.u64);
    else
        snprintf(text, sizeof(text), "%" PRId64, number.i64);
    return mf_fail(draft->env, MF_ERR_UNSUPPORTED, MF_NO_OFFSET,
                   "%s is not a valid %s for key '%s'", text,
                   mf_value_type_name(type), mf_quote(name).text);
}

enum mf_status mf_set_number(struct mf_draft *draft, const char *key,
                             enum mf_value_type type, enum mf_value_type from,
                             union mf_number number)
{
    bool floats = from == MF_VALUE_F32 || from == MF_VALUE_F64;
    bool integer = type != MF_VALUE_F32 && type != MF_VALUE_F64;
    union mf_number out;
    struct mf_entry *entry;

    if ((integer && floats) || !mf_number_as(from, number, type, &out) ||
        (type == MF_VALUE_F32 && isinf(out.f64) &&
         !(floats && isinf(number.f64))))
        return cannot_be(draft, key, type, from, number);
    entry = mf_set_entry(draft, key);
    if (!entry)
        return draft->env->error.status;
    entry->type = type;
    entry->number = out;
    return MF_OK;
}

enum mf_status mf_set_u32(struct mf_draft *draft, const char *key,
                          uint64_t value)
{
    return mf_set_number(draft, key, MF_VALUE_U32, MF_VALUE_U64,
                         (union mf_number){ .u64 = value });
}

enum mf_status mf_set_i32(struct mf_draft *draft, const char *key,
                          int64_t value)
{
    return mf_set_number(draft, key, MF_VALUE_I32, MF_VALUE_I64,
                         (union mf_number){ .i64 = value });
}

enum mf_status mf_set_u64(struct mf_draft *draft, const char *key,
                          uint64_t value)
{
    return mf_set_number(draft, key, MF_VALUE_U64, MF_VALUE_U64,
                         (union mf_number){ .u64 = value });
}

enum mf_status mf_set_f32(struct mf_draft *draft, const char *key, double value)
{
    return mf_set_number(draft, key, MF_VALUE_F32, MF_VALUE_F64,
                         (union mf_number){ .f64 = value });
}

enum mf_status mf_set_f64(struct mf_draft *draft, const char *key, double value)
{
    return mf_set_number(draft, key, MF_VALUE_F64, MF_VALUE_F64,
                         (union mf_number){ .f64 = value });
}

enum mf_status mf_set_bool(struct mf_draft *draft, const char *key, bool value)
{
    struct mf_entry *entry = mf_set_entry(draft, key);

    if (!entry)
        return draft->env->error.status;
    entry->type = MF_VALUE_BOOL;
    entry->number.boolean = value;
    return MF_OK;
}

enum mf_status mf_set_text(struct mf_draft *draft, const char *key,
                           struct mf_str text)
{
    struct mf_str copy = mf_draft_text(draft, text);
    struct mf_entry *entry = copy.at ? mf_set_entry(draft, key) : NULL;

    if (!entry)
        return draft->env->error.status;
    entry->type = MF_VALUE_STRING;
    entry->text = copy;
    entry->count = copy.size;
    return MF_OK;
}

enum mf_status mf_set_array(struct mf_draft *draft, const char *key,
                            enum mf_value_type of, const void *elements,
                            uint64_t count)
{
    return mf_set_stream(draft, key, of, count, NULL, elements);
}

enum mf_status mf_set_stream(struct mf_draft *draft, const char *key,
                             enum mf_value_type of, uint64_t count,
                             mf_read_entry *read, const void *user)
{
    struct mf_entry *entry = mf_set_entry(draft, key);

    if (!entry)
        return draft->env->error.status;
    entry->type = MF_VALUE_ARRAY;
    entry->of = of;
    entry->count = count;
    entry->elements = user;
    entry->read = read;
    return MF_OK;
}

void mf_set_remove(struct mf_draft *draft, const char *key)
{
    struct mf_entry *entry = mf_draft_find_of(draft, key);

    if (entry)
        mf_draft_remove(draft, entry);
}
