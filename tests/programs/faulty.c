/* SPDX-License-Identifier: MIT
 *
 * faulty.c - copies of a good GGUF model, each with one fault
 *
 *     faulty MODEL FOLDER [SEED COUNT]
 *
 * Writes all single faults that it knows, or COUNT of them chosen by SEED, as
 * FOLDER/NUMBER.gguf.  Prints a line for each: the file, whether the fault is
 * in a key, a tensor or the model, its name, and what is wrong.  Offsets always
 * fit the faulty header, so that no fault causes another.  Tensor data is a
 * hole: a file takes the space of its header.
 */
#include "tests/programs/faulty.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

typedef bool change(struct model *model, size_t i, uint64_t argument);

struct fault {
    enum place { MODEL, KEY, SCALAR, NUMBER, TEXT, ARRAY, TENSOR } place;
    const char *name;
    change *change;
    uint64_t argument;
};

/* ---- faults of keys */

static bool key_remove(struct model *model, size_t i, uint64_t argument)
{
    (void)argument;
    model->keys--;
    memmove(model->key + i, model->key + i + 1,
            (model->keys - i) * sizeof *model->key);
    return true;
}

static bool key_rename(struct model *model, size_t i, uint64_t argument)
{
    model->key[i].name = misspelt(model->key[i].name, (enum spelling)argument);
    return model->key[i].name;
}

static bool key_twice(struct model *model, size_t i, uint64_t argument)
{
    (void)argument;
    model->key[model->keys++] = model->key[i];
    return true;
}

static bool key_type(struct model *model, size_t i, uint64_t type)
{
    struct key *key = model->key + i;
    if (key->type == type)
        return false;
    double value = number_of(key->type, key->bytes);
    key->type = (uint32_t)type;
    key_number(key, value);
    return true;
}

static bool key_to_array(struct model *model, size_t i, uint64_t count)
{
    struct key *key = model->key + i;
    size_t size = scalar_size(key->type);
    unsigned char *bytes = keep(NULL, size * count);
    for (uint64_t at = 0; at < count; at++)
        memcpy(bytes + at * size, key->bytes, size);
    *key = (struct key){ key->name, GGUF_ARRAY, key->type,
                         count,     bytes,      size * count };
    return true;
}

static bool key_value(struct model *model, size_t i, uint64_t argument)
{
    struct key *key = model->key + i;
    double value = number_of(key->type, key->bytes);
    double changed = changed_number((enum number)argument, value);
    key_number(key, changed);
    return number_of(key->type, key->bytes) != value;
}

static bool text_value(struct model *model, size_t i, uint64_t argument)
{
    struct key *key = model->key + i;
    char *text = keep(key->bytes + 8, key->size - 8 + 1);
    text[key->size - 8] = '\0';
    char *changed = argument == TEXT_EMPTY
                        ? keep("", 1)
                        : misspelt(text, (enum spelling)argument);
    if (!changed)
        return false;
    key_text(key, changed);
    return true;
}

static bool text_to_number(struct model *model, size_t i, uint64_t type)
{
    model->key[i].type = (uint32_t)type;
    key_number(model->key + i, 1);
    return true;
}

/* ---- faults of arrays */

static bool array_length(struct model *model, size_t i, uint64_t argument)
{
    struct key *key = model->key + i;
    switch (argument) {
    case LENGTH_LESS:
        return array_cut(key, key->count - 1);
    case LENGTH_HALF:
        return key->count > 2 && array_cut(key, key->count / 2);
    case LENGTH_NONE:
        return array_cut(key, 0);
    default:
        return array_grow(key);
    }
}

static bool array_type(struct model *model, size_t i, uint64_t type)
{
    return array_retype(model->key + i, (uint32_t)type);
}

static bool array_value(struct model *model, size_t i, uint64_t argument)
{
    return array_number(model->key + i, (enum number)argument);
}

static bool array_to_scalar(struct model *model, size_t i, uint64_t argument)
{
    (void)argument;
    struct key *key = model->key + i;
    if (!key->count || key->element == GGUF_STRING)
        return false;
    key->type = key->element;
    key->size = scalar_size(key->type);
    return true;
}

