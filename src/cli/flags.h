/* SPDX-License-Identifier: Apache-2.0 */
/* flags - reads the flags of a command into a struct, as kubectl does, and lists them for its help.
 *
 *   From:     cli/commands.c (the help), cli/cmd_*.c, cli/demo/
 *   To:       the members of structs that the tables of flags point at
 *   Locks:    none.
 *   Not here: combinations of flags.
 *
 * "--name value", "--name=value", "-n value", "-nvalue", "-n=value". Flags without a value may be combined in
 * one word ("-Ah"), and accept "=true" and "=false". "--" ends the flags. If a flag that takes one value is
 * repeated, the last one counts.
 */
#ifndef KI_CLI_FLAGS_H
#define KI_CLI_FLAGS_H

#include <kinformer/common.h>
#include <kinformer/error.h>

/* The comment is the type of the struct's member. */
typedef enum cli_flag_type {
    CLI_FLAG_BOOL,     /* int */
    CLI_FLAG_TEXT,     /* const char * */
    CLI_FLAG_TEXTS,    /* cli_texts: each occurrence adds one */
    CLI_FLAG_SECRET,   /* like CLI_FLAG_TEXT, but overwritten on the command line */
    CLI_FLAG_SECRETS,  /* like CLI_FLAG_TEXTS, but overwritten on the command line */
    CLI_FLAG_DURATION, /* uint64_t, in milliseconds */
    CLI_FLAG_TIMEOUT,  /* the same; a plain number means seconds, as in kubectl */
    CLI_FLAG_NUMBER,   /* int64_t, not negative */
    CLI_FLAG_CHOICE    /* int: the index in `choices` */
} cli_flag_type;

enum { CLI_TEXTS_MAX = 64, CLI_ARGUMENTS_MAX = 64 };

/* Borrowed strings, terminated by NULL. */
typedef struct cli_texts {
    const char *items[CLI_TEXTS_MAX + 1];
    size_t count;
} cli_texts;

typedef struct cli_flag {
    const char *name; /* "namespace" */
    char letter;      /* 'n'; 0 if none */
    cli_flag_type type;
    size_t offset;        /* of the member in the group's struct */
    const char *argument; /* "NAME" in the help; NULL if none */
    const char *help;
    const char *choices; /* for CLI_FLAG_CHOICE: "auto|always|never" */
} cli_flag;

/* Related flags, with members in one struct and one title in the help. */
typedef struct cli_flag_group {
    const char *title;
    const cli_flag *flags;
    size_t count;
    void *base;
} cli_flag_group;

/* All flags of a command. */
typedef struct cli_flag_set {
    const char *command; /* "watch" */
    const cli_flag_group *groups;
    size_t group_count;
} cli_flag_set;

/* Arguments that are not flags; borrowed. */
typedef struct cli_arguments {
    const char *items[CLI_ARGUMENTS_MAX];
    size_t count;
    int is_help; /* -h or --help was given: the words after it were not parsed */
} cli_arguments;

/* Parses `argv`, which does not contain the name of the command; secrets in it are overwritten. Returns 0, or
 * KI_ERR_INVALID with a message of one line; then some members may already have changed. */
KI_NODISCARD int cli_flags_parse(const cli_flag_set *set, int argc, char *const *argv,
                                 cli_arguments *out_arguments, ki_error *err);

/* Writes the list of flags to stdout. */
void cli_flags_print(const cli_flag_set *set);

#endif
