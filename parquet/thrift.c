/* SPDX-License-Identifier: MIT
 *
 * thrift.c - Thrift's compact protocol
 */
#include "parquet/thrift.h"

static enum mf_status failed(const struct thrift *thrift)
{
    return mf_reader_check(thrift->reader, "the footer");
}

static enum mf_status malformed(const struct thrift *thrift, uint64_t at,
                                const char *what)
{
    if (thrift->reader->failed)
        return failed(thrift);
    return mf_refuse(thrift->reader->env, MF_RULE_PARQUET_FOOTER, at, "%s",
                     what);
}

/* ---- numbers ---- */

enum mf_status mf_thrift_varint(struct thrift *thrift, uint64_t *out)
{
    uint64_t at = mf_reader_offset(thrift->reader);

    *out = 0;
    for (unsigned shift = 0; shift < 64; shift += 7) {
        uint8_t byte = mf_take_u8(thrift->reader);

        if (shift == 63 && byte > 1)
            break;
        *out |= (uint64_t)(byte & 0x7f) << shift;
        if (!(byte & 0x80))
            return thrift->reader->failed ? failed(thrift) : MF_OK;
    }
    return malformed(thrift, at, "a number of more than 64 bits");
}

enum mf_status mf_thrift_zigzag(struct thrift *thrift, int64_t *out)
{
    uint64_t value;

    if (mf_thrift_varint(thrift, &value) != MF_OK)
        return thrift->reader->env->error.status;
    value = value >> 1 ^ (0 - (value & 1));
    memcpy(out, &value, sizeof(*out));
    return MF_OK;
}

enum mf_status mf_thrift_bytes(struct thrift *thrift, uint64_t *size)
{
    uint64_t at = mf_reader_offset(thrift->reader);

    if (mf_thrift_varint(thrift, size) != MF_OK)
        return thrift->reader->env->error.status;
    if (*size > mf_reader_left(thrift->reader))
        return mf_refuse(thrift->reader->env, MF_RULE_FILE_COUNT, at,
                         "a text of %" PRIu64
                         " bytes, but the footer has %" PRIu64 " after it",
                         *size, mf_reader_left(thrift->reader));
    return MF_OK;
}

/* ---- structs ---- */

/* The number and the type of the next field; type 0 at the end. */
static enum mf_status take_field(struct thrift *thrift, int *id, uint8_t *type)
{
    uint64_t at = mf_reader_offset(thrift->reader);
    uint8_t byte = mf_take_u8(thrift->reader);
    int64_t number = 0;

    *type = byte & 0xf;
    if (thrift->reader->failed)
        return failed(thrift);
    if (*type >= THRIFT_TYPES || (*type == THRIFT_STOP && byte != 0))
        return malformed(thrift, at, "a field of an unknown type");
    if (*type == THRIFT_STOP)
        return MF_OK;
    if (byte >> 4 != 0)
        number = *id + (byte >> 4);
    else if (mf_thrift_zigzag(thrift, &number) != MF_OK)
        return thrift->reader->env->error.status;
    if (number < 1 || number > INT16_MAX)
        return malformed(thrift, at,
                         "a field whose number is not of 1 to 32767");
    *id = (int)number;
    return MF_OK;
}

/* *more: false after the last one. */
static enum mf_status next_field(struct thrift *thrift,
                                 struct thrift_struct *in, bool *more)
{
    uint64_t at = mf_reader_offset(thrift->reader), bit;

    if (take_field(thrift, &in->id, &in->type) != MF_OK)
        return thrift->reader->env->error.status;
    *more = in->type != THRIFT_STOP;
    bit = *more && in->id < 64 ? UINT64_C(1) << in->id : 0;
    if (in->seen & bit)
        return mf_refuse(thrift->reader->env, MF_RULE_PARQUET_FIELD, at,
                         "field %d of %s is there twice", in->id, in->name);
    in->seen |= bit;
    return MF_OK;
}

static enum mf_status check_needed(const struct thrift *thrift,
                                   const struct thrift_struct *in,
                                   uint64_t fields)
{
    for (int id = 1; id < 64; id++)
        if (fields >> id & 1 && !(in->seen >> id & 1))
            return mf_refuse(thrift->reader->env, MF_RULE_PARQUET_FIELD, in->at,
                             "%s has no field %d", in->name, id);
    return MF_OK;
}

static enum mf_status wrong_type(struct thrift *thrift,
                                 const struct thrift_struct *in)
{
    return mf_refuse(thrift->reader->env, MF_RULE_PARQUET_FIELD,
                     mf_reader_offset(thrift->reader),
                     "field %d of %s is of Thrift's type %u", in->id, in->name,
                     in->type);
}

