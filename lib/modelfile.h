/* SPDX-License-Identifier: MIT
 *
 * modelfile.h - read, check and write model files: GGUF, safetensors and APR
 *
 * This is the whole public interface of libmodelfile.  A file is opened by its
 * header alone: no tensor data is read, and after mf_model_open() every offset
 * is absolute, checked and cached.
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
 * Ownership: the caller frees only what a function ending in _new or _open, or
 * mf_values_read, returned.  Everything reachable from a model is valid until
 * mf_model_close().
 *
 * Threads: an env and the models opened with it belong to one thread at a time;
 * different envs are independent.  Several threads may at once read an open
 * model with mf_model_info, mf_shard_at, mf_shard_fd, mf_tensor_at,
 * mf_tensors_at, mf_tensor_find, mf_tensor_place, mf_meta_at, mf_metas_at,
 * mf_meta_find and mf_model_fact, which change nothing.  Threads of the library
 * end with the call that started them, and block the program's signals.  They
 * are OpenMP's, in a pool that is not the program's: values that the program
 * has for its own threads of OpenMP stay.  A call with little work starts none;
 * mf_options.threads = 1 forbids any, and mf_options.run takes the program's.
 *
 * The process: the library keeps no state but what is the same for all, a mutex
 * for the start of threads, whether the processor converts halves and computes
 * SHA, and the library libgcc_s, which is loaded before the first thread and
 * stays.  It reads no environment variable, depends on no locale, and handles
 * no signal; OpenMP's own library reads OMP_NUM_THREADS and the like when it is
 * loaded.
 * After fork both processes may use the library and what was opened, but no env
 * in both at once where they write a file; if another thread was in a call when
 * the process forked, the child should only call exec or _exit.
 *
 * Callbacks must return: the library is in the middle of its work, and threads
 * may be using the stack of the call that is left.  longjmp, an exception, or
 * the end of the thread there is undefined behaviour.  A callback may not call
 * the library with the same env, either, but for mf_env_heap and the like.
 *
 * Errors: a function that can fail returns enum mf_status and leaves details in
 * mf_env_error().  The library never prints, never exits, and never aborts
 * because of the bytes of a file.  It sets out-parameters only on success.
 *
 * NULL: a required argument that is NULL makes a function that returns enum
 * mf_status return MF_ERR_ARGUMENT, and the message names the argument if there
 * is an env to keep it.  Other functions return false, 0, NULL or the info of
 * an empty model; mf_env_error(NULL) is an error of its own; functions without
 * a result do nothing.
 *
 * Options: an option struct begins with its size, which the program sets, as in
 *
 *   struct mf_open_options options = { .size = sizeof(options) };
 *
 * So a library with more options knows which ones a program was compiled with;
 * the others have their defaults.  Zero is the default of every other member.
 * A size of 0 is refused, and so is an option that this library does not know.
 *
 * Structs that the library fills in end with room, which is 0 until a later
 * version has a member there: a program that was compiled before goes on, and
 * one that was compiled later finds 0.  So arrays of them keep their layout.
 * Of some there are so many that the room is only what was padding.
 *
 * A library that was built without groups of functions (make WITHOUT=...) lacks
 * what docs/embedding.md lists; programs that call one of these do not link.
 *
 * C99 to C23, C++98 to C++20.
 */
