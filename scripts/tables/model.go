// SPDX-License-Identifier: Apache-2.0

package main

import (
	"fmt"
	"reflect"
	"strconv"
	"strings"
)

// One message as the tables have it, with its fields in the order of the Go type, which is that of the JSON. The names of types and forms are those of src/proto/table.h.
type message struct {
	name   string
	form   string
	fields []*field
	index  int
}

type field struct {
	number   int
	json     string // the name of the member
	kind     string // type of the value, or of an element
	holder   string // "", LIST or MAP
	absent   string // what an absent one is: NOTHING, ZERO or NULL
	omitZero bool   // a zero value on the wire is left out
	message  *message
}

// Types whose JSON is not what their fields say.
var leaves = map[string]string{
	"k8s.io/apimachinery/pkg/apis/meta/v1.Time":       "TIME",
	"k8s.io/apimachinery/pkg/apis/meta/v1.MicroTime":  "MICRO_TIME",
	"k8s.io/apimachinery/pkg/api/resource.Quantity":   "QUANTITY",
	"k8s.io/apimachinery/pkg/util/intstr.IntOrString": "INT_OR_STRING",
	"k8s.io/apimachinery/pkg/runtime.RawExtension":    "RAW",
	"k8s.io/apimachinery/pkg/apis/meta/v1.FieldsV1":   "RAW",
}

var forms = map[string]string{
	"JSONSchemaPropsOrBool":        "SCHEMA_OR_BOOL",
	"JSONSchemaPropsOrArray":       "SCHEMA_OR_ARRAY",
	"JSONSchemaPropsOrStringArray": "SCHEMA_OR_STRINGS",
}

type model struct {
	byType   map[reflect.Type]*message
	messages []*message
}

func fullName(t reflect.Type) string { return t.PkgPath() + "." + t.Name() }

func hasOwnJSON(t reflect.Type) bool {
	_, a := reflect.New(t).Interface().(interface{ MarshalJSON() ([]byte, error) })
	return a
}

func (m *model) messageOf(t reflect.Type) *message {
	if known, ok := m.byType[t]; ok {
		return known
	}
	msg := &message{name: t.Name(), form: "FIELDS"}
	m.byType[t] = msg
	m.messages = append(m.messages, msg)
	isExtension := strings.Contains(t.PkgPath(), "/apiextensions/")
	if form, ok := forms[t.Name()]; ok && isExtension {
		msg.form = form
		m.fillUnion(msg, t)
		return msg
	}
	if t.Kind() == reflect.Slice { // a list that is a message of its own: {1: items}
		msg.form = "ITEMS"
		f := &field{number: 1, json: "items", holder: "LIST", absent: "NOTHING"}
		m.setType(f, t.Elem(), t.Name())
		msg.fields = []*field{f}
		return msg
	}
	if hasOwnJSON(t) {
		panic("no rule for the JSON of " + fullName(t))
	}
	m.fill(msg, t)
	return msg
}

// The fields of the unions have no JSON names; numbers come from their tags.
func (m *model) fillUnion(msg *message, t reflect.Type) {
	for i := 0; i < t.NumField(); i++ {
		sf := t.Field(i)
		f := &field{number: numberOf(sf), json: strings.ToLower(sf.Name[:1]) + sf.Name[1:], absent: "NOTHING"}
		m.setShape(f, sf, t.Name())
		msg.fields = append(msg.fields, f)
	}
}

func numberOf(sf reflect.StructField) int {
	parts := strings.Split(sf.Tag.Get("protobuf"), ",")
	if len(parts) < 3 {
		panic("no number: " + sf.Name)
	}
	n, err := strconv.Atoi(parts[1])
	if err != nil {
		panic(err)
	}
	return n
}

func (m *model) fill(msg *message, t reflect.Type) {
	for i := 0; i < t.NumField(); i++ {
		sf := t.Field(i)
		jsonTag := strings.Split(sf.Tag.Get("json"), ",")
		protoTag := sf.Tag.Get("protobuf")
		if protoTag == "" || protoTag == "-" {
			if sf.Name != "TypeMeta" {
				panic(fullName(t) + "." + sf.Name + " is not in protobuf")
			}
			continue
		}
		f := &field{number: numberOf(sf), json: jsonTag[0]}
		if sf.Anonymous && jsonTag[0] == "" {
			f.kind, f.absent, f.message = "INLINE", "ZERO", m.messageOf(sf.Type)
			msg.fields = append(msg.fields, f)
			continue
		}
		if f.json == "" || f.json == "-" || !sf.IsExported() {
			panic(fullName(t) + "." + sf.Name + " has no JSON name")
		}
		m.setShape(f, sf, fullName(t))
		setPresence(f, sf, jsonTag[1:])
		msg.fields = append(msg.fields, f)
	}
}

