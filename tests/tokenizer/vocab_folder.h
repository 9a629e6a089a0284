/* SPDX-License-Identifier: MIT
 *
 * vocab_folder.h - a folder with tokenizer files, and the keys that become of
 * them, as text
 */
#ifndef TESTS_VOCAB_FOLDER_H
#define TESTS_VOCAB_FOLDER_H

#include "lib/draft/draft.h"
#include "lib/draft/put.h"
#include "lib/folder/sidecar.h"
#include "lib/hf/tokenizer/spm.h"
#include "lib/json/tree.h"
#include "lib/model/formats.h"
#include "tests/with_scratch.h"

/* ---- a folder, and what is made of it ---- */

static struct mf_model *model;
static struct mf_draft draft;
static struct mf_tokenizer_request request;
static bool names_arch; /* the first key of the draft does */
static bool missing;

static inline void put_file(const char *name, const char *text)
{
    save(scratch_path(name), text, strlen(text));
}

static inline void begin_folder(const char *config)
{
    empty_scratch();
    put_file("config.json", config);
    safetensors_save("{\"a\":{\"dtype\":\"F32\",\"shape\":[1],"
                     "\"data_offsets\":[0,4]}}",
                     4, scratch_path("model.safetensors"));
}

static inline enum mf_status run(mf_tokenizer_procedure *procedure,
                                 const char *arch)
{
    struct mf_node *config;
    const struct mf_node *size;
    enum mf_status status;

    mf_clear_error(env);
    model = open_model(scratch_path("model.safetensors"));
    mf_draft_init(&draft, env, mf_format_to_write("gguf"));
    assert_int_equal(mf_sidecar_tree(model, &draft.arena, "config.json",
                                     MF_SIDECAR_LIMIT, &config),
                     MF_OK);
    size = mf_node_at(config, "vocab_size");
    request = (struct mf_tokenizer_request){ .env = env,
                                             .model = model,
                                             .arena = &draft.arena,
                                             .config = config,
                                             .file = config,
                                             .arch = arch,
                                             .vocab_size =
                                                 size ? size->number.u64 : 0 };
    missing = false;
    if (names_arch)
        assert_int_equal(mf_set_text(&draft, "general.architecture",
                                     (struct mf_str){ arch, strlen(arch) }),
                         MF_OK);
    status = procedure(&draft, &request, NULL, &missing);
    /* Later streams have a copy. */
    memset(&request, 0xa5, sizeof(request));
    return status;
}

static inline void finish(void)
{
    mf_draft_release(&draft);
    mf_model_close(model);
}

/* ---- the draft as text ---- */

static char shown[1 << 16];
static size_t shown_size;
static unsigned shown_begins, shown_ends; /* of arrays */

static inline void show(const char *text, size_t size)
{
    assert_true(size < sizeof(shown) - shown_size);
    memcpy(shown + shown_size, text, size);
    shown_size += size;
    shown[shown_size] = 0;
}

static inline enum mf_status show_event(void *user,
                                        const struct mf_value *value)
{
    uint64_t *items = user;
    char number[40];

    shown_begins += value->event == MF_EVENT_BEGIN;
    shown_ends += value->event == MF_EVENT_END;
    if (value->event != MF_EVENT_ITEM)
        return MF_OK;
    if (value->type == MF_VALUE_STRING)
        show(value->text.at, value->text.size);
    else if (value->type == MF_VALUE_F32)
        show(number,
             (size_t)snprintf(number, sizeof(number), "%g", value->number.f64));
    else
        show(number, (size_t)snprintf(number, sizeof(number), "%" PRId64,
                                      value->type == MF_VALUE_BOOL
                                          ? (int64_t)value->number.boolean
                                          : value->number.i64));
    if (!value->more) {
        show("|", 1);
        ++*items;
    }
    return MF_OK;
}

/* "key type: value|value|" for each key, without the common part of the keys;
 * elements are counted, too. */
static inline void show_draft(void)
{
    const size_t head = strlen("tokenizer.ggml.");
    uint64_t items;

    shown_size = 0;
    for (size_t i = 0; i < draft.entry_count; i++) {
        const struct mf_entry *entry = &draft.entry[i];
        bool array = entry->type == MF_VALUE_ARRAY;

        items = 0;
        shown_begins = shown_ends = 0;
        show(entry->key.at + head, entry->key.size - head);
        show(": ", 2);
        assert_int_equal(mf_entry_read(env, entry, show_event, &items), MF_OK);
        assert_int_equal(items, array ? entry->count : 1);
        assert_int_equal(shown_begins, array);
        assert_int_equal(shown_ends, array);
        show("\n", 1);
    }
}

/* The folder's model and the draft are closed before a test fails. */
static inline void assert_shown(mf_tokenizer_procedure *procedure,
                                const char *arch, const char *expected)
{
    char reason[320];
    enum mf_status status = run(procedure, arch);

    snprintf(reason, sizeof(reason), "%s", mf_env_error(env)->message);
    if (status == MF_OK)
        show_draft();
    finish();
    if (status != MF_OK)
        fail_msg("%s", reason);
    assert_false(missing);
    assert_string_equal(shown, expected);
}

static inline void assert_refused(mf_tokenizer_procedure *procedure,
                                  const char *words)
{
    char reason[320];
    enum mf_status status = run(procedure, "llama");

    snprintf(reason, sizeof(reason), "%s", mf_env_error(env)->message);
    finish();
    if (status == MF_OK || !strstr(reason, words))
        fail_msg("'%s' is not in '%s'", words, reason);
}

#endif
