package service

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"mime"
	"reflect"
	"strings"

	"github.com/satchel-go/satchel/core/delivery"
	"github.com/satchel-go/satchel/core/fault"
	"github.com/satchel-go/satchel/core/outbox"
)

// decode returns the payload of e as a P, or a *DecodeError for the operation. What it
// returns shares no memory with the envelope: a handler may keep it.
func decode[P any](operation string, e *delivery.Envelope) (payload P, err error) {
	if raw, ok := any(&payload).(*outbox.Raw); ok {
		*raw = outbox.Raw{ContentType: e.ContentType, Data: bytes.Clone(e.Payload)}
		return payload, nil
	}
	if reason := decodeJSON(e, &payload); reason != "" {
		var zero P // not what was decoded before the error
		return zero, &DecodeError{Operation: operation, GoType: reflect.TypeFor[P]().String(), Reason: reason}
	}
	return payload, nil
}

// decodeJSON fills what target points to and returns "" or the reason why it cannot.
// Numbers in interface values become json.Number, since a float64 would change them.
func decodeJSON(e *delivery.Envelope, target any) (reason string) {
	if !isJSON(e.ContentType) {
		return fmt.Sprintf("has the content type %q, not JSON", fault.Clean(e.ContentType, 255))
	}
	if string(bytes.TrimSpace(e.Payload)) == "null" && !takesNull(reflect.TypeOf(target)) {
		return "is null"
	}
	defer func() {
		if recover() != nil {
			reason = "made its JSON unmarshaller panic"
		}
	}()
	decoder := json.NewDecoder(bytes.NewReader(e.Payload))
	decoder.UseNumber()
	if err := decoder.Decode(target); err != nil {
		return whyNot(err, decoder.InputOffset())
	}
	if _, err := decoder.Token(); !errors.Is(err, io.EOF) {
		return fmt.Sprintf("has more after its JSON value, at offset %d", decoder.InputOffset())
	}
	return ""
}

// whyNot describes a decoding error without its text, which can quote the payload: a
// syntax error shows a character, a type error shows the number that did not fit, and
// an unmarshaller of the application may show anything.
func whyNot(err error, offset int64) string {
	var syntax *json.SyntaxError
	var mismatch *json.UnmarshalTypeError
	switch {
	case errors.As(err, &mismatch):
		kind, _, _ := strings.Cut(mismatch.Value, " ") // "number 12" becomes "number"
		return fmt.Sprintf("has a JSON %s where %s is expected, at offset %d", kind, mismatch.Type, mismatch.Offset)
	case errors.As(err, &syntax):
		return fmt.Sprintf("is not valid JSON, at offset %d", syntax.Offset)
	case errors.Is(err, io.EOF), errors.Is(err, io.ErrUnexpectedEOF):
		return fmt.Sprintf("is not valid JSON: it ends at offset %d", offset)
	}
	return fmt.Sprintf("was refused while it was decoded, by a %T", err)
}

// isJSON accepts raw payloads too if they say that they are JSON.
func isJSON(contentType string) bool {
	if contentType == outbox.JSONContentType || contentType == "" {
		return true
	}
	media, _, err := mime.ParseMediaType(contentType)
	return err == nil && (media == outbox.JSONContentType || strings.HasSuffix(media, "+json"))
}

// takesNull reports whether JSON null means something to the type behind pointer. For
// any other type encoding/json ignores a null, and the handler would be called with a
// zero value that nobody sent.
func takesNull(pointer reflect.Type) bool {
	if pointer.Implements(reflect.TypeFor[json.Unmarshaler]()) {
		return true
	}
	switch pointer.Elem().Kind() {
	case reflect.Pointer, reflect.Interface, reflect.Map, reflect.Slice:
		return true
	}
	return false
}
