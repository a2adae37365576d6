package outbox

import (
	"encoding/json"
	"errors"
	"reflect"

	"github.com/satchel-go/satchel/core/fault"
	"github.com/satchel-go/satchel/core/internal/text"
	"github.com/satchel-go/satchel/core/jsonb"
)

// JSONContentType is the content type of every payload that is not a [Raw].
const JSONContentType = "application/json"

// Raw is a payload that is delivered byte for byte: protobuf, Avro, or JSON whose
// exact bytes matter, for example because they are signed.
type Raw struct {
	// ContentType names the format, for example "application/x-protobuf"; required,
	// at most 255 characters of printable ASCII.
	ContentType string
	// Data are the bytes. Empty is allowed, nil counts as empty.
	Data []byte
}

// MaxPayloadBytes is the largest payload, JSON or raw: 64 MiB.
const MaxPayloadBytes = jsonb.MaxBytes

// encodePayload turns what an application gave into what is stored: either a JSON
// document, or raw bytes with their type.
func encodePayload(payload any) (doc json.RawMessage, raw *Raw, err error) {
	const field = "payload"
	switch p := payload.(type) {
	case nil:
		return nil, nil, fault.NewInvalid(field, "is nil; for a JSON null give json.RawMessage(\"null\")")
	case Raw:
		return nil, &p, checkRaw(p)
	case *Raw:
		if p == nil {
			return nil, nil, fault.NewInvalid(field, "is a nil pointer")
		}
		return nil, p, checkRaw(*p)
	case json.RawMessage:
		doc = p
	case []byte:
		return nil, nil, fault.NewInvalid(field, "is a []byte; say what it is with json.RawMessage or outbox.Raw")
	default:
		if v := reflect.ValueOf(payload); v.Kind() == reflect.Pointer && v.IsNil() {
			return nil, nil, fault.NewInvalid(field, "is a nil pointer")
		}
		if doc, err = marshal(payload); err != nil {
			return nil, nil, err
		}
	}
	if reason := jsonb.Check(doc); reason != "" {
		return nil, nil, fault.NewInvalid(field, reason)
	}
	return doc, nil, nil
}

// marshal calls json.Marshal. Its own errors can quote the value, so only their
// kind is reported; a MarshalJSON method that panics is an error too.
func marshal(payload any) (doc []byte, err error) {
	defer func() {
		if recover() != nil {
			doc, err = nil, fault.NewInvalid("payload", "does not marshal to JSON: its marshaller panicked")
		}
	}()
	if doc, err = json.Marshal(payload); err == nil {
		return doc, nil
	}
	reason := "does not marshal to JSON"
	var unsupportedType *json.UnsupportedTypeError
	var unsupportedValue *json.UnsupportedValueError
	switch {
	case errors.As(err, &unsupportedType):
		reason += ": unsupported type " + unsupportedType.Type.String()
	case errors.As(err, &unsupportedValue):
		reason += ": unsupported value"
	}
	return nil, fault.NewInvalid("payload", reason)
}

func checkRaw(p Raw) error {
	switch {
	case p.ContentType == "":
		return fault.NewInvalid("payload content type", "is empty")
	case len(p.ContentType) > text.MaxLength:
		return fault.NewInvalid("payload content type", "is longer than 255 characters")
	case len(p.Data) > MaxPayloadBytes:
		return fault.NewInvalid("payload", "is larger than 64 MiB")
	}
	for i := range len(p.ContentType) {
		if c := p.ContentType[i]; c < ' ' || c > '~' {
			return fault.NewInvalid("payload content type", "has a character that is not printable ASCII")
		}
	}
	return nil
}
