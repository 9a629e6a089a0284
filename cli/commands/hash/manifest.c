/* SPDX-License-Identifier: MIT
 *
 * manifest.c - reading manifests: ours, llama-gguf-hash's and sha256sum's
 *
 *     xxh3:2d06800538d394c2  NAME            of a tensor
 *     metadata gguf xxh3:5c0c8fd7b3a0f3d1  FILE
 *     model xxh3:99aa06d3014798d8  FILE      after all of its tensors
 *
 *     xxh64     f66e9cd66a4396a0  FILE:NAME  of a tensor
 *     xxh64     5a54d3aad816f302  FILE       after all of its tensors
 *     uuid      fc6ef2dd-d0f5-58aa-b3b1-ea92f097c475  FILE
 *
 *     e3b0c44298fc1c149afbf4c8996fb924...  FILE      of all of its bytes
 *     \e3b0c44298fc1c149afbf4c8996fb924... *FILE     with escapes; as binary
 *     SHA256 (FILE) = e3b0c44298fc1c149afbf4c8996fb924...
 */
#include <string.h>

#include "cli/commands/hash/hash.h"
#include "cli/report.h"

static const char model_word[] = "model ", metadata_word[] = "metadata ";

#define UUID_DIGITS 36 /* with dashes */

/* ---- one line ---- */

static int hex_digit(char c)
{
    if (c >= '0' && c <= '9')
        return c - '0';
    if (c >= 'a' && c <= 'f')
        return c - 'a' + 10;
    return c >= 'A' && c <= 'F' ? c - 'A' + 10 : -1;
}

/* The value of count digits; -1 if there are fewer. */
static long hex_number(const char *at, const char *end, int count)
{
    long number = 0;

    if (end - at < count)
        return -1;
    for (int i = 0; i < count; i++) {
        if (hex_digit(at[i]) < 0)
            return -1;
        number = number * 16 + hex_digit(at[i]);
    }
    return number;
}

/* UTF-8 of a code point below 0x110000. */
static char *put_code(char *out, long code)
{
    if (code > 0xffff) {
        *out++ = (char)(0xf0 | code >> 18);
        *out++ = (char)(0x80 | (code >> 12 & 0x3f));
        *out++ = (char)(0x80 | (code >> 6 & 0x3f));
        *out++ = (char)(0x80 | (code & 0x3f));
    } else if (code < 0x80) {
        *out++ = (char)code;
    } else if (code < 0x800) {
        *out++ = (char)(0xc0 | code >> 6);
        *out++ = (char)(0x80 | (code & 0x3f));
    } else {
        *out++ = (char)(0xe0 | code >> 12);
        *out++ = (char)(0x80 | (code >> 6 & 0x3f));
        *out++ = (char)(0x80 | (code & 0x3f));
    }
    return out;
}

/* Undoes the escapes of mf_model_hash in place: a name never gets longer. False
 * on an unknown escape. */
static bool unescape(struct mf_str *name, char *text)
{
    static const char letters[] = "\\ntr", meant[] = "\\\n\t\r";
    const char *at = text, *end = text + name->size;
    char *out = text;

    while (at < end) {
        const char *letter;
        long code;

        if (*at != '\\') {
            *out++ = *at++;
            continue;
        }
        if (++at == end)
            return false;
        letter = *at ? strchr(letters, *at) : NULL;
        if (letter) {
            *out++ = meant[letter - letters];
            at++;
        } else if (*at == 'x' && (code = hex_number(at + 1, end, 2)) >= 0) {
            *out++ = (char)code;
            at += 3;
        } else if (*at == 'u' && (code = hex_number(at + 1, end, 4)) >= 0) {
            out = put_code(out, code);
            at += 5;
        } else if (*at == 'U' && (code = hex_number(at + 1, end, 8)) >= 0 &&
                   code < 0x110000) {
            out = put_code(out, code);
            at += 9;
        } else {
            return false;
        }
    }
    *name = (struct mf_str){ text, (size_t)(out - text) };
    return true;
}

/* The digest of that name; "uuid" is found with size 0. */
static bool find_kind(const char *word, size_t size, struct mf_digest_info *out)
{
    for (size_t i = 0; mf_digest_at(i, out); i++)
        if (strlen(out->name) == size && memcmp(out->name, word, size) == 0)
            return true;
    out->size = 0;
    return size == 4 && memcmp(word, "uuid", size) == 0;
}

static size_t hex_run(const char *at)
{
    size_t run = 0;

    while (hex_digit(at[run]) >= 0)
        run++;
    return run;
}

static bool is_uuid(const char *at, size_t size)
{
    if (size != UUID_DIGITS)
        return false;
    for (size_t i = 0; i < size; i++)
        if (i == 8 || i == 13 || i == 18 || i == 23 ? at[i] != '-'
                                                    : hex_digit(at[i]) < 0)
            return false;
    return true;
}

