// SPDX-License-Identifier: Apache-2.0

// workqueue runs client-go's typed work queue, to compare it with ours.
//
//	workqueue record SEED COUNT     writes this many random sequences of calls with their results, as JSON Lines
//	workqueue bench KEYS WORKERS    prints the nanoseconds of wall and processor time per key: with all keys added first,
//	                                and with keys added meanwhile
//	workqueue bench-metrics …       the same for a queue with metrics
package main

import (
	"errors"
	"fmt"
	"os"
	"strconv"
)

func number(text string) int64 {
	n, err := strconv.ParseInt(text, 10, 64)
	if err != nil {
		fmt.Fprintln(os.Stderr, "workqueue:", err)
		os.Exit(2)
	}
	return n
}

func run(arguments []string) error {
	if len(arguments) != 3 {
		return errors.New("usage: workqueue record SEED COUNT | bench KEYS WORKERS | bench-metrics KEYS WORKERS")
	}
	first, second := number(arguments[1]), number(arguments[2])
	switch arguments[0] {
	case "record":
		return record(first, int(second))
	case "bench":
		bench(int(first), int(second), "")
		return nil
	case "bench-metrics":
		bench(int(first), int(second), "bench")
		return nil
	}
	return fmt.Errorf("no command %q", arguments[0])
}

func main() {
	if err := run(os.Args[1:]); err != nil {
		fmt.Fprintln(os.Stderr, "workqueue:", err)
		os.Exit(1)
	}
}
