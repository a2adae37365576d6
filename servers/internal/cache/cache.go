// Package cache chooses the folder for downloads that are kept between runs.
package cache

import (
	"errors"
	"fmt"
	"os"
	"path/filepath"

	"github.com/satchel-go/satchel/servers/internal/daemon"
)

// shared is where root's downloads go when root's own cache is closed to the account that servers run as.
const shared = "/var/cache/satchel"

// Folders lists where downloads may already be: the user's cache folder, then the shared one.
func Folders() []string {
	var list []string
	if base, err := os.UserCacheDir(); err == nil {
		list = append(list, filepath.Join(base, "satchel"))
	}
	return append(list, shared)
}

// Writable makes and returns the first folder of Folders that this process can write and the user can read.
func Writable(u *daemon.User) (string, error) {
	var failures []error
	for _, folder := range Folders() {
		if err := usable(folder, u); err != nil {
			failures = append(failures, fmt.Errorf("%s: %w", folder, err))
			continue
		}
		return folder, nil
	}
	return "", fmt.Errorf("no cache folder: %w", errors.Join(failures...))
}

func usable(folder string, u *daemon.User) error {
	if err := os.MkdirAll(folder, 0o755); err != nil {
		return err
	}
	if !u.Reachable(folder) {
		return errors.New("out of reach for the account that servers run as")
	}
	probe, err := os.MkdirTemp(folder, ".probe-")
	if err != nil {
		return err
	}
	return os.Remove(probe)
}
