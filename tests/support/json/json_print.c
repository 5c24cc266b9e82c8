/* SPDX-License-Identifier: Apache-2.0 */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "support/json/json_generator.h"

typedef struct printer {
    FILE *out;
    ki_random *random;
    unsigned style;
    int level;
} printer;

static int below(printer *p, int bound)
{
    return (int)ki_random_below(p->random, (uint64_t)bound);
}

static void print_space(printer *p)
{
    if ((p->style & JSON_SPACES) == 0)
        return;
    for (int n = below(p, 4) == 0 ? below(p, 90) : below(p, 3); n > 0; n--)
        fputc(" \t\n\r"[below(p, 4)], p -> out);
}

static void print_new_line(printer *p)
{
    if ((p->style & JSON_INDENTED) != 0)
        fprintf(p->out, "\n%*s", 2 * p->level, "");
}

/* ---- strings ------------------------------------------------------------------------------------------- */

/* Decodes text that must be valid UTF-8. */
static uint32_t next_code_point(const char *text, size_t *at)
{
    unsigned char lead = (unsigned char)text[(*at)++];
    if (lead < 0x80)
        return lead;
    int more = lead < 0xe0 ? 1 : lead < 0xf0 ? 2 : 3;
    uint32_t code_point = lead & (0x3fu >> more);
    while (more-- > 0)
        code_point = code_point << 6 | ((unsigned char)text[(*at)++] & 0x3f);
    return code_point;
}

static void print_unicode_escape(printer *p, uint32_t code_point)
{
    const char *format = below(p, 2) == 0 ? "\\u%04x" : "\\u%04X";
    if (code_point >= 0x10000) {
        fprintf(p->out, format, 0xd800 + (code_point - 0x10000) / 0x400);
        code_point = 0xdc00 + (code_point - 0x10000) % 0x400;
    }
    fprintf(p->out, format, code_point);
}

static void print_char(printer *p, const char *bytes, size_t n, uint32_t code_point)
{
    static const char simple[] = "\"\\\b\f\n\r\t/";
    static const char letters[] = "\"\\bfnrt/";
    int respelt = (p->style & JSON_RESPELT) != 0;
    const char *found = code_point == 0 || code_point > 0x7f ? NULL : strchr(simple, (int)code_point);
    if (respelt && below(p, 3) == 0)
        print_unicode_escape(p, code_point);
    else if (found != NULL && (code_point != '/' || (respelt && below(p, 2) == 0)))
        fprintf(p->out, "\\%c", letters[found - simple]);
    else if (code_point < 0x20)
        fprintf(p->out, "\\u%04x", code_point);
    else
        fwrite(bytes, 1, n, p->out);
}

static void print_string(printer *p, const json_node *node)
{
    fputc('"', p->out);
    for (size_t at = 0; at < node->len;) {
        size_t begin = at;
        uint32_t code_point = next_code_point(node->text, &at);
        print_char(p, node->text + begin, at - begin, code_point);
    }
    fputc('"', p->out);
}

/* ---- numbers ------------------------------------------------------------------------------------------- */

static void print_exponent(printer *p, long exponent)
{
    static const char *const zeros[] = {"", "0", "00"};
    const char *sign = exponent < 0 ? "-" : below(p, 2) == 0 ? "+" : "";
    fprintf(p->out, "%c%s%s%ld", "eE"[below(p, 2)], sign, zeros[below(p, 3)], labs(exponent));
}

/* Moves the point, and adjusts the exponent accordingly. */
static void print_number_respelt(printer *p, const json_node *node)
{
    int whole = node->text[0] == '0' ? 1 : below(p, (int)node->len + 1);
    int fraction = (int)node->len - whole;
    long exponent = node->exponent + fraction;
    fprintf(p->out, "%s%.*s", node->negative ? "-" : "", whole == 0 ? 1 : whole,
            whole == 0 ? "0" : node->text);
    if (whole > 0 && node->text[0] != '0' && fraction == 0 && below(p, 3) == 0) {
        fputc('0', p->out);
        exponent--;
    }
    if (fraction > 0)
        fprintf(p->out, ".%.*s", fraction, node->text + whole);
    if (below(p, 3) == 0)
        fputs(fraction > 0 ? "000" : ".0", p->out);
    if (exponent != 0 || below(p, 3) == 0)
        print_exponent(p, exponent);
}

static void print_number(printer *p, const json_node *node)
{
    if ((p->style & JSON_RESPELT) != 0) {
        print_number_respelt(p, node);
        return;
    }
    fprintf(p->out, "%s%.*s", node->negative ? "-" : "", (int)node->len, node->text);
    if (node->exponent != 0)
        fprintf(p->out, "e%ld", node->exponent);
}

/* ---- values -------------------------------------------------------------------------------------------- */

static void print_value(printer *p, const json_node *node);

