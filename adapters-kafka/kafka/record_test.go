package kafka

import (
	"encoding/json"
	"fmt"
	"slices"
	"strings"
	"testing"

	"github.com/IBM/sarama"

	"github.com/satchel-go/satchel/core/delivery"
	"github.com/satchel-go/satchel/core/fault"
	"github.com/satchel-go/satchel/core/outbox"
)

func newUnconnected(t *testing.T, cfg Config) *Handler {
	t.Helper()
	cfg.Brokers = []string{"127.0.0.1:1"}
	h, err := NewHandler(cfg)
	if err != nil {
		t.Fatal(err)
	}
	return h
}

func someID(t *testing.T) outbox.MessageID {
	t.Helper()
	id, err := outbox.ParseMessageID("0190b3a0-7c4e-7d2a-8f00-0123456789ab")
	if err != nil {
		t.Fatal(err)
	}
	return id
}

func headerLines(m *sarama.ProducerMessage) []string {
	lines := make([]string, len(m.Headers))
	for i, h := range m.Headers {
		lines[i] = fmt.Sprintf("%s: %s", h.Key, h.Value)
	}
	return lines
}

func TestHeaderOrder(t *testing.T) {
	t.Parallel()
	e := delivery.Envelope{
		MessageID: someID(t), Destination: "orders", EventType: "order.confirmed",
		Payload: []byte(`{"a":1}`), ContentType: outbox.JSONContentType,
		Headers: map[string]string{"zone": "eu", "Accept": "x", "carrier_id": "the application's own", "tracestate": "own", "grpc-baggage": "own"},
		Metadata: outbox.Metadata{
			Context: map[string]json.RawMessage{
				"tracestate":  json.RawMessage(`"vendor=1"`),
				"baggage":     json.RawMessage(`"user=7"`),
				"traceparent": json.RawMessage(`"00-0af7651916cd43dd8448eb211c80319c-b7ad6b7169203331-01"`),
				"correlation": json.RawMessage(`"quoted \"text\" ä"`),
				"tenant":      json.RawMessage(`{"id": 12345678901234567890}`),
				"level":       json.RawMessage(`7`),
			},
			Delivery: map[string]json.RawMessage{"fingerprint": json.RawMessage(`"c1"`)},
		},
	}
	own := []string{
		"Accept: x",
		"carrier_id: the application's own",
		"grpc-baggage: own",
		"zone: eu",
	}
	trace := "00-0af7651916cd43dd8448eb211c80319c-b7ad6b7169203331-01"
	for _, c := range []struct {
		name  string
		names HeaderNames
		want  []string
	}{
		{"default", HeaderNames{}, append(slices.Clone(own),
			"carrier_id: 0190b3a0-7c4e-7d2a-8f00-0123456789ab",
			"event_type: order.confirmed",
			"content_type: application/json",
			"satchel-baggage: user=7",
			`satchel-correlation: quoted "text" ä`,
			"satchel-level: 7",
			`satchel-tenant: {"id": 12345678901234567890}`,
			"satchel-traceparent: "+trace,
			"satchel-tracestate: vendor=1",
			"traceparent: "+trace,
			"tracestate: vendor=1",
			"baggage: user=7",
		)},
		{"configured", HeaderNames{MessageID: "outbox-id", EventType: "type", ContentType: "ct", ReservedPrefix: "x-"}, append(slices.Clone(own),
			"outbox-id: 0190b3a0-7c4e-7d2a-8f00-0123456789ab",
			"type: order.confirmed",
			"ct: application/json",
			"x-baggage: user=7",
			`x-correlation: quoted "text" ä`,
			"x-level: 7",
			`x-tenant: {"id": 12345678901234567890}`,
			"x-traceparent: "+trace,
			"x-tracestate: vendor=1",
			"traceparent: "+trace,
			"tracestate: vendor=1",
			"baggage: user=7",
		)},
	} {
		t.Run(c.name, func(t *testing.T) {
			t.Parallel()
			h := newUnconnected(t, Config{Names: c.names})
			for range 20 { // map order must not show
				m, err := h.record(&e)
				if err != nil {
					t.Fatal(err)
				}
				if got := headerLines(m); !slices.Equal(got, c.want) {
					t.Fatalf("headers:\n%s\nwant:\n%s", strings.Join(got, "\n"), strings.Join(c.want, "\n"))
				}
			}
		})
	}
}

