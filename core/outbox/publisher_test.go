package outbox_test

import (
	"encoding/json"
	"errors"
	"fmt"
	"strings"
	"testing"

	"github.com/satchel-go/satchel/core/destination"
	"github.com/satchel-go/satchel/core/fault"
	"github.com/satchel-go/satchel/core/outbox"
	"github.com/satchel-go/satchel/core/propagation"
)

func TestPublishAllIsOneInsert(t *testing.T) {
	t.Parallel()
	w := &writer{}
	p := outbox.NewPublisher[string](w, outbox.Config{})
	ids, err := p.PublishAll(t.Context(), "four", valid(), valid(), valid())
	if err != nil || fmt.Sprint(ids) != "[4 5 6]" || w.calls != 1 {
		t.Errorf("ids %v, %v, %d inserts", ids, err, w.calls)
	}
	seen := map[outbox.MessageID]bool{}
	for _, r := range w.records {
		seen[r.MessageID] = true
		if r.ID != 0 || r.Attempt != 0 || r.Claims != 0 || !r.CreatedAt.IsZero() || string(r.Metadata) != "{}" {
			t.Errorf("record %+v has what the store has to set", r)
		}
	}
	if len(seen) != 3 {
		t.Error("entries share a message id")
	}
	if ids, err := p.PublishAll(t.Context(), "tx"); ids != nil || err != nil || w.calls != 1 {
		t.Errorf("publishing nothing: %v, %v, %d inserts", ids, err, w.calls)
	}
}

func TestPublishAllRefusesAllForOne(t *testing.T) {
	t.Parallel()
	w := &writer{}
	bad := valid()
	bad.EventType = ""
	ids, err := outbox.NewPublisher[string](w, outbox.Config{}).PublishAll(t.Context(), "tx", valid(), bad, valid())
	if ids != nil || w.calls != 0 || !fault.IsInvalid(err) || err.Error() != "entry 1: satchel: event type is empty" {
		t.Errorf("%v, %v, %d inserts", ids, err, w.calls)
	}
}

func TestPublishReturnsTheWritersError(t *testing.T) {
	t.Parallel()
	failure := &fault.Persistence{Op: "outbox.publish", Code: "40001", Transient: true, Err: errors.New("x")}
	id, err := outbox.NewPublisher[string](&writer{err: failure}, outbox.Config{}).Publish(t.Context(), "tx", valid())
	if id != 0 || err != error(failure) { //nolint:errorlint // it must be this very error, not one that wraps it
		t.Errorf("%d, %v", id, err)
	}
	var broken *fault.Persistence
	if id, err := outbox.NewPublisher[string](&writer{short: true}, outbox.Config{}).Publish(t.Context(), "tx", valid()); id != 0 || !errors.As(err, &broken) || broken.Retryable() {
		t.Errorf("a writer that loses an id: %d, %v", id, err)
	}
}

func TestMetadata(t *testing.T) {
	t.Parallel()
	set := propagation.NewSet(nil, propagation.Standard()...)
	cfg := outbox.Config{Propagation: set, Fingerprint: func(typ destination.Type, name string) string {
		return string(typ) + "/" + name + "@cluster-1"
	}}
	w := &writer{}
	control := map[string]json.RawMessage{"job": json.RawMessage(`{"priority":9007199254740993}`)}
	e := valid()
	e.Delivery = control
	ctx := propagation.With(t.Context(), propagation.Correlation, "c-1")
	if _, err := outbox.NewPublisher[string](w, cfg).Publish(ctx, "tx", e); err != nil {
		t.Fatal(err)
	}
	const want = `{"context":{"correlation":"c-1"},"delivery":{"fingerprint":"KAFKA/orders@cluster-1","job":{"priority":9007199254740993}}}`
	if got := string(w.records[0].Metadata); got != want {
		t.Errorf("metadata %s, want %s", got, want)
	}
	if len(control) != 1 {
		t.Error("the caller's map was changed")
	}
	m, err := outbox.DecodeMetadata(w.records[0].Metadata)
	if err != nil || string(m.Delivery["job"]) != `{"priority":9007199254740993}` || string(m.Context["correlation"]) != `"c-1"` {
		t.Errorf("decoded %v, %v", m, err)
	}
	// A destination without a fingerprint stores none.
	r, err := published(t, outbox.Config{Fingerprint: func(destination.Type, string) string { return "" }}, func(*outbox.Entry) {})
	if err != nil || string(r.Metadata) != "{}" {
		t.Errorf("metadata %s, %v", r.Metadata, err)
	}
}

func TestMetadataIsRefused(t *testing.T) {
	t.Parallel()
	long := json.RawMessage(`"` + strings.Repeat("x", outbox.MaxMetadataBytes) + `"`)
	for _, c := range []struct {
		name, key string
		doc       json.RawMessage
		field     string
		reason    string
	}{
		{"fine", "k", json.RawMessage(`null`), "", ""},
		{"empty key", "", json.RawMessage(`1`), "metadata delivery", "empty or malformed key"},
		{"malformed key", "\xff", json.RawMessage(`1`), "metadata delivery", "empty or malformed key"},
		{"NUL in the key", "a\x00", json.RawMessage(`1`), "metadata", "U+0000"},
		{"no document", "k", nil, "metadata delivery", "is not valid JSON"},
		{"broken document", "k", json.RawMessage(`{"secret"`), "metadata delivery", "is not valid JSON"},
		{"surrogate", "k", json.RawMessage(`"\udc00"`), "metadata delivery", "surrogate"},
		{"too large", "k", long, "metadata", "is larger than 1 MiB"},
	} {
		_, err := published(t, outbox.Config{}, func(e *outbox.Entry) { e.Delivery = map[string]json.RawMessage{c.key: c.doc} })
		refusal(t, c.name, err, c.field, c.reason)
		if err != nil && strings.Contains(err.Error(), "secret") {
			t.Errorf("%s: the error quotes a value: %v", c.name, err)
		}
	}
}

func TestDecodeMetadata(t *testing.T) {
	t.Parallel()
	for doc, fails := range map[string]bool{
		"": false, "{}": false, `{"context":null}`: false, `{"later":[1]}`: false, `{"delivery":{"a":[]}}`: false,
		`[1,2]`: true, `{"context":[]}`: true, `{"delivery":"secret"}`: true, `{"x`: true,
	} {
		if _, err := outbox.DecodeMetadata(json.RawMessage(doc)); (err != nil) != fails || err != nil && strings.Contains(err.Error(), "secret") {
			t.Errorf("%s: %v", doc, err)
		}
	}
}
