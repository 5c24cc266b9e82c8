/* SPDX-License-Identifier: Apache-2.0 */
/* apiserver - a Kubernetes API server inside your program, with no etcd: for tests, demonstrations, tools.
 *
 * Link with libkinformer-apiserver. It serves all built-in resources and CustomResourceDefinitions over HTTP
 * on loopback, to kubectl and to any client:
 *
 *   ki_apiserver *server = ki_apiserver_start(NULL, &err);
 *   int rc = ki_apiserver_put(server, &KI_CORE_V1_PODS, "{\"metadata\":{\"name\":\"a\"}}", &err);
 *   ki_client *client = ki_client_new(&(ki_client_options){.server = ki_apiserver_url(server)}, &err);
 *   ki_fault cut = {.on = KI_FAULT_WATCH, .after_bytes = 1000, .action = KI_FAULT_RESET, .times = 3};
 *   ki_apiserver_fault(server, &cut);
 *
 * Every function may be called from any thread. A server belongs to the process that started it. In a forked
 * child ki_apiserver_url(), ki_apiserver_certificate() and ki_apiserver_write_kubeconfig() work; every other
 * function returns at once: KI_ERR_FORKED, or 0 for a count or a version, and those without a result do
 * nothing. ki_apiserver_stop() frees nothing there, and the parent's server goes on. A child may start a
 * server of its own.
 */
#ifndef KI_APISERVER_H
#define KI_APISERVER_H

#include <kinformer/common.h>
#include <kinformer/error.h>
#include <kinformer/resource.h>

KI_EXTERN_C_BEGIN

typedef struct ki_apiserver ki_apiserver;

/** Says that ki_apiserver_load() has dropped a field:
 * 'pods.yaml:3: document 1: unknown field "spec.nodeNam"'. */
typedef void (*ki_apiserver_warning_cb)(const char *message, void *user);

/** Controllers whose results the server makes up; a mask. */
typedef enum ki_simulate {
    KI_SIMULATE_DEPLOYMENTS = 1, /* replicas become available, without ReplicaSets and pods: the counts of a
                                  * Deployment's status, observedGeneration and the condition Available follow
                                  * its spec, written as by any client through its subresource status */
} ki_simulate;

/** Zeroed fields are the defaults; NULL for all of them. */
typedef struct ki_apiserver_options {
    const char *bind;      /* address; NULL: 127.0.0.1 */
    uint16_t port;         /* 0: a free one */
    uint16_t is_tls;       /* 1: HTTPS; with neither certificate nor key one is made, signed by itself */
    uint16_t allows_debug; /* 1: /debug/faults and /debug/… answer */
    uint16_t starts_down;  /* 1: no connection is accepted before ki_apiserver_up(), so that nobody sees it
                             * without the objects that are put or loaded first */
    const char *certificate_file; /* PEM */
    const char *key_file;
    const char *const *tokens; /* bearer tokens that are let in, ended by NULL; NULL: everyone is */
    uint64_t seed;             /* of faults and of generated names; 0: random */
    uint64_t first_version;    /* resourceVersion begins here; 0: from the clock */
    uint64_t bookmark_ms;      /* between bookmarks; 0: a minute */
    size_t history_events;     /* per resource; 0: 10,000 */
    size_t objects_max;        /* 0: 1,000,000 */
    size_t watches_max;        /* 0: 10,000; one more is 429 */
    size_t body_bytes_max;     /* 0: 3 MiB, as Kubernetes */
    size_t object_bytes_max; /* of one object as JSON; 0: 3 MiB, twice what etcd takes of its shorter form */
    size_t history_bytes;    /* of the objects in the history of a resource; 0: 256 MiB */
    size_t in_flight_bytes_max; /* of bodies and answers that are under way; 0: 1 GiB; more is 429 */
    const char *const *hosts; /* names, ended by NULL, that a Host may have without a token, besides localhost
                                 * and any address; NULL: none */
    ki_apiserver_warning_cb on_warning; /* called within ki_apiserver_load(); NULL: nobody is told */
    void *user;                         /* of on_warning */
    uint32_t simulate;                  /* a mask of ki_simulate; 0: objects change only when clients write */
    uint32_t simulate_ms;               /* from a change to what a controller makes of it; 0: 200 */
    uint64_t reserved[2];               /* 0 */
} ki_apiserver_options;

