//go:build container

package pgserver

import (
	"context"
	"os"
	"strings"
	"testing"
)

// TestContainer needs a Docker engine and an image, so it is built only on request: make test-container.
func TestContainer(t *testing.T) {
	o := Options{Ephemeral: true, Logf: t.Logf, Settings: map[string]string{"max_connections": "44"}}.withDefaults()
	server, err := o.container(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		if err := server.Stop(context.Background()); err != nil {
			t.Errorf("stop: %v", err)
		}
	})
	t.Logf("%v", server)
	if image := os.Getenv(EnvImage); !strings.Contains(server.Source, image) {
		t.Errorf("source %q does not name the image %q", server.Source, image)
	}
	for name, want := range map[string]string{"max_connections": "44", "fsync": "off", "server_encoding": "UTF8"} {
		if got := mustQuery(t, server, "SHOW "+name); got != want {
			t.Errorf("%s is %s, want %s", name, got, want)
		}
	}
	outages(t, server)
}
