/* SPDX-License-Identifier: MIT
 *
 * families.h - the sets of model types in families.def
 */
#ifndef MF_LIB_FAMILIES_H
#define MF_LIB_FAMILIES_H

#include "lib/folder/folder.h"

enum {
#define FAMILY(NAME) NUMBER_##NAME,
#define TYPE(type, FAMILY, tied, head, kv)
#define TENSOR(name, rows, columns, when, which)
#include "lib/folder/families.def"
#undef FAMILY
};

enum {
#define FAMILY(NAME) NAME = 1 << NUMBER_##NAME,
#include "lib/folder/families.def"
#undef FAMILY
    ALL = -1
};
#undef TYPE
#undef TENSOR

#endif
