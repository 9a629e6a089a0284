/* SPDX-License-Identifier: MIT
 *
 * store.h - caches of models on this machine
 *
 * A store is a folder in which a program keeps the models that it has fetched.
 * Each kind of store has a row in kinds.c and a file that reads its layout:
 * huggingface.c, ollama.c, llama_cpp.c, lmstudio.c.  Reading fills a struct
 * scan (scan.c) with models, files and problems; list.c, check.c, duplicates.c
 * and reclaim.c answer from it and know no layout.
 *
 * What is in a store was fetched from somewhere and is not trusted.  Symbolic
 * links are never followed to a file that is written.
 */
#ifndef MF_CLI_COMMANDS_STORE_H
#define MF_CLI_COMMANDS_STORE_H

#include <limits.h>

#include "cli/buffer.h"
#include "cli/cli.h"
#include "cli/walk.h"

/* ---- what a scan finds ---- */

/* What the name of a file, or a manifest, says of its bytes. */
enum store_digest { DIGEST_UNKNOWN, DIGEST_SHA256, DIGEST_GIT };

struct store_file {
    size_t path; /* in scan->text */
    uint64_t device, inode, size;
    enum store_digest digest;
    char hex[65];
    bool partial; /* half-fetched */
};

/* A file that a model consists of, or names. */
struct store_use {
    uint64_t device, inode, size;
    uint32_t model;
};

struct store_model {
    size_t place, name, path;
    size_t file; /* in the repository, or "" */
    enum mf_shards shards;
    char format[24], type[24];
    uint64_t size, shared; /* shared: of files that other models have, too */
};

enum store_trouble {
    TROUBLE_PARTIAL, /* half-fetched */
    TROUBLE_MISSING, /* a manifest or a link names a file that is not there */
    TROUBLE_INVALID, /* a manifest that cannot be read, a link that leads out */
    TROUBLE_SIZE,    /* not as large as the manifest says */
    TROUBLE_DIGEST   /* not what its name says */
};

struct store_problem {
    enum store_trouble trouble;
    size_t path, text;
};

struct store_place {
    const struct store_kind *kind;
    char path[PATH_MAX];
};

#define PLACES_MAX 32

/* Arrays are in buffers: see the functions below. */
struct scan {
    struct run *run;
    size_t place; /* that is being read */
    bool opens;   /* the headers of models, to list them */
    bool failed;  /* an error of the env: out of memory */
    struct buffer text, models, files, uses, problems;
};

static inline const char *scan_text(const struct scan *scan, size_t at)
{
    return scan->text.at + at;
}

static inline struct store_file *scan_files(const struct scan *scan)
{
    return (struct store_file *)(void *)scan->files.at;
}

static inline size_t scan_file_count(const struct scan *scan)
{
    return scan->files.size / sizeof(struct store_file);
}

static inline struct store_model *scan_models(const struct scan *scan)
{
    return (struct store_model *)(void *)scan->models.at;
}

static inline size_t scan_model_count(const struct scan *scan)
{
    return scan->models.size / sizeof(struct store_model);
}

static inline struct store_problem *scan_problems(const struct scan *scan)
{
    return (struct store_problem *)(void *)scan->problems.at;
}

static inline size_t scan_problem_count(const struct scan *scan)
{
    return scan->problems.size / sizeof(struct store_problem);
}

/* ---- scan.c ---- */

void scan_release(struct scan *scan);

/* For the files of layouts: a regular file.  hex: what its SHA-256 or the name
 * that git gives it should be; NULL: unknown. */
void scan_file(struct scan *scan, const struct walk_entry *entry,
               const char *hex);
void scan_partial(struct scan *scan, const struct walk_entry *entry);

/* A model that consists of the files of scan_use calls to come; path leads to
 * the one with tensors, or is "". */
void scan_model(struct scan *scan, const char *name, const char *path);

/* The model that was added last consists of that file, too. */
void scan_use(struct scan *scan, const char *path);

void scan_problem(struct scan *scan, enum store_trouble trouble,
                  const char *path, const char *format, ...)
    __attribute__((format(printf, 4, 5)));

/* Models in a folder and those below it, where scan->opens is set; base: the
 * bytes of their paths before the name in the repository. */
void scan_folder_models(struct scan *scan, const char *name, const char *folder,
                        size_t base);

/* "owner/name@main/model.gguf", escaped, on standard output; returns its width.
 */
size_t scan_show_name(const struct scan *scan, const struct store_model *model);

/* Where a program looks for its folder: below the value of a variable. */
struct scan_base {
    const char *set, *below; /* set: NULL or "": the next one */
};

/* The path of the first that is set; false if none is, or it is too long. */
bool scan_first_base(const struct scan_base *base, size_t count,
                     char out[PATH_MAX]);

/* Whether a name in the folder passes. */
bool scan_has_name(const char *folder, bool (*passes)(const char *name));

/* Whether the text ends with that suffix and is longer. */
bool scan_ends(const char *text, const char *suffix);

/* ---- kinds.c ---- */

struct store_kind {
    const char *name; /* "ollama", as an operand and in JSON */
    /* The folders that the program takes, index from 0 until false. */
    bool (*usual)(size_t index, char out[PATH_MAX]);
    bool (*is)(const char *folder); /* a folder has its layout */
    void (*scan)(struct scan *scan, const char *folder);
};

/* Ends with a row without a name. */
extern const struct store_kind store_kinds[];

/* The stores that the operands name; without operands those that exist.  They
 * are found once, before the sandbox closes. */
struct store_places {
    size_t count;
    const char *unknown; /* an operand that is not a store, or NULL */
    struct store_place at[PLACES_MAX];
};
const struct store_places *store_places(const struct run *run);

/* Reads all stores that were chosen; false after a report. */
bool scan_all(struct run *run, bool opens, struct scan *out);

/* ---- the layouts ---- */

bool huggingface_usual(size_t index, char out[PATH_MAX]);
bool huggingface_is(const char *folder);
void huggingface_scan(struct scan *scan, const char *folder);

bool ollama_is(const char *folder);
void ollama_scan(struct scan *scan, const char *folder);

bool llama_cpp_usual(size_t index, char out[PATH_MAX]);
bool llama_cpp_is(const char *folder);
void llama_cpp_scan(struct scan *scan, const char *folder);

bool lmstudio_usual(size_t index, char out[PATH_MAX]);
bool lmstudio_is(const char *folder);
void lmstudio_scan(struct scan *scan, const char *folder);

/* ---- equal.c ---- */

/* Files with equal bytes: sets of indices into scan_files, one after the other,
 * each ended by EQUAL_END. */
#define EQUAL_END UINT32_MAX
struct equal {
    uint32_t *at;
    size_t size, room;
    size_t unreadable;
};

/* Less is not worth a block of the disk. */
#define EQUAL_LEAST 4096

/* Compares by size, then by SHA-256; of several names of one inode the first
 * counts.  False after a report. */
bool equal_find(struct scan *scan, struct equal *out);
void equal_release(struct run *run, struct equal *equal);

/* ---- tensors.c ---- */

/* Equal tensors of all models of a scan with `opens`. */
void tensors_show(struct scan *scan);

#endif
