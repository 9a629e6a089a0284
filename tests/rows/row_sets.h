/* SPDX-License-Identifier: MIT
 *
 * row_sets.h - what rows of loaders and graphs mean for some sets of numbers
 *
 * A model has one number for each key.  Here each key has several at once, made
 * up of its name and the number of the set, and rows are walked through once:
 * both sides of each `if`, and a block for `each`.  In set 0 no key is there
 * and all numbers are 0; in set 1 all are there, and 1; in the last one they
 * are all there; in the others optional keys and tensors are there or not, as
 * their names happen to say.  No model is made, so what rows demand does not
 * decide what they are tested with.
 *
 * The program must be linked with --wrap=mf_arch_tensor.
 */
#ifndef TESTS_ROW_SETS_H
#define TESTS_ROW_SETS_H

#include "lib/arch/run.h"
#include "lib/base/heap.h"
#include "tests/facts.h"

enum { SETS = 6, ELEMENTS = 16, BLOCKS = 4 };

static struct mf_arch_run *sets[SETS];

static inline struct mf_str str(const char *text)
{
    return (struct mf_str){ text, strlen(text) };
}

/* ---- made-up numbers ---- */

/* Limits are often 0 or 1; small numbers are equal more often, large ones
 * differ. */
static inline int64_t made_up(struct mf_str name, unsigned set, unsigned index)
{
    static const unsigned count[SETS] = { 1, 1, 4, 12, 96, 96 };
    static const unsigned least[SETS] = { 0, 1, 0, 0, 1, 1 };
    uint64_t hash = facts_hash(100 * set + index, name.at, name.size);

    return (int64_t)(hash % count[set] + least[set]);
}

static inline bool made_up_present(struct mf_str name, unsigned set)
{
    return set == 1 || set == SETS - 1 ||
           (set > 0 && facts_hash(10000 + set, name.at, name.size) % 3 > 0);
}

/* Texts that rows compare keys with. */
static inline struct mf_str made_up_text(struct mf_str name, unsigned set)
{
    static const char *const texts[][SETS] = {
        { "", "none", "linear", "yarn", "longrope", "other" },
        { "", "gelu", "gelu_pytorch_tanh", "silu", "relu", "other" },
        { "", "no_vocab", "none", "gpt2", "llama", "other" },
    };

    return str(texts[mf_str_is(name, "tokenizer.ggml.model") ? 2
                     : mf_str_is(name, "hidden_activation")  ? 1
                                                             : 0][set]);
}

/* ---- keys ---- */

static inline void fill_array(struct mf_arch_key *key, unsigned set)
{
    static int64_t each[SETS][MF_ARCH_KEYS_MAX][ELEMENTS];
    int64_t *out = each[set][key - sets[set]->key];

    for (unsigned i = 0; i < ELEMENTS; i++)
        out[i] = made_up(key->name, set, i);
    key->each = out;
    key->count = ELEMENTS;
}

static inline void add_key(struct mf_str name, unsigned flags, unsigned set)
{
    struct mf_arch_run *run = sets[set];
    struct mf_arch_key *key = &run->key[run->key_count];

    for (size_t i = 0; i < run->key_count; i++)
        if (mf_str_same(run->key[i].name, name))
            return;
    assert_true(run->key_count < MF_ARCH_KEYS_MAX);
    *key = (struct mf_arch_key){ .name = name, .offset = MF_NO_OFFSET };
    key->number.known = true;
    key->present =
        set > 0 && (!(flags & MF_KEY_OPTIONAL) || made_up_present(name, set));
    if (key->present) {
        key->number.value = made_up(name, set, 0);
        key->text = made_up_text(name, set);
        if (!(flags & MF_KEY_SINGLE) || ((flags & MF_KEY_ARRAY) && set % 2))
            fill_array(key, set);
    }
    if (mf_str_is(name, "block_count")) /* `any` and `most` look at all */
        key->number.value = BLOCKS * (set > 0);
    if (mf_str_is(name, "nextn_predict_layers"))
        key->number.value = set > 1;
    run->key_count++;
}

/* The row of a key: its flags are *flags, its type is given. */
static inline unsigned take_key_row(struct mf_code *row, unsigned *flags,
                                    size_t *most, struct mf_str *name)
{
    unsigned type = mf_code_byte(row);

    *flags = mf_code_byte(row);
    *most = mf_code_two(row);
    *name = mf_code_text(row);
    for (unsigned set = 0; set < SETS; set++)
        add_key(*name, *flags, set);
    return type;
}

