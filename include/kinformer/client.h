/* SPDX-License-Identifier: Apache-2.0 */
/* client - the cluster that the informers of a program follow, and the threads that they run on.
 *
 * Informers of one client share its threads: `io`, which asks and reads; `dispatch`, which brings the stores
 * up to date; and those that call handlers, one for each registration, so that a slow handler delays nobody.
 *
 * Inside someone else's process:
 *
 *   Lifetimes  Whatever is made with a client keeps it alive: see ki_client_free(). Frees work in any order,
 *              on any threads, in exit handlers too.
 *   fork()     A client belongs to the process that made it. In a child every call that would run it returns
 *              KI_ERR_FORKED at once, or NULL where it would return an object. Stores can be read there, as
 *              they were. Stops and frees return at once: ki_client_free() closes the child's copies of
 *              descriptors and nothing else, so the parent misses nothing; the child keeps the memory. Do not
 *              call it after the child has closed descriptors itself: the numbers may have been reused.
 *              Children make clients of their own. A child that was forked inside a callback must not
 *              return from it.
 *   dlclose()  The library stays loaded: threads that are on their way out need it.
 *   Signals    All are blocked in threads of ours, so that the program's handlers run on the program's
 *              threads. No handler is installed. A connection that breaks raises no SIGPIPE, whoever's thread
 *              writes to it. Children are waited for by number; a program that ignores SIGCHLD, or waits for
 *              all of its children, may do so. Waits go on after a signal.
 *   libcurl    It is begun with curl_global_init(CURL_GLOBAL_DEFAULT), once, by the first client of a
 *              cluster, and never ended. A program that uses libcurl itself does as it likes, before or
 *              after; what curl_global_cleanup() ends is its own share. Its functions for memory
 *              (curl_global_init_mem()) it has to set before the first client.
 *   Memory     <kinformer/alloc.h>; what libcurl and its TLS use comes from where those take theirs.
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

typedef enum ki_mode {
    KI_MODE_THREADS = 0,      /* everything on threads of ours */
    KI_MODE_HANDLERS_ON_LOOP, /* callbacks inside ki_client_dispatch(), the rest on threads of ours */
    KI_MODE_EVENT_LOOP        /* everything inside ki_client_dispatch(); no thread of ours */
} ki_mode;

/**
 * Makes the list_watch of a collection: what informers of this client ask, unless they bring their own.
 * `ns` is "" for all namespaces.
 *
 * Returns: 0 with *out_list_watch set, whose `release` is called when it is not needed any more; or a
 *          negative code, with what is wrong in `err`.
 */
typedef int (*ki_source_cb)(const ki_resource *resource, const char *ns, ki_list_watch *out_list_watch,
                            void *user, ki_error *err);

/**
 * Zero means default: the cluster that kubectl would talk to, as whom it would. Texts are copied.
 *
 * Requests go through a proxy when the cluster has a `proxy-url` or the environment names one ($HTTPS_PROXY
 * and so on): http, https or socks5. As with kubectl, the certificate of an HTTPS proxy is verified with the
 * cluster's CA, and not at all with `insecure_skip_tls_verify`; the proxy gets our certificate if it asks for
 * one; and a socks5 proxy looks up the server's name itself. Unlike with kubectl, `tls_server_name` is not
 * the name of the proxy: its certificate must have the proxy's own name.
 *
 * Tokens and passwords are sent over https:// only, and exec plug-ins are run for such servers only, wherever
 * they are configured; a loopback address is no exception. `allow_plaintext_credentials` lifts this. When
 * credentials are withheld, a warning of the component "credentials" is logged once, and errors of 401 and
 * 403 say so. As with kubectl, a server without a scheme ("host:6443") is reached over https:// if a
 * certificate authority, a client certificate or `insecure_skip_tls_verify` is given, else over http://.
 */
