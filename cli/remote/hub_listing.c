/* SPDX-License-Identifier: MIT
 *
 * hub_listing.c - which files a commit has, as the Hub's API says
 */
#include "cli/remote/hub_listing.h"

#include <errno.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "cli/budget.h"
#include "lib/program.h"

/* ---- members of an entry ---- */

enum member { TYPE = 1, PATH = 2, SIZE = 4, OID = 8, OID_SIZE = 16 };

static const struct {
    const char *name;
    enum member member;
    bool is_number;
} members[] = {
    { "type", TYPE, false },        { "path", PATH, false },
    { "size", SIZE, true },         { "lfs.oid", OID, false },
    { "lfs.size", OID_SIZE, true }, { "lfs_sha256", OID, false },
    { "lfs_size", OID_SIZE, true },
};

struct entry {
    unsigned found; /* enum member */
    bool is_file;
    char path[HUB_PATH_SIZE];
    uint64_t size, oid_size;
    uint8_t digest[32];
};

struct reading {
    struct listing *listing;
    struct listing_why *why;
    char at[128]; /* the entry: "list.12"; "": none has begun */
    bool is_kept;
    struct entry entry;
    int reason; /* errno */
};

__attribute__((format(printf, 2, 3))) static void
refuse(struct reading *reading, const char *format, ...)
{
    size_t size;
    va_list arguments;

    if (reading->reason != 0)
        return;
    reading->reason = EIO;
    strcpy(reading->why->text, "the Hub's list of files is invalid: ");
    size = strlen(reading->why->text);
    va_start(arguments, format);
    vsnprintf(reading->why->text + size, sizeof(reading->why->text) - size,
              format, arguments);
    va_end(arguments);
}

/* ---- the table ---- */

/* Room for one more of something; false if out of memory. */
static bool grow(struct mf_env *env, void **at, size_t *room, size_t needed,
                 size_t unit)
{
    size_t more = *room ? *room : 64;
    void *moved;

    while (more < needed)
        more *= 2;
    if (more == *room)
        return true;
    moved = mf_env_resize(env, *at, *room * unit, more * unit);
    if (!moved)
        return false;
    *at = moved;
    *room = more;
    return true;
}

static bool add_file(struct listing *listing, const char *path,
                     const struct listed_file *file)
{
    size_t size = strlen(path) + 1;
    void *text = listing->text, *table = listing->file;
    bool grown = grow(listing->env, &text, &listing->text_room,
                      listing->text_size + size, 1) &&
                 grow(listing->env, &table, &listing->room, listing->count + 1,
                      sizeof(*listing->file));

    listing->text = text;
    listing->file = table;
    if (!grown)
        return false;
    listing->file[listing->count] = *file;
    listing->file[listing->count++].path = listing->text_size;
    memcpy(listing->text + listing->text_size, path, size);
    listing->text_size += size;
    return true;
}

bool listing_put(struct listing *listing, const char *path)
{
    const struct listed_file file = { .size = 0 };

    return add_file(listing, path, &file);
}

static void add_entry(struct reading *reading)
{
    const struct entry *entry = &reading->entry;
    struct listed_file file = { .size = entry->size,
                                .has_digest = entry->found & OID };

    memcpy(file.digest, entry->digest, sizeof(file.digest));
    if (!add_file(reading->listing, entry->path, &file))
        reading->reason = ENOMEM;
}

static void end_entry(struct reading *reading)
{
    const struct entry *entry = &reading->entry;
    const unsigned needed = TYPE | PATH | SIZE, both = OID | OID_SIZE;

    if (!*reading->at || reading->reason != 0 ||
        ((entry->found & TYPE) && !entry->is_file))
        return; /* a folder, say */
    if ((entry->found & needed) != needed)
        refuse(reading, "an entry has no type, path or size");
    else if ((entry->found & both) != 0 &&
             ((entry->found & both) != both || entry->oid_size != entry->size))
        refuse(reading, "the sizes of '%.100s' differ", entry->path);
    else if (reading->listing->count == LISTING_FILES_MAX)
        refuse(reading, "it has more than %d files", LISTING_FILES_MAX);
    else
        add_entry(reading);
}

/* ---- reading ---- */

