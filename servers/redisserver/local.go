package redisserver

import (
	"bufio"
	"context"
	"errors"
	"fmt"
	"net"
	"os/exec"
	"path/filepath"
	"regexp"
	"strconv"
	"syscall"
	"time"

	"github.com/satchel-go/satchel/servers"
	"github.com/satchel-go/satchel/servers/internal/daemon"
)

// ErrNoBinary tells that redis-server is not on PATH.
var ErrNoBinary = errors.New("no redis-server on PATH")

const (
	startLimit = time.Minute
	tries      = 3 // the port that the kernel had free may have been taken meanwhile
)

// local starts the redis-server of this machine.
func (o Options) local(ctx context.Context) (*Server, error) {
	ctx, cancel := context.WithTimeout(ctx, startLimit)
	defer cancel()
	binary, err := exec.LookPath("redis-server")
	if err != nil {
		return nil, ErrNoBinary
	}
	version, err := binaryVersion(ctx, binary)
	if err != nil {
		return nil, err
	}
	user, err := daemon.Unprivileged()
	if err != nil {
		return nil, err
	}
	folder, err := daemon.NewFolder("satchel-redis", user, syscall.SIGKILL)
	if err != nil {
		return nil, err
	}
	for try := 1; ; try++ {
		server, port, err := launch(ctx, binary, folder)
		if err == nil {
			i := servers.Started(kind, version, "local binary "+binary, server)
			return &Server{Instance: i, URL: url(port)}, nil
		}
		if try == tries || !errors.Is(err, daemon.ErrEnded) {
			return nil, errors.Join(err, folder.Remove())
		}
	}
}

var versionWord = regexp.MustCompile(`v=(\S+)`)

func binaryVersion(ctx context.Context, binary string) (string, error) {
	out, err := exec.CommandContext(ctx, binary, "--version").Output()
	if err != nil {
		return "", fmt.Errorf("ask for the version: %w", err)
	}
	match := versionWord.FindSubmatch(out)
	if match == nil {
		return "", errors.New("ask for the version: the answer is not Redis's")
	}
	return string(match[1]), nil
}

// launch starts a server whose confirmed writes survive the end of the program: the append-only file gets them before
// the client does. The operating system, not fsync, keeps them after that; the machine is not expected to crash.
func launch(ctx context.Context, binary string, folder *daemon.Folder) (*daemon.Server, int, error) {
	port, err := daemon.FreePort()
	if err != nil {
		return nil, 0, err
	}
	socket := filepath.Join(folder.Path, "socket")
	server := &daemon.Server{
		Folder: folder,
		Program: daemon.Program{
			Path: binary,
			Args: []string{
				"--bind", "127.0.0.1", "--port", strconv.Itoa(port), "--unixsocket", socket, "--dir", folder.Path,
				"--appendonly", "yes", "--appendfsync", "no", "--save", "", "--daemonize", "no",
			},
			Env: []string{"PATH=/usr/bin:/bin", "LC_ALL=C", "HOME=" + folder.Path},
		},
		Ready:   func(ctx context.Context) error { return ping(ctx, socket) },
		Orderly: syscall.SIGTERM,
		Quick:   syscall.SIGKILL,
	}
	return server, port, server.Start(ctx)
}

// ping asks over the socket in the server's own folder: what answers on the port could be somebody else's server. The
// server opens the port first, so an answer here means that the port is its own.
func ping(ctx context.Context, socket string) error {
	conn, err := (&net.Dialer{}).DialContext(ctx, "unix", socket)
	if err != nil {
		return err
	}
	defer func() { _ = conn.Close() }()
	if deadline, ok := ctx.Deadline(); ok {
		if err := conn.SetDeadline(deadline); err != nil {
			return err
		}
	}
	if _, err := conn.Write([]byte("PING\r\n")); err != nil {
		return err
	}
	answer, err := bufio.NewReader(conn).ReadString('\n')
	if err != nil {
		return err
	}
	if answer != "+PONG\r\n" {
		return errors.New("still loading")
	}
	return nil
}
