/* SPDX-License-Identifier: MIT
 *
 * test_restore_pre.c - rows for tokenizer.ggml.pre, and vocabularies that are
 * refused
 */
#include "lib/base/text.h"
#include "lib/hf/encode/encode.h"
#include "lib/hf/encode/fast.h"
#include "tests/restore/restored.h"

/* ---- every row ---- */

/* All characters that stand for bytes, so that every text has ids. */
static void put_all_bytes(void)
{
    static char text[256][4];
    static struct word words[256];

    for (unsigned i = 0; i < 256; i++) {
        text[i][mf_utf8_put(mf_byte_char((uint8_t)i), text[i])] = 0;
        words[i] = (struct word){ text[i], 1, 0 };
    }
    put_words(words, 256, false);
}

static void every_way_of_cutting_can_be_read(void **state)
{
    const struct mf_str text = { "I'll pay 1234.50 -- \u6211\n\n  x", 28 };
    const char *name;

    (void)state;
    for (size_t i = 0; (name = mf_pre_name_at(i)) != NULL; i++) {
        struct mf_encoder *tokenizer = NULL;
        struct mf_fast *fast;
        uint32_t *ids;
        size_t count = 0;

        gguf_start(&image);
        gguf_string(&image, "tokenizer.ggml.model", "gpt2");
        gguf_string(&image, "tokenizer.ggml.pre", name);
        put_all_bytes();
        must_restore();
        open_folder(256);
        fast = mf_arena_take(&draft.arena, sizeof(*fast));
        if (fast && mf_fast_open(fast, model, &draft.arena, NULL) == MF_OK)
            tokenizer = mf_encoder_open(fast, &draft.arena);
        if (!tokenizer ||
            mf_encoder_run(tokenizer, text, true, &ids, &count) != MF_OK)
            fail_msg("%s: %s", name, mf_env_error(env)->message);
        if (count != text.size)
            fail_msg("%s: %zu ids for %zu bytes", name, count, text.size);
        close_folder();
    }
}

/* Names that a GGUF file can have, but for names of WordPiece and of what
 * tokenizer.json cannot express. */
static void every_known_name_has_cuts(void **state)
{
    static const struct {
        const char *name, *ids[4];
    } names[] = {
#define PRE(name, traits, cuts, flags, ...) { name, { __VA_ARGS__ } },
#define WORDPIECE(name, ids)                { name, { ids } },
#include "lib/vocab/pre_tokenizers.def"
#undef PRE
#undef WORDPIECE
    };
    static const char *const without[] = {
        "bert-bge",   "bert-bge-large", "gemma4", "granite-embed-multi-311m",
        "jina-v2-en", "sarvam-moe"
    };

    (void)state;
    for (size_t i = 0; i < COUNT(names); i++) {
        const char *row;
        size_t at = 0;
        bool known = !names[i].ids[0]; /* no folder has it */

        while (!known && (row = mf_pre_name_at(at++)) != NULL)
            known = strcmp(row, names[i].name) == 0;
        for (at = 0; at < COUNT(without); at++)
            known = known || strcmp(without[at], names[i].name) == 0;
        if (!known)
            fail_msg("'%s' has no cuts in lib/vocab/pre_tokenizers.def",
                     names[i].name);
    }
}

/* ---- what is refused ---- */

static void assert_refused(const char *part)
{
    assert_int_not_equal(restore(), MF_OK);
    if (!strstr(mf_env_error(env)->message, part))
        fail_msg("expected '%s', got '%s'", part, mf_env_error(env)->message);
    mf_clear_error(env);
}

static void begin_bytes(const char *pre)
{
    begin_model("gpt2", pre, byte_words, COUNT(byte_words), false);
}

