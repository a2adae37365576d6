package settings

import (
	"strings"

	"github.com/knadh/koanf/providers/env/v2"
	"github.com/knadh/koanf/v2"
)

// EnvPrefix begins the name of every variable that is read.
const EnvPrefix = "SATCHEL__"

const envSeparator = "__"

func readEnvironment(environ []string) (map[string]any, error) {
	k := koanf.New(separator)
	err := k.Load(env.Provider(separator, env.Opt{
		Prefix:      EnvPrefix,
		EnvironFunc: func() []string { return environ },
		TransformFunc: func(name, text string) (string, any) {
			key := keyOf(name)
			return key, known.find(key).value(text)
		},
	}), nil)
	return k.Raw(), err
}

// keyOf returns the key that a variable names. A part that is not known is kept in lower
// case, so that the tree can refuse it and suggest what was meant.
func keyOf(variable string) string {
	at, parts := known, strings.Split(strings.TrimPrefix(variable, EnvPrefix), envSeparator)
	for i, part := range parts {
		found := strings.ToLower(part)
		var next *section
		if at != nil {
			for _, name := range at.names {
				if envName(name) == part {
					found, next = name, at.children[name]
				}
			}
		}
		parts[i], at = found, next
	}
	return strings.Join(parts, separator)
}

// EnvName returns the name of the variable for a key, as in the package documentation.
func EnvName(key string) string {
	parts := strings.Split(key, separator)
	for i, part := range parts {
		parts[i] = envName(part)
	}
	return EnvPrefix + strings.Join(parts, envSeparator)
}

func envName(part string) string { return strings.ReplaceAll(strings.ToUpper(part), "-", "_") }
