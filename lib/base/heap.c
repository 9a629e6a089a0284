/* SPDX-License-Identifier: MIT
 *
 * heap.c - the counted heap of an env, and the arena of a model
 */
#include "lib/base/heap.h"

#include <assert.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

#include "lib/base/kept.h"
#include "lib/base/options.h"
#include "lib/base/timings.h"

/* The first chunk is large enough for the metadata of a usual model; a model of
 * three keys does not notice it.  The next one is small, or an arena that was
 * filled exactly would take 16 KiB for one byte more. */
#define FIRST_CHUNK ((size_t)16 * 1024)
#define NEXT_CHUNK  ((size_t)2 * 1024)

/* Where memory is short a chunk takes a small share of what is left, but not
 * less than this. */
#define CHUNK_LEAST ((size_t)1024)
#define CHUNK_SHARE 16

struct mf_chunk {
    struct mf_chunk *next;
    size_t used, size; /* of bytes */
    size_t total;      /* size of this one and of all before */
    _Alignas(max_align_t) char bytes[];
};

static void *default_resize(void *user, void *block, size_t old_size,
                            size_t new_size)
{
    (void)user;
    (void)old_size;
    if (new_size == 0) {
        free(block);
        return NULL;
    }
    return realloc(block, new_size);
}

/* A compiler may drop a malloc whose block it never sees used. */
bool mf_heap_system_has(size_t size)
{
    void *volatile block = malloc(size);
    bool has = block != NULL;

    free(block);
    return has;
}

/* Names are hashed with a number that a file's author cannot know: the clock
 * and, where the system scatters addresses, the heap's place. */
static uint64_t hash_seed(const void *place)
{
    struct timespec now = { 0 };

    clock_gettime(CLOCK_MONOTONIC, &now);
    return ((uint64_t)now.tv_sec << 32 ^ (uint64_t)now.tv_nsec) *
               UINT64_C(0x9E3779B97F4A7C15) ^
           (uint64_t)(uintptr_t)place;
}

/* A block of old_size bytes (0: a new one) has new_size (0: it was freed). */
static void count(struct mf_heap *heap, size_t old_size, size_t new_size)
{
    heap->live += new_size - old_size;
    heap->live_blocks += (size_t)(old_size == 0) - (size_t)(new_size == 0);
    if (new_size == 0)
        return;
    heap->allocations++;
    heap->total_bytes += new_size;
    if (heap->live >= heap->peak) {
        heap->peak = heap->live;
        heap->peak_blocks = heap->live_blocks;
    }
}

static bool add_timings(struct mf_env *env)
{
    env->timings = mf_alloc(env, sizeof(*env->timings));
    if (env->timings)
        mf_timings_init(env->timings);
    return env->timings != NULL;
}

static size_t text_size(const char *text)
{
    return text && *text ? strlen(text) + 1 : 0;
}

/* After the env and what the caller has there, in the same block. */
static void keep_texts(struct mf_env *env, const struct mf_options *options,
                       size_t more)
{
    char *at = (char *)(env + 1) + more;
    size_t size = text_size(options->isa);

    if (size > 0)
        env->isa = memcpy(at, options->isa, size);
    at += size;
    size = text_size(options->scratch_folder);
    if (size > 0)
        env->scratch.folder = memcpy(at, options->scratch_folder, size);
}

struct mf_env *mf_env_make(const struct mf_options *options, size_t more)
{
    struct mf_options known;
    struct mf_heap heap = { .allocator.resize = default_resize };
    struct mf_env *env;
    size_t size;

