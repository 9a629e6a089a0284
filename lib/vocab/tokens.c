/* SPDX-License-Identifier: MIT
 *
 * tokens.c - each token, its type, and whether it is there twice
 *
 * The first pass checks each token by itself; every pass looks for duplicates
 * and for merges of what is not a token, among the hashes that it is about.
 */
#include <inttypes.h>

#include "lib/base/str.h"
#include "lib/vocab/parts.h"

/* Two of values.c with the least of windows. */
#define SPARE (2 * (sizeof(struct mf_values) + MF_WINDOW_LEAST))

/* Tokens of equal hash that are kept to compare their texts.  One is enough,
 * unless hashes collide. */
#define CANDIDATES 4

/* Tokens that llama.cpp looks up if the model's name contains "phi-3". */
static const char *const phi_tokens[] = { "</s>", "<unk>", "<s>",
                                          "<|endoftext|>" };
#define PHI_TOKENS (sizeof(phi_tokens) / sizeof(*phi_tokens))

struct candidate {
    uint64_t at, offset, hash;
    struct mf_quoted text;
};

struct scan {
    struct mf_vocab *vocab;
    struct mf_token_set set;
    struct mf_byte_tokens bytes;
    struct mf_merges merges;
    struct mf_tally empty, cut, too_long, odd_type;
    int64_t odd; /* the first invalid type */
    uint64_t odd_offset;
    uint64_t too_long_size;
    bool phi[PHI_TOKENS];
    uint64_t duplicates;
    struct candidate candidate[CANDIDATES]; /* the first ones, in order */
    size_t candidates;
};

/* ---- one token ---- */

static uint64_t longest(const struct mf_vocab *vocab)
{
    return vocab->tokenizer ? vocab->tokenizer->longest : INT32_MAX - 1;
}

static void note_special(struct scan *scan, uint64_t at, int64_t type)
{
    struct mf_vocab *vocab = scan->vocab;

    for (size_t i = 0; i < vocab->special_count; i++)
        if (vocab->special[i].id == at)
            vocab->special[i].type = type;
}

static void check_type(struct scan *scan, const struct mf_items *token,
                       const struct mf_items *type)
{
    int64_t number = type->number.i64;

    if (number > MF_TOKEN_UNDEFINED && number < MF_TOKEN_TYPES)
        return;
    if (scan->odd_type.count == 0) {
        scan->odd = number;
        scan->odd_offset = type->offset;
    }
    mf_tally_add(&scan->odd_type, token);
}

/* type: NULL if the token has none. */
static void check_token(struct scan *scan, const struct mf_items *token,
                        const struct mf_items *type)
{
    if (type) {
        check_type(scan, token, type);
        note_special(scan, token->at, type->number.i64);
    }
    if (token->has_nul)
        mf_tally_add(&scan->cut, token);
    else if (token->size == 0)
        mf_tally_add(&scan->empty, token);
    if (token->size > longest(scan->vocab)) {
        if (scan->too_long.count == 0)
            scan->too_long_size = token->size;
        mf_tally_add(&scan->too_long, token);
    }
    for (size_t i = 0; i < PHI_TOKENS; i++)
        scan->phi[i] = scan->phi[i] || mf_str_is(token->text, phi_tokens[i]);
    mf_byte_tokens_add(&scan->bytes, scan->vocab, token,
                       type ? type->number.i64 : MF_TOKEN_NORMAL);
}

/* ---- duplicates ---- */

static uint64_t hash_of(const struct mf_items *token)
{
    struct mf_empty_name name;

    if (token->size > 0)
        return token->hash;
    name = mf_empty_name(token->at);
    return mf_text_hash((struct mf_str){ name.text, strlen(name.text) },
                        token->seed);
}

static void add_candidate(struct scan *scan, const struct mf_items *token,
                          uint64_t hash)
{
    size_t at = scan->candidates;

    scan->duplicates++;
    while (at > 0 && scan->candidate[at - 1].at > token->at)
        at--;
    if (at == CANDIDATES)
        return;
    scan->candidates += scan->candidates < CANDIDATES;
    for (size_t i = scan->candidates - 1; i > at; i--)
        scan->candidate[i] = scan->candidate[i - 1];
    scan->candidate[at] = (struct candidate){ token->at, token->offset, hash,
                                              mf_quote(token->text) };
}

