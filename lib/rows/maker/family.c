/* SPDX-License-Identifier: MIT
 *
 * family.c - rows about config.json: sections convert and restore
 *
 * docs/rows.md explains them.  First each row for itself, then each paragraph
 * with all groups that it uses: whether its kind has such rows, and whether a
 * name is a field of config.json, a `let` or what the library gives.
 */
#include "lib/rows/maker/family.h"

#include <string.h>

static const char *const kinds[] = { "family", "projector", "tensors", "group",
                                     "config", "restore",   NULL };
static const char *const sections[] = { "convert", "restore", NULL };
const struct language family_language = { .sections = sections,
                                          .kinds = kinds };

const struct function family_functions[] = {
#define FORM(name, arguments, call)     { name, arguments },
#define FUNCTION(name, arguments, call) { name, arguments },
#include "lib/hf/hub/functions.def"
#undef FUNCTION
#undef FORM
    { NULL, NULL },
};

static const char *const procedures[] = {
#define PROCEDURE(name, put, merges, files) name,
#include "lib/hf/tokenizer/procedures.def"
#undef PROCEDURE
    NULL,
};

const char *const family_key_types[] = { MF_PUT_TYPES, NULL };

/* Rows of all kinds. */
static const char *const all_words[] = { "let",    "if",        "elif",
                                         "else",   "end",       "use",
                                         "refuse", "refuse_in", NULL };
static const char *const key_words[] = { "class", "arch",  "key", "first_key",
                                         "mtp",   "vocab", NULL };
static const char *const config_words[] = { "default", "set", "text", "vision",
                                            NULL };
static const char *const restore_words[] = { "field", "usual", "null",
                                             "without_mtp", NULL };

/* Keys that converters write and no loader reads. */
static const char *const unread_keys[] = {
    "altup.active_idx",
    "altup.num_inputs",
    "activation_sparsity_scale",
    "tensor_data_layout",
    NULL,
};

/* What the library gives a value, besides config.json. */
static const char *const given[] = {
    "rope_parameters", "file",         "class",       "file_type", "no_mtp",
    "mtp_only",        "tensors_only", "block_count", NULL,
};
static const char *const given_back[] = { "arch", "type", "decoded", NULL };

/* The library keeps these with the names of `let` rows, and some more for the
 * time of `each` and `map`. */
#define LETS_MAX (MF_RECIPE_LETS - 2 * sizeof(given) / sizeof(*given))

/* `let` rows that the library asks for. */
static const char *const asked[] = {
    "block_count", "vocab_size", "num_local_experts", "num_experts", NULL,
};

static void add_all(struct words *words, const char *const *list)
{
    for (; *list; list++)
        words_add(words, text_of(*list));
}

struct check {
    const struct source *source;
    const struct source *loader;
    const struct words *fields;
    struct words keys;    /* of the loader */
    struct words defined; /* by `let` rows of this paragraph */
    struct words parts;   /* that it uses */
    struct words used;    /* by any paragraph */
    struct words missed;  /* where something is wrong that was said */
    const struct part *top;
};

/* ---- names ---- */

/* Others that use the row would say the same. */
static bool is_said(struct check *check, struct text word)
{
    return !words_add_place(&check->missed, word);
}

/* Of `restore` names are keys of a GGUF file, else fields of config.json. */
static void see_name(void *user, const struct row *row, struct text name,
                     struct text whole)
{
    struct check *check = user;

    words_add(&check->used, name);
    if (words_have(&check->defined, name))
        return;
    if (text_is(check->top->kind, "restore")) {
        if (!list_has(given_back, name) && !words_have(&check->keys, whole) &&
            !text_begins(whole, "general.") &&
            !text_begins(whole, "tokenizer.") && !is_said(check, name))
            row_unknown(row, whole, "loader key", &check->keys);
        return;
    }
    if (!list_has(given, name) && !words_have(check->fields, name) &&
        !is_said(check, name))
        row_unknown(row, name, "field of config.json", check->fields);
}

static void see_field(struct check *check, const struct row *row,
                      struct text name)
{
    bool number = name.size > 0 && *name.at >= '0' && *name.at <= '9';

    if (!number && !words_have(check->fields, name) && !is_said(check, name))
        row_unknown(row, name, "field of config.json", check->fields);
}

/* Keys of a GGUF file are looked up as a whole. */
static void see_member(void *user, const struct row *row, struct text name)
{
    struct check *check = user;

    if (!text_is(check->top->kind, "restore"))
        see_field(check, row, name);
}

/* "rope_scaling.factor" */
static void see_path(struct check *check, const struct row *row,
                     struct text path)
{
    while (path.size > 0)
        see_field(check, row, take_until(&path, '.'));
}

static void see(void *user, const struct row *row, struct text *text)
{
    struct expression expression = { .row = row,
                                     .functions = family_functions,
                                     .json = true,
                                     .name = see_name,
                                     .member = see_member,
                                     .user = user };

    expression_take(&expression, text);
}

