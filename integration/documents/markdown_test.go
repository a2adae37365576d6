package documents

import (
	"bytes"
	"fmt"
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"testing"

	"github.com/yuin/goldmark"
	"github.com/yuin/goldmark/ast"
	"github.com/yuin/goldmark/extension"
	extast "github.com/yuin/goldmark/extension/ast"
	"github.com/yuin/goldmark/text"

	"github.com/satchel-go/satchel/postgrestest"
)

func TestMain(m *testing.M) { postgrestest.Main(m) }

// root is the repository, seen from this folder.
const root = "../.."

// patterns are the documents, relative to the repository.
var patterns = []string{"*.md", "docs/*.md", "*/README.md", "examples/*/README.md"}

// foreign are headings under which the first column of a table names things of others.
var foreign = []string{"Coming from the Dagger modules"}

// document is one file, taken apart.
type document struct {
	path   string // relative to the repository
	source []byte
	blocks []block
	spans  []span
	links  []span
}

// block is a fenced or an indented block of code.
type block struct {
	where string // file and line
	lang  string // "sh" if it is indented; see parse for a whole program
	text  string
}

// span is code in a line of text, or the target of a link.
type span struct {
	where  string
	text   string
	around string // the paragraph or the cell of a table
}

// dir is the folder of the document.
func (d *document) dir() string { return filepath.Join(root, filepath.Dir(d.path)) }

// documents returns all documents.
func documents(t *testing.T) (all []*document) {
	t.Helper()
	for _, pattern := range patterns {
		paths, err := filepath.Glob(filepath.Join(root, pattern))
		if err != nil {
			t.Fatal(err)
		}
		for _, path := range paths {
			source, err := os.ReadFile(path)
			if err != nil {
				t.Fatal(err)
			}
			name, err := filepath.Rel(root, path)
			if err != nil {
				t.Fatal(err)
			}
			all = append(all, parse(name, source))
		}
	}
	if len(all) < 15 {
		t.Fatalf("found only %d documents", len(all))
	}
	return all
}

func parse(path string, source []byte) *document {
	d := &document{path: path, source: source}
	tree := goldmark.New(goldmark.WithExtensions(extension.Table)).Parser().Parse(text.NewReader(source))
	heading := ""
	_ = ast.Walk(tree, func(n ast.Node, entering bool) (ast.WalkStatus, error) {
		if !entering {
			return ast.WalkContinue, nil
		}
		switch n := n.(type) {
		case *ast.Heading:
			heading = content(n, source)
		case *ast.FencedCodeBlock:
			d.block(n, string(n.Language(source)))
		case *ast.CodeBlock:
			d.block(n, "sh")
		case *ast.Link:
			d.links = append(d.links, span{where: d.where(n), text: string(n.Destination)})
		case *ast.Image:
			d.links = append(d.links, span{where: d.where(n), text: string(n.Destination)})
		case *ast.CodeSpan:
			if !isForeign(heading, n) {
				d.spans = append(d.spans, span{d.where(n), strings.Trim(content(n, source), "`"), around(n, source)})
			}
		}
		return ast.WalkContinue, nil
	})
	for i, b := range d.blocks {
		if b.lang == "go" && strings.HasPrefix(b.text, "package ") && i+2 < len(d.blocks) {
			for j, kind := range []string{"program", "commands of program", "output of program"} {
				d.blocks[i+j].lang = kind
			}
		}
	}
	return d
}

func (d *document) block(n ast.Node, lang string) {
	d.blocks = append(d.blocks, block{d.where(n), lang, string(n.Lines().Value(d.source))})
}

// where returns the line of a node: that of the first text in it.
func (d *document) where(n ast.Node) string {
	start := 0
	_ = ast.Walk(n, func(n ast.Node, _ bool) (ast.WalkStatus, error) {
		if n.Type() == ast.TypeBlock && n.Lines().Len() > 0 {
			start = n.Lines().At(0).Start
		} else if leaf, ok := n.(*ast.Text); ok {
			start = leaf.Segment.Start
		} else {
			return ast.WalkContinue, nil
		}
		return ast.WalkStop, nil
	})
	return fmt.Sprintf("%s:%d", d.path, 1+bytes.Count(d.source[:start], []byte("\n")))
}

// content returns the text in a node, in one line.
func content(n ast.Node, source []byte) string {
	var b strings.Builder
	_ = ast.Walk(n, func(n ast.Node, entering bool) (ast.WalkStatus, error) {
		switch n := n.(type) {
		case *ast.Text:
			if entering {
				b.Write(n.Value(source))
				if n.SoftLineBreak() {
					b.WriteByte(' ')
				}
			}
		case *ast.String:
			if entering {
				b.Write(n.Value)
			}
		case *ast.CodeSpan:
			b.WriteByte('`')
		}
		return ast.WalkContinue, nil
	})
	return strings.ReplaceAll(b.String(), "\n", " ")
}

func around(n ast.Node, source []byte) string {
	for n.Type() == ast.TypeInline {
		n = n.Parent()
	}
	return content(n, source)
}

func isForeign(heading string, n ast.Node) bool {
	for n.Type() == ast.TypeInline {
		n = n.Parent()
	}
	cell, ok := n.(*extast.TableCell)
	if !ok || cell.PreviousSibling() != nil {
		return false
	}
	for _, name := range foreign {
		if heading == name {
			return true
		}
	}
	return false
}

// picture matches what is drawn.
var picture = regexp.MustCompile(`[─│┌└►▶▲▼]`)

// Every block is of a kind that some test executes.
func TestBlocks(t *testing.T) {
	t.Parallel()
	for _, d := range documents(t) {
		for _, b := range d.blocks {
			switch b.lang {
			case "go", "sql", "json", "yaml", "sh", "console", "program", "commands of program", "output of program":
			case "text":
				if !picture.MatchString(b.text) {
					t.Errorf("%s: text that is neither a picture nor the output of a program", b.where)
				}
			default:
				t.Errorf("%s: nothing executes a block in the language %q", b.where, b.lang)
			}
		}
	}
}
