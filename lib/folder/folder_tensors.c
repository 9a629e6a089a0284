/* SPDX-License-Identifier: MIT
 *
 * folder_tensors.c - the tensors, by config.json and the rows of families.def
 */
#include <inttypes.h>
#include <stdio.h>
#include <string.h>

#include "lib/base/str.h"
#include "lib/folder/families.h"
#include "lib/io/path.h"

/* Lengths of dimensions: fields of config.json, and what follows from them. */
enum length {
    ONE, /* there is no such dimension */
    UNIT,
    VOCAB,
    EMBED,
    FEED,
    FEED2,
    HEADS,
    HEADS_KV,
    HEAD,
    QUERIES,
    KEYS,
    QKV,
    EXPERTS,
    EXPERTS_OWN,
    EXPERT_FEED,
    SHARED_FEED,
    LENGTHS
};

#define ALWAYS      (MF_FIELD_COUNT + 0)
#define FREE        (MF_FIELD_COUNT + 1)
#define BIASED      MF_FIELD_BIASED
#define FEED_BIASED MF_FIELD_FEED_BIASED
#define QKV_BIASED  MF_FIELD_QKV_BIASED
#define NORMED      MF_FIELD_NORMED

#define FAMILY(NAME)

static const struct row {
    const char *name;
    enum length rows, columns;
    int when, which;
} rows[] = {
#define TYPE(type, FAMILY, tied, head, kv)
#define TENSOR(name, rows, columns, when, which)                               \
    { name, rows, columns, when, which },
#include "lib/folder/families.def"
#undef TYPE
#undef TENSOR
};

#define ROW_COUNT (sizeof(rows) / sizeof(*rows))

struct check {
    struct mf_folder *folder;
    struct mf_index *index;
    const struct mf_folder_type *type;
    uint64_t length[LENGTHS]; /* 0: unknown */
    uint64_t layers, seen;    /* by config.json, by names; 0: unknown */
    uint64_t experts;
    bool whole;
    size_t found;
    uint8_t *used; /* for each tensor: a row has its name */
};

/* What a row has found missing. */
struct missing {
    uint64_t count, layer, expert;
};

/* ---- lengths ---- */

static const struct mf_folder_value *value_of(const struct check *check,
                                              enum mf_folder_field field)
{
    return &check->folder->value[field];
}

static uint64_t number_of(const struct check *check, enum mf_folder_field field)
{
    return value_of(check, field)->given ? value_of(check, field)->number : 0;
}

/* Sizes are below 2^31: no product of two and a small number overflows. */
static void set_lengths(struct check *check)
{
    uint64_t *length = check->length;
    uint64_t heads = number_of(check, MF_FIELD_HEADS);
    uint64_t kv = number_of(check, MF_FIELD_HEADS_KV);
    uint64_t head = number_of(check, MF_FIELD_HEAD);
    uint64_t embed = number_of(check, MF_FIELD_EMBED);

    if (!value_of(check, MF_FIELD_HEADS_KV)->given && check->type->kv == 0)
        kv = heads;
    if (!value_of(check, MF_FIELD_HEAD)->given && check->type->head == 0)
        head = heads > 0 ? embed / heads : 0;
    length[UNIT] = 1;
    length[VOCAB] = number_of(check, MF_FIELD_VOCAB);
    length[EMBED] = embed;
    length[FEED] = number_of(check, MF_FIELD_FEED);
    length[FEED2] = 2 * length[FEED];
    length[HEADS] = heads;
    length[HEADS_KV] = kv;
    length[HEAD] = head;
    length[QUERIES] = heads * head;
    length[KEYS] = kv * head;
    length[QKV] = heads > 0 && kv > 0 ? (heads + 2 * kv) * head : 0;
    length[EXPERTS] = number_of(check, MF_FIELD_EXPERTS);
    length[EXPERTS_OWN] = number_of(check, MF_FIELD_EXPERTS_OWN);
    if (length[EXPERTS] == 0)
        length[EXPERTS] = length[EXPERTS_OWN];
    if (length[EXPERTS_OWN] == 0)
        length[EXPERTS_OWN] = length[EXPERTS];
    length[EXPERT_FEED] = number_of(check, MF_FIELD_EXPERT_FEED);
    length[SHARED_FEED] = number_of(check, MF_FIELD_SHARED_FEED);
    check->experts = length[EXPERTS];
    check->layers = number_of(check, MF_FIELD_LAYERS);
}