/* The order in which items are printed; free it with free(). */
static size_t *order_of(printer *p, const json_node *node)
{
    size_t *order = calloc(node->count, sizeof(*order));
    if (order == NULL)
        abort();
    for (size_t i = 0; i < node->count; i++)
        order[i] = i;
    for (size_t i = node->count; i > 1 && node->type == KI_JSON_OBJECT && (p->style & JSON_SHUFFLED) != 0;
         i--) {
        size_t j = ki_random_below(p->random, i);
        size_t swapped = order[i - 1];
        order[i - 1] = order[j];
        order[j] = swapped;
    }
    return order;
}

static void print_name(printer *p, const json_node *name)
{
    print_string(p, name);
    print_space(p);
    fputs((p->style & JSON_INDENTED) != 0 ? ": " : ":", p->out);
    print_space(p);
}

/* Repeats names that were printed already. */
static void print_duplicates(printer *p, const json_node *node, const size_t *order, size_t printed)
{
    while ((p->style & JSON_DUPLICATES) != 0 && node->type == KI_JSON_OBJECT && below(p, 3) == 0) {
        fputc(',', p->out);
        print_space(p);
        print_name(p, &node->names[order[ki_random_below(p->random, printed)]]);
        const json_node *other = &node->items[ki_random_below(p->random, node->count)];
        if (other->count == 0)
            print_value(p, other);
        else
            fputs("{\"\":[]}", p->out);
        print_space(p);
    }
}

static void print_items(printer *p, const json_node *node)
{
    size_t *order = order_of(p, node);
    p->level++;
    for (size_t i = 0; i < node->count; i++) {
        if (i > 0)
            fputc(',', p->out);
        print_new_line(p);
        print_space(p);
        if (node->type == KI_JSON_OBJECT)
            print_name(p, &node->names[order[i]]);
        print_value(p, &node->items[order[i]]);
        print_space(p);
        print_duplicates(p, node, order, i + 1);
    }
    p->level--;
    print_new_line(p);
    free(order);
}

static void print_container(printer *p, const json_node *node)
{
    fputc(node->type == KI_JSON_ARRAY ? '[' : '{', p->out);
    if (node->count > 0)
        print_items(p, node);
    else
        print_space(p);
    fputc(node->type == KI_JSON_ARRAY ? ']' : '}', p->out);
}

static void print_value(printer *p, const json_node *node)
{
    switch (node->type) {
    case KI_JSON_STRING:
        print_string(p, node);
        break;
    case KI_JSON_NUMBER:
        print_number(p, node);
        break;
    case KI_JSON_ARRAY:
    case KI_JSON_OBJECT:
        print_container(p, node);
        break;
    case KI_JSON_BOOL:
        fputs(node->flag ? "true" : "false", p->out);
        break;
    default:
        fputs("null", p->out);
        break;
    }
}

char *json_node_print(const json_node *node, ki_random *random, unsigned style, size_t *out_len)
{
    char *text = NULL;
    printer p = {.out = open_memstream(&text, out_len), .random = random, .style = style};
    if (p.out == NULL)
        abort();
    print_space(&p);
    print_value(&p, node);
    print_space(&p);
    if (fclose(p.out) != 0)
        abort();
    return text;
}

/* ---- writing ------------------------------------------------------------------------------------------- */

static void write_number(const json_node *node, ki_json_writer *writer)
{
    ki_random unused;
    size_t len;
    int64_t integer;
    ki_random_init(&unused, 0);
    char *text = json_node_print(node, &unused, 0, &len);
    ki_json number = {{text, len}};
    if (ki_json_int64(number, &integer) == 0)
        ki_json_write_int64(writer, integer);
    else
        ki_json_write_value(writer, number);
    free(text);
}

static void write_container(const json_node *node, ki_json_writer *writer)
{
    if (node->type == KI_JSON_ARRAY)
        ki_json_write_array_begin(writer);
    else
        ki_json_write_object_begin(writer);
    for (size_t i = 0; i < node->count; i++) {
        if (node->type == KI_JSON_OBJECT)
            ki_json_write_name(writer, (ki_str){node->names[i].text, node->names[i].len});
        json_node_write(&node->items[i], writer);
    }
    if (node->type == KI_JSON_ARRAY)
        ki_json_write_array_end(writer);
    else
        ki_json_write_object_end(writer);
}

void json_node_write(const json_node *node, ki_json_writer *writer)
{
    switch (node->type) {
    case KI_JSON_STRING:
        ki_json_write_string(writer, (ki_str){node->text, node->len});
        break;
    case KI_JSON_NUMBER:
        write_number(node, writer);
        break;
    case KI_JSON_ARRAY:
    case KI_JSON_OBJECT:
        write_container(node, writer);
        break;
    case KI_JSON_BOOL:
        ki_json_write_bool(writer, node->flag);
        break;
    default:
        ki_json_write_null(writer);
        break;
    }
}
