/* SPDX-License-Identifier: MIT
 *
 * big.c - writes models of real proportions whose tensor data is a hole
 *
 *     big KIND OUT
 *
 * The headers are valid and as long as in real models; the data after
 * them is a hole in the file, so that five terabytes take a few megabytes of
 * disk.  A kind always gives the same bytes.  Prints what was written:
 *
 *     tensors 291 names 6166 header 1212512 size 13478576224
 *
 * names: bytes of all tensor names together; header: where the data begins.
 */
#include <errno.h>
#include <inttypes.h>
#include <stdint.h>
#include <stdio.h>
#include <string.h>

#include "sparse.h"

/* ---- GGUF ---- */

/* Numbers of the GGUF specification. */
enum { GGUF_U32 = 4, GGUF_I32 = 5, GGUF_F32 = 6, GGUF_STRING = 8 };
enum { GGUF_ARRAY = 9, GGUF_VERSION = 3, GGUF_ALIGNMENT = 32 };

/* id: of the tensor type; file_type: what general.file_type says of a model
 * that mostly consists of it. */
struct type {
    uint32_t id, file_type;
    uint64_t block, bytes;
};

static const struct type f32 = { 0, 0, 1, 4 };
static const struct type f16 = { 1, 1, 1, 2 };
static const struct type q8_0 = { 8, 7, 32, 34 };

static void put_string(struct out *out, const char *text)
{
    put_int(out, strlen(text), 8);
    put_text(out, text);
}

static void put_key(struct out *out, const char *key, uint32_t type)
{
    put_string(out, key);
    put_int(out, type, 4);
}

static void put_u32(struct out *out, const char *key, uint64_t value)
{
    put_key(out, key, GGUF_U32);
    put_int(out, value, 4);
}

static void put_f32(struct out *out, const char *key, float value)
{
    uint32_t bits;

    memcpy(&bits, &value, sizeof(bits));
    put_key(out, key, GGUF_F32);
    put_int(out, bits, 4);
}

static void put_str(struct out *out, const char *key, const char *value)
{
    put_key(out, key, GGUF_STRING);
    put_string(out, value);
}

static void put_array(struct out *out, const char *key, uint32_t of,
                      uint64_t count)
{
    put_key(out, key, GGUF_ARRAY);
    put_int(out, of, 4);
    put_int(out, count, 8);
}

/* columns is the contiguous dimension and comes first; rows 0: a vector. */
static void put_tensor(struct out *out, const char *name,
                       const struct type *type, uint64_t columns, uint64_t rows)
{
    uint64_t elements = columns * (rows ? rows : 1);

    put_string(out, name);
    put_int(out, rows ? 2 : 1, 4);
    put_int(out, columns, 8);
    if (rows)
        put_int(out, rows, 8);
    put_int(out, type->id, 4);
    put_int(out, out->data, 8);
    out->data += round_up(elements / type->block * type->bytes, GGUF_ALIGNMENT);
    out->names += strlen(name);
    out->tensors++;
}

static void put_gguf_head(struct out *out, uint64_t tensors, uint64_t metadata)
{
    put_text(out, "GGUF");
    put_int(out, GGUF_VERSION, 4);
    put_int(out, tensors, 8);
    put_int(out, metadata, 8);
}

/* ---- a vocabulary ---- */

/* Word number i: 2 to 13 letters drawn by a generator seeded with i, so that
 * any word can be made again without keeping it.  Every third one opens with
 * the mark that byte-level vocabularies put in place of a space. */
static size_t make_word(uint64_t i, char out[20])
{
    uint64_t state = i * 0x9e3779b97f4a7c15u + 1; /* 2^64 / golden ratio */
    size_t letters, size = 0;

    if (i % 3 == 0) {
        memcpy(out, "\xc4\xa0", 2);
        size = 2;
    }
    letters = 2 + (state >> 40) % 12;
    for (size_t k = 0; k < letters; k++) {
        state = state * 6364136223846793005u + 1442695040888963407u;
        out[size++] = (char)('a' + (state >> 33) % 26);
    }
    out[size] = '\0';
    return size;
}

