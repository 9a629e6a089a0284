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
 * the first one was read.  seccomp refuses calls from a list instead of
 * allowing some: the C library, OpenMP and the kernel add calls with every
 * version, and a missing one would break the program on a system that we never
 * tested.
 */
#if defined(__linux__)
#define _GNU_SOURCE /* O_PATH, syscall */
#endif
#include "cli/sandbox.h"

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
    ruleset.files |= sandbox->network ? RIGHTS_READ : 0;
    ruleset.net = version < 4 ? 0 : sandbox->network ? NET_BIND : NET_BOTH;
    ruleset.scoped = version >= 6 ? SCOPED_BOTH : 0;
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
    *sandbox = (struct sandbox){ .off = off, .rules = -1, .network = true };
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

/* ---- seccomp: refused system calls ---- */

#if defined(__x86_64__)
#define PROCESSOR AUDIT_ARCH_X86_64
#elif defined(__aarch64__) && defined(__AARCH64EL__)
#define PROCESSOR AUDIT_ARCH_AARCH64
#endif

#if defined(PROCESSOR) && defined(__has_include)
#if __has_include(<linux/seccomp.h>) && __has_include(<linux/filter.h>) && \
    __has_include(<linux/audit.h>)
#define HAS_FILTER
#endif
#endif

#if defined(HAS_FILTER)

#include <linux/audit.h>
#include <linux/filter.h>
#include <linux/seccomp.h>
#include <sys/ioctl.h>

#if __BYTE_ORDER__ != __ORDER_LITTLE_ENDIAN__
#error "the filter reads the low half of an argument first"
#endif

struct filter {
    struct sock_filter step[512];
    unsigned short count;
};

static void add(struct filter *filter, unsigned code, uint32_t value)
{
    assert(filter->count < sizeof(filter->step) / sizeof(*filter->step));
    filter->step[filter->count++] =
        (struct sock_filter){ .code = (uint16_t)code, .k = value };
}

static void add_load(struct filter *filter, size_t offset)
{
    add(filter, BPF_LD | BPF_W | BPF_ABS, (uint32_t)offset);
}

static void add_answer(struct filter *filter, uint32_t answer)
{
    add(filter, BPF_RET | BPF_K, answer);
}

/* Skips that many steps if the loaded number is equal to value (BPF_JEQ) or at
 * least value (BPF_JGE), else `otherwise` many. */
static void add_jump(struct filter *filter, unsigned test, uint32_t value,
                     uint8_t steps, uint8_t otherwise)
{
    add(filter, BPF_JMP | BPF_K | test, value);
    filter->step[filter->count - 1].jt = steps;
    filter->step[filter->count - 1].jf = otherwise;
}

static void add_refusal(struct filter *filter, uint32_t value)
{
    add_jump(filter, BPF_JEQ, value, 0, 1);
    add_answer(filter, SECCOMP_RET_ERRNO | EPERM);
}

/* A binary search.  When a filter is installed, the kernel runs it for every
 * call number to cache the answers; a linear search would take longer than all
 * else here. */
static void add_calls(struct filter *filter, const uint32_t *call, size_t count)
{
    size_t half = count / 2;
    struct sock_filter *jump = filter->step + filter->count;

    if (count < 4) {
        for (size_t i = 0; i < count; i++)
            add_refusal(filter, call[i]);
        add_answer(filter, SECCOMP_RET_ALLOW);
        return;
    }
    add_jump(filter, BPF_JGE, call[half], 0, 0);
    add_calls(filter, call, half);
    assert(filter->step + filter->count - jump - 1 <= UINT8_MAX);
    jump->jt = (uint8_t)(filter->step + filter->count - jump - 1);
    add_calls(filter, call + half, count - half);
}

static void sort(uint32_t *number, size_t count)
{
    for (size_t i = 1; i < count; i++) {
        uint32_t moving = number[i];
        size_t j = i;

        for (; j > 0 && number[j - 1] > moving; j--)
            number[j] = number[j - 1];
        number[j] = moving;
    }
}

static const uint32_t calls_all[] = {
#define CALL(number)    number,
#define NETWORK(number) number,
#include "cli/sandbox_calls.def"
#undef CALL
#undef NETWORK
};

static const uint32_t calls_network[] = {
#define CALL(number) number,
#define NETWORK(number)
#include "cli/sandbox_calls.def"
#undef CALL
#undef NETWORK
};

static void make_filter(struct filter *filter, bool network)
{
    uint32_t refused[sizeof(calls_all) / sizeof(*calls_all)];
    size_t size = network ? sizeof(calls_network) : sizeof(calls_all);
    size_t count = size / sizeof(*refused);

    memcpy(refused, network ? calls_network : calls_all, size);
    sort(refused, count);
    /* Calls of another architecture (i386 on x86_64) have other numbers. */
    add_load(filter, offsetof(struct seccomp_data, arch));
    add_jump(filter, BPF_JEQ, PROCESSOR, 1, 0);
    add_answer(filter, SECCOMP_RET_ERRNO | EPERM);
    add_load(filter, offsetof(struct seccomp_data, nr));
#if defined(__x86_64__)
    add_jump(filter, BPF_JGE, 0x40000000, 0, 1); /* calls of x32 */
    add_answer(filter, SECCOMP_RET_ERRNO | EPERM);
#endif
    /* ioctls that inject input into the terminal.  The kernel uses only the low
     * half of the request. */
    add_jump(filter, BPF_JEQ, SYS_ioctl, 0, 6);
    add_load(filter, offsetof(struct seccomp_data, args[1]));
    add_refusal(filter, TIOCSTI);
    add_refusal(filter, TIOCLINUX);
    add_answer(filter, SECCOMP_RET_ALLOW);
    add_calls(filter, refused, count);
}

static bool enter_seccomp(bool network)
{
    struct filter filter = { .count = 0 };
    struct sock_fprog program = { .filter = filter.step };
    /* Without it, kernels before 5.16 also turn on slow mitigations. */
    unsigned flag = SECCOMP_FILTER_FLAG_SPEC_ALLOW;

    make_filter(&filter, network);
    program.len = filter.count;
    return syscall(SYS_seccomp, SECCOMP_SET_MODE_FILTER, flag, &program) == 0 ||
           syscall(SYS_seccomp, SECCOMP_SET_MODE_FILTER, 0, &program) == 0;
}

#else

static bool enter_seccomp(bool network)
{
    (void)network;
    return false;
}

#endif

void sandbox_enter(struct sandbox *sandbox)
{
    /* Landlock and seccomp both require no_new_privs. */
    bool wanted = !sandbox->off && prctl(PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0) == 0;

    if (!wanted || !enter_landlock(sandbox))
        sandbox->landlock = 0;
    sandbox->seccomp = wanted && enter_seccomp(sandbox->network);
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
