// SPDX-License-Identifier: Apache-2.0

package main

import (
	"fmt"
	"math"
)

// The range of the wall times shows how quiet the machine was.
func printTable(s *settings, rows []row, all map[string]cost, costs [][]cost) {
	fmt.Printf("\n%d pods, %d clients at once; medians of %d rounds\n", s.pods, s.atOnce, len(costs[0]))
	fmt.Printf("%-30s %18s %9s %9s %7s %9s %9s %7s\n", "", "wall s", "client", "server", "etcd", "server MB", "client MB", "read")
	fmt.Printf("%-30s %18s %9s %9s %7s %9s %9s %7s\n", "", "(least-most)", "CPU s", "CPU s", "CPU s", "peak", "peak", "MB")
	for i, r := range rows {
		c := all[r.name()]
		least, most := c.wall, c.wall
		for _, run := range costs[i] {
			least, most = min(least, run.wall), max(most, run.wall)
		}
		wall := fmt.Sprintf("%.2f (%.2f-%.2f)", c.wall, least, most)
		fmt.Printf("%-30s %18s %9.2f %9.2f %7.2f %9.0f %9.0f %7.0f\n", r.name(), wall, c.clientCPU, c.serverCPU, c.etcdCPU,
			c.serverPeak, c.clientPeak, c.read)
	}
}

// A goal is a limit for the ratio of one of kinformer's rows to another row.
type goal struct {
	to    string
	base  func(row) row
	of    func(cost) float64
	limit float64
}

var goals = []goal{
	{"wall of the download", row.download, func(c cost) float64 { return c.wall }, 1.15},
	{"client CPU of client-go", row.clientGo, func(c cost) float64 { return c.clientCPU }, 0.25},
	{"server CPU of client-go", row.clientGo, func(c cost) float64 { return c.serverCPU }, 1},
}

const sizeTolerance = 0.001 // between two downloads of the same answer; a stream is 0.8 % larger than a LIST

func (g goal) judge(r row, all map[string]cost) string {
	base, hasBase := all[g.base(r).name()]
	if !hasBase {
		return "-"
	}
	ours := all[r.name()]
	if g.base(r).client == "download" && math.Abs(ours.read/base.read-1) > sizeTolerance {
		return "another answer"
	}
	ratio := g.of(ours) / g.of(base)
	if ratio > g.limit {
		return fmt.Sprintf("MISSED  %.2f", ratio)
	}
	return fmt.Sprintf("%.2f", ratio)
}

// The download is that of the same answer; client-go's row is its default for the same wire format.
func printGoals(rows []row, all map[string]cost) {
	fmt.Printf("\n%-30s", "ratio to the")
	for _, g := range goals {
		fmt.Printf(" %24s", g.to)
	}
	fmt.Printf("\n%-30s", "goal")
	for _, g := range goals {
		fmt.Printf(" %24s", fmt.Sprintf("at most %.2f", g.limit))
	}
	fmt.Println()
	for _, r := range rows {
		if r.client != "kinformer" {
			continue
		}
		fmt.Printf("%-30s", r.name())
		for _, g := range goals {
			fmt.Printf(" %24s", g.judge(r, all))
		}
		fmt.Println()
	}
}
