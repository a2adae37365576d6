//go:build container

package kafkaserver

import "testing"

// TestContainer needs a Docker engine and an image, so it is built only on request: go test -tags container.
func TestContainer(t *testing.T) {
	server, err := Options{Logf: t.Logf}.container(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	outages(t, stopLater(t, server))
}
