/* SPDX-License-Identifier: MIT
 *
 * modelfile.h - read model files: GGUF, safetensors and APR
 *
 * This is the whole public interface of libmodelfile.  A file is opened by
 * its header alone: tensor bytes are never read, and after mf_model_open()
 * every offset is absolute, checked and cached.
 *
 *     #include <modelfile.h>
 *     #include <stdio.h>
 *
 *     int main(int argc, char **argv)
 *     {
 *         struct mf_env *env = mf_env_new(NULL);
 *         struct mf_model *model;
 *         struct mf_tensor tensor;
 *
 *         if (!env || argc < 2)
 *             return 2;
 *         if (mf_model_open(env, argv[1], NULL, &model) != MF_OK) {
 *             fprintf(stderr, "%s\n", mf_env_error(env)->message);
 *             mf_env_free(env);
 *             return 1;
 *         }
 *         for (size_t i = 0; i < mf_model_info(model)->tensor_count; i++) {
 *             mf_tensor_at(model, i, &tensor);
 *             printf("%s %s\n", tensor.name.at, tensor.type);
 *         }
 *         mf_model_close(model);
 *         mf_env_free(env);
 *         return 0;
 *     }
 *
 * Ownership, in one line: everything reachable from a model dies with
 * mf_model_close(); nothing else is freed by the caller except what a function
 * ending in _new or _open gave.
 *
 * Threads: the library has no global state.  An env, and the models opened
 * with it, belong to one thread at a time; different envs are independent.
 * Reading an open model with mf_model_info, mf_tensor_at, mf_tensor_find,
 * mf_meta_at, mf_meta_find and mf_model_fact changes nothing, so several
 * threads may do that at once.  Threads that the library starts end with the
 * call that they work for, and hold back the program's signals: those are for
 * the program's own.
 *
 * Errors: a function that can fail returns enum mf_status and leaves the
 * sentence in mf_env_error().  The library never prints, never exits and
 * never aborts because of what a file holds.  Out-parameters are set only on
 * success.
 *
 * NULL where something must be: a function that returns enum mf_status gives
 * MF_ERR_ARGUMENT, and the message says which argument it is if there is an env
 * to hold it.  The others answer as if there were nothing: false, 0, NULL, the
 * info of an empty model; mf_env_threads(NULL) is 1, mf_env_error(NULL) says
 * that there is no env, and what has no answer does nothing.
 */
