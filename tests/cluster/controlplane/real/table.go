// SPDX-License-Identifier: Apache-2.0

package main

import "fmt"

// The range of the walls shows how quiet the machine was.
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

// A target is a limit for the ratio of two rows.
type target struct {
	what      string
	row, base row
	of        func(cost) float64
	limit     float64
}

func targets() []target {
	all := []target{}
	for _, wire := range []string{"json", "protobuf"} {
		ours := row{client: "kinformer", how: "default", wire: wire}
		curl := row{client: "curl", how: "list 0", wire: wire}
		clientGo := row{client: "client-go", how: "default", wire: wire}
		all = append(all,
			target{"wall of curl's download", ours, curl, func(c cost) float64 { return c.wall }, 1.15},
			target{"client CPU of client-go", ours, clientGo, func(c cost) float64 { return c.clientCPU }, 0.25},
			target{"server CPU of client-go", ours, clientGo, func(c cost) float64 { return c.serverCPU }, 1})
	}
	return all
}

func printTargets(all map[string]cost) {
	fmt.Println("\nkinformer's default, as ratio to")
	for _, t := range targets() {
		ours, hasOurs := all[t.row.name()]
		base, hasBase := all[t.base.name()]
		if !hasOurs || !hasBase {
			continue
		}
		ratio, verdict := t.of(ours)/t.of(base), "met"
		if ratio > t.limit {
			verdict = "MISSED"
		}
		fmt.Printf("  %-36s %-8s %5.2f   at most %.2f   %s\n", t.what, t.row.wire, ratio, t.limit, verdict)
	}
}