/* *first: the first token before the candidate that has the same hash. */
static enum mf_status find_first(const struct scan *scan,
                                 const struct candidate *candidate,
                                 uint64_t *first)
{
    const struct mf_vocab *vocab = scan->vocab;
    struct mf_items token;

    *first = candidate->at;
    if (mf_items_open(&token, vocab->model, vocab->array[MF_VOCAB_TOKENS]) !=
        MF_OK)
        return vocab->model->env->error.status;
    while (mf_items_next(&token) && token.at < candidate->at)
        if (hash_of(&token) == candidate->hash) {
            *first = token.at;
            break;
        }
    mf_items_close(&token);
    return vocab->model->env->error.status;
}

/* Candidates whose texts differ after all are not duplicates. */
static enum mf_status report_duplicates(struct scan *scan)
{
    const struct mf_vocab *vocab = scan->vocab;
    const struct mf_meta *tokens = vocab->array[MF_VOCAB_TOKENS];

    for (size_t i = 0; i < scan->candidates; i++) {
        const struct candidate *candidate = &scan->candidate[i];
        struct mf_tally rest = { .count = scan->duplicates };
        uint64_t first;
        bool same;

        if (find_first(scan, candidate, &first) != MF_OK ||
            mf_items_same(vocab->model, tokens, first, candidate->at, &same) !=
                MF_OK)
            return vocab->model->env->error.status;
        if (first == candidate->at || !same) {
            scan->duplicates--;
            continue;
        }
        mf_index_note(vocab->index, tokens->shard, MF_ERROR,
                      MF_RULE_TOKENS_DUPLICATE, candidate->offset,
                      "token %" PRIu64 " ('%s') has the text of token %" PRIu64
                      ": llama.cpp aborts%s",
                      candidate->at, candidate->text.text, first,
                      mf_tally_rest(&rest, "tokens").text);
        break;
    }
    return MF_OK;
}

/* ---- passes ---- */

static enum mf_status scan_pass(struct scan *scan, uint32_t pass)
{
    struct mf_vocab *vocab = scan->vocab;
    struct mf_model *model = vocab->model;
    const struct mf_meta *types = vocab->array[MF_VOCAB_TYPES];
    struct mf_items token, type = { 0 };
    bool has_types = pass == 0 && types;

    if (mf_items_open(&token, model, vocab->array[MF_VOCAB_TOKENS]) != MF_OK)
        return model->env->error.status;
    if (has_types && mf_items_open(&type, model, types) != MF_OK) {
        mf_items_close(&token);
        return model->env->error.status;
    }
    mf_token_set_begin(&scan->set, pass);
    while (mf_items_next(&token)) {
        uint64_t hash = hash_of(&token);

        if (pass == 0)
            check_token(scan, &token,
                        has_types && mf_items_next(&type) ? &type : NULL);
        if (mf_token_set_takes(&scan->set, hash) &&
            !mf_token_set_add(&scan->set, hash))
            add_candidate(scan, &token, hash);
    }
    mf_items_close(&type);
    mf_items_close(&token);
    return model->env->error.status;
}

static enum mf_status scan_all(struct scan *scan)
{
    struct mf_vocab *vocab = scan->vocab;
    struct mf_env *env = vocab->model->env;
    bool merges =
        vocab->array[MF_VOCAB_MERGES] && mf_vocab_is(vocab, MF_TOKENIZER_BPE);

    for (uint32_t pass = 0; pass < scan->set.passes; pass++) {
        if (scan_pass(scan, pass) != MF_OK)
            return env->error.status;
        if (merges && mf_merges_scan(&scan->merges, vocab, &scan->set) != MF_OK)
            return env->error.status;
    }
    return MF_OK;
}

/* ---- findings ---- */

