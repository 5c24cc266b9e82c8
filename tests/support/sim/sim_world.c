/* SPDX-License-Identifier: Apache-2.0 */
#include "support/sim/sim_world.h"

#include <assert.h>
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#include "support/chance.h"
#include "support/sim/sim_memory.h"
#include "util/random.h"

#define OTHERS_MAX 20     /* versions that other resources use at once */
#define LONG_WORDS_MAX 60 /* of padding, in one object of eight */

/* All histories are branches of one tree: each record refers to the one before it of the same key, and
 * `history` is the current branch. */
struct sim_world {
    ki_random random;
    uint32_t names;
    uint32_t key_count;
    uint64_t first_version;
    size_t history_max;
    double jumps;
    sim_record *records; /* of all epochs, in the order of writing */
    size_t record_count;
    size_t record_cap;
    uint32_t *history; /* records */
    size_t history_count;
    size_t history_cap;
    uint32_t *heads;  /* by key: its last record in the history, or SIM_NONE */
    uint32_t *newest; /* by key: its last record in any history */
    size_t live_count;
    size_t forgotten_count; /* the first records of the history, which watches no longer get */
    uint64_t forgotten_version;
    uint64_t version;
    uint64_t highest_version;
    uint64_t uid; /* of the last creation; never reused */
    uint64_t value;
    uint32_t epoch;
};

sim_world *sim_world_new(const sim_world_options *options)
{
    sim_world *world = sim_array(1, sizeof(*world));
    uint32_t namespaces = options->namespaces > 0 ? options->namespaces : 3;
    assert(namespaces <= 26);
    ki_random_init(&world->random, options->seed);
    world->names = options->names > 0 ? options->names : 20;
    world->key_count = namespaces * world->names;
    world->first_version = options->first_version > 0 ? options->first_version : 90;
    world->history_max = options->history_max > 0 ? options->history_max : 1000;
    world->jumps = options->jumps;
    world->version = world->highest_version = world->forgotten_version = world->first_version;
    world->heads = sim_array(world->key_count, sizeof(*world->heads));
    world->newest = sim_array(world->key_count, sizeof(*world->newest));
    for (uint32_t key = 0; key < world->key_count; key++)
        world->heads[key] = world->newest[key] = SIM_NONE;
    return world;
}

void sim_world_free(sim_world *world)
{
    if (world == NULL)
        return;
    free(world->records);
    free(world->history);
    free(world->heads);
    free(world->newest);
    free(world);
}

/* ---- queries ----------------------------------------------------------------------------------------- */

uint64_t sim_world_version(const sim_world *world)
{
    return world->version;
}

uint64_t sim_world_first_version(const sim_world *world)
{
    return world->first_version;
}

uint64_t sim_world_highest_version(const sim_world *world)
{
    return world->highest_version;
}

uint32_t sim_world_epoch(const sim_world *world)
{
    return world->epoch;
}

uint32_t sim_world_key_count(const sim_world *world)
{
    return world->key_count;
}

size_t sim_world_count(const sim_world *world)
{
    return world->live_count;
}

const sim_record *sim_world_object_at(const sim_world *world, uint32_t key, uint64_t version)
{
    assert(key < world->key_count);
    uint32_t index = world->heads[key];
    while (index != SIM_NONE && world->records[index].version > version)
        index = world->records[index].previous;
    if (index == SIM_NONE || world->records[index].type == SIM_DELETED)
        return NULL;
    return &world->records[index];
}

const sim_record *sim_world_object(const sim_world *world, uint32_t key)
{
    return sim_world_object_at(world, key, UINT64_MAX);
}

size_t sim_world_history_count(const sim_world *world)
{
    return world->history_count;
}

const sim_record *sim_world_history_record(const sim_world *world, size_t position)
{
    assert(position < world->history_count);
    return &world->records[world->history[position]];
}

size_t sim_world_history_position(const sim_world *world, uint64_t version)
{
    size_t low = 0;
    size_t high = world->history_count;
    while (low < high) {
        size_t middle = low + (high - low) / 2;
        if (sim_world_history_record(world, middle)->version <= version)
            low = middle + 1;
        else
            high = middle;
    }
    return low;
}

