/* SPDX-License-Identifier: MIT
 *
 * tekken_read.c - reads tekken.json
 */
#include "lib/base/names.h"
#include "lib/base/str.h"
#include "lib/folder/sidecar.h"
#include "lib/hf/tokenizer/tekken.h"

#define FILE_NAME "tekken.json"

#define TOKEN_MAX   1024                /* bytes of a token; real ones: 128 */
#define COUNT_MAX   ((uint64_t)1 << 22) /* tokens; real files: 150,000 */
#define BYTES_MAX   ((uint64_t)1 << 25) /* of all tokens */
#define SPECIAL_MAX ((uint64_t)1 << 16)

static enum mf_status failed(const struct mf_tekken *tekken)
{
    return tekken->env->error.status;
}

struct mf_str mf_tekken_bytes(const struct mf_tekken *tekken, uint64_t rank)
{
    return (struct mf_str){ tekken->bytes + tekken->start[rank],
                            tekken->start[rank + 1] - tekken->start[rank] };
}

/* The slot that has these bytes, or the free one where they would go. */
static uint32_t *slot_of(const struct mf_tekken *tekken, struct mf_str bytes)
{
    uint64_t at = mf_text_hash(bytes, tekken->env->hash_seed);

    for (at &= tekken->slot_mask; tekken->slot[at] != 0;
         at = (at + 1) & tekken->slot_mask)
        if (mf_str_same(mf_tekken_bytes(tekken, tekken->slot[at] - 1), bytes))
            break;
    return &tekken->slot[at];
}

uint64_t mf_tekken_rank(const struct mf_tekken *tekken, struct mf_str bytes)
{
    uint32_t slot = *slot_of(tekken, bytes);

    return slot > 0 ? slot - 1 : UINT64_MAX;
}

/* ---- numbers and special tokens ---- */

static enum mf_status wrong(const struct mf_tekken *tekken,
                            const struct mf_node *node, const char *path)
{
    return mf_fail(tekken->env, MF_ERR_CORRUPT, node ? node->offset : 0,
                   "'" FILE_NAME "': '%s' is %s", path,
                   node ? "invalid" : "missing");
}

static enum mf_status read_count(const struct mf_tekken *tekken,
                                 const char *path, uint64_t max, uint64_t *out)
{
    const struct mf_node *node = mf_node_at(tekken->json, path);

    if (!node || node->kind != MF_NODE_NUMBER || node->type != MF_VALUE_U64 ||
        node->number.u64 > max)
        return wrong(tekken, node, path);
    *out = node->number.u64;
    return MF_OK;
}

/* What files of the first versions have, which do not list them. */
static const char *const usual[] = { "<unk>",
                                     "<s>",
                                     "</s>",
                                     "[INST]",
                                     "[/INST]",
                                     "[AVAILABLE_TOOLS]",
                                     "[/AVAILABLE_TOOLS]",
                                     "[TOOL_RESULTS]",
                                     "[/TOOL_RESULTS]",
                                     "[TOOL_CALLS]",
                                     "[IMG]",
                                     "<pad>",
                                     "[IMG_BREAK]",
                                     "[IMG_END]",
                                     "[PREFIX]",
                                     "[MIDDLE]",
                                     "[SUFFIX]",
                                     "[SYSTEM_PROMPT]",
                                     "[/SYSTEM_PROMPT]",
                                     "[TOOL_CONTENT]" };

static enum mf_status read_special(struct mf_tekken *tekken)
{
    const struct mf_node *list = mf_node_at(tekken->json, "special_tokens");
    bool listed = list && list->kind != MF_NODE_NULL;
    uint64_t count = sizeof(usual) / sizeof(*usual), i = 0;
    struct mf_str *text;

