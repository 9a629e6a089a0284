/* SPDX-License-Identifier: MIT
 *
 * format.h - what a format supplies, and all that it may use
 *
 * A format is one struct mf_format in lib/model/formats.c's list.  It turns
 * bytes into rows of the index and metadata into values; what all formats share
 * (geometry, look-up, shards, limits) is not its business.
 */
#ifndef MF_LIB_FORMAT_H
#define MF_LIB_FORMAT_H

#include "lib/base/decimal.h"
#include "lib/base/little.h"
#include "lib/base/sort.h"
#include "lib/base/str.h"
#include "lib/base/text.h"
#include "lib/io/digest.h"
#include "lib/io/reader.h"
#include "lib/json/json.h"
#include "lib/model/index.h"
#include "lib/model/stored.h"
#include "lib/model/swap.h"
#include "lib/model/values.h"
#include "lib/model/vocabulary.h"

#define MF_HEAD_SIZE 64
#define MF_TAIL_SIZE ((size_t)64 * 1024)

/* The first bytes of a file, at most MF_HEAD_SIZE; and its last ones, at most
 * MF_TAIL_SIZE, if a format wants them of a file that begins so. */
struct mf_head {
    const uint8_t *at;
    size_t size;
    uint64_t file_size;
    uint8_t *tail; /* NULL: not read */
    size_t tail_size;
};

/* Facts that only checks use; they go on where enum mf_fact ends. */
enum mf_detail {
    MF_DETAIL_EXPERT_LENGTH = MF_FACT_COUNT, /* forward length of an expert */
    MF_DETAIL_COUNT
};

/* Where a format keeps a fact: tried in order, the first key that is there
 * with a fitting value wins.  "*" in key stands for the architecture. */
struct mf_fact_row {
    int fact; /* enum mf_fact or enum mf_detail */
    const char *key;
};

/* Shard files that a file lists: names within its own folder. */
struct mf_shard_names {
    struct mf_arena *arena;
    struct mf_str *name; /* terminated */
    size_t count, room;
};
enum mf_status mf_shard_names_add(struct mf_shard_names *names,
                                  struct mf_str name, size_t *at);

/* How a model of several files is kept together. */
enum mf_sharding {
    MF_SHARDING_NONE, /* a model is one file */
    /* Names end in -00002-of-00005, and each file says in split.no and
     * split.count which one it is: one of them leads to all. */
    MF_SHARDING_NUMBERED,
    /* A file next to them lists them, which is the row of the same name that
     * has `list`.  A shard by itself looks like a model. */
    MF_SHARDING_LISTED
};

struct mf_format {
    const char *name, *variant, *suffix, *description;
    /* Others that its files have, and that a file of another format should not
     * have; ends with NULL.  May be NULL. */
    const char *const *more_suffixes;
    enum mf_layout layout;
    enum mf_values_kind values;
    enum mf_naming naming;
    enum mf_sharding sharding;
    bool fastest_first; /* a shape begins with the contiguous dimension */
    bool accessory; /* its files belong to a model and lie next to it: a folder
                       is not searched for them, and no other file is expected
                       not to have their suffix */
    bool unlisted;  /* a folder is not searched for its files: most of them are
                       not models, or copies of one */
    /* NaN and infinite values are data like any other: its readers take them,
     * and so they are only worth a warning. */
    bool allows_nonfinite;
    bool written;   /* lib/draft/writers.def has a row for it */
    bool is_source; /* not written, and yet its tensors and its
                       metadata can go to another format */
    const char
        *rules;       /* "GGUF-": how ids of its own rules begin; may be NULL */
    uint32_t readers; /* of enum mf_readers, in addition to the specification's
                        own: what else reads this format */

    /* Files that begin with one of these have an index at their end, which
     * probe and parse want: 4 bytes each, the last one NULL.  NULL: none. */
    const char *const *tail_after;

    /* True where the bytes are this format's (also when it can tell no more
     * than that they wear its magic): fills in *out, which comes with name,
     * variant, supported = true and size set. */
    bool (*probe)(const struct mf_head *head, struct mf_detection *out);

    /* Reads the header from the file's first byte on.  Fills in *part, which is
     * this file, and the tables of the index; index->kind is what probe said
     * and may be refined.  NULL for a row that only detects. */
    enum mf_status (*parse)(struct mf_reader *reader, struct mf_index *index,
                            struct mf_part *part);

