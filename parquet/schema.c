/* SPDX-License-Identifier: MIT
 *
 * schema.c - the tree of columns
 *
 * The schema is a list of elements, each with the number of its children, which
 * follow it.  An element without children is a column; its path is the names
 * from below the root on.
 */
#include <stdio.h>

#include "parquet/parquet.h"

enum repetition { REQUIRED, OPTIONAL, REPEATED };

/* Fields of a SchemaElement. */
enum {
    FIELD_TYPE = 1,
    FIELD_TYPE_LENGTH = 2,
    FIELD_REPETITION = 3,
    FIELD_NAME = 4,
    FIELD_CHILDREN = 5,
    FIELD_CONVERTED = 6,
    FIELD_SCALE = 7,
    FIELD_PRECISION = 8,
    FIELD_LOGICAL = 10
};

#define FIXED_LEN_BYTE_ARRAY 7
#define DECIMAL              5

/* Enough for the longest name of a logical type with its numbers. */
#define LOGICAL_ROOM 64

struct element {
    struct parquet *parquet;
    struct thrift_struct in;
    int64_t type, length, repetition, children, converted, scale, precision;
    uint64_t name_at, name_size;
    char logical[LOGICAL_ROOM];
};

static bool has(const struct element *element, int field)
{
    return element->in.seen >> field & 1;
}

static enum mf_status take_field(void *user, const struct thrift_struct *in)
{
    struct element *element = user;
    struct thrift *thrift = &element->parquet->thrift;
    int64_t *const numbers[] = {
        [FIELD_TYPE] = &element->type,
        [FIELD_TYPE_LENGTH] = &element->length,
        [FIELD_REPETITION] = &element->repetition,
        [FIELD_CHILDREN] = &element->children,
        [FIELD_CONVERTED] = &element->converted,
        [FIELD_SCALE] = &element->scale,
        [FIELD_PRECISION] = &element->precision,
    };
    int id = in->id;

    if (id < (int)(sizeof(numbers) / sizeof(*numbers)) && numbers[id])
        return mf_thrift_integer(thrift, in, numbers[id]);
    if (id == FIELD_NAME) {
        if (mf_thrift_binary(thrift, in, &element->name_size) != MF_OK)
            return thrift->reader->env->error.status;
        element->name_at = mf_reader_offset(thrift->reader);
        mf_skip(thrift->reader, element->name_size);
        return MF_OK;
    }
    if (id == FIELD_LOGICAL) {
        if (mf_thrift_open_struct(thrift, in) != MF_OK)
            return thrift->reader->env->error.status;
        return mf_parquet_logical(thrift, element->logical,
                                  sizeof(element->logical));
    }
    return mf_thrift_skip(thrift, in);
}

static const struct thrift_shape shape = { "SchemaElement",
                                           UINT64_C(1) << FIELD_NAME,
                                           { [FIELD_TYPE] = THRIFT_I64,
                                             [FIELD_TYPE_LENGTH] = THRIFT_I64,
                                             [FIELD_REPETITION] = THRIFT_I64,
                                             [FIELD_NAME] = THRIFT_BINARY,
                                             [FIELD_CHILDREN] = THRIFT_I64,
                                             [FIELD_CONVERTED] = THRIFT_I64,
                                             [FIELD_SCALE] = THRIFT_I64,
                                             [FIELD_PRECISION] = THRIFT_I64,
                                             [FIELD_LOGICAL] =
                                                 THRIFT_STRUCT } };

static enum mf_status read_element(struct parquet *parquet,
                                   struct element *element)
{
    *element = (struct element){ .parquet = parquet };
    return mf_thrift_read(&parquet->thrift, &shape, take_field, element,
                          &element->in);
}

/* ---- paths ---- */

