/* SPDX-License-Identifier: MIT
 *
 * static.c - what the program of `make static` does without
 *
 * glibc can load libraries into a static program too: for processors that
 * OpenMP offloads to, for character sets, names of users and of other machines,
 * and translations.  These fit only the very glibc that it was linked with, and
 * the loader would come along.  Nothing here needs them, so the linker has
 * these called instead (--wrap; a name that another glibc does not have makes
 * no difference).
 */
#if defined(MF_STATIC)

#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

/* The types are glibc's, and so are the parameters. */
#pragma GCC diagnostic ignored "-Wunused-parameter"
#define INSTEAD(type, name, ...)                                               \
    type __wrap_##name(__VA_ARGS__);                                           \
    type __wrap_##name(__VA_ARGS__)

/* ---- libraries */

INSTEAD(void *, dlopen, const char *name, int mode)
{
    return NULL;
}

INSTEAD(void *, __libc_dlopen_mode, const char *name, int mode)
{
    return NULL;
}

INSTEAD(void *, dlsym, void *library, const char *name)
{
    return NULL;
}

INSTEAD(void *, __libc_dlsym, void *library, const char *name)
{
    return NULL;
}

INSTEAD(int, dlclose, void *library)
{
    return -1;
}

INSTEAD(int, __libc_dlclose, void *library)
{
    return -1;
}

INSTEAD(char *, dlerror, void)
{
    static char text[] = "a static program loads no library";

    return text;
}

/* ---- character sets, and translations */

/* 1: there is no such conversion.  The program stays in the locale C. */
INSTEAD(int, __gconv_find_transform, const char *to, const char *from,
        void **steps, size_t *count, int flags)
{
    return 1;
}

INSTEAD(char *, __dcgettext, const char *domain, const char *text, int category)
{
    return (char *)text;
}

INSTEAD(_Noreturn void, __assert_fail, const char *what, const char *file,
        unsigned line, const char *function)
{
    const char *const parts[] = { file, ": ", what, "\n" };

    for (size_t i = 0; i < sizeof(parts) / sizeof(*parts); i++)
        if (write(STDERR_FILENO, parts[i], strlen(parts[i])) < 0)
            break;
    abort();
}

/* ---- users, and other machines */

struct passwd;

/* For what "~name" means, which glob is not asked. */
INSTEAD(int, __getpwnam_r, const char *name, struct passwd *user, char *text,
        size_t size, struct passwd **found)
{
    *found = NULL;
    return ENOENT;
}

INSTEAD(int, __getlogin_r, char *name, size_t size)
{
    return ENOENT;
}

/* Every thread that ends would clear its resolver. */
INSTEAD(int, __res_vinit, void *state, int preinit)
{
    return -1;
}

INSTEAD(void, __res_iclose, void *state, int free_addresses)
{
}

#else

/* Elsewhere these are the system's. */
typedef int static_is_elsewhere;

#endif
