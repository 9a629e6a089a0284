/* SPDX-License-Identifier: MIT
 *
 * show.c - what modelfile verify found out, as text or JSON
 */
#include <inttypes.h>

#include "cli/commands/verify/verify.h"
#include "cli/describe.h"
#include "cli/json.h"
#include "cli/value.h"

/* ---- JSON ---- */

/* Opens the array that comes then, and closes the ones before. */
static void begin_list(struct verify *verify, enum verify_list list)
{
    static const char *const names[] = { "", "metadata", "tensors", "missing" };
    struct mf_json_out *json = &verify->run->json;

    while (verify->list < list) {
        if (verify->list > LIST_NONE)
            mf_json_end(json, ']');
        if (++verify->list == LIST_END)
            return;
        mf_json_key(json, names[verify->list]);
        mf_json_begin(json, '[');
    }
}

static void value_member(struct verify *verify, const char *key,
                         struct mf_model *model, size_t index)
{
    struct mf_json_out *json = &verify->run->json;

    mf_json_key(json, key);
    if (index == SIZE_MAX) {
        mf_json_null(json);
        return;
    }
    mf_json_begin(json, '{');
    value_json(verify->run, model, index, false);
    mf_json_end(json, '}');
}

static const char *change_of(const struct mf_verified_key *key)
{
    return key->what == MF_ONLY_A   ? "removed"
           : key->what == MF_ONLY_B ? "added"
                                    : "changed";
}

static void key_json(struct verify *verify, const struct mf_verified_key *key)
{
    begin_list(verify, LIST_KEYS);
    mf_json_begin(&verify->run->json, '{');
    json_str(verify->run, "key", key->key);
    json_text(verify->run, "change", change_of(key));
    value_member(verify, "from", verify->source, key->source);
    value_member(verify, "to", verify->model, key->model);
    mf_json_end(&verify->run->json, '}');
}

static void errors_json(struct run *run, const struct mf_value_errors *errors)
{
    mf_json_key(&run->json, "errors");
    if (!errors) {
        mf_json_null(&run->json);
        return;
    }
    mf_json_begin(&run->json, '{');
    json_double(run, "max_abs", errors->max_absolute);
    json_double(run, "rmse", errors->rmse);
    json_double(run, "cosine", errors->cosine);
    json_number(run, "nan", errors->nan_b);
    json_number(run, "inf", errors->inf_b);
    mf_json_end(&run->json, '}');
}

static void text_or_null(struct run *run, const char *key, const char *text)
{
    mf_json_key(&run->json, key);
    if (text)
        mf_json_string(&run->json, text, strlen(text));
    else
        mf_json_null(&run->json);
}

static void number_or_null(struct run *run, const char *key, bool given,
                           uint64_t number)
{
    mf_json_key(&run->json, key);
    if (given)
        mf_json_u64(&run->json, number);
    else
        mf_json_null(&run->json);
}

static void tensor_json(struct verify *verify,
                        const struct mf_verified_tensor *tensor)
{
    struct run *run = verify->run;
    bool differs = tensor->verdict == MF_VERDICT_DIFFERS;
    struct mf_tensor self, from;

    if (tensor->verdict == MF_VERDICT_MISSING) {
        begin_list(verify, LIST_MISSING);
        mf_json_string(&run->json, tensor->name.at, tensor->name.size);
        return;
    }
    begin_list(verify, LIST_TENSORS);
    mf_json_begin(&run->json, '{');
    json_str(run, "name", tensor->name);
    if (mf_tensor_at(verify->model, tensor->model, &self))
        json_text(run, "type", self.type);
    text_or_null(run, "from",
                 mf_tensor_at(verify->source, tensor->source, &from) ? from.type
                                                                     : NULL);
    json_text(run, "verdict", mf_verdict_name(tensor->verdict));
    json_bool(run, "weighted", tensor->weighted);
    text_or_null(run, "version", tensor->version);
    text_or_null(run, "reason", tensor->reason);
    json_number(run, "blocks", tensor->blocks);
    number_or_null(run, "differ", differs, tensor->differ);
    number_or_null(run, "block", differs, tensor->block);
    number_or_null(run, "offset", differs, tensor->offset);
    errors_json(run, tensor->errors);
    mf_json_end(&run->json, '}');
}

static void verdict_json(struct verify *verify)
{
    struct run *run = verify->run;

    begin_list(verify, LIST_END);
    mf_json_key(&run->json, "verdicts");
    mf_json_begin(&run->json, '{');
    for (unsigned i = 0; i < MF_VERDICT_COUNT; i++)
        json_number(run, mf_verdict_name((enum mf_verdict)i),
                    verify->result.tensors[i]);
    mf_json_end(&run->json, '}');
    json_bool(run, "strict", verify->strict);
    number_or_null(run, "effort", verify->result.effort > 0,
                   verify->result.effort);
    text_or_null(run, "statement",
                 verify->result.stated ? verify->statement : NULL);
    json_bool(run, "same", verify->result.follows);
}

/* ---- text ---- */

/* The value, after its type if that is all that differs. */
static void value_or_none(struct verify *verify, struct mf_model *model,
                          size_t index)
{
    struct mf_meta meta;

    if (!mf_meta_at(model, index, &meta)) {
        out_text(&verify->run->out, "(not in the file)");
        return;
    }
    out_format(&verify->run->out, "%s ", type_text(&meta).at);
    value_text(verify->run, model, index, false);
}

