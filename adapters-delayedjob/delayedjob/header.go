package delayedjob

import (
	"encoding/json"
	"strings"
	"unicode/utf8"

	"github.com/satchel-go/satchel/core/outbox"
)

// messageIDHeader follows the header prefix in the name of the message id's header.
const messageIDHeader = "message-id"

// encodeHeaders projects what travels beside the payload onto task headers: the
// propagation context, one header for each namespace, and the message id. The
// application's headers are not among them.
func encodeHeaders(prefix string, id outbox.MessageID, context map[string]json.RawMessage) map[string]string {
	headers := make(map[string]string, len(context)+1)
	for namespace, value := range context {
		// Context is a convenience: what a task cannot carry is left out.
		if text, ok := encodeValue(value); ok && utf8.ValidString(namespace) {
			headers[prefix+namespace] = text
		}
	}
	headers[prefix+messageIDHeader] = id.String()
	return headers
}

// encodeValue writes a JSON string as its text, so that a worker of any make can read
// a trace context, unless the text is JSON itself; everything else stays JSON.
// Read back by decodeValue this is without loss.
func encodeValue(value json.RawMessage) (string, bool) {
	if !utf8.Valid(value) || !json.Valid(value) {
		return "", false
	}
	var text *string
	if err := json.Unmarshal(value, &text); err == nil && text != nil && !json.Valid([]byte(*text)) {
		return *text, true
	}
	return string(value), true
}

func decodeValue(text string) json.RawMessage {
	if json.Valid([]byte(text)) {
		return json.RawMessage(text)
	}
	value, _ := json.Marshal(text) // a string always marshals
	return value
}

// decodeHeaders is the inverse of encodeHeaders. The id is not ok for a task that
// was not enqueued by a relay.
func decodeHeaders(prefix string, headers map[string]string) (id outbox.MessageID, ok bool, context map[string]json.RawMessage) {
	context = make(map[string]json.RawMessage, len(headers))
	for name, text := range headers {
		namespace, ours := strings.CutPrefix(name, prefix)
		switch {
		case !ours:
		case namespace == messageIDHeader:
			parsed, err := outbox.ParseMessageID(text)
			id, ok = parsed, err == nil
		default:
			context[namespace] = decodeValue(text)
		}
	}
	return id, ok, context
}
