// Package settings loads the configuration of satchel from files, the environment and
// flags into one tree, with koanf.
//
//	sources := settings.Sources{Files: []string{"service.yaml"}, Environ: os.Environ(), Flags: flag.CommandLine}
//	settings.RegisterFlags(flag.CommandLine)
//	flag.Parse()
//	tree, err := settings.Load(sources)
//
// The keys, their defaults and their bounds are those of package config of module core.
//
// # Names
//
//	file          inboxOutbox: { relay: { batchSize: 200 } }     JSON or YAML, by extension
//	environment   SATCHEL__INBOXOUTBOX__RELAY__BATCHSIZE=200
//	              SATCHEL__DB__SCHEMAS__INBOX_OUTBOX=messaging
//	flag          -inboxOutbox.relay.batchSize=200
//
// In a variable's name two underscores stand for the dot between two parts of a key, one
// underscore for a hyphen, and letters are in upper case. Of two sources that give a key the
// later one counts: files in the order given, then the environment, then flags.
//
// Variables and flags are text. Where a key takes a whole number, text that is one is
// converted; FOREVER stays text, and everything else is refused like a wrong type in a file.
//
// # Guarantees
//
// The tree is validated as a whole, after all sources are joined. What is unknown, misspelled
// or malformed in any of them is an error and never ignored, schema keys included; each
// problem is a [*SourceError] with the source to look at, around a *fault.Invalid that names
// the key and never repeats a value.
//
// # Not guaranteed
//
// A file is read once: a change needs a restart. Connection URLs, broker addresses and
// passwords are not keys of this tree; an application gives them to the injectors as values.
package settings
