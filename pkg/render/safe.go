package render

import (
	"fmt"
	"reflect"
	"strings"
	"unicode"
	"unicode/utf8"
)

// Safe makes text from the cluster fit for a terminal. Whoever can create an object
// or an Event can put escape sequences into it that recolour, hide or retype what a
// reader sees (CVE-2021-25743). Every control character except newline and tab, and
// every invisible formatting character, bidirectional overrides among them, is
// replaced by a visible escape such as \x1b or \u202e.
func Safe(s string) string {
	if isSafe(s) {
		return s
	}
	var b strings.Builder
	for len(s) > 0 {
		r, size := utf8.DecodeRuneInString(s)
		switch {
		case r == utf8.RuneError && size == 1:
			fmt.Fprintf(&b, `\x%02x`, s[0])
		case !unsafeRune(r):
			b.WriteRune(r)
		case r < 0x100:
			fmt.Fprintf(&b, `\x%02x`, r)
		default:
			fmt.Fprintf(&b, `\u%04x`, r)
		}
		s = s[size:]
	}
	return b.String()
}

func isSafe(s string) bool {
	return utf8.ValidString(s) && !strings.ContainsFunc(s, unsafeRune)
}

// unsafeRune is true for C0 and C1 controls and DEL (category Cc), for format
// characters (Cf: zero-width characters, bidirectional controls), and for the
// Unicode line and paragraph separators.
func unsafeRune(r rune) bool {
	if r == '\n' || r == '\t' {
		return false
	}
	return unicode.In(r, unicode.Cc, unicode.Cf, unicode.Zl, unicode.Zp)
}

// SafeLine is Safe for text that must stay on one line, such as a table cell.
func SafeLine(s string) string {
	return Safe(strings.NewReplacer("\n", " ", "\t", " ").Replace(s))
}

// SafeCopy returns a deep copy of v in which every string is Safe. It is the one
// place through which a result passes before it becomes text: nothing that is
// rendered from the copy can carry an escape sequence of the cluster.
//
// v is a value made of structs with exported fields, pointers, slices, maps,
// strings and plain values.
func SafeCopy[T any](v T) T {
	return safeValue(reflect.ValueOf(&v).Elem()).Interface().(T)
}

func safeValue(v reflect.Value) reflect.Value {
	out := reflect.New(v.Type()).Elem()
	out.Set(v)
	switch v.Kind() {
	case reflect.String:
		out.SetString(Safe(v.String()))
	case reflect.Pointer:
		if !v.IsNil() {
			out.Set(reflect.New(v.Type().Elem()))
			out.Elem().Set(safeValue(v.Elem()))
		}
	case reflect.Slice:
		if !v.IsNil() {
			out.Set(reflect.MakeSlice(v.Type(), v.Len(), v.Len()))
			for i := range v.Len() {
				out.Index(i).Set(safeValue(v.Index(i)))
			}
		}
	case reflect.Map:
		if !v.IsNil() {
			out.Set(reflect.MakeMapWithSize(v.Type(), v.Len()))
			for it := v.MapRange(); it.Next(); {
				out.SetMapIndex(safeValue(it.Key()), safeValue(it.Value()))
			}
		}
	case reflect.Struct:
		for i := range v.NumField() {
			if v.Type().Field(i).IsExported() {
				out.Field(i).Set(safeValue(v.Field(i)))
			}
		}
	}
	return out
}
