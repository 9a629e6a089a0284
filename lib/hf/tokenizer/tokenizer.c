/* SPDX-License-Identifier: MIT
 *
 * tokenizer.c - the procedure that a `vocab` row names
 */
#include "lib/hf/tokenizer/tokenizer.h"

#include "lib/base/str.h"
#include "lib/draft/put.h"
#include "lib/hf/tokenizer/parts.h"
#include "lib/hf/tokenizer/spm.h"
#include "lib/hf/tokenizer/tekken.h"

#define SETS 16 /* ids that a row sets at most, and types that it names */
#define WORD 48 /* bytes of a type's name */

/* Rows are part of the program, not of a file: what is wrong with one is found
 * by the first test that runs it. */
struct row {
    struct mf_tokenizer_request request;
    struct mf_special_options options;
    struct mf_fast *fast; /* for all procedures */
    struct mf_special_id set[SETS];
    char type[SETS][WORD]; /* of set */
    const char *types[SETS + 1];
    char name[SETS][WORD]; /* of types */
};

static enum mf_status failed(const struct row *row)
{
    return row->request.env->error.status;
}

/* ---- procedures ---- */

static enum mf_status put_special(struct mf_draft *draft,
                                  const struct mf_tokenizer_request *request,
                                  const struct mf_special_options *options,
                                  bool *missing)
{
    *missing = false;
    return mf_special_put(draft, request, options);
}

static enum mf_status put_none(struct mf_draft *draft,
                               const struct mf_tokenizer_request *request,
                               const struct mf_special_options *options,
                               bool *missing)
{
    (void)request;
    (void)options;
    *missing = false;
    return mf_set_text(draft, "tokenizer.ggml.model",
                       (struct mf_str){ "none", 4 });
}

/* Tokens of QWenTokenizer and its like are in a file that only Python code of
 * the model's folder can read. */
static enum mf_status put_code(struct mf_draft *draft,
                               const struct mf_tokenizer_request *request,
                               const struct mf_special_options *options,
                               bool *missing)
{
    (void)draft;
    (void)options;
    *missing = false;
    return mf_fail(request->env, MF_ERR_UNSUPPORTED, MF_NO_OFFSET,
                   "missing file 'tokenizer.json': a tokenizer that is Python "
                   "code is not run");
}

static const struct procedure {
    const char *name;
    mf_tokenizer_procedure *put;
    bool merges;
    const char *files;
} procedures[] = {
#define PROCEDURE(name, put, merges, files) { name, put, merges, files },
#include "lib/hf/tokenizer/procedures.def"
#undef PROCEDURE
};

/* ---- words ---- */

static struct mf_str next_word(struct mf_str *text, char end)
{
    struct mf_str word;

    while (text->size > 0 && (*text->at == ' ' || *text->at == end)) {
        text->at++;
        text->size--;
    }
    word = (struct mf_str){ text->at, 0 };
    while (text->size > 0 && *text->at != ' ' && *text->at != end) {
        text->at++;
        text->size--;
        word.size++;
    }
    return word;
}

static enum mf_status bad_word(const struct row *row, struct mf_str word)
{
    return mf_fail(row->request.env, MF_ERR_ARGUMENT, MF_NO_OFFSET,
                   "unknown word '%s' in a row 'vocab'", mf_quote(word).text);
}

static bool keep(char into[WORD], struct mf_str text)
{
    if (text.size == 0 || text.size >= WORD)
        return false;
    memcpy(into, text.at, text.size);
    into[text.size] = 0;
    return true;
}

/* types=prefix,suffix */
static enum mf_status take_types(struct row *row, struct mf_str list)
{
    size_t count = 0;

    while (list.size > 0 && count < SETS) {
        struct mf_str name = next_word(&list, ',');

        if (!keep(row->name[count], name))
            return bad_word(row, name);
        row->types[count] = row->name[count];
        row->types[++count] = NULL;
    }
    row->options.types = row->types;
    return MF_OK;
}

