/* SPDX-License-Identifier: Apache-2.0 */
/* Checks both directions: every object is in the index under each of its values, and the index has no more
 * entries than that, so it contains nothing else. */
#include "support/store/store_check.h"

#include "api/object/object_layout.h"
#include "store/store.h"
#include "support/store/table_check.h"
#include "util/error.h"

typedef struct check {
    const ki_content *content;
    const ki_index *index;  /* the one being checked */
    ki_index_values values; /* of one object */
    size_t bytes;
    uint64_t noted; /* pairs of object and value in all indexes, according to the table */
    size_t places;  /* pairs of object and value that must exist */
    size_t entries; /* pairs that exist */
    size_t refused;
    ki_error *err;
} check;

static int table_is_sound(const ki_table *table, const char *what, ki_error *err)
{
    const char *wrong = table_check(table);
    return wrong == NULL ? 0 : ki_fail(err, KI_ERR_INVALID, "%s: %s", what, wrong);
}

/* ---- the table ------------------------------------------------------------------------------------- */

static int check_object(void *entry, uint32_t hash, void *user)
{
    check *c = user;
    ki_key_buffer buffer;
    ki_str key = ki_keyer_key(c->content->keyer, entry, &buffer);
    c->bytes += ki_object_own_bytes(entry);
    c->noted +=
        *ki_table_note((ki_table *)&c->content->objects, ki_keyer_hash(c->content->keyer, key), entry);
    if (hash != 0 &&
        hash != (uint32_t)ki_keyer_hash(c->content->keyer, key)) /* 0: not known for a single entry */
        return ki_fail(c->err, KI_ERR_INVALID, "%.*s has a different hash", KI_STR_ARGS(key));
    if (ki_content_find(c->content, key) != entry)
        return ki_fail(c->err, KI_ERR_INVALID, "%.*s is not found by its key", KI_STR_ARGS(key));
    return 0;
}

static int check_objects(check *c)
{
    int rc = table_is_sound(&c->content->objects, "objects", c->err);
    if (rc == 0)
        rc = ki_table_visit(&c->content->objects, &(ki_table_walk){.visit = check_object, .user = c});
    if (rc == 0 && c->bytes != c->content->bytes)
        rc = ki_fail(c->err, KI_ERR_INVALID, "%zu bytes of objects, counted as %zu", c->bytes,
                     c->content->bytes);
    return rc;
}

/* ---- one index ------------------------------------------------------------------------------------- */

static int check_place(const check *c, const ki_object *object, uint64_t hash, const ki_index_value *value)
{
    const ki_posting *posting = ki_index_find(c->index, value->text, c->content->keyer);
    if (posting != NULL && ki_table_contains(&posting->objects, hash, object))
        return 0;
    return ki_fail(c->err, KI_ERR_INVALID, "index %s: %s is not under \"%.*s\"", c->index->name,
                   ki_object_key(object), KI_STR_ARGS(value->text));
}

static int check_places(void *entry, uint32_t known_hash, void *user)
{
    (void)known_hash; /* known only for more than one entry */
    check *c = user;
    uint64_t hash = ki_keyer_hash_object(entry, c->content->keyer);
    int rc = ki_index_values_collect(&c->values, &c->index->function, entry, c->content->keyer);
    if (rc == KI_ERR_NO_MEMORY)
        return ki_fail_no_memory(c->err);
    c->refused += rc < 0;
    if ((rc < 0) != ki_table_contains(&c->index->refused, hash, entry))
        return ki_fail(c->err, KI_ERR_INVALID, "index %s: %s is wrongly refused, or wrongly accepted",
                       c->index->name, ki_object_key(entry));
    rc = 0;
    for (size_t i = 0; i < c->values.count && rc == 0; i++)
        rc = check_place(c, entry, hash, &c->values.items[i]);
    c->places += c->values.count;
    return rc;
}

static int check_posting(void *entry, uint32_t hash, void *user)
{
    (void)hash;
    check *c = user;
    const ki_posting *posting = entry;
    c->entries += posting->objects.count;
    if (posting->objects.count == 0)
        return ki_fail(c->err, KI_ERR_INVALID, "index %s: a posting is empty", c->index->name);
    if (ki_index_find(c->index, ki_posting_value(posting), c->content->keyer) != posting)
        return ki_fail(c->err, KI_ERR_INVALID, "index %s: \"%.*s\" is not found", c->index->name,
                       KI_STR_ARGS(ki_posting_value(posting)));
    return table_is_sound(&posting->objects, c->index->name, c->err);
}

static int check_index(check *c)
{
    c->places = 0;
    c->entries = 0;
    c->refused = 0;
    int rc = table_is_sound(&c->index->postings, c->index->name, c->err);
    if (rc == 0)
        rc = table_is_sound(&c->index->refused, c->index->name, c->err);
    if (rc == 0)
        rc = ki_table_visit(&c->index->postings, &(ki_table_walk){.visit = check_posting, .user = c});
    if (rc == 0)
        rc = ki_table_visit(&c->content->objects, &(ki_table_walk){.visit = check_places, .user = c});
    if (rc == 0 && (c->places != c->entries || c->refused != c->index->refused.count))
        rc = ki_fail(c->err, KI_ERR_INVALID, "index %s: %zu entries for %zu values, %u refused for %zu",
                     c->index->name, c->entries, c->places, c->index->refused.count, c->refused);
    c->noted -= c->entries;
    return rc;
}

static int check_content(const ki_content *content, ki_error *err)
{
    check c = {.content = content, .index = ki_content_first_index(content), .err = err};
    ki_index_values_init(&c.values);
    int rc = check_objects(&c);
    for (; c.index != NULL && rc == 0; c.index = ki_content_next_index(c.index))
        rc = check_index(&c);
    if (rc == 0 && c.noted != 0)
        rc = ki_fail(err, KI_ERR_INVALID, "the table and the indexes disagree on the number of entries");
    ki_index_values_fini(&c.values);
    return rc;
}

int store_check(const ki_store *store, ki_error *err)
{
    ki_store *mine = (ki_store *)store; /* locks are not part of its const state */
    ki_mutex_lock(&mine->write_mu);
    const ki_content *content = ki_store_content(store);
    int rc = check_content(content, err);
    if (rc == 0 &&
        (ki_store_count(store) != content->objects.count || ki_store_bytes(store) != content->bytes))
        rc = ki_fail(err, KI_ERR_INVALID, "the store's count differs from its content");
    ki_mutex_unlock(&mine->write_mu);
    return rc;
}
