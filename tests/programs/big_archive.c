/* SPDX-License-Identifier: MIT
 *
 * big_archive.c - writes archives and a Parquet file of real proportions
 *
 *     big_archive stored|300|20000|deflated|transposed|zeros|chunks OUT
 *
 *     stored    a checkpoint of PyTorch: 8 tensors of 64 MiB, noise
 *     300       300 tensors of 32 MiB, 20000 of them of 512 KiB: holes
 *     deflated  an npz of 32 equal arrays of 4 MiB, each compressed: numbers
 *               of which half the bytes are zero
 *     transposed  the same with one array of 16 MiB, columns first
 *     zeros     an npz of one array of 14 MB, more than 1000 to 1
 *     chunks    the footer of a table of 1000 columns and 1000 groups of rows
 *
 * A kind always gives the same bytes.
 */
#include <errno.h>
#include <inttypes.h>
#include <stdbool.h>
#include <string.h>
#include <zlib.h>

#include "sparse.h"

enum { MIB = 1 << 20, TENSORS_MAX = 20000 };

/* ---- data ---- */

static uint8_t noise[MIB];

/* No number is infinite: bit 6 of each byte is clear, and that is the highest
 * bit of an exponent.  Bytes that `mask` clears are zero. */
static void make_noise(uint64_t mask)
{
    static uint64_t state = 0x9E3779B97F4A7C15;

    for (size_t i = 0; i < sizeof(noise); i += 8) {
        state ^= state << 13;
        state ^= state >> 7;
        state ^= state << 17;
        encode(state & mask & 0xbfbfbfbfbfbfbfbf, noise + i);
    }
}

/* ---- zip ---- */

enum { STORED = 0, DEFLATED = 8, ALIGNMENT = 64 };

static struct member {
    char name[32];
    uint64_t local;
    uint32_t crc, packed, size;
    unsigned method;
} members[TENSORS_MAX + 3];
static unsigned member_count;

static void put_fields(struct out *out, const struct member *member)
{
    put_int(out, 45, 2); /* version that is needed */
    put_int(out, 0, 2);
    put_int(out, member->method, 2);
    put_int(out, 0x210000, 4); /* 1980-01-01 */
    put_int(out, member->crc, 4);
    put_int(out, member->packed, 4);
    put_int(out, member->size, 4);
    put_int(out, strlen(member->name), 2);
}

/* Puts the header of the member that is filled in, and pads it as PyTorch
 * does. */
static void put_local(struct out *out)
{
    struct member *member = &members[member_count++];
    uint64_t at = out->at + 30 + strlen(member->name) + 4;
    uint64_t padding = round_up(at, ALIGNMENT) - at;

    member->local = out->at;
    put_text(out, "PK\3\4");
    put_fields(out, member);
    put_int(out, padding + 4, 2);
    put_text(out, member->name);
    put_text(out, "FB");
    put_int(out, padding, 2);
    pad(out, ALIGNMENT, 'Z');
}

/* Every record has its place in 64 bits. */
static void put_directory(struct out *out)
{
    uint64_t start = out->at, end;

    for (unsigned i = 0; i < member_count; i++) {
        put_text(out, "PK\1\2");
        put_int(out, 45, 2);
        put_fields(out, &members[i]);
        put_int(out, 12, 2); /* extra */
        put_int(out, 0, 8);
        put_int(out, 0, 2);
        put_int(out, UINT32_MAX, 4);
        put_text(out, members[i].name);
        put_int(out, 1, 2);
        put_int(out, 8, 2);
        put_int(out, members[i].local, 8);
    }
    end = out->at;
    put_text(out, "PK\6\6");
    put_int(out, 44, 8);
    put_int(out, 45 | 45 << 16, 4);
    put_int(out, 0, 8);
    put_int(out, member_count, 8);
    put_int(out, member_count, 8);
    put_int(out, end - start, 8);
    put_int(out, start, 8);
    put_text(out, "PK\6\7");
    put_int(out, 0, 4);
    put_int(out, end, 8);
    put_int(out, 1, 4);
    put_text(out, "PK\5\6");
    put_int(out, UINT32_MAX, 4); /* parts; the rest in 64 bits */
    put_int(out, UINT64_MAX, 8);
    put_int(out, UINT32_MAX, 4);
    put_int(out, 0, 2);
}

static void add_member(struct out *out, const char *name, const void *bytes,
                       size_t size)
{
    struct member *member = &members[member_count];

    snprintf(member->name, sizeof(member->name), "%s", name);
    member->crc = (uint32_t)crc32(0, bytes, (uInt)size);
    member->packed = member->size = (uint32_t)size;
    put_local(out);
    put(out, bytes, size);
}

/* ---- a checkpoint ---- */

static struct bytes {
    uint8_t at[8 * MIB];
    size_t size;
} pickle;

static void add(const void *bytes, size_t size)
{
    memcpy(pickle.at + pickle.size, bytes, size);
    pickle.size += size;
}