/* ---- faults of tensors */

static bool tensor_remove(struct model *model, size_t i, uint64_t argument)
{
    (void)argument;
    model->tensors--;
    memmove(model->tensor + i, model->tensor + i + 1,
            (model->tensors - i) * sizeof *model->tensor);
    return true;
}

static bool tensor_rename(struct model *model, size_t i, uint64_t argument)
{
    struct tensor *tensor = model->tensor + i;
    tensor->name = misspelt(tensor->name, (enum spelling)argument);
    return tensor->name;
}

static bool tensor_twice(struct model *model, size_t i, uint64_t argument)
{
    model->tensor[model->tensors] = model->tensor[i];
    if (argument) {
        char *name = model->tensor[i].name;
        size_t length = strlen(name);
        char *copy = keep(NULL, length + 6);
        snprintf(copy, length + 6, "%s.copy", name);
        model->tensor[model->tensors].name = copy;
    }
    model->tensors++;
    return true;
}

static bool tensor_type(struct model *model, size_t i, uint64_t type)
{
    struct tensor *tensor = model->tensor + i;
    if (tensor->type == type || tensor->dim[0] % block_elements(type))
        return false;
    tensor->type = (uint32_t)type;
    return true;
}

static bool tensor_swap(struct model *model, size_t i, uint64_t argument)
{
    struct tensor *tensor = model->tensor + i;
    size_t a = (size_t)argument, b = a + 1;
    if (tensor->rank <= b || tensor->dim[a] == tensor->dim[b])
        return false;
    uint64_t dim = tensor->dim[a];
    tensor->dim[a] = tensor->dim[b];
    tensor->dim[b] = dim;
    return tensor->dim[0] % block_elements(tensor->type) == 0;
}

static bool tensor_dim(struct model *model, size_t i, uint64_t argument)
{
    struct tensor *tensor = model->tensor + i;
    size_t d = (size_t)(argument / 8);
    if (d >= tensor->rank)
        return false;
    uint64_t unit = d ? 1 : block_elements(tensor->type);
    switch (argument % 8) {
    case 0:
        tensor->dim[d] += unit;
        return true;
    case 1:
        if (tensor->dim[d] <= unit)
            return false;
        tensor->dim[d] -= unit;
        return true;
    default:
        tensor->dim[d] *= 2;
        return true;
    }
}

static bool tensor_rank(struct model *model, size_t i, uint64_t argument)
{
    struct tensor *tensor = model->tensor + i;
    if (argument == 1) {
        tensor->dim[tensor->rank++] = 1;
        return tensor->rank <= 4;
    }
    if (argument == 2) { /* a row becomes a column */
        tensor->dim[1] = tensor->dim[0];
        tensor->dim[0] = 1;
        return tensor->rank++ == 1 && block_elements(tensor->type) == 1;
    }
    if (tensor->rank < 2)
        return false;
    tensor->dim[tensor->rank - 2] *= tensor->dim[tensor->rank - 1];
    tensor->rank--;
    return true;
}

/* ---- faults of the whole model */

static bool add_tensor(struct model *model, size_t i, uint64_t argument)
{
    static const char *const name[] = { "extra.weight", "blk.0.extra.weight",
                                        "blk.97.attn_norm.weight", "" };
    (void)i;
    model->tensor[model->tensors++] = (struct tensor){
        keep(name[argument], strlen(name[argument]) + 1), 1, { 32 }, 0
    };
    return true;
}

static bool reorder(struct model *model, size_t i, uint64_t argument)
{
    (void)i;
    if (!model->keys || !model->tensors)
        return false;
    for (size_t a = 0, b = model->keys - 1; argument == 0 && a < b; a++, b--) {
        struct key key = model->key[a];
        model->key[a] = model->key[b];
        model->key[b] = key;
    }
    for (size_t a = 0, b = model->tensors - 1; argument && a < b; a++, b--) {
        struct tensor tensor = model->tensor[a];
        model->tensor[a] = model->tensor[b];
        model->tensor[b] = tensor;
    }
    return true;
}

