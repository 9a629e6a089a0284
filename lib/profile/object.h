/* SPDX-License-Identifier: MIT
 *
 * object.h - names for addresses of the running process
 */
#ifndef MF_LIB_OBJECT_H
#define MF_LIB_OBJECT_H

#include "lib/profile/dwarf.h"

/* The program or a library that is loaded. */
struct mf_object {
    const char *path;    /* to open it */
    const char *name;    /* to show it */
    uint64_t base;       /* what was added to its addresses */
    size_t first, count; /* its part of the addresses */
    bool is_program;
};

struct mf_objects {
    struct mf_object *at;
    size_t count, room;
};

/* Finds out which objects the addresses are in.  Addresses are given as they
 * are in the process, in ascending order; addresses in an object become as it
 * was linked.  False without memory. */
bool mf_objects_find(struct mf_env *env, struct mf_arena *arena,
                     const struct mf_addresses *addresses,
                     struct mf_objects *out);

/* Names the addresses of an object as far as its file can be read. */
bool mf_object_name(struct mf_env *env, struct mf_arena *arena,
                    const struct mf_object *object,
                    const struct mf_addresses *addresses);

#endif