/**
 * Starts a server; it answers when this returns, unless it `starts_down`.
 *
 * Returns:   the server, or NULL with KI_ERR_SYSTEM (the port is taken, …), KI_ERR_INVALID or
 *            KI_ERR_NO_MEMORY.
 * Ownership: the caller frees it with ki_apiserver_stop().
 */
KI_API KI_NODISCARD ki_apiserver *ki_apiserver_start(const ki_apiserver_options *options, ki_error *err);

/** Ends every connection and frees the server. NULL is allowed. */
KI_API void ki_apiserver_stop(ki_apiserver *server);

/** "http://127.0.0.1:40123", until the server is freed. */
KI_API const char *ki_apiserver_url(const ki_apiserver *server);

/** The certificate (PEM) with which clients check a server with TLS; NULL without. */
KI_API const char *ki_apiserver_certificate(const ki_apiserver *server);

/** Writes a kubeconfig (mode 0600) with which kubectl finds the server. */
KI_API KI_NODISCARD int ki_apiserver_write_kubeconfig(const ki_apiserver *server, const char *file,
                                                      ki_error *err);

/**
 * Creates an object, or replaces the one that is there, as a client with all permissions would: what is
 * missing of metadata (uid, resourceVersion, …) is filled in, a missing namespace "default" for namespaced
 * kinds. A spec may lack what its kind demands, as a pod its containers: a test writes what it needs. Fields
 * that the kind does not have ("spec.nodeNam") are dropped, and nothing is said about them.
 *
 * Returns: 0, or KI_ERR_INVALID with the Status message of the refusal, KI_ERR_NOT_FOUND without its
 *          namespace, KI_ERR_RESOURCE for what is not served.
 */
KI_API KI_NODISCARD int ki_apiserver_put(ki_apiserver *server, const ki_resource *resource, const char *json,
                                         ki_error *err);

/**
 * Deletes an object at once, finalizers or not; a namespace or a definition with all that is in it. `ns` ""
 * or NULL for cluster scope.
 *
 * Returns: 0, KI_ERR_NOT_FOUND when there is none, KI_ERR_INVALID for a namespace that stays for ever,
 *          KI_ERR_RESOURCE for what is not served, KI_ERR_NO_MEMORY.
 */
KI_API KI_NODISCARD int ki_apiserver_delete(ki_apiserver *server, const ki_resource *resource, const char *ns,
                                            const char *name, ki_error *err);

/** What ki_apiserver_load() did. */
typedef struct ki_apiserver_loaded {
    size_t objects;
    size_t files;
    char message[4096]; /* why it ended, with file, line and document, longer than an error can say it; "" */
} ki_apiserver_loaded;

/**
 * Puts every object of a YAML or JSON file, or of all such files of a folder and of the folders in it (what
 * is hidden is left alone); namespaces and definitions of custom resources first. Objects are checked as
 * those of any client are. Fields that a kind does not have are dropped, and told to `on_warning` of the
 * options: the first hundred of each object.
 *
 * Returns: 0, or the first failure: KI_ERR_SYSTEM for what cannot be read, KI_ERR_RESOURCE for a kind that is
 *          not served, KI_ERR_INVALID, KI_ERR_NOT_FOUND without its namespace. What came before it stays.
 *          `out_loaded` (may be NULL) is written in either case.
 */
KI_API KI_NODISCARD int ki_apiserver_load(ki_apiserver *server, const char *path,
                                          ki_apiserver_loaded *out_loaded, ki_error *err);

/** How many objects of a resource there are; 0 for one that is not served. */
KI_API size_t ki_apiserver_count(ki_apiserver *server, const ki_resource *resource);

/** The resourceVersion of the latest change. */
KI_API uint64_t ki_apiserver_version(ki_apiserver *server);

/* ---- what can go wrong, on purpose ------------------------------------------------------------------- */

/** Which requests a fault is for; a mask. Each request is of one kind. */
typedef enum ki_fault_on {
    KI_FAULT_LIST = 1,
    KI_FAULT_WATCH = 2, /* without streamed lists */
    KI_FAULT_GET = 4,
    KI_FAULT_WRITE = 8,
    KI_FAULT_DISCOVERY = 16,
    KI_FAULT_STREAMED_LIST = 32, /* a watch with sendInitialEvents=true: an informer begins with one */
    KI_FAULT_ANY = 63,
} ki_fault_on;

