/* SPDX-License-Identifier: MIT
 *
 * faulty_model.c - reads, changes and writes the lists of a GGUF header
 */
#include "tests/programs/faulty.h"

#include <ctype.h>
#include <fcntl.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

static void give_up(const char *what)
{
    fprintf(stderr, "faulty: %s\n", what);
    exit(2);
}

/* ---- memory */

static char pool[1 << 24];
static size_t pool_used, pool_base;

void *keep(const void *bytes, size_t size)
{
    size_t start = (pool_used + 15) & ~(size_t)15;
    if (size > sizeof pool - start)
        give_up("the header is too large");
    pool_used = start + size;
    if (bytes)
        memcpy(pool + start, bytes, size);
    else
        memset(pool + start, 0, size);
    return pool + start;
}

void forget_copies(void)
{
    pool_used = pool_base;
}

/* ---- reading */

static FILE *input;

static void take(void *to, size_t size)
{
    if (fread(to, 1, size, input) != size)
        give_up("the header ends early");
}

static uint32_t take_u32(void)
{
    unsigned char b[4];
    take(b, sizeof b);
    return (uint32_t)b[0] | (uint32_t)b[1] << 8 | (uint32_t)b[2] << 16 |
           (uint32_t)b[3] << 24;
}

static uint64_t take_u64(void)
{
    uint64_t low = take_u32();
    return low | (uint64_t)take_u32() << 32;
}

static char *take_text(void)
{
    uint64_t size = take_u64();
    char *text = keep(NULL, (size_t)size + 1);
    take(text, (size_t)size);
    return text;
}

size_t scalar_size(uint32_t type)
{
    static const unsigned char size[] = {
        1, 1, 2, 2, 4, 4, 4, 1, 0, 0, 8, 8, 8
    };
    return type < sizeof size ? size[type] : 0;
}

/* The bytes of so many values of a type. */
static void take_values(struct key *key, uint32_t type, uint64_t count)
{
    if (type != GGUF_STRING) {
        key->size = (size_t)count * scalar_size(type);
        key->bytes = keep(NULL, key->size);
        take(key->bytes, key->size);
        return;
    }
    size_t start = (pool_used + 15) & ~(size_t)15;
    pool_used = start;
    for (uint64_t i = 0; i < count; i++) {
        uint64_t size = take_u64();
        if (size + 8 > sizeof pool - pool_used)
            give_up("the header is too large");
        for (int byte = 0; byte < 8; byte++)
            pool[pool_used++] = (char)(size >> 8 * byte);
        take(pool + pool_used, (size_t)size);
        pool_used += (size_t)size;
    }
    key->bytes = (unsigned char *)pool + start;
    key->size = pool_used - start;
}

struct model read_model(const char *path)
{
    struct model model = { 0 };
    input = fopen(path, "rb");
    if (!input || take_u32() != 0x46554747)
        give_up("cannot read the model");
    model.version = take_u32();
    model.tensors = (size_t)take_u64();
    model.keys = (size_t)take_u64();
    model.key = keep(NULL, model.keys * sizeof *model.key);
    model.tensor = keep(NULL, model.tensors * sizeof *model.tensor);
    for (size_t i = 0; i < model.keys; i++) {
        struct key *key = model.key + i;
        key->name = take_text();
        key->type = take_u32();
        key->element = key->type == GGUF_ARRAY ? take_u32() : key->type;
        key->count = key->type == GGUF_ARRAY ? take_u64() : 1;
        take_values(key, key->element, key->count);
    }
    for (size_t i = 0; i < model.tensors; i++) {
        struct tensor *tensor = model.tensor + i;
        tensor->name = take_text();
        tensor->rank = take_u32();
        for (uint32_t d = 0; d < tensor->rank && d < 4; d++)
            tensor->dim[d] = take_u64();
        tensor->type = take_u32();
        take_u64();
    }
    fclose(input);
    pool_base = pool_used;
    return model;
}

struct model copy_of(const struct model *model)
{
    struct model copy = *model;
    copy.key = keep(NULL, (model->keys + 1) * sizeof *copy.key);
    copy.tensor = keep(NULL, (model->tensors + 1) * sizeof *copy.tensor);
    memcpy(copy.key, model->key, model->keys * sizeof *copy.key);
    memcpy(copy.tensor, model->tensor, model->tensors * sizeof *copy.tensor);
    return copy;
}

/* ---- writing */

static FILE *output;

static void put(uint64_t number, int bytes)
{
    for (int i = 0; i < bytes; i++)
        fputc((int)(number >> 8 * i & 255), output);
}

