package outbox_test

import (
	"encoding/json"
	"fmt"
	"maps"
	"slices"
	"strings"
	"testing"
	"unicode"
	"unicode/utf8"

	"github.com/satchel-go/satchel/core/fault"
	"github.com/satchel-go/satchel/core/outbox"
)

func TestHeaders(t *testing.T) {
	t.Parallel()
	const ok = ""
	key := strings.Repeat("é", 255)
	value := strings.Repeat("v", outbox.MaxHeaderValue)
	for _, c := range []struct{ key, value, reason string }{
		{"a", "", ok},
		{"a", value, ok},
		{key, "x", ok},
		{"a b", "é\t\r\n\x7f", ok},
		{"satchel", "x", ok},
		{"satchelx-", "x", ok},
		{"x-satchel-a", "x", ok},
		{" satchel-a", "x", ok},
		{"", "x", "has a key that is empty"},
		{" \t", "x", "has a key that is blank"},
		{"\xff", "x", "has a key that is not valid UTF-8"},
		{key + "x", "x", "has a key that is longer than 255 characters"},
		{"a\nb", "x", "has a key with a control character"},
		{"a\x00", "x", "has a key with a control character"},
		{"a\u0085", "x", "has a key with a control character"},
		{"satchel-", "x", "has a key with the reserved prefix satchel-"},
		{"SATCHEL-message-id", "x", "has a key with the reserved prefix satchel-"},
		{"a", "\xff", "has a value that is not valid UTF-8"},
		{"a", "b\x00", "has a value with the character U+0000"},
		{"a", value + "v", "has a value larger than 64 KiB"},
	} {
		r, err := published(t, outbox.Config{}, func(e *outbox.Entry) { e.Headers = map[string]string{c.key: c.value} })
		if c.reason != ok {
			refusal(t, c.reason, err, fmt.Sprintf("header %q", fault.Clean(c.key, 128)), c.reason)
			continue
		}
		if err != nil {
			t.Errorf("%.20q: %v", c.key, err)
			continue
		}
		got, dropped, err := outbox.DecodeHeaders(r.Headers)
		if err != nil || len(dropped) > 0 || len(got) != 1 || got[c.key] != c.value {
			t.Errorf("%.20q came back as %.60q, %v, %v", c.key, got, dropped, err)
		}
	}
}

func TestHeaderErrorsNameTheKeyOnly(t *testing.T) {
	t.Parallel()
	_, err := published(t, outbox.Config{}, func(e *outbox.Entry) {
		e.Headers = map[string]string{"fine": "secret", strings.Repeat("k\n", 200): "secret"}
	})
	want := fmt.Sprintf("satchel: header %q has a key that is longer than 255 characters", strings.Repeat("k_", 64))
	if err == nil || err.Error() != want {
		t.Errorf("got %v, want %s", err, want)
	}
	// Of two that are refused it is always the same.
	for range 20 {
		_, err := published(t, outbox.Config{}, func(e *outbox.Entry) {
			e.Headers = map[string]string{"b": "\x00", "a": "\x00", "c": "\x00"}
		})
		refusal(t, "three", err, `header "a"`, "U+0000")
	}
}

func TestHeaderCount(t *testing.T) {
	t.Parallel()
	many := map[string]string{}
	for i := range outbox.MaxHeaders {
		many[fmt.Sprint(i)] = "v"
	}
	_, err := published(t, outbox.Config{}, func(e *outbox.Entry) { e.Headers = many })
	refusal(t, "most", err, "", "")
	many["one more"] = "v"
	_, err = published(t, outbox.Config{}, func(e *outbox.Entry) { e.Headers = many })
	refusal(t, "one more", err, "headers", "are more than 100")
	for _, none := range []map[string]string{nil, {}} {
		if r, err := published(t, outbox.Config{}, func(e *outbox.Entry) { e.Headers = none }); err != nil || r.Headers != nil {
			t.Errorf("no headers became %s, %v", r.Headers, err)
		}
	}
}

func TestReservedPrefixIsConfigurable(t *testing.T) {
	t.Parallel()
	cfg := outbox.Config{ReservedPrefix: "acme-"}
	_, err := published(t, cfg, func(e *outbox.Entry) { e.Headers = map[string]string{"satchel-x": "1"} })
	refusal(t, "default prefix", err, "", "")
	_, err = published(t, cfg, func(e *outbox.Entry) { e.Headers = map[string]string{"Acme-X": "1"} })
	refusal(t, "own prefix", err, `header "Acme-X"`, "reserved prefix acme-")
}

func TestDecodeHeaders(t *testing.T) {
	t.Parallel()
	for _, c := range []struct {
		doc     string
		want    map[string]string
		dropped []string
		fails   bool
	}{
		{"", nil, nil, false},
		{"null", nil, nil, false},
		{"{}", nil, nil, false},
		{`{"a":"null","b":""}`, map[string]string{"a": "null", "b": ""}, nil, false},
		{`{"z":null,"a":null,"m":"1"}`, map[string]string{"m": "1"}, []string{"a", "z"}, false},
		{`{"a\n":null}`, map[string]string{}, []string{"a_"}, false},
		{`{"a":1}`, nil, nil, true},
		{`{"a":["secret"]}`, nil, nil, true},
		{`[]`, nil, nil, true},
		{`"secret"`, nil, nil, true},
		{`{`, nil, nil, true},
	} {
		got, dropped, err := outbox.DecodeHeaders(json.RawMessage(c.doc))
		if c.fails {
			if !fault.IsInvalid(err) || strings.Contains(err.Error(), "secret") {
				t.Errorf("%s: %v", c.doc, err)
			}
			continue
		}
		if err != nil || !maps.Equal(got, c.want) || !slices.Equal(dropped, c.dropped) {
			t.Errorf("%s: %v, dropped %v, %v", c.doc, got, dropped, err)
		}
	}
}

// FuzzHeaders publishes any header: it is refused with a clean text, or it comes back.
func FuzzHeaders(f *testing.F) {
	for _, seed := range [][2]string{{"a", "b"}, {"", ""}, {"Satchel-x", "y"}, {"a\x00", "b"}, {"é", "\xff"}, {"\u2028", "<&>"}} {
		f.Add(seed[0], seed[1])
	}
	f.Fuzz(func(t *testing.T, key, value string) {
		r, err := published(t, outbox.Config{}, func(e *outbox.Entry) { e.Headers = map[string]string{key: value} })
		if err != nil {
			text := err.Error()
			if !fault.IsInvalid(err) || !utf8.ValidString(text) || strings.ContainsFunc(text, unicode.IsControl) {
				t.Errorf("header %q: %q", key, text)
			}
			return
		}
		got, _, err := outbox.DecodeHeaders(r.Headers)
		if err != nil || len(got) != 1 || got[key] != value {
			t.Errorf("header %q = %q came back as %q, %v", key, value, got, err)
		}
	})
}
