/* SPDX-License-Identifier: Apache-2.0 */
#include "json/names.h"
#include "json/number.h"
#include "json/read.h"
#include "json/skip.h"
#include "json/text.h"

/* Two values are walked in step, without recursion, with one frame for each pair of open containers. While
 * the names of two objects come in the same order, every byte is read once and only the two positions are
 * stored. When the names differ, the names of both objects are sorted, and the members not compared yet are
 * paired by name. So no pair is compared twice. In the worst case, with names shuffled at every level, the
 * text is read and its names are sorted once per level.
 *
 * Of several members with the same name, the first counts. While walking in step, this matters in one case
 * only: a difference below a name that has occurred before does not count. */

enum { DEPTH_MAX = 1000 };

/* One of the two containers of a frame. */
typedef struct equal_side {
    const char *begin; /* its opening bracket */
    ki_json_iter iter; /* in step: at the value being compared; at the end: after the closing bracket */
    const char *name;  /* in step, in an object: the name of that value; else NULL */
} equal_side;

typedef struct equal_frame {
    equal_side a;
    equal_side b;
    int sorted;
    size_t names_begin; /* if sorted: where the frame's names start: those of `a`, then as many of `b` */
    size_t pairs;       /* if sorted: the number of names of each side */
    size_t pairs_done;
} equal_frame;

/* Where a value begins, and where the text that contains it ends. */
typedef struct equal_place {
    const char *at;
    const char *end;
} equal_place;

typedef struct equal_walk {
    equal_place a;
    equal_place b;
    ki_buf frames; /* of equal_frame, the innermost last */
    ki_buf names;  /* of const char * */
} equal_walk;

/* ---- the stack ----------------------------------------------------------------------------------------- */

static equal_frame *top_frame(equal_walk *walk)
{
    size_t count = walk->frames.len / sizeof(equal_frame);
    return count == 0 ? NULL : (equal_frame *)(void *)walk->frames.data + count - 1;
}

static size_t names_count(const equal_walk *walk)
{
    return walk->names.len / sizeof(const char *);
}

static const char **frame_names(equal_walk *walk, const equal_frame *frame)
{
    return (const char **)(void *)walk->names.data + frame->names_begin;
}

static equal_side side_at(equal_place place)
{
    return (equal_side){
        .begin = place.at,
        .iter = {.at = place.at + 1, .limit = place.end, .in_object = *place.at == '{'},
    };
}

static int push_frame(equal_walk *walk, equal_place a, equal_place b)
{
    if (walk->frames.len / sizeof(equal_frame) == DEPTH_MAX)
        return KI_ERR_JSON_DEPTH;
    equal_frame frame = {.a = side_at(a), .b = side_at(b)};
    return ki_buf_append(&walk->frames, &frame, sizeof(frame)) < 0 ? KI_ERR_NO_MEMORY : 1;
}

static void pop_frame(equal_walk *walk)
{
    const equal_frame *frame = top_frame(walk);
    if (frame->sorted)
        walk->names.len = frame->names_begin * sizeof(const char *);
    walk->frames.len -= sizeof(*frame);
}

/* Pops a frame whose containers are equal, and continues after them in their parents. Nothing may follow
 * the outermost containers. Returns 1 or an error. */
static int leave_equal(equal_walk *walk)
{
    const equal_frame *frame = top_frame(walk);
    const char *behind_a = frame->a.iter.at;
    const char *behind_b = frame->b.iter.at;
    pop_frame(walk);
    equal_frame *outer = top_frame(walk);
    if (outer == NULL)
        return behind_a == walk->a.end && behind_b == walk->b.end ? 1 : KI_ERR_JSON_SYNTAX;
    if (!outer->sorted) {
        outer->a.iter.at = behind_a;
        outer->b.iter.at = behind_b;
    }
    return 1;
}

/* ---- scalars ------------------------------------------------------------------------------------------- */

static int same_text(ki_json a, ki_json b)
{
    if (ki_str_equal(a.raw, b.raw))
        return 1;
    ki_json_spelt left = {ki_json_inside(a), KI_JSON_RAW};
    ki_json_spelt right = {ki_json_inside(b), KI_JSON_RAW};
    return ki_json_text_compare(left, right) == 0;
}

