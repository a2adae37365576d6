package webhook

import (
	"bytes"
	"encoding/json"
	"net/http"
	"slices"
	"strings"

	"github.com/satchel-go/satchel/core/propagation"
)

// w3c are the namespaces whose header has no prefix: the World Wide Web Consortium
// gave it its name, and tracing libraries look for that.
var w3c = []string{propagation.TraceParent, propagation.TraceState, propagation.Baggage}

// writeContext adds a header for each namespace of propagation context. What
// cannot be sent is left out: context is never a reason to fail.
func writeContext(header http.Header, stored map[string]json.RawMessage, prefix string) {
	for namespace, doc := range stored {
		name := namespace
		if !slices.Contains(w3c, namespace) {
			name = prefix + namespace
		}
		if value, ok := contextText(doc); ok && token(name) {
			header.Set(name, value)
		}
	}
}

// readContext is the reverse of writeContext.
func readContext(header http.Header, prefix string) map[string]json.RawMessage {
	found := make(map[string]json.RawMessage)
	for name, values := range header {
		namespace, own := strings.CutPrefix(strings.ToLower(name), prefix)
		if len(values) == 0 || namespace == "" || own == slices.Contains(w3c, namespace) {
			continue
		}
		if doc, err := contextDoc(values[0]); err == nil {
			found[namespace] = doc
		}
	}
	return found
}

// contextText is the header value for a stored one: the text of a JSON string, and
// for everything else, or a text that could be mistaken for it, the JSON itself.
func contextText(doc json.RawMessage) (string, bool) {
	var text string
	if json.Unmarshal(doc, &text) == nil && sendable(text) && text == strings.TrimSpace(text) && !looksLikeJSON(text) {
		return text, text != ""
	}
	var compact bytes.Buffer
	if json.Compact(&compact, doc) != nil {
		return "", false
	}
	return compact.String(), sendable(compact.String())
}

// contextDoc is the reverse of contextText, except that a bare number, true, false
// or null comes back as a text: without this a correlation id of digits only, from
// any sender, would turn into a number.
func contextDoc(value string) (json.RawMessage, error) {
	if looksLikeJSON(value) {
		return json.RawMessage(value), nil
	}
	return json.Marshal(value)
}

// looksLikeJSON reports whether a header value is a JSON object, array or string.
func looksLikeJSON(value string) bool {
	return value != "" && strings.IndexByte(`{["`, value[0]) >= 0 && json.Valid([]byte(value))
}
