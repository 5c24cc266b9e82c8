/* SPDX-License-Identifier: Apache-2.0 */
/* The flags of `kinformer watch`: how they are read, and their effects. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "cli/watch_flags.h"
#include "support/unit.h"

enum { WORDS_MAX = 80 };

typedef struct parsed {
    cli_watch_flags flags;
    cli_arguments arguments;
    ki_error err;
    int rc;
} parsed;

/* The words are separated by spaces. */
static parsed parse(const char *line)
{
    static char copy[4096];
    parsed p = {0};
    char *words[WORDS_MAX];
    int count = 0;
    cli_flag_group groups[CLI_WATCH_GROUPS];
    assert_true(strlen(line) < sizeof(copy));
    strcpy(copy, line);
    for (char *word = strtok(copy, " "); word != NULL; word = strtok(NULL, " "))
        words[count++] = word;
    cli_watch_flags_init(&p.flags, groups);
    cli_flag_set set = {"watch", groups, CLI_WATCH_GROUPS};
    p.rc = cli_flags_parse(&set, count, words, &p.arguments, &p.err);
    if (p.rc == 0 && !p.arguments.is_help)
        p.rc = cli_watch_flags_check(&p.flags, &p.err);
    return p;
}

static parsed parse_well(const char *line)
{
    parsed p = parse(line);
    assert_string_equal(p.err.message, "");
    assert_int_equal(p.rc, 0);
    return p;
}

static void expect_refusal(const char *line, const char *part)
{
    parsed p = parse(line);
    assert_true(p.rc < 0);
    if (strstr(p.err.message, part) == NULL)
        fail_msg("%s: \"%s\" does not contain \"%s\"", line, p.err.message, part);
}

/* ---- syntax -------------------------------------------------------------------------------------------- */

static void values_are_the_next_argument_or_follow_an_equals_sign(void **state)
{
    (void)state;
    static const char *const same[] = {"-n web", "-nweb", "-n=web", "--namespace web", "--namespace=web"};
    for (size_t i = 0; i < sizeof(same) / sizeof(same[0]); i++)
        assert_string_equal(parse_well(same[i]).flags.ns, "web");
    assert_string_equal(parse_well("--token=a=b").flags.connection.token, "a=b");
    assert_string_equal(parse_well("--selector=").flags.label_selector, "");
}

static void flags_without_a_value_accept_true_or_false(void **state)
{
    (void)state;
    assert_int_equal(parse_well("-A").flags.all_namespaces, 1);
    assert_int_equal(parse_well("--stats=true").flags.stats, 1);
    assert_int_equal(parse_well("--stats --stats=false").flags.stats, 0);
    assert_int_equal(parse_well("-A=0").flags.all_namespaces, 0);
    assert_int_equal(parse_well("--stats pods").arguments.count, 1);
    expect_refusal("--stats=yes", "neither true nor false");
}

static void short_flags_may_be_combined(void **state)
{
    (void)state;
    parsed p = parse_well("-Aojson");
    assert_int_equal(p.flags.all_namespaces, 1);
    assert_int_equal(p.flags.format, CLI_FORMAT_JSON);
    expect_refusal("-Az", "-z");
}

static void other_words_are_arguments(void **state)
{
    (void)state;
    parsed p = parse_well("pods -A -- -n");
    assert_int_equal(p.arguments.count, 2);
    assert_string_equal(p.arguments.items[0], "pods");
    assert_string_equal(p.arguments.items[1], "-n");
    assert_string_equal(parse_well("-").arguments.items[0], "-");
}

static void help_is_recognized_whatever_follows(void **state)
{
    (void)state;
    assert_int_equal(parse_well("pods --help --no-such-flag").arguments.is_help, 1);
    assert_int_equal(parse_well("-h").arguments.is_help, 1);
    assert_int_equal(parse_well("pods").arguments.is_help, 0);
}

