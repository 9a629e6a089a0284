/* SPDX-License-Identifier: MIT
 *
 * helper.c - the process that talks to the network
 *
 * It has a sandbox of its own: it can connect, and read what the resolver and
 * TLS need; it cannot write a file, run a program, or read what is yours.  It
 * ends with the program: by the system's signal, and where the socket closes.
 */
#include "cli/remote/helper.h"

#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>
#include <unistd.h>

#include "cli/budget.h"
#include "cli/child.h"
#include "cli/malloc_count.h"
#include "cli/remote/window.h"
#include "cli/room.h"
#include "lib/program.h"

#define PATIENCE_MAX 3600 /* seconds */

struct serving {
    int fd;
    struct helper_work *work;
    struct fetcher fetcher;
    struct windows windows;
    struct remote_file **file;
    size_t file_count, file_room;
};

static struct serving *serving; /* in this process alone */

/* ---- what it gives up ---- */

/* A terminal's signals are for the program, which decides what ends. */
static void leave_signals(void)
{
    static const int signals[] = { SIGINT, SIGTERM, SIGHUP, SIGQUIT };

    for (size_t i = 0; i < sizeof(signals) / sizeof(*signals); i++)
        signal(signals[i], SIG_IGN);
}

/* All files that are open but the socket, which becomes the first after the
 * standard ones. */
static void leave_files(int fd)
{
    int null = open("/dev/null", O_RDWR | O_CLOEXEC);
    long most = sysconf(_SC_OPEN_MAX);

    for (int i = STDIN_FILENO; i <= STDERR_FILENO; i++)
        if (null < 0 || dup2(null, i) < 0)
            _exit(EXIT_DONE);
    serving->fd = STDERR_FILENO + 1;
    if (fd != serving->fd && dup2(fd, serving->fd) < 0)
        _exit(EXIT_DONE);
    fcntl(serving->fd, F_SETFD, FD_CLOEXEC);
    for (int i = serving->fd + 1; i < (most > 0 && most < 4096 ? most : 4096);
         i++)
        close(i);
}

/* Files do not grow, where Landlock is missing too. */
static void leave_limits(void)
{
    const struct rlimit none = { 0, 0 };

    setrlimit(RLIMIT_FSIZE, &none);
    setrlimit(RLIMIT_CORE, &none);
}

static void enter_sandbox(struct run *run)
{
    static const char *const folders[] = {
        "/etc",
        "/usr",
        "/lib",
        "/lib32",
        "/lib64",
        "/nix/store",
        "/gnu/store",
        "/opt",
        "/dev",
        "/run/systemd/resolve",
        "/run/resolvconf",
        "/run/NetworkManager",
        "/var/lib/ca-certificates",
    };
    static const char *const named[] = { "CURL_CA_BUNDLE", "SSL_CERT_FILE",
                                         "SSL_CERT_DIR" };
    struct sandbox sandbox;
    const char *path;

    sandbox_begin_network(&sandbox,
                          run->options->no_sandbox ? "--no-sandbox" : NULL);
    for (size_t i = 0; i < sizeof(folders) / sizeof(*folders); i++)
        sandbox_allow_reading(&sandbox, folders[i]);
    for (size_t i = 0; i < sizeof(named) / sizeof(*named); i++) {
        path = getenv(named[i]);
        if (path && *path)
            sandbox_allow_reading(&sandbox, path);
    }
    sandbox_enter(&sandbox);
}

/* ---- answers ---- */

static void answer(struct wire_answer *answer, const void *bytes)
{
    struct process_heap heap;

    answer->cost = serving->fetcher.cost;
    if (process_heap(&heap)) {
        answer->cost.peak =
            heap.peak + serving->work->shelf.used * serving->work->shelf.place;
        answer->cost.allocations = heap.allocations;
    }
    if (!wire_write(serving->fd, answer, sizeof(*answer), NULL) ||
        (answer->found == 0 &&
         !wire_write(serving->fd, bytes, (size_t)answer->size, NULL)))
        _exit(EXIT_DONE);
}

/* The program sends nothing while it waits, so any news is that it ended. */
static void over(void)
{
    _exit(EXIT_DONE);
}

static void refuse(int reason, const char *why)
{
    struct wire_answer refusal = { .reason = reason, .size = strlen(why) };

    answer(&refusal, why);
}

/* ---- files ---- */

enum kind { PLAIN, OF_HUB, LIST_OF_HUB };

static struct remote_file *find_file(const char *url, enum kind kind,
                                     uint32_t *number)
{
    for (*number = 0; *number < serving->file_count; ++*number) {
        struct remote_file *file = serving->file[*number];

        if (file->hub == (kind != PLAIN) && strcmp(file->url, url) == 0)
            return file;
    }
    return NULL;
}

