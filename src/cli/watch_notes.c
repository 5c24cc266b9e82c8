/* SPDX-License-Identifier: Apache-2.0 */
#include "cli/watch_notes.h"

#include <inttypes.h>
#include <stdarg.h>
#include <stdio.h>
#include <string.h>

#include "cli/connection_flags.h"
#include "cli/duration.h"
#include "cli/failure.h"

/* A function of cli/notices.h that prints a line. */
typedef void (*way_cb)(cli_notices *notices, uint64_t now_ms, const char *line);

typedef struct speaker {
    cli_follower *follower;
    uint64_t now_ms;
    way_cb way;       /* how to print, unless it is a loss */
    ki_reason reason; /* of the loss; KI_REASON_NONE: it is not a loss */
} speaker;

static void say(const speaker *by, const char *format, ...) KI_PRINTF(2, 3);

static void say(const speaker *by, const char *format, ...)
{
    char line[CLI_NOTICE_BYTES];
    va_list arguments;
    int n = snprintf(line, sizeof(line), "%s: ", by->follower->resource->name);
    va_start(arguments, format);
    vsnprintf(line + n, sizeof(line) - (size_t)n, format, arguments);
    va_end(arguments);
    if (by->reason != KI_REASON_NONE)
        cli_notices_lost(&by->follower->notices, by->now_ms, (unsigned)by->reason, line);
    else
        by->way(&by->follower->notices, by->now_ms, line);
}

#define note(follower, now_ms, ...)                                                                          \
    say(&(speaker){follower, now_ms, cli_notices_add, KI_REASON_NONE}, __VA_ARGS__)

static int is_quiet(const cli_follower *follower)
{
    return follower->watch->flags->quiet;
}

/* ---- outages ------------------------------------------------------------------------------------------- */

enum { REMIND_FIRST_MS = 60 * 1000, REMIND_LAST_MS = 60 * 60 * 1000 };

/* Counts a failure that prevents watching, or a lack of memory for the events of the watch. */
static void count_failure(cli_follower *follower, uint64_t now_ms, const ki_informer_error *error,
                          const ki_informer_status *status)
{
    cli_outage *outage = &follower->outage;
    if (follower->trouble == KI_REASON_NONE)
        *outage = (cli_outage){.began_ms = now_ms,
                               .lists = status->lists,
                               .had_synced = status->has_synced,
                               .pause_ms = REMIND_FIRST_MS};
    outage->failures++;
    outage->was_forbidden |= error->reason == KI_REASON_FORBIDDEN;
    outage->is_watching = status->phase == KI_PHASE_WATCHING;
    if (outage->remind_ms == 0)
        outage->remind_ms = now_ms + outage->pause_ms;
    snprintf(outage->why, sizeof(outage->why), "%s: %s", ki_reason_name(error->reason),
             error->error->message);
}

static void remind(cli_follower *follower, uint64_t now_ms)
{
    cli_outage *outage = &follower->outage;
    const speaker by = {follower, now_ms, NULL, follower->trouble};
    char length[CLI_DURATION_BYTES];
    cli_duration_format(now_ms - outage->began_ms, length);
    say(&by, "still not %s after %s and %" PRIu64 " failure%s, the last: %s",
        outage->is_watching ? "up to date" : "watching", length, outage->failures,
        outage->failures == 1 ? "" : "s", outage->why);
    outage->pause_ms = outage->pause_ms < REMIND_LAST_MS / 2 ? 2 * outage->pause_ms : REMIND_LAST_MS;
    outage->remind_ms = now_ms + outage->pause_ms;
}

void cli_watch_note_tick(cli_follower *follower, uint64_t now_ms)
{
    if (follower->outage.remind_ms != 0 && now_ms >= follower->outage.remind_ms)
        remind(follower, now_ms);
    cli_notices_tick(&follower->notices, now_ms);
}

uint64_t cli_watch_note_due_ms(const cli_follower *follower)
{
    uint64_t due_ms = cli_notices_due_ms(&follower->notices);
    uint64_t remind_ms = follower->outage.remind_ms;
    return remind_ms != 0 && remind_ms < due_ms ? remind_ms : due_ms;
}

