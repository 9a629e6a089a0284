/* SPDX-License-Identifier: MIT
 *
 * torch.c - the row of PyTorch's zip archives
 *
 *     NAME/data.pkl   the pickle
 *     NAME/data/0     a storage; 0 is its key
 *     NAME/byteorder  "little" or "big", since 2.1
 *     NAME/version    and a few others, which say nothing about tensors
 *
 * NAME is what precedes the slash in the first name of the directory.  Other
 * pickles of the archive are read as well, to see what they would call: those
 * whose name or whose first bytes say that they are pickles.
 */
#include "torch/torch.h"

#include "zip/zip.h"

#define PROTOCOL_MAX 5

/* Of the persistent id of a storage. */
#define ID_ITEMS 5

/* What is found in the archive. */
struct archive {
    struct mf_zip zip;
    struct mf_str folder; /* NAME/ */
    struct mf_names keys; /* of storages */
    struct mf_arena arena;
    uint32_t main; /* the row of data.pkl; UINT32_MAX: it has none */
    bool swapped;
    bool is_bound; /* of mf_torch_begin */
    struct pickle_found found;
};

/* ---- memory ---- */

bool mf_torch_begin(struct mf_env *env)
{
    struct mf_heap *heap = &env->heap;

    if (heap->limit != 0 || heap->memory_left)
        return false;
    heap->limit = heap->live + TORCH_HEAP_MAX;
    return true;
}

void mf_torch_end(struct mf_env *env, bool bound)
{
    if (bound)
        env->heap.limit = 0;
}

/* ---- detection ---- */

/* The name of the first member, as far as the head has it. */
static struct mf_str first_name(const struct mf_head *head)
{
    const size_t start = 30;
    struct mf_str name = { (const char *)head->at + start, 0 };

    if (head->size < start)
        return (struct mf_str){ "", 0 };
    name.size = mf_little_16(head->at + 26);
    if (name.size > head->size - start)
        name.size = head->size - start;
    return name;
}

/* data.pkl is PyTorch's first member, so its record is in the tail of a small
 * archive, and its header in the head of one whose name is short. */
static bool probe(const struct mf_head *head, struct mf_detection *out)
{
    (void)out;
    return head->tail && (mf_str_ends(first_name(head), "/data.pkl") ||
                          mf_zip_tail_has(head, "/data.pkl") ||
                          mf_zip_tail_has(head, "/.data/serialization_id"));
}

/* ---- members ---- */

static struct mf_str key_of(const struct archive *archive, struct mf_str name)
{
    static const char data[] = "data/";
    size_t head = archive->folder.size + sizeof(data) - 1;

    if (name.size <= head || !archive->folder.at ||
        memcmp(name.at, archive->folder.at, archive->folder.size) != 0 ||
        memcmp(name.at + archive->folder.size, data, sizeof(data) - 1) != 0)
        return (struct mf_str){ NULL, 0 };
    return (struct mf_str){ name.at + head, name.size - head };
}

static struct mf_str key_at(const void *table, size_t row)
{
    const struct archive *archive = table;

    return key_of(archive, archive->zip.index->stored.stored[row].name);
}

static bool is_member(const struct archive *archive, struct mf_str name,
                      const char *rest)
{
    return name.size == archive->folder.size + strlen(rest) &&
           mf_str_ends(name, rest) &&
           memcmp(name.at, archive->folder.at, archive->folder.size) == 0;
}

/* Whether PyTorch writes such a member, and it is not a pickle. */
static bool is_plain(const struct archive *archive, struct mf_str name)
{
    static const char *const names[] = { "byteorder", "version",
                                         ".format_version",
                                         ".storage_alignment",
                                         ".data/serialization_id" };

    for (size_t i = 0; i < sizeof(names) / sizeof(*names); i++)
        if (is_member(archive, name, names[i]))
            return true;
    return key_of(archive, name).at != NULL;
}

