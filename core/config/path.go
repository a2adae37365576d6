package config

import (
	"fmt"
	"slices"
	"strconv"
	"strings"

	"github.com/satchel-go/satchel/core/fault"
)

// node is a section, or a key if it has a rule.
type node struct {
	rule  rule
	names []string // what a section has, in the order of the documentation
}

// index has the nodes by path; the root is the empty path. It is never changed.
var index = func() map[string]*node {
	nodes := map[string]*node{"": {}}
	for _, k := range keys {
		path := ""
		for _, name := range strings.Split(k.path, ".") {
			parent := nodes[path]
			if path = join(path, name); nodes[path] == nil {
				nodes[path] = &node{}
				parent.names = append(parent.names, name)
			}
		}
		nodes[k.path].rule = k.rule
	}
	return nodes
}()

// maxName is the length to which a foreign key is cut in an error.
const maxName = 64

// join appends a key to a path. A key that does not look like one is cut and quoted,
// so that it can neither be taken for a path nor spoil a log.
func join(path, name string) string {
	if !plain(name) {
		name = strconv.QuoteToASCII(fault.Clean(name, maxName))
	}
	if path == "" {
		return name
	}
	return path + "." + name
}

func plain(name string) bool {
	if name == "" || len(name) > maxName {
		return false
	}
	return strings.IndexFunc(name, func(r rune) bool {
		return (r < 'a' || r > 'z') && (r < 'A' || r > 'Z') && (r < '0' || r > '9') && r != '_' && r != '-'
	}) < 0
}

// few is the size up to which a section is shown in full when no key of it is close.
const few = 3

// unknown is the reason for refusing a key that the section at path does not have.
func unknown(path, name string) string {
	names := index[path].names
	best, distance := "", 0
	for _, candidate := range names {
		if d := apart(name, candidate); best == "" || d < distance {
			best, distance = candidate, d
		}
	}
	switch {
	case distance <= max(2, len(best)/4) && distance < len(best):
		return fmt.Sprintf("is not a known key; did you mean %s?", join(path, best))
	case len(names) <= few:
		return "is not a known key; known here: " + strings.Join(names, ", ")
	default:
		return "is not a known key"
	}
}

// apart is the number of letters to insert, delete or replace to make b of a, not
// counting case and separators, which people mix up most.
func apart(a, b string) int {
	a, b = squash(a), squash(b)
	row := make([]int, len(b)+1)
	for j := range row {
		row[j] = j
	}
	for i := range len(a) {
		diagonal := row[0]
		row[0] = i + 1
		for j := range len(b) {
			cost := diagonal
			if a[i] != b[j] {
				cost++
			}
			diagonal = row[j+1]
			row[j+1] = slices.Min([]int{cost, row[j] + 1, row[j+1] + 1})
		}
	}
	return row[len(b)]
}

func squash(s string) string {
	// A long key is close to nothing; cut, it costs little to find that out.
	s = strings.ToLower(s[:min(len(s), maxName)])
	return strings.NewReplacer("-", "", "_", "").Replace(s)
}
