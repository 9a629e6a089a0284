/* SPDX-License-Identifier: MIT
 *
 * json.c - members of JSON objects
 */
#include "cli/json.h"

#include <stdio.h>
#include <string.h>

void json_member_text(struct mf_json_out *json, const char *key,
                      const char *text)
{
    mf_json_key(json, key);
    mf_json_string(json, text, strlen(text));
}

void json_member_number(struct mf_json_out *json, const char *key,
                        uint64_t number)
{
    mf_json_key(json, key);
    mf_json_u64(json, number);
}

void json_text(struct run *run, const char *key, const char *text)
{
    json_member_text(&run->json, key, text);
}

void json_hex(struct run *run, struct mf_str text)
{
    static const char digits[] = "0123456789abcdef";

    mf_json_open_string(&run->json);
    for (size_t i = 0; i < text.size; i++) {
        unsigned char byte = (unsigned char)text.at[i];
        char pair[2] = { digits[byte >> 4], digits[byte & 15] };

        mf_json_piece(&run->json, pair, 2);
    }
    mf_json_close_string(&run->json, false);
}

void json_str(struct run *run, const char *key, struct mf_str text)
{
    char hex_key[64];

    mf_json_key(&run->json, key);
    mf_json_string(&run->json, text.at, text.size);
    if (mf_text_is_utf8(text.at, text.size))
        return;
    snprintf(hex_key, sizeof(hex_key), "%s_hex", key);
    mf_json_key(&run->json, hex_key);
    json_hex(run, text);
}

void json_number(struct run *run, const char *key, uint64_t number)
{
    json_member_number(&run->json, key, number);
}

void json_double(struct run *run, const char *key, double number)
{
    mf_json_key(&run->json, key);
    mf_json_f64(&run->json, number);
}

void json_bool(struct run *run, const char *key, bool value)
{
    mf_json_key(&run->json, key);
    mf_json_bool(&run->json, value);
}
