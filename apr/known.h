/* SPDX-License-Identifier: MIT
 *
 * known.h - the kinds of values in known.def
 */
#ifndef MF_APR_KNOWN_H
#define MF_APR_KNOWN_H

enum kind {
    TEXT = 1,
    COUNT = 2,
    REAL = 4,
    OBJECT = 8,
    OR_NULL = 16,
    FLAG = 32,
    TEXT_OR_NULL = TEXT | OR_NULL,
    COUNT_OR_NULL = COUNT | OR_NULL,
    REAL_OR_NULL = REAL | OR_NULL,
    OBJECT_OR_NULL = OBJECT | OR_NULL
};

#endif
