/* SPDX-License-Identifier: MIT
 *
 * test_hub_back.c - folders become GGUF files, these folders, and these the
 * same files
 *
 * The folders come from tests/data/hub_tensors.txt, whose rows are explained
 * there, and tests/data/hub_back.txt.  Each may say how it comes back:
 *
 *     back KIND       with a tokenizer of this kind, see `tokenizers`; "bytes"
 *                     where it does not say
 *     says TEXT       its config.json has that on the way back
 *     lacks TEXT      it has not
 *     no_mtp          the layers that predict further tokens are left out, and
 *                     must be on the way back
 *     lost TEXT       it does not, and this is part of the error
 *
 * Digests of pre-tokenizers belong to large vocabularies: here any one has
 * the name that its kind has.
 */
#include <dirent.h>
#include <sys/stat.h>

#include "lib/hf/encode/fast.h"
#include "tests/hub/hub_folder.h"
#include "tests/hub/same_facts.h"
#include "tests/tokenizer/proto_image.h"

/* ---- tokenizers ---- */

static const char *pre;

enum mf_status __wrap_mf_encoder_pre(struct mf_fast *fast, const char **out);

enum mf_status __wrap_mf_encoder_pre(struct mf_fast *fast, const char **out)
{
    *out = pre;
    return mf_fast_read(fast, NULL, NULL);
}

static void save_message(const char *name)
{
    save(scratch_path(name), message.at, message.size);
}

static void save_pieces(unsigned count)
{
    put_first_pieces();
    for (unsigned i = 6; i < count; i++) {
        char text[16];

        snprintf(text, sizeof(text), "c%u", i);
        put_piece(text, (float)-(int)i, 0);
    }
    put_trainer(1, false);
    put_normalizer("", 0, true, false);
    save_message("tokenizer.model");
}

static void save_unigram(const char *name, unsigned count)
{
    message.size = 0;
    put_piece("<unk>", 0, 2);
    put_piece("<pad>", 0, 3);
    put_piece("</s>", 0, 3);
    for (unsigned i = 3; i < count; i++) {
        char text[16];

        snprintf(text, sizeof(text), "c%u", i);
        put_piece(text, (float)-(int)i, 0);
    }
    put_trainer(0, false);
    put_normalizer("", 0, true, false);
    save_message(name);
}

static void save_t5(unsigned count)
{
    save_unigram("spiece.model", count);
}

/* The other tokens come from the class, or are fillers. */
static void save_roman(unsigned count)
{
    assert_true(count >= 24);
    save_unigram("sentencepiece.bpe.model", 20);
}

/* tokenizer.json with tokens after `first`, and which class it is of. */
static void save_json(const char *head, const char *first, unsigned from,
                      unsigned count, const char *class)
{
    static char text[1 << 16];
    size_t at =
        (size_t)snprintf(text, sizeof(text), "{%s,\"vocab\":{%s", head, first);

    for (unsigned i = from; i < count; i++)
        at += (size_t)snprintf(text + at, sizeof(text) - at, "%s\"t%u\":%u",
                               i > 0 ? "," : "", i, i);
    at += (size_t)snprintf(text + at, sizeof(text) - at, "}}}");
    assert_true(at < sizeof(text));
    save(scratch_path("tokenizer.json"), text, at);
    at = (size_t)snprintf(text, sizeof(text), "{\"tokenizer_class\":\"%s\"}",
                          class);
    save(scratch_path("tokenizer_config.json"), text, at);
}

static void save_bpe(const char *model, const char *class, unsigned count)
{
    static const char *const added[] = { "[gMASK]",  "<|endoftext|>",
                                         "<|user|>", "<|observation|>",
                                         "<s>",      "</s>",
                                         "<pad>",    "<unk>",
                                         "<mask>",   "<|endofassistant|>" };
    char head[1024] = "\"added_tokens\":[", first[512] = "";

    for (size_t i = 0; i < COUNT(added); i++) {
        const char *comma = i > 0 ? "," : "";
        size_t at = strlen(head);

        snprintf(head + at, sizeof(head) - at,
                 "%s{\"id\":%zu,\"content\":\"%s\",\"special\":true}", comma, i,
                 added[i]);
        at = strlen(first);
        snprintf(first + at, sizeof(first) - at, "%s\"%s\":%zu", comma,
                 added[i], i);
    }
    strcat(head, "],");
    strcat(head, model);
    save_json(head, first, COUNT(added), count, class);
}