static void all_common_flags_reach_the_client(void **state)
{
    (void)state;
    parsed p = parse_well(
        "--kubeconfig f --context c --cluster k --user u --server s --token t "
        "--certificate-authority ca --insecure-skip-tls-verify --tls-server-name n --as me "
        "--as-group g --as-group=h --request-timeout 5s --client-certificate cc "
        "--client-key ck --username nn --password pw --as-uid id --disable-compression --token-file tf "
        "--allow-plaintext-credentials");
    ki_client_options options = cli_connection_options(&p.flags.connection);
    assert_string_equal(options.kubeconfig, "f");
    assert_string_equal(options.context, "c");
    assert_string_equal(options.cluster, "k");
    assert_string_equal(options.kube_user, "u");
    assert_string_equal(options.server, "s");
    assert_string_equal(options.token, "t");
    assert_string_equal(options.token_file, "tf");
    assert_string_equal(options.certificate_authority, "ca");
    assert_int_equal(options.insecure_skip_tls_verify, 1);
    assert_string_equal(options.tls_server_name, "n");
    assert_string_equal(options.as_user, "me");
    assert_string_equal(options.as_groups[0], "g");
    assert_string_equal(options.as_groups[1], "h");
    assert_null(options.as_groups[2]);
    assert_int_equal(options.request_timeout_ms, 5000);
    assert_int_equal(options.connect_timeout_ms, 5000);
    assert_string_equal(options.client_certificate, "cc");
    assert_string_equal(options.client_key, "ck");
    assert_string_equal(options.username, "nn");
    assert_string_equal(options.password, "pw");
    assert_string_equal(options.as_uid, "id");
    assert_int_equal(options.gzip, 0);
    assert_int_equal(options.allow_plaintext_credentials, 1);
    p = parse_well("");
    assert_int_equal(cli_connection_options(&p.flags.connection).allow_plaintext_credentials, 0);
}

static cli_connection read_secrets(const char *line)
{
    ki_error err = {0};
    cli_connection connection = parse_well(line).flags.connection;
    int rc = cli_connection_read_secrets(&connection, &err);
    assert_string_equal(err.message, "");
    assert_int_equal(rc, 0);
    return connection;
}

static void token_and_password_may_come_from_the_environment(void **state)
{
    (void)state;
    setenv("KINFORMER_TOKEN", "token-of-env", 1);
    setenv("KINFORMER_PASSWORD", "password-of-env", 1);
    cli_connection connection = read_secrets("");
    assert_string_equal(cli_connection_options(&connection).token, "token-of-env");
    assert_null(connection.password);
    connection = read_secrets("--username jane");
    assert_string_equal(cli_connection_options(&connection).password, "password-of-env");
    assert_null(connection.token);
    assert_string_equal(read_secrets("--token t").token, "t");
    assert_null(read_secrets("--token-file f").token);
    assert_string_equal(read_secrets("--username jane --password pw").password, "pw");
    setenv("KINFORMER_TOKEN", "", 1);
    assert_null(read_secrets("").token);
    unsetenv("KINFORMER_TOKEN");
    unsetenv("KINFORMER_PASSWORD");
    assert_null(read_secrets("").token);
}

static void expect_password_file(const char *path, const char *content, size_t n, const char *part)
{
    char line[128];
    ki_error err = {0};
    FILE *file = fopen(path, "we");
    assert_int_equal(fwrite(content, 1, n, file), n);
    fclose(file);
    snprintf(line, sizeof(line), "--username jane --password-file %s", path);
    cli_connection connection = parse_well(line).flags.connection;
    assert_int_equal(cli_connection_read_secrets(&connection, &err), KI_ERR_INVALID);
    if (strstr(err.message, part) == NULL)
        fail_msg("\"%s\" does not contain \"%s\"", err.message, part);
    unlink(path);
}

static void a_password_may_come_from_a_file(void **state)
{
    (void)state;
    char path[] = "/tmp/kinformer-test-XXXXXX", line[128];
    int fd = mkstemp(path);
    assert_int_equal(write(fd, "of-file\r\nsecond\n", 17), 17);
    close(fd);
    snprintf(line, sizeof(line), "--username jane --password-file %s", path);
    cli_connection connection = read_secrets(line);
    assert_string_equal(cli_connection_options(&connection).password, "of-file");
    char *large = calloc(1, 100000);
    memset(large, 'x', 100000);
    expect_password_file(path, large, 100000, "its first line is too long");
    expect_password_file(path, "a\0b\n", 4, "its first line contains a NUL");
    expect_password_file(path, "\nsecret\n", 8, "its first line is empty");
    free(large);
    assert_string_equal(read_secrets("--token-file /some/file").token_file, "/some/file");
}

static void a_request_timeout_without_a_unit_is_in_seconds(void **state)
{
    (void)state;
    assert_int_equal(parse_well("--request-timeout 5").flags.connection.request_timeout_ms, 5000);
    assert_int_equal(parse_well("--request-timeout=0").flags.connection.request_timeout_ms, 0);
    assert_int_equal(parse_well("--request-timeout 1m").flags.connection.request_timeout_ms, 60 * 1000);
    expect_refusal("--request-timeout 99999999999999999", "is too long");
    expect_refusal("--request-timeout 5x", "--request-timeout: \"5x\": unknown unit");
    expect_refusal("--request-timeout -1", "a duration is needed");
    expect_refusal("--resync 5", "lacks a unit");
}