/* The value of eot=107, or of eot=<|user|>. */
static enum mf_status take_id(struct row *row, struct mf_str text, uint64_t *id)
{
    bool digits = text.size > 0 && text.size < 10;

    *id = 0;
    for (size_t i = 0; i < text.size && digits; i++) {
        digits = text.at[i] >= '0' && text.at[i] <= '9';
        *id = *id * 10 + (uint64_t)(text.at[i] - '0');
    }
    return digits ? MF_OK : mf_base_added_id(&row->request, text, id);
}

static enum mf_status take_set(struct row *row, struct mf_str word, size_t at)
{
    struct mf_special_id *set = &row->set[row->options.set_count];
    struct mf_str value = { word.at + at + 1, word.size - at - 1 };
    bool always = at > 0 && word.at[at - 1] == ':';
    char *type = row->type[row->options.set_count];

    word.size = at - always;
    if (row->options.set_count == SETS || !keep(type, word))
        return bad_word(row, word);
    *set = (struct mf_special_id){ .type = type, .always = always };
    row->options.set = row->set;
    row->options.set_count++;
    return take_id(row, value, &set->id);
}

static enum mf_status take_word(struct row *row, struct mf_str word)
{
    static const char types[] = "types=";
    size_t at = 0;

    if (mf_str_is(word, "merges") || mf_str_is(word, "no-merges"))
        row->options.merges = mf_str_is(word, "merges");
    else if (mf_str_is(word, "no-template"))
        row->options.no_template = true;
    else if (mf_str_is(word, "plain-added"))
        row->options.plain_added = true;
    else if (mf_str_begins(word, types))
        return take_types(row, (struct mf_str){ word.at + strlen(types),
                                                word.size - strlen(types) });
    else {
        while (at < word.size && word.at[at] != '=')
            at++;
        return at < word.size ? take_set(row, word, at) : bad_word(row, word);
    }
    return MF_OK;
}

/* One procedure and its words; *missing: its files are. */
static enum mf_status run(struct mf_draft *draft, struct row *row,
                          struct mf_str words, const char **files,
                          bool *missing)
{
    struct mf_str name = next_word(&words, ' ');
    const struct procedure *found = NULL;

    for (size_t i = 0; i < sizeof(procedures) / sizeof(*procedures); i++)
        if (mf_str_is(name, procedures[i].name))
            found = &procedures[i];
    if (!found)
        return bad_word(row, name);
    *files = found->files;
    row->options = (struct mf_special_options){ .merges = found->merges };
    for (name = next_word(&words, ' '); name.size > 0;
         name = next_word(&words, ' '))
        if (take_word(row, name) != MF_OK)
            return failed(row);
    return found->put(draft, &row->request, &row->options, missing);
}

enum mf_status mf_tokenizer_put(struct mf_draft *draft,
                                const struct mf_tokenizer_request *request,
                                struct mf_str words)
{
    struct row *row = mf_arena_take(request->arena, sizeof(*row));
    const char *files = "";
    bool missing = true;

    if (!row)
        return request->env->error.status;
    *row = (struct row){ .request = *request };
    row->request.fast = &row->fast;
    while (missing && words.size > 0) {
        struct mf_str part = { words.at, 0 };

        /* " | ": a token of an added id may have a bar. */
        while (part.size < words.size &&
               !mf_str_begins((struct mf_str){ words.at + part.size,
                                               words.size - part.size },
                              " | "))
            part.size++;
        words.at += part.size;
        words.size -= part.size;
        if (words.size > 0) {
            words.at += strlen(" | ");
            words.size -= strlen(" | ");
        }
        if (run(draft, row, part, &files, &missing) != MF_OK)
            return failed(row);
    }
    return missing ? mf_fail(request->env, MF_ERR_UNSUPPORTED, MF_NO_OFFSET,
                             "missing file '%s': the folder has no tokenizer",
                             files)
                   : MF_OK;
}