/* ---- tensors that functions of expressions look at ---- */

const struct mf_record *__wrap_mf_arch_tensor(const struct mf_arch_run *run,
                                              struct mf_str pattern);

const struct mf_record *__wrap_mf_arch_tensor(const struct mf_arch_run *run,
                                              struct mf_str pattern)
{
    static const enum mf_type types[SETS] = { MF_TYPE_F32, MF_TYPE_NVFP4,
                                              MF_TYPE_I64, MF_TYPE_F32,
                                              MF_TYPE_F16, MF_TYPE_NVFP4 };
    static uint64_t dim[4];
    static struct mf_record record;
    unsigned set = 0;

    while (sets[set] != run)
        set++;
    if (!made_up_present(pattern, set))
        return NULL;
    for (unsigned i = 0; i < 4; i++)
        dim[i] = (uint64_t)made_up(pattern, set, i);
    record = (struct mf_record){ .dim = dim,
                                 .rank = 4,
                                 .type = (uint16_t)types[set] };
    return &record;
}

/* ---- expressions ---- */

struct values {
    struct mf_arch_number of[SETS];
};

/* Takes an expression; its value in each set. */
static inline struct values take_values(struct mf_code *row)
{
    struct mf_code next = *row;
    struct values out;

    mf_code_expression(&next);
    for (unsigned set = 0; set < SETS; set++) {
        struct mf_code code = *row;

        out.of[set] = mf_arch_take_number(sets[set], &code);
    }
    *row = next;
    return out;
}

static inline uint64_t values_hash(uint64_t seed, const struct values *values)
{
    for (unsigned set = 0; set < SETS; set++) {
        struct mf_arch_number number = values->of[set];

        seed = facts_hash_number(seed, number.known);
        seed =
            facts_hash_number(seed, number.known ? (uint64_t)number.value : 0);
    }
    return seed;
}

static inline unsigned short_hash(uint64_t hash)
{
    return (unsigned)(hash & 0xffff);
}

/* "12 #3f5a": the last set's value, and a digest of all. */
static inline void print_values(const struct values *values)
{
    struct mf_arch_number shown = values->of[SETS - 1];

    if (shown.known)
        facts_add(" %lld", (long long)shown.value);
    else
        facts_add(" ?");
    facts_add(" #%04x", short_hash(values_hash(0, values)));
}

static inline void print_condition(const struct values *values)
{
    facts_add(" ");
    for (unsigned set = 0; set < SETS; set++)
        facts_add("%s", !values->of[set].known  ? "?"
                        : values->of[set].value ? "1"
                                                : "0");
    facts_add("\n");
}

/* ---- groups ---- */

static inline void set_frame(const struct mf_frame *frame)
{
    for (unsigned set = 0; set < SETS; set++)
        sets[set]->frame = frame;
}

/* ---- the sets ---- */

static struct mf_model *no_model;
static struct mf_env *sets_env;

static inline void open_sets(struct mf_str name)
{
    const struct mf_rows_part *before = mf_arch_find(false, str("before"));
    const struct mf_rows_part *part = mf_arch_find(true, name);

    for (unsigned set = 0; set < SETS; set++) {
        sets[set] = mf_arch_run_new(no_model, MF_ARCH_LETS_MAX, 0);
        assert_non_null(sets[set]);
        sets[set]->name = name;
        sets[set]->block = set == 0 ? 0 : set - 1;
        if (part)
            mf_arch_lets(sets[set], part);
        mf_arch_lets(sets[set], before);
    }
}

static inline void close_sets(void)
{
    for (unsigned set = 0; set < SETS; set++)
        mf_arch_run_free(sets[set]);
}

static inline int open_no_model(void **state)
{
    static const uint8_t empty[24] = { 'G', 'G', 'U', 'F', 3 };

    (void)state;
    sets_env = mf_env_new(NULL);
    return sets_env &&
                   mf_model_open_memory(sets_env, "empty", empty, sizeof(empty),
                                        NULL, &no_model) == MF_OK
               ? 0
               : -1;
}

static inline int close_no_model(void **state)
{
    (void)state;
    mf_model_close(no_model);
    mf_env_free(sets_env);
    return 0;
}

#endif
