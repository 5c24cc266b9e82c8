/* SPDX-License-Identifier: Apache-2.0 */
/* client - the connection to a cluster, and the threads that informers run on.
 *
 * Informers of one client share its threads: `io`, which sends requests and reads responses; `dispatch`,
 * which updates the stores; and the handler threads, one for each registration, so that a slow handler does
 * not delay the others.
 *
 * How it behaves in a program that does other things too:
 *
 *   Lifetimes  Everything made with a client keeps the client's memory alive: see ki_client_free(). Objects
 *              may be freed in any order and on any thread, in exit handlers too. What your own callbacks use
 *              must outlive them. It is always right to free the leader first, then the controller, the
 *              recorder, the factory and the client.
 *   fork()     A client belongs to the process that made it. In a child, every call that needs a running
 *              client returns KI_ERR_FORKED at once, or NULL if it returns a pointer. Stores can be read
 *              there, in the state they had at the fork. Stops and frees return at once and free no memory;
 *              ki_client_free() only closes the child's copies of the descriptors, which does not affect the
 *              parent. Do not call it after the child has closed descriptors itself: their numbers may have
 *              been reused. A child can make clients of its own. A child that was forked inside a callback
 *              must not return from it.
 *   dlclose()  The library stays loaded, because threads that are ending still need it.
 *   Signals    All signals except those for faults (SIGSEGV, SIGBUS, SIGFPE, SIGILL, SIGTRAP, SIGSYS) are
 *              blocked in the library's threads, so the program's signal handlers run on the program's
 *              threads. The library installs no signal handler, and its functions must not be called in
 *              one, because they take locks. A broken connection raises no SIGPIPE on any thread. The library
 *              waits for its own child processes only, by process id; the program may ignore SIGCHLD, or wait
 *              for any child. A wait that is interrupted by a signal continues.
 *   libcurl    The first client that has a cluster calls curl_global_init(CURL_GLOBAL_DEFAULT), once;
 *              curl_global_cleanup() is never called. A program that uses libcurl itself may initialize and
 *              clean it up at any time: libcurl counts these calls. Memory functions for libcurl
 *              (curl_global_init_mem()) must be set before the first client is made.
 *   Memory     Comes from the allocator in <kinformer/alloc.h>; libcurl and its TLS library use their own.
 */
#ifndef KI_CLIENT_H
#define KI_CLIENT_H

#include <kinformer/common.h>
#include <kinformer/error.h>
#include <kinformer/list_watch.h>
#include <kinformer/log.h>
#include <kinformer/metrics.h>
#include <kinformer/resource.h>

KI_EXTERN_C_BEGIN

typedef struct ki_client ki_client;
typedef struct ki_config ki_config; /* <kinformer/config.h> */

/** What runs where. In the two modes with a loop, a call that waits for something of the client, such as a
 * stop or a free, runs the loop meanwhile, as ki_client_dispatch() does: make it on the thread that
 * dispatches. Exception: with KI_MODE_HANDLERS_ON_LOOP, ki_rest_run() and ki_retry_on_conflict() do not run
 * the loop, and may be called on any thread. */
typedef enum ki_mode {
    KI_MODE_THREADS = 0, /* everything runs on the library's threads */
    /* Handlers, reconcile functions and the callbacks of single calls run inside ki_client_dispatch(); index
     * functions, transforms, tweaks, status and error callbacks, write gates and the log still run on the
     * library's threads. */
    KI_MODE_HANDLERS_ON_LOOP,
    KI_MODE_EVENT_LOOP /* everything runs inside ki_client_dispatch(); the library has no threads */
} ki_mode;

/**
 * Makes the list_watch of a collection. Informers use it unless ki_informer_options.list_watch is set. `ns`
 * is "" for all namespaces.
 *
 * Returns: 0 with *out_list_watch set, whose `release` is called when it is no longer needed; or a negative
 *          code, with the reason in `err`.
 * Threads: the thread that calls ki_informer_new() or ki_feed_new(). Inside this function, calls that would
 *          wait return KI_ERR_WOULD_DEADLOCK.
 */
typedef int (*ki_source_cb)(const ki_resource *resource, const char *ns, ki_list_watch *out_list_watch,
                            ki_error *err, void *user);