static void put_text(const char *text)
{
    put(strlen(text), 8);
    fputs(text, output);
}

static const struct {
    uint64_t type, elements, bytes;
} layouts[] = {
    { 0, 1, 4 },   { 1, 1, 2 },   { 30, 1, 2 },     { 2, 32, 18 },
    { 8, 32, 34 }, { 9, 32, 36 }, { 14, 256, 210 }, { 15, 256, 292 },
    { 24, 1, 1 },  { 26, 1, 4 },  { 27, 1, 8 },     { 28, 1, 8 },
};

static size_t layout_of(uint64_t type)
{
    for (size_t i = 0; i < sizeof layouts / sizeof *layouts; i++)
        if (layouts[i].type == type)
            return i;
    give_up("unknown tensor type");
    return 0;
}

uint64_t block_elements(uint64_t type)
{
    return layouts[layout_of(type)].elements;
}

uint64_t block_bytes(uint64_t type)
{
    return layouts[layout_of(type)].bytes;
}

static uint64_t tensor_bytes(const struct tensor *tensor)
{
    uint64_t bytes = block_bytes(tensor->type);
    bytes *= tensor->dim[0] / block_elements(tensor->type);
    for (uint32_t d = 1; d < tensor->rank; d++)
        bytes *= tensor->dim[d];
    return bytes;
}

static uint64_t alignment_of(const struct model *model)
{
    uint64_t alignment = 32;
    for (size_t i = 0; i < model->keys; i++)
        if (!strcmp(model->key[i].name, "general.alignment"))
            alignment = model->key[i].bytes[0];
    return alignment ? alignment : 32;
}

void write_model(const struct model *model, const char *path)
{
    output = fopen(path, "wb");
    if (!output)
        give_up("cannot write");
    uint64_t alignment = alignment_of(model), offset = 0;
    put(0x46554747, 4);
    put(model->version, 4);
    put(model->tensors, 8);
    put(model->keys, 8);
    for (size_t i = 0; i < model->keys; i++) {
        const struct key *key = model->key + i;
        put_text(key->name);
        put(key->type, 4);
        if (key->type == GGUF_ARRAY) {
            put(key->element, 4);
            put(key->count, 8);
        }
        fwrite(key->bytes, 1, key->size, output);
    }
    for (size_t i = 0; i < model->tensors; i++) {
        const struct tensor *tensor = model->tensor + i;
        put_text(tensor->name);
        put(tensor->rank, 4);
        for (uint32_t d = 0; d < tensor->rank; d++)
            put(tensor->dim[d], 8);
        put(tensor->type, 4);
        put(offset, 8);
        offset += tensor_bytes(tensor);
        offset += (alignment - offset % alignment) % alignment;
    }
    uint64_t header = (uint64_t)ftell(output);
    header += (alignment - header % alignment) % alignment;
    if (fflush(output) || ftruncate(fileno(output), (off_t)(header + offset)) ||
        fclose(output))
        give_up("cannot write");
}

/* ---- changes */

char *misspelt(const char *name, enum spelling how)
{
    size_t length = strlen(name), at;
    char *copy = keep(NULL, length + 2);
    memcpy(copy, name, length);
    switch (how) {
    case SPELT_WRONG:
        at = length > 8 ? length - 4 : length / 2;
        if (at && copy[at] != copy[at - 1]) {
            copy[at] = name[at - 1];
            copy[at - 1] = name[at];
        } else {
            copy[length] = 'x';
        }
        return copy;
    case SPELT_CAPITAL:
        if (!islower((unsigned char)*copy))
            return NULL;
        *copy = (char)toupper((unsigned char)*copy);
        return copy;
    default:
        at = strcspn(copy, "_-");
        if (!copy[at])
            return NULL;
        copy[at] = copy[at] == '_' ? '-' : '_';
        return copy;
    }
}

double number_of(uint32_t type, const unsigned char *bytes)
{
    uint64_t bits = 0;
    for (size_t i = 0; i < scalar_size(type); i++)
        bits |= (uint64_t)bytes[i] << 8 * i;
    float single;
    double number;
    uint32_t low = (uint32_t)bits;
    switch (type) {
    case 1:
        return (int8_t)bits;
    case 3:
        return (int16_t)bits;
    case 5:
        return (int32_t)bits;
    case 6:
        memcpy(&single, &low, sizeof single);
        return (double)single;
    case 11:
        return (double)(int64_t)bits;
    case 12:
        memcpy(&number, &bits, sizeof number);
        return number;
    default:
        return (double)bits;
    }
}