static void report_texts(const struct scan *scan)
{
    const struct mf_vocab *vocab = scan->vocab;
    const struct mf_meta *tokens = vocab->array[MF_VOCAB_TOKENS];
    const struct mf_tally *at = &scan->too_long;

    if (at->count > 0)
        mf_index_note(vocab->index, tokens->shard, MF_ERROR,
                      MF_RULE_TOKENS_TEXT, at->offset,
                      "token %" PRIu64 " has %" PRIu64
                      " bytes; llama.cpp can load %" PRIu64
                      " in this kind of tokenizer%s",
                      at->at, scan->too_long_size, longest(vocab),
                      mf_tally_rest(at, "tokens").text);
    at = &scan->cut;
    if (at->count > 0)
        mf_index_note(vocab->index, tokens->shard, MF_WARNING,
                      MF_RULE_TOKENS_TEXT, at->offset,
                      "token %" PRIu64 " contains a NUL: llama.cpp reads "
                      "'%s'%s",
                      at->at, at->text.text, mf_tally_rest(at, "tokens").text);
    at = &scan->empty;
    if (at->count > 0)
        mf_index_note(vocab->index, tokens->shard, MF_WARNING,
                      MF_RULE_TOKENS_TEXT, at->offset,
                      "token %" PRIu64 " is empty%s", at->at,
                      mf_tally_rest(at, "tokens").text);
}

static void report_types(const struct scan *scan)
{
    const struct mf_vocab *vocab = scan->vocab;
    const struct mf_meta *types = vocab->array[MF_VOCAB_TYPES];
    const struct mf_tally *odd = &scan->odd_type;

    if (odd->count > 0)
        mf_index_note(vocab->index, types->shard, MF_ERROR, MF_RULE_TOKENS_KIND,
                      scan->odd_offset,
                      "token %" PRIu64 " ('%s') is of type %" PRId64
                      "; expected 1 to %d%s",
                      odd->at, odd->text.text, scan->odd, MF_TOKEN_TYPES - 1,
                      mf_tally_rest(odd, "tokens").text);
    for (size_t i = 0; types && i < vocab->special_count; i++) {
        const struct mf_vocab_special *special = &vocab->special[i];

        if (special->type != MF_TOKEN_NORMAL && special->type != MF_TOKEN_BYTE)
            continue;
        mf_index_note(vocab->index, special->meta->shard, MF_WARNING,
                      MF_RULE_TOKENS_KIND, special->meta->span.offset,
                      "'%s' is %" PRIu64 ", which is a %s token; expected a "
                      "control token",
                      mf_quote(special->meta->key).text, special->id,
                      special->type == MF_TOKEN_BYTE ? "byte" : "normal");
    }
}

/* llama.cpp goes by the name of the model, in lower case. */
static bool is_phi(const struct mf_vocab *vocab)
{
    const struct mf_meta *name = mf_index_meta(vocab->index, "general.name");
    char lower[MF_TEXT_KEPT + 1];
    struct mf_str text = { lower, 0 };

    if (!name || name->type != MF_VALUE_STRING || !name->text.at)
        return false;
    for (size_t i = 0; i < name->text.size; i++) {
        char c = name->text.at[i];

        lower[text.size++] = mf_small(c);
    }
    return mf_str_holds(text, "phi-3") || mf_str_holds(text, "phi3");
}

static void report_phi(const struct scan *scan)
{
    const struct mf_vocab *vocab = scan->vocab;

    if (!is_phi(vocab))
        return;
    for (size_t i = 0; i < PHI_TOKENS; i++)
        if (!scan->phi[i]) {
            const struct mf_meta *name =
                mf_index_meta(vocab->index, "general.name");

            mf_index_note(vocab->index, name->shard, MF_ERROR,
                          MF_RULE_TOKENS_MISSING, name->span.offset,
                          "'general.name' is '%s': llama.cpp takes the model "
                          "for a Phi-3 and needs the token '%s'",
                          mf_quote(name->text).text, phi_tokens[i]);
            return;
        }
}

enum mf_status mf_vocab_check_tokens(struct mf_vocab *vocab)
{
    struct scan scan = { .vocab = vocab };
    enum mf_status status;

    if (!vocab->array[MF_VOCAB_TOKENS] || vocab->count == 0 ||
        vocab->count > INT32_MAX)
        return MF_OK;
    status =
        mf_token_set_init(&scan.set, vocab->model->env, vocab->count, SPARE);
    if (status != MF_OK)
        return status;
    status = scan_all(&scan);
    mf_token_set_release(&scan.set);
    if (status != MF_OK)
        return status;
    report_texts(&scan);
    report_types(&scan);
    report_phi(&scan);
    mf_byte_tokens_report(&scan.bytes, vocab);
    mf_merges_report(&scan.merges, vocab);
    return report_duplicates(&scan);
}
