/* SPDX-License-Identifier: MIT
 *
 * system_windows.c - Windows: what POSIX is there, made of calls of Windows
 *
 * system_windows_own.c has what lib/io/system.h asks for beyond POSIX.
 */
#if defined(_WIN32)
#define UNICODE
#define WIN32_LEAN_AND_MEAN
#include <windows.h>
#endif

#include "lib/io/system.h"

#if defined(MF_SYSTEM_WINDOWS)

#include <stdarg.h>
#include <stdio.h>
#include <string.h>

#include "lib/io/system_windows_parts.h"

/* ---- errors ---- */

int mf_windows_failed(void)
{
    static const struct {
        DWORD system;
        int posix;
    } rows[] = {
        { ERROR_FILE_NOT_FOUND, ENOENT },
        { ERROR_PATH_NOT_FOUND, ENOENT },
        { ERROR_INVALID_NAME, ENOENT },
        { ERROR_BAD_NETPATH, ENOENT },
        { ERROR_INVALID_DRIVE, ENOENT },
        { ERROR_ACCESS_DENIED, EACCES },
        { ERROR_SHARING_VIOLATION, EACCES },
        { ERROR_LOCK_VIOLATION, EWOULDBLOCK },
        { ERROR_IO_PENDING, EWOULDBLOCK },
        { ERROR_FILE_EXISTS, EEXIST },
        { ERROR_ALREADY_EXISTS, EEXIST },
        { ERROR_DIR_NOT_EMPTY, ENOTEMPTY },
        { ERROR_DIRECTORY, ENOTDIR },
        { ERROR_INVALID_HANDLE, EBADF },
        { ERROR_DISK_FULL, ENOSPC },
        { ERROR_HANDLE_DISK_FULL, ENOSPC },
        { ERROR_NOT_ENOUGH_MEMORY, ENOMEM },
        { ERROR_OUTOFMEMORY, ENOMEM },
        { ERROR_WRITE_PROTECT, EROFS },
        { ERROR_INVALID_PARAMETER, EINVAL },
        { ERROR_NOT_SUPPORTED, EOPNOTSUPP },
        { ERROR_NOT_SAME_DEVICE, EXDEV },
        { ERROR_BROKEN_PIPE, EPIPE },
        { ERROR_NO_DATA, EPIPE },
        { ERROR_FILENAME_EXCED_RANGE, ENAMETOOLONG },
        { ERROR_TOO_MANY_OPEN_FILES, EMFILE },
    };
    DWORD error = GetLastError();

    errno = EIO;
    for (size_t i = 0; i < sizeof(rows) / sizeof(*rows); i++)
        if (rows[i].system == error)
            errno = rows[i].posix;
    return -1;
}

HANDLE mf_windows_handle(int fd)
{
    intptr_t handle = fd >= 0 ? _get_osfhandle(fd) : -1;

    return handle == -1 || handle == -2 ? INVALID_HANDLE_VALUE : (HANDLE)handle;
}

/* ---- paths ---- */

static bool is_absolute(const char *path)
{
    return *path == '/' || *path == '\\' || (*path && path[1] == ':');
}

/* The folder's own path begins with \\?\, which lifts the limit of 260. */
static size_t put_folder(int folder, WCHAR out[PATH_MAX])
{
    DWORD size = GetFinalPathNameByHandleW(mf_windows_handle(folder), out,
                                           PATH_MAX - 2, 0);

    if (size == 0 || size >= PATH_MAX - 2)
        return 0;
    out[size] = '\\';
    return size + 1;
}

/* A long path of its own must be whole, and begin with \\?\, too. */
static bool make_long(WCHAR path[PATH_MAX])
{
    WCHAR whole[PATH_MAX];
    DWORD size;

    if (wcslen(path) < MAX_PATH - 12 || wcsncmp(path, L"\\\\", 2) == 0)
        return true;
    size = GetFullPathNameW(path, PATH_MAX - 4, whole, NULL);
    if (size == 0 || size >= PATH_MAX - 4)
        return false;
    wcscpy(path, L"\\\\?\\");
    wcscat(path, whole);
    return true;
}

bool mf_windows_path(int folder, const char *path, WCHAR out[PATH_MAX])
{
    size_t at = 0;
    int size;

    if (!*path) {
        errno = ENOENT;
        return false;
    }
    if (folder != AT_FDCWD && !is_absolute(path)) {
        at = put_folder(folder, out);
        if (at == 0) {
            mf_windows_failed();
            return false;
        }
    }
    size = MultiByteToWideChar(CP_UTF8, MB_ERR_INVALID_CHARS, path, -1,
                               out + at, (int)(PATH_MAX - at));
    if (size > 0)
        for (WCHAR *c = out + at; *c; c++)
            *c = *c == '/' ? '\\' : *c;
    if (size > 0 && make_long(out))
        return true;
    errno =
        GetLastError() == ERROR_NO_UNICODE_TRANSLATION ? EILSEQ : ENAMETOOLONG;
    return false;
}

