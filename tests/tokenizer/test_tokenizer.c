/* SPDX-License-Identifier: MIT
 *
 * test_tokenizer.c - the keys tokenizer.* that a folder's files become
 */
#include "lib/hf/tokenizer/parts.h"
#include "tests/tokenizer/tokenizer_folder.h"

/* "plain": the one of "gpt2", with a word of the row. */
static enum mf_status put(const char *procedure, uint64_t vocab_size)
{
    bool plain = strcmp(procedure, "plain") == 0;
    const struct mf_special_options options = { .merges = true,
                                                .plain_added = plain };

    procedure = plain ? "gpt2" : procedure;
    open_folder(vocab_size);
    if (mf_base_put(&draft, &request, &options, procedure, "PRE") != MF_OK)
        return mf_env_error(env)->status;
    print_draft();
    return MF_OK;
}

/* ---- what llama.cpp's converter makes of them ---- */

static size_t unescape(char *text)
{
    size_t to = 0;

    for (size_t i = 0; text[i]; i++) {
        char c = text[i];

        if (c == '\\') {
            c = text[++i];
            c = c == 'n' ? '\n' : c == 'r' ? '\r' : c == 't' ? '\t' : c;
        }
        text[to++] = c;
    }
    return to;
}

static void compare(const char *name, const char *procedure, uint64_t count,
                    const char *expected)
{
    if (put(procedure, count) != MF_OK)
        fail_msg("%s: %s", name, mf_env_error(env)->message);
    if (strcmp(got, expected) != 0)
        fail_msg("%s: expected\n%s\ngot\n%s", name, expected, got);
    close_folder();
}

static void folders_become_the_keys_of_the_reference(void **state)
{
    static char line[1 << 16], expected[1 << 16];
    FILE *file = fopen("tests/data/vocabularies.txt", "r");
    char name[32] = "", procedure[32], target[32];
    unsigned count = 0, cases = 0;
    size_t size = 0;

    (void)state;
    assert_non_null(file);
    while (fgets(line, sizeof(line), file)) {
        char *space = strchr(line + 2, ' ');

        if (line[0] == '>') {
            assert_true(strlen(line) < sizeof(expected) - size);
            strcpy(expected + size, line);
            size += strlen(line);
        } else if (line[0] == '@') {
            line[strcspn(line, "\n")] = 0;
            assert_int_equal(sscanf(line, "@ %31s", target), 1);
            write_file(target, space + 1, unescape(space + 1));
        } else if (line[0] == '=') {
            if (*name)
                compare(name, procedure, count, expected);
            assert_int_equal(
                sscanf(line, "= %31s %31s %u", procedure, name, &count), 3);
            begin_folder();
            size = 0;
            cases++;
        }
    }
    assert_int_equal(fclose(file), 0);
    compare(name, procedure, count, expected);
    assert_true(cases > 20);
}

/* ---- texts of tokens ---- */

static void decode(const char *decoder, const char *text, const char *expected)
{
    struct mf_arena arena;
    struct mf_source source;
    struct mf_reader reader;
    struct mf_json json;
    struct mf_node *node;
    struct mf_str out;

    mf_arena_init(&arena, env);
    mf_source_open_memory("decoder", decoder, strlen(decoder), &source);
    assert_int_equal(mf_reader_init(&reader, env, &source, NULL, 0), MF_OK);
    mf_json_init(&json, &reader);
    assert_int_equal(mf_tree_read(&json, &arena, 4096, &node), MF_OK);
    mf_reader_release(&reader);
    if (mf_token_decode(&arena, node, (struct mf_str){ text, strlen(text) },
                        &out) != MF_OK) {
        assert_null(expected);
        mf_clear_error(env);
    } else if (!expected || out.size != strlen(expected) ||
               memcmp(out.at, expected, out.size) != 0) {
        fail_msg("%s of '%s': '%.*s'", decoder, text, (int)out.size, out.at);
    }
    mf_arena_release(&arena);
}

#define TYPE(name) "{\"type\":\"" name "\"}"

