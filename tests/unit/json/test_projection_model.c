/* SPDX-License-Identifier: Apache-2.0 */
/* Random values and random projections, compared with a model that works on jansson's trees and searches all
 * paths again for every member. */
#include <jansson.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "json/projection.h"
#include "support/chance.h"
#include "support/json/scan_run.h"
#include "support/unit.h"

/* ---- paths --------------------------------------------------------------------------------------------- */

enum { RULES_MAX = 16, PARTS_MAX = 4, KEEP = 0, DROP, CAPTURE };

static const char long_name[] =
    "a name that is longer than one block of sixty-four bytes, so that it is always cut somewhere";
static const char *const names[] = {"a", "b", "c", "", "/", "~", "\xc3\xa9", "\"\\\n", "*x", long_name};
enum { NAMES = sizeof(names) / sizeof(names[0]), STAR = NAMES };

typedef struct rule {
    int kind;
    int aside;
    int index;            /* the number of its capture */
    size_t count;         /* number of parts */
    int parts[PARTS_MAX]; /* an index of names, or STAR */
    char text[512];
} rule;

typedef struct ruleset {
    rule rules[RULES_MAX];
    size_t count;
    const char *keep[RULES_MAX + 1];
    const char *drop[RULES_MAX + 1];
    ki_projection_capture captures[RULES_MAX];
    size_t capture_count;
} ruleset;

static void spell(rule *r)
{
    char *to = r->text;
    for (size_t i = 0; i < r->count; i++) {
        *to++ = '/';
        for (const char *c = r->parts[i] == STAR ? "*" : names[r->parts[i]]; *c != 0; c++) {
            if (*c == '~' || *c == '/')
                *to++ = '~';
            *to++ = (char)(*c == '~' ? '0' : *c == '/' ? '1' : *c);
        }
    }
    *to = 0;
}

/* The same path cannot be both kept and dropped, nor be captured twice. */
static int is_taken(const ruleset *set, const rule *r)
{
    for (size_t i = 0; i < set->count; i++)
        if ((set->rules[i].kind == CAPTURE) == (r->kind == CAPTURE) &&
            strcmp(set->rules[i].text, r->text) == 0)
            return 1;
    return 0;
}

static void add_rule(ruleset *set, ki_random *random, int kind)
{
    rule *r = &set->rules[set->count];
    *r = (rule){.kind = kind,
                .count = 1 + ki_random_below(random, PARTS_MAX),
                .aside = ki_random_below(random, 2) == 0};
    uint64_t variety = 1 + ki_random_below(random, NAMES);
    for (size_t i = 0; i < r->count; i++)
        r->parts[i] = ki_random_below(random, 3) == 0 ? STAR : (int)ki_random_below(random, variety);
    spell(r);
    if (!is_taken(set, r))
        set->count++;
}

static void random_ruleset(ruleset *set, ki_random *random)
{
    *set = (ruleset){0};
    uint64_t kept = ki_random_below(random, 5);
    uint64_t dropped = ki_random_below(random, 5);
    uint64_t captured = ki_random_below(random, 6);
    while (kept-- > 0)
        add_rule(set, random, KEEP);
    while (dropped-- > 0)
        add_rule(set, random, DROP);
    while (captured-- > 0)
        add_rule(set, random, CAPTURE);
    size_t keeps = 0;
    size_t drops = 0;
    for (size_t i = 0; i < set->count; i++) {
        rule *r = &set->rules[i];
        if (r->kind == KEEP)
            set->keep[keeps++] = r->text;
        else if (r->kind == DROP)
            set->drop[drops++] = r->text;
        else {
            r->index = (int)set->capture_count;
            set->captures[set->capture_count++] = (ki_projection_capture){r->text, r->aside};
        }
    }
}

/* ---- the model ----------------------------------------------------------------------------------------- */

/* A position in a value: the rules whose first `depth` parts match it, one bit each,
 * and whether it is kept. */
typedef struct place {
    const ruleset *set;
    uint32_t rules;
    size_t depth;
    int keep;
} place;

typedef struct model_captures {
    json_t *value[RULES_MAX];
    ki_capture_place place[RULES_MAX];
} model_captures;

/* Of two paths of the same length that match the same position, the one that has a name where the other has a
 * star comes first, compared from the end. */
static int comes_before(const rule *a, const rule *b)
{
    for (size_t i = a->count; i-- > 0;)
        if ((a->parts[i] == STAR) != (b->parts[i] == STAR))
            return b->parts[i] == STAR;
    return 0;
}

static const rule *rule_for(const place *p, int is_capture)
{
    const rule *best = NULL;
    for (size_t i = 0; i < p->set->count; i++) {
        const rule *r = &p->set->rules[i];
        if ((p->rules >> i & 1) && r->count == p->depth && (r->kind == CAPTURE) == is_capture &&
            (best == NULL || comes_before(r, best)))
            best = r;
    }
    return best;
}