#ifndef MODELFILE_H
#define MODELFILE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#ifdef __cplusplus
extern "C" {
#endif

#define MF_VERSION_MAJOR  0
#define MF_VERSION_MINOR  1
#define MF_VERSION_PATCH  0
#define MF_VERSION_STRING "0.1.0"

#if defined(__GNUC__)
#define MF_API __attribute__((visibility("default")))
#else
#define MF_API
#endif

/* The version of the library that runs, "0.1.0"; MF_VERSION_STRING is the one
 * that the program was compiled against. */
MF_API const char *mf_version(void);

/* ---- What went wrong ---------------------------------------------------- */

enum mf_status {
    MF_OK = 0,
    MF_ERR_ARGUMENT,    /* the caller broke a precondition */
    MF_ERR_IO,          /* the system refused; its words are in the message */
    MF_ERR_MEMORY,      /* the allocator said no */
    MF_ERR_LIMIT,       /* the heap limit or a limit of the library said no */
    MF_ERR_FORMAT,      /* no format recognises these bytes */
    MF_ERR_CORRUPT,     /* recognised, and breaks its specification */
    MF_ERR_UNSUPPORTED, /* recognised, and not something this library reads */
    MF_ERR_OUTPUT, /* the system refused to write; its words are there, too */
    MF_ERR_STOPPED /* the caller's progress function said so */
};

#define MF_NO_OFFSET UINT64_MAX

/* Which of several files an error is about. */
enum mf_error_file {
    MF_ERROR_IN_MODEL,  /* the one that was named to the call */
    MF_ERROR_IN_SHARD,  /* another file of the same model */
    MF_ERROR_IN_IMATRIX /* the importance matrix */
};

/* The message is for people: it names the value found and the bound it broke,
 * and no option of any program.  The rule is for programs: with it they find
 * out what happened, and which advice of their own goes with it. */
struct mf_error {
    enum mf_status status;
    uint64_t offset;   /* in that file, or MF_NO_OFFSET */
    char message[320]; /* one sentence without a full stop, printable UTF-8;
                          other bytes of a file are escaped in it */
    const char *rule;  /* "FILE-COUNT", an id of mf_rule_at: the file breaks it;
                          "OUTPUT-EXISTS", of mf_reason_at: the request was
                          refused for it; else "" */
    enum mf_error_file file;
    char
        shard[256]; /* MF_ERROR_IN_SHARD: its name, without a folder; else "" */
};

struct mf_reason_info {
    const char *id;        /* "OUTPUT-EXISTS" */
    enum mf_status status; /* of such an error */
    const char *meaning;   /* in a line */
};

/* All reasons for which a request is refused and a caller can ask for something
 * else, index from 0 until false. */
MF_API bool mf_reason_at(size_t index, struct mf_reason_info *out);

/* "corrupt" for MF_ERR_CORRUPT and so on; never NULL. */
MF_API const char *mf_status_name(enum mf_status status);

/* ---- Plain values -------------------------------------------------------- */

/* Text borrowed from the model.  Not terminated unless a field says so, may
 * hold any byte, NUL included. */
struct mf_str {
    const char *at;
    size_t size;
};

/* Bytes of a file. */
struct mf_span {
    uint64_t offset;
    uint64_t size;
};

enum mf_byte_order { MF_LITTLE_ENDIAN, MF_BIG_ENDIAN };

/* ---- Environment: error, heap, input ------------------------------------- */

struct mf_env;

/* Works like realloc, told the old size: block NULL allocates, new_size 0
 * frees (and returns NULL), anything else moves.  Returns NULL where it cannot
 * allocate; shrinking and freeing never fail. */
struct mf_allocator {
    void *(*resize)(void *user, void *block, size_t old_size, size_t new_size);
    void *user;
};

/* How far long work is, in bytes that it reads; total 0: there is nothing new,
 * and it is only asked whether to go on.  tensor: one that is in work, valid
 * during the call; size 0: none. */
struct mf_progress {
    uint64_t done, total;
    struct mf_str tensor;
};

enum mf_pending_use {
    MF_PENDING_READ_THROUGH, /* the file is read as if the edit were finished */
    MF_PENDING_IGNORED,      /* the file is read as it is */
    MF_PENDING_FINISHED      /* the edit was finished before the next one */
};

/* An edit of a file that was cut short, or is just being made by another
 * process, has left its journal beside the file (see mf_file_edit). */
struct mf_pending_edit {
    const char *path;    /* of the file, as it was opened */
    const char *journal; /* the name beside it */
    enum mf_pending_use use;
    const char
        *reason; /* why it is ignored: "belongs to another user"; or "" */
};

/* All zero is the default. */
struct mf_options {
    struct mf_allocator allocator; /* resize NULL: the C library's heap */
    size_t heap_limit;             /* bytes live at once; 0: no limit */
    unsigned threads; /* that may share long work; 0: one per processor.  No
                         result depends on it */
    /* Called now and then during long work, by the thread that began it; false
     * ends it with MF_ERR_STOPPED and nothing written.  May be NULL. */
    bool (*progress)(void *user, const struct mf_progress *progress);
    void *progress_user;
    /* Called where a file is opened beside which such a journal lies.  May be
     * NULL. */
    void (*pending_edit)(void *user, const struct mf_pending_edit *edit);
    void *pending_edit_user;
};

struct mf_heap_stats {
    size_t live, peak;    /* bytes asked for, now and at most */
    uint64_t allocations; /* successful calls that gave or moved a block */
};

struct mf_io_stats {
    uint64_t bytes_read; /* by every model of this env, since mf_env_new */
    uint64_t reads;      /* read calls that the system answered */
    uint64_t bytes_written;
};

/* NULL options: all defaults.  NULL when memory is refused. */
MF_API struct mf_env *mf_env_new(const struct mf_options *options);

/* Every model of the env must be closed before.  NULL is allowed. */
MF_API void mf_env_free(struct mf_env *env);

/* For a program that has to end at once, from within a call with this env:
 * removes the temporary files of all that is being written.  May be called
 * by a signal handler in the thread that made the call; the process has to end
 * then, by _exit.  What an edit in place has begun stays, with its journal, as
 * after a crash.  NULL is allowed. */
MF_API void mf_env_abandon(struct mf_env *env);

/* The last failure of this env; status MF_OK where there was none.  Valid
 * until the next call with this env. */
MF_API const struct mf_error *mf_env_error(const struct mf_env *env);

MF_API void mf_env_heap(const struct mf_env *env, struct mf_heap_stats *out);
MF_API void mf_env_io(const struct mf_env *env, struct mf_io_stats *out);

/* ---- Detection ----------------------------------------------------------- */

struct mf_detection {
    const char *format;  /* "gguf", "apr", "safetensors", or what else it is */
    const char *variant; /* a dialect ("index", "v1", ...); "" for the usual */
    const char *note;    /* a sentence on what it is and what to do, or "" */
    uint32_t version, version_minor; /* 0 where the format carries none */
    enum mf_byte_order byte_order;
    bool supported; /* mf_model_open can read it */
    uint64_t size;  /* of the file */
};

/* Tells the format from the bytes, never from the name: one open, at most one
 * read of 64 bytes at the head and one at the tail.  Known foreign formats
 * (zip, HTML, a Git LFS pointer, ...) are a success with supported = false;
 * MF_ERR_FORMAT is for bytes that nothing recognises.  The strings are static.
 */
MF_API enum mf_status mf_file_detect(struct mf_env *env, const char *path,
                                     struct mf_detection *out);

/* ---- Models -------------------------------------------------------------- */

struct mf_model;

/* Which other files belong to the model when one is named. */
enum mf_shards {
    MF_SHARDS_AUTO,   /* all shards of a split GGUF; an index.json's; a folder's
                       */
    MF_SHARDS_ALONE,  /* this file only */
    MF_SHARDS_BY_NAME /* also safetensors shards: those of the index.json beside
                         that lists the file, else, by "-00001-of-00005", those
                         that its name counts.  For a program that rewrites
                         the whole model */
};

/* All zero is the default. */
struct mf_open_options {
    bool metadata_only; /* leave the tensor index unread where it is apart */
    enum mf_shards shards;
    size_t findings_max; /* kept, more are counted; 0: MF_FINDINGS_MAX */
};

/* Opens a file, a split model from any of its shards, a safetensors
 * index.json, or a folder that holds exactly one model.  NULL options: all
 * defaults.  Fails only where the bytes cannot be read further; everything
 * else that is wrong is a finding of the model (mf_finding_at), so a damaged
 * file can still be shown.
 * Never writes.  A file whose edit was cut short (see mf_file_edit) is read as
 * if that were finished, where its journal can be trusted: the env's
 * pending_edit tells, and pending_edit of struct mf_model_info. */
MF_API enum mf_status mf_model_open(struct mf_env *env, const char *path,
                                    const struct mf_open_options *options,
                                    struct mf_model **out);

/* Opens a file that lies in memory, shards MF_SHARDS_ALONE.  bytes must stay
 * readable and unchanged until mf_model_close; name is used in messages and
 * copied.
 */
MF_API enum mf_status
mf_model_open_memory(struct mf_env *env, const char *name, const void *bytes,
                     size_t size, const struct mf_open_options *options,
                     struct mf_model **out);

/* NULL is allowed. */
MF_API void mf_model_close(struct mf_model *model);

struct mf_model_info {
    const char *format, *variant; /* as in struct mf_detection */
    uint32_t version, version_minor;
    enum mf_byte_order byte_order;
    bool fastest_first; /* shapes list the contiguous dimension first (GGUF) */
    bool has_tensors;   /* the tensor index was read (see metadata_only) */
    size_t tensor_count, metadata_count, shard_count;
    uint64_t file_size;   /* all shards together */
    uint64_t data_offset; /* of the tensor data in the first shard */
    uint64_t data_size;   /* sum of the tensors' bytes */
    uint64_t parameters;  /* sum of the tensors' elements */
    uint64_t alignment;   /* of tensor offsets; 1: none */
    size_t error_count, warning_count, note_count; /* findings, kept or not */
    bool pending_edit; /* some file is read through the journal of an edit */
};

/* Valid until mf_model_close. */
MF_API const struct mf_model_info *mf_model_info(const struct mf_model *model);

struct mf_shard {
    const char *path; /* as opened; terminated */
    uint64_t size, data_offset;
    size_t tensor_count;
};

/* index < shard_count; false (out untouched) otherwise. */
MF_API bool mf_shard_at(const struct mf_model *model, size_t index,
                        struct mf_shard *out);

/* ---- Tensors ------------------------------------------------------------- */

#define MF_RANK_MAX 64 /* a tensor of more dimensions is refused */

enum mf_tensor_flag {
    MF_TENSOR_DAMAGED = 1, /* a finding says that its place or size is wrong:
                              do not read it */
    MF_TENSOR_SIZE_INFERRED = 2, /* unknown type: room up to its neighbour */
};

struct mf_tensor {
    struct mf_str name;  /* terminated, but may hold NUL within */
    char type[24];       /* "f32", "q4_k"; "type_1234" where unknown */
    uint32_t type_id;    /* the format's own number; 0 where it has none */
    uint32_t rank;       /* 0: a scalar */
    const uint64_t *dim; /* rank numbers, in the file's own order */
    uint64_t parameters; /* product of dim; 0 where it overflows */
    struct mf_span data; /* absolute, in the shard's file */
    uint32_t shard;
    unsigned flags; /* enum mf_tensor_flag, or-ed */
};

/* Tensors in the order of the file's index.  No allocation, constant time. */
MF_API bool mf_tensor_at(const struct mf_model *model, size_t index,
                         struct mf_tensor *out);

/* The same tensors in the order of their data, shard by shard. */
MF_API bool mf_tensor_by_offset(const struct mf_model *model, size_t index,
                                struct mf_tensor *out);

enum mf_order {
    MF_ORDER_SIZE, /* largest first; of equal ones that with the lower index */
    MF_ORDER_NAME  /* by the bytes of their names */
};

/* Puts tensor indices in order; each must be below tensor_count.  n log n
 * steps, no allocation. */
MF_API void mf_tensor_sort(const struct mf_model *model, enum mf_order order,
                           uint32_t *index, size_t count);

/* By name: no allocation, one hash.  The first one where a (damaged) file
 * repeats a name; false where there is none.  at (may be NULL) gets the index.
 */
MF_API bool mf_tensor_find(const struct mf_model *model, const char *name,
                           size_t name_size, struct mf_tensor *out, size_t *at);

struct mf_tensor_stats {
    uint64_t count; /* numbers that are finite; of these: */
    double least, most, mean, std, l2;
    uint64_t zeros, nans, infinities;
};

/* Decodes tensors, on all threads and in bounded memory, and says what their
 * numbers are like: out[i] is of tensor number index[i]. */
MF_API enum mf_status mf_tensor_stats(struct mf_model *model,
                                      const size_t *index, size_t count,
                                      struct mf_tensor_stats *out);

/* ---- Metadata ------------------------------------------------------------ */

enum mf_value_type { /* 0 to 12 are numbered as GGUF numbers them */
                     MF_VALUE_U8,
                     MF_VALUE_I8,
                     MF_VALUE_U16,
                     MF_VALUE_I16,
                     MF_VALUE_U32,
                     MF_VALUE_I32,
                     MF_VALUE_F32,
                     MF_VALUE_BOOL,
                     MF_VALUE_STRING,
                     MF_VALUE_ARRAY,
                     MF_VALUE_U64,
                     MF_VALUE_I64,
                     MF_VALUE_F64,
                     MF_VALUE_NULL,   /* JSON and MessagePack only, from here on
                                       */
                     MF_VALUE_OBJECT, /* a map */
                     MF_VALUE_MIXED   /* only as an array's element type */
};

/* "u8" .. "f64", "bool", "string", "array", "null", "object", "mixed". */
MF_API const char *mf_value_type_name(enum mf_value_type type);

union mf_number {
    uint64_t u64; /* U8 U16 U32 U64 */
    int64_t i64;  /* I8 I16 I32 I64 */
    double f64;   /* F32 F64 */
    bool boolean; /* BOOL */
};

struct mf_meta {
    struct mf_str key; /* terminated, but may hold NUL within */
    enum mf_value_type type;
    enum mf_value_type of; /* of an array's elements */
    uint64_t count;        /* elements of an array, members of an object,
                              bytes of a string as decoded */
    union mf_number number;
    struct mf_str text;  /* a string of at most 1024 bytes; at is NULL for a
                            longer one: use mf_values_open.  Terminated. */
    struct mf_span span; /* where the value lies */
    uint32_t shard;
};

/* Keys in the order of the file.  No allocation. */
MF_API bool mf_meta_at(const struct mf_model *model, size_t index,
                       struct mf_meta *out);
MF_API bool mf_meta_find(const struct mf_model *model, const char *key,
                         size_t key_size, struct mf_meta *out, size_t *at);

/* A value told piece by piece, in bounded memory whatever its size: how array
 * elements, nested values and long strings are read.  A scalar is one ITEM; an
 * array is BEGIN, its elements, END; an object is BEGIN, then KEY and value by
 * turns, END.  A long KEY or string ITEM comes in several events, all but the
 * last with more = true; a piece never splits a UTF-8 character. */
enum mf_event {
    MF_EVENT_ITEM,
    MF_EVENT_KEY,
    MF_EVENT_BEGIN,
    MF_EVENT_END,
    MF_EVENT_DONE
};

struct mf_value {
    enum mf_event event;
    enum mf_value_type type; /* of an ITEM; ARRAY or OBJECT of BEGIN and END */
    enum mf_value_type of;   /* BEGIN of an array, where the format tells */
    uint64_t count;          /* BEGIN of an array, where the format tells */
    union mf_number number;
    struct mf_str text; /* KEY and string ITEM: this piece; a JSON number: its
                           digits as written.  Valid until the next call. */
    bool more;
};

struct mf_values;

/* Starts reading value number index of the metadata.  Free with
 * mf_values_close before the model is closed. */
MF_API enum mf_status mf_values_open(struct mf_model *model, size_t index,
                                     struct mf_values **out);
MF_API enum mf_status mf_values_next(struct mf_values *values,
                                     struct mf_value *out);
MF_API void mf_values_close(struct mf_values *values);

/* What people ask of a model, wherever its format keeps it. */
enum mf_fact {
    MF_FACT_ARCHITECTURE,
    MF_FACT_NAME,
    MF_FACT_LICENSE,
    MF_FACT_FILE_TYPE, /* a string: the name of the quantization mix */
    MF_FACT_CONTEXT_LENGTH,
    MF_FACT_EMBEDDING_LENGTH,
    MF_FACT_BLOCK_COUNT,
    MF_FACT_HEAD_COUNT,
    MF_FACT_HEAD_COUNT_KV,
    MF_FACT_VOCAB_SIZE,
    MF_FACT_FEED_FORWARD_LENGTH,
    MF_FACT_KEY_LENGTH,   /* of a head */
    MF_FACT_VALUE_LENGTH, /* likewise */
    MF_FACT_COUNT
};

/* "architecture", "context_length", ...: the key that JSON output uses. */
MF_API const char *mf_fact_name(enum mf_fact fact);

/* False where the file does not say.  out is the metadatum that tells it;
 * where that is an array (heads per layer, a vocabulary), count is its length
 * and at (may be NULL) the index for mf_values_open. */
MF_API bool mf_model_fact(const struct mf_model *model, enum mf_fact fact,
                          struct mf_meta *out, size_t *at);

/* The same facts from the config.json in the folder of the model's first file,
 * as Hugging Face's models have it.  The architecture is its model_type. */
struct mf_config_fact {
    bool given, is_text;
    uint64_t number;
    char text[64];
};

struct mf_config_facts {
    bool found; /* there is a config.json */
    struct mf_config_fact fact[MF_FACT_COUNT];
};

/* Reads that file; mf_model_fact does not look there.  MF_OK with found false
 * where there is none, or the model was opened from memory. */
MF_API enum mf_status mf_model_config_facts(struct mf_model *model,
                                            struct mf_config_facts *out);

/* ---- Findings ------------------------------------------------------------ */

enum mf_severity { MF_NOTE, MF_WARNING, MF_ERROR };

/* "note", "warning", "error". */
MF_API const char *mf_severity_name(enum mf_severity severity);

#define MF_FINDINGS_MAX                                                        \
    1000 /* kept where mf_model_open is not told otherwise */

struct mf_finding {
    const char *rule; /* "TENSOR-BOUNDS": stable, static */
    enum mf_severity severity;
    uint64_t offset; /* in the shard's file, or MF_NO_OFFSET */
    uint32_t shard;
    struct mf_str tensor; /* which it is about; at is NULL for none */
    const char *message;  /* a sentence as in struct mf_error */
};

/* What was met, in that order; false past the last kept one.  mf_model_open
 * notes what it meets while reading; mf_model_validate adds the rest. */
MF_API bool mf_finding_at(const struct mf_model *model, size_t index,
                          struct mf_finding *out);

/* Holds the model against everything that its header can tell: what its
 * architecture needs, its tokenizer, its layout.  Adds findings and brings the
 * counts in mf_model_info up to date; a second call adds nothing.  Reads no
 * tensor data. */
MF_API enum mf_status mf_model_validate(struct mf_model *model);

/* The same, and reads the bytes of all tensors once, by the env's threads, in
 * buffers of at most 3 MiB together: numbers and block scales that are infinite
 * or none, tensors of zeros, padding, checksums.  Nothing is decoded. */
MF_API enum mf_status mf_model_validate_data(struct mf_model *model);

struct mf_rule_info {
    const char *id;            /* "TENSOR-BOUNDS" */
    enum mf_severity severity; /* of the usual case */
    const char *meaning;       /* in a line */
};

/* All rules, index from 0 until false. */
MF_API bool mf_rule_at(size_t index, struct mf_rule_info *out);

/* ---- Writing ------------------------------------------------------------- */

/* A change of the metadata. */
struct mf_edit {
    const char *key;
    bool unset;
    /* The new value.  Of an array the elements: struct mf_str for strings, else
     * union mf_number. */
    enum mf_value_type type, of;
    union mf_number number;
    struct mf_str text;
    uint64_t count;
    const void *elements;
};

/* Whose names tensors have. */
enum mf_naming {
    MF_NAMING_KEEP, /* those that they have */
    MF_NAMING_GGUF, /* llama.cpp's: "blk.0.attn_q.weight" */
    MF_NAMING_HF /* Hugging Face's: "model.layers.0.self_attn.q_proj.weight" */
};

/* All zero is the default. */
struct mf_convert_options {
    const char *format; /* "gguf", "apr", "safetensors"; NULL: what the path's
                           suffix says, else that of the model */
    const char *type;   /* of tensors of floats: "f32", "f16", "bf16"; the
                           latter two of matrices only, norms and biases are
                           then f32 in GGUF.  NULL: as they are, but norms and
                           biases are f32 in GGUF with MF_NAMING_GGUF.  "keep":
                           all as they are */
    bool dequantize;    /* blocks, too, become that type */
    /* Numbers that are infinite or NaN, as those become that the new type is
     * too narrow for, are written; else they are refused wherever numbers
     * change their type, and in GGUF and APR, where mf_model_validate_data
     * finds them to be errors. */
    bool allow_nonfinite;
    bool replace; /* a file that stands there already */
    bool lossy;   /* what cannot be carried is left out */
    bool dry_run; /* only the answer; nothing is written */
    /* Several files, PREFIX-00001-of-00005.SUFFIX: of at most so many bytes of
     * tensors (a larger tensor has a file of its own), or so many tensors. */
    uint64_t shard_size, shard_tensors;
    bool empty_first; /* the first of them has metadata alone (GGUF) */
    /* The model's files are removed once the new one is on the disk. */
    bool delete_inputs;
    uint64_t reserve; /* bytes of the header that stay free for later edits */
    uint32_t version; /* of the format; 0: the model's, else the usual one */
    const struct mf_edit *edits; /* in their order */
    size_t edit_count;
    /* Other names, and rows in the order that goes with them.  A model that
     * does not say what it is says so in config.json beside it.  Refused where
     * it is not certain of every tensor what becomes of it. */
    enum mf_naming names;
};

struct mf_convert_result {
    const char *format;
    size_t file_count;
    uint64_t file_size;      /* all files together */
    size_t left_out;         /* metadata that could not be carried */
    size_t tensors_left_out; /* that have no place under other names */
};

/* The name of file `number`, from 0 on, of several that are written for a path:
 * PREFIX-00001-of-00005.SUFFIX.  False where it is longer than out, which has
 * room for so many bytes, or there is no such format. */
MF_API bool mf_shard_path(const char *path, const char *format, size_t number,
                          size_t count, char *out, size_t room);

/* Rewrites the model.  Tensors are copied as bytes, metadata under the keys
 * that the format has for it.  Where nothing changes the file is the same byte
 * for byte.  A model with errors is refused, and so is a shard of a GGUF whose
 * name does not lead to the others, unless it was opened MF_SHARDS_ALONE.
 * Until it returns MF_OK, what stood at path stands there; afterwards the whole
 * new file does, on the disk.  MF_ERR_OUTPUT, and nothing is done, where path
 * is by device and inode a file that is read: of the model, its list of shards,
 * a file like config.json beside it, an importance matrix.  The same goes for
 * mf_tensor_export and mf_model_quantize.
 * options and out may be NULL. */
MF_API enum mf_status mf_model_convert(struct mf_model *model, const char *path,
                                       const struct mf_convert_options *options,
                                       struct mf_convert_result *out);

struct mf_export_options {
    bool raw;     /* the tensor's bytes alone, whatever its type */
    bool replace; /* a file that stands there already */
};

/* One tensor as an array of numpy (.npy, f32, the slowest dimension first),
 * written as mf_model_convert writes.  options may be NULL. */
MF_API enum mf_status mf_tensor_export(struct mf_model *model, size_t index,
                                       const char *path,
                                       const struct mf_export_options *options);

struct mf_edit_options {
    uint64_t reserve; /* room for later edits, if the file is rewritten */
    bool dry_run;     /* only the answer */
};

struct mf_edit_result {
    bool in_place;    /* else the file was rewritten */
    bool journalled;  /* in place, by way of a journal */
    uint64_t changed; /* bytes of the file in place, or of the new file */
};

/* Changes the metadata of a file.  Where the new header fits into the room of
 * the old one, only the bytes of it that differ are written, by way of a
 * journal beside the file, PATH.modelfile-edit: after a crash the file is read
 * through that, and the next edit or mf_file_recover finishes it.  Else, and
 * where the caller cannot make a journal that others trust (the file is another
 * user's), the file is rewritten, as by mf_model_convert.
 * The file is locked (flock) from before it is read until the edit is on the
 * disk; while another process has the lock, the env's progress function is
 * asked, and after 10 seconds that is MF_ERR_OUTPUT.
 * MF_ERR_UNSUPPORTED, and nothing is done, where mf_model_validate would find
 * more errors of a kind than before.  After MF_ERR_OUTPUT nothing was changed,
 * unless the message says so.  No model of the file may be open in this env.
 * options and out may be NULL. */
MF_API enum mf_status mf_file_edit(struct mf_env *env, const char *path,
                                   const struct mf_edit *edits, size_t count,
                                   const struct mf_edit_options *options,
                                   struct mf_edit_result *out);

/* The same in steps, for a caller who looks at the file before he says what is
 * to change: from open to close no other editor changes it. */
struct mf_editor;

/* With dry_run nothing is locked and nothing written. */
MF_API enum mf_status mf_editor_open(struct mf_env *env, const char *path,
                                     const struct mf_edit_options *options,
                                     struct mf_editor **out);

/* The file as it is; valid until the editor is closed. */
MF_API struct mf_model *mf_editor_model(const struct mf_editor *editor);

/* Once: after MF_OK the model is out of date. */
MF_API enum mf_status mf_editor_apply(struct mf_editor *editor,
                                      const struct mf_edit *edits, size_t count,
                                      struct mf_edit_result *out);

/* NULL is allowed. */
MF_API void mf_editor_close(struct mf_editor *editor);

enum mf_recovery {
    MF_RECOVERY_NONE,     /* there is no journal */
    MF_RECOVERY_UNBEGUN,  /* nothing of the edit was in the file, or is now */
    MF_RECOVERY_COMPLETE, /* all of it was in the file already */
    MF_RECOVERY_FINISHED, /* the rest of it is in the file now */
    MF_RECOVERY_FOREIGN   /* it was the journal of another file */
};

struct mf_recover_options {
    bool force; /* a journal whose owner or mode is not to be trusted, too; for
                   the file's owner and root */
};

struct mf_recover_result {
    enum mf_recovery found;
    uint64_t changed; /* bytes that the edit covers, where it was finished */
};

/* Finishes an edit of the file that was cut short and takes its journal away.
 * A journal is trusted where it is a regular file of one name and at most 256
 * MiB, is owned by the file's owner, by root or by the caller, can be neither
 * read nor written by anyone who may not do that to the file, has the checksum
 * of its bytes, and changes nothing but the header and a checksum at the end.
 * Else this is MF_ERR_OUTPUT, and nothing was changed.
 * options and out may be NULL. */
MF_API enum mf_status mf_file_recover(struct mf_env *env, const char *path,
                                      const struct mf_recover_options *options,
                                      struct mf_recover_result *out);

/* One type for all tensors whose name a pattern is found in. */
struct mf_tensor_type {
    const char *pattern; /* a regular expression, as JavaScript has them */
    const char *type;    /* "q8_0" */
};

/* MF_ERR_ARGUMENT, with what is wrong and where, for a pattern that is no such
 * regular expression. */
MF_API enum mf_status mf_pattern_check(struct mf_env *env, const char *pattern);

/* What becomes of the tensors of a model that is quantized.  type is all that
 * must be set. */
struct mf_quantize_options {
    /* A mix of mf_mix_at, in any case ("Q4_K_M", "q4_k_m"), or its number; or a
     * tensor type in small letters ("q4_k"), which then is that of every tensor
     * that would be quantized. */
    const char *type;
    bool pure;             /* one type for all, also with a mix */
    bool leave_output;     /* output.weight stays as it is */
    bool allow_requantize; /* of what is quantized already */
    bool keep_split;       /* as many files as the model has, numbered */
    bool report;           /* measure what it does to the numbers */
    const char *output_type, *embedding_type;  /* NULL: what the mix says */
    const struct mf_tensor_type *tensor_types; /* the first that fits */
    size_t tensor_type_count;
    /* As many numbers: of how many tensors each decides the type.  0 most
     * likely is a mistake in a pattern.  NULL: not asked. */
    size_t *tensor_type_tensors;
    /* An importance matrix: a file of llama-imatrix, old or new; NULL: none. Of
     * its entries those whose name holds none of exclude, or one of include:
     * either or, and neither without a matrix.  A matrix without an entry for a
     * tensor that is quantized is refused: it is that of another model. */
    const char *imatrix;
    const char *const *include, *const *exclude;
    size_t include_count, exclude_count;
    /* Blocks that are left out; those behind them move up. */
    const uint32_t *prune;
    size_t prune_count;
    const struct mf_edit *edits; /* of the metadata, in their order */
    size_t edit_count;
};

struct mf_mix_info {
    const char *name;   /* "Q4_K_M" */
    uint32_t file_type; /* general.file_type */
    const char *type;   /* of most tensors; "" where all stay as they are */
    bool needs_imatrix;
    bool available; /* this library has an encoder for that type */
};

/* The mixes that llama-quantize knows, index from 0 until false. */
MF_API bool mf_mix_at(size_t index, struct mf_mix_info *out);

/* What llama-quantize calls what the type of struct mf_quantize_options asks
 * for: "Q4_K_M" of "q4_k_m", "Q4_K" of "15".  A tensor type's own name; NULL
 * where it is none of all. */
MF_API const char *mf_mix_name(const char *type);

#define MF_QUANTIZED_MAX 64

/* Tensors of one type in a quantized model. */
struct mf_quantized {
    const char *name; /* "q4_k" */
    size_t tensors;   /* 0: there is none of this type */
    uint64_t parameters, bytes;
    /* Of those numbers that became another type, where a report was asked for;
     * measured 0: none. */
    uint64_t measured;
    double rmse, worst, cosine; /* against what they were */
};

struct mf_quantize_result {
    const char *format;
    size_t file_count;
    uint64_t file_size; /* all files together */
    size_t changed;     /* tensors that have another type */
    size_t fallbacks;   /* that could not have the one the mix says, for their
                           rows are no whole blocks of it */
    size_t weighted;    /* of those that are changed: they have an entry in the
                           importance matrix */
    size_t left_out;    /* metadata that could not be carried */
    struct mf_quantized type[MF_QUANTIZED_MAX];
};

/* Writes the model with smaller weights, as llama-quantize does, byte for byte.
 * how says where to and whether at all: its format (GGUF, or APR where that can
 * carry the types), replace, lossy, dry_run, reserve; NULL: all defaults.  out
 * may be NULL. */
MF_API enum mf_status
mf_model_quantize(struct mf_model *model, const char *path,
                  const struct mf_quantize_options *options,
                  const struct mf_convert_options *how,
                  struct mf_quantize_result *out);

/* A file that a program makes itself: list metadata and tensors, open, give the
 * bytes, commit.
 *
 *     mf_writer_new(env, &(struct mf_writer_options){ "gguf" }, &writer);
 *     mf_writer_set(writer, &(struct mf_edit){
 *         .key = "general.architecture", .type = MF_VALUE_STRING,
 *         .text = { "llama", 5 } });
 *     mf_writer_add(writer, &(struct mf_new_tensor){
 *         .name = { "w", 1 }, .type = "f32", .rank = 2,
 *         .dim = (const uint64_t[]){ 3, 4 } }, NULL);
 *     mf_writer_open(writer, "model.gguf");
 *     mf_writer_push(writer, floats, sizeof(floats));
 *     mf_writer_commit(writer);
 *     mf_writer_free(writer);
 *
 * Each can fail, and then says so.  What stands at the path stays there until
 * commit returns MF_OK; a writer that is freed before leaves nothing. */
struct mf_writer;

struct mf_writer_options {
    const char *format; /* "gguf", "apr", "safetensors" */
    uint32_t version;   /* 0: the usual one; of GGUF 2 or 3, of APR 2 */
    uint64_t reserve;   /* as in struct mf_convert_options */
    bool replace;       /* likewise */
    bool big_endian;    /* GGUF */
};

MF_API enum mf_status mf_writer_new(struct mf_env *env,
                                    const struct mf_writer_options *options,
                                    struct mf_writer **out);

/* NULL is allowed. */
MF_API void mf_writer_free(struct mf_writer *writer);

/* Before open.  Everything is copied.  Where the format's values have no such
 * type (APR, safetensors), the key tells it: "KEY:u32". */
MF_API enum mf_status mf_writer_set(struct mf_writer *writer,
                                    const struct mf_edit *value);

/* All metadata of a model, which must stay open until the writer is, under the
 * keys and with the types that the format has for them. */
MF_API enum mf_status mf_writer_copy_metadata(struct mf_writer *writer,
                                              struct mf_model *model);

struct mf_new_tensor {
    struct mf_str name;
    const char *type; /* of mf_type_at */
    uint32_t rank;
    const uint64_t *dim; /* the slowest first, the contiguous one last; a format
                            that lists them the other way gets it so */
};

/* index (may be NULL) counts from 0. */
MF_API enum mf_status mf_writer_add(struct mf_writer *writer,
                                    const struct mf_new_tensor *tensor,
                                    size_t *index);

/* Fixes all offsets, takes the room, writes the header.  Refused where two
 * tensors have one name, or two values one key (as by taking the metadata of
 * two models).  Where the path cannot be written, another one may be tried. */
MF_API enum mf_status mf_writer_open(struct mf_writer *writer,
                                     const char *path);

/* Where a tensor lies in the file; false before open. */
MF_API bool mf_writer_place(const struct mf_writer *writer, size_t index,
                            struct mf_span *out);

/* The next bytes of tensors in the order of their data: that of the list in
 * GGUF, of names in APR, of element sizes in safetensors. */
MF_API enum mf_status mf_writer_push(struct mf_writer *writer,
                                     const void *bytes, size_t size);

/* Asks for all bytes that push would want, in pieces of at most 1 MiB: size
 * bytes of a tensor from offset on into buffer. */
typedef enum mf_status mf_produce(void *user, size_t tensor, uint64_t offset,
                                  void *buffer, size_t size);
MF_API enum mf_status mf_writer_fill(struct mf_writer *writer,
                                     mf_produce *produce, void *user);

/* Bytes of any tensor, in any order, from any thread; env is that thread's own.
 * Each byte once.  Refused for a pipe or a device, which takes bytes by push or
 * fill alone. */
MF_API enum mf_status mf_writer_write_at(struct mf_writer *writer,
                                         struct mf_env *env, size_t index,
                                         uint64_t offset, const void *bytes,
                                         size_t size);

/* Refused where a tensor has not been given each of its bytes once; what is
 * missing may be given then.  After any other failure the writer can only be
 * freed. */
MF_API enum mf_status mf_writer_commit(struct mf_writer *writer);

/* ---- What this library knows --------------------------------------------- */

struct mf_type_info {
    const char *name;     /* "q4_k" */
    uint32_t block, size; /* elements and bytes of a block */
};

/* What the value of a metadata key can be in a format. */
enum mf_values_kind {
    MF_VALUES_TYPED, /* a number, bool or string of one of the types up to
                        MF_VALUE_F64, or an array, under llama.cpp's keys
                        ("general.architecture") */
    MF_VALUES_JSON,  /* any JSON value, under aprender's keys ("hidden_size") */
    MF_VALUES_STRINGS /* a string, under any key */
};

/* One row of the table of formats.  A format that has dialects has a row for
 * each, and they share its name. */
struct mf_format_info {
    const char *name, *suffix, *description;
    const char *variant;        /* as in struct mf_detection */
    bool can_write;             /* mf_model_convert writes it */
    enum mf_values_kind values; /* of its metadata */
    enum mf_naming naming;      /* the tensor names that its readers expect;
                                   MF_NAMING_KEEP: any */
};

/* index from 0 until false. */
MF_API bool mf_type_at(size_t index, struct mf_type_info *out);
MF_API bool mf_format_at(size_t index, struct mf_format_info *out);

/* True where tensors in files of that format can have the type: two names, as
 * mf_type_at and mf_format_at give them. */
MF_API bool mf_type_in(const char *type, const char *format);

/* ---- Floats into blocks, and back -----------------------------------------
 */

/* The loops of one tensor type for one instruction set.  They allocate nothing,
 * keep nothing and cannot fail; any number of threads may call them at once.
 * Every instruction set gives the same bytes.
 *
 * columns is a multiple of block.  Blocks of that many numbers take prefix +
 * columns / block * size bytes; no side need be aligned, and the sides must not
 * overlap.  A tensor whose prefix is 0 is decoded whole or in parts. */
struct mf_kernel {
    const char *type, *isa; /* "q4_k", "avx2" */
    uint32_t block, size;   /* numbers and bytes of a block */
    uint32_t prefix;        /* bytes before the blocks: "apr_q8" alone has them,
                               one scale for all */
    void (*decode)(const uint8_t *blocks, float *out, size_t columns);
    /* A whole row at a time: some types look at its mean square.  weights say
     * how much each column matters (an importance matrix); NULL: all alike.
     * Types that have no use for them do not read them.  NULL for types that
     * are decoded only. */
    void (*encode)(const float *row, const float *weights, uint8_t *blocks,
                   size_t columns);
};

/* The instruction sets that run on this processor, from the plainest
 * ("portable") to the best; NULL past the last. */
MF_API const char *mf_isa_at(size_t index);

/* False (out untouched) where the type is not known or not decoded, or the
 * instruction set does not run here.  isa NULL: the best. */
MF_API bool mf_kernel_find(const char *type, const char *isa,
                           struct mf_kernel *out);

/* ---- Digests ------------------------------------------------------------- */

/* From the weakest to the strongest; only the last withstands somebody who
 * wants two files to look alike.  MF_SHA1 and MF_SHA256 are done by the
 * system's libcrypto, which is loaded when one is asked for: where that is not
 * possible, MF_ERR_IO says so. */
enum mf_digest_kind {
    MF_CRC32,
    MF_XXH64,
    MF_XXH3_64,
    MF_XXH3_128,
    MF_SHA1,
    MF_SHA256
};

#define MF_DIGEST_MAX 32 /* bytes of the longest */

struct mf_digest_info {
    const char *name; /* "crc32", "xxh64", "xxh3", "xxh128", "sha1", "sha256" */
    enum mf_digest_kind kind;
    size_t size; /* bytes */
};

/* index from 0 until false. */
MF_API bool mf_digest_at(size_t index, struct mf_digest_info *out);

/* ---- Digests of a model's data --------------------------------------------
 */

/* The digest of every tensor's bytes, as they lie in the file: digests gets
 * that of tensor i at i times the kind's size, so it has room for tensor_count
 * of them.  Every byte is read once, by the env's threads, in buffers of at
 * most 3 MiB together.  MF_ERR_CORRUPT where a tensor is MF_TENSOR_DAMAGED. */
MF_API enum mf_status mf_model_hash_tensors(struct mf_model *model,
                                            enum mf_digest_kind kind,
                                            uint8_t *digests);

/* The digest of a model, from those of its tensors: that of the text which has
 * a line "DIGEST  NAME\n" for each tensor, in the order of the names' bytes,
 * the digest in lower-case hexadecimal digits.  So it depends neither on the
 * container nor on the order of tensors.  In NAME a backslash is doubled and
 * what mf_text_clean stops at is written as mf_text_escape does it: no name can
 * look like a line of its own.  line (may be NULL) is called with each line.
 */
MF_API enum mf_status mf_model_hash(
    struct mf_model *model, enum mf_digest_kind kind, const uint8_t *digests,
    uint8_t out[MF_DIGEST_MAX],
    void (*line)(void *user, size_t tensor, const char *text, size_t size),
    void *user);

/* The digest of the bytes of all tensors one after the other, in the order of
 * the file's index, nothing between them: what llama.cpp's llama-gguf-hash
 * gives for a whole file.  One thread. */
MF_API enum mf_status mf_model_hash_data(struct mf_model *model,
                                         enum mf_digest_kind kind,
                                         uint8_t out[MF_DIGEST_MAX]);

/* The UUID (RFC 9562, version 5) that llama-gguf-hash gives a file: from the
 * SHA-1 of llama.cpp's namespace and of the same bytes.  One thread. */
MF_API enum mf_status mf_model_uuid(struct mf_model *model, uint8_t out[16]);

/* The digest of a file, whatever is in it, from its first byte to its last:
 * what sha256sum gives.  The file must be a regular one.  One thread. */
MF_API enum mf_status mf_file_hash(struct mf_env *env, const char *path,
                                   enum mf_digest_kind kind,
                                   uint8_t out[MF_DIGEST_MAX]);

/* Tensors with equal bytes, whatever their type and shape: same[i] gets the
 * lowest index of a tensor with the bytes of tensor i, which is i where no
 * earlier one has them.  Only tensors that share their size with another are
 * read: once for a digest, and once more, where that is equal, to compare them.
 * Tensors without a byte are equal to none. */
MF_API enum mf_status mf_model_duplicates(struct mf_model *model,
                                          uint32_t *same);

/* ---- Two models against each other -----------------------------------------
 */

enum mf_difference_what {
    MF_ONLY_A = 1,        /* the other has nothing of this name */
    MF_ONLY_B = 2,        /* likewise */
    MF_DIFFERS_TYPE = 4,  /* of a tensor; a value's type is part of the value */
    MF_DIFFERS_SHAPE = 8, /* regarded in one order */
    MF_DIFFERS_DATA = 16, /* or the value of a metadatum */
};

/* How far the numbers of a tensor are from the other's, both decoded to floats
 * of 32 bits: what these do not tell apart is equal here, and a double that is
 * none of them is infinite. */
struct mf_value_errors {
    uint64_t count; /* numbers that are finite in both; of these: */
    double max_absolute;
    double max_relative; /* to a's number, where that is not 0 */
    double rmse;         /* the root of the mean squared error */
    double cosine;       /* of the angle between both; where one has zeros only
                            it is 0, where both have it is 1 */
    uint64_t from_zero;  /* 0 in a and not in b: they have no relative error */
    /* Of the others, on that side alone.  An infinity against that of the other
     * sign is on either. */
    uint64_t nan_a, nan_b, inf_a, inf_b;
};

struct mf_difference {
    bool is_tensor; /* else a metadatum */
    unsigned what;  /* enum mf_difference_what, or-ed */
    size_t a, b;    /* for mf_tensor_at or mf_meta_at; SIZE_MAX: not there */
    uint64_t first; /* of MF_DIFFERS_DATA: the first byte of the tensor, or the
                       first element of an array, that is different; else 0 */
    /* Where values were asked for, of a tensor that has the other's shape;
     * until found returns.  Else both are NULL. */
    const struct mf_value_errors *values;
    const char *no_values; /* a sentence: why they cannot be compared */
};

/* All zero is the default. */
struct mf_diff_options {
    bool no_data; /* leave tensor data unread */
    bool values;  /* decode tensors that differ, and say how far apart they are;
                     not with no_data */
};

/* Calls found for everything that is different, in the order of a's metadata,
 * what only b has, a's tensors, what only b has.  Both models must be of one
 * env.  NULL options: all defaults.
 *
 * Metadata are compared by key as they stand, numbers of models of different
 * formats by their value, whatever their width.  Tensors' bytes are compared
 * where type and size agree; both files are read once, by the env's threads, in
 * buffers of at most 3 MiB together.  With values, tensors of one shape whose
 * types or bytes differ are read once more, likewise.  MF_ERR_CORRUPT where a
 * tensor that is to be read is MF_TENSOR_DAMAGED. */
MF_API enum mf_status
mf_model_diff(struct mf_model *a, struct mf_model *b,
              const struct mf_diff_options *options,
              void (*found)(void *user, const struct mf_difference *difference),
              void *user);

#ifdef __cplusplus
}
#endif

#endif
