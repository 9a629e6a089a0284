/* SPDX-License-Identifier: MIT
 *
 * dhat.c - writes a profile for the viewer of valgrind's DHAT
 *
 * Version 2 of its format, with a line for each point and each frame.  The keys
 * are the same as in valgrind's own files; times are in microseconds, where
 * valgrind counts instructions.
 */
#include <errno.h>
#include <string.h>

#include "lib/io/sink.h"
#include "lib/io/system.h"
#include "lib/io/target.h"
#include "lib/profile/view.h"

/* Blocks that lived less count as short-lived: microseconds. */
#define SHORT_LIVED 10

/* Rows of the table of frames: after the root, the one of blocks for whose
 * stack there was no memory, then the view's. */
#define NO_FRAME    1
#define FIRST_FRAME 2

/* How a profile begins, ours and valgrind's. */
static const char beginning[] = "{\"dhatFileVersion\"";

struct output {
    struct mf_sink sink;
    struct mf_json_out json;
};

/* ---- the document ---- */

static void put_json(void *user, const char *at, size_t size)
{
    mf_put(user, at, size);
}

static void new_line(struct output *output)
{
    mf_put(&output->sink, "\n", 1);
}

static void number(struct output *output, const char *key, uint64_t value)
{
    mf_json_key(&output->json, key);
    mf_json_u64(&output->json, value);
}

static void text(struct output *output, const char *key, const char *value)
{
    mf_json_key(&output->json, key);
    mf_json_string(&output->json, value, strlen(value));
}

static void put_head(struct output *output, const struct mf_profile *profile)
{
    const char *command = profile->options.command;

    number(output, "dhatFileVersion", 2);
    text(output, "mode", "modelfile-heap");
    text(output, "verb", "Allocated");
    mf_json_key(&output->json, "bklt"); /* lifetimes are known */
    mf_json_bool(&output->json, true);
    mf_json_key(&output->json, "bkacc"); /* reads and writes are not */
    mf_json_bool(&output->json, false);
    text(output, "tu", "us");
    text(output, "Mtu", "s");
    number(output, "tuth", SHORT_LIVED);
    text(output, "cmd", command ? command : "");
    number(output, "pid", (uint64_t)getpid());
    number(output, "te", profile->view->end);
    number(output, "tg", profile->peak_time);
    new_line(output);
}

static void put_calls(struct output *output, const struct mf_profile_view *view,
                      const struct mf_point *point)
{
    size_t calls = mf_profile_view_calls(view, point);

    mf_json_key(&output->json, "fs");
    mf_json_begin(&output->json, '[');
    for (size_t i = 0; i < calls; i++) {
        const struct mf_named_call *call = &view->call[point->call[i]];

        for (size_t n = 0; n < call->count; n++)
            mf_json_u64(&output->json, call->first + n + FIRST_FRAME);
    }
    if (calls == 0)
        mf_json_u64(&output->json, NO_FRAME);
    mf_json_end(&output->json, ']');
}

static void put_point(struct output *output, const struct mf_profile *profile,
                      const struct mf_point *point)
{
    struct mf_blocks at_peak = mf_point_at_peak(profile, point);
    const struct {
        const char *key;
        uint64_t value;
    } numbers[] = {
        { "tb", point->total_bytes },
        { "tbk", point->total_blocks },
        { "tl", point->lifetimes + point->live.blocks * profile->view->end },
        { "mb", point->most.bytes },
        { "mbk", point->most.blocks },
        { "gb", at_peak.bytes },
        { "gbk", at_peak.blocks },
        { "eb", point->live.bytes },
        { "ebk", point->live.blocks },
    };

    if (point->total_blocks == 0)
        return;
    mf_json_begin(&output->json, '{');
    for (size_t i = 0; i < sizeof(numbers) / sizeof(*numbers); i++)
        number(output, numbers[i].key, numbers[i].value);
    put_calls(output, profile->view, point);
    mf_json_end(&output->json, '}');
    new_line(output);
}

static void put_frame(struct output *output, const char *frame)
{
    mf_json_string(&output->json, frame, strlen(frame));
    new_line(output);
}