/**
 * Zero means default: the cluster and the user that kubectl would use. Texts are copied.
 *
 * Requests go through a proxy when the cluster has a `proxy-url` or the environment names one ($HTTPS_PROXY
 * and so on): http, https or socks5. As with kubectl, the certificate of an HTTPS proxy is verified with the
 * cluster's CA, and not at all with `insecure_skip_tls_verify`; the client certificate is sent to the proxy
 * if it asks for one; and a socks5 proxy resolves the server's name itself. Unlike with kubectl,
 * `tls_server_name` does not apply to the proxy: its certificate must have the proxy's own name.
 *
 * Tokens and passwords are sent over https:// only, and exec plug-ins are run for https:// servers only,
 * wherever these are configured, even for a loopback address. `allow_plaintext_credentials` removes this
 * restriction. When credentials are withheld, a warning of the component "credentials" is logged once, and
 * the errors for 401 and 403 say so. As with kubectl, a server without a scheme ("host:6443") is reached over
 * https:// if a certificate authority, a client certificate or `insecure_skip_tls_verify` is given, else over
 * http://.
 */
typedef struct ki_client_options {
    ki_mode mode;
    int no_cluster; /* 1: no cluster; every informer must have a list_watch of its own */

    /* Server and credentials; each like the kubectl flag of the same name. NULL: from the kubeconfig. */
    const char *kubeconfig; /* NULL: $KUBECONFIG, ~/.kube/config, or the files of a pod */
    const char *context;
    const char *cluster;
    const char *kube_user; /* kubectl's --user: an entry of the kubeconfig */
    const char *server;    /* "https://10.0.0.1:6443"; sufficient without a kubeconfig; "" is refused */
    const char *token;
    const char *certificate_authority; /* a file */
    const char *tls_server_name;       /* a host name or an address */
    const char *client_certificate;    /* a file, like client_key; set both */
    const char *client_key;
    const char *username; /* with `password`, instead of a token */
    const char *password;
    const char *as_user; /* kubectl's --as */
    const char *as_uid;
    const char *const *as_groups; /* NULL-terminated */
    const char *ns; /* what ki_client_namespace() returns; informers and calls have an `ns` of their own */
    int insecure_skip_tls_verify;

    /* Connections. */
    int http2; /* 1: with https://, many watches share a connection. Then lists are not streamed, except for
                * informers with KI_WATCH_LIST_ALWAYS */
    int gzip;  /* 1: ask for compressed responses */
    int allow_plaintext_credentials; /* 1: tokens and passwords are sent over http:// too */
    const char *user_agent;          /* NULL: "kinformer/" and the version; no control characters */
    size_t connections_max;          /* 0: no limit. With http2, counted separately for HTTP/1.1 and HTTP/2 */
    uint64_t connect_timeout_ms;     /* 0: 30,000 */
    size_t head_bytes_max;           /* of a response: status line, headers and trailers; 0: 64 KiB */

    size_t handler_threads; /* handlers share this many threads; 0: one thread for each. Refused in
                             * modes other than KI_MODE_THREADS */
    ki_source_cb source;    /* answers requests instead of a cluster; all options for server, credentials and
                             * connections are then ignored */
    void *source_user;
    ki_metrics *metrics; /* may be shared between clients, each of which keeps a reference; NULL: the
                          * client makes its own, see ki_client_metrics() */

    /* For single calls (<kinformer/rest.h>). request_timeout_ms also applies to lists: it is the time until
     * the response begins. Watches have no such limit. */
    uint64_t request_timeout_ms; /* 0: 60,000, like the servers' own */
    double requests_per_second;  /* client-go's QPS: further requests wait; 0: no limit */
    uint64_t requests_burst;     /* requests that need not wait at first; 0: 10 */
    uint64_t requests_at_once;   /* requests in flight; further ones wait, up to their timeout. 0: 64 */

    /* More about server and credentials. `config` was loaded with ki_config_new(). It replaces all other
     * options for server and credentials. With it, these must not be set:
     *   - kubeconfig, context, cluster, kube_user, server, ns;
     *   - token, token_file, username, password, as_user, as_uid, as_groups, allow_plaintext_credentials;
     *   - certificate_authority, client_certificate, client_key, tls_server_name, insecure_skip_tls_verify;
     *   - kubeconfig_text, certificate_authority_pem, client_certificate_pem, client_key_pem. */
    const ki_config *config;
    const char *kubeconfig_text; /* instead of files; relative file names in it start in the current
                                  * directory */
    /* Read again before a request when 50 s have passed since the last read, and after a 401. While it cannot
     * be read, the last token is used, and a warning is logged once. A `token` beside it is used until the
     * file has been read for the first time. */
    const char *token_file;
    const char *certificate_authority_pem; /* PEM text instead of a file, like the two below */
    const char *client_certificate_pem;
    const char *client_key_pem;

    /* Receives the log records of this client and of everything made with it, instead of the callback of
     * ki_set_log(): for a module that shares its process with other users of the library. The rules of
     * ki_log_cb apply. It may be called until the client and everything made with it have been freed. */
    ki_log_cb log; /* NULL: the one of the process */
    void *log_user;
    ki_log_level log_level; /* the most verbose level it receives; 0: KI_LOG_INFO (unlike in ki_set_log()) */

    /* How often a single call (<kinformer/rest.h>) is retried, unless it sets retries_max itself. 0: 10
     * times, but in a reconcile function only once, after a 401. Negative: never; a response with
     * Retry-After (429 or 5xx) then ends the call at once, and its error says how long to wait. Set this in a
     * program that has a queue of its own, so that no thread waits. */
    int request_retries_max;
    ki_wire wire; /* of lists and watches; single calls are JSON */
    uint64_t reserved[16];
} ki_client_options;

