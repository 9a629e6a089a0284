/* SPDX-License-Identifier: MIT
 *
 * shelf.h - memory that both processes see, for what is fetched ahead
 *
 * The helper fetches blocks of data to places of one size, and the parser, for
 * which the memory is read-only, copies from there: through the socket each
 * byte would be copied twice, while both processes wait for each other.
 */
#ifndef MF_CLI_REMOTE_SHELF_H
#define MF_CLI_REMOTE_SHELF_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#define SHELF_PLACES 128

struct shelf {
    uint8_t *at; /* NULL: there is none */
    size_t size, place;

    /* Of the helper. */
    bool taken[SHELF_PLACES];
    size_t used; /* places that ever were */
};

/* Before the fork.  Without memory there is none. */
void shelf_make(struct shelf *shelf, uint64_t size, uint64_t place);

/* NULL if all are taken, or that is not the size of a place. */
uint8_t *shelf_take(struct shelf *shelf, size_t size);

/* Whether the bytes are on the shelf: then they can be taken again. */
bool shelf_give_back(struct shelf *shelf, const uint8_t *bytes);

/* Where bytes are, counted from 1; 0: not on the shelf. */
uint64_t shelf_find(const struct shelf *shelf, const uint8_t *bytes);

#endif
