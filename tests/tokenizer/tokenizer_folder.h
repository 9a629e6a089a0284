/* SPDX-License-Identifier: MIT
 *
 * tokenizer_folder.h - a folder with tokenizer files, and the keys they become
 */
#ifndef TESTS_TOKENIZER_FOLDER_H
#define TESTS_TOKENIZER_FOLDER_H

#include "lib/draft/put.h"
#include "lib/folder/sidecar.h"
#include "lib/hf/tokenizer/tokenizer.h"
#include "lib/model/formats.h"
#include "tests/with_scratch.h"

static struct mf_draft draft;
static struct mf_model *model;
static struct mf_tokenizer_request request;

/* ---- a folder ---- */

/* One tensor, so that the folder is a model. */
static inline void write_file(const char *name, const char *text, size_t size)
{
    FILE *file = fopen(scratch_path(name), "wb");

    assert_non_null(file);
    assert_int_equal(fwrite(text, 1, size, file), size);
    assert_int_equal(fclose(file), 0);
}

static inline void write_text(const char *name, const char *text)
{
    write_file(name, text, strlen(text));
}

static inline void begin_folder(void)
{
    static const char header[] =
        "{\"w\":{\"dtype\":\"F32\",\"shape\":[1],\"data_offsets\":[0,4]}}";
    char bytes[128] = { (char)(sizeof(header) - 1) };

    empty_scratch();
    memcpy(bytes + 8, header, sizeof(header) - 1);
    write_file("model.safetensors", bytes, 8 + sizeof(header) - 1 + 4);
}

static inline void open_folder(uint64_t vocab_size)
{
    struct mf_node *config;

    if (mf_model_open(env, scratch_path("model.safetensors"), NULL, &model) !=
        MF_OK)
        fail_msg("%s", mf_env_error(env)->message);
    mf_draft_init(&draft, env, mf_format_to_write("gguf"));
    assert_int_equal(mf_sidecar_tree(model, &draft.arena, "config.json",
                                     MF_SIDECAR_LIMIT, &config),
                     MF_OK);
    request = (struct mf_tokenizer_request){ .env = env,
                                             .model = model,
                                             .arena = &draft.arena,
                                             .config = config,
                                             .file = config,
                                             .arch = "llama",
                                             .vocab_size = vocab_size };
}

static inline void close_folder(void)
{
    mf_draft_release(&draft);
    mf_model_close(model);
    mf_clear_error(env);
}

/* ---- a draft as text ---- */

static char got[1 << 20];
static size_t got_size;
static bool in_text, is_first;

static inline void add(const char *text)
{
    size_t size = strlen(text);

    assert_true(size < sizeof(got) - got_size);
    memcpy(got + got_size, text, size + 1);
    got_size += size;
}

static inline void add_bytes(struct mf_str text)
{
    char piece[8];

    for (size_t i = 0; i < text.size; i++) {
        unsigned char c = (unsigned char)text.at[i];
        bool plain = c >= 0x20 && c < 0x7f && c != '"' && c != '\\';

        snprintf(piece, sizeof(piece), plain ? "%c" : "\\x%02x", c);
        add(piece);
    }
}

static inline enum mf_status add_event(void *user, const struct mf_value *value)
{
    char number[32];

    (void)user;
    if (value->event != MF_EVENT_ITEM) {
        add(value->event == MF_EVENT_BEGIN ? "[" : "]");
        is_first = value->event == MF_EVENT_BEGIN;
        return MF_OK;
    }
    if (!in_text && !is_first)
        add(",");
    is_first = false;
    in_text = value->type == MF_VALUE_STRING && value->more;
    snprintf(number, sizeof(number), "%" PRIi64, value->number.i64);
    if (value->type == MF_VALUE_STRING)
        add_bytes(value->text);
    else
        add(number);
    return MF_OK;
}

static inline void add_entry(const struct mf_entry *entry)
{
    char number[32];

    add("> ");
    add(entry->key.at);
    add("\t");
    snprintf(number, sizeof(number), "%" PRIu64,
             entry->type == MF_VALUE_BOOL ? (uint64_t)entry->number.boolean
                                          : entry->number.u64);
    if (entry->type == MF_VALUE_STRING)
        add_bytes(entry->text);
    else if (entry->type == MF_VALUE_BOOL)
        add(entry->number.boolean ? "true" : "false");
    else if (entry->type == MF_VALUE_U32)
        add(number);
    else if (mf_entry_read(env, entry, add_event, NULL) != MF_OK)
        fail_msg("%s: %s", entry->key.at, mf_env_error(env)->message);
    add("\n");
}

static inline void print_draft(void)
{
    got_size = 0;
    got[0] = 0;
    in_text = false;
    for (size_t i = 0; i < draft.entry_count; i++)
        add_entry(&draft.entry[i]);
}

/* Runs a row 'vocab' over the folder; got is what it adds. */
static inline enum mf_status put_row(const char *words, uint64_t vocab_size)
{
    const struct mf_str arch = { "llama", 5 };

    open_folder(vocab_size);
    assert_int_equal(mf_set_text(&draft, "general.architecture", arch), MF_OK);
    if (mf_tokenizer_put(&draft, &request,
                         (struct mf_str){ words, strlen(words) }) != MF_OK)
        return mf_env_error(env)->status;
    mf_draft_remove(&draft, &draft.entry[0]);
    print_draft();
    return MF_OK;
}

#endif
