package delivery_test

import (
	"encoding/json"
	"strings"
	"testing"
	"time"

	"github.com/satchel-go/satchel/core/claim"
	"github.com/satchel-go/satchel/core/delivery"
	"github.com/satchel-go/satchel/core/outbox"
)

func TestRegistry(t *testing.T) {
	t.Parallel()
	kafka := &handler{typ: "KAFKA", scope: claim.All()}
	service := &handler{typ: "SERVICE", scope: claim.Targets(func() []string { return []string{"a"} })}
	r, err := delivery.NewRegistry(kafka, service)
	if err != nil {
		t.Fatal(err)
	}
	if h, ok := r.Handler("KAFKA"); !ok || h != kafka {
		t.Errorf("handler of KAFKA: %v, %v", h, ok)
	}
	if _, ok := r.Handler("kafka"); ok {
		t.Error("types are compared without case")
	}
	caps := r.Capabilities()
	snapshot, err := claim.Resolve(caps)
	if err != nil || len(caps) != 2 || !snapshot.Allows("KAFKA", "x") || !snapshot.Allows("SERVICE", "a") || snapshot.Allows("SERVICE", "b") {
		t.Errorf("capabilities: %v, %v", caps, err)
	}
	if r, err := delivery.NewRegistry(); err != nil || len(r.Capabilities()) != 0 {
		t.Errorf("no handlers: %v", err)
	}
}

func TestRegistryNamesEveryProblem(t *testing.T) {
	t.Parallel()
	var none *handler
	_, err := delivery.NewRegistry(
		&handler{typ: "KAFKA", scope: claim.All()},
		nil,
		none,
		&handler{typ: "no good", scope: claim.All()},
		&handler{typ: "SERVICE"},
		&handler{typ: "KAFKA", scope: claim.All()},
	)
	if err == nil {
		t.Fatal("no error")
	}
	for _, want := range []string{
		"handler 1 is nil", "handler 2 is nil", "handler 3 (*delivery_test.handler)",
		"handler of type SERVICE (*delivery_test.handler) has a nil claim scope",
		"destination type KAFKA has two handlers: *delivery_test.handler and *delivery_test.handler",
	} {
		if !strings.Contains(err.Error(), want) {
			t.Errorf("%q is missing in:\n%v", want, err)
		}
	}
	if lines := strings.Count(err.Error(), "\n") + 1; lines != 5 {
		t.Errorf("%d problems, want 5:\n%v", lines, err)
	}
}

func TestEnvelopeOf(t *testing.T) {
	t.Parallel()
	created, scheduled := time.Unix(1, 0), time.Unix(2, 0)
	r := outbox.Record{
		ID: 7, MessageID: outbox.NewMessageID(), AggregateType: "Order", AggregateID: "42", EventType: "e",
		Destination: "orders", DestinationType: "KAFKA", Payload: []byte(`{}`), Headers: json.RawMessage(`{"a":"1","b":null,"c":""}`),
		Metadata:    json.RawMessage(`{"context":{"correlation":"c-1"},"delivery":{"fingerprint":"f"},"later":1}`),
		MaxAttempts: 3, ScheduledAt: scheduled, Attempt: 2, CreatedAt: created,
	}
	e, dropped, err := delivery.EnvelopeOf(&r)
	if err != nil || strings.Join(dropped, ",") != "b" {
		t.Fatalf("dropped %v, %v", dropped, err)
	}
	if e.ID != 7 || e.MessageID != r.MessageID || e.AggregateType != "Order" || e.AggregateID != "42" || e.EventType != "e" ||
		e.Destination != "orders" || e.DestinationType != "KAFKA" || string(e.Payload) != "{}" || e.ContentType != outbox.JSONContentType ||
		e.Attempt != 3 || e.MaxAttempts != 3 || !e.ScheduledAt.Equal(scheduled) || !e.CreatedAt.Equal(created) {
		t.Errorf("envelope %+v", e)
	}
	if len(e.Headers) != 2 || e.Headers["a"] != "1" || e.Fingerprint() != "f" || string(e.Metadata.Context["correlation"]) != `"c-1"` {
		t.Errorf("headers %v, metadata %v", e.Headers, e.Metadata)
	}
	r.ContentType, r.Headers, r.Metadata = "text/plain", nil, nil
	if e, dropped, err = delivery.EnvelopeOf(&r); err != nil || e.ContentType != "text/plain" || e.Headers != nil || dropped != nil || e.Fingerprint() != "" {
		t.Errorf("bare envelope %+v, %v, %v", e, dropped, err)
	}
}

func TestEnvelopeOfMalformedRows(t *testing.T) {
	t.Parallel()
	for _, r := range []outbox.Record{
		{Metadata: json.RawMessage(`[1,2]`)},
		{Metadata: json.RawMessage(`{"context":1}`)},
		{Metadata: json.RawMessage(`{"delivery":"x"}`)},
		{Headers: json.RawMessage(`[1]`)},
		{Headers: json.RawMessage(`{"a":1}`)},
		{Headers: json.RawMessage(`"secret"`)},
	} {
		_, _, err := delivery.EnvelopeOf(&r)
		if err == nil || strings.Contains(err.Error(), "secret") {
			t.Errorf("headers %s, metadata %s: %v", r.Headers, r.Metadata, err)
		}
	}
}
