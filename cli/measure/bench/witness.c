/* SPDX-License-Identifier: MIT
 *
 * witness.c - each round of a setting, twice: as a table and as a chain
 *
 * A line of the chain is a JSON object that has the SHA-256 of the line before,
 * without its end; the first one has zeros.  So no line can be changed without
 * changing all that follow.
 */
#include <inttypes.h>
#include <stdio.h>

#include "cli/json.h"
#include "cli/measure/bench/grid.h"
#include "cli/measure/record.h"

/* The line that is being made; none is longer. */
static struct {
    char at[2048];
    size_t size;
} line;

static void put(void *user, const char *at, size_t size)
{
    (void)user;
    if (size <= sizeof(line.at) - line.size) {
        memcpy(line.at + line.size, at, size);
        line.size += size;
    }
}

static struct mf_json_out begin_line(const struct witness *witness)
{
    struct mf_json_out json = { .write = put };

    line.size = 0;
    mf_json_begin(&json, '{');
    mf_json_key(&json, "previous");
    mf_json_string(&json, witness->previous.at, 64);
    return json;
}

static void end_line(struct witness *witness, struct mf_json_out *json)
{
    mf_json_end(json, '}');
    witness->previous = sha256_of(line.at, line.size);
    out_bytes(&witness->lines.out, line.at, line.size);
    out_text(&witness->lines.out, "\n");
}

void witness_begin(struct run *run, struct witness *witness,
                   const struct grid_setting *setting, bool baseline)
{
    struct record_folder *folder = record_folder();
    char name[RECORD_NAME];
    struct mf_json_out json;

    snprintf(name, sizeof(name), "%s%s.csv", baseline ? "" : "csv/",
             setting->name);
    record_file_open(folder, &witness->csv, name);
    out_line(&witness->csv.out, RECORD_LATENCY);
    snprintf(name, sizeof(name), "witness/%s.jsonl", setting->name);
    record_file_open(folder, &witness->lines, name);
    memset(witness->previous.at, '0', 64);
    witness->previous.at[64] = 0;
    json = begin_line(witness);
    json_member_text(&json, "setting", setting->name);
    json_member_text(&json, "fingerprint", record_fingerprint(run).at);
    json_member_text(&json, "type", setting->mix ? setting->mix : "");
    json_member_number(&json, "threads", setting->threads);
    json_member_number(&json, "file_bytes", setting->file_size);
    end_line(witness, &json);
}

void witness_round(struct witness *witness, size_t sample, uint64_t wall_us,
                   uint64_t kernel_us, uint64_t elements)
{
    struct mf_json_out json = begin_line(witness);
    char row[100];

    snprintf(row, sizeof(row), "%zu,%" PRIu64 ",%" PRIu64 ",%" PRIu64, sample,
             wall_us, kernel_us, elements);
    out_line(&witness->csv.out, row);
    json_member_text(&json, "row", row);
    end_line(witness, &json);
}

void witness_end(struct witness *witness, const struct grid_setting *setting)
{
    struct record_folder *folder = record_folder();
    struct sha256_text table = record_file_close(folder, &witness->csv);
    struct mf_json_out json = begin_line(witness);

    json_member_text(&json, "table_sha256", table.at);
    record_latency_json(&json, &setting->latency);
    end_line(witness, &json);
    record_file_close(folder, &witness->lines);
}
