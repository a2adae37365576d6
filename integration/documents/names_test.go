package documents

import (
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"testing"
)

// repository is the path that all modules have in common.
const repository = "github.com/satchel-go/satchel"

var (
	qualified = regexp.MustCompile(`\b([A-Za-z]\w*)\.([A-Z]\w*)(?:\.([A-Z]\w*))?`)
	pathLike  = regexp.MustCompile(`^[\w-][\w.-]*(/[\w.-]+)*(/|\.(go|sql|hcl|md|txt|json|mod|sum|work|yml))$`)
)

// others are words of documents that neither our files nor our imports explain.
var others = map[string]string{
	"HOST":                         "a placeholder",
	"IMAGE":                        "a placeholder",
	"P":                            "a placeholder",
	"PORT":                         "a placeholder",
	"Messaging":                    "a schema in mixed case",
	"HMAC":                         "a kind of signature",
	"dirty":                        "a flag of Atlas",
	"simple_protocol":              "a mode of pgx",
	"target_session_attrs":         "a parameter of PostgreSQL's connection strings",
	"TESTCONTAINERS_RYUK_DISABLED": "a variable of testcontainers",
}

// Whatever stands in code font is the name of something.
func TestNames(t *testing.T) {
	t.Parallel()
	x := newIndex(t)
	for _, d := range documents(t) {
		x.load(t, d)
		x.checkTests(t, d)
		for _, s := range d.spans {
			if isCommand(s.text) || isStatement(s.text) {
				continue // executed, or judged, as such
			}
			for _, miss := range x.misses(d, s.text) {
				t.Errorf("%s: `%s`: there is no %s", s.where, s.text, miss)
			}
		}
		for _, l := range d.links {
			target, _, _ := strings.Cut(l.text, "#")
			if strings.Contains(target, "://") {
				continue
			}
			if _, err := os.Stat(filepath.Join(d.dir(), target)); err != nil {
				t.Errorf("%s links to %s, which does not exist", l.where, l.text)
			}
		}
	}
}

// misses returns what a piece of code in a document names in vain.
func (x *index) misses(d *document, code string) (missing []string) {
	top, _, nested := strings.Cut(code, "/")
	switch {
	case x.isFile(d, code):
		return nil
	case pathLike.MatchString(code) || nested && x.files[top]:
		return []string{"file " + code}
	}
	if strings.HasSuffix(code, "…") {
		return nil // checkTests
	}
	rest := qualified.ReplaceAllStringFunc(code, func(name string) string {
		m := qualified.FindStringSubmatch(name)
		if !x.has(m[1], m[2]) || m[3] != "" && !x.has(m[2], m[3]) {
			missing = append(missing, name)
		}
		return ""
	})
	for _, w := range word.FindAllString(rest, -1) {
		if w = strings.Trim(w, "_"); w != "" && !x.words[w] && others[w] == "" {
			missing = append(missing, w)
		}
	}
	return missing
}

// has reports whether a package, a type or a field has something with that name.
func (x *index) has(owner, name string) bool {
	if x.names[owner][name] {
		return true
	}
	for _, names := range x.names { // a field of a field is declared with its type
		if names[owner] && names[name] && x.packages[owner] == nil {
			return true
		}
	}
	return false
}

// isFile reports whether there is such a file in the repository, beside the document, or as
// the end of some path.
func (x *index) isFile(d *document, name string) bool {
	name = strings.TrimSuffix(strings.TrimPrefix(name, repository+"/"), "/")
	if strings.Contains(name, "*") {
		found, err := filepath.Glob(filepath.Join(root, name))
		return err == nil && len(found) > 0
	}
	if x.files[name] || x.files[filepath.Join(filepath.Dir(d.path), name)] {
		return true
	}
	for path := range x.files {
		if strings.HasSuffix(path, "/"+name) {
			return true
		}
	}
	return false
}
