/* SPDX-License-Identifier: Apache-2.0 */
/* apiserver - a Kubernetes API server inside your program, without etcd: for tests, demonstrations, tools.
 *
 * Link with libkinformer-apiserver. It does not need libkinformer, but libmicrohttpd, jansson, pcre2, GnuTLS,
 * zlib and libyaml. Constants such as KI_CORE_V1_PODS and functions such as ki_error_name() are in
 * libkinformer: a program that uses them links with both. The server serves all built-in resources and
 * CustomResourceDefinitions over HTTP on loopback, to kubectl and to any client:
 *
 *   ki_apiserver *server = ki_apiserver_start(NULL, &err);
 *   int rc = ki_apiserver_put(server, &KI_CORE_V1_PODS, "{\"metadata\":{\"name\":\"a\"}}", &err);
 *   ki_client *client = ki_client_new(&(ki_client_options){.server = ki_apiserver_url(server)}, &err);
 *   ki_fault_on on = KI_FAULT_WATCH | KI_FAULT_STREAMED_LIST;
 *   ki_fault cut = {.on = on, .after_bytes = 1000, .action = KI_FAULT_RESET, .times = 3};
 *   ki_apiserver_fault(server, &cut, &err);
 *
 * No constant exists for CustomResourceDefinitions. To put one, use ki_apiserver_load(), or this resource:
 * {.group = "apiextensions.k8s.io", .version = "v1", .plural = "customresourcedefinitions",
 *  .kind = "CustomResourceDefinition", .scope = KI_SCOPE_CLUSTER}
 *
 * Threads: any, for all calls; from callbacks of the library, too. A fault or a change has taken effect when
 *          its call returns.
 *
 * fork():  a server belongs to the process that started it. In a child, ki_apiserver_url(),
 *          ki_apiserver_certificate() and ki_apiserver_write_kubeconfig() work. Other functions return
 *          KI_ERR_FORKED at once, or 0 (a count or a version), or do nothing; ki_apiserver_requests() returns
 *          `since`. ki_apiserver_free() frees nothing there, and the parent's server continues. A child may
 *          start a server of its own.
 */
#ifndef KI_APISERVER_H
#define KI_APISERVER_H

#include <kinformer/common.h>
#include <kinformer/error.h>
#include <kinformer/resource.h>

KI_EXTERN_C_BEGIN

typedef struct ki_apiserver ki_apiserver;

/** Called when ki_apiserver_load() has dropped a field, on the thread of that call: 'pods.yaml:3: document 1:
 * unknown field "spec.nodeNam"'. The message is borrowed. */
typedef void (*ki_apiserver_warning_cb)(const char *message, void *user);

/** Controllers that the server simulates; a mask. */
typedef enum ki_simulate {
    KI_SIMULATE_DEPLOYMENTS = 1, /* replicas become available, without ReplicaSets and pods. The counts in
                                  * a Deployment's status, observedGeneration and the condition Available
                                  * follow its spec; they are written through the subresource status, as
                                  * any client would */
} ki_simulate;