/* As tokenizers 0.22.2 decodes a text of one token. */
static void tokens_are_decoded(void **state)
{
    static const char metaspace[] =
        "{\"type\":\"Metaspace\",\"replacement\":\"\u2581\","
        "\"prepend_scheme\":\"always\"}";
    static const char never[] =
        "{\"type\":\"Metaspace\",\"replacement\":\"\u2581\","
        "\"prepend_scheme\":\"never\"}";
    static const char word_piece[] =
        "{\"type\":\"WordPiece\",\"prefix\":\"##\",\"cleanup\":true}";
    static const char strip[] =
        "{\"type\":\"Strip\",\"content\":\" \",\"start\":1,\"stop\":0}";
    static const char sequence[] =
        "{\"type\":\"Sequence\",\"decoders\":[{\"type\":\"Replace\","
        "\"pattern\":{\"String\":\"\u2581\"},\"content\":\" \"}," TYPE(
            "ByteFallback") "," TYPE("Fuse") ",{\"type\":\"Strip\","
                                             "\"content\":\" \",\"start\":1,"
                                             "\"stop\":0}]}";

    (void)state;
    decode(TYPE("ByteLevel"), "<a>", "<a>");
    decode(TYPE("ByteLevel"), "\u0120a", " a");
    decode(TYPE("ByteLevel"), "\u00e9", "\ufffd");
    decode(TYPE("ByteLevel"), "\u00c3\u00a9", "\u00e9");
    decode(TYPE("ByteLevel"), "\u00e2\u0124a", "\ufffda");
    decode(TYPE("ByteLevel"), "\u0120\uff5c", "\u0120\uff5c");
    decode(word_piece, "##a", "##a");
    decode(word_piece, "x .  n't", "x. n't");
    decode(word_piece, "a do not", "a don't");
    decode(metaspace, "\u2581\u2581a b", "a b");
    decode(never, "\u2581\u2581a b", "  a b");
    decode(TYPE("ByteFallback"), "<0x41>", "A");
    decode(TYPE("ByteFallback"), "<0xC3>", "\ufffd");
    decode(TYPE("ByteFallback"), "<0xzz>", "<0xzz>");
    decode(strip, " ", "");
    decode(strip, "  a", " a");
    decode(sequence, "\u2581\u2581a b", " a b");
    decode(sequence, "<0x41>", "A");
    decode("{\"type\":\"BPEDecoder\",\"suffix\":\"</w>\"}", "a</w>", "a");
    decode("null", "\u0120a", "\u0120a");
    decode(TYPE("CTC"), "a", NULL);
    decode(TYPE("Metaspace"), "a", NULL);
    decode("{\"type\":\"Replace\",\"pattern\":{\"Regex\":\"a\"}}", "a", NULL);
    decode("{\"type\":\"Sequence\",\"decoders\":[{\"type\":\"Sequence\","
           "\"decoders\":[]}]}",
           "a", NULL);
}

static void tokens_that_look_special(void **state)
{
    static const char *const yes[] = { "<pad>",           "<|x|>",
                                       "<\uff5cx\uff5c>", "<unused12>",
                                       "[@BOS@]",         "<|>" };
    static const char *const no[] = { "", "<pad", "<x>", "|x|", "<|x>" };
    char text[] = "\u2581a\u2581\u2581b";

    (void)state;
    for (size_t i = 0; i < sizeof(yes) / sizeof(*yes); i++)
        assert_true(
            mf_token_looks_special((struct mf_str){ yes[i], strlen(yes[i]) }));
    for (size_t i = 0; i < sizeof(no) / sizeof(*no); i++)
        assert_false(
            mf_token_looks_special((struct mf_str){ no[i], strlen(no[i]) }));
    text[mf_token_spaces((struct mf_str){ text, strlen(text) }, text)] = 0;
    assert_string_equal(text, " a  b");
}

/* ---- what is refused ---- */

static const char good[] =
    "{\"added_tokens\":[{\"id\":2,\"content\":\"<x>\",\"special\":true,"
    "\"normalized\":false}],\"normalizer\":null,\"decoder\":null,"
    "\"post_processor\":null,\"model\":{\"type\":\"BPE\",\"vocab\":{\"a\":0,"
    "\"b\":1},\"merges\":[\"a b\"]}}";
static const char config[] = "{\"tokenizer_class\":\"PreTrainedTokenizer\"}";

static void begin_good(void)
{
    begin_folder();
    write_text("config.json", "{}");
    write_text("tokenizer.json", good);
    write_text("tokenizer_config.json", config);
}

static void refused(const char *file, const char *text, const char *words)
{
    begin_good();
    write_text(file, text);
    if (put("gpt2", 8) == MF_OK)
        fail_msg("%s %s: is accepted", file, text);
    if (!strstr(mf_env_error(env)->message, words))
        fail_msg("%s %s: %s", file, text, mf_env_error(env)->message);
    close_folder();
}

/* The good file with one part replaced. */
static void refused_with(const char *part, const char *by, const char *words)
{
    static char text[4096];
    const char *at = strstr(good, part);

    assert_non_null(at);
    snprintf(text, sizeof(text), "%.*s%s%s", (int)(at - good), good, by,
             at + strlen(part));
    refused("tokenizer.json", text, words);
}

