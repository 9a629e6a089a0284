/* SPDX-License-Identifier: MIT
 *
 * same_facts.h - a folder of Hugging Face has the facts of the file made of it
 */
#ifndef TESTS_SAME_FACTS_H
#define TESTS_SAME_FACTS_H

#include <inttypes.h>

#include "tests/with_scratch.h"

/* ---- a folder of Hugging Face is planned as the file made of it ---- */

/* Numbers that differ, as a text; "" if none does. */
struct plan_differences {
    char text[400];
};

static inline void compare_number(struct plan_differences *out,
                                  const char *what, uint64_t a, uint64_t b)
{
    size_t at = strlen(out->text);

    if (a != b)
        snprintf(out->text + at, sizeof(out->text) - at,
                 " %s %" PRIu64 " and %" PRIu64, what, a, b);
}

static inline void compare_plans(const struct mf_plan *a,
                                 const struct mf_plan *b,
                                 struct plan_differences *out)
{
    compare_number(out, "context", a->model_context, b->model_context);
    compare_number(out, "caches", a->cache_count, b->cache_count);
    for (size_t i = 0; i < a->cache_count && i < b->cache_count; i++) {
        compare_number(out, "cells", a->cache[i].cells, b->cache[i].cells);
        compare_number(out, "layers", a->cache[i].layers, b->cache[i].layers);
        compare_number(out, "keys", a->cache[i].k_bytes, b->cache[i].k_bytes);
        compare_number(out, "values", a->cache[i].v_bytes, b->cache[i].v_bytes);
    }
    compare_number(out, "R", a->state_conv, b->state_conv);
    compare_number(out, "S", a->state_ssm, b->state_ssm);
    for (int i = 0; i < MF_PLAN_LINE_COUNT; i++)
        compare_number(out, mf_plan_line_name((enum mf_plan_line)i), a->line[i],
                       b->line[i]);
    compare_number(out, "estimated", a->estimated, b->estimated);
    compare_number(out, "unknown", a->unknown, b->unknown);
    for (size_t i = 0; i < a->device_count && i < b->device_count; i++)
        compare_number(out, a->device[i].name, a->device[i].total,
                       b->device[i].total);
}

/* Where there are more or fewer tokens than embeddings, nothing loads the file,
 * and only the folder's plan is of any use. */
static inline bool has_right_vocabulary(const struct mf_model *model)
{
    static const char tokens[] = "tokenizer.ggml.tokens",
                      rows[] = "token_embd.weight";
    struct mf_tensor tensor;
    struct mf_meta meta;

    return !mf_meta_find(model, tokens, strlen(tokens), &meta, NULL) ||
           !mf_tensor_find(model, rows, strlen(rows), &tensor, NULL) ||
           tensor.dim[1] == meta.count;
}

static inline struct plan_differences plans_differ(const char *a, const char *b)
{
    const struct mf_plan_options options[] = {
        { .size = sizeof(*options) },
        { .size = sizeof(*options), .context = 2048, .sequences = 2 },
        { .size = sizeof(*options),
          .context = 4096,
          .flash = MF_FLASH_OFF,
          .offloaded = true,
          .offload = 2 },
    };
    struct mf_model *model[] = { open_model(a), open_model(b) };
    struct plan_differences out = { "" };

    for (size_t i = 0; has_right_vocabulary(model[1]) && i < COUNT(options);
         i++) {
        struct mf_plan plan[2];

        for (size_t m = 0; m < 2; m++)
            assert_int_equal(mf_plan(model[m], &options[i], &plan[m]), MF_OK);
        compare_plans(&plan[0], &plan[1], &out);
    }
    mf_model_close(model[0]);
    mf_model_close(model[1]);
    return out;
}

/* The array as a text, or the number or text that it is in its place. */
struct fact_text {
    char at[1200];
};

static inline struct fact_text text_of_fact(struct mf_model *model,
                                            enum mf_fact fact)
{
    struct fact_text out = { "" };
    struct mf_values *values;
    struct mf_value value;
    struct mf_meta meta;
    size_t at, size = 0;

