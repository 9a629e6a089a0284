/* SPDX-License-Identifier: MIT
 *
 * faulty.h - a GGUF header as lists that can be changed and written again
 *
 * For tests that need faulty models by the thousand.  It trusts the file that
 * it reads, and ends the program where it cannot.  Memory of copies is released
 * all at once.
 */
#ifndef MF_TESTS_FAULTY_H
#define MF_TESTS_FAULTY_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

enum { GGUF_BOOL = 7, GGUF_STRING = 8, GGUF_ARRAY = 9 };

enum spelling {
    SPELT_WRONG,       /* two letters the other way round, or one more */
    SPELT_CAPITAL,     /* the first letter is a capital */
    SPELT_PUNCTUATION, /* the first _ becomes - or the other way round */
    TEXT_EMPTY,
};

enum number {
    NUMBER_ZERO,
    NUMBER_ONE,
    NUMBER_MORE,
    NUMBER_LESS,
    NUMBER_TWICE,
    NUMBER_HALF,
    NUMBER_NEGATIVE,
    NUMBER_2_31,
    NUMBER_LARGEST,
    NUMBER_NAN,
    NUMBER_INFINITE,
};

enum length { LENGTH_LESS, LENGTH_MORE, LENGTH_HALF, LENGTH_NONE };

struct key {
    char *name;
    uint32_t type, element; /* element: of an array */
    uint64_t count;         /* elements of an array */
    unsigned char *bytes;   /* as in the file, after type and count */
    size_t size;
};

struct tensor {
    char *name;
    uint32_t rank;
    uint64_t dim[5];
    uint32_t type;
};

struct model {
    uint32_t version;
    struct key *key;
    struct tensor *tensor;
    size_t keys, tensors;
};

struct model read_model(const char *path);
/* A copy whose lists have room for one row more. */
struct model copy_of(const struct model *model);
void write_model(const struct model *model, const char *path);
/* Releases everything that keep returned since the model was read. */
void forget_copies(void);

/* Memory with these bytes (NULL: zeros). */
void *keep(const void *bytes, size_t size);
/* The name spelt differently, or NULL. */
char *misspelt(const char *name, enum spelling how);

size_t scalar_size(uint32_t type);
double number_of(uint32_t type, const unsigned char *bytes);
double changed_number(enum number how, double value);
/* Gives the key a number in its type, as text if that is a string. */
void key_number(struct key *key, double value);
void key_text(struct key *key, const char *text);

/* Each returns false if nothing would change. */
bool array_cut(struct key *key, uint64_t count);
bool array_grow(struct key *key);
bool array_retype(struct key *key, uint32_t type);
bool array_number(struct key *key, enum number how);

uint64_t block_elements(uint64_t type);
uint64_t block_bytes(uint64_t type);

#endif