static void save_bytes(unsigned count)
{
    save_bpe("\"model\":{\"type\":\"BPE\",\"merges\":[]",
             "PreTrainedTokenizerFast", count);
}

/* The same, but the first token matches the beginning. */
static void save_begun(unsigned count)
{
    static const char config[] =
        "{\"tokenizer_class\":\"PreTrainedTokenizerFast\","
        "\"add_bos_token\":true}";

    save_bytes(count);
    save(scratch_path("tokenizer_config.json"), config, sizeof(config) - 1);
}

static void save_roberta(unsigned count)
{
    save_bpe("\"model\":{\"type\":\"BPE\",\"merges\":[]", "RobertaTokenizer",
             count);
}

static void save_merged(unsigned count)
{
    save_bpe("\"decoder\":{\"type\":\"Sequence\"},\"model\":{\"type\":\"BPE\","
             "\"byte_fallback\":true,\"merges\":[\"t 4\"]",
             "GemmaTokenizer", count);
}

static void save_words(unsigned count)
{
    save_json("\"normalizer\":{\"type\":\"BertNormalizer\",\"lowercase\":true,"
              "\"strip_accents\":null},"
              "\"model\":{\"type\":\"WordPiece\",\"unk_token\":\"[UNK]\"",
              "\"[PAD]\":0,\"[UNK]\":1,\"[CLS]\":2,\"[SEP]\":3,\"[MASK]\":4", 5,
              count, "BertTokenizer");
}

static const struct {
    const char *kind, *pre;
    void (*save)(unsigned count);
} tokenizers[] = {
    { "bytes", "gpt-2", save_bytes },
    { "begun", "gpt-2", save_begun },
    { "roberta", "gpt-2", save_roberta },
    { "merged", NULL, save_merged },
    { "words", "jina-v2-en", save_words },
    { "pieces", NULL, save_pieces },
    { "t5", NULL, save_t5 },
    { "roman", NULL, save_roman },
};

static void save_tokenizer(const char *kind, unsigned count)
{
    size_t row = 0;

    while (strcmp(tokenizers[row].kind, kind) != 0)
        if (++row == COUNT(tokenizers))
            fail_msg("no tokenizer '%s'", kind);
    pre = tokenizers[row].pre;
    tokenizers[row].save(count);
}

/* ---- there and back ---- */

static struct folder folder;
static char kind[16], loss[128];
#define TENSORS 512

static unsigned failures;
static unsigned vocab_size;
static bool no_mtp, takes_no_mtp;
static char assumed[256], assumed_wanted[256]; /* "a, b" */
static size_t assumptions;
static struct {
    bool there;
    char text[112];
} said[8];
static size_t said_count;

static void keep_assumed(const struct mf_convert_result *result)
{
    int size = 0;

    assumed[0] = '\0';
    for (size_t i = 0; i < result->assumed_count; i++)
        size += snprintf(assumed + size, sizeof(assumed) - (size_t)size,
                         "%s%.*s", i > 0 ? ", " : "",
                         (int)result->assumed[i].size, result->assumed[i].at);
    assumptions += result->assumed_count > 0;
}

static enum mf_status convert(const char *from, const char *to, bool gguf)
{
    const struct mf_convert_options how = {
        .size = sizeof(how),
        .names = gguf ? MF_NAMING_GGUF : MF_NAMING_KEEP,
        .type = gguf ? "auto" : NULL,
        .replace = gguf,
        .without_mtp = gguf && no_mtp,
    };

    struct mf_convert_result result = { 0 };
    enum mf_status status;

    mf_clear_error(env);
    status = convert_file(env, from, to, &how, &result);
    takes_no_mtp = takes_no_mtp || result.back_without_mtp;
    if (!gguf)
        keep_assumed(&result);
    return status;
}

