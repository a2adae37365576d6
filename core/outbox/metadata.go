package outbox

import (
	"encoding/json"
	"unicode/utf8"

	"github.com/satchel-go/satchel/core/fault"
	"github.com/satchel-go/satchel/core/jsonb"
)

// Metadata is the document that travels with an entry beside its payload. It is
// stored as one JSON object with the two members below and is not for application
// data: that belongs in the payload or the headers.
type Metadata struct {
	// Context is durable propagation context by namespace, captured from the
	// context.Context at publish.
	Context map[string]json.RawMessage `json:"context,omitempty"`
	// Delivery is control data for destinations, by destination kind, fixed at
	// publish (for example the queue and priority of a delayed job).
	Delivery map[string]json.RawMessage `json:"delivery,omitempty"`
}

// FingerprintKey is the member of Metadata.Delivery that holds the fingerprint of
// the destination that the entry was meant for.
const FingerprintKey = "fingerprint"

// MaxMetadataBytes bounds the whole metadata document of an entry: 1 MiB.
const MaxMetadataBytes = 1 << 20

// emptyMetadata is what most entries hold; sharing it saves an allocation each.
var emptyMetadata = json.RawMessage("{}")

// Encode returns the JSON document of m, or a *fault.Invalid.
func (m Metadata) Encode() (json.RawMessage, error) {
	if len(m.Context) == 0 && len(m.Delivery) == 0 {
		return emptyMetadata, nil
	}
	for _, part := range []struct {
		name    string
		members map[string]json.RawMessage
	}{{"metadata context", m.Context}, {"metadata delivery", m.Delivery}} {
		for key, doc := range part.members {
			if key == "" || !utf8.ValidString(key) {
				return nil, fault.NewInvalid(part.name, "has an empty or malformed key")
			}
			if reason := jsonb.Check(doc); reason != "" {
				return nil, fault.NewInvalid(part.name, reason)
			}
		}
	}
	doc, err := json.Marshal(m)
	if err != nil {
		return nil, fault.NewInvalid("metadata", "does not marshal to JSON")
	}
	// The keys are only checked here: a key may hold a NUL that marshals to \u0000.
	if reason := jsonb.Check(doc); reason != "" {
		return nil, fault.NewInvalid("metadata", reason)
	}
	if len(doc) > MaxMetadataBytes {
		return nil, fault.NewInvalid("metadata", "is larger than 1 MiB")
	}
	return doc, nil
}

// DecodeMetadata reads a stored document. It is lenient: members that it does not
// know are ignored, so that a newer writer does not stop an older relay. An error is a
// *fault.Invalid: what is stored is not such a document.
func DecodeMetadata(doc json.RawMessage) (Metadata, error) {
	var m Metadata
	if len(doc) <= len(emptyMetadata) {
		return m, nil
	}
	if err := json.Unmarshal(doc, &m); err != nil {
		return Metadata{}, fault.NewInvalid("stored metadata", "is not an object with objects named context and delivery")
	}
	return m, nil
}