/**
 * Makes a client. NULL: all defaults. Reads configuration files, but sends nothing and starts no thread: the
 * first informer to start, or the first call, does.
 *
 * Returns:   a client to free, or NULL with KI_ERR_CONFIG (which file, line and field), KI_ERR_INVALID,
 *            KI_ERR_NO_MEMORY, KI_ERR_SYSTEM.
 * Ownership: the caller frees it, before or after what was made with it.
 * Threads:   any; the environment must not change during the call.
 */
KI_API KI_NODISCARD ki_client *ki_client_new(const ki_client_options *options, ki_error *err);

/**
 * Stops everything that was made with the client, and returns when it has no thread, connection or descriptor
 * left. Calls in flight (<kinformer/rest.h>) are cancelled, and their callbacks called. Functions that are
 * waiting for something of this client return KI_ERR_STOPPED; ki_controller_run() returns as after a stop.
 *
 * Informers, feeds and factories that are not freed yet keep the client's memory. Their stores can still be
 * read, and handlers added and removed, but nothing starts any more (KI_ERR_STOPPED), and no new informer can
 * be made. They are freed as usual; their on_release callbacks then run on the thread that frees them.
 *
 * Waits for running callbacks. If a callback has freed an informer, it also waits for the read sections of
 * all threads, since they may still use its objects. NULL is allowed.
 *
 * Inside a callback or a read section it returns at once. Everything has stopped by then; memory and threads
 * are freed after the callback has returned. If the callback runs on a thread of the program, the function
 * that runs it, such as ki_client_dispatch() or a wait, frees them before it returns. Otherwise, on the
 * library's threads and in read sections, a temporary thread does so; callbacks that are still due may run
 * there. If that thread cannot be started, a thread of the client tries again. If the client has no threads,
 * an error is logged and the client is leaked.
 *
 * Threads: any, once; also while other threads free objects made with the client, or wait for them.
 *          Afterwards the pointer must not be used, not even by a callback that is still running, and the
 *          descriptor must not be polled.
 */
KI_API void ki_client_free(ki_client *client);

/**
 * Replaces the bearer token by a copy of `token`: for programs that renew it themselves. Every request that
 * begins after the call has returned is sent with the new token; a watch in flight continues. The token
 * replaces a configured token, token file, password or exec plug-in, and one that was set before;
 * certificates stay. Over http:// without allow_plaintext_credentials no token is sent, which is not an error
 * here. Informers that are backing off after a 401 keep waiting: call ki_informer_retry_now().
 *
 * Returns: 0; KI_ERR_INVALID for a token that is empty or has a character not allowed in a header, and for a
 *          client without a cluster; KI_ERR_NO_MEMORY; KI_ERR_FORKED in a child.
 * Threads: any.
 */
KI_API KI_NODISCARD int ki_client_set_token(ki_client *client, const char *token);

/** A write that is about to be sent. Borrowed for the callback. */
typedef struct ki_write {
    const char *method; /* "POST", "PUT", "PATCH" or "DELETE" */
    ki_str target;      /* "/api/v1/namespaces/web/pods?dryRun=All" */
    uint64_t reserved[4];
} ki_write;

/**
 * Decides whether a write may be sent now.
 *
 * Returns: 0 to send it. Any other value refuses it: the call ends with KI_ERR_REFUSED and the message in
 *          `why`, if the gate wrote one; nothing is sent. If libcurl repeats a write on a new connection and
 *          the gate then refuses it, the code is KI_ERR_HTTP, because the server may have carried out the
 *          first copy.
 * Threads: `io`, or inside ki_client_dispatch() in KI_MODE_EVENT_LOOP; one call at a time. All requests of
 *          the client wait for it: return quickly, and do not wait for a lock that is held for long.
 */
typedef int (*ki_write_gate_cb)(const ki_write *write, ki_error *why, void *user);

