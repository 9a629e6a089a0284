/* SPDX-License-Identifier: MIT
 *
 * program.h - functions for the modelfile command only
 *
 * The public header is about models.  The command also needs things that an
 * embedding program has of its own: a JSON writer, text for terminals, the list
 * of a folder, memory and threads of an env.  They are here, so that the
 * public header, and the library's promise to keep it stable, need not grow
 * with the command.  The command is linked with the static library; the shared
 * one does not export these functions, and make install leaves this file out.
 *
 * The command includes this file and modelfile.h, and no other of lib/.
 */
#ifndef MF_LIB_PROGRAM_H
#define MF_LIB_PROGRAM_H

#include "lib/json_writer.h"
#include "lib/modelfile.h"
#include "lib/ranks.h"
#include "lib/trials.h"

/* ---- Memory and threads of an env ---------------------------------------- */

/* Memory of the env's heap, counted and limited with the rest.  Moves block to
 * new_size bytes: a block of NULL allocates, a new_size of 0 frees and returns
 * NULL.  old_size is the size that the block was allocated with.  On failure
 * returns NULL with the error set, and leaves the block as it was. */
void *mf_env_resize(struct mf_env *env, void *block, size_t old_size,
                    size_t new_size);

/* Adds the timings of another env, which worked for this one in the same
 * thread, and was not added before. */
void mf_env_add_timings(struct mf_env *env, const struct mf_env *other);

/* From now on nothing that this env writes is kept: outputs go to /dev/null,
 * and what would change or remove a file ends with MF_ERR_STOPPED.  For a
 * process that finds out whether a call can do its work. */
void mf_env_discard(struct mf_env *env);

/* From here on an output named "-" is standard output. */
void mf_env_use_dash(struct mf_env *env);

/* From now on no output of this env replaces the file that is open as fd: the
 * program has read it for the work. */
enum mf_status mf_env_keep_input(struct mf_env *env, int fd);

/* A file for mf_options.scratch_file, which no name leads to; -1 with errno.
 * folder: as mf_options.scratch_folder. */
int mf_scratch_open(const char *folder);

/* The number of threads that share long work of this env; 1 for NULL. */
size_t mf_env_threads(const struct mf_env *env);

/* Calls task once for each index below count, on the env's threads: in any
 * order, and several at once.  Returns when all calls have returned.  Progress
 * is reported in tasks; MF_ERR_STOPPED when the env's progress function ended
 * the work.  The threads block nearly all signals: a program that a task starts
 * should be given a signal mask of its own. */
enum mf_status mf_env_share(struct mf_env *env, size_t count,
                            void (*task)(void *user, size_t index), void *user);

/* A text of the program that make has packed (lib/model/pack.sh). */
struct mf_packed {
    const uint8_t *at;
    size_t size;
    bool deflated; /* else it is the text */
};

/* Gives all of it to put, in pieces. */
enum mf_status
mf_packed_put(struct mf_env *env, const struct mf_packed *packed,
              void (*put)(void *user, const void *at, size_t size), void *user);

/* Why calls that would use the instruction set of mf_options.isa will fail, to
 * be found out before any work begins; NULL if they will not. */
const char *mf_isa_refused(const struct mf_env *env);

/* Tells a profile of a change that another allocator has made: a block of
 * old_size bytes (0: a new one) has new_size (0: it will be freed).  tag: what
 * was returned for the block last time; 0 for a new one.  caller: where the
 * function that allocates returns to; calls further in are not of interest.
 * From any thread; it must not be called by the profile's own allocator.  user
 * is the profile. */
uint64_t mf_profile_change(void *user, uint64_t tag, size_t old_size,
                           size_t new_size, const void *caller);

/* ---- SHA-256 ------------------------------------------------------------- */

/* FIPS 180-4, without libcrypto, which must be loaded; on processors without
 * instructions for it, libcrypto is faster. */
struct mf_sha256 {
    uint32_t state[8];
    uint64_t size; /* bytes so far */
    uint8_t block[64];
};

