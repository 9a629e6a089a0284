/* SPDX-License-Identifier: MIT
 *
 * shelf.c - memory that both processes see, for what is fetched ahead
 */
#include "cli/remote/shelf.h"

#include "cli/room.h"

void shelf_make(struct shelf *shelf, uint64_t size, uint64_t place)
{
    *shelf = (struct shelf){ .size = (size_t)size, .place = (size_t)place };
    if (size / place <= SHELF_PLACES)
        shelf->at = room_share(shelf->size);
}

uint8_t *shelf_take(struct shelf *shelf, size_t size)
{
    size_t count = shelf->at && size == shelf->place ? shelf->size / size : 0;
    size_t i = 0;

    while (i < count && shelf->taken[i])
        i++;
    if (i == count)
        return NULL;
    shelf->taken[i] = true;
    if (shelf->used <= i)
        shelf->used = i + 1;
    return shelf->at + i * size;
}

uint64_t shelf_find(const struct shelf *shelf, const uint8_t *bytes)
{
    uintptr_t start = (uintptr_t)shelf->at, at = (uintptr_t)bytes;

    return shelf->at && at >= start && at - start < shelf->size ? at - start + 1
                                                                : 0;
}

bool shelf_give_back(struct shelf *shelf, const uint8_t *bytes)
{
    uint64_t found = shelf_find(shelf, bytes);

    if (found > 0)
        shelf->taken[(found - 1) / shelf->place] = false;
    return found > 0;
}