/* ---- status ---- */

/* From 100 ns since 1601 to seconds since 1970. */
static struct timespec time_of(LARGE_INTEGER time)
{
    int64_t ticks = time.QuadPart - INT64_C(116444736000000000);

    return (struct timespec){ .tv_sec = (time_t)(ticks / 10000000),
                              .tv_nsec = (long)(ticks % 10000000) * 100 };
}

static unsigned mode_of(DWORD attributes)
{
    unsigned rights = attributes & FILE_ATTRIBUTE_READONLY ? 0400 : 0600;

    return rights | (attributes & FILE_ATTRIBUTE_DIRECTORY ? S_IFDIR : S_IFREG);
}

static int stat_handle(HANDLE handle, struct mf_windows_stat *out)
{
    BY_HANDLE_FILE_INFORMATION file;
    FILE_BASIC_INFO basic;
    DWORD type = GetFileType(handle);

    *out = (struct mf_windows_stat){ .st_nlink = 1 };
    if (type == FILE_TYPE_PIPE || type == FILE_TYPE_CHAR) {
        out->st_mode = type == FILE_TYPE_PIPE ? S_IFIFO : S_IFCHR;
        return 0;
    }
    if (!GetFileInformationByHandle(handle, &file) ||
        !GetFileInformationByHandleEx(handle, FileBasicInfo, &basic,
                                      sizeof(basic)))
        return mf_windows_failed();
    out->st_dev = file.dwVolumeSerialNumber;
    out->st_ino = (uint64_t)file.nFileIndexHigh << 32 | file.nFileIndexLow;
    out->st_size =
        (int64_t)((uint64_t)file.nFileSizeHigh << 32 | file.nFileSizeLow);
    out->st_nlink = (unsigned)file.nNumberOfLinks;
    out->st_mode = mode_of(file.dwFileAttributes);
    out->st_mtim = time_of(basic.LastWriteTime);
    out->st_ctim = time_of(basic.ChangeTime);
    return 0;
}

int mf_windows_fstat(int fd, struct mf_windows_stat *out)
{
    return stat_handle(mf_windows_handle(fd), out);
}

#define SHARE_ALL (FILE_SHARE_READ | FILE_SHARE_WRITE | FILE_SHARE_DELETE)

int mf_windows_fstatat(int folder, const char *path,
                       struct mf_windows_stat *out, int flags)
{
    WCHAR wide[PATH_MAX];
    HANDLE handle;
    int result;

    (void)flags;
    if (!mf_windows_path(folder, path, wide))
        return -1;
    handle = CreateFileW(wide, FILE_READ_ATTRIBUTES, SHARE_ALL, NULL,
                         OPEN_EXISTING, FILE_FLAG_BACKUP_SEMANTICS, NULL);
    if (handle == INVALID_HANDLE_VALUE)
        return mf_windows_failed();
    result = stat_handle(handle, out);
    CloseHandle(handle);
    return result;
}

/* ---- opening ---- */

static DWORD disposition_of(int flags)
{
    if ((flags & O_CREAT) == 0)
        return OPEN_EXISTING;
    return flags & O_EXCL ? CREATE_NEW : OPEN_ALWAYS;
}

/* A folder is opened without the right for others to remove it: its name stays
 * while it is open. */
static HANDLE open_wide(const WCHAR *path, int flags)
{
    bool writes = (flags & (O_WRONLY | O_RDWR)) != 0;
    DWORD attributes = GetFileAttributesW(path);
    bool folder = attributes != INVALID_FILE_ATTRIBUTES &&
                  (attributes & FILE_ATTRIBUTE_DIRECTORY) != 0;

    if ((flags & O_DIRECTORY) != 0 && attributes != INVALID_FILE_ATTRIBUTES &&
        !folder) {
        SetLastError(ERROR_DIRECTORY);
        return INVALID_HANDLE_VALUE;
    }
    if (folder)
        return CreateFileW(path, FILE_LIST_DIRECTORY | FILE_READ_ATTRIBUTES,
                           FILE_SHARE_READ | FILE_SHARE_WRITE, NULL,
                           OPEN_EXISTING, FILE_FLAG_BACKUP_SEMANTICS, NULL);
    return CreateFileW(
        path, GENERIC_READ | (writes ? GENERIC_WRITE | DELETE : 0), SHARE_ALL,
        NULL, disposition_of(flags), FILE_ATTRIBUTE_NORMAL, NULL);
}

