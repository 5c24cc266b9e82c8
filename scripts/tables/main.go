// SPDX-License-Identifier: Apache-2.0

// Tables writes src/proto/messages_table.c, and records what Go makes of messages, for comparison:
//
//	tables write FILE                     the table
//	tables check FILE                     fails when the file is not what would be written
//	tables random SEED EACH FILE          objects of every kind, filled at random
//	tables random-small SEED EACH FILE    the same without the large ones
//	tables published EVERY FOLDER FILE    the test data of k8s.io/api, or one object of EVERY
//	tables bench FILE                     times Go's decoder on a list of pods
//	tables json APIVERSION KIND HEX       what Go makes of a message
package main

import (
	"bytes"
	"encoding/hex"
	"fmt"
	"os"
	"reflect"
	"runtime/debug"
	"strconv"
	"strings"
)

func fail(format string, arguments ...any) {
	fmt.Fprintf(os.Stderr, "tables: "+format+"\n", arguments...)
	os.Exit(1)
}

func releaseVersion() string {
	info, _ := debug.ReadBuildInfo()
	for _, module := range info.Deps {
		if module.Path == "k8s.io/api" {
			return module.Version
		}
	}
	return "?"
}

func tableText() []byte {
	kinds := allKinds(newScheme())
	m := &model{byType: map[reflect.Type]*message{}}
	for _, k := range kinds {
		m.messageOf(k.goType)
	}
	return append(writeTables(m, kinds, releaseVersion()), '\n')
}

func check(name string) {
	text, err := os.ReadFile(name)
	if err != nil {
		fail("%v", err)
	}
	if !bytes.Equal(text, tableText()) {
		fail("%s is not what the Go types say: run make tables", name)
	}
}

func number(text string) int {
	n, err := strconv.Atoi(text)
	if err != nil {
		fail("%v", err)
	}
	return n
}

func printJSON(name, digits string) {
	raw, err := hex.DecodeString(strings.ReplaceAll(digits, " ", ""))
	if err != nil {
		fail("%v", err)
	}
	for _, k := range allKinds(newScheme()) {
		if k.name() == name {
			fmt.Printf("%s\n", k.jsonOf(raw))
		}
	}
}

func main() {
	a := append(os.Args[1:], "", "")
	switch {
	case len(a) == 4 && a[0] == "write":
		if err := os.WriteFile(a[1], tableText(), 0o644); err != nil {
			fail("%v", err)
		}
	case len(a) == 4 && a[0] == "check":
		check(a[1])
	case len(a) == 6 && (a[0] == "random" || a[0] == "random-small"):
		recordRandom(int64(number(a[1])), number(a[2]), a[0] == "random-small", a[3])
	case len(a) == 6 && a[0] == "published":
		recordPublished(a[2], a[3], number(a[1]))
	case len(a) == 4 && a[0] == "bench":
		bench(a[1])
	case len(a) == 6 && a[0] == "json":
		printJSON(a[1]+" "+a[2], a[3])
	default:
		fail("unknown arguments %v", os.Args[1:])
	}
}