static void remove_folder(const char *path)
{
    DIR *dir = opendir(path);
    struct dirent *entry;
    char name[900];

    if (!dir)
        return;
    while ((entry = readdir(dir)) != NULL) {
        snprintf(name, sizeof(name), "%s/%s", path, entry->d_name);
        if (entry->d_name[0] != '.' && unlink(name) != 0)
            remove_folder(name); /* it is one */
    }
    closedir(dir);
    assert_int_equal(rmdir(path), 0);
}

static void wrong(const char *what, const char *name)
{
    print_error("%s: %s%s\n", folder.name, what, name);
    failures++;
}

static void check_config(const char *path)
{
    char name[640], *text;
    size_t size;

    snprintf(name, sizeof(name), "%sconfig.json", path);
    text = (char *)load(name, &size);
    text[size - 1] = '\0';
    for (size_t i = 0; i < said_count; i++)
        if ((strstr(text, said[i].text) != NULL) != said[i].there)
            wrong(said[i].there ? "config.json lacks " : "config.json has ",
                  said[i].text);
    if (*assumed_wanted && strcmp(assumed, assumed_wanted) != 0)
        wrong("said to be assumed: ", assumed);
    free(text);
}

/* ---- without weights ---- */

static size_t bare_same, bare_estimated, bare_refused;

/* Folders of the lists may lack what a loader demands, or have more. */
static bool is_complete(const char *gguf)
{
    struct mf_model *model = open_model(gguf);
    struct mf_finding finding;
    /* The first one has biases of queries and keys only, as no class does. */
    bool complete =
        mf_model_validate(model) == MF_OK && strcmp(folder.name, "llama") != 0;

    for (size_t i = 0; mf_finding_at(model, i, &finding); i++)
        if (strncmp(finding.rule, "MODEL-", 6) == 0)
            complete = false;
    mf_model_close(model);
    return complete;
}

/* With config.json alone, a plan equals the whole folder's, or it says that its
 * weights are estimated, or it is refused: never another number as if it were
 * sure. */
static void plan_without_weights(const char *path, const char *tensors)
{
    const struct mf_open_options options = { .size = sizeof(options),
                                             .bare = true };
    const struct mf_plan_options how = { .size = sizeof(how), .context = 2048 };
    const uint32_t weights = UINT32_C(1) << MF_PLAN_WEIGHTS;
    struct plan_differences differences = { "" };
    struct mf_model *whole = open_model(tensors), *bare;
    struct mf_plan plan[2];
    char name[640];

    snprintf(name, sizeof(name), "%sconfig.json", path);
    assert_int_equal(mf_model_open(env, name, &options, &bare), MF_OK);
    assert_int_equal(mf_plan(whole, &how, &plan[0]), MF_OK);
    if (mf_plan(bare, &how, &plan[1]) != MF_OK) {
        assert_int_equal(mf_env_error(env)->status, MF_ERR_UNSUPPORTED);
        if (getenv("SHOW"))
            print_error("%s: %s\n", folder.name, mf_env_error(env)->message);
        bare_refused++;
        mf_clear_error(env);
    } else {
        bool estimated = plan[1].estimated & weights;

        plan[1].estimated &= ~weights;
        compare_plans(&plan[0], &plan[1], &differences);
        if (*differences.text && !estimated)
            wrong("without weights:", differences.text);
        else if (*differences.text && getenv("SHOW"))
            print_error("%s: estimated%s\n", folder.name, differences.text);
        bare_same += !*differences.text;
        bare_estimated += *differences.text && estimated;
    }
    mf_model_close(bare);
    mf_model_close(whole);
}

/* A file, the folder of it, and what that becomes. */
static enum mf_status go_round(const char *from, const char *name,
                               const char *to)
{
    char path[600], tensors[640];
    enum mf_status status;

    snprintf(path, sizeof(path), "%s/", scratch_path(name));
    snprintf(tensors, sizeof(tensors), "%smodel.safetensors", path);
    status = convert(scratch_path(from), path, false);
    if (status == MF_OK) {
        check_config(path);
        if (is_complete(scratch_path(from)))
            plan_without_weights(path, tensors);
    }
    if (status == MF_OK)
        status = convert(tensors, scratch_path(to), true);
    remove_folder(path);
    return status;
}

