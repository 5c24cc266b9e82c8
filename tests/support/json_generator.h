/* SPDX-License-Identifier: Apache-2.0 */
/* json_generator - random JSON values that one seed decides, and the many ways to spell each of them.
 *
 *   From:     property tests of everything that reads or writes JSON
 *   To:       util/random.h; the memory is malloc's own and not the library's
 *   Not here: malformed text; reading.
 */
#ifndef KI_TESTS_SUPPORT_JSON_GENERATOR_H
#define KI_TESTS_SUPPORT_JSON_GENERATOR_H

#include <kinformer/json.h>

#include "util/random.h"

typedef struct json_limits {
    int depth;        /* containers in containers; 0: a scalar */
    int items;        /* at most, in one container */
    int chars;        /* at most, in one string */
    int wild_numbers; /* hundreds of digits and exponents far beyond any double; else within both */
    int nul;          /* strings, but no names, may contain U+0000 */
} json_limits;

/* One value. What a name or string means is UTF-8; a number is digits × 10^exponent. */
typedef struct json_node {
    ki_json_type type;
    int flag;     /* of a bool */
    int negative; /* of a number, as well as the two below */
    long exponent;
    char *text; /* of a string, or the digits of a number: no leading zero but in "0" */
    size_t len;
    struct json_node *items; /* of a container */
    struct json_node *names; /* of an object: strings, each different */
    size_t count;
} json_node;

/* Ends the program when memory is out. Free it with json_node_free(). */
json_node *json_node_random(ki_random *random, const json_limits *limits);
void json_node_free(json_node *node);

/* Changes one scalar or empty container somewhere in the value to something that is not equal. */
void json_node_mutate(json_node *root, ki_random *random);

/* How json_node_print() spells. Without any: no white space, members in their order, plain escapes and
 * numbers. */
enum {
    JSON_SPACES = 1,     /* white space between tokens, and around all */
    JSON_SHUFFLED = 2,   /* members in another order */
    JSON_RESPELT = 4,    /* other escapes for the same characters, other digits for the same numbers */
    JSON_DUPLICATES = 8, /* names that come again with another value: none of them counts */
    JSON_INDENTED = 16,  /* as the writer does it, two spaces a level */
};

/* The text, to be given to free(). Ends the program when memory is out. */
char *json_node_print(const json_node *node, ki_random *random, unsigned style, size_t *out_len);

/* Writes it with the calls of ki_json_writer. */
void json_node_write(const json_node *node, ki_json_writer *writer);

#endif
