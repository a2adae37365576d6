package pgserver

import (
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"

	embeddedpostgres "github.com/fergusstrange/embedded-postgres"

	"github.com/satchel-go/satchel/servers/internal/cache"
	"github.com/satchel-go/satchel/servers/internal/daemon"
)

// errRoot tells why embedded-postgres is passed over: it runs initdb itself and cannot change the account for it.
var errRoot = errors.New("embedded-postgres cannot be used as root")

// embedded lets embedded-postgres download its archive, and starts the programs itself, so that this server too ends
// with this process and can be crashed and restarted.
//
// The library's download takes no context: it ends by the time-outs of net/http only.
func (o Options) embedded(ctx context.Context) (*Server, error) {
	if os.Geteuid() == 0 {
		return nil, errRoot
	}
	folder, err := cache.Writable(nil)
	if err != nil {
		return nil, err
	}
	const version = embeddedpostgres.V17
	home := filepath.Join(folder, "embedded-postgres-"+string(version))
	b := binaries{bin: filepath.Join(home, "bin"), libraryPath: filepath.Join(home, "lib")}
	if !complete(b.bin) {
		if err := o.download(ctx, version, home, folder); err != nil {
			return nil, err
		}
	}
	return o.start(ctx, b, "embedded-postgres archive in "+home)
}

// download has the library fetch and unpack its archive. The library does so only on the way to starting a server, so
// one is started in a temporary folder, and stopped.
func (o Options) download(
	ctx context.Context, version embeddedpostgres.PostgresVersion, home, folder string,
) (err error) {
	if err := ctx.Err(); err != nil {
		return context.Cause(ctx)
	}
	port, err := daemon.FreePort()
	if err != nil {
		return err
	}
	work, err := os.MkdirTemp("", "satchel-embedded-")
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, os.RemoveAll(work)) }()

	o.Logf("fetching PostgreSQL %s with embedded-postgres into %s", version, home)
	library := embeddedpostgres.NewDatabase(embeddedpostgres.DefaultConfig().
		Version(version).
		Port(uint32(port)).
		CachePath(folder).
		BinariesPath(home).
		RuntimePath(filepath.Join(work, "run")).
		DataPath(filepath.Join(work, "data")).
		StartParameters(map[string]string{"unix_socket_directories": "", "listen_addresses": "127.0.0.1"}).
		Logger(io.Discard))
	if err := library.Start(); err != nil {
		return fmt.Errorf("embedded-postgres: %w", err)
	}
	return library.Stop()
}