/** Zero means default; NULL instead of the struct means all defaults. Texts are copied. */
typedef struct ki_apiserver_options {
    const char *bind; /* address; NULL: 127.0.0.1 */
    uint16_t port;    /* 0: any free port */
    int is_tls;       /* 1: HTTPS; without certificate and key a self-signed certificate is made */
    int allows_debug; /* 1: serve /debug/faults and /debug/… */
    int starts_down;  /* 1: accept no connection before ki_apiserver_up(), so that clients never see the
                       * server without the objects that are put or loaded first */
    const char *certificate_file; /* PEM; needs `key_file`. HTTPS is then served even if `is_tls` is 0 */
    const char *key_file;
    const char *const *tokens;  /* accepted bearer tokens, NULL-terminated; NULL: no token is needed */
    uint64_t seed;              /* for faults and generated names; 0: random */
    uint64_t first_version;     /* the first resourceVersion; 0: from the clock */
    uint64_t bookmark_ms;       /* time between bookmarks; 0: a minute */
    size_t history_events;      /* per resource; 0: 10,000 */
    size_t objects_max;         /* 0: 1,000,000; beyond that: 500 */
    size_t watches_max;         /* 0: 10,000; beyond that: 429 */
    size_t body_bytes_max;      /* 0: 3 MiB, as in Kubernetes */
    size_t object_bytes_max;    /* of one object as JSON; 0: 3 MiB, twice the limit of etcd, which stores a
                                 * more compact form */
    size_t history_bytes;       /* of the objects in the history of a resource; 0: 256 MiB */
    size_t in_flight_bytes_max; /* of requests and responses in flight; 0: 1 GiB; beyond that: 429 */
    const char *const *hosts;   /* host names, NULL-terminated, that requests without a token may have in
                                 * the header Host. localhost and all IP addresses are always allowed; NULL:
                                 * only these */
    ki_apiserver_warning_cb on_warning; /* called within ki_apiserver_load(); NULL: no warnings */
    void *user;                         /* for on_warning */
    uint32_t simulate;                  /* a mask of ki_simulate; 0: objects change only when clients write */
    uint32_t simulate_ms;               /* delay from a change to the simulated controller's write; 0: 200 */
    uint64_t reserved[8];               /* 0 */
} ki_apiserver_options;

/**
 * Starts a server; it accepts requests when this returns, unless `starts_down` is set.
 *
 * Returns:   the server, or NULL with KI_ERR_SYSTEM (for example, the port is in use), KI_ERR_INVALID or
 *            KI_ERR_NO_MEMORY.
 * Ownership: the caller frees it with ki_apiserver_free().
 */
KI_API KI_NODISCARD ki_apiserver *ki_apiserver_start(const ki_apiserver_options *options, ki_error *err);

/** Closes every connection, waits for the server's threads, and frees the server. NULL is allowed. */
KI_API void ki_apiserver_free(ki_apiserver *server);

/** The URL, "http://127.0.0.1:40123"; valid until the server is freed. NULL gives "", which ki_client_new()
 * refuses; an error already in its `err` is kept, for example that of ki_apiserver_start(). */
KI_API const char *ki_apiserver_url(const ki_apiserver *server);

/** The certificate (PEM) with which clients verify the server, valid until the server is freed; NULL without
 * TLS. */
KI_API const char *ki_apiserver_certificate(const ki_apiserver *server);

/** Writes a kubeconfig for this server, with its first token, for kubectl and other clients. Replaces the
 * file in one step; its mode is 0600. Returns: 0, KI_ERR_SYSTEM, KI_ERR_INVALID, KI_ERR_NO_MEMORY. */
KI_API KI_NODISCARD int ki_apiserver_write_kubeconfig(const ki_apiserver *server, const char *file,
                                                      ki_error *err);

/**
 * Creates or replaces an object, like a client with all permissions: missing metadata (uid, resourceVersion,
 * …) is filled in; the namespace of a namespaced kind defaults to "default". Required fields of a spec may be
 * missing, such as the containers of a pod: a test writes only what it needs. Fields that the kind does not
 * have ("spec.nodeNam") are dropped without a warning.
 *
 * Returns: 0, or KI_ERR_INVALID with the Status message of the rejection, KI_ERR_NOT_FOUND when the namespace
 *          does not exist, KI_ERR_RESOURCE for a resource that is not served, KI_ERR_NO_MEMORY.
 */
KI_API int ki_apiserver_put(ki_apiserver *server, const ki_resource *resource, const char *json,
                            ki_error *err);

/**
 * Deletes an object at once, even one with finalizers. A namespace or a CustomResourceDefinition is deleted
 * with all its objects. `ns` is "" or NULL for cluster-scoped resources.
 *
 * Returns: 0, KI_ERR_NOT_FOUND when it does not exist, KI_ERR_INVALID for a namespace that cannot be deleted,
 *          KI_ERR_RESOURCE for a resource that is not served, KI_ERR_NO_MEMORY.
 */
KI_API int ki_apiserver_delete(ki_apiserver *server, const ki_resource *resource, const char *ns,
                               const char *name, ki_error *err);