/* The text of a member that may be packed, as far as there is room. */
static enum mf_status read_text(const struct archive *archive, uint32_t row,
                                char *out, size_t room, struct mf_str *text)
{
    struct mf_index *index = archive->zip.index;
    const struct mf_stored *stored = mf_zip_row(&archive->zip, row);
    struct mf_source unpacked = mf_source_borrow(archive->zip.reader->source);

    *text = (struct mf_str){ out, 0 };
    if (stored->unreadable)
        return MF_OK;
    if (mf_stored_open(index->env, &unpacked, index, 0) != MF_OK)
        return index->env->error.status;
    text->size = stored->size < room ? (size_t)stored->size : room;
    mf_source_read(index->env, &unpacked,
                   mf_stored_offset(index, archive->zip.first + row), out,
                   text->size);
    mf_source_close(&unpacked);
    if (index->env->error.status == MF_ERR_CORRUPT) {
        mf_clear_error(index->env);
        text->size = 0; /* its bytes are damaged */
    }
    return index->env->error.status;
}

static enum mf_status take_order(struct archive *archive, uint32_t row)
{
    const struct mf_stored *stored = mf_zip_row(&archive->zip, row);
    char bytes[64];
    struct mf_str text;

    if (read_text(archive, row, bytes, sizeof(bytes), &text) != MF_OK)
        return archive->zip.index->env->error.status;
    archive->swapped = mf_str_is(text, "big");
    if (!archive->swapped && !mf_str_is(text, "little"))
        mf_index_note(archive->zip.index, archive->zip.part->shard, MF_ERROR,
                      MF_RULE_PICKLE_ORDER, stored->file.offset,
                      "the byte order is '%s', not 'little' or 'big'",
                      mf_quote(text).text);
    return MF_OK;
}

static enum mf_status take_member(struct archive *archive, uint32_t row)
{
    struct mf_zip_start start;
    const struct mf_stored *stored = mf_zip_row(&archive->zip, row);
    struct mf_str name = stored->name;

    if (mf_zip_member(&archive->zip, row, &start) != MF_OK)
        return archive->zip.index->env->error.status;
    if (is_member(archive, name, "data.pkl"))
        archive->main = row;
    else if (is_member(archive, name, "byteorder"))
        return take_order(archive, row);
    else if (key_of(archive, name).at)
        mf_names_add(&archive->keys, archive->zip.first + row);
    return MF_OK;
}

static struct mf_str folder_of(struct mf_str name)
{
    const char *slash = name.size > 0 ? memchr(name.at, '/', name.size) : NULL;

    return (struct mf_str){ name.at,
                            slash ? (size_t)(slash - name.at) + 1 : 0 };
}

static enum mf_status take_members(struct archive *archive)
{
    struct mf_env *env = archive->zip.index->env;
    enum mf_status status;

    if (archive->zip.count == 0)
        return MF_OK;
    archive->folder = folder_of(mf_zip_row(&archive->zip, 0)->name);
    archive->keys.seed = env->hash_seed;
    archive->keys.name_at = key_at;
    archive->keys.table = archive;
    status = mf_names_init(&archive->keys, &archive->arena, archive->zip.count);
    for (uint32_t i = 0; status == MF_OK && i < archive->zip.count; i++)
        status = take_member(archive, i);
    return status;
}

/* ---- pickles ---- */

/* A pickle has to fill its member: bytes after its end are not read. */
static void check_end(const struct archive *archive, struct mf_reader *reader,
                      struct mf_str name)
{
    if (mf_reader_left(reader) > 0)
        mf_index_note(archive->zip.index, archive->zip.part->shard, MF_ERROR,
                      MF_RULE_PICKLE_TRAILING, mf_reader_offset(reader),
                      "%" PRIu64 " bytes follow the end of pickle '%s'",
                      mf_reader_left(reader), mf_quote(name).text);
}

