/* SPDX-License-Identifier: Apache-2.0 */
/* rest - single calls to the API server: get, list one page, create, update, patch, delete, delete a
 * collection.
 *
 * For programs that write: controllers, leader election, events. To read objects, use an informer's store,
 * which costs the server nothing.
 *
 *     ki_body *patch = ki_body_format("{metadata:{labels:{color:%s}}}", color);
 *     ki_rest_request request = {.verb = KI_REST_PATCH, .patch = KI_PATCH_MERGE,
 *                                .resource = &KI_CORE_V1_PODS, .ns = "web", .name = "api-0",
 *                                .content = patch};
 *     ki_rest_answer answer = {0};
 *     int rc = ki_rest_run(client, &request, &answer, &err);
 *     if (rc == KI_ERR_CONFLICT) …
 *     ki_rest_answer_fini(&answer);
 *     ki_body_free(patch);
 *
 * ki_rest_begin() does the same without waiting, and passes the result to a callback.
 *
 * Retries:
 *
 *   429 or 5xx with Retry-After   The call is sent again after that time, up to 10 times, but not when the
 *                                 timeout would pass first. When it is not retried, retry_after_ms of the
 *                                 error says how long the server asks to wait.
 *   401                           The credentials are renewed, and the call is sent once more.
 *   a GET or LIST is cut          It is sent again after a second, also up to 10 times.
 *   a write is cut                Never retried, since the server may have carried it out: the error is
 *                                 KI_ERR_HTTP; read the object to find out.
 *
 * A call that is started in a reconcile function, or in the callback of such a call, is only retried after a
 * 401, unless retries_max is set, here or in the client's options: pass the error to ki_retry(), and the key
 * waits in the queue. libcurl itself repeats a request on a new connection if the server closed the old one
 * before the first byte of a response.
 */
#ifndef KI_REST_H
#define KI_REST_H

#include <kinformer/body.h>
#include <kinformer/client.h>
#include <kinformer/common.h>
#include <kinformer/error.h>
#include <kinformer/list_watch.h>
#include <kinformer/object.h>
#include <kinformer/resource.h>
#include <kinformer/status.h>

KI_EXTERN_C_BEGIN

typedef enum ki_rest_verb {
    KI_REST_GET = 1, /* the object `name` */
    KI_REST_LIST,    /* one page of the collection, selected by `list` */
    KI_REST_CREATE,  /* create the object in `content` or `body`, which has its name; with a subresource
                     * (eviction, token): create that for the object `name` */
    KI_REST_UPDATE,  /* replace `name` by that object; with the subresource "status" only that part */
    KI_REST_PATCH,   /* change `name` by a patch of the type `patch`, in `content` or `body` */
    KI_REST_DELETE,  /* the object `name` */
    KI_REST_DELETE_COLLECTION /* all objects that `list` selects; of a namespaced resource, in `ns`, which is
                               * required. `body` of the response lists them; it is empty if it would exceed
                               * body_bytes_max */
} ki_rest_verb;

/** The type of a patch. */
typedef enum ki_patch {
    KI_PATCH_JSON = 1,  /* RFC 6902: a list of operations */
    KI_PATCH_MERGE,     /* RFC 7386: values replace, null removes */
    KI_PATCH_STRATEGIC, /* like MERGE, but lists are merged by their keys; built-in resources only */
    KI_PATCH_APPLY      /* server-side apply for `field_manager`; creates the object if it does not exist */
} ki_patch;

/** What happens to the objects that a deleted object owns. */
typedef enum ki_propagation {
    KI_PROPAGATION_DEFAULT = 0, /* the server's default for the resource */
    KI_PROPAGATION_BACKGROUND,  /* deleted after it */
    KI_PROPAGATION_FOREGROUND,  /* deleted before it */
    KI_PROPAGATION_ORPHAN       /* kept */
} ki_propagation;

/** The result of a call. Callbacks borrow it for the call; otherwise the caller frees it with
 * ki_rest_answer_fini(). */