/* ---- names ---- */

struct name {
    char text[96];
    size_t size;
};

static void add_number(struct name *name, uint64_t number)
{
    char digits[20]; /* of 2^64 - 1 */
    size_t at = sizeof(digits);

    do
        digits[--at] = (char)('0' + number % 10);
    while ((number /= 10) > 0);
    memcpy(name->text + name->size, digits + at, sizeof(digits) - at);
    name->size += sizeof(digits) - at;
}

/* A model of many experts has 20,000 names. */
static struct name name_of(const struct row *row, uint64_t layer,
                           uint64_t expert)
{
    struct name out;

    out.size = 0;
    for (const char *at = row->name; *at; at++)
        if (*at == '*' || *at == '#')
            add_number(&out, *at == '*' ? layer : expert);
        else
            out.text[out.size++] = *at;
    out.text[out.size] = 0;
    return out;
}

/* The number in "model.layers.7."; false for other names. */
static bool layer_of(const struct mf_record *record, uint64_t *layer)
{
    static const char head[] = "model.layers.";
    struct mf_str name = { record->name, record->name_size };
    size_t at = sizeof(head) - 1;

    if (!mf_str_begins(name, head))
        return false;
    *layer = 0;
    while (at < name.size && at < sizeof(head) + 9 && name.at[at] >= '0' &&
           name.at[at] <= '9')
        *layer = *layer * 10 + (uint64_t)(name.at[at++] - '0');
    return at >= sizeof(head) && at < name.size && name.at[at] == '.';
}

static uint64_t layers_in_names(const struct mf_index *index)
{
    uint64_t seen = 0, layer;

    for (size_t i = 0; i < index->tensor_count; i++)
        if (layer_of(&index->tensor[i], &layer) && layer >= seen)
            seen = layer + 1;
    return seen;
}

/* ---- one tensor ---- */

static void note_shape(struct check *check, const struct row *row,
                       const struct mf_record *record)
{
    uint64_t a = check->length[row->rows], b = check->length[row->columns];
    char has[64] = "", wants[48];
    size_t used = 0;

    for (unsigned i = 0; i < record->rank && i < 3; i++)
        used += (size_t)snprintf(has + used, sizeof(has) - used, "%s%" PRIu64,
                                 i > 0 ? " x " : "", record->dim[i]);
    if (row->columns == ONE)
        snprintf(wants, sizeof(wants), "%" PRIu64, a);
    else if (a == 0)
        snprintf(wants, sizeof(wants), "? x %" PRIu64, b);
    else if (b == 0)
        snprintf(wants, sizeof(wants), "%" PRIu64 " x ?", a);
    else
        snprintf(wants, sizeof(wants), "%" PRIu64 " x %" PRIu64, a, b);
    mf_index_note_of(check->index, record, MF_ERROR, MF_RULE_MODEL_SHAPE,
                     record->entry,
                     "tensor '%s' is %s, but config.json implies %s",
                     mf_record_name(record).text, has, wants);
}

static void check_shape(struct check *check, const struct row *row,
                        const struct mf_record *record)
{
    uint64_t a = check->length[row->rows], b = check->length[row->columns];
    unsigned rank = row->columns == ONE ? 1 : 2;

    if (record->rank != rank || (a != 0 && record->dim[0] != a) ||
        (rank > 1 && b != 0 && record->dim[1] != b))
        note_shape(check, row, record);
}

