/* SPDX-License-Identifier: MIT
 *
 * draft.h - the room draft: a file that will be written
 *
 * What comes in is a model's metadata, edits, or what a program lists; what
 * goes out is a draft: two lists, of metadata entries and of tensors, and a
 * plan that fixes every offset.  A format's code then writes the header from
 * it, and tensor data may follow in any order.
 *
 * Invariants: after mf_draft_plan nothing is added.  The header has the size
 * that was planned, because the same code wrote it, first into a sink that only
 * counts.  A value of another model's file stays there and is read when the
 * header is written: a vocabulary of 5 MB needs no memory.  The same draft
 * gives the same bytes; there are no time stamps and no order that depends on
 * hashes.
 *
 * The room does not know files that are open to be written, threads, or how
 * tensor data is converted.  It knows three kinds of formats by what their
 * metadata values are (typed, JSON, strings), not by their names, and it knows
 * APR's keys, which the other two have under names of their own (carry.def).
 */
#ifndef MF_LIB_DRAFT_H
#define MF_LIB_DRAFT_H

#include "lib/io/sink.h"
#include "lib/model/format.h"
#include "lib/model/model.h"

struct mf_entry;

/* Calls `each` with every event of an entry's value, as mf_values_next does. */
typedef enum mf_status mf_each_event(void *user, const struct mf_value *value);
typedef enum mf_status mf_read_entry(struct mf_env *env,
                                     const struct mf_entry *entry,
                                     mf_each_event *each, void *user);

struct mf_entry { /* a metadata key and its value */
    struct mf_str key;
    enum mf_value_type type, of; /* as it will be written */
    uint64_t count;              /* as in struct mf_meta */
    union mf_number number;
    struct mf_str text;
    /* Where the value is if not in number or text: entry `at` of a model's
     * metadata, or an array in memory, of struct mf_str for strings, else of
     * union mf_number. */
    struct mf_model *from;
    size_t at;
    const void *elements;
    mf_read_entry *read; /* reads a value that is elsewhere, by `elements` */
    bool typed_text; /* the value in `from` is a string that has it as JSON */
    size_t origin;   /* 1 + the index of the model's entry; 0: without */
    bool digits;     /* a JSON array whose type only its digits show */
};

struct mf_draft_tensor {
    struct mf_str name;
    const uint64_t *dim; /* in the order of the draft's format */
    uint32_t rank;
    uint32_t from;    /* enum mf_type in the model */
    uint32_t type;    /* enum mf_type in the new file */
    uint32_t type_id; /* the format's number for it */
    uint64_t size;    /* bytes */
    uint64_t offset;  /* from the start of the data; set by the plan */
    size_t record;    /* index of the model's tensor, unless: */
    const struct mf_source *made; /* the bytes of one that the model lacks */
    struct mf_str weights;        /* its name in the importance matrix; at NULL:
                                     it has no entry there */
    uint32_t intended; /* enum mf_type whose blocks its rows do not fit; 0, f32,
                          which all fit: it has the type intended for it */
    bool needs_weights; /* useless as this type without importance values */
};

struct mf_draft {
    struct mf_env *env;
    const struct mf_format *format;
    const struct mf_format_out *out; /* its; NULL: it is not written */
    uint32_t version;                /* 0: the format's usual one */
    uint64_t alignment;              /* of tensors; 0: the format's usual one */
    uint64_t reserve; /* bytes that the header keeps free for later */
    bool big_endian;
    /* Of a big-endian file: only elements of f32 and f16 are.  Tensors of other
     * types have little-endian bytes: llama.cpp's converter writes them so. */
    bool only_floats;
    bool ends_bare;      /* there are no tensors, nor padding before them */
    uint32_t mode;       /* of a model of the same format, see struct mf_part */
    enum mf_type floats; /* new type of float tensors; MF_TYPE_UNKNOWN: keep */
    bool dequantize;     /* quantized tensors become that, too */
    bool f32_vectors;    /* vectors of floats become f32, whatever floats says:
                            llama.cpp adds and multiplies by nothing else */
    bool any_type; /* tensors may be listed with a type that the format does not
                      have: they will get another */
    bool lossy; /* text that the format cannot carry as it is may be escaped */
    struct mf_arena arena; /* owns copies of text and shapes */
    struct mf_entry *entry;
    size_t entry_count, entry_room;
    struct mf_draft_tensor *tensor;
    size_t tensor_count, tensor_room;
    /* the plan */
    uint32_t *order; /* of the tensors' data; NULL: the list's */
    uint64_t data_offset, data_size; /* with padding */
    uint64_t file_size;
    uint64_t part_size; /* what mf_draft_measure found; 0: nothing yet */
};

