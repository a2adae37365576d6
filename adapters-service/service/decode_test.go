package service_test

import (
	"context"
	"encoding/json"
	"errors"
	"strings"
	"testing"

	"github.com/satchel-go/satchel/core/delivery"
	"github.com/satchel-go/satchel/core/outbox"

	"github.com/satchel-go/satchel/adapters-service/service"
)

// secret is in every malformed payload and must be in no error.
const secret = "4012888888881881"

// leaky quotes its input in its own error; jumpy panics with it.
type (
	leaky struct{}
	jumpy struct{}
)

func (*leaky) UnmarshalJSON(doc []byte) error { return errors.New("cannot read " + string(doc)) }
func (*jumpy) UnmarshalJSON(doc []byte) error { panic(string(doc)) }

// outcome decodes payload as a P and returns the error and whether the function ran.
func outcome[P any](t *testing.T, contentType, payload string) (ran bool, err error) {
	t.Helper()
	reg := service.NewRegistry()
	op := service.MustOperation[P]("cards.save")
	must(t, service.Handle(reg, op, func(context.Context, P) error { ran = true; return nil }, service.HandlerOptions{}))
	e := envelope("cards.save", payload)
	e.ContentType = contentType
	err = handlerOf(t, reg, service.Config{}).Deliver(t.Context(), e)
	return ran, err
}

func TestUndecodablePayloadIsRetryableAndQuotesNothing(t *testing.T) {
	t.Parallel()
	type card struct {
		Number string `json:"number"`
		Limit  int8   `json:"limit"`
	}
	const json, protobuf = outbox.JSONContentType, "application/x-protobuf"
	for _, c := range []struct {
		name    string
		run     func(*testing.T, string, string) (bool, error)
		content string
		payload string
		says    string
	}{
		{"number for text", outcome[card], json, `{"number":` + secret + `}`, "JSON number where string is expected"},
		{"number out of range", outcome[card], json, `{"limit":` + secret + `}`, "JSON number where int8 is expected"},
		{"text for object", outcome[card], json, `"` + secret + `"`, "JSON string"},
		{"syntax", outcome[card], json, `{"number":"` + secret + `"!`, "not valid JSON, at offset"},
		{"cut off", outcome[card], json, `{"number":"` + secret, "ends at offset"},
		{"empty", outcome[card], json, ``, "not valid JSON"},
		{"more than one value", outcome[card], json, `{} "` + secret + `"`, "has more after its JSON value"},
		{"null for a struct", outcome[card], json, ` null`, "is null"},
		{"null for a number", outcome[int], json, `null`, "is null"},
		{"own unmarshaller's error", outcome[leaky], json, `"` + secret + `"`, "refused"},
		{"own unmarshaller's panic", outcome[jumpy], json, `"` + secret + `"`, "panic"},
		{"raw of another type", outcome[card], protobuf, secret, `content type "application/x-protobuf"`},
		{"malformed content type", outcome[card], "json;;=", secret, "content type"},
	} {
		t.Run(c.name, func(t *testing.T) {
			t.Parallel()
			ran, err := c.run(t, c.content, c.payload)
			var decoding *service.DecodeError
			if !errors.As(err, &decoding) || ran {
				t.Fatalf("want a *DecodeError and no call, got %v, call: %v", err, ran)
			}
			if v := delivery.VerdictOf(err); v != delivery.VerdictRetryable {
				t.Errorf("verdict %s, want retryable", v)
			}
			text := err.Error()
			if strings.Contains(text, secret) || strings.Contains(text, secret[:4]) {
				t.Errorf("the error quotes the payload: %s", text)
			}
			for _, want := range []string{`"cards.save"`, decoding.GoType, c.says} {
				if !strings.Contains(text, want) {
					t.Errorf("error %q does not say %q", text, want)
				}
			}
			if errors.Unwrap(decoding) != nil {
				t.Error("the error holds a cause that may quote the payload")
			}
		})
	}
}

func TestDecodableContent(t *testing.T) {
	t.Parallel()
	for _, c := range []struct {
		name    string
		run     func(*testing.T, string, string) (bool, error)
		content string
		payload string
	}{
		{"unknown members", outcome[order], outbox.JSONContentType, `{"id":"1","added-later":[1]}`},
		{"raw JSON", outcome[order], "application/json; charset=utf-8", `{"id":"1"}`},
		{"raw JSON of a kind", outcome[order], "application/vnd.order+json", `{"id":"1"}`},
		{"no content type", outcome[order], "", `{"id":"1"}`},
		{"null for a pointer", outcome[*order], outbox.JSONContentType, `null`},
		{"null for a map", outcome[map[string]int], outbox.JSONContentType, `null`},
		{"null for a slice", outcome[[]string], outbox.JSONContentType, `null`},
		{"null for any", outcome[any], outbox.JSONContentType, `null`},
		{"null for a document", outcome[json.RawMessage], outbox.JSONContentType, `null`},
		{"JSON as raw", outcome[outbox.Raw], outbox.JSONContentType, `not even JSON`},
	} {
		t.Run(c.name, func(t *testing.T) {
			t.Parallel()
			if ran, err := c.run(t, c.content, c.payload); err != nil || !ran {
				t.Fatalf("error %v, called: %v", err, ran)
			}
		})
	}
}

func TestNumbersKeepTheirDigits(t *testing.T) {
	t.Parallel()
	const numbers = `[9007199254740993,18446744073709551615,12345678901234567890.123,0.1,-0]`
	reg := service.NewRegistry()
	var free any
	var document json.RawMessage
	must(t, service.Handle(reg, service.MustOperation[any]("free"), func(_ context.Context, p any) error { free = p; return nil }, service.HandlerOptions{}))
	must(t, service.Handle(reg, service.MustOperation[json.RawMessage]("document"), func(_ context.Context, p json.RawMessage) error { document = p; return nil }, service.HandlerOptions{}))
	h := handlerOf(t, reg, service.Config{})
	must(t, h.Deliver(t.Context(), envelope("free", numbers)))
	must(t, h.Deliver(t.Context(), envelope("document", numbers)))
	again, err := json.Marshal(free)
	must(t, err)
	if string(again) != numbers || string(document) != numbers {
		t.Fatalf("got %s and %s, want %s", again, document, numbers)
	}
}
