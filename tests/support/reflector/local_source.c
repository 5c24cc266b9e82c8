/* SPDX-License-Identifier: Apache-2.0 */
#include "support/reflector/local_source.h"

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "client/client.h"
#include "util/list.h"

enum { FIRST_VERSION = 100, NAME_BYTES = 40, RECORD_BYTES = 512, EVENTS_AT_A_TIME = 50 };

/* A change, or the current state of an object. */
typedef struct record {
    char ns[NAME_BYTES];
    char name[NAME_BYTES];
    uint64_t uid;
    uint64_t version;
    int value;
    const char *type;
} record;

typedef struct records {
    record *items;
    size_t count;
    size_t capacity;
} records;

/* A request in progress; used by io. */
typedef struct request {
    ki_list_node node;
    ki_answer *answer;
    uint64_t version; /* a watch has sent everything up to this version */
    int cuts;         /* the number of cuts when it began */
    int is_watch;
    int is_answered; /* a watch: its head has been sent */
    int is_paused;
} request;

struct local_source {
    ki_client *client;
    ki_job job;
    ki_list requests; /* used by io */
    ki_mutex mu;
    records objects; /* guarded by mu, like everything below */
    records history;
    uint64_t version;
    uint64_t forgotten;
    uint64_t last_uid;
    int cuts;
    int is_silent;
    int http_status;
    int opened;
    int released;
    int lists;
};

typedef struct text {
    char *bytes;
    size_t len;
    size_t capacity;
} text;

static void *grow(void *old, size_t bytes)
{
    void *fresh = realloc(old, bytes);
    if (fresh == NULL)
        abort();
    return fresh;
}

/* ---- the objects ------------------------------------------------------------------------------------- */

static void append(records *to, const record *what)
{
    if (to->count == to->capacity) {
        to->capacity = to->capacity == 0 ? 64 : to->capacity * 2;
        to->items = grow(to->items, to->capacity * sizeof(*to->items));
    }
    to->items[to->count++] = *what;
}

static record *find_locked(local_source *source, const char *ns, const char *name)
{
    for (size_t i = 0; i < source->objects.count; i++)
        if (strcmp(source->objects.items[i].ns, ns) == 0 && strcmp(source->objects.items[i].name, name) == 0)
            return &source->objects.items[i];
    return NULL;
}

/* Watchers are notified by the job. */
static void changed(local_source *source)
{
    if (source->client != NULL)
        ki_job_wake(&source->job);
}

uint64_t local_source_put(local_source *source, const char *ns, const char *name, int value)
{
    ki_mutex_lock(&source->mu);
    record *found = find_locked(source, ns, name);
    record what = {.uid = found == NULL ? ++source->last_uid : found->uid,
                   .version = ++source->version,
                   .value = value,
                   .type = found == NULL ? "ADDED" : "MODIFIED"};
    snprintf(what.ns, sizeof(what.ns), "%s", ns);
    snprintf(what.name, sizeof(what.name), "%s", name);
    if (found == NULL)
        append(&source->objects, &what);
    else
        *found = what;
    append(&source->history, &what);
    ki_mutex_unlock(&source->mu);
    changed(source);
    return what.version;
}

uint64_t local_source_delete(local_source *source, const char *ns, const char *name)
{
    ki_mutex_lock(&source->mu);
    record *found = find_locked(source, ns, name);
    if (found != NULL) {
        record what = *found;
        what.type = "DELETED";
        what.version = ++source->version;
        *found = source->objects.items[--source->objects.count];
        append(&source->history, &what);
    }
    uint64_t version = source->version;
    ki_mutex_unlock(&source->mu);
    changed(source);
    return version;
}

size_t local_source_differences(local_source *source, const ki_store *store)
{
    ki_mutex_lock(&source->mu);
    size_t differences = 0;
    size_t stored = ki_store_count(store);
    if (stored > source->objects.count)
        differences = stored - source->objects.count;
    for (size_t i = 0; i < source->objects.count; i++) {
        const record *what = &source->objects.items[i];
        char version[24];
        snprintf(version, sizeof(version), "%" PRIu64, what->version);
        ki_object *object = ki_store_get(store, ki_str_of(what->ns), ki_str_of(what->name));
        differences +=
            object == NULL || !ki_str_equal(ki_object_resource_version(object), ki_str_of(version));
        (void)ki_object_unref(object);
    }
    ki_mutex_unlock(&source->mu);
    return differences;
}

/* ---- bodies ------------------------------------------------------------------------------------------ */

static void write_text(text *to, const char *bytes)
{
    size_t len = strlen(bytes);
    if (to->len + len + 1 > to->capacity) {
        to->capacity = (to->len + len + 1) * 2;
        to->bytes = grow(to->bytes, to->capacity);
    }
    memcpy(to->bytes + to->len, bytes, len + 1);
    to->len += len;
}

