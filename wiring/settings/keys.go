package settings

import (
	"reflect"
	"strconv"
	"strings"

	"github.com/satchel-go/satchel/core/config"
)

// section is a part of the tree: a leaf when it has no children.
type section struct {
	children map[string]*section
	names    []string // of the children, in the order of the tree
	number   bool     // a leaf that holds a number
}

// known is the shape of the tree, read from its type so that it cannot fall behind.
var known = shapeOf(reflect.TypeFor[config.Tree]())

func shapeOf(t reflect.Type) *section {
	if t.Kind() != reflect.Struct {
		return &section{number: t.Kind() == reflect.Int}
	}
	s := &section{children: make(map[string]*section, t.NumField())}
	for i := range t.NumField() {
		name, _, _ := strings.Cut(t.Field(i).Tag.Get("json"), ",")
		s.names = append(s.names, name)
		s.children[name] = shapeOf(t.Field(i).Type)
	}
	return s
}

// each calls visit for every leaf, in the order of the tree.
func (s *section) each(prefix string, visit func(key string, leaf *section)) {
	for _, name := range s.names {
		child, key := s.children[name], prefix+name
		if child.children == nil {
			visit(key, child)
			continue
		}
		child.each(key+separator, visit)
	}
}

// find returns the leaf of a key, nil if there is none.
func (s *section) find(key string) *section {
	for part := range strings.SplitSeq(key, separator) {
		if s = s.children[part]; s == nil {
			return nil
		}
	}
	return s
}

// value turns the text of a variable or a flag into what the key takes. Text that is not
// a number stays text, for the tree to refuse, or to accept where a word has a meaning.
func (s *section) value(text string) any {
	if s != nil && s.number {
		if n, err := strconv.Atoi(strings.TrimSpace(text)); err == nil {
			return n
		}
	}
	return text
}
