/* SPDX-License-Identifier: MIT
 *
 * test_recorded_heap.c - what a report takes over from a heap profile,
 * and from what a command printed
 */
#include "tests/report/recorded.h"

/* ---- heap profiles ---- */

#define PROFILE_SITES                                                          \
    "\"heap\":{\"mode\":\"heap\",\"unit\":\"us\",\"at\":1131,\"end\":3288,"    \
    "\"peak\":11,\"peak_blocks\":2,\"total\":30,\"blocks\":3,\"left\":1,"      \
    "\"left_blocks\":1,\"site_count\":2,\"sites\":[{\"bytes\":20,\"blocks\":"  \
    "1,\"at_peak\":8,\"peak_blocks\":1,\"left\":0,\"left_blocks\":0,\"most\":" \
    "20,\"most_blocks\":1,\"lifetime\":9,\"stack\":[0,2]},{\"bytes\":10,"      \
    "\"blocks\":2,\"at_peak\":3,\"peak_blocks\":1,\"left\":1,\"left_blocks\":" \
    "1,\"most\":8,\"most_blocks\":1,\"lifetime\":9,\"stack\":[1,2]}],"

static void a_profile_has_the_frames_that_it_shows(void **state)
{
    const char *path = scratch_path("p");

    (void)state;
    save_text("p", profile_text);
    expect(path, false,
           "{\"recorded\":{\"kind\":\"heap\"," PROFILE_SITES
           "\"frames\":[\"f(int) (a.c:5)\",\"0xAB: ??? (in x.so)\","
           "\"main (in prog)\"]}}}");
    expect(path, true,
           "{\"recorded\":{\"kind\":\"heap\",\"command_text\":"
           "\"/home/me/x y\"," PROFILE_SITES
           "\"frames\":[\"f(int) (/src/a.c:5)\","
           "\"0xAB: ??? (in /usr/lib/x.so)\","
           "\"main (in /home/(me)/prog)\"]}}}");
}

static void a_long_frame_is_marked(void **state)
{
    static char text[8000];
    size_t size = (size_t)sprintf(text, "%s",
                                  PROFILE_HEAD
                                  "\"pps\":[{\"tb\":1,\"tbk\":1,\"fs\":[0]}],"
                                  "\"ftbl\":[\"f (in /home/");
    (void)state;
    memset(text + size, 'a', 3000);
    memcpy(text + size + 3000, "/x)\"]}", 7);
    save_text("p", text);
    expect_part(scratch_path("p"), "\"frames\":[\"f (in ...\"]");
}

/* Site i: random bytes in all and at the peak. */
static void save_sites(FILE *file, size_t count, size_t depth)
{
    fprintf(file, PROFILE_HEAD "\"pps\":[");
    for (size_t i = 0; i < count; i++) {
        fprintf(file, "%s{\"tb\":%" PRIu64 ",\"tbk\":%zu,\"gb\":%" PRIu64 ",",
                i > 0 ? "," : "", sample(i), i, sample(i + 777));
        fprintf(file, "\"fs\":[%zu", i);
        for (size_t k = 1; k < depth; k++)
            fprintf(file, ",%zu", k % count);
        fprintf(file, "]}");
    }
    fprintf(file, "],\"ftbl\":[");
    for (size_t i = 0; i < count; i++)
        fprintf(file, "%s\"f%zu\"", i > 0 ? "," : "", i);
    fprintf(file, "]}");
    fclose(file);
}

/* How many sites have more bytes: at the peak, or in all. */
static size_t rank_of(size_t site, size_t count, size_t shift)
{
    size_t rank = 0;

    for (size_t i = 0; i < count; i++)
        rank += sample(i + shift) > sample(site + shift) ||
                (sample(i + shift) == sample(site + shift) && i < site);
    return rank;
}

static void the_largest_sites_are_shown(void **state)
{
    enum { SITES = 3000 };
    static bool shown[SITES];
    const struct mf_node *root, *site, *frames;
    struct mf_arena arena;

    (void)state;
    save_sites(fopen(scratch_path("p"), "w"), SITES, 1);
    assert_int_equal(record(scratch_path("p"), false), MF_OK);
    root = read_document(&arena);
    assert_int_equal(number_at(root, "recorded.heap.site_count"), SITES);
    frames = mf_node_at(root, "recorded.heap.frames");
    site = mf_node_at(root, "recorded.heap.sites")->first;
    for (; site; site = site->next) {
        const struct mf_node *frame = frames->first;
        size_t i = number_at(site, "blocks");

        assert_false(shown[i]);
        shown[i] = true;
        assert_int_equal(number_at(site, "at_peak"), sample(i + 777));
        for (size_t k = number_at(site, "stack.0"); k > 0; k--)
            frame = frame->next;
        assert_int_equal(atoi(frame->text.at + 1), i);
    }
    for (size_t i = 0; i < SITES; i++)
        assert_int_equal(shown[i], rank_of(i, SITES, 777) < 200 ||
                                       rank_of(i, SITES, 0) < 200);
    mf_arena_release(&arena);
}

static void a_deep_stack_says_how_deep_it_is(void **state)
{
    const struct mf_node *root;
    struct mf_arena arena;

    (void)state;
    save_sites(fopen(scratch_path("p"), "w"), 500, 65);
    assert_int_equal(record(scratch_path("p"), false), MF_OK);
    root = read_document(&arena);
    assert_int_equal(number_at(root, "recorded.heap.sites.0.depth"), 65);
    assert_int_equal(mf_node_at(root, "recorded.heap.sites.0.stack")->count,
                     64);
    mf_arena_release(&arena);
}

