package config

import (
	"errors"
	"maps"
	"slices"

	"github.com/satchel-go/satchel/core/fault"
)

// Parse reads a JSON document. Keys that it does not have keep their defaults; an
// empty object gives [Default].
//
// The error joins every problem, each a *fault.Invalid. The Tree is then the zero value.
func Parse(doc []byte) (Tree, error) {
	v, problems := decode(doc)
	if v == nil && len(problems) > 0 {
		return Tree{}, errors.Join(problems...)
	}
	return read(v, problems)
}

// FromMap reads what another loader has read into nested maps, with the same checks
// as [Parse] save that for keys given twice. Numbers may be of any numeric type or a
// json.Number, but not strings; maps may have any element type. A nil map is empty.
func FromMap(m map[string]any) (Tree, error) {
	return read(m, nil)
}

// Validate checks a Tree that was made or changed by hand. The error joins every
// problem, each a *fault.Invalid that names the key as in the file.
func (t Tree) Validate() error {
	w := walker{tree: t, refused: map[string]bool{}}
	for _, k := range keys {
		w.refuse(k.path, k.rule.check(&t))
	}
	w.relations()
	return errors.Join(w.problems...)
}

func read(v any, problems []error) (Tree, error) {
	w := walker{tree: Default(), problems: problems, refused: map[string]bool{}}
	if fields, ok := object(v); ok {
		w.section("", fields)
	} else {
		w.refuse(root, "is "+kind(v)+", not an object")
	}
	w.relations()
	if len(w.problems) > 0 {
		return Tree{}, errors.Join(w.problems...)
	}
	return w.tree, nil
}

// walker carries a tree past its checks and collects what they refuse.
type walker struct {
	tree     Tree
	problems []error
	refused  map[string]bool
}

func (w *walker) refuse(path, reason string) {
	if reason != "" {
		w.refused[path] = true
		w.problems = append(w.problems, fault.NewInvalid(path, reason))
	}
}

// section reads the object at path, in the order of its keys, so that problems come
// in the same order each time.
func (w *walker) section(path string, fields map[string]any) {
	for _, name := range slices.Sorted(maps.Keys(fields)) {
		at := join(path, name)
		n, known := index[at]
		switch {
		case retired[at] != "":
			w.refuse(at, retired[at])
		case !known:
			w.refuse(at, unknown(path, name))
		case n.rule != nil:
			w.refuse(at, n.rule.set(&w.tree, fields[name]))
		default:
			if inner, ok := object(fields[name]); ok {
				w.section(at, inner)
			} else {
				w.refuse(at, "is "+kind(fields[name])+", not an object")
			}
		}
	}
}

// relations checks what keys must meet together; a key that is refused already says
// nothing about the others.
func (w *walker) relations() {
	for _, r := range relations {
		blamed := slices.ContainsFunc(r.keys, func(path string) bool { return w.refused[path] })
		if !blamed && r.broken(&w.tree) {
			w.refuse(r.keys[0], r.reason)
		}
	}
}
