package webhook

import (
	"encoding/json"
	"maps"
	"net/http"
	"slices"
	"strings"
	"testing"

	"github.com/satchel-go/satchel/core/delivery"
	"github.com/satchel-go/satchel/core/fault"
	"github.com/satchel-go/satchel/core/outbox"
)

func headerOf(t *testing.T, cfg Config, e delivery.Envelope, endpoint Endpoint) (http.Header, error) {
	t.Helper()
	cfg.Source = new(Registry)
	h, err := NewHandler(cfg)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = h.Close(t.Context()) })
	return h.header(&e, endpoint)
}

func TestHeaderPrecedence(t *testing.T) {
	t.Parallel()
	got, err := headerOf(t, Config{UserAgent: "acme/2", ReservedPrefix: "X-Acme-"}, delivery.Envelope{
		EventType: "order.placed", ContentType: "text/plain",
		Headers: map[string]string{
			"x-app": "app", "X-APP": "APP", "x-both": "app", "traceparent": "app", "X-Empty": "",
			"satchel-other": "not reserved here",
		},
		Metadata: outbox.Metadata{Context: map[string]json.RawMessage{
			"traceparent": json.RawMessage(`"stored"`), "locale": json.RawMessage(`"de"`), "event-type": json.RawMessage(`"fake"`),
		}},
	}, Endpoint{Headers: map[string]string{"X-Both": "endpoint", "Authorization": "Bearer t"}})
	if err != nil {
		t.Fatal(err)
	}
	want := map[string][]string{
		"X-App": {"APP", "app"}, "X-Both": {"endpoint"}, "X-Empty": {""}, "Traceparent": {"stored"},
		"Satchel-Other": {"not reserved here"}, "X-Acme-Locale": {"de"}, "X-Acme-Event-Type": {"order.placed"},
		"Authorization": {"Bearer t"}, "Content-Type": {"text/plain"}, "User-Agent": {"acme/2"}, "Idempotency-Key": nil,
	}
	if !maps.EqualFunc(got, want, slices.Equal) {
		t.Fatalf("got  %v\nwant %v", got, want)
	}
}

func TestWithheldHeaders(t *testing.T) {
	t.Parallel()
	const kept = "X-Kept"
	headers := map[string]string{kept: "1", "Idempotency-Key": "k"}
	for _, name := range []string{
		"Connection", "keep-alive", "PROXY-AUTHORIZATION", "Proxy-Connection", "TE", "Trailer", "Transfer-Encoding",
		"Upgrade", "Host", "Content-Length", "Content-Type", "Expect", "Accept-Encoding", "User-Agent",
		"Authorization", "Cookie", "Set-Cookie", "Webhook-Id", "webhook-anything", "Satchel-Event-Type", "satchel-x",
	} {
		headers[name] = "app"
	}
	got, err := headerOf(t, Config{}, delivery.Envelope{Headers: headers}, Endpoint{})
	if err != nil {
		t.Fatal(err)
	}
	for name, values := range got {
		if slices.Contains(values, "app") {
			t.Errorf("%s was passed on", name)
		}
	}
	if got.Get(kept) != "1" || got.Get("Idempotency-Key") != "k" {
		t.Error("an ordinary header was withheld")
	}
}

func TestHeadersThatCannotBeSent(t *testing.T) {
	t.Parallel()
	for name, e := range map[string]delivery.Envelope{
		"name with a blank":      {Headers: map[string]string{"x a": "s3cret"}},
		"name beyond ascii":      {Headers: map[string]string{"größe": "s3cret"}},
		"empty name":             {Headers: map[string]string{"": "s3cret"}},
		"value with a newline":   {Headers: map[string]string{"x-a": "s3cret\r\nx-b: c"}},
		"value with a delete":    {Headers: map[string]string{"x-a": "s3cret\x7f"}},
		"event type, newline":    {EventType: "s3cret\n"},
		"content type, newline":  {ContentType: "s3cret\n"},
		"very long name, unsafe": {Headers: map[string]string{strings.Repeat("ä", 300): "s3cret"}},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			_, err := headerOf(t, Config{}, e, Endpoint{})
			if !fault.IsInvalid(err) {
				t.Fatalf("got %v, want an Invalid", err)
			}
			if text := err.Error(); strings.Contains(text, "s3cret") || len(text) > 400 {
				t.Fatalf("the error repeats a value or is too long: %s", text)
			}
		})
	}
}