static void a_long_request_timeout_does_not_apply_to_connecting(void **state)
{
    (void)state;
    parsed p = parse_well("--request-timeout 5m");
    ki_client_options options = cli_connection_options(&p.flags.connection);
    assert_int_equal(options.request_timeout_ms, 300 * 1000);
    assert_int_equal(options.connect_timeout_ms, 0);
}

/* This leaves time for another request after one that gets no response. */
static void a_response_has_a_third_of_the_timeout_to_begin(void **state)
{
    (void)state;
    static const struct {
        const char *line;
        uint64_t request_timeout_ms;
    } table[] = {
        {"--until-synced", 0},
        {"--until-synced --timeout 0", 0},
        {"--until-synced --timeout 1s", 10 * 1000},
        {"--until-synced --timeout 30s", 10 * 1000},
        {"--until-synced --timeout 1m", 20 * 1000},
        {"--until-synced --timeout 3m", 0}, /* 60 s, as always */
        {"--until-synced --timeout 24h", 0},
        {"--until-synced --timeout 30s --request-timeout 25s", 25 * 1000},
    };
    for (size_t i = 0; i < sizeof(table) / sizeof(table[0]); i++) {
        parsed p = parse_well(table[i].line);
        ki_client_options options = cli_watch_flags_client_options(&p.flags);
        if (options.request_timeout_ms != table[i].request_timeout_ms)
            fail_msg("%s: %d ms", table[i].line, (int)options.request_timeout_ms);
    }
}

static void flags_not_given_are_left_to_the_kubeconfig(void **state)
{
    (void)state;
    parsed p = parse_well("--context= pods");
    ki_client_options options = cli_connection_options(&p.flags.connection);
    assert_null(options.context);
    assert_null(options.server);
    assert_null(options.as_groups);
    assert_null(p.flags.ns);
}

/* ---- options of the informer --------------------------------------------------------------------------- */

static void the_flags_of_a_watch_reach_the_informer(void **state)
{
    (void)state;
    parsed p = parse_well("-l app=web --field-selector metadata.name=a --resync 1m30s --page-size 7 "
                          "--watch-list always --wire protobuf --keep-managed-fields");
    ki_informer_options options = cli_watch_flags_options(&p.flags);
    assert_string_equal(options.label_selector, "app=web");
    assert_string_equal(options.field_selector, "metadata.name=a");
    assert_int_equal(options.resync_ms, 90000);
    assert_int_equal(options.page_size, 7);
    assert_int_equal(options.watch_list, KI_WATCH_LIST_ALWAYS);
    assert_int_equal(options.wire, KI_WIRE_PROTOBUF);
    assert_int_equal(options.keep_managed_fields, 1);
}

static void a_page_size_of_zero_means_no_limit(void **state)
{
    (void)state;
    parsed p = parse_well("--page-size 0");
    assert_int_equal(cli_watch_flags_options(&p.flags).page_size, -1);
    p = parse_well("pods");
    assert_int_equal(cli_watch_flags_options(&p.flags).page_size, 0);
    assert_int_equal(cli_watch_flags_options(&p.flags).watch_list, KI_WATCH_LIST_AUTO);
    assert_int_equal(parse_well("--watch-list never").flags.watch_list, KI_WATCH_LIST_NEVER);
    assert_int_equal(cli_watch_flags_options(&p.flags).wire, KI_WIRE_AUTO);
    assert_int_equal(parse_well("--wire json").flags.wire, KI_WIRE_JSON);
}

static void every_format_has_its_word(void **state)
{
    (void)state;
    assert_int_equal(parse_well("pods").flags.format, CLI_FORMAT_LINES);
    assert_int_equal(parse_well("-o lines").flags.format, CLI_FORMAT_LINES);
    assert_int_equal(parse_well("-o events").flags.format, CLI_FORMAT_EVENTS);
    assert_int_equal(parse_well("-o json").flags.format, CLI_FORMAT_JSON);
    assert_int_equal(parse_well("-o name").flags.format, CLI_FORMAT_NAME);
    assert_int_equal(parse_well("-o none").flags.format, CLI_FORMAT_NONE);
}

