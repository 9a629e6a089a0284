/* SPDX-License-Identifier: MIT
 *
 * convert.h - the room write: a model and options become files
 *
 * What comes in is an open model and what its caller wants of it; what goes out
 * are complete files.  A plan is made first and carried out after that:
 *
 *   output_plan.c    which tensors and metadata go into which file
 *   output_hub.c     the same for a folder of Hugging Face that becomes GGUF
 *   output_folder.c  the same for a GGUF file that becomes such a folder
 *   draft_tensors.c  a model's tensors, with the names and types they will have
 *   output_name.c    that file's name, if no option names it
 *   output_guard.c   no output may be one of the inputs
 *   convert.c        targets are opened, filled and committed together
 *   output.c         header, padding and checksum of one file; its order of
 *                    bytes
 *   transfer.c       cuts the tensors into pieces and shares them among threads
 *   verbatim.c       the same for a file that is copied as it is
 *   together.c       the same for several outputs of the same tensors
 *   piece.c          reads, converts, checks and writes one piece
 *   piece_together.c the same for pieces of several outputs
 *   weights.c        loads the importance weights of one tensor
 *   resume.c         lets stopped work go on
 *   part.c           one of several parts that processes write by themselves
 *   finish.c         what they wrote gets its name
 *   edit.c           changes metadata in place, or by writing the file again
 *   export.c, writer.c  one tensor as a file; files that a program makes itself
 *
 * Invariants: all offsets are fixed before the first byte is written.  No file
 * has its name before all of them are on the disk.  No byte is written that was
 * not read within the bounds of its tensor.  The bytes are the same for any
 * number of threads.
 *
 * The room does not know what a format's header looks like (struct
 * mf_format_out writes it), how blocks are encoded (codec) or which type
 * a tensor should get when a model is quantized (quantize).
 *
 * The header is not written last, from offsets that come about while data are
 * written: a pipe cannot be written so, and a header that turned out longer
 * than the space left for it would move all data.  To run the header's code
 * twice, once only to count, costs 10 ms for a vocabulary of 5 MB.
 */
#ifndef MF_LIB_CONVERT_H
#define MF_LIB_CONVERT_H

#include "lib/base/parallel.h"
#include "lib/codec/recode.h"
#include "lib/draft/carry.h"
#include "lib/hf/hf.h"
#include "lib/io/journal.h"
#include "lib/io/stage.h"
#include "lib/io/target.h"
#include "lib/lora/lora.h"
#include "lib/model/model.h"

/* One file that is written. */
struct mf_output {
    const char *path;
    struct mf_draft draft;
    struct mf_target target;
    /* The error that quantizing caused, by new type; NULL: not measured. */
    struct mf_deviation *deviation;
};

/* The importance of each column of a tensor, for encoders that use it. */
struct mf_weights {
    /* Gives the count weights of the tensor of that name; *found: whether it
     * has any.  NULL: no tensor has. */
    enum mf_status (*read)(void *user, struct mf_str name, float *out,
                           size_t count, bool *found);
    void *user;
};

/* All files of a conversion. */
struct mf_outputs {
    struct mf_env *env;
    struct mf_model *model;
    struct mf_arena arena;
    struct mf_output *output;
    size_t count;
    bool verbatim;    /* one file, a copy of the model's */
    bool together;    /* each output is the whole model, all of the same tensors
                         in the same order: what they are made of is read once
                         (together.c) */
    bool finite_only; /* infinite and NaN values are refused */
    /* The model's only file, when an edit replaces it; NULL: outputs may
     * replace any file except the inputs. */
    const struct stat *replaces;
    struct mf_renaming renaming;
    bool computed;       /* all of a folder's tensors go through floats of 32
                            bits */
    struct mf_lora lora; /* is merged, where it has a model */
    char *base;          /* config.json of an adapter's model; or NULL */
    struct mf_model *of_base; /* that model, where it has tensors; or NULL */
    struct mf_stage stage;    /* a folder that they are in, or none */
    struct mf_hf_restored restored; /* what a folder becomes again */
    struct mf_output_ops given;     /* takes them; without `write`: files do */
    char *index_path; /* of the index.json that lists them; NULL: without */
    struct mf_target index;
    size_t left_out;                 /* metadata keys that were dropped */
    size_t rescaled;                 /* pairs of an adapter: see there, too */
    bool deletes;                    /* the inputs will be removed */
    const struct mf_source *imatrix; /* an input, too; or NULL */
    const char *metadata;            /* likewise, the path of a file */
    uint64_t choice;                 /* a digest of what is used of it */
    struct mf_resume *resume;        /* stopped work can go on; or NULL */
    const char *named;               /* the path that the caller gave; */
    uint32_t part_number, parts;     /* only that part of so many is written */
    struct mf_attempt *attempt;      /* the same while it is; 0 and NULL: all
                                  of it is (part.h) */
    bool again; /* what was written is made again, and compared */
    struct mf_weights weights;
    int effort; /* of encoders; see lib/codec/recode.h */
    /* Of all outputs, each a row; NULL: not measured. */
    struct mf_deviation *deviation;
};

