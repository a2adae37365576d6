package pgserver

import (
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"syscall"
	"time"

	"github.com/satchel-go/satchel/servers"
	"github.com/satchel-go/satchel/servers/internal/daemon"
)

// startLimit bounds making and starting a server whose programs are here.
const startLimit = 2 * time.Minute

// tries is how often a server is started anew on another port when it ended while starting: the port that the kernel
// had free may have been taken meanwhile.
const tries = 3

// start makes a database cluster in a folder of its own and starts a server on it.
func (o Options) start(ctx context.Context, b binaries, source string) (*Server, error) {
	ctx, cancel := context.WithTimeout(ctx, startLimit)
	defer cancel()
	user, err := daemon.Unprivileged()
	if err != nil {
		return nil, err
	}
	if err := b.reachable(user); err != nil {
		return nil, err
	}
	version, err := b.version(ctx)
	if err != nil {
		return nil, err
	}
	folder, err := daemon.NewFolder("satchel-postgres", user, syscall.SIGQUIT)
	if err != nil {
		return nil, err
	}
	c := cluster{binaries: b, folder: folder}
	if err := c.create(ctx); err != nil {
		return nil, errors.Join(err, folder.Remove())
	}
	for try := 1; ; try++ {
		server, port, err := c.launch(ctx, o.settings())
		if err == nil {
			return &Server{Instance: servers.Started(kind, version, source, server), URL: loopbackURL(port), Programs: b.bin, Libraries: b.libraryPath}, nil
		}
		if try == tries || !errors.Is(err, daemon.ErrEnded) {
			return nil, errors.Join(err, folder.Remove())
		}
	}
}

func loopbackURL(port int) string {
	return fmt.Sprintf("postgres://postgres@127.0.0.1:%d/postgres?sslmode=disable", port)
}

// cluster is a data folder and the programs for it.
type cluster struct {
	binaries
	folder *daemon.Folder
}

func (c cluster) data() string { return filepath.Join(c.folder.Path, "data") }

// create runs initdb. The locale C exists everywhere and sorts bytes, so that a test sees one order on every machine.
func (c cluster) create(ctx context.Context) error {
	return daemon.Run(ctx, c.folder, daemon.Program{
		Path: filepath.Join(c.bin, "initdb"),
		Args: []string{
			"-D", c.data(), "-U", "postgres", "--auth=trust", "--encoding=UTF8", "--locale=C", "--no-sync",
		},
		Env: c.environment(c.folder.Path),
	})
}

// launch starts the server. It listens on the loopback interface only: a Unix socket would need a short path, which
// temporary folders do not always have.
func (c cluster) launch(ctx context.Context, settings []string) (*daemon.Server, int, error) {
	port, err := daemon.FreePort()
	if err != nil {
		return nil, 0, err
	}
	fixed := []string{
		"-D", c.data(),
		"-c", "listen_addresses=127.0.0.1",
		"-c", "port=" + strconv.Itoa(port),
		"-c", "unix_socket_directories=",
	}
	server := &daemon.Server{
		Folder: c.folder,
		Program: daemon.Program{
			Path: filepath.Join(c.bin, "postgres"),
			Args: append(fixed, settings...),
			Env:  c.environment(c.folder.Path),
		},
		Ready:   c.ready,
		Orderly: syscall.SIGINT,  // disconnects clients, writes a checkpoint
		Quick:   syscall.SIGQUIT, // leaves recovery to the next start
	}
	return server, port, server.Start(ctx)
}

var errNotReady = errors.New("postmaster.pid does not say ready")

// ready reads the server's own status file instead of connecting: what answers on the port could be somebody else's
// server. The process id tells the file of this server from that of one that crashed in the same folder.
func (c cluster) ready(context.Context) error {
	const pidLine, statusLine = 0, 7
	text, err := os.ReadFile(filepath.Join(c.data(), "postmaster.pid"))
	if err != nil {
		return errNotReady
	}
	lines := strings.Split(string(text), "\n")
	if len(lines) <= statusLine || strings.TrimSpace(lines[statusLine]) != "ready" ||
		strings.TrimSpace(lines[pidLine]) != strconv.Itoa(c.folder.PID()) {
		return errNotReady
	}
	return nil
}
