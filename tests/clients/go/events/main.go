// SPDX-License-Identifier: Apache-2.0

// events feeds random events to client-go's event correlator, to compare it with ours.
//
//	events SEED COUNT     writes this many sequences of events with their results, as JSON Lines
package main

import (
	"encoding/json"
	"fmt"
	"math/rand"
	"os"
	"strconv"
	"strings"
	"time"

	v1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/client-go/tools/record"
	testingclock "k8s.io/utils/clock/testing"
)

const (
	events   = 60
	messages = 14
	interval = 600 // seconds after which counting of similar events starts again
)

// Similar events: they differ only in their message.
type group struct {
	object, severity, reason int
}

// What the generator knows about them. From the tenth message on, the correlator forgets an arbitrary message of the group.
// From then on all messages are new, so that this makes no difference.
type used struct {
	messages map[int]bool
	last     int
}

type sequence struct {
	random     *rand.Rand
	clock      *testingclock.FakePassiveClock
	start      time.Time
	seconds    int
	correlator *record.EventCorrelator
	groups     map[group]*used
	times      map[int64]int // the number of an event, by the time at which it was recorded
	fresh      int
	focus      int
	lines      [][]any
}

func (s *sequence) choose() (group, int) {
	g := group{s.random.Intn(2), s.random.Intn(6) / 5, s.random.Intn(2)}
	if s.random.Intn(4) > 0 {
		g = group{0, 0, s.focus}
	}
	u := s.groups[g]
	if u == nil || s.seconds-u.last > interval {
		u = &used{messages: map[int]bool{}}
		s.groups[g] = u
	}
	u.last = s.seconds
	message := s.random.Intn(messages)
	if len(u.messages) >= 9 && !u.messages[message] || len(u.messages) >= 10 {
		s.fresh++
		message = 1000 + s.fresh
	}
	u.messages[message] = true
	return g, message
}

func (s *sequence) pass() {
	waits := []int{0, 0, 0, 0, 1, 20, 100, 299, 300, 301, 600, 601, 700}
	if s.random.Intn(5) == 0 {
		s.seconds += waits[s.random.Intn(len(waits))]
	}
	// Plus one millisecond per event, so that no two events have the same time.
	s.clock.SetTime(s.start.Add(time.Duration(s.seconds)*time.Second + time.Duration(len(s.lines))*time.Millisecond))
}

// Makes the event as a recorder would.
func (s *sequence) event(g group, message int) *v1.Event {
	now := metav1.NewTime(s.clock.Now())
	object := fmt.Sprintf("pod-%d", g.object)
	return &v1.Event{
		ObjectMeta:     metav1.ObjectMeta{Name: fmt.Sprintf("%v.%x", object, now.UnixNano()), Namespace: "default"},
		InvolvedObject: v1.ObjectReference{Kind: "Pod", Namespace: "default", Name: object, UID: "1", APIVersion: "v1"},
		Reason:         fmt.Sprintf("reason-%d", g.reason),
		Message:        fmt.Sprintf("message %d", message),
		FirstTimestamp: now,
		LastTimestamp:  now,
		Count:          1,
		Type:           []string{v1.EventTypeNormal, v1.EventTypeWarning}[g.severity],
		Source:         v1.EventSource{Component: "tests"},
	}
}

// Returns the number of the event that the name was made for.
func (s *sequence) named(event *v1.Event) int {
	nanos, err := strconv.ParseInt(event.Name[strings.LastIndex(event.Name, ".")+1:], 16, 64)
	if err != nil {
		panic(err)
	}
	return s.times[nanos]
}

// The server accepts everything.
func (s *sequence) add() error {
	s.pass()
	g, message := s.choose()
	s.times[s.clock.Now().UnixNano()] = len(s.lines)
	line := []any{s.seconds, g.object, g.severity, g.reason, message}
	result, err := s.correlator.EventCorrelate(s.event(g, message))
	if err != nil {
		return err
	}
	if result.Skip {
		s.lines = append(s.lines, append(line, "d"))
		return nil
	}
	what := "c"
	if len(result.Patch) > 0 {
		what = "p"
	}
	combined := 0
	if strings.HasPrefix(result.Event.Message, "(combined from similar events): ") {
		combined = 1
	}
	s.lines = append(s.lines, append(line, what, result.Event.Count, combined, s.named(result.Event),
		s.times[result.Event.FirstTimestamp.UnixNano()]))
	s.correlator.UpdateState(result.Event)
	return nil
}

func write(seed int64, out *json.Encoder) error {
	start := time.Unix(1800000000, 0)
	s := &sequence{random: rand.New(rand.NewSource(seed)), start: start, groups: map[group]*used{}, times: map[int64]int{}}
	s.clock = testingclock.NewFakePassiveClock(start)
	s.correlator = record.NewEventCorrelator(s.clock)
	s.focus = s.random.Intn(2)
	for range events {
		if err := s.add(); err != nil {
			return err
		}
	}
	return out.Encode(s.lines)
}

func run(arguments []string) error {
	if len(arguments) != 2 {
		return fmt.Errorf("usage: events SEED COUNT")
	}
	seed, err := strconv.ParseInt(arguments[0], 10, 64)
	if err != nil {
		return err
	}
	count, err := strconv.ParseInt(arguments[1], 10, 64)
	if err != nil {
		return err
	}
	out := json.NewEncoder(os.Stdout)
	for i := range count {
		if err := write(seed*1000000+i, out); err != nil {
			return err
		}
	}
	return nil
}

func main() {
	if err := run(os.Args[1:]); err != nil {
		fmt.Fprintln(os.Stderr, "events:", err)
		os.Exit(1)
	}
}