/** The result of ki_apiserver_load(). */
typedef struct ki_apiserver_loaded {
    size_t objects;
    size_t files;
    char message[4096]; /* the error, with file, line and document; may be longer than in a ki_error; "" on
                         * success */
    uint64_t reserved[4];
} ki_apiserver_loaded;

/**
 * Puts every object of a YAML or JSON file, or of all such files in a directory and its subdirectories
 * (hidden ones are skipped): namespaces and CustomResourceDefinitions first, then the rest. Objects are
 * validated like those of any client. Fields that a kind does not have are dropped, and reported to
 * `on_warning` of the options: the first hundred of each object.
 *
 * Returns: 0, or the first failure: KI_ERR_SYSTEM for a file that cannot be read, KI_ERR_RESOURCE for a kind
 *          that is not served, KI_ERR_INVALID, KI_ERR_NOT_FOUND when the namespace does not exist,
 *          KI_ERR_NO_MEMORY. Objects before the failure stay. `out_loaded`, which may be NULL, is written on
 *          success and on failure.
 */
KI_API KI_NODISCARD int ki_apiserver_load(ki_apiserver *server, const char *path,
                                          ki_apiserver_loaded *out_loaded, ki_error *err);

/** The number of objects of a resource; 0 for one that is not served. */
KI_API size_t ki_apiserver_count(const ki_apiserver *server, const ki_resource *resource);

/** The resourceVersion of the latest change. */
KI_API uint64_t ki_apiserver_version(const ki_apiserver *server);

/* ---- fault injection --------------------------------------------------------------------------------- */

/** The kinds of requests that a fault applies to; a mask. Each request is of one kind. */
typedef enum ki_fault_on {
    KI_FAULT_LIST = 1,
    KI_FAULT_WATCH = 2, /* a watch that does not begin with a list. An informer often needs none, because its
                         * streamed list continues as the watch: use KI_FAULT_STREAMED_LIST, too */
    KI_FAULT_GET = 4,
    KI_FAULT_WRITE = 8,
    KI_FAULT_DISCOVERY = 16,
    KI_FAULT_STREAMED_LIST = 32, /* a watch with sendInitialEvents=true: the list, and all events after it */
    KI_FAULT_ANY = 63,
} ki_fault_on;

typedef enum ki_fault_action {
    KI_FAULT_CLOSE = 1,     /* close the connection with FIN, after after_bytes or after_events */
    KI_FAULT_RESET,         /* close it with RST */
    KI_FAULT_STALL,         /* send nothing more, but keep the connection open */
    KI_FAULT_DELAY,         /* begin the response delay_ms later */
    KI_FAULT_ONE_BYTE,      /* send chunks of one byte */
    KI_FAULT_GARBAGE,       /* continue with bytes that are not JSON */
    KI_FAULT_TRUNCATE,      /* end the body early, as if it were complete */
    KI_FAULT_STATUS,        /* answer with `http_status`, and retry_after_seconds if set */
    KI_FAULT_EXPIRED,       /* 410: as a Status for a list, as an event for a watch */
    KI_FAULT_STALE,         /* answer like a replica that lags `behind` versions */
    KI_FAULT_ENDLESS_PAGES, /* every page has a continue token, which leads to the same page again */
    KI_FAULT_NO_WATCH_LIST, /* reject sendInitialEvents, like an older server */
    KI_FAULT_NO_END_MARKER, /* leave out the bookmark that ends a streamed list */
    KI_FAULT_NO_BOOKMARKS,
} ki_fault_action;

/** The HTTP methods that a fault applies to; a mask. */
typedef enum ki_fault_method {
    KI_FAULT_METHOD_GET = 1,
    KI_FAULT_METHOD_POST = 2,
    KI_FAULT_METHOD_PUT = 4,
    KI_FAULT_METHOD_PATCH = 8,
    KI_FAULT_METHOD_DELETE = 16,
    KI_FAULT_METHOD_ANY = 31,
} ki_fault_method;