/* How a format is written. */
struct mf_format_out {
    uint32_t version;   /* the usual one, which is the newest */
    uint32_t oldest;    /* version that can be written */
    uint64_t alignment; /* of tensors, the usual one */
    bool pads_last;     /* the last tensor is padded to the alignment, too */
    bool has_crc;       /* the file ends with the CRC-32 of all other bytes */
    /* Its readers add and multiply vectors (norms, biases) as f32 only: where
     * other floats change their type, vectors become f32. */
    bool f32_vectors;
    /* Dimensions of 1 at a shape's end mean nothing to its readers: a scalar
     * is written with one, and a tensor that is quantized without any. */
    bool implied_ones;
    bool big_endian; /* the newest version can be written so */
    /* A tensor's name has 1 to so many bytes of UTF-8 without a NUL; 0: it is
     * any UTF-8.  And the dimensions it has at most; 0: any number. */
    size_t name_size_max;
    uint32_t rank_max;
    /* Whether tensor a of a table of struct mf_draft_tensor goes before b;
     * NULL: their data is written in the order of the list. */
    bool (*earlier)(const void *tensors, uint32_t a, uint32_t b);

    /* How the header keeps space free: the key of an entry that means nothing
     * (NULL: by white space), and the bytes that it takes in addition. */
    const char *reserve_key;
    uint64_t (*reserve_cost)(const struct mf_draft *draft);

    /* Whether readers accept a value of this type under this key; NULL:
     * always. */
    bool (*admits)(const struct mf_entry *entry);

    /* Whether the key is the format's own, so that its readers know the type;
     * NULL: it has no such keys. */
    bool (*owns)(struct mf_str key);

    /* Called by the plan: whether the format can store everything that is
     * listed. May set the alignment and the order of the tensors. */
    enum mf_status (*check)(struct mf_draft *draft);

    /* Writes the header, from the first byte to data_offset.  The tensors'
     * offsets are set.  Called once to count and at least once to write. */
    enum mf_status (*head)(const struct mf_draft *draft, struct mf_sink *sink);
};

/* The formats that are written, each with how; ends with NULL.  A table apart
 * from the rows: a program that only reads is linked without writing. */
struct mf_writing {
    const struct mf_format *format;
    const struct mf_format_out *out;
};
extern const struct mf_writing mf_writings[];

/* NULL where the format is not written, or is NULL. */
const struct mf_format_out *mf_format_out(const struct mf_format *format);

/* The row of that name, if such files can be written, or else NULL. */
const struct mf_format *mf_format_to_write(const char *name);

/* The one whose suffix the path has; likewise. */
const struct mf_format *mf_format_by_suffix(const char *path);

/* The first row that can be written whose metadata is of that kind. */
const struct mf_format *mf_format_with_values(enum mf_values_kind values);

/* MF_ERR_ARGUMENT: no format of that name can be written; names those that
 * can.  name may be NULL. */
enum mf_status mf_format_unknown(struct mf_env *env, const char *name);

void mf_draft_init(struct mf_draft *draft, struct mf_env *env,
                   const struct mf_format *format);
void mf_draft_release(struct mf_draft *draft);

/* New rows, all zero; NULL after mf_fail. */
struct mf_entry *mf_draft_add_entry(struct mf_draft *draft);
struct mf_draft_tensor *mf_draft_add_tensor(struct mf_draft *draft);

