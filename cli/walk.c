/* SPDX-License-Identifier: MIT
 *
 * walk.c - what is in a folder, in the order of names
 */
#include "cli/walk.h"

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

#include "cli/buffer.h"

bool walk_join(char out[PATH_MAX], const char *folder, const char *name)
{
    int size = snprintf(out, PATH_MAX, "%s/%s", folder, name);

    errno = ENAMETOOLONG;
    return size > 0 && size < PATH_MAX;
}

struct names {
    struct buffer text; /* terminated names, one after the other */
    struct buffer rows; /* where each begins, as uint32_t */
};

static bool comes_before(const void *table, uint32_t a, uint32_t b)
{
    const char *text = table;

    return strcmp(text + a, text + b) < 0;
}

static bool read_names(struct run *run, int folder, struct names *names)
{
    struct mf_entries entries;
    const char *name;
    bool done = true;

    mf_entries_begin(&entries, folder);
    while (done && (name = mf_entries_next(&entries)) != NULL) {
        uint32_t row = (uint32_t)names->text.size;

        if (strcmp(name, ".") == 0 || strcmp(name, "..") == 0)
            continue;
        done = names->text.size < UINT32_MAX - PATH_MAX &&
               buffer_add(run, &names->text, name, strlen(name) + 1) &&
               buffer_add(run, &names->rows, (const char *)&row, sizeof(row));
        if (!done)
            errno = ENOMEM;
    }
    done = done && errno == 0;
    mf_entries_end(&entries);
    return done;
}

static void show_name(const char *folder, const char *name, walk_found *found,
                      void *user)
{
    char path[PATH_MAX];
    struct walk_entry entry = { .path = path };

    if (!walk_join(path, folder, name) || lstat(path, &entry.status) != 0)
        return; /* it is gone */
    entry.name = path + strlen(path) - strlen(name);
    found(user, &entry);
}

bool walk_folder(struct run *run, const char *folder, walk_found *found,
                 void *user)
{
    struct names names = { { 0 }, { 0 } };
    int fd = open(folder, O_RDONLY | O_DIRECTORY | O_CLOEXEC);
    bool done = fd >= 0 && read_names(run, fd, &names);
    int error = errno;
    uint32_t *row = (uint32_t *)(void *)names.rows.at;
    size_t count = names.rows.size / sizeof(*row);

    if (done && count > 0) {
        mf_sort(row, count, comes_before, names.text.at);
        for (size_t i = 0; i < count; i++)
            show_name(folder, names.text.at + row[i], found, user);
    }
    buffer_release(run, &names.text);
    buffer_release(run, &names.rows);
    errno = error;
    return done;
}