#ifndef MODELFILE_H
#define MODELFILE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#ifdef __cplusplus
extern "C" {
#endif

/* ---- Version ------------------------------------------------------------- */

#define MF_VERSION_MAJOR  0
#define MF_VERSION_MINOR  3
#define MF_VERSION_PATCH  4
#define MF_VERSION_STRING "0.3.4"

#if defined(__GNUC__)
#define MF_API __attribute__((visibility("default")))
#else
#define MF_API
#endif

/* The version of the library that runs, "0.3.4"; MF_VERSION_STRING is the one
 * that the program was compiled against. */
MF_API const char *mf_version(void);

/* ---- Errors -------------------------------------------------------------- */

enum mf_status {
    MF_OK = 0,
    MF_ERR_ARGUMENT, /* an argument is invalid */
    MF_ERR_IO, /* a file cannot be read; the message has the system's reason */
    MF_ERR_MEMORY,      /* out of memory */
    MF_ERR_LIMIT,       /* above the heap limit, or a limit of the library */
    MF_ERR_FORMAT,      /* unknown format */
    MF_ERR_CORRUPT,     /* known format, but invalid */
    MF_ERR_UNSUPPORTED, /* valid, but not supported by this library */
    MF_ERR_OUTPUT,  /* a file cannot be written; the message has the system's
                       reason */
    MF_ERR_STOPPED, /* the caller's progress function returned false, or its
                       source was cancelled */
    MF_NEED_MORE    /* only the beginning of a file is there: see
                       mf_model_open_memory */
};

#define MF_NO_OFFSET UINT64_MAX

/* Which of several files an error is about. */
enum mf_error_file {
    MF_ERROR_IN_MODEL,   /* the one that was named to the call */
    MF_ERROR_IN_SHARD,   /* another file of the same model */
    MF_ERROR_IN_IMATRIX, /* the importance matrix */
    MF_ERROR_IN_ADAPTER  /* the adapter that is added to the model */
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
    uint64_t needed; /* MF_NEED_MORE: bytes from the start of the file */
    int system;      /* errno of the call of the system that failed; else 0 */
    char path[256];  /* of the file, as it was opened or will be written, or if
                        that is longer, its name; "" if it is unknown */
};

struct mf_reason_info {
    const char *id;        /* "OUTPUT-EXISTS" */
    enum mf_status status; /* of such an error */
    uint32_t room;
    const char *meaning; /* in a line */
};

/* All reasons for which a request is refused and a caller can ask for something
 * else, index from 0 until false. */
MF_API bool mf_reason_at(size_t index, struct mf_reason_info *out);

/* "corrupt" for MF_ERR_CORRUPT and so on; never NULL. */
MF_API const char *mf_status_name(enum mf_status status);

/* ---- Values -------------------------------------------------------------- */

/* Text that belongs to the model. It may contain any byte, NUL included, and is
 * terminated only if the comment of a field says so. */
struct mf_str {
    const char *at;
    size_t size;
};

/* A range of bytes of a file. */
struct mf_span {
    uint64_t offset;
    uint64_t size;
};

enum mf_value_type { /* 0 to 12 have the numbers of GGUF */
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
                     MF_VALUE_NULL, /* from here on only in JSON and MessagePack
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

enum mf_byte_order { MF_LITTLE_ENDIAN, MF_BIG_ENDIAN };

/* ---- Environments -------------------------------------------------------- */

struct mf_env;

/* resize works like realloc, and gets the old size as well: it allocates if
 * block is NULL, frees and returns NULL if new_size is 0, and else moves the
 * block. It returns NULL if it cannot allocate. Shrinking and freeing must not
 * fail. */
struct mf_allocator {
    void *(*resize)(void *user, void *block, size_t old_size, size_t new_size);
    void *user;
};

/* How far long work is, in bytes to read. If total is 0 there is no news: the
 * library only asks whether to continue. tensor is a tensor in work, valid
 * during the call; its size is 0 if there is no such tensor. */
struct mf_progress {
    uint64_t done, total;
    struct mf_str tensor;
};

enum mf_pending_use {
    MF_PENDING_READ_THROUGH, /* the file is read as if the edit were complete */
    MF_PENDING_IGNORED,      /* the file is read without it */
    MF_PENDING_FINISHED      /* it was completed before another edit */
};

/* The journal of an edit (see mf_file_edit) that was interrupted, or that
 * another process is making right now. It is in the folder of the file. */
struct mf_pending_edit {
    const char *path;    /* of the file, as opened */
    const char *journal; /* its name, without a folder */
    enum mf_pending_use use;
    const char
        *reason; /* why it is ignored: "belongs to another user"; else "" */
};

/* All zero is the default. */
struct mf_options {
    size_t size;                   /* of this struct: see above */
    struct mf_allocator allocator; /* if resize is NULL, the C library's heap */
    size_t heap_limit; /* of bytes allocated at the same time; 0: no limit */
    unsigned threads;  /* for long work; 0: OMP_NUM_THREADS, or one per
                          processor. The number changes  no result */
    /* Called every now and then during long work, in the thread that made the
     * call. If it returns false, the work ends with MF_ERR_STOPPED and nothing
     * is written. NULL: not called. */
    bool (*progress)(void *user, const struct mf_progress *progress);
    void *progress_user;
    /* Called when a file is opened that has the journal of an edit. NULL: not
     * called. */
    void (*pending_edit)(void *user, const struct mf_pending_edit *edit);
    void *pending_edit_user;
    /* How many bytes can still be allocated, for a program whose memory has a
     * limit of its own: buffers become as small as that requires, and what does
     * not fit fails like a request above heap_limit. Called often, from any
     * thread of a call with this env. NULL: only heap_limit counts. */
    size_t (*memory_left)(void *user);
    void *memory_left_user;
    bool timings; /* count where time goes, for mf_env_timing */
    /* An empty file, open for reading and writing, for compressed tensors that
     * would be unpacked again and again, at most as large as they are unpacked.
     * For a program that could not open one later; it closes it after
     * mf_env_free. 0: the library opens one without a name when it needs it, in
     * the folder that scratch_folder names. */
    int scratch_file;
    /* The instruction set for loops over tensor data: "portable", "avx2" or
     * "avx512", all with the same results. NULL or "": the best that this
     * processor has. One that it lacks makes calls that would use it fail with
     * MF_ERR_ARGUMENT. Copied. */
    const char *isa;
    /* The folder for the temporary file of scratch_file. NULL or "": /var/tmp,
     * or else /tmp. Copied. */
    const char *scratch_folder;
    /* Runs long work in threads of the program, instead of threads of the
     * library: calls work(context, index) once for each index below count, each
     * call in a thread that does nothing else until it returns, and returns
     * when all these calls have returned. Calls may run at once, or one after
     * the other, in any order; the calling thread may do some. Whatever is not
     * run, the library does itself afterwards: a function that has no threads
     * to give returns at once. count is at most `threads`, or the number of
     * processors, and at least 2: with threads = 1 it is not called. The
     * progress function is called in one of these threads meanwhile. NULL: the
     * library starts threads. */
    void (*run)(void *user, size_t count,
                void (*work)(void *context, size_t index), void *context);
    void *run_user;
};

struct mf_heap_stats {
    size_t live, peak;    /* bytes allocated now, and at most */
    uint64_t allocations; /* successful calls that allocated or moved a block */
    uint64_t total_bytes; /* of all these calls together */
    size_t live_blocks;   /* allocated now */
    size_t peak_blocks;   /* when live was peak; if more than once, the last
                             time */
    uint64_t room[4];
};

struct mf_io_stats {
    uint64_t bytes_read; /* by all models of this env, since mf_env_new */
    uint64_t reads;      /* successful read calls */
    uint64_t bytes_written;
    uint64_t room[4];
};

/* One phase of the work of an env, such as reading. A phase inside another one
 * stops the clock of the outer one: a read while a header is parsed is not part
 * of the parsing. So the totals of all phases add up to the time since
 * mf_env_new; with several threads, to the time of all threads together,
 * without the one that waits for them. The last one, "program", is what the
 * program did between its calls, short calls included. Of single entries only
 * their number for each power of two is kept: p50 and p99 are estimates, less
 * than a factor of two off. */
struct mf_timing {
    const char *phase;   /* "read" */
    const char *meaning; /* in a line */
    uint64_t count;      /* how often the phase was entered */
    uint64_t total_ns, min_ns, p50_ns, p99_ns, max_ns; /* nanoseconds */
    uint64_t room[4];
};

/* options may be NULL: all defaults. Returns NULL if out of memory, or if the
 * size of the options is invalid. */
MF_API struct mf_env *mf_env_new(const struct mf_options *options);

/* Returns at once; whatever is still open of the env (models, values, editors,
 * writers) works on, and the last one that is closed releases the env. So
 * finalizers may run in any order, but not at once. What the options point to,
 * such as an allocator, must be there until then. NULL is allowed. */
MF_API void mf_env_free(struct mf_env *env);

/* Removes the temporary files of everything that is being written, for a
 * program that has to end at once during a call with this env. A signal handler
 * may call it, in the thread that made the call; the process must then end,
 * with _exit. An edit in place stays as after a crash: begun, with its journal.
 * So does work with the option resume, once there is something to go on with.
 * NULL is allowed. */
MF_API void mf_env_abandon(struct mf_env *env);

/* Whether what was written before the last error is kept, so that the same call
 * with the option resume of struct mf_convert_options goes on with it. A signal
 * handler may ask, too, during a call with this env. */
MF_API bool mf_env_resumable(const struct mf_env *env);

/* The last error of this env; its status is MF_OK if the last call succeeded.
 * Valid until the next call with this env. */
MF_API const struct mf_error *mf_env_error(const struct mf_env *env);

MF_API void mf_env_heap(const struct mf_env *env, struct mf_heap_stats *out);
MF_API void mf_env_io(const struct mf_env *env, struct mf_io_stats *out);

/* All phases, index from 0 until false. False for every index unless
 * mf_options.timings was set. */
MF_API bool mf_env_timing(const struct mf_env *env, size_t index,
                          struct mf_timing *out);

/* ---- Features ------------------------------------------------------------ */

/* An env of mf_env_new knows all formats and codecs, and a program that calls
 * it is linked with all of them. An env of mf_env_new_with knows only the
 * features that the program names; everything else of this header works with
 * both. A program that lists the tensors of GGUF files, and reads tensors of
 * type q4_k:
 *
 *     const struct mf_feature *features[] = { mf_feature_gguf(),
 *                                             mf_feature_q4_k() };
 *
 *     env = mf_env_new_with(NULL, features, 2);
 *
 * It has to be linked with -Wl,--gc-sections, which pkg-config --static says.
 * Files of a format that the env does not know are MF_ERR_FORMAT, or where that
 * is known by its first bytes (npy, zip, pickle) MF_ERR_UNSUPPORTED, and
 * tensors of a type that it has no codec for MF_ERR_UNSUPPORTED where numbers
 * are asked for. mf_kernel_find knows all codecs, and mf_format_at and
 * mf_type_in all formats, whatever the env knows. */
struct mf_feature;

/* Like mf_env_new. Returns NULL also if one of the features is NULL. The order
 * of features has no meaning, nor has one that is there twice; features may be
 * NULL if count is 0. */
MF_API struct mf_env *mf_env_new_with(const struct mf_options *options,
                                      const struct mf_feature *const *features,
                                      size_t count);

/* Opening files of a format; torch is also .pt, .pth and .bin, npy also .npz,
 * and safetensors also index.json. Checks of Hugging Face's models need gguf as
 * well, in whose keys they are written. Never NULL. */
MF_API const struct mf_feature *mf_feature_gguf(void);
MF_API const struct mf_feature *mf_feature_apr(void);
MF_API const struct mf_feature *mf_feature_safetensors(void);
MF_API const struct mf_feature *mf_feature_torch(void);
MF_API const struct mf_feature *mf_feature_npy(void);
MF_API const struct mf_feature *mf_feature_parquet(void);
MF_API const struct mf_feature *mf_feature_imatrix(void);

/* Decoding and encoding a type of tensors. Never NULL. */
MF_API const struct mf_feature *mf_feature_f32(void);
MF_API const struct mf_feature *mf_feature_f16(void);
MF_API const struct mf_feature *mf_feature_bf16(void);
MF_API const struct mf_feature *mf_feature_f64(void);
MF_API const struct mf_feature *mf_feature_i8(void);
MF_API const struct mf_feature *mf_feature_i16(void);
MF_API const struct mf_feature *mf_feature_i32(void);
MF_API const struct mf_feature *mf_feature_i64(void);
MF_API const struct mf_feature *mf_feature_u8(void);
MF_API const struct mf_feature *mf_feature_u16(void);
MF_API const struct mf_feature *mf_feature_u32(void);
MF_API const struct mf_feature *mf_feature_u64(void);
MF_API const struct mf_feature *mf_feature_f8_e4m3(void);
MF_API const struct mf_feature *mf_feature_f8_e5m2(void);
MF_API const struct mf_feature *mf_feature_f8_e8m0(void);
MF_API const struct mf_feature *mf_feature_f8_e4m3fnuz(void);
MF_API const struct mf_feature *mf_feature_f8_e5m2fnuz(void);
MF_API const struct mf_feature *mf_feature_q4_0(void);
MF_API const struct mf_feature *mf_feature_q4_1(void);
MF_API const struct mf_feature *mf_feature_q5_0(void);
MF_API const struct mf_feature *mf_feature_q5_1(void);
MF_API const struct mf_feature *mf_feature_q8_0(void);
MF_API const struct mf_feature *mf_feature_q2_k(void);
MF_API const struct mf_feature *mf_feature_q3_k(void);
MF_API const struct mf_feature *mf_feature_q4_k(void);
MF_API const struct mf_feature *mf_feature_q5_k(void);
MF_API const struct mf_feature *mf_feature_q6_k(void);
MF_API const struct mf_feature *mf_feature_iq1_s(void);
MF_API const struct mf_feature *mf_feature_iq1_m(void);
MF_API const struct mf_feature *mf_feature_iq2_xxs(void);
MF_API const struct mf_feature *mf_feature_iq2_xs(void);
MF_API const struct mf_feature *mf_feature_iq2_s(void);
MF_API const struct mf_feature *mf_feature_iq3_xxs(void);
MF_API const struct mf_feature *mf_feature_iq3_s(void);
MF_API const struct mf_feature *mf_feature_tq1_0(void);
MF_API const struct mf_feature *mf_feature_tq2_0(void);
MF_API const struct mf_feature *mf_feature_mxfp4(void);
MF_API const struct mf_feature *mf_feature_nvfp4(void);
MF_API const struct mf_feature *mf_feature_q1_0(void);
MF_API const struct mf_feature *mf_feature_q2_0(void);
MF_API const struct mf_feature *mf_feature_apr_q4(void);
MF_API const struct mf_feature *mf_feature_apr_q8(void);
MF_API const struct mf_feature *mf_feature_iq4_nl(void);
MF_API const struct mf_feature *mf_feature_iq4_xs(void);

/* ---- Detection ----------------------------------------------------------- */

struct mf_detection {
    const char
        *format; /* "gguf", "apr", "safetensors", or another kind of file */
    const char
        *variant;     /* a dialect ("index", "v1", ...); "" for the usual one */
    const char *note; /* what the file is and what to do with it, or "" */
    uint32_t version, version_minor; /* 0 if the format has no version */
    enum mf_byte_order byte_order;
    bool supported; /* mf_model_open can read it */
    uint64_t size;  /* of the file */
    uint64_t room[4];
};

/* Detects the format from the bytes of a file, never from its name: one open,
 * one read of 64 bytes at the start and at most one at the end. For other known
 * formats (zip, HTML, a Git LFS pointer, ...) it returns MF_OK with supported =
 * false; for unknown bytes MF_ERR_FORMAT. The strings of out are static. */
MF_API enum mf_status mf_file_detect(struct mf_env *env, const char *path,
                                     struct mf_detection *out);

/* The same from the first size bytes of a file of file_size bytes; 64 are
 * enough for most formats. MF_NEED_MORE says how many are, as
 * mf_model_open_memory does. */
MF_API enum mf_status mf_bytes_detect(struct mf_env *env, const void *bytes,
                                      size_t size, uint64_t file_size,
                                      struct mf_detection *out);

/* ---- Models -------------------------------------------------------------- */

struct mf_model;

/* Which other files are opened when a path names one file of a model. */
enum mf_shards {
    MF_SHARDS_AUTO, /* all shards of a split GGUF, of an index.json, of a folder
                     */
    MF_SHARDS_ALONE,  /* this file only */
    MF_SHARDS_BY_NAME /* also for a safetensors shard: from the index.json in
                         its folder that lists it, else from its
                         "-00001-of-00005" name. For writing the model: no part
                         of it is missed */
};

/* All zero is the default. */
struct mf_open_options {
    size_t size;        /* of this struct: see above */
    bool metadata_only; /* do not read the tensor index if the format keeps it
                           apart */
    enum mf_shards shards;
    size_t findings_max; /* findings to keep; further ones are only counted. 0:
                            MF_FINDINGS_MAX */
    /* Of a pickle that names classes or functions of other programs (whole
     * modules, TorchScript), take only the tensors, which need none: they have
     * the names of state_dict(), and there is no metadata. The finding stays,
     * and no longer keeps the model from being written. Other formats are read
     * as always. */
    bool tensors_only;
    /* What needs all of a model (its digest, comparing, copying and quantizing
     * it) goes on without what mf_missing_at names; else it ends with
     * MF_ERR_UNSUPPORTED, for the reason "DATA-MISSING". */
    bool allow_missing;
    /* A config.json of Hugging Face, or a folder that has one but no model, is
     * a model without tensors, for mf_plan alone. */
    bool bare; /* not from memory or a descriptor */
    /* Of mf_model_open_memory: the bytes are only the beginning of a file of
     * this size. 0: they are all of it. */
    uint64_t file_size;
};

/* Opens a file, a split model from any of its shards, a safetensors index.json,
 * or a folder that contains exactly one model. Close *out with mf_model_close.
 * options may be NULL: all defaults. Fails only if the rest of the header
 * cannot be read; everything else that is wrong is a finding of the model
 * (mf_finding_at), so that a damaged file can still be shown. Never writes. A
 * file with an interrupted edit (see mf_file_edit) is read as if the edit were
 * complete, if its journal can be trusted; the env's pending_edit function and
 * mf_model_info report it. */
MF_API enum mf_status mf_model_open(struct mf_env *env, const char *path,
                                    const struct mf_open_options *options,
                                    struct mf_model **out);

/* Opens a file in memory, with MF_SHARDS_ALONE. bytes must stay readable and
 * unchanged until mf_model_close. name is for messages, and is copied.
 *
 * With the option file_size, bytes are the beginning of a larger file, such as
 * a program gets over a network. If the header is not in them, MF_NEED_MORE
 * says how many bytes it takes at least to get further (mf_error.needed); for a
 * format with an index at its end that is the whole file. Twice as many the
 * next time is a good choice. What comes after the header, tensor data and long
 * arrays of metadata, is needed when it is asked for. */
MF_API enum mf_status
mf_model_open_memory(struct mf_env *env, const char *name, const void *bytes,
                     size_t size, const struct mf_open_options *options,
                     struct mf_model **out);

/* Opens a regular file that is open for reading, a memfd too, with
 * MF_SHARDS_ALONE. It stays open, until mf_model_close at least. name is for
 * messages, and is copied. */
MF_API enum mf_status mf_model_open_fd(struct mf_env *env, const char *name,
                                       int fd,
                                       const struct mf_open_options *options,
                                       struct mf_model **out);

/* Bytes that a program brings: from a network, an archive, a store that is
 * encrypted. */
struct mf_byte_source {
    size_t size;      /* of this struct: see above */
    const char *name; /* "model.gguf", also with folders in front; copied */
    uint64_t bytes;   /* how many there are, which stays so */
    /* Reads at most count bytes at offset into buffer, which is within bytes.
     * Returns how many, at least one, or a negative number of errno; -ECANCELED
     * ends the call with MF_ERR_STOPPED. Called in any thread of a call with
     * the env, and in several at once. */
    int64_t (*read)(void *user, uint64_t offset, void *buffer, size_t count);
    void *user;
    /* Fills in *out for another file: a shard, or one next to the model such as
     * config.json. It has this file's name with another last component. Of the
     * new source name and open do not count. Returns 0, or a number of errno,
     * ENOENT if there is no such file. What it opened is closed, even if it
     * cannot be used. Folders cannot be listed: the index.json of a shard is
     * not looked for, and further chat templates in a folder of their own are
     * not found. NULL: there are no other files. */
    int (*open)(void *user, const char *name, struct mf_byte_source *out);
    /* When the bytes are no longer needed; in the thread of the call. NULL: not
     * called. */
    void (*close)(void *user);
    /* read, open and expect of this source, and of those that it opens, are
     * called by one thread at a time. */
    bool one_at_a_time;
    /* These bytes, within all of them, will be read one after the other: a
     * source that fetches them can do so at once. NULL: not called. */
    void (*expect)(void *user, uint64_t offset, uint64_t size);
    /* Two sources with the same two numbers have the same bytes, in another
     * process, too: work that goes on after a stop (mf_convert_options.resume)
     * does not read again what is done. Both 0: unknown. */
    uint64_t version[2];
};

/* Opens a model of such files, and no file on the disk. The source is closed
 * once, by mf_model_close or because of an error; but not after
 * MF_ERR_ARGUMENT. */
MF_API enum mf_status
mf_model_open_source(struct mf_env *env, const struct mf_byte_source *source,
                     const struct mf_open_options *options,
                     struct mf_model **out);

/* NULL is allowed. */
MF_API void mf_model_close(struct mf_model *model);

struct mf_model_info {
    const char *format, *variant; /* as in struct mf_detection */
    uint32_t version, version_minor;
    enum mf_byte_order byte_order;
    bool fastest_first; /* shapes begin with the contiguous dimension (GGUF) */
    bool has_tensors;   /* the tensor index was read; see metadata_only */
    size_t tensor_count, metadata_count, shard_count;
    uint64_t file_size;   /* of all shards together */
    uint64_t data_offset; /* of the tensor data in the first shard */
    uint64_t data_size;   /* sum of the tensors' bytes */
    uint64_t parameters;  /* sum of the tensors' elements */
    uint64_t alignment;   /* of tensor offsets; 1: not aligned */
    size_t error_count, warning_count, note_count; /* findings, kept or not */
    bool pending_edit;    /* a file is read through the journal of an edit */
    size_t missing_count; /* for mf_missing_at */
};

/* Valid until mf_model_close. */
MF_API const struct mf_model_info *mf_model_info(const struct mf_model *model);

struct mf_shard {
    const char *path; /* as opened; terminated */
    uint64_t size, data_offset;
    size_t tensor_count;
    uint64_t room[4];
};

/* False, and out unchanged, unless index < shard_count. */
MF_API bool mf_shard_at(const struct mf_model *model, size_t index,
                        struct mf_shard *out);

/* The descriptor that the model reads the shard with, whatever its path names
 * by now: for mmap (PROT_READ), pread, fstat and dup. It belongs to the model,
 * which closes it in mf_model_close, even if a reader is still open; what was
 * mapped or duplicated stays. Do not close, write, lock or change it. A file
 * that shrinks while it is mapped makes reading fault; mf_model_unchanged says
 * whether it was written to since it was opened. Of mf_model_open_fd the
 * program's own. -1: the shard is not a file (memory, a source), or index is
 * not below shard_count. */
MF_API int mf_shard_fd(const struct mf_model *model, size_t index);

/* ---- Tensors ------------------------------------------------------------- */

#define MF_RANK_MAX 64 /* tensors with more dimensions are refused */

enum mf_tensor_flag {
    MF_TENSOR_DAMAGED = 1, /* a finding says that its offset or size is wrong:
                              do not read its data */
    MF_TENSOR_SIZE_INFERRED =
        2, /* unknown type: its data ends at the next tensor */
    MF_TENSOR_PACKED =
        4, /* its storage is compressed: data.offset is where that
              begins, data.size the size once it is unpacked */
    MF_TENSOR_STRIDED = 8, /* its elements are not one after the other:
                              data.offset is where the first one is */
    MF_TENSOR_SWAPPED = 64 /* the file has its numbers in big-endian order; not
                              set where both orders have the same bytes */
};

#define MF_NO_STORAGE SIZE_MAX

struct mf_tensor {
    struct mf_str name;  /* terminated; may contain a NUL */
    char type[24];       /* "f32", "q4_k"; "type_1234" if unknown */
    uint32_t type_id;    /* the format's own number; 0 if it has no numbers */
    uint32_t rank;       /* 0: a scalar */
    const uint64_t *dim; /* rank numbers, in the order of the file */
    uint64_t parameters; /* product of dim; 0 if it overflows */
    struct mf_span data; /* in the shard's file, from its start */
    uint32_t shard;
    unsigned flags;         /* enum mf_tensor_flag, or-ed */
    const uint64_t *stride; /* MF_TENSOR_STRIDED: of each dimension, in
                               elements; else NULL */
    size_t storage; /* that it lies in, for mf_storage_at; MF_NO_STORAGE where
                       the format has no storages */
    uint64_t room[4];
};

/* The tensors in the order of the file's index. False unless index <
 * tensor_count. Constant time, no allocation. */
MF_API bool mf_tensor_at(const struct mf_model *model, size_t index,
                         struct mf_tensor *out);

/* The same for many at once, where a call is slow: at most count tensors from
 * index first on. Returns how many there were, 0 from tensor_count on; the rest
 * of out is unchanged. No allocation. */
MF_API size_t mf_tensors_at(const struct mf_model *model, size_t first,
                            size_t count, struct mf_tensor *out);

/* The dimensions of a tensor in one order for all formats: from the slowest to
 * the one that varies fastest in memory, as struct mf_new_tensor takes them,
 * and numpy. Returns the rank; 0 if an argument is NULL. */
MF_API uint32_t mf_tensor_shape(const struct mf_model *model,
                                const struct mf_tensor *tensor,
                                uint64_t shape[MF_RANK_MAX]);

/* A tensor, or a member of an archive, that the file has and that is not read:
 * it is damaged, or of a kind that is not supported. It is not among the
 * tensors; a finding has the details. */
struct mf_missed {
    struct mf_str name; /* terminated; as a tensor's, or a member's */
    const char *reason; /* why not: "a sparse tensor" */
    uint32_t shard;
    uint32_t room;
};

/* In the order of the file. False unless index < missing_count. */
MF_API bool mf_missing_at(const struct mf_model *model, size_t index,
                          struct mf_missed *out);

/* Bytes that tensors lie in: a member of an archive.  Several tensors can share
 * one. */
struct mf_storage {
    struct mf_str name;  /* of the member; terminated */
    struct mf_span data; /* in the shard's file, as it is there */
    uint64_t size;       /* unpacked */
    const char *method;  /* "stored" or "deflated" */
    uint32_t shard;
    size_t tensor_count; /* that lie in it */
    uint64_t room[4];
};

/* The storages in the order of the file; those without tensors are other
 * members. False after the last one. */
MF_API bool mf_storage_at(const struct mf_model *model, size_t index,
                          struct mf_storage *out);

/* The same tensors, in the order of their data, shard by shard. */
MF_API bool mf_tensor_by_offset(const struct mf_model *model, size_t index,
                                struct mf_tensor *out);

enum mf_order {
    MF_ORDER_SIZE,  /* largest first, then by index */
    MF_ORDER_NAME,  /* by the bytes of the names */
    MF_ORDER_OFFSET /* shard by shard */
};

/* Sorts tensor indices, each of them below tensor_count, in O(n log n) steps
 * without allocation. */
MF_API void mf_tensor_sort(const struct mf_model *model, enum mf_order order,
                           uint32_t *index, size_t count);

/* Finds a tensor by its name, with one hash and no allocation; false if there
 * is no such tensor. If a damaged file has a duplicate name, finds the first
 * one. at gets the index; it may be NULL. */
MF_API bool mf_tensor_find(const struct mf_model *model, const char *name,
                           size_t name_size, struct mf_tensor *out, size_t *at);

/* ---- Tables -------------------------------------------------------------- */

/* A Parquet file is a table, not a model: it has no tensors, but columns. */
struct mf_table_info {
    uint64_t rows, group_count;
    size_t column_count, chunk_count;
    uint64_t bytes, unpacked; /* of all chunks, as they are in the file and
                                 without compression */
    struct mf_str created_by; /* terminated; empty where it is not stated */
    uint64_t room[4];
};

/* False where the model is not a table. */
MF_API bool mf_model_table(const struct mf_model *model,
                           struct mf_table_info *out);

/* A column with values: a leaf of the schema. */
struct mf_column {
    struct mf_str path;    /* names from the outermost on, joined by dots */
    const char *physical;  /* "INT64", "BYTE_ARRAY", ... */
    struct mf_str logical; /* "STRING", "DECIMAL(10,2)", ...; may be empty */
    bool optional, repeated;
    uint64_t room[4];
};

MF_API bool mf_column_at(const struct mf_model *model, size_t index,
                         struct mf_column *out);

/* The values of one column in one group of rows. */
struct mf_column_chunk {
    uint32_t column; /* for mf_column_at */
    uint32_t group;  /* from 0 on */
    const char *codec;
    uint32_t encodings;     /* bits; see mf_encoding_name */
    uint64_t values, nulls; /* nulls: UINT64_MAX where it is not stated */
    struct mf_span data;
    uint64_t unpacked;
    uint64_t room[4];
};

/* In the order of the file's index, group by group. */
MF_API bool mf_column_chunk_at(const struct mf_model *model, size_t index,
                               struct mf_column_chunk *out);

/* Sorts chunk indices as mf_tensor_sort sorts tensors; a chunk's name is its
 * column's path. */
MF_API void mf_column_chunk_sort(const struct mf_model *model,
                                 enum mf_order order, uint32_t *index,
                                 size_t count);

/* What a bit of mf_column_chunk.encodings means, from 0 on; NULL after the
 * last. */
MF_API const char *mf_encoding_name(const struct mf_model *model, unsigned bit);

struct mf_tensor_stats {
    uint64_t count; /* finite numbers; of these: */
    double min, max, mean, std, l2;
    uint64_t zeros, nans, infinities;
    /* Min and max as numbers of that type, which are exact where a double is
     * not: MF_VALUE_I64 and MF_VALUE_U64 of integers, bools among them,
     * MF_VALUE_F64 of f64, MF_VALUE_F32 of all others. */
    enum mf_value_type kind;
    union mf_number least, greatest;
    uint64_t room[4];
};

/* Computes statistics of the numbers of tensors, on all threads and in bounded
 * memory: out[i] is for tensor index[i]. Integers are summed up exactly, and
 * rounded once; f64 is computed as such; others as the f32 that they decode to.
 */
MF_API enum mf_status mf_tensor_stats(struct mf_model *model,
                                      const size_t *index, size_t count,
                                      struct mf_tensor_stats *out);

/* The numbers of a tensor by sign and exponent. Magnitudes from 2^(first + i)
 * on and below 2^(first + i + 1) are counted in entry i: of numbers below zero
 * in negative, above zero in positive. The first and the last entry are not
 * both zero; subnormal numbers have exponents of their own, down to -149 of f32
 * and -1074 of f64. stats has what is in no entry: zeros, NaN and infinite
 * values.
 *
 * A row is numbers that are adjacent along the contiguous dimension, and a
 * scalar is one. 0 and -0 are equal, NaN is equal to nothing. */
struct mf_tensor_histogram {
    struct mf_tensor_stats stats;
    int first;
    size_t bins; /* entries of both; 0 if no number is finite and not zero */
    const uint64_t *negative, *positive;
    uint64_t rows;
    uint64_t zero_rows;     /* all numbers are zero */
    uint64_t constant_rows; /* all numbers are equal, and not zero */
    /* The least power of two that is at least six standard deviations, and how
     * many finite numbers have a magnitude of at least that, exactly. 0 of both
     * if all numbers are equal; infinite if no double is as large. */
    double beyond;
    uint64_t outliers;
    uint64_t room[4];
};

/* Computes what mf_tensor_stats does, and histograms, from one pass over the
 * data, and calls each in the order of index: number i is for tensor index[i].
 * The histogram lives until each returns. If a file's status has changed
 * meanwhile, all tensors are measured and passed on again, from number 0 on:
 * the last call for a number counts. */
MF_API enum mf_status
mf_tensor_histograms(struct mf_model *model, const size_t *index, size_t count,
                     void (*each)(void *user, size_t number,
                                  const struct mf_tensor_histogram *histogram),
                     void *user);

/* ---- Reading ------------------------------------------------------------- */

/* What elements become. */
enum mf_read_as {
    /* What they are: numbers of the tensor's type in the order of the machine,
     * or blocks, of which first and count have to be whole ones; the last one
     * of a tensor may lack some elements. */
    MF_READ_OWN,
    MF_READ_F32, /* what convert and dequantize make of them: integers and f64
                    are rounded, and too large ones become infinite */
    MF_READ_F64, /* exact, but for integers of more than 53 bits */
    MF_READ_I64  /* of integers and bools alone, and exact */
};

/* Reads count elements from element `first` on, in the order in which the last
 * dimension varies fastest (the first one, where mf_model_info says
 * fastest_first), whatever their order in the file.  out is aligned for its
 * numbers and has room for count of them; after an error it has any bytes.
 * Scales that other tensors hold, as in folders with FP8 weights, are not
 * applied.  The first call allocates a reader, which the model keeps, and later
 * ones nothing.  A tensor that is damaged, of an unknown type, or of one that
 * cannot be decoded is refused.  */
MF_API enum mf_status mf_tensor_read(struct mf_model *model, size_t index,
                                     uint64_t first, uint64_t count,
                                     enum mf_read_as as, void *out);

/* Reads bytes of the tensor, of which it has mf_tensor.data.size: those that a
 * little-endian file without packing and strides would have.  So it reads
 * tensors of unknown types, too, unless the file is big-endian: their bytes
 * cannot be swapped. */
MF_API enum mf_status mf_tensor_bytes(struct mf_model *model, size_t index,
                                      uint64_t offset, size_t size, void *out);

/* Reads for one thread.  Several threads may read tensors of a model at once,
 * each with a reader of its own, while no other call with its env is made:
 * _open and _close are such calls, for before the threads and after them.
 * Nothing is allocated after _open; but for packed tensors the model keeps what
 * it unpacked, which the threads share. */
struct mf_tensor_reader;

MF_API enum mf_status mf_tensor_reader_open(struct mf_model *model,
                                            struct mf_tensor_reader **out);

/* As mf_tensor_read and mf_tensor_bytes; errors are in
 * mf_tensor_reader_error. */
MF_API enum mf_status mf_tensor_reader_read(struct mf_tensor_reader *reader,
                                            size_t index, uint64_t first,
                                            uint64_t count, enum mf_read_as as,
                                            void *out);
MF_API enum mf_status mf_tensor_reader_bytes(struct mf_tensor_reader *reader,
                                             size_t index, uint64_t offset,
                                             size_t size, void *out);

/* As mf_env_error. */
MF_API const struct mf_error *
mf_tensor_reader_error(const struct mf_tensor_reader *reader);

/* Also after mf_model_close, from which on nothing is read, and mf_env_free.
 * NULL is allowed. */
MF_API void mf_tensor_reader_close(struct mf_tensor_reader *reader);

/* MF_OK if all files of the model are those that were opened, byte for byte as
 * far as the system tells: for after reading, as a file that was written to
 * meanwhile gives old and new bytes. */
MF_API enum mf_status mf_model_unchanged(struct mf_model *model);

/* Bytes of a file that another program can map or read. */
struct mf_file_span {
    uint32_t shard;
    const char *path; /* of the shard, as opened; terminated. By now another
                         file may have it: mf_shard_fd is the one to map */
    struct mf_span data;
    uint64_t room[4];
};

/* Where the tensor's bytes are, if a file has them as mf_tensor_bytes reads
 * them: false if they are packed, strided or swapped, damaged, partly in the
 * journal of an edit, or not in a file. */
MF_API bool mf_tensor_place(const struct mf_model *model, size_t index,
                            struct mf_file_span *out);

/* ---- Metadata ------------------------------------------------------------ */

struct mf_meta {
    struct mf_str key; /* terminated; may contain a NUL */
    enum mf_value_type type;
    enum mf_value_type of; /* of an array's elements */
    uint64_t count;        /* elements of an array, members of an object,
                              bytes of a string as decoded */
    union mf_number number;
    struct mf_str text;  /* a string of at most 1024 bytes, terminated. at is
                            NULL for a longer one: use mf_values_open */
    struct mf_span span; /* of the value in the file */
    uint32_t shard;
    uint32_t room;
};

/* Metadata keys and values in the order of the file. False unless index <
 * metadata_count. No allocation. The second finds a key, as mf_tensor_find
 * finds a tensor. */
MF_API bool mf_meta_at(const struct mf_model *model, size_t index,
                       struct mf_meta *out);
MF_API bool mf_meta_find(const struct mf_model *model, const char *key,
                         size_t key_size, struct mf_meta *out, size_t *at);

/* At most count of them from index first on, as mf_tensors_at. */
MF_API size_t mf_metas_at(const struct mf_model *model, size_t first,
                          size_t count, struct mf_meta *out);

/* Array elements, nested values and long strings are read as events, in bounded
 * memory whatever the size of the value. A scalar is one ITEM. An array is
 * BEGIN, its elements, END. An object is BEGIN, then a KEY and a value for each
 * member, END. A long KEY or string ITEM comes in several events, all but the
 * last with more = true; no piece splits a UTF-8 character. */
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
    enum mf_value_type of; /* BEGIN of an array, if known before its elements */
    uint64_t count;        /* likewise */
    union mf_number number;
    struct mf_str text; /* KEY and string ITEM: this piece; a JSON number: its
                           digits as written.  Valid until the next call. */
    bool more;
    uint64_t room[4];
};

struct mf_values;

/* Starts reading the metadata value with this index. Close *out with
 * mf_values_close; once the model is closed nothing more is read. */
MF_API enum mf_status mf_values_open(struct mf_model *model, size_t index,
                                     struct mf_values **out);
MF_API enum mf_status mf_values_next(struct mf_values *values,
                                     struct mf_value *out);
MF_API void mf_values_close(struct mf_values *values);

/* An array of metadata in memory, such as a vocabulary. */
struct mf_array {
    enum mf_value_type of;
    size_t count;
    /* Of MF_VALUE_STRING struct mf_str, terminated; else numbers of the C type:
     * uint8_t .. int64_t, float, double, bool. The texts are in one piece and
     * in order, with nothing but one NUL after each: all of them can be taken
     * as the bytes from the first one's at to the last one's NUL. A text may
     * contain a NUL of its own, so sizes tell where one ends. */
    const void *elements;
};

/* Reads all elements of the array with this index. In JSON an array has no
 * type: numbers of several kinds become the smallest of i64, u64 and f64 that
 * holds them exactly.  MF_ERR_UNSUPPORTED if elements are arrays or objects, or
 * have no common type: use mf_values_open.  Free *out with mf_array_free,
 * before the env. */
MF_API enum mf_status mf_values_read(struct mf_model *model, size_t index,
                                     const struct mf_array **out);
MF_API void mf_array_free(const struct mf_array *array);

/* What people ask about a model, wherever its format keeps it. */
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
    MF_FACT_EXPERT_COUNT,
    MF_FACT_EXPERT_USED_COUNT, /* of them, for each token */
    MF_FACT_SLIDING_WINDOW,    /* tokens that blocks with a window look back */
    /* Which blocks have that window: an array with a value for each, or a
     * number N for all but every Nth. */
    MF_FACT_SLIDING_WINDOW_PATTERN,
    MF_FACT_STATE_SIZE, /* numbers that a recurrent block keeps of a channel */
    MF_FACT_COUNT
};

