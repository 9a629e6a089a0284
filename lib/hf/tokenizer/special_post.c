/* SPDX-License-Identifier: MIT
 *
 * special_post.c - special tokens by the post-processor of tokenizer.json
 *
 * Its templates say which tokens are put around a text, and so which are added
 * and what the bos and the eos are where tokenizer_config.json does not know.
 * Only simple templates are understood, step by step as llama.cpp's converter
 * does it: its result counts, not what would be better.
 */
#include "lib/hf/tokenizer/special.h"

#include "lib/base/str.h"

struct post {
    struct mf_special_tokens *special;
    const struct mf_node *bos, *eos, *cls, *sep; /* NULL: none */
};

static enum mf_status failed(const struct post *post)
{
    return post->special->env->error.status;
}

static bool is_true(const struct mf_node *node)
{
    return node && mf_node_holds(node);
}

/* Of two tokens; an object never belongs to two places. */
static bool is_same(const struct mf_node *a, const struct mf_node *b)
{
    return a && b &&
           (a == b || (a->kind == MF_NODE_STRING && b->kind == MF_NODE_STRING &&
                       mf_str_same(a->text, b->text)));
}

/* From now on tokenizer_config.json is taken to say that. */
static enum mf_status replace(struct post *post, const char *name,
                              const struct mf_node *token)
{
    struct mf_special_type *type = mf_special_add(post->special, name);

    if (!type)
        return failed(post);
    type->replaced = true;
    type->token = token;
    return MF_OK;
}

static enum mf_status wrong(const struct post *post, const struct mf_node *node)
{
    return mf_fail(post->special->env, MF_ERR_CORRUPT, node->offset,
                   "'tokenizer.json': 'post_processor' has %s where a template "
                   "or a token should be",
                   mf_node_kind_name(node));
}

/* ---- RobertaProcessing ---- */

/* ["</s>", 2] */
static enum mf_status read_pair(struct post *post, const struct mf_node *pair,
                                const struct mf_node **token)
{
    if (!pair)
        return MF_OK;
    if (pair->kind != MF_NODE_ARRAY || !pair->first)
        return wrong(post, pair);
    *token = pair->first;
    return MF_OK;
}

static enum mf_status read_roberta(struct post *post,
                                   const struct mf_node *processor)
{
    bool has_config = post->special->has_config;

    if (mf_special_add_to_texts(post->special, "bos", true) != MF_OK ||
        mf_special_add_to_texts(post->special, "eos", true) != MF_OK ||
        mf_special_add_to_texts(post->special, "sep", true) != MF_OK)
        return failed(post);
    if (!is_true(post->cls) && has_config) {
        post->cls = post->bos;
        if (read_pair(post, mf_node_at(processor, "cls"), &post->cls) !=
                MF_OK ||
            replace(post, "cls", post->cls) != MF_OK)
            return failed(post);
    }
    if (!is_true(post->sep) && has_config) {
        post->sep = post->eos;
        if (read_pair(post, mf_node_at(processor, "sep"), &post->sep) !=
                MF_OK ||
            replace(post, "sep", post->sep) != MF_OK)
            return failed(post);
    }
    return MF_OK;
}

/* ---- TemplateProcessing ---- */

/* { "SpecialToken": { "id": "<s>" } }; NULL where it is something else. */
static const struct mf_node *token_of(const struct mf_node *piece)
{
    const struct mf_node *id = mf_node_at(piece, "SpecialToken.id");

    return is_true(id) ? id : NULL;
}

static bool is_sequence(const struct mf_node *piece, const char *name)
{
    return mf_str_is(mf_node_text(piece, "Sequence.id"), name);
}

static const struct mf_node *last_of(const struct mf_node *list)
{
    const struct mf_node *node = list->first;

    while (node && node->next)
        node = node->next;
    return node;
}

static enum mf_status read_first(struct post *post, const struct mf_node *first)
{
    if (!post->special->has_config) {
        post->bos = first;
    } else if (!is_same(first, post->bos) && !is_same(first, post->cls)) {
        if (!is_true(post->bos)) {
            post->bos = first;
            if (replace(post, "bos", first) != MF_OK)
                return failed(post);
        }
        if (!is_true(post->cls)) {
            post->cls = first;
            if (replace(post, "cls", first) != MF_OK)
                return failed(post);
        }
    }
    return mf_special_add_to_texts(post->special, "bos",
                                   is_same(first, post->bos) ||
                                       is_same(first, post->cls));
}

/* What was the eos is kept as eot or eom. */
static enum mf_status keep_eos(struct post *post)
{
    static const char *const names[] = { "eot", "eom" };
    const char **types = post->special->types;

    for (size_t i = 0; i < sizeof(names) / sizeof(*names); i++) {
        size_t at = 0;

        while (types[at] && strcmp(types[at], names[i]) != 0)
            at++;
        if (types[at])
            continue;
        if (at < MF_SPECIAL_TYPES)
            types[at] = names[i];
        return replace(post, names[i], post->eos);
    }
    return MF_OK;
}

