// SPDX-License-Identifier: Apache-2.0

package main

import (
	"os"

	"k8s.io/component-base/cli"
	"k8s.io/kubectl/pkg/cmd"
)

func main() {
	// kubectl reads os.Args by itself, and expects its own name to be the first.
	os.Args = os.Args[1:]
	switch os.Args[0] {
	case "kubectl":
		os.Exit(cli.Run(cmd.NewDefaultKubectlCommand()))
	}
}