/**
 * A fault rule. A request must match all of `on`, `methods`, `path`, `subresource`, `user_agent` and `remote`
 * that are set. For example, a conflict for one client's writes of a status:
 *
 *   ki_fault conflict = {.action = KI_FAULT_STATUS, .http_status = 409, .methods = KI_FAULT_METHOD_PUT,
 *                        .subresource = "status", .user_agent = "replica-2"};
 */
typedef struct ki_fault {
    uint32_t on; /* ki_fault_on, a mask; 0 or KI_FAULT_ANY: all that the action applies to */
    ki_fault_action action;
    uint32_t times;        /* number of requests; 0: every request until ki_apiserver_clear_faults() */
    uint32_t percent;      /* of matching requests, chosen by the seed; 0: all */
    uint64_t after_bytes;  /* of the body; for KI_FAULT_CLOSE, _RESET, _STALL, _GARBAGE and _TRUNCATE */
    uint32_t after_events; /* of a watch or streamed list; for the same actions. If after_bytes is set as
                            * well, whichever is reached first */
    uint32_t http_status;  /* for KI_FAULT_STATUS, required */
    uint32_t retry_after_seconds; /* for KI_FAULT_STATUS */
    uint32_t delay_ms;            /* for KI_FAULT_DELAY, required */
    uint64_t behind;              /* for KI_FAULT_STALE, required */
    const char *path;             /* only requests whose path contains this; NULL: all */
    const char *user_agent;       /* only requests whose User-Agent contains this; NULL: all */
    const char *remote;           /* only requests from this address, "127.0.0.1", or from this connection,
                                   * "127.0.0.1:40123" or "[::1]:40123"; NULL: all */
    const char *subresource;      /* only requests for this subresource, "status"; "": only those for objects
                                   * and collections themselves; NULL: all */
    uint32_t methods;             /* ki_fault_method, a mask; 0: all */
    uint32_t reserved_word;       /* 0 */
    uint64_t reserved[4];         /* 0 */
} ki_fault;

/** "close" for KI_FAULT_CLOSE, as used by /debug/faults and --fault. Returns: NULL for an unknown action. */
KI_API const char *ki_apiserver_fault_name(ki_fault_action action);

/**
 * Checks a rule. It rejects a rule that could never have an effect, since a test with such a rule would pass
 * for the wrong reason. Such a rule sets a number that its action does not use, lacks a number that its
 * action requires, is for requests that its action does not apply to, or matches no request at all, such as a
 * PUT that is a list, or a watch of a subresource.
 *
 * Returns: 0, or KI_ERR_INVALID with the reason; it names fields as /debug/faults does.
 */
KI_API KI_NODISCARD int ki_apiserver_fault_check(const ki_fault *fault, ki_error *err);

/**
 * Adds a rule; of several that match, the oldest applies. A request that the action cannot affect does not
 * match, and does not use up `times`. Some actions affect these requests only:
 *
 *   KI_FAULT_EXPIRED         lists, streamed lists, watches
 *   KI_FAULT_STALE           gets, lists without a version, streamed lists, watches that begin with the
 *                            current objects
 *   KI_FAULT_ENDLESS_PAGES   lists
 *   KI_FAULT_NO_WATCH_LIST   streamed lists, watches with sendInitialEvents=false
 *   KI_FAULT_NO_END_MARKER   streamed lists
 *   KI_FAULT_NO_BOOKMARKS    streamed lists, watches that ask for bookmarks
 *   any, with after_events and without after_bytes: streamed lists, watches
 *
 * A test should check that its fault was applied: ki_apiserver_requests() has the fault of each request.
 *
 * Returns: 0, KI_ERR_INVALID as ki_apiserver_fault_check(), KI_ERR_NO_MEMORY, or KI_ERR_TOO_LARGE when a
 *          thousand rules are active.
 */
KI_API int ki_apiserver_fault(ki_apiserver *server, const ki_fault *fault, ki_error *err);

/** Removes all rules, also for requests in progress: requests that have stalled continue, and requests that
 * would have been cut are not. */
KI_API void ki_apiserver_clear_faults(ki_apiserver *server);

