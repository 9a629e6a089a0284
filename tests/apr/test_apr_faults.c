/* SPDX-License-Identifier: MIT
 *
 * test_apr_faults.c - the complete list of what is found in each APR fixture
 *
 * fixtures/README.md says what is wrong with each file.
 */
#include "tests/faults.h"

static const struct fault faults[] = {
    /* clang-format off */
    { "bad-data-past-end.apr", "APR-SECTIONS", MF_ERROR, 0x20 },
    { "bad-data-past-end.apr", "TENSOR-BOUNDS", MF_ERROR, 0x10000000000 },
    { "bad-dtype-15.apr", "APR-DTYPE", MF_ERROR, 0x12c },
    { "bad-elements-overflow.apr", "TENSOR-OVERFLOW", MF_ERROR, 0x12c },
    { "bad-flags-undefined.apr", "APR-FLAGS", MF_WARNING, 0x6 },
    { "bad-gap.apr", "DATA-GAP", MF_WARNING, 0x140 },
    { "bad-metadata-alias.apr", "APR-METADATA-ALIAS", MF_WARNING, 0x7b },
    { "bad-metadata-duplicate.apr", "META-DUPLICATE", MF_ERROR, 0x58 },
    { "bad-metadata-type.apr", "APR-METADATA-TYPE", MF_ERROR, 0x63 },
    { "bad-name-duplicate.apr", "TENSOR-DUPLICATE", MF_ERROR, 0x12c },
    { "bad-name-empty.apr", "APR-NAME", MF_ERROR, 0x100 },
    { "bad-name-nul.apr", "APR-NAME", MF_ERROR, 0x12c },
    { "bad-name-utf8.apr", "APR-NAME", MF_ERROR, 0x12c },
    { "bad-offset-past-end.apr", "TENSOR-BOUNDS", MF_ERROR, 0x1180 },
    { "bad-offset-unaligned.apr", "TENSOR-ALIGNMENT", MF_WARNING, 0x100 },
    { "bad-offset-unaligned.apr", "DATA-GAP", MF_WARNING, 0x180 },
    { "bad-offset-wrap.apr", "TENSOR-BOUNDS", MF_ERROR, 0x12c },
    { "bad-order.apr", "APR-INDEX-ORDER", MF_ERROR, 0x12c },
    { "bad-overlap.apr", "TENSOR-OVERLAP", MF_ERROR, 0x180 },
    { "bad-reserved.apr", "APR-RESERVED", MF_WARNING, 0x2c },
    { "bad-sections-overlap.apr", "APR-SECTIONS", MF_ERROR, 0xc },
    { "bad-sections-overlap.apr", "APR-TRAILING", MF_WARNING, 0x98 },
    { "bad-size.apr", "TENSOR-SIZE", MF_ERROR, 0x12c },
    { "bad-trailing.apr", "APR-TRAILING", MF_WARNING, 0x1d8 },
    { "bad-v1-compression.apr", "APR-V1-COMPRESSION", MF_ERROR, 0x14 },
    { "bad-v1-footer.apr", "APR-V1-CRC", MF_ERROR, 0x124 },
    { "bad-v1-metadata-none.apr", "APR-V1-METADATA", MF_ERROR, 0x20 },
    { "bad-v1-metadata-utf8.apr", "APR-V1-METADATA", MF_WARNING, 0x5b },
    { "bad-v1-metadata-utf8.apr", "APR-V1-METADATA", MF_WARNING, 0xd8 },
    { "bad-v1-payload-past-end.apr", "APR-V1-SIZE", MF_ERROR, 0x8 },
    { "bad-v1-quality.apr", "APR-V1-QUALITY", MF_WARNING, 0x16 },
    { "bad-v1-trailing.apr", "APR-V1-SIZE", MF_ERROR, 0x8 },
    { "bad-v1-type.apr", "APR-V1-TYPE", MF_ERROR, 0x6 },
    { "bad-version-9.apr", "APR-VERSION", MF_WARNING, 0x4 },
    { "good-lz4flag-plain.apr", "APR-FLAGS", MF_WARNING, 0x6 },
    /* clang-format on */
};

