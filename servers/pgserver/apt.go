package pgserver

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"net/url"
	"os"
	"os/exec"
	"path/filepath"
	"strconv"
	"strings"
	"time"
)

// apt runs Debian's package tools on lists and caches of its own below one folder. From the system it reads the
// configured sources, their keys, and which packages are installed; it changes nothing there and needs no root.
type apt struct {
	work   string
	config string
}

type aptPackage struct {
	name string
	size int64 // bytes
}

func onPath(program string) bool {
	_, err := exec.LookPath(program)
	return err == nil
}

// aptConfig is read after the system's own configuration. Its hooks are cleared: they would run with our rights and
// work on the system's folders, not ours.
const aptConfig = `
#clear APT::Update::Pre-Invoke;
#clear APT::Update::Post-Invoke;
#clear APT::Update::Post-Invoke-Success;
#clear DPkg::Pre-Invoke;
#clear DPkg::Post-Invoke;
#clear AptCli::Hooks;
Dir::State "%[1]s/state";
Dir::State::status "/var/lib/dpkg/status";
Dir::Cache "%[1]s/cache";
Dir::Log "%[1]s/log";
Debug::NoLocking "true";
APT::Sandbox::User "root";
APT::Install-Recommends "false";
Acquire::Languages "none";
Acquire::IndexTargets::deb::DEP-11::DefaultEnabled "false";
Acquire::IndexTargets::deb::CNF::DefaultEnabled "false";
`

func newApt(work string) (apt, error) {
	for _, folder := range []string{"state/lists/partial", "cache/archives/partial", "log", "packages"} {
		if err := os.MkdirAll(filepath.Join(work, folder), 0o755); err != nil {
			return apt{}, err
		}
	}
	config := filepath.Join(work, "apt.conf")
	return apt{work: work, config: config}, os.WriteFile(config, fmt.Appendf(nil, aptConfig, work), 0o644)
}

// get runs apt-get and returns what it printed; the error ends with what it complained about.
func (a apt) get(ctx context.Context, args ...string) ([]byte, error) {
	cmd := exec.CommandContext(ctx, "apt-get", append([]string{"-c", a.config, "-qq"}, args...)...)
	cmd.Dir = filepath.Join(a.work, "packages")
	cmd.Env = append(os.Environ(), "LC_ALL=C", "DEBIAN_FRONTEND=noninteractive")
	return run(ctx, cmd)
}

func run(ctx context.Context, cmd *exec.Cmd) ([]byte, error) {
	var complaints bytes.Buffer
	cmd.Stderr = &complaints
	// A killed apt-get leaves its download methods behind for a moment, which hold the output open.
	cmd.WaitDelay = 2 * time.Second
	out, err := cmd.Output()
	if err != nil {
		err = errors.Join(context.Cause(ctx), err)
		return nil, fmt.Errorf("%s: %w: %s", filepath.Base(cmd.Path), err, strings.TrimSpace(complaints.String()))
	}
	return out, nil
}

// resolve reads the package lists anew and returns the package with all that it needs and that is not installed.
func (a apt) resolve(ctx context.Context, name string) ([]aptPackage, error) {
	if _, err := a.get(ctx, "update"); err != nil {
		return nil, err
	}
	out, err := a.get(ctx, "--print-uris", "--yes", "install", name)
	if err != nil {
		return nil, err
	}
	return parseURIs(string(out)), nil
}

// parseURIs reads lines such as: 'address' libpq5_15.18-0+deb12u1_amd64.deb 205248 SHA256:...
func parseURIs(text string) []aptPackage {
	var packages []aptPackage
	for line := range strings.Lines(text) {
		fields := strings.Fields(line)
		if len(fields) < 3 || !strings.HasPrefix(fields[0], "'") {
			continue
		}
		name, _, found := strings.Cut(fields[1], "_")
		size, err := strconv.ParseInt(fields[2], 10, 64)
		if unescaped, escapeErr := url.PathUnescape(name); found && err == nil && escapeErr == nil {
			packages = append(packages, aptPackage{name: unescaped, size: size})
		}
	}
	return packages
}

// unpack downloads the packages, which apt-get checks against the signed lists, and unpacks them into one folder.
func (a apt) unpack(ctx context.Context, packages []aptPackage) (string, error) {
	args := []string{"download"}
	for _, p := range packages {
		args = append(args, p.name)
	}
	if _, err := a.get(ctx, args...); err != nil {
		return "", err
	}
	files, _ := filepath.Glob(filepath.Join(a.work, "packages", "*.deb"))
	if len(files) < len(packages) {
		return "", fmt.Errorf("apt-get download: %d packages asked for, %d came", len(packages), len(files))
	}
	root := filepath.Join(a.work, "root")
	for _, file := range files {
		if _, err := run(ctx, exec.CommandContext(ctx, "dpkg-deb", "--extract", file, root)); err != nil {
			return "", err
		}
	}
	// Unpacked by root or under a strict umask, the top folder may be closed to the account that the server runs as.
	return root, os.Chmod(root, 0o755)
}
