/* SPDX-License-Identifier: MIT
 *
 * test_remote.c - URLs, and headers of answers that a server has made up
 */
#include "cli/remote/address.h"
#include "cli/remote/reply.h"

#include <string.h>

#include "tests/support.h"

static void test_urls(void **state)
{
    static const char *const refused[] = {
        "http://",          "https:///model.gguf", "http://a b/",
        "http://me@host/x", "http://host/\x1b[m",  "http://host/\xc3\xa4",
        "https://?x",       "http://h\nX: y/",
    };
    static const char *const accepted[] = {
        "http://host",
        "HTTPS://host:8080/a/b.gguf?x=@y#z",
        "http://[::1]:80/x",
    };

    (void)state;
    for (size_t i = 0; i < COUNT(refused); i++)
        if (!address_refused(refused[i]))
            fail_msg("%s is accepted", refused[i]);
    for (size_t i = 0; i < COUNT(accepted); i++)
        if (!address_is_url(accepted[i]) || address_refused(accepted[i]))
            fail_msg("%s is refused", accepted[i]);
    assert_false(address_is_url("http:/host"));
    assert_false(address_is_url("ftp://host/x"));
    assert_false(address_is_url("model.gguf"));
    assert_true(address_is_https("https://host"));
    assert_false(address_is_https("http://host"));
}

static void test_beside(void **state)
{
    static const struct {
        const char *url, *name, *beside; /* NULL: there is none */
    } row[] = {
        { "http://h/a/m.gguf", "http://h/a/config.json",
          "http://h/a/config.json" },
        { "http://h/a/m.gguf?download=true#x", "http://h/a/t.json",
          "http://h/a/t.json" },
        { "http://h/m.gguf?a=/b/", "http://h/t", "http://h/t" },
        { "http://h/a/m", "http://h/a/1_Pooling/config.json",
          "http://h/a/1_Pooling/config.json" },
        { "http://h/a/m", "http://h/a/b c?d#e%",
          "http://h/a/b%20c%3Fd%23e%25" },
        { "http://h/a%20b/m", "http://h/a%20b/x%20y", "http://h/a%20b/x%20y" },
        { "http://h/a/m", "http://h/a/\r\nX: y", "http://h/a/%0D%0AX%3A%20y" },
        { "http://h/a/m", "http://h/a/../secret", NULL },
        { "http://h/a/m", "http://h/a/b/../../secret", NULL },
        { "http://h/a/m", "http://h/a/b//c", NULL },
        { "http://h/a/m", "http://h/a/", NULL },
        { "http://h/a/m", "http://h/a/.", NULL },
        { "http://h/a/m", "http://h/b/x", NULL },
        { "http://h/a/m", "http://other/a/x", NULL },
        { "http://h/a/m", "x", NULL },
        { "http://h/%41/m", "http://h/%41/%2e%2e", NULL },
        { "http://h/%41/m", "http://h/%41/%2Fx", NULL },
        { "http://h", "http://h/x", NULL },
    };
    struct address out;

    (void)state;
    for (size_t i = 0; i < COUNT(row); i++) {
        bool found =
            address_beside(row[i].url, row[i].name, strlen(row[i].name), &out);

        if (found != (row[i].beside != NULL) ||
            (found && strcmp(out.at, row[i].beside) != 0))
            fail_msg("%s beside %s: %s", row[i].name, row[i].url,
                     found ? out.at : "none");
    }
}

/* Takes lines up to the first that is wrong. */
static struct reply reply_of(const char *lines)
{
    struct reply reply = { 0 };
    const char *end;

    for (; *lines; lines = end + 1) {
        end = strchr(lines, '\n');
        if (!reply_line(&reply, lines, (size_t)(end + 1 - lines)))
            break;
    }
    return reply;
}

static void test_ranges(void **state)
{
    static const struct {
        const char *lines;
        bool right; /* for bytes 10 to 19 */
    } row[] = {
        { "Content-Range: bytes 10-19/100\r\nContent-Length: 10\r\n", true },
        { "content-range:BYTES 10-14/15\n", true },
        { "Content-Range: bytes 10-14/100\r\n", false },
        { "Content-Range: bytes 10-20/100\r\n", false },
        { "Content-Range: bytes 9-19/100\r\n", false },
        { "Content-Range: bytes 10-19/19\r\n", false },
        { "Content-Range: bytes 10-9/100\r\n", false },
        { "Content-Range: bytes 10-19/*\r\n", false },
        { "Content-Range: bytes */100\r\n", false },
        { "Content-Range: bytes 10-19/9223372036854775808\r\n", false },
        { "Content-Range: bytes 10-19/100x\r\n", false },
        { "Content-Range: 10-19/100\r\n", false },
        { "Content-Range: bytes\r\n", false },
        { "Content-Range: bytes 10-19/100\r\nContent-Length: 11\r\n", false },
        { "Content-Range: bytes 10-19/100\r\nContent-Length: -1\r\n", false },
        { "Content-Range: bytes 10-19/100\r\nContent-Encoding: br\r\n", false },
        { "Content-Range: bytes 10-19/100\r\n"
          "Content-Range: bytes 10-19/100\r\n",
          false },
        { "\r\n", false },
    };
    char lines[300];
    struct reply reply;

    (void)state;
    for (size_t i = 0; i < COUNT(row); i++) {
        strcpy(lines, "HTTP/1.1 206 Partial\r\n");
        strcat(lines, row[i].lines);
        reply = reply_of(lines);
        assert_int_equal(reply.status, 206);
        if ((!reply.wrong && !reply_range_wrong(&reply, 10, 19)) !=
            row[i].right)
            fail_msg("%s", row[i].lines);
    }
}