static void write_record(text *to, const record *what)
{
    char json[RECORD_BYTES];
    snprintf(json, sizeof(json),
             "{\"metadata\":{\"namespace\":\"%s\",\"name\":\"%s\","
             "\"uid\":\"u%" PRIu64 "\",\"resourceVersion\":\"%" PRIu64
             "\",\"annotations\":{\"tags\":\"t%d\"}},"
             "\"spec\":{\"value\":%d}}",
             what->ns, what->name, what->uid, what->version, what->value % 3, what->value);
    write_text(to, json);
}

static void write_list_locked(local_source *source, text *to)
{
    char head[RECORD_BYTES];
    snprintf(head, sizeof(head),
             "{\"apiVersion\":\"v1\",\"kind\":\"List\",\"metadata\":{\"resourceVersion\":\"%" PRIu64
             "\"},\"items\":[",
             source->version);
    write_text(to, head);
    for (size_t i = 0; i < source->objects.count; i++) {
        write_text(to, i == 0 ? "" : ",");
        write_record(to, &source->objects.items[i]);
    }
    write_text(to, "]}");
}

/* Writes some of the events after *version, and advances it. */
static void write_events_locked(local_source *source, uint64_t *version, text *to)
{
    int written = 0;
    for (size_t i = 0; i < source->history.count && written < EVENTS_AT_A_TIME; i++) {
        const record *what = &source->history.items[i];
        if (what->version <= *version)
            continue;
        write_text(to, "{\"type\":\"");
        write_text(to, what->type);
        write_text(to, "\",\"object\":");
        write_record(to, what);
        write_text(to, "}\n");
        *version = what->version;
        written++;
    }
}

static void write_status(text *to, int code)
{
    char json[RECORD_BYTES];
    snprintf(
        json, sizeof(json),
        "{\"kind\":\"Status\",\"apiVersion\":\"v1\",\"status\":\"Failure\",\"message\":\"no luck today\","
        "\"reason\":\"%s\",\"code\":%d}",
        code == 410   ? "Expired"
        : code == 403 ? "Forbidden"
                      : "Other",
        code);
    write_text(to, json);
}

/* ---- answering: io ----------------------------------------------------------------------------------- */

/* The action for a request; chosen under mu, done without it. */
typedef struct deed {
    text body;
    int http_status; /* 0: no head */
    int is_end;
    ki_reason reason;
} deed;

static void plan_watch_locked(local_source *source, request *asked, deed *out)
{
    if (asked->version < source->forgotten) {
        write_text(&out->body, "{\"type\":\"ERROR\",\"object\":");
        write_status(&out->body, 410);
        write_text(&out->body, "}\n");
        out->is_end = 1;
        return;
    }
    write_events_locked(source, &asked->version, &out->body);
}

/* Returns whether there is something to do. */
static int plan(local_source *source, request *asked, deed *out)
{
    *out = (deed){0};
    ki_mutex_lock(&source->mu);
    if (asked->cuts != source->cuts) {
        out->is_end = 1;
        out->reason = KI_REASON_CONNECTION_LOST;
    } else if (!source->is_silent && !asked->is_paused && source->http_status != 0) {
        out->http_status = source->http_status;
        write_status(&out->body, source->http_status);
        out->is_end = 1;
    } else if (!source->is_silent && !asked->is_paused && asked->is_watch) {
        plan_watch_locked(source, asked, out);
        out->http_status = asked->is_answered ? 0 : 200;
        asked->is_answered = 1;
    } else if (!source->is_silent && !asked->is_paused) {
        write_list_locked(source, &out->body);
        out->is_end = 1;
    }
    ki_mutex_unlock(&source->mu);
    return out->is_end || out->body.len > 0 || out->http_status != 0;
}

/* The request may be gone after each of these calls. */
static void act(request *asked, const deed *what)
{
    ki_answer *answer = asked->answer;
    int rc = 0;
    if (what->http_status != 0)
        ki_answer_head(answer, what->http_status, 0);
    if (what->body.len > 0)
        rc = ki_answer_body(answer, what->body.bytes, what->body.len);
    if (rc == KI_ERR_NOT_FOUND)
        return;
    asked->is_paused = rc == 1;
    if (!what->is_end)
        return;
    ki_list_remove(&asked->node);
    free(asked);
    ki_answer_end(answer, what->reason, NULL);
}

/* Requests begin and end inside the calls, so the search starts from the front each time. */
static int step(local_source *source)
{
    for (ki_list_node *node = ki_list_first(&source->requests); node != NULL;
         node = ki_list_next(&source->requests, node)) {
        request *asked = KI_CONTAINER_OF(node, request, node);
        deed what;
        int is_due = plan(source, asked, &what);
        if (is_due)
            act(asked, &what);
        free(what.body.bytes);
        if (is_due)
            return 1;
    }
    return 0;
}