/* After planning: the outputs go where the options say. */
enum mf_status mf_outputs_give(struct mf_outputs *outputs,
                               const struct mf_convert_options *options);

/* Refuses a model whose tensors nothing reads. */
enum mf_status mf_draft_check_source(struct mf_model *model);

/* Why a format cannot carry a tensor of the type: whether floats can stand for
 * its values. */
enum mf_reason mf_draft_type_reason(enum mf_type type);

/* How many tensors the model has under the names that the new file will have;
 * renaming NULL: its own. */
size_t mf_draft_source_count(const struct mf_model *model,
                             const struct mf_renaming *renaming);

/* Adds count of those, from `first` on, to the draft, with the types that the
 * new file will have. */
enum mf_status mf_draft_list_tensors(struct mf_draft *draft,
                                     const struct mf_model *model,
                                     const struct mf_renaming *renaming,
                                     size_t first, size_t count);

/* How tensors are cut into shards, by the limits of the options (cut.c). */
struct mf_cut {
    const struct mf_convert_options *options;
    uint64_t (*size)(const void *from, size_t tensor); /* in bytes */
    const void *from;
    size_t tensors;
};

/* How many tensors from `first` on one shard takes; how many shards there are.
 * For sizes of a draft's tensors. */
size_t mf_cut_take(const struct mf_cut *cut, size_t first);
size_t mf_cut_count(const struct mf_cut *cut);
uint64_t mf_cut_draft(const void *draft, size_t tensor);

/* The format of the output: by its name, else (NULL) by the path's suffix, else
 * the model's.  NULL after mf_fail. */
const struct mf_format *mf_output_format(struct mf_model *model,
                                         const char *path, const char *name);

/* No files yet; then as many as that, with their paths and empty drafts. */
void mf_outputs_init(struct mf_outputs *outputs, struct mf_model *model);
enum mf_status mf_outputs_make(struct mf_outputs *outputs,
                               const struct mf_format *format, const char *path,
                               size_t count, bool shards);

/* Says what goes where, all offsets fixed; nothing is written yet. */
enum mf_status mf_outputs_plan(struct mf_model *model, const char *path,
                               const struct mf_convert_options *options,
                               struct mf_outputs *out);
void mf_outputs_release(struct mf_outputs *outputs);

/* Likewise: only a part of them is written if the options say so, which some
 * outputs cannot be; path: as the caller named them. */
enum mf_status mf_outputs_divide(struct mf_outputs *outputs, const char *path,
                                 const struct mf_convert_options *options);

/* Fails where the path leads to a file that the program has read for the env.
 */
enum mf_status mf_output_guard_read(struct mf_env *env, const char *path);

/* Whether the model is a folder that becomes GGUF as llama.cpp's converter has
 * it. */
bool mf_outputs_are_hub(const struct mf_model *model,
                        const struct mf_format *format,
                        const struct mf_convert_options *options);

/* The same for a folder of Hugging Face that becomes GGUF (output_hub.c). */
enum mf_status mf_outputs_plan_hub(const char *path,
                                   const struct mf_convert_options *options,
                                   struct mf_outputs *out);

/* The same for a GGUF file that becomes a folder, "FOLDER/"
 * (output_folder.c). */
bool mf_output_is_folder(const char *path);
enum mf_status mf_outputs_plan_folder(const char *path,
                                      const struct mf_convert_options *options,
                                      struct mf_outputs *out);

/* All that it becomes, in one draft; or only its name, where that is not NULL.
 */
enum mf_status mf_outputs_list_hub(struct mf_outputs *outputs,
                                   struct mf_draft *draft,
                                   const struct mf_convert_options *options,
                                   struct mf_hf_name *name);

/* Opens the adapter that the options name; makes tensors of a draft the merged
 * ones; refuses an adapter of which something was not used. */
enum mf_status mf_outputs_open_lora(struct mf_outputs *outputs,
                                    const struct mf_convert_options *options);
enum mf_status mf_outputs_apply_lora(struct mf_outputs *outputs,
                                     struct mf_draft *draft);
enum mf_status mf_outputs_check_lora(const struct mf_outputs *outputs);

/* Refuses options that only mean something for a folder of Hugging Face, or for
 * an adapter. */
enum mf_status mf_outputs_check_folder(struct mf_env *env,
                                       const struct mf_convert_options *options,
                                       bool adapter);

/* Likewise for an adapter as one GGUF file (output_adapter.c). */
enum mf_status mf_outputs_plan_adapter(const char *path,
                                       const struct mf_convert_options *options,
                                       struct mf_outputs *out);
enum mf_status mf_outputs_list_adapter(struct mf_outputs *outputs,
                                       struct mf_draft *draft,
                                       const struct mf_convert_options *options,
                                       struct mf_hf_name *name);

/* The tensors' names, where they do not come from a folder that becomes GGUF,
 * and their numbers where a compressed checkpoint becomes floats. */
enum mf_status mf_outputs_rename(struct mf_outputs *outputs,
                                 const struct mf_convert_options *options);

