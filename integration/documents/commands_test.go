package documents

import (
	"context"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"strings"
	"testing"

	"github.com/satchel-go/satchel/postgrestest"
)

// command is a line for a shell.
type command struct {
	where, line string
	dirs        []string // where it may have to be typed
}

var (
	folder  = regexp.MustCompile("`([\\w/-]+)`")
	begins  = regexp.MustCompile(`^(make|go (run|test|get|tool|build|mod)|atlas|satchel-migrate|psql|export) \S`)
	comment = regexp.MustCompile(`\s+#\s+(?:or: )?(.*)$`)
)

// isCommand reports whether code in a line of text is a command.
func isCommand(code string) bool { return begins.MatchString(code) }

// Every command in a document works, as far as that can be found out cheaply.
func TestCommands(t *testing.T) {
	t.Parallel()
	s := newShell(t)
	for _, c := range commands(t) {
		if err := s.judge(c); err != nil {
			t.Errorf("%s: %s: %v", c.where, c.line, err)
		}
	}
}

// What a document shows of a command's output is what it prints, numbers aside.
func TestConsole(t *testing.T) {
	t.Parallel()
	for _, d := range documents(t) {
		for _, b := range d.blocks {
			if b.lang != "console" {
				continue
			}
			t.Run(b.where, func(t *testing.T) {
				t.Parallel()
				for part := range strings.SplitSeq(strings.TrimPrefix(b.text, "$ "), "\n$ ") {
					command, want, _ := strings.Cut(part, "\n")
					got, err := newShell(t).output(root, "sh", "-c", small(command))
					if err != nil {
						t.Fatalf("%s: %v\n%s", command, err, got)
					}
					for line := range strings.Lines(want) {
						if !strings.Contains(numberless(got), numberless(line)) {
							t.Errorf("%s does not print (any more) %q\n%s", command, line, got)
						}
					}
				}
			})
		}
	}
}

// commands returns the commands in documents that are no part of a program's.
func commands(t *testing.T) (all []command) {
	t.Helper()
	for _, d := range documents(t) {
		here := []string{d.dir(), root}
		add := func(where, line string, dirs []string) {
			if m := comment.FindStringSubmatch(line); m != nil {
				if isCommand(m[1]) {
					all = append(all, command{where, m[1], dirs})
				}
				if !strings.HasPrefix(line, "export") {
					line = strings.TrimSuffix(line, m[0])
				}
			}
			all = append(all, command{where, line, dirs})
		}
		for _, b := range d.blocks {
			for line := range strings.SplitSeq(strings.TrimSpace(b.text), "\n") {
				cmd, prompt := strings.CutPrefix(line, "$ ")
				switch {
				case b.lang == "sh" && line != "" && !strings.HasPrefix(line, "#"), b.lang == "console" && prompt:
					add(b.where, strings.TrimSpace(cmd), here)
				}
			}
		}
		for _, s := range d.spans {
			if !isCommand(s.text) {
				continue
			}
			dirs := here // and the folders that the text names
			for _, m := range folder.FindAllStringSubmatch(s.around, -1) {
				if _, err := os.Stat(filepath.Join(root, m[1], "go.mod")); err == nil {
					dirs = append([]string{filepath.Join(root, m[1])}, dirs...)
				}
			}
			add(s.where, s.text, dirs)
		}
	}
	return all
}

// small returns a command that prints the same as a long one, in little time.
func small(line string) string {
	if strings.HasPrefix(line, "make demo") {
		return line + " ORDERS=100"
	}
	return strings.TrimSuffix(line, "make test") + "true"
}

// numberless returns a text without what differs from run to run and from machine to machine.
func numberless(text string) string {
	text = regexp.MustCompile(`(?m)^(postgres|redis|kafka): .*$`).ReplaceAllString(text, "$1: ...")
	text = regexp.MustCompile(`\b\d+\b`).ReplaceAllString(text, "N")
	return regexp.MustCompile(` +`).ReplaceAllString(text, " ")
}

// shell runs commands, as a reader would in a checkout.
type shell struct {
	t        *testing.T
	ctx      context.Context
	makefile string
	build    string            // the script of the continuous build
	server   string            // a PostgreSQL
	programs map[string]string // built, by path of the package
}

func newShell(t *testing.T) *shell {
	t.Helper()
	s := &shell{t: t, ctx: t.Context(), server: postgrestest.New(t).URL, programs: map[string]string{}}
	for path, into := range map[string]*string{"Makefile": &s.makefile, ".ci/run": &s.build} {
		doc, err := os.ReadFile(filepath.Join(root, path))
		if err != nil {
			t.Fatal(err)
		}
		*into = string(doc)
	}
	return s
}

func (s *shell) judge(c command) error {
	for _, r := range rules() {
		if m := r.form.FindStringSubmatch(c.line); m != nil {
			return r.check(s, c, m)
		}
	}
	return fmt.Errorf("no rule says how to check this command")
}

// output runs a command and returns everything that it printed.
func (s *shell) output(dir, name string, args ...string) (string, error) {
	cmd := exec.CommandContext(s.ctx, name, args...)
	cmd.Dir = dir
	cmd.Env = append(os.Environ(), "GOWORK=", "MAKEFLAGS=", "MAKELEVEL=", "SATCHEL_DATABASE_URL="+s.server)
	out, err := cmd.CombinedOutput()
	return string(out), err
}
