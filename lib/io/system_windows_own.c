/* SPDX-License-Identifier: MIT
 *
 * system_windows_own.c - Windows: what lib/io/system.h asks for beyond POSIX
 */
#if defined(_WIN32)
#define UNICODE
#define WIN32_LEAN_AND_MEAN
#include <windows.h>
#endif

#include "lib/io/system.h"

#if defined(MF_SYSTEM_WINDOWS)

#include <string.h>

#include "lib/io/system_windows_parts.h"
#include "lib/program.h"

/* ---- names in a folder ---- */

/* Of FILE_RENAME_INFO, from Windows 10 on: as in POSIX, a file that others have
 * open is replaced, too. */
#define RENAME_REPLACES 1
#define RENAME_POSIX    2

struct renaming {
    DWORD flags;
    HANDLE folder;
    DWORD size; /* in bytes */
    WCHAR name[PATH_MAX];
};

static bool rename_as_posix(const WCHAR *from, const WCHAR *to, bool replace)
{
    enum { CLASS = 22 }; /* FileRenameInfoEx */
    struct renaming info = { .flags = replace ? RENAME_REPLACES | RENAME_POSIX
                                              : RENAME_POSIX };
    HANDLE handle =
        CreateFileW(from, DELETE | SYNCHRONIZE,
                    FILE_SHARE_READ | FILE_SHARE_WRITE | FILE_SHARE_DELETE,
                    NULL, OPEN_EXISTING, FILE_FLAG_BACKUP_SEMANTICS, NULL);
    bool done;

    if (handle == INVALID_HANDLE_VALUE)
        return false;
    wcscpy(info.name, to);
    info.size = (DWORD)(wcslen(to) * sizeof(WCHAR));
    done = SetFileInformationByHandle(handle, (FILE_INFO_BY_HANDLE_CLASS)CLASS,
                                      &info, sizeof(info));
    CloseHandle(handle);
    return done;
}

/* Where the file system does not know that, by the call that all have: it
 * replaces only a file that no program has open.  For the rest there is
 * ReplaceFile, which gives the old file another name first; between its two
 * steps nothing has the name. */
bool mf_windows_rename(int folder, const char *from, int to_folder,
                       const char *to, bool replace)
{
    WCHAR old[PATH_MAX], new[PATH_MAX];
    DWORD flags =
        MOVEFILE_WRITE_THROUGH | (replace ? MOVEFILE_REPLACE_EXISTING : 0);

    if (!mf_windows_path(folder, from, old) ||
        !mf_windows_path(to_folder, to, new))
        return false;
    if (rename_as_posix(old, new, replace) || MoveFileExW(old, new, flags))
        return true;
    if (replace && GetLastError() == ERROR_ACCESS_DENIED &&
        ReplaceFileW(new, old, NULL, REPLACEFILE_IGNORE_MERGE_ERRORS, NULL,
                     NULL))
        return true;
    mf_windows_failed();
    return false;
}

bool mf_system_rename_new(int folder, const char *from, const char *to)
{
    return mf_windows_rename(folder, from, folder, to, false);
}

/* It goes with its last handle, also when the process is killed.  A folder of
 * POSIX is the system's for such files. */
int mf_system_open_unnamed(const char *folder)
{
    WCHAR path[PATH_MAX], name[PATH_MAX];

    if (strcmp(folder, "/var/tmp") == 0 || strcmp(folder, "/tmp") == 0) {
        if (GetTempPathW(PATH_MAX, path) == 0)
            return mf_windows_failed();
    } else if (!mf_windows_path(AT_FDCWD, folder, path)) {
        return -1;
    }
    if (GetTempFileNameW(path, L"mfl", 0, name) == 0)
        return mf_windows_failed();
    return mf_windows_descriptor(
        CreateFileW(name, GENERIC_READ | GENERIC_WRITE, FILE_SHARE_DELETE, NULL,
                    CREATE_ALWAYS,
                    FILE_ATTRIBUTE_TEMPORARY | FILE_FLAG_DELETE_ON_CLOSE, NULL),
        O_RDWR);
}

/* ---- the names in a folder ---- */

void mf_entries_begin(struct mf_entries *entries, int folder)
{
    entries->folder = folder;
    entries->stream = NULL;
}

void mf_entries_end(struct mf_entries *entries)
{
    if (entries->stream)
        FindClose(entries->stream);
    if (entries->folder >= 0)
        close(entries->folder);
    entries->stream = NULL;
    entries->folder = -1;
}