static void note_back(cli_follower *follower, uint64_t now_ms, const ki_informer_status *status)
{
    const speaker by = {follower, now_ms, cli_notices_back, KI_REASON_NONE};
    char length[CLI_DURATION_BYTES];
    cli_duration_format(now_ms - follower->outage.began_ms, length);
    if (follower->outage.is_watching)
        say(&by, "up to date again after %s", length);
    else
        say(&by, "watching again after %s: %s", length,
            status->lists > follower->outage.lists ? "relisted" : "resumed");
}

/* ---- phases -------------------------------------------------------------------------------------------- */

static void say_watching(cli_follower *follower, uint64_t now_ms, const ki_informer_status *status)
{
    int is_back = follower->trouble != KI_REASON_NONE;
    int was_following = follower->was_watching || follower->outage.had_synced;
    const speaker by = {follower, now_ms, is_back ? cli_notices_back : cli_notices_add, KI_REASON_NONE};
    if (is_back && was_following)
        note_back(follower, now_ms, status);
    else
        say(&by, follower->was_watching ? "watching again" : "watching");
}

static void note_watching(cli_follower *follower, uint64_t now_ms, const ki_informer_status *status)
{
    if (!is_quiet(follower))
        say_watching(follower, now_ms, status);
    follower->was_watching = 1;
    follower->is_polled = 0;
    follower->trouble = KI_REASON_NONE;
}

/* Reported only once, until a watch has delivered something. */
static void note_polling(cli_follower *follower, uint64_t now_ms, const ki_informer_status *status)
{
    if (!follower->is_polled)
        note(follower, now_ms, "%s: %s", ki_reason_name(status->reason), status->message);
    follower->is_polled = 1;
    follower->outage.remind_ms = 0; /* the output is up to date */
}

/* A failure is reported by cli_watch_note_error(), which has more details. Its retries are not reported
 * before it is resolved. */
void cli_watch_note_status(cli_follower *follower, uint64_t now_ms, const ki_informer_status *status)
{
    if (status->reason == KI_REASON_POLLING)
        note_polling(follower, now_ms, status);
    if (status->reason != KI_REASON_NONE)
        return;
    follower->outage.remind_ms = 0; /* the informer makes progress */
    switch (status->phase) {
    case KI_PHASE_LISTING:
    case KI_PHASE_STREAMING_LIST:
        if (!is_quiet(follower))
            note(follower, now_ms, status->phase == KI_PHASE_LISTING ? "listing" : "listing (streamed)");
        break;
    case KI_PHASE_WATCHING:
        note_watching(follower, now_ms, status);
        break;
    case KI_PHASE_STOPPED:
    case KI_PHASE_BACKING_OFF:
        break;
    }
}

void cli_watch_note_synced(cli_follower *follower, uint64_t now_ms, const char *version)
{
    enum { SHOWN_BYTES_MAX = 64 };
    uint64_t ms = now_ms - follower->watch->began_ms;
    follower->is_delay_said = 0; /* from now on the same failure is news, since it affects the watch */
    if (is_quiet(follower))
        return;
    note(follower, now_ms, "synced: %" PRIu64 " object%s at version %.*s%s, after %" PRIu64 ".%03u s",
         follower->objects, follower->objects == 1 ? "" : "s", SHOWN_BYTES_MAX, version,
         strlen(version) > SHOWN_BYTES_MAX ? "..." : "", ms / 1000, (unsigned)(ms % 1000));
}

static int has_selectors(const cli_watch_flags *flags)
{
    return flags->label_selector != NULL || flags->field_selector != NULL;
}

/* What the user can do about the error; NULL if nothing, if it is temporary, or if the library's message says
 * it. */