static int is_literal(ki_str raw)
{
    return ki_str_equal(raw, KI_STR("null")) || ki_str_equal(raw, KI_STR("true")) ||
           ki_str_equal(raw, KI_STR("false"));
}

static int equal_scalars(ki_json a, ki_json b)
{
    if (ki_str_equal(a.raw, b.raw))
        return 1;
    ki_json_type type = ki_json_type_of(a);
    if (type != ki_json_type_of(b))
        return 0;
    if (type == KI_JSON_STRING)
        return same_text(a, b);
    if (type == KI_JSON_NUMBER) {
        int rc = ki_json_number_equal(a.raw, b.raw);
        return rc < 0 ? KI_ERR_JSON_SYNTAX : rc;
    }
    return is_literal(a.raw) && is_literal(b.raw) ? 0 : KI_ERR_JSON_SYNTAX;
}

static int is_container(equal_place place)
{
    return place.at < place.end && (*place.at == '{' || *place.at == '[');
}

/* Compares two scalars and moves past them, or opens two containers. Returns 1 (equal so far), 0 or an
 * error. */
static int enter(equal_walk *walk, equal_place *a, equal_place *b)
{
    if (is_container(*a) && is_container(*b))
        return *a->at == *b->at ? push_frame(walk, *a, *b) : 0;
    size_t len_a = ki_json_skip_value(a->at, (size_t)(a->end - a->at));
    size_t len_b = ki_json_skip_value(b->at, (size_t)(b->end - b->at));
    if (len_a == 0 || len_b == 0)
        return KI_ERR_JSON_SYNTAX;
    ki_json left = {{a->at, len_a}};
    ki_json right = {{b->at, len_b}};
    a->at += len_a;
    b->at += len_b;
    return equal_scalars(left, right);
}

/* ---- sorted -------------------------------------------------------------------------------------------- */

static int collect_side(equal_walk *walk, equal_side *side)
{
    ki_json_iter iter = side_at((equal_place){side->begin, side->iter.limit}).iter;
    int rc = ki_json_names_collect(&walk->names, &iter, side->name == NULL ? side->iter.at : side->name);
    side->iter.at = side->iter.limit = iter.at;
    return rc;
}

/* Sorts the names of both sides from side->name on; NULL if that side has no more. The members before were
 * already compared in step. Returns 1; 0 if the names differ; or an error. */
static int switch_to_sorted(equal_walk *walk, equal_frame *frame)
{
    frame->sorted = 1;
    frame->names_begin = names_count(walk);
    int rc = collect_side(walk, &frame->a);
    if (rc < 0)
        return rc;
    frame->pairs = names_count(walk) - frame->names_begin;
    rc = collect_side(walk, &frame->b);
    if (rc < 0)
        return rc;
    if (names_count(walk) - frame->names_begin != 2 * frame->pairs)
        return 0;
    const char **names = frame_names(walk, frame);
    for (size_t i = 0; i < frame->pairs; i++) {
        if (ki_json_names_compare(names[i], frame->a.iter.limit, names[frame->pairs + i],
                                  frame->b.iter.limit) != 0)
            return 0;
    }
    return 1;
}

/* Where the value of a collected name begins. */
static equal_place value_behind(const char *name, const equal_side *side)
{
    ki_json_iter iter = {.at = name, .limit = side->iter.limit, .in_object = 1};
    ki_json ignored;
    int rc = ki_json_iter_to_value(&iter, &ignored);
    return (equal_place){rc == 1 ? iter.at : iter.limit, iter.limit};
}

/* Compares the next pair. Returns 1 (equal so far), 0 or an error. */
static int step_sorted(equal_walk *walk, equal_frame *frame)
{
    if (frame->pairs_done == frame->pairs)
        return leave_equal(walk);
    const char **names = frame_names(walk, frame) + frame->pairs_done++;
    equal_place a = value_behind(names[0], &frame->a);
    equal_place b = value_behind(names[frame->pairs], &frame->b);
    return enter(walk, &a, &b);
}

/* ---- in step ------------------------------------------------------------------------------------------- */

