/* SPDX-License-Identifier: MIT
 *
 * template.h - chat templates: what their readers accept, and what looks wrong
 *
 * In: the text of a template, piece by piece.  Out: a report of fixed size.
 * Nothing is executed, and nothing is kept of the text but short excerpts: the
 * parser (parse.h) has one explicit stack, so that time is linear in
 * the length of the text and memory does not depend on it.
 *
 * Two programs read templates, and each has its own grammar.  llama.cpp (from
 * 0.5) has an engine of its own; transformers uses jinja2, which gguf files
 * seldom meet.  The text is parsed once as each reads it.  What is suspicious
 * is collected during the same pass (watch.h).
 *
 * What was considered instead: keeping the text.  A parser that can look back
 * is shorter, but a hostile file would decide how much memory it takes.
 */
#ifndef MF_LIB_TEMPLATE_H
#define MF_LIB_TEMPLATE_H

#include "lib/base/error.h"
#include "lib/base/heap.h"

/* A text that can be read more than once. */
struct mf_template_text {
    /* Goes to the first byte. */
    enum mf_status (*rewind)(struct mf_template_text *text);
    /* The next piece, valid until the next call; empty at the end. */
    enum mf_status (*next)(struct mf_template_text *text, struct mf_str *piece);
    void *user;
    struct mf_str bytes; /* of mf_template_bytes */
    bool read;
};

/* A text that is in memory. */
struct mf_template_text mf_template_bytes(struct mf_str bytes);

enum mf_template_reader { MF_TEMPLATE_LLAMA, MF_TEMPLATE_JINJA2 };

/* Where something is: line and column count from 1, columns in bytes. */
struct mf_template_place {
    uint64_t offset; /* in the template */
    uint64_t line, column;
};

/* Why a reader does not accept the template. */
struct mf_template_error {
    bool failed;
    bool deep; /* only nested deeper than this parser follows */
    struct mf_template_place place;
    char message[96];
};

/* What is not an error of the grammar, by the rule it belongs to. */
enum mf_template_flag {
    MF_TEMPLATE_HIDDEN,      /* invisible characters */
    MF_TEMPLATE_CODE,        /* names that lead out of the sandbox */
    MF_TEMPLATE_CONDITION,   /* text that depends on what a message says */
    MF_TEMPLATE_URL,         /* addresses */
    MF_TEMPLATE_NAME_LLAMA,  /* filters and tests that llama.cpp lacks */
    MF_TEMPLATE_NAME_JINJA2, /* ... and jinja2 */
    MF_TEMPLATE_FLAGS
};

struct mf_template_finding {
    uint64_t count;
    struct mf_template_place place; /* of the first one */
    uint32_t detail; /* the character that is hidden; the words of a text */
    char text[64];   /* what was found there, not terminated */
    size_t text_size;
};

#define MF_TEMPLATE_TOKENS     64
#define MF_TEMPLATE_TOKEN_SIZE 48

/* A special token that the template contains as text, such as <|im_end|>. */
struct mf_template_token {
    char text[MF_TEMPLATE_TOKEN_SIZE];
    uint8_t size;
    struct mf_template_place place;
};

struct mf_template_report {
    uint64_t size;                     /* bytes of the template */
    struct mf_template_error error[2]; /* by enum mf_template_reader */
    struct mf_template_finding flag[MF_TEMPLATE_FLAGS];
    struct mf_template_token token[MF_TEMPLATE_TOKENS];
    size_t token_count;
    bool prints_bos, prints_eos; /* the names bos_token, eos_token occur */
};

/* Fills in the report.  Fails only where the text cannot be read, or memory
 * (a few KiB) is missing. */
enum mf_status mf_template_check(struct mf_env *env,
                                 struct mf_template_text *text,
                                 struct mf_template_report *report);

#endif