/* "architecture", "context_length", ...: the key that JSON output uses. */
MF_API const char *mf_fact_name(enum mf_fact fact);

/* False if the file lacks it. out gets the metadata that has it; if that is an
 * array (heads per layer, a vocabulary), its count is the length, and at the
 * index for mf_values_open. at may be NULL. */
MF_API bool mf_model_fact(const struct mf_model *model, enum mf_fact fact,
                          struct mf_meta *out, size_t *at);

/* How much of a GGUF file mf_model_outline makes. */
enum mf_outline {
    MF_OUTLINE_FACTS, /* what mf_model_fact finds, but for name, license and
                         file type: reads config.json, no tokenizer, no data */
    MF_OUTLINE_HEADER /* all keys and tensors, without the vocabulary and what
                         only describes the model */
};

/* The GGUF file that mf_model_convert makes of a folder of Hugging Face, as a
 * model in memory, to be closed like any other. MF_OK with *out = NULL if the
 * model is not such a folder: then its facts are its own. What cannot be
 * converted is an error that says why. The size of the vocabulary comes
 * from the embeddings; it is missing where only the tokenizer has it. */
MF_API enum mf_status mf_model_outline(struct mf_model *model,
                                       enum mf_outline what,
                                       struct mf_model **out);

/* What a LoRA adapter says about itself: a GGUF file, or safetensors with the
 * adapter_config.json of PEFT next to them. */
