/* SPDX-License-Identifier: MIT
 *
 * make_arch.c - a small good model of any architecture
 *
 *     make_arch [--full] ARCHITECTURE FILE
 *     make_arch                                 those that have rows
 *
 * Runs the rows of sections `loader`.  Where they would look a key or tensor up
 * (keys.c, tensors.c), this one adds it to the model instead: keys with the
 * values of make_arch.def, tensors with the shape of the row.  Tensors that may
 * be missing are, or with --full are not.  If a condition is not true, the rows
 * are run again with the tensors that it names.  Tensor data is a hole.
 */
#include "lib/arch/run.h"
#include "tests/programs/faulty.h"

#include <assert.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { TYPE_U32 = 4, TYPE_F32 = 6, TYPE_U64 = 10, TYPE_I32 = 5 };
enum { ROWS_MAX = 4096, ELEMENTS_MAX = 512 };

static struct key keys[ROWS_MAX];
static struct tensor tensors[ROWS_MAX];
static struct mf_record records[ROWS_MAX];
static struct model made = { 3, keys, tensors, 0, 0 };
static bool full;
static size_t arrays_used;
static struct mf_str wanted[64]; /* patterns that conditions name */
static size_t wanted_count;

static void give_up(const char *what, struct mf_str name)
{
    fprintf(stderr, "make_arch: %s: %.*s\n", what, (int)name.size, name.at);
    exit(1);
}

static char *text_of(struct mf_str text)
{
    char *copy = keep(NULL, text.size + 1);

    memcpy(copy, text.at, text.size);
    return copy;
}

/* ---- values of keys ---- */

static bool is_listed(const char *list, struct mf_str name)
{
    struct mf_str rest = { list, strlen(list) };

    while (rest.size > 0)
        if (mf_str_same(mf_word(&rest), name))
            return true;
    return *list == '\0';
}

static const char *value_of(struct mf_str arch, struct mf_str name)
{
#define TOKENS(architectures, count)
#define VALUE(architectures, key, value)                                       \
    if (mf_str_is(name, key) && is_listed(architectures, arch))                \
        return value;
#include "tests/data/make_arch.def"
#undef VALUE
#undef TOKENS
    return NULL;
}

static size_t tokens_of(struct mf_str arch)
{
#define VALUE(architectures, key, value)
#define TOKENS(architectures, count)                                           \
    if (is_listed(architectures, arch))                                        \
        return count;
#include "tests/data/make_arch.def"
#undef TOKENS
#undef VALUE
    return 288;
}

static double number_in(const char *text)
{
    return *text == 't' ? 1 : *text == 'f' ? 0 : strtod(text, NULL);
}

/* ---- keys ---- */

static struct key *add_key(const char *name, uint32_t type)
{
    struct key *key = keys + made.keys++;

    assert(made.keys < ROWS_MAX);
    *key = (struct key){ keep(name, strlen(name) + 1), type, type, 1, NULL, 0 };
    return key;
}

static void add_text(const char *name, const char *text)
{
    key_text(add_key(name, GGUF_STRING), text);
}

static void add_number(const char *name, uint32_t type, double value)
{
    key_number(add_key(name, type), value);
}

/* Makes an array of the values, which have spaces between them; the last one is
 * repeated up to the count. */
static void add_array(const char *name, uint32_t type, const char *values,
                      uint64_t count)
{
    struct key *key = add_key(name, GGUF_ARRAY), one = { .type = type };

    key->element = type;
    key->count = count;
    key->size = (size_t)count * scalar_size(type);
    key->bytes = keep(NULL, key->size);
    for (uint64_t i = 0; i < count; i++) {
        const char *next = strchr(values, ' ');

        key_number(&one, number_in(values));
        memcpy(key->bytes + i * one.size, one.bytes, one.size);
        if (next)
            values = next + 1;
    }
}

static const struct key *find_key(const char *name)
{
    for (size_t i = 0; i < made.keys; i++)
        if (!strcmp(keys[i].name, name))
            return keys + i;
    return NULL;
}

/* ---- the row of a key (instead of keys.c) ---- */

#define LIST 7 /* in MF_KEY_TYPES */

