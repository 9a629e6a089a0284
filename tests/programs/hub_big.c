/* SPDX-License-Identifier: MIT
 *
 * hub_big.c - writes folders of Hugging Face of real proportions
 *
 *     hub_big KIND FOLDER
 *
 * config.json, a tokenizer.model and shards with their index; FOLDER must not
 * exist.  "dense" is 1 GiB of noise with 150,000 pieces.  In the others the
 * data is a hole: "hollow" is otherwise like "dense", "experts" has 163 shards
 * of 671 billion numbers in 90,000 tensors.  A kind always gives the same
 * bytes.
 */
#include <inttypes.h>
#include <stdbool.h>
#include <stdlib.h>
#include <sys/stat.h>

#include "lib/base/little.h"
#include "sparse.h"

static const struct kind {
    const char *name, *class;
    uint32_t vocabulary, layers, embedding, feed_forward, heads, heads_kv;
    uint32_t experts, shards;
    bool noise;
} kinds[] = {
    { "dense", "LlamaForCausalLM", 150000, 23, 1024, 4096, 16, 16, 0, 4, true },
    { "hollow", "LlamaForCausalLM", 150000, 23, 1024, 4096, 16, 16, 0, 4,
      false },
    { "experts", "MixtralForCausalLM", 129280, 61, 7168, 1024, 128, 128, 490,
      163, false },
};

enum { TENSORS_MAX = 100000 };

static struct tensor {
    char name[80];
    uint32_t rows, columns; /* no rows: a vector */
} tensors[TENSORS_MAX];
static size_t tensor_count;

/* ---- the tensors ---- */

static void add(uint32_t rows, uint32_t columns, const char *name)
{
    struct tensor *tensor = &tensors[tensor_count++];

    snprintf(tensor->name, sizeof(tensor->name), "%s", name);
    tensor->rows = rows;
    tensor->columns = columns;
}

static void add_of(uint32_t layer, const char *name, uint32_t rows,
                   uint32_t columns)
{
    char whole[80];

    snprintf(whole, sizeof(whole), "model.layers.%" PRIu32 ".%s.weight", layer,
             name);
    add(rows, columns, whole);
}

static void add_experts(const struct kind *kind, uint32_t layer)
{
    static const char *const names[] = { "w1", "w2", "w3" };
    uint32_t e = kind->embedding, f = kind->feed_forward;
    char name[48];

    add_of(layer, "block_sparse_moe.gate", kind->experts, e);
    for (uint32_t i = 0; i < kind->experts; i++)
        for (size_t k = 0; k < 3; k++) {
            snprintf(name, sizeof(name),
                     "block_sparse_moe.experts.%" PRIu32 ".%s", i, names[k]);
            add_of(layer, name, k == 1 ? e : f, k == 1 ? f : e);
        }
}

static void add_layer(const struct kind *kind, uint32_t layer)
{
    uint32_t e = kind->embedding, f = kind->feed_forward;
    uint32_t kv = e / kind->heads * kind->heads_kv;

    add_of(layer, "input_layernorm", 0, e);
    add_of(layer, "post_attention_layernorm", 0, e);
    add_of(layer, "self_attn.q_proj", e, e);
    add_of(layer, "self_attn.k_proj", kv, e);
    add_of(layer, "self_attn.v_proj", kv, e);
    add_of(layer, "self_attn.o_proj", e, e);
    if (kind->experts > 0) {
        add_experts(kind, layer);
        return;
    }
    add_of(layer, "mlp.gate_proj", f, e);
    add_of(layer, "mlp.up_proj", f, e);
    add_of(layer, "mlp.down_proj", e, f);
}

static void add_all(const struct kind *kind)
{
    add(kind->vocabulary, kind->embedding, "model.embed_tokens.weight");
    for (uint32_t layer = 0; layer < kind->layers; layer++)
        add_layer(kind, layer);
    add(0, kind->embedding, "model.norm.weight");
}

static uint64_t bytes_of(const struct tensor *tensor)
{
    return (uint64_t)(tensor->rows ? tensor->rows : 1) * tensor->columns * 2;
}

/* ---- shards ---- */

static void put_entry(struct out *out, const struct tensor *tensor)
{
    char entry[256], shape[32];
    uint64_t size = bytes_of(tensor);

    if (tensor->rows > 0)
        snprintf(shape, sizeof(shape), "%" PRIu32 ",%" PRIu32, tensor->rows,
                 tensor->columns);
    else
        snprintf(shape, sizeof(shape), "%" PRIu32, tensor->columns);
    snprintf(entry, sizeof(entry),
             ",\"%s\":{\"dtype\":\"BF16\",\"shape\":[%s],"
             "\"data_offsets\":[%" PRIu64 ",%" PRIu64 "]}",
             tensor->name, shape, out->data, out->data + size);
    put_text(out, entry);
    out->data += size;
}

/* Numbers below 2 in which bit 6 of each byte is clear, the highest bit of the
 * exponent. */
static void put_noise(struct out *out)
{
    static uint64_t noise[8192], state = 0x9E3779B97F4A7C15;

    while (out->data > 0) {
        size_t size = out->data < sizeof(noise) ? out->data : sizeof(noise);

        for (size_t i = 0; i < sizeof(noise) / 8; i++) {
            state ^= state << 13;
            state ^= state >> 7;
            state ^= state << 17;
            noise[i] = state & 0xbfbfbfbfbfbfbfbf;
        }
        put(out, noise, size);
        out->data -= size;
    }
}