static void check_tensor(struct check *check, const struct row *row,
                         uint64_t layer, uint64_t expert,
                         struct missing *missing)
{
    struct name name = name_of(row, layer, expert);
    size_t at = mf_names_find(&check->index->tensor_names,
                              (struct mf_str){ name.text, name.size });

    if (at == MF_NOT_FOUND) {
        if (missing->count++ == 0) {
            missing->layer = layer;
            missing->expert = expert;
        }
        return;
    }
    check->found++;
    if (!check->used[at])
        check_shape(check, row, &check->index->tensor[at]);
    check->used[at] = 1;
}

/* ---- rows ---- */

/* Whether the model must have the tensors of the row. */
static bool is_needed(const struct check *check, const struct row *row)
{
    const struct mf_folder_value *flag;

    if (row->when >= MF_FIELD_COUNT)
        return row->when == ALWAYS;
    flag = &check->folder->value[row->when];
    return flag->given ? flag->is_true : row->when == QKV_BIASED;
}

static void note_missing(struct check *check, const struct row *row,
                         const struct missing *missing)
{
    char more[64] = "";

    if (missing->count > 1)
        snprintf(more, sizeof(more), ", and %" PRIu64 " more of that kind",
                 missing->count - 1);
    mf_index_note(check->index, 0, MF_ERROR, MF_RULE_MODEL_TENSOR, MF_NO_OFFSET,
                  "missing tensor '%s'%s: transformers fills it with random "
                  "numbers",
                  name_of(row, missing->layer, missing->expert).text, more);
}

/* Of a model that claims more experts or layers than it can have tensors, the
 * first ones that are missing are enough. */
static void check_layers(struct check *check, const struct row *row,
                         struct missing *missing)
{
    bool each = strchr(row->name, '*'), experts = strchr(row->name, '#');
    uint64_t layers = !each                         ? 1
                      : check->layers < check->seen ? check->layers
                                                    : check->seen;
    uint64_t count = experts ? check->experts : 1;
    size_t enough = check->index->tensor_count;

    for (uint64_t i = 0; i < layers && missing->count <= enough; i++)
        for (uint64_t k = 0; k < count && missing->count <= enough; k++)
            check_tensor(check, row, i, k, missing);
}

static void check_row(struct check *check, const struct row *row)
{
    struct missing missing = { 0 };
    size_t found = check->found;

    check_layers(check, row, &missing);
    if (missing.count > 0 && check->whole && is_needed(check, row))
        note_missing(check, row, &missing);
    else if (check->found > found && row->when < MF_FIELD_COUNT &&
             !is_needed(check, row))
        mf_index_note(check->index, 0, MF_WARNING, MF_RULE_MODEL_UNUSED,
                      MF_NO_OFFSET,
                      "the model has '%s', but '%s' in config.json is not "
                      "true: transformers ignores it",
                      name_of(row, 0, 0).text,
                      mf_folder_key((enum mf_folder_field)row->when));
}

/* ---- the whole model ---- */

static void check_blocks(struct check *check)
{
    bool more = check->seen > check->layers;

    if (check->layers == 0 || check->layers == check->seen ||
        (!more && !check->whole))
        return;
    mf_index_note(check->index, 0, more ? MF_WARNING : MF_ERROR,
                  MF_RULE_MODEL_BLOCKS, MF_NO_OFFSET,
                  "'num_hidden_layers' in config.json is %" PRIu64
                  ", but tensor names imply %" PRIu64,
                  check->layers, check->seen);
}

static bool is_buffer(const struct mf_record *record)
{
    return mf_name_ends(record->name, ".rotary_emb.inv_freq");
}

/* Tensors that no row names: transformers ignores them, with a warning. */
static void check_unused(struct check *check)
{
    const struct mf_record *first = NULL;
    uint64_t count = 0, layer;

    for (size_t i = 0; i < check->index->tensor_count; i++) {
        const struct mf_record *record = &check->index->tensor[i];

        if (check->used[i] || is_buffer(record) ||
            (layer_of(record, &layer) && layer >= check->layers))
            continue;
        first = first ? first : record;
        count++;
    }
    if (first)
        mf_index_note_of(check->index, first, MF_WARNING, MF_RULE_MODEL_UNUSED,
                         first->entry,
                         "model type '%s' has no tensor '%s' (%" PRIu64
                         " such tensors): transformers ignores them",
                         check->type->name, mf_record_name(first).text, count);
}