static int compare_values(equal_walk *walk, equal_frame *frame)
{
    equal_place a = {frame->a.iter.at, frame->a.iter.limit};
    equal_place b = {frame->b.iter.at, frame->b.iter.limit};
    if (is_container(a) && is_container(b))
        return enter(walk, &a, &b); /* `frame` may be dangling now; leave_equal() sets the positions */
    int rc = enter(walk, &a, &b);
    frame->a.iter.at = a.at;
    frame->b.iter.at = b.at;
    return rc;
}

/* Compares the next pair. Returns 1 (equal so far), 0 or an error. */
static int step(equal_walk *walk, equal_frame *frame)
{
    ki_json name_a = {0}, name_b = {0};
    int has_a = ki_json_iter_to_value(&frame->a.iter, &name_a);
    int has_b = ki_json_iter_to_value(&frame->b.iter, &name_b);
    if (has_a < 0 || has_b < 0)
        return KI_ERR_JSON_SYNTAX;
    if (!has_a && !has_b)
        return leave_equal(walk);
    frame->a.name = name_a.raw.ptr;
    frame->b.name = name_b.raw.ptr;
    int in_object = frame->a.iter.in_object;
    if (has_a && has_b && (!in_object || same_text(name_a, name_b)))
        return compare_values(walk, frame);
    return in_object ? switch_to_sorted(walk, frame) : 0;
}

/* Whether the name of the values compared last occurs earlier in the same object. Both objects had the same
 * names so far, so it is enough to look at one of them. */
static int name_came_before(const equal_side *side)
{
    ki_json_iter at_name = {.at = side->name, .limit = side->iter.limit, .in_object = 1};
    ki_json_iter iter = {.at = side->begin + 1, .limit = side->iter.limit, .in_object = 1};
    ki_json wanted, name, value;
    if (ki_json_iter_step(&at_name, &wanted, &value) != 1)
        return 0;
    while (ki_json_iter_step(&iter, &name, &value) == 1 && name.raw.ptr < side->name) {
        if (same_text(name, wanted))
            return 1;
    }
    return 0;
}

/* A difference counts unless, at any level, it is below a name that occurred before. The object with that
 * name continues with sorted names, which omit repeated names, so this lookup is done at most once per
 * object. Returns 0 if the values differ, 1 to continue, or an error. */
static int leave_different(equal_walk *walk)
{
    equal_frame *frame;
    while ((frame = top_frame(walk)) != NULL) {
        if (!frame->sorted && frame->a.name != NULL && name_came_before(&frame->a)) {
            int rc = switch_to_sorted(walk, frame);
            if (rc != 0)
                return rc;
        }
        pop_frame(walk);
    }
    return 0;
}

/* ---- the walk ------------------------------------------------------------------------------------------ */

static int walk_pairs(equal_walk *walk)
{
    equal_place a = walk->a;
    equal_place b = walk->b;
    int rc = enter(walk, &a, &b);
    equal_frame *frame = top_frame(walk);
    if (frame == NULL) /* two scalars, a difference, or an error */
        return rc == 1 && (a.at != a.end || b.at != b.end) ? KI_ERR_JSON_SYNTAX : rc;
    while (rc == 1 && (frame = top_frame(walk)) != NULL) {
        rc = frame->sorted ? step_sorted(walk, frame) : step(walk, frame);
        if (rc == 0)
            rc = leave_different(walk);
    }
    return rc;
}

int ki_json_equal(ki_json a, ki_json b)
{
    ki_json_type type_a = ki_json_type_of(a);
    ki_json_type type_b = ki_json_type_of(b);
    if ((type_a == KI_JSON_NONE && a.raw.len > 0) || (type_b == KI_JSON_NONE && b.raw.len > 0))
        return KI_ERR_JSON_SYNTAX;
    if (type_a != type_b || ki_str_equal(a.raw, b.raw))
        return type_a == type_b;
    equal_walk walk = {
        .a = {a.raw.ptr, a.raw.ptr + a.raw.len},
        .b = {b.raw.ptr, b.raw.ptr + b.raw.len},
    };
    ki_buf_init(&walk.frames, DEPTH_MAX * sizeof(equal_frame));
    ki_buf_init(&walk.names, SIZE_MAX / 2);
    int rc = walk_pairs(&walk);
    ki_buf_fini(&walk.names);
    ki_buf_fini(&walk.frames);
    return rc;
}