/* `name` is STAR for an element of an array. */
static place step(const place *p, int name)
{
    place next = {p->set, 0, p->depth + 1, p->keep};
    for (size_t i = 0; i < p->set->count; i++) {
        const rule *r = &p->set->rules[i];
        if ((p->rules >> i & 1) && r->count > p->depth &&
            (r->parts[p->depth] == STAR || r->parts[p->depth] == name))
            next.rules |= UINT32_C(1) << i;
    }
    const rule *r = rule_for(&next, 0);
    if (r != NULL)
        next.keep = r->kind == KEEP;
    return next;
}

static int has_rules_below(const place *p)
{
    for (size_t i = 0; i < p->set->count; i++)
        if ((p->rules >> i & 1) && p->set->rules[i].count > p->depth)
            return 1;
    return 0;
}

/* Whether this value, or a value below it that a path names, is kept. */
static int may_hold_kept(const place *p)
{
    if (p->keep)
        return 1;
    for (int name = 0; name <= STAR; name++) {
        place next = step(p, name);
        if (next.rules != 0 && may_hold_kept(&next))
            return 1;
    }
    return 0;
}

static json_t *project(const place *p, json_t *value, model_captures *captures);

static void capture(const place *p, int is_kept, json_t *value, model_captures *captures)
{
    const rule *r = rule_for(p, 1);
    if (r == NULL || captures->value[r->index] != NULL || (!is_kept && !r->aside))
        return;
    captures->value[r->index] = json_incref(value);
    captures->place[r->index] = is_kept ? KI_CAPTURE_TEXT : KI_CAPTURE_SIDE;
}

/* The remainder of a member at `p`: a new reference, or NULL if nothing remains. */
static json_t *project_member(const place *p, json_t *value, model_captures *captures)
{
    int is_entered = (json_is_object(value) || json_is_array(value)) && has_rules_below(p);
    json_t *left = is_entered ? project(p, value, captures) : json_incref(value);
    int is_kept = p->keep || (is_entered && may_hold_kept(p));
    capture(p, is_kept, left, captures);
    if (is_kept)
        return left;
    json_decref(left);
    return NULL;
}

static int index_of_name(const char *name)
{
    int i = 0;
    while (strcmp(names[i], name) != 0)
        i++;
    return i;
}

static json_t *project(const place *p, json_t *value, model_captures *captures)
{
    size_t index;
    const char *name;
    json_t *member;
    json_t *left = json_is_array(value) ? json_array() : json_object();
    json_array_foreach(value, index, member)
    {
        place next = step(p, STAR);
        json_t *kept = project_member(&next, member, captures);
        if (kept != NULL)
            json_array_append_new(left, kept);
    }
    json_object_foreach(value, name, member)
    {
        place next = step(p, index_of_name(name));
        json_t *kept = project_member(&next, member, captures);
        if (kept != NULL)
            json_object_set_new(left, name, kept);
    }
    return left;
}

static json_t *project_root(const ruleset *set, json_t *value, model_captures *captures)
{
    place root = {set, (UINT32_C(1) << set->count) - 1, 0, set->keep[0] == NULL};
    if (!json_is_object(value) && !json_is_array(value))
        return json_incref(value);
    return project(&root, value, captures);
}

/* ---- random values ------------------------------------------------------------------------------------- */

static json_t *random_scalar(ki_random *random)
{
    char text[151];
    size_t len = ki_random_below(random, ki_random_below(random, 4) == 0 ? sizeof(text) : 10);
    switch (ki_random_below(random, 6)) {
    case 0:
        return json_true();
    case 1:
        return json_null();
    case 2:
        return json_real(random_fraction(random) * 1e6);
    case 3:
        return json_integer((json_int_t)ki_random_below(random, 1000000) - 500000);
    default:
        for (size_t i = 0; i < len; i++)
            text[i] = "abc{}[],:\"\\/ \n"[ki_random_below(random, 14)];
        return json_stringn(text, len);
    }
}

static json_t *random_value(ki_random *random, int depth)
{
    if (depth == 0 || ki_random_below(random, 4) == 0)
        return random_scalar(random);
    uint64_t count = ki_random_below(random, 6);
    if (ki_random_below(random, 3) == 0) {
        json_t *array = json_array();
        for (; count > 0; count--)
            json_array_append_new(array, random_value(random, depth - 1));
        return array;
    }
    json_t *object = json_object();
    uint64_t variety = 1 + ki_random_below(random, NAMES);
    for (; count > 0; count--)
        json_object_set_new(object, names[ki_random_below(random, variety)], random_value(random, depth - 1));
    return object;
}

