package kafka

import (
	"encoding/json"
	"maps"
	"testing"
	"testing/quick"

	"github.com/IBM/sarama"

	"github.com/satchel-go/satchel/core/delivery"
	"github.com/satchel-go/satchel/core/outbox"
)

// received turns a sent record into the one that a consumer gets.
func received(t *testing.T, m *sarama.ProducerMessage) *sarama.ConsumerMessage {
	t.Helper()
	out := &sarama.ConsumerMessage{Topic: m.Topic, Partition: 3, Offset: 42}
	if key, ok := encoded(t, m.Key).(string); ok {
		out.Key = []byte(key)
	}
	if value, ok := encoded(t, m.Value).(string); ok {
		out.Value = []byte(value)
	}
	for i := range m.Headers {
		out.Headers = append(out.Headers, &m.Headers[i])
	}
	return out
}

func TestMessageOf(t *testing.T) {
	t.Parallel()
	e := delivery.Envelope{
		MessageID: someID(t), Destination: "orders", EventType: "order.confirmed", AggregateID: "order-1",
		Payload: []byte(`{"a":1}`), ContentType: outbox.JSONContentType,
		Headers: map[string]string{"zone": "eu", "carrier_id": "someone else's"},
		Metadata: outbox.Metadata{Context: map[string]json.RawMessage{
			"correlation": json.RawMessage(`"c-1"`),
			"tenant":      json.RawMessage(`{"id":1}`),
		}},
	}
	names := HeaderNames{ReservedPrefix: "x-"}
	m, err := newUnconnected(t, Config{Names: names}).record(&e)
	if err != nil {
		t.Fatal(err)
	}
	got := names.MessageOf(received(t, m))
	if got.ID != e.MessageID.String() || got.EventType != e.EventType || got.ContentType != e.ContentType {
		t.Errorf("message %+v", got)
	}
	if string(got.Key) != "order-1" || string(got.Value) != `{"a":1}` || got.Topic != "orders" || got.Partition != 3 || got.Offset != 42 {
		t.Errorf("message %+v", got)
	}
	if !maps.Equal(got.Headers, map[string]string{"zone": "eu"}) {
		t.Errorf("headers %v", got.Headers)
	}
	if string(got.Context["correlation"]) != `"c-1"` || string(got.Context["tenant"]) != `{"id":1}` || len(got.Context) != 2 {
		t.Errorf("context %s", got.Context)
	}
}

func TestMessageOfForeignRecord(t *testing.T) {
	t.Parallel()
	got := MessageOf(&sarama.ConsumerMessage{Headers: []*sarama.RecordHeader{nil, {Key: []byte("a")}, {Key: []byte("a"), Value: []byte("last")}}})
	if got.ID != "" || got.Key != nil || got.Value != nil || got.Context != nil || got.Headers["a"] != "last" {
		t.Errorf("message %+v", got)
	}
}

// Context with a W3C name is found under that name too; what satchel captured counts
// more, since something between may have rewritten the other.
func TestMessageOfW3CContext(t *testing.T) {
	t.Parallel()
	for _, c := range []struct {
		name    string
		headers []string // name and value, in turn
		context map[string]string
	}{
		{"plain", []string{"traceparent", "00-a", "tracestate", "v=1", "baggage", "u=7"}, map[string]string{"traceparent": `"00-a"`, "tracestate": `"v=1"`, "baggage": `"u=7"`}},
		{"both", []string{"satchel-baggage", "u=7", "baggage", "u=8"}, map[string]string{"baggage": `"u=7"`}},
		{"both, the other way round", []string{"baggage", "u=8", "satchel-baggage", "u=7"}, map[string]string{"baggage": `"u=7"`}},
		{"the last counts", []string{"baggage", "u=8", "baggage", "u=9"}, map[string]string{"baggage": `"u=9"`}},
		{"none", nil, nil},
	} {
		t.Run(c.name, func(t *testing.T) {
			t.Parallel()
			record := &sarama.ConsumerMessage{}
			for i := 0; i < len(c.headers); i += 2 {
				record.Headers = append(record.Headers, &sarama.RecordHeader{Key: []byte(c.headers[i]), Value: []byte(c.headers[i+1])})
			}
			m := MessageOf(record)
			got := make(map[string]string)
			for namespace, doc := range m.Context {
				got[namespace] = string(doc)
			}
			if !maps.Equal(got, c.context) {
				t.Errorf("context %v, want %v", got, c.context)
			}
			if m.Headers != nil {
				t.Errorf("headers %v: context is not the application's", m.Headers)
			}
		})
	}
}

// An application may send the headers itself, as long as nothing is captured.
func TestW3CHeadersOfTheApplication(t *testing.T) {
	t.Parallel()
	e := delivery.Envelope{
		MessageID: someID(t), Destination: "orders", EventType: "a", Payload: []byte(`1`), ContentType: outbox.JSONContentType,
		Headers: map[string]string{"baggage": "u=1"},
	}
	m, err := newUnconnected(t, Config{}).record(&e)
	if err != nil {
		t.Fatal(err)
	}
	if got := MessageOf(received(t, m)); string(got.Context["baggage"]) != `"u=1"` || got.Headers != nil {
		t.Errorf("message %+v", got)
	}
}

// Whatever text a context holds, it comes back, unless it looks like a document.
func TestContextTextRoundTrip(t *testing.T) {
	t.Parallel()
	property := func(text string) bool {
		doc, err := json.Marshal(text)
		if err != nil {
			return false
		}
		var want, got string
		if err := json.Unmarshal(doc, &want); err != nil { // invalid UTF-8 is replaced by then
			return false
		}
		return json.Unmarshal(contextDocument(contextText(doc)), &got) == nil && got == want
	}
	if err := quick.Check(property, nil); err != nil {
		t.Error(err)
	}
	for doc, want := range map[string]string{
		`{"a":[1]}`: `{"a":[1]}`, `[1, 2]`: `[1, 2]`, `"{broken"`: `"{broken"`, `"true"`: `"true"`,
		`7`: `"7"`, `"[]"`: `[]`, // the two cases that are documented to change
	} {
		if got := string(contextDocument(contextText(json.RawMessage(doc)))); got != want {
			t.Errorf("%s came back as %s, want %s", doc, got, want)
		}
	}
}
