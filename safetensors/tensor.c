/* SPDX-License-Identifier: MIT
 *
 * tensor.c - the description of a tensor in a safetensors header
 */
#include "safetensors/safetensors.h"

enum field { DTYPE = 1, SHAPE = 2, OFFSETS = 4 };

static const struct {
    const char *name;
    size_t size;
    enum field field;
} fields[] = {
    { "dtype", 5, DTYPE },
    { "shape", 5, SHAPE },
    { "data_offsets", 12, OFFSETS },
};

#define FIELD_COUNT (sizeof(fields) / sizeof(*fields))

/* ---- any valid JSON ---- */

/* An array of numbers. */
struct numbers {
    const char *field;
    uint64_t *out;
    unsigned max;    /* room in out */
    unsigned count;  /* max + 1: too many; the rest was not read */
    uint64_t offset; /* of the array */
};

static enum mf_status read_numbers(struct st_walk *walk,
                                   const struct mf_record *record,
                                   struct numbers *numbers)
{
    struct mf_json *json = &walk->json;
    enum mf_json_token token = mf_json_next(json);

    numbers->offset = json->token_offset;
    if (token != MF_JSON_BEGIN_ARRAY && token != MF_JSON_ERROR)
        return mf_refuse(walk->index->env, MF_RULE_FILE_FIELD, numbers->offset,
                         "%s of tensor '%s' is not an array", numbers->field,
                         mf_record_name(record).text);
    for (; token != MF_JSON_ERROR && numbers->count <= numbers->max;
         numbers->count++) {
        uint64_t value;

        token = mf_json_next(json);
        if (token == MF_JSON_END_ARRAY || token == MF_JSON_ERROR)
            break;
        if (token != MF_JSON_NUMBER || !mf_json_plain_u64(json, &value))
            return mf_refuse(
                walk->index->env, MF_RULE_FILE_FIELD, json->token_offset,
                "%s of tensor '%s': %s is not a whole number from 0 "
                "to 2^64 - 1",
                numbers->field, mf_record_name(record).text,
                token == MF_JSON_NUMBER ? json->digits : "an element");
        if (numbers->count < numbers->max)
            numbers->out[numbers->count] = value;
    }
    return st_failed(walk);
}

static enum mf_status read_dtype(struct st_walk *walk, struct mf_record *record)
{
    struct mf_json *json = &walk->json;
    enum mf_json_token token = mf_json_next(json);
    uint64_t offset = json->token_offset, size;
    enum mf_type type = MF_TYPE_UNKNOWN;
    char word[64];
    bool more;

    if (token == MF_JSON_ERROR)
        return st_failed(walk);
    if (token != MF_JSON_STRING)
        return mf_refuse(walk->index->env, MF_RULE_FILE_FIELD, offset,
                         "dtype of tensor '%s' is not a string",
                         mf_record_name(record).text);
    if (mf_json_text(json, word, sizeof(word), &size, &more) != MF_OK)
        return st_failed(walk);
    if (!more)
        type = mf_safetensors_type((struct mf_str){ word, (size_t)size });
    if (type == MF_TYPE_UNKNOWN)
        return mf_refuse(walk->index->env, MF_RULE_ST_DTYPE, offset,
                         "tensor '%s' has unknown dtype '%s'",
                         mf_record_name(record).text,
                         mf_quote((struct mf_str){ word, (size_t)size }).text);
    record->type = (uint16_t)type;
    return MF_OK;
}

static enum mf_status read_shape(struct st_walk *walk, struct mf_record *record)
{
    struct numbers shape = { .field = "shape",
                             .out = walk->shape,
                             .max = MF_RANK_MAX };

    if (read_numbers(walk, record, &shape) != MF_OK)
        return st_failed(walk);
    if (shape.count > MF_RANK_MAX)
        return mf_refuse(walk->index->env, MF_RULE_FILE_RANK, shape.offset,
                         "tensor '%s' has more than %d dimensions, the limit",
                         mf_record_name(record).text, MF_RANK_MAX);
    record->rank = (uint8_t)shape.count;
    return MF_OK;
}

/* Start and end of the data, counted from the end of the header. */
static enum mf_status read_offsets(struct st_walk *walk,
                                   struct mf_record *record)
{
    uint64_t at[2];
    struct numbers offsets = { .field = "data_offsets", .out = at, .max = 2 };