    if (!mf_model_fact(model, fact, &meta, &at))
        return out;
    if (meta.type == MF_VALUE_ARRAY && fact == MF_FACT_VOCAB_SIZE) {
        snprintf(out.at, sizeof(out.at), "%" PRIu64, meta.count);
    } else if (meta.type == MF_VALUE_STRING) {
        snprintf(out.at, sizeof(out.at), "%.*s", (int)meta.text.size,
                 meta.text.at);
    } else if (meta.type != MF_VALUE_ARRAY) {
        snprintf(out.at, sizeof(out.at), "%" PRIu64, meta.number.u64);
    } else {
        assert_int_equal(mf_values_open(model, at, &values), MF_OK);
        while (mf_values_next(values, &value) == MF_OK &&
               value.event != MF_EVENT_DONE)
            if (value.event == MF_EVENT_ITEM && size < sizeof(out.at))
                size += (size_t)snprintf(out.at + size, sizeof(out.at) - size,
                                         "%" PRIu64 " ", value.number.u64);
        mf_values_close(values);
    }
    return out;
}

/* What differs; "" if nothing does.  Names and the type of the file are not
 * among the facts of a folder.  *counted: how many facts both have; *unknown:
 * the folder does not give the size of its vocabulary. */
static inline struct plan_differences facts_differ(const char *folder,
                                                   const char *gguf,
                                                   size_t *counted,
                                                   bool *unknown)
{
    struct mf_model *model = open_model(folder), *file = open_model(gguf);
    struct mf_model *outline = NULL;
    struct plan_differences out = { "" };

    if (mf_model_outline(model, MF_OUTLINE_FACTS, &outline) != MF_OK)
        snprintf(out.text, sizeof(out.text), " %s", mf_env_error(env)->message);
    for (int i = 0; outline && i < MF_FACT_COUNT; i++) {
        struct fact_text ours = text_of_fact(outline, (enum mf_fact)i);
        struct fact_text known = text_of_fact(file, (enum mf_fact)i);
        size_t size = strlen(out.text);

        if (i == MF_FACT_NAME || i == MF_FACT_LICENSE ||
            i == MF_FACT_FILE_TYPE ||
            (i == MF_FACT_VOCAB_SIZE && !has_right_vocabulary(file)))
            continue;
        if (i == MF_FACT_VOCAB_SIZE && *known.at && !*ours.at) {
            *unknown = true;
            continue;
        }
        *counted += *known.at != 0;
        if (strcmp(ours.at, known.at) != 0)
            snprintf(out.text + size, sizeof(out.text) - size,
                     " %s '%s' and '%s'", mf_fact_name((enum mf_fact)i),
                     ours.at, known.at);
    }
    mf_model_close(outline);
    mf_model_close(model);
    mf_model_close(file);
    return out;
}

/* What the loader of its architecture has against a model, from the i-th
 * finding on; for a folder the findings of the file that it becomes. */
static inline bool next_verdict(const struct mf_model *model, bool is_folder,
                                size_t *i, struct mf_finding *out)
{
    static const char as[] = "as GGUF: ";

    for (; mf_finding_at(model, *i, out); ++*i) {
        bool of_file = strncmp(out->message, as, strlen(as)) == 0;

        if (strncmp(out->rule, "MODEL-", 6) != 0 || of_file != is_folder)
            continue;
        out->message += of_file ? strlen(as) : 0;
        ++*i;
        return true;
    }
    return false;
}

/* Likewise; *counted: how many findings both have. */
static inline struct plan_differences
verdicts_differ(const char *folder, const char *gguf, size_t *counted)
{
    struct mf_validate_options how = { .size = sizeof(how) };
    struct mf_model *model = open_model(folder), *file = open_model(gguf);
    struct mf_finding ours, known;
    struct plan_differences out = { "" };
    size_t a = 0, b = 0;
    bool any;

    assert_int_equal(mf_model_outline(model, MF_OUTLINE_HEADER, &how.outline),
                     MF_OK);
    assert_int_equal(mf_model_validate_with(model, &how), MF_OK);
    assert_int_equal(mf_model_validate(file), MF_OK);
    any = has_right_vocabulary(file);
    while (any) {
        size_t size = strlen(out.text);

        any = next_verdict(file, false, &a, &known);
        if (any != next_verdict(model, true, &b, &ours) ||
            (any && (strcmp(known.rule, ours.rule) != 0 ||
                     strcmp(known.message, ours.message) != 0)))
            snprintf(out.text + size, sizeof(out.text) - size,
                     " one of '%s' and '%s'", any ? known.message : "",
                     b > 0 ? ours.message : "");
        *counted += any;
    }
    mf_model_close(how.outline);
    mf_model_close(model);
    mf_model_close(file);
    return out;
}

#endif