static void key_text(struct verify *verify, const struct mf_verified_key *key)
{
    struct out *out = &verify->run->out;

    out_text(out, "key '");
    out_escaped(out, key->key, "");
    if (key->what == MF_ONLY_A) {
        out_text(out, "' was removed: ");
        value_or_none(verify, verify->source, key->source);
    } else if (key->what == MF_ONLY_B) {
        out_text(out, "' was added: ");
        value_or_none(verify, verify->model, key->model);
    } else {
        out_text(out, "' was changed: ");
        value_or_none(verify, verify->source, key->source);
        out_text(out, " | ");
        value_or_none(verify, verify->model, key->model);
    }
    out_text(out, "\n");
}

/* Numbers of a type without blocks are its elements. */
static const char *unit_of(const struct verify *verify, size_t index)
{
    struct mf_type_info type;
    struct mf_tensor tensor;

    if (!mf_tensor_at(verify->model, index, &tensor))
        return "block";
    for (size_t i = 0; mf_type_at(i, &type); i++)
        if (strcmp(type.name, tensor.type) == 0)
            return type.block > 1 ? "block" : "element";
    return "byte";
}

static void differs_text(struct verify *verify,
                         const struct mf_verified_tensor *tensor)
{
    const struct mf_value_errors *errors = tensor->errors;
    const char *unit = unit_of(verify, tensor->model);
    struct out *out = &verify->run->out;
    struct mf_shard shard;
    struct mf_tensor self;

    mf_tensor_at(verify->model, tensor->model, &self);
    out_format(out,
               "differs: %s of %s %ss of %s, the first is %s at 0x%" PRIx64,
               number_text(tensor->differ).at, number_text(tensor->blocks).at,
               unit, self.type, number_text(tensor->block).at, tensor->offset);
    if (mf_model_info(verify->model)->shard_count > 1 &&
        mf_shard_at(verify->model, self.shard, &shard)) {
        out_text(out, " of ");
        out_escaped(out, str_of(shard.path), "");
    }
    if (errors)
        out_format(out,
                   "; against the source: max error %.6g, RMSE %.6g, "
                   "cosine %.9g",
                   errors->max_absolute, errors->rmse, errors->cosine);
    if (errors && errors->nan_b + errors->inf_b > 0)
        out_format(out, ", NaN or infinite: %s",
                   number_text(errors->nan_b + errors->inf_b).at);
    out_text(out, "\n");
}

static void tensor_text(struct verify *verify,
                        const struct mf_verified_tensor *tensor)
{
    struct out *out = &verify->run->out;

    if (tensor->verdict == MF_VERDICT_SAME)
        return;
    out_text(out, "tensor '");
    out_escaped(out, tensor->name, "");
    out_text(out, "' ");
    if (tensor->verdict == MF_VERDICT_DIFFERS)
        differs_text(verify, tensor);
    else if (tensor->verdict == MF_VERDICT_OTHER_VERSION)
        out_format(out, "is as the encoder of %s made it\n", tensor->version);
    else if (tensor->verdict == MF_VERDICT_MISSING)
        out_text(out, "is missing: only the source has it\n");
    else
        out_format(out, "cannot be derived: %s\n", tensor->reason);
}

static void counted(struct out *out, size_t count, const char *what)
{
    out_format(out, "%s %s%s", number_text(count).at, what,
               count == 1 ? "" : "s");
}

static void note(struct out *out, size_t count, const char *what)
{
    if (count > 0)
        out_format(out, ", %s %s", number_text(count).at, what);
}

static void verdict_text(struct verify *verify)
{
    const struct mf_verify_result *result = &verify->result;
    struct out *out = &verify->run->out;

    out_escaped(out, str_of(verify->path), "");
    out_text(out,
             result->follows ? " follows from " : " does not follow from ");
    out_escaped(out, str_of(verify->from), "");
    out_text(out, ": ");
    counted(out, mf_model_info(verify->model)->tensor_count, "tensor");
    note(out, verify->weighted, "of them with the importance matrix");
    if (result->effort > 1)
        out_format(out, ", with effort %" PRIu32, result->effort);
    note(out, result->tensors[MF_VERDICT_OTHER_VERSION],
         "by another version's encoder");
    note(out, result->tensors[MF_VERDICT_DIFFERS], "different");
    note(out, result->tensors[MF_VERDICT_NOT_DERIVABLE], "not derivable");
    note(out, result->tensors[MF_VERDICT_MISSING], "missing");
    if (result->changed_keys > 0) {
        out_text(out, "; ");
        counted(out, result->changed_keys, "key");
        out_text(out, verify->strict ? " changed" : " changed (not counted)");
    }
    out_text(out, "\n");
}

/* ---- either ---- */

void verify_key(void *user, const struct mf_verified_key *key)
{
    struct verify *verify = user;

    if (verify->run->options->json)
        key_json(verify, key);
    else if (!verify->silent)
        key_text(verify, key);
}

void verify_tensor(void *user, const struct mf_verified_tensor *tensor)
{
    struct verify *verify = user;

    verify->weighted += tensor->weighted;
    if (verify->run->options->json)
        tensor_json(verify, tensor);
    else if (!verify->silent)
        tensor_text(verify, tensor);
}

void verify_verdict(struct verify *verify)
{
    if (verify->run->options->json)
        verdict_json(verify);
    else if (!verify->silent)
        verdict_text(verify);
}