    if (read_numbers(walk, record, &offsets) != MF_OK)
        return st_failed(walk);
    if (offsets.count != 2)
        return mf_refuse(walk->index->env, MF_RULE_FILE_FIELD, offsets.offset,
                         "data_offsets of tensor '%s' has %s than two numbers",
                         mf_record_name(record).text,
                         offsets.count > 2 ? "more" : "fewer");
    record->offset = at[0];
    record->flags |= MF_RECORD_SIZED;
    if (at[1] >= at[0]) {
        record->size = at[1] - at[0];
        return MF_OK;
    }
    /* Without a size there is nothing to compare the shape with. */
    record->flags |= MF_RECORD_SIZE_CHECKED | MF_TENSOR_DAMAGED;
    if (walk->filling)
        mf_index_note(walk->index, walk->part->shard, MF_ERROR,
                      MF_RULE_ST_OFFSETS, offsets.offset,
                      "data_offsets of tensor '%s' are reversed: begin %" PRIu64
                      ", end %" PRIu64,
                      mf_record_name(record).text, at[0], at[1]);
    return MF_OK;
}

/* Skips a field that is unknown, or a duplicate of a known one. */
static enum mf_status skip_field(struct st_walk *walk, struct mf_record *record,
                                 struct mf_str key, uint64_t offset, bool known)
{
    enum mf_json_token token = mf_json_next(&walk->json);

    if (token == MF_JSON_ERROR)
        return st_failed(walk);
    if (known)
        record->flags |= MF_TENSOR_DAMAGED;
    if (walk->filling && known)
        mf_index_note(walk->index, walk->part->shard, MF_ERROR,
                      MF_RULE_ST_FIELD_DUPLICATE, offset,
                      "tensor '%s' has a duplicate field '%s'; the first one "
                      "counts",
                      mf_record_name(record).text, mf_quote(key).text);
    else if (walk->filling)
        mf_index_note(walk->index, walk->part->shard, MF_WARNING,
                      MF_RULE_ST_FIELD_UNKNOWN, offset,
                      "tensor '%s' has an unknown field '%s'",
                      mf_record_name(record).text, mf_quote(key).text);
    return mf_json_skip(&walk->json, token);
}

/* Reads a field after its key token; *seen: the fields read so far. */
static enum mf_status read_field(struct st_walk *walk, struct mf_record *record,
                                 unsigned *seen)
{
    struct mf_json *json = &walk->json;
    uint64_t offset = json->token_offset, size;
    char key[64];
    size_t i = 0;
    bool more;

    if (mf_json_text(json, key, sizeof(key), &size, &more) != MF_OK)
        return st_failed(walk);
    while (i < FIELD_COUNT && (more || fields[i].size != size ||
                               memcmp(fields[i].name, key, (size_t)size) != 0))
        i++;
    if (i == FIELD_COUNT || *seen & fields[i].field)
        return skip_field(walk, record, (struct mf_str){ key, (size_t)size },
                          offset, i < FIELD_COUNT);
    *seen |= fields[i].field;
    switch (fields[i].field) {
    case DTYPE:
        return read_dtype(walk, record);
    case SHAPE:
        return read_shape(walk, record);
    case OFFSETS:
        break;
    }
    return read_offsets(walk, record);
}

static enum mf_status read_fields(struct st_walk *walk,
                                  struct mf_record *record)
{
    struct mf_json *json = &walk->json;
    enum mf_json_token token = mf_json_next(json);
    unsigned seen = 0;

    if (token != MF_JSON_BEGIN_OBJECT && token != MF_JSON_ERROR)
        return mf_refuse(walk->index->env, MF_RULE_FILE_FIELD,
                         json->token_offset,
                         "the description of tensor '%s' is not an object",
                         mf_record_name(record).text);
    while (token != MF_JSON_ERROR &&
           (token = mf_json_next(json)) == MF_JSON_KEY)
        if (read_field(walk, record, &seen) != MF_OK)
            return st_failed(walk);
    if (token == MF_JSON_ERROR)
        return st_failed(walk);
    for (size_t i = 0; i < FIELD_COUNT; i++)
        if (!(seen & fields[i].field))
            return mf_refuse(walk->index->env, MF_RULE_FILE_FIELD,
                             record->entry, "tensor '%s' has no %s",
                             mf_record_name(record).text, fields[i].name);
    return MF_OK;
}