/* Room for so many tensors more; others can still be added. */
enum mf_status mf_draft_reserve(struct mf_draft *draft, size_t count);

/* Makes an empty draft the same as another of its format, which has no plan yet
 * and lives as long: it keeps the text, shapes and made tensors of both. */
enum mf_status mf_draft_copy(struct mf_draft *draft,
                             const struct mf_draft *from);

/* The entry of that key, or NULL. */
struct mf_entry *mf_draft_find(const struct mf_draft *draft, const char *key);

/* The same, with the architecture for a "*" in the key: "*.block_count". */
struct mf_entry *mf_draft_find_of(const struct mf_draft *draft,
                                  const char *key);

void mf_draft_remove(struct mf_draft *draft, struct mf_entry *entry);

/* For a struct mf_names whose table is a draft. */
struct mf_str mf_draft_key_at(const void *draft, size_t entry);

/* A copy in the arena, terminated; at NULL after mf_fail. */
struct mf_str mf_draft_text(struct mf_draft *draft, struct mf_str text);

/* Whether the format can carry all that is listed; orders the tensors. */
enum mf_status mf_draft_check(struct mf_draft *draft);

/* The same, and fixes all offsets. */
enum mf_status mf_draft_plan(struct mf_draft *draft);

/* Plans the draft, and opens its header, in memory, as a model of that path. */
enum mf_status mf_draft_as_model(struct mf_draft *draft, const char *path,
                                 struct mf_model **out);

/* Number i in the order of the data. */
static inline const struct mf_draft_tensor *
mf_draft_in_order(const struct mf_draft *draft, size_t i)
{
    return &draft->tensor[draft->order ? draft->order[i] : i];
}

/* For any entry, wherever its value is. */
mf_read_entry mf_entry_read;

/* Converts a number between types; false where it is out of range. */
bool mf_number_as(enum mf_value_type from, union mf_number number,
                  enum mf_value_type to, union mf_number *out);

/* The same for the number of an event, which may be a word that JSON has no
 * digits for ("nan", "inf"); false for other text. */
bool mf_value_as(const struct mf_value *value, enum mf_value_type to,
                 union mf_number *out);

/* Whether the value is in a file exactly as the draft's format would write it,
 * and where. */
bool mf_entry_raw(const struct mf_draft *draft, const struct mf_entry *entry,
                  const struct mf_source **source, struct mf_span *out);

/* Writes an entry's value as JSON.  sink: where json writes to, if it writes
 * text unchanged, so that a raw value can be copied; else NULL. */
enum mf_status mf_entry_json(const struct mf_draft *draft,
                             const struct mf_entry *entry,
                             struct mf_json_out *json, struct mf_sink *sink);

/* Writes the header to a sink that has its function since mf_sink_init.  The
 * first failure counts, and its error. */
enum mf_status mf_draft_head(const struct mf_draft *draft,
                             struct mf_sink *sink);

/* JSON that is written to sink. */
struct mf_json_out mf_draft_json(struct mf_sink *sink);

/* For the part of a header that comes after its own size: measure it by writing
 * it to a sink that only counts, write the size, then put it.  If sink only
 * counts itself, the part is not written a second time; and what was measured
 * for the plan is not measured again when the file is written. */
typedef enum mf_status mf_put_part(const struct mf_draft *draft,
                                   struct mf_sink *sink);
enum mf_status mf_draft_measure(const struct mf_draft *draft, mf_put_part *put,
                                struct mf_sink *sink, uint64_t *size);
enum mf_status mf_draft_put(const struct mf_draft *draft, mf_put_part *put,
                            uint64_t size, struct mf_sink *sink);

/* ---- the file that an edit would leave, before it is written ---- */

/* Validates the header of the planned draft of the model's file.
 * MF_ERR_UNSUPPORTED where it has more errors of any rule than the file has
 * now: an edit may leave errors or repair them, and adds none. */
enum mf_status mf_preview_check(const struct mf_draft *draft,
                                const struct mf_model *model, bool force);

#endif
