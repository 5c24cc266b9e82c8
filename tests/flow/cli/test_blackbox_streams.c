/* SPDX-License-Identifier: Apache-2.0 */
/* Streamed lists as a user sees them: what follows when they are refused, fail, or continue as the watch. */
#include "flow/support/blackbox.h"

#define A POD("a", "5")
#define SYNCED "*a@5 synced"
#define GOOD WHOLE(LIST("10", A))
#define STREAM ADDED("a", "5") MARKER("10")
#define GONE HOLD(ERROR("410", "Expired"))
/* In JSON the first list is not streamed; the one after the 410 is. */
#define LISTS REPLIES(GOOD, WHOLE(LIST("12", A)))
#define WATCHES REPLIES(GONE, HOLD(""))
#define STREAM_AGAIN HOLD(ADDED("a", "5") MARKER("12"))

/* A server that does not support streams is listed at once. */
#define NOT_KNOWN(code, word)                                                                                \
    {                                                                                                        \
        .name = code " to a stream leads to a list at once", .arguments = "--wire json",                     \
        .streams = REPLIES(REFUSE(code, word)), .lists = LISTS, .watches = WATCHES,                          \
        .requests = "list=0 watch=10 stream=10 list=10 watch=12", .events = SYNCED                           \
    }

/* If a server should support streams, but they fail twice, a list is requested instead. */
#define FAILS_TWICE(title, ...)                                                                              \
    {                                                                                                        \
        .name = title " twice lead to a list", .arguments = "--wire json", .streams = REPLIES(__VA_ARGS__),  \
        .lists = LISTS, .watches = WATCHES,                                                                  \
        .requests = "list=0 watch=10 stream=10 stream=10 list=10 watch=12", .events = SYNCED,                \
        .phases = "STREAMING_LIST:Expired WATCHING"                                                          \
    }