struct mf_adapter_info {
    bool found;    /* the model is an adapter */
    char kind[64]; /* "lora"; another peft_type of adapter_config.json; or "" */
    size_t pairs;  /* tensors of the model that a pair of matrices changes */
    size_t whole;  /* tensors that take the place of the model's */
    uint64_t rank_min, rank_max; /* of pairs; 0: none has one */
    bool has_alpha, has_scale;   /* a finite number is given */
    double alpha;
    double scale_min, scale_max; /* of the pairs' products: alpha / rank, or
                                    what the configuration says */
    char base_model[256];        /* what it was trained on; "": unknown */
    uint64_t room[4];
};

/* found = false, and MF_OK, if the model is not an adapter. A configuration
 * that is not JSON is an error. */
MF_API enum mf_status mf_model_adapter_info(struct mf_model *model,
                                            struct mf_adapter_info *out);

/* ---- Findings ------------------------------------------------------------ */

enum mf_severity { MF_NOTE, MF_WARNING, MF_ERROR };

/* "note", "warning", "error". */
MF_API const char *mf_severity_name(enum mf_severity severity);

/* Readers of models. */
enum mf_readers {
    MF_READER_SPEC = 1,         /* any that follows the specification */
    MF_READER_LLAMA = 2,        /* llama.cpp v0.5.0, which reads GGUF */
    MF_READER_TRANSFORMERS = 4, /* transformers, which reads safetensors */
    MF_READERS_ALL = 7
};

/* "spec", "llama.cpp", "transformers", "all"; NULL for other numbers. */
MF_API const char *mf_readers_name(enum mf_readers reader);

#define MF_FINDINGS_MAX 1000 /* kept unless findings_max differs */

struct mf_finding {
    const char *rule; /* "TENSOR-BOUNDS": stable, static */
    enum mf_severity severity;
    enum mf_severity usual; /* what severity is without mf_validate_options */
    uint64_t offset;        /* in the shard's file, or MF_NO_OFFSET */
    uint32_t shard;
    uint32_t room;
    struct mf_str
        tensor; /* the tensor it is about; at is NULL if it is not about one */
    const char *message; /* as in struct mf_error */
};

/* The findings in the order in which they were made; false after the last one
 * kept. mf_model_open makes those that it sees while reading; mf_model_validate
 * adds the rest. */
MF_API bool mf_finding_at(const struct mf_model *model, size_t index,
                          struct mf_finding *out);

/* What a finding is about: its tensor, or else what its message quotes first,
 * such as a metadata key or a member of an archive, as it is in the message; at
 * is NULL if it quotes nothing. Rule and subject stay the same when the file is
 * edited elsewhere, unlike offsets and numbers. Not terminated; it lives as
 * long as the finding's tensor and message. */
MF_API struct mf_str mf_finding_subject(const struct mf_finding *finding);

/* Checks everything that the header shows: what the architecture needs, the
 * tokenizer, the layout. Adds findings, and updates their counts in
 * mf_model_info; a second call adds nothing. Reads no tensor data. */
MF_API enum mf_status mf_model_validate(struct mf_model *model);

/* Also reads the data of all tensors once, on the env's threads, in buffers of
 * at most 3 MiB in total: NaN and infinite values and block scales, tensors of
 * zeros, padding, checksums. Nothing is decoded. */
MF_API enum mf_status mf_model_validate_data(struct mf_model *model);

struct mf_validate_options {
    size_t size;      /* of this struct: see above */
    uint32_t readers; /* of enum mf_readers: those that have to read the model.
                         0: all, which leaves out what mf_rule_info.when_asked
                         says. Otherwise such a breach is an error, and an error
                         that does not break any of them is a note */
    bool data;        /* as mf_model_validate_data */
    bool require_known; /* an unknown architecture is an error */
    /* Of mf_model_outline, with MF_OUTLINE_HEADER, or NULL: what llama.cpp's
     * loader would refuse in that file is found as well. A warning. */
    struct mf_model *outline;
};

/* The same with options, which may be NULL. Each call judges all findings
 * again. MF_ERR_UNSUPPORTED if none of the readers reads the model's format. */
MF_API enum mf_status
mf_model_validate_with(struct mf_model *model,
                       const struct mf_validate_options *options);

/* How much of a model was checked. The first five add up to file_bytes. */
struct mf_coverage {
    uint64_t header_bytes, tensor_bytes, padding_bytes, footer_bytes;
    uint64_t gap_bytes; /* of no sound tensor, and no padding */
    uint64_t file_bytes, checked_bytes;
    size_t rule_count, applied_count;
    uint32_t readers; /* of enum mf_readers, that it was judged for */
    uint64_t room[4];
};

/* False, and out unchanged, if an argument is NULL. */
MF_API bool mf_model_coverage(const struct mf_model *model,
                              struct mf_coverage *out);

/* Why the rule with that id could not be applied to the model: static text such
 * as "no tensors". NULL: it was applied. */
MF_API const char *mf_rule_skipped(const struct mf_model *model,
                                   const char *rule);

struct mf_rule_info {
    const char *id;            /* "TENSOR-BOUNDS" */
    enum mf_severity severity; /* of the usual case */
    uint32_t room;
    const char *meaning; /* in a line */
    uint32_t readers;    /* of enum mf_readers: those that an error breaks */
    bool when_asked; /* an error only for a reader that is asked for, for which
                        a breach of the usual severity is one */
};

/* All rules: index from 0 until it returns false. */
MF_API bool mf_rule_at(size_t index, struct mf_rule_info *out);

/* An attack on a reader of models, or a crash of one, that a file was made for.
 */
struct mf_attack_info {
    const char *id;      /* "CVE-2024-23496", "llama.cpp #24759" */
    const char *rule;    /* the id of the rule that finds such a file */
    const char *meaning; /* what happened, in a line */
    uint64_t room[4];
};

/* All of them, one rule each: index from 0 until it returns false. An id with
 * several rules comes several times. */
MF_API bool mf_attack_at(size_t index, struct mf_attack_info *out);

/* Whether a finding is what such a file has: the rule, the field and a value in
 * the range that did the harm. It does not say who made the file. format is the
 * model's, NULL if it could not be opened; of an error, rule and message make a
 * finding. */
MF_API bool mf_attack_fits(size_t index, const char *format,
                           const struct mf_finding *finding);

/* ---- Writing ------------------------------------------------------------- */

/* Where a program takes what is written, in place of files. Functions return 0
 * or a number of errno; ECANCELED ends the call with MF_ERR_STOPPED. */
struct mf_output_ops {
    size_t size; /* of this struct: see above */
    /* A file of so many bytes begins; its name is the path of the call, or a
     * shard's. What *file gets is passed to the others. NULL: not called. */
    int (*begin)(void *user, const char *name, uint64_t bytes, void **file);
    /* Takes count bytes at offset. With read, in any order and from several
     * threads at once, and some of them again; else from the first byte to the
     * last, by one thread at a time. */
    int (*write)(void *user, void *file, uint64_t offset, const void *bytes,
                 size_t count);
    /* Gives back what was written. NULL: it cannot be had. */
    int (*read)(void *user, void *file, uint64_t offset, void *bytes,
                size_t count);
    /* The file is whole; or, if complete is false, it is given up. Called once
     * for each that began. NULL: not called. */
    int (*end)(void *user, void *file, bool complete);
    void *user;
};

/* A change of one metadata key: sets it, or removes it if unset. */
struct mf_edit {
    const char *key;
    bool unset;
    /* The new value. elements belong to an array: struct mf_str for strings,
     * else union mf_number. */
    enum mf_value_type type, of;
    union mf_number number;
    struct mf_str text;
    uint64_t count;
    const void *elements;
};

/* Which names tensors get. */
enum mf_naming {
    MF_NAMING_KEEP, /* the ones they have */
    MF_NAMING_GGUF, /* llama.cpp's: "blk.0.attn_q.weight" */
    MF_NAMING_HF, /* Hugging Face's: "model.layers.0.self_attn.q_proj.weight" */
    /* The names that make the file usable: MF_NAMING_GGUF where a Hugging Face
     * folder or an adapter becomes GGUF, which without names and metadata from
     * config.json no program loads; else MF_NAMING_KEEP */
    MF_NAMING_AUTO
};

/* All zero is the default. */
struct mf_convert_options {
    size_t size;        /* of this struct: see above */
    const char *format; /* "gguf", "apr", "safetensors"; NULL: by the suffix of
                           the path, else the format of the model */
    /* Type of float tensors: "f32", "f16", "bf16"; with the last two, norms and
     * biases are f32 in GGUF.  NULL: unchanged, but norms and biases are f32 in
     * GGUF with MF_NAMING_GGUF.  "keep": all unchanged. */
    const char *type;
    bool dequantize; /* quantized tensors, too, become that type.  Weights of a
                        compressed Hugging Face checkpoint do so with any type
                        but "keep" */
    /* Write NaN and infinite values, also those that come from numbers out of
     * the range of the new type. Without it they are refused wherever numbers
     * change their type, and in GGUF and APR, where mf_model_validate_data
     * reports them as errors. */
    bool allow_nonfinite;
    bool replace; /* overwrite an existing file */
    bool lossy;   /* drop what the format cannot carry */
    bool dry_run; /* fill in the result, but write nothing */
    /* Several files, PREFIX-00001-of-00005.SUFFIX: each with at most so many
     * bytes of tensor data (a larger tensor gets a file of its own), or so many
     * tensors. 0: no limit. */
    uint64_t shard_size, shard_tensors;
    bool empty_first; /* the first of them has only metadata (GGUF) */
    /* Remove the model's files once the new file is on disk. */
    bool delete_inputs;
    uint64_t reserve; /* free bytes in the header, for later edits */
    uint32_t version; /* of the format; 0: the model's if it has this format,
                         else the usual one */
    const struct mf_edit *edits; /* applied in this order */
    size_t edit_count;
    /* Rename the tensors, and change everything that depends on the names: the
     * order of rows, experts in one tensor or several. What a model lacks is
     * taken from the config.json in its folder. Refused unless the new name of
     * every tensor is certain. */
    enum mf_naming names;
    unsigned unused; /* 0 */
    /* Keep what is written if the work is stopped, by an error or a kill, and
     * go on with what was kept of the same work: see mf_model_convert. */
    bool resume;
    /* A LoRA adapter, a folder or a GGUF file, that is added to the model:
     * W + lora_scale * alpha / rank * B A, summed in f32 and rounded to the
     * type of W.  Refused where something of it has no counterpart in the
     * model, or a tensor is quantized.  NULL: none. */
    const char *lora;
    double lora_scale; /* 0: 1 */
    /* Where the model is an adapter that becomes GGUF: the folder of the model
     * that it was made for.  NULL: the one that its configuration names. */
    const char *base;
    /* For a Hugging Face folder that becomes GGUF with MF_NAMING_GGUF; anything
     * else with one of these is refused. */
    const char *model_name; /* general.name; NULL: as the folder says */
    /* Path of a JSON object whose keys, "general.author" and the like, go
     * before the folder's, as llama.cpp's converter has them; or NULL */
    const char *metadata;
    bool vocab_only;             /* metadata and vocabulary, no tensors */
    bool without_mtp, only_mtp;  /* layers that predict more tokens at once */
    bool fuse_qkv, fuse_gate_up; /* tensors that some versions of llama.cpp
                                    load faster: one for two or three */
    bool fp8_as_q8;              /* tensors of 8-bit floats become q8_0 */
    /* In place of the model its image or audio encoder and projector, which
     * llama.cpp takes as a file of its own (--mmproj). */
    bool projector;
    /* For the same and for an adapter: a big-endian file, as llama.cpp's
     * converter writes it: elements of f32 and f16 are big-endian, tensors of
     * other types have the bytes of a little-endian file.  byte_order writes
     * what big-endian machines read. */
    bool big_endian;
    /* For a folder that becomes GGUF with MF_NAMING_GGUF: it has Mistral's own
     * format, a params.json and tensors with its names
     * (consolidated.safetensors) in place of config.json; and then, no chat
     * template of llama.cpp's, only one that the folder has. */
    bool mistral_format, no_community_template;
    /* Called for each tensor that is larger than shard_size: it gets a file of
     * its own.  NULL: not wanted */
    void (*exceeds)(void *user, struct mf_str tensor, uint64_t size);
    void *user;
    /* Where the output goes; NULL: to files. A folder has to be one of the
     * disk, and resume, delete_inputs and replace are about files. */
    const struct mf_output_ops *output;
    /* "big" or "little": the order of the numbers of a GGUF file, in its
     * metadata and in its tensors of any type.  NULL: the model's if it is
     * GGUF, else little. */
    const char *byte_order;
    /* Write only part `part`, from 1 to `parts`, of the output: see
     * mf_parts_finish.  0 and 0: all of it. */
    uint32_t part, parts;
};

#define MF_ASSUMED_MAX 16

struct mf_convert_result {
    const char *format;
    size_t file_count;
    uint64_t file_size;      /* all files together, but for a list of them */
    size_t left_out;         /* metadata that could not be carried */
    size_t tensors_left_out; /* tensors without a new name that were dropped */
    /* Of a GGUF file as a folder of Hugging Face: whether the way back would
     * give keys or tensors in another order, and how many more of them; and
     * whether it takes the option without_mtp. */
    bool reordered;
    size_t gained;
    bool back_without_mtp;
    /* Of it, too: names in config.json, with dots where they are in objects,
     * whose values are the usual ones of the family, because the GGUF file does
     * not hold the model's. Their text is never released. */
    struct mf_str assumed[MF_ASSUMED_MAX];
    size_t assumed_count;
    /* Of an adapter: pairs that PEFT scales by a factor of their own
     * (alpha_pattern, use_rslora), for which GGUF has no place. */
    size_t rescaled;
    /* Tensors of f64, or of integers, that became floats of fewer digits, and
     * how many numbers they have. */
    size_t rounded;
    uint64_t rounded_numbers;
    uint64_t room[4];
};

/* Writes the name of shard number (from 0) of count shards for a path into out,
 * which has room bytes: PREFIX-00001-of-00005.SUFFIX. False if it does not fit,
 * or the format is unknown. */