static void check_head(struct check *check)
{
    const struct mf_folder_value *flag = value_of(check, MF_FIELD_TIED);
    bool tied = flag->given ? flag->is_true : check->type->tied;
    static const char name[] = "lm_head.weight";

    if (tied || !check->whole ||
        mf_names_find(&check->index->tensor_names,
                      (struct mf_str){ name, sizeof(name) - 1 }) !=
            MF_NOT_FOUND)
        return;
    mf_index_note(check->index, 0, MF_ERROR, MF_RULE_CONFIG_TIED, MF_NO_OFFSET,
                  "'tie_word_embeddings' in config.json is %s, but there is no "
                  "tensor '%s': transformers fills it with random numbers",
                  flag->given ? "false" : "missing, which means false", name);
}

/* Models that classify or embed have other tensors next to the usual ones. */
static bool is_language_model(const struct mf_folder *folder)
{
    const struct mf_folder_value *class = &folder->value[MF_FIELD_CLASS];

    return class->given && mf_name_ends(class->text, "ForCausalLM");
}

/* Quantized models have other tensors in place of a matrix; of some mixtures of
 * experts single layers are dense. */
static bool is_regular(const struct check *check)
{
    return !value_of(check, MF_FIELD_QUANTIZED)->given &&
           !value_of(check, MF_FIELD_QUANTIZED_MLX)->given &&
           !value_of(check, MF_FIELD_COMPRESSED)->given &&
           !value_of(check, MF_FIELD_SOME_DENSE)->given &&
           number_of(check, MF_FIELD_SPARSE_STEP) <= 1;
}

/* Whether the model has the tensor of a row, in the first layer. */
static bool has_row(const struct check *check, const struct row *row)
{
    struct name name = name_of(row, 0, 0);

    return row->which & check->type->family &&
           mf_names_find(&check->index->tensor_names,
                         (struct mf_str){ name.text, name.size }) !=
               MF_NOT_FOUND;
}

static bool is_other(const struct check *check)
{
    for (size_t i = 0; i < ROW_COUNT; i++)
        if (has_row(check, &rows[i]))
            return false;
    mf_index_note(check->index, 0, MF_NOTE, MF_RULE_MODEL_UNKNOWN, MF_NO_OFFSET,
                  "no tensor of model type '%s' found: generic checks only",
                  check->type->name);
    return true;
}

static void run_rows(struct check *check)
{
    if (is_other(check))
        return;
    check->seen = layers_in_names(check->index);
    if (check->layers == 0)
        check->layers = check->seen;
    for (size_t i = 0; i < ROW_COUNT; i++)
        if (rows[i].which & check->type->family)
            check_row(check, &rows[i]);
    check_blocks(check);
    check_unused(check);
    check_head(check);
}

enum mf_status mf_folder_check_tensors(struct mf_folder *folder)
{
    struct mf_index *index = &folder->model->index;
    struct check check = { .folder = folder,
                           .index = index,
                           .type = mf_folder_type(folder),
                           .whole = mf_folder_is_whole(folder->model) };

    if (folder->value[MF_FIELD_DIFFUSERS].given)
        return MF_OK; /* a part of an image model, with a config of its own */
    if (!check.type)
        return MF_OK;
    set_lengths(&check);
    if (!is_language_model(folder) || !is_regular(&check))
        return MF_OK;
    check.used = mf_alloc(index->env, index->tensor_count + 1);
    if (!check.used)
        return index->env->error.status;
    memset(check.used, 0, index->tensor_count + 1);
    run_rows(&check);
    mf_release(index->env, check.used, index->tensor_count + 1);
    return index->status;
}
