/* SPDX-License-Identifier: Apache-2.0 */
#include "support/controller/event_make.h"

#include <kinformer/resources.h>
#include <stdio.h>

#include "support/unit.h"
#include "util/units.h"

ki_object *event_make_pod(const char *name, const char *version)
{
    char text[1024];
    snprintf(
        text, sizeof(text),
        "{\"metadata\":{\"name\":\"%s\",\"namespace\":\"default\",\"uid\":\"uid-%s\",\"resourceVersion\":"
        "\"%s\"}}",
        name, name, version);
    ki_object *pod = ki_object_new(&KI_CORE_V1_PODS, ki_str_of(text), NULL, NULL);
    assert_non_null(pod);
    return pod;
}

ki_recorded *event_make(const char *pod, const char *reason, const char *message, int64_t wall_ns)
{
    ki_object *object = event_make_pod(pod, "1");
    ki_recorded *event = ki_recorded_new(
        &(ki_record){.object = object, .reason = ki_str_of(reason), .message = ki_str_of(message)},
        KI_MESSAGE_BYTES);
    assert_non_null(event);
    ki_object_unref(object);
    event->wall_ns = wall_ns;
    event->number = (uint64_t)wall_ns;
    return event;
}

ki_recorded_hash event_make_hash(void)
{
    ki_recorded_hash hash;
    ki_hash_key_init_seeded(&hash.a, 1);
    ki_hash_key_init_seeded(&hash.b, 2);
    return hash;
}

void event_scene_init(event_scene *scene)
{
    *scene = (event_scene){.hash = event_make_hash(), .now_ns = 1000 * KI_NS_PER_S, .wall_ns = 100};
}

void event_scene_pass(event_scene *scene, uint64_t seconds)
{
    scene->now_ns += seconds * KI_NS_PER_S;
}

ki_recorded *event_scene_make(event_scene *scene, const char *pod, const char *reason, const char *message)
{
    return event_make(pod, reason, message, ++scene->wall_ns);
}
