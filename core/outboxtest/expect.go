package outboxtest

import (
	"bytes"
	"encoding/json"
	"fmt"
	"maps"
	"strings"
	"testing"
	"time"

	"github.com/satchel-go/satchel/core/outbox"
)

// Expect reports an error unless got are the wanted entries, all of them, in that order. Of
// each wanted entry only the fields that are set count, so a test says what matters to it:
//
//   - Payload is encoded as a publisher would and compared by meaning: the order of members and
//     the notation of numbers do not count. An outbox.Raw is compared byte for byte.
//   - Headers and Delivery must be there as given; others may be there too.
//   - Times are compared to the microsecond, which is what databases keep.
func Expect(t testing.TB, got []outbox.Record, want ...outbox.Entry) {
	t.Helper()
	for i := range want {
		if i >= len(got) {
			break
		}
		for _, difference := range differences(&got[i], &want[i]) {
			t.Errorf("outboxtest: entry %d: %s", i, difference)
		}
	}
	if len(got) != len(want) {
		t.Errorf("outboxtest: %d entries were published, want %d: %s", len(got), len(want), summary(got))
	}
}

// summary says what entries are about, without their payloads.
func summary(records []outbox.Record) string {
	if len(records) == 0 {
		return "none"
	}
	parts := make([]string, len(records))
	for i, r := range records {
		parts[i] = fmt.Sprintf("%s to %s %q", r.EventType, r.DestinationType, r.Destination)
	}
	return strings.Join(parts, ", ")
}

func differences(got *outbox.Record, want *outbox.Entry) (out []string) {
	for _, f := range []struct{ name, got, want string }{
		{"destination type", string(got.DestinationType), string(want.DestinationType)},
		{"destination", got.Destination, want.Destination},
		{"event type", got.EventType, want.EventType},
		{"aggregate id", got.AggregateID, want.AggregateID},
		{"aggregate type", got.AggregateType, want.AggregateType},
	} {
		if f.want != "" && f.got != f.want {
			out = append(out, fmt.Sprintf("%s is %q, want %q", f.name, f.got, f.want))
		}
	}
	for _, f := range []struct {
		name      string
		got, want time.Time
	}{{"scheduled time", got.ScheduledAt, want.ScheduledAt}, {"available time", got.AvailableAt, want.AvailableAt}} {
		if !f.want.IsZero() && !f.got.Round(time.Microsecond).Equal(f.want.Round(time.Microsecond)) {
			out = append(out, fmt.Sprintf("%s is %v, want %v", f.name, f.got, f.want))
		}
	}
	if want.MaxAttempts != 0 && got.MaxAttempts != want.MaxAttempts {
		out = append(out, fmt.Sprintf("max attempts is %d, want %d", got.MaxAttempts, want.MaxAttempts))
	}
	return append(append(append(out, payload(got, want)...), headers(got, want)...), control(got, want)...)
}

func payload(got *outbox.Record, want *outbox.Entry) []string {
	switch p := want.Payload.(type) {
	case nil:
		return nil
	case *outbox.Raw:
		return raw(got, *p)
	case outbox.Raw:
		return raw(got, p)
	}
	doc, err := json.Marshal(want.Payload)
	switch {
	case err != nil:
		return []string{fmt.Sprintf("the wanted payload does not marshal: %v", err)}
	case got.Raw():
		return []string{fmt.Sprintf("payload is raw, of type %s, want JSON", got.ContentType)}
	case !sameJSON(got.Payload, doc):
		return []string{fmt.Sprintf("payload is %s, want %s", got.Payload, doc)}
	}
	return nil
}

func raw(got *outbox.Record, want outbox.Raw) []string {
	if got.ContentType != want.ContentType || !bytes.Equal(got.Payload, want.Data) {
		return []string{fmt.Sprintf("payload is %q of type %q, want %q of type %q", got.Payload, got.ContentType, want.Data, want.ContentType)}
	}
	return nil
}

func headers(got *outbox.Record, want *outbox.Entry) (out []string) {
	have, _, err := outbox.DecodeHeaders(got.Headers)
	if err != nil {
		return []string{"headers: " + err.Error()}
	}
	for name, value := range maps.All(want.Headers) {
		if v, ok := have[name]; !ok || v != value {
			out = append(out, fmt.Sprintf("header %q is %q (there: %v), want %q", name, v, ok, value))
		}
	}
	return out
}

func control(got *outbox.Record, want *outbox.Entry) (out []string) {
	have, err := outbox.DecodeMetadata(got.Metadata)
	if err != nil {
		return []string{err.Error()}
	}
	for kind, doc := range want.Delivery {
		if !sameJSON(have.Delivery[kind], doc) {
			out = append(out, fmt.Sprintf("delivery data %q is %s, want %s", kind, have.Delivery[kind], doc))
		}
	}
	return out
}