// What is left out, and what stands for an absent one.
func setPresence(f *field, sf reflect.StructField, options []string) {
	omitEmpty, omitZero := false, false
	for _, option := range options {
		omitEmpty = omitEmpty || option == "omitempty"
		omitZero = omitZero || option == "omitzero"
	}
	t := sf.Type
	canBeNil := t.Kind() == reflect.Pointer || t.Kind() == reflect.Slice || t.Kind() == reflect.Map
	isBytes := t.Kind() == reflect.Slice && t.Elem().Kind() == reflect.Uint8
	isStruct := t.Kind() == reflect.Struct
	if omitZero && fullName(t) != "k8s.io/apimachinery/pkg/apis/meta/v1.Time" {
		panic("omitzero of " + sf.Name)
	}
	switch {
	case omitZero || omitEmpty && !isStruct:
		f.absent = "NOTHING"
	case canBeNil:
		f.absent = "NULL"
	default:
		f.absent = "ZERO"
	}
	f.omitZero = omitZero || omitEmpty && (!canBeNil && !isStruct || isBytes)
}

// A list as protobuf has it: neither bytes nor a message of its own. The tag may be wrong here, too (paramKind is tagged
// "rep").
func isSlice(t reflect.Type) bool {
	_, isMessage := reflect.New(t).Interface().(protoMessage)
	return t.Kind() == reflect.Slice && t.Elem().Kind() != reflect.Uint8 && !isMessage
}

func (m *model) setShape(f *field, sf reflect.StructField, owner string) {
	t := sf.Type
	if t.Kind() == reflect.Pointer {
		t = t.Elem()
	}
	switch {
	case t.Kind() == reflect.Map:
		if t.Key().Kind() != reflect.String {
			panic("keys of " + owner + "." + sf.Name)
		}
		f.holder, t = "MAP", t.Elem()
	case isSlice(t):
		f.holder, t = "LIST", t.Elem()
	}
	if t.Kind() == reflect.Pointer {
		panic("pointers in " + owner + "." + sf.Name)
	}
	m.setType(f, t, owner+"."+sf.Name)
}

// Of scalars the Go type counts: the wire type in a tag may be wrong (remainingItemCount is tagged "bytes").
func (m *model) setType(f *field, t reflect.Type, where string) {
	isJSON := t.Name() == "JSON" && strings.Contains(t.PkgPath(), "/apiextensions/")
	switch {
	case leaves[fullName(t)] != "":
		f.kind = leaves[fullName(t)]
	case isJSON:
		f.kind = "RAW"
	case t.Kind() == reflect.Struct:
		f.kind, f.message = "MESSAGE", m.messageOf(t)
	case t.Kind() == reflect.Slice && t.Elem().Kind() == reflect.Uint8:
		f.kind = "BYTES"
	case t.Kind() == reflect.Slice:
		f.kind, f.message = "MESSAGE", m.messageOf(t)
	case t.Kind() == reflect.String:
		f.kind = "STRING"
	case t.Kind() == reflect.Bool:
		f.kind = "BOOL"
	case t.Kind() == reflect.Int32:
		f.kind = "INT32"
	case t.Kind() == reflect.Int64:
		f.kind = "INT64"
	case t.Kind() == reflect.Float64:
		f.kind = "DOUBLE"
	default:
		panic(fmt.Sprintf("no rule for %s, %s", where, t))
	}
}

// What makes two messages the same table; the messages that they refer to by what `of` says.
func (msg *message) signature(of map[*message]int) string {
	var s strings.Builder
	fmt.Fprintf(&s, "%s %s", msg.name, msg.form)
	for _, f := range msg.fields {
		fmt.Fprintf(&s, ";%d %s %s %s %s %v", f.number, f.json, f.kind, f.holder, f.absent, f.omitZero)
		if f.message != nil {
			fmt.Fprintf(&s, " %d", of[f.message])
		}
	}
	return s.String()
}

// Versions of a group mostly have the same messages: one table is enough for them. Classes are split until all
// members of each refer to the same classes.
func (m *model) merge() []*message {
	class := map[*message]int{}
	count := 1
	for {
		ids := map[string]int{}
		next := map[*message]int{}
		for _, msg := range m.messages {
			signature := fmt.Sprint(class[msg], " ", msg.signature(class))
			id, ok := ids[signature]
			if !ok {
				id = len(ids)
				ids[signature] = id
			}
			next[msg] = id
		}
		class = next
		if len(ids) == count {
			break
		}
		count = len(ids)
	}
	first := make([]*message, count)
	for _, msg := range m.messages {
		msg.index = class[msg]
		if first[msg.index] == nil {
			first[msg.index] = msg
		}
	}
	return first
}
