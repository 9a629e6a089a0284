/* SPDX-License-Identifier: MIT
 *
 * hparams.c - config.json as recipes see it
 *
 * The converter does not read config.json itself: transformers does, and fills
 * in what it lacks, by its model_type.  Paragraphs `config` have that.  Then
 * text_config lies over the rest, and what is said about rope in several ways
 * is gathered in one object.
 */
#include <assert.h>
#include <stdio.h>

#include "lib/base/str.h"
#include "lib/folder/sidecar.h"
#include "lib/hf/hub/keys.h"

static struct mf_str str(const char *text)
{
    return (struct mf_str){ text, strlen(text) };
}

/* ---- changing objects ---- */

/* Sets a key of the object to a copy of the value; NULL after mf_fail. */
static struct mf_node *set(struct mf_arena *arena, struct mf_node *object,
                           struct mf_str key, const struct mf_node *value)
{
    struct mf_node *node = (struct mf_node *)mf_node_get(object, key), *next;

    next = node ? node->next : object->first;
    if (!node) {
        node = mf_arena_take(arena, sizeof(*node));
        if (!node)
            return NULL;
        object->first = node;
        object->count++;
    }
    *node = *value;
    node->key = key;
    node->next = next;
    return node;
}

static struct mf_node *new_object(struct mf_arena *arena)
{
    struct mf_node *node = mf_arena_take(arena, sizeof(*node));

    if (node)
        *node = (struct mf_node){ .kind = MF_NODE_OBJECT };
    return node;
}

static enum mf_status must_be_object(struct mf_recipe *recipe,
                                     const struct mf_node *node)
{
    if (node->kind == MF_NODE_OBJECT)
        return MF_OK;
    mf_recipe_wrong(recipe, node, "an object");
    return recipe->env->error.status;
}

/* ---- what transformers fills in ---- */

/* "default NAME EXPRESSION": where the key is missing.  "set NAME EXPRESSION":
 * always. */
static enum mf_status fill_row(struct mf_recipe *recipe, enum mf_code_row word,
                               struct mf_code row, void *user)
{
    const struct mf_node *value;
    struct mf_str name;

    (void)user;
    if (word == MF_DO_PART)
        return MF_OK; /* the type of text_config or vision_config */
    assert(word == MF_DO_DEFAULT || word == MF_DO_SET);
    name = mf_code_text(&row);
    if (word == MF_DO_DEFAULT && mf_node_get(recipe->config, name))
        return MF_OK;
    value = mf_recipe_take(recipe, &row);
    return value && set(recipe->arena, recipe->config, name, value)
               ? MF_OK
               : recipe->env->error.status;
}

static enum mf_status fill_as(struct mf_recipe *recipe, struct mf_node *object,
                              struct mf_str type)
{
    const struct mf_rows_part *part =
        type.at ? mf_recipe_find(MF_ROWS_config, type) : NULL;
    struct mf_node *before = recipe->config;
    enum mf_status status;

    if (!part)
        return MF_OK;
    recipe->config = object;
    status = mf_recipe_run(recipe, mf_recipe_rows(part), fill_row, NULL);
    recipe->config = before;
    recipe->lets = recipe->given;
    return status;
}

/* By the model_type that the object gives, or else that one. */
static enum mf_status fill(struct mf_recipe *recipe, struct mf_node *object,
                           struct mf_str type)
{
    struct mf_str own = mf_node_text(object, "model_type");

    return fill_as(recipe, object, own.at ? own : type);
}

/* ---- text_config ---- */

/* Its other names. */
static enum mf_status rename_text(struct mf_recipe *recipe,
                                  struct mf_node *file)
{
    static const char *const names[] = { "llm_config", "lm_config",
                                         "thinker_config.text_config",
                                         "language_config", "lfm" };

    for (size_t i = 0; i < sizeof(names) / sizeof(*names); i++) {
        const struct mf_node *node = mf_node_at(file, names[i]);

        if (node && !set(recipe->arena, file, str("text_config"), node))
            return recipe->env->error.status;
    }
    return MF_OK;
}