    /* For a file that only lists shards, instead of parse: its names, and
     * after all shards have been read whether they contain what it says. */
    enum mf_status (*list)(struct mf_reader *reader,
                           struct mf_shard_names *names);
    enum mf_status (*verify)(struct mf_reader *reader, struct mf_index *index,
                             const struct mf_shard_names *names);

    /* Checks of a whole model that only this format has, for mf_model_validate;
     * parts are its shards.  May be NULL. */
    void (*validate)(struct mf_index *index, const struct mf_part *parts,
                     size_t part_count);

    /* Reads again, for mf_model_validate, what parse has passed over of so many
     * rows of metadata, which are of one file.  NULL where parse looks at all
     * there is. */
    enum mf_status (*revisit)(struct mf_reader *reader, struct mf_index *index,
                              const struct mf_meta *rows, size_t count);

    /* One event of a value; see mf_values_next. */
    enum mf_status (*value_next)(struct mf_values *values,
                                 struct mf_value *out);

    /* Whether the bytes of an array's span are as in GGUF 3 in a little-endian
     * file: its element type, count and elements.  NULL: never.
     */
    bool (*value_is_plain)(const struct mf_detection *kind,
                           const struct mf_meta *array);

    /* Wraps the source of a shard if tensors do not lie in the file as others
     * want them: mf_stored_open for a format that adds rows of stored.h,
     * mf_swapped_open for one with big-endian files.  NULL: they do.  Named by
     * these formats alone, so that a program without them is linked without
     * unpacking. */
    enum mf_status (*open_stored)(struct mf_env *env, struct mf_source *file,
                                  const struct mf_index *index, uint32_t shard);

    const char *(*type_name)(
        uint32_t type_id); /* of a type that lib/model/types.def
                              lacks; may be NULL, may
                              return NULL */
    uint32_t (*type_id)(enum mf_type type); /* the format's number, or
                                               MF_NO_TYPE_ID */
    /* The name of a file_type number; NULL where it has none.  May be NULL. */
    const char *(*file_type_name)(uint64_t file_type);
    const struct mf_fact_row *facts; /* ends with key NULL; may be NULL */
    /* What GGUF's keys of a tokenizer begin with; NULL: metadata has no such
     * keys. */
    const char *tokenizer;
};

#define MF_NO_TYPE_ID UINT32_MAX

/* The formats that can be written, for a message: "gguf, apr or safetensors",
 * or ".gguf, .apr or .safetensors". */
void mf_formats_text(const struct mf_format *const *formats, bool suffixes,
                     char *out, size_t room);

/* The row of the files that list this format's shards; NULL where its shards
 * are not listed, or the env does not know those files. */
const struct mf_format *mf_format_list_of(const struct mf_env *env,
                                          const struct mf_format *format);

/* The rows, each defined in its format's folder.  Only the tables of formats
 * name them: all others ask the rows of their env what they can do. */
#define FORMAT(folder, row) extern const struct mf_format mf_format_##row;
#include "lib/model/formats.def"
#undef FORMAT

/* ---- duplicate keys in the objects of a JSON value ---- */

/* Adds META-DUPLICATE for each object that has a key twice, unescaped, in the
 * value of *meta, which reaches from the reader's position to its limit. */
enum mf_status mf_json_check_members(struct mf_reader *reader,
                                     struct mf_index *index,
                                     const struct mf_meta *meta);

/* ---- the metadata keys by which a shard says which one it is ---- */

/* llama.cpp's convention for models of several files (MF_SHARDING_NUMBERED):
 * split.no counts from 0, split.count is the number of files, and
 * split.tensors.count the number of tensors in all of them.  A parser of such a
 * format passes every metadata key through mf_split_key, in the order of the
 * file, and calls mf_split_finish after the last. */

/* What was met so far; begins as all zero. */
struct mf_split_keys {
    bool has_number, has_count; /* split.no and split.count are numbers */
    bool noted;                 /* one of them is invalid and has a finding */
    uint64_t at;                /* where the last of them is in the file */
};

/* Keeps what a metadata key says of the shard; any other key is ignored. */
void mf_split_key(struct mf_index *index, struct mf_part *part,
                  const struct mf_meta *meta, struct mf_split_keys *keys);

/* Decides whether the file is a shard, and notes where the keys contradict each
 * other. */
void mf_split_finish(struct mf_index *index, struct mf_part *part,
                     const struct mf_split_keys *keys);

#endif