/* The order of bytes: whether the options fit together; the
 * one that they name, else the model's; sets the draft's, which is the model's
 * if it has its format. */
enum mf_status mf_outputs_check_order(struct mf_env *env, const char *path,
                                      const struct mf_convert_options *options);
enum mf_byte_order mf_outputs_order(const struct mf_model *model,
                                    const struct mf_convert_options *options);
void mf_outputs_set_order(const struct mf_model *model, struct mf_draft *draft,
                          const struct mf_convert_options *options);

/* The type that tensors of floats get. */
enum mf_status mf_outputs_set_types(struct mf_draft *draft,
                                    const struct mf_convert_options *options);

/* Bytes of tensors that are read. */
uint64_t mf_outputs_work(const struct mf_outputs *outputs);

/* Bytes of buffer that a thread needs at least; fails if a tensor cannot get
 * its type. */
enum mf_status mf_outputs_buffer_need(const struct mf_outputs *outputs,
                                      size_t *out);

/* ---- unchanged.c ---- */

/* After the outputs were filled: MF_ERR_IO where an input has changed.  Where
 * one may have, because its mode, a name or its bytes with the time set back
 * were changed, everything is made again and compared with what was written. */
enum mf_status mf_outputs_steady(struct mf_outputs *outputs,
                                 struct mf_crew *crew);

/* The error that an input did. */
enum mf_status mf_outputs_input_changed(const struct mf_outputs *outputs);

/* The tensors' bytes into the open targets, on all threads. */
enum mf_status mf_outputs_transfer(struct mf_outputs *outputs,
                                   struct mf_crew *crew);

/* MF_ERR_OUTPUT where an output is one of the inputs, or two outputs are links
 * to one file; see output_guard.c. */
enum mf_status mf_outputs_guard_inputs(const struct mf_outputs *outputs);

/* A file made from models of one env, to be written in order: MF_ERR_OUTPUT if
 * it is one of theirs, or exists and replace is not set.  size: as of
 * mf_target_open. */
enum mf_status mf_output_open(struct mf_model *const *models, size_t count,
                              const char *path, bool replace, uint64_t size,
                              struct mf_target *out);

/* Fails where the path leads to a file that the program read for the env. */
enum mf_status mf_output_guard_read(struct mf_env *env, const char *path);

/* Whether the path, which may be "-", leads to the file that is read. */
bool mf_path_is_source(const char *path, const struct mf_source *source);

/* A dry run: fails as mf_outputs_write would before its first byte. */
enum mf_status mf_outputs_check(const struct mf_outputs *outputs, bool replace);

/* Removes the model's files and their index.json, once all outputs are in
 * place. */
enum mf_status mf_outputs_delete_inputs(const struct mf_outputs *outputs);

/* Writes them all; no path changes before every file is on the disk.  resume:
 * stopped work goes on, and can go on again (resume.h). */
enum mf_status mf_outputs_write(struct mf_outputs *outputs, bool replace,
                                bool resume);

/* Before a file with a checksum becomes another one with a checksum: whether it
 * fits its bytes, so that damage stays known.  Reads them all. */
enum mf_status mf_outputs_check_footers(const struct mf_outputs *outputs,
                                        struct mf_crew *crew);

/* Outputs that are filled, and the index.json, get their names. */
enum mf_status mf_outputs_commit(struct mf_outputs *outputs);

/* The index.json that lists the outputs: its size, and its bytes into the
 * target that is open. */
uint64_t mf_outputs_index_size(const struct mf_outputs *outputs);
enum mf_status mf_outputs_fill_index(struct mf_outputs *outputs);

/* Fails where a target that is open has another header than it would get now.
 */
enum mf_status mf_output_compare_header(struct mf_output *output);

/* The checksum of all bytes of a target before its last four, which it becomes.
 */
enum mf_status mf_target_write_crc(struct mf_target *target,
                                   struct mf_crew *crew);

/* Header, padding and checksum of one that is open. */
enum mf_status mf_output_write_header(struct mf_output *output);
enum mf_status mf_output_write_footer(struct mf_output *output,
                                      struct mf_crew *crew);

/* ---- what is next to a model, for a folder that gets its tensors ---- */

struct mf_beside {
    const char *dtype; /* that config.json names for the tensors: "bfloat16";
                          NULL: as it is */
    bool decoded;      /* nothing is compressed any more */
};

/* Copies the files that describe the model and its tokenizer from the model's
 * folder to the new one.  Only config.json is changed. */
enum mf_status mf_beside_copy(const struct mf_model *model,
                              struct mf_stage *stage,
                              const struct mf_beside *how);

/* ---- changing the metadata of a file that is open and locked ---- */

/* Makes the edits in place where the new header fits into the old one's space,
 * else by writing the file again.  lock: of the model's only file; of a dry run
 * only its status and its place's name are set. */
enum mf_status mf_edit_model(struct mf_model *model, const struct mf_lock *lock,
                             const struct mf_edit *edits, size_t count,
                             const struct mf_edit_options *options,
                             struct mf_edit_result *out);

#endif
