/* SPDX-License-Identifier: Apache-2.0 */
/* render - builds the text of a response, and sets its code and format; respond.h sends it.
 *
 *   From:     apiserver/serve/handle_*.c (objects, pages, trees), apiserver/serve/exchange.c (failures)
 *   To:       exchange->answer, by apiserver/object/text.h, apiserver/show/table.h or
 *             apiserver/kind/proto_write.h
 *   Locks:    none
 *   Not here: the events of a watch, which are built by apiserver/serve/stream.c; headers, compression
 */
#ifndef KI_APISERVER_SERVE_RENDER_H
#define KI_APISERVER_SERVE_RENDER_H

#include "apiserver/serve/handle.h"

/* One object in the requested format. Drops the reference. */
enum ki_as_step ki_as_render_object(struct ki_as_task *task, struct ki_as_object *object, int code);
/* The Scale of an object. Drops the reference. */
enum ki_as_step ki_as_render_scale(struct ki_as_task *task, struct ki_as_object *object, int code);
/* A tree as it is, in protobuf if that was requested.
 * Takes the tree; NULL means out of memory. */
enum ki_as_step ki_as_render_tree(struct ki_as_exchange *exchange, json_t *tree, int code);
enum ki_as_step ki_as_render_plain(struct ki_as_exchange *exchange, int code, const char *text);
/* Completes an answer.text that the caller has built; `rc` is the result of that. */
enum ki_as_step ki_as_render_text(struct ki_as_exchange *exchange, int rc, int code);
/* A failure, in JSON or, if the client accepts that, in protobuf,
 * even if the resource has no protobuf form. */
void ki_as_render_failure(struct ki_as_exchange *exchange, struct ki_as_failure *failure);

/* A page in the requested format; `continue_token` is "" for the last page. */
struct ki_as_list_text {
    const struct ki_as_page *page;
    const char *continue_token;
    bool has_remaining;
};
enum ki_as_step ki_as_render_page(struct ki_as_task *task, const struct ki_as_list_text *list);

#endif