static void shard_name(const struct kind *kind, uint32_t shard, char out[64])
{
    snprintf(out, 64, "model-%05" PRIu32 "-of-%05" PRIu32 ".safetensors",
             shard + 1, kind->shards);
}

/* The first tensor of a shard. */
static size_t first_of(const struct kind *kind, uint32_t shard)
{
    return tensor_count * shard / kind->shards;
}

static void write_shard(const struct kind *kind, uint32_t shard)
{
    struct out out;
    char name[64];
    uint64_t data;

    shard_name(kind, shard, name);
    out_open(&out, name);
    put_int(&out, 0, 8);
    put_text(&out, "{\"__metadata__\":{\"format\":\"pt\"}");
    for (size_t i = first_of(kind, shard); i < first_of(kind, shard + 1); i++)
        put_entry(&out, &tensors[i]);
    put_text(&out, "}");
    pad(&out, 8, ' ');
    data = out.data;
    patch_int(&out, 0, out.at - 8, 8);
    if (kind->noise && out.file && !fseek(out.file, (long)out.at, SEEK_SET))
        put_noise(&out);
    if (out_close(&out)) {
        fprintf(stderr, "hub_big: %" PRIu64 " bytes of data: ", data);
        perror(name);
        exit(1);
    }
}

/* ---- the other files ---- */

static void close_file(FILE *file, const char *name)
{
    if (file && !ferror(file) && fclose(file) == 0)
        return;
    perror(name);
    exit(1);
}

static void write_index(const struct kind *kind)
{
    static const char name[] = "model.safetensors.index.json";
    FILE *file = fopen(name, "wb");
    const char *before = "{\"metadata\":{},\"weight_map\":{";
    char shard_file[64];

    for (uint32_t shard = 0; file && shard < kind->shards; shard++) {
        shard_name(kind, shard, shard_file);
        for (size_t i = first_of(kind, shard); i < first_of(kind, shard + 1);
             i++) {
            fprintf(file, "%s\"%s\":\"%s\"", before, tensors[i].name,
                    shard_file);
            before = ",";
        }
    }
    if (file)
        fputs("}}", file);
    close_file(file, name);
}

static void write_config(const struct kind *kind)
{
    static const char name[] = "config.json";
    FILE *file = fopen(name, "wb");

    if (file)
        fprintf(file,
                "{\"architectures\":[\"%s\"],\"hidden_size\":%" PRIu32
                ",\"num_hidden_layers\":%" PRIu32
                ",\"intermediate_size\":%" PRIu32
                ",\"num_attention_heads\":%" PRIu32
                ",\"num_key_value_heads\":%" PRIu32 ",\"vocab_size\":%" PRIu32
                ",\"max_position_embeddings\":4096,\"rms_norm_eps\":1e-5,"
                "\"torch_dtype\":\"bfloat16\"",
                kind->class, kind->embedding, kind->layers, kind->feed_forward,
                kind->heads, kind->heads_kv, kind->vocabulary);
    if (file && kind->experts > 0)
        fprintf(file,
                ",\"num_local_experts\":%" PRIu32 ",\"num_experts_per_tok\":8",
                kind->experts);
    if (file)
        fputs("}", file);
    close_file(file, name);
}

/* Field 1 of a SentencePiece model: a piece with its text (1), score (2) and
 * type (3). */
static void put_piece(FILE *file, const char *text, uint32_t i)
{
    size_t size = strlen(text);
    float score = -(float)i;
    uint8_t bytes[4];

    mf_put_little_float(bytes, score);
    fprintf(file, "%c%c%c%c%s%c", 1 << 3 | 2, (int)(size + 9), 1 << 3 | 2,
            (int)size, text, 2 << 3 | 5);
    fwrite(bytes, 1, sizeof(bytes), file);
    fprintf(file, "%c%c", 3 << 3, i == 0 ? 2 : i < 3 ? 3 : 1);
}

static void write_tokenizer(const struct kind *kind)
{
    static const char name[] = "tokenizer.model";
    static const char *const first[] = { "<unk>", "<s>", "</s>" };
    FILE *file = fopen(name, "wb");
    char word[32];

    for (uint32_t i = 0; file && i < kind->vocabulary; i++) {
        snprintf(word, sizeof(word), "%sw%" PRIu32, i % 3 ? "" : "\xe2\x96\x81",
                 i);
        put_piece(file, i < 3 ? first[i] : word, i);
    }
    close_file(file, name);
}

int main(int argc, char **argv)
{
    const struct kind *kind = kinds;
    const struct kind *end = kinds + sizeof(kinds) / sizeof(kinds[0]);

    while (argc == 3 && kind < end && strcmp(kind->name, argv[1]) != 0)
        kind++;
    if (argc != 3 || kind == end) {
        fputs("usage: hub_big dense|hollow|experts FOLDER\n", stderr);
        return 2;
    }
    if (mkdir(argv[2], 0777) || chdir(argv[2])) {
        perror(argv[2]);
        return 1;
    }
    add_all(kind);
    for (uint32_t shard = 0; shard < kind->shards; shard++)
        write_shard(kind, shard);
    write_index(kind);
    write_config(kind);
    write_tokenizer(kind);
    return 0;
}
