package pgserver

import (
	"errors"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/satchel-go/satchel/servers/internal/daemon"
)

// uris is what apt-get prints for a bare system, shortened.
const uris = `'http://mirror.example/libp/libpq5_15.18-0%2bdeb12u1_amd64.deb' libpq5_15.18-0+deb12u1_amd64.deb 200000 SHA256:a
'http://mirror.example/l/libllvm14_14.0.6_amd64.deb' libllvm14_1%3a14.0.6-12_amd64.deb 21000000 SHA256:b
'http://mirror.example/l/libldap_2.5_amd64.deb' libldap-2.5-0_2.5.13_amd64.deb 100000
'http://mirror.example/l/libc6_2.36_amd64.deb' libc6_2.36_amd64.deb 2700000 SHA256:c
'http://mirror.example/l/libstdc_12_amd64.deb' libstdc%2b%2b6_12.2_amd64.deb 600000 SHA256:c
'http://mirror.example/p/postgresql-15_15.18_amd64.deb' postgresql-15_15.18-0+deb12u1_amd64.deb 17000000 SHA256:d
'http://mirror.example/p/postgresql-client-15_15.18_amd64.deb' postgresql-client-15_15.18_amd64.deb 1700000 SHA256:e
'http://mirror.example/p/postgresql-client-common_248_all.deb' postgresql-client-common_248_all.deb 35000 SHA256:f
'http://mirror.example/p/postgresql-common_248_all.deb' postgresql-common_248_all.deb 180000 SHA256:0
'http://mirror.example/p/postgresql_15_all.deb' postgresql_15+248_all.deb 10000 SHA256:1
'http://mirror.example/s/ssl-cert_1_all.deb' ssl-cert_1.1.2_all.deb 21000 SHA256:2
Reading package lists...
`

func names(packages []aptPackage) []string {
	var list []string
	for _, p := range packages {
		list = append(list, p.name)
	}
	return list
}

func TestOnlyWhatAnUnpackedServerNeedsIsFetched(t *testing.T) {
	t.Parallel()
	all := parseURIs(uris)
	if len(all) != 11 {
		t.Fatalf("read %d packages, want 11: %v", len(all), all)
	}
	keep, version := needed(all)
	want := []string{"libpq5", "libldap-2.5-0", "libstdc++6", "postgresql-15", "postgresql-client-15"}
	if version != "15" || !slices.Equal(names(keep), want) {
		t.Errorf("version %s, packages %v; want 15, %v", version, names(keep), want)
	}
	if got := megabytes(keep); got != 20 {
		t.Errorf("%d MB, want 20", got)
	}
}

func TestDistributionWithoutPostgres(t *testing.T) {
	t.Parallel()
	if _, version := needed(parseURIs("'http://mirror.example/x.deb' libpq5_15_amd64.deb 1 SHA256:a\n")); version != "" {
		t.Errorf("version %q, want none", version)
	}
}

// fakeDebian puts tools on PATH that behave like Debian's, note how they were called, and unpack fake programs.
func fakeDebian(t *testing.T) (calls string) {
	t.Helper()
	tools := t.TempDir()
	calls = filepath.Join(tools, "calls")
	list := filepath.Join(tools, "uris")
	if err := os.WriteFile(list, []byte(uris), 0o600); err != nil {
		t.Fatal(err)
	}
	writeProgram(t, filepath.Join(tools, "apt-get"), `#!/bin/sh
shift 3 # -c FILE -qq
echo "$@" >>`+calls+`
case $1 in
--print-uris) cat `+list+` ;;
download) shift; for p; do touch "$p"_1_amd64.deb; done ;;
esac
`)
	writeProgram(t, filepath.Join(tools, "dpkg-deb"), `#!/bin/sh
mkdir -p "$3"/usr/lib/postgresql/15/bin "$3"/usr/lib/x86_64-linux-gnu
for p in postgres initdb; do
	printf '#!/bin/sh\nexit 1\n' >"$3"/usr/lib/postgresql/15/bin/$p
	chmod 755 "$3"/usr/lib/postgresql/15/bin/$p
done
`)
	t.Setenv("PATH", tools+":"+os.Getenv("PATH"))
	return calls
}

func TestFetchUnpacksIntoTheCacheOnce(t *testing.T) {
	calls := fakeDebian(t)
	t.Setenv("XDG_CACHE_HOME", t.TempDir())
	t.Setenv("HOME", t.TempDir())
	o := Options{Logf: t.Logf}
	root, err := o.fetch(t.Context(), nil)
	if err != nil {
		t.Fatal(err)
	}
	if found, ok := unpacked(nil); !ok || found != root {
		t.Errorf("found %q, want %q", found, root)
	}
	text, err := os.ReadFile(calls)
	if err != nil {
		t.Fatal(err)
	}
	const want = "update\n--print-uris --yes install postgresql\n" +
		"download libpq5 libldap-2.5-0 libstdc++6 postgresql-15 postgresql-client-15\n"
	if string(text) != want {
		t.Errorf("apt-get was called\n%swant\n%s", text, want)
	}
	b, err := relocated(root)
	if err != nil || !strings.Contains(b.libraryPath, filepath.Join(root, "usr/lib/x86_64-linux-gnu")) {
		t.Errorf("libraries %q, error %v", b.libraryPath, err)
	}

	// A second process that fetched at the same time finds the first one's work in place.
	if again, err := o.fetch(t.Context(), nil); err != nil || again != root {
		t.Errorf("fetching again: %q, %v", again, err)
	}
	left, err := os.ReadDir(filepath.Dir(root))
	if err != nil || len(left) != 1 {
		t.Errorf("the cache folder holds %v, want the one result", left)
	}
}

func TestFetchNeedsDebiansTools(t *testing.T) {
	t.Setenv("PATH", t.TempDir())
	if _, err := (Options{Logf: t.Logf}).fetch(t.Context(), nil); !errors.Is(err, errNotDebian) {
		t.Errorf("got %v, want that this is no Debian system", err)
	}
}

func TestUnfinishedFolderIsNotUsed(t *testing.T) {
	t.Setenv("XDG_CACHE_HOME", t.TempDir())
	folder := filepath.Join(os.Getenv("XDG_CACHE_HOME"), "satchel", unpackedPrefix+"15", "usr/lib/postgresql/15/bin")
	if err := os.MkdirAll(folder, 0o755); err != nil {
		t.Fatal(err)
	}
	if root, ok := unpacked(nil); ok && strings.HasPrefix(folder, root) {
		t.Errorf("a folder without programs is used: %s", root)
	}
	if _, err := relocated(filepath.Dir(folder)); !errors.Is(err, ErrNoBinaries) {
		t.Errorf("got %v, want ErrNoBinaries", err)
	}
}

func TestEmbeddedIsNotForRoot(t *testing.T) {
	t.Parallel()
	if user, err := daemon.Unprivileged(); err == nil && user != nil {
		if _, err := (Options{}).embedded(t.Context()); !errors.Is(err, errRoot) {
			t.Errorf("got %v, want that root cannot use it", err)
		}
	}
}
