/* SPDX-License-Identifier: MIT
 *
 * added.h - tokens that are added to a vocabulary
 *
 * tokenizer.json lists some, tokenizer_config.json lists them again with other
 * flags or lists more, and unlisted special tokens are added, too. transformers
 * and tokenizers make of that one map, by rules that this does alike: the id in
 * a file is not read but counted, a text that the vocabulary has keeps its id
 * there, and of two tokens with one text the later's flags count.  So tokens
 * are candidates first, in the order in which they are added; the vocabulary is
 * then searched for all of them at once, and the ids follow.
 */
#ifndef MF_LIB_ADDED_H
#define MF_LIB_ADDED_H

#include "lib/base/names.h"
#include "lib/json/json.h"

/* Real models have up to 30,000, of some 20 bytes. */
#define MF_ADDED_MAX      ((size_t)1 << 17)
#define MF_ADDED_TEXT_MAX ((uint64_t)1 << 23) /* bytes of all of them */
#define MF_ADDED_TEXT_ONE ((uint64_t)1 << 16) /* bytes of one */

#define MF_NO_ID UINT64_MAX

enum mf_added_flag {
    MF_ADDED_SPECIAL = 1,
    MF_ADDED_NORMALIZED = 2,
    MF_ADDED_LSTRIP = 4,
    MF_ADDED_RSTRIP = 8,
    MF_ADDED_SINGLE_WORD = 16
};

struct mf_added {
    struct mf_added *next;
    struct mf_str text;  /* at NULL: an object that has none */
    uint64_t file_id;    /* as its file has it; MF_NO_ID: missing */
    uint64_t id;         /* of the first with that text; MF_NO_ID: none yet */
    uint64_t model_id;   /* likewise, in the vocabulary */
    struct mf_added *of; /* the first with that text; NULL: not known yet */
    unsigned flags;      /* as its file has them */
    unsigned now;        /* of the first with that text: what the map has */
    bool has_normalized;
    bool named;     /* of the first: bos_token or its like is that text */
    bool in_config; /* of the first: tokenizer_config.json lists the same */
    /* Of the first, which texts it is looked for in: those as they are, those
     * that were normalized; and whether it is in the list of special ones. */
    bool raw, cooked, listed;
};

struct mf_added_list {
    struct mf_env *env;
    struct mf_arena *arena;
    struct mf_added *first, *last;
    size_t count;
    uint64_t text_size;
    struct mf_names names; /* of the texts, after mf_added_index */
    struct mf_added **table;
    size_t table_count;
    struct mf_added **by_id; /* after mf_added_number */
    size_t by_id_count;
};

/* The flag with that key in files; 0: it is another key. */
unsigned mf_added_flag(struct mf_str key);

/* Appends a candidate, all zero but its ids; NULL after mf_fail. */
struct mf_added *mf_added_append(struct mf_added_list *list,
                                 struct mf_str text);

/* The same for one that the arena has already, as it is. */
enum mf_status mf_added_link(struct mf_added_list *list,
                             struct mf_added *added);

/* Reads the object that was just begun; its text is kept, and `normalized` is
 * the opposite of `special` where it is missing.  added is not appended. */
enum mf_status mf_added_read(struct mf_added_list *list, struct mf_json *json,
                             struct mf_added *added);

/* Makes candidates findable by their texts, and sets `now`; call it again after
 * more. */
enum mf_status mf_added_index(struct mf_added_list *list);

/* The first candidate with that text, or NULL. */
struct mf_added *mf_added_find(const struct mf_added_list *list,
                               struct mf_str text);

/* Gives the candidates their ids, in their order.  model_count: tokens of the
 * vocabulary. */
void mf_added_number(struct mf_added_list *list, uint64_t model_count);

/* Sorts by ids what the map has; of two with one id the later counts. */
enum mf_status mf_added_sort(struct mf_added_list *list);

/* The added token of that id, or NULL; after mf_added_sort. */
const struct mf_added *mf_added_at(const struct mf_added_list *list,
                                   uint64_t id);

#endif
