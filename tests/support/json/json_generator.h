/* SPDX-License-Identifier: Apache-2.0 */
/* json_generator - random JSON values from a seed, and many spellings of each.
 *
 *   From:     property tests of code that reads or writes JSON
 *   To:       util/random.h; its memory is from malloc
 *   Not here: malformed text; reading.
 */
#ifndef KI_TESTS_SUPPORT_JSON_JSON_GENERATOR_H
#define KI_TESTS_SUPPORT_JSON_JSON_GENERATOR_H

#include <kinformer/json.h>

#include "util/random.h"

typedef struct json_limits {
    int depth;        /* levels of containers; 0: a scalar */
    int items;        /* the most in one container */
    int chars;        /* the most in one string */
    int wild_numbers; /* hundreds of digits, exponents beyond any double; else within both */
    int nul;          /* strings, but not names, may contain U+0000 */
} json_limits;

/* One value. The text of a name or string is UTF-8; a number is digits × 10^exponent. */
typedef struct json_node {
    ki_json_type type;
    int flag;     /* of a bool */
    int negative; /* of a number, like the two below */
    long exponent;
    char *text; /* of a string, or the digits of a number, without leading zeros except in "0" */
    size_t len;
    struct json_node *items; /* of a container */
    struct json_node *names; /* of an object: strings, each different */
    size_t count;
} json_node;

/* Ends the program if out of memory. Free the result with json_node_free(). */
json_node *json_node_random(ki_random *random, const json_limits *limits);
void json_node_free(json_node *node);

/* Changes one scalar or empty container somewhere in the value to one that is not equal. */
void json_node_mutate(json_node *root, ki_random *random);

/* How json_node_print() writes. Without flags: no white space, members in their order,
 * plain escapes and numbers. */
enum {
    JSON_SPACES = 1,   /* white space between tokens, and before and after the value */
    JSON_SHUFFLED = 2, /* members in a different order */
    JSON_RESPELT = 4,  /* different escapes for the same characters, different digits for the same numbers */
    JSON_DUPLICATES = 8, /* duplicate names with a different value, which are ignored */
    JSON_INDENTED = 16,  /* like the writer, with two spaces per level */
};

/* Returns the text; free it with free(). Ends the program if out of memory. */
char *json_node_print(const json_node *node, ki_random *random, unsigned style, size_t *out_len);

/* Writes the value with the calls of ki_json_writer. */
void json_node_write(const json_node *node, ki_json_writer *writer);

#endif
