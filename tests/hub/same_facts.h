/* SPDX-License-Identifier: MIT
 *
 * same_facts.h - a folder of Hugging Face has the facts of the file made of it
 */
#ifndef TESTS_SAME_FACTS_H
#define TESTS_SAME_FACTS_H

#include "tests/hub/same_plans.h"

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

#endif