static void tell(void *user, const struct mf_difference *difference)
{
    struct mf_model *const *model = user;
    struct mf_tensor tensor;
    struct mf_meta meta;
    bool in_b = difference->a == SIZE_MAX;
    size_t at = in_b ? difference->b : difference->a;

    if (difference->is_tensor) {
        mf_tensor_at(model[in_b], at, &tensor);
        wrong("another tensor ", tensor.name.at);
    } else {
        mf_meta_at(model[in_b], at, &meta);
        wrong("another key ", meta.key.at);
    }
}

static void assert_same_models(const char *a, const char *b)
{
    struct mf_model *model[] = { open_model(scratch_path(a)),
                                 open_model(scratch_path(b)) };

    assert_int_equal(mf_model_diff(model[0], model[1], NULL, tell, model),
                     MF_OK);
    mf_model_close(model[0]);
    mf_model_close(model[1]);
}

static void assert_same_bytes(const char *a, const char *b)
{
    size_t size[2];
    uint8_t *bytes[2] = { load(scratch_path(a), &size[0]),
                          load(scratch_path(b), &size[1]) };

    assert_int_equal(size[0], size[1]);
    assert_memory_equal(bytes[0], bytes[1], size[0]);
    free(bytes[0]);
    free(bytes[1]);
}

/* As llama.cpp's programs write a file again: without dimensions of 1 at the
 * end of a shape. */
static enum mf_status copy_file(const char *from, const char *to)
{
    const struct mf_quantize_options options = { .size = sizeof(options),
                                                 .type = "COPY" };
    const struct mf_convert_options how = { .size = sizeof(how),
                                            .replace = true };
    struct mf_quantize_result result;
    struct mf_model *model = open_model(scratch_path(from));
    enum mf_status status =
        mf_model_quantize(model, scratch_path(to), &options, &how, &result);

    mf_model_close(model);
    return status;
}

/* ---- another order ---- */

/* From the end of the names: so a block's tensors are far from each other. */
static int compare_ends(const void *a, const void *b)
{
    const struct mf_str x = ((const struct mf_tensor *)a)->name;
    const struct mf_str y = ((const struct mf_tensor *)b)->name;
    size_t i = 1;

    while (i < x.size && i < y.size && x.at[x.size - i] == y.at[y.size - i])
        i++;
    return x.at[x.size - i] - y.at[y.size - i];
}

static size_t take_tensors(const struct mf_model *model, struct mf_tensor *out)
{
    size_t count = (size_t)mf_model_info(model)->tensor_count;

    assert_true(count <= TENSORS);
    assert_int_equal(mf_tensors_at(model, 0, count, out), count);
    return count;
}

static void push_tensor(struct mf_writer *writer, struct mf_model *model,
                        const struct mf_tensor *tensor)
{
    size_t size = (size_t)tensor->data.size, index;
    uint8_t *bytes = malloc(size + 1);
    struct mf_tensor found;

    assert_non_null(bytes);
    assert_true(mf_tensor_find(model, tensor->name.at, tensor->name.size,
                               &found, &index));
    assert_int_equal(mf_tensor_bytes(model, index, 0, size, bytes), MF_OK);
    assert_int_equal(mf_writer_push(writer, bytes, size), MF_OK);
    free(bytes);
}

