package outbox_test

import (
	"encoding/json"
	"fmt"
	"time"

	"github.com/satchel-go/satchel/core/outbox"
)

// A tool that changes states can ask what is legal.
func ExampleState_CanBecome() {
	fmt.Println(outbox.DeadLetter.CanBecome(outbox.Pending), outbox.Published.CanBecome(outbox.Pending))
	// Output: true false
}

// Only a settled entry lets the next one of its aggregate go.
func ExampleState_Settled() {
	for _, s := range []outbox.State{outbox.Pending, outbox.Processing, outbox.Published, outbox.DeadLetter} {
		fmt.Println(s, s.Settled())
	}
	// Output:
	// PENDING false
	// PROCESSING false
	// PUBLISHED true
	// DEAD_LETTER true
}

// An entry is due when both its times have come.
func ExampleRecord_Due() {
	noon := time.Date(2040, 1, 1, 12, 0, 0, 0, time.UTC)
	r := outbox.Record{AvailableAt: noon, ScheduledAt: noon.Add(time.Hour)}
	fmt.Println(r.Due().Format(time.TimeOnly))
	// Output: 13:00:00
}

// Metadata is one document with two members.
func ExampleMetadata_Encode() {
	doc, err := outbox.Metadata{
		Context:  map[string]json.RawMessage{"correlation": json.RawMessage(`"request-7"`)},
		Delivery: map[string]json.RawMessage{"job": json.RawMessage(`{"queue":"mail"}`)},
	}.Encode()
	fmt.Println(string(doc), err)

	_, err = outbox.Metadata{Context: map[string]json.RawMessage{"correlation": json.RawMessage(`request-7`)}}.Encode()
	fmt.Println(err)
	// Output:
	// {"context":{"correlation":"request-7"},"delivery":{"job":{"queue":"mail"}}} <nil>
	// satchel: metadata context is not valid JSON
}

// What a newer version has written is not in the way of an older one.
func ExampleDecodeMetadata() {
	m, err := outbox.DecodeMetadata(json.RawMessage(`{"context":{"locale":"de"},"from a newer version":1}`))
	fmt.Println(string(m.Context["locale"]), err)
	// Output: "de" <nil>
}

// A null that another program has stored is no header.
func ExampleDecodeHeaders() {
	headers, dropped, err := outbox.DecodeHeaders(json.RawMessage(`{"tenant":"acme","region":null}`))
	fmt.Println(headers, dropped, err)
	// Output: map[tenant:acme] [region] <nil>
}