size_t sim_world_forgotten_count(const sim_world *world)
{
    return world->forgotten_count;
}

uint64_t sim_world_forgotten_version(const sim_world *world)
{
    return world->forgotten_version;
}

/* ---- changes ----------------------------------------------------------------------------------------- */

static void move_version(sim_world *world, uint64_t by)
{
    world->version += by;
    if (world->version > world->highest_version)
        world->highest_version = world->version;
}

static void forget_beyond_limit(sim_world *world)
{
    while (world->history_count - world->forgotten_count > world->history_max) {
        world->forgotten_version = sim_world_history_record(world, world->forgotten_count)->version;
        world->forgotten_count++;
    }
}

static uint32_t random_padding(sim_world *world)
{
    if (ki_random_below(&world->random, 2) == 0)
        return 0;
    uint64_t bound = ki_random_below(&world->random, 8) == 0 ? LONG_WORDS_MAX : 4;
    return (uint32_t)ki_random_below(&world->random, bound);
}

static void write_record(sim_world *world, uint32_t key, sim_type type)
{
    if (world->jumps > 0 && random_fraction(&world->random) < world->jumps)
        sim_world_tick_other(world);
    move_version(world, 1);
    assert(world->record_count < SIM_NONE);
    uint32_t index = (uint32_t)world->record_count;
    uint32_t previous = world->heads[key];
    world->records =
        sim_array_grow(world->records, &world->record_cap, world->record_count + 1, sizeof(*world->records));
    world->history = sim_array_grow(world->history, &world->history_cap, world->history_count + 1,
                                    sizeof(*world->history));
    sim_record *record = &world->records[world->record_count++];
    *record = (sim_record){.version = world->version,
                           .uid = type == SIM_ADDED ? ++world->uid : world->records[previous].uid,
                           .value = type == SIM_DELETED ? world->records[previous].value : ++world->value,
                           .key = key,
                           .padding = random_padding(world),
                           .epoch = world->epoch,
                           .last_epoch = SIM_NONE,
                           .position = (uint32_t)world->history_count,
                           .previous = previous,
                           .older = world->newest[key],
                           .type = type};
    world->history[world->history_count++] = index;
    world->heads[key] = world->newest[key] = index;
    forget_beyond_limit(world);
}

void sim_world_create(sim_world *world, uint32_t key)
{
    if (sim_world_object(world, key) != NULL)
        return;
    write_record(world, key, SIM_ADDED);
    world->live_count++;
}

void sim_world_update(sim_world *world, uint32_t key)
{
    if (sim_world_object(world, key) != NULL)
        write_record(world, key, SIM_MODIFIED);
}

void sim_world_delete(sim_world *world, uint32_t key)
{
    if (sim_world_object(world, key) == NULL)
        return;
    write_record(world, key, SIM_DELETED);
    world->live_count--;
}

/* Of 20 changes of an existing object, 12 are updates, 5 deletions, and 3 a deletion and a creation. */
void sim_world_mutate(sim_world *world)
{
    uint32_t key = (uint32_t)ki_random_below(&world->random, world->key_count);
    uint64_t deed = ki_random_below(&world->random, 20);
    if (sim_world_object(world, key) == NULL) {
        sim_world_create(world, key);
    } else if (deed < 12) {
        sim_world_update(world, key);
    } else {
        sim_world_delete(world, key);
        if (deed >= 17)
            sim_world_create(world, key);
    }
}

void sim_world_touch_all(sim_world *world)
{
    for (uint32_t key = 0; key < world->key_count; key++)
        sim_world_update(world, key);
}

void sim_world_tick_other(sim_world *world)
{
    move_version(world, 1 + ki_random_below(&world->random, OTHERS_MAX));
}

void sim_world_compact(sim_world *world)
{
    world->forgotten_count = world->history_count;
    world->forgotten_version = world->version;
}

