/* SPDX-License-Identifier: Apache-2.0 */
#include "cli/watch_flags.h"

#include <kinformer/resources.h>
#include <kinformer/selector.h>
#include <stdlib.h>
#include <string.h>

#include "cli/failure.h"

#define AT(member) offsetof(cli_watch_flags, member)

static const cli_flag what_flags[] = {
    {"namespace", 'n', CLI_FLAG_TEXT, AT(ns), "NAME",
     "namespace to watch (default: that of the context, or \"default\")", NULL},
    {"all-namespaces", 'A', CLI_FLAG_BOOL, AT(all_namespaces), NULL, "watch all namespaces", NULL},
    {"selector", 'l', CLI_FLAG_TEXT, AT(label_selector), "SELECTOR",
     "filter by labels, as in app=web,tier in (a,b),!canary", NULL},
    {"field-selector", 0, CLI_FLAG_TEXT, AT(field_selector), "SELECTOR",
     "filter by fields, as in metadata.name=web", NULL},
    {"output", 'o', CLI_FLAG_CHOICE, AT(format), "FORMAT", "output format; see below", CLI_FORMATS},
};

static const cli_flag how_flags[] = {
    {"until-synced", 0, CLI_FLAG_BOOL, AT(until_synced), NULL,
     "exit once all existing objects have been written", NULL},
    {"timeout", 0, CLI_FLAG_DURATION, AT(timeout_ms), "DURATION",
     "with --until-synced: exit with 3 or 4 after this time; 0: no limit", NULL},
    {"quiet", 0, CLI_FLAG_BOOL, AT(quiet), NULL, "write only errors to stderr", NULL},
    {"stats", 0, CLI_FLAG_BOOL, AT(stats), NULL, "write statistics to stderr on exit, as JSON", NULL},
    {"resync", 0, CLI_FLAG_DURATION, AT(resync_ms), "DURATION",
     "deliver every object again at this interval; 0 disables it", NULL},
    {"page-size", 0, CLI_FLAG_NUMBER, AT(page_size), "N",
     "objects per page of a list (default 500); 0: no limit", NULL},
    {"watch-list", 0, CLI_FLAG_CHOICE, AT(watch_list), "WHEN",
     "stream lists as a watch: auto, always or never", "auto|always|never"},
    {"wire", 0, CLI_FLAG_CHOICE, AT(wire), "FORMAT", "format of lists and watches: auto, json or protobuf",
     "auto|json|protobuf"},
    {"keep", 0, CLI_FLAG_TEXT, AT(keep), "PATHS",
     "keep only these fields: /spec/nodeName,/status/podIP; see below", NULL},
    {"keep-managed-fields", 0, CLI_FLAG_BOOL, AT(keep_managed_fields), NULL,
     "keep metadata.managedFields, which are dropped by default", NULL},
};

void cli_watch_flags_init(cli_watch_flags *flags, cli_flag_group out_groups[CLI_WATCH_GROUPS])
{
    *flags = (cli_watch_flags){.page_size = -1, .timeout_ms = UINT64_MAX};
    out_groups[0] =
        (cli_flag_group){"What to watch", what_flags, sizeof(what_flags) / sizeof(what_flags[0]), flags};
    out_groups[1] = (cli_flag_group){"Options", how_flags, sizeof(how_flags) / sizeof(how_flags[0]), flags};
    out_groups[2] = cli_connection_flags(&flags->connection);
}

/* ---- checks -------------------------------------------------------------------------------------------- */

/* Servers accept every name that can be part of a path: names of roles may contain spaces. */
static int is_object_name(const char *name)
{
    char path[1];
    return name[0] != 0 && strlen(name) <= CLI_OBJECT_NAME_BYTES_MAX &&
           ki_resource_path(&KI_CORE_V1_NAMESPACES, KI_STR(""), ki_str_of(name), KI_STR(""), path,
                            sizeof(path)) > 0;
}

/* Escapes the special characters of field selectors. */
static void format_name_selector(char *out, const char *name)
{
    out = stpcpy(out, "metadata.name=");
    for (; *name != 0; name++) {
        if (strchr(",=\\", *name) != NULL)
            *out++ = '\\';
        *out++ = *name;
    }
    *out = 0;
}

/* Rejects the same combinations as kubectl. */
int cli_watch_flags_set_name(cli_watch_flags *flags, const char *name, ki_error *err)
{
    char shown[100];
    cli_shorten(shown, sizeof(shown), ki_str_of(name));
    if (!is_object_name(name))
        return cli_fail(err, "watch: \"%s\" is not a valid object name", shown);
    if (flags->label_selector != NULL || flags->field_selector != NULL)
        return cli_fail(err, "watch: the name \"%s\" cannot be used together with a selector", shown);
    if (flags->all_namespaces)
        return cli_fail(
            err, "watch: the name \"%s\" cannot be used together with -A; choose a namespace with -n", shown);
    format_name_selector(flags->name_selector, name);
    flags->field_selector = flags->name_selector;
    return 0;
}

/* As required by servers: letters, digits and '-', at most 63. */
static int check_namespace(const char *ns, ki_error *err)
{
    static const char letters[] = "abcdefghijklmnopqrstuvwxyz0123456789-";
    size_t n = strlen(ns);
    if (n > 63 || strspn(ns, letters) != n || ns[0] == '-' || (n > 0 && ns[n - 1] == '-'))
        return cli_fail(err, "-n (--namespace): \"%s\" is not a valid namespace", ns);
    return 0;
}