/* Members of text come first, so they are found before the file's. */
static enum mf_status merge(struct mf_recipe *recipe,
                            const struct mf_node *file,
                            const struct mf_node *text)
{
    const struct mf_node *from[2] = { text, file };
    struct mf_node *last = NULL;

    recipe->config = new_object(recipe->arena);
    for (size_t i = 0; recipe->config && i < 2; i++)
        for (const struct mf_node *node = from[i] ? from[i]->first : NULL; node;
             node = node->next) {
            struct mf_node *copy = mf_arena_take(recipe->arena, sizeof(*copy));

            if (!copy)
                return recipe->env->error.status;
            *copy = *node;
            copy->next = NULL;
            if (last)
                last->next = copy;
            else
                recipe->config->first = copy;
            last = copy;
            recipe->config->count++;
        }
    return recipe->env->error.status;
}

/* ---- rope_parameters ---- */

/* The value of the first of the names, which NULL ends, that config.json has.
 */
static const struct mf_node *first(const struct mf_recipe *recipe,
                                   const char *const *names)
{
    const struct mf_node *node = NULL;

    for (; *names && !node; names++)
        node = mf_node_get(recipe->config, str(*names));
    return node;
}

/* A key of the object that it lacks: the value, unless that is null. */
static bool mirror(struct mf_recipe *recipe, struct mf_node *rope,
                   const char *key, const struct mf_node *value)
{
    return !value || value->kind == MF_NODE_NULL ||
           mf_node_get(rope, str(key)) ||
           set(recipe->arena, rope, str(key), value);
}

static bool mirror_local(struct mf_recipe *recipe, struct mf_node *rope)
{
    static const char *const names[] = {
        "local_rope_theta", "rope_local_theta",     "rope_theta_local",
        "swa_rope_theta",   "rope_local_base_freq", NULL
    };
    const struct mf_node *theta = first(recipe, names);
    struct mf_node *local;

    if (!theta || theta->kind == MF_NODE_NULL)
        return true;
    local = new_object(recipe->arena);
    return local && set(recipe->arena, local, str("rope_theta"), theta) &&
           set(recipe->arena, rope, str("sliding_attention"), local);
}

static bool mirror_all(struct mf_recipe *recipe, struct mf_node *rope)
{
    static const char *const thetas[] = {
        "global_rope_theta", "rope_global_theta", "rope_theta_global",
        "rope_theta",        "rotary_emb_base",   NULL
    };
    static const char *const factors[] = { "partial_rotary_factor", "rope_pct",
                                           "rope_percent", NULL };
    static const char original[] = "original_max_position_embeddings";
    static const char *const lengths[] = { original, NULL };

    return mirror_local(recipe, rope) &&
           mirror(recipe, rope, "rope_theta", first(recipe, thetas)) &&
           mirror(recipe, rope, "rope_type", mf_node_get(rope, str("type"))) &&
           mirror(recipe, rope, "partial_rotary_factor",
                  first(recipe, factors)) &&
           mirror(recipe, rope, original, first(recipe, lengths));
}

/* The object that config.json has is changed, as it is in the reference. */
static enum mf_status gather_rope(struct mf_recipe *recipe)
{
    static const char *const names[] = { "rope_parameters", "rope_scaling",
                                         NULL };
    struct mf_node *rope = (struct mf_node *)first(recipe, names);

    if (!rope || !mf_node_holds(rope))
        rope = new_object(recipe->arena);
    if (!rope || must_be_object(recipe, rope) != MF_OK)
        return recipe->env->error.status;
    if (!mf_node_get(rope, str("full_attention")) &&
        !mf_node_get(rope, str("sliding_attention")) &&
        !mirror_all(recipe, rope))
        return recipe->env->error.status;
    mf_recipe_give(recipe, "rope_parameters", rope);
    return MF_OK;
}

/* ---- the class ---- */