void sim_world_reset_history(sim_world *world, size_t records)
{
    size_t kept = records < world->history_count ? world->history_count - records : 0;
    for (size_t position = kept; position < world->history_count; position++)
        world->records[world->history[position]].last_epoch = world->epoch;
    world->history_count = kept;
    world->version = kept > 0 ? sim_world_history_record(world, kept - 1)->version : world->first_version;
    if (world->forgotten_version > world->version)
        world->forgotten_version = world->version;
    if (world->forgotten_count > kept)
        world->forgotten_count = kept;
    world->epoch++;
    world->live_count = 0;
    for (uint32_t key = 0; key < world->key_count; key++) {
        uint32_t *head = &world->heads[key];
        while (*head != SIM_NONE && world->records[*head].position >= kept)
            *head = world->records[*head].previous;
        world->live_count += sim_world_object(world, key) != NULL;
    }
}

/* ---- as text ----------------------------------------------------------------------------------------- */

static void write_number(char *out, uint64_t number)
{
    out[sim_write_number(out, number)] = 0;
}

/* Writes the number as twelve hexadecimal digits. */
static void write_uid(char *out, uint64_t uid)
{
    static const char before[] = "5eed0000-0000-4000-8000-000000000000";
    memcpy(out, before, sizeof(before));
    for (char *digit = out + sizeof(before) - 2; uid != 0; uid >>= 4)
        *digit-- = "0123456789abcdef"[uid & 15];
}

void sim_world_describe(const sim_world *world, const sim_record *record, sim_object *out)
{
    out->ns[0] = (char)('a' + record->key / world->names);
    out->ns[1] = 0;
    out->name[0] = 'n';
    write_number(out->name + 1, record->key % world->names);
    write_uid(out->uid, record->uid);
    write_number(out->version, record->version);
    out->value[0] = 'v';
    write_number(out->value + 1, record->value);
}

int sim_world_next(const sim_world *world, uint32_t *cursor, sim_object *out)
{
    while (*cursor < world->key_count) {
        const sim_record *record = sim_world_object(world, (*cursor)++);
        if (record != NULL) {
            sim_world_describe(world, record, out);
            return 1;
        }
    }
    return 0;
}

/* Reads a number without leading zeros. */
static int read_number(ki_str text, uint64_t *out_number)
{
    uint64_t number = 0;
    if (text.len == 0 || text.len > 18 || (text.len > 1 && text.ptr[0] == '0'))
        return -1;
    for (size_t i = 0; i < text.len; i++) {
        if (text.ptr[i] < '0' || text.ptr[i] > '9')
            return -1;
        number = number * 10 + (uint64_t)(text.ptr[i] - '0');
    }
    *out_number = number;
    return 0;
}

uint32_t sim_world_key(const sim_world *world, ki_str ns, ki_str name)
{
    uint64_t number = 0;
    if (ns.len != 1 || ns.ptr[0] < 'a' || ns.ptr[0] > 'z' || name.len < 2 || name.ptr[0] != 'n' ||
        read_number((ki_str){name.ptr + 1, name.len - 1}, &number) < 0 || number >= world->names)
        return SIM_NONE;
    uint64_t key = (uint64_t)(ns.ptr[0] - 'a') * world->names + number;
    return key < world->key_count ? (uint32_t)key : SIM_NONE;
}

static int record_matches(const sim_world *world, const sim_record *record, const ki_object *object)
{
    sim_object text;
    uint64_t version = 0;
    if (read_number(ki_object_resource_version(object), &version) < 0 || version != record->version)
        return 0;
    sim_world_describe(world, record, &text);
    ki_json value = ki_object_find(object, "/spec/value");
    return ki_str_equal(ki_object_uid(object), ki_str_of(text.uid)) &&
           (ki_json_type_of(value) == KI_JSON_NONE || ki_json_string_equals(value, ki_str_of(text.value)));
}

const sim_record *sim_world_find(const sim_world *world, const ki_object *object)
{
    uint32_t key = sim_world_key(world, ki_object_namespace(object), ki_object_name(object));
    uint32_t index = key == SIM_NONE ? SIM_NONE : world->newest[key];
    while (index != SIM_NONE && !record_matches(world, &world->records[index], object))
        index = world->records[index].older;
    return index == SIM_NONE ? NULL : &world->records[index];
}

int sim_record_is_of_epoch(const sim_record *record, uint32_t epoch)
{
    return record->epoch <= epoch && epoch <= record->last_epoch;
}
