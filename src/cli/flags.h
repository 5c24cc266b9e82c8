/* SPDX-License-Identifier: Apache-2.0 */
/* flags - reads the flags of a command into a struct, as kubectl does, and lists them for its help.
 *
 *   From:     cli/cmd_*.c
 *   To:       the members of structs that the tables of flags point at
 *   Locks:    none.
 *   Not here: what flags mean together.
 *
 * "--name value", "--name=value", "-n value", "-nvalue", "-n=value"; flags without a value may be written
 * in one word ("-Ah") and take "=true" and "=false"; "--" ends the flags; the last of several counts,
 * where only one can.
 */
#ifndef KI_CLI_FLAGS_H
#define KI_CLI_FLAGS_H

#include <kinformer/common.h>
#include <kinformer/error.h>

typedef enum cli_flag_type {
    CLI_FLAG_BOOL,     /* int */
    CLI_FLAG_TEXT,     /* const char * */
    CLI_FLAG_TEXTS,    /* cli_texts: each time one more */
    CLI_FLAG_SECRET,   /* as CLI_FLAG_TEXT: overwritten on the command line, as the next */
    CLI_FLAG_SECRETS,  /* as CLI_FLAG_TEXTS */
    CLI_FLAG_DURATION, /* uint64_t, in milliseconds */
    CLI_FLAG_TIMEOUT,  /* likewise; a number alone is seconds, as kubectl has it */
    CLI_FLAG_NUMBER,   /* int64_t, not negative */
    CLI_FLAG_CHOICE    /* int: the place in `choices` */
} cli_flag_type;

enum { CLI_TEXTS_MAX = 64, CLI_ARGUMENTS_MAX = 64 };

/* Borrowed texts, ended by NULL. */
typedef struct cli_texts {
    const char *items[CLI_TEXTS_MAX + 1];
    size_t count;
} cli_texts;

typedef struct cli_flag {
    const char *name; /* "namespace" */
    char letter;      /* 'n'; 0: none */
    cli_flag_type type;
    size_t offset;        /* of the member in the struct that the group names */
    const char *argument; /* "NAME" in the help; NULL: none */
    const char *help;
    const char *choices; /* of a CLI_FLAG_CHOICE: "auto|always|never" */
} cli_flag;

/* Some flags that belong together: of one struct, and under one title in the help. */
typedef struct cli_flag_group {
    const char *title;
    const cli_flag *flags;
    size_t count;
    void *base;
} cli_flag_group;

/* All that a command takes. */
typedef struct cli_flag_set {
    const char *command; /* "watch" */
    const cli_flag_group *groups;
    size_t group_count;
} cli_flag_set;

/* What is no flag; borrowed. */
typedef struct cli_arguments {
    const char *items[CLI_ARGUMENTS_MAX];
    size_t count;
    int is_help; /* -h or --help was among the flags: nothing else was looked at after it */
} cli_arguments;

/* Reads `argv`, of which the name of the command is no part; secrets in it are overwritten. Returns 0, or
 * KI_ERR_INVALID with one clear line; then the members may have been changed. */
KI_NODISCARD int cli_flags_parse(const cli_flag_set *set, int argc, char *const *argv,
                                 cli_arguments *out_arguments, ki_error *err);

/* Writes what flags there are to stdout. */
void cli_flags_print(const cli_flag_set *set);

#endif
