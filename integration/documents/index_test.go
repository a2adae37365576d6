package documents

import (
	"go/ast"
	"go/parser"
	"go/token"
	"io/fs"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"testing"
)

// index is what the repository has names for.
type index struct {
	files    map[string]bool            // every file and folder, relative to the repository
	words    map[string]bool            // declared in Go, in a literal of Go, or in a file that is not Go
	names    map[string]map[string]bool // of a package or a type: what is declared in it
	tests    map[string]map[string]bool // of a folder: its test functions
	checks   map[string]bool            // the literals of core/storetest
	packages map[string][]string        // by name: the folders of packages, dependencies included
	loaded   map[string]bool            // packages whose declarations are in names
}

var word = regexp.MustCompile(`[\pL_][\pL\pN_]*`)

func newIndex(t *testing.T) *index {
	t.Helper()
	x := &index{
		files: map[string]bool{}, words: map[string]bool{}, names: map[string]map[string]bool{}, tests: map[string]map[string]bool{},
		checks: map[string]bool{}, packages: map[string][]string{}, loaded: map[string]bool{},
	}
	err := filepath.WalkDir(root, func(path string, entry fs.DirEntry, err error) error {
		if err != nil {
			return err
		}
		name, err := filepath.Rel(root, path)
		if err != nil {
			return err
		}
		if entry.IsDir() && (name == ".git" || name == ".cache" || name == "integration/documents") {
			return filepath.SkipDir
		}
		x.files[name] = true
		switch ext := filepath.Ext(name); {
		case entry.IsDir() || ext == ".md" || ext == ".sum" || ext == ".svg" || strings.HasPrefix(name, "benchmarks/results"):
			return nil
		case ext == ".go":
			return x.addGo(path, filepath.Dir(name), true)
		}
		doc, err := os.ReadFile(path)
		x.addWords(string(doc))
		return err
	})
	if err != nil {
		t.Fatal(err)
	}
	x.findPackages(t)
	return x
}

func (x *index) addWords(text string) {
	for _, w := range word.FindAllString(text, -1) {
		x.words[strings.Trim(w, "_")] = true
	}
}

// findPackages finds every package that our modules import, tests included.
func (x *index) findPackages(t *testing.T) {
	t.Helper()
	cmd := exec.CommandContext(t.Context(), "go", "list", "-e", "-deps", "-test", "-f", `{{.Name}} {{.Dir}}`, repository+"/...")
	cmd.Dir, cmd.Env = root, append(os.Environ(), "GOWORK=")
	out, err := cmd.Output()
	if err != nil {
		t.Fatal(err)
	}
	for line := range strings.Lines(string(out)) {
		name, dir, _ := strings.Cut(strings.TrimSpace(line), " ")
		if !slices.Contains(x.packages[name], dir) {
			x.packages[name] = append(x.packages[name], dir)
		}
	}
}

// load adds what the packages declare that a document names.
func (x *index) load(t *testing.T, d *document) {
	t.Helper()
	for _, m := range qualified.FindAllSubmatch(d.source, -1) {
		name := string(m[1])
		if x.loaded[name] {
			continue
		}
		x.loaded[name] = true
		for _, dir := range x.packages[name] {
			for _, source := range glob(t, filepath.Join(dir, "*.go")) {
				if strings.HasSuffix(source, "_test.go") {
					continue
				}
				if err := x.addGo(source, "", false); err != nil {
					t.Fatal(err)
				}
			}
		}
	}
}

// addGo adds what a file declares, and of our own files also the words in its literals.
func (x *index) addGo(path, dir string, own bool) error {
	mode := parser.SkipObjectResolution
	if own {
		mode |= parser.ParseComments
	}
	file, err := parser.ParseFile(token.NewFileSet(), path, nil, mode)
	if err != nil {
		return err
	}
	scope := file.Name.Name
	declare := func(in string, id *ast.Ident) {
		if x.names[in] == nil {
			x.names[in] = map[string]bool{}
		}
		x.names[in][id.Name] = true
		if own {
			x.words[id.Name] = true
		}
	}
	declare(scope, file.Name)
	for _, d := range file.Decls {
		switch d := d.(type) {
		case *ast.FuncDecl:
			if d.Recv == nil {
				declare(scope, d.Name)
			} else {
				declare(receiver(d.Recv.List[0].Type), d.Name)
			}
			if own && d.Recv == nil && strings.HasPrefix(d.Name.Name, "Test") {
				if x.tests[dir] == nil {
					x.tests[dir] = map[string]bool{}
				}
				x.tests[dir][d.Name.Name] = true
			}
		case *ast.GenDecl:
			for _, s := range d.Specs {
				switch s := s.(type) {
				case *ast.TypeSpec:
					declare(scope, s.Name)
					ast.Inspect(s.Type, func(n ast.Node) bool {
						if f, ok := n.(*ast.Field); ok {
							for _, id := range f.Names {
								declare(s.Name.Name, id)
							}
						}
						return true
					})
				case *ast.ValueSpec:
					for _, id := range s.Names {
						declare(scope, id)
					}
				}
			}
		}
	}
	if own {
		x.addTags(file)
		ast.Inspect(file, func(n ast.Node) bool {
			if lit, ok := n.(*ast.BasicLit); ok && lit.Kind == token.STRING {
				x.addWords(lit.Value)
				if text, err := strconv.Unquote(lit.Value); err == nil && dir == "core/storetest" {
					x.checks[text] = true
				}
			}
			return true
		})
	}
	return nil
}

// addTags adds the build tags that a file wants.
func (x *index) addTags(file *ast.File) {
	for _, group := range file.Comments {
		for _, c := range group.List {
			if strings.HasPrefix(c.Text, "//go:build ") {
				x.addWords(c.Text)
			}
		}
	}
}

// receiver returns the name of a method's type.
func receiver(e ast.Expr) string {
	for {
		switch t := e.(type) {
		case *ast.StarExpr:
			e = t.X
		case *ast.IndexExpr:
			e = t.X
		case *ast.Ident:
			return t.Name
		default:
			return ""
		}
	}
}