static void faults_are_refused(void **state)
{
    static const char tokens[] = "tokenizer_config.json";

    (void)state;
    refused_with("{\"a\":0,\"b\":1}", "7", "'model.vocab'");
    refused_with("\"a\":0", "\"a\":1", "two tokens");
    refused_with("\"a\":0", "\"a\":-1", "is not a number from 0");
    refused_with("\"a\":0", "\"a\":4194304", "is not a number from 0");
    refused_with("\"a\":0", "\"a\":\"0\"", "is not a number from 0");
    refused_with("\"a\":0", "\"a\":8", "'vocab_size' of 'config.json' is 8");
    refused_with("[\"a b\"]", "[\"a b\",7]", "merge 1 is not a text");
    refused_with("[\"a b\"]", "[[\"a\",\"b\"],[\"a\"]]", "not a pair");
    refused_with("[\"a b\"]", "[[\"a\",\"b\",\"c\"]]", "not a pair");
    refused_with("\"content\":\"<x>\"", "\"content\":7", "'content'");
    refused_with("\"content\":\"<x>\",", "", "no 'content'");
    refused_with("\"special\":true", "\"special\":1", "'special'");
    refused_with("\"id\":2", "\"id\":\"2\"", "'id'");
    refused_with("[{\"id\"", "[1,{\"id\"", "is not an object");
    refused_with("\"decoder\":null", "\"decoder\":{\"type\":\"CTC\"}", "CTC");
    refused_with("\"post_processor\":null",
                 "\"post_processor\":{\"processors\":[7]}", "a number");
    refused_with("\"post_processor\":null",
                 "\"post_processor\":{\"type\":\"RobertaProcessing\","
                 "\"cls\":7}",
                 "a number");
    refused_with("\"normalizer\":null",
                 "\"normalizer\":{\"type\":\"BertNormalizer\","
                 "\"lowercase\":7}",
                 "'lowercase' of a normalizer");
    refused("tokenizer.json", "[]", "expected an object");
    refused(tokens, "[]", "expected an object");
    refused(tokens, "{}", "no 'tokenizer_class'");
    refused(tokens, "{\"tokenizer_class\":\"XTokenizer\"}", "'XTokenizer'");
    refused(tokens,
            "{\"tokenizer_class\":\"PreTrainedTokenizer\",\"bos_token\":7}",
            "'bos_token' must be a string or a token, not a number");
    refused(tokens,
            "{\"tokenizer_class\":\"PreTrainedTokenizer\",\"bos_token\":"
            "{\"content\":\"a\"}}",
            "'bos_token' must be");
    refused(tokens,
            "{\"tokenizer_class\":\"PreTrainedTokenizer\","
            "\"extra_special_tokens\":[]}",
            "'extra_special_tokens'");
    refused(tokens,
            "{\"tokenizer_class\":\"PreTrainedTokenizer\","
            "\"added_tokens_decoder\":{\"x\":{}}}",
            "a key is not an id");
    refused(tokens,
            "{\"tokenizer_class\":\"PreTrainedTokenizer\","
            "\"added_tokens_decoder\":{\"7\":[]}}",
            "not an object");
    refused("config.json", "{\"bos_token_id\":-1}", "'bos_token_id' is -1");
    refused("added_tokens.json", "{\"a\":\"b\"}", "the id of 'a'");
}

static void every_prefix_is_refused(void **state)
{
    (void)state;
    for (size_t size = 0; size < strlen(good); size++) {
        begin_good();
        write_file("tokenizer.json", good, size);
        if (put("gpt2", 0) == MF_OK)
            fail_msg("%zu bytes are accepted", size);
        close_folder();
    }
    begin_good();
    assert_int_equal(put("gpt2", 0), MF_OK);
    assert_string_equal(got, "> tokenizer.ggml.model\tgpt2\n"
                             "> tokenizer.ggml.pre\tPRE\n"
                             "> tokenizer.ggml.tokens\t[a,b,<x>]\n"
                             "> tokenizer.ggml.token_type\t[1,1,3]\n"
                             "> tokenizer.ggml.merges\t[a b]\n");
    close_folder();
}

/* ---- rows ---- */

static void words_of_a_row(void **state)
{
    static const struct {
        const char *words, *expected;
    } rows[] = {
        { "special", "> tokenizer.ggml.eos_token_id\t1\n" },
        { "special eos=0 eot=<x>", "> tokenizer.ggml.eos_token_id\t1\n"
                                   "> tokenizer.ggml.eot_token_id\t2\n" },
        { "special eos:=7", "> tokenizer.ggml.eos_token_id\t7\n" },
        { "special merges types=eot,pad eot=5",
          "> tokenizer.ggml.merges\t[a b]\n"
          "> tokenizer.ggml.eot_token_id\t5\n" },
        { "sentencepiece | special", "> tokenizer.ggml.eos_token_id\t1\n" },
        { "none", "> tokenizer.ggml.model\tnone\n" },
    };
    static const char *const bad[] = { "other",           "special x",
                                       "special eot=<y>", "special =1",
                                       "sentencepiece",   "qwen" };

    (void)state;
    begin_good();
    write_text("config.json", "{\"eos_token_id\":1}");
    for (size_t i = 0; i < sizeof(rows) / sizeof(*rows); i++) {
        if (put_row(rows[i].words, 0) != MF_OK)
            fail_msg("%s: %s", rows[i].words, mf_env_error(env)->message);
        assert_string_equal(got, rows[i].expected);
        close_folder();
    }
    for (size_t i = 0; i < sizeof(bad) / sizeof(*bad); i++) {
        assert_int_not_equal(put_row(bad[i], 0), MF_OK);
        close_folder();
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(folders_become_the_keys_of_the_reference),
        cmocka_unit_test(tokens_are_decoded),
        cmocka_unit_test(tokens_that_look_special),
        cmocka_unit_test(faults_are_refused),
        cmocka_unit_test(every_prefix_is_refused),
        cmocka_unit_test(words_of_a_row),
    };

    cmocka_set_message_output(CM_OUTPUT_TAP);
    return RUN_WITH_SCRATCH(tests);
}