/* ---- a line of sha256sum's ---- */

#define UNSUPPORTED(tool)                                                      \
    "has a digest of " tool ", which is not supported: use sha1sum or "        \
    "sha256sum"

static const struct sum {
    const char *tag;
    size_t digits;
    enum mf_digest_kind kind;
    const char *wrong; /* why it cannot be checked; NULL: it can */
} sums[] = {
    { "SHA256", 64, MF_SHA256, NULL },
    { "SHA1", 40, MF_SHA1, NULL },
    { "MD5", 32, 0, UNSUPPORTED("md5sum") },
    { "SHA224", 56, 0, UNSUPPORTED("sha224sum") },
    { "SHA384", 96, 0, UNSUPPORTED("sha384sum") },
    { "SHA512", 128, 0, UNSUPPORTED("sha512sum") },
    { NULL, 0, 0, UNSUPPORTED("an unknown kind") },
};

/* The row of a digest with that tag, or (NULL) with so many digits. */
static const struct sum *find_sum(const char *tag, size_t digits)
{
    const struct sum *sum = sums;

    while (sum->tag && (tag ? strncmp(tag, sum->tag, strlen(sum->tag)) != 0 ||
                                  tag[strlen(sum->tag)] != ' '
                            : sum->digits != digits))
        sum++;
    return sum;
}

/* It begins with digits or "TAG (", as no line of the other forms does. */
static bool is_sum(const char *at)
{
    size_t word;

    at += *at == '\\';
    word = strcspn(at, " \n");
    return word > 0 && at[word] == ' ' &&
           (hex_run(at) == word || at[word + 1] == '(');
}

/* Like parse_line. */
static const char *parse_sum(char *at, char *end, struct entry *entry)
{
    bool escaped = *at == '\\', tagged;
    char *name, *name_end = end;
    const struct sum *sum;
    size_t digits;

    at += escaped;
    digits = hex_run(at);
    tagged = at[digits] != ' ';
    if (tagged) {
        name = at + strcspn(at, " ") + 2;
        for (digits = 0; digits < (size_t)(end - name) &&
                         hex_digit(end[-1 - (long)digits]) >= 0;)
            digits++;
        name_end = end - digits;
        if (name_end - name < 4 || memcmp(name_end - 4, ") = ", 4) != 0)
            return "has no ') = DIGEST' after the name";
        entry->hex = name_end;
        name_end -= 4;
    } else {
        if (at[digits + 1] != ' ' && at[digits + 1] != '*')
            return "does not have two spaces after its digest";
        name = at + digits + 2;
        entry->hex = at;
    }
    sum = find_sum(tagged ? at : NULL, digits);
    if (sum->wrong)
        return sum->wrong;
    if (sum->digits != digits)
        return "has a digest of the wrong length";
    if (name == name_end)
        return "has no name";
    entry->kind = (unsigned)sum->kind;
    entry->whole = true;
    entry->name = (struct mf_str){ name, (size_t)(name_end - name) };
    if (escaped && !unescape(&entry->name, name))
        return "has an invalid escape in its name";
    return NULL;
}

/* ---- a line of the others ---- */

/* Skips the words before the digest of a model or its metadata. */
static char *parse_word(char *at, struct entry *entry)
{
    size_t size = strlen(metadata_word);

    if (strncmp(at, model_word, strlen(model_word)) == 0) {
        entry->whole = true;
        return at + strlen(model_word);
    }
    if (strncmp(at, metadata_word, size) != 0 || at[size] == ' ')
        return at;
    entry->format = (struct mf_str){ at + size, strcspn(at + size, " \n") };
    at += size + entry->format.size;
    return at + (*at == ' ');
}

/* Parses the line from at to end; returns what is wrong with it, or NULL. */
static const char *parse_line(char *at, char *end, enum manifest_form *form,
                              struct entry *entry)
{
    bool foreign;
    struct mf_digest_info kind;
    size_t size;