/* Whether it is a pickle.  Pickles of protocols 0 and 1 begin like any text,
 * and only their names show it. */
static bool is_pickle(struct mf_reader *reader, struct mf_str name)
{
    uint8_t start[2];

    return mf_str_ends(name, ".pkl") ||
           (mf_reader_copy(reader, mf_reader_offset(reader), start,
                           sizeof(start)) &&
            start[0] == PICKLE_OP_PROTO && start[1] <= PROTOCOL_MAX);
}

static enum mf_status note_member(const struct archive *archive, uint32_t row,
                                  const struct mf_reader *reader)
{
    const struct mf_stored *stored = mf_zip_row(&archive->zip, row);

    if (reader->failed)
        return archive->zip.index->env->error.status;
    mf_index_note(
        archive->zip.index, archive->zip.part->shard, MF_WARNING,
        MF_RULE_PICKLE_MEMBER, stored->file.offset,
        "member '%s' is not one that torch.save writes, and is not read",
        mf_quote(stored->name).text);
    return MF_OK;
}

/* Tensors of another pickle, such as the constants of TorchScript: torch.load
 * does not have them, but other readers do. */
static void miss_others(const struct archive *archive,
                        const struct pickle *pickle, uint32_t row)
{
    struct mf_index *index = archive->zip.index;

    for (uint32_t i = 0; i < pickle->node_count && !index->metadata_only; i++) {
        if (pickle->node[i].kind != PICKLE_STORAGE)
            continue;
        mf_index_miss(index, archive->zip.part->shard,
                      mf_zip_row(&archive->zip, row)->name,
                      "a pickle of its own, with tensors");
        return;
    }
}

/* The main pickle becomes tensors. */
static enum mf_status read_values(struct archive *archive, struct mf_part *part,
                                  struct mf_reader *reader, uint32_t row)
{
    struct mf_index *index = archive->zip.index;
    struct pickle pickle = { .index = index,
                             .found = &archive->found,
                             .shard = part->shard,
                             .is_bound = archive->is_bound,
                             .id_items = ID_ITEMS };
    enum mf_status status = mf_pickle_read(&pickle, reader);

    if (status == MF_OK) {
        check_end(archive, reader, mf_zip_row(&archive->zip, row)->name);
        if (row == archive->main)
            status = mf_torch_walk(index, part, &pickle, &archive->keys,
                                   archive->swapped);
        else
            miss_others(archive, &pickle, row);
    }
    mf_pickle_release(&pickle);
    return status;
}

/* Reads a member through its own window, if it is a pickle. */
static enum mf_status read_span(struct archive *archive, struct mf_part *part,
                                const struct mf_source *source,
                                struct mf_span span, uint32_t row)
{
    struct mf_reader reader;
    enum mf_status status = mf_reader_init_span(
        &reader, archive->zip.index->env, source, span, MF_WINDOW);

    if (status != MF_OK)
        return status;
    mf_reader_tail(&reader, archive->zip.reader->tail,
                   archive->zip.reader->tail_size);
    if (is_pickle(&reader, mf_zip_row(&archive->zip, row)->name))
        status = read_values(archive, part, &reader, row);
    else
        status = note_member(archive, row, &reader);
    mf_reader_release(&reader);
    return status;
}

/* PyTorch does not compress.  A pickle that is packed afterwards becomes about
 * 5 times smaller; memory grows with what it unpacks to. */
#define PACKED_RATIO 16
#define PACKED_LEAST ((uint64_t)1 << 20)

static enum mf_status check_ratio(const struct archive *archive,
                                  const struct mf_stored *stored)
{
    if (stored->size <= PACKED_LEAST ||
        stored->size / PACKED_RATIO <= stored->file.size)
        return MF_OK;
    return mf_refuse(archive->zip.index->env, MF_RULE_PICKLE_SIZE,
                     stored->file.offset,
                     "pickle '%s' unpacks from %" PRIu64 " to %" PRIu64
                     " bytes, more than %d times as many: it is not read",
                     mf_quote(stored->name).text, stored->file.size,
                     stored->size, PACKED_RATIO);
}