void mf_sha256_begin(struct mf_sha256 *sha);
void mf_sha256_add(struct mf_sha256 *sha, const void *bytes, size_t size);

/* May be called more than once, with more bytes in between. */
void mf_sha256_end(const struct mf_sha256 *sha, uint8_t out[32]);

/* ---- Measuring ----------------------------------------------------------- */

/* Sorts the times; a unit of the caller's. All zero for no times. */
struct mf_watch_times mf_times_of(double *times, size_t count);

void mf_times_sort(double *times, size_t count);

/* The smallest of sorted times that percent of them do not exceed. */
double mf_times_percentile(const double *sorted, size_t count,
                           unsigned percent);

/* Energy from samples of power, in constant memory however many there are.  All
 * zero to begin with. */
struct mf_energy {
    size_t samples;
    double joules, peak; /* watts at most */
    double sum;          /* of the watts of all samples */
    double watts;        /* of the last sample */
    uint64_t first_us, last_us;
};

/* The mean of the samples, 0 without samples.  The mean over time, joules
 * divided by seconds, differs if samples are not evenly spaced. */
double mf_energy_mean_watts(const struct mf_energy *energy);
double mf_energy_seconds(const struct mf_energy *energy);

#define MF_POWER_ZONES 32

enum mf_power_kind { MF_POWER_NONE, MF_POWER_MOCK, MF_POWER_RAPL };

struct mf_power_zone {
    char folder[32]; /* "intel-rapl:0" */
    char name[32];   /* "package-0" */
    uint64_t energy; /* microjoules, when it was read last */
    uint64_t range;  /* the counter wraps around after this; 0: unknown */
};

/* How much power the machine takes: see lib/watch/power.c. */
struct mf_power {
    enum mf_power_kind kind;
    const char *why; /* there are no figures; NULL: there are */
    double watts;    /* of a mock */
    int folder;      /* of the zones; -1: not open */
    size_t count;
    struct mf_power_zone zone[MF_POWER_ZONES];
    uint64_t read_us; /* when all counters were read last */
    bool moved;       /* a counter has changed since mf_power_open */
};

/* choice: "auto", "none" or "mock:WATTS"; NULL is auto.  root: what takes the
 * place of /sys; NULL: nothing does.  False if the choice is unknown. */
bool mf_power_open(struct mf_power *power, const char *choice, const char *root,
                   uint64_t now_us);
void mf_power_close(struct mf_power *power);

/* What was taken until now: one sample for each of `count` sums.  None if it is
 * unknown. */
void mf_power_sample(struct mf_power *power, uint64_t now_us,
                     struct mf_energy *const sums[], size_t count);

/* "measured", "unavailable (permission)", "not measured": about what was
 * sampled. */
const char *mf_power_status(const struct mf_power *power,
                            const struct mf_energy *energy);

/* All bytes of the process that are in memory, mapped files included: one small
 * read, for a number that is asked for often.  False, and out unchanged, where
 * /proc does not say so. */
bool mf_self_resident(uint64_t *out);

/* The least of RLIMIT_DATA, RLIMIT_AS and what the machine has; UINT64_MAX:
 * there is no limit. */
uint64_t mf_self_memory_limit(void);

/* ---- Folders ------------------------------------------------------------- */

/* Calls found for every model in a folder, in the order of names, but not for
 * those in its subfolders: once per split model, with a path and the shards
 * member to give to mf_model_open.  Other files, and names that begin with a
 * dot, are skipped.  When found returns another status than MF_OK the listing
 * ends with that status. */
enum mf_status mf_folder_list(struct mf_env *env, const char *folder,
                              enum mf_status (*found)(void *user,
                                                      const char *path,
                                                      enum mf_shards shards),
                              void *user);

/* The same for the subfolders of a folder; link: it is a symbolic link. */
enum mf_status mf_folder_subfolders(struct mf_env *env, const char *folder,
                                    enum mf_status (*found)(void *user,
                                                            const char *path,
                                                            bool link),
                                    void *user);

