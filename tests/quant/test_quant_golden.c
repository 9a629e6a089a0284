/* SPDX-License-Identifier: MIT
 *
 * test_quant_golden.c - every codec gives the bytes that ggml gives
 *
 * A folder of golden vectors holds manifest.tsv and a folder for each set of
 * input: input.f32, imat.f32 (weights), TYPE.bin (input encoded), .deq.f32
 * (that decoded).  A few rows are in fixtures/quant, where the encoded rows of
 * a set are one file; all of them in the folder golden/quant of CONFORMANCE
 * (../shared), if it is there.
 */
#include <math.h>
#include <strings.h>
#include <unistd.h>

#include "lib/quant/fp16.h"
#include "tests/quant/quant.h"
#include "tests/scratch.h"

struct job { /* a row of manifest.tsv */
    char set[32], type[32], variant[16], file[128], decoded[128];
    char status[32], undefined[16], note[64];
    size_t rows, columns;
};

static const char *folder;
static size_t encoded_rows[MF_TYPE_COUNT], decoded_rows[MF_TYPE_COUNT];

/* "gauss/q4_0.bin" is a file, "gauss.bin@1152" what one has at that offset. */
static uint8_t *load_vector(const char *name, size_t wanted)
{
    size_t length = strcspn(name, "@"), start = 0, size;
    uint8_t *bytes;
    char path[512];

    if (name[length])
        start = strtoul(name + length + 1, NULL, 10);
    snprintf(path, sizeof(path), "%s/%.*s", folder, (int)length, name);
    bytes = load(path, &size);
    if (start > size || size - start < wanted)
        fail_msg("%s has %zu bytes, not %zu at %zu", path, size, wanted, start);
    memmove(bytes, bytes + start, wanted);
    return bytes;
}

static enum mf_type type_named(const char *name)
{
    int type = 0;

    while (type < MF_TYPE_COUNT && strcasecmp(mf_types[type].name, name) != 0)
        type++;
    return (enum mf_type)type;
}

static size_t failures;

static void compare(const struct job *job, const struct mf_isa *isa,
                    const char *what, const void *got, const void *expected,
                    size_t size)
{
    const uint8_t *a = got, *b = expected;

    for (size_t i = 0; i < size; i++)
        if (a[i] != b[i]) {
            print_error("%s %s %s, %s: %s differs at byte %zu\n", job->set,
                        job->type, job->variant, isa->name, what, i);
            failures++;
            return;
        }
}

static void check_encode(const struct job *job, enum mf_type type,
                         const struct mf_isa *isa)
{
    const struct mf_codec *codec = mf_codec_of(isa, type);
    size_t size = quant_row_size(type, job->columns);
    char name[64];
    uint8_t *input, *weights, *expected, *got = malloc(size);
    bool weighted = strcmp(job->variant, "imat") == 0;

    snprintf(name, sizeof(name), "%s/input.f32", job->set);
    input = load_vector(name, job->rows * job->columns * 4);
    snprintf(name, sizeof(name), "%s/imat.f32", job->set);
    weights = weighted ? load_vector(name, job->columns * 4) : NULL;
    in_file_order(input, job->rows * job->columns, 4);
    in_file_order(weights, weighted ? job->columns : 0, 4);
    expected = load_vector(job->file, job->rows * size);
    for (size_t row = 0; row < job->rows; row++) {
        if (!quant_encode(codec, (float *)(void *)input + row * job->columns,
                          (float *)(void *)weights, got, job->columns))
            fail_msg("%s %s: row %zu is refused", job->set, job->type, row);
        compare(job, isa, "code", got, expected + row * size, size);
    }
    free(input);
    free(weights);
    free(expected);
    free(got);
}

/* The vectors were made on an x86-64, where arithmetic that gives no number
 * sets its sign; other processors do not. */
static void allow_other_nans(float *got, const float *expected, size_t count)
{
#if !defined(__x86_64__)
    for (size_t i = 0; i < count; i++)
        if (isnan(got[i]) && isnan(expected[i]))
            got[i] = expected[i];
#else
    (void)got, (void)expected, (void)count;
#endif
}

static void check_decode(const struct job *job, enum mf_type type,
                         const struct mf_isa *isa)
{
    size_t size = quant_row_size(type, job->columns);
    uint8_t *blocks = load_vector(job->file, job->rows * size);
    uint8_t *expected =
        load_vector(job->decoded, job->rows * job->columns * sizeof(float));
    float *got = calloc(job->rows * job->columns, sizeof(float));

    in_file_order(expected, job->rows * job->columns, sizeof(float));

    for (size_t row = 0; row < job->rows; row++)
        mf_codec_of(isa, type)->decode(blocks + row * size,
                                       got + row * job->columns, job->columns);
    allow_other_nans(got, (const float *)(const void *)expected,
                     job->rows * job->columns);
    compare(job, isa, "value", got, expected,
            job->rows * job->columns * sizeof(float));
    free(blocks);
    free(expected);
    free(got);
}

