/* SPDX-License-Identifier: MIT
 *
 * json.h - members of JSON objects
 */
#ifndef MF_CLI_JSON_H
#define MF_CLI_JSON_H

#include "cli/cli.h"

/* A key with its value, in a document of its own. */
void json_member_text(struct mf_json_out *json, const char *key,
                      const char *text);
void json_member_number(struct mf_json_out *json, const char *key,
                        uint64_t number);

/* The same in the answer of the command. */
void json_text(struct run *run, const char *key, const char *text);
void json_number(struct run *run, const char *key, uint64_t number);
void json_double(struct run *run, const char *key, double number);
void json_bool(struct run *run, const char *key, bool value);

/* The same for text from a file.  Bytes that are not UTF-8 are escaped, and a
 * second member KEY_hex has all of them as hexadecimal digits. */
void json_str(struct run *run, const char *key, struct mf_str text);

/* Only the value: hexadecimal digits of the text. */
void json_hex(struct run *run, struct mf_str text);

#endif