typedef struct ki_client_options {
    int mode;       /* a ki_mode */
    int no_cluster; /* 1: nobody is connected to; every informer brings a list_watch of its own */

    /* Where to connect and as whom; each as the flag of kubectl that is named so.
     * NULL: as the kubeconfig says. */
    const char *kubeconfig; /* NULL: $KUBECONFIG, ~/.kube/config, or the files of a pod */
    const char *context;
    const char *cluster;
    const char *user;
    const char *server; /* "https://10.0.0.1:6443"; enough by itself when there is no kubeconfig */
    const char *token;
    const char *certificate_authority; /* a file */
    const char *tls_server_name;       /* the name of a host, or an address */
    const char *client_certificate;    /* a file, as the next; both together */
    const char *client_key;
    const char *username; /* with the next: instead of a token */
    const char *password;
    const char *as;
    const char *as_uid;
    const char *const *as_groups; /* NULL-terminated */
    const char *ns;
    int insecure_skip_tls_verify;

    /* How. */
    int http2; /* 1: many watches on one connection; lists are streamed with KI_WATCH_LIST_ALWAYS only */
    int gzip;  /* 1: asks for compressed answers */
    int allow_plaintext_credentials; /* 1: tokens and passwords are sent over http:// too */
    const char *user_agent;          /* NULL: "kinformer/" and the version; no control characters */
    size_t connections_max;          /* 0: no limit. With http2 each of the two ways to speak has its own */
    uint64_t connect_timeout_ms;     /* 0: 30,000 */
    size_t head_bytes_max;           /* of an answer: its status, headers and trailers; 0: 64 KiB */

    size_t handler_threads; /* KI_MODE_THREADS: handlers share so many threads; 0: one for each */
    ki_source_cb source; /* who answers, instead of a cluster: nothing of the two parts above is looked at */
    void *source_user;
    ki_metrics *metrics; /* shared with others; NULL: its own, see ki_client_metrics() */

    /* Of single calls (<kinformer/rest.h>), and of nothing that informers do, but for the first: the answer
     * to a list has to begin within it as well. A watch is never ended by it. */
    uint64_t request_timeout_ms; /* 0: 60,000, as the servers' own */
    double requests_per_second;  /* client-go's QPS: more have to wait; 0: no limit */
    uint64_t requests_burst;     /* so many at first; 0: 10 */
    uint64_t requests_at_once;   /* on their way; more wait, each for its time. 0: 64 */

    /* More of where to connect and as whom. */
    /* Loaded before. No other option beside it may say where to connect or as whom: `kubeconfig` and those
     * down to `insecure_skip_tls_verify`, `allow_plaintext_credentials`, `kubeconfig_text` and those down to
     * `client_key_pem`. */
    const ki_config *config;
    const char *kubeconfig_text; /* instead of files; relative names in it start in the current directory */
    /* Read again before a request when 50 s have passed since the last read, and after a 401. While it cannot
     * be read the last token stays, and a warning is logged once. A `token` beside it counts until the file
     * was read for the first time. */
    const char *token_file;
    const char *certificate_authority_pem; /* PEM instead of the file, as the next two */
    const char *client_certificate_pem;
    const char *client_key_pem;

    /* Gets what this client has to say, with all that is made with it, instead of ki_set_log()'s: for a
     * module that is one of several in its process. As that it is called from any thread,
     * without a lock of ours. */
    ki_log_cb log; /* NULL: that of the process */
    void *log_user;
    int log_level; /* a ki_log_level: the most talkative that it gets; 0: KI_LOG_INFO */

    /* Of single calls that do not set retries_max themselves: further attempts. 0: 10. Negative: none, so
     * that a call which the server puts off (429 or 5xx with Retry-After) ends at once, and its error says
     * how long to wait. A program with a queue of its own sets this: the wait then holds no thread. */
    int request_retries_max;
    uint64_t reserved[16];
} ki_client_options;

/**
 * Starts no thread yet: that is done when the first informer starts.
 *
 * Returns:   a client to free, or NULL with KI_ERR_CONFIG (which file, line and field), KI_ERR_INVALID,
 *            KI_ERR_NO_MEMORY, KI_ERR_SYSTEM. Nothing is sent yet.
 * Ownership: the caller frees it, before or after what was made with it.
 */
KI_API KI_NODISCARD ki_client *ki_client_new(const ki_client_options *options, ki_error *err);

/**
 * Gives up the caller's reference. Stops everything that was made with it, and returns when no thread,
 * connection or descriptor of its own is left; calls that are under way (<kinformer/rest.h>) are given up,
 * and their callbacks called. What waits for something of it returns with KI_ERR_STOPPED.
 *
 * Informers, feeds and factories that are not freed yet keep the memory. Their stores can be read, handlers
 * come and go, but nothing starts any more (KI_ERR_STOPPED), and new informers are refused. They are freed as
 * ever; callbacks that are due then, on_release, run on the thread that frees them.
 *
 * Waits for callbacks that are running; and for read sections, in any thread, when an informer that a
 * callback has freed is not gone yet. NULL is allowed.
 *
 * Inside a callback or a read section it returns at once. Everything is stopped then, and the rest follows
 * when the callback has returned. On a thread of the program's it is carried out by the call that runs the
 * callback, such as ki_client_dispatch() or a wait, before that returns. Elsewhere, on threads of ours and in
 * read sections, a thread is started that carries it out and ends; callbacks that are still due may run
 * there. If no thread can be started it is tried again; for a client without threads of its own an error is
 * logged then, and the client stays.
 *
 * Threads: any, once; also while other threads free what was made with it, or wait for it. The pointer must
 *          not be used afterwards, also not by a callback that is still running, nor its descriptor polled.
 */