/* Classes whose text_config says another one, which does not count. */
static bool names_itself(struct mf_str class)
{
    static const char *const names[] = { "StepVLForConditionalGeneration",
                                         "Sarashina2VisionForCausalLM",
                                         "Exaone4_5_ForConditionalGeneration",
                                         "Step3p7ForConditionalGeneration",
                                         "KimiK3ForConditionalGeneration" };

    for (size_t i = 0; i < sizeof(names) / sizeof(*names); i++)
        if (mf_str_is(class, names[i]))
            return true;
    return false;
}

/* The part's class, where it names one. */
static enum mf_status find_class(struct mf_recipe *recipe,
                                 const struct mf_node *file, bool projector,
                                 struct mf_str *class)
{
    struct mf_str part =
        mf_node_text(file, projector ? "vision_config.architectures.0"
                                     : "text_config.architectures.0");

    *class = mf_node_text(file, "architectures.0");
    if (part.at && (projector || !(class->at && names_itself(*class))))
        *class = part;
    return class->at ? MF_OK
                     : mf_fail(recipe->env, MF_ERR_CORRUPT, MF_NO_OFFSET,
                               "'config.json': missing key 'architectures'");
}

/* ---- the file ---- */

static enum mf_status read_file(struct mf_recipe *recipe, struct mf_node **file)
{
    const char *name = mf_recipe_file(recipe);

    if (mf_sidecar_tree(recipe->model, recipe->arena, name, MF_SIDECAR_LIMIT,
                        file) != MF_OK)
        return recipe->env->error.status;
    if (!*file)
        return mf_fail(recipe->env, MF_ERR_IO, MF_NO_OFFSET,
                       "'%s' is missing in the model's folder", name);
    return must_be_object(recipe, *file);
}

/* "TYPE/part", or empty. */
static struct mf_str name_part(char *out, size_t room, struct mf_str type,
                               const char *part)
{
    int size = snprintf(out, room, "%.*s/%s", (int)type.size,
                        type.at ? type.at : "", part);

    return (struct mf_str){ out, (size_t)size < room ? (size_t)size : 0 };
}

/* What the row PART of a paragraph says; at NULL: it has none. */
static struct mf_str type_of_part(const struct mf_rows_part *of,
                                  const char *name)
{
    struct mf_code rows = mf_recipe_rows(of);

    while (mf_code_left(&rows)) {
        enum mf_code_row word;
        struct mf_code row = mf_code_row(&rows, &word);

        if (word == MF_DO_PART && mf_str_is(mf_code_text(&row), name))
            return mf_code_text(&row);
    }
    return (struct mf_str){ NULL, 0 };
}

/* What the part is filled with: "TYPE/PART" with the file's model_type, or else
 * what its own model_type, or the row PART of the file's paragraph, stands for.
 */
static enum mf_status fill_part_of(struct mf_recipe *recipe,
                                   const struct mf_node *file, const char *part,
                                   struct mf_node *object)
{
    struct mf_str of_file = mf_node_text(file, "model_type");
    struct mf_str own = mf_node_text(object, "model_type");
    const struct mf_rows_part *above = mf_recipe_find(MF_ROWS_config, of_file);
    char text[64];
    struct mf_str name = name_part(text, sizeof(text), of_file, part);

    if (mf_recipe_find(MF_ROWS_config, name))
        return fill_as(recipe, object, name);
    if (!own.at && above)
        own = type_of_part(above, part);
    name = name_part(text, sizeof(text), own, "part");
    if (own.at && fill_as(recipe, object, name) != MF_OK)
        return recipe->env->error.status;
    return fill_as(recipe, object, own);
}

/* *out is NULL where the file has no such part. */
static enum mf_status fill_part(struct mf_recipe *recipe,
                                const struct mf_node *file, const char *part,
                                struct mf_node **out)
{
    const struct mf_node *node;
    char name[64];

    snprintf(name, sizeof(name), "%s_config", part);
    node = mf_node_get(file, str(name));
    if (node && node->kind == MF_NODE_NULL && strcmp(part, "text") != 0)
        node = NULL;
    *out = (struct mf_node *)node;
    if (!node)
        return MF_OK;
    return must_be_object(recipe, *out) == MF_OK
               ? fill_part_of(recipe, file, part, *out)
               : recipe->env->error.status;
}

