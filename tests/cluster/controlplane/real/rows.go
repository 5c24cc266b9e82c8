// SPDX-License-Identifier: Apache-2.0

package main

import (
	"fmt"
	"os"
)

// A row is one client that gets all pods in one way.
type row struct {
	client, how, wire string
	answer            string // of the server: a key of `requests`
	command           []string
	environment       []string
}

func (r row) name() string {
	return fmt.Sprintf("%-10s %-10s %-8s", r.client, r.how, r.wire)
}

// download is the row that gets the same answer and discards it.
func (r row) download() row {
	return row{client: "download", how: r.answer, wire: r.wire}
}

func (r row) clientGo() row {
	return row{client: "client-go", how: "default", wire: r.wire}
}

var accepted = map[string]string{
	"json":     "application/json",
	"protobuf": "application/vnd.kubernetes.protobuf",
}

// The ways to get a whole collection.
var requests = map[string]string{
	"list 0": "resourceVersion=0",
	"list":   "resourceVersion=",
	"pages":  "limit=500",
	"streamed": "watch=true&allowWatchBookmarks=true&sendInitialEvents=true&resourceVersionMatch=NotOlderThan" +
		"&timeoutSeconds=300",
}

// What KI_WATCH_LIST_AUTO asks for first. If that changes, the ratio to the download is not printed.
var defaultAnswers = map[string]string{"json": "list 0", "protobuf": "streamed"}

func rowsOfKinformer(s *settings, wire string) []row {
	watch := func(how, answer string, flags ...string) row {
		command := []string{s.kinformer, "watch", "pods", "-A", "--until-synced", "--stats", "-o", "none",
			"--kubeconfig", s.kubeconfig, "--wire", wire}
		return row{client: "kinformer", how: how, wire: wire, answer: answer, command: append(command, flags...)}
	}
	// There is no flag for a first list of the newest version.
	list := func(answer, pageSize string) row {
		return row{client: "kinformer", how: answer, wire: wire, answer: answer,
			command: []string{s.listPods, s.kubeconfig, wire, pageSize}}
	}
	return []row{
		watch("default", defaultAnswers[wire]),
		watch("projected", defaultAnswers[wire], "--keep", "/spec/nodeName"),
		watch("list 0", "list 0", "--watch-list", "never"),
		watch("streamed", "streamed", "--watch-list", "always"),
		list("list", "-1"),
		list("pages", "500"),
	}
}

func rowsOfOthers(s *settings, wire string) []row {
	rows := []row{}
	for _, answer := range []string{"list 0", "streamed", "list", "pages"} {
		rows = append(rows, row{client: "download", how: answer, wire: wire, command: []string{s.download, s.authority,
			"Authorization: Bearer " + s.token, "Accept: " + accepted[wire], s.server + "/api/v1/pods?" + requests[answer]}})
	}
	informer := []string{os.Args[0], "informer", s.kubeconfig, wire}
	return append(rows,
		row{client: "client-go", how: "default", wire: wire, command: informer},
		row{client: "client-go", how: "list 0", wire: wire, command: informer,
			environment: []string{"KUBE_FEATURE_WatchListClient=false"}})
}
