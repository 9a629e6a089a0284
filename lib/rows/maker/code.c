/* SPDX-License-Identifier: MIT
 *
 * code.c - expressions as bytes, and what they consist of
 */
#include "lib/rows/maker/code.h"

#include <stdlib.h>
#include <string.h>

#include "lib/rows/maker/group.h"

/* ---- bytes and texts ---- */

static void add_byte(struct bytes *bytes, size_t value)
{
    if (bytes->size == bytes->room) {
        bytes->room = bytes->room ? 2 * bytes->room : 4096;
        bytes->at = take_memory(bytes->at, bytes->room);
    }
    bytes->at[bytes->size++] = (unsigned char)value;
}

/* More than a byte, two, or three can say is more than any row needs. */
static void expect_at_most(const struct program *program, size_t value,
                           size_t most)
{
    if (value <= most)
        return;
    row_error(program->row,
              "it is too long: %zu parts or bytes, at most %zu are possible",
              value, most);
    exit(2);
}

void put_byte(struct writing *to, size_t value)
{
    expect_at_most(to->program, value, 0xff);
    add_byte(&to->program->code, value);
}

void put_two(struct writing *to, size_t value)
{
    expect_at_most(to->program, value, 0xffff);
    add_byte(&to->program->code, value & 0xff);
    add_byte(&to->program->code, value >> 8);
}

size_t begin_byte(struct writing *to)
{
    put_byte(to, 0);
    return to->program->code.size - 1;
}

void end_byte(struct writing *to, size_t begun, size_t value)
{
    expect_at_most(to->program, value, 0xff);
    to->program->code.at[begun] = (unsigned char)value;
}

size_t begin_size(struct writing *to)
{
    put_two(to, 0);
    return to->program->code.size;
}

static void set_size(struct writing *to, size_t begun, size_t size)
{
    expect_at_most(to->program, size, 0xffff);
    to->program->code.at[begun - 2] = (unsigned char)(size & 0xff);
    to->program->code.at[begun - 1] = (unsigned char)(size >> 8);
}

void end_size(struct writing *to, size_t begun)
{
    set_size(to, begun, to->program->code.size - begun);
}

size_t text_place(struct program *program, struct text text)
{
    size_t place = pool_place(&program->pool, text, 3);

    if (place < program->texts.size)
        return place;
    expect_at_most(program, text.size, 0xffff);
    add_byte(&program->texts, text.size & 0xff);
    add_byte(&program->texts, text.size >> 8);
    for (size_t i = 0; i < text.size; i++)
        add_byte(&program->texts, (unsigned char)text.at[i]);
    add_byte(&program->texts, 0);
    return place;
}

void put_text(struct writing *to, struct text text)
{
    size_t place = text_place(to->program, text);

    expect_at_most(to->program, place, 0xffffff);
    put_two(to, place & 0xffff);
    put_byte(to, place >> 16);
}

/* ---- words ---- */

/* Of rows of `let`, which see no parameters, there is no part. */
static size_t parameter(const struct writing *to, struct text name)
{
    return to->part ? rows_parameter(to->part, name) : 0;
}

void put_word(struct writing *to, struct text text)
{
    put_byte(to, parameter(to, text));
    put_text(to, text);
}

/* A piece of a pattern: "{w}", or all up to the next one. */
static struct text take_piece(struct text *rest, bool *named)
{
    struct text piece = { rest->at, 0 };

    *named = *rest->at == '{';
    while (piece.size < rest->size &&
           rest->at[piece.size] != (*named ? '}' : '{'))
        piece.size++;
    rest->at += piece.size + *named;
    rest->size -= piece.size + *named;
    if (*named)
        piece = (struct text){ piece.at + 1, piece.size - 1 };
    return piece;
}

/* One that is all a name is a parameter without braces. */
void put_pattern(struct writing *to, struct text text)
{
    struct text rest = text;
    size_t count = 0;
    bool named;

    if (parameter(to, text) > 0) {
        put_byte(to, 1);
        put_word(to, text);
        return;
    }
    for (; rest.size > 0; count++)
        take_piece(&rest, &named);
    put_byte(to, count);
    while (text.size > 0) {
        struct text piece = take_piece(&text, &named);

        put_byte(to, named ? parameter(to, piece) : 0);
        put_text(to, piece);
    }
}

/* ---- expressions ---- */

static void put_node(struct writing *to, const struct node *node);

