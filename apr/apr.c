/* SPDX-License-Identifier: MIT
 *
 * apr.c - APR's rows in the list of formats, and detection of look-alikes
 *
 * Several projects start layouts of their own with the letters APR.  A valid
 * checksum proves a version 2 header.  Without one the file may be a look-alike
 * or a damaged version 2: look-alikes are recognized by their first fields, and
 * anything else is parsed as version 2, so that the error names the checksum.
 */
#include "apr/apr.h"

static uint64_t little(const uint8_t *at, size_t size)
{
    uint64_t value = 0;

    while (size-- > 0)
        value = value << 8 | at[size];
    return value;
}

struct apr_header mf_apr_header_of(const uint8_t *at)
{
    struct apr_header header = {
        .major = at[4],
        .minor = at[5],
        .flags = (uint16_t)little(at + 6, 2),
        .tensor_count = (uint32_t)little(at + 8, 4),
        .metadata = { little(at + 12, 8), little(at + 20, 4) },
        .index_offset = little(at + 24, 8),
        .data_offset = little(at + 32, 8),
        .checksum = (uint32_t)little(at + 40, 4),
    };

    for (size_t i = 44; i < APR_HEADER; i++)
        header.reserved = header.reserved || at[i] != 0;
    return header;
}

uint32_t mf_apr_header_crc(const uint8_t *at)
{
    return mf_crc32(mf_crc32(0, at, 40), at + 44, APR_HEADER - 44);
}

/* ---- look-alikes ---- */

static void set_look_alike(struct mf_detection *out, const char *format,
                           const char *note)
{
    out->format = format;
    out->note = note;
    out->supported = false;
}

/* The wrapped JSON container: an algorithm, a length, and from byte 9 on either
 * the container, an LZ4 block after its size, or a zstd frame. */
static bool is_wrapper(const struct mf_head *head)
{
    const uint8_t *at = head->at;

    if (head->size < 13)
        return false;
    return (at[4] == 0 && memcmp(at + 9, "APR1", 4) == 0) ||
           (at[4] == 1 && memcmp(at + 5, at + 9, 4) == 0) ||
           (at[4] == 2 && memcmp(at + 9, "\x28\xb5\x2f\xfd", 4) == 0);
}

static void probe_v2(const struct mf_head *head, struct mf_detection *out)
{
    if (head->size < 8)
        return; /* too short: parsing reports where it ends */
    if (head->size >= APR_HEADER &&
        mf_apr_header_crc(head->at) == little(head->at + 40, 4)) {
        out->version = head->at[4];
        out->version_minor = head->at[5];
    } else if (little(head->at + 4, 4) == 1) {
        set_look_alike(out, "presentar",
                       "presentar's own layout under APR's magic");
    } else if (is_wrapper(head)) {
        set_look_alike(out, "apr1-wrapper",
                       "the JSON container from before APR version 2, in its "
                       "wrapper; convert it with an aprender of that time");
    } else {
        out->version = head->at[4];
        out->version_minor = head->at[5];
    }
}

static void probe_apr1(const struct mf_head *head, struct mf_detection *out)
{
    if (head->size > 8 && head->at[8] == '{')
        set_look_alike(
            out, "apr1-json",
            "the JSON container from before APR version 2; convert it "
            "with an aprender of that time");
    else if (head->size > 8 && little(head->at + 4, 2) == 1 && head->at[8] <= 1)
        set_look_alike(out, "whisper-apr", "whisper.apr's own layout");
    else
        set_look_alike(out, "apr1", "APR1 in an unknown layout");
}

static bool probe(const struct mf_head *head, struct mf_detection *out)
{
    static const struct {
        char magic[4];
        const char *format, *note;
    } others[] = {
        { { 'A', 'P', 'R', '2' }, "apr2", "'APR2', announced but never used" },
        { { 'A', 'P', 'R', 'T' },
          "entrenar-trace",
          "an inference trace of entrenar, not a model" },
        { { 'A', 'P', 'N', 'R' }, "jugar-apr", "jugar's own format" },
        { { 'A', 'P', 'R', 2 },
          "apr-02",
          "'APR' followed by a byte of 2, which no known program writes" },
    };

    if (head->size < 4)
        return false;
    if (memcmp(head->at, "APR", 4) == 0) {
        probe_v2(head, out);
        return true;
    }
    if (memcmp(head->at, "APR1", 4) == 0) {
        probe_apr1(head, out);
        return true;
    }
    for (size_t i = 0; i < sizeof(others) / sizeof(*others); i++)
        if (memcmp(head->at, others[i].magic, 4) == 0) {
            set_look_alike(out, others[i].format, others[i].note);
            return true;
        }
    return false;
}

