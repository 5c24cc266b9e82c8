// SPDX-License-Identifier: Apache-2.0

package main

import (
	"bytes"
	"compress/gzip"
	"encoding/binary"
	"encoding/json"
	"fmt"
	"io"
	"math/rand"
	"os"
	"path/filepath"
	"reflect"
	"sort"
	"strings"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime"
)

type marshaler interface {
	Marshal() ([]byte, error)
	Unmarshal([]byte) error
}

// A file of records: each is three texts with their lengths (32 bits, least significant byte first): "apiVersion kind",
// the message in its envelope, and Go's JSON for it.
type recorder struct {
	out   *bufferedFile
	count int
}

func (r *recorder) add(texts ...[]byte) {
	for _, text := range texts {
		binary.Write(r.out, binary.LittleEndian, uint32(len(text)))
		r.out.Write(text)
	}
	r.count++
}

type bufferedFile struct {
	io.Writer
	close []io.Closer
}

// Compressed if the name says so, without a time, so that equal contents are equal files.
func createFile(name string) *bufferedFile {
	file, err := os.Create(name)
	if err != nil {
		fail("%v", err)
	}
	if !strings.HasSuffix(name, ".gz") {
		return &bufferedFile{file, []io.Closer{file}}
	}
	packed, _ := gzip.NewWriterLevel(file, gzip.BestCompression)
	return &bufferedFile{packed, []io.Closer{packed, file}}
}

func (f *bufferedFile) finish() {
	for _, closer := range f.close {
		if err := closer.Close(); err != nil {
			fail("%v", err)
		}
	}
}

func envelope(k kind, raw []byte) []byte {
	unknown := runtime.Unknown{Raw: raw}
	unknown.APIVersion, unknown.Kind = k.apiVersion(), k.Kind
	data, err := unknown.Marshal()
	if err != nil {
		fail("%v", err)
	}
	return append([]byte("k8s\x00"), data...)
}

// What Go's JSON makes of what Go's protobuf decoder reads.
func (k kind) jsonOf(raw []byte) []byte {
	object := reflect.New(k.goType)
	if err := object.Interface().(marshaler).Unmarshal(raw); err != nil {
		fail("%s: %v", k.name(), err)
	}
	if meta := object.Elem().FieldByName("TypeMeta"); meta.IsValid() {
		meta.Set(reflect.ValueOf(metav1.TypeMeta{APIVersion: k.apiVersion(), Kind: k.Kind}))
	}
	text, err := json.Marshal(object.Interface())
	if err != nil {
		fail("%s: %v", k.name(), err)
	}
	return text
}

func randomObject(k kind, f *filler, number int) []byte {
	object := reflect.New(k.goType)
	if number > 0 { // the first is empty
		f.few = number%4 != 1
		f.fill(object.Elem())
	}
	if meta := object.Elem().FieldByName("ObjectMeta"); meta.IsValid() {
		meta.FieldByName("Name").SetString(fmt.Sprintf("n%d", number))
		meta.FieldByName("Namespace").SetString([]string{"", "default"}[number%2])
	}
	raw, err := object.Interface().(marshaler).Marshal()
	if err != nil {
		fail("%s: %v", k.name(), err)
	}
	return raw
}

func recordRandom(seed int64, each int, isLimited bool, name string) {
	r := &recorder{out: createFile(name)}
	for _, k := range allKinds(newScheme()) {
		f := &filler{Rand: rand.New(rand.NewSource(seed))}
		var before []byte
		for i := range each {
			raw := randomObject(k, f, i)
			if i%3 == 2 { // two messages in a row are one, merged: fields that occur again, lists in two parts
				raw = append(before, raw...)
			}
			before = bytes.Clone(raw)
			if isLimited && len(raw) > 3000 {
				continue
			}
			r.add([]byte(k.name()), envelope(k, raw), k.jsonOf(raw))
		}
	}
	r.out.finish()
	fmt.Printf("%d objects\n", r.count)
}

// The published test data: NAME.pb, and NAME.json or, where an older version has other fields, what it is after having
// been read by the current one.
func recordPublished(folder string, name string, every int) {
	r := &recorder{out: createFile(name)}
	kinds := map[string]kind{}
	for _, k := range allKinds(newScheme()) {
		group := k.Group
		if group == "" {
			group = "core"
		}
		kinds[group+"."+k.Version+"."+k.Kind] = k
	}
	files, _ := filepath.Glob(folder + "/*/*.pb")
	sort.Strings(files)
	skipped := map[string]bool{}
	for i, file := range files {
		if strings.Contains(file, ".after_roundtrip.") {
			continue
		}
		stem := strings.TrimSuffix(file, ".pb")
		k, ok := kinds[filepath.Base(stem)]
		if !ok {
			skipped[filepath.Base(stem)] = true
			continue
		}
		text, err := os.ReadFile(stem + ".after_roundtrip.json")
		if err != nil {
			text, err = os.ReadFile(stem + ".json")
		}
		data, err2 := os.ReadFile(file)
		if err != nil || err2 != nil {
			fail("%v, %v", err, err2)
		}
		var compact bytes.Buffer
		if err := json.Compact(&compact, text); err != nil {
			fail("%v", err)
		}
		if i%every == 0 {
			r.add([]byte(k.name()), data, compact.Bytes())
		}
	}
	r.out.finish()
	fmt.Printf("%d objects; not in the tables: %v\n", r.count, skipped)
}
