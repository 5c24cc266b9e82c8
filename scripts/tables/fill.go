// SPDX-License-Identifier: Apache-2.0

package main

import (
	"encoding/base64"
	"fmt"
	"math"
	"math/rand"
	"reflect"
	"time"

	"k8s.io/apimachinery/pkg/api/resource"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/util/intstr"
)

// Fills values at random: nil, empty, zero, negative, Unicode, several elements.
type filler struct {
	*rand.Rand
	depth int
	few   bool // most fields stay empty
}

var texts = []string{"", "a", "web-0", "kube-system", "a longer text, of more than sixteen bytes", "\"quoted\"", "back\\slash",
	"line\nbreak\ttab\x00\x1f\x7f", "<b>&amp;</b>", "grün", "日本語", "emoji 😀", "\u2028\u2029", "a\xff\xe2\x82z\xed\xa0\x80",
	"\xf0\x9f\x98", "12345678", "1234567\"", "123456789012345é"}

var rawTexts = []string{`{}`, `[]`, `null`, `{"a":1.0,"b":[true,false,null],"c":{"d":"\u00e9\n"}}`, ` { "a" : "<&>" , "b" : 1e400 } `,
	`"text"`, `-0`, `[[[{"x":[]}]]]`, `{"a":1,"a":2}`}

var quantities = []string{"0", "1", "100m", "1536Mi", "-5", "1e3", "9223372036854775807", "1500m", "12Ei", "1n", "0.5", "3k"}

var seconds = []int64{0, 1, -1, 1700000000, -62135596800, -62135596801, 253402300800, 951782400, -3000000000, 4102444799}

func (f *filler) text() string {
	if f.Intn(4) == 0 {
		return ""
	}
	return texts[f.Intn(len(texts))]
}

func (f *filler) isLeft() bool { return f.depth > 12 || f.few && f.Intn(3) > 0 }

func (f *filler) moment() time.Time {
	if f.Intn(4) == 0 {
		return time.Time{}
	}
	return time.Unix(seconds[f.Intn(len(seconds))], 0)
}

func (f *filler) raw() []byte {
	if f.Intn(4) == 0 {
		return nil
	}
	return []byte(rawTexts[f.Intn(len(rawTexts))])
}

// Types that are filled by hand.
func (f *filler) fillSpecial(v reflect.Value) bool {
	switch p := v.Addr().Interface().(type) {
	case *metav1.Time:
		p.Time = f.moment()
	case *metav1.MicroTime:
		p.Time = f.moment()
		if !p.IsZero() {
			p.Time = p.Time.Add(time.Duration(f.Intn(1e9)))
		}
	case *resource.Quantity:
		if f.Intn(4) > 0 {
			*p = resource.MustParse(quantities[f.Intn(len(quantities))])
		}
	case *intstr.IntOrString:
		if *p = intstr.FromInt32(f.int32()); f.Intn(2) == 0 {
			*p = intstr.FromString(f.text())
		}
	case *runtime.RawExtension:
		p.Raw = f.raw()
	case *metav1.FieldsV1:
		*p = metav1.FieldsV1{Raw: []byte(rawTexts[3])}
	default:
		return false
	}
	return true
}

func (f *filler) int32() int32 {
	return []int32{0, 1, -1, 80, 2147483647, -2147483648, f.Int31()}[f.Intn(7)]
}

func (f *filler) int64() int64 {
	return []int64{0, 1, -1, 1 << 40, math.MaxInt64, math.MinInt64, f.Int63()}[f.Intn(7)]
}

func (f *filler) fill(v reflect.Value) {
	f.depth++
	defer func() { f.depth-- }()
	t := v.Type()
	if v.CanAddr() && f.fillSpecial(v) {
		return
	}
	if t.Name() == "JSON" && t.Kind() == reflect.Struct {
		v.FieldByName("Raw").SetBytes(f.raw())
		return
	}
	switch t.Kind() {
	case reflect.Struct:
		for i := 0; i < t.NumField(); i++ {
			if t.Field(i).Name != "TypeMeta" {
				f.fill(v.Field(i))
			}
		}
	case reflect.Pointer:
		if !f.isLeft() && f.Intn(2) == 0 {
			v.Set(reflect.New(t.Elem()))
			f.fill(v.Elem())
		}
	case reflect.Slice:
		f.fillSlice(v)
	case reflect.Map:
		f.fillMap(v)
	case reflect.String:
		v.SetString(f.text())
	case reflect.Bool:
		v.SetBool(f.Intn(2) == 0)
	case reflect.Int32:
		v.SetInt(int64(f.int32()))
	case reflect.Int64:
		v.SetInt(f.int64())
	case reflect.Float64:
		v.SetFloat([]float64{0, 1, -0.5, 1e21, 1e-7, 123456789.125, math.MaxFloat64, 0.1}[f.Intn(8)])
	default:
		panic("no rule for " + t.String())
	}
}

func (f *filler) length() int {
	if f.isLeft() {
		return 0
	}
	return []int{0, 0, 1, 2, 3}[f.Intn(5)]
}

func (f *filler) fillSlice(v reflect.Value) {
	if f.Intn(3) == 0 {
		return
	}
	if v.Type().Elem().Kind() == reflect.Uint8 {
		v.SetBytes([]byte(f.text()))
		return
	}
	v.Set(reflect.MakeSlice(v.Type(), f.length(), 4))
	for i := 0; i < v.Len(); i++ {
		f.fill(v.Index(i))
	}
}

func (f *filler) fillMap(v reflect.Value) {
	if f.Intn(3) == 0 {
		return
	}
	v.Set(reflect.MakeMap(v.Type()))
	for range f.length() {
		key := reflect.New(v.Type().Key()).Elem()
		key.SetString(f.text() + base64.StdEncoding.EncodeToString(fmt.Append(nil, f.Intn(100))))
		value := reflect.New(v.Type().Elem()).Elem()
		f.fill(value)
		v.SetMapIndex(key, value)
	}
}
