package outbox_test

import (
	"encoding/json"
	"errors"
	"math"
	"strings"
	"testing"

	"github.com/satchel-go/satchel/core/outbox"
)

type panicking struct{}

func (panicking) MarshalJSON() ([]byte, error) { panic("secret") }

type failing struct{}

func (failing) MarshalJSON() ([]byte, error) { return nil, errors.New("secret") }

type order struct {
	ID    int64  `json:"id"`
	Note  string `json:"note,omitempty"`
	inner int
}

func TestPayloads(t *testing.T) {
	t.Parallel()
	var nilOrder *order
	var nilRaw *outbox.Raw
	var nilMap map[string]int
	cyclic := map[string]any{}
	cyclic["self"] = cyclic
	long := strings.Repeat("x", 255)
	for _, c := range []struct {
		name        string
		payload     any
		doc         string // what is stored
		contentType string
		field       string // what is refused
		reason      string
	}{
		{"struct", order{ID: math.MaxInt64, inner: 1}, `{"id":9223372036854775807}`, "", "", ""},
		{"pointer", &order{Note: "<é>"}, `{"id":0,"note":"\u003cé\u003e"}`, "", "", ""},
		{"text", "a", `"a"`, "", "", ""},
		{"number", 1, `1`, "", "", ""},
		{"json.Number", json.Number("12345678901234567890.123"), `12345678901234567890.123`, "", "", ""},
		{"nil map", nilMap, `null`, "", "", ""},
		{"document", json.RawMessage(` {"b":1, "a":2,"a":3} `), ` {"b":1, "a":2,"a":3} `, "", "", ""},
		{"JSON null", json.RawMessage(`null`), `null`, "", "", ""},
		{"raw", outbox.Raw{ContentType: "text/plain", Data: []byte{0, 0xff}}, "\x00\xff", "text/plain", "", ""},
		{"raw pointer", &outbox.Raw{ContentType: "~ !", Data: []byte("x")}, "x", "~ !", "", ""},
		{"empty raw", outbox.Raw{ContentType: long}, "", long, "", ""},

		{"nil", nil, "", "", "payload", "is nil; for a JSON null"},
		{"nil pointer", nilOrder, "", "", "payload", "is a nil pointer"},
		{"nil raw", nilRaw, "", "", "payload", "is a nil pointer"},
		{"bytes", []byte(`{}`), "", "", "payload", "is a []byte"},
		{"empty document", json.RawMessage{}, "", "", "payload", "is not valid JSON"},
		{"nil document", json.RawMessage(nil), "", "", "payload", "is not valid JSON"},
		{"broken document", json.RawMessage(`{"secret"`), "", "", "payload", "is not valid JSON"},
		{"NUL in a text", "a\x00", "", "", "payload", "U+0000"},
		{"NUL in a key", map[string]int{"\x00": 1}, "", "", "payload", "U+0000"},
		{"lone surrogate", json.RawMessage(`"\ud800"`), "", "", "payload", "surrogate"},
		{"function", func() {}, "", "", "payload", "unsupported type func()"},
		{"channel inside", struct{ C chan int }{make(chan int)}, "", "", "payload", "unsupported type chan int"},
		{"not a number", math.NaN(), "", "", "payload", "unsupported value"},
		{"cyclic", cyclic, "", "", "payload", "unsupported value"},
		{"panicking marshaller", panicking{}, "", "", "payload", "its marshaller panicked"},
		{"failing marshaller", failing{}, "", "", "payload", "does not marshal to JSON"},
		{"no content type", outbox.Raw{Data: []byte("x")}, "", "", "payload content type", "is empty"},
		{"long content type", outbox.Raw{ContentType: long + "x"}, "", "", "payload content type", "is longer"},
		{"control in content type", outbox.Raw{ContentType: "a\n"}, "", "", "payload content type", "printable ASCII"},
		{"beyond ASCII in content type", outbox.Raw{ContentType: "a\x7f"}, "", "", "payload content type", "printable ASCII"},
		{"too large raw", outbox.Raw{ContentType: "x/y", Data: make([]byte, outbox.MaxPayloadBytes+1)}, "", "", "payload", "64 MiB"},
	} {
		r, err := published(t, outbox.Config{}, func(e *outbox.Entry) { e.Payload = c.payload })
		refusal(t, c.name, err, c.field, c.reason)
		if err != nil {
			if strings.Contains(err.Error(), "secret") {
				t.Errorf("%s: the error quotes a value: %v", c.name, err)
			}
			continue
		}
		if string(r.Payload) != c.doc || r.ContentType != c.contentType || r.Raw() != (c.contentType != "") {
			t.Errorf("%s: stored %q as %q", c.name, r.Payload, r.ContentType)
		}
		if r.Raw() && r.Payload == nil {
			t.Errorf("%s: empty bytes became none", c.name)
		}
	}
}

func TestRawIsCopied(t *testing.T) {
	t.Parallel()
	data := []byte("stable")
	r, err := published(t, outbox.Config{}, func(e *outbox.Entry) { e.Payload = outbox.Raw{ContentType: "text/plain", Data: data} })
	if err != nil {
		t.Fatal(err)
	}
	copy(data, "XXXXXX")
	if string(r.Payload) != "stable" {
		t.Errorf("the record shares the caller's bytes: %s", r.Payload)
	}
}
