/* SPDX-License-Identifier: MIT
 *
 * fingerprint.c - what was measured, as one digest
 */
#include "cli/measure/fingerprint.h"

#include <string.h>

#include "cli/decimal.h"
#include "cli/json.h"

/* ---- SHA-256 as text ---- */

struct sha256_text sha256_end(const struct mf_sha256 *sha)
{
    static const char digits[] = "0123456789abcdef";
    struct sha256_text text;
    uint8_t digest[32];

    mf_sha256_end(sha, digest);
    for (size_t i = 0; i < sizeof(digest); i++) {
        text.at[2 * i] = digits[digest[i] >> 4];
        text.at[2 * i + 1] = digits[digest[i] & 15];
    }
    text.at[64] = 0;
    return text;
}

struct sha256_text sha256_of(const void *bytes, size_t size)
{
    struct mf_sha256 sha;

    mf_sha256_begin(&sha);
    mf_sha256_add(&sha, bytes, size);
    return sha256_end(&sha);
}

/* ---- what was measured, as one digest ---- */

static void float_member(struct mf_json_out *json, const char *key, float value)
{
    struct decimal_text text = decimal_json_f32(value);

    mf_json_key(json, key);
    mf_json_digits(json, text.at, strlen(text.at));
}

void fingerprint_json(struct mf_json_out *json,
                      const struct fingerprint_config *config)
{
    mf_json_begin(json, '{');
    json_member_text(json, "model_commit", config->model_commit);
    json_member_text(json, "weights_hash", config->weights_hash);
    float_member(json, "lambda", config->lambda);
    json_member_number(json, "tau", config->tau);
    float_member(json, "eps", config->eps);
    json_member_text(json, "compiler_flags", config->compiler_flags);
    mf_json_end(json, '}');
}

static void digest(void *user, const char *at, size_t size)
{
    mf_sha256_add(user, at, size);
}

struct sha256_text fingerprint_of(const struct fingerprint_config *config)
{
    struct mf_sha256 sha;
    struct mf_json_out json = { .write = digest, .user = &sha };

    mf_sha256_begin(&sha);
    fingerprint_json(&json, config);
    return sha256_end(&sha);
}
