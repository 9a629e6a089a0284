/* SPDX-License-Identifier: MIT
 *
 * loader.h - rows about what a loader reads: section loader
 */
#ifndef MF_ROWS_LOADER_H
#define MF_ROWS_LOADER_H

#include "lib/rows/maker/expression.h"
#include "lib/rows/maker/group.h"

extern const struct language loader_language;
extern const struct function loader_functions[];

/* What a row `key` reads: "uint", "uint[4]", "uint|[]", "uint*", "uint*4",
 * "uint*-", each with "?" at its end; lib/arch/keys.c explains them. */
struct key_type {
    size_t base, most; /* place in MF_KEY_TYPES; elements at most, 0: any */
    size_t flags;      /* enum mf_code_key */
};

/* False: the type is unknown. */
bool loader_type(struct text text, struct key_type *out);

/* used: names that the rows of graphs use, too. */
void loader_check(struct source *source, struct words *used);

/* The second half of it: names, once each row for itself is right. */
void loader_check_names(struct source *source, struct words *used);

/* The third: `let` rows that depend on themselves, and counts that the library
 * has no room for. */
void loader_check_lets(const struct source *source);

/* How many rows "key" or "let" the library keeps at once, of the architecture
 * and of what all have. */
size_t loader_most(const struct source *source, const struct part *part,
                   const char *word);

/* The names that expressions of the architecture may have: its keys and `let`
 * rows, and the names that all share. */
void loader_names(const struct source *source, const struct part *arch,
                  struct words *out);

/* The tensors that the architecture looks up. */
void loader_tensors(const struct source *source, const struct part *arch,
                    struct words *out);

/* All keys that any row reads, as they are in a file without the architecture's
 * name. */
void loader_keys(const struct source *source, struct words *out);

#endif