static bool probe_v1(const struct mf_head *head, struct mf_detection *out)
{
    if (head->size < 4 || memcmp(head->at, "APRN", 4) != 0)
        return false;
    if (head->size >= 6) {
        out->version = head->at[4];
        out->version_minor = head->at[5];
    }
    if (out->version > 1) {
        out->supported = false;
        out->note = "only version 1 has the magic APRN";
    }
    return true;
}

/* ---- the tokenizer ---- */

#define NUMBERS                                                                \
    (MF_TAKES(MF_VALUE_U64) | MF_TAKES(MF_VALUE_I64) |                         \
     MF_TAKES(MF_VALUE_F64) | MF_TAKES(MF_VALUE_MIXED) |                       \
     MF_TAKES(MF_VALUE_NULL))
#define STRINGS (MF_TAKES(MF_VALUE_STRING) | MF_TAKES(MF_VALUE_NULL))

/* A JSON array may mix integers and floats, and an empty one has elements of
 * type null.  aprender writes fewer scores than tokens. */
static const struct mf_vocabulary vocabulary = {
    .array = {
        { "tokenizer.vocabulary", STRINGS, "string", false },
        { "tokenizer.scores", NUMBERS, "numbers", false },
        { "tokenizer.token_type", NUMBERS, "numbers", true },
        { "tokenizer.merges", STRINGS, "string", false },
    },
    .ids = "tokenizer.",
    .length = MF_RULE_APR_TOKENS,
    .type = MF_RULE_APR_TOKENS,
    .id = MF_RULE_APR_TOKENS,
};

/* All sections and tensors are padded to 64 bytes, so a file with 4 bytes more
 * than that ends with a footer, and data that reaches into it is too long.  A
 * JSON index and its data are not padded. */
static void check_footer(struct mf_index *index, const struct mf_part *part)
{
    const uint64_t footer = 4;
    uint64_t size = part->data_end - part->data_offset;

    if (part->alignment == 1 || part->data_end < part->data_offset ||
        size % part->alignment != footer)
        return;
    for (size_t i = part->first; i < part->first + part->count; i++) {
        const struct mf_record *record = &index->tensor[i];
        uint64_t end = record->offset + record->size;

        if (record->flags & MF_TENSOR_DAMAGED || end <= part->data_end - footer)
            continue;
        mf_index_note_of(index, record, MF_ERROR, MF_RULE_TENSOR_BOUNDS,
                         record->offset,
                         "tensor '%s' (offset %" PRIu64 ", size %" PRIu64
                         ") reaches into the footer at %" PRIu64,
                         mf_record_name(record).text, record->offset,
                         record->size, part->data_end - footer);
    }
}

static void validate(struct mf_index *index, const struct mf_part *parts,
                     size_t part_count)
{
    mf_vocabulary_check(index, &vocabulary);
    for (size_t i = 0; i < part_count; i++)
        check_footer(index, &parts[i]);
}

/* ---- the rows of formats.def ---- */