static enum mf_status open_file(struct mf_recipe *recipe, bool projector,
                                struct mf_node **file, struct mf_str *class)
{
    if ((!*file && read_file(recipe, file) != MF_OK) ||
        fill(recipe, *file, (struct mf_str){ NULL, 0 }) != MF_OK ||
        rename_text(recipe, *file) != MF_OK)
        return recipe->env->error.status;
    return find_class(recipe, *file, projector, class);
}

enum mf_status mf_hub_config(struct mf_recipe *recipe, struct mf_node **file,
                             struct mf_str *class)
{
    struct mf_node *text;

    if (open_file(recipe, false, file, class) != MF_OK ||
        fill_part(recipe, *file, "text", &text) != MF_OK ||
        merge(recipe, *file, text) != MF_OK)
        return recipe->env->error.status;
    return gather_rope(recipe);
}

enum mf_status mf_hub_projector_config(struct mf_recipe *recipe,
                                       struct mf_node **file,
                                       struct mf_str *class)
{
    struct mf_node *text, *vision, *audio;

    if (open_file(recipe, true, file, class) != MF_OK ||
        fill_part(recipe, *file, "text", &text) != MF_OK ||
        fill_part(recipe, *file, "vision", &vision) != MF_OK ||
        fill_part(recipe, *file, "audio", &audio) != MF_OK)
        return recipe->env->error.status;
    recipe->config = vision ? vision : audio ? audio : *file;
    return MF_OK;
}

/* ---- params.json ---- */

/* What it calls `quantization` is `fp8` of Hugging Face, with one scale for
 * each tensor. */
static enum mf_status translate_fp8(struct mf_recipe *recipe,
                                    struct mf_node *file)
{
    const struct mf_node *quantization = mf_node_at(file, "quantization");
    struct mf_str format = mf_node_text(quantization, "qformat_weight");
    struct mf_node *config;

    if (!quantization || quantization->kind == MF_NODE_NULL)
        return MF_OK;
    if (!mf_str_is(format, "fp8_e4m3"))
        return mf_fail(recipe->env, MF_ERR_UNSUPPORTED, quantization->offset,
                       "'params.json': 'qformat_weight' of 'quantization' must "
                       "be 'fp8_e4m3', not '%s'",
                       mf_quote(format).text);
    config = new_object(recipe->arena);
    return config &&
                   set(recipe->arena, config, str("quant_method"),
                       mf_node_of_text(recipe->arena, str("fp8"))) &&
                   set(recipe->arena, file, str("quantization_config"), config)
               ? MF_OK
               : recipe->env->error.status;
}

static enum mf_status take_encoder(struct mf_recipe *recipe,
                                   const struct mf_node *file)
{
    const struct mf_node *encoder = mf_node_at(file, "vision_encoder");

    if (!encoder || encoder->kind == MF_NODE_NULL)
        return mf_fail(recipe->env, MF_ERR_UNSUPPORTED, MF_NO_OFFSET,
                       "'params.json': missing key 'vision_encoder': the model "
                       "has no projector");
    recipe->config = (struct mf_node *)encoder;
    return must_be_object(recipe, encoder);
}

enum mf_status mf_hub_params(struct mf_recipe *recipe, bool projector,
                             struct mf_node **file, struct mf_str *class)
{
    const struct mf_node *experts;

    *class = str("mistral_format");
    if (read_file(recipe, file) != MF_OK)
        return recipe->env->error.status;
    if (projector)
        return take_encoder(recipe, *file);
    recipe->config = *file;
    experts = mf_node_at(*file, "moe");
    if (experts && experts->kind != MF_NODE_NULL)
        *class = str("mistral_format_experts");
    else if (translate_fp8(recipe, *file) != MF_OK)
        return recipe->env->error.status;
    return gather_rope(recipe);
}
