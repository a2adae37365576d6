package documents

import (
	"fmt"
	"os"
	"path/filepath"
	"regexp"
	"strings"

	"github.com/satchel-go/satchel/wiring/settings"
)

// rule says how one kind of command is checked.
type rule struct {
	form  *regexp.Regexp
	check func(s *shell, c command, submatches []string) error
}

// rules are all kinds of commands. The first that fits counts.
func rules() []rule {
	return []rule{
		{regexp.MustCompile(`^make help$`), (*shell).run},
		{regexp.MustCompile(`^make ([a-z][a-z/-]*)((?: [A-Z]+=\S+)*)$`), (*shell).make},
		{regexp.MustCompile(`^(go run \S+/servers/cmd/with .*?) -- (.+)$`), (*shell).with},
		{regexp.MustCompile(`^go run (\S+)(.*)$`), (*shell).program},
		{regexp.MustCompile(`^(satchel-migrate)(.*)$`), (*shell).program},
		{regexp.MustCompile(`^go test( -race)? \./\.\.\.$`), (*shell).testModule},
		{regexp.MustCompile(`^go test -run (\S+) .*\.$`), (*shell).testOne},
		{regexp.MustCompile(`^go tool wire (?:diff )?\./\.\.\.$`), (*shell).wire},
		{regexp.MustCompile(`^go tool (\w+)$`), (*shell).tool},
		{regexp.MustCompile(`^go get (?:-tool )?(\S+)$`), (*shell).get},
		{regexp.MustCompile(`^export (\S+=.*)$`), (*shell).export},
		{regexp.MustCompile(`^atlas (?:migrate|schema) .*`), (*shell).external},
		{regexp.MustCompile(`^goose .*-dir (\S+) .*`), (*shell).external},
		{regexp.MustCompile(`^migrate .*-path (\S+) .*`), (*shell).external},
	}
}

var flagsFirst = regexp.MustCompile(`(?m)^usage: \S+ \[flags\] `)

// run executes the command.
func (s *shell) run(c command, _ []string) error {
	out, err := s.output(root, "sh", "-c", c.line)
	if err != nil {
		return fmt.Errorf("%w\n%s", err, out)
	}
	return nil
}

// make is for targets that take long: they exist, know their variables, and it is said who
// runs them.
func (s *shell) make(c command, m []string) error {
	out, err := s.output(root, "make", append([]string{"-n", m[1]}, strings.Fields(m[2])...)...)
	if err != nil {
		return fmt.Errorf("%w\n%s", err, out)
	}
	for _, variable := range strings.Fields(m[2]) {
		name, _, _ := strings.Cut(variable, "=")
		if !strings.Contains(s.makefile, "$("+name+")") {
			return fmt.Errorf("the Makefile has no variable %s", name)
		}
	}
	if !regexp.MustCompile(`(?m)^make -s ` + m[1] + `$`).MatchString(s.build) {
		s.t.Logf("%s: %s: not executed, and not by .ci/run either", c.where, c.line)
	}
	return nil
}

// with checks the command that starts servers, and the one that it is given.
func (s *shell) with(c command, m []string) error {
	c.line = m[1]
	if err := s.judge(c); err != nil {
		return err
	}
	c.line = m[2]
	return s.judge(c)
}

// program checks that a program compiles and that each flag is one where it stands.
func (s *shell) program(c command, m []string) error {
	program, err := s.compile(c, m[1])
	if err != nil {
		return err
	}
	args := strings.Fields(strings.NewReplacer("[", "", "]", "", "'", "").Replace(m[2]))
	for i, arg := range args {
		if !strings.HasPrefix(arg, "-") {
			continue
		}
		help, _ := s.output(root, program, append(args[:i:i], "-h")...)
		if !regexp.MustCompile(`(?m)^  `+arg+`\b`).MatchString(help) || flagsFirst.MatchString(help) && !strings.HasPrefix(args[0], "-") {
			return fmt.Errorf("%s is no flag here\n%s", arg, help)
		}
	}
	return nil
}

