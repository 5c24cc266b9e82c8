/* SPDX-License-Identifier: Apache-2.0 */
/* Addresses of proxies and servers, and mutations of them. The environment variable KI_MUTANTS sets the
 * number of mutations. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "http/proxy_route.h"
#include "support/client/address_check.h"
#include "support/unit.h"
#include "util/random.h"

enum { MUTANTS = 100000, BYTES_MAX = 256, CHANGES_MAX = 4 };

static const char *const seeds[] = {
    "http://bob:" ADDRESS_SECRET "@proxy.example:3128",
    "https://bob:" ADDRESS_SECRET "@10.0.0.1:3128/",
    "socks5://b%40b:" ADDRESS_SECRET "@[fd00::1]:1080",
    "HTTP://bob@proxy",
    "http://:" ADDRESS_SECRET "@proxy:80/path?query#fragment",
    "https://api.example:6443/prefix/",
    "http://127.0.0.1:8001",
    "https://[fd00::1]:6443",
    "host:6443",
    "kubernetes.default.svc",
    "10.0.0.1",
    "fd00::1",
};
enum { SEEDS = sizeof(seeds) / sizeof(seeds[0]) };

/* Pieces that change the meaning of an address. */
static const char *const pieces[] = {"%",    "%0a",   "%00",    "%1f",     "%2f", "%zz",  "%3a",   "%40", "@",
                                     ":",    "/",     "//",     "://",     "?",   "#",    "[",     "]",   "{",
                                     " ",    "\r\n",  ".",      "..",      "\\",  "\x7f", "\x80",  "*",   "-",
                                     "http", "https", "socks5", "socks5h", "ftp", "0",    "65536", ","};
enum { PIECES = sizeof(pieces) / sizeof(pieces[0]) };

static void cut(char *text, size_t at, size_t n)
{
    size_t len = strlen(text);
    n = n > len - at ? len - at : n;
    memmove(text + at, text + at + n, len - at - n + 1);
}

static void insert(char *text, size_t at, const char *piece)
{
    size_t len = strlen(text), n = strlen(piece);
    if (len + n >= BYTES_MAX)
        return;
    memmove(text + at + n, text + at, len - at + 1);
    memcpy(text + at, piece, n);
}

static void mutate(ki_random *random, char *text)
{
    for (uint64_t i = 1 + ki_random_below(random, CHANGES_MAX); i > 0; i--) {
        size_t at = (size_t)ki_random_below(random, strlen(text) + 1);
        switch (ki_random_below(random, 4)) {
        case 0:
            cut(text, at, 1 + (size_t)ki_random_below(random, 8));
            break;
        case 1:
            if (text[at] != 0)
                text[at] = (char)(1 + ki_random_below(random, 255));
            break;
        default:
            insert(text, at, pieces[ki_random_below(random, PIECES)]);
            break;
        }
    }
}

static void check(const char *text)
{
    const char *wrong = address_check(text);
    if (wrong != NULL)
        fail_msg("%s: %s", wrong, text);
}

static void addresses_are_recognized(void **state)
{
    (void)state;
    int proxies = 0, servers = 0, names = 0;
    for (size_t i = 0; i < SEEDS; i++) {
        check(seeds[i]);
        proxies += address_check_taken.proxy;
        servers += address_check_taken.server;
        names += address_check_taken.name;
    }
    assert_int_equal(proxies, 8);
    assert_int_equal(servers, 6);
    assert_int_equal(names, 3);
}

/* Some mutations of each kind must be accepted, or nothing would be tested. */
static void mutations_are_accepted_or_refused_as_a_whole(void **state)
{
    (void)state;
    const char *wanted = getenv("KI_MUTANTS");
    size_t count = wanted == NULL ? MUTANTS : strtoul(wanted, NULL, 10), taken[3] = {0};
    ki_random random;
    ki_random_init(&random, 1);
    for (size_t i = 0; i < count; i++) {
        char text[BYTES_MAX];
        strcpy(text, seeds[ki_random_below(&random, SEEDS)]);
        mutate(&random, text);
        check(text);
        taken[0] += (size_t)address_check_taken.proxy;
        taken[1] += (size_t)address_check_taken.server;
        taken[2] += (size_t)address_check_taken.name;
    }
    for (size_t i = 0; i < 3; i++)
        assert_in_range(taken[i], count / 50, count - count / 50);
}

static void a_proxys_name_has_neither_its_path_nor_its_password(void **state)
{
    (void)state;
    static const char *const endings[] = {"", "/", "/pat" ADDRESS_SECRET "nt", "?" ADDRESS_SECRET,
                                          "#" ADDRESS_SECRET};
    for (size_t i = 0; i < sizeof(endings) / sizeof(endings[0]); i++) {
        char text[BYTES_MAX];
        ki_proxy_route route = {0};
        ki_config config = {.proxy_url = text};
        (void)snprintf(text, sizeof(text), "http://:" ADDRESS_SECRET "@proxy:80%s", endings[i]);
        check(text);
        assert_int_equal(ki_proxy_route_init(&route, &config, NULL), 0);
        assert_string_equal(route.name, "http://<masked>@proxy:80");
        ki_proxy_route_fini(&route);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(addresses_are_recognized),
        cmocka_unit_test(a_proxys_name_has_neither_its_path_nor_its_password),
        cmocka_unit_test(mutations_are_accepted_or_refused_as_a_whole),
    };
    return RUN_TESTS(tests);
}