/* Which of the names in a folder is the model that opening the folder would
 * open: its name in out, which has room bytes, and the shards member to open it
 * with.  Without one, or with several, the error says so as opening the folder
 * does. */
enum mf_status mf_names_choose(struct mf_env *env, const char *const *names,
                               size_t count, char *out, size_t room,
                               enum mf_shards *shards);

/* A file next to an output that is not whole. */
struct mf_left_file {
    const char *name; /* without a folder, as in a message */
    long process;     /* which writes it, or did; 0: the file is kept for the
                         option resume */
};

/* Calls found for each such file of the output at path. */
void mf_left_files(const char *path,
                   void (*found)(void *user, const char *path,
                                 const struct mf_left_file *file),
                   void *user);

/* The names in a folder, one after the other.  readdir of the C library takes
 * 32 KiB of heap for any folder, which is more than the rest of many a command
 * needs; it is used only where Linux's own call is not known
 * (lib/io/system.h). */
struct mf_entries {
    int folder; /* -1: none is open */
#if defined(__linux__) && defined(__GLIBC__)
    size_t at, filled; /* bytes of the list read last */
    union {
        uint64_t align;
        uint8_t bytes[2048]; /* the longest entry has 280 */
    } list;
#else
    void *stream;
    char name[1024]; /* on Windows: the last one in UTF-8 */
#endif
};

/* folder: open, and read from its beginning; mf_entries_end closes it.  One
 * that is negative, because it could not be opened, has no names: EBADF. */
void mf_entries_begin(struct mf_entries *entries, int folder);
void mf_entries_end(struct mf_entries *entries);

/* The next name, valid until the next call, "." and ".." among them; NULL at
 * the end with errno 0, or after a failure with its errno. */
const char *mf_entries_next(struct mf_entries *entries);

#if !defined(_WIN32) /* its struct stat is the library's own */
struct stat;

/* Whether a file or link may have been planted: it is in a folder such as /tmp,
 * where everyone may create names, and belongs neither to us nor to the
 * folder's owner.  Linux refuses to follow or write such files where
 * fs.protected_symlinks and its like are set; we refuse in any case. */
bool mf_is_planted(const struct stat *folder, const struct stat *file);
#endif

/* ---- Files that are not models ------------------------------------------- */

/* Calls found for every string and number of a JSON file of at most `most`
 * bytes, with its path, as in "layers.0.digest"; a number has its digits.  The
 * outermost value must be an object.  Strings above 512 bytes are left out. */
enum mf_status mf_json_file_read(struct mf_env *env, const char *path,
                                 uint64_t most,
                                 void (*found)(void *user, const char *path,
                                               struct mf_str value),
                                 void *user);

typedef void mf_json_found(void *user, const char *path, struct mf_str value,
                           bool is_number);

/* The same of bytes in memory, which may be hostile, with a separator in place
 * of the dot; a path whose names have one in them, or that has more than 127
 * bytes, is "?".  The error of the env stays as it is; this one is in *error.
 */
enum mf_status mf_json_bytes_read(struct mf_env *env, struct mf_str bytes,
                                  char separator, mf_json_found *found,
                                  void *user, struct mf_error *error);

/* One of several files. */
struct mf_hashed_file {
    const char *path;
    uint64_t size; /* for the progress */
    bool git;      /* the name that git gives the file (SHA-1), else SHA-256 */
    uint8_t digest[MF_DIGEST_MAX];
    enum mf_status status; /* other than MF_OK: there is no digest */
    char why[128];
};

/* Digests of all bytes of files, on the env's threads.  A file that cannot be
 * read does not make the call fail. */
enum mf_status mf_files_hash(struct mf_env *env, struct mf_hashed_file *files,
                             size_t count);

enum mf_share_end {
    MF_SHARE_DONE,
    MF_SHARE_ALREADY,    /* their data was in one place before */
    MF_SHARE_DIFFERENT,  /* they are not equal */
    MF_SHARE_IMPOSSIBLE, /* the file system has no reflinks, or they are on two
                            file systems */
    MF_SHARE_SKIPPED     /* see why */
};