static int check_selectors(const cli_watch_flags *flags, ki_error *err)
{
    char first[1];
    ki_error why = {0};
    if (flags->label_selector != NULL) {
        ki_selector *selector = ki_selector_parse(ki_str_of(flags->label_selector), &why);
        ki_selector_free(selector);
        if (selector == NULL)
            return cli_fail(err, "-l (--selector): %s", why.message);
    }
    if (flags->field_selector != NULL &&
        ki_field_selector_format(ki_str_of(flags->field_selector), first, sizeof(first), &why) < 0)
        return cli_fail(err, "--field-selector: %s", why.message);
    return 0;
}

static int check_combinations(const cli_watch_flags *flags, ki_error *err)
{
    if (flags->all_namespaces && flags->ns != NULL && flags->ns[0] != 0)
        return cli_fail(err, "-n (--namespace) and -A (--all-namespaces) cannot be used together");
    if (flags->timeout_ms != UINT64_MAX && !flags->until_synced)
        return cli_fail(err, "--timeout can only be used together with --until-synced");
    return 0;
}

int cli_watch_flags_check(const cli_watch_flags *flags, ki_error *err)
{
    const char **paths = NULL;
    int rc = flags->ns == NULL ? 0 : check_namespace(flags->ns, err);
    if (rc == 0)
        rc = check_combinations(flags, err);
    if (rc == 0)
        rc = check_selectors(flags, err);
    if (rc == 0)
        rc = cli_watch_flags_keep(flags, &paths, err);
    if (rc == 0)
        free(paths);
    return rc;
}

/* ---- for the client and the informers ------------------------------------------------------------------ */

/* A server may leave one kind of list unanswered although it answers another (docs/consistency.md), so
 * --timeout must leave time for both. For a slow server, a request gets at least as long as a streamed
 * list. */
static uint64_t request_timeout_ms(const cli_watch_flags *flags)
{
    const uint64_t usual_ms = 60 * 1000;
    const uint64_t least_ms = 10 * 1000;
    uint64_t part_ms = flags->timeout_ms / 3;
    if (flags->connection.request_timeout_ms != 0 || flags->timeout_ms == 0 || part_ms >= usual_ms)
        return flags->connection.request_timeout_ms;
    return part_ms > least_ms ? part_ms : least_ms;
}

ki_client_options cli_watch_flags_client_options(const cli_watch_flags *flags)
{
    ki_client_options options = cli_connection_options(&flags->connection);
    options.mode = KI_MODE_EVENT_LOOP;
    options.ns = flags->ns == NULL || flags->ns[0] == 0 ? NULL : flags->ns;
    options.request_timeout_ms = request_timeout_ms(flags);
    return options;
}

ki_informer_options cli_watch_flags_options(const cli_watch_flags *flags)
{
    int64_t page_size = flags->page_size;
    if (page_size <= 0)
        page_size = page_size < 0 ? 0 : -1;
    return (ki_informer_options){.label_selector = flags->label_selector,
                                 .field_selector = flags->field_selector,
                                 .keep_managed_fields = flags->keep_managed_fields,
                                 .resync_ms = flags->resync_ms,
                                 .page_size = page_size,
                                 .watch_list = (ki_watch_list)flags->watch_list,
                                 .wire = (ki_wire)flags->wire};
}

static const char *const identity[] = {"/apiVersion",         "/kind",         "/metadata/name",
                                       "/metadata/namespace", "/metadata/uid", "/metadata/resourceVersion"};

enum { IDENTITY_COUNT = sizeof(identity) / sizeof(identity[0]) };

static size_t comma_count(const char *text)
{
    size_t count = 0;
    for (; *text != 0; text++)
        count += *text == ',';
    return count;
}

/* Fills in the pointers. Those to the user's paths point into the text, which follows the pointers in
 * memory. */
static void split(const char **paths, char *text)
{
    size_t count = 0;
    for (; count < IDENTITY_COUNT; count++)
        paths[count] = identity[count];
    for (char *at = text; at != NULL; count++) {
        char *comma = strchr(at, ',');
        if (comma != NULL)
            *comma = 0;
        paths[count] = at;
        at = comma == NULL ? NULL : comma + 1;
    }
    paths[count] = NULL;
}

int cli_watch_flags_keep(const cli_watch_flags *flags, const char ***out_paths, ki_error *err)
{
    if (flags->keep == NULL) {
        *out_paths = NULL;
        return 0;
    }
    size_t pointers = (IDENTITY_COUNT + comma_count(flags->keep) + 2) * sizeof(char *);
    char *memory = malloc(pointers + strlen(flags->keep) + 1);
    if (memory == NULL)
        return cli_fail_no_memory(err);
    const char **paths = (const char **)(void *)memory;
    split(paths, memcpy(memory + pointers, flags->keep, strlen(flags->keep) + 1));
    for (size_t i = IDENTITY_COUNT; paths[i] != NULL; i++)
        if (paths[i][0] != '/') {
            (void)cli_fail(err,
                           "--keep: \"%s\" is not a path; write paths as /spec/nodeName,/metadata/labels",
                           paths[i]);
            free(memory);
            return KI_ERR_INVALID;
        }
    *out_paths = paths;
    return 0;
}
