/* SPDX-License-Identifier: MIT
 *
 * graph.h - what lives while tokens are computed, tensor by tensor
 *
 * llama.cpp lays out a graph of tensors before it computes one, and puts each
 * into memory that others have left.  How much that takes cannot be said by a
 * formula: it depends on the order in which tensors live and die.  So the graph
 * is laid out here as well, without data:
 *
 *     rows.c     runs the rows of an architecture's graph
 *     words.c    knows names, numbers and weights in them
 *     ops.c      operations: the shape of what they give
 *     parts.c    parts of a graph, in the order of computing
 *     kinds.c    which blocks are alike
 *     place.c    where each tensor lies
 *     spread.c   what each of several devices has of it
 *
 * A graph consists of parts: rows before the blocks, one part for each block,
 * rows after them.  Blocks that are alike share a part, so that a model of 80
 * blocks has three or four.  Names that are handed from part to part (`input`
 * and `carry` rows) have the first indices of the table of nodes; what a part
 * makes itself follows.
 */
#ifndef MF_LIB_PLAN_GRAPH_H
#define MF_LIB_PLAN_GRAPH_H

#include "lib/arch/run.h"
#include "lib/plan/plan.h"

#define MF_GRAPH_NONE      UINT16_MAX
#define MF_GRAPH_SOURCES   8
#define MF_GRAPH_ALIGNMENT 32   /* of tensors in memory of the CPU */
#define MF_GRAPH_SHARED    32   /* names that go from part to part */
#define MF_GRAPH_NAMES     64   /* of a part, with those */
#define MF_GRAPH_NODES_MAX 4096 /* of all parts */
#define MF_GRAPH_PARTS_MAX 64   /* different blocks */
#define MF_GRAPH_STEPS_MAX (MF_ARCH_BLOCKS_MAX + 16)
#define MF_GRAPH_HOLES_MAX 128 /* free pieces of memory between tensors */
#define MF_GRAPH_PAST                                                          \
    64 /* steps among which one is looked for that                             \
          began like the current one */

/* ---- tensors ---- */

struct mf_graph_node {
    uint64_t dim[4];
    uint64_t bytes;           /* that it has of its own */
    uint64_t at;              /* where they are */
    uint32_t children, views; /* nodes to come that read it, that are views */
    uint16_t source[MF_GRAPH_SOURCES];
    uint16_t root; /* of a view: the tensor whose memory it is */
    uint16_t up;   /* while the order is found: the node that led here */
    uint8_t source_count, next_source;
    uint8_t type;
    bool view;    /* it has no memory of its own */
    bool whole;   /* its elements lie in order, without gaps */
    bool inplace; /* it may take the memory of a source */
    bool listed;  /* it is part of the graph */
    bool output;  /* its memory is never used again */
    bool kept;    /* likewise, because a later part says so */
    bool allocated;
};

/* What a name or a word of a row stands for: a node, or a tensor that is not in
 * the memory of the graph (MF_GRAPH_NONE), such as a weight. */
struct mf_graph_value {
    uint16_t node;
    uint8_t type;
    bool whole;
    uint64_t dim[4];
};

/* ---- parts ---- */

struct mf_graph_part {
    uint64_t kind;         /* blocks of one kind share the part */
    uint32_t first, count; /* in the order of nodes */
    uint16_t child[MF_GRAPH_SHARED], view[MF_GRAPH_SHARED]; /* of shared names:
                                        how many nodes read it, are views */
    uint32_t outputs;                /* shared names that it says are outputs */
    uint16_t gives[MF_GRAPH_SHARED]; /* the node that a shared name is from
                                        then on; MF_GRAPH_NONE: as before */
};

struct mf_graph_name {
    struct mf_str text;
    struct mf_graph_value value;
};

struct mf_graph_hole {
    uint64_t at, size;
};

struct mf_graph {
    struct mf_env *env;
    struct mf_arch_run *run;
    const struct mf_graph_kinds *kinds;
    size_t let_count;
    enum mf_type type_k, type_v; /* of caches */
    bool unknown; /* a number or tensor that is needed is missing */
    bool failed;  /* memory was refused */
    bool rough;   /* only an estimate: rows say so, or there are more different
                     parts than are kept */

    /* nodes: shared names first */
    struct mf_graph_node *node;
    uint16_t *order; /* of computing, part by part */
    size_t node_count, node_room, order_count;

    struct mf_graph_name name[MF_GRAPH_NAMES];
    size_t name_count, shared_count;
    uint32_t inputs;                /* shared names that are inputs */
    uint16_t leaf[MF_GRAPH_SHARED]; /* inputs, in the order of their use */
    size_t leaf_count;

    struct mf_code vary[MF_GRAPH_VARY_MAX]; /* that make blocks different */
    size_t vary_count;

    struct mf_graph_part *part;
    size_t part_count, part_room;
    uint16_t step[MF_GRAPH_STEPS_MAX];  /* the parts as they are computed */
    uint16_t block[MF_GRAPH_STEPS_MAX]; /* of each step; MF_GRAPH_NONE: of
                                           none */
    size_t step_count;

