package settings

import (
	"encoding/json"
	"flag"
	"strings"

	"github.com/knadh/koanf/maps"

	"github.com/satchel-go/satchel/core/config"
)

// RegisterFlags defines a flag for every key, named like the key. Only flags that are given
// on the command line count; [Load] checks what they hold, together with all other sources.
func RegisterFlags(flags *flag.FlagSet) {
	defaults := defaultTexts()
	known.each("", func(key string, leaf *section) {
		kind := "`text`"
		if leaf.number {
			kind = "`number`"
		}
		flags.Var(&flagValue{text: defaults[key]}, key, kind+"; also "+EnvName(key))
	})
}

// flagValue holds what a flag was given; nothing is checked here.
type flagValue struct{ text string }

// String implements flag.Value.
func (v *flagValue) String() string { return v.text }

// Set implements flag.Value.
func (v *flagValue) Set(text string) error {
	v.text = text
	return nil
}

// readFlags returns the flags of [RegisterFlags] that were given.
func readFlags(flags *flag.FlagSet) map[string]any {
	given := map[string]any{}
	if flags == nil {
		return given
	}
	flags.Visit(func(f *flag.Flag) {
		if v, ours := f.Value.(*flagValue); ours {
			given[f.Name] = known.find(f.Name).value(v.text)
		}
	})
	return maps.Unflatten(given, separator)
}

// defaultTexts returns the default of every key, for the usage text.
func defaultTexts() map[string]string {
	doc, err := json.Marshal(config.Default())
	if err != nil {
		return nil // a usage text without defaults
	}
	var tree map[string]any
	decoder := json.NewDecoder(strings.NewReader(string(doc)))
	decoder.UseNumber()
	if decoder.Decode(&tree) != nil {
		return nil
	}
	flat, _ := maps.Flatten(tree, nil, separator)
	texts := make(map[string]string, len(flat))
	for key, v := range flat {
		switch v := v.(type) {
		case string:
			texts[key] = v
		case json.Number:
			texts[key] = v.String()
		}
	}
	return texts
}
