/* SPDX-License-Identifier: MIT
 *
 * recorded_sums.c - whether a record is as it was written
 *
 * What is listed there is opened, so names are those that a record can have.
 */
#include "lib/base/str.h"
#include "lib/io/digest.h"
#include "lib/report/recorded.h"

#define SUMS   "SHA256SUMS"
#define SEAL   "# seal "
#define DIGITS 64 /* of a digest */

/* One of `bench` has three files for each setting. */
#define FILE_MAX 4096

/* Ten samples of memory a second are 6 GB in a hundred days. */
#define BYTES_MAX ((uint64_t)16 << 30)

struct sums {
    struct mf_recorded *recorded;
    struct mf_problems *problems;
    struct mf_digest *of_lines, *of_file;
    struct mf_reader reader;
    char line[DIGITS + 256]; /* terminated, without its end */
    size_t size;
    uint64_t number, bytes;
    bool sealed;
    bool *listed;
};

/* ---- digests ---- */

static void write_digits(const struct mf_digest *digest, char out[DIGITS + 1])
{
    static const char digits[] = "0123456789abcdef";
    uint8_t bytes[MF_DIGEST_MAX] = { 0 };

    mf_digest_finish(digest, bytes);
    for (size_t i = 0; i < DIGITS / 2; i++) {
        out[2 * i] = digits[bytes[i] >> 4];
        out[2 * i + 1] = digits[bytes[i] & 15];
    }
    out[DIGITS] = 0;
}

static enum mf_status digest_file(struct sums *sums,
                                  const struct mf_source *source)
{
    struct mf_env *env = sums->recorded->env;
    struct mf_reader reader;
    enum mf_status status;

    if (source->size > BYTES_MAX - sums->bytes)
        return mf_refuse(env, MF_RULE_FILE_LIMIT, MF_NO_OFFSET,
                         "the files of the record have more than %" PRIu64
                         " bytes",
                         BYTES_MAX);
    sums->bytes += source->size;
    mf_digest_restart(sums->of_file);
    status = mf_reader_init(&reader, env, source, NULL, 0);
    while (status == MF_OK && mf_peek(&reader) >= 0) {
        size_t size = reader.filled - reader.at;

        mf_digest_add(sums->of_file, mf_take(&reader, size), size);
    }
    if (status == MF_OK)
        status = mf_reader_check(&reader, "a file of the record");
    mf_reader_release(&reader);
    return status;
}

/* ---- one line ---- */

/* As record_can_have of the command: a file of the folder, or of one of its
 * subfolders. */
static bool can_have(const char *name)
{
    static const char *const below[] = { "csv/", "figs/", "witness/" };
    const char *slash = strchr(name, '/');
    bool known = !slash && strcmp(name, "baseline.csv") == 0;

    for (size_t i = 0; i < MF_RECORD_FILES; i++)
        known = known || strcmp(name, mf_record_files[i]) == 0;
    for (size_t i = 0; slash && i < sizeof(below) / sizeof(*below); i++)
        known = known || strncmp(name, below[i], strlen(below[i])) == 0;
    return known && (!slash || (slash[1] != 0 && slash[1] != '.' &&
                                !strpbrk(slash + 1, "/\\:")));
}

static enum mf_status check_file(struct sums *sums, const char *name)
{
    struct mf_recorded *recorded = sums->recorded;
    struct mf_quoted quoted = mf_quote((struct mf_str){ name, strlen(name) });
    struct mf_source source = { 0 };
    char digits[DIGITS + 1];
    bool found;
    enum mf_status status = mf_record_open(recorded, name, &source, &found);

    if (status != MF_OK)
        return status;
    if (!found) {
        mf_problem(recorded, sums->problems, "%s is missing", quoted.text);
        return MF_OK;
    }
    status = digest_file(sums, &source);
    mf_source_close(&source);
    if (status != MF_OK)
        return status;
    write_digits(sums->of_file, digits);
    if (memcmp(digits, sums->line, DIGITS) != 0)
        mf_problem(recorded, sums->problems, "%s is not what " SUMS " says",
                   quoted.text);
    return MF_OK;
}