static void put_all(struct output *output, const struct mf_profile *profile)
{
    const struct mf_profile_view *view = profile->view;
    struct mf_json_out *json = &output->json;

    *json = (struct mf_json_out){ .write = put_json, .user = &output->sink };
    mf_json_begin(json, '{');
    put_head(output, profile);
    mf_json_key(json, "pps");
    mf_json_begin(json, '[');
    new_line(output);
    for (size_t i = 0; i < view->point_count; i++)
        put_point(output, profile, &profile->point[i]);
    mf_json_end(json, ']');
    mf_json_key(json, "ftbl");
    mf_json_begin(json, '[');
    put_frame(output, "[root]"); /* the viewer needs it */
    put_frame(output, "0x0: ??? (in \?\?\?)");
    for (size_t i = 0; i < view->frame_count; i++)
        put_frame(output, view->frame[i]);
    mf_json_end(json, ']');
    mf_json_end(json, '}');
    new_line(output);
}

/* ---- the file ---- */

static enum mf_status refuse(struct mf_env *env, const char *path,
                             const char *why)
{
    return mf_decline(env, MF_REASON_OUTPUT_EXISTS, MF_NO_OFFSET, "'%s' %s",
                      mf_quote((struct mf_str){ path, strlen(path) }).text,
                      why);
}

static bool is_profile(const char *path, off_t size)
{
    char start[sizeof(beginning) - 1];
    int fd = openat(AT_FDCWD, path,
                    O_RDONLY | O_CLOEXEC | O_NOFOLLOW | O_NOCTTY | O_NONBLOCK);
    bool is_one =
        size == 0 || (fd >= 0 && mf_fd_read(fd, 0, start, sizeof(start)) &&
                      memcmp(start, beginning, sizeof(start)) == 0);

    if (fd >= 0)
        close(fd);
    return is_one;
}

/* The name is usually a fixed one in the current folder, which may belong to
 * another user: a link that was put there must not lead the profile elsewhere,
 * a device must not be written and a pipe must not be waited for, and only an
 * older profile is replaced without a question. */
static enum mf_status check_old(struct mf_env *env, const char *path,
                                struct stat *old)
{
    if (lstat(path, old) != 0)
        return MF_OK; /* opening it will tell why */
    if (S_ISLNK(old->st_mode))
        return refuse(env, path, "is a symbolic link");
    if (!S_ISREG(old->st_mode))
        return refuse(env, path, "is not a regular file");
    if (!is_profile(path, old->st_size))
        return refuse(env, path, "exists and is not a heap profile");
    return MF_OK;
}

static enum mf_status open_target(struct mf_env *env, const char *path,
                                  uint64_t size, struct stat *old,
                                  struct mf_target *target)
{
    if (check_old(env, path, old) != MF_OK ||
        mf_target_open(env, path, size, true, target) != MF_OK)
        return env->error.status;
    if (target->stream) /* it took the file's place meanwhile */
        return refuse(env, path, "is not a regular file");
    if (!target->is_new)
        target->expected = old;
    return MF_OK;
}

static enum mf_status write_target(void *user, uint64_t offset,
                                   const void *bytes, size_t size)
{
    struct mf_target *target = user;

    return mf_target_write(target->env, target, offset, bytes, size);
}

static enum mf_status write_file(const struct mf_profile *profile,
                                 const char *path, struct output *output)
{
    struct mf_env *env = profile->env;
    struct mf_target target = MF_TARGET_NONE;
    struct stat old = { 0 };
    uint64_t size;

    mf_sink_init(&output->sink, env);
    put_all(output, profile);
    size = output->sink.offset;
    if (open_target(env, path, size, &old, &target) != MF_OK) {
        mf_target_abort(&target);
        return env->error.status;
    }
    mf_sink_init(&output->sink, env);
    output->sink.write = write_target;
    output->sink.user = &target;
    put_all(output, profile);
    mf_sink_finish(&output->sink);
    return mf_target_finish(&target, env->error.status);
}

enum mf_status mf_profile_write(struct mf_profile *profile, const char *path)
{
    struct mf_env *env = profile ? profile->env : NULL;
    struct output *output;
    enum mf_status status;

    MF_NEED(env, profile);
    MF_NEED(env, path);
    mf_clear_error(env);
    if (!mf_profile_view_of(profile))
        return env->error.status;
    output = mf_alloc(env, sizeof(*output));
    if (!output)
        return env->error.status;
    status = write_file(profile, path, output);
    mf_release(env, output, sizeof(*output));
    return status;
}

const struct mf_error *mf_profile_error(const struct mf_profile *profile)
{
    return mf_env_error(profile ? profile->env : NULL);
}