MF_API bool mf_shard_path(const char *path, const char *format, size_t number,
                          size_t count, char *out, size_t room);

/* Writes the model to path. Tensors are copied as bytes, metadata under the
 * keys that the format has for it; if nothing changes, the new file is the same
 * byte for byte. Refuses a model with errors, and a GGUF shard whose name does
 * not lead to the others, unless it was opened with MF_SHARDS_ALONE. Until it
 * returns MF_OK the old file is at path, afterwards the complete new one, on
 * disk. Refuses with MF_ERR_OUTPUT a path that is (by device and inode) a file
 * it reads: of the model, its index.json, a sidecar such as config.json, an
 * importance matrix. The same goes for mf_tensor_export and mf_model_quantize.
 * options and out may be NULL.
 *
 * With the option resume, what is written is kept in the folder of each file as
 * ".NAME.partial", and next to the first one ".NAME.resume" says how far it is.
 * The next call with resume goes on there: after a kill, at most 64 MiB are
 * written again. The files and the report of mf_model_quantize are the same as
 * after an uninterrupted call; the number of threads may differ. What was kept
 * is verified first. It is refused (MF_ERR_OUTPUT, NOT-RESUMABLE) if the input,
 * the importance matrix, the options or the library differ, or if a file was
 * changed; replace discards it, and starts from the beginning. Of two calls at
 * the same time the second is refused. An error that leaves something to go on
 * with makes mf_env_resumable true. */
MF_API enum mf_status mf_model_convert(struct mf_model *model, const char *path,
                                       const struct mf_convert_options *options,
                                       struct mf_convert_result *out);

struct mf_export_options {
    size_t size;  /* of this struct: see above */
    bool raw;     /* only the bytes of the tensor, whatever its type */
    bool replace; /* overwrite an existing file */
};

/* Writes one tensor as a numpy array (.npy, slowest dimension first), in the
 * way of mf_model_convert. It has the tensor's type if numpy has it, else f32.
 * options may be NULL. */
MF_API enum mf_status mf_tensor_export(struct mf_model *model, size_t index,
                                       const char *path,
                                       const struct mf_export_options *options);

/* ---- Editing ------------------------------------------------------------- */

struct mf_edit_options {
    size_t size;      /* of this struct: see above */
    uint64_t reserve; /* if the file is rewritten: free bytes in its header */
    bool dry_run;     /* fill in the result, but change nothing */
    bool force;       /* also make an edit that adds errors, or changes a file
                         under several names (hard links) */
};

struct mf_edit_result {
    bool in_place;    /* else the file was rewritten */
    bool journalled;  /* in place, with a journal */
    uint64_t changed; /* bytes written in place, or of the new file */
    uint64_t room[4];
};

/* Changes the metadata of a file. If the new header fits into the space of the
 * old one, only the bytes that differ are written, with a journal next to the
 * file, PATH.modelfile-edit: after a crash the file is read through the
 * journal, and the next edit or mf_file_recover completes the edit. Otherwise
 * the file is rewritten, as by mf_model_convert; so it is if the caller cannot
 * make a journal that others trust, because the file belongs to another user.
 * The file is locked (flock) from before it is read until the edit is on disk.
 * While another process has the lock, the env's progress function is called,
 * and after 10 seconds the edit fails with MF_ERR_OUTPUT. MF_ERR_UNSUPPORTED,
 * and nothing is changed, if mf_model_validate would find more errors of any
 * rule than before, unless it is forced. After MF_ERR_OUTPUT nothing was
 * changed, unless the message says so. No model of the file may be open in this
 * env. options and out may be NULL. */
MF_API enum mf_status mf_file_edit(struct mf_env *env, const char *path,
                                   const struct mf_edit *edits, size_t count,
                                   const struct mf_edit_options *options,
                                   struct mf_edit_result *out);

/* The same in steps, for a caller who reads the file before deciding on the
 * edits. From open to close no other editor changes it. */
struct mf_editor;

/* With dry_run nothing is locked and nothing is written. Free *out with
 * mf_editor_close. */
MF_API enum mf_status mf_editor_open(struct mf_env *env, const char *path,
                                     const struct mf_edit_options *options,
                                     struct mf_editor **out);

/* The file as it is now. The model belongs to the editor. */
MF_API struct mf_model *mf_editor_model(const struct mf_editor *editor);

/* Can succeed once: after MF_OK the editor's model is out of date. */
MF_API enum mf_status mf_editor_apply(struct mf_editor *editor,
                                      const struct mf_edit *edits, size_t count,
                                      struct mf_edit_result *out);

/* NULL is allowed. */
MF_API void mf_editor_close(struct mf_editor *editor);

enum mf_recovery {
    MF_RECOVERY_NONE,     /* the file has no journal */
    MF_RECOVERY_UNBEGUN,  /* no part of the edit was in the file, or is now */
    MF_RECOVERY_COMPLETE, /* the edit was already complete */
    MF_RECOVERY_FINISHED, /* the edit is complete now */
    MF_RECOVERY_FOREIGN   /* the journal was for another file */
};

struct mf_recover_options {
    size_t size; /* of this struct: see above */
    bool force;  /* also use a journal whose owner or mode cannot be trusted;
                    only for the file's owner and root */
};

struct mf_recover_result {
    enum mf_recovery found;
    uint64_t changed; /* bytes of the edit, if it was completed */
    uint64_t room[4];
};

/* Completes an interrupted edit of the file and removes its journal. A journal
 * is trusted if it is a regular file with one name and at most 256 MiB; belongs
 * to the file's owner, to root or to the caller; cannot be read or written by
 * anyone who must not read or write the file; has a valid checksum; and changes
 * only the header and a checksum at the end. Otherwise MF_ERR_OUTPUT, and
 * nothing is changed. options and out may be NULL. */
MF_API enum mf_status mf_file_recover(struct mf_env *env, const char *path,
                                      const struct mf_recover_options *options,
                                      struct mf_recover_result *out);

/* ---- Quantizing ---------------------------------------------------------- */

/* One type for all tensors whose name matches a pattern. */
struct mf_tensor_type {
    const char *pattern; /* a regular expression with the syntax of JavaScript;
                            it may match any part of the name */
    const char *type;    /* "q8_0" */
};

/* MF_ERR_ARGUMENT if the pattern is invalid; the message says what is wrong,
 * and where. */
MF_API enum mf_status mf_pattern_check(struct mf_env *env, const char *pattern);

/* What becomes of a tensor that is quantized, or copied. */
struct mf_quantized_tensor {
    struct mf_str name;  /* in the new file; terminated */
    const uint64_t *dim; /* rank numbers, in the order of the new file */
    uint32_t rank;
    uint32_t shard;          /* of the new model */
    char from[24], type[24]; /* before and after, as in struct mf_tensor */
    uint64_t bytes;          /* in the new file */
    /* The type intended for it, where rows of that many elements are not a
     * multiple of its block size, so that it gets another one; else NULL. */
    const char *intended;
    uint64_t row;
    uint32_t intended_block;
    bool changed;       /* it gets another type */
    bool weighted;      /* by an entry of the importance matrix */
    bool needs_weights; /* has no such entry and is useless as this type without
                           one: in a dry run, else the model is refused */
    uint64_t room[4];
};

/* The decisions for a whole model. */
struct mf_quantize_plan;

/* The tensors of the new file, or files, in their order there: index from 0
 * until it returns false. */
MF_API bool mf_quantize_plan_at(const struct mf_quantize_plan *plan,
                                size_t index, struct mf_quantized_tensor *out);

/* How to quantize a model. Only type is required. */
struct mf_quantize_options {
    size_t size; /* of this struct: see above */
    /* A mix of mf_mix_at, in upper or lower case ("Q4_K_M", "q4_k_m"), or its
     * number; or a tensor type in lower case ("q4_k") for every tensor that a
     * mix would quantize. */
    const char *type;
    bool pure;             /* one type for all of them, also with a mix */
    bool leave_output;     /* do not quantize output.weight */
    bool allow_requantize; /* quantize quantized tensors again */
    bool keep_split;       /* write as many shards as the model has */
    bool report;           /* measure the quantization error */
    const char *output_type, *embedding_type;  /* NULL: as in the mix */
    const struct mf_tensor_type *tensor_types; /* the first that matches */
    size_t tensor_type_count;
    /* Gets, for each of them, the number of tensors that got their type by it:
     * 0 is most likely a mistake in a pattern. May be NULL. */
    size_t *tensor_type_tensors;
    /* The path of an importance matrix in either format of llama-imatrix, or
     * NULL. Its entries are used if their name contains a text of include, or
     * if it contains no text of exclude; only one of both lists can be given. A
     * matrix without an entry for any quantized tensor is refused: it belongs
     * to another model. */
    const char *imatrix;
    const char *const *include, *const *exclude;
    size_t include_count, exclude_count;
    /* Blocks to remove; the ones after them are renumbered. */
    const uint32_t *prune;
    size_t prune_count;
    const struct mf_edit *edits; /* of the metadata, in their order */
    size_t edit_count;
    /* Called once, when every decision has been made and before anything is
     * written; in a dry run, after everything that can be refused. The plan,
     * and what mf_quantize_plan_at returns, is valid until this returns. May be
     * NULL. */
    void (*planned)(void *user, const struct mf_quantize_plan *plan);
    void *planned_user;
    /* How far scales and minimums are searched: 0 or 1, the bytes of
     * llama-quantize; 2 to 4, further, in the same types.  No block has a
     * larger squared error than with 1, each number's times what the importance
     * matrix has for its column. The file says so: modelfile.effort. */
    uint32_t effort;
};

struct mf_mix_info {
    const char *name;   /* "Q4_K_M" */
    uint32_t file_type; /* general.file_type */
    const char *type;   /* of most tensors; "" if the mix changes no type */
    bool needs_imatrix; /* some of its types are refused without one */
    bool available;     /* the library has an encoder for that type */
    uint64_t room[4];
};

/* The mixes of llama-quantize: index from 0 until it returns false. */
MF_API bool mf_mix_at(size_t index, struct mf_mix_info *out);

/* llama-quantize's name for a type of struct mf_quantize_options: "Q4_K_M" for
 * "q4_k_m", "Q4_K" for "15". The name of a tensor type is returned as it is.
 * NULL if the type is unknown. */
MF_API const char *mf_mix_name(const char *type);

#define MF_QUANTIZED_MAX 64

/* Tensors of one type in a quantized model. */
struct mf_quantized {
    const char *name; /* "q4_k" */
    size_t tensors;   /* 0: this entry is not used */
    uint64_t parameters, bytes;
    /* The quantization error, if report was set; of `measured` numbers that
     * changed their type. measured is 0 if no number did. */
    uint64_t measured;
    double rmse, worst, cosine; /* against what they were */
    uint64_t room[4];
};

struct mf_quantize_result {
    const char *format;
    size_t file_count;
    uint64_t file_size; /* all files together */
    size_t changed;     /* tensors whose type changed */
    size_t fallbacks;   /* tensors with another type than the mix says, because
                           their rows are not a multiple of its block size */
    size_t
        weighted; /* changed tensors with an entry in the importance matrix */
    size_t unweighted; /* tensors that are useless as they are because they have
                          no such entry: in a dry run, else they are refused */
    size_t left_out;   /* metadata that could not be carried */
    struct mf_quantized type[MF_QUANTIZED_MAX];
    uint32_t effort; /* of encoders; 1 where no type that changed has scales to
                        be searched */
    uint64_t room[3];
};

/* Writes the quantized model to path, byte for byte as llama-quantize does. Of
 * how it uses format (GGUF, or APR if that can carry the types), byte_order,
 * names, replace, lossy, dry_run, resume and reserve. how and out may be NULL.
 */
MF_API enum mf_status
mf_model_quantize(struct mf_model *model, const char *path,
                  const struct mf_quantize_options *options,
                  const struct mf_convert_options *how,
                  struct mf_quantize_result *out);

/* One of several outputs that are made of a model at once. */
struct mf_quantize_output {
    const char *type; /* as in struct mf_quantize_options */
    const char *path;
};

/* The same for several outputs, to each of which a mf_model_quantize of its own
 * would write the same bytes. The data of the model is read once for all of
 * them. Other options than the type, which is not used, are for all: planned is
 * called once for each output, in their order, and tensor_type_tensors are
 * sums. results, NULL or an array of count, has their results.
 *
 * All outputs have one format, different paths, and are files; keep_split,
 * output, resume together with report, and a type that changes nothing ("COPY")
 * are refused. They get their names one after the other when all of them are on
 * disk: after any error before that, the files at all paths are the old ones,
 * or missing. If the system refuses one of the names, the error tells how many
 * files are in place. options and how may be NULL. */
MF_API enum mf_status mf_model_quantize_many(
    struct mf_model *model, const struct mf_quantize_output *outputs,
    size_t count, const struct mf_quantize_options *options,
    const struct mf_convert_options *how, struct mf_quantize_result *results);

/* ---- Writing in parts ---------------------------------------------------- */

/* With part and parts of struct mf_convert_options, mf_model_convert and
 * mf_model_quantize write a part of the output into a file that all parts have
 * in common, ".NAME.parts" in the folder of the output, and what they finished
 * into a log of their own there.  Parts may run in any order, at once, on
 * several machines that have the folder in common, again after a stop, and
 * twice: they write the same bytes to the same places.  Number of threads, heap
 * limit and processor may differ.  A part of other inputs, options, number of
 * parts or library is refused (MF_ERR_OUTPUT, PARTS-UNFIT).  The files at the
 * paths of the outputs stay as they are until mf_parts_finish. */

#define MF_PARTS_MAX 65536

/* A part that has to run, once more if it has begun. */
struct mf_missing_part {
    uint32_t part;
    bool begun;
    bool at_work;          /* a process is writing it */
    bool unsound;          /* what it wrote is not what is there */
    uint64_t units, bytes; /* that it has finished */
    uint64_t room[4];
};

struct mf_finish_options {
    size_t size;  /* of this struct: see above */
    bool discard; /* remove what the parts wrote */
    /* Called for each part that has to run; or NULL */
    void (*missing)(void *user, const struct mf_missing_part *part);
    void *user;
};

/* Numbers are of what was found, also after a failure. */
struct mf_finish_result {
    uint32_t parts;        /* 0: none was found */
    uint32_t finished;     /* of them */
    uint64_t attempts;     /* logs */
    uint64_t units, bytes; /* that are finished: where parts are made of units,
                              and without checksums at the end of files */
    size_t file_count;
    uint64_t file_size; /* of all files together, when they are whole */
    /* Of mf_model_quantize with report, the error of each type: its name and
     * the members from `measured` on.  Units are added in their order, so that
     * numbers are the same for any number of parts. */
    struct mf_quantized type[MF_QUANTIZED_MAX];
    uint64_t room[4];
};