static enum mf_status check_listed(struct sums *sums, const char *name)
{
    for (size_t i = 0; i < MF_RECORD_FILES; i++)
        if (strcmp(name, mf_record_files[i]) == 0) {
            if (sums->listed[i])
                mf_problem(sums->recorded, sums->problems, SUMS " has %s twice",
                           name);
            sums->listed[i] = true;
        }
    return check_file(sums, name);
}

static void check_seal(struct sums *sums)
{
    char digits[DIGITS + 1];

    write_digits(sums->of_lines, digits);
    if (strcmp(sums->line + strlen(SEAL), digits) != 0)
        mf_problem(sums->recorded, sums->problems,
                   "the seal of " SUMS " is not of its lines");
    sums->sealed = true;
}

static enum mf_status check_line(struct sums *sums)
{
    struct mf_str line = { sums->line, sums->size };

    if (!sums->sealed && mf_str_begins(line, SEAL)) {
        check_seal(sums);
        return MF_OK;
    }
    mf_digest_add(sums->of_lines, sums->line, sums->size);
    mf_digest_add(sums->of_lines, "\n", 1);
    if (!sums->sealed && strlen(sums->line) == sums->size &&
        sums->size > DIGITS + 2 &&
        strspn(sums->line, "0123456789abcdef") == DIGITS &&
        memcmp(sums->line + DIGITS, "  ", 2) == 0 &&
        can_have(sums->line + DIGITS + 2))
        return check_listed(sums, sums->line + DIGITS + 2);
    mf_problem(sums->recorded, sums->problems,
               "line %" PRIu64 " of " SUMS
               " is not the digest of a file of a record",
               sums->number);
    return MF_OK;
}

/* False at the end. */
static bool next_line(struct sums *sums)
{
    int byte = mf_peek(&sums->reader);

    if (byte < 0)
        return false;
    sums->size = 0;
    for (; byte >= 0 && byte != '\n' && sums->size + 1 < sizeof(sums->line);
         byte = mf_peek(&sums->reader))
        sums->line[sums->size++] = (char)mf_take_u8(&sums->reader);
    if (byte == '\n')
        mf_skip(&sums->reader, 1);
    sums->line[sums->size] = 0;
    sums->number++;
    return true;
}

/* ---- the file ---- */

static enum mf_status check_lines(struct sums *sums)
{
    struct mf_env *env = sums->recorded->env;

    while (next_line(sums)) {
        if (sums->number > FILE_MAX)
            return mf_refuse(env, MF_RULE_FILE_LIMIT,
                             mf_reader_offset(&sums->reader),
                             "more than %d lines", FILE_MAX);
        if (check_line(sums) != MF_OK)
            return env->error.status;
    }
    if (!sums->sealed)
        mf_problem(sums->recorded, sums->problems, SUMS " has no seal");
    return mf_reader_check(&sums->reader, SUMS);
}

static enum mf_status check_open(struct sums *sums,
                                 const struct mf_source *source)
{
    struct mf_env *env = sums->recorded->env;
    enum mf_status status;

    sums->of_lines = mf_digest_new(env, MF_SHA256);
    sums->of_file = sums->of_lines ? mf_digest_new(env, MF_SHA256) : NULL;
    status = sums->of_file ? mf_reader_init(&sums->reader, env, source, NULL, 0)
                           : env->error.status;
    if (status == MF_OK)
        status = check_lines(sums);
    if (sums->of_file)
        mf_reader_release(&sums->reader);
    mf_digest_free(sums->of_lines);
    mf_digest_free(sums->of_file);
    return status == MF_OK ? MF_OK : mf_error_about(env, source->name);
}

enum mf_status mf_record_check(struct mf_recorded *recorded,
                               struct mf_problems *problems,
                               bool listed[MF_RECORD_FILES])
{
    struct sums sums = { .recorded = recorded,
                         .problems = problems,
                         .listed = listed };
    struct mf_source source = { 0 };
    bool found;
    enum mf_status status = mf_record_open(recorded, SUMS, &source, &found);

    if (status != MF_OK || !found) {
        if (status == MF_OK)
            mf_problem(recorded, problems, SUMS " is missing");
        return status;
    }
    problems->has_sums = true;
    status = check_open(&sums, &source);
    mf_source_close(&source);
    return status;
}
