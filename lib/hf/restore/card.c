/* SPDX-License-Identifier: MIT
 *
 * card.c - who made the model: README.md and generation_config.json
 *
 * The values are written as JSON, which is YAML as well.
 */
#include <stdio.h>

#include "lib/base/str.h"
#include "lib/hf/restore/restore.h"

struct card {
    const struct mf_restore *restore;
    struct mf_sink *sink;
    struct mf_json_out json;
};

static enum mf_status failed(const struct mf_restore *restore)
{
    return restore->env->error.status;
}

static void put(struct card *card, const char *text)
{
    mf_put(card->sink, text, strlen(text));
}

/* "name: value" after `head`, if the file has the key; whether it has. */
static bool put_key(struct card *card, const char *key, const char *head,
                    const char *name)
{
    const struct mf_draft *facts = &card->restore->facts;
    const struct mf_entry *entry = mf_draft_find(facts, key);

    if (!entry)
        return false;
    put(card, head);
    put(card, name);
    put(card, ": ");
    card->json.comma = false;
    mf_entry_json(facts, entry, &card->json, NULL);
    return true;
}

/* ---- README.md ---- */

/* Models that this one was made of, or what it was trained on. */
static void put_origins(struct card *card, const char *what, const char *name)
{
    static const char *const members[] = {
        "name", "author", "version", "organization", "description",
        "url",  "doi",    "uuid",    "repo_url"
    };
    const size_t count = sizeof(members) / sizeof(*members);
    const struct mf_entry *entry;
    char key[96];

    snprintf(key, sizeof(key), "general.%s.count", what);
    entry = mf_draft_find(&card->restore->facts, key);
    if (!entry || entry->type != MF_VALUE_U32)
        return;
    put(card, name);
    put(card, entry->number.u64 > 0 ? ":\n" : ": []\n");
    for (uint64_t i = 0; i < entry->number.u64; i++) {
        bool first = true;

        for (size_t m = 0; m < count; m++) {
            snprintf(key, sizeof(key), "general.%s.%" PRIu64 ".%s", what, i,
                     members[m]);
            if (!put_key(card, key, first ? "- " : "  ", members[m]))
                continue;
            put(card, "\n");
            first = false;
        }
        if (first)
            return; /* there are fewer than the file says */
    }
}

static void put_front(struct card *card)
{
    static const struct {
        const char *key, *name;
    } rows[] = {
#define SAMPLING(ID, key, type, word, other)
#define TEXT(ID, key, set, word, other, third) { "general." key, word },
#include "lib/hf/card/card.def"
#undef TEXT
#undef SAMPLING
        { "general.tags", "tags" },
        { "general.languages", "language" },
    };

    put(card, "---\nlibrary_name: transformers\n");
    for (size_t i = 0; i < sizeof(rows) / sizeof(*rows); i++)
        if (rows[i].name && put_key(card, rows[i].key, "", rows[i].name))
            put(card, "\n");
    put_origins(card, "base_model", "base_model");
    put_origins(card, "dataset", "datasets");
    put(card, "---\n");
}

static enum mf_status put_readme(const struct mf_restore *restore,
                                 struct mf_stage *stage)
{
    struct mf_stage_file file;
    enum mf_status status = mf_stage_open(stage, "README.md", &file);

    if (status == MF_OK) {
        struct card card = { .restore = restore,
                             .sink = &file.sink,
                             .json = mf_draft_json(&file.sink) };

        put_front(&card);
    }
    return mf_stage_close(&file, status);
}

/* ---- generation_config.json ---- */

static void put_sampling(struct card *card)
{
    static const struct {
        const char *key, *word, *other; /* which counts, or NULL */
    } rows[] = {
        { "tokenizer.ggml.bos_token_id", "bos_token_id", NULL },
        { "tokenizer.ggml.eos_token_id", "eos_token_id", NULL },
        { "tokenizer.ggml.padding_token_id", "pad_token_id", NULL },
#define SAMPLING(ID, key, type, word, other)                                   \
    { "general.sampling." key, word, other },
#define TEXT(ID, key, set, word, other, third)
#include "lib/hf/card/card.def"
#undef TEXT
#undef SAMPLING
    };
    size_t count = 0;
    bool sampled = false;

    put(card, "{");
    for (size_t i = 0; i < sizeof(rows) / sizeof(*rows); i++) {
        char name[64];

        snprintf(name, sizeof(name), "\"%s\"",
                 rows[i].other ? rows[i].other : rows[i].word);
        if (!put_key(card, rows[i].key, count > 0 ? ",\n  " : "\n  ", name))
            continue;
        count++;
        sampled =
            sampled ||
            mf_str_begins((struct mf_str){ rows[i].key, strlen(rows[i].key) },
                          "general.");
    }
    if (sampled)
        put(card, ",\n  \"do_sample\": true");
    put(card, "\n}\n");
}

static enum mf_status put_generation(const struct mf_restore *restore,
                                     struct mf_stage *stage)
{
    struct mf_stage_file file;
    enum mf_status status =
        mf_stage_open(stage, "generation_config.json", &file);

    if (status == MF_OK) {
        struct card card = { .restore = restore,
                             .sink = &file.sink,
                             .json = mf_draft_json(&file.sink) };

        put_sampling(&card);
    }
    return mf_stage_close(&file, status);
}

enum mf_status mf_restore_put_card(const struct mf_restore *restore,
                                   struct mf_stage *stage)
{
    return put_readme(restore, stage) == MF_OK ? put_generation(restore, stage)
                                               : failed(restore);
}
