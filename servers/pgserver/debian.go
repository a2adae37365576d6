package pgserver

import (
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"time"

	"github.com/satchel-go/satchel/servers/internal/cache"
	"github.com/satchel-go/satchel/servers/internal/daemon"
)

// fetchLimit bounds a download of some 30 MB.
const fetchLimit = 5 * time.Minute

// debian starts the programs of Debian's packages, which it fetches unless a cache folder has them.
// The packages are unpacked, not installed: no root is needed, and the system's package database does not change.
func (o Options) debian(ctx context.Context) (*Server, error) {
	user, err := daemon.Unprivileged()
	if err != nil {
		return nil, err
	}
	root, found := unpacked(user)
	if !found {
		if root, err = o.fetch(ctx, user); err != nil {
			return nil, err
		}
	}
	b, err := relocated(root)
	if err != nil {
		return nil, err
	}
	return o.start(ctx, b, "Debian packages unpacked in "+root)
}

// unpackedPrefix begins the name of a folder with unpacked packages; the major version follows.
const unpackedPrefix = "postgres-"

// unpacked returns the folder of an earlier download. A folder gets this name only when it is complete.
func unpacked(u *daemon.User) (string, bool) {
	for _, folder := range cache.Folders() {
		found, _ := filepath.Glob(filepath.Join(folder, unpackedPrefix+"*")) // errors only for a malformed pattern
		slices.SortFunc(found, func(a, b string) int { return major(b) - major(a) })
		for _, root := range found {
			if b, err := relocated(root); err == nil && b.reachable(u) == nil {
				return root, true
			}
		}
	}
	return "", false
}

// relocated returns the programs below root. They find their other files by their own place, and their libraries by
// the path given here.
func relocated(root string) (binaries, error) {
	bins, _ := filepath.Glob(filepath.Join(root, "usr/lib/postgresql/*/bin"))
	if len(bins) != 1 || !complete(bins[0]) {
		return binaries{}, fmt.Errorf("%s: %w", root, ErrNoBinaries)
	}
	libraries := []string{filepath.Join(filepath.Dir(bins[0]), "lib")}
	for _, pattern := range []string{"usr/lib/*-linux-*", "lib/*-linux-*"} { // one folder per architecture
		found, _ := filepath.Glob(filepath.Join(root, pattern))
		libraries = append(libraries, found...)
	}
	return binaries{bin: bins[0], libraryPath: strings.Join(libraries, ":")}, nil
}

// fetch downloads and unpacks the packages into a cache folder, and returns where they are. Two processes that fetch at
// once do the work twice; the first to finish wins.
func (o Options) fetch(ctx context.Context, u *daemon.User) (string, error) {
	ctx, cancel := context.WithTimeout(ctx, fetchLimit)
	defer cancel()
	if err := hasApt(); err != nil {
		return "", err
	}
	folder, err := cache.Writable(u)
	if err != nil {
		return "", err
	}
	work, err := os.MkdirTemp(folder, ".fetch-")
	if err != nil {
		return "", err
	}
	defer func() { _ = os.RemoveAll(work) }()

	a, err := newApt(work)
	if err != nil {
		return "", err
	}
	o.Logf("reading the package lists, to fetch PostgreSQL from Debian's packages")
	packages, err := a.resolve(ctx, "postgresql")
	if err != nil {
		return "", err
	}
	packages, version := needed(packages)
	if version == "" {
		return "", errors.New("the distribution has no package of a PostgreSQL server")
	}
	o.Logf("fetching PostgreSQL %s from Debian's packages, about %d MB, into %s", version, megabytes(packages), folder)
	root, err := a.unpack(ctx, packages)
	if err != nil {
		return "", err
	}
	target := filepath.Join(folder, unpackedPrefix+version)
	if err := os.Rename(root, target); err != nil && !errors.Is(err, os.ErrExist) {
		return "", err
	}
	return target, nil
}

// serverPackage begins the name of the package with the server itself; the major version follows.
const serverPackage = "postgresql-"

// needed keeps what a server that is only unpacked uses: itself, its client programs and its libraries. The compiler
// behind jit, by far the largest part, and what only serves an installation, stay out. The C library stays out because
// it must match the system's own loader.
func needed(all []aptPackage) (keep []aptPackage, version string) {
	unused := []string{"libllvm", "libz3-", "libc6", "libc-", "libperl", "libjson-", "libgdbm"}
	for _, p := range all {
		if v, ok := strings.CutPrefix(p.name, serverPackage); ok && number.FindString(v) == v {
			version = v
		}
	}
	for _, p := range all {
		program := p.name == serverPackage+version || p.name == "postgresql-client-"+version
		library := strings.HasPrefix(p.name, "lib") && !slices.ContainsFunc(unused, func(prefix string) bool {
			return strings.HasPrefix(p.name, prefix)
		})
		if program || library {
			keep = append(keep, p)
		}
	}
	return keep, version
}

func megabytes(packages []aptPackage) (sum int64) {
	for _, p := range packages {
		sum += p.size
	}
	return (sum + 999_999) / 1_000_000
}

// hasApt tells a system without Debian's tools from one where they fail.
func hasApt() error {
	for _, program := range []string{"apt-get", "dpkg-deb"} {
		if !onPath(program) {
			return fmt.Errorf("%w: no %s", errNotDebian, program)
		}
	}
	return nil
}

var errNotDebian = errors.New("not a Debian system")