/**
 * Sets a function that is called before every write of this client: each POST, PUT, PATCH and DELETE of
 * <kinformer/rest.h>, dry runs included. It is called at the last moment, when the call has passed the rate
 * limit, has credentials and a connection, and its first byte would be written next; and again before each
 * retry. It is not called for reads. Leader election uses this to stop a process that has lost its lease from
 * writing.
 *
 * NULL removes the gate. When this returns, the previous gate is not running and is not called again, so its
 * `user` may be freed. So this waits while the previous gate runs, even in a callback or a read section: do
 * not hold a lock that the gate waits for. From inside the gate itself it returns at once.
 *
 * Returns: 0, KI_ERR_INVALID without a client, KI_ERR_FORKED in a child.
 * Threads: any, at any time, also while calls are in flight.
 */
KI_API KI_NODISCARD int ki_client_set_write_gate(ki_client *client, ki_write_gate_cb gate, void *user);

/** The namespace of the options; if they have none, that of the kubeconfig context; if that has none,
 * "default". With `source` or `no_cluster`, and for NULL, always "default". Lives as long as the client. */
KI_API const char *ki_client_namespace(const ki_client *client);

/** The metrics of the client and its informers: those of the options, or the client's own. NULL for a NULL
 * client. Borrowed: do not free them; they live as long as the client. */
KI_API ki_metrics *ki_client_metrics(ki_client *client);

/**
 * Calls a function once, on `io` (in KI_MODE_EVENT_LOOP inside ki_client_dispatch()). Posted functions are
 * called in the order of the posts: soon, or, if the client's threads do not run yet, when the first informer
 * or call has started them; at the latest in ki_client_free(). A source (<kinformer/list_watch.h>) with
 * threads of its own uses this to get to the thread on which it may answer.
 *
 * A callback may post again; other work runs in between.
 *
 * Returns: 0, KI_ERR_INVALID, KI_ERR_NO_MEMORY; KI_ERR_STOPPED from a callback that ki_client_free() runs;
 *          KI_ERR_FORKED in a child.
 * Threads: any. Never waits.
 */
KI_API KI_NODISCARD int ki_client_post(ki_client *client, void (*callback)(void *user), void *user);

/* ---- on the program's event loop ----------------------------------------------------------------------- */

/* With KI_MODE_HANDLERS_ON_LOOP and KI_MODE_EVENT_LOOP, an event loop polls one descriptor and calls one
 * function:
 *
 *     struct pollfd polled = {.fd = ki_client_fd(client), .events = POLLIN};
 *     for (;;) {
 *         poll(&polled, 1, -1);
 *         ki_client_dispatch(client, 0);
 *     }
 */

/**
 * The descriptor to poll for reading: it is readable while ki_client_dispatch() has work to do. It is enough
 * by itself: it covers sockets, timers, and calls made outside ki_client_dispatch(), such as
 * ki_informer_start() or ki_informer_retry_now(), on any thread. It can be polled level-triggered or
 * edge-triggered: when ki_client_dispatch() leaves work for the next call, the descriptor becomes readable
 * again.
 *
 * It is the same until ki_client_free(), which closes it. Do not read it or close it.
 *
 * Returns: -1 in KI_MODE_THREADS, in a child of fork() and for NULL.
 */
KI_API int ki_client_fd(const ki_client *client);

/**
 * Only for loops that cannot poll a descriptor: how long it takes until ki_client_dispatch() has work to do.
 *
 * Returns: milliseconds; 0: it has work now; -1: it has none until a socket is ready or another thread makes
 *          a call. Also -1 in KI_MODE_THREADS, in a child of fork() and for NULL.
 * Threads: any.
 */
KI_API int ki_client_timeout_ms(const ki_client *client);

/** No budget: see ki_client_dispatch(). */
#define KI_BUDGET_NONE UINT64_MAX

/**
 * Does the work that is due, for about `budget_ms`; 0: 2 ms. KI_BUDGET_NONE: until no work is left; callbacks
 * that keep making work for each other do not keep it from returning.
 *
 * May exceed the budget by one callback of yours and the on_batch_end after it, or by one pass over a store
 * (adding a handler, finding what a relist removes or a resync repeats: some milliseconds for 100,000
 * objects). Responses are read and decoded in pieces of about 100 KB, a millisecond's work; with `http2`, all
 * bytes that have arrived on a connection are one piece.
 *
 * Returns: 1 when work is left, 0 when not; KI_ERR_INVALID in KI_MODE_THREADS; KI_ERR_WOULD_DEADLOCK from a
 *          callback or inside a read section; KI_ERR_FORKED in a child.
 * Threads: any; while one thread is in this call, calls on other threads do nothing and return at once,
 *          with 0 or 1 as above.
 */
KI_API int ki_client_dispatch(ki_client *client, uint64_t budget_ms);

KI_EXTERN_C_END

#endif
