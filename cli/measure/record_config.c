/* SPDX-License-Identifier: MIT
 *
 * record_config.c - what was run, and where
 *
 * The configuration has what decides about the work, in an order of its own:
 * the options of the command's table, not as they were typed, and operands that
 * are not files.  Models count by all their bytes; a file that is written, by
 * the end of its name, which can decide about its format.
 */
#include <fcntl.h>
#include <stdio.h>
#include <string.h>
#include <sys/utsname.h>
#include <unistd.h>

#include "cli/build.h"
#include "cli/given.h"
#include "cli/json.h"
#include "cli/measure/record_parts.h"

/* ---- text of any length: what does not fit counts by its digest ---- */

struct long_text {
    char at[4096 + 80];
    size_t size; /* of the whole text */
    struct mf_sha256 sha;
};

#define LONG_TEXT ((size_t)4096)

static void add(struct long_text *text, const char *more)
{
    size_t size = strlen(more);
    size_t room = text->size < LONG_TEXT ? LONG_TEXT - text->size : 0;

    memcpy(text->at + (LONG_TEXT - room), more, size < room ? size : room);
    text->size += size;
    mf_sha256_add(&text->sha, more, size);
}

static const char *end(struct long_text *text)
{
    if (text->size < LONG_TEXT)
        text->at[text->size] = 0;
    else
        snprintf(text->at + LONG_TEXT, sizeof(text->at) - LONG_TEXT,
                 "... sha256 %s", sha256_end(&text->sha).at);
    return text->at;
}

/* ---- options and operands ---- */

/* A word of the command line: a space in it is not the end of it. */
static void add_word(struct long_text *text, const char *word)
{
    char piece[3] = "\\";

    for (; *word; word++) {
        piece[1] = *word;
        add(text, *word == ' ' || *word == '\\' ? piece : piece + 1);
    }
}

static void add_option(void *user, const char *name, const char *value)
{
    struct long_text *text = user;

    add(text, " ");
    add(text, name);
    if (value) {
        add(text, "=");
        add_word(text, value);
    }
}

/* How it is shown, and whether an older file goes, changes no work; the number
 * of threads has a member of its own, unlike several of them. */
static bool is_aside(const struct option *option)
{
    return option->set.choice == &shared_options.progress ||
           option->set.flag == &shared_options.force ||
           option->set.number == &shared_options.threads ||
           option->set.text == &shared_options.files_from ||
           !option->help; /* another name of the one before */
}

static bool is_word(const char *name, const char *word, size_t size)
{
    return strlen(name) == size && memcmp(name, word, size) == 0;
}

static bool is_file(const char *word, size_t size)
{
    static const char *const names[] = { "FILE", "IN",     "OUT",   "MODEL",
                                         "A",    "PREFIX", "FIRST", "B" };

    for (size_t i = 0; i < sizeof(names) / sizeof(*names); i++)
        if (is_word(names[i], word, size))
            return true;
    return false;
}

/* ".gguf" of a path: it can decide about the format. */
static void add_suffix(struct long_text *text, const char *path)
{
    const char *slash = strrchr(path, '/');
    const char *dot = strrchr(slash ? slash : path, '.');

    add(text, " *");
    if (dot)
        add_word(text, dot);
}

/* Operands fit the words of "IN [OUT] TYPE", the last of which may repeat; NULL
 * is one that was left out. */
static void add_operands(struct long_text *text, const struct run *run)
{
    const char *word = run->command->operands;

    for (size_t i = 0; i < run->operand_count && *word; i++) {
        size_t skip = strspn(word, "[");
        const char *next = word + strcspn(word, " ");
        const char *operand = run->operand[i];
        size_t size = strcspn(word + skip, "] .=");

        if (operand && is_word("OUT", word + skip, size)) {
            add_suffix(text, operand);
        } else if (operand && !is_file(word + skip, size)) {
            add(text, " ");
            add_word(text, operand);
        }
        word = *next ? next + 1 : word;
    }
}

