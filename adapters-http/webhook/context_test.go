package webhook

import (
	"encoding/json"
	"maps"
	"net/http"
	"testing"
)

func TestContextHeaders(t *testing.T) {
	t.Parallel()
	const parent = "00-4bf92f3577b34da6a3ce929d0e0e4736-00f067aa0ba902b7-01"
	for name, c := range map[string]struct {
		namespace, doc string
		header, value  string // no header: nothing is sent
		back           string // empty: the same as doc
	}{
		"traceparent as is":     {"traceparent", `"` + parent + `"`, "Traceparent", parent, ""},
		"tracestate as is":      {"tracestate", `"a=b"`, "Tracestate", "a=b", ""},
		"baggage as is":         {"baggage", `"a=b,c=d"`, "Baggage", "a=b,c=d", ""},
		"text":                  {"correlation", `"order-42"`, "Satchel-Correlation", "order-42", ""},
		"digits stay text":      {"correlation", `"12345"`, "Satchel-Correlation", "12345", ""},
		"words of json":         {"correlation", `"null"`, "Satchel-Correlation", "null", ""},
		"beyond ascii":          {"correlation", `"grün"`, "Satchel-Correlation", "grün", ""},
		"object":                {"custom", `{ "a": [1] }`, "Satchel-Custom", `{"a":[1]}`, `{"a":[1]}`},
		"array":                 {"custom", `[1,2]`, "Satchel-Custom", `[1,2]`, ""},
		"number becomes text":   {"custom", `17`, "Satchel-Custom", `17`, `"17"`},
		"text like an object":   {"custom", `"{}"`, "Satchel-Custom", `"{}"`, ""},
		"text like a string":    {"custom", `"\"a\""`, "Satchel-Custom", `"\"a\""`, ""},
		"text like half a list": {"custom", `"[a"`, "Satchel-Custom", `[a`, ""},
		"line breaks":           {"custom", `"a\r\nX: b"`, "Satchel-Custom", `"a\r\nX: b"`, ""},
		"blanks around":         {"custom", `" a "`, "Satchel-Custom", `" a "`, ""},
		"empty":                 {"custom", `""`, "", "", ""},
		"not json":              {"custom", `{`, "", "", ""},
		"namespace no token":    {"cus tom", `"a"`, "", "", ""},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			header := http.Header{}
			writeContext(header, map[string]json.RawMessage{c.namespace: json.RawMessage(c.doc)}, "satchel-")
			if c.header == "" {
				if len(header) != 0 {
					t.Fatalf("got %v, want nothing", header)
				}
				return
			}
			if got := header.Get(c.header); got != c.value || len(header) != 1 {
				t.Fatalf("got %v, want %s: %s", header, c.header, c.value)
			}
			if c.back == "" {
				c.back = c.doc
			}
			back := readContext(header, "satchel-")
			if len(back) != 1 || string(back[c.namespace]) != c.back {
				t.Fatalf("read back %q, want %s", back, c.back)
			}
		})
	}
}

func TestReadContextTakesItsOwnOnly(t *testing.T) {
	t.Parallel()
	got := readContext(http.Header{
		"Satchel-Locale": {"de", "second"}, "Traceparent": {"00-x"}, "Satchel-Traceparent": {"00-y"},
		"Satchel-": {"nameless"}, "Locale": {"en"}, "X-Satchel-Locale": {"fr"}, "Baggage": {},
	}, "satchel-")
	want := map[string]string{"locale": `"de"`, "traceparent": `"00-x"`}
	text := make(map[string]string, len(got))
	for namespace, doc := range got {
		text[namespace] = string(doc)
	}
	if !maps.Equal(text, want) {
		t.Fatalf("got %v, want %v", text, want)
	}
}

// Whatever text a codec stored comes back as the same text, or is not sent at all.
func FuzzContextText(f *testing.F) {
	for _, s := range []string{"", "a", " a", `{"a":1}`, `"`, "[", "1e400", "\x00", "ü", "a\tb", `\`} {
		f.Add(s)
	}
	f.Fuzz(func(t *testing.T, text string) {
		doc, err := json.Marshal(text)
		if err != nil {
			t.Fatal(err)
		}
		value, ok := contextText(doc)
		if !ok {
			return
		}
		if !sendable(value) {
			t.Fatalf("%q would be sent", value)
		}
		back, err := contextDoc(value)
		if err != nil {
			t.Fatal(err)
		}
		var want, got string
		if json.Unmarshal(doc, &want) != nil || json.Unmarshal(back, &got) != nil || got != want {
			t.Fatalf("%q went out as %q and came back as %s", text, value, back)
		}
	})
}
