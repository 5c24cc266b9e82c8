/* SPDX-License-Identifier: Apache-2.0 */
/* rest - single calls to the API server: get, list a page, create, update, patch, delete one or many.
 *
 * For programs that write: controllers, leader election, events. Who wants to know what there is asks an
 * informer's store, which costs the server nothing.
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
 * ki_rest_begin() does the same and waits for nothing: the answer comes by a callback.
 *
 * An answer of 429 or 5xx that says when to come back (Retry-After) is followed: the call is sent again then,
 * 10 times at most and not when that would be behind its time-out. When it is not sent again, retry_after_ms
 * of the error says how long the server asks to wait. 401 has the credentials made anew and is
 * tried once more. A GET or LIST whose connection was lost is sent again after a second; what writes is not,
 * since nobody knows whether it has been carried out: then the error is KI_ERR_HTTP, and a look at the object
 * tells. (libcurl repeats a request on a fresh connection if the server had closed the old one before a byte
 * of answer.)
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
    KI_REST_LIST,    /* one page of the collection; `list` says which */
    KI_REST_CREATE,  /* `body`, which names the object; with a subresource (eviction, token) of `name` */
    KI_REST_UPDATE,  /* `name` becomes `body`; with the subresource "status" that part alone */
    KI_REST_PATCH,   /* `name` is changed by `body` as `patch` says */
    KI_REST_DELETE,  /* the object `name` */
    KI_REST_DELETE_COLLECTION /* all that `list` selects in the namespace; `body` of the answer says which,
                               * and is empty when that is more than body_bytes_max */
} ki_rest_verb;

/** How the body of a patch is to be read. */
typedef enum ki_patch {
    KI_PATCH_JSON = 1,  /* RFC 6902: a list of operations */
    KI_PATCH_MERGE,     /* RFC 7386: what is there replaces, null removes */
    KI_PATCH_STRATEGIC, /* the same with lists merged by their keys; built-in resources only */
    KI_PATCH_APPLY      /* server-side apply: what `field_manager` wants; creates what is not there */
} ki_patch;

/** What becomes of what the deleted object owns. */
typedef enum ki_propagation {
    KI_PROPAGATION_DEFAULT = 0, /* as the server thinks best for the resource */
    KI_PROPAGATION_BACKGROUND,  /* deleted afterwards */
    KI_PROPAGATION_FOREGROUND,  /* deleted before */
    KI_PROPAGATION_ORPHAN       /* left alone */
} ki_propagation;

/** How a call ended. Borrowed by a callback for its time;
 * else the caller ends it with ki_rest_answer_fini(). */
typedef struct ki_rest_answer {
    ki_error error;   /* its code is 0 when all went well; else as ki_rest_run() returns it */
    int code;         /* the HTTP status of the last answer; 0: there was none */
    ki_reason reason; /* KI_REASON_NONE when all went well; else what went wrong, in a word */
    uint32_t attempts;
    uint32_t reserved_number;
    ki_object *object;       /* NULL after a list, and when what came has no name of its own (see `body`) */
    ki_str body;             /* the answer as it came, but for lists: a review, the Status of a delete */
    const ki_status *status; /* what the server says about a failure, or of a delete; NULL: nothing */

    /* Of a page. */
    ki_object **objects;
    size_t object_count;
    size_t refused_count;    /* items that cannot be used, having no name */
    ki_str continue_token;   /* for ki_list_options.continue_token of the next page; empty: there is none */
    ki_str resource_version; /* of the list; a watch may begin there */
    int64_t remaining_items; /* behind this page; -1: the server does not say */

    void *memory; /* the library's */
    uint64_t reserved[4];
} ki_rest_answer;

/**
 * Takes an answer. Called once for each call that was begun, whatever becomes of it.
 *
 * Threads: a handler thread, or inside ki_client_dispatch(), or of ki_client_free(); one such call at a
 *          time for all of a client, in the order in which the answers came.
 *          Anything may be called here but what waits.
 */
typedef void (*ki_rest_cb)(const ki_rest_answer *answer, void *user);

/** What is to be done; zero means default. Texts are copied. */
typedef struct ki_rest_request {
    int verb;  /* a ki_rest_verb */
    int patch; /* a ki_patch; of a patch */
    const ki_resource *resource;
    const char *ns; /* NULL or "": the resource has none; or a list of all namespaces */
    const char *name;
    const char *subresource; /* "status", "scale", …; NULL or "": none */
    ki_str body;             /* JSON; of create, update and patch */
    const ki_body *content;  /* instead of `body`; its failure is the call's. Copied */

    /* Of create, update and patch. */
    const char *field_manager;    /* who changes it; needed for KI_PATCH_APPLY. NULL: from the user agent */
    const char *field_validation; /* "Strict", "Warn", "Ignore"; NULL: as the server thinks best */
    int force;                    /* 1: KI_PATCH_APPLY takes fields away from other managers */
    int dry_run;                  /* 1: all is checked and answered, nothing is changed; of delete as well */

    /* Of delete. */
    int propagation;              /* a ki_propagation */
    int has_grace_period;         /* 1: grace_period_seconds counts */
    int64_t grace_period_seconds; /* 0: at once */
    ki_str if_uid;              /* only if it is this object, and not a later one of its name; of one alone */
    ki_str if_resource_version; /* only if it has not changed since */

    /* Of list and delete_collection; resource_version also of get. What concerns watches is refused. */
    ki_list_options list;

    /* What is kept of objects; NULL: all but metadata.managedFields. (An update without these leaves the
     * server's alone.) */
    const ki_object_options *objects;
    size_t body_bytes_max; /* of an answer; 0: 64 MiB */
    uint64_t timeout_ms; /* for all of it, waiting and further attempts too; 0: as the client's options say */
    int retries_max;     /* further attempts; 0: as the client's options say; negative: none */
    int reserved_flag;

    /* Of ki_rest_begin(). */
    ki_rest_cb on_answer; /* NULL: nobody wants to know */
    void *user;

    /* Of a get: any path of the server ("/version", "/apis"), in place of resource, namespace and name. Its
     * answer is `body` alone, whatever that is. */
    const char *path;
    const char *accept; /* the content types that are welcome; NULL: application/json */
    uint64_t reserved[6];
} ki_rest_request;

