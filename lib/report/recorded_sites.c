/* SPDX-License-Identifier: MIT
 *
 * recorded_sites.c - the sites of a heap profile that have most bytes
 *
 * A profile of a long run has tens of thousands of sites, a hostile one any
 * number.  Two lists of SITES are kept, by bytes at the peak and by bytes in
 * all; everything else is only added up.  The texts of frames are gone over
 * again when they are written, so none is kept.
 */
#include "lib/base/sort.h"
#include "lib/report/recorded.h"

#define SITES     200
#define FRAMES    64   /* the innermost ones of a site */
#define FRAME_MAX 1000 /* bytes of one */

enum site_value {
    TOTAL,
    BLOCKS,
    PEAK,
    PEAK_BLOCKS,
    LEFT,
    LEFT_BLOCKS,
    MOST,
    MOST_BLOCKS,
    LIFETIME,
    READ,
    WRITTEN,
    VALUES
};

/* A profile without blocks that end, of events, has the first two alone. */
static const struct {
    const char *key, *member;
    bool sum;
} values[VALUES] = {
    [TOTAL] = { "tb", "bytes", true },
    [BLOCKS] = { "tbk", "blocks", true },
    [PEAK] = { "gb", "at_peak", true },
    [PEAK_BLOCKS] = { "gbk", "peak_blocks", true },
    [LEFT] = { "eb", "left", true },
    [LEFT_BLOCKS] = { "ebk", "left_blocks", true },
    [MOST] = { "mb", "most", false },
    [MOST_BLOCKS] = { "mbk", "most_blocks", false },
    [LIFETIME] = { "tl", "lifetime", false },
    [READ] = { "rb", "read", true },
    [WRITTEN] = { "wb", "written", true },
};

struct site {
    uint64_t index; /* among all sites */
    uint64_t value[VALUES];
    unsigned has; /* bit i: value i */
    bool has_stack;
    uint64_t depth; /* of the whole stack */
    uint32_t frame[FRAMES];
};

struct best {
    enum site_value by;
    size_t count;
    uint16_t order[SITES]; /* rows of site, the largest first */
    struct site site[SITES];
};

struct mf_sites {
    struct mf_recorded *recorded;
    uint64_t count;
    uint64_t sum[VALUES];
    unsigned has; /* of any site */
    uint32_t last_frame;
    uint64_t last_frame_offset;
    struct site now;
    struct best best[2];
    size_t frame_count;
    uint32_t frame[2 * SITES * FRAMES]; /* that are shown, in order */
};

struct mf_sites *mf_sites_new(struct mf_recorded *recorded)
{
    struct mf_sites *sites = mf_arena_take(&recorded->arena, sizeof(*sites));

    if (sites) {
        memset(sites, 0, sizeof(*sites));
        sites->recorded = recorded;
        sites->best[0].by = PEAK;
        sites->best[1].by = TOTAL;
    }
    return sites;
}

/* ---- one site ---- */

static enum mf_status take_frames(struct mf_sites *sites, struct mf_json *json,
                                  enum mf_json_token token)
{
    struct mf_env *env = sites->recorded->env;
    struct site *site = &sites->now;
    uint64_t frame;

    if (token != MF_JSON_BEGIN_ARRAY || site->has_stack)
        return mf_fail(env, MF_ERR_CORRUPT, json->token_offset,
                       "'fs' of site %" PRIu64 " is not one array",
                       sites->count);
    site->has_stack = true;
    while ((token = mf_json_next(json)) != MF_JSON_END_ARRAY) {
        if (mf_take_number(json, token, "fs", &frame) != MF_OK)
            return env->error.status;
        if (frame > UINT32_MAX)
            return mf_fail(env, MF_ERR_CORRUPT, json->token_offset,
                           "frame %" PRIu64 " of site %" PRIu64
                           ", at most %" PRIu32 " is possible",
                           frame, sites->count, UINT32_MAX);
        if (site->depth < FRAMES)
            site->frame[site->depth] = (uint32_t)frame;
        site->depth++;
        if (frame >= sites->last_frame) {
            sites->last_frame = (uint32_t)frame;
            sites->last_frame_offset = json->token_offset;
        }
    }
    return MF_OK;
}

static enum mf_status take_member(struct mf_sites *sites, struct mf_json *json)
{
    struct site *site = &sites->now;
    char key[8];
    uint64_t size;
    bool more;
    enum mf_json_token token;