    if (listed && list->kind != MF_NODE_ARRAY)
        return wrong(tekken, list, "special_tokens");
    if (listed)
        count = list->count;
    if (count > tekken->special_count)
        return mf_fail(tekken->env, MF_ERR_CORRUPT, listed ? list->offset : 0,
                       "'" FILE_NAME "' has %" PRIu64 " special tokens, but "
                       "'default_num_special_tokens' is %" PRIu64,
                       count, tekken->special_count);
    text = mf_arena_take(tekken->request->arena,
                         (size_t)(count + 1) * sizeof(*text));
    if (!text)
        return failed(tekken);
    for (; !listed && i < count; i++)
        text[i] = (struct mf_str){ usual[i], strlen(usual[i]) };
    for (const struct mf_node *at = listed ? list->first : NULL; at;
         at = at->next, i++) {
        const struct mf_node *rank = mf_node_at(at, "rank");

        text[i] = mf_node_text(at, "token_str");
        if (!text[i].at || !rank || rank->kind != MF_NODE_NUMBER ||
            rank->type != MF_VALUE_U64 || rank->number.u64 != i)
            return wrong(tekken, at, "special_tokens");
    }
    tekken->special = text;
    tekken->special_named = count;
    return MF_OK;
}

/* ---- tokens ---- */

static int digit_of(char c)
{
    if (c >= 'A' && c <= 'Z')
        return c - 'A';
    if (c >= 'a' && c <= 'z')
        return c - 'a' + 26;
    if (c >= '0' && c <= '9')
        return c - '0' + 52;
    return c == '+' ? 62 : c == '/' ? 63 : -1;
}

/* Decodes base64 in place; SIZE_MAX if it is not base64. */
static size_t decode(char *text, size_t size)
{
    size_t pad = 0, to = 0;
    uint32_t bits = 0;

    while (pad < 2 && pad < size && text[size - 1 - pad] == '=')
        pad++;
    if (size % 4 != 0)
        return SIZE_MAX;
    for (size_t i = 0; i < size - pad; i++) {
        int digit = digit_of(text[i]);

        if (digit < 0)
            return SIZE_MAX;
        bits = bits << 6 | (uint32_t)digit;
        if (i % 4 > 0)
            text[to++] = (char)(bits >> (6 - 2 * (i % 4)));
    }
    return to;
}

struct entry { /* of the vocabulary */
    char text[TOKEN_MAX * 4 / 3 + 8];
    size_t size;
    uint64_t rank;
    unsigned seen; /* which keys */
};

static enum mf_status bad_entry(const struct mf_tekken *tekken,
                                const struct mf_json *json, uint64_t rank)
{
    return failed(tekken)
               ? failed(tekken)
               : mf_fail(tekken->env, MF_ERR_CORRUPT, json->token_offset,
                         "token %" PRIu64 " of 'vocab' is not one of rank "
                         "%" PRIu64 " with up to %d bytes in base64",
                         rank, rank, TOKEN_MAX);
}

static enum mf_status read_member(struct mf_tekken *tekken,
                                  struct mf_json *json, struct entry *entry)
{
    char key[16];
    uint64_t size;
    bool more;
    enum mf_json_token token;

    if (mf_json_text(json, key, sizeof(key), &size, &more) != MF_OK)
        return failed(tekken);
    token = mf_json_next(json);
    if (size == 4 && memcmp(key, "rank", 4) == 0) {
        entry->seen |=
            token == MF_JSON_NUMBER && mf_json_plain_u64(json, &entry->rank);
        return failed(tekken);
    }
    if (size != 11 || memcmp(key, "token_bytes", 11) != 0)
        return token == MF_JSON_ERROR ? failed(tekken)
                                      : mf_json_skip(json, token);
    if (token != MF_JSON_STRING)
        return failed(tekken);
    if (mf_json_text(json, entry->text, sizeof(entry->text), &size, &more) !=
        MF_OK)
        return failed(tekken);
    entry->size = more ? SIZE_MAX : decode(entry->text, (size_t)size);
    entry->seen |= entry->size <= TOKEN_MAX ? 2 : 0;
    return MF_OK;
}

/* The object of the next token; *end: there is none. */
static enum mf_status read_entry(struct mf_tekken *tekken, struct mf_json *json,
                                 uint64_t rank, struct entry *entry)
{
    entry->seen = 0;
    if (mf_json_next(json) != MF_JSON_BEGIN_OBJECT)
        return bad_entry(tekken, json, rank);
    while (mf_json_next(json) == MF_JSON_KEY)
        if (read_member(tekken, json, entry) != MF_OK)
            return failed(tekken);
    if (failed(tekken) || entry->seen != 3 || entry->rank != rank ||
        entry->size == 0 ||
        (rank < 256 && (entry->size != 1 || (uint8_t)entry->text[0] != rank)))
        return bad_entry(tekken, json, rank);
    return MF_OK;
}