static void open_file(struct remote_file *file, bool named)
{
    const char *why = serving->fetcher.why;

    if (file->whole) {
        window_free_connection(&serving->windows, GOES_ANY);
        file->reason = hub_fetch(&serving->fetcher, file);
    } else {
        file->reason =
            windows_open(&serving->windows, file,
                         windows_first(&serving->windows, file->url, named));
        why = serving->windows.why;
    }
    memcpy(file->why, why, sizeof(file->why));
}

/* Each name that was asked for is kept until the end. */
static bool has_room(struct mf_env *env)
{
    size_t room = serving->file_room, more = room == 0 ? 64 : 2 * room;
    void *files;

    if (serving->file_count < room)
        return true;
    files = mf_env_resize(env, serving->file, room * sizeof(*serving->file),
                          more * sizeof(*serving->file));
    if (!files)
        return false;
    serving->file = files;
    serving->file_room = more;
    return true;
}

static struct remote_file *add_file(const char *url, enum kind kind, bool named)
{
    struct mf_env *env = serving->fetcher.env;
    struct remote_file *file =
        has_room(env) ? mf_env_resize(env, NULL, 0, sizeof(*file)) : NULL;

    if (!file)
        return NULL;
    *file = (struct remote_file){ .url = fetch_text(env, url),
                                  .hub = kind != PLAIN,
                                  .whole = kind == LIST_OF_HUB };
    if (!file->url) {
        mf_env_resize(env, file, sizeof(*file), 0);
        return NULL;
    }
    serving->file[serving->file_count++] = file;
    open_file(file, named);
    return file;
}

/* A file that was opened before is not asked for again, there or not. */
static void open_url(const char *url, enum kind kind, bool named)
{
    struct wire_answer opened = { 0 };
    struct remote_file *file = find_file(url, kind, &opened.file);

    if (!file)
        file = add_file(url, kind, named);
    else if (file->whole && !file->document && file->reason == 0)
        open_file(file, named);
    if (!file) {
        refuse(ENOMEM, "the network's process has no memory");
        return;
    }
    opened.reason = file->reason;
    opened.total = file->size;
    fetch_name_version(file, opened.version);
    opened.size = file->reason != 0 ? strlen(file->why) : 0;
    answer(&opened, file->why);
}

static void open_named(const struct wire_ask *ask)
{
    struct address address = { "" };

    if (ask->file >= serving->work->url_count)
        _exit(EXIT_DONE);
    memcpy(address.at, serving->work->url[ask->file],
           address_size(serving->work->url[ask->file]));
    open_url(address.at, PLAIN, true);
}

static const char *url_of(uint32_t number)
{
    if (number >= serving->file_count)
        _exit(EXIT_DONE);
    return serving->file[number]->url;
}

struct name {
    char at[WIRE_NAME_MAX + 1];
};

static void take_name(const struct wire_ask *ask, struct name *name)
{
    if (ask->size > WIRE_NAME_MAX ||
        !wire_read(serving->fd, name->at, (size_t)ask->size, NULL))
        _exit(EXIT_DONE);
    name->at[ask->size] = 0;
}

static void open_beside(const struct wire_ask *ask)
{
    const char *url = url_of(ask->file);
    struct name name;
    struct address address;

    take_name(ask, &name);
    if (!serving->file[ask->file]->hub &&
        address_beside(url, name.at, (size_t)ask->size, &address))
        open_url(address.at, PLAIN, false);
    else
        refuse(ENOENT, "no file on a server has that name");
}

static void open_of_hub(const struct wire_ask *ask)
{
    struct name name;
    struct address address;

    take_name(ask, &name);
    if (strlen(name.at) == ask->size &&
        hub_address(&serving->work->hub, ask, name.at, &address))
        open_url(address.at, ask->op == WIRE_FILE ? OF_HUB : LIST_OF_HUB,
                 false);
    else
        refuse(ENOENT, "no file of the Hub has that name");
}

/* The page before is not needed any more. */
static void open_next(const struct wire_ask *ask)
{
    struct address address;
    int reason;

    url_of(ask->file);
    reason = hub_next(&serving->fetcher, serving->file[ask->file], &address);
    if (reason != 0) {
        refuse(reason, reason == ENODATA ? "" : serving->fetcher.why);
        return;
    }
    hub_forget(&serving->fetcher, serving->file[ask->file]);
    open_url(address.at, LIST_OF_HUB, false);
}

/* ---- reading ---- */

