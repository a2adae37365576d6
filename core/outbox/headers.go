package outbox

import (
	"encoding/json"
	"fmt"
	"maps"
	"slices"
	"strings"
	"unicode"
	"unicode/utf8"

	"github.com/satchel-go/satchel/core/fault"
	"github.com/satchel-go/satchel/core/internal/text"
)

// Bounds of application headers.
const (
	// MaxHeaders is the largest number of headers of one entry. A key has 1 to 255
	// characters.
	MaxHeaders = 100
	// MaxHeaderValue is the longest header value, in bytes.
	MaxHeaderValue = 64 << 10
)

// checkHeaders refuses headers that some destination could not deliver. The error
// names the key, cut to 128 characters and cleaned of control characters, never
// the value. Keys are checked in their order, so the same map gives the same error.
func checkHeaders(headers map[string]string, reserved string) error {
	if len(headers) > MaxHeaders {
		return fault.NewInvalid("headers", "are more than 100")
	}
	for _, key := range slices.Sorted(maps.Keys(headers)) {
		if reason := checkHeader(key, headers[key], reserved); reason != "" {
			return fault.NewInvalid(fmt.Sprintf("header %q", fault.Clean(key, 128)), reason)
		}
	}
	return nil
}

func checkHeader(key, value, reserved string) string {
	switch problem := text.Check(key); {
	case problem != text.None && problem != text.NUL: // a NUL is a control character
		return "has a key that " + string(problem)
	case strings.ContainsFunc(key, unicode.IsControl):
		return "has a key with a control character"
	case len(key) >= len(reserved) && strings.EqualFold(key[:len(reserved)], reserved):
		return "has a key with the reserved prefix " + reserved
	case !utf8.ValidString(value):
		return "has a value that is not valid UTF-8"
	case strings.ContainsRune(value, 0):
		return "has a value with the character U+0000"
	case len(value) > MaxHeaderValue:
		return "has a value larger than 64 KiB"
	}
	return ""
}

// DecodeHeaders reads stored headers. A value that is JSON null, written by
// something other than this library, does not become the text "null": it is left
// out and its key returned in dropped, sorted, cleaned for a log. An error is a
// *fault.Invalid: what is stored is no object of texts.
func DecodeHeaders(doc json.RawMessage) (headers map[string]string, dropped []string, err error) {
	if len(doc) == 0 || string(doc) == "null" || string(doc) == "{}" {
		return nil, nil, nil
	}
	var stored map[string]*string
	if err := json.Unmarshal(doc, &stored); err != nil {
		return nil, nil, fault.NewInvalid("stored headers", "are not an object of texts")
	}
	headers = make(map[string]string, len(stored))
	for key, value := range stored {
		if value == nil {
			dropped = append(dropped, fault.Clean(key, 128))
			continue
		}
		headers[key] = *value
	}
	slices.Sort(dropped)
	return headers, dropped, nil
}