    if (!mf_options_copy(&known, sizeof(known), options))
        return NULL;
    options = &known;
    heap.limit = options->heap_limit;
    heap.memory_left = options->memory_left;
    heap.memory_left_user = options->memory_left_user;
    if (options->allocator.resize)
        heap.allocator = options->allocator;
    size = sizeof(*env) + more + text_size(known.isa) +
           text_size(known.scratch_folder);
    if (heap.limit && heap.limit < size)
        return NULL;
    env = heap.allocator.resize(heap.allocator.user, NULL, 0, size);
    if (!env)
        return NULL;
    count(&heap, 0, size);
    *env = (struct mf_env){ .size = size,
                            .heap = heap,
                            .progress = options->progress,
                            .progress_user = options->progress_user,
                            .pending_edit = options->pending_edit,
                            .pending_edit_user = options->pending_edit_user,
                            .threads = options->threads,
                            .run = options->run,
                            .run_user = options->run_user,
                            .scratch.file = options->scratch_file,
                            .hash_seed = hash_seed(env) };
    keep_texts(env, options, more);
    mf_clear_error(env);
    if (options->timings && !add_timings(env)) {
        mf_env_free(env);
        return NULL;
    }
    return env;
}

void mf_env_lend(struct mf_env *out, const struct mf_env *env)
{
    out->heap.limit = 1;
    out->isa = env->isa;
    out->formats = env->formats;
    out->codecs = env->codecs;
    mf_clear_error(out);
}

static void env_release(struct mf_env *env)
{
    struct mf_heap heap;
    size_t size = env->size;

    mf_release(env, env->timings, sizeof(*env->timings));
    mf_kept_release(env);
    mf_inputs_release(env);
    if (env->scratch.own)
        close(env->scratch.file);
    heap = env->heap;
    heap.allocator.resize(heap.allocator.user, env, size, 0);
    assert(heap.live == size);
}

static void release_unused(struct mf_env *env)
{
    if (env->freed && env->open == 0)
        env_release(env);
}

void mf_env_free(struct mf_env *env)
{
    if (!env)
        return;
    env->freed = true;
    release_unused(env);
}

void mf_env_hold(struct mf_env *env)
{
    env->open++;
}

void mf_env_leave(struct mf_env *env)
{
    assert(env->open > 0);
    env->open--;
    release_unused(env);
}

void mf_env_discard(struct mf_env *env)
{
    if (env)
        env->discards = true;
}

void mf_env_use_dash(struct mf_env *env)
{
    if (env)
        env->dash = true;
}

enum mf_status mf_check_change(struct mf_env *env)
{
    return env->discards ? mf_fail(env, MF_ERR_STOPPED, MF_NO_OFFSET,
                                   "no file may be changed")
                         : MF_OK;
}

void mf_env_heap(const struct mf_env *env, struct mf_heap_stats *out)
{
    if (!out)
        return;
    *out = (struct mf_heap_stats){ 0 };
    if (!env)
        return;
    out->live = env->heap.live;
    out->peak = env->heap.peak;
    out->allocations = env->heap.allocations;
    out->total_bytes = env->heap.total_bytes;
    out->live_blocks = env->heap.live_blocks;
    out->peak_blocks = env->heap.peak_blocks;
}

void mf_env_io(const struct mf_env *env, struct mf_io_stats *out)
{
    if (out)
        *out = env ? env->io : (struct mf_io_stats){ 0 };
}

size_t mf_heap_left(const struct mf_env *env)
{
    const struct mf_heap *heap = &env->heap;
    size_t own = SIZE_MAX, program = SIZE_MAX;

    if (heap->limit > 0)
        own = heap->limit > heap->live ? heap->limit - heap->live : 0;
    if (heap->memory_left)
        program = heap->memory_left(heap->memory_left_user);
    return own < program ? own : program;
}

/* False after mf_decline. */
static bool may_grow(struct mf_env *env, size_t old_size, size_t new_size)
{
    size_t left;

    if (new_size <= old_size)
        return true;
    left = mf_heap_left(env);
    if (new_size - old_size <= left)
        return true;
    mf_decline(env, MF_REASON_HEAP_LIMIT, MF_NO_OFFSET,
               "%zu more bytes of memory are needed, and the limit leaves %zu",
               new_size - old_size, left);
    return false;
}