static void the_paths_to_keep_include_the_names_of_the_object(void **state)
{
    (void)state;
    ki_error err = {0};
    const char **paths = NULL;
    size_t count = 0;
    parsed p = parse_well("--keep /spec/nodeName,/metadata/labels");
    assert_int_equal(cli_watch_flags_keep(&p.flags, &paths, &err), 0);
    while (paths[count] != NULL)
        count++;
    assert_int_equal(count, 8);
    assert_string_equal(paths[0], "/apiVersion");
    assert_string_equal(paths[1], "/kind");
    assert_string_equal(paths[6], "/spec/nodeName");
    assert_string_equal(paths[7], "/metadata/labels");
    free(paths);
}

static void without_keep_everything_is_kept(void **state)
{
    (void)state;
    ki_error err = {0};
    const char *text = "x";
    const char **paths = &text;
    parsed p = parse_well("pods");
    assert_int_equal(cli_watch_flags_keep(&p.flags, &paths, &err), 0);
    assert_null(paths);
}

/* ---- errors -------------------------------------------------------------------------------------------- */

static void an_unknown_flag_gets_the_nearest_one_as_a_hint(void **state)
{
    (void)state;
    expect_refusal("--namspace x", "did you mean --namespace?");
    expect_refusal("--utnil-synced", "--until-synced");
    expect_refusal("--entirely-different", "unknown flag --entirely-different; ");
}

static void an_invalid_value_is_refused_with_the_name_of_its_flag(void **state)
{
    (void)state;
    expect_refusal("-n", "-n (--namespace) needs a value");
    expect_refusal("-o", "lines|events");
    expect_refusal("-o xml", "\"xml\" is not one of lines|events|json|name|none");
    expect_refusal("-o event", "not one of");
    expect_refusal("--resync 5", "--resync: \"5\" lacks a unit");
    expect_refusal("--page-size many", "--page-size: ");
    expect_refusal("--page-size -1", "--page-size: ");
    expect_refusal("--page-size 99999999999999999999", "--page-size: ");
    expect_refusal("--page-size=", "--page-size: ");
    expect_refusal("--watch-list sometimes", "auto|always|never");
    expect_refusal("-l a=(", "-l (--selector): ");
    expect_refusal("--field-selector x", "--field-selector: ");
    expect_refusal("--keep spec.nodeName", "/spec/nodeName");
    expect_refusal("--keep /a,,/b", "--keep: \"\"");
    expect_refusal("-n a/b", "\"a/b\"");
    expect_refusal("-n Web", "\"Web\"");
    expect_refusal("-n -web", "\"-web\"");
}

static void too_many_flags_are_refused(void **state)
{
    (void)state;
    char line[2048] = "";
    for (int i = 0; i <= CLI_TEXTS_MAX; i++)
        strcat(line, "--as-group=g ");
    expect_refusal(line, "--as-group");
    line[0] = 0;
    for (int i = 0; i <= CLI_ARGUMENTS_MAX; i++)
        strcat(line, "pods ");
    expect_refusal(line, "arguments");
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(values_are_the_next_argument_or_follow_an_equals_sign),
        cmocka_unit_test(flags_without_a_value_accept_true_or_false),
        cmocka_unit_test(short_flags_may_be_combined),
        cmocka_unit_test(other_words_are_arguments),
        cmocka_unit_test(help_is_recognized_whatever_follows),
        cmocka_unit_test(all_common_flags_reach_the_client),
        cmocka_unit_test(token_and_password_may_come_from_the_environment),
        cmocka_unit_test(a_password_may_come_from_a_file),
        cmocka_unit_test(a_request_timeout_without_a_unit_is_in_seconds),
        cmocka_unit_test(a_long_request_timeout_does_not_apply_to_connecting),
        cmocka_unit_test(a_response_has_a_third_of_the_timeout_to_begin),
        cmocka_unit_test(flags_not_given_are_left_to_the_kubeconfig),
        cmocka_unit_test(the_flags_of_a_watch_reach_the_informer),
        cmocka_unit_test(a_page_size_of_zero_means_no_limit),
        cmocka_unit_test(every_format_has_its_word),
        cmocka_unit_test(the_paths_to_keep_include_the_names_of_the_object),
        cmocka_unit_test(without_keep_everything_is_kept),
        cmocka_unit_test(an_unknown_flag_gets_the_nearest_one_as_a_hint),
        cmocka_unit_test(an_invalid_value_is_refused_with_the_name_of_its_flag),
        cmocka_unit_test(too_many_flags_are_refused),
    };
    return RUN_TESTS(tests);
}