/* Whether the reference defines these bytes.  It writes iq4_nl by "chunk"; its
 * "ref" reads memory that was never set. */
static bool binds(const struct job *job)
{
    return strcmp(job->status, "OK") == 0 &&
           strcmp(job->undefined, "no") == 0 &&
           !(strcmp(job->type, "iq4_nl") == 0 &&
             strcmp(job->variant, "ref") == 0);
}

static void check_job(const struct job *job)
{
    enum mf_type type = type_named(job->type);
    const struct mf_codec *portable =
        type < MF_TYPE_COUNT ? mf_codec_of(mf_isas, type) : NULL;
    bool encode = mf_codec_encodes(portable) && binds(job);
    bool decode = portable && strcmp(job->decoded, "-") != 0;

    for (const struct mf_isa *isa = mf_isas; isa->name; isa++) {
        if (!mf_isa_runs(isa))
            continue;
        if (encode)
            check_encode(job, type, isa);
        if (decode)
            check_decode(job, type, isa);
    }
    if (encode)
        encoded_rows[type]++;
    if (decode)
        decoded_rows[type]++;
}

/* "=set/type.bin" is a file that another row has, too. */
static void drop_equals(char *name)
{
    if (*name == '=')
        memmove(name, name + 1, strlen(name));
}

static bool next_job(FILE *manifest, struct job *job)
{
    char line[1024];

    if (!fgets(line, sizeof(line), manifest))
        return false;
    assert_int_equal(
        sscanf(line,
               "%31s %31s %*s %*s %*s %15s %zu %zu %127s %*s %*s %127s %*s "
               "%31[^\t] %*s %*s %*s %15s %*s %*s %*s %*s %63s",
               job->set, job->type, job->variant, &job->rows, &job->columns,
               job->file, job->decoded, job->status, job->undefined, job->note),
        10);
    drop_equals(job->file);
    drop_equals(job->decoded);
    return true;
}

/* Every type of the manifest that has a codec was compared, both ways. */
static void check_all(void)
{
    char path[512], header[1024];
    size_t encoded = 0, decoded = 0;
    struct job job;
    FILE *manifest;

    failures = 0;
    memset(encoded_rows, 0, sizeof(encoded_rows));
    memset(decoded_rows, 0, sizeof(decoded_rows));
    snprintf(path, sizeof(path), "%s/manifest.tsv", folder);
    manifest = fopen(path, "r");
    assert_non_null(manifest);
    assert_non_null(fgets(header, sizeof(header), manifest));
    while (next_job(manifest, &job))
        check_job(&job);
    rewind(manifest);
    assert_non_null(fgets(header, sizeof(header), manifest));
    while (next_job(manifest, &job)) {
        enum mf_type type = type_named(job.type);
        const struct mf_codec *codec =
            type < MF_TYPE_COUNT ? mf_codec_of(mf_isas, type) : NULL;

        if (codec && (decoded_rows[type] == 0 ||
                      (mf_codec_encodes(codec) && encoded_rows[type] == 0)))
            fail_msg("nothing of %s was compared", job.type);
    }
    fclose(manifest);
    for (int i = 0; i < MF_TYPE_COUNT; i++) {
        encoded += encoded_rows[i];
        decoded += decoded_rows[i];
    }
    print_message("# %s: %zu jobs encoded, %zu decoded, as ggml did\n", folder,
                  encoded, decoded);
    assert_int_equal(failures, 0);
}

static void codecs_give_the_bytes_of_ggml(void **state)
{
    const char *shared = getenv("CONFORMANCE");
    static char path[512];

    (void)state;
    folder = fixture_path("quant");
    check_all();
    snprintf(path, sizeof(path), "%s/golden/quant",
             shared ? shared : "../shared");
    folder = path;
    if (access(folder, R_OK) == 0)
        check_all();
}

/* ---- APR's own types ---- */

/* Pairs of hexadecimal digits to bytes; returns how many. */
static size_t bytes_of_hex(const char *text, uint8_t *out)
{
    size_t count = 0;
    unsigned byte;

    for (; sscanf(text, "%2x", &byte) == 1; text += 2)
        out[count++] = (uint8_t)byte;
    return count;
}

struct apr_case {
    char type[16], name[64];
    float input[128], values[128];
    uint8_t bytes[512];
    size_t columns, size, value_count;
};

static void check_apr(const struct apr_case *c, const struct mf_isa *isa)
{
    enum mf_type type = type_named(c->type);
    uint8_t bytes[512] = { 0 };
    float values[128];

    assert_int_equal(c->size, quant_row_size(type, c->columns));
    quant_encode(mf_codec_of(isa, type), c->input, NULL, bytes, c->columns);
    if (memcmp(bytes, c->bytes, c->size) != 0)
        fail_msg("%s %s %s: other bytes", c->type, c->name, isa->name);
    mf_codec_of(isa, type)->decode(c->bytes, values, c->columns);
    allow_other_nans(values, c->values, c->value_count);
    if (memcmp(values, c->values, 4 * c->value_count) != 0)
        fail_msg("%s %s %s: other values", c->type, c->name, isa->name);
}

