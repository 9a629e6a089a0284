/* SPDX-License-Identifier: MIT
 *
 * tokenizer.c - which files a tokenizer of GGUF becomes
 */
#include "lib/hf/restore/tokenizer.h"

#include "lib/base/str.h"

typedef enum mf_status put_file(struct mf_tokenizer_facts *facts,
                                struct mf_sink *sink);

static enum mf_status write_file(struct mf_stage *stage,
                                 struct mf_tokenizer_facts *facts,
                                 const char *name, put_file *put)
{
    struct mf_stage_file file;
    enum mf_status status = mf_stage_open(stage, name, &file);

    if (status == MF_OK)
        status = put(facts, &file.sink);
    return mf_stage_close(&file, status);
}

static enum mf_status write_files(struct mf_stage *stage,
                                  struct mf_tokenizer_facts *facts)
{
    const struct {
        const char *name;
        bool made;
        put_file *put;
    } files[] = {
        { "tokenizer.json", facts->way != MF_WAY_PIECES,
          mf_tokenizer_write_json },
        { "vocab.txt", facts->way == MF_WAY_WORDS, mf_tokenizer_write_lines },
        { facts->shifted                 ? "sentencepiece.bpe.model"
          : mf_str_is(facts->kind, "t5") ? "spiece.model"
                                         : "tokenizer.model",
          facts->way == MF_WAY_PIECES, mf_tokenizer_write_spm },
        { "added_tokens.json", facts->way == MF_WAY_PIECES && facts->listed > 0,
          mf_tokenizer_write_added },
        { "tokenizer_config.json", true, mf_tokenizer_write_config },
    };

    for (size_t i = 0; i < sizeof(files) / sizeof(*files); i++)
        if (files[i].made &&
            write_file(stage, facts, files[i].name, files[i].put) != MF_OK)
            return facts->env->error.status;
    return MF_OK;
}

enum mf_status mf_restore_tokenizer(struct mf_stage *stage,
                                    struct mf_model *model)
{
    struct mf_tokenizer_facts facts;
    struct mf_arena arena;
    enum mf_status status;

    mf_arena_init(&arena, model->env);
    status = mf_tokenizer_facts_read(&facts, model, &arena);
    if (status == MF_OK && facts.kind.at)
        status = write_files(stage, &facts);
    mf_arena_release(&arena);
    return status;
}