    if (mf_json_text(json, key, sizeof(key) - 1, &size, &more) != MF_OK)
        return sites->recorded->env->error.status;
    key[size] = 0;
    token = mf_json_next(json);
    if (!more && strcmp(key, "fs") == 0)
        return take_frames(sites, json, token);
    for (size_t i = 0; i < VALUES && !more; i++)
        if (strcmp(key, values[i].key) == 0) {
            site->has |= 1u << i;
            return mf_take_number(json, token, values[i].key, &site->value[i]);
        }
    return mf_json_skip(json, token);
}

static enum mf_status take_site(struct mf_sites *sites, struct mf_json *json,
                                enum mf_json_token token)
{
    struct mf_env *env = sites->recorded->env;
    const unsigned needed = 1u << TOTAL | 1u << BLOCKS;
    uint64_t offset = json->token_offset;

    sites->now = (struct site){ .index = sites->count };
    if (token != MF_JSON_BEGIN_OBJECT)
        return mf_fail(env, MF_ERR_CORRUPT, offset,
                       "site %" PRIu64 " is not an object", sites->count);
    while ((token = mf_json_next(json)) == MF_JSON_KEY)
        if (take_member(sites, json) != MF_OK)
            return env->error.status;
    if (token != MF_JSON_END_OBJECT)
        return env->error.status;
    if ((sites->now.has & needed) != needed || !sites->now.has_stack)
        return mf_fail(env, MF_ERR_CORRUPT, offset,
                       "site %" PRIu64 " lacks 'tb', 'tbk' or 'fs'",
                       sites->count);
    return MF_OK;
}

/* ---- the largest ---- */

/* Of equal ones, the first that came. */
static void offer(struct best *best, const struct site *site)
{
    const enum site_value by = best->by;
    size_t at = best->count;
    uint16_t row;

    while (at > 0 &&
           best->site[best->order[at - 1]].value[by] < site->value[by])
        at--;
    if (at == SITES)
        return;
    row = (uint16_t)best->count;
    if (best->count == SITES)
        row = best->order[SITES - 1];
    else
        best->count++;
    memmove(best->order + at + 1, best->order + at,
            (best->count - 1 - at) * sizeof(*best->order));
    best->order[at] = row;
    best->site[row] = *site;
}

static enum mf_status add(struct mf_sites *sites, uint64_t offset)
{
    const struct site *site = &sites->now;

    for (size_t i = 0; i < VALUES; i++)
        if (values[i].sum &&
            !mf_add(sites->sum[i], site->value[i], &sites->sum[i]))
            return mf_fail(sites->recorded->env, MF_ERR_CORRUPT, offset,
                           "the sum of '%s' of %" PRIu64
                           " sites is more than 64 bits have",
                           values[i].key, sites->count + 1);
    sites->has |= site->has;
    offer(&sites->best[0], site);
    offer(&sites->best[1], site);
    sites->count++;
    return MF_OK;
}

enum mf_status mf_sites_read(struct mf_sites *sites, struct mf_json *json,
                             enum mf_json_token first)
{
    struct mf_env *env = sites->recorded->env;
    enum mf_json_token token;

    if (first != MF_JSON_BEGIN_ARRAY)
        return mf_fail(env, MF_ERR_CORRUPT, json->token_offset,
                       "'pps' is not an array");
    while ((token = mf_json_next(json)) != MF_JSON_END_ARRAY) {
        uint64_t offset = json->token_offset;

        if (take_site(sites, json, token) != MF_OK ||
            add(sites, offset) != MF_OK)
            return env->error.status;
    }
    return MF_OK;
}

enum mf_status mf_sites_check(const struct mf_sites *sites, uint64_t count)
{
    if (sites->last_frame_offset == 0 || sites->last_frame < count)
        return MF_OK;
    return mf_fail(sites->recorded->env, MF_ERR_CORRUPT,
                   sites->last_frame_offset,
                   "frame %" PRIu32 " of a site, 'ftbl' has %" PRIu64,
                   sites->last_frame, count);
}

/* ---- which sites are written ---- */

/* Site i of both lists, without those that the first has already; NULL: it is
 * one of those. */
static const struct site *site_at(const struct mf_sites *sites, size_t i)
{
    const struct best *first = &sites->best[0], *second = &sites->best[1];
    const struct site *site;

    if (i < first->count)
        return &first->site[first->order[i]];
    site = &second->site[second->order[i - first->count]];
    for (size_t k = 0; k < first->count; k++)
        if (first->site[k].index == site->index)
            return NULL;
    return site;
}