/** Clears the history: watches and pages that are requested from an earlier version are answered with 410.
 * Open watches continue; those that still have events to send end with 410. */
KI_API void ki_apiserver_compact(ki_apiserver *server);

/**
 * Sets resourceVersions back, as after a restored backup, but no object changes: the next change gets a
 * version that is `by` lower than it would have been, the history is cleared, and watches end. An object
 * whose version is now in the future gets the version that is now the latest, and keeps it until it is
 * changed.
 *
 * Returns: 0, KI_ERR_INVALID when `by` is not less than ki_apiserver_version(), KI_ERR_NO_MEMORY.
 */
KI_API KI_NODISCARD int ki_apiserver_rewind(ki_apiserver *server, uint64_t by, ki_error *err);

/** Closes every connection, with RST if `is_reset`; the server keeps running. */
KI_API void ki_apiserver_cut(ki_apiserver *server, int is_reset);

/**
 * Closes the port and every connection, like a server that restarts, until ki_apiserver_up(). Objects and the
 * port number stay the same.
 */
KI_API void ki_apiserver_down(ki_apiserver *server);

/** Like ki_apiserver_down(), but the server comes up again by itself `ms` milliseconds after this returns. A
 * later ki_apiserver_up() or ki_apiserver_down() overrides this. */
KI_API void ki_apiserver_down_for(ki_apiserver *server, uint64_t ms);

/** Brings the server up again after ki_apiserver_down(). Returns: 0, also when it is already up, or
 * KI_ERR_SYSTEM. */
KI_API KI_NODISCARD int ki_apiserver_up(ki_apiserver *server, ki_error *err);

/* ---- the request log --------------------------------------------------------------------------------- */

/** A request in the server's log. Texts are "" where they do not apply, are cut after 2,048 bytes, and have
 * '?' for bytes that are not printable ASCII. */
typedef struct ki_apiserver_request {
    uint64_t number;  /* counts all requests of this server from 1, in the order of their responses */
    int64_t time_us;  /* when its headers had arrived: microseconds since 1970, real time */
    uint64_t took_us; /* from then until the response began, or the connection ended without one */
    /* After a successful write: the resourceVersion of the object, or, for a deletion, of its event. 0 for
     * all other requests. All objects share one counter: of two writes, the one with the greater version came
     * later, unless it changed nothing. */
    uint64_t version;
    const char *method; /* "PUT" */
    const char *path;   /* with the query, as the client wrote it */
    const char *user_agent;
    const char *remote;    /* "127.0.0.1:40123" */
    const char *user_name; /* "admin"; "" for a request that was not authenticated */
    const char *group;     /* "apps"; "" for the core group */
    const char *resource;  /* "deployments" */
    const char *ns;
    const char *name;
    const char *subresource; /* "status" */
    const char *fault;       /* the action of the fault that was applied, "status" */
    int http_status;         /* of the response; 0: there was none */
    uint32_t reserved_word;  /* 0 */
    uint64_t reserved[4];    /* 0 */
} ki_apiserver_request;

/** `request` is valid until the callback returns. All functions except ki_apiserver_free() may be called from
 * it. */
typedef void (*ki_apiserver_request_cb)(const ki_apiserver_request *request, void *user);

/**
 * Calls `each` for every request of the log whose number is greater than `since` (0: all), oldest first;
 * NULL: calls nothing. The log has the latest 10,000 requests, except those for /debug. A request is added
 * before the client sees its response; a watch when it begins; a request without a response when its
 * connection has ended.
 *
 * To find out who held a Lease at the time of a request, watch the Lease from a resourceVersion before its
 * first write: the watch shows all changes that history_events covers.
 *
 * Returns: the number of the latest request; pass it as the next `since` to continue. For a NULL server, and
 *          in a child of fork(): `since`.
 * Threads: `each` runs on the calling thread, without a lock.
 */
KI_API uint64_t ki_apiserver_requests(const ki_apiserver *server, uint64_t since,
                                      ki_apiserver_request_cb each, void *user);

KI_EXTERN_C_END

#endif
