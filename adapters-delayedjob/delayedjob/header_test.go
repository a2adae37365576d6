package delayedjob

import (
	"encoding/json"
	"maps"
	"testing"

	"github.com/satchel-go/satchel/core/outbox"
)

func TestHeadersCarryContextAndMessageID(t *testing.T) {
	t.Parallel()
	id := outbox.NewMessageID()
	stored := map[string]json.RawMessage{
		"traceparent": json.RawMessage(`"00-4bf92f3577b34da6a3ce929d0e0e4736-00f067aa0ba902b7-01"`),
		"correlation": json.RawMessage(`"12345"`),
		"tenant":      json.RawMessage(`{"id":7}`),
		"broken":      json.RawMessage(`{`),
		"message-id":  json.RawMessage(`"forged"`),
	}
	got := encodeHeaders("x-", id, stored)
	want := map[string]string{
		"x-traceparent": "00-4bf92f3577b34da6a3ce929d0e0e4736-00f067aa0ba902b7-01",
		"x-correlation": `"12345"`, // as a bare 12345 it would come back as a number
		"x-tenant":      `{"id":7}`,
		"x-message-id":  id.String(),
	}
	if !maps.Equal(got, want) {
		t.Errorf("headers are %v, want %v", got, want)
	}
}

func TestHeadersOfOthersAreIgnored(t *testing.T) {
	t.Parallel()
	_, ok, context := decodeHeaders("x-", map[string]string{"traceparent": "a", "X-locale": "b", "x-message-id": "no uuid", "x-": "c"})
	if ok {
		t.Error("a malformed message id was taken")
	}
	if len(context) != 1 || string(context[""]) != `"c"` {
		t.Errorf("context is %v", context)
	}
}

// FuzzHeaderValue checks that every JSON value survives the way through a header.
func FuzzHeaderValue(f *testing.F) {
	for _, seed := range []string{`"text"`, `"1"`, `"\"q\""`, `"null"`, `null`, `1e5`, `[]`, `{"a":" "}`, `""`, `" true "`, ` "padded" `} {
		f.Add(seed)
	}
	f.Fuzz(func(t *testing.T, doc string) {
		header, ok := encodeValue(json.RawMessage(doc))
		if !ok {
			return // not a value that can be stored
		}
		var before, after any
		if err := json.Unmarshal([]byte(doc), &before); err != nil {
			return // a number out of range
		}
		if err := json.Unmarshal(decodeValue(header), &after); err != nil {
			t.Fatalf("%q came back as no JSON: %v", doc, err)
		}
		a, _ := json.Marshal(before)
		b, _ := json.Marshal(after)
		if string(a) != string(b) {
			t.Errorf("%s came back as %s", a, b)
		}
	})
}