static size_t frames_of(const struct site *site)
{
    return site->depth < FRAMES ? (size_t)site->depth : FRAMES;
}

static bool is_before(const void *table, uint32_t a, uint32_t b)
{
    (void)table;
    return a < b;
}

static void list_frames(struct mf_sites *sites)
{
    size_t all = sites->best[0].count + sites->best[1].count, kept = 0;

    sites->frame_count = 0;
    for (size_t i = 0; i < all; i++) {
        const struct site *site = site_at(sites, i);

        for (size_t k = 0; site && k < frames_of(site); k++)
            sites->frame[sites->frame_count++] = site->frame[k];
    }
    mf_sort(sites->frame, sites->frame_count, is_before, NULL);
    for (size_t i = 0; i < sites->frame_count; i++)
        if (kept == 0 || sites->frame[kept - 1] != sites->frame[i])
            sites->frame[kept++] = sites->frame[i];
    sites->frame_count = kept;
}

/* Its place among those that are written. */
static size_t find_frame(const struct mf_sites *sites, uint32_t frame)
{
    size_t low = 0, high = sites->frame_count;

    while (low < high) {
        size_t middle = low + (high - low) / 2;

        if (sites->frame[middle] < frame)
            low = middle + 1;
        else
            high = middle;
    }
    return low;
}

static void write_site(const struct mf_sites *sites, const struct site *site)
{
    struct mf_json_out *json = sites->recorded->json;

    mf_json_begin(json, '{');
    for (size_t i = 0; i < VALUES; i++)
        if (site->has & 1u << i) {
            mf_put_number(json, values[i].member, site->value[i]);
        }
    if (site->depth > FRAMES) {
        mf_put_number(json, "depth", site->depth);
    }
    mf_json_key(json, "stack");
    mf_json_begin(json, '[');
    for (size_t i = 0; i < frames_of(site); i++)
        mf_json_u64(json, find_frame(sites, site->frame[i]));
    mf_json_end(json, ']');
    mf_json_end(json, '}');
}

static void write_sums(const struct mf_sites *sites)
{
    static const struct {
        enum site_value value;
        const char *key;
    } sums[] = { { PEAK, "peak" },   { PEAK_BLOCKS, "peak_blocks" },
                 { TOTAL, "total" }, { BLOCKS, "blocks" },
                 { LEFT, "left" },   { LEFT_BLOCKS, "left_blocks" },
                 { READ, "read" },   { WRITTEN, "written" } };
    struct mf_json_out *json = sites->recorded->json;

    for (size_t i = 0; i < sizeof(sums) / sizeof(*sums); i++)
        if (sites->count == 0 || sites->has & 1u << sums[i].value) {
            mf_put_number(json, sums[i].key, sites->sum[sums[i].value]);
        }
    mf_put_number(json, "site_count", sites->count);
}

/* ---- all of it ---- */

static enum mf_status write_frames(const struct mf_sites *sites,
                                   struct mf_json *json)
{
    struct mf_env *env = sites->recorded->env;
    char text[FRAME_MAX];
    size_t next = 0;
    uint64_t size;
    bool more;

    if (mf_json_next(json) != MF_JSON_BEGIN_ARRAY)
        return env->error.status;
    for (uint64_t i = 0; next < sites->frame_count; i++) {
        if (mf_json_next(json) != MF_JSON_STRING)
            return env->error.status != MF_OK
                       ? env->error.status
                       : mf_fail(env, MF_ERR_IO, json->token_offset,
                                 "the file was changed while it was read");
        if (i != sites->frame[next])
            continue;
        if (mf_json_text(json, text, sizeof(text), &size, &more) != MF_OK)
            return env->error.status;
        mf_frame_write(sites->recorded, (struct mf_str){ text, (size_t)size },
                       more);
        next++;
    }
    return MF_OK;
}

enum mf_status mf_sites_write(struct mf_sites *sites, struct mf_reader *frames)
{
    struct mf_json_out *json = sites->recorded->json;
    size_t all = sites->best[0].count + sites->best[1].count;
    struct mf_json in;
    enum mf_status status;

    write_sums(sites);
    list_frames(sites);
    mf_json_key(json, "sites");
    mf_json_begin(json, '[');
    for (size_t i = 0; i < all; i++)
        if (site_at(sites, i))
            write_site(sites, site_at(sites, i));
    mf_json_end(json, ']');
    mf_json_key(json, "frames");
    mf_json_begin(json, '[');
    mf_json_init(&in, frames);
    status = write_frames(sites, &in);
    mf_json_end(json, ']');
    return status;
}