/* Once to add up the bytes, and once to keep them. */
static enum mf_status read_vocab(struct mf_tekken *tekken, char *bytes,
                                 uint32_t *start, uint64_t *total)
{
    const struct mf_node *node = mf_node_at(tekken->json, "vocab");
    struct mf_sidecar file;
    struct entry entry;
    enum mf_status status = mf_sidecar_open(&file, tekken->request->model,
                                            tekken->request->arena, FILE_NAME);
    uint64_t room = *total;

    *total = 0;
    if (status == MF_OK) {
        mf_reader_seek(&file.reader, node->offset);
        mf_json_init(&file.json, &file.reader);
        mf_json_next(&file.json); /* the bracket */
    }
    for (uint64_t i = 0; i < tekken->count && status == MF_OK; i++) {
        status = read_entry(tekken, &file.json, i, &entry);
        if (status != MF_OK)
            break;
        if (start)
            start[i] = (uint32_t)*total;
        if (*total + entry.size > (bytes ? room : BYTES_MAX))
            status = mf_fail(tekken->env, MF_ERR_LIMIT, MF_NO_OFFSET,
                             "'vocab' has more than %" PRIu64 " bytes of "
                             "tokens",
                             bytes ? room : BYTES_MAX);
        else if (bytes)
            memcpy(bytes + *total, entry.text, entry.size);
        *total += entry.size;
    }
    if (start)
        start[tekken->count] = (uint32_t)*total;
    return mf_sidecar_close(&file, status);
}

static enum mf_status index_tokens(struct mf_tekken *tekken)
{
    uint64_t slots = 4;

    while (slots / 3 * 2 < tekken->count)
        slots *= 2;
    tekken->slot_mask = slots - 1;
    tekken->slot = mf_arena_take(tekken->request->arena,
                                 (size_t)slots * sizeof(*tekken->slot));
    if (!tekken->slot)
        return failed(tekken);
    memset(tekken->slot, 0, (size_t)slots * sizeof(*tekken->slot));
    for (uint64_t i = 0; i < tekken->count; i++) {
        uint32_t *slot = slot_of(tekken, mf_tekken_bytes(tekken, i));

        if (*slot != 0)
            return mf_fail(tekken->env, MF_ERR_CORRUPT, MF_NO_OFFSET,
                           "'" FILE_NAME "': tokens %u and %" PRIu64
                           " of 'vocab' have the same bytes",
                           (unsigned)(*slot - 1), i);
        *slot = (uint32_t)i + 1;
    }
    return MF_OK;
}

static enum mf_status read_tokens(struct mf_tekken *tekken)
{
    uint64_t total = 0;
    char *bytes;
    uint32_t *start;

    if (read_vocab(tekken, NULL, NULL, &total) != MF_OK)
        return failed(tekken);
    bytes = mf_arena_text(tekken->request->arena, (size_t)total);
    start = mf_arena_take(tekken->request->arena,
                          (size_t)(tekken->count + 1) * sizeof(*start));
    if (!bytes || !start || read_vocab(tekken, bytes, start, &total) != MF_OK)
        return failed(tekken);
    tekken->bytes = bytes;
    tekken->start = start;
    return index_tokens(tekken);
}

enum mf_status mf_tekken_read(struct mf_tekken *tekken)
{
    static const char *const left[] = { "vocab", NULL };
    const struct mf_node *vocab;

    if (mf_sidecar_tree_but(tekken->request->model, tekken->request->arena,
                            FILE_NAME, MF_SIDECAR_LIMIT, left,
                            &tekken->json) != MF_OK ||
        read_count(tekken, "config.default_vocab_size", COUNT_MAX,
                   &tekken->size) != MF_OK ||
        read_count(tekken, "config.default_num_special_tokens", SPECIAL_MAX,
                   &tekken->special_count) != MF_OK ||
        read_special(tekken) != MF_OK)
        return failed(tekken);
    vocab = mf_node_at(tekken->json, "vocab");
    if (!vocab || vocab->kind != MF_NODE_ARRAY)
        return wrong(tekken, vocab, "vocab");
    if (tekken->special_count > tekken->size)
        return wrong(tekken, mf_node_at(tekken->json, "config"),
                     "config.default_num_special_tokens");
    tekken->count = tekken->size - tekken->special_count;
    return read_tokens(tekken);
}