static const struct mf_fact_row facts[] = {
    { MF_FACT_ARCHITECTURE, "architecture" },
    { MF_FACT_ARCHITECTURE, "hf_model_type" },
    { MF_FACT_ARCHITECTURE, "model.architecture" },
    { MF_FACT_ARCHITECTURE, "model_type" },
    { MF_FACT_NAME, "name" },
    { MF_FACT_LICENSE, "license" },
    { MF_FACT_CONTEXT_LENGTH, "max_position_embeddings" },
    { MF_FACT_CONTEXT_LENGTH, "context_length" },
    { MF_FACT_CONTEXT_LENGTH, "max_seq_len" },
    { MF_FACT_CONTEXT_LENGTH, "n_ctx" },
    { MF_FACT_EMBEDDING_LENGTH, "hidden_size" },
    { MF_FACT_EMBEDDING_LENGTH, "hidden_dim" },
    { MF_FACT_EMBEDDING_LENGTH, "d_model" },
    { MF_FACT_EMBEDDING_LENGTH, "n_embd" },
    { MF_FACT_BLOCK_COUNT, "num_layers" },
    { MF_FACT_BLOCK_COUNT, "num_hidden_layers" },
    { MF_FACT_BLOCK_COUNT, "n_layers" },
    { MF_FACT_BLOCK_COUNT, "n_layer" },
    { MF_FACT_HEAD_COUNT, "num_heads" },
    { MF_FACT_HEAD_COUNT, "num_attention_heads" },
    { MF_FACT_HEAD_COUNT, "n_heads" },
    { MF_FACT_HEAD_COUNT, "n_head" },
    { MF_FACT_HEAD_COUNT_KV, "num_kv_heads" },
    { MF_FACT_HEAD_COUNT_KV, "num_key_value_heads" },
    { MF_FACT_HEAD_COUNT_KV, "n_kv_heads" },
    { MF_FACT_VOCAB_SIZE, "vocab_size" },
    { MF_FACT_VOCAB_SIZE, "n_vocab" },
    { MF_FACT_VOCAB_SIZE, "tokenizer.vocabulary" },
    { MF_FACT_FEED_FORWARD_LENGTH, "intermediate_size" },
    { MF_FACT_FEED_FORWARD_LENGTH, "intermediate_dim" },
    { MF_FACT_FEED_FORWARD_LENGTH, "ffn_dim" },
    { MF_FACT_KEY_LENGTH, "head_dim" },
    { MF_FACT_VALUE_LENGTH, "*.attention.value_length:u32" },
    { MF_FACT_EXPERT_COUNT, "num_experts" },
    { MF_FACT_EXPERT_COUNT, "num_local_experts" },
    { MF_FACT_EXPERT_COUNT, "n_routed_experts" },
    { MF_FACT_EXPERT_USED_COUNT, "num_experts_per_tok" },
    { MF_FACT_SLIDING_WINDOW, "sliding_window" },
    { MF_FACT_SLIDING_WINDOW, "*.attention.sliding_window:u32" },
    { MF_FACT_SLIDING_WINDOW_PATTERN, "sliding_window_pattern" },
    { MF_FACT_SLIDING_WINDOW_PATTERN,
      "*.attention.sliding_window_pattern:u32" },
    { MF_FACT_SLIDING_WINDOW_PATTERN, "*.attention.sliding_window_pattern" },
    { MF_FACT_STATE_SIZE, "*.ssm.state_size:u32" },
    { MF_FACT_STATE_SIZE, "*.wkv.head_size:u32" },
    { MF_DETAIL_EXPERT_LENGTH, "moe_intermediate_size" },
    { 0, NULL },
};

const struct mf_format mf_format_apr = {
    .name = "apr",
    .variant = "",
    .rules = "APR-",
    .suffix = ".apr",
    .description = "APR of aprender and realizar, version 2",
    .layout = MF_LAYOUT_FREE,
    .values = MF_VALUES_JSON,
    .probe = probe,
    .parse = mf_apr_parse,
    .revisit = mf_apr_revisit,
    .validate = validate,
    .value_next = mf_json_value_next,
    .type_name = mf_apr_type_name,
    .type_id = mf_apr_type_id,
    .written = true,
    .facts = facts,
};

static const struct mf_fact_row facts_v1[] = {
    { MF_FACT_NAME, "model_name" },
    { 0, NULL },
};

const struct mf_format mf_format_apr_v1 = {
    .name = "apr",
    .variant = "v1",
    .rules = "APR-V1-",
    .suffix = ".apr",
    .description = "APR version 1: metadata only",
    .layout = MF_LAYOUT_FREE,
    .probe = probe_v1,
    .parse = mf_apr_v1_parse,
    .value_next = mf_apr_msgpack_next,
    .type_id = mf_apr_type_id,
    .facts = facts_v1,
};