static void see_whole(struct check *check, const struct row *row,
                      struct text text)
{
    size_t errors = (size_t)row_errors;

    if (text.size == 0) {
        row_error(row, "an expression is missing");
        return;
    }
    see(check, row, &text);
    if (text.size > 0 && errors == (size_t)row_errors)
        row_error(row, "an operator or the end expected before '%.*s'",
                  text.size > 24 ? 24 : (int)text.size, text.at);
}

/* ---- rows ---- */

static void see_condition(struct check *check, const struct row *row,
                          struct text rest)
{
    if (expression_is_constant(rest))
        row_error(row, "the condition always has the same value");
    else
        see_whole(check, row, rest);
}

static void see_let(struct check *check, const struct row *row,
                    struct text rest)
{
    take_word(&rest);
    if (!text_is(rest, "none"))
        see_whole(check, row, rest);
}

/* A key of an architecture is one that a loader reads, or is known not to be
 * read by any. */
static void see_key_name(struct check *check, const struct row *row,
                         struct text name)
{
    struct text rest = { name.at + 2, name.size > 2 ? name.size - 2 : 0 };

    if (text_begins(name, "*.") && !words_have(&check->keys, rest) &&
        !is_said(check, name))
        row_unknown(row, rest, "loader key", &check->keys);
}

static void see_key(struct check *check, const struct row *row,
                    struct text rest)
{
    struct text type = take_word(&rest), name = take_word(&rest);

    type.size -= text_ends(type, "?");
    if (!list_has(family_key_types, type))
        row_unknown_of(row, type, "key type", family_key_types);
    if (!memchr(name.at, '.', name.size) || name.size >= 96)
        row_error(row, "'%.*s' cannot be the name of a key", (int)name.size,
                  name.at);
    see_key_name(check, row, name);
    see_whole(check, row, rest);
}

/* "PROCEDURE WORD ... | PROCEDURE WORD ..."; nothing: where it begins. */
static void see_vocab(const struct row *row, struct text rest)
{
    static const char *const options[] = { "merges", "no-merges", "no-template",
                                           "plain-added", NULL };
    const struct text all = rest;

    for (bool first = true; rest.size > 0;) {
        struct text word = take_word(&rest);

        if (text_is(word, "|") && !first) {
            first = true;
            continue;
        }
        if (first)
            first = false;
        else if (memchr(word.at, '=', word.size) || list_has(options, word))
            continue;
        else {
            row_unknown_of(row, word, "vocabulary option", options);
            continue;
        }
        if (!list_has(procedures, word))
            row_unknown_of(row, word, "vocabulary", procedures);
    }
    if (text_ends(all, "|"))
        row_error(row, "a vocabulary expected after '|'");
}

/* A row that is a word alone. */
static void see_alone(const struct row *row, struct text word, struct text rest)
{
    if (rest.size > 0)
        row_error(row, "nothing follows '%.*s'", (int)word.size, word.at);
}

/* "text TYPE", "vision TYPE" */
static void see_type(const struct row *row, struct text word, struct text rest)
{
    if (take_word(&rest).size == 0)
        row_error(row, "the model type is missing");
    if (rest.size > 0)
        row_error(row, "'%.*s' has one type, not '%.*s' as well",
                  (int)word.size, word.at, (int)rest.size, rest.at);
}

static void see_arch(const struct check *check, const struct row *row,
                     struct text rest)
{
    if (!source_find(check->loader, "arch", rest))
        row_unknown(row, rest, "architecture", NULL);
}

static void see_use(struct check *check, const struct row *row,
                    struct text name)
{
    struct words known = { .count = 0 };
    struct part *part = rows_used(check->source, check->top->kind, name);

    if (part) {
        part->used = true;
        return;
    }
    for (size_t i = 0; i < check->source->count; i++)
        words_add(&known, check->source->part[i].name);
    if (!is_said(check, name))
        row_unknown(row, name, "group", &known);
    words_free(&known);
}

static void see_row(struct check *check, const struct row *row)
{
    struct text rest = text_of(row->text), word = take_word(&rest);

    if (text_is(word, "let"))
        see_let(check, row, rest);
    else if (text_is(word, "if") || text_is(word, "elif"))
        see_condition(check, row, rest);
    else if (text_is(word, "refuse") || text_is(word, "refuse_in")) {
        if (text_is(word, "refuse_in"))
            take_word(&rest);
        see(check, row, &rest);
        if (rest.size == 0)
            row_error(row, "the text of the error is missing");
    } else if (text_is(word, "key") || text_is(word, "first_key"))
        see_key(check, row, rest);
    else if (text_is(word, "vocab"))
        see_vocab(row, rest);
    else if (text_is(word, "arch"))
        see_arch(check, row, rest);
    else if (text_is(word, "use"))
        see_use(check, row, rest);
    else if (text_is(word, "mtp") || text_is(word, "without_mtp"))
        see_alone(row, word, rest);
    else if (text_is(word, "text") || text_is(word, "vision"))
        see_type(row, word, rest);
    else if (text_is(word, "default") || text_is(word, "set") ||
             text_is(word, "field") || text_is(word, "usual")) {
        see_path(check, row, take_word(&rest));
        see_whole(check, row, rest);
    } else if (text_is(word, "null"))
        see_path(check, row, rest);
    else
        family_tensor_row(row, word, rest, see, check);
}