static const struct refusal refusals[] = {
    /* clang-format off */
    { "bad-count-huge.apr", "FILE-COUNT", MF_ERR_CORRUPT, 0x8,
      "the header claims 4294967295 tensors, but the 128 bytes of the index have "
      "room for 6" },
    { "bad-count.apr", "FILE-COUNT", MF_ERR_CORRUPT, 0x8,
      "the header claims 1000 tensors, but the 128 bytes of the index have "
      "room for 6" },
    { "bad-flags-both-layouts.apr", "APR-FLAGS", MF_ERR_CORRUPT, 0x6,
      "flags 0x0c00: column-major, which APR forbids" },
    { "bad-flags-column-major.apr", "APR-FLAGS", MF_ERR_CORRUPT, 0x6,
      "flags 0x0800: column-major, which APR forbids" },
    { "bad-header-checksum.apr", "APR-CHECKSUM", MF_ERR_CORRUPT, 0x28,
      "the header's checksum is 7dd6fce9, but its bytes have c783f8fe" },
    { "bad-index-past-end.apr", "FILE-COUNT", MF_ERR_CORRUPT, 0x18,
      "tensor index at 0xffffffffffffffff, but the file has 516 bytes" },
    { "bad-json-depth.apr", "FILE-NESTING", MF_ERR_LIMIT, 0xd7,
      "objects and arrays are nested deeper than 127" },
    { "bad-metadata-array.apr", "FILE-FIELD", MF_ERR_CORRUPT, 0x40,
      "the metadata is not a JSON object" },
    { "bad-metadata-json.apr", "FILE-JSON", MF_ERR_CORRUPT, 0x55,
      "unexpected byte 0x7d, expected a key" },
    { "bad-metadata-past-end.apr", "FILE-COUNT", MF_ERR_CORRUPT, 0xc,
      "metadata at 0x40 of 4294967295 bytes, but the file has 516" },
    { "bad-metadata-utf8.apr", "FILE-JSON", MF_ERR_CORRUPT, 0x52,
      "unexpected byte 0xff, a string must be well-formed UTF-8" },
    { "bad-rank-200.apr", "FILE-RANK", MF_ERR_LIMIT, 0x12c,
      "tensor 'b.weight' has 200 dimensions, the limit is 64" },
    { "bad-v1-metadata-array.apr", "FILE-FIELD", MF_ERR_CORRUPT, 0x20,
      "the metadata is not a MessagePack map" },
    { "bad-v1-metadata-past-end.apr", "FILE-COUNT", MF_ERR_CORRUPT, 0x8,
      "the header claims 4294967295 bytes of metadata, but only 264 are "
      "left" },
    { "bad-truncated.apr", "FILE-TRUNCATED", MF_ERR_CORRUPT, 0x140,
      "the file ends inside the tensor index (it has 320 bytes)" },
    { "bad-v1-version.apr", "FILE-VERSION", MF_ERR_UNSUPPORTED, 0x4,
      "apr version 7 is not supported: only version 1 has the "
      "magic APRN" },
    { "unsupported-apnr.apr", "FILE-FOREIGN", MF_ERR_UNSUPPORTED, 0x0,
      "unsupported format jugar-apr:" },
    { "unsupported-apr02.apr", "FILE-FOREIGN", MF_ERR_UNSUPPORTED, 0x0,
      "unsupported format apr-02:" },
    { "unsupported-apr1-json.apr", "FILE-FOREIGN", MF_ERR_UNSUPPORTED, 0x0,
      "unsupported format apr1-json:" },
    { "unsupported-apr2.apr", "FILE-FOREIGN", MF_ERR_UNSUPPORTED, 0x0,
      "unsupported format apr2:" },
    { "unsupported-aprt.apr", "FILE-FOREIGN", MF_ERR_UNSUPPORTED, 0x0,
      "unsupported format entrenar-trace:" },
    { "unsupported-encrypted.apr", "FILE-PACKED", MF_ERR_UNSUPPORTED, 0x6,
      "flags 0x0404: encrypted, for which APR version 2 defines no layout" },
    { "unsupported-lz4.apr", "FILE-PACKED", MF_ERR_UNSUPPORTED, 0x6,
      "the file is compressed with LZ4; decompress it with realizar first" },
    { "unsupported-presentar.apr", "FILE-FOREIGN", MF_ERR_UNSUPPORTED, 0x0,
      "unsupported format presentar:" },
    { "unsupported-whisper.apr", "FILE-FOREIGN", MF_ERR_UNSUPPORTED, 0x0,
      "unsupported format whisper-apr:" },
    { "unsupported-wrapper-lz4.apr", "FILE-FOREIGN", MF_ERR_UNSUPPORTED, 0x0,
      "unsupported format apr1-wrapper:" },
    { "unsupported-wrapper-zstd.apr", "FILE-FOREIGN", MF_ERR_UNSUPPORTED, 0x0,
      "unsupported format apr1-wrapper:" },
    { "unsupported-wrapper.apr", "FILE-FOREIGN", MF_ERR_UNSUPPORTED, 0x0,
      "unsupported format apr1-wrapper:" },
    { "unsupported-zstd.apr", "FILE-PACKED", MF_ERR_UNSUPPORTED, 0x6,
      "the file is compressed with zstd; decompress it with realizar first" },
    /* clang-format on */
};

static const struct faults all = FAULTS_OF(".apr");

int main(void)
{
    const struct CMUnitTest tests[] = {
        FAULT_TESTS,
    };

    cmocka_set_message_output(CM_OUTPUT_TAP);
    return cmocka_run_group_tests(tests, NULL, NULL);
}