    /* place.c */
    struct mf_graph_node record[2 * MF_GRAPH_SHARED]; /* tensors that outlive
                                                         a part */
    uint16_t record_of[MF_GRAPH_SHARED];
    struct mf_graph_hole hole[MF_GRAPH_HOLES_MAX];
    size_t hole_count;
    uint64_t most;
    uint64_t past[MF_GRAPH_PAST];
    bool every_step; /* also where the memory repeats */
    /* Several devices: each step's one, and the one whose memory this is;
     * NULL: there is one (spread.c). */
    const uint8_t *where;
    uint8_t device;
};

/* ---- the whole (graph.c) ---- */

/* Bytes of a graph; MF_PLAN_UNKNOWN: rows need metadata or tensors that are
 * missing.  every_step: without leaving out what repeats, for tests.
 * *rough: only an estimate. */
uint64_t mf_graph_lay_out(struct mf_planner *planner,
                          const struct mf_plan_settings *settings,
                          struct mf_code rows, bool every_step, bool *rough);

/* Bytes of the model's graph, or an estimate if it has none. */
uint64_t mf_graph_bytes(struct mf_planner *planner,
                        const struct mf_plan_settings *settings,
                        bool every_step, bool *estimated);

/* ---- operations (ops.c) ---- */

/* In the order of ops.def. */
enum mf_graph_op_name {
#define OP(name, rule, kind, least, most, inplace) MF_OP_##name,
#include "lib/plan/ops.def"
#undef OP
    MF_OPS,
    MF_OPS_LAST = MF_OPS - 1,
#define OP(name, least, most) MF_OP_##name,
    MF_GRAPH_MORE_OPS(OP)
#undef OP
};

/* What the operation gives, of sources and of the numbers after its colon.
 * Numbers that are unknown make the graph unknown. */
struct mf_graph_value
mf_graph_apply(struct mf_graph *graph, enum mf_graph_op_name name,
               const struct mf_graph_value *source, size_t source_count,
               const uint64_t *number, size_t number_count, enum mf_type type);

/* A node without sources. */
uint16_t mf_graph_add(struct mf_graph *graph, enum mf_type type,
                      const uint64_t dim[4]);

/* ---- parts and their order (parts.c) ---- */

/* Room for one more node; false, and graph->failed or ->unknown, if there is
 * none. */
bool mf_graph_reserve(struct mf_graph *graph);

/* Puts a tensor, and before it what it is made of, at the end of the order. */
void mf_graph_expand(struct mf_graph *graph, uint16_t node);

/* ---- which blocks are alike (kinds.c) ---- */

struct mf_graph_kinds {
    bool windows;    /* some blocks have sliding windows */
    uint64_t v_most; /* elements of the values of a block, at most */
    uint64_t blocks;
    uint64_t digest[]; /* equal ones: blocks that look alike */
};

/* NULL after mf_fail. */
struct mf_graph_kinds *mf_graph_kinds_new(struct mf_planner *planner);

/* The kind of the current block, in a loop up to a block; never 0. */
uint64_t mf_graph_kind(struct mf_graph *graph, uint64_t end);

/* ---- memory (place.c) ---- */

/* Bytes of all nodes, if each step is computed after the one before it. */
uint64_t mf_graph_place(struct mf_graph *graph);

/* The same on each of several devices (spread.c).  large: enough tokens to lend
 * devices what the host has. */
struct mf_plan_split;
void mf_graph_place_on_all(struct mf_graph *graph,
                           const struct mf_plan_split *split, bool large,
                           uint64_t *bytes);

/* Lays a graph out: its parts and steps. */
void mf_graph_build(struct mf_graph *graph, struct mf_code rows);

/* ---- words of rows (words.c) ---- */

/* Takes a word, and gives what it stands for. */
struct mf_str mf_graph_word(const struct mf_graph *graph, struct mf_code *row);

struct mf_graph_name *mf_graph_find_name(struct mf_graph *graph,
                                         struct mf_str text);
void mf_graph_set_name(struct mf_graph *graph, struct mf_str text,
                       const struct mf_graph_value *value);

/* A name that goes from part to part: its index. */
size_t mf_graph_add_shared(struct mf_graph *graph, struct mf_str text);

/* The length of a tensor, in expressions. */
struct mf_arch_number mf_graph_length(void *user, struct mf_code_word name,
                                      unsigned dimension);

/* Takes an expression; a list of them. */
uint64_t mf_graph_number(struct mf_graph *graph, struct mf_code *row);
size_t mf_graph_numbers(struct mf_graph *graph, struct mf_code *row,
                        uint64_t out[4]);

/* The shape of a weight, "a|b": of the first of these that the model has. */
bool mf_graph_find_weight(struct mf_graph *graph, struct mf_str names,
                          struct mf_graph_value *out);

/* ---- rows (rows.c) ---- */

/* The paragraph of an architecture's graph; NULL if there is none. */
const struct mf_rows_part *mf_graph_find(struct mf_str name);

/* Runs rows up to the end, or to a row EACH, whose operands are given; *rows is
 * advanced past it. */
struct mf_code mf_graph_run_rows(struct mf_graph *graph, struct mf_code *rows);

#endif
