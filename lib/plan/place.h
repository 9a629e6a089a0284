/* SPDX-License-Identifier: MIT
 *
 * place.h - memory of a graph, step by step
 */
#ifndef MF_LIB_PLAN_PLACE_H
#define MF_LIB_PLAN_PLACE_H

#include "lib/plan/graph.h"

/* Memory that is empty, and no tensor. */
void mf_place_begin(struct mf_graph *graph);

/* Gives places to the inputs. */
void mf_place_inputs(struct mf_graph *graph);

/* Gives places to the tensors of a step, and takes them back. */
void mf_place_step(struct mf_graph *graph, size_t step);

/* ---- single tensors ---- */

/* Takes memory, and returns where it is. */
uint64_t mf_place_take(struct mf_graph *graph, uint64_t size);

/* One reader of the tensor is done. */
void mf_place_leave(struct mf_graph *graph, struct mf_graph_node *node);

/* The tensor at an index of a part: a shared name stands for a record, or NULL
 * if it is not in this memory. */
struct mf_graph_node *mf_place_node(struct mf_graph *graph, uint16_t index);

/* Records that are in use, one bit each; one that is not. */
uint64_t mf_place_taken_records(const struct mf_graph *graph);
uint16_t mf_place_free_record(uint64_t taken);

/* ---- how often a shared name will be read ---- */

struct mf_place_use {
    uint32_t children, views;
    bool output; /* a part says that it is one */
};

/* From the step on, until a part gives the name another tensor.  To copy a
 * tensor to another device is to read it once. */
struct mf_place_use mf_place_future(const struct mf_graph *graph, size_t name,
                                    size_t step);

void mf_place_add_use(struct mf_graph *graph, struct mf_graph_node *node,
                      struct mf_place_use use);

#endif
