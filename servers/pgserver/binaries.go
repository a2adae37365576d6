package pgserver

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"slices"
	"strconv"
	"strings"

	"github.com/satchel-go/satchel/servers/internal/cache"
	"github.com/satchel-go/satchel/servers/internal/daemon"
	"github.com/satchel-go/satchel/servers/internal/sources"
)

// folders are where packages put PostgreSQL's programs without putting them on PATH.
var folders = [...]string{
	"/usr/lib/postgresql/*/bin",              // Debian, Ubuntu
	"/usr/pgsql-*/bin",                       // PostgreSQL's own packages for Red Hat
	"/usr/local/pgsql/bin",                   // built from source
	"/opt/homebrew/opt/postgresql*/bin",      // Homebrew on Apple silicon
	"/usr/local/opt/postgresql*/bin",         // Homebrew on Intel
	"/Library/PostgreSQL/*/bin",              // the installer for macOS
	"/Applications/Postgres.app/C*/V*/*/bin", // Postgres.app
}

// binaries are the programs of one version, and the environment that they need.
type binaries struct {
	bin         string
	libraryPath string // where programs that are not installed find their libraries; empty for installed ones
}

// local starts the programs that are on this machine.
func (o Options) local(ctx context.Context) (*Server, error) {
	if bin := os.Getenv(EnvBin); bin != "" {
		server, err := o.start(ctx, binaries{bin: bin}, "local binaries "+bin)
		if err != nil {
			return nil, sources.Final(fmt.Errorf("%s: %w", EnvBin, err))
		}
		return server, nil
	}
	var failures []error
	for _, bin := range candidates() {
		server, err := o.start(ctx, binaries{bin: bin}, "local binaries "+bin)
		if err == nil {
			return server, nil
		}
		failures = append(failures, fmt.Errorf("%s: %w", bin, err))
	}
	if len(failures) == 0 {
		return nil, ErrNoBinaries
	}
	return nil, errors.Join(failures...)
}

// candidates lists the folders that hold postgres and initdb: that of PATH first, then the newest version first.
func candidates() []string {
	var list []string
	if path, err := exec.LookPath("postgres"); err == nil {
		if real, err := filepath.EvalSymlinks(path); err == nil && !cached(real) {
			list = append(list, filepath.Dir(real))
		}
	}
	var installed []string
	for _, pattern := range folders {
		found, _ := filepath.Glob(pattern) // errors only for a malformed pattern
		installed = append(installed, found...)
	}
	slices.SortStableFunc(installed, func(a, b string) int { return cmp.Compare(major(b), major(a)) })
	for _, bin := range installed {
		if !slices.Contains(list, bin) {
			list = append(list, bin)
		}
	}
	return slices.DeleteFunc(list, func(bin string) bool { return !complete(bin) })
}

// cached reports whether a program is one that was unpacked into a cache folder: it is on PATH for the sake of its
// neighbours, and as a server needs the libraries that were unpacked with it.
func cached(program string) bool {
	for _, folder := range cache.Folders() {
		if real, err := filepath.EvalSymlinks(folder); err == nil && strings.HasPrefix(program, real+string(filepath.Separator)) {
			return true
		}
	}
	return false
}

// complete reports whether a server can be made with the folder's programs.
func complete(bin string) bool {
	for _, program := range []string{"postgres", "initdb"} {
		if _, err := exec.LookPath(filepath.Join(bin, program)); err != nil {
			return false
		}
	}
	return true
}

var number = regexp.MustCompile(`\d+`)

// major reads the version from the folder's name, the last number in it; 0 without one.
func major(bin string) int {
	numbers := number.FindAllString(bin, -1)
	if len(numbers) == 0 {
		return 0
	}
	n, _ := strconv.Atoi(numbers[len(numbers)-1])
	return n
}

var versionLine = regexp.MustCompile(`\(PostgreSQL\) (\S+)`)

// version asks the program itself.
func (b binaries) version(ctx context.Context) (string, error) {
	cmd := exec.CommandContext(ctx, filepath.Join(b.bin, "postgres"), "--version")
	cmd.Env = b.environment("/")
	out, err := cmd.Output()
	if err != nil {
		return "", fmt.Errorf("ask for the version: %w", err)
	}
	match := versionLine.FindSubmatch(out)
	if match == nil {
		return "", errors.New("ask for the version: the answer is not PostgreSQL's")
	}
	return string(match[1]), nil
}

// environment is all that the programs see. PGDATA, PGPORT and the like of a developer's shell must not reach them.
func (b binaries) environment(home string) []string {
	env := []string{"PATH=/usr/local/bin:/usr/bin:/bin", "HOME=" + home, "LC_ALL=C", "TZ=UTC"}
	if b.libraryPath != "" {
		env = append(env, "LD_LIBRARY_PATH="+b.libraryPath)
	}
	return env
}

// reachable explains why the account that the server runs as cannot use the programs, if so.
func (b binaries) reachable(u *daemon.User) error {
	if u.Reachable(b.bin) {
		return nil
	}
	if u == nil {
		return fmt.Errorf("folder %s cannot be opened", b.bin)
	}
	return fmt.Errorf("folder %s is out of reach for the account %s, which the server runs as", b.bin, u.Name)
}