static void add_text(const char *text)
{
    add(text, strlen(text));
}

static void add_int(uint64_t value, size_t size)
{
    uint8_t bytes[8];

    encode(value, bytes);
    add(bytes, size);
}

static void add_string(const char *text)
{
    add_text("X");
    add_int(strlen(text), 4);
    add_text(text);
}

/* An entry of a state_dict, as PyTorch writes it: a matrix of 1024 columns in a
 * storage of its own.  Memo 0, 1 and 2 are the globals. */
static void add_tensor(unsigned i, uint64_t elements)
{
    char name[48];

    snprintf(name, sizeof(name), "model.layers.%u.mlp.%u.weight", i / 8, i % 8);
    add_string(name);
    add_text(i == 0 ? "ctorch._utils\n_rebuild_tensor_v2\nq" : "h");
    add_int(0, 1);
    add_text("((");
    add_string("storage");
    add_text(i == 0 ? "ctorch\nFloatStorage\nq" : "h");
    add_int(1, 1);
    snprintf(name, sizeof(name), "%u", i);
    add_string(name);
    add_string("cpu");
    add_text("J");
    add_int(elements, 4);
    add_text("tQK");
    add_int(0, 1);
    add_text("J");
    add_int(elements / 1024, 4);
    add_text("M");
    add_int(1024, 2);
    add_text("\206M");
    add_int(1024, 2);
    add_text("K\1\206\x89");
    add_text(i == 0 ? "ccollections\nOrderedDict\nq" : "h");
    add_int(2, 1);
    add_text(")RtR");
}

static void put_checkpoint(struct out *out, unsigned tensors, uint32_t size,
                           bool is_hole)
{
    uint32_t crc = 0;

    make_noise(is_hole ? 0 : UINT64_MAX);
    for (uint32_t done = 0; done < size; done += MIB)
        crc =
            (uint32_t)crc32(crc, noise, size - done < MIB ? size - done : MIB);
    add_text("\200\2}(");
    for (unsigned i = 0; i < tensors; i++)
        add_tensor(i, size / 4);
    add_text("u.");
    add_member(out, "model/data.pkl", pickle.at, pickle.size);
    add_member(out, "model/byteorder", "little", 6);
    for (unsigned i = 0; i < tensors; i++) {
        struct member *member = &members[member_count];

        snprintf(member->name, sizeof(member->name), "model/data/%u", i);
        member->crc = crc;
        member->packed = member->size = size;
        put_local(out);
        if (is_hole)
            put_hole(out, size);
        for (uint32_t done = 0; !is_hole && done < size; done += MIB)
            put(out, noise, MIB);
    }
    add_member(out, "model/version", "3\n", 2);
    put_directory(out);
}

static void put_stored(struct out *out)
{
    put_checkpoint(out, 8, 64 * MIB, false);
}

static void put_300(struct out *out)
{
    put_checkpoint(out, 300, 32 * MIB, true);
}

static void put_20000(struct out *out)
{
    put_checkpoint(out, 20000, MIB / 2, true);
}

/* ---- compressed arrays ---- */

enum { NPY_HEADER = 128, ARRAY_MAX = 16 * MIB };

/* Equal arrays of square shape; bits that `mask` clears are zero. */
static void put_arrays(struct out *out, unsigned count, size_t rows,
                       bool columns_first, uint64_t mask)
{
    static uint8_t array[NPY_HEADER + ARRAY_MAX],
        packed[NPY_HEADER + ARRAY_MAX];
    size_t size = rows * rows * 4;
    z_stream z = { .next_in = array,
                   .avail_in = (uInt)(NPY_HEADER + size),
                   .next_out = packed,
                   .avail_out = sizeof(packed) };

    memset(array, ' ', NPY_HEADER);
    memcpy(array, "\x93NUMPY\1\0\x76\0", 10);
    array[10 + snprintf((char *)array + 10, NPY_HEADER - 10,
                        "{'descr': '<f4', 'fortran_order': %s, "
                        "'shape': (%zu, %zu), }",
                        columns_first ? "True" : "False", rows, rows)] = ' ';
    array[NPY_HEADER - 1] = '\n';
    for (size_t at = 0; at < size; at += MIB) {
        make_noise(mask);
        memcpy(array + NPY_HEADER + at, noise, MIB);
    }
    deflateInit2(&z, Z_DEFAULT_COMPRESSION, Z_DEFLATED, -MAX_WBITS, 8,
                 Z_DEFAULT_STRATEGY);
    deflate(&z, Z_FINISH);
    deflateEnd(&z);
    for (unsigned i = 0; i < count; i++) {
        struct member *member = &members[member_count];

        snprintf(member->name, sizeof(member->name), "array%u.npy", i);
        member->method = DEFLATED;
        member->size = (uint32_t)(NPY_HEADER + size);
        member->crc = (uint32_t)crc32(0, array, member->size);
        member->packed = (uint32_t)z.total_out;
        put_local(out);
        put(out, packed, member->packed);
    }
    put_directory(out);
}

