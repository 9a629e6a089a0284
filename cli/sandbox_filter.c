/* SPDX-License-Identifier: MIT
 *
 * sandbox_filter.c - system calls that are refused
 *
 * seccomp refuses calls from a list instead of allowing some: the C library,
 * OpenMP and the kernel add calls with every version, and a missing one would
 * break the program on a system that we never tested.
 */
#if defined(__linux__)
#define _GNU_SOURCE /* syscall */
#endif
#include "cli/sandbox_filter.h"

#if defined(__linux__)

#include <assert.h>
#include <errno.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>
#include <sys/syscall.h>
#include <unistd.h>

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
#define SERVER(number)  number,
#include "cli/sandbox_calls.def"
#undef CALL
#undef NETWORK
#undef SERVER
};

static const uint32_t calls_network[] = {
#define CALL(number) number,
#define NETWORK(number)
#define SERVER(number) number,
#include "cli/sandbox_calls.def"
#undef CALL
#undef NETWORK
#undef SERVER
};

static const uint32_t calls_ranks[] = {
#define CALL(number) number,
#define NETWORK(number)
#define SERVER(number)
#include "cli/sandbox_calls.def"
#undef CALL
#undef NETWORK
#undef SERVER
};

#define COUNT_OF(calls) (sizeof(calls) / sizeof(*(calls)))

static const struct {
    const uint32_t *call;
    size_t count;
} calls_of[] = {
    [SANDBOX_ALONE] = { calls_all, COUNT_OF(calls_all) },
    [SANDBOX_NETWORK] = { calls_network, COUNT_OF(calls_network) },
    [SANDBOX_RANKS] = { calls_ranks, COUNT_OF(calls_ranks) },
};

static void make_filter(struct filter *filter, enum sandbox_kind kind)
{
    uint32_t refused[COUNT_OF(calls_all)];
    size_t count = calls_of[kind].count;

    memcpy(refused, calls_of[kind].call, count * sizeof(*refused));
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

bool sandbox_enter_filter(enum sandbox_kind kind)
{
    struct filter filter = { .count = 0 };
    struct sock_fprog program = { .filter = filter.step };
    /* Without it, kernels before 5.16 also turn on slow mitigations. */
    unsigned flag = SECCOMP_FILTER_FLAG_SPEC_ALLOW;

    make_filter(&filter, kind);
    program.len = filter.count;
    return syscall(SYS_seccomp, SECCOMP_SET_MODE_FILTER, flag, &program) == 0 ||
           syscall(SYS_seccomp, SECCOMP_SET_MODE_FILTER, 0, &program) == 0;
}

#else

bool sandbox_enter_filter(enum sandbox_kind kind)
{
    (void)kind;
    return false;
}

#endif

#endif