double changed_number(enum number how, double value)
{
    switch (how) {
    case NUMBER_ZERO:
        return 0;
    case NUMBER_ONE:
        return 1;
    case NUMBER_MORE:
        return value + 1;
    case NUMBER_LESS:
        return value - 1;
    case NUMBER_TWICE:
        return value * 2;
    case NUMBER_HALF:
        return floor(value / 2);
    case NUMBER_NEGATIVE:
        return -1;
    case NUMBER_2_31:
        return 2147483648.0;
    case NUMBER_LARGEST:
        return 4294967295.0;
    case NUMBER_NAN:
        return (double)NAN;
    default:
        return (double)INFINITY;
    }
}

/* The bytes of a number; what an integer cannot hold leaves it as it is. */
static void number_bytes(uint32_t type, double value, unsigned char *bytes)
{
    uint64_t bits = 0;
    float single = (float)value;
    uint32_t low;
    if (type == 6) {
        memcpy(&low, &single, sizeof low);
        bits = low;
    } else if (type == 12) {
        memcpy(&bits, &value, sizeof bits);
    } else if (value >= -9e18 && value < 9e18) {
        bits = (uint64_t)(int64_t)value;
    } else {
        return;
    }
    if (type == GGUF_BOOL)
        bits = bits != 0;
    for (size_t i = 0; i < scalar_size(type); i++)
        bytes[i] = (unsigned char)(bits >> 8 * i);
}

void key_text(struct key *key, const char *text)
{
    size_t length = strlen(text);
    key->size = length + 8;
    key->bytes = keep(NULL, key->size);
    for (int i = 0; i < 8; i++)
        key->bytes[i] = (unsigned char)((uint64_t)length >> 8 * i);
    memcpy(key->bytes + 8, text, length);
}

void key_number(struct key *key, double value)
{
    char text[32];
    if (key->type == GGUF_STRING) {
        snprintf(text, sizeof text, "%g", value);
        key_text(key, text);
        return;
    }
    size_t size = scalar_size(key->type);
    key->bytes =
        keep(key->bytes && key->size >= size ? key->bytes : NULL, size);
    key->size = size;
    number_bytes(key->type, value, key->bytes);
}

/* Where element i of an array starts. */
static size_t element_at(const struct key *key, uint64_t i)
{
    if (key->element != GGUF_STRING)
        return (size_t)i * scalar_size(key->element);
    size_t at = 0;
    for (; i; i--) {
        uint64_t size = 0;
        for (int byte = 7; byte >= 0; byte--)
            size = size << 8 | key->bytes[at + (size_t)byte];
        at += 8 + (size_t)size;
    }
    return at;
}

bool array_cut(struct key *key, uint64_t count)
{
    if (count >= key->count)
        return false;
    key->size = element_at(key, count);
    key->count = count;
    return true;
}

bool array_grow(struct key *key)
{
    size_t last = key->count ? element_at(key, key->count - 1) : 0;
    size_t size = key->count ? key->size - last : 0;
    if (!size)
        return false;
    unsigned char *bytes = keep(NULL, key->size + size);
    memcpy(bytes, key->bytes, key->size);
    memcpy(bytes + key->size, key->bytes + last, size);
    key->bytes = bytes;
    key->size += size;
    key->count++;
    return true;
}

bool array_retype(struct key *key, uint32_t type)
{
    if (type == key->element || key->count > 1 << 16)
        return false;
    size_t size = type == GGUF_STRING ? 9 : scalar_size(type);
    unsigned char *bytes = keep(NULL, (size_t)key->count * size);
    for (size_t i = 0; i < key->count; i++) {
        double value = 1;
        if (key->element != GGUF_STRING)
            value = number_of(key->element, key->bytes + element_at(key, i));
        if (type == GGUF_STRING) {
            bytes[9 * i] = 1;
            bytes[9 * i + 8] = (unsigned char)('0' + i % 10);
        } else {
            number_bytes(type, value, bytes + size * i);
        }
    }
    key->element = type;
    key->bytes = bytes;
    key->size = (size_t)key->count * size;
    return true;
}

bool array_number(struct key *key, enum number how)
{
    if (!key->count || key->element == GGUF_STRING)
        return false;
    size_t at = element_at(key, key->count / 2);
    double value = number_of(key->element, key->bytes + at);
    key->bytes = keep(key->bytes, key->size);
    number_bytes(key->element, changed_number(how, value), key->bytes + at);
    return number_of(key->element, key->bytes + at) != value;
}
