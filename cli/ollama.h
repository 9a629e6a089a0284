/* SPDX-License-Identifier: MIT
 *
 * ollama.h - models that Ollama has fetched, by their names
 *
 * A name such as llama3.2:3b is a file manifests/HOST/NAMESPACE/NAME/TAG in
 * Ollama's folder: JSON that lists layers, each a file blobs/sha256-HEX.
 */
#ifndef MF_CLI_OLLAMA_H
#define MF_CLI_OLLAMA_H

#include <limits.h>

#include "cli/cli.h"

#define OLLAMA_MODEL        "application/vnd.ollama.image.model"
#define OLLAMA_MANIFEST_MAX ((uint64_t)1024 * 1024)

/* The folders where Ollama keeps models, index from 0 until false; they may not
 * exist. */
bool ollama_folder(size_t index, char out[PATH_MAX]);

/* What an operand is that begins so: "ollama:llama3.2:3b". */
#define OLLAMA_PREFIX "ollama:"
bool ollama_is_name(const char *operand);

/* The file that has the model of that name.  If there is none, the path of what
 * is missing, to be opened for the error: the manifest, or the blob. */
const char *ollama_path(struct run *run, const char *operand);

/* A layer of a manifest, or its configuration. */
struct ollama_layer {
    char type[96];   /* the media type */
    char digest[96]; /* as the manifest has it; may be anything */
    uint64_t size;
};

typedef void ollama_found(void *user, const struct ollama_layer *layer);

/* Calls found for each; the error is in the env. */
enum mf_status ollama_read(struct mf_env *env, const char *manifest,
                           ollama_found *found, void *user);

/* The hexadecimal digits of "sha256:HEX", of 64 lower-case digits; NULL if the
 * digest is anything else. */
const char *ollama_hex(const char *digest);

/* Calls found for each manifest in the folder, with the name that Ollama lists
 * it by; bad: what is there is not a file. */
void ollama_each(struct run *run, const char *folder,
                 void (*found)(void *user, const char *name, const char *path,
                               bool bad),
                 void *user);

#endif
