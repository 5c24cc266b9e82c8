// SPDX-License-Identifier: Apache-2.0

package main

import (
	"bufio"
	"fmt"
	"io"
	"reflect"
	"sort"
	"strings"

	apiextensions "k8s.io/apiextensions-apiserver/pkg/apis/apiextensions/v1"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/client-go/kubernetes/scheme"
)

// Types that have a form of their own, in protobuf or in JSON.
var special = map[string]string{
	"apimachinery/pkg/apis/meta/v1.Time":                                             "time",
	"apimachinery/pkg/apis/meta/v1.MicroTime":                                        "micro-time",
	"apimachinery/pkg/apis/meta/v1.FieldsV1":                                         "json",
	"apimachinery/pkg/runtime.RawExtension":                                          "json",
	"apimachinery/pkg/api/resource.Quantity":                                         "quantity",
	"apimachinery/pkg/util/intstr.IntOrString":                                       "int-or-string",
	"apiextensions-apiserver/pkg/apis/apiextensions/v1.JSON":                         "json",
	"apiextensions-apiserver/pkg/apis/apiextensions/v1.JSONSchemaPropsOrArray":       "schema-or-list",
	"apiextensions-apiserver/pkg/apis/apiextensions/v1.JSONSchemaPropsOrBool":        "schema-or-bool",
	"apiextensions-apiserver/pkg/apis/apiextensions/v1.JSONSchemaPropsOrStringArray": "schema-or-strings",
}

// Kinds that are written although they are no objects.
var moreKinds = map[string]bool{"DeleteOptions": true, "Eviction": true, "Binding": true, "Scale": true}

type messages struct {
	lines map[string][]string
	kinds map[string]string
}

func nameOf(kind reflect.Type) string {
	return strings.TrimPrefix(kind.PkgPath(), "k8s.io/") + "." + kind.Name()
}

func (all *messages) typeOf(kind reflect.Type) string {
	switch kind.Kind() {
	case reflect.Pointer:
		return all.typeOf(kind.Elem())
	case reflect.String:
		return "string"
	case reflect.Bool:
		return "bool"
	case reflect.Int, reflect.Int32, reflect.Int64:
		return "int"
	case reflect.Float64:
		return "double"
	case reflect.Map:
		// A list as the value of a map is a message of its own.
		if value := kind.Elem(); value.Kind() == reflect.Slice && value.Elem().Kind() == reflect.String {
			return "{}strings"
		}
		return "{}" + all.typeOf(kind.Elem())
	case reflect.Slice:
		if kind.Elem().Kind() == reflect.Uint8 {
			return "bytes"
		}
		return "[]" + all.typeOf(kind.Elem())
	case reflect.Struct:
		name := nameOf(kind)
		if word, is := special[name]; is {
			return word
		}
		all.add(kind)
		return name
	}
	panic("what is a " + kind.String())
}

// The fields of a message, in the order of their numbers.
func (all *messages) add(kind reflect.Type) {
	name := nameOf(kind)
	if _, is := all.lines[name]; is {
		return
	}
	all.lines[name] = nil
	byNumber := map[int]string{}
	numbers := []int{}
	for i := range kind.NumField() {
		field := kind.Field(i)
		tag := strings.Split(field.Tag.Get("protobuf"), ",")
		if len(tag) < 2 {
			continue
		}
		var number int
		fmt.Sscan(tag[1], &number)
		jsonName, options, _ := strings.Cut(field.Tag.Get("json"), ",")
		line := fmt.Sprintf("%d %s %s", number, jsonName, all.typeOf(field.Type))
		if jsonName == "" && strings.Contains(options, "inline") {
			line = fmt.Sprintf("%d - %s", number, all.typeOf(field.Type))
		} else if field.Type.Kind() == reflect.Pointer {
			line += " pointer"
		}
		byNumber[number] = line
		numbers = append(numbers, number)
	}
	sort.Ints(numbers)
	for _, number := range numbers {
		all.lines[name] = append(all.lines[name], byNumber[number])
	}
}

func (all *messages) addKind(version schema.GroupVersionKind, kind reflect.Type) {
	_, isObject := kind.FieldByName("ObjectMeta")
	if version.Version == runtime.APIVersionInternal || !isObject && !moreKinds[version.Kind] {
		return
	}
	// Options are registered for each group.
	if version.Kind == "DeleteOptions" && version.GroupVersion().String() != "v1" {
		return
	}
	all.add(kind)
	all.kinds[nameOf(kind)] = version.GroupVersion().String() + "/" + version.Kind
}

// Writes src/apiserver/messages.txt, the fields of all kinds as protobuf numbers them.
func writeMessages(out io.Writer) error {
	all := &messages{map[string][]string{}, map[string]string{}}
	if err := apiextensions.AddToScheme(scheme.Scheme); err != nil {
		return err
	}
	for version, kind := range scheme.Scheme.AllKnownTypes() {
		all.addKind(version, kind)
	}
	all.add(reflect.TypeFor[apiextensions.JSONSchemaProps]())
	names := []string{}
	for name := range all.lines {
		names = append(names, name)
	}
	sort.Strings(names)
	text := bufio.NewWriter(out)
	for i, name := range names {
		if i > 0 {
			fmt.Fprintln(text)
		}
		fmt.Fprint(text, name)
		if kind, is := all.kinds[name]; is {
			fmt.Fprint(text, " kind=", kind)
		}
		fmt.Fprintln(text)
		for _, line := range all.lines[name] {
			fmt.Fprintln(text, "  "+line)
		}
	}
	return text.Flush()
}