struct kind {
    uint32_t type;
    bool single, optional;
    uint64_t count; /* of an array; 0: any */
};

static struct kind take_kind(struct mf_arch_run *run, struct mf_code *row)
{
    static const uint32_t types[] = { TYPE_U32, TYPE_I32,  TYPE_I32,
                                      TYPE_F32, GGUF_BOOL, GGUF_STRING,
                                      TYPE_U64, TYPE_U32 };
    unsigned type = mf_code_byte(row), flags = mf_code_byte(row);
    struct kind kind = { types[type], (flags & MF_KEY_SINGLE) && type != LIST,
                         flags & MF_KEY_OPTIONAL, mf_code_two(row) };
    struct mf_arch_number blocks;

    if (kind.count > 0 || !(flags & MF_KEY_EXACT))
        return kind;
    blocks = mf_arch_name_value(run, (struct mf_str){ "blocks", 6 });
    kind.count = blocks.known ? (uint64_t)blocks.value : 0;
    return kind;
}

static uint64_t count_values(const char *values)
{
    uint64_t count = 1;

    for (; *values; values++)
        count += *values == ' ';
    return count;
}

static void write_key(const char *name, struct kind kind, const char *value)
{
    char values[ELEMENTS_MAX];
    uint64_t count = kind.count;

    if (*value == '[' || !kind.single) {
        snprintf(values, sizeof values, "%s", value + (*value == '['));
        values[strcspn(values, "]")] = '\0';
        if (count == 0 || !kind.single)
            count = count_values(values);
        if (kind.type == TYPE_U32 && (*values == 't' || *values == 'f'))
            kind.type = GGUF_BOOL;
        add_array(name, kind.type, values, count);
    } else if (kind.type == GGUF_STRING)
        add_text(name, value);
    else
        add_number(name, kind.type, number_in(value));
}

/* What expressions see of a key that has been written. */
static void show_key(const struct key *key, struct mf_arch_key *out)
{
    static int64_t each[MF_ARCH_KEYS_MAX][ELEMENTS_MAX];

    out->present = true;
    out->count = key->count;
    if (key->type == GGUF_STRING)
        out->text = (struct mf_str){ (char *)key->bytes + 8, key->size - 8 };
    else if (key->type != GGUF_ARRAY)
        out->number =
            (struct mf_arch_number){ true, (int64_t)number_of(key->type,
                                                              key->bytes) };
    else if (key->element != GGUF_STRING && key->count <= ELEMENTS_MAX) {
        assert(arrays_used < MF_ARCH_KEYS_MAX);
        for (uint64_t i = 0; i < key->count; i++)
            each[arrays_used][i] = (int64_t)number_of(
                key->element, key->bytes + i * scalar_size(key->element));
        out->each = each[arrays_used++];
    }
}

void mf_arch_read_key(struct mf_arch_run *run, struct mf_code code)
{
    struct kind kind = take_kind(run, &code);
    struct mf_str row = mf_code_text(&code);
    struct mf_arch_key *out = run->key + run->key_count++;
    const char *value = value_of(run->name, row);
    char name[256];

    *out = (struct mf_arch_key){ .name = row, .offset = MF_NO_OFFSET };
    if (mf_str_begins(row, "general.") || mf_str_begins(row, "tokenizer.") ||
        mf_str_begins(row, "xielu."))
        snprintf(name, sizeof name, "%.*s", (int)row.size, row.at);
    else
        snprintf(name, sizeof name, "%.*s.%.*s", (int)run->name.size,
                 run->name.at, (int)row.size, row.at);
    if (!find_key(name) && (value || !kind.optional))
        write_key(name, kind,
                  value                      ? value
                  : kind.type == GGUF_BOOL   ? "true"
                  : kind.type == GGUF_STRING ? "none"
                                             : "2");
    if (find_key(name))
        show_key(find_key(name), out);
    else
        out->number.known = true;
}

const struct mf_arch_key *mf_arch_key_of(const struct mf_arch_run *run,
                                         struct mf_str name)
{
    for (size_t i = run->key_count; i-- > 0;)
        if (mf_str_same(run->key[i].name, name))
            return &run->key[i];
    return NULL;
}

/* ---- the row of a tensor (instead of tensors.c) ---- */