static enum mf_status read_member(struct archive *archive, struct mf_part *part,
                                  uint32_t row)
{
    const struct mf_stored *stored = mf_zip_row(&archive->zip, row);
    struct mf_env *env = archive->zip.index->env;
    const struct mf_source *file = archive->zip.reader->source;
    struct mf_source unpacked;
    enum mf_status status;

    if (stored->method == MF_METHOD_PLAIN)
        return read_span(archive, part, file, stored->file, row);
    unpacked = mf_source_borrow(file);
    if (check_ratio(archive, stored) != MF_OK ||
        mf_stored_open(env, &unpacked, archive->zip.index, 0) != MF_OK)
        return env->error.status;
    status =
        read_span(archive, part, &unpacked,
                  (struct mf_span){ mf_stored_offset(archive->zip.index,
                                                     archive->zip.first + row),
                                    stored->size },
                  row);
    mf_source_close(&unpacked);
    return status;
}

/* All of them, data.pkl first.  A storage can begin as a pickle does, but is
 * data. */
static enum mf_status read_pickles(struct archive *archive,
                                   struct mf_part *part)
{
    struct mf_env *env = archive->zip.index->env;

    if (archive->main == UINT32_MAX ||
        mf_zip_row(&archive->zip, archive->main)->unreadable)
        return mf_refuse(env, MF_RULE_FILE_FIELD, archive->zip.end,
                         "the archive has no member '%sdata.pkl' that can be "
                         "read",
                         mf_quote(archive->folder).text);
    if (read_member(archive, part, archive->main) != MF_OK)
        return env->error.status;
    for (uint32_t i = 0; i < archive->zip.count; i++) {
        const struct mf_stored *stored = mf_zip_row(&archive->zip, i);

        if (i != archive->main && !stored->unreadable &&
            !is_plain(archive, stored->name) &&
            read_member(archive, part, i) != MF_OK)
            return env->error.status;
    }
    return MF_OK;
}

static enum mf_status parse(struct mf_reader *reader, struct mf_index *index,
                            struct mf_part *part)
{
    struct archive *archive = mf_alloc(index->env, sizeof(*archive));
    enum mf_status status;

    if (!archive)
        return index->env->error.status;
    *archive = (struct archive){ .main = UINT32_MAX };
    mf_arena_init(&archive->arena, index->env);
    status = mf_zip_open(&archive->zip, reader, index, part, MF_ERROR);
    if (status == MF_OK)
        status = take_members(archive);
    if (mf_zip_close(&archive->zip) == MF_OK) {
        archive->is_bound = mf_torch_begin(index->env);
        status = read_pickles(archive, part);
        mf_torch_end(index->env, archive->is_bound);
    } else {
        status = index->env->error.status;
    }
    mf_arena_release(&archive->arena);
    mf_release(index->env, archive, sizeof(*archive));
    return status;
}

/* ---- the row ---- */

uint32_t mf_torch_type_id(enum mf_type type)
{
    for (uint32_t i = 0; i < PICKLE_DTYPE_COUNT; i++)
        if (mf_pickle_dtypes[i].type == type && type != MF_TYPE_UNKNOWN)
            return i;
    return MF_NO_TYPE_ID;
}

const char *mf_torch_type_name(uint32_t type_id)
{
    return type_id < PICKLE_DTYPE_COUNT ? mf_pickle_dtypes[type_id].name : NULL;
}

const struct mf_format mf_format_torch = {
    .variant = "",
    .description = "checkpoints of PyTorch 1.6 and later (.pt, .pth, .bin)",
    TORCH_MEMBERS,
    .tail_after = mf_zip_magics,
    .probe = probe,
    .parse = parse,
};