/* Checks that all parts of the output at path, the one that they were given,
 * are there and that its bytes are those that they wrote, and gives the files
 * their names.  Reads all bytes once, and no input.  Where parts have not
 * finished, or bytes differ: MF_ERR_OUTPUT, PARTS-MISSING; the parts that
 * `missing` gets must run, and then this again.  Refused while a part is
 * written, if the file system has locks.  With discard: removes what is
 * unfinished, and no other file. options and out may be NULL. */
MF_API enum mf_status mf_parts_finish(struct mf_env *env, const char *path,
                                      const struct mf_finish_options *options,
                                      struct mf_finish_result *out);

/* ---- Types for a size ---------------------------------------------------- */

/* What a tensor is in one type. */
struct mf_type_cost {
    uint64_t bytes;
    double error; /* 0 or more, in any unit that the others have, too; infinite:
                     the tensor cannot have the type */
};

#define MF_CHOOSE_NONE    UINT32_MAX
#define MF_CHOOSE_TENSORS 1000000 /* at most */

/* Costs, types and tensors are numbers here: neither files nor an encoder are
 * needed. */
struct mf_choose_options {
    size_t size;                     /* of this struct: see above */
    const struct mf_type_cost *cost; /* cost[tensor * types + type] */
    size_t tensors, types;           /* types: 1 to 64 */
    uint64_t limit;                  /* bytes of all tensors together at most */
    /* For each tensor, the type that it gets rather than another one with the
     * same bytes and error, or MF_CHOOSE_NONE. NULL, or none: the lowest. */
    const uint32_t *preferred;
    /* For each tensor a number, or MF_CHOOSE_NONE: those with the same number
     * get one type. NULL: no tensor is tied to another. */
    const uint32_t *tied;
};

struct mf_chosen {
    uint64_t bytes; /* of all tensors */
    double error;   /* their sum */
    double bound;   /* no choice within the limit has less error */
    double relaxed; /* the same bound, if tensors could be divided between two
                       types: the optimum of the linear program */
    uint64_t least, most; /* bytes: no choice has fewer, and with more than most
                             no error gets less */
    uint64_t next; /* bytes that the cheapest larger type with less error would
                      add, which is more than is left; 0: there is none */
    uint64_t room[4];
};

/* Chooses a type for each tensor, so that the sum of their errors is the least
 * that the limit allows, or at most 0.1 % more in nearly all cases: bound says
 * how far it can be off. No tensor gets a type for which a smaller one has as
 * little error. types gets a number for each tensor. The same costs give the
 * same answer on every machine. MF_ERR_LIMIT if the limit is below least. */
MF_API enum mf_status mf_choose_types(struct mf_env *env,
                                      const struct mf_choose_options *options,
                                      uint32_t *types, struct mf_chosen *out);

/* ---- Importance matrices ------------------------------------------------- */

/* Whether the file is an importance matrix of llama-imatrix: GGUF, or the
 * format that it wrote before 2025. False for NULL. */
MF_API bool mf_model_is_imatrix(const struct mf_model *model);

struct mf_imatrix_merge_options {
    size_t size;         /* of this struct: see above */
    uint32_t chunk_size; /* tokens of a chunk of text, in which old files
                            count; 0: 512, as llama-imatrix does */
    bool old;            /* write the format of before 2025, not GGUF */
    bool replace;        /* as in struct mf_convert_options */
    bool dry_run;        /* likewise */
};

struct mf_imatrix_merge_result {
    const char *format; /* of the file that is written */
    uint64_t file_size;
    size_t entries;
    size_t partial;  /* entries of which some matrices, experts, were never
                        used */
    size_t empty;    /* of which none was; not written in the old format */
    size_t datasets; /* names of texts */
    uint32_t chunks; /* of text, all files together */
    uint32_t chunk_size;
    size_t input; /* after an error in one of the files, which one; else 0 */
    uint64_t room[4];
};

/* Adds importance matrices, of either format, and writes what llama-imatrix
 * --in-file does, byte for byte. Fails if entries of one name have different
 * sizes. options and out may be NULL. */
MF_API enum mf_status
mf_imatrix_merge(struct mf_env *env, const char *const *paths, size_t count,
                 const char *path,
                 const struct mf_imatrix_merge_options *options,
                 struct mf_imatrix_merge_result *out);

/* What an importance matrix has for a tensor. */
enum mf_imatrix_cover {
    MF_COVER_NONE,      /* nothing */
    MF_COVER_ALL,       /* values, for each expert if it has experts */
    MF_COVER_PART,      /* values, but some experts were never used */
    MF_COVER_UNUSED,    /* an entry that was never used */
    MF_COVER_MISMATCH,  /* an entry with another number of values */
    MF_COVER_NO_TENSOR, /* an entry that is for no tensor */
    MF_COVER_COUNT
};

#define MF_COVERS_MAX 8 /* that a later version may have */

struct mf_imatrix_tensor {
    struct mf_str name;
    size_t tensor; /* index for mf_tensor_at; SIZE_MAX: none */
    enum mf_imatrix_cover cover;
    uint64_t columns;
    uint64_t experts;  /* matrices in the tensor; mostly 1 */
    uint64_t used;     /* of these */
    const float *uses; /* how often each expert was used: in tokens, in an old
                          file in chunks; NULL unless there are values */
    float least, most; /* of uses */
};

struct mf_imatrix_coverage {
    size_t tensors;           /* that are quantized, whatever the mix */
    size_t of[MF_COVERS_MAX]; /* how many of each enum mf_imatrix_cover */
    uint64_t experts, experts_used;
    uint64_t chunks; /* of text; 0: unknown */
    uint64_t room[4];
};

/* Calls each (may be NULL) for every tensor of the model that is quantized and
 * for entries of the matrix at path that match no tensor; its arguments are
 * valid during the call. out may be NULL. */
typedef void mf_imatrix_each(void *user,
                             const struct mf_imatrix_tensor *tensor);
MF_API enum mf_status
mf_model_imatrix_coverage(struct mf_model *model, const char *path,
                          mf_imatrix_each *each, void *user,
                          struct mf_imatrix_coverage *out);

/* ---- New files ----------------------------------------------------------- */

/* A file that a program makes itself: list metadata and tensors, open, give the
 * bytes, commit.
 *
 *     struct mf_writer_options options = { .size = sizeof(options),
 *                                          .format = "gguf" };
 *     mf_writer_new(env, &options, &writer);
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
 * Each can fail and returns a status.  An existing file stays at the path until
 * commit returns MF_OK; a writer that is freed before leaves no file. */
struct mf_writer;

struct mf_writer_options {
    size_t size;        /* of this struct: see above */
    const char *format; /* "gguf", "apr", "safetensors" */
    uint32_t version;   /* 0: the usual one; for GGUF 2 or 3, for APR 2 */
    uint64_t reserve;   /* as in struct mf_convert_options */
    bool replace;       /* likewise */
    bool big_endian;    /* GGUF */
    const struct mf_output_ops *output; /* as in struct mf_convert_options */
};

MF_API enum mf_status mf_writer_new(struct mf_env *env,
                                    const struct mf_writer_options *options,
                                    struct mf_writer **out);

/* NULL is allowed. */
MF_API void mf_writer_free(struct mf_writer *writer);

/* Adds a metadata value, before mf_writer_open. Everything is copied. If the
 * format has no such type of value (APR, safetensors), the key carries it:
 * "KEY:u32". */
MF_API enum mf_status mf_writer_set(struct mf_writer *writer,
                                    const struct mf_edit *value);

/* Adds all metadata of a model, under the keys and with the types that the
 * format has for them. The model must stay open until mf_writer_open. */
MF_API enum mf_status mf_writer_copy_metadata(struct mf_writer *writer,
                                              struct mf_model *model);

struct mf_new_tensor {
    struct mf_str name;
    const char *type; /* of mf_type_at */
    uint32_t rank;
    const uint64_t
        *dim; /* slowest first, contiguous last, for every format: the writer
                 reverses them if the format requires it */
};

/* Adds a tensor, before mf_writer_open. index gets its number, from 0; it may
 * be NULL. */
MF_API enum mf_status mf_writer_add(struct mf_writer *writer,
                                    const struct mf_new_tensor *tensor,
                                    size_t *index);

/* Computes all offsets, allocates the space on disk and writes the header.
 * Refused if a tensor name or a metadata key is duplicate. If the path cannot
 * be written, another one may be tried. */
MF_API enum mf_status mf_writer_open(struct mf_writer *writer,
                                     const char *path);

/* The offset and size of a tensor in the file; false before mf_writer_open. */
MF_API bool mf_writer_place(const struct mf_writer *writer, size_t index,
                            struct mf_span *out);

/* Writes the next bytes of tensors in the order of their data, which is the
 * order of mf_writer_add in GGUF, of names in APR, of element sizes in
 * safetensors. Numbers are little-endian on any processor, but for big_endian:
 * bytes go to the file as they are. */
MF_API enum mf_status mf_writer_push(struct mf_writer *writer,
                                     const void *bytes, size_t size);

/* Calls produce for all bytes that mf_writer_push would take, in pieces of at
 * most 1 MiB. It puts size bytes of a tensor, from offset, into buffer. */
typedef enum mf_status mf_produce(void *user, size_t tensor, uint64_t offset,
                                  void *buffer, size_t size);
MF_API enum mf_status mf_writer_fill(struct mf_writer *writer,
                                     mf_produce *produce, void *user);

/* Writes bytes of any tensor, in any order and from any thread, with an env of
 * that thread. Each byte must be written once. Not for a pipe or a device:
 * those need mf_writer_push or mf_writer_fill. */
MF_API enum mf_status mf_writer_write_at(struct mf_writer *writer,
                                         struct mf_env *env, size_t index,
                                         uint64_t offset, const void *bytes,
                                         size_t size);

/* Puts the complete file at its path. Refused if any byte of a tensor is
 * missing; it can be written then. After any other failure the writer can only
 * be freed. */
MF_API enum mf_status mf_writer_commit(struct mf_writer *writer);

/* ---- Types and formats --------------------------------------------------- */

struct mf_type_info {
    const char *name;     /* "q4_k" */
    uint32_t block, size; /* elements and bytes of a block */
    int32_t ggml;         /* its number in ggml and GGUF; -1: it has none */
    uint64_t room[4];
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
    uint64_t room[4];
};

/* index from 0 until false. */
MF_API bool mf_type_at(size_t index, struct mf_type_info *out);
MF_API bool mf_format_at(size_t index, struct mf_format_info *out);

/* The type of that name, in upper or lower case. */
MF_API bool mf_type_find(const char *name, struct mf_type_info *out);

/* True where tensors in files of that format can have the type: two names, as
 * mf_type_at and mf_format_at give them. */
MF_API bool mf_type_in(const char *type, const char *format);

/* ---- Codecs -------------------------------------------------------------- */

/* The codec of one tensor type for one instruction set. Its functions allocate
 * nothing, keep no state and cannot fail; any number of threads may call them
 * at once. Every instruction set gives the same bytes. columns must be a
 * multiple of block; so many numbers take prefix + columns / block * size
 * bytes. The buffers need no alignment and must not overlap. A tensor whose
 * prefix is 0 can be decoded in parts. */
struct mf_kernel {
    const char *type, *isa; /* "q4_k", "avx2" */
    uint32_t block, size;   /* numbers and bytes of a block */
    uint32_t prefix; /* bytes before the blocks; only "apr_q8" has them, one
                        scale for the tensor */
    void (*decode)(const uint8_t *blocks, float *out, size_t columns);
    /* Encodes a whole row: some types use its mean square. weights are the
     * importance of each column, or NULL; some types do not read them. NULL for
     * types that can only be decoded, and for types whose codes come from a
     * grid (iq1_s to iq3_s): see mf_env_encode. */
    void (*encode)(const float *row, const float *weights, uint8_t *blocks,
                   size_t columns);
    uint64_t room[4];
};

/* The instruction sets that run on this processor, from "portable" to the
 * fastest; NULL after the last. */
MF_API const char *mf_isa_at(size_t index);

/* False, and out unchanged, if the type is unknown or has no codec, or the
 * processor lacks the instruction set. isa NULL: the fastest. */
MF_API bool mf_kernel_find(const char *type, const char *isa,
                           struct mf_kernel *out);

/* True where mf_env_encode encodes the kernel's type, weights_needed (may be
 * NULL) if it must be given weights. */
MF_API bool mf_kernel_encodes(const struct mf_kernel *kernel,
                              bool *weights_needed);

/* As kernel->encode, and for types on a grid as well. They need tables, up to a
 * few MiB: the env makes a type's tables when they are first needed, in some
 * milliseconds, and keeps them. Any number of threads may encode with one env
 * at once. MF_ERR_ARGUMENT if columns are not whole blocks, or a type that
 * needs weights has none; MF_ERR_UNSUPPORTED if the type cannot be encoded, or
 * has no codes for the row because squares of its numbers are infinite. Scales
 * of such numbers may be infinite in the blocks of other rows. */
MF_API enum mf_status mf_env_encode(struct mf_env *env,
                                    const struct mf_kernel *kernel,
                                    const float *row, const float *weights,
                                    uint8_t *blocks, size_t columns);

/* Encodes count rows of columns numbers, which lie one after the other, on the
 * env's threads: to the bytes of mf_env_encode for each row, whatever the
 * number of threads. weights are columns numbers, the importance of each column
 * in all rows, or NULL. Of a type with a prefix all rows are one tensor with
 * one scale, and one thread encodes it. Work of less than some milliseconds
 * starts no thread, and 64 KiB of numbers need no allocation. Errors are as of
 * mf_env_encode, and name the row; MF_ERR_ARGUMENT also if so many numbers have
 * no place in memory. After an error blocks have any bytes. Unlike
 * mf_env_encode, a call for one thread at a time. */
MF_API enum mf_status mf_env_encode_rows(struct mf_env *env,
                                         const struct mf_kernel *kernel,
                                         const float *rows, size_t count,
                                         size_t columns, const float *weights,
                                         uint8_t *blocks);

/* Likewise decodes count rows of whole blocks, as kernel->decode does. */
MF_API enum mf_status mf_env_decode_rows(struct mf_env *env,
                                         const struct mf_kernel *kernel,
                                         const uint8_t *blocks, size_t count,
                                         size_t columns, float *out);

/* ---- Digests ------------------------------------------------------------- */

/* From the weakest to the strongest; only MF_SHA256 resists deliberate
 * collisions. MF_SHA1 and MF_SHA256 use the system's libcrypto, which is loaded
 * for as long as a digest is computed, where it is there; without it the result
 * is the same. */
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
    uint64_t room[4];
};

/* index from 0 until false. */
MF_API bool mf_digest_at(size_t index, struct mf_digest_info *out);