static const char *describe_work(const struct run *run)
{
    static struct long_text text;
    const struct command *command = run->command;

    text.size = 0;
    mf_sha256_begin(&text.sha);
    add(&text, "modelfile ");
    add(&text, mf_version());
    add(&text, " ");
    add(&text, command->name);
    if (*command->sub) {
        add(&text, " ");
        add(&text, command->sub);
    }
    add_operands(&text, run);
    for (const struct option *option = command->options; option && option->name;
         option++)
        if (option->name[0] == '-' && !is_aside(option))
            given_values(option, add_option, &text);
    for (const struct option *option = common_options; option->name; option++)
        if (strcmp(option->name, "--max-memory") == 0)
            given_values(option, add_option, &text);
    return end(&text);
}

/* ---- all of it ---- */

static const char *isa_in_force(void)
{
    struct mf_kernel kernel;

    return mf_kernel_find("f32", NULL, &kernel) ? kernel.isa : "unknown";
}

static const char *describe_build(void)
{
    static char text[512];

    snprintf(text, sizeof(text), "%s %s, isa %s", build_compiler(),
             build_flags(), isa_in_force());
    return text;
}

struct fingerprint_config record_config(struct run *run)
{
    static struct sha256_text weights;
    struct record *record = &the_record;

    record_weights_end(record);
    weights = sha256_end(&record->weights);
    return (struct fingerprint_config){
        .model_commit = describe_work(run),
        .weights_hash = record->has_weights ? weights.at : "",
        .tau = mf_env_threads(run->env),
        .compiler_flags = describe_build(),
    };
}

struct sha256_text record_fingerprint(struct run *run)
{
    struct fingerprint_config config = record_config(run);

    return fingerprint_of(&config);
}

/* ---- the host ---- */

/* The processor's name in /proc/cpuinfo; "" if it has none. */
static const char *processor(void)
{
    static const char key[] = "model name";
    static char name[128]; /* of 48 bytes on x86 */
    char text[4096];
    const char *at;
    ssize_t got = -1;
    int fd = open("/proc/cpuinfo", O_RDONLY | O_CLOEXEC);

    if (fd >= 0) {
        got = read(fd, text, sizeof(text) - 1);
        close(fd);
    }
    text[got > 0 ? got : 0] = 0;
    at = strstr(text, key);
    at = at ? strchr(at, ':') : NULL;
    if (!at)
        return "";
    at += 1 + strspn(at + 1, " \t");
    snprintf(name, sizeof(name), "%.*s", (int)strcspn(at, "\n"), at);
    return name;
}

static uint64_t positive(long number)
{
    return number > 0 ? (uint64_t)number : 0;
}

static void host_json(struct mf_json_out *json, const struct run *run)
{
    struct utsname system;
    bool known = uname(&system) == 0;

    mf_json_key(json, "host");
    mf_json_begin(json, '{');
    json_member_text(json, "system", known ? system.sysname : "");
    json_member_text(json, "release", known ? system.release : "");
    json_member_text(json, "machine", known ? system.machine : "");
    json_member_text(json, "processor", processor());
    json_member_number(json, "processors",
                       positive(sysconf(_SC_NPROCESSORS_ONLN)));
    json_member_number(json, "memory_bytes",
                       positive(sysconf(_SC_PHYS_PAGES)) *
                           positive(sysconf(_SC_PAGESIZE)));
    json_member_number(json, "threads", mf_env_threads(run->env));
    json_member_text(json, "isa", isa_in_force());
    mf_json_end(json, '}');
}

void record_config_json(struct mf_json_out *json, struct run *run)
{
    struct fingerprint_config config = record_config(run);

    json_member_text(json, "fingerprint", fingerprint_of(&config).at);
    mf_json_key(json, "configuration");
    fingerprint_json(json, &config);
    host_json(json, run);
}