/* Appends the element's name to the path of those above it. */
static enum mf_status extend_path(struct parquet *parquet,
                                  const struct element *element)
{
    struct mf_env *env = parquet->index->env;
    size_t dot = parquet->path_size > 0;

    if (element->name_size > MF_TEXT_KEPT - parquet->path_size - dot)
        return mf_refuse(env, MF_RULE_FILE_LIMIT, element->in.at,
                         "the path of a column has more than %d bytes",
                         MF_TEXT_KEPT);
    if (dot)
        parquet->path[parquet->path_size] = '.';
    if (!mf_reader_copy(parquet->thrift.reader, element->name_at,
                        parquet->path + parquet->path_size + dot,
                        (size_t)element->name_size))
        return env->error.status;
    parquet->path_size += dot + (size_t)element->name_size;
    return MF_OK;
}

/* A path per column, each as long as all groups above it: so a small footer
 * could ask for much memory. */
static enum mf_status keep_path(struct parquet *parquet, struct mf_str *out)
{
    struct mf_env *env = parquet->index->env;

    parquet->path_bytes += parquet->path_size;
    if (parquet->path_bytes >
        PARQUET_PATHS_SHARE * parquet->footer.size + PARQUET_PATHS_LEAST)
        return mf_refuse(env, MF_RULE_FILE_LIMIT,
                         mf_reader_offset(parquet->thrift.reader),
                         "the paths of columns have more than %d times the "
                         "bytes of the footer",
                         PARQUET_PATHS_SHARE);
    return mf_parquet_keep(
        parquet, (struct mf_str){ parquet->path, parquet->path_size }, out);
}

/* ---- columns ---- */

static const char *logical_name(const struct element *element)
{
    if (element->logical[0])
        return element->logical;
    return has(element, FIELD_CONVERTED)
               ? mf_parquet_converted(element->converted)
               : "";
}

/* The older way to say the same, with numbers of its own. */
static enum mf_status keep_logical(struct parquet *parquet,
                                   const struct element *element,
                                   struct mf_str *out)
{
    char text[LOGICAL_ROOM];
    const char *name = logical_name(element);

    if (!name) {
        mf_parquet_note(parquet, MF_WARNING, MF_RULE_PARQUET_ENUM,
                        element->in.at, "column '%s': unknown type %" PRId64,
                        mf_parquet_path(parquet).text, element->converted);
        name = "";
    }
    if (!element->logical[0] && element->converted == DECIMAL &&
        has(element, FIELD_CONVERTED)) {
        snprintf(text, sizeof(text), "%.20s(%" PRId64 ",%" PRId64 ")", name,
                 element->precision, element->scale);
        name = text;
    }
    return mf_parquet_keep(parquet, (struct mf_str){ name, strlen(name) }, out);
}

/* What the groups above a column, and itself, say of its values. */
static void set_repetition(const struct parquet *parquet, int64_t own,
                           struct mf_table_column *column)
{
    column->optional = own == OPTIONAL;
    column->repeated = own == REPEATED;
    for (unsigned i = 0; i < parquet->depth; i++) {
        column->optional |= parquet->level[i].optional;
        column->repeated |= parquet->level[i].repeated;
    }
}

static enum mf_status add_column(struct parquet *parquet,
                                 const struct element *element)
{
    struct mf_table_column column = { .physical =
                                          mf_parquet_physical(element->type) };

    if (!has(element, FIELD_TYPE) || !column.physical)
        return mf_refuse(parquet->index->env, MF_RULE_PARQUET_SCHEMA,
                         element->in.at, "column '%s' has no type",
                         mf_parquet_path(parquet).text);
    if (element->type == FIXED_LEN_BYTE_ARRAY && element->length <= 0)
        mf_parquet_note(parquet, MF_ERROR, MF_RULE_PARQUET_SCHEMA,
                        element->in.at,
                        "column '%s' has values of %" PRId64 " bytes",
                        mf_parquet_path(parquet).text, element->length);
    set_repetition(parquet, element->repetition, &column);
    if (keep_path(parquet, &column.path) != MF_OK ||
        keep_logical(parquet, element, &column.logical) != MF_OK ||
        mf_table_reserve_columns(parquet->index->env, parquet->table, 1) !=
            MF_OK)
        return parquet->index->env->error.status;
    parquet->table->column[parquet->table->column_count++] = column;
    return MF_OK;
}