static const scenario scenarios[] = {
    {.name = "with protobuf, the first list is streamed by default",
     .arguments = "",
     .streams = REPLIES(HOLD(STREAM ADDED("b", "11"))),
     .requests = "stream=",
     .events = SYNCED " +b@11",
     .phases = "STREAMING_LIST WATCHING"},
    {.name = "a stream continues as the watch",
     .arguments = "--watch-list always",
     .streams = REPLIES(HOLD(STREAM ADDED("b", "11"))),
     .requests = "stream=",
     .events = SYNCED " +b@11",
     .phases = "STREAMING_LIST WATCHING"},
    {.name = "a stream that is cut after its end continues with a watch",
     .arguments = "--watch-list always",
     .streams = REPLIES(CUT(STREAM ADDED("b", "11"))),
     .requests = "stream= watch=11",
     .events = SYNCED " +b@11",
     .phases = "BACKING_OFF:ConnectionLost WATCHING"},
    NOT_KNOWN("400", "BadRequest"),
    NOT_KNOWN("405", "MethodNotAllowed"),
    NOT_KNOWN("406", "NotAcceptable"),
    NOT_KNOWN("415", "UnsupportedMediaType"),
    NOT_KNOWN("422", "Invalid"),
    FAILS_TWICE("500 to a stream", REFUSE("500", "InternalError")),
    FAILS_TWICE("502 to a stream", REFUSE("502", "BadGateway")),
    FAILS_TWICE("503 to a stream", REFUSE("503", "ServiceUnavailable")),
    FAILS_TWICE("504 to a stream", REFUSE("504", "Timeout")),
    FAILS_TWICE("resets instead of a stream", RESET(NULL)),
    FAILS_TWICE("resets within a stream", RESET(ADDED("a", "5"))),
    FAILS_TWICE("cuts within a stream", CUT(ADDED("a", "5"))),
    FAILS_TWICE("ends of a stream before its marker", WHOLE(ADDED("a", "5"))),
    {.name = "the list instead of a stream may fail as well",
     .arguments = "--wire json",
     .streams = REPLIES(REFUSE("503", "ServiceUnavailable")),
     .lists = REPLIES(GOOD, REFUSE("503", "ServiceUnavailable"), WHOLE(LIST("12", A))),
     .watches = WATCHES,
     .requests = "list=0 watch=10 stream=10 stream=10 list=10 list=10 watch=12",
     .events = SYNCED},
    {.name = "streams that failed are remembered",
     .arguments = "--wire json",
     .streams = REPLIES(REFUSE("503", "ServiceUnavailable")),
     .lists = REPLIES(GOOD, WHOLE(LIST("12", A)), WHOLE(LIST("14", A))),
     .watches = REPLIES(GONE, GONE, HOLD("")),
     .requests = "list=0 watch=10 stream=10 stream=10 list=10 watch=12 list=12 watch=14",
     .events = SYNCED},
    {.name = "a stream without an answer is given up after a while",
     .arguments = "--watch-list always",
     .streams = REPLIES(SILENCE, HOLD(STREAM)),
     .requests = "stream= stream=",
     .events = SYNCED,
     .phases = "BACKING_OFF:Timeout STREAMING_LIST:Timeout WATCHING"},
    {.name = "a stream that falls silent before its marker is given up after a while",
     .arguments = "--watch-list always",
     .streams = REPLIES(HOLD(ADDED("a", "5") BOOKMARK("9")), HOLD(STREAM)),
     .requests = "stream= stream=",
     .events = SYNCED,
     .phases = "BACKING_OFF:NoEndOfList STREAMING_LIST:NoEndOfList WATCHING"},
    {.name = "a stream that lags behind does not bring back deleted objects",
     .arguments = "--watch-list always",
     .streams = REPLIES(HOLD(STREAM DELETED("a", "11") ERROR("410", "Expired")),
                        HOLD(ADDED("a", "5") MARKER("8")), HOLD(MARKER("12"))),
     .requests = "stream= stream=11 stream=",
     .events = SYNCED " -a@11"},
    {.name = "a server without streams is remembered",
     .arguments = "--wire json",
     .lists = REPLIES(GOOD, WHOLE(LIST("12", A)), WHOLE(LIST("14", A))),
     .watches = REPLIES(GONE, GONE, HOLD("")),
     .requests = "list=0 watch=10 stream=10 list=10 watch=12 list=12 watch=14",
     .events = SYNCED},
    {.name = "a busy server is not one without streams",
     .arguments = "--wire json",
     .streams = REPLIES(REFUSE_FOR("429", "TooManyRequests", "1"), HOLD(STREAM)),
     .lists = REPLIES(REFUSE_FOR("429", "TooManyRequests", "1")),
     .requests = "list=0 stream= ...",
     .events = SYNCED,
     .phases = "BACKING_OFF:TooManyRequests STREAMING_LIST:TooManyRequests WATCHING"},
    {.name = "a stream that has expired is requested again",
     .arguments = "--watch-list always",
     .streams = REPLIES(HOLD(STREAM ERROR("410", "Expired")), HOLD(ADDED("a", "5") MARKER("12"))),
     .requests = "stream= stream=10",
     .events = SYNCED},
    {.name = "unchanged objects of a stream are not delivered again and missing ones are deleted",
     .arguments = "--watch-list always",
     .streams = REPLIES(HOLD(ADDED("a", "5") ADDED("b", "6") MARKER("10") ERROR("410", "Expired")),
                        HOLD(ADDED("a", "5") MARKER("12"))),
     .requests = "stream= stream=10",
     .events = "*a@5 *b@6 synced -b@6?"},
    {.name = "with --watch-list always, streams replace lists when watches bring nothing",
     .arguments = "--watch-list always",
     .streams = REPLIES(CUT(STREAM), HOLD(ADDED("a", "5") ADDED("b", "11") MARKER("12"))),
     .watches = REPLIES(WHOLE("")),
     .requests = "stream= watch=10 watch=10 ...",
     .events = SYNCED " +b@11"},
    {.name = "with --watch-list always, streams are never replaced by a list",
     .arguments = "--watch-list always",
     .streams =
         REPLIES(REFUSE("503", "ServiceUnavailable"), REFUSE("503", "ServiceUnavailable"), HOLD(STREAM)),
     .requests = "stream= stream= stream=",
     .events = SYNCED,
     .phases = "BACKING_OFF:ServerError STREAMING_LIST:ServerError WATCHING"},
    {.name = "a stream that fails once is tried again",
     .arguments = "--wire json",
     .streams = REPLIES(REFUSE("503", "ServiceUnavailable"), STREAM_AGAIN),
     .lists = LISTS,
     .watches = WATCHES,
     .requests = "list=0 watch=10 stream=10 stream=10",
     .events = SYNCED,
     .phases = "BACKING_OFF:ServerError WATCHING"},
    {0}};

int main(int argc, char **argv)
{
    return blackbox_main(scenarios, argc, argv);
}
