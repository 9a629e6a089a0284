/* SPDX-License-Identifier: MIT
 *
 * module.c - the library as WebAssembly: one model, read through its host
 *
 * web/host/module.js is the other side.  The host reads files, by number: 0 is
 * the one that is opened.  It gets text (JSON) in pieces, so that a document of
 * any size takes no memory here.  Each call returns an enum mf_status; what it
 * says of an error is JSON that `error` writes.
 *
 * An instance has one model.  A host that wants several has as many instances,
 * with the memory of each bounded by the linker.
 */
#include <errno.h>
#include <string.h>

#include "lib/program.h"
#include "lib/report/report.h"

/* Below the 64 MiB of web.mk, which has the stack, tables and malloc's rests as
 * well. */
#define HEAP_LIMIT ((size_t)48 << 20)

#define EXPORT(name, type, function)                                           \
    __attribute__((export_name(name))) type function;                          \
    type function
#define IMPORT(name)                                                           \
    __attribute__((import_module("host"), import_name(name))) extern

/* ---- the host ---- */

/* Sizes and offsets are doubles, which are exact up to 2^53. */
IMPORT("size") double host_size(int file);

/* How many bytes, or a negative number of errno. */
IMPORT("read")
int host_read(int file, double offset, void *into, size_t size);

/* The number of another file, or a negative number of errno. */
IMPORT("open") int host_open(const char *name, size_t size);

IMPORT("close") void host_close(int file);

/* Text, valid during the call. */
IMPORT("write") void host_write(const char *at, size_t size);

/* What is known of a call that takes long; 0: it shall stop. */
IMPORT("progress") int host_progress(double done, double total);

/* ---- text for the host ---- */

static struct {
    size_t filled;
    char text[16384];
} out;

static void flush(void)
{
    if (out.filled > 0)
        host_write(out.text, out.filled);
    out.filled = 0;
}

static void put(void *user, const char *at, size_t size)
{
    (void)user;
    while (size > 0) {
        size_t room = sizeof(out.text) - out.filled;
        size_t part = size < room ? size : room;

        memcpy(out.text + out.filled, at, part);
        out.filled += part;
        at += part;
        size -= part;
        if (out.filled == sizeof(out.text))
            flush();
    }
}

/* ---- files ---- */

/* A source's `user` is the number of its file. */
static void *user_of(int file)
{
    return (void *)(intptr_t)file;
}

static int file_of(void *user)
{
    return (int)(intptr_t)user;
}

static int64_t read_file(void *user, uint64_t offset, void *buffer,
                         size_t count)
{
    return host_read(file_of(user), (double)offset, buffer, count);
}

static void close_file(void *user)
{
    host_close(file_of(user));
}

static int open_file(void *user, const char *name, struct mf_byte_source *to);

static struct mf_byte_source source_of(int file, const char *name)
{
    return (struct mf_byte_source){
        .size = sizeof(struct mf_byte_source),
        .name = name,
        .bytes = (uint64_t)host_size(file),
        .read = read_file,
        .open = open_file,
        .close = close_file,
        .user = user_of(file),
        .one_at_a_time = true,
    };
}

static int open_file(void *user, const char *name, struct mf_byte_source *to)
{
    int file = host_open(name, strlen(name));

    (void)user;
    if (file < 0)
        return -file;
    *to = source_of(file, name);
    return 0;
}

/* ---- the model ---- */

static struct {
    struct mf_env *env;
    struct mf_model *model;
    float *values; /* of the last call of `values` */
    size_t values_size;
} open_now;

static bool report_progress(void *user, const struct mf_progress *progress)
{
    (void)user;
    return host_progress((double)progress->done, (double)progress->total) != 0;
}

EXPORT("close", void, module_close(void))
{
    if (open_now.env)
        mf_env_resize(open_now.env, open_now.values, open_now.values_size, 0);
    mf_model_close(open_now.model);
    mf_env_free(open_now.env);
    memset(&open_now, 0, sizeof(open_now));
}

/* Memory for a text of the host. */
EXPORT("room", char *, module_room(size_t size))
{
    static char text[4096];

    return size < sizeof(text) ? text : NULL;
}

/* Opens file 0 of the host.  name: in module_room, terminated.  together: also
 * the shards of safetensors that its name counts. */
EXPORT("open", int, module_open(const char *name, int together))
{
    const struct mf_options options = { .size = sizeof(options),
                                        .heap_limit = HEAP_LIMIT,
                                        .threads = 1,
                                        .progress = report_progress };
    const struct mf_open_options how = {
        .size = sizeof(how),
        .shards = together ? MF_SHARDS_BY_NAME : MF_SHARDS_AUTO,
        .allow_missing = true,
    };
    struct mf_byte_source source;

    module_close();
    open_now.env = mf_env_new(&options);
    if (!open_now.env)
        return MF_ERR_MEMORY;
    source = source_of(0, name);
    return (int)mf_model_open_source(open_now.env, &source, &how,
                                     &open_now.model);
}

