/* SPDX-License-Identifier: MIT
 *
 * test_vocab_faults.c - vocabularies without memory, changed, and hostile
 */
#include "lib/hf/tokenizer/parts.h"
#include "tests/tokenizer/proto_image.h"
#include "tests/tokenizer/vocab_folder.h"

/* ---- a folder that every procedure reads ---- */

static const char json[] =
    "{\"added_tokens\": [{\"id\": 7, \"content\": \"late\","
    " \"special\": false, \"single_word\": false, \"lstrip\": false,"
    " \"rstrip\": false, \"normalized\": false}], \"normalizer\": null,"
    " \"pre_tokenizer\": null, \"post_processor\": null,"
    " \"decoder\": {\"type\": \"Sequence\", \"decoders\": []},"
    " \"model\": {\"type\": \"BPE\", \"byte_fallback\": true, \"merges\": [],"
    " \"vocab\": {\"<unk>\": 0, \"<s>\": 1, \"</s>\": 2, \"a\": 3, \"b\": 4,"
    " \"<0x0A>\": 5, \"c\": 6}}}";

static const char unigram[] =
    "{\"added_tokens\": [], \"normalizer\": {\"type\": \"Precompiled\","
    " \"precompiled_charsmap\": \"AQAAAGFi\"}, \"pre_tokenizer\": null,"
    " \"post_processor\": null, \"decoder\": null, \"model\": {"
    " \"type\": \"Unigram\", \"vocab\": [[\"<unk>\", 0.5], [\"a\", -1.0]]}}";

static const struct row {
    mf_tokenizer_procedure *procedure;
    const char *pieces, *json; /* files: the name of one, the text of one */
} rows[] = {
    { mf_spm_put, "tokenizer.model", NULL },
    { mf_spm_put_phi3, "tokenizer.model", json },
    { mf_spm_put_internlm2, "tokenizer.model", json },
    { mf_spm_put_internlm3, "tokenizer.model", NULL },
    { mf_mistral_put_pieces, "tokenizer.model.v3", NULL },
    { mf_unigram_put_t5, "spiece.model", NULL },
    { mf_unigram_put_xlm, "sentencepiece.bpe.model", NULL },
    { mf_unigram_put_xlm, NULL, unigram },
    { mf_llama_hf_put, NULL, json },
    { mf_llama_hf_put_gemma4, NULL, json },
    { mf_llama_hf_put_xverse, NULL, json },
};

static void make_folder(const struct row *row)
{
    begin_folder("{\"model_type\": \"llama\", \"eos_token_id\": 2}");
    put_first_pieces();
    put_normalizer("\1\0\0\0ab", 6, true, true);
    put_piece("late", -7, 1);
    put_piece("\u2581", -8, 1);
    if (row->pieces)
        save(scratch_path(row->pieces), message.at, message.size);
    put_file("added_tokens.json", "{\"late\": 7}");
    put_file("tokenizer_config.json",
             "{\"tokenizer_class\": \"LlamaTokenizer\","
             " \"add_prefix_space\": null, \"added_tokens_decoder\": {}}");
    if (!row->pieces || row->procedure == mf_spm_put_internlm3)
        put_file("tokenizer_config.json",
                 "{\"tokenizer_class\": \"LlamaTokenizer\"}");
    if (row->json)
        put_file("tokenizer.json", row->json);
}

/* ---- every step of it, whatever comes of them ---- */

static enum mf_status count_event(void *user, const struct mf_value *value)
{
    *(uint64_t *)user += value->event == MF_EVENT_ITEM && !value->more;
    return MF_OK;
}

static enum mf_status stream_all(struct mf_env *own)
{
    enum mf_status status = MF_OK;

    for (size_t i = 0; i < draft.entry_count && status == MF_OK; i++) {
        const struct mf_entry *entry = &draft.entry[i];
        uint64_t count = 0;

        status = mf_entry_read(own, entry, count_event, &count);
        if (status == MF_OK && entry->type == MF_VALUE_ARRAY)
            assert_int_equal(count, entry->count);
    }
    return status;
}

static enum mf_status run_all(struct mf_env *own, const struct row *row)
{
    struct mf_node *config = NULL;
    enum mf_status status =
        mf_model_open(own, scratch_path("model.safetensors"), NULL, &model);