struct mf_share {
    enum mf_share_end end;
    const char *why; /* "it belongs to another user" */
};

/* Replaces the file at path by one that shares the data of the file `from`, if
 * all their bytes are equal: by a clone, which keeps its mode, owner and times,
 * or with links by a hard link, and then both are write-protected.  Whenever
 * the process ends, both names lead to whole files. */
enum mf_status mf_file_share(struct mf_env *env, const char *from,
                             const char *path, bool links,
                             struct mf_share *out);

/* Whether two files of one size share all their data, as far as the system says
 * so. */
bool mf_file_shares(const char *a, const char *b);

/* Sorts row numbers of a table without memory; before: row a comes before row
 * b. */
void mf_sort(uint32_t *row, size_t count,
             bool (*before)(const void *table, uint32_t a, uint32_t b),
             const void *table);

/* ---- Files that are named by their digest --------------------------------
 */

/* The SHA-256 that a shard's file should have: mf_model_validate_data reads all
 * its bytes, and finds it where they are others.  Before that call. */
enum mf_status mf_model_expect_sha256(struct mf_model *model, size_t shard,
                                      const uint8_t sha256[32]);

/* ---- Models that can be read once ----------------------------------------
 */

/* Of a source whose bytes come in order, so that its length shows at the end,
 * two models are opened.  The first is opened with the length that its header
 * implies: this reads the data of its tensors, in the order of their offsets if
 * the env has one thread.  After MF_ERR_IO, as where the bytes end early, what
 * was found before counts. */
enum mf_status mf_model_scan_once(struct mf_model *model);

/* The second, of the same header, is opened with the true length: with this,
 * mf_model_validate_data takes what the scan has found, and reads nothing but
 * the padding of the last tensor.  The scan is closed with the model. */
void mf_model_take_scan(struct mf_model *model, struct mf_model *scan);

/* ---- What is not read ---------------------------------------------------- */

/* MF_ERR_UNSUPPORTED if the model has anything for mf_missing_at, unless it was
 * opened with allow_missing: for an answer about all of it. */
enum mf_status mf_missing_refuse(const struct mf_model *model);

/* ---- Types for some tensors ---------------------------------------------- */

/* mf_quantize takes as many patterns: one for each tensor of a large model.
 * With as many tensors that is half a second for patterns that begin with a
 * letter, some seconds for others. */
#define MF_PATTERNS_MAX 4096

/* "none", "all", "part", "unused", "mismatch", "no_tensor" */
const char *mf_cover_name(enum mf_imatrix_cover cover);

/* ---- Metadata keys --------------------------------------------------------
 */

/* Goes through the keys of GGUF that some program reads, keys of the model's
 * architecture under its name; some come more than once.  No model of another
 * format has any. */
struct mf_known_keys {
    const struct mf_model *model;
    size_t index; /* private, as the rest; begin with zeros */
    size_t at;
    char key[160];
};

/* The next one, valid until the next call; NULL at the end. */
const char *mf_known_key_next(struct mf_known_keys *keys);

/* ---- Some of the tensors --------------------------------------------------
 */

/* Patterns are globs over whole names, as those that the command takes. */
struct mf_selection {
    const char *const *only, *const *skip;
    size_t only_count, skip_count;
    const char *const *strip; /* what names that begin with it lose */
    size_t strip_count;
};

struct mf_selected {
    size_t skipped, renamed;
    size_t unread; /* of those that were skipped */
};

/* Leaves the model only tensors that a pattern of `only` matches, or all if
 * there is none, and of them those that no pattern of `skip` matches; then cuts
 * the first text of `strip` with which a name begins.  Errors of tensors that
 * are left out are forgotten, and tensors that mf_missing_at names are left out
 * in the same way, and not reported as missing.  For a model that was just
 * opened, and will be written: facts read from it before are out of date. Fails
 * if a pattern or text fits nothing, if nothing is left, or if two tensors
 * would have one name. */
