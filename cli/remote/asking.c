/* SPDX-License-Identifier: MIT
 *
 * asking.c - the parser's questions to the process that talks to the network
 */
#include "cli/remote/asking.h"

#include <errno.h>
#include <pthread.h>
#include <string.h>

#include "cli/progress.h"

static struct {
    int fd; /* of the helper; 0: there is none */
    bool ended, resumes;
    const struct shelf *shelf;
    struct {
        uint32_t file;
        uint64_t offset, size;
        const uint8_t *at;
    } lent;        /* what the last answer has on the shelf */
    uint64_t used; /* bytes that were read of the last answer */
    struct remote_cost cost;
    int reason;              /* errno of the last failure */
    char why[WIRE_TEXT_MAX]; /* more about it */
} asking;

/* Two models may be read at once, by threads that do not know each other. */
static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;

void asking_begin(int fd, const struct shelf *shelf)
{
    asking.fd = fd;
    asking.shelf = shelf;
}

const struct remote_cost *asking_cost(void)
{
    return &asking.cost;
}

void asking_resumes(bool resumes)
{
    asking.resumes = resumes;
}

const char *asking_why(int reason)
{
    return reason != 0 && reason == asking.reason ? asking.why : "";
}

int asking_failed(int reason, const char *why)
{
    asking.reason = reason;
    memmove(asking.why, why, strlen(why) + 1);
    return reason;
}

/* What was sent or answered in part cannot be continued. */
static int broken(void)
{
    bool stopped = errno == ECANCELED;

    asking.ended = true;
    return asking_failed(stopped ? ECANCELED : EIO,
                         stopped ? "" : "the network's process has ended");
}

static bool is_stopped(void)
{
    return progress_signal() != 0;
}

static bool take(void *bytes, size_t size)
{
    return wire_read(asking.fd, bytes, size, is_stopped);
}

static bool put(const void *bytes, size_t size)
{
    return wire_write(asking.fd, bytes, size, is_stopped);
}

/* The text that says why; 0 if the helper does not keep to the rules. */
static int take_why(const struct wire_answer *answer)
{
    char why[WIRE_TEXT_MAX];

    if (answer->reason < 0 || answer->size >= sizeof(why) ||
        !take(why, (size_t)answer->size))
        return broken();
    why[answer->size] = 0;
    return asking_failed(answer->reason, why);
}

/* Sends a question with a name, and takes the answer but for the bytes that
 * follow.  Returns 0 or a number of errno. */
static int ask_for(const struct wire_ask *ask, const char *name,
                   struct wire_answer *answer)
{
    struct wire_ask sent = *ask;

    sent.used = asking.used;
    asking.used = asking.lent.size = 0;
    if (asking.fd == 0 || asking.ended)
        return asking_failed(EIO, asking.fd == 0
                                      ? "name the URL on the command line"
                                      : asking.why);
    if (!put(&sent, sizeof(sent)) || (name && !put(name, (size_t)ask->size)) ||
        !take(answer, sizeof(*answer)))
        return broken();
    asking.cost = answer->cost;
    if (answer->reason != 0)
        return take_why(answer);
    if (answer->total > INT64_MAX)
        return broken();
    return 0;
}

int asking_open(const struct wire_ask *ask, const char *name,
                struct wire_answer *out)
{
    int reason;

    pthread_mutex_lock(&lock);
    reason = ask_for(ask, name, out);
    if (reason == 0 && asking.resumes &&
        (ask->op == WIRE_OPEN || ask->op == WIRE_BESIDE) &&
        out->version[0] == 0 && out->version[1] == 0)
        reason = asking_failed(EIO, "--resume needs a server that names the "
                                    "version of the file: it sends neither "
                                    "ETag nor Last-Modified");
    pthread_mutex_unlock(&lock);
    return reason;
}

void asking_cost_of_all(void)
{
    const struct wire_ask ask = { .op = WIRE_COST };
    struct wire_answer answer;

    if (asking.fd > 0 && !asking.ended)
        asking_open(&ask, NULL, &answer);
}

/* Copies bytes that are lent before anything looks at them: the helper can
 * change them at any time. */
static size_t copy_lent(uint32_t file, uint64_t offset, void *buffer,
                        size_t count)
{
    uint64_t skip = offset - asking.lent.offset;

    if (file != asking.lent.file || offset < asking.lent.offset ||
        skip >= asking.lent.size)
        return 0;
    if (count > asking.lent.size - skip)
        count = (size_t)(asking.lent.size - skip);
    memcpy(buffer, asking.lent.at + skip, count);
    asking.used += count;
    return count;
}

static bool is_on_shelf(const struct wire_answer *answer)
{
    const struct shelf *shelf = asking.shelf;

    return shelf->at && answer->found <= shelf->size &&
           answer->size <= shelf->size - (answer->found - 1);
}

/* How many of the bytes were taken; 0 if the helper does not keep to the rules.
 */
static size_t take_bytes(const struct wire_ask *ask,
                         const struct wire_answer *answer, void *buffer)
{
    if (answer->found > 0 && is_on_shelf(answer)) {
        asking.lent.file = ask->file;
        asking.lent.offset = ask->offset;
        asking.lent.size = answer->size;
        asking.lent.at = asking.shelf->at + (answer->found - 1);
        return copy_lent(ask->file, ask->offset, buffer, (size_t)ask->size);
    }
    if (answer->found > 0 || answer->size > ask->size ||
        !take(buffer, (size_t)answer->size))
        return 0;
    asking.used = answer->size;
    return (size_t)answer->size;
}

/* Returns a number of errno. */
static int ask_bytes(const struct wire_ask *ask, void *buffer, size_t *got)
{
    struct wire_answer answer;
    int reason = ask_for(ask, NULL, &answer);

    if (reason == 0) {
        *got = take_bytes(ask, &answer, buffer);
        reason = *got == 0 ? broken() : 0;
    }
    return reason;
}

int64_t asking_read(uint32_t file, uint64_t offset, void *buffer, size_t count)
{
    struct wire_ask ask = { WIRE_READ, file, offset,
                            count < WIRE_READ_MAX ? count : WIRE_READ_MAX, 0 };
    int reason = 0;
    size_t got;

    pthread_mutex_lock(&lock);
    got = copy_lent(file, offset, buffer, count);
    if (got == 0)
        reason = ask_bytes(&ask, buffer, &got);
    pthread_mutex_unlock(&lock);
    return reason != 0 ? -(int64_t)reason : (int64_t)got;
}

/* Has no answer: if the helper has ended, the next question finds out. */
void asking_expect(uint32_t file, uint64_t offset, uint64_t size)
{
    struct wire_ask ask = { WIRE_EXPECT, file, offset, size, 0 };

    pthread_mutex_lock(&lock);
    if (!asking.ended && !put(&ask, sizeof(ask)))
        broken();
    pthread_mutex_unlock(&lock);
}

/* A source that fails when it is read. */
static int64_t read_nothing(void *user, uint64_t offset, void *buffer,
                            size_t count)
{
    (void)user;
    (void)offset;
    (void)buffer;
    (void)count;
    return -(int64_t)asking.reason;
}

enum mf_status asking_open_failed(struct run *run, const char *name, int reason,
                                  const struct mf_open_options *options,
                                  struct mf_model **out)
{
    const struct mf_byte_source source = {
        .size = sizeof(source), .name = name, .bytes = 1, .read = read_nothing
    };

    if (reason != asking.reason)
        asking_failed(reason, "");
    return mf_model_open_source(run->env, &source, options, out);
}
