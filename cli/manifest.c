/* SPDX-License-Identifier: MIT
 *
 * manifest.c - reading manifests: ours and those of llama-gguf-hash
 *
 *     xxh3:2d06800538d394c2  NAME            of a tensor
 *     model xxh3:99aa06d3014798d8  FILE      behind all of its tensors
 *
 *     xxh64     f66e9cd66a4396a0  FILE:NAME  of a tensor
 *     xxh64     5a54d3aad816f302  FILE       behind all of its tensors
 */
#include <string.h>

#include "cli/hash.h"

static const char model_word[] = "model ";

/* ---- one line ---- */

static int hex_digit(char c)
{
    if (c >= '0' && c <= '9')
        return c - '0';
    if (c >= 'a' && c <= 'f')
        return c - 'a' + 10;
    return c >= 'A' && c <= 'F' ? c - 'A' + 10 : -1;
}

/* The value of count digits; -1 where they are not all there. */
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

/* Takes the escapes of mf_hash_model out of a name, in its place, which they
 * never need more of; false where something else follows a backslash. */
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

/* The kind that a word names; its size 0 where it is none that we can do. */
static bool find_kind(const char *word, size_t size, struct mf_digest_info *out)
{
    static const char *const others[] = { "uuid" };

    for (size_t i = 0; mf_digest_at(i, out); i++)
        if (strlen(out->name) == size && memcmp(out->name, word, size) == 0)
            return true;
    out->size = 0;
    for (size_t i = 0; i < sizeof(others) / sizeof(*others); i++)
        if (strlen(others[i]) == size && memcmp(others[i], word, size) == 0)
            return true;
    return false;
}

/* What is wrong with a line (from at to end); NULL where nothing is. */
static const char *parse_line(char *at, char *end, bool *foreign,
                              struct entry *entry)
{
    struct mf_digest_info kind;
    size_t size;

    if (strncmp(at, model_word, strlen(model_word)) == 0) {
        entry->whole = true;
        at += strlen(model_word);
    }
    size = strcspn(at, ": \n");
    if (!find_kind(at, size, &kind))
        return "does not begin with the name of a digest";
    entry->kind = kind.size > 0 ? (unsigned)kind.kind : KIND_FOREIGN;
    *foreign = at[size] == ' ' && !entry->whole;
    if (!*foreign && (at[size] != ':' || kind.size == 0))
        return "does not begin with the name of a digest";
    at += size + 1;
    if (*foreign)
        at += strspn(at, " ");
    entry->hex = at;
    size = strcspn(at, " \n");
    for (size_t i = 0; kind.size > 0 && i < size; i++)
        if (hex_digit(at[i]) < 0)
            return "has a digest that is not hexadecimal";
    if (kind.size > 0 && size != 2 * kind.size)
        return "has a digest of another length than its kind has";
    at += size;
    if (strncmp(at, "  ", 2) != 0)
        return "has no two spaces behind its digest";
    entry->name = (struct mf_str){ at + 2, (size_t)(end - (at + 2)) };
    if (!*foreign && !unescape(&entry->name, at + 2))
        return "has a backslash in its name that means nothing";
    return NULL;
}

/* ---- all lines ---- */

/* Entries without the carriage returns of another system, empty lines and
 * comments.  False after report_input. */
static bool parse_lines(struct run *run, const char *path,
                        struct manifest *manifest)
{
    char *at = manifest->file.text, *last = at + manifest->file.size;
    bool foreign;

    for (size_t line = 1; at < last; line++) {
        char *end = memchr(at, '\n', (size_t)(last - at));
        char *next = (end = end ? end : last) + 1;
        struct entry entry = { .line = line };
        const char *wrong;

        end -= end > at && end[-1] == '\r';
        if (end > at && *at != '#') {
            *end = '\n'; /* where every search stops */
            wrong = parse_line(at, end, &foreign, &entry);
            if (!wrong && manifest->count > 0 && foreign != manifest->foreign)
                wrong = "is of another kind than the lines before";
            if (wrong) {
                report_input(run, path, "line %zu of the manifest %s", line,
                             wrong);
                return false;
            }
            manifest->foreign = foreign;
            manifest->entry[manifest->count++] = entry;
        }
        at = next;
    }
    return true;
}

/* llama-gguf-hash ends with lines that name the file; before them the tensors'
 * names stand behind that name and a colon. */
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
                         "line %zu of the manifest is not about the file that "
                         "its last line names",
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
    if (manifest->foreign)
        return split_names(run, path, manifest);
    if (manifest->entry[manifest->count - 1].whole)
        return true;
    report_input(run, path,
                 "the manifest is cut off: its last line, %zu, is "
                 "not that of a model",
                 manifest->entry[manifest->count - 1].line);
    return false;
}

bool manifest_read(struct run *run, const char *path, struct manifest *out)
{
    struct manifest manifest = { .room = 1 };

    if (!textfile_read(run, path, "the manifest", &manifest.file))
        return false;
    for (size_t i = 0; i < manifest.file.size; i++)
        manifest.room += manifest.file.text[i] == '\n';
    manifest.entry =
        mf_resize(run->env, NULL, 0, manifest.room * sizeof(*manifest.entry));
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
        mf_resize(run->env, manifest->entry,
                  manifest->room * sizeof(*manifest->entry), 0);
    textfile_release(run, &manifest->file);
    *manifest = (struct manifest){ 0 };
}