enum mf_status mf_model_select(struct mf_model *model,
                               const struct mf_selection *selection,
                               struct mf_selected *out);

/* Of what mf_missing_at named, what was left out: mf_selected.unread rows, in
 * the order of the file. */
bool mf_missing_skipped_at(const struct mf_model *model, size_t index,
                           struct mf_missed *out);

/* Names in mf_missing_at the tensors that mf_tensor_stats cannot measure, too;
 * fits[i] is set for all others. Once for a model. */
enum mf_status mf_tensor_stats_miss(struct mf_model *model, bool *fits);

/* ---- Files made from a model --------------------------------------------- */

/* Writes a file, such as a picture of a model.  It appears once complete on the
 * disk.  MF_ERR_OUTPUT if it is one of the files of the model, or exists and
 * replace is not set. */
enum mf_status mf_output_write(struct mf_model *model, const char *path,
                               bool replace, const void *bytes, size_t size);

/* The same for a file that was not made of one model. */
enum mf_status mf_file_write(struct mf_env *env, const char *path, bool replace,
                             const void *bytes, size_t size);

/* ---- Converting as llama.cpp's converter does -----------------------------
 */

/* What MF_NAMING_AUTO means for the file at path; other names of the options
 * stay. */
enum mf_status mf_convert_names(struct mf_model *model, const char *path,
                                const struct mf_convert_options *options,
                                enum mf_naming *out);

/* Whether the model's own metadata, not a file next to it, say what its
 * architecture is. */
bool mf_model_names_architecture(const struct mf_model *model);

/* Types that the cache of a plan can have: index from 0 until NULL. */
const char *mf_plan_cache_type(size_t index);

/* Contexts to compute memory for: rising, from 256 to the most tokens that
 * matter; that alone if it is less, and 256 if it is 0.  Returns how many there
 * are. */
#define MF_PLAN_POINTS 56
size_t mf_plan_contexts(uint64_t most, uint64_t out[MF_PLAN_POINTS]);

/* Whether mf_model_convert makes of the model, a folder of Hugging Face, the
 * GGUF file that llama.cpp's converter makes of it. */
bool mf_converts_folder(struct mf_model *model,
                        const struct mf_convert_options *options);

/* The classes of config.json that this can be done with, or whose projector can
 * be converted, in order: the first one after `name`, which begins as NULL.
 * False: there are no more. */
bool mf_class_after(struct mf_str *name, bool projector);

/* For such a model, the path of the file that the converter writes, into out,
 * which has room bytes.  path: a folder, and its metadata name the model in it;
 * or a file, in whose name {ftype} and the like mean the type of the model's
 * matrices. */
enum mf_status mf_convert_path(struct mf_model *model, const char *path,
                               const struct mf_convert_options *options,
                               char *out, size_t room);

/* ---- Text ---------------------------------------------------------------- */

/* The number of bytes at the start of a text that can go to a terminal or a log
 * unchanged: well-formed UTF-8 without control and format characters,
 * bidirectional overrides, zero-width characters, variation selectors and tags.
 * A terminal would obey those, and a reader would not see them. */
size_t mf_text_clean(const char *at, size_t size);

/* Writes the escaped form (\n, \x1b, \u202e, \U000e0041) of the character at
 * which mf_text_clean stopped into out, terminated.  Returns how many bytes of
 * the text it replaces: 1 to 4, never 0 for a size above 0. */
size_t mf_text_escape(const char *at, size_t size, char out[12]);

/* The columns that clean text takes on a terminal: two for an East Asian
 * character and most emoji, none for a combining mark. */
size_t mf_text_width(const char *at, size_t size);

/* For tables of texts.  With a seed that a file's author cannot know, an
 * attacker cannot prepare texts that collide. */
uint64_t mf_text_hash(struct mf_str text, uint64_t seed);

/* Whether a text is well-formed UTF-8. */
bool mf_text_is_utf8(const char *at, size_t size);

#endif