static bool find_next(struct mf_entries *entries, WIN32_FIND_DATAW *found)
{
    WCHAR pattern[PATH_MAX];
    HANDLE handle;

    if (entries->stream)
        return FindNextFileW(entries->stream, found);
    if (!mf_windows_path(entries->folder, "*", pattern))
        return false;
    handle = FindFirstFileW(pattern, found);
    if (handle == INVALID_HANDLE_VALUE)
        return false;
    entries->stream = handle;
    return true;
}

const char *mf_entries_next(struct mf_entries *entries)
{
    WIN32_FIND_DATAW found;

    if (entries->folder < 0) {
        errno = EBADF;
        return NULL;
    }
    if (!find_next(entries, &found)) {
        if (GetLastError() == ERROR_NO_MORE_FILES)
            errno = 0;
        else
            mf_windows_failed();
        return NULL;
    }
    if (WideCharToMultiByte(CP_UTF8, 0, found.cFileName, -1, entries->name,
                            sizeof(entries->name), NULL, NULL) == 0) {
        mf_windows_failed();
        return NULL;
    }
    return entries->name;
}

/* ---- files ---- */

/* A lock of Windows keeps others from the bytes that it is of, so it is of one
 * that no file has. */
static bool lock(int fd, DWORD how)
{
    OVERLAPPED place = { .Offset = MAXDWORD, .OffsetHigh = MAXLONG };

    if (LockFileEx(mf_windows_handle(fd), how | LOCKFILE_FAIL_IMMEDIATELY, 0, 1,
                   0, &place))
        return true;
    mf_windows_failed();
    return false;
}

bool mf_system_lock(int fd)
{
    return lock(fd, LOCKFILE_EXCLUSIVE_LOCK);
}

bool mf_system_lock_shared(int fd)
{
    return lock(fd, 0);
}

bool mf_system_allocate(int fd, uint64_t size)
{
    FILE_ALLOCATION_INFO room = { .AllocationSize.QuadPart = (LONGLONG)size };

    (void)SetFileInformationByHandle(mf_windows_handle(fd), FileAllocationInfo,
                                     &room, sizeof(room));
    return ftruncate(fd, (int64_t)size) == 0;
}

uint64_t mf_system_free_space(int fd)
{
    WCHAR path[PATH_MAX], *name;
    ULARGE_INTEGER bytes;

    if (GetFinalPathNameByHandleW(mf_windows_handle(fd), path, PATH_MAX, 0) ==
        0)
        return UINT64_MAX;
    name = wcsrchr(path, '\\');
    if (name)
        name[1] = 0;
    return GetDiskFreeSpaceExW(path, &bytes, NULL, NULL) ? bytes.QuadPart
                                                         : UINT64_MAX;
}

/* ---- libraries ---- */

/* Windows would look for one in the folder of the program and on PATH, where
 * anybody may have put it. */
/* ---- patterns ---- */

/* A bracket: whether c is one of what is in it; *end: after it.  NULL where
 * none ends. */
static const char *match_bracket(const char *at, char c, bool *fits)
{
    bool negated = *at == '!' || *at == '^', found = false;

    at += negated;
    for (bool first = true; *at && (first || *at != ']'); first = false) {
        char low = *at++, high = low;

        if (*at == '-' && at[1] && at[1] != ']') {
            high = at[1];
            at += 2;
        }
        found |= low <= c && c <= high;
    }
    *fits = found != negated;
    return *at ? at + 1 : NULL;
}

/* One element of the pattern, which is not a star, against c: what follows it,
 * or NULL if it does not fit. */
static const char *match_one(const char *pattern, char c)
{
    const char *end;
    bool fits;

    if (*pattern == '?')
        return pattern + 1;
    if (*pattern == '[' && (end = match_bracket(pattern + 1, c, &fits)) != NULL)
        return fits ? end : NULL;
    if (*pattern == '\\' && pattern[1])
        pattern++;
    return *pattern == c ? pattern + 1 : NULL;
}

/* Only the last star is ever tried again: more cannot match than with it. */
int mf_windows_fnmatch(const char *pattern, const char *text, int flags)
{
    const char *star = NULL, *from = NULL, *next;

    (void)flags;
    while (*text) {
        if (*pattern == '*') {
            star = ++pattern;
            from = text;
        } else if (*pattern && (next = match_one(pattern, *text)) != NULL) {
            pattern = next;
            text++;
        } else if (star) {
            pattern = star;
            text = ++from;
        } else {
            return 1;
        }
    }
    while (*pattern == '*')
        pattern++;
    return *pattern != 0;
}

#endif
