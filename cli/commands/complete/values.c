/* SPDX-License-Identifier: MIT
 *
 * values.c - what an operand or the value of an option can be
 */
#include <stdio.h>
#include <string.h>

#include "cli/commands/complete/complete.h"
#include "cli/formats.h"
#include "cli/hub_cache.h"
#include "cli/ollama.h"
#include "cli/types.h"
#include "lib/program.h"

static const struct {
    const char *name;
    enum values values;
} rows[] = {
#define VALUE(name, values) { name, values },
#include "cli/commands/complete/values.def"
#undef VALUE
};
#define ROWS (sizeof(rows) / sizeof(*rows))

static enum values row_of(const char *name)
{
    for (size_t i = 0; i < ROWS; i++)
        if (strcmp(rows[i].name, name) == 0)
            return rows[i].values;
    return NOTHING;
}

enum values values_of(const struct command *command, const char *name)
{
    enum values values = NOTHING;
    char both[64];

    if (command) {
        snprintf(both, sizeof(both), "%s %s", command->name, name);
        values = row_of(both);
    }
    return values != NOTHING ? values : row_of(name);
}

/* ---- candidates ---- */

static void offer_commands(struct run *run, const struct place *place)
{
    const char *last = "";

    for (size_t i = 0; run->commands[i]; i++) {
        const struct command *command = run->commands[i];

        if (strcmp(command->name, last) != 0)
            offer(run, place, str_of(command->name), "", command->summary);
        last = command->name;
    }
}

static void offer_mixes(struct run *run, const struct place *place,
                        const char *after)
{
    struct mf_mix_info mix;

    for (size_t i = 0; mf_mix_at(i, &mix); i++)
        if (mix.available)
            offer_name(run, place, mix.name, after, "");
}

static void offer_types(struct run *run, const struct place *place)
{
    struct mf_type_info type;

    for (size_t i = 0; mf_type_at(i, &type); i++)
        if (types_is_tensor(type.name))
            offer_name(run, place, type.name, "", "");
}

static void offer_cache_types(struct run *run, const struct place *place)
{
    const char *type;

    for (size_t i = 0; (type = mf_plan_cache_type(i)) != NULL; i++)
        offer_name(run, place, type, "", "");
}

static void offer_rules(struct run *run, const struct place *place)
{
    struct mf_rule_info rule;

    for (size_t i = 0; mf_rule_at(i, &rule); i++)
        offer_name(run, place, rule.id, "", rule.meaning);
}

static void offer_isas(struct run *run, const struct place *place)
{
    const char *isa;

    for (size_t i = 0; (isa = mf_isa_at(i)) != NULL; i++)
        offer_name(run, place, isa, "", "");
}

static void put_suffix(struct run *run, const char *suffix)
{
    out_text(&run->out, "\tsuffix\t");
    out_line(&run->out, suffix);
}

/* Folders are offered as well: some are models. */
static void offer_models(struct run *run)
{
    struct mf_format_info format;
    const char *last = "";

    for (size_t i = 0; mf_format_at(i, &format); i++) {
        if (strcmp(format.suffix, last) == 0)
            continue; /* dialects may share one */
        last = format.suffix;
        put_suffix(run, last);
    }
    put_suffix(run, ".pth"); /* of PyTorch, as well */
    put_suffix(run, ".bin");
    offer_by_shell(run, "models");
}

struct ollama {
    struct run *run;
    const struct place *place;
};

static void offer_manifest(void *user, const char *name, const char *path,
                           bool bad)
{
    const struct ollama *ollama = user;
    char text[PATH_MAX];

    (void)path;
    if (bad || strlen(name) >= sizeof(text) - sizeof(OLLAMA_PREFIX))
        return;
    strcpy(text, OLLAMA_PREFIX);
    strcat(text, name);
    offer(ollama->run, ollama->place, str_of(text), "", "");
}

/* Once the word begins so. */
static void offer_ollama(struct run *run, const struct place *place)
{
    struct ollama ollama = { run, place };
    char folder[PATH_MAX];

    if (strncmp(place->word, OLLAMA_PREFIX, strlen(OLLAMA_PREFIX)) != 0)
        return;
    for (size_t i = 0; ollama_folder(i, folder); i++)
        ollama_each(run, folder, offer_manifest, &ollama);
}