/* ---- the usual form ---- */

/* Nearly all files come from one writer, which uses no white space and always
 * the same order of fields:
 *
 *     :{"dtype":"BF16","shape":[4,8],"data_offsets":[0,64]}
 *
 * Scanning this form in the reader's window takes a third of the tokenizer's
 * time.  At the first different byte nothing was consumed yet, and the
 * tokenizer, which handles every form and every error, reads it instead. */

/* Long enough for four dimensions of any size. */
#define COMPACT_SIZE 256

struct scan {
    const uint8_t *at, *end;
};

#define SCAN(scan, text) scan_text(scan, text, sizeof(text) - 1)

static inline bool scan_text(struct scan *scan, const char *text, size_t size)
{
    if ((size_t)(scan->end - scan->at) < size ||
        memcmp(scan->at, text, size) != 0)
        return false;
    scan->at += size;
    return true;
}

static inline bool scan_digit(const struct scan *scan)
{
    return scan->at < scan->end && *scan->at >= '0' && *scan->at <= '9';
}

/* A number of at most 19 digits, which cannot overflow. */
static inline bool scan_number(struct scan *scan, uint64_t *out)
{
    const uint8_t *start = scan->at;
    uint64_t value = 0;

    for (; scan_digit(scan); scan->at++)
        if (scan->at - start < 19)
            value = value * 10 + (uint64_t)(*scan->at - '0');
    *out = value;
    return scan->at > start && scan->at - start <= 19 &&
           (*start != '0' || scan->at - start == 1);
}

static bool scan_type(struct scan *scan, struct mf_record *record)
{
    struct mf_str word = { (const char *)scan->at, 0 };
    enum mf_type type;

    while (scan->at < scan->end && *scan->at != '"')
        scan->at++;
    word.size = (size_t)((const char *)scan->at - word.at);
    type = mf_safetensors_type(word);
    record->type = (uint16_t)type;
    return type != MF_TYPE_UNKNOWN;
}

static bool scan_shape(struct scan *scan, struct mf_record *record,
                       uint64_t shape[MF_RANK_MAX])
{
    record->rank = 0;
    if (scan->at < scan->end && *scan->at == ']')
        return true;
    while (record->rank < MF_RANK_MAX &&
           scan_number(scan, &shape[record->rank])) {
        record->rank++;
        if (!SCAN(scan, ","))
            return true;
    }
    return false;
}

/* Reads a whole description; false, with nothing consumed, in any other form.
 */
static bool scan_tensor(struct st_walk *walk, struct mf_record *record)
{
    struct mf_reader *reader = walk->json.reader;
    struct scan scan = { reader->window + reader->at,
                         reader->window + reader->filled };
    uint64_t begin, end;

    if (!SCAN(&scan, ":{\"dtype\":\"") || !scan_type(&scan, record) ||
        !SCAN(&scan, "\",\"shape\":[") ||
        !scan_shape(&scan, record, walk->shape) ||
        !SCAN(&scan, "],\"data_offsets\":[") || !scan_number(&scan, &begin) ||
        !SCAN(&scan, ",") || !scan_number(&scan, &end) || !SCAN(&scan, "]}") ||
        begin > end)
        return false;
    record->offset = begin;
    record->size = end - begin;
    record->flags = MF_RECORD_SIZED;
    reader->at = (size_t)(scan.at - reader->window);
    return true;
}

enum mf_status mf_safetensors_tensor(struct st_walk *walk,
                                     struct mf_record *record)
{
    struct mf_json *json = &walk->json;
    uint64_t left = mf_reader_left(json->reader);

    if (!walk->after.reader) {
        /* The tokenizer reads the first tensor.  Its state afterwards is the
         * one to restore after a tensor that was scanned. */
        read_fields(walk, record);
        walk->after = *json;
        return st_failed(walk);
    }
    mf_reader_fill(json->reader,
                   left < COMPACT_SIZE ? (size_t)left : COMPACT_SIZE);
    if (!scan_tensor(walk, record))
        return read_fields(walk, record);
    *json = walk->after;
    return MF_OK;
}
