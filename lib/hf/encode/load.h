/* SPDX-License-Identifier: MIT
 *
 * load.h - what is kept of a tokenizer, between the files of this room
 */
#ifndef MF_LIB_LOAD_H
#define MF_LIB_LOAD_H

#include "lib/hf/encode/encode.h"
#include "lib/hf/encode/fast.h"
#include "lib/hf/encode/pieces.h"

enum mf_model_kind {
    MF_MODEL_NONE,
    MF_MODEL_BPE,
    MF_MODEL_WORDPIECE,
    MF_MODEL_WORDS
};

struct mf_model_part { /* "model" of tokenizer.json */
    enum mf_model_kind kind;
    uint64_t merges_offset;            /* 0: missing */
    struct mf_str unk, prefix, suffix; /* at NULL: missing, or null */
    bool fuse_unk, byte_fallback, ignore_merges;
    uint64_t max_chars;
};

enum mf_tristate { MF_UNSET, MF_NULL, MF_FALSE, MF_TRUE };

struct mf_class_config { /* of tokenizer_config.json */
    enum mf_tristate add_bos, add_eos, prefix_space, lower, accents, chinese;
    enum mf_tristate fix_regex, split_special;
};

struct mf_encoder {
    struct mf_env *env;
    struct mf_fast *fast;
    struct mf_arena *arena;
    struct mf_node *normalizer, *pre_tokenizer; /* copies that may be changed */
    const struct mf_node *post_processor;
    struct mf_model_part part;
    struct mf_class_config config;
    struct mf_steps normalize, split;
};

/* Reads the settings of tokenizer_config.json, and does what its class does
 * (class.c). */
enum mf_status mf_class_load(struct mf_encoder *tokenizer);

/* Cuts pieces at added tokens: those that are found before normalizing, or
 * those that are found after, whose pieces are normalized here (cut.c). */
enum mf_status mf_encoder_cut_added(struct mf_encoder *tokenizer,
                                    struct mf_pieces *pieces, bool cooked);

#endif
