/* SPDX-License-Identifier: MIT
 *
 * sandbox.c - rights that the program gives up before it reads a file
 *
 * Landlock limits where files can be written; seccomp refuses system calls that
 * reading models never needs.  Each covers what the other cannot: Landlock
 * knows paths but not chmod, seccomp knows calls but no paths.
 *
 * Reading is not limited, because the files of a model (its shards, a
 * config.json, the target of a link into a download cache) are known only after
 * the first one was read.  The filter of seccomp is in sandbox_filter.c.
 */
#if defined(__linux__)
#define _GNU_SOURCE /* O_PATH, syscall */
#endif
#include "cli/sandbox_filter.h"

#include <stddef.h>
#include <stdlib.h>
#include <string.h>

/* ---- builds without a sandbox ---- */

/* Functions of the runtimes of sanitizers and coverage: not NULL in a program
 * that is built with them. */
extern void __asan_init(void) __attribute__((weak));
extern void __msan_init(void) __attribute__((weak));
extern void __tsan_init(void) __attribute__((weak));
extern void __gcov_init(void) __attribute__((weak));
extern void llvm_gcov_init(void) __attribute__((weak));
extern void __llvm_profile_write_file(void) __attribute__((weak));

static const char *off_by_itself(void)
{
    const char *preloaded = getenv("LD_PRELOAD");

    if (__asan_init || __msan_init || __tsan_init)
        return "sanitizers";
    if (__gcov_init || llvm_gcov_init || __llvm_profile_write_file)
        return "coverage";
    if (preloaded && strstr(preloaded, "/vgpreload_"))
        return "valgrind";
    return NULL;
}

#if defined(__linux__)

#include <assert.h>
#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <stdint.h>
#include <sys/prctl.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <unistd.h>

/* ---- Landlock: where files can be written ---- */

/* From the kernel's documentation of Landlock.  <linux/landlock.h> is often
 * missing, or older than the kernel.  The numbers of the calls are the same on
 * all processors. */
enum landlock_call {
    LANDLOCK_CREATE_RULESET = 444,
    LANDLOCK_ADD_RULE,
    LANDLOCK_RESTRICT_SELF
};

#define CREATE_RULESET_VERSION 1 /* returns the kernel's version */
#define RULE_PATH_BENEATH      1

struct ruleset {
    uint64_t files;
    uint64_t net;    /* from version 4 on; the kernel takes zeros before */
    uint64_t scoped; /* from version 6 on */
};

struct path_beneath {
    uint64_t allowed;
    int32_t parent;
} __attribute__((packed));

enum files_right {
    EXECUTE = 1 << 0,
    WRITE_FILE = 1 << 1,
    READ_FILE = 1 << 2,
    READ_DIR = 1 << 3,
    REMOVE_DIR = 1 << 4,
    REMOVE_FILE = 1 << 5,
    MAKE_CHAR = 1 << 6,
    MAKE_DIR = 1 << 7,
    MAKE_REG = 1 << 8,
    MAKE_SOCK = 1 << 9,
    MAKE_FIFO = 1 << 10,
    MAKE_BLOCK = 1 << 11,
    MAKE_SYM = 1 << 12,
    REFER = 1 << 13,    /* version 2: rename or link to another folder */
    TRUNCATE = 1 << 14, /* version 3 */
    IOCTL_DEV = 1 << 15 /* version 5: of devices that are opened later */
};

#define NET_BOTH     3 /* bind and connect TCP */
#define NET_BIND     1
#define SCOPED_BOTH  3 /* no abstract sockets, no signals to others */
#define RIGHTS_FILE  (WRITE_FILE | TRUNCATE)
#define RIGHTS_READ  (READ_FILE | READ_DIR)
#define RIGHTS_NAMES (RIGHTS_FILE | REMOVE_FILE | MAKE_REG)

static uint64_t rights_known(unsigned version)
{
    uint64_t rights = EXECUTE | WRITE_FILE | REMOVE_DIR | REMOVE_FILE |
                      MAKE_CHAR | MAKE_DIR | MAKE_REG | MAKE_SOCK | MAKE_FIFO |
                      MAKE_BLOCK | MAKE_SYM;

    rights |= version >= 2 ? REFER : 0;
    rights |= version >= 3 ? TRUNCATE : 0;
    rights |= version >= 5 ? IOCTL_DEV : 0;
    return rights;
}

/* Those that are given up. */
static const uint64_t net_rights[] = { [SANDBOX_ALONE] = NET_BOTH,
                                       [SANDBOX_NETWORK] = NET_BIND,
                                       [SANDBOX_RANKS] = 0 };

static void begin(struct sandbox *sandbox)
{
    struct ruleset ruleset = { 0 };
    long version;

    if (!sandbox->off)
        sandbox->off = off_by_itself();
    if (sandbox->off)
        return;
    version = syscall(LANDLOCK_CREATE_RULESET, NULL, 0, CREATE_RULESET_VERSION);
    if (version <= 0)
        return;
    sandbox->landlock = (unsigned)version;
    ruleset.files = rights_known(sandbox->landlock);
    ruleset.files |= sandbox->kind == SANDBOX_NETWORK ? RIGHTS_READ : 0;
    ruleset.net = version < 4 ? 0 : net_rights[sandbox->kind];
    ruleset.scoped =
        version >= 6 && sandbox->kind != SANDBOX_RANKS ? SCOPED_BOTH : 0;
    sandbox->rules =
        (int)syscall(LANDLOCK_CREATE_RULESET, &ruleset, sizeof(ruleset), 0);
}