static bool has_type(const struct thrift_shape *shape,
                     const struct thrift_struct *in)
{
    uint8_t type = in->id < THRIFT_FIELDS ? shape->type[in->id] : THRIFT_STOP;

    switch (type) {
    case THRIFT_STOP: /* not known */
        return true;
    case THRIFT_TRUE:
        return in->type == THRIFT_TRUE || in->type == THRIFT_FALSE;
    case THRIFT_I64:
        return in->type >= THRIFT_I8 && in->type <= THRIFT_I64;
    default:
        return in->type == type;
    }
}

static enum mf_status pass_over(struct thrift *thrift,
                                const struct thrift_shape *shape,
                                struct thrift_struct *in)
{
    if (shape->needed >> in->id & 1)
        return wrong_type(thrift, in);
    if (thrift->stray_count++ == 0)
        thrift->stray = (struct thrift_stray){ shape->name,
                                               mf_reader_offset(thrift->reader),
                                               in->id, in->type };
    in->seen &= ~(UINT64_C(1) << in->id);
    return mf_thrift_skip(thrift, in);
}

enum mf_status mf_thrift_read(struct thrift *thrift,
                              const struct thrift_shape *shape,
                              mf_thrift_take *take, void *user,
                              struct thrift_struct *in)
{
    bool more = true;

    *in = (struct thrift_struct){ .name = shape->name,
                                  .at = mf_reader_offset(thrift->reader) };
    while (next_field(thrift, in, &more) == MF_OK && more)
        if ((has_type(shape, in) ? take(user, in)
                                 : pass_over(thrift, shape, in)) != MF_OK)
            return thrift->reader->env->error.status;
    return more ? thrift->reader->env->error.status
                : check_needed(thrift, in, shape->needed);
}

enum mf_status mf_thrift_integer(struct thrift *thrift,
                                 const struct thrift_struct *in, int64_t *out)
{
    if (in->type == THRIFT_I8) {
        *out = (int8_t)mf_take_u8(thrift->reader);
        return thrift->reader->failed ? failed(thrift) : MF_OK;
    }
    if (in->type < THRIFT_I16 || in->type > THRIFT_I64)
        return wrong_type(thrift, in);
    return mf_thrift_zigzag(thrift, out);
}

enum mf_status mf_thrift_bool(struct thrift *thrift,
                              const struct thrift_struct *in, bool *out)
{
    *out = in->type == THRIFT_TRUE;
    return *out || in->type == THRIFT_FALSE ? MF_OK : wrong_type(thrift, in);
}

enum mf_status mf_thrift_open_struct(struct thrift *thrift,
                                     const struct thrift_struct *in)
{
    return in->type == THRIFT_STRUCT ? MF_OK : wrong_type(thrift, in);
}

enum mf_status mf_thrift_binary(struct thrift *thrift,
                                const struct thrift_struct *in, uint64_t *size)
{
    return in->type == THRIFT_BINARY ? mf_thrift_bytes(thrift, size)
                                     : wrong_type(thrift, in);
}

/* ---- lists ---- */

/* An element takes a byte at least: of a struct its end. */
static enum mf_status take_list(struct thrift *thrift, struct thrift_list *out)
{
    uint64_t at = mf_reader_offset(thrift->reader);
    uint8_t byte = mf_take_u8(thrift->reader);

    out->type = byte & 0xf;
    out->count = byte >> 4;
    if (out->count == 15 && mf_thrift_varint(thrift, &out->count) != MF_OK)
        return thrift->reader->env->error.status;
    if (thrift->reader->failed)
        return failed(thrift);
    if (out->type >= THRIFT_TYPES ||
        (out->type == THRIFT_STOP && out->count > 0))
        return malformed(thrift, at, "a list of an unknown type");
    if (out->count > mf_reader_left(thrift->reader))
        return mf_refuse(thrift->reader->env, MF_RULE_FILE_COUNT, at,
                         "a list of %" PRIu64
                         " elements, but the footer has %" PRIu64
                         " bytes after it",
                         out->count, mf_reader_left(thrift->reader));
    return MF_OK;
}

enum mf_status mf_thrift_list(struct thrift *thrift,
                              const struct thrift_struct *in, uint8_t type,
                              struct thrift_list *out)
{
    if (in->type != THRIFT_LIST)
        return wrong_type(thrift, in);
    if (take_list(thrift, out) != MF_OK)
        return thrift->reader->env->error.status;
    /* An empty list may have any type. */
    return out->count == 0 || out->type == type ? MF_OK
                                                : wrong_type(thrift, in);
}