static void put_tokens(struct out *out, uint64_t count)
{
    char word[20];

    put_array(out, "tokenizer.ggml.tokens", GGUF_STRING, count);
    for (uint64_t i = 0; i < count; i++) {
        make_word(i, word);
        put_string(out, word);
    }
    put_array(out, "tokenizer.ggml.token_type", GGUF_I32, count);
    for (uint64_t i = 0; i < count; i++)
        put_int(out, 1, 4); /* 1: a normal token */
}

/* A merge is two halves of a word with a space between. */
static void put_merges(struct out *out, uint64_t count)
{
    char word[20];

    put_array(out, "tokenizer.ggml.merges", GGUF_STRING, count);
    for (uint64_t i = 0; i < count; i++) {
        size_t size = make_word(i, word);
        size_t half = size / 4 * 2; /* even: never inside the two-byte mark */

        half = half ? half : 1;
        put_int(out, size + 1, 8);
        put(out, word, half);
        put(out, " ", 1);
        put(out, word + half, size - half);
    }
}

/* ---- a transformer ---- */

struct shape {
    const struct type *type;
    uint32_t layers, vocabulary, embedding, feed_forward, heads, heads_kv;
};

enum { SHAPE_METADATA = 18, LAYER_TENSORS = 9, OTHER_TENSORS = 3 };

static void put_shape_metadata(struct out *out, const struct shape *s,
                               const char *name)
{
    put_str(out, "general.architecture", "llama");
    put_str(out, "general.name", name);
    put_u32(out, "general.file_type", s->type->file_type);
    put_u32(out, "llama.block_count", s->layers);
    put_u32(out, "llama.context_length", 4096);
    put_u32(out, "llama.embedding_length", s->embedding);
    put_u32(out, "llama.feed_forward_length", s->feed_forward);
    put_u32(out, "llama.attention.head_count", s->heads);
    put_u32(out, "llama.attention.head_count_kv", s->heads_kv);
    put_f32(out, "llama.attention.layer_norm_rms_epsilon", 1e-5f);
    put_f32(out, "llama.rope.freq_base", 10000.0f);
    put_u32(out, "llama.rope.dimension_count", s->embedding / s->heads);
    put_u32(out, "llama.vocab_size", s->vocabulary);
    put_str(out, "tokenizer.ggml.model", "gpt2");
    put_u32(out, "tokenizer.ggml.eos_token_id", s->vocabulary - 1);
    put_tokens(out, s->vocabulary);
    put_merges(out, s->vocabulary);
}

static void put_layer(struct out *out, const struct shape *s, uint32_t layer)
{
    uint64_t e = s->embedding, f = s->feed_forward;
    uint64_t kv = e / s->heads * s->heads_kv;
    const struct {
        const char *name;
        const struct type *type;
        uint64_t columns, rows;
    } tensors[LAYER_TENSORS] = {
        { "attn_norm", &f32, e, 0 },      { "attn_q", s->type, e, e },
        { "attn_k", s->type, e, kv },     { "attn_v", s->type, e, kv },
        { "attn_output", s->type, e, e }, { "ffn_norm", &f32, e, 0 },
        { "ffn_gate", s->type, e, f },    { "ffn_down", s->type, f, e },
        { "ffn_up", s->type, e, f },
    };

    for (size_t i = 0; i < LAYER_TENSORS; i++) {
        char name[64];

        snprintf(name, sizeof(name), "blk.%" PRIu32 ".%s.weight", layer,
                 tensors[i].name);
        put_tensor(out, name, tensors[i].type, tensors[i].columns,
                   tensors[i].rows);
    }
}