static mf_report_section *section_named(const char *name)
{
    static const struct {
        const char *name;
        mf_report_section *write;
    } sections[] = {
        { "head", mf_report_head },
        { "verdict", mf_report_verdict },
        { "tensors", mf_report_tensors },
        { "metadata", mf_report_metadata },
        { "tokenizer", mf_report_tokenizer },
        { "plan", mf_report_plan },
    };

    for (size_t i = 0; i < sizeof(sections) / sizeof(*sections); i++)
        if (strcmp(sections[i].name, name) == 0)
            return sections[i].write;
    return NULL;
}

/* Writes the object {"NAME": SECTION}, without the member if the model has none
 * of the kind. */
EXPORT("section", int, module_section(const char *name))
{
    /* The files were chosen by hand: a finding may name them. */
    const struct mf_report_options options = { .size = sizeof(options),
                                               .paths = true };
    struct mf_json_out json = { .write = put };
    mf_report_section *write = section_named(name);
    enum mf_status status = MF_ERR_ARGUMENT;

    if (!write || !open_now.model)
        return MF_ERR_ARGUMENT;
    mf_json_begin(&json, '{');
    status = write(open_now.model, &options, &json);
    mf_json_end(&json, '}');
    flush();
    return (int)status;
}

/* Writes one entry of the metadata. */
EXPORT("entry", int, module_entry(size_t index))
{
    struct mf_json_out json = { .write = put };
    enum mf_status status;

    if (!open_now.model)
        return MF_ERR_ARGUMENT;
    status = mf_report_entry(open_now.model, index, &json);
    flush();
    return (int)status;
}

/* ---- numbers ---- */

/* Reads elements of a tensor; they are where `values_at` says until the next
 * call. */
EXPORT("values", int, module_values(size_t tensor, double first, size_t count))
{
    size_t size = count * sizeof(float);
    float *values;

    if (!open_now.model || !(first >= 0 && first < 0x1p53) ||
        count > HEAP_LIMIT / sizeof(float))
        return MF_ERR_ARGUMENT;
    values = mf_env_resize(open_now.env, open_now.values, open_now.values_size,
                           size);
    if (!values && size > 0)
        return MF_ERR_MEMORY;
    open_now.values = values;
    open_now.values_size = size;
    return (int)mf_tensor_read(open_now.model, tensor, (uint64_t)first, count,
                               MF_READ_F32, values);
}

EXPORT("values_at", const float *, module_values_at(void))
{
    return open_now.values;
}

/* ---- errors ---- */

static void put_member(struct mf_json_out *json, const char *key,
                       const char *text)
{
    if (text[0] == '\0')
        return;
    mf_json_key(json, key);
    mf_json_string(json, text, strlen(text));
}

/* Writes what is known of the call that just returned `status`. */
EXPORT("error", void, module_error(int status))
{
    struct mf_json_out json = { .write = put };
    const struct mf_error *error =
        open_now.env ? mf_env_error(open_now.env) : NULL;

    mf_json_begin(&json, '{');
    put_member(&json, "status", mf_status_name((enum mf_status)status));
    if (error && error->status == (enum mf_status)status) {
        put_member(&json, "message", error->message);
        put_member(&json, "rule", error->rule);
        put_member(&json, "file", error->path);
        if (error->offset != MF_NO_OFFSET) {
            mf_json_key(&json, "offset");
            mf_report_number(&json, error->offset);
        }
    }
    mf_json_end(&json, '}');
    flush();
}

/* Writes what the library has taken: bytes of memory at most, and reads. */
EXPORT("spent", void, module_spent(void))
{
    struct mf_json_out json = { .write = put };
    struct mf_heap_stats heap = { 0 };
    struct mf_io_stats io = { 0 };

    if (open_now.env) {
        mf_env_heap(open_now.env, &heap);
        mf_env_io(open_now.env, &io);
    }
    mf_json_begin(&json, '{');
    mf_json_key(&json, "heap");
    mf_json_u64(&json, heap.peak);
    mf_json_key(&json, "bytes_read");
    mf_json_u64(&json, io.bytes_read);
    mf_json_key(&json, "reads");
    mf_json_u64(&json, io.reads);
    mf_json_end(&json, '}');
    flush();
}

EXPORT("version", void, module_version(void))
{
    put(NULL, mf_version(), strlen(mf_version()));
    flush();
}