/* ---- the tree ---- */

static enum mf_status open_group(struct parquet *parquet,
                                 const struct element *element)
{
    if (parquet->depth == PARQUET_DEPTH_MAX)
        return mf_refuse(parquet->index->env, MF_RULE_FILE_NESTING,
                         element->in.at, "columns are nested more than %d deep",
                         PARQUET_DEPTH_MAX);
    if (has(element, FIELD_TYPE))
        mf_parquet_note(parquet, MF_ERROR, MF_RULE_PARQUET_SCHEMA,
                        element->in.at,
                        "element '%s' has a type, and elements in it",
                        mf_parquet_path(parquet).text);
    parquet->level[parquet->depth++] = (struct parquet_level){
        .children = (uint64_t)element->children,
        .path_size = parquet->path_size,
        .optional = element->repetition == OPTIONAL,
        .repeated = element->repetition == REPEATED,
    };
    return MF_OK;
}

/* Leaves groups whose children have all come. */
static void close_groups(struct parquet *parquet)
{
    while (parquet->depth > 0 &&
           parquet->level[parquet->depth - 1].children == 0)
        parquet->depth--;
    parquet->path_size =
        parquet->depth > 0 ? parquet->level[parquet->depth - 1].path_size : 0;
}

static enum mf_status check_element(const struct parquet *parquet,
                                    const struct element *element,
                                    uint64_t left)
{
    struct mf_env *env = parquet->index->env;

    if (element->children < 0 || (uint64_t)element->children > left)
        return mf_refuse(env, MF_RULE_PARQUET_SCHEMA, element->in.at,
                         "an element with %" PRId64 " in it, but %" PRIu64
                         " follow",
                         element->children, left);
    if (element->repetition < REQUIRED || element->repetition > REPEATED)
        return mf_refuse(env, MF_RULE_PARQUET_SCHEMA, element->in.at,
                         "an element that is repeated in an unknown way, "
                         "%" PRId64,
                         element->repetition);
    return MF_OK;
}

/* One element below the root; `left` are to come after it. */
static enum mf_status take_element(struct parquet *parquet, uint64_t left)
{
    struct element element;
    enum mf_status status = read_element(parquet, &element);

    if (status == MF_OK)
        status = check_element(parquet, &element, left);
    if (status == MF_OK && parquet->depth == 0)
        status =
            mf_refuse(parquet->index->env, MF_RULE_PARQUET_SCHEMA,
                      element.in.at, "an element after the end of the schema");
    if (status == MF_OK)
        status = extend_path(parquet, &element);
    if (status != MF_OK)
        return status;
    parquet->level[parquet->depth - 1].children--;
    status = element.children > 0 ? open_group(parquet, &element)
                                  : add_column(parquet, &element);
    close_groups(parquet);
    return status;
}

static enum mf_status take_root(struct parquet *parquet, uint64_t left)
{
    struct element root;

    if (read_element(parquet, &root) != MF_OK ||
        check_element(parquet, &root, left) != MF_OK ||
        open_group(parquet, &root) != MF_OK)
        return parquet->index->env->error.status;
    /* However often a row is there, it does not describe its columns. */
    parquet->level[0].optional = parquet->level[0].repeated = false;
    close_groups(parquet);
    return MF_OK;
}

enum mf_status mf_parquet_schema(struct parquet *parquet, uint64_t count)
{
    enum mf_status status;

    if (count == 0)
        return mf_refuse(parquet->index->env, MF_RULE_PARQUET_SCHEMA,
                         mf_reader_offset(parquet->thrift.reader),
                         "a schema without elements");
    status = take_root(parquet, count - 1);
    for (uint64_t left = count - 1; status == MF_OK && left > 0; left--)
        status = take_element(parquet, left - 1);
    if (status == MF_OK && parquet->depth > 0)
        status = mf_refuse(parquet->index->env, MF_RULE_PARQUET_SCHEMA,
                           mf_reader_offset(parquet->thrift.reader),
                           "the schema ends before all of its elements");
    return status;
}