static bool take_digest(struct mf_str hex, uint8_t out[32])
{
    static const char digits[] = "0123456789abcdef";

    for (size_t i = 0; i < 64; i++) {
        const char *digit =
            hex.size == 64 ? memchr(digits, hex.at[i], 16) : NULL;

        if (!digit)
            return false;
        out[i / 2] = (uint8_t)(out[i / 2] << 4 | (digit - digits));
    }
    return true;
}

static bool take_size(struct mf_str digits, uint64_t *out)
{
    char text[24] = "", *end;

    if (digits.size == 0 || digits.size >= 20 || digits.at[0] == '-')
        return false;
    memcpy(text, digits.at, digits.size);
    *out = strtoull(text, &end, 10);
    return !*end && *out <= INT64_MAX;
}

static bool take_path(struct mf_str path, char out[HUB_PATH_SIZE])
{
    if (path.size >= HUB_PATH_SIZE || memchr(path.at, 0, path.size))
        return false;
    memcpy(out, path.at, path.size);
    out[path.size] = 0;
    return hub_is_path(out);
}

static bool take_value(struct entry *entry, enum member member,
                       struct mf_str value)
{
    switch (member) {
    case TYPE:
        entry->is_file = value.size == 4 && memcmp(value.at, "file", 4) == 0;
        return true;
    case PATH:
        return take_path(value, entry->path);
    case SIZE:
        return take_size(value, &entry->size);
    case OID:
        return take_digest(value, entry->digest);
    case OID_SIZE:
        return take_size(value, &entry->oid_size);
    }
    return false;
}

static void take_member(struct reading *reading, const char *name,
                        struct mf_str value, bool is_number)
{
    struct entry *entry = &reading->entry;

    for (size_t i = 0; i < sizeof(members) / sizeof(*members); i++) {
        if (strcmp(members[i].name, name) != 0)
            continue;
        if (members[i].is_number != is_number ||
            (entry->found & members[i].member) ||
            !take_value(entry, members[i].member, value))
            refuse(reading, "%s '%.*s'", name,
                   value.size < 100 ? (int)value.size : 100, value.at);
        entry->found |= members[i].member;
    }
}

/* The bytes of "list.12" at the front of a path; 0 if it begins otherwise. */
static size_t element_size(const char *path)
{
    size_t digits =
        strncmp(path, "list.", 5) == 0 ? strspn(path + 5, "0123456789") : 0;

    return digits > 0 ? 5 + digits : 0;
}

/* Members of one entry follow each other. */
static void begin_entry(struct reading *reading, const char *at, size_t size)
{
    if (strlen(reading->at) == size && memcmp(reading->at, at, size) == 0)
        return;
    end_entry(reading);
    reading->entry = (struct entry){ 0 };
    memcpy(reading->at, at, size);
    reading->at[size] = 0;
}

static void take(void *user, const char *path, struct mf_str value,
                 bool is_number)
{
    struct reading *reading = user;
    size_t size = element_size(path);
    const char *member = path + size;

    if (strcmp(path, "?") == 0 || reading->reason != 0)
        return; /* a name with a dot in it, say */
    if (size == 0 || size >= sizeof(reading->at) || *member != '.') {
        refuse(reading, "it is not a list of objects");
        return;
    }
    begin_entry(reading, path, size);
    take_member(reading, member + 1, value, is_number);
}

int listing_add(struct listing *listing, const char *page, size_t size,
                struct listing_why *why)
{
    struct reading reading = { .listing = listing, .why = why };
    struct mf_error error;

    why->text[0] = 0;
    if (mf_json_bytes_read(listing->env, (struct mf_str){ page, size }, '.',
                           take, &reading, &error) != MF_OK) {
        if (error.status == MF_ERR_MEMORY || budget_is_limit(&error))
            return ENOMEM;
        refuse(&reading, "%.150s", error.message);
        return EIO;
    }
    end_entry(&reading);
    return reading.reason;
}

/* ---- a list that was kept ---- */

#define KEPT_BETWEEN '\n' /* no name has it */
#define KEPT_FILES   "files\n"

