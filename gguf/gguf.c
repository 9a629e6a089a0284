/* SPDX-License-Identifier: MIT
 *
 * gguf.c - GGUF's row in the table of formats: detection, types, facts
 */
#include "gguf/gguf.h"

/* Big-endian files exist since version 3 and have the same magic.  Only the
 * version gives them away: read as little-endian, its low 16 bits are 0. */
static bool probe(const struct mf_head *head, struct mf_detection *out)
{
    uint32_t version;

    if (head->size < 4 || memcmp(head->at, "GGUF", 4) != 0)
        return false;
    if (head->size < 8)
        return true; /* too short: parsing reports where it ends */
    version = mf_little_32(head->at + 4);
    if (version != 0 && (version & 0xffff) == 0) {
        version = __builtin_bswap32(version);
        out->byte_order = MF_BIG_ENDIAN;
    }
    out->version = version;
    if (version < 1 || version > 3) {
        out->supported = false;
        out->note = "versions 1 to 3 are";
    }
    return true;
}

/* ---- types ---- */

enum mf_type mf_gguf_type_of(uint32_t id)
{
    static const uint8_t types[] = {
#define TYPE(id, NAME) [id] = MF_TYPE_##NAME + 1,
#include "gguf/types.def"
#undef TYPE
    };

    return id < sizeof(types) && types[id] ? (enum mf_type)(types[id] - 1)
                                           : MF_TYPE_UNKNOWN;
}

static uint32_t type_id(enum mf_type type)
{
    switch (type) {
#define TYPE(id, NAME)                                                         \
    case MF_TYPE_##NAME:                                                       \
        return id;
#include "gguf/types.def"
#undef TYPE
    default:
        return MF_NO_TYPE_ID;
    }
}

const char *mf_gguf_fork_type(uint32_t id, bool *removed)
{
    static const struct {
        uint32_t id;
        bool removed;
        const char *name;
    } rows[] = {
#define REMOVED(id, name) { id, true, name },
#define FORK(id, name)    { id, false, name },
#include "gguf/fork_types.def"
#undef FORK
#undef REMOVED
    };

    for (size_t i = 0; i < sizeof(rows) / sizeof(*rows); i++)
        if (rows[i].id == id) {
            *removed = rows[i].removed;
            return rows[i].name;
        }
    return NULL;
}

static const char *type_name(uint32_t id)
{
    bool removed;

    return mf_gguf_fork_type(id, &removed);
}

enum mf_type mf_gguf_file_type_of(uint64_t file_type)
{
    switch (file_type) { /* a guessed one is not reliable: no type */
#define FILE_TYPE(id, name, TYPE)                                              \
    case id:                                                                   \
        return MF_TYPE_##TYPE;
#include "gguf/file_types.def"
#undef FILE_TYPE
    default:
        return MF_TYPE_UNKNOWN;
    }
}

const char *mf_gguf_file_type_name(uint64_t file_type)
{
    /* A flag of llama.cpp: the converter guessed the type. */
    const uint64_t guessed = 1024;

    switch (file_type & ~guessed) {
#define FILE_TYPE(id, name, TYPE)                                              \
    case id:                                                                   \
        return name;
#include "gguf/file_types.def"
#undef FILE_TYPE
    default:
        return NULL;
    }
}

/* ---- the row of formats.def ---- */

static const struct mf_fact_row facts[] = {
    { MF_FACT_ARCHITECTURE, "general.architecture" },
    { MF_FACT_NAME, "general.name" },
    { MF_FACT_LICENSE, "general.license" },
    { MF_FACT_FILE_TYPE, "general.file_type" },
    { MF_FACT_CONTEXT_LENGTH, "*.context_length" },
    { MF_FACT_EMBEDDING_LENGTH, "*.embedding_length" },
    { MF_FACT_BLOCK_COUNT, "*.block_count" },
    { MF_FACT_HEAD_COUNT, "*.attention.head_count" },
    { MF_FACT_HEAD_COUNT_KV, "*.attention.head_count_kv" },
    { MF_FACT_VOCAB_SIZE, "tokenizer.ggml.tokens" },
    { MF_FACT_VOCAB_SIZE, "*.vocab_size" },
    { MF_FACT_FEED_FORWARD_LENGTH, "*.feed_forward_length" },
    { MF_FACT_KEY_LENGTH, "*.attention.key_length" },
    { MF_FACT_VALUE_LENGTH, "*.attention.value_length" },
    { MF_FACT_EXPERT_COUNT, "*.expert_count" },
    { MF_FACT_EXPERT_USED_COUNT, "*.expert_used_count" },
    { MF_FACT_SLIDING_WINDOW, "*.attention.sliding_window" },
    { MF_FACT_SLIDING_WINDOW_PATTERN, "*.attention.sliding_window_pattern" },
    { MF_FACT_STATE_SIZE, "*.ssm.state_size" },
    { MF_FACT_STATE_SIZE, "*.wkv.head_size" },
    { MF_DETAIL_EXPERT_LENGTH, "*.expert_feed_forward_length" },
    { 0, NULL },
};

/* A bool may be any byte, but only one of two values. */
static bool value_is_plain(const struct mf_detection *kind,
                           const struct mf_meta *array)
{
    return kind->version >= 2 && kind->byte_order == MF_LITTLE_ENDIAN &&
           array->type == MF_VALUE_ARRAY && array->of != MF_VALUE_BOOL &&
           array->of != MF_VALUE_ARRAY;
}

const struct mf_format mf_format_gguf = {
    .name = "gguf",
    .variant = "",
    .suffix = ".gguf",
    .description = "GGUF of llama.cpp and ggml, versions 1 to 3",
    .layout = MF_LAYOUT_PADDED,
    .naming = MF_NAMING_GGUF,
    .sharding = MF_SHARDING_NUMBERED,
    .fastest_first = true,
    .rules = "GGUF-",
    .readers = MF_READER_LLAMA,
    .probe = probe,
    .parse = mf_gguf_parse,
    .validate = mf_gguf_validate,
    .revisit = mf_gguf_revisit,
    .value_next = mf_gguf_value_next,
    .value_is_plain = value_is_plain,
    .open_stored = mf_swapped_open,
    .type_name = type_name,
    .type_id = type_id,
    .file_type_name = mf_gguf_file_type_name,
    .written = true,
    .facts = facts,
    .tokenizer = "tokenizer.ggml.",
};