static const char *advice(const cli_follower *follower, const ki_informer_error *error)
{
    const char *flag = cli_connection_advice(error->error->message);
    if (flag != NULL)
        return flag;
    if (error->party == KI_PARTY_PROXY && error->http_status == 407)
        return "the proxy needs a user and a password; add them to proxy-url";
    if (error->party == KI_PARTY_PROXY)
        return "check the cluster's proxy-url, HTTPS_PROXY and NO_PROXY";
    switch (error->reason) {
    case KI_REASON_NO_CREDENTIALS:
        return "check the user in the kubeconfig, or choose another (--user, --token)";
    case KI_REASON_UNAUTHORIZED:
        return "check the token, or the user of the context (--user, --token)";
    case KI_REASON_FORBIDDEN:
        return "the user needs the verbs list and watch; check with `kubectl auth can-i --list`";
    case KI_REASON_NOT_FOUND:
        if (follower->resource->made != NULL && !follower->watch->flags->all_namespaces)
            return "is its CRD installed? Use -A if the resource is cluster-scoped";
        return "does the server have this resource? `kubectl api-resources` lists them";
    case KI_REASON_CONNECTION_REFUSED:
    case KI_REASON_DNS:
        return "is the address right (--server, --context), and the server running?";
    case KI_REASON_TLS:
        return "check the address, --certificate-authority and --tls-server-name";
    case KI_REASON_MALFORMED:
        return follower->was_watching ? NULL : "is this a Kubernetes API server (--server), or a login page?";
    case KI_REASON_BAD_REQUEST:
        return has_selectors(follower->watch->flags) ? "does the server support these selectors?" : NULL;
    default:
        return NULL;
    }
}

static void format_next(char *buffer, size_t bytes, const ki_informer_error *error)
{
    if (error->retry_ms == 0)
        snprintf(buffer, bytes, "retrying");
    else
        snprintf(buffer, bytes, "retrying in %" PRIu64 ".%u s", error->retry_ms / 1000,
                 (unsigned)(error->retry_ms % 1000 / 100));
}

static void say_error(const speaker *by, const ki_informer_error *error)
{
    char next[64];
    const char *help = error->retry_ms == 0 ? NULL : advice(by->follower, error);
    format_next(next, sizeof(next), error);
    say(by, "%s: %s; %s%s%s%s", ki_reason_name(error->reason), error->error->message, next,
        help == NULL ? "" : " (", help == NULL ? "" : help, help == NULL ? "" : ")");
}

/* A failure that is retried at once with another request is reported without advice; if that fails as well
 * and has to wait, the advice is news. */
static int is_news(const cli_follower *follower, const ki_informer_error *error)
{
    return follower->trouble != error->reason || (error->retry_ms > 0 && !follower->is_delay_said);
}

/* A failure is not reported again until it is resolved or changes. An error whose reason differs from that
 * of the status did not affect the watch. */
void cli_watch_note_error(cli_follower *follower, uint64_t now_ms, const ki_informer_error *error,
                          const ki_informer_status *status)
{
    const speaker by = {follower, now_ms, NULL, error->reason};
    if (error->key[0] != 0) {
        note(follower, now_ms, "%s was not updated: %s", error->key, error->error->message);
    } else if (status->reason == KI_REASON_POLLING) {
        note_polling(follower, now_ms, status);
    } else if (status->reason != error->reason) {
        note(follower, now_ms, "%s: %s", ki_reason_name(error->reason), error->error->message);
    } else {
        int is_said = is_news(follower, error);
        count_failure(follower, now_ms, error, status);
        if (!is_said)
            return;
        say_error(&by, error);
        follower->trouble = error->reason;
        follower->is_delay_said = error->retry_ms > 0;
    }
}

/* ---- a timeout ----------------------------------------------------------------------------------------- */

/* What the resource is waiting for. */
static const char *missing(const cli_follower *follower)
{
    ki_informer_status status;
    if (follower->trouble != KI_REASON_NONE)
        return follower->outage.why;
    if (follower->watch->output->state == CLI_OUTPUT_STOPPED)
        return "the reader of stdout does not keep up";
    ki_informer_read_status(follower->informer, &status);
    return status.is_unanswered ? "the server has not responded" : "the list is not complete";
}

int cli_watch_note_unsynced(const cli_watch *watch)
{
    char length[CLI_DURATION_BYTES];
    int is_forbidden = 0;
    cli_duration_format(watch->flags->timeout_ms, length);
    for (size_t i = 0; i < watch->resources->count; i++) {
        const cli_follower *follower = &watch->followers[i];
        if (follower->is_synced)
            continue;
        int was_forbidden = follower->trouble != KI_REASON_NONE && follower->outage.was_forbidden;
        int is_last = follower->trouble == KI_REASON_FORBIDDEN;
        cli_say("%s: not synced after %s: %s%s", follower->resource->name, length, missing(follower),
                was_forbidden && !is_last ? "; permission was refused before (403)" : "");
        is_forbidden |= was_forbidden;
    }
    return is_forbidden;
}
