package settings

import (
	"errors"
	"flag"
	"fmt"
	"maps"
	"slices"
	"strings"

	"github.com/knadh/koanf/providers/confmap"
	"github.com/knadh/koanf/v2"

	"github.com/satchel-go/satchel/core/config"
	"github.com/satchel-go/satchel/core/fault"
)

// separator joins the parts of a key.
const separator = "."

// Sources say where settings come from. The zero value has none and gives the defaults.
type Sources struct {
	// Files are read in this order; the extension .json, .yaml or .yml names the format.
	// A file that does not exist is an error.
	Files []string
	// Environ are variables as os.Environ returns them. Those that do not begin with
	// SATCHEL__ are not looked at.
	Environ []string
	// Flags is a parsed set on which [RegisterFlags] was called; nil means no flags.
	Flags *flag.FlagSet
	// Foreign names top-level sections of the files that belong to the application. They
	// are left out, so that one file can serve both. Sections of satchel cannot be foreign.
	Foreign []string
}

// SourceError says which source holds what was refused.
type SourceError struct {
	// Source is the path of a file, "environment" or "flags".
	Source string
	// Err is the problem; a *fault.Invalid when it is about a key.
	Err error
}

// Error implements error.
func (e *SourceError) Error() string { return e.Source + ": " + e.Err.Error() }

// Unwrap returns the problem.
func (e *SourceError) Unwrap() error { return e.Err }

// layer is what one source holds, after its own form was read.
type layer struct {
	source string
	tree   map[string]any
}

// Load reads the sources and returns the tree, or every problem joined.
func Load(s Sources) (config.Tree, error) {
	layers, err := s.layers()
	if err != nil {
		return config.Tree{}, err
	}
	merged := koanf.New(separator)
	for _, l := range layers {
		if err := merged.Load(confmap.Provider(l.tree, ""), nil); err != nil {
			return config.Tree{}, &SourceError{Source: l.source, Err: err}
		}
	}
	tree, err := config.FromMap(merged.Raw())
	if err != nil {
		return config.Tree{}, attribute(err, layers)
	}
	return tree, nil
}

// layers reads every source; the problems of all of them are joined.
func (s Sources) layers() ([]layer, error) {
	var layers []layer
	problems := s.checkForeign()
	add := func(source string, tree map[string]any, err error) {
		if err != nil {
			problems = append(problems, &SourceError{Source: source, Err: err})
			return
		}
		layers = append(layers, layer{source, tree})
	}
	for _, path := range s.Files {
		tree, err := readFile(path)
		for _, name := range s.Foreign {
			delete(tree, name)
		}
		add(path, tree, err)
	}
	tree, err := readEnvironment(s.Environ)
	add("environment", tree, err)
	add("flags", readFlags(s.Flags), nil)
	return layers, errors.Join(problems...)
}

// checkForeign keeps a section of satchel from being left out by mistake.
func (s Sources) checkForeign() (problems []error) {
	for _, name := range s.Foreign {
		if _, ours := known.children[name]; ours {
			problems = append(problems, fault.NewInvalid("foreign section "+name, "is a section of satchel"))
		}
	}
	return problems
}

// attribute adds to each problem the last source that holds its key.
func attribute(err error, layers []layer) error {
	joined, ok := err.(interface{ Unwrap() []error })
	if !ok {
		return err
	}
	var out []error
	for _, problem := range joined.Unwrap() {
		var invalid *fault.Invalid
		if errors.As(problem, &invalid) {
			for _, l := range slices.Backward(layers) {
				if l.holds(invalid.Field) {
					problem = &SourceError{Source: l.source, Err: problem}
					break
				}
			}
		}
		out = append(out, problem)
	}
	return errors.Join(out...)
}

// holds reports whether the layer has something at a key. A key that the tree quotes in
// its errors, because it is no plain name, is found by its parent.
func (l layer) holds(key string) bool {
	var at any = l.tree
	for part := range strings.SplitSeq(key, separator) {
		section, ok := at.(map[string]any)
		if !ok {
			return true // the part above is given, with something that is no section
		}
		if strings.HasPrefix(part, `"`) {
			return slices.ContainsFunc(slices.Collect(maps.Keys(section)), func(name string) bool {
				return fmt.Sprintf("%+q", name) == part
			})
		}
		if at, ok = section[part]; !ok {
			return false
		}
	}
	return true
}