static enum mf_status read_last(struct post *post, const struct mf_node *last)
{
    if (!post->special->has_config) {
        post->eos = last;
    } else if (!is_same(last, post->eos)) {
        if (keep_eos(post) != MF_OK)
            return failed(post);
        post->eos = last;
        if (replace(post, "eos", last) != MF_OK)
            return failed(post);
    }
    return mf_special_add_to_texts(post->special, "eos", true);
}

static bool is_end(const struct post *post, const struct mf_node *token)
{
    return is_same(token, post->sep) || is_same(token, post->eos);
}

/* What is between the two texts of a pair, of which there are count pieces. */
static enum mf_status read_between(struct post *post,
                                   const struct mf_node *piece, uint64_t count,
                                   bool has_last)
{
    const struct mf_node *token = token_of(piece);
    bool add = token && is_end(post, token) && !has_last;

    if (count == 2) {
        token = token_of(piece->next);
        add = add || (token && is_end(post, token));
    }
    if (mf_special_add_to_texts(post->special, "sep", add) != MF_OK)
        return failed(post);
    return add && !is_true(post->sep) && post->special->has_config
               ? replace(post, "sep", post->eos)
               : MF_OK;
}

/* Without the tokens at its ends, a pair is text A, some pieces, and text B. */
static enum mf_status read_two(struct post *post, const struct mf_node *pair,
                               const struct mf_node *first,
                               const struct mf_node *last)
{
    const struct mf_node *a = pair->first, *b = a;
    uint64_t count = pair->count;

    if (first && is_same(token_of(a), first)) {
        a = a->next;
        count--;
    }
    if (last && is_same(token_of(last_of(pair)), last) && count > 0)
        count--;
    if (count == 0)
        return MF_OK;
    b = a;
    for (uint64_t i = 1; i < count; i++)
        b = b->next;
    if (!is_sequence(a, "A") || !is_sequence(b, "B") || count < 3)
        return MF_OK;
    return read_between(post, a->next, count - 2, last != NULL);
}

static enum mf_status read_template(struct post *post,
                                    const struct mf_node *processor)
{
    const struct mf_node *single = mf_node_at(processor, "single");
    const struct mf_node *pair = mf_node_at(processor, "pair");
    const struct mf_node *first = NULL, *last = NULL;

    if (single && single->kind != MF_NODE_ARRAY)
        return wrong(post, single);
    if (pair && pair->kind != MF_NODE_ARRAY)
        return wrong(post, pair);
    if (single && single->count > 1) {
        first = token_of(single->first);
        if (first && read_first(post, first) != MF_OK)
            return failed(post);
        last = token_of(last_of(single));
        if (last && read_last(post, last) != MF_OK)
            return failed(post);
    }
    return is_true(pair) ? read_two(post, pair, first, last) : MF_OK;
}

/* ---- all of it ---- */

/* The bos is the cls where there is only that, and the eos the sep. */
static enum mf_status begin(struct post *post)
{
    post->bos = mf_special_token(post->special, "bos");
    post->eos = mf_special_token(post->special, "eos");
    post->cls = mf_special_token(post->special, "cls");
    post->sep = mf_special_token(post->special, "sep");
    if (!post->special->has_config)
        return MF_OK;
    if (!is_true(post->bos) && is_true(post->cls)) {
        post->bos = post->cls;
        if (replace(post, "bos", post->cls) != MF_OK)
            return failed(post);
    }
    if (!is_true(post->eos) && is_true(post->sep)) {
        post->eos = post->sep;
        return replace(post, "eos", post->sep);
    }
    return MF_OK;
}

static enum mf_status read_processor(struct post *post,
                                     const struct mf_node *processor)
{
    struct mf_str type = mf_node_text(processor, "type");

    if (processor->kind != MF_NODE_OBJECT)
        return wrong(post, processor);
    if (mf_str_is(type, "RobertaProcessing"))
        return read_roberta(post, processor);
    return mf_str_is(type, "TemplateProcessing")
               ? read_template(post, processor)
               : MF_OK;
}

enum mf_status mf_special_read_post(struct mf_special_tokens *special)
{
    struct post post = { .special = special };
    const struct mf_node *node = mf_node_at(special->json, "post_processor");
    const struct mf_node *list = mf_node_at(node, "processors");

    if (begin(&post) != MF_OK)
        return failed(&post);
    if (!is_true(node))
        return MF_OK;
    if (!list)
        return read_processor(&post, node);
    if (list->kind != MF_NODE_ARRAY)
        return wrong(&post, list);
    for (node = list->first; node; node = node->next)
        if (read_processor(&post, node) != MF_OK)
            return failed(&post);
    return MF_OK;
}