/**
 * Begins a call. When it has returned 0, `on_answer` is called once, whatever happens: at the latest in
 * ki_client_free(), then with KI_ERR_STOPPED.
 *
 * Returns: 0, with a number for ki_rest_cancel() in *out_id, which may be NULL; or, and then nobody is
 *          called, KI_ERR_INVALID (a request that no server could understand, or a client without a cluster),
 *          the failure of `content`,
 *          KI_ERR_NO_MEMORY, KI_ERR_SYSTEM (no threads), KI_ERR_STOPPED (the client is being freed),
 *          KI_ERR_FORKED (in a child).
 * Threads: any, also inside callbacks and read sections. Never waits.
 */
KI_API KI_NODISCARD int ki_rest_begin(ki_client *client, const ki_rest_request *request, uint64_t *out_id,
                                      ki_error *err);

/**
 * Gives up a call: its callback comes soon, with KI_ERR_STOPPED, or with the answer if that was faster. What
 * the server has received it may carry out all the same. A call that has ended is left alone.
 *
 * Threads: any. Never waits.
 */
KI_API void ki_rest_cancel(ki_client *client, uint64_t id);

/**
 * Makes a call and waits for its end. In KI_MODE_EVENT_LOOP it runs the loop meanwhile, handlers included,
 * and belongs on the thread that dispatches; in the other modes any thread of the program's may wait.
 *
 * Returns:   0; what ki_rest_begin() returns; or
 *            KI_ERR_NOT_FOUND (404), KI_ERR_ALREADY_EXISTS and KI_ERR_CONFLICT (409), KI_ERR_EXPIRED (410),
 *            KI_ERR_FORBIDDEN (403), KI_ERR_UNAUTHORIZED (401, or credentials that cannot be had),
 *            KI_ERR_TIMEOUT: no answer in time, or 504,
 *            KI_ERR_HTTP: any other refusal, or no connection; `reason` says which,
 *            KI_ERR_REFUSED: by the write gate (ki_client_set_write_gate()); nothing was sent,
 *            KI_ERR_TOO_LARGE: an answer beyond body_bytes_max,
 *            KI_ERR_METADATA, KI_ERR_NOT_A_LIST or an error of JSON: an answer that is not what was asked
 *            for, KI_ERR_STOPPED: the client was freed meanwhile,
 *            KI_ERR_WOULD_DEADLOCK: inside a callback or a read section.
 * Ownership: `out_answer`, which may be NULL, is zeroed by the caller before. It is written when the call has
 *            ended, well or not; the caller ends it with ki_rest_answer_fini() in any case.
 */
KI_API KI_NODISCARD int ki_rest_run(ki_client *client, const ki_rest_request *request,
                                    ki_rest_answer *out_answer, ki_error *err);

/**
 * One attempt to change an object: reads it anew, decides, writes it. ki_retry_on_conflict() calls it.
 *
 * Returns: 0, or the code with which it failed, with the story in `err`; ki_rest_run() writes both.
 */
typedef int (*ki_attempt_cb)(ki_error *err, void *user);

/**
 * Calls `attempt` until it returns something other than KI_ERR_CONFLICT, 5 times at most, with 10 to 11 ms in
 * between, as client-go's RetryOnConflict does. An attempt has to read the object from the server
 * (KI_REST_GET): an informer's store may not have seen the change yet that caused the conflict.
 *
 * It waits, so it belongs where ki_rest_run() does. A program on an event loop calls ki_rest_begin() and,
 * when the answer is KI_ERR_CONFLICT, begins again with a read; a controller puts the key back into its
 * queue.
 *
 * Returns: what the last attempt has returned; or, and then nothing was attempted, KI_ERR_INVALID,
 *          KI_ERR_WOULD_DEADLOCK inside a callback or a read section, KI_ERR_FORKED in a child.
 */
KI_API KI_NODISCARD int ki_retry_on_conflict(ki_client *client, ki_attempt_cb attempt, ki_error *err,
                                             void *user);

/** Takes a zeroed answer as well, and leaves one. */
KI_API void ki_rest_answer_fini(ki_rest_answer *answer);

KI_EXTERN_C_END

#endif