typedef enum ki_fault_action {
    KI_FAULT_CLOSE = 1,     /* the connection ends with FIN, after after_bytes or after_events */
    KI_FAULT_RESET,         /* … with RST */
    KI_FAULT_STALL,         /* from there on nothing more comes, but the connection stays */
    KI_FAULT_DELAY,         /* the answer begins delay_ms later */
    KI_FAULT_ONE_BYTE,      /* every chunk is one byte */
    KI_FAULT_GARBAGE,       /* what follows is not JSON */
    KI_FAULT_TRUNCATE,      /* the body ends there as if it were complete */
    KI_FAULT_STATUS,        /* `code` instead of an answer, with retry_after_seconds if any */
    KI_FAULT_EXPIRED,       /* 410: of a list or page as a Status, of a watch in its stream */
    KI_FAULT_STALE,         /* the answer is that of a replica that is `behind` versions late */
    KI_FAULT_ENDLESS_PAGES, /* each page says that there is one more, and that is the same again */
    KI_FAULT_NO_WATCH_LIST, /* sendInitialEvents is refused as by an older server */
    KI_FAULT_NO_END_MARKER, /* a streamed list without its bookmark */
    KI_FAULT_NO_BOOKMARKS,
} ki_fault_action;

/** The methods of HTTP that a fault is for; a mask. */
typedef enum ki_fault_method {
    KI_FAULT_METHOD_GET = 1,
    KI_FAULT_METHOD_POST = 2,
    KI_FAULT_METHOD_PUT = 4,
    KI_FAULT_METHOD_PATCH = 8,
    KI_FAULT_METHOD_DELETE = 16,
    KI_FAULT_METHOD_ANY = 31,
} ki_fault_method;

/**
 * A rule. A request must match all of `on`, `methods`, `path`, `subresource`, `user_agent` and `remote` that
 * are set: a conflict for one client's writes of a status is
 *
 *   ki_fault conflict = {.action = KI_FAULT_STATUS, .code = 409, .methods = KI_FAULT_METHOD_PUT,
 *                        .subresource = "status", .user_agent = "replica-2"};
 */