static char *tensor_name(const struct mf_arch_run *run, struct mf_str pattern)
{
    char name[256], *star;

    snprintf(name, sizeof name, "%.*s", (int)pattern.size, pattern.at);
    star = strchr(name, '*');
    if (star) {
        char rest[256];

        snprintf(rest, sizeof rest, "%s", star + 1);
        snprintf(star, sizeof name - (size_t)(star - name), "%llu%s",
                 (unsigned long long)run->block, rest);
    }
    return text_of((struct mf_str){ name, strlen(name) });
}

static const struct mf_record *find_made(const char *name)
{
    for (size_t i = 0; i < made.tensors; i++)
        if (!strcmp(tensors[i].name, name))
            return records + i;
    return NULL;
}

static bool is_wanted(struct mf_str pattern)
{
    for (size_t i = 0; i < wanted_count; i++)
        if (mf_str_same(wanted[i], pattern))
            return true;
    return false;
}

const struct mf_record *mf_arch_tensor(const struct mf_arch_run *run,
                                       struct mf_str pattern)
{
    static const uint64_t one = 1;
    static const struct mf_record soon = { .dim = &one, .rank = 1 };
    const struct mf_record *record = find_made(tensor_name(run, pattern));

    return record ? record : is_wanted(pattern) ? &soon : NULL;
}

void mf_arch_check_tensor(struct mf_arch_run *run, struct mf_code row,
                          bool optional)
{
    unsigned flags = mf_code_byte(&row), count;
    struct mf_str pattern = mf_code_text(&row);
    struct tensor tensor = { tensor_name(run, pattern), 0, { 0 }, 0 };

    for (count = mf_code_byte(&row); tensor.rank < count;) {
        struct mf_arch_number number = mf_arch_take_number(run, &row);

        if (!number.known || number.value < 1)
            tensor.dim[4] = 1;
        tensor.dim[tensor.rank++] = (uint64_t)number.value;
    }
    optional |= (flags & MF_TENSOR_OPTIONAL) != 0;
    if (flags & MF_TENSOR_CONDITION)
        optional |= mf_arch_take_number(run, &row).value != 0;
    if ((optional && !full && !is_wanted(pattern)) || find_made(tensor.name))
        return;
    if (tensor.dim[4]) {
        if (!optional)
            give_up("a length is unknown or 0", pattern);
        return;
    }
    records[made.tensors] = (struct mf_record){
        .dim = tensors[made.tensors].dim,
        .rank = (uint8_t)tensor.rank,
        .type = MF_TYPE_F32,
    };
    tensors[made.tensors++] = tensor;
    assert(made.tensors < ROWS_MAX);
}

bool mf_arch_is_other(struct mf_arch_run *run)
{
    (void)run;
    return false;
}

void mf_arch_report_tensors(struct mf_arch_run *run)
{
    (void)run;
}

/* ---- the vocabulary: GPT-2's bytes, a few merges, an end ---- */

/* Byte pairs are written as characters: those that print as themselves, the
 * others from U+0100 on. */
static void put_byte(char *out, unsigned byte)
{
    unsigned code = byte, others = 0;

    for (unsigned i = 0; i < byte; i++)
        others += i < 33 || (i > 126 && i < 161) || i == 173;
    if (byte < 33 || (byte > 126 && byte < 161) || byte == 173)
        code = 256 + others;
    if (code < 128)
        snprintf(out, 3, "%c", (int)code);
    else
        snprintf(out, 3, "%c%c", (int)(192 | code >> 6),
                 (int)(128 | (code & 63)));
}

static void append_text(struct key *key, const char *text)
{
    struct key one = { .type = GGUF_STRING };

    key_text(&one, text);
    memcpy(key->bytes + key->size, one.bytes, one.size);
    key->size += one.size;
}