/* ---- what lies in the cache of huggingface_hub ---- */

struct hub {
    struct run *run;
    const struct place *place;
    const char *repository; /* with its revision; or NULL */
};

static void offer_of_hub(const struct hub *hub, const char *repository,
                         const char *file)
{
    char text[PATH_MAX];

    if (snprintf(text, sizeof(text), HUB_PREFIX "%s%s%s", repository,
                 *file ? "/" : "", file) < (int)sizeof(text))
        offer(hub->run, hub->place, str_of(text), "", "");
}

static void offer_repository(void *user, const char *repository)
{
    offer_of_hub(user, repository, "");
}

static void offer_hub_file(void *user, const char *file)
{
    const struct hub *hub = user;
    struct mf_format_info format;
    size_t size = strlen(file), tail;

    for (size_t i = 0; mf_format_at(i, &format); i++) {
        tail = strlen(format.suffix);
        if (size > tail && strcmp(file + size - tail, format.suffix) == 0) {
            offer_of_hub(hub, hub->repository, file);
            return;
        }
    }
}

/* Of "owner/name@revision" that a slash follows. */
static void offer_hub_files(struct hub *hub, const char *named)
{
    char repository[NAME_MAX + 1], commit[HUB_COMMIT_DIGITS + 1];
    const char *at = strchr(named, '@');
    time_t when;

    snprintf(repository, sizeof(repository), "%.*s",
             at ? (int)(at - named) : (int)strlen(named), named);
    hub->repository = named;
    if (hub_cache_commit(repository, at ? at + 1 : "main", commit, &when))
        hub_cache_files(hub->run, repository, commit, offer_hub_file, hub);
}

/* Once the word begins so: repositories, or files of one after its slash. */
static void offer_hub(struct run *run, const struct place *place)
{
    struct hub hub = { run, place, NULL };
    char named[NAME_MAX + 1];
    const char *owner, *slash;

    if (strncmp(place->word, HUB_PREFIX, strlen(HUB_PREFIX)) != 0)
        return;
    owner = place->word + strlen(HUB_PREFIX);
    slash = strchr(owner, '/');
    slash = slash ? strchr(slash + 1, '/') : NULL;
    if (!slash) {
        hub_cache_each(run, offer_repository, &hub);
    } else if (slash - owner < (int)sizeof(named)) {
        snprintf(named, sizeof(named), "%.*s", (int)(slash - owner), owner);
        offer_hub_files(&hub, named);
    }
}

/* A tensor, then a type after the sign. */
static void offer_tensor_type(struct run *run, const struct place *place)
{
    const char *sign = strrchr(place->word, '=');
    struct place type = *place;
    char before[300];

    if (!sign) {
        names_offer(run, place, false, "=");
        offer_by_shell(run, "nospace");
        return;
    }
    snprintf(before, sizeof(before), "%s%.*s", place->before,
             (int)(sign + 1 - place->word), place->word);
    type.before = before;
    type.word = sign + 1;
    offer_types(run, &type);
}

void values_offer(struct run *run, const struct place *place,
                  enum values values)
{
    switch (values) {
    case NOTHING:
        break;
    case FILES:
        offer_by_shell(run, "files");
        break;
    case FOLDERS:
        offer_by_shell(run, "folders");
        break;
    case MODELS:
        offer_ollama(run, place);
        offer_hub(run, place);
        offer_models(run);
        break;
    case COMMANDS:
        offer_commands(run, place);
        break;
    case MIXES:
        offer_mixes(run, place, "");
        break;
    case MIXES_TO_FILE:
        offer_mixes(run, place, "=");
        offer_by_shell(run, "nospace");
        break;
    case TYPES:
        offer_types(run, place);
        break;
    case CACHE_TYPES:
        offer_cache_types(run, place);
        break;
    case RULES:
        offer_rules(run, place);
        break;
    case ISAS:
        offer_isas(run, place);
        break;
    case TENSORS_TO_TYPE:
        offer_tensor_type(run, place);
        break;
    case TENSORS:
    case KEYS:
        names_offer(run, place, values == KEYS, "");
        break;
    case KEYS_TO_SET:
        names_offer(run, place, true, "=");
        offer_by_shell(run, "nospace");
        break;
    }
}