/* ---- Model digests ------------------------------------------------------- */

/* Computes the digest of each tensor's bytes, as mf_tensor_bytes reads them.
 * digests has room for tensor_count of them: tensor i's is at i times the size
 * of the kind. Reads every byte once, on the env's threads, in buffers of at
 * most 3 MiB in total. MF_ERR_CORRUPT if a tensor is MF_TENSOR_DAMAGED. */
MF_API enum mf_status mf_model_hash_tensors(struct mf_model *model,
                                            enum mf_digest_kind kind,
                                            uint8_t *digests);

/* Computes the digest of a model from its tensors' digests. It is the digest of
 * a text with a line "DIGEST NAME\n" for each tensor, in the order of the bytes
 * of the names, the digest in lower-case hexadecimal; so it does not depend on
 * the format or the order of the tensors. In NAME a backslash is doubled, and
 * control, invisible and invalid characters are escaped (\n, \x1b, \u202e): no
 * name can look like another line. line is called with each line; it may be
 * NULL. */
MF_API enum mf_status mf_model_hash(
    struct mf_model *model, enum mf_digest_kind kind, const uint8_t *digests,
    uint8_t out[MF_DIGEST_MAX],
    void (*line)(void *user, size_t tensor, const char *text, size_t size),
    void *user);

/* The digest of the metadata, which depends neither on the order of the keys
 * nor on alignment, byte order, version of GGUF or number of shards; for
 * formats with Hugging Face's names also of config.json and other files next to
 * the model. docs/cli.md says how to compute it. */
MF_API enum mf_status mf_model_hash_metadata(struct mf_model *model,
                                             enum mf_digest_kind kind,
                                             uint8_t out[MF_DIGEST_MAX]);

/* The digest of the data of all tensors, one after the other in the order of
 * the file's index, without padding: as llama.cpp's llama-gguf-hash prints for
 * a file. One thread. */
MF_API enum mf_status mf_model_hash_data(struct mf_model *model,
                                         enum mf_digest_kind kind,
                                         uint8_t out[MF_DIGEST_MAX]);

/* The UUID (RFC 9562, version 5) of llama-gguf-hash for a file: from the SHA-1
 * of llama.cpp's namespace and the same bytes. One thread. */
MF_API enum mf_status mf_model_uuid(struct mf_model *model, uint8_t out[16]);

/* The digest of all bytes of a regular file, which need not be a model;
 * MF_SHA256 gives the digest of sha256sum. One thread. */
MF_API enum mf_status mf_file_hash(struct mf_env *env, const char *path,
                                   enum mf_digest_kind kind,
                                   uint8_t out[MF_DIGEST_MAX]);

/* Finds tensors with equal data, whatever their type and shape: same[i] gets
 * the lowest index of a tensor with the data of tensor i, which is i itself if
 * no earlier one is equal. Only tensors of equal size are read: once for a
 * digest and, if that is equal, again to compare the bytes. A tensor without
 * data is equal only to itself. */
MF_API enum mf_status mf_model_duplicates(struct mf_model *model,
                                          uint32_t *same);

/* The same over the tensors of several models of one env, which are numbered
 * on from one model to the next: number i of models 0 and 1 is tensor i of
 * model 0, or tensor i - n of model 1 where model 0 has n. same has room for
 * all of them, and so has place, which may be NULL: place[i] gets the lowest
 * number of an equal tensor that begins at the very same byte of the same file.
 * These share their bytes, and are not copies: i is the first tensor in its
 * place where place[i] is i, and the first of all that are equal where same[i]
 * is. A file that is given twice, by whatever path, is the same file. */
MF_API enum mf_status mf_models_duplicates(struct mf_model *const *models,
                                           size_t count, uint32_t *same,
                                           uint32_t *place);

/* ---- Comparing ----------------------------------------------------------- */

enum mf_difference_what {
    MF_ONLY_A = 1, /* b has no key or tensor of this name */
    MF_ONLY_B = 2, /* likewise */
    MF_DIFFERS_TYPE =
        4, /* of a tensor; the type of a metadata value is part of its value */
    MF_DIFFERS_SHAPE = 8, /* compared in one order of dimensions */
    MF_DIFFERS_DATA = 16  /* or the value of a metadata key */
};

/* How far the numbers of two tensors are apart. Integers and f64 are compared
 * as they are: errors are 0 only where all numbers are equal. Others are
 * decoded to 32-bit floats. */
struct mf_value_errors {
    uint64_t count; /* numbers that are finite in both; for these: */
    double max_absolute;
    double max_relative; /* relative to a's number, if that is not 0 */
    double rmse;         /* the root of the mean squared error */
    double cosine; /* similarity: 0 if one tensor is all zeros, 1 if both are */
    uint64_t from_zero; /* 0 in a but not in b: without a relative error */
    /* For the others: NaN or infinite in a or b alone. Infinities of opposite
     * sign count in both. */
    uint64_t nan_a, nan_b, inf_a, inf_b;
};

struct mf_difference {
    bool is_tensor; /* else a metadata key */
    unsigned what;  /* enum mf_difference_what, or-ed */
    size_t a, b;    /* for mf_tensor_at or mf_meta_at; SIZE_MAX: missing */
    uint64_t first; /* with MF_DIFFERS_DATA: the first byte of the tensor, or
                       element of the array, that differs; else 0 */
    /* With the option values, for tensors of equal shape, valid until found
     * returns; else both are NULL. */
    const struct mf_value_errors *values;
    const char *no_values; /* why the values cannot be compared */
};

/* All zero is the default. */
struct mf_diff_options {
    size_t size;  /* of this struct: see above */
    bool no_data; /* do not read tensor data */
    bool values;  /* decode tensors that differ and compare their numbers; not
                     with no_data */
};

/* Calls found for each difference, in this order: a's metadata, metadata that
 * only b has, a's tensors, tensors that only b has. Both models must belong to
 * one env. options may be NULL: all defaults. Metadata is compared by key;
 * between formats, numbers are compared by value, whatever their width. The
 * data of tensors is compared if type and size are equal; both files are read
 * once, on the env's threads, in buffers of at most 3 MiB in total. With
 * values, tensors of equal shape whose types or bytes differ are read again,
 * likewise. MF_ERR_CORRUPT if a tensor to be read is MF_TENSOR_DAMAGED. */
MF_API enum mf_status
mf_model_diff(struct mf_model *a, struct mf_model *b,
              const struct mf_diff_options *options,
              void (*found)(void *user, const struct mf_difference *difference),
              void *user);

/* ---- Verifying ----------------------------------------------------------- */

/* What became of a tensor of the model that is verified. */
enum mf_verdict {
    MF_VERDICT_SAME,          /* the source, encoded, has the same bytes */
    MF_VERDICT_DIFFERS,       /* it has others */
    MF_VERDICT_OTHER_VERSION, /* the same as another version's encoder made */
    MF_VERDICT_NOT_DERIVABLE, /* it cannot be made from the source */
    MF_VERDICT_MISSING        /* only the source has it */
};

#define MF_VERDICT_COUNT 5
#define MF_VERDICTS_MAX  8 /* that a later version may have */

/* "same", "differs", "other_version", "not_derivable", "missing"; NULL for
 * other numbers. */
MF_API const char *mf_verdict_name(enum mf_verdict verdict);

struct mf_verified_tensor {
    struct mf_str name;   /* in the model; of a missing one, what it would be */
    size_t model, source; /* for mf_tensor_at; SIZE_MAX: missing there */
    enum mf_verdict verdict;
    bool weighted;       /* encoded with the importance matrix */
    const char *version; /* of the encoder that made it, if it differs from this
                            library's; else NULL */
    const char *reason;  /* why it cannot be derived; else NULL */
    uint64_t blocks; /* of the tensor; of a type without blocks, its numbers */
    /* Of a tensor that differs: how many of these, the first one, and where
     * that begins in the shard's file. */
    uint64_t differ, block, offset;
    /* How far its numbers are from the source's, which are a. NULL: they cannot
     * be decoded, or it does not differ. */
    const struct mf_value_errors *errors;
};

/* A metadata key whose value is not as in the source. */
struct mf_verified_key {
    struct mf_str key;
    unsigned what; /* MF_ONLY_A: only the source has it; MF_ONLY_B: only the
                      model; MF_DIFFERS_DATA: another value */
    size_t source, model; /* for mf_meta_at; SIZE_MAX: there is none, because it
                             comes from a sidecar or is missing */
};

/* All zero is the default. */
struct mf_verify_options {
    size_t size;         /* of this struct: see above */
    const char *imatrix; /* as in struct mf_quantize_options */
    bool strict;         /* keys that changed and tensors that the model lacks
                            count, too */
    bool replace;        /* overwrite an existing statement */
    /* Where to write a statement about a model that follows from its source, as
     * JSON of in-toto (Statement v1), to be signed. NULL: nowhere. */
    const char *statement;
    /* Called for each key that changed, then for each tensor of the model in
     * the order of its index, then for those that it lacks. What is passed is
     * valid during the call. NULL: not called. */
    void (*key)(void *user, const struct mf_verified_key *key);
    void (*tensor)(void *user, const struct mf_verified_tensor *tensor);
    void *user;
};

struct mf_verify_result {
    bool follows; /* all tensors of the model are the same, or made by another
                     version's encoder; if strict, nothing else changed */
    bool stated;  /* the statement was written */
    size_t changed_keys;
    size_t tensors[MF_VERDICTS_MAX]; /* how many have that verdict */
    /* What the model says of itself: how far its scales were searched (see
     * struct mf_quantize_options), 0 if it says nothing, and by which version
     * of that search. */
    uint32_t effort, effort_version;
    uint64_t room[3];
};

/* Finds out whether a model was made from a source: each tensor of the source
 * is encoded in the type that it has in the model, and the bytes are compared.
 * Both are read once, on the env's threads, in buffers of at most 3 MiB in
 * total; tensors that differ, several times. If no tensor of the model has the
 * name of one of the source's, the source is renamed as with
 * mf_convert_options.names. Keys that mf_model_quantize and mf_model_convert
 * write themselves are not compared: general.file_type,
 * general.quantization_version, quantize.imatrix.*, split.* and
 * modelfile.effort, which says how far the encoders searched. Both models
 * must belong to one env. options and out may be NULL. A model that does not
 * follow from the source is not an error: see out. */
MF_API enum mf_status mf_verify(struct mf_model *model, struct mf_model *source,
                                const struct mf_verify_options *options,
                                struct mf_verify_result *out);

/* ---- Planning ------------------------------------------------------------ */

/* An unknown number: metadata that it depends on is missing or makes no
 * sense. */
#define MF_PLAN_UNKNOWN UINT64_MAX
/* More than 16 EiB. */
#define MF_PLAN_HUGE (UINT64_MAX - 1)

/* The parts of the memory that a program needs to run a model. */
enum mf_plan_line {
    MF_PLAN_WEIGHTS,
    MF_PLAN_KV,      /* keys and values of attention, for each cell */
    MF_PLAN_STATE,   /* of recurrent blocks, for each sequence */
    MF_PLAN_COMPUTE, /* what lives while tokens are computed */
    MF_PLAN_OUTPUT,  /* logits */
    MF_PLAN_LINE_COUNT
};

#define MF_PLAN_LINES_MAX 8 /* that a later version may have */

/* "weights", "kv", "state", "compute", "output"; NULL for other numbers. */
MF_API const char *mf_plan_line_name(enum mf_plan_line line);

enum mf_flash { MF_FLASH_AUTO, MF_FLASH_ON, MF_FLASH_OFF };

/* All zero is the default. */
struct mf_plan_options {
    size_t size;        /* of this struct: see above */
    uint64_t context;   /* tokens of all sequences together; 0: the model's */
    uint64_t sequences; /* 0: 1 */
    uint64_t ubatch;    /* tokens that are computed at once; 0: 512 */
    const char *type_k, *type_v; /* of the cache; NULL: "f16" */
    enum mf_flash flash;         /* flash attention; auto: where it can be */
    bool full_windows; /* blocks with a sliding window keep every cell */
    bool unified;      /* one cache for all sequences */
    bool cpu_experts;  /* experts stay on the host */
    bool offloaded;    /* offload counts */
    uint64_t offload;  /* blocks on devices, from the last one back; those
                          beyond all of them: the output. Without it and with
                          devices: all */
    /* Memory of each device; 0: no limit. Offload without devices: one that
     * has no limit. */
    const uint64_t *device_limits;
    size_t device_count;
    const char *as; /* name of a mix: as if the model, a GGUF file or a Hugging
                       Face folder, were quantized so; NULL: as it is */
};

#define MF_PLAN_CACHES  8  /* of one model */
#define MF_PLAN_DEVICES 16 /* without the host */

/* One of the model's caches: blocks of attention with as many cells each. */
struct mf_plan_cache {
    const char *name;          /* "full", "window", "compressed", "indexer" */
    uint64_t cells;            /* of one sequence, if each has its own */
    uint64_t layers;           /* blocks */
    uint64_t k_bytes, v_bytes; /* of all sequences together */
    bool window;               /* the blocks have a sliding window */
    uint64_t room[4];
};

struct mf_plan_device {
    char name[16]; /* "host", "device0" */
    uint64_t weights, kv, state, compute, output, total;
    uint64_t limit; /* 0: none */
    uint64_t room[4];
};

/* Numbers may be MF_PLAN_UNKNOWN or MF_PLAN_HUGE. */
struct mf_plan {
    uint64_t context; /* as it is computed: rounded up to 256 */
    uint64_t asked;   /* as in the options, or the model's */
    uint64_t model_context;
    uint64_t sequences, ubatch;
    bool flash;
    const char *type_k, *type_v;
    size_t cache_count;
    struct mf_plan_cache cache[MF_PLAN_CACHES];
    uint64_t state_conv, state_ssm;   /* parts of the state: R and S of
                                         llama.cpp's log */
    uint64_t line[MF_PLAN_LINES_MAX]; /* by enum mf_plan_line */
    uint64_t mapped;                  /* of the weights: pages of the file */
    uint64_t total;
    size_t device_count;                               /* with the host */
    struct mf_plan_device device[1 + MF_PLAN_DEVICES]; /* the host first */
    uint32_t estimated, unknown; /* 1 << enum mf_plan_line, or-ed */
    bool full_attention; /* of an architecture that this library does not know:
                            every block is counted as full attention */
    char reason[200];    /* why a line is unknown: "'llama.block_count' is
                            missing"; else "" */
    uint64_t room[4];
};

/* Computes from the header alone what llama.cpp v0.5.0 would need to run the
 * model; no tensor data is read. options may be NULL: all defaults. Fails for
 * options that llama.cpp refuses, never for what a file says: that makes lines
 * unknown. */