typedef struct ki_rest_answer {
    ki_error error;   /* its code is 0 on success, else what ki_rest_run() returns */
    int http_status;  /* of the last response; 0: there was none */
    ki_reason reason; /* KI_REASON_NONE on success; else the kind of failure */
    uint32_t attempts;
    uint32_t reserved_number;
    ki_object *object;       /* NULL after a list, and when the response has no metadata.name (see `body`) */
    ki_str body;             /* the response as received, such as a review or the Status of a delete; empty
                              * after a successful list. Lives as long as the struct, like all texts here */
    const ki_status *status; /* the server's Status for a failure or a delete; NULL: none */

    /* For a list. */
    ki_object **objects;
    size_t object_count;
    size_t refused_count;    /* items without a name, which cannot be used */
    ki_str continue_token;   /* for ki_list_options.continue_token of the next page; empty: this is the
                              * last */
    ki_str resource_version; /* of the list; a watch may begin there */
    int64_t remaining_items; /* after this page; -1: the server does not say */

    uint64_t reserved[6]; /* the library's */
} ki_rest_answer;

/**
 * Receives the result of a call. Called exactly once for each call that was started.
 *
 * Threads: a handler thread, or inside ki_client_dispatch() or ki_client_free(); one at a time per client, in
 *          the order in which the responses arrived. As in every callback, functions that would wait, such
 *          as ki_rest_run(), return KI_ERR_WOULD_DEADLOCK; ki_rest_begin() works.
 */
typedef void (*ki_rest_cb)(const ki_rest_answer *answer, void *user);

/** A call to make; zero means default. Everything that it points to is copied. The texts of
 * ki_object_namespace() and ki_object_name() do not end with a NUL: ki_object_copy_fields() copies them. */
typedef struct ki_rest_request {
    ki_rest_verb verb;
    ki_patch patch; /* for KI_REST_PATCH only */
    const ki_resource *resource;
    const char *ns;   /* NULL or "": a cluster-scoped resource, or a list of all namespaces */
    const char *name; /* NULL or "" for a list, a delete_collection, and a create without a subresource */
    const char *subresource; /* "status", "scale", …; NULL or "": none */
    ki_str body;             /* JSON; for create, update and patch, and refused for other verbs */
    const ki_body *content;  /* instead of `body`, not beside it; a failed body fails the call. Copied */

    /* For create, update and patch. */
    const char *field_manager;    /* the name of the writer; required for KI_PATCH_APPLY. NULL: from the user
                                   * agent */
    const char *field_validation; /* "Strict", "Warn", "Ignore"; NULL: the server's default */
    int force;                    /* 1: takes fields away from other managers; for KI_PATCH_APPLY only */
    int dry_run;                  /* 1: the server checks the request but changes nothing; also for delete */

    /* For delete. */
    ki_propagation propagation;
    int has_grace_period;         /* 1: grace_period_seconds is used */
    int64_t grace_period_seconds; /* 0: at once */
    ki_str if_uid; /* only if the object has this UID, so that a later object of the same name is not
                    * deleted. Like if_resource_version, for KI_REST_DELETE only: refused by
                    * KI_REST_DELETE_COLLECTION, ignored by others */
    ki_str if_resource_version; /* only if the object has not changed since this version */

    /* For list and delete_collection; resource_version also for get. Options for watches are refused. A
     * `limit` of 0: everything in one response, up to body_bytes_max. */
    ki_list_options list;

    /* Which fields of objects are kept; NULL: all but metadata.managedFields. (An update without
     * managedFields does not change them on the server.) */
    const ki_object_options *objects;
    size_t body_bytes_max; /* of a response; 0: 64 MiB */
    uint64_t timeout_ms; /* for the whole call, including waits and retries; 0: as in the client's options */
    int retries_max;     /* 0: as in the client's options; negative: none */
    int reserved_flag;

    /* For ki_rest_begin(). */
    ki_rest_cb on_answer; /* NULL: the result is discarded */
    void *user;

    /* For a get: any path of the server ("/version", "/apis"), instead of resource, namespace and name. The
     * result has only `body`, which may have any type. */
    const char *path;
    const char *accept; /* the Accept header, without spaces; NULL: application/json */
    uint64_t reserved[6];
} ki_rest_request;

