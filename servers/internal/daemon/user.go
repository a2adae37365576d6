package daemon

import (
	"fmt"
	"os"
	"os/user"
	"strconv"
	"syscall"
)

// User is the account that a server runs as when this process is root.
// A nil *User means: the account of this process.
type User struct {
	Name     string
	UID, GID uint32
}

// candidates are tried in order: the first that the system knows is taken.
var candidates = [...]string{"postgres", "nobody"}

// Unprivileged returns the account for servers: nil when this process is not root.
func Unprivileged() (*User, error) {
	if os.Geteuid() != 0 {
		return nil, nil
	}
	for _, name := range candidates {
		found, err := user.Lookup(name)
		if err != nil {
			continue
		}
		uid, uidErr := strconv.ParseUint(found.Uid, 10, 32)
		gid, gidErr := strconv.ParseUint(found.Gid, 10, 32)
		if uidErr != nil || gidErr != nil || uid == 0 {
			continue
		}
		return &User{Name: name, UID: uint32(uid), GID: uint32(gid)}, nil
	}
	return nil, fmt.Errorf("running as root, and none of the accounts %v exists to run a server as", candidates)
}

// credential is what the kernel is told; it drops root's supplementary groups too.
func (u *User) credential() *syscall.Credential {
	if u == nil {
		return nil
	}
	return &syscall.Credential{Uid: u.UID, Gid: u.GID, Groups: []uint32{u.GID}}
}

// own gives path to the user; for a nil user it already belongs to the right account.
func (u *User) own(path string) error {
	if u == nil {
		return nil
	}
	return os.Chown(path, int(u.UID), int(u.GID))
}
