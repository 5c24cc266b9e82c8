/* SPDX-License-Identifier: Apache-2.0 */
#include <kinformer/json.h>
#include <kinformer/predicate.h>

int ki_predicate_passes(const ki_predicate *predicate, const ki_event *event)
{
    if (event == NULL)
        return 0;
    return predicate == NULL || predicate->passes == NULL ||
           predicate->passes(event, predicate, predicate->user) != 0;
}

/* An update has two states to compare, unless it replaces an object by another one of the same name: that
 * counts as a delete and an add. */
static int has_two_states(const ki_event *event)
{
    return event->change_type == KI_CHANGE_UPDATED && event->old != NULL &&
           (event->flags & KI_EVENT_REPLACED) == 0;
}

static int generation_changed(const ki_event *event, const ki_predicate *predicate, void *user)
{
    (void)predicate;
    (void)user;
    return !has_two_states(event) || ki_object_generation(event->object) != ki_object_generation(event->old);
}

static int version_changed(const ki_event *event, const ki_predicate *predicate, void *user)
{
    (void)predicate;
    (void)user;
    return !has_two_states(event) ||
           !ki_str_equal(ki_object_resource_version(event->object), ki_object_resource_version(event->old));
}

/* Labels or annotations that cannot be compared count as changed. */
static int labels_changed(const ki_event *event, const ki_predicate *predicate, void *user)
{
    (void)predicate;
    (void)user;
    return !has_two_states(event) ||
           ki_json_equal(ki_object_labels(event->object), ki_object_labels(event->old)) != 1;
}

static int annotations_changed(const ki_event *event, const ki_predicate *predicate, void *user)
{
    (void)predicate;
    (void)user;
    return !has_two_states(event) ||
           ki_json_equal(ki_object_annotations(event->object), ki_object_annotations(event->old)) != 1;
}

const ki_predicate KI_PREDICATE_GENERATION_CHANGED = {.passes = generation_changed};
const ki_predicate KI_PREDICATE_RESOURCE_VERSION_CHANGED = {.passes = version_changed};
const ki_predicate KI_PREDICATE_LABELS_CHANGED = {.passes = labels_changed};
const ki_predicate KI_PREDICATE_ANNOTATIONS_CHANGED = {.passes = annotations_changed};

static int both(const ki_event *event, const ki_predicate *predicate, void *user)
{
    (void)user;
    return ki_predicate_passes(predicate->a, event) && ki_predicate_passes(predicate->b, event);
}

static int either(const ki_event *event, const ki_predicate *predicate, void *user)
{
    (void)user;
    return ki_predicate_passes(predicate->a, event) || ki_predicate_passes(predicate->b, event);
}

static int neither(const ki_event *event, const ki_predicate *predicate, void *user)
{
    (void)user;
    return !ki_predicate_passes(predicate->a, event);
}

ki_predicate ki_predicate_and(const ki_predicate *a, const ki_predicate *b)
{
    return (ki_predicate){.passes = both, .a = a, .b = b};
}

ki_predicate ki_predicate_or(const ki_predicate *a, const ki_predicate *b)
{
    return (ki_predicate){.passes = either, .a = a, .b = b};
}

ki_predicate ki_predicate_not(const ki_predicate *a)
{
    return (ki_predicate){.passes = neither, .a = a};
}