MF_API enum mf_status mf_plan(struct mf_model *model,
                              const struct mf_plan_options *options,
                              struct mf_plan *out);

/* What fits into memory of a given size: the longest context, the mixes of
 * mf_mix_at, and how many blocks a device can have. */
struct mf_fit_options {
    size_t size; /* of this struct: see above */
    /* Bytes of the host, if nothing is offloaded. With offload but no devices,
     * of the one device, and the host has no limit. With devices, which have
     * limits of their own, of the host; 0: none. */
    uint64_t limit;
    const uint64_t *margin; /* bytes that stay free in each memory that has a
                               limit; NULL: 1 GiB, as llama.cpp has it */
};

/* Unknown: a line of the plan that it depends on is. */
enum mf_fit_answer { MF_FIT_UNKNOWN, MF_FIT_NO, MF_FIT_YES };

/* With keys and values of the type. */
struct mf_fit_context {
    const char *type; /* "f16" */
    /* The longest that fits, all sequences together; 0: not even the shortest;
     * MF_PLAN_UNKNOWN: it is unknown, or values of the type need flash
     * attention, which is off. At most 4294967295, all that llama.cpp can
     * count. */
    uint64_t context;
    bool exceeds_model; /* it is above the model's context_length */
    uint64_t room[4];
};

/* The model as a mix of mf_mix_at would make it, with the context and cache of
 * the options. A device that fetches weights from the host has room for the
 * largest one of the mix. */
struct mf_fit_mix {
    const char *name;
    bool needs_imatrix;
    enum mf_fit_answer fits;
    /* Of the GGUF file that mf_model_quantize writes, without the keys that
     * name an importance matrix; MF_PLAN_UNKNOWN: the model cannot be quantized
     * so. */
    uint64_t file_size;
    uint64_t data_size;     /* of its tensors, without padding */
    double bits_per_weight; /* of these; 0: unknown */
    uint64_t room[4];
};

/* The model with so many blocks on devices: on the options' devices, or on one
 * with the limit. */
struct mf_fit_offload {
    uint64_t blocks; /* one more than the model has: also the output */
    enum mf_fit_answer fits;
    uint64_t host, devices; /* bytes of the host, and of all devices */
    uint64_t context;       /* the longest that fits, as above, with the cache's
                               types of the options */
    uint64_t room[4];
};

#define MF_FIT_TYPES    3
#define MF_FIT_MIXES    48
#define MF_FIT_OFFLOADS 8

struct mf_fit {
    uint64_t limit, margin;
    enum mf_fit_answer fits; /* as the options have it */
    uint64_t needed; /* bytes of all that has a limit, without the margin */
    struct mf_fit_context longest; /* with the cache that the options have; type
                                      NULL: keys and values differ in theirs */
    struct mf_fit_context context[MF_FIT_TYPES]; /* f16, q8_0, q4_0 */
    size_t mix_count;
    struct mf_fit_mix mix[MF_FIT_MIXES]; /* most bits per weight first, unknown
                                            ones last */
    /* All blocks on devices, as many as fit, and numbers in between; most
     * blocks first. None if the number of blocks is unknown. */
    size_t offload_count;
    struct mf_fit_offload offload[MF_FIT_OFFLOADS];
    uint64_t room[4];
};

/* Finds the parts of the plan that fit. Fails as mf_plan does, and if nothing
 * has a limit. options may be NULL. */
MF_API enum mf_status mf_plan_fit(struct mf_model *model,
                                  const struct mf_plan_options *options,
                                  const struct mf_fit_options *fit,
                                  struct mf_fit *out);

/* ---- Reports ------------------------------------------------------------- */

/* All zero is the default. */
struct mf_report_options {
    size_t size; /* of this struct: see above */
    bool data;   /* read all tensor data: findings about it, and histograms */
    bool no_compare; /* of several models, do not read tensor data to compare
                        them, and verify none */
    bool paths;      /* the document names the files; it does not otherwise */
    bool json;       /* write the document alone, without the page */
    bool replace;    /* overwrite an existing file */
    const char *imatrix; /* of the models: what it covers, and for verifying */
    /* A folder of the command's option --record, a heap profile of --dhat, or
     * JSON that it printed; NULL: none. */
    const char *recorded;
    uint64_t limit; /* of memory, that the page begins with; 0: none */
    /* Measure the error of each tensor in these types, names with commas
     * between them or "all", with the imatrix if there is one; NULL: none. */
    const char *errors;
};

/* Writes a page in HTML about models: what is in them, what is wrong with them,
 * how much memory they take; of several also how they differ. The file is all
 * there is to it: it loads no other. The same models make the same bytes.
 * docs/report.md has the document that the page draws. All models must belong
 * to one env. options may be NULL. MF_ERR_OUTPUT if path is a file of a model
 * or one that the options name, or exists and replace is not set. */
MF_API enum mf_status mf_report(struct mf_model *const *models, size_t count,
                                const char *path,
                                const struct mf_report_options *options);

/* Passes the document on in pieces, as UTF-8. */
MF_API enum mf_status
mf_report_json(struct mf_model *const *models, size_t count,
               const struct mf_report_options *options,
               void (*write)(void *user, const char *at, size_t size),
               void *user);

/* ---- Profiles ------------------------------------------------------------ */

/* Which code allocates the memory of an env, how much, and what is left of it:
 *
 *     struct mf_profile_options how = { .size = sizeof(how),
 *                                       .path = "dhat-heap.json" };
 *     struct mf_profile *profile = mf_profile_new(&how);
 *     struct mf_options options = { .size = sizeof(options) };
 *
 *     options.allocator = mf_profile_allocator(profile);
 *     env = mf_env_new(&options);
 *     ...
 *     mf_env_free(env);
 *     mf_profile_write(profile, "dhat-heap.json");
 *     mf_profile_free(profile);
 *
 * Blocks are counted by the stack of calls that made them, as valgrind's DHAT
 * does: a block that is moved counts again in the totals, and stays with the
 * stack that made it first. */

struct mf_profile;

enum mf_profile_order {
    MF_PROFILE_PEAK, /* most bytes first, when all together were most */
    MF_PROFILE_LIVE, /* now */
    MF_PROFILE_TOTAL /* ever */
};

/* A stack of calls, and the blocks that it made. */
struct mf_profile_point {
    uint64_t total_bytes, total_blocks;
    size_t peak_bytes, peak_blocks; /* when all together were most */
    size_t live_bytes, live_blocks;
    const char *const *call; /* "0x1234: function (file.c:56)", innermost first;
                                terminated; valid until the profile changes */
    size_t call_count;
    uint64_t room[4];
};

/* All zero is the default. */
struct mf_profile_options {
    size_t size;                   /* of this struct: see above */
    struct mf_allocator allocator; /* for the env and the profile; if resize is
                                      NULL, the C library's heap */
    const char *path;    /* where a profile is written if an expectation fails
                            or blocks are left of an env; NULL: nowhere. The
                            text must live as long as the profile */
    const char *command; /* what the file calls the command; likewise. NULL: ""
                          */
    /* Called when the env is gone for each stack that made blocks which are
     * still allocated, most bytes first; by mf_profile_free if the env is in
     * use even then, by a model that is open, say. It must not use the env.
     * NULL: not called. */
    void (*alive)(void *user, const struct mf_profile_point *point);
    void *alive_user;
};

/* options may be NULL: all defaults. Returns NULL if out of memory, or if the
 * size of the options is invalid. */
MF_API struct mf_profile *
mf_profile_new(const struct mf_profile_options *options);

/* After its env was freed, and all that was opened with that. NULL is allowed.
 */
MF_API void mf_profile_free(struct mf_profile *profile);

/* The allocator for mf_options of one env at a time. All zero for NULL. */
MF_API struct mf_allocator mf_profile_allocator(struct mf_profile *profile);

/* What mf_env_heap says, also after the env was freed. */
MF_API void mf_profile_stats(struct mf_profile *profile,
                             struct mf_heap_stats *out);

/* The points in an order; false, and out unchanged, after the last one. Names
 * of functions and lines come from the symbols and the debug information of the
 * files that the process was loaded from, which takes a moment after each
 * change of the profile; what has no name is "??? (in OBJECT)". */
MF_API bool mf_profile_point_at(struct mf_profile *profile,
                                enum mf_profile_order order, size_t index,
                                struct mf_profile_point *out);

/* Writes a file for the viewer of DHAT. A file that exists is replaced only if
 * it is such a profile or empty. */
MF_API enum mf_status mf_profile_write(struct mf_profile *profile,
                                       const char *path);

/* For tests: returns holds. If that is false, the profile is written to the
 * path of its options, and later expectations fail, too. expectation is for the
 * message of mf_profile_error; it may be NULL. */
MF_API bool mf_profile_expect(struct mf_profile *profile, bool holds,
                              const char *expectation);

/* The error of the last call that failed. */
MF_API const struct mf_error *
mf_profile_error(const struct mf_profile *profile);

/* ---- Watching ------------------------------------------------------------ */

/* Whether memory, open files or threads grow while a program does the same work
 * again and again, how long a round of it takes, and how much energy:
 *
 *     struct mf_watch_options how = { .size = sizeof(how),
 *                                     .rounds = 1000 };
 *
 *     mf_watch_open(env, &how, &watch);
 *     while (mf_watch_begin(watch)) {
 *         work(env);
 *         mf_watch_end(watch);
 *     }
 *     for (size_t i = 0; mf_watch_count_at(watch, i, &count); i++)
 *         if (count.leaks)
 *             printf("%s: %g per round\n", count.name, count.per_round);
 *     mf_watch_close(watch);
 *
 * A leak is growth that is never given back.  A slope above zero does not show
 * that alone: a cache that was not dropped yet has one, and a step that happens
 * once.  So the rounds are divided into four quarters, and a count leaks if
 *
 *   - its lowest value in each quarter is above that in the quarter before,
 *   - the last of these is more than a threshold above the first, and
 *   - the line through all values rises by more than another one per round.
 *
 * A cache that is dropped now and then has its lowest value again in some later
 * quarter, unless that takes longer than three quarters of the rounds. */

struct mf_watch;

enum mf_watch_kind {
    MF_WATCH_HEAP,     /* bytes that the env has allocated */
    MF_WATCH_OWN,      /* what mf_watch_options.own counts */
    MF_WATCH_RESIDENT, /* bytes of the process in memory, but for mapped files;
                          from /proc, like the next two */
    MF_WATCH_FILES,    /* open descriptors */
    MF_WATCH_THREADS,
    MF_WATCH_KINDS
};

/* The fewest rounds that tell a leak from chance. */
#define MF_WATCH_LEAST 8

/* How much growth does not count as a leak. */
struct mf_watch_threshold {
    uint64_t growth;  /* of the lowest value, from the first quarter to the last
                         one */
    double per_round; /* of the slope; not below 0 */
};

/* All zero is the default. */
struct mf_watch_options {
    size_t size;      /* of this struct: see above */
    uint64_t rounds;  /* that count; 0: MF_WATCH_LEAST */
    uint64_t warm_up; /* rounds before the first that counts, which fill what is
                         kept for good: tables of the C library, threads */
    /* Of the first kinds of enum mf_watch_kind, in order. The others have 65536
     * and 1 for MF_WATCH_RESIDENT, which moves by whole pages, and 0 for what
     * is exact. */
    const struct mf_watch_threshold *thresholds;
    size_t threshold_count;
    /* Likewise the most that there can be, for rounds_left: at most what the
     * system allows, and the env's heap_limit. 0, and of the others: that. */
    const uint64_t *limits;
    size_t limit_count;
    /* A count of the program, such as its own heap: *now, and the most that it
     * ever was. False if it is not known. NULL: no such
     * count. */
    bool (*own)(void *user, uint64_t *now, uint64_t *most);
    void *own_user;
    bool times; /* keep the time of each round: 8 bytes */
    /* Where energy comes from: "auto", the counters of processors (RAPL), which
     * mostly only root may read; or "mock:WATTS". Sampled at the beginning and
     * the end of each round. NULL or "none": nowhere. */
    const char *power;
    const char *power_root; /* in place of /sys; NULL: /sys */
};

/* MF_ERR_ARGUMENT if fewer than MF_WATCH_LEAST rounds are asked for, or power
 * is not one of them. The watch takes its memory from the env, all of it here.
 * options may be NULL. */
MF_API enum mf_status mf_watch_open(struct mf_env *env,
                                    const struct mf_watch_options *options,
                                    struct mf_watch **out);

/* NULL is allowed. */
MF_API void mf_watch_close(struct mf_watch *watch);

/* A round begins; false when there were enough of them. */
MF_API bool mf_watch_begin(struct mf_watch *watch);

/* It is over: looks at all counts. */
MF_API void mf_watch_end(struct mf_watch *watch);

struct mf_watch_count {
    const char *name; /* "library_heap", "own", "resident", "open_files",
                         "threads" */
    bool known;       /* else the other members are not set */
    uint64_t rounds;  /* that counted so far */
    uint64_t first, last;
    uint64_t high_water; /* at the end of any round, warm-up and the most that
                            the heap or own says included */
    double per_round;    /* how much the line through all values rises, by least
                            squares; exactly 0 if they are equal */
    uint64_t limit;      /* UINT64_MAX: none */
    bool complete; /* all rounds are over, and the count was known in each:
                      without that nothing leaks */
    bool leaks;    /* or it has come to its limit */
    uint64_t rounds_left; /* of a leak, from high_water to the limit; UINT64_MAX
                             where there is no leak, or no limit */
    uint64_t room[4];
};

/* For each enum mf_watch_kind; false, and out unchanged, for other indices. */
MF_API bool mf_watch_count_at(const struct mf_watch *watch, size_t index,
                              struct mf_watch_count *out);

/* Percentiles are times that were measured (nearest rank); std is divided by
 * count, not by count - 1. */
struct mf_watch_times {
    size_t count;
    double p50, p95, p99, mean, std; /* nanoseconds */
    uint64_t room[4];
};

/* Of the rounds that counted; false unless the option times is set. */
MF_API bool mf_watch_times(struct mf_watch *watch, struct mf_watch_times *out);

struct mf_watch_energy {
    const char *status; /* "measured"; "not measured"; "unavailable", and why in
                           parentheses: then all the rest is 0 */
    size_t samples;
    double joules, seconds;
    double mean_watts, peak_watts; /* of the samples */
    uint64_t room[4];
};

/* Of the rounds that counted, and of what was between them. False if an
 * argument is NULL. */
MF_API bool mf_watch_energy(const struct mf_watch *watch,
                            struct mf_watch_energy *out);

/* Writes all of this as one JSON document. A file that exists is an error
 * unless replace is set. */
MF_API enum mf_status mf_watch_write(struct mf_watch *watch, const char *path,
                                     bool replace);

#ifdef __cplusplus
}
#endif

#endif