// compile builds the program of a package path, or the command of ours with that name.
func (s *shell) compile(c command, name string) (string, error) {
	dirs := c.dirs
	if rest, ours := strings.CutPrefix(name, repository+"/"); ours {
		name, dirs = "./"+rest, []string{root}
	} else if !strings.Contains(name, "/") {
		found, _ := filepath.Glob(filepath.Join(root, "*", "*", "cmd", name))
		if len(found) != 1 {
			return "", fmt.Errorf("there is no command %s", name)
		}
		name, dirs = "./", found
	}
	for _, dir := range dirs {
		path, err := filepath.Abs(filepath.Join(dir, name))
		if err != nil {
			return "", err
		}
		if _, err := os.Stat(path); err != nil {
			continue
		}
		if s.programs[path] == "" {
			program := filepath.Join(s.t.TempDir(), filepath.Base(path))
			if out, err := s.output(path, "go", "build", "-o", program, "."); err != nil {
				return "", fmt.Errorf("%w\n%s", err, out)
			}
			s.programs[path] = program
		}
		return s.programs[path], nil
	}
	return "", fmt.Errorf("there is no %s in %v", name, dirs)
}

// testModule is for all tests of a module: those of our modules are run by make test.
func (s *shell) testModule(c command, _ []string) error {
	module, err := filepath.Rel(root, c.dirs[0])
	if err != nil {
		return err
	}
	if !regexp.MustCompile(`MODULES\s+:=(?:.*\\\n)*.* ` + regexp.QuoteMeta(module) + `\s`).MatchString(s.makefile) {
		return fmt.Errorf("make test does not test %s", module)
	}
	return nil
}

// testOne checks that there are such tests.
func (s *shell) testOne(c command, m []string) error {
	pattern, _, _ := strings.Cut(strings.Trim(m[1], "'"), "/")
	var outs string
	for _, dir := range c.dirs {
		out, err := s.output(dir, "go", "test", "-list", pattern, ".")
		if err == nil && strings.HasPrefix(out, "Test") {
			return nil
		}
		outs += out
	}
	return fmt.Errorf("no such test\n%s", outs)
}

// wire is executed by make verify, and on the injector of a document by TestFrames.
func (s *shell) wire(command, []string) error {
	if !strings.Contains(s.makefile, "$(GO) tool wire diff ./...") || !strings.Contains(s.build, "\nmake -s verify\n") {
		return fmt.Errorf("make verify does not run wire any more")
	}
	return nil
}

// tool checks that Go has the tool.
func (s *shell) tool(c command, m []string) error {
	out, err := s.output(c.dirs[0], "go", "tool", "-n", m[1])
	if err != nil {
		return fmt.Errorf("%w\n%s", err, out)
	}
	return nil
}

// get gets a module, into a module of its own.
func (s *shell) get(c command, _ []string) error {
	out, err := s.output(s.t.TempDir(), "sh", "-ec", "export GOFLAGS=-mod=mod GOWORK=off; go mod init example.com/reader; "+c.line)
	if err != nil {
		return fmt.Errorf("%w\n%s", err, out)
	}
	return nil
}

// export loads settings, which are explained by their key, and finds other variables in the
// build.
func (s *shell) export(_ command, m []string) error {
	if setting, comment, _ := strings.Cut(m[1], "#"); strings.HasPrefix(setting, "SATCHEL__") {
		setting = strings.TrimSpace(setting)
		name, _, _ := strings.Cut(setting, "=")
		if key := strings.TrimSpace(comment); settings.EnvName(key) != name {
			return fmt.Errorf("%s is not the variable of %q", name, key)
		}
		_, err := settings.Load(settings.Sources{Environ: []string{setting}})
		return err
	}
	known, err := os.ReadFile(filepath.Join(root, "atlas.hcl"))
	if err != nil {
		return err
	}
	for _, v := range regexp.MustCompile(`\b([A-Z_]+)=`).FindAllStringSubmatch(m[1], -1) {
		if !strings.Contains(string(known), `"`+v[1]+`"`) {
			return fmt.Errorf("nothing reads %s", v[1])
		}
	}
	return nil
}

// external is for the command lines of other tools, which no module of ours requires. What
// they are given must exist; integration/layouts and schema/migrator apply the same files
// with the libraries of the same tools.
func (s *shell) external(c command, m []string) error {
	s.t.Logf("%s: %s: not executed: the tool is not there", c.where, c.line)
	project, err := os.ReadFile(filepath.Join(root, "atlas.hcl"))
	if err != nil {
		return err
	}
	for _, env := range regexp.MustCompile(`--env (\w+)`).FindAllStringSubmatch(c.line, -1) {
		if !strings.Contains(string(project), `env "`+env[1]+`"`) {
			return fmt.Errorf("atlas.hcl has no env %s", env[1])
		}
	}
	for _, folder := range m[1:] {
		if _, err := os.Stat(filepath.Join(root, folder)); err != nil {
			return err
		}
	}
	return nil
}
