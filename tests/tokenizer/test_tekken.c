/* SPDX-License-Identifier: MIT
 *
 * test_tekken.c - the keys tokenizer.* that a tekken.json becomes
 */
#include <stdlib.h>

#include "tests/tokenizer/tokenizer_folder.h"

static char file[1 << 16];
static size_t file_size;

static void write_part(const char *text)
{
    size_t size = strlen(text);

    assert_true(size < sizeof(file) - file_size);
    memcpy(file + file_size, text, size + 1);
    file_size += size;
}

/* An entry of the vocabulary. */
static void write_token(unsigned rank, const char *bytes, size_t size)
{
    static const char digits[] =
        "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrst"
        "uvwxyz0123456789+/";
    char text[128], base64[32];
    size_t to = 0;

    for (size_t i = 0; i < size; i += 3) {
        uint32_t bits = (uint32_t)(uint8_t)bytes[i] << 16;

        bits |= i + 1 < size ? (uint32_t)(uint8_t)bytes[i + 1] << 8 : 0;
        bits |= i + 2 < size ? (uint32_t)(uint8_t)bytes[i + 2] : 0;
        base64[to++] = digits[bits >> 18];
        base64[to++] = digits[bits >> 12 & 63];
        base64[to++] = i + 1 < size ? digits[bits >> 6 & 63] : '=';
        base64[to++] = i + 2 < size ? digits[bits & 63] : '=';
    }
    base64[to] = 0;
    snprintf(text, sizeof(text),
             "%s{\"rank\":%u,\"token_bytes\":\"%s\",\"token_str\":null}",
             rank > 0 ? "," : "", rank, base64);
    write_part(text);
}

/* All bytes, then tokens of some of them. */
static void write_tekken(const char *version, unsigned size, unsigned special,
                         const char *more)
{
    static const char *const tokens[] = { "ab",   " a",  "bc", "abc",
                                          "abcd", "bcd", "cd" };
    char text[256];

    file_size = 0;
    snprintf(text, sizeof(text),
             "{\"config\":{\"default_vocab_size\":%u,"
             "\"default_num_special_tokens\":%u,\"version\":\"%s\"},%s"
             "\"vocab\":[",
             size, special, version, more);
    write_part(text);
    for (unsigned i = 0; i < 256; i++)
        write_token(i, (char[]){ (char)i }, 1);
    for (unsigned i = 0; i < sizeof(tokens) / sizeof(*tokens); i++)
        write_token(256 + i, tokens[i], strlen(tokens[i]));
    write_part("]}");
    begin_folder();
    write_text("config.json", "{}");
    write_file("tekken.json", file, file_size);
}

static void has(const char *text)
{
    if (!strstr(got, text))
        fail_msg("no '%s' in %s", text, got);
}

/* "abcd" has the parts "abc" and "d", but "cd" comes later than it and is no
 * reason against "ab" and "cd": every pair of tokens counts. */
static void tokens_become_merges(void **state)
{
    (void)state;
    write_tekken("v3", 285, 22, "");
    assert_int_equal(put_row("mistral", 0), MF_OK);
    has("> tokenizer.ggml.model\tgpt2\n"
        "> tokenizer.ggml.pre\ttekken\n"
        "> tokenizer.ggml.merges\t[a b,\\xc4\\xa0 a,b c,a bc,ab c,a bcd,ab cd,"
        "abc d,b cd,bc d,c d]\n"
        "> tokenizer.ggml.bos_token_id\t1\n"
        "> tokenizer.ggml.eos_token_id\t2\n"
        "> tokenizer.ggml.unknown_token_id\t0\n"
        "> tokenizer.ggml.padding_token_id\t11\n"
        "> tokenizer.ggml.tokens\t[<unk>,<s>,</s>,[INST],[/INST],");
    has("[TOOL_CONTENT],<SPECIAL_20>,<SPECIAL_21>,\\xc4\\x80,");
    has(",ab,\\xc4\\xa0a,bc,abc,abcd,bcd,cd]\n");
    has("> tokenizer.ggml.token_type\t[3,3,");
    has("> llama.vocab_size\t285\n"
        "> tokenizer.ggml.add_bos_token\ttrue\n"
        "> tokenizer.ggml.add_eos_token\tfalse\n"
        "> tokenizer.chat_template\tmistral-v3-tekken\n");
    close_folder();
}

