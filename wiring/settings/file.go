package settings

import (
	"bytes"
	"encoding/json"
	"errors"
	"io/fs"
	"os"
	"path/filepath"
	"strings"

	"github.com/knadh/koanf/parsers/yaml"
	"github.com/knadh/koanf/providers/rawbytes"
	"github.com/knadh/koanf/v2"

	"github.com/satchel-go/satchel/core/fault"
)

// parsers by extension. Both refuse a key that is given twice in one section.
var parsers = map[string]koanf.Parser{".json": strictJSON{}, ".yaml": yaml.Parser(), ".yml": yaml.Parser()}

func readFile(path string) (map[string]any, error) {
	parser, ok := parsers[strings.ToLower(filepath.Ext(path))]
	if !ok {
		return nil, fault.NewInvalid("configuration file", "has none of the extensions .json, .yaml and .yml")
	}
	doc, err := os.ReadFile(path)
	if err != nil {
		var failed *fs.PathError // its own text would repeat the path
		if errors.As(err, &failed) {
			err = failed.Err
		}
		return nil, err
	}
	k := koanf.New(separator)
	if err := k.Load(rawbytes.Provider(doc), parser); err != nil {
		// Parsers quote the line that they stumble over, and with it perhaps a secret.
		var invalid *fault.Invalid
		if errors.As(err, &invalid) {
			return nil, invalid
		}
		return nil, fault.NewInvalid("configuration file", "is malformed, or gives a key twice")
	}
	return k.Raw(), nil
}

// strictJSON is koanf's JSON parser, except that it refuses a key that is given twice, of
// which encoding/json keeps the last without a word, and keeps the digits of numbers.
type strictJSON struct{}

// Unmarshal implements koanf.Parser.
func (strictJSON) Unmarshal(doc []byte) (map[string]any, error) {
	// Checked as a whole first, so that reading tokens below cannot fail.
	var out map[string]any
	decoder := json.NewDecoder(bytes.NewReader(doc))
	decoder.UseNumber()
	if !json.Valid(doc) || decoder.Decode(&out) != nil || out == nil {
		return nil, fault.NewInvalid("configuration file", "is not one JSON object")
	}
	if key := twice(json.NewDecoder(bytes.NewReader(doc)), ""); key != "" {
		return nil, fault.NewInvalid(fault.Clean(key, 256), "is given more than once")
	}
	return out, nil
}

// Marshal implements koanf.Parser.
func (strictJSON) Marshal(tree map[string]any) ([]byte, error) { return json.Marshal(tree) }

// twice returns the first key that an object of the next value has twice, or "".
func twice(decoder *json.Decoder, path string) (found string) {
	token, _ := decoder.Token()
	opening, nested := token.(json.Delim)
	if !nested {
		return ""
	}
	seen := map[string]bool{}
	for decoder.More() {
		at := path
		if opening == '{' {
			token, _ = decoder.Token()
			name, _ := token.(string)
			at = strings.TrimPrefix(path+separator+name, separator)
			if seen[name] && found == "" {
				found = at
			}
			seen[name] = true
		}
		if inner := twice(decoder, at); inner != "" && found == "" {
			found = inner
		}
	}
	_, _ = decoder.Token()
	return found
}