static void write_shape(struct out *out, const char *name,
                        const struct shape *s)
{
    put_gguf_head(out, s->layers * LAYER_TENSORS + OTHER_TENSORS,
                  SHAPE_METADATA);
    put_shape_metadata(out, s, name);
    put_tensor(out, "token_embd.weight", s->type, s->embedding, s->vocabulary);
    for (uint32_t layer = 0; layer < s->layers; layer++)
        put_layer(out, s, layer);
    put_tensor(out, "output_norm.weight", &f32, s->embedding, 0);
    put_tensor(out, "output.weight", s->type, s->embedding, s->vocabulary);
    pad(out, GGUF_ALIGNMENT, '\0');
}

/* ---- very many tensors ---- */

enum { MANY = 20000, MANY_COLUMNS = 1024, MANY_ROWS = 1280 };

/* Leading zeros keep the names in byte order, which APR wants. */
static const char *many_name(uint32_t i, char out[64])
{
    snprintf(out, 64, "blk.%04" PRIu32 ".part_%" PRIu32 ".weight", i / 10,
             i % 10);
    return out;
}

static void write_many_gguf(struct out *out)
{
    char name[64];

    put_gguf_head(out, MANY, 2);
    put_str(out, "general.architecture", "llama");
    put_str(out, "general.name", "many");
    for (uint32_t i = 0; i < MANY; i++)
        put_tensor(out, many_name(i, name), &f16, MANY_COLUMNS, MANY_ROWS);
    pad(out, GGUF_ALIGNMENT, '\0');
}

/* The size of the JSON precedes it and is filled in at the end. */
static void write_many_safetensors(struct out *out)
{
    const uint64_t size = 2 * MANY_COLUMNS * MANY_ROWS;
    char name[64], entry[256];

    put_int(out, 0, 8);
    put_text(out, "{\"__metadata__\":{\"format\":\"pt\"}");
    for (uint32_t i = 0; i < MANY; i++) {
        out->names += strlen(many_name(i, name));
        snprintf(entry, sizeof(entry),
                 ",\"%s\":{\"dtype\":\"F16\",\"shape\":[%d,%d],"
                 "\"data_offsets\":[%" PRIu64 ",%" PRIu64 "]}",
                 name, MANY_ROWS, MANY_COLUMNS, i * size, (i + 1) * size);
        put_text(out, entry);
    }
    put_text(out, "}");
    pad(out, 8, ' ');
    patch_int(out, 0, out->at - 8, 8);
    out->tensors = MANY;
    out->data = MANY * size;
}

enum { APR_HEADER = 64, APR_ALIGNMENT = 64, APR_CRC_AT = 40 };
enum { APR_ROW_MAJOR = 0x0400, APR_F32 = 0 };

/* CRC-32/IEEE, a bit at a time: it is asked for 60 bytes once. */
static uint32_t crc32_of(uint32_t crc, const uint8_t *bytes, size_t size)
{
    crc = ~crc;
    for (size_t i = 0; i < size; i++) {
        crc ^= bytes[i];
        for (int bit = 0; bit < 8; bit++)
            crc = crc >> 1 ^ (crc & 1 ? 0xedb88320u : 0);
    }
    return ~crc;
}

/* encode() always writes eight bytes; in this order each field overwrites
 * what the one before it wrote too much. */
static void put_apr_head(struct out *out, size_t metadata, uint64_t index)
{
    uint64_t index_at = APR_HEADER + round_up(metadata, APR_ALIGNMENT);
    uint8_t header[APR_HEADER] = "APR\0\2";
    uint32_t crc;

    encode(APR_ROW_MAJOR, header + 6);
    encode(MANY, header + 8);
    encode(APR_HEADER, header + 12);
    encode(metadata, header + 20);
    encode(index_at, header + 24);
    encode(index_at + round_up(index, APR_ALIGNMENT), header + 32);
    /* The checksum covers the header without its own four bytes. */
    crc = crc32_of(0, header, APR_CRC_AT);
    crc = crc32_of(crc, header + APR_CRC_AT + 4, APR_HEADER - APR_CRC_AT - 4);
    encode(crc, header + APR_CRC_AT);
    put(out, header, sizeof(header));
}