static bool alignment(struct model *model, size_t i, uint64_t argument)
{
    (void)i;
    struct key *key = model->key + model->keys++;
    *key = (struct key){ .name = keep("general.alignment", 18), .type = 4 };
    key_number(key, (double)argument);
    return true;
}

static bool version(struct model *model, size_t i, uint64_t argument)
{
    (void)i;
    model->version = (uint32_t)argument;
    return true;
}

static const struct fault faults[] = {
#define FAULT(place, name, change, argument) { place, name, change, argument },
#include "tests/data/faulty.def"
#undef FAULT
};

static bool applies(const struct fault *fault, const struct model *model,
                    size_t i)
{
    if (fault->place == MODEL || fault->place == TENSOR)
        return i < (fault->place == MODEL ? 1 : model->tensors);
    if (i >= model->keys)
        return false;
    uint32_t type = model->key[i].type;
    bool number = type != GGUF_ARRAY && type != GGUF_STRING;
    return fault->place == KEY || (fault->place == SCALAR && number) ||
           (fault->place == NUMBER && number && type != GGUF_BOOL) ||
           (fault->place == TEXT && type == GGUF_STRING) ||
           (fault->place == ARRAY && type == GGUF_ARRAY);
}

struct choice {
    const struct fault *fault;
    size_t i;
};

static size_t choices(const struct model *model, struct choice *choice)
{
    size_t count = 0;
    size_t most = model->keys > model->tensors ? model->keys : model->tensors;
    for (size_t i = 0; i < most || i == 0; i++) {
        for (size_t f = 0; f < sizeof faults / sizeof *faults; f++) {
            if (applies(faults + f, model, i)) {
                if (choice)
                    choice[count] = (struct choice){ faults + f, i };
                count++;
            }
        }
    }
    return count;
}

static void shuffle(struct choice *choice, size_t count, uint64_t seed)
{
    seed = seed * 2 + 1;
    for (size_t left = count; left > 1; left--) {
        seed ^= seed << 13;
        seed ^= seed >> 7;
        seed ^= seed << 17;
        size_t at = (size_t)(seed % left);
        struct choice last = choice[left - 1];
        choice[left - 1] = choice[at];
        choice[at] = last;
    }
}

/* Makes one faulty copy; false if the fault changes nothing here. */
static bool make(const struct model *good, struct choice choice,
                 const char *folder, size_t number)
{
    static const char *const places[] = { "model", "key", "key",   "key",
                                          "key",   "key", "tensor" };
    struct model model = copy_of(good);
    const char *name = "-";
    if (choice.fault->place == TENSOR)
        name = good->tensor[choice.i].name;
    else if (choice.fault->place != MODEL)
        name = good->key[choice.i].name;
    bool done = choice.fault->change(&model, choice.i, choice.fault->argument);
    if (done) {
        char path[4096];
        snprintf(path, sizeof path, "%s/%05zu.gguf", folder, number);
        write_model(&model, path);
        printf("%05zu.gguf\t%s\t%s\t%s\n", number, places[choice.fault->place],
               name, choice.fault->name);
    }
    forget_copies();
    return done;
}

int main(int argc, char **argv)
{
    if (argc != 3 && argc != 5) {
        fputs("usage: faulty MODEL FOLDER [SEED COUNT]\n", stderr);
        return 2;
    }
    struct model good = read_model(argv[1]);
    size_t count = choices(&good, NULL), number = 0;
    size_t most = argc == 5 ? (size_t)strtoull(argv[4], NULL, 10) : count;
    struct choice *choice = calloc(count, sizeof *choice);
    if (!choice)
        return 2;
    choices(&good, choice);
    if (argc == 5)
        shuffle(choice, count, strtoull(argv[3], NULL, 10));
    for (size_t i = 0; i < count && number < most; i++)
        number += make(&good, choice[i], argv[2], number);
    free(choice);
    return 0;
}
