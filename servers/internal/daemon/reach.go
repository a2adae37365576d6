package daemon

import (
	"os"
	"path/filepath"
	"syscall"
)

// Reachable reports whether the user may look into folder: every folder on the way must let it pass, and the last one
// must let it read. Root's home, for one, usually does not, so programs and data below it are useless to a server that
// runs as somebody else. For a nil user it only asks whether this process can open the folder.
//
// Only mode bits are read, not access control lists: a folder that those alone open up counts as out of reach.
func (u *User) Reachable(folder string) bool {
	real, err := filepath.EvalSymlinks(folder)
	if err != nil {
		return false
	}
	if u == nil {
		f, err := os.Open(real)
		if err != nil {
			return false
		}
		_ = f.Close()
		return true
	}
	const pass, read = 1, 4
	for at, need := real, uint32(pass|read); ; at, need = filepath.Dir(at), pass {
		if u.rights(at)&need != need {
			return false
		}
		if at == filepath.Dir(at) {
			return true
		}
	}
}

// rights returns the three mode bits that apply to the user.
func (u *User) rights(path string) uint32 {
	info, err := os.Stat(path)
	if err != nil {
		return 0
	}
	mode := uint32(info.Mode().Perm())
	stat, ok := info.Sys().(*syscall.Stat_t)
	switch {
	case ok && stat.Uid == u.UID:
		return mode >> 6 & 7
	case ok && stat.Gid == u.GID:
		return mode >> 3 & 7
	default:
		return mode & 7
	}
}