static void special_tokens_may_be_listed(void **state)
{
    static const char four[] =
        "\"special_tokens\":[{\"rank\":0,\"token_str\":\"<pad>\"},"
        "{\"rank\":1,\"token_str\":\"<unk>\"},{\"rank\":2,\"token_str\":"
        "\"</s>\"},{\"rank\":3,\"token_str\":\"<s>\"}],";

    (void)state;
    write_tekken("v7", 266, 5, four);
    assert_int_equal(put_row("mistral", 0), MF_OK);
    has("> tokenizer.ggml.bos_token_id\t3\n");
    has("> tokenizer.ggml.padding_token_id\t0\n");
    has("\t[<pad>,<unk>,</s>,<s>,<SPECIAL_4>,\\xc4\\x80,");
    has(",abcd]\n"); /* the tokens after vocab_size are left out */
    has("\tmistral-v7-tekken\n");
    close_folder();
}

static void refused(const char *words)
{
    if (put_row("mistral", 0) == MF_OK)
        fail_msg("accepted: %s", words);
    if (!strstr(mf_env_error(env)->message, words))
        fail_msg("'%s' is not in '%s'", words, mf_env_error(env)->message);
    close_folder();
}

/* The file with one part replaced. */
static void refused_with(const char *part, const char *by, const char *words)
{
    char *at;
    static char rest[sizeof(file)];

    write_tekken("v3", 285, 22, "");
    at = strstr(file, part);
    assert_non_null(at);
    strcpy(rest, at + strlen(part));
    file_size = (size_t)(at - file);
    file[file_size] = 0;
    write_part(by);
    write_part(rest);
    write_file("tekken.json", file, file_size);
    refused(words);
}

static void faults_are_refused(void **state)
{
    (void)state;
    refused_with("\"default_vocab_size\":285", "\"default_vocab_size\":286",
                 "token 263 of 'vocab'");
    refused_with("\"default_vocab_size\":285", "\"default_vocab_size\":21",
                 "default_num_special_tokens");
    refused_with("\"default_vocab_size\":285", "\"default_vocab_size\":-1",
                 "'config.default_vocab_size' is invalid");
    refused_with("\"default_vocab_size\":285,", "",
                 "'config.default_vocab_size' is missing");
    refused_with("_tokens\":22", "_tokens\":19", "has 20 special tokens");
    refused_with("_tokens\":22", "_tokens\":65537", "num_special_tokens' is");
    refused_with("\"vocab\":[", "\"vocab\":7,\"x\":[", "'vocab' is invalid");
    refused_with("\"YWI=\"", "\"YW I\"", "token 256 of 'vocab'");
    refused_with("\"YWI=\"", "\"YWI\"", "token 256 of 'vocab'");
    refused_with("\"YWI=\"", "7", "token 256 of 'vocab'");
    refused_with("\"YWI=\"", "\"YmM=\"", "have the same bytes");
    refused_with("\"YWI=\"", "\"eHl6\"", "");
    refused_with("\"rank\":257", "\"rank\":258", "token 257 of 'vocab'");
    refused_with("\"YWJjZA==\"", "\"eHl6\"", "does not consist of two others");
    write_tekken("v11", 285, 22, "");
    refused("version 'v11'");
    write_tekken("v3", 285, 22, "\"special_tokens\":[],");
    refused("no special token '<s>'");
    write_tekken("v3", 285, 22, "\"special_tokens\":[7],");
    refused("'special_tokens' is invalid");
    write_tekken("v3", 285, 22, "");
    for (size_t size = 0; size < file_size; size += 1 + size / 16) {
        write_file("tekken.json", file, size);
        refused("");
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(tokens_become_merges),
        cmocka_unit_test(special_tokens_may_be_listed),
        cmocka_unit_test(faults_are_refused),
    };

    cmocka_set_message_output(CM_OUTPUT_TAP);
    return RUN_WITH_SCRATCH(tests);
}
