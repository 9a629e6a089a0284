/* SPDX-License-Identifier: MIT
 *
 * templates_note.c - what a report says, as findings
 */
#include "lib/vocab/templates.h"

static uint64_t offset_of(const struct mf_template_use *use,
                          const struct mf_template_place *place)
{
    return use->plain ? use->offset + place->offset : use->offset;
}

static void note_error(struct mf_index *index,
                       const struct mf_template_use *use,
                       const struct mf_template_error *error,
                       enum mf_severity severity, const char *consequence)
{
    mf_index_note(index, use->shard,
                  error->deep && severity == MF_ERROR ? MF_WARNING : severity,
                  MF_RULE_TEMPLATE_SYNTAX, offset_of(use, &error->place),
                  "'%s', line %" PRIu64 ", column %" PRIu64 ": %s; %s",
                  mf_quote(use->name).text, error->place.line,
                  error->place.column, error->message, consequence);
}

/* One finding where both readers stop for one reason. */
static void note_errors(struct mf_index *index,
                        const struct mf_template_use *use,
                        const struct mf_template_report *report)
{
    const struct mf_template_error *llama = &report->error[MF_TEMPLATE_LLAMA],
                                   *jinja2 = &report->error[MF_TEMPLATE_JINJA2];

    if (llama->failed)
        note_error(index, use, llama, use->llama, use->llama_does);
    if (jinja2->failed && (!llama->failed || use->jinja2 > use->llama))
        note_error(index, use, jinja2, use->jinja2,
                   "jinja2, which transformers uses, does not accept it");
}

static void note_name(struct mf_index *index, const struct mf_template_use *use,
                      const struct mf_template_finding *found,
                      const char *reader)
{
    struct mf_str text = { found->text, found->text_size };

    if (found->count > 0)
        mf_index_note(index, use->shard, MF_WARNING, MF_RULE_TEMPLATE_NAME,
                      offset_of(use, &found->place),
                      "'%s', line %" PRIu64 ": %s has no filter or test '%s', "
                      "and fails where it is used",
                      mf_quote(use->name).text, found->place.line, reader,
                      mf_quote(text).text);
}

static void note_flag(struct mf_index *index, const struct mf_template_use *use,
                      const struct mf_template_finding *found,
                      enum mf_rule rule, const char *what)
{
    struct mf_str text = { found->text, found->text_size };

    if (found->count > 0)
        mf_index_note(
            index, use->shard, MF_WARNING, rule, offset_of(use, &found->place),
            "'%s', line %" PRIu64 ": %s '%s'", mf_quote(use->name).text,
            found->place.line, what, mf_quote(text).text);
}

void mf_template_note(struct mf_index *index, const struct mf_template_use *use,
                      const struct mf_template_report *report)
{
    const struct mf_template_finding *flag = report->flag,
                                     *hidden = &flag[MF_TEMPLATE_HIDDEN],
                                     *depends = &flag[MF_TEMPLATE_CONDITION];
    struct mf_str literal = { depends->text, depends->text_size };

    note_errors(index, use, report);
    if (use->llama > use->jinja2)
        note_name(index, use, &flag[MF_TEMPLATE_NAME_LLAMA], "llama.cpp");
    else
        note_name(index, use, &flag[MF_TEMPLATE_NAME_JINJA2], "jinja2");
    if (hidden->count > 0)
        mf_index_note(index, use->shard, MF_WARNING, MF_RULE_TEMPLATE_HIDDEN,
                      offset_of(use, &hidden->place),
                      "'%s' contains %" PRIu64 " invisible characters; the "
                      "first is U+%04" PRIX32 " in line %" PRIu64
                      ", column %" PRIu64,
                      mf_quote(use->name).text, hidden->count, hidden->detail,
                      hidden->place.line, hidden->place.column);
    note_flag(index, use, &flag[MF_TEMPLATE_CODE], MF_RULE_TEMPLATE_CODE,
              "reaches out of the template:");
    if (depends->count > 0)
        mf_index_note(index, use->shard, MF_WARNING, MF_RULE_TEMPLATE_CONDITION,
                      offset_of(use, &depends->place),
                      "'%s', line %" PRIu64 ": %" PRIu32 " words depend on "
                      "whether a message says '%s'",
                      mf_quote(use->name).text, depends->place.line,
                      depends->detail, mf_quote(literal).text);
    note_flag(index, use, &flag[MF_TEMPLATE_URL], MF_RULE_TEMPLATE_URL,
              "contains the address");
}