void sandbox_begin(struct sandbox *sandbox, const char *off)
{
    *sandbox = (struct sandbox){ .off = off, .rules = -1 };
    begin(sandbox);
}

void sandbox_begin_network(struct sandbox *sandbox, const char *off)
{
    *sandbox =
        (struct sandbox){ .off = off, .rules = -1, .kind = SANDBOX_NETWORK };
    begin(sandbox);
}

void sandbox_begin_ranks(struct sandbox *sandbox, const char *off)
{
    *sandbox =
        (struct sandbox){ .off = off, .rules = -1, .kind = SANDBOX_RANKS };
    begin(sandbox);
}

/* A path that cannot be opened gets no rule: opening it for writing will report
 * the error.  Nor does an unnamed pipe, which needs none. */
static void allow(const struct sandbox *sandbox, const char *path,
                  uint64_t rights)
{
    struct path_beneath rule = {
        .allowed = rights & (rights_known(sandbox->landlock) | RIGHTS_READ),
    };

    do
        rule.parent = open(path, O_PATH | O_CLOEXEC);
    while (rule.parent < 0 && errno == EINTR);
    if (rule.parent < 0)
        return;
    (void)syscall(LANDLOCK_ADD_RULE, sandbox->rules, RULE_PATH_BENEATH, &rule,
                  0);
    close(rule.parent);
}

static size_t folder_size(const char *path)
{
    const char *slash = strrchr(path, '/');

    return slash ? (size_t)(slash + 1 - path) : 0;
}

static void allow_folder_of(const struct sandbox *sandbox, const char *path)
{
    char folder[PATH_MAX] = ".";
    size_t size = folder_size(path);

    if (size > 0) {
        memcpy(folder, path, size);
        folder[size] = 0;
    }
    allow(sandbox, folder, RIGHTS_NAMES);
}

/* Replaces path, a symbolic link, by its target; false if it is not a link or
 * the target is too long. */
static bool follow(char path[PATH_MAX])
{
    char link[PATH_MAX];
    ssize_t size = readlink(path, link, sizeof(link));
    size_t kept;

    if (size <= 0)
        return false;
    kept = *link == '/' ? 0 : folder_size(path);
    if ((size_t)size >= PATH_MAX - kept)
        return false;
    memcpy(path + kept, link, (size_t)size);
    path[kept + (size_t)size] = 0;
    return true;
}

#define LINKS_MAX 40 /* as many as the kernel follows */

void sandbox_allow_file(struct sandbox *sandbox, const char *path)
{
    char at[PATH_MAX];
    struct stat status;

    if (sandbox->rules < 0 || strlen(path) >= sizeof(at))
        return;
    if (stat(path, &status) == 0 && !S_ISREG(status.st_mode) &&
        !S_ISDIR(status.st_mode)) {
        allow(sandbox, path, RIGHTS_FILE);
        return;
    }
    strcpy(at, path);
    allow_folder_of(sandbox, at);
    /* EACCES: a link in a folder such as /tmp that the kernel does not follow.
     */
    for (int i = 0; i < LINKS_MAX; i++) {
        if ((stat(at, &status) != 0 && errno == EACCES) || !follow(at))
            return;
        allow_folder_of(sandbox, at);
    }
}

void sandbox_allow_folder(struct sandbox *sandbox, const char *path)
{
    if (sandbox->rules >= 0)
        allow(sandbox, path, RIGHTS_NAMES | MAKE_DIR | REMOVE_DIR);
}

void sandbox_allow_reading(struct sandbox *sandbox, const char *path)
{
    struct stat status;

    if (sandbox->rules >= 0 && stat(path, &status) == 0)
        allow(sandbox, path, S_ISDIR(status.st_mode) ? RIGHTS_READ : READ_FILE);
}

void sandbox_allow_links(struct sandbox *sandbox, const char *path)
{
    if (sandbox->rules >= 0)
        allow(sandbox, path, RIGHTS_NAMES | REFER);
}

static bool enter_landlock(const struct sandbox *sandbox)
{
    return sandbox->rules >= 0 &&
           syscall(LANDLOCK_RESTRICT_SELF, sandbox->rules, 0) == 0;
}

/* ---- both ---- */

void sandbox_enter(struct sandbox *sandbox)
{
    /* Landlock and seccomp both require no_new_privs. */
    bool wanted = !sandbox->off && prctl(PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0) == 0;

    if (!wanted || !enter_landlock(sandbox))
        sandbox->landlock = 0;
    sandbox->seccomp = wanted && sandbox_enter_filter(sandbox->kind);
    if (sandbox->rules >= 0)
        close(sandbox->rules);
    sandbox->rules = -1;
}

#else

void sandbox_begin(struct sandbox *sandbox, const char *off)
{
    *sandbox =
        (struct sandbox){ .off = off ? off : off_by_itself(), .rules = -1 };
}

void sandbox_begin_network(struct sandbox *sandbox, const char *off)
{
    sandbox_begin(sandbox, off);
}

void sandbox_begin_ranks(struct sandbox *sandbox, const char *off)
{
    sandbox_begin(sandbox, off);
}

void sandbox_allow_reading(struct sandbox *sandbox, const char *path)
{
    (void)sandbox;
    (void)path;
}

void sandbox_allow_file(struct sandbox *sandbox, const char *path)
{
    (void)sandbox;
    (void)path;
}

void sandbox_allow_folder(struct sandbox *sandbox, const char *path)
{
    (void)sandbox;
    (void)path;
}

void sandbox_allow_links(struct sandbox *sandbox, const char *path)
{
    (void)sandbox;
    (void)path;
}

void sandbox_enter(struct sandbox *sandbox)
{
    (void)sandbox;
}

#endif
