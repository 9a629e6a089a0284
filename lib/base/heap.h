/* SPDX-License-Identifier: MIT
 *
 * heap.h - the counted heap of an env, and the arena of a model
 *
 * The only file of the library that may call malloc is heap.c.  Sizes are
 * passed back on free, so no block carries a hidden header.
 */
#ifndef MF_LIB_HEAP_H
#define MF_LIB_HEAP_H

#include <stdatomic.h>

#include "lib/base/error.h"
#include "lib/program.h"

struct mf_heap {
    struct mf_allocator allocator;
    size_t live, peak, limit; /* limit 0: unlimited */
    size_t live_blocks, peak_blocks;
    uint64_t allocations, total_bytes;
    size_t (*memory_left)(void *user); /* of the program, or NULL */
    void *memory_left_user;
};

#define MF_KEPT 8

struct mf_kept { /* see kept.h */
    void *_Atomic block;
    size_t size;
};

/* A file without a name: see scratch.h. */
struct mf_scratch {
    const char *folder; /* for a file of our own; or NULL */
    int file;           /* 0: not open yet; -1: cannot be opened */
    bool own;           /* opened by the library */
    size_t users;       /* models with bytes in it */
    uint64_t end;       /* of what was taken */
};

/* Files that no output may replace: see kept.h. */
struct mf_inputs {
    struct mf_input_file {
        uint64_t device, file;
    } * at;
    size_t count, room;
};

struct mf_format;
struct mf_codec_set;

struct mf_env {
    size_t size; /* with the texts after it */
    size_t open; /* models and the like that need it */
    bool freed;  /* by the program: the last of them releases it */
    struct mf_heap heap;
    struct mf_io_stats io;
    struct mf_error error;
    bool (*progress)(void *user, const struct mf_progress *progress);
    void *progress_user;
    void (*pending_edit)(void *user, const struct mf_pending_edit *edit);
    void *pending_edit_user;
    /* Threads that share long work; 0: see mf_threads_useful. */
    unsigned threads;
    struct mf_team *team; /* of the crew that has threads now; or NULL */
    /* The program's own threads; NULL: see mf_options. */
    void (*run)(void *user, size_t count,
                void (*work)(void *context, size_t index), void *context);
    void *run_user;
    const struct mf_ranks *ranks; /* NULL: the work is this process's */
    struct mf_meetings *meetings; /* with them; see ranks.c */
    const char *isa;              /* that the program wants; NULL: the best */
    bool discards;                /* what it writes: see mf_env_discard */
    bool dash;                    /* see mf_env_use_dash */
    /* Keeps authors of files from preparing names that collide. */
    uint64_t hash_seed;
    struct mf_timings *timings; /* NULL: not asked for; see timings.h */
    struct mf_temporary *_Atomic temporary; /* the newest; see temporary.h */
    atomic_bool resumable;                  /* see mf_env_resumable */
    bool measured; /* errors of types are kept for the output in work */
    struct mf_kept kept[MF_KEPT];
    atomic_bool keeping;
    struct mf_scratch scratch;
    struct mf_inputs inputs;
    struct mf_seen *seen; /* files next to open models; see steady.h */
    /* What the program wants of it; set by lib/full, never NULL in an env of a
     * program.  The formats end with NULL; the codecs are a table by enum
     * mf_type. */
    const struct mf_format *const *formats;
    const struct mf_codec_set *const *codecs;
};

/* An env that knows no format and no codec, as mf_env_new makes one, with room
 * for `more` bytes of the caller's at env + 1. */
struct mf_env *mf_env_make(const struct mf_options *options, size_t more);

/* Makes an env, all zero before, for errors and reads of work that another one
 * has begun: it knows what that one knows, and its heap refuses everything. */
void mf_env_lend(struct mf_env *out, const struct mf_env *env);

/* For what the program opens with an env and closes later, in any order. */
void mf_env_hold(struct mf_env *env);
void mf_env_leave(struct mf_env *env);

/* How many bytes can be allocated now: as far as the heap's limit and the
 * program's allow; SIZE_MAX if neither has one.  Code that can do with less
 * asks before it allocates.  The next request may still be refused. */
size_t mf_heap_left(const struct mf_env *env);

/* Whether the C library, not the env's allocator, has that many bytes: for
 * OpenMP, which ends the program when it gets no memory. */
bool mf_heap_system_has(size_t size);

/* MF_ERR_STOPPED, after mf_fail, for an env that must not change files. */
enum mf_status mf_check_change(struct mf_env *env);

static inline void *mf_alloc(struct mf_env *env, size_t size)
{
    return mf_env_resize(env, NULL, 0, size);
}

static inline void mf_release(struct mf_env *env, void *block, size_t size)
{
    if (block)
        mf_env_resize(env, block, size, 0);
}

/* Checked arithmetic for numbers that come from a file. */
static inline bool mf_mul(uint64_t a, uint64_t b, uint64_t *out)
{
    return !__builtin_mul_overflow(a, b, out);
}

static inline bool mf_add(uint64_t a, uint64_t b, uint64_t *out)
{
    return !__builtin_add_overflow(a, b, out);
}

/* offset up to the next multiple of alignment (a power of two or not). */
static inline bool mf_align_up(uint64_t offset, uint64_t alignment,
                               uint64_t *out)
{
    uint64_t over = alignment > 1 ? offset % alignment : 0;

    return mf_add(offset, over ? alignment - over : 0, out);
}

/* Memory that is released all at once.  Blocks come from a few chunks. */
struct mf_arena {
    struct mf_env *env;
    struct mf_chunk *chunk; /* the newest; it links to older ones */
};

void mf_arena_init(struct mf_arena *arena, struct mf_env *env);
void mf_arena_release(struct mf_arena *arena);

/* size bytes aligned for any number; NULL after mf_fail. */
void *mf_arena_take(struct mf_arena *arena, size_t size);

/* size bytes of text, unaligned, with a NUL after them. */
char *mf_arena_text(struct mf_arena *arena, size_t size);

/* Starts a chunk of its own for the next size bytes: one allocation now, and
 * always one, however much is left of the chunk before. */
enum mf_status mf_arena_reserve(struct mf_arena *arena, size_t size);

#endif
