/* SPDX-License-Identifier: MIT
 *
 * tables.c - pages of the manual that explain what the library knows
 */
#include <inttypes.h>
#include <stdio.h>
#include <string.h>

#include "cli/commands/help/manual.h"
#include "cli/commands/help/roff.h"
#include "cli/formats.h"
#include "cli/rules_text.h"

static void begin(struct run *run, const char *name, const char *summary,
                  const char *description)
{
    roff_name(&run->out, name, 7, summary);
    roff_heading(&run->out, "DESCRIPTION");
    roff_text(&run->out, description);
}

/* ---- modelfile-rules(7) ---- */

/* "An error for: spec, llama.cpp" */
static void readers_line(struct run *run, const struct mf_rule_info *rule)
{
    const char *before = rule->when_asked ? ".PP\nAn error only with --for: "
                                          : ".PP\nAn error for: ";

    for (unsigned bit = 1; bit <= rule->readers; bit *= 2)
        if (rule->readers & bit) {
            out_text(&run->out, before);
            roff_part(&run->out, mf_readers_name((enum mf_readers)bit));
            before = ", ";
        }
    if (rule->readers != 0)
        out_text(&run->out, ".\n");
}

static void attack_tags(struct run *run)
{
    struct mf_attack_info attack;

    roff_heading(&run->out, "ATTACKS AND CRASHES");
    for (size_t i = 0; mf_attack_at(i, &attack); i++) {
        char text[400];

        snprintf(text, sizeof(text), "%s: %s.", attack.rule, attack.meaning);
        roff_tag(&run->out, attack.id, text);
    }
}

void manual_rules(struct run *run)
{
    struct mf_rule_info rule;
    struct rule_texts texts;

    if (!rule_texts_open(run, &texts))
        return;
    begin(run, "modelfile-rules", "what modelfile validate checks",
          "A rule is one thing that can be wrong with a model file. modelfile "
          "validate checks a file against all of them; --ignore and --baseline "
          "accept findings of a rule by its id, and --explain prints what is "
          "here. Ids do not change in later versions.\n");
    roff_heading(&run->out, "RULES");
    for (size_t i = 0; mf_rule_at(i, &rule); i++) {
        char tag[100];

        snprintf(tag, sizeof(tag), "%s (%s)", rule.id,
                 mf_severity_name(rule.severity));
        roff_subheading(&run->out, tag);
        roff_text(&run->out, rule_text(&texts, rule.id));
        readers_line(run, &rule);
    }
    rule_texts_close(&texts);
    attack_tags(run);
    roff_heading(&run->out, "SEE ALSO");
    roff_reference(&run->out, "modelfile-validate", 1, "");
}

/* ---- modelfile-types(7) ---- */

/* "32 elements in 18 bytes, 4.5 bits each; number 2 of ggml; in gguf, apr." */
static void type_tag(struct run *run, const struct mf_type_info *type)
{
    struct mf_format_info format;
    const char *before = "; in ";
    char text[400];
    int size =
        snprintf(text, sizeof(text),
                 "%" PRIu32 " element%s in %" PRIu32 " byte%s, %.6g bits each",
                 type->block, type->block == 1 ? "" : "s", type->size,
                 type->size == 1 ? "" : "s", 8.0 * type->size / type->block);

    if (type->ggml >= 0)
        size += snprintf(text + size, sizeof(text) - (size_t)size,
                         "; number %d of ggml", (int)type->ggml);
    for (size_t i = 0; mf_format_at(i, &format); i++)
        if (formats_is_main(&format) && mf_type_in(type->name, format.name)) {
            size += snprintf(text + size, sizeof(text) - (size_t)size, "%s%s",
                             before, format.name);
            before = ", ";
        }
    snprintf(text + size, sizeof(text) - (size_t)size, ".");
    roff_tag(&run->out, type->name, text);
}

static void mix_tag(struct run *run, const struct mf_mix_info *mix)
{
    char text[200];

    snprintf(text, sizeof(text), "%s%s; file type %" PRIu32 "%s.",
             *mix->type ? "Most tensors become " : "No tensor changes",
             mix->type, mix->file_type,
             mix->needs_imatrix ? "; an importance matrix is needed" : "");
    roff_tag(&run->out, mix->name, text);
}

void manual_types(struct run *run)
{
    struct mf_type_info type;
    struct mf_mix_info mix;

    begin(run, "modelfile-types", "types of tensors, and mixes of types",
          "Tensors are stored in one of these types. Quantized types keep a "
          "block of elements together, with scales of their own; bits are "
          "counted with these. A mix gives each tensor a type by its name and "
          "its place in the model, as llama-quantize does.\n");
    roff_heading(&run->out, "TYPES");
    for (size_t i = 0; mf_type_at(i, &type); i++)
        type_tag(run, &type);
    roff_heading(&run->out, "MIXES");
    for (size_t i = 0; mf_mix_at(i, &mix); i++)
        if (mix.available)
            mix_tag(run, &mix);
    roff_heading(&run->out, "SEE ALSO");
    roff_reference(&run->out, "modelfile-quantize", 1, ",");
    roff_reference(&run->out, "modelfile-convert", 1, "");
}