static void test_header(void **state)
{
    static const char one[] = "X-Long: aaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaa\n";
    struct reply reply =
        reply_of("HTTP/1.1 302 Found\r\nETag: \"old\"\r\n\r\n"
                 "HTTP/2 206 \r\nETag: \"new\"\r\nRetry-After: 7\r\n");

    (void)state;
    assert_null(reply.wrong);
    assert_string_equal(reply.etag, "\"new\"");
    assert_true(reply.has_wait);
    assert_int_equal(reply.wait, 7);
    reply = reply_of("HTTP/1.1 abc\r\n");
    assert_non_null(reply.wrong);
    reply = reply_of("HTTP/1.1 200 OK\r\nETag: \"a\"\r\nETag: \"b\"\r\n");
    assert_non_null(reply.wrong);
    reply = (struct reply){ 0 };
    for (size_t i = 0; i <= REPLY_HEADER_MAX; i += sizeof(one) - 1)
        if (!reply_line(&reply, one, sizeof(one) - 1))
            return; /* all headers of a request count, whatever they are */
    fail_msg("a header without an end is taken");
}

static void test_next(void **state)
{
    static const struct {
        const char *lines, *next; /* NULL: it is wrong */
    } row[] = {
        { "Link: <http://h/a?x=1,2>; rel=\"next\"\r\n", "http://h/a?x=1,2" },
        { "link: </s.css>; rel=preload, <http://h/a>; rel=next\r\n",
          "http://h/a" },
        { "Link: <http://h/a>; rel=\"prev\"\r\n", "" },
        { "Link: \r\n", "" },
        { "Link: <http://h/a>; rel=next, <http://h/b>; rel=next\r\n", NULL },
        { "Link: <http://h/a>; rel=next\r\nLink: <http://h/b>; rel=next\r\n",
          NULL },
        { "Link: <http://h/a; rel=next\r\n", NULL },
        { "Link: http://h/a; rel=next\r\n", NULL },
        { "Link: ,\r\n", NULL },
    };
    char lines[300];
    struct reply reply;

    (void)state;
    for (size_t i = 0; i < COUNT(row); i++) {
        strcpy(lines, "HTTP/1.1 200 OK\r\n");
        strcat(lines, row[i].lines);
        reply = reply_of(lines);
        assert_null(reply.wrong); /* other answers may have any Link */
        if (reply.next_is_wrong != !row[i].next ||
            (row[i].next && strcmp(reply.next, row[i].next) != 0))
            fail_msg("%s: '%s'", row[i].lines, reply.next);
    }
}

static void test_servers(void **state)
{
    static const struct {
        const char *a, *b;
        bool same;
    } row[] = {
        { "https://h/a", "https://h/b?c", true },
        { "https://h", "https://H:443/", true },
        { "http://h:80/", "HTTP://h", true },
        { "http://[::1]:80", "http://[::1]/", true },
        { "http://h", "https://h", false },
        { "https://h", "https://h:80", false },
        { "https://h", "https://h:4430", false },
        { "https://h", "https://h.evil", false },
        { "https://h", "https://evil/h", false },
        { "https://h.b", "https://h", false },
    };
    char text[20];

    (void)state;
    for (size_t i = 0; i < COUNT(row); i++)
        if (address_is_same_server(row[i].a, row[i].b) != row[i].same ||
            address_is_same_server(row[i].b, row[i].a) != row[i].same)
            fail_msg("%s and %s", row[i].a, row[i].b);
    assert_int_equal(address_escape(text, sizeof(text), "a/b c?", true), 10);
    assert_string_equal(text, "a/b%20c%3F");
    assert_int_equal(address_escape(text, sizeof(text), "a/b", false), 5);
    assert_string_equal(text, "a%2Fb");
    assert_int_equal(address_escape(text, 6, "//", false), 0);
    assert_int_equal(address_escape(text, 7, "//", false), 6);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_urls),   cmocka_unit_test(test_beside),
        cmocka_unit_test(test_ranges), cmocka_unit_test(test_header),
        cmocka_unit_test(test_next),   cmocka_unit_test(test_servers),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