static void begin_kept(struct reading *reading, const char *at, size_t size)
{
    struct entry *entry = &reading->entry;
    const size_t before = strlen(KEPT_FILES);
    struct mf_str path = { at + before, size - before };

    begin_entry(reading, at, size);
    if (entry->found & PATH)
        return;
    entry->found |= TYPE | PATH;
    entry->is_file = true;
    if (!take_path(path, entry->path))
        refuse(reading, "a path");
}

static void take_kept(void *user, const char *path, struct mf_str value,
                      bool is_number)
{
    struct reading *reading = user;
    const char *member = strrchr(path, KEPT_BETWEEN);

    if (strcmp(path, "format_version") == 0)
        reading->is_kept = is_number && value.size == 1 && *value.at == '1';
    else if (strncmp(path, KEPT_FILES, strlen(KEPT_FILES)) != 0 || !member ||
             member < path + strlen(KEPT_FILES))
        refuse(reading, "%s", path);
    if (reading->reason != 0 || !member)
        return;
    begin_kept(reading, path, (size_t)(member - path));
    take_member(reading, member + 1, value, is_number);
}

int listing_add_kept(struct listing *listing, const char *kept, size_t size)
{
    struct listing_why why;
    struct reading reading = { .listing = listing, .why = &why };
    struct mf_error error;

    if (mf_json_bytes_read(listing->env, (struct mf_str){ kept, size },
                           KEPT_BETWEEN, take_kept, &reading, &error) != MF_OK)
        return EIO;
    end_entry(&reading);
    return reading.is_kept ? reading.reason : EIO;
}

/* ---- the whole list ---- */

static bool comes_before(const void *table, uint32_t a, uint32_t b)
{
    const struct listing *listing = table;

    return strcmp(listing_path(listing, &listing->file[a]),
                  listing_path(listing, &listing->file[b])) < 0;
}

int listing_end(struct listing *listing, struct listing_why *why)
{
    struct reading reading = { .why = why };

    why->text[0] = 0;
    listing->order = mf_env_resize(
        listing->env, NULL, 0, (listing->count + 1) * sizeof(*listing->order));
    if (!listing->order)
        return ENOMEM;
    for (size_t i = 0; i < listing->count; i++)
        listing->order[i] = (uint32_t)i;
    mf_sort(listing->order, listing->count, comes_before, listing);
    for (size_t i = 1; i < listing->count; i++)
        if (!comes_before(listing, listing->order[i - 1], listing->order[i]))
            refuse(&reading, "it has '%.100s' twice",
                   listing_path(listing, &listing->file[listing->order[i]]));
    return reading.reason;
}

void listing_release(struct listing *listing)
{
    struct mf_env *env = listing->env;

    if (listing->text)
        mf_env_resize(env, listing->text, listing->text_room, 0);
    if (listing->file)
        mf_env_resize(env, listing->file,
                      listing->room * sizeof(*listing->file), 0);
    if (listing->order)
        mf_env_resize(env, listing->order,
                      (listing->count + 1) * sizeof(*listing->order), 0);
    *listing = (struct listing){ .env = env };
}

const char *listing_path(const struct listing *listing,
                         const struct listed_file *file)
{
    return listing->text + file->path;
}

const struct listed_file *listing_find(const struct listing *listing,
                                       const char *path)
{
    size_t low = 0, high = listing->count;

    while (low < high) {
        size_t middle = low + (high - low) / 2;
        const struct listed_file *file = &listing->file[listing->order[middle]];
        int order = strcmp(path, listing_path(listing, file));

        if (order == 0)
            return file;
        if (order < 0)
            high = middle;
        else
            low = middle + 1;
    }
    return NULL;
}

/* ---- a commit ---- */

static void take_commit(void *user, const char *path, struct mf_str value,
                        bool is_number)
{
    char *out = user;

    if (strcmp(path, "sha") != 0 || is_number ||
        value.size != HUB_COMMIT_DIGITS || *out)
        return;
    memcpy(out, value.at, value.size);
    out[value.size] = 0;
}

bool listing_commit(struct mf_env *env, const char *answer, size_t size,
                    char out[HUB_COMMIT_DIGITS + 1])
{
    struct mf_error error;

    *out = 0;
    return mf_json_bytes_read(env, (struct mf_str){ answer, size }, '.',
                              take_commit, out, &error) == MF_OK &&
           hub_is_commit(out);
}