/* ---- comparison ---------------------------------------------------------------------------------------- */

typedef struct trial {
    uint64_t seed;
    size_t spelling; /* flags of jansson: how strings are written */
    const ki_projection *projection;
    char *text;
    char *expected;
    model_captures captures;
} trial;

static char *dump(const json_t *value, size_t flags)
{
    char *text = json_dumps(value, flags | JSON_ENCODE_ANY);
    assert_non_null(text);
    return text;
}

static void assert_captures(const trial *t, const scan_run *run)
{
    for (size_t i = 0; i < RULES_MAX; i++) {
        if (run->captures[i].place != t->captures.place[i])
            fail_msg("seed %llu: capture %zu is at %d, not %d", (unsigned long long)t->seed, i,
                     (int)run->captures[i].place, (int)t->captures.place[i]);
        if (t->captures.value[i] == NULL)
            continue;
        char *expected = dump(t->captures.value[i], JSON_COMPACT | t->spelling);
        if (!ki_str_equal(scan_run_capture(run, i), ki_str_of(expected)))
            fail_msg("seed %llu: capture %zu is %.*s, not %s", (unsigned long long)t->seed, i,
                     KI_STR_ARGS(scan_run_capture(run, i)), expected);
        free(expected);
    }
}

static void assert_projected(const trial *t, scan_run *run, scan_split split)
{
    run->projection = t->projection;
    if (scan_run_text(run, ki_str_of(t->text), split) != 0)
        fail_msg("seed %llu: %s", (unsigned long long)t->seed, ki_error_name(run->code));
    if (!ki_str_equal(scan_run_kept(run), ki_str_of(t->expected)))
        fail_msg("seed %llu, %s: %s is reduced to\n%.*s, not\n%s", (unsigned long long)t->seed,
                 run->kernel->name, t->text, KI_STR_ARGS(scan_run_kept(run)), t->expected);
    assert_captures(t, run);
}

/* A projected value is not changed by projecting it again. */
static void assert_idempotent(const trial *t, scan_run *run)
{
    size_t len = scan_run_kept(run).len;
    char *kept = malloc(len + 1);
    assert_non_null(kept);
    memcpy(kept, scan_run_kept(run).ptr, len);
    kept[len] = 0;
    assert_int_equal(scan_run_text(run, (ki_str){kept, len}, (scan_split){0}), 0);
    if (!ki_str_equal(scan_run_kept(run), (ki_str){kept, len}))
        fail_msg("seed %llu: %s is reduced again to %.*s", (unsigned long long)t->seed, kept,
                 KI_STR_ARGS(scan_run_kept(run)));
    free(kept);
}

static void run_trial(uint64_t seed, scan_run *run)
{
    static const size_t layouts[] = {JSON_COMPACT, 0, JSON_INDENT(2), JSON_INDENT(9), JSON_INDENT(31)};
    static const size_t spellings[] = {0, JSON_ENSURE_ASCII, JSON_ESCAPE_SLASH,
                                       JSON_ENSURE_ASCII | JSON_ESCAPE_SLASH};
    ki_random random;
    ruleset set;
    ki_random_init(&random, seed);
    random_ruleset(&set, &random);
    trial t = {.seed = seed, .spelling = spellings[seed % 4]};
    ki_projection *projection = ki_projection_new(
        &(ki_projection_options){set.keep, set.drop, set.captures, set.capture_count}, NULL);
    assert_non_null(projection);
    json_t *value = random_value(&random, 1 + (int)ki_random_below(&random, 5));
    json_t *left = project_root(&set, value, &t.captures);
    t.projection = projection;
    t.text = dump(value, layouts[ki_random_below(&random, 5)] | t.spelling);
    t.expected = dump(left, JSON_COMPACT | t.spelling);
    for (const ki_json_kernel *const *kernel = ki_json_kernels(); *kernel != NULL; kernel++) {
        run->kernel = *kernel;
        assert_projected(&t, run, (scan_split){0});
        assert_projected(&t, run, (scan_split){.random = &random});
        assert_projected(&t, run, (scan_split){.first = 1 + ki_random_below(&random, strlen(t.text))});
    }
    assert_idempotent(&t, run);
    for (size_t i = 0; i < RULES_MAX; i++)
        json_decref(t.captures.value[i]);
    free(t.text);
    free(t.expected);
    json_decref(left);
    json_decref(value);
    ki_projection_free(projection);
}

static void random_projections_agree_with_the_model(void **state)
{
    (void)state;
    scan_run run;
    scan_run_init(&run);
    for (uint64_t seed = 0; seed < 20000; seed++)
        run_trial(seed, &run);
    assert_true(run.values > 0);
    scan_run_fini(&run);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(random_projections_agree_with_the_model),
    };
    return RUN_TESTS(tests);
}