KI_API void ki_client_free(ki_client *client);

/**
 * Uses another bearer token from now on: for programs that renew it themselves. Every request that is begun
 * after the call has returned is sent with it; a watch that is under way goes on. It takes the place of a
 * token, a token's file, a user's password and an exec plug-in, and of one that was set before; certificates
 * stay. Informers that wait after a 401 go on waiting: call ki_informer_retry_now().
 *
 * Returns: 0; KI_ERR_INVALID for a token that is empty or has a character that no header can have, and for a
 *          client without a cluster; KI_ERR_NO_MEMORY; KI_ERR_FORKED in a child.
 * Threads: any.
 */
KI_API KI_NODISCARD int ki_client_set_token(ki_client *client, const char *token);

/** A write that is about to be sent. Borrowed for the time of the callback. */
typedef struct ki_write {
    const char *method; /* "POST", "PUT", "PATCH" or "DELETE" */
    ki_str target;      /* "/api/v1/namespaces/web/pods?dryRun=All" */
    uint64_t reserved[4];
} ki_write;

/**
 * Decides whether a write may be sent now.
 *
 * Returns: 0 to send it. Anything else refuses it: the call ends with KI_ERR_REFUSED and with the message
 *          that the gate has written to `why`, if it has; nothing of the request is sent.
 * Threads: `io`, or inside ki_client_dispatch() in KI_MODE_EVENT_LOOP; one call at a time. All requests of
 *          the client wait for it: return at once, and do not wait for a lock that others hold for long.
 */
typedef int (*ki_write_gate_cb)(const ki_write *write, ki_error *why, void *user);

/**
 * Has `gate` asked before every write of this client: each POST, PUT, PATCH and DELETE of <kinformer/rest.h>,
 * dry runs included. It is asked last of all, when the call has waited for its turn, has its credentials and
 * its connection, and its first byte would be written next; and again before each further attempt. Reads are
 * never asked about. This is how leader election keeps a process that has lost its lease from writing.
 *
 * NULL takes the gate away. When this has returned, the gate that was set before is not running and is not
 * called again, so that its `user` may be freed; therefore do not hold a lock here that the old gate waits
 * for. From inside the gate itself it returns at once.
 *
 * Returns: 0, KI_ERR_INVALID without a client, KI_ERR_FORKED in a child.
 * Threads: any, at any time, also while calls are under way.
 */
KI_API int ki_client_set_write_gate(ki_client *client, ki_write_gate_cb gate, void *user);

/** The namespace that the context names, or "default". Lives as long as the client. */
KI_API const char *ki_client_namespace(const ki_client *client);

/** What its informers count. Lives as long as the client. */
KI_API ki_metrics *ki_client_metrics(ki_client *client);

/**
 * Has a function called on `io`, once, soon, at the latest in ki_client_free(): how a source with threads of
 * its own comes to the thread on which it may answer.
 *
 * A callback may post again: others have their turn in between.
 *
 * Returns: 0, KI_ERR_INVALID, KI_ERR_NO_MEMORY; KI_ERR_STOPPED from a callback that ki_client_free() runs;
 *          KI_ERR_FORKED in a child.
 */
KI_API KI_NODISCARD int ki_client_post(ki_client *client, void (*callback)(void *user), void *user);

/** To be polled for reading: readable when ki_client_dispatch() has something to do.
 * -1 in KI_MODE_THREADS. */
KI_API int ki_client_fd(const ki_client *client);

/** For poll(): milliseconds until ki_client_dispatch() has something to do;
 * -1: not before the fd is readable. */
KI_API int ki_client_timeout_ms(ki_client *client);

/**
 * Does what there is to do, for about `budget_ms`; 0: until there is nothing left, or callbacks have kept
 * making work for each other. What is done in one go is not cut short: a callback of the program's, and what
 * is in proportion to the store (letting in a handler, planning what a relist sweeps away or a resync
 * repeats: some milliseconds for 100,000 objects). Of what servers send some 100 KB are read and decoded in
 * one go, a millisecond's work; with `http2`, all that has come for a connection.
 *
 * Returns: how many jobs ran; KI_ERR_INVALID in KI_MODE_THREADS; KI_ERR_WOULD_DEADLOCK from a callback or
 *          inside a read section; KI_ERR_FORKED in a child.
 * Threads: any; while one of them runs the loop the others do nothing.
 */
KI_API int ki_client_dispatch(ki_client *client, uint64_t budget_ms);

KI_EXTERN_C_END

#endif
