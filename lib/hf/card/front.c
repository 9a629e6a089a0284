/* SPDX-License-Identifier: MIT
 *
 * front.c - the front matter of README.md
 *
 * That is the text between a first line "---" and the next one, or the end. It
 * is read as llama.cpp's converter prepares it: with two spaces for a tab, and
 * with quotes for a "no" at the end of a list's line, which is Norwegian.
 */
#include "lib/base/text.h"
#include "lib/folder/sidecar.h"
#include "lib/hf/card/card.h"
#include "lib/model/nearby.h"
#include "lib/yaml/yaml.h"

#define README "README.md"

/* Bytes of a front matter at most. */
#define FRONT_MAX ((uint64_t)1024 * 1024)

struct front {
    struct mf_reader *reader;
    char *text;
    size_t size, line; /* bytes, and where the last line begins */
};

/* Takes the line break that begins here: of bytes and characters, those that
 * Python knows.  False: there is none. */
static bool take_break(struct mf_reader *reader)
{
    uint64_t start = mf_reader_offset(reader);
    int first = mf_peek(reader), second;

    if ((first >= '\n' && first <= '\r') || (first >= 0x1c && first <= 0x1e)) {
        mf_skip(reader, 1);
        if (first == '\r' && mf_peek(reader) == '\n')
            mf_skip(reader, 1);
        return true;
    }
    if (first != 0xc2 && first != 0xe2)
        return false;
    mf_skip(reader, 1);
    second = mf_peek(reader);
    mf_skip(reader, 1);
    if (first == 0xc2 ? second == 0x85
                      : second == 0x80 && (mf_peek(reader) | 1) == 0xa9) {
        mf_skip(reader, first == 0xe2);
        return true;
    }
    mf_reader_seek(reader, start);
    return false;
}

static void end_line(struct front *front)
{
    static const char quoted[] = "\"no\"";
    char *end = front->text + front->size;

    if (front->size - front->line >= 4 && memcmp(end - 4, "- no", 4) == 0) {
        memcpy(end - 2, quoted, 4);
        front->size += 2;
    }
    front->text[front->size++] = '\n';
    front->line = front->size;
}

/* Whether the line that was read ends the front matter. */
static bool is_mark(const struct front *front)
{
    return front->size - front->line == 3 &&
           memcmp(front->text + front->line, "---", 3) == 0;
}

/* Takes a line without its end. */
static enum mf_status take_line(struct front *front, size_t room)
{
    struct mf_reader *reader = front->reader;

    while (mf_reader_left(reader) > 0 && !take_break(reader)) {
        char c = (char)mf_take_u8(reader);

        if (reader->failed)
            return reader->env->error.status;
        if (front->size + 8 > room)
            return mf_fail(reader->env, MF_ERR_LIMIT, MF_NO_OFFSET,
                           "the front matter has more than %" PRIu64 " bytes",
                           FRONT_MAX);
        if (c == '\t')
            front->text[front->size++] = ' ';
        front->text[front->size++] = c == '\t' ? ' ' : c;
    }
    return MF_OK;
}

/* Takes the first line, if it begins a front matter. */
static bool take_mark(struct mf_reader *reader)
{
    for (int i = 0; i < 3; i++) {
        if (mf_peek(reader) != '-')
            return false;
        mf_skip(reader, 1);
    }
    return mf_reader_left(reader) == 0 || take_break(reader);
}

static enum mf_status take_lines(struct front *front, size_t room)
{
    enum mf_status status = MF_OK;

    while (status == MF_OK && mf_reader_left(front->reader) > 0) {
        status = take_line(front, room);
        if (is_mark(front)) {
            front->size = front->line;
            break;
        }
        end_line(front);
    }
    return status;
}

static enum mf_status read(struct mf_reader *reader, struct mf_arena *arena,
                           struct mf_node **root)
{
    uint64_t left = mf_reader_left(reader);
    size_t room = (size_t)(left < FRONT_MAX / 2 ? left * 2 : FRONT_MAX) + 16;
    struct front front = { .reader = reader };
    enum mf_status status;
    bool has_nul;

    if (!mf_pass_text(reader, left, &has_nul))
        return reader->failed ? reader->env->error.status
                              : mf_fail(reader->env, MF_ERR_CORRUPT,
                                        MF_NO_OFFSET, "it is not UTF-8");
    mf_reader_seek(reader, 0);
    if (!take_mark(reader))
        return reader->env->error.status;
    front.text = mf_arena_text(arena, room);
    if (!front.text)
        return reader->env->error.status;
    status = take_lines(&front, room);
    if (status != MF_OK)
        return status;
    front.text[front.size] = 0;
    status = mf_yaml_read(reader->env, arena,
                          (struct mf_str){ front.text, front.size }, root);
    if (status == MF_OK && (*root)->kind != MF_NODE_OBJECT)
        *root = NULL;
    return status;
}

enum mf_status mf_card_front(const struct mf_model *model,
                             struct mf_arena *arena, struct mf_node **root)
{
    struct mf_sidecar file;
    enum mf_status status;

    *root = NULL;
    if (!mf_nearby_any(model) || !mf_sidecar_exists(model, arena, README))
        return model->env->error.status;
    status = mf_sidecar_open(&file, model, arena, README);
    if (status == MF_OK)
        status = read(&file.reader, arena, root);
    return mf_sidecar_close(&file, status);
}