/**
 * Begins a call. After a return of 0, `on_answer` is called exactly once, at the latest in ki_client_free(),
 * then with KI_ERR_STOPPED.
 *
 * Returns: 0, with an id for ki_rest_cancel() in *out_id, never 0 (`out_id` may be NULL). On failure
 *          `on_answer` is not called: KI_ERR_INVALID (a malformed request, or a client without a cluster),
 *          the failure of `content`, KI_ERR_NO_MEMORY, KI_ERR_SYSTEM (no threads), KI_ERR_STOPPED (the client
 *          is being freed), KI_ERR_FORKED (in a child).
 * Threads: any, also inside callbacks and read sections. Never waits.
 */
KI_API KI_NODISCARD int ki_rest_begin(ki_client *client, const ki_rest_request *request, uint64_t *out_id,
                                      ki_error *err);

/**
 * Cancels a call: its callback is called soon, with KI_ERR_STOPPED, or with the response if that came first.
 * The server may still carry out a request that it has received. Does nothing when the call has ended.
 *
 * Threads: any. Never waits.
 */
KI_API void ki_rest_cancel(ki_client *client, uint64_t id);

/**
 * Makes a call and waits for its end. In KI_MODE_EVENT_LOOP it runs the loop meanwhile, handlers included:
 * call it on the thread that dispatches. In the other modes any thread may call it, and the loop is not run.
 *
 * Returns:   0; what ki_rest_begin() returns;
 *            KI_ERR_NOT_FOUND (404); KI_ERR_ALREADY_EXISTS, KI_ERR_CONFLICT (409); KI_ERR_EXPIRED (410);
 *            KI_ERR_FORBIDDEN (403); KI_ERR_UNAUTHORIZED (401, or the credentials could not be obtained);
 *            KI_ERR_TIMEOUT (no response in time, or 504);
 *            KI_ERR_HTTP (any other error status, or no connection: see `reason`);
 *            KI_ERR_REFUSED (the write gate refused it, nothing was sent: see ki_client_set_write_gate());
 *            KI_ERR_TOO_LARGE (the response exceeds body_bytes_max);
 *            KI_ERR_METADATA, KI_ERR_NOT_A_LIST or a JSON error (the response is not what was asked for);
 *            KI_ERR_STOPPED (the client was freed meanwhile);
 *            KI_ERR_WOULD_DEADLOCK (inside a callback or a read section).
 * Ownership: `out_answer`, which may be NULL, must be zeroed before the call. It is written when the call has
 *            ended, on success and on failure; the caller frees it with ki_rest_answer_fini() in either case.
 */
KI_API int ki_rest_run(ki_client *client, const ki_rest_request *request, ki_rest_answer *out_answer,
                       ki_error *err);

/**
 * One attempt to change an object, called by ki_retry_on_conflict(): reads the object, decides, writes it.
 *
 * Returns: 0, or an error code, with the message in `err`; as ki_rest_run() returns them.
 */
typedef int (*ki_attempt_cb)(ki_error *err, void *user);

/**
 * Calls `attempt`, on this thread, until it returns something other than KI_ERR_CONFLICT, at most 5 times,
 * with pauses of 10 to 11 ms, like client-go's RetryOnConflict. Each attempt must read the object from the
 * server (KI_REST_GET): an informer's store may not yet have the change that caused the conflict.
 *
 * It waits, so it can be called where ki_rest_run() can. A program on an event loop calls ki_rest_begin()
 * and, when the result is KI_ERR_CONFLICT, begins again with a read; a controller puts the key back into its
 * queue.
 *
 * If the client is freed meanwhile, no further attempt is made.
 *
 * Returns: what the last attempt returned. Without any attempt: KI_ERR_INVALID, KI_ERR_WOULD_DEADLOCK inside
 *          a callback or a read section, KI_ERR_FORKED in a child.
 */
KI_API KI_NODISCARD int ki_retry_on_conflict(ki_client *client, ki_attempt_cb attempt, ki_error *err,
                                             void *user);

/** Frees what `answer` holds, its objects included, and zeroes it. To keep an object, take a reference
 * first. NULL and a zeroed struct are allowed. */
KI_API void ki_rest_answer_fini(ki_rest_answer *answer);

KI_EXTERN_C_END

#endif