    if (status != MF_OK)
        return status;
    mf_draft_init(&draft, own, mf_format_to_write("gguf"));
    status = mf_sidecar_tree(model, &draft.arena, "config.json",
                             MF_SIDECAR_LIMIT, &config);
    request = (struct mf_tokenizer_request){ .env = own,
                                             .model = model,
                                             .arena = &draft.arena,
                                             .config = config,
                                             .file = config,
                                             .arch = "llama" };
    missing = false;
    if (status == MF_OK)
        status = mf_set_text(&draft, "general.architecture",
                             (struct mf_str){ "llama", 5 });
    if (status == MF_OK)
        status = row->procedure(&draft, &request, NULL, &missing);
    if (status == MF_OK)
        status = stream_all(own);
    assert_false(status == MF_OK && missing);
    mf_draft_release(&draft);
    mf_model_close(model);
    return status;
}

/* One allocation fails, or all from there on; false: it came to its end. */
static bool try(const struct row *row, uint64_t call, bool after)
{
    struct test_heap heap = { .fail_at = call, .fail_after = after };
    struct mf_env *own = test_env(&heap);
    enum mf_status status = MF_ERR_MEMORY;

    if (own) {
        status = run_all(own, row);
        if (status != MF_OK && status != MF_ERR_MEMORY)
            fail_msg("row %td, allocation %" PRIu64 ": %s", row - rows, call,
                     mf_env_error(own)->message);
        mf_env_free(own);
    }
    check_refused(&heap, status);
    assert_int_equal(heap.live, 0);
    return heap.calls >= call;
}

static void every_failed_allocation(void **state)
{
    (void)state;
    for (size_t i = 0; i < COUNT(rows); i++) {
        make_folder(&rows[i]);
        for (int after = 0; after < 2; after++)
            for (uint64_t call = 1; try(&rows[i], call, after); call++)
                ;
    }
}

/* ---- a file that changes between two passes ---- */

static void files_that_change(void **state)
{
    (void)state;
    names_arch = true;
    for (size_t i = 0; i < COUNT(rows); i++) {
        const char *name = rows[i].pieces ? rows[i].pieces : "tokenizer.json";

        make_folder(&rows[i]);
        assert_int_equal(run(rows[i].procedure, "llama"), MF_OK);
        put_file(name, "{}");
        assert_int_equal(stream_all(env), MF_ERR_IO);
        finish();
    }
}

/* ---- many tokens ---- */

/* A million, of which a tenth of a byte each is kept; and ids of added tokens
 * that jump about. */
static void many_pieces(void **state)
{
    const uint32_t count = 1 << 20;
    uint8_t *pieces = malloc(8 * (size_t)count + 16), *at = pieces;
    struct mf_heap_stats before, after;

    (void)state;
    assert_non_null(pieces);
    memcpy(at, "\x0a\x06\x0a\x02qq\x18\x02", 8);
    at += 8;
    for (uint32_t i = 1; i < count; i++, at += 8) {
        static const char digits[] = "0123456789abcdef";

        memcpy(at, "\x0a\x06\x0a\x04", 4);
        at[4] = (uint8_t)digits[i & 15];
        at[5] = (uint8_t)('!' + (i >> 4) % 64);
        at[6] = (uint8_t)('!' + (i >> 10) % 32);
        at[7] = (uint8_t)('!' + (i >> 15) % 64);
    }
    begin_folder("{}");
    save(scratch_path("tokenizer.model"), pieces, (size_t)(at - pieces));
    free(pieces);
    mf_env_heap(env, &before);
    assert_int_equal(run(mf_spm_put, "llama"), MF_OK);
    assert_int_equal(stream_all(env), MF_OK);
    mf_env_heap(env, &after);
    assert_true(after.live - before.live < 100000);
    assert_true(after.peak < (size_t)16 << 20);
    finish();
}

static void ids_that_jump(void **state)
{
    const uint32_t count = 100000;
    char *text = malloc(32 * (size_t)count);
    size_t size = 1;

    (void)state;
    assert_non_null(text);
    text[0] = '{';
    for (uint32_t i = 0; i < count; i++)
        size += (size_t)sprintf(text + size, "%s\"t%u\": %u", i ? "," : "", i,
                                (unsigned)(i * UINT64_C(61357) % count));
    text[size++] = '}';
    begin_folder("{\"vocab_size\": 100000}");
    put_first_pieces();
    save(scratch_path("tokenizer.model"), message.at, message.size);
    save(scratch_path("added_tokens.json"), text, size);
    free(text);
    assert_int_equal(run(mf_spm_put, "llama"), MF_OK);
    assert_int_equal(stream_all(env), MF_OK);
    finish();
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        WITH_ENV(every_failed_allocation),
        WITH_ENV(files_that_change),
        WITH_ENV(many_pieces),
        WITH_ENV(ids_that_jump),
    };

    return cmocka_run_group_tests(tests, make_scratch, remove_scratch);
}