static void what_cannot_be_is_refused(void **state)
{
    const struct word twice[] = { { "a", 1, 0 }, { "b", 1, 0 }, { "a", 1, 0 } };
    const struct word no_text[] = { { "a\xff", 1, 0 } };
    const struct word no_type[] = { { "a", 7, 0 } };
    const struct word no_unknown[] = { { "a", 1, 0 } };
    const char *const no_merge[] = { "ab" };

    (void)state;
    begin_bytes("unknown-name");
    assert_refused("'tokenizer.ggml.pre' is 'unknown-name'");
    begin_bytes(NULL);
    assert_refused("missing metadata key 'tokenizer.ggml.pre'");
    begin_model("rwkv", NULL, byte_words, COUNT(byte_words), false);
    assert_refused("'tokenizer.ggml.model' is 'rwkv'");
    begin_model("gpt2", "gpt-2", twice, COUNT(twice), false);
    assert_refused("token 2 has the text of an earlier one: 'a'");
    begin_model("gpt2", "gpt-2", no_text, COUNT(no_text), false);
    assert_refused("token 0 is not valid UTF-8");
    begin_model("gpt2", "gpt-2", no_type, COUNT(no_type), false);
    assert_refused("token 0 has an unknown type (7)");
    begin_model("llama", "default", no_unknown, COUNT(no_unknown), true);
    assert_refused("no token has the type 'unknown'");
    begin_bytes("gpt-2");
    put_merges(no_merge, 1);
    assert_refused("merge 0 is not two texts");
    begin_bytes("gpt-2");
    put_u32("tokenizer.ggml.eos_token_id", 10);
    assert_refused("'tokenizer.ggml.eos_token_id' is 10: there are 10 tokens");
    begin_bytes("gpt-2");
    gguf_string(&image, "tokenizer.ggml.add_bos_token", "yes");
    assert_refused("'tokenizer.ggml.add_bos_token' is not true or false");
}

static void a_model_without_a_tokenizer_has_no_files(void **state)
{
    (void)state;
    gguf_start(&image);
    gguf_string(&image, "tokenizer.ggml.model", "none");
    must_restore();
    assert_int_not_equal(access(scratch_path("tokenizer_config.json"), F_OK),
                         0);
}

/* ---- memory that is refused ---- */

static enum mf_status restore_in(struct test_heap *heap)
{
    struct mf_stage stage = MF_STAGE_NONE;
    struct mf_env *own = test_env(heap);
    struct mf_model *gguf = NULL;
    enum mf_status status;

    if (!own)
        return MF_ERR_MEMORY;
    status = mf_model_open(own, scratch_path("in.gguf"), NULL, &gguf);
    if (status == MF_OK)
        status = mf_stage_begin(own, scratch_path("out"), &stage);
    if (status == MF_OK)
        status = mf_restore_tokenizer(&stage, gguf);
    mf_stage_abort(&stage);
    mf_model_close(gguf);
    mf_env_free(own);
    return status;
}

static void sweep(void)
{
    empty_scratch();
    gguf_save(&image, scratch_path("in.gguf"));
    for (int after = 0; after < 2; after++) {
        struct test_heap heap = { .fail_after = after != 0 };

        do {
            heap.calls = 0;
            heap.fail_at++;
            check_refused(&heap, restore_in(&heap));
            assert_int_equal(heap.live, 0);
        } while (heap.calls >= heap.fail_at);
        assert_true(heap.fail_at > 5);
    }
}

static void refused_memory_is_an_error(void **state)
{
    const struct word pieces[] = { { "<unk>", 2, 0 },
                                   { "a", 1, -1 },
                                   { "x", 4, -1000 },
                                   { "<|y|>", 4, -1000 } };
    const struct word lost[] = { { "a", 1, -1000 },
                                 { "aa", 1, -1000 },
                                 { "<s>", 3, -1000 } };

    (void)state;
    begin_bytes("gpt-2");
    put_merges(byte_merges, COUNT(byte_merges));
    put_u32("tokenizer.ggml.eos_token_id", 6);
    gguf_string(&image, "tokenizer.chat_template", "{{ x }}");
    sweep();
    begin_model("llama", "default", pieces, COUNT(pieces), true);
    sweep();
    begin_model("llama", "default", lost, COUNT(lost), true);
    sweep();
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(every_way_of_cutting_can_be_read),
        cmocka_unit_test(every_known_name_has_cuts),
        cmocka_unit_test(what_cannot_be_is_refused),
        cmocka_unit_test(refused_memory_is_an_error),
        cmocka_unit_test(a_model_without_a_tokenizer_has_no_files),
    };

    return RUN_WITH_SCRATCH(tests);
}