#define HALVES 0xffff0000ffff0000

static void put_deflated(struct out *out)
{
    put_arrays(out, 32, 1024, false, HALVES);
}

static void put_transposed(struct out *out)
{
    put_arrays(out, 1, 2048, true, HALVES);
}

static void put_zeros(struct out *out)
{
    put_arrays(out, 1, 1900, false, 0);
}

/* ---- a table ---- */

enum { COLUMNS = 1000, GROUPS = 1000, CHUNK = 1000, PATH = 6 };

/* Types of Thrift's compact protocol. */
enum { I32 = 5, I64 = 6, TEXT = 8, LIST = 9, STRUCT = 12 };

static void put_varint(struct out *out, uint64_t value)
{
    for (; value >= 0x80; value >>= 7)
        put_int(out, value | 0x80, 1);
    put_int(out, value, 1);
}

/* A field so many after the last one. */
static void put_field(struct out *out, unsigned after, unsigned type)
{
    put_int(out, after << 4 | type, 1);
}

static void put_number(struct out *out, unsigned after, unsigned type,
                       uint64_t value)
{
    put_field(out, after, type);
    put_varint(out, value << 1);
}

static void put_list(struct out *out, unsigned after, unsigned type,
                     uint64_t count)
{
    put_field(out, after, LIST);
    put_int(out, 0xf0 | type, 1);
    put_varint(out, count);
}

static void put_path(struct out *out, unsigned column)
{
    char path[16];

    put_varint(out, PATH);
    snprintf(path, sizeof(path), "c%05u", column);
    put_text(out, path);
}

static void put_schema(struct out *out)
{
    put_list(out, 1, STRUCT, COLUMNS + 1);
    put_field(out, 4, TEXT);
    put_varint(out, 1);
    put_text(out, "t");
    put_number(out, 1, I32, COLUMNS);
    put_int(out, 0, 1);
    for (unsigned i = 0; i < COLUMNS; i++) {
        put_number(out, 1, I32, 2); /* INT64 */
        put_number(out, 2, I32, 0); /* required */
        put_field(out, 1, TEXT);
        put_path(out, i);
        put_int(out, 0, 1);
    }
}

static void put_chunk(struct out *out, unsigned column, uint64_t at)
{
    put_number(out, 2, I64, at);
    put_field(out, 1, STRUCT);
    put_number(out, 1, I32, 2);
    put_list(out, 1, I32, 2);
    put_varint(out, 0);      /* PLAIN */
    put_varint(out, 3 << 1); /* RLE */
    put_list(out, 1, TEXT, 1);
    put_path(out, column);
    put_number(out, 1, I32, 0);
    put_number(out, 1, I64, CHUNK / 8);
    put_number(out, 1, I64, CHUNK);
    put_number(out, 1, I64, CHUNK);
    put_number(out, 2, I64, at);
    put_int(out, 0, 2);
}

static void put_chunks(struct out *out)
{
    uint64_t at = 4, footer;

    put_text(out, "PAR1");
    put_hole(out, (uint64_t)COLUMNS * GROUPS * CHUNK);
    footer = out->at;
    put_number(out, 1, I32, 2);
    put_schema(out);
    put_number(out, 1, I64, GROUPS * (CHUNK / 8));
    put_list(out, 1, STRUCT, GROUPS);
    for (unsigned i = 0; i < GROUPS; i++) {
        put_list(out, 1, STRUCT, COLUMNS);
        for (unsigned k = 0; k < COLUMNS; k++, at += CHUNK)
            put_chunk(out, k, at);
        put_number(out, 1, I64, (uint64_t)COLUMNS * CHUNK);
        put_number(out, 1, I64, CHUNK / 8);
        put_int(out, 0, 1);
    }
    put_int(out, 0, 1);
    put_int(out, out->at - footer, 4);
    put_text(out, "PAR1");
}

/* ---- the kinds ---- */

static const struct kind {
    const char *name;
    void (*put)(struct out *out);
} kinds[] = {
    { "stored", put_stored },         { "300", put_300 },
    { "20000", put_20000 },           { "deflated", put_deflated },
    { "transposed", put_transposed }, { "zeros", put_zeros },
    { "chunks", put_chunks },
};

int main(int argc, char **argv)
{
    struct out out;

    for (size_t i = 0; argc == 3 && i < sizeof(kinds) / sizeof(*kinds); i++) {
        if (strcmp(kinds[i].name, argv[1]) != 0)
            continue;
        out_open(&out, argv[2]);
        kinds[i].put(&out);
        if (out_close(&out) == 0)
            return 0;
        perror(argv[2]);
        return 1;
    }
    fputs("usage: big_archive "
          "stored|300|20000|deflated|transposed|zeros|chunks OUT\n",
          stderr);
    return 2;
}
