package container

import (
	"errors"
	"net"
	"net/http"
	"os"
	"path/filepath"
	"testing"

	"go.uber.org/goleak"
)

func TestMain(m *testing.M) { goleak.VerifyTestMain(m) }

// engine answers on a Unix socket as a Docker engine does, with the given status.
func engine(t *testing.T, status int) (socket string) {
	t.Helper()
	folder, err := os.MkdirTemp("/tmp", "satchel-engine-") // a test's own folder can be too long for a socket
	if err != nil {
		t.Fatal(err)
	}
	socket = filepath.Join(folder, "socket")
	listener, err := net.Listen("unix", socket)
	if err != nil {
		t.Fatal(err)
	}
	server := &http.Server{Handler: http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		if r.URL.Path != "/_ping" {
			t.Errorf("asked for %s", r.URL.Path)
		}
		w.WriteHeader(status)
	})}
	done := make(chan error, 1)
	go func() { done <- server.Serve(listener) }()
	t.Cleanup(func() {
		_ = server.Close()
		<-done
		_ = os.RemoveAll(folder)
	})
	return socket
}

func TestPing(t *testing.T) {
	tests := map[string]struct {
		host string
		want error
	}{
		"an engine":          {host: "unix://" + engine(t, http.StatusOK)},
		"a broken engine":    {host: "unix://" + engine(t, http.StatusInternalServerError), want: ErrNoEngine},
		"no engine":          {host: "unix:///does/not/exist", want: ErrNoEngine},
		"an engine far away": {host: "tcp://engine.invalid:2375", want: ErrNoEngine},
	}
	for name, test := range tests {
		t.Run(name, func(t *testing.T) {
			t.Setenv("DOCKER_HOST", test.host)
			if err := Ping(t.Context()); !errors.Is(err, test.want) {
				t.Errorf("got %v, want %v", err, test.want)
			}
		})
	}
}

func TestStartWithoutAnEngine(t *testing.T) {
	t.Setenv("DOCKER_HOST", "unix:///does/not/exist")
	if _, err := Start(t.Context(), Spec{Image: "postgres", Logf: t.Logf}); !errors.Is(err, ErrNoEngine) {
		t.Errorf("got %v, want ErrNoEngine", err)
	}
}
