package delayedjob

import (
	"encoding/json"
	"testing"

	"github.com/satchel-go/satchel/core/fault"
	"github.com/satchel-go/satchel/core/outbox"
)

func TestSnapshotOf(t *testing.T) {
	t.Parallel()
	for name, c := range map[string]struct {
		doc  string
		want Snapshot
		text string // of the error, when one is wanted
	}{
		"whole":              {doc: `{"queue":"mail","priority":-2,"maxAttempts":4}`, want: Snapshot{"mail", -2, 4}},
		"unknown member":     {doc: `{"queue":"q","priority":0,"maxAttempts":1,"later":{}}`, want: Snapshot{"q", 0, 1}},
		"null":               {doc: `null`, text: "lacks one of"},
		"empty":              {doc: `{}`, text: "lacks one of"},
		"no queue":           {doc: `{"priority":0,"maxAttempts":1}`, text: "lacks one of"},
		"no priority":        {doc: `{"queue":"q","maxAttempts":1}`, text: "lacks one of"},
		"no attempts":        {doc: `{"queue":"q","priority":0}`, text: "lacks one of"},
		"null queue":         {doc: `{"queue":null,"priority":0,"maxAttempts":1}`, text: "lacks one of"},
		"not an object":      {doc: `"secret"`, text: "is not an object"},
		"broken":             {doc: `{`, text: "is not an object"},
		"fraction":           {doc: `{"queue":"q","priority":1.5,"maxAttempts":1}`, text: "is not an object"},
		"text for number":    {doc: `{"queue":"q","priority":0,"maxAttempts":"secret"}`, text: "is not an object"},
		"blank queue":        {doc: `{"queue":"","priority":0,"maxAttempts":1}`, text: "snapshot queue is empty"},
		"no attempt allowed": {doc: `{"queue":"q","priority":0,"maxAttempts":0}`, text: "snapshot max attempts"},
		"too many attempts":  {doc: `{"queue":"q","priority":0,"maxAttempts":2147483648}`, text: "snapshot max attempts"},
		"huge number":        {doc: `{"queue":"q","priority":1e99,"maxAttempts":1}`, text: "is not an object"},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			got, err := SnapshotOf(outbox.Metadata{Delivery: map[string]json.RawMessage{DeliveryKey: json.RawMessage(c.doc)}})
			if got != c.want {
				t.Errorf("snapshot is %+v, want %+v", got, c.want)
			}
			if c.text == "" {
				if err != nil {
					t.Error(err)
				}
				return
			}
			wantText(t, err, c.text)
			if !fault.IsInvalid(err) {
				t.Errorf("error is %T, want *fault.Invalid", err)
			}
		})
	}
	_, err := SnapshotOf(outbox.Metadata{})
	wantText(t, err, "delayed-job snapshot is missing")
}
