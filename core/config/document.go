package config

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"unicode/utf8"

	"github.com/satchel-go/satchel/core/fault"
)

// maxPath is the length, in bytes, at which a path in an error ends.
const maxPath = 256

// root is what problems with the document as a whole are about.
const root = "configuration"

// decode reads a JSON document, and finds what encoding/json is silent about: keys
// that occur twice in one object, of which it would keep the last.
func decode(doc []byte) (v any, problems []error) {
	if !utf8.Valid(doc) {
		return nil, []error{fault.NewInvalid(root, "is not valid UTF-8")}
	}
	// Valid as a whole and of bounded depth, so that reading tokens below cannot fail.
	// The decoder's own words are not shown, since they quote the document.
	var raw json.RawMessage
	if err := json.Unmarshal(doc, &raw); err != nil {
		reason := "is not valid JSON"
		var syntax *json.SyntaxError
		if errors.As(err, &syntax) {
			reason = fmt.Sprintf("is not valid JSON from byte %d on", syntax.Offset)
		}
		return nil, []error{fault.NewInvalid(root, reason)}
	}
	d := document{dec: json.NewDecoder(bytes.NewReader(raw))}
	d.dec.UseNumber()
	v = d.value("")
	return v, d.problems
}

type document struct {
	dec      *json.Decoder
	problems []error
}

func (d *document) value(path string) any {
	switch token := d.token(); token {
	case json.Delim('{'):
		fields := make(map[string]any)
		for d.dec.More() {
			name, _ := d.token().(string)
			at := shorten(path, join(path, name))
			value := d.value(at)
			if _, twice := fields[name]; twice {
				d.problems = append(d.problems, fault.NewInvalid(at, "is given more than once"))
				continue
			}
			fields[name] = value
		}
		d.token()
		return fields
	case json.Delim('['):
		list := []any{}
		for d.dec.More() {
			list = append(list, d.value(shorten(path, path+"[]")))
		}
		d.token()
		return list
	default:
		return token
	}
}

// shorten returns below, unless path is longer than any that means something: a
// document that nests without end must not cost the square of its depth.
func shorten(path, below string) string {
	if len(path) > maxPath {
		return path
	}
	return below
}

func (d *document) token() json.Token {
	token, _ := d.dec.Token()
	return token
}