/* fixtures/quant/apr.tsv: type, case, input, bytes and values, in hexadecimal;
 * "-" is nothing, or not known. */
static void apr_types_are_as_aprender_writes_them(void **state)
{
    FILE *file = fopen(fixture_path("quant/apr.tsv"), "r");
    static char line[4096], hex[3][1024];
    static struct apr_case c;
    size_t cases = 0;

    (void)state;
    assert_non_null(file);
    assert_non_null(fgets(line, sizeof(line), file)); /* names of columns */
    while (fgets(line, sizeof(line), file)) {
        assert_int_equal(sscanf(line, "%15s %63s %1023s %1023s %1023s", c.type,
                                c.name, hex[0], hex[1], hex[2]),
                         5);
        c.columns = bytes_of_hex(hex[0], (uint8_t *)c.input) / 4;
        in_file_order(c.input, c.columns, 4);
        c.size = bytes_of_hex(hex[1], c.bytes);
        c.value_count = bytes_of_hex(hex[2], (uint8_t *)c.values) / 4;
        in_file_order(c.values, c.value_count, 4);
        for (const struct mf_isa *isa = mf_isas; isa->name; isa++)
            if (mf_isa_runs(isa))
                check_apr(&c, isa);
        cases++;
    }
    fclose(file);
    assert_int_equal(cases, 38);
}

/* ---- versions of the reference ---- */

/* IQ1_M before ggml 0.25.1 and since: of two ways to divide numbers that are as
 * good, each takes another one.  The older encoder gives the digests of all 20
 * tensors of golden/e2e that it made. */
static void older_versions_encode_in_their_way(void **state)
{
    static const char *const older =
        "ed1ee040c5ed1e72403ced1e673b33ed1ee057eded1e2840c5ed1e713eb7ed1e"
        "acbbcecafbacecccbaeeacbbcecafeacbf7fbe5ff6fdf72f";
    static const char *const today =
        "ed1ee040c5ed1e723e3ced1e673b33ed1ee057eded1e2840c5ed1e713eb7ed1e"
        "acbbcecafeacecccbaeeacbbcecafeacbf7fbe5ff6fdf72f";
    float row[256], weights[256];
    uint8_t expected[56], got[56];

    (void)state;
    for (int i = 0; i < 256; i++) {
        row[i] = (float)(3 * i * i % 5 - 2);
        weights[i] = (float)(1 + i % 7);
    }
    for (const struct mf_isa *isa = mf_isas; isa->name; isa++) {
        if (!mf_isa_runs(isa))
            continue;
        assert_int_equal(bytes_of_hex(older, expected), 56);
        assert_true(quant_encode(mf_codec_of(isa, MF_TYPE_IQ1_M)->older, row,
                                 weights, got, 256));
        assert_memory_equal(got, expected, 56);
        assert_int_equal(bytes_of_hex(today, expected), 56);
        assert_true(quant_encode(mf_codec_of(isa, MF_TYPE_IQ1_M), row, weights,
                                 got, 256));
        assert_memory_equal(got, expected, 56);
    }
    assert_null(mf_codec_of(mf_isas, MF_TYPE_IQ1_S)->older);
}

/* ---- codes of two bytes ---- */

/* What sha256sum says of those values. */
static void check_digest(float *values, const char *digest)
{
    char said[65] = "", command[600];
    FILE *pipe;

    in_file_order(values, 65536, 4);
    save(scratch_path("values"), values, 4 * 65536);
    snprintf(command, sizeof(command), "sha256sum <%s", scratch_path("values"));
    pipe = popen(command, "r");
    assert_non_null(pipe);
    assert_non_null(fgets(said, sizeof(said), pipe));
    pclose(pipe);
    assert_string_equal(said, digest);
}

/* What ggml makes of each half and each bfloat16, its NaNs included: digests of
 * all that it wrote (as quant/manifest.tsv, by the same build). */
static void every_code_of_two_bytes(void **state)
{
    static float halves[65536], bfloats[65536];

    (void)state;
    for (size_t i = 0; i < 65536; i++) {
        halves[i] = mf_half_to_float((uint16_t)i);
        bfloats[i] = mf_bfloat_to_float((uint16_t)i);
    }
    check_digest(halves, "b636c5716ff84d972782faf02d0194cb"
                         "8951526bea4cc487082feb47b1860ddf");
    check_digest(bfloats, "9207d7eb28680a098c73dbe536d1ff7b"
                          "94311dc417b9a385e0af6660683e93ca");
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(codecs_give_the_bytes_of_ggml),
        cmocka_unit_test(apr_types_are_as_aprender_writes_them),
        cmocka_unit_test(older_versions_encode_in_their_way),
        cmocka_unit_test(every_code_of_two_bytes),
    };

    cmocka_set_message_output(CM_OUTPUT_TAP);
    say_what_runs();
    return cmocka_run_group_tests(tests, make_scratch, remove_scratch);
}
