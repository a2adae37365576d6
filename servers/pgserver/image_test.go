package pgserver

import (
	"errors"
	"strings"
	"testing"

	"github.com/satchel-go/satchel/servers"
)

// An image that was named is used or reported; another PostgreSQL would be a surprise.
func TestNamedImageIsFinal(t *testing.T) {
	t.Setenv("DOCKER_HOST", "unix:///does/not/exist")
	for name, test := range map[string]struct {
		url, image string
		options    Options
	}{
		"by the environment":                     {image: "some/postgres"},
		"by the environment, for a private one":  {image: "some/postgres", url: "postgres://given.invalid/", options: Options{Private: true}},
		"by the caller":                          {options: Options{Image: "some/postgres"}},
		"by the caller, beside what is given":    {url: "postgres://given.invalid/", options: Options{Image: "some/postgres"}},
		"by the caller, against the environment": {image: "other/postgres", options: Options{Image: "some/postgres"}},
	} {
		t.Run(name, func(t *testing.T) {
			t.Setenv(EnvURL, test.url)
			t.Setenv(EnvBin, "")
			t.Setenv(EnvImage, test.image)
			server, err := Find(t.Context(), test.options)
			if !errors.Is(err, servers.ErrUnavailable) || !strings.Contains(err.Error(), "container: ") ||
				strings.Count(err.Error(), "\n") != 1 {
				t.Errorf("got %v, %v; want ErrUnavailable for the container alone", server, err)
			}
		})
	}
}
