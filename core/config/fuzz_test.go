package config_test

import (
	"encoding/json"
	"testing"

	"github.com/satchel-go/satchel/core/config"
	"github.com/satchel-go/satchel/core/fault"
)

// Whatever the document: no panic, and either a *fault.Invalid and no tree, or a tree
// that is valid, that every part accepts, and that can be written and read again.
func FuzzParse(f *testing.F) {
	for path, tc := range keyTests {
		for _, value := range append(tc.accepted, tc.refused...) {
			f.Add(document(path, value))
		}
	}
	f.Add([]byte(`{"db": {}, "db": {}}`))
	f.Add([]byte(`{"\ud800": [[{"a": 1, "a": 2}]]}`))
	f.Fuzz(func(t *testing.T, doc []byte) {
		tree, err := config.Parse(doc)
		if err != nil {
			if !fault.IsInvalid(err) || tree != (config.Tree{}) {
				t.Fatalf("error %v with %+v", err, tree)
			}
			return
		}
		if err := tree.Validate(); err != nil {
			t.Fatalf("accepted, but %v", err)
		}
		if err := validateSettings(tree); err != nil {
			t.Fatalf("accepted, but %v", err)
		}
		written, err := json.Marshal(tree)
		if err != nil {
			t.Fatal(err)
		}
		if again, err := config.Parse(written); err != nil || again != tree {
			t.Fatalf("%s came back as %+v, %v", written, again, err)
		}
		// Another loader's view of the same document gives the same tree.
		var m map[string]any
		if err := json.Unmarshal(doc, &m); err != nil {
			t.Fatal(err)
		}
		if loaded, err := config.FromMap(m); err != nil || loaded != tree {
			t.Fatalf("as a map: %+v, %v", loaded, err)
		}
	})
}