    *form = MANIFEST_SUMS;
    if (is_sum(at))
        return parse_sum(at, end, entry);
    at = parse_word(at, entry);
    size = strcspn(at, ": \n");
    if (!find_kind(at, size, &kind))
        return "is not a line of a modelfile, llama-gguf-hash or sha256sum "
               "manifest";
    entry->kind = kind.size > 0 ? (unsigned)kind.kind : KIND_UUID;
    foreign = at[size] == ' ' && entry_is_tensor(entry);
    *form = foreign ? MANIFEST_LLAMA : MANIFEST_OWN;
    if (!foreign && (at[size] != ':' || kind.size == 0))
        return "is not a line of a modelfile, llama-gguf-hash or sha256sum "
               "manifest";
    at += size + 1;
    if (foreign)
        at += strspn(at, " ");
    entry->hex = at;
    size = strcspn(at, " \n");
    if (kind.size == 0 && !is_uuid(at, size))
        return "has an invalid uuid";
    for (size_t i = 0; kind.size > 0 && i < size; i++)
        if (hex_digit(at[i]) < 0)
            return "has a digest that is not hexadecimal";
    if (kind.size > 0 && size != 2 * kind.size)
        return "has a digest of the wrong length";
    at += size;
    if (strncmp(at, "  ", 2) != 0)
        return "does not have two spaces after its digest";
    entry->name = (struct mf_str){ at + 2, (size_t)(end - (at + 2)) };
    if (!foreign && !unescape(&entry->name, at + 2))
        return "has an invalid escape in its name";
    return NULL;
}

/* ---- all lines ---- */

/* One entry per line, except for empty lines and comments.  Lines may end with
 * CRLF.  False after report_input. */
static bool parse_lines(struct run *run, const char *path,
                        struct manifest *manifest)
{
    char *at = manifest->file.text, *last = at + manifest->file.size;
    enum manifest_form form;

    for (size_t line = 1; at < last; line++) {
        char *end = memchr(at, '\n', (size_t)(last - at));
        char *next = (end = end ? end : last) + 1;
        struct entry entry = { .line = line };
        const char *wrong;

        end -= end > at && end[-1] == '\r';
        if (end > at && *at != '#') {
            *end = '\n'; /* every search stops there */
            wrong = parse_line(at, end, &form, &entry);
            if (!wrong && manifest->count > 0 && form != manifest->form)
                wrong = "has another form than the lines before";
            if (wrong) {
                report_input(run, path, "line %zu of the manifest %s", line,
                             wrong);
                return false;
            }
            manifest->form = form;
            manifest->entry[manifest->count++] = entry;
        }
        at = next;
    }
    return true;
}

/* llama-gguf-hash writes FILE:NAME for tensors and ends with lines for FILE,
 * which show where the names begin. */
static bool split_names(struct run *run, const char *path,
                        struct manifest *manifest)
{
    struct mf_str file = manifest->entry[manifest->count - 1].name;

    for (size_t i = 0; i < manifest->count; i++) {
        struct entry *entry = &manifest->entry[i];
        struct mf_str *name = &entry->name;
        bool begins = name->size >= file.size &&
                      memcmp(name->at, file.at, file.size) == 0;

        entry->whole = begins && name->size == file.size;
        if (!begins || (!entry->whole && name->at[file.size] != ':')) {
            report_input(run, path,
                         "line %zu of the manifest is about another file than "
                         "its last line",
                         entry->line);
            return false;
        }
        if (!entry->whole && entry->kind == KIND_UUID) {
            report_input(
                run, path,
                "line %zu of the manifest has a uuid for a tensor; only "
                "files have one",
                entry->line);
            return false;
        }
        if (!entry->whole) {
            name->at += file.size + 1;
            name->size -= file.size + 1;
        }
    }
    return true;
}

static bool parse(struct run *run, const char *path, struct manifest *manifest)
{
    if (!parse_lines(run, path, manifest))
        return false;
    if (manifest->count == 0) {
        report_input(run, path, "the manifest is empty");
        return false;
    }
    if (manifest->form == MANIFEST_LLAMA)
        return split_names(run, path, manifest);
    if (manifest->entry[manifest->count - 1].whole)
        return true;
    report_input(run, path,
                 "the manifest is truncated: its last line, %zu, is not about "
                 "a model",
                 manifest->entry[manifest->count - 1].line);
    return false;
}

bool manifest_read(struct run *run, const char *path, struct manifest *out)
{
    static const struct textkind kind = { .what = "the manifest",
                                          .size_max = TEXTFILE_MAX };
    struct manifest manifest = { .room = 1 };

    if (!textfile_read(run, path, &kind, &manifest.file))
        return false;
    for (size_t i = 0; i < manifest.file.size; i++)
        manifest.room += manifest.file.text[i] == '\n';
    manifest.entry = mf_env_resize(run->env, NULL, 0,
                                   manifest.room * sizeof(*manifest.entry));
    if (!manifest.entry)
        report_input(run, path, "%s", mf_env_error(run->env)->message);
    if (manifest.entry && parse(run, path, &manifest)) {
        *out = manifest;
        return true;
    }
    manifest_release(run, &manifest);
    return false;
}

void manifest_release(struct run *run, struct manifest *manifest)
{
    if (manifest->entry)
        mf_env_resize(run->env, manifest->entry,
                      manifest->room * sizeof(*manifest->entry), 0);
    textfile_release(run, &manifest->file);
    *manifest = (struct manifest){ 0 };
}