static void run(ki_job *job)
{
    local_source *source = KI_CONTAINER_OF(job, local_source, job);
    if (step(source))
        ki_job_wake(job);
}

/* ---- the list_watch: io ------------------------------------------------------------------------------ */

static int begin(ki_answer *answer, const ki_list_options *options, void *user)
{
    local_source *source = user;
    char version[24];
    snprintf(version, sizeof(version), "%.*s", KI_STR_ARGS(options->resource_version));
    request *asked = grow(NULL, sizeof(*asked));
    *asked = (request){.answer = answer, .is_watch = options->watch, .version = strtoull(version, NULL, 10)};
    ki_mutex_lock(&source->mu);
    asked->cuts = source->cuts;
    source->lists += options->watch == 0;
    ki_mutex_unlock(&source->mu);
    ki_list_push_back(&source->requests, &asked->node);
    ki_answer_set_data(answer, asked);
    changed(source);
    return 0;
}

static void cancel(ki_answer *answer, void *user)
{
    (void)user;
    request *asked = ki_answer_data(answer);
    ki_list_remove(&asked->node);
    free(asked);
}

static void resume(ki_answer *answer, void *user)
{
    request *asked = ki_answer_data(answer);
    asked->is_paused = 0;
    changed(user);
}

static void release(void *user)
{
    local_source *source = user;
    ki_mutex_lock(&source->mu);
    source->released++;
    ki_mutex_unlock(&source->mu);
}

int local_source_open(const ki_resource *resource, const char *ns, ki_list_watch *out_list_watch,
                      ki_error *err, void *user)
{
    (void)resource;
    (void)ns;
    (void)err;
    local_source *source = user;
    ki_mutex_lock(&source->mu);
    source->opened++;
    ki_mutex_unlock(&source->mu);
    *out_list_watch = (ki_list_watch){.begin = begin,
                                      .cancel = cancel,
                                      .resume = resume,
                                      .release = release,
                                      .user = source,
                                      .no_watch_list = 1};
    return 0;
}

/* ---- creating and freeing ---------------------------------------------------------------------------- */

local_source *local_source_new(void)
{
    local_source *source = grow(NULL, sizeof(*source));
    *source = (local_source){.version = FIRST_VERSION};
    ki_list_init(&source->requests);
    ki_mutex_init(&source->mu);
    return source;
}

void local_source_attach(local_source *source, ki_client *client)
{
    ki_client_ref(client); /* for the loop of the job */
    source->client = client;
    if (ki_job_init(&source->job, client->io, run) < 0)
        abort();
}

ki_client *local_source_client(local_source *source, ki_client_options options)
{
    options.source = local_source_open;
    options.source_user = source;
    ki_client *client = ki_client_new(&options, NULL);
    if (client == NULL)
        abort();
    local_source_attach(source, client);
    return client;
}

void local_source_free(local_source *source)
{
    if (source == NULL)
        return;
    ki_job_fini(&source->job);
    if (source->client != NULL)
        ki_client_unref(source->client);
    ki_mutex_fini(&source->mu);
    free(source->objects.items);
    free(source->history.items);
    free(source);
}

/* ---- settings and counts ----------------------------------------------------------------------------- */

static int read_int(local_source *source, const int *field)
{
    ki_mutex_lock(&source->mu);
    int value = *field;
    ki_mutex_unlock(&source->mu);
    return value;
}

static void set_int(local_source *source, int *field, int value)
{
    ki_mutex_lock(&source->mu);
    *field = value;
    ki_mutex_unlock(&source->mu);
    changed(source);
}

void local_source_cut(local_source *source)
{
    set_int(source, &source->cuts, read_int(source, &source->cuts) + 1);
}

void local_source_forget(local_source *source)
{
    ki_mutex_lock(&source->mu);
    source->history.count = 0;
    source->forgotten = source->version;
    ki_mutex_unlock(&source->mu);
    changed(source);
}

void local_source_set_silent(local_source *source, int is_silent)
{
    set_int(source, &source->is_silent, is_silent);
}

void local_source_set_status(local_source *source, int http_status)
{
    set_int(source, &source->http_status, http_status);
}

uint64_t local_source_version(local_source *source)
{
    ki_mutex_lock(&source->mu);
    uint64_t version = source->version;
    ki_mutex_unlock(&source->mu);
    return version;
}

int local_source_opened(local_source *source)
{
    return read_int(source, &source->opened);
}

int local_source_released(local_source *source)
{
    return read_int(source, &source->released);
}

int local_source_lists(local_source *source)
{
    return read_int(source, &source->lists);
}