static void put_number(struct writing *to, struct text digits)
{
    unsigned long long value = 0;

    for (size_t i = 0; i < digits.size; i++)
        value = value * 10 + (unsigned long long)(digits.at[i] - '0');
    for (unsigned i = 0; i < 8; i++)
        put_byte(to, value >> 8 * i & 0xff);
}

static void put_path(struct writing *to, const struct node *path)
{
    size_t count = 1;

    for (const struct node *each = path->child; each; each = each->next)
        count++;
    put_byte(to, count);
    put_text(to, path->text);
    for (const struct node *each = path->child; each; each = each->next)
        put_text(to, each->text);
}

static void put_argument(struct writing *to, const struct node *node)
{
    if (node->letter == 'x') {
        put_node(to, node);
        return;
    }
    put_byte(to, node->letter == 'p'   ? MF_IS_PATH
                 : node->letter == 'k' ? MF_IS_KEY
                 : node->letter == 'w' ? MF_IS_PATTERN
                                       : MF_IS_TEXT);
    if (node->letter == 'p')
        put_path(to, node);
    else if (node->letter == 'w')
        put_pattern(to, node->text);
    else
        put_text(to, node->text);
}

static void put_call(struct writing *to, const struct node *node)
{
    size_t begun, count = 0;

    put_byte(to, node->number);
    begun = begin_size(to);
    for (const struct node *each = node->child; each; each = each->next)
        count++;
    put_byte(to, count);
    for (const struct node *each = node->child; each; each = each->next)
        put_argument(to, each);
    if (to->json && strchr(to->functions[node->number].arguments, '+'))
        put_text(to, node->text);
    end_size(to, begun);
}

static void put_name(struct writing *to, struct text name)
{
    bool is_parameter = parameter(to, name) > 0;

    put_byte(to, is_parameter ? MF_IS_PARAMETER : MF_IS_NAME);
    if (is_parameter)
        put_word(to, name);
    else
        put_text(to, name);
}

static void put_operation(struct writing *to, const struct node *node)
{
    bool divides = node->kind == MF_IS_DIVIDE || node->kind == MF_IS_QUOTIENT ||
                   node->kind == MF_IS_REMAINDER;

    if (divides) /* only errors about values of JSON name it */
        put_text(to, to->json ? node->text : (struct text){ "", 0 });
    for (const struct node *each = node->child; each; each = each->next)
        put_node(to, each);
}

/* The sizes of all children but the first one come first. */
static void put_sized(struct writing *to, const struct node *node)
{
    size_t place[2] = { 0, 0 }, at = 0;

    for (const struct node *each = node->child->next; each; each = each->next)
        place[at++] = begin_size(to);
    put_node(to, node->child);
    at = 0;
    for (const struct node *each = node->child->next; each; each = each->next) {
        size_t begin = to->program->code.size;

        put_node(to, each);
        set_size(to, place[at++], to->program->code.size - begin);
    }
}

static void put_node(struct writing *to, const struct node *node)
{
    if (node->kind == MF_IS_NAME) {
        put_name(to, node->text);
        return;
    }
    put_byte(to, node->kind);
    switch (node->kind) {
    case MF_IS_NUMBER:
        put_number(to, node->text);
        break;
    case MF_IS_REAL:
    case MF_IS_TEXT:
        put_text(to, node->text);
        break;
    case MF_IS_LENGTH:
        put_word(to, node->text);
        put_byte(to, node->number);
        break;
    case MF_IS_MEMBER:
        put_text(to, node->text);
        put_node(to, node->child);
        break;
    case MF_IS_AND:
    case MF_IS_OR:
    case MF_IS_CHOICE:
        put_sized(to, node);
        break;
    case MF_IS_LIST:
        put_byte(to, node->number);
        put_operation(to, node);
        break;
    case MF_IS_CALL:
        put_call(to, node);
        break;
    default:
        put_operation(to, node);
        break;
    }
}

static void any_name(void *user, const struct row *row, struct text name,
                     struct text whole)
{
    (void)user, (void)row, (void)name, (void)whole;
}

static void any_tensor(void *user, const struct row *row, struct text name)
{
    (void)user, (void)row, (void)name;
}

/* It was checked: what is wrong with it was said. */
void put_expression(struct writing *to, struct text *text)
{
    static const struct row none = { "rows", 0, "", false };
    struct expression expression = { .row = &none,
                                     .functions = to->functions,
                                     .json = to->json,
                                     .name = any_name,
                                     .length = to->json ? NULL : any_tensor };
    struct node *node = expression_take(&expression, text);

    if (node)
        put_node(to, node);
}
