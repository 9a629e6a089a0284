/* SPDX-License-Identifier: MIT
 *
 * fast_class.c - which class of transformers reads a tokenizer
 */
#include "lib/base/str.h"
#include "lib/hf/encode/fast.h"

static const struct mf_class classes[] = {
#define CLASS(name, does, bos, spaces, flagged, ...)                           \
    { name, MF_CLASS_##does, bos, spaces, flagged, { __VA_ARGS__ } },
#define TYPE(type, name)
#include "lib/hf/encode/classes.def"
#undef TYPE
#undef CLASS
};

static const struct {
    const char *type, *name;
} types[] = {
#define CLASS(name, does, bos, spaces, flagged, ...)
#define TYPE(type, name) { type, name },
#include "lib/hf/encode/classes.def"
#undef TYPE
#undef CLASS
};

#define CLASS_COUNT (sizeof(classes) / sizeof(*classes))

/* ---- the class ---- */

/* The class of a model_type; "": none. */
static const char *class_of(struct mf_str type)
{
    for (size_t i = 0; i < sizeof(types) / sizeof(*types); i++)
        if (mf_str_is(type, types[i].type))
            return types[i].name;
    return "";
}

/* "LlamaTokenizerFast" is the class "Llama". */
static bool has_name(const struct mf_class *class, struct mf_str name)
{
    if (mf_str_ends(name, "Fast"))
        name.size -= strlen("Fast");
    if (!mf_str_ends(name, "Tokenizer"))
        return false;
    name.size -= strlen("Tokenizer");
    return mf_str_is(name, class->name);
}

enum mf_status mf_fast_class(struct mf_fast *fast)
{
    const struct mf_node *node = mf_node_at(fast->config, "tokenizer_class");
    struct mf_str name = mf_node_text(fast->config, "tokenizer_class");
    struct mf_str type = mf_node_text(fast->model_config, "model_type");

    if (node && node->kind != MF_NODE_STRING && node->kind != MF_NODE_NULL)
        return mf_fail(fast->env, MF_ERR_CORRUPT, node->offset,
                       "'tokenizer_config.json': 'tokenizer_class' is %s",
                       mf_node_kind_name(node));
    if (!name.at)
        name = mf_node_text(fast->model_config, "tokenizer_class");
    for (size_t i = 0; i < CLASS_COUNT && !fast->class; i++)
        if (name.at ? has_name(&classes[i], name)
                    : strcmp(classes[i].name, class_of(type)) == 0)
            fast->class = &classes[i];
    if (fast->class)
        return MF_OK;
    if (name.at && mf_node_at(fast->config, "auto_map.AutoTokenizer"))
        return mf_fail(fast->env, MF_ERR_UNSUPPORTED, MF_NO_OFFSET,
                       "'tokenizer_config.json': 'tokenizer_class' '%s' is "
                       "Python code of the folder, which is not run",
                       mf_quote(name).text);
    if (name.at)
        return mf_fail(fast->env, MF_ERR_UNSUPPORTED, MF_NO_OFFSET,
                       "'tokenizer_config.json': unsupported 'tokenizer_class' "
                       "'%s'",
                       mf_quote(name).text);
    return mf_fail(fast->env, MF_ERR_UNSUPPORTED, MF_NO_OFFSET,
                   "'tokenizer_config.json' has no 'tokenizer_class', and no "
                   "class is known for 'model_type' '%s'",
                   mf_quote(type).text);
}
