/* SPDX-License-Identifier: MIT
 *
 * draft.h - a file that is to be written: its metadata, tensors and plan
 *
 * First everything is listed, then the plan fixes every offset, then the
 * header is written; tensor data may follow in any order.  Values that lie in
 * another model's file stay there: they are read when the header is written.
 */
#ifndef MF_LIB_DRAFT_H
#define MF_LIB_DRAFT_H

#include "lib/io/sink.h"
#include "lib/model/format.h"

struct mf_entry;

/* Calls each for every event of a value; see mf_values_next. */
typedef enum mf_status mf_each_event(void *user, const struct mf_value *value);
typedef enum mf_status mf_read_entry(struct mf_env *env,
                                     const struct mf_entry *entry,
                                     mf_each_event *each, void *user);

struct mf_entry { /* a metadatum */
    struct mf_str key;
    enum mf_value_type type, of; /* as it will be written */
    uint64_t count;              /* as in struct mf_meta */
    union mf_number number;
    struct mf_str text;
    /* Where a value lies that is not above: a model's metadatum, or elements
     * in memory: struct mf_str for strings, else union mf_number. */
    struct mf_model *from;
    size_t at;
    const void *elements;
    mf_read_entry *read; /* for other places: elements says which */
    bool typed_text;     /* from is text: the value in JSON */
    size_t origin; /* 1 + the model's metadatum that it carries; 0: none */
    bool digits;   /* an array whose digits alone say its type, in JSON */
};

/* How the rows of a tensor change places: those of each head are two halves in
 * the one order, and pairs of a row of both in the other. */
struct mf_rows {
    uint64_t size; /* of a row, in bytes; 0: all stay where they are */
    uint64_t half; /* rows of half a head */
    bool apart;    /* from pairs to halves, else the other way round */
};

struct mf_draft_tensor {
    struct mf_str name;
    const uint64_t *dim; /* in the order of the draft's format */
    uint32_t rank;
    uint32_t from;    /* enum mf_type that the model's tensor has */
    uint32_t type;    /* the one that it will have; MF_TYPE_UNKNOWN: */
    uint32_t type_id; /* the format's number */
    uint64_t size;    /* bytes */
    uint64_t offset;  /* from the data's start, once planned */
    size_t record;    /* the model's tensor that it is, or: */
    const struct mf_source *made; /* its bytes, which the model does not have */
    struct mf_str weights; /* what the importance matrix calls it; at NULL: it
                              has no entry there */
    struct mf_rows rows;
};

struct mf_draft {
    struct mf_env *env;
    const struct mf_format *format;
    uint32_t version;   /* 0: what the format writes unless told otherwise */
    uint64_t alignment; /* of tensors; 0: likewise */
    uint64_t reserve;   /* bytes that the header keeps free for later */
    bool big_endian;
    uint32_t mode;       /* of a model of the same format, see struct mf_part */
    enum mf_type floats; /* that tensors of floats become; MF_TYPE_UNKNOWN: they
                            stay */
    bool dequantize;     /* blocks become that, too */
    bool f32_vectors;    /* vectors of floats become f32, whatever floats says:
                            llama.cpp adds and multiplies by nothing else */
    bool any_type; /* what is listed may have a type that the format cannot
                      carry: it will get another */
    bool lossy;    /* text that a format cannot hold as it is may be escaped */
    struct mf_arena arena; /* what was copied */
    struct mf_entry *entry;
    size_t entry_count, entry_room;
    struct mf_draft_tensor *tensor;
    size_t tensor_count, tensor_room;
    /* the plan */
    uint32_t *order; /* of the tensors' data; NULL: that of the list */
    uint64_t data_offset, data_size; /* with padding */
    uint64_t file_size;
};

/* How a format is written: a part of its row. */
struct mf_format_out {
    uint32_t version;   /* the usual one, which is the newest */
    uint32_t oldest;    /* that a program may ask for */
    uint64_t alignment; /* of tensors, the usual one */
    bool pads_last;     /* the last tensor, too, reaches to the alignment */
    bool has_crc;       /* the file ends with the CRC-32 of all before it */
    /* Its readers add and multiply vectors (norms, biases) as f32 only: where
     * other floats change their type, vectors become f32. */
    bool f32_vectors;
    /* Dimensions of 1 at a shape's end mean nothing to its readers: a scalar
     * is written with one, and a tensor that is quantized without any. */
    bool implied_ones;

    /* How the header keeps room: the key of a metadatum that means nothing
     * (NULL: by white space), and the bytes it takes beside the room itself. */
    const char *reserve_key;
    uint64_t (*reserve_cost)(const struct mf_draft *draft);

    /* Whether readers take a value of this type under this key; NULL: always.
     */
    bool (*admits)(const struct mf_entry *entry);

    /* Whether the key is the format's own, so that its readers know the type;
     * NULL: there are none. */
    bool (*owns)(struct mf_str key);

    /* Before the plan: whether the format can carry all that is listed.  May
     * set the alignment, and order the tensors. */
    enum mf_status (*check)(struct mf_draft *draft);

    /* The header from the first byte to data_offset.  Offsets of tensors are
     * set; called once to count and once or more to write. */
    enum mf_status (*head)(const struct mf_draft *draft, struct mf_sink *sink);
};

void mf_draft_init(struct mf_draft *draft, struct mf_env *env,
                   const struct mf_format *format);
void mf_draft_release(struct mf_draft *draft);

/* New rows, all zero; NULL after mf_fail. */
struct mf_entry *mf_draft_add_entry(struct mf_draft *draft);
struct mf_draft_tensor *mf_draft_add_tensor(struct mf_draft *draft);

/* The entry of that key; NULL where there is none. */
struct mf_entry *mf_draft_find(const struct mf_draft *draft, const char *key);
void mf_draft_remove(struct mf_draft *draft, struct mf_entry *entry);

/* For a struct mf_names whose table is a draft. */
struct mf_str mf_draft_key_at(const void *draft, size_t entry);

/* Text into the arena, terminated; at NULL after mf_fail. */
struct mf_str mf_draft_text(struct mf_draft *draft, struct mf_str text);

/* Checks what is listed and fixes all offsets. */
enum mf_status mf_draft_plan(struct mf_draft *draft);

/* Number i in the order of the data. */
static inline const struct mf_draft_tensor *
mf_draft_in_order(const struct mf_draft *draft, size_t i)
{
    return &draft->tensor[draft->order ? draft->order[i] : i];
}

/* Calls each with the events of an entry's value, as mf_values_next gives
 * them. */
mf_read_entry mf_entry_read;

/* number, of one type, as another; false where that one cannot hold it. */
bool mf_number_as(enum mf_value_type from, union mf_number number,
                  enum mf_value_type to, union mf_number *out);

/* An event's number, or the word for one that JSON has no digits for, as a
 * number of that type; false where it is none. */
bool mf_value_as(const struct mf_value *value, enum mf_value_type to,
                 union mf_number *out);

/* True where the value lies in a file just as the draft's format writes it:
 * there and there. */
bool mf_entry_raw(const struct mf_draft *draft, const struct mf_entry *entry,
                  const struct mf_source **source, struct mf_span *out);

/* The value of an entry as JSON.  sink: where json's text goes unchanged, so
 * that a raw value may; else NULL. */
enum mf_status mf_entry_json(const struct mf_draft *draft,
                             const struct mf_entry *entry,
                             struct mf_json_out *json, struct mf_sink *sink);

#endif