/* Ends without the optional checksum of the whole file: the hole would have
 * to be read for it. */
static void write_many_apr(struct out *out)
{
    static const char metadata[] =
        "{\"model_type\":\"llama\",\"name\":\"many\",\"license\":null,"
        "\"data_source\":null,\"data_license\":null,"
        "\"architecture\":\"llama\",\"hidden_size\":1024,\"num_layers\":2000,"
        "\"num_heads\":16,\"num_kv_heads\":16,\"vocab_size\":32000}";
    const uint64_t size = 4 * MANY_COLUMNS * MANY_ROWS;
    char name[64];

    /* An entry is 20 bytes, its name, and 8 bytes for each of two dimensions;
     * all names are as long as the first. */
    put_apr_head(out, strlen(metadata),
                 MANY * (20 + 2 * 8 + strlen(many_name(0, name))));
    put_text(out, metadata);
    pad(out, APR_ALIGNMENT, '\0');
    for (uint32_t i = 0; i < MANY; i++) {
        put_int(out, strlen(many_name(i, name)), 2);
        put_text(out, name);
        put_int(out, APR_F32, 1);
        put_int(out, 2, 1);
        put_int(out, MANY_ROWS, 8);
        put_int(out, MANY_COLUMNS, 8);
        put_int(out, i * size, 8);
        put_int(out, size, 8);
        out->names += strlen(name);
    }
    pad(out, APR_ALIGNMENT, '\0');
    out->tensors = MANY;
    out->data = MANY * size;
}

/* ---- the kinds ---- */

static const struct kind {
    const char *name;
    void (*write)(struct out *out); /* NULL: write_shape */
    struct shape shape;
} kinds[] = {
    /* type, layers, vocabulary, embedding, feed forward, heads, kv heads */
    { "7b-32k", NULL, { &f16, 32, 32000, 4096, 11008, 32, 32 } },
    { "7b-150k", NULL, { &f16, 32, 151936, 4096, 11008, 32, 32 } },
    { "8b", NULL, { &f16, 32, 128256, 4096, 14336, 32, 8 } },
    { "70b", NULL, { &q8_0, 80, 128256, 8192, 28672, 64, 8 } },
    { "5t", NULL, { &f16, 126, 151936, 16384, 479232, 128, 8 } },
    { "huge-tokens", NULL, { &f16, 1, 1000000, 64, 256, 4, 4 } },
    { "many-gguf", write_many_gguf, { 0 } },
    { "many-safetensors", write_many_safetensors, { 0 } },
    { "many-apr", write_many_apr, { 0 } },
};

enum { KIND_COUNT = sizeof(kinds) / sizeof(kinds[0]) };

static int usage(void)
{
    fprintf(stderr, "usage: big KIND OUT, where KIND is one of:");
    for (size_t i = 0; i < KIND_COUNT; i++)
        fprintf(stderr, " %s", kinds[i].name);
    fputc('\n', stderr);
    return 2;
}

int main(int argc, char **argv)
{
    const struct kind *kind = kinds;
    struct out out;

    if (argc != 3)
        return usage();
    while (strcmp(kind->name, argv[1]))
        if (++kind == kinds + KIND_COUNT)
            return usage();
    out_open(&out, argv[2]);
    if (kind->write)
        kind->write(&out);
    else
        write_shape(&out, kind->name, &kind->shape);
    if (out_close(&out)) {
        fprintf(stderr, "big: cannot write '%s': %s\n", argv[2],
                strerror(errno));
        return 1;
    }
    printf("tensors %" PRIu64 " names %" PRIu64 " header %" PRIu64
           " size %" PRIu64 "\n",
           out.tensors, out.names, out.at, out.at + out.data);
    return 0;
}