static void a_wrong_profile_says_where_and_what(void **state)
{
#define SITE(text) PROFILE_HEAD "\"pps\":[" text "],\"ftbl\":[\"f\"]}"
    static const struct {
        const char *text, *at; /* where in it */
        enum mf_status status;
        const char *message;
    } rows[] = {
        { "{\"dhatFileVersion\":3}", "3}", MF_ERR_UNSUPPORTED,
          "version 3 of heap profiles, only 2 is supported" },
        { "{\"dhatFileVersion\":-2}", "-2}", MF_ERR_CORRUPT,
          "'dhatFileVersion' is not an integer" },
        { SITE("7"), "7]", MF_ERR_CORRUPT, "site 0 is not an object" },
        { SITE("{\"tb\":1,\"fs\":[0]}"), "{\"tb\"", MF_ERR_CORRUPT,
          "site 0 lacks 'tb', 'tbk' or 'fs'" },
        { SITE("{\"tb\":1.5,\"tbk\":1,\"fs\":[0]}"), "1.5", MF_ERR_CORRUPT,
          "'tb' is not an integer from 0 to 2^64 - 1" },
        { SITE("{\"tb\":1,\"tbk\":1,\"fs\":[0]},{\"tb\":1,\"tbk\":1,"
               "\"fs\":[0,5]}"),
          "5]", MF_ERR_CORRUPT, "frame 5 of a site, 'ftbl' has 1" },
        { SITE("{\"tb\":1,\"tbk\":1,\"fs\":[4294967296]}"), "4294967296",
          MF_ERR_CORRUPT, "frame 4294967296 of site 0, at most 4294967295" },
        { SITE("{\"tb\":1,\"tbk\":1,\"fs\":0}"), "0}],", MF_ERR_CORRUPT,
          "'fs' of site 0 is not one array" },
        { SITE("{\"tb\":18446744073709551615,\"tbk\":1,\"fs\":[0]},"
               "{\"tb\":1,\"tbk\":1,\"fs\":[0]}"),
          "{\"tb\":1,", MF_ERR_CORRUPT,
          "the sum of 'tb' of 2 sites is more than 64 bits have" },
        { PROFILE_HEAD "\"pps\":{}}", "{}", MF_ERR_CORRUPT,
          "'pps' is not an array" },
        { PROFILE_HEAD "\"ftbl\":[1]}", "1]}", MF_ERR_CORRUPT,
          "frame 0 is not a string" },
        { PROFILE_HEAD "\"pps\":[],\"pps\":[]}", "\"pps\":[]}", MF_ERR_CORRUPT,
          "the document has 'pps' twice" },
        { PROFILE_HEAD "\"pps\":[]}", NULL, MF_ERR_CORRUPT,
          "the heap profile lacks 'ftbl'" },
        { PROFILE_HEAD "\"ftbl\":[]}", NULL, MF_ERR_CORRUPT,
          "the heap profile lacks 'pps'" },
        { "{\"a\":1}", NULL, MF_ERR_FORMAT, "neither a heap profile" },
        { "{\"run\":1}", NULL, MF_ERR_FORMAT, "neither a heap profile" },
        { "[]", "[", MF_ERR_FORMAT, "the document is not an object" },
    };

    (void)state;
    for (size_t i = 0; i < COUNT(rows); i++) {
        save_text("p", rows[i].text);
        expect_error(scratch_path("p"), rows[i].status,
                     rows[i].at ? (uint64_t)(strstr(rows[i].text, rows[i].at) -
                                             rows[i].text)
                                : MF_NO_OFFSET,
                     rows[i].message);
    }
}

/* ---- what a command printed ---- */

static void timings_have_shares(void **state)
{
    (void)state;
    save_text("p", answer_text);
    expect(scratch_path("p"), false,
           "{\"recorded\":{\"kind\":\"answer\",\"seconds\":0.25,\"totals\":{"
           "\"peak_heap_bytes\":5,\"heap_allocations\":6,\"bytes_read\":7},"
           "\"wall_seconds\":1,\"phases\":[{\"name\":\"read\",\"seconds\":1.5,"
           "\"share\":0.75,\"count\":2,\"min_ns\":1,\"p50_ns\":2,\"p99_ns\":3,"
           "\"max_ns\":4},{\"name\":\"write\",\"seconds\":0.5,\"share\":0.25,"
           "\"count\":0}]}}");
    save_text("p", "{\"schema\":2,\"run\":{\"seconds\":1}}");
    expect(scratch_path("p"), false,
           "{\"recorded\":{\"kind\":\"answer\",\"seconds\":1,\"totals\":{}}}");
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        WITH_ENV(a_profile_has_the_frames_that_it_shows),
        WITH_ENV(a_long_frame_is_marked),
        WITH_ENV(the_largest_sites_are_shown),
        WITH_ENV(a_deep_stack_says_how_deep_it_is),
        WITH_ENV(a_wrong_profile_says_where_and_what),
        WITH_ENV(timings_have_shares),
    };

    return cmocka_run_group_tests(tests, make_scratch, remove_scratch);
}