static void read_file(const struct wire_ask *ask)
{
    struct wire_answer part = { 0 };
    const uint8_t *bytes = NULL;
    struct remote_file *file;
    size_t count = (size_t)ask->size;

    url_of(ask->file);
    file = serving->file[ask->file];
    if (file->reason != 0) {
        refuse(file->reason, file->why);
        return;
    }
    if (ask->offset >= file->size || ask->size == 0 ||
        ask->size > WIRE_READ_MAX || (file->whole && !file->document))
        _exit(EXIT_DONE);
    if (file->whole) {
        bytes = file->document + ask->offset;
        if (count > file->size - ask->offset)
            count = (size_t)(file->size - ask->offset);
    } else {
        part.reason =
            windows_read(&serving->windows, file, ask->offset, &bytes, &count);
    }
    if (part.reason != 0) {
        refuse(part.reason, serving->windows.why);
        return;
    }
    part.size = count;
    part.found = shelf_find(&serving->work->shelf, bytes);
    answer(&part, bytes);
}

static void expect(const struct wire_ask *ask)
{
    url_of(ask->file);
    windows_expect(&serving->windows, serving->file[ask->file], ask->offset,
                   ask->size);
}

static void tell_cost(void)
{
    struct wire_answer all = { 0 };
    struct rusage usage;

    if (getrusage(RUSAGE_SELF, &usage) == 0)
        serving->fetcher.cost.processor =
            (uint64_t)(usage.ru_utime.tv_sec + usage.ru_stime.tv_sec) *
                1000000 +
            (uint64_t)(usage.ru_utime.tv_usec + usage.ru_stime.tv_usec);
    windows_end(&serving->windows);
    answer(&all, NULL);
}

/* ---- the process ---- */

static long patience(void)
{
    const char *text = getenv("MODELFILE_TIMEOUT");
    long seconds = text ? strtol(text, NULL, 10) : 0;

    return seconds >= 1 && seconds <= PATIENCE_MAX ? seconds : FETCH_PATIENCE;
}

/* An env with the rest of --max-memory, which limits each of both processes. */
static struct mf_env *make_env(const struct run *run)
{
    struct mf_options options = { .size = sizeof(options), .threads = 1 };

    budget_env(run, &options);
    return mf_env_new(&options);
}

/* As commands do whose work can be resumed. */
static bool writes_models(const struct command *command)
{
    const struct option *option = command->options;

    while (option && option->name && strcmp(option->name, "--resume") != 0)
        option++;
    return option && option->name;
}

/* Memory that both see would not be counted for --max-memory. */
void helper_prepare(const struct run *run, struct helper_work *work)
{
    work->most =
        writes_models(run->command) ? WINDOWS_MOST_WRITING : WINDOWS_MOST;
    work->block = windows_block(run->options->threads);
    if (run->options->max_memory == 0)
        shelf_make(&work->shelf, work->most, work->block);
}

static void begin(struct run *run, pid_t program, int fd,
                  struct helper_work *work)
{
    child_begin(program);
    serving = room_take(sizeof(*serving)); /* all zero */
    if (!serving)
        _exit(EXIT_DONE);
    leave_signals();
    leave_files(fd);
    curl_load(&serving->fetcher.curl);
    leave_limits();
    enter_sandbox(run);
    serving->fetcher.env = make_env(run);
    serving->fetcher.patience = patience();
    serving->windows.fetcher = &serving->fetcher;
    serving->fetcher.other = serving->fd;
    serving->fetcher.over = over;
    serving->windows.whole = run->options->whole;
    serving->windows.block = work->block;
    serving->windows.most = work->most;
    serving->windows.shelf = &work->shelf;
    serving->work = work;
    serving->fetcher.hub = &work->hub;
}

static bool answer_one(const struct wire_ask *ask)
{
    if (ask->op != WIRE_EXPECT)
        windows_used(&serving->windows, ask->used);
    switch ((enum wire_op)ask->op) {
    case WIRE_OPEN:
        open_named(ask);
        return true;
    case WIRE_BESIDE:
        open_beside(ask);
        return true;
    case WIRE_READ:
        read_file(ask);
        return true;
    case WIRE_EXPECT:
        expect(ask);
        return true;
    case WIRE_COST:
        tell_cost();
        return true;
    case WIRE_NEXT:
        open_next(ask);
        return true;
    case WIRE_COMMIT:
    case WIRE_LIST:
    case WIRE_FILE:
        open_of_hub(ask);
        return true;
    }
    return false;
}

/* Fetches ahead until there is a question. */
static bool take_question(struct wire_ask *out)
{
    while (!fetch_work(&serving->fetcher, serving->fd))
        continue;
    return wire_read(serving->fd, out, sizeof(*out), NULL);
}

_Noreturn void helper_serve(struct run *run, pid_t program, int fd,
                            struct helper_work *work)
{
    struct wire_ask ask;
    bool goes_on = true;

    begin(run, program, fd, work);
    while (goes_on && take_question(&ask)) {
        if (serving->fetcher.env)
            goes_on = answer_one(&ask);
        else
            refuse(ENOMEM, "the network's process has no memory");
    }
    _exit(EXIT_DONE);
}