static void add_vocabulary(size_t count)
{
    static const char *const merges[] = { "h e", "l l", "he ll" };
    struct key *tokens, *list;
    char text[32];

    add_text("tokenizer.ggml.model", "gpt2");
    add_text("tokenizer.ggml.pre", "gpt-2");
    tokens = add_key("tokenizer.ggml.tokens", GGUF_ARRAY);
    tokens->element = GGUF_STRING;
    tokens->count = count;
    tokens->bytes = keep(NULL, count * 32);
    for (unsigned i = 0; i < count; i++) {
        snprintf(text, sizeof text, "<|unused_%u|>", i);
        if (i < 256)
            put_byte(text, i);
        else if (i < 259)
            snprintf(text, sizeof text, "%s",
                     i == 256   ? "he"
                     : i == 257 ? "ll"
                                : "hell");
        else if (i == count - 1)
            snprintf(text, sizeof text, "<|endoftext|>");
        append_text(tokens, text);
    }
    add_array("tokenizer.ggml.token_type", TYPE_I32, "1", count);
    for (size_t i = 259; i < count; i++)
        keys[made.keys - 1].bytes[4 * i] = 3;
    list = add_key("tokenizer.ggml.merges", GGUF_ARRAY);
    list->element = GGUF_STRING;
    list->count = 3;
    list->bytes = keep(NULL, 96);
    for (int i = 0; i < 3; i++)
        append_text(list, merges[i]);
    add_number("tokenizer.ggml.bos_token_id", TYPE_U32, (double)count - 1);
    add_number("tokenizer.ggml.eos_token_id", TYPE_U32, (double)count - 1);
    add_number("tokenizer.ggml.padding_token_id", TYPE_U32, (double)count - 2);
    add_number("tokenizer.ggml.add_bos_token", GGUF_BOOL, 0);
}

/* ---- the program ---- */

static const unsigned char empty[] = { 'G', 'G', 'U', 'F', 3, [23] = 0 };

/* Adds the tensors in a message, as in "has(NAME)"; false if all of them have
 * been added before. */
static bool want(const char *message)
{
    size_t before = wanted_count;

    while ((message = strstr(message, "has(")) != NULL) {
        struct mf_str name = { message + 4, strcspn(message + 4, ")") };

        if (!is_wanted(name) && wanted_count < 64)
            wanted[wanted_count++] =
                (struct mf_str){ text_of(name), name.size };
        message += name.size;
    }
    return wanted_count > before;
}

/* *again: a condition names tensors that could be added. */
static bool run_rows(struct mf_str arch, bool *again)
{
    struct mf_env *env = mf_env_new(NULL);
    struct mf_model *model;
    struct mf_finding finding;
    bool good = env &&
                mf_model_open_memory(env, "empty", empty, sizeof empty, NULL,
                                     &model) == MF_OK &&
                mf_arch_check(model, arch.at, true) == MF_OK;

    *again = false;
    if (!good)
        return false;
    for (size_t i = 0; mf_finding_at(model, i, &finding); i++)
        if (finding.severity == MF_ERROR) {
            good = false;
            *again |= want(finding.message);
            if (!*again)
                fprintf(stderr, "make_arch: %s\n", finding.message);
        }
    mf_model_close(model);
    mf_env_free(env);
    return good;
}

static bool has_rows(struct mf_str arch)
{
    const struct mf_rows_part *part = mf_arch_find(true, arch);

    return part && part->begin < part->end;
}

int main(int argc, char **argv)
{
    struct mf_str arch;
    size_t first;
    bool again;

    full = argc == 4 && !strcmp(argv[1], "--full");
    if (argc == 1) {
        for (size_t i = 0; mf_arch_name_at(i); i++)
            if (has_rows((struct mf_str){ mf_arch_name_at(i),
                                          strlen(mf_arch_name_at(i)) }))
                puts(mf_arch_name_at(i));
        return 0;
    }
    if (argc != 3 + full) {
        fputs("usage: make_arch [--full] ARCHITECTURE FILE\n", stderr);
        return 2;
    }
    arch = (struct mf_str){ argv[1 + full], strlen(argv[1 + full]) };
    if (!has_rows(arch))
        give_up("an architecture without rows", arch);
    add_text("general.architecture", arch.at);
    add_vocabulary(tokens_of(arch));
    first = made.keys;
    while (!run_rows(arch, &again)) {
        if (!again)
            return 1;
        made.keys = first;
        made.tensors = arrays_used = 0;
    }
    write_model(&made, argv[2 + full]);
    return 0;
}