void *mf_env_resize(struct mf_env *env, void *block, size_t old_size,
                    size_t new_size)
{
    if (!env || (!block && old_size > 0)) {
        mf_missing(env, "block");
        return NULL;
    }

    struct mf_heap *heap = &env->heap;
    void *moved;

    assert(heap->live >= old_size);
    if (!may_grow(env, old_size, new_size))
        return NULL;
    moved =
        heap->allocator.resize(heap->allocator.user, block, old_size, new_size);
    if (!moved && new_size > 0) {
        mf_fail(env, MF_ERR_MEMORY, MF_NO_OFFSET,
                "the system has no %zu bytes of memory left", new_size);
        return NULL;
    }
    count(heap, old_size, new_size);
    return moved;
}

void mf_arena_init(struct mf_arena *arena, struct mf_env *env)
{
    arena->env = env;
    arena->chunk = NULL;
}

void mf_arena_release(struct mf_arena *arena)
{
    struct mf_chunk *chunk = arena->chunk;

    while (chunk) {
        struct mf_chunk *next = chunk->next;

        mf_release(arena->env, chunk, sizeof(*chunk) + chunk->size);
        chunk = next;
    }
    arena->chunk = NULL;
}

static struct mf_chunk *add_chunk(struct mf_arena *arena, size_t size)
{
    struct mf_chunk *chunk = NULL;

    if (size > SIZE_MAX - sizeof(*chunk))
        mf_fail(arena->env, MF_ERR_LIMIT, MF_NO_OFFSET,
                "%zu bytes do not fit the address space", size);
    else
        chunk = mf_alloc(arena->env, sizeof(*chunk) + size);
    if (chunk) {
        *chunk = (struct mf_chunk){
            .next = arena->chunk,
            .size = size,
            .total = size + (arena->chunk ? arena->chunk->total : 0),
        };
        arena->chunk = chunk;
    }
    return chunk;
}

enum mf_status mf_arena_reserve(struct mf_arena *arena, size_t size)
{
    return add_chunk(arena, size) ? MF_OK : arena->env->error.status;
}

/* Chunks grow with what there is, so that very much is not very many chunks: by
 * a quarter, and from 64 KiB on more slowly, down to an eighth. */
static size_t next_chunk(const struct mf_chunk *chunk)
{
    size_t quarter, eighth;

    if (!chunk)
        return FIRST_CHUNK;
    quarter = chunk->total / 4 < FIRST_CHUNK ? chunk->total / 4 : FIRST_CHUNK;
    eighth = chunk->total / 8;
    if (quarter < NEXT_CHUNK)
        return NEXT_CHUNK;
    return quarter > eighth ? quarter : eighth;
}

/* The size of the next chunk, less where memory is limited. */
static size_t chunk_size(const struct mf_arena *arena, size_t at_least)
{
    size_t share = mf_heap_left(arena->env) / CHUNK_SHARE;
    size_t wanted = next_chunk(arena->chunk);

    share = share > CHUNK_LEAST ? share : CHUNK_LEAST;
    wanted = wanted < share ? wanted : share;
    return wanted > at_least ? wanted : at_least;
}

/* size bytes, the first on a multiple of alignment (a power of two). */
static void *take(struct mf_arena *arena, size_t size, size_t alignment)
{
    struct mf_chunk *chunk = arena->chunk;
    size_t at = chunk ? (chunk->used + alignment - 1) & ~(alignment - 1) : 0;

    if (!chunk || at > chunk->size || chunk->size - at < size) {
        chunk = add_chunk(arena, chunk_size(arena, size));
        at = 0;
    }
    if (!chunk)
        return NULL;
    chunk->used = at + size;
    return chunk->bytes + at;
}

void *mf_arena_take(struct mf_arena *arena, size_t size)
{
    return take(arena, size, sizeof(uint64_t));
}

char *mf_arena_text(struct mf_arena *arena, size_t size)
{
    char *text = size < SIZE_MAX ? take(arena, size + 1, 1) : NULL;

    if (text)
        text[size] = 0;
    return text;
}