/* Whether paragraphs of the kind have such rows. */
static bool kind_has(const struct part *top, struct text word)
{
    bool tensors = list_has(family_tensor_words, word);

    if (list_has(all_words, word))
        return true;
    if (text_is(top->kind, "family"))
        return list_has(key_words, word);
    if (text_is(top->kind, "projector"))
        return tensors || (list_has(key_words, word) && !text_is(word, "arch"));
    if (text_is(top->kind, "config"))
        return list_has(config_words, word);
    if (text_is(top->kind, "restore"))
        return list_has(restore_words, word) || tensors;
    return tensors;
}

static void check_kind(struct check *check, const struct row *row,
                       struct text word)
{
    struct words known = { .count = 0 };

    if (kind_has(check->top, word) || is_said(check, word))
        return;
    add_all(&known, all_words);
    add_all(&known, key_words);
    add_all(&known, config_words);
    add_all(&known, restore_words);
    add_all(&known, family_tensor_words);
    if (words_have(&known, word))
        row_error(row, "'%.*s' does nothing in '%s'", (int)word.size, word.at,
                  check->top->head.text);
    else
        row_unknown(row, word, "row", &known);
    words_free(&known);
}

/* ---- paragraphs ---- */

typedef void visit(struct check *check, const struct row *row);

static void walk(struct check *check, const struct part *part, visit *each)
{
    for (size_t i = 0; i < part->count; i++) {
        struct text rest = text_of(part->row[i].text), word = take_word(&rest);
        const struct part *used;

        each(check, &part->row[i]);
        if (!text_is(word, "use"))
            continue;
        used = rows_used(check->source, check->top->kind, rest);
        if (used && words_add(&check->parts, text_of(used->head.text)))
            walk(check, used, each);
    }
}

static void define(struct check *check, const struct row *row)
{
    struct text rest = text_of(row->text), word = take_word(&rest);

    if (text_is(word, "let"))
        words_add(&check->defined, take_word(&rest));
}

static void see_all(struct check *check, const struct row *row)
{
    struct text rest = text_of(row->text);

    check_kind(check, row, take_word(&rest));
    see_row(check, row);
}

/* A family's `let` rows stay for its tensors: only some do, but all of their
 * names are ones. */
static void define_of_families(struct check *check)
{
    struct text list = check->top->words;

    while (text_is(check->top->kind, "tensors") && list.size > 0) {
        const struct part *family =
            source_find(check->source, "family", take_word(&list));

        if (family)
            walk(check, family, define);
    }
}

static void check_part(struct check *check, const struct part *part)
{
    check->top = part;
    words_free(&check->defined);
    words_free(&check->parts);
    walk(check, part, define);
    define_of_families(check);
    words_free(&check->parts);
    walk(check, part, see_all);
    if (check->defined.count > LETS_MAX)
        row_error(&part->head,
                  "a paragraph has at most %zu names of rows 'let', not %zu",
                  LETS_MAX, check->defined.count);
}

/* ---- all paragraphs ---- */

static void check_unused(const struct check *check, const struct part *part)
{
    if (text_is(part->kind, "group") && !part->used &&
        !text_is(part->name, "text_tensors"))
        row_error(&part->head, "nothing uses this group");
    for (size_t i = 0; i < part->count; i++) {
        struct text rest = text_of(part->row[i].text), name;

        if (!text_is(take_word(&rest), "let"))
            continue;
        name = take_word(&rest);
        if (!words_have(&check->used, name) && !list_has(asked, name))
            row_error(&part->row[i], "nothing uses '%.*s'", (int)name.size,
                      name.at);
    }
}

void family_check(struct source *source, const struct source *loader,
                  const struct words *fields)
{
    struct check check = { .source = source,
                           .loader = loader,
                           .fields = fields };

    loader_keys(loader, &check.keys);
    add_all(&check.keys, unread_keys);
    family_check_heads(source, loader);
    for (size_t i = 0; i < source->count; i++) {
        rows_nesting(&source->part[i], true);
        rows_parameters(&source->part[i], 0);
        if (!text_is(source->part[i].kind, "group"))
            check_part(&check, &source->part[i]);
    }
    rows_cycles(source);
    if (row_errors == 0)
        family_check_once(source);
    for (size_t i = 0; i < source->count && row_errors == 0; i++)
        check_unused(&check, &source->part[i]);
}