static void turn_file(const char *from, const char *to)
{
    static struct mf_tensor tensor[TENSORS];
    const struct mf_writer_options options = { .size = sizeof(options),
                                               .format = "gguf" };
    struct mf_model *model = open_model(scratch_path(from));
    size_t count = take_tensors(model, tensor);
    struct mf_writer *writer;

    assert_int_equal(mf_writer_new(env, &options, &writer), MF_OK);
    assert_int_equal(mf_writer_copy_metadata(writer, model), MF_OK);
    qsort(tensor, count, sizeof(*tensor), compare_ends);
    for (size_t i = 0; i < count; i++) {
        uint64_t dim[MF_RANK_MAX];
        struct mf_new_tensor new = { tensor[i].name, tensor[i].type,
                                     mf_tensor_shape(model, &tensor[i], dim),
                                     dim };

        assert_int_equal(mf_writer_add(writer, &new, NULL), MF_OK);
    }
    assert_int_equal(mf_writer_open(writer, scratch_path(to)), MF_OK);
    for (size_t i = 0; i < count; i++)
        push_tensor(writer, model, &tensor[i]);
    assert_int_equal(mf_writer_commit(writer), MF_OK);
    mf_writer_free(writer);
    mf_model_close(model);
}

/* ---- names alone ---- */

static enum mf_status rename_file(const char *from, const char *to,
                                  enum mf_naming names)
{
    const struct mf_convert_options how = { .size = sizeof(how),
                                            .names = names,
                                            .type = "keep",
                                            .lossy = true,
                                            .replace = true };

    mf_clear_error(env);
    return convert_file(env, scratch_path(from), scratch_path(to), &how, NULL);
}

/* What is computed from config.json is lost. */
static void tell_tensor(void *user, const struct mf_difference *difference)
{
    struct mf_model *const *model = user;
    struct mf_tensor tensor;

    if (difference->is_tensor && difference->b == SIZE_MAX &&
        mf_tensor_at(model[0], difference->a, &tensor) &&
        mf_str_begins(tensor.name, "rope_"))
        return;
    tell(user, difference);
}

/* Under Hugging Face's names in a file alone, far from a config.json, and back;
 * or an error, where the family cannot do without what was lost. */
static void rename_there_and_back(void)
{
    struct mf_model *model[2];
    enum mf_status status;

    if (mkdir(scratch_path("alone"), 0700) != 0)
        fail();
    status = rename_file("b.gguf", "alone/named.safetensors", MF_NAMING_HF);
    if (status == MF_OK)
        status = rename_file("alone/named.safetensors", "alone/e.gguf",
                             MF_NAMING_GGUF);
    if (status == MF_OK) {
        model[0] = open_model(scratch_path("b.gguf"));
        model[1] = open_model(scratch_path("alone/e.gguf"));
        assert_int_equal(
            mf_model_diff(model[0], model[1], NULL, tell_tensor, model), MF_OK);
        mf_model_close(model[0]);
        mf_model_close(model[1]);
    } else if (!strstr(mf_env_error(env)->message, "'rope_freqs.weight'")) {
        wrong("names: ", mf_env_error(env)->message);
    }
    remove_folder(scratch_path("alone"));
}

/* Of layers for further tokens, a folder is planned with those. */
static size_t facts, verdicts, without_vocabulary;

static void compare_with_folder(const char *gguf)
{
    struct plan_differences differences;
    bool unknown = false;

    if (no_mtp)
        return;
    differences = facts_differ(scratch_path("model.safetensors"),
                               scratch_path(gguf), &facts, &unknown);
    if (*differences.text)
        wrong("other facts:", differences.text);
    without_vocabulary += unknown;
    differences = verdicts_differ(scratch_path("model.safetensors"),
                                  scratch_path(gguf), &verdicts);
    if (*differences.text)
        wrong("another verdict:", differences.text);
    differences =
        plans_differ(scratch_path("model.safetensors"), scratch_path(gguf));
    if (*differences.text)
        wrong("another plan:", differences.text);
}

