/* SPDX-License-Identifier: Apache-2.0 */
/* replay - an informer that replays a recorded list and a recorded watch.
 *
 *   replay LIST-FILE WATCH-FILE
 *
 * Each file is a whole HTTP response. The example shows the parts of a program with an informer: a handler,
 * an index and lookups. It also has a source of its own, with which a program can be tested without a
 * cluster. Exit status: 0; 1 when a response cannot be read; 2 for wrong usage.
 */
#include <kinformer.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* ---- the source: responses from two files ------------------------------------------------------------ */

typedef struct recording {
    char *list;
    char *watch;
    ki_client *client;
    ki_answer *watching; /* the open watch; NULL: none */
} recording;

/* The body of the HTTP response in a file, to be freed; NULL when it cannot be read. */
static char *read_body(const char *path)
{
    FILE *file = fopen(path, "rb");
    char *text = NULL;
    long size = 0;
    if (file != NULL && fseek(file, 0, SEEK_END) == 0 && (size = ftell(file)) > 0)
        text = calloc(1, (size_t)size + 1);
    if (text != NULL && fseek(file, 0, SEEK_SET) == 0 && fread(text, 1, (size_t)size, file) == (size_t)size) {
        const char *head_end = strstr(text, "\r\n\r\n");
        const char *body = head_end == NULL ? text : head_end + 4;
        memmove(text, body, strlen(body) + 1);
    }
    if (file != NULL)
        (void)fclose(file);
    return text;
}

static void play_watch(void *user)
{
    recording *from = user;
    if (from->watching != NULL)
        (void)ki_answer_body(from->watching, from->watch, strlen(from->watch));
}

/* A list ends when it is complete. A watch is answered a moment later and stays open. */
static int begin(ki_answer *answer, const ki_list_options *options, void *user)
{
    recording *from = user;
    if (options->watch) {
        from->watching = answer;
        ki_answer_head(answer, 200, 0);
        return ki_client_post(from->client, play_watch, from);
    }
    if (ki_answer_body(answer, from->list, strlen(from->list)) >= 0)
        ki_answer_end(answer, KI_REASON_NONE, NULL);
    return 0;
}

static void cancel(ki_answer *answer, void *user)
{
    recording *from = user;
    if (from->watching == answer)
        from->watching = NULL;
}

/* The whole body was sent at once, so nothing remains to be sent. */
static void resume(ki_answer *answer, void *user)
{
    (void)answer;
    (void)user;
}

/* ---- the program ------------------------------------------------------------------------------------- */

static void added(const ki_event *e, void *user)
{
    (void)user;
    printf("+ %s%s\n", ki_object_key(e->object), e->flags & KI_EVENT_INITIAL ? "" : " (new)");
}

static void updated(const ki_event *e, void *user)
{
    (void)user;
    ki_str was = ki_object_resource_version(e->old);
    ki_str is = ki_object_resource_version(e->object);
    printf("~ %s %.*s -> %.*s\n", ki_object_key(e->object), KI_STR_ARGS(was), KI_STR_ARGS(is));
}

static void deleted(const ki_event *e, void *user)
{
    (void)user;
    printf("- %s\n", ki_object_key(e->object));
}

static int print_owners(const ki_store *store)
{
    ki_str_list owners = {0};
    int rc = ki_store_list_values(store, "owner", &owners);
    for (size_t i = 0; i < owners.count && rc == 0; i++) {
        ki_object_list pods = {0};
        rc = ki_store_list_index(store, "owner", owners.texts[i], &pods);
        printf("  %zu of %.*s\n", pods.count, KI_STR_ARGS(owners.texts[i]));
        ki_object_list_fini(&pods);
    }
    ki_str_list_fini(&owners);
    return rc;
}

/* Everything runs inside ki_client_dispatch(), on this thread. */
static int follow(recording *from, ki_error *err)
{
    ki_list_watch source = {
        .begin = begin, .cancel = cancel, .resume = resume, .user = from, .no_watch_list = 1};
    ki_client *client = ki_client_new(&(ki_client_options){.mode = KI_MODE_EVENT_LOOP, .no_cluster = 1}, err);
    if (client == NULL)
        return -1;
    from->client = client;
    ki_factory *factory = ki_factory_new(client, &(ki_factory_options){.informer = {.list_watch = &source}});
    ki_informer *pods = ki_factory_informer(factory, &KI_CORE_V1_PODS, NULL);
    ki_informer_add_index_path(pods, "owner", "/metadata/ownerReferences/*/name");
    ki_informer_add_handler(pods, &(ki_handler){.on_add = added, .on_update = updated, .on_delete = deleted},
                            NULL);
    int rc = ki_factory_start(factory, err);
    while (rc == 0 && ki_client_dispatch(client, KI_BUDGET_NONE) > 0) {
    }
    if (rc == 0)
        rc = ki_factory_wait_for_sync(factory, 0, err);
    if (rc == 0) {
        char version[64];
        (void)ki_informer_last_resource_version(pods, version, sizeof(version));
        printf("= %zu pods at version %s\n", ki_store_count(ki_informer_store(pods)), version);
        rc = print_owners(ki_informer_store(pods));
    }
    ki_factory_free(factory);
    ki_client_free(client);
    return rc;
}

int main(int argc, char **argv)
{
    if (argc != 3) {
        fprintf(stderr, "usage: replay LIST-FILE WATCH-FILE\n");
        return 2;
    }
    ki_error err = {0};
    recording from = {.list = read_body(argv[1]), .watch = read_body(argv[2])};
    int rc = -1;
    if (from.list == NULL || from.watch == NULL)
        fprintf(stderr, "replay: %s cannot be read\n", from.list == NULL ? argv[1] : argv[2]);
    else if ((rc = follow(&from, &err)) < 0)
        fprintf(stderr, "replay: %s\n", err.message);
    free(from.list);
    free(from.watch);
    return rc < 0;
}