typedef struct ki_fault {
    uint32_t on;           /* ki_fault_on, a mask; 0 or KI_FAULT_ANY: all that the action can change */
    uint32_t action;       /* a ki_fault_action */
    uint32_t times;        /* how many requests; 0: every one until ki_apiserver_heal() */
    uint32_t percent;      /* of the requests that match, decided by the seed; 0: all of them */
    uint64_t after_bytes;  /* of the body; for KI_FAULT_CLOSE, _RESET, _STALL, _GARBAGE and _TRUNCATE */
    uint32_t after_events; /* of a watch or streamed list; for the same. With both, whichever comes first */
    uint32_t code;         /* for KI_FAULT_STATUS, which needs it */
    uint32_t retry_after_seconds; /* for KI_FAULT_STATUS */
    uint32_t delay_ms;            /* for KI_FAULT_DELAY, which needs it */
    uint64_t behind;              /* for KI_FAULT_STALE, which needs it */
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

/** "close" for KI_FAULT_CLOSE, as /debug/faults and --fault have it. Returns: NULL for no action. */
KI_API const char *ki_apiserver_fault_name(uint32_t action);

/**
 * Whether a rule makes sense: one with a number that its action does not use, without one that it needs, or
 * for requests that it can never change would do nothing, and a test with it would pass for that. The same
 * holds for a rule that no request can match, such as a PUT that is a list, or a watch of a subresource.
 *
 * Returns: 0, or KI_ERR_INVALID with the reason, where fields have the names of /debug/faults.
 */
KI_API KI_NODISCARD int ki_apiserver_fault_check(const ki_fault *fault, ki_error *err);

/**
 * Adds a rule; of several that match the oldest is taken. A rule matches only what its action can change:
 * KI_FAULT_EXPIRED lists, streamed ones included, and watches; KI_FAULT_STALE gets, lists without a version,
 * streamed lists and watches that begin with what there is; KI_FAULT_ENDLESS_PAGES lists;
 * KI_FAULT_NO_WATCH_LIST streamed lists and watches with sendInitialEvents=false; KI_FAULT_NO_END_MARKER
 * streamed lists; KI_FAULT_NO_BOOKMARKS streamed lists and watches that ask for bookmarks; what has
 * after_events and no after_bytes streamed lists and watches. Others pass it by, and do not count for its
 * `times`.
 *
 * Returns: 0, KI_ERR_INVALID as ki_apiserver_fault_check(), KI_ERR_NO_MEMORY, or KI_ERR_TOO_LARGE when there
 *          are a thousand that are not spent.
 */
KI_API int ki_apiserver_fault(ki_apiserver *server, const ki_fault *fault);

/** Takes all rules away, from what is under way as well: what stalls goes on,
 * and what was to be cut later is not. */
KI_API void ki_apiserver_heal(ki_apiserver *server);

/** Forgets the history: watches and pages from before are answered 410. */
KI_API void ki_apiserver_compact(ki_apiserver *server);

/**
 * resourceVersions go back, as after a restored backup: the next change has one that is `by` lower than it
 * would have been, the history is forgotten, and watches end. Unlike after a backup the objects stay as they
 * are, even those from the time that is undone, and what was deleted then does not come back. Such newer
 * objects get the resourceVersion that is the latest now; several share it until they are changed.
 *
 * Returns: 0, KI_ERR_INVALID when `by` is not less than ki_apiserver_version(), KI_ERR_NO_MEMORY.
 */
KI_API KI_NODISCARD int ki_apiserver_rewind(ki_apiserver *server, uint64_t by, ki_error *err);

/** Ends every connection, with RST if `is_reset`; the server goes on. */
KI_API void ki_apiserver_cut(ki_apiserver *server, int is_reset);

/**
 * Closes the port and ends every connection for as long as it is down, as a server that restarts; objects
 * stay, and the port is the same again.
 */
KI_API void ki_apiserver_down(ki_apiserver *server);

/** The same, and the server comes up again by itself after `ms`, counted from when it is down. A call of
 * ki_apiserver_up() or ki_apiserver_down() meanwhile takes its place. */
KI_API void ki_apiserver_down_for(ki_apiserver *server, uint64_t ms);

/** Ends what ki_apiserver_down() began. Returns: 0, also when it is up, or KI_ERR_SYSTEM. */
KI_API KI_NODISCARD int ki_apiserver_up(ki_apiserver *server, ki_error *err);

/* ---- what was asked for ------------------------------------------------------------------------------ */

/** A request, as the log of the server has it. Texts are "" where there is nothing to say, are cut after
 * 2,048 bytes, and have '?' for bytes that are not printable ASCII. */
typedef struct ki_apiserver_request {
    uint64_t number;  /* counts all requests of this server from 1 on, in the order of their answers */
    int64_t time_us;  /* when its headers had come: microseconds since 1970, by the calendar */
    uint64_t took_us; /* from then until its answer began, or its connection ended without one */
    /* resourceVersion of the object after a write that succeeded, of a deletion that of its event; 0 for all
     * others. One counter numbers the changes of all objects: of two writes the one with the greater version
     * came later, unless it changed nothing. */
    uint64_t version;
    const char *method; /* "PUT" */
    const char *path;   /* with the query, as the client wrote it */
    const char *user_agent;
    const char *remote;   /* "127.0.0.1:40123" */
    const char *user;     /* "admin"; "" for a request that was not let in */
    const char *group;    /* "apps"; "" for the core group */
    const char *resource; /* "deployments" */
    const char *ns;
    const char *name;
    const char *subresource; /* "status" */
    const char *fault;       /* the action of the fault that it met, "status" */
    int32_t status;          /* of the answer; 0: there was none */
    uint32_t reserved_word;  /* 0 */
    uint64_t reserved[4];    /* 0 */
} ki_apiserver_request;

/** `request` is valid until the callback returns. All functions but ki_apiserver_stop() may be called. */
typedef void (*ki_apiserver_request_cb)(const ki_apiserver_request *request, void *user);

/**
 * Calls `each` for every request of the log whose number is greater than `since` (0: all), oldest first. The
 * log has the latest 10,000 requests, without those of /debug. A request is in it before the client sees its
 * answer; a watch from when it begins, a request without an answer from when its connection has ended.
 *
 * Who held a Lease when a request came is found by its history: a watch from a resourceVersion before the
 * first write tells all changes, as long as history_events lasts.
 *
 * Returns: the number of the latest request, which as the next `since` reads on.
 * Threads: `each` runs on the calling thread, without a lock.
 */
KI_API uint64_t ki_apiserver_requests(ki_apiserver *server, uint64_t since, ki_apiserver_request_cb each,
                                      void *user);

KI_EXTERN_C_END

#endif