/* The order of tensors may change once. */
static void go_there_and_back(void)
{
    enum mf_status status;

    write_tensors(&folder);
    save_tokenizer(kind, vocab_size);
    status = convert(scratch_path("model.safetensors"), scratch_path("a.gguf"),
                     true);
    if (status == MF_OK)
        compare_with_folder("a.gguf");
    if (status == MF_OK)
        status = go_round("a.gguf", "back", "b.gguf");
    if (status == MF_OK)
        status = go_round("b.gguf", "again", "c.gguf");
    if (status == MF_OK)
        status = copy_file("b.gguf", "copy.gguf");
    if (status == MF_OK)
        status = go_round("copy.gguf", "third", "d.gguf");
    if (status == MF_OK && !*loss) {
        turn_file("b.gguf", "turned.gguf");
        status = go_round("turned.gguf", "fourth", "e.gguf");
    }
    if (*loss && status != MF_OK && strstr(mf_env_error(env)->message, loss))
        return;
    if (*loss || status != MF_OK) {
        wrong(status == MF_OK ? "it comes back" : mf_env_error(env)->message,
              "");
        return;
    }
    assert_same_models("a.gguf", "b.gguf");
    assert_same_bytes("b.gguf", "c.gguf");
    assert_same_models("b.gguf", "d.gguf");
    if (failures == 0)
        assert_same_bytes("b.gguf", "d.gguf");
    assert_same_models("b.gguf", "e.gguf");
    rename_there_and_back();
    if (takes_no_mtp != no_mtp)
        wrong("its way back ", no_mtp ? "takes no_mtp" : "takes no no_mtp");
}

/* ---- the lists ---- */

static void end_folder(void)
{
    if (*folder.name)
        go_there_and_back();
}

static void read_row(char *line)
{
    char *rest = after_word(line, "back"), *size;

    if (rest) {
        snprintf(kind, sizeof(kind), "%s", rest);
        return;
    }
    rest = after_word(line, "says");
    if (rest || after_word(line, "lacks")) {
        assert_true(said_count < COUNT(said));
        said[said_count].there = rest != NULL;
        snprintf(said[said_count++].text, sizeof(said->text), "%s",
                 rest ? rest : after_word(line, "lacks"));
        return;
    }
    rest = after_word(line, "assumed");
    if (rest) {
        snprintf(assumed_wanted, sizeof(assumed_wanted), "%s", rest);
        return;
    }
    if (after_word(line, "no_mtp")) {
        no_mtp = true;
        return;
    }
    rest = after_word(line, "lost");
    if (rest) {
        snprintf(loss, sizeof(loss), "%s", rest);
        return;
    }
    size = strstr(line, "\"vocab_size\":");
    if (after_word(line, "config") && size)
        vocab_size = (unsigned)strtoul(strchr(size, ':') + 1, NULL, 10);
    read_folder_row(&folder, line);
}

static size_t read_list(const char *path)
{
    static char line[1 << 14];
    FILE *file = fopen(path, "r");
    size_t folders = 0;

    assert_non_null(file);
    folder.name[0] = '\0';
    while (fgets(line, sizeof(line), file)) {
        assert_non_null(strchr(line, '\n'));
        *strchr(line, '\n') = '\0';
        if (!after_word(line, "folder")) {
            read_row(line);
            continue;
        }
        end_folder();
        begin_folder(&folder, after_word(line, "folder"));
        strcpy(kind, "bytes");
        loss[0] = '\0';
        assumed_wanted[0] = '\0';
        vocab_size = 24;
        no_mtp = takes_no_mtp = false;
        said_count = 0;
        folders++;
    }
    end_folder();
    fclose(file);
    return folders;
}

static void folders_come_back(void **state)
{
    (void)state;
    failures = 0;
    assert_true(read_list("tests/data/hub_tensors.txt") > 40);
    assert_true(read_list("tests/data/hub_back.txt") > 0);
    print_message("# without weights: %zu the same, %zu estimated, %zu "
                  "refused\n",
                  bare_same, bare_estimated, bare_refused);
    assert_true(bare_same > 10);
    print_message("# %zu facts, %zu findings; of %zu folders the vocabulary is "
                  "unknown\n",
                  facts, verdicts, without_vocabulary);
    assert_true(facts > 1500 && verdicts > 200);
    assert_in_range(without_vocabulary, 1, 5);
    assert_in_range(assumptions, 5, 100); /* of 260 folders */
    assert_int_equal(failures, 0);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(folders_come_back),
    };

    cmocka_set_message_output(CM_OUTPUT_TAP);
    return RUN_WITH_SCRATCH(tests);
}