func TestKeyAndValue(t *testing.T) {
	t.Parallel()
	compacted := func(topic string) bool { return topic == "compacted" }
	for _, c := range []struct {
		name, topic, aggregate, contentType, payload string
		key, value                                   any // string, or nil for none
		problem                                      string
	}{
		{"JSON", "orders", "order-1", outbox.JSONContentType, `{"a":1}`, "order-1", `{"a":1}`, ""},
		{"no aggregate", "orders", "", outbox.JSONContentType, `1`, nil, `1`, ""},
		{"raw", "orders", "a", "application/x-protobuf", "\x00\xff", "a", "\x00\xff", ""},
		{"raw empty", "orders", "a", "text/plain", "", "a", "", ""},
		{"JSON null is a value", "orders", "a", outbox.JSONContentType, `null`, "a", `null`, ""},
		{"JSON empty string", "compacted", "a", outbox.JSONContentType, `""`, "a", `""`, ""},
		{"tombstone", "compacted", "a", outbox.JSONContentType, " null\n", "a", nil, ""},
		{"raw null is no tombstone", "compacted", "a", "text/plain", `null`, "a", `null`, ""},
		{"tombstone without key", "compacted", "", outbox.JSONContentType, `null`, nil, nil, "satchel: aggregate id is empty: a tombstone needs a key to delete"},
		{"topic", "no such/topic", "a", outbox.JSONContentType, `1`, nil, nil, "satchel: kafka topic is not a legal topic name"},
	} {
		t.Run(c.name, func(t *testing.T) {
			t.Parallel()
			h := newUnconnected(t, Config{Tombstone: compacted})
			e := delivery.Envelope{Destination: c.topic, AggregateID: c.aggregate, ContentType: c.contentType, Payload: []byte(c.payload)}
			m, err := h.record(&e)
			if c.problem != "" {
				if err == nil || err.Error() != c.problem || !fault.IsInvalid(err) {
					t.Fatalf("error %v, want %q", err, c.problem)
				}
				return
			}
			if err != nil {
				t.Fatal(err)
			}
			if got := encoded(t, m.Key); got != c.key {
				t.Errorf("key %v, want %v", got, c.key)
			}
			if got := encoded(t, m.Value); got != c.value {
				t.Errorf("value %v, want %v", got, c.value)
			}
		})
	}
}

func encoded(t *testing.T, e sarama.Encoder) any {
	t.Helper()
	if e == nil {
		return nil
	}
	b, err := e.Encode()
	if err != nil {
		t.Fatal(err)
	}
	return string(b)
}

// The client can hold a record longer than the handler may hold the entry.
func TestRecordSharesNoMemory(t *testing.T) {
	t.Parallel()
	h := newUnconnected(t, Config{})
	e := delivery.Envelope{Destination: "orders", ContentType: outbox.JSONContentType, Payload: []byte(`"before"`)}
	m, err := h.record(&e)
	if err != nil {
		t.Fatal(err)
	}
	copy(e.Payload, `"after!"`)
	if got := encoded(t, m.Value); got != `"before"` {
		t.Errorf("value %v changed with the entry", got)
	}
}

func TestTopicRule(t *testing.T) {
	t.Parallel()
	for topic, want := range map[string]bool{
		"a": true, "A-z_0.9": true, "...": true, strings.Repeat("t", 249): true,
		"": false, ".": false, "..": false, strings.Repeat("t", 250): false, "ü": false, "a,b": false, "a\n": false,
	} {
		if validTopic(topic) != want {
			t.Errorf("topic %q: valid %v", topic, !want)
		}
	}
}