/* ---- what is passed over ---- */

/* A list, a map or a struct in which values are passed over. */
struct level {
    uint64_t left;   /* values to come; of a struct it does not count */
    uint8_t type[2]; /* of a value: keys and values of a map in turn */
    int id;          /* of a struct's last field */
};

struct skipping {
    struct thrift *thrift;
    struct level level[THRIFT_DEPTH_MAX];
    unsigned depth;
};

static enum mf_status enter(struct skipping *skipping, struct level level)
{
    if (skipping->depth == THRIFT_DEPTH_MAX)
        return mf_refuse(skipping->thrift->reader->env, MF_RULE_FILE_NESTING,
                         mf_reader_offset(skipping->thrift->reader),
                         "values of the footer are nested more than %d deep",
                         THRIFT_DEPTH_MAX);
    skipping->level[skipping->depth++] = level;
    return MF_OK;
}

static enum mf_status enter_map(struct skipping *skipping)
{
    struct thrift *thrift = skipping->thrift;
    uint64_t at = mf_reader_offset(thrift->reader), count;
    uint8_t types;

    if (mf_thrift_varint(thrift, &count) != MF_OK)
        return thrift->reader->env->error.status;
    if (count == 0)
        return MF_OK;
    types = mf_take_u8(thrift->reader);
    if (count > mf_reader_left(thrift->reader) / 2 ||
        types >> 4 >= THRIFT_TYPES || (types & 0xf) >= THRIFT_TYPES ||
        types >> 4 == 0 || (types & 0xf) == 0)
        return malformed(thrift, at,
                         "a map of more pairs than there are bytes, "
                         "or of unknown types");
    return enter(skipping,
                 (struct level){ 2 * count, { types & 0xf, types >> 4 }, 0 });
}

static enum mf_status enter_list(struct skipping *skipping)
{
    struct thrift_list list;

    if (take_list(skipping->thrift, &list) != MF_OK)
        return skipping->thrift->reader->env->error.status;
    if (list.count == 0)
        return MF_OK;
    return enter(skipping,
                 (struct level){ list.count, { list.type, list.type }, 0 });
}

/* A value of a list has a byte even if it is a bool. */
static enum mf_status skip_one(struct skipping *skipping, uint8_t type,
                               bool is_field)
{
    struct thrift *thrift = skipping->thrift;
    uint64_t size = 0;

    switch ((enum thrift_type)type) {
    case THRIFT_TRUE:
    case THRIFT_FALSE:
        size = is_field ? 0 : 1;
        break;
    case THRIFT_I8:
        size = 1;
        break;
    case THRIFT_I16:
    case THRIFT_I32:
    case THRIFT_I64:
        return mf_thrift_varint(thrift, &size);
    case THRIFT_DOUBLE:
        size = 8;
        break;
    case THRIFT_UUID:
        size = 16;
        break;
    case THRIFT_BINARY:
        if (mf_thrift_bytes(thrift, &size) != MF_OK)
            return thrift->reader->env->error.status;
        break;
    case THRIFT_LIST:
    case THRIFT_SET:
        return enter_list(skipping);
    case THRIFT_MAP:
        return enter_map(skipping);
    default:
        return enter(skipping, (struct level){ 0, { THRIFT_STOP, 0 }, 0 });
    }
    mf_skip(thrift->reader, size);
    return thrift->reader->failed ? failed(thrift) : MF_OK;
}

static enum mf_status skip_next(struct skipping *skipping)
{
    struct level *level = &skipping->level[skipping->depth - 1];
    uint8_t type;

    if (level->type[0] == THRIFT_STOP) { /* a struct */
        if (take_field(skipping->thrift, &level->id, &type) != MF_OK)
            return skipping->thrift->reader->env->error.status;
        if (type != THRIFT_STOP)
            return skip_one(skipping, type, true);
        skipping->depth--;
        return MF_OK;
    }
    if (level->left == 0) {
        skipping->depth--;
        return MF_OK;
    }
    level->left--;
    return skip_one(skipping, level->type[level->left % 2], false);
}

enum mf_status mf_thrift_skip(struct thrift *thrift,
                              const struct thrift_struct *in)
{
    struct skipping skipping = { .thrift = thrift };
    enum mf_status status = skip_one(&skipping, in->type, true);

    while (status == MF_OK && skipping.depth > 0)
        status = skip_next(&skipping);
    return status;
}