int mf_windows_descriptor(HANDLE handle, int flags)
{
    int fd;

    if (handle == INVALID_HANDLE_VALUE)
        return mf_windows_failed();
    fd = _open_osfhandle((intptr_t)handle, (flags & (O_WRONLY | O_RDWR)) |
                                               _O_BINARY | _O_NOINHERIT);
    if (fd < 0)
        CloseHandle(handle);
    return fd;
}

int mf_windows_openat(int folder, const char *path, int flags, ...)
{
    WCHAR wide[PATH_MAX];

    if (!mf_windows_path(folder, path, wide))
        return -1;
    return mf_windows_descriptor(open_wide(wide, flags), flags);
}

/* ---- bytes ---- */

static OVERLAPPED place_of(int64_t offset)
{
    return (OVERLAPPED){ .Offset = (DWORD)offset,
                         .OffsetHigh = (DWORD)(offset >> 32) };
}

#define MOST ((size_t)1 << 30) /* the system's counts have 32 bits */

ptrdiff_t mf_windows_pread(int fd, void *bytes, size_t size, int64_t offset)
{
    OVERLAPPED place = place_of(offset);
    DWORD got = 0;

    if (ReadFile(mf_windows_handle(fd), bytes,
                 (DWORD)(size < MOST ? size : MOST), &got, &place) ||
        GetLastError() == ERROR_HANDLE_EOF)
        return (ptrdiff_t)got;
    return mf_windows_failed();
}

ptrdiff_t mf_windows_pwrite(int fd, const void *bytes, size_t size,
                            int64_t offset)
{
    OVERLAPPED place = place_of(offset);
    DWORD wrote = 0;

    return WriteFile(mf_windows_handle(fd), bytes,
                     (DWORD)(size < MOST ? size : MOST), &wrote, &place)
               ? (ptrdiff_t)wrote
               : mf_windows_failed();
}

int mf_windows_ftruncate(int fd, int64_t size)
{
    FILE_END_OF_FILE_INFO end = { .EndOfFile.QuadPart = size };

    return SetFileInformationByHandle(mf_windows_handle(fd), FileEndOfFileInfo,
                                      &end, sizeof(end))
               ? 0
               : mf_windows_failed();
}

/* A folder cannot be synced: EINVAL, as some file systems of POSIX say. */
int mf_windows_fsync(int fd)
{
    struct mf_windows_stat status;

    if (mf_windows_fstat(fd, &status) != 0)
        return -1;
    if (S_ISDIR(status.st_mode)) {
        errno = EINVAL;
        return -1;
    }
    return FlushFileBuffers(mf_windows_handle(fd)) ? 0 : mf_windows_failed();
}

/* The rights of a descriptor are not asked for: reading finds out. */
int mf_windows_fcntl(int fd, int command, ...)
{
    if (mf_windows_handle(fd) == INVALID_HANDLE_VALUE) {
        errno = EBADF;
        return -1;
    }
    return command == F_DUPFD_CLOEXEC ? _dup(fd) : O_RDWR;
}

/* ---- names ---- */

int mf_windows_unlinkat(int folder, const char *path, int flags)
{
    WCHAR wide[PATH_MAX];

    if (!mf_windows_path(folder, path, wide))
        return -1;
    return (flags & AT_REMOVEDIR ? RemoveDirectoryW(wide) : DeleteFileW(wide))
               ? 0
               : mf_windows_failed();
}

int mf_windows_mkdirat(int folder, const char *path, unsigned mode)
{
    WCHAR wide[PATH_MAX];

    (void)mode;
    if (!mf_windows_path(folder, path, wide))
        return -1;
    return CreateDirectoryW(wide, NULL) ? 0 : mf_windows_failed();
}

int mf_windows_faccessat(int folder, const char *path, int mode, int flags)
{
    struct mf_windows_stat status;

    (void)flags;
    if (mf_windows_fstatat(folder, path, &status, 0) != 0)
        return -1;
    if ((mode & 2) == 0 || (status.st_mode & 0200) != 0)
        return 0;
    errno = EACCES;
    return -1;
}

int mf_windows_renameat(int folder, const char *from, int to_folder,
                        const char *to)
{
    return mf_windows_rename(folder, from, to_folder, to, true) ? 0 : -1;
}

ptrdiff_t mf_windows_readlink(const char *path, char *out, size_t size)
{
    (void)path, (void)out, (void)size;
    errno = EINVAL; /* it is followed before anybody asks */
    return -1;
}

#endif
